//! What people, operators and the scheduler do to runs.

use super::{OPERATOR, node_of, victim};
use crate::control::{
    delete_namespace, delete_pod, delete_root, drain, make, scale, scale_down, set_taint, uncordon,
};
use crate::plan::{Cloud, Fault, LoadKind};
use crate::time::{MIN, SEC};
use crate::world::{Ask, Change, Client, Key, Kind, Relation, Source, Taint, World, claims, names};

const CA: &[&str] = &[
    "cluster-autoscaler",
    "system:serviceaccount:kube-system:cluster-autoscaler",
];

/// Somebody acts.
pub(super) fn strike(w: &mut World, fault: Fault, load: usize) {
    let operator = Client::person(OPERATOR);
    match fault {
        Fault::Drained | Fault::DrainBlocked => {
            let Some(node) = node_of(w, load) else { return };
            if fault == Fault::DrainBlocked {
                budget(w, load);
            }
            let act = w.deed(
                "an operator drains the node",
                &["ops.node_drained"],
                &[OPERATOR],
                None,
            );
            drain(w, node, &operator, act);
            if w.rng.chance(50) {
                let lag = w.rng.secs(300, 900);
                w.after(lag, move |w| uncordon(w, node, &Client::person(OPERATOR)));
            }
        }
        Fault::DrainOfFinished => {
            // Drains a node on which this run has nothing.
            let Some(node) = w.node_without(load) else {
                return;
            };
            let act = w.deed(
                "an operator drains another node",
                &["ops.node_drained"],
                &[OPERATOR],
                None,
            );
            drain(w, node, &operator, act);
        }
        Fault::Tainted => tainted(w, load, &operator),
        Fault::TaintElsewhere => {
            let Some(node) = w.node_without(load) else {
                return;
            };
            let act = w.deed(
                "an operator taints another node",
                &["ops.node_drained"],
                &[OPERATOR],
                None,
            );
            set_taint(
                w,
                node,
                Taint {
                    key: "lab.example/maintenance".to_owned(),
                    value: Some("disk".to_owned()),
                    effect: "NoExecute",
                    added: None,
                    by: None,
                },
                &operator,
                act,
            );
        }
        Fault::NodeDeleted => {
            let Some(node) = node_of(w, load) else { return };
            let act = w.deed(
                "an operator deletes the node object",
                &["ops.node_drained", "ops.manual_delete"],
                &[OPERATOR],
                None,
            );
            if let Some(body) = w.nodes.get_mut(node) {
                body.lost = Some(act);
            }
            // What runs there runs on until it is collected as nobody's.
            w.drop_node(
                node,
                Ask::new(operator, "delete", "").with_tags(&names(act)),
            );
            let lag = w.rng.secs(20, 80);
            w.after(lag, move |w| {
                crate::control::collect_orphans(w, node, Some(act));
            });
        }
        Fault::ScaleDown => {
            let Some(node) = node_of(w, load) else { return };
            let act = w.deed(
                "the autoscaler removes the node",
                &["ops.scale_down"],
                CA,
                None,
            );
            scale_down(w, node, act);
        }
        Fault::NodeUpgrade => upgrade(w, load),
        Fault::PodsDeleted => {
            let who = w
                .loads
                .get(load)
                .map(|load| load.plan.owner.clone())
                .unwrap_or_default();
            let who = if w.rng.chance(50) {
                who
            } else {
                OPERATOR.to_owned()
            };
            let act = w.deed(
                "somebody deletes pods",
                &["ops.manual_delete"],
                &[who.as_str()],
                None,
            );
            let all = w.rng.chance(50);
            let first = victim(w, load);
            let pods: Vec<usize> = (0..w.pods.len())
                .filter(|&at| {
                    w.pods.get(at).is_some_and(|pod| {
                        pod.load == load && pod.alive && (all || Some(at) == first)
                    })
                })
                .collect();
            for pod in pods {
                delete_pod(w, pod, &Client::person(&who), act, Relation::Victim);
            }
        }
        Fault::JobDeleted => {
            let who = w
                .loads
                .get(load)
                .map(|load| load.plan.owner.clone())
                .unwrap_or_default();
            let act = w.deed(
                "its owner deletes it",
                &["ops.manual_delete"],
                &[who.as_str()],
                None,
            );
            delete_root(w, load, &Client::person(&who), act);
        }
        Fault::NamespaceDeleted => {
            let act = w.deed(
                "somebody deletes the namespace",
                &["ops.manual_delete"],
                &[OPERATOR],
                None,
            );
            let namespace = w
                .loads
                .get(load)
                .map(|load| load.plan.namespace.clone())
                .unwrap_or_default();
            delete_namespace(w, &namespace, &operator, act);
        }
        Fault::ScaledToZero => {
            let who = w
                .loads
                .get(load)
                .map(|load| load.plan.owner.clone())
                .unwrap_or_default();
            let act = w.deed(
                "somebody scales it to zero",
                &["ops.manual_delete", "ops.config_change", "ops.scale_down"],
                &[who.as_str()],
                None,
            );
            scale(w, load, 0, &Client::person(&who), act);
        }
        Fault::Preempted => preempted(w, load),
        Fault::KueuePreempted => kueue(w, load),
        Fault::ConfigChange => config_change(w, load),
        _ => {}
    }
}

fn budget(w: &mut World, load: usize) {
    let namespace = w
        .loads
        .get(load)
        .map(|load| load.plan.namespace.clone())
        .unwrap_or_default();
    let name = w
        .loads
        .get(load)
        .map(|load| load.plan.name.clone())
        .unwrap_or_default();
    let key = Key {
        kind: Kind::PodDisruptionBudget,
        namespace: namespace.clone(),
        name: "gang-pdb".to_owned(),
        uid: w.rng.uuid(),
    };
    let object = serde_json::json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": key.name, "namespace": namespace, "uid": key.uid, "creationTimestamp": w.now.secs()},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": name}}}, "status": {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 2}});
    w.put(
        Change::Added,
        &key,
        object,
        Ask::new(Client::person(OPERATOR), "create", ""),
    );
    w.budgets.push(namespace.clone());
    let lag = w.rng.secs(12, 40);
    w.after(lag, move |w| w.budgets.retain(|one| *one != namespace));
}

/// A person, a tool for GPUs, or an agent drives pods out with a taint of its own.
fn tainted(w: &mut World, load: usize, operator: &Client) {
    let Some(node) = node_of(w, load) else { return };
    let (key, value, by, actors): (&str, &str, Client, Vec<&str>) = match w.rng.below(3) {
        0 => (
            "lab.example/maintenance",
            "psu",
            operator.clone(),
            vec![OPERATOR],
        ),
        1 => (
            "node.kubernetes.io/out-of-service",
            "nodeshutdown",
            operator.clone(),
            vec![OPERATOR],
        ),
        _ => ("dedicated", "inference", operator.clone(), vec![OPERATOR]),
    };
    let act = w.deed(
        format!("{key} is put on the node"),
        &["ops.node_drained"],
        &actors,
        None,
    );
    set_taint(
        w,
        node,
        Taint {
            key: key.to_owned(),
            value: Some(value.to_owned()),
            effect: "NoExecute",
            added: None,
            by: None,
        },
        &by,
        act,
    );
}

/// The provider upgrades the node pool: cordons, drains and replaces node after node.
fn upgrade(w: &mut World, load: usize) {
    let Some(node) = node_of(w, load) else { return };
    let (causes, by, actors): (&[&'static str], Client, Vec<&str>) = match w.plan.cluster.cloud {
        Cloud::Gcp => (
            &["ops.node_upgrade"],
            Client {
                name: "system:gke-upgrade".to_owned(),
                agent: "gke-node-upgrade/1.0".to_owned(),
                ..Client::person("x")
            },
            vec![
                "carol@lab.example",
                "system:gke-upgrade",
                "container-engine-robot",
            ],
        ),
        _ => (
            &["ops.node_upgrade"],
            Client::account("kube-system", "node-upgrader", "aks-node-upgrade/1.0"),
            vec![
                "carol@lab.example",
                "system:serviceaccount:kube-system:node-upgrader",
            ],
        ),
    };
    let act = w.deed("the node pool is upgraded", causes, &actors, None);
    let pool = w
        .nodes
        .get(node)
        .map(|node| node.pool.clone())
        .unwrap_or_default();
    match w.plan.cluster.cloud {
        Cloud::Gcp => {
            let body = serde_json::json!({"protoPayload": {"@type": "type.googleapis.com/google.cloud.audit.AuditLog", "authenticationInfo": {"principalEmail": "carol@lab.example"}, "serviceName": "container.googleapis.com",
                "methodName": "google.container.v1.ClusterManager.UpdateNodePool", "resourceName": format!("projects/lab-project/locations/us-central1-a/clusters/lab/nodePools/{pool}"),
                "request": {"nodeVersion": "1.34.2-gke.1000", "name": format!("projects/lab-project/locations/us-central1-a/clusters/lab/nodePools/{pool}")}},
                "insertId": w.rng.letters(10), "resource": {"type": "gke_nodepool", "labels": {"cluster_name": "lab", "nodepool_name": pool, "project_id": "lab-project", "location": "us-central1-a"}},
                "timestamp": w.now.micros(), "severity": "NOTICE", "logName": "projects/lab-project/logs/cloudaudit.googleapis.com%2Factivity", "operation": {"id": "operation-1", "producer": "container.googleapis.com", "first": true}, "receiveTimestamp": w.now.nanos()});
            crate::cloud::record(w, w.now, 2 * SEC, body, &names(act));
        }
        Cloud::Aws => crate::cloud::trail(
            w,
            "UpdateNodegroupVersion",
            crate::cloud::iam("carol"),
            &[
                ("eventSource", serde_json::json!("eks.amazonaws.com")),
                (
                    "requestParameters",
                    serde_json::json!({"name": "lab", "nodegroupName": pool, "version": "1.34"}),
                ),
            ],
            &names(act),
        ),
        _ => crate::cloud::azure(
            w,
            node,
            "Administrative",
            "Microsoft.ContainerService/managedClusters/agentPools/write",
            "Accepted",
            Some("carol@lab.example"),
            serde_json::json!({"statusCode": "Accepted"}),
            // A pool is written to for many reasons.
            &claims(act),
        ),
    }
    let lag = w.rng.secs(20, 120);
    w.after(lag, move |w| {
        let step = w.deed(
            "the upgrade drains the node",
            &["ops.node_drained"],
            &[by.name.as_str()],
            Some(act),
        );
        drain(w, node, &by, step);
    });
}

/// Somebody with a higher priority needs the room.
fn preempted(w: &mut World, load: usize) {
    let Some(_plan) = w.loads.get(load).map(|load| load.plan.clone()) else {
        return;
    };
    let other = crate::plan::Load {
        kind: LoadKind::Job,
        namespace: "prod".to_owned(),
        name: format!("prod-eval-{}", w.rng.letters(3)),
        label: None,
        owner: "dave@lab.example".to_owned(),
        size: u32::try_from(w.nodes.len()).unwrap_or(1),
        gpus: w.plan.cluster.gpus,
        at: 0,
        trains: Some(40 * MIN),
        retries: 0,
        restarts: false,
        nccl_s: 600,
        resets: true,
        obeys: true,
        deadline_s: None,
        priority: Some(("prod-critical".to_owned(), 100_000)),
        gang: true,
    };
    let at = crate::case::add_load(w, other);
    make(w, at);
}

/// Kueue takes its quota back for a workload of higher priority.
fn kueue(w: &mut World, load: usize) {
    let Some(job) = (0..w.jobs.len()).find(|&at| {
        w.jobs
            .get(at)
            .is_some_and(|job| job.load == load && job.gone.is_none())
    }) else {
        return;
    };
    let Some(plan) = w.loads.get(load).map(|load| load.plan.clone()) else {
        return;
    };
    let act = w.deed(
        "Kueue takes its quota back",
        &["sched.kueue_preempted"],
        &[
            "kueue-admission",
            "Kueue",
            "system:serviceaccount:kueue-system:kueue-controller-manager",
        ],
        None,
    );
    let by = Client::account("kueue-system", "kueue-controller-manager", "kueue/v0.14.0");
    let name = format!("job-{}-{}", plan.name, w.rng.hex(5));
    let key = Key {
        kind: Kind::Workload,
        namespace: plan.namespace.clone(),
        name,
        uid: w.rng.uuid(),
    };
    let text = format!(
        "Preempted to accommodate a workload (UID: {}, JobUID: {}) due to prioritization in the ClusterQueue; preemptor path: /team; preemptee path: /team",
        w.rng.uuid(),
        w.rng.uuid()
    );
    // Kueue makes the Workload of a Job when that is made.
    let (job_uid, made) = w.jobs.get(job).map_or_else(
        || (String::new(), w.now),
        |job| (job.uid.clone(), job.created),
    );
    let object = serde_json::json!({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": {"name": key.name, "namespace": key.namespace, "uid": key.uid, "creationTimestamp": made.secs(),
        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": plan.name, "uid": job_uid, "controller": true, "blockOwnerDeletion": true}]},
        "spec": {"active": true, "queueName": "team", "priority": 0},
        "status": {"conditions": [{"type": "Evicted", "status": "True", "reason": "Preempted", "message": text, "lastTransitionTime": w.now.secs()},
            {"type": "Preempted", "status": "True", "reason": "InClusterQueue", "message": text, "lastTransitionTime": w.now.secs()},
            {"type": "Admitted", "status": "False", "reason": "NoReservation", "message": "The workload has no reservation", "lastTransitionTime": w.now.secs()}]}});
    w.put(
        Change::Added,
        &key,
        object,
        Ask::new(by.clone(), "update", "status").with_tags(&names(act)),
    );
    let source = Source::Other("kueue-admission", "kueue-system");
    w.emit_event(
        &source,
        key.clone(),
        "Normal",
        "Preempted",
        text.clone(),
        &names(act),
    );
    w.emit_event(
        &source,
        key,
        "Normal",
        "EvictedDueToPreempted",
        text,
        &names(act),
    );
    crate::control::suspend_job(w, job, &by, act);
    let _now = w.now;
    if let Some(load) = w.loads.get_mut(load) {
        load.blocked = Some(act);
        load.training = None;
    }
}

/// Somebody changes the template: new pods start, and fail by it.
fn config_change(w: &mut World, load: usize) {
    let who = w
        .loads
        .get(load)
        .map(|load| load.plan.owner.clone())
        .unwrap_or_default();
    let act = w.deed(
        "somebody changes its command",
        &["ops.config_change", "code.config_or_input"],
        &[who.as_str()],
        None,
    );
    crate::control::replace_template(w, load, &Client::person(&who), act);
}
