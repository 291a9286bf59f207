//! The few requests that are made.

use std::time::Instant;

use serde_json::Value;

use super::names::Labels;
use super::wire::{self, QueryResult};
use crate::http::{Answer, Client, HttpError, Request};
use crate::log_store::Span;
use crate::time::{Nanos, SECOND};

/// A server that speaks the API.
#[derive(Clone, Debug)]
pub(super) struct Api {
    pub(super) client: Client,
}

impl Api {
    /// The samples of a selector as they were scraped within a span.
    pub(super) async fn samples(
        &self,
        selector: &str,
        span: Span,
        deadline: Instant,
    ) -> Result<QueryResult, HttpError> {
        let seconds = (span.length() + SECOND - 1).div_euclid(SECOND).max(1);
        let query = format!("{selector}[{seconds}s]");
        let answer = self.query(&query, span.to, deadline).await?;
        wire::series(&answer)
    }

    /// The value of an expression at a time.
    pub(super) async fn instant(
        &self,
        query: &str,
        at: Nanos,
        deadline: Instant,
    ) -> Result<(QueryResult, Answer), HttpError> {
        let answer = self.query(query, at, deadline).await?;
        Ok((wire::series(&answer)?, answer))
    }

    async fn query(&self, query: &str, at: Nanos, deadline: Instant) -> Result<Answer, HttpError> {
        let fields = [("query", query.to_owned()), ("time", seconds(at))];
        self.post("api/v1/query", &fields, deadline).await
    }

    /// The series of some selectors that have samples within a span, or near it.
    pub(super) async fn series(
        &self,
        selectors: &[String],
        span: Span,
        deadline: Instant,
    ) -> Result<(Vec<Labels>, Vec<String>), HttpError> {
        let mut fields = vec![("start", seconds(span.from)), ("end", seconds(span.to))];
        fields.extend(selectors.iter().map(|one| ("match[]", one.clone())));
        let answer = self.post("api/v1/series", &fields, deadline).await?;
        wire::label_sets(&answer)
    }

    /// What a page of `/api/v1/status/` says.
    pub(super) async fn status(&self, page: &str, deadline: Instant) -> Result<Value, HttpError> {
        let request = Request::get(&format!("api/v1/status/{page}"));
        wire::value(&self.client.send(&request, deadline).await?)
    }

    /// Lists of names are long, so they go as a form; some gateways let only GET pass.
    async fn post(
        &self,
        path: &str,
        fields: &[(&str, String)],
        deadline: Instant,
    ) -> Result<Answer, HttpError> {
        let pairs: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let request = Request::post(path).form(&pairs);
        match self.client.send(&request, deadline).await {
            Err(failure) if failure.code() == Some(405) => {
                let get = Request::get(path);
                let get = fields
                    .iter()
                    .fold(get, |get, (name, value)| get.query(name, value));
                self.client.send(&get, deadline).await
            }
            answer => answer,
        }
    }
}

/// Seconds with milliseconds, as the API reads times: in milliseconds it would
/// read a year far away, and answer nothing.
fn seconds(at: Nanos) -> String {
    let millis = at.div_euclid(1_000_000);
    format!(
        "{}.{:03}",
        millis.div_euclid(1_000),
        millis.rem_euclid(1_000)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds() {
        assert_eq!(seconds(1_795_270_134_517_000_000), "1795270134.517");
        assert_eq!(seconds(-1), "-1.999");
    }
}
