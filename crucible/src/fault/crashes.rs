//! Programs that fail of what is around them: limits, versions, credentials, other ranks.

use std::rc::Rc;

use super::victim;
use super::words::{
    CLOCKS, CREDENTIALS, LICENCES, LIMITS, LOADERS, RATES, RERUNS, VERSIONS, Words,
};
use crate::control::{Exit, exit};
use crate::plan::Fault;
use crate::time::SEC;
use crate::train::{info, say, say_all};
use crate::world::{ActId, PodFault, Relation, Unit, World, names};

/// Lets a process of a workload fail.
pub(super) fn strike(w: &mut World, fault: Fault, load: usize) {
    let Some(pod) = victim(w, load) else { return };
    match fault {
        Fault::Crash => crash(w, pod),
        Fault::LoaderDies if w.rng.chance(25) => loader_killed(w, pod),
        Fault::LoaderDies => one_of(w, pod, LOADERS),
        Fault::Limits => limit(w, pod),
        Fault::Credentials => one_of(w, pod, CREDENTIALS),
        Fault::RateLimited => one_of(w, pod, RATES),
        Fault::Licence => one_of(w, pod, LICENCES),
        Fault::Clock => one_of(w, pod, CLOCKS),
        Fault::Corruption => one_of(w, pod, RERUNS),
        Fault::Conntrack => conntrack(w, pod, true),
        Fault::ConntrackIdle => conntrack(w, pod, false),
        Fault::Warned => warned(w, pod),
        Fault::Watchdog => watchdog(w, load, pod),
        _ => mismatched(w, load),
    }
}

/// One of several ways, and mostly the same again when it is started again.
fn one_of(w: &mut World, pod: usize, table: &'static [Words]) {
    let which = w.rng.below(table.len());
    let Some(&words) = table.get(which) else {
        return;
    };
    let act = w.act(last_line(words.1), words.2, None);
    fail(w, pod, words, act);
    if w.rng.chance(80) {
        again(w, pod, words, act);
    }
}

fn last_line(text: &str) -> String {
    let last = text.lines().last().unwrap_or_default();
    format!("it fails: {}", last.chars().take(90).collect::<String>())
}

fn again(w: &mut World, pod: usize, words: Words, act: ActId) {
    let load = w.pods.get(pod).map_or(0, |pod| pod.load);
    let Some(load) = w.loads.get_mut(load) else {
        return;
    };
    load.curse = Some(PodFault(Rc::new(move |w: &mut World, pod| {
        let lag = w.rng.secs(8, 60);
        w.after(lag, move |w| {
            if lives(w, pod) {
                fail(w, pod, words, act);
            }
        });
    })));
}

fn lives(w: &World, pod: usize) -> bool {
    w.pods
        .get(pod)
        .is_some_and(|pod| pod.alive && !pod.stopping)
}

/// It prints its last words and ends.
fn fail(w: &mut World, pod: usize, words: Words, act: ActId) {
    let Some(body) = w.pods.get(pod) else { return };
    let (rank, load) = (body.rank, body.load);
    let node = body.node.map(|node| w.node_name(node)).unwrap_or_default();
    let step = w.loads.get(load).map_or(0, |load| load.step);
    let text = words
        .1
        .replace("{rank}", &rank.to_string())
        .replace("{step}", &step.to_string())
        .replace("{node}", &node)
        .replace("{now}", &w.now.secs())
        .replace("{later}", &w.now.plus(842 * SEC).secs());
    say_all(w, pod, &text, &names(act));
    exit(w, pod, &Exit::code(words.0, act, Relation::Victim));
}

/// Before it starts: what is wrong with it then is so each time.
pub(super) fn prepare(w: &mut World, fault: Fault, load: usize) {
    if fault == Fault::Rendezvous {
        rendezvous(w, load);
        return;
    }
    let which = w.rng.below(VERSIONS.len());
    let Some(&words) = VERSIONS.get(which) else {
        return;
    };
    let act = w.act(last_line(words.1), words.2, None);
    let Some(load) = w.loads.get_mut(load) else {
        return;
    };
    load.curse = Some(PodFault(Rc::new(move |w: &mut World, pod| {
        w.soon(1500, 9000, move |w| {
            if lives(w, pod) {
                fail(w, pod, words, act);
            }
        });
    })));
}

/// A trap that the kernel tells of: signal, its exit code, the kernel's words.
const TRAPS: &[(i32, &str, &str)] = &[
    (132, "trap invalid opcode", "Illegal instruction"),
    (136, "trap divide error", "Floating point exception"),
    (133, "trap int3", "Trace/breakpoint trap"),
    (139, "general protection fault", "Segmentation fault"),
];

fn crash(w: &mut World, pod: usize) {
    let which = w.rng.below(TRAPS.len());
    let Some(&(code, trap, words)) = TRAPS.get(which) else {
        return;
    };
    let Some((node, pid)) = w.pods.get(pod).and_then(|pod| Some((pod.node?, pod.pid))) else {
        return;
    };
    // An image built for another processor is the usual reason of the first.
    let causes: &[&str] = if code == 132 {
        &["code.segfault", "code.version_mismatch"]
    } else {
        &["code.segfault"]
    };
    let act = w.act(
        format!("the process ends by a signal: {words}"),
        causes,
        None,
    );
    w.host_line(node, Unit::Kernel, format!("traps: python3[{pid}] {trap} ip:7f7c7ac69996 sp:7f7c12fd7c30 error:0 in _fused.cpython-312-x86_64-linux-gnu.so[7f7c7ac00000+d3d000]"), &names(act));
    if w.rng.chance(60) {
        say_all(
            w,
            pod,
            &format!(
                "Fatal Python error: {words}\n\nCurrent thread 0x00007f7c12fd8640 (most recent call first):\n  File \"/workspace/kernels/fused.py\", line 88 in forward"
            ),
            &names(act),
        );
    }
    exit(w, pod, &Exit::code(code, act, Relation::Victim).claiming());
}

/// The kernel kills a worker of the loader for the container's memory; the program says only that it is gone.
fn loader_killed(w: &mut World, pod: usize) {
    let Some((node, pid, uid, id)) = w.pods.get(pod).and_then(|pod| {
        let uid = pod.uid.replace('-', "_");
        Some((pod.node?, pod.pid + 77, uid, pod.container.id.clone()))
    }) else {
        return;
    };
    let act = w.act(
        "the container's memory limit was reached",
        &["code.host_oom"],
        None,
    );
    let slice = format!("/kubepods.slice/kubepods-pod{uid}.slice");
    for text in [
        "python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=-997"
            .to_owned(),
        format!(
            "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=cri-containerd-{id}.scope,mems_allowed=0-1,oom_memcg={slice},task_memcg={slice}/cri-containerd-{id}.scope,task=pt_data_worker,pid={pid},uid=0"
        ),
        format!(
            "Memory cgroup out of memory: Killed process {pid} (pt_data_worker) total-vm:41234567kB, anon-rss:20811234kB, file-rss:112520kB, shmem-rss:0kB, UID:0 pgtables:41238kB oom_score_adj:-997"
        ),
    ] {
        w.host_line(node, Unit::Kernel, text, &names(act));
    }
    let step = w.act(
        "a worker of the loader was killed",
        &["code.data_loader", "code.host_oom"],
        Some(act),
    );
    w.soon(500, 6000, move |w| {
        if !lives(w, pod) {
            return;
        }
        say_all(w, pod, &format!("Traceback (most recent call last):\n  File \"/workspace/train.py\", line 171, in main\n    for batch in loader:\nRuntimeError: DataLoader worker (pid {pid}) is killed by signal: Killed. "), &names(step));
        exit(w, pod, &Exit::code(1, step, Relation::Victim));
    });
}

/// A limit of the container; of processes the kernel tells once.
fn limit(w: &mut World, pod: usize) {
    let which = w.rng.below(LIMITS.len());
    let Some(&words) = LIMITS.get(which) else {
        return;
    };
    let act = w.act(last_line(words.1), words.2, None);
    if let Some((node, uid, id)) = w
        .pods
        .get(pod)
        .and_then(|pod| {
            Some((
                pod.node?,
                pod.uid.replace('-', "_"),
                pod.container.id.clone(),
            ))
        })
        .filter(|_| matches!(which, 1 | 2))
    {
        w.host_line(node, Unit::Kernel, format!("cgroup: fork rejected by pids controller in /kubepods.slice/kubepods-pod{uid}.slice/cri-containerd-{id}.scope"), &names(act));
    }
    fail(w, pod, words, act);
    again(w, pod, words, act);
}

/// The table of connections of a machine is full; hurts who opens new ones.
fn conntrack(w: &mut World, pod: usize, hurts: bool) {
    let Some(node) = w.pods.get(pod).and_then(|pod| pod.node) else {
        return;
    };
    let causes: &[&str] = if hurts { &["node.conntrack_full"] } else { &[] };
    let act = w.act("the table of connections is full", causes, None);
    for turn in 0..4i64 {
        w.after(turn * 5 * SEC, move |w| {
            w.host_line(
                node,
                Unit::Kernel,
                "nf_conntrack: nf_conntrack: table full, dropping packet",
                &names(act),
            );
        });
    }
    if !hurts {
        return;
    }
    let step = w.act(
        "a service is not reached",
        &["dep.service", "node.conntrack_full"],
        Some(act),
    );
    let lag = w.rng.secs(8, 18);
    w.after(lag, move |w| {
        if !lives(w, pod) {
            return;
        }
        say_all(w, pod, "Traceback (most recent call last):\n  File \"/workspace/reward.py\", line 55, in score\n    reply = requests.post(URL, json=batch, timeout=30)\nrequests.exceptions.ConnectTimeout: HTTPConnectionPool(host='reward-model.platform.svc', port=8000): Max retries exceeded with url: /score (Caused by ConnectTimeoutError(<urllib3.connection.HTTPConnection object at 0x7f1>, 'Connection to reward-model.platform.svc timed out. (connect timeout=30)'))", &names(step));
        exit(w, pod, &Exit::code(1, step, Relation::Victim));
    });
}

/// It warns of what it overcomes, and works on.
fn warned(w: &mut World, pod: usize) {
    let text = w.rng.word(&[
        "WARNING storage: attempt 1 of 5 failed, trying again in 2 s: An error occurred (SlowDown) when calling the PutObject operation: Please reduce your request rate.",
        "WARNING hub: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/models/lab/base, retrying in 10 s",
        "WARNING reward: attempt 1 of 5: HTTPConnectionPool(host='reward-model.platform.svc', port=8000): Read timed out. (read timeout=30)",
        "WARNING store: redis.exceptions.ConnectionError: Connection closed by server, connecting again",
        "WARNING auth: token expires in 120 s, renewed",
    ]);
    let line = info(w.now, text).replace(" INFO train WARNING", " WARNING");
    say(w, pod, true, line, &[]);
    w.after(12 * SEC, move |w| {
        if lives(w, pod) {
            let line = info(w.now, "attempt 2 of 5 succeeded");
            say(w, pod, false, line, &[]);
        }
    });
}

/// Ranks in different collectives: each says so, where PyTorch looks (`TORCH_DISTRIBUTED_DEBUG`).
fn mismatched(w: &mut World, load: usize) {
    let act = w.act(
        "the ranks call different collectives",
        &["code.exception"],
        None,
    );
    let step = w.loads.get(load).map_or(0, |load| load.step);
    if let Some(load) = w.loads.get_mut(load) {
        load.stuck = Some(act);
        load.noticed = Some(load.attempt);
    }
    for pod in super::process::crew(w, load) {
        let rank = w.pods.get(pod).map_or(0, |pod| pod.rank);
        w.soon(100, 1500, move |w| {
            if !lives(w, pod) {
                return;
            }
            let (own, theirs) = if rank == 1 {
                ("BROADCAST", "ALLREDUCE")
            } else {
                ("ALLREDUCE", "BROADCAST")
            };
            let of = |kind: &str| format!("CollectiveFingerPrint(SequenceNumber={step}, OpType={kind}, TensorShape=[4096, 4096], TensorDtypes=Float, TensorDeviceTypes=TensorOptions(dtype=float (default), device=cuda, layout=Strided (default), requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt)))");
            let text = format!("[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File \"/workspace/train.py\", line 190, in main\n[rank{rank}]:     dist.all_reduce(grads)\n[rank{rank}]: RuntimeError: Detected mismatch between collectives on ranks. Rank {rank} is running collective: {}, but Rank {} is running collective: {}.Collectives differ in the following aspects: \t Op type: {own}vs {theirs}", of(own), u32::from(rank != 1), of(theirs));
            say_all(w, pod, &text, &names(act));
            exit(w, pod, &Exit::code(1, act, Relation::Victim));
        });
    }
}

/// A thread holds what PyTorch's watchdog needs; its monitor ends the process after eight minutes.
fn watchdog(w: &mut World, load: usize, pod: usize) {
    let act = w.act(
        "a call hangs and holds up the watchdog",
        &["hang.watchdog"],
        None,
    );
    if let Some(load) = w.loads.get_mut(load) {
        load.stuck = Some(act);
        // The others wait longer than this one lives.
        load.plan.nccl_s = load.plan.nccl_s.max(600);
    }
    w.after(480 * SEC, move |w| {
        if !lives(w, pod) {
            return;
        }
        let rank = w.pods.get(pod).map_or(0, |pod| pod.rank);
        let stamp = w.now.format("%m%d %H:%M:%S%.9f", 0);
        say_all(w, pod, &format!("[rank{rank}]:[E{stamp} ProcessGroupNCCL.cpp:1410] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives. This typically indicates a NCCL/CUDA API (e.g., CudaEventDestroy) hang blocking the watchdog, and could be triggered by another thread holding the GIL inside a CUDA api (for example, CudaEventDestroy), or other deadlock-prone behaviors."), &names(act));
        say_all(w, pod, &format!("[rank{rank}]:[F{stamp} ProcessGroupNCCL.cpp:1557] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] Terminating the process after attempting to dump debug info, due to ProcessGroupNCCL watchdog hang."), &names(act));
        exit(w, pod, &Exit::code(134, act, Relation::Victim));
    });
}

/// The ranks never find each other: nothing lets their packets to the first.
fn rendezvous(w: &mut World, load: usize) {
    let act = w.act(
        "the ranks do not reach the first",
        &["hang.rendezvous"],
        None,
    );
    let Some(body) = w.loads.get_mut(load) else {
        return;
    };
    body.pace.apart = true;
    body.curse = Some(PodFault(Rc::new(move |w: &mut World, pod| {
        let Some(body) = w.pods.get(pod) else { return };
        let (rank, load) = (body.rank, body.load);
        let (name, space, size) = w.loads.get(load).map_or_else(Default::default, |load| {
            let plan = &load.plan;
            (plan.name.clone(), plan.namespace.clone(), plan.size)
        });
        let text = if rank == 0 {
            format!(
                "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"/workspace/train.py\", line 52, in main\n[rank0]:     dist.init_process_group(\"nccl\")\n[rank0]: torch.distributed.DistStoreError: Timed out after 301 seconds waiting for clients. 1/{size} clients joined."
            )
        } else {
            format!(
                "[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File \"/workspace/train.py\", line 52, in main\n[rank{rank}]:     dist.init_process_group(\"nccl\")\n[rank{rank}]: torch.distributed.DistNetworkError: The client socket has timed out after 300000ms while trying to connect to ({name}-0.{space}, 29500)."
            )
        };
        let lag = 300 * SEC + w.rng.millis(100, 2000);
        w.after(lag, move |w| {
            if lives(w, pod) {
                say_all(w, pod, &text, &names(act));
                exit(w, pod, &Exit::code(1, act, Relation::Victim));
            }
        });
    })));
}
