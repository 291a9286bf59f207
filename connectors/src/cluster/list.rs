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

/// What reads the items of a list.
pub(super) trait ItemReader: Send + Sync + 'static {
    /// What comes of them.
    type Out: Send + 'static;

    /// What is asked for, where that is not the whole objects.
    const ACCEPT: Option<&'static str> = None;

    /// Reads one item, the `number`th of its list. What does not concern the question is
    /// not taken.
    fn read(
        &self,
        item: &str,
        number: u64,
        observed: Nanos,
        page: &mut ReadPage<Self::Out>,
    ) -> Result<(), Rejection>;
}

/// What came of a page.
#[derive(Debug)]
pub(super) struct ReadPage<T> {
    pub(super) out: Vec<T>,
    /// Items that were taken.
    pub(super) taken: u64,
    /// The earliest last occurrence of an Event, taken or not: the server forgets by that.
    pub(super) oldest: Option<Nanos>,
}

impl<T> ReadPage<T> {
    pub(super) fn saw(&mut self, at: Option<Nanos>) {
        self.oldest = match (self.oldest, at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}

impl ItemReader for Decoder {
    type Out = Observation;

    fn read(
        &self,
        item: &str,
        number: u64,
        observed: Nanos,
        page: &mut ReadPage<Observation>,
    ) -> Result<(), Rejection> {
        let before = page.out.len();
        let result = self.item(item, number, observed, &mut page.out);
        page.taken += 1;
        page.saw(oldest(page.out.get(before..).unwrap_or_default()));
        result
    }
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct ListOutcome {
    /// Objects obtained.
    pub(super) rows: u64,
    /// Objects shown, of which those obtained were taken.
    pub(super) shown: u64,
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
    /// Which of the objects: a selector of the query, with its `&` before it; all where empty.
    pub(super) select: String,
    /// Objects a page.
    pub(super) page_size: u32,
    /// Objects after which the list is cut off.
    pub(super) most: u64,
}

impl ListOptions {
    /// Everything, within the bounds of the options.
    pub(super) fn whole(inner: &Inner, observed: Nanos, deadline: Instant) -> Self {
        Self {
            observed,
            deadline,
            exact: false,
            select: String::new(),
            page_size: inner.options.page_size,
            most: inner.options.max_objects,
        }
    }
}

/// A page, decoded.
struct Decoded<T> {
    read: ReadPage<T>,
    items: u64,
    rejected: u64,
    first_rejected: Option<String>,
    resource_version: String,
    next: String,
    remaining: i64,
}

impl ListTarget {
    pub(super) fn path(&self) -> String {
        self.resource.path(self.namespace.as_deref())
    }

    pub(super) fn decoder(&self, inner: &Inner, origin: &str) -> Decoder {
        let alias = inner.contexts.first().unwrap_or(&inner.server);
        Decoder::new(&self.resource, &inner.id, alias, origin)
    }
}

/// Lists `target`; what comes of each page is sent to `to`.
pub(super) async fn list<R: ItemReader>(
    inner: &Inner,
    target: &ListTarget,
    reader: &Arc<R>,
    reading: &ListOptions,
    to: &mpsc::Sender<Vec<R::Out>>,
) -> ListOutcome {
    let path = target.path();
    let mut listed = ListOutcome::default();
    let mut limit = reading.page_size.max(1);
    let (mut token, mut remaining, mut restarts) = (String::new(), 0, 0);
    loop {
        let query = format!(
            "{path}?limit={limit}{}{}",
            reading.select,
            continued(&token)
        );
        let cap = inner.options.max_page_bytes;
        let body = inner
            .wire
            .get(&query, R::ACCEPT, cap, reading.deadline)
            .await;
        let decoded = match body {
            Ok(body) => decode(body, reader, listed.shown, reading.observed).await,
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
                if !page.read.out.is_empty() && to.send(page.read.out).await.is_err() {
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
                if listed.shown >= reading.most {
                    listed.cut = Some(format!("cut off after {} objects", listed.shown));
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
                    (listed.rows, listed.shown) = (0, 0);
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
async fn decode<R: ItemReader>(
    body: Vec<u8>,
    reader: &Arc<R>,
    before: u64,
    observed: Nanos,
) -> Result<Decoded<R::Out>, RequestError> {
    let reader = Arc::clone(reader);
    tokio::task::spawn_blocking(move || decode_page(&body, &*reader, before, observed))
        .await
        .unwrap_or_else(|panic| Err(RequestError::Garbage(panic.to_string())))
}

fn decode_page<R: ItemReader>(
    body: &[u8],
    reader: &R,
    before: u64,
    observed: Nanos,
) -> Result<Decoded<R::Out>, RequestError> {
    let text = String::from_utf8_lossy(body);
    let page = page::read(&text)?;
    let mut out = Decoded {
        read: ReadPage {
            out: Vec::new(),
            taken: 0,
            oldest: None,
        },
        items: page.items.len() as u64,
        rejected: 0,
        first_rejected: None,
        resource_version: page.resource_version,
        next: page.next,
        remaining: page.remaining,
    };
    for (number, item) in (before + 1..).zip(&page.items) {
        let result = reader.read(item.get(), number, observed, &mut out.read);
        if let Err(Rejection::Malformed(why)) = result {
            out.rejected += 1;
            out.first_rejected
                .get_or_insert_with(|| format!("item {number}: {why}"));
        }
    }
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
    fn add<T>(&mut self, page: &Decoded<T>) {
        self.rows += page.read.taken;
        self.shown += page.items;
        self.rejected += page.rejected;
        if self.first_rejected.is_none() {
            self.first_rejected.clone_from(&page.first_rejected);
        }
        self.oldest = match (self.oldest, page.read.oldest) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    /// Adds what became of another list of the same resource.
    pub(super) fn add_outcome(&mut self, other: Self) {
        self.rows += other.rows;
        self.shown += other.shown;
        self.rejected += other.rejected;
        self.oldest = match (self.oldest, other.oldest) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.first_rejected = self.first_rejected.take().or(other.first_rejected);
        self.failure = self.failure.take().or(other.failure);
        self.cut = self.cut.take().or(other.cut);
        self.note = self.note.take().or(other.note);
    }

    /// Whether everything is there.
    pub(super) fn is_whole(&self) -> bool {
        self.failure.is_none() && self.cut.is_none()
    }
}
