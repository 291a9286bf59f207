//! One rank's log that compares all ranks of its run.

use serde_json::{Value, json};

use super::unseen::{ask, verdict};

const MADE: &str = "2026-11-24T09:00:00Z";

fn job() -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": "run", "namespace": "ml", "uid": "u-run", "creationTimestamp": MADE },
        "spec": { "parallelism": 3, "completions": 3, "completionMode": "Indexed" },
        "status": { "active": 3, "ready": 3, "startTime": MADE },
    })
}

fn pod(index: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": format!("run-{index}-x7k2{index}"), "namespace": "ml", "uid": format!("u-{index}"), "creationTimestamp": MADE,
            "labels": { "batch.kubernetes.io/job-completion-index": index.to_string() },
            "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "run", "uid": "u-run", "controller": true }] },
        "spec": { "nodeName": format!("n{index}"), "containers": [{ "name": "main", "image": "train" }] },
        "status": { "phase": "Running", "startTime": MADE,
            "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": "2026-11-24T09:00:10Z" }],
            "containerStatuses": [{ "name": "main", "ready": true, "restartCount": 0, "state": { "running": { "startedAt": MADE } } }] },
    })
}

/// A report every minute, in which rank 1 takes so long; the highest rank that any of them names is another one's.
fn compared(most: &str, highest: u32) -> Value {
    let mut objects = vec![job()];
    objects.extend((0..3).map(pod));
    let objects: Vec<String> = objects.iter().map(Value::to_string).collect();
    let report = |minute: u32| {
        format!(
            "2026-11-24T09:{minute:02}:00Z INFO:megatron.core.utils:[2026-11-24 09:{minute:02}:00] | MnRtt/Rnk: 1702.08ms/0 | \
             MxRtt/Rnk: {most}ms/1 | MnPwr/Rnk: 601796.00W/{highest} | MnDRtt/Rnk: 14.27ms/0 | MxDRtt/Rnk: 34.65ms/1\n"
        )
    };
    let log: String = (5..20).map(report).collect();
    ask(
        "run",
        &[
            ("all.ndjson", objects.join("\n") + "\n"),
            ("logs/run-0-x7k20.log", log),
        ],
    )
}

#[test]
fn the_slowest_rank_by_far_is_told_though_only_another_ranks_log_was_read() {
    let answer = compared("4975.20", 2);
    assert_eq!(verdict(&answer).1, "slow.rank", "{answer:#}");
    let summary = answer["incidents"][0]["summary"]
        .as_str()
        .unwrap_or_default();
    assert!(summary.contains("rank 1 computes for 4.98 s"), "{summary}");
    assert!(summary.contains("n1"), "{summary}");
    assert_eq!(
        answer["incidents"][0]["victims"][0]["rank"], 1,
        "{answer:#}"
    );
}

#[test]
fn some_rank_is_always_the_slowest_and_several_may_be_in_one_pod() {
    let answer = compared("1716.30", 2);
    assert_eq!(verdict(&answer).1, "none.running", "{answer:#}");
    let answer = compared("4975.20", 23);
    assert_ne!(verdict(&answer).1, "slow.rank", "{answer:#}");
}
