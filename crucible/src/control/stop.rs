//! The kubelet stops pods, and looks at what it finds when it is back.

use serde_json::json;

use super::kubelet::{Exit, begin, client, exit, hears, report, restarts_in_place};
use super::{make, schedule};
use crate::time::SEC;
use crate::train;
use crate::world::{Ask, Ended, Involved, Phase, Relation, Running, Source, Unit, World, claims};

/// A pod whose deletion was asked for is stopped.
pub fn stop(w: &mut World, pod: usize) {
    let Some(node) = hears(w, pod) else { return };
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    if body.gone.is_some() || body.stopping {
        return;
    }
    body.stopping = true;
    if body.phase.is_over() {
        w.soon(20, 300, move |w| release(w, pod));
        return;
    }
    let (key, load, alive) = (body.key(), body.load, body.alive);
    let death = body.death;
    let grace = body.deletion.map_or(30, |one| one.1);
    let tags = death.map(claims).unwrap_or_default();
    if !alive {
        if let Some(body) = w.pods.get_mut(pod) {
            body.phase = Phase::Failed;
        }
        w.soon(300, 2000, move |w| release(w, pod));
        return;
    }
    w.emit_event(
        &Source::Kubelet(node),
        Involved::container(key.clone()),
        "Normal",
        "Killing",
        "Stopping container trainer",
        &tags,
    );
    if w.nodes
        .get(node)
        .is_some_and(|node| node.broken_runtime.is_some())
    {
        not_stopped(w, pod, node);
        return;
    }
    w.host_line(node, Unit::Kubelet, format!("I{} kuberuntime_container.go:864] \"Killing container with a grace period\" containerName=\"trainer\" gracePeriod={grace}", train::klog(w.now)), &tags);
    let obeys = w.loads.get(load).is_some_and(|load| load.plan.obeys);
    let lag = if obeys {
        w.rng.millis(300, 6000).min(grace * SEC)
    } else {
        grace * SEC
    };
    if obeys {
        train::say(w, pod, true, "received SIGTERM, stopping", &tags);
    }
    w.after(lag, move |w| {
        if w.pods.get(pod).is_none_or(|pod| !pod.alive) {
            return;
        }
        let code = if obeys { 143 } else { 137 };
        exit(
            w,
            pod,
            &Exit {
                code,
                reason: "Error",
                message: String::new(),
                act: death,
                tie: Relation::Collateral,
                tags,
            },
        );
    });
}

/// Without a runtime nobody stops a container: it runs on, and its pod stays.
fn not_stopped(w: &mut World, pod: usize, node: usize) {
    let Some(key) = w.pods.get(pod).map(crate::world::Pod::key) else {
        return;
    };
    w.soon(100, 2500, move |w| {
        w.emit_event(
            &Source::Kubelet(node),
            key,
            "Warning",
            "FailedKillPod",
            "error killing pod: [failed to \"KillContainer\" for \"trainer\" with KillContainerError: \"rpc error: code = Unavailable desc = connection error: desc = \\\"transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused\\\"\"]",
            &[],
        );
    });
}

/// The kubelet has nothing more to do for a pod that is deleted.
pub(super) fn release(w: &mut World, pod: usize) {
    let Some(node) = hears(w, pod) else { return };
    let by = client(w, node);
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    if body.gone.is_some() {
        return;
    }
    body.released = true;
    let tracked = body.tracked;
    if tracked {
        make::settle(w, pod);
        w.soon(1500, 2500, move |w| release(w, pod));
        return;
    }
    w.drop_pod(
        pod,
        Ask::new(by, "delete", "")
            .body(json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})),
    );
    make::settle(w, pod);
    w.soon(20, 500, schedule);
}

/// The kubelet of a machine that came back looks at what it finds.
pub fn kubelet_restarts(w: &mut World, node: usize) {
    let pods: Vec<usize> = (0..w.pods.len())
        .filter(|&at| {
            w.pods
                .get(at)
                .is_some_and(|pod| pod.node == Some(node) && pod.gone.is_none())
        })
        .collect();
    for pod in pods {
        let Some(body) = w.pods.get(pod) else {
            continue;
        };
        if body.alive && body.deletion.is_none() {
            // It ran on unheard: its status is posted anew.
            let by = client(w, node);
            let now = w.now;
            let load = body.load;
            if w.loads.get(load).is_some_and(|load| !load.unready)
                && let Some(body) = w.pods.get_mut(pod)
            {
                body.container.ready = true;
                for kind in ["Ready", "ContainersReady"] {
                    body.condition(kind, "True", "", "", now);
                }
            }
            w.put_pod(pod, Ask::new(by, "patch", "status"));
            continue;
        }
        if body.phase.is_over() {
            continue;
        }
        if body.alive {
            // Its deletion was asked for while nobody heard the kubelet.
            stop(w, pod);
            continue;
        }
        if body.deletion.is_some() {
            if let Some(body) = w.pods.get_mut(pod) {
                body.stopping = true;
                body.phase = Phase::Failed;
                if let Some(end) = body.unreported.take() {
                    body.container.state = Running::Ended(end);
                }
            }
            let by = client(w, node);
            w.put_pod(pod, Ask::new(by, "patch", "status"));
            w.soon(300, 2000, move |w| release(w, pod));
            continue;
        }
        let Running::Since(started) = body.container.state else {
            w.soon(300, 2000, move |w| begin(w, pod));
            continue;
        };
        let tags = body.death.map(claims).unwrap_or_default();
        let lost = Ended {
            code: 255,
            reason: "Unknown".to_owned(),
            message: String::new(),
            started: Some(started),
            finished: w.now,
        };
        let end = w
            .pods
            .get_mut(pod)
            .and_then(|pod| pod.unreported.take())
            .unwrap_or(lost);
        let restarts = restarts_in_place(w, pod, end.code);
        w.soon(500, 3000, move |w| report(w, pod, end, restarts, &tags));
    }
}
