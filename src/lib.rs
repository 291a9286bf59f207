//! `whathappened`: which pod died first, who or what killed it, the evidence,
//! and what could not be seen.
//!
//! Data goes one way; a module uses only those to its left:
//! connectors → core (evidence → graph → lifecycle → resolve → death → link →
//! timeline) → store → explain → case, coverage → report → answer → config,
//! fetch → history → render, sql → serve → commands.

#![deny(clippy::print_stdout)]

/// Writes a line to standard error. Where it cannot be written, as on a full disk or to a
/// reader that has gone, the work goes on; `eprintln!` would panic.
#[macro_export]
macro_rules! note {
    ($($text:tt)*) => {{
        let line = format!("{}\n", format_args!($($text)*));
        let _unwritten = std::io::Write::write_all(&mut anstream::stderr(), line.as_bytes());
    }};
}

pub mod access;
pub mod accuracy;
pub mod answer;
pub mod case;
pub mod cli;
pub mod commands;
pub mod config;
mod coverage;
pub mod error;
pub mod explain;
pub mod fetch;
pub mod history;
#[cfg(all(feature = "object-store", not(feature = "lake")))]
pub mod remote;
pub mod render;
pub mod report;
pub mod serve;
pub mod sql;
