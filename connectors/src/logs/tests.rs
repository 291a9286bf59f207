//! Whole logs through the stream.

use std::sync::Arc;

use super::*;
use crate::contract::LogLines;
use crate::event::Event;
use crate::observation::Observation;
use crate::time::{SECOND, Stamp, rfc3339};

fn source() -> LogSource {
    let mut source = LogSource {
        file: "x/train.log".into(),
        ..LogSource::default()
    };
    source.entities.namespace = Some("research".to_owned());
    source.entities.pod = Some("gpt2-0".to_owned());
    source
}

fn read_as(text: &str, source: LogSource, keep: LogLines) -> (Vec<Event>, u64) {
    let mut stream = LogStream::new(Arc::new(source), keep, 1 << 20);
    let mut out = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        stream.line(line, number, &mut out).unwrap();
    }
    stream.finish(&mut out);
    let mut events: Vec<Event> = out
        .into_iter()
        .map(|observation| match observation {
            Observation::Event(event) => *event,
            other => panic!("{other:?}"),
        })
        .collect();
    events.sort_by_key(|event| event.origin.line);
    (events, stream.left_out())
}

fn read(text: &str) -> Vec<Event> {
    read_as(text, source(), LogLines::default()).0
}

fn messages(events: &[Event]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event.message.as_deref().unwrap())
        .collect()
}

const TRACEBACK: &str = "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 300, in <module>\n    main()\n  File \"/workspace/train.py\", line 287, in main\n    step()\n  File \"/opt/conda/lib/python3.11/site-packages/torch/x.py\", line 1, in step\n    raise\nValueError: bad shape";

#[test]
fn cri_lines_are_unwrapped_and_their_pieces_joined() {
    let events = read(
        "2026-11-21T15:20:39.1Z stdout F one\n2026-11-21T15:20:40.1Z stderr P two \n2026-11-21T15:20:40.2Z stderr P three \n2026-11-21T15:20:40.3Z stderr F four\n2026-11-21T15:20:41Z stdout F \n2026-11-21T15:20:42Z stdout P open",
    );
    assert_eq!(messages(&events), ["one", "two three four", "open"]);
    assert_eq!(rfc3339(events[1].time.lo), "2026-11-21T15:20:40.100Z");
    assert_eq!(events[1].raw.lines().count(), 3);
    assert_eq!(events[0].entities.pod.as_deref(), Some("gpt2-0"));
    assert_eq!(events[0].attribute("time_inferred"), None);
}

#[test]
fn a_traceback_with_the_loggers_heading_on_each_line_is_one_event() {
    let heading = "(EngineCore_DP0 pid=2210) ERROR 11-21 15:20:41 [core.py:843] ";
    let repeated: Vec<String> = TRACEBACK
        .lines()
        .map(|line| format!("{heading}{line}"))
        .collect();
    let text = format!(
        "(EngineCore_DP0 pid=2210) ERROR 11-21 15:20:41 [core.py:843] EngineCore failed to start.\n{}\n{heading}done",
        repeated.join("\n")
    );
    let events = read(&text);
    assert_eq!(events.len(), 3);
    let found = &events[1];
    assert_eq!(
        found.message.as_deref(),
        Some(&*format!("{heading}{TRACEBACK}"))
    );
    assert_eq!(found.attribute("exception"), Some("ValueError"));
    assert_eq!(found.attribute("exception_message"), Some("bad shape"));
    assert_eq!(
        found.attribute("location"),
        Some("/workspace/train.py:287 in main")
    );
    assert_eq!(found.raw.lines().count(), 8);
}

#[test]
fn a_traceback_is_one_event() {
    let text = format!(
        "2026-11-21 15:20:39,000 INFO start\n{TRACEBACK}\n2026-11-21 15:20:45,000 INFO end rank=3"
    );
    let events = read(&text);
    assert_eq!(events.len(), 3);
    let found = &events[1];
    assert_eq!(found.message.as_deref(), Some(TRACEBACK));
    assert_eq!(found.attribute("exception"), Some("ValueError"));
    assert_eq!(found.attribute("exception_message"), Some("bad shape"));
    assert_eq!(
        found.attribute("location"),
        Some("/workspace/train.py:287 in main")
    );
    assert_eq!(found.attribute("time_inferred"), Some("previous"));
    assert_eq!(
        (found.time.lo, found.time.hi),
        (events[0].time.lo, events[2].time.hi)
    );
    assert_eq!(found.severity.as_deref(), Some("ERROR"));
    assert_eq!(
        (events[0].severity.as_deref(), events[2].rank),
        (Some("INFO"), Some(3))
    );
    assert_eq!(events[0].attribute("time_inferred"), Some("zone"));
}

#[test]
fn chained_tracebacks_are_one_event_and_the_first_is_the_root() {
    let text = format!(
        "{TRACEBACK}\n\nDuring handling of the above exception, another exception occurred:\n\n{}\nnext",
        TRACEBACK.replace("ValueError: bad shape", "RuntimeError: CUDA error: x\nCUDA kernel errors might be asynchronously reported at some other API call")
    );
    let events = read(&text);
    assert_eq!(events.len(), 2);
    assert_eq!(events[0].attribute("exception"), Some("ValueError"));
    assert_eq!(events[0].attribute("raised_as"), Some("RuntimeError"));
    let message = events[0].message.as_deref().unwrap();
    assert!(message.contains("asynchronously"));
    assert_eq!(events[1].message.as_deref(), Some("next"));
}

#[test]
fn interleaved_workers_are_kept_apart() {
    let mut lines = Vec::new();
    for line in TRACEBACK.lines() {
        for rank in [0, 11] {
            lines.push(format!(
                "2026-11-21T15:20:{:02}Z stderr F [rank{rank}]: {line}",
                10 + lines.len() / 2
            ));
        }
    }
    lines.push("2026-11-21T15:20:30Z stderr F [rank0]:[E1121 15:20:30.1 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog".to_owned());
    let events = read(&lines.join("\n"));
    assert_eq!(events.len(), 3);
    assert_eq!(events[0].rank, Some(0));
    assert_eq!(events[1].rank, Some(11));
    assert_eq!(
        events[1].message.as_deref().unwrap(),
        format!("[rank11]: {TRACEBACK}")
    );
    assert_eq!(events[1].attribute("exception"), Some("ValueError"));
    assert_eq!(rfc3339(events[0].time.lo), "2026-11-21T15:20:10Z");
    assert_eq!(rfc3339(events[0].end.unwrap().lo), "2026-11-21T15:20:17Z");
    assert_ne!(events[0].id, events[1].id);
}

#[test]
fn a_log_line_between_does_not_become_an_exception() {
    let events = read(
        "Traceback (most recent call last):\n  File \"a.py\", line 1\nINFO: other\nplain words here",
    );
    assert_eq!(events.len(), 3);
    assert_eq!(events[0].attribute("location"), Some("a.py:1"));
    assert_eq!(events[0].attribute("exception"), None);
}

#[test]
fn other_languages_end_in_one_event_too() {
    for (text, name) in [
        (
            "terminate called after throwing an instance of 'c10::Error'\n  what():  x\nException raised from y\nframe #0: z",
            "c10::Error",
        ),
        (
            "thread 'main' panicked at src/a.rs:1:2:\nboom\nnote: run with `RUST_BACKTRACE=1`",
            "panic",
        ),
        (
            "Exception in thread \"main\" java.lang.Error: x\n\tat a.b(c.java:1)\nCaused by: java.io.IOException: y\n\t... 1 more",
            "java.io.IOException",
        ),
        (
            "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:1 +0x1\nexit status 2",
            "panic",
        ),
    ] {
        let events = read(&format!("{text}\nafter all that"));
        assert_eq!(events.len(), 2, "{events:?}");
        assert_eq!(events[0].attribute("exception"), Some(name));
    }
}

#[test]
fn lines_without_time_are_placed_between_their_neighbours() {
    let events = read("boot\n2026-11-21T15:20:39Z a\nb\nc\n2026-11-21T15:20:49Z d\ne");
    let shown: Vec<_> = events
        .iter()
        .map(|e| (e.attribute("time_inferred"), e.time.width() / SECOND))
        .collect();
    assert_eq!(
        shown,
        [
            (Some("next"), 1),
            (None, 1),
            (Some("previous"), 11),
            (Some("previous"), 11),
            (None, 1),
            (Some("previous"), 3601)
        ]
    );
    let events = read("a\nb\na");
    assert!(
        events
            .iter()
            .all(|event| event.time == Stamp::OPEN
                && event.attribute("time_inferred") == Some("none"))
    );
    assert_ne!(events[0].id, events[2].id);
}

#[test]
fn a_missing_year_is_that_of_the_log() {
    let events = read(
        "-- Logs begin at Tue 2021-12-31 09:10:29 UTC --\nDec 31 23:59:59 host x\nE0101 00:00:01.5 1 f.go:1] y",
    );
    assert_eq!(rfc3339(events[1].time.lo), "2021-12-31T23:59:59Z");
    assert_eq!(rfc3339(events[2].time.lo), "2022-01-01T00:00:01.500Z");
    assert_eq!(events[2].attribute("time_inferred"), Some("year"));
    assert_eq!(events[2].severity.as_deref(), Some("ERROR"));
    let unplaced = &read("E0101 00:00:01.5 1 f.go:1] y")[0];
    assert_eq!(unplaced.time, Stamp::OPEN);
    assert_eq!(
        unplaced.attribute("time_without_year"),
        Some("--01-01T00:00:01.500")
    );
    let events = read("E1231 23:59:59 1 f.go:1] y\nx\n2026-01-01 00:00:01,000 INFO z");
    assert_eq!(rfc3339(events[0].time.lo), "2025-12-31T23:59:59Z");
    assert_eq!(events[1].time.lo, events[0].time.lo);
}

#[test]
fn structured_and_coloured_lines_are_read() {
    let events = read(
        "{\"ts\":1795274427.5,\"level\":\"error\",\"msg\":\"save failed\",\"error\":\"no space\"}\n{\"log\":\"\\u001b[31mERROR\\u001b[0m x\\n\",\"stream\":\"stderr\",\"time\":\"2026-11-21T15:20:39Z\"}",
    );
    assert_eq!(messages(&events), ["save failed: no space", "ERROR x"]);
    assert_eq!(events[0].severity.as_deref(), Some("error"));
    assert_eq!(rfc3339(events[1].time.lo), "2026-11-21T15:20:39Z");
}

#[test]
fn lines_of_several_pods_in_one_stream_keep_their_pod() {
    let mut text = String::new();
    for line in TRACEBACK.lines() {
        for pod in ["a-0", "a-1"] {
            text.push_str(&format!(
                "[pod/{pod}/trainer] 2026-11-21T15:20:39Z {line}\n"
            ));
        }
    }
    let source = LogSource {
        file: "logs.txt".into(),
        ..LogSource::default()
    };
    let (events, _) = read_as(&text, source, LogLines::default());
    assert_eq!(events.len(), 2);
    assert_eq!(messages(&events), [TRACEBACK, TRACEBACK]);
    assert_eq!(events[1].entities.pod.as_deref(), Some("a-1"));
    assert_ne!(events[0].id, events[1].id);
}

#[test]
fn the_same_line_twice_at_one_time_is_two_facts_and_two_copies_agree() {
    let text = "2026-11-21T15:20:39Z a\n2026-11-21T15:20:39Z a\n2026-11-21T15:20:40Z a";
    let ids: Vec<_> = read(text).iter().map(|event| event.id).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
    let copy = LogSource {
        file: "elsewhere/copy.log".into(),
        ..source()
    };
    let again: Vec<_> = read_as(text, copy, LogLines::default())
        .0
        .iter()
        .map(|event| event.id)
        .collect();
    assert_eq!(ids, again);
}

#[test]
fn of_a_long_log_the_ends_and_the_telling_lines_are_kept() {
    let text: String = (0..30_000)
        .map(|n| {
            if n == 15_000 {
                "2026-11-21T15:20:39Z CUDA error\n".to_owned()
            } else {
                format!("2026-11-21T15:20:39Z step {n}\n")
            }
        })
        .collect();
    let (events, left_out) = read_as(&text, source(), LogLines::default());
    assert_eq!(events.len() as u64 + left_out, 30_000);
    assert_eq!(events.len(), 1_000 + 5_000 + 1);
    assert!(messages(&events).contains(&"CUDA error"));
    assert_eq!(
        events.last().unwrap().message.as_deref(),
        Some("step 29999")
    );
    let short: String = text
        .lines()
        .take(20_000)
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(
        read_as(&short, source(), LogLines::default()).0.len(),
        20_000
    );
}

#[test]
fn secrets_do_not_get_through() {
    let events = read("2026-11-21T15:20:39Z login password=hunter2");
    assert!(!format!("{events:?}").contains("hunter2"));
}

#[test]
fn the_report_of_torchrun_is_one_record_at_its_own_time() {
    let events = read(
        "2026-11-21 15:20:00,000 INFO start\n============================================================\ntrain.py FAILED\n------------------------------------------------------------\nFailures:\n  <NO_OTHER_FAILURES>\n------------------------------------------------------------\nRoot Cause (first observed failure):\n[0]:\n  time      : 2026-11-21_15:20:40\n  host      : gpu-7\n  rank      : 2 (local_rank: 2)\n  exitcode  : 1 (pid: 7)\n  error_file: <N/A>\n  traceback : Traceback (most recent call last):\n    File \"/w/train.py\", line 3, in main\n  ValueError: x\n\n============================================================\ndone",
    );
    let report = &events[events.len() - 3];
    let message = report.message.as_deref().unwrap();
    assert!(message.starts_with("Root Cause") && message.ends_with("ValueError: x"));
    assert_eq!(rfc3339(report.time.lo), "2026-11-21T15:20:40Z");
    assert_eq!(report.attribute("time_inferred"), Some("zone"));
}

#[test]
fn wrapped_records_of_libraries_are_whole() {
    for text in [
        "mpirun noticed that process rank 0 with PID 77967 on node n342 exited on\nsignal 9 (Killed).",
        "[rank1]:[E1121 15:20:40.1 ProcessGroupNCCL.cpp:1899] [PG ID 0 PG GUID 0 Rank 1] Process group watchdog thread terminated with exception: CUDA error: x\nCUDA kernel errors might be asynchronously reported at some other API call.\nException raised from a at b.cpp:1 (most recent call first):\nframe #0: c",
        "absl::Status: UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):\n/job:jax_worker/replica:0/task:3\nThe tasks have crashed.",
        "Traceback (most recent call last):\n  File \"/w/t.py\", line 1, in m\n    ray.get(x)\nray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n\tclass_name: W\n\tpid: 7\nThe actor is dead because its worker process has died.",
    ] {
        // c10 tags only its first line.
        let text = text
            .replace("\nCUDA", "\n[rank1]: CUDA")
            .replace("\nException", "\n[rank1]: Exception")
            .replace("\nframe", "\n[rank1]: frame");
        let events = read(&format!("{text}\nafter"));
        assert_eq!(events.len(), 2, "{events:#?}");
    }
}

#[test]
fn of_a_bar_the_last_state_is_kept() {
    let mut text = String::from("start\n");
    for n in 0..1_000 {
        text.push_str(&format!(
            "\r {:2}%|##   | {n}/1000 [00:01<00:02,  1.00s/it]",
            n / 10
        ));
    }
    text.push_str("slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-21T15:20:27 DUE TO TIME LIMIT ***\nend");
    let events = read(&text);
    assert_eq!(events.len(), 4);
    assert!(messages(&events)[1].contains("999/1000"));
    assert!(messages(&events)[2].contains("CANCELLED AT"));
    assert_eq!(rfc3339(events[2].time.lo), "2026-11-21T15:20:27Z");
}

#[test]
fn task_numbers_count_only_where_every_line_has_one() {
    let mut text = String::new();
    for line in TRACEBACK.lines() {
        for task in [0, 11] {
            text.push_str(&format!("{task:>2}: {line}\n"));
        }
    }
    let events = read(&text);
    assert_eq!(events.len(), 2, "{events:#?}");
    assert_eq!((events[0].rank, events[1].rank), (Some(0), Some(11)));
    assert_eq!(events[1].attribute("exception"), Some("ValueError"));
    let list = read("steps:\n1: load\n2: train\n3: save\ndone");
    assert!(list.iter().all(|event| event.rank.is_none()));
    assert_eq!(list.len(), 5);
}

#[test]
fn output_of_stern_and_logcli_keeps_its_pods() {
    let source = || LogSource {
        file: "logs.txt".into(),
        ..LogSource::default()
    };
    let stern = "gpt2-worker-0 main one\ngpt2-worker-1 main one\ngpt2-worker-0 main two\ngpt2-worker-1 main two";
    let (events, _) = read_as(stern, source(), LogLines::default());
    assert_eq!(messages(&events), ["one", "one", "two", "two"]);
    assert_eq!(events[3].entities.pod.as_deref(), Some("gpt2-worker-1"));
    let mut logcli = String::new();
    for line in TRACEBACK.lines() {
        for pod in ["a", "b"] {
            logcli.push_str(&format!(
                "2026-11-21T15:20:27Z {{namespace=\"n\", pod=\"{pod}\"}} {line}\n"
            ));
        }
    }
    let (events, _) = read_as(&logcli, source(), LogLines::default());
    assert_eq!(messages(&events), [TRACEBACK, TRACEBACK]);
    assert_eq!(events[0].entities.namespace.as_deref(), Some("n"));
    assert_eq!(rfc3339(events[0].time.lo), "2026-11-21T15:20:27Z");
}

#[test]
fn the_environment_of_a_lone_process_tells_its_rank() {
    let events = read("RANK=3\nLOCAL_WORLD_SIZE=1\nstep 1");
    assert_eq!(events[2].rank, Some(3));
    let events = read("RANK=3\nLOCAL_WORLD_SIZE=8\nstep 1");
    assert_eq!(events[2].rank, None);
    let events = read("RANK=3\nLOCAL_WORLD_SIZE=1\nRANK=4\nstep 1");
    assert_eq!(events[3].rank, None);
}

#[test]
fn a_key_whose_lines_come_one_by_one_goes_to_its_last_line() {
    let full = "MIIEpAIBAAKCAQEA7bq0Fz3Qm1xVtYw8RkLs2JdNhGfPcUo5TeXiWaZy9vBnMuKj";
    let last = "qL8s0WbX3nVtYw8RkLs2JdNhGfPcUo5TeXiWaZy9vBnM";
    let mut text = String::new();
    for (second, line) in (10..).zip([
        "start",
        "-----BEGIN RSA PRIVATE KEY-----",
        full,
        "step 12 loss=0.5",
        last,
        "-----END RSA PRIVATE KEY-----",
        "db:",
        "  password: |",
        "    two words",
        "  port: 5432",
    ]) {
        text += &format!("2026-11-21T15:20:{second}.1Z stderr F {line}\n");
    }
    let events = read(&text);
    let clean = messages(&events).join("\n");
    for secret in [full, last, "two words"] {
        assert!(!clean.contains(secret), "{clean}");
        assert!(events.iter().all(|event| !event.raw.contains(secret)));
    }
    for stays in ["start", "step 12 loss=0.5", "port: 5432"] {
        assert!(clean.contains(stays), "{clean}");
    }
    assert!(
        events
            .iter()
            .any(|event| event.raw.ends_with("stderr F [redacted]"))
    );
}

#[test]
fn a_secret_that_a_partial_line_cuts_goes_from_both_pieces() {
    let events = read(
        "2026-11-21T15:20:10.1Z stderr P ERROR password: hunter2\n2026-11-21T15:20:10.2Z stderr F qwlr99 for db-1\n2026-11-21T15:20:11.1Z stderr F step 12",
    );
    assert_eq!(
        messages(&events),
        ["ERROR password: [redacted] for db-1", "step 12"]
    );
    assert_eq!(
        events[0].raw,
        "2026-11-21T15:20:10.1Z stderr P ERROR password: [redacted]\n2026-11-21T15:20:10.2Z stderr F [redacted] for db-1"
    );
}
