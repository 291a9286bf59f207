//! A lake gives what the stores that were pushed to it have, each row once.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up must fail"
)]

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use whathappened_core::resolve::Name;
use whathappened_model::event::{Event, EventId, SourceKind};
use whathappened_model::time::{Nanos, SECOND, Stamp};
use whathappened_store::lake::{self, Index};
use whathappened_store::{Fact, Limits, Store, StoredIncident};

#[path = "../src/tests/samples.rs"]
mod samples;

use samples::{DAY, START, event, facts, import, pod, reported, store};

/// Names what the child does, which is this test binary again.
const CHILD: &str = "WHATHAPPENED_LAKE_CHILD";
const NOW: Nanos = START + 40 * DAY;

/// Where the lake of a test is: in its folder, or in the bucket that the environment names.
fn lake_in(folder: &Path) -> String {
    match std::env::var("LAKE_TEST_URL") {
        Ok(url) => format!("{url}/{}", folder.file_name().unwrap().to_str().unwrap()),
        Err(_) => folder.join("lake").display().to_string(),
    }
}

fn open(url: &str, folder: &Path) -> Index {
    lake::open(url, folder, 64 << 20, true).unwrap()
}

fn in_cluster(mut event: Event, cluster: &str) -> Event {
    event.entities.cluster = Some(cluster.to_owned());
    event
}

/// What a restart may not change: rows, entities, coverage.
fn everything(store: &Store) -> (Vec<Fact>, Vec<String>, Vec<String>, Vec<String>) {
    let mut objects = Vec::new();
    let snapshot = store.snapshot().unwrap();
    snapshot
        .everything(None, &mut |_| {}, &mut |object| {
            objects.push(format!("{object:?}"));
        })
        .unwrap();
    objects.sort();
    let mut entities = snapshot.entities().unwrap();
    entities.sort();
    let entities = entities.iter().map(|one| format!("{one:?}")).collect();
    let names = snapshot.run_names().unwrap();
    drop(snapshot);
    (facts(store), objects, entities, names)
}

#[test]
fn a_lake_has_what_the_store_has_and_pushing_again_changes_nothing() {
    let (folder, mut store) = store();
    let url = lake_in(folder.path());
    let mut odd = event(1_000, "a-0", START + 17);
    odd.time = Stamp::exact(START + 123_456_789);
    odd.end = Some(Stamp::exact(START + 5 * SECOND + 1));
    odd.observed = Some(START - 1);
    let mut timeless = event(1_001, "a-1", START);
    timeless.time = Stamp::OPEN;
    let all = (0..400)
        .map(|n| {
            reported(in_cluster(
                event(n, &format!("a-{}", n % 9), START + DAY * (n as i64 % 3)),
                "c1",
            ))
        })
        .chain((400..500).map(|n| reported(event(n, "b-0", START))))
        .chain([reported(odd), reported(timeless)])
        .chain((0..9).map(|n| pod(&format!("a-{n}"), "exp", "job", START)));
    import(&mut store, all);
    store
        .write(vec![reported(event(2_000, "a-3", START))], &[])
        .unwrap();

    let mut index = open(&url, &folder.path().join("index"));
    let pushed = lake::push(&mut store, &mut index, NOW, &mut |_| {}).unwrap();
    assert_eq!((pushed.rows, pushed.new), (512, 512));
    assert_eq!(everything(index.store()), everything(&store));
    let find = |store: &Store| {
        let snapshot = store.snapshot().unwrap();
        let name = Name::parse("exp");
        let found = snapshot.find(&name).unwrap().unwrap();
        let mut facts: Vec<_> = found.facts.iter().map(|fact| fact.event.id).collect();
        facts.sort();
        (facts, found.objects.len(), found.window)
    };
    assert_eq!(find(index.store()), find(&store));

    let before = index.tables().unwrap();
    let again = lake::push(&mut store, &mut index, NOW + 1, &mut |_| {}).unwrap();
    assert_eq!((again.rows, again.new), (0, 0));
    // Compacted here, its rows are looked at again and are all known.
    store.compact(1, NOW, &mut |_, _| {}).unwrap();
    let again = lake::push(&mut store, &mut index, NOW + 2, &mut |_| {}).unwrap();
    assert_eq!(again.new, 0);
    assert_eq!(index.tables().unwrap(), before);
    // Somebody else's index of it, made from nothing, has the same.
    let other = open(&url, &folder.path().join("other"));
    assert_eq!(everything(other.store()), everything(&store));
}

#[test]
fn two_stores_that_saw_the_same_are_one_lake_with_both_witnesses() {
    let folder = tempfile::tempdir().unwrap();
    let url = lake_in(folder.path());
    let mut indexes = Vec::new();
    for (number, kind) in [SourceKind::Kubernetes, SourceKind::KubernetesAudit]
        .into_iter()
        .enumerate()
    {
        let root = folder.path().join(format!("store-{number}"));
        let mut store = Store::open(&root, Limits::default()).unwrap();
        import(
            &mut store,
            (0..60).map(|n| {
                let mut event = in_cluster(event(n + 20 * number as u64, "a-0", START), "c1");
                event.source_kind = kind;
                reported(event)
            }),
        );
        let mut index = open(&url, &folder.path().join(format!("index-{number}")));
        lake::push(&mut store, &mut index, NOW, &mut |_| {}).unwrap();
        indexes.push(index);
    }
    for index in &mut indexes {
        index.sync().unwrap();
        let facts = facts(index.store());
        assert_eq!(facts.len(), 80);
        let both = facts.iter().filter(|fact| fact.seen_by.len() == 2).count();
        assert_eq!(both, 40);
    }
}

#[test]
fn what_is_flushed_leaves_the_collector_and_is_in_the_lake() {
    let (folder, mut store) = store();
    let url = lake_in(folder.path());
    let mut index = open(&url, &folder.path().join("index"));
    for round in 0..3_u64 {
        let rows = (0..50).map(|n| reported(in_cluster(event(round * 30 + n, "a-0", START), "c1")));
        store
            .write(rows.chain([pod("a-0", "exp", "job", START)]).collect(), &[])
            .unwrap();
        lake::flush(&mut store, &mut index, NOW + round as i64).unwrap();
        assert_eq!(store.status().unwrap().hot, 0);
    }
    assert!(facts(&store).is_empty());
    assert_eq!(facts(index.store()).len(), 110);
    assert_eq!(
        index.store().snapshot().unwrap().run_names().unwrap(),
        ["exp", "job"]
    );
    let mut opened = Store::open(index.store().root(), Limits::default()).unwrap();
    let refused = opened.write(vec![reported(event(1, "x", START))], &[]);
    assert!(refused.unwrap_err().to_string().contains("lake"));
}

#[test]
fn whoever_flushes_leaves_few_files() {
    let (folder, mut store) = store();
    let url = lake_in(folder.path());
    let mut index = open(&url, &folder.path().join("index"));
    // A bucket takes its time.
    let rounds = match std::env::var("LAKE_TEST_URL") {
        Ok(_) => 18,
        Err(_) => 60,
    };
    for round in 0..rounds {
        let rows = (0..5).map(|n| reported(in_cluster(event(round * 5 + n, "a-0", START), "c1")));
        let pods = [pod(&format!("a-{round}"), "exp", "job", START)];
        store.write(rows.chain(pods).collect(), &[]).unwrap();
        let now = NOW + round as i64;
        lake::flush(&mut store, &mut index, now).unwrap();
        index.merge_small(now).unwrap();
    }
    for table in index.tables().unwrap() {
        assert!(table.files <= 17, "{table:?}");
    }
    assert_eq!(facts(index.store()).len() as u64, rounds * 5);
    let fresh = open(&url, &folder.path().join("fresh"));
    assert_eq!(everything(fresh.store()), everything(index.store()));
}

#[test]
fn compaction_and_vacuum_change_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let url = lake_in(folder.path());
    let mut index = open(&url, &folder.path().join("index"));
    for round in 0..20_u64 {
        let root = folder.path().join(format!("store-{round}"));
        let mut store = Store::open(&root, Limits::default()).unwrap();
        let cluster = format!("c{}", round % 2);
        let rows =
            (0..10).map(|n| reported(in_cluster(event(round * 10 + n, "a-0", START), &cluster)));
        store
            .write(
                rows.chain([pod(&format!("a-{round}"), "exp", "job", START)])
                    .collect(),
                &[],
            )
            .unwrap();
        store
            .keep_coverage(
                &[(
                    "k".to_owned(),
                    whathappened_model::coverage::Coverage::new("s", &format!("r{round}")),
                )],
                NOW,
            )
            .unwrap();
        lake::flush(&mut store, &mut index, NOW + round as i64).unwrap();
    }
    let before = everything(index.store());
    let coverage = index.store().coverage().unwrap();
    assert_eq!(coverage.len(), 20);
    let done = index.compact(1, NOW + 100, &mut |_| {}).unwrap();
    assert_eq!(done.replaced, 40, "{done:?}");
    let files: Vec<u64> = index
        .tables()
        .unwrap()
        .iter()
        .map(|table| table.files)
        .collect();
    assert_eq!(files, [2, 2, 1, 1, 0]);
    index.vacuum().unwrap();
    for index in [index, open(&url, &folder.path().join("other"))] {
        assert_eq!(everything(index.store()), before);
        assert_eq!(index.store().coverage().unwrap(), coverage);
    }
    // What speaks of nothing later goes.
    let mut index = open(&url, &folder.path().join("index"));
    let gone = index.retain(START + 10 * DAY, NOW).unwrap();
    assert_eq!(gone.replaced, 4);
    assert!(facts(index.store()).is_empty());
    assert!(
        index
            .store()
            .snapshot()
            .unwrap()
            .entities()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_newer_lake_and_an_older_layout_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let url = folder.path().join("lake");
    std::fs::create_dir(&url).unwrap();
    let open = |create| {
        lake::open(
            url.to_str().unwrap(),
            &folder.path().join("index"),
            0,
            create,
        )
    };
    let nothing = open(false).unwrap_err().to_string();
    assert!(nothing.contains("no lake here"), "{nothing}");
    std::fs::write(url.join("manifest.json"), "{}").unwrap();
    for create in [false, true] {
        let old = open(create).unwrap_err().to_string();
        assert!(old.contains("store migrate"), "{old}");
    }
    std::fs::remove_file(url.join("manifest.json")).unwrap();
    drop(open(true).unwrap());
    let first = url.join("events/_delta_log/00000000000000000000.json");
    let text = std::fs::read_to_string(&first).unwrap();
    let newer = text.replace(
        r#""whathappened.format":"1""#,
        r#""whathappened.format":"9""#,
    );
    assert_ne!(text, newer);
    std::fs::write(&first, newer).unwrap();
    let error = lake::open(
        url.to_str().unwrap(),
        &folder.path().join("other"),
        0,
        false,
    );
    let error = error.unwrap_err().to_string();
    assert!(error.contains("format 9"), "{error}");
}

/// Pushes what its store has, over and over, until it is killed.
#[test]
fn child() {
    let Ok(told) = std::env::var(CHILD) else {
        return;
    };
    let [folder, number, seed] = told.split('|').collect::<Vec<_>>()[..] else {
        panic!("{told}");
    };
    let folder = Path::new(folder);
    let mut store =
        Store::open(&folder.join(format!("store-{number}")), Limits::default()).unwrap();
    let mut index = open(&lake_in(folder), &folder.join(format!("index-{number}")));
    let (number, seed): (u64, u64) = (number.parse().unwrap(), seed.parse().unwrap());
    for round in 0.. {
        let rows = (0..40).map(|n| {
            // Each tells some of what the other tells, too.
            let n =
                seed * 10_000 + round * 40 + n + if n % 4 == 0 { 0 } else { number * 1_000_000 };
            let mut event = in_cluster(event(n, "a-0", START), "c1");
            event.count = Some(number);
            reported(event)
        });
        store.write(rows.collect(), &[]).unwrap();
        println!("kept {round}");
        let now = NOW + (seed * 1_000 + round) as i64;
        lake::flush(&mut store, &mut index, now).unwrap();
        if round % 7 == 6 {
            index.compact(3, now, &mut |_| {}).unwrap();
        }
    }
}

#[test]
fn two_at_once_and_killed_lose_nothing_and_tell_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut kept: HashSet<u64> = HashSet::new();
    for seed in 0..12_u64 {
        let children: Vec<_> = (1..3_u64)
            .map(|number| {
                let told = format!("{}|{number}|{seed}", folder.path().display());
                let child = Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "child", "--nocapture"])
                    .env(CHILD, told)
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap();
                (number, child)
            })
            .collect();
        // A bucket takes its time.
        let slower = if std::env::var("LAKE_TEST_URL").is_ok() {
            6
        } else {
            1
        };
        std::thread::sleep(Duration::from_millis(400 + (seed * 379) % 900) * slower);
        for (number, mut child) in children {
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            for round in text
                .lines()
                .filter_map(|line| line.strip_prefix("kept ")?.parse::<u64>().ok())
            {
                kept.extend((0..40).map(|n| {
                    seed * 10_000 + round * 40 + n + if n % 4 == 0 { 0 } else { number * 1_000_000 }
                }));
            }
        }
    }
    assert!(
        kept.len() > 400,
        "the children hardly wrote: {}",
        kept.len()
    );
    for number in 1..3 {
        let mut store = Store::open(
            &folder.path().join(format!("store-{number}")),
            Limits::default(),
        )
        .unwrap();
        let mut index = open(
            &lake_in(folder.path()),
            &folder.path().join(format!("index-{number}")),
        );
        lake::flush(&mut store, &mut index, NOW + DAY).unwrap();
    }
    let index = open(&lake_in(folder.path()), &folder.path().join("fresh"));
    let facts = facts(index.store());
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

fn explained(run: &str, cause: &str, at: Nanos) -> StoredIncident {
    StoredIncident {
        time: Some(START),
        id: format!("incident-of-{run}"),
        experiment: "exp".to_owned(),
        run_id: run.to_owned(),
        explained_at: at,
        ruleset: "rules".to_owned(),
        machines: vec!["node-1".to_owned()],
        answer: format!(r#"{{"incident":{{"cause":"{cause}"}}}}"#),
        verdict: format!(r#"{{"cause":"{cause}"}}"#),
    }
}

#[test]
fn what_one_service_explained_the_others_have_and_it_is_added_once() {
    let (folder, mut store) = store();
    let url = lake_in(folder.path());
    import(
        &mut store,
        [reported(in_cluster(event(1, "a-0", START), "c1"))],
    );
    let mut first = open(&url, &folder.path().join("first"));
    lake::push(&mut store, &mut first, NOW, &mut |_| {}).unwrap();
    let mut second = open(&url, &folder.path().join("second"));

    let keep = |index: &Index, one: StoredIncident| {
        let mut store = Store::open(index.store().root(), Limits::default()).unwrap();
        store
            .keep_incidents(
                std::slice::from_ref(&one.run_id),
                std::slice::from_ref(&one),
            )
            .unwrap();
    };
    keep(&first, explained("run-1", "user.exception", NOW));
    assert_eq!(first.share_incidents(Nanos::MIN, NOW + 1).unwrap(), 1);
    assert_eq!(first.share_incidents(Nanos::MIN, NOW + 2).unwrap(), 0);
    second.sync().unwrap();
    let there: Vec<String> = second
        .store()
        .incidents()
        .unwrap()
        .into_iter()
        .map(|one| one.answer)
        .collect();
    assert_eq!(there, [r#"{"incident":{"cause":"user.exception"}}"#]);

    // Another service comes to the same verdict later: nothing to add. Then to another one.
    keep(&second, explained("run-1", "user.exception", NOW + 5));
    assert_eq!(second.share_incidents(NOW + 3, NOW + 6).unwrap(), 0);
    keep(&second, explained("run-1", "node.oom", NOW + 7));
    assert_eq!(second.share_incidents(NOW + 6, NOW + 8).unwrap(), 1);
    first.sync().unwrap();
    let incidents = first.store().incidents().unwrap();
    assert_eq!(incidents.len(), 1);
    assert!(incidents[0].answer.contains("node.oom"), "{incidents:?}");
    assert_eq!(first.share_incidents(Nanos::MIN, NOW + 9).unwrap(), 0);
}
