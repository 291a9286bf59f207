//! What came too late to have ended anything: whatever ended was over by then, or was being ended.

use whathappened_core::death::DeathState;
use whathappened_core::graph::{Fact, Task, TaskKind};
use whathappened_core::lifecycle::Mode;
use whathappened_core::signals::named;
use whathappened_model::event::SourceKind;
use whathappened_model::table::AtRow as _;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::Bounds;

/// A pod that is stopped has ended within this long, its grace included.
const STOPPING: Nanos = 600 * SECOND;

impl Bounds<'_> {
    /// Whether a fact is that somebody asked for the end of a service which had ended by then, as its journal tells.
    pub(super) fn is_behind_end(&self, fact: &Fact) -> bool {
        const ASKED: [&str; 2] = [named::UNIT_STOP_REQUESTED, named::UNIT_STOPPING];
        ASKED.contains(&self.graph.name(fact.signal))
            && self
                .recorded
                .as_ref()
                .is_some_and(|end| end.is_before(self.graph, fact))
    }

    /// Whether a fact is of the clock of a pod's node, and later than its kubelet's word that it stops the pod: whatever
    /// befell it then, it was being stopped.
    pub(super) fn is_of_stopping(&self, fact: &Fact) -> bool {
        let task = self.task().filter(|task| task.kind == TaskKind::Pod);
        let stopped = task.and_then(|task| task.stopped);
        let kinds = [SourceKind::NodeLog, SourceKind::ContainerLog];
        let of_container = self.graph.name(fact.signal).starts_with("k8s.container.");
        let by_node = kinds.contains(&fact.source_kind) || of_container;
        self.death.state == DeathState::Died
            && by_node
            && stopped.is_some_and(|stopped| {
                // A stop that the pod outlived was of a container.
                let of_this = self.death.time.lo.saturating_sub(stopped.lo) < STOPPING;
                of_this && fact.time.lo >= stopped.hi && fact.time != Stamp::OPEN
            })
    }

    /// Whether a fact is the end of a sidecar beside containers that ran on until somebody stopped them: the pod's own
    /// containers run only once those that prepare them are done, and one that goes on beside them is started again.
    pub(super) fn is_of_sidecar(&self, fact: &Fact) -> bool {
        let Some(task) = self.task().filter(|_| fact.pod == self.death.pod) else {
            return false;
        };
        let runs = task.phase.as_deref() == Some("Running") && task.waits.is_empty();
        let of_sidecar = || {
            task.exits.iter().any(|exit| {
                exit.init && exit.container == fact.container && exit.time.overlaps(fact.time)
            })
        };
        self.death.state == DeathState::Died
            && self.death.mode == Mode::Killed
            && fact.container.is_some()
            && runs
            && of_sidecar()
    }

    /// Whether its controller had counted a pod as ended before somebody asked for something: the API server keeps both
    /// times.
    pub(super) fn was_counted_before(&self, fact: &Fact) -> bool {
        const EXACT: Nanos = SECOND / 100;
        let counted = self.task().and_then(|task| task.untracked);
        let exact = |time: Stamp| time.width() < EXACT;
        self.death.state == DeathState::Died
            && fact.source_kind == SourceKind::KubernetesAudit
            && exact(fact.time)
            && counted.is_some_and(|counted| exact(counted) && counted.hi < fact.time.lo)
    }

    /// Whether the workload on top had said that it had failed before something began: what was left of it then ended
    /// nothing.
    pub(super) fn is_after_failure(&self, fact: &Fact) -> bool {
        let begin = self
            .task()
            .and_then(Task::known_begin)
            .unwrap_or(Nanos::MIN);
        let root = self.task().and_then(|task| task.root);
        let failed = self.requests.failed.at(root);
        let mut failed = failed
            .into_iter()
            .flatten()
            .filter(|failure| failure.lo >= begin);
        !fact.is_line
            && fact.time != Stamp::OPEN
            && failed.any(|failure| failure.hi.saturating_add(CLOCKS) < fact.onset)
    }

    /// Whether a machine's log tells of an act at a time that nobody knows, and not that the end came after it.
    pub(super) fn is_undated(&self, fact: &Fact) -> bool {
        fact.source_kind == SourceKind::NodeLog
            && fact.time.hi == Nanos::MAX
            && !self
                .recorded
                .as_ref()
                .is_some_and(|end| end.is_after(self.graph, fact))
    }
}
