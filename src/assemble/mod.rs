//! From findings to the answer.

mod actor;
mod answer;
mod chain;
mod culprit;
mod everything;
mod incident;
mod lines;
mod machine;
mod proof;
mod record;
mod run;
mod said;
mod summary;
mod teller;
mod victim;

pub use answer::{Question, answer};
pub use everything::everything;
pub use machine::gpu;
pub use record::record;
