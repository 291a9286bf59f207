//! What summaries and advice have in braces.

use whathappened_core::resolve::rank_names;

/// What stands in braces in a summary or an advice and is filled.
pub const PLACEHOLDERS: [(&str, &str); 9] = [
    (
        "pod",
        "the first victim, and how many others were victims too",
    ),
    ("was", "was or were, to go with {pod}"),
    (
        "node",
        "the machine that the record is about, else the one the victim was on",
    ),
    ("other", "the other pod that the record names"),
    ("workload", "the name of the run"),
    (
        "detail",
        "what the fact gives in detail: a resource, a taint's key, a condition, an exception",
    ),
    (
        "by",
        "who did it, with “by” before the name; empty if no one did",
    ),
    ("exit_code", "the exit code in the record"),
    ("message", "the record in words"),
];

/// What is wrong with a template that has a word in braces which nothing fills.
pub(super) fn unknown_placeholder(key: &str, template: &str) -> Option<String> {
    let unknown = unknown_place(template)?;
    let near = rank_names(&unknown, PLACEHOLDERS.map(|(name, _)| name.to_owned()));
    let near = near.first().map_or("pod", String::as_str);
    let all = PLACEHOLDERS
        .map(|(name, _)| format!("{{{name}}}"))
        .join(" ");
    Some(format!(
        "{{{unknown}}} in the {key} is not a known placeholder; did you mean {{{near}}}? The placeholders are: {all}"
    ))
}

/// The first word in braces that is filled with nothing.
fn unknown_place(template: &str) -> Option<String> {
    let words = template.split('{').skip(1);
    let mut words = words.filter_map(|rest| Some(rest.split_once('}')?.0));
    words
        .find(|word| PLACEHOLDERS.iter().all(|(known, _)| known != word))
        .map(str::to_owned)
}
