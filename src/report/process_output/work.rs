//! How far the work came, and what of it is safe.

use whathappened_core::evidence::SpillError;
use whathappened_core::signals::named;
use whathappened_model::time::{Nanos, Stamp, rfc3339};

use super::super::record::reported;
use super::{AttemptLogs, number};
use crate::answer::Milestone;

impl AttemptLogs<'_> {
    /// The last checkpoint that was completed until `last`, and when.
    pub(super) fn last_checkpoint(
        &self,
        last: Option<Nanos>,
    ) -> Result<Option<(Stamp, Milestone)>, SpillError> {
        let saved = self
            .facts(named::LOG_CHECKPOINT_SAVED)
            .filter(|fact| last.is_none_or(|last| fact.time.lo <= last))
            .filter_map(|fact| Some((reported(fact.time)?, fact)))
            .max_by_key(|(time, fact)| (*time, fact.id));
        let Some((time, fact)) = saved else {
            return Ok(None);
        };
        let event = self.event(fact)?;
        let milestone = Milestone {
            step: number(&event, "step"),
            time: Some(rfc3339(time.lo)),
            path: event.attribute("path").map(str::to_owned),
            event_id: event.id.to_string(),
        };
        Ok(Some((time, milestone)))
    }

    /// The last training step that any rank logged.
    pub(super) fn last_step(&self) -> Option<Milestone> {
        let pods = self.pods.iter();
        let progress = pods.filter_map(|pod| {
            let pod = self.context.graph().pods.get(*pod)?;
            pod.progress.as_deref()
        });
        let last = progress.max_by_key(|one| (one.step, one.last, one.id))?;
        Some(Milestone {
            step: last.step,
            time: reported(last.last).map(|time| rfc3339(time.lo)),
            path: None,
            event_id: last.id.to_string(),
        })
    }
}
