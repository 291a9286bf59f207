//! `docs/*.schema.json` against real answers, as they are written.
//!
//! The schemas are made of the types (`answer/contract.rs`), so what is left to try is what a type does not
//! say: which fields may be missing, formats, bounds, and that every format has what the contract promises.
//!
//! The crate `jsonschema` would turn on features of crates that DataFusion uses,
//! and so build all of it again for the tests: the few keywords are checked here.

use std::sync::Arc;

use serde_json::{Map, Value};
use whathappened_connectors::recording::{Input, Options};

use crate::answer::{Answer, contract};
use crate::case::{Case, Rules};
use crate::history::{self, NodeQuery, PastFaults, Verdicts};
use crate::report::{self, Question};

use super::fixtures::all;
use super::{Format, Style};

/// Runs of a case that are asked about one by one.
const RUNS: usize = 6;

/// Machines of a case whose histories are asked for.
const MACHINES: usize = 2;

fn schema(file: &str) -> Value {
    let files = contract::files().unwrap();
    let (_, text) = files.iter().find(|(name, _)| *name == file).unwrap();
    serde_json::from_str(text).unwrap()
}

fn answer_schema() -> Value {
    schema("answer.schema.json")
}

fn errors(schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut errors = Vec::new();
    validate(schema, schema, value, place, &mut errors);
    errors
}

/// `BLESS=1 cargo nextest run -E 'test(schema)'` writes them.
#[test]
fn the_schema_files_are_made_of_the_types() {
    for (name, text) in contract::files().unwrap() {
        let file = format!("docs/{name}");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, &text).unwrap();
        }
        let stored = std::fs::read_to_string(&file).unwrap();
        assert!(stored == text, "run with BLESS=1 to write {file}");
    }
}

#[test]
fn every_field_and_every_type_is_described() {
    for (name, text) in contract::files().unwrap() {
        let schema: Value = serde_json::from_str(&text).unwrap();
        let parts = schema["$defs"].as_object().unwrap();
        for (part, schema) in parts.iter().chain([(&name.to_owned(), &schema)]) {
            assert!(schema["description"].is_string(), "{name}: {part}");
            let fields = schema["properties"].as_object();
            for (field, schema) in fields.into_iter().flatten() {
                let text = schema["description"].as_str();
                let is_plain = text.is_some_and(|text| !text.contains("[`"));
                assert!(is_plain, "{name}: {part}.{field}: {text:?}");
            }
        }
    }
}

#[test]
fn answers_are_valid() {
    for (name, answer) in all() {
        let mut errors = errors(&answer_schema(), &written(&answer), name);
        // This one has a text where a time should be, which the contract does not allow.
        errors.retain(|error| !(name == "hostile" && error.ends_with("no date-time")));
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

/// What is really answered about every bundled case: everything at once, and each of its first runs, in each format
/// that programs read.
#[tokio::test]
async fn real_answers_are_valid() {
    let rules = Arc::new(Rules::load(&[]).unwrap());
    let (schema, node_schema) = (answer_schema(), schema("node.schema.json"));
    let (mut wrong, mut asked, mut machines) = (Vec::new(), 0, 0);
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
            let place = format!("{} {name} ", folder.display());
            wrong.extend(errors(&schema, &written(&answer), &place));
            wrong.extend(lines_errors(&schema, &answer, &place));
            check_csv(&answer, &place);
            asked += 1;
        }
        for name in machines_of(&case) {
            let query = NodeQuery {
                name: name.clone(),
                since: None,
                until: None,
            };
            let past = PastFaults::of_case(&case).unwrap();
            // Some names are not the name of any machine alone.
            let Ok(history) = history::node(&case, &query, past, Verdicts::Explain).await else {
                continue;
            };
            let mut out = Vec::new();
            super::node(&history, Format::Json, &Style::default(), &mut out).unwrap();
            let json: Value = serde_json::from_slice(&out).unwrap();
            wrong.extend(errors(&node_schema, &json, &name));
            machines += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(asked > 100 && machines > 50, "{asked}, {machines}");
}

/// The JSON answer as it is printed.
fn written(answer: &Answer) -> Value {
    let mut out = Vec::new();
    super::answer(answer, Format::Json, &Style::default(), &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// What is wrong with the lines of NDJSON: each has the fields of its kind.
fn lines_errors(schema: &Value, answer: &Answer, place: &str) -> Vec<String> {
    const LISTS: [(&str, &str, &str); 4] = [
        ("run", "runs", "Run"),
        ("incident", "incidents", "Incident"),
        ("coverage", "coverage", "CoverageRow"),
        ("timeline", "timeline", "TimelineRow"),
    ];
    let mut out = Vec::new();
    super::answer(answer, Format::Ndjson, &Style::default(), &mut out).unwrap();
    let (mut found, mut whole) = (Vec::new(), Map::new());
    for (_, list, _) in LISTS {
        whole.insert(list.to_owned(), Value::Array(Vec::new()));
    }
    for (at, line) in String::from_utf8(out).unwrap().lines().enumerate() {
        let mut fields: Map<String, Value> = serde_json::from_str(line).unwrap();
        let kind = fields.remove("type").unwrap();
        let kind = kind.as_str().unwrap();
        match LISTS.into_iter().find(|(one, ..)| *one == kind) {
            Some((_, list, part)) => {
                let place = format!("{place}line {at}");
                let value = Value::Object(fields);
                validate(schema, &schema["$defs"][part], &value, &place, &mut found);
                whole[list].as_array_mut().unwrap().push(value);
            }
            None => whole.extend(fields),
        }
    }
    // Together they are the answer.
    assert_eq!(Value::Object(whole), written(answer), "{place}");
    found
}

/// The columns of CSV are those that the documentation lists, and each line of the timeline is one of its.
fn check_csv(answer: &Answer, place: &str) {
    let mut out = Vec::new();
    super::answer(answer, Format::Csv, &Style::default(), &mut out).unwrap();
    let mut rows = csv::Reader::from_reader(out.as_slice());
    let docs = std::fs::read_to_string("docs/formats.md").unwrap();
    let (_, table) = docs
        .split_once("## Columns of the timeline in csv and parquet")
        .unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let documented: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    let headers: Vec<String> = rows.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(headers, documented, "{place}");
    assert_eq!(rows.records().count(), answer.timeline.len(), "{place}");
}

/// Names of some machines of a case.
fn machines_of(case: &Case) -> Vec<String> {
    let nodes = case.graph.pods.iter().map(|pod| case.graph.name(pod.node));
    let mut names: Vec<String> = nodes
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(MACHINES);
    names
}

#[test]
fn a_nodes_history_is_valid() {
    let json = serde_json::to_value(super::fixtures::node()).unwrap();
    let errors = errors(&schema("node.schema.json"), &json, "");
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn a_wrong_answer_is_not() {
    let mut json = serde_json::to_value(super::fixtures::gpt2()).unwrap();
    json["incidents"][0]["level"] = "certain".into();
    json["incidents"][0]["attempt"] = 0.into();
    json["incidents"][0]["actor"] = "bob".into();
    json["incidents"][0]["cause"] = "Node drained".into();
    json["incidents"][0]["evidence"][0] = "a".into();
    json["incidents"][0]["chain"][1]["edge"] = "likely".into();
    json["schema"] = "whathappened/v2".into();
    json["now"] = "yesterday".into();
    json["timeline"][2]["count"] = "5".into();
    json["coverage"][0]["status"] = "fine".into();
    json["coverage"][0]["rows"] = (-1).into();
    json["runs"][0].as_object_mut().unwrap().remove("state");
    json["runs"][0].as_object_mut().unwrap().remove("end");
    // What is left out is never null.
    json["page"] = Value::Null;
    let mut errors = errors(&answer_schema(), &json, "");
    errors.sort();
    let expected = [
        ".coverage[0].rows: less than 0",
        ".coverage[0].status: not one of the values",
        ".incidents[0].actor: not one alternative fits",
        ".incidents[0].attempt: less than 1",
        ".incidents[0].cause: not like the pattern",
        ".incidents[0].chain[1].edge: not one alternative fits",
        ".incidents[0].evidence[0]: not of type \"object\"",
        ".incidents[0].level: not one of the values",
        ".now: no date-time",
        ".page: not of type \"string\"",
        ".runs[0]: no end",
        ".runs[0]: no state",
        ".schema: not one of the values",
        ".timeline[2].count: not of type \"integer\"",
    ];
    assert_eq!(errors, expected);
}

/// Checks a value by the keywords that the schemas use, and refuses others.
fn validate(root: &Value, schema: &Value, value: &Value, path: &str, errors: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().unwrap() {
        let mut fail = |what: String| errors.push(format!("{path}: {what}"));
        match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" | "examples" => {}
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                validate(root, &root["$defs"][name], value, path, errors);
            }
            "oneOf" => {
                let fits = |alternative: &&Value| {
                    let mut errors = Vec::new();
                    validate(root, alternative, value, path, &mut errors);
                    errors.is_empty()
                };
                if rule.as_array().unwrap().iter().filter(fits).count() != 1 {
                    fail("not one alternative fits".to_owned());
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
            "minimum" if value.as_f64().is_some_and(|n| n < rule.as_f64().unwrap()) => {
                fail(format!("less than {rule}"));
            }
            "pattern" => {
                let pattern = regex::Regex::new(rule.as_str().unwrap()).unwrap();
                if value.as_str().is_some_and(|text| !pattern.is_match(text)) {
                    fail("not like the pattern".to_owned());
                }
            }
            "format" if rule == "date-time" => {
                if value
                    .as_str()
                    .is_some_and(|time| chrono::DateTime::parse_from_rfc3339(time).is_err())
                {
                    fail("no date-time".to_owned());
                }
            }
            // How wide a number may be: whatever reads it into a type of its language is to know.
            "format" => assert!(
                ["int32", "int64", "double"].contains(&rule.as_str().unwrap()),
                "{path}: format {rule} is not checked"
            ),
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
            "additionalProperties" if rule == true => {}
            "additionalProperties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    validate(root, rule, value, &format!("{path}.{name}"), errors);
                }
            }
            "propertyNames" => {
                for name in value.as_object().into_iter().flat_map(Map::keys) {
                    let name = Value::String(name.clone());
                    validate(root, rule, &name, path, errors);
                }
            }
            "items" => {
                for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                    validate(root, rule, item, &format!("{path}[{at}]"), errors);
                }
            }
            "enum" | "minimum" => {}
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
