//! Exceptions that end no program.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Whether Python says that an exception is one that no program ends of: what a destructor or a
/// function at the exit raised. Its traceback follows.
#[must_use]
pub fn is_announced(text: &str) -> bool {
    // Every line of every log is looked at: one pass for all.
    static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        AhoCorasick::new([
            "Exception ignored in",
            "Exception ignored on",
            "Error in atexit._run_exitfuncs",
        ])
        .ok()
    });
    WORDS.as_ref().is_some_and(|words| words.is_match(text))
}
