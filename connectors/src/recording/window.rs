//! A window that slides over a stream: the bytes of the record at hand and no more.

use std::io::{self, Read};

/// How much is asked of the stream at once.
const CHUNK: usize = 256 << 10;

/// The unconsumed bytes read so far, and where they are in the stream.
pub(super) struct Window<'r> {
    from: &'r mut dyn Read,
    buf: Vec<u8>,
    start: usize,
    end: usize,
    line: u64,
    offset: u64,
    ended: bool,
    error: Option<io::Error>,
}

impl<'r> Window<'r> {
    pub(super) fn new(from: &'r mut dyn Read) -> Self {
        Self {
            from,
            buf: Vec::new(),
            start: 0,
            end: 0,
            line: 1,
            offset: 0,
            ended: false,
            error: None,
        }
    }

    /// What is there and not consumed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buf[self.start..self.end]
    }

    /// The line the window starts in, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// How many bytes were consumed before the window.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// All bytes read from the stream.
    pub(super) fn bytes_read(&self) -> u64 {
        self.offset + (self.end - self.start) as u64
    }

    /// Why the stream ended, where that was not its proper end.
    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    /// Reads more; `false` at the end of the stream.
    pub(super) fn fill(&mut self) -> bool {
        if self.ended {
            return false;
        }
        if self.start > 0 && self.buf.len() - self.end < CHUNK {
            self.buf.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buf.len() - self.end < CHUNK {
            // Doubling keeps the copying linear in the size of one record.
            let size = (self.buf.len() * 2).max(CHUNK * 4);
            self.buf.resize(size, 0);
        }
        loop {
            match self.from.read(&mut self.buf[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.error = Some(error);
                    self.ended = true;
                }
            }
            return !self.ended;
        }
    }

    /// Gives up the first `n` bytes.
    pub(super) fn consume(&mut self, n: usize) {
        let n = n.min(self.end - self.start);
        let given_up = &self.buf[self.start..self.start + n];
        self.line += memchr::memchr_iter(b'\n', given_up).count() as u64;
        self.offset += n as u64;
        self.start += n;
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            // A rare huge record must not pin its memory for the whole file.
            if self.buf.len() > CHUNK * 16 {
                self.buf = Vec::new();
            }
        }
    }

    /// The first byte that is no white space, with everything before it consumed.
    pub(super) fn skip_space(&mut self) -> Option<u8> {
        loop {
            let found = self.bytes().iter().position(|b| !b.is_ascii_whitespace());
            if let Some(n) = found {
                self.consume(n);
                return self.bytes().first().copied();
            }
            self.consume(self.bytes().len());
            if !self.fill() && self.bytes().is_empty() {
                return None;
            }
        }
    }

    /// Gives up everything to the next line's start, however far that is.
    pub(super) fn skip_line(&mut self) {
        loop {
            if let Some(n) = memchr::memchr(b'\n', self.bytes()) {
                self.consume(n + 1);
                return;
            }
            self.consume(self.bytes().len());
            if !self.fill() && self.bytes().is_empty() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_across_fills_and_memory_is_given_back() {
        let text = "x\n".repeat(3_000_000);
        let mut reader = text.as_bytes();
        let mut window = Window::new(&mut reader);
        while window.fill() {}
        assert_eq!(window.bytes().len(), text.len());
        window.consume(text.len());
        assert_eq!(window.line(), 3_000_001);
        assert!(window.buf.capacity() < CHUNK);
        assert_eq!(window.bytes_read(), text.len() as u64);
    }
}
