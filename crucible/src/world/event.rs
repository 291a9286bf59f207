//! Events, as each component writes them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::World;
use super::api::{Ask, Change, Key, Kind};
use super::client::Client;
use super::truth::Tag;
use crate::time::{MIN, SEC, Time};

/// Who writes an Event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A component of the old kind, under the service account of a controller.
    Controller(&'static str),
    /// A node's kubelet.
    Kubelet(usize),
    /// The scheduler, with its action.
    Scheduler(&'static str),
    /// Something that was installed: its component, its namespace and account.
    Other(&'static str, &'static str),
}

/// What an Event is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Involved {
    /// The object.
    pub key: Key,
    /// The field of its container, for the kubelet's.
    pub container: Option<&'static str>,
    /// Without its uid, as the taint manager writes it.
    pub no_uid: bool,
}

impl From<Key> for Involved {
    fn from(key: Key) -> Self {
        Self {
            key,
            container: None,
            no_uid: false,
        }
    }
}

impl Involved {
    /// The container of a pod.
    #[must_use]
    pub fn container(key: Key) -> Self {
        Self {
            container: Some("spec.containers{trainer}"),
            ..Self::from(key)
        }
    }

    /// The init container of a pod.
    #[must_use]
    pub fn init(key: Key) -> Self {
        Self {
            container: Some("spec.initContainers{fetch-data}"),
            ..Self::from(key)
        }
    }

    /// An object whose uid the component does not write.
    #[must_use]
    pub fn without_uid(key: Key) -> Self {
        Self {
            no_uid: true,
            ..Self::from(key)
        }
    }
}

type Same = (Source, Key, &'static str, String);

#[derive(Debug)]
struct HeldEvent {
    key: Key,
    body: Value,
    last: Time,
    count: u32,
    tags: Vec<Tag>,
}

/// Counts repeats, and drops what comes too often.
#[derive(Debug, Default)]
pub(crate) struct Correlator {
    held: BTreeMap<Same, HeldEvent>,
    burst: BTreeMap<(Source, Key), (i64, Time)>,
}

impl Correlator {
    /// A bucket of 25 that gains one in five minutes, for each source and object.
    fn lets_through(&mut self, source: &Source, key: &Key, now: Time) -> bool {
        let (left, since) = self
            .burst
            .entry((source.clone(), key.clone()))
            .or_insert((25, now));
        let gained = now.since(*since) / (5 * MIN);
        if gained > 0 {
            *left = (*left + gained).min(25);
            *since = now;
        }
        *left -= 1;
        *left >= 0
    }
}

impl World {
    /// Writes an Event, or counts one up.
    pub fn emit_event(
        &mut self,
        source: &Source,
        about: impl Into<Involved>,
        kind: &'static str,
        reason: &'static str,
        message: impl Into<String>,
        tags: &[Tag],
    ) {
        let about = about.into();
        let message = message.into();
        if self.closed.contains(&about.key.namespace) {
            return;
        }
        if let Source::Kubelet(node) = source
            && self.nodes.get(*node).is_none_or(|node| !node.heard)
        {
            return;
        }
        let now = self.now;
        let same = (source.clone(), about.key.clone(), reason, message.clone());
        let is_new = matches!(source, Source::Scheduler(_));
        // What is held back is still counted, and told of with the next that is let through.
        let passes = is_new || self.events.lets_through(source, &about.key, now);
        let keep = if is_new { 6 * MIN } else { 30 * MIN };
        if let Some(mut held) = self.events.held.remove(&same)
            && now.since(held.last) < keep
        {
            held.count += 1;
            held.last = now;
            // One Event now tells of both.
            held.tags.extend(
                tags.iter()
                    .filter(|tag| !held.tags.contains(tag))
                    .copied()
                    .collect::<Vec<_>>(),
            );
            if is_new {
                held.body["series"] =
                    json!({"count": held.count, "lastObservedTime": now.micros()});
            } else {
                held.body["count"] = json!(held.count);
                held.body["lastTimestamp"] = json!(now.secs());
            }
            if passes {
                self.send(source, &held);
            }
            self.events.held.insert(same, held);
            return;
        }
        let (key, body) = self.event_body(source, &about, kind, reason, &message);
        let held = HeldEvent {
            key,
            body,
            last: now,
            count: 1,
            tags: tags.to_vec(),
        };
        if passes {
            self.send(source, &held);
        }
        self.events.held.insert(same, held);
    }

    /// Creates an Event, or patches the one that is there.
    fn send(&mut self, source: &Source, held: &HeldEvent) {
        let there = self.exists(&held.key);
        let (verb, change) = if there {
            ("patch", Change::Modified)
        } else {
            ("create", Change::Added)
        };
        let ask = Ask::new(self.writer(source), verb, "")
            .body(held.body.clone())
            .with_tags(&held.tags);
        self.put(change, &held.key, held.body.clone(), ask);
    }

    fn writer(&self, source: &Source) -> Client {
        match source {
            Source::Controller("taint-eviction-controller" | "node-controller") => {
                Client::controller("node-controller")
            }
            Source::Controller("replicaset-controller") => {
                Client::controller("replicaset-controller")
            }
            Source::Controller(name) => Client::controller(name),
            Source::Kubelet(node) => {
                Client::kubelet(self.nodes.get(*node).map_or("", |node| node.name.as_str()))
            }
            Source::Scheduler(_) => Client::scheduler(),
            Source::Other(name, namespace) => Client::account(
                namespace,
                name,
                &format!("{name}/v0.0.0 (linux/amd64) kubernetes/$Format"),
            ),
        }
    }

    fn event_body(
        &mut self,
        source: &Source,
        about: &Involved,
        kind: &str,
        reason: &str,
        message: &str,
    ) -> (Key, Value) {
        let namespace = if about.key.namespace.is_empty() {
            "default".to_owned()
        } else {
            about.key.namespace.clone()
        };
        let nanos = u64::try_from(self.now.0).unwrap_or(0) + self.rng.bits() % 1000;
        let name = format!("{}.{nanos:016x}", about.key.name);
        let uid = self.rng.uuid();
        let mut involved = json!({"kind": about.key.kind.name(), "name": about.key.name, "apiVersion": about.key.kind.api_version()});
        if !about.key.namespace.is_empty() {
            involved["namespace"] = json!(about.key.namespace);
        }
        let by_monitor = matches!(source, Source::Other("kernel-monitor", _));
        let kubelet_of_node =
            (matches!(source, Source::Kubelet(_)) || by_monitor) && about.key.kind == Kind::Node;
        if about.no_uid {
            if let Some(involved) = involved.as_object_mut() {
                involved.remove("apiVersion");
            }
        } else if kubelet_of_node {
            involved["uid"] = json!(about.key.name);
        } else {
            involved["uid"] = json!(about.key.uid);
        }
        if let Some(field) = about.container {
            involved["fieldPath"] = json!(field);
        }
        let metadata = json!({"name": name, "namespace": namespace, "uid": uid, "creationTimestamp": self.now.secs()});
        let body = match source {
            Source::Scheduler(action) => {
                json!({"apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": involved, "reason": reason,
                "message": message, "source": {}, "firstTimestamp": null, "lastTimestamp": null, "type": kind, "eventTime": self.now.micros(),
                "action": action, "reportingComponent": "default-scheduler", "reportingInstance": "default-scheduler-control-0"})
            }
            _ => {
                let (component, host) = match source {
                    Source::Kubelet(node) => (
                        "kubelet",
                        self.nodes.get(*node).map(|node| node.name.clone()),
                    ),
                    Source::Other(name, _) if by_monitor => (*name, Some(about.key.name.clone())),
                    Source::Controller(name) | Source::Other(name, _) => (*name, None),
                    Source::Scheduler(_) => ("default-scheduler", None),
                };
                let mut origin = json!({"component": component});
                if let Some(host) = &host {
                    origin["host"] = json!(host);
                }
                json!({"apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": involved, "reason": reason, "message": message,
                    "source": origin, "firstTimestamp": self.now.secs(), "lastTimestamp": self.now.secs(), "count": 1, "type": kind,
                    "eventTime": null, "reportingComponent": component, "reportingInstance": host.unwrap_or_default()})
            }
        };
        let key = Key {
            kind: Kind::Event,
            namespace,
            name,
            uid,
        };
        (key, body)
    }
}

/// How long the API server keeps an Event after its last change.
pub const LIFE: i64 = 3600 * SEC;
