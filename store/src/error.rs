//! What a store can fail with.

use std::path::{Path, PathBuf};

/// Why the store could not be used. Nothing that was acknowledged is lost by any of these.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or folder of the store cannot be used.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// No room is left.
    #[error(
        "{}: the disk is full; what was stored before is intact. Free some room, or keep less: whathappened store retain --max-size",
        path.display()
    )]
    Full {
        /// The file that could not be written.
        path: PathBuf,
    },
    /// The list of segments or the hot tier cannot be used.
    #[error("{}: {error}", path.display())]
    Database {
        /// The database file.
        path: PathBuf,
        /// What `SQLite` says.
        error: rusqlite::Error,
    },
    /// A segment cannot be read or written.
    #[error("{}: {error}", path.display())]
    Segment {
        /// The segment.
        path: PathBuf,
        /// What the Parquet reader says.
        error: parquet::errors::ParquetError,
    },
    /// A newer program wrote this store.
    #[error(
        "{} has format {found}; this program knows formats up to {known}. Use a newer whathappened for it, or name another folder with --store",
        path.display()
    )]
    Newer {
        /// The store.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format known here.
        known: i64,
    },
    /// The folder holds a database of something else.
    #[error("{}: not a store of this program", path.display())]
    Foreign {
        /// The database file.
        path: PathBuf,
    },
    /// Another process collects into this store.
    #[error(
        "{}: another process collects into this store already ({by}). Stop it first, or name another folder with --store",
        path.display()
    )]
    Claimed {
        /// The store.
        path: PathBuf,
        /// Who does.
        by: String,
    },
    /// The list of segments is lost; the segments are there.
    #[error(
        "{}: the store's list is lost or empty, and {segments} segments that it should know lie beside it; nothing was changed",
        path.display()
    )]
    Unlisted {
        /// The database file.
        path: PathBuf,
        /// How many segments there are.
        segments: usize,
    },
    /// There is no store where one was to be read.
    #[error("{}: no store there; `whathappened import` or `whathappened collect` make one", path.display())]
    Missing {
        /// The folder.
        path: PathBuf,
    },
    /// A kept record does not read back; a defect of this program or of the disk.
    #[error("{}: a kept record does not read back: {why}", path.display())]
    Damaged {
        /// Where it is kept.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl StoreError {
    /// What to do about it, where something can be done.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        let broken = |error: &rusqlite::Error| {
            error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt)
        };
        match self {
            Self::Unlisted { .. } => {
                Some("make the list anew from the segments: whathappened store repair")
            }
            Self::Database { error, .. } if broken(error) => Some(
                "keep what is there and make the list anew from the segments: whathappened store repair",
            ),
            Self::Foreign { .. } => Some(
                "if it was one, make its list anew from the segments: whathappened store repair; else name another folder with --store",
            ),
            Self::Damaged { .. } | Self::Segment { .. } => Some(
                "see what else is damaged: whathappened store verify; save what can be read: whathappened store repair",
            ),
            _ => None,
        }
    }

    /// Whether a segment is not what was written, as against a system that cannot
    /// read it now.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } | Self::Segment { .. } => true,
            Self::Io { error, .. } => error.kind() == std::io::ErrorKind::NotFound,
            _ => false,
        }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |error| {
            if is_full(&error) {
                Self::Full {
                    path: path.to_owned(),
                }
            } else {
                Self::Io {
                    path: path.to_owned(),
                    error,
                }
            }
        }
    }

    pub(crate) fn database(path: &Path) -> impl FnOnce(rusqlite::Error) -> Self + '_ {
        move |error| {
            let path = path.to_owned();
            match error.sqlite_error_code() {
                Some(rusqlite::ErrorCode::DiskFull) => Self::Full { path },
                Some(rusqlite::ErrorCode::NotADatabase) => Self::Foreign { path },
                _ => Self::Database { path, error },
            }
        }
    }

    pub(crate) fn segment(path: &Path) -> impl FnOnce(parquet::errors::ParquetError) -> Self + '_ {
        move |error| {
            // The writer wraps what the system says in its own words.
            let text = error.to_string();
            if text.contains("No space left") || text.contains("os error 28") {
                return Self::Full {
                    path: path.to_owned(),
                };
            }
            Self::Segment {
                path: path.to_owned(),
                error,
            }
        }
    }

    pub(crate) fn damaged(path: &Path, why: impl std::fmt::Display) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            why: why.to_string(),
        }
    }
}

fn is_full(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
    )
}
