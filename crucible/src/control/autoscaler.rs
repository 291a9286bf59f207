//! Cluster Autoscaler.

use super::{collect, evict};
use crate::time::SEC;
use crate::world::{ActId, Client, Key, Kind, Relation, Source, Taint, World, names};

/// Its identity.
#[must_use]
pub(crate) fn client() -> Client {
    Client::account(
        "kube-system",
        "cluster-autoscaler",
        "cluster-autoscaler/v0.0.0 (linux/amd64) kubernetes/$Format",
    )
}

pub(crate) fn event_source() -> Source {
    Source::Other("cluster-autoscaler", "kube-system")
}

fn status_map() -> Key {
    Key {
        kind: Kind::ConfigMap,
        namespace: "kube-system".to_owned(),
        name: "cluster-autoscaler-status".to_owned(),
        uid: "5d0c1b1e-8a3c-4e2e-9d1f-0c2f6f1a4b10".to_owned(),
    }
}

/// Removes a node that it finds too empty: taints it, evicts, deletes the machine.
pub fn scale_down(w: &mut World, node: usize, act: ActId) {
    let Some(body) = w.nodes.get(node) else {
        return;
    };
    if body.gone.is_some() {
        return;
    }
    let (key, name) = (body.key(), body.name.clone());
    let unix = w.now.unix().to_string();
    let tags = names(act);
    evict::set_taint(
        w,
        node,
        Taint {
            key: "ToBeDeletedByClusterAutoscaler".to_owned(),
            value: Some(unix),
            effect: "NoSchedule",
            added: None,
            by: None,
        },
        &client(),
        act,
    );
    w.emit_event(
        &event_source(),
        key.clone(),
        "Normal",
        "ScaleDown",
        "marked the node as toBeDeleted/unschedulable",
        &tags,
    );
    let pods: Vec<usize> = (0..w.pods.len())
        .filter(|&at| {
            w.pods.get(at).is_some_and(|pod| {
                pod.node == Some(node)
                    && pod.gone.is_none()
                    && pod.deletion.is_none()
                    && !pod.phase.is_over()
            })
        })
        .collect();
    let named: Vec<String> = pods
        .iter()
        .filter_map(|&pod| w.pods.get(pod))
        .map(|pod| format!("{}/{}", pod.namespace, pod.name))
        .collect();
    w.emit_event(&event_source(), status_map(), "Normal", "ScaleDown", format!("Scale-down: removing node {name}, utilization: {{0.07 0.18 0.25 nvidia.com/gpu 0.25}}, pods to reschedule: {}", named.join(",")), &tags);
    let lag = w.rng.millis(200, 5200);
    w.after(lag, move |w| {
        for pod in pods {
            let Some(key) = w.pods.get(pod).map(crate::world::Pod::key) else {
                continue;
            };
            evict(w, pod, &client(), act, Relation::Victim);
            w.emit_event(
                &event_source(),
                key,
                "Normal",
                "ScaleDown",
                "deleting pod for node scale down",
                &names(act),
            );
        }
        wait_for_pods(w, node, act, 0);
    });
}

fn wait_for_pods(w: &mut World, node: usize, act: ActId, times: u32) {
    let busy = w
        .pods
        .iter()
        .any(|pod| pod.node == Some(node) && pod.gone.is_none() && !pod.phase.is_over());
    if busy && times < 20 {
        w.after(5 * SEC, move |w| wait_for_pods(w, node, act, times + 1));
        return;
    }
    let Some(body) = w.nodes.get(node) else {
        return;
    };
    let (key, name) = (body.key(), body.name.clone());
    w.emit_event(
        &event_source(),
        key,
        "Normal",
        "ScaleDown",
        "nodes removed by cluster autoscaler",
        &names(act),
    );
    w.emit_event(
        &event_source(),
        status_map(),
        "Normal",
        "ScaleDown",
        format!("Scale-down: node {name} removed with drain"),
        &names(act),
    );
    crate::cloud::delete_instance(w, node, "cluster-autoscaler", act);
    let lag = w.rng.secs(20, 90);
    w.after(lag, move |w| {
        let now = w.now;
        if let Some(body) = w.nodes.get_mut(node) {
            body.up = false;
            body.downs.push((now, None));
            body.heard = false;
        }
        let lag = w.rng.secs(5, 30);
        w.after(lag, move |w| collect::cloud_deletes(w, node));
    });
}
