//! How far back a cluster's Events go. Only what concerns a question is read of them; that there is none of that
//! means something else where the server keeps Events of the time than where it has forgotten them.

use std::time::Instant;

use super::connect::Inner;
use super::head::EventHead;
use super::list::ListTarget;
use super::page;
use crate::time::Nanos;

/// The earliest last occurrence of an Event of one page: servers list by name, so that a page has old ones and new
/// ones. `None` where there are no Events, or none can be had, which is met again and told elsewhere.
pub(super) async fn oldest(inner: &Inner, target: &ListTarget, deadline: Instant) -> Option<Nanos> {
    let path = format!("{}?limit={}", target.path(), inner.options.page_size);
    let body = inner
        .wire
        .get(&path, None, inner.options.max_page_bytes, deadline)
        .await
        .ok()?;
    let body = String::from_utf8_lossy(&body);
    let page = page::read(&body).ok()?;
    let heads = page
        .items
        .iter()
        .filter_map(|item| serde_json::from_str::<EventHead<'_>>(item.get()).ok());
    heads.filter_map(|head| head.last()).min()
}
