//! What only the difference between two versions of an object tells.

use crate::signals::named;
use std::collections::BTreeMap;

use serde_json::{Value, json};
use whathappened_model::event::{Event, EventId, SourceKind};
use whathappened_model::object::{ObjectKey, Taint};
use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::evidence::{Objects, Version};

/// A change between two dated versions that are no further apart than this was at some time between them.
const UNDATED: Nanos = 3600 * SECOND;

/// Labels and annotations of nodes whose change means something.
const WATCHED: [&str; 11] = [
    "aws-node-termination-handler/",
    "cloud.google.com/active-node-maintenance",
    "cloud.google.com/scheduled-maintenance-time",
    "dgxc.nvidia.com/nvsentinel-state",
    "k8s.nvidia.com/cordon-",
    "k8saas.nvidia.com/cordon-",
    "machineconfiguration.openshift.io/state",
    "nvidia.com/gpu-driver-upgrade-state",
    "nvidia.com/mig.config.state",
    "quarantineHealthEvent",
    "weave.works/kured-",
];

/// All facts that differences tell, in object order.
pub(super) fn facts(objects: &Objects) -> Vec<Event> {
    let mut found = Vec::new();
    for (key, versions) in objects.iter() {
        match key.kind.as_str() {
            "Node" => VersionDiff {
                key,
                versions,
                found: &mut found,
            }
            .node(),
            "Pod" | "PersistentVolumeClaim" => {}
            _ => VersionDiff {
                key,
                versions,
                found: &mut found,
            }
            .workload(),
        }
    }
    found
}

struct VersionDiff<'a> {
    key: &'a ObjectKey,
    versions: &'a [Version],
    found: &'a mut Vec<Event>,
}

impl VersionDiff<'_> {
    fn node(&mut self) {
        let mut before: Option<&Version> = None;
        for (index, version) in self.versions.iter().enumerate() {
            let (old, new) = (before.map(|version| &version.body), &version.body);
            let was = old.is_some_and(|old| old.unschedulable);
            if was != new.unschedulable {
                let fact = if new.unschedulable {
                    named::K8S_NODE_CORDONED
                } else {
                    named::K8S_NODE_UNCORDONED
                };
                let writer = self
                    .same_revision(index)
                    .find_map(|version| version.body.unschedulable_by.clone());
                let own = writer.as_ref().and_then(|writer| writer.time);
                let written = self.writer(index, "unschedulable");
                let written = written.filter(|(at, _)| own.is_none_or(|own| is_near(own, *at)));
                let manager = writer.map(|writer| writer.manager);
                let (at, by) = written.map_or((None, None), |(at, by)| (Some(at), Some(by)));
                let time = at.or(own).or_else(|| self.between(before, index));
                let raw = json!({ "unschedulable": new.unschedulable });
                if let Some(time) = time.map(|time| self.by_then(index, time))
                    && let Some(mut event) = self.event_at(fact, &[], time, index, &raw)
                {
                    event.actor = by;
                    self.push(event, &[("manager", manager)]);
                }
            }
            self.taints(before, index);
            if let (Some(old), Some(was), Some(is)) = (
                old,
                old.and_then(|old| old.boot_id.as_ref()),
                new.boot_id.as_ref(),
            ) && was != is
                && let Some(event) = self.event(
                    "k8s.node.boot_changed",
                    &[is],
                    self.since(before, index),
                    before,
                    index,
                    &json!({ "bootID": is, "before": old.boot_id }),
                )
            {
                self.push(
                    event,
                    &[("from", Some(was.clone())), ("to", Some(is.clone()))],
                );
            }
            if let Some(old) = old {
                self.allocatable(&old.allocatable, &new.allocatable, before, index);
                self.watched(
                    "k8s.node.annotation",
                    &old.annotations,
                    &new.annotations,
                    before,
                    index,
                );
            }
            self.watched(
                "k8s.node.label",
                old.map_or(&BTreeMap::new(), |old| &old.labels),
                &new.labels,
                before,
                index,
            );
            before = Some(version);
        }
    }

    /// Taints that were not there before, each at its own time and by who added it. Whoever writes one
    /// writes all of them, so that the last writer need not have added what is told of no earlier version.
    fn taints(&mut self, before: Option<&Version>, index: usize) {
        let is_known = |taint: &Taint| {
            let before = before.map(|version| version.body.taints.as_slice());
            before.unwrap_or_default().iter().any(|one| one.is(taint))
        };
        let Some(version) = self.versions.get(index) else {
            return;
        };
        for taint in version.body.taints.iter().filter(|taint| !is_known(taint)) {
            let own = self
                .same_revision(index)
                .flat_map(|version| &version.body.taints)
                .find_map(|one| one.added.filter(|_| one.is(taint)));
            let writer = self.adder(index, taint, own);
            let (at, by) = writer.map_or((None, None), |(at, by)| (Some(at), Some(by)));
            let time = at
                .or(own)
                .or_else(|| self.between(before, index))
                .map(|time| self.by_then(index, time));
            let raw = json!({ "taint": taint.key, "effect": taint.effect, "value": taint.value });
            let what = [
                taint.key.as_str(),
                taint.effect.as_str(),
                taint.value.as_str(),
            ];
            let event =
                time.and_then(|time| self.event_at("k8s.node.taint", &what, time, index, &raw));
            if let Some(mut event) = event {
                event.actor = by;
                let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
                self.push(
                    event,
                    &[
                        ("key", text(&taint.key)),
                        ("effect", text(&taint.effect)),
                        ("value", text(&taint.value)),
                    ],
                );
            }
        }
    }

    /// The request that added a taint which is in its answer, and whose it was: the one that was made when
    /// the taint says that it was added. One that says nothing was added by no controller that dates
    /// its own, and by no request that is there for another.
    fn adder(&self, index: usize, taint: &Taint, own: Option<Stamp>) -> Option<(Stamp, String)> {
        const LIFECYCLE: [&str; 2] = [
            "system:kube-controller-manager",
            "system:serviceaccount:kube-system:node-controller",
        ];
        let (at, by) = self.writer(index, "taints")?;
        let added = match own {
            Some(own) => is_near(own, at),
            None => {
                let all = self.versions.get(index).into_iter();
                let mut all = all.flat_map(|version| &version.body.taints);
                !LIFECYCLE.contains(&by.as_str())
                    && !all.any(|one| {
                        !one.is(taint) && one.added.is_some_and(|added| is_near(added, at))
                    })
            }
        };
        added.then_some((at, by))
    }

    /// Whose request changed the spec of an object that nobody owns: what changes one that somebody owns may hand on what was asked of
    /// its owner, and an answer to another request shows what others had changed before.
    fn changed_by(&self, index: usize) -> Option<String> {
        let version = self.audit_version(index)?;
        let is_author = version.body.owners.is_empty() && !version.body.written.is_empty();
        version.by.clone().filter(|_| is_author)
    }

    /// When and by whom a version was made by a request that wrote a field of its spec, as far as the
    /// request says what it wrote.
    fn writer(&self, index: usize, field: &str) -> Option<(Stamp, String)> {
        let version = self.audit_version(index)?;
        let written = &version.body.written;
        let wrote = written.is_empty() || written.iter().any(|one| one == field);
        let by = version.by.clone().filter(|_| wrote)?;
        Some((version.at?, by))
    }

    /// What an answer of the server shows was so by then.
    fn by_then(&self, index: usize, time: Stamp) -> Stamp {
        match self.audit_version(index).and_then(|version| version.at) {
            Some(at) => Stamp {
                lo: time.lo.min(at.hi),
                hi: time.hi.min(at.hi),
            },
            None => time,
        }
    }

    fn allocatable(
        &mut self,
        old: &BTreeMap<String, String>,
        new: &BTreeMap<String, String>,
        before: Option<&Version>,
        index: usize,
    ) {
        for (resource, was) in old.iter().filter(|(resource, _)| resource.contains('/')) {
            let amount =
                |text: Option<&String>| text.and_then(|text| text.parse::<i64>().ok()).unwrap_or(0);
            let (was, is) = (amount(Some(was)), amount(new.get(resource)));
            if is < was
                && let Some(event) = self.event(
                    "k8s.node.allocatable_dropped",
                    &[resource],
                    None,
                    before,
                    index,
                    &json!({ "resource": resource, "from": was, "to": is }),
                )
            {
                self.push(
                    event,
                    &[
                        ("resource", Some(resource.clone())),
                        ("from", Some(was.to_string())),
                        ("to", Some(is.to_string())),
                    ],
                );
            }
        }
    }

    fn watched(
        &mut self,
        fact: &str,
        old: &BTreeMap<String, String>,
        new: &BTreeMap<String, String>,
        before: Option<&Version>,
        index: usize,
    ) {
        for (key, value) in new
            .iter()
            .filter(|(key, value)| old.get(*key) != Some(*value))
        {
            if WATCHED.iter().any(|prefix| key.starts_with(prefix))
                && let Some(event) = self.event(
                    fact,
                    &[key, value],
                    None,
                    before,
                    index,
                    &json!({ "key": key, "value": value }),
                )
            {
                self.push(
                    event,
                    &[("key", Some(key.clone())), ("value", Some(value.clone()))],
                );
            }
        }
    }

    fn workload(&mut self) {
        let mut before: Option<&Version> = None;
        for (index, version) in self.versions.iter().enumerate() {
            let new = &version.body;
            if let Some(old) = before.map(|version| &version.body) {
                if old.suspended != new.suspended {
                    let fact = if new.suspended {
                        named::K8S_WORKLOAD_SUSPENDED
                    } else {
                        named::K8S_WORKLOAD_RESUMED
                    };
                    if let Some(event) = self.event(
                        fact,
                        &[],
                        None,
                        before,
                        index,
                        &json!({ "suspend": new.suspended }),
                    ) {
                        self.push(event, &[]);
                    }
                }
                let mut fields = Vec::new();
                // What was printed for people has no generation, nor all of the spec.
                let anew = matches!((old.generation, new.generation), (Some(old), Some(new)) if old != new);
                if anew && old.spec_hash != new.spec_hash && !old.spec_hash.is_empty() {
                    fields.push("spec");
                }
                let same = old.generation.is_some() && old.generation == new.generation;
                let known = old.replicas.is_some() && new.replicas.is_some();
                if known && old.replicas != new.replicas && !same {
                    fields.push("replicas");
                }
                if !fields.is_empty() {
                    let raw = json!({ "fields": fields, "replicas": [old.replicas, new.replicas] });
                    let unstamped = (fields == ["replicas"])
                        .then(|| self.unstamped(before, index))
                        .flatten();
                    if let Some(event) = self.event(
                        named::K8S_WORKLOAD_SPEC_CHANGED,
                        &fields,
                        unstamped,
                        before,
                        index,
                        &raw,
                    ) {
                        self.push(event, &[("fields", Some(fields.join(",")))]);
                    }
                }
            }
            before = Some(version);
        }
    }

    /// Versions that are copies of one revision, which other records tell more of.
    fn same_revision(&self, index: usize) -> impl Iterator<Item = &Version> {
        let revision = self
            .versions
            .get(index)
            .and_then(|version| version.revision);
        let own = self.versions.get(index).into_iter();
        let twins = self
            .versions
            .iter()
            .skip(index + 1)
            .take_while(move |twin| revision.is_some() && twin.revision == revision);
        own.chain(twins)
    }

    /// The request that made a revision has a record of its own.
    fn audit_version(&self, index: usize) -> Option<&Version> {
        self.same_revision(index)
            .find(|version| version.source_kind == SourceKind::KubernetesAudit)
    }

    /// The fact of a change: at its own time where it has one, else between the two versions.
    fn event(
        &self,
        fact: &str,
        what: &[&str],
        own: Option<Stamp>,
        before: Option<&Version>,
        index: usize,
        raw: &Value,
    ) -> Option<Event> {
        let by_audit = self.audit_version(index).and_then(|version| version.at);
        let time = by_audit.or(own).or_else(|| self.between(before, index))?;
        self.event_at(fact, what, time, index, raw)
    }

    /// When a version was made that bears no time of its own: who changes the size of a workload through its `scale` leaves none,
    /// so that the version has the time of the one before it. That was before the next one.
    fn unstamped(&self, before: Option<&Version>, index: usize) -> Option<Stamp> {
        let (before, seen) = (before?.at?, self.versions.get(index)?.at?);
        if seen.hi > before.hi {
            return None;
        }
        let later = self.versions.iter().skip(index + 1);
        let mut later = later.filter_map(|version| version.at);
        let next = later.find(|next| next.hi > seen.hi);
        Some(Stamp {
            lo: before.lo,
            hi: next.map_or(Nanos::MAX, |next| next.hi),
        })
    }

    /// Since when the last version may have been made where it bears no later time than the one before it, and no later one
    /// tells by when.
    fn since(&self, before: Option<&Version>, index: usize) -> Option<Stamp> {
        let (before, seen) = (before?.at?, self.versions.get(index)?.at?);
        let mut later = self.versions.iter().skip(index + 1);
        let is_open =
            seen.hi <= before.hi && !later.any(|next| next.at.is_some_and(|at| at.hi > seen.hi));
        is_open.then_some(Stamp {
            lo: before.lo,
            hi: Nanos::MAX,
        })
    }

    /// Between which times a version came to be, where no record tells.
    fn between(&self, before: Option<&Version>, index: usize) -> Option<Stamp> {
        let version = self.versions.get(index)?;
        let since = before.and_then(|before| before.at).or(version.body.created);
        let seen = version.at?;
        let mut later = self.versions.iter().skip(index + 1);
        let until = match before {
            // The first version that is seen may be of any time since the object was made.
            None => {
                let next = later.next().and_then(|next| next.at);
                next.map_or(Nanos::MAX, |next| next.hi.max(seen.hi))
            }
            Some(before) if before.at.is_none_or(|at| at.hi < seen.hi) => seen.hi,
            // One that bears no later time than the one before it is of any time up to the next; where that is hours later,
            // nothing is known of when it was.
            Some(_) => {
                let mut later = later.filter_map(|next| next.at.map(|at| at.hi));
                let next = later.find(|next| *next > seen.hi);
                next.filter(|next| next.saturating_sub(seen.hi) <= UNDATED)
                    .unwrap_or(seen.hi)
            }
        };
        Some(Stamp {
            lo: since.map_or(seen.lo, |since| since.lo.min(seen.lo)),
            hi: until,
        })
    }

    /// The fact of a change at a time.
    fn event_at(
        &self,
        fact: &str,
        what: &[&str],
        time: Stamp,
        index: usize,
        raw: &Value,
    ) -> Option<Event> {
        let version = self.versions.get(index)?;
        let identity = self.key.identity();
        let seconds = time.lo.div_euclid(SECOND).to_string();
        let mut parts = vec![fact, identity.as_str()];
        parts.extend_from_slice(what);
        parts.push(&seconds);
        let mut event = Event::new(EventId::of(&parts), fact, time, version.source_kind);
        event.object_kind = Some(self.key.kind.clone());
        event.object_uid = Some(self.key.uid.clone()).filter(|uid| !uid.is_empty());
        event.raw = raw.to_string();
        event.origin = version.origin.clone();
        if self.key.kind == "Node" {
            event.entities.node = Some(self.key.name.clone());
        } else {
            event.actor = self.changed_by(index);
            event.entities.namespace =
                Some(self.key.namespace.clone()).filter(|name| !name.is_empty());
            event.entities.workload_kind = Some(self.key.kind.clone());
            event.entities.workload = Some(self.key.name.clone());
        }
        Some(event)
    }

    fn push(&mut self, mut event: Event, attributes: &[(&str, Option<String>)]) {
        for (key, value) in attributes {
            event.set_attribute(key, value.clone());
        }
        self.found.push(event);
    }
}

/// Whether what an object tells of a change is the time of a request, by two clocks.
fn is_near(own: Stamp, request: Stamp) -> bool {
    const CLOCKS: Nanos = 2 * SECOND;
    own.lo.saturating_sub(request.hi) <= CLOCKS && request.lo.saturating_sub(own.hi) <= CLOCKS
}
