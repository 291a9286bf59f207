//! Which pods are of one run where no owner says so, and what an answer says of members that are on record.

use serde_json::{Value, json};

use super::unseen::{ask, verdict};

pub(super) const MADE: &str = "2026-11-24T09:00:00Z";

pub(super) fn lines(objects: &[Value]) -> String {
    let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

/// A pod, what its metadata has besides, and how its container ended.
pub(super) fn pod(name: &str, more: &Value, code: i32, reason: &str, at: &str) -> Value {
    let mut metadata = json!({ "name": name, "namespace": "ml", "uid": format!("u-{name}"), "creationTimestamp": MADE });
    let fields = metadata.as_object_mut().expect("an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": { "nodeName": format!("n-{name}"), "restartPolicy": "Never", "containers": [{ "name": "main", "image": "train" }] },
        "status": { "phase": if code == 0 { "Succeeded" } else { "Failed" }, "startTime": MADE, "containerStatuses": [{
            "name": "main", "restartCount": 0,
            "state": { "terminated": { "exitCode": code, "reason": reason, "startedAt": MADE, "finishedAt": at } },
        }] },
    })
}

pub(super) fn job(name: &str, pods: u32, condition: &str, reason: &str, at: &str) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": name, "namespace": "ml", "uid": format!("u-{name}"), "creationTimestamp": MADE },
        "spec": { "parallelism": pods, "completions": pods, "completionMode": "Indexed", "backoffLimit": 0 },
        "status": { "conditions": [{ "type": condition, "status": "True", "reason": reason, "lastTransitionTime": at }] },
    })
}

/// What a pod of a Job has besides.
pub(super) fn of_job(job: &str, index: u32) -> Value {
    json!({
        "labels": { "batch.kubernetes.io/job-completion-index": index.to_string() },
        "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": format!("u-{job}"), "controller": true }],
    })
}

/// A step a minute until 9:29, and what follows.
pub(super) fn log(end: &[&str]) -> String {
    let steps =
        (0..30).map(|minute| format!("2026-11-24T09:{minute:02}:10Z step {minute} loss 2.5"));
    let end = end.iter().map(|line| (*line).to_owned());
    steps.chain(end).collect::<Vec<_>>().join("\n") + "\n"
}

pub(super) fn summary(answer: &Value) -> &str {
    let main = &answer["incidents"][0];
    main["summary"].as_str().unwrap_or_default()
}

pub(super) const RAISES: [&str; 3] = [
    "2026-11-24T09:29:59.000Z Traceback (most recent call last):",
    "2026-11-24T09:29:59.001Z   File \"/w/train.py\", line 30, in step",
    "2026-11-24T09:29:59.002Z KeyError: 'sw'",
];

pub(super) const LOST: &str = "2026-11-24T09:30:03Z ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.";

/// Three bare pods: the second raises, the others lose touch with it. Of each its last lines.
fn bare(names: [&str; 3], logs: [String; 3], asked: &str) -> Value {
    let ends = [
        "2026-11-24T09:30:05Z",
        "2026-11-24T09:30:00Z",
        "2026-11-24T09:30:06Z",
    ];
    let pods: Vec<Value> = names
        .iter()
        .zip(ends)
        .map(|(name, end)| pod(name, &json!({}), 1, "Error", end))
        .collect();
    let [a, b, c] = logs;
    let file = |name: &str| format!("logs/{name}.log");
    let files = names.map(file);
    ask(
        asked,
        &[
            ("all.ndjson", lines(&pods)),
            (&files[0], a),
            (&files[1], b),
            (&files[2], c),
        ],
    )
}

#[test]
fn bare_pods_that_step_together_are_one_gang() {
    let logs = || [log(&[LOST]), log(&RAISES), log(&[LOST])];
    for asked in ["exp88", "exp88-r2"] {
        let answer = bare(["exp88-r0", "exp88-r1", "exp88-r2"], logs(), asked);
        let (_, cause, _, victim) = verdict(&answer);
        assert_eq!(
            (cause, victim),
            ("code.exception", "n-exp88-r1"),
            "{answer:#}"
        );
    }
}

/// Pods of a sweep are named alike, and each has a pace and ranks of its own.
#[test]
fn the_runs_of_a_sweep_are_runs_of_their_own() {
    let shifted = |seconds: u32, end: &[&str]| {
        let steps = (0..30).map(|minute| {
            format!("2026-11-24T09:{minute:02}:{seconds:02}Z step {minute} loss 2.5")
        });
        let end = end.iter().map(|line| (*line).to_owned());
        steps.chain(end).collect::<Vec<_>>().join("\n") + "\n"
    };
    let logs = [
        shifted(7, &[LOST]),
        shifted(23, &RAISES),
        shifted(41, &[LOST]),
    ];
    let answer = bare(["lr-0", "lr-1", "lr-2"], logs, "lr-2");
    let (_, cause, _, victim) = verdict(&answer);
    assert_ne!(cause, "code.exception", "{answer:#}");
    assert_eq!(victim, "n-lr-2", "{answer:#}");
}

/// A pod that owns others, as the driver of a Spark application does, and one of those, which the garbage collector deletes.
fn led(code: i32, reason: &str) -> Value {
    let owned = json!({
        "ownerReferences": [{ "apiVersion": "v1", "kind": "Pod", "name": "etl-driver", "uid": "u-etl-driver", "controller": true }],
        "deletionTimestamp": "2026-11-24T09:30:33Z", "deletionGracePeriodSeconds": 30,
    });
    let pods = [
        pod(
            "etl-driver",
            &json!({}),
            code,
            reason,
            "2026-11-24T09:30:00Z",
        ),
        pod("etl-exec-1", &owned, 143, "Error", "2026-11-24T09:30:08Z"),
    ];
    ask("etl", &[("all.ndjson", lines(&pods))])
}

#[test]
fn what_a_pod_owns_goes_with_it() {
    let answer = led(137, "OOMKilled");
    let (state, cause, level, victim) = verdict(&answer);
    assert_eq!(
        (state, cause, level, victim),
        ("failed", "code.host_oom", "supported", "n-etl-driver"),
        "{answer:#}"
    );
    assert_eq!(
        answer["incidents"].as_array().map(Vec::len),
        Some(1),
        "{answer:#}"
    );
    let answer = led(0, "Completed");
    assert_eq!(verdict(&answer).0, "completed", "{answer:#}");
}

/// The audit log has a person's deletion of a `TrainJob`, and the garbage collector's of its pod; what is between is not known.
#[test]
fn a_pod_names_the_set_that_its_job_is_of() {
    let mut labels = of_job("tj-node-0", 0);
    labels["labels"]["jobset.sigs.k8s.io/jobset-name"] = json!("tj");
    labels["deletionTimestamp"] = json!("2026-11-24T09:30:32Z");
    labels["deletionGracePeriodSeconds"] = json!(30);
    let pod = pod(
        "tj-node-0-0-x7k2p",
        &labels,
        143,
        "Error",
        "2026-11-24T09:30:08Z",
    );
    let deletes = |user: &str, resource: &str, group: &str, name: &str, at: &str| {
        json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": format!("a-{name}"),
            "stage": "ResponseComplete", "verb": "delete", "user": { "username": user, "groups": ["system:authenticated"] },
            "requestURI": format!("/apis/{group}/namespaces/ml/{resource}/{name}"),
            "objectRef": { "resource": resource, "namespace": "ml", "name": name, "apiGroup": group },
            "responseStatus": { "code": 200 }, "requestReceivedTimestamp": at, "stageTimestamp": at,
        })
    };
    let collector = "system:serviceaccount:kube-system:generic-garbage-collector";
    let audit = [
        deletes(
            "uma",
            "trainjobs",
            "trainer.kubeflow.org",
            "tj",
            "2026-11-24T09:30:01.000000Z",
        ),
        deletes(
            collector,
            "pods",
            "",
            "tj-node-0-0-x7k2p",
            "2026-11-24T09:30:02.000000Z",
        ),
    ];
    let answer = ask(
        "tj",
        &[("all.ndjson", lines(&[pod])), ("audit.log", lines(&audit))],
    );
    let main = &answer["incidents"][0];
    assert_eq!(main["cause"], "ops.manual_delete", "{answer:#}");
    assert_eq!(main["actor"]["name"], "uma", "{answer:#}");
}

/// Pods of a `LeaderWorkerSet`, without its object or those of its sets: all of them name it.
#[test]
fn a_leader_and_its_workers_are_one_run() {
    let member = |name: &str, set: &str, index: u32, more: &Value| {
        let mut metadata = json!({
            "labels": { "leaderworkerset.sigs.k8s.io/name": "llm", "leaderworkerset.sigs.k8s.io/worker-index": index.to_string() },
            "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "StatefulSet", "name": set, "uid": format!("u-{set}"), "controller": true }],
        });
        let fields = metadata.as_object_mut().expect("an object");
        fields.extend(more.as_object().cloned().unwrap_or_default());
        (name.to_owned(), metadata)
    };
    let asked =
        json!({ "deletionTimestamp": "2026-11-24T09:30:33Z", "deletionGracePeriodSeconds": 30 });
    let (leader, of_leader) = member("llm-0", "llm", 0, &json!({}));
    let (worker, of_worker) = member("llm-0-1", "llm-0", 1, &asked);
    let pods = [
        pod(
            &leader,
            &of_leader,
            137,
            "OOMKilled",
            "2026-11-24T09:30:00Z",
        ),
        pod(&worker, &of_worker, 143, "Error", "2026-11-24T09:30:08Z"),
    ];
    let answer = ask("llm", &[("all.ndjson", lines(&pods))]);
    let (_, cause, level, victim) = verdict(&answer);
    assert_eq!(
        (cause, level, victim),
        ("code.host_oom", "supported", "n-llm-0"),
        "{answer:#}"
    );
    assert_eq!(
        answer["runs"].as_array().map(Vec::len),
        Some(1),
        "{answer:#}"
    );
}

/// The kind of a set does not say that its pods work as one; who says that it lost another one does.
#[test]
fn who_lost_another_one_followed_the_one_that_had_ended() {
    let of_set = |index: u32| {
        json!({
            "labels": { "apps.kubernetes.io/pod-index": index.to_string() },
            "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "ctc", "uid": "u-ctc", "controller": true }],
        })
    };
    let pods = [
        pod("ctc-0", &of_set(0), 1, "Error", "2026-11-24T09:30:05Z"),
        pod(
            "ctc-1",
            &of_set(1),
            137,
            "OOMKilled",
            "2026-11-24T09:29:50Z",
        ),
    ];
    let answer = ask(
        "ctc",
        &[
            ("all.ndjson", lines(&pods)),
            ("logs/ctc-0.log", log(&[LOST])),
        ],
    );
    let (_, cause, _, victim) = verdict(&answer);
    assert_eq!((cause, victim), ("code.host_oom", "n-ctc-1"), "{answer:#}");
    assert_eq!(
        answer["incidents"].as_array().map(Vec::len),
        Some(1),
        "{answer:#}"
    );
}
