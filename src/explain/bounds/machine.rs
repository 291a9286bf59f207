//! What a fault of a machine, or of a device of it, cannot have done to what ran there.

use whathappened_core::death::DeathState;
use whathappened_core::graph::{Exit, Fact, Progress, Task, TaskKind, may_train};
use whathappened_core::lifecycle::Mode;
use whathappened_core::signals::{SignalClass, named};
use whathappened_model::event::SourceKind;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::super::machine_facts::{DEVICES, SENDS_NONE, is_of_machine};
use super::super::requests::SILENCE;
use super::Bounds;

/// A machine that is asked to go down does so within this long, its clock is not off by more, and a program that writes
/// its steps does not keep them back for longer.
const SILENT: Nanos = 120 * SECOND;

impl Bounds<'_> {
    /// Whether a fact is about a machine of which it gives no more than a name that another one bears, too.
    pub(super) fn is_of_either(&self, fact: &Fact) -> bool {
        is_of_machine(fact)
            && !fact.instance.is_some()
            && self.requests.namesakes.contains(&fact.node)
    }

    /// Whether a device failed that another pod had.
    pub(super) fn is_anothers(&self, fault: &Fact) -> bool {
        let own = self.task();
        is_of_machine(fault)
            && fault.holder.is_some()
            && own.is_some_and(|own| own.name != fault.holder)
    }

    /// Whether a GPU failed that another run on the machine may have had, and the program says nothing of one.
    pub(super) fn is_perhaps_anothers(&self, fault: &Fact) -> bool {
        let spoke = &self.requests.failed_by_device;
        let tenants = &self.requests.tenants;
        let signal = self.graph.name(fault.signal);
        // A test of the machine fails by whatever is wrong with any of its GPUs.
        signal.starts_with("gpu.")
            && !signal.starts_with("gpu.test")
            && !fault.holder.is_some()
            && !spoke.has(self.death.pod)
            && tenants.are_several(self.graph, self.death.pod, fault)
    }

    /// Whether the driver names the program on whose account it tells of an error in what that had on the GPU, which is no
    /// trainer, and this one says nothing of a GPU.
    pub(super) fn is_of_another_program(&self, fault: &Fact) -> bool {
        let signal = self.graph.name(fault.signal);
        let process = self.graph.name(fault.detail);
        (signal.starts_with(named::GPU_MEMORY_ERROR) || signal.starts_with(named::GPU_APPLICATION_ERROR))
            && fault.detail.is_some()
            // Of a condition it is the name.
            && fault.source_kind != SourceKind::Kubernetes
            && !may_train(process)
            && !self.requests.failed_by_device.has(self.death.pod)
    }

    /// Whether a GPU failed and several nodes fell silent at once: that is beyond it.
    pub(super) fn is_beyond(&self, fault: &Fact, effect: usize) -> bool {
        let of_gpu = self.graph.name(fault.signal).starts_with("gpu.");
        let silence = self.graph.facts.get(effect);
        let silence = silence.filter(|fact| SILENCE.contains(&self.graph.name(fact.signal)));
        of_gpu && silence.is_some_and(|silence| self.requests.is_shared(silence))
    }

    /// Whether the steps stopped as something befell the machine, long before the end.
    pub(super) fn stood_still_since(&self, fault: &Fact) -> bool {
        let progress = self.task().and_then(|task| task.progress.as_deref());
        let is_final = self
            .graph
            .traits
            .is(self.graph.name(fault.signal), SignalClass::Final);
        let stopped = |steps: &Progress| steps.stopped_at(fault.time, self.death.time, is_final);
        progress.and_then(stopped) == Some(true)
    }

    /// Whether a batch job's own system says why it ended, and that needs no fault.
    pub(super) fn has_reason_of_its_own(&self) -> bool {
        let reason = self.graph.name(self.death.reason);
        self.is_of_kind(TaskKind::Job)
            && matches!(reason, "CANCELLED" | "DEADLINE" | "PREEMPTED" | "TIMEOUT")
    }

    /// Whether a program that tells of its steps had told nothing for many of them when its machine was taken, or told of
    /// more long after: nothing shows that it ran until then, and no longer.
    pub(super) fn was_not_heard(&self) -> bool {
        let is_alone = |task: &&Task| matches!(task.kind, TaskKind::Instance | TaskKind::Log);
        let is_known = self.death.state == DeathState::Died && self.death.time.width() < SILENT;
        let task = self.task().filter(is_alone).filter(|_| is_known);
        let heard = task.and_then(|task| Some((task.progress.as_deref()?, task.last_line?)));
        self.recorded.is_none()
            && heard.is_some_and(|(steps, last)| {
                let later = steps.last.lo > self.death.time.hi.saturating_add(SILENT);
                steps.are_known() && (later || self.is_long_after(steps, last.hi))
            })
    }

    /// Whether a program that tells of its steps had told of none for many of them when it ended.
    pub(super) fn has_made_no_step_for_long(&self) -> bool {
        let progress = self.task().and_then(|task| task.progress.as_deref());
        progress.is_some_and(|steps| steps.are_known() && self.is_long_after(steps, steps.last.hi))
    }

    /// Whether the end came so long after something that a program would have made many steps meanwhile.
    fn is_long_after(&self, steps: &Progress, since: Nanos) -> bool {
        const STEPS: Nanos = 10;
        let least = SILENT.max(steps.usual().saturating_mul(STEPS));
        self.death.time.lo.saturating_sub(since) > least
    }

    /// Whether somebody had taken its machine out of service by then.
    pub(super) fn was_taken(&self) -> bool {
        let node = self.task().map(|task| task.node);
        node.is_some_and(|node| self.requests.was_taken(node, self.death.time))
    }

    /// Whether the program was ended before its next step but one was due: nothing shows that it had stopped by then.
    pub(super) fn was_on_time(&self) -> bool {
        let progress = self.task().and_then(|task| task.progress.as_deref());
        progress.is_some_and(|steps| {
            let since = self.death.time.lo.saturating_sub(steps.last.hi);
            steps.are_known() && since < steps.usual().saturating_mul(2)
        })
    }

    /// Whether somebody asked for the pod's end in the moment in which a device failed: whoever acts
    /// on a fault has to learn of it, and closes the machine first.
    pub(super) fn is_in_haste(&self, fault: &Fact, request: Option<&Fact>) -> bool {
        self.asked
            && self.is_of_device(fault)
            && !self.requests.tainted.has(self.death.pod)
            && self.death.time.lo.saturating_sub(fault.time.lo) < CLOCKS
            && !request.is_some_and(|request| self.closed_first(fault, request))
    }

    /// Whether who asked for the pod's end had closed its machine just before, once the fault was known.
    fn closed_first(&self, fault: &Fact, request: &Fact) -> bool {
        let mut facts = self.graph.facts.iter();
        request.actor.is_some()
            && facts.any(|fact| {
                let since = fault.time.lo..=request.time.hi;
                fact.node == fault.node
                    && fact.actor == request.actor
                    && since.contains(&fact.time.lo)
                    && self
                        .graph
                        .name(fact.signal)
                        .starts_with(named::K8S_NODE_CORDONED)
            })
    }

    /// Whether a machine's log tells of a fault of a device after the second in which a program had ended by itself there,
    /// which says nothing of a device: the kubelet has the clock of its machine, and a kernel writes what it sees when it sees
    /// it. What goes over a network is sent again for seconds before a link that is down ends anything.
    pub(super) fn is_of_afterwards(&self, fault: &Fact) -> bool {
        let end = self.death.time;
        let of_link = self.graph.name(fault.signal).starts_with("nic.");
        let ended = if of_link && end.width() <= SECOND {
            end.lo
        } else {
            end.hi
        };
        fault.source_kind == SourceKind::NodeLog
            && self.is_of_device(fault)
            && self.is_ordinary()
            && !self.death.goes_on()
            && end != Stamp::OPEN
            && fault.time != Stamp::OPEN
            && fault.time.lo > ended
    }

    /// Whether a machine's log tells of a fault of a device after the machine had begun to go down in good order: drivers are
    /// taken down then, and links with them.
    pub(super) fn is_of_shutdown(&self, fault: &Fact) -> bool {
        fault.source_kind == SourceKind::NodeLog
            && self.is_of_device(fault)
            && self.requests.was_shutting_down(fault.node, fault.time)
    }

    /// Whether a machine's log tells of a fault of a device after the machine had booted, which ended the pod that was on it
    /// and was not started again there.
    pub(super) fn is_of_next_boot(&self, fault: &Fact) -> bool {
        let task = self.task().filter(|task| task.kind == TaskKind::Pod);
        let since = task.and_then(|task| {
            task.starts
                .last()
                .map(|start| start.hi)
                .or(task.known_begin())
        });
        fault.source_kind == SourceKind::NodeLog
            && self.is_of_device(fault)
            && fault.time != Stamp::OPEN
            && since.is_some_and(|since| {
                self.requests
                    .booted_between(fault.node, since, fault.time.lo)
            })
    }

    /// Whether a device failed for good, in a moment: file servers fail for a while.
    pub(super) fn is_of_device(&self, fault: &Fact) -> bool {
        let signal = self.graph.name(fault.signal);
        DEVICES
            .iter()
            .any(|device| signal == *device || device.ends_with('.') && signal.starts_with(device))
    }

    /// Whether a kubelet stopped the pod: no device does, but whoever had it stopped.
    pub(super) fn was_stopped(&self) -> bool {
        let pod = self.task();
        self.death.mode == Mode::Killed
            && !self.requests.tainted.has(self.death.pod)
            && pod.is_some_and(|pod| pod.kind == TaskKind::Pod)
    }

    /// Whether a signal ended the process that no link, disk or module of memory sends, and it says
    /// nothing of one.
    pub(super) fn was_killed_beside(&self, fault: &Fact) -> bool {
        matches!(self.death.exit_code, Some(137 | 143))
            && self.is_ordinary()
            && SENDS_NONE
                .iter()
                .any(|device| self.graph.name(fault.signal).starts_with(device))
    }

    /// Whether a GPU failed, and what ended was an init container, which fetches and waits.
    pub(super) fn is_before_work(&self, fault: &Fact) -> bool {
        let pod = self.task();
        let init = |exit: &&Exit| exit.container == self.death.container;
        self.graph.name(fault.signal).starts_with("gpu.")
            && pod.is_some_and(|pod| pod.exits.iter().find(init).is_some_and(|exit| exit.init))
    }

    /// Whether the process went on for a while after a machine failed once, and then ended as
    /// programs do.
    pub(super) fn is_late(&self, fault: &Fact) -> bool {
        const SOON: Nanos = 60 * SECOND;
        let last = fault.end.unwrap_or(fault.time).hi;
        // Of an end that is known to minutes only, nothing says that it was soon after.
        self.is_ordinary() && self.death.time.hi.saturating_sub(last) > SOON
    }

    /// Whether the process ended by itself and says nothing of a device.
    pub(super) fn is_ordinary(&self) -> bool {
        let spoke = &self.requests.failed_by_device;
        self.death.mode == Mode::Exited && !spoke.has(self.death.pod)
    }

    /// Whether a machine had failed before the pod came to it: who then asks for the pod's end
    /// may have another reason.
    pub(super) fn is_older(&self, fault: &Fact) -> bool {
        self.task()
            .and_then(Task::known_begin)
            .is_some_and(|begin| fault.end.unwrap_or(fault.time).hi < begin)
    }
}
