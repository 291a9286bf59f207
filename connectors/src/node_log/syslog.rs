//! Lines that machines send as syslog, read as they come.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::line;
use super::reader::HostLog;
use crate::contract::{FormatOutput, TextReader as _};
use crate::event::Entities;
use crate::logs::LogSource;
use crate::observation::Observation;
use crate::time::Nanos;

/// What some lines told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyslogFacts {
    /// The facts.
    pub observations: Vec<Observation>,
    /// Lines that mean nothing here.
    pub irrelevant: u64,
}

/// Reads lines (RFC 3164 or 5424, one message each, without newlines) that
/// `sender` sent and that were received at `now`, nanoseconds since 1970. A line
/// without year is of the year in which it is nearest to then. The same line in
/// the machine's own log is the same fact.
#[must_use]
pub fn decode_syslog(lines: &[String], sender: &str, now: Nanos) -> SyslogFacts {
    let mut by_host: BTreeMap<Option<String>, Vec<u8>> = BTreeMap::new();
    for line in lines {
        // A relay sends the lines of many: what one says must not place another's.
        let host = line::parse(line).and_then(|line| line.host);
        let blob = by_host.entry(host).or_default();
        blob.extend_from_slice(line.as_bytes());
        blob.push(b'\n');
    }
    let source = Arc::new(LogSource {
        file: format!("syslog/{sender}").into(),
        entities: Entities::default(),
        ..LogSource::default()
    });
    let mut received = SyslogFacts::default();
    for blob in by_host.into_values() {
        let mut found = FormatOutput::default();
        let mut log = HostLog::new(&source, |text| Ok(line::parse(text)));
        log.received(now);
        log.lines(&blob, 1, &mut found);
        log.finish(&mut found);
        received.observations.append(&mut found.observations);
        received.irrelevant += found.irrelevant;
    }
    for observation in &mut received.observations {
        if let Observation::Event(event) = observation {
            event.observed = Some(now);
        }
    }
    received
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::time::{SECOND, Stamp, rfc3339};

    fn facts(lines: &[&str], now: &str) -> Vec<Event> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let now = Stamp::parse(now).unwrap().lo;
        let emitted = decode_syslog(&lines, "10.0.0.7", now)
            .observations
            .into_iter();
        emitted
            .map(|one| match one {
                Observation::Event(event) => *event,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    const XID: &str =
        "kernel: [ 12.345678] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.";

    #[test]
    fn both_forms_of_syslog_are_one_fact() {
        let old = format!("<4>Nov 21 15:20:27 gpu-7 {XID}");
        let new = "<4>1 2026-11-21T15:20:27.123Z gpu-7 kernel - - - NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.";
        let now = "2026-11-21T15:20:28Z";
        let (old, new) = (facts(&[&old], now), facts(&[new], now));
        assert_eq!((old.len(), new.len()), (1, 1), "{old:?} {new:?}");
        assert_eq!(old[0].id, new[0].id);
        assert_eq!(old[0].entities.node.as_deref(), Some("gpu-7"));
        assert_eq!(old[0].observed, Some(old[0].time.lo + SECOND));
    }

    #[test]
    fn a_line_without_year_is_near_to_when_it_was_received() {
        for (line, now, at) in [
            (
                "Dec 31 23:59:59",
                "2027-01-01T00:00:03Z",
                "2026-12-31T23:59:59Z",
            ),
            (
                "Jan  1 00:00:01",
                "2026-12-31T23:59:58Z",
                "2027-01-01T00:00:01Z",
            ),
            (
                "Nov 21 15:20:27",
                "2026-11-21T15:20:27Z",
                "2026-11-21T15:20:27Z",
            ),
        ] {
            let line = format!("<4>{line} gpu-7 {XID}");
            let facts = facts(&[&line], now);
            assert_eq!(rfc3339(facts[0].time.lo), at, "{line}");
        }
    }

    #[test]
    fn what_means_nothing_is_counted_and_nothing_breaks_it() {
        let lines = [
            "<6>Nov 21 15:20:27 gpu-7 sshd[1]: session opened",
            "",
            "<",
            "<999>x",
            "\u{0}\u{1}",
        ];
        let lines = lines.map(str::to_owned);
        let received = decode_syslog(&lines, "10.0.0.7", 1_795_274_427 * SECOND);
        assert!(received.observations.is_empty(), "{received:?}");
        assert!(received.irrelevant >= 1);
    }
}
