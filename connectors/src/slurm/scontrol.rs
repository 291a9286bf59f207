//! `scontrol show job` and `scontrol show node`, on many lines or one.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::job::{self, Row};
use super::node::{self, NodeField, NodeMachine, NodeReport};
use super::times;
use crate::contract::{FileHead, FormatOutput, TextReader, numbered};
use crate::logs::LogSource;
use crate::observation::Observation;
use crate::redact::redact;

const STARTS: [&str; 3] = ["JobId=", "NodeName=", "PartitionName="];

/// Lines of a file by which it is known to hold such records alone.
const LOOKED_AT: usize = 200;

/// Whether it begins with such a record, and holds nothing else: a job may print its own before it begins.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    let lines = || head.lines(LOOKED_AT).filter(|line| !line.starts_with("$ "));
    let begins = |line: &str| STARTS.iter().any(|start| line.starts_with(start));
    let first = lines().next();
    // The last line may be cut.
    let count = lines().count();
    let mut others = lines().take(count.saturating_sub(1));
    first.is_some_and(|line| begins(line) && line.matches('=').count() > 1)
        && others.all(|line| {
            let is_more = line.trim().is_empty() || line.starts_with([' ', '\t']);
            is_more || begins(line) || line.starts_with("slurm_load_")
        })
}

static KEY: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|\s)([A-Z][A-Za-z0-9_/:]*)=").ok());

/// `Key=value Key=value with spaces …`
fn fields(record: &str) -> BTreeMap<&str, &str> {
    let Some(key) = KEY.as_ref() else {
        return BTreeMap::new();
    };
    let found: Vec<_> = key.captures_iter(record).collect();
    let mut fields = BTreeMap::new();
    for (at, one) in found.iter().enumerate() {
        let (Some(whole), Some(name)) = (one.get(0), one.get(1)) else {
            continue;
        };
        let end = found
            .get(at + 1)
            .and_then(|next| next.get(0))
            .map_or(record.len(), |next| next.start());
        let value = record[whole.end()..end].trim();
        // Of keys that stand twice the first counts.
        fields.entry(name.as_str()).or_insert(value);
    }
    fields.retain(|_, value| !matches!(*value, "" | "(null)" | "Unknown" | "None" | "N/A" | "n/a"));
    fields
}

/// Records, until there are no more.
#[derive(Debug)]
pub(super) struct Records {
    file: Arc<str>,
    record: String,
    line: u64,
}

/// A record longer than this is none.
const MAX_BYTES: usize = 1 << 20;

impl Records {
    pub(super) fn new(source: &Arc<LogSource>) -> Self {
        Self {
            file: Arc::clone(&source.file),
            record: String::new(),
            line: 1,
        }
    }

    fn end(&mut self, found: &mut FormatOutput) {
        let record = std::mem::take(&mut self.record);
        if record.trim().is_empty() {
            return;
        }
        found.records += 1;
        let fields = fields(&record);
        if fields.contains_key("JobId") {
            match job(&fields, self.line, &record) {
                Some(row) => job::emit(&[row], &self.file, &mut found.observations),
                None => {
                    found.records -= 1;
                    let why = "a job without id or state".to_owned();
                    found.rejected.push((self.line, why));
                }
            }
        } else {
            let state = node(&fields).map(|report| report.emit(&self.file, self.line, &record));
            let machine =
                machine(&fields).map(|report| report.emit(&self.file, self.line, &record));
            if state.is_none() && machine.is_none() {
                found.irrelevant += 1;
            }
            let events = state.into_iter().chain(machine);
            let events = events.map(|event| Observation::Event(Box::new(event)));
            found.observations.extend(events);
        }
    }
}

fn job(fields: &BTreeMap<&str, &str>, line: u64, raw: &str) -> Option<Row> {
    let text = |key: &str| fields.get(key).map(|value| (*value).to_owned());
    let time = |key: &str| fields.get(key).and_then(|value| times::stamp(value));
    let (own, step) = job::split_id(fields.get("JobId")?)?;
    let number = |key: &str| fields.get(key).and_then(|value| value.parse::<i64>().ok());
    let job = match text("ArrayTaskId") {
        Some(task) => job::numbered(&own, number("ArrayJobId"), '_', Some(task)),
        None => job::numbered(&own, number("HetJobId"), '+', text("HetJobOffset")),
    };
    // `alice(1001)`
    let user = fields.get("UserId").map(|user| user.trim_end_matches(')'));
    let user = user.map(|user| {
        user.split_once('(')
            .map_or((user, None), |(name, id)| (name, Some(id)))
    });
    Some(Row {
        job,
        own: Some(own),
        step,
        // The log of completed jobs has other names for some of it.
        cluster: text("Cluster").filter(|cluster| cluster != "unknown"),
        name: text("JobName")
            .or_else(|| text("Name"))
            .map(|name| redact(&name).into_owned()),
        user: user.map(|(name, _)| name.to_owned()),
        user_id: user.and_then(|(_, id)| id.map(str::to_owned)),
        account: text("Account"),
        partition: text("Partition"),
        state: text("JobState")?,
        why: text("Reason"),
        exit: fields
            .get("ExitCode")
            .and_then(|exit| job::split_exit(exit)),
        nodes: text("NodeList"),
        submit: time("SubmitTime"),
        start: time("StartTime"),
        end: time("EndTime"),
        evaluated: time("LastSchedEval"),
        requested_memory: text("MinMemoryNode").or_else(|| text("MinMemoryCPU")),
        time_limit: text("TimeLimit"),
        restarts: number("Restarts"),
        zoneless: true,
        line,
        raw: raw.to_owned(),
        ..Row::default()
    })
}

/// A node that jobs cannot use, or whose state has a reason.
fn node(fields: &BTreeMap<&str, &str>) -> Option<NodeReport> {
    let name = (*fields.get("NodeName")?).to_owned();
    let (state, _) = node::state(fields.get("State")?);
    let why = fields.get("Reason");
    if !node::is_away(&state) && why.is_none() {
        return None;
    }
    let (why, by, time) = why.map_or((String::new(), None, None), |why| node::reason(why));
    Some(NodeReport {
        node: name,
        state,
        why: Some(why).filter(|why| !why.is_empty()),
        by,
        time,
    })
}

fn machine(fields: &BTreeMap<&str, &str>) -> Option<NodeMachine> {
    let node = (*fields.get("NodeName")?).to_owned();
    NodeMachine::of(node, |field| {
        let key = match field {
            NodeField::InstanceId => "InstanceId",
            NodeField::HostName => "NodeHostName",
            NodeField::Address => "NodeAddr",
        };
        fields.get(key).map(|value| (*value).to_owned())
    })
}

impl TextReader for Records {
    fn lines(&mut self, lines: &[u8], first: u64, found: &mut FormatOutput) {
        for (number, line) in numbered(lines, first) {
            let text = String::from_utf8_lossy(line);
            found.lossy += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
            let starts = STARTS.iter().any(|start| text.starts_with(start));
            if starts || text.trim().is_empty() || self.record.len() > MAX_BYTES {
                self.end(found);
                self.line = number;
            }
            if text.starts_with("$ ") {
                continue;
            }
            self.record.push_str(&text);
            self.record.push('\n');
        }
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        self.end(found);
    }
}
