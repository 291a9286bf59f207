//! What a client may send: no message is longer than it may be, and a stranger's are
//! short. Messages are collected whole before anybody looks at them, so this is looked at
//! while they come.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The longest message of somebody who was not let in.
const STRANGER: u32 = 10_000;

/// The longest message that a client may send now.
#[derive(Clone, Debug)]
pub(super) struct Longest(Arc<AtomicU32>);

impl Longest {
    pub(super) fn for_stranger() -> Self {
        Self(Arc::new(AtomicU32::new(STRANGER)))
    }

    /// Lets longer ones through from now on.
    pub(super) fn raise(&self, bytes: u32) {
        self.0.store(bytes, Ordering::Release);
    }
}

/// Where in the sequence of messages the bytes are: each is a letter, four bytes of
/// length that count themselves, and the rest. The first has no letter.
#[derive(Debug)]
struct Place {
    /// Bytes of the head that are still to come.
    head: u8,
    length: u32,
    /// Bytes of the rest that are still to come.
    rest: u32,
}

impl Place {
    /// Goes over some bytes.
    fn pass(&mut self, mut bytes: &[u8], longest: &Longest) -> io::Result<()> {
        while let Some((first, after)) = bytes.split_first() {
            if self.rest > 0 {
                let skipped = bytes.len().min(self.rest as usize);
                self.rest -= u32::try_from(skipped).unwrap_or(self.rest);
                bytes = bytes.get(skipped..).unwrap_or_default();
                continue;
            }
            bytes = after;
            if self.head < 5 {
                self.length = self.length << 8 | u32::from(*first);
            }
            self.head -= 1;
            if self.head == 0 {
                let most = longest.0.load(Ordering::Acquire);
                if self.length > most {
                    return Err(io::Error::other(format!(
                        "a message of {} bytes is longer than {most}",
                        self.length
                    )));
                }
                *self = Self {
                    head: 5,
                    length: 0,
                    rest: self.length.saturating_sub(4),
                };
            }
        }
        Ok(())
    }
}

/// A stream that ends at a message that is too long.
#[derive(Debug)]
pub(super) struct Bounded<S> {
    stream: S,
    place: Place,
    longest: Longest,
}

impl<S> Bounded<S> {
    /// `read` was read of it already.
    pub(super) fn new(stream: S, read: &[u8], longest: Longest) -> io::Result<Self> {
        let mut place = Place {
            head: 4,
            length: 0,
            rest: 0,
        };
        place.pass(read, &longest)?;
        Ok(Self {
            stream,
            place,
            longest,
        })
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Bounded<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        let before = buffer.filled().len();
        std::task::ready!(Pin::new(&mut own.stream).poll_read(context, buffer))?;
        let read = buffer.filled().get(before..).unwrap_or_default();
        Poll::Ready(own.place.pass(read, &own.longest))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Bounded<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(letter: u8, length: u32) -> Vec<u8> {
        let mut bytes = vec![letter];
        bytes.extend(length.to_be_bytes());
        bytes.resize(1 + length as usize, 0);
        bytes
    }

    fn startup(length: u32) -> Vec<u8> {
        message(0, length).split_off(1)
    }

    #[test]
    fn messages_are_followed_however_they_are_cut() {
        let mut all = startup(30);
        all.extend(message(b'p', 20));
        all.extend(message(b'Q', 9_999));
        all.extend(message(b'S', 4));
        for step in [1, 3, 7, 100_000] {
            let longest = Longest::for_stranger();
            let mut stream = Bounded::new((), &all[..2], longest.clone()).unwrap();
            for part in all[2..].chunks(step) {
                stream.place.pass(part, &longest).unwrap();
            }
            assert_eq!((stream.place.head, stream.place.rest), (5, 0), "{step}");
        }
    }

    #[test]
    fn a_stranger_sends_little_and_a_caller_more() {
        let longest = Longest::for_stranger();
        assert!(Bounded::new((), &[0x7f, 0, 0, 0], longest.clone()).is_err());
        let mut stream = Bounded::new((), &startup(8), longest.clone()).unwrap();
        let head = &message(b'Q', 100_000)[..5];
        assert!(stream.place.pass(head, &longest).is_err());
        let mut stream = Bounded::new((), &startup(8), longest.clone()).unwrap();
        longest.raise(1 << 20);
        stream.place.pass(head, &longest).unwrap();
        assert_eq!(stream.place.rest, 99_996);
    }
}
