//! Reads the events of one group, page by page.

use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

use serde_json::json;

use super::client::{Event, LogsClient, Page};
use crate::http::HttpError;
use crate::log_store::{MILLISECOND, Span};
use crate::time::{Nanos, SECOND};

/// Events of one page.
const PAGE: usize = 10_000;

/// The newest window that is read first, where the newest are wanted.
const NEWEST: Nanos = 600 * SECOND;

/// What is read of one group.
#[derive(Clone, Debug)]
pub(super) struct GroupScan {
    pub(super) group: String,
    /// At most 100; all where none is named.
    pub(super) streams: Vec<String>,
    pub(super) pattern: Option<String>,
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct ScanResult {
    pub(super) events: Vec<Event>,
    /// There are more.
    pub(super) cut: bool,
    pub(super) partial: Vec<String>,
}

/// Which events are wanted, beyond what the service can be asked for.
pub(super) type EventFilter<'w> = dyn Fn(&Event) -> bool + Sync + 'w;

/// Reads at most `limit` events that are `wanted`, the oldest or the newest.
///
/// # Errors
/// Where nothing was obtained.
pub(super) async fn read(
    wire: &LogsClient,
    scan: &GroupScan,
    span: Span,
    newest: bool,
    limit: usize,
    wanted: &EventFilter<'_>,
    deadline: Instant,
) -> Result<ScanResult, HttpError> {
    let mut got = ScanResult::default();
    let mut kept: VecDeque<Event> = VecDeque::new();
    let mut to = span.to;
    let mut width = NEWEST;
    while to > span.from {
        let from = if newest {
            span.from.max(to.saturating_sub(width))
        } else {
            span.from
        };
        let window = Window {
            span: Span { from, to },
            newest,
            // Later windows are older: they fill up what is left.
            limit: limit.saturating_sub(kept.len()),
        };
        let (events, more, ended) = window.read(wire, scan, wanted, deadline).await;
        got.cut |= more;
        for event in events.into_iter().rev() {
            kept.push_front(event);
        }
        match ended {
            Ok(None) => {}
            Ok(Some(why)) => got.partial.push(why),
            Err(failure) if kept.is_empty() => return Err(failure),
            Err(failure) => {
                got.cut = true;
                got.partial.push(format!(
                    "reading {} was interrupted: {failure}; {}",
                    scan.group,
                    failure.hint()
                ));
                break;
            }
        }
        to = from;
        if kept.len() >= limit && to > span.from {
            // Whether there are older ones is not known; most likely there are.
            got.cut = true;
            break;
        }
        width = width.saturating_mul(4);
    }
    got.events = kept.into();
    Ok(got)
}

/// One stretch that is read whole, of which the oldest or newest are kept.
struct Window {
    span: Span,
    newest: bool,
    limit: usize,
}

impl Window {
    /// Events in order, whether there are more, and how it ended.
    async fn read(
        &self,
        wire: &LogsClient,
        scan: &GroupScan,
        wanted: &EventFilter<'_>,
        deadline: Instant,
    ) -> (Vec<Event>, bool, Result<Option<String>, HttpError>) {
        let mut kept: VecDeque<Event> = VecDeque::new();
        let mut seen = BTreeSet::new();
        let mut more = false;
        let mut token: Option<String> = None;
        loop {
            let body = self.body(scan, token.as_deref());
            let page: Page = match wire.call("FilterLogEvents", &body, deadline).await {
                Ok(page) => page,
                Err(failure) => return (kept.into(), more, Err(failure)),
            };
            for event in page.events {
                let at = event.timestamp.saturating_mul(MILLISECOND);
                let fresh = event.event_id.is_empty() || seen.insert(event.event_id.clone());
                if !fresh || !self.span.holds(at) || !wanted(&event) {
                    continue;
                }
                kept.push_back(event);
                if kept.len() > self.limit {
                    more = true;
                    if self.newest {
                        kept.pop_front();
                    } else {
                        kept.pop_back();
                        return (kept.into(), more, Ok(None));
                    }
                }
            }
            // An empty page with a token is not the last.
            match page.next_token {
                None => return (kept.into(), more, Ok(None)),
                Some(next) if token.as_ref() == Some(&next) => {
                    let why = format!("{} keeps returning the same page", scan.group);
                    return (kept.into(), more, Ok(Some(why)));
                }
                next => token = next,
            }
        }
    }

    fn body(&self, scan: &GroupScan, token: Option<&str>) -> serde_json::Value {
        let limit = if self.newest {
            PAGE
        } else {
            (self.limit + 1).min(PAGE)
        };
        let mut body = json!({
            "logGroupName": scan.group,
            "startTime": self.span.from.div_euclid(MILLISECOND),
            // The end belongs to the window.
            "endTime": (self.span.to - 1).div_euclid(MILLISECOND),
            "limit": limit,
        });
        if scan.group.starts_with("arn:") {
            body["logGroupIdentifier"] = body["logGroupName"].take();
            if let Some(fields) = body.as_object_mut() {
                fields.remove("logGroupName");
            }
        }
        if !scan.streams.is_empty() {
            body["logStreamNames"] = json!(scan.streams);
        }
        if let Some(pattern) = &scan.pattern {
            body["filterPattern"] = json!(pattern);
        }
        if let Some(token) = token {
            body["nextToken"] = json!(token);
        }
        body
    }
}
