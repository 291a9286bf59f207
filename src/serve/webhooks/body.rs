//! Reads a body: no more of it than there is room for, and no longer than it may take.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use futures::StreamExt as _;
use tokio::time::{Instant, timeout_at};

use super::BodyError;
use crate::serve::collect::{Intake, ReservedBytes};

/// How long a body may take in all.
const IN_ALL: Duration = Duration::from_secs(30);
/// How long nothing may come of it.
const SILENCE: Duration = Duration::from_secs(10);

/// The body and the room that it takes, which is reckoned as it comes: who only
/// says that much will come holds nothing.
pub(super) async fn read(
    intake: &Intake,
    headers: &HeaderMap,
    body: Body,
    most: usize,
) -> Result<(Bytes, ReservedBytes), BodyError> {
    let said = headers.get(header::CONTENT_LENGTH);
    let said = said.and_then(|said| said.to_str().ok()?.parse::<usize>().ok());
    if said.is_some_and(|said| said > most) {
        return Err(BodyError::Small(most));
    }
    let mut room = intake.room(0).map_err(BodyError::Kept)?;
    let mut whole = Vec::new();
    let mut pieces = body.into_data_stream();
    let end = Instant::now() + IN_ALL;
    loop {
        let silent = Instant::now() + SILENCE;
        let piece = match timeout_at(end.min(silent), pieces.next()).await {
            Ok(Some(Ok(piece))) => piece,
            Ok(Some(Err(error))) => {
                return Err(BodyError::Whole(format!(
                    "the body was interrupted: {error}"
                )));
            }
            Ok(None) => return Ok((whole.into(), room)),
            Err(_) => {
                return Err(BodyError::Whole(format!(
                    "the body was sent too slowly: it may take {} s in total, and pause for {} s",
                    IN_ALL.as_secs(),
                    SILENCE.as_secs()
                )));
            }
        };
        if whole.len() + piece.len() > most {
            return Err(BodyError::Small(most));
        }
        room.add(intake.room(piece.len()).map_err(BodyError::Kept)?);
        whole.extend_from_slice(&piece);
    }
}
