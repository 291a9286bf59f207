use super::*;
use crate::limits::Limits;
use crate::tests::damage::flip_in_database;

fn incident(id: &str, at: Nanos, verdict: &str) -> StoredIncident {
    StoredIncident {
        time: Some(1),
        id: id.to_owned(),
        experiment: "x".to_owned(),
        run_id: "run".to_owned(),
        explained_at: at,
        ruleset: "rules".to_owned(),
        machines: Vec::new(),
        answer: "{}".to_owned(),
        verdict: verdict.to_owned(),
    }
}

#[test]
fn each_verdict_that_differs_is_noted_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Limits::default()).unwrap();
    let runs = ["run".to_owned()];
    for (at, verdict) in [(1, "a"), (2, "a"), (3, "b"), (4, "a")] {
        let one = incident("i", at, verdict);
        store.keep_incidents(&runs, &[one]).unwrap();
    }
    let of = |store: &Store, id: &str| -> Vec<(Nanos, String)> {
        let told = store.snapshot().unwrap().verdicts(id).unwrap();
        told.into_iter()
            .map(|one| (one.explained_at, one.verdict))
            .collect()
    };
    let noted = [(1, "a"), (3, "b"), (4, "a")].map(|(at, text)| (at, text.to_owned()));
    assert_eq!(of(&store, "i"), noted);
    for at in 5..200 {
        let one = incident("i", at, &at.to_string());
        store.keep_incidents(&runs, &[one]).unwrap();
    }
    assert_eq!(of(&store, "i").len(), VERDICTS as usize);
    store
        .keep_incidents(&runs, &[incident("other", 200, "c")])
        .unwrap();
    assert!(of(&store, "i").is_empty());
    let snapshot = store.snapshot().unwrap();
    assert!(snapshot.incident("i").unwrap().is_none());
    assert_eq!(snapshot.incident("other").unwrap().unwrap().run_id, "run");
}

/// A byte that a disk changed passed unseen: the cause was another, and so it was told.
#[test]
fn a_changed_byte_is_not_shown_but_told_until_the_run_is_explained_anew() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let runs = ["run".to_owned()];
    let cause = |number: u32| StoredIncident {
        answer: format!(r#"{{"incident":{{"cause":"cause.{number}","run_id":"run"}}}}"#),
        ..incident(&format!("i-{number}"), 5, "verdict-one")
    };
    let mut store = Store::open(root, Limits::default()).unwrap();
    store.keep_incidents(&runs, &[cause(1), cause(2)]).unwrap();
    drop(store);
    flip_in_database(root, "cause.1", 1);

    let store = Store::open_to_read(root).unwrap();
    let ids = |store: &Store| -> Vec<String> {
        let all = store.incidents().unwrap().into_iter();
        all.map(|one| one.id).collect()
    };
    assert_eq!(ids(&store), ["i-2"]);
    let snapshot = store.snapshot().unwrap();
    assert!(snapshot.incident("i-1").unwrap().is_none());
    assert_eq!(
        store.runs_of_damaged("i-1").unwrap(),
        BTreeSet::from(runs.clone())
    );
    assert!(store.runs_of_damaged("i-2").unwrap().is_empty());
    let found = store.verify(&mut |_| {}).unwrap();
    assert_eq!(found.wrong_rows, ["incident i-1 is damaged"]);
    assert!(!found.is_well());
    drop(snapshot);
    drop(store);

    // Whoever lists runs explains this one again; until then it is told.
    let mut store = Store::open(root, Limits::default()).unwrap();
    let told = |store: &Store| store.coverage().unwrap().len();
    assert_eq!(told(&store), 0);
    assert!(store.explained_runs().unwrap().is_empty());
    let coverage = store.coverage().unwrap();
    let detail = coverage[0].detail.as_ref().unwrap();
    assert!(
        detail.starts_with("1 stored incident is damaged"),
        "{detail}"
    );
    // Where no record is left, that is all that is known of the run, and is told on.
    let calm = StoredIncident {
        answer: r#"{"incident":{"cause":"none.unknown"}}"#.to_owned(),
        ..incident("calm", 6, "")
    };
    store.keep_incidents(&runs, &[calm]).unwrap();
    assert_eq!(told(&store), 1);
    store.keep_incidents(&runs, &[cause(1), cause(2)]).unwrap();
    assert_eq!((told(&store), ids(&store).len()), (0, 2));
    assert!(store.verify(&mut |_| {}).unwrap().is_well());
    drop(store);

    // What nobody explains again goes by a repair.
    flip_in_database(root, "cause.2", 1);
    flip_in_database(root, "verdict-one", 1);
    let repaired = crate::repair(root, Limits::default(), 9, &mut |_| {}).unwrap();
    assert_eq!(repaired.incidents, 1);
    let store = Store::open_to_read(root).unwrap();
    assert!(store.verify(&mut |_| {}).unwrap().is_well());
    assert_eq!(ids(&store), ["i-1"]);
}

#[test]
fn a_changed_verdict_or_row_of_coverage_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let mut store = Store::open(root, Limits::default()).unwrap();
    let runs = ["run".to_owned()];
    for (at, verdict) in [(1, "first-verdict"), (2, "second-verdict")] {
        store
            .keep_incidents(&runs, &[incident("i", at, verdict)])
            .unwrap();
    }
    for (key, resource) in [("a", "pods"), ("b", "nodes")] {
        let row = Coverage::new("kubernetes", resource);
        store.keep_coverage(&[(key.to_owned(), row)], 1).unwrap();
    }
    drop(store);
    flip_in_database(root, "first-verdict", 1);
    flip_in_database(root, "\"nodes\"", 1);
    let store = Store::open_to_read(root).unwrap();
    let verdicts = store.snapshot().unwrap().verdicts("i").unwrap();
    assert_eq!(verdicts.len(), 1);
    assert_eq!(verdicts[0].verdict, "second-verdict");
    let rows = store.coverage().unwrap();
    let resources: Vec<_> = rows.iter().map(|row| row.resource.as_str()).collect();
    assert_eq!(resources, ["pods", "coverage"]);
    let found = store.verify(&mut |_| {}).unwrap();
    assert_eq!(found.wrong_rows.len(), 2, "{found:?}");
}

/// A store of before has no checksums; what is in it is believed.
#[test]
fn a_store_of_before_is_read_and_gets_checksums() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let mut store = Store::open(root, Limits::default()).unwrap();
    let runs = ["run".to_owned()];
    store
        .keep_incidents(&runs, &[incident("i", 1, "v")])
        .unwrap();
    for table in ["incidents", "verdicts", "coverage"] {
        let drop_column = format!("ALTER TABLE {table} DROP COLUMN sum");
        store.db.execute(&drop_column, []).unwrap();
    }
    store
        .db
        .execute("DROP TABLE damaged_incidents", [])
        .unwrap();
    drop(store);
    let store = Store::open_to_read(root).unwrap();
    assert_eq!(store.incidents().unwrap().len(), 1);
    assert_eq!(store.snapshot().unwrap().verdicts("i").unwrap().len(), 1);
    assert!(store.coverage().unwrap().is_empty());
    assert!(store.verify(&mut |_| {}).unwrap().is_well());
    drop(store);
    let mut store = Store::open(root, Limits::default()).unwrap();
    assert_eq!(store.incidents().unwrap().len(), 1);
    let with_sum = StoredIncident {
        answer: "an answer with a sum".to_owned(),
        ..incident("j", 2, "w")
    };
    store.keep_incidents(&runs, &[with_sum]).unwrap();
    drop(store);
    flip_in_database(root, "an answer with a sum", 1);
    assert!(
        Store::open_to_read(root)
            .unwrap()
            .incidents()
            .unwrap()
            .is_empty()
    );
}
