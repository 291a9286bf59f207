//! From bytes to the entity graph: what a decoder makes of records, as the rest of the tool understands it.

#![allow(clippy::unwrap_used, reason = "tests")]

mod collectives;
mod lifecycle;
mod searched_words;
mod silences;
mod taints;
mod trackers;
