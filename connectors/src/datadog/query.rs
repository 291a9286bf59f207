//! Questions in Datadog's search syntax.
//!
//! Tags are asked for as they are stored (lower case), attributes and hosts as
//! they are written. Wildcards work only outside quotes, so what has one is
//! escaped instead. The message is searched by words: special characters in it
//! cannot be asked for.

use std::collections::BTreeMap;

use super::options::DatadogOptions;
use super::tags;
use crate::log_store::{EvidenceWords, LineFilter, LineSubject, PodRef};
use whathappened_model::line_word::LineWord;

/// The longest question; more pods are asked for in several.
const MAX_CHARS: usize = 4_000;

/// What of it words may take that lines are to hold.
const MAX_WORDS: usize = 3_600;

/// The questions that together ask for lines. Nothing for nobody.
pub(super) fn logs(about: &LineSubject, only: LineFilter, options: &DatadogOptions) -> Vec<String> {
    let whose = match about {
        LineSubject::Pods(pods) => of_pods(pods, &options.pod_facets),
        LineSubject::Nodes(nodes) => {
            packed(nodes.iter().filter(|node| !node.is_empty()), |nodes| {
                let (host, node) = (hosts(nodes), any("kube_node", nodes));
                // What pods on it say is not the machine's own log.
                format!("({host} OR {node}) -pod_name:* -kube_container_name:*")
            })
        }
        LineSubject::Experiment(name) => of_experiment(name, &options.experiment_facets)
            .into_iter()
            .collect(),
    };
    match only {
        LineFilter::All => whose,
        LineFilter::Significant => {
            let words = evidence(&about.evidence());
            let with = |whose: &String| {
                let asked = words.iter().map(|words| format!("({whose}) AND ({words})"));
                asked.collect::<Vec<_>>()
            };
            whose.iter().flat_map(with).collect()
        }
    }
}

/// The questions for events: Kubernetes Events bear the object's name, others
/// the pod's or the host's.
pub(super) fn events(about: &LineSubject, options: &DatadogOptions) -> Vec<String> {
    match about {
        LineSubject::Pods(pods) => {
            let mut facets = options.pod_facets.clone();
            facets.push("kube_name".to_owned());
            of_pods(pods, &facets)
        }
        LineSubject::Nodes(nodes) => {
            packed(nodes.iter().filter(|node| !node.is_empty()), |nodes| {
                let (host, node) = (hosts(nodes), any("kube_node", nodes));
                let name = any("kube_name", nodes);
                format!("({host} OR {node} OR (kube_kind:node {name})) -pod_name:* -kube_kind:pod")
            })
        }
        LineSubject::Experiment(name) => of_experiment(name, &options.experiment_facets)
            .map(|question| {
                let named = begins("kube_name", name);
                format!("{question} OR {named}")
            })
            .into_iter()
            .collect(),
    }
}

/// Pods of one namespace together, for names are unique only there.
fn of_pods(pods: &[PodRef], facets: &[String]) -> Vec<String> {
    let mut places: BTreeMap<Option<&str>, Vec<&String>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| !pod.name.is_empty()) {
        let place = pod.namespace.as_deref().filter(|name| !name.is_empty());
        places.entry(place).or_default().push(&pod.name);
    }
    let mut out = Vec::new();
    for (namespace, mut names) in places {
        names.sort();
        names.dedup();
        out.extend(packed(names.into_iter(), |names| {
            let mut named = vec![any("pod_name", names)];
            named.extend(facets.iter().map(|facet| any(facet, names)));
            let named = one_of(&named);
            match namespace {
                Some(place) => format!("kube_namespace:{} {named}", tag("kube_namespace", place)),
                None => named,
            }
        }));
    }
    joined(out)
}

/// Questions that are short are asked as one.
fn joined(questions: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let one = questions.len() < 2;
    for question in questions {
        let question = if one {
            question
        } else {
            format!("({question})")
        };
        match out.last_mut() {
            Some(last) if last.len() + question.len() < MAX_CHARS => {
                last.push_str(" OR ");
                last.push_str(&question);
            }
            _ => out.push(question),
        }
    }
    out
}

/// Names in as few questions as their length allows.
fn packed<'n>(
    names: impl Iterator<Item = &'n String>,
    question: impl Fn(&[&'n String]) -> String,
) -> Vec<String> {
    let mut out = Vec::new();
    let mut batch: Vec<&String> = Vec::new();
    for name in names {
        batch.push(name);
        if batch.len() > 1 && question(&batch).len() > MAX_CHARS {
            batch.pop();
            out.push(question(&batch));
            batch = vec![name];
        }
    }
    if !batch.is_empty() {
        out.push(question(&batch));
    }
    out
}

/// An experiment, wherever its name may stand: pods and workloads that are
/// called so or begin so, tags, attributes, the text.
fn of_experiment(name: &str, facets: &[String]) -> Option<String> {
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    let mut ways: Vec<String> = [
        "pod_name",
        "kube_job",
        "kube_stateful_set",
        "kube_deployment",
    ]
    .iter()
    .map(|tag| begins(tag, name))
    .collect();
    let mut usual: Vec<&str> = vec![
        "experiment",
        "experiment_name",
        "@experiment",
        "@experiment_name",
    ];
    usual.extend(facets.iter().map(String::as_str));
    ways.extend(usual.into_iter().map(|facet| is(facet, name)));
    ways.extend(words(name));
    Some(ways.join(" OR "))
}

/// The name, or the name with a dash and more: `a-7` is not the beginning of `a-70`.
fn begins(key: &str, name: &str) -> String {
    let name = tag(key, name);
    format!("{key}:({name} OR {name}\\-*)")
}

/// A tag or, where its name begins with `@`, an attribute of this value.
fn is(facet: &str, value: &str) -> String {
    if facet.starts_with('@') {
        format!("{facet}:{}", quoted(value))
    } else {
        format!("{facet}:{}", tag(facet, value))
    }
}

/// A facet that has any of these values.
fn any(facet: &str, values: &[&String]) -> String {
    let values: Vec<String> = values
        .iter()
        .map(|value| {
            if facet.starts_with('@') {
                quoted(value)
            } else {
                tag(facet, value)
            }
        })
        .collect();
    match values.as_slice() {
        [one] => format!("{facet}:{one}"),
        several => format!("{facet}:({})", several.join(" OR ")),
    }
}

/// Hosts keep their case, and are `<node>-<cluster>` where the cluster has a name.
fn hosts(nodes: &[&String]) -> String {
    let hosts: Vec<String> = nodes
        .iter()
        .map(|node| {
            let node = escaped(node);
            format!("{node} OR {node}\\-*")
        })
        .collect();
    format!("host:({})", hosts.join(" OR "))
}

fn one_of(ways: &[String]) -> String {
    match ways {
        [one] => one.clone(),
        several => format!("({})", several.join(" OR ")),
    }
}

fn tag(key: &str, value: &str) -> String {
    escaped(&tags::stored(key, value))
}

/// A name as words of the message, in sequence.
fn words(name: &str) -> Option<String> {
    // What is no word would find nothing, and `@` must not be there at all.
    let kept = name.replace('@', " ");
    let has_word = kept.chars().any(char::is_alphanumeric);
    has_word.then(|| quoted(kept.trim()))
}

/// Lines that may tell something: parts of words by wildcards, several words
/// as a sequence. In pieces where they are more than one question holds.
fn evidence(evidence: &EvidenceWords) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for word in evidence.phrases() {
        let term = term(word);
        match pieces.last_mut() {
            Some(last) if last.len() + term.len() + 4 <= MAX_WORDS => {
                last.push_str(" OR ");
                last.push_str(&term);
            }
            _ => pieces.push(term),
        }
    }
    pieces
}

/// A word that a line may hold within another stands in wildcards.
fn term(word: &LineWord) -> String {
    if word.within && word.part.chars().all(char::is_alphanumeric) {
        format!("*{}*", word.part)
    } else {
        quoted(&word.phrase)
    }
}

/// Whether a character means something to the search, or did once.
fn is_special(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '=' | '-'
                | '!'
                | '&'
                | '|'
                | '>'
                | '<'
                | '('
                | ')'
                | '{'
                | '}'
                | '['
                | ']'
                | '"'
                | '*'
                | '?'
                | ':'
                | '\\'
                | '#'
                | '+'
                | '^'
                | '~'
                | '“'
                | '”'
        )
}

/// A value that a wildcard may follow.
fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 8);
    for c in value.chars() {
        if is_special(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A value, or words in sequence. Curly quotes would be taken for straight ones.
fn quoted(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for c in value.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' | '\r' | '\t' => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> DatadogOptions {
        DatadogOptions::new("datadoghq.com").unwrap()
    }

    fn pod(namespace: &str, name: &str) -> PodRef {
        PodRef {
            namespace: Some(namespace.to_owned()).filter(|name| !name.is_empty()),
            name: name.to_owned(),
        }
    }

    #[test]
    fn every_special_character_is_escaped_outside_and_harmless_inside_quotes() {
        for c in "=-!&|><(){}[]\"*?:\\#+^~“” \t".chars() {
            assert_eq!(escaped(&format!("a{c}b")), format!("a\\{c}b"), "{c:?}");
        }
        for c in "=-!&|><(){}[]*?:#+^~".chars() {
            assert_eq!(quoted(&format!("a{c}b")), format!("\"a{c}b\""));
            let word = LineWord::plain(&format!("a{c}b"));
            assert_eq!(term(&word), format!("\"a{c}b\""));
        }
        assert_eq!(quoted("a\"b\\"), "\"a\\\"b\\\\\"");
        assert_eq!(escaped("a/b_c.d"), "a/b_c.d");
        for c in "=-!&|><(){}[]\"*?:\\#+^~“” ".chars() {
            let name = format!("run{c}7");
            let question = of_experiment(&name, &[]).unwrap();
            assert_eq!(quotes(&question) % 2, 0, "{question}");
            // What may not be in a tag was stored as `_`; the rest is escaped.
            let stored = tags::stored("pod_name", &name);
            assert!(question.starts_with(&format!("pod_name:({} OR", escaped(&stored))));
        }
    }

    /// Quotes that are not escaped.
    fn quotes(question: &str) -> usize {
        let mut escaped = false;
        let mut found = 0;
        for c in question.chars() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => found += 1,
                _ => {}
            }
        }
        found
    }

    #[test]
    fn pods_are_asked_for_by_namespace() {
        let one = LineSubject::Pods(vec![pod("Research", "llama-ft-7-0")]);
        assert_eq!(
            logs(&one, LineFilter::All, &options()),
            ["kube_namespace:research pod_name:llama\\-ft\\-7\\-0"]
        );
        let several = LineSubject::Pods(vec![
            pod("b", "y"),
            pod("a", "x"),
            pod("b", "z"),
            pod("", "w"),
        ]);
        assert_eq!(
            logs(&several, LineFilter::All, &options()),
            [
                "(pod_name:w) OR (kube_namespace:a pod_name:x) OR (kube_namespace:b pod_name:(y OR z))"
            ]
        );
        let facets = DatadogOptions {
            pod_facets: vec!["@kubernetes.pod_name".to_owned()],
            ..options()
        };
        assert_eq!(
            logs(&one, LineFilter::All, &facets),
            [
                "kube_namespace:research (pod_name:llama\\-ft\\-7\\-0 OR @kubernetes.pod_name:\"llama-ft-7-0\")"
            ]
        );
        assert!(logs(&LineSubject::Pods(Vec::new()), LineFilter::All, &options()).is_empty());
        assert!(
            logs(
                &LineSubject::Experiment(" ".to_owned()),
                LineFilter::Significant,
                &options()
            )
            .is_empty()
        );
    }

    #[test]
    fn many_pods_are_several_questions_and_each_is_asked_for_once() {
        let pods: Vec<PodRef> = (0..500)
            .map(|n| pod("n", &format!("worker-{n:04}")))
            .collect();
        let questions = logs(&LineSubject::Pods(pods), LineFilter::All, &options());
        assert!(questions.len() > 1);
        for question in &questions {
            assert!(question.len() <= MAX_CHARS, "{}", question.len());
        }
        let all = questions.join("\n");
        for n in 0..500 {
            assert_eq!(all.matches(&format!("worker\\-{n:04}")).count(), 1);
        }
    }

    #[test]
    fn nodes_are_hosts_with_the_clusters_name_or_without() {
        let nodes = LineSubject::Nodes(vec!["Gpu-7".to_owned()]);
        assert_eq!(
            logs(&nodes, LineFilter::All, &options()),
            [
                "(host:(Gpu\\-7 OR Gpu\\-7\\-*) OR kube_node:gpu\\-7) -pod_name:* -kube_container_name:*"
            ]
        );
        assert!(events(&nodes, &options())[0].contains("kube_kind:node kube_name:gpu\\-7"));
    }

    #[test]
    fn telling_words_are_parts_of_words_or_sequences() {
        let about = LineSubject::Pods(vec![pod("n", "p")]);
        let question = &logs(&about, LineFilter::Significant, &options())[0];
        assert!(question.starts_with("(kube_namespace:n pod_name:p) AND (*error* OR "));
        for part in ["*oom*", "\"out of memory\"", "*traceback*", "\"no space\""] {
            assert!(question.contains(part), "{part}");
        }
        for word in about.evidence().words {
            assert!(question.contains(&word.phrase), "{word:?}");
        }
        assert!(question.len() < MAX_CHARS);
        let nodes = LineSubject::Nodes(vec!["gpu-7".to_owned()]);
        let question = &logs(&nodes, LineFilter::Significant, &options())[0];
        assert!(question.contains("\"nvrm xid\" OR "), "{question}");
        assert!(question.len() < MAX_CHARS);
    }

    #[test]
    fn an_experiment_is_looked_for_wherever_its_name_may_stand() {
        let options = DatadogOptions {
            experiment_facets: vec!["@run.id".to_owned()],
            ..options()
        };
        let about = LineSubject::Experiment("Llama_FT@7".to_owned());
        assert_eq!(
            logs(&about, LineFilter::All, &options),
            [
                "pod_name:(llama_ft_7 OR llama_ft_7\\-*) OR kube_job:(llama_ft_7 OR llama_ft_7\\-*) \
              OR kube_stateful_set:(llama_ft_7 OR llama_ft_7\\-*) \
              OR kube_deployment:(llama_ft_7 OR llama_ft_7\\-*) OR experiment:llama_ft_7 \
              OR experiment_name:llama_ft_7 OR @experiment:\"Llama_FT@7\" \
              OR @experiment_name:\"Llama_FT@7\" OR @run.id:\"Llama_FT@7\" OR \"Llama_FT 7\""
            ]
        );
        assert!(events(&about, &options)[0].contains("kube_name:(llama_ft_7 OR"));
    }
}
