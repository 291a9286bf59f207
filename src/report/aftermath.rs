//! How long it took until somebody noticed a death, and until the work ran again.
//!
//! Only records count: where none tells, it is not known, which is not the same as never.

use std::collections::{BTreeSet, HashMap};

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::{EntityGraph, Task, TaskRow, WorkloadRow};
use whathappened_core::resolve::{Root, Run};
use whathappened_core::signals::{SignalClass, named};
use whathappened_core::symbols::Symbol;
use whathappened_model::time::{Nanos, Stamp, rfc3339};

use super::context::ReportContext;
use super::record::reported;
use crate::answer::Aftermath;
use crate::explain::gang::Finding;

/// A new pod, where no other record tells of a reaction.
const CREATED: &str = "k8s.pod.created";

/// A moment and the signal that tells of it.
type Moment = (Nanos, Symbol);

/// Records of somebody who noticed or acted, by whom they are about, in time order.
#[derive(Debug, Default)]
pub(super) struct Reactions {
    of_workload: HashMap<WorkloadRow, Vec<Moment>>,
    of_pod: HashMap<TaskRow, Vec<Moment>>,
    of_node: HashMap<Symbol, Vec<Moment>>,
}

impl Reactions {
    pub(super) fn of(graph: &EntityGraph) -> Self {
        let mut found = Self::default();
        let known = graph.traits.of(SignalClass::Reaction).iter();
        let known = known
            .map(String::as_str)
            .chain([named::K8S_POD_DELETION_REQUESTED]);
        let signals: BTreeSet<Symbol> = known
            .filter_map(|signal| graph.evidence.symbols.find(signal))
            .collect();
        for fact in graph
            .facts
            .iter()
            .filter(|fact| signals.contains(&fact.signal))
        {
            let Some(time) = reported(fact.time) else {
                continue;
            };
            let moment = (time.lo, fact.signal);
            if let Some(pod) = fact.pod {
                found.of_pod.entry(pod).or_default().push(moment);
            } else if let Some(workload) = fact.workload {
                found.of_workload.entry(workload).or_default().push(moment);
            } else if fact.node.is_some() {
                found.of_node.entry(fact.node).or_default().push(moment);
            }
        }
        let workloads = found
            .of_workload
            .values_mut()
            .chain(found.of_pod.values_mut());
        workloads
            .chain(found.of_node.values_mut())
            .for_each(|all| all.sort_unstable());
        found
    }
}

/// The first moment that is not before some time.
fn first_from(moments: Option<&Vec<Moment>>, from: Nanos) -> Option<Moment> {
    let moments = moments?;
    let at = moments.partition_point(|(time, _)| *time < from);
    moments.get(at).copied()
}

impl ReportContext<'_> {
    /// What followed the first death of a finding; nothing where nobody died.
    pub(super) fn aftermath(&self, finding: &Finding) -> Option<Aftermath> {
        let run = self.case.runs.get(finding.run)?;
        let ended = finding.deaths().filter_map(|death| self.death(death));
        let ended: Vec<&Death> = ended.filter(|death| !death.goes_on()).collect();
        let died = ended
            .iter()
            .filter_map(|death| reported(death.time))
            .map(|time| time.lo)
            .min()?;
        let again = self.runs_again(run, &ended, died);
        let replaced = self.replaced(run, &ended, died);
        let by_record = self.reaction(run, finding, died);
        let by_record = by_record.map(|(time, signal)| (time, self.graph().name(signal)));
        let by_pod = replaced.map(|time| (time, CREATED));
        let by_start = again.map(|time| (time, named::K8S_CONTAINER_STARTED));
        // Of two at one time the record that says more goes first.
        let all = [by_record, by_pod, by_start].into_iter().flatten();
        let detected = all.min_by_key(|(time, _)| *time);
        Some(Aftermath {
            died: rfc3339(died),
            detected: detected.map(|(time, _)| rfc3339(time)),
            detected_by: detected.map(|(_, signal)| signal.to_owned()),
            restarted: again.map(rfc3339),
        })
    }

    /// The first record after a death in which somebody noticed it, or acted upon the run.
    fn reaction(&self, run: &Run, finding: &Finding, died: Nanos) -> Option<Moment> {
        let (graph, reactions) = (self.graph(), self.reactions());
        let members = run
            .pods
            .iter()
            .filter_map(|pod| Some((*pod, graph.pods.get(*pod)?)));
        let mut workloads: BTreeSet<WorkloadRow> =
            members.clone().filter_map(|(_, pod)| pod.owner).collect();
        if let Root::Workload(root) = run.root {
            workloads.insert(root);
        }
        let by_workload = workloads
            .iter()
            .filter_map(|one| first_from(reactions.of_workload.get(one), died));
        // Who is asked to go after it is torn down; whose end was asked for before died of that.
        let by_pod =
            members.filter_map(|(number, _)| first_from(reactions.of_pod.get(&number), died));
        let first = finding.first.iter().filter_map(|death| self.death(*death));
        let nodes: BTreeSet<Symbol> = first
            .filter_map(|death| graph.pods.get(death.pod))
            .flat_map(Task::machines)
            .collect();
        let by_node = nodes
            .iter()
            .filter_map(|node| first_from(reactions.of_node.get(node), died));
        by_workload.chain(by_pod).chain(by_node).min()
    }

    /// When the first pod in the place of one that died was made. A controller may make it as soon as the other
    /// one is asked to go.
    fn replaced(&self, run: &Run, ended: &[&Death], died: Nanos) -> Option<Nanos> {
        let since = self.asked(ended, died);
        let made = self
            .others(run, ended)
            .into_iter()
            .filter_map(|pod| reported(pod.created?));
        let made = made.map(|made| made.lo).filter(|made| *made >= since);
        made.min().map(|made| made.max(died))
    }

    /// When a pod of the run first ran after a death: one that was made since, or one that died.
    fn runs_again(&self, run: &Run, ended: &[&Death], died: Nanos) -> Option<Nanos> {
        let since = self.asked(ended, died);
        let is_new =
            |made: Option<Stamp>| made.and_then(reported).is_some_and(|made| made.lo >= since);
        let starts = |stamps: &mut dyn Iterator<Item = &Stamp>, from: Nanos| {
            let known = stamps
                .filter_map(|stamp| reported(*stamp))
                .map(|stamp| stamp.lo);
            known.filter(|start| *start >= from).min()
        };
        let others = self.others(run, ended).into_iter();
        let fresh = others
            .filter(|pod| is_new(pod.created))
            .filter_map(|pod| starts(&mut pod.starts.iter().chain(&pod.started), died));
        let same = ended.iter().filter_map(|death| {
            let pod = self.graph().pods.get(death.pod)?;
            let out = reported(death.time)?;
            // One that started in the second of its end was there before, unless it was started again.
            let from = if death.state == DeathState::Restarted && pod.starts.len() > 1 {
                out.lo
            } else {
                out.lo + 1
            };
            starts(&mut pod.starts.iter(), from)
        });
        fresh.chain(same).min()
    }

    /// The pods of a run that are none of those that died.
    fn others(&self, run: &Run, ended: &[&Death]) -> Vec<&Task> {
        let dead: BTreeSet<TaskRow> = ended.iter().filter_map(|death| death.pod).collect();
        let alive = run.pods.iter().filter(|pod| !dead.contains(pod));
        alive
            .filter_map(|pod| self.graph().pods.get(*pod))
            .collect()
    }

    /// Since when somebody took the pods that died away, else when the first of them died.
    fn asked(&self, ended: &[&Death], died: Nanos) -> Nanos {
        let pods = ended
            .iter()
            .filter_map(|death| self.graph().pods.get(death.pod));
        let asked = pods
            .filter_map(|pod| reported(pod.first_asked()?))
            .map(|asked| asked.lo);
        asked.chain([died]).min().unwrap_or(died)
    }
}

#[cfg(test)]
mod tests;
