//! How a cloud instance ended, as often as it did: it may be started again.

use std::collections::HashMap;

use whathappened_connectors::time::{Nanos, SECOND, Stamp};

use super::{End, Mode, Restart, State};
use crate::symbols::Sym;
use crate::world::{Exit, Kind, Pod, Sign, What, World};

/// Records of one end come within this long of each other: a notice, what the
/// platform did, and what its group cleaned up.
const ONE_END: Nanos = 900 * SECOND;

/// When the work on each instance was first told to be done, by number of the
/// instance. A machine that is deleted after that has lost nothing.
pub(super) fn done(world: &World) -> HashMap<u32, Stamp> {
    let symbols = &world.evidence.symbols;
    let mut found = HashMap::new();
    let Some(done) = symbols.find("log.training_done") else {
        return found;
    };
    let mut by_name: HashMap<Sym, Vec<u32>> = HashMap::new();
    for (number, one) in (0..).zip(&world.pods) {
        if one.kind == Kind::Instance {
            by_name.entry(one.node).or_default().push(number);
        }
    }
    for fact in world.facts.iter().filter(|fact| fact.signal == done) {
        for number in by_name.get(&fact.node).into_iter().flatten() {
            let holds = world.pods.get(*number as usize).is_some_and(|one| {
                let (from, to) = one.stay();
                (from..to).contains(&fact.time.lo)
            });
            if holds {
                found.entry(*number).or_insert(fact.time);
            }
        }
    }
    found
}

/// The state an instance was last seen in, and every end that it outlived.
pub(super) fn end(one: &Pod, done: Option<Stamp>) -> End {
    // One that could not be made, and of which nothing else is told, never was.
    let refused = one.signs.first().filter(|first| {
        let alike = |sign: &Sign| sign.what == What::Refused;
        alike(first) && one.signs.iter().all(alike)
    });
    if let Some(refused) = refused {
        return End {
            state: State::NeverScheduled,
            mode: Mode::None,
            time: refused.time,
            exit: None,
            restarts: Vec::new(),
        };
    }
    let (mut ends, mut runs) = (Vec::<&Sign>::new(), true);
    for sign in &one.signs {
        let was_running = match sign.what {
            What::Refused => continue,
            What::Made | What::Runs => {
                runs = true;
                continue;
            }
            What::Reset => {
                ends.extend(Some(sign).filter(|_| runs));
                continue;
            }
            // What befalls only those that run tells that it ran again, unless
            // it is one more record of the same end.
            What::Taken | What::Lost | What::ShutDown => {
                let last = ends.last().map_or(Nanos::MIN, |last| last.time.hi);
                runs || sign.time.lo.saturating_sub(last) > ONE_END
            }
            What::Stopped | What::Deleted => runs,
        };
        if was_running {
            ends.push(sign);
        }
        runs = false;
    }
    let last = if runs { None } else { ends.pop() };
    let restarts = ends
        .into_iter()
        .map(|sign| Restart {
            exit: exit(sign),
            mode: mode(sign),
        })
        .collect();
    let since = one
        .created
        .or(one.seen.map(|(first, _)| Stamp::second(first)))
        .unwrap_or(Stamp::OPEN);
    let (state, mode, time) = match (last, done) {
        (Some(sign), Some(done)) if done.lo <= sign.time.lo => {
            (State::Completed, Mode::None, sign.time)
        }
        (Some(sign), _) => (State::Died, mode(sign), sign.time),
        (None, _) => (State::Running, Mode::None, since),
    };
    End {
        state,
        mode,
        time,
        exit: last.map(exit),
        restarts,
    }
}

fn mode(sign: &Sign) -> Mode {
    match sign.what {
        What::Lost => Mode::Lost,
        What::ShutDown => Mode::Exited,
        _ => Mode::Killed,
    }
}

fn exit(sign: &Sign) -> Exit {
    Exit {
        time: sign.time,
        container: Sym::NONE,
        init: false,
        exit_code: None,
        reason: sign.word,
    }
}
