//! What a decoder of recorded data gets and gives.
//!
//! A source's folder says here which records, formats and tables it reads; the reader
//! (`recording`) has one registry of all of them, and is known to none.

mod answer_format;
mod foreign;
mod labels;
mod log_source;
mod options;
mod pod_name;
mod record_format;
mod stored_line;
mod stream_name;
mod table;
mod text_format;
mod word_table;
mod yaml;

pub(crate) use answer_format::AnswerFormat;
pub(crate) use foreign::{ForeignDecoder, ForeignOutput, ForeignRecord};
pub use labels::LabelNames;
pub use log_source::LogSource;
pub use options::{Input, LogLines, Options};
pub(crate) use pod_name::looks_made;
pub(crate) use record_format::{Framer, RecordFormat, RecordReader, Step};
pub(crate) use stored_line::RecordedLine;
pub use stored_line::{Labels, StoredLine};
pub(crate) use stream_name::labels_of_stream;
pub(crate) use table::Table;
pub(crate) use text_format::{FileHead, FormatOutput, TextFormat, TextReader, each_line, numbered};
pub(crate) use word_table::{WordSearch, WordTable};
pub(crate) use yaml::parse as yaml_to_json;
pub use yaml::read as read_yaml;
