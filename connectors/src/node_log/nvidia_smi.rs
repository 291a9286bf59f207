//! What `nvidia-smi -q` shows of GPUs that are not well, at its own time.

use std::sync::Arc;

use super::emit::Emitter;
use super::layout;
use super::line::{HostLine, LineTime};
use super::place::PlacedTime;
use crate::contract::{FileHead, FormatOutput, TextReader, numbered};
use crate::logs::LogSource;
use crate::logs::clock::{self, Clock};
use crate::observation::Observation;
use crate::pci;
use crate::time::Stamp;

/// Whether it begins as such a report.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    head.lines(6).any(|line| line.contains("NVSMI LOG"))
}

/// A report, GPU by GPU.
pub(super) struct Report {
    emitter: Emitter,
    stamp: Option<Stamp>,
    pci: Option<String>,
    uuid: Option<String>,
    /// Headings above the line, with their indent.
    above: Vec<(usize, String)>,
}

impl Report {
    pub(super) fn new(source: &Arc<LogSource>) -> Self {
        let host = layout::machine(source);
        Self {
            emitter: Emitter::new(Arc::clone(&source.file), source.identity(), host),
            stamp: None,
            pci: None,
            uuid: None,
            above: Vec::new(),
        }
    }

    fn line(&mut self, text: &str, number: u64, found: &mut FormatOutput) -> bool {
        let indent = text.len() - text.trim_start().len();
        while self.above.last().is_some_and(|(at, _)| *at >= indent) {
            self.above.pop();
        }
        let words = text.trim();
        if let Some(pci) = words
            .strip_prefix("GPU ")
            .filter(|pci| indent == 0 && pci.contains(':'))
        {
            self.pci = Some(pci::normal(pci));
            self.uuid = None;
            return false;
        }
        let lost = words.contains("GPU is lost") || words.contains("GPU requires reset");
        let Some((key, value)) = words.split_once(" : ").or_else(|| words.split_once(": ")) else {
            self.above.push((indent, words.to_owned()));
            return lost && self.emit(words, number, found);
        };
        let (key, value) = (key.trim(), value.trim());
        match key {
            "Timestamp" => {
                if let Some((Clock::NoZone(stamp), _)) = clock::leading(value) {
                    self.stamp = Some(stamp);
                }
                return false;
            }
            "GPU UUID" => self.uuid = Some(value.to_owned()),
            _ => {}
        }
        let under = |heading: &str| self.above.iter().any(|(_, above)| above == heading);
        let bad = match key {
            "Remapping Failure Occurred" => value == "Yes",
            "Pending" => under("Remapped Rows") && value == "Yes",
            "GPU Recovery Action" => !matches!(value, "None" | "N/A"),
            "HW Thermal Slowdown" | "HW Power Brake Slowdown" => value == "Active",
            _ => {
                key.contains("Uncorrectable")
                    && under("Volatile")
                    && value.parse::<u64>().is_ok_and(|count| count > 0)
            }
        };
        if !bad && !lost {
            return false;
        }
        let section = self.above.last().map(|(_, above)| format!("{above}, "));
        let message = format!("{}{key}: {value}", section.unwrap_or_default());
        self.emit(&message, number, found)
    }

    fn emit(&mut self, text: &str, number: u64, found: &mut FormatOutput) -> bool {
        let message = match &self.pci {
            Some(pci) => format!("GPU {pci}: {text}"),
            None => text.to_owned(),
        };
        let when = self.stamp.map_or(LineTime::Absent, |stamp| {
            LineTime::Clock(Clock::NoZone(stamp))
        });
        let line = HostLine {
            program: Some("nvidia-smi".to_owned()),
            ..HostLine::new(when, &message)
        };
        let placed = PlacedTime {
            stamp: self.stamp,
            inferred: Some("zone"),
            ahead: None,
        };
        let mut event = self.emitter.emit(line, placed, text, number);
        event.set_attribute("gpu_pci", self.pci.clone());
        event.set_attribute("gpu_uuid", self.uuid.clone());
        found.observations.push(Observation::Event(Box::new(event)));
        true
    }
}

impl TextReader for Report {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        for (number, line) in numbered(lines, first) {
            let text = String::from_utf8_lossy(line);
            if text.trim().is_empty() {
                continue;
            }
            found.records += 1;
            found.irrelevant += u64::from(!self.line(&text, number, found));
        }
    }

    fn finish(&mut self, _found: &mut FormatOutput) {}
}

#[cfg(test)]
mod tests {
    use super::super::tests::{emitted, read_bytes};

    #[test]
    fn only_what_is_not_well_is_told() {
        let text = "\n==============NVSMI LOG==============\n\nTimestamp                                 : Sat Nov 21 15:20:27 2026\nAttached GPUs                             : 2\nGPU 00000000:07:00.0\n    GPU UUID                              : GPU-1111\n    GPU Recovery Action                   : None\n    ECC Errors\n        Volatile\n            DRAM Uncorrectable            : 2\n        Aggregate\n            DRAM Uncorrectable            : 9\n    Remapped Rows\n        Pending                           : Yes\n        Remapping Failure Occurred        : No\nGPU 00000000:9B:00.0\n    Retired Pages\n        Pending Page Blacklist            : No\n";
        let (summary, events) = read_bytes(text.as_bytes());
        assert_eq!(summary.files[0].form, "nvidia-smi's report");
        let at = "2026-11-21T15:20:27Z".to_owned();
        assert_eq!(
            emitted(&events),
            [
                (
                    "",
                    at.clone(),
                    "GPU 0000:07:00: Volatile, DRAM Uncorrectable: 2"
                ),
                ("", at, "GPU 0000:07:00: Remapped Rows, Pending: Yes"),
            ]
        );
        assert_eq!(events[0].attribute("gpu_uuid"), Some("GPU-1111"));
    }
}
