//! Which facts about machines count for what was on them.

use whathappened_model::time::{Nanos, SECOND};

use super::ECHO;
use super::index::Index;
use crate::death::Death;
use crate::graph::{EntityGraph, Fact, Phase, Task, TaskKind, is_elsewhere};
use crate::lifecycle::Mode;
use crate::signals::{SignalClass, named};
use crate::symbols::Symbol;

/// One machine that a pod was on, and the facts about it.
pub(super) struct Tenure<'a> {
    graph: &'a EntityGraph,
    pod: &'a Task,
    /// The cloud instance that the machine was then.
    instance: Option<Symbol>,
    /// When the object was made that the node was then.
    born: Option<Nanos>,
    /// Facts about the machine's name.
    pub(super) by_name: Option<&'a Vec<usize>>,
    /// Facts about the instance.
    pub(super) by_id: Option<&'a Vec<usize>>,
    index: &'a Index,
}

/// Slurm gives up a machine that does not answer after `SlurmdTimeout`, five minutes by default.
const UNANSWERED: Nanos = 900 * SECOND;

/// A machine that is stopped ends its programs within this long.
const STOPS_WITHIN: Nanos = 120 * SECOND;

/// The machines that a pod was on; an instance is its own.
pub(super) fn stays<'a>(
    graph: &'a EntityGraph,
    pod: &'a Task,
    index: &'a Index,
) -> Vec<Tenure<'a>> {
    let (from, _) = pod.stay();
    let stay = |node: Symbol, instance: Option<Symbol>| Tenure {
        graph,
        pod,
        instance,
        born: index.born.get(&node).and_then(|born| {
            let before = born.iter().filter(|made| **made <= from);
            before.max().copied()
        }),
        by_name: index.node.get(&node),
        by_id: instance.and_then(|instance| index.instance.get(&instance)),
        index,
    };
    if pod.kind == TaskKind::Instance {
        return vec![stay(pod.node, Some(pod.uid))];
    }
    pod.machines()
        .map(|node| {
            stay(
                node,
                graph.node_instance(node, from).map(|one| one.instance),
            )
        })
        .collect()
}

impl Tenure<'_> {
    /// Whether a fact counts for a death: a point falls inside the stay on the
    /// machine, a state overlaps it, and both may be told somewhat late. What is
    /// told of another instance of the same name never does.
    pub(super) fn holds(&self, fact: &Fact, death: &Death) -> bool {
        if fact.instance.is_some() && Some(fact.instance) != self.instance
            || is_elsewhere(self.pod, fact)
            || self.is_of_former(fact)
            || self.booted_before(fact, death)
        {
            return false;
        }
        if self.is_of_cloud(fact) && (self.another_was_lost(death) || self.went_on_after(fact)) {
            return false;
        }
        let (mut begin, _) = self.pod.stay();
        if let Some(since) = death.since {
            // An instance's ends have one record each: that of the one before is no cause of this.
            let last = if self.pod.kind == TaskKind::Instance {
                since.hi
            } else {
                since.lo
            };
            begin = begin.max(last);
        }
        let end = death.until.unwrap_or(death.time).hi;
        let recorded_until = if death.mode == Mode::None {
            Nanos::MAX
        } else {
            end.saturating_add(ECHO)
        };
        if fact.time.lo > recorded_until {
            return false;
        }
        fact.time.hi > begin
            || fact.end.is_some_and(|end| end.hi > begin)
            || fact.due.is_some_and(|due| due.hi > begin)
            || !self.ended_before(fact, begin)
    }

    /// Whether a fact is of the object that bore the node's name before: its states ended with it. What befell the
    /// machine itself may be of the same machine.
    fn is_of_former(&self, fact: &Fact) -> bool {
        let signal = self.graph.name(fact.signal);
        self.born.is_some_and(|born| fact.time.hi <= born) && signal.starts_with("k8s.node.")
    }

    /// Whether a boot was over when the container began that ended: it ended what had run before.
    fn booted_before(&self, fact: &Fact, death: &Death) -> bool {
        const BOOTS: [&str; 2] = [named::K8S_NODE_REBOOTED, named::NODE_CRASHED];
        if death.mode == Mode::None || !BOOTS.contains(&self.graph.name(fact.signal)) {
            return false;
        }
        let mut starts = self.pod.starts.iter().rev();
        let last = starts.find(|start| start.hi <= death.time.lo);
        last.is_some_and(|start| fact.time.hi <= start.hi)
    }

    fn is_of_cloud(&self, fact: &Fact) -> bool {
        self.graph.name(fact.signal).starts_with("cloud.")
    }

    /// Whether Slurm says of another machine of a job, and not of this one, that it did not answer: what a
    /// cloud does to this one did not end the job.
    fn another_was_lost(&self, death: &Death) -> bool {
        if self.pod.kind != TaskKind::Job || self.pod.more_nodes.is_empty() {
            return false;
        }
        let is_lost = |facts: Option<&Vec<usize>>| {
            let facts = facts.into_iter().flatten();
            let facts = facts.filter_map(|number| self.graph.facts.get(*number));
            let is_near = |fact: &Fact| {
                fact.time.lo <= death.time.hi.saturating_add(ECHO)
                    && fact.time.hi.saturating_add(UNANSWERED) >= death.time.lo
            };
            facts.filter(|fact| is_near(fact)).any(|fact| {
                let signal = self.graph.name(fact.signal);
                self.graph.traits.is(signal, SignalClass::Unanswered)
            })
        };
        let mut all = self.pod.machines();
        !is_lost(self.by_name) && all.any(|machine| is_lost(self.index.node.get(&machine)))
    }

    /// Whether the training went on long after a cloud had done something to the machine.
    fn went_on_after(&self, fact: &Fact) -> bool {
        let progress = self.pod.progress.as_deref();
        let last = progress.map(|progress| progress.last.lo);
        let acted = matches!(fact.phase, Phase::Acted | Phase::Unstated);
        acted && last.is_some_and(|last| last > fact.time.hi.saturating_add(STOPS_WITHIN))
    }

    /// Whether the state that a fact began had ended before a time.
    fn ended_before(&self, fact: &Fact, at: Nanos) -> bool {
        let signal = self.graph.name(fact.signal);
        let Some(closers) = self.graph.traits.state_ends(signal) else {
            return true;
        };
        // What was done at a moment, and what was due at one, does not last.
        if fact.phase == Phase::Acted || fact.due.is_some() {
            return true;
        }
        let ends = |other: &Fact| {
            let same = fact.operation.is_some() && fact.operation == other.operation;
            (same && matches!(other.phase, Phase::Acted | Phase::Ended))
                || closers
                    .iter()
                    .any(|closer| self.graph.name(other.signal).starts_with(closer))
        };
        [self.by_name, self.by_id]
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|number| self.graph.facts.get(*number))
            .any(|other| ends(other) && other.time.lo >= fact.time.lo && other.time.hi <= at)
    }
}
