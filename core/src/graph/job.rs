//! What records teach about the lives of batch jobs.
//!
//! A job and its steps are one member: what ends a step and not the job has
//! ended nothing.

use crate::graph::{TaskRow, WorkloadRow};
use crate::signals::named;
use std::collections::HashMap;

use whathappened_model::event::Event;
use whathappened_model::host_list::expand;
use whathappened_model::object::{ObjectBody, ObjectKey};
use whathappened_model::time::Stamp;

use super::identity::{Pods, Workloads};
use super::learn::{earlier, later};
use super::{Exit, Fact, Task, TaskKind};
use crate::evidence::{Objects, Version};
use crate::symbols::{Symbol, SymbolTable};

/// The kind of a Slurm job's object.
pub(super) const KIND: &str = "SlurmJob";

/// What a job's end is called of which accounting tells that its last step had failed before.
pub(crate) const STEP_FAILED: &str = "STEP_FAILED";

/// Which job a number means. Accounting says of which cluster a job is; its own
/// log and the controller's do not.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// Ids with a cluster by number; `None` where several clusters have that number.
    whole: HashMap<String, Option<String>>,
    /// Ids by the number that only the job itself knows: that of an array's task.
    own: HashMap<String, String>,
    /// Names of users by their number; `None` where clusters differ in it.
    pub(super) users: HashMap<String, Option<String>>,
}

impl Numbers {
    /// Learns of all jobs that any object tells.
    pub(super) fn learn(&mut self, objects: &Objects) {
        let jobs = || objects.iter().filter(|(key, _)| key.kind == KIND);
        let nameless: HashMap<&str, (&ObjectKey, &[Version])> = jobs()
            .filter(|(key, _)| !has_cluster(&key.uid))
            .map(|(key, versions)| (number(&key.uid), (key, versions)))
            .collect();
        for (key, versions) in jobs().filter(|(key, _)| has_cluster(&key.uid)) {
            let number = number(&key.uid);
            let is_another = nameless
                .get(number)
                .is_some_and(|other| contradict((key, versions), *other));
            self.whole
                .entry(number.to_owned())
                .and_modify(|known| {
                    if known.as_ref() != Some(&key.uid) {
                        *known = None;
                    }
                })
                .or_insert_with(|| Some(key.uid.clone()).filter(|_| !is_another));
        }
        for body in jobs().flat_map(|(_, versions)| versions.iter().map(|one| &one.body)) {
            let id = body.annotations.get("user_id");
            if let Some((id, name)) = id.zip(body.labels.get("user")) {
                self.call(id, name);
            }
        }
        for (key, versions) in jobs() {
            let own = |version: &Version| version.body.annotations.get("own_id").cloned();
            if let Some(own) = versions.iter().find_map(own) {
                let id = self.id(&key.uid).to_owned();
                self.own.entry(own).or_insert(id);
            }
        }
    }

    /// A record calls the user of a number by a name.
    fn call(&mut self, id: &str, name: &str) {
        self.users
            .entry(id.to_owned())
            .and_modify(|known| *known = known.take().filter(|known| known == name))
            .or_insert_with(|| Some(name.to_owned()));
    }

    /// The id that a job is known by, of one that may lack its cluster.
    pub(super) fn id<'i>(&'i self, id: &'i str) -> &'i str {
        if has_cluster(id) {
            return id;
        }
        let known = self.whole.get(number(id));
        known.and_then(Option::as_deref).unwrap_or(id)
    }

    /// The id of the job that a line in its own log names.
    fn of_own(&self, number: &str) -> Option<&str> {
        self.own.get(number).map(String::as_str)
    }
}

/// Whether two jobs of one number are not the same: they are of two users, or bear two names. Tables cut both off.
fn contradict(one: (&ObjectKey, &[Version]), other: (&ObjectKey, &[Version])) -> bool {
    let user = |(_, versions): (&ObjectKey, &[Version])| {
        let mut users = versions
            .iter()
            .filter_map(|one| one.body.labels.get("user"));
        users.next().cloned()
    };
    let name = |(key, _): (&ObjectKey, &[Version])| {
        // A job of which no name is known is called by its number.
        Some(key.name.clone()).filter(|name| name != number(&key.uid))
    };
    let differ = |one: Option<String>, other: Option<String>| {
        let (Some(one), Some(other)) = (one, other) else {
            return false;
        };
        let (one, other) = (one.trim_end_matches('+'), other.trim_end_matches('+'));
        !one.starts_with(other) && !other.starts_with(one)
    };
    differ(user(one), user(other)) || differ(name(one), name(other))
}

/// `slurm/<cluster>/<number>`, not `slurm/<number>`.
fn has_cluster(id: &str) -> bool {
    id.split('/').count() > 2
}

/// Learns from all versions of one job.
pub(super) fn versions(
    key: &ObjectKey,
    versions: &[Version],
    root: Option<WorkloadRow>,
    symbols: &mut SymbolTable,
    pods: &mut Pods,
) {
    let id = pods.jobs.id(&key.uid).to_owned();
    let number = known(&id, root, symbols, pods);
    for version in versions {
        let body = &version.body;
        let list = body.annotations.get("node_list");
        let listed = list.map(|list| expand(list)).unwrap_or_default();
        let all = body.node.iter().chain(&listed);
        let nodes: Vec<Symbol> = all.map(|node| symbols.number(node)).collect();
        let Some(one) = pods.all.get_mut(number) else {
            return;
        };
        was_on(one, &nodes);
        for (slot, reported) in [
            (&mut one.created, body.created),
            (&mut one.started, body.started),
        ] {
            if let Some(reported) = reported {
                *slot = earlier(*slot, reported);
            }
        }
        if let Some(ended) = body.ended {
            one.ended = later(one.ended, ended);
        }
        if body.phase.is_some() {
            one.phase.clone_from(&body.phase);
        }
        if let Some(at) = version.at {
            one.see(at.lo, at.hi);
        }
        one.body = Some(std::sync::Arc::clone(body));
    }
}

/// The job of an id, as the only member of its run.
pub(super) fn known(
    id: &str,
    root: Option<WorkloadRow>,
    symbols: &mut SymbolTable,
    pods: &mut Pods,
) -> TaskRow {
    let name = symbols.number(number(id));
    let id = symbols.number(id);
    let number = pods.of_id(TaskKind::Job, id, name);
    if let Some(one) = pods.all.get_mut(number)
        && root.is_some()
    {
        one.owner = root;
    }
    number
}

/// Puts the parts of a heterogeneous job, `40+0` and `40+1`, under the one job that they are: Slurm starts
/// them together and ends all where one ends.
pub(super) fn unite_parts(symbols: &mut SymbolTable, workloads: &mut Workloads) {
    let Some(kind) = symbols.find(KIND) else {
        return;
    };
    let parts: Vec<(WorkloadRow, String)> = workloads
        .all
        .numbered()
        .filter(|(_, one)| one.kind == kind && one.owner.is_none())
        .filter_map(|(part, one)| {
            let (whole, number) = symbols.name(one.uid).rsplit_once('+')?;
            let is_part = !number.is_empty() && number.bytes().all(|one| one.is_ascii_digit());
            is_part.then(|| (part, whole.to_owned()))
        })
        .collect();
    for (part, whole) in parts {
        let Some(one) = workloads.all.get(part) else {
            continue;
        };
        let (name, created) = (one.name, one.created);
        let begin = created.unwrap_or(Stamp::OPEN);
        let uid = symbols.number(&whole);
        let owner = workloads.of(kind, uid, Symbol::NONE, name, begin);
        if let Some(one) = workloads.all.get_mut(owner) {
            let earliest = created.map(|created| earlier(one.created, created));
            one.created = earliest.unwrap_or(one.created);
        }
        if let Some(one) = workloads.all.get_mut(part) {
            one.owner = Some(owner);
        }
    }
}

/// Whether its times are by a clock of no zone.
pub(super) fn is_zoneless(body: &ObjectBody) -> bool {
    body.annotations
        .get("times")
        .is_some_and(|times| times == "local")
}

/// The number that people call a job by: the last part of its id.
pub(super) fn number(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

fn was_on(one: &mut Task, nodes: &[Symbol]) {
    for node in nodes.iter().filter(|node| node.is_some()) {
        if !one.node.is_some() {
            one.node = *node;
        } else if one.node != *node && !one.more_nodes.contains(node) {
            one.more_nodes.push(*node);
        }
    }
}

/// The job that a record is about or was written by, made where it is new.
pub(super) fn of_event(
    event: &Event,
    symbols: &mut SymbolTable,
    pods: &mut Pods,
    workloads: &mut Workloads,
) -> Option<TaskRow> {
    let about = event
        .object_uid
        .as_deref()
        .filter(|_| event.object_kind.as_deref() == Some(KIND));
    let id = match (about, event.attribute("slurm_job")) {
        (Some(id), _) => {
            let id = pods.jobs.id(id).to_owned();
            if let Some(own) = event.attribute("own_id") {
                pods.jobs
                    .own
                    .entry(own.to_owned())
                    .or_insert_with(|| id.clone());
            }
            id
        }
        (None, Some(job)) => match pods.jobs.of_own(job) {
            Some(id) => id.to_owned(),
            None => pods.jobs.id(&format!("slurm/{job}")).to_owned(),
        },
        (None, None) => return None,
    };
    let (kind, uid) = (symbols.number(KIND), symbols.number(&id));
    let name = event.entities.workload.as_deref();
    let name = symbols.number(name.unwrap_or(number(&id)));
    let root = workloads.of(kind, uid, Symbol::NONE, name, event.time);
    Some(known(&id, Some(root), symbols, pods))
}

/// Calls users by name of whom daemons only know the number, as the accounts of their jobs tell.
pub(super) fn name_users(
    users: &HashMap<String, Option<String>>,
    facts: &mut [Fact],
    symbols: &mut SymbolTable,
) {
    for fact in facts.iter_mut().filter(|fact| fact.actor.is_some()) {
        let id = symbols.name(fact.actor);
        if !symbols.name(fact.signal).starts_with("slurm.") {
            continue;
        }
        let known = users.get(id).cloned().flatten();
        let name = known.or_else(|| (id == "0").then(|| "root".to_owned()));
        if let Some(name) = name {
            fact.actor = symbols.number(&name);
        }
    }
}

/// Learns from one fact about a job.
pub(super) fn event(event: &Event, number: TaskRow, symbols: &mut SymbolTable, pods: &mut Pods) {
    let ended = match event.fact.as_str() {
        "slurm.job" if is_of_job(event) && !goes_on(event) => event.reason.clone(),
        "log.line" => job_of_line(event),
        _ => None,
    };
    let held_back = event
        .signals
        .iter()
        .any(|signal| signal.starts_with("slurm.waiting."));
    let listed = event
        .attributes
        .get("nodes")
        .and_then(serde_json::Value::as_array);
    let listed = listed.into_iter().flatten().filter_map(|one| one.as_str());
    let nodes: Vec<Symbol> = event
        .entities
        .node
        .as_deref()
        .into_iter()
        .chain(listed)
        .map(|node| symbols.number(node))
        .collect();
    let started = event.attribute("started").and_then(Stamp::parse);
    let reason = symbols.optional(ended.as_deref());
    // What the words of daemons and launchers come to.
    for state in ["CANCELLED", "FAILED", "TIMEOUT"] {
        symbols.number(state);
    }
    let step_failed = symbols.number(STEP_FAILED);
    if let (Some(id), Some(name)) = (event.attribute("user_id"), event.attribute("user")) {
        pods.jobs.call(id, name);
    }
    let Some(one) = pods.all.get_mut(number) else {
        return;
    };
    was_on(one, &nodes);
    if let Some(started) = started {
        one.started = earlier(one.started, started);
        one.starts.push(started);
    }
    if held_back {
        one.unplaced = earlier(one.unplaced, event.time);
    }
    if ended.is_some() && event.fact == "log.line" {
        one.untimed.part = one.untimed.part.max(event.origin.line);
    }
    if ended.is_some() {
        one.ended = later(one.ended, event.time);
        if let Some(over) = event.attribute("last_step_ended").and_then(Stamp::parse) {
            one.exits.push(Exit {
                time: over,
                container: Symbol::NONE,
                init: false,
                exit_code: step_exit_code(event),
                reason: step_failed,
            });
        }
        one.exits.push(Exit {
            time: event.time,
            container: Symbol::NONE,
            init: false,
            exit_code: event.exit_code.or_else(|| task_exit_code(event)),
            reason,
        });
    }
}

/// Whether an end is the job's: that of a step says which one only where the
/// job's own row, which is there as well, ended with it.
fn is_of_job(event: &Event) -> bool {
    event.attribute("step").is_none() || event.attribute("step_state").is_some()
}

/// Whether a job waits or runs, as its record tells.
pub(super) fn goes_on(event: &Event) -> bool {
    let state = event.reason.as_deref().unwrap_or_default();
    matches!(
        state,
        "RUNNING" | "PENDING" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT"
    )
}

/// The code with which the most telling step ended, as a shell would say it.
fn step_exit_code(event: &Event) -> Option<i32> {
    let (code, signal) = event.attribute("step_exit_code")?.split_once(':')?;
    whathappened_model::exit_code::of_pair((code.parse().ok()?, signal.parse().ok()?))
}

/// The code with which a task ended, as srun writes it.
fn task_exit_code(event: &Event) -> Option<i32> {
    event.attribute("task_exit_code")?.parse().ok()
}

/// The state that Slurm's own line in the job's log tells.
fn job_of_line(event: &Event) -> Option<String> {
    let is = |signal: &str| event.signals.iter().any(|one| one == signal);
    if is(named::SLURM_TASK_FAILED) {
        let killed = event.attribute("detail") == Some("Out Of Memory");
        Some(
            if killed {
                "OUT_OF_MEMORY"
            } else {
                "TASK_FAILED"
            }
            .to_owned(),
        )
    } else if is(named::MPI_ABORTED) {
        Some("TASK_FAILED".to_owned())
    } else if is(named::SLURM_TIME_LIMIT) {
        let step = event.attribute("step").is_some_and(|step| step != "batch");
        Some(if step { "STEP_TIMEOUT" } else { "TIMEOUT" }.to_owned())
    } else if is(named::SLURM_CANCELLED) {
        let why = event.attribute("detail").unwrap_or_default();
        Some(match why {
            "PREEMPTION" => "PREEMPTED".to_owned(),
            why if why.starts_with("NODE FAILURE") => "NODE_FAIL".to_owned(),
            why if why.starts_with("JOB REQUEUE") => "REQUEUED".to_owned(),
            // One step may be cancelled, and the job go on or end otherwise.
            "" if event.attribute("step").is_some() => "STEP_CANCELLED".to_owned(),
            _ => "CANCELLED".to_owned(),
        })
    } else {
        None
    }
}
