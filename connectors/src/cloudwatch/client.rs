//! Requests and answers.

use std::time::Instant;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::http::{Client, HttpError, Request};

/// One account's `CloudWatch` Logs in one region.
#[derive(Clone, Debug)]
pub(super) struct LogsClient {
    pub(super) client: Client,
}

impl LogsClient {
    /// Calls an operation.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        operation: &str,
        body: &Value,
        deadline: Instant,
    ) -> Result<T, HttpError> {
        let request = Request::post("")
            .header("X-Amz-Target", format!("Logs_20140328.{operation}"))
            .json_as("application/x-amz-json-1.1", body)?;
        self.client.json(&request, deadline).await
    }
}

/// The name of the error that AWS answered with.
pub(super) fn is_error(failure: &HttpError, name: &str) -> bool {
    matches!(failure, HttpError::Refused { message, .. } if message.starts_with(name))
}

/// `FilterLogEvents`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Page {
    pub(super) events: Vec<Event>,
    pub(super) next_token: Option<String>,
}

/// One event.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Event {
    /// Milliseconds since 1970.
    pub(super) timestamp: i64,
    pub(super) message: String,
    pub(super) log_stream_name: String,
    pub(super) event_id: String,
}

/// `DescribeLogGroups`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Groups {
    pub(super) log_groups: Vec<Group>,
    pub(super) next_token: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Group {
    pub(super) log_group_name: String,
    /// Kept for ever where there is none.
    pub(super) retention_in_days: Option<i64>,
}

/// `DescribeLogStreams`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Streams {
    pub(super) log_streams: Vec<Stream>,
    pub(super) next_token: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Stream {
    pub(super) log_stream_name: String,
    /// Milliseconds since 1970; up to an hour behind, rarely more.
    pub(super) last_event_timestamp: Option<i64>,
}
