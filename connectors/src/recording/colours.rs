//! Text without the escapes that colour it on a terminal.

use std::io::{self, Read};

use anstream::adapter::{StripBytes, strip_str};

/// Bytes that are read at once.
const PIECE: usize = 1 << 16;

/// The first bytes of a text, without its colours.
pub(super) fn without_colours(head: &[u8]) -> String {
    strip_str(&String::from_utf8_lossy(head)).to_string()
}

/// What is left of a text once its escapes are taken out.
pub(super) struct WithoutColours<R> {
    from: R,
    escapes: StripBytes,
    plain: Vec<u8>,
    /// As much of it was taken.
    taken: usize,
}

impl<R: Read> WithoutColours<R> {
    pub(super) fn new(from: R) -> Self {
        Self {
            from,
            escapes: StripBytes::new(),
            plain: Vec::new(),
            taken: 0,
        }
    }
}

impl<R: Read> Read for WithoutColours<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // A piece may be nothing but escapes.
        while self.taken == self.plain.len() {
            let mut piece = vec![0; PIECE];
            let n = self.from.read(&mut piece)?;
            if n == 0 {
                return Ok(0);
            }
            self.taken = 0;
            self.plain.clear();
            for part in self.escapes.strip_next(&piece[..n]) {
                self.plain.extend_from_slice(part);
            }
        }
        let n = (&self.plain[self.taken..]).read(into)?;
        self.taken += n;
        Ok(n)
    }
}
