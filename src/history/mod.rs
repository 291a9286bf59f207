//! What happened to machines before: earlier faults of the one an incident is of, and
//! a machine's own history.
//!
//! A fault is counted once however many records tell of it, and only for the
//! machine that bore the name then. No name of what ran there is told.

mod earlier_faults;
mod episode;
mod events;
mod fault_record;
mod node;
mod past_faults;
mod stored;

pub use earlier_faults::remember;
pub use node::{NodeQuery, Verdicts, node};
pub use past_faults::PastFaults;
pub use stored::of_store_lately;
