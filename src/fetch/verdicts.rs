//! An incident over time: an id that stays when more becomes known, and the verdicts that
//! were reached one after another.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use whathappened_model::event::EventId;
use whathappened_model::time::rfc3339;
use whathappened_store::{Snapshot, StoredIncident};

use super::incidents::from_stored;
use crate::answer::{Answer, Incident, Level, PastVerdict, Run};
use crate::error::Error;

/// What is noted of a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Verdict {
    cause: String,
    level: Level,
    title: String,
    summary: String,
    ruleset: String,
    /// Whose it is, for those who may not see everything.
    namespace: Option<String>,
}

impl Verdict {
    pub(super) fn of(incident: &Incident, ruleset: &str, run: Option<&Run>) -> Self {
        Self {
            cause: incident.cause.clone(),
            level: incident.level,
            title: incident.title.clone(),
            summary: incident.summary.clone(),
            ruleset: ruleset.to_owned(),
            namespace: run.and_then(|run| run.namespace.clone()),
        }
    }

    /// As it is kept; nothing of a run that nothing happened to.
    pub(super) fn noted(&self) -> String {
        if self.cause.starts_with("none.") {
            return String::new();
        }
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The verdicts on an incident as the caller may see them, the first one first.
///
/// # Errors
/// When the store cannot be read.
pub fn past_verdicts(snapshot: &Snapshot<'_>, id: &str) -> Result<Vec<PastVerdict>, Error> {
    let mut verdicts = Vec::new();
    for one in snapshot.verdicts(id)? {
        let Ok(mut value) = serde_json::from_str::<serde_json::Value>(&one.verdict) else {
            continue;
        };
        // The word of a level is nobody's name.
        let level = Level::deserialize(&value["level"]).unwrap_or_default();
        if snapshot.is_restricted() {
            let namespace = value.get("namespace").and_then(|name| name.as_str());
            let is_own = namespace.is_some_and(|name| snapshot.permits_namespace(name));
            if !is_own || !snapshot.permits_every_source() {
                continue;
            }
            snapshot.redact(&mut value);
        }
        let Ok(verdict) = serde_json::from_value::<Verdict>(value) else {
            continue;
        };
        verdicts.push(PastVerdict {
            time: rfc3339(one.explained_at),
            cause: verdict.cause,
            level,
            title: verdict.title,
            summary: verdict.summary,
            ruleset: verdict.ruleset,
        });
    }
    Ok(verdicts)
}

/// Ids of the incidents of some runs as they were, which their successors inherit.
pub(super) struct StableIds(Vec<(String, Incident)>);

impl StableIds {
    pub(super) fn of(known: &[StoredIncident]) -> Self {
        let known = known
            .iter()
            .filter_map(|stored| Some((stored.id.clone(), from_stored(stored)?.incident)));
        Self(known.collect())
    }

    /// The id of the incident that this one was before: of the same attempt with a pod in common.
    /// Each is inherited once.
    pub(super) fn take(&mut self, incident: &Incident) -> Option<String> {
        let own = first_id(incident);
        let exactly = self.0.iter().position(|(id, _)| *id == own);
        let place = exactly.or_else(|| self.0.iter().position(|(_, one)| is_same(one, incident)));
        place.map(|at| self.0.remove(at).0)
    }
}

/// The id of an incident that is first known now.
pub(super) fn first_id(incident: &Incident) -> String {
    let attempt = incident.attempt.unwrap_or(0).to_string();
    let victim = incident
        .first_victim
        .as_ref()
        .map_or("", |victim| victim.pod.as_str());
    EventId::of(&[
        "incident",
        incident.run_id.as_deref().unwrap_or_default(),
        &attempt,
        victim,
        incident.time.as_deref().unwrap_or_default(),
    ])
    .to_string()
}

fn pods(incident: &Incident) -> BTreeSet<&str> {
    let first = incident.first_victim.iter().chain(&incident.first_victims);
    let all = first.chain(&incident.victims).chain(&incident.collateral);
    all.map(|victim| victim.pod.as_str()).collect()
}

/// Whether two incidents are one that was explained twice.
#[must_use]
pub fn is_same(before: &Incident, now: &Incident) -> bool {
    before.run_id.is_some()
        && before.run_id == now.run_id
        && before.attempt == now.attempt
        && !pods(before).is_disjoint(&pods(now))
}

/// Gives the incidents of an answer the ids that the store knows them by.
///
/// # Errors
/// When the store cannot be read.
pub fn name_incidents(answer: &mut Answer, snapshot: &Snapshot<'_>) -> Result<(), Error> {
    let runs = answer.runs.iter().map(|run| run.id.clone()).collect();
    let mut ids = StableIds::of(&snapshot.incidents_of_runs(&runs)?);
    for incident in &mut answer.incidents {
        incident.id = ids.take(incident);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Victim;

    fn incident(attempt: u32, pods: &[&str], time: &str) -> Incident {
        let victims: Vec<Victim> = pods
            .iter()
            .map(|pod| {
                serde_json::from_value(serde_json::json!({"pod": pod, "namespace": null, "node": null,
                    "rank": null, "time": null, "time_hi": null, "exit_code": null, "reason": null, "how": ""}))
                .unwrap()
            })
            .collect();
        Incident {
            run_id: Some("run".to_owned()),
            attempt: Some(attempt),
            time: Some(time.to_owned()),
            first_victim: victims.first().cloned(),
            victims,
            ..Incident::default()
        }
    }

    #[test]
    fn a_verdict_that_grows_stays_the_same_incident() {
        let before = incident(1, &["a-0", "a-1"], "2026-11-20T10:00:00Z");
        let id = first_id(&before);
        let mut ids = StableIds(vec![(id.clone(), before)]);
        // Another root, an earlier time, another pod first.
        let grown = incident(1, &["a-1", "a-0"], "2026-11-20T09:58:00Z");
        assert_eq!(ids.take(&grown), Some(id));
        assert_eq!(ids.take(&grown), None, "it is inherited once");
        let before = incident(1, &["a-0"], "2026-11-20T10:00:00Z");
        let mut ids = StableIds(vec![(first_id(&before), before)]);
        assert_eq!(
            ids.take(&incident(2, &["a-0"], "2026-11-20T10:00:00Z")),
            None
        );
        assert_eq!(
            ids.take(&incident(1, &["b-0"], "2026-11-20T10:00:00Z")),
            None
        );
    }
}
