//! What befell machines before: earlier faults of the one an incident is of, and
//! a machine's own history.
//!
//! A fault is counted once however many records tell of it, and only for the
//! machine that bore the name then. No name of what ran there is told.

mod before;
mod episode;
mod happened;
mod mark;
mod node;
mod past;
mod stored;

pub use before::{DAYS, remember};
pub use node::{Asked, Verdicts, node};
pub use past::Past;
pub use stored::of_store;
