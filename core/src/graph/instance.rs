//! What records teach about the lives of cloud instances.

use std::collections::HashSet;

use whathappened_model::event::Event;
use whathappened_model::object::{ObjectBody, ObjectKey};
use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::identity::{Pods, Workloads};
use super::learn::earlier;
use super::{Task, TaskKind};
use crate::evidence::Version;
use crate::graph::{TaskRow, WorkloadRow};
use crate::signals::SignalTraits;
use crate::symbols::{Symbol, SymbolTable};

/// What a record says of the life of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstanceChange {
    /// The cloud could not make it.
    Refused,
    /// It was made.
    Made,
    /// It was started.
    Runs,
    /// It was seen at work, and not started anew: its platform moved it to another host as it ran.
    Moved,
    /// The platform took it away, which befalls only an instance that runs.
    Taken,
    /// Its host failed, which befalls only an instance that runs.
    Lost,
    /// Its kernel killed a program, which only one that runs can.
    ProgramKilled,
    /// It shut itself down, which only one that runs can.
    ShutDown,
    /// Somebody reset it: what ran on it ended, it runs on.
    Reset,
    /// Somebody stopped it, unless it had stopped before.
    Stopped,
    /// Somebody deleted it, whether it ran or not.
    Deleted,
}

impl InstanceChange {
    /// The change of a name in a signal's entry; that a kernel killed a program stands in none.
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "refused" => Self::Refused,
            "made" => Self::Made,
            "runs" => Self::Runs,
            "moved" => Self::Moved,
            "taken" => Self::Taken,
            "lost" => Self::Lost,
            "shut_down" => Self::ShutDown,
            "reset" => Self::Reset,
            "stopped" => Self::Stopped,
            "deleted" => Self::Deleted,
            _ => return None,
        })
    }
}

/// One such record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstanceRecord {
    /// When.
    pub time: Stamp,
    /// What it says.
    pub what: InstanceChange,
    /// The cloud's own word for it.
    pub word: Symbol,
    /// The operation that it was part of.
    pub operation: Symbol,
}

impl InstanceRecord {
    /// Whether what runs on the instance began anew.
    #[must_use]
    pub fn begins(&self) -> bool {
        matches!(
            self.what,
            InstanceChange::Made | InstanceChange::Reset | InstanceChange::Runs
        )
    }
}

/// Labels that name the group that an instance was made by.
const GROUPS: [&str; 2] = ["aws:autoscaling:groupName", "group"];

/// The group that an instance's inventory says it is of.
#[must_use]
pub fn instance_group(body: &ObjectBody) -> Option<&str> {
    let owner = body.owners.first().map(|owner| owner.name.as_str());
    let label = || GROUPS.iter().find_map(|key| body.labels.get(*key));
    owner.or_else(|| label().map(String::as_str))
}

/// What a signal says of an instance's life; what is announced has not happened yet.
fn what(event: &Event, signal: &str, traits: &SignalTraits) -> Option<InstanceChange> {
    let announced = event.attribute("phase") == Some("announced");
    let found = traits.instance(signal).and_then(InstanceChange::parse);
    found.filter(|_| !announced)
}

/// The instance that a record names only by name: the one of that name, made
/// where there is none. Of several it may be any.
pub(super) fn of_event(
    event: &Event,
    symbols: &mut SymbolTable,
    pods: &mut Pods,
) -> Option<TaskRow> {
    if event.object_kind.as_deref() != Some("Instance") || event.entities.instance.is_some() {
        return None;
    }
    let name = event.entities.node.as_deref()?;
    let account = event.attribute("account").unwrap_or_default();
    let sym = symbols.number(name);
    match pods.instances_of_name(sym).as_slice() {
        [] => {
            let key = symbols.number(&format!("{account}/{name}"));
            Some(pods.of_id(TaskKind::Instance, key, sym))
        }
        [one] => Some(*one),
        _ => None,
    }
}

/// Learns from all versions of one instance.
pub(super) fn versions(
    key: &ObjectKey,
    versions: &[Version],
    symbols: &mut SymbolTable,
    pods: &mut Pods,
    workloads: &mut Workloads,
) {
    let id = symbols.number(&key.uid);
    let name = symbols.number(&key.name);
    let account = symbols.number(&key.namespace);
    let number = pods.of_id(TaskKind::Instance, id, name);
    for version in versions {
        let body = &version.body;
        let group = run_of(
            instance_group(body),
            body.experiment(),
            account,
            symbols,
            workloads,
        );
        let Some(one) = pods.all.get_mut(number) else {
            return;
        };
        is_known_as(one, account, name);
        belongs_to(one, group, symbols, workloads);
        if let Some(created) = body.created {
            one.created = earlier(one.created, created);
        }
        if let Some(at) = version.at {
            one.see(at.lo, at.hi);
        }
        let gone = version.deleted.then_some(version.at).flatten();
        for (reported, what) in [
            (body.ended, InstanceChange::Stopped),
            (gone, InstanceChange::Deleted),
        ] {
            if let Some(time) = reported {
                let word = symbols.optional(body.phase.as_deref());
                one.signs.push(InstanceRecord {
                    time,
                    what,
                    word,
                    operation: Symbol::NONE,
                });
            }
        }
        if body.phase.is_some() {
            one.phase.clone_from(&body.phase);
        }
        one.body = Some(std::sync::Arc::clone(body));
    }
}

/// Learns from one fact about an instance.
pub(super) fn event(
    event: &Event,
    number: TaskRow,
    symbols: &mut SymbolTable,
    pods: &mut Pods,
    workloads: &mut Workloads,
) {
    let account = symbols.optional(event.attribute("account"));
    let name = symbols.optional(event.entities.node.as_deref());
    let zone = symbols.optional(event.entities.zone.as_deref());
    let group = run_of(
        event.attribute("group"),
        event.entities.experiment.as_deref(),
        account,
        symbols,
        workloads,
    );
    let of_group = symbols.optional(event.attribute("group"));
    let word = event.attribute("host_event").or(event.attribute("method"));
    let word = symbols.optional(word.or(event.reason.as_deref()));
    let operation = symbols.optional(event.attribute("event_id"));
    let Some(one) = pods.all.get_mut(number) else {
        return;
    };
    is_known_as(one, account, name);
    belongs_to(one, group, symbols, workloads);
    if of_group.is_some() {
        one.group = of_group;
    }
    if !one.zone.is_some() {
        one.zone = zone;
    }
    for signal in &event.signals {
        if let Some(what) = what(event, signal, &pods.traits) {
            one.signs.push(InstanceRecord {
                time: event.time,
                what,
                word,
                operation,
            });
        }
    }
}

/// Forgets what was only tried, and settles when each instance was made and deleted.
pub(super) fn settle(pods: &mut Table<Task>, failed: &HashSet<Symbol>, symbols: &SymbolTable) {
    let by_user = symbols.find(BY_USER);
    for one in pods.iter_mut().filter(|one| one.kind == TaskKind::Instance) {
        one.signs.retain(|sign| {
            sign.what == InstanceChange::Refused || !failed.contains(&sign.operation)
        });
        one.signs
            .sort_by_key(|sign| (sign.time.lo, sign.time.hi, sign.what));
        forget_echoes(&mut one.signs, by_user);
        for sign in &one.signs {
            match sign.what {
                InstanceChange::Made => one.created = earlier(one.created, sign.time),
                InstanceChange::Deleted => one.gone = one.gone.or(Some(sign.time)),
                _ => {}
            }
            // An id may come again: Azure's are made of names.
            if matches!(
                sign.what,
                InstanceChange::Made | InstanceChange::Runs | InstanceChange::Moved
            ) {
                one.gone = None;
            }
        }
    }
}

/// Who asked for what a scheduled event of Azure announces (`EventSource`).
const BY_USER: &str = "User";

/// Drops what the cloud announces to a machine of a request that somebody made at its API, where that itself is on record.
fn forget_echoes(signs: &mut Vec<InstanceRecord>, by_user: Option<Symbol>) {
    /// A machine is told of it up to fifteen minutes before.
    const ANNOUNCED: Nanos = 900 * SECOND;
    let is_asked = |sign: &InstanceRecord| {
        matches!(sign.what, InstanceChange::Stopped | InstanceChange::Deleted)
            && Some(sign.word) != by_user
    };
    let asked: Vec<Nanos> = signs
        .iter()
        .filter(|sign| is_asked(sign))
        .map(|sign| sign.time.lo)
        .collect();
    signs.retain(|sign| {
        let near = |asked: &Nanos| asked.saturating_sub(sign.time.lo).saturating_abs() <= ANNOUNCED;
        sign.what != InstanceChange::Stopped
            || Some(sign.word) != by_user
            || !asked.iter().any(near)
    });
}

fn is_known_as(one: &mut Task, account: Symbol, name: Symbol) {
    for (slot, reported) in [(&mut one.namespace, account), (&mut one.name, name)] {
        if !slot.is_some() {
            *slot = reported;
        }
    }
    // A machine is its own place: what is told of its host is told of it.
    one.node = if one.name.is_some() {
        one.name
    } else {
        one.uid
    };
}

/// The run of an instance; the experiment that one record names is it also where others tell only of its group.
fn belongs_to(
    one: &mut Task,
    run: Option<WorkloadRow>,
    symbols: &SymbolTable,
    workloads: &Workloads,
) {
    let experiment = symbols.find("Experiment");
    let is_experiment = |run: Option<WorkloadRow>| {
        let run = workloads.all.get(run);
        run.is_some_and(|run| Some(run.kind) == experiment)
    };
    if run.is_some() && (is_experiment(run) || !is_experiment(one.owner)) {
        one.owner = run;
    }
}

/// What an instance is part of: the experiment that its labels name, else its group.
fn run_of(
    group: Option<&str>,
    experiment: Option<&str>,
    account: Symbol,
    symbols: &mut SymbolTable,
    workloads: &mut Workloads,
) -> Option<WorkloadRow> {
    let (kind, name) = match (experiment, group) {
        (Some(experiment), _) => ("Experiment", experiment),
        (None, Some(group)) => ("InstanceGroup", group),
        (None, None) => return None,
    };
    let (kind, name) = (symbols.number(kind), symbols.number(name));
    Some(workloads.of(kind, Symbol::NONE, account, name, Stamp::OPEN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::INSTANCE_CHANGES;

    #[test]
    fn each_word_of_an_entry_is_a_change() {
        let known: HashSet<_> = INSTANCE_CHANGES
            .iter()
            .filter_map(|name| InstanceChange::parse(name))
            .collect();
        assert_eq!(known.len(), INSTANCE_CHANGES.len());
    }
}
