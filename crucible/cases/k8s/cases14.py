"""Queues that give a workload back its place, Jobs that fail index by index, one deed that hits several runs."""

from cases13 import *


@fam("queue", "readmitted-runs readmitted-completes readmitted-then-exit evicted-waits-quota finished-then-deleted pods-ready-then-runs")
def queue(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 2400)); msg = "Preempted to accommodate a workload (UID: a, JobUID: b) due to prioritization in the ClusterQueue"
    reason = "PodsReadyTimeout" if twin.startswith("pods-ready") else "Preempted"
    if twin == "finished-then-deleted":
        j.complete(t); wl = f"job-{j.name}-{uid_of(j.name)[:5]}"; custom(w, 0.2, "Workload", wl, KUEUE, {"queueName": "q"}, {"conditions": [{"type": "Admitted", "status": "True", "reason": "Admitted", "message": "The workload is admitted", "lastTransitionTime": w.ts(0)}]}, of=("Job", j.name))
        w.condition(t + 2, KUEUE, "Workload", wl, w.ns, "Finished", "True", "Succeeded", "Reached expected number of succeeded pods"); w.api(t + 300, BOB, "delete", "Workload", wl, w.ns); return j.name, T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"))
    wl = kueue_evict(w, t, j, reason, msg if reason == "Preempted" else f"Exceeded the PodsReady timeout {w.ns}/{j.name}")
    if twin == "evicted-waits-quota":
        w.condition(t + 60, KUEUE, "Workload", wl, w.ns, "QuotaReserved", "False", "Pending", "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 16 more needed"); w.event(t + 60, "kueue-admission", "Workload", wl, w.ns, "Pending", "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 16 more needed", warn=True); w.at(t + 600, lambda: None)
        return j.name, T(("sched.kueue_preempted", "sched.quota"), (), "LEWA", "", weak=DELETED)
    b = t + 400  # quota again: Kueue marks the eviction as past, the Job is resumed and makes new pods
    w.condition(b, KUEUE, "Workload", wl, w.ns, "QuotaReserved", "True", "QuotaReserved", "Quota reserved in ClusterQueue cq"); w.condition(b, KUEUE, "Workload", wl, w.ns, "Evicted", "False", "QuotaReserved", "Previously: " + msg); w.condition(b, KUEUE, "Workload", wl, w.ns, "Preempted", "False", "QuotaReserved", "Previously: " + msg); w.condition(b, KUEUE, "Workload", wl, w.ns, "Admitted", "True", "Admitted", "The workload is admitted")
    w.event(b, "kueue-admission", "Workload", wl, w.ns, "Admitted", "Admitted by ClusterQueue cq, wait time since reservation was 0s"); w.api(b + 0.2, KUEUE, "patch", "Job", j.name, w.ns, change=lambda o: o["spec"].update(suspend=False), request={"spec": {"suspend": False}})
    w.condition(b + 0.4, JOBC, "Job", j.name, w.ns, "Suspended", "False", "JobResumed", "Job resumed"); w.event(b + 0.4, "job-controller", "Job", j.name, w.ns, "Resumed", "Job resumed")
    j.pods = [j.pod(b + 1, i, n) for i, n in enumerate(nodes)]; e = b + 1500
    for i, p in enumerate(j.pods): steps(w, p, b + 10, e, every=60, rank=i, start=1000)
    if twin.endswith("runs"): w.at(e, lambda: None); return j.name, T("none.running", (), "LWA", "", weak=("none.running", "sched.kueue_preempted"), also=("sched.kueue_preempted", "sched.kueue_evicted"))
    if twin.endswith("completes"): w.at(e, lambda: j.complete(e + 0.1)); return j.name, T("none.completed", (), "LWA", "", weak=("none.completed",), also=("sched.kueue_preempted",))
    v = j.pods[0]; w.log(e, v, TRACE + "ValueError: bad crop"); w.at(e - 1, lambda: (exit_pod(w, e, v, 1), j.fail(e + 1, v))); return j.name, T(CODE, (), "LWAG", "", also=("sched.kueue_preempted",))


@fam("indexes", "per-index-fails max-failed-indexes fail-index-policy per-index-drained")
def indexes(w, twin):
    """backoffLimitPerIndex: one index fails for good, the others go on and succeed."""
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; j = Job(w, 0, run_name(w), nodes, backoff=2147483647); t = w.rng.randrange(1200, 2400); a, b, c = j.pods
    for i, p in enumerate(j.pods): steps(w, p, 10, t, every=60, rank=i)
    if twin == "per-index-drained": cordon(w, t - 2, BOB, nodes[0]); evict(w, t, BOB, a)
    else: w.log(t, a, TRACE + "ValueError: bad shard 0"); exit_pod(w, t, a, 42 if twin == "fail-index-policy" else 1); finalizer(w, t + 1, a)
    w.api(t + 1.2, JOBC, "update", "Job", j.name, w.ns, sub="status", change=lambda o: o["status"].update(failedIndexes="0", failed=1))
    if twin == "max-failed-indexes": j.fail(t + 2, None, "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes", rest=[b, c], failed=3)
    else:
        for p in (b, c): exit_pod(w, t + 900, p, 0); finalizer(w, t + 901, p)
        w.at(t + 902, lambda: w._do(JOBC, "patch", "Job", j.name, w.ns, sub="status", change=lambda o: o["status"].update(completedIndexes="1,2", succeeded=2)))
        w.condition(t + 903, JOBC, "Job", j.name, w.ns, "FailureTarget", "True", "FailedIndexes", "Job has failed indexes"); w.condition(t + 904, JOBC, "Job", j.name, w.ns, "Failed", "True", "FailedIndexes", "Job has failed indexes"); w.event(t + 904, "job-controller", "Job", j.name, w.ns, "FailedIndexes", "Job has failed indexes", warn=True)
    if twin == "per-index-drained": return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED)
    return j.name, T(CODE, (), "LWAG", "")


@fam("several", "three-jobs-deleted node-of-two-runs cm-deleted-then-exit priority-of-two pvc-deleted-while-used")
def several(w, twin):
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; t = w.rng.randrange(1200, 2400)
    js = [Job(w, 0.3 * i, run_name(w), [nodes[0], nodes[i]] if twin == "node-of-two-runs" else [nodes[i]]) for i in range(2 if twin == "node-of-two-runs" else 3)]
    for j in js:
        for p in j.pods: steps(w, p, 10, t, every=60)
    if twin == "three-jobs-deleted":
        for i, j in enumerate(js): j.delete(t + 0.2 * i, BOB)
        return js[1].name, T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",))
    if twin == "node-of-two-runs":
        cordon(w, t - 2, BOB, nodes[0])
        for i, j in enumerate(js): evict(w, t + 0.1 * i, BOB, j.pods[0]); j.fail(t + 3 + 0.1 * i, j.pods[0])
        return js[1].name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED)
    v = js[0].pods[0]
    if twin == "priority-of-two":  # ours is preempted by a pod of the second run, which is then told as running
        w.condition(t, SCHED, "Pod", v.name, v.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"); w.api(t + 0.02, SCHED, "delete", "Pod", v.name, v.ns); w.at(t + 0.03, lambda: w.event(t + 0.031, "default-scheduler", "Pod", v.name, v.ns, "Preempted", f"Preempted by pod {js[1].pods[0].uid} on node {nodes[0]}", new=True)); stop(w, t + 0.1, v); js[0].fail(t + 3, v)
        return js[0].name, T("sched.preempted", (), "AEW", "", weak=DELETED)
    if twin == "pvc-deleted-while-used":  # protected by its finalizer: nothing happens to the pod, which raises later
        custom(w, -0.2, "PersistentVolumeClaim", "data", ALICE, {}, {"phase": "Bound"}); w.at(-0.1, lambda: w.get("PersistentVolumeClaim", "data", w.ns)["metadata"].update(finalizers=["kubernetes.io/pvc-protection"])); w.api(t - 300, BOB, "delete", "PersistentVolumeClaim", "data", w.ns)
    w.log(t, v, TRACE + "ValueError: bad crop"); exit_pod(w, t, v, 1); js[0].fail(t + 1, v)
    return js[0].name, T(CODE, (), "LWAG", "", never=["bob@"])


PARTS = ["A1", "A2", "A3", "L1", "E1", "W1"]


@fam("parts", " ".join(f"{n}/{t}" for n, ts, _ in FAMILIES if n in ("karpenter", "cluster-autoscaler", "drain", "noexecute", "preempted", "node-object", "oom", "probe", "never-started", "scaled", "kueue", "refused", "two-people", "argo", "operators", "job", "again", "namespace-gc", "jobset", "grace", "tries", "in-place", "two-ends") for t in ts))
def parts(w, twin):
    """Only a part of what could be had: nothing may be told that the rest would refute, but at hypothesis."""
    name, t = twin.split("/")
    ask, truth = next(f for n, _, f in FAMILIES if n == name)(w, t)
    truth.seen, truth.who = "", ""
    return ask, truth


parts.mixes = PARTS
