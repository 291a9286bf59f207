//! Records of a made-up day, and what they come to.

use crate::death::{Death, deaths};
use crate::evidence::Evidence;
use crate::graph::EntityGraph;
use crate::lifecycle::{Mode, ends};
use crate::link::links;
use crate::resolve::{Run, runs};
use crate::signals::Ruleset;
use whathappened_model::event::{Event, EventId, SourceKind};
use whathappened_model::object::{ObjectBody, ObjectKey, ObjectVersion};
use whathappened_model::observation::Observation;
use whathappened_model::time::Stamp;

/// Records of a made-up day, told one by one.
pub(super) struct Tale {
    evidence: Evidence,
    ruleset: &'static Ruleset,
    reported: usize,
}

/// `10:30` of the day.
pub(super) fn at(time: &str) -> Stamp {
    Stamp::parse(&format!("2026-03-01T{time}:00Z")).unwrap()
}

impl Tale {
    pub(super) fn new() -> Self {
        Self {
            evidence: Evidence::default(),
            ruleset: Ruleset::shared(),
            reported: 0,
        }
    }

    pub(super) fn record(&mut self, fact: &str, time: &str, fill: impl FnOnce(&mut Event)) {
        self.record_by(SourceKind::Gcp, fact, time, fill);
    }

    pub(super) fn record_by(
        &mut self,
        source: SourceKind,
        fact: &str,
        time: &str,
        fill: impl FnOnce(&mut Event),
    ) {
        self.reported += 1;
        let id = EventId::of(&[fact, time, &self.reported.to_string()]);
        let mut event = Event::new(id, fact, at(time), source);
        fill(&mut event);
        let event = Observation::Event(Box::new(event));
        self.evidence.observe(event, self.ruleset).unwrap();
    }

    /// What the platform did to an instance.
    pub(super) fn host(&mut self, time: &str, id: &str, name: &str, what: &str, phase: &str) {
        self.record("cloud.host_event", time, |event| {
            of_instance(event, id, name);
            event.set_attribute("host_event", Some(format!("compute.instances.{what}")));
            event.set_attribute("phase", Some(phase));
        });
    }

    /// What somebody asked for.
    pub(super) fn call(&mut self, time: &str, id: &str, name: &str, (what, outcome): (&str, &str)) {
        self.record("cloud.activity", time, |event| {
            of_instance(event, id, name);
            event.actor = Some("ada@lab.example".to_owned());
            event.set_attribute("method", Some(format!("compute.instances.{what}")));
            event.set_attribute("outcome", Some(outcome));
            event.set_attribute("event_id", Some(format!("{what}-{id}")));
        });
    }

    pub(super) fn object(
        &mut self,
        kind: &str,
        namespace: &str,
        name: &str,
        uid: &str,
        body: ObjectBody,
    ) {
        let version = ObjectVersion {
            key: ObjectKey {
                kind: kind.to_owned(),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
                uid: uid.to_owned(),
            },
            revision: None,
            at: Some(at("12:00")),
            deleted: false,
            by: None,
            body,
            source_kind: SourceKind::Kubernetes,
            origin: whathappened_model::event::Origin::default(),
        };
        let version = Observation::Object(Box::new(version));
        self.evidence.observe(version, self.ruleset).unwrap();
    }

    /// A pod that ran on a node from one time until it was asked to go.
    pub(super) fn pod(&mut self, name: &str, node: &str, from: &str, to: &str) {
        let body = ObjectBody {
            created: Some(at(from)),
            started: Some(at(from)),
            deletion_requested: Some(at(to)),
            node: Some(node.to_owned()),
            phase: Some("Running".to_owned()),
            ..ObjectBody::default()
        };
        self.object("Pod", "lab", name, &format!("uid-{name}"), body);
    }

    pub(super) fn end(self) -> Case {
        let graph = EntityGraph::build(self.evidence, self.ruleset).unwrap();
        let ends = ends(&graph);
        let runs = runs(&graph, &ends);
        let chosen: Vec<usize> = (0..runs.len()).collect();
        let deaths = deaths(&graph, &runs, &chosen, &ends);
        Case {
            graph,
            runs,
            deaths,
        }
    }
}

pub(super) fn of_instance(event: &mut Event, id: &str, name: &str) {
    event.object_kind = Some("Instance".to_owned());
    event.object_uid = Some(id.to_owned());
    event.entities.instance = Some(id.to_owned());
    event.entities.node = Some(name.to_owned()).filter(|name| !name.is_empty());
    event.set_attribute("account", Some("lab"));
}

pub(super) struct Case {
    pub(super) graph: EntityGraph,
    pub(super) runs: Vec<Run>,
    pub(super) deaths: Vec<Death>,
}

impl Case {
    /// Signals of machines that count for the deaths of a pod.
    pub(super) fn counts_for(&self, pod: &str) -> Vec<&str> {
        let mut found: Vec<&str> = links(&self.graph, &self.runs, &self.deaths)
            .into_iter()
            .filter(|link| link.via == "node" && self.name(&self.deaths[link.death]) == pod)
            .map(|link| self.graph.name(self.graph.facts[link.fact].signal))
            .collect();
        found.sort_unstable();
        found
    }

    pub(super) fn name(&self, death: &Death) -> &str {
        self.graph
            .name(self.graph.pods.get(death.pod).unwrap().name)
    }

    pub(super) fn ends_of(&self, name: &str) -> Vec<(&'static str, Mode, Stamp)> {
        let own = self.deaths.iter().filter(|death| self.name(death) == name);
        own.map(|death| (death.state.as_str(), death.mode, death.time))
            .collect()
    }
}
