//! From a name to entities: runs and their attempts, and which of them a name means.

mod matching;
mod name;
mod run;

pub use matching::{LABELS, Matched, Other, rank_names, resolve};
pub use name::Name;
pub use run::{Attempt, Root, Run, runs};
