//! Finds the files that the user's paths mean, in a fixed order.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use walkdir::WalkDir;

use super::feed::Feed;
use super::guard::{Packed, UnpackMeter};
use super::kernel;
use super::open::{Layer, open};
use super::pipe::{self, Pipe};
use super::summary::FileStatus;
use crate::contract::Input;

/// Bytes on disk of everything in `inputs`; `None` where that cannot be known.
pub(super) fn size(inputs: &[Input]) -> Option<u64> {
    let mut total = 0;
    for input in inputs {
        let path = match input {
            Input::Path(path) | Input::Named(_, path) => path,
            Input::Bytes(_, bytes) => {
                total += bytes.len() as u64;
                continue;
            }
            Input::Stdin => return None,
        };
        for found in walk(path) {
            if let Entry::File(path, _) = found {
                let meta = fs::metadata(path).ok()?;
                total += if meta.is_file() { meta.len() } else { 0 };
            }
        }
    }
    Some(total)
}

/// Something below a path that was named.
enum Entry {
    /// A file, and whether the user named it.
    File(PathBuf, bool),
    /// What cannot be read, and why.
    Not(String, String),
}

/// Everything below a path, in order. A symbolic link does not lead out of the folder
/// that was named, and what several lead to is found once by them: folders lie
/// where they are as well.
fn walk(path: &Path) -> impl Iterator<Item = Entry> + use<> {
    let root = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let named = path.to_owned();
    let mut linked = HashSet::new();
    // What the kernel makes up is no recording, and some of it never ends.
    let made_up = fs::metadata(path).is_ok_and(|meta| meta.is_dir())
        && (kernel::is_its_own(&root) || kernel::is_mount(&root));
    let refused = made_up.then(|| {
        Entry::Not(
            named.to_string_lossy().into_owned(),
            kernel::REFUSED.to_owned(),
        )
    });
    let below = WalkDir::new(path).sort_by_file_name().into_iter();
    let below = below.filter_entry(|entry| {
        let is_made_up = || entry.file_type().is_dir() && kernel::is_mount(entry.path());
        entry.depth() == 0 || !(kernel::is_its_own(entry.path()) || is_made_up())
    });
    let found = below.filter_map(move |entry| {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().unwrap_or(&named).to_string_lossy();
                let why = error.io_error().map(ToString::to_string);
                let why = why.unwrap_or_else(|| error.to_string());
                return Some(Entry::Not(path.into_owned(), why));
            }
        };
        let file = |entry: walkdir::DirEntry| {
            let is_named = entry.depth() == 0;
            Some(Entry::File(entry.into_path(), is_named))
        };
        if !entry.path_is_symlink() || entry.depth() == 0 {
            // The folder that was named may be a link to one.
            let is_folder = entry.file_type().is_dir() || entry.depth() == 0 && entry.path().is_dir();
            return if is_folder { None } else { file(entry) };
        }
        let not = |why: &str| {
            let path = entry.path().to_string_lossy().into_owned();
            Some(Entry::Not(path, why.to_owned()))
        };
        let target = match entry.path().canonicalize() {
            Ok(target) => target,
            Err(error) => return not(&error.to_string()),
        };
        if !target.starts_with(&root) {
            return not(
                "a symbolic link that points outside the folder; to read its target, name the target",
            );
        }
        if target.is_dir() {
            let above = entry.path().parent().and_then(|above| above.canonicalize().ok());
            return above
                .is_some_and(|above| above.starts_with(&target))
                .then(|| not("a symbolic link that leads back to its own folder"))
                .flatten();
        }
        linked.insert(target).then(|| file(entry)).flatten()
    });
    let most = if made_up { 0 } else { usize::MAX };
    refused.into_iter().chain(found.take(most))
}

/// Reads all inputs into `feed`.
pub(super) fn read(inputs: &[Input], progress: &Arc<AtomicU64>, feed: &mut Feed<'_>) {
    for input in inputs {
        match input {
            Input::Stdin => {
                let meter = UnpackMeter::new(feed.options, Arc::clone(progress));
                stream("-", io::stdin().lock(), None, meter, feed);
            }
            Input::Path(path) => read_path(path, progress, feed),
            Input::Bytes(name, bytes) => {
                let meter = UnpackMeter::new(feed.options, Arc::clone(progress));
                stream(name, bytes.as_ref(), None, meter, feed);
            }
            Input::Named(name, path) => read_file(name, path, progress, feed),
        }
    }
}

fn read_path(path: &Path, progress: &Arc<AtomicU64>, feed: &mut Feed<'_>) {
    for found in walk(path) {
        if feed.is_closed() {
            return;
        }
        match found {
            Entry::Not(name, why) => failed(&name, why, feed),
            Entry::File(path, is_named) => {
                let name = path.to_string_lossy();
                // A pipe that the user named is read; one found in a folder would block.
                if !is_named && !path.is_file() {
                    failed(&name, "not a regular file".to_owned(), feed);
                } else {
                    read_file(&name, &path, progress, feed);
                }
            }
        }
    }
}

fn read_file(name: &str, path: &Path, progress: &Arc<AtomicU64>, feed: &mut Feed<'_>) {
    let meter = UnpackMeter::new(feed.options, Arc::clone(progress));
    if pipe::is_pipe(path) {
        return match Pipe::open(name, path, feed.options.waiting) {
            Ok(pipe) => stream(name, pipe, None, meter, feed),
            Err(error) => failed(name, error.to_string(), feed),
        };
    }
    match open_file(path) {
        Ok((file, again)) => stream(name, file, again, meter, feed),
        Err(error) => failed(name, error.to_string(), feed),
    }
}

/// What kind of device a path is, where it is one; a terminal may be typed at.
#[cfg(unix)]
fn device(path: &Path) -> Option<&'static str> {
    use std::io::IsTerminal as _;
    use std::os::unix::fs::FileTypeExt as _;
    let kind = fs::metadata(path).ok()?.file_type();
    if kind.is_block_device() {
        return Some("a disk");
    }
    if kind.is_socket() {
        return Some("a socket");
    }
    // Opening some devices waits, or does something; terminals are known by their names.
    let is_terminal = || {
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        (place.starts_with("/dev/pts") || place == Path::new("/dev/tty"))
            && !place.ends_with("ptmx")
            && File::open(path).is_ok_and(|file| file.is_terminal())
    };
    (kind.is_char_device() && !is_terminal()).then_some("a device")
}

#[cfg(not(unix))]
fn device(_: &Path) -> Option<&'static str> {
    None
}

fn open_file(path: &Path) -> io::Result<(File, Option<File>)> {
    if let Some(what) = device(path) {
        let why = format!("it is {what}, and holds no records");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let meta = fs::metadata(path)?;
    // What the kernel makes up has no length: `kmsg` only ends when something is printed.
    if meta.is_file() && kernel::makes_up(path, meta.len()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, kernel::REFUSED));
    }
    let file = File::open(path)?;
    let regular = meta.is_file();
    let again = if regular {
        Some(File::open(path)?)
    } else {
        None
    };
    Ok((file, again))
}

fn stream(
    name: &str,
    from: impl Read,
    file: Option<File>,
    meter: UnpackMeter,
    feed: &mut Feed<'_>,
) {
    let layer = Layer {
        name,
        packed_in: Vec::new(),
        depth: 0,
        file,
        meter: meter.clone(),
    };
    open(layer, &mut Packed::new(from, meter), feed);
}

fn failed(name: &str, reason: String, feed: &mut Feed<'_>) {
    let file = feed.start(name);
    "unreadable".clone_into(&mut feed.file(file).form);
    feed.failure(file, FileStatus::Failed(reason));
}
