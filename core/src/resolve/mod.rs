//! From a name to entities: runs and their attempts, and which of them a name means.

mod matching;
mod name;
mod place;
mod run;

pub use matching::{LABELS, Matched, Other, rank_names, resolve};
pub use name::Name;
pub use place::{Place, place};
pub use run::{Attempt, Root, Run, runs};
