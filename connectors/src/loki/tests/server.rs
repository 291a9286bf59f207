//! A small Loki: what is sent to it is parsed, and limits, ties, directions,
//! encodings and the words of errors are as recorded.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use regex::Regex;
use serde_json::{Value, json};

use crate::log_store::Labels;
use crate::time::{Nanos, SECOND};
use whathappened_loopback::{Fake, ReceivedRequest, Reply};

/// One line that was pushed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) at: Nanos,
    pub(super) labels: Labels,
    pub(super) metadata: Labels,
    pub(super) text: String,
}

/// How a Loki is configured, and what stands before it.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) cap: usize,
    pub(super) longest: Option<Nanos>,
    /// Windows longer than this time out if they hold any line.
    pub(super) too_slow: Option<Nanos>,
    pub(super) required: Vec<&'static str>,
    pub(super) tenant: Option<&'static str>,
    /// A proxy takes our header away.
    pub(super) merged: bool,
    pub(super) warning: Option<&'static str>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            cap: 5000,
            longest: None,
            too_slow: None,
            required: Vec::new(),
            tenant: None,
            merged: false,
            warning: None,
        }
    }
}

pub(super) fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

pub(super) fn entry(at: Nanos, stream: &[(&str, &str)], text: &str) -> Entry {
    Entry {
        at,
        labels: labels(stream),
        metadata: Labels::new(),
        text: text.to_owned(),
    }
}

/// A Loki that holds these lines, in the order they were pushed.
pub(super) fn serve(entries: Vec<Entry>, rules: Rules) -> Fake {
    let loki = Arc::new(Server::new(entries, rules));
    Fake::start(move |requested| loki.answer(requested))
}

pub(super) struct Server {
    /// By stream, in the order pushed; the same line twice is kept once.
    streams: BTreeMap<Labels, Vec<Entry>>,
    rules: Rules,
    /// Queries that were read before; patterns are slow to read.
    known: Mutex<BTreeMap<String, Arc<Parsed>>>,
}

fn refuse(code: u16, words: impl Into<String>) -> Reply {
    Reply::Text(code, words.into())
}

impl Server {
    pub(super) fn new(entries: Vec<Entry>, rules: Rules) -> Self {
        let mut streams: BTreeMap<Labels, Vec<Entry>> = BTreeMap::new();
        let mut known = std::collections::BTreeSet::new();
        for entry in entries {
            if known.insert(entry.clone()) {
                streams.entry(entry.labels.clone()).or_default().push(entry);
            }
        }
        Self {
            streams,
            rules,
            known: Mutex::default(),
        }
    }

    fn parse(&self, text: &str) -> Result<Arc<Parsed>, String> {
        let mut known = self.known.lock().unwrap();
        if let Some(parsed) = known.get(text) {
            return Ok(Arc::clone(parsed));
        }
        let parsed = Arc::new(parse(text)?);
        known.insert(text.to_owned(), Arc::clone(&parsed));
        Ok(parsed)
    }

    pub(super) fn answer(&self, requested: &ReceivedRequest) -> Reply {
        let path = requested.path.rfind("/loki/api/v1/").map_or("", |at| {
            requested
                .path
                .get(at + "/loki/api/v1/".len()..)
                .unwrap_or("")
        });
        if requested.path.ends_with("/ready") {
            return refuse(200, "ready\n");
        }
        if path == "status/buildinfo" {
            return Reply::Json(200, json!({"version": "3.5.1", "revision": "65e30f8"}));
        }
        match self.rules.tenant {
            Some(_) if requested.header("x-scope-orgid").is_empty() => {
                return refuse(401, "no org id\n");
            }
            Some(tenant) if requested.header("x-scope-orgid") != tenant => {
                return Reply::Json(200, json!({"status": "success"}));
            }
            _ => {}
        }
        let (Some(start), Some(end)) =
            (time(requested.query("start")), time(requested.query("end")))
        else {
            return refuse(400, "could not parse 'start' parameter: invalid syntax");
        };
        if end < start {
            return refuse(
                400,
                "end timestamp must not be before or equal to start time",
            );
        }
        if let Some(longest) = self.rules.longest.filter(|longest| end - start > *longest) {
            let words = |at: Nanos| {
                let seconds = at / SECOND;
                format!("{}h{}m{}s", seconds / 3600, seconds / 60 % 60, seconds % 60)
            };
            return refuse(
                400,
                format!(
                    "the query time range exceeds the limit (query length: {}, limit: {})",
                    words(end - start),
                    words(longest)
                ),
            );
        }
        match path {
            "labels" => {
                let mut names: Vec<&String> = self
                    .streams
                    .iter()
                    .filter(|(_, lines)| lines.iter().any(|e| e.at >= start && e.at < end))
                    .flat_map(|(labels, _)| labels.keys())
                    .collect();
                names.sort();
                names.dedup();
                if names.is_empty() {
                    return Reply::Json(200, json!({"status": "success"}));
                }
                Reply::Json(200, json!({"status": "success", "data": names}))
            }
            "series" => match self.parse(requested.query("match[]")) {
                Ok(query) => {
                    let found: Vec<&Labels> = self
                        .streams
                        .iter()
                        .filter(|(labels, _)| query.selects(labels))
                        .filter(|(_, lines)| lines.iter().any(|e| e.at >= start && e.at < end))
                        .map(|(labels, _)| labels)
                        .collect();
                    Reply::Json(200, json!({"status": "success", "data": found}))
                }
                Err(words) => refuse(400, words),
            },
            "query_range" => self.range(requested, start, end),
            _ => refuse(404, "404 page not found\n"),
        }
    }

    fn range(&self, requested: &ReceivedRequest, start: Nanos, end: Nanos) -> Reply {
        let text = requested.query("query");
        let counted = text
            .strip_prefix("sum(count_over_time(")
            .and_then(|rest| rest.strip_suffix(" [1m]))"));
        let query = match self.parse(counted.unwrap_or(text)) {
            Ok(query) => query,
            Err(words) => return refuse(400, words),
        };
        let named: Vec<&str> = query.matchers.iter().map(|one| one.name.as_str()).collect();
        let missing: Vec<&str> = self
            .rules
            .required
            .iter()
            .copied()
            .filter(|name| !named.contains(name))
            .collect();
        if !missing.is_empty() {
            return refuse(
                400,
                format!(
                    "stream selector is missing required matchers [{}], labels present in the query were [{}]",
                    missing.join(", "),
                    named.join(", ")
                ),
            );
        }
        let streams: Vec<(usize, &Entry)> = self
            .streams
            .iter()
            .enumerate()
            .filter(|(_, (labels, _))| query.selects(labels))
            .flat_map(|(at, (_, lines))| lines.iter().map(move |line| (at, line)))
            .filter(|(_, line)| query.keeps(line))
            .collect();
        if counted.is_some() {
            return minutes(&streams, requested, start, end);
        }
        let mut found: Vec<(usize, &Entry)> = streams
            .into_iter()
            .filter(|(_, line)| line.at >= start && line.at < end)
            .collect();
        if let Some(slow) = self.rules.too_slow
            && end - start > slow
            && !found.is_empty()
        {
            return refuse(
                504,
                "request timed out, decrease the duration of the request or add more label matchers (prefer exact match over regex match) to reduce the amount of data processed",
            );
        }
        let limit = match requested.query("limit").parse::<usize>() {
            Ok(0) | Err(_) => return refuse(400, "limit must be a positive value"),
            Ok(limit) => limit,
        };
        if limit > self.rules.cap {
            return refuse(
                400,
                format!(
                    "max entries limit per query exceeded, limit > max_entries_limit_per_query ({limit} > {})",
                    self.rules.cap
                ),
            );
        }
        match requested.query("direction") {
            "forward" => found.sort_by_key(|(stream, line)| (line.at, *stream)),
            "backward" => {
                found.reverse();
                found.sort_by_key(|(stream, line)| (-line.at, *stream));
            }
            other => return refuse(400, format!("invalid direction '{other}'")),
        }
        found.truncate(limit);
        let flags = requested.header("x-loki-response-encoding-flags");
        self.streams_answer(&found, flags == "categorize-labels" && !self.rules.merged)
    }

    fn streams_answer(&self, found: &[(usize, &Entry)], categorized: bool) -> Reply {
        let mut result: BTreeMap<(usize, Labels), Vec<Value>> = BTreeMap::new();
        for (stream, line) in found {
            let mut labels = line.labels.clone();
            let mut value = vec![json!(line.at.to_string()), json!(line.text)];
            if categorized {
                value.push(if line.metadata.is_empty() {
                    json!({})
                } else {
                    json!({ "structuredMetadata": line.metadata })
                });
            } else {
                for (name, value) in &line.metadata {
                    let name = if labels.contains_key(name) {
                        format!("{name}_extracted")
                    } else {
                        name.clone()
                    };
                    labels.insert(name, value.clone());
                }
            }
            result
                .entry((*stream, labels))
                .or_default()
                .push(value.into());
        }
        let result: Vec<Value> = result
            .into_iter()
            .map(|((_, labels), values)| json!({"stream": labels, "values": values}))
            .collect();
        let mut data = json!({"resultType": "streams", "result": result, "stats": {}});
        if categorized {
            data["encodingFlags"] = json!(["categorize-labels"]);
        }
        let mut answer = json!({"status": "success", "data": data});
        if let Some(warning) = self.rules.warning {
            answer["warnings"] = json!([warning]);
        }
        Reply::Json(200, answer)
    }
}

fn minutes(
    lines: &[(usize, &Entry)],
    requested: &ReceivedRequest,
    start: Nanos,
    end: Nanos,
) -> Reply {
    let step = requested.query("step").parse::<i64>().unwrap() * SECOND;
    if (end - start) / step > 11_000 {
        return refuse(
            400,
            "exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter",
        );
    }
    let mut values = Vec::new();
    let mut at = start;
    while at <= end {
        let in_it = |line: &Entry| line.at > at - 60 * SECOND && line.at <= at;
        let count = lines.iter().filter(|(_, line)| in_it(line)).count();
        if count > 0 {
            values.push(json!([at / SECOND, count.to_string()]));
        }
        at += step;
    }
    let result = if values.is_empty() {
        json!([])
    } else {
        json!([{"metric": {}, "values": values}])
    };
    Reply::Json(
        200,
        json!({"status": "success", "data": {"resultType": "matrix", "result": result}}),
    )
}

/// As Loki reads times: few digits are seconds, more are nanoseconds.
fn time(text: &str) -> Option<Nanos> {
    let number: Nanos = text.parse().ok()?;
    Some(if text.len() <= 10 {
        number * SECOND
    } else {
        number
    })
}

/// A label, how it is compared, and with what.
struct Condition {
    name: String,
    op: &'static str,
    wanted: String,
    pattern: Option<Regex>,
}

/// The part of `LogQL` that is sent.
struct Parsed {
    matchers: Vec<Condition>,
    contains: Vec<String>,
    patterns: Vec<Regex>,
    metadata: Vec<Vec<Condition>>,
}

fn holds(labels: &Labels, condition: &Condition) -> bool {
    let value = labels.get(&condition.name).map_or("", String::as_str);
    let fits = condition
        .pattern
        .as_ref()
        .is_some_and(|one| one.is_match(value));
    match condition.op {
        "=" => value == condition.wanted,
        "!=" => value != condition.wanted,
        "=~" => fits,
        _ => !fits,
    }
}

impl Parsed {
    fn selects(&self, labels: &Labels) -> bool {
        self.matchers.iter().all(|one| holds(labels, one))
    }

    fn keeps(&self, line: &Entry) -> bool {
        let mut all = line.metadata.clone();
        all.extend(line.labels.clone());
        self.contains.iter().all(|text| line.text.contains(text))
            && self.patterns.iter().all(|one| one.is_match(&line.text))
            && self
                .metadata
                .iter()
                .all(|any| any.iter().any(|one| holds(&all, one)))
    }
}

fn parse(text: &str) -> Result<Parsed, String> {
    let unexpected = || {
        format!(
            "parse error at line 1, col {}: syntax error: unexpected",
            text.len()
        )
    };
    let mut parsed = Parsed {
        matchers: Vec::new(),
        contains: Vec::new(),
        patterns: Vec::new(),
        metadata: Vec::new(),
    };
    let mut rest = text.strip_prefix('{').ok_or_else(unexpected)?;
    while !rest.starts_with('}') {
        let (condition, next) = condition(rest).ok_or_else(unexpected)?;
        parsed.matchers.push(condition);
        rest = next.strip_prefix(',').unwrap_or(next);
    }
    rest = rest[1..].trim_start();
    let empty = Labels::new();
    if parsed.matchers.iter().all(|one| holds(&empty, one)) {
        return Err("parse error : queries require at least one regexp or equality matcher that does not have an empty-compatible value. For instance, app=~\".*\" does not meet this requirement, but app=~\".+\" will".to_owned());
    }
    while !rest.is_empty() {
        if let Some(next) = rest.strip_prefix("|= ") {
            let (value, next) = unquote(next).ok_or_else(unexpected)?;
            parsed.contains.push(value);
            rest = next.trim_start();
        } else if let Some(next) = rest.strip_prefix("|~ ") {
            let (value, next) = unquote(next).ok_or_else(unexpected)?;
            let pattern = Regex::new(&value).map_err(|_| {
                format!("parse error : stage '|~ \"{value}\"' : error parsing regexp")
            })?;
            parsed.patterns.push(pattern);
            rest = next.trim_start();
        } else if let Some(next) = rest.strip_prefix("| ") {
            let mut any = Vec::new();
            let mut next = next;
            loop {
                let (one, after) = condition(next).ok_or_else(unexpected)?;
                any.push(one);
                match after.trim_start().strip_prefix("or ") {
                    Some(more) => next = more,
                    None => {
                        rest = after.trim_start();
                        break;
                    }
                }
            }
            parsed.metadata.push(any);
        } else {
            return Err(unexpected());
        }
    }
    Ok(parsed)
}

fn condition(text: &str) -> Option<(Condition, &str)> {
    let end = text.find(|letter: char| letter != '_' && !letter.is_ascii_alphanumeric())?;
    let (name, rest) = text.split_at(end);
    let op = ["=~", "!~", "!=", "="]
        .into_iter()
        .find(|op| rest.starts_with(op))?;
    let (wanted, rest) = unquote(&rest[op.len()..])?;
    let pattern = op
        .ends_with('~')
        .then(|| Regex::new(&format!("^(?:{wanted})$")))
        .transpose()
        .ok()?;
    let name = name.to_owned();
    let condition = Condition {
        name,
        op,
        wanted,
        pattern,
    };
    Some((condition, rest))
}

/// A Go string.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut letters = text.char_indices();
    (letters.next()?.1 == '"').then_some(())?;
    let mut out = String::new();
    loop {
        match letters.next()? {
            (at, '"') => return Some((out, &text[at + 1..])),
            (_, '\\') => match letters.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'u' => {
                    let hex: String = letters.by_ref().take(4).map(|(_, hex)| hex).collect();
                    out.push(char::from_u32(u32::from_str_radix(&hex, 16).ok()?)?);
                }
                letter @ ('"' | '\\') => out.push(letter),
                _ => return None,
            },
            // Not in a string of one line.
            (_, '\n') => return None,
            (_, letter) => out.push(letter),
        }
    }
}
