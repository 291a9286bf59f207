//! Answers about everything in the input, and about one machine.

use std::collections::BTreeSet;

use whathappened_core::death::{DeathState, has_failed};
use whathappened_core::graph::{Task, TaskKind};
use whathappened_core::resolve::{MachineMatch, Name};
use whathappened_core::timeline::timeline;
use whathappened_model::event::EventId;

use super::answer::{Question, blank, runs};
use super::context::{ReportContext, is_announced_only};
use super::narrow::{self, Omitted};
use super::timeline::lines_without_run;
use crate::answer::{Answer, Incident, IncidentRole};
use crate::case::Case;
use crate::error::Error;
use crate::explain::gang::{Finding, NO_RUN};
use crate::explain::{Level, Verdict, explain};

/// Answers what happened to everything in the input.
///
/// # Errors
/// When a rule fails.
pub(super) async fn everything(case: &Case, question: &Question) -> Result<Answer, Error> {
    let verdict = of_all(case).await?;
    reported(case, &verdict, question, None, &|_| true)
}

/// The same, and behind it the incidents that runs survived.
///
/// # Errors
/// When a rule fails.
pub async fn with_survived(case: &Case) -> Result<Answer, Error> {
    let verdict = of_all(case).await?;
    let question = Question {
        name: "*".to_owned(),
        ..Question::default()
    };
    let mut answer = reported(case, &verdict, &question, None, &|_| true)?;
    let context = ReportContext::new(case, &verdict);
    for finding in &verdict.findings {
        if finding.recovered && !is_news(case, &verdict, finding) {
            answer
                .incidents
                .push(context.incident_of(finding, IncidentRole::Recovered)?);
        }
    }
    let chosen: Vec<usize> = (0..case.runs.len()).rev().collect();
    answer.runs = runs(case, &verdict, &chosen);
    answer
        .incidents
        .sort_by(|a, b| (&a.time, &a.run_id, &a.cause).cmp(&(&b.time, &b.run_id, &b.cause)));
    Ok(answer)
}

/// Answers what happened to one machine, and what that did to whom.
pub(super) async fn of_machine(
    case: &Case,
    question: &Question,
    place: &MachineMatch,
) -> Result<Answer, Error> {
    let verdict = of_all(case).await?;
    // Without an orchestrator people call what they run by the name of the machine.
    let is_bare = !Name::parse(&question.name).is_machine();
    let is_here = |finding: &Finding| {
        let steps = finding.candidate.iter().flat_map(|one| &one.path);
        let is_cited = steps
            .filter_map(|step| case.graph.facts.get(step.fact))
            .any(|fact| place.holds(&case.graph, fact));
        is_cited
            || happened_here(case, &verdict, finding, place)
            || is_bare && is_log_of(case, &verdict, finding, place)
    };
    let mut answer = reported(case, &verdict, question, Some(place), &is_here)?;
    let was_here: BTreeSet<String> = case
        .runs
        .iter()
        .filter(|run| {
            let mut pods = run.pods.iter();
            pods.any(|pod| {
                let pod = case.graph.pods.get(*pod);
                pod.is_some_and(|pod| place.holds_member(&case.graph, pod))
            })
        })
        .map(|run| run.id(&case.graph))
        .collect();
    answer.runs.retain(|run| was_here.contains(&run.id));
    let here = case.graph.facts.iter();
    let wanted: BTreeSet<EventId> = here
        .filter(|fact| place.holds(&case.graph, fact))
        .map(|fact| fact.id)
        .collect();
    let entries = timeline(&case.graph, &[], &wanted)?;
    let start = entries.first().map(|entry| entry.time.lo);
    let mut timeline = lines_without_run(entries, start, &answer.incidents);
    narrow::lines(&mut timeline, question, &mut Omitted::default());
    Ok(Answer {
        machine: Some(bare(&question.name).to_owned()),
        matched_by: Some(place.how.clone()),
        timeline,
        ..answer
    })
}

/// A machine's name without the word that says what it is: `node/gpu-7`.
fn bare(name: &str) -> &str {
    match name.split_once('/') {
        Some((_, bare)) if !bare.is_empty() => bare,
        _ => name,
    }
}

/// Whether a cause is something that befalls machines or is done to them.
#[must_use]
pub fn befalls(cause: &str) -> bool {
    const OF_MACHINES: [&str; 7] = [
        "cloud.",
        "hw.",
        "node.",
        "ops.host_maintenance",
        "ops.node_",
        "ops.scale_down",
        "sched.node_pressure",
    ];
    OF_MACHINES.iter().any(|stem| cause.starts_with(stem))
}

/// The cause of a finding, where a rule explains it.
fn cause_of<'c>(case: &'c Case, finding: &Finding) -> Option<&'c str> {
    let rule = finding.candidate.as_ref()?.rule;
    case.rules.causes.get(rule).map(|rule| rule.cause.as_str())
}

/// Whether something was done to a machine, or to a place of it, and whom it struck was
/// there: an eviction names the pod and not the machine that it had to leave.
fn happened_here(case: &Case, verdict: &Verdict, finding: &Finding, place: &MachineMatch) -> bool {
    let cause = cause_of(case, finding);
    let of_machine = cause.is_some_and(befalls);
    let mut victims = finding
        .victims
        .iter()
        .filter_map(|death| case.graph.pods.get(verdict.deaths.get(*death)?.pod));
    of_machine && victims.any(|pod| place.holds_member(&case.graph, pod))
}

/// Whether a finding is about nothing but logs of programs on a machine, which no object or job tells of.
fn is_log_of(case: &Case, verdict: &Verdict, finding: &Finding, place: &MachineMatch) -> bool {
    let mut victims = finding.victims.iter().map(|death| {
        let pod = verdict.deaths.get(*death)?.pod;
        case.graph.pods.get(pod)
    });
    let is_log = |task: Option<&Task>| {
        task.is_some_and(|task| task.kind == TaskKind::Log && place.holds_member(&case.graph, task))
    };
    !finding.victims.is_empty() && victims.all(is_log)
}

/// What ended some runs, and what they survived, in no order of importance.
///
/// # Errors
/// When a rule fails.
pub async fn of_runs(case: &Case, chosen: &[usize]) -> Result<Vec<Incident>, Error> {
    let verdict = explained(case, chosen).await?;
    let context = ReportContext::new(case, &verdict);
    let reported = verdict
        .findings
        .iter()
        .map(|one| context.incident_of(one, role(case, one)));
    Ok(reported.collect::<Result<_, _>>()?)
}

pub(super) async fn of_all(case: &Case) -> Result<Verdict, Error> {
    let chosen: Vec<usize> = (0..case.runs.len()).rev().collect();
    explained(case, &chosen).await
}

async fn explained(case: &Case, chosen: &[usize]) -> Result<Verdict, Error> {
    let verdict = explain(
        &case.graph,
        &case.runs,
        chosen,
        &case.ends,
        &case.rules.causes,
        &case.coverage,
    );
    Ok(verdict.await?)
}

/// The findings that are news, in order of time.
fn reported(
    case: &Case,
    verdict: &Verdict,
    question: &Question,
    place: Option<&MachineMatch>,
    wanted: &dyn Fn(&Finding) -> bool,
) -> Result<Answer, Error> {
    let context = ReportContext::new(case, verdict);
    let mut incidents: Vec<Incident> = Vec::new();
    let faults = verdict.faults(&case.graph, &case.rules.causes, place.is_some());
    for finding in &verdict.findings {
        let is_shown = is_news(case, verdict, finding)
            || place.is_some() && is_survived_loss(case, verdict, finding);
        if is_shown && wanted(finding) {
            incidents.push(context.incident_of(finding, role(case, finding))?);
        }
    }
    // Of a machine that is asked for, what somebody died of is not told once more without them.
    let struck: BTreeSet<String> = incidents.iter().map(|one| one.cause.clone()).collect();
    for finding in faults.iter().filter(|one| wanted(one)) {
        let again = cause_of(case, finding).is_some_and(|cause| struck.contains(cause));
        if is_news(case, verdict, finding) && !(place.is_some() && again) {
            incidents.push(context.incident_of(finding, role(case, finding))?);
        }
    }
    let mut left = Omitted::default();
    narrow::everything(case, &mut incidents, question, &mut left)?;
    incidents.sort_by(|a, b| {
        (&a.time, &a.run_id, &a.cause, a.attempt).cmp(&(&b.time, &b.run_id, &b.cause, b.attempt))
    });
    let hurt: BTreeSet<&str> = incidents
        .iter()
        .filter_map(|incident| incident.run_id.as_deref())
        .collect();
    let chosen: Vec<usize> = (0..case.runs.len()).rev().collect();
    let mut reported = runs(case, verdict, &chosen);
    // That nothing is wrong rests on how the runs stand that were looked at.
    if !incidents.is_empty() {
        reported.retain(|run| hurt.contains(run.id.as_str()));
    }
    narrow::runs_within(&mut reported, question, &mut left);
    let mut notes = left.notes(case);
    let whole = question.since.or(question.until).is_none() && question.pod.is_none();
    if place.is_none() && whole {
        notes.extend(left_out(case, verdict));
    }
    if case.earlier_pods > 0 {
        let (pods, are) = several(case.earlier_pods, "pod");
        notes.push(format!(
            "{pods} of earlier runs on it {are} left out: choose a time with --since and --until, or run `whathappened node NAME` for its whole history"
        ));
    }
    Ok(Answer {
        runs: reported,
        incidents,
        page: None,
        notes,
        ..blank(case, question)
    })
}

fn role(case: &Case, finding: &Finding) -> IncidentRole {
    match (finding.run, finding.recovered) {
        (NO_RUN, _) if is_announced_only(&case.graph, finding) => IncidentRole::Announced,
        (NO_RUN, _) => IncidentRole::Fault,
        (_, true) => IncidentRole::Episode,
        (_, false) => IncidentRole::Main,
    }
}

/// A restart that recovered is no news where nobody asked for the run; that of a
/// whole machine is, since whatever ran on it did not survive.
fn is_news(case: &Case, verdict: &Verdict, finding: &Finding) -> bool {
    let of_machine = finding.victims.iter().any(|death| {
        let pod = verdict.deaths.get(*death).and_then(|death| death.pod);
        let one = case.graph.pods.get(pod);
        one.is_some_and(|one| one.kind == TaskKind::Instance)
    });
    // Scaling a workload to nothing is how it is put aside.
    let put_aside = !finding.victims.is_empty()
        && finding.victims.iter().all(|death| {
            let death = verdict.deaths.get(*death);
            death.is_some_and(|death| death.state == DeathState::ScaledToZero)
        });
    (!finding.recovered || of_machine) && !put_aside && !is_unwitnessed(case, verdict, finding)
}

/// Whether a run got over what befell a machine of its: who asks for the machine asks for that.
fn is_survived_loss(case: &Case, verdict: &Verdict, finding: &Finding) -> bool {
    let cause = cause_of(case, finding);
    finding.recovered && cause.is_some_and(befalls) && !is_unwitnessed(case, verdict, finding)
}

/// Runs of whose end nothing but a stop is known that nobody tells the reason of. All at once:
/// an input may have as many runs as lines.
pub(super) fn unknown_ends(case: &Case, verdict: &Verdict) -> BTreeSet<usize> {
    let own = verdict.findings.iter().filter(|one| !one.recovered);
    let (unknown, known): (Vec<&Finding>, Vec<&Finding>) =
        own.partition(|finding| is_unwitnessed(case, verdict, finding));
    let known: BTreeSet<usize> = known.iter().map(|one| one.run).collect();
    let unknown = unknown.iter().map(|one| one.run);
    unknown.filter(|run| !known.contains(run)).collect()
}

/// What a list of everything leaves out, counted.
fn left_out(case: &Case, verdict: &Verdict) -> Vec<String> {
    let findings = verdict.findings.iter();
    let survived: Vec<&Finding> = findings
        .filter(|one| one.recovered && !is_news(case, verdict, one))
        .collect();
    let of_runs = |runs: &mut dyn Iterator<Item = usize>| {
        let runs = runs.filter_map(|run| case.runs.get(run));
        of_runs_named(&runs.map(|run| run.names(&case.graph).3).collect())
    };
    let survivors = of_runs(&mut survived.iter().map(|one| one.run));
    let survived = survived.len();
    let unknown = unknown_ends(case, verdict);
    let unseen = of_runs(&mut unknown.iter().copied());
    let unknown = unknown.range(..case.runs.len()).count();
    let mut notes = Vec::new();
    if survived > 0 {
        let (incidents, were) = several(survived, "incident");
        notes.push(format!(
            "{incidents} that runs survived {were} not listed{survivors}: ask for a run by name, or in SQL for role = 'recovered'"
        ));
    }
    if unknown > 0 {
        let (runs, _) = several(unknown, "run");
        notes.push(format!(
            "{runs} ended, and no record shows how{unseen}: pods are stopped like this after any job, too; ask for a run by name to see what is known"
        ));
    }
    notes
}

/// ` (of a and b)`, where there are few enough to be named.
fn of_runs_named(names: &BTreeSet<&str>) -> String {
    const NAMED: usize = 3;
    let named: Vec<&str> = names.iter().take(NAMED).copied().collect();
    match names.len().checked_sub(NAMED) {
        _ if named.is_empty() => String::new(),
        Some(more) if more > 0 => format!(" (of {} and {more} more)", named.join(", ")),
        _ => format!(" (of {})", named.join(", ")),
    }
}

fn several(number: usize, noun: &str) -> (String, &'static str) {
    match number {
        1 => (format!("1 {noun}"), "is"),
        _ => (format!("{number} {noun}s"), "are"),
    }
}

/// A pod of which only Events tell, and nothing but that it was stopped, is no
/// news where nobody asked for it: jobs finish and are cleaned up like this. Where their
/// object says that it failed, it is.
fn is_unwitnessed(case: &Case, verdict: &Verdict, finding: &Finding) -> bool {
    let bodiless = |death: &usize| {
        let pod = verdict
            .deaths
            .get(*death)
            .and_then(|death| case.graph.pods.get(death.pod));
        pod.is_some_and(|pod| pod.kind == TaskKind::Pod && pod.body.is_none())
    };
    let run = case.runs.get(finding.run);
    let cause = cause_of(case, finding);
    // What says why it was stopped is news.
    let is_unexplained = cause.is_none_or(|cause| cause == "ops.manual_delete");
    finding.run != NO_RUN
        && is_unexplained
        && !run.is_some_and(|run| has_failed(&case.graph, run))
        && finding.level() <= Level::Hypothesis
        && finding.victims.iter().all(bodiless)
}
