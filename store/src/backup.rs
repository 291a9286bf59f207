//! A copy of a whole store in another folder, while others go on writing: the
//! database as of one moment and the segments on its list, which never change.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::damage;
use crate::error::StoreError;
use crate::permissions;
use crate::record::Table;
use crate::segment::{self, Segment};
use crate::store::{DATABASE, Store};
use crate::verify::Verified;

/// How often a copy begins anew because segments were replaced and removed meanwhile.
const ATTEMPTS: usize = 5;

/// What was copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackedUp {
    /// Segments in the copy.
    pub segments: u64,
    /// Bytes of segments and database.
    pub bytes: u64,
    /// What a reading of the whole copy found; see [`Verified::is_well`]. Segments
    /// that are damaged in the store are damaged in its copy.
    pub verified: Verified,
}

/// Copies the store in a folder into another one, which is empty or not there, and
/// reads the copy to its end. The copy shares nothing with the store, so one damaged
/// disk block never costs both. The notes of faces are not in it.
///
/// # Errors
/// When there is no store, the other folder holds something, or the disk cannot be
/// used. A copy that was not finished has no database under its name.
pub fn backup(
    from: &Path,
    to: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<BackedUp, StoreError> {
    // Says what is wrong with the store in the words of whoever reads it.
    drop(Store::open_to_read(from)?);
    permissions::folder(to).map_err(StoreError::io(to))?;
    let mut there = fs::read_dir(to).map_err(StoreError::io(to))?;
    if there.next().is_some() {
        return Err(StoreError::io(to)(std::io::Error::new(
            std::io::ErrorKind::AlreadyExists,
            "the backup folder is not empty; name one that is empty or does not exist",
        )));
    }
    let draft = to.join(format!("{DATABASE}.writing"));
    let mut left = ATTEMPTS;
    loop {
        left -= 1;
        match copy(from, to, &draft, progress) {
            // What was replaced is removed after a while; the list that replaced it has the rows.
            Err(error) if error.is_damage() && left > 0 => {}
            copied => break copied?,
        }
    }
    let place = to.join(DATABASE);
    fs::rename(&draft, &place).map_err(StoreError::io(&place))?;
    permissions::sync_folder(to).map_err(StoreError::io(to))?;
    let store = Store::open_to_read(to)?;
    let status = store.status()?;
    Ok(BackedUp {
        segments: status.segments,
        bytes: status.segment_bytes + status.database_bytes,
        verified: store.verify(&mut |segment| progress(&segment.file))?,
    })
}

/// One attempt; what an earlier one copied stays, as segments never change.
fn copy(
    from: &Path,
    to: &Path,
    draft: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<(), StoreError> {
    progress(DATABASE);
    match fs::remove_file(draft) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(StoreError::io(draft)(error));
        }
        _ => {}
    }
    // It may write into a file that is there and empty: so the file is private.
    permissions::touch(draft).map_err(StoreError::io(draft))?;
    vacuum(&from.join(DATABASE), draft)?;
    let db = Connection::open(draft).map_err(StoreError::database(draft))?;
    let listed = listed(&db).map_err(StoreError::database(draft))?;
    for (segment, is_whole) in &listed {
        progress(&segment.file);
        match copy_file(segment, from, to) {
            // Of a damaged segment there may be nothing left to copy.
            Err(error) if !*is_whole && error.is_damage() => {}
            copied => copied?,
        }
    }
    prune(to, &listed)?;
    // Files that are to be removed there are not here.
    db.execute("DELETE FROM garbage", [])
        .map_err(StoreError::database(draft))?;
    db.close()
        .map_err(|(_, error)| StoreError::database(draft)(error))
}

/// Writes one moment of a database into a file.
fn vacuum(path: &Path, to: &Path) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let write = || {
        let db = Connection::open_with_flags(path, flags)?;
        db.busy_timeout(crate::db::PATIENCE)?;
        db.execute("VACUUM INTO ?1", [to.to_string_lossy()])
    };
    write().map(drop).map_err(StoreError::database(path))
}

/// Every segment of a database, and whether it is on the list, not set aside.
fn listed(db: &Connection) -> rusqlite::Result<Vec<(Segment, bool)>> {
    let mut all = Vec::new();
    for table in [Table::Events, Table::Objects] {
        let live = segment::live(db, table, None)?;
        all.extend(live.into_iter().map(|one| (one, true)));
    }
    let aside = damage::all(db)?.into_iter();
    all.extend(aside.map(|one| (one.segment, false)));
    Ok(all)
}

fn copy_file(segment: &Segment, from: &Path, to: &Path) -> Result<(), StoreError> {
    let (old, new) = (segment.path(from), segment.path(to));
    if new.metadata().is_ok_and(|meta| meta.len() == segment.bytes) {
        return Ok(());
    }
    if let Some(folder) = new.parent() {
        permissions::folder(folder).map_err(StoreError::io(folder))?;
    }
    let mut source = fs::File::open(&old).map_err(StoreError::io(&old))?;
    let mut copy = permissions::touch(&new).map_err(StoreError::io(&new))?;
    copy.set_len(0)
        .and_then(|()| std::io::copy(&mut source, &mut copy))
        .and_then(|_| copy.sync_all())
        .map_err(StoreError::io(&new))?;
    if let Some(folder) = new.parent() {
        permissions::sync_folder(folder).map_err(StoreError::io(folder))?;
    }
    Ok(())
}

/// Takes away what an earlier attempt copied and this list does not have.
fn prune(to: &Path, listed: &[(Segment, bool)]) -> Result<(), StoreError> {
    for file in crate::retain::on_disk(to)? {
        if !listed.iter().any(|(segment, _)| segment.file == file) {
            let path = to.join(file);
            fs::remove_file(&path).map_err(StoreError::io(&path))?;
        }
    }
    Ok(())
}
