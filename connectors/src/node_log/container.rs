//! `docker inspect` and `podman inspect` of a container: how it ended.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::emit::Emitter;
use super::line::{HostLine, LineTime};
use super::place::PlacedTime;
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::observation::{Observation, Rejection};
use crate::time::Stamp;

/// Whether it is a container as the engine describes it.
pub(super) fn is_record(fields: &Map<String, Value>) -> bool {
    let state = fields.get("State").and_then(Value::as_object);
    let keys = ["OOMKilled", "ExitCode", "FinishedAt"];
    fields.get("Name").is_some_and(Value::is_string)
        && state.is_some_and(|state| keys.iter().all(|key| state.contains_key(*key)))
}

/// Decodes it: one that runs has not ended.
pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let irrelevant = |why: &str| Err(Rejection::Irrelevant(why.to_owned()));
    let text = |fields: &Map<String, Value>, key: &str| {
        let value = fields.get(key).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let state = record.fields.get("State").and_then(Value::as_object);
    let Some(state) = state else {
        return irrelevant("a container without a state");
    };
    let is = |key: &str| state.get(key).and_then(Value::as_bool) == Some(true);
    let ended = Stamp::parse(&text(state, "FinishedAt"));
    // Of one that never ended the engine writes the year 1.
    let Some(ended) = ended.filter(|ended| ended.lo > 0 && !is("Running")) else {
        return irrelevant("a container that has not ended");
    };
    let code = state.get("ExitCode").and_then(Value::as_i64);
    let name = text(record.fields, "Name");
    let name = name.trim_start_matches('/');
    let message = format!(
        "container {name}: State.ExitCode={}, State.OOMKilled={}",
        code.unwrap_or_default(),
        is("OOMKilled")
    );
    let host_line = HostLine {
        program: Some("docker".to_owned()),
        ..HostLine::new(LineTime::Absent, &message)
    };
    let placed = PlacedTime {
        stamp: Some(ended),
        inferred: None,
        ahead: None,
    };
    let file = Arc::clone(&record.origin.file);
    let identity = file.to_string();
    // Its environment and its arguments are of no use here.
    let raw = Value::Object(state.clone()).to_string();
    let event =
        Emitter::new(file, identity, None).emit(host_line, placed, &raw, record.origin.line);
    emitted
        .observations
        .push(Observation::Event(Box::new(event)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Origin;

    fn told(state: &str) -> Vec<String> {
        let record = format!(r#"{{"Id": "ab", "Name": "/train", "State": {state}}}"#);
        let fields: Map<String, Value> = serde_json::from_str(&record).unwrap();
        assert!(is_record(&fields));
        let origin = Origin {
            file: "inspect.json".into(),
            line: 1,
        };
        let mut emitted = ForeignOutput::default();
        let record = ForeignRecord {
            fields: &fields,
            within: "",
            origin: &origin,
        };
        let _irrelevant = decode(record, &mut emitted);
        let texts = emitted.observations.into_iter().map(|one| match one {
            Observation::Event(event) => event.message.unwrap_or_default(),
            other => panic!("{other:?}"),
        });
        texts.collect()
    }

    #[test]
    fn a_container_that_ended_says_how() {
        assert_eq!(
            told(
                r#"{"Running": false, "OOMKilled": true, "ExitCode": 137, "FinishedAt": "2026-11-23T11:00:00.5Z"}"#
            ),
            ["container train: State.ExitCode=137, State.OOMKilled=true"]
        );
        let running = r#"{"Running": true, "OOMKilled": false, "ExitCode": 0, "FinishedAt": "0001-01-01T00:00:00Z"}"#;
        assert_eq!(told(running), [""; 0]);
    }
}
