//! Which machine a finding is of.

use whathappened_core::graph::{Fact, TaskKind};
use whathappened_core::symbols::Symbol;
use whathappened_model::event::Event;
use whathappened_model::pci;
use whathappened_model::time::Nanos;

use super::context::ReportContext;
use crate::answer::{Gpu, Machine};
use crate::explain::gang::Finding;
use crate::explain::{Level, Rule, is_of_machine};

/// Machines of first victims that are named.
const MOST: usize = 8;

impl ReportContext<'_> {
    /// The root's machine, else those that the first victims were on.
    pub(super) fn machines(
        &self,
        finding: &Finding,
        rule: Option<&Rule>,
        root: Option<(&Fact, &Event)>,
    ) -> Vec<Machine> {
        let graph = self.graph();
        let at_fault = finding.level() >= Level::Supported
            && rule
                .zip(root)
                .is_some_and(|(rule, (fact, _))| is_of_machine(rule, graph.name(fact.signal)));
        if let Some((fact, event)) = root
            && graph.is_of_machine(fact)
            && (fact.node.is_some() || fact.instance.is_some())
        {
            let known = self.machine(fact.node, fact.time.lo);
            let reported = Some(graph.name(fact.instance)).filter(|_| fact.instance.is_some());
            return vec![Machine {
                instance: reported.map(str::to_owned).or(known.instance),
                host: event.entities.host.clone(),
                gpu: gpu(event),
                at_fault,
                ..known
            }];
        }
        let mut found: Vec<Machine> = Vec::new();
        for death in finding.first.iter().filter_map(|death| self.death(*death)) {
            let Some(pod) = graph.pods.get(death.pod) else {
                continue;
            };
            let mut add = |machine: Machine| {
                if !found.contains(&machine) && found.len() < MOST {
                    found.push(machine);
                }
            };
            if pod.kind == TaskKind::Instance {
                add(Machine {
                    node: Some(graph.name(pod.name).to_owned()).filter(|name| !name.is_empty()),
                    instance: Some(graph.name(pod.uid).to_owned()),
                    at_fault,
                    ..Machine::default()
                });
                continue;
            }
            let (from, _) = pod.stay();
            let at_fault = at_fault && pod.more_nodes.is_empty();
            for node in pod.machines() {
                add(Machine {
                    at_fault,
                    ..self.machine(node, from)
                });
            }
        }
        found
    }

    /// Of a job on several nodes the one that what explains its end is about.
    pub(super) fn node_of_fault(&self, death: usize, root: Option<&Fact>) -> Option<String> {
        let death = self.death(death)?;
        let task = self.graph().pods.get(death.pod)?;
        let node = root?.node;
        let is_on_it = node.is_some()
            && task.kind != TaskKind::Instance
            && task.machines().any(|one| one == node);
        is_on_it.then(|| self.graph().name(node).to_owned())
    }

    fn machine(&self, node: Symbol, at: Nanos) -> Machine {
        let name = self.graph().name(node);
        Machine {
            node: Some(name.to_owned()).filter(|name| !name.is_empty()),
            instance: self.name_tenures().at(name, at).map(str::to_owned),
            ..Machine::default()
        }
    }
}

/// The GPU that a record is about.
#[must_use]
pub fn gpu(event: &Event) -> Option<Gpu> {
    let pci = event
        .attribute("gpu_pci")
        .or_else(|| event.attribute("pci"));
    let found = Gpu {
        uuid: event.attribute("gpu_uuid").map(str::to_owned),
        pci: pci.map(pci::normal),
        index: event.gpu,
    };
    (found != Gpu::default()).then_some(found)
}
