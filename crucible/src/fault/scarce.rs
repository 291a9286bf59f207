//! What is scarce and runs out: threads, process ids, memory that leaks, the power of a rack, and quota for some of a gang.

use super::{node_of, process, victim};
use crate::control::{Exit, exit, machine_dies};
use crate::plan::Fault;
use crate::time::{MIN, SEC};
use crate::train::{info, say, say_all};
use crate::world::{
    ActId, Ask, Client, PodFault, Relation, Source, Taint, Unit, World, claims, names,
};

/// Lets it run out.
pub(super) fn strike(w: &mut World, fault: Fault, load: usize) {
    match fault {
        Fault::Threads => threads(w, load),
        Fault::PidPressure => pid_pressure(w, load),
        Fault::RackPower => rack_power(w, load),
        _ => leak(w, load),
    }
}

/// The container may make no more threads: the kernel says so once, and the program in the words of its library.
fn threads(w: &mut World, load: usize) {
    let Some(pod) = victim(w, load) else { return };
    let Some((node, uid, id)) = w.pods.get(pod).and_then(|pod| {
        Some((
            pod.node?,
            pod.uid.replace('-', "_"),
            pod.container.id.clone(),
        ))
    }) else {
        return;
    };
    let act = w.act(
        "the container may make no more threads",
        // Where nobody catches it, the program ends by a signal of its own.
        &["code.exception", "code.config_or_input", "code.segfault"],
        None,
    );
    w.host_line(node, Unit::Kernel, format!("cgroup: fork rejected by pids controller in /kubepods.slice/kubepods-pod{uid}.slice/cri-containerd-{id}.scope"), &names(act));
    let text = w.rng.word(&[
        "OpenBLAS blas_thread_init: pthread_create failed for thread 12 of 64: Resource temporarily unavailable\nOpenBLAS blas_thread_init: ensure that your address space and process count limits are big enough (ulimit -a)\nOpenBLAS blas_thread_init: or set a smaller OPENBLAS_NUM_THREADS to fit into what you have available",
        "libgomp: Thread creation failed: Resource temporarily unavailable",
        "Traceback (most recent call last):\n  File \"/workspace/data.py\", line 88, in workers\n    pool = ThreadPoolExecutor(256)\n  File \"/usr/lib/python3.12/threading.py\", line 994, in start\n    _start_new_thread(self._bootstrap, ())\nRuntimeError: can't start new thread",
        "terminate called after throwing an instance of 'std::system_error'\n  what():  Resource temporarily unavailable",
    ]);
    let code = if text.starts_with("terminate") {
        134
    } else {
        1
    };
    say_all(w, pod, text, &names(act));
    exit(w, pod, &Exit::code(code, act, Relation::Victim));
}

/// The node has no process ids left, and its kubelet evicts.
fn pid_pressure(w: &mut World, load: usize) {
    let Some(node) = node_of(w, load) else { return };
    let Some(pod) = (0..w.pods.len()).find(|&at| {
        let body = w.pods.get(at);
        body.is_some_and(|pod| pod.node == Some(node) && pod.load == load && pod.alive)
    }) else {
        return;
    };
    let act = w.deed(
        "the node runs out of process ids",
        &["sched.node_pressure"],
        &["kubelet"],
        None,
    );
    let (Some(about), Some(key)) = (
        w.nodes.get(node).map(crate::world::Node::key),
        w.pods.get(pod).map(crate::world::Pod::key),
    ) else {
        return;
    };
    let tags = names(act);
    let kubelet = Source::Kubelet(node);
    w.emit_event(
        &kubelet,
        about.clone(),
        "Warning",
        "EvictionThresholdMet",
        "Attempting to reclaim pids",
        &tags,
    );
    w.set_condition(
        node,
        "PIDPressure",
        "True",
        "KubeletHasInsufficientPID",
        "kubelet has insufficient PID available",
    );
    let name = w.node_name(node);
    w.put_node(
        node,
        Ask::new(Client::kubelet(&name), "patch", "status").with_tags(&tags),
    );
    let text = format!("Node {name} status is now: NodeHasInsufficientPID");
    w.emit_event(
        &kubelet,
        about,
        "Normal",
        "NodeHasInsufficientPID",
        text,
        &tags,
    );
    if let Some(body) = w.nodes.get_mut(node) {
        body.taints.push(Taint {
            key: "node.kubernetes.io/pid-pressure".to_owned(),
            value: None,
            effect: "NoSchedule",
            added: None,
            by: None,
        });
    }
    let by = Client::controller("node-controller");
    w.put_node(node, Ask::new(by, "patch", "").with_tags(&claims(act)));
    let message = "The node was low on resource: pids. Threshold quantity: 1200, available: 500. ";
    process::evicted_by_kubelet(w, pod, node, &key, act, message);
    w.after(330 * SEC, move |w| {
        if w.nodes.get(node).is_none_or(|node| !node.heard) {
            return;
        }
        w.set_condition(
            node,
            "PIDPressure",
            "False",
            "KubeletHasSufficientPID",
            "kubelet has sufficient PID available",
        );
        if let Some(body) = w.nodes.get_mut(node) {
            body.taints
                .retain(|one| one.key != "node.kubernetes.io/pid-pressure");
        }
        let name = w.node_name(node);
        w.put_node(node, Ask::new(Client::kubelet(&name), "patch", "status"));
        crate::control::schedule(w);
    });
}

/// The power of a rack fails: two machines go down in one moment, and their own controllers say why.
fn rack_power(w: &mut World, load: usize) {
    let Some(node) = node_of(w, load) else { return };
    let act = w.act("the power of a rack failed", &["hw.power"], None);
    let mut down = vec![node];
    let up = |w: &World, at: &usize| {
        *at != node
            && w.nodes
                .get(*at)
                .is_some_and(|node| node.up && node.gone.is_none())
    };
    let others: Vec<usize> = (0..w.nodes.len()).filter(|at| up(w, at)).collect();
    down.extend(w.rng.pick(&others));
    for at in down {
        for text in [
            "Power Supply #0x51 | Power Supply AC lost | Asserted",
            "Power Supply #0x52 | Power Supply AC lost | Asserted",
            "Power Unit #0x0c | AC lost | Asserted",
        ] {
            w.host_line(at, Unit::Bmc, text, &names(act));
        }
        w.soon(20, 900, move |w| {
            machine_dies(w, at, act);
        });
    }
}

/// Memory leaks as fast each time: the container reaches its limit as long after each start as after the last.
fn leak(w: &mut World, load: usize) {
    let Some(pod) = victim(w, load) else { return };
    let act = w.act(
        "memory leaks up to the container's limit",
        &["code.host_oom"],
        None,
    );
    let period = w.rng.secs(150, 500);
    filled(w, pod, act, 0);
    if let Some(load) = w.loads.get_mut(load) {
        load.curse = Some(PodFault(std::rc::Rc::new(move |w: &mut World, pod| {
            let lag = period + w.rng.secs(-12, 12);
            let round = w.pods.get(pod).map_or(0, |pod| pod.container.restarts);
            w.after(lag - MIN, move |w| {
                let line = info(w.now, "rss=187.2GiB cache=41022 shards");
                if w.pods.get(pod).is_some_and(|pod| pod.alive) {
                    say(w, pod, false, line, &[]);
                }
            });
            w.after(lag, move |w| filled(w, pod, act, round));
        })));
    }
}

fn filled(w: &mut World, pod: usize, act: ActId, round: u32) {
    let same = w.pods.get(pod).is_some_and(|pod| {
        pod.alive && !pod.stopping && (round == 0 || pod.container.restarts == round)
    });
    if same {
        process::host_oom(w, pod, act);
    }
}
