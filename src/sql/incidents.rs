//! The table `incidents`: the outcome of explaining everything in the input.

use std::sync::Arc;

use super::column::Cell::{Flag, Long, Real, Text, Texts, Time};
use super::column::{Column, instant, long};
use super::rows::RowSource;
use super::shared_case::SharedCase;
use super::stored::StoredTables;
use crate::answer::{Answer, Incident, IncidentRole, Machine, Run, Victim};
use crate::case::Case;
use crate::error::Error;
use crate::fetch;

/// What an incident was to its run, in the words of the column, whoever asked and however.
fn role(incident: &Incident) -> &'static str {
    match incident.role {
        IncidentRole::Earlier | IncidentRole::Also => IncidentRole::Main,
        IncidentRole::Episode => IncidentRole::Recovered,
        other => other,
    }
    .as_str()
}

/// An incident and the run that it affected.
pub(super) struct IncidentRow {
    experiment: String,
    incident: Incident,
    run: Option<Run>,
}

/// All incidents, in order of time.
pub(super) fn rows() -> RowSource<SharedCase, IncidentRow> {
    RowSource::Explain(Arc::new(|shared: Arc<SharedCase>| {
        Box::pin(async move {
            let answer = shared.everything().await?;
            let reported = |incident: &Incident| IncidentRow {
                experiment: experiment_of(&shared.case, incident),
                incident: incident.clone(),
                run: run_of(answer, incident).cloned(),
            };
            // What is announced is no incident.
            let happened = |one: &&Incident| one.role != IncidentRole::Announced;
            let happened = answer.incidents.iter().filter(happened);
            Ok(happened.map(reported).collect())
        })
    }))
}

/// Those that the store keeps, in order of time.
pub(super) fn stored(stored: &StoredTables) -> Result<Vec<IncidentRow>, Error> {
    let reported = |(experiment, one): (String, fetch::IncidentOfRun)| IncidentRow {
        experiment,
        incident: one.incident,
        run: one.run,
    };
    Ok(stored
        .look(fetch::incidents_of_tables)?
        .into_iter()
        .map(reported)
        .collect())
}

fn run_of<'a>(answer: &'a Answer, incident: &Incident) -> Option<&'a Run> {
    let id = incident.run_id.as_deref()?;
    answer.runs.iter().find(|run| run.id == id)
}

/// The experiment of the run that an incident hurt.
pub(super) fn experiment_of(case: &Case, incident: &Incident) -> String {
    let id = incident.run_id.as_deref();
    let run = case
        .runs
        .iter()
        .find(|run| Some(run.id(&case.graph).as_str()) == id);
    run.map_or_else(String::new, |run| run.experiment(&case.graph).0)
}

fn names(victims: &[Victim]) -> Vec<String> {
    victims.iter().map(|victim| victim.pod.clone()).collect()
}

/// Names of its machines.
fn machines(incident: &Incident, at_fault: bool) -> Vec<String> {
    let all = incident
        .machines
        .iter()
        .filter(|one| one.at_fault || !at_fault);
    let name = |one: &Machine| one.node.clone().or_else(|| one.instance.clone());
    all.filter_map(name).collect()
}

/// Ids of the records that prove it.
fn evidence(incident: &Incident) -> Vec<String> {
    let ids = incident
        .evidence
        .iter()
        .filter_map(|record| record.get("id")?.as_str());
    ids.map(str::to_owned).collect()
}

/// All columns, in order.
pub(super) const COLUMNS: &[Column<IncidentRow>] = &[
    Column::new(
        "experiment",
        Text(|row| Some(&row.experiment)),
        "label or annotation that names the experiment, else the root object's name",
    ),
    Column::new(
        "run_id",
        Text(|row| row.incident.run_id.as_deref()),
        "the run that it ended or affected",
    ),
    Column::new(
        "kind",
        Text(|row| row.run.as_ref().map(|run| run.kind.as_str())),
        "kind of the run's root object",
    ),
    Column::new(
        "name",
        Text(|row| row.run.as_ref().map(|run| run.name.as_str())),
        "name of the run's root object",
    ),
    Column::new(
        "namespace",
        Text(|row| row.run.as_ref()?.namespace.as_deref()),
        "namespace of the run",
    ),
    Column::new(
        "attempt",
        Long(|row| row.incident.attempt.map(i64::from)),
        "generation of the gang that it ended, from 1",
    ),
    Column::new(
        "role",
        Text(|row| Some(role(&row.incident))),
        "main: it ended the run or explains its state; recovered: the run continued; fault: of a machine, without a known victim (recordings only)",
    ),
    Column::new(
        "cause",
        Text(|row| Some(&row.incident.cause)),
        "cause id, such as ops.node_drained; unknown where nothing explains it",
    ),
    Column::new(
        "level",
        Text(|row| Some(row.incident.level.as_str())),
        "how well it is proven: established, supported, hypothesis or unknown",
    ),
    Column::new(
        "title",
        Text(|row| Some(&row.incident.title)),
        "the cause in a few words",
    ),
    Column::new(
        "time",
        Time(|row| instant(row.incident.time.as_deref())),
        "the root record's own time",
    ),
    Column::new(
        "announced_at",
        Time(|row| instant(row.incident.announced_at.as_deref())),
        "when it was announced, where it was",
    ),
    Column::new(
        "actor",
        Text(|row| row.incident.actor.as_ref().map(|actor| actor.name.as_str())),
        "who did it; NULL if the process ended itself or the actor is unknown",
    ),
    Column::new(
        "actor_kind",
        Text(|row| row.incident.actor.as_ref().map(|actor| actor.kind.as_str())),
        "user, controller, scheduler, kubelet, autoscaler, cloud, kernel or component",
    ),
    Column::new(
        "actor_is_owner",
        Flag(|row| row.incident.actor.as_ref().map(|actor| actor.is_owner)),
        "the actor is the experiment's own owner",
    ),
    Column::new(
        "actor_unseen",
        Flag(|row| Some(row.incident.actor_unseen)),
        "someone did it, but no source shows who",
    ),
    Column::new(
        "first_victim",
        Text(|row| {
            row.incident
                .first_victim
                .as_ref()
                .map(|victim| victim.pod.as_str())
        }),
        "pod that died first",
    ),
    Column::new(
        "victims",
        Texts(|row| names(&row.incident.victims)),
        "pods with a recorded link of their own to the root cause",
    ),
    Column::new(
        "collateral_count",
        Long(|row| long(row.incident.collateral.len())),
        "pods that died because the gang was torn down; the table collateral has them",
    ),
    Column::new(
        "gpu_hours_lost",
        Real(|row| row.incident.gpu_hours_lost),
        "GPUs of the dead pods times how long they ran, in hours",
    ),
    Column::new(
        "summary",
        Text(|row| Some(&row.incident.summary)),
        "what happened, in a sentence or two",
    ),
    Column::new(
        "advice",
        Texts(|row| row.incident.advice.clone()),
        "what to do now",
    ),
    Column::new(
        "evidence_ids",
        Texts(|row| evidence(&row.incident)),
        "ids of the events that prove it",
    ),
    Column::new(
        "id",
        Text(|row| row.incident.id.as_deref()),
        "its id in the store, which stays when the verdict changes; NULL for recorded input",
    ),
    Column::new(
        "owner",
        Text(|row| row.run.as_ref()?.owner.as_deref()),
        "owner of the run, if known",
    ),
    Column::new(
        "machines",
        Texts(|row| machines(&row.incident, false)),
        "machines that it is about: those of the root cause, else those of the first victims",
    ),
    Column::new(
        "faulty_machines",
        Texts(|row| machines(&row.incident, true)),
        "those of them that were at fault themselves",
    ),
    Column::new(
        "died",
        Time(|row| instant(Some(row.incident.aftermath.as_ref()?.died.as_str()))),
        "when its first pod died; NULL if no pod died, or if it was explained by an older version",
    ),
    Column::new(
        "detected",
        Time(|row| instant(row.incident.aftermath.as_ref()?.detected.as_deref())),
        "first record after that death that shows a reaction to it; NULL if there is none",
    ),
    Column::new(
        "detected_by",
        Text(|row| row.incident.aftermath.as_ref()?.detected_by.as_deref()),
        "signal of that record",
    ),
    Column::new(
        "restarted",
        Time(|row| instant(row.incident.aftermath.as_ref()?.restarted.as_deref())),
        "first start after that death of a pod of the same run that was created since, or of one that died; NULL where none is known",
    ),
    Column::new(
        "missing",
        Texts(|row| row.incident.would_have_told.clone()),
        "evidence that would have settled it, or could overturn it",
    ),
];
