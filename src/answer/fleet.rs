//! What was lost in a window: figures over all experiments.
//!
//! Its JSON form is a contract (`docs/report.schema.json`).

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The name of the report's shape.
pub const REPORT_SCHEMA: &str = "whathappened/report/v1";

/// Figures over everything that happened in a window.
///
/// Fields are added, never renamed or removed, under one `schema` name: readers must ignore unknown fields. All times
/// are RFC 3339 in UTC.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FleetReport {
    /// The name of this shape.
    #[schema(schema_with = super::contract::report_name)]
    pub schema: &'static str,
    /// Start of the window.
    #[schema(format = DateTime)]
    pub from: String,
    /// End of the window, exclusive.
    #[schema(format = DateTime)]
    pub to: String,
    /// Runs that were active in the window.
    pub runs: u64,
    /// Those of them that are explained: figures rest on these.
    pub explained: u64,
    /// Version of the signal and cause rules that were used.
    pub ruleset: String,
    /// Address of the service over the same store, where one is configured: statements open there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// Remarks: what limits the figures.
    pub notes: Vec<String>,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// One figure: the rows of a statement, and what they mean.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Figure {
    /// Its name in links and programs.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What is counted.
    pub definition: &'static str,
    /// How much of the data it rests on.
    pub coverage: Option<String>,
    /// The statement that computed it.
    pub sql: String,
    /// For each row the statement that lists the incidents it counts.
    pub incidents: Vec<String>,
    /// The column that is drawn as bars.
    pub chart: Option<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with a value per column.
    pub rows: Vec<Vec<Value>>,
}
