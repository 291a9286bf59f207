//! What a decoder makes of a record.

use crate::event::Event;
use crate::object::ObjectVersion;

/// One thing learned from a record. A record often tells several.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// A fact.
    Event(Box<Event>),
    /// A version of an object.
    Object(Box<ObjectVersion>),
    /// An audit record wrote these fields of an Event whose creation it does
    /// not show: the Event's key, and what grew.
    EventGrew {
        /// Namespace of the Event object.
        namespace: String,
        /// Name of the Event object.
        name: String,
        /// Its new count.
        count: Option<u64>,
        /// Its new last time.
        last: Option<crate::time::Stamp>,
    },
}

/// Why a record was not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// Not what it claims to be.
    #[error("{0}")]
    Malformed(String),
    /// Well-formed, and of no use here (a Lease, a token review).
    #[error("nothing in it that this tool explains: {0}")]
    Irrelevant(String),
}
