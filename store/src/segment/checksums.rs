//! Checksums of a segment's blocks: reckoned while it is written, kept in the
//! list, and compared with whatever is read of the file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use crate::elsewhere::{Elsewhere, NOT_NOW};
use crate::error::StoreError;

/// Bytes that have one checksum: what a disk loses at a time, and few enough that a
/// byte that changed can be found by trying.
const BLOCK: usize = 4 << 10;
/// The same in segments of older programs; how many checksums there are tells which.
const COARSE: usize = 16 << 10;
/// Bytes that are read at once of what lies elsewhere.
const FAR: usize = 128 << 10;
/// How many blocks of a file are tried to be made right.
const TRIES: usize = 16;
/// Bytes of a checksum: chance is what it guards against.
const SUM: usize = 8;

fn sum(block: &[u8]) -> [u8; SUM] {
    let mut sum = [0; SUM];
    sum.copy_from_slice(&blake3::hash(block).as_bytes()[..SUM]);
    sum
}

/// A file and the checksums of what was written to it so far.
#[derive(Debug)]
pub(super) struct ChecksumWriter {
    file: File,
    /// What of the last block is there.
    open: Vec<u8>,
    sums: Vec<u8>,
}

impl ChecksumWriter {
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

impl Write for ChecksumWriter {
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

/// Opens a regular file: anything else in its place is no segment, and a pipe would be waited for.
fn open(path: &Path) -> std::result::Result<File, StoreError> {
    let kind = std::fs::metadata(path).map_err(StoreError::io(path))?;
    if !kind.is_file() {
        return Err(StoreError::damaged(
            path,
            "it is no regular file".to_owned(),
        ));
    }
    File::open(path).map_err(StoreError::io(path))
}

/// The checksums of a file as it is.
pub(crate) fn sums(path: &Path) -> std::result::Result<Vec<u8>, StoreError> {
    let mut file = open(path)?;
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

/// Where the bytes of a segment come from.
#[derive(Debug)]
enum Source {
    /// A file of this machine.
    Here(File),
    /// A file of a shared store, and the cluster that its rows are of.
    There {
        keeper: Arc<dyn Elsewhere>,
        file: String,
        cluster: Option<String>,
    },
}

/// A segment that is open: what is read of it is what was written, or an error.
#[derive(Clone, Debug)]
pub(crate) struct VerifiedFile(Arc<OpenFile>);

#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    source: Source,
    len: u64,
    /// Of a segment that an older program wrote there are none.
    sums: Option<Vec<u8>>,
    /// Bytes of a block.
    block: usize,
    /// Blocks that were compared already.
    right: Mutex<Vec<bool>>,
    /// Where blocks are made right again, those that had to be; `None` in it for
    /// those that could not.
    healed: Option<Mutex<BTreeMap<usize, Option<Vec<u8>>>>>,
}

impl VerifiedFile {
    /// Opens a segment that should have so many bytes and these checksums.
    pub(crate) fn open(
        path: &Path,
        bytes: Option<u64>,
        sums: Option<Vec<u8>>,
    ) -> std::result::Result<Self, StoreError> {
        Self::with(path, (bytes, sums), false)
    }

    /// The same, but a block of which one byte changed is read as it was written:
    /// of all that it may have been, one fits its checksum.
    pub(crate) fn open_to_heal(
        path: &Path,
        bytes: Option<u64>,
        sums: Option<Vec<u8>>,
    ) -> std::result::Result<Self, StoreError> {
        Self::with(path, (bytes, sums), true)
    }

    fn with(
        path: &Path,
        (bytes, sums): (Option<u64>, Option<Vec<u8>>),
        heals: bool,
    ) -> std::result::Result<Self, StoreError> {
        let file = open(path)?;
        let len = file.metadata().map_err(StoreError::io(path))?.len();
        if let Some(bytes) = bytes.filter(|bytes| *bytes != len) {
            let why = format!("it has {len} bytes instead of {bytes}");
            return Err(StoreError::damaged(path, why));
        }
        let count = |block: usize| usize::try_from(len.div_ceil(block as u64)).unwrap_or(0);
        let fits = |block: &usize| {
            let sums = sums.as_ref();
            sums.is_none_or(|sums| sums.len() == count(*block) * SUM)
        };
        let Some(block) = [BLOCK, COARSE].into_iter().find(fits) else {
            return Err(StoreError::damaged(
                path,
                "its checksums belong to another file",
            ));
        };
        let blocks = count(block);
        let right = Mutex::new(vec![false; if sums.is_some() { blocks } else { 0 }]);
        Ok(Self(Arc::new(OpenFile {
            path: path.to_owned(),
            source: Source::Here(file),
            len,
            sums,
            block,
            right,
            healed: heals.then(Mutex::default),
        })))
    }

    /// Opens a segment that lies elsewhere; whoever keeps it guards its bytes.
    pub(crate) fn elsewhere(
        path: &Path,
        (keeper, file): (Arc<dyn Elsewhere>, &str),
        len: u64,
        cluster: Option<String>,
    ) -> Self {
        let source = Source::There {
            keeper,
            file: file.to_owned(),
            cluster,
        };
        Self(Arc::new(OpenFile {
            path: path.to_owned(),
            source,
            len,
            sums: None,
            block: FAR,
            right: Mutex::default(),
            healed: None,
        }))
    }

    /// Of a shared segment, the cluster that its rows are of; nothing for one of this store.
    pub(super) fn shared(&self) -> Option<Option<&str>> {
        match &self.0.source {
            Source::Here(_) => None,
            Source::There { cluster, .. } => Some(cluster.as_deref()),
        }
    }

    /// Says what will be read soon.
    pub(super) fn prefetch(&self, ranges: Vec<Range<u64>>) -> std::result::Result<(), StoreError> {
        let Source::There { keeper, file, .. } = &self.0.source else {
            return Ok(());
        };
        let wanted: Vec<_> = ranges.into_iter().map(|one| (file.as_str(), one)).collect();
        keeper
            .prefetch(&wanted)
            .map_err(|error| StoreError::damaged(&self.0.path, format!("{NOT_NOW}{error}")))
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
            let len = len.min(64 * COARSE);
            self.bytes(at, len)
                .map_err(|error| StoreError::damaged(&self.0.path, error))?;
            at += len as u64;
        }
        Ok(())
    }

    fn bytes(&self, start: u64, len: usize) -> io::Result<Vec<u8>> {
        let end = start.saturating_add(len as u64);
        if end > self.0.len {
            let why = format!("it ends at {} instead of {end}", self.0.len);
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
        }
        let Some(sums) = &self.0.sums else {
            return self.0.read(start, len);
        };
        let size = self.0.block;
        let block = |at: u64| usize::try_from(at / size as u64).unwrap_or(usize::MAX);
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
        let from = blocks.start as u64 * size as u64;
        let to = (blocks.end as u64 * size as u64).min(self.0.len);
        let mut whole = self.0.read(from, usize::try_from(to - from).unwrap_or(0))?;
        for (number, bytes) in blocks.zip(whole.chunks_mut(size)) {
            let wanted = sums.get(number * SUM..(number + 1) * SUM);
            let wanted = wanted.unwrap_or_default();
            if wanted != sum(bytes).as_slice() {
                if self.0.make_right(number, bytes, wanted) {
                    continue;
                }
                let at = number * size;
                let why = format!(
                    "bytes {at} to {} do not match their checksum",
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

impl OpenFile {
    /// Makes a block what was written, where that is wanted and can be found out.
    fn make_right(&self, number: usize, bytes: &mut [u8], wanted: &[u8]) -> bool {
        let Some(healed) = &self.healed else {
            return false;
        };
        let mut healed = healed.lock().unwrap_or_else(PoisonError::into_inner);
        if !healed.contains_key(&number) && healed.len() < TRIES {
            healed.insert(number, heal(bytes, wanted));
        }
        match healed.get(&number) {
            Some(Some(right)) => {
                bytes.copy_from_slice(right);
                true
            }
            _ => false,
        }
    }

    fn read(&self, start: u64, len: usize) -> io::Result<Vec<u8>> {
        let file = match &self.source {
            Source::Here(file) => file,
            Source::There { keeper, file, .. } => {
                return keeper
                    .read(file, start..start + len as u64)
                    .map_err(|error| io::Error::other(format!("{NOT_NOW}{error}")));
            }
        };
        let mut file = file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = vec![0; len];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl Length for VerifiedFile {
    fn len(&self) -> u64 {
        self.0.len
    }
}

impl ChunkReader for VerifiedFile {
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
    of: VerifiedFile,
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
        let size = self.of.0.block as u64;
        let left = size - self.at % size;
        let len = usize::try_from(left.min(self.of.0.len - self.at)).unwrap_or(0);
        self.ready = io::Cursor::new(self.of.bytes(self.at, len)?);
        self.at += len as u64;
        self.ready.read(out)
    }
}

/// A block in which one byte changed, as it was: first each bit is tried, then, of
/// blocks that are small enough, each byte. That another block fits the checksum is
/// less likely than one in 2⁴⁰.
fn heal(block: &[u8], wanted: &[u8]) -> Option<Vec<u8>> {
    let mut tried = block.to_vec();
    let bits = (0..8).map(|bit| 1_u8 << bit);
    let others = (1..=u8::MAX).filter(|change| !change.is_power_of_two());
    let most = if block.len() > BLOCK { 8 } else { 255 };
    for change in bits.chain(others).take(most) {
        for at in 0..tried.len() {
            let byte = tried.get_mut(at)?;
            *byte ^= change;
            if sum(&tried).as_slice() == wanted {
                return Some(tried);
            }
            let byte = tried.get_mut(at)?;
            *byte ^= change;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_changed_is_noticed_wherever_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segment");
        let text: Vec<u8> = (0..BLOCK * 3 + 5).map(|n| (n % 251) as u8).collect();
        let mut written = ChecksumWriter::new(File::create(&path).unwrap());
        for piece in text.chunks(7_001) {
            written.write_all(piece).unwrap();
        }
        let sums = written.sums();
        assert_eq!(sums.len(), 4 * SUM);
        let len = Some(text.len() as u64);
        let whole = VerifiedFile::open(&path, len, Some(sums.clone())).unwrap();
        whole.compare().unwrap();
        assert_eq!(
            whole.bytes(BLOCK as u64 - 3, 9).unwrap(),
            &text[BLOCK - 3..][..9]
        );
        let mut all = Vec::new();
        whole.get_read(11).unwrap().read_to_end(&mut all).unwrap();
        assert_eq!(all, &text[11..]);
        let mut flipped = text.clone();
        flipped[BLOCK + 17] ^= 1;
        std::fs::write(&path, flipped).unwrap();
        let other = VerifiedFile::open(&path, len, Some(sums.clone())).unwrap();
        assert!(other.compare().is_err());
        assert!(other.bytes(BLOCK as u64 + 900, 1).is_err());
        assert!(other.bytes(0, 10).is_ok() && other.bytes(2 * BLOCK as u64, 10).is_ok());
        let healed = VerifiedFile::open_to_heal(&path, len, Some(sums.clone())).unwrap();
        for _again in 0..2 {
            assert_eq!(healed.bytes(0, text.len()).unwrap(), text, "as it was");
        }
        assert!(VerifiedFile::open(&path, Some(7), Some(sums)).is_err());
    }

    #[test]
    fn checksums_of_older_programs_are_compared_with_their_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segment");
        let text: Vec<u8> = (0..COARSE * 2 + 5).map(|n| (n % 251) as u8).collect();
        let sums: Vec<u8> = text.chunks(COARSE).flat_map(sum).collect();
        std::fs::write(&path, &text).unwrap();
        let open = || VerifiedFile::open_to_heal(&path, None, Some(sums.clone())).unwrap();
        open().compare().unwrap();
        let mut flipped = text.clone();
        flipped[COARSE + 17] ^= 4;
        std::fs::write(&path, &flipped).unwrap();
        assert_eq!(open().bytes(0, text.len()).unwrap(), text);
        flipped[COARSE + 900] ^= 4;
        std::fs::write(&path, &flipped).unwrap();
        assert!(open().compare().is_err(), "two bytes are too many");
    }
}
