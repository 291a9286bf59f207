//! Whose deed a finding was.

use whathappened_connectors::event::SourceKind;
use whathappened_core::life::Mode;
use whathappened_core::world::{Fact, Phase, World};

use super::actor::actor;
use super::teller::Teller;
use crate::answer::Actor;
use crate::explain::candidate::Step;
use crate::explain::edge::Role;
use crate::explain::gang::Finding;

/// A deletion follows what asked for it within this long.
const SOON: i64 = 600 * whathappened_connectors::time::SECOND;

impl Teller<'_> {
    /// The principal of the earliest deliberate act, else who deleted the first victim.
    pub(super) fn culprit(&self, finding: &Finding) -> Option<Actor> {
        let run = self.case.runs.get(finding.run)?;
        let world = self.world();
        let path = finding
            .candidate
            .as_ref()
            .map_or(&[][..], |candidate| candidate.path.as_slice());
        let acts: Vec<&Step> = path.iter().filter(|step| step.role == Role::Act).collect();
        let acted = acts
            .iter()
            .filter_map(|step| self.fact(step.fact))
            .find(|fact| names_who(world, fact));
        let first = finding.first.first().and_then(|death| self.death(*death));
        let first = first.filter(|first| first.mode == Mode::Killed || !acts.is_empty());
        let found = acted.or_else(|| {
            let first = first?;
            // Another record of the same act may name who did it.
            let act = acts.first().and_then(|step| self.fact(step.fact));
            let same = |fact: &&Fact| {
                act.is_some_and(|act| act.signal == fact.signal) && names_who(world, fact)
            };
            let deleted = |fact: &&Fact| {
                let signal = world.name(fact.signal);
                let by = signal.starts_with("k8s.pod.deleted_by_")
                    || signal.starts_with("k8s.pod.evicted_by_");
                by && signal != "k8s.pod.deleted_by_kubelet" && close(fact, first.time.lo)
            };
            let torn_down = |fact: &&Fact| {
                world.name(fact.signal) == "k8s.workload.pod_deleted" && fact.actor.is_some()
            };
            self.facts_of(first.pod)
                .find(same)
                .or_else(|| self.facts_of(first.pod).find(deleted))
                .or_else(|| self.facts_naming(first.pod).find(torn_down))
        });
        let Some(found) = found else {
            // What the platform did to a machine, it did: nobody asked it to.
            let act = acts.iter().filter_map(|step| self.fact(step.fact));
            return act.filter_map(platform).next();
        };
        let class = world
            .name(found.signal)
            .split_once("_by_")
            .map(|(_, class)| class);
        Some(actor(world, run, world.name(found.actor), class))
    }
}

/// Whether a fact's actor is who did it: the kubelet that reports a container
/// being stopped only carries out what somebody asked for.
fn names_who(world: &World, fact: &Fact) -> bool {
    fact.actor.is_some() && world.name(fact.signal) != "k8s.container.killing"
}

/// The cloud whose platform did something of its own accord.
fn platform(fact: &Fact) -> Option<Actor> {
    let name = match (fact.phase, fact.source_kind) {
        (Phase::Untold, _) => return None,
        (_, SourceKind::Gcp) => "Google Cloud",
        (_, SourceKind::Aws) => "AWS",
        (_, SourceKind::Azure) => "Azure",
        _ => return None,
    };
    Some(Actor {
        name: name.to_owned(),
        kind: "cloud".to_owned(),
        is_owner: false,
    })
}

fn close(fact: &Fact, death: i64) -> bool {
    fact.time.lo.saturating_sub(death) <= SOON
}
