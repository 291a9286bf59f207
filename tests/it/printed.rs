//! Single printed Events, and what a session of commands did itself.

use serde_json::Value;

use super::unseen::{ask, text, verdict};

const POD: &str = "rank-a-0-x2k9p";

/// The answer to one row of `kubectl get events`, above which nobody wrote the date.
fn of_event(reason: &str, message: &str, more: &[&str]) -> Value {
    let row = format!("3m   Warning   {reason}   pod/{POD}   {message}");
    let mut lines = vec![
        "$ kubectl get events -n lab",
        "LAST SEEN   TYPE   REASON   OBJECT   MESSAGE",
        &row,
    ];
    lines.extend(more);
    ask(POD, &[("pasted.txt", text(&lines))])
}

/// What was said at a time that nobody knows was said all the same.
#[test]
fn a_pod_of_which_one_event_tells_waits_for_what_it_says() {
    for (reason, message, cause) in [
        (
            "FailedAttachVolume",
            "Multi-Attach error for volume \"pvc-7\" Volume is already exclusively attached to one node and can't be attached to another",
            "dep.volume",
        ),
        (
            "FailedScheduling",
            "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.",
            "sched.unschedulable_capacity",
        ),
        (
            "Failed",
            "Error: secret \"token\" not found",
            "dep.secret_or_config",
        ),
    ] {
        let answer = of_event(reason, message, &[]);
        let (state, found, level, _) = verdict(&answer);
        assert_eq!((state, found), ("pending", cause), "{answer:#}");
        assert_ne!(level, "established", "{answer:#}");
    }
}

/// Who was started since does not wait.
#[test]
fn a_pod_that_was_started_does_not_wait() {
    let started = format!("2m   Normal   Started   pod/{POD}   Started container trainer");
    let answer = of_event(
        "FailedAttachVolume",
        "AttachVolume.Attach failed for volume \"pvc-7\"",
        &[&started],
    );
    assert_eq!(verdict(&answer).1, "none.running", "{answer:#}");
}

/// A kubelet that starts a container again for a probe has ended it: the pod goes on.
#[test]
fn a_container_that_is_started_again_for_its_probe_ended() {
    let causes = |answer: &Value| -> Vec<String> {
        let incidents = answer["incidents"].as_array();
        let incidents = incidents.into_iter().flatten();
        incidents
            .filter_map(|one| one["cause"].as_str().map(str::to_owned))
            .collect()
    };
    let killed = of_event(
        "Killing",
        "Container trainer failed liveness probe, will be restarted",
        &[],
    );
    let probe = "code.liveness_probe".to_owned();
    assert!(causes(&killed).contains(&probe), "{killed:#}");
    let failed = of_event(
        "Unhealthy",
        "Liveness probe failed: HTTP probe failed with statuscode: 503",
        &[],
    );
    assert!(!causes(&failed).contains(&probe), "{failed:#}");
}

/// An autoscaler says what it does before it does it, and whether that failed.
#[test]
fn a_pod_that_an_autoscaler_sends_away_is_gone() {
    let gone = of_event("ScaleDown", "deleting pod for node scale down", &[]);
    assert_eq!(verdict(&gone).1, "ops.scale_down", "{gone:#}");
    let failed =
        format!("2m   Warning   ScaleDownFailed   pod/{POD}   failed to delete pod for ScaleDown");
    let kept = of_event("ScaleDown", "deleting pod for node scale down", &[&failed]);
    assert_eq!(verdict(&kept).1, "none.running", "{kept:#}");
}

fn session(commands: &[&str]) -> Value {
    let mut lines = vec![
        "$ kubectl get pods -n lab",
        "NAME             READY   STATUS    RESTARTS   AGE",
        "rank-a-0-x2k9p   1/1     Running   0          30m",
    ];
    lines.extend(commands);
    ask(POD, &[("pasted.txt", text(&lines))])
}

/// What a session did is known from what its commands printed.
#[test]
fn a_pod_that_the_session_deleted_does_not_run() {
    for printed in [
        "pod \"rank-a-0-x2k9p\" deleted",
        "pod \"rank-a-0-x2k9p\" deleted from lab namespace",
    ] {
        let deleted = session(&["$ kubectl delete pod rank-a-0-x2k9p -n lab", printed]);
        let (state, cause, level, _) = verdict(&deleted);
        assert_ne!(state, "running", "{deleted:#}");
        assert_eq!(
            (cause, level),
            ("ops.manual_delete", "hypothesis"),
            "{deleted:#}"
        );
    }
    let tried = session(&[
        "$ kubectl delete pod rank-a-0-x2k9p -n lab --dry-run=client",
        "pod \"rank-a-0-x2k9p\" deleted (dry run)",
    ]);
    assert_eq!(verdict(&tried).1, "none.running", "{tried:#}");
    let anew = session(&[
        "$ kubectl delete pod rank-a-0-x2k9p -n lab",
        "pod \"rank-a-0-x2k9p\" deleted",
        "$ kubectl get pods -n lab",
        "NAME             READY   STATUS    RESTARTS   AGE",
        "rank-a-0-x2k9p   1/1     Running   0          8s",
    ]);
    assert_eq!(verdict(&anew).1, "none.running", "{anew:#}");
}

/// A table does not show who made its pods: those that are numbered alike are one job's.
#[test]
fn the_pods_of_one_indexed_job_are_one_run() {
    let table = |second: &str| {
        text(&[
            "NAME             READY   STATUS      RESTARTS   AGE",
            "rank-a-0-x2k9p   0/1     OOMKilled   0          40m",
            second,
        ])
    };
    let job = table("rank-a-1-v7q2m   0/1     Error       0          40m");
    let answer = ask("rank-a", &[("pasted.txt", job)]);
    assert_eq!(
        answer["runs"].as_array().map(Vec::len),
        Some(1),
        "{answer:#}"
    );
    assert_eq!(verdict(&answer).1, "code.host_oom", "{answer:#}");
    let two = table("rank-a-v7q2m     0/1     Error       0          40m");
    let answer = ask("rank-a", &[("pasted.txt", two)]);
    assert_eq!(
        answer["runs"].as_array().map(Vec::len),
        Some(2),
        "{answer:#}"
    );
}

/// A Job's own word counts where none of its pods is known, and is no proof.
#[test]
fn a_job_that_is_printed_as_running_runs() {
    let answer = ask(
        "rank-a",
        &[(
            "pasted.txt",
            text(&[
                "NAME     STATUS    COMPLETIONS   DURATION   AGE",
                "rank-a   Running   0/2           40m        40m",
            ]),
        )],
    );
    let (state, cause, level, _) = verdict(&answer);
    assert_eq!(
        (state, cause, level),
        ("running", "none.running", "hypothesis"),
        "{answer:#}"
    );
}

/// The ages in one session tell of whom the older Events speak.
#[test]
fn what_is_older_than_a_pod_befell_another_of_its_name() {
    let text_of = |age: &str, wide: &[&str]| {
        let row = format!("pod/nb-0   1/1     Running   0          {age}");
        let mut lines = vec![
            "$ date -u",
            "Tue Nov 24 10:40:00 UTC 2026",
            "$ kubectl get pods -n lab",
            "NAME       READY   STATUS    RESTARTS   AGE",
            &row,
            "",
            "$ kubectl get events -n lab",
            "LAST SEEN   TYPE     REASON      OBJECT     MESSAGE",
        ];
        lines.extend(wide);
        text(&lines)
    };
    let events = [
        "34s         Normal   Scheduled   pod/nb-0   Successfully assigned lab/nb-0 to gpu-5",
        "33s         Normal   Started     pod/nb-0   Container started",
        "30s         Normal   Killing     pod/nb-0   Stopping container trainer",
        "7s          Normal   Scheduled   pod/nb-0   Successfully assigned lab/nb-0 to gpu-6",
        "6s          Normal   Started     pod/nb-0   Container started",
    ];
    let answer = ask("nb-0", &[("pasted.txt", text_of("7s", &events))]);
    assert_eq!(verdict(&answer).1, "none.running", "{answer:#}");
    // One that is as old as all that is told of it is the one that was stopped.
    let answer = ask("nb-0", &[("pasted.txt", text_of("34s", &events[..3]))]);
    assert_eq!(verdict(&answer).1, "ops.manual_delete", "{answer:#}");
}

/// A job that is younger than the pods that Events tell of is another one of that name.
#[test]
fn what_kept_the_pods_of_an_earlier_job_keeps_none_of_the_later() {
    let session = text(&[
        "$ date -u",
        "Tue Nov 24 10:40:00 UTC 2026",
        "$ kubectl get pods,jobs -n lab",
        "NAME                READY   STATUS    RESTARTS   AGE",
        "pod/vlm-1-0-2zk7q   1/1     Running   0          13s",
        "",
        "NAME              STATUS    COMPLETIONS   DURATION   AGE",
        "job.batch/vlm-1   Running   0/1           13s        13s",
        "",
        "$ kubectl get events -n lab",
        "LAST SEEN   TYPE      REASON             OBJECT              MESSAGE",
        "63s         Normal    Scheduled          pod/vlm-1-0-gtr5h   Successfully assigned lab/vlm-1-0-gtr5h to gpu-5",
        "64s         Normal    SuccessfulCreate   job/vlm-1           Created pod: vlm-1-0-gtr5h",
        "51s         Warning   Failed             pod/vlm-1-0-gtr5h   Error: ImagePullBackOff",
        "36s         Warning   Failed             pod/vlm-1-0-gtr5h   Failed to pull image \"a/b:2\": rpc error: code = NotFound desc = not found",
        "13s         Normal    SuccessfulCreate   job/vlm-1           Created pod: vlm-1-0-2zk7q",
        "13s         Normal    Started            pod/vlm-1-0-2zk7q   Container started",
    ]);
    let answer = ask("vlm-1", &[("pasted.txt", session)]);
    let (state, cause, _, _) = verdict(&answer);
    assert_eq!((state, cause), ("running", "none.running"), "{answer:#}");
}
