//! What Datadog exports, through the front door of recordings.

use std::fs;
use std::io::Write as _;

use super::*;
use crate::contract::{Input, Options};
use crate::event::{Event, SourceKind};
use crate::recording::{Summary, read};

fn read_file(name: &str, content: &[u8]) -> (Summary, Vec<Event>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    let mut kept = Collected::default();
    let summary = read(&[Input::Path(path)], &Options::default(), &mut kept);
    let events = kept
        .0
        .into_iter()
        .map(|one| match one {
            Observation::Event(event) => *event,
            other => panic!("{other:?}"),
        })
        .collect();
    (summary, events)
}

fn archived(n: usize, message: &str) -> String {
    serde_json::json!({"_id": format!("A{n}"), "date": format!("2026-11-21T15:00:00.{n:03}Z"),
        "host": "gpu-7", "service": "trainer", "source": "python", "status": "info", "message": message,
        "attributes": {"rank": n}, "tags": ["pod_name:p-0", "kube_namespace:n"]})
    .to_string()
}

#[test]
fn archives_are_read_packed_or_not() {
    let text = format!(
        "{}\n{}\n",
        archived(1, "first"),
        archived(2, "CUDA error: x")
    );
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    for (name, content) in [
        ("archive.json", text.into_bytes()),
        ("archive_150000.1.x.json.gz", gz.finish().unwrap()),
    ] {
        let (summary, events) = read_file(name, &content);
        assert_eq!((summary.total.records, summary.total.rejected), (2, 0));
        assert_eq!(events.len(), 2);
        assert_eq!(events[0].source_kind, SourceKind::Datadog);
        assert_eq!(events[0].entities.pod.as_deref(), Some("p-0"));
        assert_eq!((events[1].rank, events[1].time.width()), (Some(2), MS));
    }
}

#[test]
fn answers_of_both_apis_are_read() {
    for answer in [
        r#"{"meta":{"status":"done"},"data":[{"type":"log","id":"A","attributes":{"timestamp":"2026-11-21T15:00:00.001Z","message":"x","tags":["pod_name:p"]}}]}"#,
        r#"{"logs":[{"id":"A","content":{"timestamp":"2026-11-21T15:00:00.001Z","message":"x","tags":["pod_name:p"]}}],"nextLogId":null,"status":"done"}"#,
        r#"[{"type":"log","id":"A","attributes":{"timestamp":"2026-11-21T15:00:00.001Z","message":"x","tags":["pod_name:p"]}}]"#,
    ] {
        let (summary, events) = read_file("answer.json", answer.as_bytes());
        assert_eq!(summary.total.rejected, 0, "{answer}");
        assert_eq!(events.len(), 1, "{answer}");
        assert_eq!(events[0].entities.pod.as_deref(), Some("p"));
    }
    let events = r#"{"events":[{"id":1,"id_str":"1","date_happened":1795273200,"title":"Deployed","text":"x","tags":["a:b"],"host":null}]}"#;
    let (_, events) = read_file("events.json", events.as_bytes());
    assert_eq!(events[0].fact, "datadog.event");
    let (summary, _) = read_file("error.json", br#"{"errors":["Forbidden"]}"#);
    assert_eq!((summary.total.rejected, summary.total.irrelevant), (0, 1));
}

#[test]
fn tables_are_read_with_lines_in_quotes_and_columns_of_ones_own() {
    let table = "Date,Host,Service,pod_name,@rank,Message\n\
        \"2026-11-21T15:00:00.001Z\",gpu-7,trainer,p-0,3,\"Traceback (most recent call last):\n  File \"\"t.py\"\", line 1\nValueError: no\"\n\
        2026-11-21T15:00:00.002Z,gpu-7,trainer,p-0\n\
        yesterday,gpu-7,trainer,p-0,3,x\n\
        1795273200003,gpu-7,trainer,p-0,,plain\n";
    let (summary, events) = read_file("extract.csv", table.as_bytes());
    assert_eq!(
        (events.len(), summary.total.rejected),
        (2, 2),
        "{summary:?}"
    );
    let emitted = &events[0];
    assert_eq!(emitted.attribute("exception"), Some("ValueError"));
    assert_eq!(
        (emitted.rank, emitted.entities.pod.as_deref()),
        (Some(3), Some("p-0"))
    );
    assert_eq!(emitted.origin.line, 2);
    assert_eq!(events[1].time.lo, START + 3 * MS);
    let lines: Vec<u64> = summary.rejected.iter().map(|one| one.origin.line).collect();
    assert_eq!(lines, [5, 6]);
    // Of tags the page exports the titles.
    let titled = "Date,Host,Pod Name,Kube Namespace,Message\n2026-11-21T15:00:00.001Z,gpu-7,p-0,lab,ValueError: no\n";
    let (_, events) = read_file("titled.csv", titled.as_bytes());
    let of = &events[0].entities;
    assert_eq!(
        (of.pod.as_deref(), of.namespace.as_deref()),
        (Some("p-0"), Some("lab"))
    );
    // A quote that is never closed is told.
    let open = format!(
        "Date,Host,Message\n2026-11-21T15:00:00.001Z,h,\"{}",
        "x".repeat(20 << 20)
    );
    let (summary, _) = read_file("open.csv", open.as_bytes());
    assert!(
        format!("{:?}", summary.total.status).contains("a row of more than"),
        "{:?}",
        summary.total.status
    );
    // Other tables are not Datadog's.
    let (summary, _) = read_file("other.csv", b"a,b\n1,2\n");
    assert_ne!(summary.files[0].form, "CSV");
}
