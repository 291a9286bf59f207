//! What can be typed beside statements.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::error::ArrowError;

use crate::sql::column::DESCRIPTION;
use crate::sql::{Session, Table};

/// What `help` prints.
pub const HELP: &str = "\
Statements end with a semicolon and are read-only. Tab completes names.
  \\d          list the tables and table functions
  \\d NAME     list the columns of one, with their meaning
  \\q          quit; so does Ctrl-D
  help        this
Try: SELECT experiment, cause, level, time FROM incidents;
     SELECT * FROM why('NAME');
     SELECT time, text FROM timeline('NAME');
     SELECT attributes ->> 'user_agent', count(*) FROM events GROUP BY 1;
now() is the end of the input.";

/// A command of the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// List the tables.
    Tables,
    /// List the columns of a table.
    Columns(String),
    /// Say what can be typed.
    Help,
    /// Go.
    Quit,
    /// Begins like a command and is none.
    Unknown(String),
}

impl Command {
    /// The command that a text is, if it is one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches(';').trim_end();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match (word, rest.trim()) {
            ("\\d" | "\\dt" | "\\dt+" | "\\d+", "") => Some(Self::Tables),
            ("\\d" | "\\d+", table) => Some(Self::Columns(table.to_owned())),
            ("\\q" | "quit" | "exit", "") => Some(Self::Quit),
            ("\\?" | "\\h" | "help", "") => Some(Self::Help),
            (word, _) if word.starts_with('\\') => Some(Self::Unknown(word.to_owned())),
            _ => None,
        }
    }
}

/// The tables as rows.
///
/// # Errors
/// Never for columns of one length, which these are.
pub(crate) fn tables(session: &Session) -> Result<RecordBatch, ArrowError> {
    let call = |table: &Table| {
        if table.is_function {
            format!("{}('experiment')", table.name)
        } else {
            table.name.to_owned()
        }
    };
    rows([
        ("table", session.tables().iter().map(call).collect()),
        (
            "a row is",
            session
                .tables()
                .iter()
                .map(|table| table.meaning.to_owned())
                .collect(),
        ),
    ])
}

/// The columns of a table as rows.
///
/// # Errors
/// Never for columns of one length, which these are.
pub(crate) fn columns(table: &Table) -> Result<RecordBatch, ArrowError> {
    let fields = || table.schema.fields().iter();
    let meaning = |key: &str| {
        fields()
            .map(|field| field.metadata().get(key).cloned().unwrap_or_default())
            .collect()
    };
    rows([
        (
            "column",
            fields().map(|field| field.name().clone()).collect(),
        ),
        (
            "type",
            fields()
                .map(|field| type_name(field.data_type()).to_owned())
                .collect(),
        ),
        ("meaning", meaning(DESCRIPTION)),
    ])
}

fn rows<const N: usize>(columns: [(&str, Vec<String>); N]) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_from_iter(
        columns.map(|(name, texts)| (name, Arc::new(StringArray::from(texts)) as ArrayRef)),
    )
}

/// The type of a column in a word.
pub(crate) fn type_name(kind: &datafusion::arrow::datatypes::DataType) -> &'static str {
    use datafusion::arrow::datatypes::DataType;
    match kind {
        DataType::Utf8 => "text",
        DataType::List(_) => "list of text",
        DataType::Timestamp(..) => "timestamp (ns, UTC)",
        DataType::Int32 => "int",
        DataType::Int64 => "bigint",
        DataType::Float64 => "double",
        DataType::Boolean => "boolean",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::Command;

    #[test]
    fn commands_are_told_from_statements() {
        assert_eq!(Command::parse("\\d"), Some(Command::Tables));
        assert_eq!(
            Command::parse(" \\d events; "),
            Some(Command::Columns("events".to_owned()))
        );
        assert_eq!(Command::parse("quit"), Some(Command::Quit));
        assert_eq!(Command::parse("help;"), Some(Command::Help));
        assert_eq!(
            Command::parse("\\x"),
            Some(Command::Unknown("\\x".to_owned()))
        );
        assert_eq!(Command::parse("SELECT 1;"), None);
    }
}
