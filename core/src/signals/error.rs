//! What can be wrong with a file of signals.

/// A signal file that cannot be used; it says where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignalError {
    /// The file is not TOML of the right shape.
    #[error("{file}:{line}: {problem}{}", in_rule(.rule))]
    Syntax {
        /// The file's name as given.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The signal or actor whose table holds that line, where there is one.
        rule: Option<String>,
        /// What is wrong.
        problem: String,
    },
    /// A field holds what cannot be used.
    #[error("{file}: {rule}: {field}: {problem}")]
    Field {
        /// The file's name as given.
        file: String,
        /// The signal or actor.
        rule: String,
        /// The field, such as `when 2, message`.
        field: String,
        /// What is wrong.
        problem: String,
    },
    /// All literals together are too many to search for.
    #[error("the patterns cannot be searched together: {0}")]
    TooLarge(String),
}

fn in_rule(rule: &Option<String>) -> String {
    rule.as_ref()
        .map_or_else(String::new, |rule| format!(" (in {rule})"))
}

/// How alike two names must be for one to be offered for the other.
const ALIKE: f64 = 0.8;

/// The known name that is most like one that is not known, as the end of a message; empty
/// where none is like it.
pub(super) fn did_you_mean<'n>(unknown: &str, known: impl Iterator<Item = &'n str>) -> String {
    let ranked = known.map(|one| (strsim::jaro_winkler(unknown, one), one));
    let near = ranked.max_by(|(a, _), (b, _)| a.total_cmp(b));
    near.filter(|(alike, _)| *alike >= ALIKE)
        .map_or_else(String::new, |(_, near)| format!("; did you mean {near:?}?"))
}
