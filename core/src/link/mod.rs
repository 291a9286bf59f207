//! Ties: which facts touch which death, through which entity, how long before.
//!
//! The tenure join, done once. A fact about a machine counts for a pod only
//! while the pod was on it; a state counts from its beginning to its end.

mod fleet_wide;
mod gang;
mod index;
mod queue;
mod service;
mod tenure;
mod tolerance;

use std::collections::HashMap;

use whathappened_model::table::AtRow as _;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use index::index;
use tenure::stays;
use tolerance::Tolerance;

use crate::death::{Death, DeathState};
use crate::graph::{EntityGraph, Fact, WorkloadRow};
use crate::resolve::{Root, Run};
use crate::symbols::Symbol;

/// How long after a death its records still arrive: a node is called silent
/// 50 s after it fell silent, its pods are evicted 300 s later.
const ECHO: Nanos = 600 * SECOND;

/// What slows a run down begins within so many seconds of when it shows.
const ABOUT_THEN: f64 = 600.0;

/// One fact that touches one death.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Number of the death.
    pub death: usize,
    /// Number of the fact in the graph.
    pub fact: usize,
    /// The entity they share: `pod`, `named`, `node`, `workload`, `claim`, `cluster`, `region`, `zone`, `pool`, `queue`, `service` or `gang`.
    pub via: &'static str,
    /// Seconds from the fact to the death; negative for a fact after it.
    pub lag_s: f64,
    /// Seconds from the beginning of what the fact announces to the death, 0
    /// within the announced window; `None` where it announces nothing.
    pub due_s: Option<f64>,
    /// Seconds from the beginning of that window to the death, within it as well.
    pub due_from_s: Option<f64>,
}

/// All links of some deaths, in order of (death, fact, via).
#[must_use]
pub fn links(graph: &EntityGraph, runs: &[Run], deaths: &[Death]) -> Vec<Link> {
    let index = index(graph);
    let claims = claims(graph);
    let children = children(graph);
    let complaints = gang::GangComplaints::of(graph, runs, deaths, &index);
    let mut found = Vec::new();
    for (number, death) in deaths.iter().enumerate() {
        let ends = RepeatedEnds::of(graph, death, &index);
        let mut touch =
            |facts: Option<&Vec<usize>>, via: &'static str, counts: &dyn Fn(&Fact) -> bool| {
                for fact in facts.into_iter().flatten() {
                    let stood = |one: &Fact| one.withdrawn.is_none_or(|at| at > death.time.lo);
                    if let Some(one) = graph
                        .facts
                        .get(*fact)
                        .filter(|one| stood(one) && counts(one))
                    {
                        found.push(Link {
                            death: number,
                            fact: *fact,
                            via,
                            lag_s: ends.lag(graph, one, death),
                            due_s: one.due.map(|due| lag(due, death.time)),
                            due_from_s: one.due.map(|due| lag(Stamp::second(due.lo), death.time)),
                        });
                    }
                }
            };
        let own = |fact: &Fact| match graph.name(fact.signal) {
            // Slurm puts a job into its queue again in the moment of its end: why it waits is of the wait.
            waits if waits.starts_with("slurm.waiting.") => of_wait(fact, death),
            _ => in_lifecycle(fact, death),
        };
        if let Some(pod) = graph.pods.get(death.pod) {
            let number = death.pod;
            touch(index.pod.at(number), "pod", &own);
            touch(index.named.at(number), "named", &own);
            let tolerance = Tolerance::of(graph, pod);
            for stay in stays(graph, pod, &index) {
                let befalls =
                    |fact: &Fact| stay.holds(fact, death) && !tolerance.covers(graph, fact, death);
                touch(stay.by_name, "node", &befalls);
                touch(stay.by_id, "node", &befalls);
            }
            for claim in pod.body.iter().flat_map(|body| &body.claims) {
                let claim = claims.get(&(graph.name(pod.namespace), claim.as_str()));
                touch(
                    claim.and_then(|claim| index.workload.get(claim)),
                    "claim",
                    &|fact| fact.time.lo <= death.time.hi.saturating_add(ECHO),
                );
            }
            if !index.services.is_empty() {
                let own = index.pod.at(number).into_iter().flatten();
                let looked_for = service::about(graph, &index.services, pod, own);
                touch(Some(&looked_for), "service", &|fact| around(fact, death));
            }
            if death.state == DeathState::NeverScheduled {
                touch(Some(&index.cluster), "cluster", &|fact| near(fact, death));
            }
        }
        for facts in complaints.beside(death) {
            touch(Some(facts), "gang", &|_| true);
        }
        // The slowest of a gang sets its pace.
        if matches!(death.state, DeathState::Slow | DeathState::Slowed) {
            for (number, pod) in gang::others(graph, runs, death) {
                // What was measured of a member itself, such as that it was held back.
                touch(index.pod.get(&number), "gang", &|fact| {
                    graph.name(fact.signal).starts_with("metric.") && begins_with(fact, death)
                });
                for stay in stays(graph, pod, &index) {
                    let slows = |fact: &Fact| stay.holds(fact, death) && begins_with(fact, death);
                    touch(stay.by_name, "gang", &slows);
                    touch(stay.by_id, "gang", &slows);
                }
            }
        }
        for (fact, via) in fleet_wide::about(graph, &index, death) {
            touch(Some(&vec![fact]), via, &|_| true);
        }
        // What befalls a namespace befalls the workloads in it.
        let namespace = match graph.pods.get(death.pod) {
            Some(pod) => Some(pod.namespace),
            None => runs
                .get(death.run)
                .and_then(|run| graph.evidence.symbols.find(run.names(graph).2)),
        };
        touch(
            namespace.and_then(|namespace| index.namespace.get(&namespace)),
            "workload",
            &|fact| around(fact, death),
        );
        // What was never made was refused to whoever was to make it.
        if let (None, Some(Root::Workload(root))) =
            (death.pod, runs.get(death.run).map(|run| run.root))
        {
            for workload in graph.family(root) {
                touch(index.workload.get(&workload), "workload", &|fact| {
                    around(fact, death)
                });
            }
        }
        let above = chain(graph, runs, death);
        if !index.queues.is_empty() {
            let below = above.iter().filter_map(|one| children.get(one)).flatten();
            let queued: Vec<WorkloadRow> = above.iter().chain(below).copied().collect();
            let stopped = queue::about(graph, &index.queues, &queued);
            touch(Some(&stopped), "queue", &|fact| around(fact, death));
        }
        for workload in above {
            let own = index.workload.get(&workload);
            touch(own, "workload", &|fact| around(fact, death));
            for child in children.get(&workload).into_iter().flatten() {
                touch(index.workload.get(child), "workload", &|fact| {
                    around(fact, death)
                });
            }
        }
    }
    found.sort_by(|a, b| (a.death, a.fact, a.via).cmp(&(b.death, b.fact, b.via)));
    found.dedup_by(|a, b| (a.death, a.fact, a.via) == (b.death, b.fact, b.via));
    found
}

fn claims(graph: &EntityGraph) -> HashMap<(&str, &str), WorkloadRow> {
    let is_claim = |kind: Symbol| graph.name(kind) == "PersistentVolumeClaim";
    graph
        .workloads
        .numbered()
        .filter(|(_, one)| is_claim(one.kind))
        .map(|(number, one)| ((graph.name(one.namespace), graph.name(one.name)), number))
        .collect()
}

/// Kueue's Workload objects are owned by the job they admit, not its owners.
fn children(graph: &EntityGraph) -> HashMap<WorkloadRow, Vec<WorkloadRow>> {
    let mut children: HashMap<WorkloadRow, Vec<WorkloadRow>> = HashMap::new();
    for (number, one) in graph.workloads.numbered() {
        if let Some(owner) = one.owner
            && graph.name(one.kind) == "Workload"
        {
            children.entry(owner).or_default().push(number);
        }
    }
    children
}

/// The workloads above a pod, or the root of a run that never got one.
fn chain(graph: &EntityGraph, runs: &[Run], death: &Death) -> Vec<WorkloadRow> {
    let first = match graph.pods.get(death.pod) {
        Some(pod) => pod.owner,
        None => match runs.get(death.run).map(|run| run.root) {
            Some(Root::Workload(root)) => Some(root),
            _ => None,
        },
    };
    graph.owners(first).map(|(number, _)| number).collect()
}

/// The ends of what keeps ending: what brings one about brings all of them about.
struct RepeatedEnds {
    /// Those of the container, where it is in a crash loop.
    known: Vec<Stamp>,
    /// Its log of none of these is there, and that of another start has to do.
    of_another: bool,
}

/// A program writes why it ends at most this long before it does.
const LAST_WORDS: f64 = 120.0;

impl RepeatedEnds {
    fn of(graph: &EntityGraph, death: &Death, index: &index::Index) -> Self {
        let pod = graph
            .pods
            .get(death.pod)
            .filter(|_| death.state == DeathState::CrashLoop);
        let Some(pod) = pod else {
            return Self {
                known: Vec::new(),
                of_another: false,
            };
        };
        let mine = |exit: &&crate::graph::Exit| {
            exit.time != Stamp::OPEN
                && (!death.container.is_some() || exit.container == death.container)
        };
        let known: Vec<Stamp> = pod
            .exits
            .iter()
            .filter(mine)
            .map(|exit| exit.time)
            .collect();
        let facts = index.pod.at(death.pod);
        let facts = facts.into_iter().flatten();
        let mut lines = facts
            .filter_map(|fact| graph.facts.get(*fact))
            .filter(|fact| is_line(graph, fact));
        let of_another = !lines.any(|line| {
            let near = |end: &Stamp| (-1.0..=LAST_WORDS).contains(&lag(line.time, *end));
            known.iter().any(near)
        });
        Self { known, of_another }
    }

    /// Seconds from a fact to the end that it is nearest to.
    fn lag(&self, graph: &EntityGraph, fact: &Fact, death: &Death) -> f64 {
        if self.known.is_empty() {
            return lag(fact.time, death.time);
        }
        if self.of_another && is_line(graph, fact) {
            return 0.0;
        }
        self.known
            .iter()
            .flat_map(|end| {
                // What repeats was last seen as well as first.
                let last = fact.end.map(|last| lag(last, *end));
                last.into_iter().chain([lag(fact.time, *end)])
            })
            .min_by(|a, b| a.abs().total_cmp(&b.abs()).then(a.total_cmp(b)))
            .unwrap_or_default()
    }
}

fn is_line(graph: &EntityGraph, fact: &Fact) -> bool {
    const LINES: [&str; 8] = [
        "gloo.",
        "jax.",
        "launcher.",
        "log.",
        "mpi.",
        "nccl.",
        "ray.",
        "rendezvous.",
    ];
    let signal = graph.name(fact.signal);
    LINES.iter().any(|stem| signal.starts_with(stem))
}

/// Seconds from the fact to the death, negative where it is later: the gap
/// between their intervals, zero where they overlap.
fn lag(fact: Stamp, death: Stamp) -> f64 {
    let gap = if fact.overlaps(death) {
        0
    } else if fact.lo < death.lo {
        death.lo.saturating_sub(fact.hi)
    } else {
        death.hi.saturating_sub(fact.lo)
    };
    #[expect(clippy::cast_precision_loss, reason = "seconds for rules of thumb")]
    let seconds = gap as f64 / SECOND as f64;
    seconds
}

/// A fact about the pod itself: between the end before and this one's echo.
fn in_lifecycle(fact: &Fact, death: &Death) -> bool {
    let after_last = death
        .since
        .is_none_or(|since| fact.time.hi > since.hi || fact.time == Stamp::OPEN);
    let before_next = death
        .until
        .is_none_or(|until| fact.time.lo <= until.hi.saturating_add(5 * SECOND));
    after_last && before_next
}

/// Why a batch job waits: since its last end, if it had one.
fn of_wait(fact: &Fact, death: &Death) -> bool {
    let since = |since: Stamp| fact.time.hi >= since.lo || fact.time == Stamp::OPEN;
    death.state == DeathState::NeverScheduled && death.since.is_none_or(since)
}

/// A fact about the workload: not long after the death.
fn around(fact: &Fact, death: &Death) -> bool {
    let before_next = death.until.is_none_or(|until| fact.time.lo <= until.hi);
    before_next
        && (death.mode == crate::lifecycle::Mode::None
            || fact.time.lo <= death.time.hi.saturating_add(ECHO))
}

/// A fact from about when a state began.
fn begins_with(fact: &Fact, death: &Death) -> bool {
    (-ABOUT_THEN..=ABOUT_THEN).contains(&lag(fact.time, death.time))
}

/// A fact about no entity, while the pod waited.
fn near(fact: &Fact, death: &Death) -> bool {
    fact.time.hi.saturating_add(ECHO) >= death.time.lo
}
