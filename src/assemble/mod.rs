//! From findings to the answer.

mod actor;
mod answer;
mod incident;
mod record;
mod run;
mod victim;

pub use answer::{Question, answer, everything};
pub use record::record;
