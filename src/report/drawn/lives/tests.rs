use std::sync::Arc;

use serde_json::{Value, json};
use whathappened_connectors::recording::{Input, Options};
use whathappened_model::time::SECOND;

use super::*;
use crate::answer::LifeState::{
    Pending, Restarting, Running, Starting, Stuck, Terminating, There, Waiting,
};
use crate::case::Rules;

/// What is told of one pod, in minutes after ten.
fn told(phase: &str, bound: Option<&str>, status: &Value) -> Vec<(LifeState, i64, Option<i64>)> {
    let ready = status["ready"] == true;
    let ready = json!({"type": "Ready", "status": if ready { "True" } else { "False" }, "lastTransitionTime": "2026-11-28T10:09:00Z"});
    let bound = bound.map(
        |at| json!([{"type": "PodScheduled", "status": "True", "lastTransitionTime": at}, ready]),
    );
    let mut main = json!({"name": "main", "image": "train:1", "ready": false, "restartCount": 0});
    for (key, value) in status.as_object().unwrap() {
        main[key] = value.clone();
    }
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one", "namespace": "ml", "uid": "u-1",
            "resourceVersion": "9", "creationTimestamp": "2026-11-28T10:00:00Z"},
        "spec": {"nodeName": bound.as_ref().map(|_| "node-1"), "containers": [{"name": "main", "image": "train:1"}]},
        "status": {"phase": phase, "conditions": bound, "containerStatuses": [main]}});
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pods.json"), pod.to_string()).unwrap();
    let inputs = [Input::Path(folder.path().to_owned())];
    let rules = Arc::new(Rules::load(&[]).unwrap());
    let case = Case::read(&inputs, &Options::default(), rules, &mut |_, _| {}).unwrap();
    shown(of(&case, 0, &case.runs[0], &[]))
}

fn shown(lives: Vec<Life>) -> Vec<(LifeState, i64, Option<i64>)> {
    let ten = Stamp::parse("2026-11-28T10:00:00Z").unwrap().lo;
    let minutes = |at: Nanos| (at - ten) / (60 * SECOND);
    let states = lives.into_iter().flat_map(|life| life.states);
    states
        .map(|(state, from, to)| (state, minutes(from), to.map(minutes)))
        .collect()
}

const BOUND: Option<&str> = Some("2026-11-28T10:01:00Z");

#[test]
fn what_ran_and_cannot_start_again_was_not_starting_all_the_time() {
    let status = json!({"restartCount": 1, "state": {"waiting": {"reason": "ErrImagePull"}}, "lastState": {"terminated": {
        "exitCode": 1, "reason": "Error", "startedAt": "2026-11-28T10:02:00Z", "finishedAt": "2026-11-28T10:30:00Z"}}});
    assert_eq!(
        told("Running", BOUND, &status),
        [
            (Waiting, 0, Some(1)),
            (Starting, 1, Some(2)),
            (Running, 2, Some(30)),
            (Restarting, 30, None)
        ]
    );
}

#[test]
fn what_is_held_back_does_not_run() {
    let status = json!({"restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {
        "exitCode": 1, "reason": "Error", "startedAt": "2026-11-28T10:20:00Z", "finishedAt": "2026-11-28T10:21:00Z"}}});
    // Of the first starts no record is left.
    assert_eq!(
        told("Running", BOUND, &status),
        [
            (Waiting, 0, Some(1)),
            (There, 1, Some(20)),
            (Running, 20, Some(21)),
            (Restarting, 21, None)
        ]
    );
}

#[test]
fn who_never_ran_waits_or_starts() {
    let waits = json!({"state": {"waiting": {"reason": "ImagePullBackOff"}}});
    assert_eq!(
        told("Pending", BOUND, &waits),
        [(Waiting, 0, Some(1)), (Starting, 1, None)]
    );
    assert_eq!(told("Pending", None, &json!({})), [(Waiting, 0, None)]);
}

#[test]
fn when_a_machine_was_found_is_not_made_up() {
    let runs = json!({"ready": true, "state": {"running": {"startedAt": "2026-11-28T10:05:00Z"}}});
    assert_eq!(
        told("Running", None, &runs),
        [(Pending, 0, Some(5)), (Running, 5, None)]
    );
}

#[test]
fn a_start_within_the_second_of_the_binding_came_after_it() {
    let runs = json!({"ready": true, "state": {"running": {"startedAt": "2026-11-28T10:01:00Z"}}});
    let bound = Some("2026-11-28T10:01:00.250Z");
    assert_eq!(
        told("Running", bound, &runs),
        [(Waiting, 0, Some(1)), (Running, 1, None)]
    );
}

#[test]
fn a_start_within_the_second_of_an_end_is_one() {
    let runs = json!({"ready": true, "restartCount": 1, "state": {"running": {"startedAt": "2026-11-28T10:09:00Z"}},
        "lastState": {"terminated": {"exitCode": 1, "startedAt": "2026-11-28T10:02:00Z", "finishedAt": "2026-11-28T10:09:00Z"}}});
    let told = told("Running", BOUND, &runs);
    let last = *told.last().unwrap();
    assert_eq!(last, (Running, 9, None), "{told:?}");
}

#[test]
fn who_gets_no_further_is_stuck_until_its_end_is_asked_for() {
    let status =
        json!({"ready": true, "state": {"running": {"startedAt": "2026-11-28T10:02:00Z"}}});
    let folder = tempfile::tempdir().unwrap();
    let pod_object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one", "namespace": "ml", "uid": "u-1",
            "creationTimestamp": "2026-11-28T10:00:00Z", "deletionTimestamp": "2026-11-28T10:40:30Z", "deletionGracePeriodSeconds": 30},
        "spec": {"nodeName": "node-1", "containers": [{"name": "main", "image": "train:1"}]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "main", "ready": true, "restartCount": 0, "state": status["state"]}]}});
    std::fs::write(folder.path().join("pods.json"), pod_object.to_string()).unwrap();
    let inputs = [Input::Path(folder.path().to_owned())];
    let rules = Arc::new(Rules::load(&[]).unwrap());
    let case = Case::read(&inputs, &Options::default(), rules, &mut |_, _| {}).unwrap();
    let since = Stamp::parse("2026-11-28T10:20:00Z").unwrap().lo;
    let states = states(&case.graph, &case.graph.pods[0], &case.ends[0], Some(since));
    let states = shown(vec![Life {
        pod: String::new(),
        node: None,
        rank: None,
        states,
    }]);
    assert_eq!(
        states,
        [
            (Pending, 0, Some(2)),
            (Running, 2, Some(20)),
            (Stuck, 20, Some(40)),
            (Terminating, 40, None)
        ]
    );
}
