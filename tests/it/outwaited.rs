//! What ends long after it has stopped working: a program that hangs until its limit; and what of a machine's life tells
//! of the program on it.

use serde_json::json;

use super::unseen::{ask, text, verdict};

const ACCOUNTS: &str = "JobID|JobName|State|ExitCode|Start|End|NodeList";
const XID: &str = "kernel: NVRM: Xid (PCI:0000:c1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";

/// Steps every 20 seconds from 08:00 on, until so many minutes after.
fn steps(minutes: u32) -> String {
    let line = |step: u32| {
        let (minute, second) = (step * 20 / 60, step * 20 % 60);
        format!(
            "[2026-11-20 {:02}:{:02}:{second:02}] step {step} loss 2.{step}",
            8 + minute / 60,
            minute % 60
        )
    };
    (0..minutes * 3).map(line).collect::<Vec<_>>().join("\n") + "\n"
}

/// Cause and level of a job of six hours whose machine wrote `line`, and that made steps for so many minutes.
fn hung(state: &str, minutes: u32, line: &str) -> (String, String) {
    wrote(state, steps(minutes), line)
}

/// The same of a job that wrote this.
fn wrote(state: &str, log: String, line: &str) -> (String, String) {
    let job = format!("901|train|{state}|0:0|2026-11-20T08:00:00|2026-11-20T14:00:02|n1");
    let answer = ask(
        "901",
        &[
            ("sacct.txt", text(&[ACCOUNTS, &job])),
            ("slurm-901.out", log),
            ("kern.log", text(&[line])),
        ],
    );
    let (_, cause, level, _) = verdict(&answer);
    (cause.to_owned(), level.to_owned())
}

#[test]
fn what_hangs_since_its_gpu_failed_is_not_to_blame_on_its_limit() {
    let at = |time: &str| format!("2026-11-20T{time}+00:00 n1 {XID}");
    let supported = |cause: &str| (cause.to_owned(), "supported".to_owned());
    assert_eq!(hung("TIMEOUT", 120, &at("10:00:05")), supported("hw.gpu"));
    // It went on for long, or had stopped long before.
    for time in ["09:00:05", "12:00:00"] {
        assert_eq!(
            hung("TIMEOUT", 120, &at(time)),
            supported("code.deadline"),
            "{time}"
        );
    }
    // It worked until its limit.
    assert_eq!(hung("TIMEOUT", 359, &at("10:00:05")).0, "code.deadline");
}

#[test]
fn what_had_stopped_for_a_reason_of_its_own_did_not_hang_for_the_gpu() {
    let xid = format!("2026-11-20T10:00:05+00:00 n1 {XID}");
    let said = |line: &str| steps(120) + "[2026-11-20 09:59:50] " + line + "\n";
    for line in [
        "pause requested over the control socket; waiting for resume",
        "steps are reported to the tracker only from now on",
    ] {
        let found = wrote("TIMEOUT", said(line), &xid);
        assert_eq!(found.0, "code.deadline", "{line}");
    }
    // A program that has something to say between any two steps.
    let step = |line: &str| {
        let aside = line
            .replace(":00]", ":05]")
            .replace(":20]", ":25]")
            .replace(":40]", ":45]");
        let aside = aside.split_once("] ").map_or("", |(time, _)| time);
        format!("{line}\n{aside}] queue 3 ready\n")
    };
    let chatty: String = steps(120).lines().map(step).collect();
    assert_eq!(wrote("TIMEOUT", chatty, &xid).0, "hw.gpu");
    // All steps were made.
    let all: String = steps(120)
        .lines()
        .map(|line| line.replace(" loss", "/359 loss") + "\n")
        .collect();
    assert_eq!(wrote("TIMEOUT", all, &xid).0, "code.deadline");
}

#[test]
fn what_waits_for_its_files_until_its_limit_waited_for_them() {
    let line =
        "2026-11-20T10:00:10+00:00 n1 kernel: nfs: server filer1 not responding, still trying";
    assert_eq!(hung("TIMEOUT", 120, line).0, "dep.storage");
    let back = format!("{line}\n2026-11-20T10:01:10+00:00 n1 kernel: nfs: server filer1 OK");
    assert_ne!(hung("TIMEOUT", 120, &back).1, "established");
    assert_eq!(hung("TIMEOUT", 120, &back).0, "code.deadline");
    // Each file system's client has its own words for it.
    let lustre = "2026-11-20T10:00:10+00:00 n1 kernel: Lustre: lab-OST0003-osc-ffff8f: Connection to lab-OST0003 (at 10.0.0.9@o2ib) was lost; in progress operations using this service will wait for recovery to complete";
    let restored = "2026-11-20T10:00:40+00:00 n1 kernel: Lustre: lab-OST0003-osc-ffff8f: Connection restored to 10.0.0.9@o2ib (at 10.0.0.9@o2ib)";
    let ceph = "2026-11-20T10:00:10+00:00 n1 kernel: ceph: mds0 hung";
    let cifs = r"2026-11-20T10:00:10+00:00 n1 kernel: CIFS: VFS: \\nas.lab has not responded in 180 seconds. Reconnecting...";
    for line in [lustre, ceph, cifs] {
        assert_eq!(hung("TIMEOUT", 120, line).0, "dep.storage", "{line}");
    }
    let back = format!("{lustre}\n{restored}");
    assert_eq!(hung("TIMEOUT", 120, &back).0, "code.deadline");
}

fn cloud(at: &str, method: &str, who: &str, operation: (&str, bool, bool)) -> String {
    let (id, first, last) = operation;
    json!({
        "protoPayload": {
            "@type": "type.googleapis.com/google.cloud.audit.AuditLog", "serviceName": "compute.googleapis.com",
            "methodName": method, "resourceName": "projects/lab/zones/europe-west4-a/instances/box-1",
            "authenticationInfo": { "principalEmail": who }, "status": {},
            "request": { "labels": [{ "key": "experiment", "value": "swin" }] },
        },
        "insertId": format!("{method}-{at}"), "timestamp": at, "severity": "INFO",
        "resource": { "type": "gce_instance", "labels": { "instance_id": "61", "project_id": "lab", "zone": "europe-west4-a" } },
        "logName": format!("projects/lab/logs/cloudaudit.googleapis.com%2F{}", if who.starts_with("system") { "system_event" } else { "activity" }),
        "operation": { "id": id, "producer": "compute.googleapis.com", "first": first, "last": last },
    })
    .to_string()
}

fn made() -> String {
    let method = "v1.compute.instances.insert";
    cloud(
        "2026-11-20T07:00:00.1Z",
        method,
        "ada@lab.example",
        ("made", true, true),
    )
}

fn of_cloud(at: &str, event: &str) -> String {
    let method = format!("compute.instances.{event}");
    cloud(at, &method, "system@google.com", (at, true, true))
}

#[test]
fn a_machine_that_somebody_is_deleting_is_not_reclaimed() {
    let delete = |at: &str, first| {
        let method = "v1.compute.instances.delete";
        cloud(at, method, "eve@lab.example", ("gone", first, !first))
    };
    let asked = |asked_at: &str| {
        let records = [
            made(),
            delete(asked_at, true),
            of_cloud("2026-11-20T11:00:05.1Z", "preempted"),
            delete("2026-11-20T11:03:00.1Z", false),
        ];
        verdict(&ask("swin", &[("audit.jsonl", records.join("\n"))]))
            .1
            .to_owned()
    };
    assert_eq!(asked("2026-11-20T11:00:00.1Z"), "ops.manual_delete");
    assert_eq!(asked("2026-11-20T11:02:00.1Z"), "cloud.spot_reclaimed");
}

#[test]
fn a_machine_that_shut_itself_down_is_off_until_it_is_started() {
    let asked = |more: &[String]| {
        let mut records = vec![made(), of_cloud("2026-11-20T09:00:00.1Z", "guestTerminate")];
        records.extend_from_slice(more);
        records.push(of_cloud("2026-11-20T12:00:00.1Z", "hostError"));
        verdict(&ask("swin", &[("audit.jsonl", records.join("\n"))]))
            .1
            .to_owned()
    };
    let method = "v1.compute.instances.start";
    let start = cloud(
        "2026-11-20T10:00:00.1Z",
        method,
        "ada@lab.example",
        ("on", true, true),
    );
    assert_eq!(asked(&[]), "node.shutdown");
    assert_eq!(asked(&[start]), "cloud.host_error");
}

#[test]
fn work_that_is_done_on_a_machine_that_runs_on_is_done() {
    let asked = |last: &str| {
        let records = [
            made(),
            of_cloud("2026-11-20T08:30:00.1Z", "hostError"),
            of_cloud("2026-11-20T08:33:00.1Z", "automaticRestart"),
        ];
        let log = format!("{}[2026-11-20 09:00:05] {last}\n", steps(60));
        let answer = ask(
            "swin",
            &[
                ("audit.jsonl", records.join("\n")),
                ("box-1/train.log", log),
            ],
        );
        verdict(&answer).0.to_owned()
    };
    assert_eq!(asked("Training finished"), "completed");
    assert_eq!(asked("step 181 loss 2.1"), "running");
}

#[test]
fn an_exit_code_that_may_be_a_signal_is_no_error_of_the_program() {
    let asked = |code: &str| {
        let job = format!("901|train|FAILED|{code}|2026-11-20T08:00:00|2026-11-20T09:00:02|n1");
        verdict(&ask("901", &[("sacct.txt", text(&[ACCOUNTS, &job]))]))
            .1
            .to_owned()
    };
    assert_eq!(asked("1:0"), "code.exception");
    assert_eq!(asked("9:0"), "unknown");
    assert_eq!(asked("15:0"), "unknown");
}

#[test]
fn a_job_whose_node_could_not_be_made_ready_waits_again() {
    let answer = ask(
        "901",
        &[(
            "slurmctld.log",
            text(&[
                "[2026-11-20T08:00:00.300] sched: Allocate JobId=901 NodeList=n1 #CPUs=96 Partition=gpu",
                "[2026-11-20T08:00:02.300] error: validate_node_specs: Prolog or job env setup failure on node n1, draining the node",
                "[2026-11-20T08:00:02.400] Requeuing JobId=901",
            ]),
        )],
    );
    assert_eq!(verdict(&answer).0, "pending", "{answer:#}");
}

#[test]
fn a_structured_log_is_read_whatever_its_text_is_called() {
    let line = |level: &str, rest: &str| {
        format!(r#"{{"timestamp": "2026-11-20T08:00:00Z", "level": "{level}", {rest}}}"#)
    };
    let log = text(&[
        &line("info", r#""event": "step", "step": 1, "loss": 2.5"#),
        &line(
            "critical",
            r#""event": "uncaught", "exception": "Traceback (most recent call last):\n  File \"t.py\", line 3, in <module>\nKeyError: 'labels'""#,
        ),
    ]);
    assert_eq!(
        verdict(&ask("train", &[("train.log", log)])).1,
        "code.exception"
    );
}

#[test]
fn a_machine_that_could_not_be_had_is_known_by_the_tags_that_it_was_to_bear() {
    let call = json!({ "Records": [{
        "eventVersion": "1.09", "eventTime": "2026-11-20T08:00:00Z", "eventSource": "ec2.amazonaws.com",
        "eventName": "RunInstances", "awsRegion": "eu-west-1", "recipientAccountId": "111122223333", "eventID": "e-1",
        "readOnly": false, "userIdentity": { "type": "IAMUser", "userName": "ada", "accountId": "111122223333" },
        "requestParameters": { "instanceType": "p5.48xlarge", "tagSpecificationSet": { "items": [
            { "resourceType": "instance", "tags": [{ "key": "Name", "value": "swin-0" }, { "key": "experiment", "value": "swin" }] } ] } },
        "responseElements": null, "errorCode": "Server.InsufficientInstanceCapacity", "errorMessage": "No capacity.",
    }] });
    let answer = ask("swin", &[("trail.json", call.to_string())]);
    let (state, cause, _, _) = verdict(&answer);
    assert_eq!((state, cause), ("pending", "cloud.capacity_exhausted"));
}

/// What one rank writes of its own error.
const RANK_FAILED: &str = "[rank3]: Traceback (most recent call last):\n\
    [rank3]:   File \"/home/alice/train.py\", line 118, in main\n\
    [rank3]:     item = items[n]\n\
    [rank3]: IndexError: list index out of range\n";

#[test]
fn what_is_left_of_a_run_of_which_a_rank_failed_is_not_to_blame_on_who_ends_it() {
    let preempted = "slurmstepd: error: *** JOB 901 ON n1 CANCELLED AT 2026-11-20T14:00:02 DUE TO PREEMPTION ***\n";
    let killed = "slurmstepd: error: Detected 1 oom_kill event in StepId=901.0. Some of the step tasks have been OOM Killed.\n";
    for (broke, expected) in [(RANK_FAILED, "code.exception"), (killed, "code.host_oom")] {
        let found = wrote("PREEMPTED", steps(120) + broke + preempted, "");
        assert_eq!(found.0, expected);
        // Steps that follow show that the run got over it.
        let later = steps(350).replace(&steps(120), "");
        let found = wrote("PREEMPTED", steps(120) + broke + &later + preempted, "");
        assert_eq!(found.0, "sched.preempted", "{broke}");
    }
}

#[test]
fn nor_is_who_ends_what_is_left_of_a_service() {
    let acts = [
        (
            "sudo: dora : TTY=pts/0 ; PWD=/home/dora ; USER=root ; COMMAND=/usr/bin/kill -9 4711",
            "code=killed, status=9/KILL",
        ),
        (
            "sudo: dora : TTY=pts/0 ; PWD=/home/dora ; USER=root ; COMMAND=/usr/bin/systemctl stop train",
            "code=killed, status=15/TERM",
        ),
        (
            "systemd[1]: train.service: Service reached runtime time limit. Stopping.",
            "code=killed, status=15/TERM",
        ),
    ];
    let cause = |log: &str, act: &str, ended: &str| {
        let journal = [
            "2026-11-20T08:00:00+00:00 n1 systemd[1]: Started train.service - LLM training."
                .to_owned(),
            format!("2026-11-20T10:20:00+00:00 n1 {act}"),
            "2026-11-20T10:20:00+00:00 n1 systemd[1]: Stopping train.service - LLM training..."
                .to_owned(),
            format!(
                "2026-11-20T10:20:01+00:00 n1 systemd[1]: train.service: Main process exited, {ended}"
            ),
        ];
        let log = format!("[2026-11-20 08:00:00] starting rank=0 world_size=8 pid=4711\n{log}");
        let answer = ask(
            "train.log",
            &[
                ("n1/train.log", log),
                ("n1/syslog", journal.join("\n") + "\n"),
            ],
        );
        verdict(&answer).1.to_owned()
    };
    for (act, ended) in acts {
        let failed = cause(&(steps(120) + RANK_FAILED), act, ended);
        assert_eq!(failed, "code.exception", "{act}");
        let worked = cause(&steps(139), act, ended);
        assert_ne!(worked, "code.exception", "{act}");
        assert_ne!(worked, "unknown", "{act}");
    }
}

#[test]
fn a_journal_without_years_is_by_the_clock_of_the_service_s_own_log() {
    let cause = |nfs: &str, stop: &str, zone: &str| {
        let journal = [
            "Nov 20 08:00:00 n1 systemd[1]: Started LLM training.".to_owned(),
            format!("Nov 20 {nfs} n1 kernel: nfs: server filer1 not responding, still trying"),
            format!(
                "Nov 20 {stop} n1 sudo[47]: dora : TTY=pts/0 ; PWD=/home/dora ; USER=root ; COMMAND=/usr/bin/systemctl stop train"
            ),
            format!("Nov 20 {stop} n1 systemd[1]: Stopping LLM training..."),
            format!(
                "Nov 20 {stop} n1 systemd[1]: train.service: Main process exited, code=killed, status=15/TERM"
            ),
        ];
        let log = steps(120).replace(']', &format!("{zone}]"));
        let files = [
            ("n1/train.log", log),
            ("n1/messages", journal.join("\n") + "\n"),
        ];
        let answer = ask("train.log", &files);
        let (_, cause, level, _) = verdict(&answer);
        (cause.to_owned(), level.to_owned())
    };
    let hung = cause("10:00:02", "10:20:00", "");
    assert_eq!(hung, ("dep.storage".to_owned(), "supported".to_owned()));
    // It had been back for long, for the steps went on.
    assert_eq!(cause("09:00:02", "10:00:01", "").0, "ops.manual_delete");
    // A log that names its zone may be by another clock: nothing of that is established.
    assert_ne!(cause("10:00:02", "10:20:00", "Z").1, "established");
}

#[test]
fn who_stops_a_service_that_a_rotated_journal_says_had_ended_did_not_end_it() {
    let before = text(&[
        "Nov 20 08:00:00 n1 systemd: Started LLM training.",
        "Nov 20 10:00:01 n1 kernel: Task in /system.slice/train.service killed as a result of limit of /system.slice/train.service",
        "Nov 20 10:00:01 n1 kernel: Memory cgroup out of memory: Kill process 8916 (python3) score 1950 or sacrifice child",
        "Nov 20 10:00:01 n1 kernel: Killed process 8916 (python3) total-vm:91800576kB, anon-rss:45900288kB, file-rss:12kB, shmem-rss:0kB",
        "Nov 20 10:00:01 n1 systemd: train.service: main process exited, code=killed, status=9/KILL",
    ]);
    let after = text(&[
        "Nov 20 10:02:00 n1 chronyd[84]: Selected source 10.0.0.1",
        "Nov 20 10:04:00 n1 sudo[47]: dora : TTY=pts/0 ; PWD=/home/dora ; USER=root ; COMMAND=/usr/bin/systemctl stop train",
    ]);
    let answer = ask(
        "train.log",
        &[
            ("n1/train.log", steps(120)),
            ("n1/messages-20261120", before),
            ("n1/messages", after),
        ],
    );
    assert_eq!(verdict(&answer).1, "code.host_oom");
}

#[test]
fn a_stop_that_is_under_way_is_over_with_what_follows_the_last_step() {
    let azure = |at: &str, status: &str| {
        json!({
            "eventTimestamp": at, "submissionTimestamp": at, "correlationId": "c-1", "eventDataId": at,
            "category": { "value": "Administrative" }, "level": "Informational", "caller": "eve@lab.example",
            "operationName": { "value": "Microsoft.Compute/virtualMachines/delete" }, "status": { "value": status },
            "resourceId": "/subscriptions/1f2e3d4c-0000-4000-8000-aabbccddeeff/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/box-1",
            "resourceType": { "value": "Microsoft.Compute/virtualMachines" },
            "subscriptionId": "1f2e3d4c-0000-4000-8000-aabbccddeeff", "properties": {},
        })
    };
    let scheduled = json!({ "DocumentIncarnation": 1, "Events": [{
        "EventId": "45ad0b7b-0870-1787-8ee5-affcf9b03f83", "EventType": "Terminate", "ResourceType": "VirtualMachine",
        "Resources": ["box-1"], "EventStatus": "Started", "NotBefore": "Fri, 20 Nov 2026 09:59:30 GMT",
        "Description": "", "EventSource": "User", "DurationInSeconds": -1,
    }] });
    let activity = json!({ "value": [azure("2026-11-20T09:59:45Z", "Started"), azure("2026-11-20T10:01:00Z", "Succeeded")] });
    let answer = ask(
        "box-1",
        &[
            ("scheduled-events.json", scheduled.to_string()),
            ("azure.json", activity.to_string()),
            ("box-1/train.log", steps(120)),
        ],
    );
    assert_eq!(verdict(&answer).1, "ops.manual_delete", "{answer:#}");
}

#[test]
fn what_another_program_on_the_machine_failed_with_did_not_end_what_worked_on() {
    let delete = |first| {
        let method = "v1.compute.instances.delete";
        cloud(
            "2026-11-20T10:00:00.1Z",
            method,
            "eve@lab.example",
            ("gone", first, !first),
        )
    };
    let failed = |at: &str| {
        format!(
            "[2026-11-20 08:00:01] waiting for checkpoints\n[2026-11-20 {at}] evaluation failed\n{TRACEBACK}"
        )
    };
    let cause = |log: &str, other: &str, at: &str| {
        let records = [made(), delete(true), delete(false)];
        let answer = ask(
            "swin",
            &[
                ("audit.jsonl", records.join("\n")),
                (&format!("box-1/{log}"), steps(120)),
                (&format!("box-1/{other}"), failed(at)),
            ],
        );
        verdict(&answer).1.to_owned()
    };
    assert_eq!(
        cause("train.log", "eval.log", "09:30:00"),
        "ops.manual_delete"
    );
}

const TRACEBACK: &str = "Traceback (most recent call last):\n  File \"/home/alice/eval.py\", line 31, in main\n    x = batch[\"pixel_values\"]\nKeyError: 'pixel_values'\n";

#[test]
fn a_program_that_ended_before_its_machine_went_down_was_not_ended_by_who_deletes_it() {
    let delete = |first| {
        let method = "v1.compute.instances.delete";
        cloud(
            "2026-11-20T10:00:02.1Z",
            method,
            "eve@lab.example",
            ("gone", first, !first),
        )
    };
    let cause = |ended: &str, how: &str| {
        let records = [made(), delete(true), delete(false)];
        let journal = text(&[
            "2026-11-20T08:00:00+00:00 box-1 systemd[1]: Started train.service - LLM training.",
            "2026-11-20T10:00:04+00:00 box-1 systemd-logind[700]: The system will power off now!",
            &format!(
                "2026-11-20T{ended}+00:00 box-1 systemd[1]: train.service: Main process exited, {how}"
            ),
            "2026-11-20T10:00:09+00:00 box-1 systemd[1]: Shutting down.",
        ]);
        let answer = ask(
            "swin",
            &[
                ("audit.jsonl", records.join("\n")),
                ("box-1/train.log", steps(120)),
                ("box-1/journal.log", journal),
            ],
        );
        verdict(&answer).1.to_owned()
    };
    assert_eq!(
        cause("10:00:00", "code=killed, status=9/KILL"),
        "unknown",
        "nobody knows who killed it"
    );
    assert_eq!(
        cause("10:00:05", "code=killed, status=15/TERM"),
        "ops.manual_delete"
    );
}
