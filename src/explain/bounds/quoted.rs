//! What a program printed and did not say itself.

use whathappened_core::graph::{Fact, TaskKind};

use super::Bounds;

impl Bounds<'_> {
    /// Whether a fact is a line of the program's own that reads like one of a kernel: a machine's log
    /// is another one, so the program quotes it.
    pub(super) fn is_quoted(&self, fact: &Fact) -> bool {
        let pod = self.task();
        fact.is_of_kernel
            && fact.pod == self.death.pod
            && pod.is_some_and(|pod| matches!(pod.kind, TaskKind::Pod | TaskKind::Job))
    }

    /// Whether all that is known of an end is a log in which an error stands between other lines of a text.
    pub(super) fn is_of_a_text(&self, fact: &Fact) -> bool {
        let is_all = self.is_of_kind(TaskKind::Log) || self.is_of_kind(TaskKind::Instance);
        fact.is_amid_text && fact.pod == self.death.pod && is_all && self.death.exit_code.is_none()
    }
}
