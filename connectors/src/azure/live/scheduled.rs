//! Scheduled Events: what the machine we run on is told to expect.
//!
//! The first request switches the service on, which may take two minutes; after
//! a day without one it is off again.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use url::Url;

use super::cover::{Resource, ResourceTally};
use super::machine_scope::MachineScope;
use super::query::decode;
use crate::connector::FetchRequest;
use crate::coverage::Coverage;
use crate::http::{Client, HttpError, HttpOptions, Request};
use crate::observation::Observation;

const VERSION: &str = "2020-07-01";

const SCHEDULED: Resource = Resource {
    name: "scheduled_events",
    would_have_shown: "reboots, freezes and preemptions that Azure is about to do to this machine",
    needs: "to run inside a machine of Azure",
    retention_s: None,
};

/// The metadata service of the machine.
#[derive(Debug)]
pub(super) struct Scheduled {
    client: Client,
    path: String,
}

impl Scheduled {
    /// Prepares to ask at `address`.
    ///
    /// # Errors
    /// When it is no address.
    pub(super) fn new(address: &str) -> Result<Self, HttpError> {
        let wrong = || {
            HttpError::BadRequest(format!(
                "{address:?} (AZURE_SCHEDULED_EVENTS) is neither true nor an address"
            ))
        };
        let url = Url::parse(address).map_err(|_| wrong())?;
        let path = url.path().trim_start_matches('/').to_owned();
        let base = url.join("/").map_err(|_| wrong())?;
        let client = Client::new(HttpOptions {
            // Nobody else may ask for us: the service refuses what was forwarded.
            direct: true,
            tries: 2,
            request_timeout: Duration::from_secs(10),
            ..HttpOptions::new(base.as_str())
        })?;
        Ok(Self { client, path })
    }

    async fn document(&self, deadline: Instant) -> Result<Vec<Value>, HttpError> {
        let request = Request::get(&self.path)
            .query("api-version", VERSION)
            .header("Metadata", "true");
        let mut document: Map<String, Value> = self.client.json(&request, deadline).await?;
        match document.remove("Events") {
            Some(Value::Array(events)) => Ok(events),
            _ => Err(HttpError::Garbage(
                "a document without Events, as scheduled events have".to_owned(),
            )),
        }
    }

    /// Whether it answers, in one sentence.
    pub(super) async fn check(&self, deadline: Instant) -> String {
        match self.document(deadline).await {
            Ok(events) => format!("{} events are scheduled for this machine", events.len()),
            Err(failure) => format!("no scheduled events: {}", inside(&failure)),
        }
    }

    /// What is scheduled for the machines of the question.
    pub(super) async fn fetch(
        &self,
        fetch_request: &FetchRequest,
        wanted: &MachineScope,
        source: &str,
    ) -> (Vec<Observation>, Coverage) {
        let mut tally = ResourceTally::default();
        let mut out = Vec::new();
        match self.document(fetch_request.deadline).await {
            Ok(events) => {
                tally.came.answered = true;
                for event in &events {
                    let Value::Object(fields) = event else {
                        tally.rejected(crate::observation::Rejection::Malformed(
                            "a scheduled event that is not an object".to_owned(),
                        ));
                        continue;
                    };
                    match decode(fields, "Events", &self.client.address(), fetch_request.now) {
                        Ok(mut emitted) => {
                            emitted.retain(|one| wanted.keeps("", one));
                            if emitted.is_empty() {
                                tally.of_others += 1;
                            } else {
                                tally.rows += 1;
                                out.append(&mut emitted);
                            }
                        }
                        Err(why) => tally.rejected(why),
                    }
                }
            }
            Err(failure) => {
                tally.failure(&failure, SCHEDULED.needs);
                tally.notes.push(inside(&failure));
            }
        }
        let now = Some((fetch_request.now, fetch_request.now));
        (out, tally.row(source, "", SCHEDULED, now, now))
    }
}

/// What may be wrong beside.
fn inside(failure: &HttpError) -> String {
    match failure {
        HttpError::TimedOut(_) => {
            "the first request switches the service on, which takes up to two minutes; outside Azure machines it does not respond"
                .to_owned()
        }
        _ => "they are only available on Azure machines".to_owned(),
    }
}
