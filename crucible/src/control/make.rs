//! Objects are made and deleted at somebody's word.

use serde_json::json;

use crate::control::{job, jobset, pytorch, replica, schedule, stop};
use crate::plan::LoadKind;
use crate::time::SEC;
use crate::world::{
    ActId, Ask, Change, Client, Container, Key, Kind, Owner, Phase, Pod, Relation, Running, State,
    Tag, World, names,
};

/// Somebody makes a workload.
pub fn make(w: &mut World, at: usize) {
    let uid = w.rng.uuid();
    let now = w.now;
    let Some(load) = w.loads.get_mut(at) else {
        return;
    };
    load.uid = uid;
    load.created = Some(now);
    load.state = State::Pending;
    load.wanted = load.plan.size;
    let (kind, owner) = (load.plan.kind, load.plan.owner.clone());
    let by = Client::person(&owner);
    match kind {
        LoadKind::Job => {
            let uid = w
                .loads
                .get(at)
                .map(|load| load.uid.clone())
                .unwrap_or_default();
            job::create(w, at, uid, &by, 1);
        }
        LoadKind::JobSet => jobset::create(w, at, &by),
        LoadKind::PyTorchJob => pytorch::create(w, at, &by),
        LoadKind::Deployment | LoadKind::StatefulSet => replica::create(w, at, &by),
        LoadKind::Pod => {
            let name = w
                .loads
                .get(at)
                .map(|load| load.plan.name.clone())
                .unwrap_or_default();
            let pod = blank(w, at, name, None);
            let uid = w
                .loads
                .get(at)
                .map(|load| load.uid.clone())
                .unwrap_or_default();
            w.new_pod(Pod { uid, ..pod }, Ask::new(by, "create", ""));
            w.soon(3, 20, schedule);
        }
    }
}

/// A pod that is about to be made.
pub(super) fn blank(w: &mut World, load: usize, name: String, owner: Option<Owner>) -> Pod {
    let namespace = w
        .loads
        .get(load)
        .map(|load| load.plan.namespace.clone())
        .unwrap_or_default();
    let attempt = w.loads.get(load).map_or(1, |load| load.attempt);
    Pod {
        name,
        stem: None,
        namespace,
        uid: w.rng.uuid(),
        labels: w.labels(load),
        annotations: Vec::new(),
        owner,
        tracked: false,
        created: w.now,
        deletion: None,
        node: None,
        nominated: None,
        phase: Phase::Pending,
        status_reason: None,
        conditions: Vec::new(),
        started: None,
        sidecar: (w.plan.more.sidecar && load == 0).then(|| Container {
            state: Running::Waiting("PodInitializing".to_owned(), String::new()),
            last: None,
            restarts: 0,
            ready: false,
            id: String::new(),
        }),
        init: (w.plan.more.init && load == 0).then(|| Container {
            state: Running::Waiting("PodInitializing".to_owned(), String::new()),
            last: None,
            restarts: 0,
            ready: false,
            id: String::new(),
        }),
        container: Container {
            state: Running::Waiting("ContainerCreating".to_owned(), String::new()),
            last: None,
            restarts: 0,
            ready: false,
            id: String::new(),
        },
        generation: 1,
        gone: None,
        load,
        job: None,
        attempt,
        rank: 0,
        death: None,
        alive: false,
        pid: w.rng.range(20_000, 900_000),
        counted: false,
        released: false,
        stopping: false,
        tried: None,
        unreported: None,
    }
}

/// Deletion of a pod is asked for; the kubelet will stop it.
pub(super) fn request_deletion(
    w: &mut World,
    pod: usize,
    by: Client,
    grace: Option<i64>,
    tags: &[Tag],
) {
    let now = w.now;
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    if body.gone.is_some() || body.deletion.is_some() {
        return;
    }
    let unbound = body.node.is_none();
    let over = body.phase.is_over();
    let grace = if unbound || over {
        0
    } else {
        grace.unwrap_or(30)
    };
    body.deletion = Some((now.plus(grace * SEC), grace));
    body.generation += 1;
    let tracked = body.tracked;
    let ask = Ask::new(by, "delete", "").with_tags(tags);
    if (unbound || over || grace == 0) && !tracked {
        w.drop_pod(pod, ask);
    } else {
        w.put_pod(pod, ask);
        w.soon(5, 60, move |w| stop(w, pod));
    }
    settle(w, pod);
}

/// The controllers of a pod look at it again.
pub fn settle(w: &mut World, pod: usize) {
    let Some(body) = w.pods.get(pod) else { return };
    let load = body.load;
    if let Some(at) = body.job {
        job::due(w, at, 150, 1100);
    } else if w
        .loads
        .get(load)
        .is_some_and(|load| matches!(load.plan.kind, LoadKind::Deployment | LoadKind::StatefulSet))
    {
        w.soon(5, 60, move |w| replica::sync(w, load));
    } else if w
        .loads
        .get(load)
        .is_some_and(|load| load.plan.kind == LoadKind::PyTorchJob)
    {
        w.soon(20, 300, move |w| pytorch::sync(w, load));
    } else if let Some(load) = w.loads.get_mut(load) {
        // A pod of its own.
        let over = body.phase.is_over().then_some(body.phase);
        if load.ended.is_none() && (over.is_some() || body.gone.is_some()) {
            load.ended = Some(w.now);
            load.state = match over {
                Some(Phase::Succeeded) => State::Completed,
                Some(_) => State::Failed,
                None => State::Deleted,
            };
        }
    }
}

/// Somebody deletes a pod by its name.
pub fn delete_pod(w: &mut World, pod: usize, by: &Client, act: ActId, tie: Relation) {
    if w.pods
        .get(pod)
        .is_none_or(|pod| pod.gone.is_some() || pod.deletion.is_some())
    {
        return;
    }
    let over = w.pods.get(pod).is_some_and(|pod| pod.phase.is_over());
    if !over {
        w.die(pod, act, tie, true);
        let (load, now) = (w.pods.get(pod).map_or(0, |pod| pod.load), w.now);
        if let Some(load) = w
            .loads
            .get_mut(load)
            .filter(|load| load.plan.kind == LoadKind::Pod && load.ended.is_none())
        {
            load.ended = Some(now);
            load.state = State::Deleted;
        }
    }
    request_deletion(w, pod, by.clone(), None, &names(act));
}

/// Somebody deletes the root object of a workload; what it owns follows.
pub fn delete_root(w: &mut World, at: usize, by: &Client, act: ActId) {
    let now = w.now;
    let Some(key) = w.root_key(at) else { return };
    if !w.exists(&key) {
        return;
    }
    if key.kind == Kind::Pod {
        for pod in pods_of(w, at) {
            delete_pod(w, pod, by, act, Relation::Victim);
        }
        return;
    }
    let last = w.latest(&key);
    let Some(object) = last else { return };
    w.put(Change::Deleted, &key, (*object).clone(), Ask::new(by.clone(), "delete", "")
        .body(json!({"kind": "DeleteOptions", "apiVersion": key.kind.api_version(), "propagationPolicy": "Background"}))
        .with_tags(&names(act)));
    let Some(load) = w.loads.get_mut(at) else {
        return;
    };
    load.gone = Some(now);
    if load.ended.is_none() {
        load.ended = Some(now);
        load.state = State::Deleted;
    }
    for job in &mut w.jobs {
        if job.load == at && key.kind == Kind::Job {
            job.gone = Some(now);
        }
    }
    // The garbage collector follows the references.
    w.soon(60, 900, move |w| collect_children(w, at, act));
}

/// Pods of a workload that are there.
pub(super) fn pods_of(w: &World, load: usize) -> Vec<usize> {
    (0..w.pods.len())
        .filter(|&at| {
            w.pods
                .get(at)
                .is_some_and(|pod| pod.load == load && pod.gone.is_none())
        })
        .collect()
}

fn collect_children(w: &mut World, load: usize, act: ActId) {
    let by = Client::controller("generic-garbage-collector");
    let jobs: Vec<usize> = (0..w.jobs.len())
        .filter(|&at| {
            w.jobs
                .get(at)
                .is_some_and(|job| job.load == load && job.gone.is_none())
        })
        .collect();
    for at in jobs {
        let now = w.now;
        if let Some(job) = w.jobs.get_mut(at) {
            job.gone = Some(now);
        }
        w.put_job(
            at,
            Change::Deleted,
            Ask::new(by.clone(), "delete", "").with_tags(&names(act)),
        );
    }
    if let Some((name, uid)) = w.loads.get(load).and_then(|load| load.set.clone()) {
        let key = Key {
            kind: Kind::ReplicaSet,
            namespace: w
                .loads
                .get(load)
                .map(|load| load.plan.namespace.clone())
                .unwrap_or_default(),
            name,
            uid,
        };
        let object = w.latest(&key);
        if let Some(object) = object {
            w.put(
                Change::Deleted,
                &key,
                (*object).clone(),
                Ask::new(by.clone(), "delete", "").with_tags(&names(act)),
            );
        }
    }
    for pod in pods_of(w, load) {
        // The finalizer of a Job that is gone is removed by its controller.
        if let Some(pod) = w.pods.get_mut(pod) {
            pod.tracked = false;
        }
        delete_pod(w, pod, &by, act, Relation::Victim);
    }
}
