//! Prints what there is to explain in some input: deaths and what touches them.
//! `cargo run -p whathappened-connectors --example deaths -- PATH…`

#![expect(
    clippy::disallowed_macros,
    reason = "for developers: where nothing can be written, it may stop"
)]
#![allow(clippy::print_stdout, reason = "a tool for developers")]

use whathappened_connectors::log_store::look_for;
use whathappened_connectors::recording::{Input, Options, read};
use whathappened_core::death::{deaths, run_state};
use whathappened_core::evidence::{Evidence, SpillError};
use whathappened_core::graph::EntityGraph;
use whathappened_core::lifecycle::ends;
use whathappened_core::link::links;
use whathappened_core::resolve::runs;
use whathappened_core::signals::Ruleset;
use whathappened_model::observation::Observation;
use whathappened_model::sink::Sink;
use whathappened_model::time::rfc3339;

struct Taker {
    evidence: Evidence,
    ruleset: Ruleset,
    failed: Option<SpillError>,
}

impl Sink for Taker {
    fn observe(&mut self, observations: Vec<Observation>) {
        for observation in observations {
            if let Err(error) = self.evidence.observe(observation, &self.ruleset) {
                self.failed.get_or_insert(error);
            }
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let inputs: Vec<Input> = std::env::args()
        .skip(1)
        .map(|path| Input::Path(path.into()))
        .collect();
    let ruleset = Ruleset::built_in()?;
    look_for(ruleset.machine_words(), ruleset.program_words())?;
    let mut taker = Taker {
        evidence: Evidence::default(),
        ruleset,
        failed: None,
    };
    let start = std::time::Instant::now();
    let lap = |what: &str| {
        let memory = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        let pages: usize = memory
            .split(' ')
            .nth(1)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
        eprintln!(
            "{:>8.2} s {:>6} MiB {what}",
            start.elapsed().as_secs_f64(),
            pages / 256
        );
    };
    let summary = read(&inputs, &Options::default(), &mut taker);
    if let Some(error) = taker.failed {
        return Err(error.into());
    }
    lap("read");
    println!(
        "{} records, {:?}",
        summary.total.records,
        taker.evidence.counts()
    );
    let graph = EntityGraph::build(taker.evidence, &taker.ruleset)?;
    lap("world");
    eprintln!(
        "row {} B, fact {} B, pod {} B; {} facts, {} pods",
        size_of::<whathappened_core::evidence::Row>(),
        size_of::<whathappened_core::graph::Fact>(),
        size_of::<whathappened_core::graph::Task>(),
        graph.facts.len(),
        graph.pods.len()
    );
    let ends = ends(&graph);
    let runs = runs(&graph, &ends);
    lap("lives and runs");
    if std::env::var_os("BRIEF").is_some() {
        return Ok(());
    }
    let chosen: Vec<usize> = (0..runs.len()).collect();
    let deaths = deaths(&graph, &runs, &chosen, &ends);
    let links = links(&graph, &runs, &deaths);
    for fact in graph.facts.iter().filter(|fact| {
        std::env::var("NODE").is_ok_and(|node| node == graph.name(fact.node)) && fact.pod.is_none()
    }) {
        println!(
            "{} {} {} {:?}",
            rfc3339(fact.time.lo),
            rfc3339(fact.time.hi),
            graph.name(fact.signal),
            graph.name(fact.actor)
        );
    }
    for (number, run) in runs.iter().enumerate() {
        let (_, kind, namespace, name) = run.names(&graph);
        println!(
            "\n== {kind} {namespace}/{name} {:?} attempts {}",
            run_state(&graph, run, &ends),
            run.attempts.len()
        );
        for (index, death) in deaths
            .iter()
            .enumerate()
            .filter(|(_, death)| death.run == number)
        {
            let pod = graph.pods.get(death.pod);
            println!(
                "  {} attempt {} {} {} {} code {:?} {}",
                pod.map_or("-", |pod| graph.name(pod.name)),
                death.attempt,
                death.state,
                death.mode.as_str(),
                rfc3339(death.time.lo),
                death.exit_code,
                graph.name(death.reason),
            );
            for link in links.iter().filter(|link| link.death == index) {
                let fact = &graph.facts[link.fact];
                println!(
                    "      {:>8.3} {:9} {} actor={} detail={}",
                    link.lag_s,
                    link.via,
                    graph.name(fact.signal),
                    graph.name(fact.actor),
                    graph.name(fact.detail)
                );
            }
        }
    }
    Ok(())
}
