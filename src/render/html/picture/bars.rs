//! States that last: attempts, pods and machines; `sources` has what each source could show.

use std::collections::{BTreeMap, HashMap, HashSet};
use whathappened_core::death::RunState;
use whathappened_core::signals::named;

use super::super::super::facts::subject_run;
use super::super::super::wording;
use super::super::page::Page;
use super::Group;
use super::lanes::Lanes;
use super::scale::{Span, Times};
use super::sources;
use crate::answer::{LifeState, Victim};

/// One state on one lane.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    pub(super) lane: usize,
    /// Its place within a folded lane that is opened.
    pub(super) member: Option<usize>,
    pub(super) span: Span,
    pub(super) class: &'static str,
    pub(super) text: String,
}

pub(super) fn of(page: Page<'_>, times: Times, lanes: &Lanes, whole: Span) -> Vec<Bar> {
    let mut bars = attempts(page, times, lanes, whole);
    bars.extend(lives(page, times, lanes, whole));
    bars.extend(victims(page, times, lanes, &bars));
    bars.extend(machines(page, times, lanes, whole));
    bars.extend(sources::bars(page, times, lanes, whole));
    bars
}

/// The attempts of the run.
fn attempts(page: Page<'_>, times: Times, lanes: &Lanes, whole: Span) -> Vec<Bar> {
    let Some(run) = subject_run(page.answer, page.main) else {
        return Vec::new();
    };
    let Some(lane) = lanes.find(Group::Experiment, &run.name) else {
        return Vec::new();
    };
    let bar = |attempt: &crate::answer::Attempt| {
        let from = times.at(attempt.start.as_deref()?)?;
        let end = attempt.end.as_deref().and_then(|time| times.at(time));
        let is_over = end.is_some();
        let class = match attempt.state {
            RunState::Pending => "pending",
            _ => "running",
        };
        let still = if is_over { "" } else { ", no end seen" };
        // Of a run that somebody deleted its last attempt did not fail by itself.
        let is_last = run.attempts.last().map(|last| last.number) == Some(attempt.number);
        let state = match (attempt.state, run.state) {
            (RunState::Failed, RunState::Deleted) if is_last => RunState::Deleted,
            (state, _) => state,
        };
        Some(Bar {
            lane,
            member: None,
            span: Span {
                from,
                to: end.unwrap_or(whole.to).max(from),
            },
            class,
            text: format!(
                "attempt {}: {}{still}",
                attempt.number,
                wording::state_took(state, None)
            ),
        })
    };
    run.attempts
        .iter()
        .take(page.room.entries)
        .filter_map(bar)
        .collect()
}

/// How the pods that have a place lived.
fn lives(page: Page<'_>, times: Times, lanes: &Lanes, whole: Span) -> Vec<Bar> {
    let mut bars = Vec::new();
    for life in &page.answer.drawn.lives {
        let Some((lane, member)) = place(lanes, Group::Pods, &life.pod) else {
            continue;
        };
        for (state, from, to) in &life.states {
            let (class, what) = match state {
                LifeState::Waiting => ("pending", "waiting for a machine"),
                LifeState::Pending => ("pending", "not running yet"),
                LifeState::Starting => ("starting", "starting"),
                LifeState::Running => ("running", "running"),
                LifeState::Stuck => ("stuck", "stuck: up, but making no progress"),
                LifeState::Restarting => ("failed", "ended, to be restarted"),
                LifeState::Terminating => ("terminating", "terminating"),
                LifeState::There => ("alive", "present; no record shows when it started"),
            };
            let from = times.of_nanos(*from);
            let end = to.map(|to| times.of_nanos(to));
            let still = if end.is_some() { "" } else { ", no end seen" };
            bars.push(Bar {
                lane,
                member,
                span: Span {
                    from,
                    to: end.unwrap_or(whole.to).max(from),
                },
                class,
                text: format!("{what}{still}"),
            });
        }
    }
    bars
}

/// Pods of whose lives nothing else is known, from what was first told of them to their end.
fn victims(page: Page<'_>, times: Times, lanes: &Lanes, known: &[Bar]) -> Vec<Bar> {
    let Some(main) = page.main else {
        return Vec::new();
    };
    let mut first: HashMap<&str, f64> = HashMap::new();
    for row in &page.answer.timeline {
        if Group::of(row) == Group::Pods
            && let Some(at) = times.at(&row.time)
        {
            first.entry(row.entity.as_str()).or_insert(at);
        }
    }
    let run = subject_run(page.answer, page.main);
    let attempt = run.and_then(|run| {
        run.attempts
            .iter()
            .find(|one| Some(one.number) == main.attempt)
    });
    let begun = attempt.and_then(|attempt| times.at(attempt.start.as_deref()?));
    let mut taken: HashSet<usize> = known.iter().map(|bar| bar.lane).collect();
    let mut bars = Vec::new();
    let all = main.first_victims.iter().chain(&main.victims);
    for victim in all.chain(&main.collateral) {
        let lane = lanes
            .find(Group::Pods, &victim.pod)
            .filter(|lane| !lanes.is_folded(*lane) && !taken.contains(lane));
        let (Some(lane), Some(end)) = (lane, end(victim, times)) else {
            continue;
        };
        let stated = first.get(victim.pod.as_str()).copied().unwrap_or(end);
        let from = begun
            .filter(|begun| *begun < end)
            .unwrap_or(stated)
            .min(stated);
        if end > from {
            taken.insert(lane);
            bars.push(Bar {
                lane,
                member: None,
                span: Span { from, to: end },
                class: "alive",
                text: "present; no record shows when it started".to_owned(),
            });
        }
    }
    bars
}

fn end(victim: &Victim, times: Times) -> Option<f64> {
    times.at(victim.time.as_deref()?)
}

/// Signals that begin a state of a machine, those that end it, its class and its words.
const STATES: [(&[&str], &[&str], &str, &str); 4] = [
    (
        &[
            named::K8S_NODE_NOT_READY,
            named::K8S_NODE_UNREACHABLE,
            named::K8S_NODE_SILENT,
        ],
        &[named::K8S_NODE_READY, named::K8S_NODE_CREATED],
        "failed",
        "not ready",
    ),
    (
        &[named::K8S_NODE_CORDONED],
        &[named::K8S_NODE_UNCORDONED],
        "pending",
        "cordoned",
    ),
    (
        &[named::MAINTENANCE_ANNOUNCED],
        &[
            named::MAINTENANCE_STARTED,
            named::MAINTENANCE_CALLED_OFF,
            named::MAINTENANCE_DONE,
        ],
        "announced",
        "maintenance announced",
    ),
    (
        &[named::MAINTENANCE_STARTED],
        &[named::MAINTENANCE_DONE, named::MAINTENANCE_MIGRATED],
        "maintenance",
        "under maintenance",
    ),
];

/// States of machines between the records that begin and end them.
fn machines(page: Page<'_>, times: Times, lanes: &Lanes, whole: Span) -> Vec<Bar> {
    let mut bars = Vec::new();
    for (begin, finish, class, what) in STATES {
        let mut open: BTreeMap<(usize, Option<usize>), f64> = BTreeMap::new();
        for row in &page.answer.timeline {
            let group = Group::of(row);
            if !matches!(group, Group::Machines | Group::Cloud) {
                continue;
            }
            let place = place(lanes, group, &row.entity);
            let (Some(at), Some(place)) = (times.at(&row.time), place) else {
                continue;
            };
            let has = |signals: &[&str]| {
                row.signals
                    .iter()
                    .any(|own| signals.contains(&own.as_str()))
            };
            if has(begin) {
                open.entry(place).or_insert(at);
            } else if has(finish)
                && let Some(from) = open.remove(&place)
            {
                bars.push(Bar {
                    lane: place.0,
                    member: place.1,
                    span: Span {
                        from,
                        to: at.max(from),
                    },
                    class,
                    text: what.to_owned(),
                });
            }
        }
        bars.extend(open.into_iter().map(|((lane, member), from)| Bar {
            lane,
            member,
            span: Span {
                from,
                to: whole.to.max(from),
            },
            class,
            text: format!("{what}, no end seen"),
        }));
    }
    bars
}

/// The line that something has: a lane of its own, or a place where a folded lane is opened. Those that
/// have neither have no line to draw on.
fn place(lanes: &Lanes, group: Group, entity: &str) -> Option<(usize, Option<usize>)> {
    let lane = lanes.find(group, entity)?;
    let member = lanes.member(group, entity);
    (!lanes.is_folded(lane) || member.is_some()).then_some((lane, member))
}
