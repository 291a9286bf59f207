//! What was lost in a window. Every figure is one statement over the same tables that anybody
//! can query, so that it equals the statement that stands beside it.

mod queries;

use chrono::DateTime;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::json::ArrayWriter;
use serde_json::{Map, Value};
use whathappened_model::time::{Nanos, SECOND, rfc3339};

use self::queries::{QUERIES, Query};
use super::Session;
use crate::answer::{Figure, FleetReport, REPORT_SCHEMA};
use crate::error::Error;

/// Columns of incidents that figures need.
const COLUMNS: &str = "experiment, run_id, namespace, owner, cause, title, level, time, gpu_hours_lost, machines, \
faulty_machines, missing, actor_is_owner, died, detected, restarted";

/// The window and what is known about how much of it is explained.
#[derive(Clone, Debug, Default)]
pub struct FleetScope {
    /// Start of the window.
    pub from: Nanos,
    /// End of the window, exclusive.
    pub to: Nanos,
    /// Only what is of these namespaces; all where none is named.
    pub namespaces: Vec<String>,
    /// Only what is of this owner: the full name or the part before the @.
    pub owner: Option<String>,
    /// Runs that were active in it.
    pub runs: usize,
    /// Those that are explained.
    pub explained: usize,
    /// The command that explains the rest; `whathappened explain` where nothing is said.
    pub explained_by: String,
    /// Version of the rules.
    pub ruleset: String,
    /// Address of the service over the same store, if it is known.
    pub site: Option<String>,
}

impl FleetScope {
    /// A statement over no more than what is asked for.
    fn narrowed(&self, sql: &str) -> String {
        let text = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let mut conditions: Vec<String> = Vec::new();
        if !self.namespaces.is_empty() {
            let names: Vec<String> = self.namespaces.iter().map(|name| text(name)).collect();
            conditions.push(format!("namespace IN ({})", names.join(", ")));
        }
        if let Some(owner) = &self.owner {
            let local = owner.split('@').next().unwrap_or(owner).to_lowercase();
            conditions.push(format!(
                "lower(split_part(owner, '@', 1)) = {}",
                text(&local)
            ));
        }
        if conditions.is_empty() {
            return sql.to_owned();
        }
        let narrow = |sql: String, table: &str| {
            let whole = format!("FROM {table}");
            let some = format!(
                "FROM (SELECT * FROM {table} WHERE {}) AS {table}",
                conditions.join(" AND ")
            );
            sql.replace(&whole, &some)
        };
        ["incidents", "runs"]
            .into_iter()
            .fold(sql.to_owned(), narrow)
    }
}

/// The figures of a window.
///
/// # Errors
/// When a statement fails, as over a store that cannot be read.
pub async fn fleet(session: &Session, scope: &FleetScope) -> Result<FleetReport, Error> {
    // All figures are of one moment, and what was explained is taken apart once.
    session.hold("incidents", COLUMNS).await?;
    let mut figures = Vec::new();
    for query in QUERIES {
        figures.push(figure(session, &Query::parse(query), scope).await?);
    }
    let mut notes = Vec::new();
    if scope.explained < scope.runs {
        let command = match scope.explained_by.as_str() {
            "" => "whathappened explain",
            command => command,
        };
        let (left, runs) = (scope.runs - scope.explained, scope.runs);
        let (are, them) = if left == 1 {
            ("is", "it")
        } else {
            ("are", "them")
        };
        notes.push(format!(
            "{left} of {runs} runs in this window {are} not explained yet; the figures do not count what happened to {them}. \
             `{command}` explains {them}."
        ));
    }
    Ok(FleetReport {
        schema: REPORT_SCHEMA,
        from: rfc3339(scope.from),
        to: rfc3339(scope.to),
        runs: scope.runs as u64,
        explained: scope.explained as u64,
        ruleset: scope.ruleset.clone(),
        site: scope.site.clone(),
        notes,
        figures,
    })
}

/// The window that ends with the latest record, to the second: later ones are not in it.
#[must_use]
pub fn window(latest: Nanos, length: Nanos) -> (Nanos, Nanos) {
    let to = latest
        .saturating_sub(latest.rem_euclid(SECOND))
        .saturating_add(SECOND);
    (to.saturating_sub(length), to)
}

async fn figure(session: &Session, query: &Query, scope: &FleetScope) -> Result<Figure, Error> {
    let within = |sql: &str| {
        let sql = sql
            .replace("{from}", &literal(scope.from))
            .replace("{to}", &literal(scope.to));
        scope.narrowed(&sql)
    };
    let sql = within(query.sql);
    let batches = session.query(&sql).await?;
    let columns: Vec<String> = batches.first().map_or_else(Vec::new, |batch| {
        let schema = batch.schema();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    });
    let rows: Vec<Vec<Value>> = objects(&batches)?
        .into_iter()
        .map(|mut row| {
            let value = |column: &String| row.remove(column).unwrap_or(Value::Null);
            columns.iter().map(value).collect()
        })
        .collect();
    // The row's values come last: what stands in them is no place and no table.
    let list = within(&format!(
        "{LIST} ({}){IN_ORDER}",
        query.incidents.unwrap_or("true")
    ));
    let listed = rows.iter().map(|row| filled(&list, &columns, row));
    let incidents = listed.collect();
    // The first column of those that are worth drawing that has anything to draw.
    let is_drawn = |name: &&String| {
        let at = columns.iter().position(|column| column == *name);
        let mut values = rows.iter().filter_map(|row| row.get(at?)?.as_f64());
        values.any(|value| value > 0.0)
    };
    Ok(Figure {
        id: query.id,
        title: query.title,
        definition: query.definition,
        coverage: query.coverage.map(str::to_owned),
        chart: query.chart.iter().find(is_drawn).cloned(),
        columns,
        rows,
        incidents,
        sql,
    })
}

/// The incidents behind a row, as a person reads them.
const LIST: &str = "SELECT time, experiment, title, level, gpu_hours_lost, died, detected, restarted, summary, id \
FROM incidents WHERE time >= {from} AND time < {to} AND";

const IN_ORDER: &str = " ORDER BY time DESC, experiment, title";

/// A condition with the values of a row in it.
fn filled(condition: &str, columns: &[String], row: &[Value]) -> String {
    let mut filled = String::new();
    let mut rest = condition;
    // In one pass, so that a value with braces in it is no place of another.
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let value = after.split_once('}').and_then(|(name, left)| {
            let at = columns.iter().position(|column| column == name)?;
            Some((row.get(at)?, left))
        });
        match value {
            Some((value, left)) => {
                filled.push_str(&quoted(value));
                rest = left;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled + rest
}

/// A value as a statement has it.
fn quoted(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        other => other.to_string(),
    }
}

/// The rows as objects.
fn objects(batches: &[RecordBatch]) -> Result<Vec<Map<String, Value>>, Error> {
    let mut text = Vec::new();
    let mut writer = ArrayWriter::new(&mut text);
    let failed =
        |error: &dyn std::fmt::Display| Error::Failed(format!("a figure cannot be read: {error}"));
    writer
        .write_batches(&batches.iter().collect::<Vec<_>>())
        .and_then(|()| writer.finish())
        .map_err(|error| failed(&error))?;
    if text.is_empty() {
        return Ok(Vec::new());
    }
    serde_json::from_slice(&text).map_err(|error| failed(&error))
}

/// A time as a statement has it.
fn literal(at: Nanos) -> String {
    format!(
        "TIMESTAMP '{}'",
        DateTime::from_timestamp_nanos(at).format("%Y-%m-%dT%H:%M:%SZ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_some_is_of_no_others() {
        let scope = FleetScope {
            namespaces: vec!["it's".to_owned()],
            owner: Some("Alice@lab.example".to_owned()),
            ..FleetScope::default()
        };
        assert_eq!(
            scope.narrowed("SELECT 1 FROM incidents"),
            "SELECT 1 FROM (SELECT * FROM incidents WHERE namespace IN ('it''s') AND lower(split_part(owner, '@', 1)) = 'alice') AS incidents"
        );
        assert_eq!(FleetScope::default().narrowed("FROM runs"), "FROM runs");
        for query in QUERIES {
            let sql = Query::parse(query).sql;
            assert!(scope.narrowed(sql) != sql, "{sql}");
        }
    }

    #[test]
    fn a_value_is_no_statement_and_no_place() {
        let columns = ["cause".to_owned(), "owner".to_owned()];
        let row = [Value::from("it's {owner} {from}"), Value::Null];
        assert_eq!(
            filled(
                "cause = {cause} AND owner IS NOT DISTINCT FROM {owner} AND {to}",
                &columns,
                &row
            ),
            "cause = 'it''s {owner} {from}' AND owner IS NOT DISTINCT FROM NULL AND {to}"
        );
    }

    #[test]
    fn a_window_ends_with_the_latest_record() {
        let (from, to) = window(10 * SECOND + 5, 4 * SECOND);
        assert_eq!((from, to), (7 * SECOND, 11 * SECOND));
        assert_eq!(literal(0), "TIMESTAMP '1970-01-01T00:00:00Z'");
    }
}
