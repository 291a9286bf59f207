//! What the processes of an attempt said: the first failing rank, its
//! traceback, the collective that others waited in, how far the work came.

mod collective;
mod failing;
mod work;

use std::collections::BTreeMap;

use whathappened_core::evidence::SpillError;
use whathappened_core::graph::{Fact, TaskRow};
use whathappened_core::lifecycle::{LONGEST_GRACE, Mode};
use whathappened_model::event::Event;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::context::ReportContext;
use crate::answer::ProcessOutput;
use crate::explain::gang::Finding;

/// How long after the last death its logs still arrive: watchdogs speak when
/// their time is up, launchers report in the end.
const ECHO: Nanos = 900 * SECOND;

/// Facts that one answer looks at, of each signal.
const MOST: usize = 4_096;

/// What the logs of one attempt say, by signal, in time order.
struct AttemptLogs<'a> {
    context: &'a ReportContext<'a>,
    pods: Vec<TaskRow>,
    by_signal: BTreeMap<&'a str, Vec<&'a Fact>>,
}

impl ReportContext<'_> {
    /// What the processes said that bears on a finding, and when their work was
    /// last saved.
    pub(super) fn process_output(
        &self,
        finding: &Finding,
    ) -> Result<(ProcessOutput, Option<Stamp>), SpillError> {
        let spoken = self.spoken(finding);
        let collective = spoken.collective()?;
        let first_failing = spoken.first_failing(collective.as_ref())?;
        let first = finding.first.first().and_then(|death| self.death(*death));
        let died = first.map(|death| death.time);
        // Who is asked to stop is given time to save its work.
        let last = first.map(|death| match death.mode {
            Mode::Killed => death.time.hi.saturating_add(LONGEST_GRACE),
            _ => death.time.hi,
        });
        let last_checkpoint = spoken.last_checkpoint(last)?;
        let since = died
            .zip(last_checkpoint.as_ref())
            .map(|(died, (saved, _))| died.lo.saturating_sub(saved.lo));
        let saved = last_checkpoint.as_ref().map(|(saved, _)| *saved);
        let output = ProcessOutput {
            traceback: spoken.traceback(first_failing.as_ref(), finding)?,
            first_failing: first_failing.map(|(_, reported)| reported),
            collective,
            last_step: spoken.last_step(),
            last_checkpoint: last_checkpoint.map(|(_, reported)| reported),
            since_checkpoint_s: since.filter(|since| *since >= 0).map(seconds),
        };
        Ok((output, saved))
    }

    fn spoken(&self, finding: &Finding) -> AttemptLogs<'_> {
        let run = self.case.runs.get(finding.run);
        let attempt = run.and_then(|run| run.attempt(finding.attempt));
        let pods = attempt.map_or_else(Vec::new, |attempt| attempt.pods.clone());
        let last = finding
            .deaths()
            .filter_map(|death| self.death(death))
            .map(|death| death.time.hi)
            .filter(|last| *last != Nanos::MAX)
            .max();
        let until = last.map_or(Nanos::MAX, |last| last.saturating_add(ECHO));
        let mut by_signal: BTreeMap<&str, Vec<&Fact>> = BTreeMap::new();
        for fact in &self.graph().facts {
            let is_own = |pod: TaskRow| pods.binary_search(&pod).is_ok();
            if !fact.pod.is_some_and(is_own) || fact.time.lo > until {
                continue;
            }
            let spoken = by_signal.entry(self.graph().name(fact.signal)).or_default();
            if spoken.len() < MOST {
                spoken.push(fact);
            }
        }
        AttemptLogs {
            context: self,
            pods,
            by_signal,
        }
    }
}

impl<'a> AttemptLogs<'a> {
    fn facts(&self, signal: &str) -> impl Iterator<Item = &'a Fact> + '_ {
        self.by_signal.get(signal).into_iter().flatten().copied()
    }

    fn event(&self, fact: &Fact) -> Result<Event, SpillError> {
        self.context.graph().evidence.event(fact.row)
    }

    fn pod_name(&self, pod: impl Into<Option<TaskRow>>) -> Option<String> {
        let graph = self.context.graph();
        let pod = graph.pods.get(pod)?;
        Some(graph.name(pod.name).to_owned())
    }

    fn rank_of(&self, pod: impl Into<Option<TaskRow>>) -> Option<i32> {
        self.context.graph().pods.get(pod)?.rank
    }
}

fn seconds(nanos: Nanos) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "seconds for people")]
    let seconds = nanos as f64 / SECOND as f64;
    seconds
}

/// Numbers in an attribute: `3`, `"1, 2"`.
fn numbers(event: &Event, key: &str) -> Vec<i32> {
    let Some(value) = event.attributes.get(key) else {
        return Vec::new();
    };
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    text.split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect()
}

/// A whole number in an attribute.
fn number(event: &Event, key: &str) -> Option<i64> {
    let value = event.attributes.get(key)?;
    value
        .as_i64()
        .or_else(|| value.as_str()?.trim().replace([',', '_'], "").parse().ok())
}
