//! A gang of which some members are let in and the others are refused: the ones that are there wait for the rest.

use std::rc::Rc;

use crate::control::{Exit, exit};
use crate::time::SEC;
use crate::train::say_all;
use crate::world::{ActId, PodFault, Relation, World, names};

/// Refuses some of a workload's pods before it is made.
pub(super) fn prepare(w: &mut World, load: usize) {
    let Some(plan) = w.loads.get(load).map(|load| load.plan.clone()) else {
        return;
    };
    let size = usize::try_from(plan.size).unwrap_or(2);
    let let_in = w.rng.below(size.saturating_sub(1)) + 1;
    let stem = format!("{}-", plan.name);
    let (gpus, held) = (u64::from(plan.gpus), u64::try_from(let_in).unwrap_or(1));
    let used = held * gpus;
    let (causes, text): (&[&'static str], String) = match w.rng.below(4) {
        0 => (
            &["sched.quota"],
            format!(
                "pods \"{stem}\" is forbidden: exceeded quota: team-quota, requested: requests.nvidia.com/gpu={gpus}, used: requests.nvidia.com/gpu={used}, limited: requests.nvidia.com/gpu={}",
                used + gpus / 2
            ),
        ),
        1 => (
            &["sched.quota"],
            format!(
                "pods \"{stem}\" is forbidden: exceeded quota: team-quota, requested: pods=1, used: pods={held}, limited: pods={held}"
            ),
        ),
        2 => (
            &["dep.control_plane", "dep.service"],
            "Internal error occurred: failed calling webhook \"mpod.kb.io\": failed to call webhook: Post \"https://webhook.platform.svc:443/mutate--v1-pod?timeout=10s\": context deadline exceeded".to_owned(),
        ),
        _ => (
            &["code.config_or_input", "dep.control_plane", "ops.config_change", "dep.secret_or_config"],
            format!(
                "pods \"{stem}\" is forbidden: violates PodSecurity \"baseline:latest\": hostPath volumes (volume \"cache\"), hostPort (container \"trainer\" uses hostPort 29500)"
            ),
        ),
    };
    // The rules of a namespace are the same for every pod: none is let in.
    let let_in = if text.contains("PodSecurity") {
        0
    } else {
        let_in
    };
    let act = w.act(format!("refuses: {text}"), causes, None);
    let Some(body) = w.loads.get_mut(load) else {
        return;
    };
    body.blocked = Some(act);
    body.let_in = Some(let_in);
    if let_in > 0 && w.rng.chance(60) {
        waits(w, load, (let_in, size), act);
    }
}

/// Whoever is there gives up after a quarter of an hour.
fn waits(w: &mut World, load: usize, (here, size): (usize, usize), act: ActId) {
    let step = w.act(
        "the members that are there wait for the others",
        &["hang.rendezvous"],
        Some(act),
    );
    let Some(body) = w.loads.get_mut(load) else {
        return;
    };
    body.curse = Some(PodFault(Rc::new(move |w: &mut World, pod| {
        let rank = w.pods.get(pod).map_or(0, |pod| pod.rank);
        let lag = 901 * SEC + w.rng.millis(10, 3000);
        w.after(lag, move |w| {
            if w.pods.get(pod).is_none_or(|pod| !pod.alive || pod.stopping) {
                return;
            }
            say_all(
                w,
                pod,
                &format!("[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File \"/workspace/train.py\", line 52, in main\n[rank{rank}]:     dist.init_process_group(\"nccl\")\n[rank{rank}]: torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. {here}/{size} clients joined."),
                &names(step),
            );
            exit(w, pod, &Exit::code(1, step, Relation::Victim));
        });
    })));
}
