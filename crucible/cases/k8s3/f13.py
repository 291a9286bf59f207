"""Counter-twins of what was mended first in this session: the same shapes with the other truth."""

from f12 import *

MULTI = {  # exceptions of several lines, some of them indented, as the last words
    "statedict": "RuntimeError: Error(s) in loading state_dict for GPT:\n\tMissing key(s) in state_dict: \"h.0.attn.bias\".\n\tsize mismatch for wte.weight: copying a param with shape torch.Size([50257, 768]) from checkpoint, the shape in current model is torch.Size([50304, 768]).",
    "pydantic": "pydantic_core._pydantic_core.ValidationError: 2 validation errors for TrainConfig\nlr\n  Field required [type=missing, input_value={'bs': 8}, input_type=dict]\n    For further information visit https://errors.pydantic.dev/2.11/v/missing\nwarmup\n  Input should be a valid integer [type=int_type, input_value='x', input_type=str]\n    For further information visit https://errors.pydantic.dev/2.11/v/int_type",
    "chained": "KeyError: 'mask'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"/app/train.py\", line 220, in <module>\n    report(e)\n  File \"/app/train.py\", line 90, in report\n    raise RuntimeError(\"batch failed\") from None\nRuntimeError: batch failed",
    "xla": "jaxlib.xla_extension.XlaRuntimeError: INVALID_ARGUMENT: Executable expected shape f32[8,128] for argument 0\n  at position 3 of module jit_step\n  in computation main.42",
    "hydra": "omegaconf.errors.ConfigAttributeError: Key 'optim' is not in struct\n    full_key: optim\n    object_type=dict",
    "syntax": "  File \"/app/model.py\", line 12\n    def forward(self, x)\n                        ^\nSyntaxError: expected ':'",
}
NEXTLINE = {"mega": STYLES["megatron"], "tqdm": STYLES["tqdm"], "hf": STYLES["hf"]}


@fam("multiline", " ".join(f"{m}+{e}" for m in MULTI for e in ("final", "caught-mega-delete", "caught-tqdm-lost", "caught-hf-runs", "final-after-mega")))
def multiline(w, twin):
    m, e = twin.split("+"); j, nodes, t = gang(w, run=30); t = w.rng.randrange(1500, 2600); v, nd = j.pods[0], nodes[0]; st = NEXTLINE["tqdm" if "tqdm" in e else "hf" if "hf" in e else "mega"]
    for p in j.pods: [w.log(k, p, st(k)) for k in range(40, t, 10) if not t - 95 < k < t - 84]
    if "caught" in e: w.log(t - 90, v, TRACE + MULTI[m])
    bad = CODE
    if e.endswith("delete"): j.delete(t, BOB); return j.name, tdel(never_cause=bad)
    if e.endswith("lost"): lost_pod(w, t, nd, v); j.fail(t + 351, v); return j.name, tlost(never_cause=bad)
    if e.endswith("runs"): idle(w, t); return j.name, truns(never_cause=bad)
    w.log(t, v, TRACE + MULTI[m]); exit_pod(w, t, v, 1); j.fail(t + 1, v); return j.name, T(CODE, (), "G", "", weak=CODE, unseen=CODE)


@fam("sticky2", "deaf-delete deaf-drain deaf-preempt now-exit1 now-exit137 liveness-later twice-then-exit now-exit1-then-deljob")
def sticky2(w, twin):
    """OOMKilled as a reason that is old, and as one that is of now, beside exits of all kinds."""
    j, nodes, t = gang(w, run=w.rng.randrange(2400, 3400)); v, nd = j.pods[0], nodes[0]
    def old(at): w.at(at - 1, lambda: memcg_oom(w, at, v, comm="pt_data_worker")); w.log(at + 1, v, "WARNING: DataLoader worker (pid 812) was killed by signal: Killed. Restarting worker."); steps(w, v, at + 5, t, every=10, start=6000)
    def end(at_, code, ph="Failed"): set_state(w, at_, v, "trainer", ended(w, v, at_, code, "OOMKilled"), phase=ph)
    if twin.startswith("now-exit1") or twin == "now-exit137":
        w.at(t - 1, lambda: memcg_oom(w, t, v, pid=8213)); w.log(t + 1, v, "E1005 10:00:00.123000 17 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -9) local_rank: 3 (pid: 8213) of binary: /usr/bin/python\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n============================================================\n/app/train.py FAILED\n  exitcode  : -9 (pid: 8213)\n  traceback : Signal 9 (SIGKILL) received by PID 8213"); end(t + 2, 137 if twin == "now-exit137" else 1); j.fail(t + 3, v)
        if twin.endswith("deljob"): w.at(t + 30, lambda: w.get("Job", j.name, w.ns) and w._do(BOB, "delete", "Job", j.name, w.ns)); [w.at(t + 30.3, lambda p=p: w.get("Pod", p.name, w.ns) and w._do(GC, "delete", "Pod", p.name, w.ns)) for p in j.pods]; idle(w, t + 40); return j.name, T("code.host_oom", (), "AG", "", weak=GONE + CODE, never=["bob@"], never_cause=DELETED)
        return j.name, T("code.host_oom", (), "LWAG", "", weak=CODE + ("unknown",))
    old(t - 1800)
    if twin == "twice-then-exit": w.at(t - 901, lambda: memcg_oom(w, t - 900, v, comm="pt_data_worker", pid=999)); w.log(t, v, TRACE + "ValueError: bad crop"); end(t + 0.3, 1); j.fail(t + 1, v); return j.name, T(CODE, (), "G", "", weak=CODE + ("code.host_oom",), unseen=CODE + ("code.host_oom",))
    if twin == "liveness-later": kl(w, t - 30, v, "Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500", warn=True, count=3, until=t - 0.1, field="spec.containers{trainer}"); kl(w, t, v, "Killing", "Container trainer failed liveness probe", field="spec.containers{trainer}"); end(t + 31, 137); j.fail(t + 32, v); return j.name, T("code.liveness_probe", (), "E", "", weak=CODE + ("code.host_oom", "unknown"), unseen=("code.host_oom",), also=())
    how = twin.split("-")[1]
    if how == "drain": cordon(w, t - 2, BOB, nd); w.api(t, BOB, "create", "Pod", v.name, v.ns, sub="eviction"); r = tdrain()
    elif how == "delete": w.api(t, BOB, "delete", "Pod", v.name, v.ns); r = tdel()
    else: w.condition(t - 0.05, SCHED, "Pod", v.name, v.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"); w.api(t, SCHED, "delete", "Pod", v.name, v.ns); w.event(t + 0.03, "default-scheduler", "Pod", v.name, v.ns, "Preempted", f"Preempted by pod {uid_of(w.seed, 'h')} on node {nd}", new=True); r = T("sched.preempted", (), "AEW", "", weak=GONE)
    kl(w, t + 0.2, v, "Killing", "Stopping container trainer", field="spec.containers{trainer}"); steps(w, v, t, t + 29, every=4, start=9000); end(t + 30.2, 137); finalizer(w, t + 30.4, v); w.at(t + 30.6, lambda: w.get("Pod", v.name, v.ns) and w._do(kubelet(nd), "delete", "Pod", v.name, v.ns, grace=0)); j.fail(t + 31, None, rest=[j.pods[1]]); r.never_cause = ("code.host_oom",); r.weak += ("code.host_oom",); return j.name, r


@fam("waitfirst", "never-placed-others-time-out replaced-placed-then-exit never-placed-deleted first-lost-second-lost-pending exit-then-replacement-waits")
def waitfirst(w, twin):
    """A wait that is the cause, and waits that are not."""
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(4)]
    if twin.startswith("never-placed"):
        j = Job(w, 0, run_name(w), [nodes[0], nodes[1], None]); q = j.pods[2]; unschedulable(w, 2, q, PEND, until=900); [w.log(10, p, "waiting for 1 more workers at rendezvous") for p in j.pods[:2]]; R = T(("sched.unschedulable_capacity",), (), "LEWA", "", weak=("hang.rendezvous", "unknown") + CODE + GONE)
        if twin.endswith("deleted"): w.api(900, BOB, "delete", "Job", j.name, w.ns); [w.at(900.2, lambda p=p: w.get("Pod", p.name, w.ns) and (finalizer(w, w.now, p), w.at(w.now + 0.1, lambda: w.get("Pod", p.name, w.ns) and w._do(GC, "delete", "Pod", p.name, w.ns)))) for p in j.pods]; [stop(w, 900.5, p) for p in j.pods[:2]]; R.seen = "EA"; R.never = (); R.right += DELETED; return j.name, R
        for p in j.pods[:2]: w.log(900, p, TRACE + "torch.distributed.DistNetworkError: The client socket has timed out after 900000ms while trying to connect to (rdzv, 29500)."); exit_pod(w, 900.5, p, 1)
        j.fail(903, j.pods[0], rest=[]); w.at(903.2, lambda: w.get("Pod", q.name, w.ns) and w._do(JOBC, "delete", "Pod", q.name, w.ns)); w.at(903.4, lambda: finalizer(w, 903.5, q)); w.at(903.7, lambda: ("Pod", q.ns, q.name) in w.objs and w._remove(("Pod", q.ns, q.name))); R.right += ("hang.rendezvous",); return j.name, R
    j, _, t = gang(w, nodes=nodes[:3], run=w.rng.randrange(1200, 1900), backoff=3); v = j.pods[1]
    if twin == "replaced-placed-then-exit":
        preempt(w, t, v, nodes[1]); w.at(t + 9.9, lambda: None); q = j.pod(t + 10, 1, None); unschedulable(w, t + 11, q, PEND, until=t + 300); w.at(t + 310, lambda: (setattr(q, "node", nodes[3]), bind(w, t + 310.1, q), start(w, t + 312, q))); e = t + 1300; w.at(t + 313, lambda: [steps(w, p, t + 330, e, every=30, rank=i, start=3000) for i, p in enumerate((j.pods[0], q, j.pods[2]))]); o = j.pods[2]; w.at(e - 1, lambda: raise_(w, e, o)); j.fail(e + 1, o, rest=[j.pods[0], q]); r = tcode(also=("sched.preempted", "sched.unschedulable_capacity"), weak=("unknown",)); r.first = [o.name]; r.never_cause = ("sched.preempted", "sched.unschedulable_capacity"); return j.name, r
    if twin == "exit-then-replacement-waits": raise_(w, t, v); finalizer(w, t + 1, v); w.at(t + 9.9, lambda: None); q = j.pod(t + 10, 1, None); unschedulable(w, t + 11, q, PEND, until=t + 600); idle(w, t + 600); return j.name, T(CODE + ("sched.unschedulable_capacity",), (), "LEWAG", "", weak=("unknown",))
    lost_pod(w, t, nodes[1], v); w.at(t + 359.9, lambda: None); q = j.pod(t + 360, 1, nodes[3]); e = t + 1500; w.at(t + 361, lambda: [steps(w, p, t + 375, e, every=30, rank=i, start=3000) for i, p in enumerate((j.pods[0], q, j.pods[2]))]); w.at(e - 1, lambda: lost_pod(w, e, nodes[3], q)); w.at(e + 360, lambda: (lambda z: unschedulable(w, e + 362, z, PEND, until=e + 700))(j.pod(e + 361, 1, None))); idle(w, e + 700); return j.name, T(("node.not_ready",), (), "LEWA", "", weak=("unknown", "sched.unschedulable_capacity"))


@fam("baresweep", "one-fails-others-run one-deleted-others-run one-done-one-fails all-deleted-after-one-failed-long-ago staggered-deletes one-oom-others-done")
def baresweep(w, twin):
    """Bare pods of one label that have nothing to do with each other: made minutes apart, each a run of its own."""
    n = run_name(w, "sweep"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; ps = [make_pod(w, 0.5 + 240 * i, f"{n}-lr{i}", nodes[i], by=ALICE, labels={"experiment": n, "lr": str(i)}, generate=False) for i in range(3)]; t = w.rng.randrange(1500, 2600); v = ps[1]; e = t + 900
    on = lambda p, i, a, b: steps(w, p, a, b, every=30, rank=0, start=100 * i)
    for i, p in enumerate(ps): on(p, i, 250 * i + 10, t)
    rest = [p for p in ps if p is not v]
    if twin == "one-fails-others-run": raise_(w, t, v); [on(p, 1, t, e) for p in rest]; idle(w, e); return n, T(CODE, (), "LWAG", "", weak=OK_RUN)
    if twin == "one-deleted-others-run": delete_pod(w, t, ALICE, v); [on(p, 1, t, e) for p in rest]; idle(w, e); return n, T(OK_RUN + DELETED, ["alice@"], "", "AM", weak=OK_RUN + GONE)
    if twin == "one-done-one-fails": exit_pod(w, t, ps[0], 0); raise_(w, t + 300, v); on(v, 1, t, t + 300); on(ps[2], 2, t, e); idle(w, e); return n, T(CODE, (), "LWAG", "", weak=OK_RUN)
    if twin == "one-oom-others-done": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); [(on(p, 1, t, t + 400), exit_pod(w, t + 400, p, 0)) for p in rest]; idle(w, t + 420); return n, T("code.host_oom", (), "LWAG", "", weak=OK_DONE)
    if twin == "all-deleted-after-one-failed-long-ago": raise_(w, t - 900, v); [delete_pod(w, t, BOB, p) for p in rest]; w.at(t + 0.3, lambda: w.get("Pod", v.name, w.ns) and w._do(BOB, "delete", "Pod", v.name, w.ns)); idle(w, t + 20); return n, T(DELETED + CODE, ["bob@"], "", "AM", weak=GONE + CODE)
    for i, p in enumerate(ps): delete_pod(w, t + 300 * i, (ALICE, BOB, CAROL)[i], p)
    idle(w, t + 620); return n, T(DELETED, (), "AM", "", weak=GONE)


@fam("outlive2", "elastic-loss-then-fails-soon elastic-loss-then-fails-late down-then-deleted notice-then-nth-drains notice-due-then-lost oos-then-runs two-oos")
def outlive2(w, twin):
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}", who="aws") for i in range(4)]; t = w.rng.randrange(1300, 2200)
    if twin.startswith("notice"):
        j, _, t = gang(w, nodes=nodes[:2], run=t); v, nd = j.pods[0], nodes[0]; NTH = sa("kube-system", "aws-node-termination-handler", "aws-node-termination-handler/v1.25.0"); due = t + 117 if "nth" in twin else t; w.event(due - 120, "aws-node-termination-handler", "Node", nd, None, "SpotInterruption", f"Spot ITN received. Instance will be interrupted at {w.ts(due)} \n", warn=True)
        if "nth" in twin: cordon(w, t - 2, NTH, nd); evict(w, t, NTH, v); j.fail(t + 2.6, v); return j.name, T("cloud.spot_reclaimed", (), "E", "", weak=DRAINED + GONE, unseen=DRAINED, also=DRAINED)
        lost_pod(w, t, nd, v, evicted=False); w.event(t + 60, "cloud-node-lifecycle-controller", "Node", nd, None, "DeletingNode", f"Deleting node {nd} because it does not exist in the cloud provider"); delete_node(w, t + 60.2, sa("kube-system", "cloud-node-lifecycle-controller"), nd); w.condition(t + 100, PODGC, "Pod", v.name, v.ns, "DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"); finalizer(w, t + 100.2, v); w.api(t + 100.5, PODGC, "delete", "Pod", v.name, v.ns, grace=0); j.fail(t + 101, v); return j.name, T(("cloud.spot_reclaimed", "cloud.instance_terminated", "node.not_ready"), (), "EA", "", weak=GONE)
    name, ps = pytorch(w, 4, nodes, elastic=True, restart="OnFailure", run=t); m, a, b, c = ps; on = lambda t0, t1, skip=(): [steps(w, p, t0, t1, every=30, rank=i, start=4000) for i, p in enumerate(ps) if p not in skip]
    if twin == "elastic-loss-then-fails-soon": lost_pod(w, t, nodes[3], c, evicted=False); [nccl_gone(w, t + 50 + i, p, i) for i, p in enumerate((m, a, b))]; pt_failed(w, t + 55, name); idle(w, t + 120); return name, tlost(weak=CODE + COLL)
    if twin == "elastic-loss-then-fails-late": lost_pod(w, t, nodes[3], c); on(t + 60, t + 1300, (c,)); w.at(t + 1299, lambda: raise_(w, t + 1300, a)); pt_failed(w, t + 1301, name, [m, b]); r = tcode(also=("node.not_ready",), weak=("unknown",)); r.first = [a.name]; return name, r
    if twin == "down-then-deleted": w.api(t, CAROL, "patch", "PyTorchJob", name, w.ns, change=lambda o: o["spec"]["pytorchReplicaSpecs"]["Worker"].update(replicas=2), request={"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 2}}}}); delete_pod(w, t + 0.4, TRAINOP, c); on(t + 10, t + 900, (c,)); tj_delete(w, t + 900, BOB, "PyTorchJob", name, [m, a, b]); return name, tdel(never=["carol@"])
    lost_pod(w, t, nodes[3], c, evicted=False); taint(w, t + 150, BOB, nodes[3], "node.kubernetes.io/out-of-service", "NoExecute", "nodeshutdown"); taint_evict(w, t + 150.2, c, lost=True); w.at(t + 170, lambda: w.get("Pod", c.name, w.ns) and w._do(PODGC, "delete", "Pod", c.name, w.ns, grace=0)); on(t + 60, t + 1300, (c,))
    if twin == "oos-then-runs": idle(w, t + 1300); return name, T(OK_RUN + ("node.not_ready",), (), "", "", weak=OK_RUN + ("node.not_ready", "unknown"), never=["bob@"])
    e = t + 1300; w.at(e - 1, lambda: lost_pod(w, e, nodes[2], b, evicted=False)); w.at(e + 149, lambda: (taint(w, e + 150, BOB, nodes[2], "node.kubernetes.io/out-of-service", "NoExecute", "nodeshutdown"), taint_evict(w, e + 150.2, b, lost=True))); w.at(e + 170, lambda: w.get("Pod", b.name, w.ns) and w._do(PODGC, "delete", "Pod", b.name, w.ns, grace=0)); w.at(e + 49, lambda: [nccl_gone(w, e + 50 + i, p, i) for i, p in enumerate((m, a))]); pt_failed(w, e + 180, name); r = tlost(weak=CODE + COLL, never=["bob@"]); r.first = [b.name]; return name, r
