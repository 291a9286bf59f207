//! A list that is lost and segments that are not what was written: nothing is
//! deleted, and what is damaged costs itself alone.

use std::path::{Path, PathBuf};

use whathappened_model::coverage::Coverage;

use super::*;
use crate::repair;

/// Segments in a store's folder, in order.
pub(super) fn segments(root: &Path) -> Vec<PathBuf> {
    crate::retain::on_disk(root)
        .unwrap()
        .into_iter()
        .map(|file| root.join(file))
        .collect()
}

fn filled() -> (tempfile::TempDir, PathBuf) {
    let (folder, mut store) = store();
    let root = store.root().to_owned();
    for day in 0..3_u64 {
        let rows = (0..400).map(|n| {
            reported(event(
                n + day * 1_000,
                &format!("p-{}", n % 9),
                START + DAY * day as i64,
            ))
        });
        import(
            &mut store,
            rows.chain([pod("p-1", "exp-a", "job-a", START)]),
        );
    }
    (folder, root)
}

fn anew(root: &Path) -> crate::Repaired {
    repair(root, Limits::default(), START, &mut |_| {}).unwrap()
}

#[test]
fn a_lost_list_is_told_and_nothing_is_deleted() {
    for way in ["gone", "empty"] {
        let (_folder, root) = filled();
        let before = segments(&root);
        for end in ["", "-wal", "-shm"] {
            let path = root.join(format!("store.db{end}"));
            let _absent = std::fs::remove_file(&path);
            if way == "empty" && end.is_empty() {
                std::fs::write(&path, "").unwrap();
            }
        }
        for error in [
            Store::open(&root, Limits::default()).unwrap_err(),
            Store::open_to_read(&root).unwrap_err(),
        ] {
            assert!(error.to_string().contains("missing or empty"), "{error}");
            assert!(error.hint().unwrap().contains("store repair"), "{error}");
        }
        assert_eq!(segments(&root), before, "{way}");
        let repaired = anew(&root);
        assert_eq!((repaired.listed, repaired.rows), (4, 1_201), "{way}");
        let mut store = Store::open(&root, Limits::default()).unwrap();
        assert_eq!(facts(&store).len(), 1_200);
        let snapshot = store.snapshot().unwrap();
        let name = whathappened_core::resolve::Name::parse("exp-a");
        assert!(snapshot.find(&name).unwrap().is_some(), "the catalogue");
        let coverage = snapshot.coverage().unwrap();
        assert!(coverage[0].detail.as_ref().unwrap().contains("was rebuilt"));
        drop(snapshot);
        // The same again is known, and what is new gets a name that no file has.
        let same = (0..400).map(|n| reported(event(n, &format!("p-{}", n % 9), START)));
        assert_eq!(import(&mut store, same), 0);
        assert_eq!(
            import(&mut store, [reported(event(9_999, "p-0", START))]),
            1
        );
        store.retain(START + 10 * DAY).unwrap();
        store.compact(1, START + 10 * DAY, &mut |_, _| {}).unwrap();
        assert_eq!(facts(&store).len(), 1_201);
        assert!(store.verify(&mut |_| {}).unwrap().is_well());
    }
}

#[test]
fn an_old_list_deletes_nothing_that_it_does_not_know() {
    let (folder, root) = filled();
    let aside = folder.path().join("old.db");
    {
        let store = Store::open(&root, Limits::default()).unwrap();
        let to = format!("VACUUM INTO '{}'", aside.display());
        store.db.execute_batch(&to).unwrap();
    }
    let mut store = Store::open(&root, Limits::default()).unwrap();
    import(
        &mut store,
        (5_000..5_050).map(|n| reported(event(n, "q", START))),
    );
    drop(store);
    for end in ["-wal", "-shm"] {
        let _absent = std::fs::remove_file(root.join(format!("store.db{end}")));
    }
    std::fs::copy(&aside, root.join("store.db")).unwrap();
    let before = segments(&root).len();
    let limits = Limits {
        grace: 0,
        ..Limits::default()
    };
    let mut store = Store::open(&root, limits).unwrap();
    store.retain(START).unwrap();
    assert_eq!(segments(&root).len(), before);
    assert_eq!(store.verify(&mut |_| {}).unwrap().unknown.len(), 1);
    // Nobody takes what is left for whole.
    let status = store.status().unwrap();
    assert!(!status.is_well() && status.unlisted.len() == 1 && status.hint().is_some());
    for rows in [
        store.snapshot().unwrap().missing().unwrap(),
        store.coverage().unwrap(),
    ] {
        let told = |row: &Coverage| {
            row.detail
                .as_ref()
                .is_some_and(|why| why.contains("not in its index"))
        };
        assert!(rows.iter().any(told), "{rows:?}");
    }
    drop(store);
    assert_eq!(anew(&root).listed, 1);
    let store = Store::open(&root, limits).unwrap();
    assert_eq!(facts(&store).len(), 1_250);
    assert!(store.verify(&mut |_| {}).unwrap().is_well());
    assert!(store.status().unwrap().is_well() && store.unlisted().unwrap().is_empty());
}

/// Every place of a segment, one at a time, for one byte.
/// A pipe that nobody writes to would be waited for for ever, and a file that may not be read stops nobody.
#[test]
fn what_lies_in_the_place_of_a_segment_is_told_and_not_opened() {
    use std::os::unix::fs::PermissionsExt as _;
    for way in ["pipe", "folder", "denied"] {
        let (_folder, root) = filled();
        let one = segments(&root).remove(0);
        match way {
            "denied" => {
                std::fs::set_permissions(&one, std::fs::Permissions::from_mode(0o000)).unwrap();
                // Root reads everything.
                if std::fs::File::open(&one).is_ok() {
                    continue;
                }
            }
            "folder" => {
                std::fs::remove_file(&one).unwrap();
                std::fs::create_dir(&one).unwrap();
            }
            _ => {
                std::fs::remove_file(&one).unwrap();
                let made = std::process::Command::new("mkfifo").arg(&one).status();
                assert!(made.unwrap().success());
            }
        }
        let store = Store::open_to_read(&root).unwrap();
        let (snapshot, mut read) = (store.snapshot().unwrap(), 0);
        snapshot
            .everything(None, &mut |_| read += 1, &mut |_| {})
            .unwrap();
        assert!(read < 1_200, "{way}");
        let told = snapshot.damaged().unwrap();
        let why = if way == "denied" {
            "may not read"
        } else {
            "no regular file"
        };
        assert!(
            told.iter().any(|one| one.why.contains(why)),
            "{way}: {told:?}"
        );
    }
}

/// One segment, or one folder of them, that this user may not read stopped the repair of all others.
#[test]
fn what_may_not_be_read_stops_no_repair() {
    use std::os::unix::fs::PermissionsExt as _;
    for way in ["segment", "folder"] {
        let (_folder, root) = filled();
        let denied = match way {
            "segment" => segments(&root).remove(0),
            _ => segments(&root).remove(0).parent().unwrap().to_owned(),
        };
        let broken = segments(&root).pop().unwrap();
        let mode = |mode| std::fs::set_permissions(&denied, std::fs::Permissions::from_mode(mode));
        let mut bytes = std::fs::read(&broken).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x40;
        if !broken.starts_with(&denied) {
            std::fs::write(&broken, bytes).unwrap();
        }
        mode(0o000).unwrap();
        // Root reads everything.
        if std::fs::read_dir(&denied).is_ok() || std::fs::File::open(&denied).is_ok() {
            mode(0o700).unwrap();
            continue;
        }
        let done = repair(&root, Limits::default(), START, &mut |_| {}).unwrap();
        let store = Store::open_to_read(&root).unwrap();
        let (snapshot, mut read) = (store.snapshot().unwrap(), 0);
        let asked = snapshot.everything(None, &mut |_| read += 1, &mut |_| {});
        mode(0o700).unwrap();
        asked.unwrap();
        assert!(read < 1_200, "{way}");
        let (_, why) = &done.unreadable[0];
        assert!(why.contains("may not read"), "{way}: {done:?}");
        assert!(
            broken.starts_with(&denied) || done.damaged.len() == 1,
            "{way}: {done:?}"
        );
        // It is there again once it can be read.
        let again = repair(&root, Limits::default(), START, &mut |_| {}).unwrap();
        assert!(again.unreadable.is_empty(), "{way}: {again:?}");
    }
}

#[test]
fn a_flipped_byte_costs_at_most_its_segment_and_is_told() {
    let (_folder, root) = filled();
    let path = segments(&root).remove(0);
    let right = std::fs::read(&path).unwrap();
    for at in (0..right.len()).step_by(right.len() / 97) {
        let mut wrong = right.clone();
        wrong[at] ^= 0x40;
        std::fs::write(&path, &wrong).unwrap();
        let store = Store::open_to_read(&root).unwrap();
        assert!(!store.verify(&mut |_| {}).unwrap().is_well(), "byte {at}");
        let snapshot = store.snapshot().unwrap();
        let mut found = 0;
        snapshot
            .everything(None, &mut |_| found += 1, &mut |_| {})
            .unwrap();
        assert!((800..=1_200).contains(&found), "byte {at}: {found}");
        if found < 1_200 {
            let reported = snapshot.coverage().unwrap();
            assert!(
                reported.iter().any(|row| row.source == "store"),
                "byte {at}: {reported:?}"
            );
        }
        snapshot
            .find(&whathappened_core::resolve::Name::parse("exp-a"))
            .unwrap();
    }
}

/// A bit with which no text is UTF-8.
const NO_TEXT: u8 = 0x80;

/// Turns bits of the first byte of each place where a text stands in the database.
pub(crate) fn flip_in_database(root: &Path, text: &str, bits: u8) {
    let path = root.join(crate::store::DATABASE);
    let mut bytes = std::fs::read(&path).unwrap();
    let places: Vec<usize> = bytes
        .windows(text.len())
        .enumerate()
        .filter(|(_, part)| *part == text.as_bytes())
        .map(|(at, _)| at)
        .collect();
    assert!(!places.is_empty(), "{text}");
    for at in places {
        bytes[at] ^= bits;
    }
    std::fs::write(path, bytes).unwrap();
}

/// A byte of a row that is in no segment yet passed unseen, or stopped every question.
#[test]
fn a_flipped_byte_of_what_came_lately_costs_its_row_and_is_told() {
    for flipped in ["message of 7", "mess"] {
        let (_folder, mut store) = store();
        let root = store.root().to_owned();
        let told = |n: u64| {
            let mut event = event(n, "p-1", START);
            event.message = Some(format!("message of {n}"));
            reported(event)
        };
        store.write((0..40).map(told).collect(), &[]).unwrap();
        drop(store);
        flip_in_database(&root, flipped, NO_TEXT);
        let lost = if flipped == "mess" { 40 } else { 1 };

        let mut store = Store::open(&root, Limits::default()).unwrap();
        assert_eq!(facts(&store).len(), 40 - lost, "{flipped}");
        let verified = store.verify(&mut |_| {}).unwrap();
        assert!(
            verified.wrong_rows[0].contains(&format!("{lost} fact")),
            "{verified:?}"
        );
        assert!(!store.status().unwrap().is_well());
        let coverage = store.coverage().unwrap();
        let detail = coverage[0].detail.as_ref().unwrap();
        assert!(detail.contains("damaged and left out"), "{detail}");
        // The others go their way.
        store.flush(START).unwrap();
        assert_eq!(facts(&store).len(), 40 - lost, "{flipped}");
        // What is told again is there again, and once.
        store.write((0..20).map(told).collect(), &[]).unwrap();
        let there = if lost == 1 { 40 } else { 20 };
        assert_eq!(facts(&store).len(), there, "{flipped}");
        store.flush(START).unwrap();
        assert_eq!(facts(&store).len(), there, "{flipped}");
        drop(store);
        let gone = anew(&root).hot;
        assert_eq!(gone, if lost == 1 { 0 } else { 20 }, "{flipped}");
        let store = Store::open(&root, Limits::default()).unwrap();
        assert!(store.verify(&mut |_| {}).unwrap().is_well());
        let coverage = store.coverage().unwrap();
        assert_eq!(gone == 0, coverage.is_empty(), "{coverage:?}");
    }
}

/// A store of before has no checksums of what came lately; what is in it is believed.
#[test]
fn a_store_of_before_gets_checksums_of_what_came_lately() {
    let (_folder, mut store) = store();
    let root = store.root().to_owned();
    let told = |n| reported(event(n, "p-1", START));
    store.write(vec![told(1)], &[]).unwrap();
    store
        .db
        .execute("ALTER TABLE hot DROP COLUMN sum", [])
        .unwrap();
    let old = Store::open_to_read(&root).unwrap();
    assert_eq!(facts(&old).len(), 1);
    assert!(old.verify(&mut |_| {}).unwrap().is_well());
    drop((old, store));
    let mut store = Store::open(&root, Limits::default()).unwrap();
    store.write(vec![told(2)], &[]).unwrap();
    assert_eq!(facts(&store).len(), 2);
    assert!(store.verify(&mut |_| {}).unwrap().is_well());
}

#[test]
fn an_import_into_the_day_of_a_damaged_segment_makes_nothing_twice() {
    for way in ["bulk", "hot", "gone", "cut", "empty", "folder"] {
        let (_folder, root) = filled();
        let path = segments(&root).remove(0);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 3;
        bytes[middle] ^= 1;
        match way {
            "gone" => std::fs::remove_file(&path).unwrap(),
            "cut" => std::fs::write(&path, &bytes[..middle]).unwrap(),
            "empty" => std::fs::write(&path, "").unwrap(),
            "folder" => {
                std::fs::remove_file(&path).unwrap();
                std::fs::create_dir(&path).unwrap();
            }
            _ => std::fs::write(&path, &bytes).unwrap(),
        }
        let mut store = Store::open(&root, Limits::default()).unwrap();
        // All of before and some more.
        let same = || (0..430).map(|n| reported(event(n, &format!("p-{}", n % 9), START)));
        if way == "hot" {
            store.write(same().collect(), &[]).unwrap();
        } else {
            import(&mut store, same());
        }
        assert_eq!(facts(&store).len(), 1_230, "{way}");
        store.flush(START).unwrap();
        store.compact(1, START, &mut |_, _| {}).unwrap();
        assert_eq!(facts(&store).len(), 1_230, "{way}");
        let reported = store.coverage().unwrap();
        assert!(
            reported[0].detail.as_ref().unwrap().contains("is damaged"),
            "{way}"
        );
        assert!(way == "gone" || path.exists(), "what is damaged is kept");
        drop(store);
        anew(&root);
        let store = Store::open_to_read(&root).unwrap();
        assert_eq!(facts(&store).len(), 1_230, "{way}");
    }
}

/// A segment of some rows of which some bytes are wrong.
fn broken(rows: u64, part: f64, changes: &[usize]) -> (tempfile::TempDir, PathBuf) {
    let (folder, mut store) = store();
    let root = store.root().to_owned();
    import(&mut store, told_of(rows));
    let path = segments(&root).remove(0);
    let mut bytes = std::fs::read(&path).unwrap();
    let place = (bytes.len() as f64 * part) as usize;
    for change in changes {
        bytes[place + change] ^= 0x5a;
    }
    std::fs::write(&path, &bytes).unwrap();
    (folder, root)
}

fn told_of(rows: u64) -> impl Iterator<Item = Observation> {
    (0..rows).map(|n| reported(event(n, &format!("p-{n:05}"), START)))
}

#[test]
fn one_wrong_byte_costs_nothing_once_it_was_repaired() {
    let (_folder, root) = broken(917, 0.5, &[0]);
    let repaired = anew(&root);
    assert_eq!(repaired.damaged.len(), 1, "{repaired:?}");
    assert_eq!((repaired.damaged[0].1, repaired.damaged[0].2), (917, 917));
    let store = Store::open_to_read(&root).unwrap();
    assert_eq!(facts(&store).len(), 917);
    assert!(store.verify(&mut |_| {}).unwrap().is_well());
    assert!(store.status().unwrap().is_well());
}

#[test]
fn what_can_be_read_of_a_damaged_segment_is_saved() {
    let mut known = 0;
    for (rows, part, least) in [
        (917, 0.2, 0),
        (917, 0.5, 200),
        (20_000, 0.5, 10_000),
        (20_000, 0.8, 1_000),
        (20_000, 0.93, 1_000),
    ] {
        let (_folder, root) = broken(rows, part, &[0, 1, 2]);
        let repaired = anew(&root);
        let [(file, saved, of)] = repaired.damaged.as_slice() else {
            panic!("{repaired:?}");
        };
        assert_eq!(*of, rows);
        assert!(*saved >= least && saved < of, "{part}: {repaired:?}");
        let mut store = Store::open(&root, Limits::default()).unwrap();
        assert_eq!(facts(&store).len() as u64, *saved);
        // It is told to whoever asks how the store is, and to who reads a moment of it.
        let status = store.status().unwrap();
        assert_eq!(status.lost(), of - saved);
        assert!(status.hint().unwrap().contains("import the missing facts"));
        let damaged = store.snapshot().unwrap().damaged().unwrap();
        assert_eq!(damaged, status.damaged);
        assert_eq!(&damaged[0].file, file);
        assert_eq!(anew(&root).damaged, []);
        assert!(!store.verify(&mut |_| {}).unwrap().is_well());
        // Nothing tells of it any more once its rows are back.
        import(&mut store, told_of(rows));
        drop(store);
        let back = anew(&root).back;
        if back.is_empty() {
            // Where the ids themselves are lost, somebody has to say that it is so.
            let mut store = Store::open(&root, Limits::default()).unwrap();
            assert!(store.forget_damaged(file, START).unwrap());
        } else {
            assert_eq!(back, [file.as_str()]);
            known += 1;
        }
        let store = Store::open_to_read(&root).unwrap();
        assert_eq!(facts(&store).len() as u64, rows);
        let verified = store.verify(&mut |_| {}).unwrap();
        assert!(verified.is_well(), "{verified:?}");
        assert!(store.status().unwrap().is_well());
        assert!(store.snapshot().unwrap().damaged().unwrap().is_empty());
    }
    assert!(known > 0, "the ids are seldom what is lost");
}

#[test]
fn a_segment_that_is_gone_is_told_until_somebody_says_that_nobody_misses_it() {
    let (_folder, root) = filled();
    let path = segments(&root).remove(0);
    std::fs::remove_file(&path).unwrap();
    let mut store = Store::open(&root, Limits::default()).unwrap();
    let status = store.status().unwrap();
    assert_eq!((status.damaged.len(), status.lost()), (1, 400));
    assert!(status.hint().unwrap().contains("store repair"));
    assert!(
        status.damaged[0]
            .to_string()
            .contains("400 of its 400 rows")
    );
    anew(&root);
    let file = status.damaged[0].file.clone();
    assert!(!store.verify(&mut |_| {}).unwrap().is_well());
    assert!(store.forget_damaged(&file, START).unwrap());
    assert!(!store.forget_damaged(&file, START).unwrap());
    assert!(store.verify(&mut |_| {}).unwrap().is_well());
}

/// Closes a store and makes the page of its index of names another than it was.
fn damage_index(store: Store, damage: impl FnOnce(&mut [u8])) {
    const PAGE: usize = 4_096;
    let number: u64 = store
        .db
        .query_row(
            "SELECT rootpage FROM sqlite_master WHERE name = 'entities_name'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let path = store.root().join("store.db");
    drop(store);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = usize::try_from(number - 1).unwrap() * PAGE;
    damage(&mut bytes[at..at + PAGE]);
    std::fs::write(&path, &bytes).unwrap();
}

#[test]
fn a_damaged_database_is_told_at_opening_and_by_status() {
    let (_folder, root) = filled();
    let store = Store::open(&root, Limits::default()).unwrap();
    store.db.execute("DELETE FROM checked", []).unwrap();
    damage_index(store, |page| page[3..9].fill(0xa5));
    let store = Store::open_to_read(&root).unwrap();
    let status = store.status().unwrap();
    assert!(!status.is_well() && status.hint().unwrap().contains("store repair"));
    let reported = store.coverage().unwrap();
    let is_told = |row: &Coverage| {
        let detail = row.detail.as_deref().unwrap_or_default();
        detail.contains("database is damaged")
    };
    assert!(reported.iter().any(is_told), "{reported:?}");
    drop(store);
    let error = Store::open(&root, Limits::default()).unwrap_err();
    assert!(error.hint().unwrap().contains("store repair"), "{error}");
    assert!(anew(&root).list.is_some());
    let store = Store::open(&root, Limits::default()).unwrap();
    assert!(store.status().unwrap().is_well());
    assert_eq!(facts(&store).len(), 1_200);
}

/// A look of a minute ago hid damage for a day.
#[test]
fn damage_after_a_look_is_told_by_whoever_opens_the_store_next() {
    let (_folder, root) = filled();
    let store = Store::open(&root, Limits::default()).unwrap();
    assert!(
        Store::open_to_read(&root)
            .unwrap()
            .problems()
            .unwrap()
            .is_empty()
    );
    damage_index(store, |page| page[3..9].fill(0xa5));
    let read = Store::open_to_read(&root).unwrap();
    assert!(!read.problems().unwrap().is_empty());
    let missing = read.snapshot().unwrap().missing().unwrap();
    assert!(
        missing.iter().any(|row| row.resource == "database"),
        "SQL's notice: {missing:?}"
    );
    drop(read);
    let error = Store::open(&root, Limits::default()).unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
}

/// Not even an id of it can be read; its name and its filter tell that all came again.
#[test]
fn a_segment_without_its_end_is_forgotten_once_its_rows_are_there_again() {
    // Of many others of the day several pass its filter: it is told of until somebody forgets it.
    for (others, is_back) in [(0, true), (1, true), (300, false)] {
        let (_folder, mut store) = store();
        let root = store.root().to_owned();
        let of = |from: u64, rows: u64| {
            (from..from + rows).map(|n| reported(event(n, &format!("p-{}", n % 9), START)))
        };
        import(&mut store, of(0, 400));
        import(&mut store, of(10_000, others));
        drop(store);
        let path = segments(&root).remove(0);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 5_000.min(whole.len() / 2)]).unwrap();
        let first = anew(&root);
        assert_eq!(first.damaged.len(), 1, "{first:?}");
        assert!(first.back.is_empty(), "{first:?}");
        // Some of them are not all of them.
        let mut store = Store::open(&root, Limits::default()).unwrap();
        import(&mut store, of(0, 399));
        drop(store);
        assert!(anew(&root).back.is_empty());
        let mut store = Store::open(&root, Limits::default()).unwrap();
        import(&mut store, of(399, 1));
        drop(store);
        let repaired = anew(&root);
        assert_eq!(repaired.back.len() == 1, is_back, "{others}: {repaired:?}");
        let store = Store::open(&root, Limits::default()).unwrap();
        assert_eq!(facts(&store).len() as u64, 400 + others);
        assert_eq!(store.verify(&mut |_| {}).unwrap().is_well(), is_back);
    }
}

/// A letter of a name in an index: every page is sound, and the name finds nothing.
#[test]
fn a_flipped_letter_of_an_index_is_told_by_verify_and_mended() {
    let (_folder, root) = filled();
    let store = Store::open(&root, Limits::default()).unwrap();
    damage_index(store, |page| {
        let mut words = page.windows(3);
        let name = words.rposition(|word| word == b"p-1").unwrap();
        page[name + 2] ^= 2;
    });
    let verified = Store::open_to_read(&root).unwrap();
    let verified = verified.verify(&mut |_| {}).unwrap();
    assert!(!verified.database.is_empty(), "{verified:?}");
    assert!(anew(&root).list.is_some());
    let store = Store::open(&root, Limits::default()).unwrap();
    assert!(store.verify(&mut |_| {}).unwrap().is_well());
    assert_eq!(facts(&store).len(), 1_200);
}

#[test]
fn a_broken_database_keeps_its_segments_and_is_made_anew() {
    let (_folder, root) = filled();
    let path = root.join("store.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let before = segments(&root);
    for at in (4_096..bytes.len()).step_by(512) {
        bytes[at..at + 64].fill(0xa5);
    }
    std::fs::write(&path, &bytes).unwrap();
    let repaired = anew(&root);
    let old = repaired.list.as_ref().unwrap();
    assert!(root.join(old).exists(), "the old list is kept");
    let after = segments(&root);
    assert!(before.iter().all(|one| after.contains(one)));
    let store = Store::open_to_read(&root).unwrap();
    assert_eq!(facts(&store).len(), 1_200);
}

#[cfg(unix)]
#[test]
fn what_is_kept_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, root) = filled();
    let _notes = crate::ServiceState::open(&root, "slack").unwrap();
    // Of an older program.
    std::fs::write(root.join("collector.lock"), "").unwrap();
    let _claim = crate::Claim::take(&root, "this test").unwrap();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                assert_eq!(mode(&path), 0o600, "{}", path.display());
            }
        }
    }
}

#[test]
fn what_was_kept_under_fewer_rules_is_redacted_on_its_way_out_and_by_repair() {
    let (_folder, mut store) = store();
    let root = store.root().to_owned();
    let mut secret = event(1, "a-0", START);
    secret.raw = "password=hunter2abc".to_owned();
    secret.message = Some("with password hunter2abc".to_owned());
    let named = pod("run_password=hunter2abc", "a", "job", START);
    import(&mut store, [reported(secret), named]);
    // Segments of a program that did not say under which rules.
    for path in segments(&root) {
        let mut bytes = std::fs::read(&path).unwrap();
        let word = b"whathappened.redaction";
        while let Some(at) = bytes.windows(word.len()).position(|some| some == word) {
            bytes[at] = b'W';
        }
        std::fs::write(&path, &bytes).unwrap();
    }
    store.db.execute("DELETE FROM checksums", []).unwrap();
    let is_clean = |store: &Store| {
        let facts = facts(store);
        assert_eq!(facts.len(), 1);
        let reported = format!("{:?}", facts[0]);
        assert!(!reported.contains("hunter2"), "{reported}");
        let mut objects = Vec::new();
        let snapshot = store.snapshot().unwrap();
        let all = snapshot.everything(None, &mut |_| {}, &mut |object| objects.push(object));
        all.unwrap();
        let reported = format!("{objects:?}");
        assert!(
            objects.len() == 1 && !reported.contains("hunter2"),
            "{reported}"
        );
    };
    // Whoever reads the file itself has to know.
    let outdated = |store: &Store| {
        let snapshot = store.snapshot().unwrap();
        let mut segments = snapshot.segments(crate::record::Table::Events).iter();
        segments.any(|one| snapshot.is_outdated(one).unwrap())
    };
    is_clean(&store);
    assert!(outdated(&store));
    let status = store.status().unwrap();
    assert_eq!((status.outdated, status.is_well()), (2, true));
    assert!(status.hint().is_some_and(|hint| hint.contains("repair")));
    drop(store);
    assert_eq!(anew(&root).renewed, 2);
    assert_eq!(anew(&root).renewed, 0);
    let store = Store::open_to_read(&root).unwrap();
    is_clean(&store);
    assert!(!outdated(&store));
    assert_eq!(store.status().unwrap().hint(), None);
}
