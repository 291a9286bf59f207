//! A pod.

use serde_json::{Value, json};

use super::tree::Item;
use super::{field, spec};

/// The pod that `items` show.
pub(super) fn json(items: &[Item<'_>]) -> Value {
    let mut spec = spec::json(items);
    let node = field::value(items, "Node").map(|text| {
        // The address of the host stands after the name.
        text.split_once('/').map_or(text, |(name, _)| name)
    });
    field::set(
        &mut spec,
        "nodeName",
        node.filter(|name| !name.is_empty()).map(Value::from),
    );
    let mut status = json!({});
    let phase = field::value(items, "Status").unwrap_or_default();
    // While a pod ends its phase is not printed.
    let phase = if phase.starts_with("Terminating") {
        "Running"
    } else {
        phase
    };
    field::set(
        &mut status,
        "phase",
        Some(phase).filter(|text| !text.is_empty()).map(Value::from),
    );
    field::set(
        &mut status,
        "reason",
        field::value(items, "Reason").map(Value::from),
    );
    field::set(
        &mut status,
        "message",
        field::text(items, "Message").map(Value::from),
    );
    field::set(&mut status, "startTime", field::time(items, "Start Time"));
    for (key, name) in [
        ("Containers", "containerStatuses"),
        ("Init Containers", "initContainerStatuses"),
    ] {
        let found: Vec<Value> = field::below(items, key)
            .iter()
            .filter_map(container)
            .collect();
        field::set(&mut status, name, (!found.is_empty()).then(|| found.into()));
    }
    // `True` has no time here; of most it tells only what the times of the containers tell better.
    let emitted: Vec<Value> = field::conditions(items)
        .into_iter()
        .filter(|condition| {
            let text = |key| {
                condition
                    .get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            text("status") == "False" || matches!(text("type"), "DisruptionTarget" | "Ready")
        })
        .collect();
    field::set(&mut status, "conditions", Some(emitted.into()));
    json!({ "spec": spec, "status": status })
}

/// What is printed of a container's state.
const STATE_FIELDS: [&str; 6] = [
    "Reason",
    "Message",
    "Exit Code",
    "Signal",
    "Started",
    "Finished",
];

/// A container's status; nothing where it never had one.
fn container(item: &Item<'_>) -> Option<Value> {
    let own = &item.children;
    let mut status = json!({ "name": item.key, "state": state(own, "State")? });
    field::set(&mut status, "lastState", state(own, "Last State"));
    field::set(
        &mut status,
        "restartCount",
        field::number(own, "Restart Count"),
    );
    field::set(
        &mut status,
        "ready",
        field::value(own, "Ready").map(|text| (text == "True").into()),
    );
    Some(status)
}

/// What is printed of one of a container's states.
fn state(container: &[Item<'_>], which: &str) -> Option<Value> {
    let at = container.iter().position(|item| item.key == which)?;
    let item = container.get(at)?;
    // Chats and forms eat blanks: what stands below it is then beside it.
    let beside = container.iter().skip(at + 1);
    let beside = beside.take_while(|item| STATE_FIELDS.contains(&item.key));
    let own: Vec<Item<'_>> = match item.children.as_slice() {
        [] => beside.cloned().collect(),
        own => own.to_vec(),
    };
    let own = own.as_slice();
    let mut emitted = json!({});
    for key in ["Reason", "Message"] {
        field::set(
            &mut emitted,
            &key.to_lowercase(),
            field::text(own, key).map(Value::from),
        );
    }
    field::set(&mut emitted, "startedAt", field::time(own, "Started"));
    Some(match item.value {
        "Running" => json!({ "running": emitted }),
        "Waiting" => json!({ "waiting": emitted }),
        "Terminated" => {
            field::set(&mut emitted, "finishedAt", field::time(own, "Finished"));
            field::set(&mut emitted, "exitCode", field::number(own, "Exit Code"));
            field::set(&mut emitted, "signal", field::number(own, "Signal"));
            json!({ "terminated": emitted })
        }
        _ => json!({}),
    })
}
