//! From findings to the answer.

mod actor;
mod answer;
mod chain;
mod culprit;
mod everything;
mod incident;
mod lead;
mod lines;
mod listing;
mod machine;
mod narrow;
mod proof;
mod record;
mod run;
mod said;
mod shared;
mod summary;
mod teller;
mod upcoming;
mod victim;

pub use actor::owner;
pub use answer::{Question, answer, coverage_row};
pub use everything::{befalls, everything, of_runs};
pub use listing::listing;
pub use machine::gpu;
pub use record::record;
pub use upcoming::{Announced, Report, upcoming};
pub use victim::last_words;
