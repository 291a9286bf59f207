//! Recordings: answers over files, folders, archives and standard input.
//!
//! [`read`] takes anything a person has at hand after the fact: `kubectl get
//! -o json|yaml`, watch and audit lines, what kubectl prints for people,
//! container logs, answers of Loki, answers and exports of Datadog, must-gather and other bundles, packed or not. A file is recognised by its
//! content. Memory is bounded whatever the input; what cannot be used is
//! counted with file, line and reason in the [`Summary`].

mod batch;
mod budget;
mod convert;
mod dump;
mod feed;
mod folder_context;
mod foreign;
mod format;
mod guard;
mod inputs;
mod json;
mod kernel;
mod layout;
mod lines;
mod open;
mod options;
mod pasted;
mod read;
mod scanner;
mod sniff;
mod summary;
mod table;
mod window;
mod work;
mod yaml;

#[cfg(test)]
mod tests;

pub use bytes::Bytes;
pub use convert::{parse as yaml_to_json, read as read_yaml};
pub(crate) use foreign::{Decoder as ForeignDecoder, ForeignOutput, Record as ForeignRecord};
pub(crate) use format::{FileHead, FormatOutput, TextFormat, TextReader, numbered};
pub(crate) use layout::looks_made;
pub use options::{Input, LogLines, Options};
pub use read::{Sink, read, read_with};
pub use summary::{FileStatus, FileSummary, RejectedRecord, Summary};
pub(crate) use table::Table;
pub use work::Decode;
