//! The chain's steps, each on the lane of what it is about.

use std::collections::HashMap;

use serde_json::Value;

use crate::answer::{ChainLink, Edge, Incident, StepRole};

use super::super::super::facts::subject_run;
use super::super::cells;
use super::super::page::Page;
use super::Group;
use super::lanes::Lanes;
use super::scale::{GUTTER, Span, Times, WIDTH};

/// Pixels between two steps that would cover each other.
const APART: f64 = 21.0;

/// One step of the chain.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// From 1, as in the list.
    pub(super) number: usize,
    pub(super) lane: usize,
    pub(super) at: f64,
    /// Pixels to the right, so that it does not cover another.
    pub(super) aside: f64,
    pub(super) role: StepRole,
    pub(super) text: String,
    /// Decides nothing.
    pub(super) is_context: bool,
}

pub(super) fn of(page: Page<'_>, times: Times, lanes: &Lanes) -> Vec<Step> {
    let Some(main) = page.main else {
        return Vec::new();
    };
    // Lanes and times of the rows that tell of what the chain holds.
    let mut wanted: HashMap<&str, Option<(usize, f64)>> = HashMap::new();
    for link in &main.chain {
        wanted.extend(link.event_ids.iter().map(|id| (id.as_str(), None)));
    }
    for row in &page.answer.timeline {
        for id in &row.event_ids {
            if let Some(place) = wanted.get_mut(id.as_str()) {
                let lane = || lanes.find(Group::of(row), &row.entity);
                *place = place.or_else(|| Some((lane()?, times.at(&row.time)?)));
            }
        }
    }
    let mut steps: Vec<Step> = Vec::new();
    for (at, link) in main.chain.iter().take(page.room.entries).enumerate() {
        let stated_at = link.time.as_deref().and_then(|time| times.at(time));
        let by_record = link
            .event_ids
            .iter()
            .find_map(|id| *wanted.get(id.as_str())?);
        // A step without a time stands where its record does, else with the one before it.
        let when = stated_at
            .or(by_record.map(|(_, at)| at))
            .or(steps.last().map(|step| step.at));
        let lane = by_record
            .map(|(lane, _)| lane)
            .or_else(|| lane(link, main, page, lanes))
            .or(steps.last().map(|step| step.lane));
        let (Some(when), Some(lane)) = (when, lane.or_else(|| lanes.first(Group::Experiment)))
        else {
            continue;
        };
        steps.push(Step {
            number: at + 1,
            lane,
            at: when,
            aside: 0.0,
            role: link.role,
            text: cells::cut(&link.text, 200),
            is_context: link.edge == Some(Edge::Context) || link.role == StepRole::Announcement,
        });
    }
    steps
}

/// The lane of a step of which no row of the timeline tells.
fn lane(link: &ChainLink, main: &Incident, page: Page<'_>, lanes: &Lanes) -> Option<usize> {
    let of_run = || {
        let run = subject_run(page.answer, Some(main))?;
        lanes.find(Group::Experiment, &run.name)
    };
    let of_pod = |pod: &str| lanes.find(Group::Pods, pod);
    match link.role {
        StepRole::Death | StepRole::Stuck => of_pod(&main.first_victim.as_ref()?.pod),
        StepRole::Teardown => lanes
            .rest(Group::Pods)
            .filter(|_| main.collateral.len() > 1)
            .or_else(|| of_pod(&main.collateral.first()?.pod)),
        StepRole::Outcome => of_run(),
        _ => {
            let record = main.evidence.iter().find(|row| {
                let id = row.get("id").and_then(Value::as_str);
                id.is_some_and(|id| link.event_ids.iter().any(|own| own == id))
            });
            let named = ["pod", "node", "host", "instance", "workload"]
                .into_iter()
                .find_map(|key| lanes.of_name(record?.get(key)?.as_str()?));
            let mut words = link
                .text
                .split([':', ',', ' ', '(', ')'])
                .filter(|word| !word.is_empty());
            let machine = main
                .machines
                .first()
                .and_then(|machine| machine.node.as_deref());
            named
                .or_else(|| words.find_map(|word| lanes.of_name(word)))
                .or_else(|| lanes.of_name(machine?))
                .or_else(of_run)
        }
    }
}

/// The same, with those that would cover each other put side by side.
pub(super) fn apart(mut steps: Vec<Step>, window: Span) -> Vec<Step> {
    let scale = (WIDTH - GUTTER) / window.length().max(1.0);
    let mut taken: HashMap<usize, Vec<f64>> = HashMap::new();
    for step in &mut steps {
        // One that was told of later may have been long before: it stands where it was.
        let others = taken.entry(step.lane).or_default();
        let x = step.at * scale;
        let covers = |place: f64| move |other: &&f64| (**other - place).abs() < APART - 0.1;
        let mut place = x;
        while let Some(other) = others.iter().find(covers(place)) {
            place = other + APART;
        }
        step.aside = place - x;
        others.push(place);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_stand_beside_each_other_only_where_they_would_cover_each_other() {
        let step = |number: usize, at: f64| Step {
            number,
            lane: 0,
            at,
            aside: 0.0,
            role: StepRole::Cause,
            text: String::new(),
            is_context: false,
        };
        let window = Span {
            from: 0.0,
            to: WIDTH - GUTTER,
        };
        // A pixel a millisecond: the second was long before the first, the third at its time.
        let placed = apart(vec![step(1, 500.0), step(2, 100.0), step(3, 500.0)], window);
        let asides: Vec<f64> = placed.iter().map(|step| step.aside).collect();
        assert_eq!(asides, [0.0, 0.0, APART]);
    }
}
