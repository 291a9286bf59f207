//! The four requests, each within the rate.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::budget::{Admission, Budget};
use super::options::{DatadogOptions, Tier};
use crate::http::{Answer, Client, HttpError, Request};

/// Searches lines.
pub(super) const LOGS: &str = "api/v2/logs/events/search";
/// Counts lines.
pub(super) const COUNT: &str = "api/v2/logs/analytics/aggregate";
/// Searches events.
pub(super) const EVENTS: &str = "api/v2/events/search";
/// Looks at the API key.
pub(super) const VALIDATE: &str = "api/v1/validate";

/// A clock of whole seconds says when a period ends: somewhat later is safe.
const MARGIN: Duration = Duration::from_millis(50);

/// Datadog, and what of its rate is ours.
#[derive(Debug)]
pub(super) struct Api {
    http: Client,
    budget: Budget,
}

/// What is searched: frozen, so that pages are of one answer.
#[derive(Clone, Debug)]
pub(super) struct Filter<'a> {
    pub(super) query: &'a str,
    /// In milliseconds since 1970.
    pub(super) from: i64,
    pub(super) to: i64,
    /// Of logs only.
    pub(super) tier: Option<Tier>,
    pub(super) indexes: &'a [String],
}

impl Filter<'_> {
    pub(super) fn json(&self) -> Value {
        let mut filter = json!({
            "query": self.query,
            "from": self.from.to_string(),
            "to": self.to.to_string(),
        });
        if let Some(tier) = self.tier {
            filter["storage_tier"] = tier.as_str().into();
            if !self.indexes.is_empty() {
                filter["indexes"] = json!(self.indexes);
            }
        }
        filter
    }
}

impl Api {
    pub(super) fn new(options: &DatadogOptions) -> Result<Self, HttpError> {
        Ok(Self {
            http: Client::new(options.reached()?)?,
            budget: Budget::new(options.left_to_people),
        })
    }

    pub(super) fn address(&self) -> String {
        self.http.address()
    }

    pub(super) fn sent(&self) -> u64 {
        self.http.sent()
    }

    /// Whether the API key is one; needs no application key.
    pub(super) async fn validate(&self, deadline: Instant) -> Result<Answer, HttpError> {
        self.http.send(&Request::get(VALIDATE), deadline).await
    }

    /// Sends a search or count once it is our turn.
    pub(super) async fn post(
        &self,
        endpoint: &'static str,
        body: &Value,
        deadline: Instant,
    ) -> Result<Answer, HttpError> {
        self.turn(endpoint, deadline).await?;
        let request = Request::post(endpoint).json(body)?;
        let answer = self.http.send(&request, deadline).await;
        let now = Instant::now();
        match &answer {
            Ok(answer) => {
                if let Some(rate) = answer.rate_limit() {
                    let bucket = answer.header("x-ratelimit-name");
                    self.budget.note(endpoint, bucket, rate, now);
                }
            }
            Err(HttpError::Refused {
                code: 429, wait, ..
            }) => {
                self.budget.spent(endpoint, *wait, now);
            }
            Err(_) => {}
        }
        answer
    }

    /// Waits for the next period where there is time for it.
    async fn turn(&self, endpoint: &'static str, deadline: Instant) -> Result<(), HttpError> {
        loop {
            let now = Instant::now();
            match self.budget.take(endpoint, now) {
                Admission::Go => return Ok(()),
                Admission::Wait { time, .. } if now + time + MARGIN < deadline => {
                    tokio::time::sleep(time + MARGIN).await;
                }
                Admission::Wait { ours, .. } => return Err(HttpError::BudgetSpent(ours)),
            }
        }
    }
}
