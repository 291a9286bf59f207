//! Training processes: what they write, and what becomes of a gang that loses one.

pub mod timers;

use crate::control::{Exit, exit, problem};
use crate::time::{SEC, Time};
use crate::world::{HostLine, LogLine, Phase, Relation, State, Tag, Unit, World, claims};

/// The head of a line of klog.
#[must_use]
pub fn klog(time: Time) -> String {
    format!("{}    2514", time.format("%m%d %H:%M:%S%.6f", 0))
}

impl World {
    /// A machine writes a line.
    pub fn host_line(&mut self, node: usize, unit: Unit, text: impl Into<String>, tags: &[Tag]) {
        let booted = self.nodes.get(node).map_or(self.now, |node| node.booted);
        let text = text.into();
        if self.plan.more.npd && unit == Unit::Kernel {
            problem::seen(self, node, &text, tags);
        }
        self.hosts.push(HostLine {
            time: self.now,
            booted,
            node,
            unit,
            text,
            tags: tags.to_vec(),
        });
    }
}

/// A container writes a line.
pub fn say(w: &mut World, pod: usize, error: bool, text: impl Into<String>, tags: &[Tag]) {
    let restart = w.pods.get(pod).map_or(0, |pod| pod.container.restarts);
    w.logs.push(LogLine {
        time: w.now,
        pod,
        container: "trainer",
        restart,
        error,
        text: text.into(),
        tags: tags.to_vec(),
    });
}

/// A container writes several lines at once, a little apart.
pub fn say_all(w: &mut World, pod: usize, text: &str, tags: &[Tag]) {
    let now = w.now;
    for (at, line) in text.lines().enumerate() {
        say(w, pod, true, line, tags);
        if let Some(line) = w.logs.last_mut() {
            line.time = now.plus(i64::try_from(at).unwrap_or(0) * 21_000);
        }
    }
}

/// A line as `logging` formats it.
#[must_use]
pub fn info(time: Time, text: &str) -> String {
    format!(
        "{} INFO train {text}",
        time.format("%Y-%m-%d %H:%M:%S,%3f", 0)
    )
}

fn gang(w: &World, load: usize) -> Vec<usize> {
    (0..w.pods.len())
        .filter(|&at| {
            w.pods
                .get(at)
                .is_some_and(|pod| pod.load == load && pod.gone.is_none() && pod.alive)
        })
        .collect()
}

/// The process of a pod has started.
pub fn started(w: &mut World, pod: usize) {
    let Some(body) = w.pods.get(pod) else { return };
    let (load, rank) = (body.load, body.rank);
    let Some(plan) = w.loads.get(load).map(|load| load.plan.clone()) else {
        return;
    };
    let line = info(
        w.now,
        &format!(
            "rank {rank} of {} starts, config configs/{}.yaml",
            plan.size, plan.name
        ),
    );
    say(w, pod, false, line, &[]);
    // Those that are being stopped do not count.
    let mut here = gang(w, load);
    here.retain(|&at| w.pods.get(at).is_some_and(|pod| pod.deletion.is_none()));
    let here = here.len();
    let now = w.now;
    if let Some(load) = w.loads.get_mut(load)
        && here >= usize::try_from(load.wanted).unwrap_or(0)
    {
        load.well = Some(now);
    }
    if let Some(curse) = w.loads.get(load).and_then(|load| load.curse.clone()) {
        (curse.0)(w, pod);
    }
    if !plan.gang {
        let round = w.pods.get(pod).map_or(0, |pod| pod.container.restarts);
        w.soon(2000, 5000, move |w| alone(w, pod, round));
        if let Some(load) = w.loads.get_mut(load)
            && load.state == State::Pending
        {
            load.state = State::Running;
        }
        return;
    }
    let here = gang(w, load).len();
    let apart = w.loads.get(load).is_some_and(|load| load.pace.apart);
    if here == usize::try_from(plan.size).unwrap_or(0) && !apart {
        let now = w.now;
        if let Some(load) = w.loads.get_mut(load) {
            load.state = State::Running;
            load.training = Some(now);
            load.noticed = None;
            // What held the ranks of the last attempt does not hold these.
            if load.stuck.take() == load.blocked {
                load.blocked = None;
            }
        }
        for pod in gang(w, load) {
            let line = info(
                w.now,
                &format!(
                    "process group initialised, world size {}",
                    plan.size * plan.gpus.max(1)
                ),
            );
            say(w, pod, false, line, &[]);
        }
        w.soon(2000, 5000, move |w| step(w, load, now));
    }
}

/// A process that works by itself.
fn alone(w: &mut World, pod: usize, round: u32) {
    let Some(body) = w.pods.get(pod) else { return };
    if !body.alive || body.container.restarts != round {
        return;
    }
    let load = body.load;
    let step = w.loads.get(load).map_or(0, |load| load.step);
    if w.loads.get(load).is_some_and(|load| load.stuck.is_none()) {
        let line = info(w.now, &format!("served batch={step} queue=0"));
        say(w, pod, false, line, &[]);
        if let Some(load) = w.loads.get_mut(load) {
            load.step += 1;
        }
    }
    let slow = if step > 80 { 8 } else { 1 };
    w.soon(25_000 * slow, 45_000 * slow, move |w| alone(w, pod, round));
}

/// One round of lines of a gang that trains.
fn step(w: &mut World, load: usize, since: Time) {
    let Some(body) = w.loads.get(load) else {
        return;
    };
    if body.training != Some(since) || body.gone.is_some() {
        return;
    }
    let plan = body.plan.clone();
    let now = w.now;
    let pace = body.pace.clone();
    if let Some(until) = pace.until.filter(|until| *until > now) {
        w.at(until, move |w| step(w, load, since));
        return;
    }
    // A run that has been going for long is told of less often.
    let seldom = if now.since(since) > 40 * 60 * SEC && !pace.talks_on {
        8
    } else {
        1
    };
    let percent = pace.slow.map_or(100, |slow| slow.0);
    if body.stuck.is_none() && body.noticed.is_none() {
        if let Some(trains) = plan.trains
            && now.since(since) >= trains
        {
            finish(w, load);
            return;
        }
        let before = body.step;
        let step = before + 10 * seldom;
        let jitter = w.rng.range(0, 999);
        let whole = 2.0 + 900.0 / (step as f64 + 200.0);
        if let Some(body) = w.loads.get_mut(load) {
            body.step = step;
        }
        // Only several lines together tell that it is slow.
        let tags = match pace.slow {
            Some((_, from, act)) if now.since(from) > 180 * SEC => claims(act),
            _ => Vec::new(),
        };
        for pod in gang(w, load) {
            let rank = w.pods.get(pod).map_or(0, |pod| pod.rank);
            let line = if pace.megatron {
                let each = 1850 * percent / 100 + jitter / 5;
                format!(
                    " [{}] iteration {step:>8}/  500000 | consumed samples: {:>12} | elapsed time per iteration (ms): {each}.4 | throughput per GPU (TFLOP/s/GPU): {}.1 | learning rate: 1.200000E-04 | global batch size:  1024 | lm loss: {whole:.6}E+00 | loss scale: 1.0 | grad norm: 0.312 | number of skipped iterations:   0 | number of nan iterations:   0 |",
                    now.format("%Y-%m-%d %H:%M:%S.%6f", 0),
                    step * 1024,
                    41_200 / percent
                )
            } else {
                info(
                    now,
                    &format!(
                        "step={step} loss={whole:.4} lr=1.2e-04 tokens_per_s={} rank={rank}",
                        (98_000 + jitter) * 100 / percent
                    ),
                )
            };
            say(w, pod, false, line, &tags);
            if rank == 0 && step / 50 != before / 50 {
                let line = info(
                    now.plus(SEC),
                    &format!(
                        "saved checkpoint step={step} to /mnt/ckpt/{}/step-{step}",
                        plan.name
                    ),
                );
                say(w, pod, false, line, &[]);
            }
        }
        if step / 30 != before / 30 {
            let gang = gang(w, load);
            timers::report(w, load, &gang);
        }
    }
    let of = |millis: i64| millis * seldom * percent / 100;
    let (low, high) = if pace.steady {
        (18_500, 21_500)
    } else {
        (12_000, 28_000)
    };
    w.soon(of(low), of(high), move |w| step(w, load, since));
}

/// All ranks are done.
fn finish(w: &mut World, load: usize) {
    let done = w.act("its work is done", &[], None);
    if let Some(load) = w.loads.get_mut(load) {
        load.done = Some(done);
    }
    for pod in gang(w, load) {
        let line = info(w.now, "training finished");
        say(w, pod, false, line, &claims(done));
        let lag = w.rng.millis(300, 2500);
        w.after(lag, move |w| {
            if w.pods.get(pod).is_some_and(|pod| pod.alive) {
                exit(
                    w,
                    pod,
                    &Exit {
                        code: 0,
                        reason: "Completed",
                        message: String::new(),
                        act: None,
                        tie: Relation::Victim,
                        tags: claims(done),
                    },
                );
            }
        });
    }
    over(w, load);
}

/// A gang trains no more.
pub fn over(w: &mut World, load: usize) {
    if let Some(load) = w.loads.get_mut(load) {
        load.training = None;
    }
}

/// The others of a gang notice that one is lost: by its connections, or when a collective times out.
pub fn peer_lost(w: &mut World, load: usize, lost: usize) {
    let Some(body) = w.loads.get(load) else {
        return;
    };
    if !body.plan.gang || body.training.is_none() || body.noticed.is_some() {
        return;
    }
    let (nccl, resets, attempt, since, step) = (
        body.plan.nccl_s,
        body.plan.resets,
        body.attempt,
        body.training,
        body.step,
    );
    if let Some(body) = w.loads.get_mut(load) {
        body.noticed = Some(attempt);
    }
    let Some(gone) = w.pods.get(lost) else { return };
    let lost_ip = gone
        .node
        .and_then(|node| w.nodes.get(node))
        .map(|node| node.ip.clone())
        .unwrap_or_default();
    let Some(death) = w
        .deaths
        .iter()
        .rev()
        .find(|death| death.pod == lost)
        .map(|death| death.act)
    else {
        return;
    };
    // A machine that is gone sends no reset.
    let silent = gone
        .node
        .and_then(|node| w.nodes.get(node))
        .is_some_and(|node| !node.up);
    let began = w.now;
    for pod in gang(w, load) {
        if pod == lost {
            continue;
        }
        let rank = w.pods.get(pod).map_or(0, |pod| pod.rank);
        if resets && !silent {
            let peer = lost_ip.clone();
            w.soon(300, 5000, move |w| {
                if still(w, pod, load, since) {
                    reset(w, pod, rank, &peer, death);
                }
            });
        } else {
            let lag = nccl * SEC + w.rng.millis(20, 900);
            w.after(lag, move |w| {
                if still(w, pod, load, since) {
                    let waited = w.now.since(began) / 1_000_000;
                    timeout(
                        w,
                        pod,
                        (rank, step, nccl, waited),
                        death,
                        Relation::Collateral,
                    );
                }
            });
        }
    }
}

fn still(w: &World, pod: usize, load: usize, since: Option<Time>) -> bool {
    w.pods
        .get(pod)
        .is_some_and(|pod| pod.alive && pod.phase == Phase::Running && !pod.stopping)
        && w.loads.get(load).is_some_and(|load| load.training == since)
}

fn reset(w: &mut World, pod: usize, rank: u32, peer: &str, death: crate::world::ActId) {
    let act = w.act("a rank lost its connection to another", &[], Some(death));
    let tags = claims(death);
    let pid = w.pods.get(pod).map_or(0, |pod| pod.pid);
    let name = w
        .pods
        .get(pod)
        .map(|pod| pod.name.clone())
        .unwrap_or_default();
    let text = format!(
        "{name}:{pid}:{} [0] NCCL WARN socketProgress: Connection closed by remote peer {peer}<50122>\n\
[rank{rank}]: Traceback (most recent call last):\n\
[rank{rank}]:   File \"/workspace/train.py\", line 214, in <module>\n\
[rank{rank}]:     main()\n\
[rank{rank}]:   File \"/workspace/train.py\", line 187, in main\n\
[rank{rank}]:     loss.backward()\n\
[rank{rank}]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2133, remote process exited or there was a network error, NCCL version 2.27.3\n\
[rank{rank}]: ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n\
[rank{rank}]: Last error:\n\
[rank{rank}]: socketProgress: Connection closed by remote peer {peer}<50122>",
        pid + 300
    );
    say_all(w, pod, &text, &tags);
    w.soon(200, 1500, move |w| {
        if w.pods.get(pod).is_some_and(|pod| pod.alive) {
            exit(w, pod, &Exit::code(1, act, Relation::Collateral));
        }
    });
}

/// The watchdog's words, and the end of the process: rank, number of the operation, limit in
/// seconds, and how many milliseconds it waited.
pub fn timeout(
    w: &mut World,
    pod: usize,
    waited: (u32, i64, i64, i64),
    death: crate::world::ActId,
    tie: Relation,
) {
    let (rank, seq, nccl, waited) = waited;
    let act = w.act("a collective timed out", &[], Some(death));
    let tags = claims(death);
    let stamp = w.now.format("%m%d %H:%M:%S%.9f", 0);
    let limit = nccl * 1000;
    let text = format!(
        "[rank{rank}]:[E{stamp} ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn=5057683, NumelOut=5057683, Timeout(ms)={limit}) ran for {waited} milliseconds before timing out.\n\
[rank{rank}]:[E{stamp} ProcessGroupNCCL.cpp:2271] [PG ID 0 PG GUID 0(default_pg) Rank {rank}]  failure detected by watchdog at work sequence id: {seq} PG status: last enqueued work: {seq}, last completed work: {}\n\
[rank{rank}]:[E{stamp} ProcessGroupNCCL.cpp:695] [Rank {rank}] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.\n\
[rank{rank}]:[E{stamp} ProcessGroupNCCL.cpp:701] [Rank {rank}] To avoid data inconsistency, we are taking the entire process down.",
        seq - 1
    );
    say_all(w, pod, &text, &tags);
    w.soon(300, 2500, move |w| {
        if w.pods.get(pod).is_some_and(|pod| pod.alive) {
            exit(w, pod, &Exit::code(134, act, tie));
        }
    });
}
