//! Runs that go on, more slowly than before; and what only looks so.

use super::{OPERATOR, node_of, victim};
use crate::control::{Exit, drain, exit};
use crate::plan::Fault;
use crate::time::SEC;
use crate::train::{info, say};
use crate::world::{
    ActId, Client, Involved, Measured, Quantity, Relation, Source, Unit, World, claims, names,
};

/// How a workload whose pace matters goes on from its start.
pub(super) fn prepare(w: &mut World, load: usize) {
    let megatron = w.rng.chance(30);
    if let Some(load) = w.loads.get_mut(load) {
        load.pace.megatron = megatron;
        load.pace.steady = true;
    }
}

/// Makes a workload slower.
pub(super) fn strike(w: &mut World, fault: Fault, load: usize) {
    match fault {
        Fault::SlowMachine => slow_machine(w, load),
        Fault::SlowLoader => slow_loader(w, load),
        Fault::CpuStarved => starved(w, load),
        Fault::LongPause => long_pause(w, load),
        Fault::ThrottledAsUsual => as_usual(w, load),
        _ => {
            let act = w.act("the steps take longer", &["slow.steps"], None);
            let percent = w.rng.range(190, 400);
            slow_down(w, load, percent, act);
        }
    }
}

/// From now on a step takes this many hundredths of the time that it took before.
pub(super) fn slow_down(w: &mut World, load: usize, percent: i64, act: ActId) {
    let now = w.now;
    let trained = w
        .loads
        .get(load)
        .is_some_and(|load| load.training.is_some());
    let Some(body) = w.loads.get_mut(load).filter(|_| trained) else {
        return;
    };
    body.pace.slow = Some((percent, now, act));
    body.blocked = Some(act);
}

/// What is wrong with the machine: in words, ids, and what tells of it.
const MACHINES: &[(&str, &[&str], &[&str])] = &[
    (
        "a processor is too hot and is throttled",
        &["slow.machine", "hw.thermal"],
        &[
            "mce: CPU14: Package temperature above threshold, cpu clock throttled (total events = 412)",
        ],
    ),
    (
        "one of two links of a bond is lost",
        &["slow.machine", "hw.nic"],
        &[
            "mlx5_core 0000:5c:00.0 ens1f0np0: Link down",
            "bond0: (slave ens1f0np0): link status definitely down, disabling slave",
        ],
    ),
    (
        "memory of the host corrects errors all the time",
        &["slow.machine", "hw.memory"],
        &[
            "mce: CMCI storm detected: switching to poll mode",
            "EDAC MC0: 25110 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x5a2b1c offset:0x0 grain:32 syndrome:0x0)",
        ],
    ),
    (
        "a GPU is slowed down for heat",
        &["slow.machine", "hw.thermal"],
        &[],
    ),
    (
        "a GPU is held back by the power brake",
        &["slow.machine", "hw.power"],
        &[],
    ),
];

/// One machine of the gang is slow, and all wait for it in each step.
fn slow_machine(w: &mut World, load: usize) {
    let Some(node) = node_of(w, load) else { return };
    let which = w.rng.below(MACHINES.len());
    let Some(&(what, causes, lines)) = MACHINES.get(which) else {
        return;
    };
    let act = w.act(what, causes, None);
    for text in lines {
        w.host_line(node, Unit::Kernel, *text, &names(act));
    }
    let quantity = match which {
        3 => Some(Quantity::Heat),
        4 => Some(Quantity::Power),
        _ => None,
    };
    if let Some(what) = quantity {
        let from = w.now;
        w.measured.push(Measured {
            what,
            node,
            pod: None,
            from,
            percent: 80,
            act: Some(act),
        });
    }
    if which == 4 {
        w.host_line(
            node,
            Unit::Bmc,
            "Power Supply #0x52 | Power Supply AC lost | Asserted",
            &names(act),
        );
        w.host_line(
            node,
            Unit::Bmc,
            "Power Unit #0x0c | Redundancy Lost | Asserted",
            &claims(act),
        );
    }
    if which == 0 {
        for turn in 1..6i64 {
            w.after(turn * 300 * SEC, move |w| {
                let text = format!("mce: CPU14: Package temperature above threshold, cpu clock throttled (total events = {})", 412 + turn * 97);
                w.host_line(node, Unit::Kernel, text, &claims(act));
            });
        }
    }
    let step = w.act(
        "each step waits for the slow machine",
        &["slow.steps", "slow.machine"],
        Some(act),
    );
    let percent = w.rng.range(190, 350);
    slow_down(w, load, percent, step);
    if w.rng.chance(35) {
        let lag = w.rng.secs(900, 1800);
        w.after(lag, move |w| taken_out(w, node, load, causes));
    }
}

/// Somebody has seen it and takes the machine out: that is what ends the run.
fn taken_out(w: &mut World, node: usize, load: usize, causes: &'static [&'static str]) {
    let runs = w
        .pods
        .iter()
        .any(|pod| pod.load == load && pod.node == Some(node) && pod.alive && pod.gone.is_none());
    if !runs {
        return;
    }
    if let Some(body) = w.loads.get_mut(load) {
        body.pace.slow = None;
        body.blocked = None;
        body.pace.past.extend(causes);
        body.pace.past.push("slow.steps");
    }
    let act = w.deed(
        "the slow machine is drained",
        &["ops.node_drained"],
        &[OPERATOR],
        None,
    );
    drain(w, node, &Client::person(OPERATOR), act);
}

/// The file server answers late, and the loader keeps the GPUs waiting.
fn slow_loader(w: &mut World, load: usize) {
    let act = w.act(
        "the file server answers late",
        &["dep.storage", "slow.steps"],
        None,
    );
    let is_logged = w.rng.chance(60);
    for at in 0..w.nodes.len() {
        for turn in 0..4i64 {
            let lag = w.rng.millis(0, 4000) + turn * 400 * SEC;
            w.after(lag, move |w| {
                if is_logged {
                    w.host_line(
                        at,
                        Unit::Kernel,
                        "nfs: server 10.9.0.4 not responding, still trying",
                        &names(act),
                    );
                }
            });
            let back = w.rng.secs(20, 90);
            w.after(lag + back, move |w| {
                if is_logged {
                    w.host_line(at, Unit::Kernel, "nfs: server 10.9.0.4 OK", &claims(act));
                }
            });
        }
    }
    let step = w.act("the steps wait for data", &["slow.steps"], Some(act));
    let percent = w.rng.range(200, 400);
    slow_down(w, load, percent, step);
}

/// A container gets a fraction of the CPU that it needs: it is slow, or its probe comes too late.
fn starved(w: &mut World, load: usize) {
    let Some(pod) = victim(w, load) else { return };
    let Some(node) = w.pods.get(pod).and_then(|pod| pod.node) else {
        return;
    };
    let serves = w.loads.get(load).is_some_and(|load| !load.plan.gang);
    let act = w.act(
        "a container gets too little CPU",
        &["node.cpu_starvation", "slow.machine"],
        None,
    );
    let of_node = w.rng.chance(30);
    let percent = w.rng.range(75, 97);
    let from = w.now;
    w.measured.push(Measured {
        what: if of_node {
            Quantity::Waiting
        } else {
            Quantity::Throttled
        },
        node,
        pod: (!of_node).then_some(pod),
        from,
        percent,
        act: Some(act),
    });
    if !serves {
        let step = w.act(
            "each step waits for the slow container",
            &["slow.steps", "slow.machine"],
            Some(act),
        );
        let percent = w.rng.range(200, 350);
        slow_down(w, load, percent, step);
        return;
    }
    if let Some(load) = w.loads.get_mut(load) {
        load.probed = true;
    }
    let lag = w.rng.secs(400, 800);
    w.after(lag, move |w| late(w, pod, node, act));
}

/// Its liveness probe comes too late, three times.
fn late(w: &mut World, pod: usize, node: usize, act: ActId) {
    let Some(body) = w.pods.get(pod).filter(|pod| pod.alive && !pod.stopping) else {
        return;
    };
    let key = Involved::container(body.key());
    let step = w.deed(
        "its liveness probe comes too late",
        &["code.liveness_probe"],
        &["kubelet"],
        Some(act),
    );
    for probe in 0..3i64 {
        let key = key.clone();
        w.after(probe * 10 * SEC, move |w| {
            let text = "Liveness probe failed: Get \"http://10.64.3.17:8080/healthz\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
            w.emit_event(&Source::Kubelet(node), key.clone(), "Warning", "Unhealthy", text, &names(step));
            if probe < 2 {
                return;
            }
            let text = "Container trainer failed liveness probe, will be restarted";
            w.emit_event(&Source::Kubelet(node), key, "Normal", "Killing", text, &names(step));
            w.after(30 * SEC, move |w| {
                if w.pods.get(pod).is_some_and(|pod| pod.alive) {
                    exit(w, pod, &Exit::code(137, step, Relation::Victim));
                    let lag = w.rng.secs(200, 400);
                    w.after(lag, move |w| late(w, pod, node, act));
                }
            });
        });
    }
}

/// It evaluates, or saves a large checkpoint, and goes on as before.
fn long_pause(w: &mut World, load: usize) {
    let Some(pod) = victim(w, load) else { return };
    let lasts = w.rng.secs(90, 420);
    let text = w.rng.word(&[
        "evaluating on 512 batches",
        "saving checkpoint, all optimizer states",
    ]);
    let line = info(w.now, text);
    say(w, pod, false, line, &[]);
    let until = w.now.plus(lasts);
    if let Some(load) = w.loads.get_mut(load) {
        load.pace.until = Some(until);
    }
    w.after(lasts - SEC, move |w| {
        if w.pods.get(pod).is_some_and(|pod| pod.alive) {
            let line = info(w.now, "done, training goes on");
            say(w, pod, false, line, &[]);
        }
    });
}

/// A container that is held back at its limit all its life, and does its work.
fn as_usual(w: &mut World, load: usize) {
    let Some(pod) = victim(w, load) else { return };
    let Some(body) = w.pods.get(pod) else { return };
    let (Some(node), from) = (body.node, body.created) else {
        return;
    };
    let percent = w.rng.range(35, 80);
    w.measured.push(Measured {
        what: Quantity::Throttled,
        node,
        pod: Some(pod),
        from,
        percent,
        act: None,
    });
}
