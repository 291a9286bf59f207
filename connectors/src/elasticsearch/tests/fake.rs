//! An Elasticsearch that holds its clients to the contract.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use regex::Regex;
use serde_json::{Value, json};

use crate::log_store::flatten;
use crate::time::{Nanos, Stamp};
use whathappened_loopback::{Fake, ReceivedRequest, Reply};

/// Which server it plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FakeDialect {
    Elasticsearch,
    OpenSearch,
    /// Points in time may not be opened.
    WithoutPit,
}

#[derive(Clone, Debug)]
pub(super) struct FakeDocument {
    pub(super) at: Nanos,
    pub(super) source: Value,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pits: u64,
    /// The only id that counts, while one is open.
    pit: Option<String>,
    pub(super) searches: u64,
    /// Points in time are lost at this search.
    pub(super) lose_pit_at: Option<u64>,
    /// Shards that do not answer.
    pub(super) failed_shards: u64,
    /// Telling words are refused in this form.
    pub(super) no_regexp: bool,
    /// What a page may hold at most.
    pub(super) window: Option<u64>,
}

pub(super) struct FakeServer {
    pub(super) fake: Fake,
    pub(super) state: Arc<Mutex<State>>,
}

impl FakeServer {
    pub(super) fn open_pit(&self) -> bool {
        self.state.lock().unwrap().pit.is_some()
    }
}

fn error(code: u16, kind: &str, reason: &str) -> Reply {
    let cause = json!({ "type": kind, "reason": reason });
    Reply::Json(
        code,
        json!({ "error": { "root_cause": [cause], "type": kind, "reason": reason }, "status": code }),
    )
}

pub(super) fn serve(plays: FakeDialect, docs: Vec<FakeDocument>) -> FakeServer {
    let state = Arc::new(Mutex::new(State::default()));
    let shared = Arc::clone(&state);
    let fake = Fake::start(move |requested| answer(plays, &docs, &shared, requested));
    FakeServer { fake, state }
}

fn answer(
    plays: FakeDialect,
    docs: &[FakeDocument],
    state: &Mutex<State>,
    requested: &ReceivedRequest,
) -> Reply {
    let mut state = state.lock().unwrap();
    let path = requested.path.as_str();
    let pit_path = match plays {
        FakeDialect::OpenSearch => "/_search/point_in_time",
        _ => "/_pit",
    };
    match requested.method.as_str() {
        "GET" if path == "/" => {
            let mut version = json!({ "number": "8.15.0" });
            if plays == FakeDialect::OpenSearch {
                version = json!({ "number": "2.17.0", "distribution": "opensearch" });
            }
            Reply::Json(200, json!({ "cluster_name": "c", "version": version }))
        }
        "GET" if path.ends_with("/_field_caps") => caps(requested),
        "POST" if path.ends_with(pit_path) && path.len() > pit_path.len() => {
            if plays == FakeDialect::WithoutPit {
                return error(
                    403,
                    "security_exception",
                    "action [indices:data/read/open_point_in_time] is unauthorized",
                );
            }
            assert!(!requested.query("keep_alive").is_empty());
            state.pits += 1;
            let id = format!("pit-{}", state.pits);
            state.pit = Some(id.clone());
            let key = if plays == FakeDialect::OpenSearch {
                "pit_id"
            } else {
                "id"
            };
            Reply::Json(200, json!({ key: id }))
        }
        "DELETE" if path == pit_path => {
            let id = &requested.body[if plays == FakeDialect::OpenSearch {
                "pit_id"
            } else {
                "id"
            }];
            let id = id.as_str().or_else(|| id[0].as_str());
            assert_eq!(id, state.pit.as_deref());
            state.pit = None;
            Reply::Json(200, json!({ "succeeded": true, "num_freed": 1 }))
        }
        "POST" if path.ends_with("/_search") => search(plays, docs, &mut state, requested),
        _ => error(405, "method_not_allowed", "no handler found for uri"),
    }
}

/// Fields as Fluent Bit's documents are mapped when nobody says how.
fn caps(requested: &ReceivedRequest) -> Reply {
    assert!(requested.query("fields").len() < 4_096);
    let text = json!({ "text": { "type": "text", "searchable": true } });
    let keyword = json!({ "keyword": { "type": "keyword", "searchable": true } });
    let mut fields = serde_json::Map::new();
    for name in [
        "kubernetes.pod_name",
        "kubernetes.namespace_name",
        "kubernetes.host",
    ] {
        fields.insert(name.to_owned(), text.clone());
        fields.insert(format!("{name}.keyword"), keyword.clone());
    }
    fields.insert("log".to_owned(), text);
    fields.insert(
        "@timestamp".to_owned(),
        json!({ "date": { "type": "date", "searchable": true } }),
    );
    // Only those that were asked for.
    fields.retain(|name, _| {
        requested.query("fields").split(',').any(|pattern| {
            let pattern = regex::escape(pattern).replace("\\*", ".*");
            Regex::new(&format!("^{pattern}$")).unwrap().is_match(name)
        })
    });
    Reply::Json(200, json!({ "indices": ["fluent-1"], "fields": fields }))
}

fn search(
    plays: FakeDialect,
    docs: &[FakeDocument],
    state: &mut State,
    requested: &ReceivedRequest,
) -> Reply {
    state.searches += 1;
    let body = &requested.body;
    let with_pit = body.get("pit").is_some();
    if state.lose_pit_at == Some(state.searches) {
        state.pit = None;
    }
    if with_pit {
        assert_eq!(requested.path, "/_search", "a PIT names its indices itself");
        if body["pit"]["id"].as_str() != state.pit.as_deref() {
            return error(
                404,
                "search_context_missing_exception",
                "No search context found for id [1]",
            );
        }
    }
    let size = body["size"].as_u64().unwrap_or(10);
    let window = state.window.unwrap_or(10_000);
    if size > window {
        let reason = format!(
            "Result window is too large, from + size must be less than or equal to: [{window}] but was [{size}]"
        );
        return error(400, "illegal_argument_exception", &reason);
    }
    if state.no_regexp && body["query"].to_string().contains("\"regexp\"") {
        let reason = "[regexp] queries cannot be executed when 'search.allow_expensive_queries' is set to false.";
        return error(400, "illegal_argument_exception", reason);
    }
    let strict = requested.query("allow_partial_search_results") == "false";
    if state.failed_shards > 0 && strict {
        return error(
            503,
            "search_phase_execution_exception",
            "Partial shards failure",
        );
    }
    let shard_doc = body["sort"][1].get("_shard_doc").is_some();
    if shard_doc && plays != FakeDialect::Elasticsearch {
        return error(
            400,
            "illegal_argument_exception",
            "No mapping found for [_shard_doc]",
        );
    }
    let mut found: Vec<(Nanos, i64, &FakeDocument)> = Vec::new();
    for (position, doc) in (0..).zip(docs) {
        // One shard in three does not answer.
        if state.failed_shards > 0 && position % 3 == 0 {
            continue;
        }
        let flat = flatten(doc.source.as_object().unwrap());
        if matches(&body["query"], &flat, doc.at) {
            // An index of milliseconds.
            found.push((doc.at - doc.at.rem_euclid(1_000_000), position, doc));
        }
    }
    let descending = body["sort"][0]["@timestamp"]["order"] == "desc";
    let turn = i64::try_from(state.searches).unwrap();
    found.sort_by_key(|(at, position, _)| {
        // Without a tie breaker equal times come in any order.
        let tie = if shard_doc {
            *position
        } else {
            (position * 7_919 + turn * 31) % 1_009
        };
        (*at, tie)
    });
    if descending {
        found.reverse();
    }
    if let Some(after) = body.get("search_after") {
        let after = (after[0].as_i64().unwrap(), after[1].as_i64().unwrap());
        found.retain(|(at, position, _)| {
            let here = (*at, *position);
            if descending {
                here < after
            } else {
                here > after
            }
        });
    }
    let total = found.len();
    found.truncate(usize::try_from(size).unwrap());
    let hits: Vec<Value> = found
        .iter()
        .map(|(at, position, doc)| {
            let mut sort = vec![json!(at)];
            if with_pit && plays == FakeDialect::Elasticsearch {
                sort.push(json!(position));
            }
            json!({
                "_index": "fluent-1", "_id": format!("d{position}"), "_seq_no": position,
                "_source": doc.source, "sort": sort,
            })
        })
        .collect();
    let mut answer = json!({
        "timed_out": false,
        "_shards": { "total": 3, "successful": 3 - state.failed_shards, "failed": state.failed_shards },
        "hits": { "total": { "value": total, "relation": "eq" }, "hits": hits },
    });
    if let Some(minutes) = body.pointer("/aggs/minutes") {
        assert_eq!(minutes["date_histogram"]["fixed_interval"], "1m");
        let mut counts: BTreeMap<Nanos, u64> = BTreeMap::new();
        let flats = docs
            .iter()
            .map(|doc| (flatten(doc.source.as_object().unwrap()), doc.at));
        for (_, at) in flats.filter(|(flat, at)| matches(&body["query"], flat, *at)) {
            *counts.entry(at / 60_000_000_000 * 60_000).or_default() += 1;
        }
        let buckets = counts.iter();
        let buckets = buckets.map(|(key, n)| json!({ "key": key, "doc_count": n }));
        answer["aggregations"] = json!({ "minutes": { "buckets": buckets.collect::<Vec<_>>() } });
    }
    if body.pointer("/aggs/oldest").is_some() {
        let oldest = docs.iter().map(|doc| doc.at / 1_000_000).min();
        answer["aggregations"] = json!({ "oldest": { "value": oldest } });
    }
    if with_pit {
        state.pits += 1;
        let id = format!("pit-{}", state.pits);
        answer["pit_id"] = json!(id);
        state.pit = Some(id);
    }
    Reply::Json(200, answer)
}

/// Compiled once, for every document is tried.
fn regex(pattern: &str) -> Regex {
    static KNOWN: Mutex<BTreeMap<String, Regex>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap();
    if let Some(known) = known.get(pattern) {
        return known.clone();
    }
    let new = Regex::new(pattern).unwrap();
    known.insert(pattern.to_owned(), new.clone());
    new
}

/// The words of an analysed text, each between spaces.
fn words_of(text: &str) -> String {
    let part = |c: char| !(c.is_alphanumeric() || c == '_');
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(part).filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

fn matches(query: &Value, doc: &BTreeMap<String, String>, at: Nanos) -> bool {
    if query.is_null() {
        return true;
    }
    let (kind, of) = query.as_object().unwrap().iter().next().unwrap();
    let field = || {
        let (name, value) = of.as_object().unwrap().iter().next().unwrap();
        let base = name.trim_end_matches(".keyword");
        (doc.get(base).cloned().unwrap_or_default(), value)
    };
    let any = |list: &Value| list.as_array().unwrap().iter().any(|q| matches(q, doc, at));
    match kind.as_str() {
        "match_all" => true,
        "bool" => {
            let all = of.get("filter").and_then(Value::as_array);
            all.into_iter().flatten().all(|q| matches(q, doc, at))
                && of.get("should").is_none_or(any)
                && !of.get("must_not").is_some_and(any)
        }
        "terms" => {
            let (value, wanted) = field();
            wanted.as_array().unwrap().iter().any(|w| *w == value)
        }
        "exists" => doc.contains_key(of["field"].as_str().unwrap().trim_end_matches(".keyword")),
        "prefix" => {
            let (value, prefix) = field();
            value.starts_with(prefix["value"].as_str().unwrap())
        }
        "match_none" => false,
        "match" => {
            let (value, words) = field();
            let said = words_of(&value);
            let mut words = words.as_str().unwrap().split(' ');
            words.any(|word| said.contains(&format!(" {word} ")))
        }
        "match_phrase" => {
            let (value, phrase) = field();
            words_of(&value).contains(&words_of(phrase.as_str().unwrap()))
        }
        "match_phrase_prefix" => {
            let (value, phrase) = field();
            value.to_lowercase().contains(phrase.as_str().unwrap())
        }
        "multi_match" => doc.iter().any(|(name, value)| {
            name.starts_with("kubernetes.labels.") && of["query"] == value.as_str()
        }),
        "range" => {
            let (_, bounds) = field();
            // The index cuts bounds to its resolution, too.
            let at = at.div_euclid(1_000_000);
            let bound = |side: &str| {
                let text = bounds.get(side)?.as_str()?;
                Some(Stamp::parse(text).unwrap().lo.div_euclid(1_000_000))
            };
            bound("gte").is_none_or(|from| from <= at) && bound("lte").is_none_or(|to| at <= to)
        }
        "regexp" => {
            let (value, pattern) = field();
            let pattern = format!("(?i)^(?:{})$", pattern["value"].as_str().unwrap());
            let pattern = regex(&pattern);
            let part = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '\''));
            value.split(part).any(|word| pattern.is_match(word))
        }
        "simple_query_string" => {
            let said = doc
                .get("log")
                .map(|text| text.to_lowercase())
                .unwrap_or_default();
            of["query"].as_str().unwrap().split(" | ").any(|part| {
                let word = part.trim_matches(['"', '*']);
                said.split_whitespace().any(|w| w.starts_with(word))
                    || said.contains(&format!(" {word}"))
            })
        }
        other => panic!("no such query: {other}"),
    }
}
