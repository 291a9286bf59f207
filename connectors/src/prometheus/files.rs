//! Saved answers of `/api/v1/query` and `/api/v1/query_range`.

use serde_json::{Map, Value};

use super::emit::{DeathTimes, Emitter};
use super::names::Names;
use super::wire;
use crate::contract::{ForeignDecoder, ForeignOutput, ForeignRecord};
use crate::observation::Rejection;

/// A query's `data`: its type and its series.
pub(crate) const ANSWER: ForeignDecoder = ForeignDecoder {
    recognise: |fields, _| is_answer(fields),
    decode: decode_answer,
    yaml: &[],
};

fn is_answer(fields: &Map<String, Value>) -> bool {
    let kind = fields.get("resultType").and_then(Value::as_str);
    matches!(kind, Some("matrix" | "vector")) && fields.get("result").is_some_and(Value::is_array)
}

/// Tells what the series of a saved answer mean. A grid (`query_range`) is read
/// as if its points were scrapes.
fn decode_answer(record: ForeignRecord<'_>, emitted: &mut ForeignOutput) -> Result<(), Rejection> {
    let result = record.fields.get("result").unwrap_or(&Value::Null);
    let kind = record.fields.get("resultType").and_then(Value::as_str);
    let series = wire::of_data(kind.unwrap_or_default(), &result.to_string())
        .map_err(|error| Rejection::Malformed(error.to_string()))?;
    let mut names = Names::default();
    for one in &series {
        names.learn(&one.labels);
    }
    let moments = DeathTimes {
        unknown: true,
        ..DeathTimes::default()
    };
    let emitter = Emitter {
        names: &names,
        moments: &moments,
        origin: record.origin.clone(),
        observed: None,
        from: None,
    };
    let found = emitter.emit(&series);
    if found.is_empty() {
        return Err(Rejection::Irrelevant(
            "series in which nothing changed that means something".to_owned(),
        ));
    }
    emitted.observations.extend(found);
    Ok(())
}
