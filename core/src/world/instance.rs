//! What records teach about the lives of cloud instances.

use std::collections::HashSet;

use whathappened_connectors::event::Event;
use whathappened_connectors::object::{ObjectBody, ObjectKey};
use whathappened_connectors::time::Stamp;

use super::identity::{Pods, Workloads};
use super::learn::earlier;
use super::{Kind, NO, Pod};
use crate::evidence::Version;
use crate::symbols::{Sym, Symbols};

/// What a record says of the life of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// The cloud could not make it.
    Refused,
    /// It was made.
    Made,
    /// It was started, or seen at work.
    Runs,
    /// The platform took it away, which befalls only an instance that runs.
    Taken,
    /// Its host failed, which befalls only an instance that runs.
    Lost,
    /// It shut itself down, which only one that runs can.
    ShutDown,
    /// Somebody reset it: what ran on it ended, it runs on.
    Reset,
    /// Somebody stopped it, unless it had stopped before.
    Stopped,
    /// Somebody deleted it, whether it ran or not.
    Deleted,
}

/// One such record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sign {
    /// When.
    pub time: Stamp,
    /// What it says.
    pub what: What,
    /// The cloud's own word for it.
    pub word: Sym,
    /// The operation that it was part of.
    pub operation: Sym,
}

/// Signals, by how they begin, that tell of an instance's life.
const SIGNALS: [(&str, What); 15] = [
    ("cloud.host_error", What::Lost),
    ("cloud.instance_create_failed", What::Refused),
    ("cloud.instance_created", What::Made),
    ("cloud.instance_deleted", What::Deleted),
    ("cloud.instance_recreated", What::Taken),
    ("cloud.instance_reset", What::Reset),
    ("cloud.instance_restarted", What::Runs),
    ("cloud.instance_shut_down", What::ShutDown),
    ("cloud.instance_started", What::Runs),
    ("cloud.reservation_ended", What::Taken),
    ("cloud.instance_stopped", What::Stopped),
    ("cloud.spot_reclaimed", What::Taken),
    ("cloud.capacity_reclaimed", What::Taken),
    ("maintenance.migrated", What::Runs),
    ("maintenance.terminated", What::Taken),
];

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
fn what(event: &Event, signal: &str) -> Option<What> {
    let announced = event.attribute("phase") == Some("announced");
    let found = SIGNALS.iter().find(|(stem, _)| signal.starts_with(stem));
    found.map(|(_, what)| *what).filter(|_| !announced)
}

/// The instance that a record names only by name: the one of that name, made
/// where there is none. Of several it may be any.
pub(super) fn of_event(event: &Event, symbols: &mut Symbols, pods: &mut Pods) -> Option<u32> {
    if event.object_kind.as_deref() != Some("Instance") || event.entities.instance.is_some() {
        return None;
    }
    let name = event.entities.node.as_deref()?;
    let account = event.attribute("account").unwrap_or_default();
    let sym = symbols.number(name);
    match pods.instances_of_name(sym).as_slice() {
        [] => {
            let key = symbols.number(&format!("{account}/{name}"));
            Some(pods.of_id(Kind::Instance, key, sym))
        }
        [one] => Some(*one),
        _ => None,
    }
}

/// Learns from all versions of one instance.
pub(super) fn versions(
    key: &ObjectKey,
    versions: &[Version],
    symbols: &mut Symbols,
    pods: &mut Pods,
    workloads: &mut Workloads,
) {
    let id = symbols.number(&key.uid);
    let name = symbols.number(&key.name);
    let account = symbols.number(&key.namespace);
    let number = pods.of_id(Kind::Instance, id, name);
    for version in versions {
        let body = &version.body;
        let group = run_of(
            instance_group(body),
            body.experiment(),
            account,
            symbols,
            workloads,
        );
        let Some(one) = pods.all.get_mut(number as usize) else {
            return;
        };
        is_known_as(one, account, name, group);
        if let Some(created) = body.created {
            one.created = earlier(one.created, created);
        }
        if let Some(at) = version.at {
            one.see(at.lo, at.hi);
        }
        let gone = version.deleted.then_some(version.at).flatten();
        for (told, what) in [(body.ended, What::Stopped), (gone, What::Deleted)] {
            if let Some(time) = told {
                let word = symbols.optional(body.phase.as_deref());
                one.signs.push(Sign {
                    time,
                    what,
                    word,
                    operation: Sym::NONE,
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
    number: u32,
    symbols: &mut Symbols,
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
    let word = event.attribute("host_event").or(event.attribute("method"));
    let word = symbols.optional(word.or(event.reason.as_deref()));
    let operation = symbols.optional(event.attribute("event_id"));
    let Some(one) = pods.all.get_mut(number as usize) else {
        return;
    };
    is_known_as(one, account, name, group);
    if !one.zone.is_some() {
        one.zone = zone;
    }
    for signal in &event.signals {
        if let Some(what) = what(event, signal) {
            one.signs.push(Sign {
                time: event.time,
                what,
                word,
                operation,
            });
        }
    }
}

/// Forgets what was only tried, and settles when each instance was made and deleted.
pub(super) fn settle(pods: &mut [Pod], failed: &HashSet<Sym>) {
    for one in pods.iter_mut().filter(|one| one.kind == Kind::Instance) {
        one.signs
            .retain(|sign| sign.what == What::Refused || !failed.contains(&sign.operation));
        one.signs
            .sort_by_key(|sign| (sign.time.lo, sign.time.hi, sign.what));
        for sign in &one.signs {
            match sign.what {
                What::Made => one.created = earlier(one.created, sign.time),
                What::Deleted => one.gone = one.gone.or(Some(sign.time)),
                _ => {}
            }
            // An id may come again: Azure's are made of names.
            if matches!(sign.what, What::Made | What::Runs) {
                one.gone = None;
            }
        }
    }
}

fn is_known_as(one: &mut Pod, account: Sym, name: Sym, group: u32) {
    for (slot, told) in [(&mut one.namespace, account), (&mut one.name, name)] {
        if !slot.is_some() {
            *slot = told;
        }
    }
    // A machine is its own place: what is told of its host is told of it.
    one.node = if one.name.is_some() {
        one.name
    } else {
        one.uid
    };
    if group != NO {
        one.owner = group;
    }
}

/// What an instance is part of: the experiment that its labels name, else its group.
fn run_of(
    group: Option<&str>,
    experiment: Option<&str>,
    account: Sym,
    symbols: &mut Symbols,
    workloads: &mut Workloads,
) -> u32 {
    let (kind, name) = match (experiment, group) {
        (Some(experiment), _) => ("Experiment", experiment),
        (None, Some(group)) => ("InstanceGroup", group),
        (None, None) => return NO,
    };
    let (kind, name) = (symbols.number(kind), symbols.number(name));
    workloads.of(kind, Sym::NONE, account, name, Stamp::OPEN)
}
