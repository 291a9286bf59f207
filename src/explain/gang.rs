//! From deaths to incidents: the first failure, those it struck, and those that
//! only followed because the gang was torn down.

mod elastic;
mod member;
mod missing;
mod root;
mod silence;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::{EntityGraph, TaskRow};
use whathappened_core::resolve::{Root, Run};
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{Nanos, SECOND};

use super::candidate::Candidate;
use super::rule::Rule;
use crate::answer::Level;

pub(super) use root::is_act;

/// Deaths of a gang within this long of the first belong to its teardown.
const TEARDOWN: Nanos = 900 * SECOND;
/// Who is missed has been missing for at least this long.
const MISSED: Nanos = 60 * SECOND;
/// Whoever gives up a run for a member that does not start has waited for it this long.
const WAITED_LONG: Nanos = 600 * SECOND;

/// As exact as ages are: one in minutes is any second of them. What is less exact tells of no order.
const BLUR: std::ops::Range<Nanos> = 20 * SECOND..3_600 * SECOND;

/// A launcher reports a process that ended, and its container ends, within this long of it.
const REPORTED: Nanos = 10 * SECOND;

/// Kinds whose pods work as one: one dies, the rest follow.
const GANGS: [&str; 19] = [
    "Job",
    "JobSet",
    "LeaderWorkerSet",
    "PyTorchJob",
    "TFJob",
    "MPIJob",
    "XGBoostJob",
    "PaddleJob",
    "JAXJob",
    "TrainJob",
    "RayJob",
    "RayCluster",
    "VolcanoJob",
    "Workflow",
    "PodGroup",
    "Experiment",
    "InstanceGroup",
    "SlurmJob",
    // What several ranks wrote, and nothing else tells of.
    "Gang",
];

/// The run of a finding that is about a machine.
pub const NO_RUN: usize = usize::MAX;

/// Deaths with one root, or a machine's fault without a death.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Number of the run, [`NO_RUN`] for a machine's fault.
    pub run: usize,
    /// The generation of the gang.
    pub attempt: u32,
    /// The root, `None` where nothing explains it.
    pub candidate: Option<Candidate>,
    /// Other roots of the same death, best first.
    pub others: Vec<Candidate>,
    /// Deaths whose times cannot be told apart from the first one's.
    pub first: Vec<usize>,
    /// Deaths with a link of their own to the root, the first among them.
    pub victims: Vec<usize>,
    /// Deaths that followed.
    pub collateral: Vec<usize>,
    /// The run went on after it.
    pub recovered: bool,
    /// It came of another one: pods wait in the place of those that ended.
    pub follows: bool,
}

impl Finding {
    /// All its deaths, the victims first.
    pub fn deaths(&self) -> impl Iterator<Item = usize> + '_ {
        self.victims.iter().chain(&self.collateral).copied()
    }

    /// How well it is proven.
    #[must_use]
    pub fn level(&self) -> Level {
        self.candidate
            .as_ref()
            .map_or(Level::Unknown, |candidate| candidate.level)
    }
}

/// Everything that grouping looks at.
pub struct Grouping<'a> {
    /// What is known.
    pub graph: &'a EntityGraph,
    /// Its runs.
    pub runs: &'a [Run],
    /// The rules.
    pub rules: &'a [Rule],
    /// What there is to explain.
    pub deaths: &'a [Death],
    /// The candidates of each death, best first.
    pub candidates: &'a [Vec<Candidate>],
    /// Pods that their own controller deleted.
    pub torn_down: &'a HashSet<TaskRow>,
    /// Pods whose logs say that they could not reach another member any more.
    pub lost_touch: &'a HashSet<TaskRow>,
    /// Pods that were stopped once their workload had said that it was over.
    pub cleared: &'a HashSet<TaskRow>,
}

impl std::fmt::Debug for Grouping<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grouping")
            .field("deaths", &self.deaths.len())
            .finish_non_exhaustive()
    }
}

/// Whether the pods of a run work as one.
#[must_use]
pub fn is_gang(graph: &EntityGraph, run: &Run) -> bool {
    match run.root {
        Root::Workload(root) => graph
            .workloads
            .get(root)
            .is_some_and(|one| GANGS.contains(&graph.name(one.kind))),
        Root::Pod(_) => false,
    }
}

impl Grouping<'_> {
    /// Groups the deaths of one attempt, given in time order.
    #[must_use]
    pub fn group(&self, run: usize, attempt: u32, deaths: &[usize]) -> Vec<Finding> {
        let gang = self
            .runs
            .get(run)
            .is_some_and(|run| is_gang(self.graph, run));
        // Who goes on is told of only where the others are known to have waited for it.
        let (mut lingering, mut left): (Vec<usize>, Vec<usize>) = deaths
            .iter()
            .copied()
            .partition(|death| self.state(*death) == Some(DeathState::Lingering));
        // A pod that is merely not well, for no known reason, explains nothing; nor does one that
        // still waits for its start explain why another broke.
        let broke = gang && left.iter().any(|death| self.broke(*death));
        let by_itself = gang
            && left
                .iter()
                .any(|death| self.broke(*death) && self.exited(*death));
        // Who is taken away by the controller follows who ended otherwise, if only by some seconds.
        let unasked = gang
            && left.iter().any(|death| {
                self.state(*death) == Some(DeathState::Died) && !self.is_torn_down(*death)
            });
        // Who was taken away by a person soon after another began to wait was not given up for it.
        let by_user = |death: usize| {
            let best = self.best(death);
            let root = best.and_then(|best| self.graph.facts.get(best.root()));
            let signal = root.map_or("", |root| self.graph.name(root.signal));
            self.was_taken(death) && self.ran(death) && signal.contains("_by_user")
        };
        let taken: Vec<usize> = left
            .iter()
            .copied()
            .filter(|death| gang && by_user(*death))
            .collect();
        let barely_waited = |death: usize| {
            let waited = |taken: &usize| {
                let is_other = self.pod(*taken) != self.pod(death);
                is_other && self.time(*taken).saturating_sub(self.time(death)) < WAITED_LONG
            };
            self.waits(death) && taken.iter().any(waited)
        };
        // Whoever ended for an act or a fault of its own was not given up for one that waited; the controller of a plain Job
        // gives up nobody for that.
        let gives_up = !self.is_plain_job(run);
        let was_ended = gang && left.iter().any(|death| self.ended_apart(*death, gives_up));
        let later = |death: usize| {
            let cleared = self.is_torn_down(death) && self.best(death).is_none();
            self.is_vague(death)
                || self.is_cleared(death)
                || (broke || unasked) && cleared
                || (by_itself || was_ended) && self.waits(death)
                || barely_waited(death)
        };
        let ended: HashSet<TaskRow> = left
            .iter()
            .filter(|death| self.state(**death) == Some(DeathState::Died))
            .filter_map(|death| self.pod(*death))
            .collect();
        left.sort_by_key(|death| (later(*death), self.time(*death), *death));
        let mut found = Vec::new();
        while let Some(first) = left.first().copied() {
            let together: Vec<usize> = left
                .iter()
                .copied()
                .filter(|other| self.stamp(*other).overlaps(self.stamp(first)))
                .filter(|other| *other == first || !self.is_cleared(*other))
                .collect();
            // Who says that another one was gone is not the one.
            let silent = gang && together.iter().any(|death| self.ended_silently(*death));
            // Nor is it who missed one that an error of its own code had ended, whatever became of the others then.
            let own = gang && together.iter().any(|death| self.ended_of_its_own(*death));
            let echoes = |death: usize| {
                let missed = own && !self.ended_of_its_own(death);
                self.lost_touch(death) && (missed || silent && self.is_symptom(death))
            };
            // Of one that was found to be lost only when it had been taken away, nobody knows when that was: who ended
            // for a reason of its own meanwhile had no need of that.
            let lost =
                |death: usize| self.was_lost(death) && self.stamp(death).width() >= BLUR.start;
            let is_any_lost = gang && together.iter().any(|death| lost(*death));
            let others_reason = |death: usize| is_any_lost && !self.had_own_reason(death);
            // Whom nobody known took away, at a time that is known to a minute, was not first for sure beside one that ended by itself.
            let by_itself = gang && together.iter().any(|death| self.ended_silently(*death));
            let nobodys = |death: usize| {
                by_itself
                    && self.stamp(death).width() >= BLUR.start
                    && self.best(death).is_some_and(|best| self.is_of_nobody(best))
            };
            // What a launcher's own log tells of is a member's end.
            let launchers = match gang && together.len() > 1 {
                true => self.launchers_logs(&together),
                false => HashSet::new(),
            };
            let primary = together
                .iter()
                .copied()
                .min_by(|a, b| {
                    let echoes = echoes(*a).cmp(&echoes(*b));
                    let others = others_reason(*a).cmp(&others_reason(*b));
                    let by_launcher = launchers.contains(a).cmp(&launchers.contains(b));
                    let nobodys = nobodys(*a).cmp(&nobodys(*b));
                    let own = echoes.then(others).then(by_launcher).then(nobodys);
                    own.then_with(|| self.compare(*a, *b))
                })
                .unwrap_or(first);
            let others = left.iter().chain(&lingering).copied();
            let before = gang.then(|| self.broke_before(primary, others)).flatten();
            let (primary, start) = before.unwrap_or((primary, self.time(primary)));
            // Who was gone with its machine by then is found to be later.
            let gone = gang.then(|| self.gone_before(primary, &left)).flatten();
            let (primary, start) = gone.unwrap_or((primary, start));
            if lingering.contains(&primary) {
                left.push(primary);
                lingering.clear();
            }
            let mut candidate = self.best(primary).cloned();
            // Of one whose end nobody saw, an act after another's known end was for what was left of the run.
            if gang && self.was_for_the_rest(primary, &left) {
                candidate = None;
            }
            // Who ended with a code of its own while this one waited may have done so for a reason
            // that no record holds.
            if let Some(known) = candidate.as_mut()
                && gang
                && self.waits(primary)
                && left.iter().any(|death| self.ended_unexplained(*death))
            {
                known.level = known.level.min(Level::Hypothesis);
            }
            // Somebody took one member away in the very moment in which another ended by itself: which
            // was first nobody knows.
            if let Some(known) = candidate.as_mut()
                && gang
                && is_act(known)
                && together.iter().any(|other| {
                    *other != primary
                        && self.ended_silently(*other)
                        && !self.same_root(known, primary, *other)
                })
            {
                known.level = known.level.min(Level::Hypothesis);
            }
            // A controller deletes what is left of a gang when another member has failed:
            // who failed first is not among those that are known.
            if gang && candidate.is_none() && left.iter().all(|death| self.is_torn_down(*death)) {
                found.push(Finding {
                    run,
                    attempt,
                    candidate,
                    others: Vec::new(),
                    first: Vec::new(),
                    victims: Vec::new(),
                    collateral: std::mem::take(&mut left),
                    recovered: false,
                    follows: broke,
                });
                break;
            }
            let victims: Vec<usize> = left
                .iter()
                .copied()
                .filter(|other| {
                    *other == primary
                        || !self.is_cleared(*other)
                            && candidate
                                .as_ref()
                                .is_some_and(|root| self.same_root(root, primary, *other))
                })
                .collect();
            // Of a gang of ten thousand, looking each up in a list takes longer than all the rest.
            let mut of_this: HashSet<usize> = victims.iter().copied().collect();
            // Of those that one root struck within a moment any may have been the first, whom the others followed.
            let struck = together.iter().filter(|death| of_this.contains(*death));
            let start = struck
                .map(|death| self.time(*death))
                .fold(start, Nanos::min);
            let collateral: Vec<usize> = if gang {
                left.iter()
                    .copied()
                    .filter(|other| {
                        !of_this.contains(other) && self.followed(primary, start, *other)
                    })
                    .collect()
            } else {
                self.cleared_after(primary, &left)
            };
            of_this.extend(&collateral);
            left.retain(|other| !of_this.contains(other));
            // Who waited, and was taken away since, is not what went on.
            let rest: Vec<usize> = left
                .iter()
                .copied()
                .filter(|death| !self.waits(*death) || !ended.has(self.pod(*death)))
                .collect();
            // What went on after it had been made smaller, and then failed, did not fail of that.
            let trimmed = !rest.is_empty() && self.was_trimmed(primary);
            // Nor did a Job whose time was up while it had tries left fail of the one that it was to try again.
            let retried = self.was_retried(primary, &rest);
            let outlived = gang && self.went_on_without(primary, &rest);
            if let Some(known) = candidate.as_mut()
                && gang
                && (self.were_taken_later(primary, &left)
                    || self.broke_as_early(primary, &collateral)
                    || self.failed_later(primary, &collateral)
                    || self.failed_later(primary, &left)
                    || self.may_be_gone_before(primary, &collateral))
            {
                known.level = known.level.min(Level::Hypothesis);
            }
            let earliest = victims
                .iter()
                .map(|death| self.stamp(*death))
                .min()
                .unwrap_or(self.stamp(primary));
            // Of ends that are known by their ages alone, any may have been the first. Who fell silent was missed
            // by the others before they ended.
            let blurred =
                BLUR.contains(&earliest.hi.saturating_sub(earliest.lo)) && !self.was_lost(primary);
            let as_early = |death: &&usize| {
                let blurred = blurred && !self.lost_touch(**death) && !self.is_torn_down(**death);
                blurred || self.ended_alike(primary, **death)
            };
            let first = victims
                .iter()
                .chain(collateral.iter().filter(as_early))
                .copied()
                .filter(|death| self.stamp(*death).overlaps(earliest))
                .collect();
            let others = self
                .candidates
                .get(primary)
                .map_or(&[][..], Vec::as_slice)
                .iter()
                .skip(1)
                .cloned()
                .collect();
            found.push(Finding {
                run,
                attempt,
                candidate,
                others,
                first,
                victims,
                collateral,
                recovered: trimmed || retried || outlived,
                follows: (broke || was_ended) && later(primary),
            });
        }
        found
    }

    /// Of pods that do not work as one, those that were cleared away with what owned them: they followed its end, the last of
    /// those that were not.
    fn cleared_after(&self, primary: usize, left: &[usize]) -> Vec<usize> {
        let (cleared, others): (Vec<usize>, Vec<usize>) =
            left.iter().partition(|death| self.is_cleared(**death));
        match others.as_slice() {
            [last] if *last == primary => cleared,
            _ => Vec::new(),
        }
    }

    /// The member that broke before the first one ended, and when, where that one's end
    /// shows no more than that another was missing: containers end in the order in which
    /// they give up waiting and are stopped, which is not the order in which they fail.
    fn broke_before(
        &self,
        first: usize,
        others: impl Iterator<Item = usize>,
    ) -> Option<(usize, Nanos)> {
        if !self.is_symptom(first) {
            return None;
        }
        let end = self.stamp(first);
        let others: Vec<usize> = others
            .filter(|other| *other != first && self.time(*other) >= end.lo)
            .filter(|other| self.time(*other).saturating_sub(end.lo) <= TEARDOWN)
            .collect();
        let broke = others.iter().filter_map(|other| {
            let other = *other;
            let best = self.best(other)?;
            let root = self.graph.facts.get(best.root())?;
            let proven = best.level >= Level::Supported && !self.is_symptom(other);
            // Who goes on while the others have given up says by that who was missing.
            let lingers = self.state(other) == Some(DeathState::Lingering)
                && !self.is_hang(other)
                && root.time.lo.saturating_add(MISSED) <= end.lo;
            // Who fell silent is found to be later than who lost touch with them, and the end of
            // a process is reported once its container has ended.
            let before = root.time.lo <= end.lo;
            let is_near = || self.time(other).saturating_sub(end.lo) <= REPORTED;
            let unheard = || {
                !before
                    && proven
                    && self.lost_touch(first)
                    && (self.began(best) <= end.lo || self.ended_silently(other) && is_near())
            };
            let missed = || before && self.may_be_missed(first, other);
            ((proven || lingers) && before || unheard() || missed())
                .then_some((other, root.time.lo.min(end.lo)))
        });
        broke
            .min_by_key(|(other, broke)| (*broke, *other))
            .or_else(|| self.gave_up_before(first, &others))
    }

    /// Of deaths at one time the best explained is the first; a symptom explains least.
    fn compare(&self, a: usize, b: usize) -> std::cmp::Ordering {
        let key = |death: usize| {
            let best = self.best(death);
            (
                std::cmp::Reverse(best.map_or(Level::Unknown, |best| best.level)),
                best.is_some_and(|best| self.is_of_nobody(best)),
                // Who is cleared away follows who ended otherwise, if nobody saw when and how.
                best.is_none() && self.is_torn_down(death),
                std::cmp::Reverse(
                    best.and_then(|best| self.rules.get(best.rule))
                        .map_or(i64::MIN, |rule| rule.rank),
                ),
                self.stamp(death).hi,
                death,
            )
        };
        key(a).cmp(&key(b))
    }
}
