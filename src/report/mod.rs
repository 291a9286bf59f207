//! From findings to the answer.

mod actor;
mod answer;
mod batch_state;
mod chain;
mod context;
mod drawn;
mod everything;
mod evidence;
mod incident;
mod last_heard;
mod leading_run;
mod listing;
mod machine;
mod narrow;
mod process_output;
mod read_for_run;
mod record;
mod responsible_actor;
mod run;
mod shared_fault;
mod shown;
mod summary;
mod timeline;
mod upcoming;
mod victim;
mod well;
mod zones;

pub use actor::owner;
pub use answer::{Question, answer, coverage_row, coverage_rows};
pub use everything::{befalls, of_runs, with_survived};
pub(crate) use last_heard::heard_until;
pub use listing::listing;
pub use machine::gpu;
pub use record::record;
pub use upcoming::{Announcement, Report, is_calendar_alone, upcoming};
pub use victim::last_words;
