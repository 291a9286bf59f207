//! What is lost is not read in full: damaged parts of the store, and a cluster that did not respond.

use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::event::SourceKind;

/// Resources that the store keeps as versions of objects; everything else it keeps as facts.
const OBJECTS: [&str; 3] = ["nodes", "pods", "workloads"];

/// What of the recorded sources is missing.
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    facts: bool,
    objects: bool,
    /// No cluster responded: what is known of it ends with what was stored before.
    cluster: bool,
}

impl Lost {
    fn of(stored: &[Coverage]) -> Self {
        let mut lost = Self::default();
        for row in stored.iter().filter(|row| row.is_damage()) {
            lost.facts |= row.resource != "objects";
            lost.objects |= row.resource != "events";
        }
        lost.cluster = stored.iter().any(Coverage::is_silent_cluster);
        lost
    }

    fn why(self, row: &Coverage) -> Option<&'static str> {
        let is_objects = OBJECTS.contains(&row.resource.as_str());
        let is_kubernetes = row.source == SourceKind::Kubernetes.as_str();
        // What an object was is told by its facts as well.
        if self.objects && is_objects || self.facts && !is_objects {
            return Some("read in part: some of what was stored is damaged");
        }
        (self.cluster && is_kubernetes)
            .then_some("only what was stored before: the cluster did not respond")
    }
}

/// Says of what was read from the store that some of it is not there.
pub(super) fn mark(rows: &mut [Coverage], stored: &[Coverage]) {
    let lost = Lost::of(stored);
    for row in rows.iter_mut().filter(|row| row.status == Status::Complete) {
        if let Some(why) = lost.why(row) {
            row.status = Status::Truncated;
            row.detail = Some(why.to_owned());
        }
    }
}
