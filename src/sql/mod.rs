//! A case or a store as SQL tables, read-only and bounded.
//!
//! `cell` is what a column is; a file a table (`events`, `objects`, `tenures`,
//! `coverage`, `runs`, `experiments`, `incidents`, `collateral`) and one for the table
//! `functions`; `kept` has those of a store; `session` puts them together and runs statements under the
//! `guard`; `prompt` asks a person for them.

mod catalog;
mod cell;
mod collateral;
mod coop;
mod coverage;
#[cfg(test)]
mod damaged_tests;
#[cfg(test)]
mod docs;
mod error;
mod events;
mod events_table;
mod experiments;
mod explaining;
mod functions;
mod guard;
mod incidents;
mod job;
mod kept;
mod machines;
mod now;
mod objects;
pub mod prompt;
mod prune;
mod rows;
mod runs;
mod session;
mod shared;
mod tenures;
#[cfg(test)]
mod tests;
mod ties;

pub use self::catalog::Table;
pub use self::error::say;
pub use self::explaining::rests_on_explaining;
pub use self::job::{Form, Job, Report};
pub use self::kept::Kept;
pub use self::session::{Session, Statement};
