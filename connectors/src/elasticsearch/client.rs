//! Requests: which server it is, which fields there are, points in time, searches.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::answer::{FieldCapabilities, Info, OpenedPit, SearchAnswer};
use super::fields::{self, Fields};
use super::options::ElasticsearchOptions;
use crate::http::{self, Client, HttpError, Request};

/// How long a point in time is kept between two pages.
const KEEP_ALIVE: &str = "2m";

/// An open point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PointInTime {
    /// The newest id.
    pub(super) id: String,
    pub(super) of: Dialect,
}

/// Whose paths are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Elasticsearch,
    OpenSearch,
}

/// What is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SearchTarget {
    /// The state at one time.
    Pit(PointInTime),
    /// Whatever is there when a page is asked for.
    Live,
}

/// The servers and what was learned of them.
#[derive(Debug)]
pub(super) struct SearchClient {
    nodes: Vec<Client>,
    /// The node that answered last.
    node: AtomicUsize,
    pub(super) options: ElasticsearchOptions,
    info: OnceCell<Option<Info>>,
    fields: OnceCell<Fields>,
    /// Points in time are not to be had here.
    no_pit: AtomicBool,
}

impl SearchClient {
    pub(super) fn new(options: ElasticsearchOptions) -> Result<Self, HttpError> {
        let mut nodes = vec![Client::new(options.http.clone())?];
        for url in &options.more_nodes {
            let mut http = options.http.clone();
            http.base_url.clone_from(url);
            nodes.push(Client::new(http)?);
        }
        Ok(Self {
            nodes,
            node: AtomicUsize::new(0),
            options,
            info: OnceCell::new(),
            fields: OnceCell::new(),
            no_pit: AtomicBool::new(false),
        })
    }

    pub(super) fn address(&self) -> String {
        self.nodes[0].address()
    }

    pub(super) fn sent(&self) -> u64 {
        self.nodes.iter().map(Client::sent).sum()
    }

    /// Sends to the node that answered last; to the next where it cannot be reached.
    pub(super) async fn send(
        &self,
        request: &Request,
        deadline: Instant,
    ) -> Result<http::Answer, HttpError> {
        let start = self.node.load(Ordering::Relaxed);
        let mut last = None;
        for turn in 0..self.nodes.len() {
            let at = (start + turn) % self.nodes.len();
            match self.nodes[at].send(request, deadline).await {
                Err(
                    failure @ (HttpError::Broken(_)
                    | HttpError::Unreachable { .. }
                    | HttpError::Tls(_)),
                ) => last = Some(failure),
                answered => {
                    self.node.store(at, Ordering::Relaxed);
                    return answered;
                }
            }
        }
        Err(last.unwrap_or_else(|| HttpError::BadRequest("no address is configured".to_owned())))
    }

    /// A path below the index pattern.
    fn below(&self, what: &str) -> String {
        let indices: String =
            url::form_urlencoded::byte_serialize(self.options.indices.trim().as_bytes()).collect();
        format!("{indices}/{what}")
    }

    /// Which server it is; `None` where it does not say, as serverless ones.
    pub(super) async fn info(&self, deadline: Instant) -> Result<Option<&Info>, HttpError> {
        let fetch_request = async {
            match self.send(&Request::get(""), deadline).await {
                Ok(answer) => Ok(Some(answer.json()?)),
                Err(failure) if matches!(failure.code(), Some(403..=405)) => Ok(None),
                Err(failure) => Err(failure),
            }
        };
        Ok(self.info.get_or_try_init(|| fetch_request).await?.as_ref())
    }

    async fn dialect(&self, deadline: Instant) -> Dialect {
        let info = self.info(deadline).await.ok().flatten();
        let distribution = info.and_then(|info| info.version.distribution.as_deref());
        if distribution == Some("opensearch") {
            Dialect::OpenSearch
        } else {
            Dialect::Elasticsearch
        }
    }

    /// Which fields hold what.
    pub(super) async fn fields(&self, deadline: Instant) -> Result<&Fields, HttpError> {
        let fetch_request = async {
            match self.caps(deadline).await {
                Ok(caps) => Ok(Fields::of(&caps, &self.options)),
                Err(failure) if matches!(failure.code(), Some(403 | 405)) => {
                    Ok(Fields::guessed(&self.options))
                }
                Err(failure) => Err(failure),
            }
        };
        self.fields.get_or_try_init(|| fetch_request).await
    }

    async fn caps(&self, deadline: Instant) -> Result<FieldCapabilities, HttpError> {
        let mut all = FieldCapabilities::default();
        for portion in fields::patterns(&self.options) {
            let request = Request::get(&self.below("_field_caps"))
                .query("fields", portion)
                .query("ignore_unavailable", "true")
                .query("allow_no_indices", "true");
            let some: FieldCapabilities = self.send(&request, deadline).await?.json()?;
            all.indices = some.indices;
            all.fields.extend(some.fields);
        }
        Ok(all)
    }

    /// Opens a point in time, where one is to be had.
    pub(super) async fn open(&self, deadline: Instant) -> Result<SearchTarget, HttpError> {
        if self.no_pit.load(Ordering::Relaxed) {
            return Ok(SearchTarget::Live);
        }
        let of = self.dialect(deadline).await;
        let path = match of {
            Dialect::Elasticsearch => "_pit",
            Dialect::OpenSearch => "_search/point_in_time",
        };
        let request = Request::post(&self.below(path))
            .query("keep_alive", KEEP_ALIVE)
            .query("ignore_unavailable", "true");
        match self.send(&request, deadline).await {
            Ok(answer) => {
                let OpenedPit { id } = answer.json()?;
                Ok(SearchTarget::Pit(PointInTime { id, of }))
            }
            // No such path, not allowed, no index, a shard that is not there.
            Err(failure) if matches!(failure.code(), Some(400 | 403..=405 | 500 | 503)) => {
                if failure.code() != Some(503) {
                    self.no_pit.store(true, Ordering::Relaxed);
                }
                Ok(SearchTarget::Live)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Closes a point in time; where that fails it ends by itself.
    pub(super) async fn close(&self, view: SearchTarget) {
        let SearchTarget::Pit(PointInTime { id, of }) = view else {
            return;
        };
        let (path, body) = match of {
            Dialect::Elasticsearch => ("_pit", json!({ "id": id })),
            Dialect::OpenSearch => ("_search/point_in_time", json!({ "pit_id": [id] })),
        };
        let Ok(request) = Request::delete(path).once().json(&body) else {
            return;
        };
        let deadline = Instant::now() + Duration::from_secs(3);
        if let Err(failure) = self.send(&request, deadline).await {
            tracing::debug!(%failure, "a point in time was not closed");
        }
    }

    /// Searches. `partial` allows answers without those shards that do not answer.
    pub(super) async fn search(
        &self,
        view: &SearchTarget,
        mut body: Value,
        partial: bool,
        deadline: Instant,
    ) -> Result<SearchAnswer, HttpError> {
        let allow = if partial { "true" } else { "false" };
        let request = match view {
            SearchTarget::Pit(pit) => {
                body["pit"] = json!({ "id": pit.id, "keep_alive": KEEP_ALIVE });
                Request::post("_search")
            }
            // The same copies of shards for all pages, for others may be behind.
            SearchTarget::Live => Request::post(&self.below("_search"))
                .query("ignore_unavailable", "true")
                .query("allow_no_indices", "true")
                .query("preference", "whathappened"),
        };
        let request = request
            .query("allow_partial_search_results", allow)
            .json(&body)?;
        self.send(&request, deadline).await?.json()
    }

    /// What to say of there being no index.
    pub(super) fn no_index(&self) -> String {
        format!(
            "no index that can be read matches `{}`",
            self.options.indices
        )
    }
}
