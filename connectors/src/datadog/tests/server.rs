//! A small Datadog that keeps the contract.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::search::{self, Record};
use super::{MS, START};
use crate::time::rfc3339;
use whathappened_loopback::{Fake, ReceivedRequest, Reply};

/// One log or event as Datadog keeps it.
#[derive(Clone)]
pub(super) struct StoredRecord {
    pub(super) id: String,
    /// Milliseconds after the start.
    pub(super) at: i64,
    pub(super) tiers: Vec<&'static str>,
    pub(super) index: &'static str,
    pub(super) host: String,
    pub(super) message: String,
    pub(super) tags: Vec<String>,
    pub(super) attributes: Value,
}

impl StoredRecord {
    /// A line of a pod.
    pub(super) fn line(n: usize, pod: usize, at: i64, message: &str) -> Self {
        Self {
            // Ids are in no order within a millisecond.
            id: format!(
                "AQ{:08x}",
                (n as u64).wrapping_mul(2_654_435_761) & 0xffff_ffff
            ),
            at,
            tiers: vec!["indexes"],
            index: "main",
            host: "gpu-7-prod".to_owned(),
            message: message.to_owned(),
            tags: vec![
                "kube_namespace:research".to_owned(),
                format!("pod_name:llama-ft-7-{pod}"),
                "kube_container_name:trainer".to_owned(),
                "kube_container_name:trainer".to_owned(),
                "kube_cluster_name:prod".to_owned(),
            ],
            attributes: json!({}),
        }
    }

    fn nanos(&self) -> i64 {
        START + self.at * MS
    }
}

/// What goes wrong: asked before each answer, with the number of the request.
type FaultInjector = dyn Fn(usize, &ReceivedRequest) -> Option<Reply> + Send + Sync;

pub(super) struct Server {
    pub(super) logs: Vec<StoredRecord>,
    pub(super) events: Vec<StoredRecord>,
    /// Tiers that the account has.
    pub(super) tiers: Vec<&'static str>,
    /// Requests in a period of this many seconds.
    pub(super) rate: Option<(u64, u64)>,
    pub(super) fault: Option<Box<FaultInjector>>,
    /// What filters found: pages of one search ask again and again.
    pub(super) known: Mutex<BTreeMap<String, Vec<usize>>>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            logs: Vec::new(),
            events: Vec::new(),
            tiers: vec!["indexes", "flex", "online-archives"],
            rate: None,
            fault: None,
            known: Mutex::default(),
        }
    }
}

pub(super) fn forbidden() -> Reply {
    let body = json!({"status": "error", "code": 403, "errors": ["Forbidden"],
        "statuspage": "http://status.example.com"});
    Reply::Json(403, body)
}

fn bad(words: &str) -> Reply {
    Reply::Json(400, json!({ "errors": [words] }))
}

pub(super) fn bad_cursor() -> Reply {
    bad("{'errors': [u\"input_validation_error(Field 'page' is invalid: invalid cursor)\"]}")
}

impl Server {
    pub(super) fn start(self) -> Fake {
        let requested = Mutex::new((0, 0));
        let server = Arc::new(self);
        Fake::start(move |request| {
            let number = {
                let mut requested = requested.lock().unwrap();
                requested.0 += 1;
                requested.0
            };
            let fault = server
                .fault
                .as_ref()
                .and_then(|fault| fault(number, request));
            if let Some(fault) = fault {
                return fault;
            }
            let reply = server.answer(request);
            let Some((limit, reset)) = server.rate else {
                return reply;
            };
            let used = {
                let mut requested = requested.lock().unwrap();
                requested.1 += 1;
                requested.1
            };
            match reply {
                Reply::Json(code, body) => Reply::Full(
                    code,
                    vec![
                        ("X-RateLimit-Limit", limit.to_string()),
                        (
                            "X-RateLimit-Remaining",
                            limit.saturating_sub(used).to_string(),
                        ),
                        ("X-RateLimit-Reset", reset.to_string()),
                        ("X-RateLimit-Period", reset.to_string()),
                        ("X-RateLimit-Name", "logs_public_search_api".to_owned()),
                    ],
                    body.to_string(),
                ),
                other => other,
            }
        })
    }

    fn answer(&self, request: &ReceivedRequest) -> Reply {
        if request.header("dd-api-key").is_empty() {
            return Reply::Json(403, json!({"errors": ["API key required"]}));
        }
        if request.header("dd-api-key") != "api-key" {
            return forbidden();
        }
        if (request.method.as_str(), request.path.as_str()) == ("GET", "/api/v1/validate") {
            return Reply::Json(200, json!({"valid": true}));
        }
        if request.header("dd-application-key") != "app-key" {
            return forbidden();
        }
        match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/api/v2/logs/events/search") => self.search(request, &self.logs, true),
            ("POST", "/api/v2/events/search") => self.search(request, &self.events, false),
            ("POST", "/api/v2/logs/analytics/aggregate") => self.count(request),
            _ => Reply::Json(404, json!({"errors": ["Not found"]})),
        }
    }

    /// What a filter finds, the oldest first.
    fn found<'s>(
        &'s self,
        body: &Value,
        kept: &'s [StoredRecord],
        logs: bool,
    ) -> Result<Vec<&'s StoredRecord>, Reply> {
        let filter = &body["filter"];
        let millis = |key: &str| {
            filter[key]
                .as_str()
                .and_then(|text| text.parse::<i64>().ok())
        };
        let (Some(from), Some(to)) = (millis("from"), millis("to")) else {
            return Err(bad("from and to must be strings"));
        };
        let query = filter["query"].as_str().unwrap_or("*");
        let tier = filter["storage_tier"].as_str().unwrap_or("indexes");
        if logs && !self.tiers.contains(&tier) {
            return Err(bad("storage tier is not available to this organization"));
        }
        let indexes = filter["indexes"].as_array();
        let key = format!("{logs} {filter}");
        if let Some(known) = self.known.lock().unwrap().get(&key) {
            return Ok(known.iter().map(|n| &kept[*n]).collect());
        }
        let mut found = Vec::new();
        for (n, one) in kept.iter().enumerate() {
            let at = one.nanos() / MS;
            let named = indexes.is_none_or(|names| names.iter().any(|name| name == one.index));
            let there = !logs || (one.tiers.contains(&tier) && named);
            let record = Record {
                host: &one.host,
                message: &one.message,
                tags: &one.tags,
                attributes: &one.attributes,
            };
            let is =
                search::finds(query, &record).map_err(|why| bad(&format!("{why} in {query}")))?;
            if is && there && from <= at && at < to {
                found.push(n);
            }
        }
        found.sort_by(|a, b| {
            let (a, b) = (&kept[*a], &kept[*b]);
            (a.at, &b.id).cmp(&(b.at, &a.id))
        });
        let all = found.iter().map(|n| &kept[*n]).collect();
        self.known.lock().unwrap().insert(key, found);
        Ok(all)
    }

    fn search(&self, request: &ReceivedRequest, kept: &[StoredRecord], logs: bool) -> Reply {
        let body = &request.body;
        let limit = body["page"]["limit"].as_u64().unwrap_or(10);
        if limit == 0 || limit > 1000 {
            return bad("input_validation_error(Field 'page.limit' is invalid)");
        }
        let mut found = match self.found(body, kept, logs) {
            Ok(found) => found,
            Err(reply) => return reply,
        };
        if body["sort"].as_str().unwrap_or("-timestamp") == "-timestamp" {
            found.reverse();
        }
        let mut start = 0;
        if let Some(cursor) = body["page"]["cursor"].as_str() {
            let Some(after) = found.iter().position(|one| self::cursor(&one.id) == cursor) else {
                return bad_cursor();
            };
            start = after + 1;
        }
        let page: Vec<&StoredRecord> = found.into_iter().skip(start).take(limit as usize).collect();
        let Some(last) = page.last() else {
            return Reply::Json(200, json!({"data": []}));
        };
        let data: Vec<Value> = page
            .iter()
            .map(|one| if logs { log(one) } else { event(one) })
            .collect();
        let mut meta = json!({"page": {"after": cursor(&last.id)}, "status": "done", "elapsed": 5});
        let named = body["filter"]["indexes"].as_array().into_iter().flatten();
        let unknown: Vec<&str> = named
            .filter_map(Value::as_str)
            .filter(|name| !kept.iter().any(|one| one.index == *name))
            .collect();
        if !unknown.is_empty() {
            meta["warnings"] = json!([{"code": "unknown_index", "title": "One or several indexes are missing",
                "detail": format!("indexes: {}", unknown.join(", "))}]);
        }
        // Whoever follows this loses the tier.
        let next = "http://127.0.0.1:1/api/v2/logs/events?page%5Bcursor%5D=x";
        Reply::Json(
            200,
            json!({"data": data, "meta": meta, "links": {"next": next}}),
        )
    }

    fn count(&self, request: &ReceivedRequest) -> Reply {
        let compute = &request.body["compute"][0];
        if compute["interval"] != "1m" || compute["type"] != "timeseries" {
            return bad("compute is invalid");
        }
        let found = match self.found(&request.body, &self.logs, true) {
            Ok(found) => found,
            Err(reply) => return reply,
        };
        let mut minutes: BTreeMap<i64, u64> = BTreeMap::new();
        for one in found {
            *minutes.entry(one.at.div_euclid(60_000)).or_default() += 1;
        }
        let points: Vec<Value> = minutes
            .into_iter()
            .map(|(minute, count)| json!({"time": rfc3339(START + minute * 60_000 * MS), "value": count as f64}))
            .collect();
        let buckets = if points.is_empty() {
            json!([])
        } else {
            json!([{"by": {}, "computes": {"c0": points}}])
        };
        Reply::Json(
            200,
            json!({"data": {"buckets": buckets}, "meta": {"status": "done"}}),
        )
    }
}

fn log(one: &StoredRecord) -> Value {
    let mut tags = one.tags.clone();
    tags.reverse();
    json!({"type": "log", "id": one.id, "attributes": {
        "timestamp": millis(one.nanos()), "host": one.host, "service": "trainer",
        "status": "info", "message": one.message, "tags": tags, "attributes": one.attributes}})
}

fn event(one: &StoredRecord) -> Value {
    let mut inner = one.attributes.clone();
    inner["timestamp"] = (one.nanos() / MS).into();
    inner["hostname"] = one.host.as_str().into();
    json!({"type": "event", "id": one.id, "attributes": {
        "timestamp": rfc3339(one.nanos()), "message": one.message, "tags": one.tags,
        "attributes": inner}})
}

/// With three decimals, always.
fn millis(at: i64) -> String {
    chrono::DateTime::from_timestamp_nanos(at).to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

/// Base64url of `{"after": "<id of the last record>"}`.
fn cursor(id: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let text = format!("{{\"after\":\"{id}\"}}");
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let byte = |n: usize| u32::from(chunk.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for n in 0..=chunk.len() {
            out.push(char::from(LETTERS[(bits >> (18 - 6 * n) & 63) as usize]));
        }
    }
    out
}
