//! Records that tests write, and what they read back. `tests/lake.rs` has them, too.

use std::collections::BTreeMap;

use whathappened_model::event::{Event, EventId, Origin, SourceKind};
use whathappened_model::object::{ObjectBody, ObjectKey, ObjectVersion, Owner};
use whathappened_model::observation::Observation;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::{Fact, Limits, Store};

/// A moment to begin with: 2026-11-01T00:00:00Z.
pub(super) const START: Nanos = 1_793_491_200 * SECOND;
pub(super) const DAY: Nanos = 86_400 * SECOND;

pub(super) fn event(number: u64, pod: &str, at: Nanos) -> Event {
    let id = EventId::of(&["test", &number.to_string()]);
    let mut event = Event::new(id, "k8s.event", Stamp::second(at), SourceKind::Kubernetes);
    event.reason = Some("Started".to_owned());
    event.message = Some(format!("message {number}"));
    event.entities.namespace = Some("ml".to_owned());
    event.entities.pod = Some(pod.to_owned());
    event.entities.pod_uid = Some(format!("uid-{pod}"));
    event.entities.node = Some("node-1".to_owned());
    event.raw = format!("{{\"number\":{number}}}");
    event.origin.file = "file.json".into();
    event.origin.line = number;
    event
}

pub(super) fn reported(event: Event) -> Observation {
    Observation::Event(Box::new(event))
}

pub(super) fn pod(name: &str, experiment: &str, owner: &str, at: Nanos) -> Observation {
    let body = ObjectBody {
        labels: BTreeMap::from([("experiment".to_owned(), experiment.to_owned())]),
        owners: vec![Owner {
            kind: "Job".to_owned(),
            name: owner.to_owned(),
            uid: format!("uid-{owner}"),
            controller: true,
        }],
        created: Some(Stamp::second(at)),
        node: Some("node-1".to_owned()),
        ..ObjectBody::default()
    };
    Observation::Object(Box::new(ObjectVersion {
        key: ObjectKey {
            kind: "Pod".to_owned(),
            namespace: "ml".to_owned(),
            name: name.to_owned(),
            uid: format!("uid-{name}"),
        },
        revision: Some(7),
        at: Some(Stamp::second(at)),
        deleted: false,
        by: None,
        body,
        source_kind: SourceKind::Kubernetes,
        origin: Origin::default(),
    }))
}

/// A store in a folder that goes when the test ends.
pub(super) fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store"), Limits::default()).unwrap();
    (folder, store)
}

/// All facts, by id.
pub(super) fn facts(store: &Store) -> Vec<Fact> {
    let mut facts = Vec::new();
    let snapshot = store.snapshot().unwrap();
    snapshot
        .everything(None, &mut |fact| facts.push(fact), &mut |_| {})
        .unwrap();
    facts.sort_by_key(|fact| fact.event.id);
    facts
}

pub(super) fn import(
    store: &mut Store,
    observations: impl IntoIterator<Item = Observation>,
) -> u64 {
    let mut bulk = store.bulk(START);
    for observation in observations {
        bulk.push(observation).unwrap();
    }
    bulk.flush().unwrap().new
}
