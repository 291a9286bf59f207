//! The lab cluster's streams, asked of a Loki, tell what the recorded answer tells.

use std::collections::BTreeSet;
use std::path::Path;

use super::paging::{loki, query, soon};
use super::server::{Entry, Rules, serve};
use crate::event::{Event, Origin};
use crate::log_store::{Labels, LineQuery, LineSubject, LogStore as _, PodRef, Span, emitted};
use crate::loki::decode;
use crate::observation::Observation;
use crate::time::SECOND;

fn recorded(name: &str) -> (Vec<u8>, Vec<Entry>) {
    let folder = Path::new("../fixtures/lab-cluster/loki");
    let json = std::fs::read(folder.join(name)).unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let mut entries = Vec::new();
    for stream in answer["data"]["result"].as_array().unwrap() {
        let stream_labels: Labels = serde_json::from_value(stream["stream"].clone()).unwrap();
        for value in stream["values"].as_array().unwrap() {
            let metadata = value[2]["structuredMetadata"].clone();
            entries.push(Entry {
                at: value[0].as_str().unwrap().parse().unwrap(),
                labels: Labels::clone(&stream_labels),
                metadata: serde_json::from_value(metadata).unwrap_or_default(),
                text: value[1].as_str().unwrap().to_owned(),
            });
        }
    }
    (json, entries)
}

fn events(observations: Vec<Observation>) -> Vec<Event> {
    observations
        .into_iter()
        .filter_map(|one| match one {
            Observation::Event(event) => Some(*event),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn a_loki_and_its_recorded_answer_tell_the_same() {
    let (json, mine) = recorded("gpt2-small-7f3.json");
    let mut all = mine.clone();
    for other in ["atari-dqn-42.json", "imagenet-resnet-88.json"] {
        all.extend(recorded(other).1);
    }
    let mut from_file = Vec::new();
    let origin = Origin {
        file: "x".into(),
        line: 0,
    };
    decode(&json, &origin, &mut from_file).unwrap();
    let from_file = events(from_file);
    assert!(from_file.len() > 50, "{}", from_file.len());

    let pods: BTreeSet<&String> = mine.iter().map(|line| &line.labels["pod"]).collect();
    let pods = pods.into_iter().map(|name| PodRef {
        namespace: Some("research".to_owned()),
        name: name.clone(),
    });
    let pods = LineSubject::Pods(pods.collect());
    let span = Span {
        from: mine.iter().map(|line| line.at).min().unwrap() - SECOND,
        to: mine.iter().map(|line| line.at).max().unwrap() + 1,
    };
    for (cap, newest, about) in [
        (5000, false, pods.clone()),
        (7, false, pods.clone()),
        (7, true, pods),
        (
            50,
            false,
            LineSubject::Experiment("gpt2-small-7f3".to_owned()),
        ),
    ] {
        let fake = serve(
            all.clone(),
            Rules {
                cap,
                required: vec!["namespace"],
                ..Rules::default()
            },
        );
        let store = loki(&fake, |options| options.page = cap);
        let question = LineQuery {
            newest,
            ..query(about, span)
        };
        let got = store.lines(&question, soon()).await.unwrap();
        assert_eq!((got.cut, got.partial.len()), (false, 0));
        assert_eq!(got.lines.len(), mine.len());
        assert_eq!(emitted(&got.lines, None), from_file);
    }
}
