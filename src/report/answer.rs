//! The whole answer to one question.

use std::collections::{BTreeSet, HashMap};

use whathappened_core::death::RunState;
use whathappened_core::graph::{InstanceChange, NO, Task, TaskKind};
use whathappened_core::lifecycle::{BatchState, State, given_up, signed_off};
use whathappened_core::resolve::{BY_STEM, Name, NameMatch, Root, Run, place, resolve};
use whathappened_model::time::{Nanos, SECOND, Stamp, rfc3339};

use super::batch_state;
use super::context::{ReportContext, is_announced_only};
use super::drawn::drawn;
use super::everything::{everything, of_machine, unknown_ends};
use super::last_heard;
use super::leading_run;
use super::narrow::{self, Omitted, inside};
use super::run::run as tell_run;
use super::timeline::lines;
use crate::answer::{Answer, CoverageRow, Incident, IncidentRole, SCHEMA};
use crate::case::Case;
use crate::error::Error;
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
        });
    }
    let all = matched.runs.clone();
    if let Some(id) = &question.run {
        let places = 0..matched.runs.len();
        let is_asked = |place: &usize| narrow::is_run(case, &matched, *place, id);
        let wanted: Vec<usize> = places.filter(is_asked).collect();
        matched.runs = wanted
            .into_iter()
            .map(|place| matched.runs[place])
            .collect();
        if matched.runs.is_empty() {
            return Err(Error::UnknownRun {
                run: id.clone(),
                name: question.name.clone(),
            });
        }
    }
    let mut left = Omitted::default();
    narrow::runs(case, question, &mut matched, &mut left)?;
    let verdict = explain(
        &case.graph,
        &case.runs,
        &matched.runs,
        &case.ends,
        &case.rules.causes,
        &case.coverage,
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
    let mut reported = runs(case, &verdict, &matched.runs);
    count(case, &all, &mut reported);
    notes.extend(newer(&reported));
    notes.extend(only_stem(&matched, &name, &reported));
    let leads = matched
        .runs
        .first()
        .and_then(|number| case.runs.get(*number));
    let drawn = leads.map(|run| drawn(case, run)).transpose()?;
    Ok(Answer {
        drawn: drawn.unwrap_or_default(),
        experiment: Some(question.name.clone()),
        matched_by: Some(matched.how.clone()),
        runs: reported,
        notes,
        incidents,
        timeline,
        ..blank(case, question)
    })
}

pub(super) fn blank(case: &Case, question: &Question) -> Answer {
    Answer {
        schema: SCHEMA,
        experiment: None,
        matched_by: None,
        now: question.at.or(case.graph.now).map(rfc3339),
        ruleset: case.rules.version.clone(),
        runs: Vec::new(),
        incidents: Vec::new(),
        coverage: case.coverage.iter().map(coverage_row).collect(),
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
    chosen
        .iter()
        .filter_map(|number| {
            let state = *states.get(number)?;
            let run = case.runs.get(*number)?;
            let mut reported = tell_run(&case.graph, &case.ends, run, state);
            let unknown = match state {
                RunState::Running => {
                    is_only_named(case, run, state)
                        || replaced_at(case, run).is_some()
                        || batch_state::of(case, run) == Some(BatchState::Ending)
                }
                RunState::Failed => unknown_ends.contains(number),
                _ => false,
            };
            if unknown {
                "unknown".clone_into(&mut reported.state);
            }
            Some((*number, reported))
        })
        .collect()
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
fn asked_pods(case: &Case, matched: &NameMatch, question: &Question) -> BTreeSet<u32> {
    let mut pods: BTreeSet<u32> = matched.pods.iter().copied().collect();
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
                    .get(*pod as usize)
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
    pods: &BTreeSet<u32>,
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
                death.is_some_and(|death| death.pod == NO || pods.contains(&death.pod))
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
        let goes_on = death.is_some_and(whathappened_core::death::Death::goes_on);
        (
            place,
            finding.recovered,
            finding.follows,
            !gang && !goes_on,
            std::cmp::Reverse(newest_first),
            death.map(|death| death.time),
            // Of two witnesses of one end the one that knows why.
            finding.candidate.is_none(),
            death.map(|death| death.pod),
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
    let over = |pod: &u32| {
        let end = case.ends.get(*pod as usize);
        end.is_some_and(|end| end.state == State::Died)
    };
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
    let own: BTreeSet<u32> = members
        .copied()
        .filter(|pod| {
            let one = case.graph.pods.get(*pod as usize);
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
        if fact.is_some_and(|fact| own.contains(&fact.pod)) {
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
fn taken_away(case: &Case, number: u32) -> Option<Incident> {
    let pod = case.graph.pods.get(number as usize)?;
    let time = case.ends.get(number as usize)?.time;
    let level = if pod.body.is_some() {
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

/// A run that nothing ended: completed, or running. That is only established by what
/// its own objects say: a pod that is known from Events or lines alone may be long gone.
fn well(case: &Case, verdict: &Verdict, number: usize) -> Option<Incident> {
    let run = case.runs.get(number)?;
    let state = verdict.states.iter().find(|(run, _)| *run == number)?.1;
    if let Some(told) = batch_state::incident(case, run)
        && matches!(state, RunState::Pending | RunState::Running)
    {
        return Some(told);
    }
    let name = run.names(&case.graph).3;
    let shown = is_shown(case, run, state);
    let denied = (state == RunState::Completed && shown)
        .then(|| last_error(case, run))
        .flatten();
    let replaced = replaced_at(case, run);
    let (cause, title, summary) = match (state, shown) {
        (RunState::Completed, _) if let Some(error) = &denied => (
            "none.completed",
            "Completed",
            format!("{name} is recorded as completed, although its log ends in an error: {error}"),
        ),
        (RunState::Completed, _) if let Some(early) = early_end(case, run) => (
            "none.completed",
            "Ended by its own settings",
            format!("{name} ended by a setting of its own{early}, before all its steps were made."),
        ),
        (RunState::Completed, _) => (
            "none.completed",
            "Completed",
            format!("{name} ran to completion."),
        ),
        (RunState::Running, _) if replaced.is_some() => (
            "none.running",
            "State unknown",
            format!(
                "{name} was gone by {}, when another instance was made under its name; no record shows how it ended.",
                replaced.map(rfc3339).unwrap_or_default()
            ),
        ),
        (RunState::Running, true) => ("none.running", "Running", format!("{name} is running.")),
        (RunState::Running, false) if is_only_named(case, run, state) => (
            "none.running",
            "State unknown",
            format!(
                "The data that was read does not show whether {name} is running; there is no sign that it ended.{}",
                last_line(case, run).unwrap_or_default()
            ),
        ),
        (RunState::Running, false) => (
            "none.running",
            "Running when last seen",
            running_when_last_seen(case, run, name),
        ),
        _ => return None,
    };
    let is_replaced = state == RunState::Running && replaced.is_some();
    let level = match (shown, is_only_named(case, run, state)) {
        _ if is_replaced => Level::Unknown,
        (true, _) if denied.is_some() => Level::Supported,
        (true, _) => Level::Established,
        (false, true) => Level::Unknown,
        (false, false) => Level::Hypothesis,
    };
    let pods: Vec<Nanos> = run
        .pods
        .iter()
        .filter_map(|pod| case.ends.get(*pod as usize)?.final_time())
        .map(|time| time.lo)
        .filter(|time| *time != Nanos::MIN)
        .collect();
    let time = if state == RunState::Completed {
        pods.into_iter().max()
    } else {
        case.graph.now
    };
    let hangs = state == RunState::Running && last_line(case, run).is_some();
    Some(Incident {
        cause: cause.to_owned(),
        level,
        title: title.to_owned(),
        summary,
        advice: if denied.is_some() {
            vec![IF_DENIED.to_owned()]
        } else if hangs {
            vec![IF_IT_HANGS.to_owned()]
        } else {
            Vec::new()
        },
        time: time.map(rfc3339),
        run_id: Some(run.id(&case.graph)),
        attempt: u32::try_from(run.attempts.len()).ok(),
        role: IncidentRole::Main,
        ..Incident::default()
    })
}

/// What to do about a log that ends in an error where the exit code says that all went well.
const IF_DENIED: &str =
    "Check whether the exit code of the program was lost, as in a pipe without set -o pipefail.";

/// The error with which the log of a run ends.
fn last_error(case: &Case, run: &Run) -> Option<String> {
    let graph = &case.graph;
    let pods = &run.attempts.last()?.pods;
    // What comes after the word that all is done ended nothing, where the exit code says so, too.
    let was_done = |one: &Task, failed: Stamp| {
        let step = one.progress.as_deref().map(|progress| progress.last.lo);
        let done = one.said_done.filter(|done| *done != Stamp::OPEN);
        done.is_some_and(|done| done.lo <= failed.hi && step.is_none_or(|step| step <= done.hi))
    };
    let failed = |pod: &u32| {
        let one = graph.pods.get(*pod as usize);
        one.is_some_and(|one| given_up(one).is_some_and(|failed| !was_done(one, failed)))
    };
    let mut facts = graph.facts.iter().rev();
    let last = facts.find(|fact| {
        let signal = graph.name(fact.signal);
        let is_error = matches!(signal, "log.exception.line" | "log.traceback");
        is_error && pods.contains(&fact.pod) && failed(&fact.pod)
    })?;
    let message = graph.evidence.event(last.row).ok()?.message?;
    let line = message.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.trim().to_owned())
}

/// After which step a run ended that was told to end before its last one.
fn early_end(case: &Case, run: &Run) -> Option<String> {
    let graph = &case.graph;
    let pods = &run.attempts.last()?.pods;
    let mut facts = graph.facts.iter().rev();
    let done = facts.find(|fact| {
        let signal = graph.name(fact.signal);
        signal.starts_with("log.training_done") && pods.contains(&fact.pod)
    })?;
    let record = |fact: &&whathappened_core::graph::Fact| {
        fact.row == done.row && graph.name(fact.signal) == "log.training_done.as_set"
    };
    graph.facts.iter().find(record)?;
    let progress = graph.pods.get(done.pod as usize)?.progress.as_deref();
    let step = progress.and_then(|progress| progress.step);
    Some(
        step.map(|step| format!(" after step {step}"))
            .unwrap_or_default(),
    )
}

/// What to do about a log that stops in the midst of the training.
const IF_IT_HANGS: &str = "If it still runs, look where it waits (py-spy dump --pid PID); of several ranks, give the logs of all, or dumps of PyTorch's flight recorder.";

/// Until when a log goes that is all there is, and how far its training came.
fn last_line(case: &Case, run: &Run) -> Option<String> {
    let [log] = run.pods.as_slice() else {
        return None;
    };
    let log = case.graph.pods.get(*log as usize)?;
    let progress = log
        .progress
        .as_ref()
        .filter(|_| log.kind == TaskKind::Log)?;
    let last = log.last_line.filter(|last| *last != Stamp::OPEN)?;
    let step = progress.step.map(|step| format!(", after step {step}"));
    Some(format!(
        " Its last line was written at {}{}.",
        rfc3339(last.lo - last.lo.rem_euclid(SECOND)),
        step.unwrap_or_default()
    ))
}

/// When another instance was made under the name of one: names are unique in a zone, so it was gone by
/// then, whether or not a record says how.
fn replaced_at(case: &Case, run: &Run) -> Option<Nanos> {
    let Root::Pod(number) = run.root else {
        return None;
    };
    let pods = &case.graph.pods;
    let one = pods.get(number as usize)?;
    let is_later = |other: &&Task| {
        let same = (other.namespace, other.name, other.zone) == (one.namespace, one.name, one.zone);
        let both = one.uid.is_some() && other.uid.is_some() && other.uid != one.uid;
        other.kind == TaskKind::Instance && same && both && one.zone.is_some()
    };
    let made = |other: &Task| {
        let made = other
            .signs
            .iter()
            .find(|sign| sign.what == InstanceChange::Made);
        Some(made?.time.lo)
    };
    let last = one
        .signs
        .last()
        .filter(|_| one.kind == TaskKind::Instance)?;
    let later = pods.iter().filter(is_later).filter_map(made);
    later.filter(|at| *at > last.time.hi).min()
}

/// That a run was at work when it was last seen, and why no more is known.
fn running_when_last_seen(case: &Case, run: &Run, name: &str) -> String {
    let pods = &case.graph.pods;
    let is_machine = |pod: &u32| {
        let one = pods.get(*pod as usize);
        one.is_some_and(|one| one.kind == TaskKind::Instance)
    };
    let started_again = |pod: &u32| {
        let end = case.ends.get(*pod as usize);
        end.is_some_and(|end| !end.restarts.is_empty())
    };
    if run.pods.iter().all(is_machine) && run.pods.iter().any(started_again) {
        format!(
            "{name} was started again after it had ended; no record shows that it still runs, or how its programs fare."
        )
    } else if run.pods.iter().all(is_machine) {
        format!(
            "{name} was started, and no record says that it was stopped; none shows that it still runs, or how its programs fare."
        )
    } else if last_heard::of_cluster(case).is_some_and(|heard| {
        let mut own = run.pods.iter().filter_map(|pod| pods.get(*pod as usize));
        own.any(|pod| heard.is_past(&case.graph, pod))
    }) {
        format!(
            "{name} was running when it was last seen; no later record shows whether it still is."
        )
    } else {
        format!(
            "{name} was running when it was last seen; not all of its pods were found, so it is not known whether it still is."
        )
    }
}

/// Whether only notices about machines tell of a run, none of which says that it ever ran; or whether no
/// object of it was seen, and nothing that it wrote: what was started is no more than that, and may be long gone.
fn is_only_named(case: &Case, run: &Run, state: RunState) -> bool {
    let graph = &case.graph;
    let mut pods = run
        .pods
        .iter()
        .filter_map(|pod| graph.pods.get(*pod as usize));
    let is_root_seen = match run.root {
        Root::Workload(root) => graph
            .workloads
            .get(root as usize)
            .is_some_and(|root| root.body.is_some()),
        Root::Pod(_) => false,
    };
    let no_more_than_named = |pod: &Task| match pod.kind {
        TaskKind::Instance => !pod
            .signs
            .iter()
            .any(|sign| matches!(sign.what, InstanceChange::Made | InstanceChange::Runs)),
        TaskKind::Log => true,
        TaskKind::Job => pod.body.is_none() && pod.starts.is_empty() && pod.exits.is_empty(),
        TaskKind::Pod => pod.body.is_none() && pod.last_line.is_none() && !is_root_seen,
    };
    !is_shown(case, run, state) && pods.all(no_more_than_named)
}

/// Who is asked to stop does so within the grace that pods have by default, and who did not
/// writes on by then.
const SIGNED_OFF: Nanos = 60 * SECOND;

/// Whether an object's own status says how a run stands: its workload's that it
/// completed, or that of each pod of its last attempt.
fn is_shown(case: &Case, run: &Run, state: RunState) -> bool {
    let graph = &case.graph;
    if let Root::Workload(root) = run.root
        && state == RunState::Completed
        && graph.says(root, "k8s.workload.completed")
    {
        return true;
    }
    let last = run.attempts.last();
    let wanted = match run.root {
        Root::Workload(root) => graph
            .workloads
            .get(root as usize)
            // A batch job is one task on as many nodes as it asks for.
            .filter(|root| graph.name(root.kind) != "SlurmJob")
            .and_then(|root| root.body.as_ref()?.replicas),
        Root::Pod(_) => None,
    };
    // One that died is missing until another one is there in its place.
    let is_there = |pod: &&u32| {
        let end = case.ends.get(**pod as usize);
        state != RunState::Running || end.is_none_or(|end| end.state != State::Died)
    };
    let there = run.pods.iter().filter(is_there).count();
    if wanted.is_some_and(|wanted| i64::try_from(there).is_ok_and(|there| there < wanted)) {
        return false;
    }
    let numbers: Vec<u32> = last
        .into_iter()
        .flat_map(|attempt| attempt.pods.iter().copied())
        .collect();
    // Who said that it was asked to stop, or why it gives up, and nothing since, may have ended after
    // it was looked at.
    let is_silent = |pod: &Task| {
        let over = signed_off(pod).or(given_up(pod));
        let over = over.filter(|_| state == RunState::Running);
        over.zip(graph.now)
            .is_some_and(|(over, now)| now.saturating_sub(over.hi) > SIGNED_OFF)
    };
    let heard = last_heard::of_cluster(case).filter(|_| state == RunState::Running);
    let removed = last_heard::RemovedNodes::of(case);
    let is_past =
        |pod: &Task| heard.is_some_and(|heard| heard.is_past(graph, pod) || removed.held(pod));
    // What a cloud's log says was done to an instance is no word on whether it runs.
    let seen = |pod: &Task| match pod.kind {
        TaskKind::Pod => {
            pod.body.is_some() && pod.phase.is_some() && !is_silent(pod) && !is_past(pod)
        }
        TaskKind::Instance => pod.body.is_some() && pod.phase.is_some(),
        TaskKind::Job => pod.body.is_some(),
        // That it goes on, no log says.
        TaskKind::Log => false,
    };
    let seen = |pod: &u32| graph.pods.get(*pod as usize).is_some_and(seen);
    // As many as it wants are there: those whose place they took need not be.
    let runs = |pod: &&u32| {
        let end = case.ends.get(**pod as usize);
        end.is_some_and(|end| end.state == State::Running) && seen(pod)
    };
    let running = i64::try_from(numbers.iter().filter(runs).count()).unwrap_or(i64::MAX);
    let replaced =
        state == RunState::Running && wanted.is_some_and(|wanted| wanted > 0 && running >= wanted);
    replaced || !numbers.is_empty() && numbers.iter().all(seen)
}

/// A row of coverage as the answer shows it.
#[must_use]
pub fn coverage_row(row: &whathappened_model::coverage::Coverage) -> CoverageRow {
    CoverageRow {
        source: row.source.clone(),
        resource: row.resource.clone(),
        cluster: row.cluster.clone(),
        namespace: row.namespace.clone(),
        mode: row.mode.as_str().to_owned(),
        asked_from: row.asked_from.map(rfc3339),
        asked_to: row.asked_to.map(rfc3339),
        got_from: row.got_from.map(rfc3339),
        got_to: row.got_to.map(rfc3339),
        retention_s: row.retention_s,
        status: row.status.as_str().to_owned(),
        rows: row.rows,
        detail: row.detail.clone(),
        would_have_shown: row.would_have_shown.clone(),
    }
}
