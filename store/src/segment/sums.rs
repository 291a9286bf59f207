//! Checksums of a segment's blocks: reckoned while it is written, kept in the
//! list, and compared with whatever is read of the file.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use whathappened_connectors::recording::Bytes;

use crate::error::StoreError;

/// Bytes that have one checksum: about a page.
const BLOCK: usize = 16 << 10;
/// Bytes of a checksum: chance is what it guards against.
const SUM: usize = 8;

fn sum(block: &[u8]) -> [u8; SUM] {
    let mut sum = [0; SUM];
    sum.copy_from_slice(&blake3::hash(block).as_bytes()[..SUM]);
    sum
}

/// A file and the checksums of what was written to it so far.
#[derive(Debug)]
pub(super) struct Summed {
    file: File,
    /// What of the last block is there.
    open: Vec<u8>,
    sums: Vec<u8>,
}

impl Summed {
    pub(super) fn new(file: File) -> Self {
        Self {
            file,
            open: Vec::with_capacity(BLOCK),
            sums: Vec::new(),
        }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// The checksums of all blocks, one behind the other.
    pub(super) fn sums(&self) -> Vec<u8> {
        let mut sums = self.sums.clone();
        if !self.open.is_empty() {
            sums.extend(sum(&self.open));
        }
        sums
    }
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        let mut rest = bytes.get(..written).unwrap_or(bytes);
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(BLOCK - self.open.len()));
            self.open.extend_from_slice(now);
            if self.open.len() == BLOCK {
                self.sums.extend(sum(&self.open));
                self.open.clear();
            }
            rest = later;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The checksums of a file as it is.
pub(crate) fn sums(path: &Path) -> std::result::Result<Vec<u8>, StoreError> {
    let mut file = File::open(path).map_err(StoreError::io(path))?;
    let (mut sums, mut block) = (Vec::new(), Vec::with_capacity(BLOCK));
    loop {
        block.clear();
        let read = (&mut file).take(BLOCK as u64).read_to_end(&mut block);
        if read.map_err(StoreError::io(path))? == 0 {
            return Ok(sums);
        }
        sums.extend(sum(&block));
    }
}

/// A segment that is open: what is read of it is what was written, or an error.
#[derive(Clone, Debug)]
pub(crate) struct Checked(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    path: PathBuf,
    file: File,
    len: u64,
    /// Of a segment that an older program wrote there are none.
    sums: Option<Vec<u8>>,
    /// Blocks that were compared already.
    right: Mutex<Vec<bool>>,
}

impl Checked {
    /// Opens a segment that should have so many bytes and these checksums.
    pub(crate) fn open(
        path: &Path,
        bytes: Option<u64>,
        sums: Option<Vec<u8>>,
    ) -> std::result::Result<Self, StoreError> {
        let file = File::open(path).map_err(StoreError::io(path))?;
        let len = file.metadata().map_err(StoreError::io(path))?.len();
        if let Some(bytes) = bytes.filter(|bytes| *bytes != len) {
            let why = format!("it has {len} bytes instead of {bytes}");
            return Err(StoreError::damaged(path, why));
        }
        let blocks = usize::try_from(len.div_ceil(BLOCK as u64)).unwrap_or(usize::MAX);
        if sums.as_ref().is_some_and(|sums| sums.len() != blocks * SUM) {
            return Err(StoreError::damaged(
                path,
                "its checksums are of another file",
            ));
        }
        let right = Mutex::new(vec![false; if sums.is_some() { blocks } else { 0 }]);
        Ok(Self(Arc::new(Opened {
            path: path.to_owned(),
            file,
            len,
            sums,
            right,
        })))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    /// Whether there is anything to compare it with.
    pub(crate) fn has_sums(&self) -> bool {
        self.0.sums.is_some()
    }

    /// Compares the whole file.
    pub(crate) fn compare(&self) -> std::result::Result<(), StoreError> {
        let mut at = 0;
        while at < self.0.len {
            let len = usize::try_from(self.0.len - at).unwrap_or(usize::MAX);
            let len = len.min(64 * BLOCK);
            self.bytes(at, len)
                .map_err(|error| StoreError::damaged(&self.0.path, error))?;
            at += len as u64;
        }
        Ok(())
    }

    fn bytes(&self, start: u64, len: usize) -> io::Result<Vec<u8>> {
        let end = start.saturating_add(len as u64);
        if end > self.0.len {
            let why = format!("it ends at {} and not behind {end}", self.0.len);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
        }
        let Some(sums) = &self.0.sums else {
            return self.0.read(start, len);
        };
        let block = |at: u64| usize::try_from(at / BLOCK as u64).unwrap_or(usize::MAX);
        let blocks = block(start)..block(end.saturating_sub(1).max(start)) + 1;
        let mut right = self.0.right.lock().unwrap_or_else(PoisonError::into_inner);
        if len == 0
            || right
                .get(blocks.clone())
                .is_some_and(|all| all.iter().all(|one| *one))
        {
            drop(right);
            return self.0.read(start, len);
        }
        let from = blocks.start as u64 * BLOCK as u64;
        let to = (blocks.end as u64 * BLOCK as u64).min(self.0.len);
        let whole = self.0.read(from, usize::try_from(to - from).unwrap_or(0))?;
        for (number, bytes) in blocks.zip(whole.chunks(BLOCK)) {
            if sums.get(number * SUM..(number + 1) * SUM) != Some(sum(bytes).as_slice()) {
                let at = number * BLOCK;
                let why = format!(
                    "bytes {at} to {} are not what was written",
                    at + bytes.len()
                );
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            if let Some(one) = right.get_mut(number) {
                *one = true;
            }
        }
        let skip = usize::try_from(start - from).unwrap_or(0);
        Ok(whole.get(skip..skip + len).unwrap_or_default().to_vec())
    }
}

impl Opened {
    fn read(&self, start: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = vec![0; len];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl Length for Checked {
    fn len(&self) -> u64 {
        self.0.len
    }
}

impl ChunkReader for Checked {
    type T = Stream;

    fn get_read(&self, start: u64) -> Result<Stream> {
        Ok(Stream {
            of: self.clone(),
            at: start,
            ready: io::Cursor::new(Vec::new()),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.bytes(start, length)
            .map(Bytes::from)
            .map_err(|error| ParquetError::General(error.to_string()))
    }
}

/// A segment from some place on.
#[derive(Debug)]
pub(crate) struct Stream {
    of: Checked,
    at: u64,
    ready: io::Cursor<Vec<u8>>,
}

impl Read for Stream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.ready.read(out)?;
        if read > 0 || out.is_empty() || self.at >= self.of.0.len {
            return Ok(read);
        }
        // Up to the end of the block, which is compared as a whole anyway.
        let left = BLOCK as u64 - self.at % BLOCK as u64;
        let len = usize::try_from(left.min(self.of.0.len - self.at)).unwrap_or(0);
        self.ready = io::Cursor::new(self.of.bytes(self.at, len)?);
        self.at += len as u64;
        self.ready.read(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_changed_is_noticed_wherever_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segment");
        let text: Vec<u8> = (0..BLOCK * 3 + 5).map(|n| (n % 251) as u8).collect();
        let mut written = Summed::new(File::create(&path).unwrap());
        for piece in text.chunks(7_001) {
            written.write_all(piece).unwrap();
        }
        let sums = written.sums();
        assert_eq!(sums.len(), 4 * SUM);
        let len = Some(text.len() as u64);
        let whole = Checked::open(&path, len, Some(sums.clone())).unwrap();
        whole.compare().unwrap();
        assert_eq!(
            whole.bytes(BLOCK as u64 - 3, 9).unwrap(),
            &text[BLOCK - 3..][..9]
        );
        let mut all = Vec::new();
        whole.get_read(11).unwrap().read_to_end(&mut all).unwrap();
        assert_eq!(all, &text[11..]);
        let mut flipped = text;
        flipped[BLOCK + 17] ^= 1;
        std::fs::write(&path, flipped).unwrap();
        let other = Checked::open(&path, len, Some(sums.clone())).unwrap();
        assert!(other.compare().is_err());
        assert!(other.bytes(BLOCK as u64 + 900, 1).is_err());
        assert!(other.bytes(0, 10).is_ok() && other.bytes(2 * BLOCK as u64, 10).is_ok());
        assert!(Checked::open(&path, Some(7), Some(sums)).is_err());
    }
}
