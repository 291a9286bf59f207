//! What `systemctl list-units` and `systemctl --failed` print: which services there are, and how each of them is. Since when,
//! nobody says. Of all of them only those count that run what a cluster places on the machine.

use std::sync::Arc;

use super::emit::Emitter;
use super::layout;
use super::line::{HostLine, LineTime};
use super::place::PlacedTime;
use crate::contract::{FileHead, FormatOutput, TextReader, each_line};
use crate::logs::LogSource;
use crate::observation::Observation;

/// Services that take on what a cluster places on a machine, and what they run it with.
const AGENTS: [&str; 7] = [
    "kubelet",
    "containerd",
    "crio",
    "cri-o",
    "docker",
    "slurmd",
    "k3s-agent",
];

/// Whether a file begins as such a table: with its heading, below the command at most.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    head.lines(4).any(is_heading)
}

fn is_heading(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.starts_with(&["UNIT", "LOAD", "ACTIVE", "SUB"])
}

/// The service of a row, and how it is: `failed (failed)`, as `systemctl status` has it.
fn row(text: &str) -> Option<(&str, String)> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let name = match first {
        "●" | "○" | "×" | "↻" | "*" => words.next()?,
        name => name,
    };
    let service = name.strip_suffix(".service")?;
    let (load, active, sub) = (words.next()?, words.next()?, words.next()?);
    (load == "loaded" || load == "masked").then(|| (service, format!("{active} ({sub})")))
}

/// Reads such a table.
pub(super) struct UnitList {
    emitter: Emitter,
}

impl UnitList {
    pub(super) fn new(source: &Arc<LogSource>) -> Self {
        let host = layout::machine(source);
        Self {
            emitter: Emitter::new(Arc::clone(&source.file), source.identity(), host),
        }
    }
}

impl TextReader for UnitList {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        each_line(lines, first, found, |text, number, found| {
            if text.trim().is_empty() {
                return;
            }
            found.records += 1;
            let known = row(text).filter(|(service, _)| AGENTS.contains(service));
            let Some((service, state)) = known else {
                found.irrelevant += 1;
                return;
            };
            let message = format!("{service}.service: Active: {state}");
            let host_line = HostLine {
                program: Some("systemctl".to_owned()),
                ..HostLine::new(LineTime::Absent, &message)
            };
            let nowhere = PlacedTime {
                stamp: None,
                inferred: None,
                ahead: None,
            };
            let event = self.emitter.emit(host_line, nowhere, text.trim(), number);
            found.observations.push(Observation::Event(Box::new(event)));
        });
    }

    fn finish(&mut self, _found: &mut FormatOutput) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Stamp;

    const LIST: &str = "\
$ systemctl list-units --type=service
  UNIT               LOAD      ACTIVE     SUB          DESCRIPTION
● kubelet.service    loaded    failed     failed       kubelet: The Kubernetes Node Agent
  containerd.service loaded    active     running      containerd container runtime
  slurmd.service     loaded    activating auto-restart Slurm node daemon
● train.service      loaded    failed     failed       LLM training
● docker.service     not-found inactive   dead         docker.service

5 loaded units listed.
";

    #[test]
    fn the_state_of_agents_is_told_and_no_other() {
        let head = FileHead {
            bytes: LIST.as_bytes(),
            text: LIST,
        };
        assert!(is(&head));
        let source = Arc::new(LogSource {
            file: "nodes/gpu-a1/units.txt".into(),
            ..LogSource::default()
        });
        let mut found = FormatOutput::default();
        UnitList::new(&source).lines(LIST.as_bytes(), 1, &mut found);
        let told: Vec<String> = found
            .observations
            .iter()
            .filter_map(|one| match one {
                Observation::Event(event) => {
                    assert_eq!(event.entities.node.as_deref(), Some("gpu-a1"));
                    assert_eq!(event.time, Stamp::OPEN);
                    event.message.clone()
                }
                _ => None,
            })
            .collect();
        assert_eq!(
            told,
            [
                "kubelet.service: Active: failed (failed)",
                "containerd.service: Active: active (running)",
                "slurmd.service: Active: activating (auto-restart)"
            ]
        );
    }

    #[test]
    fn other_tables_are_none() {
        for text in [
            "NAME READY STATUS\ntrain-0 1/1 Running\n",
            "UNIT FILE STATE PRESET\n",
        ] {
            let head = FileHead {
                bytes: text.as_bytes(),
                text,
            };
            assert!(!is(&head), "{text}");
        }
    }
}
