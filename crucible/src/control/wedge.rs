//! Containers that cannot start, and how that is told again and again.

use super::kubelet::{begin, client, hears};
use crate::time::{MIN, SEC};
use crate::world::{Ask, Involved, Running, Source, Stage, StartFailure, World};

/// What stands in the way of a pod on its node.
pub(super) fn start_failure(w: &World, pod: usize) -> Option<StartFailure> {
    let body = w.pods.get(pod)?;
    let node = body.node?;
    if let Some(act) = w.nodes.get(node)?.broken_runtime {
        return Some(StartFailure {
            at: Stage::Sandbox,
            message: "rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused\"".to_owned(),
            act,
            node: Some(node),
        });
    }
    let failure = w.loads.get(body.load)?.start_failure.clone()?;
    (failure.node.is_none() || failure.node == Some(node)).then_some(failure)
}

/// A container that cannot start: says so again and again.
pub(super) fn stuck(w: &mut World, pod: usize, hindrance: &StartFailure, times: u32) {
    let Some(node) = hears(w, pod) else { return };
    let Some(body) = w.pods.get(pod) else { return };
    if body.gone.is_some() || body.stopping || body.phase.is_over() {
        return;
    }
    let (key, load) = (body.key(), body.load);
    let image = w.image(load);
    let act = hindrance.act;
    if let Some(load) = w.loads.get_mut(load) {
        load.blocked.get_or_insert(act);
    }
    let tags = crate::world::names(hindrance.act);
    let kubelet = Source::Kubelet(node);
    let message = hindrance.message.clone();
    let mut state = None;
    match hindrance.at {
        Stage::Mount => {
            w.emit_event(&kubelet, key, "Warning", "FailedMount", message, &tags);
        }
        Stage::Attach => {
            w.emit_event(
                &Source::Controller("attachdetach-controller"),
                key,
                "Warning",
                "FailedAttachVolume",
                message,
                &tags,
            );
        }
        Stage::Sandbox => {
            w.emit_event(
                &kubelet,
                key,
                "Warning",
                "FailedCreatePodSandBox",
                format!("Failed to create pod sandbox: {message}"),
                &tags,
            );
        }
        Stage::Image => {
            let about = Involved::container(key);
            w.emit_event(
                &kubelet,
                about.clone(),
                "Normal",
                "Pulling",
                format!("Pulling image \"{image}\""),
                &[],
            );
            w.emit_event(
                &kubelet,
                about.clone(),
                "Warning",
                "Failed",
                format!("Failed to pull image \"{image}\": {message}"),
                &tags,
            );
            w.emit_event(
                &kubelet,
                about.clone(),
                "Warning",
                "Failed",
                "Error: ErrImagePull",
                &tags,
            );
            state = Some(("ErrImagePull".to_owned(), message));
            if times > 0 {
                w.emit_event(
                    &kubelet,
                    about.clone(),
                    "Normal",
                    "BackOff",
                    format!("Back-off pulling image \"{image}\""),
                    &tags,
                );
                w.emit_event(
                    &kubelet,
                    about,
                    "Warning",
                    "Failed",
                    "Error: ImagePullBackOff",
                    &tags,
                );
                state = Some((
                    "ImagePullBackOff".to_owned(),
                    format!(
                        "Back-off pulling image \"{image}\": ErrImagePull: {}",
                        hindrance.message
                    ),
                ));
            }
        }
        Stage::Config => {
            let about = Involved::container(key);
            w.emit_event(
                &kubelet,
                about,
                "Warning",
                "Failed",
                format!("Error: {message}"),
                &tags,
            );
            state = Some(("CreateContainerConfigError".to_owned(), message));
        }
        Stage::Command(_) => {}
    }
    if let Some((reason, message)) = state
        && let Some(body) = w.pods.get_mut(pod)
    {
        let new = Running::Waiting(reason, message);
        if body.container.state != new {
            body.container.state = new;
            let by = client(w, node);
            w.put_pod(pod, Ask::new(by, "patch", "status").with_tags(&tags));
        }
    }
    let wait = (15 * SEC).saturating_mul(1 << times.min(5)).min(5 * MIN);
    let jitter = w.rng.secs(0, 4);
    w.after(wait + jitter, move |w| match start_failure(w, pod) {
        Some(hindrance) => stuck(w, pod, &hindrance, times + 1),
        None => begin(w, pod),
    });
}
