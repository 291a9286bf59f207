//! What a file's curves, checkpoints and words on a run become.

use std::borrow::Cow;

use serde_json::json;
use whathappened_model::tracker as words;

use super::curves::{FileCurves, NotFinite, Point};
use super::metric::Metric;
use crate::event::{Event, EventId, Origin, SourceKind};
use crate::observation::Observation;
use crate::redact::redact;
use crate::time::{Nanos, SECOND, Stamp};

/// What is known of a run beside its curves.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// For people: `TensorBoard`.
    pub(super) tracker: &'static str,
    /// What tells its facts from those of other runs, whatever its files are called.
    pub(super) identity: String,
    /// The folder that all of its files lie in.
    pub(super) folder: String,
    /// The curves that these steps are of.
    pub(super) series: String,
    pub(super) name: Option<String>,
    pub(super) host: Option<String>,
    /// Other names: of an experiment, a group, a project, a pod.
    pub(super) also: Vec<String>,
    pub(super) slurm_job: Option<String>,
}

/// What a tracker says of a whole run.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// `running`, `finished`, `failed`, `killed`.
    pub(super) state: Option<&'static str>,
    /// The tracker's own word.
    pub(super) word: String,
    pub(super) exit_code: Option<i32>,
    pub(super) begin: Option<Nanos>,
    pub(super) end: Option<Nanos>,
}

impl Run {
    pub(super) fn event(&self, fact: &str, at: Stamp, text: &str, origin: Origin) -> Event {
        let parts = [fact, self.tracker, &self.identity, &at.lo.to_string(), text];
        let mut event = Event::new(EventId::of(&parts), fact, at, SourceKind::Tracker);
        event.origin = origin;
        event.message = Some(text.to_owned());
        event.set_attribute(words::TRACKER, Some(self.tracker));
        event.set_attribute(words::FOLDER, Some(self.folder.clone()));
        event.set_attribute(words::NAME, self.name.clone());
        event.set_attribute(words::HOST, self.host.clone());
        event.set_attribute("job", self.slurm_job.clone());
        if !self.also.is_empty() {
            event.set_attribute("also", Some(self.also.clone()));
        }
        event
    }

    /// The facts of a file's curves.
    pub(super) fn curves(
        &self,
        file_curves: &FileCurves,
        file: &Origin,
        out: &mut Vec<Observation>,
    ) {
        let every = file_curves
            .count
            .div_ceil(file_curves.points.len().max(1) as u64);
        for point in &file_curves.points {
            let mut event = self.step(point, file_curves, at(file, point.record));
            if every > 1 {
                event.set_attribute("of_every", Some(every.to_string()));
            }
            out.push(finished(event));
        }
        for (first, last) in &file_curves.not_finite {
            for one in [Some(first), last.as_ref()].into_iter().flatten() {
                out.push(finished(self.not_finite(one, first, at(file, one.record))));
            }
        }
    }

    fn step(&self, point: &Point, file_curves: &FileCurves, origin: Origin) -> Event {
        let values = || {
            let named = point.values.iter();
            named.filter_map(|(number, value)| Some((file_curves.names.get(number)?, *value)))
        };
        let list: Vec<String> = values()
            .map(|((name, _), value)| format!("{name} {value}"))
            .collect();
        let text = match list.as_slice() {
            [] => format!("step {}", point.step),
            list => format!("step {}: {}", point.step, list.join(", ")),
        };
        let mut event = self.event(words::STEP, exact(point.first), &text, origin);
        if point.last.saturating_sub(point.first) >= SECOND {
            event.end = Some(exact(point.last));
        }
        event.set_attribute("step", Some(point.step.to_string()));
        event.set_attribute(words::SERIES, Some(self.series.clone()));
        for (key, kind) in [
            ("loss", Metric::Loss),
            ("other_loss", Metric::OtherLoss),
            ("grad_norm", Metric::GradientNorm),
            ("learning_rate", Metric::LearningRate),
            ("throughput", Metric::Throughput),
        ] {
            // Of several names for one thing the shortest, then the first by letters, says it plainly.
            let found = values()
                .filter(|((_, of), value)| *of == kind && value.is_finite())
                .min_by_key(|((name, _), _)| (name.len(), name.as_str()));
            event.set_attribute(key, found.map(|(_, value)| value.to_string()));
        }
        event
    }

    fn not_finite(&self, one: &NotFinite, first: &NotFinite, origin: Origin) -> Event {
        let (name, value, step) = (&one.name, word(one.value), one.step);
        let text = if one.step == first.step {
            format!("{name} is {value} from step {step} to the end of the curve")
        } else {
            format!(
                "{name} is {value} at step {step}, as since step {}",
                first.step
            )
        };
        let mut event = self.event(words::NOT_FINITE, exact(one.time), &text, origin);
        event.set_attribute("metric", Some(name.clone()));
        event.set_attribute("step", Some(step.to_string()));
        event
    }

    /// What the tracker says of the whole run.
    pub(super) fn state(&self, state: &State, origin: Origin) -> Observation {
        let time = state.end.or(state.begin).map_or(Stamp::OPEN, exact);
        let name = self.name.as_deref().unwrap_or("the run");
        let text = match state.state {
            Some(_) => format!("{} says of {name}: {}", self.tracker, state.word),
            None => format!("{} has a record of {name}", self.tracker),
        };
        let mut event = self.event(words::RUN, time, &text, origin);
        event.exit_code = state.exit_code;
        event.reason = state.state.map(|_| state.word.clone());
        event.set_attribute(words::STATE, state.state);
        event.set_attribute("begin", state.begin.map(crate::time::rfc3339));
        event.set_attribute("end", state.end.map(crate::time::rfc3339));
        finished(event)
    }

    /// A checkpoint that was saved.
    pub(super) fn checkpoint(
        &self,
        step: i64,
        time: Nanos,
        path: &str,
        origin: Origin,
    ) -> Observation {
        let text = format!("checkpoint of step {step} saved to {path}");
        let mut event = self.event(words::CHECKPOINT, exact(time), &text, origin);
        event.set_attribute("step", Some(step.to_string()));
        event.set_attribute(
            "path",
            Some(path.to_owned()).filter(|path| !path.is_empty()),
        );
        finished(event)
    }
}

fn finished(mut event: Event) -> Observation {
    event.raw = redact(&json!(event.attributes).to_string()).into_owned();
    if let Some(message) = &mut event.message
        && let Cow::Owned(clean) = redact(message)
    {
        *message = clean;
    }
    Observation::Event(Box::new(event))
}

/// A value that is no number, in the words of programs.
fn word(value: f64) -> &'static str {
    if value.is_nan() {
        "nan"
    } else if value > 0.0 {
        "inf"
    } else {
        "-inf"
    }
}

fn at(file: &Origin, record: u64) -> Origin {
    Origin {
        file: std::sync::Arc::clone(&file.file),
        line: record,
    }
}

fn exact(time: Nanos) -> Stamp {
    Stamp::exact(time)
}

/// Seconds since 1970, as trackers write them; nothing where that is no time.
pub(super) fn seconds(seconds: f64) -> Option<Nanos> {
    /// The year 2001, and the year 2200: what is earlier or later is no time of a training.
    const EARLIEST: f64 = 1e9;
    const LATEST: f64 = 7.3e9;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is within the bounds of time"
    )]
    let nanos = || (seconds * 1e6).round() as i64 * 1_000;
    (EARLIEST..LATEST).contains(&seconds).then(nanos)
}
