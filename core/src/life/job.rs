//! How a batch job ended, as accounting or its own log tells it.

use whathappened_connectors::time::Stamp;

use super::{End, Mode, State};
use crate::world::{Pod, World};

/// The state a job was last seen in.
pub(super) fn end(world: &World, one: &Pod) -> End {
    let last = one.exits.last();
    let since = one
        .started
        .or(one.created)
        .or(one.seen.map(|(first, _)| Stamp::second(first)))
        .unwrap_or(Stamp::OPEN);
    let (state, mode, time) = match last {
        Some(exit) => {
            let (state, mode) = meaning(world.name(exit.reason));
            (state, mode, exit.time)
        }
        None => (State::Running, Mode::None, since),
    };
    End {
        state,
        mode,
        time,
        exit: last.cloned(),
        restarts: Vec::new(),
    }
}

/// What a state of Slurm's accounting means: who ended it, if anybody did.
fn meaning(word: &str) -> (State, Mode) {
    match word {
        "COMPLETED" => (State::Completed, Mode::None),
        "PENDING" | "REQUEUED" => (State::NeverScheduled, Mode::None),
        "RUNNING" | "COMPLETING" | "CONFIGURING" | "SUSPENDED" | "RESIZING" => {
            (State::Running, Mode::None)
        }
        "NODE_FAIL" | "BOOT_FAIL" => (State::Died, Mode::Lost),
        "FAILED" | "OUT_OF_MEMORY" => (State::Died, Mode::Exited),
        // CANCELLED, DEADLINE, PREEMPTED, REVOKED, TIMEOUT.
        _ => (State::Died, Mode::Killed),
    }
}
