//! What is asked, as parameters say it.

use serde::Deserialize;
use utoipa::IntoParams;
use whathappened_connectors::time::Nanos;

use super::problem::Problem;
use crate::access::Access;
use crate::assemble::Question;
use crate::config::parse_moment;
use crate::serve::{Asking, Service};

/// What is asked beside the name.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Asked {
    /// Only what happened at or after this time: RFC 3339, or a distance back from now such as `2h`, `30m`, `7d`.
    pub(super) since: Option<String>,
    /// Only what happened before this time.
    pub(super) until: Option<String>,
    /// The moment to speak from; the latest record by default.
    pub(super) at: Option<String>,
    /// Only incidents that touch this pod.
    pub(super) pod: Option<String>,
    /// Only this run: its number, as answers count them, or the beginning of its id.
    pub(super) run: Option<String>,
    /// Whether live sources are asked before; true where there are some. False answers from the store alone.
    pub(super) fetch: Option<bool>,
}

impl Asked {
    /// The whole question.
    pub(super) fn about(
        &self,
        name: String,
        access: Access,
        service: &Service,
    ) -> Result<Asking, Problem> {
        let now = (service.clock)();
        let time =
            |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
        let live = !service.asked.clusters.clusters.is_empty() || !service.asked.sources.is_empty();
        Ok(Asking {
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
        Problem::bad(format!("{text:?} is no time"))
            .hint("write 2026-11-21T15:20:00Z, 2026-11-21, or 30m, 2h, 1d12h back from now")
    })
}
