//! One process at a time changes segments; the system lets go when it dies.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::Path;

use crate::error::StoreError;
use crate::permissions;

/// Held while segments are written, replaced or removed.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock.
    pub(crate) fn wait(root: &Path) -> Result<Self, StoreError> {
        let (file, path) = open(root)?;
        file.lock().map_err(StoreError::io(&path))?;
        Ok(Self { _file: file })
    }

    /// Takes the lock unless another process has it.
    pub(crate) fn try_now(root: &Path) -> Result<Option<Self>, StoreError> {
        let (file, path) = open(root)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(StoreError::io(&path)(error)),
        }
    }
}

/// Held by the one process that collects into a store, until it ends.
#[derive(Debug)]
pub struct Claim {
    _file: File,
}

impl Claim {
    /// Claims a store for one who collects into it; `who` is told to those who come later.
    ///
    /// # Errors
    /// [`StoreError::Claimed`] where another process does, or when the folder cannot be used.
    pub fn take(root: &Path, who: &str) -> Result<Self, StoreError> {
        permissions::folder(root).map_err(StoreError::io(root))?;
        let path = root.join("collector.lock");
        let mut file = permissions::touch(&path).map_err(StoreError::io(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut by = String::new();
                // Who it is helps; that somebody has it is certain without.
                let _read = file.read_to_string(&mut by);
                return Err(StoreError::Claimed {
                    path: root.to_owned(),
                    by: by.trim().to_owned(),
                });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io(&path)(error)),
        }
        file.set_len(0)
            .and_then(|()| file.write_all(who.as_bytes()))
            .map_err(StoreError::io(&path))?;
        Ok(Self { _file: file })
    }
}

fn open(root: &Path) -> Result<(File, std::path::PathBuf), StoreError> {
    let path = root.join("segments.lock");
    let file = permissions::touch(&path).map_err(StoreError::io(&path))?;
    Ok((file, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_collects() {
        let folder = tempfile::tempdir().unwrap();
        let first = Claim::take(folder.path(), "process 7").unwrap();
        let second = Claim::take(folder.path(), "process 8").unwrap_err();
        assert!(second.to_string().contains("process 7"), "{second}");
        drop(first);
        Claim::take(folder.path(), "process 8").unwrap();
    }
}
