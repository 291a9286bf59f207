//! A fact is kept once, whichever way it came and how often.

use super::*;

#[test]
fn what_is_written_reads_back_as_it_was() {
    let (_folder, mut store) = store();
    let mut whole = event(1, "a-0", START);
    whole.end = Some(Stamp::second(START + 5 * SECOND));
    whole.count = Some(7);
    whole.signals = vec!["k8s.pod.evicted".to_owned(), "second".to_owned()];
    whole.set_attribute("key", Some("value"));
    whole.exit_code = Some(-9);
    whole.observed = Some(START + SECOND);
    let mut timeless = event(2, "a-1", START);
    timeless.time = Stamp::OPEN;
    let mut half = event(3, "a-2", START);
    half.time = Stamp {
        lo: Nanos::MIN,
        hi: START,
    };
    let all = [whole, timeless, half];
    store
        .write(all.clone().map(reported).to_vec(), &[])
        .unwrap();
    let by_id =
        |facts: Vec<Fact>| -> Vec<Event> { facts.into_iter().map(|fact| fact.event).collect() };
    let mut expected = all.to_vec();
    expected.sort_by_key(|event| event.id);
    assert_eq!(by_id(facts(&store)), expected, "hot");
    assert_eq!(store.flush(START).unwrap(), 3);
    assert_eq!(by_id(facts(&store)), expected, "in segments");
    assert_eq!(store.status().unwrap().hot, 0);
}

#[test]
fn the_same_again_changes_nothing() {
    let (_folder, mut store) = store();
    let all = || (0..500).map(|n| reported(event(n, "a-0", START + DAY * (n as i64 % 3))));
    assert_eq!(import(&mut store, all()), 500);
    let segments = store.status().unwrap().segments;
    assert_eq!(import(&mut store, all()), 0);
    assert_eq!(store.write(all().collect(), &[]).unwrap(), 0);
    let status = store.status().unwrap();
    assert_eq!(
        (status.facts, status.hot, status.segments),
        (500, 0, segments)
    );
}

#[test]
fn a_second_witness_joins_the_first_on_every_path() {
    let seen = [SourceKind::Kubernetes, SourceKind::KubernetesAudit];
    let second = || {
        let mut other = event(1, "a-0", START);
        other.source_kind = SourceKind::KubernetesAudit;
        other.count = Some(9);
        reported(other)
    };
    for path in ["hot hot", "bulk hot", "bulk bulk", "hot bulk"] {
        let (_folder, mut store) = store();
        let (first, then) = path.split_once(' ').unwrap();
        for (way, one) in [(first, reported(event(1, "a-0", START))), (then, second())] {
            if way == "hot" {
                store.write(vec![one], &[]).unwrap();
            } else {
                import(&mut store, [one]);
            }
        }
        for step in ["as written", "flushed", "compacted"] {
            let facts = facts(&store);
            // A hot row stands in for a segment's copy; the question merges both.
            assert_eq!(facts.len(), 1, "{path}, {step}");
            if step != "as written" || path != "hot bulk" {
                assert_eq!(facts[0].seen_by, seen, "{path}, {step}");
                assert_eq!(facts[0].event.count, Some(9), "{path}, {step}");
            }
            match step {
                "as written" => drop(store.flush(START).unwrap()),
                _ => drop(store.compact(1, START, &mut |_, _| {}).unwrap()),
            }
        }
    }
}

#[test]
fn merging_does_not_depend_on_the_order() {
    let mut copies = Vec::new();
    for (number, (kind, width, count)) in [
        (SourceKind::Kubernetes, SECOND, Some(3)),
        (SourceKind::KubernetesAudit, 1_000, Some(1)),
        (SourceKind::Loki, 1, None),
        (SourceKind::Kubernetes, SECOND, Some(3)),
    ]
    .into_iter()
    .enumerate()
    {
        let mut copy = event(1, "a-0", START);
        copy.source_kind = kind;
        copy.time.hi = copy.time.lo + width;
        copy.count = count;
        copy.end = count.map(|count| Stamp::second(START + SECOND * 60 / (count as i64)));
        copy.origin.line = number as u64;
        copies.push(copy);
    }
    let mut results = Vec::new();
    for turn in 0..copies.len() {
        copies.rotate_left(1);
        let (_folder, mut store) = store();
        if turn % 2 == 0 {
            copies.reverse();
        }
        for copy in &copies {
            store.write(vec![reported(copy.clone())], &[]).unwrap();
        }
        results.push(facts(&store));
    }
    assert!(
        results.windows(2).all(|pair| pair[0] == pair[1]),
        "{results:#?}"
    );
}

#[test]
fn a_newer_format_is_refused() {
    let (folder, store) = store();
    let root = store.root().to_owned();
    store.db.pragma_update(None, "user_version", 99).unwrap();
    drop(store);
    for opened in [
        Store::open(&root, Limits::default()).map(drop),
        Store::open_to_read(&root).map(drop),
    ] {
        let reported = opened.unwrap_err().to_string();
        assert!(
            reported.contains("has format 99") && reported.contains("newer"),
            "{reported}"
        );
    }
    let nothing = Store::open_to_read(&folder.path().join("nothing"));
    assert!(
        nothing
            .unwrap_err()
            .to_string()
            .contains("there is no store here")
    );
}

#[test]
fn what_is_no_store_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("store.db"),
        "this is a diary, not a database",
    )
    .unwrap();
    let reported = Store::open(folder.path(), Limits::default()).unwrap_err();
    assert!(
        reported.to_string().contains("not a whathappened store"),
        "{reported}"
    );
}
