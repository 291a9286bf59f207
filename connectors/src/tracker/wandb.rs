//! W&B's offline runs: `run-ID.wandb`, records of `wandb_internal.Record` (wandb
//! `wandb/proto/wandb_internal.proto`)
//!
//! ```text
//! Record  { 2: HistoryRecord, 4: OutputRecord, 13: OutputRawRecord, 17: RunRecord, 18: RunExitRecord, 26: EnvironmentRecord }
//! History { 1: repeated Item { 1: key, 2: nested_key, 6: number, 16: value_json }, 2: Step { 1: num } }
//! Run     { 1: run_id, 3: project, 6: run_group, 8: display_name, 13: host, 17: start_time { 1: seconds, 2: nanos } }
//! Exit    { 1: exit_code, 2: runtime in seconds }
//! ```
//!
//! A program that is killed leaves no exit record. What was not yet flushed is lost with it.

use serde_json::Value as Json;

use super::curves::Curves;
use super::emit::{Run, State, seconds};
use super::place::{folder, wandb};
use super::wandb_console::Console;
use super::wandb_frames::{Blocks, MAGIC};
use super::wire::each_field;
use crate::contract::{FormatOutput, Options, RecordFormat, RecordReader};
use crate::event::Origin;
use crate::observation::Observation;
use crate::redact::redact;
use crate::time::{Nanos, SECOND};

/// The format of W&B's runs.
pub(super) const FORMAT: RecordFormat = RecordFormat {
    words: "W&B's run",
    is: |head| head.starts_with(&MAGIC),
    framer: || Box::new(Blocks::default()),
    reader: |name, options: &Options| Box::new(Records::new(name, options)),
};

/// What people call the tracker.
pub(super) const TRACKER: &str = "W&B";

/// The steps that programs count themselves; W&B's own counts what was logged.
const STEPS: [&str; 4] = [
    "train/global_step",
    "trainer/global_step",
    "global_step",
    "_step",
];

/// Reads the records of one run.
struct Records {
    run: Run,
    file: Origin,
    curves: Curves,
    console: Console,
    is_run: bool,
    state: State,
    runtime: Option<i64>,
    last: Option<Nanos>,
}

impl Records {
    fn new(name: &str, options: &Options) -> Self {
        let folder = wandb(name).unwrap_or_else(|| folder(name));
        Self {
            console: Console::new(&folder, options),
            run: Run {
                tracker: TRACKER,
                series: folder.clone(),
                folder,
                ..Run::default()
            },
            file: Origin {
                file: redact(name).into(),
                line: 0,
            },
            curves: Curves::default(),
            is_run: false,
            state: State::default(),
            runtime: None,
            last: None,
        }
    }

    /// Takes a record; says whether it was of use.
    fn take(
        &mut self,
        record: &[u8],
        number: u64,
        out: &mut Vec<Observation>,
    ) -> Result<bool, String> {
        let mut parts = Vec::new();
        each_field(record, |field, value| {
            if matches!(field, 2 | 4 | 13 | 17 | 18 | 26) {
                parts.push((field, value.bytes()));
            }
        })?;
        for (field, part) in &parts {
            match field {
                2 => self.history(part, number)?,
                4 | 13 => self.console.take(part, out)?,
                17 => self.describe(part)?,
                18 => self.exit(part)?,
                _ => self.environment(part)?,
            }
        }
        Ok(!parts.is_empty())
    }

    fn history(&mut self, history: &[u8], number: u64) -> Result<(), String> {
        let (mut items, mut step) = (Vec::new(), None);
        each_field(history, |field, value| match field {
            1 => items.push(value.bytes()),
            2 => step = Some(value.bytes()),
            _ => {}
        })?;
        let mut values: Vec<(String, f64)> = Vec::new();
        for item in items {
            values.extend(named_number(item)?);
        }
        let of = |name: &str| {
            let found = values.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| *value)
        };
        let mut counted = None;
        each_field(step.unwrap_or_default(), |field, value| {
            if field == 1 {
                counted = Some(value.int());
            }
        })?;
        #[expect(clippy::cast_possible_truncation, reason = "a step is a whole number")]
        let own = STEPS
            .iter()
            .find_map(|name| of(name))
            .map(|step| step as i64);
        let Some(step) = own.or(counted) else {
            return Err("a step without a number".to_owned());
        };
        let Some(time) = of("_timestamp").and_then(seconds) else {
            return Err("a step without a time".to_owned());
        };
        self.last = self.last.max(Some(time));
        for (name, value) in &values {
            if !name.starts_with('_') && !STEPS.contains(&name.as_str()) {
                self.curves.value(number, step, time, name, *value);
            }
        }
        Ok(())
    }

    fn describe(&mut self, run: &[u8]) -> Result<(), String> {
        self.is_run = true;
        let mut begin: Option<&[u8]> = None;
        let (mut id, run_of) = (String::new(), &mut self.run);
        each_field(run, |field, value| match field {
            1 => id = value.text(),
            3 | 6 => run_of.also.push(redact(&value.text()).into_owned()),
            8 => run_of.name = Some(redact(&value.text()).into_owned()),
            13 => run_of.host = Some(value.text()),
            17 => begin = Some(value.bytes()),
            _ => {}
        })?;
        run_of.also.retain(|name| !name.is_empty());
        run_of.also.sort();
        run_of.also.dedup();
        let begin = timestamp(begin.unwrap_or_default())?;
        self.state.begin = begin.or(self.state.begin);
        self.run.identity = format!("{id} {}", self.state.begin.unwrap_or_default());
        Ok(())
    }

    fn exit(&mut self, exit: &[u8]) -> Result<(), String> {
        let (mut code, mut runtime) = (0, None);
        each_field(exit, |field, value| match field {
            1 => code = value.int(),
            2 => runtime = Some(value.int()),
            _ => {}
        })?;
        self.state.exit_code = i32::try_from(code).ok();
        self.runtime = runtime;
        (self.state.state, self.state.word) = match code {
            0 => (Some("finished"), "finished".to_owned()),
            code => (Some("failed"), format!("failed with exit code {code}")),
        };
        Ok(())
    }

    fn environment(&mut self, environment: &[u8]) -> Result<(), String> {
        let (mut host, mut slurm) = (None, Vec::new());
        each_field(environment, |field, value| match field {
            12 => host = Some(value.text()),
            27 => slurm.push(value.bytes()),
            _ => {}
        })?;
        if self.run.host.is_none() {
            self.run.host = host.filter(|host| !host.is_empty());
        }
        for entry in slurm {
            let (mut key, mut value_of) = (String::new(), String::new());
            each_field(entry, |field, value| match field {
                1 => key = value.text(),
                2 => value_of = value.text(),
                _ => {}
            })?;
            if key.eq_ignore_ascii_case("job_id") || key.eq_ignore_ascii_case("jobid") {
                self.run.slurm_job = Some(value_of);
            }
        }
        Ok(())
    }
}

impl RecordReader for Records {
    fn record(&mut self, record: &[u8], number: u64, found: &mut FormatOutput) {
        match self.take(record, number, &mut found.observations) {
            Ok(of_use) => {
                found.records += 1;
                found.irrelevant += u64::from(!of_use);
            }
            Err(why) => found.rejected.push((number, why)),
        }
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        self.console.finish(&mut found.observations);
        let curves = self.curves.finish();
        self.run
            .curves(&curves, &self.file, &mut found.observations);
        if !self.is_run {
            return;
        }
        let state = &mut self.state;
        if state.state.is_none() {
            state.state = Some("running");
            "no exit of it is recorded".clone_into(&mut state.word);
        } else {
            let after = self.runtime.and_then(|runtime| runtime.checked_mul(SECOND));
            let by_runtime = state.begin.zip(after);
            let by_runtime = by_runtime.map(|(begin, after)| begin.saturating_add(after));
            state.end = by_runtime.max(self.last);
        }
        let origin = Origin {
            line: 1,
            ..self.file.clone()
        };
        found.observations.push(self.run.state(state, origin));
    }
}

/// A value of a step that is a number.
fn named_number(item: &[u8]) -> Result<Option<(String, f64)>, String> {
    let (mut key, mut nested) = (String::new(), Vec::new());
    let (mut number, mut json) = (None, None);
    each_field(item, |field, value| match field {
        1 => key = value.text(),
        2 => nested.push(value.text()),
        5 => {
            #[expect(clippy::cast_precision_loss, reason = "a curve is drawn, not counted")]
            let whole = value.int() as f64;
            number = Some(whole);
        }
        6 => number = Some(value.double()),
        16 => json = Some(value.bytes()),
        _ => {}
    })?;
    let name = if nested.is_empty() {
        key
    } else {
        nested.join(".")
    };
    let value = number.or_else(|| json.and_then(of_json));
    Ok(value.map(|value| (name, value)))
}

/// A number as Python writes it into JSON.
fn of_json(text: &[u8]) -> Option<f64> {
    match text {
        b"NaN" | b"\"NaN\"" => Some(f64::NAN),
        b"Infinity" | b"\"Infinity\"" => Some(f64::INFINITY),
        b"-Infinity" | b"\"-Infinity\"" => Some(f64::NEG_INFINITY),
        _ => serde_json::from_slice::<Json>(text).ok()?.as_f64(),
    }
}

fn timestamp(timestamp: &[u8]) -> Result<Option<Nanos>, String> {
    let (mut whole, mut nanos) = (0_i64, 0_i64);
    each_field(timestamp, |field, value| match field {
        1 => whole = value.int(),
        2 => nanos = value.int(),
        _ => {}
    })?;
    let at = whole.checked_mul(SECOND).map(|at| at.saturating_add(nanos));
    Ok(at.filter(|at| *at > 0))
}
