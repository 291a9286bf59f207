//! `whathappened`: which pod died first, who or what killed it, the evidence,
//! and what could not be seen.
//!
//! Data goes one way; a module uses only those to its left:
//! connectors → core (evidence → world → life → resolve → death → tie →
//! timeline) → explain → case, coverage → assemble → answer → render, sql → commands.

pub mod accuracy;
pub mod answer;
pub mod assemble;
pub mod case;
pub mod cli;
pub mod commands;
mod coverage;
pub mod error;
pub mod explain;
pub mod render;
pub mod sql;
