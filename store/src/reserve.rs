//! Room kept free for the moment when there is none: a full disk could not
//! even write down what is to go.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::permissions;

/// What the database needs to take rows off its lists.
const BYTES: usize = 256 << 10;

fn path(root: &Path) -> PathBuf {
    root.join("reserve")
}

/// Takes the room, where it is not taken and there is some.
pub(crate) fn keep(root: &Path) {
    let path = path(root);
    let whole = path.metadata().is_ok_and(|meta| meta.len() >= BYTES as u64);
    // A disk without room for it is told of when something has to be written.
    let fill = || permissions::touch(&path)?.write_all(&vec![0x5a; BYTES]);
    if !whole && fill().is_err() {
        release(root);
    }
}

/// Gives the room back.
pub(crate) fn release(root: &Path) {
    // There may be none.
    let _gone = fs::remove_file(path(root));
}
