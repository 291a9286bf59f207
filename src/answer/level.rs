//! How well a verdict is proven.

use whathappened_model::words;

words! {
    /// How certain a cause is.
    pub fixed Level else Unknown default Unknown {
        /// Nothing explains it.
        Unknown = "unknown",
        /// Consistent with the records, and unconfirmed.
        Hypothesis = "hypothesis",
        /// A step is inferred, or rests only on a component's claim.
        Supported = "supported",
        /// Every step is backed by a record that names both ends, the death was observed, and there is
        /// no evidence against it.
        Established = "established",
    }
}

impl Level {
    /// One lower, but never below a hypothesis: something did happen.
    #[must_use]
    pub fn lowered(self) -> Self {
        match self {
            Self::Established => Self::Supported,
            Self::Supported | Self::Hypothesis => Self::Hypothesis,
            Self::Unknown => Self::Unknown,
        }
    }
}
