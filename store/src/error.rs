//! What a store can fail with.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use whathappened_model::terminal;

use crate::elsewhere::NOT_NOW;

/// Why the store could not be used. Nothing that was acknowledged is lost by any of these.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or folder of the store cannot be used.
    #[error("{}: {}", shown(path), escaped(error))]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// No room is left.
    #[error(
        "{}: the disk is full; what was stored before is intact. Free some space, or store less: whathappened store retain --max-size 200MB",
        shown(path)
    )]
    Full {
        /// The file that could not be written.
        path: PathBuf,
    },
    /// The list of segments or the hot tier cannot be used.
    #[error("{}: {}{}", shown(path), if is_broken(error) { "the database is damaged: " } else { "" }, escaped(error))]
    Database {
        /// The database file.
        path: PathBuf,
        /// What `SQLite` says.
        error: rusqlite::Error,
    },
    /// A segment cannot be read or written.
    #[error("{}: {}", shown(path), escaped(error))]
    Segment {
        /// The segment.
        path: PathBuf,
        /// What the Parquet reader says.
        error: parquet::errors::ParquetError,
    },
    /// What was named as a lake names no place that one can be in.
    #[cfg(feature = "lake")]
    #[error("{}: {}", escaped(place), escaped(why))]
    NoPlace {
        /// As it was named.
        place: String,
        /// Why it names none.
        why: String,
    },
    /// What a store keeps elsewhere cannot be used now.
    #[error("{}: {}", escaped(place), escaped(why))]
    Elsewhere {
        /// Where.
        place: String,
        /// What was said there.
        why: String,
    },
    /// Somebody else changed a shared store first; what was to be done has to be done anew.
    #[error(
        "{}: other writers changed it again and again; try again later",
        escaped(place)
    )]
    Outrun {
        /// Where.
        place: String,
    },
    /// A newer program wrote this store.
    #[error(
        "{} has format {found}; this version supports formats up to {known}. Use a newer version of whathappened, or name another folder with --store",
        shown(path)
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
    #[error("{}: not a whathappened store", shown(path))]
    Foreign {
        /// The database file.
        path: PathBuf,
    },
    /// Another process collects into this store.
    #[error(
        "{}: another process is already writing to this store ({}). Stop it first, or name another folder with --store",
        shown(path),
        escaped(by)
    )]
    Claimed {
        /// The store.
        path: PathBuf,
        /// Who does.
        by: String,
    },
    /// The list of segments is lost; the segments are there.
    #[error(
        "{}: the store's index is missing or empty, but there are {segments} segments that it should list; nothing was changed",
        shown(path)
    )]
    Unlisted {
        /// The database file.
        path: PathBuf,
        /// How many segments there are.
        segments: usize,
    },
    /// There is no store where one was to be read.
    #[error(
        "{}: there is no store here; create one with `whathappened import` or `whathappened collect`",
        shown(path)
    )]
    Missing {
        /// The folder.
        path: PathBuf,
    },
    /// A kept record does not read back; a defect of this program or of the disk.
    #[error(
        "{}: a stored record cannot be read back: {}",
        shown(path),
        escaped(why)
    )]
    Damaged {
        /// Where it is kept.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl StoreError {
    /// Whether the store may be read, and not written to.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        use std::io::ErrorKind;

        use rusqlite::ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
        match self {
            Self::Io { error, .. } => matches!(
                error.kind(),
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
            ),
            Self::Database { error, .. } => matches!(
                error.sqlite_error_code(),
                Some(CannotOpen | PermissionDenied | ReadOnly)
            ),
            _ => false,
        }
    }

    /// What to do about it, where something can be done.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            #[cfg(feature = "lake")]
            Self::NoPlace { .. } => Some("name a folder, s3://bucket/folder, gs://… or az://…"),
            Self::Unlisted { .. } => {
                Some("rebuild the index from the segments: whathappened store repair")
            }
            Self::Database { error, .. } if is_broken(error) => Some(
                "keep the data and rebuild the index from the segments: whathappened store repair",
            ),
            Self::Foreign { .. } => Some(
                "if it was one, rebuild its index from the segments: whathappened store repair; otherwise name another folder with --store",
            ),
            Self::Damaged { .. } | Self::Segment { .. } => Some(
                "see what else is damaged: whathappened store verify; recover what can be read: whathappened store repair",
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

    /// Whether a segment cannot be read, because it is damaged or because the system refuses it: who reads does without it
    /// and says so; who writes leaves it where it is.
    pub(crate) fn is_unreadable(&self) -> bool {
        /// The error of a disk that cannot read (`EIO`).
        const BROKEN: Option<i32> = Some(5);
        self.is_damage()
            || matches!(self, Self::Io { error, .. }
                if error.kind() == std::io::ErrorKind::PermissionDenied || error.raw_os_error() == BROKEN)
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
                _ if no_room(&path, &error) => Self::Full { path },
                Some(rusqlite::ErrorCode::NotADatabase) => Self::Foreign { path },
                _ => Self::Database { path, error },
            }
        }
    }

    pub(crate) fn segment(path: &Path) -> impl FnOnce(parquet::errors::ParquetError) -> Self + '_ {
        move |error| {
            // The writer wraps what the system says in its own words.
            let text = error.to_string();
            if let Some((_, why)) = text.split_once(NOT_NOW) {
                return Self::elsewhere(path.display(), why);
            }
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
        let why = why.to_string();
        // Of an error of reading, the readers above hand on the text alone.
        if let Some((_, why)) = why.split_once(NOT_NOW) {
            return Self::elsewhere(path.display(), why);
        }
        Self::Damaged {
            path: path.to_owned(),
            why,
        }
    }

    pub(crate) fn elsewhere(place: impl std::fmt::Display, why: impl std::fmt::Display) -> Self {
        Self::Elsewhere {
            place: place.to_string(),
            why: why.to_string(),
        }
    }
}

/// Whether a database could not be used because its disk is full. `SQLite` says so
/// only of its own pages: of its index in memory, its journal and its folder it
/// says that there was an error, so there it is tried whether anything can be written.
pub(crate) fn no_room(path: &Path, error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, DiskFull, SystemIoFailure};
    match error.sqlite_error_code() {
        Some(DiskFull) => true,
        Some(SystemIoFailure | CannotOpen) => path.parent().is_some_and(is_disk_full),
        _ => false,
    }
}

/// Tries to write what a database asks for at once.
fn is_disk_full(folder: &Path) -> bool {
    static ASKED: [u8; 64 << 10] = [0x5a; 64 << 10];
    let path = folder.join(format!("room-{}", std::process::id()));
    let tried = crate::permissions::touch(&path).and_then(|mut file| {
        file.write_all(&ASKED)?;
        file.sync_all()
    });
    // It may never have been there.
    let _gone = std::fs::remove_file(&path);
    tried.is_err_and(|error| is_full(&error))
}

/// A path as it may stand in a terminal.
fn shown(path: &Path) -> String {
    escaped(path.display())
}

/// A text without what a terminal obeys: names of files may hold anything.
fn escaped(text: impl std::fmt::Display) -> String {
    terminal::line(&text.to_string()).into_owned()
}

/// Whether what the database holds is not what was written.
fn is_broken(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt)
}

fn is_full(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_holds_what_a_terminal_obeys() {
        let path = PathBuf::from("a\u{1b}[2J\nb\u{202e}/é.db");
        let corrupt = || rusqlite::Error::InvalidParameterName("x\u{7}y".to_owned());
        for error in [
            StoreError::Missing { path: path.clone() },
            StoreError::Full { path: path.clone() },
            StoreError::Foreign { path: path.clone() },
            StoreError::io(&path)(std::io::Error::other("b\u{9b}c")),
            StoreError::database(&path)(corrupt()),
            StoreError::damaged(&path, "why\rnot"),
            StoreError::Claimed {
                path: path.clone(),
                by: "\u{1b}]0;x\u{7}".to_owned(),
            },
        ] {
            let text = error.to_string();
            assert!(!text.contains(char::is_control), "{text:?}");
            assert!(
                !text.contains('\u{202e}') && text.contains("é.db"),
                "{text:?}"
            );
        }
        let reported = StoreError::Missing { path }.to_string();
        assert!(
            reported.starts_with(r"a\u{1b}[2J\nb\u{202e}/é.db"),
            "{reported}"
        );
    }
}
