//! Lists and watches of the API server.

use std::collections::BTreeMap;

use serde_json::json;

use super::files::{File, Record};
use crate::case::Case;
use crate::time::Time;
use crate::world::{Change, Key, Kind, LIFE, Rev};

/// The newest version of everything that is there at a time, as `kubectl get -o json` gives it.
pub(super) fn snapshot(case: &Case, now: Time) -> Vec<&Rev> {
    let mut live: BTreeMap<&Key, &Rev> = BTreeMap::new();
    for rev in case.world.api.revs.iter().take_while(|rev| rev.time <= now) {
        if rev.change == Change::Deleted {
            live.remove(&rev.key);
        } else {
            live.insert(&rev.key, rev);
        }
    }
    live.into_values()
        .filter(|rev| rev.key.kind != Kind::Event || now.since(rev.time) <= LIFE)
        .collect()
}

/// One list a kind.
pub(super) fn lists(case: &Case, files: &mut Vec<File>) {
    let found = snapshot(case, case.now);
    for kind in Kind::ALL {
        let head = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"\"},\"items\":[\n";
        let mut file = File::list(
            kind.resource(),
            format!("{}.json", kind.resource()),
            head,
            "\n]}\n",
        );
        let mut revs: Vec<&&Rev> = found.iter().filter(|rev| rev.key.kind == *kind).collect();
        revs.sort_by(|a, b| {
            (&a.key.namespace, &a.key.name, a.version).cmp(&(
                &b.key.namespace,
                &b.key.name,
                b.version,
            ))
        });
        for rev in revs {
            file.records
                .push(Record::new(rev.object.to_string(), &rev.tags).about(subject(rev)));
        }
        files.push(file);
    }
}

/// Whose record it is: an Event's is of what it is about.
fn subject(rev: &Rev) -> &str {
    if rev.key.kind == Kind::Event {
        rev.object["involvedObject"]["uid"].as_str().unwrap_or("")
    } else {
        &rev.key.uid
    }
}

/// One watch a kind: what was there when it began, then every change; nothing in a gap.
pub(super) fn watches(case: &Case, gap: Option<(Time, Time)>, files: &mut Vec<File>) {
    for kind in [
        Kind::Pod,
        Kind::Event,
        Kind::Node,
        Kind::Job,
        Kind::JobSet,
        Kind::Deployment,
        Kind::ReplicaSet,
        Kind::StatefulSet,
        Kind::PyTorchJob,
        Kind::Workload,
    ] {
        let mut file = File::lines(
            &format!("watch-{}", kind.resource()),
            format!("watch-{}.ndjson", kind.resource()),
        );
        for rev in case
            .world
            .api
            .revs
            .iter()
            .filter(|rev| rev.key.kind == kind && rev.time <= case.now)
        {
            if gap.is_some_and(|(from, to)| from <= rev.time && rev.time < to) {
                continue;
            }
            let line = json!({"type": rev.change.name(), "object": *rev.object});
            file.records
                .push(Record::new(line.to_string(), &rev.tags).about(subject(rev)));
        }
        files.push(file);
    }
}
