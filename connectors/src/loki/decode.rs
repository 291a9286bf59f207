//! An answer's streams to events.

use std::sync::Arc;

use super::answer::{Answer, Stream};
use crate::event::{Origin, SourceKind};
use crate::log_store::{EmitOptions, LabelNames, StoredLine, emit};
use crate::observation::{Observation, Rejection};
use crate::time::{Nanos, Stamp};

/// Decodes a whole answer.
///
/// # Errors
/// Says why nothing of it could be used.
pub fn decode(json: &[u8], origin: &Origin, out: &mut Vec<Observation>) -> Result<(), Rejection> {
    let answer: Answer<'_> = serde_json::from_slice(json)
        .map_err(|error| Rejection::Malformed(format!("not an answer of Loki: {error}")))?;
    let Some(data) = answer.data else {
        return Err(Rejection::Irrelevant("an answer without data".to_owned()));
    };
    if data.result_type != "streams" {
        return Err(Rejection::Irrelevant(format!(
            "an answer of type {:?}",
            data.result_type
        )));
    }
    let parts = data
        .result
        .iter()
        .map(|part| (part.get().as_bytes(), origin.line));
    let mut used = data.result.is_empty();
    let mut failed = None;
    decode_streams(parts, &origin.file, out, &mut |_, result| match result {
        Ok(()) => used = true,
        Err(why) => failed = failed.take().or(Some(why)),
    });
    match failed {
        Some(why) if !used => Err(why),
        _ => Ok(()),
    }
}

/// Decodes the elements of one answer's result; `done` is told of each line.
pub(super) fn decode_streams<'a>(
    parts: impl Iterator<Item = (&'a [u8], u64)>,
    file: &Arc<str>,
    out: &mut Vec<Observation>,
    done: &mut dyn FnMut(u64, Result<(), Rejection>),
) {
    let mut lines = Vec::new();
    let mut backward = false;
    for (json, number) in parts {
        let stream = match serde_json::from_slice::<Stream<'_>>(json) {
            Ok(stream) => stream,
            Err(error) => {
                let why = format!("not a stream of Loki: {error}");
                done(number, Err(Rejection::Malformed(why)));
                continue;
            }
        };
        if stream.metric.is_some() || stream.stream.is_none() {
            let why = "samples of a metric query".to_owned();
            done(number, Err(Rejection::Irrelevant(why)));
            continue;
        }
        let before = lines.len();
        of_stream(stream, number, &mut lines, done);
        backward |= lines[before..]
            .windows(2)
            .any(|pair| pair[0].stamp > pair[1].stamp);
    }
    if backward {
        // Newest first also reverses lines of one time.
        for line in &mut lines {
            line.order = -line.order;
        }
    }
    let how = EmitOptions {
        source_kind: SourceKind::Loki,
        file: Arc::clone(file),
        names: &LabelNames::default(),
        observed: None,
        whole: None,
    };
    emit(lines, &how, out);
}

/// The lines of one stream, in the order of the answer.
pub(super) fn of_stream(
    stream: Stream<'_>,
    number: u64,
    out: &mut Vec<StoredLine>,
    done: &mut dyn FnMut(u64, Result<(), Rejection>),
) {
    let labels = Arc::new(stream.stream.unwrap_or_default());
    for (order, entry) in (0..).zip(stream.values) {
        let Some(at) = time(&entry.time) else {
            let why = "the time of a Loki line is not a number of nanoseconds".to_owned();
            done(number, Err(Rejection::Malformed(why)));
            continue;
        };
        out.push(StoredLine {
            stamp: Stamp::exact(at),
            text: entry.line.into_owned(),
            labels: Arc::clone(&labels),
            metadata: entry.about.merged(),
            id: None,
            order,
            number,
        });
        done(number, Ok(()));
    }
}

/// Nanoseconds as Loki writes them.
fn time(text: &str) -> Option<Nanos> {
    text.parse().ok().filter(|at| *at >= 0)
}
