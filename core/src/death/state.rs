//! How it stands with what is to be explained.

use whathappened_model::words;

use crate::lifecycle::State;

words! {
    /// What became of a pod, or of the workload itself where it has none.
    pub growing DeathState as "VictimState" else NotRecorded default NotRecorded {
        /// It ended and was not restarted.
        Died = "died",
        /// One of its containers ended and was restarted.
        Restarted = "restarted",
        /// It keeps ending and being restarted.
        CrashLoop = "crash_loop",
        /// It was never placed on a machine.
        NeverScheduled = "never_scheduled",
        /// It was never created.
        NeverCreated = "never_created",
        /// Its workload was deleted, and no record shows how its pods ended.
        Deleted = "deleted",
        /// Its workload was scaled to zero.
        ScaledToZero = "scaled_to_zero",
        /// It was placed on a machine and never started.
        StuckStarting = "stuck_starting",
        /// It is running and not ready.
        NotReady = "not_ready",
        /// It is running and makes no progress.
        Stalled = "stalled",
        /// Its steps take longer than they did, or than those of the others.
        Slow = "slow",
        /// Its steps took longer for a while.
        Slowed = "slowed",
        /// It had not ended when the other pods of its gang gave up waiting.
        Lingering = "lingering",
        /// It is running, and its log ends in nothing but failures.
        Failing = "failing",
        /// Its workload failed, and no record shows how.
        Failed = "failed",
        /// The version that explained it did not record this.
        NotRecorded = "",
    }
}

impl DeathState {
    /// The state of a pod, where it is one to explain.
    pub(super) fn of(state: State) -> Option<Self> {
        Some(match state {
            State::Died => Self::Died,
            State::CrashLoop => Self::CrashLoop,
            State::NeverScheduled => Self::NeverScheduled,
            State::StuckStarting => Self::StuckStarting,
            State::NotReady => Self::NotReady,
            State::Running | State::Completed => return None,
        })
    }
}
