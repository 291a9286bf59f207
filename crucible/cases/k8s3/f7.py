"""Logs of real trainers, a sticky reason, Metadata beside harmless patches, members that were replaced, notices, suspension of further kinds, one second."""

from f6 import *

STYLES = {  # how trainers write their steps: (step number) -> line
    "tqdm": lambda n: f" {n // 100}%|{'█' * 3}▎      | {n}/10000 [{n // 3600:02d}:{n // 60 % 60:02d}:{n % 60:02d}<2:41:10,  1.02it/s, loss=2.3{n % 97}]",
    "hf": lambda n: f"{{'loss': 2.{n % 1000:03d}, 'grad_norm': 1.2{n % 10}, 'learning_rate': 3.1e-05, 'epoch': {n / 5000:.4f}}}",
    "megatron": lambda n: f" [2026-10-05 10:00:00.000000] iteration {n:8d}/  500000 | consumed samples: {n * 1024:12d} | elapsed time per iteration (ms): 10012.{n % 10} | learning rate: 1.5E-04 | global batch size: 1024 | lm loss: 2.3{n % 97}E+00 | number of skipped iterations: 0 | number of nan iterations: 0 |",
    "lightning": lambda n: f"Epoch {n // 1000}:  {n % 1000 // 10}%|██▌       | {n % 1000}/1000 [10:02<20:01,  1.01s/it, v_num=3, train_loss=2.3{n % 97}]",
    "titan": lambda n: f"[rank0]:[titan] 2026-10-05 10:00:00,000 - root - INFO - step: {n:6d}  loss:  2.3{n % 97}  grad_norm:  0.9  memory: 41.23GiB(52.11%)  tps: 7,123  tflops: 312.2  mfu: 31.6%",
    "json": lambda n: json.dumps({"ts": "2026-10-05T10:00:00Z", "level": "info", "msg": "train", "step": n, "loss": 2.3}),
    "jax": lambda n: f"I1005 10:00:00.000000 139832 train_loop.py:88] Step {n}: loss=2.3{n % 97}, steps/sec=0.98",
    "accel": lambda n: f"10/05/2026 10:00:00 - INFO - __main__ -   global_step={n} train/loss=2.3{n % 97}",
}
CAUGHT = TRACE + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB"


@fam("styles", " ".join(f"{s}+{e}" for s in STYLES for e in ("delete", "drain", "lost", "runs", "exit", "oom")))
def styles(w, twin):
    """An error that the program handled 90 s before, and steps in the style of a real trainer until the end."""
    s, e = twin.split("+"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; j = Job(w, 0, run_name(w), nodes); t = w.rng.randrange(1500, 2600); v, o = j.pods; nd = nodes[0]
    for p in j.pods:
        for k in range(10, t, 10): (k < t - 90 or k >= t - 84) and w.log(k, p, STYLES[s](k))
    w.log(t - 89, v, CAUGHT if s != "json" else json.dumps({"ts": "2026-10-05T10:00:00Z", "level": "error", "msg": "batch skipped", "exc_info": CAUGHT}))
    bad = ("code.cuda_oom",) + CODE
    if e == "delete": j.delete(t, BOB); r = tdel()
    if e == "drain": cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v); r = tdrain()
    if e == "lost": lost_pod(w, t, nd, v); j.fail(t + 351, v); r = tlost()
    if e == "runs": idle(w, t); r = truns()
    if e == "oom": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); r = toom()
    if e == "exit": w.log(t, v, TRACE + "KeyError: 'mask'" if s != "json" else json.dumps({"ts": "2026-10-05T10:00:00Z", "level": "fatal", "msg": "training failed", "exc_info": TRACE + "KeyError: 'mask'"})); exit_pod(w, t, v, 1); j.fail(t + 1, v); r = tcode(); bad = ("code.cuda_oom",)
    r.never_cause = tuple(c for c in bad if c not in r.right); return j.name, r


@fam("sticky", "exit delete drain done preempt deadline exit-late-oom exit137-kernel")
def sticky(w, twin):
    """The kernel killed a child of the container half an hour ago; the runtime keeps the reason OOMKilled for whatever end comes later."""
    j, nodes, t = gang(w, run=w.rng.randrange(2400, 3400), spec=template(grace=60)); v, nd = j.pods[0], nodes[0]; at = t - 1800 if twin != "exit-late-oom" else t - 60
    w.at(at - 1, lambda: memcg_oom(w, at, v, comm="pt_data_worker")); w.log(at + 1, v, "WARNING: DataLoader worker (pid 812) was killed by signal: Killed. Restarting worker."); steps(w, v, at + 5, t, every=10, start=6000)
    def end(at_, code): set_state(w, at_, v, "trainer", ended(w, v, at_, code, "OOMKilled"), phase="Succeeded" if code == 0 else "Failed")
    def stopped(at_): kl(w, at_ + 0.1, v, "Killing", "Stopping container trainer", field="spec.containers{trainer}"); end(at_ + 2, 143); finalizer(w, at_ + 2.2, v); w.at(at_ + 2.5, lambda: w.get("Pod", v.name, v.ns) and w._do(kubelet(nd), "delete", "Pod", v.name, v.ns, grace=0))
    bad = ("code.host_oom",)
    if twin in ("exit", "exit-late-oom"): w.log(t, v, TRACE + "ValueError: bad crop"); end(t + 0.3, 1); j.fail(t + 1, v); r = tcode(seen="G", unseen=bad, weak=bad)
    elif twin == "exit137-kernel": w.at(t - 1, lambda: memcg_oom(w, t, v)); end(t + 0.3, 137); j.fail(t + 1, v); r = toom()
    elif twin == "delete": w.api(t, BOB, "delete", "Pod", v.name, v.ns); stopped(t); j.fail(t + 3, None, rest=[j.pods[1]]); r = tdel(never_cause=bad, weak=bad)
    elif twin == "drain": cordon(w, t - 2, BOB, nd); w.api(t, BOB, "create", "Pod", v.name, v.ns, sub="eviction"); stopped(t); j.fail(t + 3, None, rest=[j.pods[1]]); r = tdrain(never_cause=bad, weak=bad)
    elif twin == "preempt": w.condition(t - 0.05, SCHED, "Pod", v.name, v.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"); w.api(t, SCHED, "delete", "Pod", v.name, v.ns); w.event(t + 0.03, "default-scheduler", "Pod", v.name, v.ns, "Preempted", f"Preempted by pod {uid_of(w.seed, 'h')} on node {nd}", new=True); stopped(t); j.fail(t + 3, None, rest=[j.pods[1]]); r = T("sched.preempted", (), "AEW", "", weak=GONE + bad, never_cause=bad)
    elif twin == "done":
        end(t, 0); exit_pod(w, t, j.pods[1], 0); [finalizer(w, t + 0.6, p) for p in j.pods]; w.condition(t + 0.9, JOBC, "Job", j.name, j.ns, "Complete", "True", "CompletionsReached", "Reached expected number of succeeded pods", succeeded=2); w.event(t + 0.95, "job-controller", "Job", j.name, j.ns, "Completed", "Job completed"); r = tdone(never_cause=bad)
    else: j.fail(t, None, "DeadlineExceeded", "Job was active longer than specified deadline", rest=[j.pods[1]]); w.api(t + 0.1, JOBC, "delete", "Pod", v.name, v.ns); stopped(t + 0.1); r = T("code.deadline", (), "LEWA", "", weak=("unknown",) + DELETED + bad, never_cause=bad)
    return j.name, r


PATCH = {"job": lambda w, j, v, nd, t: w.api(t, DAVE, "patch", "Job", j.name, j.ns, change=lambda o: o["metadata"].setdefault("labels", {}).update(note="x"), request={"metadata": {"labels": {"note": "x"}}}), "pod": lambda w, j, v, nd, t: w.api(t, DAVE, "patch", "Pod", v.name, v.ns, change=lambda o: o["metadata"].setdefault("labels", {}).update(note="x"), request={"metadata": {"labels": {"note": "x"}}}), "node": lambda w, j, v, nd, t: w.api(t, DAVE, "patch", "Node", nd, change=lambda o: o["metadata"]["labels"].update(note="x"), request={"metadata": {"labels": {"note": "x"}}}), "update-node": lambda w, j, v, nd, t: w.api(t, DAVE, "update", "Node", nd, change=lambda o: o["metadata"]["annotations"].update(note="x"))}


@fam("meta", " ".join(f"{p}+{e}+{s}" for p in PATCH for e in ("deadline", "delete-pod", "evict", "preempt", "exit", "taint", "lost", "jobdel") for s in ("1", "6", "25")))
def meta(w, twin):
    """dave labels something seconds before somebody or something else ends the run; at Metadata nobody sees what was patched."""
    p, e, s = twin.split("+"); j, nodes, t = gang(w, run=w.rng.randrange(1500, 2600), deadline=7200 if e == "deadline" else None); v, nd = j.pods[0], nodes[0]; PATCH[p](w, j, v, nd, t - int(s))
    if e == "deadline": j.fail(t, None, "DeadlineExceeded", "Job was active longer than specified deadline", rest=j.pods); r = T("code.deadline", (), "LEA", "", weak=DELETED + ("unknown", "ops.config_change"))
    if e == "delete-pod": delete_pod(w, t, CAROL, v); j.fail(t + 2.6, v); r = tdel("carol@", weak=DRAINED)
    if e == "evict": evict(w, t, CAROL, v); j.fail(t + 2.6, v); r = T(DELETED + DRAINED, ["carol@"], "AM", "AM", weak=GONE + DRAINED)
    if e == "preempt": preempt(w, t, v, nd); j.fail(t + 2.8, v); r = T("sched.preempted", (), "AEM", "", weak=GONE)
    if e == "exit": raised(w, t, j, v); r = tcode(weak=("unknown",))
    if e == "taint": taint(w, t - 0.3, CAROL, nd, "maintenance", "NoExecute", "rack7"); taint_evict(w, t, v); j.fail(t + 2.8, v); r = T(DRAINED, ["carol@"], "AE", "A", weak=DRAINED + GONE + ("node.not_ready",))
    if e == "lost": lost_pod(w, t, nd, v); j.fail(t + 351, v); r = tlost(weak=DRAINED + GONE)
    if e == "jobdel": j.delete(t, CAROL); r = tdel("carol@")
    r.never = ("dave@",); return j.name, r


meta.mixes = ["M", "LEM", "XM", "A", "EA", "LA", "LE"]


@fam("replaced2", " ".join(f"{k}+{a}+{b}" for k in ("pt", "sts", "vc") for a in ("drain", "oom", "delete", "lost") for b in ("exit", "delete", "runs", "oom", "done") if not (k == "sts" and b == "done")))
def replaced2(w, twin):
    """One member is replaced alone, all train on for long, and another member (or everything) ends later."""
    k, a, b = twin.split("+"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(4)]; t = w.rng.randrange(900, 1400); n = run_name(w)
    if k == "pt": n, ps = pytorch(w, 3, nodes[:3], run=t, restart="ExitCode"); kind = "PyTorchJob"; op = TRAINOP
    elif k == "sts": ps, _ = deployment(w, n, 3, nodes, "StatefulSet"); kind = "StatefulSet"; op = STSC; [steps(w, p, 16, t, every=60, rank=i) for i, p in enumerate(ps)]
    else: kind = "VolcanoJob"; op = VCCTL; custom(w, 0, kind, n, ALICE, {"minAvailable": 3, "policies": [{"event": "PodEvicted", "action": "RestartPod"}]}, {"state": {"phase": "Running"}}); ps = [make_pod(w, 0.5, f"{n}-w-{i}", nodes[i], by=op, of=(kind, n), labels={"volcano.sh/job-name": n}, generate=False) for i in range(3)]; [steps(w, p, 10, t, every=60, rank=i) for i, p in enumerate(ps)]
    v, o = ps[1], ps[2]; over = t + 3
    if a == "drain": cordon(w, t - 2, CAROL, nodes[1]); evict(w, t, CAROL, v)
    if a == "delete": delete_pod(w, t, CAROL, v)
    if a == "oom": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); w.at(t + 2, lambda: w.get("Pod", v.name, w.ns) and w._do(op, "delete", "Pod", v.name, w.ns, grace=0))
    if a == "lost": not_ready(w, t + 45, nodes[1], [v]); delete_pod(w, t + 200, CAROL, v, live=False, grace=0); over = t + 201
    u = over + 5; e = u + w.rng.randrange(900, 1500); box = []
    def again():
        if k == "pt": q = pt_pod(w, u, n, 1, nodes[3])
        elif k == "sts": q = make_pod(w, u, v.name, nodes[3], by=STSC, of=("StatefulSet", n), labels={"app": n, "statefulset.kubernetes.io/pod-name": v.name}, spec=template(restart="Always"), generate=False)
        else: q = make_pod(w, u, v.name, nodes[3], by=op, of=(kind, n), labels={"volcano.sh/job-name": n}, generate=False)
        box.append(q); [steps(w, p, u + 15, e, every=30, rank=i, start=2000) for i, p in enumerate((ps[0], q, o))]
    w.at(u - 0.2, again)
    if b == "runs": idle(w, e); r = truns()
    elif b == "done":
        w.at(e - 0.5, lambda: [exit_pod(w, e, p, 0) for p in (ps[0], box[0], o)]); pt_succeeded(w, e + 1, n) if k == "pt" else phase(w, e + 2, op, kind, n, state={"phase": "Completed"}); r = tdone()
    elif b == "delete":
        w.api(e, BOB, "delete", kind, n, w.ns); w.at(e - 0.1, lambda: [(w.at(e + 0.3, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns)), stop(w, e + 0.4, p)) for p in (ps[0], box[0], o)]); r = tdel()
    else:
        if k == "sts":
            for i in range(4): (w.log(e + 80 * i, o, TRACE + "ValueError: bad crop") if b == "exit" else w.at(e + 80 * i - 1, lambda i=i: memcg_oom(w, e + 80 * i, o))); restart(w, e + 80 * i, o, 1 if b == "exit" else 137, "Error" if b == "exit" else "OOMKilled", n=i + 1, wait=20)
            kl(w, e + 90, o, "BackOff", f"Back-off restarting failed container trainer in pod {o.name}_{w.ns}", warn=True, count=9, until=e + 290, field="spec.containers{trainer}"); idle(w, e + 300)
        else:
            w.at(e - 1, lambda: (raise_(w, e, o) if b == "exit" else (memcg_oom(w, e, o), exit_pod(w, e + 0.1, o, 137, "OOMKilled"))))
            if k == "pt": w.at(e, lambda: pt_failed(w, e + 1, n, [ps[0], box[0]]))
            else: w.at(e, lambda: ([delete_pod(w, e + 1, op, p) for p in (ps[0], box[0])], phase(w, e + 4, op, kind, n, state={"phase": "Failed"})))
        r = (tcode if b == "exit" else toom)(); r.first = [o.name]
    cause = {"drain": DRAINED, "delete": DELETED, "oom": ("code.host_oom",), "lost": ("node.not_ready",)}[a]
    r.also += cause; r.never = tuple(r.never) + ("carol@",); r.weak += ("unknown",) + (OK_RUN if k == "sts" else ()); idle(w, e + 6); return n, r


@fam("notice2", "redeploy-then-user-deletes freeze-then-exit reboot-scheduled-then-person-drains gke-maint-then-oom retirement-then-preempt karp-spot-then-bob-deletes ca-candidate-then-bob-deletes notice-then-owner-scales itn-then-exit0-self")
def notice2(w, twin):
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}", who="azure" if "redeploy" in twin or "freeze" in twin or "reboot" in twin else "gce") for i in range(2)]; NPD = sa("kube-system", "node-problem-detector")
    if twin == "notice-then-owner-scales":
        n = run_name(w, "serve"); pods, rs = deployment(w, n, 2, nodes); t = w.rng.randrange(1500, 2600); [steps(w, p, 15, t, every=60) for p in pods]; w.event(t - 40, "aws-node-termination-handler", "Node", nodes[0], None, "SpotInterruption", f"Spot ITN received. Instance will be interrupted at {w.ts(t + 80)} \n", warn=True); scale(w, t, ALICE, "Deployment", n, rs, pods); return n, T(SCALED + DELETED + ("ops.config_change",), ["alice@"], "A", "A", weak=SCALED + GONE + ("ops.config_change", "cloud.spot_reclaimed"), unseen=("cloud.spot_reclaimed",))
    karp = twin.startswith("karp")
    if karp: nodes, claim = karp_pool(w)
    j, _, t = gang(w, nodes=nodes, run=w.rng.randrange(1500, 2600)); v, nd = j.pods[0], nodes[0]
    vm = lambda at, why, msg: (w.condition(at, NPD, "Node", nd, None, "VMEventScheduled", "True", why, msg), w.event(at, "custom-maintenance-plugin", "Node", nd, None, why, msg, warn=True))
    if twin == "redeploy-then-user-deletes": vm(t - 120, "RedeployScheduled", f"Redeploy Scheduled: {w.ts(t + 480)}"); j.delete(t, ALICE); return j.name, tdel("alice@", weak=("ops.host_maintenance", "cloud.host_error"), unseen=())
    if twin == "freeze-then-exit": vm(t - 30, "FreezeScheduled", f"Freeze Scheduled: {w.ts(t + 600)}. DurationInSeconds: 5"); raised(w, t, j, v); return j.name, tcode(never_cause=["ops.host_maintenance"])
    if twin == "reboot-scheduled-then-person-drains": vm(t - 300, "RebootScheduled", f"Reboot Scheduled: {w.ts(t + 600)}"); cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v); return j.name, T(DRAINED + ("ops.host_maintenance",), ["bob@"], "AW", "AM", weak=DRAINED + GONE + ("ops.host_maintenance",))
    if twin == "gke-maint-then-oom": w.at(t - 200, lambda: w.get("Node", nd)["metadata"]["labels"].update({"cloud.google.com/scheduled-maintenance-time": str(int((w.base + timedelta(seconds=t + 3600)).timestamp()))})); w.api(t - 199, ({"username": "system:gke-maintenance", "groups": []}, "x"), "patch", "Node", nd, change=lambda o: None); w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return j.name, toom(never_cause=["ops.host_maintenance"])
    if twin == "retirement-then-preempt": w.event(t - 600, "aws-node-termination-handler", "Node", nd, None, "ScheduledEvent", f"instance-retirement will occur between {w.ts(t + 86400)} and {w.ts(t + 90000)} because of reason: \n", warn=True); preempt(w, t, v, nd); j.fail(t + 2.8, v); return j.name, T("sched.preempted", ["scheduler"], "AEW", "AEW", weak=GONE, never_cause=["ops.host_maintenance"])
    if twin == "karp-spot-then-bob-deletes": w.event(t - 20, "karpenter", "Node", nd, None, "SpotRebalanceRecommendation", "Spot rebalance recommendation was triggered"); w.event(t - 10, "karpenter", "Node", nd, None, "DisruptionBlocked", f"Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod={v.ns}/{v.name})"); j.delete(t, BOB); return j.name, tdel(never_cause=["cloud.spot_reclaimed"] + list(SCALED))
    if twin == "ca-candidate-then-bob-deletes": taint(w, t - 60, CA, nd, "DeletionCandidateOfClusterAutoscaler", "PreferNoSchedule", "1759"); j.delete(t, BOB); return j.name, tdel(never_cause=list(SCALED), weak=SCALED)
    w.event(t - 60, "aws-node-termination-handler", "Node", nd, None, "SpotInterruption", f"Spot ITN received. Instance will be interrupted at {w.ts(t + 60)} \n", warn=True); w.log(t - 55, v, "INFO spot notice seen in IMDS; finishing the epoch"); w.log(t, v, "INFO training finished, model saved"); w.at(t - 1, lambda: j.complete(t)); return j.name, tdone(never_cause=["cloud.spot_reclaimed"])


@fam("suspend3", "lws-deleted-by-kueue podgroup-kueue jobset-kueue trainjob-kueue raycluster-kueue trainjob-person-then-resumed-exit sts-kueue-scaled")
def suspend3(w, twin):
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; t = w.rng.randrange(1500, 2600); msg = "Preempted to accommodate a workload (UID: a, JobUID: b) due to prioritization in the ClusterQueue"; K = T("sched.kueue_preempted", (), "LEWA", "", weak=GONE + ("sched.kueue_evicted",), never=["garbage", "jobset", "trainer", "kuberay", "lws"])
    def workload(kind, name): wl = f"{kind.lower()}-{name}-5f2c1"; custom(w, 0.9, "Workload", wl, KUEUE, {"queueName": "team-a"}, {"conditions": [{"type": "Admitted", "status": "True", "reason": "Admitted", "message": "The workload is admitted", "lastTransitionTime": w.ts(0.9)}]}, of=(kind, name)); return wl
    def evicted(at, wl): w.condition(at, KUEUE, "Workload", wl, w.ns, "Evicted", "True", "Preempted", msg); w.condition(at, KUEUE, "Workload", wl, w.ns, "Preempted", "True", "InClusterQueue", msg); w.event(at, "kueue-admission", "Workload", wl, w.ns, "EvictedDueToPreempted", msg); w.event(at, "kueue-admission", "Workload", wl, w.ns, "Preempted", msg)
    if twin == "podgroup-kueue":  # plain pods of a group: Kueue marks and deletes them itself
        n = run_name(w); ps = [make_pod(w, 0.5, f"{n}-{i}", nodes[i], by=ALICE, labels={"kueue.x-k8s.io/pod-group-name": n, "kueue.x-k8s.io/managed": "true", "kueue.x-k8s.io/queue-name": "team-a", "app": n}, generate=False) for i in range(2)]; [steps(w, p, 10, t, every=60, rank=i) for i, p in enumerate(ps)]; custom(w, 0.9, "Workload", n, KUEUE, {"queueName": "team-a"}, {"conditions": []}, of=("Pod", ps[0].name)); evicted(t, n)
        for p in ps: w.condition(t + 0.2, KUEUE, "Pod", p.name, w.ns, "TerminationTarget", "True", "WorkloadEvictedDueToPreempted", msg); delete_pod(w, t + 0.3, KUEUE, p); w.event(t + 0.3, "pod-kueue-controller", "Pod", p.name, w.ns, "Stopped", msg)
        idle(w, t + 20); return n, K
    if twin in ("jobset-kueue", "trainjob-kueue", "trainjob-person-then-resumed-exit"):
        if twin == "jobset-kueue": name = run_name(w, "js"); custom(w, 0, "JobSet", name, ALICE, {"replicatedJobs": [{"name": "node", "replicas": 1}], "suspend": False}, {}); j = Job(w, 0.6, f"{name}-node-0", nodes, by=JOBSET, of=("JobSet", name), labels={"jobset.sigs.k8s.io/jobset-name": name}); [steps(w, p, 10, t, every=60, rank=i) for i, p in enumerate(j.pods)]; root = "JobSet"
        else: name, j = trainjob(w, nodes, t); root = "TrainJob"
        def susp(at, who, x=True):
            w.api(at, who, "patch", root, name, w.ns, change=lambda o: o["spec"].update(suspend=x), request={"spec": {"suspend": x}})
            if root == "TrainJob": w.api(at + 0.2, TRAINER, "patch", "JobSet", name, w.ns, change=lambda o: o["spec"].update(suspend=x), request={"spec": {"suspend": x}})
            w.api(at + 0.4, JOBSET, "update", "Job", j.name, w.ns, change=lambda o: o["spec"].update(suspend=x), request={"spec": {"suspend": x}})
            if x:
                for p in j.pods: delete_pod(w, at + 0.6, JOBC, p)
                w.condition(at + 4, JOBC, "Job", j.name, w.ns, "Suspended", "True", "JobSuspended", "Job suspended"); w.event(at + 4, "job-controller", "Job", j.name, w.ns, "Suspended", "Job suspended"); w.condition(at + 4.3, JOBSET, "JobSet", name, w.ns, "Suspended", "True", "SuspendedJobs", "jobset is suspended")
        if "kueue" in twin: wl = workload(root, name); evicted(t, wl); susp(t + 0.1, KUEUE); w.event(t + 0.1, f"{root.lower()}-kueue-controller", root, name, w.ns, "Stopped", msg); return name, K
        susp(t, BOB); u = t + 400; susp(u, BOB, False); w.condition(u + 0.6, JOBC, "Job", j.name, w.ns, "Suspended", "False", "JobResumed", "Job resumed"); w.event(u + 0.6, "job-controller", "Job", j.name, w.ns, "Resumed", "Job resumed"); w.at(u + 0.7, lambda: setattr(j, "pods", [j.pod(u + 1, i, n) for i, n in enumerate(nodes)])); e = u + 700; w.at(u + 0.8, lambda: [steps(w, p, u + 10, e, every=30, rank=i) for i, p in enumerate(j.pods)]); w.at(e - 1, lambda: raised(w, e, j, j.pods[1])); w.condition(e + 6, JOBSET, "JobSet", name, w.ns, "Failed", "True", "FailedJobs", "jobset failed due to one or more job failures"); return name, tcode(never=["bob@"], also=DELETED + ("ops.config_change",), weak=("unknown",))
    if twin == "raycluster-kueue":
        n = run_name(w, "rc"); custom(w, 0, "RayCluster", n, ALICE, {"suspend": False}, {"state": "ready"}); ps = [make_pod(w, 0.5, f"{n}-{x}-{w.suffix()}", nodes[i], by=KUBERAY, of=("RayCluster", n), labels={"ray.io/cluster": n}, generate=False) for i, x in enumerate(("head", "gpu-worker"))]; steps(w, ps[0], 10, t, every=60); wl = workload("RayCluster", n); evicted(t, wl); w.api(t + 0.2, KUEUE, "patch", "RayCluster", n, w.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}})
        for p in ps: delete_pod(w, t + 0.5, KUBERAY, p)
        w.at(t + 5, lambda: w.get("RayCluster", n, w.ns)["status"].update(state="suspended")); idle(w, t + 10); return n, K
    kind = "StatefulSet"; n = run_name(w, "sts"); ps, _ = deployment(w, n, 2, nodes, "StatefulSet"); [steps(w, p, 16, t, every=60, rank=i) for i, p in enumerate(ps)]
    custom(w, 0.9, "Workload", n, KUEUE, {"queueName": "team-a"}, {"conditions": []}, of=(kind, n)); evicted(t, n)
    for p in ps: w.condition(t + 0.2, KUEUE, "Pod", p.name, w.ns, "TerminationTarget", "True", "WorkloadEvictedDueToPreempted", msg); delete_pod(w, t + 0.3, KUEUE, p); w.event(t + 0.3, "pod-kueue-controller", "Pod", p.name, w.ns, "Stopped", msg)
    idle(w, t + 20); return n, K


@fam("one-second", " ".join(f"{a}+{b}" for a in ("exit", "oom", "evict", "delete") for b in ("exit", "oom", "evict", "delete", "preempt") if a != b))
def one_second(w, twin):
    """Two members end 0.3 s apart: one by a, the other by b; and the Job gives up."""
    a, b = twin.split("+"); j, nodes, t = gang(w, n=3, run=w.rng.randrange(1500, 2600)); fr = w.base.microsecond / 1e6; t = t - (t + fr) % 1 + 0.2; x, y = j.pods[0], j.pods[1]
    def end(k, at, v, nd, who):
        if k == "exit": w.log(at, v, TRACE + "ValueError: bad crop"); w.at(at + 0.05, lambda: set_state(w, at + 0.06, v, "trainer", ended(w, v, at, 1), phase="Failed"))
        if k == "oom": w.at(at - 0.02, lambda: memcg_oom(w, at - 0.01, v)); w.at(at + 0.05, lambda: set_state(w, at + 0.06, v, "trainer", ended(w, v, at, 137, "OOMKilled"), phase="Failed"))
        if k == "evict": cordon(w, t - 3, who, nd); evict(w, at, who, v)
        if k == "delete": delete_pod(w, at, who, v)
        if k == "preempt": preempt(w, at, v, nd)
    end(a, t, x, nodes[0], BOB); end(b, t + 0.3, y, nodes[1], CAROL); j.fail(t + 3, x, rest=[j.pods[2]])
    R = {"exit": CODE, "oom": ("code.host_oom",), "evict": DRAINED + DELETED, "delete": DELETED, "preempt": ("sched.preempted",)}
    both = R[a] + R[b]; r = T(both, (), "", "", weak=both + ("unknown",), also=both); r.first = [x.name]; r.first_mixes = ["A", "LA", "EA", "LEAG"]; r.first = []; return j.name, r
