//! Which log stores are asked.

use std::sync::Arc;

use whathappened_connectors::LOG_STORES;
use whathappened_connectors::log_store::{Depth, LogSource, Opened};
use whathappened_http::HttpError;
use whathappened_model::connector::{Clock, Connector};

use super::source_config::{Variables, given};
use super::sources::Sources;
use crate::config::{Config, LogDepth, Logs};

/// What a log store would have shown.
const SHOWS: (&str, &str) = ("logs", "what the processes logged before they ended");

/// Adds the log stores that are configured.
pub(super) async fn add(all: &mut Sources, config: &Config, env: Variables<'_>, clock: Clock) {
    let Some(depth) = depth(&config.logs) else {
        return;
    };
    let source = |opened: Opened| -> Result<Arc<dyn Connector>, HttpError> {
        let store = opened?;
        Ok(Arc::new(LogSource::new(store, depth.clone())))
    };
    for ((_, store), (name, sections)) in LOG_STORES.iter().zip(config.log_stores()) {
        for given in given(name, &sections, env, store.needed) {
            let opened = (store.open)(&given, Clock::clone(&clock)).await;
            all.add(&given.name, source(opened), SHOWS);
        }
    }
}

/// How much is read; `None` for nothing.
fn depth(logs: &Logs) -> Option<Depth> {
    let depth = match logs.wanted {
        LogDepth::None => return None,
        LogDepth::Usual => Depth::default(),
        LogDepth::All => Depth::all(),
    };
    Some(Depth {
        requests: logs.requests.unwrap_or(depth.requests),
        most_lines: logs.most_lines.unwrap_or(depth.most_lines),
        ..depth
    })
}
