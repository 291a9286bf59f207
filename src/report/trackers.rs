//! What experiment trackers still say of a run that went another way.
//!
//! A tracker's state is what the program last told it: a claim that is no part of any verdict.

use std::collections::BTreeMap;

use whathappened_core::death::RunState;
use whathappened_core::evidence::SpillError;
use whathappened_core::graph::TaskRow;
use whathappened_core::resolve::Run;
use whathappened_model::event::Event;
use whathappened_model::time::{SECOND, Stamp, rfc3339};
use whathappened_model::tracker::{NAME, STATE, TRACKER, name_of_folder};

use crate::case::Case;

/// What each tracker says of its latest run that is told as `run`, where the records tell another story.
pub(super) fn notes(case: &Case, run: &Run, state: RunState) -> Result<Vec<String>, SpillError> {
    let graph = &case.graph;
    let mut latest: BTreeMap<String, (Option<Stamp>, Event)> = BTreeMap::new();
    for fact in &graph.facts {
        let is_own = |pod: TaskRow| run.pods.binary_search(&pod).is_ok();
        if !graph.name(fact.signal).starts_with("tracker.run.") || !fact.pod.is_some_and(is_own) {
            continue;
        }
        let event = graph.evidence.event(fact.row)?;
        let begin = event.attribute("begin").and_then(Stamp::parse);
        let tracker = event.attribute(TRACKER).unwrap_or_default().to_owned();
        let is_later = latest
            .get(&tracker)
            .is_none_or(|(known, other)| (begin, event.id) > (*known, other.id));
        if is_later {
            latest.insert(tracker, (begin, event));
        }
    }
    let all = latest.iter();
    Ok(all
        .filter_map(|(tracker, (_, event))| note(tracker, event, state))
        .collect())
}

fn note(tracker: &str, event: &Event, state: RunState) -> Option<String> {
    let folder = event.attribute("run_folder").unwrap_or_default();
    let name = event
        .attribute(NAME)
        .unwrap_or_else(|| name_of_folder(folder));
    let stated = event.reason.as_deref().unwrap_or_default();
    let end = event.attribute("end").and_then(Stamp::parse);
    let at = end.map_or_else(String::new, |end| {
        format!(" at {}", rfc3339(end.lo - end.lo.rem_euclid(SECOND)))
    });
    let is_over = matches!(
        state,
        RunState::Completed | RunState::Failed | RunState::Deleted | RunState::Deleting
    );
    match (event.attribute(STATE)?, state) {
        ("running", _) if is_over => Some(if tracker == "MLflow" {
            format!(
                "MLflow still shows {name} as {stated}: the end of the run was never reported to it."
            )
        } else {
            format!("{tracker} has no end of {name}: the end of the run was never reported to it.")
        }),
        ("finished", RunState::Failed) => Some(format!(
            "{tracker} shows {name} as {stated}{at}: that is what the program reported, not how the run ended."
        )),
        ("failed" | "killed", RunState::Completed) => Some(format!(
            "{tracker} shows {name} as {stated}{at}, although the run completed."
        )),
        ("finished" | "failed" | "killed", RunState::Running | RunState::Pending) => Some(format!(
            "{tracker} shows {name} as {stated}{at}; no other record shows that it ended."
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whathappened_model::event::{EventId, SourceKind};

    fn said(tracker: &str, state: &str, said: &str, of: RunState) -> Option<String> {
        let id = EventId::of(&["test"]);
        let mut event = Event::new(id, "tracker.run", Stamp::second(0), SourceKind::Tracker);
        event.reason = Some(said.to_owned());
        event.set_attribute(STATE, Some(state));
        event.set_attribute(NAME, Some("train-7b"));
        event.set_attribute("end", Some("1970-01-01T00:01:00.25Z"));
        note(tracker, &event, of)
    }

    #[test]
    fn only_what_contradicts_is_told() {
        assert_eq!(
            said("MLflow", "running", "RUNNING", RunState::Failed).unwrap(),
            "MLflow still shows train-7b as RUNNING: the end of the run was never reported to it."
        );
        assert_eq!(
            said("MLflow", "running", "RUNNING", RunState::Running),
            None
        );
        assert_eq!(said("MLflow", "failed", "FAILED", RunState::Failed), None);
        assert_eq!(
            said("W&B", "finished", "finished", RunState::Completed),
            None
        );
        assert_eq!(
            said("W&B", "finished", "finished", RunState::Failed).unwrap(),
            "W&B shows train-7b as finished at 1970-01-01T00:01:00Z: that is what the program reported, not how the run ended."
        );
        assert!(said("MLflow", "killed", "KILLED", RunState::Running).is_some());
    }
}
