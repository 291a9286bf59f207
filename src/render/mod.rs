//! Answers and rows as people and programs want them, a format a file.
//!
//! Nothing here prints or asks the terminal: the caller gives the output, its
//! width and whether to colour.

mod answer;
mod cells;
mod clock;
mod csv;
mod cut;
mod error;
mod everything;
mod facts;
#[cfg(test)]
mod fixtures;
mod fleet;
mod format;
mod grid;
mod html;
mod json;
mod listed;
mod machine_history;
mod md;
mod ndjson;
mod node;
mod page;
mod parquet;
mod process_output;
mod rows;
#[cfg(test)]
mod rows_tests;
#[cfg(test)]
mod schema_tests;
mod select;
mod sheet;
mod slack;
mod style;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod timeline_batch;
mod wording;
mod wrap;

pub use self::answer::answer;
pub(crate) use self::clock::Clock;
pub use self::error::RenderError;
pub use self::fleet::fleet;
pub use self::format::{Format, UnknownFormat};
pub(crate) use self::html::rows_with_records;
pub use self::html::site;
pub use self::listed::listed;
pub use self::node::node;
pub use self::rows::{RowWriter, rows};
pub use self::slack::{Card, attempts, card, page_of, redacted, timeline, why};
pub use self::style::{Style, Tz, UnknownTz};
pub(crate) use self::text::clip;
pub use self::text::in_address;
