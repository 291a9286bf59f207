//! From a name to entities: runs and their attempts, and which of them a name means.

mod listed;
mod machine;
mod matching;
mod name;
mod places;
mod run;
mod tier;

pub use crate::graph::Root;
pub use listed::ListedName;
pub use machine::{MachineMatch, place};
pub use matching::{NameMatch, OtherRun, rank_names, resolve};
pub use name::Name;
pub use run::{Attempt, Run, runs};
pub use tier::{BY_ARRAY, BY_STEM, LABELS};
