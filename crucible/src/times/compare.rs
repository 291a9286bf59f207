//! What was said of one end at two times: the same, or less for a reason that is told.

use super::{Moment, View};
use crate::judge::{Broken, Reply, Verdict, is_claimed, rank};
use crate::run::Row;
use crate::time::Time;
use crate::truth::{Run, Seen};
use crate::world::ActId;

/// An answer at one time, and what it was given.
pub(super) struct TimedAnswer {
    moment: Moment,
    pub(super) row: Row,
    /// Whether it tells why it is not surer.
    has_reason: bool,
    /// Whose end it is, and when that was.
    of: (String, Option<Time>, String),
    /// What the records tell of each act on the way there, and of the end.
    evidence: Vec<(Option<ActId>, Seen)>,
}

impl TimedAnswer {
    pub(super) fn new(view: &View, asked: Option<(Row, Reply)>) -> Option<Self> {
        let (row, reply) = asked?;
        let run = view.recorded.truth.runs.first()?;
        let has_reason = match &reply {
            Reply::Answer(answer) => answer.explains_uncertainty(),
            Reply::Error(_) => true,
        };
        Some(Self {
            moment: view.moment,
            has_reason,
            of: (run.uid.clone(), run.died, run.state.clone()),
            evidence: evidence(run),
            row,
        })
    }

    fn is_right(&self) -> bool {
        matches!(self.row.judged.verdict, Verdict::Right | Verdict::Fair)
    }

    fn is_claimed(&self) -> bool {
        is_claimed(&self.row.judged.level)
    }

    fn label(&self) -> String {
        let judged = &self.row.judged;
        format!(
            "{}: {} · {}",
            self.moment.name(),
            judged.cause,
            judged.level
        )
    }

    /// Whether as much is told here of each act as there.
    fn covers(&self, other: &Self) -> bool {
        let is_covered = |(act, seen): &(Option<ActId>, Seen)| {
            let same = self.evidence.iter().find(|(own, _)| own == act);
            same.is_some_and(|(_, own)| own >= seen)
        };
        other.evidence.iter().all(is_covered)
    }
}

fn evidence(run: &Run) -> Vec<(Option<ActId>, Seen)> {
    let layers = run.layers.iter().map(|layer| (layer.act, layer.seen));
    layers.chain([(None, run.death_seen)]).collect()
}

/// Compares each answer with the earlier ones about the same end.
pub(super) fn all(asked: &mut [TimedAnswer]) {
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

fn pair(earlier: &TimedAnswer, later: &TimedAnswer) -> Option<Broken> {
    let (was, is) = (&earlier.row.judged, &later.row.judged);
    let broken = |which, what: &str| {
        let how = format!("{what}: {} -> {}", earlier.label(), later.label());
        Some(Broken { which, how })
    };
    let (keeps, loses) = (later.covers(earlier), !later.covers(earlier));
    let gains = !earlier.covers(later);
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
        let knows_more = later.is_right() && gains;
        let knows_less = earlier.is_right() && loses && is_below(later);
        if !knows_more && !knows_less {
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

fn is_below(later: &TimedAnswer) -> bool {
    later.row.judged.verdict == Verdict::Downstream
}
