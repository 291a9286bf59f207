//! A paste to what it tells.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::age::Age;
use super::anchor::{self, CaptureContents};
use super::command::{Command, Verb};
use super::deleted::{self, Deleted};
use super::describe::{self, Described};
use super::earlier::{self, DescribedPod};
use super::event::{self, EventObject, PrintedEvent};
use super::owner;
use super::paste;
use super::pod_row::{self, PodRow};
use super::row;
use super::row_times::{date, made_at, terminating, untimed};
use super::session::{self, Capture, PieceKind};
use super::table::Heading;
use crate::contract::LogLines;
use crate::event::Origin;
use crate::kubernetes;
use crate::logs::{LogSource, LogStream};
use crate::observation::{Observation, Rejection};
use crate::time::Stamp;

/// What is known of a paste before it is read.
#[derive(Clone, Debug)]
pub(crate) struct PasteContext<'p> {
    /// The file, and whose log it is if it holds one and does not say whose.
    pub(crate) source: &'p LogSource,
    pub(crate) log_lines: LogLines,
    pub(crate) max_line_bytes: usize,
    /// Pods that other files of the folder describe: a row of a table must not
    /// be taken for all that is known of them.
    pub(crate) described_beside: &'p [(String, String)],
    /// The same pods, with the Events that were printed below them.
    pub(crate) descriptions_beside: &'p [DescribedPod],
    /// Other files of the folder hold objects as the API writes them.
    pub(crate) objects_beside: bool,
}

/// Told of each record: its line, and what became of it.
type Count<'c> = dyn FnMut(u64, Result<(), Rejection>) + 'c;

/// Reads a paste. Returns how many log lines were left out because a log is long.
pub(crate) fn read(
    text: &str,
    paste: &PasteContext<'_>,
    out: &mut Vec<Observation>,
    count: &mut Count<'_>,
) -> u64 {
    let lines = paste::lines(text);
    let captures = session::split(&lines);
    let mut reader = Reader {
        paste,
        out,
        count,
        described: Vec::new(),
        seen: Vec::new(),
        objects: Vec::new(),
        logs: Vec::new(),
        deleted: Vec::new(),
        made: BTreeMap::new(),
        ages: BTreeMap::new(),
    };
    for (number, capture) in captures.iter().enumerate() {
        reader.capture(number, capture);
    }
    reader.name_spaces();
    reader.set_moments();
    reader.emit();
    reader.emit_logs()
}

pub(super) struct Reader<'r, 't> {
    pub(super) paste: &'r PasteContext<'r>,
    pub(super) out: &'r mut Vec<Observation>,
    count: &'r mut Count<'r>,
    /// With the number of its capture and its line.
    pub(super) described: Vec<(usize, u64, Described<'t>)>,
    /// By capture.
    pub(super) seen: Vec<CaptureContents>,
    /// Objects of other rows, with the numbers of their captures and their lines.
    pub(super) objects: Vec<(usize, u64, Value)>,
    logs: Vec<&'r Capture<'t>>,
    /// What was deleted, with the number of the capture that says so.
    pub(super) deleted: Vec<(usize, Deleted)>,
    /// When objects were made whose names others bore before, by the lines that show them.
    pub(super) made: BTreeMap<u64, Stamp>,
    /// How old the objects of other rows are, by their lines.
    pub(super) ages: BTreeMap<u64, Age>,
}

/// A table that names no namespaces is of one: where some of its rows are known to be of one, all are.
fn share_namespace(events: &mut [PrintedEvent]) {
    let spaces = events.iter().map(|event| event.about.namespace.as_str());
    let known: BTreeSet<&str> = spaces.filter(|space| !space.is_empty()).collect();
    let Some(only) = known.first().filter(|_| known.len() == 1) else {
        return;
    };
    let only = (*only).to_owned();
    for event in events {
        event.about.namespace.clone_from(&only);
    }
}

impl<'r, 't> Reader<'r, 't> {
    fn capture(&mut self, number: usize, capture: &'r Capture<'t>) {
        let mut seen = CaptureContents {
            commanded: capture.command.is_some(),
            ..CaptureContents::default()
        };
        let command = capture.command.as_ref();
        match capture.shape {
            PieceKind::Describe => self.describe(number, capture, &mut seen),
            PieceKind::Table => self.table(number, capture, &mut seen),
            PieceKind::PodRows => {
                for line in &capture.lines {
                    match pod_row::parse(line.text) {
                        Some(row) => self.pod_row(row, line.number, command, &mut seen),
                        None => self.skip(line.number),
                    }
                }
            }
            PieceKind::Json | PieceKind::Yaml => self.objects(capture),
            PieceKind::Log => self.logs.push(capture),
            PieceKind::Date => {
                for line in &capture.lines {
                    if let Some(at) = date(line.words()) {
                        seen.is_date = true;
                        seen.moment.not_before(at.lo);
                        seen.moment.before(at.hi);
                    }
                }
            }
            PieceKind::Nothing if command.is_some_and(|one| one.verb == Verb::Delete) => {
                let namespace = command.and_then(|command| command.namespace.as_deref());
                for line in capture.lines.iter().filter(|line| !line.is_blank()) {
                    match deleted::parse(line, namespace) {
                        Some(one) => {
                            self.deleted.push((number, one));
                            (self.count)(line.number, Ok(()));
                        }
                        None => self.skip(line.number),
                    }
                }
            }
            PieceKind::Nothing => {
                for line in capture.lines.iter().filter(|line| !line.is_blank()) {
                    self.skip(line.number);
                }
            }
        }
        self.seen.push(seen);
    }

    fn skip(&mut self, line: u64) {
        let why = Rejection::Irrelevant("text around what kubectl printed".to_owned());
        (self.count)(line, Err(why));
    }

    fn describe(&mut self, number: usize, capture: &'r Capture<'t>, seen: &mut CaptureContents) {
        let line = capture.lines.first().map_or(0, |line| line.number);
        let requested = capture
            .command
            .as_ref()
            .and_then(|command| command.kind.as_deref());
        let Some(one) = describe::read(&capture.lines, requested) else {
            let why = "a description of an object without its kind".to_owned();
            return (self.count)(line, Err(Rejection::Irrelevant(why)));
        };
        let about = EventObject {
            kind: one.kind.clone(),
            namespace: one.namespace.clone(),
            name: one.name.clone(),
        };
        if let Some((heading, rows)) = describe::event_rows(&one.events) {
            event::rows(&heading, rows, Some(&about), &mut seen.events, self.count);
        }
        for event in &mut seen.events {
            event.uid.clone_from(&one.uid);
        }
        anchor::of_describe(&one, &seen.events, &mut seen.moment);
        self.described.push((number, line, one));
    }

    fn table(&mut self, number: usize, capture: &'r Capture<'t>, seen: &mut CaptureContents) {
        let Some((heading, rows)) = capture
            .lines
            .split_first()
            .and_then(|(first, rows)| Some((Heading::parse(first.text)?, rows)))
        else {
            return;
        };
        let command = capture.command.as_ref();
        if heading.has("REASON") && heading.has("MESSAGE") {
            event::rows(&heading, rows, None, &mut seen.events, self.count);
            let namespace = command.and_then(|command| command.namespace.as_deref());
            for event in seen
                .events
                .iter_mut()
                .filter(|event| event.about.namespace.is_empty())
            {
                event.about.namespace = namespace.unwrap_or_default().to_owned();
            }
            anchor::of_names(&seen.events, &mut seen.moment);
            return;
        }
        let requested = command.and_then(|command| command.kind.as_deref());
        let by_columns = row::kind(&heading);
        for line in rows.iter().filter(|line| !session::is_chatter(line)) {
            let Some(cells) = heading.row(line.text) else {
                let why = "not a row of the table above it".to_owned();
                (self.count)(line.number, Err(Rejection::Malformed(why)));
                continue;
            };
            let named = cells
                .get("NAME")
                .and_then(|name| super::kind_of(name.split_once('/')?.0));
            let Some(kind) = named.or(by_columns).or(requested) else {
                self.skip(line.number);
                continue;
            };
            if kind == "Pod" {
                match pod_row::of(&cells).or_else(|| pod_row::parse(line.text)) {
                    Some(row) => self.pod_row(row, line.number, command, seen),
                    None => {
                        let why = "a row of pods that cannot be parsed".to_owned();
                        (self.count)(line.number, Err(Rejection::Malformed(why)));
                    }
                }
                continue;
            }
            let namespace = command.and_then(|command| command.namespace.as_deref());
            match row::other(kind, &cells, namespace) {
                Some(object) => {
                    let age = cells.get("AGE").and_then(Age::parse);
                    self.ages.extend(age.map(|age| (line.number, age)));
                    self.objects.push((number, line.number, object));
                    (self.count)(line.number, Ok(()));
                }
                None => self.skip(line.number),
            }
        }
    }

    fn pod_row(
        &mut self,
        mut row: PodRow,
        line: u64,
        command: Option<&Command>,
        seen: &mut CaptureContents,
    ) {
        if row.namespace.is_none() {
            row.namespace = command.and_then(|command| command.namespace.clone());
        }
        row.line = line;
        seen.pods.push(row);
        (self.count)(line, Ok(()));
    }

    /// `kubectl get -o json|yaml` among other commands.
    fn objects(&mut self, capture: &Capture<'_>) {
        let Some(first) = capture.lines.first() else {
            return;
        };
        let text: String = capture
            .lines
            .iter()
            .flat_map(|line| [line.text, "\n"])
            .collect();
        let json = match capture.shape {
            PieceKind::Yaml => match crate::contract::yaml_to_json(&text) {
                Ok(value) => value.to_string(),
                Err(why) => return (self.count)(first.number, Err(Rejection::Malformed(why))),
            },
            _ => text,
        };
        let origin = self.origin(first.number);
        let result = kubernetes::decode(json.as_bytes(), None, &origin, self.out);
        (self.count)(first.number, result);
    }

    pub(super) fn origin(&self, line: u64) -> Origin {
        Origin {
            file: Arc::clone(&self.paste.source.file),
            line,
        }
    }

    /// A table of one namespace does not name it; a description of the same object does.
    fn name_spaces(&mut self) {
        let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let described = self
            .described
            .iter()
            .map(|(_, _, one)| (&one.name, &one.namespace));
        let beside = self
            .paste
            .described_beside
            .iter()
            .map(|(namespace, name)| (name, namespace));
        for (name, namespace) in described
            .chain(beside)
            .filter(|(_, namespace)| !namespace.is_empty())
        {
            known
                .entry(name.clone())
                .or_default()
                .insert(namespace.clone());
        }
        let of = |name: &str| match known.get(name) {
            Some(namespaces) if namespaces.len() == 1 => namespaces.first().cloned(),
            _ => None,
        };
        for seen in &mut self.seen {
            let is_of_one = seen.events.iter().all(|one| one.about.namespace.is_empty());
            for event in seen
                .events
                .iter_mut()
                .filter(|event| event.about.namespace.is_empty())
            {
                event.about.namespace = of(&event.about.name).unwrap_or_default();
            }
            if is_of_one {
                share_namespace(&mut seen.events);
            }
            for row in seen.pods.iter_mut().filter(|row| row.namespace.is_none()) {
                row.namespace = of(&row.name);
            }
        }
    }

    fn set_moments(&mut self) {
        let mut ends = anchor::ContainerEnds::new();
        for (_, _, one) in &self.described {
            anchor::ends(one, &mut ends);
        }
        anchor::share(&mut self.seen, &ends, self.paste.descriptions_beside);
        anchor::in_order(&mut self.seen);
        anchor::below_date(&mut self.seen);
        for seen in &mut self.seen {
            let moment = seen.moment;
            for event in &mut seen.events {
                event.place(&moment);
            }
        }
    }

    /// The pods that are described here or beside.
    fn described_pods(&self) -> Vec<DescribedPod> {
        let here = self.described.iter().filter_map(|(number, _, one)| {
            let seen = self.seen.get(*number)?;
            (one.kind == "Pod").then(|| DescribedPod::of(one, seen.moment, &seen.events))
        });
        let beside = self.paste.descriptions_beside.iter().cloned();
        here.chain(beside).collect()
    }

    fn emit(&mut self) {
        let described = self.described_pods();
        let mut events: Vec<PrintedEvent> = self
            .seen
            .iter_mut()
            .flat_map(|seen| {
                earlier::in_table(&mut seen.events);
                std::mem::take(&mut seen.events)
            })
            .collect();
        earlier::mark(&mut events, &described);
        self.note_reused(&events);
        let events = event::facts(events, &self.paste.source.file);
        for (number, line, one) in &self.described {
            let moment = self
                .seen
                .get(*number)
                .map(|seen| seen.moment)
                .unwrap_or_default();
            let mut emitted = Vec::new();
            let json = one.json.to_string();
            let result =
                kubernetes::decode(json.as_bytes(), None, &self.origin(*line), &mut emitted);
            if one.kind == "Pod" {
                untimed(&mut emitted, one, &events, &moment);
                if let Some(event) = terminating(&mut emitted, one, &events, &moment) {
                    emitted.push(Observation::Event(Box::new(event)));
                }
            }
            made_at(&mut emitted, moment.shown());
            self.out.append(&mut emitted);
            (self.count)(*line, result);
        }
        self.emit_rows();
        let stay = self.later_rows();
        for (number, one) in &self.deleted {
            // One that is there later was made anew, or kept by another command.
            if stay.get(&one.name).is_none_or(|last| last < number) {
                self.out.push(deleted::asked(one, &self.paste.source.file));
            }
        }
        let events = events
            .into_iter()
            .map(|event| Observation::Event(Box::new(event)));
        self.out.extend(events);
    }

    fn emit_logs(&mut self) -> u64 {
        let mut left_out = 0;
        let described = std::mem::take(&mut self.described);
        let described: Vec<&Described<'_>> = described.iter().map(|(_, _, one)| one).collect();
        for capture in std::mem::take(&mut self.logs) {
            let source = owner::source(self.paste.source, capture, &described);
            let mut stream = LogStream::new(
                Arc::new(source),
                self.paste.log_lines,
                self.paste.max_line_bytes,
            );
            for line in &capture.lines {
                if line.is_blank() {
                    continue;
                }
                if session::is_complaint(line.text) && capture.command.is_some() {
                    self.skip(line.number);
                    continue;
                }
                let result = stream.line(line.text, line.number, self.out);
                (self.count)(line.number, result.map_err(Rejection::Malformed));
            }
            stream.finish(self.out);
            left_out += stream.left_out();
        }
        left_out
    }
}
