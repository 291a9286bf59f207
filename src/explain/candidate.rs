//! Candidates: for each death the roots that edges lead up to.

use std::collections::{BTreeMap, BTreeSet};

use whathappened_core::death::Death;
use whathappened_core::graph::{EntityGraph, Fact, TaskKind};
use whathappened_core::lifecycle::Mode;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::bounds::Bounds;
use super::causal_path::paths;
use super::edge::{Edge, Kind, Role};
use super::requests::Requests;
use super::rule::Rule;
use crate::answer::Level;

#[cfg(test)]
mod tests;

/// One step of a chain: a fact, how it is tied to the next, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Number of the fact.
    pub fact: usize,
    /// How it is tied to what follows it.
    pub kind: Kind,
    /// What it is in the story.
    pub role: Role,
}

/// One root that may have brought about a death.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Number of the rule that names the cause.
    pub rule: usize,
    /// From the root to the death.
    pub path: Vec<Step>,
    /// Facts that belong to the story.
    pub context: Vec<Step>,
    /// Facts that speak against it.
    pub against: Vec<usize>,
    /// How well it is proven.
    pub level: Level,
}

impl Candidate {
    /// The root's fact.
    #[must_use]
    pub fn root(&self) -> usize {
        self.path.first().map_or(0, |step| step.fact)
    }
}

/// The candidates of one death, best first. `edges` are those of this death.
#[must_use]
pub(super) fn candidates(
    graph: &EntityGraph,
    death: &Death,
    rules: &[Rule],
    edges: &[Edge],
    requests: &Requests,
    capped: &dyn Fn(&Rule) -> bool,
) -> Vec<Candidate> {
    let bounds = Bounds::new(graph, requests, death);
    let leading: Vec<Edge> = edges
        .iter()
        .filter(|edge| matches!(edge.kind, Kind::Asserted | Kind::Inferred | Kind::Guess))
        .filter(|edge| bounds.is_possible(edge))
        .map(|edge| Edge {
            kind: bounds.kind(edge),
            ..*edge
        })
        .collect();
    let leading: Vec<&Edge> = leading.iter().collect();
    // Of records of one act the one that names who did it speaks for it, then the most exact.
    let precedence = |fact: usize| {
        let fact = graph.facts.get(fact);
        fact.map(|fact| {
            let exact = fact.time.hi.saturating_sub(fact.time.lo);
            (!fact.actor.is_some(), exact, fact.time, fact.id)
        })
    };
    let mut found: BTreeMap<&str, Candidate> = BTreeMap::new();
    for path in paths(&leading, &twins(graph, &leading), precedence) {
        let Some(rule) = rules.get(path.rule) else {
            continue;
        };
        let of_cause = |kind: Kind| {
            edges.iter().filter(move |edge| {
                edge.kind == kind
                    && rules
                        .get(edge.rule)
                        .is_some_and(|other| other.cause == rule.cause)
            })
        };
        let against: Vec<usize> = of_cause(Kind::Against).map(|edge| edge.cause).collect();
        let mut level = path
            .steps
            .iter()
            .map(|step| proves(step.kind))
            .min()
            .unwrap_or(Level::Unknown)
            .min(rule.level);
        level = level.min(requests.provable(graph, death));
        // What nobody knows the time of may have been before or after it: what only time and
        // place speak for is a guess then. The time of a line without a year is reckoned.
        let dated = |time: Stamp| time.lo != Nanos::MIN && time.hi != Nanos::MAX;
        let facts = || path.steps.iter().map(|step| graph.facts.get(step.fact));
        let all_dated = facts().all(|fact| fact.is_some_and(|fact| dated(fact.time)));
        let reckoned = facts().flatten().any(|fact| {
            let row = graph.evidence.rows().get(fact.row);
            row.is_some_and(|row| row.time == Stamp::OPEN)
        });
        let undated = !all_dated || !dated(death.time);
        if !death.goes_on() && undated {
            let inferred = path.steps.iter().any(|step| step.kind != Kind::Asserted);
            // Of what has a time it is known that it came before.
            let in_order = || {
                facts().flatten().all(|fact| {
                    dated(fact.time) && dated(death.time) || is_last_word(graph, death, fact)
                })
            };
            level = level.min(if inferred && !in_order() {
                Level::Hypothesis
            } else {
                Level::Supported
            });
        } else if !death.goes_on() && reckoned || undated && is_only_printed(graph, death) {
            level = level.min(Level::Supported);
        }
        let late = |step: &Step| step.kind != Kind::Asserted && is_likely_after(graph, death, step);
        if path.steps.iter().any(late) {
            level = level.min(Level::Hypothesis);
        }
        // What was recorded only after an end that somebody saw is not known to have been there before.
        let root = path.steps.first();
        let late = root
            .is_some_and(|root| root.kind != Kind::Asserted && bounds.is_recorded_after(root.fact));
        if late && death.mode == Mode::Exited && death.exit_code.is_some() && !death.goes_on() {
            level = level.min(Level::Hypothesis);
        }
        if !against.is_empty() || capped(rule) {
            level = level.lowered();
        }
        // What was told of after the death bears witness to the way there and is no step on it.
        let (late, steps): (Vec<Step>, Vec<Step>) = path.steps.iter().partition(|step| {
            path.steps.first() != Some(step) && bounds.is_recorded_after(step.fact)
        });
        let mut context = path.witnesses;
        context.extend(late.into_iter().map(|step| Step {
            kind: Kind::Context,
            ..step
        }));
        context.extend(of_cause(Kind::Context).map(|edge| Step {
            fact: edge.cause,
            kind: Kind::Context,
            role: edge.role,
        }));
        context.retain(|step| steps.iter().all(|other| other.fact != step.fact));
        context.dedup();
        let candidate = Candidate {
            rule: path.rule,
            path: steps,
            context,
            against,
            level,
        };
        match found.get_mut(rule.cause.as_str()) {
            Some(known) if order(graph, rules, &candidate, known).is_lt() => *known = candidate,
            Some(_) => {}
            None => {
                found.insert(&rule.cause, candidate);
            }
        }
    }
    let mut found: Vec<Candidate> = found.into_values().collect();
    found.sort_by(|a, b| order(graph, rules, a, b));
    found
}

/// Records that say the same of the same thing, and of which one is not exact enough to say
/// that it was at another time: what was printed, and what was watched.
fn twins(graph: &EntityGraph, edges: &[&Edge]) -> Vec<(usize, usize)> {
    let facts: BTreeSet<usize> = edges
        .iter()
        .flat_map(|edge| [Some(edge.cause), edge.effect])
        .flatten()
        .collect();
    let mut alike: BTreeMap<_, Vec<(usize, Stamp)>> = BTreeMap::new();
    for number in facts {
        if let Some(fact) = graph
            .facts
            .get(number)
            .filter(|fact| fact.time.lo != Nanos::MIN)
        {
            let about = (fact.signal, fact.pod, fact.node, fact.workload, fact.actor);
            alike.entry(about).or_default().push((number, fact.time));
        }
    }
    let mut found = Vec::new();
    for alike in alike.values() {
        let long = |time: &Stamp| time.hi.saturating_sub(time.lo);
        let is_exact = |time: &Stamp| long(time) <= SECOND;
        for (number, time) in alike
            .iter()
            .filter(|(_, time)| !is_exact(time) && long(time) <= BLUR)
        {
            let exact = alike
                .iter()
                .find(|(_, other)| is_exact(other) && other.overlaps(*time));
            found.extend(exact.map(|(exact, _)| (*number, *exact)));
        }
    }
    found
}

/// Whether a death that is only known to lie between two instants more likely came before a fact.
fn is_likely_after(graph: &EntityGraph, death: &Death, step: &Step) -> bool {
    let Stamp { lo, hi } = death.time;
    let long = hi.saturating_sub(lo);
    let dated = lo != Nanos::MIN && hi != Nanos::MAX && !death.goes_on();
    let fact = graph.facts.get(step.fact);
    dated && long > BLUR && fact.is_some_and(|fact| fact.onset.saturating_sub(lo) > long / 2)
}

/// Whether a line without a time stands at the end of the log of what died, which was started once: the
/// order of lines is known where their times are not.
fn is_last_word(graph: &EntityGraph, death: &Death, fact: &Fact) -> bool {
    let Some(pod) = graph.pods.get(death.pod) else {
        return false;
    };
    let row = graph.evidence.rows().get(fact.row);
    let line = row.filter(|row| row.time == Stamp::OPEN && row.file() == pod.words_in);
    let is_alone = pod.kind == TaskKind::Log || death.exit_code.is_some() && pod.exits.len() == 1;
    // Errors in a file of their own stand in no order with the steps in the other, unless the program ended itself.
    let ended_itself = death
        .exit_code
        .is_some_and(|code| (1..=127).contains(&code));
    let has_steps = pod.progress.is_some();
    let is_in_order = !pod.has_several_logs() || !has_steps || ended_itself;
    fact.is_line
        && fact.pod == death.pod
        && death.mode == Mode::Exited
        && is_alone
        && is_in_order
        && line.is_some_and(|line| {
            let place = pod.place_of_line(line.file(), line.line());
            pod.untimed.ends_with(place)
        })
}

/// Times that are less exact than this say little of an order: ages in minutes.
const BLUR: Nanos = 60 * SECOND;

fn proves(kind: Kind) -> Level {
    match kind {
        Kind::Asserted => Level::Established,
        Kind::Inferred => Level::Supported,
        _ => Level::Hypothesis,
    }
}

/// Better proven first, then further upstream, then the longer chain, then
/// the earlier root, then by name.
fn order(graph: &EntityGraph, rules: &[Rule], a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    let key = |candidate: &Candidate| {
        let rule = rules.get(candidate.rule);
        let root = graph.facts.get(candidate.root());
        (
            std::cmp::Reverse(candidate.level),
            std::cmp::Reverse(rule.map_or(0, |rule| rule.rank)),
            // What was lowered for lack of a source still says more than a mere guess.
            std::cmp::Reverse(candidate.path.iter().map(|step| proves(step.kind)).min()),
            std::cmp::Reverse(candidate.path.len()),
            root.map(|fact| fact.time),
            // Of lines at one time the first is the first in its log: a launcher tells of an end once the program has.
            root.map(|fact| {
                let row = graph.evidence.rows().get(fact.row);
                let row = row.filter(|_| fact.is_line);
                row.map_or(0, whathappened_core::evidence::Row::line)
            }),
            rule.map(|rule| rule.cause.clone()),
            root.map(|fact| fact.id),
        )
    };
    key(a).cmp(&key(b))
}

/// Whether no object shows that a state goes on of which Events without times tell.
fn is_only_printed(graph: &EntityGraph, death: &Death) -> bool {
    let pod = graph.pods.get(death.pod);
    death.goes_on() && pod.is_some_and(|pod| pod.kind == TaskKind::Pod && pod.body.is_none())
}
