//! Slurm asked live: over its REST daemon, or with its command line tools.
//!
//! Accounting knows jobs of weeks past, with every attempt and step; the
//! controller knows the jobs of the last minutes, why others wait, and what is
//! wrong with which node. Where there is no accounting, the controller's jobs
//! are what there is. Records are decoded as those in files are.

mod answer;
mod check;
mod commands;
mod cover;
mod job_scope;
mod options;
mod query;
mod rest;
mod source;
mod token;

#[cfg(test)]
pub(crate) mod tests;

pub use options::SlurmOptions;
pub use source::Slurm;
