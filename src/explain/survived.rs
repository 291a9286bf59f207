//! Ends that a Job had got over before it gave up.
//!
//! A Job makes another pod in the place of one that failed for as long as it puts up with that, and none any more once a failure
//! was one too many, which it finds out within seconds. So whatever is known of an end in whose place another pod started, or of
//! one that came well before the Job gave up and was not one too many, it is not what ended the run.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use whathappened_core::death::{Death, DeathState, RunState};
use whathappened_core::graph::{EntityGraph, Task, TaskRow, Workload, WorkloadRow};
use whathappened_core::lifecycle::Mode;
use whathappened_core::resolve::Run;
use whathappened_core::signals::named;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::gang::Finding;

/// A kubelet has told of an end, and its Job has counted it, within this long.
const COUNTED: Nanos = 15 * SECOND;

/// Who waits for a member that is gone does so for longer, or says that it was gone.
const WAITS: Nanos = 300 * SECOND;

/// What Jobs that gave up had got over before.
pub(super) struct Survived {
    /// Pods whose ends they got over.
    pods: HashSet<TaskRow>,
    /// When the Jobs of which runs gave up.
    gave_up: BTreeMap<usize, Stamp>,
}

/// That a run failed, of which no end is left that explains it.
pub(super) fn gave_up(runs: &[Run], run: usize, at: Stamp) -> Death {
    let attempt = runs.get(run).map_or(1, Run::last_attempt);
    Death::without_end(run, attempt, None, DeathState::Failed, at)
}

/// A Job that gave up.
struct Job<'a> {
    graph: &'a EntityGraph,
    workload: &'a Workload,
    gave_up: Stamp,
    out_of_time: bool,
    /// How its pods ended.
    ends: Vec<&'a Death>,
    successors: Successors,
}

/// Pods that may have started in the place of others, by who made them; those with a number also by that. The latest made
/// come first: of a thousand ends in one minute, each looks at the few that were made after it.
#[derive(Default)]
struct Successors(HashMap<(WorkloadRow, Option<i32>), Vec<Successor>>);

/// A pod that started, and when it was made.
#[derive(Clone, Copy)]
struct Successor {
    begin: Option<Nanos>,
    start: Nanos,
}

impl Successors {
    fn of(graph: &EntityGraph, run: &Run) -> Self {
        let mut found = Self::default();
        for pod in run.pods.iter().filter_map(|pod| graph.pods.get(*pod)) {
            let start = pod.starts.first().copied().or(pod.started);
            let (Some(owner), Some(start)) = (pod.owner, start) else {
                continue;
            };
            let one = Successor {
                begin: pod.known_begin(),
                start: start.lo,
            };
            let own_number = pod.rank.map(|rank| (owner, Some(rank)));
            for place in own_number.into_iter().chain([(owner, None)]) {
                found.0.entry(place).or_default().push(one);
            }
        }
        for of_place in found.0.values_mut() {
            of_place.sort_by_key(|one| (Reverse(one.begin), one.start));
        }
        found
    }

    /// Whether one that was made after some time started in a stretch.
    fn any(
        &self,
        place: (WorkloadRow, Option<i32>),
        made_after: Nanos,
        (after, until): (Nanos, Nanos),
    ) -> bool {
        let of_place = self.0.get(&place).into_iter().flatten();
        of_place
            .take_while(|one| one.begin > Some(made_after))
            .any(|one| one.start > after && one.start <= until)
    }
}

impl Survived {
    pub(super) fn of(
        graph: &EntityGraph,
        runs: &[Run],
        states: &[(usize, RunState)],
        lost_touch: &HashSet<TaskRow>,
        deaths: &[Death],
    ) -> Self {
        let mut found = Self {
            pods: HashSet::new(),
            gave_up: BTreeMap::new(),
        };
        for (number, state) in states {
            let run = runs.get(*number).filter(|_| *state == RunState::Failed);
            let Some(job) = run.and_then(|run| Job::of(graph, (*number, run), deaths)) else {
                continue;
            };
            let over: HashSet<TaskRow> = (job.ends.iter())
                .filter(|death| job.was_replaced(death) || job.was_put_up_with(death))
                .filter_map(|death| death.pod)
                .collect();
            // Who missed that member, or may have waited for it, ended of its end all the same.
            let rest = job.ends.iter().filter(|death| {
                death.mode == Mode::Exited && !over.has(death.pod) && death.exit_code != Some(143)
            });
            let rest: Vec<&Death> = rest.copied().collect();
            let is_missed = |pod: &TaskRow| {
                let death = job.ends.iter().find(|death| death.pod == Some(*pod));
                let waited = |other: &&Death| {
                    lost_touch.has(other.pod)
                        || death.is_none_or(|one| other.time.lo.saturating_sub(one.time.hi) > WAITS)
                };
                !job.out_of_time && !rest.is_empty() && rest.iter().all(waited)
            };
            let over: Vec<TaskRow> = over.iter().filter(|pod| !is_missed(pod)).copied().collect();
            if !over.is_empty() {
                found.pods.extend(over);
                found.gave_up.insert(*number, job.gave_up);
            }
        }
        found
    }

    /// Whether a death was got over.
    pub(super) fn has(&self, death: &Death) -> bool {
        death.state == DeathState::Died && self.pods.has(death.pod)
    }

    /// What is left to explain of a run whose Job got over all ends that are known: that it gave up.
    pub(super) fn add_the_rest(&self, runs: &[Run], deaths: &mut Vec<Death>) {
        let mut added = Vec::new();
        for (run, gave_up) in &self.gave_up {
            let is_left = |death: &&Death| {
                death.run == *run && death.state != DeathState::Restarted && !self.has(death)
            };
            if !deaths.iter().any(|death| is_left(&death)) {
                added.push(self::gave_up(runs, *run, *gave_up));
            }
        }
        if !added.is_empty() {
            deaths.extend(added);
            Death::sort(deaths);
        }
    }

    /// Whether a finding is of what was left when its Job gave up, which nothing followed.
    pub(super) fn is_last(&self, deaths: &[Death], finding: &Finding) -> bool {
        let Some(gave_up) = self.gave_up.get(&finding.run) else {
            return false;
        };
        let mut own = finding.deaths().filter_map(|death| deaths.get(death));
        own.any(|death| {
            let ended = matches!(death.state, DeathState::Died | DeathState::Failed);
            ended && !self.has(death) && death.time.hi >= gave_up.lo.saturating_sub(COUNTED)
        })
    }
}

impl<'a> Job<'a> {
    /// The Job of a run that gave up.
    fn of(
        graph: &'a EntityGraph,
        (number, run): (usize, &'a Run),
        deaths: &'a [Death],
    ) -> Option<Self> {
        let root = run.root.workload()?;
        let workload = graph.workloads.get(root)?;
        if graph.name(workload.kind) != "Job" {
            return None;
        }
        let failures = first_time(graph, run, root, named::K8S_WORKLOAD_BACKOFF_LIMIT);
        let time = first_time(graph, run, root, named::K8S_WORKLOAD_DEADLINE);
        let ended = |death: &&Death| {
            death.run == number && death.state == DeathState::Died && death.time != Stamp::OPEN
        };
        Some(Self {
            graph,
            workload,
            gave_up: failures.or(time)?,
            out_of_time: failures.is_none(),
            ends: deaths.iter().filter(ended).collect(),
            successors: Successors::of(graph, run),
        })
    }

    fn pod(&self, death: &Death) -> Option<&'a Task> {
        self.graph.pods.get(death.pod)
    }

    /// Whether another pod started in the place of one.
    fn was_replaced(&self, death: &Death) -> bool {
        let Some((pod, owner)) = self.pod(death).and_then(|pod| Some((pod, pod.owner?))) else {
            return false;
        };
        let made_after = match pod.rank {
            Some(_) => death.time.lo,
            // Of pods without a number, one that is made once the end was counted.
            None => death.time.hi.saturating_add(CLOCKS),
        };
        let started = (death.time.lo, self.gave_up.hi);
        self.successors.any((owner, pod.rank), made_after, started)
    }

    /// When the last container of a pod had ended.
    fn counted(&self, death: &Death) -> Nanos {
        let pod = self.pod(death);
        let ended = pod
            .and_then(|pod| pod.ended)
            .filter(|ended| *ended != Stamp::OPEN);
        ended.map_or(death.time.hi, |ended| ended.hi.max(death.time.hi))
    }

    /// Whether a pod ended by itself, and its Job gave up later than it does for the end that is one too many, or for its time.
    fn was_put_up_with(&self, death: &Death) -> bool {
        let counts = self.workload.body.as_ref().and_then(|body| body.gave_up);
        let Some(counts) = counts.filter(|_| death.mode == Mode::Exited) else {
            return false;
        };
        let counted = self.counted(death);
        let known = |until: Nanos| {
            let before = self
                .ends
                .iter()
                .filter(|other| self.counted(other) <= until);
            i64::try_from(before.count()).unwrap_or(i64::MAX)
        };
        let since = self.gave_up.lo.saturating_sub(counted);
        // Others were there, and stopped, when its time was up: it was not waiting for this one alone.
        let goes_on = match self.out_of_time {
            true => since > CLOCKS && counts.failed > known(self.gave_up.lo),
            false => since > COUNTED,
        };
        goes_on && known(counted) <= counts.limit
    }
}

/// When the workload of a run first said that it gives up, of what was said after all of its pods began.
fn first_time(
    graph: &EntityGraph,
    run: &Run,
    workload: WorkloadRow,
    signal: &str,
) -> Option<Stamp> {
    let signal = graph.evidence.symbols.find(signal)?;
    let times = graph.facts.iter().filter(|fact| {
        fact.workload == Some(workload) && fact.signal == signal && fact.time != Stamp::OPEN
    });
    let times = times.map(|fact| fact.time);
    times
        .filter(|time| run.is_recorded_since_start(graph, *time))
        .min()
}
