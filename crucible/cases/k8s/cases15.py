"""Tries of an operator that makes a pod again under its old name."""

from cases14 import *


@fam("same-name", " ".join(f"{a}+{b}" for a in RIGHT for b in list(RIGHT) + ["runs", "complete"] if a != "lost"))
def same_name(w, twin):
    first, last = twin.split("+")
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; n = run_name(w, "pt"); lab = {"training.kubeflow.org/job-name": n, "training.kubeflow.org/operator-name": "pytorchjob-controller"}
    custom(w, 0, "PyTorchJob", n, ALICE, {"runPolicy": {"backoffLimit": 3}}, {}); t = w.rng.randrange(1000, 1800); t2 = t + w.rng.randrange(1200, 1700)
    mk = lambda at, name, nd: make_pod(w, at, name, nd, by=TRAINOP, of=("PyTorchJob", n), labels=lab | {"training.kubeflow.org/replica-index": "0", "training.kubeflow.org/replica-type": name.split("-")[-2]}, spec=template(restart="Never"), generate=False)
    m, v = mk(0.5, f"{n}-master-0", nodes[0]), mk(0.5, f"{n}-worker-0", nodes[1])
    w.condition(5, TRAINOP, "PyTorchJob", n, w.ns, "Running", "True", "PyTorchJobRunning", f"PyTorchJob {n} is running.")
    steps(w, v, 10, t, every=60, rank=1); steps(w, m, 10, t2, every=60)
    over = try_end(first, w, None, v, nodes[1], t, CAROL)
    if first in ("exit", "oom", "pressure"): w.event(over, "pytorchjob-controller", "PyTorchJob", n, w.ns, "ExitedWithCode", f"Pod: {w.ns}.{v.name} exited with code {1 if first == 'exit' else 137}"); w.api(over, TRAINOP, "delete", "Pod", v.name, w.ns)
    w.condition(over + 0.5, TRAINOP, "PyTorchJob", n, w.ns, "Restarting", "True", "PyTorchJobRestarting", f"PyTorchJob {n} is restarting because 1 Worker replica(s) failed."); w.event(over + 0.5, "pytorchjob-controller", "PyTorchJob", n, w.ns, "PyTorchJobRestarting", f"PyTorchJob {n} is restarting because 1 Worker replica(s) failed.", warn=True)
    q = mk(over + 5, v.name, nodes[2]); w.condition(over + 9, TRAINOP, "PyTorchJob", n, w.ns, "Running", "True", "PyTorchJobRunning", f"PyTorchJob {n} is running."); steps(w, q, over + 10, t2, every=60, rank=1, start=3000)
    if last == "runs": w.at(t2, lambda: None); r = T("none.running", (), "LWA", "", weak=("none.running",))
    elif last == "complete":
        for p in (m, q): w.at(t2 - 0.1, lambda p=p: exit_pod(w, t2, p, 0))
        w.condition(t2 + 2, TRAINOP, "PyTorchJob", n, w.ns, "Succeeded", "True", "PyTorchJobSucceeded", f"PyTorchJob {n} is successfully completed."); r = T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"))
    else:
        over = try_end(last, w, None, q, nodes[2], t2); w.condition(over, TRAINOP, "PyTorchJob", n, w.ns, "Failed", "True", "PyTorchJobFailed", f"PyTorchJob {n} is failed because 1 Worker replica(s) failed."); w.event(over, "pytorchjob-controller", "PyTorchJob", n, w.ns, "PyTorchJobFailed", f"PyTorchJob {n} is failed because 1 Worker replica(s) failed.", warn=True); delete_pod(w, over + 0.5, TRAINOP, m); r = RIGHT[last]()
    r.also += sum((RIGHT[k]().right for k in RIGHT), ()); r.never = ("carol@",); r.weak += ("unknown",)
    return n, r


@fam("unsorted", " ".join(f"{n}/{t}" for n, ts, _ in FAMILIES if n in ("cluster-autoscaler", "drain", "noexecute", "preempted", "node-object", "oom", "probe", "never-started", "node-pressure", "image", "volume", "init", "starts", "kueue", "two-people", "tries", "in-place", "again", "same-name") for t in ts))
def shuffled(w, twin):
    name, t = twin.split("/")
    ask, truth = next(f for n, _, f in FAMILIES if n == name)(w, t)
    truth.seen, truth.who = "", ""
    return ask, truth


shuffled.mixes = ["To", "Tn"]
