//! What no verdict may say, whatever a rule answers: that something brought about
//! what was over before it, or that what had ended was ended again.
//!
//! Rules are about what brings about what; whether it can have, in time, is
//! decided here once, for all rules, a person's own among them.

mod afterwards;
mod habit;
mod machine;
mod quoted;

use std::cell::OnceCell;

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::{EntityGraph, Fact, Task, TaskKind};
use whathappened_core::lifecycle::{Mode, given_up, signed_off};
use whathappened_core::signals::{SignalClass, named};
use whathappened_model::event::SourceKind;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::edge::{Edge, Kind, Role};
use super::machine_facts::{
    RecordedEnd, came_after, is_anybodys, is_for_a_fault, is_for_another_reason, is_of_machine,
    names_another_part, was_started_again, was_unharmed,
};
use super::requests::{ALIVE, Requests, SILENCE, is_request};

/// How late a machine's stop can be told of where the machine was seen alive at the
/// death: a shutdown in good order takes no longer.
const OBSERVED_WITHIN: Nanos = 120 * SECOND;

/// What can have brought one death about.
pub(super) struct Bounds<'a> {
    graph: &'a EntityGraph,
    death: &'a Death,
    requests: &'a Requests,
    /// The last instant at which something can still have done so.
    over: Option<Nanos>,
    /// Since when its container ends like that.
    schedule: Option<Nanos>,
    /// All ends of what keeps ending, once somebody asks for them.
    ends: OnceCell<Vec<habit::RepeatedEnd>>,
    /// Whether somebody asked for its end.
    asked: bool,
    /// Whether its machine was seen alive then.
    is_observed: bool,
    /// The record that its machine made of its end.
    recorded: Option<RecordedEnd<'a>>,
}

impl<'a> Bounds<'a> {
    pub(super) fn new(graph: &'a EntityGraph, requests: &'a Requests, death: &'a Death) -> Self {
        let asked = requests.is_asked(death);
        Self {
            graph,
            death,
            requests,
            over: over(graph, death),
            schedule: habit::schedule(graph, death),
            ends: OnceCell::new(),
            asked,
            is_observed: asked || ended_by_itself(graph, death),
            recorded: RecordedEnd::of(graph, death, &requests.journals),
        }
    }

    /// Whether an edge is possible in time: its cause began before its effect, and both
    /// before the death was over, as far as clocks can tell.
    ///
    /// What belongs to the story or speaks against it brings nothing about and always is.
    #[must_use]
    pub(super) fn is_possible(&self, edge: &Edge) -> bool {
        if matches!(edge.kind, Kind::Context | Kind::Against) {
            return true;
        }
        let Some(cause) = self.graph.facts.get(edge.cause) else {
            return false;
        };
        if self.is_quoted(cause)
            || self.is_end_of_loop(cause)
            || self.was_over_by_then(cause)
            || self.is_of_namesake(cause)
            || self.is_overcome(cause)
            || self.is_behind_end(cause)
            || self.is_of_sidecar(cause)
            || self.was_counted_before(cause)
            || self.is_of_stopping(cause)
            || self.is_of_next_boot(cause)
            || came_after(self.graph, self.death, self.recorded.as_ref(), cause)
            || edge.effect.is_none() && self.is_anothers(cause)
        {
            return false;
        }
        let too_late = |since: Nanos| cause.onset > since.saturating_add(CLOCKS);
        if is_of_machine(cause) && self.schedule.is_some_and(too_late) {
            return false;
        }
        let too_late = |fact: &Fact| self.requests.was_asked_before(self.graph, self.death, fact);
        let effect = edge.effect.and_then(|effect| self.graph.facts.get(effect));
        if too_late(cause) || effect.is_some_and(too_late) {
            return false;
        }
        // What is stuck or keeps failing goes on until somebody takes it away, and so does what
        // keeps it there.
        let Some(over) = self.over else {
            return true;
        };
        // A stretch between two scrapes is as wide as it can be: clocks are granted nothing beside it.
        // The end of a second is the beginning of the next.
        let granted = if cause.source_kind == SourceKind::Prometheus {
            CLOCKS.saturating_add(1)
        } else {
            0
        };
        if self.onset(cause) > over.saturating_sub(granted) {
            return false;
        }
        match edge.effect {
            None => true,
            Some(effect) => self.graph.facts.get(effect).is_some_and(|effect| {
                // What keeps something as it is may begin after it came to be so.
                let in_order = cause.onset <= effect.time.hi.saturating_add(CLOCKS);
                self.onset(effect) <= over && (self.death.goes_on() || in_order)
            }),
        }
    }

    /// Whether a batch job's own system says why it ended, and a fact is of what befell a machine after that: a node
    /// that goes down ends its jobs for that reason and no other.
    fn was_over_by_then(&self, fact: &Fact) -> bool {
        if !self.is_of_kind(TaskKind::Job) || !self.is_of_place(fact) {
            return false;
        }
        match self.graph.name(self.death.reason) {
            "DEADLINE" | "PREEMPTED" | "TIMEOUT" => {
                fact.time.lo > self.death.time.lo.saturating_sub(CLOCKS)
            }
            "CANCELLED" | "OUT_OF_MEMORY" => {
                fact.time.lo > self.death.time.hi.saturating_add(SECOND)
            }
            _ => false,
        }
    }

    /// The earliest that what a fact tells of can have begun.
    fn onset(&self, fact: &Fact) -> Nanos {
        if self.is_observed {
            fact.onset.max(fact.time.lo.saturating_sub(OBSERVED_WITHIN))
        } else {
            fact.onset
        }
    }

    /// Whether a record was made only after the death was over.
    #[must_use]
    pub(super) fn is_recorded_after(&self, fact: usize) -> bool {
        let fact = self.graph.facts.get(fact);
        matches!((fact, self.over), (Some(fact), Some(over)) if fact.time.lo > over)
    }

    /// How sure an edge is: that a machine failed is no reason for an end that somebody
    /// asked for at the API, unless a record says how the one led to the other, nor for the
    /// end of a pod that trained on under it, whether that ended by itself, with its node, or by
    /// the hand of nobody knows whom; nor for an ordinary end of one that came to it afterwards.
    #[must_use]
    pub(super) fn kind(&self, edge: &Edge) -> Kind {
        let cause = self.graph.facts.get(edge.cause);
        let unready = |fact: &Fact| self.graph.name(fact.signal) == named::K8S_POD_NOT_READY;
        if edge.kind == Kind::Inferred && cause.is_some_and(unready) && self.has_just_begun() {
            return Kind::Guess;
        }
        let is_sure = matches!(edge.kind, Kind::Asserted | Kind::Inferred);
        // Of a pod that may have been over for long, nothing says that it still ran when somebody took it away.
        if is_sure && cause.is_some_and(|fact| self.may_be_of_a_leftover(fact)) {
            return Kind::Guess;
        }
        if is_sure && !self.death.goes_on() && cause.is_some_and(|fact| self.is_after_failure(fact))
        {
            return Kind::Guess;
        }
        // What a container claims that may have been asked to stop by then proves nothing.
        let is_claim = |fact: &Fact| {
            fact.pod == self.death.pod
                && self.graph.name(fact.signal) == named::K8S_CONTAINER_OOM_KILLED
        };
        if edge.kind == Kind::Inferred
            && cause.is_some_and(is_claim)
            && self.task().is_some_and(Task::is_confirmed_only)
        {
            return Kind::Guess;
        }
        // Nor that it took away more than what was left of a program that had just failed.
        let outside = |fact: &Fact| !fact.is_line && self.is_of_kind(TaskKind::Instance);
        let is_unseen = || {
            let stood_still = cause.is_some_and(|fault| self.stood_still_since(fault));
            self.had_given_up() || !stood_still && self.was_not_heard()
        };
        if is_sure && (edge.role == Role::Act || cause.is_some_and(outside)) && is_unseen() {
            return Kind::Guess;
        }
        // A log of which nobody knows whose it is may be another's.
        if is_sure && cause.is_some_and(|fact| self.is_of_stray_log(fact)) {
            return Kind::Guess;
        }
        // What stands in the middle of a text may be what a program read, or generated, and printed.
        if is_sure && cause.is_some_and(|fact| self.is_of_a_text(fact)) {
            return Kind::Guess;
        }
        if is_sure && cause.is_some_and(|fact| self.is_of_earlier_end(fact)) {
            return Kind::Guess;
        }
        let is_second = |fact: &Fact| self.requests.was_ending(self.graph, self.death, fact);
        let effect = edge.effect.and_then(|effect| self.graph.facts.get(effect));
        if is_sure && (cause.is_some_and(is_second) || effect.is_some_and(is_second)) {
            return Kind::Guess;
        }
        if is_sure && cause.is_some_and(|fact| self.wrote_on(fact) || self.is_of_either(fact)) {
            return Kind::Guess;
        }
        if is_sure && edge.role != Role::Act && cause.is_some_and(|fact| self.is_survived(fact)) {
            return Kind::Guess;
        }
        // Nor did it end when a process of it, or beside it, was killed that it made steps without.
        let out_of_memory = |fact: &Fact| {
            let signal = self.graph.name(fact.signal);
            signal.starts_with(named::UNIT_OOM_KILLED) || signal.starts_with(named::KERNEL_OOM_KILL)
        };
        if is_sure && cause.is_some_and(|fact| out_of_memory(fact) && self.made_a_step_after(fact))
        {
            return Kind::Guess;
        }
        // Of what a machine wrote at a time that nobody knows, nothing says that it was then.
        let is_undated = |fact: &Fact| {
            is_of_machine(fact) && fact.time.hi == Nanos::MAX || self.is_undated(fact)
        };
        if is_sure && cause.is_some_and(is_undated) {
            return Kind::Guess;
        }
        let started_again = |fact: &Fact| was_started_again(self.graph, self.death, fact);
        if is_sure && (cause.is_some_and(started_again) || effect.is_some_and(started_again)) {
            return Kind::Guess;
        }
        let of_machine = cause.filter(|fact| is_of_machine(fact));
        // Nobody asks for what comes later.
        if is_sure
            && cause
                .filter(|fact| self.is_of_place(fact))
                .is_some_and(|fact| {
                    self.requests
                        .by_person
                        .was_first(self.graph, self.death, fact)
                })
        {
            return Kind::Guess;
        }
        // A machine that is taken away for it is taken from all.
        if is_sure
            && edge.effect.is_none()
            && of_machine.is_some_and(|fault| {
                self.is_perhaps_anothers(fault) || self.is_of_another_program(fault)
            })
        {
            return Kind::Guess;
        }
        if edge.kind == Kind::Inferred
            && edge.role == Role::Fault
            && let Some(fault) = of_machine
            && (edge.effect.is_none()
                && (self.asked
                    || self.is_of_device(fault)
                        && (self.was_stopped()
                            || self.was_killed_beside(fault)
                            || self.is_late(fault)
                            || self.is_before_work(fault)))
                || self.is_older(fault)
                    && (self.asked || edge.effect.is_none() && self.is_ordinary())
                || edge.effect.is_none_or(|effect| {
                    let leads_on = is_for_a_fault(self.signal_of(effect)) || self.death.goes_on();
                    // Programs run on without a machine's agent, until its silence is acted upon.
                    let is_agents = self
                        .graph
                        .traits
                        .is(self.signal_of(edge.cause), SignalClass::AgentDown);
                    !is_agents && (self.is_of_nobody(effect) || !leads_on)
                }) && was_unharmed(self.graph, self.death, fault)
                || !SILENCE.contains(&self.graph.name(fault.signal))
                    && !self.stood_still_since(fault)
                    && edge
                        .effect
                        .is_some_and(|effect| is_for_another_reason(self.signal_of(effect)))
                || (self.was_taken()
                    || effect.map_or(self.has_reason_of_its_own(), |effect| {
                        is_anybodys(self.graph.name(effect.signal))
                    }))
                    && self.is_of_device(fault)
                    && self.was_on_time()
                || effect.is_some_and(|effect| !is_for_a_fault(self.graph.name(effect.signal)))
                    && self.is_of_another_program(fault)
                || effect.is_some_and(|effect| names_another_part(self.graph, fault, effect))
                || self.is_of_afterwards(fault)
                || self.is_of_shutdown(fault)
                || self.is_in_haste(fault, effect)
                || edge
                    .effect
                    .is_some_and(|effect| self.is_beyond(fault, effect)))
        {
            return Kind::Guess;
        }
        edge.kind
    }

    /// Whether it is a line of a log that another pod may have written.
    fn is_of_stray_log(&self, fact: &Fact) -> bool {
        let pod = self.graph.pods.get(fact.pod);
        let row = self.graph.evidence.rows().get(fact.row);
        fact.is_line
            && pod
                .zip(row)
                .is_some_and(|(pod, row)| pod.stray_logs.contains(&row.file()))
    }

    /// Whether the log of what somebody ended had told of a failure before, and of nothing since: with clocks apart, or lines
    /// that bear no time, nobody knows which was first. What waits for a rank that failed may live on for long, and is ended
    /// by anybody.
    fn had_given_up(&self) -> bool {
        let task = self.task();
        let Some(task) = task.filter(|_| self.death.mode == Mode::Killed) else {
            return false;
        };
        let by = self.death.time.lo;
        let is_near = |failure: Stamp| match task.kind {
            TaskKind::Instance => failure.lo <= by,
            _ => failure.hi <= by && by <= failure.hi.saturating_add(CLOCKS),
        };
        let has_waited = || task.kind != TaskKind::Pod && self.has_made_no_step_for_long();
        signed_off(task).is_none()
            && given_up(task).is_some_and(|failure| {
                self.death.exit_code.is_none() && is_near(failure)
                    || failure.lo <= by && has_waited()
            })
    }

    /// Whether a fact is about a machine on which it was, or about the cloud's instance that carried that one.
    fn is_of_place(&self, fact: &Fact) -> bool {
        let told_of = self.graph.pods.get(fact.pod);
        let is_instances = told_of.is_some_and(|one| one.kind == TaskKind::Instance);
        is_of_machine(fact) || is_instances && fact.pod != self.death.pod
    }

    /// What ended.
    fn task(&self) -> Option<&'a Task> {
        self.graph.pods.get(self.death.pod)
    }

    /// Whether what ended is of that kind.
    fn is_of_kind(&self, kind: TaskKind) -> bool {
        self.task().is_some_and(|task| task.kind == kind)
    }

    /// Whether a fact is a request at the end of a stretch in which the pod may have ended at any time, and that is all
    /// that is known of its end.
    fn may_be_of_a_leftover(&self, fact: &Fact) -> bool {
        const UNSEEN: Nanos = 600 * SECOND;
        let time = self.death.time;
        self.death.state == DeathState::Died
            && self.death.mode == Mode::Killed
            && self.death.exit_code.is_none()
            && time != Stamp::OPEN
            && time.width() > UNSEEN
            && fact.source_kind == SourceKind::KubernetesAudit
            && fact.time.hi >= time.hi.saturating_sub(CLOCKS)
    }

    /// Whether a fact is that nothing was heard of the node, and the pod, which nobody took away for
    /// that, wrote on: what became of the node since then no record says.
    fn wrote_on(&self, fact: &Fact) -> bool {
        let pod = self.task();
        let last = pod.and_then(|pod| pod.last_line);
        self.death.state == DeathState::NotReady
            && SILENCE.contains(&self.graph.name(fact.signal))
            && last.is_some_and(|last| last.lo > fact.time.hi.saturating_add(CLOCKS))
    }

    /// Whether a record tells of a pod of that name on another node than the pod's own: it was another pod.
    fn is_of_namesake(&self, fact: &Fact) -> bool {
        let node = self.task().map(|task| task.node);
        fact.pod == self.death.pod
            && fact.node.is_some()
            && node.is_some_and(|node| node.is_some() && node != fact.node)
            && self.graph.name(fact.signal).starts_with("k8s.pod.")
    }

    /// Whether a fact is that a pod could not start, which did so since, or that no node would have it, and one did.
    fn is_overcome(&self, fact: &Fact) -> bool {
        let signal = self.graph.name(fact.signal);
        // What was bound to a node is never looked at by a scheduler again, whatever the clocks say.
        let is_placed = |task: &Task| task.bound.is_some() || task.node.is_some();
        if signal.starts_with(named::K8S_POD_UNSCHEDULABLE)
            && fact.pod == self.death.pod
            && self.task().is_some_and(is_placed)
        {
            return true;
        }
        let keeps = self.graph.traits.keeps_from_starting(signal);
        let last = fact.end.unwrap_or(fact.time).hi;
        let started = |task: &Task| task.starts.iter().any(|start| start.lo > last);
        fact.pod == self.death.pod
            && keeps
            && !self.death.goes_on()
            && self.task().is_some_and(started)
    }

    /// Whether a fact is that somebody ended a pod which had kept ending by itself until then.
    fn is_end_of_loop(&self, fact: &Fact) -> bool {
        let signal = self.graph.name(fact.signal);
        self.death.state == DeathState::CrashLoop
            && fact.pod == self.death.pod
            && (ALIVE.contains(&signal) || is_request(self.graph, signal))
            && fact.onset > self.death.time.hi.saturating_add(CLOCKS)
    }

    /// Whether a fact is what the program wrote of something that it got over, or meant to: it
    /// worked on, or gave the line a level below error.
    fn is_survived(&self, fact: &Fact) -> bool {
        // What keeps failing gets over nothing for good; a mild line is mild each time.
        let survived = if self.death.goes_on() {
            self.death.state == DeathState::CrashLoop && fact.is_mild
        } else {
            self.graph.survived(fact) || self.made_a_step_after(fact)
        };
        fact.pod == self.death.pod
            && fact.is_line
            && fact.end.unwrap_or(fact.time) != Stamp::OPEN
            && survived
    }

    /// Whether the program that wrote a line made a step after it. With several ranks in one log that may be another's.
    fn made_a_step_after(&self, line: &Fact) -> bool {
        let progress = self.task().and_then(|task| task.progress.as_deref());
        let since = line.end.unwrap_or(line.time).hi;
        progress.is_some_and(|steps| steps.are_known() && steps.made_a_step_after(since, line.rank))
    }

    /// What a fact means.
    fn signal_of(&self, fact: usize) -> &str {
        let fact = self.graph.facts.get(fact);
        fact.map_or("", |fact| self.graph.name(fact.signal))
    }

    /// Whether a fact is that nothing was heard of a node any more, or that a pod was sent away
    /// by somebody whom no record names.
    fn is_of_nobody(&self, fact: usize) -> bool {
        self.graph.facts.get(fact).is_some_and(|fact| {
            let signal = self.graph.name(fact.signal);
            SILENCE.contains(&signal)
                || signal == named::K8S_POD_EVICTED_API && !fact.actor.is_some()
        })
    }

    /// Whether a pod was not ready for so short a time that it may as well be about to be.
    fn has_just_begun(&self) -> bool {
        const PROBED: Nanos = 15 * SECOND;
        let since = |now: Nanos| now.saturating_sub(self.death.time.hi);
        self.death.state == DeathState::NotReady
            && self.graph.now.is_some_and(|now| since(now) < PROBED)
    }
}

/// Whether the kubelet saw the process end for a reason of its own: the machine ran on.
fn ended_by_itself(graph: &EntityGraph, death: &Death) -> bool {
    death.mode == Mode::Exited
        && match death.exit_code {
            // A machine that goes down sends these, or finds the container gone afterwards.
            Some(137 | 143 | 255) => graph.name(death.reason) == "OOMKilled",
            Some(_) => true,
            None => false,
        }
}

/// The last instant at which something can still have brought a death about, `None`
/// where it is none but a state that goes on until the pod is gone.
fn over(graph: &EntityGraph, death: &Death) -> Option<Nanos> {
    let time = if death.goes_on() {
        let pod = graph.pods.get(death.pod)?;
        pod.deletion_requested.or(pod.gone)?
    } else {
        death.time
    };
    (time != Stamp::OPEN).then(|| time.hi.saturating_add(CLOCKS))
}
