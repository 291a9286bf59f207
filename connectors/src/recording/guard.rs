//! Counts what is read and unpacked, and stops what unpacks to absurd sizes.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::contract::Options;

/// The counts of one input, shared by all layers it is unpacked through.
#[derive(Clone, Debug)]
pub(super) struct UnpackMeter {
    packed: Rc<Cell<u64>>,
    unpacked: Rc<Cell<u64>>,
    floor: u64,
    ratio: u64,
    total: u64,
    progress: Arc<AtomicU64>,
}

impl UnpackMeter {
    pub(super) fn new(options: &Options, progress: Arc<AtomicU64>) -> Self {
        Self {
            packed: Rc::default(),
            unpacked: Rc::default(),
            floor: options.bomb_floor_bytes,
            ratio: options.bomb_ratio,
            total: options.max_total_bytes,
            progress,
        }
    }

    /// Counts bytes as they lie on disk.
    pub(super) fn packed(&self, n: u64) {
        self.packed.set(self.packed.get().saturating_add(n));
        self.progress.fetch_add(n, Ordering::Relaxed);
    }

    /// Counts a file that is read in any order, beyond what was counted of it.
    pub(super) fn packed_whole(&self, size: u64) {
        self.packed(size.saturating_sub(self.packed.get()));
    }

    fn unpacked(&self, n: u64) -> io::Result<()> {
        let out = self.unpacked.get().saturating_add(n);
        self.unpacked.set(out);
        let packed = self.packed.get();
        if out > self.floor && out / self.ratio.max(1) > packed {
            let message = format!(
                "looks like a decompression bomb: {packed} bytes unpack to more than {out}"
            );
            return Err(io::Error::other(message));
        }
        if out > self.total {
            return Err(io::Error::other(format!(
                "unpacks to more than the cap of {} bytes",
                self.total
            )));
        }
        Ok(())
    }
}

/// Bytes as they lie on disk.
pub(super) struct Packed<R> {
    inner: R,
    meter: UnpackMeter,
    left: u64,
}

impl<R: Read> Packed<R> {
    pub(super) fn new(inner: R, meter: UnpackMeter) -> Self {
        let left = meter.total;
        Self { inner, meter, left }
    }
}

impl<R: Read> Read for Packed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(into)?;
        self.meter.packed(n as u64);
        // An endless stream must end too.
        self.left = self.left.checked_sub(n as u64).ok_or_else(|| {
            io::Error::other(format!(
                "is larger than the cap of {} bytes",
                self.meter.total
            ))
        })?;
        Ok(n)
    }
}

/// What comes out of a decompressor.
pub(super) struct Unpacked<R> {
    inner: R,
    meter: UnpackMeter,
}

impl<R: Read> Unpacked<R> {
    pub(super) fn new(inner: R, meter: UnpackMeter) -> Self {
        Self { inner, meter }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(into)?;
        self.meter.unpacked(n as u64)?;
        Ok(n)
    }
}

/// A stream whose first bytes were looked at and are read again.
pub(super) struct Peeked<'r> {
    head: Vec<u8>,
    at: usize,
    rest: &'r mut dyn Read,
    error: Option<io::Error>,
}

impl<'r> Peeked<'r> {
    /// Reads up to `n` bytes ahead. An error is kept for when it is reached.
    pub(super) fn new(rest: &'r mut dyn Read, n: usize) -> Self {
        let mut head = Vec::new();
        let error = rest.take(n as u64).read_to_end(&mut head).err();
        Self {
            head,
            at: 0,
            rest,
            error,
        }
    }

    /// What is there of the bytes read ahead.
    pub(super) fn head(&self) -> &[u8] {
        &self.head[self.at..]
    }

    /// Skips bytes of the head.
    pub(super) fn skip(&mut self, n: usize) {
        self.at = (self.at + n).min(self.head.len());
    }

    /// The error met while reading ahead, if nothing came before it.
    pub(super) fn failed_at_once(&mut self) -> Option<io::Error> {
        if self.head.is_empty() {
            self.error.take()
        } else {
            None
        }
    }
}

impl Read for Peeked<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at < self.head.len() {
            let n = self.head().read(into)?;
            self.at += n;
            return Ok(n);
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => self.rest.read(into),
        }
    }
}

/// Members of a gzip file one after the other; what follows the last and is
/// only padding is no error.
pub(super) fn gunzip<'r>(from: impl BufRead + 'r) -> impl Read + 'r {
    flate2::bufread::MultiGzDecoder::new(from)
}
