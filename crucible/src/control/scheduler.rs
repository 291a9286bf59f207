//! The scheduler: where a pod goes, why it cannot, and whom it pushes out.

use serde_json::json;

use crate::control::{kubelet, make};
use crate::time::MS;
use crate::world::{ActId, Ask, Change, Client, Key, Kind, Relation, Source, World, names};

/// How soon the scheduler looks at a pod again.
const BACKOFF: i64 = 1000 * MS;

/// What is true of a workload that waits and for which nothing else is planned.
pub(crate) const NO_ROOM: &str = "no node takes it";

/// GPUs that are free on a node.
fn free(w: &World, node: usize) -> i64 {
    let has = w.nodes.get(node).map_or(0, |node| i64::from(node.gpus.1));
    let used: i64 = w
        .pods
        .iter()
        .filter(|pod| pod.node == Some(node) && pod.gone.is_none() && !pod.phase.is_over())
        .filter_map(|pod| w.loads.get(pod.load))
        .map(|load| i64::from(load.plan.gpus))
        .sum();
    has - used
}

fn wants(w: &World, pod: usize) -> i64 {
    w.pods
        .get(pod)
        .and_then(|pod| w.loads.get(pod.load))
        .map_or(0, |load| i64::from(load.plan.gpus))
}

fn priority(w: &World, pod: usize) -> i32 {
    w.pods
        .get(pod)
        .and_then(|pod| w.loads.get(pod.load))
        .and_then(|load| load.plan.priority.as_ref())
        .map_or(0, |one| one.1)
}

/// Why a node does not take a pod; `None` where it does.
fn refusal(w: &World, pod: usize, at: usize) -> Option<String> {
    let node = w.nodes.get(at)?;
    let load = w.pods.get(pod).and_then(|pod| w.loads.get(pod.load))?;
    if node.unschedulable {
        return Some("node(s) were unschedulable".to_owned());
    }
    if let Some(taint) = node
        .taints
        .iter()
        .find(|taint| taint.effect != "PreferNoSchedule")
    {
        let value = taint.value.as_deref().unwrap_or("");
        return Some(if w.plan.cluster.minor >= 34 {
            format!(
                "node(s) had untolerated taint(s) {{{}: {value}}}",
                taint.key
            )
        } else {
            format!("node(s) had untolerated taint {{{}: {value}}}", taint.key)
        });
    }
    if let Some((name, value)) = &load.selector
        && !node
            .labels
            .iter()
            .any(|(key, has)| key == name && has == value)
    {
        return Some("node(s) didn't match Pod's node affinity/selector".to_owned());
    }
    (free(w, at) < wants(w, pod)).then(|| "Insufficient nvidia.com/gpu".to_owned())
}

/// Whether any node takes the pod as things are.
#[must_use]
pub fn fits(w: &World, pod: usize) -> Option<usize> {
    let mut open: Vec<(usize, i64, usize)> = (0..w.nodes.len())
        .filter(|&at| w.nodes.get(at).is_some_and(|node| node.gone.is_none()))
        .filter(|&at| refusal(w, pod, at).is_none())
        .map(|at| (beside(w, pod, at), -free(w, at), at))
        .collect();
    open.sort_unstable();
    open.first().map(|(_, _, at)| *at)
}

/// How many others of a pod's kind are on a node, where these are the agents of nodes: such have one on each.
fn beside(w: &World, pod: usize, node: usize) -> usize {
    const AGENTS: &str = "gpu-operator";
    let load = w.pods.get(pod).map(|pod| pod.load);
    let is_agent = load
        .and_then(|load| w.loads.get(load))
        .is_some_and(|load| load.plan.namespace == AGENTS);
    let others = w.pods.iter().filter(|other| {
        is_agent && Some(other.load) == load && other.node == Some(node) && other.gone.is_none()
    });
    others.count()
}

/// Tries all pods that wait for a node.
pub fn schedule(w: &mut World) {
    if w.down.scheduler.is_some() {
        return;
    }
    let mut waiting: Vec<(i32, usize)> = (0..w.pods.len())
        .filter(|&at| {
            w.pods.get(at).is_some_and(|pod| {
                pod.node.is_none()
                    && pod.gone.is_none()
                    && pod.deletion.is_none()
                    && !pod.phase.is_over()
            })
        })
        .map(|at| (-priority(w, at), at))
        .collect();
    waiting.sort_unstable();
    for (_, pod) in waiting {
        try_one(w, pod);
    }
}

fn try_one(w: &mut World, pod: usize) {
    let now = w.now;
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    // What was found unschedulable is not looked at again at once.
    if body.tried.is_some_and(|tried| now.since(tried) < BACKOFF) {
        return;
    }
    body.tried = Some(now);
    if let Some(node) = fits(w, pod) {
        bind(w, pod, node);
        return;
    }
    let total = w.nodes.iter().filter(|node| node.gone.is_none()).count();
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for at in 0..w.nodes.len() {
        if w.nodes.get(at).is_some_and(|node| node.gone.is_some()) {
            continue;
        }
        let Some(reason) = refusal(w, pod, at) else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    reasons.sort();
    let detail: Vec<String> = reasons
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    let detail = format!("0/{total} nodes are available: {}.", detail.join(", "));
    let pushed = preempt(w, pod);
    let tail = if pushed {
        String::new()
    } else {
        let claims = if w.plan.cluster.minor >= 34 {
            " no new claims to deallocate,"
        } else {
            ""
        };
        let busy = reasons
            .iter()
            .filter(|(reason, _)| reason.starts_with("Insufficient"))
            .map(|(_, count)| count)
            .sum::<usize>();
        let mut parts = Vec::new();
        if busy > 0 {
            parts.push(format!(
                "{busy} No preemption victims found for incoming pod"
            ));
        }
        if total > busy {
            parts.push(format!(
                "{} Preemption is not helpful for scheduling",
                total - busy
            ));
        }
        format!(
            "{claims} preemption: 0/{total} nodes are available: {}.",
            parts.join(", ")
        )
    };
    let Some(load) = w.pods.get(pod).map(|pod| pod.load) else {
        return;
    };
    if w.loads.get(load).is_some_and(|load| load.blocked.is_none()) {
        let act = w.act(
            NO_ROOM,
            &[
                "sched.unschedulable_capacity",
                "sched.unschedulable_constraint",
            ],
            None,
        );
        if let Some(load) = w.loads.get_mut(load) {
            load.blocked = Some(act);
        }
    }
    let Some(body) = w.pods.get(pod) else { return };
    let key = body.key();
    let tags = w
        .loads
        .get(body.load)
        .and_then(|load| load.blocked)
        .map(names)
        .unwrap_or_default();
    let message = format!("{detail}{tail}");
    w.emit_event(
        &Source::Scheduler("Scheduling"),
        key,
        "Warning",
        "FailedScheduling",
        message.clone(),
        &tags,
    );
    let now = w.now;
    let changed = w.pods.get_mut(pod).is_some_and(|pod| {
        let known = pod
            .conditions
            .iter()
            .any(|one| one.kind == "PodScheduled" && one.message == message);
        pod.condition("PodScheduled", "False", "Unschedulable", &message, now);
        !known
    });
    if changed {
        w.put_pod(
            pod,
            Ask::new(Client::scheduler(), "patch", "status").with_tags(&tags),
        );
    }
}

/// Deletes pods of lower priority where that makes room; says whether it did.
fn preempt(w: &mut World, pod: usize) -> bool {
    let mine = priority(w, pod);
    if mine <= 0 || w.pods.get(pod).is_some_and(|pod| pod.nominated.is_some()) {
        return false;
    }
    let need = wants(w, pod);
    let mut best: Option<(usize, Vec<usize>)> = None;
    for at in 0..w.nodes.len() {
        let Some(node) = w.nodes.get(at) else {
            continue;
        };
        if node.gone.is_some()
            || node.unschedulable
            || !node.taints.is_empty()
            || need > i64::from(node.gpus.1)
        {
            continue;
        }
        let taken = w.pods.iter().any(|other| {
            other.nominated == Some(at) && other.node.is_none() && other.gone.is_none()
        });
        if taken {
            continue;
        }
        let mut lower: Vec<(i32, usize)> = (0..w.pods.len())
            .filter(|&other| {
                w.pods.get(other).is_some_and(|other| {
                    other.node == Some(at)
                        && other.gone.is_none()
                        && other.deletion.is_none()
                        && !other.phase.is_over()
                })
            })
            .map(|other| (priority(w, other), other))
            .filter(|(other, _)| *other < mine)
            .collect();
        lower.sort_unstable();
        let mut room = free(w, at);
        let mut out = Vec::new();
        for (_, other) in lower {
            if room >= need {
                break;
            }
            room += wants(w, other);
            out.push(other);
        }
        if room >= need
            && best
                .as_ref()
                .is_none_or(|(_, known)| out.len() < known.len())
        {
            best = Some((at, out));
        }
    }
    let Some((node, out)) = best else {
        return false;
    };
    let Some(preemptor) = w
        .pods
        .get(pod)
        .map(|pod| (pod.uid.clone(), pod.name.clone()))
    else {
        return false;
    };
    let node_name = w.node_name(node);
    for victim in out {
        let act = w.deed(
            format!("preempted by {}", preemptor.1),
            &["sched.preempted"],
            &["default-scheduler", "system:kube-scheduler"],
            None,
        );
        push_out(w, victim, act, &preemptor.0, &node_name);
    }
    if let Some(body) = w.pods.get_mut(pod) {
        body.nominated = Some(node);
    }
    w.put_pod(pod, Ask::new(Client::scheduler(), "patch", "status"));
    w.soon(1200, 4000, schedule);
    w.soon(8000, 9000, schedule);
    w.soon(31_000, 36_000, schedule);
    true
}

fn push_out(w: &mut World, victim: usize, act: ActId, preemptor: &str, node: &str) {
    let now = w.now;
    let tags = names(act);
    w.die(victim, act, Relation::Victim, true);
    let Some(body) = w.pods.get_mut(victim) else {
        return;
    };
    body.condition(
        "DisruptionTarget",
        "True",
        "PreemptionByScheduler",
        "default-scheduler: preempting to accommodate a higher priority pod",
        now,
    );
    let key = body.key();
    w.put_pod(victim, Ask::new(Client::scheduler(), "patch", "status")
        .body(json!({"status": {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "default-scheduler: preempting to accommodate a higher priority pod"}]}}))
        .with_tags(&tags));
    make::request_deletion(w, victim, Client::scheduler(), None, &tags);
    w.emit_event(
        &Source::Scheduler("Preempting"),
        key,
        "Normal",
        "Preempted",
        format!("Preempted by pod {preemptor} on node {node}"),
        &tags,
    );
}

fn bind(w: &mut World, pod: usize, node: usize) {
    let now = w.now;
    let Some(node_name) = w.nodes.get(node).map(|node| node.name.clone()) else {
        return;
    };
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    body.node = Some(node);
    let load = body.load;
    body.nominated = None;
    body.condition("PodScheduled", "True", "", "", now);
    let key = body.key();
    let ask = Ask::new(Client::scheduler(), "create", "binding")
        .body(json!({"kind": "Binding", "apiVersion": "v1", "metadata": {"name": key.name, "namespace": key.namespace, "uid": key.uid}, "target": {"kind": "Node", "name": node_name}}));
    let json = w.pod_json(pod);
    w.put(Change::Modified, &key, json, ask);
    let message = format!(
        "Successfully assigned {}/{} to {node_name}",
        key.namespace, key.name
    );
    w.soon(2, 12, move |w| {
        w.emit_event(
            &Source::Scheduler("Binding"),
            Key {
                kind: Kind::Pod,
                ..key
            },
            "Normal",
            "Scheduled",
            message,
            &[],
        );
    });
    w.soon(20, 120, move |w| kubelet::take(w, pod));
    // What waited for room has it.
    let waits = w
        .pods
        .iter()
        .any(|pod| pod.load == load && pod.node.is_none() && pod.gone.is_none());
    let for_room = w
        .loads
        .get(load)
        .and_then(|load| load.blocked)
        .and_then(|act| w.graph.get(act))
        .is_some_and(|act| act.what == NO_ROOM);
    if !waits
        && for_room
        && let Some(load) = w.loads.get_mut(load)
    {
        load.blocked = None;
    }
}
