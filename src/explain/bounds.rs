//! What no verdict may say, whatever a rule answers: that something brought about
//! what was over before it, or that what had ended was ended again.
//!
//! Rules are about what brings about what; whether it can have, in time, is
//! decided here once, for all rules, a person's own among them.

use whathappened_connectors::time::{Nanos, SECOND, Stamp};
use whathappened_core::death::Death;
use whathappened_core::world::World;

use super::edge::{Edge, Kind};

/// Clocks of two machines, or of a cluster and its cloud, are this far apart at most.
pub const CLOCKS: Nanos = 5 * SECOND;

/// Whether an edge is possible in time: its cause began before its effect, and both
/// before the death was over, as far as clocks can tell.
///
/// What belongs to the story or speaks against it brings nothing about and always is.
#[must_use]
pub(super) fn is_possible(world: &World, death: &Death, edge: &Edge) -> bool {
    if matches!(edge.kind, Kind::Context | Kind::Against) {
        return true;
    }
    let Some(cause) = world.facts.get(edge.cause) else {
        return false;
    };
    // What is stuck or keeps failing goes on, and so does what keeps it there.
    let Some(over) = over(death) else {
        return true;
    };
    if cause.onset > over {
        return false;
    }
    match edge.effect {
        None => true,
        Some(effect) => world.facts.get(effect).is_some_and(|effect| {
            effect.onset <= over && cause.onset <= effect.time.hi.saturating_add(CLOCKS)
        }),
    }
}

/// The last instant at which something can still have brought a death about, `None`
/// where it is none but a state that goes on.
fn over(death: &Death) -> Option<Nanos> {
    (!death.goes_on() && death.time != Stamp::OPEN).then(|| death.time.hi.saturating_add(CLOCKS))
}
