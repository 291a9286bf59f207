//! A small Prometheus: series in memory, selectors by labels.

use regex::Regex;
use serde_json::{Value, json};

use whathappened_loopback::{Fake, ReceivedRequest, Reply};

/// Whether the labels fit a selector.
fn fits(selector: &str, labels: &Value) -> bool {
    let matcher = Regex::new(r#"(\w+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)""#).unwrap();
    matcher.captures_iter(selector).all(|found| {
        let wanted = found[3].replace(r"\\", r"\").replace(r#"\""#, "\"");
        let value = labels[&found[1]].as_str().unwrap_or_default();
        let matches = || {
            Regex::new(&format!("^(?:{wanted})$"))
                .unwrap()
                .is_match(value)
        };
        match &found[2] {
            "=" => value == wanted,
            "!=" => value != wanted,
            "=~" => matches(),
            _ => !matches(),
        }
    })
}

fn at(sample: &Value) -> f64 {
    sample[0].as_f64().unwrap()
}

pub(super) fn answer(requested: &ReceivedRequest, all: &[Value]) -> Reply {
    let success = |data: Value| Reply::Json(200, json!({ "status": "success", "data": data }));
    let number = |name: &str| requested.query(name).parse::<f64>().unwrap();
    let values = |one: &Value, from: f64, to: f64| -> Vec<Value> {
        let samples = one["values"].as_array().unwrap().iter();
        samples
            .filter(|sample| (from..=to).contains(&at(sample)))
            .cloned()
            .collect()
    };
    match requested.path.trim_start_matches("/prom") {
        "/api/v1/series" => {
            let (from, to) = (number("start"), number("end"));
            let selectors: Vec<&String> = requested
                .pairs
                .iter()
                .filter(|(name, _)| name == "match[]")
                .map(|(_, value)| value)
                .collect();
            assert!(!selectors.is_empty());
            let found = all.iter().filter(|one| {
                selectors.iter().any(|wanted| fits(wanted, &one["metric"]))
                    && !values(one, from, to).is_empty()
            });
            success(found.map(|one| one["metric"].clone()).collect())
        }
        "/api/v1/query" => {
            let (query, to) = (requested.query("query"), number("time"));
            if query.starts_with("count") {
                let range = query
                    .split_once('[')
                    .and_then(|(_, rest)| rest.split_once("s]"));
                let range: f64 = range.map_or(300.0, |(seconds, _)| seconds.parse().unwrap());
                let some = all.iter().any(|one| {
                    fits("{__name__=\"up\"}", &one["metric"])
                        && !values(one, to - range, to).is_empty()
                });
                let none = json!({ "metric": {}, "value": [to, "1"] });
                let found: Vec<Value> = some.then_some(none).into_iter().collect();
                return success(json!({ "resultType": "vector", "result": found }));
            }
            let (selector, range) = query.rsplit_once('[').unwrap();
            let length: f64 = range.trim_end_matches("s]").parse().unwrap();
            let found: Vec<Value> = all
                .iter()
                .filter(|one| fits(selector, &one["metric"]))
                .map(|one| json!({ "metric": one["metric"], "values": values(one, to - length, to) }))
                .filter(|one| one["values"].as_array().is_some_and(|all| !all.is_empty()))
                .collect();
            success(json!({ "resultType": "matrix", "result": found }))
        }
        "/api/v1/status/buildinfo" => success(json!({ "version": "2.99.0" })),
        "/api/v1/status/runtimeinfo" => success(json!({ "storageRetention": "15d" })),
        other => Reply::Text(404, format!("404 page not found: {other}")),
    }
}

pub(super) fn start(all: Vec<Value>) -> Fake {
    Fake::start(move |requested| answer(requested, &all))
}
