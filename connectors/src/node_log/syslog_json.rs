//! Lines of syslog that a daemon wrote as JSON, an object a line: rsyslog's templates and `jsonmesg`, syslog-ng's
//! `format-json`, Logstash, Vector. What they have in common is a facility, which no program's own log has.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::line::{self, HostLine};
use super::unit_log;
use crate::contract::{FileHead, Options, TextReader};
use crate::logs::LogSource;

const TIME: &[&str] = &[
    "timereported",
    "@timestamp",
    "timestamp",
    "ISODATE",
    "timegenerated",
    "DATE",
];
const HOST: &[&str] = &["hostname", "logsource", "host", "HOST"];
const PROGRAM: &[&str] = &[
    "programname",
    "program",
    "appname",
    "app-name",
    "PROGRAM",
    "syslogtag",
    "tag",
];
const PID: &[&str] = &["procid", "pid", "PID"];
const FACILITY: &[&str] = &[
    "syslogfacility-text",
    "facility",
    "facility_label",
    "syslogfacility",
    "FACILITY",
];
const SEVERITY: &[&str] = &[
    "syslogseverity-text",
    "severity",
    "severity_label",
    "syslogseverity",
    "PRIORITY",
];
const MESSAGE: &[&str] = &["msg", "message", "MESSAGE"];

/// Whether a file begins as such lines.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    head.lines(1).any(|line| matches!(parse(line), Ok(Some(_))))
}

/// Reads them.
pub(super) fn reader(source: &Arc<LogSource>, options: &Options) -> Box<dyn TextReader> {
    Box::new(unit_log::UnitLog::new(source, options, parse))
}

/// Takes a line apart; `None` where it is no line of syslog.
fn parse(text: &str) -> Result<Option<HostLine>, String> {
    if !text.starts_with('{') {
        return Ok(None);
    }
    let fields: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(host_line(&fields))
}

fn host_line(fields: &Map<String, Value>) -> Option<HostLine> {
    let facility = first(fields, FACILITY)?;
    let (time, host) = (first(fields, TIME)?, first(fields, HOST)?);
    let (program, message) = (first(fields, PROGRAM)?, first(fields, MESSAGE)?);
    // `sshd[4711]:` where the tag is all there is.
    let program = program.trim_end_matches(':');
    let tag = match first(fields, PID).filter(|pid| pid != "-") {
        Some(pid) if !program.contains('[') => format!("{program}[{pid}]"),
        _ => program.to_owned(),
    };
    // As a line of text it is read like any other.
    let mut line = line::parse(&format!("{time} {host} {tag}: {}", message.trim()))?;
    line.facility = named(&facility, line::facility);
    line.severity = first(fields, SEVERITY).and_then(|word| named(&word, line::severity));
    Some(line)
}

/// The first of these fields that is there and says something.
fn first(fields: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match fields.get(*name)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

/// A facility or a severity by its word, or by its number.
fn named(word: &str, by_number: fn(usize) -> Option<String>) -> Option<String> {
    match word.parse() {
        Ok(number) => by_number(number),
        Err(_) => Some(word.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::clock::Clock;
    use crate::node_log::line::LineTime;
    use crate::time::Stamp;

    #[test]
    fn the_forms_of_several_daemons_are_one_line() {
        let xid = "NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.";
        let forms = [
            format!(
                r#"{{"@timestamp":"2026-11-21T15:20:27Z","host":"gpu-7","severity":"err","facility":"kern","tag":"kernel:","message":"{xid}"}}"#
            ),
            format!(
                r#"{{"msg":" {xid}","rawmsg":"<3>…","timereported":"2026-11-21T15:20:27+00:00","hostname":"gpu-7","syslogtag":"kernel:","programname":"kernel","syslogfacility":"0","syslogseverity":"3"}}"#
            ),
            format!(
                r#"{{"PROGRAM":"kernel","PRIORITY":"err","MESSAGE":"{xid}","HOST":"gpu-7","FACILITY":"kern","ISODATE":"2026-11-21T15:20:27+00:00"}}"#
            ),
            format!(
                r#"{{"appname":"kernel","facility":"kern","hostname":"gpu-7","message":"{xid}","severity":"err","timestamp":"2026-11-21T15:20:27Z","procid":"-"}}"#
            ),
        ];
        for form in &forms {
            let line = parse(form).unwrap().unwrap();
            assert_eq!(line.host.as_deref(), Some("gpu-7"), "{form}");
            assert_eq!(line.program.as_deref(), Some("kernel"), "{form}");
            assert_eq!(line.facility.as_deref(), Some("kern"), "{form}");
            assert_eq!(line.severity.as_deref(), Some("err"), "{form}");
            assert_eq!(line.message, xid, "{form}");
            let LineTime::Clock(Clock::Full(stamp)) = line.when else {
                panic!("{form}");
            };
            assert_eq!(stamp, Stamp::parse("2026-11-21T15:20:27Z").unwrap());
        }
        let tagged = r#"{"@timestamp":"2026-11-21T15:20:27Z","host":"gpu-7","facility":"auth","tag":"sshd[4711]:","message":"x"}"#;
        let line = parse(tagged).unwrap().unwrap();
        assert_eq!(line.program.as_deref(), Some("sshd"));
        assert_eq!(line.pid.as_deref(), Some("4711"));
    }

    #[test]
    fn a_programs_own_lines_are_none() {
        for text in [
            "x",
            "{}",
            r#"{"time":"2026-11-21T15:20:27Z","host":"gpu-7","level":"info","message":"step 1"}"#,
            r#"{"@timestamp":"x","host":"gpu-7","facility":"kern","tag":"kernel:","message":"x"}"#,
        ] {
            assert_eq!(parse(text).unwrap(), None, "{text}");
        }
        assert!(parse("{").is_err());
    }
}
