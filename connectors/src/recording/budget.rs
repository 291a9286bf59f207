//! What may be held of all that is read: copies of what is held already take no room.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::observation::Observation;

/// What is left of the room, and what has taken some.
pub(super) struct Budget {
    left: u64,
    held: HashSet<u64>,
    /// What facts are about: each takes room once.
    subjects: HashSet<u64>,
}

impl Budget {
    pub(super) fn new(room: u64) -> Self {
        Self {
            left: room,
            held: HashSet::new(),
            subjects: HashSet::new(),
        }
    }

    /// How many observations fit into what is left, which they take; once one does not, nothing does.
    pub(super) fn take(&mut self, observations: &[Observation]) -> usize {
        let fits = |one: &&Observation| {
            if !self.held.insert(identity(one)) {
                return true;
            }
            let is_new = subject(one).is_some_and(|subject| self.subjects.insert(subject));
            let subject = if is_new { SUBJECT } else { 0 };
            match self.left.checked_sub(weight(one) + subject) {
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

/// What a pod, an instance or a batch job takes of which facts tell, with its run and its names.
const SUBJECT: u64 = 1_800;

/// What a fact is about that becomes a task of its own: a pod, an instance or a batch job.
fn subject(observation: &Observation) -> Option<u64> {
    let Observation::Event(event) = observation else {
        return None;
    };
    let of = &event.entities;
    let mut hasher = DefaultHasher::new();
    match (&of.pod_uid, &of.pod, &of.instance) {
        (Some(uid), ..) => (0, uid).hash(&mut hasher),
        (None, Some(pod), _) => (1, &of.namespace, pod).hash(&mut hasher),
        (None, None, Some(instance)) => (2, instance).hash(&mut hasher),
        (None, None, None) => match (&event.object_kind, &event.object_uid) {
            (Some(kind), Some(uid)) if kind == "SlurmJob" => (3, uid).hash(&mut hasher),
            _ => return None,
        },
    }
    Some(hasher.finish())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, EventId, SourceKind};
    use crate::time::Stamp;

    fn of_pod(number: u64, pod: &str) -> Observation {
        let id = EventId::of(&["test", &number.to_string()]);
        let mut event = Event::new(id, "k8s.event", Stamp::OPEN, SourceKind::Kubernetes);
        event.entities.pod = Some(pod.to_owned());
        Observation::Event(Box::new(event))
    }

    /// Half a million Events of as many pods took 1.8 GB where the bound was 340 MB.
    #[test]
    fn a_pod_takes_more_than_a_fact_and_once() {
        let room = 100 * (700 + SUBJECT);
        let each: Vec<Observation> = (0..500).map(|n| of_pod(n, &format!("p-{n}"))).collect();
        assert_eq!(Budget::new(room).take(&each), 100);
        let one: Vec<Observation> = (0..500).map(|n| of_pod(n, "p-0")).collect();
        let most = usize::try_from((room - SUBJECT) / 700).unwrap_or_default();
        assert_eq!(Budget::new(room).take(&one), most);
        // What is told again takes nothing.
        let mut budget = Budget::new(room);
        assert_eq!(budget.take(&each[..100]), 100);
        assert_eq!(budget.take(&each[..100]), 100);
        assert_eq!(budget.take(&each[100..]), 0);
    }
}
