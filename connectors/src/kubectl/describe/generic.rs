//! Kinds that kubectl does not know: it prints their fields with the names'
//! words apart (`Last Transition Time:`), keys in order, and the items of a
//! list without a mark between them.

use serde_json::{Map, Value};

use super::tree::Item;

/// Fields that hold a list of objects, wherever they stand.
const LISTS: [&str; 24] = [
    "args",
    "command",
    "conditions",
    "containerStatuses",
    "containers",
    "env",
    "envFrom",
    "imagePullSecrets",
    "initContainers",
    "items",
    "jobsStatus",
    "managedFields",
    "ownerReferences",
    "podSets",
    "policies",
    "ports",
    "replicatedJobs",
    "replicatedJobsStatus",
    "rules",
    "tasks",
    "tolerations",
    "volumeMounts",
    "volumes",
    "workerGroupSpecs",
];

/// Fields whose keys are names given by people.
const MAPS: [&str; 6] = [
    "labels",
    "annotations",
    "limits",
    "requests",
    "nodeSelector",
    "matchLabels",
];

/// The object that `items` show.
pub(super) fn json(items: &[Item<'_>]) -> Value {
    let mut object = map(items, false);
    // What stands at the top is told from the items as for every kind.
    if let Value::Object(fields) = &mut object {
        fields
            .retain(|key, _| matches!(key.as_str(), "apiVersion" | "metadata" | "spec" | "status"));
    }
    object
}

fn map(items: &[Item<'_>], named: bool) -> Value {
    let mut fields = Map::new();
    for item in items.iter().filter(|item| !item.key.is_empty()) {
        let key = if named {
            item.key.to_owned()
        } else {
            field_name(item.key)
        };
        fields.insert(key.clone(), value(&key, item));
    }
    Value::Object(fields)
}

fn value(key: &str, item: &Item<'_>) -> Value {
    if item.children.is_empty() {
        return scalar(item.value);
    }
    if item.children.iter().all(|child| child.key.is_empty()) || matches!(key, "args" | "command") {
        return item
            .children
            .iter()
            .map(|child| Value::from(child.text))
            .collect();
    }
    if LISTS.contains(&key) {
        return Value::Array(split(&item.children));
    }
    map(&item.children, MAPS.contains(&key))
}

/// Keys are sorted within an item, so one that sorts no later begins the next.
fn split(items: &[Item<'_>]) -> Vec<Value> {
    let mut found = Vec::new();
    let mut from = 0;
    for at in 1..=items.len() {
        if at == items.len() || field_name(items[at].key) <= field_name(items[at - 1].key) {
            found.push(map(&items[from..at], false));
            from = at;
        }
    }
    found
}

fn scalar(text: &str) -> Value {
    match text {
        "true" => true.into(),
        "false" => false.into(),
        "<nil>" | "<none>" => Value::Null,
        _ => text
            .parse::<i64>()
            .map_or_else(|_| text.into(), Value::from),
    }
}

/// `Last Transition Time` is `lastTransitionTime`, `API Version` is `apiVersion`.
fn field_name(label: &str) -> String {
    let mut name = String::with_capacity(label.len());
    for (index, word) in label.split(' ').enumerate() {
        if index == 0 {
            let mut letters = word.chars();
            let acronym = word.len() > 1 && word.bytes().all(|b| b.is_ascii_uppercase());
            if acronym {
                name.push_str(&word.to_lowercase());
            } else if let Some(first) = letters.next() {
                name.extend(first.to_lowercase());
                name.push_str(letters.as_str());
            }
        } else {
            name.push_str(word);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::super::tree::parse;
    use super::*;
    use crate::kubectl::paste;

    #[test]
    fn fields_get_their_names_and_lists_their_items_back() {
        let text = "API Version:  kubeflow.org/v1\nKind:  PyTorchJob\nMetadata:\n  Creation Timestamp:  2026-02-03T10:00:00Z\n  UID:  7f0c\nSpec:\n  Pytorch Replica Specs:\n    Worker:\n      Replicas:  2\n      Template:\n        Spec:\n          Containers:\n            Command:\n              python\n              train.py\n            Image:  r/i\n            Name:  pytorch\n            Resources:\n              Limits:\n                nvidia.com/gpu:  8\n            Image:  r/j\n            Name:  side\nStatus:\n  Conditions:\n    Last Transition Time:  2026-02-03T10:00:01Z\n    Status:  True\n    Type:  Created\n    Last Transition Time:  2026-02-03T11:00:01Z\n    Message:  x\n    Status:  True\n    Type:  Failed\n";
        let object = json(&parse(&paste::lines(text)));
        assert_eq!(object["metadata"]["uid"], "7f0c");
        let containers =
            &object["spec"]["pytorchReplicaSpecs"]["worker"]["template"]["spec"]["containers"];
        assert_eq!(containers.as_array().unwrap().len(), 2);
        assert_eq!(containers[0]["resources"]["limits"]["nvidia.com/gpu"], 8);
        assert_eq!(containers[0]["command"][1], "train.py");
        assert_eq!(object["status"]["conditions"][1]["type"], "Failed");
        assert_eq!(
            object["status"]["conditions"][1]["lastTransitionTime"],
            "2026-02-03T11:00:01Z"
        );
    }
}
