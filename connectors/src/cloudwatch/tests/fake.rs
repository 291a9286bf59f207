//! A `CloudWatch` Logs that holds its clients to the contract.

use std::sync::atomic::{AtomicUsize, Ordering};

use regex::Regex;
use serde_json::{Value, json};

use whathappened_loopback::{Fake, ReceivedRequest, Reply};

/// One event: stream, milliseconds, message.
#[derive(Clone, Debug)]
pub(super) struct FakeEvent {
    pub(super) stream: String,
    pub(super) at: i64,
    pub(super) message: String,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FakeBehaviour {
    /// Events of a page.
    pub(super) page: usize,
    /// Every so many requests are too many.
    pub(super) throttles: Option<usize>,
    /// Regular expressions are not known.
    pub(super) no_regex: bool,
}

pub(super) const GROUP: &str = "/aws/containerinsights/prod/application";

/// Streams of machines lie in a group of their own.
const HOSTS: &str = "/aws/containerinsights/prod/host";

fn group_of(put: &FakeEvent) -> &'static str {
    if put.stream.contains("-host.") {
        HOSTS
    } else {
        GROUP
    }
}

fn error(name: &str, message: &str) -> Reply {
    Reply::Json(400, json!({ "__type": name, "message": message }))
}

pub(super) fn serve(manner: FakeBehaviour, events: Vec<FakeEvent>) -> Fake {
    let asked_so_far = AtomicUsize::new(0);
    let mut numbered: Vec<(usize, FakeEvent)> = events.into_iter().enumerate().collect();
    numbered.sort_by_key(|(number, put)| (put.at, *number));
    Fake::start(move |requested| {
        let number = asked_so_far.fetch_add(1, Ordering::SeqCst) + 1;
        if manner
            .throttles
            .is_some_and(|every| number.is_multiple_of(every))
        {
            return error("ThrottlingException", "Rate exceeded");
        }
        assert!(
            requested
                .header("authorization")
                .starts_with("AWS4-HMAC-SHA256 Credential=")
        );
        assert_eq!(
            requested.header("content-type"),
            "application/x-amz-json-1.1"
        );
        let target = requested.header("x-amz-target");
        match target.strip_prefix("Logs_20140328.").unwrap() {
            "DescribeLogGroups" => groups(requested),
            "DescribeLogStreams" => streams(&numbered, requested),
            "FilterLogEvents" => filter(manner, &numbered, requested),
            "StartQuery" => {
                assert!(
                    requested.body["endTime"].as_i64().unwrap() < 10_000_000_000,
                    "seconds"
                );
                Reply::Json(200, json!({ "queryId": number.to_string() }))
            }
            "GetQueryResults" => results(number),
            other => panic!("{other}"),
        }
    })
}

fn groups(requested: &ReceivedRequest) -> Reply {
    let prefix = requested.body["logGroupNamePrefix"].as_str().unwrap_or("");
    let names = [GROUP, HOSTS, "/aws/eks/prod/cluster", "other"];
    let found = names.iter().filter(|name| name.starts_with(prefix)).map(|name| {
        json!({ "logGroupName": name, "creationTime": 1_790_000_000_000_i64, "retentionInDays": 30 })
    });
    Reply::Json(200, json!({ "logGroups": found.collect::<Vec<_>>() }))
}

/// Two streams a page, the newest first.
fn streams(events: &[(usize, FakeEvent)], requested: &ReceivedRequest) -> Reply {
    assert_eq!(requested.body["orderBy"], "LastEventTime");
    let mut last = std::collections::BTreeMap::new();
    let group = &requested.body["logGroupName"];
    for (_, put) in events.iter().filter(|(_, put)| *group == group_of(put)) {
        last.insert(put.stream.clone(), put.at);
    }
    let mut all: Vec<(i64, String)> = last.into_iter().map(|(name, at)| (at, name)).collect();
    all.sort();
    all.reverse();
    let start: usize = requested.body["nextToken"]
        .as_str()
        .map_or(0, |t| t.parse().unwrap());
    let page = all.iter().skip(start).take(2);
    let page: Vec<Value> = page
        .map(|(at, name)| json!({ "logStreamName": name, "lastEventTimestamp": at }))
        .collect();
    let mut answer = json!({ "logStreams": page });
    if start + 2 < all.len() {
        answer["nextToken"] = json!((start + 2).to_string());
    }
    Reply::Json(200, answer)
}

/// Looks through a page of events at a time, found or not, so that pages may be
/// empty; the token is where to go on.
fn filter(
    manner: FakeBehaviour,
    events: &[(usize, FakeEvent)],
    requested: &ReceivedRequest,
) -> Reply {
    let body = &requested.body;
    if body["logGroupName"] == "gone" {
        return error(
            "ResourceNotFoundException",
            "The specified log group does not exist.",
        );
    }
    let names = body["logStreamNames"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let limit = body["limit"].as_u64().unwrap_or(10_000);
    let pattern = body["filterPattern"].as_str().unwrap_or("");
    if names.len() > 100 || limit > 10_000 || limit == 0 || pattern.len() > 1_024 {
        return error("InvalidParameterException", "out of range");
    }
    if manner.no_regex && pattern.contains('[') {
        return error("InvalidParameterException", "Invalid character(s) in term");
    }
    let regex = pattern
        .strip_prefix('%')
        .map(|inner| Regex::new(inner.strip_suffix('%').unwrap()).unwrap());
    let (from, to) = (
        body["startTime"].as_i64().unwrap(),
        body["endTime"].as_i64().unwrap(),
    );
    let in_time: Vec<&(usize, FakeEvent)> = events
        .iter()
        .filter(|(_, put)| from <= put.at && put.at <= to && body["logGroupName"] == group_of(put))
        .collect();
    let start: usize = body["nextToken"].as_str().map_or(0, |t| t.parse().unwrap());
    let page = manner.page.min(usize::try_from(limit).unwrap());
    let end = (start + page).min(in_time.len());
    let found = in_time[start.min(end)..end].iter().filter(|(_, put)| {
        (names.is_empty() || names.iter().any(|name| *name == put.stream))
            && regex
                .as_ref()
                .is_none_or(|regex| regex.is_match(&put.message))
    });
    let found: Vec<Value> = found
        .map(|(number, put)| {
            json!({
                "timestamp": put.at, "ingestionTime": put.at + 5, "message": put.message,
                "logStreamName": put.stream, "eventId": format!("{number:056}"),
            })
        })
        .collect();
    let mut answer = json!({ "events": found, "searchedLogStreams": [] });
    // The last page with events has a token, too.
    if start < in_time.len() {
        answer["nextToken"] = json!(end.to_string());
    }
    Reply::Json(200, answer)
}

fn results(number: usize) -> Reply {
    if number.is_multiple_of(2) {
        return Reply::Json(200, json!({ "status": "Running", "results": [] }));
    }
    let cell = |field: &str, value: &str| json!({ "field": field, "value": value });
    Reply::Json(
        200,
        json!({
            "status": "Complete",
            "results": [[cell("minute", "2026-11-21 15:20:00.000"), cell("lines", "12")]],
        }),
    )
}
