//! What single facts teach about the lives of pods and workloads.

use crate::graph::TaskRow;
use crate::signals::named;

use whathappened_model::event::{Event, SourceKind};
use whathappened_model::kind::is_workload;
use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::identity::{Pods, Workloads};
use super::indexes::CompletedIndexes;
use super::workload_names::{created, workload};
use super::{Exit, Task, TaskKind, claims, instance, job, last_words, reported_ends};
use crate::request::was_done;
use crate::symbols::{Symbol, SymbolTable};

/// The earlier of two times; of one second told twice, the more exact one.
pub(super) fn earlier(known: Option<Stamp>, reported: Stamp) -> Option<Stamp> {
    if reported == Stamp::OPEN {
        return known;
    }
    Some(known.map_or(reported, |known| {
        if (reported.hi, reported.lo) < (known.hi, known.lo) {
            reported
        } else {
            known
        }
    }))
}

/// The later of two times; of one second told twice, the more exact one.
pub(super) fn later(known: Option<Stamp>, reported: Stamp) -> Option<Stamp> {
    if reported == Stamp::OPEN {
        return known;
    }
    Some(known.map_or(reported, |known| {
        if (reported.lo, -reported.hi) > (known.lo, -known.hi) {
            reported
        } else {
            known
        }
    }))
}

/// Learns from one fact. `number` is the pod it is about.
pub(super) fn event(
    event: &Event,
    number: Option<TaskRow>,
    symbols: &mut SymbolTable,
    pods: &mut Pods,
    workloads: &mut Workloads,
) {
    let one = number.zip(pods.all.get(number).map(|one| one.kind));
    match one {
        // What its programs write is read as that of a pod.
        Some((number, TaskKind::Instance)) if event.fact != "log.line" => {
            return instance::event(event, number, symbols, pods, workloads);
        }
        Some((number, TaskKind::Job)) => {
            job::event(event, number, symbols, pods);
            if event.fact != "log.line" {
                return;
            }
        }
        Some((_, TaskKind::Instance | TaskKind::Pod | TaskKind::Log)) | None => {}
    }
    claims::note(event, number, symbols, pods, workloads);
    if let Some(done) = CompletedIndexes::of(event) {
        let number = workload(event, symbols, workloads);
        if let Some(job) = workloads.all.get_mut(number) {
            job.done = Some(done);
        }
    }
    if event.object_kind.as_deref() == Some("Workload")
        && let Some(queue) = event.attribute("queue")
    {
        let number = workload(event, symbols, workloads);
        let queue = symbols.number(queue);
        if let Some(queued) = workloads.all.get_mut(number) {
            queued.queue = queue;
        }
    }
    let done = was_done(event);
    if done
        && event.attribute("propagation") == Some("Orphan")
        && event.object_kind.as_deref().is_some_and(is_workload)
    {
        orphaned(event, symbols, workloads);
    }
    if event.fact == "k8s.audit.create" && done && event.object_kind.as_deref() != Some("Pod") {
        created(event, symbols, workloads);
        return;
    }
    let Some(pod) = pods.all.get_mut(number) else {
        return;
    };
    if let Some(rank) = event.rank {
        pod.rank = pod.rank.or(Some(rank));
    }
    if event.fact == "log.line" {
        last_words::note(event, pod, symbols, &pods.traits);
    }
    // A kubelet touches the pods of its own node alone.
    let by_kubelet = event
        .actor
        .as_deref()
        .and_then(|by| by.strip_prefix("system:node:"));
    let init = event.attribute("init").is_some();
    match event.fact.as_str() {
        named::K8S_POD_BOUND => pod.bound = earlier(pod.bound, event.time),
        "k8s.audit.bind" if done => {
            pod.bound = earlier(pod.bound, event.time);
            if let Some(node) = &event.entities.node {
                pod.node = symbols.number(node);
            }
        }
        "k8s.audit.create" if done && !pod.made_by.is_some() => {
            pod.made_by = symbols.optional(event.actor.as_deref());
        }
        // A kubelet only confirms that a pod which was asked to go has ended.
        "k8s.audit.delete" if done && by_kubelet.is_some() => {
            pod.reports.confirmed = earlier(pod.reports.confirmed, event.time);
        }
        "k8s.audit.report" if done => pod.reports.times.push(event.time),
        "k8s.audit.delete" | "k8s.audit.deletecollection" | "k8s.audit.evict" if done => {
            pod.deletion_requested = earlier(pod.deletion_requested, event.time);
        }
        named::K8S_POD_DELETION_REQUESTED => {
            pod.deletion_requested = earlier(pod.deletion_requested, event.time);
            // What was printed without a time tells that it was, and not when.
            if event.time == Stamp::OPEN {
                pod.kills.push(event.time);
                pod.is_asked = true;
            }
        }
        "k8s.audit.untrack" if done => pod.untracked = earlier(pod.untracked, event.time),
        named::K8S_POD_DELETED => pod.gone = earlier(pod.gone, event.time),
        named::K8S_CONTAINER_STARTED if !init => start(pod, event.time),
        "k8s.container.terminated" => {
            let exit = Exit {
                time: event.time,
                container: symbols.optional(event.entities.container.as_deref()),
                init,
                exit_code: event.exit_code,
                reason: symbols.optional(event.reason.as_deref()),
            };
            if !init && let Some(started) = event.attribute("started").and_then(Stamp::parse) {
                start(pod, started);
            }
            // What was only measured, or seen by a controller, counts where nobody else tells.
            if event.source_kind == SourceKind::Prometheus || reported_ends::is_reported(event) {
                pod.heard.push(exit);
            } else {
                pod.exits.push(exit);
            }
        }
        "k8s.pod.status" => {
            let reported = (event.time, event.reason.clone().unwrap_or_default());
            pod.verdict = pod
                .verdict
                .take()
                .min(Some(reported.clone()))
                .or(Some(reported));
        }
        // Of what keeps it from starting the status tells where Events do not.
        "k8s.container.waiting" if holds_up(event.reason.as_deref()) => {
            pod.stuck = earlier(pod.stuck, event.time);
        }
        "k8s.pod.condition" => condition(pod, event),
        "k8s.event" => pod_event(pod, event, init, symbols),
        _ => {}
    }
    if let Some(node) =
        by_kubelet.filter(|_| !pod.node.is_some() && event.fact.starts_with("k8s.audit."))
    {
        pod.node = symbols.number(node);
    }
    if !pod.node.is_some() && event.entities.node.is_some() {
        pod.node = symbols.optional(event.entities.node.as_deref());
    }
}

/// Notes that a workload was deleted in such a way that its pods go on without it.
fn orphaned(event: &Event, symbols: &mut SymbolTable, workloads: &mut Workloads) {
    let number = workload(event, symbols, workloads);
    if let Some(left) = workloads.all.get_mut(number) {
        left.orphaned = earlier(left.orphaned, event.time);
    }
}

/// Ends that were only measured count for pods of which no record tells one, and what is only announced for
/// those of which no object shows what became of it.
pub(super) fn heard(pods: &mut Table<Task>) {
    for pod in pods {
        if pod.exits.is_empty() {
            pod.exits = std::mem::take(&mut pod.heard);
        }
        if pod.body.is_none() && !pod.removal_failed {
            pod.kills.extend(pod.sent_away);
        }
        if pod.body.is_some() || !pod.exits.is_empty() {
            pod.restarted.clear();
        }
        // What was printed says that its end was asked for; another record says when.
        if pod.kills.iter().any(|kill| *kill != Stamp::OPEN) {
            pod.kills.retain(|kill| *kill != Stamp::OPEN);
        }
        forget_done(pod);
    }
}

/// Who ends for a GPU that computes wrongly says last that it ends, as one does whose work is done.
fn forget_done(pod: &mut Task) {
    const SAVES: Nanos = 600 * SECOND;
    let progress = pod.progress.as_deref();
    let trained_on = |wrong: &Stamp| progress.is_some_and(|progress| progress.last.lo > wrong.hi);
    let wrong = pod.logged_wrong.filter(|wrong| !trained_on(wrong));
    let is_end = |(wrong, done): (Stamp, Stamp)| {
        done.hi >= wrong.lo && done.lo <= wrong.hi.saturating_add(SAVES)
    };
    if wrong.zip(pod.logged_done).is_some_and(is_end) {
        pod.logged_done = None;
    }
    if pod.untimed.wrong > pod.untimed.step {
        pod.untimed.done = 0;
    }
}

/// Whether a container waits for what does not come by itself.
pub(crate) fn holds_up(reason: Option<&str>) -> bool {
    matches!(
        reason,
        Some(
            "CreateContainerConfigError"
                | "CreateContainerError"
                | "ErrImageNeverPull"
                | "ErrImagePull"
                | "ImageInspectError"
                | "ImagePullBackOff"
                | "InvalidImageName"
                | "RunContainerError"
        )
    )
}

fn start(pod: &mut Task, at: Stamp) {
    pod.started = earlier(pod.started, at);
    pod.starts.push(at);
}

fn condition(pod: &mut Task, event: &Event) {
    let holds = event.attribute("status") == Some("True");
    match event.attribute("condition") {
        Some("Ready") => {
            // Its kubelet has taken it back.
            let taken_back = |again: Stamp| event.time != Stamp::OPEN && event.time <= again;
            if !holds && pod.ready_again.is_some_and(taken_back) {
                return;
            }
            // What was printed without a time was so when it was printed, whenever it began.
            let reported = (event.time, holds);
            let last = |(time, holds): &(Stamp, bool)| (time.hi, time.lo, *holds);
            pod.ready = pod.ready.into_iter().chain([reported]).max_by_key(last);
        }
        Some("DisruptionTarget") if holds => pod.kills.push(event.time),
        Some("PodScheduled") if !holds => pod.unplaced = earlier(pod.unplaced, event.time),
        _ => {}
    }
}

/// Whether a container that was started only prepares those of the pod: an Event that was printed does
/// not say of which kind it is.
fn prepares(pod: &Task, message: &str) -> bool {
    let started = message.strip_prefix("Started container ");
    started.is_some_and(|started| is_beside(pod, started))
}

/// Whether the pod's object shows that a container is none of its own: those are others than what prepares them, or goes
/// on beside them.
fn is_beside(pod: &Task, container: &str) -> bool {
    pod.body.as_ref().is_some_and(|body| {
        // A status tells its own containers from the others, and a spec lists them all.
        let own = &body.restarts;
        let others = || body.containers.iter().all(|one| one.name != container);
        match own.is_empty() {
            true => !body.containers.is_empty() && others(),
            false => !own.contains_key(container),
        }
    })
}

/// What a kubelet says of a container that it does not start again at once.
const HELD_BACK: &str = "Back-off restarting failed container";

/// Whether the container that a kubelet holds back is none of the pod's own: an Event that was printed names it in its text alone.
/// Kubelets before 1.27 do not name it.
fn is_beside_held(pod: &Task, message: &str) -> bool {
    let named = message.strip_prefix(HELD_BACK).unwrap_or_default();
    let name = named
        .strip_prefix(' ')
        .and_then(|rest| rest.split_once(" in pod "));
    name.is_some_and(|(name, _)| is_beside(pod, name))
}

/// Whether a record is that a kubelet stops the sidecar of a pod whose own containers ran: it does so once those are done,
/// however they ended, so that it says nothing of the pod's own end.
pub(super) fn is_sidecars_stop(event: &Event, pod: &Task) -> bool {
    if event.fact != "k8s.event" || event.reason.as_deref() != Some("Killing") {
        return false;
    }
    let message = event.message.as_deref().unwrap_or_default();
    let is_sidecar = |name| event.attribute("init").is_some() || is_beside(pod, name);
    let ran = pod.started.is_some() || !pod.starts.is_empty() || !pod.exits.is_empty();
    let stopped = message.strip_prefix("Stopping container ");
    ran && stopped.is_some_and(is_sidecar)
}

/// Events tell of pods whose object is gone.
fn pod_event(pod: &mut Task, event: &Event, init: bool, symbols: &mut SymbolTable) {
    let message = event.message.as_deref().unwrap_or_default();
    if event.time == Stamp::OPEN {
        printed(pod, event);
    }
    match event.reason.as_deref().unwrap_or_default() {
        "Started" if !init && !prepares(pod, message) => start(pod, event.time),
        // A sidecar that is an init container may fail beside those that work.
        "BackOff"
            if message.starts_with(HELD_BACK)
                && (!(init || is_beside_held(pod, message)) || pod.starts.is_empty()) =>
        {
            pod.held_back = later(pod.held_back, event.end.unwrap_or(event.time));
            pod.stuck = earlier(pod.stuck, event.time);
        }
        "Killing" if is_sidecars_stop(event, pod) => {}
        "Killing"
            if message.starts_with("Stopping container")
                || message.contains("Need to kill Pod") =>
        {
            pod.kills.push(event.time);
            pod.stopped = earlier(pod.stopped, event.time);
        }
        // It starts again what it stops for this, so that the pod goes on.
        "Killing" if message.ends_with("probe, will be restarted") && !init => {
            let container = message.strip_prefix("Container ");
            let container = container.and_then(|rest| rest.split_whitespace().next());
            pod.restarted.push(Exit {
                time: event.time,
                container: symbols.optional(container),
                init,
                exit_code: None,
                reason: Symbol::NONE,
            });
        }
        "ScaleDown" if message.starts_with("deleting pod") => {
            pod.sent_away = Some(earlier(pod.sent_away, event.time).unwrap_or(event.time));
        }
        "ScaleDownFailed" => pod.removal_failed = true,
        "TaintManagerEviction" if !message.starts_with("Cancelling") => {
            pod.kills.push(event.time);
        }
        "Preempted" | "Evicted" | "NodeControllerEviction" => {
            pod.kills.push(event.time);
        }
        "FailedScheduling" => pod.unplaced = earlier(pod.unplaced, event.time),
        // A kubelet that refuses a pod has done with it.
        reason if is_refusal(reason) => {
            let refused = (event.time, reason.to_owned());
            pod.verdict.get_or_insert(refused);
        }
        reason if is_stuck_reason(reason) => pod.stuck = earlier(pod.stuck, event.time),
        _ => {}
    }
}

/// Reasons for which a kubelet refuses a pod that was bound to its node, and never starts it.
pub(crate) fn is_refusal(reason: &str) -> bool {
    matches!(
        reason,
        "AppArmor"
            | "InvalidNodeInfo"
            | "NodeAffinity"
            | "NodeName"
            | "NodePorts"
            | "PodOSNotSupported"
            | "PodOSSelectorNodeLabelDoesNotMatch"
            | "SMTAlignmentError"
            | "SysctlForbidden"
            | "TopologyAffinityError"
            | "UnexpectedAdmissionError"
    ) || reason.starts_with("OutOf")
}

/// Reasons for which a kubelet cannot start a pod.
fn is_stuck_reason(reason: &str) -> bool {
    matches!(
        reason,
        "Failed"
            | "FailedMount"
            | "FailedAttachVolume"
            | "FailedCreatePodSandBox"
            | "BackOff"
            | "ErrImageNeverPull"
            | "InspectFailed"
            | "FailedPostStartHook"
    )
}

/// An Event that was printed with its age, in a text that does not tell when it was printed.
fn printed(pod: &mut Task, event: &Event) {
    let reason = event.reason.as_deref().unwrap_or_default();
    pod.printed.unplaced |= reason == "FailedScheduling";
    pod.printed.stuck |= is_stuck_reason(reason);
}
