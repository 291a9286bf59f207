//! What the log of a program that ended by itself says of others: that one of them is gone, or asked it to stop.

use whathappened_core::death::Death;
use whathappened_core::graph::{Fact, TaskKind, are_numbered_alike, lost_touch};
use whathappened_core::lifecycle::{Mode, State};
use whathappened_core::resolve::Root;
use whathappened_core::signals::{SignalClass, named};
use whathappened_model::time::{CLOCKS, Nanos, SECOND};

use super::context::ReportContext;
use crate::explain::gang::Finding;

/// Who loses another member gives up within this long.
const AT_ITS_END: Nanos = 120 * SECOND;

/// Words on a lost machine, which say as well that a member is gone.
const NODE_LOST: [&str; 2] = [named::MPI_NODE_LOST, named::RAY_NODE_DIED];

/// Whether a member's log said something as it ended.
pub(super) fn at_its_end(death: &Death, fact: &Fact) -> bool {
    let late = death.time.hi.saturating_add(CLOCKS);
    fact.onset <= late && fact.time.hi.saturating_add(AT_ITS_END) >= death.time.lo
}

impl ReportContext<'_> {
    /// What the log of one that ended by itself says of others, or of who asked it to.
    pub(super) fn symptom(&self, finding: &Finding, death: &Death) -> Option<String> {
        if death.mode != Mode::Exited {
            return None;
        }
        let graph = self.graph();
        let near = || {
            self.facts_of(death.pod)
                .filter(|fact| at_its_end(death, fact))
        };
        let nearest = near().find(|fact| {
            let signal = graph.name(fact.signal);
            let gone = graph.traits.is(signal, SignalClass::PeerGone);
            gone || NODE_LOST.contains(&signal) || signal == named::LOG_SIGTERM
        });
        if nearest.is_some_and(|fact| graph.name(fact.signal) == named::LOG_SIGTERM) {
            let text = "ended after it had been asked to stop (SIGTERM); nothing in the input shows who asked.";
            return Some(text.to_owned());
        }
        // A launcher that names the process knows more than its peers, who only miss it.
        if let Some(text) = self.killed_process(finding, death) {
            return Some(text);
        }
        let fact = nearest?;
        if graph.name(fact.signal) == named::MPI_PROCESS_DIED
            && let Some(text) = self.of_launcher(near())
        {
            return Some(text);
        }
        let event = graph.evidence.event(fact.row).ok()?;
        let peer = event
            .attribute("failed_rank")
            .map(|rank| format!("rank {rank}"));
        let peer = peer.or_else(|| {
            event
                .attribute("target")
                .map(|target| format!("its peer {target}"))
        });
        let peer = peer.unwrap_or_else(|| "another member of the run".to_owned());
        if let Some(finished) = self.finished_before(finding, death) {
            return Some(format!(
                "ended because it lost contact with {peer}; {finished} had finished with exit code 0 just before."
            ));
        }
        if let Some(other) = self.namesake_before(finding, death) {
            return Some(format!(
                "ended because it lost contact with {peer}; {other}, which has a similar name, had ended just before."
            ));
        }
        Some(format!(
            "ended because it lost contact with {peer}; nothing in the input shows what happened to that one."
        ))
    }

    /// Of pods that nobody owns nothing says which are of one run: one that is named alike, and failed just before another one lost
    /// contact, may be the one that it lost.
    fn namesake_before(&self, finding: &Finding, death: &Death) -> Option<String> {
        let graph = self.graph();
        let run = self.case.runs.get(finding.run)?;
        let Root::Pod(own) = run.root else {
            return None;
        };
        let own = graph.pods.get(own)?;
        // Who lost contact as well is not the one.
        let lost = lost_touch(graph);
        let others = graph.pods.numbered().filter(|(number, other)| {
            let failed = self.case.ends.get(*number).is_some_and(|end| {
                let is_before = end.time.lo <= death.time.lo
                    && end.time.hi.saturating_add(AT_ITS_END) >= death.time.lo;
                end.state == State::Died && end.mode == Mode::Exited && is_before
            });
            failed
                && !lost.contains(number)
                && other.kind == TaskKind::Pod
                && other.root.is_none()
                && other.namespace == own.namespace
                && are_numbered_alike(graph.name(own.name), graph.name(other.name))
        });
        let first = others.min_by_key(|(number, other)| {
            let end = self.case.ends.get(*number).map(|end| end.time);
            (end, graph.name(other.name))
        });
        first.map(|(_, other)| graph.name(other.name).to_owned())
    }

    /// The other members of a gang, where all of them had completed when one lost contact with them.
    fn finished_before(&self, finding: &Finding, death: &Death) -> Option<String> {
        let run = self.case.runs.get(finding.run)?;
        let attempt = run.attempt(finding.attempt)?;
        let others = attempt.pods.iter().filter(|pod| Some(**pod) != death.pod);
        let mut named = Vec::new();
        for pod in others {
            let end = self.case.ends.get(*pod)?;
            let at = end.final_time().filter(|_| end.state == State::Completed)?;
            let is_near =
                at.lo <= death.time.hi && at.hi.saturating_add(AT_ITS_END) >= death.time.lo;
            if !is_near {
                return None;
            }
            named.push(self.graph().pods.get(*pod)?.rank);
        }
        match named.as_slice() {
            [] => None,
            [Some(rank)] => Some(format!("rank {rank}")),
            [None] => Some("the other one".to_owned()),
            several => Some(format!("the {} others", several.len())),
        }
    }

    /// What a launcher of MPI says of the process that ended first. Some say where it was and what ended it in lines of their own.
    fn of_launcher<'f>(&self, near: impl Iterator<Item = &'f Fact>) -> Option<String> {
        let graph = self.graph();
        let events: Vec<_> = near
            .filter(|fact| graph.name(fact.signal) == named::MPI_PROCESS_DIED)
            .filter_map(|fact| graph.evidence.event(fact.row).ok())
            .collect();
        let first = |key: &str| events.iter().find_map(|event| event.attribute(key));
        let node = first("on_node")?;
        let process = match (first("failed_rank"), first("pid")) {
            (Some(rank), _) => format!("its rank {rank}"),
            (None, Some(pid)) => format!("its process {pid}"),
            (None, None) => return None,
        };
        let ended = match first("signal") {
            Some(signal) => format!("was ended by signal {signal}"),
            None => "ended".to_owned(),
        };
        Some(format!(
            "ended because {process} on {node} {ended}; nothing in the input shows why."
        ))
    }
}
