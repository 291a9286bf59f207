//! Lines of an answer that does not end, with a bound on each.

use std::io;

use futures::{AsyncBufRead, AsyncBufReadExt as _};

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A whole line, without its end.
    Line(Vec<u8>),
    /// A line of more bytes than the bound; it is passed over.
    TooLong,
    /// The answer ended. What stood in a line without end is dropped: it is
    /// told again by the next answer.
    End,
}

/// Reads lines; dropping a future of [`Lines::next`] loses nothing.
#[derive(Debug)]
pub(super) struct Lines<R> {
    from: R,
    line: Vec<u8>,
    cap: usize,
    /// The line at hand is too long and only its end is awaited.
    passing: bool,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(from: R, cap: usize) -> Self {
        Self {
            from,
            line: Vec::new(),
            cap,
            passing: false,
        }
    }

    pub(super) async fn next(&mut self) -> io::Result<Next> {
        loop {
            let bytes = self.from.fill_buf().await?;
            if bytes.is_empty() {
                return Ok(Next::End);
            }
            let end = memchr::memchr(b'\n', bytes);
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + part.len() > self.cap {
                self.passing = true;
                self.line.clear();
            }
            if !self.passing {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.from.consume_unpin(used);
            if end.is_some() {
                if std::mem::take(&mut self.passing) {
                    return Ok(Next::TooLong);
                }
                let line = std::mem::take(&mut self.line);
                if !line.is_empty() {
                    return Ok(Next::Line(line));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::*;

    #[test]
    fn whole_lines_within_the_bound() {
        let text = b"{\"a\":1}\n\nxxxxxxxxxxxxxxxx\n{\"b\":2}\n{\"cut";
        let mut lines = Lines::new(futures::io::Cursor::new(&text[..]), 10);
        let mut all = Vec::new();
        loop {
            let next = block_on(lines.next()).unwrap();
            let ended = next == Next::End;
            all.push(next);
            if ended {
                break;
            }
        }
        let expected = [
            Next::Line(b"{\"a\":1}".to_vec()),
            Next::TooLong,
            Next::Line(b"{\"b\":2}".to_vec()),
            Next::End,
        ];
        assert_eq!(all, expected);
    }
}
