//! Reads a body: no more of it than there is room for, and no longer than it may take.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use bytes::BytesMut;
use futures::StreamExt as _;
use tokio::time::{Instant, timeout_at};

/// How much of a body is read, and how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyBounds {
    /// Bytes.
    pub(super) most: usize,
    /// How long it may take in all.
    pub(super) in_all: Duration,
    /// How long nothing may come of it.
    pub(super) silence: Duration,
}

/// Why a body was not read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unread<E> {
    /// It is larger than it may be.
    Large,
    /// It came too slowly.
    Slow,
    /// It broke off.
    Interrupted(String),
    /// There is no room for it.
    Room(E),
}

impl<E> Unread<E> {
    /// The status that says so.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Large => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::Interrupted(_) => StatusCode::BAD_REQUEST,
            Self::Room(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// Reads a body. `room` sets aside so many bytes more, as they come: who only says that
/// much will come holds nothing.
pub(super) async fn read<E>(
    headers: &HeaderMap,
    body: Body,
    bounds: BodyBounds,
    mut room: impl FnMut(usize) -> Result<(), E>,
) -> Result<Bytes, Unread<E>> {
    let declared = headers.get(header::CONTENT_LENGTH);
    let declared = declared.and_then(|declared| declared.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|declared| declared > bounds.most) {
        return Err(Unread::Large);
    }
    let mut whole = BytesMut::new();
    let mut pieces = body.into_data_stream();
    let end = Instant::now() + bounds.in_all;
    loop {
        let silent = Instant::now() + bounds.silence;
        let piece = match timeout_at(end.min(silent), pieces.next()).await {
            Ok(Some(Ok(piece))) => piece,
            Ok(Some(Err(error))) => return Err(Unread::Interrupted(error.to_string())),
            Ok(None) => return Ok(whole.freeze()),
            Err(_) => return Err(Unread::Slow),
        };
        if whole.len() + piece.len() > bounds.most {
            return Err(Unread::Large);
        }
        room(piece.len()).map_err(Unread::Room)?;
        whole.extend_from_slice(&piece);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::stream;

    use super::*;

    const BOUNDS: BodyBounds = BodyBounds {
        most: 8,
        in_all: Duration::from_millis(600),
        silence: Duration::from_millis(200),
    };

    fn of(pieces: &[&'static str]) -> Body {
        let pieces: Vec<_> = pieces
            .iter()
            .map(|piece| Ok::<_, Infallible>(Bytes::from(*piece)))
            .collect();
        Body::from_stream(stream::iter(pieces))
    }

    async fn reading(body: Body, room: usize) -> Result<Bytes, Unread<&'static str>> {
        let mut left = room;
        let take = |bytes| {
            left = left.checked_sub(bytes).ok_or("full")?;
            Ok(())
        };
        read(&HeaderMap::new(), body, BOUNDS, take).await
    }

    #[tokio::test]
    async fn a_body_is_read_as_far_as_there_is_room() {
        assert_eq!(reading(of(&["1234", "5678"]), 8).await.unwrap(), "12345678");
        assert_eq!(reading(of(&[]), 0).await.unwrap(), "");
        assert_eq!(
            reading(of(&["1234", "56789"]), 99).await,
            Err(Unread::Large)
        );
        assert_eq!(
            reading(of(&["1234", "5678"]), 7).await,
            Err(Unread::Room("full"))
        );
    }

    #[tokio::test]
    async fn a_length_that_is_too_much_is_refused_before_anything_is_read() {
        let headers = HeaderMap::from_iter([(header::CONTENT_LENGTH, 9.into())]);
        let never = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        let read = read(&headers, never, BOUNDS, |_| Ok::<(), ()>(()));
        assert_eq!(read.await, Err(Unread::Large));
    }

    #[tokio::test]
    async fn whoever_is_silent_or_drips_is_slow() {
        let silent = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        assert_eq!(reading(silent, 8).await, Err(Unread::Slow));
        let drips = stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(120)).await;
            Some((Ok::<_, Infallible>(Bytes::from_static(b"x")), ()))
        });
        assert_eq!(
            reading(Body::from_stream(drips), 8).await,
            Err(Unread::Slow)
        );
    }
}
