//! `/node/{name}`: a machine, its faults, and what ran on it.

use axum::response::Response;
use serde::Deserialize;

use super::visit::Visit;
use crate::render::site::{self, Tab};
use crate::serve::api::{NodeParams, Problem, node_history};

pub(super) async fn get(visit: Visit) -> Response {
    let page = page(&visit).await;
    visit.reply(Tab::Elsewhere, page)
}

/// Which part of its history is wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HistoryQuery {
    since: Option<String>,
    until: Option<String>,
}

async fn page(visit: &Visit) -> Result<String, Problem> {
    let name = visit.name()?;
    let HistoryQuery { since, until } = visit.params()?;
    let wanted = NodeParams { since, until };
    let access = visit.reader.caller.access.clone();
    let history = node_history(&visit.service, access, name, &wanted).await?;
    Ok(site::node(&visit.frame(Tab::Elsewhere), &history))
}
