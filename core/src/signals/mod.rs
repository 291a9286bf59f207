//! Signals: what a record means, in our vocabulary.
//!
//! A signal is a name such as `k8s.pod.preempted` with conditions on an
//! event's fields, kept with examples in `queries/signals/*.toml` (the format
//! is described in the README there). [`Ruleset::classify`] sets an event's
//! signals and puts the named captures of the matching patterns into its
//! attributes. A signal is a claim: what caused what is decided later.
//!
//! Every event touches only the rules of its fact and reason. Patterns over
//! free text are guarded by literals that any match must contain (`scan`),
//! found in one pass for all patterns.

mod actor;
mod actor_kind;
mod built_in;
mod check;
mod condition;
mod error;
mod expand;
mod file;
mod known;
mod literals;
pub mod named;
mod pattern;
mod ruleset;
mod scan;
mod speaker;
mod traits;
mod values;
mod words;

#[cfg(test)]
mod tests;

pub use actor_kind::ActorKind;
pub use check::{CheckReport, Failure};
pub use error::SignalError;
pub use file::Enforcer;
pub use ruleset::{Ruleset, SignalInfo};
pub use traits::{
    INSTANCE_CHANGES, LANES, MachineEventKind, SharedDependency, SignalClass, SignalTraits,
};
