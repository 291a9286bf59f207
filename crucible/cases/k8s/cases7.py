"""Several attempts, several ends, clocks that are off, and captures in the middle of things."""

from cases6 import *

# -- one pod, several tries: the end of the last one counts


def try_end(kind, w, j, p, nd, t, who=BOB):
    """The end of one try of a one-pod Job, without the Job's reaction; gives when it is over."""
    if kind == "exit": w.log(t, p, TRACE + "ValueError: bad crop"); exit_pod(w, t, p, 1)
    if kind == "oom": memcg_oom(w, t, p); exit_pod(w, t + 0.1, p, 137, "OOMKilled")
    if kind == "drain": cordon(w, t - 2, who, nd); evict(w, t, who, p)
    if kind == "delete": delete_pod(w, t, who, p)
    if kind == "preempt":
        w.condition(t, SCHED, "Pod", p.name, p.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod")
        w.api(t + 0.02, SCHED, "delete", "Pod", p.name, p.ns); w.event(t + 0.03, "default-scheduler", "Pod", p.name, p.ns, "Preempted", f"Preempted by pod {uid_of(w.seed, 'high')} on node {nd}", new=True); stop(w, t + 0.1, p)
    if kind == "pressure":
        msg = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 93Mi. Container trainer was using 190Gi, request is 100Gi, has larger consumption of memory. "
        kl(w, t, p, "Evicted", msg, warn=True); w.condition(t + 0.1, kubelet(nd), "Pod", p.name, p.ns, "DisruptionTarget", "True", "TerminationByKubelet", msg); exit_pod(w, t + 1, p, 137, why="Evicted", why_message=msg)
    if kind == "lost": not_ready(w, t + 45, nd, [p]); taint_evict(w, t + 350, p, lost=True); return t + 351
    return t + 3


RIGHT = {"exit": lambda: T(CODE, (), "LWAG", ""), "oom": lambda: T("code.host_oom", (), "LWAG", ""), "drain": lambda: T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED), "delete": lambda: T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",)),
         "preempt": lambda: T("sched.preempted", (), "AEW", "", weak=DELETED), "pressure": lambda: T("sched.node_pressure", (), "LEWA", ""), "lost": lambda: T("node.not_ready", (), "LEWA", "")}


@fam("tries", " ".join(f"{a}+{b}" for a in RIGHT for b in RIGHT))
def tries(w, twin):
    first, last = twin.split("+")
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]
    j = Job(w, 0, run_name(w), [nodes[0]], backoff=1); p = j.pods[0]; d = w.rng.randrange(1200, 2400)
    steps(w, p, 10, d, every=60)
    over = try_end(first, w, j, p, nodes[0], d, CAROL); finalizer(w, over, p)
    q = j.pod(over + 10, 0, nodes[1]); d2 = over + w.rng.randrange(2600, 3600); steps(w, q, over + 20, d2, every=60, start=3000)
    over = try_end(last, w, j, q, nodes[1], d2); j.pods = [q]; j.fail(over, q, rest=[], failed=2)
    t = RIGHT[last](); t.also = sum((RIGHT[k]().right for k in RIGHT), ()); t.never = ("carol@",)
    return j.name, t


@fam("in-place", " ".join(f"{a}+{b}" for a in ("exit", "oom", "probe") for b in RIGHT if b not in ("pressure",)))
def in_place(w, twin):
    """The container is started again in its pod; later the pod ends otherwise."""
    first, last = twin.split("+")
    nd = node(w, "gpu-" + w.suffix(4)); j = Job(w, 0, run_name(w), [nd], spec=template(restart="OnFailure")); p = j.pods[0]; d = w.rng.randrange(800, 1500)
    steps(w, p, 10, d, every=60)
    if first == "exit": w.log(d, p, TRACE + "KeyError: 'x'"); restart(w, d, p, 1)
    if first == "oom": memcg_oom(w, d, p); restart(w, d, p, 137, "OOMKilled")
    if first == "probe": kl(w, d - 1, p, "Killing", "Container trainer failed liveness probe, will be restarted", field="spec.containers{trainer}"); restart(w, d, p, 137)
    t = d + w.rng.randrange(1800, 3000); steps(w, p, d + 20, t, every=30, start=2000)
    over = try_end(last, w, j, p, nd, t); j.fail(over, p, rest=[])
    r = RIGHT[last](); r.also = CODE + ("code.host_oom", "code.liveness_probe"); r.weak += CODE + ("code.host_oom", "code.liveness_probe")
    return j.name, r


@fam("two-ends", " ".join(f"{a}+{b}" for a in RIGHT for b in RIGHT if a != "lost" and b != "lost"))
def two_ends(w, twin):
    """Two members end for reasons of their own, the second 20 s after the first and before the Job reacts."""
    first, last = twin.split("+")
    j, nodes, t = gang(w, n=3, run=w.rng.randrange(1200, 2400))
    try_end(first, w, j, j.pods[0], nodes[0], t); try_end(last, w, j, j.pods[1], nodes[1], t + 20, CAROL)
    for r in (0, 1): finalizer(w, t + 25, j.pods[r])
    w.condition(t + 26, JOBC, "Job", j.name, j.ns, "FailureTarget", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    delete_pod(w, t + 26.1, JOBC, j.pods[2]); w.event(t + 26.2, "job-controller", "Job", j.name, j.ns, "SuccessfulDelete", f"Deleted pod: {j.pods[2].name}")
    w.condition(t + 30, JOBC, "Job", j.name, j.ns, "Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit"); w.event(t + 30, "job-controller", "Job", j.name, j.ns, "BackoffLimitExceeded", "Job has reached the specified backoff limit", warn=True)
    r = RIGHT[first](); r.also = RIGHT[last]().right; r.never = ("carol@",) if r.actor else ()
    r.seen = "".join(c for c in r.seen if c in "AW" or (c == "L" and first in ("exit", "oom", "pressure") and last in ("exit", "oom", "pressure", "drain", "delete", "preempt")))
    if set(r.right) != set(r.also): r.unseen = r.also
    return j.name, r


@fam("skew", " ".join(f"{e}+{s}" for e in MORE for s in (-115, -50, 50, 115)))
def skew(w, twin):
    end, s = twin.split("+")
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; w.skew[nodes[0]] = int(s)
    j, _, t = gang(w, nodes=nodes, run=w.rng.randrange(1500, 2500)); v = j.pods[0]
    return j.name, MORE[end](w, j, v, nodes[0], t)


@fam("cut", " ".join(f"{e}+{c}" for e in MORE for c in ("in-grace", "before-teardown", "audit-late", "audit-early", "snapshot-before")))
def cut(w, twin):
    """The capture ends in the middle, or a source begins late or ended early."""
    end, how = twin.split("+")
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 2500)); v = j.pods[0]
    r = MORE[end](w, j, v, nodes[0], t)
    at = {"in-grace": t + (0.9 if end != "scale-down" else 1.9), "before-teardown": t + 2.5}.get(how)
    if at and end == "lost": at += 350
    if at:
        w.queue[:] = [q for q in w.queue if q[0] <= at]; heapq.heapify(w.queue); r.weak += ("none.running", "unknown") + r.right; r.seen = ""
        if end in ("exit", "oom", "complete", "pressure", "shutdown", "deadline", "kueue", "suspend", "node-deleted", "scale-down", "liveness", "delete-job", "runs", "lost", "tainted", "preempt", "drain", "delete-pod"): r.unseen = ("none.running",) if at < t + 3 and end in ("exit", "oom", "complete", "pressure", "shutdown", "node-deleted", "liveness") else ()
    if how == "audit-late": w.after = lambda: w.audit.__setitem__(slice(None), [a for a in w.audit if a["requestReceivedTimestamp"] > w.ts(t + 1.5, 6)]); r.who, r.seen = "", ""; r.unseen = r.weak
    if how == "audit-early": w.after = lambda: w.audit.__setitem__(slice(None), [a for a in w.audit if a["requestReceivedTimestamp"] < w.ts(t - 5, 6)]); r.who, r.seen = "", ""; r.unseen += ("none.running",)  # as it was then
    if how == "snapshot-before": w.at(t - 60, lambda: setattr(w, "earlier", copy.deepcopy({k: o for k, o in w.objs.items() if k[0] == "Pod"})))
    return j.name, r
