//! Kubernetes Events that an agent sent to a log store as lines.
//!
//! | who | line |
//! |---|---|
//! | Alloy and Grafana Agent, `loki.source.kubernetes_events` | `name=… kind=… reason=… type=… count=… msg="…"`, or the same as JSON; the namespace is a label |
//! | kubernetes-event-exporter | the Event as JSON |
//! | eventrouter | `{"verb", "event", "old_event"}` |
//! | OpenTelemetry's k8sobjects | `{"type", "object"}`, a line of a watch |
//!
//! Whole Events are decoded as those of the API, so the same Event is one fact
//! whoever shows it. Alloy leaves out the Event's name and its first time: its
//! Event is known by its object, reason, message and first second, as Events are
//! that no recorder named.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::carried::event as carried_event;
use super::contract::StoredLine;
use crate::contract::LabelNames;
use crate::event::{Origin, SourceKind};
use crate::kubernetes;
use crate::logs::unwrapped;
use crate::observation::{Observation, Rejection};
use crate::redact::redact;
use crate::time::{SECOND, rfc3339};

/// What Alloy and the Agent call the job of the streams of Events, if they are not told otherwise.
const JOBS: [&str; 4] = [
    "eventhandler",
    "integrations/kubernetes/eventhandler",
    "loki.source.kubernetes_events",
    "integrations/kubernetes_events",
];

/// Labels of such a stream: it has none of a pod. Whoever runs one chooses the values of others.
const STREAM: [&str; 9] = [
    "agent",
    "cluster",
    "detected_level",
    "instance",
    "job",
    "k8s_cluster_name",
    "level",
    "namespace",
    "service_name",
];

/// Whether a line is of a stream of Events as Alloy and the Agent write them, and holds one.
pub(super) fn is_of_agent(line: &StoredLine, names: &LabelNames) -> bool {
    let label = |name: &str| line.labels.get(name).map(String::as_str);
    let mut all = line.labels.keys().chain(line.metadata.keys());
    let by_job = label("job").is_some_and(|job| JOBS.contains(&job));
    by_job
        && all.all(|name| STREAM.contains(&name.as_str()))
        && LogfmtEvent::read(&unwrapped(&line.text), line, names).is_some()
}

/// Tells the Events in lines of a store, which are in order of time; how many lines are none.
pub(crate) fn emit(
    lines: &[StoredLine],
    store: SourceKind,
    names: &LabelNames,
    place: &Arc<str>,
    out: &mut Vec<Observation>,
) -> usize {
    let mut none = 0;
    let mut short: BTreeMap<[String; 5], Vec<LogfmtEvent<'_>>> = BTreeMap::new();
    for line in lines {
        let text = unwrapped(&line.text);
        if let Some(event) = carried_event(&text) {
            let emitted = decode(&event, (line, store), names, place, out);
            none += usize::from(emitted.is_err());
        } else if let Some(one) = LogfmtEvent::read(&text, line, names) {
            let group = short.entry(one.key()).or_default();
            match group.last_mut() {
                // The same Event again, which has grown.
                Some(last) if one.count > last.count.max(1) => {
                    (last.count, last.line) = (one.count, one.line);
                }
                Some(last) if one.count == last.count && one.line.stamp == last.line.stamp => {}
                _ => group.push(one),
            }
        } else {
            none += 1;
        }
    }
    for one in short.into_values().flatten() {
        let emitted = decode(&one.as_event(), (one.line, store), names, place, out);
        none += usize::from(emitted.is_err());
    }
    none
}

fn decode(
    event: &Value,
    (line, store): (&StoredLine, SourceKind),
    names: &LabelNames,
    place: &Arc<str>,
    out: &mut Vec<Observation>,
) -> Result<(), Rejection> {
    let origin = Origin {
        file: Arc::clone(place),
        line: line.number,
    };
    let mut emitted = Vec::new();
    kubernetes::decode(event.to_string().as_bytes(), None, &origin, &mut emitted)?;
    let cluster = event.get("clusterName").and_then(Value::as_str);
    for observation in &mut emitted {
        if let Observation::Event(fact) = observation {
            fact.source_kind = store;
            fact.raw = redact(&line.text).into_owned();
            let known = names.entities(&line.labels).cluster;
            fact.entities.cluster = fact
                .entities
                .cluster
                .take()
                .or(known)
                .or_else(|| cluster.map(str::to_owned));
        }
    }
    out.append(&mut emitted);
    Ok(())
}

/// An Event as Alloy writes it.
struct LogfmtEvent<'l> {
    fields: Map<String, Value>,
    namespace: String,
    /// 0 where it does not say.
    count: u64,
    /// The line that showed it first.
    first: &'l StoredLine,
    /// The line that showed it last.
    line: &'l StoredLine,
}

impl<'l> LogfmtEvent<'l> {
    fn read(text: &str, line: &'l StoredLine, names: &LabelNames) -> Option<Self> {
        let fields = if text.starts_with('{') {
            serde_json::from_str(text).ok()?
        } else {
            logfmt(text)
        };
        let has = |key: &str| fields.get(key).is_some_and(Value::is_string);
        if !(has("name") && has("msg") && (has("reason") || has("kind"))) {
            return None;
        }
        let count = match fields.get("count") {
            Some(Value::Number(count)) => count.as_u64(),
            Some(Value::String(count)) => count.parse().ok(),
            _ => None,
        };
        Some(Self {
            count: count.unwrap_or(0),
            namespace: names.entities(&line.labels).namespace.unwrap_or_default(),
            fields,
            first: line,
            line,
        })
    }

    fn text(&self, key: &str) -> &str {
        self.fields
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn key(&self) -> [String; 5] {
        let text = |key| self.text(key).to_owned();
        [
            self.namespace.clone(),
            text("kind"),
            text("name"),
            text("reason"),
            text("msg"),
        ]
    }

    /// The same as the API would have it, as far as the line tells. Its time is
    /// that of the last occurrence, to the second, or to less the only one.
    fn as_event(&self) -> Value {
        // Events of what has no namespace are kept in this one.
        let namespace = if self.namespace.is_empty() {
            "default"
        } else {
            &self.namespace
        };
        let mut event = json!({
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": { "namespace": namespace },
            "involvedObject": {
                "kind": self.text("kind"),
                "namespace": self.namespace,
                "name": self.text("name"),
                "apiVersion": self.text("objectAPIversion"),
            },
            "reason": self.text("reason"),
            "message": self.text("msg"),
            "type": self.text("type"),
            "action": self.text("action"),
            "source": { "component": self.text("sourcecomponent"), "host": self.text("sourcehost") },
            "reportingComponent": self.text("reportingcontroller"),
        });
        let (first, last) = (self.first.stamp.lo, self.line.stamp.lo);
        if last % SECOND != 0 {
            event["eventTime"] = rfc3339(first).into();
        } else {
            event["lastTimestamp"] = rfc3339(last).into();
            let shown = self.first.order != self.line.order || first != last;
            if self.count <= 1 || shown {
                event["firstTimestamp"] = rfc3339(first).into();
            }
        }
        if self.count > 0 {
            event["count"] = self.count.into();
        }
        event
    }
}

/// `key=value key="value with \"escapes\""`; what is not of this form is passed over.
fn logfmt(text: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut rest = text.trim_start();
    while let Some((key, after)) = rest.split_once('=') {
        let key = key.rsplit(' ').next().unwrap_or(key);
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => unquote(quoted),
            None => {
                let end = after.find(' ').unwrap_or(after.len());
                (after[..end].to_owned(), &after[end..])
            }
        };
        if !key.is_empty() {
            fields.entry(key.to_owned()).or_insert(Value::String(value));
        }
        rest = next.trim_start();
    }
    fields
}

/// A Go string up to its closing quote, and what follows.
fn unquote(text: &str) -> (String, &str) {
    let mut out = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (out, &text[at + 1..]),
            '\\' => match letters.next().map(|(_, escape)| escape) {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(kind @ ('x' | 'u' | 'U')) => {
                    let digits = match kind {
                        'x' => 2,
                        'u' => 4,
                        _ => 8,
                    };
                    let hex: String = letters.by_ref().take(digits).map(|(_, hex)| hex).collect();
                    let code = u32::from_str_radix(&hex, 16).ok();
                    out.push(code.and_then(char::from_u32).unwrap_or('\u{fffd}'));
                }
                Some(other) => out.push(other),
                None => break,
            },
            other => out.push(other),
        }
    }
    (out, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::log_store::emitted;
    use crate::time::Stamp;

    fn told(labels: &[(&str, &str)], text: &str) -> Vec<Event> {
        let pairs = labels
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let line = StoredLine {
            stamp: Stamp::exact(SECOND),
            text: text.to_owned(),
            labels: Arc::new(pairs.collect()),
            metadata: crate::contract::Labels::new(),
            id: None,
            order: 0,
            number: 0,
        };
        emitted(&[line], None)
    }

    #[test]
    fn an_agent_s_stream_of_events_holds_events() {
        let text = r#"name=run-0 kind=Pod objectAPIversion=v1 reason=Killing type=Normal count=1 msg="Stopping container trainer" "#;
        let stream = [
            ("job", "loki.source.kubernetes_events"),
            ("namespace", "n"),
            ("instance", "a"),
        ];
        let events = told(&stream, text);
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].fact, "k8s.event");
        assert_eq!(events[0].reason.as_deref(), Some("Killing"));
        assert_eq!(events[0].entities.pod.as_deref(), Some("run-0"));
        // Whoever runs a pod may write that, and call itself so.
        for other in [("pod", "run-0"), ("container", "trainer")] {
            let stream = [stream.as_slice(), &[other]].concat();
            assert_eq!(told(&stream, text)[0].fact, "log.line");
        }
        assert_eq!(
            told(&[("job", "train"), ("namespace", "n")], text)[0].fact,
            "log.line"
        );
    }
}
