//! A team's own maintenance calendar: `docs/maintenance-calendar.md` has its form.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::contract::{FileHead, ForeignOutput, ForeignRecord, FormatOutput, TextReader, numbered};
use crate::event::{Event, EventId, Origin, SourceKind};
use crate::host_list::expand;
use crate::logs::LogSource;
use crate::observation::{Observation, Rejection};
use crate::redact::redact;
use crate::time::{Stamp, rfc3339};

const NEEDED: [&str; 3] = ["maintenance", "hosts", "starts"];

/// How every reason begins for which an entry is rejected.
const ENTRY: &str = "a maintenance ";

/// Whether a record was rejected, for that reason, as an entry of a calendar.
#[must_use]
pub fn is_calendar_entry(why: &str) -> bool {
    why.starts_with(ENTRY)
}

/// Whether these are the fields of a calendar's line.
pub(super) fn is_record(fields: &Map<String, Value>) -> bool {
    NEEDED.iter().all(|key| fields.contains_key(*key))
}

/// One line of a calendar.
#[derive(Debug, Default)]
struct Entry {
    what: String,
    hosts: Vec<String>,
    starts: Option<Stamp>,
    ends: Option<Stamp>,
    announced: Option<Stamp>,
    by: Option<String>,
    status: String,
    id: Option<String>,
}

/// Decodes a line in JSON.
pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let text = |key: &str| match record.fields.get(key) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let hosts = match record.fields.get("hosts") {
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(Value::as_str)
            .flat_map(expand)
            .collect(),
        Some(Value::String(list)) => expand(list),
        _ => Vec::new(),
    };
    let entry = read(&text, hosts).map_err(Rejection::Malformed)?;
    let raw = Value::Object(record.fields.clone()).to_string();
    emit(&entry, record.origin, &raw, &mut emitted.observations);
    Ok(())
}

fn read(text: &dyn Fn(&str) -> Option<String>, hosts: Vec<String>) -> Result<Entry, String> {
    let time = |key: &str| match text(key).filter(|text| !text.is_empty()) {
        Some(text) => match Stamp::parse(&text) {
            Some(stamp) => Ok(Some(stamp)),
            None => Err(format!(
                "{ENTRY}entry whose `{key}` is not an RFC 3339 time"
            )),
        },
        None => Ok(None),
    };
    let entry = Entry {
        what: text("maintenance").unwrap_or_default(),
        hosts,
        starts: time("starts")?,
        ends: time("ends")?,
        announced: time("announced")?,
        by: text("by").filter(|by| !by.is_empty()),
        status: text("status").unwrap_or_default().to_ascii_lowercase(),
        id: text("id").filter(|id| !id.is_empty()),
    };
    if entry.hosts.is_empty() {
        return Err(format!("{ENTRY}without hosts"));
    }
    if entry.starts.is_none() {
        return Err(format!("{ENTRY}without `starts`"));
    }
    match entry.status.as_str() {
        "" | "planned" | "started" | "done" | "cancelled" => Ok(entry),
        _ => Err(format!(
            "{ENTRY}whose `status` is not planned, started, done or cancelled"
        )),
    }
}

/// One fact a host.
fn emit(entry: &Entry, origin: &Origin, raw: &str, out: &mut Vec<Observation>) {
    let Some(starts) = entry.starts else { return };
    // A plan is no proof that anything was done.
    let (phase, time, end) = match entry.status.as_str() {
        "started" => ("started", starts, None),
        "done" => ("acted", starts, entry.ends),
        // It takes the place of the plan that bears its id.
        "cancelled" if entry.id.is_none() => return,
        "cancelled" => ("ended", entry.announced.unwrap_or(Stamp::OPEN), None),
        // When it was announced is not known, but that it is: whoever reads it knows.
        _ => ("announced", entry.announced.unwrap_or(Stamp::OPEN), None),
    };
    for host in &entry.hosts {
        let known = if time == Stamp::OPEN { starts } else { time };
        let second = known.lo.to_string();
        let parts = ["maintenance", host, phase, &entry.what, &second];
        let mut event = Event::new(
            EventId::of(&parts),
            "cloud.host_event",
            time,
            SourceKind::NodeLog,
        );
        event.end = end;
        event.message = Some(redact(&entry.what).into_owned());
        event.actor.clone_from(&entry.by);
        event.entities.host = Some(host.clone());
        event.entities.node = Some(host.clone());
        event.raw = redact(raw).into_owned();
        event.origin = origin.clone();
        event.set_attribute("host_event", Some("maintenance"));
        event.set_attribute("phase", Some(phase));
        event.set_attribute("planned", Some(true));
        event.set_attribute("not_before", Some(rfc3339(starts.lo)));
        event.set_attribute("not_after", entry.ends.map(|ends| rfc3339(ends.lo)));
        event.set_attribute("event_id", entry.id.as_deref());
        out.push(Observation::Event(Box::new(event)));
    }
}

/// Whether it begins as a calendar in CSV.
pub(super) fn is_csv(head: &FileHead<'_>) -> bool {
    head.lines(1).any(|line| Header::read(line).is_some())
}

/// The first line of a table that is a calendar, or is meant as one.
#[derive(Debug)]
struct Header {
    names: Vec<String>,
    delimiter: u8,
}

impl Header {
    /// Nothing where none of its columns is a calendar's, or only one and another is no name.
    fn read(line: &str) -> Option<Self> {
        let line = line.trim_start_matches('\u{feff}');
        let is_semicolon = line.matches(';').count() > line.matches(',').count();
        let delimiter = if is_semicolon { b';' } else { b',' };
        let cells = line.split(char::from(delimiter));
        let cells: Vec<&str> = cells.map(|name| name.trim().trim_matches('"')).collect();
        let names: Vec<String> = cells.iter().map(|name| column(name)).collect();
        let own = |key: &&&str| names.iter().any(|name| name == **key);
        let is_name = |cell: &&str| {
            let is_letter = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
            !cell.is_empty() && cell.chars().all(is_letter)
        };
        // One word alone may stand in any line.
        let is_meant =
            cells.len() > 1 && cells.iter().all(is_name) && cells.iter().any(is_significant);
        (is_meant || COLUMNS.iter().filter(own).count() > 1).then_some(Self { names, delimiter })
    }

    /// The columns that a calendar needs and this one lacks.
    fn missing(&self) -> Vec<&'static str> {
        let lacks = |key: &&str| !self.names.iter().any(|name| name == key);
        NEEDED.into_iter().filter(lacks).collect()
    }
}

/// Columns that tell a calendar from other tables.
const COLUMNS: [&str; 4] = ["maintenance", "hosts", "starts", "ends"];

/// Whether a column's name, of which there is only one, may be meant for a calendar.
fn is_significant(cell: &&str) -> bool {
    let meant = ["maintenance", "hosts", "starts", "start", "node"];
    meant.iter().any(|one| cell.eq_ignore_ascii_case(one))
}

/// The name of a column, of the words that people use for it the one of the documentation.
fn column(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    let known = match name.as_str() {
        "host" | "node" | "nodes" | "machine" | "machines" => "hosts",
        "start" | "begin" | "begins" | "from" => "starts",
        "end" | "until" | "to" => "ends",
        _ => return name,
    };
    known.to_owned()
}

/// Rows of a calendar in CSV.
pub(super) struct Csv {
    file: Arc<str>,
    header: Option<Header>,
}

impl Csv {
    pub(super) fn new(source: &Arc<LogSource>) -> Self {
        Self {
            file: Arc::clone(&source.file),
            header: None,
        }
    }

    fn row(&self, text: &str, number: u64, out: &mut Vec<Observation>) -> Result<(), String> {
        let header = self.header.as_ref().ok_or("a row without a header")?;
        let missing = header.missing();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            return Err(format!(
                "{ENTRY}entry below a first line that does not name: {missing}"
            ));
        }
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .delimiter(header.delimiter)
            .flexible(true)
            .from_reader(text.as_bytes());
        let row = reader
            .records()
            .next()
            .and_then(Result::ok)
            .ok_or("a row that is not CSV")?;
        let cell = |key: &str| {
            let at = header.names.iter().position(|name| name == key)?;
            row.get(at).map(|cell| cell.trim().to_owned())
        };
        let hosts = cell("hosts").unwrap_or_default();
        let entry = read(&cell, expand(&hosts.replace(' ', ",")))?;
        let origin = Origin {
            file: Arc::clone(&self.file),
            line: number,
        };
        emit(&entry, &origin, text, out);
        Ok(())
    }
}

impl TextReader for Csv {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        for (number, line) in numbered(lines, first) {
            let text = String::from_utf8_lossy(line);
            if text.trim().is_empty() {
                continue;
            }
            if self.header.is_none() {
                self.header = Header::read(&text);
                continue;
            }
            match self.row(&text, number, &mut found.observations) {
                Ok(()) => found.records += 1,
                Err(why) => found.rejected.push((number, why)),
            }
        }
    }

    fn finish(&mut self, _found: &mut FormatOutput) {}
}
