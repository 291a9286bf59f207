//! Until when the logs of a run were read, as a log store was asked for them.

use serde_json::{Value, json};
use whathappened_connectors::log_store::look_for;
use whathappened_connectors::recording::{Input, Options, read};
use whathappened_core::evidence::Evidence;
use whathappened_core::graph::EntityGraph;
use whathappened_core::signals::Ruleset;
use whathappened_model::observation::Observation;

/// 2026-11-24T10:00:00Z in nanoseconds.
const START: i64 = 1_795_514_400_000_000_000;

const MINUTE: i64 = 60_000_000_000;

/// A pod that runs, of a job of its own.
fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": format!("{name}-0"), "namespace": "lab", "uid": format!("uid-{name}"), "creationTimestamp": "2026-11-24T10:00:00Z",
            "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": format!("uid-job-{name}"), "controller": true }] },
        "spec": { "nodeName": "n1", "containers": [{ "name": "main", "image": "i" }] },
        "status": { "phase": "Running", "containerStatuses": [
            { "name": "main", "restartCount": 0, "ready": true, "state": { "running": { "startedAt": "2026-11-24T10:00:01Z" } } }] },
    })
}

/// Its log: a step a minute.
fn stream(name: &str, steps: i64) -> Value {
    let line = |step: i64| {
        json!([
            (START + step * MINUTE).to_string(),
            format!("step {step} loss=2.1")
        ])
    };
    let labels = json!({ "namespace": "lab", "pod": format!("{name}-0"), "container": "main" });
    json!({ "stream": labels, "values": (1..=steps).map(line).collect::<Vec<_>>() })
}

#[test]
fn a_run_is_silent_by_what_was_read_of_its_own_log() {
    let answer = json!({ "status": "success", "data": { "resultType": "streams",
        "result": [stream("read", 10), stream("later", 60)] } });
    let objects = [pod("read"), pod("later")].map(|one| one.to_string());
    let inputs = [
        Input::Bytes("loki.json".into(), answer.to_string().into()),
        Input::Bytes("pods.ndjson".into(), objects.join("\n").into()),
    ];
    let ruleset = Ruleset::built_in().unwrap();
    look_for(ruleset.machine_words(), ruleset.program_words()).unwrap();
    let mut reported: Vec<Observation> = Vec::new();
    read(&inputs, &Options::default(), &mut reported);
    let mut evidence = Evidence::default();
    for one in reported {
        evidence.observe(one, &ruleset).unwrap();
    }
    let graph = EntityGraph::build(evidence, &ruleset).unwrap();
    let told = graph.facts.iter().filter_map(|fact| {
        let pod = graph.pods.get(fact.pod)?;
        let signal = graph.name(fact.signal);
        let tells = matches!(signal, "log.no_progress" | "log.unheard");
        tells.then(|| (graph.name(pod.name), signal))
    });
    // What was read of another run's log says nothing of what this one wrote since.
    assert_eq!(told.collect::<Vec<_>>(), [("read-0", "log.unheard")]);
}
