//! Whose log a paste holds.

use std::collections::BTreeMap;

use serde_json::Value;

use super::command::Verb;
use super::describe::Described;
use super::session::Capture;
use crate::logs::LogSource;

/// Whose log it is: as the command says, else as kubectl says, else the one
/// pod that the paste speaks of.
pub(super) fn source(
    known: &LogSource,
    capture: &Capture<'_>,
    described: &[&Described<'_>],
) -> LogSource {
    let mut source = known.clone();
    let Some(command) = capture.command.as_ref() else {
        only_pod(described, &mut source, None);
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
        read_notice(line.words(), &mut source);
    }
    if source.entities.pod.is_none() {
        only_pod(described, &mut source, owner);
    }
    if let Some(pod) = &source.entities.pod
        && let Some(one) = described
            .iter()
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
    source
}

/// The pod of a log that names none: the only one described here, of the
/// workload that was asked for if there was one.
fn only_pod(described: &[&Described<'_>], source: &mut LogSource, owner: Option<(&str, &str)>) {
    let pods: BTreeMap<(&str, &str), &Described<'_>> = described
        .iter()
        .copied()
        .filter(|one| one.kind == "Pod" && owner.is_none_or(|owner| is_owned(one, owner)))
        .map(|one| ((one.namespace.as_str(), one.name.as_str()), one))
        .collect();
    if source.entities.pod.is_none()
        && pods.len() == 1
        && let Some(((namespace, name), one)) = pods.first_key_value()
    {
        source.entities.namespace = Some((*namespace).to_owned()).filter(|text| !text.is_empty());
        source.entities.pod = Some((*name).to_owned());
        if let [container] = containers(one).as_slice() {
            source
                .entities
                .container
                .get_or_insert_with(|| (*container).to_owned());
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
fn read_notice(text: &str, source: &mut LogSource) {
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
