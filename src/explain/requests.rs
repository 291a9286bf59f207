//! What the records say of the ends of pods, beside the ends themselves: who asked for them, who was seen
//! alive, which machines were silent or going down.

mod by_person;
mod ends;

use std::collections::{HashMap, HashSet};
use whathappened_core::signals::{SignalClass, named};

use whathappened_core::death::Death;
use whathappened_core::graph::{EntityGraph, Fact, Journals, Task, TaskKind, TaskRow, WorkloadRow};
use whathappened_core::lifecycle::Mode;
use whathappened_core::symbols::Symbol;
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::event::SourceKind;
use whathappened_model::table::{AtRow as _, HasRow as _};
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use self::by_person::ByPerson;
use self::ends::{is_unheard_of, log_shows_end, never_ran, was_tried_again};
use super::machine_facts::is_anybodys;
use super::namesakes::namesakes;
use super::tenants::Tenants;
use crate::answer::Level;

/// What kubelets and schedulers say of a pod that had not ended; a request may as well be
/// for what was left of it.
pub(super) const ALIVE: [&str; 6] = [
    named::K8S_CONTAINER_KILLING,
    named::K8S_POD_DELETED_BY_KUBELET,
    named::K8S_POD_DELETION_REQUESTED,
    named::K8S_POD_NODE_SHUTDOWN,
    named::K8S_POD_PREEMPTED,
    named::K8S_POD_EVICTED_PRESSURE,
];

/// How the control plane clears away what belonged to something that was deleted.
const CLEARED: [&str; 2] = [
    named::K8S_POD_DELETED_BY_GC,
    named::K8S_POD_DELETED_BY_NAMESPACE_CONTROLLER,
];

/// What machines say when they begin to go down.
const SHUT_DOWN: [&str; 3] = [
    named::K8S_NODE_SHUTDOWN,
    named::NODE_POWERING_OFF,
    named::NODE_REBOOTING,
];

/// What ran on a machine that is taken out of service has ended within this long.
const TAKEN: Nanos = 120 * SECOND;

/// A machine that shuts down in good order is up again, or silent, after this long.
const GOING: Nanos = 300 * SECOND;

/// What a workload says of itself that has failed.
const FAILED: [&str; 2] = [
    named::K8S_WORKLOAD_BACKOFF_LIMIT,
    named::K8S_WORKLOAD_FAILED,
];

/// What is said of a node that nothing was heard of, whatever silenced it.
pub const SILENCE: [&str; 3] = [
    named::K8S_NODE_NOT_READY,
    named::K8S_NODE_SILENT,
    named::K8S_POD_NODE_LOST,
];

/// What the records say of the ends of pods, beside the ends themselves.
pub(super) struct Requests {
    /// When somebody asked for the end of which pod, and who.
    asked: HashMap<TaskRow, Vec<(Stamp, Symbol)>>,
    /// Pods of which a request for their end is on record that no lost machine brings about by itself.
    requested: HashSet<TaskRow>,
    /// When kubelets ended which pods for a reason of their own.
    by_kubelet: HashMap<TaskRow, Vec<Stamp>>,
    /// Pods that were seen to be there when they ended.
    alive: HashSet<TaskRow>,
    /// When nodes were found not to have been heard of.
    silent: HashMap<Symbol, Vec<Stamp>>,
    /// When nodes answered again.
    answered: HashMap<Symbol, Vec<Stamp>>,
    /// When nodes said that they had booted.
    booted: HashMap<Symbol, Vec<Stamp>>,
    /// When nodes began to shut down.
    shut_down: HashMap<Symbol, Vec<Stamp>>,
    /// When nodes were rebooted, switched off or taken out of service, which anybody may do for any reason.
    taken: HashMap<Symbol, Vec<Stamp>>,
    /// When nodes fell silent, as anybody tells.
    fell_silent: Vec<(Symbol, Stamp)>,
    /// When the kernel ended processes of nobody knows which pod.
    crashed: HashMap<Symbol, Vec<Stamp>>,
    /// Pods that the taint manager evicted: whoever tainted the node may have looked at it.
    pub(super) tainted: HashSet<TaskRow>,
    /// When a person asked for the end of which pod, and of which workload.
    pub(super) by_person: ByPerson,
    /// Pods that were evicted, by whomever: who makes and replaces pods does not do that.
    pub(super) evicted: HashSet<TaskRow>,
    /// Pods that say themselves that a device or a disk failed them.
    pub(super) failed_by_device: HashSet<TaskRow>,
    /// When the kernel killed a process of a pod because the pod was at its limit of memory.
    over_limit: HashMap<TaskRow, Vec<Stamp>>,
    /// When workloads said that they had failed.
    pub(super) failed: HashMap<WorkloadRow, Vec<Stamp>>,
    /// Pods that were cleared away with what they belonged to.
    cleared: HashSet<TaskRow>,
    /// Whether kubelets' own deletions are on record: who was deleted without one had ended.
    kubelets_recorded: bool,
    /// Whether a file of objects was read in part: what became of a pod may stand in the rest.
    cut: bool,
    /// Names that two machines bear at one time.
    pub(super) namesakes: HashSet<Symbol>,
    /// Who had GPUs of which machine.
    pub(super) tenants: Tenants,
    /// The order of machines' logs.
    pub(super) journals: Journals,
}

/// Nodes that fall silent at once are found to be within a heartbeat, and a look at them.
const AT_ONCE: Nanos = 15 * SECOND;

/// What programs say of devices and disks.
pub(super) const DEVICE: [&str; 6] = [
    "gpu.",
    "nccl.",
    "nic.",
    named::LOG_CUDA_ERROR,
    named::LOG_IO_ERROR,
    "log.storage_",
];

/// A kubelet shows every ten seconds that it is there; its node is found silent forty seconds after it did so last, fifty
/// from Kubernetes 1.32 on, and up to ten more, as who looks does so every five: what was asked for this long before may have
/// reached nobody.
const UNHEARD: Nanos = 60 * SECOND;

/// Pods are left for as long on a node that does not answer, by default.
const EVICTED: Nanos = 300 * SECOND;

impl Requests {
    pub(super) fn of(graph: &EntityGraph, coverage: &[Coverage]) -> Self {
        let (mut asked, mut alive) = (
            HashMap::<TaskRow, Vec<(Stamp, Symbol)>>::new(),
            HashSet::new(),
        );
        let mut requested = HashSet::new();
        let mut by_kubelet = HashMap::<TaskRow, Vec<Stamp>>::new();
        let mut silent = HashMap::<Symbol, Vec<Stamp>>::new();
        let mut answered = HashMap::<Symbol, Vec<Stamp>>::new();
        let mut booted = HashMap::<Symbol, Vec<Stamp>>::new();
        let mut shut_down = HashMap::<Symbol, Vec<Stamp>>::new();
        let mut taken = HashMap::<Symbol, Vec<Stamp>>::new();
        let mut failed = HashMap::<WorkloadRow, Vec<Stamp>>::new();
        let mut crashed = HashMap::<Symbol, Vec<Stamp>>::new();
        let (mut tainted, mut failed_by_device) = (HashSet::new(), HashSet::new());
        let mut evicted = HashSet::new();
        let mut fell_silent = Vec::new();
        let mut over_limit = HashMap::<TaskRow, Vec<Stamp>>::new();
        let mut by_person = ByPerson::default();
        let (mut cleared, mut kubelets_recorded) = (HashSet::new(), false);
        for fact in &graph.facts {
            let signal = graph.name(fact.signal);
            if signal == named::K8S_NODE_SILENT && fact.node.is_some() {
                silent.entry(fact.node).or_default().push(fact.time);
            }
            if signal == named::K8S_NODE_READY && fact.node.is_some() {
                answered.entry(fact.node).or_default().push(fact.time);
            }
            if signal == named::K8S_NODE_REBOOTED && fact.node.is_some() {
                booted.entry(fact.node).or_default().push(fact.time);
            }
            if SHUT_DOWN.contains(&signal) && fact.node.is_some() {
                shut_down.entry(fact.node).or_default().push(fact.time);
            }
            if let Some(workload) = fact.workload
                && FAILED.contains(&signal)
                && fact.time != Stamp::OPEN
            {
                failed.entry(workload).or_default().push(fact.time);
            }
            if is_anybodys(signal) && fact.node.is_some() {
                taken.entry(fact.node).or_default().push(fact.time);
            }
            if signal == named::KERNEL_SEGFAULT && fact.node.is_some() && fact.pod.is_none() {
                crashed.entry(fact.node).or_default().push(fact.time);
            }
            if SILENCE.contains(&signal) && fact.node.is_some() && fact.time != Stamp::OPEN {
                fell_silent.push((fact.node, fact.time));
            }
            by_person.note(graph, fact);
            let Some(pod) = fact.pod else {
                continue;
            };
            if is_request(graph, signal) {
                requested.insert(pod);
            }
            if is_request(graph, signal) || signal == named::K8S_POD_DELETION_REQUESTED {
                let reported = (fact.time, fact.actor);
                asked.entry(pod).or_default().push(reported);
            }
            if matches!(
                signal,
                named::K8S_POD_EVICTED_TAINT | named::K8S_POD_EVICTED_DEVICE_TAINT
            ) {
                tainted.insert(pod);
            }
            if signal.starts_with("k8s.pod.evicted") {
                evicted.insert(pod);
            }
            if graph.traits.is(signal, SignalClass::ByKubelet) && fact.time != Stamp::OPEN {
                by_kubelet.entry(pod).or_default().push(fact.time);
            }
            if ALIVE.contains(&signal) {
                alive.insert(pod);
            }
            kubelets_recorded |= signal == named::K8S_POD_DELETED_BY_KUBELET;
            if CLEARED.contains(&signal) {
                cleared.insert(pod);
            }
            if signal == named::KERNEL_OOM_KILL_LIMIT {
                over_limit.entry(pod).or_default().push(fact.time);
            }
            if DEVICE.iter().any(|device| signal.starts_with(device)) {
                failed_by_device.insert(pod);
            }
        }
        Self {
            journals: Journals::of(&graph.evidence),
            asked,
            requested,
            by_kubelet,
            alive,
            silent,
            answered,
            booted,
            shut_down,
            taken,
            failed,
            crashed,
            tainted,
            evicted,
            fell_silent,
            failed_by_device,
            over_limit,
            by_person,
            cleared,
            kubelets_recorded,
            cut: coverage.iter().any(is_cut_file),
            namesakes: namesakes(graph),
            tenants: Tenants::of(graph),
        }
    }

    /// Whether somebody rebooted a node, switched it off or took it out of service just before a time.
    pub(super) fn was_taken(&self, node: Symbol, time: Stamp) -> bool {
        let acts = self.taken.get(&node).into_iter().flatten();
        acts.filter(|act| **act != Stamp::OPEN).any(|act| {
            act.lo <= time.hi.saturating_add(CLOCKS) && act.hi >= time.lo.saturating_sub(TAKEN)
        })
    }

    /// Whether a node told of a boot after it was found silent, and before its kubelet stopped something: that was what is
    /// left of a pod which the boot had ended.
    fn booted(&self, node: Symbol, silent: Stamp, stopped: Stamp) -> bool {
        let mut booted = self.booted.get(&node).into_iter().flatten();
        booted.any(|boot| silent.lo <= boot.hi && boot.lo <= stopped.hi.saturating_add(CLOCKS))
    }

    /// Whether a node told of a boot between two times.
    pub(super) fn booted_between(&self, node: Symbol, since: Nanos, until: Nanos) -> bool {
        let mut booted = self.booted.get(&node).into_iter().flatten();
        booted.any(|boot| since < boot.lo && boot.hi < until)
    }

    /// Whether a node had begun to go down in good order just before a time.
    pub(super) fn was_shutting_down(&self, node: Symbol, time: Stamp) -> bool {
        let mut down = self.shut_down.get(&node).into_iter().flatten();
        time != Stamp::OPEN
            && down
                .any(|down| *down != Stamp::OPEN && down.lo <= time.lo && time.lo - down.lo < TAKEN)
    }

    /// Whether another node fell silent in the very moment in which this one did.
    pub(super) fn is_shared(&self, silence: &Fact) -> bool {
        let near = |(node, time): &(Symbol, Stamp)| {
            *node != silence.node && time.lo.saturating_sub(silence.time.lo).abs() <= AT_ONCE
        };
        self.fell_silent.iter().any(near)
    }

    /// Whether the pod's node had not been heard of for a while, or was shutting down, when somebody
    /// asked for its end, and nobody saw how it ended.
    fn is_unheard(&self, pod: &Task, death: &Death) -> bool {
        // A kubelet that stops what was asked to go was there.
        let obeyed = pod.stopped.is_some_and(|stop| stop.hi >= death.time.lo);
        let before = |silent: &Stamp| {
            let since = silent.lo.saturating_sub(death.time.lo);
            silent.lo > death.time.hi && since <= UNHEARD && !obeyed
        };
        let going =
            |down: &Stamp| down.hi < death.time.lo && death.time.lo.saturating_sub(down.hi) < GOING;
        // Nobody took the pod away for that silence, which was found before somebody asked.
        let at_once = |silent: &Stamp| {
            let since = death.time.lo.saturating_sub(silent.lo);
            let mut answered = self.answered.get(&pod.node).into_iter().flatten();
            (0..EVICTED).contains(&since)
                && pod
                    .stopped
                    .is_none_or(|stopped| self.booted(pod.node, *silent, stopped))
                && self.requested.has(death.pod)
                && !self.tainted.has(death.pod)
                && !answered.any(|again| (silent.lo..=death.time.lo).contains(&again.lo))
        };
        let silent = || self.silent.get(&pod.node).into_iter().flatten();
        let mut down = self.shut_down.get(&pod.node).into_iter().flatten();
        death.mode == Mode::Killed
            && death.exit_code.is_none()
            && (silent().any(before) || silent().any(at_once) || down.any(going))
    }

    /// Whether somebody had asked for the end of a pod that is told to be lost with its node, before the node was found
    /// silent: the one or the other ended it.
    fn was_asked_and_lost(&self, graph: &EntityGraph, pod: &Task, death: &Death) -> bool {
        let mut silent = self.silent.get(&pod.node).into_iter().flatten();
        // Whom another missed before that had fallen silent by then.
        let was_missed = |asked: Stamp| {
            let mut others = graph.pods.iter().filter(|other| other.root == pod.root);
            others.any(|other| {
                let mut exits = other.exits.iter();
                pod.root.is_some()
                    && exits.any(|exit| exit.exit_code != Some(0) && exit.time.hi <= asked.lo)
            })
        };
        let near = |silent: Stamp, asked: Stamp| {
            (0..=UNHEARD).contains(&silent.lo.saturating_sub(asked.lo)) && !was_missed(asked)
        };
        let asked = || self.asked.at(death.pod).into_iter().flatten();
        death.mode == Mode::Lost
            && silent.any(|silent| asked().any(|(asked, _)| near(*silent, *asked)))
    }

    /// Whether this pod's end, or that of its workload, was asked for only after somebody else had
    /// asked for this pod's end: the API server tells both, and one clock needs no allowance for
    /// others.
    pub(super) fn was_asked_before(
        &self,
        graph: &EntityGraph,
        death: &Death,
        later: &Fact,
    ) -> bool {
        let signal = graph.name(later.signal);
        let of_all = signal.starts_with("k8s.workload.deleted_by_")
            || signal.starts_with("k8s.namespace.deleted_by_");
        let of_pod = later.pod == death.pod
            && (is_request(graph, signal)
                || matches!(
                    signal,
                    named::K8S_POD_EVICTED_TAINT | named::K8S_POD_DELETED_BY_NODE_CONTROLLER
                ));
        let of_node = later.source_kind == SourceKind::KubernetesAudit
            && (signal.starts_with(named::K8S_NODE_CORDONED)
                || signal.starts_with("k8s.node.tainted"));
        let exact = |stamp: &Stamp| stamp.hi.saturating_sub(stamp.lo) <= SECOND;
        // Servers of one cluster keep the same time to the second.
        let servers = if of_all { 0 } else { SECOND };
        let before = |(asked, actor): &(Stamp, Symbol)| {
            exact(asked)
                && asked.hi.saturating_add(servers) <= later.time.lo
                && (of_all || !actor.is_some() || *actor != later.actor)
                && (of_all || of_pod || actor.is_some())
        };
        let mut asked = self.asked.at(death.pod).into_iter().flatten();
        death.mode == Mode::Killed
            && (of_all || of_pod || of_node)
            && exact(&later.time)
            && asked.any(before)
    }

    /// Whether a fact is that somebody asked for the end of a pod that its kubelet was ending already, for a reason of its own.
    pub(super) fn was_ending(&self, graph: &EntityGraph, death: &Death, later: &Fact) -> bool {
        let signal = graph.name(later.signal);
        let asks = is_request(graph, signal) || signal == named::AUTOSCALER_SCALE_DOWN_POD;
        // What was said much earlier was of something that the pod got over.
        let before = |stopped: &Stamp| {
            stopped.hi <= later.time.lo && later.time.lo.saturating_sub(stopped.hi) < GOING
        };
        let mut stops = self.by_kubelet.at(death.pod).into_iter().flatten();
        later.pod == death.pod && asks && later.time != Stamp::OPEN && stops.any(before)
    }

    /// How well it can be proven at most that this is how the pod ended: who clears a node
    /// clears away what had ended on it as well. Who made the pod would have told of an end
    /// before; nobody would of a pod that nobody made.
    pub(super) fn provable(&self, graph: &EntityGraph, death: &Death) -> Level {
        match graph.pods.get(death.pod) {
            Some(pod) if self.is_unheard(pod, death) => Level::Hypothesis,
            Some(pod) if self.was_asked_and_lost(graph, pod, death) => Level::Hypothesis,
            Some(pod) if was_tried_again(graph, pod, death) => Level::Hypothesis,
            Some(pod) if self.may_have_run_on(pod, death) => Level::Hypothesis,
            Some(_) if self.was_at_limit(death) => Level::Hypothesis,
            Some(pod)
                if !self.is_seen(pod, death)
                    && (pod.owner.is_none()
                        || self.was_left(death)
                        || is_unheard_of(graph, pod, death)) =>
            {
                Level::Hypothesis
            }
            Some(pod) if !self.is_seen(pod, death) || never_ran(pod, death) => Level::Supported,
            Some(pod) if self.may_have_crashed(pod, death) => Level::Supported,
            _ => Level::Established,
        }
    }

    /// Whether a pod was lost to those that missed it, and its node answered later without having told of a boot: what was on it may
    /// have run on.
    fn may_have_run_on(&self, pod: &Task, death: &Death) -> bool {
        let mut answered = self.answered.get(&pod.node).into_iter().flatten();
        let since = death.time.hi;
        let is_unrecorded = pod.exits.is_empty() && !self.evicted.has(death.pod);
        let booted = |again: &Stamp| {
            let mut booted = self.booted.get(&pod.node).into_iter().flatten();
            booted.any(|boot| boot.hi >= since && boot.lo <= again.hi.saturating_add(CLOCKS))
        };
        death.mode == Mode::Lost
            && is_unrecorded
            && !self.tainted.has(death.pod)
            && answered.any(|again| again.lo > since && !booted(again))
    }

    /// Whether a process crashed on the pod's node just when somebody asked for the pod's end, and
    /// nobody saw with what its own process ended.
    fn may_have_crashed(&self, pod: &Task, death: &Death) -> bool {
        let near = |at: &Stamp| at.lo.saturating_sub(death.time.lo).abs() <= CLOCKS;
        let mut crashed = self.crashed.get(&pod.node).into_iter().flatten();
        death.mode == Mode::Killed && death.exit_code.is_none() && crashed.any(near)
    }

    /// Whether the pod was cleared away with what it belonged to, and its kubelet, which sees those
    /// off that run, had nothing to do.
    fn was_left(&self, death: &Death) -> bool {
        death.mode == Mode::Killed && self.kubelets_recorded && self.cleared.has(death.pod)
    }

    /// Whether the kernel killed a process of the pod in the very moment in which somebody asked for
    /// the pod's end, and nobody saw with what it ended: the one as well as the other may have been
    /// first.
    fn was_at_limit(&self, death: &Death) -> bool {
        let near = |at: &Stamp| at.lo.saturating_sub(death.time.lo).abs() <= SECOND;
        let mut killed = self.over_limit.at(death.pod).into_iter().flatten();
        death.mode == Mode::Killed && death.exit_code.is_none() && killed.any(near)
    }

    /// Whether a record of the pod's own says that it had not ended before.
    fn is_seen(&self, pod: &Task, death: &Death) -> bool {
        pod.kind != TaskKind::Pod
            || death.mode == Mode::None
            || pod.body.is_some() && !self.cut
            || !pod.exits.is_empty()
            || self.alive.has(death.pod)
            || log_shows_end(pod, death)
    }

    pub(super) fn is_asked(&self, death: &Death) -> bool {
        let near = Stamp {
            lo: death.time.lo.saturating_sub(CLOCKS),
            hi: death.time.hi.saturating_add(CLOCKS),
        };
        death.mode == Mode::Killed
            && self
                .asked
                .at(death.pod)
                .is_some_and(|asked| asked.iter().any(|(asked, _)| asked.overlaps(near)))
    }
}

/// Whether a file of objects was read in part.
#[must_use]
pub fn is_cut_file(row: &Coverage) -> bool {
    row.resource == "file"
        && row.source == SourceKind::Kubernetes.as_str()
        && matches!(row.status, Status::Truncated | Status::Failed)
}

/// Whether somebody asks for the end of a pod, who reached the API and had reasons.
pub(super) fn is_request(graph: &EntityGraph, signal: &str) -> bool {
    // These act for what happened to the node or the object, and confirm what others asked for.
    const FOLLOW: [&str; 3] = ["kubelet", "node_controller", "podgc"];
    let by = signal
        .strip_prefix("k8s.pod.deleted_by_")
        .or_else(|| signal.strip_prefix("k8s.pod.evicted_by_"));
    graph.traits.is(signal, SignalClass::AsksEnd) || by.is_some_and(|by| !FOLLOW.contains(&by))
}
