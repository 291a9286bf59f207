//! Recorded answers of a real Loki: the small one of the tests gives the same,
//! and each refusal is understood.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::paging::{loki, soon};
use super::server::{Entry, Rules, labels, serve};
use crate::http::HttpError;
use crate::log_store::{LogStore as _, Span};
use crate::loki::refusal::{Remedy, remedy};
use crate::time::SECOND;
use whathappened_loopback::{Fake, Reply};

/// The recordings by name; none where they are not there.
fn recordings() -> BTreeMap<String, Value> {
    let shared = Path::new("../../shared/recordings");
    let mut all = BTreeMap::new();
    for folder in ["loki", "loki-lab"] {
        let files = std::fs::read_dir(shared.join(folder)).into_iter().flatten();
        let paths = files.flatten().map(|file| file.path());
        for path in paths.filter(|path| path.extension().is_some_and(|end| end == "json")) {
            let name = |path: &PathBuf| path.file_stem().map(|s| s.to_string_lossy().into_owned());
            let text = std::fs::read_to_string(&path).unwrap();
            all.insert(
                format!("{folder}/{}", name(&path).unwrap()),
                serde_json::from_str(&text).unwrap(),
            );
        }
    }
    if all.is_empty() {
        whathappened_loopback::skipped("no ../shared");
    }
    all
}

/// Streams of an answer, each line with its time.
fn streams(body: &Value) -> Vec<(Value, Vec<(String, String)>)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let stream = |one: &Value| {
        let values = one["values"].as_array().unwrap();
        let values = values
            .iter()
            .map(|value| (text(&value[0]), text(&value[1])));
        (one["stream"].clone(), values.collect())
    };
    body["data"]["result"]
        .as_array()
        .unwrap()
        .iter()
        .map(stream)
        .collect()
}

#[tokio::test]
async fn the_small_loki_of_the_tests_answers_as_the_real_one() {
    let all = recordings();
    let Some(whole) = all.get("loki/dups-forward-all") else {
        return;
    };
    let mut entries = Vec::new();
    for (stream, lines) in streams(&whole["response"]["body"]) {
        for (at, text) in lines {
            entries.push(Entry {
                at: at.parse().unwrap(),
                labels: serde_json::from_value(stream.clone()).unwrap(),
                metadata: labels(&[("detected_level", "unknown")]),
                text,
            });
        }
    }
    let fake = serve(entries, Rules::default());
    let client = crate::http::Client::new(crate::http::HttpOptions::new(fake.url())).unwrap();
    let mut compared = 0;
    for (name, recorded) in &all {
        let known = ["loki/dups-", "loki/page-", "loki/bound-"];
        if !known.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let mut request = crate::http::Request::get("loki/api/v1/query_range");
        let requested = recorded["request"]["query"].as_object().unwrap();
        for (name, value) in requested {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            request = request.query(name, value);
        }
        if !requested.contains_key("direction") {
            request = request.query("direction", "backward");
        }
        if recorded["request"]["headers"]
            .get("X-Loki-Response-Encoding-Flags")
            .is_some()
        {
            request = request.header("X-Loki-Response-Encoding-Flags", "categorize-labels");
        }
        let mine: Value = client.json(&request, soon()).await.unwrap();
        assert_eq!(
            streams(&mine),
            streams(&recorded["response"]["body"]),
            "{name}"
        );
        compared += 1;
    }
    assert!(compared >= 10, "{compared}");
}

#[tokio::test]
async fn every_recorded_answer_is_understood() {
    let (mut read, mut refused) = (0, 0);
    for (name, recorded) in recordings() {
        let path = recorded["request"]["path"].as_str().unwrap_or_default();
        if !path.ends_with("/query_range") || recorded["request"]["method"] == "WS" {
            continue;
        }
        let answer = &recorded["response"];
        let code = u16::try_from(answer["status"].as_u64().unwrap()).unwrap();
        let body = answer["body"].clone();
        let text = body
            .as_str()
            .map_or_else(|| body.to_string(), str::to_owned);
        let said = text.clone();
        let fake = Fake::start(move |_| Reply::Text(code, said.clone()));
        let store = loki(&fake, |_| {});
        let span = Span {
            from: 0,
            to: SECOND,
        };
        let page = store.wire.page("{a=\"b\"}", span, 10, false, soon()).await;
        if code != 200 {
            let failure = page.unwrap_err();
            assert_eq!(failure.code(), Some(code), "{name}");
            let beginning: String = text.trim().chars().take(30).collect();
            assert!(
                failure.to_string().contains(&beginning),
                "{name}: {failure}"
            );
            let wanted = match name.rsplit('/').next().unwrap() {
                "query_range-400-limit" => Remedy::Lines(5000),
                "err_limit_too_big" => Remedy::Lines(5000),
                "query_range-400-tenant-limit" => Remedy::Lines(10),
                "query_range-400-too-long" | "err_range_too_long" => {
                    Remedy::Length(721 * 3_600 * SECOND)
                }
                "query_range-400-max-length-tenant" => Remedy::Length(3_600 * SECOND),
                "query_range-400-required-labels" => Remedy::Labels(vec!["namespace".to_owned()]),
                "query_range-400-max-series"
                | "query_range-429-too-many-outstanding"
                | "query_range-504-timeout" => Remedy::Less,
                _ => Remedy::None,
            };
            assert_eq!(remedy(&failure), wanted, "{name}: {failure}");
            refused += 1;
        } else if body["data"]["resultType"] == "streams" {
            let page = page.unwrap();
            let count: usize = streams(&body).iter().map(|(_, lines)| lines.len()).sum();
            assert_eq!((page.counted, page.lines.len()), (count, count), "{name}");
            assert_eq!(page.warnings, Vec::<String>::new());
            read += 1;
        } else {
            assert!(matches!(page, Err(HttpError::Garbage(_))), "{name}");
        }
        assert_eq!(store.requests(), 1);
    }
    println!("{read} read, {refused} refused");
    assert!(read == 0 || (read > 20 && refused > 15), "{read} {refused}");
}
