//! Kubernetes as its API writes it: objects, Events, watch lines and audit records.
//!
//! Contract: objects and Events tell facts with a time of their own. What only
//! the difference between two versions tells (a cordon, a taint without a time,
//! another boot id) is found later, when all versions are known.

mod argo;
mod audit;
mod autoscaler_status;
mod checkup;
mod decode;
mod event;
mod field;
mod lease;
mod meta;
mod node;
mod pod;
mod readiness;
mod size;
mod status_patch;
mod template;
mod workload;

pub use decode::{UNKNOWN_KIND, decode};
