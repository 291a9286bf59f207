//! Asks Slurm, by whichever way it is reached.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};

use super::answer::{DecodedAnswer, Table};
use super::commands::Commands;
use super::job_scope::JobScope;
use super::rest::{self, Rest};
use crate::event::Origin;
use crate::host_list::expand;
use crate::http::HttpError;
use crate::time::{Nanos, rfc3339};

/// The longest line of a tool.
const MAX_LINE: usize = 1 << 20;

/// How Slurm is reached.
#[derive(Debug)]
pub(super) enum Transport {
    Rest(Rest),
    Commands(Commands),
}

/// One question, on its way.
#[derive(Debug)]
pub(super) struct SlurmQuery<'a> {
    pub(super) way: &'a Transport,
    pub(super) wanted: &'a JobScope,
    /// Where records say they are from.
    pub(super) place: &'a Arc<str>,
    pub(super) deadline: Instant,
}

fn number(value: Option<&Value>) -> Option<i64> {
    match value? {
        Value::Object(fields) => fields.get("number").and_then(Value::as_i64),
        other => other.as_i64(),
    }
}

fn text<'v>(fields: &'v Map<String, Value>, key: &str) -> &'v str {
    fields.get(key).and_then(Value::as_str).unwrap_or_default()
}

impl SlurmQuery<'_> {
    fn origin(&self) -> Origin {
        Origin {
            file: Arc::clone(self.place),
            line: 0,
        }
    }

    /// What accounting has; `None` where there is no accounting. At most `most`
    /// jobs are asked for one by one.
    pub(super) async fn accounted(&self, most: usize) -> Result<Option<DecodedAnswer>, HttpError> {
        match self.way {
            Transport::Rest(rest) => self.accounted_by_rest(rest, most).await,
            Transport::Commands(commands) => self.accounted_by_tool(commands, most).await.map(Some),
        }
    }

    async fn accounted_by_rest(
        &self,
        rest: &Rest,
        most: usize,
    ) -> Result<Option<DecodedAnswer>, HttpError> {
        let (wanted, origin) = (self.wanted, self.origin());
        let every = |_: &Map<String, Value>| true;
        let mut received = DecodedAnswer::default();
        let list = |values: &BTreeSet<String>| {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            values.join(",")
        };
        let window = || {
            vec![
                ("start_time", rest::time(wanted.from)),
                ("end_time", rest::time(wanted.to)),
            ]
        };
        let filter = if !wanted.names.is_empty() {
            Some(Some(("job_name", list(&wanted.names))))
        } else if wanted.is_of_nodes() {
            Some(Some(("node", list(&wanted.nodes))))
        } else {
            wanted.all.then_some(None)
        };
        if let Some(filter) = filter {
            let mut query = window();
            query.extend(filter);
            match rest.accounted(&query, self.deadline).await? {
                Some(page) => received.and(page.receive(&origin, &every)),
                None => return Ok(None),
            }
        }
        for number in wanted.numbers.iter().take(most) {
            match rest.accounted_job(number, self.deadline).await? {
                Some(page) => received.and(page.receive(&origin, &every)),
                None => return Ok(None),
            }
        }
        Ok(Some(received))
    }

    async fn accounted_by_tool(
        &self,
        commands: &Commands,
        most: usize,
    ) -> Result<DecodedAnswer, HttpError> {
        let wanted = self.wanted;
        let list = |values: Vec<&str>| values.join(",");
        let names: Vec<&str> = wanted.names.iter().map(String::as_str).collect();
        let nodes: Vec<&str> = wanted.nodes.iter().map(String::as_str).collect();
        let window = || {
            vec![
                format!("--starttime={}", clock(wanted.from)),
                format!("--endtime={}", clock(wanted.to)),
            ]
        };
        let mut requested: Vec<Vec<String>> = Vec::new();
        if !names.is_empty() {
            let mut arguments = window();
            arguments.push(format!("--name={}", list(names)));
            requested.push(arguments);
        } else if wanted.is_of_nodes() {
            let mut arguments = window();
            arguments.push(format!("--nodelist={}", list(nodes)));
            requested.push(arguments);
        } else if wanted.all {
            requested.push(window());
        }
        let numbers: Vec<&str> = wanted
            .numbers
            .iter()
            .map(String::as_str)
            .take(most)
            .collect();
        if !numbers.is_empty() {
            requested.push(vec![format!("--jobs={}", list(numbers))]);
        }
        let mut received = DecodedAnswer::default();
        for arguments in requested {
            let text = commands.accounted(&arguments, self.deadline).await?;
            received.and(Table::Accounting.receive(&text, self.place, MAX_LINE));
        }
        Ok(received)
    }

    /// What the controller knows of the jobs of these numbers; of all that are
    /// wanted where no numbers are given.
    pub(super) async fn queued(
        &self,
        numbers: Option<&BTreeSet<String>>,
    ) -> Result<DecodedAnswer, HttpError> {
        let mut received = DecodedAnswer::default();
        let requested: Vec<Option<&str>> = match numbers {
            Some(numbers) => numbers.iter().map(|number| Some(number.as_str())).collect(),
            None => vec![None],
        };
        for number in requested {
            received.and(match self.way {
                Transport::Rest(rest) => {
                    let page = rest.queued(number, self.deadline).await?;
                    page.receive(&self.origin(), &|fields| {
                        number.is_some() || self.is_wanted(fields)
                    })
                }
                Transport::Commands(commands) => {
                    let text = commands.queued(number, self.deadline).await?;
                    let text = String::from_utf8_lossy(&text);
                    let lines = text
                        .lines()
                        .filter(|line| number.is_some() || self.is_wanted_line(line));
                    let kept: String = lines.flat_map(|line| [line, "\n"]).collect();
                    Table::Control.receive(kept.as_bytes(), self.place, MAX_LINE)
                }
            });
        }
        Ok(received)
    }

    /// Whether a job of the controller's list is meant.
    fn is_wanted(&self, fields: &Map<String, Value>) -> bool {
        let numbers: Vec<i64> = ["job_id", "array_job_id", "het_job_id"]
            .iter()
            .filter_map(|key| number(fields.get(*key)))
            .collect();
        let nodes = expand(text(fields, "nodes"));
        self.wanted.holds(text(fields, "name"), &numbers, &nodes)
    }

    /// The same of a line of `scontrol -o show job`.
    fn is_wanted_line(&self, line: &str) -> bool {
        let field = |key: &str| {
            let mut words = line.split(' ');
            words.find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
        };
        let numbers: Vec<i64> = ["JobId", "ArrayJobId", "HetJobId"]
            .iter()
            .filter_map(|key| field(key)?.parse().ok())
            .collect();
        let nodes = expand(field("NodeList").unwrap_or_default());
        self.wanted
            .holds(field("JobName").unwrap_or_default(), &numbers, &nodes)
    }

    /// Nodes as they are, of these names; of all where none is named.
    pub(super) async fn nodes(&self, names: &BTreeSet<String>) -> Result<DecodedAnswer, HttpError> {
        let is = |name: &str| names.is_empty() || names.contains(name);
        match self.way {
            Transport::Rest(rest) => {
                let page = rest.nodes(self.deadline).await?;
                Ok(page.receive(&self.origin(), &|fields| is(text(fields, "name"))))
            }
            Transport::Commands(commands) => {
                let text = commands.nodes(self.deadline).await?;
                let text = String::from_utf8_lossy(&text);
                let name = |line: &str| {
                    let rest = line.strip_prefix("NodeName=")?;
                    rest.split(' ').next().map(str::to_owned)
                };
                let lines = text
                    .lines()
                    .filter(|line| name(line).is_some_and(|name| is(&name)));
                let kept: String = lines.flat_map(|line| [line, "\n"]).collect();
                Ok(Table::Control.receive(kept.as_bytes(), self.place, MAX_LINE))
            }
        }
    }

    /// What happened to these nodes before; `None` where this way does not tell.
    pub(super) async fn node_events(
        &self,
        names: &BTreeSet<String>,
    ) -> Result<Option<DecodedAnswer>, HttpError> {
        let Transport::Commands(commands) = self.way else {
            return Ok(None);
        };
        let since = clock(self.wanted.from);
        let text = commands.node_events(&since, self.deadline).await?;
        let text = String::from_utf8_lossy(&text);
        let of = |line: &str| {
            line.split('|')
                .nth(1)
                .is_some_and(|name| names.contains(name))
        };
        let lines = text
            .lines()
            .enumerate()
            .filter(|(at, line)| *at == 0 || names.is_empty() || of(line));
        let kept: String = lines.flat_map(|(_, line)| [line, "\n"]).collect();
        Ok(Some(Table::NodeEvents.receive(
            kept.as_bytes(),
            self.place,
            MAX_LINE,
        )))
    }
}

/// `2026-11-21T15:20:27`, in UTC.
fn clock(at: Nanos) -> String {
    let text = rfc3339(at.max(0));
    text.get(..19).unwrap_or(&text).to_owned()
}
