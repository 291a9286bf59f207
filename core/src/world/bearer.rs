//! Which machine bore a name, and when, as far as any record tells.
//!
//! [`super::Carriers`] are for what ran on a node. This is for the question
//! whether a name meant the same machine at two times, of which no pod need tell.

use std::collections::BTreeMap;

use whathappened_connectors::time::{Nanos, SECOND};

use super::{Kind, World, carrier};

/// An instance that bore a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bearer {
    /// From when, [`Nanos::MIN`] where nothing tells.
    pub from: Nanos,
    /// Until when, [`Nanos::MAX`] where nothing tells.
    pub to: Nanos,
    /// The instance's id, in lower case.
    pub id: String,
}

/// Instances by the names that they bore, each name's in order of time.
#[derive(Clone, Debug, Default)]
pub struct Bearers(BTreeMap<String, Vec<Bearer>>);

impl Bearers {
    /// What node objects say of their machines, and else inventories and the
    /// machines' own records.
    #[must_use]
    pub fn of(world: &World) -> Self {
        let mut found: BTreeMap<String, Vec<Bearer>> = BTreeMap::new();
        for (node, pins) in carrier::pins(&world.evidence.objects) {
            let told = pins.into_iter().filter(|pin| !pin.id.is_empty());
            let bearers: Vec<Bearer> = told
                .map(|pin| Bearer {
                    from: pin.from,
                    to: pin.to,
                    id: pin.id,
                })
                .collect();
            if !bearers.is_empty() {
                found.insert(node, bearers);
            }
        }
        for (node, carriers) in &world.carriers {
            let of_node = found.entry(world.name(*node).to_owned()).or_default();
            of_node.extend(carriers.iter().map(|one| Bearer {
                from: one.from,
                to: one.to,
                id: world.name(one.instance).to_lowercase(),
            }));
        }
        let mut by_name: BTreeMap<String, Vec<Bearer>> = BTreeMap::new();
        for one in world.pods.iter().filter(|one| one.kind == Kind::Instance) {
            let name = world.name(one.name);
            if name.is_empty() || found.contains_key(name) {
                continue;
            }
            let (from, to) = one.stay();
            let id = world.name(one.uid).to_lowercase();
            let of_name = by_name.entry(name.to_owned()).or_default();
            of_name.push(Bearer { from, to, id });
        }
        found.append(&mut by_name);
        for bearers in found.values_mut() {
            bearers.sort();
            bearers.dedup();
        }
        Self(found)
    }

    /// The instance that bore a name at a time. Of several that may have, none.
    #[must_use]
    pub fn at(&self, name: &str, at: Nanos) -> Option<&str> {
        let mut then = self.of_name(name).iter().filter(|one| {
            one.from.saturating_sub(SECOND) <= at && at <= one.to.saturating_add(SECOND)
        });
        let first = then.next()?;
        then.all(|one| one.id == first.id)
            .then_some(first.id.as_str())
    }

    /// All instances of which a record tells that they bore a name.
    #[must_use]
    pub fn of_name(&self, name: &str) -> &[Bearer] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}
