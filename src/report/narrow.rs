//! What the options of a question leave of an answer, and what they leave out.

use whathappened_core::resolve::{Name, NameMatch, Run, place, rank_names, resolve};
use whathappened_core::timeline::Lane;
use whathappened_model::time::{Nanos, SECOND, Stamp, rfc3339};

use super::answer::Question;
use crate::answer::{Incident, Run as AnswerRun, TimelineRow};
use crate::case::Case;
use crate::error::Error;

/// What was left out, counted.
#[derive(Debug, Default)]
pub(super) struct Omitted {
    runs: usize,
    pub(super) incidents: usize,
    lines: usize,
}

impl Omitted {
    /// What was left out, for those who did not mean to.
    pub(super) fn notes(&self, case: &Case) -> Vec<String> {
        let mut notes = Vec::new();
        let parts = [
            (self.runs, "run"),
            (self.incidents, "incident"),
            (self.lines, "timeline line"),
        ];
        let reported: Vec<String> = parts
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, noun)| count(number as u64, noun))
            .collect();
        if !reported.is_empty() {
            notes.push(format!("Omitted as requested: {}", reported.join(", ")));
        }
        if let Some(moment) = case.graph.now.filter(|_| case.later > 0) {
            let records = count(case.later, "record");
            // The end of a window is the instant before a whole second: the second is told.
            let next = moment.saturating_add(1);
            let later = if next % SECOND == 0 {
                format!("from {} or later", rfc3339(next))
            } else {
                format!("later than {}", rfc3339(moment))
            };
            notes.push(format!("Omitted as requested: {records} {later}"));
        }
        notes
    }
}

fn count(number: u64, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{s}")
}

/// The case as it was known at the moment that a question speaks from, or at the end of the
/// time that it is about; none where that is all there is. What came later is counted.
///
/// # Errors
/// When nothing of the name was known then, or facts cannot be kept.
pub(super) fn known_then(case: &Case, question: &Question) -> Result<Option<Case>, Error> {
    let before_until = question.until.map(|until| until.saturating_sub(1));
    let moment = question.at.into_iter().chain(before_until).min();
    let Some(moment) = moment.filter(|moment| case.graph.now.is_none_or(|now| *moment < now))
    else {
        return Ok(None);
    };
    let name = Name::parse(&question.name);
    // What is unknown altogether is told with the nearest names there are.
    if !is_known(case, &name)? {
        return Ok(None);
    }
    let matched = resolve(&case.graph, &case.runs, &name);
    let runs = matched.runs.iter().filter_map(|run| case.runs.get(*run));
    let first = runs.filter_map(|run| run.begin).min();
    let then = case.as_of(moment)?;
    if is_known(&then, &name)? {
        return Ok(Some(then));
    }
    let first = first.map_or_else(String::new, |first| {
        format!(": its first run is from {}", rfc3339(first))
    });
    Err(Error::NoneLeft {
        why: format!(
            "there are no records of {:?} {}{first}",
            question.name,
            match question.until {
                Some(until) if before_until == Some(moment) => format!("before {}", rfc3339(until)),
                _ => format!("at {}", rfc3339(moment)),
            }
        ),
        hint: "choose a later time, or leave the option out".to_owned(),
    })
}

fn is_known(case: &Case, name: &Name) -> Result<bool, Error> {
    let by_run = name.is_everything() || !resolve(&case.graph, &case.runs, name).runs.is_empty();
    Ok(by_run || place(&case.graph, name)?.is_some())
}

/// Whether a question is about some time only.
fn has_window(question: &Question) -> bool {
    question.since.is_some() || question.until.is_some()
}

/// An error where the time asked for is after everything that is known.
pub(super) fn time(case: &Case, question: &Question) -> Result<(), Error> {
    match (question.since, case.graph.now) {
        (Some(since), Some(now)) if since > now => Err(Error::NoneLeft {
            why: format!(
                "there are no records at or after {}: the latest is from {}",
                rfc3339(since),
                rfc3339(now)
            ),
            hint: format!(
                "choose an earlier time, such as {:.10}, or leave the option out",
                rfc3339(now)
            ),
        }),
        _ => Ok(()),
    }
}

/// Keeps the runs that lived in the time asked for.
///
/// # Errors
/// When none did: when the last of them was.
pub(super) fn runs(
    case: &Case,
    question: &Question,
    matched: &mut NameMatch,
    left: &mut Omitted,
) -> Result<(), Error> {
    time(case, question)?;
    if !has_window(question) {
        return Ok(());
    }
    let before = matched.runs.clone();
    matched.runs.retain(|number| {
        let Some(run) = case.runs.get(*number) else {
            return false;
        };
        let over = over(case, run);
        let (since, until) = (question.since, question.until);
        since.is_none_or(|since| over.is_none_or(|over| over > since))
            && until.is_none_or(|until| run.begin.is_none_or(|begin| begin < until))
    });
    left.runs = before.len() - matched.runs.len();
    if !matched.runs.is_empty() {
        return Ok(());
    }
    let latest = before.first().and_then(|number| case.runs.get(*number));
    let lived = latest.map_or_else(String::new, |run| {
        let (_, kind, _, name) = run.names(&case.graph);
        let begin = run
            .begin
            .map(|at| format!(" was created at {}", rfc3339(at)));
        let over = over(case, run).map(|at| format!(" ended at {}", rfc3339(at)));
        let reported: Vec<String> = [begin, over].into_iter().flatten().collect();
        format!(": {kind} {name}{}", reported.join(" and"))
    });
    Err(Error::NoneLeft {
        why: format!(
            "no run of {:?} was active in that time window{lived}",
            question.name
        ),
        hint: "choose a longer time window, or leave the options out".to_owned(),
    })
}

/// First instant at which all pods of a run were over, if they are.
fn over(case: &Case, run: &Run) -> Option<Nanos> {
    let ends = run
        .pods
        .iter()
        .map(|pod| Some(case.ends.get(*pod)?.final_time()?.hi));
    let ends: Option<Vec<Nanos>> = ends.collect();
    ends?.into_iter().max()
}

/// The runs that were asked for: the one of that number, counted from the oldest as answers do, else those whose id
/// begins so. An id may begin with the number of another run.
pub(super) fn asked_runs(case: &Case, matched: &NameMatch, asked: &str) -> Vec<usize> {
    let number = asked.parse().ok();
    let place = number.and_then(|number| matched.runs.len().checked_sub(number));
    if let Some(run) = place.and_then(|place| matched.runs.get(place)) {
        return vec![*run];
    }
    let begins_so = |run: &usize| {
        let run = case.runs.get(*run);
        run.is_some_and(|run| run.id(&case.graph).starts_with(asked))
    };
    matched.runs.iter().copied().filter(begins_so).collect()
}

/// An error where no pod of the runs bears the name that was asked for.
pub(super) fn pod(
    case: &Case,
    matched: &[usize],
    question: &Question,
    found: bool,
) -> Result<(), Error> {
    let Some(asked) = question.pod.as_deref().filter(|_| !found) else {
        return Ok(());
    };
    let runs = matched.iter().filter_map(|number| case.runs.get(*number));
    let pods = runs.flat_map(|run| run.pods.iter());
    let names = pods
        .filter_map(|pod| case.graph.pods.get(*pod))
        .map(|pod| case.graph.name(pod.name).to_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    let nearest = rank_names(asked, names.iter().cloned());
    Err(Error::NoneLeft {
        why: format!("{:?} has no pod named {asked:?}", question.name),
        hint: if nearest.is_empty() {
            names.truncate(5);
            format!("its pods: {}", names.join(", "))
        } else {
            format!("did you mean: {}?", nearest.join(", "))
        },
    })
}

/// Keeps the lines of the time and the pod asked for.
pub(super) fn lines(rows: &mut Vec<TimelineRow>, question: &Question, left: &mut Omitted) {
    let before = rows.len();
    rows.retain(|row| {
        let own = question.pod.as_deref().is_none_or(|pod| {
            let of_a_pod = matches!(row.lane, Lane::Pod | Lane::Container | Lane::Log);
            !of_a_pod || row.entity == pod || row.in_chain
        });
        own && inside(Some(&row.time), question)
    });
    left.lines += before - rows.len();
}

/// Whether something happened in the time asked for; what has no time may have.
pub(super) fn inside(time: Option<&str>, question: &Question) -> bool {
    let Some(at) = time.and_then(Stamp::parse).map(|stamp| stamp.lo) else {
        return true;
    };
    question.since.is_none_or(|since| at >= since) && question.until.is_none_or(|until| at < until)
}

/// Keeps the incidents of the time and the pod asked for, and the runs they are of.
pub(super) fn everything(
    case: &Case,
    incidents: &mut Vec<Incident>,
    question: &Question,
    left: &mut Omitted,
) -> Result<(), Error> {
    time(case, question)?;
    let all: Vec<usize> = (0..case.runs.len()).collect();
    if let Some(wanted) = question.pod.as_deref() {
        let mut pods = case.graph.pods.iter();
        let found = pods.any(|pod| case.graph.name(pod.name) == wanted);
        pod(case, &all, question, found)?;
    }
    let before = incidents.len();
    incidents.retain(|incident| {
        let touches = question.pod.as_deref().is_none_or(|pod| {
            let mut hit = incident.victims.iter().chain(&incident.collateral);
            hit.any(|victim| victim.pod == pod)
        });
        touches && inside(incident.time.as_deref(), question)
    });
    left.incidents += before - incidents.len();
    Ok(())
}

/// Keeps the runs that lived in the time asked for.
pub(super) fn runs_within(runs: &mut Vec<AnswerRun>, question: &Question, left: &mut Omitted) {
    if !has_window(question) {
        return;
    }
    let at = |text: &Option<String>| text.as_deref().and_then(Stamp::parse).map(|at| at.hi);
    let before = runs.len();
    runs.retain(|run| {
        let (start, end) = (at(&run.start), at(&run.end));
        question
            .since
            .is_none_or(|since| end.is_none_or(|end| end > since))
            && question
                .until
                .is_none_or(|until| start.is_none_or(|start| start < until))
    });
    left.runs += before - runs.len();
}
