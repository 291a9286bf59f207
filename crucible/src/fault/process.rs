//! Processes that end by themselves, or that stop working.

use std::rc::Rc;

use crate::control::{Exit, exit};
use crate::fault::victim;
use crate::plan::Fault;
use crate::time::SEC;
use crate::train::{self, info, say, say_all};
use crate::world::{
    ActId, Attribution, Client, Involved, PodFault, Relation, Source, Tag, Unit, World, claims,
    names,
};

/// Lets a process of a workload end, or hang.
pub(super) fn strike(w: &mut World, fault: Fault, load: usize) {
    let Some(pod) = victim(w, load) else { return };
    match fault {
        Fault::Liveness => {
            let act = w.deed(
                "its liveness probe fails",
                &["code.liveness_probe"],
                &["kubelet"],
                None,
            );
            liveness(w, pod, act);
        }
        Fault::StorageLimit => storage_limit(w, pod),
        Fault::Hang => hang(w, load),
        Fault::NoProgress => no_progress(w, load),
        Fault::Divergence => diverge(w, pod),
        _ => {
            let act = make_act(w, fault);
            end(w, fault, pod, act);
            // What is wrong with the program is wrong with it again.
            let again = w.rng.chance(80) || fault == Fault::Flapping;
            if again && let Some(load) = w.loads.get_mut(load) {
                load.curse = Some(PodFault(Rc::new(move |w: &mut World, pod| {
                    let lag = w.rng.secs(8, 60);
                    w.after(lag, move |w| {
                        if w.pods
                            .get(pod)
                            .is_some_and(|pod| pod.alive && !pod.stopping)
                        {
                            // The same fault again.
                            end(w, fault, pod, act);
                        }
                    });
                })));
            }
        }
    }
}

fn make_act(w: &mut World, fault: Fault) -> ActId {
    match fault {
        Fault::Exception | Fault::Flapping => {
            w.act("the program raised", &["code.exception"], None)
        }
        Fault::ConfigOrInput => w.act(
            "its configuration or input is wrong",
            &["code.config_or_input"],
            None,
        ),
        Fault::CudaOom => w.act("a GPU's memory is full", &["code.cuda_oom"], None),
        Fault::HostOom => w.act(
            "the container's memory limit was reached",
            &["code.host_oom"],
            None,
        ),
        Fault::Segfault => w.act(
            "the program reached for memory that is not its own",
            &["code.segfault"],
            None,
        ),
        _ => w.act(
            "somebody in the container sent SIGKILL",
            &["unknown", "code.exception"],
            None,
        ),
    }
}

/// The process ends by itself now.
fn end(w: &mut World, fault: Fault, pod: usize, act: ActId) {
    let rank = w.pods.get(pod).map_or(0, |pod| pod.rank);
    let tags = names(act);
    match fault {
        Fault::Exception | Fault::Flapping => {
            let which = w.rng.below(EXCEPTIONS.len());
            let text = EXCEPTIONS.get(which).copied().unwrap_or("");
            say_all(w, pod, &text.replace("{rank}", &rank.to_string()), &tags);
            exit(w, pod, &Exit::code(1, act, Relation::Victim).claiming());
        }
        Fault::ConfigOrInput => {
            let which = w.rng.below(INPUTS.len());
            let (code, text) = INPUTS.get(which).copied().unwrap_or((1, ""));
            say_all(w, pod, text, &tags);
            exit(w, pod, &Exit::code(code, act, Relation::Victim));
        }
        Fault::CudaOom => {
            say_all(
                w,
                pod,
                &CUDA_OOM.replace("{rank}", &rank.to_string()),
                &tags,
            );
            exit(w, pod, &Exit::code(1, act, Relation::Victim));
        }
        Fault::HostOom => host_oom(w, pod, act),
        Fault::Segfault => {
            let Some((node, pid)) = w.pods.get(pod).and_then(|pod| Some((pod.node?, pod.pid)))
            else {
                return;
            };
            w.host_line(node, Unit::Kernel, format!("python3[{pid}]: segfault at 7f797fe00000 ip 00007f7c7ac69996 sp 00007f7c12fd7c30 error 4 in _fused.cpython-312-x86_64-linux-gnu.so[7f7c7ac00000+d3d000]"), &tags);
            say_all(
                w,
                pod,
                "Fatal Python error: Segmentation fault\n\nThread 0x00007f7c12fd8640 (most recent call first):\n  File \"/workspace/kernels/fused.py\", line 88 in forward",
                &tags,
            );
            exit(w, pod, &Exit::code(139, act, Relation::Victim).claiming());
        }
        _ => exit(w, pod, &Exit::code(137, act, Relation::Victim).claiming()),
    }
}

/// The kernel kills the largest process of the container.
pub(super) fn host_oom(w: &mut World, pod: usize, act: ActId) {
    let Some((node, pid, uid, id)) = w.pods.get(pod).and_then(|pod| {
        Some((
            pod.node?,
            pod.pid,
            pod.uid.clone(),
            pod.container.id.clone(),
        ))
    }) else {
        return;
    };
    let tags = names(act);
    let slice = format!(
        "/kubepods.slice/kubepods-pod{}.slice",
        uid.replace('-', "_")
    );
    for text in [
        "python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=-997"
            .to_string(),
        "memory: usage 209715200kB, limit 209715200kB, failcnt 84".to_string(),
        format!(
            "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=cri-containerd-{id}.scope,mems_allowed=0-1,oom_memcg={slice},task_memcg={slice}/cri-containerd-{id}.scope,task=python3,pid={pid},uid=0"
        ),
        format!(
            "Memory cgroup out of memory: Killed process {pid} (python3) total-vm:412345678kB, anon-rss:208112340kB, file-rss:112520kB, shmem-rss:0kB, UID:0 pgtables:412384kB oom_score_adj:-997"
        ),
    ] {
        w.host_line(node, Unit::Kernel, text, &tags);
    }
    exit(
        w,
        pod,
        &Exit {
            code: 137,
            reason: "OOMKilled",
            message: String::new(),
            act: Some(act),
            tie: Relation::Victim,
            tags: names(act),
        },
    );
}

/// Three failed probes, and the kubelet restarts the container.
fn liveness(w: &mut World, pod: usize, act: ActId) {
    let round = w.pods.get(pod).map_or(0, |pod| pod.container.restarts);
    for probe in 0..3i64 {
        w.after(probe * 10 * SEC, move |w| {
            let Some(body) = w.pods.get(pod) else { return };
            let Some(node) = body.node else { return };
            if !body.alive || body.container.restarts != round {
                return;
            }
            let key = Involved::container(body.key());
            w.emit_event(&Source::Kubelet(node), key.clone(), "Warning", "Unhealthy",
                "Liveness probe failed: Get \"http://10.64.3.17:8080/healthz\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)", &names(act));
            if probe == 2 {
                w.emit_event(&Source::Kubelet(node), key, "Normal", "Killing", "Container trainer failed liveness probe, will be restarted", &names(act));
                w.after(30 * SEC, move |w| {
                    if w.pods.get(pod).is_some_and(|pod| pod.alive && pod.container.restarts == round) {
                        exit(w, pod, &Exit::code(137, act, Relation::Victim));
                    }
                });
            }
        });
    }
    // A program that hangs in its probe hangs again.
    let load = w.pods.get(pod).map_or(0, |pod| pod.load);
    if let Some(load) = w.loads.get_mut(load) {
        load.curse = Some(PodFault(Rc::new(move |w: &mut World, pod| {
            let lag = w.rng.secs(40, 120);
            w.after(lag, move |w| {
                if w.pods
                    .get(pod)
                    .is_some_and(|pod| pod.alive && !pod.stopping)
                {
                    liveness(w, pod, act);
                }
            });
        })));
    }
}

/// It writes more than it may, and the kubelet evicts it.
fn storage_limit(w: &mut World, pod: usize) {
    let Some((node, key)) = w.pods.get(pod).and_then(|pod| Some((pod.node?, pod.key()))) else {
        return;
    };
    let act = w.deed(
        "it wrote more than its limit of local storage",
        &["code.storage_limit"],
        &["kubelet"],
        None,
    );
    let message = if w.rng.chance(50) {
        "Pod ephemeral local storage usage exceeds the total limit of containers 100Gi. "
    } else {
        "Usage of EmptyDir volume \"scratch\" exceeds the limit \"200Gi\". "
    };
    evicted_by_kubelet(w, pod, node, &key, act, message);
}

/// The kubelet evicts a pod: its words, the end of the container, the phase.
pub(super) fn evicted_by_kubelet(
    w: &mut World,
    pod: usize,
    node: usize,
    key: &crate::world::Key,
    act: ActId,
    message: &str,
) {
    let now = w.now;
    let tags = names(act);
    let by = Client::kubelet(w.nodes.get(node).map_or("", |node| node.name.as_str()));
    w.emit_event(
        &Source::Kubelet(node),
        key.clone(),
        "Warning",
        "Evicted",
        message,
        &tags,
    );
    w.emit_event(
        &Source::Kubelet(node),
        Involved::container(key.clone()),
        "Normal",
        "Killing",
        "Stopping container trainer",
        &claims(act),
    );
    let load = w.pods.get(pod).map_or(0, |pod| pod.load);
    w.die(pod, act, Relation::Victim, true);
    let Some(body) = w.pods.get_mut(pod) else {
        return;
    };
    body.stopping = true;
    body.status_reason = Some(("Evicted".to_owned(), message.to_owned()));
    body.condition(
        "DisruptionTarget",
        "True",
        "TerminationByKubelet",
        message,
        now,
    );
    w.put_pod(
        pod,
        crate::world::Ask::new(by, "patch", "status").with_tags(&tags),
    );
    let lag = w.rng.millis(400, 3000);
    train::peer_lost(w, load, pod);
    w.after(lag, move |w| {
        if w.pods.get(pod).is_some_and(|pod| pod.alive) {
            exit(
                w,
                pod,
                &Exit {
                    code: 137,
                    reason: "Error",
                    message: String::new(),
                    act: Some(act),
                    tie: Relation::Victim,
                    tags: claims(act),
                },
            );
        }
        // An evicted pod stays as a finished object even under a policy that restarts.
        over_after_eviction(w, pod);
    });
}

fn over_after_eviction(w: &mut World, pod: usize) {
    w.after(1200 * crate::time::MS, move |w| {
        let Some(body) = w.pods.get_mut(pod) else {
            return;
        };
        if body.phase.is_over() || body.gone.is_some() {
            return;
        }
        body.phase = crate::world::Phase::Failed;
        let node = body.node;
        let by = Client::kubelet(
            node.and_then(|node| w.nodes.get(node))
                .map_or("", |node| node.name.as_str()),
        );
        w.put_pod(pod, crate::world::Ask::new(by, "patch", "status"));
        crate::control::settle(w, pod);
    });
}

/// The loss becomes NaN some steps before the program gives up.
fn diverge(w: &mut World, pod: usize) {
    let act = w.act("the loss diverged", &["code.divergence"], None);
    let load = w.pods.get(pod).map_or(0, |pod| pod.load);
    let step = w.loads.get(load).map_or(0, |load| load.step);
    for at in 1..4i64 {
        w.after(at * 9 * SEC, move |w| {
            let loss = if at == 1 { "1247.3312" } else { "nan" };
            let line = info(
                w.now,
                &format!(
                    "step={} loss={loss} grad_norm={} lr=1.2e-04",
                    step + at * 10,
                    if at == 1 { "91827.4" } else { "nan" }
                ),
            );
            say(w, pod, false, line, &names(act));
        });
    }
    w.after(40 * SEC, move |w| {
        if w.pods.get(pod).is_some_and(|pod| pod.alive && !pod.stopping) {
            say_all(w, pod, "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 203, in main\n    raise FloatingPointError(f\"loss is {loss.item()} for 3 steps, giving up\")\nFloatingPointError: loss is nan for 3 steps, giving up", &names(act));
            exit(w, pod, &Exit::code(1, act, Relation::Victim));
        }
    });
}

/// All ranks wait for each other until the watchdogs end them; none is lost.
fn hang(w: &mut World, load: usize) {
    let Some(body) = w.loads.get(load) else {
        return;
    };
    let (nccl, step, since) = (body.plan.nccl_s, body.step, body.training);
    let act = w.act(
        "the ranks wait for each other",
        &["hang.collective_timeout"],
        None,
    );
    if let Some(body) = w.loads.get_mut(load) {
        body.stuck = Some(act);
        body.noticed = Some(body.attempt);
    }
    let began = w.now;
    let pods: Vec<usize> = (0..w.pods.len())
        .filter(|&at| {
            w.pods
                .get(at)
                .is_some_and(|pod| pod.load == load && pod.alive)
        })
        .collect();
    for pod in pods {
        let lag = nccl * SEC + w.rng.millis(20, 1500);
        w.after(lag, move |w| {
            let still = w
                .pods
                .get(pod)
                .is_some_and(|pod| pod.alive && !pod.stopping)
                && w.loads.get(load).is_some_and(|load| load.training == since);
            if still {
                let rank = w.pods.get(pod).map_or(0, |pod| pod.rank);
                let waited = w.now.since(began) / 1_000_000;
                timeout_of_all(w, pod, rank, step, nccl, waited, act);
            }
        });
    }
}

fn timeout_of_all(
    w: &mut World,
    pod: usize,
    rank: u32,
    step: i64,
    nccl: i64,
    waited: i64,
    act: ActId,
) {
    train::timeout(w, pod, (rank, step, nccl, waited), act, Relation::Victim);
    these_name(w, act);
}

/// The words of the watchdog, just written, are the record of the fault itself.
pub(super) fn these_name(w: &mut World, act: ActId) {
    for line in w.logs.iter_mut().rev().take(4) {
        line.tags = vec![Tag {
            act,
            says: Attribution::Names,
        }];
    }
}

/// The pods of a workload whose processes run.
pub(super) fn crew(w: &World, load: usize) -> Vec<usize> {
    (0..w.pods.len())
        .filter(|&at| {
            w.pods
                .get(at)
                .is_some_and(|pod| pod.load == load && pod.gone.is_none() && pod.alive)
        })
        .collect()
}

/// It runs on and does nothing.
fn no_progress(w: &mut World, load: usize) {
    let act = w.act("it makes no progress", &["hang.no_progress"], None);
    if let Some(body) = w.loads.get_mut(load) {
        body.stuck = Some(act);
        body.blocked = Some(act);
    }
    // That nothing follows them is all that tells of it.
    let World { logs, pods, .. } = w;
    let mut seen = std::collections::BTreeSet::new();
    for line in logs.iter_mut().rev() {
        if pods.get(line.pod).is_some_and(|pod| pod.load == load) && seen.insert(line.pod) {
            line.tags.extend(claims(act));
        }
    }
}

const EXCEPTIONS: &[&str] = &[
    "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 231, in <module>\n    main()\n  File \"/workspace/train.py\", line 188, in main\n    loss = model(batch[\"input_ids\"], labels=batch[\"labels\"])\n  File \"/workspace/model.py\", line 97, in forward\n    x = self.proj(x.view(b, t, self.d_model))\nRuntimeError: shape '[8, 2048, 4096]' is invalid for input of size 33554432",
    "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 231, in <module>\n    main()\n  File \"/workspace/data.py\", line 64, in collate\n    tokens = [sample[\"tokens\"] for sample in batch]\nKeyError: 'tokens'",
    "[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File \"/workspace/train.py\", line 142, in <module>\n[rank{rank}]:     trainer.fit(state)\n[rank{rank}]:   File \"/workspace/trainer.py\", line 311, in fit\n[rank{rank}]:     assert grads.shape == params.shape\n[rank{rank}]: AssertionError",
    "Exception in thread \"main\" java.lang.IllegalStateException: shard 17 has no leader\n\tat com.lab.feeder.Reader.open(Reader.java:118)\n\tat com.lab.feeder.Main.main(Main.java:42)",
    "thread 'main' panicked at src/loader.rs:88:17:\nindex out of bounds: the len is 4096 but the index is 4096\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
];

const INPUTS: &[(i32, &str)] = &[
    (
        2,
        "usage: train.py [-h] [--config CONFIG] [--steps STEPS]\ntrain.py: error: unrecognized arguments: --lr-schedul cosine",
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 31, in <module>\n    config = yaml.safe_load(open(args.config))\nFileNotFoundError: [Errno 2] No such file or directory: 'configs/moe_8b_v3.yaml'",
    ),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 9, in <module>\n    import flash_attn\nModuleNotFoundError: No module named 'flash_attn'",
    ),
    (2, "/bin/sh: 1: Syntax error: Unterminated quoted string"),
    (127, "/bin/sh: 1: torchrn: not found"),
    (
        1,
        "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 44, in <module>\n    token = os.environ[\"WANDB_API_KEY\"]\n  File \"<frozen os>\", line 714, in __getitem__\nKeyError: 'WANDB_API_KEY'",
    ),
];

const CUDA_OOM: &str = "[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File \"/workspace/train.py\", line 190, in main\n[rank{rank}]:     loss.backward()\n[rank{rank}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB. GPU 3 has a total capacity of 79.11 GiB of which 1.64 GiB is free. Process 188 has 77.46 GiB memory in use. Of the allocated memory 74.02 GiB is allocated by PyTorch, and 1.90 GiB is reserved by PyTorch but unallocated.";
