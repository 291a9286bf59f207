//! Killed at any moment: what was acknowledged is there, once, and the store opens.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;

/// Names the store for the child, which is this test binary again.
const CHILD: &str = "WHATHAPPENED_CRASH_CHILD";
/// How often the writer is killed.
const KILLS: u64 = 300;

/// Writes in every way there is and says what is kept, until it is killed.
#[test]
fn child() {
    let Ok(root) = std::env::var(CHILD) else {
        return;
    };
    let (root, seed) = root.rsplit_once('|').unwrap();
    let seed: u64 = seed.parse().unwrap();
    let limits = Limits {
        hot_rows: 100,
        grace: 0,
        ..Limits::default()
    };
    let mut store = Store::open(Path::new(root), limits).unwrap();
    for round in 0.. {
        let from = seed * 1_000_000 + round * 100;
        let rows = |from: u64| {
            (from..from + 50).map(move |n| {
                // Some are written again, with more in them.
                let n = if n % 10 == 0 { n % 1_000 } else { n };
                let mut event = event(n, &format!("p-{}", n % 7), START + (n as i64 % 3) * DAY);
                event.count = Some(seed * 1_000 + round);
                reported(event)
            })
        };
        store.write(rows(from).collect(), &[]).unwrap();
        println!("kept {from}");
        import(&mut store, rows(from + 50));
        println!("kept {}", from + 50);
        match (seed + round) % 4 {
            0 => drop(store.flush(START).unwrap()),
            1 => drop(store.compact(2, START, &mut |_, _| {}).unwrap()),
            _ => drop(store.settle(START).unwrap()),
        }
    }
}

#[test]
fn killed_at_any_moment_nothing_is_lost_and_nothing_is_twice() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let mut kept: HashSet<u64> = HashSet::new();
    for seed in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tests::crash::child", "--nocapture"])
            .env(CHILD, format!("{}|{}", root.display(), seed + 1))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || {
            BufReader::new(out)
                .lines()
                .map_while(Result::ok)
                .filter_map(|line| line.strip_prefix("kept ")?.parse::<u64>().ok())
                .collect::<Vec<u64>>()
        });
        // Spread over opening, writing, flushing and compacting.
        std::thread::sleep(Duration::from_micros(10_000 + (seed * 7_919) % 90_000));
        child.kill().unwrap();
        child.wait().unwrap();
        for from in reader.join().unwrap() {
            kept.extend((from..from + 50).map(|n| if n % 10 == 0 { n % 1_000 } else { n }));
        }
        // On a busy machine the first of them are killed before they made a store.
        let is_made = !kept.is_empty();
        if is_made && seed % 10 == 9 || seed + 1 == KILLS {
            check(&root, &kept);
        }
    }
    assert!(!kept.is_empty(), "the child never got to write");
    // Whoever comes next clears away what the dead left.
    let limits = Limits {
        grace: 0,
        ..Limits::default()
    };
    let mut store = Store::open(&root, limits).unwrap();
    store.compact(1, START, &mut |_, _| {}).unwrap();
    store.compact(1, START + SECOND, &mut |_, _| {}).unwrap();
    let listed = store.status().unwrap().segments;
    assert_eq!(files(&root), listed, "files that nothing lists");
    drop(store);
    check(&root, &kept);
}

fn check(root: &Path, kept: &HashSet<u64>) {
    let store = Store::open_to_read(root).unwrap();
    let facts = facts(&store);
    let ids: HashSet<EventId> = facts.iter().map(|fact| fact.event.id).collect();
    assert_eq!(ids.len(), facts.len(), "a fact is there twice");
    for number in kept {
        let id = EventId::of(&["test", &number.to_string()]);
        assert!(
            ids.contains(&id),
            "fact {number} was acknowledged and is lost"
        );
    }
}

fn files(root: &Path) -> u64 {
    let mut count = 0;
    for table in ["events", "objects"] {
        let Ok(days) = std::fs::read_dir(root.join(table)) else {
            continue;
        };
        for day in days {
            count += std::fs::read_dir(day.unwrap().path()).unwrap().count() as u64;
        }
    }
    count
}
