//! Programs on a machine of one's own: what systemd, the kernel and administrators do to a service or to the machine
//! under it, where the log of the program says nothing of that.

use super::unseen::{ask, text, verdict};

const STEPS: &[&str] = &[
    "[2026-10-02 09:58:20] step 850 loss 2.9450",
    "[2026-10-02 09:58:40] step 860 loss 2.9420",
    "[2026-10-02 09:59:00] step 870 loss 2.9390",
    "[2026-10-02 09:59:20] step 880 loss 2.9360",
    "[2026-10-02 09:59:40] step 890 loss 2.9330",
];

/// State and cause of a log, where its machine's journal holds these lines, and the log ends with these.
fn told(journal: &[&str], last: &[&str]) -> (String, String) {
    let begin = ["2026-10-02T09:00:00+00:00 m3 systemd[1]: Started train.service - Training."];
    let lines: Vec<String> = begin
        .iter()
        .chain(journal)
        .map(|line| (*line).to_owned())
        .collect();
    let files = [
        ("m3/train.log", text(&[STEPS, last].concat())),
        ("m3/journal.log", lines.join("\n") + "\n"),
    ];
    let answer = ask("train", &files);
    let (state, cause, _, _) = verdict(&answer);
    (state.to_owned(), cause.to_owned())
}

#[test]
fn a_log_ends_with_the_machine_under_it() {
    let reboot = [
        "2026-10-02T10:00:02+00:00 m3 systemd-logind[700]: The system will reboot now!",
        "2026-10-02T10:00:05+00:00 m3 systemd[1]: Shutting down.",
    ];
    let failed = ("failed".to_owned(), "node.reboot".to_owned());
    assert_eq!(told(&reboot, &[]), failed);
    let panic =
        ["2026-10-02T10:00:00+00:00 m3 kernel: Kernel panic - not syncing: Fatal exception"];
    assert_eq!(told(&panic, &[]).1, "node.kernel_panic");
    // One that wrote on after that was not on it then, and one that had been silent for long had ended before.
    let later = ["[2026-10-02 10:07:00] step 900 loss 2.9300"];
    assert_ne!(told(&reboot, &later).0, "failed");
    let long_after =
        ["2026-10-02T12:00:02+00:00 m3 systemd-logind[700]: The system will reboot now!"];
    assert_ne!(told(&long_after, &[]).0, "failed");
}

#[test]
fn what_a_step_follows_was_survived_until_the_machine_panicked() {
    let panic =
        ["2026-10-02T10:00:06+00:00 m3 kernel: Kernel panic - not syncing: Fatal exception"];
    let caught = [
        "[2026-10-02 09:59:50] upload failed, will retry",
        "Traceback (most recent call last):",
        "  File \"/home/alice/upload.py\", line 31, in push",
        "ConnectionError: HTTPSConnectionPool(host='tracker', port=443): Read timed out.",
    ];
    let step = ["[2026-10-02 10:00:00] step 900 loss 2.9300"];
    assert_eq!(
        told(&panic, &[&caught[..], &step].concat()).1,
        "node.kernel_panic"
    );
    assert_eq!(told(&panic, &caught).1, "code.exception");
}

#[test]
fn what_systemd_says_of_a_service_is_about_the_log_of_its_name() {
    let cases = [
        (
            "systemd[1]: train.service: Service reached runtime time limit. Stopping.",
            "code.deadline",
        ),
        (
            "systemd[1]: train.service: Watchdog timeout (limit 5min)!",
            "hang.watchdog",
        ),
        (
            "systemd[1]: train.service: A process of this unit has been killed by the OOM killer.",
            "code.host_oom",
        ),
        (
            "systemd[1]: train.service: systemd-oomd killed 12 process(es) in this unit.",
            "node.system_oom",
        ),
        (
            "sudo[77]:   carol : TTY=pts/2 ; PWD=/home/carol ; USER=root ; COMMAND=/usr/bin/systemctl stop train.service",
            "ops.manual_delete",
        ),
    ];
    for (line, cause) in cases {
        let journal = [
            format!("2026-10-02T10:00:00+00:00 m3 {line}"),
            "2026-10-02T10:00:01+00:00 m3 systemd[1]: Stopping train.service - Training..."
                .to_owned(),
        ];
        let lines: Vec<&str> = journal.iter().map(String::as_str).collect();
        let found = told(&lines, &[]);
        assert_eq!(
            (found.0.as_str(), found.1.as_str()),
            ("failed", cause),
            "{line}"
        );
        // The same of another service is nothing to it.
        let other: Vec<String> = journal
            .iter()
            .map(|line| line.replace("train.service", "backup.service"))
            .collect();
        let lines: Vec<&str> = other.iter().map(String::as_str).collect();
        assert_ne!(told(&lines, &[]).0, "failed", "{line}");
    }
}

#[test]
fn who_stopped_a_service_is_told_as_far_as_the_journal_knows() {
    let stopping = "2026-10-02T10:00:00+00:00 m3 systemd[1]: Stopping train.service - Training...";
    assert_eq!(told(&[stopping], &[]).1, "ops.manual_delete");
    let upgrade = "2026-10-02T09:59:50+00:00 m3 systemd[1]: Starting apt-daily-upgrade.service - Daily apt upgrade and clean activities...";
    assert_eq!(told(&[upgrade, stopping], &[]).1, "ops.node_upgrade");
    // Somebody did so while it was upgraded.
    let asked = "2026-10-02T09:59:59+00:00 m3 sudo[7]: carol : TTY=pts/2 ; PWD=/home/carol ; USER=root ; COMMAND=/usr/bin/systemctl restart train.service";
    assert_eq!(
        told(&[upgrade, asked, stopping], &[]).1,
        "ops.manual_delete"
    );
    let ended = |signal: &str| {
        format!(
            "2026-10-02T10:00:00+00:00 m3 systemd[1]: train.service: Main process exited, code=killed, status={signal}"
        )
    };
    let kill = "2026-10-02T09:59:59+00:00 m3 sudo[7]: carol : TTY=pts/2 ; PWD=/home/carol ; USER=root ; COMMAND=/usr/bin/kill -9 3301";
    assert_eq!(told(&[kill, &ended("9/KILL")], &[]).1, "ops.manual_delete");
    // It ended on another signal, or long after.
    assert_ne!(told(&[kill, &ended("11/SEGV")], &[]).1, "ops.manual_delete");
    let before = kill.replace("09:59:59", "09:50:59");
    assert_eq!(told(&[&before, &ended("9/KILL")], &[]).1, "unknown");
}

#[test]
fn a_container_s_description_tells_how_its_log_ended() {
    let inspected = |name: &str, killed: bool| {
        let state = format!(
            r#"[{{"Id": "ab", "Name": "/{name}", "State": {{"Status": "exited", "Running": false, "OOMKilled": {killed}, "ExitCode": 137, "FinishedAt": "2026-10-02T10:00:00.5Z"}}}}]"#
        );
        let answer = ask(
            "train",
            &[("train.log", text(STEPS)), ("inspect.json", state)],
        );
        let (state, cause, _, _) = verdict(&answer);
        (state.to_owned(), cause.to_owned())
    };
    let failed = |cause: &str| ("failed".to_owned(), cause.to_owned());
    assert_eq!(inspected("train", true), failed("code.host_oom"));
    assert_eq!(inspected("train", false), failed("unknown"));
    assert_ne!(inspected("web", true).0, "failed");
}

#[test]
fn who_had_failed_is_not_stopped_by_a_later_reboot() {
    let traceback = [
        "Traceback (most recent call last):",
        "  File \"train.py\", line 60, in main",
        "KeyError: 'attn_mask'",
    ];
    let journal = [
        "2026-10-02T10:20:00+00:00 m3 systemd[1]: Stopping train.service - Training...",
        "2026-10-02T10:20:02+00:00 m3 systemd-logind[700]: The system will reboot now!",
    ];
    assert_ne!(told(&journal, &traceback).1, "node.reboot");
}

/// What others refuse is told by the exceptions of many libraries, and none of them is the program's own doing.
#[test]
fn an_exception_is_what_it_says_and_not_what_its_library_calls_it() {
    let of = |last: &[&str]| {
        let trace = [
            "Traceback (most recent call last):",
            "  File \"train.py\", line 44, in step",
        ];
        let answer = ask(
            "train.log",
            &[("train.log", text(&[STEPS, &trace, last].concat()))],
        );
        let (_, cause, level, _) = verdict(&answer);
        format!("{cause} {level}")
    };
    let cases: [(&[&str], &str); 7] = [
        (
            &[
                "tracker.errors.TrackerException: API request failed with HTTPConnectionPool(host='tracker', port=80): \
               Max retries exceeded with url: /log (Caused by ResponseError('too many 503 error responses'))",
            ],
            "dep.service supported",
        ),
        (
            &[
                "OSError: You are trying to access a gated repo.",
                "403 Client Error. (Request ID: Root=1-66)",
            ],
            "dep.secret_or_config supported",
        ),
        (
            &[
                "RuntimeError: [enforce fail at alloc_cpu.cpp:83] err == 0. DefaultCPUAllocator: can't allocate memory: \
               you tried to allocate 51539607552 bytes. Error code 12 (Cannot allocate memory)",
            ],
            "code.host_oom supported",
        ),
        (
            &[
                "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized",
            ],
            "node.driver supported",
        ),
        // A task or its machine went away; which, and why, this log does not know.
        (
            &["jaxlib.xla_extension.XlaRuntimeError: UNAVAILABLE: Socket closed"],
            "unknown unknown",
        ),
        // Not asked for, hidden, or gone: the log does not say.
        (
            &["RuntimeError: No CUDA GPUs are available"],
            "code.config_or_input hypothesis",
        ),
        (
            &["ValueError: shapes do not match"],
            "code.exception supported",
        ),
    ];
    for (last, expected) in cases {
        assert_eq!(of(last), expected, "{last:?}");
    }
}

#[test]
fn ranks_that_do_not_find_each_other_want_no_service() {
    let answer = ask(
        "train.log",
        &[(
            "train.log",
            text(&[
                "[W1002 10:15:02.000000000 socket.cpp:697] [c10d] The client socket has failed to connect to [head-0]:29400 (errno: 110 - Connection timed out).",
                "Traceback (most recent call last):",
                "  File \"/usr/bin/torchrun\", line 8, in <module>",
                "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError",
            ]),
        )],
    );
    assert_eq!(verdict(&answer).1, "hang.rendezvous", "{answer:#}");
}

#[test]
fn what_prepares_a_program_may_give_up_before_it() {
    let of = |lines: &[&str]| {
        let answer = ask("train.log", &[("train.log", text(lines))]);
        let (state, cause, _, _) = verdict(&answer);
        format!("{state} {cause}")
    };
    let refused = [
        "Cloning into 'code'...",
        "git@git.example: Permission denied (publickey).",
        "fatal: Could not read from remote repository.",
        "",
        "Please make sure you have the correct access rights",
        "and the repository exists.",
    ];
    assert_eq!(of(&refused), "failed dep.secret_or_config");
    let unresolved = [
        "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('<HTTPSConnection>: Failed to \
         establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/einops/",
        "ERROR: Could not find a version that satisfies the requirement einops==0.8 (from versions: none)",
        "ERROR: No matching distribution found for einops==0.8",
    ];
    assert_eq!(of(&unresolved), "failed dep.dns");
    let no_interface = [
        "Traceback (most recent call last):",
        "  File \"train.py\", line 44, in main",
        "torch.distributed.DistBackendError: NCCL error in: ../ProcessGroupNCCL.cpp:268, internal error, NCCL version 2.21.5",
        "ncclInternalError: Internal check failed.",
        "Last error:",
        "Bootstrap : no socket interface found",
    ];
    assert_eq!(of(&no_interface), "failed code.config_or_input");
}

#[test]
fn who_was_stopped_and_went_on_was_not_ended_by_that() {
    let alice = "2026-10-02T09:58:30+00:00 m3 sudo[77]: alice : TTY=pts/2 ; PWD=/home/alice ; USER=root ; COMMAND=/usr/bin/systemctl";
    let failed = [
        "[2026-10-02 09:59:41] ERROR",
        "Traceback (most recent call last):",
        "  File \"train.py\", line 7, in <module>",
        "KeyError: 'lr'",
    ];
    let exit = "2026-10-02T09:59:42+00:00 m3 systemd[1]: train.service: Main process exited, code=exited, status=1/FAILURE";
    // Started again it made steps; a signal that asks for a checkpoint ends nothing.
    for verb in [
        "restart train.service",
        "kill --signal=USR1 train.service",
        "kill --kill-who=main -s SIGUSR2 train.service",
    ] {
        let asked = format!("{alice} {verb}");
        let (state, cause) = told(&[&asked, exit], &failed);
        assert_eq!((&*state, &*cause), ("failed", "code.exception"), "{verb}");
    }
    // A process that ended before is not the one that a signal ended last.
    let first = "2026-10-02T09:58:10+00:00 m3 systemd[1]: train.service: Main process exited, code=exited, status=1/FAILURE";
    let (state, _) = told(&[first], &[]);
    assert_ne!(state, "failed");
}

#[test]
fn who_stops_a_service_after_a_boot_did_not_end_what_ran_before() {
    let journal = [
        "2026-10-02T10:00:00+00:00 m3 kernel: Kernel panic - not syncing: Fatal exception",
        "2026-10-02T10:01:30+00:00 m3 kernel: Linux version 6.8.0-41-generic (builder@lab) #41 SMP",
        "2026-10-02T10:02:00+00:00 m3 sudo[77]: alice : TTY=pts/2 ; PWD=/home/alice ; USER=root ; COMMAND=/usr/bin/systemctl stop train.service",
    ];
    assert_eq!(told(&journal, &[]).1, "node.kernel_panic");
}
