//! Of pods whose kind does not say that they work as one: who says that it lost another one followed the one that had ended by then.

use std::collections::HashSet;

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::{EntityGraph, TaskRow};
use whathappened_core::lifecycle::Mode;
use whathappened_core::resolve::Run;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{CLOCKS, Nanos, SECOND};

use super::candidate::Candidate;
use super::gang::{Finding, is_gang};
use crate::answer::Level;

/// Who waits for a member that is gone gives up within this long.
const GIVES_UP: Nanos = 900 * SECOND;

/// Puts members of whose end nothing is known but that they lost another one behind the one that ended before, of a proven reason.
pub(super) fn mark(
    graph: &EntityGraph,
    runs: &[Run],
    deaths: &[Death],
    lost_touch: &HashSet<TaskRow>,
    findings: &mut Vec<Finding>,
) {
    let death = |number: &usize| deaths.get(*number);
    let ended = |number: &usize| {
        let one = death(number)?;
        (one.state == DeathState::Died).then_some(one.time)
    };
    let lost = |finding: &Finding| {
        let mut own = finding.deaths();
        let gang = runs.get(finding.run).is_none_or(|run| is_gang(graph, run));
        !gang
            && finding.candidate.is_none()
            && !finding.victims.is_empty()
            && own.all(|number| {
                death(&number).is_some_and(|one| {
                    one.state == DeathState::Died
                        && one.mode == Mode::Exited
                        && lost_touch.has(one.pod)
                })
            })
    };
    let first = |finding: &Finding| finding.victims.iter().filter_map(ended).min();
    let leaders: Vec<(usize, usize)> = (0..findings.len())
        .filter_map(|follower| {
            let own = findings.get(follower).filter(|one| lost(one))?;
            let at = first(own)?;
            let mut before = findings.iter().enumerate().filter_map(|(number, other)| {
                let same = (other.run, other.attempt) == (own.run, own.attempt);
                // Who fell silent is found to be later than what silenced it.
                let root = other.candidate.as_ref().map(Candidate::root);
                let root = root
                    .and_then(|root| graph.facts.get(root))
                    .map(|root| root.time);
                let since = root.into_iter().chain(first(other)).min()?;
                let lag = at.hi.saturating_sub(since.lo);
                let is_before = (-CLOCKS..=GIVES_UP).contains(&lag) && since.lo <= at.hi;
                let is_one = number != follower && same && is_before;
                (is_one && other.level() >= Level::Supported).then_some((since, number))
            });
            let (_, leader) = before.by_ref().min()?;
            Some((follower, leader))
        })
        .collect();
    for (follower, leader) in &leaders {
        let Some(follower) = findings.get(*follower) else {
            continue;
        };
        let (followers, recovered) = (follower.deaths().collect::<Vec<_>>(), follower.recovered);
        if let Some(leader) = findings.get_mut(*leader) {
            leader.collateral.extend(followers);
            leader.recovered &= recovered;
        }
    }
    let gone: HashSet<usize> = leaders.iter().map(|(follower, _)| *follower).collect();
    let mut number = 0;
    findings.retain(|_| {
        number += 1;
        !gone.contains(&(number - 1))
    });
}
