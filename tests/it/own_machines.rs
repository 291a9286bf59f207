//! Programs on machines of their own, and batch jobs: whose a record is, what a machine or Slurm did to them, and what
//! only looks like it.

use serde_json::{Value, json};

use super::unseen::{SACCT, ask, text, verdict};

/// A log with a step every half a minute of the hour before eleven, and what follows it.
fn log(rest: &[&str]) -> String {
    let step = |number: usize| {
        let (minute, second) = (number / 2, number % 2 * 30);
        format!("2026-11-23 10:{minute:02}:{second:02},000 INFO step {number} loss 2.1")
    };
    let mut lines: Vec<String> = (0..120).map(step).collect();
    lines.extend(rest.iter().map(|line| (*line).to_owned()));
    lines.join("\n") + "\n"
}

fn cause_and_level(answer: &Value) -> (String, String) {
    let (_, cause, level, _) = verdict(answer);
    (cause.to_owned(), level.to_owned())
}

fn is(cause: &str, level: &str) -> (String, String) {
    (cause.to_owned(), level.to_owned())
}

fn main_of<'a>(answer: &'a Value, key: &str) -> &'a str {
    answer["incidents"][0][key].as_str().unwrap_or_default()
}

fn actor(answer: &Value) -> &str {
    let actor = &answer["incidents"][0]["actor"];
    actor["name"].as_str().unwrap_or_default()
}

/// Slurm gives a job that it puts back into the queue a later begin: that is not why it does not run.
#[test]
fn a_job_that_waits_after_it_was_preempted_waits_for_that() {
    let asked = |reason: &str| {
        let waits = format!(
            "610|610|scav|mia|PENDING|0:0|2026-11-23T10:30:00|Unknown|Unknown|1|None assigned|{reason}"
        );
        ask(
            "610",
            &[
                (
                    "sacct.txt",
                    text(&[
                        SACCT,
                        "610|610|scav|mia|PREEMPTED|0:0|2026-11-23T09:59:00|2026-11-23T10:00:00|2026-11-23T10:30:00|1|g1|None",
                        &waits,
                    ]),
                ),
                (
                    "slurmctld.log",
                    text(&[
                        "[2026-11-23T10:00:00.000] sched: Allocate JobId=610 NodeList=g1 #CPUs=8 Partition=gpu",
                        "[2026-11-23T10:30:00.000] preempted JobId=610 has been requeued to reclaim resources for JobId=640",
                        "[2026-11-23T10:30:01.000] Requeuing JobId=610",
                    ]),
                ),
            ],
        )
    };
    for reason in ["BeginTime", "Resources"] {
        let answer = asked(reason);
        assert_eq!(
            cause_and_level(&answer),
            is("sched.preempted", "established"),
            "{reason}: {answer:#}"
        );
        assert_eq!(answer["runs"][0]["state"], "pending");
    }
    // What a person has it wait for is a reason of its own.
    assert_eq!(verdict(&asked("JobHeldUser")).1, "ops.config_change");
}

#[test]
fn clocks_that_differ_keep_a_job_from_being_launched() {
    let asked = |controller: &[&str]| {
        ask(
            "714",
            &[
                (
                    "sacct.txt",
                    text(&[
                        SACCT,
                        "714|714|pt|mia|FAILED|1:0|2026-11-23T09:59:00|2026-11-23T10:00:00|2026-11-23T10:00:35|2|g[1-2]|None",
                    ]),
                ),
                (
                    "slurmctld.log",
                    text(&[&["[2026-11-23T10:00:00.000] sched: Allocate JobId=714 NodeList=g[1-2] #CPUs=8 Partition=gpu"], controller].concat()),
                ),
                (
                    "slurm-714.out",
                    text(&[
                        "srun: error: Task launch for StepId=714.0 failed on node g2: Invalid job credential",
                        "srun: error: Application launch failed: Invalid job credential",
                        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
                    ]),
                ),
            ],
        )
    };
    let refused = |node: &str, why: &str| {
        format!(
            "[2026-11-23T10:00:20.030] error: slurm_unpack_received_msg: [[{node}]:41022] auth_g_verify: REQUEST_COMPLETE_PROLOG has authentication error: {why}"
        )
    };
    let answer = asked(&[&refused("g2", "Rewound credential")]);
    assert_eq!(
        cause_and_level(&answer),
        is("node.clock", "supported"),
        "{answer:#}"
    );
    // Another machine's clock, and a message that came twice, are not why.
    for other in [
        refused("g7", "Rewound credential"),
        refused("g2", "Replayed credential"),
    ] {
        assert_eq!(verdict(&asked(&[&other])).1, "node.launch_failed");
    }
}

#[test]
fn a_node_that_was_to_be_started_and_did_not_come_up_had_not_fallen_silent() {
    let asked = |line: &str| {
        ask(
            "723",
            &[
                (
                    "sacct.txt",
                    text(&[
                        SACCT,
                        "723|723|pt|mia|NODE_FAIL|0:0|2026-11-23T09:59:00|2026-11-23T10:00:00|2026-11-23T10:10:20|2|c[1-2]|None",
                    ]),
                ),
                (
                    "slurmctld.log",
                    text(&[
                        "[2026-11-23T10:00:00.000] sched: Allocate JobId=723 NodeList=c[1-2] #CPUs=8 Partition=cloud",
                        line,
                        "[2026-11-23T10:10:15.100] Killing JobId=723 on failed node c2",
                    ]),
                ),
            ],
        )
    };
    let answer = asked(
        "[2026-11-23T10:10:15.000] node c2 not resumed by ResumeTimeout(600), setting DOWN and POWERED_DOWN",
    );
    assert_eq!(verdict(&answer).1, "node.launch_failed", "{answer:#}");
    let silent = asked("[2026-11-23T10:10:15.000] error: Nodes c2 not responding, setting DOWN");
    assert_eq!(verdict(&silent).1, "node.not_ready");
}

#[test]
fn what_a_job_was_not_given_its_step_cannot_have() {
    let asked = |said: &str| {
        let line = format!("srun: error: Unable to create step for job 715: {said}");
        ask(
            "715",
            &[
                (
                    "sacct.txt",
                    text(&[
                        SACCT,
                        "715|715|pt|mia|FAILED|1:0|2026-11-23T09:59:00|2026-11-23T10:00:00|2026-11-23T10:00:04|1|g1|None",
                    ]),
                ),
                ("slurm-715.out", text(&[&line])),
            ],
        )
    };
    let answer = asked("Invalid generic resource (gres) specification");
    assert_eq!(
        cause_and_level(&answer),
        is("code.config_or_input", "supported"),
        "{answer:#}"
    );
    let ending = asked("Job/step already completing or completed");
    assert_ne!(verdict(&ending).1, "code.config_or_input");
}

/// Wrongly asked for, or gone: where the controller counts fewer on that node then, one is gone.
#[test]
fn a_gpu_that_the_controller_misses_on_the_node_is_one_that_the_program_did_not_find() {
    let asked = |line: &str| {
        let answer = ask(
            "733",
            &[
                (
                    "sacct.txt",
                    text(&[
                        SACCT,
                        "733|733|pt|mia|FAILED|1:0|2026-11-23T09:59:00|2026-11-23T10:00:00|2026-11-23T10:05:30|1|g12|None",
                    ]),
                ),
                (
                    "slurmctld.log",
                    text(&[
                        "[2026-11-23T10:00:00.000] sched: Allocate JobId=733 NodeList=g12 #CPUs=8 Partition=gpu",
                        line,
                    ]),
                ),
                (
                    "slurm-733.out",
                    text(&[
                        "2026-11-23 10:05:20,000 INFO loading",
                        "[rank7]: Traceback (most recent call last):",
                        "[rank7]:   File \"train.py\", line 5, in <module>",
                        "[rank7]: RuntimeError: CUDA error: invalid device ordinal",
                    ]),
                ),
            ],
        );
        verdict(&answer).1.to_owned()
    };
    let fewer = |node: &str| {
        format!(
            "[2026-11-23T10:05:00.000] error: Setting node {node} state to INVAL with reason:gres/gpu count reported lower than configured (7 < 8)"
        )
    };
    assert_eq!(asked(&fewer("g12")), "hw.gpu");
    assert_eq!(asked(&fewer("g13")), "code.config_or_input");
}

/// Slurm 22.05 writes 0 for the code of a job that failed, and for that of its script.
#[test]
fn a_job_that_failed_with_nothing_ended_as_its_worst_step_did() {
    let asked = |derived: &Value| {
        let none = json!({ "status": "SUCCESS", "return_code": 0 });
        let job = json!({
            "job_id": 904, "name": "segv", "user": "mia", "nodes": "g1", "state": { "current": "FAILED", "reason": "None" },
            "time": { "submission": 1_795_254_000, "start": 1_795_255_200, "end": 1_795_255_260 },
            "exit_code": none, "derived_exit_code": derived,
            "steps": [{ "exit_code": none, "state": "FAILED", "step": { "job_id": 904, "id": "batch", "name": "batch" }, "time": { "start": 1_795_255_200, "end": 1_795_255_260 } }],
        });
        let said = json!({ "meta": { "plugin": { "type": "openapi/dbv0.0.38" }, "Slurm": { "release": "22.05.8" } }, "errors": [], "jobs": [job] });
        verdict(&ask("904", &[("sacct.json", said.to_string())]))
            .1
            .to_owned()
    };
    let crashed = json!({ "status": "SIGNALED", "return_code": null, "signal": { "signal_id": 11, "name": "Segmentation fault" } });
    assert_eq!(asked(&crashed), "code.segfault");
    assert_ne!(
        asked(&json!({ "status": "SUCCESS", "return_code": 0 })),
        "code.segfault"
    );
}

/// What a library complains of names no machine; the kernel does that saw the link go.
#[test]
fn the_machine_whose_link_failed_is_named_by_its_kernel() {
    let asked = |machine: &str| {
        let kernel = format!(
            "2026-11-23T10:59:50+0000 {machine} kernel: mlx5_core 0000:5c:00.0 ib0: Link down"
        );
        let output = log(&[
            "g1:9001:9120 [0] transport/net_ib.cc:110 NCCL WARN NET/IB : mlx5_0:1 Got async event : port error",
            "srun: error: g2: task 8: Exited with exit code 1",
        ]);
        let answer = ask(
            "741",
            &[
                (
                    "sacct.txt",
                    text(&[
                        SACCT,
                        "741|741|pt|mia|FAILED|1:0|2026-11-23T09:59:00|2026-11-23T10:00:00|2026-11-23T11:00:00|2|g[1-2]|None",
                    ]),
                ),
                (&format!("{machine}/kern.log"), text(&[&kernel])),
                ("slurm-741.out", output),
            ],
        );
        assert_eq!(verdict(&answer).1, "hw.nic", "{machine}: {answer:#}");
        main_of(&answer, "summary").to_owned()
    };
    assert!(asked("g2").contains("network link of g2 "));
    assert!(!asked("g7").contains("g7"));
}

const LIMIT: &str = "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=docker-0a1b.scope,mems_allowed=0-1,oom_memcg=/system.slice/docker-0a1b.scope,task_memcg=/system.slice/docker-0a1b.scope";

fn kill(process: &str) -> [String; 2] {
    [
        format!("{LIMIT},task={process},pid=8812,uid=0"),
        format!(
            "Memory cgroup out of memory: Killed process 8812 ({process}) total-vm:99220044kB, anon-rss:67000044kB, file-rss:0kB, UID:0 pgtables:240000kB oom_score_adj:0"
        ),
    ]
}

/// A shell's `Killed` names no process; the kernel of the machine does.
#[test]
fn a_process_that_its_machines_kernel_killed_at_a_limit_ran_out_of_memory() {
    let journal = |process: &str, at: &str| {
        let lines = kill(process).map(|line| format!("{at} rig-7 kernel: {line}"));
        lines.join("\n") + "\n"
    };
    let ring = |at: &str| {
        let lines = kill("python").map(|line| format!("[Mon Nov 23 {at} 2026] {line}"));
        lines.join("\n") + "\n"
    };
    let asked = |file: &str, said: String| {
        ask(
            "train",
            &[("rig-7/train.log", log(&["Killed"])), (file, said)],
        )
    };
    for (file, said) in [
        (
            "rig-7/journal.txt",
            journal("python", "2026-11-23T10:59:50+0000"),
        ),
        // A machine that its log does not name is the one whose log lies beside it.
        ("rig-7/dmesg.txt", ring("10:59:50")),
    ] {
        let answer = asked(file, said);
        assert_eq!(
            cause_and_level(&answer),
            is("code.host_oom", "supported"),
            "{file}: {answer:#}"
        );
    }
    for (file, said) in [
        // Another program's process, another time, another machine.
        (
            "rig-7/journal.txt",
            journal("chrome", "2026-11-23T10:59:50+0000"),
        ),
        (
            "rig-7/journal.txt",
            journal("python", "2026-11-23T10:20:00+0000"),
        ),
        ("rig-8/dmesg.txt", ring("10:59:50")),
    ] {
        let answer = asked(file, said);
        assert_eq!(verdict(&answer).2, "unknown", "{file}: {answer:#}");
    }
}

#[test]
fn a_kernels_log_without_a_name_is_of_the_machine_of_the_log_beside_it() {
    const CRASH: [&str; 3] = [
        "Traceback (most recent call last):",
        "  File \"train.py\", line 99, in <module>",
        "RuntimeError: CUDA error: unspecified launch failure",
    ];
    const RING: &str = "[Mon Nov 23 10:59:50 2026] NVRM: Xid (PCI:0000:41:00): 79, pid=3301, name=python, GPU has fallen off the bus.";
    let asked = |rings: &[&str]| {
        let mut files = vec![("rig-4/train.log", log(&CRASH))];
        files.extend(rings.iter().map(|file| (*file, text(&[RING]))));
        verdict(&ask("train", &files)).1.to_owned()
    };
    assert_eq!(asked(&["rig-4/dmesg.txt"]), "hw.gpu");
    for other in [
        &["rig-5/dmesg.txt"][..],
        // Of two kernels in one folder nobody can say which one is meant.
        &["rig-4/dmesg-a.txt", "rig-4/dmesg-b.txt"],
    ] {
        assert_eq!(asked(other), "code.exception", "{other:?}");
    }
}

const INSTANCE: &str = "i-0aa11aa11aa11aa11";

fn trail(name: &str, at: &str, more: &Value) -> String {
    let mut record = json!({
        "eventVersion": "1.11", "eventTime": at, "eventSource": "ec2.amazonaws.com", "eventName": name,
        "awsRegion": "us-east-1", "eventType": "AwsApiCall", "recipientAccountId": "123456789012",
        "eventID": "33153f3a-25c1-4b6f-9d0e-6a1f7a0b9b11", "readOnly": false,
        "userIdentity": { "type": "IAMUser", "arn": "arn:aws:iam::123456789012:user/zed", "userName": "zed", "accountId": "123456789012" },
        "requestParameters": { "instancesSet": { "items": [{ "instanceId": INSTANCE }] } },
    });
    for (key, value) in more.as_object().unwrap() {
        record[key] = value.clone();
    }
    json!({ "Records": [record] }).to_string()
}

fn refused_end() -> String {
    trail(
        "TerminateInstances",
        "2026-11-23T10:30:00Z",
        &json!({ "errorCode": "Client.UnauthorizedOperation", "errorMessage": "You are not authorized to perform this operation." }),
    )
}

/// On EC2 a machine calls itself `ip-10-0-0-7`; the folder says which instance it is.
#[test]
fn files_in_a_folder_of_an_instances_id_are_of_that_instance() {
    let journal = |host: &str| {
        text(&[
            &format!(
                "2026-11-23T10:59:50+0000 {host} systemd-logind[611]: The system will reboot now!"
            ),
            &format!(
                "2026-11-23T10:59:58+0000 {host} systemd[1]: Reached target reboot.target - System Reboot."
            ),
        ])
    };
    let inside = |file: &str| format!("{INSTANCE}/{file}");
    let asked = |said: String| {
        ask(
            INSTANCE,
            &[
                ("trail.json", refused_end()),
                (&inside("train.log"), log(&[])),
                (&inside("journal.txt"), said),
            ],
        )
    };
    let answer = asked(journal("ip-10-0-0-7"));
    let (state, cause, _, _) = verdict(&answer);
    assert_eq!((state, cause), ("failed", "node.reboot"), "{answer:#}");
    // What a log of several machines tells is not all about the one whose folder it lies in.
    let several = asked(journal("ip-10-0-0-8") + &journal("ip-10-0-0-9"));
    assert_eq!(verdict(&several).1, "none.running", "{several:#}");
}

#[test]
fn a_program_of_an_instance_that_is_known_by_its_id_ended_by_its_own_log() {
    let file = format!("{INSTANCE}/train.log");
    let said = log(&[
        "Traceback (most recent call last):",
        "  File \"train.py\", line 99, in <module>",
        "OSError: [Errno 28] No space left on device",
    ]);
    let answer = ask(INSTANCE, &[("trail.json", refused_end()), (&file, said)]);
    assert_eq!(verdict(&answer).1, "dep.storage", "{answer:#}");
    assert_eq!(actor(&answer), "");
}

#[test]
fn a_program_whose_terminal_closed_has_ended() {
    let asked = |rest: &[&str]| {
        let answer = ask("train", &[("train.log", log(rest))]);
        let (state, _, level, _) = verdict(&answer);
        (state.to_owned(), level.to_owned())
    };
    assert_eq!(asked(&["Hangup"]), is("failed", "unknown"));
    let went_on = asked(&[
        "Hangup",
        "2026-11-23 11:10:00,000 INFO step 140 loss 2.0",
        "2026-11-23 11:10:30,000 INFO step 141 loss 2.0",
        "2026-11-23 11:11:00,000 INFO step 142 loss 2.0",
        "2026-11-23 11:20:00,000 INFO step 160 loss 2.0",
    ]);
    assert_eq!(went_on.0, "unknown");
    let other = asked(&["2026-11-23 11:00:00,000 INFO Received SIGHUP, reloading the data"]);
    assert_eq!(other.0, "unknown");
}

fn gcp(method: &str, id: &str, at: &str, by: &str, log: &str) -> Value {
    json!({
        "protoPayload": {
            "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
            "authenticationInfo": { "principalEmail": by },
            "serviceName": "compute.googleapis.com", "methodName": method,
            "resourceName": "projects/ml/zones/us-central1-a/instances/vm-2",
        },
        "insertId": format!("{id}{at}"),
        "resource": { "type": "gce_instance", "labels": { "zone": "us-central1-a", "project_id": "ml", "instance_id": id } },
        "timestamp": at, "severity": "NOTICE",
        "logName": format!("projects/ml/logs/cloudaudit.googleapis.com%2F{log}"),
        "operation": { "id": format!("o{at}"), "producer": "compute.googleapis.com", "first": true, "last": true },
    })
}

#[test]
fn who_switched_a_machine_off_at_its_own_shell_is_named() {
    let ended = gcp(
        "compute.instances.guestTerminate",
        "881",
        "2026-11-23T10:59:59Z",
        "system@google.com",
        "system_event",
    );
    let asked = |command: &str| {
        let sudo = format!(
            "2026-11-23T10:59:35+0000 vm-2 sudo[22011]:      pia : TTY=pts/0 ; PWD=/home/pia ; USER=root ; COMMAND={command}"
        );
        ask(
            "vm-2",
            &[
                ("gcp.json", json!([ended]).to_string()),
                ("vm-2/train.log", log(&[])),
                ("vm-2/journal.txt", text(&[&sudo])),
            ],
        )
    };
    let answer = asked("/usr/sbin/shutdown -h now");
    assert_eq!(verdict(&answer).1, "node.shutdown", "{answer:#}");
    assert_eq!(actor(&answer), "pia");
    assert_eq!(actor(&asked("/usr/sbin/shutdown -c")), "");
}

#[test]
fn an_error_of_its_own_code_ended_a_program_however_soon_its_machine_went() {
    let error = |text: &str| {
        log(&[
            "Traceback (most recent call last):",
            "  File \"/w/train.py\", line 4, in <module>",
            "    main()",
            text,
        ])
    };
    let asked = |method: &str, at: &str, text: &str| {
        let gone = gcp(method, "882", at, "system@google.com", "system_event");
        let files = [
            ("gcp.json", json!([gone]).to_string()),
            ("vm-2/train.log", error(text)),
        ];
        verdict(&ask("vm-2", &files)).1.to_owned()
    };
    for method in [
        "compute.instances.hostError",
        "compute.instances.guestTerminate",
        "compute.instances.preempted",
    ] {
        for at in ["2026-11-23T10:59:50Z", "2026-11-23T11:09:50Z"] {
            let own = asked(method, at, "KeyError: 'sw'");
            assert_eq!(own, "code.exception", "{method} at {at}");
        }
    }
    // What a machine that fails does to a program.
    let device = "RuntimeError: CUDA error: unspecified launch failure";
    let host = asked(
        "compute.instances.hostError",
        "2026-11-23T10:59:50Z",
        device,
    );
    assert_eq!(host, "cloud.host_error");
}

#[test]
fn who_asked_for_it_some_minutes_before_is_named() {
    let asked = |sudo: &str| {
        let journal = text(&[
            sudo,
            "2026-11-23T10:59:50+0000 rig-3 systemd-logind[700]: The system will power off now!",
            "2026-11-23T10:59:50+0000 rig-3 systemd-logind[700]: System is powering down.",
        ]);
        let files = [
            ("rig-3/train.log", log(&[])),
            ("rig-3/journal.txt", journal),
        ];
        let answer = ask("train", &files);
        assert_eq!(verdict(&answer).1, "node.shutdown", "{sudo}: {answer:#}");
        actor(&answer).to_owned()
    };
    let line = |at: &str, command: &str| {
        format!(
            "2026-11-23T{at}+0000 rig-3 sudo[7711]:   carol : TTY=pts/2 ; PWD=/home/carol ; USER=root ; COMMAND=/usr/sbin/shutdown {command}"
        )
    };
    assert_eq!(asked(&line("10:54:50", "-h +5 rack maintenance")), "carol");
    // For another time, or called off.
    assert_eq!(asked(&line("10:14:50", "-h +5 rack maintenance")), "");
    assert_eq!(asked(&line("10:54:50", "-c")), "");
}

/// Megatron's rerun machine ends a program whose GPU computes wrongly, and says of its end what it says of any.
#[test]
fn who_ends_for_a_gpu_that_computes_wrongly_is_not_done() {
    let asked = |word: &str, rest: &[&str]| {
        let found = format!(
            "WARNING:megatron.core.rerun_state_machine:Rank 11, node g4, device 3, iteration #900: Possible {word} error!"
        );
        let mut lines = vec![found.as_str()];
        lines.extend(rest);
        let answer = ask("train", &[("train.log", log(&lines))]);
        let (state, cause, level, _) = verdict(&answer);
        (state.to_owned(), cause.to_owned(), level.to_owned())
    };
    let wrong = (
        "failed".to_owned(),
        "hw.silent_corruption".to_owned(),
        "supported".to_owned(),
    );
    const EXITS: &str = "[exiting program at iteration 900] datetime: 2026-11-23 11:00:05 ";
    assert_eq!(asked("persistent", &[]), wrong);
    assert_eq!(asked("persistent", &[EXITS]), wrong);
    assert_eq!(asked("transient", &[EXITS]).0, "completed");
}

#[test]
fn a_container_that_is_made_anew_of_a_newer_image_was_stopped_for_that() {
    let asked = |container: &str| {
        let journal = text(&[
            "2026-11-23T10:30:00+0000 box-9 systemd[1]: Started docker.service - Docker Application Container Engine.",
            "2026-11-23T10:59:30+0000 box-9 dockerd[1201]: time=\"2026-11-23T10:59:30Z\" level=info msg=\"ignoring event\"",
            "2026-11-23T10:59:40+0000 box-9 watchtower[5511]: time=\"2026-11-23T10:59:40Z\" level=info msg=\"Found new lab/train:latest image (9f8e7d6c5b4a)\"",
            &format!(
                "2026-11-23T10:59:45+0000 box-9 watchtower[5511]: time=\"2026-11-23T10:59:45Z\" level=info msg=\"Stopping /{container} (0a1b2c3d4e5f) with SIGTERM\""
            ),
        ]);
        let files = [
            ("box-9/train.log", log(&[])),
            ("box-9/journal.txt", journal),
        ];
        let answer = ask("train", &files);
        let (state, cause, _, _) = verdict(&answer);
        (state.to_owned(), cause.to_owned())
    };
    assert_eq!(asked("train"), is("failed", "ops.config_change"));
    assert_eq!(asked("grafana").0, "unknown");
}

/// A name is borne by one machine after another: its log is that of the one that was there when it was written.
#[test]
fn a_log_is_of_the_machine_that_bore_the_name_then() {
    let of = |method: &str, id: &str, at: &str| {
        let by = "mia@corp.example";
        gcp(method, id, at, by, "activity")
    };
    let records = json!([
        of("v1.compute.instances.insert", "100", "2026-11-21T08:00:00Z"),
        of("v1.compute.instances.delete", "100", "2026-11-22T10:00:00Z"),
        of("v1.compute.instances.insert", "101", "2026-11-23T09:00:00Z"),
        of("v1.compute.instances.stop", "101", "2026-11-23T11:00:00Z"),
    ]);
    let files = [
        ("gcp.json", records.to_string()),
        ("vm-2/train.log", log(&[])),
    ];
    let answer = ask("vm-2", &files);
    assert_eq!(main_of(&answer, "cause"), "ops.manual_delete", "{answer:#}");
    let of_run = |incident: &Value| incident["said"]["last_step"]["step"].clone();
    let incidents = answer["incidents"].as_array().unwrap();
    let told: Vec<Value> = incidents.iter().map(of_run).collect();
    assert_eq!(told, [json!(119), Value::Null], "{answer:#}");
}

/// A virtual machine's user has no audit log of Kubernetes.
#[test]
fn nobody_is_sent_to_kubernetes_for_what_did_not_run_there() {
    let sources = |files: &[(&str, String)], name: &str| {
        let answer = ask(name, files);
        let told = answer["coverage"].as_array().unwrap().clone();
        let of = |row: &Value| row["source"].as_str().unwrap_or_default().to_owned();
        let lacks = |row: &&Value| row["status"] == "not_configured";
        let mut found: Vec<String> = told.iter().filter(lacks).map(of).collect();
        let would = answer["incidents"][0]["would_have_told"].as_array();
        found.extend(would.into_iter().flatten().map(Value::to_string));
        found.join("; ")
    };
    let job = text(&[
        SACCT,
        "715|715|pt|mia|FAILED|1:0|2026-11-23T09:59:00|2026-11-23T10:00:00|2026-11-23T10:40:04|1|g1|None",
    ]);
    let told = sources(&[("sacct.txt", job)], "715");
    assert!(
        !told.contains("kubernetes") && told.contains("node_logs"),
        "{told}"
    );
    // A log alone may be that of a pod.
    let alone = sources(&[("train.log", log(&["Killed"]))], "train");
    assert!(alone.contains("kubernetes"), "{alone}");
}
