//! What a kubelet's reports tell of the end of a pod, where an audit log keeps no bodies.

use whathappened_model::time::Stamp;

/// When a kubelet reported to the API server what became of a pod, from an audit log that keeps no bodies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reports {
    /// Patches of its status.
    pub(crate) times: Vec<Stamp>,
    /// When it confirmed that a pod which was to go had ended.
    pub(crate) confirmed: Option<Stamp>,
}

impl Reports {
    /// When the last report was made of a pod that others took to have ended by a time: whoever did had it from that report.
    pub(crate) fn last_before(&self, by: Stamp) -> Option<Stamp> {
        let before = self.times.iter().filter(|report| report.lo <= by.hi);
        before.max().copied()
    }

    /// When the last report was made before the end was asked for, of a pod for which its kubelet had nothing more to
    /// report after that than that it had ended: it had then. A container that is stopped is reported first.
    pub(crate) fn ended_before(&self, asked: Stamp) -> Option<Stamp> {
        /// That it starts, and that it ended.
        const OF_A_LIFE: usize = 2;
        // One that is not there reports nothing either.
        let confirmed = self
            .confirmed
            .filter(|confirmed| confirmed.lo >= asked.lo)?;
        let (before, after): (Vec<Stamp>, Vec<Stamp>) =
            self.times.iter().partition(|report| report.hi < asked.lo);
        let went_on = after.iter().any(|report| report.lo <= confirmed.hi);
        (before.len() >= OF_A_LIFE && !went_on).then(|| before.into_iter().max())?
    }
}
