//! Secrets in what has more form than a text: maps, lists of arguments, observations.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::{MASK, redact};
use crate::event::{Entities, Event};
use crate::object::{ObjectBody, ObjectVersion};
use crate::observation::Observation;

/// Takes secrets out of the value of a key, which may be telling: `db-password`.
#[must_use]
pub fn value<'a>(key: &str, text: &'a str) -> Cow<'a, str> {
    let clean = redact(text);
    if text.is_empty() || !may_be_secret(key) {
        return clean;
    }
    // As it would stand in a text; what is masked there is masked here.
    let name = key.rsplit(['/', '.']).next().unwrap_or(key);
    let emitted = format!("{name}={clean}");
    let begin = name.len() + 1;
    match redact(&emitted) {
        Cow::Borrowed(_) => clean,
        Cow::Owned(emitted)
            if emitted
                .get(begin..)
                .is_some_and(|emitted| emitted.starts_with(MASK)) =>
        {
            // All of it: a value may have several words.
            Cow::Borrowed(MASK)
        }
        Cow::Owned(emitted) => match emitted.get(begin..) {
            Some(emitted) => Cow::Owned(emitted.to_owned()),
            None => Cow::Borrowed(MASK),
        },
    }
}

/// Whether a key has a word that a rule begins with; cheap for those that have none.
pub(super) fn may_be_secret(key: &str) -> bool {
    const WORDS: [&str; 13] = [
        "pass",
        "pwd",
        "pw",
        "assertion",
        "phrase",
        "mnemonic",
        "secret",
        "token",
        "key",
        "credential",
        "auth",
        "cookie",
        "signature",
    ];
    let key = key.to_ascii_lowercase();
    WORDS.iter().any(|word| key.contains(word))
}

/// Takes secrets out of the words of a command, where one word may tell what the
/// next one is.
#[must_use]
pub fn arguments(words: Vec<String>) -> Vec<String> {
    let Ok(list) = serde_json::to_string(&words) else {
        return words;
    };
    match redact(&list) {
        Cow::Borrowed(_) => words,
        Cow::Owned(clean) => match serde_json::from_str::<Vec<String>>(&clean) {
            Ok(clean) if clean.len() == words.len() => clean,
            // What reaches over several words leaves no list: then word by word.
            _ => words
                .iter()
                .map(|word| match redact(word) {
                    Cow::Borrowed(word) if !clean.contains(word) => MASK.to_owned(),
                    clean => clean.into_owned(),
                })
                .collect(),
        },
    }
}

/// Takes secrets out of everything that an observation tells beside its text and its
/// original record, which decoders redact as they make them.
pub fn observation(emitted: &mut Observation) {
    match emitted {
        Observation::Event(fact) => event(fact),
        Observation::Object(found) => version(found),
        Observation::EventGrew { .. } => {}
    }
}

/// Takes secrets out of a fact that was kept before some of the rules were there.
pub fn fact(fact: &mut Event) {
    event(fact);
    replace(&mut fact.raw);
    if let Some(text) = &mut fact.message {
        replace(text);
    }
}

fn event(event: &mut Event) {
    let texts = [&mut event.reason, &mut event.actor, &mut event.severity];
    for text in texts.into_iter().flatten() {
        replace(text);
    }
    if let Some(uid) = &mut event.object_uid {
        name(uid);
    }
    names(&mut event.entities);
    for (key, one) in &mut event.attributes {
        json(key, one, 8);
    }
}

/// Whoever makes a record can write anything where a name is expected.
fn names(entities: &mut Entities) {
    // All of them, so that none is forgotten.
    let Entities {
        cluster,
        namespace,
        workload_kind,
        workload,
        pod,
        pod_uid,
        container,
        node,
        instance,
        host,
        zone,
        experiment,
    } = entities;
    let texts = [
        cluster,
        namespace,
        workload_kind,
        workload,
        pod,
        pod_uid,
        container,
        node,
        instance,
        host,
        zone,
        experiment,
    ];
    for text in texts.into_iter().flatten() {
        name(text);
    }
}

/// What is made of small letters, digits, dashes and dots only is a name: it has no sign
/// by which a secret is told, unless a part of it is as long as a token.
fn name(text: &mut String) {
    /// Parts of uids and of generated names are shorter.
    const TOKEN: usize = 24;
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    let is_long =
        |part: &str| part.len() >= TOKEN && part.bytes().any(|byte| byte.is_ascii_digit());
    if text.split(['-', '.']).any(is_long) || !text.bytes().all(plain) {
        replace(text);
    }
}

/// Takes secrets out of a version of an object.
pub fn version(version: &mut ObjectVersion) {
    if let Some(by) = &mut version.by {
        replace(by);
    }
    // The same names as in events, so that they still meet.
    name(&mut version.key.namespace);
    name(&mut version.key.name);
    name(&mut version.key.uid);
    body(&mut version.body);
}

/// Takes secrets out of the body of a version of an object: out of every text that
/// somebody can write as they like.
pub(super) fn body(body: &mut ObjectBody) {
    map(&mut body.annotations);
    map(&mut body.labels);
    map(&mut body.node_selector);
    body.allocatable.values_mut().for_each(name);
    for container in &mut body.containers {
        container.command = arguments(std::mem::take(&mut container.command));
        replace(&mut container.image);
        name(&mut container.name);
        container.requests.values_mut().for_each(name);
        container.limits.values_mut().for_each(name);
    }
    for taint in &mut body.taints {
        set(&taint.key, &mut taint.value);
        name(&mut taint.key);
        replace(&mut taint.effect);
    }
    let texts = [
        &mut body.node,
        &mut body.phase,
        &mut body.restart_policy,
        &mut body.priority_class,
        &mut body.tolerations,
        &mut body.provider_id,
        &mut body.boot_id,
    ];
    for text in texts.into_iter().flatten() {
        name(text);
    }
    for text in body.claims.iter_mut().chain(&mut body.waits) {
        name(text);
    }
    for owner in &mut body.owners {
        name(&mut owner.name);
    }
    if let Some(writer) = &mut body.unschedulable_by {
        replace(&mut writer.manager);
    }
}

fn map(map: &mut BTreeMap<String, String>) {
    for (key, text) in map {
        set(key, text);
    }
}

fn json(key: &str, one: &mut Value, depth: u8) {
    match one {
        Value::String(text) => set(key, text),
        Value::Array(items) if depth > 0 => {
            for item in items {
                json(key, item, depth - 1);
            }
        }
        Value::Object(fields) if depth > 0 => {
            for (key, value) in fields {
                json(key, value, depth - 1);
            }
        }
        _ => {}
    }
}

fn set(key: &str, text: &mut String) {
    let clean = value(key, text);
    if clean != *text {
        *text = clean.into_owned();
    }
}

fn replace(text: &mut String) {
    if let Cow::Owned(clean) = redact(text) {
        *text = clean;
    }
}
