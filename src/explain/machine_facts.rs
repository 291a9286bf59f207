//! What machines say of themselves, and which of it cannot have ended what ran on them.

use whathappened_core::death::Death;
use whathappened_core::evidence::{EvidenceRow, Row};
use whathappened_core::graph::{EntityGraph, Fact, Journals, Task, TaskKind};
use whathappened_core::lifecycle::Mode;
use whathappened_core::signals::{SignalClass, named};
use whathappened_model::event::SourceKind;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

/// What machines say of their devices.
pub(super) const DEVICES: [&str; 8] = [
    "gpu.",
    named::K8S_NODE_DISK,
    named::K8S_NODE_MEMORY_ERROR,
    named::KERNEL_DISK_ERROR,
    named::KERNEL_MACHINE_CHECK,
    named::KERNEL_MEMORY_ERROR,
    "kernel.pcie_error.",
    "nic.",
];

/// Devices whose failure ends no process with a signal to stop it: who needs them fails, or the
/// machine does. For bad memory the kernel has another signal.
pub(super) const SENDS_NONE: [&str; 6] = [
    named::K8S_NODE_DISK,
    named::K8S_NODE_MEMORY_ERROR,
    named::KERNEL_DISK_ERROR,
    named::KERNEL_MEMORY_ERROR,
    named::KERNEL_PCIE_ERROR,
    "nic.",
];

/// Whether a fact is about a machine and nothing on it.
pub(super) fn is_of_machine(fact: &Fact) -> bool {
    fact.pod.is_none() && fact.workload.is_none() && fact.node.is_some()
}

/// Faults of machines after which a program that needs what failed makes no step.
const LETHAL: [&str; 8] = [
    "gpu.",
    named::K8S_NODE_DISK,
    named::KERNEL_DISK_ERROR,
    named::KERNEL_MACHINE_CHECK,
    named::KERNEL_MEMORY_ERROR,
    named::KERNEL_PCIE_ERROR,
    "nic.",
    "node.",
];

/// Whether the pod trained on for long after its machine failed: it was not hit, or not then.
pub(super) fn was_unharmed(graph: &EntityGraph, death: &Death, fault: &Fact) -> bool {
    /// A step may be under way, and its line in a buffer.
    const LEAST: Nanos = 60 * SECOND;
    /// As many steps are no accident.
    const STEPS: Nanos = 3;
    let Some(progress) = graph
        .pods
        .get(death.pod)
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

/// What a machine tells of once it is up again.
const UP_AGAIN: [&str; 2] = [named::K8S_NODE_REBOOTED, named::NODE_CRASHED];

/// Whether the program made steps long after its machine went down: it was started again there, and what ended it
/// at last came later.
pub(super) fn was_started_again(graph: &EntityGraph, death: &Death, fact: &Fact) -> bool {
    let pod = graph.pods.get(death.pod);
    let Some(progress) = pod.and_then(|pod| pod.progress.as_deref()) else {
        return false;
    };
    let signal = graph.name(fact.signal);
    let going = if UP_AGAIN.contains(&signal) {
        CLOCKS
    } else {
        GOING_DOWN
    };
    let is_last = progress.last.lo <= death.time.hi.saturating_add(CLOCKS);
    let until = fact.end.unwrap_or(fact.time);
    goes_down(graph, signal)
        && fact.due.is_none()
        && until != Stamp::OPEN
        && !death.goes_on()
        && is_last
        && progress.went_on_after(until.hi.saturating_add(going), None)
}

/// Whether something takes a machine down, or tells that it was.
fn goes_down(graph: &EntityGraph, signal: &str) -> bool {
    graph.traits.is(signal, SignalClass::TakesDown)
}

/// A machine that goes down in good order lets programs go on for as long.
const GOING_DOWN: Nanos = 120 * SECOND;

/// The record that a machine's journal has of the end of the service that a program ran as.
pub(super) struct RecordedEnd<'a> {
    /// Several logs may hold one record.
    rows: Vec<EvidenceRow>,
    journals: &'a Journals,
}

impl<'a> RecordedEnd<'a> {
    pub(super) fn of(graph: &EntityGraph, death: &Death, journals: &'a Journals) -> Option<Self> {
        let task = graph.pods.get(death.pod)?;
        if !matches!(task.kind, TaskKind::Instance | TaskKind::Log) {
            return None;
        }
        let exited = graph.evidence.symbols.find(named::UNIT_MAIN_EXITED)?;
        // Whose process the kernel kills is gone a moment later.
        let within = Stamp {
            hi: death.time.hi.saturating_add(CLOCKS),
            ..death.time
        };
        let ends = graph.facts.iter().filter(|fact| {
            fact.pod == death.pod && fact.signal == exited && fact.time.overlaps(within)
        });
        let ends: Vec<&Fact> = ends.collect();
        // Of several whose times nobody knows it may be any.
        let is_known = ends.len() == 1 || ends.first()?.time != Stamp::OPEN;
        is_known.then(|| Self {
            rows: ends.iter().map(|end| end.row).collect(),
            journals,
        })
    }

    /// Whether a fact stands before it in the same journal.
    pub(super) fn is_after(&self, graph: &EntityGraph, fact: &Fact) -> bool {
        self.any(graph, fact, |end, fact| self.journals.is_after(end, fact))
    }

    /// Whether a fact stands behind it in the same journal.
    pub(super) fn is_before(&self, graph: &EntityGraph, fact: &Fact) -> bool {
        self.any(graph, fact, |end, fact| self.journals.is_after(fact, end))
    }

    /// Whether that holds of a record of the end and a fact's.
    fn any(&self, graph: &EntityGraph, fact: &Fact, holds: impl Fn(&Row, &Row) -> bool) -> bool {
        let rows = graph.evidence.rows();
        let fact = rows.get(fact.row);
        let mut ends = self.rows.iter().filter_map(|row| rows.get(*row));
        fact.is_some_and(|fact| ends.any(|end| holds(end, fact)))
    }
}

/// Whether a machine told of a fact after its program had ended by itself: a program that writes a log there has the clock
/// of the machine, and what a kernel or a service writes it writes when it sees it.
pub(super) fn came_after(
    graph: &EntityGraph,
    death: &Death,
    end: Option<&RecordedEnd<'_>>,
    fact: &Fact,
) -> bool {
    /// What is told later than this is told by who looks now and then.
    const AT_ONCE: Nanos = 10 * SECOND;
    let task = graph.pods.get(death.pod);
    let writes = |task: &Task| {
        matches!(task.kind, TaskKind::Instance | TaskKind::Log) && fact.node == task.node
    };
    let signal = graph.name(fact.signal);
    // What is stopped for a shutdown ends before most of what tells of that; who panics stops nothing.
    let stops_it = goes_down(graph, signal)
        && signal != named::KERNEL_PANIC
        && matches!(death.exit_code, Some(0 | 137 | 143))
        && fact.time.lo <= death.time.hi.saturating_add(GOING_DOWN)
        && !was_out_of_memory(graph, death)
        && !was_asked_to_stop(graph, death);
    let is_prompt = goes_down(graph, signal) || fact.time.lo.saturating_sub(fact.onset) <= AT_ONCE;
    let is_dated = death.time != Stamp::OPEN;
    let is_behind = end.is_some_and(|end| end.is_before(graph, fact));
    let is_later = is_dated && fact.time.lo >= death.time.hi.saturating_add(SECOND) || is_behind;
    is_of_machine(fact)
        && fact.source_kind == SourceKind::NodeLog
        && task.is_some_and(writes)
        // Whatever ended it, its machine saw the end by then.
        && (death.mode == Mode::Exited || is_behind)
        && is_prompt
        && is_later
        && !stops_it
}

/// Whether somebody asked for the end of the service itself just before it ended.
fn was_asked_to_stop(graph: &EntityGraph, death: &Death) -> bool {
    graph.facts.iter().any(|fact| {
        let lag = death.time.hi.saturating_sub(fact.time.lo);
        fact.pod == death.pod
            && fact.time != Stamp::OPEN
            && (0..=GOING_DOWN).contains(&lag)
            && graph.name(fact.signal) == named::UNIT_STOP_REQUESTED
    })
}

/// Whether the kernel killed a process of the program, or of its machine, for memory as that ended.
fn was_out_of_memory(graph: &EntityGraph, death: &Death) -> bool {
    let node = graph.pods.get(death.pod).map(|task| task.node);
    let within = Stamp {
        lo: death.time.lo.saturating_sub(CLOCKS),
        hi: death.time.hi.saturating_add(CLOCKS),
    };
    death.exit_code == Some(137)
        && graph.facts.iter().any(|fact| {
            let signal = graph.name(fact.signal);
            let is_kill = signal.starts_with(named::UNIT_OOM_KILLED)
                || signal.starts_with(named::KERNEL_OOM_KILL);
            let is_own = fact.pod == death.pod || fact.pod.is_none() && Some(fact.node) == node;
            is_kill && is_own && fact.time != Stamp::OPEN && fact.time.overlaps(within)
        })
}

/// What is done to a machine, or to what is on it, for a fault that it has: by who watches machines, or by whoever closes one.
const FOR_A_FAULT: [&str; 6] = [
    named::K8S_NODE_CORDONED,
    named::K8S_NODE_DRAINED,
    "k8s.node.tainted",
    named::K8S_POD_EVICTED_DEVICE_TAINT,
    named::K8S_POD_EVICTED_TAINT,
    "slurm.node.",
];

/// Whether a fault of a machine may lead to an act although what ran there had trained on under it.
pub(super) fn is_for_a_fault(signal: &str) -> bool {
    // An operator's controller may watch machines.
    signal.ends_with("_by_remediator")
        || signal.ends_with("_by_controller")
        || FOR_A_FAULT.iter().any(|stem| signal.starts_with(stem))
}

/// Whether an act needs no fault: a limit that was reached, and what people do to a machine or ask of it.
pub(super) fn is_anybodys(signal: &str) -> bool {
    const ACTS: [&str; 7] = [
        named::K8S_NODE_SHUTDOWN,
        "node.power",
        "node.reboot",
        named::SLURM_TIME_LIMIT,
        "slurm.node.reason",
        "slurm.node.set",
        named::UNIT_TIMED_OUT,
    ];
    ACTS.iter().any(|act| signal.starts_with(act)) || signal.ends_with(".deadline")
}

/// Whether who took a node out of service gave a reason that has nothing to do with its GPUs.
pub(super) fn names_another_part(graph: &EntityGraph, fault: &Fact, effect: &Fact) -> bool {
    const OF_GPUS: [&str; 13] = [
        "bus", "cuda", "dcgm", "device", "ecc", "gpu", "hardware", "health", "memory", "nhc",
        "nvidia", "nvlink", "xid",
    ];
    let reason = graph.name(effect.detail).to_lowercase();
    graph.name(fault.signal).starts_with("gpu.")
        && graph.name(effect.signal).starts_with("slurm.node.")
        && effect.detail.is_some()
        && !OF_GPUS.iter().any(|word| reason.contains(word))
}

/// Whether a fault of a machine leads to an act by no way that is known: a person has reasons of their own, and what
/// used up memory, disk or processes is why a kubelet evicts for it.
pub(super) fn is_for_another_reason(signal: &str) -> bool {
    signal.ends_with("_by_user")
        || signal.starts_with(named::K8S_POD_EVICTED_PRESSURE)
        || signal.starts_with(named::K8S_POD_EVICTED_STORAGE_LIMIT)
}
