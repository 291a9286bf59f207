//! What counts as a change of a store.

use whathappened_model::connector::Cursor;
use whathappened_model::coverage::Coverage;

use super::samples::{START, event, reported};
use crate::incidents::StoredIncident;
use crate::limits::Limits;
use crate::store::Store;

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
