//! Nodes that fall silent, reboot, panic, run out of memory or are shut down.

use super::{node_of, process};
use crate::control::{go_silent, machine_dies, machine_returns};
use crate::plan::Fault;
use crate::time::SEC;
use crate::world::{ActId, Ask, Client, Relation, Source, Taint, Unit, World, claims, names};

/// Lets a node of a workload fail.
pub(super) fn strike(w: &mut World, fault: Fault, load: usize) {
    let Some(node) = node_of(w, load) else { return };
    match fault {
        Fault::Silent => silent(w, node),
        Fault::NodeBlip => blip(w, node),
        Fault::KernelPanic => panic(w, node),
        Fault::SystemOom => system_oom(w, node, load),
        Fault::Driver => driver(w, node, load),
        Fault::Reboot => reboot(w, node),
        Fault::Shutdown => shutdown(w, node),
        _ => pressure(w, node),
    }
}

/// The network of a node is gone, for good; its containers work on without being heard.
fn silent(w: &mut World, node: usize) {
    let act = w.deed(
        "the node fell silent",
        &["node.not_ready"],
        &[
            "taint-eviction-controller",
            "system:serviceaccount:kube-system:node-controller",
            "node-controller",
        ],
        None,
    );
    machine_dies(w, node, act);
}

/// A node is not heard for a while, and nothing comes of it.
fn blip(w: &mut World, node: usize) {
    let act = w.deed(
        "the node was not heard for a minute",
        &["node.not_ready"],
        &[
            "taint-eviction-controller",
            "system:serviceaccount:kube-system:node-controller",
            "node-controller",
        ],
        None,
    );
    go_silent(w, node, act);
    let lag = w.rng.secs(60, 90);
    // A machine that went down meanwhile does not come back because this is over.
    w.after(lag, move |w| {
        if w.nodes.get(node).is_some_and(|body| body.up) {
            machine_returns(w, node, act);
        }
    });
}

fn panic(w: &mut World, node: usize) {
    let act = w.act("the kernel panicked", &["node.kernel_panic"], None);
    let tags = names(act);
    for text in [
        "BUG: unable to handle page fault for address: ffffb3a1c0de0000",
        "Oops: 0002 [#1] PREEMPT SMP NOPTI",
        "RIP: 0010:nv_dma_unmap+0x84/0x110 [nvidia]",
        "Kernel panic - not syncing: Fatal exception in interrupt",
        "Rebooting in 10 seconds..",
    ] {
        w.host_line(node, Unit::Kernel, text, &tags);
    }
    let step = w.act(
        "the machine is down",
        &["node.not_ready", "node.reboot"],
        Some(act),
    );
    machine_dies(w, node, step);
    let lag = w.rng.secs(120, 400);
    w.after(lag, move |w| machine_returns(w, node, step));
}

/// Somebody, or an agent, reboots the machine without a drain.
fn reboot(w: &mut World, node: usize) {
    let act = w.act("the machine was rebooted", &["node.reboot"], None);
    for text in [
        "The system will reboot now!",
        "Stopping kubelet.service - kubelet: The Kubernetes Node Agent...",
        "Stopped target multi-user.target - Multi-User System.",
        "Reached target reboot.target - System Reboot.",
    ] {
        w.host_line(node, Unit::Systemd, text, &names(act));
    }
    w.soon(800, 4000, move |w| {
        machine_dies(w, node, act);
        let lag = w.rng.secs(70, 200);
        w.after(lag, move |w| machine_returns(w, node, act));
    });
}

/// The machine is shut down in an orderly way: the kubelet ends the pods first.
fn shutdown(w: &mut World, node: usize) {
    let act = w.act("the machine is shut down", &["node.shutdown"], None);
    w.host_line(node, Unit::Systemd, "System is powering down.", &names(act));
    w.host_line(node, Unit::Kubelet, format!("I{} nodeshutdown_manager_linux.go:265] \"Shutdown manager detected new shutdown event, isNodeShuttingDownNow\" event=true", crate::train::klog(w.now)), &names(act));
    shutdown_pods(w, node, act);
    w.after(40 * SEC, move |w| {
        machine_dies(w, node, act);
    });
}

/// The kubelet's part of an orderly shutdown.
pub(super) fn shutdown_pods(w: &mut World, node: usize, act: ActId) {
    let now = w.now;
    let Some(body) = w.nodes.get(node) else {
        return;
    };
    let (key, name) = (body.key(), body.name.clone());
    let by = Client::kubelet(&name);
    w.set_condition(
        node,
        "Ready",
        "False",
        "KubeletNotReady",
        "node is shutting down",
    );
    w.put_node(
        node,
        Ask::new(by.clone(), "patch", "status").with_tags(&claims(act)),
    );
    w.emit_event(
        &Source::Kubelet(node),
        key.clone(),
        "Normal",
        "NodeNotReady",
        format!("Node {name} status is now: NodeNotReady"),
        &claims(act),
    );
    w.emit_event(
        &Source::Kubelet(node),
        key,
        "Normal",
        "Shutdown",
        "Shutdown manager detected shutdown event",
        &names(act),
    );
    if let Some(body) = w.nodes.get_mut(node) {
        body.lost = Some(act);
        body.taints.push(Taint {
            key: "node.kubernetes.io/not-ready".to_owned(),
            value: None,
            effect: "NoSchedule",
            added: Some(now),
            by: None,
        });
    }
    let pods: Vec<usize> = (0..w.pods.len())
        .filter(|&at| {
            w.pods.get(at).is_some_and(|pod| {
                pod.node == Some(node) && pod.gone.is_none() && !pod.phase.is_over()
            })
        })
        .collect();
    for pod in pods {
        let message = "Pod was terminated in response to imminent node shutdown.";
        w.die(pod, act, Relation::Victim, true);
        let Some(body) = w.pods.get_mut(pod) else {
            continue;
        };
        body.stopping = true;
        body.status_reason = Some(("Terminated".to_owned(), message.to_owned()));
        body.condition(
            "DisruptionTarget",
            "True",
            "TerminationByKubelet",
            message,
            now,
        );
        let (load, pod_key) = (body.load, body.key());
        w.put_pod(
            pod,
            Ask::new(by.clone(), "patch", "status").with_tags(&names(act)),
        );
        w.emit_event(
            &Source::Kubelet(node),
            crate::world::Involved::container(pod_key),
            "Normal",
            "Killing",
            "Stopping container trainer",
            &claims(act),
        );
        crate::train::peer_lost(w, load, pod);
        w.soon(500, 9000, move |w| {
            if w.pods.get(pod).is_some_and(|pod| pod.alive) {
                crate::control::exit(
                    w,
                    pod,
                    &crate::control::Exit {
                        code: 143,
                        reason: "Error",
                        message: String::new(),
                        act: Some(act),
                        tie: Relation::Victim,
                        tags: claims(act),
                    },
                );
            }
        });
    }
}

/// The machine's own memory is full, and the kernel kills the largest process.
fn system_oom(w: &mut World, node: usize, load: usize) {
    let act = w.act("the machine's memory is full", &["node.system_oom"], None);
    let tags = names(act);
    let Some(pod) = (0..w.pods.len()).find(|&at| {
        w.pods
            .get(at)
            .is_some_and(|pod| pod.node == Some(node) && pod.load == load && pod.alive)
    }) else {
        return;
    };
    let pid = w.pods.get(pod).map_or(0, |pod| pod.pid);
    let uid = w
        .pods
        .get(pod)
        .map(|pod| pod.uid.replace('-', "_"))
        .unwrap_or_default();
    w.host_line(node, Unit::Kernel, "node_exporter invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0", &tags);
    w.host_line(node, Unit::Kernel, format!("oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom,task_memcg=/kubepods.slice/kubepods-pod{uid}.slice,task=python3,pid={pid},uid=0"), &tags);
    w.host_line(node, Unit::Kernel, format!("Out of memory: Killed process {pid} (python3) total-vm:912345678kB, anon-rss:708112340kB, file-rss:112520kB, shmem-rss:0kB, UID:0 pgtables:912384kB oom_score_adj:-997"), &tags);
    let Some(key) = w.nodes.get(node).map(crate::world::Node::key) else {
        return;
    };
    w.emit_event(
        &Source::Kubelet(node),
        key,
        "Warning",
        "SystemOOM",
        format!("System OOM encountered, victim process: python3, pid: {pid}"),
        &tags,
    );
    let reason = if w.rng.chance(70) {
        "OOMKilled"
    } else {
        "Error"
    };
    // Its status does not say whose memory was full.
    let step = w.act(
        "the kernel kills for memory",
        &["code.host_oom", "node.system_oom"],
        Some(act),
    );
    crate::control::exit(
        w,
        pod,
        &crate::control::Exit {
            code: 137,
            reason,
            message: String::new(),
            act: Some(step),
            tie: Relation::Victim,
            tags: if reason == "OOMKilled" {
                claims(step)
            } else {
                Vec::new()
            },
        },
    );
}

/// The driver of the GPUs no longer matches its library.
fn driver(w: &mut World, node: usize, load: usize) {
    let act = w.act(
        "the GPU driver and its library differ",
        &["node.driver"],
        None,
    );
    let tags = names(act);
    let Some(pod) = (0..w.pods.len()).find(|&at| {
        w.pods
            .get(at)
            .is_some_and(|pod| pod.node == Some(node) && pod.load == load && pod.alive)
    }) else {
        return;
    };
    w.host_line(node, Unit::Kernel, "NVRM: API mismatch: the client 'python3' (pid 88213) has the version 570.133.20, but this kernel module has the version 570.86.15.  Please make sure that this kernel module and all NVIDIA driver components have the same version.", &tags);
    crate::train::say_all(
        w,
        pod,
        "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 52, in setup\n    torch.cuda.set_device(local_rank)\nRuntimeError: CUDA error: initialization error\nFailed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.133",
        &tags,
    );
    crate::control::exit(
        w,
        pod,
        &crate::control::Exit::code(1, act, Relation::Victim),
    );
}

/// The node runs short, and its kubelet evicts.
fn pressure(w: &mut World, node: usize) {
    let is_memory = w.rng.chance(50);
    let act = w.deed(
        "the node runs short",
        &["sched.node_pressure"],
        &["kubelet"],
        None,
    );
    let Some(name) = w.nodes.get(node).map(|node| node.name.clone()) else {
        return;
    };
    let by = Client::kubelet(&name);
    let (kind, reason, message, taint, event) = if is_memory {
        (
            "MemoryPressure",
            "KubeletHasInsufficientMemory",
            "kubelet has insufficient memory available",
            "node.kubernetes.io/memory-pressure",
            "NodeHasInsufficientMemory",
        )
    } else {
        (
            "DiskPressure",
            "KubeletHasDiskPressure",
            "kubelet has disk pressure",
            "node.kubernetes.io/disk-pressure",
            "NodeHasDiskPressure",
        )
    };
    let Some(key) = w.nodes.get(node).map(crate::world::Node::key) else {
        return;
    };
    w.emit_event(
        &Source::Kubelet(node),
        key.clone(),
        "Warning",
        "EvictionThresholdMet",
        format!(
            "Attempting to reclaim {}",
            if is_memory {
                "memory"
            } else {
                "ephemeral-storage"
            }
        ),
        &names(act),
    );
    w.set_condition(node, kind, "True", reason, message);
    w.put_node(node, Ask::new(by, "patch", "status").with_tags(&names(act)));
    w.emit_event(
        &Source::Kubelet(node),
        key,
        "Normal",
        event,
        format!("Node {name} status is now: {event}"),
        &names(act),
    );
    if let Some(body) = w.nodes.get_mut(node) {
        body.taints.push(Taint {
            key: taint.to_owned(),
            value: None,
            effect: "NoSchedule",
            added: None,
            by: None,
        });
    }
    w.put_node(
        node,
        Ask::new(Client::controller("node-controller"), "patch", "").with_tags(&claims(act)),
    );
    let pods: Vec<usize> = (0..w.pods.len())
        .filter(|&at| {
            w.pods
                .get(at)
                .is_some_and(|pod| pod.node == Some(node) && pod.gone.is_none() && pod.alive)
        })
        .collect();
    let Some(&pod) = pods.first() else { return };
    let Some(key) = w.pods.get(pod).map(crate::world::Pod::key) else {
        return;
    };
    let message = if is_memory {
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 61432Ki. Container trainer was using 204112340Ki, request is 200Gi, has larger consumption of memory. "
    } else {
        "The node was low on resource: ephemeral-storage. Threshold quantity: 95Gi, available: 91213104Ki. Container trainer was using 402112340Ki, request is 0, has larger consumption of ephemeral-storage. "
    };
    process::evicted_by_kubelet(w, pod, node, &key, act, message);
    w.after(330 * SEC, move |w| {
        if w.nodes.get(node).is_none_or(|node| !node.heard) {
            return;
        }
        w.set_condition(
            node,
            kind,
            "False",
            if is_memory {
                "KubeletHasSufficientMemory"
            } else {
                "KubeletHasNoDiskPressure"
            },
            if is_memory {
                "kubelet has sufficient memory available"
            } else {
                "kubelet has no disk pressure"
            },
        );
        if let Some(body) = w.nodes.get_mut(node) {
            body.taints.retain(|one| one.key != taint);
        }
        let name = w.node_name(node);
        w.put_node(node, Ask::new(Client::kubelet(&name), "patch", "status"));
        crate::control::schedule(w);
    });
}
