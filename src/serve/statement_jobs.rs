//! Jobs that a statement's process gave to Ballista, and that nobody waits for once it is gone.

use std::sync::PoisonError;

use super::ChildMessages;
use crate::sql::{JOB, OnBallista, cancel};

/// Ends the jobs of a child, unless it came to its end.
pub(super) struct Guard {
    scheduler: Option<String>,
    told: ChildMessages,
}

impl Guard {
    pub(super) fn new(on: Option<&OnBallista>, told: &ChildMessages) -> Self {
        Self {
            scheduler: on.map(|on| on.scheduler.clone()),
            told: told.clone(),
        }
    }

    /// The child ended by itself.
    pub(super) fn are_over(&mut self) {
        self.scheduler = None;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some(scheduler) = self.scheduler.take() else {
            return;
        };
        let told = self.told.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&told).into_owned();
        drop(told);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        runtime.spawn(async move {
            for job in text.lines().filter_map(|line| line.strip_prefix(JOB)) {
                if let Err(error) = cancel(&scheduler, job).await {
                    tracing::warn!("a statement goes on until its time is over: {error}");
                }
            }
        });
    }
}
