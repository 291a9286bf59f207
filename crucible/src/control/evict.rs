//! Cordons, taints, the eviction API and those who use it.

use serde_json::{Value, json};

use super::{make, taint};
use crate::time::SEC;
use crate::world::{ActId, Ask, Client, Relation, Source, Tag, Taint, World, names};

/// The subresource.
pub(super) const EVICTION: &str = "eviction";

/// Somebody cordons a node.
pub fn cordon(w: &mut World, node: usize, by: &Client, tags: &[Tag]) {
    set_schedulable(w, node, true, by, tags);
}

/// Somebody uncordons a node.
pub fn uncordon(w: &mut World, node: usize, by: &Client) {
    set_schedulable(w, node, false, by, &[]);
}

fn set_schedulable(w: &mut World, node: usize, cordoned: bool, by: &Client, tags: &[Tag]) {
    let Some(body) = w.nodes.get_mut(node) else {
        return;
    };
    if body.unschedulable == cordoned || body.gone.is_some() {
        return;
    }
    body.unschedulable = cordoned;
    let key = body.key();
    let name = body.name.clone();
    if cordoned {
        body.taints.push(Taint {
            key: "node.kubernetes.io/unschedulable".to_owned(),
            value: None,
            effect: "NoSchedule",
            added: None,
            by: None,
        });
    } else {
        body.taints
            .retain(|one| one.key != "node.kubernetes.io/unschedulable");
    }
    let value = if cordoned { json!(true) } else { Value::Null };
    w.put_node(
        node,
        Ask::new(by.clone(), "patch", "")
            .body(json!({"spec": {"unschedulable": value}}))
            .with_tags(tags),
    );
    let (reason, state) = if cordoned {
        ("NodeNotSchedulable", "NodeNotSchedulable")
    } else {
        ("NodeSchedulable", "NodeSchedulable")
    };
    let message = format!("Node {name} status is now: {state}");
    // The kubelet says that it is so, not who did it.
    let tags: Vec<Tag> = tags
        .iter()
        .map(|tag| Tag {
            says: crate::world::Attribution::Claims,
            ..*tag
        })
        .collect();
    w.soon(500, 9000, move |w| {
        w.emit_event(
            &Source::Kubelet(node),
            key,
            "Normal",
            reason,
            message,
            &tags,
        );
    });
}

/// Somebody taints a node; a `NoExecute` taint drives out what does not bear it.
pub fn set_taint(w: &mut World, node: usize, taint: Taint, by: &Client, act: ActId) {
    let now = w.now;
    let Some(body) = w.nodes.get_mut(node) else {
        return;
    };
    if body.gone.is_some() {
        return;
    }
    let drives = taint.effect == "NoExecute";
    if drives && body.lost.is_none() {
        body.lost = Some(act);
    }
    let mut patch = json!({"key": taint.key, "effect": taint.effect});
    if let Some(value) = &taint.value {
        patch["value"] = json!(value);
    }
    body.taints.push(Taint {
        added: drives.then_some(now),
        by: Some(act),
        ..taint
    });
    body.standing.extend(crate::world::claims(act));
    w.put_node(
        node,
        Ask::new(by.clone(), "patch", "")
            .body(json!({"spec": {"taints": [patch]}}))
            .with_tags(&names(act)),
    );
    if drives {
        w.soon(5, 80, move |w| taint::judge(w, node));
    }
}

/// Asks the eviction API for one pod. Gives whether it was granted.
pub fn evict(w: &mut World, pod: usize, by: &Client, act: ActId, tie: Relation) -> bool {
    let now = w.now;
    let Some(body) = w.pods.get(pod) else {
        return false;
    };
    if body.gone.is_some() || body.deletion.is_some() {
        return true;
    }
    let key = body.key();
    let over = body.phase.is_over();
    let request = json!({"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": key.name, "namespace": key.namespace}, "deleteOptions": {}});
    if !over && w.budgets.contains(&key.namespace) {
        let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "Cannot evict pod as it would violate the pod's disruption budget.", "reason": "TooManyRequests",
            "details": {"causes": [{"reason": "DisruptionBudget", "message": format!("The disruption budget {} needs 1 healthy pods and has 1 currently", "gang-pdb")}]}, "code": 429});
        w.call(
            &key,
            Ask::new(by.clone(), "create", EVICTION).body(request),
            429,
            Some(std::rc::Rc::new(status)),
        );
        return false;
    }
    let mut tags = names(act);
    if over {
        tags.clear();
    } else if let Some(death) = w.die(pod, act, tie, true) {
        tags.extend(names(death));
    }
    if let Some(body) = w.pods.get_mut(pod)
        && !over
    {
        body.condition(
            "DisruptionTarget",
            "True",
            "EvictionByEvictionAPI",
            "Eviction API: evicting",
            now,
        );
    }
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
    w.call(
        &key,
        Ask::new(by.clone(), "create", EVICTION)
            .body(request)
            .with_tags(&tags),
        201,
        Some(std::rc::Rc::new(status)),
    );
    // The API server itself writes the condition and the deletion: no request of their own is logged.
    silent_put(w, pod, &tags);
    request_silently(w, pod, &tags);
    true
}

fn silent_put(w: &mut World, pod: usize, tags: &[Tag]) {
    let before = w.api.calls.len();
    w.put_pod(
        pod,
        Ask::new(Client::controller("eviction"), "patch", "status").with_tags(tags),
    );
    w.api.calls.truncate(before);
}

fn request_silently(w: &mut World, pod: usize, tags: &[Tag]) {
    let before = w.api.calls.len();
    make::request_deletion(w, pod, Client::controller("eviction"), None, tags);
    w.api.calls.truncate(before);
}

/// Cordons a node and evicts what runs there, again every five seconds where a budget forbids it.
pub fn drain(w: &mut World, node: usize, by: &Client, act: ActId) {
    cordon(w, node, by, &names(act));
    let by = by.clone();
    w.soon(60, 700, move |w| {
        let pods: Vec<usize> = (0..w.pods.len())
            .filter(|&at| {
                w.pods.get(at).is_some_and(|pod| {
                    pod.node == Some(node) && pod.gone.is_none() && pod.deletion.is_none()
                })
            })
            .collect();
        for pod in pods {
            let by = by.clone();
            w.soon(5, 60, move |w| attempt(w, pod, &by, act, 0));
        }
    });
}

fn attempt(w: &mut World, pod: usize, by: &Client, act: ActId, times: u32) {
    if evict(w, pod, by, act, Relation::Victim) || times > 20 {
        return;
    }
    let by = by.clone();
    w.after(5 * SEC, move |w| attempt(w, pod, &by, act, times + 1));
}
