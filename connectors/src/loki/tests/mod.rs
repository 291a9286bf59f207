//! Answers in both encodings; what a Loki is asked, and how it is borne.

mod conforming;
mod e2e;
mod events;
mod lab;
mod paging;
mod replay;
mod requests;
mod server;

pub(crate) use conforming::conforming;

use std::path::Path;

use super::*;
use crate::event::{Event, Origin};
use crate::observation::{Observation, Rejection};
use crate::time::rfc3339;

fn read(json: &str) -> Vec<Event> {
    let mut out = Vec::new();
    decode(
        json.as_bytes(),
        &Origin {
            file: "a".into(),
            line: 1,
        },
        &mut out,
    )
    .unwrap();
    out.into_iter()
        .map(|observation| match observation {
            Observation::Event(event) => *event,
            other => panic!("{other:?}"),
        })
        .collect()
}

fn answer(result: &str) -> String {
    format!(r#"{{"status":"success","data":{{"resultType":"streams","result":[{result}]}}}}"#)
}

#[test]
fn both_encodings_tell_the_same_facts() {
    let merged = answer(
        r#"{"stream":{"namespace":"research","pod":"p-0","container":"c","detected_level":"error","pod_uid":"u1"},"values":[["1795274427000000346","x rank=2"]]}"#,
    );
    let categorized = answer(
        r#"{"stream":{"namespace":"research","pod":"p-0","container":"c"},"values":[["1795274427000000346","x rank=2",{"structuredMetadata":{"detected_level":"error","pod_uid":"u1"},"parsed":{}}]]}"#,
    );
    let (a, b) = (read(&merged), read(&categorized));
    assert_eq!(a, b);
    assert_eq!(rfc3339(a[0].time.lo), "2026-11-21T15:20:27.000000346Z");
    assert_eq!(
        (a[0].severity.as_deref(), a[0].rank),
        (Some("error"), Some(2))
    );
    assert_eq!(
        (
            a[0].entities.pod.as_deref(),
            a[0].entities.pod_uid.as_deref()
        ),
        (Some("p-0"), Some("u1"))
    );
}

#[test]
fn collectors_other_names_are_known() {
    let found = &read(&answer(
        r#"{"stream":{"k8s_namespace_name":"n","k8s_pod_name":"p","k8s_container_name":"c","k8s_node_name":"node","k8s_job_name":"j","experiment":"e","app":"trainer"},"values":[["1795274427000000346","x"]]}"#,
    ))[0];
    let entities = &found.entities;
    assert_eq!(entities.namespace.as_deref(), Some("n"));
    assert_eq!(entities.pod.as_deref(), Some("p"));
    assert_eq!(entities.node.as_deref(), Some("node"));
    assert_eq!(entities.workload.as_deref(), Some("j"));
    assert_eq!(entities.experiment.as_deref(), Some("e"));
    assert_eq!(found.attributes["labels"]["app"], "trainer");
}

#[test]
fn tracebacks_are_joined_over_split_streams_newest_first_and_with_equal_times() {
    let line = |ns: u32, text: &str| format!("[\"17952744270000000{ns:02}\",\"{text}\"]");
    let stream = |level: &str, values: &[String]| {
        format!(
            r#"{{"stream":{{"namespace":"n","pod":"p","detected_level":"{level}"}},"values":[{}]}}"#,
            values.join(",")
        )
    };
    let trace = line(1, "Traceback (most recent call last):");
    let (frame, code) = (
        line(2, "  File \\\"/w/train.py\\\", line 7, in main"),
        line(2, "    f()"),
    );
    let error = line(3, "ValueError: x");
    let forward = answer(
        &[
            stream("unknown", &[trace.clone(), frame.clone(), code.clone()]),
            stream("error", std::slice::from_ref(&error)),
        ]
        .join(","),
    );
    let backward = answer(
        &[
            stream("error", &[error]),
            stream("unknown", &[code, frame, trace]),
        ]
        .join(","),
    );
    let (forward, backward) = (read(&forward), read(&backward));
    assert_eq!(forward.len(), 1);
    assert_eq!(forward, backward);
    assert_eq!(forward[0].attribute("exception"), Some("ValueError"));
    assert_eq!(
        forward[0].attribute("location"),
        Some("/w/train.py:7 in main")
    );
    assert_eq!(forward[0].end.unwrap().lo - forward[0].time.lo, 2);
}

#[test]
fn what_is_no_log_is_turned_away_with_a_reason() {
    let origin = Origin::default();
    let mut out = Vec::new();
    let matrix = r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,"2"]]}]}}"#;
    assert!(matches!(
        decode(matrix.as_bytes(), &origin, &mut out),
        Err(Rejection::Irrelevant(_))
    ));
    assert!(matches!(
        decode(br#"{"status":"success"}"#, &origin, &mut out),
        Err(Rejection::Irrelevant(_))
    ));
    assert!(matches!(
        decode(b"[", &origin, &mut out),
        Err(Rejection::Malformed(_))
    ));
    let odd = answer(r#"{"stream":{},"values":[["soon","x"]]}"#);
    assert!(matches!(
        decode(odd.as_bytes(), &origin, &mut out),
        Err(Rejection::Malformed(_))
    ));
    assert!(out.is_empty());
}

#[test]
fn recorded_answers_decode() {
    let folder = Path::new("../../shared/recordings/loki");
    let Ok(files) = std::fs::read_dir(folder) else {
        whathappened_loopback::skipped("no ../shared");
        return;
    };
    let mut lines = 0;
    for file in files
        .flatten()
        .filter(|file| file.path().extension().is_some_and(|end| end == "json"))
    {
        let text = std::fs::read_to_string(file.path()).unwrap();
        let recorded: serde_json::Value = serde_json::from_str(&text).unwrap();
        let Some(body) = recorded.pointer("/response/body") else {
            continue;
        };
        let mut out = Vec::new();
        let body = body
            .as_str()
            .map_or_else(|| body.to_string(), str::to_owned);
        let _kind = decode(body.as_bytes(), &Origin::default(), &mut out);
        lines += out.len();
    }
    assert!(lines > 50, "{lines}");
}
