//! Who added which taint of a node, and when: whoever writes one writes all of them.

use serde_json::{Value, json};
use whathappened_connectors::log_store::look_for;
use whathappened_connectors::recording::{Input, Options, read};
use whathappened_core::evidence::Evidence;
use whathappened_core::graph::{EntityGraph, Fact};
use whathappened_core::signals::Ruleset;
use whathappened_model::observation::Observation;
use whathappened_model::time::Stamp;

const CONTROLLER: &str = "system:serviceaccount:kube-system:node-controller";

fn graph(records: &[Value]) -> EntityGraph {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let input = Input::Bytes("records.ndjson".into(), lines.join("\n").into());
    let mut reported: Vec<Observation> = Vec::new();
    let ruleset = Ruleset::built_in().unwrap();
    look_for(ruleset.machine_words(), ruleset.program_words()).unwrap();
    read(&[input], &Options::default(), &mut reported);
    let mut evidence = Evidence::default();
    for one in reported {
        evidence.observe(one, &ruleset).unwrap();
    }
    EntityGraph::build(evidence, &ruleset).unwrap()
}

fn at(minute: u32) -> String {
    format!("2026-11-23T10:{minute:02}:00Z")
}

fn old() -> Value {
    json!({"key": "lab/burn-in", "effect": "NoExecute"})
}

fn unreachable(minute: u32) -> Value {
    json!({"key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "timeAdded": at(minute)})
}

/// A node as the API shows it, its taints last written by somebody.
fn node(revision: u32, taints: &[Value], written: Option<(&str, u32)>) -> Value {
    let fields = json!({"f:spec": {"f:taints": {}}});
    let written = written.map(|(by, minute)| json!([{"manager": by, "operation": "Update", "time": at(minute), "fieldsV1": fields}]));
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "n1", "uid": "uid-n1", "creationTimestamp": at(0), "resourceVersion": revision.to_string(), "managedFields": written},
        "spec": {"taints": taints},
        "status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": at(1), "lastHeartbeatTime": at(59)}]},
    })
}

/// A patch of the node's taints, with or without the answer.
fn patch(by: &str, minute: u32, taints: &[Value], answer: impl Into<Value>) -> Value {
    let answer: Value = answer.into();
    json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "stage": "ResponseComplete",
        "auditID": format!("patch-{minute}"), "verb": "patch", "user": {"username": by},
        "objectRef": {"resource": "nodes", "name": "n1", "apiVersion": "v1"}, "responseStatus": {"code": 200},
        "requestObject": {"spec": {"taints": taints}}, "responseObject": answer,
        "requestReceivedTimestamp": at(minute), "stageTimestamp": at(minute),
    })
}

/// What is said of taints that send pods away: signal, key, since when, until when, by whom.
fn told(graph: &EntityGraph) -> Vec<(String, String, i64, i64, String)> {
    let minute = |nanos: i64| {
        let begin = Stamp::parse(&at(0)).unwrap().lo;
        nanos.saturating_sub(begin) / 60_000_000_000
    };
    let is_taint = |fact: &&Fact| {
        let signal = graph.name(fact.signal);
        signal == "k8s.node.tainted.no_execute" || signal == "k8s.node.unreachable"
    };
    let facts = graph.facts.iter().filter(is_taint);
    facts
        .map(|fact| {
            let text = |symbol| graph.name(symbol).to_owned();
            let (lo, hi) = (minute(fact.time.lo), minute(fact.time.hi));
            (
                text(fact.signal),
                text(fact.detail),
                lo,
                hi,
                text(fact.actor),
            )
        })
        .collect()
}

fn taint(key: &str, from: i64, to: i64, by: &str) -> (String, String, i64, i64, String) {
    let signal = if key.ends_with("unreachable") {
        "k8s.node.unreachable"
    } else {
        "k8s.node.tainted.no_execute"
    };
    (signal.into(), key.into(), from, to, by.into())
}

const BURN_IN: &str = "lab/burn-in";
const SILENT: &str = "node.kubernetes.io/unreachable";

#[test]
fn the_last_writer_of_taints_did_not_add_those_from_before() {
    let both = [old(), unreachable(30)];
    let listed = node(9, &both, Some(("kube-controller-manager", 30)));
    // Of the list alone: it is there, since nobody knows when.
    let found = told(&graph(std::slice::from_ref(&listed)));
    assert_eq!(
        found.iter().find(|one| one.1 == SILENT).unwrap(),
        &taint(SILENT, 30, 30, "")
    );
    let burn_in = found.iter().find(|one| one.1 == BURN_IN).unwrap();
    assert_eq!((burn_in.2, burn_in.4.as_str()), (0, ""), "{burn_in:?}");
    // With the controller's patch, whose answer shows both.
    let answer = node(8, &both, None);
    let found = told(&graph(&[
        listed,
        patch(CONTROLLER, 30, &both, Some(answer)),
    ]));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&taint(BURN_IN, 0, 30, "")), "{found:?}");
    assert!(
        found.contains(&taint(SILENT, 30, 30, CONTROLLER)),
        "{found:?}"
    );
}

#[test]
fn who_added_a_taint_is_the_one_in_whose_answer_it_appears() {
    let person = "bob@lab.example";
    let found = told(&graph(&[
        patch(person, 10, &[old()], Some(node(5, &[old()], None))),
        patch(
            CONTROLLER,
            30,
            &[old(), unreachable(30)],
            Some(node(8, &[old(), unreachable(30)], None)),
        ),
        // When it is heard of again, its controller writes what is left.
        patch(CONTROLLER, 40, &[old()], Some(node(9, &[old()], None))),
    ]));
    assert_eq!(
        found,
        [
            taint(BURN_IN, 10, 10, person),
            taint(SILENT, 30, 30, CONTROLLER)
        ]
    );
}

#[test]
fn a_list_dates_a_taint_by_a_person_who_wrote_last() {
    let found = told(&graph(&[node(5, &[old()], Some(("kubectl-taint", 10)))]));
    assert_eq!(found, [taint(BURN_IN, 10, 10, "")]);
}

#[test]
fn a_request_without_its_answer_adds_what_it_dates_or_what_nobody_dates() {
    let person = "bob@lab.example";
    let found = told(&graph(&[patch(person, 10, &[old()], Value::Null)]));
    assert_eq!(found, [taint(BURN_IN, 10, 10, person)]);
    let found = told(&graph(&[patch(
        CONTROLLER,
        30,
        &[old(), unreachable(30)],
        Value::Null,
    )]));
    assert_eq!(found, [], "the controller added no such taint");
}

#[test]
fn who_closes_a_node_did_not_taint_it_and_who_taints_it_did_not_close_it() {
    let person = "carol@lab.example";
    let mut closed = node(5, &[old()], None);
    closed["spec"]["unschedulable"] = true.into();
    let mut close = patch(person, 20, &[], Some(closed.clone()));
    close["requestObject"] = json!({"spec": {"unschedulable": true}});
    let found = told(&graph(&[close]));
    assert_eq!(found, [taint(BURN_IN, 0, 20, "")]);
    let graph = graph(&[patch(person, 20, &[old()], Some(closed))]);
    let mut closings = graph
        .facts
        .iter()
        .filter(|fact| graph.name(fact.signal) == "k8s.node.cordoned");
    assert!(closings.all(|fact| !fact.actor.is_some()));
}
