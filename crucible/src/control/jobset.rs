//! The `JobSet` controller: one gang of workers, made anew as a whole.

use serde_json::{Value, json};

use super::{job, make};
use crate::world::{Ask, Change, Client, Source, State, World, claims};

fn client() -> Client {
    Client::account(
        "jobset-system",
        "jobset-controller-manager",
        "manager/v0.0.0 (linux/amd64) kubernetes/$Format",
    )
}

fn event_source() -> Source {
    Source::Other("jobset-controller", "jobset-system")
}

/// Makes a `JobSet` and its first child.
pub(super) fn create(w: &mut World, load: usize, by: &Client) {
    put(w, load, Change::Added, Ask::new(by.clone(), "create", ""));
    w.soon(30, 200, move |w| child(w, load));
}

fn child(w: &mut World, load: usize) {
    if w.loads.get(load).is_none_or(|load| load.gone.is_some()) {
        return;
    }
    let uid = w.rng.uuid();
    let attempt = w.loads.get(load).map_or(1, |load| load.attempt);
    job::create(w, load, uid, &client(), attempt);
    put(
        w,
        load,
        Change::Modified,
        Ask::new(client(), "update", "status"),
    );
}

fn put(w: &mut World, load: usize, change: Change, ask: Ask) {
    let (Some(key), Some(body)) = (w.root_key(load), json_of(w, load)) else {
        return;
    };
    if change != Change::Added && !w.exists(&key) {
        return;
    }
    w.put(change, &key, body, ask);
}

fn json_of(w: &World, at: usize) -> Option<Value> {
    let load = w.loads.get(at)?;
    let labels: Value = Value::Object(
        w.labels(at)
            .into_iter()
            .map(|(name, value)| (name, json!(value)))
            .collect(),
    );
    let conditions: Vec<Value> = load
        .conditions
        .iter()
        .map(|(kind, reason, message, since)| json!({"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": since.secs()}))
        .collect();
    let mut status = json!({"restarts": load.attempt - 1, "restartsCountTowardsMax": load.attempt - 1, "replicatedJobsStatus": [{"name": "workers", "active": 0, "ready": 0, "failed": 0, "succeeded": 0, "suspended": 0}]});
    if !conditions.is_empty() {
        status["conditions"] = json!(conditions);
    }
    if let Some(last) = load
        .conditions
        .last()
        .filter(|one| matches!(one.0.as_str(), "Failed" | "Completed"))
    {
        status["terminalState"] = json!(last.0);
    }
    Some(json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": load.plan.name, "namespace": load.plan.namespace, "uid": load.uid, "generation": 1, "labels": labels,
            "creationTimestamp": load.created?.secs()},
        "spec": {"failurePolicy": {"maxRestarts": load.plan.retries}, "replicatedJobs": [{"name": "workers", "replicas": 1,
            "template": {"spec": {"parallelism": load.plan.size, "completions": load.plan.size, "backoffLimit": 0, "completionMode": "Indexed",
                "template": {"spec": w.pod_spec(at, true)}}}}]},
        "status": status,
    }))
}

/// A child Job ended: the set ends, or the gang is made anew.
pub fn child_ended(w: &mut World, load: usize, at: usize, state: State) {
    let now = w.now;
    let Some(key) = w.root_key(load) else { return };
    let Some(body) = w.loads.get_mut(load) else {
        return;
    };
    if body.gone.is_some() || body.ended.is_some() {
        return;
    }
    let tags = w
        .deaths
        .iter()
        .filter(|death| w.pods.get(death.pod).is_some_and(|pod| pod.job == Some(at)))
        .min_by_key(|death| (death.time, death.pod))
        .map(|death| claims(death.act))
        .unwrap_or_default();
    if state == State::Completed {
        body.conditions.push((
            "Completed".to_owned(),
            "AllJobsCompleted".to_owned(),
            "jobset completed successfully".to_owned(),
            now,
        ));
        body.ended = Some(now);
        body.state = State::Completed;
        let tags = body.done.map(crate::world::names).unwrap_or_default();
        put(
            w,
            load,
            Change::Modified,
            Ask::new(client(), "update", "status").with_tags(&tags),
        );
        w.emit_event(
            &event_source(),
            key,
            "Normal",
            "AllJobsCompleted",
            "jobset completed successfully",
            &tags,
        );
        return;
    }
    let child_name = w
        .jobs
        .get(at)
        .map(|job| job.name.clone())
        .unwrap_or_default();
    let Some(body) = w.loads.get_mut(load) else {
        return;
    };
    if body.attempt > body.plan.retries {
        let (reason, message) = if body.plan.retries > 0 {
            (
                "ReachedMaxRestarts",
                format!(
                    "jobset failed due to reaching max number of restarts (first failed job: {child_name})"
                ),
            )
        } else {
            (
                "FailedJobs",
                format!(
                    "jobset failed due to one or more job failures (first failed job: {child_name})"
                ),
            )
        };
        body.conditions
            .push(("Failed".to_owned(), reason.to_owned(), message.clone(), now));
        body.ended = Some(now);
        body.state = State::Failed;
        put(
            w,
            load,
            Change::Modified,
            Ask::new(client(), "update", "status").with_tags(&tags),
        );
        w.emit_event(
            &event_source(),
            key,
            "Warning",
            if body_is_max(reason) {
                "ReachedMaxRestarts"
            } else {
                "FailedJobs"
            },
            message,
            &tags,
        );
        return;
    }
    body.attempt += 1;
    let attempt = body.attempt;
    put(
        w,
        load,
        Change::Modified,
        Ask::new(client(), "update", "status").with_tags(&tags),
    );
    w.emit_event(
        &event_source(),
        key,
        "Warning",
        "Restarting",
        format!("restarting jobset, attempt: {}", attempt - 1),
        &tags,
    );
    if let Some(job) = w.jobs.get_mut(at) {
        job.gone = Some(now);
    }
    w.put_job(
        at,
        Change::Deleted,
        Ask::new(client(), "delete", "").with_tags(&tags),
    );
    let teardown = w.act("the JobSet controller makes the gang anew", &[], None);
    for pod in make::pods_of(w, load) {
        make::delete_pod(
            w,
            pod,
            &Client::controller("generic-garbage-collector"),
            teardown,
            crate::world::Relation::Collateral,
        );
    }
    w.soon(900, 4000, move |w| child(w, load));
}

fn body_is_max(reason: &str) -> bool {
    reason == "ReachedMaxRestarts"
}
