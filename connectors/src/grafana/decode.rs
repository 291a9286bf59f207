//! One annotation.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::connector::Scope;
use crate::contract::{ForeignDecoder, ForeignOutput, ForeignRecord};
use crate::event::{Event, EventId, Origin, SourceKind};
use crate::observation::{Observation, Rejection};
use crate::prometheus::mentions;
use crate::redact::redact;
use crate::time::{Nanos, Stamp};

/// An item of `/api/annotations`.
pub(crate) const ANNOTATION: ForeignDecoder = ForeignDecoder {
    recognise: |fields, _| is_annotation(fields),
    decode: in_file,
    yaml: &[],
};

fn is_annotation(fields: &Map<String, Value>) -> bool {
    let has = |key: &str| fields.contains_key(key);
    has("id")
        && has("text")
        && fields.get("time").is_some_and(Value::is_i64)
        && fields
            .get("tags")
            .is_some_and(|tags| tags.is_array() || tags.is_null())
        && (has("dashboardUID") || has("dashboardId") || has("panelId") || has("timeEnd"))
}

fn in_file(record: ForeignRecord<'_>, emitted: &mut ForeignOutput) -> Result<(), Rejection> {
    let value = Value::Object(record.fields.clone());
    let found = annotation(&value, None, record.origin)?;
    let boxed = found.into_iter().map(Box::new);
    emitted.observations.extend(boxed.map(Observation::Event));
    Ok(())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Annotation {
    id: i64,
    time: i64,
    #[serde(default)]
    time_end: Option<i64>,
    #[serde(default)]
    text: String,
    #[serde(default)]
    tags: Option<Vec<String>>,
    #[serde(default)]
    user_name: Option<String>,
    #[serde(default)]
    login: Option<String>,
    #[serde(default)]
    alert_name: Option<String>,
    #[serde(default)]
    new_state: Option<String>,
    #[serde(default)]
    prev_state: Option<String>,
}

/// The annotation's number and time: what a page is known by.
pub(super) fn place(value: &Value) -> Option<(i64, i64)> {
    Some((value.get("time")?.as_i64()?, value.get("id")?.as_i64()?))
}

/// An annotation, once for each machine, pod and workload that it names; once
/// for nobody in particular where it names none. Tags such as `node:gpu-7` name
/// by themselves, text only what is asked about.
pub(super) fn annotation(
    value: &Value,
    scope: Option<&Scope>,
    origin: &Origin,
) -> Result<Vec<Event>, Rejection> {
    let one: Annotation =
        Annotation::deserialize(value).map_err(|error| Rejection::Malformed(error.to_string()))?;
    let tags = one.tags.unwrap_or_default();
    // What a tag is called may tell what stands in it.
    let text = redact(&plain(&redact(&one.text))).into_owned();
    let words = format!("{text} {}", tags.join(" "));
    let nanos = |millis: i64| millis.checked_mul(1_000_000);
    let lo = nanos(one.time)
        .ok_or_else(|| Rejection::Malformed(format!("{} is not a time", one.time)))?;
    let stamp = |lo: Nanos| Stamp {
        lo,
        hi: lo.saturating_add(1_000_000),
    };
    let end = one.time_end.filter(|end| *end > one.time).and_then(nanos);
    let mut out = Vec::new();
    for (kind, namespace, name) in named(&words, &tags, scope) {
        let parts = [
            "note.annotation",
            &one.id.to_string(),
            &one.time.to_string(),
            kind,
            &name,
        ];
        let id = EventId::of(&parts);
        let mut event = Event::new(id, "note.annotation", stamp(lo), SourceKind::Grafana);
        event.end = end.map(stamp);
        let who = one.login.clone().or_else(|| one.user_name.clone());
        event.actor = who.filter(|who| !who.is_empty());
        event.reason = one.new_state.clone().filter(|state| !state.is_empty());
        event.message = Some(match (text.is_empty(), &one.alert_name) {
            (true, Some(name)) => name.clone(),
            (true, None) => tags.join(", "),
            _ => text.clone(),
        });
        event.set_attribute("tags", Some(tags.join(",")).filter(|tags| !tags.is_empty()));
        event.set_attribute("alertname", one.alert_name.clone());
        event.set_attribute(
            "from",
            one.prev_state.clone().filter(|state| !state.is_empty()),
        );
        let name = Some(name).filter(|name| !name.is_empty());
        match kind {
            "node" => event.entities.node = name,
            "pod" => {
                event.entities.pod = name;
                event.entities.namespace = namespace;
            }
            "experiment" => event.entities.experiment = name,
            "" => {}
            kind => {
                event.entities.workload_kind = Some(kind.to_owned());
                event.entities.workload = name;
                event.entities.namespace = namespace;
            }
        }
        event.origin = origin.clone();
        event.raw = redact(&value.to_string()).into_owned();
        out.push(event);
    }
    Ok(out)
}

/// Who is meant: kind, namespace, name.
fn named<'s>(
    words: &str,
    tags: &[String],
    scope: Option<&'s Scope>,
) -> BTreeSet<(&'s str, Option<String>, String)> {
    let mut found: BTreeSet<(&str, Option<String>, String)> = BTreeSet::new();
    for tag in tags {
        let Some((key, value)) = tag.split_once([':', '=']) else {
            continue;
        };
        let kind = match key.trim() {
            "node" | "host" | "hostname" | "instance" => "node",
            "pod" => "pod",
            "experiment" => "experiment",
            _ => continue,
        };
        let value = value.trim();
        let known = scope.is_none_or(|scope| {
            let mut all = scope.nodes.iter().chain(&scope.pods).map(|one| &one.name);
            kind == "experiment" || all.any(|name| name == value)
        });
        if known && !value.is_empty() {
            found.insert((kind, None, value.to_owned()));
        }
    }
    if let Some(scope) = scope {
        let machines = scope.nodes.iter().chain(&scope.instances);
        for node in machines.filter(|node| mentions(words, &node.name)) {
            found.insert(("node", None, node.name.clone()));
        }
        for pod in scope.pods.iter().filter(|pod| mentions(words, &pod.name)) {
            found.insert(("pod", pod.namespace.clone(), pod.name.clone()));
        }
        for (kind, one) in &scope.workloads {
            if mentions(words, &one.name) {
                found.insert((kind, one.namespace.clone(), one.name.clone()));
            }
        }
    }
    if found.is_empty() {
        found.insert(("", None, String::new()));
    }
    found
}

/// The text without its markup.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        let (before, tag) = rest.split_at(open);
        out.push_str(before);
        let is_tag = tag[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        match tag.find('>').filter(|_| is_tag) {
            Some(close) => {
                if matches!(tag.get(1..3), Some("br" | "p>" | "/p")) {
                    out.push(' ');
                }
                rest = &tag[close + 1..];
            }
            None => {
                out.push('<');
                rest = &tag[1..];
            }
        }
    }
    out.push_str(rest);
    let text = out
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_left_out_and_comparisons_are_not() {
        assert_eq!(plain("<b>a</b> &lt; b<br/>c\n d"), "a < b c d");
        assert_eq!(plain("x < y and <3"), "x < y and <3");
    }
}
