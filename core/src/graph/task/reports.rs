//! What a kubelet's reports tell of the end of a pod, where an audit log keeps no bodies.

use whathappened_model::time::{Nanos, SECOND, Stamp};

/// When a kubelet reported to the API server what became of a pod, from an audit log that keeps no bodies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reports {
    /// Patches of its status.
    pub(crate) times: Vec<Stamp>,
    /// When it confirmed that a pod which was to go had ended.
    pub(crate) confirmed: Option<Stamp>,
}

impl Reports {
    /// When the last report was made before the end was asked for, of a pod for which its kubelet had nothing more to
    /// report after that than that it had ended: it had then. A container that is stopped is reported first.
    pub(crate) fn ended_before(&self, asked: Stamp, now: Option<Nanos>) -> Option<Stamp> {
        /// That it starts, and that it ended.
        const OF_A_LIFE: usize = 2;
        /// What had ended is gone at once, and its kubelet has nothing to confirm; what ran is stopped within this long.
        const STOPPED: Nanos = 120 * SECOND;
        let confirmed = self.confirmed.filter(|confirmed| confirmed.lo >= asked.lo);
        let since = asked.hi.saturating_add(STOPPED);
        let silent = now.filter(|now| *now > since);
        let confirmed = confirmed.map(|confirmed| confirmed.hi).or(silent)?;
        let (before, after): (Vec<Stamp>, Vec<Stamp>) =
            self.times.iter().partition(|report| report.hi < asked.lo);
        let went_on = after.iter().any(|report| report.lo <= confirmed);
        (before.len() >= OF_A_LIFE && !went_on).then(|| before.into_iter().max())?
    }
}
