//! How far the training of each pod came, as its log tells, and where it
//! stopped getting on although it still spoke.

use whathappened_connectors::event::Event;
use whathappened_connectors::time::{Nanos, SECOND, Stamp};

use super::fact::{Fact, NO};
use super::pod::{Pod, Progress};
use crate::evidence::Evidence;
use crate::symbols::Symbols;

/// The signal of a line that tells of a step.
const PROGRESS: &str = "log.progress";

/// What is derived where steps stopped and lines went on.
const NONE: &str = "log.no_progress";

/// What is derived where no line of any log tells how far they were read.
const UNHEARD: &str = "log.unheard";

/// Steps that must be known before their absence tells anything.
const ENOUGH: u64 = 5;

/// The least time without a step that tells anything: evaluating and saving
/// take a while.
const LEAST: Nanos = 1_800 * SECOND;

/// A pod that is there and writes nothing at all has stopped sooner than one whose
/// lines go on.
const SILENT: Nanos = 900 * SECOND;

/// The least time in steps.
const STEPS: Nanos = 30;

/// Notes a training step told by a row. Lines may come in any order.
pub(super) fn note(event: &Event, row: u32, pod: Option<&mut Pod>) {
    let Some(pod) = pod.filter(|_| event.signals.iter().any(|signal| signal == PROGRESS)) else {
        return;
    };
    if event.time == Stamp::OPEN {
        return;
    }
    let step = event.attributes.get("step").and_then(|step| {
        let text = step.as_str().map(str::to_owned);
        text.unwrap_or_else(|| step.to_string())
            .replace([',', '_'], "")
            .parse()
            .ok()
    });
    let new = Progress {
        first: event.time,
        last: event.time,
        id: event.id,
        row,
        step,
        told: 1,
    };
    pod.progress = Some(match pod.progress.take() {
        None => new,
        Some(old) => {
            // Of steps told at one time the furthest counts, then the id, so that
            // the order of records cannot show.
            let later = (new.last, new.step, new.id) > (old.last, old.step, old.id);
            let (first, told) = (old.first.min(new.first), old.told + 1);
            let last = if later { new } else { old };
            Progress {
                first,
                told,
                ..last
            }
        }
    });
}

/// Facts of pods whose lines went on long after their last step: from that step
/// to the last line.
pub(super) fn stalled(
    evidence: &Evidence,
    pods: &[Pod],
    pod_of_row: &[u32],
    symbols: &mut Symbols,
) -> Vec<Fact> {
    let lines = symbols.find("log.line");
    let mut last_line = vec![None::<Stamp>; pods.len()];
    for (row, pod) in evidence.rows().iter().zip(pod_of_row) {
        if Some(row.fact) == lines
            && row.time.hi != Nanos::MAX
            && let Some(last) = last_line.get_mut(*pod as usize)
        {
            *last = Some(last.map_or(row.time, |last| last.max(row.time)));
        }
    }
    // Logs were read until then at least: whose pod is there and wrote nothing more is silent.
    let read_until = last_line.iter().flatten().max().copied();
    let now = evidence
        .rows()
        .iter()
        .filter(|row| row.time.hi != Nanos::MAX)
        .map(|row| row.time)
        .chain(evidence.objects.latest().map(|at| Stamp { lo: at, hi: at }))
        .max();
    let mut found = Vec::new();
    for ((number, pod), last) in (0..).zip(pods).zip(last_line) {
        let (Some(progress), Some(last)) = (&pod.progress, last) else {
            continue;
        };
        let runs = pod.phase.as_deref() == Some("Running")
            && pod.exits.iter().all(|exit| exit.init)
            && pod.deletion_requested.is_none()
            && pod.gone.is_none();
        let Some(row) = evidence.rows().get(progress.row as usize) else {
            continue;
        };
        let usual = progress.usual();
        let silent = read_until.filter(|until| runs && *until > last);
        let unheard = now.filter(|now| runs && *now > last);
        let told = [
            (
                silent.or(Some(last)),
                if silent.is_some() { SILENT } else { LEAST },
                NONE,
            ),
            (unheard, SILENT, UNHEARD),
        ];
        let stopped = told.into_iter().find_map(|(until, least, signal)| {
            let quiet = until?.lo.saturating_sub(progress.last.hi);
            (quiet >= least.max(usual.saturating_mul(STEPS))).then_some((until?, signal))
        });
        let Some((last, signal)) = stopped.filter(|_| progress.told >= ENOUGH) else {
            continue;
        };
        found.push(Fact {
            pod: number,
            end: Some(last),
            ..Fact::of_row(progress.row, row, symbols.number(signal))
        });
    }
    found
}

impl Fact {
    /// A row under another meaning, about nothing yet.
    fn of_row(number: u32, row: &crate::evidence::Row, signal: crate::symbols::Sym) -> Self {
        use crate::symbols::Sym;
        Self {
            row: number,
            id: row.id,
            signal,
            time: row.time,
            onset: row.time.lo,
            end: row.end,
            count: row.count,
            pod: NO,
            workload: NO,
            node: Sym::NONE,
            instance: Sym::NONE,
            phase: super::Phase::Untold,
            operation: Sym::NONE,
            places: Sym::NONE,
            pool: Sym::NONE,
            due: None,
            container: Sym::NONE,
            actor: Sym::NONE,
            other: NO,
            detail: Sym::NONE,
            target: Sym::NONE,
            exit_code: None,
            source_kind: row.source_kind(),
        }
    }
}
