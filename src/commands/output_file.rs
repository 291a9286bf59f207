//! `--output FILE`: a file that is there as a whole, or as it was before.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::render::RenderError;

/// Writes to a file, or to standard output where it is called `-`. What the file held before stays until all of it
/// is written: a full disk, or Ctrl-C, costs nobody the last good report.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write(
    file: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), RenderError>,
) -> Result<(), Error> {
    if file.as_os_str() == "-" {
        return Ok(write(&mut std::io::stdout().lock())?);
    }
    let failed = |error| Error::Io {
        path: file.display().to_string(),
        error,
    };
    // A link stays one, and what it leads to is replaced.
    let target = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let before = std::fs::metadata(&target).ok();
    // A device or a pipe is written to where it is.
    let is_file = before.as_ref().is_none_or(Metadata::is_file);
    let beside = is_file.then(|| beside(&target, before.as_ref()));
    let Some(Ok((part, out))) = beside else {
        // So is a file in a folder that takes no other.
        return filled(File::create(&target).map_err(failed)?, write, failed);
    };
    let written =
        filled(out, write, failed).and_then(|()| std::fs::rename(&part, &target).map_err(failed));
    if written.is_err() {
        // The error at hand says more than one about the remains would.
        let _remains = std::fs::remove_file(&part);
    }
    written
}

/// A new file beside another one, which only takes its name once it is whole.
fn beside(target: &Path, before: Option<&Metadata>) -> std::io::Result<(PathBuf, File)> {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let part = target.with_file_name(name);
    let out = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&part)?;
    if let Some(before) = before {
        // Who may read it is for its owner to say.
        out.set_permissions(before.permissions())?;
    }
    Ok((part, out))
}

fn filled(
    out: File,
    write: impl FnOnce(&mut dyn Write) -> Result<(), RenderError>,
    failed: impl Fn(std::io::Error) -> Error,
) -> Result<(), Error> {
    let mut out = BufWriter::new(out);
    match write(&mut out) {
        Err(RenderError::Io(error)) => return Err(failed(error)),
        other => other?,
    }
    out.flush().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_costs_nothing_that_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.html");
        std::fs::write(&file, "the last good report").unwrap();
        let full = |out: &mut dyn Write| {
            out.write_all(b"half a")?;
            Err(RenderError::Io(std::io::ErrorKind::StorageFull.into()))
        };
        assert!(write(&file, full).is_err());
        let text = || std::fs::read_to_string(&file).unwrap();
        assert_eq!(text(), "the last good report");
        write(&file, |out| Ok(out.write_all(b"a new one")?)).unwrap();
        assert_eq!(text(), "a new one");
        let names = std::fs::read_dir(folder.path()).unwrap();
        assert_eq!(names.count(), 1, "nothing is left beside it");
        // A device is no file that could be replaced.
        write(Path::new("/dev/null"), |out| Ok(out.write_all(b"x")?)).unwrap();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_link_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, |out| Ok(out.write_all(b"new")?)).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
