//! Somebody scales a set of replicas, or changes its template.

use serde_json::json;

use super::make;
use super::replica::{new_set, put_root, put_set};
use crate::plan::LoadKind;
use crate::world::{
    ActId, Ask, Change, Client, Key, Kind, Phase, Relation, Source, State, World, claims, names,
};

/// Somebody scales a workload.
pub fn scale(w: &mut World, load: usize, to: u32, by: &Client, act: ActId) {
    let Some(body) = w.loads.get_mut(load) else {
        return;
    };
    let from = body.wanted;
    body.wanted = to;
    body.generation += 1;
    let is_deployment = body.plan.kind == LoadKind::Deployment;
    put_root(
        w,
        load,
        Change::Modified,
        Ask::new(by.clone(), "patch", "scale")
            .body(json!({"spec": {"replicas": to}}))
            .with_tags(&names(act)),
    );
    w.soon(20, 90, move |w| {
        let (Some(root), Some(body)) = (w.root_key(load), w.loads.get(load)) else {
            return;
        };
        let set = body.set.clone();
        if let Some((name, _)) = &set {
            w.emit_event(
                &Source::Controller("deployment-controller"),
                root.clone(),
                "Normal",
                "ScalingReplicaSet",
                format!("Scaled down replica set {name} from {from} to {to}"),
                &names(act),
            );
            put_set(
                w,
                load,
                Change::Modified,
                Ask::new(Client::controller("deployment-controller"), "update", "")
                    .with_tags(&claims(act)),
            );
        }
        let component = if is_deployment {
            "replicaset-controller"
        } else {
            "statefulset-controller"
        };
        let mut pods = make::pods_of(w, load);
        pods.retain(|&pod| {
            w.pods
                .get(pod)
                .is_some_and(|pod| pod.rank >= to && pod.phase != Phase::Succeeded)
        });
        for pod in pods {
            let name = w
                .pods
                .get(pod)
                .map(|pod| pod.name.clone())
                .unwrap_or_default();
            make::delete_pod(
                w,
                pod,
                &Client::controller(component),
                act,
                Relation::Victim,
            );
            let (key, message) = match &set {
                Some((set, uid)) => (
                    Key {
                        kind: Kind::ReplicaSet,
                        name: set.clone(),
                        uid: uid.clone(),
                        namespace: root.namespace.clone(),
                    },
                    format!("Deleted pod: {name}"),
                ),
                None => (
                    root.clone(),
                    format!("delete Pod {name} in StatefulSet {} successful", root.name),
                ),
            };
            w.emit_event(
                &Source::Controller(component),
                key,
                "Normal",
                "SuccessfulDelete",
                message,
                &claims(act),
            );
        }
        if to == 0 {
            let now = w.now;
            if let Some(body) = w.loads.get_mut(load) {
                body.ended = Some(now);
                body.state = State::Deleted;
            }
        }
    });
}

/// Somebody changes the template of a Deployment or `StatefulSet`: its pods are made anew,
/// with a command that does not work.
pub fn replace_template(w: &mut World, load: usize, by: &Client, act: ActId) {
    let Some(body) = w.loads.get_mut(load) else {
        return;
    };
    body.command = vec![
        "python".to_owned(),
        "serve.py".to_owned(),
        "--shrads=8".to_owned(),
    ];
    body.generation += 1;
    let old = body.set.clone();
    let is_deployment = body.plan.kind == LoadKind::Deployment;
    body.curse = Some(crate::world::PodFault(std::rc::Rc::new(
        move |w: &mut World, pod| {
            w.soon(900, 4000, move |w| {
            if w.pods.get(pod).is_some_and(|pod| pod.alive && !pod.stopping) {
                crate::train::say_all(w, pod, "usage: serve.py [-h] [--shards SHARDS]\nserve.py: error: unrecognized arguments: --shrads=8", &claims(act));
                super::exit(w, pod, &super::Exit::code(2, act, Relation::Victim));
            }
        });
        },
    )));
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "trainer", "command": ["python", "serve.py", "--shrads=8"]}]}}}});
    put_root(
        w,
        load,
        Change::Modified,
        Ask::new(by.clone(), "patch", "")
            .body(patch)
            .with_tags(&names(act)),
    );
    w.soon(20, 90, move |w| {
        let component = if is_deployment {
            "replicaset-controller"
        } else {
            "statefulset-controller"
        };
        if is_deployment {
            if let (Some((old, _)), Some(root)) = (old, w.root_key(load)) {
                let wanted = w.loads.get(load).map_or(1, |load| load.wanted);
                w.emit_event(
                    &Source::Controller("deployment-controller"),
                    root,
                    "Normal",
                    "ScalingReplicaSet",
                    format!("Scaled down replica set {old} from {wanted} to 0"),
                    &names(act),
                );
            }
            new_set(w, load);
        }
        for pod in make::pods_of(w, load) {
            make::delete_pod(
                w,
                pod,
                &Client::controller(component),
                act,
                Relation::Victim,
            );
        }
    });
}
