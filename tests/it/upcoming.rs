//! What is announced for where a run is.

use serde_json::Value;

use crate::whathappened;

const INPUT: &str = "fixtures/gke-host-maintenance/input";
const NODE: &str = "gke-train-a3-7c1e2d90-4fkq";

fn ask(name: &str, more: &[&str]) -> (Option<i32>, String, String) {
    whathappened(&[&["upcoming", name, "--from", INPUT, "-q"], more].concat())
}

#[test]
fn maintenance_is_told_before_it_begins() {
    // It was announced two days before, for 09:00 to 13:00.
    let early = ["--at", "2026-04-11T08:30:00Z", "--format", "json"];
    for name in ["moe-8b", NODE, &format!("node/{NODE}")] {
        let (code, out, err) = ask(name, &early);
        assert_eq!(code, Some(5), "{name}: {out}{err}");
        let report: Value = serde_json::from_str(&out).unwrap();
        let one = &report["announced"][0];
        assert_eq!(one["machine"], NODE);
        assert_eq!(one["from"], "2026-04-11T09:00:00Z");
        assert_eq!(one["to"], "2026-04-11T13:00:00Z");
        let announced = one["announced_at"].as_str().unwrap();
        assert!(announced.starts_with("2026-04-09T09:00:11"), "{announced}");
        assert_eq!(report["announced"].as_array().unwrap().len(), 1);
    }
    let (_, text, _) = ask("moe-8b", &early[..2]);
    assert!(text.contains("(in 30 min)"), "{text}");
}

#[test]
fn what_is_far_off_or_not_yet_announced_is_not() {
    for at in ["2026-04-11T06:30:00Z", "2026-04-09T08:00:00Z"] {
        let (code, out, err) = ask("moe-8b", &["--at", at]);
        assert_eq!(code, Some(0), "{out}{err}");
        assert!(out.contains("nothing is announced"), "{out}");
        assert!(out.contains("read: gcp activity"), "{out}");
    }
    let (code, out, _) = ask(
        "moe-8b",
        &["--at", "2026-04-11T06:30:00Z", "--within", "3h"],
    );
    assert_eq!(code, Some(5), "{out}");
}

#[test]
fn without_anyone_who_would_tell_it_cannot_tell() {
    let folder = tempfile::tempdir().unwrap();
    let pods = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p-0\",\"namespace\":\"n\",\"uid\":\"u\"},\"spec\":{\"nodeName\":\"node-1\"},\"status\":{\"phase\":\"Running\",\"startTime\":\"2026-04-11T06:00:00Z\"}}";
    let file = folder.path().join("pods.json");
    std::fs::write(&file, pods).unwrap();
    let (file, at) = (file.display().to_string(), "2026-04-11T08:00:00Z");
    let (code, out, err) = whathappened(&["upcoming", "p-0", "--from", &file, "-q", "--at", at]);
    assert_eq!(code, Some(6), "{out}{err}");
    assert!(out.contains("unknown; no source"), "{out}");
    let (code, _, _) = whathappened(&["upcoming", "nobody", "--from", &file, "-q", "--at", at]);
    assert_eq!(code, Some(3));
}
