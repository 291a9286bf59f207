//! What every part of the tool speaks of: facts, objects and their times, what a source was asked
//! for and could not show, and the contract of live sources.
//!
//! Nothing here reads a format or speaks to a service. What reads (`connectors`), explains (`core`)
//! and stores (`store`) shares these types, so none of them has to build the others.

#![warn(missing_docs)]

mod added;
pub mod collective;
pub mod connector;
pub mod coverage;
pub mod event;
pub mod exit_code;
pub mod host_list;
pub mod ignored_exception;
pub mod kind;
pub mod line_word;
pub mod listing;
pub mod machine;
pub mod object;
pub mod observation;
pub mod pci;
pub mod place;
pub mod redact;
pub mod sink;
mod source_kind;
pub mod table;
pub mod terminal;
pub mod text_time;
pub mod time;
pub mod tracker;
pub mod word_list;
