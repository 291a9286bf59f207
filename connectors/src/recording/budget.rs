//! What may be held of all that is read: copies of what is held already take no room.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::observation::Observation;

/// What is left of the room, and what has taken some.
pub(super) struct Budget {
    left: u64,
    held: HashSet<u64>,
}

impl Budget {
    pub(super) fn new(room: u64) -> Self {
        Self {
            left: room,
            held: HashSet::new(),
        }
    }

    /// How many observations fit into what is left, which they take; once one does not, nothing does.
    pub(super) fn take(&mut self, observations: &[Observation]) -> usize {
        let fits = |one: &&Observation| {
            if !self.held.insert(identity(one)) {
                return true;
            }
            match self.left.checked_sub(weight(one)) {
                Some(rest) => {
                    self.left = rest;
                    true
                }
                None => false,
            }
        };
        let fit = observations.iter().take_while(fits).count();
        if fit < observations.len() {
            self.left = 0;
        }
        fit
    }
}

/// What an observation takes in memory with all that is made of it, in bytes: as measured,
/// and more for what ends and is explained. Lines of logs are held as rows, other facts are
/// tied to what they are about, versions of objects are compared with one another.
fn weight(observation: &Observation) -> u64 {
    match observation {
        Observation::Event(event) if event.fact.starts_with("log.") => 270,
        Observation::Event(_) | Observation::EventGrew { .. } => 700,
        Observation::Object(_) => 4_000,
    }
}

/// The same for copies of one fact, or of one version of an object.
fn identity(observation: &Observation) -> u64 {
    let mut hasher = DefaultHasher::new();
    match observation {
        Observation::Event(event) => event.id.hash(&mut hasher),
        Observation::Object(version) => {
            (&version.key, version.revision, version.at, version.deleted).hash(&mut hasher);
        }
        Observation::EventGrew {
            namespace,
            name,
            count,
            last,
        } => (namespace, name, count, last).hash(&mut hasher),
    }
    hasher.finish()
}
