//! What the rows of tables tell, once all of a paste is read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::capture_time::CaptureTime;
use super::decode::Reader;
use super::deleted::{self, Deleted};
use super::event::PrintedEvent;
use super::pod_row::{PodRow, StatusMeaning, means};
use super::reused;
use super::row;
use super::row_times::made_at;
use crate::kubernetes;
use crate::observation::Observation;

impl Reader<'_, '_> {
    /// Notes which objects bear names that others bore before them.
    pub(super) fn note_reused(&mut self, events: &[PrintedEvent]) {
        for seen in &self.seen {
            for row in &seen.pods {
                let made = reused::made(("Pod", &row.name), row.age, &seen.moment, events);
                self.made.extend(made.map(|made| (row.line, made)));
            }
        }
        for (number, line, object) in &self.objects {
            let text = |path: &str| object.pointer(path).and_then(Value::as_str);
            let age = self.ages.get(line).copied();
            let moment = self.seen.get(*number).map(|seen| seen.moment);
            if let (Some(kind), Some(name), Some(moment)) =
                (text("/kind"), text("/metadata/name"), moment)
            {
                let made = reused::made((kind, name), age, &moment, events);
                self.made.extend(made.map(|made| (*line, made)));
            }
        }
    }

    /// The last capture that shows a pod, by its name, and does not show it on its way out.
    pub(super) fn later_rows(&self) -> BTreeMap<String, usize> {
        let stays = |row: &&PodRow| means(&row.status) != StatusMeaning::Terminating;
        let rows = self.seen.iter().enumerate().flat_map(|(number, seen)| {
            let rows = seen.pods.iter().filter(stays);
            rows.map(move |row| (row.name.clone(), number))
        });
        let described = self.described.iter().filter_map(|(number, _, one)| {
            let leaves = one
                .items
                .iter()
                .any(|item| item.key == "Status" && item.value.starts_with("Terminating"));
            (one.kind == "Pod" && !leaves).then(|| (one.name.clone(), *number))
        });
        let mut last = BTreeMap::new();
        for (name, number) in rows.chain(described) {
            let known = last.entry(name).or_insert(number);
            *known = number.max(*known);
        }
        last
    }

    pub(super) fn emit_rows(&mut self) {
        let stay = self.later_rows();
        let is_deleted = |name: &str| {
            self.deleted.iter().any(|(number, one)| {
                one.name == name && stay.get(name).is_none_or(|last| last < number)
            })
        };
        let described: BTreeSet<&str> = self
            .described
            .iter()
            .map(|(_, _, one)| one.name.as_str())
            .chain(
                self.paste
                    .described_beside
                    .iter()
                    .map(|(_, name)| name.as_str()),
            )
            .collect();
        // Of several rows of one pod the last one is how it stands.
        let mut rows: BTreeMap<(Option<&str>, &str), (&PodRow, CaptureTime)> = BTreeMap::new();
        // `get pods -w` prints a row for each change: how a container ended stands in one before it is waited for again.
        let mut ended: BTreeMap<(Option<&str>, &str, u64), &str> = BTreeMap::new();
        for seen in &self.seen {
            for row in seen
                .pods
                .iter()
                .filter(|row| !described.contains(row.name.as_str()))
            {
                rows.insert((row.namespace.as_deref(), &row.name), (row, seen.moment));
                if means(&row.status) == StatusMeaning::Exited {
                    ended.insert(of_start(row), &row.status);
                }
            }
        }
        for (row, moment) in rows.into_values() {
            let ended_as = ended.get(&of_start(row)).copied();
            let object = row::pod(row, !self.paste.objects_beside, ended_as);
            let mut emitted = Vec::new();
            // What is made here is sound, so nothing is refused.
            let _refused = kubernetes::decode(
                object.to_string().as_bytes(),
                None,
                &self.origin(row.line),
                &mut emitted,
            );
            for observation in &mut emitted {
                if let Observation::Event(event) = observation {
                    event.entities.container = event
                        .entities
                        .container
                        .take()
                        .filter(|name| !name.is_empty());
                    if event.fact == "k8s.container.terminated"
                        && let Some(age) = row.restarted
                    {
                        event.time = moment.minus(Some(age));
                    }
                }
            }
            made_at(&mut emitted, moment.shown());
            if let Some(made) = self.made.get(&row.line) {
                reused::set_made(&mut emitted, *made);
            }
            if is_deleted(&row.name) {
                deleted::no_longer_runs(&mut emitted);
            } else if means(&row.status) == StatusMeaning::Terminating {
                let leaving = Deleted {
                    namespace: row.namespace.clone(),
                    name: row.name.clone(),
                    line: row.line,
                    raw: format!("{} {}", row.name, row.status),
                };
                emitted.push(deleted::asked(&leaving, &self.paste.source.file));
            }
            self.out.append(&mut emitted);
        }
        let described: BTreeSet<(&str, &str)> = self
            .described
            .iter()
            .map(|(_, _, one)| (one.kind.as_str(), one.name.as_str()))
            .collect();
        for (number, line, object) in &self.objects {
            let text = |path: &str| {
                object
                    .pointer(path)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            if described.contains(&(text("/kind"), text("/metadata/name"))) {
                continue;
            }
            let origin = self.origin(*line);
            let mut emitted = Vec::new();
            let json = object.to_string();
            let _refused = kubernetes::decode(json.as_bytes(), None, &origin, &mut emitted);
            // Since when it has been so a row does not tell, only that it was when it was printed.
            if crate::kind::is_workload(text("/kind")) {
                let moment = self.seen.get(*number).and_then(|seen| seen.moment.shown());
                made_at(&mut emitted, moment);
            }
            if let Some(made) = self.made.get(line) {
                reused::set_made(&mut emitted, *made);
            }
            self.out.append(&mut emitted);
        }
    }
}

/// Which start of which pod a row shows.
fn of_start(row: &PodRow) -> (Option<&str>, &str, u64) {
    (row.namespace.as_deref(), &row.name, row.restarts)
}
