//! The crucible: a deterministic simulator of clusters that fail, of what observers
//! would have recorded of it, and a judge of what the tool says about the records.
//!
//! It is written from how Kubernetes, clouds and training jobs work, not from the
//! tool's rules, and depends on none of the tool's packages.

pub mod case;
mod cloud;
pub mod control;
pub mod expect;
pub mod fault;
pub mod judge;
pub mod observe;
pub mod perturb;
pub mod perturb_folders;
pub mod plan;
pub mod rng;
pub mod run;
pub mod shrink;
pub mod table;
pub mod time;
pub mod times;
pub mod train;
pub mod truth;
pub mod world;
