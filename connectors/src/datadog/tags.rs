//! Tags: a list of `key:value` with repetitions and in no order, to labels.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use whathappened_model::redact::redact;

use crate::log_store::{LabelNames, Labels};

/// How long a tag may be, key and colon included.
const MAX_TAG: usize = 200;

/// What names one thing: of several values the first is taken. Others, such as
/// the services of a pod, may well be several.
const ONE: [&str; 9] = [
    "pod_name",
    "kube_namespace",
    "kube_container_name",
    "display_container_name",
    "container_name",
    "kube_node",
    "kube_cluster_name",
    "host",
    "host_provider_id",
];

/// The names under which Datadog tells whose line it is: the Agent's tags come
/// before attributes that programs chose to call `pod` or `namespace`.
pub(super) fn names() -> LabelNames {
    let mut names = LabelNames::default();
    for (entity, tag) in [
        ("cluster", "kube_cluster_name"),
        ("namespace", "kube_namespace"),
        ("pod", "pod_name"),
        ("container", "kube_container_name"),
        ("node", "kube_node"),
    ] {
        names.prefer(entity, &[tag.to_owned()]);
    }
    names
}

/// Labels of a list of tags, or of tags in one text, apart by commas. Words
/// without a key are under `tags`.
pub(super) fn labels(tags: Option<&Value>) -> Labels {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let whole;
    let list: Vec<&str> = match tags {
        Some(Value::Array(tags)) => tags.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(tags)) => {
            // What tells of a secret may stand before the comma.
            whole = redact(tags);
            whole.split(',').collect()
        }
        _ => Vec::new(),
    };
    for tag in list {
        // A secret is known by the whole tag: of `postgres://user:password@db` the key would be `postgres`.
        let tag = redact(tag.trim());
        let (key, value) = tag.split_once(':').unwrap_or(("tags", &tag));
        if !key.is_empty() && !value.is_empty() {
            values
                .entry(name(key))
                .or_default()
                .insert(value.to_owned());
        }
    }
    let text = |key: &str, values: BTreeSet<String>| match values.first() {
        Some(first) if ONE.contains(&key) => first.clone(),
        _ => values.into_iter().collect::<Vec<_>>().join(","),
    };
    values
        .into_iter()
        .map(|(key, values)| {
            let value = text(&key, values);
            (key, value)
        })
        .collect()
}

/// A name as labels have it.
fn name(text: &str) -> String {
    text.replace(['.', '-', '/', ' '], "_")
}

/// Attributes as labels, `http.status_code` as `http_status_code`. Lists and what
/// lies too deep are kept as JSON.
pub(super) fn flat(attributes: &Map<String, Value>) -> Labels {
    let mut out = Labels::new();
    into(&mut out, "", attributes, 0);
    out
}

fn into(out: &mut Labels, prefix: &str, fields: &Map<String, Value>, depth: usize) {
    const DEEPEST: usize = 6;
    for (key, value) in fields {
        let key = name(key);
        let key = if prefix.is_empty() {
            key
        } else {
            format!("{prefix}_{key}")
        };
        let text = match value {
            Value::Null => continue,
            Value::Object(fields) if depth < DEEPEST => {
                into(out, &key, fields, depth + 1);
                continue;
            }
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        out.insert(key, text);
    }
}

/// The node of a host that is called `<node>-<cluster>`.
pub(super) fn node<'h>(host: &'h str, cluster: &str) -> Option<&'h str> {
    let node = host.strip_suffix(cluster)?.strip_suffix('-')?;
    (!node.is_empty() && !cluster.is_empty()).then_some(node)
}

/// A tag's value as Datadog stores it: in lower case, and what may not be in
/// tags as `_`.
pub(super) fn stored(key: &str, value: &str) -> String {
    let room = MAX_TAG.saturating_sub(key.chars().count() + 1);
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.' | '/');
    value
        .to_lowercase()
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .take(room)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tags_repeat_in_any_order_and_are_one_label_each() {
        let tags = json!([
            "source:x",
            "env:lab",
            "go",
            "pod_name:p-1",
            "source:x",
            "kube_service:b",
            "pod_name:p-0",
            "kube_service:a",
            "url:http://h:80",
            "bad:",
            "test",
            7
        ]);
        let found = labels(Some(&tags));
        for (key, value) in [
            ("source", "x"),
            ("pod_name", "p-0"),
            ("kube_service", "a,b"),
            ("url", "http://h:80"),
            ("tags", "go,test"),
        ] {
            assert_eq!(found.get(key).map(String::as_str), Some(value));
        }
        assert!(!found.contains_key("bad"));
        assert_eq!(labels(Some(&json!("a:1, b.c:2")))["b_c"], "2");
        assert!(labels(None).is_empty());
        let key = "0123456789abcdef0123456789abcdef";
        let told = format!("a:b,{{\"username\": \"a\", \"key\": \"{key}\"}}");
        let found = labels(Some(&json!(told)));
        assert_eq!(found["a"], "b");
        assert!(found.values().all(|value| !value.contains(key)));
    }

    #[test]
    fn the_agents_tags_come_before_what_programs_call_so() {
        let mut all = flat(json!({"namespace": "redis", "pod": "x", "http": {"status": {"code": 5}}, "l": [1], "n": null}).as_object().unwrap());
        assert_eq!(all["http_status_code"], "5");
        assert_eq!(all["l"], "[1]");
        all.extend(labels(Some(&json!(["kube_namespace:n", "pod_name:p"]))));
        let entities = names().entities(&all);
        assert_eq!(entities.namespace.as_deref(), Some("n"));
        assert_eq!(entities.pod.as_deref(), Some("p"));
    }

    #[test]
    fn values_are_asked_for_as_they_are_stored() {
        assert_eq!(stored("k", "Run #7 (Éa)/x:y"), "run__7__éa_/x:y");
        assert_eq!(stored("key", &"x".repeat(300)).len(), 196);
        assert_eq!(node("gpu-7-prod", "prod"), Some("gpu-7"));
        for (host, cluster) in [
            ("gpu-7", "prod"),
            ("-prod", "prod"),
            ("gpu7prod", "prod"),
            ("a-", ""),
        ] {
            assert_eq!(node(host, cluster), None, "{host}");
        }
    }

    #[test]
    fn a_secret_in_a_tag_is_known_by_the_whole_tag() {
        let tags = json!([
            "postgres://app:hunt3rXq9f@db/x",
            "pod_name:run-0",
            "curl -u bob:hunt3rXq9f https://x"
        ]);
        let labels = labels(Some(&tags));
        let all = format!("{labels:?}");
        assert!(!all.contains("hunt3rXq9f"), "{all}");
        assert!(all.contains("run-0"), "{all}");
    }
}
