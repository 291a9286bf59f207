//! The whole answer to one question.

use std::collections::{BTreeSet, HashMap};

use whathappened_core::death::{Death, DeathState, RunState};
use whathappened_core::graph::{TaskKind, TaskRow};
use whathappened_core::lifecycle::{BatchState, State};
use whathappened_core::resolve::{BY_STEM, Name, NameMatch, place, resolve};
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{Nanos, Stamp, rfc3339};

use super::context::{ReportContext, is_announced_only};
use super::drawn::drawn;
use super::everything::{everything, of_machine, unknown_ends};
use super::narrow::{self, Omitted, inside};
use super::quoted_ends::quoted_ends;
use super::run::run as describe_run;
use super::shown::is_only_named;
use super::timeline::lines;
use super::well::{counted_at, replaced_at, well, were_cleared_away};
use super::{
    batch_state, leading_run, plateau, read_for_run, restart_loop, side_by_side, slowdown,
    trackers, zones,
};
use crate::answer::{Answer, CoverageRow, Incident, IncidentRole, SCHEMA};
use crate::case::Case;
use crate::coverage::is_beside_the_point;
use crate::error::{Error, unread};
use crate::explain::candidate::Candidate;
use crate::explain::gang::{Finding, is_gang};
use crate::explain::{Level, Verdict, explain};

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Question {
    /// The name, as typed.
    pub name: String,
    /// Only this run, by id.
    pub run: Option<String>,
    /// Only incidents that affect this pod.
    pub pod: Option<String>,
    /// Only what happened at or after this time.
    pub since: Option<Nanos>,
    /// Only what happened before this time.
    pub until: Option<Nanos>,
    /// The moment to speak from.
    pub at: Option<Nanos>,
}

/// Answers what happened to one experiment.
///
/// # Errors
/// [`Error::UnknownName`] with the nearest names, or a rule that fails.
pub async fn answer(case: &Case, question: &Question) -> Result<Answer, Error> {
    let then = narrow::known_then(case, question)?;
    let case = then.as_ref().unwrap_or(case);
    let name = Name::parse(&question.name);
    if name.is_everything() {
        return everything(case, question).await;
    }
    let mut matched = resolve(&case.graph, &case.runs, &name);
    // A name of a run is a run; whoever asks for a node or a GPU means the machine.
    if (matched.runs.is_empty() || (name.is_machine() && !name.is_kind("Instance")))
        && let Some(place) = place(&case.graph, &name)?
    {
        return of_machine(case, question, &place).await;
    }
    if matched.runs.is_empty() {
        return Err(Error::UnknownName {
            name: question.name.clone(),
            nearest: matched.nearest,
            unread: unread(&case.coverage),
        });
    }
    let all = matched.runs.clone();
    if let Some(id) = &question.run {
        matched.runs = narrow::asked_runs(case, &matched, id);
        if matched.runs.is_empty() {
            return Err(Error::UnknownRun {
                run: id.clone(),
                name: question.name.clone(),
            });
        }
    }
    let mut left = Omitted::default();
    narrow::runs(case, question, &mut matched, &mut left)?;
    let coverage = read_for_run::coverage(case, &matched.runs);
    let verdict = explain(
        &case.graph,
        &case.runs,
        &matched.runs,
        &case.ends,
        &case.rules.causes,
        &coverage,
    )
    .await?;
    matched.runs = leading_run::in_order(case, &verdict, &matched);
    let pods = asked_pods(case, &matched, question);
    narrow::pod(case, &matched.runs, question, !pods.is_empty())?;
    let mut incidents = incidents(case, &verdict, &matched, &pods, question, &mut left)?;
    incidents.extend(faults(case, &verdict, &matched, question)?);
    let mut timeline = lines(case, &matched, &pods, &incidents, question)?;
    narrow::lines(&mut timeline, question, &mut left);
    let mut notes = notes(&matched);
    notes.extend(left.notes(case));
    let chosen = matched.runs.iter().filter_map(|run| case.runs.get(*run));
    notes.extend(zones::notes(&case.graph, chosen));
    let mut reported = runs(case, &verdict, &matched.runs);
    count(case, &all, &mut reported);
    side_by_side::mark(&reported, &mut incidents);
    if let Some((number, run)) = matched
        .runs
        .first()
        .and_then(|one| Some((*one, case.runs.get(*one)?)))
        && let Some((_, state)) = verdict.states.iter().find(|(run, _)| *run == number)
    {
        notes.extend(trackers::notes(case, run, *state)?);
        notes.extend(plateau::note(case, run)?);
        notes.extend(restart_loop::note(case, run));
        notes.extend(slowdown::note(case, run, *state));
    }
    notes.extend(newer(&reported));
    notes.extend(only_stem(&matched, &name, &reported));
    let leads = matched.runs.first();
    let drawn = leads.map(|number| drawn(case, *number, &incidents));
    let drawn = drawn.transpose()?;
    let mut coverage = coverage_rows(&coverage);
    read_for_run::without_the_request(&mut coverage, &incidents);
    Ok(Answer {
        drawn: drawn.unwrap_or_default(),
        experiment: Some(question.name.clone()),
        matched_by: Some(matched.how.clone()),
        runs: reported,
        notes,
        incidents,
        timeline,
        coverage,
        ..blank(case, question)
    })
}

pub(super) fn blank(case: &Case, question: &Question) -> Answer {
    Answer {
        schema: SCHEMA,
        experiment: None,
        machine: None,
        matched_by: None,
        now: question.at.or(case.graph.now).map(rfc3339),
        ruleset: case.rules.version.clone(),
        runs: Vec::new(),
        incidents: Vec::new(),
        coverage: coverage_rows(&case.coverage),
        timeline: Vec::new(),
        page: None,
        drawn: crate::answer::Drawn::default(),
        notes: Vec::new(),
    }
}

pub(super) fn runs(case: &Case, verdict: &Verdict, chosen: &[usize]) -> Vec<crate::answer::Run> {
    let numbered = numbered_runs(case, verdict, chosen).into_iter();
    numbered.map(|(_, run)| run).collect()
}

/// The same with the number of each.
pub(super) fn numbered_runs(
    case: &Case,
    verdict: &Verdict,
    chosen: &[usize],
) -> Vec<(usize, crate::answer::Run)> {
    let states: HashMap<usize, RunState> = verdict.states.iter().rev().copied().collect();
    let unknown_ends = unknown_ends(case, verdict);
    let quoted_ends = quoted_ends(case, verdict);
    chosen
        .iter()
        .filter_map(|number| {
            let state = *states.get(number)?;
            let run = case.runs.get(*number)?;
            let mut reported = describe_run(&case.graph, &case.ends, run, state);
            let unknown = match state {
                RunState::Running => {
                    is_only_named(case, run, state)
                        || replaced_at(case, run).is_some()
                        || counted_at(case, run).is_some()
                        || batch_state::of(case, run) == Some(BatchState::Ending)
                }
                RunState::Failed => unknown_ends.contains(number) || quoted_ends.contains(number),
                _ => false,
            };
            let is_short =
                is_gang(&case.graph, run) && is_short_of_members(verdict, *number, run.pods.len());
            if state == RunState::Running && is_short {
                reported.state = RunState::Pending;
            }
            if unknown {
                reported.state = RunState::Unknown;
            }
            Some((*number, reported))
        })
        .collect()
}

/// Whether members of a run that has others were never created: those that are there wait for them.
fn is_short_of_members(verdict: &Verdict, number: usize, pods: usize) -> bool {
    let mut deaths = verdict.deaths.iter();
    pods > 0 && deaths.any(|death| death.run == number && death.state == DeathState::NeverCreated)
}

/// Says of runs which they are of all that the name means, which come the newest first.
fn count(case: &Case, all: &[usize], reported: &mut [crate::answer::Run]) {
    let ids = all
        .iter()
        .map(|run| Some(case.runs.get(*run)?.id(&case.graph)));
    let ids: Vec<Option<String>> = ids.collect();
    for run in reported {
        let newer = ids.iter().position(|id| id.as_ref() == Some(&run.id));
        run.of = all.len();
        run.number = all.len() - newer.unwrap_or(0);
    }
}

/// That the run which leads is not the newest.
fn newer(reported: &[crate::answer::Run]) -> Option<String> {
    let newest = reported.iter().max_by_key(|run| run.number)?;
    let leads = reported.first()?;
    (newest.number > leads.number).then(|| {
        format!(
            "There is a newer run ({} of {}, {}), which is {}; use --run {} to see it",
            newest.number, newest.of, newest.name, newest.state, newest.number
        )
    })
}

/// That the run which leads has a name of its own, of which only the beginning was asked for.
fn only_stem(matched: &NameMatch, name: &Name, reported: &[crate::answer::Run]) -> Option<String> {
    let leads = reported.first()?;
    (matched.how == BY_STEM && leads.kind != "Pod" && leads.name != name.name).then(|| {
        format!(
            "No run is named {}; this is {} {}, whose pods have names that begin with {}-",
            name.name, leads.kind, leads.name, name.name
        )
    })
}

fn notes(matched: &NameMatch) -> Vec<String> {
    if matched.others.is_empty() {
        return Vec::new();
    }
    let names: Vec<String> = matched
        .others
        .iter()
        .map(|other| match other.namespace.as_str() {
            "" => format!("{}/{}", other.kind, other.name),
            namespace => format!("{}/{namespace}/{}", other.kind, other.name),
        })
        .collect();
    vec![format!(
        "Other objects have the same name; to see them, use kind/namespace/name: {}",
        names.join(", ")
    )]
}

/// Pods that were asked for by name, by the question or its option.
fn asked_pods(case: &Case, matched: &NameMatch, question: &Question) -> BTreeSet<TaskRow> {
    let mut pods: BTreeSet<TaskRow> = matched.pods.iter().copied().collect();
    if let Some(wanted) = &question.pod {
        let of_runs = matched
            .runs
            .iter()
            .filter_map(|number| case.runs.get(*number))
            .flat_map(|run| run.pods.iter().copied());
        pods = of_runs
            .filter(|pod| {
                case.graph
                    .pods
                    .get(*pod)
                    .is_some_and(|pod| case.graph.name(pod.name) == wanted)
            })
            .collect();
    }
    pods
}

fn incidents(
    case: &Case,
    verdict: &Verdict,
    matched: &NameMatch,
    pods: &BTreeSet<TaskRow>,
    question: &Question,
    left: &mut Omitted,
) -> Result<Vec<Incident>, Error> {
    let context = ReportContext::new(case, verdict);
    let newest = matched.runs.first().copied();
    let touches = |finding: &&Finding| {
        pods.is_empty()
            || finding.deaths().any(|death| {
                let death = verdict.deaths.get(death);
                // What keeps the rest of its gang from being made keeps the pod waiting.
                death.is_some_and(|death| death.pod.is_none_or(|pod| pods.contains(&pod)))
            })
    };
    // The leading run first; in it what ended it, then what it survived, newest first.
    let order = |finding: &&Finding| {
        let place = matched.runs.iter().position(|run| *run == finding.run);
        let death = finding
            .first
            .first()
            .and_then(|death| verdict.deaths.get(*death));
        let newest_first = finding.attempt;
        // Of pods that are replaced one by one, what is wrong now goes before what was.
        let gang = case
            .runs
            .get(finding.run)
            .is_some_and(|run| is_gang(&case.graph, run));
        let goes_on = death.is_some_and(Death::goes_on);
        (
            place,
            finding.recovered,
            finding.follows,
            !gang && !goes_on,
            std::cmp::Reverse(newest_first),
            death.map(|death| death.time),
            // Of two witnesses of one end the one that knows why.
            finding.candidate.is_none(),
            death.map(Death::pod_order),
        )
    };
    let mut chosen: Vec<&Finding> = verdict.findings.iter().filter(touches).collect();
    left.incidents += verdict.findings.len() - chosen.len();
    chosen.sort_by_key(order);
    let mut reported = Vec::new();
    let mut led = false;
    for finding in chosen {
        let role = match (Some(finding.run) == newest, finding.recovered) {
            (true, false) if !led => {
                led = true;
                IncidentRole::Main
            }
            (true, false) => IncidentRole::Also,
            (true, true) => IncidentRole::Recovered,
            (false, _) => IncidentRole::Earlier,
        };
        let incident = context.incident_of(finding, role)?;
        if inside(incident.time.as_deref(), question) || role == IncidentRole::Main {
            reported.push(incident);
        } else {
            left.incidents += 1;
        }
    }
    if led {
        return Ok(reported);
    }
    // Of a pod that is over its own end is told, however well its run does without it.
    let over = |pod: &TaskRow| {
        let end = case.ends.get(*pod);
        end.is_some_and(|end| end.state == State::Died)
    };
    let completed = newest.filter(|run| verdict.states.contains(&(*run, RunState::Completed)));
    let completed = completed.and_then(|run| case.runs.get(run));
    if !pods.is_empty()
        && pods.iter().all(over)
        && completed.is_some_and(|run| were_cleared_away(case, run, pods))
    {
        // That it was stopped is known then, and why.
        reported.retain(|one| one.level > Level::Hypothesis);
        if reported.is_empty() {
            reported.extend(newest.and_then(|number| well(case, verdict, number)));
        }
    }
    if !pods.is_empty() && pods.iter().all(over) {
        match reported.first_mut() {
            Some(last) => last.role = IncidentRole::Main,
            None => reported.extend(pods.first().and_then(|pod| taken_away(case, *pod))),
        }
        return Ok(reported);
    }
    if let Some(well) = newest.and_then(|number| well(case, verdict, number)) {
        reported.insert(0, well);
    } else if let Some(last) = reported.first_mut()
        && last.role == IncidentRole::Recovered
    {
        // Nothing later is known of the run: what it last suffered leads.
        last.role = IncidentRole::Main;
    }
    Ok(reported)
}

/// What happened to the instances of the runs and ended none of them.
fn faults(
    case: &Case,
    verdict: &Verdict,
    matched: &NameMatch,
    question: &Question,
) -> Result<Vec<Incident>, Error> {
    let members = matched
        .runs
        .iter()
        .filter_map(|number| case.runs.get(*number))
        .flat_map(|run| &run.pods);
    let own: BTreeSet<TaskRow> = members
        .copied()
        .filter(|pod| {
            let one = case.graph.pods.get(*pod);
            one.is_some_and(|one| one.kind == TaskKind::Instance)
        })
        .collect();
    if own.is_empty() {
        return Ok(Vec::new());
    }
    let context = ReportContext::new(case, verdict);
    let mut found = Vec::new();
    for fault in verdict.faults(&case.graph, &case.rules.causes, false) {
        let root = fault.candidate.as_ref().map(Candidate::root);
        let fact = root.and_then(|root| case.graph.facts.get(root));
        if fact.is_some_and(|fact| own.has(fact.pod)) {
            let role = match is_announced_only(&case.graph, &fault) {
                true => IncidentRole::Announced,
                false => IncidentRole::Fault,
            };
            found.push(context.incident_of(&fault, role)?);
        }
    }
    found.retain(|incident| inside(incident.time.as_deref(), question));
    Ok(found)
}

/// A pod that is gone, as pods that are interchangeable may be at any time.
fn taken_away(case: &Case, number: TaskRow) -> Option<Incident> {
    let pod = case.graph.pods.get(number)?;
    let time = case.ends.get(number)?.time;
    // One that is still there, and hangs in its removal, may never be seen to go.
    let hangs = pod.gone.is_none() && pod.first_asked().is_some() && pod.ended.is_none();
    let level = if pod.body.is_some() && !hangs {
        Level::Established
    } else {
        Level::Hypothesis
    };
    Some(Incident {
        cause: "none.removed".to_owned(),
        level,
        title: "Removed while the run continued".to_owned(),
        summary: format!(
            "{} was removed; its run continued without it.",
            case.graph.name(pod.name)
        ),
        time: (time != Stamp::OPEN).then(|| rfc3339(time.lo)),
        role: IncidentRole::Main,
        ..Incident::default()
    })
}

/// The rows of coverage that an answer shows.
#[must_use]
pub fn coverage_rows(rows: &[whathappened_model::coverage::Coverage]) -> Vec<CoverageRow> {
    let rows = rows.iter().filter(|row| !is_beside_the_point(row));
    rows.map(coverage_row).collect()
}

/// A row of coverage as the answer shows it.
#[must_use]
pub fn coverage_row(row: &whathappened_model::coverage::Coverage) -> CoverageRow {
    CoverageRow {
        source: row.source.clone(),
        resource: row.resource.clone(),
        cluster: row.cluster.clone(),
        namespace: row.namespace.clone(),
        mode: row.mode,
        asked_from: row.asked_from.map(rfc3339),
        asked_to: row.asked_to.map(rfc3339),
        got_from: row.got_from.map(rfc3339),
        got_to: row.got_to.map(rfc3339),
        retention_s: row.retention_s,
        status: row.status,
        rows: row.rows,
        detail: row.detail.clone(),
        would_have_shown: row.would_have_shown.clone(),
    }
}
