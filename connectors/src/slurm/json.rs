//! `sacct --json`, `scontrol show job|node --json`: items of `jobs` and `nodes`.

use serde_json::{Map, Value};

use super::job::{self, Row};
use super::node::{self, NodeField, NodeMachine, NodeReport};
use super::times;
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::observation::{Observation, Rejection};
use crate::redact::redact;
use crate::time::Stamp;

/// Whether these are the fields of a job.
pub(crate) fn is_job(fields: &Map<String, Value>, _within: &str) -> bool {
    fields.contains_key("job_id")
        && (fields.contains_key("job_state")
            || fields.contains_key("state") && fields.contains_key("time"))
}

/// Whether these are the fields of a node.
pub(crate) fn is_node(fields: &Map<String, Value>, _within: &str) -> bool {
    fields.contains_key("slurmd_start_time")
        || fields.contains_key("reason_changed_at") && fields.contains_key("state")
}

/// Decodes either.
pub(crate) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let raw = Value::Object(record.fields.clone()).to_string();
    let file = &record.origin.file;
    let line = record.origin.line;
    if is_job(record.fields, record.within) {
        let rows = rows(record.fields, line, &raw)
            .ok_or_else(|| Rejection::Malformed("a job without id or state".to_owned()))?;
        job::emit(&rows, file, &mut emitted.observations);
        return Ok(());
    }
    let state = node_report(record.fields).map(|report| report.emit(file, line, &raw));
    let machine = machine(record.fields).map(|report| report.emit(file, line, &raw));
    if state.is_none() && machine.is_none() {
        let why = "a Slurm node that jobs can use".to_owned();
        return Err(Rejection::Irrelevant(why));
    }
    let events = state.into_iter().chain(machine);
    let events = events.map(|event| Observation::Event(Box::new(event)));
    emitted.observations.extend(events);
    Ok(())
}

/// A number, or `{"set": true, "number": 7}`.
fn number(value: Option<&Value>) -> Option<i64> {
    match value? {
        Value::Object(fields) => {
            let set = fields.get("set").and_then(Value::as_bool).unwrap_or(true);
            let number = number(fields.get("number").or_else(|| fields.get("id")));
            number.filter(|_| set)
        }
        other => other.as_i64(),
    }
}

/// A number that is set, as text; an array's task may be told as `"1"`.
fn part(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => text.parse::<u32>().ok().map(|number| number.to_string()),
        other => number(Some(other)).map(|number| number.to_string()),
    }
}

/// A word, or the words of a list.
fn words(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            (!words.is_empty()).then(|| words.join("+"))
        }
        Value::Object(fields) => words(fields.get("current")),
        _ => None,
    }
}

fn text(fields: &Map<String, Value>, key: &str) -> Option<String> {
    let text = fields.get(key)?.as_str()?;
    let is_given = !matches!(text, "" | "None" | "None assigned" | "Unknown" | "(null)");
    is_given.then(|| text.to_owned())
}

fn machine(fields: &Map<String, Value>) -> Option<NodeMachine> {
    NodeMachine::of(text(fields, "name")?, |field| {
        let key = match field {
            NodeField::InstanceId => "instance_id",
            NodeField::HostName => "hostname",
            NodeField::Address => "address",
        };
        text(fields, key)
    })
}

fn exit(value: Option<&Value>) -> Option<(i32, i32)> {
    // Once it was the number that `wait` gives.
    if let Some(status) = value?.as_i64() {
        let signal = i32::try_from(status & 0x7f).ok()?;
        return Some((i32::try_from(status >> 8 & 0xff).ok()?, signal));
    }
    let fields = value?.as_object()?;
    let code = number(fields.get("return_code")).unwrap_or(0);
    let signal = fields.get("signal").and_then(Value::as_object);
    let signal = signal
        .and_then(|signal| number(signal.get("id").or_else(|| signal.get("signal_id"))))
        .unwrap_or(0);
    Some((i32::try_from(code).ok()?, i32::try_from(signal).ok()?))
}

fn rows(fields: &Map<String, Value>, line: u64, raw: &str) -> Option<Vec<Row>> {
    let times = fields.get("time").and_then(Value::as_object);
    let time = |accounted: &str, controlled: &str| -> Option<Stamp> {
        let value = times
            .and_then(|times| times.get(accounted))
            .or_else(|| fields.get(controlled));
        times::epoch(number(value)?)
    };
    let state = words(fields.get("state")).or_else(|| words(fields.get("job_state")))?;
    let why = fields.get("state").and_then(|state| state.get("reason"));
    let why = why
        .and_then(Value::as_str)
        .map(str::to_owned)
        .or_else(|| text(fields, "state_reason"))
        .filter(|why| why != "None");
    let killer = text(fields, "kill_request_user");
    let own = number(fields.get("job_id"))?.to_string();
    let within = |group: &str, key: &str, flat: &str| {
        let nested = fields.get(group).and_then(|group| group.get(key));
        nested.or_else(|| fields.get(flat)).cloned()
    };
    let array = number(within("array", "job_id", "array_job_id").as_ref());
    let task = part(within("array", "task_id", "array_task_id").as_ref());
    let whole = number(within("het", "job_id", "het_job_id").as_ref());
    let offset = part(within("het", "job_offset", "het_job_offset").as_ref());
    let job = match task {
        Some(task) => job::numbered(&own, array, '_', Some(task)),
        None => job::numbered(&own, whole, '+', offset),
    };
    // Of `CANCELLED+TIMEOUT` and the like the first is the state itself.
    let state = state.split('+').next().unwrap_or_default().to_owned();
    let state = match killer {
        Some(user) if state == "CANCELLED" => format!("CANCELLED by {user}"),
        _ => state,
    };
    let mut rows = vec![Row {
        cluster: text(fields, "cluster"),
        job: job.clone(),
        own: Some(own),
        name: text(fields, "name").map(|name| redact(&name).into_owned()),
        user: text(fields, "user").or_else(|| text(fields, "user_name")),
        user_id: number(fields.get("user_id")).map(|id| id.to_string()),
        account: text(fields, "account"),
        partition: text(fields, "partition"),
        state,
        why,
        exit: exit(fields.get("exit_code")),
        nodes: text(fields, "nodes"),
        submit: time("submission", "submit_time"),
        start: time("start", "start_time"),
        end: time("end", "end_time"),
        restarts: number(fields.get("restart_cnt")),
        line,
        raw: raw.to_owned(),
        ..Row::default()
    }];
    for step in fields
        .get("steps")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let id = step.pointer("/step/id");
        let id = id.map(|id| match id {
            Value::String(id) => id.clone(),
            other => other.to_string(),
        });
        let Some(state) = words(step.get("state")) else {
            continue;
        };
        let id = id.unwrap_or_default();
        let name = id.split_once('.').map_or(id.as_str(), |(_, step)| step);
        let time = |which: &str| {
            let value = step.get("time").and_then(|times| times.get(which));
            // One that has not begun, or goes on, has 0.
            times::epoch(number(value).filter(|second| *second > 0)?)
        };
        rows.push(Row {
            job: job.clone(),
            step: Some(name.to_owned()),
            state,
            exit: exit(step.get("exit_code")),
            start: time("start"),
            end: time("end"),
            line,
            ..Row::default()
        });
    }
    // One version of accounting says 0 of jobs that failed; the script's own step knows, or the worst exit of all steps.
    let script = rows.iter().find(|row| row.step.as_deref() == Some("batch"));
    let is_known = |exit: &(i32, i32)| *exit != (0, 0);
    let script = script
        .and_then(|row| row.exit)
        .filter(is_known)
        .or_else(|| exit(fields.get("derived_exit_code")))
        .filter(is_known);
    if let Some(main) = rows.first_mut()
        && main.state == "FAILED"
        && main.exit.is_none_or(|exit| exit == (0, 0))
    {
        main.exit = script;
    }
    Some(rows)
}

fn node_report(fields: &Map<String, Value>) -> Option<NodeReport> {
    // Flags once had a list of their own beside the state.
    let flags = words(fields.get("state_flags")).unwrap_or_default();
    let (state, _) = node::state(&format!("{}+{flags}", words(fields.get("state"))?));
    let why = text(fields, "reason");
    if !node::is_away(&state) && why.is_none() {
        return None;
    }
    Some(NodeReport {
        node: text(fields, "name").or_else(|| text(fields, "hostname"))?,
        state,
        why,
        by: text(fields, "reason_set_by_user"),
        time: number(fields.get("reason_changed_at")).and_then(times::epoch),
    })
}
