//! How `run-ID.wandb` is taken apart: seven bytes, then blocks as `LevelDB`'s log has them
//! (wandb `core/pkg/leveldb/record.go`): checksum (4 bytes), length (2), kind (1: whole, 2: first, 3: middle, 4: last piece).

use std::ops::RangeInclusive;

use crc::{CRC_32_ISO_HDLC, Crc, Table};

use crate::contract::{Framer, Step};

static CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC);

/// `:W&B`, a magic number and a version.
pub(super) const MAGIC: [u8; 6] = [b':', b'W', b'&', b'B', 0xe1, 0xbe];

/// The file's header, and that of a piece.
const HEAD: usize = 7;

/// Pieces do not cross the bounds of blocks.
const BLOCK: u64 = 32_768;

const KINDS: RangeInclusive<u8> = 1..=4;

/// Takes blocks apart.
#[derive(Default)]
pub(super) struct Blocks {
    /// A record was begun and not ended.
    is_open: bool,
}

impl Framer for Blocks {
    fn next(&mut self, bytes: &[u8], at: u64) -> Step {
        if bytes.len() < HEAD && at == 0 {
            return Step::Need(HEAD);
        }
        if at == 0 {
            return Step::Skip(HEAD);
        }
        let left = usize::try_from(BLOCK - at % BLOCK).unwrap_or(HEAD);
        if left < HEAD {
            // Zeros to the end of the block.
            return if bytes.len() < left {
                Step::Need(left)
            } else {
                Step::Skip(left)
            };
        }
        let [c0, c1, c2, c3, l0, l1, kind, ..] = *bytes else {
            return Step::Need(HEAD);
        };
        let length = usize::from(u16::from_le_bytes([l0, l1]));
        let whole = HEAD + length;
        // Room that was made and not written yet.
        if kind == 0 && length == 0 {
            return Step::Skip(left);
        }
        if !KINDS.contains(&kind) || whole > left {
            return self.bad(left, "a damaged block");
        }
        let Some(frame) = bytes.get(HEAD - 1..whole) else {
            return Step::Need(whole);
        };
        if CRC.checksum(frame) != u32::from_le_bytes([c0, c1, c2, c3]) {
            return self.bad(left, "a record whose checksum is wrong");
        }
        let begins = kind <= 2;
        if !begins && !self.is_open {
            return self.bad(whole, "a piece of a record whose begin is lost");
        }
        let ends = matches!(kind, 1 | 4);
        self.is_open = !ends;
        Step::Piece {
            bytes: HEAD..whole,
            whole,
            begins,
            ends,
        }
    }
}

impl Blocks {
    fn bad(&mut self, bytes: usize, why: &str) -> Step {
        self.is_open = false;
        Step::Bad(bytes, why.to_owned())
    }
}
