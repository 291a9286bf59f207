//! The table `objects`: each version of each object, from when to when.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;
use whathappened_core::evidence::{Objects, Version};
use whathappened_model::object::{ObjectKey, Owner, Taint};
use whathappened_model::time::{Nanos, rfc3339};

use super::column::Cell::{Flag, Long, Made, Text, Texts, Time};
use super::column::{Column, long, reported};
use super::shared_case::SharedCase;
use super::stored::StoredTables;
use crate::error::Error;

/// One version of an object.
pub(super) struct ObjectRow {
    key: ObjectKey,
    version: Version,
    until: Option<Nanos>,
}

impl ObjectRow {
    fn owner(&self) -> Option<&Owner> {
        let owners = &self.version.body.owners;
        owners
            .iter()
            .find(|owner| owner.controller)
            .or_else(|| owners.first())
    }
}

/// All versions, in order of (kind, namespace, name, uid, version).
pub(super) fn rows(shared: &SharedCase) -> Box<dyn Iterator<Item = ObjectRow> + '_> {
    Box::new(held(&shared.case.graph.evidence.objects))
}

fn held(objects: &Objects) -> impl Iterator<Item = ObjectRow> + '_ {
    objects.iter().flat_map(|(key, versions)| {
        versions.iter().enumerate().map(move |(index, version)| {
            let at = version.at.map(|at| at.lo);
            // Copies of one version from two sources end together.
            let later = versions
                .iter()
                .skip(index + 1)
                .filter_map(|later| later.at)
                .map(|later| later.lo);
            ObjectRow {
                key: key.clone(),
                version: version.clone(),
                until: later.into_iter().find(|later| Some(*later) > at),
            }
        })
    })
}

/// Versions that a store has, of all objects or of some kinds and names, in the same order.
pub(super) fn stored(
    stored: &StoredTables,
    kinds: Option<&[String]>,
    names: Option<&[String]>,
) -> Result<Vec<ObjectRow>, Error> {
    let mut objects = Objects::default();
    stored.look(|snapshot| {
        Ok(snapshot.objects_named(kinds, names, &mut |object| objects.add(object.version))?)
    })?;
    objects.settle();
    Ok(held(&objects).collect())
}

fn from(version: &Version) -> Option<Nanos> {
    version.at.and_then(reported).map(|at| at.lo)
}

/// JSON of a collection; NULL for an empty one.
fn map<T: Serialize>(values: &BTreeMap<String, T>) -> Option<String> {
    if values.is_empty() {
        None
    } else {
        serde_json::to_string(values).ok()
    }
}

fn list<T: Serialize>(values: &[T]) -> Option<String> {
    if values.is_empty() {
        None
    } else {
        serde_json::to_string(values).ok()
    }
}

fn taints(taints: &[Taint]) -> Option<String> {
    let shown = |taint: &Taint| json!({ "key": taint.key, "value": taint.value, "effect": taint.effect, "added": taint.added.and_then(reported).map(|at| rfc3339(at.lo)) });
    let shown: Vec<_> = taints.iter().map(shown).collect();
    list(&shown)
}

/// All columns, in order.
pub(super) const COLUMNS: &[Column<ObjectRow>] = &[
    Column::new(
        "kind",
        Text(|row| Some(&row.key.kind)),
        "Pod, Node, Job, PyTorchJob, …",
    ),
    Column::new(
        "api_version",
        Text(|row| Some(&row.version.body.api_version)),
        "API group and version",
    ),
    Column::new(
        "namespace",
        Text(|row| Some(&row.key.namespace)),
        "its namespace; NULL for kinds of the cluster",
    ),
    Column::new(
        "name",
        Text(|row| Some(&row.key.name)),
        "its name, which other objects may have at other times",
    ),
    Column::new(
        "uid",
        Text(|row| Some(&row.key.uid)),
        "its uid, which nothing else ever has",
    ),
    Column::new(
        "valid_from",
        Time(|row| from(&row.version)),
        "a time at which this version was true: the request's from the audit log, else the latest time in the object",
    ),
    Column::new(
        "valid_to",
        Time(|row| row.until),
        "when the next version is recorded; NULL for the last one",
    ),
    Column::new(
        "deleted",
        Flag(|row| Some(row.version.deleted)),
        "the object was gone; the other columns show what it last was",
    ),
    Column::new(
        "resource_version",
        Long(|row| row.version.revision.and_then(long)),
        "metadata.resourceVersion, where it is a number",
    ),
    Column::new(
        "generation",
        Long(|row| row.version.body.generation),
        "metadata.generation, which counts changes of the spec",
    ),
    Column::new(
        "created",
        Time(|row| row.version.body.created.map(|at| at.lo)),
        "metadata.creationTimestamp",
    ),
    Column::new(
        "deletion_requested",
        Time(|row| row.version.body.deletion_requested.map(|at| at.lo)),
        "when deletion was asked for: deletionTimestamp minus the grace period",
    ),
    Column::new(
        "owner_kind",
        Text(|row| row.owner().map(|owner| owner.kind.as_str())),
        "kind of the owner that controls it",
    ),
    Column::new(
        "owner_name",
        Text(|row| row.owner().map(|owner| owner.name.as_str())),
        "name of that owner",
    ),
    Column::new(
        "owner_uid",
        Text(|row| row.owner().map(|owner| owner.uid.as_str())),
        "uid of that owner",
    ),
    Column::new(
        "labels",
        Made(|row| map(&row.version.body.labels)),
        "labels, as a JSON object",
    ),
    Column::new(
        "annotations",
        Made(|row| map(&row.version.body.annotations)),
        "annotations, as a JSON object",
    ),
    Column::new(
        "node",
        Text(|row| row.version.body.node.as_deref()),
        "node that a pod is bound to",
    ),
    Column::new(
        "phase",
        Text(|row| row.version.body.phase.as_deref()),
        "phase, or the state of a training kind",
    ),
    Column::new(
        "started",
        Time(|row| row.version.body.started.map(|at| at.lo)),
        "when the first container of a pod started",
    ),
    Column::new(
        "ended",
        Time(|row| row.version.body.ended.map(|at| at.lo)),
        "when the last container of a pod ended",
    ),
    Column::new(
        "images",
        Texts(|row| {
            row.version
                .body
                .containers
                .iter()
                .map(|one| one.image.clone())
                .collect()
        }),
        "images of the containers, as asked for",
    ),
    Column::new(
        "containers",
        Made(|row| list(&row.version.body.containers)),
        "containers with image, command, requests and limits, as a JSON array",
    ),
    Column::new(
        "waits",
        Texts(|row| row.version.body.waits.clone()),
        "what containers wait for: CrashLoopBackOff, ImagePullBackOff, …",
    ),
    Column::new(
        "restarts",
        Made(|row| map(&row.version.body.restarts)),
        "restarts by container, as a JSON object",
    ),
    Column::new(
        "claims",
        Texts(|row| row.version.body.claims.clone()),
        "volume claims that a pod mounts",
    ),
    Column::new(
        "restart_policy",
        Text(|row| row.version.body.restart_policy.as_deref()),
        "restart policy of a pod",
    ),
    Column::new(
        "priority",
        Long(|row| row.version.body.priority),
        "priority of a pod",
    ),
    Column::new(
        "priority_class",
        Text(|row| row.version.body.priority_class.as_deref()),
        "priority class of a pod",
    ),
    Column::new(
        "node_selector",
        Made(|row| map(&row.version.body.node_selector)),
        "labels that a pod's node must have, as a JSON object",
    ),
    Column::new(
        "tolerations",
        Text(|row| row.version.body.tolerations.as_deref()),
        "taints that a pod tolerates, as a JSON array",
    ),
    Column::new(
        "replicas",
        Long(|row| row.version.body.replicas),
        "pods that a workload wants",
    ),
    Column::new(
        "suspended",
        Flag(|row| Some(row.version.body.suspended)),
        "the workload is suspended",
    ),
    Column::new(
        "provider_id",
        Text(|row| row.version.body.provider_id.as_deref()),
        "the cloud's name for a node's machine",
    ),
    Column::new(
        "boot_id",
        Text(|row| row.version.body.boot_id.as_deref()),
        "a node's boot, a new one after each reboot",
    ),
    Column::new(
        "unschedulable",
        Flag(|row| Some(row.version.body.unschedulable)),
        "the node is cordoned",
    ),
    Column::new(
        "taints",
        Made(|row| taints(&row.version.body.taints)),
        "a node's taints, as a JSON array",
    ),
    Column::new(
        "allocatable",
        Made(|row| map(&row.version.body.allocatable)),
        "what a node has to give, as a JSON object",
    ),
    Column::new(
        "spec_hash",
        Text(|row| Some(&row.version.body.spec_hash)),
        "hash of the spec: equal where two attempts asked for the same",
    ),
    Column::new(
        "source_kind",
        Text(|row| Some(row.version.source_kind.as_str())),
        "connector that reported this version",
    ),
    Column::new(
        "origin",
        Made(|row| Some(row.version.origin.to_string())),
        "file and line it was read from",
    ),
];
