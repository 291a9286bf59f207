//! Real answers, read in place.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::super::Tier;
use super::*;
use crate::contract::{ForeignOutput, ForeignRecord, Input, Options};
use crate::event::Origin;
use crate::log_store::LogStore as _;
use crate::recording::read;
use whathappened_loopback::Reply;

fn folder() -> Option<PathBuf> {
    let path = PathBuf::from("../../shared/recordings/datadog");
    if !path.is_dir() {
        whathappened_loopback::skipped("no ../shared");
        return None;
    }
    Some(path)
}

/// The recordings of searches and lists of logs and events.
fn recordings() -> Vec<(PathBuf, Value)> {
    let Some(folder) = folder() else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let wanted = |path: &&PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        let name = name.trim_start_matches("rust-");
        (name.starts_with("logs-") || name.starts_with("events-") || name.starts_with("spec-"))
            && !["create", "intake", "aggregate"]
                .iter()
                .any(|part| name.contains(part))
    };
    paths
        .iter()
        .filter(wanted)
        .map(|path| {
            let value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            (path.clone(), value)
        })
        .collect()
}

/// How many records an answer has.
fn records(body: &Value) -> usize {
    let list = ["data", "logs", "events"]
        .iter()
        .find_map(|key| body[*key].as_array());
    list.map_or(usize::from(body["event"].is_object()), Vec::len)
}

#[test]
fn every_answer_decodes_or_is_told_in_its_words() {
    let mut total = 0;
    for (path, recording) in recordings() {
        let response = recording.get("response").unwrap_or(&recording);
        let body = &response["body"];
        let fields = body.as_object().unwrap();
        let name = path.display();
        assert!(super::super::files::recognise(fields, ""), "{name}");
        let mut emitted = ForeignOutput::default();
        let origin = Origin::default();
        let record = ForeignRecord {
            fields,
            within: "",
            origin: &origin,
        };
        let result = super::super::files::decode(record, &mut emitted);
        let lines: usize = emitted.stored.values().map(Vec::len).sum();
        let found = lines + emitted.observations.len();
        assert_eq!(found, records(body), "{name}: {result:?}");
        total += found;
        let errors = body.get("errors").or_else(|| body.get("error"));
        match (errors, result) {
            (Some(errors), Err(why)) => {
                let why = why.to_string();
                let word = match errors {
                    Value::Array(list) => list[0].as_str().map(str::to_owned),
                    other => other["message"].as_str().map(str::to_owned),
                };
                let word = word.unwrap();
                assert!(why.contains(&word[..word.len().min(40)]), "{name}: {why}");
            }
            (Some(_), Ok(())) => panic!("{name}: an error is no record"),
            (None, Err(why)) => assert_eq!(found, 0, "{name}: {why}"),
            (None, Ok(())) => assert!(found > 0, "{name}"),
        }
        // The file as it lies there, with the request and headers around it.
        let mut kept = Collected::default();
        let inputs = [Input::Path(path.clone())];
        let summary = read(&inputs, &Options::default(), &mut kept);
        assert_eq!(kept.0.is_empty(), found == 0, "{name}");
        assert_eq!(summary.total.rejected, 0, "{name}: {summary:?}");
    }
    println!("{total} records of recordings");
}

#[tokio::test]
async fn pages_that_were_recorded_are_read_to_their_end() {
    let Some(folder) = folder() else { return };
    let body = |number: usize| {
        let file = folder.join(format!("logs-v2-search-post-{number:02}.json"));
        let recording: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        recording["response"]["body_raw"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let pages: Vec<String> = [10, 11, 12].into_iter().map(body).collect();
    let requested = AtomicUsize::new(0);
    let fake = Fake::start(move |_| {
        let n = requested.fetch_add(1, Ordering::SeqCst);
        Reply::Text(200, pages[n.min(2)].clone())
    });
    let store = store_with(&fake, |options| options.tiers = Some(vec![Tier::Indexes]));
    let query = LineQuery {
        span: Span { from: 0, to: START },
        ..all(pods(1), 100)
    };
    let got = store.lines(&query, soon()).await.unwrap();
    assert_eq!(got.partial, [""; 0]);
    // The last page is empty; the one before had a cursor all the same.
    assert_eq!(fake.requests().len(), 3);
    assert!(got.lines.len() > 2 && got.lines.iter().all(|line| line.stamp.width() == MS));
    let cursors = fake.count(|requested| requested.body["page"]["cursor"].is_string());
    assert_eq!(cursors, 2);
}
