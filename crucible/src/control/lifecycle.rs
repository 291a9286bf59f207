//! The node lifecycle controller, and machines that fall silent, die and return.

use serde_json::json;

use super::{collect, stop, taint};
use crate::plan::Cloud;
use crate::time::{MS, SEC};
use crate::train;
use crate::world::{ActId, Ask, Client, Node, Relation, Source, Taint, Unit, World, claims, names};

/// The kubelet of a node no longer speaks to the API server; its containers run on.
pub fn go_silent(w: &mut World, node: usize, act: ActId) {
    let Some(body) = w.nodes.get_mut(node) else {
        return;
    };
    body.heard = false;
    body.lost.get_or_insert(act);
    let boot = body.boot.clone();
    let grace = w.plan.cluster.grace_s * SEC;
    let lag = w.rng.range(-8 * SEC, 5 * SEC);
    w.after(grace + lag, move |w| {
        let same = w
            .nodes
            .get(node)
            .is_some_and(|body| !body.heard && body.gone.is_none() && body.boot == boot);
        if same {
            unknown(w, node);
        }
    });
}

/// The controller has heard nothing for the grace period. A node of which that is known is not found to be silent again.
fn unknown(w: &mut World, node: usize) {
    const SILENT: &str = "node.kubernetes.io/unreachable";
    let now = w.now;
    let is_known = |body: &Node| body.taints.iter().any(|one| one.key == SILENT);
    let Some(body) = w.nodes.get(node).filter(|body| !is_known(body)) else {
        return;
    };
    let (key, act) = (body.key(), body.lost);
    let tags = act.map(names).unwrap_or_default();
    for kind in ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"] {
        w.set_condition(
            node,
            kind,
            "Unknown",
            "NodeStatusUnknown",
            "Kubelet stopped posting node status.",
        );
    }
    let by = Client::controller("node-controller");
    w.put_node(
        node,
        Ask::new(by.clone(), "update", "status").with_tags(&tags),
    );
    w.emit_event(
        &Source::Controller("node-controller"),
        key,
        "Normal",
        "NodeNotReady",
        format!("Node {} status is now: NodeNotReady", name_of(w, node)),
        &tags,
    );
    not_ready_pods(w, node, &tags);
    if let Some(body) = w.nodes.get_mut(node) {
        for effect in ["NoSchedule", "NoExecute"] {
            body.taints.push(Taint {
                key: SILENT.to_owned(),
                value: None,
                effect,
                added: Some(now),
                by: None,
            });
        }
    }
    w.put_node(node, Ask::new(by, "patch", "").body(json!({"spec": {"taints": [
        {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}, {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]}})).with_tags(&tags));
    w.soon(5, 80, move |w| taint::judge(w, node));
    let is_gone_in_cloud = w.plan.cluster.cloud != Cloud::OnPrem
        && w.nodes
            .get(node)
            .is_some_and(|body| !body.up && body.instance.starts_with("gone "));
    if is_gone_in_cloud {
        let lag = w.rng.secs(2, 20);
        w.after(lag, move |w| collect::cloud_deletes(w, node));
    }
}

/// A machine was stopped and still exists: the cloud's controller taints its node.
pub fn stopped_in_cloud(w: &mut World, node: usize, act: ActId) {
    let lag = w.plan.cluster.grace_s * SEC + w.rng.secs(10, 30);
    w.after(lag, move |w| {
        let Some(body) = w
            .nodes
            .get_mut(node)
            .filter(|body| !body.heard && body.gone.is_none())
        else {
            return;
        };
        body.taints.push(Taint {
            key: "node.cloudprovider.kubernetes.io/shutdown".to_owned(),
            value: None,
            effect: "NoSchedule",
            added: None,
            by: None,
        });
        let by = Client::account(
            "kube-system",
            "cloud-node-controller",
            "cloud-controller-manager/v1.34.0",
        );
        w.put_node(
            node,
            Ask::new(by, "patch", "")
                .body(json!({"spec": {"taints": [{"key": "node.cloudprovider.kubernetes.io/shutdown", "effect": "NoSchedule"}]}}))
                .with_tags(&claims(act)),
        );
    });
}

fn not_ready_pods(w: &mut World, node: usize, tags: &[crate::world::Tag]) {
    let now = w.now;
    let pods: Vec<usize> = (0..w.pods.len())
        .filter(|&at| {
            w.pods.get(at).is_some_and(|pod| {
                pod.node == Some(node) && pod.gone.is_none() && !pod.phase.is_over()
            })
        })
        .collect();
    for pod in pods {
        let Some(body) = w.pods.get_mut(pod) else {
            continue;
        };
        body.condition("Ready", "False", "", "", now);
        body.container.ready = false;
        let key = body.key();
        w.put_pod(
            pod,
            Ask::new(Client::controller("node-controller"), "update", "status").with_tags(tags),
        );
        w.emit_event(
            &Source::Controller("node-controller"),
            key,
            "Warning",
            "NodeNotReady",
            "Node is not ready",
            tags,
        );
    }
}

fn name_of(w: &World, node: usize) -> String {
    w.node_name(node)
}

/// The machine stops: its containers end with it, and nobody there says so.
/// Gives the pods that it took.
pub fn machine_dies(w: &mut World, node: usize, act: ActId) -> Vec<usize> {
    // That nothing is heard of it tells that it is down, and not that somebody rebooted it.
    let named = w
        .graph
        .get(act)
        .is_some_and(|act| act.causes.contains(&"node.not_ready"));
    let act = if named {
        act
    } else {
        // It is down: where it comes back, it has booted anew.
        w.act(
            "the node stopped responding",
            &["node.not_ready", "node.reboot"],
            Some(act),
        )
    };
    let now = w.now;
    let Some(body) = w.nodes.get_mut(node) else {
        return Vec::new();
    };
    if body.up {
        body.downs.push((now, None));
    }
    body.up = false;
    body.lost = Some(act);
    let pods: Vec<usize> = (0..w.pods.len())
        .filter(|&at| {
            w.pods.get(at).is_some_and(|pod| {
                pod.node == Some(node) && pod.gone.is_none() && !pod.phase.is_over()
            })
        })
        .collect();
    for &pod in &pods {
        let was = w.pods.get(pod).is_some_and(|pod| pod.alive);
        w.die(pod, act, Relation::Victim, true);
        let load = w.pods.get(pod).map_or(0, |pod| pod.load);
        if let Some(pod) = w.pods.get_mut(pod) {
            pod.alive = false;
        }
        if was {
            train::peer_lost(w, load, pod);
        }
    }
    go_silent(w, node, act);
    pods
}

/// The machine boots, and its kubelet speaks again.
pub fn machine_returns(w: &mut World, node: usize, act: ActId) {
    let boot = w.rng.uuid();
    let now = w.now;
    let of_boot = w
        .graph
        .get(act)
        .is_some_and(|act| act.causes.contains(&"node.reboot"));
    let Some(body) = w.nodes.get_mut(node) else {
        return;
    };
    if body.gone.is_some() {
        return;
    }
    // That it boots tells that it was down, and nothing of what took it down.
    let act = match body.lost {
        Some(down) if !of_boot => down,
        _ => act,
    };
    let was_boot = body.up;
    body.up = true;
    if let Some((_, until @ None)) = body.downs.last_mut() {
        *until = Some(now);
    }
    body.heard = true;
    let key = body.key();
    let name = body.name.clone();
    let rebooted = !was_boot;
    if rebooted {
        body.boot.clone_from(&boot);
        body.booted = now.plus(-25 * SEC);
    }
    let by = Client::kubelet(&name);
    if rebooted {
        w.host_line(node, Unit::Kernel, "Linux version 6.8.0-1021-generic (buildd@lcy02-amd64-080) (x86_64-linux-gnu-gcc-13 (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0) #23-Ubuntu SMP", &claims(act));
        w.emit_event(
            &Source::Kubelet(node),
            key.clone(),
            "Normal",
            "Starting",
            "Starting kubelet.",
            &[],
        );
        w.emit_event(
            &Source::Kubelet(node),
            key.clone(),
            "Warning",
            "Rebooted",
            format!("Node {name} has been rebooted, boot id: {boot}"),
            &names(act),
        );
    }
    for (kind, reason, message) in [
        (
            "MemoryPressure",
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available",
        ),
        (
            "DiskPressure",
            "KubeletHasNoDiskPressure",
            "kubelet has no disk pressure",
        ),
        (
            "PIDPressure",
            "KubeletHasSufficientPID",
            "kubelet has sufficient PID available",
        ),
    ] {
        w.set_condition(node, kind, "False", reason, message);
    }
    let changed = w.set_condition(
        node,
        "Ready",
        "True",
        "KubeletReady",
        "kubelet is posting ready status",
    );
    w.put_node(
        node,
        Ask::new(by, "patch", "status").with_tags(&claims(act)),
    );
    if changed || rebooted {
        w.emit_event(
            &Source::Kubelet(node),
            key,
            "Normal",
            "NodeReady",
            format!("Node {name} status is now: NodeReady"),
            &[],
        );
    }
    stop::kubelet_restarts(w, node);
    w.after(700 * MS, move |w| {
        let Some(body) = w.nodes.get_mut(node) else {
            return;
        };
        if !body.heard {
            return;
        }
        body.lost = None;
        let before = body.taints.len();
        body.taints.retain(|one| {
            !one.key.starts_with("node.kubernetes.io/unreachable")
                && !one.key.starts_with("node.kubernetes.io/not-ready")
        });
        if body.taints.len() != before {
            w.put_node(
                node,
                Ask::new(Client::controller("node-controller"), "patch", "")
                    .body(json!({"spec": {"taints": null}})),
            );
        }
        super::schedule(w);
    });
}
