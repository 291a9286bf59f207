//! Two writers and five readers at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;
use crate::StoredIncident;

const ROWS: u64 = 3_000;

#[test]
fn two_writers_and_five_readers_do_not_disturb_each_other() {
    let (_folder, first) = store();
    let root = first.root().to_owned();
    let limits = Limits {
        hot_rows: 200,
        ..Limits::default()
    };
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        // Both write every row, one in small batches and one in bulk: each is kept once.
        let hot = scope.spawn(|| {
            let mut store = Store::open(&root, limits).unwrap();
            for batch in 0..ROWS / 50 {
                let rows = (batch * 50..(batch + 1) * 50)
                    .map(|n| reported(event(n, &format!("p-{}", n % 7), START)))
                    .collect();
                store.write(rows, &[]).unwrap();
                store.settle(START).unwrap();
            }
        });
        let bulk = scope.spawn(|| {
            let mut store = Store::open(&root, limits).unwrap();
            for part in 0..6 {
                let from = (5 - part) * ROWS / 6;
                import(
                    &mut store,
                    (from..from + ROWS / 6)
                        .map(|n| reported(event(n, &format!("p-{}", n % 7), START))),
                );
                store.compact(2, START, &mut |_, _| {}).unwrap();
            }
        });
        for _ in 0..5 {
            scope.spawn(|| {
                let store = Store::open_to_read(&root).unwrap();
                let mut most = 0;
                while !done.load(Ordering::Relaxed) {
                    let facts = facts(&store);
                    let twice = facts
                        .windows(2)
                        .any(|pair| pair[0].event.id == pair[1].event.id);
                    assert!(!twice, "a fact was seen twice");
                    assert!(facts.len() >= most, "a fact was lost");
                    most = facts.len();
                }
            });
        }
        hot.join().unwrap();
        bulk.join().unwrap();
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(facts(&first).len() as u64, ROWS);
}

/// A question explains runs and keeps their incidents while a service collects.
#[test]
fn who_keeps_incidents_waits_for_who_collects() {
    let (_folder, first) = store();
    let root = first.root().to_owned();
    let one = |at| StoredIncident {
        time: Some(START),
        id: "incident".to_owned(),
        experiment: "x".to_owned(),
        run_id: "run".to_owned(),
        explained_at: at,
        ruleset: "rules".to_owned(),
        machines: Vec::new(),
        answer: "{}".to_owned(),
        verdict: at.to_string(),
    };
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut store = Store::open(&root, Limits::default()).unwrap();
            for batch in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let rows = vec![reported(event(batch, "p-1", START))];
                store.write(rows, &[]).unwrap();
            }
        });
        let kept = scope.spawn(|| {
            let mut store = Store::open(&root, Limits::default()).unwrap();
            let runs = ["run".to_owned()];
            let keep = |at| store.keep_incidents(&runs, &[one(at)]);
            (0..100).map(keep).collect::<Result<Vec<()>, _>>()
        });
        let kept = kept.join().unwrap();
        done.store(true, Ordering::Relaxed);
        kept.unwrap();
    });
    assert_eq!(first.incidents().unwrap().len(), 1);
}
