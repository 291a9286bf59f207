//! More kinds of what keeps a run from starting, or takes its place in a queue.

use serde_json::json;

use crate::control::suspend_job;
use crate::world::{Ask, Change, Client, Key, Kind, Source, Stage, StartFailure, World, names};

/// Why an image is not pulled, as containerd and the kubelet say it.
const IMAGES: &[(&str, &[&str])] = &[
    (
        "failed to pull and unpack image \"IMAGE\": no match for platform in manifest: not found",
        &["dep.image_pull"],
    ),
    (
        "failed to pull and unpack image \"IMAGE\": failed to resolve reference \"IMAGE\": failed to do request: Head \"https://registry.lab.example/v2/train/manifests/1.4.2\": tls: failed to verify certificate: x509: certificate signed by unknown authority",
        &["dep.image_pull"],
    ),
    ("pull QPS exceeded", &["dep.image_pull"]),
    (
        "failed to pull and unpack image \"IMAGE\": failed to copy: httpReadSeeker: failed open: unexpected status code https://registry.lab.example/v2/train/blobs/sha256:ab: 429 Too Many Requests - Server message: toomanyrequests: You have reached your pull rate limit.",
        &["dep.image_pull"],
    ),
    (
        "failed to pull and unpack image \"IMAGE\": failed to resolve reference \"IMAGE\": failed to do request: Head \"https://registry.lab.example/v2/train/manifests/1.4.2\": dial tcp: lookup registry.lab.example on 10.0.0.10:53: no such host",
        &["dep.image_pull", "dep.dns"],
    ),
    (
        "failed to pull and unpack image \"IMAGE\": failed to extract layer sha256:4f4f: mount callback failed on /var/lib/containerd/tmpmounts/containerd-mount1: write /var/lib/containerd/tmpmounts/containerd-mount1/opt/lib.so: no space left on device",
        &["dep.image_pull", "sched.node_pressure", "dep.storage"],
    ),
    (
        "failed to pull and unpack image \"IMAGE\": failed to resolve reference \"IMAGE\": failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://registry.lab.example/token: 401 Unauthorized",
        &["dep.image_pull", "dep.secret_or_config"],
    ),
];

/// Its image is not pulled.
pub(super) fn image(w: &mut World, load: usize) {
    let which = w.rng.below(IMAGES.len());
    let Some(&(text, causes)) = IMAGES.get(which) else {
        return;
    };
    let message = text.replace("IMAGE", &w.image(load));
    let act = w.act(format!("its image is not pulled: {message}"), causes, None);
    if let Some(load) = w.loads.get_mut(load) {
        load.blocked = Some(act);
        load.start_failure = Some(StartFailure {
            at: Stage::Image,
            message,
            act,
            node: None,
        });
    }
}

/// Kueue's other reasons to stop what it had let in: reason, and its words.
const EVICTIONS: &[(&str, &str, &str)] = &[
    (
        "PodsReadyTimeout",
        "EvictedDueToPodsReadyTimeout",
        "Exceeded the PodsReady timeout",
    ),
    (
        "LocalQueueStopped",
        "EvictedDueToLocalQueueStopped",
        "The LocalQueue is stopped",
    ),
    (
        "ClusterQueueStopped",
        "EvictedDueToClusterQueueStopped",
        "The ClusterQueue is stopped",
    ),
    (
        "Deactivated",
        "EvictedDueToDeactivated",
        "The workload is deactivated",
    ),
];

/// Kueue stops a Job, and not for the sake of another.
pub(super) fn evicted(w: &mut World, load: usize) {
    let found = w
        .jobs
        .iter()
        .enumerate()
        .find(|(_, job)| job.load == load && job.gone.is_none());
    let Some((job, job_uid, made)) = found.map(|(at, job)| (at, job.uid.clone(), job.created))
    else {
        return;
    };
    let Some(plan) = w.loads.get(load).map(|load| load.plan.clone()) else {
        return;
    };
    let which = w.rng.below(EVICTIONS.len());
    let Some(&(reason, event, text)) = EVICTIONS.get(which) else {
        return;
    };
    let act = w.deed(
        format!("Kueue stops it: {reason}"),
        &["sched.kueue_evicted"],
        &[
            "kueue-admission",
            "Kueue",
            "system:serviceaccount:kueue-system:kueue-controller-manager",
        ],
        None,
    );
    let by = Client::account("kueue-system", "kueue-controller-manager", "kueue/v0.14.0");
    let key = Key {
        kind: Kind::Workload,
        namespace: plan.namespace.clone(),
        name: format!("job-{}-{}", plan.name, w.rng.hex(5)),
        uid: w.rng.uuid(),
    };
    let text = if reason == "PodsReadyTimeout" {
        format!("{text} {}/{}", key.namespace, key.name)
    } else {
        text.to_owned()
    };
    let object = json!({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": {"name": key.name, "namespace": key.namespace, "uid": key.uid, "creationTimestamp": made.secs(),
        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": plan.name, "uid": job_uid, "controller": true, "blockOwnerDeletion": true}]},
        "spec": {"active": reason != "Deactivated", "queueName": "team", "priority": 0},
        "status": {"conditions": [{"type": "Evicted", "status": "True", "reason": reason, "message": text, "lastTransitionTime": w.now.secs()},
            {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": text, "lastTransitionTime": w.now.secs()},
            {"type": "Admitted", "status": "False", "reason": "NoReservation", "message": "The workload has no reservation", "lastTransitionTime": w.now.secs()}]}});
    let ask = Ask::new(by.clone(), "update", "status").with_tags(&names(act));
    w.put(Change::Added, &key, object, ask);
    let source = Source::Other("kueue-admission", "kueue-system");
    w.emit_event(&source, key, "Normal", event, text, &names(act));
    suspend_job(w, job, &by, act);
    if let Some(load) = w.loads.get_mut(load) {
        load.blocked = Some(act);
        load.training = None;
    }
}
