//! What was said of one end at two times: the same, or less for a reason that is told.

use super::{Moment, View};
use crate::judge::{Broken, Reply, Verdict, is_claimed, rank};
use crate::run::Row;
use crate::time::Time;
use crate::truth::{Run, Seen};
use crate::world::ActId;

/// An answer at one time, and what it was given.
pub(super) struct Asked {
    moment: Moment,
    pub(super) row: Row,
    /// Whether it tells why it is not surer.
    has_reason: bool,
    /// Whose end it is, and when that was.
    of: (String, Option<Time>, String),
    /// What the records tell of each act on the way there, and of the end.
    told: Vec<(Option<ActId>, Seen)>,
}

impl Asked {
    pub(super) fn new(view: &View, asked: Option<(Row, Reply)>) -> Option<Self> {
        let (row, reply) = asked?;
        let run = view.recorded.truth.runs.first()?;
        let has_reason = match &reply {
            Reply::Answer(answer) => answer.tells_why_not_surer(),
            Reply::Error(_) => true,
        };
        Some(Self {
            moment: view.moment,
            has_reason,
            of: (run.uid.clone(), run.died, run.state.clone()),
            told: told(run),
            row,
        })
    }

    fn is_right(&self) -> bool {
        matches!(self.row.judged.verdict, Verdict::Right | Verdict::Fair)
    }

    fn is_claimed(&self) -> bool {
        is_claimed(&self.row.judged.level)
    }

    fn said(&self) -> String {
        let judged = &self.row.judged;
        format!(
            "{}: {} · {}",
            self.moment.name(),
            judged.cause,
            judged.level
        )
    }

    /// Whether as much is told here of each act as there.
    fn tells_all_of(&self, other: &Self) -> bool {
        let tells = |(act, seen): &(Option<ActId>, Seen)| {
            let same = self.told.iter().find(|(own, _)| own == act);
            same.is_some_and(|(_, own)| own >= seen)
        };
        other.told.iter().all(tells)
    }
}

fn told(run: &Run) -> Vec<(Option<ActId>, Seen)> {
    let layers = run.layers.iter().map(|layer| (layer.act, layer.seen));
    layers.chain([(None, run.death_seen)]).collect()
}

/// Compares each answer with the earlier ones about the same end.
pub(super) fn all(asked: &mut [Asked]) {
    for later in 1..asked.len() {
        let (before, rest) = asked.split_at_mut(later);
        let Some(later) = rest.first_mut() else {
            continue;
        };
        // What runs has no end, and what it says may change from one minute to the next.
        if later.of.1.is_none() || !later.row.broken_run {
            continue;
        }
        let of = later.of.clone();
        for earlier in before.iter().filter(|one| one.of == of) {
            later.row.broken.extend(pair(earlier, later));
        }
    }
}

fn pair(earlier: &Asked, later: &Asked) -> Option<Broken> {
    let (was, is) = (&earlier.row.judged, &later.row.judged);
    let broken = |which, what: &str| {
        let how = format!("{what}: {} -> {}", earlier.said(), later.said());
        Some(Broken { which, how })
    };
    let (keeps, loses) = (later.tells_all_of(earlier), !later.tells_all_of(earlier));
    let gains = !earlier.tells_all_of(later);
    if was.cause == is.cause {
        if rank(&is.level) > rank(&was.level) && loses && !gains {
            return broken('i', "surer with less evidence");
        }
        let is_weaker = rank(&is.level) < rank(&was.level);
        return broken('j', "weaker without a reason").filter(|_| is_weaker && !later.has_reason);
    }
    let both = earlier.is_claimed() && later.is_claimed();
    // Who is given more may name what is further up, and who is given less what is further down.
    if both && !(earlier.is_right() && later.is_right()) {
        let is_told_more = later.is_right() && gains;
        let is_told_less = earlier.is_right() && loses && is_below(later);
        if !is_told_more && !is_told_less {
            return broken('i', "another cause");
        }
    }
    let is_lost = earlier.is_right() && earlier.is_claimed() && !later.is_right() && !both;
    if is_lost && keeps {
        return broken('i', "lost with as much evidence");
    }
    let is_unknown = rank(&is.level) == 0 && earlier.is_claimed();
    broken('j', "unknown without a reason").filter(|_| is_unknown && !later.has_reason)
}

fn is_below(later: &Asked) -> bool {
    later.row.judged.verdict == Verdict::Downstream
}
