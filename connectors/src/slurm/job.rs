//! A job with its steps, whoever told them, to a fact and an object.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::event::{Event, EventId, Origin, SourceKind};
use crate::exit_code;
use crate::host_list;
use crate::object::{ObjectBody, ObjectKey, ObjectVersion};
use crate::observation::Observation;
use crate::redact::redact;
use crate::time::{Nanos, SECOND, Stamp};

/// A job's or a step's row, by what it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) cluster: Option<String>,
    /// Without the step: `39631350`, `7_3`, `7+1`.
    pub(super) job: String,
    /// The number that a task of an array or a part of a heterogeneous job has
    /// beside that: its own processes and logs know only this one.
    pub(super) own: Option<String>,
    /// `batch`, `extern`, `0`, …; `None` for the job itself.
    pub(super) step: Option<String>,
    pub(super) name: Option<String>,
    pub(super) user: Option<String>,
    /// The user's number, by which the daemons call them.
    pub(super) user_id: Option<String>,
    pub(super) account: Option<String>,
    pub(super) partition: Option<String>,
    /// `CANCELLED by 1001`, `FAILED`, …
    pub(super) state: String,
    /// Why it waits or ended, `None` where Slurm says `None`.
    pub(super) why: Option<String>,
    pub(super) exit: Option<(i32, i32)>,
    pub(super) nodes: Option<String>,
    pub(super) submit: Option<Stamp>,
    pub(super) start: Option<Stamp>,
    pub(super) end: Option<Stamp>,
    /// When the scheduler looked at it last.
    pub(super) evaluated: Option<Stamp>,
    pub(super) requested_memory: Option<String>,
    pub(super) max_memory: Option<String>,
    pub(super) time_limit: Option<String>,
    /// How often it was put back into the queue.
    pub(super) restarts: Option<i64>,
    /// Times came without a zone.
    pub(super) zoneless: bool,
    pub(super) line: u64,
    pub(super) raw: String,
}

/// `39631350.batch` to job and step.
pub(super) fn split_id(id: &str) -> Option<(String, Option<String>)> {
    let id = id.trim();
    let (job, step) = match id.split_once('.') {
        Some((job, step)) => (job, Some(step.to_owned())),
        None => (id, None),
    };
    let known =
        |c: char| c.is_ascii_digit() || matches!(c, '_' | '+' | '[' | ']' | '-' | ',' | '%');
    let starts = job.starts_with(|c: char| c.is_ascii_digit());
    (starts && job.chars().all(known)).then(|| (job.to_owned(), step))
}

/// `6_1(9)`, as its daemons write: the number people use, and the job's own.
pub(super) fn split_own(id: &str) -> (&str, Option<&str>) {
    match id.split_once('(') {
        Some((job, own)) => (job, own.strip_suffix(')')),
        None => (id, None),
    }
}

/// `0:9`: exit code and signal.
pub(super) fn split_exit(text: &str) -> Option<(i32, i32)> {
    let (code, signal) = text.trim().split_once(':')?;
    Some((code.parse().ok()?, signal.parse().ok()?))
}

/// The number of a task of an array (`6_1`) or of a part of a heterogeneous job
/// (`40+1`), of which only the own number and that of the whole are told.
pub(super) fn numbered(own: &str, whole: Option<i64>, mark: char, part: Option<String>) -> String {
    match (whole.filter(|whole| *whole > 0), part) {
        (Some(whole), Some(part)) => format!("{whole}{mark}{part}"),
        _ => own.to_owned(),
    }
}

/// A state that is none yet: it waits or runs.
pub(super) fn goes_on(state: &str) -> bool {
    RUNS.contains(&state)
}

/// A state of one that has not begun.
fn waits(state: &str) -> bool {
    matches!(
        state,
        "PENDING" | "REQUEUE_HOLD" | "SPECIAL_EXIT" | "REQUEUE_FED"
    )
}

/// The state's first word, and who cancelled.
fn split_state(state: &str) -> (String, Option<String>) {
    let state = state.trim();
    let (word, rest) = state.split_once(' ').unwrap_or((state, ""));
    let by = rest.strip_prefix("by ").map(|user| user.trim().to_owned());
    // `OUT_OF_ME+` is cut off by the column's width.
    let cut = word.strip_suffix('+').unwrap_or(word);
    let mut known = ENDS
        .iter()
        .chain(RUNS)
        .filter(|state| state.starts_with(cut));
    let whole = match known.next() {
        Some(state) if cut.len() >= SHORTEST => state,
        _ => cut,
    };
    (whole.to_owned(), by)
}

/// The least of a state's letters that tell which it is.
const SHORTEST: usize = 5;

const ENDS: &[&str] = &[
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "REQUEUED",
    "TIMEOUT",
];

const RUNS: &[&str] = &[
    "PENDING",
    "RUNNING",
    "SUSPENDED",
    "CONFIGURING",
    "COMPLETING",
    "RESIZING",
    "STAGE_OUT",
    "SIGNALING",
    "REQUEUE_HOLD",
    "REQUEUE_FED",
    "SPECIAL_EXIT",
    "STOPPED",
];

/// How telling a step's end is; the job's own state may be less exact.
fn evidence(state: &str) -> u8 {
    match state {
        "OUT_OF_MEMORY" => 3,
        "NODE_FAIL" | "TIMEOUT" => 2,
        "FAILED" => 1,
        _ => 0,
    }
}

/// The job of some rows, told.
pub(super) fn emit(rows: &[Row], file: &Arc<str>, out: &mut Vec<Observation>) {
    let Some(main) = rows.iter().find(|row| row.step.is_none()).or(rows.first()) else {
        return;
    };
    let first = |get: fn(&Row) -> &Option<String>| {
        let of_rows = rows.iter().find_map(|row| get(row).clone());
        get(main)
            .clone()
            .or(of_rows)
            .filter(|text| !text.is_empty())
    };
    let cluster = first(|row| &row.cluster);
    let uid = match &cluster {
        Some(cluster) => format!("slurm/{cluster}/{}", main.job),
        None => format!("slurm/{}", main.job),
    };
    let (state, by) = split_state(&main.state);
    // A step names what it runs, a job what it is.
    let name = main.name.clone().filter(|_| main.step.is_none());
    let origin = Origin {
        file: Arc::clone(file),
        line: main.line,
    };
    let ended = main.end.filter(|_| !goes_on(&state));
    let list = first(|row| &row.nodes);
    let nodes = list.as_deref().map(host_list::expand).unwrap_or_default();
    let mut labels = BTreeMap::from([("job_id".to_owned(), main.job.clone())]);
    for (key, value) in [
        ("user", first(|row| &row.user)),
        ("account", first(|row| &row.account)),
        ("partition", first(|row| &row.partition)),
    ] {
        if let Some(value) = value {
            labels.insert(key.to_owned(), value);
        }
    }
    let single = match nodes.as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    };
    let mut annotations = BTreeMap::new();
    if let Some(list) = &list {
        annotations.insert("node_list".to_owned(), list.clone());
    }
    let own = first(|row| &row.own).filter(|own| *own != main.job);
    if let Some(own) = &own {
        annotations.insert("own_id".to_owned(), own.clone());
    }
    if let Some(id) = first(|row| &row.user_id) {
        annotations.insert("user_id".to_owned(), id);
    }
    let restarts = rows.iter().filter_map(|row| row.restarts).max();
    if let Some(restarts) = restarts.filter(|restarts| *restarts > 0) {
        annotations.insert("restarts".to_owned(), restarts.to_string());
    }
    if main.zoneless {
        annotations.insert("times".to_owned(), "local".to_owned());
    }
    // Of what waits, the time is when it may begin.
    let started = main
        .start
        .or_else(|| rows.iter().filter_map(|row| row.start).min())
        .filter(|_| !waits(&state));
    out.push(Observation::Object(Box::new(ObjectVersion {
        key: ObjectKey {
            kind: "SlurmJob".to_owned(),
            namespace: String::new(),
            name: name.clone().unwrap_or_else(|| main.job.clone()),
            uid: uid.clone(),
        },
        revision: None,
        // A job that runs ends at its limit at the latest, which is in the future.
        at: ended.or(started).or(main.evaluated).or(main.submit),
        deleted: false,
        by: None,
        body: ObjectBody {
            labels,
            annotations,
            created: main.submit.or(started),
            started,
            ended,
            node: single.clone(),
            phase: Some(state.clone()),
            replicas: i64::try_from(nodes.len()).ok().filter(|n| *n > 0),
            ..ObjectBody::default()
        },
        source_kind: SourceKind::Slurm,
        origin: origin.clone(),
    })));
    // A table of the queue may not say since when.
    let waiting =
        (waits(&state) && main.why.is_some()).then_some(main.submit.unwrap_or(Stamp::OPEN));
    // A table may be without its column of ends: when it was over, it does not say.
    let undated = (!goes_on(&state)).then_some(Stamp::OPEN);
    let Some(end) = ended.or(waiting).or(undated) else {
        return;
    };
    let second = end.lo.to_string();
    let step = main.step.clone().unwrap_or_default();
    let why = main.why.as_deref().filter(|_| ended.is_none());
    let id = match why {
        Some(why) => EventId::of(&["slurm.job", &uid, &step, &state, &second, why]),
        None => EventId::of(&["slurm.job", &uid, &step, &state, &second]),
    };
    let mut event = Event::new(id, "slurm.job", end, SourceKind::Slurm);
    event.reason = Some(state.clone());
    event.actor = by.filter(|by| by != "0" || state == "CANCELLED");
    event.object_kind = Some("SlurmJob".to_owned());
    event.object_uid = Some(uid);
    event.exit_code = main
        .exit
        .and_then(|exit| exit_code::of_pair(with_signal(rows, main, exit)));
    event.entities.workload_kind = Some("SlurmJob".to_owned());
    event.entities.workload = Some(name.unwrap_or_else(|| main.job.clone()));
    event.entities.node = single;
    event.message = main.why.as_deref().map(|why| redact(why).into_owned());
    event.raw = redact(&main.raw).into_owned();
    event.origin = origin;
    event.set_attribute("job_id", Some(main.job.as_str()));
    event.set_attribute("own_id", own.as_deref());
    event.set_attribute("cluster", cluster);
    event.set_attribute("user", first(|row| &row.user));
    event.set_attribute("user_id", first(|row| &row.user_id));
    event.set_attribute("account", first(|row| &row.account));
    event.set_attribute("partition", first(|row| &row.partition));
    event.set_attribute("node_list", list);
    let names: Vec<Value> = nodes.into_iter().map(Value::from).collect();
    event.set_attribute("nodes", (!names.is_empty()).then_some(names));
    let signal = main.exit.map(|(_, signal)| signal).filter(|n| *n > 0);
    event.set_attribute("exit_signal", signal);
    event.set_attribute("requested_memory", first(|row| &row.requested_memory));
    let most = rows
        .iter()
        .filter_map(|row| row.max_memory.as_deref())
        .max_by_key(|text| bytes(text));
    event.set_attribute("max_memory", most);
    event.set_attribute("time_limit", first(|row| &row.time_limit));
    let start = started.map(|start| crate::time::rfc3339(start.lo));
    event.set_attribute("started", start);
    event.set_attribute("time_inferred", main.zoneless.then_some("zone"));
    let before = failed_before(rows, main, end);
    let worst = rows
        .iter()
        .filter(|row| row.step.is_some() && main.step.is_none())
        // What runs beside the job: sessions of people who logged in to look.
        .filter(|row| row.step.as_deref() != Some("extern"))
        .filter(|row| before.is_some() || !outlived(rows, row, end))
        .map(|row| (row, split_state(&row.state).0))
        .filter(|(_, word)| evidence(word) > 0)
        .min_by_key(|(row, word)| (std::cmp::Reverse(evidence(word)), row.line));
    if let Some((row, word)) = worst {
        event.set_attribute("step", row.step.as_deref());
        event.set_attribute("step_state", Some(word));
        let exit = row.exit.filter(|exit| *exit != (0, 0));
        event.set_attribute(
            "step_exit_code",
            exit.map(|(code, signal)| format!("{code}:{signal}")),
        );
    } else if main.step.is_some() {
        event.set_attribute("step", main.step.as_deref());
    }
    if let Some((row, over)) = before {
        event.set_attribute("last_step_ended", Some(crate::time::rfc3339(over.lo)));
        out.push(Observation::Event(Box::new(of_step(&event, row, over))));
    }
    out.push(Observation::Event(Box::new(event)));
}

/// Whether a job went on after one of its steps had ended: another step began, or its script ran on
/// for longer than one takes that ends with its step.
fn outlived(rows: &[Row], step: &Row, end: Stamp) -> bool {
    const ENDS_WITHIN: Nanos = 120 * SECOND;
    let Some(over) = step.end else {
        return false;
    };
    let began_later = |other: &Row| {
        let is_step = other.step.as_deref().is_some_and(is_numbered);
        is_step && other.start.is_some_and(|start| start.lo >= over.hi)
    };
    end.lo.saturating_sub(over.hi) > ENDS_WITHIN || rows.iter().any(began_later)
}

/// A step that srun made has a number; others are called `batch`, `extern` or `interactive`.
fn is_numbered(step: &str) -> bool {
    !step.is_empty() && step.bytes().all(|digit| digit.is_ascii_digit())
}

/// The last step of a job, where it failed before the job was stopped: nothing was left of that but
/// its script. And when.
fn failed_before<'r>(rows: &'r [Row], main: &Row, end: Stamp) -> Option<(&'r Row, Stamp)> {
    /// What is asked to stop has this long, and its failure is told before the job's end.
    const STOPPED_WITHIN: Nanos = 60 * SECOND;
    let is_step = |row: &&Row| row.step.as_deref().is_some_and(is_numbered);
    let stopped = ["CANCELLED", "DEADLINE", "TIMEOUT"];
    if main.step.is_some() || !stopped.contains(&split_state(&main.state).0.as_str()) {
        return None;
    }
    let steps = rows.iter().filter(is_step);
    let last = steps.max_by_key(|row| (row.end.unwrap_or(Stamp::OPEN).hi, row.line))?;
    let over = last.end?;
    let before = end.lo.saturating_sub(over.hi) > STOPPED_WITHIN;
    (before && split_state(&last.state).0 == "FAILED").then_some((last, over))
}

/// The end of one step as a fact of its job.
fn of_step(job: &Event, row: &Row, over: Stamp) -> Event {
    let step = row.step.as_deref().unwrap_or_default();
    let uid = job.object_uid.as_deref().unwrap_or_default();
    let second = over.lo.to_string();
    let id = EventId::of(&["slurm.job", uid, step, "FAILED", &second]);
    let mut event = Event::new(id, "slurm.job", over, SourceKind::Slurm);
    event.reason = Some("FAILED".to_owned());
    event.exit_code = row.exit.and_then(exit_code::of_pair);
    event.object_kind.clone_from(&job.object_kind);
    event.object_uid.clone_from(&job.object_uid);
    event.entities = job.entities.clone();
    event.attributes = job.attributes.clone();
    for of_job in [
        "exit_signal",
        "last_step_ended",
        "step_state",
        "step_exit_code",
    ] {
        event.attributes.remove(of_job);
    }
    event.set_attribute("step", Some(step));
    event.raw = redact(&row.raw).into_owned();
    event.origin = Origin {
        file: Arc::clone(&job.origin.file),
        line: row.line,
    };
    event
}

/// The exit of a job whose script ended as its step did: of 139, which a shell makes of signal 11, accounting keeps 11
/// as the code, and the step's own row says that it was a signal.
fn with_signal(rows: &[Row], main: &Row, (code, signal): (i32, i32)) -> (i32, i32) {
    let of_signal =
        |row: &Row| row.exit == Some((0, code)) && row.step.as_deref().is_some_and(is_numbered);
    if signal == 0 && code > 0 && main.step.is_none() && rows.iter().any(of_signal) {
        (0, code)
    } else {
        (code, signal)
    }
}

/// `3623244K`, `60G`, to compare with.
fn bytes(text: &str) -> u64 {
    let digits = text
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'.')
        .count();
    let number: f64 = text[..digits].parse().unwrap_or(0.0);
    let unit = match text.as_bytes().get(digits) {
        Some(b'K') => 1_u64 << 10,
        Some(b'M') => 1 << 20,
        Some(b'G') => 1 << 30,
        Some(b'T') => 1 << 40,
        _ => 1,
    };
    (number * unit as f64) as u64
}
