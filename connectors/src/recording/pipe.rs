//! Named pipes: they end only once whoever writes to them is done, and somebody who waits
//! is told what for.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak, mpsc};
use std::thread;
use std::time::Duration;

/// How long a named pipe waits for somebody who opens it to write.
const WRITER: Duration = Duration::from_secs(10);
/// A pipe that says nothing for so many of these is told of, once before its first byte,
/// once behind it.
const TICK: Duration = Duration::from_secs(1);
/// So many before its first byte.
const SILENT: u32 = 2;
/// So many between two.
const PAUSED: u32 = 10;

#[cfg(unix)]
pub(super) fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    fs::metadata(path).is_ok_and(|meta| meta.file_type().is_fifo())
}

#[cfg(not(unix))]
pub(super) fn is_pipe(_: &Path) -> bool {
    false
}

/// A pipe that is read.
pub(super) struct Pipe {
    from: File,
    /// How often something came of it.
    reads: Arc<AtomicU64>,
}

impl Pipe {
    /// Opens a named pipe, which ends only once somebody opens it to write. `waiting` is told
    /// its name when nothing comes.
    ///
    /// # Errors
    /// When nobody does within ten seconds, or it cannot be read.
    pub(super) fn open(name: &str, path: &Path, waiting: Option<fn(&str)>) -> io::Result<Self> {
        let reads = Arc::new(AtomicU64::new(0));
        if let Some(waiting) = waiting {
            let (name, reads) = (name.to_owned(), Arc::downgrade(&reads));
            thread::spawn(move || watch(&name, &reads, waiting));
        }
        let (emitted, opened) = mpsc::channel();
        let of = path.to_owned();
        // Whoever waits in vain goes with the process.
        thread::spawn(move || emitted.send(File::open(of)));
        let from = opened.recv_timeout(WRITER).unwrap_or_else(|_| {
            let why = format!(
                "it is a named pipe, and nothing was written to it for {} s",
                WRITER.as_secs()
            );
            Err(io::Error::new(io::ErrorKind::TimedOut, why))
        })?;
        Ok(Self { from, reads })
    }
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(read)
    }
}

/// Tells of a pipe that is silent, as long as it is read.
fn watch(name: &str, reads: &Weak<AtomicU64>, waiting: fn(&str)) {
    let (mut last, mut silent) = (0, 0);
    let mut is_reported = [false; 2];
    while !is_reported[1] {
        thread::sleep(TICK);
        let Some(reads) = reads.upgrade() else {
            return;
        };
        let now = reads.load(Ordering::Relaxed);
        silent = if now == last { silent + 1 } else { 0 };
        last = now;
        let (which, most) = if now == 0 { (0, SILENT) } else { (1, PAUSED) };
        if silent >= most && !is_reported[which] {
            is_reported[which] = true;
            waiting(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_is_told_of_once_before_and_once_behind_its_first_byte() {
        static TOLD: AtomicU64 = AtomicU64::new(0);
        let reads = Arc::new(AtomicU64::new(0));
        let weak = Arc::downgrade(&reads);
        let watching = thread::spawn(move || {
            watch("p", &weak, |_| {
                TOLD.fetch_add(1, Ordering::Relaxed);
            });
        });
        thread::sleep(TICK * (SILENT + 2));
        assert_eq!(TOLD.load(Ordering::Relaxed), 1);
        drop(reads);
        watching.join().unwrap();
        assert_eq!(TOLD.load(Ordering::Relaxed), 1);
    }
}
