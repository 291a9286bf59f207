//! Programs of which nothing but a log is known, on a machine or an instance that went down while they wrote: they
//! went with it.

use crate::signals::named;
use std::collections::HashMap;

use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::{End, Mode, State};
use crate::graph::{EntityGraph, Fact, Progress, Task, TaskKind};
use crate::signals::SignalClass;
use crate::symbols::Symbol;

/// A machine takes no longer to stop what runs on it, and to start again.
const BOOTS: Nanos = 900 * SECOND;

/// What writes now and then is silent for as long.
const SILENT: Nanos = 120 * SECOND;

/// When machines went down, or told that they were up again.
pub(super) struct Downs<'a>(HashMap<Symbol, Vec<&'a Fact>>);

impl<'a> Downs<'a> {
    pub(super) fn of(graph: &'a EntityGraph) -> Self {
        let mut found: HashMap<Symbol, Vec<&Fact>> = HashMap::new();
        for fact in graph.facts.iter().filter(|fact| fact.node.is_some()) {
            if fact.time != Stamp::OPEN
                && graph
                    .traits
                    .is(graph.name(fact.signal), SignalClass::GoesDown)
            {
                found.entry(fact.node).or_default().push(fact);
            }
        }
        Self(found)
    }

    /// Whether the machine's own log says first after that, within `soon`, that the machine goes down in good order.
    pub(super) fn has_first_after(
        &self,
        graph: &EntityGraph,
        node: Symbol,
        time: Stamp,
        soon: Nanos,
    ) -> bool {
        let downs = self.0.get(&node).map(Vec::as_slice).unwrap_or_default();
        let in_order = downs.iter().filter(|fact| {
            let signal = graph.name(fact.signal);
            [named::NODE_POWERING_OFF, named::NODE_REBOOTING].contains(&signal)
        });
        let mut lags = in_order.map(|fact| fact.time.lo.saturating_sub(time.hi));
        lags.clone().any(|lag| (0..=soon).contains(&lag))
            && !lags.any(|lag| (-soon..0).contains(&lag))
    }

    /// The end of a log's program, where its machine went down soon after its last line: between that line and the
    /// first word that the machine was down.
    pub(super) fn end(&self, graph: &EntityGraph, log: &Task, end: End) -> End {
        let runs = end.state == State::Running && end.mode == Mode::None;
        // What a step follows is no end of a program that its machine takes with it: it may have got over that.
        let steps = log.progress.as_deref().filter(|steps| steps.are_known());
        // No line with a time stands between a line without one and the one that it is dated by.
        let outlived = || {
            end.state == State::Died
                && end.exit.is_none()
                && log.exits.is_empty()
                && log.kills.is_empty()
                // No machine makes an error of the program's own code.
                && !log.words_are_own
                && steps.is_some_and(|steps| steps.made_a_step_after(end.time.lo, None))
        };
        match self.after_last_line(graph, log) {
            Some(time) if runs || outlived() => End {
                state: State::Died,
                mode: Mode::Lost,
                time,
                ..end
            },
            _ => end,
        }
    }

    fn after_last_line(&self, graph: &EntityGraph, log: &Task) -> Option<Stamp> {
        let downs = self
            .0
            .get(&log.node)
            .filter(|_| matches!(log.kind, TaskKind::Log | TaskKind::Instance))?;
        let last = log.last_line.filter(|last| *last != Stamp::OPEN)?;
        let progress = log.progress.as_deref()?;
        let is_soon = |fact: &&&Fact| {
            // That a machine is up again is told when it is. What had been silent for long before it went down had
            // ended, or hung, before.
            let within = match graph.name(fact.signal) {
                named::K8S_NODE_REBOOTED => BOOTS,
                _ => Progress::may_be_silent(Some(progress), SILENT),
            };
            (-CLOCKS..=within).contains(&fact.time.lo.saturating_sub(last.hi))
        };
        let down = downs.iter().find(is_soon)?;
        Some(Stamp {
            lo: last.lo.min(down.time.lo),
            hi: last.hi.max(down.time.hi),
        })
    }
}
