//! What an answer says of how members and their containers ended.

use serde_json::json;

use super::unseen::{ask, verdict};
use super::whose_members::{MADE, RAISES, job, lines, log, of_job, pod, summary};

/// A Job whose indexes have limits of their own says that one failed once the others are done.
#[test]
fn an_index_that_was_given_up_failed_when_it_did() {
    let mut objects = vec![job(
        "grid",
        2,
        "Failed",
        "FailedIndexes",
        "2026-11-24T10:30:00Z",
    )];
    objects.push(pod(
        "grid-0-x7k20",
        &of_job("grid", 0),
        0,
        "Completed",
        "2026-11-24T10:29:58Z",
    ));
    objects.push(pod(
        "grid-1-x7k21",
        &of_job("grid", 1),
        1,
        "Error",
        "2026-11-24T09:30:00Z",
    ));
    let answer = ask(
        "grid",
        &[
            ("all.ndjson", lines(&objects)),
            ("logs/grid-1-x7k21.log", log(&RAISES)),
        ],
    );
    let (_, cause, level, _) = verdict(&answer);
    assert_eq!(
        (cause, level),
        ("code.exception", "supported"),
        "{answer:#}"
    );
}

const WATCHDOG: &str = "ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=98, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.";

#[test]
fn the_only_other_rank_that_had_finished_is_who_did_not_come() {
    let objects = [
        job(
            "gg",
            2,
            "Failed",
            "BackoffLimitExceeded",
            "2026-11-24T09:40:20Z",
        ),
        pod(
            "gg-0-x7k20",
            &of_job("gg", 0),
            134,
            "Error",
            "2026-11-24T09:40:05Z",
        ),
        pod(
            "gg-1-x7k21",
            &of_job("gg", 1),
            0,
            "Completed",
            "2026-11-24T09:29:57Z",
        ),
    ];
    let waited = format!("2026-11-24T09:40:02Z [rank0]:[E1124 09:40:02.000 {WATCHDOG}");
    let answer = ask(
        "gg",
        &[
            ("all.ndjson", lines(&objects)),
            ("logs/gg-0-x7k20.log", log(&[&waited])),
            ("logs/gg-1-x7k21.log", log(&[])),
        ],
    );
    let said = summary(&answer);
    assert!(
        said.contains("The missing one is rank 1; its program had ended with exit code 0"),
        "{said}"
    );
    assert!(!said.contains("not known"), "{said}");
}

/// A pod is asked to go, and its container ends minutes later.
#[test]
fn who_is_asked_to_go_has_not_ended_by_then() {
    let mut evicted = of_job("ev", 0);
    evicted["deletionTimestamp"] = json!("2026-11-24T09:40:00Z");
    evicted["deletionGracePeriodSeconds"] = json!(600);
    let mut pod = pod("ev-0-x7k20", &evicted, 143, "Error", "2026-11-24T09:35:00Z");
    pod["status"]["conditions"] = json!([{
        "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting", "lastTransitionTime": "2026-11-24T09:30:00Z",
    }]);
    let answer = ask("ev", &[("all.ndjson", lines(&[pod]))]);
    let first = &answer["incidents"][0]["first_victim"];
    assert_eq!(
        first["how"], "was evicted, and its container ended 5 min later",
        "{answer:#}"
    );
}

/// Karpenter says that it evicts a pod for an interruption, which it was warned of just before.
#[test]
fn who_empties_a_machine_that_the_cloud_takes_is_known() {
    let event = |kind: &str, name: &str, reason: &str, message: &str, at: &str| {
        json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": { "name": format!("{name}.{reason}"), "namespace": "ml", "uid": format!("e-{reason}"), "creationTimestamp": at },
            "involvedObject": { "kind": kind, "name": name, "namespace": "ml" }, "reason": reason, "message": message,
            "source": { "component": "karpenter" }, "firstTimestamp": at, "lastTimestamp": at, "count": 1, "type": "Warning",
        })
    };
    let mut evicted = of_job("kp", 0);
    evicted["deletionTimestamp"] = json!("2026-11-24T09:30:30Z");
    evicted["deletionGracePeriodSeconds"] = json!(30);
    let objects = [
        pod("kp-0-x7k20", &evicted, 143, "Error", "2026-11-24T09:30:05Z"),
        event(
            "Node",
            "n-kp-0-x7k20",
            "SpotInterrupted",
            "Spot interruption warning was triggered",
            "2026-11-24T09:29:50Z",
        ),
        event(
            "Pod",
            "kp-0-x7k20",
            "Evicted",
            "Evicted pod: Interruption",
            "2026-11-24T09:30:00Z",
        ),
    ];
    let answer = ask("kp", &[("all.ndjson", lines(&objects))]);
    let main = &answer["incidents"][0];
    assert_eq!(main["cause"], "cloud.spot_reclaimed", "{answer:#}");
    assert_eq!(main["actor"]["name"], "karpenter", "{answer:#}");
}

#[test]
fn who_was_asked_to_stop_and_left_did_not_run_to_completion() {
    let objects = [
        job(
            "st",
            1,
            "Complete",
            "CompletionsReached",
            "2026-11-24T09:30:04Z",
        ),
        pod(
            "st-0-x7k20",
            &of_job("st", 0),
            0,
            "Completed",
            "2026-11-24T09:30:00Z",
        ),
    ];
    let answer = |end: &str| {
        ask(
            "st",
            &[
                ("all.ndjson", lines(&objects)),
                ("logs/st-0-x7k20.log", log(&[end])),
            ],
        )
    };
    let asked = answer("2026-11-24T09:29:58Z exiting program after receiving SIGTERM.");
    assert_eq!(verdict(&asked).2, "hypothesis", "{asked:#}");
    assert!(
        summary(&asked).contains("asked to stop (SIGTERM)"),
        "{asked:#}"
    );
    // A script that ends what it had begun beside the training.
    let done =
        answer("2026-11-24T09:29:58Z run.sh: line 9:    71 Terminated              tensorboard");
    assert_eq!(verdict(&done).2, "established", "{done:#}");
}

/// The log's clock is not that of the record of the end.
#[test]
fn a_traceback_at_another_time_is_not_passed_over() {
    let objects = [
        job(
            "sk",
            1,
            "Failed",
            "BackoffLimitExceeded",
            "2026-11-24T09:24:04Z",
        ),
        pod(
            "sk-0-x7k20",
            &of_job("sk", 0),
            1,
            "Error",
            "2026-11-24T09:24:00Z",
        ),
    ];
    let answer = ask(
        "sk",
        &[
            ("all.ndjson", lines(&objects)),
            ("logs/sk-0-x7k20.log", log(&RAISES)),
        ],
    );
    assert!(!summary(&answer).contains("no log shows why"), "{answer:#}");
}

/// Each container of a pod is started again by itself: one that runs again had got over its end, and one that is held back had not.
#[test]
fn the_container_that_is_held_back_is_the_one_that_fails() {
    let ended = |code: i32, reason: &str, at: &str| json!({ "terminated": { "exitCode": code, "reason": reason, "startedAt": MADE, "finishedAt": at } });
    let answer = |trainer_at: &str, shipper_at: &str| {
        let mut pod = pod("solo", &json!({}), 1, "Error", trainer_at);
        pod["spec"]["restartPolicy"] = json!("Always");
        pod["spec"]["containers"] = json!([
            { "name": "main", "image": "train", "resources": { "limits": { "nvidia.com/gpu": "8" } } },
            { "name": "shipper", "image": "fluent-bit" },
        ]);
        pod["status"]["phase"] = json!("Running");
        pod["status"]["containerStatuses"] = json!([
            { "name": "main", "restartCount": 1, "lastState": ended(1, "Error", trainer_at),
              "state": { "waiting": { "reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container" } } },
            { "name": "shipper", "restartCount": 1, "lastState": ended(137, "OOMKilled", shipper_at),
              "state": { "running": { "startedAt": shipper_at } } },
        ]);
        ask(
            "solo",
            &[
                ("all.ndjson", lines(&[pod])),
                ("logs/solo.log", log(&RAISES)),
            ],
        )
    };
    for (trainer, shipper) in [
        ("2026-11-24T09:30:00Z", "2026-11-24T09:28:20Z"),
        ("2026-11-24T09:30:00Z", "2026-11-24T09:30:20Z"),
    ] {
        let answer = answer(trainer, shipper);
        let main = &answer["incidents"][0];
        assert_eq!(main["cause"], "code.exception", "{answer:#}");
        assert_eq!(main["first_victim"]["exit_code"], 1, "{answer:#}");
    }
}

#[test]
fn the_container_that_prepares_a_pod_is_named() {
    let mut pod = pod(
        "prep-0-x7k20",
        &of_job("prep", 0),
        137,
        "OOMKilled",
        "2026-11-24T09:05:00Z",
    );
    let ended = pod["status"]["containerStatuses"][0]["state"].take();
    pod["spec"]["initContainers"] = json!([{ "name": "fetch", "image": "aws-cli" }]);
    pod["status"]["initContainerStatuses"] =
        json!([{ "name": "fetch", "restartCount": 0, "state": ended }]);
    pod["status"]["containerStatuses"][0]["state"] =
        json!({ "waiting": { "reason": "PodInitializing" } });
    let answer = ask("prep", &[("all.ndjson", lines(&[pod]))]);
    assert!(
        summary(&answer).starts_with("The init container fetch of prep-0-x7k20 was killed"),
        "{answer:#}"
    );
}
