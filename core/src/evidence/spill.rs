//! Bodies of facts: compressed in blocks, past a budget in a temporary file.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use whathappened_model::event::Event;

/// Uncompressed size of a block.
const BLOCK: usize = 256 << 10;
/// Compressed blocks kept in memory before the file takes the rest.
const BUDGET: usize = 16 << 20;

/// Where a body lies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SpillOffset {
    block: u32,
    start: u32,
    len: u32,
}

impl SpillOffset {
    fn event_in(self, block: &[u8]) -> Result<Event, SpillError> {
        let (start, len) = (self.start as usize, self.len as usize);
        let body = block.get(start..start + len).ok_or(SpillError::Lost)?;
        Ok(postcard::from_bytes(body)?)
    }
}

/// Why facts could not be kept or found again.
#[derive(Debug, thiserror::Error)]
pub enum SpillError {
    /// The temporary folder cannot take what was read.
    #[error("the temporary file for facts cannot be used: {0}; set TMPDIR to a folder with room")]
    Io(#[from] std::io::Error),
    /// A body does not read back; a defect of this program.
    #[error("a stored fact does not read back: {0}")]
    Body(#[from] postcard::Error),
    /// A row without a body; a defect of this program.
    #[error("a stored fact was lost")]
    Lost,
    /// More facts than one case holds.
    #[error("more than four billion facts in one case; narrow the input")]
    TooMany,
}

#[derive(Debug)]
enum Block {
    /// As it was written.
    Plain(Vec<u8>),
    Memory(Vec<u8>),
    File {
        at: u64,
        len: usize,
    },
}

#[derive(Debug, Default)]
pub(super) struct Spill {
    blocks: Vec<Block>,
    open: Vec<u8>,
    packing: Option<JoinHandle<std::io::Result<Vec<u8>>>>,
    in_memory: usize,
    file: Option<Mutex<File>>,
    file_len: u64,
    /// The block read last: rows are mostly read in the order they were written.
    recent: Mutex<Option<(u32, Vec<u8>)>>,
}

/// A panic elsewhere leaves neither half done: each is set or sought before it is read.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A fact's body without its place of origin, which its row keeps.
pub(super) fn encode(event: &Event) -> Result<Vec<u8>, SpillError> {
    Ok(postcard::to_stdvec(event)?)
}

impl Spill {
    pub(super) fn push(&mut self, body: &[u8]) -> Result<SpillOffset, SpillError> {
        let small = |number: usize| u32::try_from(number).map_err(|_| SpillError::TooMany);
        let place = SpillOffset {
            block: small(self.blocks.len() + usize::from(self.packing.is_some()))?,
            start: small(self.open.len())?,
            len: small(body.len())?,
        };
        self.open.extend_from_slice(body);
        if self.open.len() >= BLOCK {
            self.close()?;
        }
        Ok(place)
    }

    /// Ends the writing: from here on everything can be read.
    pub(super) fn finish(&mut self) -> Result<(), SpillError> {
        self.land()?;
        // The last one is small, and all there is of a usual incident: packing it would not pay.
        self.blocks
            .push(Block::Plain(std::mem::take(&mut self.open)));
        Ok(())
    }

    /// Packs the open block beside the reading, one at a time.
    fn close(&mut self) -> Result<(), SpillError> {
        self.land()?;
        let block = std::mem::replace(&mut self.open, Vec::with_capacity(BLOCK + BLOCK / 8));
        self.packing = Some(std::thread::spawn(move || zstd::bulk::compress(&block, 1)));
        Ok(())
    }

    /// Keeps the block that was being packed.
    fn land(&mut self) -> Result<(), SpillError> {
        let Some(packing) = self.packing.take() else {
            return Ok(());
        };
        let packed = packing.join().map_err(|_| SpillError::Lost)??;
        if self.in_memory + packed.len() <= BUDGET {
            self.in_memory += packed.len();
            self.blocks.push(Block::Memory(packed));
            return Ok(());
        }
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(Mutex::new(tempfile::tempfile()?)),
        };
        let mut file = held(file);
        file.seek(SeekFrom::Start(self.file_len))?;
        file.write_all(&packed)?;
        self.blocks.push(Block::File {
            at: self.file_len,
            len: packed.len(),
        });
        self.file_len += packed.len() as u64;
        Ok(())
    }

    pub(super) fn event(&self, place: SpillOffset) -> Result<Event, SpillError> {
        if let Some(Block::Plain(bytes)) = self.blocks.get(place.block as usize) {
            return place.event_in(bytes);
        }
        let mut recent = held(&self.recent);
        if recent
            .as_ref()
            .is_none_or(|(block, _)| *block != place.block)
        {
            *recent = Some((place.block, self.unpack(place.block)?));
        }
        let (_, bytes) = recent.as_ref().ok_or(SpillError::Lost)?;
        place.event_in(bytes)
    }

    fn unpack(&self, block: u32) -> Result<Vec<u8>, SpillError> {
        let packed = match self.blocks.get(block as usize).ok_or(SpillError::Lost)? {
            Block::Plain(bytes) => return Ok(bytes.clone()),
            Block::Memory(packed) => return Ok(unpacked(packed)?),
            Block::File { at, len } => {
                let mut file = held(self.file.as_ref().ok_or(SpillError::Lost)?);
                file.seek(SeekFrom::Start(*at))?;
                let mut packed = vec![0; *len];
                file.read_exact(&mut packed)?;
                packed
            }
        };
        Ok(unpacked(&packed)?)
    }
}

fn unpacked(packed: &[u8]) -> std::io::Result<Vec<u8>> {
    // A block is closed by the body that fills it, and a body may be as large as a record.
    zstd::stream::decode_all(packed)
}
