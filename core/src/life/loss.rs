//! When nodes were lost.

use std::collections::HashMap;

use whathappened_connectors::time::Stamp;

use crate::symbols::Sym;
use crate::world::World;

/// When nodes stopped answering, and when they answered again.
pub(super) type Losses = HashMap<Sym, Vec<(Stamp, Option<Stamp>)>>;

pub(super) fn losses(world: &World) -> Losses {
    let symbols = &world.evidence.symbols;
    let (down, up) = (
        symbols.find("k8s.node.not_ready"),
        symbols.find("k8s.node.ready"),
    );
    let mut found: Losses = Losses::new();
    // Facts are in time order, so a loss is closed by the next recovery.
    for fact in &world.facts {
        if !fact.node.is_some() {
            continue;
        }
        let stretches = found.entry(fact.node).or_default();
        let open = stretches.last().is_some_and(|(_, until)| until.is_none());
        if Some(fact.signal) == down && !open {
            stretches.push((fact.time, None));
        } else if Some(fact.signal) == up
            && let Some((_, until @ None)) = stretches.last_mut()
        {
            *until = Some(fact.time);
        }
    }
    found
}
