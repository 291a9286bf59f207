//! How Jobs end but by their pods: deadlines, suspension, a policy of failures, and the time
//! that a finished one is kept.

use serde_json::json;

use super::job::{client, give_up, let_go};
use super::make;
use crate::train;
use crate::world::{ActId, Ask, Change, Client, Relation, Running, Source, World, claims};

/// Exit code at which a policy of failures gives up at once.
pub(crate) const FATAL: i32 = 42;

/// What the Job's policy says of a pod that failed, where it fails the Job.
pub(super) fn refused_by_policy(w: &World, at: usize) -> Option<String> {
    if !w.plan.more.policy || w.jobs.get(at)?.load != 0 {
        return None;
    }
    let failed = w.pods.iter().find(|pod| {
        pod.job == Some(at)
            && matches!(&pod.container.state, Running::Ended(end) if end.code == FATAL)
    })?;
    Some(format!(
        "Container trainer for pod {}/{} failed with exit code {FATAL} matching FailJob rule at index 0",
        failed.namespace, failed.name
    ))
}

/// A Job that is made suspended says so.
pub(super) fn held_back(w: &mut World, at: usize) {
    w.soon(20, 90, move |w| {
        w.put_job(at, Change::Modified, Ask::new(client(), "update", "status"));
        if let Some(key) = w.job_key(at) {
            w.emit_event(
                &Source::Controller("job-controller"),
                key,
                "Normal",
                "Suspended",
                "Job suspended",
                &[],
            );
        }
    });
}

/// A finished Job has been kept for as long as it asked for: it is deleted, what it owns first.
pub(super) fn expire(w: &mut World, at: usize) {
    let Some(key) = w.job_key(at).filter(|key| w.exists(key)) else {
        return;
    };
    let Some(object) = w.latest(&key) else { return };
    let mut dying = (*object).clone();
    dying["metadata"]["deletionTimestamp"] = json!(w.now.secs());
    dying["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    dying["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
    let by = Client::controller("ttl-after-finished-controller");
    w.put(
        Change::Modified,
        &key,
        dying.clone(),
        Ask::new(by, "delete", "").body(json!({"kind": "DeleteOptions", "apiVersion": "batch/v1",
            "preconditions": {"uid": key.uid}, "propagationPolicy": "Foreground"})),
    );
    let now = w.now;
    let load = w.jobs.get(at).map_or(0, |job| job.load);
    if let Some(job) = w.jobs.get_mut(at) {
        job.gone = Some(now);
    }
    if let Some(load) = w.loads.get_mut(load) {
        load.gone = Some(now);
    }
    let act = w.act("a finished Job is cleared away in time", &[], None);
    w.soon(40, 400, move |w| {
        let by = Client::controller("generic-garbage-collector");
        for pod in make::pods_of(w, load) {
            if let Some(pod) = w.pods.get_mut(pod) {
                pod.tracked = false;
            }
            make::delete_pod(w, pod, &by, act, Relation::Collateral);
        }
        w.soon(300, 1500, move |w| {
            w.put(Change::Deleted, &key, dying, Ask::new(by, "patch", ""));
        });
    });
}

/// `activeDeadlineSeconds` has passed.
pub(super) fn deadline_passed(w: &mut World, at: usize) {
    let Some(job) = w.jobs.get(at) else { return };
    if job.closing || job.completed.is_some() || job.gone.is_some() {
        return;
    }
    let act = w.deed(
        "its deadline passed",
        &["code.deadline"],
        &[
            "job-controller",
            "system:serviceaccount:kube-system:job-controller",
        ],
        None,
    );
    give_up(
        w,
        at,
        "DeadlineExceeded",
        "Job was active longer than specified deadline",
        Some(act),
    );
}

/// Suspends or resumes a Job; suspension deletes its pods.
pub fn suspend(w: &mut World, at: usize, by: &Client, act: ActId) {
    let Some(job) = w.jobs.get_mut(at) else {
        return;
    };
    job.suspended = true;
    let load = job.load;
    w.put_job(
        at,
        Change::Modified,
        Ask::new(by.clone(), "patch", "")
            .body(json!({"spec": {"suspend": true}}))
            .with_tags(&crate::world::names(act)),
    );
    w.soon(20, 200, move |w| {
        for pod in make::pods_of(w, load) {
            let Some(key) = w.job_key(at) else { return };
            let name = w
                .pods
                .get(pod)
                .map(|pod| pod.name.clone())
                .unwrap_or_default();
            w.die(pod, act, Relation::Victim, true);
            make::request_deletion(w, pod, client(), None, &claims(act));
            w.emit_event(
                &Source::Controller("job-controller"),
                key,
                "Normal",
                "SuccessfulDelete",
                format!("Deleted pod: {name}"),
                &claims(act),
            );
        }
        if let Some(key) = w.job_key(at) {
            w.emit_event(
                &Source::Controller("job-controller"),
                key,
                "Normal",
                "Suspended",
                "Job suspended",
                &claims(act),
            );
        }
        train::over(w, load);
    });
}

/// The pods of a Job that is gone lose its finalizer.
pub(super) fn release(w: &mut World, at: usize) {
    for pod in 0..w.pods.len() {
        if w.pods
            .get(pod)
            .is_some_and(|pod| pod.job == Some(at) && pod.tracked && pod.gone.is_none())
        {
            if let Some(pod) = w.pods.get_mut(pod) {
                pod.tracked = false;
            }
            let_go(w, pod);
        }
    }
}
