//! What is known of one member's end.

use std::collections::HashSet;

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::{Task, TaskKind, TaskRow, Workload};
use whathappened_core::lifecycle::Mode;
use whathappened_core::resolve::Root;
use whathappened_core::signals::named;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{CLOCKS, Nanos, Stamp};

use super::{BLUR, Grouping};
use crate::answer::Level;
use crate::explain::candidate::Candidate;
use crate::explain::edge::Role;

impl Grouping<'_> {
    /// Whether a member was ended by somebody's act that a record shows.
    pub(super) fn was_taken(&self, death: usize) -> bool {
        let killed = |one: &Death| one.state == DeathState::Died && one.mode == Mode::Killed;
        self.deaths.get(death).is_some_and(killed)
            && self
                .best(death)
                .is_some_and(|best| best.level >= Level::Supported && begins_with_act(best))
    }

    /// Whether all that is known of a member's end is that somebody acted at some time after it was last known to be there, which
    /// another had not lived to see.
    pub(super) fn was_for_the_rest(&self, death: usize, others: &[usize]) -> bool {
        let best = self.best(death);
        let guess = best.filter(|best| best.level <= Level::Hypothesis && begins_with_act(best));
        let Some(act) = guess.and_then(|best| self.graph.facts.get(best.root())) else {
            return false;
        };
        let is_vague = |death: usize| self.stamp(death).width() >= BLUR.start;
        let was_over = |other: &usize| {
            self.state(*other) == Some(DeathState::Died)
                && !is_vague(*other)
                && self.stamp(*other).hi.saturating_add(CLOCKS) < act.time.lo
        };
        self.state(death) == Some(DeathState::Died)
            && is_vague(death)
            && others.iter().any(was_over)
    }

    pub(super) fn pod(&self, death: usize) -> Option<TaskRow> {
        self.deaths.get(death)?.pod
    }

    /// Whether a member had started.
    pub(super) fn ran(&self, death: usize) -> bool {
        let pod = self.graph.pods.get(self.pod(death));
        pod.is_some_and(|pod| pod.started.is_some())
    }

    /// The workload at the root of a run.
    fn root_workload(&self, run: usize) -> Option<&Workload> {
        match self.runs.get(run)?.root {
            Root::Workload(root) => self.graph.workloads.get(root),
            Root::Pod(_) => None,
        }
    }

    /// Whether the root of a run is a Job of Kubernetes' own.
    pub(super) fn is_plain_job(&self, run: usize) -> bool {
        let root = self.root_workload(run);
        root.is_some_and(|root| self.graph.name(root.kind) == "Job")
    }

    /// Whether a member that ran was ended by somebody, or with its machine, and not by its own controller: where that may give
    /// up those that ran for one that waits, only what is proven to have another reason.
    pub(super) fn ended_apart(&self, death: usize, gives_up: bool) -> bool {
        let cause = self.best(death).and_then(|best| {
            let rule = self.rules.get(best.rule)?;
            Some((best.level, rule.cause.as_str()))
        });
        let waited = cause.is_some_and(|(_, cause)| {
            cause == "code.deadline" || cause.starts_with("sched.") || cause.starts_with("hang.")
        });
        let proven = cause.is_some_and(|(level, _)| level >= Level::Supported);
        self.state(death) == Some(DeathState::Died)
            && !self.exited(death)
            && self.ran(death)
            && !self.is_torn_down(death)
            && !waited
            && (proven || !gives_up)
    }

    /// Whether a member waits for its start.
    pub(super) fn waits(&self, death: usize) -> bool {
        matches!(
            self.state(death),
            Some(
                DeathState::NeverScheduled
                    | DeathState::StuckStarting
                    | DeathState::NeverCreated
                    | DeathState::NotReady
            )
        )
    }

    /// Whether a member ended, and for a reason other than that somebody else was missing.
    pub(super) fn broke(&self, death: usize) -> bool {
        let ended = matches!(
            self.state(death),
            Some(DeathState::Died | DeathState::CrashLoop | DeathState::Restarted)
        );
        ended && !self.is_symptom(death)
    }

    /// Whether a member ended by itself, and nothing but its exit code is known.
    pub(super) fn ended_unexplained(&self, death: usize) -> bool {
        let one = self.deaths.get(death);
        let by_itself =
            one.is_some_and(|one| one.state == DeathState::Died && one.mode == Mode::Exited);
        let unexplained = self.best(death).is_none_or(|best| {
            let cause = self.rules.get(best.rule).map(|rule| rule.cause.as_str());
            best.level <= Level::Hypothesis && cause == Some("code.exception")
        });
        by_itself && unexplained
    }

    /// Whether a member ended by itself in the very second in which somebody took another one away, or its kubelet had
    /// nothing to stop when both were taken: which of them went first nobody knows.
    pub(super) fn broke_as_early(&self, taken: usize, others: &[usize]) -> bool {
        let end = self.stamp(taken);
        let stopped = |death: usize| {
            let pod = self.graph.pods.get(self.pod(death));
            pod.is_some_and(|pod| pod.stopped.is_some() || !pod.exits.is_empty())
        };
        let had_nothing = |other: usize| {
            let one = self.deaths.get(other);
            stopped(taken)
                && one.is_some_and(|one| one.state == DeathState::Died && one.mode == Mode::Killed)
                && !stopped(other)
        };
        let alike = |other: &usize| {
            (self.ended_unexplained(*other) && !self.lost_touch(*other) || had_nothing(*other))
                && self.stamp(*other).overlaps(end)
        };
        self.was_taken(taken) && end != Stamp::OPEN && others.iter().any(alike)
    }

    /// Whether a member was taken away because its run was made smaller, and not stopped.
    pub(super) fn was_trimmed(&self, death: usize) -> bool {
        let best = self.best(death);
        let cause = best.and_then(|best| self.rules.get(best.rule));
        let root = best.and_then(|best| self.graph.facts.get(best.root()));
        // What somebody changes on a machine makes no run smaller.
        let of_machine = root.is_some_and(|root| self.graph.is_of_machine(root));
        let changed = cause.is_some_and(|rule| rule.cause == "ops.config_change") && !of_machine;
        let one = self.deaths.get(death);
        let root = one.and_then(|one| self.root_workload(one.run));
        // An audit log of metadata does not say to which size: what is left of the run says that it was to go on.
        let is_wanted = root.is_some_and(|root| {
            let body = root.body.as_ref();
            body.is_none_or(|body| body.replicas.is_some_and(|wanted| wanted > 0))
        });
        changed && is_wanted
    }

    /// Whether a member of a Job failed, and what stopped the others was that the Job's time was up: it would have tried
    /// that member again.
    pub(super) fn was_retried(&self, primary: usize, others: &[usize]) -> bool {
        self.exited(primary)
            && !self.is_out_of_time(primary)
            && others.iter().any(|other| self.is_out_of_time(*other))
    }

    /// Whether a member was stopped because its Job's time was up; a batch system also stops those who wait in vain.
    pub(super) fn is_out_of_time(&self, death: usize) -> bool {
        let root = self.best(death).map(Candidate::root);
        let root = root.and_then(|root| self.graph.facts.get(root));
        root.is_some_and(|root| {
            let job = self.graph.workloads.get(root.workload);
            self.graph.name(root.signal) == named::K8S_WORKLOAD_DEADLINE
                && job.is_some_and(|job| self.graph.name(job.kind) == "Job")
        })
    }

    /// The members that are logs in which a launcher tells of its processes, and none of these of others.
    pub(super) fn launchers_logs(&self, members: &[usize]) -> HashSet<usize> {
        let is_log = |death: &usize| {
            let task = self.graph.pods.get(self.pod(*death));
            task.is_some_and(|task| task.kind == TaskKind::Log) && !self.lost_touch(*death)
        };
        let mut logs: HashSet<usize> = members.iter().copied().filter(is_log).collect();
        if !logs.is_empty() {
            let facts = self.graph.facts.iter();
            let launchers =
                facts.filter(|fact| self.graph.name(fact.signal) == named::LAUNCHER_ROOT_CAUSE);
            let launchers: HashSet<TaskRow> = launchers.filter_map(|fact| fact.pod).collect();
            logs.retain(|death| launchers.has(self.pod(*death)));
        }
        logs
    }

    /// Whether a member says that it could not reach another any more.
    pub(super) fn lost_touch(&self, death: usize) -> bool {
        self.lost_touch.has(self.pod(death))
    }

    /// Whether a member's own process ended badly, nobody asked it to, and it misses none of the
    /// others.
    pub(super) fn ended_silently(&self, death: usize) -> bool {
        let one = self.deaths.get(death);
        let code = one.and_then(|death| death.exit_code);
        // No log says with what its program ended.
        let task = one.and_then(|death| self.graph.pods.get(death.pod));
        let is_log = task.is_some_and(|task| task.kind == TaskKind::Log);
        self.exited(death)
            && code.map_or(is_log, |code| !matches!(code, 0 | 143))
            && !self.is_torn_down(death)
            && !self.lost_touch(death)
    }

    /// Whether the program on a cloud's instance ended by an error of its own code: when, its log says no more exactly than its
    /// lines have times, and what was done to the instance since did not end it.
    pub(super) fn ended_of_its_own(&self, death: usize) -> bool {
        let one = self.deaths.get(death);
        let task = one.and_then(|death| self.graph.pods.get(death.pod));
        let is_own = |task: &Task| task.kind == TaskKind::Instance && task.words_are_own;
        self.exited(death) && task.is_some_and(is_own)
    }

    /// Whether two members ended by themselves, of what nobody had done to them: kubelets write whole seconds, so that of one
    /// second nobody knows who was first. Whoever kills the rest of a gang does so with a signal.
    pub(super) fn ended_alike(&self, first: usize, other: usize) -> bool {
        let by_itself = |death: usize| {
            let one = self.deaths.get(death);
            let pod = one.and_then(|one| self.graph.pods.get(one.pod));
            let unasked =
                pod.is_some_and(|pod| pod.kind == TaskKind::Pod && pod.first_asked().is_none());
            let signalled = one.is_some_and(|one| {
                one.exit_code == Some(137) && self.graph.name(one.reason) != "OOMKilled"
            });
            unasked && !signalled && self.ended_silently(death)
        };
        by_itself(first) && by_itself(other)
    }

    /// Whether a member's own process ended: whoever takes a run away takes what waits with it.
    pub(super) fn exited(&self, death: usize) -> bool {
        let one = self.deaths.get(death);
        one.is_some_and(|one| one.mode == Mode::Exited)
    }

    pub(super) fn state(&self, death: usize) -> Option<DeathState> {
        self.deaths.get(death).map(|death| death.state)
    }

    /// Whether a member was lost with its machine.
    pub(super) fn was_lost(&self, death: usize) -> bool {
        let one = self.deaths.get(death);
        one.is_some_and(|one| one.mode == Mode::Lost)
    }

    /// Whether a member's own process ended, for a proven reason that is not that another one was missing.
    pub(super) fn had_own_reason(&self, death: usize) -> bool {
        let best = self.best(death);
        let is_proven = best.is_some_and(|best| best.level >= Level::Supported);
        is_proven && self.exited(death) && !self.is_symptom(death)
    }

    /// Since when what explains a member's end may have been under way: of a machine that fell silent, whatever
    /// became of it, since it was last heard of.
    pub(super) fn began(&self, best: &Candidate) -> Nanos {
        const SILENT: [&str; 4] = [
            named::K8S_NODE_NOT_READY,
            named::K8S_NODE_SILENT,
            named::K8S_NODE_UNREACHABLE,
            named::K8S_POD_NODE_LOST,
        ];
        let facts = best.path.iter().filter_map(|step| {
            let fact = self.graph.facts.get(step.fact)?;
            let counts = step.fact == best.root() || SILENT.contains(&self.graph.name(fact.signal));
            counts.then_some(fact.onset)
        });
        facts.min().unwrap_or(Nanos::MAX)
    }

    /// Whether all that is known of it is that it waited.
    pub(super) fn is_hang(&self, death: usize) -> bool {
        self.best(death).is_none_or(|best| {
            let rule = self.rules.get(best.rule);
            rule.is_none_or(|rule| rule.cause.starts_with("hang."))
        })
    }

    /// Whether what is known of a death is what the end of another member looks like.
    pub(super) fn is_symptom(&self, death: usize) -> bool {
        self.best(death).is_none_or(|best| {
            let rule = self.rules.get(best.rule);
            let cause = rule.map_or("", |rule| rule.cause.as_str());
            // Who cannot reach another rank says the same as who cannot reach a service.
            best.level <= Level::Hypothesis || cause.starts_with("hang.") || cause == "dep.service"
        })
    }

    pub(super) fn stamp(&self, death: usize) -> Stamp {
        self.deaths
            .get(death)
            .map_or(Stamp::OPEN, |death| death.time)
    }

    pub(super) fn time(&self, death: usize) -> Nanos {
        self.stamp(death).lo
    }

    pub(super) fn best(&self, death: usize) -> Option<&Candidate> {
        self.candidates.get(death)?.first()
    }

    pub(super) fn is_torn_down(&self, death: usize) -> bool {
        let death = self.deaths.get(death);
        death.is_some_and(|death| death.state == DeathState::Died && self.torn_down.has(death.pod))
    }

    /// Whether a member was stopped once its workload had said that it was over.
    pub(super) fn is_cleared(&self, death: usize) -> bool {
        self.state(death) == Some(DeathState::Died) && self.cleared.has(self.pod(death))
    }

    pub(super) fn is_vague(&self, death: usize) -> bool {
        !matches!(
            self.state(death),
            Some(DeathState::Died | DeathState::CrashLoop | DeathState::Restarted)
        ) && self.best(death).is_none()
    }
}

/// Whether the root itself is an act, and not a fault that something acted upon.
pub(super) fn begins_with_act(candidate: &Candidate) -> bool {
    candidate
        .path
        .first()
        .is_some_and(|step| step.role == Role::Act)
}
