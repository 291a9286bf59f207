//! What no verdict may say, whatever a rule answers: that something brought about
//! what was over before it, or that what had ended was ended again.
//!
//! Rules are about what brings about what; whether it can have, in time, is
//! decided here once, for all rules, a person's own among them.

use std::collections::{HashMap, HashSet};

use whathappened_core::death::Death;
use whathappened_core::graph::{EntityGraph, Exit, Fact, NO, Task, TaskKind as PodKind};
use whathappened_core::lifecycle::Mode;
use whathappened_core::symbols::Symbol;
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::event::SourceKind;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::edge::{Edge, Kind, Role};
use super::namesakes::namesakes;
use super::tenants::Tenants;
use crate::answer::Level;

/// Clocks of two machines, or of a cluster and its cloud, are this far apart at most.
pub const CLOCKS: Nanos = 5 * SECOND;

/// How late a machine's stop can be told of where the machine was seen alive at the
/// death: a shutdown in good order takes no longer.
const IN_SIGHT: Nanos = 120 * SECOND;

/// Requests for the end of a pod that no lost machine brings about by itself: somebody
/// reached the API, and had reasons.
const REQUESTS: [&str; 4] = [
    "k8s.pod.evicted.api",
    "k8s.pod.preempted",
    "k8s.pod.reclaimed",
    "k8s.pod.shuffled",
];

/// What kubelets and schedulers say of a pod that had not ended; a request may as well be
/// for what was left of it.
const ALIVE: [&str; 6] = [
    "k8s.container.killing",
    "k8s.pod.deleted_by_kubelet",
    "k8s.pod.deletion_requested",
    "k8s.pod.node_shutdown",
    "k8s.pod.preempted",
    "k8s.pod.evicted.pressure",
];

/// How the control plane clears away what belonged to something that was deleted.
const CLEARED: [&str; 2] = [
    "k8s.pod.deleted_by_gc",
    "k8s.pod.deleted_by_namespace_controller",
];

/// What machines say when they begin to go down.
const SHUT_DOWN: [&str; 3] = ["k8s.node.shutdown", "node.powering_off", "node.rebooting"];

/// A machine that shuts down in good order is up again, or silent, after this long.
const GOING: Nanos = 300 * SECOND;

/// What is said of a node that nothing was heard of, whatever silenced it.
const SILENCE: [&str; 3] = ["k8s.node.not_ready", "k8s.node.silent", "k8s.pod.node_lost"];

/// What the records say of the ends of pods, beside the ends themselves.
pub(super) struct Requests {
    /// When somebody asked for the end of which pod, and who.
    asked: HashMap<u32, Vec<(Stamp, Symbol)>>,
    /// Pods that were seen to be there when they ended.
    alive: HashSet<u32>,
    /// When nodes were found not to have been heard of.
    silent: HashMap<Symbol, Vec<Stamp>>,
    /// When nodes began to shut down.
    shut_down: HashMap<Symbol, Vec<Stamp>>,
    /// When nodes fell silent, as anybody tells.
    fell_silent: Vec<(Symbol, Stamp)>,
    /// When the kernel ended processes of nobody knows which pod.
    crashed: HashMap<Symbol, Vec<Stamp>>,
    /// Pods that the taint manager evicted: whoever tainted the node may have looked at it.
    tainted: HashSet<u32>,
    /// Pods that say themselves that a device or a disk failed them.
    failed_by_device: HashSet<u32>,
    /// When the kernel killed a process of a pod because the pod was at its limit of memory.
    over_limit: HashMap<u32, Vec<Stamp>>,
    /// Pods that were cleared away with what they belonged to.
    cleared: HashSet<u32>,
    /// Whether kubelets' own deletions are on record: who was deleted without one had ended.
    kubelets_recorded: bool,
    /// Whether a file of objects was read in part: what became of a pod may stand in the rest.
    cut: bool,
    /// Names that two machines bear at one time.
    namesakes: HashSet<Symbol>,
    /// Who had GPUs of which machine.
    tenants: Tenants,
}

/// Nodes that fall silent at once are found to be within a heartbeat, and a look at them.
const AT_ONCE: Nanos = 15 * SECOND;

/// What machines say of their devices.
const DEVICES: [&str; 8] = [
    "gpu.",
    "k8s.node.disk",
    "k8s.node.memory_error",
    "kernel.disk_error",
    "kernel.machine_check",
    "kernel.memory_error",
    "kernel.pcie_error.",
    "nic.",
];

/// Devices whose failure ends no process with a signal to stop it: who needs them fails, or the
/// machine does. For bad memory the kernel has another signal.
const SENDS_NONE: [&str; 6] = [
    "k8s.node.disk",
    "k8s.node.memory_error",
    "kernel.disk_error",
    "kernel.memory_error",
    "kernel.pcie_error",
    "nic.",
];

/// What programs say of devices and disks.
const DEVICE: [&str; 6] = [
    "gpu.",
    "nccl.",
    "nic.",
    "log.cuda_error",
    "log.io_error",
    "log.storage_",
];

/// A kubelet shows every ten seconds that it is there; its node is found silent forty seconds
/// after it did so last, at the earliest: what was asked for this long before reached nobody.
const UNHEARD: Nanos = 30 * SECOND;

impl Requests {
    pub(super) fn of(graph: &EntityGraph, coverage: &[Coverage]) -> Self {
        let (mut asked, mut alive) = (HashMap::<u32, Vec<(Stamp, Symbol)>>::new(), HashSet::new());
        let mut silent = HashMap::<Symbol, Vec<Stamp>>::new();
        let mut shut_down = HashMap::<Symbol, Vec<Stamp>>::new();
        let mut crashed = HashMap::<Symbol, Vec<Stamp>>::new();
        let (mut tainted, mut failed_by_device) = (HashSet::new(), HashSet::new());
        let mut fell_silent = Vec::new();
        let mut over_limit = HashMap::<u32, Vec<Stamp>>::new();
        let (mut cleared, mut kubelets_recorded) = (HashSet::new(), false);
        for fact in &graph.facts {
            let signal = graph.name(fact.signal);
            if signal == "k8s.node.silent" && fact.node.is_some() {
                silent.entry(fact.node).or_default().push(fact.time);
            }
            if SHUT_DOWN.contains(&signal) && fact.node.is_some() {
                shut_down.entry(fact.node).or_default().push(fact.time);
            }
            if signal == "kernel.segfault" && fact.node.is_some() && fact.pod == NO {
                crashed.entry(fact.node).or_default().push(fact.time);
            }
            if SILENCE.contains(&signal) && fact.node.is_some() && fact.time != Stamp::OPEN {
                fell_silent.push((fact.node, fact.time));
            }
            if fact.pod == NO {
                continue;
            }
            if is_request(signal) || signal == "k8s.pod.deletion_requested" {
                let reported = (fact.time, fact.actor);
                asked.entry(fact.pod).or_default().push(reported);
            }
            if matches!(
                signal,
                "k8s.pod.evicted.taint" | "k8s.pod.evicted.device_taint"
            ) {
                tainted.insert(fact.pod);
            }
            if ALIVE.contains(&signal) {
                alive.insert(fact.pod);
            }
            kubelets_recorded |= signal == "k8s.pod.deleted_by_kubelet";
            if CLEARED.contains(&signal) {
                cleared.insert(fact.pod);
            }
            if signal == "kernel.oom_kill.limit" {
                over_limit.entry(fact.pod).or_default().push(fact.time);
            }
            if DEVICE.iter().any(|device| signal.starts_with(device)) {
                failed_by_device.insert(fact.pod);
            }
        }
        Self {
            asked,
            alive,
            silent,
            shut_down,
            crashed,
            tainted,
            fell_silent,
            failed_by_device,
            over_limit,
            cleared,
            kubelets_recorded,
            cut: coverage.iter().any(is_cut_file),
            namesakes: namesakes(graph),
            tenants: Tenants::of(graph),
        }
    }

    /// Whether another node fell silent in the very moment in which this one did.
    fn is_shared(&self, silence: &Fact) -> bool {
        let near = |(node, time): &(Symbol, Stamp)| {
            *node != silence.node && time.lo.saturating_sub(silence.time.lo).abs() <= AT_ONCE
        };
        self.fell_silent.iter().any(near)
    }

    /// Whether the pod's node had not been heard of for a while, or was shutting down, when somebody
    /// asked for its end, and nobody saw how it ended.
    fn is_unheard(&self, pod: &Task, death: &Death) -> bool {
        let before = |silent: &Stamp| {
            silent.lo > death.time.hi && silent.hi.saturating_sub(death.time.lo) < UNHEARD
        };
        let going =
            |down: &Stamp| down.hi < death.time.lo && death.time.lo.saturating_sub(down.hi) < GOING;
        let mut silent = self.silent.get(&pod.node).into_iter().flatten();
        let mut down = self.shut_down.get(&pod.node).into_iter().flatten();
        death.mode == Mode::Killed
            && death.exit_code.is_none()
            && (silent.any(before) || down.any(going))
    }

    /// Whether this pod's end, or that of its workload, was asked for only after somebody else had
    /// asked for this pod's end: the API server tells both, and one clock needs no allowance for
    /// others.
    fn was_asked_before(&self, graph: &EntityGraph, death: &Death, later: &Fact) -> bool {
        let signal = graph.name(later.signal);
        let of_all = signal.starts_with("k8s.workload.deleted_by_")
            || signal.starts_with("k8s.namespace.deleted_by_");
        let of_pod = later.pod == death.pod
            && (is_request(signal)
                || matches!(
                    signal,
                    "k8s.pod.evicted.taint" | "k8s.pod.deleted_by_node_controller"
                ));
        let of_node = later.source_kind == SourceKind::KubernetesAudit
            && (signal.starts_with("k8s.node.cordoned") || signal.starts_with("k8s.node.tainted"));
        let exact = |stamp: &Stamp| stamp.hi.saturating_sub(stamp.lo) <= SECOND;
        // Servers of one cluster keep the same time to the second.
        let servers = if of_all { 0 } else { SECOND };
        let before = |(asked, actor): &(Stamp, Symbol)| {
            exact(asked)
                && asked.hi.saturating_add(servers) <= later.time.lo
                && (of_all || !actor.is_some() || *actor != later.actor)
                && (of_all || of_pod || actor.is_some())
        };
        let mut asked = self.asked.get(&death.pod).into_iter().flatten();
        death.mode == Mode::Killed
            && (of_all || of_pod || of_node)
            && exact(&later.time)
            && asked.any(before)
    }

    /// How well it can be proven at most that this is how the pod ended: who clears a node
    /// clears away what had ended on it as well. Who made the pod would have told of an end
    /// before; nobody would of a pod that nobody made.
    pub(super) fn provable(&self, graph: &EntityGraph, death: &Death) -> Level {
        match graph.pods.get(death.pod as usize) {
            Some(pod) if self.is_unheard(pod, death) => Level::Hypothesis,
            Some(_) if self.was_at_limit(death) => Level::Hypothesis,
            Some(pod) if !self.is_seen(pod, death) && (pod.owner == NO || self.was_left(death)) => {
                Level::Hypothesis
            }
            Some(pod) if !self.is_seen(pod, death) => Level::Supported,
            Some(pod) if self.may_have_crashed(pod, death) => Level::Supported,
            _ => Level::Established,
        }
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
        death.mode == Mode::Killed && self.kubelets_recorded && self.cleared.contains(&death.pod)
    }

    /// Whether the kernel killed a process of the pod in the very moment in which somebody asked for
    /// the pod's end, and nobody saw with what it ended: the one as well as the other may have been
    /// first.
    fn was_at_limit(&self, death: &Death) -> bool {
        let near = |at: &Stamp| at.lo.saturating_sub(death.time.lo).abs() <= SECOND;
        let mut killed = self.over_limit.get(&death.pod).into_iter().flatten();
        death.mode == Mode::Killed && death.exit_code.is_none() && killed.any(near)
    }

    /// Whether a record of the pod's own says that it had not ended before.
    fn is_seen(&self, pod: &Task, death: &Death) -> bool {
        pod.kind != PodKind::Pod
            || death.mode == Mode::None
            || pod.body.is_some() && !self.cut
            || !pod.exits.is_empty()
            || self.alive.contains(&death.pod)
    }

    fn is_asked(&self, death: &Death) -> bool {
        let near = Stamp {
            lo: death.time.lo.saturating_sub(CLOCKS),
            hi: death.time.hi.saturating_add(CLOCKS),
        };
        death.mode == Mode::Killed
            && self
                .asked
                .get(&death.pod)
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

fn is_request(signal: &str) -> bool {
    // These act for what happened to the node or the object, and confirm what others asked for.
    const FOLLOW: [&str; 3] = ["kubelet", "node_controller", "podgc"];
    let by = signal
        .strip_prefix("k8s.pod.deleted_by_")
        .or_else(|| signal.strip_prefix("k8s.pod.evicted_by_"));
    REQUESTS.contains(&signal) || by.is_some_and(|by| !FOLLOW.contains(&by))
}

/// What can have brought one death about.
pub(super) struct Bounds<'a> {
    graph: &'a EntityGraph,
    death: &'a Death,
    requests: &'a Requests,
    /// The last instant at which something can still have done so.
    over: Option<Nanos>,
    /// Since when its container ends like that.
    schedule: Option<Nanos>,
    /// Whether somebody asked for its end.
    asked: bool,
    /// Whether its machine was seen alive then.
    in_sight: bool,
}

impl<'a> Bounds<'a> {
    pub(super) fn new(graph: &'a EntityGraph, requests: &'a Requests, death: &'a Death) -> Self {
        let asked = requests.is_asked(death);
        Self {
            graph,
            death,
            requests,
            over: over(graph, death),
            schedule: schedule(graph, death),
            asked,
            in_sight: asked || ended_by_itself(graph, death),
        }
    }

    /// Whether an edge is possible in time: its cause began before its effect, and both
    /// before the death was over, as far as clocks can tell.
    ///
    /// What belongs to the story or speaks against it brings nothing about and always is.
    #[must_use]
    pub(super) fn is_possible(&self, edge: &Edge) -> bool {
        if matches!(edge.kind, Kind::Context | Kind::Against) {
            return true;
        }
        let Some(cause) = self.graph.facts.get(edge.cause) else {
            return false;
        };
        if self.is_quoted(cause)
            || self.is_end_of_loop(cause)
            || edge.effect.is_none() && self.is_anothers(cause)
        {
            return false;
        }
        let too_late = |since: Nanos| cause.onset > since.saturating_add(CLOCKS);
        if is_of_machine(cause) && self.schedule.is_some_and(too_late) {
            return false;
        }
        let too_late = |fact: &Fact| self.requests.was_asked_before(self.graph, self.death, fact);
        let effect = edge.effect.and_then(|effect| self.graph.facts.get(effect));
        if too_late(cause) || effect.is_some_and(too_late) {
            return false;
        }
        // What is stuck or keeps failing goes on until somebody takes it away, and so does what
        // keeps it there.
        let Some(over) = self.over else {
            return true;
        };
        // A stretch between two scrapes is as wide as it can be: clocks are granted nothing beside it.
        // The end of a second is the beginning of the next.
        let granted = if cause.source_kind == SourceKind::Prometheus {
            CLOCKS.saturating_add(1)
        } else {
            0
        };
        if self.onset(cause) > over.saturating_sub(granted) {
            return false;
        }
        match edge.effect {
            None => true,
            Some(effect) => self.graph.facts.get(effect).is_some_and(|effect| {
                // What keeps something as it is may begin after it came to be so.
                let in_order = cause.onset <= effect.time.hi.saturating_add(CLOCKS);
                self.onset(effect) <= over && (self.death.goes_on() || in_order)
            }),
        }
    }

    /// The earliest that what a fact tells of can have begun.
    fn onset(&self, fact: &Fact) -> Nanos {
        if self.in_sight {
            fact.onset.max(fact.time.lo.saturating_sub(IN_SIGHT))
        } else {
            fact.onset
        }
    }

    /// Whether a record was made only after the death was over.
    #[must_use]
    pub(super) fn is_told_after(&self, fact: usize) -> bool {
        let fact = self.graph.facts.get(fact);
        matches!((fact, self.over), (Some(fact), Some(over)) if fact.time.lo > over)
    }

    /// How sure an edge is: that a machine failed is no reason for an end that somebody
    /// asked for at the API, unless a record says how the one led to the other, nor for the
    /// end of a pod that trained on under it, whether that ended by itself, with its node, or by
    /// the hand of nobody knows whom; nor for an ordinary end of one that came to it afterwards.
    #[must_use]
    pub(super) fn kind(&self, edge: &Edge) -> Kind {
        let cause = self.graph.facts.get(edge.cause);
        let unready = |fact: &Fact| self.graph.name(fact.signal) == "k8s.pod.not_ready";
        if edge.kind == Kind::Inferred && cause.is_some_and(unready) && self.has_just_begun() {
            return Kind::Guess;
        }
        let is_sure = matches!(edge.kind, Kind::Asserted | Kind::Inferred);
        if is_sure && cause.is_some_and(|fact| self.wrote_on(fact) || self.is_of_either(fact)) {
            return Kind::Guess;
        }
        if is_sure && edge.role != Role::Act && cause.is_some_and(|fact| self.is_survived(fact)) {
            return Kind::Guess;
        }
        // Of what a machine wrote at a time that nobody knows, nothing says that it was then.
        if is_sure && cause.is_some_and(|fact| is_of_machine(fact) && fact.time.hi == Nanos::MAX) {
            return Kind::Guess;
        }
        let of_machine = cause.filter(|fact| is_of_machine(fact));
        // A machine that is taken away for it is taken from all.
        if is_sure
            && edge.effect.is_none()
            && of_machine.is_some_and(|fault| self.is_perhaps_anothers(fault))
        {
            return Kind::Guess;
        }
        if edge.kind == Kind::Inferred
            && edge.role == Role::Fault
            && let Some(fault) = of_machine
            && (edge.effect.is_none()
                && (self.asked
                    || self.is_of_device(fault)
                        && (self.was_stopped()
                            || self.was_killed_beside(fault)
                            || self.is_late(fault)
                            || self.is_before_work(fault)))
                || self.is_older(fault)
                    && (self.asked || edge.effect.is_none() && self.is_ordinary())
                || edge.effect.is_none_or(|effect| self.is_of_nobody(effect))
                    && was_unharmed(self.graph, self.death, fault)
                || self.is_in_haste(fault)
                || edge
                    .effect
                    .is_some_and(|effect| self.is_beyond(fault, effect)))
        {
            return Kind::Guess;
        }
        edge.kind
    }

    /// Whether a fact is that nothing was heard of the node, and the pod, which nobody took away for
    /// that, wrote on: what became of the node since then no record says.
    fn wrote_on(&self, fact: &Fact) -> bool {
        let pod = self.graph.pods.get(self.death.pod as usize);
        let last = pod.and_then(|pod| pod.last_line);
        self.death.state == "not_ready"
            && SILENCE.contains(&self.graph.name(fact.signal))
            && last.is_some_and(|last| last.lo > fact.time.hi.saturating_add(CLOCKS))
    }

    /// Whether a fact is about a machine of which it gives no more than a name that another one bears, too.
    fn is_of_either(&self, fact: &Fact) -> bool {
        is_of_machine(fact)
            && !fact.instance.is_some()
            && self.requests.namesakes.contains(&fact.node)
    }

    /// Whether a device failed that another pod had.
    fn is_anothers(&self, fault: &Fact) -> bool {
        let own = self.graph.pods.get(self.death.pod as usize);
        is_of_machine(fault)
            && fault.holder.is_some()
            && own.is_some_and(|own| own.name != fault.holder)
    }

    /// Whether a GPU failed that another run on the machine may have had, and the program says nothing of one.
    fn is_perhaps_anothers(&self, fault: &Fact) -> bool {
        let spoke = &self.requests.failed_by_device;
        let tenants = &self.requests.tenants;
        let signal = self.graph.name(fault.signal);
        // A test of the machine fails by whatever is wrong with any of its GPUs.
        signal.starts_with("gpu.")
            && !signal.starts_with("gpu.test")
            && !fault.holder.is_some()
            && !spoke.contains(&self.death.pod)
            && tenants.are_several(self.graph, self.death.pod, fault)
    }

    /// Whether a fact is a line of the program's own that reads like one of a kernel: a machine's log
    /// is another one, so the program quotes it.
    fn is_quoted(&self, fact: &Fact) -> bool {
        let pod = self.graph.pods.get(self.death.pod as usize);
        fact.is_of_kernel
            && fact.pod == self.death.pod
            && pod.is_some_and(|pod| matches!(pod.kind, PodKind::Pod | PodKind::Job))
    }

    /// Whether a fact is that somebody ended a pod which had kept ending by itself until then.
    fn is_end_of_loop(&self, fact: &Fact) -> bool {
        let signal = self.graph.name(fact.signal);
        self.death.state == "crash_loop"
            && fact.pod == self.death.pod
            && (ALIVE.contains(&signal) || is_request(signal))
            && fact.onset > self.death.time.hi.saturating_add(CLOCKS)
    }

    /// Whether a fact is what the program wrote of something that it got over, or meant to: it
    /// worked on, or gave the line a level below error.
    fn is_survived(&self, fact: &Fact) -> bool {
        // What keeps failing gets over nothing for good; a mild line is mild each time.
        let survived = if self.death.goes_on() {
            self.death.state == "crash_loop" && fact.is_mild
        } else {
            self.graph.survived(fact)
        };
        fact.pod == self.death.pod
            && fact.is_line
            && fact.end.unwrap_or(fact.time) != Stamp::OPEN
            && survived
    }

    /// Whether a GPU failed and several nodes fell silent at once: that is beyond it.
    fn is_beyond(&self, fault: &Fact, effect: usize) -> bool {
        let of_gpu = self.graph.name(fault.signal).starts_with("gpu.");
        let silence = self.graph.facts.get(effect);
        let silence = silence.filter(|fact| SILENCE.contains(&self.graph.name(fact.signal)));
        of_gpu && silence.is_some_and(|silence| self.requests.is_shared(silence))
    }

    /// Whether somebody asked for the pod's end in the moment in which a device failed: whoever acts
    /// on a fault has to learn of it, and closes the machine first.
    fn is_in_haste(&self, fault: &Fact) -> bool {
        self.asked
            && self.is_of_device(fault)
            && !self.requests.tainted.contains(&self.death.pod)
            && self.death.time.lo.saturating_sub(fault.time.lo) < CLOCKS
    }

    /// Whether a fact is that nothing was heard of a node any more, or that a pod was sent away
    /// by somebody whom no record names.
    fn is_of_nobody(&self, fact: usize) -> bool {
        self.graph.facts.get(fact).is_some_and(|fact| {
            let signal = self.graph.name(fact.signal);
            SILENCE.contains(&signal) || signal == "k8s.pod.evicted.api" && !fact.actor.is_some()
        })
    }

    /// Whether a pod was not ready for so short a time that it may as well be about to be.
    fn has_just_begun(&self) -> bool {
        const PROBED: Nanos = 15 * SECOND;
        let since = |now: Nanos| now.saturating_sub(self.death.time.hi);
        self.death.state == "not_ready" && self.graph.now.is_some_and(|now| since(now) < PROBED)
    }

    /// Whether a device failed for good, in a moment: file servers fail for a while.
    fn is_of_device(&self, fault: &Fact) -> bool {
        let signal = self.graph.name(fault.signal);
        DEVICES
            .iter()
            .any(|device| signal == *device || device.ends_with('.') && signal.starts_with(device))
    }

    /// Whether a kubelet stopped the pod: no device does, but whoever had it stopped.
    fn was_stopped(&self) -> bool {
        let pod = self.graph.pods.get(self.death.pod as usize);
        self.death.mode == Mode::Killed
            && !self.requests.tainted.contains(&self.death.pod)
            && pod.is_some_and(|pod| pod.kind == PodKind::Pod)
    }

    /// Whether a signal ended the process that no link, disk or module of memory sends, and it says
    /// nothing of one.
    fn was_killed_beside(&self, fault: &Fact) -> bool {
        matches!(self.death.exit_code, Some(137 | 143))
            && self.is_ordinary()
            && SENDS_NONE
                .iter()
                .any(|device| self.graph.name(fault.signal).starts_with(device))
    }

    /// Whether a GPU failed, and what ended was an init container, which fetches and waits.
    fn is_before_work(&self, fault: &Fact) -> bool {
        let pod = self.graph.pods.get(self.death.pod as usize);
        let init = |exit: &&Exit| exit.container == self.death.container;
        self.graph.name(fault.signal).starts_with("gpu.")
            && pod.is_some_and(|pod| pod.exits.iter().find(init).is_some_and(|exit| exit.init))
    }

    /// Whether the process went on for a while after a machine failed once, and then ended as
    /// programs do.
    fn is_late(&self, fault: &Fact) -> bool {
        const SOON: Nanos = 60 * SECOND;
        let last = fault.end.unwrap_or(fault.time).hi;
        // Of an end that is known to minutes only, nothing says that it was soon after.
        self.is_ordinary() && self.death.time.hi.saturating_sub(last) > SOON
    }

    /// Whether the process ended by itself and says nothing of a device.
    fn is_ordinary(&self) -> bool {
        let spoke = &self.requests.failed_by_device;
        self.death.mode == Mode::Exited && !spoke.contains(&self.death.pod)
    }

    /// Whether a machine had failed before the pod came to it: who then asks for the pod's end
    /// may have another reason.
    fn is_older(&self, fault: &Fact) -> bool {
        let pod = self.graph.pods.get(self.death.pod as usize);
        pod.and_then(Task::known_begin)
            .is_some_and(|begin| fault.end.unwrap_or(fault.time).hi < begin)
    }
}

/// Whether a fact is about a machine and nothing on it.
fn is_of_machine(fact: &Fact) -> bool {
    fact.pod == NO && fact.workload == NO && fact.node.is_some()
}

/// When a container that ends and is started again first ended in the way it did now:
/// what happened to its machine since then is not why.
fn schedule(graph: &EntityGraph, death: &Death) -> Option<Nanos> {
    if !matches!(death.state, "restarted" | "crash_loop") {
        return None;
    }
    let pod = graph.pods.get(death.pod as usize)?;
    let mut ends: Vec<&Exit> = pod
        .exits
        .iter()
        .filter(|exit| exit.container == death.container && exit.time != Stamp::OPEN)
        .filter(|exit| exit.time.lo <= death.time.hi)
        .collect();
    ends.sort_by_key(|exit| exit.time);
    let same = ends
        .iter()
        .rev()
        .take_while(|exit| exit.exit_code == death.exit_code);
    let first = same.last()?.time.hi;
    // Of the ends before it the status keeps the number, and the wait between them.
    let restarts = pod.body.as_ref().map(|body| &body.restarts);
    let restarts = restarts.and_then(|all| all.get(graph.name(death.container)));
    let untold = restarts.map_or(0, |count| *count - ends.len() as i64);
    let wait = match untold {
        ..=0 => 0,
        1..=4 => (10 * SECOND) << (untold - 1),
        _ => 300 * SECOND,
    };
    Some(first.saturating_sub(wait))
}

/// Faults of machines after which a program that needs what failed makes no step.
const LETHAL: [&str; 8] = [
    "gpu.",
    "k8s.node.disk",
    "kernel.disk_error",
    "kernel.machine_check",
    "kernel.memory_error",
    "kernel.pcie_error",
    "nic.",
    "node.",
];

/// Whether the pod trained on for long after its machine failed: it was not hit, or not then.
fn was_unharmed(graph: &EntityGraph, death: &Death, fault: &Fact) -> bool {
    /// A step may be under way, and its line in a buffer.
    const LEAST: Nanos = 60 * SECOND;
    /// As many steps are no accident.
    const STEPS: Nanos = 3;
    let Some(progress) = graph
        .pods
        .get(death.pod as usize)
        .and_then(|pod| pod.progress.as_deref())
    else {
        return false;
    };
    let until = fault.end.unwrap_or(fault.time).hi;
    // No program goes on without its devices, as far as the clocks of its log and its kernel agree.
    let signal = graph.name(fault.signal);
    let of_device = LETHAL.iter().any(|device| signal.starts_with(device));
    if of_device && progress.went_on_after(until.saturating_add(CLOCKS), None) {
        return true;
    }
    progress.last.lo.saturating_sub(until) > LEAST.max(progress.usual().saturating_mul(STEPS))
}

/// Whether the kubelet saw the process end for a reason of its own: the machine ran on.
fn ended_by_itself(graph: &EntityGraph, death: &Death) -> bool {
    death.mode == Mode::Exited
        && match death.exit_code {
            // A machine that goes down sends these, or finds the container gone afterwards.
            Some(137 | 143 | 255) => graph.name(death.reason) == "OOMKilled",
            Some(_) => true,
            None => false,
        }
}

/// The last instant at which something can still have brought a death about, `None`
/// where it is none but a state that goes on until the pod is gone.
fn over(graph: &EntityGraph, death: &Death) -> Option<Nanos> {
    let time = if death.goes_on() {
        let pod = graph.pods.get(death.pod as usize)?;
        pod.deletion_requested.or(pod.gone)?
    } else {
        death.time
    };
    (time != Stamp::OPEN).then(|| time.hi.saturating_add(CLOCKS))
}
