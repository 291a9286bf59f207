//! Records of a Kubernetes API server that stand in answers of log stores, and what only looks like one.

use serde_json::{Value, json};

use super::sent_away::{actor, asked, ended, job, list, pod};
use super::unseen::{ask, verdict};

/// The actor that the tool names, of a pod whose eviction stands in a line of this file.
fn of(name: &str, text: String) -> (String, String) {
    let mut evicted = pod(0, "Failed", &ended(143, "Error", "10:30:01"));
    evicted["status"]["conditions"] = json!([{ "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting", "lastTransitionTime": "2026-11-24T10:30:00Z" }]);
    let answer = ask(
        "jobs.batch/bert",
        &[
            ("objects.json", list(&[job(1, true), evicted])),
            (name, text),
        ],
    );
    (verdict(&answer).1.to_owned(), actor(&answer).to_owned())
}

fn eviction() -> String {
    asked(
        "create",
        "bob@lab.example",
        "10:30:00.400000",
        "pods",
        "bert-0-aaaa0",
        "eviction",
    )
}

fn loki(labels: &Value, line: &str) -> String {
    json!({ "status": "success", "data": { "resultType": "streams",
        "result": [{ "stream": labels, "values": [["1795516200400000000", line]] }] } })
    .to_string()
}

#[test]
fn an_audit_log_in_a_log_store_names_who_asked() {
    let events = json!({ "events": [{ "timestamp": 1_795_516_200_400_i64, "ingestionTime": 1_795_516_201_000_i64,
        "eventId": "0", "logStreamName": "kube-apiserver-audit-2a1b", "message": eviction() }] });
    for (name, text) in [
        ("cloudwatch.json", events.to_string()),
        (
            "loki.json",
            loki(&json!({ "job": "kube-audit" }), &eviction()),
        ),
    ] {
        assert_eq!(of(name, text).1, "bob@lab.example", "{name}");
    }
}

#[test]
fn what_a_program_writes_of_itself_is_no_audit_record() {
    let own = json!({ "namespace": "ml", "pod": "bert-0-aaaa0", "container": "audit" });
    assert_ne!(
        of("loki.json", loki(&own, &eviction())).1,
        "bob@lab.example"
    );
    assert_ne!(
        of("loki.json", loki(&json!({ "job": "trainer" }), &eviction())).1,
        "bob@lab.example"
    );
}

#[test]
fn what_a_program_writes_of_itself_is_none_in_a_pasted_session_either() {
    let session = |command: &str| {
        format!(
            "$ date -u\nTue Nov 24 10:40:00 UTC 2026\n$ {command}\n{}\n",
            eviction()
        )
    };
    let logs = session("kubectl logs -n ml bert-0-aaaa0 -c audit");
    assert_ne!(of("session.txt", logs).1, "bob@lab.example");
    let file = session("ssh cp-0 grep evict /var/lib/audit.json");
    assert_eq!(of("session.txt", file).1, "bob@lab.example");
}

#[test]
fn a_line_that_is_known_to_be_of_a_pod_is_that_pods_in_either_form() {
    for known in [
        json!({ "pod": "bert-0-aaaa0" }),
        json!({ "structuredMetadata": { "pod": "bert-0-aaaa0" } }),
    ] {
        let answer = json!({ "status": "success", "data": { "resultType": "streams", "result": [{ "stream": { "job": "kube-audit" },
            "values": [["1795516200400000000", eviction(), known]] }] } });
        assert_ne!(of("loki.json", answer.to_string()).1, "bob@lab.example");
    }
}
