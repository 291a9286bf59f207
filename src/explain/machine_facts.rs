//! What machines say of themselves, and which of it cannot have ended what ran on them.

use whathappened_core::death::Death;
use whathappened_core::graph::{EntityGraph, Fact, NO, Task, TaskKind};
use whathappened_core::lifecycle::Mode;
use whathappened_model::event::SourceKind;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::bounds::CLOCKS;

/// What machines say of their devices.
pub(super) const DEVICES: [&str; 8] = [
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
pub(super) const SENDS_NONE: [&str; 6] = [
    "k8s.node.disk",
    "k8s.node.memory_error",
    "kernel.disk_error",
    "kernel.memory_error",
    "kernel.pcie_error",
    "nic.",
];

/// Whether a fact is about a machine and nothing on it.
pub(super) fn is_of_machine(fact: &Fact) -> bool {
    fact.pod == NO && fact.workload == NO && fact.node.is_some()
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
pub(super) fn was_unharmed(graph: &EntityGraph, death: &Death, fault: &Fact) -> bool {
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

/// What takes a machine down, or tells that it was.
const DOWN: [&str; 14] = [
    "cloud.host_error",
    "cloud.instance_deleted",
    "cloud.instance_recreated",
    "cloud.instance_reset",
    "cloud.instance_stopped",
    "cloud.instance_terminating",
    "k8s.node.rebooted",
    "k8s.node.shutdown",
    "kernel.panic",
    "maintenance.terminated",
    "node.crashed",
    "node.powered_off",
    "node.powering_off",
    "node.rebooting",
];

/// Whether the program made steps long after its machine went down: it was started again there, and what ended it
/// at last came later.
pub(super) fn was_started_again(graph: &EntityGraph, death: &Death, fact: &Fact) -> bool {
    /// A machine that goes down in good order lets programs go on for as long.
    const GOING: Nanos = 120 * SECOND;
    let pod = graph.pods.get(death.pod as usize);
    let Some(progress) = pod.and_then(|pod| pod.progress.as_deref()) else {
        return false;
    };
    let signal = graph.name(fact.signal);
    let is_last = progress.last.lo <= death.time.hi.saturating_add(CLOCKS);
    let until = fact.end.unwrap_or(fact.time);
    DOWN.iter().any(|down| signal.starts_with(down))
        && fact.due.is_none()
        && until != Stamp::OPEN
        && !death.goes_on()
        && is_last
        && progress.went_on_after(until.hi.saturating_add(GOING), None)
}

/// Whether a machine told of a fact after its program had ended by itself: a program that writes a log there has the clock
/// of the machine, and what a kernel or a service writes it writes when it sees it.
pub(super) fn came_after(task: &Task, death: &Death, fact: &Fact) -> bool {
    /// What is told later than this is told by who looks now and then, or by a machine that is up again.
    const AT_ONCE: Nanos = 10 * SECOND;
    matches!(task.kind, TaskKind::Instance | TaskKind::Log)
        && is_of_machine(fact)
        && fact.source_kind == SourceKind::NodeLog
        && fact.node == task.node
        && death.mode == Mode::Exited
        && death.time != Stamp::OPEN
        && fact.time.lo.saturating_sub(fact.onset) <= AT_ONCE
        && fact.time.lo > death.time.hi.saturating_add(SECOND)
}
