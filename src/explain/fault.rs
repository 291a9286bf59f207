//! Faults of machines that nobody is known to have died of: incidents without
//! a victim.
//!
//! A rule names the signals that are an incident by themselves (`alone`). What
//! already explains a death, or was weighed for one, is not told again.

use std::collections::{BTreeMap, BTreeSet};
use whathappened_core::signals::named;

use whathappened_core::graph::{EntityGraph, Fact, Phase};
use whathappened_core::symbols::Symbol;
use whathappened_model::event::{EventId, SourceKind};
use whathappened_model::time::{Nanos, SECOND};

use super::candidate::{Candidate, Step};
use super::edge::{Kind, Role};
use super::gang::{Finding, NO_RUN};
use super::given_up::was_given_up;
use super::rule::Rule;
use crate::answer::Level;

/// Records of one fault come within this long of the one before.
const ONE_FAULT: Nanos = 3_600 * SECOND;

/// What a fault is of: an instance, else a node, else the file of a machine that is not named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Machine(Symbol);

/// The faults of all machines that are not in `reported`, in time order. `reported` are the facts
/// that were weighed for deaths, each with the rule that weighed it.
pub(super) fn faults(
    graph: &EntityGraph,
    rules: &[Rule],
    reported: &[(usize, usize)],
    asked: bool,
) -> Vec<Finding> {
    // One record may have several meanings: that of the rule furthest upstream counts.
    let mut meant: BTreeMap<EventId, (usize, usize)> = BTreeMap::new();
    for (number, fact) in graph.facts.iter().enumerate() {
        if !graph.is_of_machine(fact) || was_given_up(graph, fact) {
            continue;
        }
        let asked = asked || is_down(graph, number, fact);
        let Some(rule) = rule_of(graph, rules, fact, asked) else {
            continue;
        };
        let rank = |number: usize| rules.get(number).map_or(0, |rule| rule.rank);
        meant
            .entry(fact.id)
            .and_modify(|known| {
                if rank(rule) > rank(known.1) {
                    *known = (number, rule);
                }
            })
            .or_insert((number, rule));
    }
    let mut facts: Vec<(usize, usize)> = meant.into_values().collect();
    facts.sort_unstable();
    let mut groups: Vec<FaultGroup> = Vec::new();
    for (number, rule) in facts {
        let Some(fact) = graph.facts.get(number) else {
            continue;
        };
        let machine = machine(graph, fact);
        let group = groups
            .iter_mut()
            .rev()
            .find(|group| group.rule == rule && group.machine == machine && group.takes(fact));
        match group {
            Some(group) => group.push(number, fact),
            None => groups.push(FaultGroup::new(rule, machine, number, fact)),
        }
    }
    // Several records of one fault are one: where any of them was weighed, all were, and so
    // was what else tells of the same cause on that machine then: a condition and an Event.
    let reported: Vec<(usize, &Fact)> = reported
        .iter()
        .filter_map(|(rule, fact)| Some((*rule, graph.facts.get(*fact)?)))
        .collect();
    let records: BTreeSet<EventId> = reported.iter().map(|(_, fact)| fact.id).collect();
    groups.retain(|group| {
        let mut facts = group.facts.iter().filter_map(|fact| graph.facts.get(*fact));
        let again = |(rule, fact): &(usize, &Fact)| {
            let same = *rule == group.rule && graph.is_of_machine(fact);
            same && machine(graph, fact) == group.machine && group.is_near(fact)
        };
        !facts.any(|fact| records.contains(&fact.id)) && !reported.iter().any(again)
    });
    groups
        .iter()
        .filter_map(|group| finding(graph, rules, group))
        .collect()
}

/// Whether a node is not ready to this day, where somebody gave nothing but nodes: they ask how those are.
fn is_down(graph: &EntityGraph, number: usize, fact: &Fact) -> bool {
    let is = |fact: &Fact, signal: &str| graph.name(fact.signal) == signal;
    let nothing_else = graph.pods.is_empty() && graph.workloads.is_empty();
    let mut later = graph.facts.iter().skip(number);
    nothing_else
        && is(fact, named::K8S_NODE_NOT_READY)
        && !later.any(|one| one.node == fact.node && is(one, named::K8S_NODE_READY))
}

/// The rule that a fact is an incident of by itself. Whoever asks for a machine wants to
/// know what was done to it, too, though nobody died of it.
fn rule_of(graph: &EntityGraph, rules: &[Rule], fact: &Fact, asked: bool) -> Option<usize> {
    const DONE: [&str; 7] = [
        named::AUTOSCALER_SCALE_DOWN,
        named::GPU_MEMORY_ERROR,
        named::K8S_NODE_DELETED_BY_AUTOSCALER,
        named::K8S_NODE_NOT_READY,
        named::K8S_NODE_REBOOTED,
        named::K8S_NODE_SILENT,
        named::UPGRADE_STARTED,
    ];
    let signal = graph.name(fact.signal);
    // What a team planned, and what has not begun, harmed nothing yet.
    let begins = fact.due.map(|due| due.lo);
    let ahead = begins.is_some_and(|begins| graph.now.is_none_or(|now| begins > now));
    if ahead && fact.source_kind == SourceKind::NodeLog {
        return None;
    }
    let done = |rule: &Rule| {
        let of_machine = ["hw.", "node.", "ops.node_upgrade", "ops.scale_down"];
        asked
            && DONE.contains(&signal)
            && of_machine.iter().any(|stem| rule.cause.starts_with(stem))
            && rule.may_apply(std::iter::once(signal))
    };
    let alone = rules
        .iter()
        .enumerate()
        .filter(|(_, rule)| rule.is_alone(signal) || done(rule));
    alone
        .max_by_key(|(number, rule)| (rule.rank, std::cmp::Reverse(*number)))
        .map(|(number, _)| number)
}

/// Whether a cause is a fault of the machine itself: not of what ran on it, and
/// not somebody's deed. `signal` is the root's: who asked for a reboot broke nothing.
#[must_use]
pub fn is_of_machine(rule: &Rule, signal: &str) -> bool {
    const BROKEN: [&str; 5] = [
        named::CLOUD_HOST_ERROR,
        "node.driver",
        "node.kernel_panic",
        "node.not_ready",
        "node.runtime",
    ];
    rule.cause.starts_with("hw.")
        || BROKEN.contains(&rule.cause.as_str())
        || (rule.cause.starts_with("node.") && rule.is_alone(signal))
}

/// The fault of a machine that a signal is by itself.
#[must_use]
pub fn fault_of_machine<'r>(rules: &'r [Rule], signal: &str) -> Option<&'r Rule> {
    rules
        .iter()
        .filter(|rule| rule.is_alone(signal) && is_of_machine(rule, signal))
        .max_by_key(|rule| (rule.rank, std::cmp::Reverse(&rule.cause)))
}

fn machine(graph: &EntityGraph, fact: &Fact) -> Machine {
    if fact.instance.is_some() {
        return Machine(fact.instance);
    }
    if fact.node.is_some() {
        return Machine(fact.node);
    }
    let row = graph.evidence.rows().get(fact.row);
    Machine(row.map_or(Symbol::NONE, whathappened_core::evidence::Row::file))
}

/// Records of one fault of one machine.
struct FaultGroup {
    rule: usize,
    machine: Machine,
    facts: Vec<usize>,
    operations: Vec<Symbol>,
    first: Nanos,
    last: Nanos,
}

impl FaultGroup {
    fn new(rule: usize, machine: Machine, number: usize, fact: &Fact) -> Self {
        let mut group = Self {
            rule,
            machine,
            facts: Vec::new(),
            operations: Vec::new(),
            first: fact.time.lo,
            last: Nanos::MIN,
        };
        group.push(number, fact);
        group
    }

    fn takes(&self, fact: &Fact) -> bool {
        (fact.operation.is_some() && self.operations.contains(&fact.operation))
            || fact.time.lo.saturating_sub(self.last) <= ONE_FAULT
    }

    /// Whether a fact is of the time of these records.
    fn is_near(&self, fact: &Fact) -> bool {
        let since = fact.time.lo.saturating_sub(self.last);
        let until = self.first.saturating_sub(fact.time.lo);
        since <= ONE_FAULT && until <= ONE_FAULT
    }

    fn push(&mut self, number: usize, fact: &Fact) {
        self.facts.push(number);
        self.operations
            .extend(Some(fact.operation).filter(|one| one.is_some()));
        self.last = self.last.max(fact.time.lo);
    }
}

/// The first record of what was done leads, else the first that announces it.
fn finding(graph: &EntityGraph, rules: &[Rule], group: &FaultGroup) -> Option<Finding> {
    let announced = |number: &usize| {
        graph
            .facts
            .get(*number)
            .is_none_or(|fact| fact.phase == Phase::Announced)
    };
    let root = group
        .facts
        .iter()
        .copied()
        // Lines without times stand in an order.
        .min_by_key(|number| {
            let fact = graph.facts.get(*number);
            let row = fact.and_then(|fact| graph.evidence.rows().get(fact.row));
            let line = row.map(whathappened_core::evidence::Row::line);
            (announced(number), fact.map(|fact| fact.time), line, *number)
        })?;
    let step = |fact: usize, kind: Kind| Step {
        fact,
        kind,
        role: Role::Fault,
    };
    let rest = group.facts.iter().copied().filter(|fact| *fact != root);
    // Nobody was seen to suffer from it, so it is supported at most.
    let level = rules.get(group.rule)?.level.min(Level::Supported);
    Some(Finding {
        run: NO_RUN,
        attempt: 0,
        candidate: Some(Candidate {
            rule: group.rule,
            path: vec![step(root, Kind::Inferred)],
            context: rest.map(|fact| step(fact, Kind::Context)).collect(),
            against: Vec::new(),
            level,
        }),
        others: Vec::new(),
        first: Vec::new(),
        victims: Vec::new(),
        collateral: Vec::new(),
        recovered: false,
        follows: false,
    })
}
