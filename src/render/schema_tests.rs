//! `docs/answer.schema.json` against real answers.
//!
//! The crate `jsonschema` would turn on features of crates that DataFusion uses,
//! and so build all of it again for the tests: the few keywords are checked here.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use whathappened_connectors::recording::{Input, Options};

use crate::answer::Answer;
use crate::case::{Case, Rules};
use crate::report::{self, Question};

use super::fixtures::all;

const SCHEMA: &str = include_str!("../../docs/answer.schema.json");

/// Runs of a case that are asked about one by one.
const RUNS: usize = 6;

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

#[test]
fn answers_are_valid() {
    for (name, answer) in all() {
        let json = serde_json::to_value(&answer).unwrap();
        let mut errors = Vec::new();
        validate(&schema(), &schema(), &json, name, &mut errors);
        // This one has a text where a time should be, which the contract does not allow.
        errors.retain(|error| !(name == "hostile" && error.ends_with("no date-time")));
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

/// What is really answered about every bundled case: everything at once, and each of its first runs.
#[tokio::test]
async fn real_answers_are_valid() {
    let rules = Arc::new(Rules::load(&[]).unwrap());
    let (schema, mut errors, mut asked) = (schema(), Vec::new(), 0);
    let mut folders: Vec<_> = std::fs::read_dir("fixtures")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|folder| folder.join("input").is_dir())
        .collect();
    folders.sort();
    for folder in folders {
        let inputs = [Input::Path(folder.join("input"))];
        let rules = Arc::clone(&rules);
        let case = Case::read(&inputs, &Options::default(), rules, &mut |_, _| {}).unwrap();
        let mut names: Vec<&str> = case
            .runs
            .iter()
            .map(|run| run.names(&case.graph).3)
            .collect();
        names.sort_unstable();
        names.dedup();
        names.truncate(RUNS);
        for name in names.into_iter().chain(["*"]) {
            let question = Question {
                name: name.to_owned(),
                ..Question::default()
            };
            // Some names are not the name of any run alone.
            let Ok(answer) = report::answer(&case, &question).await else {
                continue;
            };
            let json = serde_json::to_value(&answer).unwrap();
            let place = format!("{} {name} ", folder.display());
            validate(&schema, &schema, &json, &place, &mut errors);
            asked += 1;
        }
    }
    assert!(errors.is_empty(), "{errors:#?}");
    assert!(asked > 100, "only {asked} answers");
}

/// A state that no bundled case shows is in the contract as well.
#[test]
fn every_state_of_a_run_is_in_the_contract() {
    let schema = schema();
    for kind in ["run", "attempt"] {
        let states = &schema["$defs"][kind]["properties"]["state"]["enum"];
        let states: BTreeSet<&str> = states
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert_eq!(states, BTreeSet::from(crate::answer::STATES), "{kind}");
    }
}

#[test]
fn a_nodes_history_is_valid_and_the_schema_has_every_field() {
    let schema: Value = serde_json::from_str(include_str!("../../docs/node.schema.json")).unwrap();
    let json = serde_json::to_value(super::fixtures::node()).unwrap();
    let mut errors = Vec::new();
    validate(&schema, &schema, &json, "", &mut errors);
    assert!(errors.is_empty(), "{errors:#?}");
    let mut seen = BTreeSet::new();
    compare(&schema, &schema, &json, "node", &mut seen);
    let defined = schema["$defs"].as_object().unwrap().keys();
    let unseen: Vec<&String> = defined.filter(|name| !seen.contains(*name)).collect();
    assert!(unseen.is_empty(), "no fixture has {unseen:?}");
}

#[test]
fn a_wrong_answer_is_not() {
    let mut json = serde_json::to_value(super::fixtures::gpt2()).unwrap();
    json["incidents"][0]["level"] = "certain".into();
    json["incidents"][0]["attempt"] = 0.into();
    json["incidents"][0]["actor"] = "bob".into();
    json["schema"] = "whathappened/v2".into();
    json["now"] = "yesterday".into();
    json["timeline"][2]["count"] = "5".into();
    json["runs"][0].as_object_mut().unwrap().remove("state");
    let mut errors = Vec::new();
    validate(&schema(), &schema(), &json, "", &mut errors);
    errors.sort();
    let expected = [
        ".incidents[0].actor: no alternative fits",
        ".incidents[0].attempt: less than 1",
        ".incidents[0].level: not one of the values",
        ".now: no date-time",
        ".runs[0]: no state",
        ".schema: not the value",
        ".timeline[2].count: not of type \"integer\"",
    ];
    assert_eq!(errors, expected);
}

#[test]
fn the_schema_has_every_field_and_no_other() {
    let schema = schema();
    let answers: Vec<Value> = all()
        .into_iter()
        .map(|(_, answer): (_, Answer)| serde_json::to_value(answer).unwrap())
        .collect();
    let mut seen = BTreeSet::new();
    for answer in &answers {
        compare(&schema, &schema, answer, "answer", &mut seen);
    }
    let defined: BTreeSet<&str> = schema["$defs"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let unseen: Vec<&&str> = defined
        .iter()
        .filter(|name| !seen.contains(**name))
        .collect();
    assert!(unseen.is_empty(), "no fixture has {unseen:?}");
}

/// Fields that only answers of a service have.
const OF_SERVICE: [&str; 2] = ["id", "page"];

/// Compares the keys of an object with the properties of its schema, and on down.
fn compare(root: &Value, schema: &Value, value: &Value, path: &str, seen: &mut BTreeSet<String>) {
    if let Some(items) = value.as_array() {
        for item in items {
            compare(root, follow(root, &schema["items"], seen), item, path, seen);
        }
        return;
    }
    let Some(fields) = value.as_object() else {
        return;
    };
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    let keys: BTreeSet<&String> = fields.keys().collect();
    let of_service = |key: &&String| OF_SERVICE.contains(&key.as_str()) && !keys.contains(key);
    let expected = properties.keys().filter(|key| !of_service(key));
    assert_eq!(keys, expected.collect(), "{path}");
    let required: BTreeSet<&str> = schema["required"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(
        required,
        keys.iter().map(|key| key.as_str()).collect(),
        "{path}"
    );
    assert_eq!(schema["additionalProperties"], true, "{path}");
    for (key, property) in properties {
        assert!(
            property["description"].is_string(),
            "{path}.{key} has no description"
        );
        let schema = follow(root, property, seen);
        let value = fields.get(key).unwrap_or(&Value::Null);
        compare(root, schema, value, &format!("{path}.{key}"), seen);
    }
}

fn follow<'a>(root: &'a Value, schema: &'a Value, seen: &mut BTreeSet<String>) -> &'a Value {
    let reference = schema["$ref"]
        .as_str()
        .or_else(|| schema["anyOf"][0]["$ref"].as_str());
    let Some(name) = reference.and_then(|reference| reference.strip_prefix("#/$defs/")) else {
        return schema;
    };
    seen.insert(name.to_owned());
    &root["$defs"][name]
}

/// Checks a value by the keywords that the schema uses, and refuses others.
fn validate(root: &Value, schema: &Value, value: &Value, path: &str, errors: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().unwrap() {
        let mut fail = |what: String| errors.push(format!("{path}: {what}"));
        match keyword.as_str() {
            "$schema"
            | "$id"
            | "$defs"
            | "title"
            | "description"
            | "examples"
            | "pattern"
            | "additionalProperties" => {}
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                validate(root, &root["$defs"][name], value, path, errors);
            }
            "anyOf" => {
                let fits = |alternative: &Value| {
                    let mut errors = Vec::new();
                    validate(root, alternative, value, path, &mut errors);
                    errors.is_empty()
                };
                if !rule.as_array().unwrap().iter().any(fits) {
                    fail("no alternative fits".to_owned());
                }
            }
            "type"
                if rule
                    .as_array()
                    .is_some_and(|kinds| kinds.iter().any(|kind| is(value, kind))) => {}
            "type" if is(value, rule) => {}
            "type" => fail(format!("not of type {rule}")),
            "enum" if !rule.as_array().unwrap().contains(value) => {
                fail("not one of the values".to_owned());
            }
            "const" if rule != value => fail("not the value".to_owned()),
            "minimum" if value.as_f64().is_some_and(|n| n < rule.as_f64().unwrap()) => {
                fail(format!("less than {rule}"));
            }
            "format" => {
                assert_eq!(rule, "date-time");
                if value
                    .as_str()
                    .is_some_and(|time| chrono::DateTime::parse_from_rfc3339(time).is_err())
                {
                    fail("no date-time".to_owned());
                }
            }
            "required" => {
                for name in rule.as_array().unwrap().iter().filter_map(Value::as_str) {
                    if value.get(name).is_none() {
                        errors.push(format!("{path}: no {name}"));
                    }
                }
            }
            "properties" => {
                for (name, property) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        validate(root, property, value, &format!("{path}.{name}"), errors);
                    }
                }
            }
            "items" => {
                for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                    validate(root, rule, item, &format!("{path}[{at}]"), errors);
                }
            }
            "enum" | "const" | "minimum" => {}
            other => panic!("{path}: keyword {other} is not checked"),
        }
    }
}

fn is(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("type {other}"),
    }
}
