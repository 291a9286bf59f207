//! Pod specs, in pods and in templates.

use serde_json::{Map, Value, json};

use super::field;
use super::tree::Item;

/// The spec that `items` show; the items are those of a pod or of a template.
pub(super) fn json(items: &[Item<'_>]) -> Value {
    let mut spec = json!({});
    for (key, name) in [
        ("Init Containers", "initContainers"),
        ("Containers", "containers"),
    ] {
        let containers: Vec<Value> = field::below(items, key).iter().map(container).collect();
        field::set(
            &mut spec,
            name,
            (!containers.is_empty()).then(|| containers.into()),
        );
    }
    let volumes: Vec<Value> = field::below(items, "Volumes").iter().map(volume).collect();
    field::set(
        &mut spec,
        "volumes",
        (!volumes.is_empty()).then(|| volumes.into()),
    );
    field::set(&mut spec, "priority", field::number(items, "Priority"));
    let text = |key| field::value(items, key).map(Value::from);
    field::set(&mut spec, "priorityClassName", text("Priority Class Name"));
    field::set(&mut spec, "serviceAccountName", text("Service Account"));
    field::set(
        &mut spec,
        "nodeSelector",
        field::pairs(items, "Node-Selectors"),
    );
    field::set(&mut spec, "tolerations", tolerations(items));
    spec
}

fn container(item: &Item<'_>) -> Value {
    let own = &item.children;
    let mut container = json!({ "name": item.key });
    field::set(
        &mut container,
        "image",
        field::value(own, "Image").map(Value::from),
    );
    for (key, name) in [("Command", "command"), ("Args", "args")] {
        let words: Vec<Value> = field::item(own, key)
            .map(|item| item.values().map(Value::from).collect())
            .unwrap_or_default();
        field::set(
            &mut container,
            name,
            (!words.is_empty()).then(|| words.into()),
        );
    }
    let mut resources = json!({});
    for (key, name) in [("Requests", "requests"), ("Limits", "limits")] {
        field::set(&mut resources, name, field::amounts(own, key));
    }
    field::set(&mut container, "resources", Some(resources));
    container
}

fn volume(item: &Item<'_>) -> Value {
    let own = &item.children;
    let mut volume = json!({ "name": item.key });
    let text = |key| field::value(own, key);
    let source = match text("Type").and_then(|kind| kind.split_whitespace().next()) {
        Some("PersistentVolumeClaim") => {
            text("ClaimName").map(|name| ("persistentVolumeClaim", json!({ "claimName": name })))
        }
        Some("ConfigMap") => text("Name").map(|name| ("configMap", json!({ "name": name }))),
        Some("Secret") => text("SecretName").map(|name| ("secret", json!({ "secretName": name }))),
        _ => None,
    };
    if let Some((kind, source)) = source {
        field::set(&mut volume, kind, Some(source));
    }
    volume
}

/// `key=value:Effect op=Exists for 300s`.
fn tolerations(items: &[Item<'_>]) -> Option<Value> {
    let item = field::item(items, "Tolerations")?;
    let found: Vec<Value> = item
        .values()
        .map(|text| {
            let mut words = text.split_whitespace();
            let taint = words.next().unwrap_or_default();
            let (key, effect) = match taint.rsplit_once(':') {
                Some((key, effect)) => (key, Some(effect)),
                None => (taint, None),
            };
            let (key, value) = key
                .split_once('=')
                .map_or((key, None), |(key, value)| (key, Some(value)));
            let mut one = Map::new();
            let mut put = |name: &str, text: Option<&str>| {
                if let Some(text) = text.filter(|text| !text.is_empty()) {
                    one.insert(name.to_owned(), text.into());
                }
            };
            put("key", Some(key));
            put("value", value);
            put("effect", effect);
            put("operator", text.contains("op=Exists").then_some("Exists"));
            if let Some(seconds) = text
                .split_once(" for ")
                .and_then(|(_, rest)| rest.trim_end_matches('s').parse::<i64>().ok())
            {
                one.insert("tolerationSeconds".to_owned(), seconds.into());
            }
            Value::Object(one)
        })
        .collect();
    (!found.is_empty()).then(|| found.into())
}
