//! From facts to incidents.
//!
//! `tables` are what cause rules query; `engine` runs the rules, whose `plans`
//! are made once (and `checked` for rules of one's own when they are loaded), each answering with edges; `bounds` turns away what cannot be, `climb` goes up the edges from each
//! death to its roots, `candidate` weighs these;
//! `gang` groups deaths with one root; `fault` finds what happened to machines and
//! nobody on them; `verdict` runs all of it.

mod bounds;
mod built_in;
pub mod candidate;
mod causal_path;
mod cleared;
pub mod edge;
pub mod engine;
pub mod examples;
mod fault;
pub mod gang;
mod given_up;
mod last_straw;
mod lost_members;
mod machine_facts;
#[cfg(test)]
mod made_up;
mod misspelt;
mod namesakes;
mod needs;
mod outlived;
mod parts;
mod plans;
mod recreated;
mod recurrence;
mod replaced;
mod requests;
mod rule;
mod standstill;
mod submitter;
mod survived;
pub mod tables;
mod tenants;
mod unreplaced;
mod validate;
mod verdict;
mod waited_for;

pub use crate::answer::Level;
pub use built_in::{built_in, load, ruleset_version};
pub use fault::{fault_of_machine, is_of_machine};
pub use misspelt::misspelt;
pub use plans::views;
pub use requests::{SILENCE, is_cut_file};
pub use rule::{OverturningEvidence, PLACEHOLDERS, Rule, RuleError};
pub use validate::plan;
pub use verdict::{Verdict, explain};
