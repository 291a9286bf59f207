//! Reads paths and prints what became of each file: `cargo run -p
//! whathappened-connectors --example recording -- [--split] [--events] PATH…`
//!
//! `--split` takes records apart without decoding them, to measure the reader;
//! `--events` also prints each event.

use std::time::Instant;

use whathappened_connectors::log_store::look_for;
use whathappened_connectors::recording::{FileStatus, Input, Options, Summary, read, read_with};
use whathappened_core::signals::Ruleset;
use whathappened_model::observation::Observation;
use whathappened_model::sink::Sink;

struct Printer {
    events: bool,
}

impl Sink for Printer {
    fn observe(&mut self, observations: Vec<Observation>) {
        if !self.events {
            return;
        }
        for observation in observations {
            println!("{observation:?}");
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let inputs: Vec<Input> = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--"))
        .map(|path| {
            if path == "-" {
                Input::Stdin
            } else {
                Input::Path(path.into())
            }
        })
        .collect();
    let rules = Ruleset::built_in()?;
    look_for(rules.machine_words(), rules.program_words())?;
    let mut sink = Printer {
        events: flag("--events"),
    };
    let options = Options::default();
    let start = Instant::now();
    let summary = if flag("--split") {
        read_with(&inputs, &options, &|_, _, _, _| Ok(()), &mut sink)
    } else {
        read(&inputs, &options, &mut sink)
    };
    let seconds = start.elapsed().as_secs_f64();
    print(&summary);
    let rate = summary.total.bytes as f64 / seconds / 1e6;
    println!("{seconds:.2} s, {rate:.0} MB/s");
    Ok(())
}

fn print(summary: &Summary) {
    for file in summary.files.iter().chain([&summary.total]) {
        let status = match &file.status {
            FileStatus::Complete => String::new(),
            FileStatus::Truncated(why) => format!(" TRUNCATED {why}"),
            FileStatus::Failed(why) => format!(" FAILED {why}"),
        };
        println!(
            "{}: {}, {} bytes, {} records, {} observations, {} rejected, {} irrelevant, {} left out, {} lossy{status}",
            file.name,
            file.form,
            file.bytes,
            file.records,
            file.observations,
            file.rejected,
            file.irrelevant,
            file.left_out,
            file.lossy
        );
    }
    for rejected in summary.rejected.iter().take(20) {
        println!("rejected {}: {}", rejected.origin, rejected.why);
    }
    for (why, count) in &summary.reasons {
        println!("{count} x {why}");
    }
}
