//! Of pods whose kind does not say that they work as one: who says that it lost another one followed the one that had ended by then,
//! and whom nobody known took away, at a time that may be after that, goes behind it.

use std::collections::HashSet;

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::{EntityGraph, TaskRow};
use whathappened_core::lifecycle::Mode;
use whathappened_core::resolve::Run;
use whathappened_core::signals::named;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::candidate::Candidate;
use super::gang::{Finding, is_gang};
use super::rule::Rule;
use crate::answer::Level;

/// Who waits for a member that is gone gives up within this long.
const GIVES_UP: Nanos = 900 * SECOND;

/// Puts members of whose end nothing is known but that they lost another one behind the one that ended before.
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
                (is_one && !lost(other)).then_some((since, number))
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

/// Whom somebody unknown took away, at a time that may be after the proven end of another, was cleared away for all that is known:
/// that explains no traceback.
pub(super) fn mark_taken(
    graph: &EntityGraph,
    rules: &[Rule],
    deaths: &[Death],
    findings: &mut [Finding],
) {
    let is_of_nobody = |finding: &Finding| {
        finding.candidate.as_ref().is_none_or(|one| {
            let rule = rules.get(one.rule);
            let act = graph.facts.get(one.root());
            one.level <= Level::Hypothesis
                && rule.is_some_and(|rule| rule.cause == "ops.manual_delete")
                // A kubelet obeys, whoever asked.
                && act.is_some_and(|act| {
                    !act.actor.is_some() || graph.name(act.signal) == named::K8S_CONTAINER_KILLING
                })
        })
    };
    let all = |finding: &Finding, mode: Mode| {
        let mut own = finding.deaths().filter_map(|number| deaths.get(number));
        own.all(|one| one.state == DeathState::Died && one.mode == mode)
    };
    let first = |finding: &Finding| {
        let own = finding.victims.iter().filter_map(|one| deaths.get(*one));
        own.map(|one| one.time).min()
    };
    let proven: Vec<((usize, u32), Stamp)> = findings
        .iter()
        .filter(|one| one.level() >= Level::Supported && !one.recovered && all(one, Mode::Exited))
        .filter_map(|one| Some(((one.run, one.attempt), first(one)?)))
        .collect();
    for finding in findings {
        let (Some(taken), true) = (first(finding), is_of_nobody(finding)) else {
            continue;
        };
        let after = |(attempt, ended): &((usize, u32), Stamp)| {
            let lag = taken.lo.saturating_sub(ended.lo);
            *attempt == (finding.run, finding.attempt) && taken.hi > ended.lo && lag <= GIVES_UP
        };
        if all(finding, Mode::Killed) && proven.iter().any(after) {
            finding.follows = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::made_up::{at, ended, fault, gang, line, rule};

    fn finding(victim: usize, candidate: Option<Candidate>) -> Finding {
        Finding {
            run: 0,
            attempt: 1,
            candidate,
            others: Vec::new(),
            first: vec![victim],
            victims: vec![victim],
            collateral: Vec::new(),
            recovered: false,
            follows: false,
        }
    }

    #[test]
    fn whom_nobody_known_took_goes_behind_who_failed_by_then() {
        let (graph, _) = gang("StatefulSet", &[50, 50]);
        let rules = [rule("code.exception", 1, "established")];
        let proven = Candidate {
            rule: 0,
            path: vec![fault(line(&graph, "llm-0"))],
            context: Vec::new(),
            against: Vec::new(),
            level: Level::Supported,
        };
        // An age in minutes; and a deletion that was over before.
        for (from, to, follows) in [(0, 100, true), (0, 40, false), (60, 61, true)] {
            let taken = Death {
                mode: Mode::Killed,
                time: Stamp {
                    lo: at(from).lo,
                    hi: at(to).hi,
                },
                ..ended(&graph, "llm-1", 0)
            };
            let deaths = [ended(&graph, "llm-0", 51), taken];
            let mut findings = [finding(0, Some(proven.clone())), finding(1, None)];
            mark_taken(&graph, &rules, &deaths, &mut findings);
            assert_eq!(findings[1].follows, follows, "{from} {to}");
        }
    }
}
