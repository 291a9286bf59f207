//! A bit of the database's own rows that changed: no answer is another in silence, and
//! no fact is there twice.

use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use whathappened_core::resolve::Name;
use whathappened_model::coverage::Coverage;

use super::*;
use crate::repair;

const ROWS: u64 = 300;

fn told_of() -> impl Iterator<Item = Observation> {
    let told = (0..ROWS).map(|n| reported(event(n, &format!("p-{}", n % 9), START)));
    told.chain([pod("p-1", "exp-a", "job-a", START)])
}

fn filled() -> (tempfile::TempDir, PathBuf) {
    let (folder, mut store) = store();
    let root = store.root().to_owned();
    import(&mut store, told_of());
    (folder, root)
}

fn opened(root: &Path) -> Store {
    Store::open(root, Limits::default()).unwrap()
}

/// Changes a value of each row of a column that a condition names.
fn change(root: &Path, table: &str, column: &str, condition: &str, to: impl Fn(Value) -> Value) {
    let store = opened(root);
    let db = &store.db;
    let old: Vec<Value> = db
        .prepare(&format!("SELECT {column} FROM {table} WHERE {condition}"))
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    assert!(!old.is_empty(), "{table} {condition}");
    // As a disk would do it: what the program does on a change does not happen.
    let triggers: Vec<String> = db
        .prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    for trigger in triggers {
        db.execute(&format!("DROP TRIGGER {trigger}"), []).unwrap();
    }
    for value in old {
        let sql = format!("UPDATE {table} SET {column} = ?2 WHERE {column} = ?1 AND ({condition})");
        db.execute(&sql, rusqlite::params![value, to(value.clone())])
            .unwrap();
    }
}

fn flipped(byte: usize, bit: u8) -> impl Fn(Value) -> Value {
    move |value| match value {
        Value::Blob(mut bytes) => {
            bytes[byte] ^= bit;
            Value::Blob(bytes)
        }
        other => panic!("{other:?}"),
    }
}

fn plus(by: i64) -> impl Fn(Value) -> Value {
    move |value| match value {
        Value::Integer(number) => Value::Integer(number.wrapping_add(by)),
        other => panic!("{other:?}"),
    }
}

fn zeroed(value: Value) -> Value {
    match value {
        Value::Blob(bytes) => Value::Blob(vec![0; bytes.len()]),
        other => panic!("{other:?}"),
    }
}

/// What a question finds, what a window holds, and whether damage of the list was told.
fn asked(root: &Path) -> (usize, usize, bool) {
    let store = Store::open_to_read(root).unwrap();
    let snapshot = store.snapshot().unwrap();
    let found = snapshot.find(&Name::parse("exp-a")).unwrap();
    let found = found.map_or(0, |rows| rows.facts.len() + rows.objects.len());
    let mut inside = 0;
    let window = (START - SECOND, START + SECOND);
    snapshot
        .everything(Some(window), &mut |_| inside += 1, &mut |_| {})
        .unwrap();
    let told = snapshot.coverage_of(Vec::new());
    let missing = snapshot.missing().unwrap();
    let is_of_index = |row: &Coverage| {
        let detail = row.detail.as_deref().unwrap_or_default();
        row.resource == "index" && detail.contains("index says of")
    };
    let is_told = told.iter().any(is_of_index);
    assert_eq!(is_told, missing.iter().any(is_of_index), "SQL's notice");
    (found, inside, is_told)
}

#[test]
fn a_wrong_row_of_the_list_changes_no_answer_and_is_told_until_it_is_repaired() {
    let (_folder, root) = filled();
    let whole = asked(&root);
    assert!(whole.0 > 0 && whole.1 == ROWS as usize && !whole.2);
    type Change = Box<dyn Fn(Value) -> Value>;
    let mut changes: Vec<(&str, Change)> = vec![
        ("words", Box::new(zeroed)),
        ("ids", Box::new(zeroed)),
        ("time_to", Box::new(plus(-DAY))),
        ("time_from", Box::new(plus(1 << 50))),
        ("time_to", Box::new(plus(1 << 40))),
        ("stored_at", Box::new(plus(-365 * DAY))),
        ("rows", Box::new(plus(-1))),
        ("bytes", Box::new(plus(-1))),
        ("day", Box::new(plus(1))),
        ("tbl", Box::new(plus(1))),
    ];
    for byte in 0..32 {
        changes.push(("words", Box::new(flipped(byte, 0x20))));
        changes.push(("ids", Box::new(flipped(byte, 0x04))));
    }
    for (column, to) in changes {
        change(&root, "segments", column, "file LIKE 'events/%'", to);
        let (found, inside, is_told) = asked(&root);
        assert_eq!((found, inside), (whole.0, whole.1), "{column}");
        // Ids are asked by imports alone.
        assert_eq!(is_told, column != "ids", "{column}");
        let mut store = opened(&root);
        let verified = store.verify(&mut |_| {}).unwrap();
        assert_eq!(verified.damaged, [], "{column}");
        assert_eq!(verified.wrong_rows.len(), 1, "{column}: {verified:?}");
        assert!(!store.status().unwrap().is_well(), "{column}");
        // What is told again is known, and nothing is too old.
        assert_eq!(import(&mut store, told_of()), 0, "{column}");
        store.write(told_of().collect(), &[]).unwrap();
        assert_eq!(store.hot_rows().unwrap(), 0, "{column}");
        store.retain(START + DAY).unwrap();
        assert_eq!(facts(&store).len() as u64, ROWS, "{column}");
        drop(store);
        let repaired = repair(&root, Limits::default(), START, &mut |_| {}).unwrap();
        assert_eq!(repaired.relisted, 1, "{column}: {repaired:?}");
        assert!(!repaired.is_anew && repaired.damaged.is_empty(), "{column}");
        assert_eq!(asked(&root), whole, "{column}");
        let store = opened(&root);
        let verified = store.verify(&mut |_| {}).unwrap();
        assert!(verified.is_well(), "{column}: {verified:?}");
        assert!(store.status().unwrap().is_well(), "{column}");
    }
}

/// A row of a program without checksums is believed, but `verify` reads the segment.
#[test]
fn a_list_of_before_gets_checksums_and_is_compared_with_its_segments() {
    let (_folder, root) = filled();
    let drop_sums = |root: &Path| {
        let store = opened(root);
        store.db.execute("DROP TABLE segment_sums", []).unwrap();
    };
    drop_sums(&root);
    let old = Store::open_to_read(&root).unwrap();
    assert_eq!(facts(&old).len() as u64, ROWS);
    assert!(old.verify(&mut |_| {}).unwrap().is_well());
    drop(old);
    assert!(opened(&root).verify(&mut |_| {}).unwrap().is_well());
    change(&root, "segments", "words", "tbl = 0", zeroed);
    assert!(asked(&root).2, "it has checksums now");
    repair(&root, Limits::default(), START, &mut |_| {}).unwrap();
    // What was wrong before it had any is found by what is in the segment.
    for column in ["words", "ids"] {
        change(&root, "segments", column, "tbl = 0", zeroed);
        drop_sums(&root);
        assert!(!opened(&root).verify(&mut |_| {}).unwrap().is_well());
        let repaired = repair(&root, Limits::default(), START, &mut |_| {}).unwrap();
        assert_eq!(repaired.relisted, 1, "{column}");
        assert!(opened(&root).verify(&mut |_| {}).unwrap().is_well());
    }
}

fn text(value: Value) -> Value {
    match value {
        // Another letter, as one bit makes it.
        Value::Text(text) => {
            let mut bytes = text.into_bytes();
            bytes[0] ^= 1;
            Value::Text(String::from_utf8(bytes).unwrap())
        }
        other => panic!("{other:?}"),
    }
}

/// Where a row lies that came lately: its neighbours are read as ever.
#[test]
fn a_wrong_place_of_what_came_lately_is_told_and_mended_from_its_bytes() {
    type Change = Box<dyn Fn(Value) -> Value>;
    let changes: Vec<(&str, Change)> = vec![
        ("day", Box::new(plus(1))),
        ("class", Box::new(plus(1))),
        ("namespace", Box::new(text)),
        ("subject", Box::new(text)),
        ("time", Box::new(plus(DAY))),
        ("rev", Box::new(plus(4))),
        ("replaces", Box::new(plus(4))),
        ("body", Box::new(flipped(40, 1))),
    ];
    for (column, to) in changes {
        let (_folder, mut store) = store();
        let root = store.root().to_owned();
        // Half of it is in a segment, too.
        import(
            &mut store,
            (0..20).map(|n| reported(event(n, "p-1", START))),
        );
        let told = |n: u64| {
            let mut told = event(n, "p-1", START);
            told.time = Stamp::second(START);
            told.source_kind = SourceKind::KubernetesAudit;
            reported(told)
        };
        let all = || (0..40).map(told);
        store.write(all().collect(), &[]).unwrap();
        let whole = facts(&store);
        assert_eq!(whole.len(), 40, "{column}");
        drop(store);
        let one = EventId::of(&["test", "7"]);
        let one = whole.iter().find(|fact| fact.event.id == one).unwrap();
        let id = crate::record::Record::place(one).id;
        change(&root, "hot", column, &format!("id = x'{id:032x}'"), to);

        let store = opened(&root);
        let left = facts(&store);
        // The older copy of it stands where it stood.
        assert_eq!(left.len(), 40, "{column}");
        assert_ne!(left, whole, "{column}: what it told is left out");
        let coverage = store.coverage().unwrap();
        let is_told = |row: &Coverage| {
            let detail = row.detail.as_deref().unwrap_or_default();
            detail.contains("1 fact that came lately is damaged")
        };
        assert!(coverage.iter().any(is_told), "{column}: {coverage:?}");
        assert!(!store.verify(&mut |_| {}).unwrap().is_well(), "{column}");
        assert!(!store.status().unwrap().is_well(), "{column}");
        drop(store);
        let repaired = repair(&root, Limits::default(), START, &mut |_| {}).unwrap();
        let gone = u64::from(column == "body");
        assert_eq!(
            (repaired.replaced, repaired.hot),
            (1 - gone, gone),
            "{column}"
        );
        let mut store = opened(&root);
        assert_eq!(facts(&store) == whole, gone == 0, "{column}");
        assert!(store.verify(&mut |_| {}).unwrap().is_well(), "{column}");
        store.write(all().collect(), &[]).unwrap();
        store.flush(START).unwrap();
        assert_eq!(facts(&store), whole, "{column}");
        assert!(store.verify(&mut |_| {}).unwrap().is_well(), "{column}");
    }
}

/// An older program changes a row and knows nothing of its checksum.
#[test]
fn what_an_older_program_changes_is_no_damage() {
    let (_folder, mut store) = store();
    store.write(told_of().collect(), &[]).unwrap();
    let db = &store.db;
    db.execute("UPDATE hot SET replaces = 77", []).unwrap();
    db.execute("UPDATE entities SET last = last + 1", [])
        .unwrap();
    assert!(store.verify(&mut |_| {}).unwrap().is_well());
    let root = store.root().to_owned();
    drop(store);
    let store = opened(&root);
    for table in ["hot WHERE row_sum", "entities WHERE sum", "names WHERE sum"] {
        let sql = format!("SELECT count(*) FROM {table} IS NULL");
        let left: i64 = store.db.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
    assert!(store.verify(&mut |_| {}).unwrap().is_well());
}

#[test]
fn a_wrong_row_of_the_catalogue_is_told_and_made_anew_from_the_segments() {
    type Change = Box<dyn Fn(Value) -> Value>;
    let changes: Vec<(&str, &str, Change)> = vec![
        ("entities", "first", Box::new(plus(DAY))),
        ("entities", "last", Box::new(plus(-DAY))),
        ("entities", "namespace", Box::new(text)),
        ("entities", "owner", Box::new(text)),
        ("entities", "node", Box::new(text)),
        ("names", "bearer", Box::new(text)),
        ("names", "tier", Box::new(plus(1))),
    ];
    for (table, column, to) in changes {
        let (_folder, root) = filled();
        let whole = asked(&root);
        let before = {
            let store = opened(&root);
            let snapshot = store.snapshot().unwrap();
            (
                snapshot.entities().unwrap(),
                snapshot.roots(Nanos::MIN, Nanos::MAX).unwrap(),
            )
        };
        let condition = match table {
            "names" => "name = 'exp-a'",
            _ => "name = 'p-1'",
        };
        change(&root, table, column, condition, to);
        let store = opened(&root);
        let snapshot = store.snapshot().unwrap();
        // A row that is found by another of its columns, as a disk changes it, or by none.
        let _found = snapshot.find(&Name::parse("exp-a")).unwrap();
        let _all = snapshot.roots(Nanos::MIN, Nanos::MAX).unwrap();
        let told = snapshot.coverage_of(Vec::new());
        let is_told = |row: &Coverage| row.is_damage() && row.resource == "database";
        assert!(told.iter().any(is_told), "{column}: {told:?}");
        drop(snapshot);
        let verified = store.verify(&mut |_| {}).unwrap();
        assert_eq!(verified.wrong_rows.len(), 1, "{column}: {verified:?}");
        assert!(!store.status().unwrap().is_well(), "{column}");
        drop(store);
        let repaired = repair(&root, Limits::default(), START, &mut |_| {}).unwrap();
        assert!(
            repaired.catalogue > 0 && !repaired.is_anew,
            "{column}: {repaired:?}"
        );
        let store = opened(&root);
        assert!(store.verify(&mut |_| {}).unwrap().is_well(), "{column}");
        let snapshot = store.snapshot().unwrap();
        let after = (
            snapshot.entities().unwrap(),
            snapshot.roots(Nanos::MIN, Nanos::MAX).unwrap(),
        );
        assert_eq!(after, before, "{column}");
        assert_eq!(asked(&root), whole, "{column}");
    }
}

/// What is told again makes nothing right that nobody looked at.
#[test]
fn a_wrong_row_of_the_catalogue_that_is_widened_stays_wrong() {
    let (_folder, root) = filled();
    change(&root, "entities", "owner", "name = 'p-1'", text);
    for days in 1..4 {
        import(&mut opened(&root), told_of());
        let later = pod("p-1", "exp-a", "job-a", START + days * DAY);
        opened(&root).write(vec![later], &[]).unwrap();
        assert!(!opened(&root).verify(&mut |_| {}).unwrap().is_well());
    }
    repair(&root, Limits::default(), START, &mut |_| {}).unwrap();
    let store = opened(&root);
    assert!(store.verify(&mut |_| {}).unwrap().is_well());
    let all = store.snapshot().unwrap().entities().unwrap();
    let found = all.iter().find(|one| one.name == "p-1").unwrap();
    assert_eq!(found.owner, "uid-job-a");
    assert!(found.last >= START + 3 * DAY, "{found:?}");
}

/// Who there is, is gone: no row is left that could be wrong.
#[test]
fn a_catalogue_that_lacks_pods_is_told_by_verify_and_made_anew() {
    let (_folder, root) = filled();
    let whole = asked(&root);
    let store = opened(&root);
    store
        .db
        .execute_batch("DELETE FROM entities; DELETE FROM names")
        .unwrap();
    assert!(!store.verify(&mut |_| {}).unwrap().is_well());
    drop(store);
    let repaired = repair(&root, Limits::default(), START, &mut |_| {}).unwrap();
    assert!(repaired.catalogue > 0);
    assert_eq!(asked(&root), whole);
    assert!(opened(&root).verify(&mut |_| {}).unwrap().is_well());
}
