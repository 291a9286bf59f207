//! How it is known which ranks failed, and which were missing.

use whathappened_model::words;

words! {
    /// How it is known which rank failed first.
    pub fixed FailingBy else Clock {
        /// A record names it.
        Content = "content",
        /// Its failure was logged first.
        Clock = "clock",
    }
}

words! {
    /// How it is known which ranks did not join a collective operation.
    pub fixed MissingBy else Elimination {
        /// Records name them.
        Content = "content",
        /// All other ranks logged that they waited.
        Elimination = "elimination",
    }
}
