//! Words of an end that are none, ends without words, and logs of one name from several machines.

use serde_json::{Value, json};

use super::sent_away::{job, list, pod};
use super::unseen::{ask, text, verdict};

const TRACEBACK: [&str; 4] = [
    "Traceback (most recent call last):",
    "  File \"/home/u/train.py\", line 71, in main",
    "    batch = tokens[doc]",
    "KeyError: 'doc-88123'",
];

/// Steps every ten seconds, as a logger writes them.
fn steps(from: u32, to: u32) -> Vec<String> {
    let step = |number: u32| {
        let (minute, second) = (number / 6, number % 6 * 10);
        format!(
            "2026-11-20 10:{minute:02}:{second:02},123 - INFO - train - step {number} | loss 2.49"
        )
    };
    (from..to).map(step).collect()
}

fn log(lines: &[Vec<String>]) -> String {
    lines.concat().join("\n") + "\n"
}

fn said(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn first(answer: &Value) -> &str {
    answer["incidents"][0]["first_victims"][0]["pod"]
        .as_str()
        .unwrap_or_default()
}

#[test]
fn logs_of_one_name_from_several_machines_are_of_one_run() {
    let failed = log(&[steps(0, 3), said(&TRACEBACK)]);
    let waited = log(&[steps(0, 3)]);
    for (broken, sound) in [("gpu-07", "gpu-08"), ("gpu-08", "gpu-07")] {
        let files = [
            (format!("{broken}/train.log"), failed.clone()),
            (format!("{sound}/train.log"), waited.clone()),
        ];
        let files: Vec<(&str, String)> = files
            .iter()
            .map(|(path, log)| (path.as_str(), log.clone()))
            .collect();
        let answer = ask("train", &files);
        assert_eq!(answer["runs"].as_array().map(Vec::len), Some(1));
        assert_eq!(
            answer["runs"][0]["attempts"].as_array().map(Vec::len),
            Some(1)
        );
        assert_eq!(verdict(&answer).1, "code.exception", "{answer}");
        assert_eq!(first(&answer), format!("{broken}/train.log"));
    }
}

#[test]
fn experiments_of_one_file_name_are_no_attempts_of_each_other() {
    let failed = log(&[steps(0, 3), said(&TRACEBACK)]);
    let files = [
        ("exp-a/train.log", failed),
        ("exp-b/train.log", log(&[steps(0, 3)])),
    ];
    let answer = ask("train", &files);
    assert_eq!(answer["runs"].as_array().map(Vec::len), Some(2));
    assert_eq!(verdict(&answer).1, "code.exception");
}

#[test]
fn what_is_killed_was_not_done_whatever_of_its_work_was() {
    for done in [
        "Epoch 2/10 training finished in 95 s",
        "Training completed",
        "training done: False",
    ] {
        let line = format!("2026-11-20 10:00:31,123 - INFO - train - {done}");
        let files = [(
            "train.log",
            log(&[steps(0, 3), vec![line], said(&["Killed"])]),
        )];
        let answer = ask("train", &files);
        assert_eq!(verdict(&answer).0, "failed", "{done}");
    }
}

#[test]
fn a_part_that_is_done_is_not_the_run() {
    let state = |done: &str| {
        let line = format!("2026-11-20 10:00:31,123 - INFO - train - {done}");
        let answer = ask("train", &[("train.log", log(&[steps(0, 3), vec![line]]))]);
        verdict(&answer).1.to_owned()
    };
    for part in [
        "Epoch 2/10 training finished",
        "tokenizer training completed",
        "Training complete: 40%",
    ] {
        assert_eq!(state(part), "none.running", "{part}");
    }
    assert_eq!(state("Training completed in 0:01:03"), "none.completed");
}

#[test]
fn what_was_killed_after_an_exception_is_not_known_to_have_ended_of_it() {
    let caught = |after: u32| {
        let files = [(
            "train.log",
            log(&[
                steps(0, 3),
                said(&TRACEBACK),
                steps(3, 3 + after),
                said(&["Killed"]),
            ]),
        )];
        let answer = ask("train", &files);
        let (_, cause, level, _) = verdict(&answer);
        (cause.to_owned(), level.to_owned())
    };
    assert_ne!(caught(1).1, "supported");
    assert_eq!(caught(12).0, "unknown");
}

#[test]
fn the_kernel_and_the_shell_name_one_process() {
    let shell = "./run.sh: line 3: 4711 Killed                  python train.py";
    let kernel = "2026-11-20T10:00:25+0000 gpu-07 kernel: Out of memory: Killed process 4711 (python) total-vm:912345678kB, anon-rss:812345678kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:1812345kB oom_score_adj:0";
    let files = [
        ("gpu-07/train.log", log(&[steps(0, 3), said(&[shell])])),
        (
            "gpu-07/journal.txt",
            text(&[
                "2026-11-20T09:59:55+0000 gpu-07 systemd[1]: Started Session 31 of User alice.",
                kernel,
            ]),
        ),
    ];
    assert_eq!(verdict(&ask("train", &files)).1, "node.system_oom");
}

#[test]
fn a_line_on_another_job_is_none_on_this_one() {
    let other = "slurmstepd: error: Detected 1 oom_kill event in StepId=9299.batch. Some of the step tasks have been OOM Killed.";
    let of = |line: &str| {
        let log = log(&[steps(0, 3), said(&[line])]);
        verdict(&ask("9300", &[("slurm-9300.out", log)]))
            .1
            .to_owned()
    };
    assert_ne!(of(other), "code.host_oom");
    assert_eq!(of(&other.replace("9299", "9300")), "code.host_oom");
}

#[test]
fn logs_without_times_have_an_order() {
    let step = |number: u32| format!("step {number} loss 2.1");
    let before: Vec<String> = (0..3).map(step).collect();
    let after: Vec<String> = (4..40).map(step).collect();
    let of = |lines: &[Vec<String>]| {
        verdict(&ask("train", &[("train.log", log(lines))]))
            .1
            .to_owned()
    };
    assert_eq!(
        of(&[before.clone(), said(&TRACEBACK), after]),
        "none.running"
    );
    assert_eq!(of(&[before.clone(), said(&TRACEBACK)]), "code.exception");
    assert_eq!(
        of(&[before, said(&["Training completed"])]),
        "none.completed"
    );
}

#[test]
fn american_dates_are_read() {
    let at = |second: u32, what: &str| {
        format!("11/20/2026 10:00:{second:02} - INFO - __main__ - {what}")
    };
    let lines: Vec<String> = (0..3)
        .map(|step| at(step * 10, &format!("step {step} loss 2.1")))
        .collect();
    let answer = ask("train", &[("train.log", log(&[lines, said(&TRACEBACK)]))]);
    let time = answer["incidents"][0]["first_victims"][0]["time"]
        .as_str()
        .unwrap_or_default();
    assert!(time.starts_with("2026-11-20T10:00:2"), "{time}");
}

#[test]
fn a_rank_that_waited_is_not_the_one_that_failed() {
    let waited = "[rank1]:[E1120 10:10:30.100 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=931, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.";
    let answer = ask(
        "train",
        &[(
            "train.log",
            log(&[steps(0, 3), said(&TRACEBACK), said(&[waited])]),
        )],
    );
    assert_eq!(verdict(&answer).1, "code.exception");
    assert_eq!(
        answer["incidents"][0]["first_victims"][0]["rank"],
        Value::Null
    );
}

#[test]
fn a_container_that_had_not_started_tells_of_no_boot() {
    let mut one = pod(
        0,
        "Failed",
        &json!({ "terminated": { "exitCode": 137, "reason": "ContainerStatusUnknown",
        "message": "The container could not be located when the pod was terminated", "startedAt": null, "finishedAt": null } }),
    );
    one["metadata"]["deletionTimestamp"] = json!("2026-11-24T10:00:51Z");
    one["metadata"]["deletionGracePeriodSeconds"] = json!(30);
    let answer = ask("bert", &[("pods.json", list(&[job(1, false), one]))]);
    assert_eq!(verdict(&answer).1, "ops.manual_delete");
}

/// An audit log of a Job of one pod that keeps no bodies.
fn metadata(more: &[(&str, &str, &str, Option<&str>, &str)]) -> String {
    let usual = [
        ("create", "jobs", "bert", None, "10:00:00"),
        (
            "create",
            "pods",
            "bert-0-aaaa0",
            Some("binding"),
            "10:00:01",
        ),
        ("patch", "pods", "bert-0-aaaa0", Some("status"), "10:00:02"),
        ("patch", "pods", "bert-0-aaaa0", Some("status"), "10:00:03"),
    ];
    let by = |verb: &str, resource: &str, sub: Option<&str>| match (verb, resource, sub) {
        ("create", "jobs", _) => "alice",
        (_, "jobs", _) => "carol",
        (_, _, Some("binding")) => "system:kube-scheduler",
        (_, _, Some(_)) => "system:node:n0",
        _ => "system:serviceaccount:kube-system:job-controller",
    };
    let record = |(verb, resource, name, sub, at): &(&str, &str, &str, Option<&str>, &str)| {
        let time = format!(
            "2026-11-24T{at}.{}Z",
            if *verb == "delete" {
                "520000"
            } else {
                "500000"
            }
        );
        let mut object =
            json!({ "resource": resource, "namespace": "ml", "name": name, "apiVersion": "v1" });
        if *resource == "jobs" {
            object["apiGroup"] = json!("batch");
        }
        if let Some(sub) = sub {
            object["subresource"] = json!(sub);
        }
        let record = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": format!("{verb}-{name}-{at}-{sub:?}"),
            "stage": "ResponseComplete", "verb": verb, "requestURI": "", "user": { "username": by(verb, resource, *sub) },
            "objectRef": object, "responseStatus": { "code": 200 }, "requestReceivedTimestamp": time, "stageTimestamp": time,
        });
        record.to_string()
    };
    let lines: Vec<String> = usual.iter().chain(more).map(record).collect();
    lines.join("\n") + "\n"
}

/// That a kubelet confirms the end of a pod of its own.
fn metadata_of_kubelet(pod: &str, at: &str) -> String {
    let time = format!("2026-11-24T{at}.500000Z");
    let record = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": format!("kubelet-{pod}-{at}"),
        "stage": "ResponseComplete", "verb": "delete", "requestURI": "", "user": { "username": "system:node:n0" },
        "objectRef": { "resource": "pods", "namespace": "ml", "name": pod, "apiVersion": "v1" },
        "responseStatus": { "code": 200 }, "requestReceivedTimestamp": time, "stageTimestamp": time,
    });
    record.to_string() + "\n"
}

#[test]
fn that_a_job_counted_a_pod_tells_that_it_ended_and_not_how() {
    let log = metadata(&[
        ("patch", "pods", "bert-0-aaaa0", Some("status"), "10:20:00"),
        ("patch", "pods", "bert-0-aaaa0", None, "10:20:01"),
    ]);
    let answer = ask("bert", &[("audit.log", log)]);
    let (state, cause, level, _) = verdict(&answer);
    assert_eq!(
        (state, cause, level),
        ("unknown", "none.running", "unknown")
    );
    let summary = answer["incidents"][0]["summary"]
        .as_str()
        .unwrap_or_default();
    assert!(
        summary.contains("had ended by 2026-11-24T10:20:01Z"),
        "{summary}"
    );
}

#[test]
fn a_controller_that_lets_go_of_a_pod_and_deletes_it_ends_it() {
    let log = metadata(&[
        ("patch", "jobs", "bert", None, "10:20:00"),
        ("patch", "pods", "bert-0-aaaa0", None, "10:20:00"),
        ("delete", "pods", "bert-0-aaaa0", None, "10:20:00"),
    ]);
    let answer = ask("bert", &[("audit.log", log)]);
    let time = answer["incidents"][0]["first_victims"][0]["time"]
        .as_str()
        .unwrap_or_default();
    assert!(time.starts_with("2026-11-24T10:20:00"), "{answer}");
    assert_eq!(answer["incidents"][0]["actor"]["name"], "carol");
}

#[test]
fn who_was_counted_as_the_others_were_stopped_had_failed_first() {
    let other = |verb, sub, at| (verb, "pods", "bert-1-aaaa1", sub, at);
    let log = metadata(&[
        other("create", Some("binding"), "10:00:01"),
        other("patch", Some("status"), "10:00:02"),
        other("patch", Some("status"), "10:00:03"),
        // A label, as far as this log tells.
        ("patch", "jobs", "bert", None, "10:19:55"),
        ("patch", "pods", "bert-0-aaaa0", Some("status"), "10:19:59"),
        other("delete", None, "10:20:00"),
        other("patch", None, "10:20:00"),
        ("patch", "pods", "bert-0-aaaa0", None, "10:20:00"),
        other("patch", Some("status"), "10:20:02"),
    ]) + &metadata_of_kubelet("bert-1-aaaa1", "10:20:03");
    let answer = ask("bert", &[("audit.log", log)]);
    let main = &answer["incidents"][0];
    assert_eq!(main["first_victims"][0]["pod"], "bert-0-aaaa0", "{answer}");
    assert_eq!(main["cause"], "unknown");
}
