//! What counts as a change of a store, and what is kept until there is one.

use whathappened_model::connector::Cursor;
use whathappened_model::coverage::Coverage;

use super::samples::{START, event, import, pod, reported};
use crate::access::Access;
use crate::catalogue::kept_roots;
use crate::incidents::StoredIncident;
use crate::limits::Limits;
use crate::store::Store;
use crate::version;

#[test]
fn what_questions_are_answered_from_counts_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Limits::default()).unwrap();
    let reader = Store::open_to_read(folder.path()).unwrap();
    let now = || reader.version().unwrap().unwrap();
    let empty = now();
    let told = || {
        vec![
            reported(event(1, "p", START)),
            reported(event(2, "q", START)),
        ]
    };
    store.write(told(), &[]).unwrap();
    let rows = now();
    assert_ne!(rows, empty);
    store.write(told(), &[]).unwrap();
    assert_eq!(now(), rows, "the same again tells nothing");
    let cursor = Cursor {
        place: "a".to_owned(),
        resource: "b".to_owned(),
        namespace: String::new(),
        position: "c".to_owned(),
        at: 7,
    };
    store.write(Vec::new(), &[cursor]).unwrap();
    assert_eq!(now(), rows, "a cursor is in no answer");
    let coverage = [("k".to_owned(), Coverage::new("loki", "logs"))];
    store.write_covered(Vec::new(), &[], &coverage, 9).unwrap();
    assert_ne!(now().records, rows.records);

    let incident = |explained_at: i64, verdict: &str| StoredIncident {
        time: Some(1),
        id: "i".to_owned(),
        experiment: "x".to_owned(),
        run_id: "r".to_owned(),
        explained_at,
        ruleset: "1".to_owned(),
        machines: Vec::new(),
        answer: "{}".to_owned(),
        verdict: verdict.to_owned(),
    };
    let mut keep = |at, verdict| {
        let runs = ["r".to_owned()];
        store
            .keep_incidents(&runs, &[incident(at, verdict)])
            .unwrap();
    };
    let before = now();
    keep(1, "one");
    let one = now();
    assert_ne!(one.verdicts, before.verdicts);
    assert_eq!(one.records, before.records);
    keep(2, "one");
    assert_eq!(now(), one, "explained anew, with the same verdict");
    keep(3, "another");
    assert_ne!(now(), one);
}

#[test]
fn roots_are_kept_until_another_one_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Limits::default()).unwrap();
    let pods = |from: u64, to: u64| -> Vec<_> {
        (from..to)
            .map(|n| {
                pod(
                    &format!("p-{n}"),
                    &format!("x-{}", n % 9),
                    &format!("job-{}", n % 40),
                    START,
                )
            })
            .collect()
    };
    import(&mut store, pods(0, 6_000));
    let read = || {
        let snapshot = store.snapshot().unwrap();
        snapshot.roots(i64::MIN, i64::MAX).unwrap()
    };
    let before = read();
    store.keep_roots().unwrap();
    let kept = |store: &Store| -> bool {
        let now = version::of_catalogue(&store.db).unwrap().unwrap();
        kept_roots::read(&store.db, now).unwrap().is_some()
    };
    assert!(kept(&store));
    assert_eq!(read(), before);
    let snapshot = store.snapshot().unwrap();
    assert_eq!(snapshot.roots(i64::MIN, 0).unwrap(), []);
    drop(snapshot);
    // Whoever may not see all of it is given none of what was kept.
    let some = Access {
        namespaces: Some(["nowhere".to_owned()].into()),
        ..Access::default()
    };
    let restricted = store.snapshot_for(&some).unwrap();
    assert_eq!(restricted.roots(i64::MIN, i64::MAX).unwrap(), []);
    drop(restricted);
    store.write(pods(6_000, 6_001), &[]).unwrap();
    assert!(!kept(&store), "a pod more");
    let pods: u64 = store
        .snapshot()
        .unwrap()
        .roots(i64::MIN, i64::MAX)
        .unwrap()
        .iter()
        .map(|root| root.pods)
        .sum();
    assert_eq!(pods, 6_001);
    store.keep_roots().unwrap();
    // A byte that a disk changed is not believed.
    store
        .db
        .execute_batch("UPDATE kept_roots SET body = x'00'")
        .unwrap();
    assert!(!kept(&store));
}
