//! Incidents as they are explained, for those who ask later.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use whathappened_core::death::RunState;
use whathappened_model::event::EventId;
use whathappened_model::time::{Nanos, Stamp};
use whathappened_store::{Root, Snapshot, Store, StoredIncident};

use super::closed_words;
use super::verdicts::{StableIds, Verdict, first_id};

use crate::answer::{Answer, Incident, IncidentRole, Level, Run};
use crate::case::Case;
use crate::error::Error;

/// An incident and the run that it hurt, as they are kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IncidentOfRun {
    /// The incident.
    pub incident: Incident,
    /// The run, where it is known.
    pub run: Option<Run>,
}

/// Keeps the incidents of an answer in place of those that its runs had before; of a run
/// without any that there is none.
///
/// # Errors
/// When the store cannot be written.
pub fn store_incidents(
    store: &mut Store,
    case: &Case,
    answer: &Answer,
    now: Nanos,
) -> Result<(), Error> {
    let runs: Vec<String> = answer.runs.iter().map(|run| run.id.clone()).collect();
    let has_incident = |run: &&Run| {
        let mut reported = answer.incidents.iter();
        reported.any(|incident| incident.run_id.as_ref() == Some(&run.id))
    };
    let calm: Vec<Incident> = answer
        .runs
        .iter()
        .filter(|run| !has_incident(run))
        .map(calm)
        .collect();
    let known = store
        .snapshot()?
        .incidents_of_runs(&runs.iter().cloned().collect())?;
    let mut ids = StableIds::of(&known);
    let incidents: Vec<StoredIncident> = answer
        .incidents
        .iter()
        .chain(&calm)
        .filter_map(|incident| to_keep(case, answer, incident, &mut ids, now))
        .collect();
    Ok(store.keep_incidents(&runs, &incidents)?)
}

/// Whether an incident is no more than that pods were stopped, as after any job: it is told to
/// who asks for them by name, and counts as none.
#[must_use]
pub fn is_routine_stop(answer: &Answer, incident: &Incident) -> bool {
    let run = |run: &&Run| incident.run_id.as_ref() == Some(&run.id);
    let state = answer.runs.iter().find(run).map(|run| run.state);
    let guessed = matches!(incident.level, Level::Hypothesis | Level::Unknown)
        && !incident.cause.starts_with("none.");
    state == Some(RunState::Unknown) && guessed && incident.role != IncidentRole::Recovered
}

/// That a run was explained and nothing hurt it.
fn calm(run: &Run) -> Incident {
    Incident {
        cause: format!("none.{}", run.state),
        level: Level::Established,
        summary: String::new(),
        time: run.end.clone(),
        run_id: Some(run.id.clone()),
        role: IncidentRole::Main,
        ..Incident::default()
    }
}

/// That a run of the catalogue was looked at, and that there is nothing to explain.
pub(super) fn nothing(
    root: &Root,
    run_id: &str,
    run: Option<&Run>,
    ruleset: &str,
    now: Nanos,
) -> StoredIncident {
    let state = run.map_or(RunState::Unknown, |run| run.state);
    let stored = IncidentOfRun {
        incident: Incident {
            cause: format!("none.{state}"),
            level: Level::Unknown,
            run_id: Some(run_id.to_owned()),
            role: IncidentRole::Main,
            ..Incident::default()
        },
        run: run.cloned(),
    };
    StoredIncident {
        time: None,
        id: EventId::of(&["incident", run_id, "nothing"]).to_string(),
        experiment: root.experiment.clone().unwrap_or_else(|| root.name.clone()),
        run_id: run_id.to_owned(),
        explained_at: now,
        ruleset: ruleset.to_owned(),
        machines: Vec::new(),
        answer: serde_json::to_string(&stored).unwrap_or_default(),
        verdict: String::new(),
    }
}

fn to_keep(
    case: &Case,
    answer: &Answer,
    incident: &Incident,
    ids: &mut StableIds,
    now: Nanos,
) -> Option<StoredIncident> {
    let run_id = incident.run_id.clone()?;
    let run = case.runs.iter().find(|run| run.id(&case.graph) == run_id);
    let reported = answer.runs.iter().find(|run| run.id == run_id);
    let routine = reported
        .filter(|_| is_routine_stop(answer, incident))
        .map(calm);
    let incident = routine.as_ref().unwrap_or(incident);
    let time = incident.time.as_deref();
    let id = ids.take(incident).unwrap_or_else(|| first_id(incident));
    let stored = IncidentOfRun {
        // What was before is looked up anew, each time somebody asks.
        incident: Incident {
            before: None,
            id: None,
            page: None,
            ..incident.clone()
        },
        run: reported.cloned(),
    };
    Some(StoredIncident {
        time: time.and_then(Stamp::parse).map(|stamp| stamp.lo),
        id,
        experiment: run.map_or_else(String::new, |run| run.experiment(&case.graph).0),
        run_id,
        explained_at: now,
        ruleset: answer.ruleset.clone(),
        machines: machines(incident),
        answer: serde_json::to_string(&stored).ok()?,
        verdict: Verdict::of(incident, &answer.ruleset, stored.run.as_ref()).noted(),
    })
}

/// Names and ids under which the incidents of a machine are found.
fn machines(incident: &Incident) -> Vec<String> {
    let named = incident.machines.iter();
    let mut names: Vec<String> = named
        .flat_map(|one| [&one.node, &one.instance])
        .flatten()
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    names
}

/// An incident as it was told, whoever may see it. None for one that a program
/// with other fields kept: explaining again brings it back.
#[must_use]
pub fn from_stored(stored: &StoredIncident) -> Option<IncidentOfRun> {
    serde_json::from_str(&stored.answer).ok()
}

/// An incident without what its records say, of which lists and tables need the ids alone: those are most of it, and of
/// thousands they are most of what a report would read.
fn without_records(stored: &StoredIncident) -> Option<IncidentOfRun> {
    // Read twice, and neither time what is left out: texts that are only passed over cost little.
    #[derive(Deserialize)]
    struct Stored<'s> {
        #[serde(borrow)]
        incident: BTreeMap<&'s str, &'s RawValue>,
        run: Option<Run>,
    }
    #[derive(Serialize, Deserialize)]
    struct Record<'s> {
        #[serde(borrow)]
        id: &'s RawValue,
    }
    const RECORDS: &str = "evidence";
    let stored_incident: Stored<'_> = serde_json::from_str(&stored.answer).ok()?;
    let mut fields = stored_incident.incident;
    let records: Vec<Record<'_>> = serde_json::from_str(fields.get(RECORDS)?.get()).ok()?;
    let ids = serde_json::value::to_raw_value(&records).ok()?;
    fields.insert(RECORDS, &ids);
    let rest = serde_json::to_string(&fields).ok()?;
    Some(IncidentOfRun {
        incident: serde_json::from_str(&rest).ok()?,
        run: stored_incident.run,
    })
}

/// Kept incidents as the caller may see them, for lists and tables: of their records the ids.
pub(super) fn visible_in_lists(
    snapshot: &Snapshot<'_>,
    stored: &[StoredIncident],
) -> Vec<IncidentOfRun> {
    if snapshot.is_restricted() {
        return visible(snapshot, stored);
    }
    // One of another shape is left to the reader of whole ones.
    let each = |one: &StoredIncident| without_records(one).or_else(|| from_stored(one));
    stored.iter().filter_map(each).collect()
}

/// Kept incidents as the caller may see them.
#[must_use]
pub fn visible(snapshot: &Snapshot<'_>, stored: &[StoredIncident]) -> Vec<IncidentOfRun> {
    let reported = stored.iter().filter_map(from_stored);
    if snapshot.is_restricted() {
        return reported.filter_map(|one| seen(snapshot, one)).collect();
    }
    reported.collect()
}

/// All kept incidents that the caller may see, in order of time, each with its
/// experiment.
///
/// # Errors
/// When the store cannot be read.
pub fn stored_incidents(snapshot: &Snapshot<'_>) -> Result<Vec<(String, IncidentOfRun)>, Error> {
    happened(snapshot, visible)
}

/// The same for tables: of their records the ids.
///
/// # Errors
/// When the store cannot be read.
pub fn incidents_of_tables(snapshot: &Snapshot<'_>) -> Result<Vec<(String, IncidentOfRun)>, Error> {
    happened(snapshot, visible_in_lists)
}

fn happened(
    snapshot: &Snapshot<'_>,
    visible: fn(&Snapshot<'_>, &[StoredIncident]) -> Vec<IncidentOfRun>,
) -> Result<Vec<(String, IncidentOfRun)>, Error> {
    let mut all = Vec::new();
    for one in snapshot.incidents()? {
        let stored = visible(snapshot, std::slice::from_ref(&one)).pop();
        let stored = stored.filter(|stored| !stored.incident.cause.starts_with("none."));
        all.extend(stored.map(|mut stored| {
            stored.incident.id = Some(one.id);
            (one.experiment, stored)
        }));
    }
    Ok(all)
}

/// An incident that was explained with everything there is, as one caller may
/// see it: those of their namespaces, without what other records say of others.
fn seen(snapshot: &Snapshot<'_>, mut stored: IncidentOfRun) -> Option<IncidentOfRun> {
    let own = |name: &Option<String>| {
        let name = name.as_deref();
        name.is_some_and(|name| snapshot.permits_namespace(name))
    };
    if !snapshot.permits_every_source() || !own(&stored.run.as_ref()?.namespace) {
        return None;
    }
    let incident = &mut stored.incident;
    for victims in [
        &mut incident.first_victims,
        &mut incident.victims,
        &mut incident.collateral,
    ] {
        victims.retain(|victim| own(&victim.namespace));
    }
    incident.first_victim = incident
        .first_victim
        .take()
        .filter(|victim| own(&victim.namespace));
    let (output, evidence) = (
        std::mem::take(&mut incident.said),
        std::mem::take(&mut incident.evidence),
    );
    let mut rest = serde_json::to_value(&stored).ok()?;
    snapshot.redact(&mut rest);
    let mut hidden: IncidentOfRun = serde_json::from_value(rest).ok()?;
    closed_words::put_back(&stored, &mut hidden);
    let mut rest = serde_json::to_value(&output).ok()?;
    snapshot.redact_own(&mut rest);
    hidden.incident.said = serde_json::from_value(rest).ok()?;
    closed_words::put_back_in_output(&output, &mut hidden.incident.said);
    let mut stored = hidden;
    stored.incident.evidence = evidence
        .into_iter()
        .filter_map(|row| record(snapshot, row))
        .collect();
    Some(stored)
}

/// A record that proves an incident, if it is the caller's or of a machine.
fn record(snapshot: &Snapshot<'_>, mut row: Value) -> Option<Value> {
    let is_null = |key: &str| row.get(key).is_none_or(Value::is_null);
    match row.get("namespace").and_then(Value::as_str) {
        Some(namespace) if snapshot.permits_namespace(namespace) => {
            snapshot.redact_own(&mut row);
            return Some(row);
        }
        None if ["pod", "pod_uid", "workload"].into_iter().all(is_null) => {}
        _ => return None,
    }
    let fields = row.as_object_mut()?;
    for key in ["raw", "message", "attributes", "origin", "experiment"] {
        fields.insert(key.to_owned(), Value::Null);
    }
    snapshot.redact(&mut row);
    Some(row)
}
