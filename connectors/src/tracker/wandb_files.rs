//! The JSON files beside W&B's records: `files/wandb-metadata.json`, `files/wandb-summary.json`.

use serde_json::{Map, Value};

use super::curves::Curves;
use super::emit::{Run, State, seconds};
use super::place::{folder, wandb};
use super::wandb::TRACKER;
use crate::contract::{ForeignDecoder, ForeignOutput, ForeignRecord};
use crate::observation::Rejection;
use crate::time::Stamp;

/// Where a run's program ran.
pub(crate) const METADATA: ForeignDecoder = ForeignDecoder {
    recognise: |fields, _| {
        let has = |key: &str| fields.get(key).is_some_and(Value::is_string);
        has("startedAt") && has("host") && has("python") && has("os")
    },
    decode: metadata,
    yaml: &[],
};

/// The last value of each curve.
pub(crate) const SUMMARY: ForeignDecoder = ForeignDecoder {
    recognise: |fields, _| {
        let has = |key: &str| fields.get(key).is_some_and(Value::is_number);
        has("_step") && has("_timestamp") && has("_runtime")
    },
    decode: summary,
    yaml: &[],
};

fn run(record: &ForeignRecord<'_>, identity: String) -> Run {
    let name = &record.origin.file;
    let folder = wandb(name).unwrap_or_else(|| folder(name));
    Run {
        tracker: TRACKER,
        identity,
        series: format!("{folder} summary"),
        folder,
        ..Run::default()
    }
}

fn metadata(record: ForeignRecord<'_>, out: &mut ForeignOutput) -> Result<(), Rejection> {
    let text = |key: &str| record.fields.get(key).and_then(Value::as_str);
    let begin = text("startedAt").and_then(Stamp::parse_loosely);
    let host = text("host").unwrap_or_default();
    let mut run = run(
        &record,
        format!("{host} {}", text("startedAt").unwrap_or_default()),
    );
    run.host = Some(host.to_owned());
    let slurm: Option<&Map<String, Value>> = record.fields.get("slurm").and_then(Value::as_object);
    let job = slurm.and_then(|slurm| slurm.get("job_id").or_else(|| slurm.get("jobid")));
    run.slurm_job = job.map(|job| job.as_str().map_or_else(|| job.to_string(), str::to_owned));
    let state = State {
        begin: begin.map(|begin| begin.lo),
        ..State::default()
    };
    out.observations
        .push(run.state(&state, record.origin.clone()));
    Ok(())
}

fn summary(record: ForeignRecord<'_>, out: &mut ForeignOutput) -> Result<(), Rejection> {
    let number = |key: &str| record.fields.get(key).and_then(Value::as_f64);
    let time = number("_timestamp").and_then(seconds);
    let time = time.ok_or_else(|| Rejection::Malformed("a summary without a time".to_owned()))?;
    let own = number("train/global_step").or_else(|| number("_step"));
    #[expect(clippy::cast_possible_truncation, reason = "a step is a whole number")]
    let step = own.unwrap_or_default() as i64;
    let mut curves = Curves::default();
    curves.value(record.origin.line, step, time, "_step", 0.0);
    let values = record
        .fields
        .iter()
        .filter(|(name, _)| !name.starts_with('_'));
    for (name, value) in values {
        if let Some(value) = value.as_f64() {
            curves.value(record.origin.line, step, time, name, value);
        }
    }
    let run = run(&record, format!("summary {step}"));
    run.curves(&curves.finish(), record.origin, &mut out.observations);
    Ok(())
}
