//! Lines of logs: of containers, of nodes, of a machine's serial port.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::entry::Entry;
use crate::cloud::fact::{FactBuilder, set_message, set_text};
use crate::cloud::field;
use crate::contract::ForeignOutput;
use crate::contract::RecordedLine;
use crate::event::{Entities, Event, SourceKind};
use crate::node_log;
use crate::observation::{Observation, Rejection};

pub(super) fn decode(
    entry: &Entry<'_>,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let Some(text) = text(entry) else {
        return Err(Rejection::Irrelevant(format!(
            "an entry of the log {} without text",
            entry.log
        )));
    };
    if is_node_log(entry) {
        return node_lines(entry, facts, &text, emitted);
    }
    let container = entry.resource == "k8s_container" || entry.resource == "k8s_pod";
    let own = entry.resource == "gce_instance";
    if !container && !own {
        return Err(Rejection::Irrelevant(format!(
            "a line of the log {} of a {}",
            entry.log, entry.resource
        )));
    }
    emitted.lines.push(RecordedLine {
        stream: format!(
            "{}/{}",
            entry.log,
            entry.of_resource("instance_id").unwrap_or_default()
        ),
        time: entry.time.stamp,
        text: text.into_owned(),
        source_kind: SourceKind::Gcp,
        entities: entities(entry),
        severity: entry.text(&["severity"]).map(str::to_owned),
        attributes: attributes(entry),
        line: entry.record.origin.line,
    });
    Ok(())
}

/// The line: text, the journal's `MESSAGE`, or an object as the program logged it.
fn text<'e>(entry: &Entry<'e>) -> Option<Cow<'e, str>> {
    if let Some(text) = entry.text(&["textPayload"]) {
        return Some(Cow::Borrowed(text));
    }
    let payload = entry.object("jsonPayload")?;
    if let Some(text) = field::text(payload, &["MESSAGE"]) {
        return Some(Cow::Borrowed(text));
    }
    serde_json::to_string(payload).ok().map(Cow::Owned)
}

/// Logs of a machine's system rather than of a program that runs on it.
fn is_node_log(entry: &Entry<'_>) -> bool {
    const LOGS: [&str; 8] = [
        "kubelet",
        "container-runtime",
        "node-problem-detector",
        "kube-container-runtime-monitor",
        "kube-node-installation",
        "syslog",
        "kern",
        "kernel",
    ];
    entry.resource == "k8s_node"
        || entry.log.starts_with("serialconsole.googleapis.com/")
        || (entry.resource == "gce_instance" && LOGS.contains(&entry.log.as_str()))
}

fn node_lines(
    entry: &Entry<'_>,
    facts: &FactBuilder<'_>,
    text: &str,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let plain = without_colours(text);
    let journal = |key: &str| entry.text(&["jsonPayload", key]);
    let program = journal("SYSLOG_IDENTIFIER").or_else(|| journal("_COMM"));
    // The agent of a container runtime names its log after itself.
    let named = Some(entry.log.as_str()).filter(|_| entry.resource == "k8s_node");
    let program = program.or(named);
    let before = emitted.observations.len();
    let lines = plain.lines().map(str::trim).filter(|line| !line.is_empty());
    for (number, line) in lines.enumerate() {
        let event = node_line(entry, facts, line, number);
        let facts = node_log::emit(event, program);
        let facts = facts
            .into_iter()
            .map(|fact| Observation::Event(Box::new(fact)));
        emitted.observations.extend(facts);
    }
    if emitted.observations.len() == before {
        return Err(Rejection::Irrelevant(
            "lines of a machine's log that mean nothing".to_owned(),
        ));
    }
    Ok(())
}

/// One of the lines that an entry holds.
fn node_line(entry: &Entry<'_>, facts: &FactBuilder<'_>, line: &str, number: usize) -> Event {
    let machine = entry.machine(None);
    let node = entry
        .of_resource("node_name")
        .map(str::to_owned)
        .or_else(|| machine.name.clone())
        .or_else(|| entry.text(&["jsonPayload", "_HOSTNAME"]).map(str::to_owned));
    let about = node
        .clone()
        .or_else(|| machine.id.clone())
        .unwrap_or_default();
    let unique = entry.text(&["insertId"]).unwrap_or_default();
    let number = number.to_string();
    let mut event = facts.event("node.log", entry.time, &about, &[line, unique, &number]);
    if entry.resource == "gce_instance" {
        machine.name_in(&mut event);
    }
    event.entities.node = node;
    entry.place(&mut event);
    set_message(&mut event, line);
    let journal = |key: &str| entry.text(&["jsonPayload", key]);
    set_text(&mut event, "unit", journal("_SYSTEMD_UNIT"));
    set_text(&mut event, "boot_id", journal("_BOOT_ID"));
    set_text(&mut event, "log_name", Some(&entry.log));
    event
}

/// A serial port sends what a terminal would show.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(sequence) = rest.strip_prefix('[') {
            let end = sequence.find(|c: char| ('@'..='~').contains(&c));
            rest = end.map_or("", |end| &sequence[end + 1..]);
        }
    }
    plain.push_str(rest);
    plain.replace('\r', "")
}

fn entities(entry: &Entry<'_>) -> Entities {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let machine = entry.machine(None);
    Entities {
        cluster: owned(entry.of_resource("cluster_name")),
        namespace: owned(entry.of_resource("namespace_name")),
        pod: owned(entry.of_resource("pod_name")),
        container: owned(entry.of_resource("container_name")),
        node: owned(entry.text(&["labels", "compute.googleapis.com/resource_name"])),
        instance: machine.id,
        zone: machine.zone,
        experiment: [
            "k8s-pod/experiment",
            "k8s-pod/experiment-name",
            "k8s-pod/experiment_name",
        ]
        .iter()
        .find_map(|label| owned(entry.text(&["labels", label]))),
        ..Entities::default()
    }
}

fn attributes(entry: &Entry<'_>) -> Map<String, Value> {
    let mut attributes = Map::new();
    attributes.insert("log_name".to_owned(), Value::from(entry.log.clone()));
    if let Some(labels) = entry.object("labels") {
        let kept: Map<String, Value> = labels
            .iter()
            .filter_map(|(key, value)| {
                let text = crate::redact::redact(value.as_str()?).into_owned();
                Some((key.strip_prefix("k8s-pod/")?.to_owned(), Value::from(text)))
            })
            .collect();
        if !kept.is_empty() {
            attributes.insert("labels".to_owned(), Value::Object(kept));
        }
    }
    attributes
}
