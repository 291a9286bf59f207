//! What was answered and not read yet: it is in memory until its reader has taken it, so there is room for so much of it,
//! and for one caller half of that.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use futures::stream;
use tokio::sync::Semaphore;

use super::own_places::OwnPlaces;

/// Room for answers, in units of [`UNIT`].
const ROOM: usize = 512 * 1024;
/// In bytes.
const UNIT: usize = 1024;
/// What is handed on at once, and what needs no room: in bytes.
const PIECE: usize = 64 * 1024;

/// The room for answers that nobody has read yet.
#[derive(Debug)]
pub(super) struct Unsent {
    all: Arc<Semaphore>,
    own: OwnPlaces,
}

impl Default for Unsent {
    fn default() -> Self {
        Self::of(ROOM)
    }
}

impl Unsent {
    fn of(room: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(room)),
            own: OwnPlaces::half_of(room),
        }
    }

    /// A body that holds its room until it was sent; `None` where there is no room for it.
    pub(super) fn body(&self, caller: &str, answer: impl Into<Bytes>) -> Option<Body> {
        let answer: Bytes = answer.into();
        if answer.len() <= PIECE {
            return Some(Body::from(answer));
        }
        let units = u32::try_from(answer.len().div_ceil(UNIT)).ok()?;
        let own = self.own.of(caller).try_acquire_many_owned(units).ok()?;
        let all = Arc::clone(&self.all).try_acquire_many_owned(units).ok()?;
        let pieces = stream::unfold((answer, own, all), |(mut rest, own, all)| async move {
            if rest.is_empty() {
                return None;
            }
            let piece = rest.split_to(PIECE.min(rest.len()));
            Some((Ok::<_, Infallible>(piece), (rest, own, all)))
        });
        Some(Body::from_stream(pieces))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_holds_its_room_until_it_was_read() {
        let unsent = Unsent::of(1024);
        let long = || vec![b'x'; 400 * UNIT];
        let first = unsent.body("a", long()).unwrap();
        assert!(unsent.body("a", long()).is_none(), "half of the room");
        let other = unsent.body("b", long()).unwrap();
        assert!(
            unsent.body("a", vec![b'x'; 9]).is_some(),
            "a short one needs none"
        );
        let read = axum::body::to_bytes(first, usize::MAX).await.unwrap();
        assert_eq!(read.len(), 400 * UNIT);
        assert!(unsent.body("a", long()).is_some());
        drop(other);
        assert!(
            unsent.body("b", long()).is_some(),
            "whoever goes away gives it back"
        );
    }
}
