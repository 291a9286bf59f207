//! One file a verb: its arguments, and one function that calls the library and
//! hands the result to a renderer.

pub mod accuracy;
pub mod common;
pub mod completions;
pub mod experiments;
pub mod man;
pub mod question;
pub mod rules;
pub mod sql;
