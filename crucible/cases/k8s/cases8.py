"""Kinds of workloads times ends: an operator owns the pods, tells of the end in its own words and clears away."""

from cases7 import *

KINDS = {  # kind: (its operator, names of pods, labels, how it says that it failed)
    "PyTorchJob": (TRAINOP, lambda n: [f"{n}-master-0", f"{n}-worker-0", f"{n}-worker-1"], lambda n: {"training.kubeflow.org/job-name": n, "training.kubeflow.org/operator-name": "pytorchjob-controller"}),
    "RayCluster": (KUBERAY, lambda n: [f"{n}-head-x7k2p", f"{n}-gpu-worker-b8t4m", f"{n}-gpu-worker-q9w3z"], lambda n: {"ray.io/cluster": n}),
    "VolcanoJob": (VCCTL, lambda n: [f"{n}-w-{i}" for i in range(3)], lambda n: {"volcano.sh/job-name": n}),
    "LeaderWorkerSet": (LWSOP, lambda n: [f"{n}-0", f"{n}-0-1", f"{n}-0-2"], lambda n: {"leaderworkerset.sigs.k8s.io/name": n, "leaderworkerset.sigs.k8s.io/group-index": "0"}),
    "Workflow": (ARGO, lambda n: [f"{n}-train-{7 + i}" for i in range(3)], lambda n: {"workflows.argoproj.io/workflow": n}),
    "Bare": (ALICE, lambda n: [f"{n}-{i}" for i in range(3)], lambda n: {"app": n}),
}


def failed_words(w, t, kind, n, p, op):
    if kind == "PyTorchJob":
        msg = f"PyTorchJob {n} is failed because 1 Worker replica(s) failed."
        w.condition(t, op, kind, n, w.ns, "Failed", "True", "PyTorchJobFailed", msg); w.event(t, "pytorchjob-controller", kind, n, w.ns, "PyTorchJobFailed", msg, warn=True)
    if kind == "VolcanoJob": phase(w, t, op, kind, n, state={"phase": "Failed"}); w.event(t, "vc-controller-manager", kind, n, w.ns, "PodFailed", f"Pod {w.ns}/{p.name} failed")
    if kind == "Workflow": phase(w, t, op, kind, n, phase="Failed", message=f"child '{p.name}' failed"); w.event(t, "workflow-controller", kind, n, w.ns, "WorkflowFailed", f"child '{p.name}' failed", warn=True)
    if kind == "LeaderWorkerSet": w.event(t, "leaderworkerset", kind, n, w.ns, "RecreateGroup", f"Worker pod {p.name} failed, deleted leader pod {n}-0 to recreate group 0")


@fam("kinds", " ".join(f"{k}+{e}" for k in KINDS for e in list(RIGHT) + ["delete-all", "complete", "runs"]))
def kinds(w, twin):
    kind, end = twin.split("+")
    op, names, labels = KINDS[kind]
    n = run_name(w); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; t = w.rng.randrange(1200, 3000)
    if kind != "Bare":
        custom(w, 0, kind, n, ALICE, {}, {"phase": "Running"} if kind == "Workflow" else {"state": {"phase": "Running"}} if kind == "VolcanoJob" else {})
        if kind == "PyTorchJob": w.condition(6, op, kind, n, w.ns, "Running", "True", "PyTorchJobRunning", f"PyTorchJob {n} is running.")
    ps = [make_pod(w, 0.5, x, nodes[i], by=op, of=(kind, n) if kind != "Bare" else None, labels=labels(n), spec=template(restart="Never"), generate=False) for i, x in enumerate(names(n))]
    for i, p in enumerate(ps): steps(w, p, 8, t, every=60, rank=i)
    v, rest = ps[1], [ps[0], ps[2]]
    if end == "runs": w.at(t, lambda: None); return n, T("none.running", (), "LWA", "", weak=("none.running",))
    if end == "complete":
        for p in ps: exit_pod(w, t, p, 0)
        if kind == "PyTorchJob": w.condition(t + 2, op, kind, n, w.ns, "Succeeded", "True", "PyTorchJobSucceeded", f"PyTorchJob {n} is successfully completed.")
        if kind == "VolcanoJob": phase(w, t + 2, op, kind, n, state={"phase": "Completed"})
        if kind == "Workflow": phase(w, t + 2, op, kind, n, phase="Succeeded")
        w.at(t + 5, lambda: None); return n, T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"))
    if end == "delete-all":
        if kind == "Bare":
            for p in ps: delete_pod(w, t, BOB, p)
        else:
            w.api(t, BOB, "delete", kind, n, w.ns)
            for p in ps: w.api(t + 0.3, GC, "delete", "Pod", p.name, w.ns); stop(w, t + 0.4, p)
        return n, T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",), never=["garbage", op[0]["username"]] if kind != "Bare" else [])
    over = try_end(end, w, None, v, nodes[1], t)
    failed_words(w, over, kind, n, v, op)
    if kind in ("PyTorchJob", "VolcanoJob", "LeaderWorkerSet"):
        for p in rest: delete_pod(w, over + 0.5, op, p)
    elif kind == "RayCluster" and end not in ("exit", "oom"):  # KubeRay makes a worker anew
        if end != "lost": make_pod(w, over + 5, f"{n}-gpu-worker-n3wxx", nodes[0], by=op, of=(kind, n), labels=labels(n), generate=False)
    elif kind in ("Bare", "Workflow"):
        for p in rest: w.log(over + 10, p, TRACE + "torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error\nncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely."); exit_pod(w, over + 11, p, 1)
    w.at(over + 30, lambda: None)
    r = RIGHT[end](); r.weak += ("unknown", "none.running") + CODE
    if kind == "RayCluster": r.unseen = ("none.running",); r.also += ("none.running",); r.right += ("none.running",)
    if kind in ("Bare", "Workflow"): r.weak += ("hang.collective_timeout", "dep.network")
    r.seen = r.seen.replace("G", "") if end in ("exit", "oom") and kind == "LeaderWorkerSet" else r.seen
    return n, r
