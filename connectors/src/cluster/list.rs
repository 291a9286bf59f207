//! A whole list, page by page.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc;
use url::form_urlencoded::byte_serialize;

use super::client::RequestError;
use super::connect::Inner;
use super::decode::Decoder;
use super::page;
use super::resource::Resource;
use crate::observation::{Observation, Rejection};
use crate::time::Nanos;

/// How often a list that expired is started anew.
const RESTARTS: u32 = 2;

/// What to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListTarget {
    pub(super) resource: Resource,
    /// In all namespaces where `None`.
    pub(super) namespace: Option<String>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct ListOutcome {
    /// Objects obtained.
    pub(super) rows: u64,
    /// Objects that could not be used, and why the first of them.
    pub(super) rejected: u64,
    pub(super) first_rejected: Option<String>,
    /// The earliest last occurrence of an Event.
    pub(super) oldest: Option<Nanos>,
    /// Where a watch can start; empty where the list is not whole.
    pub(super) resource_version: String,
    /// Why it is not whole.
    pub(super) failure: Option<RequestError>,
    /// A bound of ours, or a mistake of the server, cut it off.
    pub(super) cut: Option<String>,
    /// What else to say of it.
    pub(super) note: Option<String>,
}

/// How a list is to be read.
pub(super) struct ListOptions {
    pub(super) observed: Nanos,
    pub(super) deadline: Instant,
    /// A watch is to follow: all pages must be of one moment.
    pub(super) exact: bool,
}

/// A page, decoded.
struct Decoded {
    observations: Vec<Observation>,
    items: u64,
    rejected: u64,
    first_rejected: Option<String>,
    oldest: Option<Nanos>,
    resource_version: String,
    next: String,
    remaining: i64,
}

impl ListTarget {
    pub(super) fn path(&self) -> String {
        self.resource.path(self.namespace.as_deref())
    }

    pub(super) fn decoder(&self, inner: &Inner) -> Decoder {
        let alias = inner.contexts.first().unwrap_or(&inner.server);
        Decoder::new(&self.resource, &inner.id, alias, &self.path())
    }
}

/// Lists `target`; each page's observations are sent to `to`.
pub(super) async fn list(
    inner: &Inner,
    target: &ListTarget,
    reading: &ListOptions,
    to: &mpsc::Sender<Vec<Observation>>,
) -> ListOutcome {
    let path = target.path();
    let decoder = Arc::new(target.decoder(inner));
    let mut listed = ListOutcome::default();
    let mut limit = inner.options.page_size.max(1);
    let (mut token, mut remaining, mut restarts) = (String::new(), 0, 0);
    loop {
        let query = format!("{path}?limit={limit}{}", continued(&token));
        let cap = inner.options.max_page_bytes;
        let body = inner.wire.get(&query, None, cap, reading.deadline).await;
        let decoded = match body {
            Ok(body) => decode(body, &decoder, listed.rows, reading.observed).await,
            Err(failure) => Err(failure),
        };
        // A token of a compacted revision may also be answered with nothing.
        let vanished = decoded
            .as_ref()
            .is_ok_and(|page| page.items == 0 && page.next.is_empty() && remaining > 0);
        match decoded {
            Ok(page) if !vanished => {
                let next = page.next.clone();
                remaining = page.remaining;
                listed.add(&page);
                if !page.observations.is_empty() && to.send(page.observations).await.is_err() {
                    listed.cut = Some("the receiver of the results is gone".to_owned());
                    return listed;
                }
                if next.is_empty() {
                    listed.resource_version = page.resource_version;
                    return listed;
                }
                if next == token {
                    listed.cut = Some("the server repeats its continue token".to_owned());
                    return listed;
                }
                if listed.rows >= inner.options.max_objects {
                    listed.cut = Some(format!("cut off after {} objects", listed.rows));
                    return listed;
                }
                token = next;
            }
            Err(RequestError::TooLarge(_)) if limit > 1 => limit = (limit / 8).max(1),
            Err(RequestError::Status {
                code: 410,
                next: Some(next),
                ..
            }) if !reading.exact && !next.is_empty() && next != token => {
                token = next;
                remaining = 0;
                listed.note = Some(
                    "the list expired while it was being read and continued from a later version; objects changed in between may be inconsistent".to_owned(),
                );
            }
            decoded => {
                let failure = decoded.err();
                let expired = failure.as_ref().is_none_or(RequestError::is_expired);
                if expired && !token.is_empty() && restarts < RESTARTS {
                    restarts += 1;
                    token.clear();
                    remaining = 0;
                    // What came before comes again; ids are the same.
                    listed.rows = 0;
                    continue;
                }
                listed.failure = failure.or_else(|| {
                    Some(RequestError::Garbage(
                        "an empty page although there is more".to_owned(),
                    ))
                });
                return listed;
            }
        }
    }
}

fn continued(token: &str) -> String {
    if token.is_empty() {
        return String::new();
    }
    let token: String = byte_serialize(token.as_bytes()).collect();
    format!("&continue={token}")
}

/// Decoding a page takes a while, so it is done beside the connections.
async fn decode(
    body: Vec<u8>,
    decoder: &Arc<Decoder>,
    before: u64,
    observed: Nanos,
) -> Result<Decoded, RequestError> {
    let decoder = Arc::clone(decoder);
    tokio::task::spawn_blocking(move || decode_page(&body, &decoder, before, observed))
        .await
        .unwrap_or_else(|panic| Err(RequestError::Garbage(panic.to_string())))
}

fn decode_page(
    body: &[u8],
    decoder: &Decoder,
    before: u64,
    observed: Nanos,
) -> Result<Decoded, RequestError> {
    let text = String::from_utf8_lossy(body);
    let page = page::read(&text)?;
    let mut out = Decoded {
        observations: Vec::new(),
        items: page.items.len() as u64,
        rejected: 0,
        first_rejected: None,
        oldest: None,
        resource_version: page.resource_version,
        next: page.next,
        remaining: page.remaining,
    };
    for (number, item) in (before + 1..).zip(&page.items) {
        let result = decoder.item(item.get(), number, observed, &mut out.observations);
        if let Err(Rejection::Malformed(why)) = result {
            out.rejected += 1;
            out.first_rejected
                .get_or_insert_with(|| format!("item {number}: {why}"));
        }
    }
    out.oldest = oldest(&out.observations);
    Ok(out)
}

/// The earliest last occurrence of an Event: the server forgets by that.
pub(super) fn oldest(observations: &[Observation]) -> Option<Nanos> {
    let last = |one: &Observation| match one {
        Observation::Event(event) if event.fact == "k8s.event" => {
            Some(event.end.unwrap_or(event.time).lo)
        }
        _ => None,
    };
    observations.iter().filter_map(last).min()
}

impl ListOutcome {
    fn add(&mut self, page: &Decoded) {
        self.rows += page.items;
        self.rejected += page.rejected;
        if self.first_rejected.is_none() {
            self.first_rejected.clone_from(&page.first_rejected);
        }
        self.oldest = match (self.oldest, page.oldest) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    /// Whether everything is there.
    pub(super) fn is_whole(&self) -> bool {
        self.failure.is_none() && self.cut.is_none()
    }
}
