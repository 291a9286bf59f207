//! How often the answer is right, over labelled cases, beside three baselines.
//!
//! `expect` is what a case says of itself; `judge` compares an answer with it;
//! `baseline` is what people do without this tool; `score` counts; `run` goes
//! over folders; `report` shows all of it.

mod baseline;
mod expect;
mod folders;
mod judge;
mod named;
mod report;
mod run;
mod score;

pub use baseline::BASELINES;
pub use folders::{CaseFolders, find};
pub use judge::Verdict;
pub use report::{json, table};
pub use run::{QuestionResult, run};
pub use score::{Score, Scores, scores};
