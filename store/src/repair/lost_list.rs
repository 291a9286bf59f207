//! A list that was lost: what is left of it is put aside, and what can be read of it taken
//! over.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, ErrorCode};
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::time::Nanos;

use super::Repaired;
use crate::error::StoreError;
use crate::hot;
use crate::incidents;
use crate::limits::Limits;
use crate::store::{DATABASE, Store};

/// Whether there is a list that can be used.
pub(super) fn is_lost(root: &Path, limits: Limits, has_segments: bool) -> Result<bool, StoreError> {
    let checked = Store::open(root, limits).and_then(|store| store.close_check());
    match checked {
        Ok(findings) => Ok(!findings.is_empty() && has_segments),
        Err(StoreError::Unlisted { .. } | StoreError::Foreign { .. }) => Ok(has_segments),
        Err(StoreError::Database { error, .. })
            if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) =>
        {
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

/// Takes over what can be read of the old list's own rows: those that were in no
/// segment yet, what sources could not show, and incidents.
pub(super) fn recover(store: &mut Store, old: &Path) -> Result<(), StoreError> {
    if !old.metadata().is_ok_and(|file| file.len() > 0) {
        return Ok(());
    }
    let Ok(db) = Connection::open(old) else {
        return Ok(());
    };
    store.put_hot(hot::readable(&db), hot::readable(&db))?;
    let incidents = incidents::read(&db, "1", &[]).unwrap_or_default();
    store.keep_incidents(&[], &incidents.whole)
}

/// Keeps the old list under another name.
pub(super) fn put_aside(root: &Path, now: Nanos) -> Result<Option<String>, StoreError> {
    let is_there = root.join(DATABASE).metadata();
    let is_there = is_there.is_ok_and(|file| file.len() > 0);
    let name = format!("{DATABASE}.damaged-{}", now / 1_000_000_000);
    for end in ["", "-wal", "-shm"] {
        let (from, to) = (
            root.join(format!("{DATABASE}{end}")),
            root.join(format!("{name}{end}")),
        );
        match fs::rename(&from, &to) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io(&from)(error));
            }
            _ => {}
        }
    }
    Ok(is_there.then_some(name))
}

/// New segments get numbers that no file has.
pub(super) fn number_after(store: &Store, files: &[String]) -> Result<(), StoreError> {
    let number = |file: &String| {
        let name = file.rsplit('/').next()?;
        name.split('-').next()?.parse::<i64>().ok()
    };
    let most = files.iter().filter_map(number).max().unwrap_or(0);
    let set = || {
        let changed = store.db.execute(
            "UPDATE sqlite_sequence SET seq = max(seq, ?1) WHERE name = 'segments'",
            [most],
        )?;
        if changed == 0 {
            store.db.execute(
                "INSERT INTO sqlite_sequence (name, seq) VALUES ('segments', ?1)",
                [most],
            )?;
        }
        Ok(())
    };
    set().map_err(StoreError::database(&store.db_path))
}

/// What went with the old list is missing from now on, and says so.
pub(super) fn record_loss(
    store: &mut Store,
    repaired: &Repaired,
    now: Nanos,
) -> Result<(), StoreError> {
    let row = Coverage {
        asked_to: Some(now),
        status: Status::Truncated,
        rows: repaired.rows,
        detail: Some(format!(
            "the store's index was lost and was rebuilt from {} segments; rows that were not in a segment yet, earlier coverage and stored incidents are lost",
            repaired.listed
        )),
        would_have_shown: Some("the last facts before the index was lost".to_owned()),
        ..Coverage::new("store", "list")
    };
    store.keep_coverage(&[(format!("store/list/{now}"), row)], now)
}
