//! Workloads of Kubernetes' own kinds, and objects of any other kind.

use serde_json::{Value, json};

use super::tree::Item;
use super::{field, spec};

/// The workload of a kind that `items` show.
pub(super) fn json(kind: &str, items: &[Item<'_>]) -> Value {
    let mut own = json!({});
    let template = field::below(items, "Pod Template");
    if !template.is_empty() {
        field::set(
            &mut own,
            "template",
            Some(json!({ "spec": spec::json(template) })),
        );
    }
    field::set(
        &mut own,
        "suspend",
        field::value(items, "Suspend").map(|text| text.eq_ignore_ascii_case("true").into()),
    );
    for (key, name) in [
        ("Parallelism", "parallelism"),
        ("Completions", "completions"),
        ("Backoff Limit", "backoffLimit"),
        ("Active Deadline Seconds", "activeDeadlineSeconds"),
    ] {
        field::set(&mut own, name, field::number(items, key));
    }
    field::set(&mut own, "replicas", replicas(items));
    let mut status = json!({ "conditions": conditions(kind, items) });
    field::set(&mut status, "startTime", field::time(items, "Start Time"));
    field::set(
        &mut status,
        "completionTime",
        field::time(items, "Completed At"),
    );
    // Why a job is over is not printed: one that still has pods is not.
    if let Some([active, _, failed]) = Item::statuses(items).filter(|[active, ..]| *active > 0) {
        field::set(&mut status, "active", Some(active.into()));
        field::set(&mut status, "failed", Some(failed.into()));
        field::set(&mut status, "ready", Item::ready(items).map(Value::from));
    }
    json!({ "spec": own, "status": status })
}

/// `1 desired | 1 updated | …` of deployments, `1 current / 1 desired` of replica sets.
fn replicas(items: &[Item<'_>]) -> Option<Value> {
    let text = field::value(items, "Replicas")?;
    text.split(['|', '/'])
        .filter_map(|part| part.trim().strip_suffix("desired"))
        .find_map(|number| number.trim().parse::<i64>().ok())
        .map(Value::from)
}

/// What is printed of conditions; a job's are not, but its end is.
fn conditions(kind: &str, items: &[Item<'_>]) -> Vec<Value> {
    let mut found = field::conditions(items);
    if kind == "Job"
        && let Some(at) = field::time(items, "Completed At")
    {
        found.push(json!({ "type": "Complete", "status": "True", "lastTransitionTime": at }));
    }
    found
}
