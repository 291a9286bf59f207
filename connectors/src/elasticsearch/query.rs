//! Questions as queries. Names are values of JSON; nothing is put together as text
//! but the telling words, which are ours.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fields::{Field, Fields, Match};
use crate::http::HttpError;
use crate::log_store::{EvidenceWords, LineSubject, PodRef, Span};
use crate::time::rfc3339;

/// How telling words are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordMatch {
    /// Within words, too: `RuntimeError` holds `error`.
    Within,
    /// Only where words begin, for servers that refuse the first.
    Beginning,
}

/// Any of several queries.
fn any(of: &[Value]) -> Value {
    json!({ "bool": { "should": of, "minimum_should_match": 1 } })
}

/// Any of these names in any of these fields.
fn named(fields: &[Field], names: &[&str]) -> Vec<Value> {
    let mut found = Vec::new();
    for Field { name: field, by } in fields {
        match by {
            Match::Term => found.push(json!({ "terms": { field.as_str(): names } })),
            Match::Phrase => found.extend(
                names
                    .iter()
                    .map(|name| json!({ "match_phrase": { field.as_str(): name } })),
            ),
        }
    }
    found
}

/// Whose lines.
///
/// # Errors
/// Where no field could tell.
pub(super) fn about(fields: &Fields, about: &LineSubject) -> Result<Value, HttpError> {
    match about {
        LineSubject::Pods(pods) => of_pods(fields, pods),
        LineSubject::Nodes(nodes) => Ok(of_nodes(fields, nodes)),
        LineSubject::Experiment(name) => Ok(of_experiment(fields, name)),
    }
}

fn none(what: &str) -> HttpError {
    HttpError::BadRequest(format!(
        "no field of these indices holds {what}: name it in the configuration, or check the index pattern"
    ))
}

fn of_pods(fields: &Fields, pods: &[PodRef]) -> Result<Value, HttpError> {
    if fields.pod.is_empty() {
        return Err(none("pods"));
    }
    let mut by_namespace: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
    for pod in pods {
        let names = by_namespace.entry(pod.namespace.as_deref()).or_default();
        names.push(&pod.name);
    }
    let parts = by_namespace.into_iter().map(|(namespace, names)| {
        let mut filter = vec![any(&named(&fields.pod, &names))];
        if let Some(namespace) = namespace.filter(|_| !fields.namespace.is_empty()) {
            filter.push(any(&named(&fields.namespace, &[namespace])));
        }
        json!({ "bool": { "filter": filter } })
    });
    Ok(any(&parts.collect::<Vec<_>>()))
}

/// The machine's own lines: those that name it and no pod. Indices that name no
/// machines have none of them.
fn of_nodes(fields: &Fields, nodes: &[String]) -> Value {
    if fields.node.is_empty() {
        return json!({ "match_none": {} });
    }
    let mut names: Vec<&str> = nodes.iter().map(String::as_str).collect();
    // Kubernetes may have the full name where the host has the short one.
    names.extend(
        nodes
            .iter()
            .filter_map(|node| Some(node.split_once('.')?.0)),
    );
    let of_pods = fields
        .pod
        .iter()
        .map(|field| json!({ "exists": { "field": field.name } }));
    json!({ "bool": {
        "filter": [any(&named(&fields.node, &names))],
        "must_not": of_pods.collect::<Vec<_>>(),
    } })
}

fn of_experiment(fields: &Fields, name: &str) -> Value {
    let mut parts = named(&fields.experiment, &[name]);
    for field in &fields.pod {
        // A workload's pods begin with its name.
        parts.push(match field.by {
            Match::Term => json!({ "prefix": { field.name.as_str(): { "value": name } } }),
            Match::Phrase => json!({ "match_phrase_prefix": { field.name.as_str(): name } }),
        });
    }
    parts.push(json!({ "multi_match": {
        "query": name, "fields": ["kubernetes.labels.*"], "type": "phrase", "lenient": true,
    } }));
    for field in &fields.message {
        if field.by == Match::Phrase {
            parts.push(json!({ "match_phrase": { field.name.as_str(): name } }));
        }
    }
    any(&parts)
}

/// When. Bounds are as exact as the field: coarser times may lie around them.
pub(super) fn within(fields: &Fields, span: Span) -> Value {
    json!({ "range": { fields.time.as_str(): {
        "gte": rfc3339(span.from),
        "lte": rfc3339(span.to.saturating_sub(1)),
        "format": "strict_date_optional_time_nanos",
    } } })
}

/// Lines with a telling word. `None` where no field holds lines: all are asked for.
pub(super) fn evidence(fields: &Fields, how: WordMatch, evidence: EvidenceWords) -> Option<Value> {
    let alone = |word: &&&str| !word.contains(' ');
    let requested = evidence.phrases.unwrap_or(evidence.parts);
    let (words, phrases): (Vec<&str>, Vec<&str>) = requested.iter().partition(alone);
    if fields.message.is_empty() {
        return None;
    }
    if how == WordMatch::Beginning {
        let words = words.iter().map(|word| format!("{word}*"));
        let phrases = phrases.iter().map(|phrase| format!("\"{phrase}\""));
        let query: Vec<String> = words.chain(phrases).collect();
        let fields: Vec<&str> = fields.message.iter().map(|f| f.name.as_str()).collect();
        return Some(json!({ "simple_query_string": {
            "query": query.join(" | "), "fields": fields, "lenient": true,
        } }));
    }
    let regexp = |field: &str, value: String| {
        json!({ "regexp": { field: {
            "value": value, "case_insensitive": true, "flags": "NONE",
        } } })
    };
    let mut parts = Vec::new();
    for Field { name, by } in &fields.message {
        match by {
            Match::Phrase => {
                if evidence.phrases.is_some() {
                    parts.push(json!({ "match": { name.as_str(): words.join(" ") } }));
                    for phrase in &phrases {
                        parts.push(json!({ "match_phrase": { name.as_str(): phrase } }));
                    }
                    continue;
                }
                // An index of words: one look through them for all single words, and for
                // first words of phrases that punctuation glued to what is before them.
                let firsts = phrases.iter().filter_map(|phrase| phrase.split(' ').next());
                let firsts = firsts.collect::<std::collections::BTreeSet<_>>();
                let firsts = firsts.into_iter().collect::<Vec<_>>().join("|");
                let words = words.join("|");
                parts.push(regexp(name, format!(".*({words}).*|.*[^a-z0-9]({firsts})")));
                for phrase in &phrases {
                    parts.push(json!({ "match_phrase_prefix": { name.as_str(): phrase } }));
                }
            }
            Match::Term => {
                let literal: Vec<String> =
                    evidence.parts.iter().map(|part| literal(part)).collect();
                parts.push(regexp(name, format!(".*({}).*", literal.join("|"))));
            }
        }
    }
    Some(any(&parts))
}

/// A pattern of the server's that fits just this text.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_alphanumeric() && !matches!(c, ' ' | '_' | '-') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// All of several queries, unscored.
pub(super) fn all(parts: &[Value]) -> Value {
    json!({ "bool": { "filter": parts } })
}
