//! Which labels and streams there are: asked once for each hour's grid, then remembered.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use super::logql::Query;
use super::plan::Schema;
use super::refusal::{Remedy, remedy};
use super::store::{Loki, lock};
use super::window::{GRID, down, up};
use crate::http::HttpError;
use crate::log_store::Span;

/// Windows that are remembered; some for each pod of a large run.
const REMEMBERED: usize = 4_096;

fn grid(span: Span) -> Span {
    Span {
        from: down(span.from, GRID),
        to: up(span.to, GRID),
    }
}

impl Loki {
    /// Which labels streams have in a stretch of time. Asked once for each hour's grid.
    pub(super) async fn schema(
        &self,
        span: Span,
        deadline: Instant,
    ) -> Result<Arc<Schema>, HttpError> {
        let around = grid(span);
        if let Some(known) = lock(&self.schemas).get(&around) {
            return Ok(Arc::clone(known));
        }
        let mut labels = BTreeSet::new();
        for piece in self.ends(around, deadline).await? {
            labels.extend(piece);
        }
        let schema = Arc::new(Schema { labels });
        let mut schemas = lock(&self.schemas);
        if schemas.len() >= REMEMBERED {
            schemas.clear();
        }
        schemas.insert(around, Arc::clone(&schema));
        Ok(schema)
    }

    /// Labels of a window, or of both its ends where it is longer than Loki allows.
    async fn ends(
        &self,
        span: Span,
        deadline: Instant,
    ) -> Result<Vec<BTreeSet<String>>, HttpError> {
        match self.wire.labels(span, deadline).await {
            Ok((labels, _)) => Ok(vec![labels]),
            Err(failure) => match remedy(&failure) {
                Remedy::Length(most) if most < span.length() => {
                    self.learned.learn(&Remedy::Length(most));
                    let mut all = Vec::new();
                    for (from, to) in [
                        (span.from, span.from.saturating_add(most)),
                        (span.to.saturating_sub(most), span.to),
                    ] {
                        all.push(self.wire.labels(Span { from, to }, deadline).await?.0);
                    }
                    Ok(all)
                }
                // Gateways that let queries through and nothing else.
                _ if matches!(failure.code(), Some(403..=405)) => {
                    let usual = ["namespace", "pod", "container", "node_name", "job", "app"];
                    Ok(vec![usual.map(str::to_owned).into()])
                }
                _ => Err(failure),
            },
        }
    }

    /// Whether there are streams that a query would look at; "yes" where Loki
    /// cannot say.
    pub(super) async fn has_streams(&self, query: &Query, span: Span, deadline: Instant) -> bool {
        let key = (grid(span), self.learned.dress(query).selector());
        if let Some(known) = lock(&self.streams).get(&key) {
            return *known;
        }
        let Ok(found) = self.wire.series(&key.1, key.0, deadline).await else {
            return true;
        };
        let mut streams = lock(&self.streams);
        if streams.len() >= REMEMBERED {
            streams.clear();
        }
        streams.insert(key, !found.is_empty());
        !found.is_empty()
    }
}
