"""Runs of which a part is missing, roots that are being deleted, captures in the middle, one pod's many restarts, jobs beside jobs."""

from f10 import *

class Hold(str):
    """A node on which the pod is bound and never starts."""


_make, _pt = make_pod, pt_pod


def make_pod(w, t, name, nd, **k):
    if not isinstance(nd, Hold): return _make(w, t, name, nd, **k)
    p = _make(w, t, name, str(nd), starts=False, **k); p.start = t + 2; bind(w, t + 1, p); return p


def pt_pod(w, t, name, i, nd, *a, **k):
    if not isinstance(nd, Hold): return _pt(w, t, name, i, nd, *a, **k)
    p = _pt(w, t, name, i, str(nd), *a, starts=False, **k); p.start = t + 2; bind(w, t + 1, p); return p


PEND = "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod."
PK = ("PyTorchJob", "RayJob", "JobSet", "LeaderWorkerSet", "StatefulSet", "MPIJob", "VolcanoJob", "Deployment", "Workflow")


def root(w, k, n, nodes, t, members):
    """A root of kind k with the given members (a node each, or None for pending); gives its pods and the kind and name that own them."""
    if k == "PyTorchJob":
        custom(w, 0, k, n, ALICE, {"pytorchReplicaSpecs": {"Worker": {"replicas": len(members) - 1}, "Master": {"replicas": 1}}}, {"conditions": []}); return [pt_pod(w, 0.5, n, i, m) for i, m in enumerate(members)]
    if k == "RayJob":
        cl = n + "-a1"; custom(w, 0, k, n, ALICE, {"entrypoint": "x"}, {"jobStatus": "RUNNING", "jobDeploymentStatus": "Running", "rayClusterName": cl}); custom(w, 0.2, "RayCluster", cl, KUBERAY, {}, {"desiredWorkerReplicas": len(members) - 1}, of=(k, n)); return [make_pod(w, 0.5, f"{cl}-{'head' if i == 0 else 'gpu-worker'}-{w.suffix()}", m, by=KUBERAY, of=("RayCluster", cl), labels={"ray.io/cluster": cl}, generate=False) for i, m in enumerate(members)]
    if k == "JobSet":
        custom(w, 0, k, n, ALICE, {"replicatedJobs": [{"name": "w", "replicas": len(members)}]}, {}); return [Job(w, 0.3, f"{n}-w-{i}", [m], by=JOBSET, of=(k, n), labels={"jobset.sigs.k8s.io/jobset-name": n, "jobset.sigs.k8s.io/job-index": str(i)}).pods[0] for i, m in enumerate(members)]
    if k == "LeaderWorkerSet":
        custom(w, 0, k, n, ALICE, {"replicas": 1, "leaderWorkerTemplate": {"size": len(members)}}, {"replicas": 1, "readyReplicas": 0}); return [make_pod(w, 0.5, f"{n}-0" + (f"-{i}" if i else ""), m, by=LWSOP, of=(k, n), labels={"leaderworkerset.sigs.k8s.io/name": n, "leaderworkerset.sigs.k8s.io/worker-index": str(i)}, generate=False) for i, m in enumerate(members)]
    if k == "StatefulSet":
        custom(w, 0, k, n, ALICE, {"replicas": len(members), "selector": {"matchLabels": {"app": n}}, "template": {"metadata": {"labels": {"app": n}}, "spec": template()}}, {"replicas": len(members), "readyReplicas": sum(m is not None for m in members)}); return [make_pod(w, 0.5 + i, f"{n}-{i}", m, by=STSC, of=(k, n), labels={"app": n}, spec=template(restart="Always"), generate=False) for i, m in enumerate(members)]
    if k == "Deployment":
        rs = f"{n}-7d9f8"; custom(w, 0, k, n, ALICE, {"replicas": len(members), "selector": {"matchLabels": {"app": n}}, "template": {"metadata": {"labels": {"app": n}}, "spec": template()}}, {"replicas": len(members), "readyReplicas": sum(m is not None for m in members)}); custom(w, 0.1, "ReplicaSet", rs, DEPC, {"replicas": len(members)}, {"replicas": len(members)}, of=(k, n), labels={"app": n, "pod-template-hash": "7d9f8"}); return [make_pod(w, 0.5, f"{rs}-{w.suffix()}", m, by=RSC, of=("ReplicaSet", rs), labels={"app": n, "pod-template-hash": "7d9f8"}, spec=template(restart="Always")) for m in members]
    if k == "MPIJob":
        custom(w, 0, k, n, ALICE, {"slotsPerWorker": 8, "mpiReplicaSpecs": {"Worker": {"replicas": len(members)}}}, {}); return [make_pod(w, 0.5, f"{n}-worker-{i}", m, by=MPIOP, of=(k, n), labels={"training.kubeflow.org/job-name": n, "training.kubeflow.org/job-role": "worker"}, generate=False) for i, m in enumerate(members)]
    if k == "VolcanoJob":
        custom(w, 0, k, n, ALICE, {"minAvailable": len(members)}, {"state": {"phase": "Running"}}); return [make_pod(w, 0.5, f"{n}-w-{i}", m, by=VCCTL, of=(k, n), labels={"volcano.sh/job-name": n}, generate=False) for i, m in enumerate(members)]
    custom(w, 0, k, n, ALICE, {}, {"phase": "Running"}); return [make_pod(w, 0.5, f"{n}-train-{10**8 + i}", m, by=ARGO, of=(k, n), labels={"workflows.argoproj.io/workflow": n}, generate=False) for i, m in enumerate(members)]


@fam("partialrun", " ".join(f"{k}+{b}" for k in PK for b in ("pending", "image", "crash") if (k, b) != ("JobSet", "image")))
def partialrun(w, twin):
    """One member trains (or waits for the others), another has never started or keeps failing."""
    k, b = twin.split("+"); n = run_name(w); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(4)]; t = 900
    if b == "crash":
        ps = root(w, k, n, nodes, t, nodes[:3]); v = ps[1]; v.spec["restartPolicy"] = "OnFailure"
        for i in range(5): w.log(100 + 150 * i, v, TRACE + "FileNotFoundError: [Errno 2] No such file or directory: '/data/rank1.bin'"); restart(w, 100 + 150 * i, v, 1, n=i + 1, wait=40)
        kl(w, 300, v, "BackOff", f"Back-off restarting failed container trainer in pod {v.name}_{w.ns}({w.seed})", warn=True, count=14, until=850, field="spec.containers{trainer}"); set_state(w, 860, v, "trainer", {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 2m40s restarting failed container=trainer"}}, restarts=5, phase="Running"); w.log(20, ps[0], "waiting for 2 more workers at rendezvous"); idle(w, t); return n, T(CODE, (), "LEWAG", "", weak=("hang.rendezvous", "unknown"), never_cause=OK_RUN)
    ps = root(w, k, n, nodes, t, [nodes[0], None if b == "pending" else nodes[1], nodes[2]] if b == "pending" else [nodes[0], Hold(nodes[1]), nodes[3]]); v = ps[1]
    if b == "pending": unschedulable(w, 3, v, PEND, until=t)
    else:
        msg = 'Failed to pull image "registry.lab.example/train:1.4.2": rpc error: code = Unknown desc = failed to pull and unpack image: no space left on device'; kl(w, 5, v, "Failed", msg.replace("no space left on device", "not found"), warn=True, count=9, until=880, field="spec.containers{trainer}")
        set_state(w, 6.1, v, "trainer", {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "registry.lab.example/train:1.4.2": ErrImagePull: not found'}}, phase="Pending")
    w.log(20, ps[0], "waiting for 1 more workers at rendezvous"); idle(w, t); right = ("sched.unschedulable_capacity",) if b == "pending" else ("dep.image_pull",)
    return n, T(right, (), "LEWA", "", weak=("hang.rendezvous", "unknown") + OK_RUN, never_cause=OK_RUN if k not in ("Deployment", "Workflow") else ())


partialrun.mixes = ["L", "LE", "LEG", "A", "LA", "LEAG", "LEM", "E", "EA", "T", "X"]


@fam("deleting", " ".join(f"{k}+{m}" for k in PK for m in ("asked-just-now", "grace")))
def deleting(w, twin):
    """bob deletes the root in the foreground; captured when its pods still run, or end just now."""
    k, m = twin.split("+"); n = run_name(w); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; t = w.rng.randrange(1200, 2000); ps = root(w, k, n, nodes, t, nodes); [steps(w, p, 12, t, every=30, rank=i) for i, p in enumerate(ps)]
    w.at(t - 0.01, lambda: w.get(k, n, w.ns)["metadata"].update(finalizers=["foregroundDeletion"])); w.api(t, BOB, "delete", k, n, w.ns, request={"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/__internal", "propagationPolicy": "Foreground"})
    if m == "grace":
        if k == "JobSet": [w.at(t + 0.3, lambda i=i: (w.get("Job", f"{n}-w-{i}", w.ns)["metadata"].update(finalizers=["foregroundDeletion"]), w._do(GC, "delete", "Job", f"{n}-w-{i}", w.ns))) for i in range(3)]
        for p in ps: w.at(t + 0.6, lambda p=p: w.get("Pod", p.name, w.ns) and w._do(GC, "delete", "Pod", p.name, w.ns)); kl(w, t + 0.8, p, "Killing", "Stopping container trainer", field="spec.containers{trainer}")
        idle(w, t + 5)
    else: idle(w, t + 0.4)
    w.spread0 = 1; r = T(DELETED, ["bob@"], "AM", "AM", weak=GONE + OK_RUN, never=["garbage"]); r.never_run = True; return n, r


deleting.mixes = ["L", "LE", "LEG", "A", "LA", "LEAG", "LEM", "M", "E", "EA"]


@fam("beside2", "eval-job-fails-train-runs train-fails-eval-runs tensorboard-deleted-train-exits dataset-job-done-train-oom two-users-same-stem sidekick-deployment-scaled-train-drained previous-run-lost-this-runs this-queued-other-preempted")
def beside2(w, twin):
    """Jobs with names that begin alike, in one namespace; asked is one of them."""
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(4)]; n = run_name(w); t = w.rng.randrange(1500, 2600); a = Job(w, 0, n, nodes[:2]); v = a.pods[0]; [steps(w, p, 10, t, every=30, rank=i) for i, p in enumerate(a.pods)]
    other = lambda x, nd, who=CAROL, at=5: Job(w, at, x, [nd], who=who)
    if twin == "eval-job-fails-train-runs": b = other(n + "-eval", nodes[2]); raised(w, t - 100, b, b.pods[0]); steps(w, v, t, t + 60); idle(w, t + 60); return n, truns(never_cause=CODE)
    if twin == "train-fails-eval-runs": b = other(n + "-eval", nodes[2]); steps(w, b.pods[0], 20, t + 200, every=30); raised(w, t, a, v); idle(w, t + 200); return n, tcode(never_cause=OK_RUN)
    if twin == "tensorboard-deleted-train-exits": q = make_pod(w, 3, n + "-tensorboard", nodes[3], by=ALICE, labels={"app": n}, spec=template(gpus=0), generate=False); delete_pod(w, t - 5, CAROL, q); raised(w, t, a, v); return f"Job/{w.ns}/{n}", tcode(never=["carol@"], never_cause=DELETED)
    if twin == "dataset-job-done-train-oom": b = other(n + "-data", nodes[2]); w.at(299, lambda: b.complete(300)); w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); a.fail(t + 1, v); return n, toom(never_cause=OK_DONE)
    if twin == "two-users-same-stem": b = other(n + "2", nodes[2]); b.delete(t - 20, CAROL); raised(w, t, a, v); return n, tcode(never=["carol@"], never_cause=DELETED)
    if twin == "sidekick-deployment-scaled-train-drained": pods, rs = deployment(w, n + "-viewer", 1, [nodes[3]]); scale(w, t - 6, CAROL, "Deployment", n + "-viewer", rs, pods); cordon(w, t - 2, BOB, nodes[0]); evict(w, t, BOB, v); a.fail(t + 2.6, v); return n, tdrain(never=["carol@"])
    if twin == "previous-run-lost-this-runs": b = other(n[:-5], nodes[2], at=1); steps(w, b.pods[0], 20, 600, every=30); lost_pod(w, 600, nodes[2], b.pods[0]); b.fail(951, b.pods[0]); steps(w, v, t, t + 60); idle(w, t + 60); return n, truns(never_cause=["node.not_ready"])
    b = other(n + "-low", nodes[2]); preempt(w, t - 20, b.pods[0], nodes[2]); b.fail(t - 17, b.pods[0]); c = Job(w, t - 22, n + "-high", [None]); unschedulable(w, t - 21, c.pods[0], PEND, until=t); raised(w, t, a, v); return n, tcode(never_cause=["sched.preempted", "sched.unschedulable_capacity"])


@fam("capture", " ".join(f"{e}+{c}" for e in ("drain", "deljob", "preempt", "oom", "exit", "lost") for c in ("lists-before", "events-only-late", "lists-30s-into")))
def capture(w, twin):
    """Lists that were taken before the end, or in the middle of it; Events of the last minutes alone."""
    e, c = twin.split("+"); j, nodes, t = gang(w, run=w.rng.randrange(1500, 2600), spec=template(grace=60)); v, nd = j.pods[0], nodes[0]
    if c == "lists-before": w.at(t - 100, lambda: setattr(w, "early", copy.deepcopy(w.objs))); w.after = lambda: w.objs.update({k: o for k, o in w.early.items()}) or [w.objs.pop(k) for k in list(w.objs) if k not in w.early]
    if c == "lists-30s-into": w.at(t + 12, lambda: setattr(w, "early", copy.deepcopy(w.objs))); w.after = lambda: w.objs.update({k: o for k, o in w.early.items()}) or [w.objs.pop(k) for k in list(w.objs) if k not in w.early]
    if c == "events-only-late": w.after = lambda: setattr(w, "events", [x for x in w.events if x[0] > t + 1])
    took = 25
    if e == "drain": cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v, took=took); j.fail(t + took + 1, v); r = tdrain()
    if e == "deljob": j.delete(t, BOB); r = tdel()
    if e == "preempt": preempt(w, t, v, nd); j.fail(t + 3, v); r = T("sched.preempted", (), "A", "", weak=GONE)
    if e == "oom": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); r = T("code.host_oom", (), "AG", "", weak=CODE)
    if e == "exit": raised(w, t, j, v); r = T(CODE, (), "AG", "")
    if e == "lost": lost_pod(w, t, nd, v); j.fail(t + 351, v); r = T("node.not_ready", (), "A", "", weak=())
    r.weak += ("unknown",) + OK_RUN; idle(w, t + 40); return j.name, r


capture.mixes = ["LE", "LEG", "E", "EA", "LEAG", "LA", "LEM"]
