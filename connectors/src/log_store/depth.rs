//! How much of the logs is read.

use crate::time::{Nanos, SECOND};

/// How much of the logs is read. Lines are counted over all pods of a question
/// unless it says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depth {
    /// Everything, up to `most_lines`.
    pub all: bool,
    /// Where there are no more lines than this, all of them are read.
    pub few: u64,
    /// First lines of a pod's log.
    pub head: usize,
    /// Last lines of a pod's log.
    pub tail: usize,
    /// Time before each death in which all lines are read.
    pub before: Nanos,
    /// Time after each death in which all lines are read.
    pub after: Nanos,
    /// Lines around one moment, for each pod that died then.
    pub around: usize,
    /// Telling lines of one question over the whole time.
    pub evidence: usize,
    /// Telling lines of the machines of one question.
    pub machines: usize,
    /// Pods whose head and tail are read, those that died first.
    pub pods: usize,
    /// Lines of one answer.
    pub most_lines: usize,
    /// Requests that one answer may cost in stores that count them.
    pub requests: u64,
}

impl Default for Depth {
    fn default() -> Self {
        Self {
            all: false,
            few: 5_000,
            head: 60,
            tail: 200,
            before: 180 * SECOND,
            after: 60 * SECOND,
            around: 400,
            evidence: 3_000,
            machines: 2_000,
            pods: 64,
            most_lines: 100_000,
            requests: 40,
        }
    }
}

impl Depth {
    /// Everything there is.
    #[must_use]
    pub fn all() -> Self {
        Self {
            all: true,
            most_lines: 5_000_000,
            requests: 2_000,
            ..Self::default()
        }
    }
}
