//! Experiment trackers' files, from bytes to the tasks that they are of.

use std::path::Path;

use whathappened_connectors::recording::{Input, Options, read};
use whathappened_core::evidence::Evidence;
use whathappened_core::graph::{EntityGraph, Task, TaskKind, TaskRow};
use whathappened_core::signals::Ruleset;
use whathappened_model::observation::Observation;
use whathappened_model::sink::Sink;

#[derive(Default)]
struct Collected(Vec<Observation>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0.extend(observations);
    }
}

/// The graph of some files of a fixture.
fn graph(fixture: &str, files: &[&str]) -> EntityGraph {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fixtures")
        .join(fixture);
    let inputs: Vec<Input> = files
        .iter()
        .map(|file| Input::Path(folder.join("input").join(file)))
        .collect();
    let mut found = Collected::default();
    read(&inputs, &Options::default(), &mut found);
    let ruleset = Ruleset::built_in().unwrap();
    let mut evidence = Evidence::default();
    for observation in found.0 {
        evidence.observe(observation, &ruleset).unwrap();
    }
    EntityGraph::build(evidence, &ruleset).unwrap()
}

fn only<'g>(graph: &'g EntityGraph, name: &str) -> &'g Task {
    let mut found = graph.pods.iter().filter(|pod| graph.name(pod.name) == name);
    let one = found.next().unwrap();
    assert!(found.next().is_none());
    one
}

fn step(pod: &Task) -> Option<i64> {
    pod.progress.as_deref()?.step
}

/// Signals of trackers' facts, with the names of the tasks that they are about.
fn told(graph: &EntityGraph) -> Vec<(&str, &str)> {
    let facts = graph.facts.iter().filter(|fact| {
        let row = graph.evidence.rows().get(fact.row).unwrap();
        graph.name(row.fact).starts_with("tracker.")
    });
    let name = |pod: Option<TaskRow>| graph.pods.get(pod).map_or("", |pod| graph.name(pod.name));
    facts
        .map(|fact| (graph.name(fact.signal), name(fact.pod)))
        .collect()
}

#[test]
fn a_host_that_a_job_named_is_the_pod_s() {
    let graph = graph("tracker-loss-nan", &["cluster.json", "runs"]);
    let pod = only(&graph, "gpt-nano-9-0-m8xkd");
    assert_eq!(
        (step(pod), pod.progress.as_deref().unwrap().reported),
        (Some(1000), 100)
    );
    assert_eq!(pod.pace.steps().len(), 100);
    let about = told(&graph);
    assert_eq!(about.len(), 4, "{about:?}");
    assert!(
        about
            .iter()
            .all(|one| *one == ("log.nan_loss", "gpt-nano-9-0-m8xkd"))
    );
    assert_eq!(graph.pods.len(), 1);
}

#[test]
fn a_run_s_name_leads_to_the_pod_of_rank_0() {
    let graph = graph(
        "tracker-still-running",
        &["cluster.json", "audit.log", "mlruns"],
    );
    let first = only(&graph, "k26-run-0-vchhz");
    assert_eq!(step(first), Some(870));
    assert_eq!(step(only(&graph, "k26-run-1-fzbj4")), None);
    assert_eq!(told(&graph), [("tracker.run.running", "k26-run-0-vchhz")]);
}

#[test]
fn several_trackers_tell_of_a_step_once() {
    let graph = graph(
        "tracker-still-running",
        &["cluster.json", "audit.log", "mlruns", "runs"],
    );
    let first = only(&graph, "k26-run-0-vchhz");
    assert_eq!(
        (step(first), first.progress.as_deref().unwrap().reported),
        (Some(870), 87)
    );
}

#[test]
fn the_only_log_beside_is_of_the_run() {
    let graph = graph("tracker-wandb-alone", &["wandb"]);
    let log = only(&graph, "output.log");
    assert_eq!((log.kind, step(log)), (TaskKind::Log, Some(1000)));
    assert!(
        log.called
            .iter()
            .any(|name| graph.name(*name) == "gpt-small-3")
    );
    assert_eq!(graph.pods.len(), 1);
}

#[test]
fn a_tracker_s_files_alone_are_a_run() {
    let graph = graph("tracker-loss-nan", &["runs"]);
    let alone = only(&graph, "nano");
    assert_eq!((alone.kind, step(alone)), (TaskKind::Log, Some(1000)));
    assert!(alone.last_line.is_some());
    let graph = self::graph("tracker-healthy", &["mlruns"]);
    assert_eq!(step(only(&graph, "gpt-nano-10")), Some(900));
}
