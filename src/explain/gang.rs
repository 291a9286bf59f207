//! From deaths to incidents: the first failure, those it struck, and those that
//! only followed because the gang was torn down.

use std::collections::HashSet;

use whathappened_core::death::Death;
use whathappened_core::graph::{EntityGraph, NO, Task, TaskKind};
use whathappened_core::lifecycle::Mode;
use whathappened_core::resolve::{Root, Run};
use whathappened_model::time::{Nanos, SECOND};

use super::bounds::CLOCKS;
use super::candidate::Candidate;
use super::edge::Role;
use super::rule::Rule;
use crate::answer::Level;

/// Deaths of a gang within this long of the first belong to its teardown.
const TEARDOWN: Nanos = 900 * SECOND;
/// Who is missed has been missing for at least this long.
const MISSED: Nanos = 60 * SECOND;
/// Acts of one actor within this long are one act.
const ONE_ACT: Nanos = 600 * SECOND;

/// Whoever gives up a run for a member that does not start has waited for it this long.
const WAITED_LONG: Nanos = 600 * SECOND;

/// As exact as ages are: one in minutes is any second of them. What is less exact tells of no order.
const BLUR: std::ops::Range<Nanos> = 20 * SECOND..3_600 * SECOND;

/// Nobody looks at a run, and acts, within this long of what happened to it.
const IN_HASTE: Nanos = 15 * SECOND;

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
    /// Deaths with a tie of their own to the root, the first among them.
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
    /// The world.
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
    pub torn_down: &'a HashSet<u32>,
    /// Pods whose logs say that they could not reach another member any more.
    pub lost_touch: &'a HashSet<u32>,
}

/// Pods whose logs say that they could not reach another member of their gang any more.
#[must_use]
pub fn lost_touch(graph: &EntityGraph) -> HashSet<u32> {
    const SAID: [&str; 7] = [
        "gloo.",
        "jax.peer_died",
        "mpi.",
        "nccl.",
        "ray.actor_died",
        "rendezvous.",
        "ucx.",
    ];
    let says = |signal: &str| SAID.iter().any(|stem| signal.starts_with(stem));
    graph
        .facts
        .iter()
        .filter(|fact| fact.pod != NO && says(graph.name(fact.signal)))
        .map(|fact| fact.pod)
        .collect()
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
            .get(root as usize)
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
            .partition(|death| self.state(*death) == "lingering");
        // A pod that is merely not well, for no known reason, explains nothing; nor does one that
        // still waits for its start explain why another broke.
        let broke = gang && left.iter().any(|death| self.broke(*death));
        let by_itself = gang
            && left
                .iter()
                .any(|death| self.broke(*death) && self.exited(*death));
        // Who is taken away by the controller follows who ended otherwise, if only by some seconds.
        let unasked = gang
            && left
                .iter()
                .any(|death| self.state(*death) == "died" && !self.is_torn_down(*death));
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
        let later = |death: usize| {
            let cleared = self.is_torn_down(death) && self.best(death).is_none();
            self.is_vague(death)
                || (broke || unasked) && cleared
                || by_itself && self.waits(death)
                || barely_waited(death)
        };
        left.sort_by_key(|death| (later(*death), self.time(*death), *death));
        let mut found = Vec::new();
        while let Some(first) = left.first().copied() {
            let together: Vec<usize> = left
                .iter()
                .copied()
                .filter(|other| self.stamp(*other).overlaps(self.stamp(first)))
                .collect();
            // Who says that another one was gone is not the one.
            let silent = gang && together.iter().any(|death| self.ended_silently(*death));
            let echoes = |death: usize| silent && self.lost_touch(death) && self.is_symptom(death);
            let primary = together
                .iter()
                .copied()
                .min_by(|a, b| {
                    let echoes = echoes(*a).cmp(&echoes(*b));
                    echoes.then_with(|| self.compare(*a, *b))
                })
                .unwrap_or(first);
            let others = left.iter().chain(&lingering).copied();
            let before = gang.then(|| self.broke_before(primary, others)).flatten();
            let (primary, start) = before.unwrap_or((primary, self.time(primary)));
            if lingering.contains(&primary) {
                left.push(primary);
                lingering.clear();
            }
            let mut candidate = self.best(primary).cloned();
            // Who ended with a code of its own while this one waited may have done so for a reason
            // that no record holds.
            if let Some(known) = candidate.as_mut()
                && gang
                && self.waits(primary)
                && left.iter().any(|death| self.ended_untold(*death))
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
                        || candidate
                            .as_ref()
                            .is_some_and(|root| self.same_root(root, primary, *other))
                })
                .collect();
            let collateral: Vec<usize> = if gang {
                left.iter()
                    .copied()
                    .filter(|other| {
                        !victims.contains(other) && self.followed(primary, start, *other)
                    })
                    .collect()
            } else {
                Vec::new()
            };
            left.retain(|other| !victims.contains(other) && !collateral.contains(other));
            // What went on after it had been made smaller, and then failed, did not fail of that.
            let trimmed = !left.is_empty() && self.was_trimmed(primary);
            // Nor did a Job whose time was up while it had tries left fail of the one that it was to try again.
            let retried = self.was_retried(primary, &left);
            let earliest = victims
                .iter()
                .map(|death| self.stamp(*death))
                .min()
                .unwrap_or(self.stamp(primary));
            // Of ends that are known by their ages alone, any may have been the first.
            let blurred = BLUR.contains(&earliest.hi.saturating_sub(earliest.lo));
            let as_early = |death: &&usize| {
                blurred && !self.lost_touch(**death) && !self.is_torn_down(**death)
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
                recovered: trimmed || retried,
                follows: broke && later(primary),
            });
        }
        found
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
        others
            .filter(|other| *other != first && self.time(*other) >= end.lo)
            .filter(|other| self.time(*other).saturating_sub(end.lo) <= TEARDOWN)
            .filter_map(|other| {
                let best = self.best(other)?;
                let root = self.graph.facts.get(best.root())?;
                let proven = best.level >= Level::Supported && !self.is_symptom(other);
                // Who goes on while the others have given up says by that who was missing.
                let lingers = self.state(other) == "lingering"
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
                        && (root.onset <= end.lo || self.ended_silently(other) && is_near())
                };
                ((proven || lingers) && before || unheard())
                    .then_some((other, root.time.lo.min(end.lo)))
            })
            .min_by_key(|(other, broke)| (*broke, *other))
    }

    /// Whether a member was ended by somebody's act that a record shows.
    fn was_taken(&self, death: usize) -> bool {
        let killed = |one: &Death| one.state == "died" && one.mode == Mode::Killed;
        self.deaths.get(death).is_some_and(killed)
            && self
                .best(death)
                .is_some_and(|best| best.level >= Level::Supported && begins_with_act(best))
    }

    fn pod(&self, death: usize) -> u32 {
        self.deaths.get(death).map_or(NO, |death| death.pod)
    }

    /// Whether a member had started.
    fn ran(&self, death: usize) -> bool {
        let pod = self.graph.pods.get(self.pod(death) as usize);
        pod.is_some_and(|pod| pod.started.is_some())
    }

    /// Whether a member waits for its start.
    fn waits(&self, death: usize) -> bool {
        matches!(
            self.state(death),
            "never_scheduled" | "stuck_starting" | "never_created" | "not_ready"
        )
    }

    /// Whether a member ended, and for a reason other than that somebody else was missing.
    fn broke(&self, death: usize) -> bool {
        let ended = matches!(self.state(death), "died" | "crash_loop" | "restarted");
        ended && !self.is_symptom(death)
    }

    /// Whether a member ended by itself, and nothing but its exit code is known.
    fn ended_untold(&self, death: usize) -> bool {
        let one = self.deaths.get(death);
        let by_itself = one.is_some_and(|one| one.state == "died" && one.mode == Mode::Exited);
        let untold = self.best(death).is_none_or(|best| {
            let cause = self.rules.get(best.rule).map(|rule| rule.cause.as_str());
            best.level <= Level::Hypothesis && cause == Some("code.exception")
        });
        by_itself && untold
    }

    /// Whether a member was taken away because its run was made smaller, and not stopped.
    fn was_trimmed(&self, death: usize) -> bool {
        let cause = self.best(death).and_then(|best| self.rules.get(best.rule));
        let changed = cause.is_some_and(|rule| rule.cause == "ops.config_change");
        let run = self
            .deaths
            .get(death)
            .and_then(|one| self.runs.get(one.run));
        let wanted = run.and_then(|run| match run.root {
            Root::Workload(root) => {
                let root = self.graph.workloads.get(root as usize)?;
                root.body.as_ref()?.replicas
            }
            Root::Pod(_) => None,
        });
        changed && wanted.is_some_and(|wanted| wanted > 0)
    }

    /// Whether a member of a Job failed, and what stopped the others was that the Job's time was up: it would have tried
    /// that member again.
    fn was_retried(&self, primary: usize, others: &[usize]) -> bool {
        self.exited(primary)
            && !self.is_out_of_time(primary)
            && others.iter().any(|other| self.is_out_of_time(*other))
    }

    /// Whether a member was stopped because its Job's time was up; a batch system also stops those who wait in vain.
    fn is_out_of_time(&self, death: usize) -> bool {
        let root = self.best(death).map(Candidate::root);
        let root = root.and_then(|root| self.graph.facts.get(root));
        root.is_some_and(|root| {
            let job = self.graph.workloads.get(root.workload as usize);
            self.graph.name(root.signal) == "k8s.workload.deadline"
                && job.is_some_and(|job| self.graph.name(job.kind) == "Job")
        })
    }

    /// Whether a member says that it could not reach another any more.
    fn lost_touch(&self, death: usize) -> bool {
        self.lost_touch.contains(&self.pod(death))
    }

    /// Whether a member's own process ended badly, nobody asked it to, and it misses none of the
    /// others.
    fn ended_silently(&self, death: usize) -> bool {
        let one = self.deaths.get(death);
        let code = one.and_then(|death| death.exit_code);
        // No log says with what its program ended.
        let task = one.and_then(|death| self.graph.pods.get(death.pod as usize));
        let is_log = task.is_some_and(|task| task.kind == TaskKind::Log);
        self.exited(death)
            && code.map_or(is_log, |code| !matches!(code, 0 | 143))
            && !self.is_torn_down(death)
            && !self.lost_touch(death)
    }

    /// Whether a member's own process ended: whoever takes a run away takes what waits with it.
    fn exited(&self, death: usize) -> bool {
        let one = self.deaths.get(death);
        one.is_some_and(|one| one.mode == Mode::Exited)
    }

    fn state(&self, death: usize) -> &'static str {
        self.deaths.get(death).map_or("", |death| death.state)
    }

    /// Whether all that is known of it is that it waited.
    fn is_hang(&self, death: usize) -> bool {
        self.best(death).is_none_or(|best| {
            let rule = self.rules.get(best.rule);
            rule.is_none_or(|rule| rule.cause.starts_with("hang."))
        })
    }

    /// Whether what is known of a death is what the end of another member looks like.
    fn is_symptom(&self, death: usize) -> bool {
        self.best(death).is_none_or(|best| {
            let rule = self.rules.get(best.rule);
            let cause = rule.map_or("", |rule| rule.cause.as_str());
            // Who cannot reach another rank says the same as who cannot reach a service.
            best.level <= Level::Hypothesis || cause.starts_with("hang.") || cause == "dep.service"
        })
    }

    fn stamp(&self, death: usize) -> whathappened_model::time::Stamp {
        self.deaths
            .get(death)
            .map_or(whathappened_model::time::Stamp::OPEN, |death| death.time)
    }

    fn time(&self, death: usize) -> Nanos {
        self.stamp(death).lo
    }

    fn best(&self, death: usize) -> Option<&Candidate> {
        self.candidates.get(death)?.first()
    }

    fn is_torn_down(&self, death: usize) -> bool {
        let death = self.deaths.get(death);
        death.is_some_and(|death| death.state == "died" && self.torn_down.contains(&death.pod))
    }

    fn is_vague(&self, death: usize) -> bool {
        !matches!(self.state(death), "died" | "crash_loop" | "restarted")
            && self.best(death).is_none()
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

    /// Whether all that is known is that somebody, who is not, asked for the end: so does whoever
    /// takes away what is left.
    fn is_of_nobody(&self, root: &Candidate) -> bool {
        let rule = self.rules.get(root.rule);
        let act = self.graph.facts.get(root.root());
        root.level <= Level::Hypothesis
            && rule.is_some_and(|rule| rule.cause == "ops.manual_delete")
            && act.is_some_and(|act| {
                // A kubelet obeys, whoever asked.
                !act.actor.is_some() || self.graph.name(act.signal) == "k8s.container.killing"
            })
    }

    /// Whether a death has a tie of its own to the same root.
    fn same_root(&self, root: &Candidate, primary: usize, death: usize) -> bool {
        let cause = |candidate: &Candidate| {
            self.rules
                .get(candidate.rule)
                .map(|rule| rule.cause.as_str())
        };
        let own = self.candidates.get(death).into_iter().flatten();
        let Some(own) = own
            .filter(|own| own.level > Level::Hypothesis || root.level == Level::Hypothesis)
            .find(|own| cause(own) == cause(root))
        else {
            return false;
        };
        // A weaker tie of its own must not hide a stronger other root.
        if self
            .best(death)
            .is_some_and(|best| cause(best) != cause(root) && best.level > own.level)
        {
            return false;
        }
        let (Some(a), Some(b)) = (
            self.graph.facts.get(root.root()),
            self.graph.facts.get(own.root()),
        ) else {
            return false;
        };
        let best = self.best(death);
        let other_hand = |best: &Candidate| self.is_of_other_hand(root, best);
        if self.is_of_other_hand(root, own)
            || best.is_some_and(|best| best.level >= own.level && other_hand(best))
        {
            return false;
        }
        let near = a.time.lo.saturating_sub(b.time.lo).saturating_abs() <= ONE_ACT;
        let same_actor = a.actor == b.actor && is_act(root) && is_act(own);
        let same_node = a.node.is_some() && a.node == b.node && self.graph.is_of_machine(a);
        let same_detail = a.detail == b.detail
            && self.deaths.get(primary).map(|one| one.state)
                == self.deaths.get(death).map(|one| one.state);
        let at_once = self.stamp(primary).overlaps(self.stamp(death));
        // An exception of its own at another time is the echo of the first one.
        let echoes = matches!(
            cause(root),
            Some("code.exception" | "hang.collective_timeout")
        );
        root.root() == own.root()
            || (near && (at_once || (!echoes && (same_actor || same_node || same_detail))))
    }

    /// Whether two roots are acts of two that are known.
    fn is_of_other_hand(&self, one: &Candidate, other: &Candidate) -> bool {
        let actor = |candidate: &Candidate| {
            let fact = self.graph.facts.get(candidate.root())?;
            Some(fact.actor).filter(|actor| actor.is_some() && is_act(candidate))
        };
        matches!((actor(one), actor(other)), (Some(one), Some(other)) if one != other)
    }

    /// Whether somebody whom a record names asked for a member's end, and had not brought about the
    /// other's.
    fn is_of_own_hand(&self, root: &Candidate, own: &Candidate) -> bool {
        let deed = self.graph.facts.get(own.root());
        let named = deed.is_some_and(|deed| deed.actor.is_some());
        is_act(own) && named && !is_act(root)
    }

    /// Whether a member met an end of its own just after another: somebody else had asked for it
    /// before anybody can have looked at what the first one did, or it was at its limit of memory.
    fn is_unmoved(&self, primary: usize, death: usize, after: Nanos) -> bool {
        let (Some(root), Some(own)) = (self.best(primary), self.best(death)) else {
            return false;
        };
        // Who is asked to stop may need more memory to save its work.
        let at_limit = || {
            self.deaths.get(death).is_some_and(|one| {
                let pod = self.graph.pods.get(one.pod as usize);
                let asked = pod.and_then(Task::first_asked);
                self.graph.name(one.reason) == "OOMKilled"
                    && asked.is_none_or(|asked| asked.lo > one.time.hi)
            })
        };
        own.level >= Level::Supported
            && root.root() != own.root()
            && after <= IN_HASTE
            && (self.is_of_other_hand(root, own) || self.is_of_own_hand(root, own) || at_limit())
    }

    /// When a pod was made in the place of one that died.
    fn replaced_at(&self, death: usize) -> Option<Nanos> {
        let death = self.deaths.get(death)?;
        let rank = self.graph.pods.get(death.pod as usize)?.rank?;
        let later = self
            .runs
            .get(death.run)?
            .attempts
            .get(death.attempt as usize)?;
        let pods = later.pods.iter();
        pods.filter_map(|pod| self.graph.pods.get(*pod as usize))
            .filter(|pod| pod.rank == Some(rank))
            .filter_map(Task::known_begin)
            .min()
    }

    /// Whether a death belongs to the teardown of a gang whose first one died at `start`.
    fn followed(&self, primary: usize, start: Nanos, death: usize) -> bool {
        let Some(one) = self.deaths.get(death) else {
            return false;
        };
        if !matches!(one.state, "died" | "crash_loop" | "restarted") {
            return false;
        }
        let own_cause = self
            .best(death)
            .is_some_and(|best| best.level >= Level::Supported);
        let after = one.time.lo.saturating_sub(start);
        // Where another had taken the place of the first, who fails then of its own fault does not
        // follow it.
        let of_its_own = own_cause
            && !self.is_symptom(death)
            && (self
                .replaced_at(primary)
                .is_some_and(|made| made.saturating_add(CLOCKS) < one.time.lo)
                || self.was_trimmed(primary) && after > CLOCKS);
        let unmoved = self.is_unmoved(primary, death, after);
        let by_somebody = self.waits(primary) && self.was_taken(death);
        let out_of_time = self.exited(primary) && self.is_out_of_time(death);
        let apart = of_its_own || unmoved || by_somebody || out_of_time;
        one.time.hi > start && (after <= TEARDOWN || !own_cause) && !apart
    }
}

/// Whether the root itself is an act, and not a fault that something acted upon.
fn begins_with_act(candidate: &Candidate) -> bool {
    candidate
        .path
        .first()
        .is_some_and(|step| step.role == Role::Act)
}

/// Whether a root is somebody's act.
#[must_use]
pub(super) fn is_act(candidate: &Candidate) -> bool {
    candidate.path.iter().any(|step| step.role == Role::Act)
}
