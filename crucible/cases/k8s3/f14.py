"""Requests that did nothing, changes of size before another end, changes that were undone, and machines that came back."""

from f13 import *


def dry_run(w, t, who, verb, kind, name, sub=None):
    """A dry run on the server: it answers as if it had been done, and its audit record of metadata does not say that it was one."""
    plural, gv, _ = GROUP[kind]
    def do():
        o = copy.deepcopy(w.get(kind, name, w.ns))
        if o is None: return
        o["metadata"].setdefault("deletionTimestamp", w.ts(w.now + 30)); o["metadata"].setdefault("deletionGracePeriodSeconds", 30)
        ref = {"resource": plural, "name": name, "namespace": w.ns, "apiVersion": gv.split("/")[-1]} | ({"apiGroup": gv.split("/")[0]} if "/" in gv else {}) | ({"subresource": sub} if sub else {})
        asked = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/__internal", "dryRun": ["All"], "propagationPolicy": "Background"}
        if sub: asked = {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": name, "namespace": w.ns}, "deleteOptions": {"dryRun": ["All"]}}
        w.audit.append({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": uid_of(w.seed, "dry", len(w.audit)), "stage": "ResponseComplete", "requestURI": ("/api/v1" if "/" not in gv else "/apis/" + gv) + f"/namespaces/{w.ns}/{plural}/{name}" + (f"/{sub}" if sub else ""), "verb": verb, "user": who[0], "sourceIPs": ["10.0.0.9"], "userAgent": who[1], "objectRef": ref, "requestObject": asked, "responseObject": o if not sub else {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, "responseStatus": {"metadata": {}, "code": 201 if sub else 200}, "requestReceivedTimestamp": w.ts(w.now, 6), "stageTimestamp": w.ts(w.now + 0.005, 6)})
    w.at(t, do)


ENDS = "exit oom lost runs drain deljob preempt"


def end_of(w, how, j, v, nd, t):
    """How a gang ends; gives the truth."""
    bad = dict(never=["bob@"])
    if how == "exit": raise_(w, t, v); j.fail(t + 1, v); return tcode(**bad)
    if how == "oom": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return T("code.host_oom", (), "LWAG", "", weak=("unknown",), **bad)
    if how == "lost": lost_pod(w, t, nd, v); j.fail(t + 351, v); return tlost(weak=("unknown",), **bad)
    if how == "runs": [steps(w, p, t, t + 600, every=20, rank=i, start=5000) for i, p in enumerate(j.pods)]; idle(w, t + 600); return T(OK_RUN, (), "LWA", "", weak=OK_RUN + ("unknown",), **bad)
    if how == "drain": cordon(w, t - 2, CAROL, nd); evict(w, t, CAROL, v); j.fail(t + 2.6, v); return tdrain("carol@", **bad)
    if how == "deljob": j.delete(t, CAROL); return tdel("carol@", **bad)
    preempt(w, t, v, nd); j.fail(t + 2.6, v); return T("sched.preempted", (), "AEW", "", weak=GONE, **bad)


@fam("drytwin", " ".join(f"{d}-{g}+{e}" for d in ("delpod", "evict", "deljob") for g in ("40", "4", "700") for e in ENDS.split()))
def drytwin(w, twin):
    """Bob tries what his request would do, and the run ends for a reason of its own, or not at all."""
    what, how = twin.split("+"); what, gap = what.split("-"); j, nodes, t = gang(w); v, nd = j.pods[0], nodes[0]; at = t - int(gap)
    if what == "deljob": dry_run(w, at, BOB, "delete", "Job", j.name)
    else: dry_run(w, at, BOB, *(("delete", "Pod", v.name) if what == "delpod" else ("create", "Pod", v.name, "eviction")))
    return j.name, end_of(w, how, j, v, nd, t)


MIXES.setdefault("LMG", "LMG"); MIXES.setdefault("EM", "EM"); MIXES.setdefault("LM", "LM"); MIXES.setdefault("MG", "MG")
drytwin.mixes = ["LEM", "M", "XM", "LMG", "EM", "LM", "MG", "LEAG", "A"]


@fam("undone", " ".join(f"{g}+{e}" for g in ("900", "240", "60") for e in ("scale0", "scale1-runs", "deldep", "runs", "crash")))
def undone(w, twin):
    """Alice rolls out and undoes it; later Bob changes the size, or nothing happens."""
    gap, how = twin.split("+"); gap = int(gap); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; t = w.rng.randrange(2400, 3600); name = run_name(w, "serve"); pods, rs = deployment(w, name, 2, nodes); rs2 = rs[:-2] + "zz"; a = t - gap - 60
    [steps(w, p, 15, a, every=60, rank=i) for i, p in enumerate(pods)]
    def patch(at, image): w.api(at, ALICE, "patch", "Deployment", name, w.ns, change=lambda o: o["spec"]["template"]["spec"]["containers"][0].update(image=image), request={"spec": {"template": {"spec": {"containers": [{"name": "trainer", "image": image}]}}}})
    def swap(at, old, old_pods, new, n=2):
        w.api(at + 0.1, DEPC, "update", "ReplicaSet", new, w.ns, change=lambda o: o["spec"].update(replicas=n)); w.event(at + 0.1, "deployment-controller", "Deployment", name, w.ns, "ScalingReplicaSet", f"Scaled up replica set {new} from 0 to {n}")
        qs = [make_pod(w, at + 0.4, f"{new}-{w.suffix()}", nodes[i], by=RSC, of=("ReplicaSet", new), labels={"app": name, "pod-template-hash": new[-8:]}, spec=template(restart="Always")) for i in range(n)]
        w.api(at + 8, DEPC, "update", "ReplicaSet", old, w.ns, change=lambda o: o["spec"].update(replicas=0)); w.event(at + 8, "deployment-controller", "Deployment", name, w.ns, "ScalingReplicaSet", f"Scaled down replica set {old} from 2 to 0")
        for p in old_pods: delete_pod(w, at + 8.2, RSC, p); w.event(at + 8.3, "replicaset-controller", "ReplicaSet", old, w.ns, "SuccessfulDelete", f"Deleted pod: {p.name}")
        return qs
    custom(w, a + 0.05, "ReplicaSet", rs2, DEPC, {"replicas": 0}, {"replicas": 0}, of=("Deployment", name), labels={"app": name, "pod-template-hash": rs2[-8:]})
    patch(a, "registry.lab.example/train:1.5.0"); qs = swap(a, rs, pods, rs2)
    patch(a + 30, "registry.lab.example/train:1.4.2"); ps = swap(a + 30, rs2, qs, rs)
    [steps(w, p, a + 60, t, every=20, rank=i) for i, p in enumerate(ps)]
    ok = SCALED + DELETED + ("ops.config_change",)
    if how == "scale0": scale(w, t, BOB, "Deployment", name, rs, ps); idle(w, t + 20); return name, T(ok, ["bob@"], "A", "A", weak=ok + ("unknown",), never=["alice@", "replicaset-controller", "deployment-controller"])
    if how == "scale1-runs": scale(w, t, BOB, "Deployment", name, rs, ps, 1); steps(w, ps[0], t, t + 300, every=20); idle(w, t + 300); return name, T(OK_RUN + ok, ["bob@"], "", "A", weak=OK_RUN + ok, never=["alice@"])
    if how == "deldep":
        w.api(t, BOB, "delete", "Deployment", name, w.ns); [w.api(t + 0.2, GC, "delete", "ReplicaSet", r, w.ns) for r in (rs, rs2)]
        for p in ps: w.at(t + 0.4, lambda p=p: w.get("Pod", p.name, w.ns) and w._do(GC, "delete", "Pod", p.name, w.ns)); stop(w, t + 0.5, p)
        idle(w, t + 20); return name, tdel(never=["alice@"], weak=GONE + ("ops.config_change",))
    if how == "runs": [steps(w, p, t, t + 300, every=20, rank=i) for i, p in enumerate(ps)]; idle(w, t + 300); return name, T(OK_RUN, (), "LWA", "", weak=OK_RUN + ok + ("unknown",), also=ok)
    for k in range(4): w.log(t + 60 * k, ps[0], TRACE + "ValueError: bad crop"); restart(w, t + 60 * k, ps[0], 1, n=k + 1, wait=20)
    kl(w, t + 80, ps[0], "BackOff", f"Back-off restarting failed container trainer in pod {ps[0].name}_{w.ns}", warn=True, count=8, until=t + 220, field="spec.containers{trainer}"); idle(w, t + 230)
    return name, T(CODE, (), "LWAG", "", weak=OK_RUN + ok + ("unknown",), never=["alice@"])


@fam("smaller", " ".join(f"{k}-{g}+{e}" for k in ("job", "sts", "pt", "dep") for g in ("900", "100") for e in ("exit", "oom", "lost", "runs", "delete")))
def smaller(w, twin):
    """Carol makes a run smaller, the rest of it goes on, and ends for a reason of its own."""
    kind, how = twin.split("+"); kind, gap = kind.split("-"); gap = int(gap); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; t = w.rng.randrange(2000, 3000); a = t - gap; ok = SCALED + DELETED + ("ops.config_change",)
    if kind == "job":
        j = Job(w, 0, run_name(w), nodes); ps, name, what = j.pods, j.name, "Job"; out = ps[2]
        w.api(a, CAROL, "patch", "Job", name, w.ns, change=lambda o: o["spec"].update(parallelism=2), request={"spec": {"parallelism": 2}}); delete_pod(w, a + 0.2, JOBC, out); w.event(a + 0.3, "job-controller", "Job", name, w.ns, "SuccessfulDelete", f"Deleted pod: {out.name}")
        over = lambda at, v: j.fail(at, v, rest=[p for p in ps[:2] if p is not v])
    elif kind == "pt":
        name, ps = pytorch(w, 3, nodes, elastic=True); what = "PyTorchJob"; out = ps[2]
        w.api(a, CAROL, "patch", "PyTorchJob", name, w.ns, change=lambda o: o["spec"]["pytorchReplicaSpecs"]["Worker"].update(replicas=1), request={"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 1}}}}); delete_pod(w, a + 0.4, TRAINOP, out)
        over = lambda at, v: pt_failed(w, at, name, [p for p in ps[:2] if p is not v])
    else:
        name = run_name(w, "serve"); what = "StatefulSet" if kind == "sts" else "Deployment"; ps, rs = deployment(w, name, 3, nodes, what); out = ps[2]
        w.api(a, CAROL, "patch", what, name, w.ns, sub="scale", change=lambda o: o["spec"].update(replicas=2), request={"spec": {"replicas": 2}})
        if rs: w.api(a + 0.1, DEPC, "update", "ReplicaSet", rs, w.ns, change=lambda o: o["spec"].update(replicas=2)); w.event(a + 0.1, "deployment-controller", "Deployment", name, w.ns, "ScalingReplicaSet", f"Scaled down replica set {rs} from 3 to 2")
        delete_pod(w, a + 0.3, RSC if rs else STSC, out)
        w.event(a + 0.35, "replicaset-controller" if rs else "statefulset-controller", "ReplicaSet" if rs else what, rs or name, w.ns, "SuccessfulDelete", f"Deleted pod: {out.name}" if rs else f"delete Pod {out.name} in StatefulSet {name} successful")
        over = None
    v, nd = ps[0], nodes[0]; [steps(w, p, 12, a if p is out else t, every=20, rank=i) for i, p in enumerate(ps)]
    if how == "runs": [steps(w, p, t, t + 300, every=20, rank=i, start=6000) for i, p in enumerate(ps[:2])]; idle(w, t + 300); return name, T(OK_RUN + ok, ["carol@"], "", "AM", weak=OK_RUN + ok + ("unknown",))
    if how == "delete":
        w.api(t, BOB, "delete", what, name, w.ns)
        if kind == "dep": w.api(t + 0.2, GC, "delete", "ReplicaSet", rs, w.ns)
        for p in ps[:2]:
            if kind == "job": finalizer(w, t + 0.2, p)
            w.at(t + 0.4, lambda p=p: w.get("Pod", p.name, w.ns) and w._do(GC, "delete", "Pod", p.name, w.ns)); stop(w, t + 0.5, p)
        idle(w, t + 30); r = tdel(never=["carol@"]); r.first = [p.name for p in ps[:2]]; return name, r
    if how == "lost":
        lost_pod(w, t, nd, v); over and over(t + 351, v)
        if kind in ("sts", "dep"): idle(w, t + 380)
        r = tlost(weak=("unknown",), never=["carol@"]); r.first = [v.name]; return name, r
    loops = kind in ("sts", "dep")
    text = "ValueError: bad crop"
    for k in range(4 if loops else 1):
        at = t + 60 * k
        if how == "exit": w.log(at, v, TRACE + text)
        else: w.at(at - 1, lambda at=at: memcg_oom(w, at, v))
        if loops: restart(w, at, v, 1 if how == "exit" else 137, "Error" if how == "exit" else "OOMKilled", n=k + 1, wait=20)
        else: exit_pod(w, at + 0.1, v, 1 if how == "exit" else 137, None if how == "exit" else "OOMKilled")
    if loops: kl(w, t + 80, v, "BackOff", f"Back-off restarting failed container trainer in pod {v.name}_{w.ns}", warn=True, count=8, until=t + 220, field="spec.containers{trainer}"); idle(w, t + 230)
    else: over(t + 1, v)
    right = CODE if how == "exit" else ("code.host_oom",)
    r = T(right, (), "LWAG", "", weak=("unknown",) + OK_RUN, never=["carol@"]); r.first = [v.name]; return name, r


@fam("back", " ".join(f"{d}+{e}" for d in ("150", "400", "900") for e in ("deljob", "fails", "goes-on", "deljob-late")))
def back(w, twin):
    """A machine is cut off and comes back after some time; somebody clears the run away by then, or it fails, or goes on."""
    down, how = twin.split("+"); down = int(down); j, nodes, t = gang(w); v, nd = j.pods[0], nodes[0]
    not_ready(w, t + 45, nd, [v]); evicted = down > 350
    def ready(at):
        def change(o):
            for c in o["status"]["conditions"]: c.update(status="True" if c["type"] == "Ready" else "False", reason="KubeletReady" if c["type"] == "Ready" else "KubeletHasSufficientMemory", message="kubelet is posting ready status", lastTransitionTime=w.ts(w.now))
            o["spec"]["taints"] = [x for x in o["spec"].get("taints", []) if "unreachable" not in x["key"]]
        w.api(at, kubelet(nd), "patch", "Node", nd, sub="status", change=change); w.event(at + 0.1, "kubelet", "Node", nd, None, "NodeReady", f"Node {nd} status is now: NodeReady", host=nd)
    if evicted: taint_evict(w, t + 350, v, lost=True); j.fail(t + 351, v)
    ready(t + down)
    if evicted: stop(w, t + down + 1, v)
    e = t + down + (60 if how == "deljob" else 1500)
    if how == "goes-on" and not evicted: [steps(w, p, t + down + 5, e, every=20, rank=i, start=6000) for i, p in enumerate(j.pods)]; idle(w, e); return j.name, T(OK_RUN, (), "", "", weak=OK_RUN + ("node.not_ready", "unknown") + COLL, also=("node.not_ready",))
    if how == "fails" and not evicted:
        for i, p in enumerate(j.pods): w.log(t + down + 30 + i, p, TRACE + f"torch.distributed.DistBackendError: [Rank {i}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4123, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600029 milliseconds before timing out."); exit_pod(w, t + down + 31 + i, p, 1)
        j.fail(t + down + 33, j.pods[0], rest=[]); return j.name, T(("node.not_ready",) + COLL + CODE, (), "LEWA", "", weak=("unknown",))
    if how in ("deljob", "deljob-late"):
        w.at(e, lambda: w.get("Job", j.name, w.ns) and w._do(BOB, "delete", "Job", j.name, w.ns))
        for p in j.pods: w.at(e + 0.1, lambda p=p: w.get("Pod", p.name, w.ns) and finalizer(w, w.now, p)); w.at(e + 0.3, lambda p=p: w.get("Pod", p.name, w.ns) and w._do(GC, "delete", "Pod", p.name, w.ns))
        if not evicted: [stop(w, e + 0.4, p) for p in j.pods]
        idle(w, e + 20)
        if evicted: return j.name, tlost(weak=GONE + ("unknown",), never=["bob@"], never_cause=DELETED)
        return j.name, T(("node.not_ready",) + DELETED, (), "", "", weak=GONE + ("node.not_ready",))
    idle(w, e + 5); return j.name, tlost(weak=("unknown",)) if evicted else T(OK_RUN + ("node.not_ready",), (), "", "", weak=OK_RUN + ("node.not_ready", "unknown"))
