//! Kubeflow's training operator: a master and its workers, without a Job between them.

use serde_json::{Value, json};

use super::{make, schedule};
use crate::train;
use crate::world::{
    ActId, Ask, Change, Client, Owner, Phase, Pod, Relation, Source, State, Tag, World, claims,
    names,
};

fn client() -> Client {
    Client::account(
        "kubeflow",
        "training-operator",
        "manager/v0.0.0 (linux/amd64) kubernetes/$Format",
    )
}

fn event_source() -> Source {
    Source::Other("pytorchjob-controller", "kubeflow")
}

/// Makes a `PyTorchJob` and its pods.
pub(super) fn create(w: &mut World, load: usize, by: &Client) {
    put(w, load, Change::Added, Ask::new(by.clone(), "create", ""));
    w.soon(30, 200, move |w| {
        if w.loads.get(load).is_none_or(|load| load.gone.is_some()) {
            return;
        }
        say(w, load, "Created", "PyTorchJobCreated", "is created.", &[]);
        let size = w.loads.get(load).map_or(0, |load| load.plan.size);
        for rank in 0..size {
            create_pod(w, load, rank);
        }
    });
}

fn create_pod(w: &mut World, load: usize, rank: u32) {
    let (Some(key), Some(body)) = (w.root_key(load), w.loads.get(load)) else {
        return;
    };
    let (name, uid) = (body.plan.name.clone(), body.uid.clone());
    let (role, index) = match rank {
        0 => ("master", 0),
        rank => ("worker", rank - 1),
    };
    let pod_name = format!("{name}-{role}-{index}");
    let owner = Owner {
        api: "kubeflow.org/v1".to_owned(),
        kind: "PyTorchJob",
        name: name.clone(),
        uid,
    };
    let mut pod = make::blank(w, load, pod_name.clone(), Some(owner));
    for (label, value) in [
        ("operator-name", "pytorchjob-controller".to_owned()),
        ("job-name", name),
        ("replica-type", role.to_owned()),
        ("replica-index", index.to_string()),
    ] {
        pod.labels
            .push((format!("training.kubeflow.org/{label}"), value));
    }
    if rank == 0 {
        pod.labels.push((
            "training.kubeflow.org/job-role".to_owned(),
            "master".to_owned(),
        ));
    }
    w.new_pod(Pod { rank, ..pod }, Ask::new(client(), "create", ""));
    w.emit_event(
        &event_source(),
        key,
        "Normal",
        "SuccessfulCreatePod",
        format!("Created pod: {pod_name}"),
        &[],
    );
    w.soon(3, 20, schedule);
}

/// The operator looks at the pods.
pub(super) fn sync(w: &mut World, load: usize) {
    let Some(body) = w.loads.get(load) else {
        return;
    };
    if body.gone.is_some() || body.ended.is_some() {
        return;
    }
    let (size, known) = (body.plan.size, body.conditions.len());
    let pods = make::pods_of(w, load);
    let in_phase = |w: &World, phase: Phase| {
        let mut found = pods.clone();
        found.retain(|&at| w.pods.get(at).is_some_and(|pod| pod.phase == phase));
        found
    };
    let (failed, done, running) = (
        in_phase(w, Phase::Failed),
        in_phase(w, Phase::Succeeded),
        in_phase(w, Phase::Running),
    );
    let size = usize::try_from(size).unwrap_or(0);
    if let Some(&first) = failed.first() {
        give_up(w, load, first, failed.len());
    } else if done.len() >= size {
        let tags = w
            .loads
            .get(load)
            .and_then(|load| load.done)
            .map(names)
            .unwrap_or_default();
        end(w, load, State::Completed);
        say(
            w,
            load,
            "Succeeded",
            "PyTorchJobSucceeded",
            "is successfully completed.",
            &tags,
        );
    } else if running.len() >= size && known < 2 {
        say(w, load, "Running", "PyTorchJobRunning", "is running.", &[]);
    } else {
        // One that is gone is made anew.
        for rank in 0..u32::try_from(size).unwrap_or(0) {
            let there = w
                .pods
                .iter()
                .any(|pod| pod.load == load && pod.rank == rank && pod.gone.is_none());
            if !there {
                create_pod(w, load, rank);
            }
        }
    }
}

fn end(w: &mut World, load: usize, state: State) {
    let now = w.now;
    if let Some(load) = w.loads.get_mut(load) {
        load.ended = Some(now);
        load.state = state;
    }
}

/// A replica failed: the job has, and what still runs of it is deleted.
fn give_up(w: &mut World, load: usize, first: usize, count: usize) {
    let death = earliest(w, load);
    let tags: Vec<Tag> = death.map(claims).unwrap_or_default();
    let role = match w.pods.get(first).map(|pod| pod.rank) {
        Some(0) => "Master",
        _ => "Worker",
    };
    end(w, load, State::Failed);
    let text = format!("is failed because {count} {role} replica(s) failed.");
    say(w, load, "Failed", "PyTorchJobFailed", &text, &tags);
    let teardown = w.act("the operator deletes what still runs", &[], death);
    let left: Vec<usize> = make::pods_of(w, load)
        .into_iter()
        .filter(|&at| w.pods.get(at).is_some_and(|pod| !pod.phase.is_over()))
        .collect();
    for pod in left {
        let name = w.pods.get(pod).map(|pod| pod.name.clone());
        w.die(pod, teardown, Relation::Collateral, true);
        make::request_deletion(w, pod, client(), None, &tags);
        if let (Some(key), Some(name)) = (w.root_key(load), name) {
            w.emit_event(
                &event_source(),
                key,
                "Normal",
                "SuccessfulDeletePod",
                format!("Deleted pod: {name}"),
                &tags,
            );
        }
    }
    train::over(w, load);
}

fn earliest(w: &World, load: usize) -> Option<ActId> {
    w.deaths
        .iter()
        .filter(|death| w.pods.get(death.pod).is_some_and(|pod| pod.load == load))
        .min_by_key(|death| (death.time, death.pod))
        .map(|death| death.act)
}

/// A condition of the job, and the Event that tells of it.
fn say(w: &mut World, load: usize, kind: &str, reason: &'static str, text: &str, tags: &[Tag]) {
    let now = w.now;
    let Some(body) = w.loads.get_mut(load) else {
        return;
    };
    let message = format!("PyTorchJob {} {text}", body.plan.name);
    body.conditions
        .push((kind.to_owned(), reason.to_owned(), message.clone(), now));
    put(
        w,
        load,
        Change::Modified,
        Ask::new(client(), "update", "status").with_tags(tags),
    );
    let severity = if kind == "Failed" {
        "Warning"
    } else {
        "Normal"
    };
    if let Some(key) = w.root_key(load) {
        w.emit_event(&event_source(), key, severity, reason, message, tags);
    }
}

fn put(w: &mut World, load: usize, change: Change, ask: Ask) {
    let (Some(key), Some(body)) = (w.root_key(load), json_of(w, load)) else {
        return;
    };
    if change == Change::Added || w.exists(&key) {
        w.put(change, &key, body, ask);
    }
}

fn json_of(w: &World, at: usize) -> Option<Value> {
    let (load, key) = (w.loads.get(at)?, w.root_key(at)?);
    let labels = w.labels(at).into_iter();
    let labels: Value = labels.map(|(name, value)| (name, json!(value))).collect();
    let last = load.conditions.last().map(|one| one.0.as_str());
    let conditions: Vec<Value> = load
        .conditions
        .iter()
        .map(|(kind, reason, message, since)| {
            // That it runs is no longer so once it has ended.
            let holds = kind != "Running" || last == Some("Running");
            json!({"type": kind, "status": if holds {"True"} else {"False"}, "reason": reason, "message": message,
                "lastTransitionTime": since.secs(), "lastUpdateTime": since.secs()})
        })
        .collect();
    let spec = w.pod_spec(at, true);
    let replicas = |count: u32| json!({"replicas": count, "restartPolicy": spec["restartPolicy"], "template": {"spec": spec}});
    let mut specs = json!({"Master": replicas(1)});
    if load.plan.size > 1 {
        specs["Worker"] = replicas(load.plan.size - 1);
    }
    Some(
        json!({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
        "metadata": {"name": key.name, "namespace": key.namespace, "uid": key.uid, "generation": 1, "creationTimestamp": load.created?.secs(), "labels": labels},
        "spec": {"pytorchReplicaSpecs": specs, "runPolicy": {"cleanPodPolicy": "Running", "suspend": false}},
        "status": {"conditions": conditions, "startTime": load.created?.secs()}}),
    )
}
