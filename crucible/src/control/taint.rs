//! The taint eviction controller: who does not bear a `NoExecute` taint is deleted.

use serde_json::json;

use super::make;
use crate::time::SEC;
use crate::world::{Ask, Client, Involved, Relation, Source, Tag, World, claims};

/// How long a pod bears a taint; `None` for ever.
fn tolerance(w: &World, key: &str) -> i64 {
    if key == "node.kubernetes.io/unreachable" || key == "node.kubernetes.io/not-ready" {
        w.plan.cluster.bear_s * SEC
    } else {
        0
    }
}

/// The controller looks at the taints of a node.
pub fn judge(w: &mut World, node: usize) {
    let Some(body) = w.nodes.get(node) else {
        return;
    };
    if body.gone.is_some() {
        return;
    }
    let Some((key, wait)) = body
        .taints
        .iter()
        .filter(|one| one.effect == "NoExecute")
        .map(|one| (one.key.clone(), tolerance(w, &one.key)))
        .min_by_key(|one| one.1)
    else {
        return;
    };
    let pods: Vec<usize> = (0..w.pods.len())
        .filter(|&at| {
            w.pods.get(at).is_some_and(|pod| {
                pod.node == Some(node) && pod.gone.is_none() && pod.deletion.is_none()
            })
        })
        .collect();
    for pod in pods {
        let lag = w.rng.millis(1, 25);
        let key = key.clone();
        w.after(wait + lag, move |w| {
            let still = w.nodes.get(node).is_some_and(|node| {
                node.gone.is_none()
                    && node
                        .taints
                        .iter()
                        .any(|one| one.effect == "NoExecute" && one.key == key)
            });
            if still {
                delete(w, pod, node, &key);
            }
        });
    }
}

fn delete(w: &mut World, pod: usize, node: usize, key: &str) {
    let now = w.now;
    let act = w.nodes.get(node).and_then(|node| {
        let taint = node.taints.iter().find(|one| one.key == key);
        taint.and_then(|taint| taint.by).or(node.lost)
    });
    let tags: Vec<Tag> = act.map(claims).unwrap_or_default();
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    if body.gone.is_some() || body.deletion.is_some() {
        return;
    }
    let key = body.key();
    let over = body.phase.is_over();
    body.condition(
        "DisruptionTarget",
        "True",
        "DeletionByTaintManager",
        "Taint manager: deleting due to NoExecute taint",
        now,
    );
    let message = format!("Marking for deletion Pod {}/{}", key.namespace, key.name);
    // What is already over cannot be killed.
    let mut tags = tags;
    if over {
        tags.clear();
    } else if let Some(act) = act
        && let Some(death) = w.die(pod, act, Relation::Victim, true)
    {
        tags.extend(claims(death));
    }
    w.emit_event(
        &Source::Controller("taint-eviction-controller"),
        Involved::without_uid(key),
        "Normal",
        "TaintManagerEviction",
        message,
        &tags,
    );
    let by = Client::controller("node-controller");
    w.put_pod(pod, Ask::new(by.clone(), "patch", "status")
        .body(json!({"status": {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager", "message": "Taint manager: deleting due to NoExecute taint"}]}}))
        .with_tags(&tags));
    make::request_deletion(w, pod, by, None, &tags);
}
