//! Lines of machines that a log store kept one by one.
//!
//! A collector may have kept the journal's text alone and put the rest into
//! labels, the whole line of a syslog file, or the journal's record as JSON. All
//! are taken apart to what a file's line is, and told by the same reader, so that a
//! line is one fact wherever it was read.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Datelike as _};
use serde_json::{Map, Value};

use super::boot;
use super::filter;
use super::journal;
use super::line::{self, HostLine, LineTime};
use super::reader::HostLog;
use crate::contract::FormatOutput;
use crate::event::Entities;
use crate::logs::LogSource;
use crate::logs::clock::{self, Clock};
use crate::observation::Observation;
use crate::slurm;
use crate::time::{Nanos, SECOND, Stamp};

/// A line as a store has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredHostLine<'l> {
    /// What the collector kept of it.
    pub(crate) text: &'l str,
    /// The machine's name by the store; where the line says one, that counts.
    pub(crate) host: Option<&'l str>,
    /// What tells its stream from others of the machine.
    pub(crate) stream: String,
    pub(crate) program: Option<String>,
    pub(crate) unit: Option<String>,
    pub(crate) boot_id: Option<String>,
    /// Line of the file that it was read from, 0 where there is none.
    pub(crate) number: u64,
}

/// Reads the lines of machines, in order of time.
#[derive(Debug)]
pub(crate) struct Machines {
    file: Arc<str>,
    logs: BTreeMap<String, HostLog>,
    /// By machine what it said of late of its own end.
    ends: BTreeMap<String, String>,
    found: FormatOutput,
}

/// How much is kept of what a machine said of its end.
const MOST_BYTES: usize = 16 << 10;

impl Machines {
    pub(crate) fn new(file: Arc<str>) -> Self {
        Self {
            file,
            logs: BTreeMap::new(),
            ends: BTreeMap::new(),
            found: FormatOutput::default(),
        }
    }

    /// Whether this is a line of a machine's own log that means something: its
    /// collector says so, or it has the form of one.
    pub(crate) fn is_of_machine(line: &StoredHostLine<'_>) -> bool {
        let means = filter::may_be_evidence(line.text) || slurm::says(line.program.as_deref());
        means
            && (line.program.is_some()
                || line.unit.is_some()
                || line.text.starts_with('{') && line.text.contains("\"MESSAGE\"")
                || line::parse(line.text.trim_end()).is_some())
    }

    /// Reads the next line; what it told, if anything, comes out.
    pub(crate) fn push(&mut self, stored: StoredHostLine<'_>, at: Stamp) -> Vec<Observation> {
        let parsed = read(&stored, at);
        let host = parsed.host.clone().unwrap_or_default();
        let log = self.logs.entry(stored.stream).or_insert_with(|| {
            let source = LogSource {
                file: Arc::clone(&self.file),
                entities: Entities {
                    node: stored.host.map(str::to_owned),
                    ..Entities::default()
                },
                ..LogSource::default()
            };
            // No line looked back at tells who spoke: that a machine fell silent cannot
            // be told where only some of its lines were asked for.
            HostLog::new(&Arc::new(source), |_| Ok(None))
        });
        let ends = self.ends.entry(host).or_default();
        if boot::is_end(&parsed) {
            if ends.len() > MOST_BYTES {
                ends.clear();
            }
            ends.push_str(&parsed.message);
            ends.push('\n');
        }
        let starts = boot::starts(&parsed);
        log.parsed(
            parsed,
            stored.text,
            ends.as_bytes(),
            stored.number,
            &mut self.found,
        );
        if starts {
            ends.clear();
        }
        std::mem::take(&mut self.found.observations)
    }

    /// There are no more; what was only counted comes out.
    pub(crate) fn finish(mut self) -> Vec<Observation> {
        for log in self.logs.values_mut() {
            log.end(&mut self.found);
        }
        self.found.observations
    }
}

/// Takes a stored line apart.
fn read(stored: &StoredHostLine<'_>, at: Stamp) -> HostLine {
    let mut line = object(stored.text, at)
        .or_else(|| line::parse(stored.text.trim_end()))
        .unwrap_or_else(|| HostLine::new(LineTime::Absent, stored.text.trim_end()));
    line.when = LineTime::Clock(Clock::Full(placed(line.when, at)));
    line.host = line.host.or_else(|| stored.host.map(str::to_owned));
    line.program = line.program.or_else(|| stored.program.clone());
    line.unit = line.unit.or_else(|| stored.unit.clone());
    line.boot_id = line.boot_id.or_else(|| stored.boot_id.clone());
    if line.program.is_none() {
        line.program = line.unit.as_deref().map(program_of_unit);
    }
    let unit = line.unit.as_deref().unwrap_or_default();
    if line.pid.is_none() && line.program.as_deref() == Some("systemd") && unit.starts_with("user@")
    {
        line.program = Some(boot::USER_MANAGER.to_owned());
    }
    line
}

/// A unit's program: `kubelet.service` is run by `kubelet`.
fn program_of_unit(unit: &str) -> String {
    match unit {
        "init.scope" => "systemd".to_owned(),
        unit => unit.strip_suffix(".service").unwrap_or(unit).to_owned(),
    }
}

/// A journal's record, or the object that a collector put around a line.
fn object(text: &str, at: Stamp) -> Option<HostLine> {
    if !text.starts_with('{') {
        return None;
    }
    let fields: Map<String, Value> = serde_json::from_str(text).ok()?;
    if fields.contains_key("MESSAGE") {
        return journal::stored_line(&fields, at).ok();
    }
    let get = |names: &[&str]| {
        let mut found = names.iter().filter_map(|name| fields.get(*name)?.as_str());
        found.find(|text| !text.is_empty())
    };
    let content = get(&["message", "log", "msg"])?;
    let mut line = line::parse(content.trim_end())
        .unwrap_or_else(|| HostLine::new(LineTime::Absent, content.trim_end()));
    let program = || get(&["ident", "program", "appname", "SYSLOG_IDENTIFIER"]);
    line.program = line.program.or_else(|| program().map(str::to_owned));
    let host = || get(&["host", "hostname", "_HOSTNAME"]);
    line.host = line.host.or_else(|| host().map(str::to_owned));
    Some(line)
}

/// No zone is further from UTC.
const FURTHEST: Nanos = 14 * 3_600 * SECOND;
const QUARTER: Nanos = 900 * SECOND;

/// The line's own time, made whole by the store's; the store's where they have
/// nothing to do with each other.
fn placed(when: LineTime, at: Stamp) -> Stamp {
    let near = |stated: Stamp| {
        // A collector reads a line soon after it was written: what differs by more
        // is the zone.
        let ahead = stated.lo.saturating_sub(at.lo);
        let zone = (ahead + QUARTER / 2).div_euclid(QUARTER) * QUARTER;
        (zone.saturating_abs() <= FURTHEST).then(|| stated.shift(-zone))
    };
    let own = match when {
        LineTime::Clock(Clock::Full(stated)) => {
            (stated.lo.abs_diff(at.lo) <= FURTHEST.unsigned_abs()).then_some(stated)
        }
        LineTime::Clock(Clock::NoZone(stated)) => near(stated),
        LineTime::Clock(Clock::NoYear {
            month,
            day,
            nanos,
            width,
        }) => {
            let year = DateTime::from_timestamp_nanos(at.lo).year();
            (year - 1..=year + 1)
                .filter_map(|year| clock::in_year(year, month, day, nanos, width))
                .min_by_key(|stated| stated.lo.abs_diff(at.lo))
                .and_then(near)
        }
        LineTime::Uptime { .. } | LineTime::Absent => None,
    };
    own.unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;

    fn emitted(lines: &[StoredHostLine<'_>], at: &str) -> Vec<Event> {
        let mut machines = Machines::new("http://store".into());
        let at = Stamp::parse(at).unwrap();
        let mut all: Vec<Observation> = Vec::new();
        for line in lines {
            all.extend(machines.push(line.clone(), at));
        }
        all.extend(machines.finish());
        let events = all.into_iter().map(|one| match one {
            Observation::Event(event) => *event,
            other => panic!("{other:?}"),
        });
        events.collect()
    }

    fn line<'l>(text: &'l str, program: Option<&str>) -> StoredHostLine<'l> {
        StoredHostLine {
            text,
            host: Some("gpu-7"),
            stream: "job=journal".to_owned(),
            program: program.map(str::to_owned),
            ..StoredHostLine::default()
        }
    }

    const XID: &str = "NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, GPU has fallen off the bus.";

    #[test]
    fn a_line_is_one_fact_however_it_was_collected() {
        let at = "2026-11-21T15:20:27.400Z";
        let record = format!(
            r#"{{"_HOSTNAME":"gpu-7","_TRANSPORT":"kernel","PRIORITY":"3","MESSAGE":"{XID}"}}"#
        );
        let wrapped = format!(r#"{{"ident":"kernel","host":"gpu-7","message":"{XID}"}}"#);
        let forms = [
            (XID.to_owned(), Some("kernel")),
            (XID.to_owned(), None),
            (format!("Nov 21 16:20:27 gpu-7 kernel: [ 12.5] {XID}"), None),
            (format!("[ 12.500000] {XID}"), None),
            (record, None),
            (wrapped, None),
        ];
        let ids: Vec<_> = forms
            .iter()
            .map(|(text, program)| {
                let emitted = emitted(&[line(text, *program)], at);
                assert_eq!(emitted.len(), 1, "{text}");
                assert_eq!(emitted[0].attribute("xid"), Some("79"), "{text}");
                assert_eq!(emitted[0].entities.node.as_deref(), Some("gpu-7"));
                emitted[0].id
            })
            .collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }

    #[test]
    fn what_a_line_says_of_its_time_goes_before_when_it_was_read() {
        let at = "2026-01-01T00:00:03Z";
        let of = |text: &str| emitted(&[line(text, None)], at)[0].time;
        assert_eq!(
            of(&format!("Dec 31 23:59:58 gpu-7 kernel: {XID}")),
            Stamp::parse("2025-12-31T23:59:58Z").unwrap()
        );
        // Of another day: the clock of the line has nothing to do with it.
        assert_eq!(
            of(&format!("Nov 21 16:20:27 gpu-7 kernel: {XID}")),
            Stamp::parse(at).unwrap()
        );
    }

    #[test]
    fn an_orderly_end_is_known_and_silence_proves_none() {
        let at = "2026-11-21T15:20:27Z";
        let start = || line("Linux version 6.8.0-45 (build@x)", Some("kernel"));
        let alone = emitted(&[start()], at);
        assert_eq!(alone[0].attribute("shutdown_before"), None);
        let mut journal = line("Journal stopped", Some("systemd-journald"));
        journal.stream = "unit=systemd-journald.service".to_owned();
        let orderly = emitted(&[journal, start()], at);
        assert_eq!(orderly[1].attribute("shutdown_before"), Some("yes"));
    }

    #[test]
    fn what_means_nothing_is_not_told() {
        assert!(
            emitted(
                &[line("Started Session 4 of user root.", Some("systemd"))],
                "2026-11-21T15:20:27Z"
            )
            .is_empty()
        );
    }
}
