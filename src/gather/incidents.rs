//! Incidents as they are explained, for those who ask later.

use serde::{Deserialize, Serialize};
use whathappened_connectors::event::EventId;
use whathappened_connectors::time::{Nanos, Stamp};
use whathappened_store::{KeptIncident, Store};

use crate::answer::{Answer, Incident, Run};
use crate::case::Case;
use crate::error::Error;

/// An incident and the run that it hurt, as they are kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// The incident.
    pub incident: Incident,
    /// The run, where it is known.
    pub run: Option<Run>,
}

/// Keeps the incidents of an answer in place of those that its runs had before.
///
/// # Errors
/// When the store cannot be written.
pub fn keep(store: &mut Store, case: &Case, answer: &Answer, now: Nanos) -> Result<(), Error> {
    let runs: Vec<String> = answer.runs.iter().map(|run| run.id.clone()).collect();
    let incidents: Vec<KeptIncident> = answer
        .incidents
        .iter()
        .filter(|incident| !incident.cause.starts_with("none."))
        .filter_map(|incident| to_keep(case, answer, incident, now))
        .collect();
    Ok(store.keep_incidents(&runs, &incidents)?)
}

fn to_keep(case: &Case, answer: &Answer, incident: &Incident, now: Nanos) -> Option<KeptIncident> {
    let run_id = incident.run_id.clone()?;
    let run = case.runs.iter().find(|run| run.id(&case.world) == run_id);
    let time = incident.time.as_deref();
    let attempt = incident.attempt.unwrap_or(0).to_string();
    let victim = incident
        .first_victim
        .as_ref()
        .map_or("", |victim| victim.pod.as_str());
    let id = EventId::of(&[
        "incident",
        &run_id,
        &attempt,
        victim,
        time.unwrap_or_default(),
    ]);
    let kept = Kept {
        incident: incident.clone(),
        run: answer.runs.iter().find(|run| run.id == run_id).cloned(),
    };
    Some(KeptIncident {
        time: time.and_then(Stamp::parse).map(|stamp| stamp.lo),
        id: id.to_string(),
        experiment: run.map_or_else(String::new, |run| run.experiment(&case.world).0),
        run_id,
        explained_at: now,
        ruleset: answer.ruleset.clone(),
        answer: serde_json::to_string(&kept).ok()?,
    })
}

/// All kept incidents, in order of time, each with its experiment.
///
/// # Errors
/// When the store cannot be read.
pub fn kept(store: &Store) -> Result<Vec<(String, Kept)>, Error> {
    let mut all = Vec::new();
    for one in store.incidents()? {
        // Kept by a program whose answers had other fields: explaining again brings it back.
        if let Ok(kept) = serde_json::from_str(&one.answer) {
            all.push((one.experiment, kept));
        }
    }
    Ok(all)
}
