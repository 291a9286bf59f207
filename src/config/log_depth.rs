//! Where logs are kept, and how much is read of them.

use serde::Deserialize;

/// How much is read of logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogDepth {
    /// Lines around deaths, the first and last lines of pods, and lines that match a known signal.
    #[default]
    Usual,
    /// Everything, up to a limit.
    All,
    /// Nothing.
    None,
}

/// How much is read of logs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Logs {
    /// `usual`, `all` or `none`.
    pub wanted: LogDepth,
    /// Requests that one answer may cost in stores that count them.
    pub requests: Option<u64>,
    /// Lines of one answer.
    pub most_lines: Option<usize>,
}
