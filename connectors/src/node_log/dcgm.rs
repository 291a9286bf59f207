//! `dcgmi diag`, as JSON and as the table it prints.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::emit::Emitter;
use super::layout;
use super::line::{HostLine, LineTime};
use super::place::PlacedTime;
use crate::contract::{FileHead, ForeignOutput, ForeignRecord, FormatOutput, TextReader, numbered};
use crate::event::Event;
use crate::logs::LogSource;
use crate::observation::{Observation, Rejection};

const ROOTS: [&str; 2] = ["DCGM Diagnostic", "DCGM GPU Diagnostic"];

/// Whether it is a diagnostic's report.
pub(super) fn is_report(fields: &Map<String, Value>) -> bool {
    ROOTS.iter().any(|root| fields.contains_key(*root))
}

fn failed(emitter: &mut Emitter, message: &str, gpu: Option<&str>, raw: &str, line: u64) -> Event {
    let host_line = HostLine {
        program: Some("dcgmi".to_owned()),
        ..HostLine::new(LineTime::Absent, message)
    };
    // A report does not say when it was made.
    let placed = PlacedTime {
        stamp: None,
        inferred: None,
        ahead: None,
    };
    let mut event = emitter.emit(host_line, placed, raw, line);
    event.gpu = gpu.and_then(|gpu| gpu.trim().parse().ok());
    event
}

/// Decodes a report: each test that failed.
pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let file = Arc::clone(&record.origin.file);
    let mut emitter = Emitter::new(Arc::clone(&file), file.to_string(), None);
    let root = ROOTS.iter().find_map(|root| record.fields.get(*root));
    let list = |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned();
    let categories = root
        .and_then(|root| list(root, "test_categories"))
        .unwrap_or_default();
    for test in categories
        .iter()
        .filter_map(|one| list(one, "tests"))
        .flatten()
    {
        let name = test.get("name").and_then(Value::as_str).unwrap_or_default();
        for result in list(&test, "results").unwrap_or_default() {
            let status = result
                .get("status")
                .and_then(Value::as_str)
                .unwrap_or_default();
            if !status.eq_ignore_ascii_case("fail") {
                continue;
            }
            let gpu = ["gpu_id", "entity_id"]
                .iter()
                .find_map(|key| match result.get(*key)? {
                    Value::String(text) => Some(text.clone()),
                    Value::Number(number) => Some(number.to_string()),
                    _ => None,
                });
            let warnings = list(&result, "warnings").unwrap_or_default();
            let warning = warnings.iter().find_map(|one| {
                one.as_str()
                    .or_else(|| one.get("warning").and_then(Value::as_str))
            });
            let message = match warning {
                Some(warning) => format!("{name} failed: {warning}"),
                None => format!("{name} failed"),
            };
            let event = failed(
                &mut emitter,
                &message,
                gpu.as_deref(),
                &result.to_string(),
                record.origin.line,
            );
            emitted
                .observations
                .push(Observation::Event(Box::new(event)));
        }
    }
    Ok(())
}

/// Whether it begins as the table of a diagnostic or of a health check.
pub(super) fn is_table(head: &FileHead<'_>) -> bool {
    head.lines(12).any(|line| {
        line.contains("Successfully ran diagnostic") || line.contains("Health Monitor Report")
    })
}

/// Rows of such a table.
pub(super) struct Table {
    emitter: Emitter,
}

impl Table {
    pub(super) fn new(source: &Arc<LogSource>) -> Self {
        let host = layout::machine(source);
        Self {
            emitter: Emitter::new(Arc::clone(&source.file), source.identity(), host),
        }
    }
}

impl TextReader for Table {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        for (number, line) in numbered(lines, first) {
            let text = String::from_utf8_lossy(line);
            let cells: Vec<&str> = text
                .trim()
                .trim_matches('|')
                .split('|')
                .map(str::trim)
                .collect();
            let [name, result] = cells.as_slice() else {
                continue;
            };
            found.records += 1;
            let fails = result.starts_with("Fail");
            if !fails {
                found.irrelevant += 1;
                continue;
            }
            let gpu = result.split_once("GPU: ").or(result.split_once("GPUs: "));
            let gpu = gpu.map(|(_, gpu)| gpu);
            let message = format!("{name} failed: {result}");
            let event = failed(&mut self.emitter, &message, gpu, &text, number);
            found.observations.push(Observation::Event(Box::new(event)));
        }
    }

    fn finish(&mut self, _found: &mut FormatOutput) {}
}

#[cfg(test)]
mod tests {
    use super::super::tests::{emitted, read_bytes};

    #[test]
    fn tests_that_failed_are_told() {
        let report = serde_json::json!({"DCGM Diagnostic": {"test_categories": [{"category": "Hardware", "tests": [
            {"name": "memory", "results": [
                {"gpu_id": "0", "status": "Pass"},
                {"gpu_id": "3", "status": "Fail", "warnings": [{"warning": "an ECC error", "error_id": 1}]},
            ]},
        ]}]}});
        let (_, events) = read_bytes(serde_json::to_string_pretty(&report).unwrap().as_bytes());
        assert_eq!(
            emitted(&events),
            [("", String::new(), "memory failed: an ECC error")]
        );
        assert_eq!(events[0].gpu, Some(3));
        let table = "Successfully ran diagnostic for group.\n+---------------------------+------+\n| Diagnostic                | Result |\n|===========================+======|\n| GPU Memory                | Fail - GPU: 3 |\n| PCIe                      | Pass - All |\n";
        let (_, events) = read_bytes(table.as_bytes());
        assert_eq!(
            emitted(&events),
            [("", String::new(), "GPU Memory failed: Fail - GPU: 3")]
        );
        assert_eq!(events[0].gpu, Some(3));
    }
}
