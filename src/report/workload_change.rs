//! What somebody did to a workload, a namespace or a node, as far as its pods go with it.

use whathappened_core::graph::{EntityGraph, Fact, Task};
use whathappened_core::signals::named;
use whathappened_model::time::{Nanos, SECOND};

/// What is said of a change of which no record tells what it was.
pub(super) const CHANGED: &str = " was changed{by}";

/// From which size to which a workload was made smaller with the change that a record tells of, where nothing else of it was changed.
pub(super) fn resized(graph: &EntityGraph, root: &Fact) -> Option<(i64, i64)> {
    const AT_ONCE: Nanos = 2 * SECOND;
    root.workload?;
    let near = |fact: &&Fact| {
        graph.name(fact.signal) == named::K8S_WORKLOAD_SPEC_CHANGED
            && fact.workload == root.workload
            && fact.time.lo <= root.time.hi.saturating_add(AT_ONCE)
            && fact.time.hi >= root.time.lo.saturating_sub(AT_ONCE)
    };
    let mut changes = graph.facts.iter().filter(near);
    let change = changes.next().filter(|_| changes.next().is_none())?;
    let event = graph.evidence.event(change.row).ok()?;
    if event.attribute("fields") != Some("replicas") {
        return None;
    }
    let raw: serde_json::Value = serde_json::from_str(&event.raw).ok()?;
    let size = |place: &str| raw.pointer(place).and_then(serde_json::Value::as_i64);
    let (from, to) = (size("/replicas/0")?, size("/replicas/1")?);
    (to < from).then_some((from, to))
}

/// Who deletes a namespace, a workload or a node deletes its pods by that, and not one
/// by one.
pub(super) fn went_along(
    template: &str,
    root: &Fact,
    pod: Option<&Task>,
    graph: &EntityGraph,
) -> String {
    let signal = graph.name(root.signal);
    const DELETED: &str = "{pod} {was} deleted{by}";
    let is_of = |kind: &str| {
        let rest = signal.strip_prefix(kind).unwrap_or_default();
        rest.starts_with(".deleted_by_") || rest == ".deletion_requested"
    };
    let along = if is_of("k8s.namespace") {
        let row = graph.evidence.rows().get(root.row);
        let namespace = row.map_or("", |row| graph.name(row.workload));
        format!("{{pod}} {{was}} deleted along with the namespace {namespace}{{by}}")
    } else if pod.is_some() && is_of("k8s.workload") {
        let workload = graph.workloads.get(root.workload);
        let workload = workload.map_or("{workload}", |one| graph.name(one.name));
        format!("{{pod}} {{was}} deleted along with {workload}{{by}}")
    } else if signal.starts_with("k8s.node.deleted_by_") {
        "{pod} {was} lost when the node {node} was deleted{by}".to_owned()
    } else {
        return template.to_owned();
    };
    template.replace(DELETED, &along)
}
