//! Prints what the signal files make of some input: how often each signal,
//! with its first text; `--untold` also the log lines that none matches.
//! `cargo run -p whathappened-connectors --example signals -- [--untold] PATH…`

#![allow(clippy::print_stdout, reason = "a tool for developers")]

use std::collections::BTreeMap;
use std::time::Instant;

use whathappened_connectors::log_store::look_for;
use whathappened_connectors::recording::{Input, Options, read};
use whathappened_core::signals::Ruleset;
use whathappened_model::observation::Observation;
use whathappened_model::sink::Sink;
use whathappened_model::time::rfc3339;

struct Counter {
    ruleset: Ruleset,
    signals: BTreeMap<String, (u64, String)>,
    unmatched: BTreeMap<String, u64>,
    lines: u64,
    classifying: f64,
}

impl Sink for Counter {
    fn observe(&mut self, observations: Vec<Observation>) {
        let start = Instant::now();
        for observation in observations {
            let Observation::Event(mut event) = observation else {
                continue;
            };
            self.ruleset.classify(&mut event);
            self.lines += 1;
            let text = event.message.clone().unwrap_or_default();
            if event.signals.is_empty() && event.fact == "log.line" {
                let alike = text.replace(|c: char| c.is_ascii_digit(), "#");
                *self.unmatched.entry(alike).or_default() += 1;
            }
            for signal in &event.signals {
                let seen = self.signals.entry(signal.clone()).or_insert_with(|| {
                    let time = rfc3339(event.time.lo);
                    let attributes = serde_json::to_string(&event.attributes)
                        .unwrap_or_else(|error| error.to_string());
                    let text: String = text.chars().take(160).collect();
                    (0, format!("{time} {text:?} {attributes}"))
                });
                seen.0 += 1;
            }
        }
        self.classifying += start.elapsed().as_secs_f64();
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let inputs: Vec<Input> = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--"))
        .map(|path| Input::Path(path.into()))
        .collect();
    let rules = Ruleset::built_in()?;
    look_for(rules.machine_words(), rules.program_words())?;
    let mut counter = Counter {
        ruleset: rules,
        signals: BTreeMap::new(),
        unmatched: BTreeMap::new(),
        lines: 0,
        classifying: 0.0,
    };
    let summary = read(&inputs, &Options::default(), &mut counter);
    println!(
        "{} bytes, {} events, classified in {:.3} s",
        summary.total.bytes, counter.lines, counter.classifying
    );
    for (signal, (count, first)) in &counter.signals {
        println!("{count:>7} {signal:32} {first}");
    }
    if arguments.iter().any(|argument| argument == "--untold") {
        let mut unmatched: Vec<_> = counter.unmatched.into_iter().collect();
        unmatched.sort_by_key(|(text, count)| (u64::MAX - count, text.clone()));
        for (text, count) in unmatched.iter().take(400) {
            println!("{count:>7} {text}");
        }
    }
    Ok(())
}
