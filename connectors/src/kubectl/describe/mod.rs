//! `kubectl describe`: back to the object it was printed from.

mod claim;
mod field;
mod generic;
mod node;
mod pod;
mod spec;
mod tree;
mod workload;

use serde_json::{Map, Value};

use super::paste::Line;
use super::table::Heading;
use crate::time::Stamp;
pub(super) use tree::{Item, parse};

/// An object as `describe` shows it.
#[derive(Debug)]
pub(super) struct Described<'t> {
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    /// The object as the API writes it, as far as it was printed.
    pub(super) json: Value,
    pub(super) items: Vec<Item<'t>>,
    /// The heading and rows of its events.
    pub(super) events: Vec<Line<'t>>,
    /// Times that the text states of the past.
    pub(super) emitted: Vec<Stamp>,
}

/// Reads what one `describe` printed; `asked` is the kind on the command line.
pub(super) fn read<'t>(lines: &[Line<'t>], requested: Option<&str>) -> Option<Described<'t>> {
    let at = lines
        .iter()
        .position(|line| line.text.starts_with("Events:"))
        .unwrap_or(lines.len());
    let (body, events) = lines.split_at(at);
    let items = parse(body);
    let name = field::value(&items, "Name")?.to_owned();
    let kind = kind(&items, requested)?;
    let mut namespace = field::value(&items, "Namespace")
        .unwrap_or_default()
        .to_owned();
    let mut json = match kind.as_str() {
        "Pod" => pod::json(&items),
        "Node" => node::json(&items),
        "PersistentVolumeClaim" => claim::json(&items),
        _ if field::item(&items, "API Version").is_some() => generic::json(&items),
        _ => workload::json(&kind, &items),
    };
    let uid = uid(&kind, &items, &json);
    let metadata = json
        .as_object_mut()?
        .entry("metadata")
        .or_insert_with(|| Value::Object(Map::new()));
    if kind == "Node" {
        namespace.clear();
    }
    field::set(metadata, "name", Some(name.as_str().into()));
    field::set(
        metadata,
        "namespace",
        Some(namespace.as_str())
            .filter(|text| !text.is_empty())
            .map(Value::from),
    );
    field::set(
        metadata,
        "uid",
        Some(uid.as_str())
            .filter(|uid| !uid.is_empty())
            .map(Value::from),
    );
    field::set(metadata, "labels", field::pairs(&items, "Labels"));
    field::set(metadata, "annotations", field::notes(&items, "Annotations"));
    field::set(
        metadata,
        "creationTimestamp",
        field::time(&items, "CreationTimestamp"),
    );
    field::set(metadata, "ownerReferences", owner(&items));
    field::set(&mut json, "kind", Some(kind.as_str().into()));
    let emitted = field::times(&items);
    Some(Described {
        kind,
        namespace,
        name,
        uid,
        json,
        items,
        events: events.to_vec(),
        emitted,
    })
}

/// The kind is not printed; each kind has fields that no other one has.
fn kind(items: &[Item<'_>], requested: Option<&str>) -> Option<String> {
    let has = |key: &str| field::item(items, key).is_some();
    if has("API Version") {
        let group = field::value(items, "API Version").unwrap_or_default();
        return Some(crate::kind::normal_kind(
            field::value(items, "Kind")?,
            group,
        ));
    }
    let found = if has("Pod Template") {
        if has("Completions") || has("Parallelism") {
            "Job"
        } else if has("StrategyType") {
            "Deployment"
        } else if has("Desired Number of Nodes Scheduled") {
            "DaemonSet"
        } else if has("Update Strategy") || has("Volume Claims") {
            "StatefulSet"
        } else if has("Schedule") {
            "CronJob"
        } else if requested == Some("ReplicationController") {
            "ReplicationController"
        } else {
            "ReplicaSet"
        }
    } else if has("Schedule") && has("Concurrency Policy") {
        "CronJob"
    } else if has("Containers") && (has("Status") || has("Node")) {
        "Pod"
    } else if has("Roles") || (has("System Info") && has("Allocatable")) {
        "Node"
    } else if has("StorageClass")
        && (has("Used By") || has("Mounted By") || has("VolumeMode"))
        && !has("Reclaim Policy")
    {
        "PersistentVolumeClaim"
    } else if has("Namespace") || has("Labels") || has("Annotations") {
        requested?
    } else {
        return None;
    };
    Some(found.to_owned())
}

/// A job's own uid stands in its labels and in its selector.
fn uid(kind: &str, items: &[Item<'_>], json: &Value) -> String {
    if let Some(uid) = json.pointer("/metadata/uid").and_then(Value::as_str) {
        return uid.to_owned();
    }
    if kind != "Job" {
        return String::new();
    }
    let labels = field::pairs(items, "Labels");
    let selector = field::pairs(items, "Selector");
    [labels, selector]
        .iter()
        .flatten()
        .find_map(controller_uid)
        .unwrap_or_default()
}

fn controller_uid(labels: &Value) -> Option<String> {
    ["batch.kubernetes.io/controller-uid", "controller-uid"]
        .iter()
        .find_map(|key| labels.get(key)?.as_str().map(str::to_owned))
}

/// `Controlled By:  Job/run`, with the uid where the labels hold it.
fn owner(items: &[Item<'_>]) -> Option<Value> {
    let (kind, name) = field::value(items, "Controlled By")?.split_once('/')?;
    let uid = field::pairs(items, "Labels")
        .as_ref()
        .and_then(controller_uid)
        .filter(|_| kind == "Job")
        .unwrap_or_default();
    Some(serde_json::json!([{ "kind": kind, "name": name, "uid": uid, "controller": true }]))
}

/// The rows of the events that a `describe` ends with: `(heading, rows)`.
pub(super) fn event_rows<'a, 't>(lines: &'a [Line<'t>]) -> Option<(Heading<'t>, &'a [Line<'t>])> {
    let at = lines
        .iter()
        .position(|line| Heading::of_events(line.text).is_some())?;
    let heading = Heading::of_events(lines[at].text)?;
    Some((heading, &lines[at + 1..]))
}
