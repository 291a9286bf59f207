//! The Job controller.

use serde_json::json;

use super::{jobset, make};
use crate::plan::LoadKind;
use crate::time::{MIN, MS, SEC};
use crate::train;
use crate::world::{
    ActId, Ask, Change, Client, Job, Owner, Phase, Pod, Relation, Source, State, World, claims,
};

/// Makes a Job of a workload.
pub(super) fn create(w: &mut World, load: usize, uid: String, by: &Client, attempt: u32) -> usize {
    let Some(body) = w.loads.get(load) else {
        return 0;
    };
    let (name, deadline) = match body.plan.kind {
        LoadKind::JobSet => (
            format!("{}-workers-0", body.plan.name),
            body.plan.deadline_s,
        ),
        _ => (body.plan.name.clone(), body.plan.deadline_s),
    };
    w.jobs.push(Job {
        load,
        name,
        uid,
        created: w.now,
        failed: 0,
        succeeded: 0,
        conditions: Vec::new(),
        completed: None,
        gone: None,
        closing: false,
        suspended: w.plan.more.queued && load == 0,
        due: false,
        retries: 0,
        attempt,
    });
    let at = w.jobs.len() - 1;
    w.put_job(at, Change::Added, Ask::new(by.clone(), "create", ""));
    if w.plan.more.queued && load == 0 {
        super::job_end::held_back(w, at);
    }
    due(w, at, 15, 90);
    if let Some(secs) = deadline {
        w.after(secs * SEC + 20 * MS, move |w| {
            super::job_end::deadline_passed(w, at);
        });
    }
    at
}

/// The controller will look at a Job.
pub(super) fn due(w: &mut World, at: usize, low: i64, high: i64) {
    let Some(job) = w.jobs.get_mut(at) else {
        return;
    };
    if job.due {
        return;
    }
    job.due = true;
    w.soon(low, high, move |w| sync(w, at));
}

pub(super) fn client() -> Client {
    Client::controller("job-controller")
}

/// The controller looks at a Job.
pub fn sync(w: &mut World, at: usize) {
    let Some(job) = w.jobs.get_mut(at) else {
        return;
    };
    job.due = false;
    // A Job has no status before its controller has looked at it.
    if w.down.controllers.is_some() {
        return;
    }
    if job.gone.is_some() {
        super::job_end::release(w, at);
        return;
    }
    if job.completed.is_some() || job.is("Failed") || job.suspended {
        return;
    }
    let load = job.load;
    let counted = count(w, at);
    let Some(job) = w.jobs.get(at) else { return };
    let Some(plan) = w.loads.get(load).map(|load| load.plan.clone()) else {
        return;
    };
    let limit = if plan.kind == LoadKind::JobSet {
        0
    } else {
        plan.retries
    };
    if job.closing {
        close(w, at);
        return;
    }
    if let Some(message) = super::job_end::refused_by_policy(w, at) {
        give_up(w, at, "PodFailurePolicy", &message, None);
        return;
    }
    if job.failed > limit {
        give_up(
            w,
            at,
            "BackoffLimitExceeded",
            "Job has reached the specified backoff limit",
            None,
        );
        return;
    }
    if job.succeeded >= plan.size {
        complete(w, at);
        return;
    }
    let first = counted == 0 && job.failed == 0;
    let missing = missing(w, at, plan.size);
    if !missing.is_empty() {
        if first || !pending_retry(w, at) {
            for rank in missing {
                create_pod(w, at, rank);
            }
        } else {
            return;
        }
    }
    w.put_job(at, Change::Modified, Ask::new(client(), "update", "status"));
}

/// Whether the controller waits before it tries again; it does so once a failure.
fn pending_retry(w: &mut World, at: usize) -> bool {
    let Some(job) = w.jobs.get_mut(at) else {
        return true;
    };
    if job.failed <= job.retries {
        return false;
    }
    job.retries = job.failed;
    let wait = (10 * SEC)
        .saturating_mul(1 << (job.failed - 1).min(6))
        .min(10 * MIN);
    if let Some(load) = w.loads.get_mut(job.load) {
        load.attempt += 1;
    }
    w.after(wait, move |w| {
        let Some(job) = w.jobs.get(at) else { return };
        let load = job.load;
        if job.closing || job.gone.is_some() || job.completed.is_some() {
            return;
        }
        let size = w.loads.get(load).map_or(0, |load| load.plan.size);
        for rank in missing(w, at, size) {
            create_pod(w, at, rank);
        }
        w.put_job(at, Change::Modified, Ask::new(client(), "update", "status"));
    });
    true
}

/// Ranks that have no pod.
fn missing(w: &World, at: usize, size: u32) -> Vec<u32> {
    (0..size)
        .filter(|&rank| {
            !w.pods.iter().any(|pod| {
                pod.job == Some(at)
                    && pod.rank == rank
                    && (pod.phase == Phase::Succeeded
                        || (pod.gone.is_none() && pod.deletion.is_none() && !pod.phase.is_over()))
            })
        })
        .collect()
}

fn create_pod(w: &mut World, at: usize, rank: u32) {
    let Some(job) = w.jobs.get(at) else { return };
    let (load, name, uid, attempt) = (job.load, job.name.clone(), job.uid.clone(), job.attempt);
    let Some(key) = w.job_key(at) else { return };
    if let Some((reason, act)) = super::refusal::refused(w, load) {
        w.emit_event(
            &Source::Controller("job-controller"),
            key,
            "Warning",
            "FailedCreate",
            format!("Error creating: {reason}"),
            &crate::world::names(act),
        );
        if let Some(wait) = super::refusal::wait_again(w, load) {
            w.after(wait, move |w| {
                if let Some(load) = w.loads.get_mut(load) {
                    load.refusals.1 = false;
                }
                due(w, at, 5, 50);
            });
        }
        return;
    }
    let kind = w.loads.get(load).map(|load| load.plan.kind);
    let stem = format!("{name}-{rank}-");
    let pod_name = format!("{stem}{}", w.rng.suffix());
    let owner = Owner {
        api: "batch/v1".to_owned(),
        kind: "Job",
        name: name.clone(),
        uid: uid.clone(),
    };
    let mut pod = make::blank(w, load, pod_name.clone(), Some(owner));
    for (key, value) in [
        ("batch.kubernetes.io/controller-uid", uid.as_str()),
        ("batch.kubernetes.io/job-name", name.as_str()),
        ("controller-uid", uid.as_str()),
        ("job-name", name.as_str()),
    ] {
        pod.labels.push((key.to_owned(), value.to_owned()));
    }
    pod.labels.push((
        "batch.kubernetes.io/job-completion-index".to_owned(),
        rank.to_string(),
    ));
    pod.annotations.push((
        "batch.kubernetes.io/job-completion-index".to_owned(),
        rank.to_string(),
    ));
    if kind == Some(LoadKind::JobSet) {
        let set = w
            .loads
            .get(load)
            .map(|load| load.plan.name.clone())
            .unwrap_or_default();
        for (key, value) in [
            ("jobset.sigs.k8s.io/jobset-name", set),
            (
                "jobset.sigs.k8s.io/restart-attempt",
                (attempt - 1).to_string(),
            ),
            (
                "jobset.sigs.k8s.io/replicatedjob-name",
                "workers".to_owned(),
            ),
            ("jobset.sigs.k8s.io/job-index", "0".to_owned()),
        ] {
            pod.labels.push((key.to_owned(), value));
        }
    }
    let pod = Pod {
        stem: Some(stem),
        tracked: true,
        job: Some(at),
        rank,
        ..pod
    };
    w.new_pod(pod, Ask::new(client(), "create", ""));
    w.emit_event(
        &Source::Controller("job-controller"),
        key,
        "Normal",
        "SuccessfulCreate",
        format!("Created pod: {pod_name}"),
        &[],
    );
    w.soon(3, 20, super::schedule);
}

/// Counts pods that ended or are being deleted, and lets go of them.
fn count(w: &mut World, at: usize) -> u32 {
    let mut seen = 0;
    for pod in 0..w.pods.len() {
        let Some(body) = w.pods.get_mut(pod) else {
            continue;
        };
        if body.job != Some(at) || body.counted || body.gone.is_some() {
            continue;
        }
        if !body.phase.is_over() && body.deletion.is_none() {
            continue;
        }
        body.counted = true;
        body.tracked = false;
        seen += 1;
        let good = body.phase == Phase::Succeeded;
        // The policy does not count whom others ended.
        let ignored = w.plan.more.policy
            && body.load == 0
            && body
                .conditions
                .iter()
                .any(|one| one.kind == "DisruptionTarget");
        if ignored {
            let_go(w, pod);
            continue;
        }
        if let Some(job) = w.jobs.get_mut(at) {
            if good {
                job.succeeded += 1;
            } else {
                job.failed += 1;
            }
        }
        let_go(w, pod);
    }
    seen
}

pub(super) fn let_go(w: &mut World, pod: usize) {
    let ask = Ask::new(client(), "patch", "").body(json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["batch.kubernetes.io/job-tracking"]}}));
    w.put_pod(pod, ask);
    let over = w.pods.get(pod).is_some_and(|pod| {
        pod.deletion.is_some()
            && (pod.released || pod.node.is_none() || pod.deletion.is_some_and(|one| one.1 == 0))
    });
    if over {
        w.drop_pod(pod, Ask::new(client(), "patch", ""));
    }
}

/// The earliest death of a Job's pods.
fn first_death(w: &World, at: usize) -> Option<ActId> {
    w.deaths
        .iter()
        .filter(|death| w.pods.get(death.pod).is_some_and(|pod| pod.job == Some(at)))
        .min_by_key(|death| (death.time, death.pod))
        .map(|death| death.act)
}

/// The Job has failed: what is left of it is deleted.
pub(super) fn give_up(
    w: &mut World,
    at: usize,
    reason: &'static str,
    message: &str,
    why: Option<ActId>,
) {
    let now = w.now;
    let first = why.or_else(|| first_death(w, at));
    let load = w.jobs.get(at).map_or(0, |job| job.load);
    let teardown = match why {
        Some(act) => act,
        None => w.act(
            "the Job controller deletes what is left of the gang",
            &[],
            first,
        ),
    };
    if let Some(job) = w.jobs.get_mut(at) {
        job.closing = true;
        job.conditions
            .push(("FailureTarget", reason, message.to_owned(), now));
    }
    let tags = first.map(claims).unwrap_or_default();
    w.put_job(
        at,
        Change::Modified,
        Ask::new(client(), "update", "status").with_tags(&tags),
    );
    let left: Vec<usize> = (0..w.pods.len())
        .filter(|&pod| {
            w.pods.get(pod).is_some_and(|pod| {
                pod.job == Some(at)
                    && pod.gone.is_none()
                    && pod.deletion.is_none()
                    && !pod.phase.is_over()
            })
        })
        .collect();
    let tie = if why.is_some() {
        Relation::Victim
    } else {
        Relation::Collateral
    };
    for pod in left {
        let Some(key) = w.job_key(at) else { return };
        let name = w
            .pods
            .get(pod)
            .map(|pod| pod.name.clone())
            .unwrap_or_default();
        w.die(pod, teardown, tie, true);
        make::request_deletion(w, pod, client(), None, &tags);
        w.emit_event(
            &Source::Controller("job-controller"),
            key,
            "Normal",
            "SuccessfulDelete",
            format!("Deleted pod: {name}"),
            &tags,
        );
    }
    train::over(w, load);
    due(w, at, 40, 200);
}

fn close(w: &mut World, at: usize) {
    let now = w.now;
    let open = w
        .pods
        .iter()
        .any(|pod| pod.job == Some(at) && pod.gone.is_none() && !pod.phase.is_over());
    let first = first_death(w, at);
    let tags = first.map(claims).unwrap_or_default();
    if open {
        w.put_job(
            at,
            Change::Modified,
            Ask::new(client(), "update", "status").with_tags(&tags),
        );
        return;
    }
    let Some(key) = w.job_key(at) else { return };
    let Some(job) = w.jobs.get_mut(at) else {
        return;
    };
    let Some((_, reason, message, _)) = job.conditions.first().cloned() else {
        return;
    };
    job.conditions
        .push(("Failed", reason, message.clone(), now));
    let load = job.load;
    w.put_job(
        at,
        Change::Modified,
        Ask::new(client(), "update", "status").with_tags(&tags),
    );
    w.emit_event(
        &Source::Controller("job-controller"),
        key,
        "Warning",
        reason,
        message,
        &tags,
    );
    finish(w, at, load, State::Failed);
}

fn complete(w: &mut World, at: usize) {
    let now = w.now;
    let Some(key) = w.job_key(at) else { return };
    let Some(job) = w.jobs.get_mut(at) else {
        return;
    };
    let load = job.load;
    for kind in ["SuccessCriteriaMet", "Complete"] {
        job.conditions.push((
            kind,
            "CompletionsReached",
            "Reached expected number of succeeded pods".to_owned(),
            now,
        ));
    }
    job.completed = Some(now);
    let tags = w
        .loads
        .get(load)
        .and_then(|load| load.done)
        .map(crate::world::names)
        .unwrap_or_default();
    w.put_job(
        at,
        Change::Modified,
        Ask::new(client(), "update", "status").with_tags(&tags),
    );
    w.emit_event(
        &Source::Controller("job-controller"),
        key,
        "Normal",
        "Completed",
        "Job completed",
        &tags,
    );
    finish(w, at, load, State::Completed);
}

fn finish(w: &mut World, at: usize, load: usize, state: State) {
    let kind = w.loads.get(load).map(|load| load.plan.kind);
    if kind == Some(LoadKind::JobSet) {
        w.soon(20, 300, move |w| jobset::child_ended(w, load, at, state));
        return;
    }
    let now = w.now;
    if let Some(load) = w.loads.get_mut(load)
        && load.ended.is_none()
    {
        load.ended = Some(now);
        load.state = state;
    }
    if let Some(secs) = w.plan.more.ttl_s.filter(|_| load == 0) {
        w.after(secs * SEC, move |w| super::job_end::expire(w, at));
    }
}
