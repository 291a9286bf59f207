//! Requests: which server it is, which fields there are, points in time, searches.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::answer::{Answer, Caps, Info, Opened};
use super::fields::{self, Fields};
use super::options::ElasticsearchOptions;
use crate::http::{self, Client, Request, Trouble};

/// How long a point in time is kept between two pages.
const KEEP_ALIVE: &str = "2m";

/// An open point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pit {
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
pub(super) enum View {
    /// The state at one time.
    Pit(Pit),
    /// Whatever is there when a page is asked for.
    Live,
}

/// The servers and what was learned of them.
#[derive(Debug)]
pub(super) struct Wire {
    nodes: Vec<Client>,
    /// The node that answered last.
    node: AtomicUsize,
    pub(super) options: ElasticsearchOptions,
    info: OnceCell<Option<Info>>,
    fields: OnceCell<Fields>,
    /// Points in time are not to be had here.
    no_pit: AtomicBool,
}

impl Wire {
    pub(super) fn new(options: ElasticsearchOptions) -> Result<Self, Trouble> {
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
    ) -> Result<http::Answer, Trouble> {
        let start = self.node.load(Ordering::Relaxed);
        let mut last = None;
        for turn in 0..self.nodes.len() {
            let at = (start + turn) % self.nodes.len();
            match self.nodes[at].send(request, deadline).await {
                Err(trouble @ (Trouble::Broken(_) | Trouble::Tls(_))) => last = Some(trouble),
                answered => {
                    self.node.store(at, Ordering::Relaxed);
                    return answered;
                }
            }
        }
        Err(last.unwrap_or_else(|| Trouble::BadRequest("no address is configured".to_owned())))
    }

    /// A path below the index pattern.
    fn below(&self, what: &str) -> String {
        let indices: String =
            url::form_urlencoded::byte_serialize(self.options.indices.trim().as_bytes()).collect();
        format!("{indices}/{what}")
    }

    /// Which server it is; `None` where it does not say, as serverless ones.
    pub(super) async fn info(&self, deadline: Instant) -> Result<Option<&Info>, Trouble> {
        let ask = async {
            match self.send(&Request::get(""), deadline).await {
                Ok(answer) => Ok(Some(answer.json()?)),
                Err(trouble) if matches!(trouble.code(), Some(403..=405)) => Ok(None),
                Err(trouble) => Err(trouble),
            }
        };
        Ok(self.info.get_or_try_init(|| ask).await?.as_ref())
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
    pub(super) async fn fields(&self, deadline: Instant) -> Result<&Fields, Trouble> {
        let ask = async {
            match self.caps(deadline).await {
                Ok(caps) => Ok(Fields::of(&caps, &self.options)),
                Err(trouble) if matches!(trouble.code(), Some(403 | 405)) => {
                    Ok(Fields::guessed(&self.options))
                }
                Err(trouble) => Err(trouble),
            }
        };
        self.fields.get_or_try_init(|| ask).await
    }

    async fn caps(&self, deadline: Instant) -> Result<Caps, Trouble> {
        let mut all = Caps::default();
        for portion in fields::patterns(&self.options) {
            let request = Request::get(&self.below("_field_caps"))
                .query("fields", portion)
                .query("ignore_unavailable", "true")
                .query("allow_no_indices", "true");
            let some: Caps = self.send(&request, deadline).await?.json()?;
            all.indices = some.indices;
            all.fields.extend(some.fields);
        }
        Ok(all)
    }

    /// Opens a point in time, where one is to be had.
    pub(super) async fn open(&self, deadline: Instant) -> Result<View, Trouble> {
        if self.no_pit.load(Ordering::Relaxed) {
            return Ok(View::Live);
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
                let Opened { id } = answer.json()?;
                Ok(View::Pit(Pit { id, of }))
            }
            // No such path, not allowed, no index, a shard that is not there.
            Err(trouble) if matches!(trouble.code(), Some(400 | 403..=405 | 500 | 503)) => {
                if trouble.code() != Some(503) {
                    self.no_pit.store(true, Ordering::Relaxed);
                }
                Ok(View::Live)
            }
            Err(trouble) => Err(trouble),
        }
    }

    /// Closes a point in time; where that fails it ends by itself.
    pub(super) async fn close(&self, view: View) {
        let View::Pit(Pit { id, of }) = view else {
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
        if let Err(trouble) = self.send(&request, deadline).await {
            tracing::debug!(%trouble, "a point in time was not closed");
        }
    }

    /// Searches. `partial` allows answers without those shards that do not answer.
    pub(super) async fn search(
        &self,
        view: &View,
        mut body: Value,
        partial: bool,
        deadline: Instant,
    ) -> Result<Answer, Trouble> {
        let allow = if partial { "true" } else { "false" };
        let request = match view {
            View::Pit(pit) => {
                body["pit"] = json!({ "id": pit.id, "keep_alive": KEEP_ALIVE });
                Request::post("_search")
            }
            // The same copies of shards for all pages, for others may be behind.
            View::Live => Request::post(&self.below("_search"))
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
            "no index matches `{}`, or none that we may read",
            self.options.indices
        )
    }
}
