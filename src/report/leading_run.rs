//! Which run of those that a name means leads the answer.
//!
//! Of generations of one thing the newest does: the older ones are past. Of several
//! things that share a label or a namespace the one that is broken does, however many
//! healthy ones were made after it.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use whathappened_core::signals::named;

use whathappened_core::death::RunState;
use whathappened_core::graph::{EntityGraph, Task, TaskKind};
use whathappened_core::resolve::{BY_ARRAY, NameMatch, Root, Run};
use whathappened_model::time::{Nanos, SECOND};

use crate::case::Case;
use crate::explain::Verdict;
use crate::explain::candidate::Candidate;
use crate::explain::gang::Finding;

/// The runs of a name, the leading one first.
pub(super) fn in_order(case: &Case, verdict: &Verdict, matched: &NameMatch) -> Vec<usize> {
    let graph = &case.graph;
    let mut order = matched.runs.clone();
    let run = |number: &usize| case.runs.get(*number);
    // What only Events and lines still know is past where something else is there.
    order.sort_by_key(|number| {
        let run = run(number);
        (
            run.is_none_or(|run| !is_there(graph, run)),
            Reverse(run.and_then(|run| run.begin)),
            // Of two that began at once, the one that there was last.
            Reverse(last_end(case, *number)),
            Reverse(*number),
        )
    });
    let Some(newest) = order.first().copied() else {
        return order;
    };
    let named = |number: &usize| {
        run(number).map(|run| {
            let (_, kind, namespace, name) = run.names(graph);
            (kind, namespace, name)
        })
    };
    let mut seen = BTreeSet::new();
    let latest: BTreeSet<usize> = order
        .iter()
        .copied()
        // The tasks of an array are no generations of each other.
        .filter(|number| seen.insert(named(number)) || matched.how == BY_ARRAY)
        .collect();
    if latest.len() < 2 {
        return order;
    }
    let broken = |number: &usize| {
        let mut own = verdict.findings.iter().filter(|one| one.run == *number);
        own.any(|finding| !finding.recovered && !made_way(graph, finding))
    };
    // A run of an experiment, or of a cron job, that began when another had ended, and came through, makes
    // it good.
    let generations = matched.how.starts_with("label experiment")
        || matched.how.starts_with("label run")
        || matched.how.starts_with("annotation")
        || matched.how == "name of CronJob";
    let begin = run(&newest).and_then(|run| run.begin);
    let completed = verdict.states.contains(&(newest, RunState::Completed));
    let is_past = |number: &usize| {
        let over = last_end(case, *number);
        let before = matches!((over, begin), (Some(over), Some(begin)) if over <= begin);
        generations && completed && before
    };
    let leads = |number: &usize| latest.contains(number) && broken(number) && !is_past(number);
    let leading: Vec<usize> = order.iter().copied().filter(leads).collect();
    order.sort_by_key(|number| {
        let others = leading.iter().filter(|other| *other != number);
        let misses_one = || misses_one_of(case, verdict, *number, others.clone());
        let was_cleared = || was_cleared_after(case, verdict, *number, others.clone());
        let leads = leads(number);
        let follows = leads && (misses_one() || was_cleared());
        (!leads, !latest.contains(number), follows)
    });
    order
}

/// Whether a pod that nobody owns was deleted by a person after another one that was made with it had ended otherwise: who
/// clears up takes all of them.
fn was_cleared_after<'a>(
    case: &Case,
    verdict: &Verdict,
    number: usize,
    mut others: impl Iterator<Item = &'a usize>,
) -> bool {
    /// Pods that one command makes are made within this long.
    const TOGETHER: Nanos = 60 * SECOND;
    /// Whoever clears up does so within this long.
    const CLEARED: Nanos = 900 * SECOND;
    let graph = &case.graph;
    let bare = |number: usize| {
        let run = case.runs.get(number)?;
        matches!(run.root, Root::Pod(_)).then_some(run.begin?)
    };
    let end = |number: usize| {
        let mut own = verdict.findings.iter();
        let own = own.find(|one| one.run == number && !one.recovered)?;
        let death = verdict.deaths.get(*own.victims.first()?)?;
        let root = own.candidate.as_ref().map(Candidate::root);
        let root = root.and_then(|root| graph.facts.get(root));
        let by_user = root.is_some_and(|root| graph.name(root.signal).ends_with("_by_user"));
        Some((death.time, by_user))
    };
    let Some((begin, (time, true))) = bare(number).zip(end(number)) else {
        return false;
    };
    others.any(|other| {
        bare(*other)
            .zip(end(*other))
            .is_some_and(|(made, (ended, by_user))| {
                let since = time.lo.saturating_sub(ended.lo);
                let together = made.saturating_sub(begin).saturating_abs() <= TOGETHER;
                !by_user && together && (0..=CLEARED).contains(&since)
            })
    })
}

/// Whether all that a run broke of is that it could not reach another one, which had ended: that one's end is the story.
fn misses_one_of<'a>(
    case: &Case,
    verdict: &Verdict,
    number: usize,
    mut others: impl Iterator<Item = &'a usize>,
) -> bool {
    const MISSES: [&str; 2] = [
        named::LOG_CONNECTION_REFUSED,
        named::LOG_SERVICE_UNREACHABLE,
    ];
    let graph = &case.graph;
    let mut own = verdict.findings.iter();
    let first = own.find(|finding| finding.run == number && !finding.recovered);
    let root = first.and_then(|finding| finding.candidate.as_ref());
    let root = root.and_then(|root| graph.facts.get(root.root()));
    let Some(root) = root.filter(|root| MISSES.contains(&graph.name(root.signal))) else {
        return false;
    };
    let host = graph
        .name(root.target)
        .split([':', '.'])
        .next()
        .unwrap_or_default();
    if host.is_empty() {
        return false;
    }
    let is_of = |name: &str| {
        let rest = name.strip_prefix(host);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    others.any(|other| {
        let Some(run) = case.runs.get(*other) else {
            return false;
        };
        let pods = run.pods.iter().filter_map(|pod| {
            let ended = case.ends.get(*pod)?.final_time()?;
            (ended.lo <= root.time.hi).then(|| graph.pods.get(*pod))?
        });
        let mut names = pods.map(|pod| graph.name(pod.name));
        names.any(is_of)
    })
}

/// Whether a run was ended for the next one of its cron job (`concurrencyPolicy: Replace`), as was meant.
fn made_way(graph: &EntityGraph, finding: &Finding) -> bool {
    let root = finding.candidate.as_ref().map(Candidate::root);
    let root = root.and_then(|root| graph.facts.get(root));
    root.is_some_and(|root| {
        let signal = graph.name(root.signal);
        // The cron job's own Event names the job that it deleted.
        let names_job = || {
            let record = graph.evidence.event(root.row).ok();
            record.is_some_and(|record| record.attribute("other_job").is_some())
        };
        signal == named::K8S_WORKLOAD_DELETED_BY_CONTROLLER
            && graph.name(root.actor).ends_with(":cronjob-controller")
            || names_job()
    })
}

/// Whether an object of the run was seen, and not that it was gone.
fn is_there(graph: &EntityGraph, run: &Run) -> bool {
    let mut pods = run.pods.iter().filter_map(|pod| graph.pods.get(*pod));
    let root = match run.root {
        Root::Workload(root) => graph.workloads.get(root),
        Root::Pod(_) => None,
    };
    let is_known = |pod: &Task| match pod.kind {
        TaskKind::Pod => false,
        // A machine of which nothing but somebody's act is known may be a namesake.
        TaskKind::Instance => pod.created.is_some() || pod.last_line.is_some(),
        TaskKind::Job | TaskKind::Log => true,
    };
    root.is_some_and(|root| root.body.is_some())
        || pods.any(|pod| pod.body.is_some() || is_known(pod))
}

/// When the last of its pods had ended, if all have.
fn last_end(case: &Case, number: usize) -> Option<Nanos> {
    let run = case.runs.get(number)?;
    let ends = run
        .pods
        .iter()
        .map(|pod| Some(case.ends.get(*pod)?.final_time()?.lo));
    let ends: Option<Vec<Nanos>> = ends.collect();
    ends?.into_iter().max()
}
