//! Jobs that a statement's process gave to Ballista, and that nobody waits for once it is gone.

use std::sync::PoisonError;

use super::ChildMessages;
use crate::sql::{JOB, OnBallista, cancel};

/// Ends the jobs of a child, unless it came to its end.
pub(super) struct Guard {
    scheduler: Option<String>,
    messages: ChildMessages,
}

impl Guard {
    pub(super) fn new(on: Option<&OnBallista>, messages: &ChildMessages) -> Self {
        Self {
            scheduler: on.map(|on| on.scheduler.clone()),
            messages: messages.clone(),
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
        let messages = self
            .messages
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&messages).into_owned();
        drop(messages);
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
