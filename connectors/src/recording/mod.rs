//! Recordings: answers over files, folders, archives and standard input.
//!
//! [`read`] takes anything a person has at hand after the fact: `kubectl get
//! -o json|yaml`, watch and audit lines, what kubectl prints for people,
//! container logs, answers and exports of log stores, must-gather and other bundles, packed or not. A file is recognised by its
//! content. Memory is bounded whatever the input; what cannot be used is
//! counted with file, line and reason in the [`Summary`].

mod batch;
mod budget;
mod colours;
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
mod pasted;
mod pipe;
mod read;
mod records;
mod scanner;
mod sniff;
mod summary;
mod table;
mod window;
mod work;
mod yaml;

#[cfg(test)]
mod tests;

pub use crate::contract::{Input, LogLines, Options, read_yaml};
pub use bytes::Bytes;
pub use read::{read, read_with};
pub use summary::{FileStatus, FileSummary, RejectedRecord, Summary};
pub use work::Decode;
