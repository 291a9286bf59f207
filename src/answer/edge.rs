//! How a step is tied to what it brought about.

use whathappened_model::words;

words! {
    /// How a step is linked to the previous one.
    pub fixed Edge else Context {
        /// One record names both ends.
        Asserted = "asserted",
        /// They share a pod, node or run at that time.
        Inferred = "inferred",
        /// By elimination, since nothing else was found.
        Guess = "guess",
        /// Background that is not part of the proof.
        Context = "context",
        /// It is evidence against the rule's cause.
        Against = "against",
    }
}
