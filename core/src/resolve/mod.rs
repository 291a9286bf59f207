//! From a name to entities: runs and their attempts, and which of them a name means.

mod machine;
mod matching;
mod name;
mod places;
mod run;

pub use machine::{MachineMatch, place};
pub use matching::{BY_ARRAY, BY_STEM, LABELS, NameMatch, OtherRun, rank_names, resolve};
pub use name::Name;
pub use run::{Attempt, Root, Run, runs};
