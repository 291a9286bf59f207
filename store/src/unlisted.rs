//! Segments that lie in the folder and are on no list: an older database was put back,
//! or files of another store were copied in. A writer announces a file before it has
//! its name, so none of these is what a writer left that died. No answer sees what is
//! in them, and that is told.

use std::collections::BTreeSet;

use rusqlite::Connection;
use whathappened_model::coverage::{Coverage, Status};

use crate::db::has;
use crate::error::StoreError;
use crate::retain::readable_on_disk;
use crate::store::Store;

impl Store {
    /// Segments in the folder that are neither on the list nor known to be useless.
    ///
    /// # Errors
    /// When the folder or the database cannot be read.
    pub fn unlisted(&self) -> Result<Vec<String>, StoreError> {
        // The index of a lake has its segments elsewhere.
        if self.is_shared() {
            return Ok(Vec::new());
        }
        // The folder is read first: what is put on the list meanwhile is known then.
        // Of a folder that cannot be read, the segments that are on the list are told of by
        // whoever reads them.
        let mut files = readable_on_disk(&self.root, &mut |_, _| {})?;
        self.keep_unknown(&self.db, &mut files)?;
        if files.is_empty() {
            return Ok(files);
        }
        // A moment that is held does not know what writers did since it began.
        let now = crate::db::open_to_read(&self.db_path)?;
        self.keep_unknown(&now, &mut files)?;
        files.retain(|file| self.root.join(file).exists());
        Ok(files)
    }

    /// What that means for whoever asks.
    ///
    /// # Errors
    /// When the folder or the database cannot be read.
    pub fn unlisted_coverage(&self) -> Result<Option<Coverage>, StoreError> {
        let files = self.unlisted()?;
        let Some(first) = files.first() else {
            return Ok(None);
        };
        let (what, is, it) = match files.len() {
            1 => (format!("the segment {first}"), "is", "it"),
            some => (format!("{some} segments ({first}, …)"), "are", "them"),
        };
        Ok(Some(Coverage {
            status: Status::Failed,
            detail: Some(format!(
                "{what} {is} in the store's folder but not in its index; what is in {it} is left out; `whathappened store repair` adds {it}"
            )),
            would_have_shown: Some(format!("what is in {it}")),
            ..Coverage::new("store", "segments")
        }))
    }

    fn keep_unknown(&self, db: &Connection, files: &mut Vec<String>) -> Result<(), StoreError> {
        let known = || -> rusqlite::Result<BTreeSet<String>> {
            let mut known = BTreeSet::new();
            for table in ["segments", "garbage", "damaged"] {
                if has(db, table)? {
                    let mut listed = db.prepare(&format!("SELECT file FROM {table}"))?;
                    for file in listed.query_map([], |row| row.get(0))? {
                        known.insert(file?);
                    }
                }
            }
            Ok(known)
        };
        let known = known().map_err(StoreError::database(&self.db_path))?;
        files.retain(|file| !known.contains(file));
        Ok(())
    }
}
