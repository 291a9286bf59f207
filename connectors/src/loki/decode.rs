//! An answer's streams to events.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::answer::{Answer, Labels, Stream};
use super::labels;
use crate::event::{Origin, SourceKind};
use crate::logs::{Joiner, Placed, Teller, interpret, unwrapped};
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

/// One line of an answer, before it is joined with others.
struct Said {
    at: Nanos,
    /// Its place in its stream as given.
    order: i64,
    text: String,
    /// Line of the file that its stream starts at.
    line: u64,
    labels: Arc<Labels>,
    metadata: Labels,
}

/// Decodes the elements of one answer's result; `done` is told of each line.
pub(crate) fn decode_streams<'a>(
    parts: impl Iterator<Item = (&'a [u8], u64)>,
    file: &Arc<str>,
    out: &mut Vec<Observation>,
    done: &mut dyn FnMut(u64, Result<(), Rejection>),
) {
    let mut logs: BTreeMap<String, Vec<Said>> = BTreeMap::new();
    let mut backward = false;
    for (json, line) in parts {
        let stream = match serde_json::from_slice::<Stream<'_>>(json) {
            Ok(stream) => stream,
            Err(error) => {
                done(
                    line,
                    Err(Rejection::Malformed(format!(
                        "not a stream of Loki: {error}"
                    ))),
                );
                continue;
            }
        };
        if stream.metric.is_some() || stream.stream.is_none() {
            done(
                line,
                Err(Rejection::Irrelevant(
                    "samples of a metric query".to_owned(),
                )),
            );
            continue;
        }
        let labels = Arc::new(stream.stream.unwrap_or_default());
        let mut before = None;
        for (order, entry) in (0..).zip(stream.values) {
            let Some(at) = time(&entry.time) else {
                let why = "the time of a line of Loki is no number of nanoseconds".to_owned();
                done(line, Err(Rejection::Malformed(why)));
                continue;
            };
            backward |= before.is_some_and(|before| before > at);
            before = Some(at);
            let mut metadata = entry.about.parsed;
            // What the query parsed out of the line may hide what is known of it.
            metadata.extend(entry.about.metadata);
            let key = key(&labels, &metadata);
            let text = entry.line.into_owned();
            logs.entry(key).or_default().push(Said {
                at,
                order,
                text,
                line,
                labels: Arc::clone(&labels),
                metadata,
            });
            done(line, Ok(()));
        }
    }
    for (identity, mut said) in logs {
        // Newest first also reverses lines of one time. Streams of one log tie
        // by their labels, for answers list them in any order.
        let turn = if backward { -1 } else { 1 };
        said.sort_by(|a, b| {
            (a.at, &a.labels, a.order * turn).cmp(&(b.at, &b.labels, b.order * turn))
        });
        tell(identity, &said, file, out);
    }
}

/// Nanoseconds as Loki writes them.
fn time(text: &str) -> Option<Nanos> {
    text.parse().ok().filter(|at| *at >= 0)
}

fn key(stream: &Labels, metadata: &Labels) -> String {
    let all = merged(stream, metadata);
    labels::identity(&all, &labels::entities(&all))
}

fn merged(stream: &Labels, metadata: &Labels) -> Labels {
    let mut all = metadata.clone();
    all.extend(
        stream
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    all
}

fn tell(identity: String, said: &[Said], file: &Arc<str>, out: &mut Vec<Observation>) {
    let mut teller = Teller::new(
        identity,
        SourceKind::Loki,
        Default::default(),
        Arc::clone(file),
    );
    let mut joiner = Joiner::default();
    let mut joined = Vec::new();
    for (number, said) in (0..).zip(said) {
        let content = unwrapped(&said.text);
        if content.trim().is_empty() {
            continue;
        }
        let line = interpret(&content, said.text.clone(), number);
        joiner.push(
            Placed {
                line,
                stamp: Stamp::exact(said.at),
                inferred: None,
            },
            &mut joined,
        );
    }
    joiner.finish(&mut joined);
    for mut record in joined {
        let Some(said) = usize::try_from(record.first.line.number)
            .ok()
            .and_then(|number| said.get(number))
        else {
            continue;
        };
        let labels = merged(&said.labels, &said.metadata);
        teller.count(&mut record);
        let mut event = teller.tell(record);
        event.entities = labels::entities(&labels);
        event.severity = labels::level(&labels).or(event.severity);
        event.origin.line = said.line;
        let others = labels::others(&labels);
        event.set_attribute("labels", (!others.is_empty()).then_some(others));
        out.push(Observation::Event(Box::new(event)));
    }
}
