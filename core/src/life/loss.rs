//! When nodes were lost.

use std::collections::HashMap;

use whathappened_connectors::time::{Nanos, SECOND, Stamp};

use crate::symbols::Sym;
use crate::world::World;

/// A stretch in which a node did not answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    /// When it stopped.
    pub(super) from: Stamp,
    /// When it answered again.
    pub(super) until: Option<Stamp>,
    /// Whether it was taken off the cluster without having answered again: what was on it is lost.
    pub(super) gone: bool,
    /// Whether it booted meanwhile: what ran on it is lost, too.
    pub(super) booted: bool,
}

/// When nodes stopped answering.
pub(super) type Losses = HashMap<Sym, Vec<Loss>>;

/// A boot is told of this long after the node answered again at most.
const TOLD: Nanos = 180 * SECOND;

pub(super) fn losses(world: &World) -> Losses {
    let symbols = &world.evidence.symbols;
    let (down, up) = (
        symbols.find("k8s.node.not_ready"),
        symbols.find("k8s.node.ready"),
    );
    let booted = symbols.find("k8s.node.rebooted");
    let gone = ["k8s.node.gone_in_cloud", "k8s.node.deleted"].map(|signal| symbols.find(signal));
    let mut found: Losses = Losses::new();
    // Facts are in time order, so a loss is closed by the next recovery.
    for fact in &world.facts {
        if !fact.node.is_some() {
            continue;
        }
        let stretches = found.entry(fact.node).or_default();
        let signal = Some(fact.signal);
        // It is told of with the first words of a node that is up again.
        if booted.is_some() && signal == booted {
            let of_it = stretches.last_mut().filter(|loss| {
                loss.until
                    .is_none_or(|until| fact.time.lo.saturating_sub(until.hi) < TOLD)
            });
            if let Some(loss) = of_it {
                loss.booted = true;
            }
            continue;
        }
        let open = stretches.last_mut().filter(|loss| loss.until.is_none());
        match open {
            None if signal == down => stretches.push(Loss {
                from: fact.time,
                until: None,
                gone: false,
                booted: false,
            }),
            Some(loss) if signal == up => loss.until = Some(fact.time),
            // Its last version may be of any time before it was gone.
            Some(loss) if gone.contains(&signal) => loss.gone |= fact.time.hi >= loss.from.lo,
            _ => {}
        }
    }
    found
}
