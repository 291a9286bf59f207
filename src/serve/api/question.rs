//! What is asked, as parameters say it.

use serde::Deserialize;
use utoipa::IntoParams;
use whathappened_model::time::Nanos;

use super::problem::Problem;
use crate::access::Access;
use crate::config::parse_moment;
use crate::report::Question;
use crate::serve::{CallerQuestion, Service};

/// What is asked beside the name.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::serve) struct QuestionParams {
    /// Only what happened at or after this time: RFC 3339, or an age such as `2h`, `30m`, `7d`.
    pub(super) since: Option<String>,
    /// Only what happened before this time.
    pub(super) until: Option<String>,
    /// The time to answer as of; that of the latest record by default.
    pub(super) at: Option<String>,
    /// Only incidents that affect this pod.
    pub(super) pod: Option<String>,
    /// Only this run: its number as shown in answers, or the beginning of its ID.
    pub(super) run: Option<String>,
    /// Whether to query live sources first; true if there are any. False answers from the store without querying them.
    pub(in crate::serve) fetch: Option<bool>,
}

impl QuestionParams {
    /// The whole question.
    pub(in crate::serve) fn about(
        &self,
        name: String,
        access: Access,
        service: &Service,
    ) -> Result<CallerQuestion, Problem> {
        let now = (service.clock)();
        let time =
            |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
        let live = !service.asked.clusters.clusters.is_empty() || !service.asked.sources.is_empty();
        Ok(CallerQuestion {
            question: Question {
                name,
                run: self.run.clone(),
                pod: self.pod.clone(),
                since: time(&self.since)?,
                until: time(&self.until)?,
                at: time(&self.at)?,
            },
            access,
            fetch: self.fetch.unwrap_or(true) && live,
        })
    }
}

/// A time as typed: RFC 3339, or a distance before `now`.
pub(super) fn moment(text: &str, now: Nanos) -> Result<Nanos, Problem> {
    parse_moment(text, now).ok_or_else(|| {
        Problem::bad(format!("{text:?} is not a valid time"))
            .hint("write 2026-11-21T15:20:00Z, 2026-11-21, or 30m, 2h, 1d12h back from now")
    })
}
