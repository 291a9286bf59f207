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

fn of(content: &str) -> (Vec<Event>, Summary) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    std::fs::write(&path, content).unwrap();
    let mut kept = Collected::default();
    let summary = read(&[Input::Path(path)], &Options::default(), &mut kept);
    let events = kept.0.into_iter().map(|one| match one {
        Observation::Event(event) => *event,
        other => panic!("{other:?}"),
    });
    (events.collect(), summary)
}

fn emitted(event: &Event) -> String {
    let part = |part: &Option<String>| part.clone().unwrap_or_default();
    format!(
        "{} {}/{} {}",
        rfc3339(event.time.lo),
        part(&event.entities.namespace),
        part(&event.entities.pod),
        part(&event.message)
    )
}

const ECS: &str = r#"{"@timestamp":"2026-11-21T15:20:39.123Z","message":"NCCL WARN x","log":{"offset":7,"level":"warn"},"kubernetes":{"pod":{"name":"w-0"},"namespace":"ml","container":{"name":"main"}},"agent":{"type":"filebeat"},"ecs":{"version":"8"}}"#;
const OTEL: &str = r#"{"@timestamp":"2026-11-21T15:20:39.123Z","body":{"text":"NCCL WARN x"},"resource":{"attributes":{"k8s.pod.name":"w-0","k8s.namespace.name":"ml"}},"severity_text":"WARN"}"#;
const LINE: &str = "2026-11-21T15:20:39.123Z ml/w-0 NCCL WARN x";

#[test]
fn documents_of_any_shipper_in_any_export_are_the_same_line() {
    let hit = format!(r#"{{"_index":"i","_id":"a","_source":{ECS}}}"#);
    let answer = |hits: &str| {
        format!(
            r#"{{"took":1,"timed_out":false,"_shards":{{"total":1,"failed":0}},"hits":{{"total":{{"value":1}},"max_score":null,"hits":[{hits}]}}}}"#
        )
    };
    let second = hit.replace("39.123Z", "40.5Z").replace("\"a\"", "\"b\"");
    let pretty: serde_json::Value = serde_json::from_str(&answer(&hit)).unwrap();
    for (content, events) in [
        (hit.clone(), 1),
        (format!("{hit}\n{second}\n"), 2),
        (answer(&hit), 1),
        (answer(&format!("{hit},{second}")), 2),
        (serde_json::to_string_pretty(&pretty).unwrap(), 1),
        (format!("{ECS}\n"), 1),
        (format!("{OTEL}\n"), 1),
        (
            format!("{{\"index\":{{\"_index\":\"i\",\"_id\":\"a\"}}}}\n{ECS}\n"),
            1,
        ),
    ] {
        let (found, summary) = of(&content);
        assert_eq!(found.len(), events, "{content} {summary:?}");
        assert_eq!(emitted(&found[0]), LINE, "{content}");
        assert_eq!(found[0].source_kind, SourceKind::Elasticsearch);
        assert_eq!(
            found[0]
                .severity
                .as_deref()
                .map(str::to_lowercase)
                .as_deref(),
            Some("warn")
        );
    }
}

#[test]
fn a_traceback_over_documents_is_one_record() {
    let line = |n: u32, text: &str| {
        ECS.replace("NCCL WARN x", text)
            .replace("\"offset\":7", &format!("\"offset\":{n}"))
            .replace(",\"level\":\"warn\"", "")
    };
    let lines = [
        line(3, "ValueError: no"),
        line(1, "Traceback (most recent call last):"),
        line(2, "  File \\\"train.py\\\", line 3, in <module>"),
    ];
    let (found, _) = of(&lines.join("\n"));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].attribute("exception"), Some("ValueError"));
}

#[test]
fn a_table_of_kibana_is_read_row_by_row() {
    let (found, summary) = of(concat!(
        "\"@timestamp\",\"kubernetes.pod.name\",\"kubernetes.namespace\",message\n",
        "\"Nov 21, 2026 @ 15:20:39.123\",w-0,ml,NCCL WARN x\n",
        "\"2026-11-21T15:20:40.000Z\",w-0,ml,\"two\nlines, \"\"quoted\"\"\"\n",
        "yesterday,w-0,ml,x\n",
    ));
    assert_eq!(found.len(), 2, "{summary:?}");
    assert_eq!(emitted(&found[0]), LINE);
    assert!(
        found[0].attributes["labels"]
            .to_string()
            .contains("zone_assumed")
    );
    assert!(emitted(&found[1]).contains("quoted"));
    assert_eq!(summary.files[0].rejected, 1);
}

#[test]
fn the_recorded_answer_is_read() {
    let recorded =
        Path::new("../../shared/recordings/elasticsearch/spec-SearchResponseExample1.yaml");
    let Ok(text) = std::fs::read_to_string(recorded) else {
        return whathappened_loopback::skipped("no ../shared");
    };
    let (_, json) = text.split_once("value: |-").unwrap();
    let (found, summary) = of(json.trim_start());
    assert_eq!(found.len(), 1, "{summary:?}");
    assert_eq!(
        emitted(&found[0]),
        "2099-11-15T14:12:12Z / GET /search HTTP/1.1 200 1070000"
    );
}
