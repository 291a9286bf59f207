//! From findings to the answer.

mod actor;
mod answer;
mod chain;
mod culprit;
mod incident;
mod lines;
mod proof;
mod record;
mod run;
mod summary;
mod teller;
mod victim;

pub use answer::{Question, answer, everything};
pub use record::record;
