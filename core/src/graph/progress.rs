//! How far the training of each pod came, as its log tells, and where it
//! stopped getting on although it still spoke.

use crate::evidence::{Evidence, EvidenceRow};
use crate::graph::{PodOfRow, TaskRow, WorkloadRow};
use crate::signals::named;
use std::collections::{HashMap, HashSet};

use whathappened_model::event::Event;
use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::fact::Fact;
use super::root::Tops;
use super::task::{Progress, RECENT, Task};
use super::{Workload, pace};
use crate::symbols::{Symbol, SymbolTable};

/// The signal of a line that tells of a step.
const PROGRESS: &str = named::LOG_PROGRESS;

/// What is derived where steps stopped and lines went on.
const NONE: &str = named::LOG_NO_PROGRESS;

/// What is derived where no line of any log tells how far they were read.
const UNHEARD: &str = named::LOG_UNHEARD;

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

/// A number of training steps that a line gives: which one was made, or how many are to be.
fn number(event: &Event, attribute: &str) -> Option<i64> {
    let value = event.attributes.get(attribute)?;
    let text = value.as_str().map(str::to_owned);
    let text = text.unwrap_or_else(|| value.to_string());
    text.replace([',', '_'], "").parse().ok()
}

/// Notes a training step told by a row. Lines may come in any order.
pub(super) fn note(event: &Event, row: EvidenceRow, pod: Option<&mut Task>) {
    let Some(pod) = pod.filter(|_| event.signals.iter().any(|signal| signal == PROGRESS)) else {
        return;
    };
    if event.time == Stamp::OPEN {
        return;
    }
    let step = number(event, "step");
    if let Some(step) = step {
        pace::note(event, row, step, pod);
    }
    let new = Progress {
        first: event.time,
        last: event.time,
        id: event.id,
        row,
        first_step: step,
        step,
        total: number(event, "total"),
        reported: 1,
        recent: with([(Nanos::MIN, None); RECENT], (event.time.lo, event.rank)),
    };
    let old = pod.progress.take().map(|old| *old);
    pod.progress = Some(Box::new(match old {
        None => new,
        Some(old) => {
            // Of steps told at one time the furthest counts, then the id, so that
            // the order of records cannot show.
            let later = (new.last, new.step, new.id) > (old.last, old.step, old.id);
            let began = |one: &Progress| (one.first, one.first_step);
            let (first, first_step) = began(&old).min(began(&new));
            let reported = old.reported + 1;
            let recent = with(old.recent, (event.time.lo, event.rank));
            let last = if later { new } else { old };
            Progress {
                first,
                first_step,
                reported,
                recent,
                ..last
            }
        }
    }));
}

type Recent = [(Nanos, Option<i32>); RECENT];

/// The latest steps, the new one among them if it is one of them.
fn with(mut recent: Recent, new: (Nanos, Option<i32>)) -> Recent {
    if let Some(oldest) = recent.last_mut()
        && *oldest < new
        && !recent.contains(&new)
    {
        recent[RECENT - 1] = new;
        recent.sort_unstable_by(|a, b| b.cmp(a));
    }
    recent
}

/// What is known of logs, and of whose they are, before runs are made.
pub(super) struct Logs<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) pods: &'a Table<Task>,
    pub(super) workloads: &'a Table<Workload>,
    pub(super) pod_of_row: &'a PodOfRow,
    pub(super) zoneless: &'a HashSet<EvidenceRow>,
}

/// Whose lines a log store is asked for at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum LineOwner {
    /// All pods of a workload on top of others.
    Workload(WorkloadRow),
    /// Those of a name that nobody owns.
    Name(Symbol, Symbol),
}

impl Logs<'_> {
    /// The last line of each pod.
    fn last_lines(&self, symbols: &SymbolTable) -> Table<Task, Option<Stamp>> {
        let lines = symbols.find("log.line");
        let mut last_line: Table<Task, Option<Stamp>> = self.pods.iter().map(|_| None).collect();
        for (row, pod) in self.evidence.rows().iter().zip(self.pod_of_row) {
            if Some(row.fact) == lines
                && row.time.hi != Nanos::MAX
                && let Some(last) = last_line.get_mut(*pod)
            {
                *last = Some(last.map_or(row.time, |last| last.max(row.time)));
            }
        }
        last_line
    }

    /// The end of what is known, but for machines in zones that they do not name.
    fn now(&self) -> Option<Stamp> {
        let rows = self.evidence.rows().numbered();
        rows.filter(|(number, row)| row.time.hi != Nanos::MAX && !self.zoneless.contains(number))
            .map(|(_, row)| row.time)
            .chain(
                self.evidence
                    .objects
                    .latest()
                    .map(|at| Stamp { lo: at, hi: at }),
            )
            .max()
    }

    /// Facts of pods whose lines went on long after their last step: from that step
    /// to the last line.
    pub(super) fn stalled(&self, symbols: &mut SymbolTable) -> Vec<Fact> {
        let last_line = self.last_lines(symbols);
        // Logs were read until then at least: whose pod is there and wrote nothing more is silent.
        let read_until = last_line.iter().flatten().max().copied();
        // Of a log store the lines of one run are read at once, those of others whenever somebody asks.
        let tops = Tops::of(self.workloads, symbols);
        let asked = |pod: &Task| {
            tops.top(pod).map_or(
                LineOwner::Name(pod.namespace, pod.name),
                LineOwner::Workload,
            )
        };
        let mut read_of_run: HashMap<LineOwner, Stamp> = HashMap::new();
        for (pod, last) in self.pods.iter().zip(&last_line) {
            if let Some(last) = last {
                let known = read_of_run.entry(asked(pod)).or_insert(*last);
                *known = (*known).max(*last);
            }
        }
        let furthest = furthest(self.pods);
        let now = self.now();
        let mut found = Vec::new();
        for ((number, pod), last) in self.pods.numbered().zip(&last_line) {
            let (Some(progress), Some(last)) = (&pod.progress, *last) else {
                continue;
            };
            let Some(row) = self.evidence.rows().get(progress.row) else {
                continue;
            };
            let read_until = if row.source_kind().is_log_store() {
                read_of_run.get(&asked(pod)).copied()
            } else {
                read_until
            };
            let Some((last, signal)) = since_when(pod, progress, last, (read_until, now)) else {
                continue;
            };
            let furthest = furthest
                .get(&pod.owner)
                .and_then(|peer| self.pods.get(*peer));
            if furthest.is_some_and(|peer| is_outstepped(pod, peer)) {
                continue;
            }
            found.push(Fact {
                pod: Some(number),
                end: Some(last),
                ..Fact::of_row(progress.row, row, symbols.number(signal))
            });
        }
        found
    }
}

/// Until when a pod is known to have made no step for long after its last one, and what that is: its last line, the end of what
/// was read of logs, or that of what is known at all.
fn since_when(
    pod: &Task,
    progress: &Progress,
    last: Stamp,
    (read_until, now): (Option<Stamp>, Option<Stamp>),
) -> Option<(Stamp, &'static str)> {
    if progress.reported < ENOUGH {
        return None;
    }
    let runs = pod.phase.as_deref() == Some("Running")
        && pod.exits.iter().all(|exit| exit.init)
        && pod.deletion_requested.is_none()
        && pod.gone.is_none();
    let silent = read_until.filter(|until| runs && *until > last);
    let unheard = now.filter(|now| runs && *now > last);
    let reported = [
        (
            silent.or(Some(last)),
            if silent.is_some() { SILENT } else { LEAST },
            NONE,
        ),
        (unheard, SILENT, UNHEARD),
    ];
    let usual = progress.usual();
    reported.into_iter().find_map(|(until, least, signal)| {
        let quiet = until?.lo.saturating_sub(progress.last.hi);
        (quiet >= least.max(usual.saturating_mul(STEPS))).then_some((until?, signal))
    })
}

/// Of each workload, the pod that told of a step last.
fn furthest(pods: &Table<Task>) -> HashMap<Option<WorkloadRow>, TaskRow> {
    let mut found: HashMap<Option<WorkloadRow>, (Stamp, TaskRow)> = HashMap::new();
    for (number, pod) in pods.numbered().filter(|(_, pod)| pod.owner.is_some()) {
        let Some(progress) = &pod.progress else {
            continue;
        };
        let last = found.entry(pod.owner).or_insert((progress.last, number));
        if progress.last > last.0 {
            *last = (progress.last, number);
        }
    }
    found
        .into_iter()
        .map(|(owner, (_, pod))| (owner, pod))
        .collect()
}

/// Whether another member, which made each step together with a pod, made more of them long after what is there of the pod's
/// log: it had not stopped, or the other would have waited for it. The end of its log is not that of its work.
fn is_outstepped(pod: &Task, other: &Task) -> bool {
    /// Who makes a step together tells of it at the same time, as far as clocks agree.
    const TOGETHER: Nanos = 5 * SECOND;
    let (Some(own), Some(last)) = (&pod.progress, &other.progress) else {
        return false;
    };
    let further = own
        .step
        .zip(last.step)
        .is_some_and(|(own, other)| other > own);
    if !further || last.last.lo.saturating_sub(own.last.hi) < SILENT {
        return false;
    }
    let (own, theirs) = (pod.pace.times(), other.pace.times());
    let common = own
        .iter()
        .filter_map(|(step, time)| Some(time.saturating_sub(*theirs.get(step)?).abs()));
    let (count, together) = common.fold((0, 0), |(count, together), apart| {
        (count + 1, together + u64::from(apart <= TOGETHER))
    });
    count >= ENOUGH && together * 10 >= count * 9
}

impl Fact {
    /// A row under another meaning, about nothing yet.
    pub(super) fn of_row(number: EvidenceRow, row: &crate::evidence::Row, signal: Symbol) -> Self {
        Self {
            row: number,
            id: row.id,
            signal,
            time: row.time,
            onset: row.time.lo,
            end: row.end,
            count: row.count,
            pod: None,
            workload: None,
            node: Symbol::NONE,
            instance: Symbol::NONE,
            phase: super::Phase::Unstated,
            operation: Symbol::NONE,
            places: Symbol::NONE,
            holder: Symbol::NONE,
            cluster: Symbol::NONE,
            pool: Symbol::NONE,
            due: None,
            withdrawn: None,
            container: Symbol::NONE,
            actor: Symbol::NONE,
            other: None,
            detail: Symbol::NONE,
            target: Symbol::NONE,
            exit_code: None,
            rank: None,
            is_line: false,
            is_of_kernel: false,
            is_mild: false,
            is_amid_text: false,
            source_kind: row.source_kind(),
        }
    }
}
