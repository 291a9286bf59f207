//! What launchers and frameworks say of the processes that they started.

use serde_json::Value;

use super::unseen::{ask, text, verdict};

/// The answer about a log that is all there is.
fn log(end: &[&str]) -> Value {
    let mut lines = vec![
        "2026-12-01 08:00:00,000 INFO step 10 loss 2.5",
        "2026-12-01 08:10:00,000 INFO step 20 loss 2.4",
    ];
    lines.extend(end);
    ask("solo", &[("solo.log", text(&lines))])
}

fn summary(answer: &Value) -> &str {
    answer["incidents"][0]["summary"]
        .as_str()
        .unwrap_or_default()
}

#[test]
fn megatron_says_why_it_ends_before_its_last_step() {
    let ended = |how: &str| log(&[&format!("[{how}] datetime: 2026-12-01 08:10:05 ")]);
    for own in [
        "exiting program at iteration 20",
        "exiting program after 10.1 minutes",
    ] {
        let answer = ended(own);
        assert_eq!(verdict(&answer).0, "completed", "{answer:#}");
        assert_eq!(answer["incidents"][0]["title"], "Ended by its own settings");
        assert!(
            summary(&answer).contains("after step 20"),
            "{}",
            summary(&answer)
        );
    }
    let asked = ended("exiting program after receiving SIGTERM.");
    assert_eq!(verdict(&asked).0, "failed", "{asked:#}");
    assert!(summary(&asked).contains("SIGTERM"), "{}", summary(&asked));
    let done = ended("after training is done");
    assert_ne!(done["incidents"][0]["title"], "Ended by its own settings");
}

/// The number of a signal below zero is how launchers tell of a crash.
#[test]
fn a_launcher_tells_of_a_crash_by_its_signal() {
    let failed = |code: i32| {
        log(&[
            "[rank2]:[W1201 08:10:14.166114205 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=82, addr=[gn11]:48566, remote=[gn10]:29500): Connection reset by peer",
            &format!(
                "E1201 08:10:15.980000 417 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: {code}) local_rank: 5 (pid: 430) of binary: /usr/bin/python3"
            ),
        ])
    };
    let (crashed, other) = (failed(-11), failed(1));
    assert_eq!(verdict(&crashed).1, "code.segfault", "{crashed:#}");
    assert_eq!(verdict(&crashed).2, "hypothesis", "{crashed:#}");
    assert_ne!(verdict(&other).1, "code.segfault", "{other:#}");
}

/// torchrun ends the others once one has failed, and lists them.
#[test]
fn whom_torchrun_stopped_itself_nobody_asked_to_stop() {
    let listed = |root: i32| {
        log(&[
            "E1201 08:10:13.980000 417 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 3) local_rank: 1 (pid: 431) of binary: /usr/bin/python3",
            "Failures:",
            "[1]:",
            "  time      : 2026-12-01_08:10:12",
            "  rank      : 0 (local_rank: 0)",
            "  exitcode  : -15 (pid: 430)",
            "  error_file: <N/A>",
            "  traceback : Signal 15 (SIGTERM) received by PID 430",
            "------------------------------------------------------------",
            "Root Cause (first observed failure):",
            "[0]:",
            "  time      : 2026-12-01_08:10:12",
            "  host      : gn11",
            "  rank      : 1 (local_rank: 1)",
            &format!("  exitcode  : {root} (pid: 431)"),
            "  error_file: <N/A>",
            "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html",
        ])
    };
    let answer = listed(3);
    assert!(
        !summary(&answer).contains("SIGTERM"),
        "{}",
        summary(&answer)
    );
    assert!(
        summary(&answer).contains("rank 1 ended with exit code 3"),
        "{}",
        summary(&answer)
    );
}

#[test]
fn a_node_of_ray_that_was_taken_away_did_not_stop_responding() {
    let died = |why: &str| {
        log(&[
            "2026-12-01 08:20:00,000 ERROR trial failed",
            "Traceback (most recent call last):",
            "  File \"/w/tune.py\", line 12, in <module>",
            "    ray.get(refs)",
            "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
            "The actor died because its node has died. Node Id: 77ab",
            &format!("\tthe actor's node was {why}"),
        ])
    };
    for expected in [
        "terminated expectedly: received SIGTERM",
        "preempted: spot interruption",
    ] {
        let answer = died(expected);
        let (_, cause, level, _) = verdict(&answer);
        assert_eq!(
            (cause, level),
            ("ops.node_drained", "hypothesis"),
            "{answer:#}"
        );
    }
    let lost =
        died("terminated unexpectedly: health check failed due to missing too many heartbeats");
    assert_eq!(verdict(&lost).1, "node.not_ready", "{lost:#}");
}

#[test]
fn which_peer_was_lost_is_named() {
    let mpi = log(&[
        "mpirun noticed that process rank 6 with PID 4310 on node gn12 exited on signal 9 (Killed).",
    ]);
    assert!(
        summary(&mpi).contains("rank 6 on gn12 was ended by signal 9"),
        "{}",
        summary(&mpi)
    );
    let gloo = log(&[
        "Traceback (most recent call last):",
        "  File \"/w/fit.py\", line 31, in fit",
        "    dist.barrier()",
        "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.4.0.9]:4711",
    ]);
    assert!(summary(&gloo).contains("10.4.0.9"), "{}", summary(&gloo));
}

/// Who waited in what, of one group, and of the last hang alone.
#[test]
fn ranks_of_other_groups_and_hangs_did_not_wait_with_the_first() {
    let hang = |rank: u32, at: &str, op: &str, group: u32| {
        format!(
            "[rank{rank}]:[E1201 {at}.166114205 ProcessGroupNCCL.cpp:629] [PG ID 1 PG GUID {group}(TP) Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, OpType={op}, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600036 milliseconds before timing out."
        )
    };
    let step = "2026-12-01 08:00:00,000 INFO step 10 loss 2.5".to_owned();
    let file = |lines: &[String]| lines.join("\n") + "\n";
    let answer = ask(
        "tp",
        &[
            (
                "tp/rank0.log",
                file(&[step.clone(), hang(0, "08:10:01", "ALLREDUCE", 5)]),
            ),
            (
                "tp/rank1.log",
                file(&[step.clone(), hang(1, "08:10:01", "ALLREDUCE", 5)]),
            ),
            (
                "tp/rank2.log",
                file(&[step.clone(), hang(2, "08:10:02", "_ALLGATHER_BASE", 7)]),
            ),
            (
                "tp/rank3.log",
                file(&[step.clone(), hang(3, "08:10:02", "_ALLGATHER_BASE", 7)]),
            ),
        ],
    );
    let waited = &answer["incidents"][0]["said"]["collective"];
    assert_eq!(waited["op"], "ALLREDUCE", "{answer:#}");
    assert_eq!(waited["waiting"], serde_json::json!([0, 1]), "{answer:#}");
    assert_eq!(
        waited["missing"].as_array().map(Vec::len),
        Some(0),
        "{answer:#}"
    );
}

/// What a rank writes that misses another one.
const PEER_LOST: &str = "gn11:486514:486651 [1] include/socket.h:403 NCCL WARN Connect to 10.148.3.247<56821> failed : Connection refused";
/// And one that misses the store in which ranks meet.
const STORE_LOST: &str = "[rank2]:[W1201 08:10:14.166114205 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=82, addr=[gn11]:48566, remote=[gn10]:29500): Connection reset by peer";

/// torchrun's table, of which the first failure ended with a code.
fn table(code: i32, text: &str) -> Vec<String> {
    [
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
        "============================================================",
        "train.py FAILED",
        "------------------------------------------------------------",
        "Failures:",
        "[1]:",
        "  time      : 2026-12-01_08:10:15",
        "  host      : gn11",
        "  rank      : 6 (local_rank: 2)",
        "  exitcode  : 1 (pid: 432)",
        "  error_file: <N/A>",
        "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html",
        "------------------------------------------------------------",
        "Root Cause (first observed failure):",
        "[0]:",
        "  time      : 2026-12-01_08:10:12",
        "  host      : gn11",
        "  rank      : 4 (local_rank: 0)",
        &format!("  exitcode  : {code} (pid: 430)"),
        "  error_file: <N/A>",
        &format!("  traceback : {text}"),
        "============================================================",
    ]
    .map(str::to_owned)
    .into()
}

fn after_a_loss(missed: &str, lines: &[String]) -> Value {
    let lines: Vec<&str> = std::iter::once(missed)
        .chain(lines.iter().map(String::as_str))
        .collect();
    log(&lines)
}

/// The rank that a launcher saw killed is named, and not that its peers missed it.
#[test]
fn a_rank_that_a_signal_ended_is_named_with_it() {
    let one = |line: &str| vec![line.to_owned()];
    for (lines, named) in [
        (
            table(-9, "Signal 9 (SIGKILL) received by PID 430"),
            "its rank 4 on gn11 was ended by signal 9 (SIGKILL)",
        ),
        (
            one(
                "E1201 08:10:15.980000 417 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: 5 (pid: 430) of binary: /usr/bin/python3",
            ),
            "its local rank 5 was ended by signal 9 (SIGKILL)",
        ),
        (
            vec![
                "srun: error: gn12: task 5: Killed".to_owned(),
                "srun: Job step aborted: Waiting up to 32 seconds for job step to finish."
                    .to_owned(),
                "srun: error: gn11: task 0: Terminated".to_owned(),
            ],
            "its rank 5 on gn12 was ended by signal 9 (SIGKILL)",
        ),
        (
            one(
                "[2026-12-01 08:10:15,101] [ERROR] [launch.py:325:sigkill_handler] ['/usr/bin/python', '-u', 'train.py', '--local_rank=3'] exits with return code = -9",
            ),
            "its local rank 3 was ended by signal 9 (SIGKILL)",
        ),
        (
            one(
                "mpirun noticed that process rank 6 with PID 4310 on node gn12 exited on signal 9 (Killed).",
            ),
            "its rank 6 on gn12 was ended by signal 9 (SIGKILL)",
        ),
        (
            one(
                "torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with signal SIGKILL",
            ),
            "its local rank 1 was ended by signal 9 (SIGKILL)",
        ),
    ] {
        // srun's lines have no times: whether its own stop came first, a rule does not know of them.
        let is_timed = !lines[0].starts_with("srun");
        for missed in [PEER_LOST, STORE_LOST]
            .into_iter()
            .take(1 + usize::from(is_timed))
        {
            let answer = after_a_loss(missed, &lines);
            let told = summary(&answer);
            assert!(told.contains(named), "{named}: {told}");
            assert!(!told.contains("lost contact"), "{told}");
            assert_eq!(verdict(&answer).2, "unknown", "{answer:#}");
        }
    }
}

/// A launcher also reports processes that gave up in turn, or that it stopped itself, and Ray lists what may have been.
#[test]
fn a_report_of_followers_names_nobody_who_was_killed() {
    let ray = "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file. There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high memory usage. (2) ray stop --force is called. (3) The worker is crashed unexpectedly due to SIGSEGV or other unexpected errors.";
    for lines in [
        table(
            1,
            "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html",
        ),
        table(-6, "Signal 6 (SIGABRT) received by PID 430"),
        vec![
            "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.".to_owned(),
            "srun: error: gn11: task 0: Killed".to_owned(),
        ],
        vec!["srun: error: gn11: tasks 0-3: Killed".to_owned()],
        vec![
            "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.".to_owned(),
            ray.to_owned(),
        ],
    ] {
        for missed in [PEER_LOST, STORE_LOST] {
            let answer = after_a_loss(missed, &lines);
            let told = summary(&answer);
            assert!(!told.contains("was ended by signal"), "{lines:?}: {told}");
        }
    }
}

/// Python ends with 1 on what nobody catches, as also who lost a peer does: another code is the program's own choice.
#[test]
fn a_rank_that_chose_its_exit_code_is_not_waited_for_without_a_reason() {
    let ended = |code: i32| {
        let gloo = "[rank0]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 8000ms for recv operation to complete";
        let table = table(code, "");
        let mut lines = vec![gloo];
        lines.extend(table.iter().map(String::as_str));
        log(&lines)
    };
    let own = ended(3);
    assert_eq!(verdict(&own).1, "code.exception", "{own:#}");
    assert!(summary(&own).contains("exit code 3"), "{}", summary(&own));
    assert_ne!(verdict(&ended(1)).1, "code.exception");
}

#[test]
fn a_terminal_that_closes_is_told_as_that() {
    let hung_up = log(&[
        "W1201 08:10:25.000000 4200 torch/distributed/elastic/agent/server/api.py:725] Received 1 death signal, shutting down workers",
        "W1201 08:10:25.100000 4200 torch/distributed/elastic/multiprocessing/api.py:908] Sending process 4301 closing signal SIGHUP",
        "Traceback (most recent call last):",
        "  File \"/opt/venv/bin/torchrun\", line 8, in <module>",
        "    sys.exit(main())",
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 4200 got signal: 1",
    ]);
    let (_, cause, level, _) = verdict(&hung_up);
    assert_eq!(
        (cause, level),
        ("ops.manual_delete", "hypothesis"),
        "{hung_up:#}"
    );
    assert!(
        summary(&hung_up).contains("SIGHUP"),
        "{}",
        summary(&hung_up)
    );
}

/// Open MPI names its processes by job and rank.
#[test]
fn the_rank_that_aborted_a_job_of_mpi_ended_it() {
    let aborted = log(&[
        "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD",
        "with errorcode 42.",
    ]);
    let (_, cause, level, _) = verdict(&aborted);
    assert_eq!(
        (cause, level),
        ("code.exception", "hypothesis"),
        "{aborted:#}"
    );
}
