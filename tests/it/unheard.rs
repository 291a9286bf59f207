//! What was there without anybody's word on it: a node that only its pods' status tells to be silent, a job that only requests tell
//! of, one that its cron job deleted, a process that the launcher of another machine tells of.

use serde_json::{Value, json};

use super::leftovers::record;
use super::sent_away::{actor, ended, event, job, list, pod, running};
use super::unseen::{ask, text, verdict};

/// A stream of versions of objects.
fn watch(versions: &[(&str, Value)]) -> String {
    let lines = versions
        .iter()
        .map(|(kind, object)| json!({ "type": kind, "object": object }).to_string());
    lines.map(|line| line + "\n").collect()
}

/// A running pod with what the controller of nodes, and the kubelet, say of its readiness.
fn ready(is_ready: &str, since: &str, gates: Option<&str>) -> Value {
    let mut one = pod(0, "Running", &running());
    let since = format!("2026-11-24T{since}Z");
    let mut condition = json!({ "type": "Ready", "status": is_ready, "lastTransitionTime": since });
    if let Some(reason) = gates {
        condition["reason"] = json!(reason);
    }
    one["status"]["conditions"] = json!([
        condition,
        { "type": "ContainersReady", "status": "True", "lastTransitionTime": "2026-11-24T10:00:06Z" },
    ]);
    one
}

/// What a pod that was marked as not ready was ended by, as somebody deleted it by force ten minutes later.
fn deleted_by_force(gates: Option<&str>) -> Value {
    ended_by_force(
        [("True", "10:00:06", None), ("False", "10:20:50", gates)]
            .map(|(is_ready, since, gates)| ready(is_ready, since, gates)),
    )
}

/// The same of a pod by its first version and its last one.
fn ended_by_force([first, last]: [Value; 2]) -> Value {
    let mut gone = last.clone();
    gone["metadata"]["deletionTimestamp"] = json!("2026-11-24T10:31:00Z");
    gone["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    let versions = [("ADDED", first), ("MODIFIED", last), ("DELETED", gone)];
    let request = record("delete", "pods", "bert-0-aaaa0", "zoe", "10:31:00");
    ask(
        "bert",
        &[
            ("pods.ndjson", watch(&versions)),
            ("audit.log", request.to_string() + "\n"),
        ],
    )
}

#[test]
fn a_pod_whose_readiness_its_kubelet_did_not_take_back_was_on_a_silent_node() {
    let answer = deleted_by_force(None);
    let (_, cause, level, _) = verdict(&answer);
    let blamed = cause == "ops.manual_delete" && level != "hypothesis";
    assert!(!blamed, "{cause} {level}: {answer:#}");
    let gate = deleted_by_force(Some("ReadinessGatesNotReady"));
    assert_eq!(verdict(&gate).1, "ops.manual_delete", "{gate:#}");
}

#[test]
fn a_pod_whose_containers_are_all_ready_is_not_ready_by_the_word_of_another() {
    let bare = |is_ready: &str, since: &str| {
        let mut one = ready(is_ready, since, None);
        one["status"]["conditions"].as_array_mut().unwrap().pop();
        one
    };
    let versions = [bare("True", "10:00:06"), bare("False", "10:20:50")];
    let answer = ended_by_force(versions.clone());
    assert_eq!(verdict(&answer).1, "node.not_ready", "{answer:#}");
    // Somebody else has a say in whether it is ready.
    let gated = versions.map(|mut one| {
        one["spec"]["readinessGates"] = json!([{ "conditionType": "example.org/in-service" }]);
        one
    });
    let answer = ended_by_force(gated);
    assert_eq!(verdict(&answer).1, "ops.manual_delete", "{answer:#}");
}

#[test]
fn a_job_that_only_requests_tell_of_may_have_been_over_when_it_was_deleted() {
    let collector = "system:serviceaccount:kube-system:generic-garbage-collector";
    let requests = [
        record("delete", "jobs", "bert", "dora", "10:42:00"),
        record("delete", "pods", "bert-0-aaaa0", collector, "10:42:01"),
    ];
    let lines: Vec<String> = requests.iter().map(Value::to_string).collect();
    let alone = ask("bert", &[("audit.log", lines.join("\n") + "\n")]);
    let (_, cause, level, _) = verdict(&alone);
    assert_eq!(
        (cause, level),
        ("ops.manual_delete", "hypothesis"),
        "{alone:#}"
    );
    assert_eq!(actor(&alone), "dora");
    let there = ask(
        "bert",
        &[
            ("audit.log", lines.join("\n") + "\n"),
            (
                "pods.ndjson",
                watch(&[("ADDED", pod(0, "Running", &running()))]),
            ),
        ],
    );
    let (_, cause, level, _) = verdict(&there);
    assert_eq!(cause, "ops.manual_delete");
    assert_ne!(level, "hypothesis", "{there:#}");
}

#[test]
fn a_watch_tells_no_time_at_which_a_job_was_gone() {
    let mut labelled = job(1, false);
    labelled["metadata"]["labels"] = json!({ "sweep": "old" });
    let mut gone = pod(0, "Failed", &ended(143, "Error", "10:30:06"));
    gone["metadata"]["deletionTimestamp"] = json!("2026-11-24T10:30:31Z");
    gone["metadata"]["deletionGracePeriodSeconds"] = json!(30);
    let versions = [
        ("ADDED", labelled.clone()),
        ("ADDED", pod(0, "Running", &running())),
        ("DELETED", labelled),
        ("DELETED", gone),
    ];
    let mut request = record("deletecollection", "jobs", "", "kim", "10:30:00");
    request["requestURI"] = json!("/apis/batch/v1/namespaces/ml/jobs?labelSelector=sweep%3Dold");
    request["objectRef"] =
        json!({ "resource": "jobs", "namespace": "ml", "apiGroup": "batch", "apiVersion": "v1" });
    let files = |request: &Value| {
        vec![
            ("all.ndjson", watch(&versions)),
            ("audit.log", request.to_string() + "\n"),
        ]
    };
    let answer = ask("bert", &files(&request));
    assert_eq!(verdict(&answer).1, "ops.manual_delete");
    assert_eq!(actor(&answer), "kim", "{answer:#}");
    // Of an hour before, it took what was there then.
    request["requestReceivedTimestamp"] = json!("2026-11-24T09:30:00.500000Z");
    request["stageTimestamp"] = json!("2026-11-24T09:30:00.500000Z");
    assert_eq!(actor(&ask("bert", &files(&request))), "");
}

#[test]
fn a_cron_job_that_replaces_its_job_ended_it() {
    let mut deleted = event(
        "nightly",
        "SuccessfulDelete",
        "Deleted job bert",
        "cronjob-controller",
        "10:30:01",
    );
    deleted["involvedObject"] = json!({ "kind": "CronJob", "apiVersion": "batch/v1", "namespace": "ml", "name": "nightly", "uid": "cron" });
    let mut gone = pod(0, "Failed", &ended(143, "Error", "10:30:06"));
    gone["metadata"]["deletionTimestamp"] = json!("2026-11-24T10:30:31Z");
    gone["metadata"]["deletionGracePeriodSeconds"] = json!(30);
    let answer = ask(
        "bert",
        &[
            ("events.json", list(&[deleted.clone()])),
            (
                "pods.ndjson",
                watch(&[("ADDED", pod(0, "Running", &running())), ("DELETED", gone)]),
            ),
        ],
    );
    assert_eq!(verdict(&answer).1, "ops.manual_delete");
    assert_eq!(actor(&answer), "cronjob-controller", "{answer:#}");
    // What is over it clears away.
    let failed = ask(
        "bert",
        &[
            ("events.json", list(&[deleted])),
            (
                "pods.json",
                list(&[pod(0, "Failed", &ended(1, "Error", "10:12:00"))]),
            ),
        ],
    );
    assert_ne!(verdict(&failed).1, "ops.manual_delete", "{failed:#}");
}

#[test]
fn a_launcher_names_the_machine_on_which_a_process_was_killed() {
    let log = |pid: u32| {
        text(&[
            "2026-11-24 10:29:00,000 INFO step 40 loss 2.1",
            "2026-11-24 10:29:30,000 INFO step 41 loss 2.1",
            &format!(
                "mpirun noticed that process rank 5 with PID {pid} on node hpc-7 exited on signal 9 (Killed)."
            ),
        ])
    };
    let kernel = text(&[
        "2026-11-24T10:29:51.000000+00:00 hpc-7 kernel: oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom,task_memcg=/user.slice/user-1000.slice/session-3.scope,task=python,pid=918277,uid=1000",
        "2026-11-24T10:29:51.000000+00:00 hpc-7 kernel: Out of memory: Killed process 918277 (python) total-vm:812311000kB, anon-rss:501000000kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:99000kB oom_score_adj:0",
    ]);
    let answer = |pid: u32| {
        ask(
            "mpi",
            &[
                ("mpi/mpi.log", log(pid)),
                ("nodes/hpc-7/kern.log", kernel.clone()),
            ],
        )
    };
    let (own, other) = (answer(918_277), answer(918_278));
    assert_eq!(verdict(&own).1, "node.system_oom", "{own:#}");
    assert_eq!(verdict(&other).1, "unknown", "{other:#}");
}

#[test]
fn a_table_that_was_watched_shows_how_a_container_ended_before_it_waits() {
    let watched = |last: &str| {
        let mut rows = vec![
            "$ kubectl -n ml get pods -w",
            "NAME   READY   STATUS      RESTARTS      AGE",
            "w-1    1/1     Running     0             41m",
            "w-1    0/1     OOMKilled   0             43m",
            "w-1    1/1     Running     1 (2s ago)    43m",
            "w-1    0/1     OOMKilled   1 (40s ago)   44m",
        ];
        rows.push(last);
        ask("w-1", &[("paste.txt", text(&rows))])
    };
    let same = watched("w-1    0/1     CrashLoopBackOff   1 (13s ago)   44m");
    let (_, cause, level, _) = verdict(&same);
    assert_eq!((cause, level), ("code.host_oom", "supported"), "{same:#}");
    // How the later start ended no row shows.
    let later = watched("w-1    0/1     CrashLoopBackOff   5 (13s ago)   54m");
    assert_eq!(verdict(&later).1, "unknown", "{later:#}");
}

/// What a Prometheus answers of the containers of pods: `(pod, node)`.
fn measured(series: &[(&str, &str)]) -> String {
    let one = |(pod, node): &(&str, &str)| {
        json!({ "metric": { "__name__": "container_cpu_cfs_periods_total", "container": "main", "namespace": "ml", "pod": pod,
                "node": node, "job": "kubelet", "metrics_path": "/metrics/cadvisor" },
            "values": [[1_795_514_430, "0"], [1_795_514_460, "300"], [1_795_514_490, "600"]] })
    };
    let series: Vec<Value> = series.iter().map(one).collect();
    json!({ "status": "success", "data": { "resultType": "matrix", "result": series } }).to_string()
}

#[test]
fn a_pod_is_where_its_container_was_measured() {
    let log = text(&[
        "2026-11-24T10:00:10.000000000Z stdout F step=1 loss=2.0",
        "2026-11-24T10:05:10.000000000Z stderr F Traceback (most recent call last):",
        "2026-11-24T10:05:10.000000001Z stderr F   File \"/app/train.py\", line 9, in <module>",
        "2026-11-24T10:05:10.000000002Z stderr F ValueError: bad shard",
    ]);
    let node = |series: &[(&str, &str)]| {
        let files = [
            (
                "logs/ml_bert-0-aaaa0_5b2e2c3e-1111-4222-8333-444455556666/main/0.log",
                log.clone(),
            ),
            ("cadvisor.json", measured(series)),
        ];
        let answer = ask("bert-0-aaaa0", &files);
        assert_eq!(verdict(&answer).1, "code.exception", "{answer:#}");
        let (_, _, _, node) = verdict(&answer);
        // What is only measured is no run.
        let all = ask("*", &files);
        assert_eq!(all["runs"].as_array().map(Vec::len), Some(1), "{all:#}");
        node.to_owned()
    };
    let of_others = ("another-0", "n9");
    assert_eq!(node(&[("bert-0-aaaa0", "n7"), of_others]), "n7");
    // A name that pods of two machines bore is that of either.
    let both = [("bert-0-aaaa0", "n7"), ("bert-0-aaaa0", "n8"), of_others];
    assert_eq!(node(&both), "");
}

#[test]
fn what_a_cloud_tells_of_one_machine_is_nothing_of_a_program_on_another() {
    let reset = json!({ "eventVersion": "1.11", "eventTime": "2026-11-24T10:30:00Z", "eventSource": "ec2.amazonaws.com",
        "eventName": "RebootInstances", "awsRegion": "us-east-1", "eventID": "e-1", "eventType": "AwsApiCall", "readOnly": false,
        "userIdentity": { "type": "IAMUser", "userName": "erin", "arn": "arn:aws:iam::111122223333:user/erin" },
        "requestParameters": { "instancesSet": { "items": [{ "instanceId": "i-0aa0000000000002" }] } } });
    let host = text(&[
        "2026-11-24T10:00:00+00:00 i-0aa0000000000001 systemd[1]: Started train.service - Training.",
        "2026-11-24T10:30:01+00:00 i-0aa0000000000001 systemd[1]: train.service: Main process exited, code=exited, status=1/FAILURE",
    ]);
    let log = text(&[
        "2026-11-24 10:29:30,000 INFO step 90 loss=2.0",
        "Traceback (most recent call last):",
        "  File \"/app/train.py\", line 9, in <module>",
        "ValueError: bad shard",
    ]);
    let answer = ask(
        "train",
        &[
            ("aws/trail.ndjson", reset.to_string() + "\n"),
            ("i-0aa0000000000001/journal.log", host),
            ("i-0aa0000000000001/train.log", log),
        ],
    );
    assert_eq!(verdict(&answer).1, "code.exception", "{answer:#}");
}

#[test]
fn a_name_with_a_word_behind_it_is_another_one() {
    let line = |second: u32, words: &str| {
        format!("2026-11-24T10:00:{second:02}.000000000Z stdout F {words}")
    };
    let done = text(&[
        &line(10, "step=1 loss=2.0"),
        &line(20, "Training finished."),
    ]);
    let failed = text(&[
        &line(30, "Traceback (most recent call last):"),
        &line(30, "  File \"/app/eval.py\", line 9, in <module>"),
        &line(30, "KeyError: 'sw'"),
    ]);
    let files = [
        (
            "logs/ml_run-1-0-6f78f_5b2e2c3e-1111-4222-8333-444455556667/main/0.log",
            done,
        ),
        (
            "logs/ml_run-1-eval-0-8bcfd_5b2e2c3e-1111-4222-8333-444455556668/main/0.log",
            failed,
        ),
    ];
    let answer = ask("run-1", &files);
    assert_eq!(answer["runs"][0]["name"], "run-1-0-6f78f", "{answer:#}");
    assert_eq!(
        answer["runs"].as_array().map(Vec::len),
        Some(1),
        "{answer:#}"
    );
    assert_eq!(verdict(&ask("run-1-eval", &files)).1, "code.exception");
}
