//! What is kept is its owner's alone: folders 0700, files 0600.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a folder and those above it, where they are not there.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// How a file is opened that only its owner may read.
#[must_use]
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a file that others open by its name, such as a database; what is in it stays.
pub(crate) fn touch(path: &Path) -> io::Result<File> {
    let file = private_file()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)?;
    close_to_others(&file);
    Ok(file)
}

/// Older programs made some files that others could read. One that is not ours
/// stays as it is: it can be used all the same.
fn close_to_others(file: &File) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let open = |meta: std::fs::Metadata| meta.permissions().mode() & 0o077 != 0;
        if file.metadata().is_ok_and(open) {
            let _not_ours = file.set_permissions(std::fs::Permissions::from_mode(0o600));
        }
    }
    #[cfg(not(unix))]
    let _ = file;
}

/// Makes what was renamed or made in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all())
}
