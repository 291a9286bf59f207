"""Two clusters side by side, gangs of bare pods by other names, JSON logs, the last words of other roots."""

from f8 import *


@fam("clusters", " ".join(f"{o}+{m}" for o in ("lost", "drained", "deleted", "rebooted", "xid", "ca") for m in ("runs", "exit", "done", "oom", "delete")))
def clusters(w, twin):
    """Our run is in one cluster; another cluster has a machine of the same name, to which something happens at that time."""
    o, m = twin.split("+"); b = World(w.seed + 7); b.base, b.ns = w.base, w.ns; nds = ["gpu-01", "gpu-02"]
    for x in (w, b):
        [node(x, n, who="none") for n in nds]; uid = uid_of(x.seed, "kube-system"); x.at(-0.9, lambda x=x, uid=uid: x.objs.__setitem__(("Namespace", None, "kube-system"), {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "kube-system", "uid": uid, "creationTimestamp": x.ts(-9000000)}, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}))
    j, _, t = gang(w, nodes=nds, run=w.rng.randrange(1500, 2600)); v = j.pods[0]; k = Job(b, 3, run_name(b, "else"), nds[:1]); u = k.pods[0]; at = t - (60 if o == "lost" else 20); steps(b, u, 10, at, every=30)
    if o == "lost": lost_pod(b, at - 20, "gpu-01", u, evicted=False)
    if o == "drained": cordon(b, at - 2, CAROL, "gpu-01"); evict(b, at, CAROL, u); k.fail(at + 3, u)
    if o == "deleted": delete_node(b, at, CAROL, "gpu-01")
    if o == "rebooted": b.event(at, "kubelet", "Node", "gpu-01", None, "Rebooted", f"Node gpu-01 has been rebooted, boot id: {uid_of(b.seed, 'b2')}", warn=True, host="gpu-01"); b.api(at, kubelet("gpu-01"), "patch", "Node", "gpu-01", sub="status", change=lambda x: x["status"]["nodeInfo"].update(bootID=uid_of(b.seed, "b2")))
    if o == "xid": b.kernel(at, "gpu-01", "NVRM: Xid (PCI:0000:4e:00): 79, pid=8213, name=python, GPU has fallen off the bus."); b.log(at, u, TRACE + "RuntimeError: CUDA error: unspecified launch failure"); exit_pod(b, at + 1, u, 1); k.fail(at + 2, u)
    if o == "ca": ca_remove(b, at, "gpu-01", [u]); k.fail(at + 4, u)
    if m == "runs": steps(w, v, t, t + 60, every=10); idle(w, t + 60); r = truns()
    if m == "exit": raised(w, t, j, v); r = tcode()
    if m == "oom": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); r = toom()
    if m == "done": j.complete(t); r = tdone()
    if m == "delete": j.delete(t, BOB); r = tdel()
    idle(b, t + 60); w.after = lambda: (b.play(), setattr(b, "last", max(b.last, w.last)), setattr(w, "last", max(b.last, w.last))); w.beside = b
    r.never = tuple(r.never) + ("carol@", "autoscaler"); r.never_cause = ("node.not_ready", "node.reboot", "hw.gpu", "cloud.instance_terminated") + DRAINED + SCALED + (() if m == "delete" else DELETED); r.weak += ("unknown",); return j.name, r


clusters.mixes = ["L", "LE", "LEG", "A", "LA", "LEAG", "LEM", "EA", "E"]


GANGS = {"stem": (lambda n, i: f"{n}-{i}", lambda n, i: {}), "label-job": (lambda n, i: f"{n}-rank{i}", lambda n, i: {"experiment": n}), "app-name": (lambda n, i: f"{n}-worker-{i}", lambda n, i: {"app.kubernetes.io/name": n, "rank": str(i)}), "master-worker": (lambda n, i: f"{n}-master" if i == 0 else f"{n}-worker-{i - 1}", lambda n, i: {"app": n}), "sky": (lambda n, i: f"{n}-2ea4-{'head' if i == 0 else 'worker' + str(i)}", lambda n, i: {"skypilot-cluster": n, "parent": "skypilot"})}


@fam("baregang", " ".join(f"{g}+{e}" for g in GANGS for e in ("exit", "oom", "drain", "deleted-all", "runs", "done")))
def baregang(w, twin):
    """Bare pods that are one gang: rank 1 ends, the others give up waiting, the owner clears all away a minute later."""
    g, e = twin.split("+"); names, labels = GANGS[g]; n = run_name(w); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; t = w.rng.randrange(1500, 2600); ps = [make_pod(w, 0.5, names(n, i), nodes[i], by=ALICE, labels=labels(n, i), generate=False) for i in range(3)]; v = ps[1]; rest = [ps[0], ps[2]]; [steps(w, p, 8, t, every=30, rank=i) for i, p in enumerate(ps)]
    if e == "runs": [steps(w, p, t, t + 60) for p in ps]; idle(w, t + 60); return n, truns()
    if e == "done": [w.at(t - 0.2, lambda p=p: exit_pod(w, t, p, 0)) for p in ps]; idle(w, t + 30); return n, tdone()
    if e == "deleted-all": [delete_pod(w, t + 0.1 * i, BOB, p) for i, p in enumerate(ps)]; idle(w, t + 20); return n, tdel()
    if e == "exit": raise_(w, t, v); r = tcode(seen="WAG")
    if e == "oom": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); r = T("code.host_oom", (), "WAG", "")
    if e == "drain": cordon(w, t - 2, BOB, nodes[1]); evict(w, t, BOB, v); r = tdrain()
    [nccl_gone(w, t + 6 + i, p, ps.index(p)) for i, p in enumerate(rest)]
    for p in ps: w.at(t + 70, lambda p=p: w.get("Pod", p.name, w.ns) and w._do(ALICE, "delete", "Pod", p.name, w.ns))
    idle(w, t + 90); r.weak += CODE + COLL + GONE; r.never = ("alice@",); r.never_cause = DELETED if e != "drain" else (); r.first = [v.name]; return n, r


JL = {"structlog": lambda lv, ev, **k: json.dumps({"event": ev, "level": lv, "timestamp": "2026-10-05T10:00:00Z"} | k), "bunyan": lambda lv, ev, **k: json.dumps({"level": {"info": 30, "error": 50, "fatal": 60}[lv], "msg": ev, "name": "train"} | k), "gcp": lambda lv, ev, **k: json.dumps({"severity": lv.upper(), "message": ev + ("\n" + k.pop("exception") if "exception" in k else "")} | k), "logfmt": lambda lv, ev, **k: f'ts=2026-10-05T10:00:00Z level={lv} msg="{ev}" ' + " ".join(f'{a}="{str(b).strip().splitlines()[-1]}"' for a, b in k.items())}


@fam("jsonlog", " ".join(f"{s}+{e}" for s in JL for e in ("caught-then-delete", "caught-then-exit", "final", "info-quote-then-oom", "caught-then-runs", "caught-then-lost")))
def jsonlog(w, twin):
    s, e = twin.split("+"); f = JL[s]; j, nodes, t = gang(w, run=30); t = w.rng.randrange(1500, 2600); v, nd = j.pods[0], nodes[0]
    for p in j.pods: [w.log(k, p, f("info", "train step", step=k, loss=2.3)) for k in range(40, t, 10) if not t - 95 < k < t - 84]
    if "caught" in e: w.log(t - 90, v, f("error", "batch failed, skipped", exception=CAUGHT))
    if e == "info-quote-then-oom": w.log(t - 90, v, f("info", "retrying after torch.OutOfMemoryError: CUDA out of memory")); w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return j.name, toom(never_cause=["code.cuda_oom"])
    if e == "caught-then-delete": j.delete(t, BOB); return j.name, tdel(never_cause=("code.cuda_oom",) + CODE)
    if e == "caught-then-runs": idle(w, t); return j.name, truns(never_cause=("code.cuda_oom",) + CODE)
    if e == "caught-then-lost": lost_pod(w, t, nd, v); j.fail(t + 351, v); return j.name, tlost(never_cause=("code.cuda_oom",) + CODE)
    w.log(t, v, f("fatal", "training failed", exception=TRACE + "KeyError: 'mask'")); exit_pod(w, t, v, 1); j.fail(t + 1, v); return j.name, tcode(never_cause=["code.cuda_oom"])


@fam("lastword", " ".join(f"{k}+{e}" for k in ("RayJob", "Workflow", "TrainJob", "VolcanoJob", "SparkApplication") for e in ("failed-pods-run", "done-pods-run", "failed-then-lost", "failed-then-drained")))
def lastword(w, twin):
    """The root says its end while its pods stay; what befalls these later ended nothing."""
    GROUP.setdefault("SparkApplication", ("sparkapplications", "sparkoperator.k8s.io/v1beta2", True)); SPARK = sa("spark-operator", "spark-operator-controller", "spark-operator/v2.2.0")
    k, e = twin.split("+"); n = run_name(w); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; t = w.rng.randrange(1200, 2000); ok = e.startswith("done"); job = None
    if k == "RayJob": cl = n + "-a1"; custom(w, 0, k, n, ALICE, {"entrypoint": "x"}, {"jobStatus": "RUNNING", "jobDeploymentStatus": "Running", "rayClusterName": cl}); custom(w, 0.2, "RayCluster", cl, KUBERAY, {}, {"state": "ready"}, of=(k, n)); ps = [make_pod(w, 0.5, f"{cl}-{x}-{w.suffix()}", nodes[i], by=KUBERAY, of=("RayCluster", cl), labels={"ray.io/cluster": cl}, generate=False) for i, x in enumerate(("head", "gpu-worker"))]; phase(w, t + 2, KUBERAY, k, n, jobStatus="SUCCEEDED" if ok else "FAILED", jobDeploymentStatus="Complete" if ok else "Failed", message="" if ok else "Job entrypoint command failed with exit code 1, last available logs (truncated to 20,000 chars):\nValueError: bad crop")
    elif k == "Workflow": custom(w, 0, k, n, ALICE, {}, {"phase": "Running"}); ps = [make_pod(w, 0.5, f"{n}-train-{10**8 + i}", nodes[i], by=ARGO, of=(k, n), labels={"workflows.argoproj.io/workflow": n}, generate=False) for i in range(2)]; exit_pod(w, t, ps[0], 0 if ok else 1); phase(w, t + 2, ARGO, k, n, phase="Succeeded" if ok else "Failed", message="" if ok else "Error (exit code 1)")
    elif k == "VolcanoJob": custom(w, 0, k, n, ALICE, {"minAvailable": 1}, {"state": {"phase": "Running"}}); ps = [make_pod(w, 0.5, f"{n}-{x}-0", nodes[i], by=VCCTL, of=(k, n), labels={"volcano.sh/job-name": n}, generate=False) for i, x in enumerate(("w", "ps"))]; exit_pod(w, t, ps[0], 0 if ok else 1); phase(w, t + 2, VCCTL, k, n, state={"phase": "Completed" if ok else "Failed"})
    elif k == "SparkApplication": custom(w, 0, k, n, ALICE, {}, {"applicationState": {"state": "RUNNING"}}); ps = [make_pod(w, 0.5, f"{n}-{x}", nodes[i], by=SPARK, of=(k, n), labels={"sparkoperator.k8s.io/app-name": n}, generate=False) for i, x in enumerate(("driver", "exec-1"))]; exit_pod(w, t, ps[0], 0 if ok else 1); phase(w, t + 2, SPARK, k, n, applicationState={"state": "COMPLETED" if ok else "FAILED", "errorMessage": "" if ok else "driver container failed with ExitCode: 1, Reason: Error"})
    else:
        n, job = trainjob(w, nodes, t); ps = job.pods; exit_pod(w, t, ps[0], 0 if ok else 1); m = "jobset completed successfully" if ok else "jobset failed due to one or more job failures"; w.condition(t + 2, JOBSET, "JobSet", n, w.ns, "Completed" if ok else "Failed", "True", "AllJobsCompleted" if ok else "FailedJobs", m); w.condition(t + 2.5, TRAINER, "TrainJob", n, w.ns, "Complete" if ok else "Failed", "True", "AllJobsCompleted" if ok else "JobsFailed", m)
    [steps(w, p, 10, t, every=30, rank=i) for i, p in enumerate(ps) if job is None]; w.log(t, ps[0], "INFO training finished" if ok else TRACE + "ValueError: bad crop"); u = ps[1]
    if e.endswith("lost"): lost_pod(w, t + 200, nodes[1], u)
    if e.endswith("drained"): cordon(w, t + 198, CAROL, nodes[1]); evict(w, t + 200, CAROL, u)
    idle(w, t + 600); r = tdone() if ok else tcode(weak=("unknown",)); r.never = ("carol@",); r.never_cause = OK_RUN + DRAINED + ("node.not_ready",) if not (k == "RayJob" and e.endswith(("lost", "drained"))) else OK_RUN; r.seen = "LA" if ok else "LAG"; return n, r
