//! Retention: what is too old or too much goes, oldest first; so do files that
//! were announced and are on no list.

use std::fs;
use std::path::Path;

use whathappened_model::time::Nanos;

use crate::catalogue::CatalogueUpdate;
use crate::damage;
use crate::error::StoreError;
use crate::flushed;
use crate::hot;
use crate::limits::Retained;
use crate::lock::Lock;
use crate::record::Table;
use crate::reserve;
use crate::segment::{self, Segment};
use crate::store::Store;

impl Store {
    /// Removes what was stored longer ago than the limits allow, then the oldest
    /// days until the rest is small enough. An old recording that is imported
    /// today is young. Waits for other processes.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn retain(&mut self, now: Nanos) -> Result<Retained, StoreError> {
        self.retain_all_but(now, None)
    }

    /// Removes as much, but nothing that the lake at `url` does not have yet: what was
    /// acknowledged stays here, however old or large, until it is there.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn retain_unflushed(&mut self, now: Nanos, url: &str) -> Result<Retained, StoreError> {
        self.retain_all_but(now, Some(url))
    }

    fn retain_all_but(&mut self, now: Nanos, lake: Option<&str>) -> Result<Retained, StoreError> {
        self.refuse_shared()?;
        let _lock = Lock::wait(&self.root)?;
        // On a full disk even removing needs a little room to be written down.
        reserve::release(&self.root);
        let mut live = Vec::new();
        for table in [Table::Events, Table::Objects] {
            live.extend(
                segment::live(&self.db, table, None)
                    .map_err(StoreError::database(&self.db_path))?,
            );
        }
        let oldest = now.saturating_sub(self.limits.max_age);
        let (mut unflushed, removable): (Vec<Segment>, Vec<Segment>) = match lake {
            None => (Vec::new(), live),
            Some(url) => {
                let flushed = flushed::segments(&self.db, url)
                    .map_err(StoreError::database(&self.db_path))?;
                live.into_iter().partition(|one| !flushed.contains(&one.id))
            }
        };
        let (mut old, mut kept): (Vec<Segment>, Vec<Segment>) = removable
            .into_iter()
            .partition(|one| one.stored_at < oldest);
        kept.sort_by_key(|one| std::cmp::Reverse((one.time_to, one.id)));
        let all = kept.iter().chain(&unflushed);
        let mut bytes: u64 = all.map(|one| one.bytes).sum();
        while bytes > self.limits.max_bytes {
            let Some(one) = kept.pop() else { break };
            bytes -= one.bytes;
            old.push(one);
        }
        kept.append(&mut unflushed);
        let retained = Retained {
            segments: old.len() as u64,
            rows: old.iter().map(|one| one.rows).sum(),
            bytes: old.iter().map(|one| one.bytes).sum(),
        };
        // Where the list is wrong about a segment, nobody knows how old what is left is.
        let begins = kept.iter().map(|one| one.time_from);
        let begins = begins.filter(|at| *at != Nanos::MIN).min();
        let (facts, objects) =
            hot::count_damaged(&self.db).map_err(StoreError::database(&self.db_path))?;
        let is_known = facts + objects == 0 && kept.iter().all(|one| !one.is_doubtful);
        self.commit(&[], &old, &CatalogueUpdate::default(), (now, now), |tx, _| {
            // Of pods and workloads that ended before everything that is left, nothing is left.
            let hot: Option<Nanos> = tx.query_row(
                "SELECT min(time) FROM hot WHERE time > ?1",
                [Nanos::MIN],
                |row| row.get(0),
            )?;
            let left = match is_known {
                true => begins.into_iter().chain(hot).min().unwrap_or(Nanos::MAX),
                false => Nanos::MIN,
            };
            tx.execute(
                "DELETE FROM names WHERE bearer IN (SELECT uid FROM entities WHERE last < ?1 AND uid <> '')",
                [left],
            )?;
            tx.execute("DELETE FROM entities WHERE last < ?1", [left])?;
            tx.execute("DELETE FROM coverage WHERE at < ?1", [oldest])?;
            damage::forget(tx, oldest, now)
        })?;
        self.clean(now)?;
        reserve::keep(&self.root);
        Ok(retained)
    }

    /// Removes what the dead left half-written, and files of replaced segments when
    /// nobody can still read them. To be called with the lock held.
    pub(crate) fn clean(&mut self, now: Nanos) -> Result<(), StoreError> {
        let failed = || StoreError::database(&self.db_path);
        let due = now.saturating_sub(self.limits.grace);
        let read = |sql: &str| -> rusqlite::Result<Vec<(String, Nanos)>> {
            self.db
                .prepare(sql)?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        let garbage = read("SELECT file, since FROM garbage").map_err(failed())?;
        for (file, _) in garbage.iter().filter(|(_, since)| *since <= due) {
            let path = self.root.join(file);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(StoreError::io(&path)(error));
                }
                _ => {}
            }
            self.db
                .execute("DELETE FROM garbage WHERE file = ?1", [file])
                .map_err(failed())?;
        }
        drafts(&self.root)
    }
}

/// Whoever writes segments holds the lock, so a draft was left by a process that
/// died. Whole segments stay: a list that was lost or is old knows less than is there.
fn drafts(root: &Path) -> Result<(), StoreError> {
    for file in files(root)? {
        if file.ends_with(".writing") {
            let path = root.join(&file);
            fs::remove_file(&path).map_err(StoreError::io(&path))?;
        }
    }
    for table in [Table::Events, Table::Objects] {
        let folder = root.join(table.as_str());
        for day in entries(&folder)? {
            // A folder that still has files stays.
            let _kept = fs::remove_dir(folder.join(day));
        }
    }
    Ok(())
}

/// The segments that lie in a store's folder, whoever knows them, in order.
pub(crate) fn on_disk(root: &Path) -> Result<Vec<String>, StoreError> {
    let mut files = files(root)?;
    files.retain(|file| file.ends_with(".parquet"));
    Ok(files)
}

/// The same without what lies in folders that the system does not let be read now, which
/// `refused` is told with why.
pub(crate) fn readable_on_disk(
    root: &Path,
    refused: &mut dyn FnMut(&str, &StoreError),
) -> Result<Vec<String>, StoreError> {
    let mut files = found(root, &mut |folder, error| match error {
        error if error.is_unreadable() => {
            refused(folder, &error);
            Ok(())
        }
        error => Err(error),
    })?;
    files.retain(|file| file.ends_with(".parquet"));
    Ok(files)
}

fn files(root: &Path) -> Result<Vec<String>, StoreError> {
    found(root, &mut |_, error| Err(error))
}

/// What lies in the folders of days; a folder that cannot be read is for `refused` to judge.
fn found(
    root: &Path,
    refused: &mut dyn FnMut(&str, StoreError) -> Result<(), StoreError>,
) -> Result<Vec<String>, StoreError> {
    let mut files = Vec::new();
    for table in [Table::Events, Table::Objects] {
        let mut listed = |folder: String| match entries(&root.join(&folder)) {
            Ok(names) => Ok(names),
            Err(error) => refused(&folder, error).map(|()| Vec::new()),
        };
        for day in listed(table.as_str().to_owned())? {
            let folder = format!("{}/{day}", table.as_str());
            let names = listed(folder.clone())?;
            files.extend(names.into_iter().map(|file| format!("{folder}/{file}")));
        }
    }
    Ok(files)
}

fn entries(folder: &Path) -> Result<Vec<String>, StoreError> {
    use std::io::ErrorKind;
    let listed = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        listed => listed.map_err(StoreError::io(folder))?,
    };
    let mut names = Vec::new();
    for entry in listed {
        let entry = entry.map_err(StoreError::io(folder))?;
        if let Some(name) = entry.file_name().to_str() {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}
