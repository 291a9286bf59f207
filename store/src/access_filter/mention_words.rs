//! The words of a text that may be names, what joins them, and the kinds of what is in a
//! namespace.

use std::ops::Range;

/// What a name of something in a namespace follows.
pub(super) const KINDS: [&str; 35] = [
    "pod",
    "pods",
    "service",
    "services",
    "svc",
    "job",
    "jobs",
    "jobset",
    "pytorchjob",
    "rayjob",
    "workload",
    "workloads",
    "deployment",
    "statefulset",
    "replicaset",
    "configmap",
    "secret",
    "pvc",
    "persistentvolumeclaim",
    "queue",
    "localqueue",
    "quota",
    "resourcequota",
    "cronjob",
    "daemonset",
    "mpijob",
    "experiment",
    "serviceaccount",
    "networkpolicy",
    "poddisruptionbudget",
    "pdb",
    "budget",
    "podgroup",
    "ingress",
    "name",
];

/// Whether a name of something in a namespace follows a word, which may be a plural.
pub(super) fn is_kind(word: &str) -> bool {
    KINDS.contains(&word)
        || word
            .strip_suffix('s')
            .is_some_and(|one| KINDS.contains(&one))
}

/// How a name is joined to what it follows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Joiner {
    Space,
    /// Quotes or signs, so that it is a value and no next word.
    Sign,
}

pub(super) fn join(between: &str) -> Option<Joiner> {
    const SIGNS: &str = " :=/\"'`\\([<>-";
    let fits = !between.is_empty()
        && between.len() <= 8
        && between.chars().all(|sign| SIGNS.contains(sign))
        && !between.starts_with(" -");
    match fits {
        true if between.bytes().all(|byte| byte == b' ') => Some(Joiner::Space),
        // An opening bracket behind a space begins another thought.
        true if between.starts_with(" (") => None,
        true => Some(Joiner::Sign),
        false => None,
    }
}

/// The runs of a text that may be names: letters, digits and hyphens within.
pub(super) fn tokens(lower: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut begun: Option<Range<usize>> = None;
    for (at, byte) in lower.bytes().enumerate() {
        match (byte.is_ascii_alphanumeric(), begun.as_mut()) {
            (true, Some(token)) => token.end = at + 1,
            (true, None) => begun = Some(at..at + 1),
            (false, Some(_)) if byte == b'-' => {}
            (false, _) => tokens.extend(begun.take()),
        }
    }
    tokens.extend(begun);
    tokens
}
