//! Deployments with their `ReplicaSets`, and `StatefulSets`.

use serde_json::{Value, json};

use super::refusal::{refused, wait_again};
use super::{make, schedule};
use crate::plan::LoadKind;
use crate::world::{Ask, Change, Client, Key, Kind, Owner, Pod, Relation, Source, World, names};

/// Makes the root object.
pub(super) fn create(w: &mut World, load: usize, by: &Client) {
    put_root(w, load, Change::Added, Ask::new(by.clone(), "create", ""));
    let is_deployment = w
        .loads
        .get(load)
        .is_some_and(|load| load.plan.kind == LoadKind::Deployment);
    if is_deployment {
        w.soon(10, 60, move |w| new_set(w, load));
    } else {
        w.soon(10, 60, move |w| sync(w, load));
    }
}

pub(super) fn new_set(w: &mut World, load: usize) {
    let hash = w.rng.letters(10);
    let uid = w.rng.uuid();
    let Some(body) = w.loads.get_mut(load) else {
        return;
    };
    let name = format!("{}-{hash}", body.plan.name);
    body.set = Some((name.clone(), uid));
    let wanted = body.wanted;
    put_set(
        w,
        load,
        Change::Added,
        Ask::new(Client::controller("deployment-controller"), "create", ""),
    );
    if let Some(key) = w.root_key(load) {
        w.emit_event(
            &Source::Controller("deployment-controller"),
            key,
            "Normal",
            "ScalingReplicaSet",
            format!("Scaled up replica set {name} from 0 to {wanted}"),
            &[],
        );
    }
    w.soon(10, 60, move |w| sync(w, load));
}

fn counts(w: &World, load: usize) -> (u32, u32) {
    let mut all = 0;
    let mut ready = 0;
    for pod in w.pods.iter().filter(|pod| {
        pod.load == load && pod.gone.is_none() && pod.deletion.is_none() && !pod.phase.is_over()
    }) {
        all += 1;
        ready += u32::from(pod.container.ready);
    }
    (all, ready)
}

pub(super) fn put_set(w: &mut World, load: usize, change: Change, ask: Ask) {
    let Some(body) = w.loads.get(load) else {
        return;
    };
    let (Some((name, uid)), Some(created)) = (body.set.clone(), body.created) else {
        return;
    };
    let (all, ready) = counts(w, load);
    let key = Key {
        kind: Kind::ReplicaSet,
        namespace: body.plan.namespace.clone(),
        name: name.clone(),
        uid: uid.clone(),
    };
    if change != Change::Added && !w.exists(&key) {
        return;
    }
    let object = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": body.plan.namespace, "uid": uid, "generation": 1, "creationTimestamp": created.secs(), "labels": labels(w, load),
            "annotations": {"deployment.kubernetes.io/revision": "1"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": body.plan.name, "uid": body.uid, "controller": true, "blockOwnerDeletion": true}]},
        "spec": {"replicas": body.wanted, "selector": {"matchLabels": {"app": body.plan.name}}, "template": {"metadata": {"labels": labels(w, load)}, "spec": w.pod_spec(load, false)}},
        "status": {"replicas": all, "readyReplicas": ready, "fullyLabeledReplicas": all, "observedGeneration": 1}});
    w.put(change, &key, object, ask);
}

fn labels(w: &World, load: usize) -> Value {
    Value::Object(
        w.labels(load)
            .into_iter()
            .map(|(name, value)| (name, json!(value)))
            .collect(),
    )
}

pub(super) fn put_root(w: &mut World, load: usize, change: Change, ask: Ask) {
    let Some(key) = w.root_key(load) else { return };
    let replicated = matches!(key.kind, Kind::Deployment | Kind::StatefulSet);
    if !replicated || change != Change::Added && !w.exists(&key) {
        return;
    }
    let Some(body) = w.loads.get(load) else {
        return;
    };
    let (all, ready) = counts(w, load);
    let Some(created) = body.created else { return };
    let mut object = json!({"apiVersion": "apps/v1", "kind": key.kind.name(),
        "metadata": {"name": key.name, "namespace": key.namespace, "uid": key.uid, "generation": body.generation, "creationTimestamp": created.secs(), "labels": labels(w, load)},
        "spec": {"replicas": body.wanted, "selector": {"matchLabels": {"app": body.plan.name}}, "template": {"metadata": {"labels": labels(w, load)}, "spec": w.pod_spec(load, false)}},
        "status": {"replicas": all, "readyReplicas": ready, "updatedReplicas": all, "observedGeneration": body.generation}});
    if key.kind == Kind::StatefulSet {
        object["spec"]["serviceName"] = json!(body.plan.name);
        object["spec"]["podManagementPolicy"] = json!("Parallel");
    } else {
        let ok = ready >= body.wanted;
        object["status"]["conditions"] = json!([{"type": "Available", "status": if ok {"True"} else {"False"},
            "reason": if ok {"MinimumReplicasAvailable"} else {"MinimumReplicasUnavailable"},
            "message": if ok {"Deployment has minimum availability."} else {"Deployment does not have minimum availability."},
            "lastUpdateTime": w.now.secs(), "lastTransitionTime": w.now.secs()}]);
    }
    w.put(change, &key, object, ask);
}

/// The controllers look at a set of replicas.
pub(super) fn sync(w: &mut World, load: usize) {
    if w.down.controllers.is_some() {
        return;
    }
    let Some(body) = w.loads.get(load) else {
        return;
    };
    if body.gone.is_some() || w.closed.contains(&body.plan.namespace) {
        return;
    }
    let is_deployment = body.plan.kind == LoadKind::Deployment;
    if is_deployment && body.set.is_none() {
        return;
    }
    let wanted = body.wanted;
    for rank in 0..wanted {
        let there = w.pods.iter().any(|pod| {
            pod.load == load
                && pod.rank == rank
                && pod.gone.is_none()
                && (if is_deployment {
                    pod.deletion.is_none() && !pod.phase.is_over()
                } else {
                    true
                })
        });
        if !there {
            create_pod(w, load, rank, is_deployment);
        }
    }
    if !is_deployment {
        // Pods of a StatefulSet that ended are made anew under their name.
        let over: Vec<usize> = make::pods_of(w, load)
            .into_iter()
            .filter(|&pod| {
                w.pods
                    .get(pod)
                    .is_some_and(|pod| pod.phase.is_over() && pod.deletion.is_none())
            })
            .collect();
        for pod in over {
            let act = w.act("the StatefulSet controller makes the pod anew", &[], None);
            let name = w
                .pods
                .get(pod)
                .map(|pod| pod.name.clone())
                .unwrap_or_default();
            make::delete_pod(
                w,
                pod,
                &Client::controller("statefulset-controller"),
                act,
                Relation::Collateral,
            );
            if let Some(key) = w.root_key(load) {
                let set = key.name.clone();
                w.emit_event(
                    &Source::Controller("statefulset-controller"),
                    key,
                    "Normal",
                    "SuccessfulDelete",
                    format!("delete Pod {name} in StatefulSet {set} successful"),
                    &[],
                );
            }
            w.soon(100, 900, move |w| sync(w, load));
        }
    }
    if is_deployment {
        put_set(
            w,
            load,
            Change::Modified,
            Ask::new(
                Client::controller("replicaset-controller"),
                "update",
                "status",
            ),
        );
    }
    let by = if is_deployment {
        "deployment-controller"
    } else {
        "statefulset-controller"
    };
    put_root(
        w,
        load,
        Change::Modified,
        Ask::new(Client::controller(by), "update", "status"),
    );
}

fn create_pod(w: &mut World, load: usize, rank: u32, is_deployment: bool) {
    let Some(body) = w.loads.get(load) else {
        return;
    };
    let (component, api, kind, name, uid) = if is_deployment {
        let Some((name, uid)) = body.set.clone() else {
            return;
        };
        ("replicaset-controller", "apps/v1", "ReplicaSet", name, uid)
    } else {
        (
            "statefulset-controller",
            "apps/v1",
            "StatefulSet",
            body.plan.name.clone(),
            body.uid.clone(),
        )
    };
    let key = Key {
        kind: if is_deployment {
            Kind::ReplicaSet
        } else {
            Kind::StatefulSet
        },
        namespace: body.plan.namespace.clone(),
        name: name.clone(),
        uid: uid.clone(),
    };
    if let Some((reason, act)) = refused(w, load) {
        let message = if is_deployment {
            format!("Error creating: {reason}")
        } else {
            format!("create Pod {name}-{rank} in StatefulSet {name} failed error: {reason}")
        };
        w.emit_event(
            &Source::Controller(component),
            key,
            "Warning",
            "FailedCreate",
            message,
            &names(act),
        );
        if let Some(wait) = wait_again(w, load) {
            w.after(wait, move |w| {
                if let Some(load) = w.loads.get_mut(load) {
                    load.refusals.1 = false;
                }
                sync(w, load);
            });
        }
        return;
    }
    let (pod_name, stem) = if is_deployment {
        let stem = format!("{name}-");
        (format!("{stem}{}", w.rng.suffix()), Some(stem))
    } else {
        (format!("{name}-{rank}"), None)
    };
    let owner = Owner {
        api: api.to_owned(),
        kind,
        name: name.clone(),
        uid,
    };
    let mut pod = make::blank(w, load, pod_name.clone(), Some(owner));
    if is_deployment {
        pod.labels.push((
            "pod-template-hash".to_owned(),
            name.rsplit('-').next().unwrap_or("").to_owned(),
        ));
    } else {
        pod.labels.push((
            "statefulset.kubernetes.io/pod-name".to_owned(),
            pod_name.clone(),
        ));
        pod.labels
            .push(("apps.kubernetes.io/pod-index".to_owned(), rank.to_string()));
    }
    w.new_pod(
        Pod { stem, rank, ..pod },
        Ask::new(Client::controller(component), "create", ""),
    );
    let message = if is_deployment {
        format!("Created pod: {pod_name}")
    } else {
        format!("create Pod {pod_name} in StatefulSet {name} successful")
    };
    w.emit_event(
        &Source::Controller(component),
        key,
        "Normal",
        "SuccessfulCreate",
        message,
        &[],
    );
    w.soon(3, 20, schedule);
}
