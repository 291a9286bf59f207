//! The whole way from runs to findings.

use std::collections::HashSet;
use whathappened_core::signals::named;

use whathappened_core::death::{
    Death, DeathState, RunState, deaths, fails_now, is_of_bare_pods, run_state,
};
use whathappened_core::graph::{EntityGraph, Fact, Task, TaskRow, lost_touch};
use whathappened_core::lifecycle::{End, Mode, is_stale};
use whathappened_core::link::links;
use whathappened_core::resolve::Run;
use whathappened_model::coverage::{Coverage, EvidenceKind, Status};
use whathappened_model::table::{HasRow as _, Table};
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::candidate::{Candidate, candidates};
use super::cleared::Cleared;
use super::engine::{EngineError, edges};
use super::fault::faults;
use super::gang::{Finding, Grouping, is_gang};
use super::requests::Requests;
use super::rule::Rule;
use super::survived::Survived;
use super::{
    last_straw, lost_members, outlived, recreated, recurrence, replaced, submitter, unreplaced,
    waited_for,
};
use crate::answer::Level;

/// What was found out about some runs.
#[derive(Debug)]
pub struct Verdict {
    /// What there was to explain.
    pub deaths: Vec<Death>,
    /// The roots of each death, best first.
    pub candidates: Vec<Vec<Candidate>>,
    /// Incidents, in order of (run, attempt, time).
    pub findings: Vec<Finding>,
    /// How each chosen run stands.
    pub states: Vec<(usize, RunState)>,
}

impl Verdict {
    /// Faults of machines that explain no death and were not weighed for one.
    ///
    /// `asked`: somebody asks for a machine, and wants to know what was done to it, too.
    #[must_use]
    pub fn faults(&self, graph: &EntityGraph, rules: &[Rule], asked: bool) -> Vec<Finding> {
        let weighed = self.candidates.iter().flatten();
        let reported: Vec<(usize, usize)> = weighed
            .flat_map(|one| {
                let steps = one.path.iter().chain(&one.context);
                steps.map(|step| (one.rule, step.fact))
            })
            .collect();
        faults(graph, rules, &reported, asked)
    }
}

/// Whether evidence of a row's kind that it lacks is at hand all the same: who may
/// not read logs from the API server may have a log store that has them all.
fn is_made_up_for(row: &Coverage, coverage: &[Coverage]) -> bool {
    let has_all = |other: &Coverage| {
        other.status == Status::Complete && other.rows > 0 && other.shows() == row.shows()
    };
    matches!(row.status, Status::Denied | Status::Failed)
        && row.shows() == Some(EvidenceKind::Logs)
        && coverage.iter().any(has_all)
}

/// Whether a log of containers was read in part.
fn is_cut_log(row: &Coverage) -> bool {
    row.status == Status::Truncated && row.shows() == Some(EvidenceKind::Logs)
}

/// Until when log stores were asked: what a store of ours holds of them ends with the last question.
fn logs_read_until(coverage: &[Coverage]) -> Option<Nanos> {
    let logs = coverage
        .iter()
        .filter(|row| row.shows() == Some(EvidenceKind::Logs));
    logs.filter_map(|row| row.asked_to).max()
}

/// Whether a standstill reaches beyond what was read of the logs: it is the reader's.
fn is_silence_of_reader(graph: &EntityGraph, death: &Death, until: Nanos) -> bool {
    /// A question takes a while, and lines are late.
    const LATE: Nanos = 120 * SECOND;
    let silence = |fact: &&Fact| {
        fact.pod == death.pod
            && matches!(
                graph.name(fact.signal),
                named::LOG_NO_PROGRESS | named::LOG_UNHEARD
            )
    };
    let mut silences = graph.facts.iter().filter(silence);
    death.state == DeathState::Stalled
        && silences.any(|fact| {
            let end = fact.end.unwrap_or(fact.time);
            end.lo > until.saturating_add(LATE)
        })
}

/// How runs stand, and what of their deaths is known not to have ended them.
struct Standing {
    states: Vec<(usize, RunState)>,
    lost_touch: HashSet<TaskRow>,
    survived: Survived,
    cleared: Cleared,
}

impl Standing {
    /// Adds what is left to explain of runs of whose deaths none ended them.
    fn of(
        graph: &EntityGraph,
        runs: &[Run],
        chosen: &[usize],
        ends: &Table<Task, End>,
        deaths: &mut Vec<Death>,
    ) -> Self {
        let states: Vec<(usize, RunState)> = chosen
            .iter()
            .filter_map(|number| Some((*number, run_state(graph, runs.get(*number)?, ends))))
            .collect();
        let lost_touch = lost_touch(graph);
        let survived = Survived::of(graph, runs, &states, &lost_touch, deaths);
        survived.add_the_rest(runs, deaths);
        let cleared = Cleared::of(graph, runs, &states, ends, deaths);
        cleared.add_the_rest(runs, deaths);
        Self {
            states,
            lost_touch,
            survived,
            cleared,
        }
    }
}

/// Explains some runs.
///
/// # Errors
/// When a rule's statement fails.
pub async fn explain(
    graph: &EntityGraph,
    runs: &[Run],
    chosen: &[usize],
    ends: &Table<Task, End>,
    rules: &[Rule],
    coverage: &[Coverage],
) -> Result<Verdict, EngineError> {
    let mut deaths = deaths(graph, runs, chosen, ends);
    if coverage.iter().any(is_cut_log) {
        // Lines that end where their file was cut are no sign of a standstill.
        deaths.retain(|death| death.state != DeathState::Stalled);
    }
    if let Some(until) = logs_read_until(coverage) {
        deaths.retain(|death| !is_silence_of_reader(graph, death, until));
    }
    deaths.retain(|death| {
        let gang = runs.get(death.run).is_some_and(|run| is_gang(graph, run));
        gang || death.state != DeathState::Lingering
    });
    // What waits for the rules to be asked is kept small.
    let standing = Box::new(Standing::of(graph, runs, chosen, ends, &mut deaths));
    let links = links(graph, runs, &deaths);
    let edges = edges(graph, runs, &deaths, &links, rules).await?;
    let lacking: Vec<EvidenceKind> = coverage
        .iter()
        .filter(|row| row.status.caps_a_verdict() && !is_made_up_for(row, coverage))
        .filter_map(Coverage::shows)
        .collect();
    let is_damaged = coverage
        .iter()
        .any(|row| row.is_damage() || row.is_more_than_read());
    let is_silent = coverage
        .iter()
        .any(|row| row.is_silent_cluster() || row.is_unread_file());
    let capped = |rule: &Rule| {
        // Damage takes away what was there; a cluster, or a file of any kind, could have added what would overturn it.
        if is_damaged || is_silent && !rule.overturned_by.is_empty() {
            return true;
        }
        let mut overturning = rule.overturned_by.iter();
        overturning.any(|line| lacking.contains(&line.by))
    };
    let requests = Requests::of(graph, coverage);
    let mut rest = edges.as_slice();
    let mut of_death = Vec::with_capacity(deaths.len());
    for (number, death) in deaths.iter().enumerate() {
        // Edges are sorted by death.
        let (own, others) = rest.split_at(rest.partition_point(|edge| edge.death <= number));
        of_death.push(candidates(graph, death, rules, own, &requests, &capped));
        rest = others;
    }
    let (deaths, of_death) = outlived::carry(graph, runs, rules, deaths, of_death);
    let Standing {
        states,
        lost_touch,
        survived,
        cleared,
    } = *standing;
    let torn_down = torn_down(graph, &deaths);
    let grouping = Grouping {
        graph,
        runs,
        rules,
        deaths: &deaths,
        candidates: &of_death,
        torn_down: &torn_down,
        lost_touch: &lost_touch,
        cleared: &cleared.pods,
    };
    let mut findings = Vec::new();
    let mut from = 0;
    while let Some(first) = deaths.get(from) {
        // Deaths are sorted by (run, attempt).
        let same = |death: &Death| (death.run, death.attempt) == (first.run, first.attempt);
        let to = from
            + deaths
                .iter()
                .skip(from)
                .take_while(|death| same(death))
                .count();
        let state = states
            .iter()
            .find(|(run, _)| *run == first.run)
            .map(|(_, state)| *state);
        let own: Vec<usize> = (from..to)
            .filter(|death| !is_turnover(graph, runs, &deaths, &of_death, &requests, *death, state))
            .collect();
        let is = |death: &usize, so: &dyn Fn(&Death) -> bool| deaths.get(*death).is_some_and(so);
        let own = own.into_iter();
        let own = own.filter(|death| !is(death, &|death| cleared.is_of_completed(death)));
        let (restarts, ended): (Vec<usize>, Vec<usize>) =
            own.partition(|death| is(death, &|death| death.state == DeathState::Restarted));
        let (past, finals): (Vec<usize>, Vec<usize>) = ended
            .into_iter()
            .partition(|death| is(death, &|death| survived.has(death)));
        for outlived in [&restarts, &past] {
            let found = grouping.group(first.run, first.attempt, outlived);
            findings.extend(found.into_iter().map(|finding| Finding {
                recovered: true,
                ..finding
            }));
        }
        // What was cleared away followed what had ended the run, and ended nothing.
        if !finals
            .iter()
            .all(|death| is(death, &|death| cleared.has(death)))
        {
            findings.extend(grouping.group(first.run, first.attempt, &finals));
        }
        from = to;
    }
    for finding in &mut findings {
        let last = runs
            .get(finding.run)
            .map_or(0, |run| run.attempts.len().max(1));
        let state = states
            .iter()
            .find(|(run, _)| *run == finding.run)
            .map(|(_, state)| *state);
        let fails_now = finding.victims.iter().any(|death| {
            let death = deaths.get(*death).filter(|death| {
                matches!(death.state, DeathState::CrashLoop | DeathState::NotReady)
            });
            death.is_some_and(|death| fails_now(graph, death.pod, ends))
        });
        let is_last = survived.is_last(&deaths, finding);
        let replaced = (finding.attempt as usize) < last && !fails_now && !is_last;
        let went_on = replaced || matches!(state, Some(RunState::Completed));
        // What waited, or failed again and again, until it was taken away does so no more.
        let still_bad = finding.victims.iter().any(|death| {
            deaths.get(*death).is_some_and(|death| {
                !matches!(death.state, DeathState::Restarted | DeathState::Died)
                    && death.until.is_none()
            })
        });
        // Nor does an index go on that its Job has given up, or a pod that nobody makes anew, whatever the others do.
        let is_bare = runs
            .get(finding.run)
            .is_some_and(|run| is_of_bare_pods(graph, run));
        let is_given_up = finding
            .victims
            .iter()
            .filter_map(|death| deaths.get(*death))
            .any(|death| {
                let died = death.state == DeathState::Died;
                died && (is_bare || graph.failed_for_good(death.pod))
            });
        let running = matches!(state, Some(RunState::Running)) && !still_bad && !is_given_up;
        let gang = runs.get(finding.run).is_some_and(|run| is_gang(graph, run));
        // Nor is it what is wrong with those that came after it.
        let over = !gang && was_overtaken(graph, &deaths, finding);
        let stale = !finding.victims.is_empty()
            && finding
                .victims
                .iter()
                .filter_map(|death| deaths.get(*death))
                .all(|death| {
                    death.mode == Mode::None
                        && graph
                            .pods
                            .get(death.pod)
                            .is_some_and(|pod| is_stale(graph, pod))
                });
        finding.recovered |= went_on || running || stale || over;
    }
    // What a controller took away of a run that completed, it took away for that.
    findings.retain(|finding| {
        let state = states.iter().find(|(run, _)| *run == finding.run);
        let done = state.is_some_and(|(_, state)| *state == RunState::Completed);
        !(done && finding.candidate.is_none() && finding.victims.is_empty())
    });
    lost_members::mark(graph, runs, &deaths, &lost_touch, &mut findings);
    lost_members::mark_taken(graph, rules, &deaths, &mut findings);
    pass_over_unexplained(graph, runs, &deaths, &torn_down, &mut findings);
    recurrence::mark(graph, runs, &deaths, &mut findings);
    replaced::mark(graph, &deaths, &mut findings);
    unreplaced::mark(graph, runs, &deaths, &mut findings);
    last_straw::mark(graph, runs, rules, &survived, &deaths, &mut findings);
    recreated::mark(graph, runs, &deaths, &mut findings);
    submitter::mark(graph, &deaths, &mut findings);
    waited_for::mark(graph, rules, &deaths, &mut findings);
    waited_for::mark_broken(graph, runs, &states, &deaths, &mut findings);
    Ok(Verdict {
        deaths,
        candidates: of_death,
        findings,
        states,
    })
}

/// Whether all of a finding waited, or failed again and again, until it was taken away, and others of the run ended or wait since.
fn was_overtaken(graph: &EntityGraph, deaths: &[Death], finding: &Finding) -> bool {
    // Of one name there is one pod at a time.
    let renewed = |death: &Death| {
        if !death.goes_on() {
            return None;
        }
        let pod = graph.pods.get(death.pod)?;
        let mut later = graph.pods.iter().filter_map(|other| {
            let is_namesake = (other.namespace, other.name) == (pod.namespace, pod.name);
            let begin = other.known_begin().filter(|_| is_namesake)?;
            (begin > death.time.hi).then_some(begin)
        });
        later.next()
    };
    let over = |death: &Death| {
        if matches!(death.state, DeathState::Restarted | DeathState::Died) {
            return None;
        }
        let until = death.until.filter(|until| *until != Stamp::OPEN);
        until.map(|until| until.hi).or_else(|| renewed(death))
    };
    let victims = finding
        .victims
        .iter()
        .filter_map(|death| deaths.get(*death));
    let Some(last) = victims
        .map(over)
        .collect::<Option<Vec<Nanos>>>()
        .and_then(|all| all.into_iter().max())
    else {
        return false;
    };
    let of_run = |death: &&Death| death.run == finding.run && death.time != Stamp::OPEN;
    deaths
        .iter()
        .filter(of_run)
        .any(|death| death.time.lo > last)
}

/// Pods that a controller deleted, as its Events or the audit log tell, and that had not ended
/// by themselves before.
fn torn_down(graph: &EntityGraph, deaths: &[Death]) -> HashSet<TaskRow> {
    let own = |death: &&Death| death.state == DeathState::Died && death.mode == Mode::Exited;
    let ended: HashSet<TaskRow> = deaths
        .iter()
        .filter(own)
        .filter_map(|death| death.pod)
        .collect();
    let facts = graph.facts.iter();
    facts
        .filter_map(|fact| graph.taken_by_its_controller(fact))
        .filter(|pod| !ended.contains(pod))
        .collect()
}

/// Of pods that do not work as one, those that their own controller took away for no known reason lead over none whose end
/// is explained: the others had gone on.
fn pass_over_unexplained(
    graph: &EntityGraph,
    runs: &[Run],
    deaths: &[Death],
    torn_down: &HashSet<TaskRow>,
    findings: &mut [Finding],
) {
    let explained: HashSet<usize> = findings
        .iter()
        .filter(|one| one.level() >= Level::Supported && !one.recovered)
        .map(|one| one.run)
        .collect();
    for finding in findings {
        let gang = runs.get(finding.run).is_none_or(|run| is_gang(graph, run));
        let is_own_controllers = finding
            .deaths()
            .filter_map(|death| deaths.get(death))
            .all(|death| torn_down.has(death.pod));
        let is_unexplained = finding.level() <= Level::Hypothesis && is_own_controllers;
        if !gang && is_unexplained && explained.contains(&finding.run) {
            finding.recovered = true;
        }
    }
}

/// Pods that a controller of interchangeable pods takes away are no incident:
/// nothing but their controller touched them, and others took their place.
fn is_turnover(
    graph: &EntityGraph,
    runs: &[Run],
    deaths: &[Death],
    candidates: &[Vec<Candidate>],
    requests: &Requests,
    number: usize,
    state: Option<RunState>,
) -> bool {
    let Some(death) = deaths.get(number) else {
        return false;
    };
    let Some(run) = runs.get(death.run) else {
        return false;
    };
    let owned = matches!(run.root, whathappened_core::resolve::Root::Workload(_));
    let unexplained = candidates
        .get(number)
        .is_none_or(|found| found.iter().all(|one| one.level <= Level::Hypothesis));
    owned
        && !is_gang(graph, run)
        && death.mode == Mode::Killed
        && !requests.evicted.has(death.pod)
        && unexplained
        && matches!(state, Some(RunState::Running | RunState::Completed))
}
