//! Exports, read as any recording.

use std::path::Path;

use crate::contract::{Input, Options};
use crate::event::{Event, SourceKind};
use crate::observation::Observation;
use crate::recording::{Summary, read};
use crate::sink::Sink;
use crate::time::rfc3339;

#[derive(Default)]
struct Collected(Vec<Observation>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0.extend(observations);
    }
}

fn at(path: &Path) -> (Vec<Event>, Summary) {
    let mut kept = Collected::default();
    let input = Input::Path(path.to_owned());
    let summary = read(&[input], &Options::default(), &mut kept);
    let events = kept.0.into_iter().map(|one| match one {
        Observation::Event(event) => *event,
        other => panic!("{other:?}"),
    });
    (events.collect(), summary)
}

fn named(name: &str, content: &str) -> (Vec<Event>, Summary) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    at(&path)
}

fn emitted(event: &Event) -> String {
    let part = |part: &Option<String>| part.clone().unwrap_or_default();
    format!(
        "{} {} {}",
        rfc3339(event.time.lo),
        part(&event.entities.pod),
        part(&event.message)
    )
}

fn stream() -> String {
    let id = "0f".repeat(32);
    format!("n1-application.var.log.containers.w-0_ml_main-{id}.log")
}

const LINE: &str = "2026-11-21T15:20:39.123Z w-0 NCCL WARN x";

#[test]
fn every_export_tells_the_same_line() {
    let stream = stream();
    let event = format!(
        r#"{{"logStreamName":"{stream}","timestamp":1795274439123,"message":"NCCL WARN x\n","ingestionTime":1795274440000,"eventId":"1"}}"#
    );
    let cell = |field: &str, value: &str| format!(r#"{{"field":"{field}","value":"{value}"}}"#);
    let row = [
        cell("@timestamp", "2026-11-21 15:20:39.123"),
        cell("@message", "NCCL WARN x"),
        cell("@logStream", &stream),
        cell("@ptr", "p"),
    ];
    for content in [
        format!(r#"{{"events":[{event}],"searchedLogStreams":[]}}"#),
        format!("{{\n    \"events\": [\n        {event}\n    ],\n    \"nextToken\": \"t\"\n}}\n"),
        format!(r#"{{"results":[[{}]],"status":"Complete"}}"#, row.join(",")),
        format!(
            r#"[{{"@timestamp":"2026-11-21 15:20:39.123","@message":"NCCL WARN x","@logStream":"{stream}"}}]"#
        ),
    ] {
        let (found, summary) = named("given", &content);
        assert_eq!(found.len(), 1, "{content} {summary:?}");
        assert_eq!(emitted(&found[0]), LINE, "{content}");
        assert_eq!(found[0].source_kind, SourceKind::CloudwatchLogs);
        assert_eq!(found[0].entities.namespace.as_deref(), Some("ml"));
        assert_eq!(found[0].entities.node.as_deref(), Some("n1"));
    }
}

#[test]
fn what_the_command_line_prints_and_what_s3_holds_are_logs() {
    let (found, summary) = named(
        "tail.txt",
        &format!(
            "2026-11-21T15:20:39.123000+00:00 {} NCCL WARN x\n2026-11-21T15:20:40.123000+00:00 {} next\n",
            stream(),
            stream()
        ),
    );
    assert_eq!(found.len(), 2, "{summary:?}");
    assert_eq!(emitted(&found[0]), LINE);
    let export = format!("exportedlogs/5e3c/{}/000000", stream());
    let (found, summary) = named(&export, "2026-11-21T15:20:39.123Z NCCL WARN x\n");
    assert_eq!(found.len(), 1, "{summary:?}");
    assert_eq!(emitted(&found[0]), LINE);
    assert_eq!(found[0].entities.container.as_deref(), Some("main"));
}

#[test]
fn recorded_answers_are_read() {
    let folder = Path::new("../../shared/recordings/cloudwatch-logs");
    if !folder.exists() {
        return whathappened_loopback::skipped("no ../shared");
    }
    let (found, summary) = at(&folder.join("FilterLogEvents-200.json"));
    assert_eq!(found.len(), 3, "{summary:?}");
    assert_eq!(
        emitted(&found[0]),
        "2014-03-28T19:36:18.988Z  ERROR Event 1"
    );
    let (found, _) = at(&folder.join("FilterLogEvents-empty.json"));
    assert!(found.is_empty());
}

#[test]
fn the_console_exports_rows_as_csv_the_newest_first() {
    let table = "@timestamp,@message,kubernetes.pod_name,kubernetes.namespace_name\n\
        2026-11-25 23:09:59.000,KeyError: 'sw',w-0,research\n\
        2026-11-25 23:09:59.000,\"  File \"\"/workspace/train.py\"\", line 301, in train_step\",w-0,research\n\
        2026-11-25 23:09:59.000,Traceback (most recent call last):,w-0,research\n\
        2026-11-25 23:08:00.000,step 400 loss 2.1,w-0,research\n";
    let (events, summary) = named("logs-insights-results.csv", table);
    assert_eq!((summary.total.records, summary.total.rejected), (4, 0));
    let exception: Vec<_> = events
        .iter()
        .filter_map(|event| event.attribute("exception"))
        .collect();
    assert_eq!(exception, ["KeyError"], "{events:?}");
    let of = &events[0].entities;
    assert_eq!(
        (of.pod.as_deref(), of.namespace.as_deref()),
        (Some("w-0"), Some("research"))
    );
}
