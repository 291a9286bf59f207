"""Roots that said their end before they were cleared away, pods that do not hear SIGTERM, tries of gangs, workflows that retry, CronJobs, pulls, controllers that start again."""

from f5 import *

ROOTS = {  # kind: (operator, names of pods, labels, how it says that it failed)
    "TrainJob": None, "JobSet": None, "Workflow": (ARGO, lambda n: [f"{n}-train-{7 + i}" for i in range(3)], lambda n: {"workflows.argoproj.io/workflow": n}), "VolcanoJob": (VCCTL, lambda n: [f"{n}-w-{i}" for i in range(3)], lambda n: {"volcano.sh/job-name": n}), "PyTorchJob": None, "RayJob": None, "StatefulSet": None, "Job": None,
}


@fam("cleared", " ".join(f"{k}+{e}+{g}" for k in ROOTS for e in ("exit", "oom", "done") for g in ("12", "200") if not (k == "StatefulSet" and e == "done")))
def cleared(w, twin):
    """Rank 1 ends by itself, the root says so, the others are still there or not; bob deletes the root."""
    kind, e, g = twin.split("+"); g = int(g); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; t = w.rng.randrange(1500, 2600); n = run_name(w)
    end = lambda v: (raise_(w, t, v) if e == "exit" else (w.at(t - 1, lambda: memcg_oom(w, t, v)), exit_pod(w, t + 0.1, v, 137, "OOMKilled")))
    def wipe(k, name, pods, below=()):
        w.at(t + g, lambda: w.get(k, name, w.ns) and w._do(BOB, "delete", k, name, w.ns))
        for i, (bk, bn) in enumerate(below): w.at(t + g + 0.2 + 0.2 * i, lambda bk=bk, bn=bn: w.get(bk, bn, w.ns) and w._do(GC, "delete", bk, bn, w.ns))
        for p in pods:
            w.at(t + g + 0.8, lambda p=p: w.get("Pod", p.name, p.ns) and (finalizer(w, w.now, p), w.at(w.now + 0.1, lambda: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns))))
            w.at(t + g + 0.95, lambda p=p: w.get("Pod", p.name, p.ns) and w.get("Pod", p.name, p.ns)["status"].get("phase") == "Running" and stop(w, t + g + 1, p))
    if kind == "Job":
        j = Job(w, 0, n, nodes); [steps(w, p, 10, t, every=60, rank=i) for i, p in enumerate(j.pods)]
        if e == "done": w.at(t - 1, lambda: j.complete(t))
        else: end(j.pods[1]); j.fail(t + 1, j.pods[1])
        wipe("Job", n, j.pods); name = n
    elif kind in ("TrainJob", "JobSet"):
        name = n
        if kind == "TrainJob": name, j = trainjob(w, nodes, t); below = [("JobSet", name), ("Job", j.name)]
        else: custom(w, 0, "JobSet", n, ALICE, {"replicatedJobs": [{"name": "node", "replicas": 1}]}, {}); j = Job(w, 0.6, f"{n}-node-0", nodes, by=JOBSET, of=("JobSet", n), labels={"jobset.sigs.k8s.io/jobset-name": n}); [steps(w, p, 10, t, every=60, rank=i) for i, p in enumerate(j.pods)]; below = [("Job", j.name)]
        if e == "done":
            w.at(t - 1, lambda: j.complete(t)); w.condition(t + 2, JOBSET, "JobSet", name, w.ns, "Completed", "True", "AllJobsCompleted", "jobset completed successfully"); w.event(t + 2, "jobset-controller", "JobSet", name, w.ns, "AllJobsCompleted", "jobset completed successfully")
            if kind == "TrainJob": w.condition(t + 2.5, TRAINER, "TrainJob", name, w.ns, "Complete", "True", "AllJobsCompleted", "jobset completed successfully")
        else:
            end(j.pods[1]); j.fail(t + 1, j.pods[1]); m = "jobset failed due to one or more job failures"; w.condition(t + 5, JOBSET, "JobSet", name, w.ns, "Failed", "True", "FailedJobs", m); w.event(t + 5, "jobset-controller", "JobSet", name, w.ns, "FailedJobs", m, warn=True)
            if kind == "TrainJob": w.condition(t + 5.5, TRAINER, "TrainJob", name, w.ns, "Failed", "True", "JobsFailed", m)
        wipe(kind, name, j.pods, below)
    elif kind == "PyTorchJob":
        name, ps = pytorch(w, 3, nodes, run=t, clean="None")
        if e == "done": w.log(t, ps[0], "INFO done"); w.at(t - 0.5, lambda: exit_pod(w, t, ps[0], 0)); pt_succeeded(w, t + 1, name)
        else: end(ps[1]); pt_failed(w, t + 1, name)
        wipe("PyTorchJob", name, ps)
    elif kind == "RayJob":
        name = n; cl = n + "-a1"; custom(w, 0, "RayJob", n, ALICE, {"entrypoint": "python train.py"}, {"jobStatus": "RUNNING", "jobDeploymentStatus": "Running", "rayClusterName": cl}); custom(w, 0.2, "RayCluster", cl, KUBERAY, {}, {"state": "ready"}, of=("RayJob", n)); ps = [make_pod(w, 0.5, f"{cl}-{x}-{w.suffix()}", nodes[i], by=KUBERAY, of=("RayCluster", cl), labels={"ray.io/cluster": cl}, generate=False) for i, x in enumerate(("head", "gpu-worker", "gpu-worker"))]; steps(w, ps[0], 12, t, every=60)
        if e == "done": phase(w, t + 1, KUBERAY, "RayJob", n, jobStatus="SUCCEEDED", jobDeploymentStatus="Complete")
        else: end(ps[1]); w.log(t + 3, ps[0], TRACE + "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task."); phase(w, t + 6, KUBERAY, "RayJob", n, jobStatus="FAILED", jobDeploymentStatus="Failed", message="Job entrypoint command failed with exit code 1", reason="AppFailed")
        wipe("RayJob", n, ps, [("RayCluster", cl)])
    elif kind == "StatefulSet":
        name = n; ps, _ = deployment(w, n, 3, nodes, "StatefulSet"); [steps(w, p, 16, t, every=60, rank=i) for i, p in enumerate(ps)]
        for k in range(4):
            at = t - 400 + 100 * k
            if e == "exit": w.log(at, ps[1], TRACE + "ValueError: bad crop"); restart(w, at, ps[1], 1, n=k + 1, wait=25)
            else: w.at(at - 1, lambda at=at: memcg_oom(w, at, ps[1])); restart(w, at, ps[1], 137, "OOMKilled", n=k + 1, wait=25)
        kl(w, t - 280, ps[1], "BackOff", f"Back-off restarting failed container trainer in pod {ps[1].name}_{w.ns}", warn=True, count=9, until=t - 60, field="spec.containers{trainer}"); wipe("StatefulSet", n, ps)
    else:
        name = n; op, names, labels = ROOTS[kind]; custom(w, 0, kind, n, ALICE, {}, {"phase": "Running"} if kind == "Workflow" else {"state": {"phase": "Running"}}); ps = [make_pod(w, 0.5, x, nodes[i], by=op, of=(kind, n), labels=labels(n), generate=False) for i, x in enumerate(names(n))]; [steps(w, p, 10, t, every=60, rank=i) for i, p in enumerate(ps)]
        ph = lambda at, ok: phase(w, at, op, kind, n, **({"phase": "Succeeded" if ok else "Failed", "message": "" if ok else f"child '{ps[1].name}' failed"} if kind == "Workflow" else {"state": {"phase": "Completed" if ok else "Failed"}}))
        if e == "done": [w.at(t - 0.5, lambda p=p: exit_pod(w, t, p, 0)) for p in ps]; ph(t + 1, True)
        else: end(ps[1]); [delete_pod(w, t + 1, op, p) for p in (ps[0], ps[2])] if kind == "VolcanoJob" else None; ph(t + 4, False); kind == "Workflow" and w.event(t + 4, "workflow-controller", kind, n, w.ns, "WorkflowFailed", f"child '{ps[1].name}' failed", warn=True)
        wipe(kind, n, ps)
    idle(w, t + g + 12); r = {"exit": lambda: T(CODE, (), "AG", ""), "oom": lambda: T("code.host_oom", (), "AG", ""), "done": lambda: T(OK_DONE, (), "A", "")}[e](); r.never, r.never_cause = ("bob@",), DELETED; r.weak = GONE + CODE + ("code.host_oom",); r.meta_ok = kind in ("PyTorchJob", "RayJob", "StatefulSet") or (kind == "Workflow" and e != "done"); return name, r


@fam("deaf", " ".join(f"{e}+{s}" for e in ENDERS + ("teardown",) for s in ("steps", "raises", "quiet")))
def deaf(w, twin):
    """The program does not hear SIGTERM: it trains on through its grace of 30 s (or fails of its own within it), then it is killed."""
    how, s = twin.split("+"); j, nodes, t = gang(w, run=w.rng.randrange(1200, 3000)); v, nd = j.pods[0], nodes[0]; o = j.pods[1]; code = 1 if s == "raises" else 137; took = 20 if s == "raises" else 30.2
    if how == "drain": cordon(w, t - 2, BOB, nd); w.api(t, BOB, "create", "Pod", v.name, v.ns, sub="eviction")
    elif how == "ca": w.event(t - 1, "cluster-autoscaler", "Node", nd, None, "ScaleDown", "marked the node as toBeDeleted/unschedulable"); taint(w, t - 1, CA, nd, "ToBeDeletedByClusterAutoscaler", "NoSchedule", "1759"); w.api(t, CA, "create", "Pod", v.name, v.ns, sub="eviction"); w.event(t + 0.05, "cluster-autoscaler", "Pod", v.name, v.ns, "ScaleDown", "deleting pod for node scale down")
    elif how == "delpod": w.api(t, BOB, "delete", "Pod", v.name, v.ns)
    elif how == "deljob": w.api(t, BOB, "delete", "Job", j.name, w.ns); [(finalizer(w, t + 0.1, p), w.at(t + 0.15, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns))) for p in j.pods]; stop(w, t + 0.3, o)
    elif how == "preempt": w.condition(t - 0.05, SCHED, "Pod", v.name, v.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"); w.api(t, SCHED, "delete", "Pod", v.name, v.ns); w.event(t + 0.03, "default-scheduler", "Pod", v.name, v.ns, "Preempted", f"Preempted by pod {uid_of(w.seed, 'h')} on node {nd}", new=True)
    elif how == "taint": taint(w, t - 0.5, BOB, nd, "maintenance", "NoExecute", "rack7"); w.event(t - 0.1, "taint-eviction-controller", "Pod", v.name, v.ns, "TaintManagerEviction", f"Marking for deletion Pod {v.ns}/{v.name}", uid=False); w.condition(t - 0.05, NODEC, "Pod", v.name, v.ns, "DisruptionTarget", "True", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"); w.api(t, NODEC, "delete", "Pod", v.name, v.ns)
    else: raise_(w, t - 1, o, "KeyError: 'lr'"); w.condition(t - 0.3, JOBC, "Job", j.name, j.ns, "FailureTarget", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit"); finalizer(w, t - 0.2, o); w.api(t, JOBC, "delete", "Pod", v.name, v.ns); w.event(t + 0.05, "job-controller", "Job", j.name, j.ns, "SuccessfulDelete", f"Deleted pod: {v.name}")
    kl(w, t + 0.2, v, "Killing", "Stopping container trainer", field="spec.containers{trainer}")
    if s == "steps": steps(w, v, t, t + 29, every=4, start=5000)
    if s == "raises": steps(w, v, t, t + 18, every=4, start=5000); w.log(t + 20, v, TRACE + ("torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error" if how in ("deljob", "teardown") else "RuntimeError: DataLoader worker (pid 812) is killed by signal: Terminated."))
    set_state(w, t + took, v, "trainer", ended(w, v, t + took, code), phase="Failed"); finalizer(w, t + took + 0.2, v); w.at(t + took + 0.4, lambda: w.get("Pod", v.name, v.ns) and w._do(kubelet(nd), "delete", "Pod", v.name, v.ns, grace=0))
    if how not in ("deljob", "teardown"): j.fail(t + took + 1, None, rest=[o])
    if how == "teardown": w.condition(t + took + 1, JOBC, "Job", j.name, j.ns, "Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit", failed=2); w.event(t + took + 1, "job-controller", "Job", j.name, j.ns, "BackoffLimitExceeded", "Job has reached the specified backoff limit", warn=True); r = tcode(); r.first = [o.name]; r.never_cause = ("code.host_oom",) + DELETED; return j.name, r
    bad = CODE + ("code.host_oom", "code.data_loader", "dep.network", "hang.collective_timeout")
    r = {"drain": tdrain, "taint": tdrain, "delpod": tdel, "deljob": tdel}.get(how, lambda: T("sched.preempted", (), "AEW", "", weak=GONE) if how == "preempt" else T(SCALED, ["autoscaler"], "AEW", "AEW", weak=DRAINED + GONE))(); r.never_cause = bad; r.weak += bad; r.first = [v.name]; return j.name, r


@fam("budget", " ".join(f"{a}+{b}" for a in ("exit", "oom", "drain", "preempt", "lost") for b in ("exit", "oom", "drain", "runs", "done")))
def budget(w, twin):
    """An indexed Job of three: index 1 ends and is made anew, the others waited for it; later index 2 ends and that is one too many."""
    a, b = twin.split("+"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(4)]; t = w.rng.randrange(900, 1500); j = Job(w, 0, run_name(w), nodes[:3], backoff=1); p0, p1, p2 = j.pods; e = t + 360 + w.rng.randrange(600, 1200)
    for i, p in enumerate(j.pods): steps(w, p, 10, t, every=60, rank=i)
    over = try_end(a, w, j, p1, nodes[1], t, CAROL); finalizer(w, over, p1); w.at(over + 9.9, lambda: None); q = j.pod(over + 10, 1, nodes[3]); w.event(over + 11, "job-controller", "Job", j.name, j.ns, "SuccessfulCreate", f"Created pod: {q.name}"); w.at(over + 10.5, lambda: [steps(w, p, over + 30, e, every=30, rank=i, start=2000) for i, p in enumerate((p0, q, p2))])
    if b == "runs": idle(w, e); r = truns()
    elif b == "done": w.at(e - 1, lambda: (setattr(j, "pods", [p0, q, p2]), j.complete(e))); idle(w, e + 3); r = tdone()
    else: w.at(e - 3, lambda: None); over = try_end(b, w, j, p2, nodes[2], e); j.fail(over - 1, p2, rest=[p0, q]); r = RIGHT[b](); r.first = [p2.name]
    r.also += CAUSES.get(a, ()); r.never = tuple(r.never) + ("carol@",); r.never_cause = tuple(c for c in CAUSES[a] if c not in r.right); r.weak += ("unknown",) + r.never_cause; r.never_cause = (); return j.name, r


@fam("wfretry", "oom-retry-completes oom-retry-exit drain-retry-runs exit-thrice deleted-in-retry stop-in-retry pod-gc-completes")
def wfretry(w, twin):
    name = run_name(w, "wf"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; t = w.rng.randrange(900, 1500); custom(w, 0, "Workflow", name, ALICE, {"entrypoint": "train"}, {"phase": "Running"}); w.event(0.5, "workflow-controller", "Workflow", name, w.ns, "WorkflowRunning", "Workflow Running")
    mk = lambda at, i, nd, until=None: (lambda p: (steps(w, p, at + 8, until, every=30) if until else None, p)[1])(make_pod(w, at, f"{name}-train-{10**8 + i}", nd, by=ARGO, of=("Workflow", name), labels={"workflows.argoproj.io/workflow": name}, spec=template(("wait", "trainer")), generate=False))
    fin = lambda at, msg, ph: (phase(w, at, ARGO, "Workflow", name, phase=ph, message=msg, finishedAt=w.ts(at)), w.event(at + 0.1, "workflow-controller", "Workflow", name, w.ns, "Workflow" + ph, msg, warn=ph == "Failed"))
    node_ev = lambda at, p, msg: w.event(at, "workflow-controller", "Workflow", name, w.ns, "WorkflowNodeFailed", f"Failed node {name}.train({p}): {msg}", warn=True)
    a = mk(1, 0, nodes[0], t); e = t + 700
    if twin in ("oom-retry-completes", "oom-retry-exit"):
        w.at(t - 1, lambda: memcg_oom(w, t, a)); exit_pod(w, t + 0.1, a, 137, "OOMKilled"); node_ev(t + 2, 0, "OOMKilled (exit code 137)"); w.at(t + 9.9, lambda: None); b = mk(t + 10, 1, nodes[1], e); w.at(e - 1, lambda: None)
        if twin.endswith("completes"): w.at(e - 0.5, lambda: exit_pod(w, e, b, 0)); fin(e + 2, "", "Succeeded"); return name, tdone(also=("code.host_oom",))
        w.at(e - 0.5, lambda: raise_(w, e, b)); node_ev(e + 2, 1, "Error (exit code 1)"); fin(e + 2, "No more retries left", "Failed"); return name, tcode(weak=("code.host_oom",), also=("code.host_oom",))
    if twin == "drain-retry-runs": cordon(w, t - 2, BOB, nodes[0]); evict(w, t, BOB, a); node_ev(t + 4, 0, "pod deleted"); w.at(t + 9.9, lambda: None); mk(t + 10, 1, nodes[1], e); idle(w, e); return name, truns(weak=DRAINED + GONE, also=DRAINED + DELETED)
    if twin == "exit-thrice":
        at, p = t, a
        for k in range(3):
            w.at(at - 0.5, lambda at=at, p=p: raise_(w, at, p)); node_ev(at + 2, k, "Error (exit code 1)")
            if k < 2: w.at(at + 9.9, lambda: None); p = mk(at + 10, k + 1, nodes[k % 2], at + 200); at += 200
        fin(at + 2, "No more retries left", "Failed"); return name, tcode()
    raise_(w, t, a); node_ev(t + 2, 0, "Error (exit code 1)"); w.at(t + 9.9, lambda: None); b = mk(t + 10, 1, nodes[1], e)
    if twin == "deleted-in-retry": w.api(e, BOB, "delete", "Workflow", name, w.ns); [(w.at(e + 0.3, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns))) for p in (a, b)]; stop(w, e + 0.4, b); return name, tdel(weak=CODE, also=CODE, never=["argo:argo", "garbage"])
    if twin == "stop-in-retry": w.api(e, person("bob@lab.example", "argo/v3.6.4 argo-cli"), "patch", "Workflow", name, w.ns, change=lambda o: o["spec"].update(shutdown="Terminate"), request={"spec": {"shutdown": "Terminate"}}); w.at(e + 1, lambda: exit_pod(w, e + 2, b, 137)); fin(e + 4, "Stopped with strategy 'Terminate'", "Failed"); return name, T(DELETED, ["bob@"], "A", "A", weak=GONE + CODE, also=CODE, never=["argo:argo"], unseen=CODE)
    w.at(e - 0.5, lambda: exit_pod(w, e, b, 0)); fin(e + 2, "", "Succeeded"); [w.at(e + 5, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(ARGO, "delete", "Pod", p.name, p.ns)) for p in (a, b)]; return name, tdone(also=CODE, weak=CODE)


@fam("cron2", "history-cleans-old forbid-then-exit new-runs-old-failed new-done-old-oom suspended-then-exit replace-ask-new manual-job-from-cron")
def cron2(w, twin):
    cj = run_name(w, "nightly"); custom(w, -0.3, "CronJob", cj, ALICE, {"schedule": "0 * * * *", "concurrencyPolicy": "Replace" if "replace" in twin else "Forbid", "failedJobsHistoryLimit": 1, "suspend": False}); nd = node(w, f"gpu-{w.suffix(4)}")
    def run(t, i, d): j = Job(w, t, f"{cj}-{29000000 + i}", [nd], by=CRONC, of=("CronJob", cj)); w.event(t, "cronjob-controller", "CronJob", cj, w.ns, "SuccessfulCreate", f"Created job {j.name}"); steps(w, j.pods[0], t + 8, t + d, every=30); return j
    a = run(0, 0, 900); va = a.pods[0]
    saw = lambda t, j, ok: w.event(t, "cronjob-controller", "CronJob", cj, w.ns, "SawCompletedJob", f"Saw completed job: {j.name}, condition: {'Complete' if ok else 'Failed'}")
    if twin == "history-cleans-old":
        raised(w, 900, a, va); saw(905, a, False); w.at(1799, lambda: None); b = run(1800, 60, 600); w.at(2399, lambda: (raise_(w, 2400, b.pods[0], "KeyError: 'lr'"), b.fail(2401, b.pods[0]))); saw(2405, b, False); w.at(2406, lambda: w.get("Job", a.name, w.ns) and w._do(CRONC, "delete", "Job", a.name, w.ns)); w.event(2406, "cronjob-controller", "CronJob", cj, w.ns, "SuccessfulDelete", f"Deleted job {a.name}"); w.at(2406.4, lambda: w.get("Pod", va.name, w.ns) and w._do(GC, "delete", "Pod", va.name, w.ns)); return a.name, T(CODE, (), "WAG", "", weak=GONE, never=["cronjob", "garbage"], never_cause=DELETED)
    if twin == "forbid-then-exit": w.event(600, "cronjob-controller", "CronJob", cj, w.ns, "JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid"); raised(w, 900, a, va); saw(905, a, False); return cj, tcode()
    if twin == "new-runs-old-failed": raised(w, 900, a, va); saw(905, a, False); w.at(1799, lambda: None); b = run(1800, 60, 600); idle(w, 2400); return cj, truns(weak=CODE, also=CODE)
    if twin == "new-done-old-oom": w.at(899, lambda: memcg_oom(w, 900, va)); exit_pod(w, 900.1, va, 137, "OOMKilled"); a.fail(901, va); saw(905, a, False); w.at(1799, lambda: None); b = run(1800, 60, 600); w.at(2399, lambda: b.complete(2400)); saw(2405, b, True); return cj, tdone(weak=("code.host_oom",), also=("code.host_oom",))
    if twin == "suspended-then-exit": w.api(700, BOB, "patch", "CronJob", cj, w.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}}); raised(w, 900, a, va); saw(905, a, False); return cj, tcode(never=["bob@"], weak=("ops.config_change", "unknown"))
    if twin == "replace-ask-new": a.delete(600, CRONC); w.event(600, "cronjob-controller", "CronJob", cj, w.ns, "SuccessfulDelete", f"Deleted job {a.name}"); w.at(600.9, lambda: None); b = run(601, 60, 600); w.at(1199, lambda: memcg_oom(w, 1200, b.pods[0])); exit_pod(w, 1200.1, b.pods[0], 137, "OOMKilled"); b.fail(1201, b.pods[0]); return cj, toom(also=DELETED + ("ops.config_change",), weak=("unknown",))
    raised(w, 900, a, va); saw(905, a, False); m = f"{cj}-manual-1"; w.at(999, lambda: None); b = Job(w, 1000, m, [nd], of=("CronJob", cj), who=BOB); steps(w, b.pods[0], 1010, 1500, every=30); w.at(1499, lambda: b.complete(1500)); return m, tdone(never_cause=CODE)


@fam("pulls", "long-pull-deleted long-pull-then-exit restart-image-gone restart-secret-gone mount-slow-then-oom created-deleted-at-once pull-retry-then-drain wrong-arch")
def pulls(w, twin):
    nd = node(w, "gpu-" + w.suffix(4)); on = twin.startswith("restart"); j = Job(w, 0, run_name(w), [], spec=template(restart="OnFailure" if on else "Never"), backoff=6 if on else 0); f = "spec.containers{trainer}"
    if twin == "created-deleted-at-once": p = j.pod(0.5, 0, nd, starts=False); p.start = 3; j.pods = [p]; bind(w, 1, p); set_state(w, 1.6, p, "trainer", {"waiting": {"reason": "ContainerCreating"}}, phase="Pending"); w.api(2.2, ALICE, "delete", "Job", j.name, w.ns); finalizer(w, 2.3, p); w.at(2.4, lambda: w.get("Pod", p.name, w.ns) and w._do(GC, "delete", "Pod", p.name, w.ns)); w.at(4, lambda: w.get("Pod", p.name, w.ns) and w._do(kubelet(nd), "delete", "Pod", p.name, w.ns, grace=0)); idle(w, 30); return j.name, tdel("alice@", weak=OK_RUN)
    p = j.pod(0.5, 0, nd, starts=on); p.start = 3; j.pods = [p]; t = w.rng.randrange(1500, 2600)
    if on:
        steps(w, p, 10, t, every=30); last = ended(w, p, t, 137, "OOMKilled"); w.at(t - 1, lambda: memcg_oom(w, t, p))
        if twin == "restart-image-gone": st = {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "registry.lab.example/train:1.4.2": ErrImagePull: not found'}}; m, rs = 'Failed to pull image "registry.lab.example/train:1.4.2": rpc error: code = NotFound desc = failed to pull and unpack image "registry.lab.example/train:1.4.2": not found', "dep.image_pull"
        else: st = {"waiting": {"reason": "CreateContainerConfigError", "message": 'secret "s3-creds" not found'}}; m, rs = 'Error: secret "s3-creds" not found', "dep.secret_or_config"
        w.at(t, lambda: set_state(w, t + 0.3, p, "trainer", st, restarts=1, last=ended(w, p, t, 137, "OOMKilled"), phase="Running")); kl(w, t + 3, p, "Failed", m, warn=True, count=12, until=t + 590, field=f); idle(w, t + 600); return j.name, T(("code.host_oom", rs), (), "LEWAG", "", weak=("unknown",), also=("code.host_oom", rs))
    bind(w, 1, p); set_state(w, 2, p, "trainer", {"waiting": {"reason": "ContainerCreating"}}, phase="Pending"); kl(w, 2, p, "Pulling", 'Pulling image "registry.lab.example/train:1.4.2"', field=f) if "mount" not in twin else kl(w, 5, p, "FailedMount", 'MountVolume.SetUp failed for volume "data" : rpc error: code = DeadlineExceeded desc = context deadline exceeded', warn=True, count=3, until=300)
    if twin == "long-pull-deleted": j.delete(500, BOB, live=False); w.at(502, lambda: w.get("Pod", p.name, w.ns) and w._do(kubelet(nd), "delete", "Pod", p.name, w.ns, grace=0)); idle(w, 530); return j.name, tdel(never_cause=["dep.image_pull"], weak=("dep.image_pull",))
    if twin == "wrong-arch": kl(w, 60, p, "Failed", 'Failed to pull image "registry.lab.example/train:1.4.2": rpc error: code = NotFound desc = failed to pull and unpack image "registry.lab.example/train:1.4.2": no match for platform in manifest: not found', warn=True, count=9, until=590, field=f); w.at(61, lambda: set_state(w, 62, p, "trainer", {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}, phase="Pending")); idle(w, 600); return j.name, T(("dep.image_pull", "code.config_or_input"), (), "LEWA", "")
    if twin == "pull-retry-then-drain": kl(w, 60, p, "Failed", 'Failed to pull image "registry.lab.example/train:1.4.2": rpc error: code = Unknown desc = failed to pull and unpack image: failed to copy: httpReadSeeker: failed open: unexpected status code 503 Service Unavailable', warn=True, count=3, until=180, field=f)
    w.at(400, lambda: start(w, 400, p)); w.at(401, lambda: steps(w, p, 410, t, every=30)); w.at(t - 3, lambda: None)
    if twin == "mount-slow-then-oom": w.at(t - 1, lambda: memcg_oom(w, t, p)); exit_pod(w, t + 0.1, p, 137, "OOMKilled"); j.fail(t + 1, p); return j.name, toom(never_cause=["dep.volume"])
    if twin == "pull-retry-then-drain": cordon(w, t - 2, BOB, nd); evict(w, t, BOB, p); j.fail(t + 2.6, p); return j.name, tdrain(never_cause=["dep.image_pull"])
    raised(w, t, j, p); return j.name, tcode(never_cause=["dep.image_pull"])


@fam("ctl", "kcm-restart-then-exit sched-restart-then-drain cni-restart-then-oom kubelet-config-then-delete coredns-rollout-exit volcano-drained-restarts-runs scaledjob-rollout notebook-culled exec-pkill-train quota-after-drain-pt")
def ctl(w, twin):
    if twin == "notebook-culled":
        name = run_name(w, "nb"); nodes = [node(w, "gpu-" + w.suffix(4))]; CUL = JAN["culler"]; pods, _ = deployment(w, name, 1, nodes, "StatefulSet", who=CUL); custom(w, -0.2, "Notebook", name, ALICE, {}, {}); p = pods[0]; t = w.rng.randrange(1500, 2600); steps(w, p, 12, t, every=60); w.api(t, CUL, "patch", "Notebook", name, w.ns, change=lambda o: o["metadata"].setdefault("annotations", {}).update({"kubeflow-resource-stopped": w.ts(t)}), request={"metadata": {"annotations": {"kubeflow-resource-stopped": "now"}}}); scale(w, t + 0.3, CUL, "StatefulSet", name, None, pods); idle(w, t + 20); return f"StatefulSet/{w.ns}/{name}", T(SCALED + DELETED + ("ops.config_change",), ["notebook-controller"], "A", "A", weak=SCALED + GONE + ("ops.config_change",), never=["alice@", "statefulset-controller"])
    if twin == "scaledjob-rollout":
        sj = run_name(w, "sj"); KEDA = sa("keda", "keda-operator", "keda/v2.17.0"); custom(w, -0.2, "ScaledJob", sj, ALICE, {"rolloutStrategy": "default", "maxReplicaCount": 5}); nd = node(w, "gpu-" + w.suffix(4)); t = w.rng.randrange(1500, 2600); j = Job(w, 0, f"{sj}-x7k2p", [nd], by=KEDA, of=("ScaledJob", sj)); steps(w, j.pods[0], 10, t, every=60); w.api(t, BOB, "patch", "ScaledJob", sj, w.ns, change=lambda o: o["spec"].update(maxReplicaCount=2), request={"spec": {"maxReplicaCount": 2}}); j.delete(t + 0.5, KEDA); idle(w, t + 20); return j.name, T(DELETED + ("ops.config_change", "ops.scale_down"), ["keda", "bob@"], "AM", "AM", weak=GONE + ("ops.config_change",), never=["garbage"])
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 2600)) if not twin.startswith(("volcano", "quota-after")) else (None, [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)], w.rng.randrange(1500, 2600)); v, nd = (j.pods[0], nodes[0]) if j else (None, nodes[0])
    if twin == "kcm-restart-then-exit": w.event(t - 20, "kube-controller-manager", "Lease", "kube-controller-manager", "kube-system", "LeaderElection", "cp-2_7d became leader"); raised(w, t, j, v); return j.name, tcode()
    if twin == "sched-restart-then-drain": w.event(t - 20, "default-scheduler", "Lease", "kube-scheduler", "kube-system", "LeaderElection", "cp-2_7d became leader"); cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v); return j.name, tdrain()
    if twin == "cni-restart-then-oom": ready(w, t - 120, nd, False, "KubeletNotReady", "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"); ready(w, t - 90, nd, True, "KubeletReady", "kubelet is posting ready status"); steps(w, v, t - 85, t, every=10, start=5000); w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return j.name, toom(never_cause=["node.not_ready", "dep.network"])
    if twin == "kubelet-config-then-delete": w.event(t - 15, "kubelet", "Node", nd, None, "Starting", "Starting kubelet.", host=nd); w.event(t - 14, "kubelet", "Node", nd, None, "NodeReady", f"Node {nd} status is now: NodeReady", host=nd); j.delete(t, BOB); return j.name, tdel()
    if twin == "coredns-rollout-exit": w.ns, ns = "kube-system", w.ns; w.at(-0.3, lambda: None); w.ns = ns; w.log(t, v, TRACE + "socket.gaierror: [Errno -3] Temporary failure in name resolution"); exit_pod(w, t, v, 1); j.fail(t + 1, v); return j.name, T(("dep.dns",) + CODE, (), "LWAG", "")
    if twin == "exec-pkill-train": plain(w, t, BOB, "create", "Pod", v.name, v.ns, sub="exec", uri="?command=pkill&command=-f&command=train.py&container=trainer&stderr=true&stdout=true", code=101); exit_pod(w, t + 0.5, v, 143); j.fail(t + 1.5, v); return j.name, T(DELETED + ("unknown",), ["bob@"], "", "", weak=DELETED + CODE, never_cause=list(CODE) + ["code.host_oom"])
    if twin == "volcano-drained-restarts-runs":
        name = run_name(w, "vc"); custom(w, 0, "VolcanoJob", name, ALICE, {"minAvailable": 2, "policies": [{"event": "PodEvicted", "action": "RestartJob"}], "tasks": [{"name": "w", "replicas": 2}]}, {"state": {"phase": "Running"}}); mk = lambda at, nds: [make_pod(w, at, f"{name}-w-{i}", nds[i], by=VCCTL, of=("VolcanoJob", name), labels={"volcano.sh/job-name": name}, generate=False) for i in range(2)]
        ps = mk(0.5, nodes); [steps(w, p, 10, t, every=60, rank=i) for i, p in enumerate(ps)]; cordon(w, t - 2, BOB, nodes[0]); evict(w, t, BOB, ps[0]); w.event(t + 3, "vc-controller-manager", "VolcanoJob", name, w.ns, "ExecuteAction", "Start to execute action RestartJob "); delete_pod(w, t + 3.2, VCCTL, ps[1]); phase(w, t + 6, VCCTL, "VolcanoJob", name, state={"phase": "Restarting"}, retryCount=1); w.at(t + 9.9, lambda: None); qs = mk(t + 10, nodes[1:]); [steps(w, p, t + 20, t + 700, every=60, rank=i) for i, p in enumerate(qs)]; phase(w, t + 14, VCCTL, "VolcanoJob", name, state={"phase": "Running"}); idle(w, t + 700); return name, truns(weak=DRAINED + GONE, also=DRAINED + DELETED)
    name, ps = pytorch(w, 2, nodes, run=t, restart="OnFailure"); cordon(w, t - 2, BOB, nodes[1]); evict(w, t, BOB, ps[1]); w.event(t + 5, "pytorchjob-controller", "PyTorchJob", name, w.ns, "FailedCreatePod", f'Error creating: pods "{name}-worker-0" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=32, limited: requests.nvidia.com/gpu=32', warn=True, count=12, until=t + 590); idle(w, t + 600); return name, T(DRAINED + ("sched.quota",), (), "LEWA", "", weak=DRAINED + DELETED + ("unknown", "sched.quota") + OK_RUN, never_cause=OK_RUN)
