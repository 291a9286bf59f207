//! One process at a time changes segments; the system lets go when it dies.

use std::fs::File;
use std::path::Path;

use crate::error::StoreError;
use crate::private;

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
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(error)) => Err(StoreError::io(&path)(error)),
        }
    }
}

fn open(root: &Path) -> Result<(File, std::path::PathBuf), StoreError> {
    let path = root.join("segments.lock");
    let file = private::touch(&path).map_err(StoreError::io(&path))?;
    Ok((file, path))
}
