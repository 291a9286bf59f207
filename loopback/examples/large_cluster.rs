//! An API server with many nodes and pods, made of recorded objects: `benches/large_cluster.py` starts it.
//!
//! `large_cluster FILE NODES PODS`: FILE holds `objects`, served as they are, and one each of
//! `node`, `pod`, `job` and `event`, of which the others are copies. Prints its address, and ends
//! with its input.

#![expect(
    clippy::unwrap_used,
    reason = "for developers: where anything fails, it may stop"
)]

use std::io::Read as _;

use serde_json::{Value, json};
use whathappened_loopback::ApiServer;

/// Pods of one job, and jobs of one namespace.
const GANG: usize = 64;
const JOBS: usize = 32;

/// A copy of a recorded object under another name.
fn copy(of: &Value, namespace: &str, name: &str, number: usize) -> Value {
    let mut one = of.clone();
    let uid = uid(&one["kind"], number);
    let metadata = &mut one["metadata"];
    metadata["name"] = json!(name);
    if !namespace.is_empty() {
        metadata["namespace"] = json!(namespace);
    }
    metadata["uid"] = json!(uid);
    one
}

fn uid(kind: &Value, number: usize) -> String {
    let kind = kind.as_str().unwrap().len();
    format!("{kind:08x}-0000-4000-8000-{number:012x}")
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = std::fs::read_to_string(arguments.next().unwrap()).unwrap();
    let recorded: Value = serde_json::from_str(&file).unwrap();
    let nodes: usize = arguments.next().unwrap().parse().unwrap();
    let pods: usize = arguments.next().unwrap().parse().unwrap();
    let mut server = ApiServer::default();
    for number in 0..nodes {
        server.add(copy(
            &recorded["node"],
            "",
            &format!("gpu-{number:05}"),
            number,
        ));
    }
    for number in 0..pods {
        let job = number / GANG;
        let (space, run) = (format!("team-{:03}", job / JOBS), format!("run-{job:05}"));
        if number % GANG == 0 {
            let mut one = copy(&recorded["job"], &space, &run, job);
            one["metadata"]["labels"] = json!({"experiment": run});
            server.add(one);
        }
        let name = format!("{run}-{}-x{number:06}", number % GANG);
        let mut pod = copy(&recorded["pod"], &space, &name, number);
        pod["spec"]["nodeName"] = json!(format!("gpu-{:05}", number % nodes));
        let metadata = &mut pod["metadata"];
        for key in ["experiment", "job-name", "batch.kubernetes.io/job-name"] {
            metadata["labels"][key] = json!(run);
        }
        let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": run, "uid": uid(&json!("Job"), job), "controller": true});
        metadata["ownerReferences"] = json!([owner]);
        let about = json!({"kind": "Pod", "apiVersion": "v1", "namespace": space, "name": name, "uid": metadata["uid"]});
        server.add(pod);
        let mut event = copy(
            &recorded["event"],
            &space,
            &format!("{name}.17{number:014x}"),
            number,
        );
        event["involvedObject"] = about;
        server.add(event);
    }
    for (number, one) in recorded["objects"].as_array().unwrap().iter().enumerate() {
        let mut one = one.clone();
        if one["metadata"]["uid"].is_null() {
            one["metadata"]["uid"] = json!(format!("recorded-{number}"));
        }
        server.add(one);
    }
    let objects = server.len();
    let fake = server.start();
    println!("{} {objects}", fake.url());
    let mut ended = Vec::new();
    std::io::stdin().read_to_end(&mut ended).unwrap();
}
