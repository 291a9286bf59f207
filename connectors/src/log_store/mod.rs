//! Log stores: the same few questions to each of them.
//!
//! A store's own folder holds what is particular to it: its query language, its
//! paging, its limits, its credentials. Which lines of which pods are worth
//! fetching, how many, in which order while the budget lasts, and what to say
//! of those that were not, is decided here once. Never the whole log of a run is
//! read: the head and tail of each pod's stream, what surrounds each death, and
//! the lines that tell something over the whole time.

mod carried;
mod collected;
mod contract;
mod cover;
mod density;
mod depth;
mod emit;
mod events;
mod evidence_words;
mod flatten;
mod machines;
mod plan;
mod reader;
mod registration;
mod source;

#[cfg(test)]
pub(crate) mod tests;

pub use crate::contract::{LabelNames, Labels};
pub use contract::{
    Counts, Limits, LineFilter, LineQuery, LineSubject, LinesRead, LogStore, Minute, PodRef, Span,
    StoredLine,
};
pub use depth::Depth;
#[cfg(test)]
pub(crate) use emit::tests::emitted;
pub use emit::{EmitOptions, emit};
pub(crate) use events::emit as emit_events;
pub use evidence_words::{EvidenceWords, look_for};
pub(crate) use flatten::{MILLISECOND, flatten, label_name, millisecond};
pub use registration::{Opened, Registration, Settings};
pub use source::LogSource;
