//! A node.

use serde_json::{Value, json};

use super::field;
use super::tree::Item;

/// The node that `items` show.
pub(super) fn json(items: &[Item<'_>]) -> Value {
    let mut spec = json!({});
    let cordoned = field::value(items, "Unschedulable") == Some("true");
    field::set(&mut spec, "unschedulable", cordoned.then_some(true.into()));
    field::set(
        &mut spec,
        "providerID",
        field::value(items, "ProviderID").map(Value::from),
    );
    field::set(&mut spec, "taints", taints(items));
    let mut status = json!({ "conditions": field::conditions(items) });
    field::set(
        &mut status,
        "allocatable",
        field::amounts(items, "Allocatable"),
    );
    field::set(&mut status, "capacity", field::amounts(items, "Capacity"));
    let boot = field::value(field::below(items, "System Info"), "Boot ID");
    field::set(
        &mut status,
        "nodeInfo",
        boot.map(|id| json!({ "bootID": id })),
    );
    json!({ "spec": spec, "status": status })
}

/// `key=value:Effect`, one a line.
fn taints(items: &[Item<'_>]) -> Option<Value> {
    let found: Vec<Value> = field::item(items, "Taints")?
        .values()
        .filter_map(|text| {
            let (key, effect) = text.rsplit_once(':')?;
            let (key, value) = key.split_once('=').unwrap_or((key, ""));
            Some(json!({ "key": key, "value": value, "effect": effect }))
        })
        .collect();
    (!found.is_empty()).then(|| found.into())
}
