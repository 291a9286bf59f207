//! Finds the files that the user's paths mean, in a fixed order.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use walkdir::WalkDir;

use super::feed::Feed;
use super::guard::{Meter, Packed};
use super::open::{Layer, open};
use super::options::Input;
use super::summary::FileStatus;

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
        for entry in walk(path).flatten() {
            let meta = entry.metadata().ok()?;
            total += if meta.is_file() { meta.len() } else { 0 };
        }
    }
    Some(total)
}

fn walk(path: &Path) -> walkdir::IntoIter {
    WalkDir::new(path)
        .follow_links(true)
        .sort_by_file_name()
        .into_iter()
}

/// Reads all inputs into `feed`.
pub(super) fn read(inputs: &[Input], progress: &Arc<AtomicU64>, feed: &mut Feed<'_>) {
    for input in inputs {
        match input {
            Input::Stdin => {
                let meter = Meter::new(feed.options, Arc::clone(progress));
                stream("-", io::stdin().lock(), None, meter, feed);
            }
            Input::Path(path) => read_path(path, progress, feed),
            Input::Bytes(name, bytes) => {
                let meter = Meter::new(feed.options, Arc::clone(progress));
                stream(name, bytes.as_ref(), None, meter, feed);
            }
            Input::Named(name, path) => read_file(name, path, progress, feed),
        }
    }
}

fn read_path(path: &Path, progress: &Arc<AtomicU64>, feed: &mut Feed<'_>) {
    for entry in walk(path) {
        if feed.is_closed() {
            return;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let named = error.path().unwrap_or(path).to_string_lossy().into_owned();
                let reason = match (error.loop_ancestor(), error.io_error()) {
                    (Some(_), _) => "a symbolic link that leads back to its own folder".to_owned(),
                    (None, Some(error)) => error.to_string(),
                    (None, None) => error.to_string(),
                };
                failed(&named, reason, feed);
                continue;
            }
        };
        let kind = entry.file_type();
        let name = entry.path().to_string_lossy();
        if kind.is_dir() {
            continue;
        }
        // A pipe that the user named is read; one found in a folder would block.
        if !kind.is_file() && entry.depth() > 0 {
            failed(&name, "not a regular file".to_owned(), feed);
            continue;
        }
        read_file(&name, entry.path(), progress, feed);
    }
}

fn read_file(name: &str, path: &Path, progress: &Arc<AtomicU64>, feed: &mut Feed<'_>) {
    let meter = Meter::new(feed.options, Arc::clone(progress));
    match open_file(path) {
        Ok((file, again)) => stream(name, file, again, meter, feed),
        Err(error) => failed(name, error.to_string(), feed),
    }
}

fn open_file(path: &Path) -> io::Result<(File, Option<File>)> {
    let file = File::open(path)?;
    let regular = fs::metadata(path)?.is_file();
    let again = if regular {
        Some(File::open(path)?)
    } else {
        None
    };
    Ok((file, again))
}

fn stream(name: &str, from: impl Read, file: Option<File>, meter: Meter, feed: &mut Feed<'_>) {
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
    feed.trouble(file, FileStatus::Failed(reason));
}
