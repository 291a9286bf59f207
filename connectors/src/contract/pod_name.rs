//! Names that controllers make for pods.

use std::sync::LazyLock;

use regex::Regex;

/// The name ends as controllers make names end: a random suffix, perhaps after
/// a template hash, or an ordinal after a worker's role.
static MADE_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?-(?:",
        // The alphabet of Kubernetes' random names has no vowels and no 0, 1, 3.
        r"[bcdfghjklmnpqrstvwxz2456789]{5}",
        r"|(?:master|worker|launcher|chief|ps|evaluator|head|driver|server|replica)s?-\d+",
        r")$",
    ))
    .ok()
});

/// Whether a pod's name ends as controllers make names end.
pub(crate) fn looks_made(pod: &str) -> bool {
    MADE_NAME
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(pod))
}
