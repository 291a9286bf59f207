//! Where a case comes from: recordings, or the store after asking live sources.

mod clouds;
mod explained;
mod given;
mod import;
mod incidents;
mod keeper;
mod kept;
mod live;
mod log_stores;
mod metrics;
mod scope;
mod slurm;
mod sources;

pub use explained::{Explained, explain_one, explain_rest, listed, run_id};
pub use given::Variables;
pub use import::import;
pub use incidents::{Kept, keep, kept, told, visible};
pub use kept::{all_of_window, case, of_found};
pub use live::{Asked, Live, Question, fetch, options};
pub use sources::{Sources, sources};
