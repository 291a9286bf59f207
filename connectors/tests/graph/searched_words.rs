//! A host's log is searched for words before anything of it is read; a signal
//! on words that are not searched for would never be seen.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use whathappened_connectors::log_store::{LineSubject, look_for};
use whathappened_connectors::node_log::may_be_evidence;
use whathappened_core::signals::Ruleset;
use whathappened_model::line_word::whole_words;

/// A file of signals, as far as this test needs it.
#[derive(Deserialize)]
struct File {
    signal: Vec<Signal>,
}

#[derive(Deserialize)]
struct Signal {
    name: String,
    #[serde(default)]
    example: Vec<toml::Table>,
}

#[test]
fn lines_of_hosts_that_mean_something_are_kept() {
    let rules = Ruleset::built_in().unwrap();
    look_for(rules.machine_words(), rules.program_words()).unwrap();
    let of_machines = LineSubject::Nodes(Vec::new()).evidence();
    // Whether a store that knows only whole words would give this line.
    let is_asked_for = |text: &str| {
        let words = format!(" {} ", whole_words(text).join(" "));
        let mut asked = of_machines.words.iter();
        asked.any(|word| words.contains(&format!(" {} ", whole_words(&word.phrase).join(" "))))
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../queries/signals");
    let mut lost = Vec::new();
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "toml") {
            continue;
        }
        let Ok(file) = toml::from_str::<File>(&fs::read_to_string(&path).unwrap()) else {
            continue; // actors and such
        };
        for signal in &file.signal {
            for example in &signal.example {
                let text = |key: &str| example.get(key).and_then(toml::Value::as_str);
                let program = example
                    .get("attributes")
                    .and_then(|attributes| attributes.get("program")?.as_str());
                // Those are read whole.
                let whole = matches!(
                    program,
                    Some(
                        "bmc" | "maas" | "apt" | "ipmitool" | "nvidia-smi" | "dcgmi" | "systemctl"
                    )
                );
                if text("fact") != Some("node.log") || whole {
                    continue;
                }
                seen += 1;
                let message = text("message").unwrap_or_default();
                if !(may_be_evidence(message)
                    && of_machines.is_in(message)
                    && is_asked_for(message))
                {
                    lost.push((signal.name.clone(), message.to_owned()));
                }
            }
        }
    }
    assert!(
        seen > 20,
        "only {seen} examples of machines' lines were found"
    );
    assert_eq!(lost, []);
}
