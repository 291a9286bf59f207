//! Questions as queries. Names are values of JSON; nothing is put together as text
//! but the telling words, which are ours.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fields::{Field, Fields, Match};
use crate::http::HttpError;
use crate::log_store::{EvidenceWords, LineSubject, PodRef, Span};
use crate::time::rfc3339;
use whathappened_model::line_word::LineWord;

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
pub(super) fn evidence(fields: &Fields, how: WordMatch, evidence: &EvidenceWords) -> Option<Value> {
    if fields.message.is_empty() {
        return None;
    }
    if how == WordMatch::Beginning {
        let query: Vec<String> = evidence.phrases().into_iter().map(beginning).collect();
        let fields: Vec<&str> = fields.message.iter().map(|f| f.name.as_str()).collect();
        return Some(json!({ "simple_query_string": {
            "query": query.join(" | "), "fields": fields, "lenient": true,
        } }));
    }
    let mut parts = Vec::new();
    for Field { name, by } in &fields.message {
        match by {
            Match::Phrase => in_words(name, &evidence.phrases(), &mut parts),
            Match::Term => {
                let literals = evidence.words.iter().map(|word| literal(&word.part));
                for any in packed(literals) {
                    parts.push(regexp(name, &format!(".*({any}).*")));
                }
            }
        }
    }
    Some(any(&parts))
}

/// The longest pattern that a server takes has 1,000 characters.
const LONGEST: usize = 900;

/// Alternatives put together into as few patterns as hold them.
fn packed(alternatives: impl Iterator<Item = String>) -> Vec<String> {
    let mut packed: Vec<String> = Vec::new();
    for one in alternatives {
        match packed.last_mut() {
            Some(last) if last.len() + one.len() < LONGEST => {
                last.push('|');
                last.push_str(&one);
            }
            _ => packed.push(one),
        }
    }
    packed
}

fn regexp(field: &str, value: &str) -> Value {
    json!({ "regexp": { field: {
        "value": value, "case_insensitive": true, "flags": "NONE",
    } } })
}

/// For servers that do not look within words.
fn beginning(word: &LineWord) -> String {
    match word.phrase.contains(' ') {
        true => format!("\"{}\"", word.phrase),
        false if word.within => format!("{}*", word.phrase),
        false => word.phrase.clone(),
    }
}

/// In an index of words: those that count whole one by one or in sequence; and those that count
/// within others.
fn in_words(field: &str, words: &[&LineWord], parts: &mut Vec<Value>) {
    let of = |within: bool, several: bool| {
        let all = words.iter().filter(move |word| word.within == within);
        let all = all.filter(move |word| word.phrase.contains(' ') == several);
        all.map(|word| word.phrase.as_str()).collect::<Vec<_>>()
    };
    let whole = of(false, false);
    if !whole.is_empty() {
        parts.push(json!({ "match": { field: whole.join(" ") } }));
    }
    for phrase in of(false, true) {
        parts.push(json!({ "match_phrase": { field: phrase } }));
    }
    let (within, phrases) = (of(true, false), of(true, true));
    if within.is_empty() && phrases.is_empty() {
        return;
    }
    // One look through them for all single words, and for first words of phrases
    // that punctuation glued to what is before them.
    let firsts = phrases.iter().filter_map(|phrase| phrase.split(' ').next());
    let firsts = firsts.collect::<std::collections::BTreeSet<_>>();
    let firsts = firsts.into_iter().collect::<Vec<_>>().join("|");
    let within = within.join("|");
    parts.push(regexp(
        field,
        &format!(".*({within}).*|.*[^a-z0-9]({firsts})"),
    ));
    for phrase in &phrases {
        parts.push(json!({ "match_phrase_prefix": { field: phrase } }));
    }
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
