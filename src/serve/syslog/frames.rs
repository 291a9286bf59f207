//! Messages in a stream: octet counting or a line each (RFC 6587).

/// Cuts a stream into messages. Each is of the form that its first byte tells,
/// as senders mix them.
#[derive(Debug)]
pub(super) struct Frames {
    bytes: Vec<u8>,
    at: usize,
    largest: usize,
    /// The rest of a message that is too long is passed over.
    skip: Skip,
    /// So many bytes of it were.
    passed: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Skip {
    Nothing,
    /// So many bytes more.
    Bytes(usize),
    /// Up to the end of the line.
    Line,
}

impl Frames {
    pub(super) fn new(largest: usize) -> Self {
        Self {
            bytes: Vec::new(),
            at: 0,
            largest,
            skip: Skip::Nothing,
            passed: 0,
        }
    }

    /// Whether a message was begun that did not end yet.
    pub(super) fn waits(&self) -> bool {
        self.at < self.bytes.len() || self.is_skipping()
    }

    /// Whether the rest of a message that is too long still comes.
    pub(super) fn is_skipping(&self) -> bool {
        self.skip != Skip::Nothing
    }

    /// How much of such a message was passed over so far.
    pub(super) fn passed(&self) -> usize {
        self.passed
    }

    /// Takes what was received.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.at);
        self.at = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message.
    pub(super) fn next(&mut self) -> Option<String> {
        loop {
            if !self.skipped() {
                return None;
            }
            let left = self.bytes.get(self.at..)?;
            let first = *left.first()?;
            // Senders that end messages of a known length with a newline, too.
            if matches!(first, b'\n' | b'\r' | 0) {
                self.at += 1;
                continue;
            }
            let message = match counted(left) {
                Count::Known { head, length } if length > self.largest => {
                    let start = self.at + head;
                    let stored = self.bytes.get(start..start + self.largest)?;
                    let message = text(stored);
                    self.at = start + self.largest;
                    self.skip = Skip::Bytes(length - self.largest);
                    message
                }
                Count::Known { head, length } => {
                    let message = text(left.get(head..head + length)?);
                    self.at += head + length;
                    message
                }
                Count::Unfinished => return None,
                Count::None => match left.iter().position(|byte| matches!(byte, b'\n' | 0)) {
                    Some(end) if end <= self.largest => {
                        let message = text(&left[..end]);
                        self.at += end + 1;
                        message
                    }
                    None if left.len() <= self.largest => return None,
                    _ => {
                        let message = text(&left[..self.largest]);
                        self.at += self.largest;
                        self.skip = Skip::Line;
                        message
                    }
                },
            };
            return Some(message);
        }
    }

    /// Passes over what is to be; whether all of it came.
    fn skipped(&mut self) -> bool {
        let from = self.at;
        let is_over = self.skips();
        self.passed = match is_over {
            true => 0,
            false => self.passed + self.at - from,
        };
        is_over
    }

    fn skips(&mut self) -> bool {
        let left = self.bytes.len() - self.at;
        match self.skip {
            Skip::Nothing => true,
            Skip::Bytes(bytes) => {
                let now = bytes.min(left);
                self.at += now;
                self.skip = if now == bytes {
                    Skip::Nothing
                } else {
                    Skip::Bytes(bytes - now)
                };
                now == bytes
            }
            Skip::Line => {
                let rest = self.bytes.get(self.at..).unwrap_or_default();
                let end = rest.iter().position(|byte| *byte == b'\n');
                self.at += end.map_or(left, |end| end + 1);
                if end.is_some() {
                    self.skip = Skip::Nothing;
                }
                end.is_some()
            }
        }
    }

    /// A last line that no newline ends.
    pub(super) fn rest(&mut self) -> Option<String> {
        let left = self.bytes.get(self.at..)?;
        let whole = self.skip == Skip::Nothing && left.first() == Some(&b'<');
        whole.then(|| text(left))
    }
}

/// What stands before a message.
enum Count {
    /// `123 `, the message's length.
    Known { head: usize, length: usize },
    /// Digits, and what comes after them is not there yet.
    Unfinished,
    /// No count.
    None,
}

fn counted(bytes: &[u8]) -> Count {
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits == 0 || digits > 9 || bytes.first() == Some(&b'0') {
        return Count::None;
    }
    match bytes.get(digits) {
        None => Count::Unfinished,
        Some(b' ') => {
            let number = bytes
                .get(..digits)
                .map(|digits| String::from_utf8_lossy(digits));
            let length = number.and_then(|number| number.parse().ok());
            length.map_or(Count::None, |length| Count::Known {
                head: digits + 1,
                length,
            })
        }
        Some(_) => Count::None,
    }
}

/// A message as one line of text.
pub(super) fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end_matches(['\n', '\r', '\0']);
    text.replace(['\n', '\r', '\0'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any bytes, in pieces of any length: no piece changes what is read.
    #[test]
    fn streams_of_anything_are_read_the_same_in_any_pieces() {
        const SIGNS: [&[u8]; 9] = [
            b"<13>", b"a", b" ", b"9 ", b"0", b"\n", b"\r", b"\0", b"\xff<",
        ];
        let runs = std::env::var("FUZZ_RUNS").map_or(3_000, |text| text.parse().unwrap());
        let mut state: u64 = std::env::var("FUZZ_SEED").map_or(1, |text| text.parse().unwrap());
        let mut below = |most: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            usize::try_from((state >> 33) % most).unwrap()
        };
        for _ in 0..runs {
            let stream: Vec<u8> = (0..=below(40))
                .flat_map(|_| SIGNS[below(9)].to_vec())
                .collect();
            let largest = 1 + below(12);
            let whole = pieces(&stream, stream.len(), largest);
            let size = 1 + below(stream.len() as u64);
            assert_eq!(
                pieces(&stream, size, largest),
                whole,
                "{stream:?} in {size}, {largest}"
            );
        }
    }

    /// The messages of a stream that comes in pieces of every length.
    fn cut(stream: &[u8], largest: usize) -> Vec<String> {
        let whole = pieces(stream, stream.len().max(1), largest);
        for size in 1..stream.len() {
            assert_eq!(pieces(stream, size, largest), whole, "pieces of {size}");
        }
        whole
    }

    fn pieces(stream: &[u8], size: usize, largest: usize) -> Vec<String> {
        let mut frames = Frames::new(largest);
        let mut out = Vec::new();
        for piece in stream.chunks(size) {
            frames.take(piece);
            out.extend(std::iter::from_fn(|| frames.next()));
        }
        out.extend(frames.rest());
        out
    }

    #[test]
    fn both_forms_and_their_mixture_are_cut() {
        assert_eq!(cut(b"<1>a\n<2>b\r\n\n<3>c", 99), ["<1>a", "<2>b", "<3>c"]);
        assert_eq!(
            cut(b"4 <1>a5 <2>b\n6 <3>c\nd", 99),
            ["<1>a", "<2>b", "<3>c d"]
        );
        assert_eq!(cut(b"4 <1>a<2>b\n", 99), ["<1>a", "<2>b"]);
        assert_eq!(cut(b"<1>a\0<2>b\0", 99), ["<1>a", "<2>b"]);
        assert_eq!(cut(b"", 99), [""; 0]);
    }

    #[test]
    fn what_is_too_long_is_cut_and_what_follows_is_whole() {
        assert_eq!(cut(b"<1>abcdefghij\n<2>b\n", 6), ["<1>abc", "<2>b"]);
        assert_eq!(cut(b"13 <1>abcdefghij4 <2>b", 6), ["<1>abc", "<2>b"]);
        assert_eq!(cut(b"999999999 <1>abcdefghij", 6), ["<1>abc"]);
    }

    #[test]
    fn what_is_no_syslog_does_no_harm() {
        let noise: Vec<u8> = (0..=255).cycle().take(3_000).collect();
        let mut frames = Frames::new(64);
        for piece in noise.chunks(7) {
            frames.take(piece);
            while frames.next().is_some() {}
        }
        assert!(frames.bytes.len() < 128, "what waits is bounded");
    }
}
