//! A case or a store as SQL tables, read-only and bounded.
//!
//! `cell` is what a column is; a file a table (`events`, `objects`, `tenures`,
//! `coverage`, `runs`, `experiments`, `incidents`, `collateral`) and one for the table
//! `functions`; `ballista` runs statements on several machines; `fleet` computes the figures over all experiments; `kept` has those of a store; `session` puts them together and runs statements under the
//! `guard`; `prompt` asks a person for them.

#[cfg(feature = "distributed")]
mod ballista;
mod catalog;
mod collateral;
mod column;
mod coverage;
#[cfg(test)]
mod damaged_tests;
#[cfg(feature = "distributed")]
mod deadline;
#[cfg(test)]
mod docs;
mod error;
mod events;
mod events_table;
mod experiments;
mod fleet;
mod functions;
mod guard;
mod incidents;
mod job;
mod links;
mod machines;
mod needs_explaining;
mod now;
mod objects;
mod planned;
pub mod prompt;
mod prune;
mod rows;
mod runs;
mod session;
mod shared_case;
mod stored;
mod tenures;
#[cfg(test)]
mod tests;
#[cfg(any(feature = "flight", feature = "postgres"))]
mod wires;
mod yielding_joins;

#[cfg(feature = "distributed")]
pub use self::ballista::{Ballista, Executor, Scheduler, cancel};
pub use self::catalog::Table;
#[cfg(feature = "flight")]
pub(crate) use self::catalog::all as tables;
pub(crate) use self::column::DESCRIPTION;
pub use self::error::{hint, say};
pub use self::fleet::{FleetScope, fleet, window};
pub use self::job::{Form, Job, Report};
#[cfg(feature = "distributed")]
pub use self::job::{JOB, OnBallista};
pub use self::needs_explaining::{note_on_last_day, rests_on_explaining};
pub(crate) use self::prompt::type_name;
pub use self::session::{Session, Statement};
pub use self::stored::{LAST_DAY, StoredTables};
#[cfg(feature = "postgres")]
pub use self::wires::PostgresValue;
#[cfg(any(feature = "flight", feature = "postgres"))]
pub use self::wires::{Dialect, Values, WireStatement};
