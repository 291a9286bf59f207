//! Where a case comes from: recordings, or the store after asking live sources.

mod closed_words;
mod clouds;
mod held;
mod import;
mod incidents;
mod live;
mod log_stores;
mod metrics;
mod scope;
mod selective;
mod slurm;
mod source_config;
mod sources;
mod stored;
mod unexplained_runs;
mod unusable;
mod verdicts;
mod writer;

pub use held::{ClusterHours, held_sources};
pub use import::{ImportTarget, import, warnings};
pub use incidents::{
    IncidentOfRun, from_stored, is_routine_stop, store_incidents, stored_incidents, visible,
};
pub use live::{FetchOutcome, FetchTargets, Question, fetch, options};
pub use source_config::Variables;
pub use sources::{Sources, sources};
pub use stored::{all_of_window, case, of_found};
pub use unexplained_runs::{
    Explained, explain_damaged, explain_one, explain_rest, listed, read_ahead, run_id,
};
pub use unusable::unusable;
pub use verdicts::{is_same, name_incidents, past_verdicts};
