//! What is left over is cleaned away: nodes without a machine, pods without a node, namespaces.

use serde_json::json;

use super::make;
use crate::world::{ActId, Ask, Change, Client, Key, Kind, Relation, Source, World, claims, names};

/// The cloud's controller finds no machine behind a node and deletes the object.
pub(crate) fn cloud_deletes(w: &mut World, node: usize) {
    let Some(body) = w.nodes.get(node) else {
        return;
    };
    if body.gone.is_some() {
        return;
    }
    let (key, name, act) = (body.key(), body.name.clone(), body.lost);
    // That it is gone is told of, not who took it.
    let mut tags = act.map(claims).unwrap_or_default();
    for id in act.map(|act| w.graph.chain(act)).unwrap_or_default() {
        if w.graph
            .get(id)
            .is_some_and(|act| act.causes.contains(&"cloud.instance_terminated"))
        {
            tags.extend(claims(id));
        }
    }
    w.emit_event(
        &Source::Controller("cloud-node-lifecycle-controller"),
        key.clone(),
        "Normal",
        "DeletingNode",
        format!("Deleting node {name} because it does not exist in the cloud provider"),
        &tags,
    );
    w.drop_node(
        node,
        Ask::new(
            Client::account(
                "kube-system",
                "cloud-node-controller",
                "cloud-controller-manager/v1.34.0",
            ),
            "delete",
            "",
        )
        .with_tags(&tags),
    );
    w.soon(1000, 5000, move |w| {
        w.emit_event(
            &Source::Controller("node-controller"),
            key,
            "Normal",
            "RemovingNode",
            format!("Node {name} event: Removing Node {name} from Controller"),
            &tags,
        );
    });
    let lag = w.rng.secs(40, 80);
    w.after(lag, move |w| collect_orphans(w, node, act));
}

/// Pods of a node that is gone are deleted without grace.
pub fn collect_orphans(w: &mut World, node: usize, act: Option<ActId>) {
    let now = w.now;
    let by = Client::controller("pod-garbage-collector");
    let pods: Vec<usize> = (0..w.pods.len())
        .filter(|&at| {
            w.pods
                .get(at)
                .is_some_and(|pod| pod.node == Some(node) && pod.gone.is_none())
        })
        .collect();
    for pod in pods {
        let mut tags = act.map(claims).unwrap_or_default();
        let Some(body) = w.pods.get_mut(pod) else {
            continue;
        };
        if body.phase.is_over() {
            tags.clear();
        } else {
            body.condition(
                "DisruptionTarget",
                "True",
                "DeletionByPodGC",
                "PodGC: node no longer exists",
                now,
            );
            body.phase = crate::world::Phase::Failed;
            if let Some(act) = act
                && let Some(death) = w.die(pod, act, Relation::Victim, true)
            {
                tags.extend(claims(death));
            }
            w.put_pod(
                pod,
                Ask::new(by.clone(), "patch", "status").with_tags(&tags),
            );
        }
        make::settle(w, pod);
        let by = by.clone();
        w.soon(1, 30, move |w| {
            if w.pods.get(pod).is_some_and(|pod| pod.tracked) {
                make::request_deletion(w, pod, by.clone(), Some(0), &tags);
                w.soon(2500, 3500, move |w| {
                    w.drop_pod(pod, Ask::new(by, "delete", ""));
                });
            } else {
                w.drop_pod(
                    pod,
                    Ask::new(by, "delete", "")
                        .body(json!({"gracePeriodSeconds": 0}))
                        .with_tags(&tags),
                );
                make::settle(w, pod);
            }
        });
    }
}

/// Somebody deletes a namespace; its controller deletes what is in it.
pub fn delete_namespace(w: &mut World, namespace: &str, by: &Client, act: ActId) {
    let key = Key {
        kind: Kind::Namespace,
        namespace: String::new(),
        name: namespace.to_owned(),
        uid: crate::rng::Rng::stream(w.plan.seed, namespace).uuid(),
    };
    let now = w.now;
    let mut object = namespace_json(&key, w.plan.start);
    object["metadata"]["deletionTimestamp"] = json!(now.secs());
    object["status"]["phase"] = json!("Terminating");
    w.put(
        Change::Modified,
        &key,
        object,
        Ask::new(by.clone(), "delete", "").with_tags(&names(act)),
    );
    let namespace = namespace.to_owned();
    w.soon(80, 900, move |w| {
        let controller = Client::controller("namespace-controller");
        let loads: Vec<usize> = (0..w.loads.len())
            .filter(|&at| {
                w.loads.get(at).is_some_and(|load| {
                    load.plan.namespace == namespace
                        && load.created.is_some()
                        && load.gone.is_none()
                })
            })
            .collect();
        let pods: Vec<usize> = (0..w.pods.len())
            .filter(|&at| {
                w.pods
                    .get(at)
                    .is_some_and(|pod| pod.namespace == namespace && pod.gone.is_none())
            })
            .collect();
        w.closed.push(namespace.clone());
        for load in loads {
            make::delete_root(w, load, &controller, act);
        }
        for pod in pods {
            if let Some(pod) = w.pods.get_mut(pod) {
                pod.tracked = false;
            }
            make::delete_pod(w, pod, &controller, act, Relation::Victim);
        }
        let events: Vec<Key> = w
            .api
            .live
            .keys()
            .filter(|key| key.kind == Kind::Event && key.namespace == namespace)
            .cloned()
            .collect();
        for key in events {
            let object = w.latest(&key);
            if let Some(object) = object {
                w.put(
                    Change::Deleted,
                    &key,
                    (*object).clone(),
                    Ask::new(controller.clone(), "delete", ""),
                );
            }
        }
        let lag = w.rng.secs(32, 45);
        w.after(lag, move |w| {
            let object = w.latest(&key);
            if let Some(object) = object {
                w.put(
                    Change::Deleted,
                    &key,
                    (*object).clone(),
                    Ask::new(
                        Client::controller("namespace-controller"),
                        "update",
                        "finalize",
                    ),
                );
            }
        });
    });
}

/// A namespace as it is stored.
#[must_use]
pub(crate) fn namespace_json(key: &Key, created: crate::time::Time) -> serde_json::Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": key.name, "uid": key.uid, "creationTimestamp": created.secs(),
        "labels": {"kubernetes.io/metadata.name": key.name}}, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}})
}
