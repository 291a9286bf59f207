//! Who runs a cluster and is not there: its scheduler, its controllers, and what offers the GPUs of its nodes. Nobody writes that
//! they are gone; what they would have done is not done.

use std::rc::Rc;

use crate::control::{Exit, exit};
use crate::plan::{Fault, Load};
use crate::time::SEC;
use crate::world::{Ask, Client, PodFault, Relation, World, names};

/// Takes one of them away before a workload is made.
pub(super) fn prepare(w: &mut World, fault: Fault, load: usize) {
    match fault {
        Fault::SchedulerDown => {
            let act = w.act("the scheduler is down", &["dep.control_plane"], None);
            w.down.scheduler = Some(act);
        }
        Fault::ControllersDown => {
            let act = w.act(
                "the controller manager is down",
                &["dep.control_plane"],
                None,
            );
            w.down.controllers = Some(act);
        }
        _ => return device_plugin(w, load),
    }
    // It is gone for all that is made from now on.
    for load in 0..w.loads.len() {
        if let Some(load) = w.loads.get_mut(load) {
            load.blocked = w.down.of(load.plan.kind).or(load.blocked);
        }
    }
}

/// The device plugin ends at its start on every node: kubelets know of no healthy device any more. One that has been gone for five
/// minutes is forgotten, and with it how many devices there were; one that comes back in between is not.
fn device_plugin(w: &mut World, load: usize) {
    let act = w.act("the device plugin does not start", &["node.driver"], None);
    let lack = w.act(
        "no node offers a GPU",
        &["node.driver", "sched.unschedulable_capacity"],
        Some(act),
    );
    if let Some(load) = w.loads.get_mut(load) {
        load.blocked = Some(lack);
    }
    let is_forgotten = w.rng.chance(40);
    for node in 0..w.nodes.len() {
        let Some(body) = w.nodes.get_mut(node).filter(|node| node.gpus.0 > 0) else {
            continue;
        };
        let has = body.gpus.0;
        body.gpus = if is_forgotten { (0, 0) } else { (has, 0) };
        body.labels
            .push(("nvidia.com/gpu.count".to_owned(), has.to_string()));
        let name = body.name.clone();
        let ask = Ask::new(Client::kubelet(&name), "patch", "status").with_tags(&names(act));
        w.put_node(node, ask);
    }
    let size = u32::try_from(w.nodes.len()).unwrap_or(4);
    let plugin = crate::case::add_load(
        w,
        Load::service(
            "gpu-operator",
            "nvidia-device-plugin-daemonset".to_owned(),
            size,
            0,
        ),
    );
    if let Some(body) = w.loads.get_mut(plugin) {
        body.curse = Some(PodFault(Rc::new(move |w: &mut World, pod| {
            w.after(SEC, move |w| {
                if w.pods
                    .get(pod)
                    .is_some_and(|pod| pod.alive && !pod.stopping)
                {
                    exit(w, pod, &Exit::code(1, act, Relation::Victim));
                }
            });
        })));
    }
    w.after(0, move |w| crate::control::make(w, plugin));
}
