//! One file a verb: its arguments, and one function that calls the library and
//! hands the result to a renderer.

pub mod accuracy;
pub mod arguments;
#[cfg(feature = "distributed")]
pub mod ballista;
pub mod batch;
pub mod clock;
pub mod collect;
pub mod common;
pub mod completions;
pub mod doctor;
pub mod experiments;
pub mod explain;
pub mod features;
pub mod import;
pub mod init;
pub mod lakes;
pub mod man;
pub mod node;
mod output_file;
mod owners;
mod pager;
mod piped;
mod queried;
pub mod question;
pub mod report;
pub mod rules;
pub mod serve;
mod service_check;
pub mod settings;
pub mod sql;
pub mod statement;
pub mod store;
mod stored;
mod supervised;
mod unnamed;
pub mod upcoming;
