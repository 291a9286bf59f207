//! `MLflow`'s file store: `EXPERIMENT/RUN/{meta.yaml,metrics/NAME,tags/NAME}`
//! (mlflow `mlflow/store/tracking/file_store.py`).
//!
//! A metric's file has a line for each value: milliseconds since 1970, the value, the step. `meta.yaml` has the
//! run's status, which the program itself sets: a run whose program was killed stays RUNNING for ever, and one
//! that ended with an exception is FINISHED unless it was a context manager's.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::curves::Curves;
use super::emit::{Run, State};
use super::place::{MlflowPlace, folder, mlflow};
use crate::contract::{
    ForeignDecoder, ForeignOutput, ForeignRecord, FormatOutput, TextFormat, TextReader, numbered,
};
use crate::event::Origin;
use crate::observation::Rejection;
use crate::redact::redact;
use crate::time::Nanos;

const TRACKER: &str = "MLflow";

/// A metric's file.
pub(super) static METRIC: TextFormat = TextFormat {
    words: "MLflow's metric",
    of_pods: true,
    first: true,
    is: |_| false,
    reader: |source, _| Box::new(Metric::new(&source.file)),
};

/// A tag's file.
pub(super) static TAG: TextFormat = TextFormat {
    words: "MLflow's tag",
    of_pods: true,
    first: true,
    is: |_| false,
    reader: |source, _| {
        Box::new(Tag {
            file: Arc::clone(&source.file),
            text: String::new(),
        })
    },
};

/// What a run, or an experiment, is and how it stands.
pub(crate) const META: ForeignDecoder = ForeignDecoder {
    recognise: |fields, _| {
        fields.contains_key("lifecycle_stage") && fields.contains_key("experiment_id")
    },
    decode: meta,
    yaml: &["lifecycle_stage"],
};

fn run(place: MlflowPlace) -> Run {
    Run {
        tracker: TRACKER,
        identity: place.run,
        folder: place.folder,
        series: place.name,
        ..Run::default()
    }
}

/// Milliseconds since 1970; what is earlier than 2001 is no time of a training.
fn milliseconds(milliseconds: i64) -> Option<Nanos> {
    const EARLIEST: i64 = 1_000_000_000_000;
    let nanos = milliseconds.checked_mul(1_000_000);
    nanos.filter(|_| milliseconds >= EARLIEST)
}

struct Metric {
    place: Option<MlflowPlace>,
    file: Origin,
    curves: Curves,
    is_of_system: bool,
}

impl Metric {
    fn new(file: &Arc<str>) -> Self {
        let place = mlflow(file);
        // What the machine did, counted by samples and not by steps.
        let is_of_system = place
            .as_ref()
            .is_some_and(|place| place.name.starts_with("system/"));
        Self {
            place,
            file: Origin {
                file: Arc::clone(file),
                line: 0,
            },
            curves: Curves::default(),
            is_of_system,
        }
    }

    fn line(&mut self, line: &str, number: u64) -> Result<(), String> {
        let mut words = line.split_ascii_whitespace();
        let (time, value, step) = (words.next(), words.next(), words.next());
        let time = time
            .and_then(|text| text.parse().ok())
            .and_then(milliseconds);
        let value: Option<f64> = value.and_then(|text| text.parse().ok());
        // The first versions wrote no step.
        let step: Option<i64> = step.unwrap_or("0").parse().ok();
        let ((Some(time), Some(value)), Some(step)) = ((time, value), step) else {
            return Err("no time, value and step of a metric".to_owned());
        };
        let name = self.place.as_ref().map_or("", |place| place.name.as_str());
        self.curves.value(number, step, time, name, value);
        Ok(())
    }
}

impl TextReader for Metric {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        for (number, line) in numbered(lines, first) {
            let text = String::from_utf8_lossy(line);
            found.lossy += u64::from(matches!(text, Cow::Owned(_)));
            if text.trim().is_empty() {
                continue;
            }
            if self.is_of_system {
                found.records += 1;
                found.irrelevant += 1;
                continue;
            }
            match self.line(&text, number) {
                Ok(()) => found.records += 1,
                Err(why) => found.rejected.push((number, why)),
            }
        }
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        let curves = self.curves.finish();
        if let Some(place) = self.place.take() {
            run(place).curves(&curves, &self.file, &mut found.observations);
        }
    }
}

struct Tag {
    file: Arc<str>,
    text: String,
}

/// No name is longer.
const LONGEST: usize = 256;

impl TextReader for Tag {
    fn lines(&mut self, lines: &[u8], _: u64, _: &mut FormatOutput) {
        if self.text.len() < LONGEST {
            let some = lines.get(..LONGEST).unwrap_or(lines);
            self.text.push_str(&String::from_utf8_lossy(some));
        }
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        found.records += 1;
        let place = mlflow(&self.file);
        let value = self.text.trim();
        let tagged = place.filter(|_| !value.is_empty() && value.len() < LONGEST);
        let tagged = tagged.and_then(|place| {
            let tag = place.name.to_lowercase().replace(['.', '-', '/'], "_");
            let mut run = run(place);
            let value = Some(value.to_owned());
            match tag.as_str() {
                "mlflow_runname" => run.name = value,
                "pod"
                | "pod_name"
                | "k8s_pod"
                | "k8s_pod_name"
                | "kubernetes_pod_name"
                | "hostname"
                | "host"
                | "host_name"
                | "node"
                | "node_name" => run.host = value,
                "slurm_job_id" | "slurm_jobid" => run.slurm_job = value,
                "experiment" | "experiment_name" | "job_name" | "job" => run.also.extend(value),
                _ => return None,
            }
            Some(run)
        });
        let Some(run) = tagged else {
            found.irrelevant += 1;
            return;
        };
        let origin = Origin {
            file: Arc::clone(&self.file),
            line: 1,
        };
        let state = State::default();
        found.observations.push(run.state(&state, origin));
    }
}

/// The states of a run (mlflow `mlflow/protos/service.proto`), as its own word and ours.
const STATES: [(i64, &str, &str); 5] = [
    (1, "RUNNING", "running"),
    (2, "SCHEDULED", "running"),
    (3, "FINISHED", "finished"),
    (4, "FAILED", "failed"),
    (5, "KILLED", "killed"),
];

fn meta(record: ForeignRecord<'_>, out: &mut ForeignOutput) -> Result<(), Rejection> {
    let text = |key: &str| record.fields.get(key).and_then(Value::as_str);
    let time = |key: &str| {
        record
            .fields
            .get(key)
            .and_then(Value::as_i64)
            .and_then(milliseconds)
    };
    let folder = folder(&record.origin.file);
    let mut of = Run {
        tracker: TRACKER,
        folder,
        ..Run::default()
    };
    let Some(id) = text("run_id").or_else(|| text("run_uuid")) else {
        // An experiment: its name is one of each of its runs.
        let name = text("name").filter(|name| !matches!(*name, "" | "Default"));
        let name = name.ok_or_else(|| Rejection::Irrelevant("an unnamed experiment".to_owned()))?;
        of.identity = format!("experiment {}", text("experiment_id").unwrap_or_default());
        of.also.push(redact(name).into_owned());
        // When somebody made it says nothing of its runs.
        let state = State::default();
        out.observations
            .push(of.state(&state, record.origin.clone()));
        return Ok(());
    };
    id.clone_into(&mut of.identity);
    of.name = text("run_name")
        .filter(|name| !name.is_empty())
        .map(str::to_owned);
    let code = record.fields.get("status").and_then(Value::as_i64);
    let known = STATES.iter().find(|(number, word, _)| {
        Some(*number) == code || text("status").is_some_and(|status| status == *word)
    });
    let state = State {
        state: known.map(|(_, _, state)| *state),
        word: known.map_or_else(String::new, |(_, word, _)| (*word).to_owned()),
        begin: time("start_time"),
        end: time("end_time"),
        exit_code: None,
    };
    out.observations
        .push(of.state(&state, record.origin.clone()));
    Ok(())
}
