use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use whathappened_connectors::recording::{Input, Options};

use crate::answer::Aftermath;
use crate::case::{Case, Rules};
use crate::report::{Question, answer};

fn at(minute: u32) -> String {
    format!("2026-11-28T10:{minute:02}:00Z")
}

fn pod(name: &str, made: u32, status: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ml", "uid": format!("uid-{name}"),
            "creationTimestamp": at(made), "labels": {"job-name": "run"},
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "run", "uid": "uid-run", "controller": true}]},
        "spec": {"nodeName": "node-1", "restartPolicy": "Never", "containers": [{"name": "main", "image": "train:1"}]},
        "status": status})
}

fn failed(name: &str, made: u32, (started, ended): (u32, u32)) -> Value {
    pod(
        name,
        made,
        &json!({"phase": "Failed", "containerStatuses": [{"name": "main", "restartCount": 0, "ready": false,
        "state": {"terminated": {"exitCode": 1, "reason": "Error", "startedAt": at(started), "finishedAt": at(ended)}}}]}),
    )
}

fn runs(name: &str, made: u32, started: u32) -> Value {
    pod(
        name,
        made,
        &json!({"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": 0, "ready": true,
        "state": {"running": {"startedAt": at(started)}}}]}),
    )
}

fn created(name: &str, minute: u32) -> Value {
    json!({"apiVersion": "v1", "kind": "Event", "type": "Normal", "reason": "SuccessfulCreate", "message": format!("Created pod: {name}"),
        "metadata": {"name": format!("run.{minute}"), "namespace": "ml", "uid": format!("uid-event-{minute}")},
        "involvedObject": {"kind": "Job", "namespace": "ml", "name": "run", "uid": "uid-run"}, "count": 1,
        "firstTimestamp": at(minute), "lastTimestamp": at(minute)})
}

async fn told(folder: &Path, records: &[Value]) -> Option<Aftermath> {
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "run", "namespace": "ml", "uid": "uid-run",
        "creationTimestamp": at(0)}, "spec": {"parallelism": 1}, "status": {}});
    let lines: Vec<String> = [&job]
        .into_iter()
        .chain(records)
        .map(Value::to_string)
        .collect();
    std::fs::write(folder.join("all.ndjson"), lines.join("\n")).unwrap();
    let rules = Arc::new(Rules::load(&[]).unwrap());
    let inputs = [Input::Path(folder.to_owned())];
    let case = Case::read(&inputs, &Options::default(), rules, &mut |_, _| {}).unwrap();
    let question = Question {
        name: "run".to_owned(),
        ..Question::default()
    };
    let answer = answer(&case, &question).await.unwrap();
    // Of a run that goes on, what it got over stands behind how it is.
    let mut ended = answer
        .incidents
        .into_iter()
        .filter(|one| one.attempt == Some(1));
    ended.find_map(|one| one.aftermath)
}

#[tokio::test]
async fn a_replacement_detects_and_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let records = [
        failed("run-a", 1, (2, 30)),
        created("run-a", 1),
        created("run-b", 31),
        runs("run-b", 31, 33),
    ];
    let told = told(folder.path(), &records).await.unwrap();
    assert_eq!(told.died, at(30));
    assert_eq!(told.detected, Some(at(31)));
    assert_eq!(told.detected_by.as_deref(), Some("k8s.pod.created"));
    assert_eq!(told.restarted, Some(at(33)));
}

#[tokio::test]
async fn where_no_record_tells_it_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let told = told(
        folder.path(),
        &[failed("run-a", 1, (2, 30)), created("run-a", 1)],
    )
    .await;
    let expected = Aftermath {
        died: at(30),
        detected: None,
        detected_by: None,
        restarted: None,
    };
    assert_eq!(told, Some(expected));
}

#[tokio::test]
async fn a_member_that_starts_late_is_no_restart() {
    let folder = tempfile::tempdir().unwrap();
    let records = [failed("run-a", 1, (2, 4)), runs("run-late", 1, 6)];
    let told = told(folder.path(), &records).await.unwrap();
    assert_eq!((told.detected, told.restarted), (None, None));
}
