//! Logs of which nothing else is known: whose they are, who of a gang was first, and what in them is no failure of their program.

use serde_json::Value;

use super::unseen::{SACCT, ask, text, verdict};

/// The times of so many steps, ten seconds apart, and what follows.
fn steps(count: u32, end: &[&str]) -> String {
    let steps = (0..count).map(|step| {
        let (minute, second) = (step / 6, step % 6 * 10);
        format!("2026-12-01 08:{minute:02}:{second:02},000 INFO step {step} loss 2.5")
    });
    let end = end.iter().map(|line| (*line).to_owned());
    steps.chain(end).collect::<Vec<_>>().join("\n") + "\n"
}

fn main_incident(answer: &Value) -> &Value {
    &answer["incidents"][0]
}

fn first(answer: &Value) -> &str {
    main_incident(answer)["first_victim"]["pod"]
        .as_str()
        .unwrap_or_default()
}

fn summary(answer: &Value) -> &str {
    main_incident(answer)["summary"]
        .as_str()
        .unwrap_or_default()
}

/// A language model prints what it read: an error between lines of a text may be anybody's.
#[test]
fn an_error_amid_a_text_is_no_more_than_a_guess() {
    let sample = [
        "2026-12-01 08:03:30,000 INFO sample:",
        "User: my script ends with",
        "Traceback (most recent call last):",
        "  File \"a.py\", line 3, in <module>",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    ];
    let cut = |after: &[&str]| {
        let end = [&sample[..], after].concat();
        ask("solo", &[("solo.log", steps(20, &end))])
    };
    let quoted = cut(&["Assistant: make the batch smaller."]);
    assert_eq!(verdict(&quoted).2, "hypothesis", "{quoted:#}");
    assert_eq!(
        verdict(&quoted).0,
        "unknown",
        "it may have gone on: {quoted:#}"
    );
    // What launchers and tools write after a failure is no text.
    for after in [
        "wandb: You can sync this run",
        "srun: error: n1: task 0: Exited with exit code 1",
    ] {
        let failed = cut(&[after]);
        assert_eq!(verdict(&failed).2, "supported", "{after}: {failed:#}");
    }
    let own = [&sample[..1], &sample[2..], &["The job has ended at last."]].concat();
    let own = ask("solo", &[("solo.log", steps(20, &own))]);
    assert_eq!(verdict(&own).2, "supported", "{own:#}");
}

/// Names of any kind: what ties them is that they make each step together, and that some miss another.
#[test]
fn who_steps_together_and_misses_another_is_of_one_run() {
    const LOST: &str = "2026-12-01 08:04:05,000 ERROR torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error";
    let names = ["run-0.log", "run-1.log", "run-2.log"];
    let ends = [
        LOST,
        LOST,
        "2026-12-01 08:03:25,000 ERROR ValueError: no sample is left",
    ];
    let files: Vec<_> = names
        .into_iter()
        .zip(ends)
        .map(|(name, end)| (name, steps(20, &[end])))
        .collect();
    let answer = ask("run", &files);
    assert_eq!(
        answer["runs"].as_array().map(Vec::len),
        Some(1),
        "{answer:#}"
    );
    assert_eq!(first(&answer), "run-2.log", "{answer:#}");
    // Of a sweep each may fail by itself.
    let alone = "2026-12-01 08:04:05,000 ERROR ValueError: no sample is left";
    let files = names.map(|name| (name, steps(20, &[alone])));
    let answer = ask("*", &files);
    assert_eq!(
        answer["runs"].as_array().map(Vec::len),
        Some(3),
        "{answer:#}"
    );
}

#[test]
fn an_error_is_told_of_the_log_that_holds_it() {
    let other = [
        "Traceback (most recent call last):",
        "  File \"/app/t.py\", line 3, in <module>",
        "AssertionError: peers are gone",
        "2026-12-01 08:05:00,000 INFO [rank 0] done with it",
    ];
    let own = [
        "2026-12-01 08:03:15,000 ERROR [rank 1] Traceback (most recent call last):",
        "  File \"/app/t.py\", line 9, in <module>",
        "ValueError: bad sample 17",
    ];
    let files = [
        ("job/rank0.log", steps(20, &other)),
        ("job/rank1.log", steps(20, &own)),
    ];
    let answer = ask("job", &files);
    assert!(
        summary(&answer).starts_with("rank1.log failed"),
        "{answer:#}"
    );
}

/// What a logger writes with an error has that error's time.
#[test]
fn a_traceback_below_a_logged_error_is_of_its_time() {
    let crashed = [
        "2026-12-01 08:03:20,000 ERROR [rank 0] crashed",
        "Traceback (most recent call last):",
        "  File \"/app/t.py\", line 3, in <module>",
        "IndexError: list index out of range",
    ];
    let followed = [
        "2026-12-01 08:04:40,000 ERROR [rank 1] Traceback (most recent call last):",
        "  File \"/app/t.py\", line 9, in <module>",
        "ValueError: a peer's state is missing",
    ];
    let files = [
        ("job/rank0.log", steps(20, &crashed)),
        ("job/rank1.log", steps(20, &followed)),
    ];
    let answer = ask("job", &files);
    assert_eq!(first(&answer), "rank0.log", "{answer:#}");
    assert_eq!(main_incident(&answer)["time"], "2026-12-01T08:03:20Z");
}

const RESET: &str = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:538] Read error [10.0.0.4]:26517: Connection reset by peer";

/// The output of a rank that lost another.
fn lost(rank: u32) -> String {
    let head = format!("[rank{rank}]: Traceback (most recent call last):");
    let frame = format!("[rank{rank}]:   File \"/app/t.py\", line 9, in <module>");
    let named = format!("[rank{rank}]: {RESET}");
    steps(20, &[&head, &frame, &named])
}

#[test]
fn whose_log_just_ends_while_all_others_lost_another_is_the_first() {
    let files = [
        ("job/rank0.log", lost(0)),
        ("job/rank1.log", lost(1)),
        ("job/rank2.log", steps(20, &[])),
    ];
    let answer = ask("job", &files);
    assert_eq!(first(&answer), "rank2.log", "{answer:#}");
    assert_eq!(verdict(&answer).1, "unknown", "{answer:#}");
    // Of two that are silent, either may have been.
    let files = [
        ("job/rank0.log", lost(0)),
        ("job/rank1.log", steps(20, &[])),
        ("job/rank2.log", steps(20, &[])),
    ];
    let answer = ask("job", &files);
    assert_eq!(first(&answer), "rank0.log", "{answer:#}");
    // Who says that all was done did not break.
    let done = steps(20, &["2026-12-01 08:03:15,000 INFO training finished"]);
    let files = [
        ("job/rank0.log", lost(0)),
        ("job/rank1.log", lost(1)),
        ("job/rank2.log", done),
    ];
    let answer = ask("job", &files);
    assert_ne!(first(&answer), "rank2.log", "{answer:#}");
}

#[test]
fn a_launcher_s_own_log_tells_of_the_ranks_below_it() {
    let launcher = text(&[
        "2026-12-01 07:59:50,000 INFO starting",
        "2026-12-01 08:03:25,000 ERROR failed (exitcode: -9) local_rank: 2 (pid: 430) of binary: /usr/bin/python3",
        "Root Cause (first observed failure):",
        "[0]:",
        "  time      : 2026-12-01_08:03:20",
        "  host      : localhost",
        "  rank      : 2 (local_rank: 2)",
        "  exitcode  : -9 (pid: 430)",
        "  error_file: <N/A>",
        "  traceback : Signal 9 (SIGKILL) received by PID 430",
        "============================================================",
    ]);
    let files = [
        ("in/torchrun.log", launcher),
        ("in/rd/attempt_0/0/stderr.log", lost(0)),
        ("in/rd/attempt_0/1/stderr.log", lost(1)),
        ("in/rd/attempt_0/2/stderr.log", steps(20, &[])),
    ];
    let answer = ask("*", &files);
    assert_eq!(
        answer["runs"].as_array().map(Vec::len),
        Some(1),
        "{answer:#}"
    );
    assert_eq!(answer["runs"][0]["name"], "rd");
    assert_eq!(main_incident(&answer)["first_victim"]["rank"], 2);
    assert!(
        summary(&answer).contains("signal 9"),
        "{}",
        summary(&answer)
    );
}

/// Two processes that write to one stream at once.
#[test]
fn tracebacks_that_are_mixed_up_have_a_name_each() {
    let mixed = [
        "Traceback (most recent call last):",
        "  File \"/app/t.py\", line 10, in <module>",
        "Traceback (most recent call last):",
        "  File \"/app/t.py\", line 10, in <module>",
        "    main()",
        "    main()",
        "AssertionError: wrong shape",
        "  File \"/app/lib.py\", line 81, in wrapper",
        "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3356, remote process exited or there was a network error",
    ];
    let answer = ask("solo", &[("solo.log", steps(20, &mixed))]);
    assert_eq!(verdict(&answer).1, "code.exception", "{answer:#}");
    assert!(
        summary(&answer).contains("AssertionError: wrong shape"),
        "{}",
        summary(&answer)
    );
    // Cut off before its last line, it has no name.
    let answer = ask("solo", &[("solo.log", steps(20, &mixed[..2]))]);
    assert!(
        !summary(&answer).contains("Traceback"),
        "{}",
        summary(&answer)
    );
}

/// A container's log may be in UTC, and what accounting prints in its cluster's zone.
#[test]
fn a_job_s_log_in_another_zone_is_of_the_job() {
    let failed = [
        "Traceback (most recent call last):",
        "  File \"/app/t.py\", line 88, in main",
        "KeyError: 'max_len'",
    ];
    let accounts = text(&[
        SACCT,
        "1024|1024|ours|al|FAILED|1:0|2026-12-01T16:00:00|2026-12-01T16:00:00|2026-12-01T16:03:30|1|n1|None",
    ]);
    let answer = ask(
        "1024",
        &[
            ("sacct.txt", accounts),
            ("slurm-1024.out", steps(20, &failed)),
        ],
    );
    assert_eq!(verdict(&answer).2, "supported", "{answer:#}");
    assert!(
        summary(&answer).contains("KeyError: 'max_len'"),
        "{}",
        summary(&answer)
    );
    assert_eq!(answer["incidents"].as_array().map(Vec::len), Some(1));
}

/// A library tells of a worker that is gone; what is cancelled as the cluster closes is no failure.
#[test]
fn what_the_closing_of_a_cluster_raises_is_no_cause() {
    let end = [
        "xgboost.core.XGBoostError: [08:03:12] /workspace/src/collective/result.cc:83: [histogram.h:197|08:03:12]:",
        "",
        "- [allreduce.cc:135|08:03:12]: Ring Allreduce failed.",
        "2026-12-01 08:03:20,000 - distributed.nanny - ERROR - ",
        "Traceback (most recent call last):",
        "  File \"/v/lib/python3.11/site-packages/distributed/nanny.py\", line 908, in _wait_until_connected",
        "_queue.Empty",
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        "Traceback (most recent call last):",
        "  File \"/v/lib/python3.11/asyncio/tasks.py\", line 649, in sleep",
        "asyncio.exceptions.CancelledError",
    ];
    let end = [
        &[
            "Traceback (most recent call last):",
            "  File \"/app/x.py\", line 18, in <module>",
        ][..],
        &end,
    ]
    .concat();
    let answer = ask("solo", &[("solo.log", steps(20, &end))]);
    assert_eq!(verdict(&answer).1, "unknown", "{answer:#}");
    assert!(
        summary(&answer).contains("lost contact"),
        "{}",
        summary(&answer)
    );
}

/// What had made no step for hours when its time was up had hung.
#[test]
fn more_time_does_not_help_what_has_hung() {
    let limit =
        "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-12-01T14:00:10 DUE TO TIME LIMIT ***";
    let ended = |at: &str| {
        let accounts = format!(
            "7|7|ours|al|TIMEOUT|0:0|2026-12-01T08:00:00|2026-12-01T08:00:00|{at}|1|n1|None"
        );
        let log = limit.replace("2026-12-01T14:00:10", at);
        ask(
            "7",
            &[
                ("sacct.txt", text(&[SACCT, &accounts])),
                ("slurm-7.out", steps(20, &[&log])),
            ],
        )
    };
    let hung = ended("2026-12-01T14:00:10");
    assert_eq!(verdict(&hung).1, "code.deadline", "{hung:#}");
    assert!(summary(&hung).contains("hung"), "{}", summary(&hung));
    let worked = ended("2026-12-01T08:03:15");
    assert!(!summary(&worked).contains("hung"), "{}", summary(&worked));
}

/// A log that is copied from a running program ends anywhere, also behind an error that it had got over each time before.
#[test]
fn what_a_program_got_over_each_time_before_need_not_have_ended_it() {
    let caught = |minute: u32| {
        format!(
            "2026-12-01 08:{minute:02}:05,000 WARNING upload failed, ignoring\n\
             Traceback (most recent call last):\n  \
             File \"/workspace/train.py\", line 301, in upload\n    put()\n\
             ConnectionError: refused"
        )
    };
    let log = |times: u32| {
        let of_minute = |minute: u32| {
            let steps = (1..5).map(move |of| {
                format!(
                    "2026-12-01 08:{minute:02}:{:02},000 INFO step {} loss 2.5",
                    of * 10,
                    minute * 4 + of
                )
            });
            steps.collect::<Vec<_>>().join("\n")
        };
        let minutes =
            (0..times).map(|minute| format!("{}\n{}\n", caught(minute), of_minute(minute)));
        minutes.collect::<String>() + &caught(times) + "\n"
    };
    let habit = ask("upload", &[("upload.log", log(8))]);
    assert_eq!(verdict(&habit).0, "unknown", "{habit:#}");
    assert_ne!(verdict(&habit).1, "code.exception", "{habit:#}");
    // Told for the first time it is the last that is known of the program.
    let once = [steps(20, &[]), caught(9)].concat() + "\n";
    let once = ask("once", &[("once.log", once)]);
    assert_eq!(verdict(&once).1, "code.exception", "{once:#}");
}
