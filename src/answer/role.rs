//! What an incident is to the question, and what a step is in a chain.

use whathappened_model::words;

words! {
    /// What an incident is to what was asked for.
    pub fixed IncidentRole else Also default Main {
        /// It ended the newest run, or explains its state.
        Main = "main",
        /// It affected the newest run in addition to the main one, or another run that was there at that time.
        Also = "also",
        /// The run continued.
        Recovered = "recovered",
        /// It belongs to an earlier run.
        Earlier = "earlier",
        /// A restart after which the run continued, in an answer about more than one experiment.
        Episode = "episode",
        /// A fault without a known victim.
        Fault = "fault",
        /// It was announced, and nothing shows that it took place.
        Announced = "announced",
    }
}

words! {
    /// What a step is on the way from cause to effect.
    pub fixed StepRole else Mechanism {
        /// The root cause.
        Cause = "cause",
        /// It was announced.
        Announcement = "announcement",
        /// How the cause reached the run.
        Mechanism = "mechanism",
        /// A pod died.
        Death = "death",
        /// A pod waits, or makes no progress.
        Stuck = "stuck",
        /// Pods that followed.
        Teardown = "teardown",
        /// What became of the run.
        Outcome = "outcome",
    }
}

impl IncidentRole {
    /// Whether the run went on after it, or none was hit.
    #[must_use]
    pub fn is_survived(self) -> bool {
        matches!(
            self,
            Self::Recovered | Self::Fault | Self::Episode | Self::Announced
        )
    }
}
