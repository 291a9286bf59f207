//! Dumps of several ranks, written as torch writes them.

use serde_json::{Value, json};

use super::*;
use crate::collective::{Finding, Trace, compare_traces, trace_of};
use crate::event::{Event, Origin};
use crate::observation::Observation;

/// 2026-11-21T15:20:27Z
const START: i64 = 1_795_274_427_000_000_000;

fn entry(seq: i64, op: &str, state: &str) -> Value {
    let at = START + seq * 1_000_000_000;
    json!({
        "record_id": seq, "pg_id": 0, "process_group": ["0", "default_pg"],
        "collective_seq_id": seq, "p2p_seq_id": 0, "op_id": seq, "is_p2p": false,
        "profiling_name": format!("nccl:{op}"), "time_created_ns": at,
        "input_sizes": [[1024, 8]], "output_sizes": [[1024, 8]],
        "state": state, "timeout_ms": 600_000,
        "time_discovered_started_ns": null,
        "time_discovered_completed_ns": if state == "completed" { json!(at + 1_000_000) } else { Value::Null },
    })
}

fn dump(entries: &[Value]) -> Value {
    json!({
        "version": "2.10",
        "pg_config": { "0": { "name": "0", "desc": "default_pg", "ranks": "[0, 1, 2]" } },
        "pg_status": { "0": { "last_enqueued_collective": 41, "last_started_collective": -1, "last_completed_collective": 40 } },
        "entries": entries,
    })
}

fn pickled(dump: &Value) -> Vec<u8> {
    serde_pickle::to_vec(dump, serde_pickle::SerOptions::new()).unwrap()
}

fn compare(dumps: &[Dump]) -> Vec<Finding> {
    let traces: Vec<Trace> = dumps.iter().flat_map(|dump| dump.traces.clone()).collect();
    compare_traces(&traces)
}

fn read_rank(rank: i32, entries: &[Value]) -> Dump {
    read(
        &pickled(&dump(entries)),
        &format!("x/nccl_trace_rank_{rank}"),
    )
    .unwrap()
}

fn done_and_in(op: &str) -> Vec<Value> {
    vec![
        entry(40, "all_reduce", "completed"),
        entry(41, op, "scheduled"),
    ]
}

#[test]
fn both_forms_say_the_same() {
    let value = dump(&done_and_in("all_reduce"));
    let pickle = pickled(&value);
    assert!(looks_like(&pickle) && looks_like(value.to_string().as_bytes()));
    let json = read(value.to_string().as_bytes(), "nccl_trace_rank_1.json").unwrap();
    let dump = read(&pickle, "nccl_trace_rank_1").unwrap();
    assert_eq!(dump, json);
    let trace = &dump.traces[0];
    assert_eq!(trace.members, [0, 1, 2]);
    assert_eq!(trace.waits_in.as_ref().map(|call| call.seq), Some(41));
    assert_eq!(trace.completed.as_ref().map(|call| call.seq), Some(40));
}

#[test]
fn a_dump_is_facts_that_can_be_compared_again() {
    let value = dump(&done_and_in("all_reduce"));
    let origin = Origin {
        file: "nccl_trace_rank_2".into(),
        line: 1,
    };
    let mut out = Vec::new();
    decode(&pickled(&value), &origin, &mut out).unwrap();
    let [Observation::Event(event)] = out.as_slice() else {
        panic!("{out:?}");
    };
    let event: &Event = event;
    assert_eq!((event.fact.as_str(), event.rank), ("nccl.trace", Some(2)));
    for (key, value) in [
        ("pg", "0"),
        ("seq", "41"),
        ("op", "all_reduce"),
        ("state", "scheduled"),
        ("input_sizes", "[[1024,8]]"),
        ("last_enqueued", "41"),
        ("last_completed", "40"),
    ] {
        assert_eq!(event.attribute(key), Some(value), "{key}");
    }
    assert_eq!(event.time.lo, START + 41_000_000_000);
    let trace = trace_of(event).unwrap();
    let dumped = read_rank(2, &done_and_in("all_reduce"));
    assert_eq!(
        trace.waits_in.as_ref().map(|call| &call.op),
        dumped.traces[0].waits_in.as_ref().map(|call| &call.op)
    );
    assert_eq!(trace.last_enqueued, dumped.traces[0].last_enqueued);
}

#[test]
fn the_rank_that_never_came_is_named() {
    let dumps = [
        read_rank(0, &done_and_in("all_reduce")),
        read_rank(1, &[entry(40, "all_reduce", "completed")]),
        read_rank(2, &done_and_in("all_reduce")),
    ];
    let found = compare(&dumps);
    let [
        Finding::Missing {
            rank,
            at,
            elsewhere,
        },
    ] = found.as_slice()
    else {
        panic!("{found:?}");
    };
    assert_eq!((*rank, at.seq, at.op.as_str()), (1, 41, "all_reduce"));
    assert_eq!(at.waiting, [0, 2]);
    assert_eq!(at.since, Some(START + 41_000_000_000));
    assert_eq!(*elsewhere, None);
    // Any order of dumps says the same.
    let turned: Vec<Dump> = dumps.iter().rev().cloned().collect();
    assert_eq!(compare(&turned), found);
}

#[test]
fn a_rank_without_a_dump_and_one_in_another_collective_are_told() {
    let found = compare(&[
        read_rank(0, &done_and_in("all_reduce")),
        read_rank(2, &done_and_in("all_reduce")),
    ]);
    assert!(
        matches!(found.as_slice(), [Finding::NoDump { rank: 1, .. }]),
        "{found:?}"
    );
    let found = compare(&[
        read_rank(0, &done_and_in("all_reduce")),
        read_rank(1, &done_and_in("broadcast")),
        read_rank(2, &done_and_in("all_reduce")),
    ]);
    let [
        Finding::Mismatch {
            rank: 1, others, ..
        },
    ] = found.as_slice()
    else {
        panic!("{found:?}");
    };
    assert_eq!(others, "all_reduce [[1024,8]]");
}

#[test]
fn healthy_and_single_dumps_blame_nobody() {
    let done = || vec![entry(40, "all_reduce", "completed")];
    assert_eq!(
        compare(&[
            read_rank(0, &done()),
            read_rank(1, &done()),
            read_rank(2, &done())
        ]),
        []
    );
    assert_eq!(compare(&[read_rank(0, &done_and_in("all_reduce"))]), []);
    assert_eq!(
        compare(&[
            read_rank(0, &done_and_in("all_reduce")),
            read_rank(1, &done_and_in("all_reduce")),
            read_rank(2, &done_and_in("all_reduce")),
        ]),
        []
    );
}

#[test]
fn a_rank_that_waits_elsewhere_is_held_up_itself() {
    // Rank 1 waits for rank 2 in a group of the two; rank 0 waits for both.
    let two = |mut entry: Value, state: &str| {
        entry["pg_id"] = json!(1);
        entry["process_group"] = json!(["1", "tp"]);
        entry["state"] = json!(state);
        entry
    };
    let with_two = |entries: &[Value]| {
        let mut dump = dump(entries);
        dump["pg_config"]["1"] = json!({ "name": "1", "desc": "tp", "ranks": "[1, 2]" });
        dump
    };
    let read_two = |rank: i32, entries: &[Value]| {
        read(
            &pickled(&with_two(entries)),
            &format!("nccl_trace_rank_{rank}"),
        )
        .unwrap()
    };
    let found = compare(&[
        read_rank(0, &done_and_in("all_reduce")),
        read_two(
            1,
            &[
                entry(40, "all_reduce", "completed"),
                two(entry(7, "all_reduce", ""), "scheduled"),
            ],
        ),
        read_two(
            2,
            &[
                entry(40, "all_reduce", "completed"),
                two(entry(6, "all_reduce", ""), "completed"),
            ],
        ),
    ]);
    assert!(
        found
            .iter()
            .all(|finding| matches!(finding, Finding::Missing { rank: 2, .. })),
        "{found:?}"
    );
    assert_eq!(found.len(), 2);
}

#[test]
fn what_is_no_dump_is_refused_with_a_reason() {
    for (bytes, why) in [
        (&b"\x80\x02cos\nsystem\n."[..], "JSON"),
        (
            b"\x80\x02}q\x00cos\nsystem\nX\x01\x00\x00\x00x\x85R.",
            "calls functions",
        ),
        (b"{\"version\":\"2.10\"}", "no version, entries or groups"),
        (b"[]", "not a dictionary"),
        (b"\x80\x02}", "breaks off"),
    ] {
        let error = read(bytes, "nccl_trace_rank_0").unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    let unnamed = read(&pickled(&dump(&done_and_in("all_reduce"))), "trace").unwrap_err();
    assert!(unnamed.contains("rank"));
}

/// Keeps what a recording tells.
#[derive(Default)]
struct Collected(Vec<Observation>);

impl crate::sink::Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0.extend(observations);
    }
}

#[test]
fn dumps_in_a_folder_are_recognised_and_others_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for rank in 0..3 {
        let bytes = pickled(&dump(&done_and_in("all_reduce")));
        std::fs::write(folder.path().join(format!("nccl_trace_rank_{rank}")), bytes).unwrap();
    }
    let json = dump(&done_and_in("all_reduce")).to_string();
    std::fs::write(folder.path().join("nccl_trace_rank_3.json"), json).unwrap();
    let bad = b"\x80\x02}q\x00X\x09\x00\x00\x00pg_configcos\nsystem\n.";
    std::fs::write(folder.path().join("nccl_trace_rank_4"), bad).unwrap();
    let input = crate::contract::Input::Path(folder.path().to_owned());
    let mut kept = Collected::default();
    let summary = crate::recording::read(&[input], &Default::default(), &mut kept);
    assert_eq!(kept.0.len(), 4, "{summary:?}");
    assert_eq!(summary.total.rejected, 1);
    assert!(summary.rejected[0].why.contains("calls functions"));
    assert!(
        summary
            .files
            .iter()
            .all(|file| file.form == "flight recorder's dump")
    );
}

#[test]
fn no_bytes_bring_the_reader_down() {
    let whole = pickled(&dump(&done_and_in("all_reduce")));
    for end in 0..whole.len() {
        drop(read(&whole[..end], "nccl_trace_rank_0"));
    }
    for at in 2..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        drop(read(&bytes, "nccl_trace_rank_0"));
    }
}
