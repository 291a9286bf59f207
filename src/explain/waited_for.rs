//! A member whose container broke and was started again, or in whose place another was made, is not in the process group that the
//! others are in: they wait for it until their collective's time is up. What broke it is what ended the run then, and not the wait.

use whathappened_core::death::{Death, DeathState, RunState, failed_upon};
use whathappened_core::graph::{EntityGraph, TaskRow};
use whathappened_core::resolve::Run;
use whathappened_core::signals::named;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{CLOCKS, Nanos, SECOND};

use super::gang::Finding;
use super::rule::Rule;
use crate::answer::Level;

/// The others come to their next collective within this long.
const NEXT: Nanos = 120 * SECOND;

/// A watchdog's process ends within this long of its word.
const ABORTED: Nanos = 120 * SECOND;

/// Marks ends that a run did not get over although what ended was started again.
pub(super) fn mark(
    graph: &EntityGraph,
    rules: &[Rule],
    deaths: &[Death],
    findings: &mut [Finding],
) {
    for wait in 0..findings.len() {
        let Some(began) = began(graph, rules, deaths, &findings[wait]) else {
            continue;
        };
        let broke: Vec<usize> = (0..findings.len())
            .filter(|number| {
                let (one, wait) = (&findings[*number], &findings[wait]);
                // What took the place of a member that was taken away begins an attempt, and those that wait are of both.
                let of_attempt =
                    one.attempt == wait.attempt || one.attempt.saturating_add(1) == wait.attempt;
                one.run == wait.run && of_attempt && broke_before(deaths, one, wait, began)
            })
            .collect();
        for number in &broke {
            findings[*number].recovered = false;
        }
        findings[wait].follows |= !broke.is_empty();
    }
}

/// Marks the end with which a job failed whose pods go on, where nothing else of it is known.
pub(super) fn mark_broken(
    graph: &EntityGraph,
    runs: &[Run],
    states: &[(usize, RunState)],
    deaths: &[Death],
    findings: &mut [Finding],
) {
    for number in 0..findings.len() {
        let one = &findings[number];
        let is_found = findings
            .iter()
            .any(|other| other.run == one.run && !other.recovered);
        if is_found || !states.contains(&(one.run, RunState::Failed)) {
            continue;
        }
        let Some(run) = runs.get(one.run) else {
            continue;
        };
        let broke = one.victims.iter().any(|death| {
            let death = deaths.get(*death);
            death.is_some_and(|death| {
                death.state == DeathState::Restarted && failed_upon(graph, run, death.time)
            })
        });
        if broke {
            findings[number].recovered = false;
        }
    }
}

/// When the wait began of which no more is known than that it was in vain.
fn began(
    graph: &EntityGraph,
    rules: &[Rule],
    deaths: &[Death],
    finding: &Finding,
) -> Option<Nanos> {
    let best = finding.candidate.as_ref();
    let cause = best.and_then(|best| rules.get(best.rule));
    let is_wait = cause.is_none_or(|rule| rule.cause.starts_with("hang."));
    if finding.recovered || !is_wait {
        return None;
    }
    let timeout = graph.evidence.symbols.find(named::NCCL_TIMEOUT)?;
    let died = |pod: Option<TaskRow>, at: Nanos| {
        let mut own = finding.deaths().filter_map(|death| deaths.get(death));
        own.any(|death| {
            death.pod == pod
                && death.state == DeathState::Died
                && death.time.lo.saturating_sub(at).saturating_abs() <= ABORTED
        })
    };
    let mut begins = graph
        .facts
        .iter()
        .filter(|fact| fact.signal == timeout && died(fact.pod, fact.time.lo));
    begins.find_map(|fact| {
        let event = graph.evidence.event(fact.row).ok()?;
        let ms: Nanos = event.attribute("ran_ms")?.parse().ok()?;
        let ran = ms.checked_mul(SECOND / 1_000)?;
        Some(fact.time.lo.saturating_sub(ran))
    })
}

/// Whether another member broke for a reason that is known, just before the wait began, and was started again.
fn broke_before(deaths: &[Death], finding: &Finding, wait: &Finding, began: Nanos) -> bool {
    let waited: Vec<TaskRow> = wait
        .victims
        .iter()
        .filter_map(|death| deaths.get(*death)?.pod)
        .collect();
    let proven = finding
        .candidate
        .as_ref()
        .is_some_and(|best| best.level >= Level::Supported);
    proven
        && finding.victims.iter().any(|death| {
            deaths.get(*death).is_some_and(|one| {
                (one.state == DeathState::Restarted
                    || one.state == DeathState::Died && finding.attempt < wait.attempt)
                    && !waited.has(one.pod)
                    && one.time.lo <= began.saturating_add(CLOCKS)
                    && began.saturating_sub(one.time.lo) <= NEXT
            })
        })
}
