//! Lines by minute, counted by Logs Insights. Billed by the byte it looks through.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::client::LogsClient;
use super::scan::GroupScan;
use crate::http::HttpError;
use crate::log_store::{Counts, Minute, Span};
use crate::time::{SECOND, Stamp};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct QueryStarted {
    query_id: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Results {
    status: String,
    results: Vec<Vec<ResultField>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResultField {
    field: String,
    value: String,
}

/// Text as a literal of the query language.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The query that counts what a scan reads.
fn query(scan: &GroupScan, names: &[String]) -> String {
    let mut query = String::new();
    if !scan.streams.is_empty() {
        let streams: Vec<String> = scan.streams.iter().map(|name| quoted(name)).collect();
        query.push_str(&format!("filter @logStream in [{}] | ", streams.join(", ")));
    } else if !names.is_empty() {
        let named = names
            .iter()
            .map(|name| format!("@message like {}", quoted(name)));
        let named: Vec<String> = named.collect();
        query.push_str(&format!("filter {} | ", named.join(" or ")));
    }
    query + "stats count(*) as lines by bin(1m) as minute"
}

/// Counts what a scan would read; `names` are those its pattern looks for.
pub(super) async fn count(
    wire: &LogsClient,
    scan: &GroupScan,
    names: &[String],
    span: Span,
    deadline: Instant,
    counts: &mut Counts,
) -> Result<(), HttpError> {
    let body = json!({
        "logGroupNames": [scan.group],
        // Whole seconds, both of which belong to the window.
        "startTime": span.from.div_euclid(SECOND),
        "endTime": (span.to - 1).div_euclid(SECOND),
        "queryString": query(scan, names),
        "limit": 10_000,
    });
    let started: QueryStarted = wire.call("StartQuery", &body, deadline).await?;
    let id = json!({ "queryId": started.query_id });
    let mut wait = Duration::from_millis(300);
    let results = loop {
        let results: Results = wire.call("GetQueryResults", &id, deadline).await?;
        if !matches!(results.status.as_str(), "Scheduled" | "Running" | "Unknown") {
            break results;
        }
        if Instant::now() + wait >= deadline {
            // What goes on is billed.
            let grace = Instant::now() + Duration::from_secs(3);
            let stopped: Result<Value, HttpError> = wire.call("StopQuery", &id, grace).await;
            if let Err(failure) = stopped {
                tracing::debug!(%failure, "a query was not stopped");
            }
            break results;
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(Duration::from_secs(5));
    };
    if results.status != "Complete" {
        counts.partial.push(format!(
            "counting {} ended with status {}",
            scan.group, results.status
        ));
    }
    for row in &results.results {
        let get = |name: &str| row.iter().find(|cell| cell.field == name);
        let at = get("minute").and_then(|cell| moment(&cell.value));
        let lines = get("lines").and_then(|cell| cell.value.parse().ok());
        if let (Some(at), Some(lines)) = (at, lines) {
            counts.minutes.push(Minute { at: at.lo, lines });
        }
    }
    Ok(())
}

/// `2026-11-21 15:20:00.000`, in UTC.
pub(super) fn moment(text: &str) -> Option<Stamp> {
    Stamp::parse(&format!("{}Z", text.trim().replacen(' ', "T", 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_literals_of_the_query() {
        let scan = GroupScan {
            group: "g".to_owned(),
            streams: vec!["a\"b\\".to_owned()],
            pattern: None,
        };
        assert!(query(&scan, &[]).starts_with(r#"filter @logStream in ["a\"b\\"] | stats"#));
    }
}
