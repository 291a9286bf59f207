//! Words of closed lists in an incident that names were hidden in.
//!
//! Hiding looks at texts alone: where somebody's namespace is called `fault`, the role `fault` is
//! hidden like its name. Such words are nobody's, and say what a reader needs.

use super::incidents::IncidentOfRun;
use crate::answer::{Incident, ProcessOutput, Run, Victim};

/// Puts back the words of an incident and its run as they were before names were hidden, which changes
/// texts and leaves out nothing.
pub(super) fn put_back(before: &IncidentOfRun, after: &mut IncidentOfRun) {
    of_incident(&before.incident, &mut after.incident);
    if let (Some(before), Some(after)) = (&before.run, &mut after.run) {
        of_run(before, after);
    }
}

fn of_run(before: &Run, after: &mut Run) {
    after.state = before.state;
    for (before, after) in before.attempts.iter().zip(&mut after.attempts) {
        after.state = before.state;
    }
}

fn of_incident(before: &Incident, after: &mut Incident) {
    after.level = before.level;
    after.role = before.role;
    if let (Some(before), Some(after)) = (&before.actor, &mut after.actor) {
        after.kind = before.kind;
    }
    if let (Some(before), Some(after)) = (&before.first_victim, &mut after.first_victim) {
        after.state = before.state;
    }
    of_victims(&before.first_victims, &mut after.first_victims);
    of_victims(&before.victims, &mut after.victims);
    of_victims(&before.collateral, &mut after.collateral);
    for (before, after) in before.chain.iter().zip(&mut after.chain) {
        (after.role, after.edge) = (before.role, before.edge);
    }
    for (before, after) in before.alternatives.iter().zip(&mut after.alternatives) {
        after.level = before.level;
    }
}

fn of_victims(before: &[Victim], after: &mut [Victim]) {
    for (before, after) in before.iter().zip(after) {
        after.state = before.state;
    }
}

/// The same of what the processes logged.
pub(super) fn put_back_in_output(before: &ProcessOutput, after: &mut ProcessOutput) {
    if let (Some(before), Some(after)) = (&before.first_failing, &mut after.first_failing) {
        after.by = before.by;
    }
    if let (Some(before), Some(after)) = (&before.collective, &mut after.collective) {
        after.missing_by = before.missing_by;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use whathappened_core::death::{DeathState, RunState};
    use whathappened_core::signals::ActorKind;

    use super::*;
    use crate::answer::{Edge, FailingBy, IncidentRole, Level, MissingBy, StepRole};

    /// An incident in which every list of words has one.
    fn stored() -> IncidentOfRun {
        serde_json::from_str(include_str!("closed_words/stored.json")).unwrap()
    }

    /// Every text as a filter leaves it that knows each as somebody's name, or as a version wrote it that had
    /// other words. Nothing is left out.
    fn reworded(stored: &IncidentOfRun) -> IncidentOfRun {
        fn reword(value: &mut Value) {
            match value {
                Value::String(text) => *text = "(hidden)".to_owned(),
                Value::Array(all) => all.iter_mut().for_each(reword),
                Value::Object(all) => all.values_mut().for_each(reword),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        let mut value = serde_json::to_value(stored).unwrap();
        reword(&mut value);
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_record_with_words_of_another_version_is_read_and_claims_no_more() {
        let read = reworded(&stored());
        let incident = &read.incident;
        assert_eq!(
            (incident.level, incident.role, incident.actor_unseen),
            (Level::Unknown, IncidentRole::Also, false)
        );
        let victim = incident.first_victim.as_ref().unwrap();
        assert_eq!(victim.state, DeathState::NotRecorded);
        let actor = incident.actor.as_ref().unwrap();
        assert_eq!(actor.kind, ActorKind::Component);
        let link = &incident.chain[1];
        assert_eq!(
            (link.role, link.edge),
            (StepRole::Mechanism, Some(Edge::Context))
        );
        let failing = incident.said.first_failing.as_ref().unwrap();
        assert_eq!(failing.by, FailingBy::Clock);
        let waited = incident.said.collective.as_ref().unwrap();
        assert_eq!(waited.missing_by, Some(MissingBy::Elimination));
        let run = read.run.as_ref().unwrap();
        assert_eq!(
            (run.state, run.attempts[0].state),
            (RunState::Unknown, RunState::Unknown)
        );
    }

    #[test]
    fn words_of_closed_lists_outlive_the_hiding_of_names() {
        let before = stored();
        let mut after = reworded(&before);
        put_back(&before, &mut after);
        put_back_in_output(&before.incident.said, &mut after.incident.said);
        let of = |one: &IncidentOfRun| {
            let mut value = serde_json::to_value(one).unwrap();
            let mut words = Vec::new();
            collect(&mut value, &mut words);
            words
        };
        assert_eq!(of(&before), of(&after));
        assert_eq!(of(&before).len(), 15, "{:?}", of(&before));
    }

    /// The words of closed lists, by the fields that hold them.
    fn collect(value: &mut Value, words: &mut Vec<String>) {
        match value {
            Value::Array(all) => all.iter_mut().for_each(|one| collect(one, words)),
            Value::Object(all) => {
                let is_actor = all.contains_key("is_owner");
                for (key, value) in all {
                    let is_word = match key.as_str() {
                        "kind" => is_actor,
                        key => {
                            ["state", "level", "role", "edge", "by", "missing_by"].contains(&key)
                        }
                    };
                    match value.as_str() {
                        Some(word) if is_word => words.push(format!("{key} {word}")),
                        _ => collect(value, words),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Records of the first versions say less.
    #[test]
    fn a_record_of_an_early_version_is_read() {
        let early = include_str!("closed_words/early.json");
        let read: IncidentOfRun = serde_json::from_str(early).unwrap();
        let victim = read.incident.first_victim.unwrap();
        assert_eq!(victim.state, DeathState::NotRecorded);
        assert_eq!(read.incident.role, IncidentRole::Main);
    }
}
