//! Log entries as the Logs Explorer downloads them in CSV: a column for each field, nested ones under names with dots.

use serde_json::{Map, Value};

use crate::contract::Table;

/// Such a table.
pub(crate) const ENTRIES: Table = Table { recognise, record };

/// What entries say, of which a table has some.
const PAYLOADS: [&str; 3] = ["textPayload", "jsonPayload", "protoPayload"];

fn recognise(columns: &[String]) -> bool {
    let has = |name: &str| columns.iter().any(|column| column == name);
    let payload = columns.iter().any(|column| {
        let top = column.split('.').next().unwrap_or_default();
        PAYLOADS.contains(&top)
    });
    let of_resource = || {
        let mut columns = columns.iter();
        columns.any(|column| column.starts_with("resource."))
    };
    has("timestamp") && payload && (of_resource() || has("logName") || has("insertId"))
}

/// The entry that a row is. A table need not have the columns that say which log and which kind of resource it is of: the
/// resource's own labels say that.
fn record(columns: &[String], fields: &[String]) -> Map<String, Value> {
    let mut entry = Map::new();
    let filled = columns.iter().zip(fields);
    for (column, field) in filled.filter(|(_, field)| !field.is_empty()) {
        let path: Vec<&str> = match column.split_once('.') {
            // Keys of labels hold dots themselves.
            Some(("labels", key)) => vec!["labels", key.trim_matches('"')],
            Some(("resource", rest)) => match rest.split_once('.') {
                Some((labels, key)) => vec!["resource", labels, key],
                None => vec!["resource", rest],
            },
            Some(_) => column.split('.').collect(),
            None => vec![column],
        };
        put(&mut entry, &path, field);
    }
    let label = |name: &str| {
        let labels = entry.get("resource").and_then(|one| one.get("labels"));
        labels.is_some_and(|labels| labels.get(name).is_some())
    };
    let kind = match (label("pod_name"), label("instance_id")) {
        (true, _) if label("container_name") => Some("k8s_container"),
        (true, _) => Some("k8s_pod"),
        (false, true) => Some("gce_instance"),
        (false, false) => label("node_name").then_some("k8s_node"),
    };
    let has_instance = entry
        .get("resource")
        .is_some_and(|one| one.get("type").is_some());
    if let Some(kind) = kind.filter(|_| !has_instance) {
        put(&mut entry, &["resource", "type"], kind);
    }
    entry.entry("logName").or_insert_with(|| Value::from(""));
    entry
}

/// Puts a value where its path leads.
fn put(entry: &mut Map<String, Value>, path: &[&str], value: &str) {
    let Some((key, rest)) = path.split_first() else {
        return;
    };
    if rest.is_empty() {
        entry.insert((*key).to_owned(), Value::from(value));
        return;
    }
    let inner = entry
        .entry(*key)
        .or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(inner) = inner {
        put(inner, rest, value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_row_is_an_entry() {
        let columns = texts(&[
            "insertId",
            "timestamp",
            "resource.labels.pod_name",
            "resource.labels.container_name",
            "labels.\"k8s-pod/app.name\"",
            "textPayload",
            "jsonPayload.message",
        ]);
        assert!(recognise(&columns));
        let fields = texts(&[
            "x",
            "2026-12-01T08:00:00Z",
            "vit-0",
            "train",
            "vit",
            "step 1",
            "",
        ]);
        let expected = json!({
            "insertId": "x",
            "timestamp": "2026-12-01T08:00:00Z",
            "resource": {"type": "k8s_container", "labels": {"pod_name": "vit-0", "container_name": "train"}},
            "labels": {"k8s-pod/app.name": "vit"},
            "textPayload": "step 1",
            "logName": "",
        });
        assert_eq!(Value::Object(record(&columns, &fields)), expected);
    }

    #[test]
    fn other_tables_are_not_of_it() {
        for columns in [
            &["timestamp", "message"][..],
            &["date", "host", "service", "content"],
            &["insertId", "textPayload"],
        ] {
            assert!(!recognise(&texts(columns)), "{columns:?}");
        }
    }
}
