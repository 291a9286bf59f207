use std::fmt;
use std::str::FromStr;

/// How an answer or the rows of a query are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// For people, at a terminal.
    #[default]
    Table,
    /// One JSON document.
    Json,
    /// One JSON object a line.
    Ndjson,
    /// GitHub-flavoured Markdown, for an issue or a chat.
    Md,
    /// One page in HTML that needs no network, for a browser, an e-mail or a ticket.
    Html,
    /// Comma-separated values (RFC 4180), for a spreadsheet.
    Csv,
    /// Apache Parquet, for other engines.
    Parquet,
    /// A message for Slack, as its API and its incoming webhooks take it: of reports alone.
    Slack,
}

impl Format {
    /// Every format of answers and rows, in the order of the documentation.
    pub const ALL: [Self; 7] = [
        Self::Table,
        Self::Json,
        Self::Ndjson,
        Self::Md,
        Self::Html,
        Self::Csv,
        Self::Parquet,
    ];

    /// The names of all formats, in the same order.
    pub const NAMES: [&'static str; 7] =
        ["table", "json", "ndjson", "md", "html", "csv", "parquet"];

    /// The name used on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Md => "md",
            Self::Html => "html",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::Slack => "slack",
        }
    }

    /// Whether the bytes are no text, so that a terminal should not get them.
    #[must_use]
    pub fn is_binary(self) -> bool {
        self == Self::Parquet
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.as_str() == name)
            .ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// A name that is no [`Format`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format '{0}'; one of {known}", known = Format::NAMES.join(", "))]
pub struct UnknownFormat(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        assert_eq!(Format::ALL.map(Format::as_str), Format::NAMES);
        for format in Format::ALL {
            assert_eq!(format.as_str().parse(), Ok(format));
        }
        let error = "xml".parse::<Format>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown format 'xml'; one of table, json, ndjson, md, html, csv, parquet"
        );
    }
}
