//! A made-up gang for tests: a Job of some pods, what their logs say, and how they ended.

use whathappened_core::death::{Death, DeathState};
use whathappened_core::evidence::Evidence;
use whathappened_core::graph::{EntityGraph, TaskRow};
use whathappened_core::lifecycle::{Mode, ends};
use whathappened_core::resolve::{Run, runs};
use whathappened_core::signals::Ruleset;
use whathappened_core::symbols::Symbol;
use whathappened_model::event::{Event, EventId, Origin, SourceKind};
use whathappened_model::object::{ObjectBody, ObjectKey, ObjectVersion, Owner};
use whathappened_model::observation::Observation;
use whathappened_model::time::Stamp;

use super::candidate::Step;
use super::edge::{Kind, Role};
use super::rule::Rule;

/// What a program writes that runs out of a GPU's memory: it is a fact with a signal.
const FAILS: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB";

/// A second of the made-up minute.
pub(super) fn at(second: u32) -> Stamp {
    let minute = second / 60;
    Stamp::parse(&format!("2026-03-01T10:{minute:02}:{:02}Z", second % 60)).unwrap()
}

/// Pods `llm-0`, `llm-1`, … of a workload, and in which second the log of each tells of a failure.
pub(super) fn gang(kind: &str, fails: &[u32]) -> (EntityGraph, Vec<Run>) {
    gang_on(kind, fails, &[])
}

/// The same, and in which second some of its nodes, by number, were found to be silent.
pub(super) fn gang_on(
    kind: &str,
    fails: &[u32],
    silent: &[(usize, u32)],
) -> (EntityGraph, Vec<Run>) {
    let ruleset = Ruleset::built_in().unwrap();
    let mut evidence = Evidence::default();
    let mut observe = |one: Observation| evidence.observe(one, &ruleset).unwrap();
    observe(object(kind, "llm", "uid-llm", ObjectBody::default()));
    for (number, second) in fails.iter().enumerate() {
        let name = format!("llm-{number}");
        let uid = format!("uid-{number}");
        let body = ObjectBody {
            created: Some(at(0)),
            started: Some(at(1)),
            node: Some(format!("gpu-{number}")),
            phase: Some("Running".to_owned()),
            owners: vec![Owner {
                kind: kind.to_owned(),
                name: "llm".to_owned(),
                uid: "uid-llm".to_owned(),
                controller: true,
            }],
            ..ObjectBody::default()
        };
        observe(object("Pod", &name, &uid, body));
        let id = EventId::of(&["made up", &name]);
        let mut event = Event::new(id, "log.line", at(*second), SourceKind::ContainerLog);
        event.entities.namespace = Some("ml".to_owned());
        event.entities.pod = Some(name);
        event.entities.pod_uid = Some(uid);
        event.message = Some(FAILS.to_owned());
        event.raw = FAILS.to_owned();
        observe(Observation::Event(Box::new(event)));
    }
    for (number, second) in silent {
        observe(found_silent(&format!("gpu-{number}"), at(*second)));
    }
    let graph = EntityGraph::build(evidence, &ruleset).unwrap();
    let runs = runs(&graph, &ends(&graph));
    (graph, runs)
}

/// What the controller of nodes writes of one of whose kubelet it hears nothing.
fn found_silent(node: &str, time: Stamp) -> Observation {
    let id = EventId::of(&["made up", "silent", node]);
    let mut event = Event::new(id, "k8s.node.condition", time, SourceKind::Kubernetes);
    event.entities.node = Some(node.to_owned());
    event.object_kind = Some("Node".to_owned());
    event.reason = Some("NodeStatusUnknown".to_owned());
    event.set_attribute("condition", Some("Ready"));
    event.set_attribute("status", Some("Unknown"));
    Observation::Event(Box::new(event))
}

fn object(kind: &str, name: &str, uid: &str, body: ObjectBody) -> Observation {
    Observation::Object(Box::new(ObjectVersion {
        key: ObjectKey {
            kind: kind.to_owned(),
            namespace: "ml".to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
        },
        revision: None,
        at: Some(at(0)),
        deleted: false,
        by: None,
        body,
        source_kind: SourceKind::Kubernetes,
        origin: Origin::default(),
    }))
}

/// The number of a pod in the graph.
pub(super) fn pod(graph: &EntityGraph, name: &str) -> TaskRow {
    let mut pods = graph.pods.numbered();
    let found = pods.find(|(_, one)| graph.name(one.name) == name);
    found.unwrap().0
}

/// What a pod's log tells of, by number.
pub(super) fn line(graph: &EntityGraph, name: &str) -> usize {
    let pod = pod(graph, name);
    let found = graph
        .facts
        .iter()
        .position(|one| one.pod == Some(pod) && one.is_line);
    found.unwrap()
}

/// A pod's own process ended with 1.
pub(super) fn ended(graph: &EntityGraph, name: &str, second: u32) -> Death {
    Death {
        run: 0,
        attempt: 1,
        pod: Some(pod(graph, name)),
        state: DeathState::Died,
        mode: Mode::Exited,
        time: at(second),
        until: None,
        since: None,
        exit_code: Some(1),
        reason: Symbol::NONE,
        container: Symbol::NONE,
    }
}

/// A fault that a record states, as a way of one step.
pub(super) fn fault(fact: usize) -> Step {
    Step {
        fact,
        kind: Kind::Asserted,
        role: Role::Fault,
    }
}

/// A rule of nothing but its head.
pub(super) fn rule(cause: &str, rank: i64, level: &str) -> Rule {
    let text = format!(
        "-- cause: {cause}\n-- title: Made up\n-- rank: {rank}\n-- level: {level}\n-- summary: {{pod}} ended\nSELECT death FROM links\n"
    );
    Rule::parse(&format!("{cause}.sql"), &text).unwrap()
}
