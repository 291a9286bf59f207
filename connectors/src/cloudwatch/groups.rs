//! Which groups there are, and which streams in them are whose.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use serde_json::json;
use tokio::sync::{Mutex, OnceCell};

use super::client::{Group, Groups, LogsClient, Stream, Streams};
use super::options::CloudWatchOptions;
use crate::http::HttpError;

/// Pages of groups and of streams that are looked through.
const PAGES: usize = 60;

/// The last time of a stream may be this far behind, in milliseconds.
const BEHIND: i64 = 2 * 3_600_000;

/// Where lines are when nothing is configured.
const USUAL: [&str; 2] = ["/aws/containerinsights/", "/aws/eks/"];

/// What is known of groups and streams; asked for once.
#[derive(Debug, Default)]
pub(super) struct GroupCache {
    groups: OnceCell<Vec<Group>>,
    streams: Mutex<BTreeMap<String, GroupStreams>>,
}

/// A group's streams, newest first.
#[derive(Clone, Debug, Default)]
pub(super) struct GroupStreams {
    pub(super) streams: Vec<Stream>,
    /// All streams with events from this time on are listed; milliseconds.
    back_to: i64,
    /// There are more than were looked through.
    pub(super) capped: bool,
}

impl GroupCache {
    /// The groups that are asked.
    pub(super) async fn groups(
        &self,
        wire: &LogsClient,
        options: &CloudWatchOptions,
        deadline: Instant,
    ) -> Result<&[Group], HttpError> {
        let find = async { find(wire, options, deadline).await };
        Ok(self.groups.get_or_try_init(|| find).await?)
    }

    /// A group's streams with events since `from` (milliseconds).
    pub(super) async fn streams(
        &self,
        wire: &LogsClient,
        group: &str,
        from: i64,
        deadline: Instant,
    ) -> Result<GroupStreams, HttpError> {
        let mut known = self.streams.lock().await;
        if let Some(listed) = known.get(group)
            && (listed.back_to <= from || listed.capped)
        {
            return Ok(listed.clone());
        }
        let listed = list(wire, group, from, deadline).await?;
        known.insert(group.to_owned(), listed.clone());
        Ok(listed)
    }
}

async fn find(
    wire: &LogsClient,
    options: &CloudWatchOptions,
    deadline: Instant,
) -> Result<Vec<Group>, HttpError> {
    let mut found = BTreeMap::new();
    let mut prefixes = BTreeSet::new();
    if options.groups.is_empty() {
        prefixes.extend(USUAL.map(|prefix| match &options.cluster {
            Some(cluster) => format!("{prefix}{cluster}/"),
            None => prefix.to_owned(),
        }));
    }
    for group in &options.groups {
        match group.strip_suffix('*') {
            Some(prefix) => {
                prefixes.insert(prefix.to_owned());
            }
            None => {
                let group = Group {
                    log_group_name: group.clone(),
                    ..Group::default()
                };
                found.insert(group.log_group_name.clone(), group);
            }
        }
    }
    for prefix in prefixes {
        let mut token = None;
        for _ in 0..PAGES {
            let mut body = json!({ "limit": 50 });
            if !prefix.is_empty() {
                body["logGroupNamePrefix"] = json!(prefix);
            }
            if let Some(token) = &token {
                body["nextToken"] = json!(token);
            }
            let page: Groups = wire.call("DescribeLogGroups", &body, deadline).await?;
            for group in page.log_groups {
                found.insert(group.log_group_name.clone(), group);
            }
            token = page.next_token;
            if token.is_none() {
                break;
            }
        }
    }
    Ok(found.into_values().collect())
}

async fn list(
    wire: &LogsClient,
    group: &str,
    from: i64,
    deadline: Instant,
) -> Result<GroupStreams, HttpError> {
    let mut listed = GroupStreams {
        back_to: from,
        ..GroupStreams::default()
    };
    let mut token: Option<String> = None;
    for _ in 0..PAGES {
        let mut body = json!({
            "logGroupName": group, "orderBy": "LastEventTime", "descending": true, "limit": 50,
        });
        if let Some(token) = &token {
            body["nextToken"] = json!(token);
        }
        let page: Streams = wire.call("DescribeLogStreams", &body, deadline).await?;
        let oldest = page
            .log_streams
            .iter()
            .filter_map(|stream| stream.last_event_timestamp)
            .min();
        listed.streams.extend(page.log_streams);
        token = page.next_token;
        if token.is_none() {
            // These are all.
            listed.back_to = i64::MIN;
            return Ok(listed);
        }
        if oldest.is_some_and(|oldest| oldest.saturating_add(BEHIND) < from) {
            return Ok(listed);
        }
    }
    listed.capped = true;
    Ok(listed)
}
