//! A paste to what it tells.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::anchor::{self, Seen};
use super::command::{Command, Verb};
use super::describe::{self, Described};
use super::event::{self, About, Told};
use super::moment::Moment;
use super::paste;
use super::pod_row::{self, PodRow};
use super::row;
use super::session::{self, Capture, Shape};
use super::table::Heading;
use crate::event::{Event, EventId, Origin};
use crate::kubernetes;
use crate::logs::{LogSource, LogStream};
use crate::object::ObjectVersion;
use crate::observation::{Observation, Rejection};
use crate::recording::LogLines;
use crate::time::{SECOND, Stamp};

/// What is known of a paste before it is read.
#[derive(Clone, Debug)]
pub(crate) struct Paste<'p> {
    /// The file, and whose log it is if it holds one and does not say whose.
    pub(crate) source: &'p LogSource,
    pub(crate) log_lines: LogLines,
    pub(crate) max_line_bytes: usize,
    /// Pods that other files of the folder describe: a row of a table must not
    /// be taken for all that is known of them.
    pub(crate) described_beside: &'p [(String, String)],
    /// Other files of the folder hold objects as the API writes them.
    pub(crate) objects_beside: bool,
}

/// Told of each record: its line, and what became of it.
type Count<'c> = dyn FnMut(u64, Result<(), Rejection>) + 'c;

/// Reads a paste. Returns how many log lines were left out because a log is long.
pub(crate) fn read(
    text: &str,
    paste: &Paste<'_>,
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
    };
    for (number, capture) in captures.iter().enumerate() {
        reader.capture(number, capture);
    }
    reader.name_spaces();
    reader.set_moments();
    reader.tell();
    reader.tell_logs()
}

struct Reader<'r, 't> {
    paste: &'r Paste<'r>,
    out: &'r mut Vec<Observation>,
    count: &'r mut Count<'r>,
    /// With the number of its capture and its line.
    described: Vec<(usize, u64, Described<'t>)>,
    /// By capture.
    seen: Vec<Seen>,
    /// Objects of other rows, with their lines.
    objects: Vec<(u64, Value)>,
    logs: Vec<&'r Capture<'t>>,
}

impl<'r, 't> Reader<'r, 't> {
    fn capture(&mut self, number: usize, capture: &'r Capture<'t>) {
        let mut seen = Seen {
            commanded: capture.command.is_some(),
            ..Seen::default()
        };
        let command = capture.command.as_ref();
        match capture.shape {
            Shape::Describe => self.describe(number, capture, &mut seen),
            Shape::Table => self.table(capture, &mut seen),
            Shape::PodRows => {
                for line in &capture.lines {
                    match pod_row::parse(line.text) {
                        Some(row) => self.pod_row(row, line.number, command, &mut seen),
                        None => self.skip(line.number),
                    }
                }
            }
            Shape::Json | Shape::Yaml => self.objects(capture),
            Shape::Log => self.logs.push(capture),
            Shape::Date => {
                for line in &capture.lines {
                    if let Some(at) = date(line.words()) {
                        seen.moment.not_before(at.lo);
                        seen.moment.before(at.hi);
                    }
                }
            }
            Shape::Nothing => {
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

    fn describe(&mut self, number: usize, capture: &'r Capture<'t>, seen: &mut Seen) {
        let line = capture.lines.first().map_or(0, |line| line.number);
        let asked = capture
            .command
            .as_ref()
            .and_then(|command| command.kind.as_deref());
        let Some(one) = describe::read(&capture.lines, asked) else {
            let why = "a description of an object whose kind it does not tell".to_owned();
            return (self.count)(line, Err(Rejection::Irrelevant(why)));
        };
        let about = About {
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

    fn table(&mut self, capture: &'r Capture<'t>, seen: &mut Seen) {
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
        let asked = command.and_then(|command| command.kind.as_deref());
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
            let Some(kind) = named.or(by_columns).or(asked) else {
                self.skip(line.number);
                continue;
            };
            if kind == "Pod" {
                match pod_row::of(&cells).or_else(|| pod_row::parse(line.text)) {
                    Some(row) => self.pod_row(row, line.number, command, seen),
                    None => {
                        let why = "a row of pods that cannot be read".to_owned();
                        (self.count)(line.number, Err(Rejection::Malformed(why)));
                    }
                }
                continue;
            }
            let namespace = command.and_then(|command| command.namespace.as_deref());
            match row::other(kind, &cells, namespace) {
                Some(object) => {
                    self.objects.push((line.number, object));
                    (self.count)(line.number, Ok(()));
                }
                None => self.skip(line.number),
            }
        }
    }

    fn pod_row(&mut self, mut row: PodRow, line: u64, command: Option<&Command>, seen: &mut Seen) {
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
            Shape::Yaml => match crate::recording::yaml_to_json(&text) {
                Ok(value) => value.to_string(),
                Err(why) => return (self.count)(first.number, Err(Rejection::Malformed(why))),
            },
            _ => text,
        };
        let origin = self.origin(first.number);
        let result = kubernetes::decode(json.as_bytes(), None, &origin, self.out);
        (self.count)(first.number, result);
    }

    fn origin(&self, line: u64) -> Origin {
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
            for event in seen
                .events
                .iter_mut()
                .filter(|event| event.about.namespace.is_empty())
            {
                event.about.namespace = of(&event.about.name).unwrap_or_default();
            }
            for row in seen.pods.iter_mut().filter(|row| row.namespace.is_none()) {
                row.namespace = of(&row.name);
            }
        }
    }

    fn set_moments(&mut self) {
        let mut ends = anchor::Ends::new();
        for (_, _, one) in &self.described {
            anchor::ends(one, &mut ends);
        }
        anchor::share(&mut self.seen, &ends);
        anchor::in_order(&mut self.seen);
        for seen in &mut self.seen {
            let moment = seen.moment;
            for event in &mut seen.events {
                event.place(&moment);
            }
        }
    }

    fn tell(&mut self) {
        let events: Vec<Told> = self
            .seen
            .iter_mut()
            .flat_map(|seen| std::mem::take(&mut seen.events))
            .collect();
        let events = event::facts(events, &self.paste.source.file);
        for (number, line, one) in &self.described {
            let moment = self
                .seen
                .get(*number)
                .map(|seen| seen.moment)
                .unwrap_or_default();
            let mut told = Vec::new();
            let json = one.json.to_string();
            let result = kubernetes::decode(json.as_bytes(), None, &self.origin(*line), &mut told);
            if one.kind == "Pod" {
                untimed(&mut told, one, &events, &moment);
                if let Some(event) = terminating(&mut told, one, &moment) {
                    told.push(Observation::Event(Box::new(event)));
                }
            }
            made_at(&mut told, moment.stamp());
            self.out.append(&mut told);
            (self.count)(*line, result);
        }
        self.tell_rows();
        let events = events
            .into_iter()
            .map(|event| Observation::Event(Box::new(event)));
        self.out.extend(events);
    }

    fn tell_rows(&mut self) {
        let described: BTreeSet<&str> = self
            .described
            .iter()
            .map(|(_, _, one)| one.name.as_str())
            .chain(
                self.paste
                    .described_beside
                    .iter()
                    .map(|(_, name)| name.as_str()),
            )
            .collect();
        // Of several rows of one pod the last one is how it stands.
        let mut rows: BTreeMap<(Option<&str>, &str), (&PodRow, Moment)> = BTreeMap::new();
        for seen in &self.seen {
            for row in seen
                .pods
                .iter()
                .filter(|row| !described.contains(row.name.as_str()))
            {
                rows.insert((row.namespace.as_deref(), &row.name), (row, seen.moment));
            }
        }
        for (row, moment) in rows.into_values() {
            let object = row::pod(row, !self.paste.objects_beside);
            let mut told = Vec::new();
            // What is made here is sound, so nothing is refused.
            let _told = kubernetes::decode(
                object.to_string().as_bytes(),
                None,
                &self.origin(row.line),
                &mut told,
            );
            for observation in &mut told {
                if let Observation::Event(event) = observation {
                    event.entities.container = event
                        .entities
                        .container
                        .take()
                        .filter(|name| !name.is_empty());
                    if event.fact == "k8s.container.terminated"
                        && let Some(age) = row.restarted
                    {
                        event.time = moment.minus(Some(age));
                    }
                }
            }
            made_at(&mut told, moment.stamp());
            self.out.append(&mut told);
        }
        let described: BTreeSet<(&str, &str)> = self
            .described
            .iter()
            .map(|(_, _, one)| (one.kind.as_str(), one.name.as_str()))
            .collect();
        for (line, object) in &self.objects {
            let text = |path: &str| {
                object
                    .pointer(path)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            if described.contains(&(text("/kind"), text("/metadata/name"))) {
                continue;
            }
            let origin = self.origin(*line);
            let _told = kubernetes::decode(object.to_string().as_bytes(), None, &origin, self.out);
        }
    }

    fn tell_logs(&mut self) -> u64 {
        let mut left_out = 0;
        for capture in std::mem::take(&mut self.logs) {
            let source = self.source(capture);
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

    /// Whose log it is: as the command says, else as kubectl says, else the one
    /// pod that the paste speaks of.
    fn source(&self, capture: &Capture<'_>) -> LogSource {
        let mut source = self.paste.source.clone();
        let Some(command) = capture.command.as_ref() else {
            self.only_pod(&mut source, None);
            return source;
        };
        source.previous |= command.previous;
        let entities = &mut source.entities;
        if command.namespace.is_some() {
            entities.namespace.clone_from(&command.namespace);
        }
        if command.container.is_some() {
            entities.container.clone_from(&command.container);
        }
        let mut owner = None;
        if command.verb == Verb::Logs
            && let Some(name) = command.names.first()
        {
            if command.kind.as_deref() == Some("Pod") {
                entities.pod = Some(name.clone());
                entities.pod_uid = None;
            } else {
                entities.pod = None;
                owner = Some((command.kind.as_deref().unwrap_or_default(), name.as_str()));
            }
        }
        for line in capture.lines.iter().take(8) {
            said(line.words(), &mut source);
        }
        if source.entities.pod.is_none() {
            self.only_pod(&mut source, owner);
        }
        if let Some(pod) = &source.entities.pod {
            let described = self.described.iter().map(|(_, _, one)| one);
            if let Some(one) = described
                .into_iter()
                .find(|one| one.kind == "Pod" && one.name == *pod)
            {
                source
                    .entities
                    .namespace
                    .get_or_insert_with(|| one.namespace.clone());
                if let [container] = containers(one).as_slice() {
                    source
                        .entities
                        .container
                        .get_or_insert_with(|| (*container).to_owned());
                }
            }
        }
        source
    }

    /// The pod of a log that names none: the only one described here, of the
    /// workload that was asked for if there was one.
    fn only_pod(&self, source: &mut LogSource, owner: Option<(&str, &str)>) {
        let pods: BTreeMap<(&str, &str), &Described<'_>> = self
            .described
            .iter()
            .map(|(_, _, one)| one)
            .filter(|one| one.kind == "Pod" && owner.is_none_or(|owner| is_owned(one, owner)))
            .map(|one| ((one.namespace.as_str(), one.name.as_str()), one))
            .collect();
        if source.entities.pod.is_none()
            && pods.len() == 1
            && let Some(((namespace, name), one)) = pods.first_key_value()
        {
            source.entities.namespace =
                Some((*namespace).to_owned()).filter(|text| !text.is_empty());
            source.entities.pod = Some((*name).to_owned());
            if let [container] = containers(one).as_slice() {
                source
                    .entities
                    .container
                    .get_or_insert_with(|| (*container).to_owned());
            }
        }
    }
}

fn containers<'a>(one: &'a Described<'_>) -> Vec<&'a str> {
    let list = one
        .json
        .pointer("/spec/containers")
        .and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|container| container["name"].as_str())
        .collect()
}

fn is_owned(one: &Described<'_>, (kind, name): (&str, &str)) -> bool {
    let owner = one.json.pointer("/metadata/ownerReferences/0");
    let text = |key: &str| {
        owner
            .and_then(|owner| owner[key].as_str())
            .unwrap_or_default()
    };
    // A Deployment owns its pods through a ReplicaSet that is named after it.
    text("name") == name && text("kind") == kind
        || (kind == "Deployment"
            && text("kind") == "ReplicaSet"
            && text("name")
                .rsplit_once('-')
                .is_some_and(|(stem, _)| stem == name))
}

/// `Defaulted container "a" out of: a, b` and `Found 3 pods, using pod/run-0`.
fn said(text: &str, source: &mut LogSource) {
    if let Some(rest) = text.strip_prefix("Defaulted container \"")
        && let Some((name, _)) = rest.split_once('"')
    {
        source
            .entities
            .container
            .get_or_insert_with(|| name.to_owned());
    }
    if text.starts_with("Found ")
        && let Some((_, pod)) = text.split_once(", using pod/")
    {
        source.entities.pod = Some(pod.trim().to_owned());
    }
}

/// What the printed object tells without a time got one from elsewhere in it,
/// or none: it is known to have been so at the moment of the capture.
fn untimed(told: &mut [Observation], one: &Described<'_>, events: &[Event], moment: &Moment) {
    let ended = told.iter().find_map(|observation| match observation {
        Observation::Object(version) => version.body.ended,
        Observation::Event(_) | Observation::EventGrew { .. } => None,
    });
    let start = one
        .json
        .pointer("/status/startTime")
        .and_then(Value::as_str)
        .and_then(Stamp::parse);
    let since = match (start, moment.stamp()) {
        (Some(start), Some(moment)) => Stamp {
            lo: start.lo,
            hi: moment.hi,
        },
        _ => Stamp::OPEN,
    };
    for observation in told {
        let Observation::Event(event) = observation else {
            continue;
        };
        let reason = event.reason.as_deref().unwrap_or_default();
        let time = match event.fact.as_str() {
            "k8s.pod.status" | "k8s.pod.phase" if ended.is_some() => continue,
            "k8s.pod.status" => events
                .iter()
                .find(|other| {
                    other.entities.pod.as_deref() == Some(&one.name)
                        && other.reason.as_deref() == Some(reason)
                        && other.time != Stamp::OPEN
                })
                .map_or(since, |other| other.time),
            "k8s.pod.condition" | "k8s.pod.phase" => since,
            _ => continue,
        };
        event.time = time;
        let condition = event.attribute("condition").unwrap_or_default().to_owned();
        event.id = EventId::of(&[
            &event.fact,
            "text",
            &one.namespace,
            &one.name,
            reason,
            &condition,
        ]);
    }
}

/// `Status:  Terminating (lasts 5m)`: so long ago its grace period was over.
fn terminating(told: &mut [Observation], one: &Described<'_>, moment: &Moment) -> Option<Event> {
    let item = one.items.iter().find(|item| item.key == "Status")?;
    let lasts = item.value.strip_prefix("Terminating")?;
    let now = moment.stamp()?;
    let grace = one
        .items
        .iter()
        .find(|item| item.key == "Termination Grace Period")
        .and_then(|item| item.value.trim_end_matches('s').parse::<i64>().ok())
        .unwrap_or(0)
        .clamp(0, 1 << 31);
    let age = lasts
        .trim()
        .strip_prefix("(lasts ")
        .and_then(|text| super::age::Age::parse(text.trim_end_matches(')')));
    let asked = match age {
        Some(age) => moment.minus(Some(age)).shift(-grace * SECOND),
        // The grace period has not run out.
        None => Stamp {
            lo: now.lo.saturating_sub(grace * SECOND),
            hi: now.hi,
        },
    };
    let mut of = None;
    for observation in told {
        match observation {
            Observation::Object(version) => {
                version.body.deletion_requested = Some(asked);
                version.body.deletion_grace_s = Some(grace);
            }
            Observation::Event(event) if of.is_none() => of = Some((**event).clone()),
            _ => {}
        }
    }
    let fact = "k8s.pod.deletion_requested";
    let mut event = of?;
    event.id = EventId::of(&[fact, "text", &one.namespace, &one.name]);
    fact.clone_into(&mut event.fact);
    event.time = asked;
    event.end = None;
    event.reason = None;
    event.message = None;
    event.exit_code = None;
    event.entities.container = None;
    event.attributes.clear();
    event.set_attribute("grace_s", Some(grace));
    event.raw = item.text.to_owned();
    event.origin.line = item.number;
    Some(event)
}

/// An object was as it is shown when it was shown.
fn made_at(told: &mut [Observation], at: Option<Stamp>) {
    for observation in told {
        if let Observation::Object(version) = observation {
            let version: &mut ObjectVersion = version;
            version.at = at.or(version.at);
        }
    }
}

/// What `date` prints: `Tue Feb  3 10:00:05 UTC 2026`, or a form with an offset.
fn date(text: &str) -> Option<Stamp> {
    if let Some(stamp) = Stamp::parse(text) {
        return Some(stamp);
    }
    if let Ok(at) = chrono::DateTime::parse_from_rfc2822(text) {
        return at.timestamp_nanos_opt().map(Stamp::second);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    // Other zones' names stand for more than one offset.
    let at = words
        .iter()
        .position(|word| matches!(*word, "UTC" | "GMT"))?;
    let mut rest = words.clone();
    rest.remove(at);
    let plain = rest.join(" ");
    [
        "%a %b %d %H:%M:%S %Y",
        "%a %b %d %I:%M:%S %p %Y",
        "%a %d %b %Y %I:%M:%S %p",
        "%a %d %b %H:%M:%S %Y",
    ]
    .iter()
    .find_map(|form| chrono::NaiveDateTime::parse_from_str(&plain, form).ok())
    .and_then(|at| at.and_utc().timestamp_nanos_opt())
    .map(Stamp::second)
}
