//! Kubernetes as its API writes it: objects, Events, watch lines and audit records.
//!
//! Contract: objects and Events tell facts with a time of their own. What only
//! the difference between two versions tells (a cordon, a taint without a time,
//! another boot id) is found later, when all versions are known.

mod audit;
mod autoscaler_status;
mod checkup;
mod decode;
mod event;
mod field;
mod kind;
mod meta;
mod node;
mod pod;
mod template;
mod workload;

pub use decode::decode;
pub use event::by_name as event_id;
pub(crate) use kind::of_word as kind_of_word;
pub use kind::{is_workload, normal_kind};
