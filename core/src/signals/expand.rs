//! A signal written once for every kind of actor.

use std::collections::BTreeSet;

use super::actor::ActorClass;
use super::error::SignalError;
use super::file::{Example, Signal};
use super::ruleset::SignalInfo;
use super::values::AnyOf;

/// Where an actor's class stands in the name and title of a signal.
const ACTOR: &str = "{actor}";

/// One signal for each kind of actor, where its name asks for that.
pub(super) fn expand(
    file: &str,
    signal: Signal,
    actors: &[ActorClass],
    into: &mut Vec<(SignalInfo, Signal)>,
) -> Result<(), SignalError> {
    let written = signal.name.clone();
    let info = |name: String, title: String| SignalInfo {
        name,
        title,
        file: file.to_owned(),
        written: written.clone(),
        captures: Vec::new(),
        weak: signal.weak,
    };
    if signal.when.is_empty() {
        return Err(rule_error(file, &signal.name, "when", "is missing"));
    }
    if !signal.name.contains(ACTOR) {
        let head = info(signal.name.clone(), signal.title.clone());
        into.push((head, signal));
        return Ok(());
    }
    if signal.when.iter().any(|when| when.actor_class.is_some()) {
        return Err(rule_error(
            file,
            &signal.name,
            "actor_class",
            "is set by {actor} in the name",
        ));
    }
    let mut done = BTreeSet::new();
    for actor in actors {
        if !done.insert(&actor.name) {
            continue;
        }
        let is_this = |example: &&Example| example.as_actor.as_ref() == Some(&actor.name);
        let (example, other): (Vec<_>, Vec<_>) = signal.example.iter().partition(is_this);
        let counter_example = signal
            .counter_example
            .iter()
            .chain(other)
            .cloned()
            .collect();
        let mut when = signal.when.clone();
        for when in &mut when {
            when.actor_class = Some(AnyOf(vec![actor.name.clone()]));
        }
        let name = signal.name.replace(ACTOR, &actor.name);
        let title = signal.title.replace(ACTOR, &actor.title);
        let example = example.into_iter().cloned().collect();
        into.push((
            info(name.clone(), title.clone()),
            Signal {
                name,
                title,
                reported_within_s: signal.reported_within_s,
                state_ends: signal.state_ends.clone(),
                shared: signal.shared.clone(),
                shared_by_target: signal.shared_by_target,
                lane: signal.lane.clone(),
                weak: signal.weak,
                enforced_by: signal.enforced_by.clone(),
                quoted_as_info: signal.quoted_as_info,
                keeps_from_starting: signal.keeps_from_starting,
                instance: signal.instance.clone(),
                is: signal.is.clone(),
                when,
                example,
                counter_example,
            },
        ));
    }
    Ok(())
}

/// An error in a field of a rule.
pub(super) fn rule_error(file: &str, rule: &str, field: &str, problem: &str) -> SignalError {
    SignalError::Field {
        file: file.to_owned(),
        rule: rule.to_owned(),
        field: field.to_owned(),
        problem: problem.to_owned(),
    }
}
