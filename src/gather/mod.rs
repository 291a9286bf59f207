//! Where a case comes from: recordings, or the store after asking live sources.

mod incidents;
mod kept;
mod live;

pub use incidents::{Kept, keep, kept};
pub use kept::{all_of_window, case_of, of_found};
pub use live::{Live, fetch, options};
