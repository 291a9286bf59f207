//! Alerts and silences of the API's second version.

use std::collections::BTreeSet;

use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::contract::{ForeignDecoder, ForeignOutput, ForeignRecord};
use crate::event::{Event, EventId, Origin, SourceKind};
use crate::observation::{Observation, Rejection};
use crate::prometheus::emit::alert::about;
use crate::prometheus::{Labels, Names, host, mentions};
use crate::time::{Nanos, SECOND, Stamp};

/// Machines and pods that one silence is told of.
const MOST: usize = 256;

/// An item of `/api/v2/alerts`.
pub(crate) const ALERT: ForeignDecoder = ForeignDecoder {
    recognise: |fields, _| {
        has(fields, &["labels", "startsAt", "endsAt"])
            && (fields.contains_key("fingerprint") || fields.contains_key("generatorURL"))
    },
    decode: |record, emitted| in_file(record, emitted, alert),
    yaml: &[],
};

/// An item of `/api/v2/silences`.
pub(crate) const SILENCE: ForeignDecoder = ForeignDecoder {
    recognise: |fields, _| has(fields, &["matchers", "startsAt", "endsAt", "createdBy"]),
    decode: |record, emitted| in_file(record, emitted, silence),
    yaml: &[],
};

fn has(fields: &Map<String, Value>, keys: &[&str]) -> bool {
    keys.iter().all(|key| fields.contains_key(*key))
}

/// Who there is, and when it is.
pub(super) struct KnownEntities<'a> {
    pub(super) names: &'a Names,
    /// Machines; empty where nobody asked about any.
    pub(super) nodes: &'a BTreeSet<String>,
    /// Pods by name with their namespaces.
    pub(super) pods: &'a BTreeSet<(String, Option<String>)>,
    /// A file, or a question about nobody in particular: everybody is meant.
    pub(super) any: bool,
    /// The present, by which an alert is over or not.
    pub(super) now: Option<Nanos>,
    pub(super) origin: Origin,
}

type Decode = fn(&Value, &KnownEntities<'_>) -> Result<Vec<Event>, Rejection>;

fn in_file(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
    decode: Decode,
) -> Result<(), Rejection> {
    let nobody = (Names::default(), BTreeSet::new(), BTreeSet::new());
    let known = KnownEntities {
        names: &nobody.0,
        nodes: &nobody.1,
        pods: &nobody.2,
        any: true,
        now: None,
        origin: record.origin.clone(),
    };
    let found = decode(&Value::Object(record.fields.clone()), &known)?;
    let boxed = found.into_iter().map(Box::new);
    emitted.observations.extend(boxed.map(Observation::Event));
    Ok(())
}

fn read<T: for<'de> Deserialize<'de>>(value: &Value) -> Result<T, Rejection> {
    T::deserialize(value).map_err(|error| Rejection::Malformed(error.to_string()))
}

fn time(text: &str) -> Result<Stamp, Rejection> {
    Stamp::parse(text).ok_or_else(|| Rejection::Malformed(format!("{text:?} is not a valid time")))
}

#[derive(Deserialize)]
struct Alert {
    labels: Labels,
    #[serde(default)]
    annotations: Labels,
    #[serde(rename = "startsAt")]
    starts: String,
    #[serde(rename = "endsAt")]
    ends: String,
    #[serde(rename = "updatedAt")]
    updated: Option<String>,
    fingerprint: Option<String>,
    #[serde(default)]
    status: State,
}

#[derive(Default, Deserialize)]
struct State {
    state: Option<String>,
    #[serde(default, rename = "silencedBy")]
    silenced_by: Vec<String>,
}

/// An alert. Its end lies in the future while it fires: only one that is past is an end.
pub(super) fn alert(value: &Value, known: &KnownEntities<'_>) -> Result<Vec<Event>, Rejection> {
    let alert: Alert = read(value)?;
    let name = alert.labels.get("alertname").map_or("", String::as_str);
    let begin = time(&alert.starts)?;
    let updated = alert.updated.as_deref().and_then(Stamp::parse);
    let now = known.now.or(updated.map(|at| at.lo));
    let end = Stamp::parse(&alert.ends).filter(|end| now.is_some_and(|now| end.lo <= now));
    let is_known = |namespace: Option<&str>, pod: &str| {
        let same = |(name, own): &(String, Option<String>)| {
            name == pod && (own.is_none() || namespace.is_none() || own.as_deref() == namespace)
        };
        known.any || known.pods.iter().any(same)
    };
    let whose = about(known.names, (name, &alert.labels), &is_known, known.any);
    let print = alert
        .fingerprint
        .unwrap_or_else(|| format!("{:?}", alert.labels));
    let seconds = begin.lo.div_euclid(SECOND).to_string();
    let id = EventId::of(&["alert.fired", "alertmanager", &print, &seconds]);
    let mut event = Event::new(id, "alert.fired", begin, SourceKind::Alertmanager);
    event.end = end;
    event.severity = alert.labels.get("severity").cloned();
    event.reason = Some(name.to_owned()).filter(|name| !name.is_empty());
    let words = ["summary", "description", "message"];
    let words = words
        .iter()
        .find_map(|key| alert.annotations.get(*key))
        .cloned();
    event.message = words.or_else(|| {
        let labels = alert
            .labels
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        Some(labels.collect::<Vec<_>>().join(", "))
    });
    event.entities.node = whose.node;
    event.entities.namespace = whose.namespace;
    event.entities.pod = whose.pod;
    event.set_attribute("alertname", Some(name));
    event.set_attribute("state", alert.status.state);
    let silenced = alert.status.silenced_by.join(",");
    event.set_attribute("silenced_by", Some(silenced).filter(|by| !by.is_empty()));
    finish(event, value, known)
}

#[derive(Deserialize)]
struct Silence {
    id: Option<String>,
    #[serde(default)]
    status: State,
    #[serde(rename = "startsAt")]
    starts: String,
    #[serde(rename = "endsAt")]
    ends: String,
    #[serde(rename = "createdBy")]
    by: String,
    #[serde(default)]
    comment: String,
    matchers: Vec<Matcher>,
}

#[derive(Deserialize)]
struct Matcher {
    name: String,
    value: String,
    #[serde(default, rename = "isRegex")]
    is_regex: bool,
    #[serde(default = "yes", rename = "isEqual")]
    is_equal: bool,
}

fn yes() -> bool {
    true
}

impl Matcher {
    fn words(&self) -> String {
        let how = match (self.is_equal, self.is_regex) {
            (true, false) => "=",
            (false, false) => "!=",
            (true, true) => "=~",
            (false, true) => "!~",
        };
        format!("{}{how}{:?}", self.name, self.value)
    }

    /// Which of the known names it means; where none are known, those that it spells out.
    fn means<'k>(&'k self, all: &mut dyn Iterator<Item = &'k str>, any: bool) -> Vec<&'k str> {
        if !self.is_equal {
            return Vec::new();
        }
        let of_targets = self.name == "instance";
        if any {
            let spelled = self
                .value
                .trim_start_matches("(?:")
                .trim_matches(['^', '$', '(', ')']);
            let one = |name: &&str| {
                let plain = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
                !name.is_empty() && name.chars().all(plain)
            };
            let names: Vec<&str> = if self.is_regex {
                spelled
                    .split('|')
                    .map(|name| name.trim_end_matches(".*"))
                    .collect()
            } else {
                vec![self.value.as_str()]
            };
            let own = |name: &'k str| if of_targets { host(name) } else { name };
            return names.into_iter().filter(one).map(own).collect();
        }
        let pattern = match self.is_regex {
            true => Regex::new(&format!("^(?:{})$", self.value)).ok(),
            false => None,
        };
        let fits = |name: &str| match &pattern {
            // Any port will do.
            Some(pattern) => {
                pattern.is_match(name) || (of_targets && pattern.is_match(&format!("{name}:9100")))
            }
            None if self.is_regex => false,
            None if of_targets => host(&self.value) == name,
            None => self.value == name,
        };
        all.filter(|name| fits(name)).collect()
    }
}

/// A silence, once for each machine and pod that it names, by its matchers or
/// in its comment; once for nobody in particular where it names none.
pub(super) fn silence(value: &Value, known: &KnownEntities<'_>) -> Result<Vec<Event>, Rejection> {
    const OF_NODES: [&str; 7] = [
        "node",
        "exported_node",
        "kubernetes_node",
        "nodename",
        "Hostname",
        "hostname",
        "instance",
    ];
    let silence: Silence = read(value)?;
    let begin = time(&silence.starts)?;
    let end = time(&silence.ends)?;
    let (mut nodes, mut pods) = (BTreeSet::new(), BTreeSet::new());
    for matcher in &silence.matchers {
        if OF_NODES.contains(&matcher.name.as_str()) {
            let mut all = known.nodes.iter().map(String::as_str);
            nodes.extend(matcher.means(&mut all, known.any));
        } else if matches!(matcher.name.as_str(), "pod" | "exported_pod") {
            let mut all = known.pods.iter().map(|(name, _)| name.as_str());
            pods.extend(matcher.means(&mut all, known.any));
        }
    }
    let named = known
        .nodes
        .iter()
        .filter(|node| mentions(&silence.comment, node));
    nodes.extend(named.map(String::as_str));
    let namespace = silence
        .matchers
        .iter()
        .find(|one| one.name == "namespace" && one.is_equal && !one.is_regex);
    let all = nodes.into_iter().map(|name| (Some(name), None));
    let all = all.chain(pods.into_iter().map(|name| (None, Some(name))));
    let mut whose: Vec<(Option<&str>, Option<&str>)> = all.take(MOST).collect();
    if whose.is_empty() {
        whose.push((None, None));
    }
    let words: Vec<String> = silence.matchers.iter().map(Matcher::words).collect();
    let seconds = begin.lo.div_euclid(SECOND).to_string();
    let id = silence.id.as_deref().unwrap_or(&silence.comment);
    let mut out = Vec::new();
    for (node, pod) in whose {
        let name = node.or(pod).unwrap_or_default();
        let id = EventId::of(&["alert.silence", id, &seconds, name]);
        let mut event = Event::new(id, "alert.silence", begin, SourceKind::Alertmanager);
        event.end = Some(end);
        event.actor = Some(silence.by.clone()).filter(|by| !by.is_empty());
        event.reason.clone_from(&silence.status.state);
        event.message = Some(format!("{} ({})", silence.comment, words.join(", ")));
        event.entities.node = node.map(str::to_owned);
        event.entities.pod = pod.map(str::to_owned);
        event.entities.namespace = pod.and(namespace).map(|one| one.value.clone());
        event.set_attribute("scheduled_from", Some(silence.starts.clone()));
        event.set_attribute("scheduled_to", Some(silence.ends.clone()));
        out.extend(finish(event, value, known)?);
    }
    Ok(out)
}

fn finish(
    mut event: Event,
    value: &Value,
    known: &KnownEntities<'_>,
) -> Result<Vec<Event>, Rejection> {
    event.observed = known.now;
    event.origin = known.origin.clone();
    event.raw = crate::redact::redact(&value.to_string()).into_owned();
    let message = event.message.take();
    event.message = message.map(|text| crate::redact::redact(&text).into_owned());
    Ok(vec![event])
}
