//! A dump to facts, and back to what is compared.

use serde_json::json;

use super::dump::read;
use crate::collective::{FACT, Trace};
use crate::event::{Event, EventId, Origin, SourceKind};
use crate::observation::{Observation, Rejection};
use crate::redact::redact;
use crate::time::Stamp;

/// Decodes one rank's dump, a whole file, to a fact for each process group.
///
/// Attributes: `rank`, `pg`, `pg_desc`, `members`; of the call that the rank is
/// in, else of the last completed one, `seq`, `op`, `state`, `input_sizes`,
/// `output_sizes`, `created_ns`, `timeout_ms`; `last_enqueued`,
/// `last_started`, `last_completed`, `last_completed_op`.
///
/// # Errors
/// Says why it cannot be used.
pub fn decode(bytes: &[u8], origin: &Origin, out: &mut Vec<Observation>) -> Result<(), Rejection> {
    let dump = read(bytes, &origin.file).map_err(Rejection::Malformed)?;
    let mut emitted = false;
    for trace in &dump.traces {
        if trace.last_enqueued.is_none() {
            continue;
        }
        emitted = true;
        out.push(Observation::Event(Box::new(event(
            trace,
            &dump.version,
            origin,
        ))));
    }
    if emitted {
        Ok(())
    } else {
        Err(Rejection::Irrelevant(
            "a dump without a collective".to_owned(),
        ))
    }
}

fn event(trace: &Trace, version: &str, origin: &Origin) -> Event {
    let call = trace.stands_in();
    let at = call.and_then(|call| call.completed.or(call.started).or(call.created));
    let time = at.map_or(Stamp::OPEN, Stamp::exact);
    let members = list(&trace.members);
    let state = format!("{:?} {:?}", call, trace.last_enqueued);
    let id = EventId::of(&[FACT, &trace.rank.to_string(), &trace.pg, &members, &state]);
    // Like a log's line, it is what the program wrote down itself.
    let mut event = Event::new(id, FACT, time, SourceKind::ContainerLog);
    event.rank = Some(trace.rank);
    event.origin = origin.clone();
    event.message = Some(redact(&sentence(trace)).into_owned());
    event.set_attribute("rank", Some(trace.rank.to_string()));
    event.set_attribute("pg", Some(trace.pg.clone()));
    event.set_attribute("pg_desc", some(&trace.desc));
    event.set_attribute("members", some(&members));
    event.set_attribute("version", some(version));
    if let Some(call) = call {
        event.set_attribute("seq", Some(call.seq.to_string()));
        event.set_attribute("op", some(&call.op));
        event.set_attribute("state", some(&call.state));
        event.set_attribute("input_sizes", some(&call.inputs));
        event.set_attribute("output_sizes", some(&call.outputs));
        event.set_attribute("created_ns", number(call.created));
        event.set_attribute("started_ns", number(call.started));
        event.set_attribute("timeout_ms", number(call.timeout_ms));
    }
    event.set_attribute("last_enqueued", number(trace.last_enqueued));
    event.set_attribute("last_started", number(trace.last_started));
    if let Some(done) = &trace.completed {
        event.set_attribute("last_completed", number(Some(done.seq)));
        event.set_attribute("last_completed_op", some(&done.op));
        event.set_attribute("last_completed_ns", number(done.completed));
    }
    event.raw = redact(&json!(event.attributes).to_string()).into_owned();
    event
}

fn sentence(trace: &Trace) -> String {
    let group = if trace.desc.is_empty() {
        &trace.pg
    } else {
        &trace.desc
    };
    let done = trace.completed.as_ref().map_or_else(
        || "completed none".to_owned(),
        |call| format!("completed {} #{}", call.op, call.seq),
    );
    match &trace.waits_in {
        Some(call) => format!(
            "rank {} is in {} #{} of group {group} ({}), {done}",
            trace.rank, call.op, call.seq, call.state
        ),
        None => format!(
            "rank {} waits in nothing of group {group}, {done}",
            trace.rank
        ),
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn number(value: Option<i64>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn list(ranks: &[i32]) -> String {
    let ranks: Vec<String> = ranks.iter().map(i32::to_string).collect();
    ranks.join(",")
}
