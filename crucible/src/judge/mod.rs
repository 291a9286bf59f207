//! The judge: asks the tool, and holds its answers against what is true.

mod answer;
mod invariant;
mod tool;
mod verdict;

pub use answer::{Answer, Coverage, Incident, Link, Victim, is_claimed, rank};
pub use invariant::{Broken, check};
pub use tool::{ENDED, Question, Reply, Tool};
pub use verdict::{Judged, Verdict, judge};
