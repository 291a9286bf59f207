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

/// A calendar alone knows no machine but those that something is planned for: a name with a typo
/// is no machine that is free.
#[test]
fn a_machine_that_no_record_names_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let calendar = folder.path().join("calendar.csv");
    let text = "maintenance,hosts,starts\nreplace switch,\"r4n[1-3]\",2026-11-30T00:00:00Z\n";
    std::fs::write(&calendar, text).unwrap();
    let calendar = calendar.to_str().unwrap();
    let ask = |name: &str, more: &[&str]| {
        let at = ["--at", "2026-11-29T21:00:00Z"];
        whathappened(&[&["upcoming", name, "--from", calendar, "-q"], &at[..], more].concat())
    };
    for name in ["node/r4n33", "r4n33", "node/r4n3.lab"] {
        let (code, out, err) = ask(name, &["--within", "7d"]);
        assert_eq!(code, Some(6), "{out}{err}");
        assert!(out.contains("no record names this machine"), "{out}");
        assert!(out.contains("did you mean r4n3?"), "{out}");
        assert!(!out.contains("nothing is announced"), "{out}");
    }
    let (code, out, err) = ask("node/r4n3", &["--within", "1h"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("until 2026-11-29 22:00:00Z"), "{out}");
    assert!(out.contains("read: the maintenance calendar"), "{out}");
    assert_eq!(ask("node/r4n3", &["--within", "7d"]).0, Some(5));
    // For programs the same.
    let (code, out, _) = ask("node/r4n33", &["--format", "json"]);
    assert_eq!(code, Some(6));
    let report: Value = serde_json::from_str(&out).unwrap();
    let unread = report["unread"].to_string();
    assert!(unread.contains("did you mean r4n3?"), "{unread}");
}

/// A table whose columns are called otherwise is no log of a container.
#[test]
fn a_calendar_of_unknown_columns_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let calendar = folder.path().join("calendar.csv");
    std::fs::write(&calendar, "kind,name,start\nnode,n1,2026-01-01T00:00:00Z\n").unwrap();
    let calendar = calendar.to_str().unwrap();
    let (code, out, err) = whathappened(&["upcoming", "node/n1", "--from", calendar]);
    assert_eq!(code, Some(6), "{out}{err}");
    let why = "does not name: maintenance, hosts";
    assert!(out.contains(why) || err.contains(why), "{out}{err}");
}
