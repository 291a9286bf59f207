//! Until when something is known, and what is said of what came after.

use serde_json::{Value, json};

use super::whathappened;

fn time(clock: &str) -> String {
    format!("2026-11-23T{clock}Z")
}

/// A pod that runs, as it was listed.
fn running(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "lab", "uid": format!("uid-{name}"), "creationTimestamp": time("10:00:00")},
        "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "i"}]},
        "status": {"phase": "Running", "startTime": time("10:00:00"),
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": time("10:00:03")}],
            "containerStatuses": [{"name": "main", "ready": true, "restartCount": 0,
                "state": {"running": {"startedAt": time("10:00:02")}}}]},
    })
}

fn ask_files(name: &str, files: &[(&str, &str)]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let from = folder.path().to_str().unwrap();
    let (_, out, err) = whathappened(&[name, "--from", from, "--format", "json"]);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"))
}

/// The main incident's cause and level.
fn verdict(reported: &Value) -> (&str, &str) {
    let main = &reported["incidents"][0];
    let text = |key: &str| main[key].as_str().unwrap_or_default();
    (text("cause"), text("level"))
}

#[test]
fn a_pod_whose_cluster_was_heard_of_last_hours_ago_is_not_known_to_run() {
    let pod = running("solo").to_string();
    let of_machine = |clock: &str| {
        format!(
            "2026-11-23T{clock}.1+00:00 n1 systemd[1]: kubelet.service: Failed with result 'signal'.\n"
        )
    };
    let soon = ask_files(
        "pod/solo",
        &[
            ("pod.json", &pod),
            ("nodes/n1/syslog", &of_machine("10:09:00")),
        ],
    );
    assert_eq!(verdict(&soon), ("none.running", "established"), "{soon:#}");
    let files = [
        ("pod.json", pod.as_str()),
        ("nodes/n1/syslog", &of_machine("14:09:00")),
    ];
    let late = ask_files("pod/solo", &files);
    assert_eq!(verdict(&late), ("none.running", "hypothesis"), "{late:#}");
    // Who writes runs.
    let log = "2026-11-23T10:00:05.1Z step=1 loss=2.1\n2026-11-23T14:08:05.1Z step=900 loss=1.1\n";
    let writes = ask_files(
        "pod/solo",
        &[&files[..], &[("logs/solo.log", log)]].concat(),
    );
    assert_eq!(verdict(&writes), ("none.running", "established"));
}

/// An object says "Running" until somebody cleans up after the node that was removed under it.
#[test]
fn a_pod_whose_node_was_removed_is_not_known_to_run() {
    let pod = running("solo").to_string();
    let event = |reason: &str, clock: &str| {
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("n1.{reason}"), "namespace": "default"},
            "involvedObject": {"kind": "Node", "name": "n1", "uid": "n1"}, "type": "Normal", "reason": reason,
            "message": format!("Node n1 event: {reason}"), "source": {"component": "node-controller"},
            "firstTimestamp": time(clock), "lastTimestamp": time(clock), "count": 1})
        .to_string()
    };
    let removed = event("RemovingNode", "10:05:00");
    let files = [("pod.json", pod.as_str()), ("removed.json", &removed)];
    let reported = ask_files("pod/solo", &files);
    assert_eq!(
        verdict(&reported),
        ("none.running", "hypothesis"),
        "{reported:#}"
    );
    // It was there again, and said that it was ready.
    let ready = event("NodeReady", "10:06:00");
    let files = [&files[..], &[("ready.json", ready.as_str())]].concat();
    assert_eq!(
        verdict(&ask_files("pod/solo", &files)),
        ("none.running", "established")
    );
}

#[test]
fn what_stands_in_a_file_that_was_cut_is_not_known_to_go_on() {
    let watched = |object: &Value| json!({"type": "MODIFIED", "object": object}).to_string();
    let whole = format!("{}\n", watched(&running("solo")));
    let cut = format!("{whole}{}", &watched(&running("solo"))[..200]);
    let answers = [whole, cut].map(|text| {
        let reported = ask_files("pod/solo", &[("watch-pods.ndjson", &text)]);
        let (cause, level) = verdict(&reported);
        format!("{cause} {level}")
    });
    assert_eq!(
        answers,
        ["none.running established", "none.running hypothesis"]
    );
}

/// The shell prints a kernel's times in the zone that it is in, and says which nowhere.
#[test]
fn a_clock_without_its_zone_does_not_move_the_end_of_what_is_known() {
    let log: String = (0..9)
        .map(|minute| format!("2026-11-23T10:0{minute}:05.1Z step={minute} loss=2.1\n"))
        .collect();
    let dmesg = "[Mon Nov 23 18:07:11 2026] Linux version 6.8.0-1021-generic (buildd@lcy02)\n\
        [Mon Nov 23 18:07:12 2026] NVRM: Xid (PCI:0000:65:00): 31, pid=1, name=python, Ch 00000008\n";
    let pod = running("solo").to_string();
    let files = [
        ("pod.json", pod.as_str()),
        ("logs/solo.log", &log),
        ("nodes/n1/dmesg", dmesg),
    ];
    let reported = ask_files("pod/solo", &files);
    assert_eq!(
        verdict(&reported),
        ("none.running", "established"),
        "{reported:#}"
    );
}

/// `kubectl get events` does not print who wrote an Event; nobody but a scheduler preempts.
#[test]
fn a_printed_preemption_is_the_schedulers() {
    let events = "LAST SEEN   TYPE     REASON      OBJECT      MESSAGE\n\
        5m12s       Normal   Scheduled   pod/solo    Successfully assigned lab/solo to n1\n\
        62s         Normal   Preempted   pod/solo    Preempted by pod 4c8d3a1b-b39e-4e65-b380-df308968c466 on node n1\n\
        61s         Normal   Killing     pod/solo    Stopping container main\n";
    let reported = ask_files("pod/solo", &[("events.txt", events)]);
    let main = &reported["incidents"][0];
    assert_eq!(main["cause"], "sched.preempted", "{main:#}");
    assert_eq!(main["actor"]["name"], "scheduler");
}

/// Pods whose names differ in a number, of which only Events are known: one gang where they are counted from the first on.
#[test]
fn what_became_of_one_numbered_pod_is_nothing_of_another_where_numbers_are_missing() {
    let events = |other: &str| {
        format!(
            "$ date -u\nMon Nov 23 10:10:05 UTC 2026\n$ kubectl -n lab get events\n\
            LAST SEEN   TYPE      REASON      OBJECT      MESSAGE\n\
            12m         Normal    Scheduled   pod/w-1      Successfully assigned lab/w-1 to n1\n\
            11m         Normal    Preempted   pod/w-1      Preempted by pod 4c8d3a1b-b39e-4e65-b380-df308968c466 on node n1\n\
            11m         Normal    Killing     pod/w-1      Stopping container main\n\
            3m11s       Warning   BackOff     pod/{other}  Back-off restarting failed container main in pod {other}_lab(77aa)\n\
            12m         Normal    Started     pod/{other}  Started container main\n"
        )
    };
    let far = ask_files("w-10", &[("events.txt", &events("w-10"))]);
    assert_eq!(verdict(&far).0, "unknown", "{far:#}");
    let near = ask_files("w-0", &[("events.txt", &events("w-0"))]);
    assert_eq!(verdict(&near).0, "sched.preempted", "{near:#}");
}

/// Lines without times stand in an order all the same.
#[test]
fn the_last_words_of_a_log_without_times_are_what_it_ended_with() {
    let oom = "Traceback (most recent call last):\n  File \"/app/train.py\", line 9, in <module>\n    loss.backward()\n\
        torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB\n";
    let steps: String = (0..9)
        .map(|step| format!("step={step} loss=2.1\n"))
        .collect();
    let ended = ask_files("train.log", &[("train.log", &format!("{steps}{oom}"))]);
    assert_eq!(verdict(&ended), ("code.cuda_oom", "supported"), "{ended:#}");
    // It caught that one, trained on, and ended for a reason of its own.
    let other = "Traceback (most recent call last):\n  File \"/app/train.py\", line 30, in <module>\nValueError: bad shard\n";
    let caught = ask_files(
        "train.log",
        &[("train.log", &format!("{steps}{oom}{steps}{other}"))],
    );
    assert_eq!(verdict(&caught).0, "code.exception", "{caught:#}");
}

/// Two clusters, of which nothing but the files' folders says which is which.
#[test]
fn a_machine_whose_name_another_one_bears_is_accused_of_nothing_for_sure() {
    let node = |uid: &str| {
        json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": "n1", "uid": uid, "creationTimestamp": "2026-11-20T10:00:00Z"},
            "status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.", "lastHeartbeatTime": time("10:20:00"),
                "lastTransitionTime": time("10:20:40")}]}})
        .to_string()
    };
    let mut pod = running("solo");
    pod["metadata"]["deletionTimestamp"] = json!(time("10:26:10"));
    pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
    let gone = json!({"type": "DELETED", "object": pod}).to_string();
    let one = [
        ("a/node.json", node("uid-a")),
        ("a/pods.ndjson", gone.clone()),
    ];
    let both = [&one[..], &[("b/node.json", node("uid-b"))]].concat();
    let ask = |files: &[(&str, String)]| {
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(name, text)| (*name, text.as_str()))
            .collect();
        let reported = ask_files("pod/solo", &files);
        let (cause, level) = verdict(&reported);
        format!("{cause} {level}")
    };
    assert_eq!(ask(&one), "node.not_ready supported");
    assert_eq!(ask(&both), "node.not_ready hypothesis");
}

/// Ages without a moment to count them from: what happened is known, and not when.
#[test]
fn a_pod_that_a_table_of_ages_says_was_deleted_does_not_run() {
    let events = "LAST SEEN   TYPE     REASON                  OBJECT                 MESSAGE\n\
        93m         Normal   Admitted                workload/job-kq-1a2b3  Admitted by ClusterQueue gpu, wait time since reservation was 0s\n\
        93m         Normal   Scheduled               pod/kq-0-x7k2p         Successfully assigned ml/kq-0-x7k2p to n1\n\
        93m         Normal   Started                 pod/kq-0-x7k2p         Started container main\n\
        10m         Normal   EvictedDueToPreempted   workload/job-kq-1a2b3  Preempted to accommodate a workload (UID: 1f, JobUID: 2f) due to prioritization in the ClusterQueue\n\
        9m59s       Normal   Suspended               job/kq                 Job suspended\n\
        9m59s       Normal   SuccessfulDelete        job/kq                 Deleted pod: kq-0-x7k2p\n";
    let reported = ask_files("kq", &[("events.txt", events)]);
    let (cause, level) = verdict(&reported);
    // Kueue names what it queues after the job; when it stopped that and when the pod went, ages do not order.
    assert_eq!((cause, level), ("sched.kueue_preempted", "hypothesis"));
    // What is suspended waits to be resumed.
    assert_eq!(reported["runs"][0]["state"], "pending", "{reported:#}");
}

/// A condition that only an eviction leaves behind is no trace of one that was merely tried.
#[test]
fn who_evicted_a_pod_whose_object_says_so_is_named() {
    let mut pod = running("solo");
    pod["status"]["phase"] = json!("Failed");
    pod["status"]["conditions"] = json!([{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting", "lastTransitionTime": time("10:20:03")}]);
    pod["status"]["containerStatuses"][0]["state"] = json!({"terminated": {"exitCode": 143, "reason": "Error",
        "startedAt": time("10:00:02"), "finishedAt": time("10:20:10")}});
    let record = |verb: &str, reference: Value, at: &str| {
        json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": at, "stage": "ResponseComplete",
            "verb": verb, "user": {"username": "carol@lab.example"}, "userAgent": "kubectl/v1.33.2", "objectRef": reference,
            "responseStatus": {"code": 201}, "requestReceivedTimestamp": format!("2026-11-23T{at}.000000Z"),
            "stageTimestamp": format!("2026-11-23T{at}.100000Z")})
    };
    let reference = json!({"resource": "pods", "namespace": "lab", "name": "solo", "subresource": "eviction", "apiVersion": "v1"});
    let audit = record("create", reference, "10:20:03").to_string();
    // It was looked at long after that.
    let later = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "n1.1", "namespace": "default", "uid": "e-1"},
        "involvedObject": {"kind": "Node", "name": "n1"}, "reason": "NodeReady", "message": "Node n1 status is now: NodeReady",
        "firstTimestamp": time("10:40:00"), "lastTimestamp": time("10:40:00"), "count": 1, "type": "Normal"});
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [pod, later]}).to_string();
    let reported = ask_files("pod/solo", &[("list.json", &list), ("audit.log", &audit)]);
    let main = &reported["incidents"][0];
    assert_eq!(main["actor"]["name"], "carol@lab.example", "{main:#}");
}

/// A name that differs from a file's only in its form is that file's.
#[test]
fn a_log_is_found_without_its_ending() {
    let log = "step=1 loss=2.1\nstep=2 loss=2.0\nTraceback (most recent call last):\n  File \"/app/train.py\", line 9, in <module>\nValueError: bad shard\n";
    let reported = ask_files("llm-9", &[("llm-9.log", log)]);
    assert_eq!(verdict(&reported).0, "code.exception", "{reported:#}");
}

/// One rank raises, the others wait for it, and hours later their owner clears the job away.
#[test]
fn a_job_whose_log_had_failed_is_not_stopped_by_who_cancels_what_is_left() {
    let sacct = "JobID|JobName|User|Partition|State|ExitCode|Start|End|NodeList|AllocTRES|Timelimit\n\
        7104|llama|alice|h100|CANCELLED by 2001|0:0|2026-10-14T08:00:00|2026-10-14T10:30:00|gpu-a[01-04]|node=4|2-00:00:00\n\
        7104.0|torchrun|||CANCELLED|0:0|2026-10-14T08:00:00|2026-10-14T10:30:00|gpu-a[01-04]|node=4|\n";
    let steps: String = (0..40)
        .map(|minute| {
            format!("2026-10-14 08:{minute:02}:00,000 INFO train: step {minute}0/20000 loss 2.39\n")
        })
        .collect();
    let raised = "2026-10-14 08:41:10,000 ERROR rank3: crashed\n[rank3]: Traceback (most recent call last):\n\
        [rank3]:   File \"/workspace/train.py\", line 203, in step\n[rank3]: ValueError: bad checkpoint shard\n";
    let stop = "slurmstepd: error: *** JOB 7104 ON gpu-a01 CANCELLED AT 2026-10-14T10:30:00 ***\n";
    let ask = |log: &str| {
        let reported = ask_files("7104", &[("sacct.txt", sacct), ("slurm-7104.out", log)]);
        let (cause, level) = verdict(&reported);
        format!("{cause} {level}")
    };
    assert_eq!(
        ask(&format!("{steps}{raised}{stop}")),
        "code.exception supported"
    );
    assert_eq!(
        ask(&format!("{steps}{stop}")),
        "ops.manual_delete established"
    );
}
