"""Namesakes, runs made anew under their name, operators' groups, small skews of clocks, schedulers' and kubelets' further ways, persons by other agents."""

from f3 import *
import itertools

ENDK = {"exit": tcode, "oom": toom, "drain": tdrain, "delete": tdel, "lost": tlost, "preempt": lambda **k: T("sched.preempted", (), "AEW", "", weak=GONE, **k), "runs": truns, "done": tdone, "image": lambda **k: T("dep.image_pull", (), "LEWA", "", weak=("unknown",), **k), "pending": lambda **k: T("sched.unschedulable_capacity", (), "LEWA", "", weak=("unknown",), **k)}
CAUSES = {"exit": CODE, "oom": ("code.host_oom",), "drain": DRAINED, "delete": DELETED, "lost": ("node.not_ready",), "preempt": ("sched.preempted",), "runs": (), "done": ()}


def pt_end(w, k, t, name, ps, nd, who=BOB):
    """The end of a PyTorchJob: its worker-0 ends in the way k at t; gives when all is over."""
    v = ps[1]; rest = [p for p in ps if p is not v]
    if k == "runs": idle(w, t); return t
    if k == "done": [w.at(t - 0.2, lambda p=p: exit_pod(w, t, p, 0)) for p in ps]; pt_succeeded(w, t + 1, name); return t + 2
    if k == "exit": w.at(t - 0.5, lambda: raise_(w, t, v)); over = t + 1
    if k == "oom": w.at(t - 1, lambda: memcg_oom(w, t, v)); w.at(t - 0.5, lambda: exit_pod(w, t + 0.1, v, 137, "OOMKilled")); over = t + 1
    if k == "drain": cordon(w, t - 2, who, nd); evict(w, t, who, v); over = t + 3
    if k == "delete": tj_delete(w, t, who, "PyTorchJob", name, ps); return t + 4
    if k == "preempt": preempt(w, t, v, nd); over = t + 3
    if k == "lost": lost_pod(w, t, nd, v); over = t + 351
    pt_failed(w, over, name, rest); return over + 4


@fam("namesake2", " ".join(f"{a}+{b}" for a in ("drain", "delete", "oom", "lost", "preempt", "exit") for b in ("runs", "exit", "oom", "drain", "done", "delete") if a != b))
def namesake2(w, twin):
    """One PyTorchJob name in two namespaces, and so the same names of pods, beside each other on the same machines; the other one ends `a`, ours `b`."""
    a, b = twin.split("+"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; own = [node(w, f"gpu-m{i}{w.suffix(3)}") for i in range(2)] if a in ("lost",) else nodes; t = w.rng.randrange(1500, 2600); name = run_name(w, "pt"); ns = w.ns
    late = 40 if a != "lost" else 400; w.ns = "staging"
    _, other = pytorch(w, 2, nodes, name=name, run=t - late, spec=template(gpus=4)); pt_end(w, a, t - late, name, other, nodes[1], CAROL)
    w.ns = ns; _, mine = pytorch(w, 2, own, name=name, run=t, spec=template(gpus=4)); 
    pt_end(w, b, t, name, mine, own[1]); idle(w, t + 5); r = ENDK[b](); r.never = tuple(r.never) + ("carol@",); r.never_cause = tuple(c for c in CAUSES[a] if c not in r.right); r.weak += r.never_cause
    if a == "drain" and b == "drain": r.never = ()
    return f"PyTorchJob/{ns}/{name}", r


@fam("remake", " ".join(f"{a}+{b}" for a in ("exit", "oom", "drain", "lost", "done", "preempt") for b in ("exit", "oom", "drain", "runs", "done", "pending", "image", "delete")))
def remake(w, twin):
    """alice deletes what is left of her PyTorchJob and makes it anew under its name; its pods have the names of before."""
    a, b = twin.split("+"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(4)]; t = w.rng.randrange(900, 1400); name, ps = pytorch(w, 2, nodes[:2], run=t); over = pt_end(w, a, t, name, ps, nodes[1], CAROL)
    g = over + w.rng.choice([8, 60, 400]); w.at(g, lambda: w.get("PyTorchJob", name, w.ns) and w._do(ALICE, "delete", "PyTorchJob", name, w.ns))
    for p in ps: w.at(g + 0.3, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns, grace=0))
    u = g + 20; two = nodes[2:]; r = ENDK[b]()
    if b in ("pending", "image"):
        custom(w, u, "PyTorchJob", name, ALICE, {"pytorchReplicaSpecs": {"Worker": {"replicas": 1}, "Master": {"replicas": 1}}}, {"conditions": []})
        w.at(u + 0.1, lambda: None)
        if b == "pending":
            for i in range(2): q = pt_pod(w, u + 0.5, name, i, None); unschedulable(w, u + 1, q, "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod.", until=u + 700)
        else:
            for i in range(2):
                q = pt_pod(w, u + 0.5, name, i, two[i], starts=False); q.start = u + 2; bind(w, u + 1, q); kl(w, u + 3, q, "Failed", 'Failed to pull image "registry.lab.example/train:1.4.2": rpc error: code = NotFound desc = failed to pull and unpack image "registry.lab.example/train:1.4.2": not found', warn=True, count=9, until=u + 690, field="spec.containers{trainer}"); w.at(u + 4, lambda q=q: set_state(w, u + 5, q, "trainer", {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "registry.lab.example/train:1.4.2": ErrImagePull: not found'}}, phase="Pending"))
        idle(w, u + 700)
    else:
        e = u + w.rng.randrange(900, 1300); w.at(u - 0.1, lambda: None)
        def again():
            _, qs = pytorch(w, 2, two, t=u, name=name, run=e); pt_end(w, b, e, name, qs, two[1])
        w.at(u - 0.2, again); idle(w, e + 6)
    r.never = tuple(r.never) + ("carol@",); r.never_cause = tuple(c for c in CAUSES[a] + (DELETED if b != "delete" else ()) if c not in r.right); r.weak += r.never_cause; r.also += CAUSES[a] + DELETED
    r.never_cause = tuple(c for c in r.never_cause if c not in r.also) ; return name, r


@fam("clock2", " ".join(f"{a}+{s}" for a in ("exit-delete", "delete-exit1", "oom-evict", "evict-oom", "exit-preempt", "other-rank") for s in (-25, -8, -3, 0, 3, 8, 25)))
def clock2(w, twin):
    """Two things within seconds, while the node's clock is a little ahead or behind; the order is the API server's."""
    a, s = twin.split("+"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; w.skew[nodes[0]] = int(s); j, _, t = gang(w, nodes=nodes, run=w.rng.randrange(1500, 3000), spec=template(grace=60)); v, nd = j.pods[0], nodes[0]
    if a == "exit-delete":  # raised; four seconds later, its end counted, bob deletes the Job
        raise_(w, t, v); j.fail(t + 1, v); w.api(t + 6, BOB, "delete", "Job", j.name, w.ns); [w.at(t + 6.3, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns)) for p in j.pods]; return j.name, T(CODE, (), "AG", "", weak=GONE, never=["bob@"], never_cause=DELETED)
    if a == "delete-exit1":
        w.api(t, BOB, "delete", "Job", j.name, w.ns); [(finalizer(w, t + 0.1, p), w.at(t + 0.15, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns))) for p in j.pods]; stop(w, t + 0.3, j.pods[1]); grace_end(w, t + 0.3, v, nd, *SAVES["savefails"][::-1], took=4); r = tdel(never_cause=CODE + ("dep.storage", "dep.service")); r.weak += r.never_cause; return j.name, r
    if a == "oom-evict": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); cordon(w, t + 2, BOB, nd); w.at(t + 4, lambda: w.get("Pod", v.name, v.ns) and w._do(BOB, "create", "Pod", v.name, v.ns, sub="eviction")); return j.name, T("code.host_oom", (), "AG", "", weak=GONE + DRAINED, never=["bob@"], never_cause=DRAINED + DELETED)
    if a == "evict-oom":
        cordon(w, t - 2, BOB, nd); w.api(t, BOB, "create", "Pod", v.name, v.ns, sub="eviction"); kl(w, t + 0.2, v, "Killing", "Stopping container trainer", field="spec.containers{trainer}"); w.at(t + 2, lambda: memcg_oom(w, t + 4, v)); set_state(w, t + 4.3, v, "trainer", ended(w, v, t + 4, 137, "OOMKilled"), phase="Failed"); finalizer(w, t + 4.5, v); w.at(t + 5, lambda: w.get("Pod", v.name, v.ns) and w._do(kubelet(nd), "delete", "Pod", v.name, v.ns, grace=0)); j.fail(t + 6, None, rest=[j.pods[1]]); return j.name, tdrain(never_cause=["code.host_oom"], weak=("code.host_oom",))
    if a == "exit-preempt": raise_(w, t, v); finalizer(w, t + 0.8, v); w.at(t + 2, lambda: w.get("Pod", v.name, v.ns) and w._do(SCHED, "delete", "Pod", v.name, v.ns)); j.fail(t + 1.2, v); return j.name, T(CODE, (), "AG", "", weak=GONE + ("sched.preempted",), never_cause=["sched.preempted"])
    o = j.pods[1]; raise_(w, t, o); nccl_gone(w, t + 2, v, 0); j.fail(t + 4, o, rest=[]); r = tcode(weak=COLL); r.first = [o.name]; return j.name, r


@fam("lws2", "worker-oom-recreated-runs leader-drained-recreated-runs leader-deleted-then-exit exit-twice-then-deleted worker-restart-group-then-oom leader-exit-workers-gc")
def lws2(w, twin):
    name = run_name(w, "lws"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; d = w.rng.randrange(1200, 2200); custom(w, 0, "LeaderWorkerSet", name, ALICE, {"replicas": 1, "leaderWorkerTemplate": {"size": 3, "restartPolicy": "RecreateGroupOnPodRestart"}}, {"replicas": 1, "readyReplicas": 1})
    custom(w, 0.1, "StatefulSet", name, LWSOP, {"replicas": 1}, {"replicas": 1}, of=("LeaderWorkerSet", name))
    lab = lambda i: {"leaderworkerset.sigs.k8s.io/name": name, "leaderworkerset.sigs.k8s.io/group-index": "0", "leaderworkerset.sigs.k8s.io/worker-index": str(i)}
    def group(t, run=True, until=None):
        l = make_pod(w, t, f"{name}-0", nodes[0], by=STSC, of=("StatefulSet", name), labels=lab(0), spec=template(restart="Always"), generate=False); w.at(t + 0.2, lambda: w.get("StatefulSet", f"{name}-0", w.ns) or w._do(LWSOP, "create", "StatefulSet", f"{name}-0", w.ns, body={"metadata": {"ownerReferences": [owner(w, "Pod", f"{name}-0", w.ns)]}, "spec": {"replicas": 2}, "status": {}}))
        ws = [make_pod(w, t + 0.4, f"{name}-0-{i}", nodes[i], by=STSC, of=("StatefulSet", f"{name}-0"), labels=lab(i), spec=template(restart="Always"), generate=False) for i in (1, 2)]
        ps = [l] + ws
        if until: [steps(w, p, t + 10, until, every=60, rank=i) for i, p in enumerate(ps)]
        return ps
    def recreate(t, ps, why, skip=()):
        if why: w.event(t, "leaderworkerset", "LeaderWorkerSet", name, w.ns, "RecreateGroupOnPodRestart", why)
        delete_pod(w, t, LWSOP, ps[0]) if ps[0] not in skip else None; w.at(t + 0.1, lambda: w.get("StatefulSet", f"{name}-0", w.ns) and w._do(GC, "delete", "StatefulSet", f"{name}-0", w.ns))
        for p in ps[1:]:
            w.at(t + 0.4, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns))
            if p not in skip: stop(w, t + 0.5, p)
    ps = group(0.5, until=d); l, a, b = ps; wtxt = lambda p: f"Worker pod {p.name} failed, deleted leader pod {name}-0 to recreate group 0"
    box = []
    def next_group(t, until): w.at(t - 0.1, lambda: box.append(group(t, until=until)))
    if twin == "worker-oom-recreated-runs": w.at(d - 1, lambda: memcg_oom(w, d, a)); restart(w, d, a, 137, "OOMKilled", n=1, wait=4); recreate(d + 5, ps, wtxt(a)); next_group(d + 15, d + 700); idle(w, d + 700); return name, truns(weak=("code.host_oom",) + GONE, also=("code.host_oom",) + DELETED, never=["lws", "garbage"])
    if twin == "leader-drained-recreated-runs": cordon(w, d - 2, BOB, nodes[0]); evict(w, d, BOB, l); cordon(w, d + 4, BOB, nodes[0], False); recreate(d + 3, ps, None, skip=(l,)); next_group(d + 15, d + 700); idle(w, d + 700); return name, truns(weak=DRAINED + GONE, also=DRAINED + DELETED)
    if twin == "leader-deleted-then-exit":
        delete_pod(w, d, CAROL, l); recreate(d + 3, ps, None, skip=(l,)); next_group(d + 15, d + 700); e = d + 700
        w.at(e - 1, lambda: [(w.log(e + 60 * k, box[0][2], TRACE + "ValueError: bad crop"), restart(w, e + 60 * k, box[0][2], 1, n=k + 1, wait=20)) for k in range(3)]); idle(w, e + 190); return name, T(CODE, (), "LWAG", "", weak=OK_RUN + GONE, never=["carol@"])
    if twin == "exit-twice-then-deleted":
        w.log(d, a, TRACE + "ValueError: bad crop"); restart(w, d, a, 1, n=1, wait=4); recreate(d + 5, ps, wtxt(a)); next_group(d + 15, d + 400); e = d + 400
        w.at(e - 1, lambda: (w.log(e, box[0][1], TRACE + "ValueError: bad crop"), restart(w, e, box[0][1], 1, n=1, wait=4), recreate(e + 5, box[0], wtxt(box[0][1])))); next_group(e + 15, e + 300); w.at(e + 299, lambda: (w._do(BOB, "delete", "LeaderWorkerSet", name, w.ns), [(w.at(e + 299.4, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns)), stop(w, e + 299.5, p)) for p in box[1]])); idle(w, e + 310); return name, T(DELETED + CODE, ["bob@"], "AM", "AM", weak=GONE + CODE + OK_RUN, never=["lws", "garbage"])
    if twin == "worker-restart-group-then-oom":
        w.log(d, a, TRACE + "ValueError: bad crop"); restart(w, d, a, 1, n=1, wait=4); recreate(d + 5, ps, wtxt(a)); next_group(d + 15, d + 1500); e = d + 1500
        w.at(e - 1, lambda: [(memcg_oom(w, e + 90 * k, box[0][2]), restart(w, e + 90 * k, box[0][2], 137, "OOMKilled", n=k + 1, wait=20)) for k in range(3)]); idle(w, e + 290); return name, T("code.host_oom", (), "LWAG", "", weak=OK_RUN + CODE + GONE)
    w.log(d, l, TRACE + "ValueError: bad crop"); restart(w, d, l, 1, n=1, wait=4); recreate(d + 5, ps, f"Leader pod {l.name} restarted, recreating group 0"); next_group(d + 15, d + 700); idle(w, d + 700); return name, truns(weak=CODE + GONE, also=CODE + DELETED, never=["lws", "garbage"])


@fam("mpi2", "worker-drained-launcher-fails launcher-fails-person-cleans worker-lost-launcher-waits launcher-retries-completes done-workers-killed worker-deleted-by-person worker-oom-launcher-first")
def mpi2(w, twin):
    name = run_name(w, "mpi"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; d = w.rng.randrange(1200, 2600); custom(w, 0, "MPIJob", name, ALICE, {"slotsPerWorker": 8, "runPolicy": {"cleanPodPolicy": "Running", "backoffLimit": 2}, "mpiReplicaSpecs": {}}, {})
    ws = [make_pod(w, 0.5, f"{name}-worker-{i}", nodes[i], by=MPIOP, of=("MPIJob", name), labels={"training.kubeflow.org/job-name": name, "training.kubeflow.org/job-role": "worker", "training.kubeflow.org/replica-index": str(i)}, spec=template(restart="Never"), generate=False) for i in range(2)]
    retry = twin == "launcher-retries-completes"; j = Job(w, 4, f"{name}-launcher", [nodes[2]], by=MPIOP, of=("MPIJob", name), labels={"training.kubeflow.org/job-name": name, "training.kubeflow.org/job-role": "launcher"}, spec=template(gpus=0, restart="Never"), backoff=2 if retry else 0); l = j.pods[0]
    if not retry: steps(w, l, 14, d, every=60)
    orte = lambda at, p=None: w.log(at, p or l, f"--------------------------------------------------------------------------\nORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[4242,0],0] on node {name}-launcher\n  Remote daemon: [[4242,0],1] on node {name}-worker-0\n\nThis is usually due to either a failure of the TCP network\nconnection to the node, or possibly an internal failure of\nthe daemon itself. We cannot recover from this failure, and\ntherefore will terminate the job.\n--------------------------------------------------------------------------")
    def over(t, rest=ws): w.condition(t, MPIOP, "MPIJob", name, w.ns, "Failed", "True", "MPIJobFailed", "Job has reached the specified backoff limit"); w.event(t, "mpi-job-controller", "MPIJob", name, w.ns, "MPIJobFailed", "Job has reached the specified backoff limit", warn=True); [delete_pod(w, t + 0.2, MPIOP, p) for p in rest]
    if twin == "worker-drained-launcher-fails": cordon(w, d - 2, BOB, nodes[0]); evict(w, d, BOB, ws[0]); orte(d + 3); exit_pod(w, d + 4, l, 1); j.fail(d + 5, l); over(d + 6, ws[1:]); r = tdrain(weak=CODE + COLL); r.first = [ws[0].name]; return name, r
    if twin == "worker-deleted-by-person": delete_pod(w, d, BOB, ws[0]); orte(d + 3); exit_pod(w, d + 4, l, 1); j.fail(d + 5, l); over(d + 6, ws[1:]); r = tdel(weak=CODE + COLL); r.first = [ws[0].name]; return name, r
    if twin == "launcher-fails-person-cleans": w.log(d, l, TRACE + "KeyError: 'lr'\n--------------------------------------------------------------------------\nprterun noticed that process rank 3 with PID 77 on node w exited with non-zero status 1."); exit_pod(w, d + 1, l, 1); j.fail(d + 2, l); w.condition(d + 3, MPIOP, "MPIJob", name, w.ns, "Failed", "True", "MPIJobFailed", "Job has reached the specified backoff limit"); tj_delete(w, d + 25, BOB, "MPIJob", name, ws); w.at(d + 25.2, lambda: w.get("Job", j.name, w.ns) and w._do(GC, "delete", "Job", j.name, w.ns)); w.at(d + 25.6, lambda: w.get("Pod", l.name, w.ns) and w._do(GC, "delete", "Pod", l.name, w.ns)); return name, T(CODE, (), "WAG", "", weak=GONE, never=["bob@"], never_cause=DELETED)
    if twin == "worker-lost-launcher-waits": lost_pod(w, d, nodes[0], ws[0], evicted=False); orte(d + 70); exit_pod(w, d + 71, l, 1); j.fail(d + 72, l); over(d + 73, ws[1:]); idle(w, d + 120); return name, tlost(weak=CODE + COLL)
    if twin == "done-workers-killed": w.at(d - 1, lambda: j.complete(d)); w.condition(d + 2, MPIOP, "MPIJob", name, w.ns, "Succeeded", "True", "MPIJobSucceeded", f"MPIJob {w.ns}/{name} successfully completed."); [delete_pod(w, d + 2.5, MPIOP, p) for p in ws]; return name, tdone()
    if twin == "worker-oom-launcher-first":  # mpirun reports within a second, the worker's kubelet ten seconds later
        w.at(d - 1, lambda: memcg_oom(w, d, ws[0])); w.log(d + 0.6, l, f"prterun noticed that process rank 0 with PID 77 on node {name}-worker-0 exited on signal 9 (Killed)."); exit_pod(w, d + 1, l, 137); j.fail(d + 2.5, l); w.at(d + 9, lambda: set_state(w, d + 10, ws[0], "trainer", ended(w, ws[0], d, 137, "OOMKilled"), phase="Failed")); over(d + 14, ws[1:]); r = toom(weak=CODE + ("unknown",)); r.first = [ws[0].name]; return name, r
    w.log(8, l, "ssh: connect to host worker-0 port 22: Connection refused\nORTE was unable to reliably start one or more daemons."); exit_pod(w, 9, l, 1); finalizer(w, 10, l); w.at(19.9, lambda: None); q = j.pod(20, 0, nodes[2]); steps(w, q, 30, d, every=60); j.pods[0] = q; w.at(d - 1, lambda: j.complete(d)); w.condition(d + 2, MPIOP, "MPIJob", name, w.ns, "Succeeded", "True", "MPIJobSucceeded", f"MPIJob {w.ns}/{name} successfully completed."); [delete_pod(w, d + 2.5, MPIOP, p) for p in ws]; return name, tdone(weak=CODE, also=CODE + ("dep.network", "hang.rendezvous"))


@fam("ray3", "suspended-by-person head-deleted-recreated-runs memory-monitor-then-fails worker-drained-job-fails idle-removed-then-fails cluster-deleted-after-fail head-lost submitter-lost-job-goes-on")
def ray3(w, twin):
    name = run_name(w, "ray"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(4)]; d = w.rng.randrange(1200, 2400); cl = name + "-a1"
    custom(w, 0, "RayJob", name, ALICE, {"entrypoint": "python train.py", "suspend": False}, {"jobStatus": "RUNNING", "jobDeploymentStatus": "Running", "rayClusterName": cl}); custom(w, 0.2, "RayCluster", cl, KUBERAY, {}, {"state": "ready"}, of=("RayJob", name))
    mk = lambda t, what, nd: make_pod(w, t, f"{cl}-{what}-{w.suffix()}", nd, by=KUBERAY, of=("RayCluster", cl), labels={"ray.io/cluster": cl, "ray.io/node-type": "head" if what == "head" else "worker", "ray.io/group": "headgroup" if what == "head" else "gpu"}, spec=template(restart="Never" if what != "head" else "Always", gpus=0 if what == "head" else 8), generate=False)
    h, a, b = mk(0.5, "head", nodes[0]), mk(0.5, "gpu-worker", nodes[1]), mk(0.5, "gpu-worker", nodes[2]); steps(w, h, 12, d, every=60)
    st = lambda t, s, dep, msg="": (phase(w, t, KUBERAY, "RayJob", name, jobStatus=s, jobDeploymentStatus=dep, message=msg, reason="AppFailed" if s == "FAILED" else ""), None)
    if twin == "suspended-by-person":
        w.api(d, BOB, "patch", "RayJob", name, w.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}}); st(d + 0.4, "STOPPED", "Suspending"); w.api(d + 0.6, KUBERAY, "delete", "RayCluster", cl, w.ns)
        for p in (h, a, b): w.api(d + 0.9, GC, "delete", "Pod", p.name, w.ns); stop(w, d + 1, p)
        st(d + 6, "", "Suspended"); return name, T(DELETED + ("ops.config_change",), ["bob@"], "A", "A", weak=GONE + ("ops.config_change", "none.running", "sched.kueue_preempted"), never=["kuberay", "garbage"])
    if twin == "head-deleted-recreated-runs": delete_pod(w, d, BOB, h); q = mk(d + 4, "head", nodes[3]); w.at(d + 4.1, lambda: (steps(w, q, d + 15, d + 600, every=30))); idle(w, d + 600); return name, T(OK_RUN + DELETED, ["bob@"], "", "AM", weak=OK_RUN + GONE)
    if twin == "memory-monitor-then-fails":
        w.log(d - 40, h, f"(raylet, ip=10.2.0.5) [2026-10-05 10:00:00,123 E 81 81] (raylet) node_manager.cc:3193: 1 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 9f, IP: 10.2.0.5) over the last time period."); w.log(d, h, TRACE + "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.2.0.5) where the task (actor ID: 1f) was running was 190.34GB / 200.00GB (0.952), which exceeds the memory usage threshold of 0.95."); st(d + 3, "FAILED", "Failed", "Job entrypoint command failed with exit code 1, last available logs (truncated to 20,000 chars):\nray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory."); idle(w, d + 60); return name, T(("code.host_oom",) + CODE, (), "LWAG", "", weak=("unknown",))
    if twin == "worker-drained-job-fails": cordon(w, d - 2, BOB, nodes[1]); evict(w, d, BOB, a); w.log(d + 5, h, TRACE + "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task."); st(d + 8, "FAILED", "Failed", "Job entrypoint command failed with exit code 1"); q = mk(d + 5, "gpu-worker", nodes[3]); idle(w, d + 60); r = tdrain(weak=CODE + OK_RUN); return name, r
    if twin == "idle-removed-then-fails": w.event(d - 600, "raycluster-controller", "RayCluster", cl, w.ns, "DeletedWorkerPod", f"Deleted pod {w.ns}/{b.name}"); delete_pod(w, d - 600, KUBERAY, b); w.log(d, h, TRACE + "ValueError: bad crop"); st(d + 2, "FAILED", "Failed", "Job entrypoint command failed with exit code 1, last available logs (truncated to 20,000 chars):\nValueError: bad crop"); idle(w, d + 60); return name, T(CODE, (), "LWAG", "", weak=("unknown", "ops.scale_down") + OK_RUN, never_cause=["ops.manual_delete"])
    if twin == "cluster-deleted-after-fail":
        w.log(d, h, TRACE + "ValueError: bad crop"); st(d + 2, "FAILED", "Failed", "Job entrypoint command failed with exit code 1, last available logs (truncated to 20,000 chars):\nValueError: bad crop"); w.api(d + 40, BOB, "delete", "RayCluster", cl, w.ns)
        for p in (h, a, b): w.api(d + 40.3, GC, "delete", "Pod", p.name, w.ns); stop(w, d + 40.4, p)
        return name, T(CODE, (), "LWAG", "", weak=GONE, never=["bob@"], never_cause=DELETED)
    if twin == "head-lost": lost_pod(w, d, nodes[0], h); st(d + 120, "FAILED", "Failed", "Job supervisor actor died"); idle(w, d + 400); return name, tlost(weak=CODE)
    # The submitter's pod loses its connection and is gone; the job in the cluster goes on and succeeds.
    s = Job(w, 5, name, [nodes[3]], by=KUBERAY, of=("RayJob", name), spec=template(gpus=0), backoff=2); sp = s.pods[0]; w.log(d - 600, sp, "requests.exceptions.ConnectionError: HTTPConnectionPool(host='head-svc', port=8265): Max retries exceeded"); exit_pod(w, d - 600, sp, 1); finalizer(w, d - 599, sp); w.at(d - 590.1, lambda: None); q = s.pod(d - 590, 0, nodes[3]); w.at(d - 1, lambda: exit_pod(w, d, q, 0)); st(d, "SUCCEEDED", "Complete"); idle(w, d + 20); return name, tdone(weak=CODE + OK_RUN, also=CODE + ("dep.network",))


@fam("persons2", "lens k9s rancher teleport owner kubernetes-admin gitlab-ci scale-k9s airflow-user impersonated-owner svc-in-ns notebook-sa")
def persons2(w, twin):
    who, name_, = {"lens": (person("bob@lab.example", "Mozilla/5.0 (X11; Linux x86_64) freelens/1.4.0"), "bob@"), "k9s": (person("bob@lab.example", "k9s/v0.50.6"), "bob@"), "rancher": (person("u-b4qkhsnliz", "Go-http-client/2.0"), "u-b4qkhsnliz"), "teleport": (person("bob@lab.example", "kubectl/v1.34.1"), "bob@"), "owner": (ALICE, "alice@"), "kubernetes-admin": (({"username": "kubernetes-admin", "groups": ["kubeadm:cluster-admins", "system:authenticated"]}, KUBECTL), "kubernetes-admin"), "gitlab-ci": (sa("ci", "gitlab-runner", "kubectl/v1.33.0 (linux/amd64) kubernetes/60a317e"), "gitlab-runner"), "scale-k9s": (person("bob@lab.example", "k9s/v0.50.6"), "bob@"), "airflow-user": (sa("airflow", "airflow-webserver", "OpenAPI-Generator/31.0.0/python"), "airflow-webserver"), "impersonated-owner": (BOB, "bob@"), "svc-in-ns": (sa(w.ns, "default", "python-requests/2.32"), "default"), "notebook-sa": (sa(w.ns, "default-editor", "OpenAPI-Generator/30.1.0/python"), "default-editor")}[twin]
    if twin == "scale-k9s": nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; n = run_name(w, "serve"); pods, rs = deployment(w, n, 2, nodes); t = w.rng.randrange(1200, 2000); [steps(w, p, 15, t, every=60) for p in pods]; scale(w, t, who, "Deployment", n, rs, pods); return n, T(SCALED + DELETED + ("ops.config_change",), [name_], "A", "A", weak=SCALED + GONE + ("ops.config_change",))
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 3000)); j.delete(t, who); idle(w, t + 20); return j.name, T(DELETED, [name_], "AM", "AM", weak=GONE, never=["garbage"])
