"""Who was first, sweeps under one label, harmless changes of other roots, loops that something else ends, ten minutes of waiting, odd claims."""

from f7 import *


@fam("first2", " ".join(f"{c}+{g}" for c in ("oom", "exit", "segv", "cudaoom", "evict", "delete", "preempt", "bus") for g in ("0.3", "3", "40")))
def first2(w, twin):
    """Rank 2 of four ends; the others give up waiting g seconds later, by themselves."""
    c, g = twin.split("+"); g = float(g); j, nodes, t = gang(w, n=4, run=w.rng.randrange(1500, 2600)); v, nd = j.pods[2], nodes[2]; rest = [p for p in j.pods if p is not v]
    if c == "oom": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); r = toom()
    if c == "exit": raise_(w, t, v); r = tcode()
    if c == "segv": w.log(t, v, "Fatal Python error: Segmentation fault\n\nThread 0x00007f1 (most recent call first):\n  File \"/app/ops.py\", line 8 in forward"); exit_pod(w, t, v, 139); r = T(("code.segfault",), (), "LWAG", "", weak=CODE)
    if c == "cudaoom": w.log(t, v, CAUGHT); exit_pod(w, t, v, 1); r = T(("code.cuda_oom",), (), "G", "", weak=CODE, unseen=CODE)
    if c == "bus": w.log(t, v, TRACE + "RuntimeError: DataLoader worker (pid 8213) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit."); exit_pod(w, t, v, 1); r = T(CODE + ("code.data_loader", "code.storage_limit"), (), "LWAG", "")
    if c == "evict": cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); r = tdrain(); g += 2
    if c == "delete": delete_pod(w, t, BOB, v); r = tdel(); g += 2
    if c == "preempt": preempt(w, t, v, nd); r = T("sched.preempted", (), "AEW", "", weak=GONE); g += 2
    for i, p in enumerate(rest): nccl_gone(w, t + g + 0.1 * i, p, j.pods.index(p))
    j.fail(t + g + 3, v if c not in ("evict", "delete", "preempt") else None, rest=[]); r.weak += COLL + CODE; r.first = [v.name]; return j.name, r


@fam("sweep", "one-fails-others-run one-oom-others-done owner-stops-one-others-run one-preempted-others-run all-done last-pending one-lost-others-run")
def sweep(w, twin):
    """Five Jobs under one label of an experiment; asked by the label."""
    n = run_name(w, "sweep"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(5)]; js = [Job(w, 5 * i, f"{n}-lr{i}", [nodes[i]] if not (twin == "last-pending" and i == 4) else [None], labels={"experiment": n}) for i in range(5)]; t = w.rng.randrange(1500, 2600); x = js[2]; v = x.pods[0]; e = t + 600
    for j in js: j.pods[0].node and steps(w, j.pods[0], 30, t if j is x or twin in ("all-done", "one-oom-others-done") else e, every=30)
    others = [j for j in js if j is not x]
    if twin == "all-done": [w.at(t - 0.5, lambda j=j: j.complete(t)) for j in js]; return n, tdone()
    if twin == "last-pending": steps(w, v, t, e, every=30); unschedulable(w, 25, js[4].pods[0], "0/5 nodes are available: 5 Insufficient nvidia.com/gpu. preemption: 0/5 nodes are available: 5 No preemption victims found for incoming pod.", until=e); idle(w, e); return n, T(("sched.unschedulable_capacity",) + OK_RUN, (), "LEWA", "")
    if twin == "one-fails-others-run": raised(w, t, x, v); r = tcode()
    if twin == "one-oom-others-done": w.at(t - 201, lambda: memcg_oom(w, t - 200, v)); exit_pod(w, t - 199.9, v, 137, "OOMKilled"); x.fail(t - 199, v); [w.at(t - 0.5, lambda j=j: j.complete(t)) for j in others]; r = toom(weak=OK_DONE)
    if twin == "owner-stops-one-others-run": x.delete(t, ALICE); r = T(OK_RUN + DELETED, ["alice@"], "", "AM", weak=OK_RUN + GONE)
    if twin == "one-preempted-others-run": preempt(w, t, v, nodes[2]); x.fail(t + 2.8, v); r = T("sched.preempted", (), "AEW", "", weak=GONE)
    if twin == "one-lost-others-run": lost_pod(w, t, nodes[2], v); x.fail(t + 351, v); r = tlost()
    idle(w, e); r.weak += OK_RUN + ("unknown",); return n, r


CRS = {"PyTorchJob": {"spec": {"runPolicy": {"ttlSecondsAfterFinished": 86400}}}, "RayJob": {"spec": {"ttlSecondsAfterFinished": 86400}}, "JobSet": {"spec": {"ttlSecondsAfterFinished": 86400}}, "StatefulSet": {"spec": {"revisionHistoryLimit": 3}}, "Deployment": {"spec": {"progressDeadlineSeconds": 900}}, "VolcanoJob": {"spec": {"ttlSecondsAfterFinished": 86400}}}


@fam("harmcr", " ".join(f"{k}+{e}" for k in CRS for e in ("exit", "oom", "drain", "delpod", "preempt", "runs")))
def harmcr(w, twin):
    """dave changes a field of the root that stops no pod, twenty seconds before the end."""
    k, e = twin.split("+"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; t = w.rng.randrange(1500, 2600); n = run_name(w); loop = k in ("StatefulSet", "Deployment")
    if k == "PyTorchJob": n, ps = pytorch(w, 2, nodes, run=t); op = TRAINOP
    elif k == "RayJob": cl = n + "-a1"; custom(w, 0, "RayJob", n, ALICE, {"entrypoint": "x"}, {"jobStatus": "RUNNING", "jobDeploymentStatus": "Running", "rayClusterName": cl}); custom(w, 0.2, "RayCluster", cl, KUBERAY, {}, {"state": "ready"}, of=("RayJob", n)); ps = [make_pod(w, 0.5, f"{cl}-{x}-{w.suffix()}", nodes[i], by=KUBERAY, of=("RayCluster", cl), labels={"ray.io/cluster": cl}, generate=False) for i, x in enumerate(("head", "gpu-worker"))]; op = KUBERAY; steps(w, ps[0], 10, t, every=30); steps(w, ps[1], 10, t, every=30, rank=1)
    elif k == "JobSet": custom(w, 0, "JobSet", n, ALICE, {"replicatedJobs": [{"name": "w", "replicas": 1}]}, {}); j = Job(w, 0.4, f"{n}-w-0", nodes[:2], by=JOBSET, of=("JobSet", n), labels={"jobset.sigs.k8s.io/jobset-name": n}); ps = j.pods; op = JOBC; [steps(w, p, 10, t, every=30, rank=i) for i, p in enumerate(ps)]
    elif k == "VolcanoJob": custom(w, 0, k, n, ALICE, {"minAvailable": 2}, {"state": {"phase": "Running"}}); ps = [make_pod(w, 0.5, f"{n}-w-{i}", nodes[i], by=VCCTL, of=(k, n), labels={"volcano.sh/job-name": n}, generate=False) for i in range(2)]; op = VCCTL; [steps(w, p, 10, t, every=30, rank=i) for i, p in enumerate(ps)]
    else: ps, rs = deployment(w, n, 2, nodes, k); op = RSC if k == "Deployment" else STSC; [steps(w, p, 16, t, every=30, rank=i) for i, p in enumerate(ps)]
    def change(o):
        for f, x in CRS[k]["spec"].items(): o["spec"].setdefault(f, {}).update(x) if isinstance(x, dict) else o["spec"].update({f: x})
        o["metadata"]["generation"] = 2
    w.api(t - 20, DAVE, "patch", k, n, w.ns, change=change, request=CRS[k]); v, o = ps[1], ps[0]; nd = nodes[1]
    def fell(at, rest):
        if k == "PyTorchJob": pt_failed(w, at, n, rest)
        elif k == "RayJob": phase(w, at + 4, KUBERAY, k, n, jobStatus="FAILED", jobDeploymentStatus="Failed", message="Job entrypoint command failed with exit code 1")
        elif k == "JobSet": j.fail(at, v); w.condition(at + 5, JOBSET, "JobSet", n, w.ns, "Failed", "True", "FailedJobs", "jobset failed due to one or more job failures")
        elif k == "VolcanoJob": [delete_pod(w, at, VCCTL, p) for p in rest]; phase(w, at + 4, VCCTL, k, n, state={"phase": "Failed"})
        elif e not in ("exit", "oom"):
            if k == "Deployment": q = make_pod(w, at, f"{rs}-{w.suffix()}", nodes[2], by=RSC, of=("ReplicaSet", rs), labels={"app": n}, spec=template(restart="Always"))
            else: w.at(at + 1.9, lambda: None); q = make_pod(w, at + 2, v.name, nodes[2], by=STSC, of=("StatefulSet", n), labels={"app": n}, spec=template(restart="Always"), generate=False)
            steps(w, q, at + 20, at + 300, every=30); steps(w, o, t, at + 300, every=30); idle(w, at + 300)
    if e == "runs": [steps(w, p, t, t + 60, every=15) for p in ps]; idle(w, t + 60); r = truns()
    elif e in ("exit", "oom"):
        if loop:
            for i in range(4): (w.log(t + 80 * i, v, TRACE + "ValueError: bad crop") if e == "exit" else w.at(t + 80 * i - 1, lambda i=i: memcg_oom(w, t + 80 * i, v))); restart(w, t + 80 * i, v, 1 if e == "exit" else 137, "Error" if e == "exit" else "OOMKilled", n=i + 1, wait=20)
            kl(w, t + 90, v, "BackOff", f"Back-off restarting failed container trainer in pod {v.name}_{w.ns}", warn=True, count=9, until=t + 290, field="spec.containers{trainer}"); idle(w, t + 300)
        else: (raise_(w, t, v) if e == "exit" else (w.at(t - 1, lambda: memcg_oom(w, t, v)), exit_pod(w, t + 0.1, v, 137, "OOMKilled"))); fell(t + 1, [o])
        r = (tcode if e == "exit" else toom)(); r.weak += OK_RUN if loop else ()
    else:
        if e == "drain": cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); r = tdrain()
        if e == "delpod": delete_pod(w, t, BOB, v); r = tdel()
        if e == "preempt": preempt(w, t, v, nd); r = T("sched.preempted", (), "AEW", "", weak=GONE)
        fell(t + 3, [o]); r.weak += OK_RUN
        if loop: r.right += OK_RUN; r.seen = ""
        if k == "RayJob": r.weak += OK_RUN
    r.never = tuple(r.never) + ("dave@",); r.never_cause = tuple(r.never_cause) + ("ops.config_change",); r.weak += ("unknown",); return n, r


harmcr.mixes = ["M", "LEM", "XM", "A", "EA", "LA", "LEAG", "LE", "L"]


@fam("loop", " ".join(f"{a}+{b}" for a in ("exit", "oom") for b in ("lost", "preempt", "ca", "pressure", "delpod", "deljob", "node-deleted", "taint", "evict", "deadline")))
def loop(w, twin):
    """A container has failed six times in the same way when something takes the pod away."""
    a, b = twin.split("+"); t = 1500; j, nodes, _ = gang(w, n=1, run=400, spec=template(restart="OnFailure"), backoff=20, deadline=t if b == "deadline" else None); v, nd = j.pods[0], nodes[0]; at = 420
    for k in range(6):
        if a == "exit": w.log(at, v, TRACE + "KeyError: 'warmup'")
        else: w.at(at - 1, lambda at=at: memcg_oom(w, at, v))
        restart(w, at, v, 1 if a == "exit" else 137, "Error" if a == "exit" else "OOMKilled", n=k + 1, wait=20 + 30 * k); at += 60 + 30 * k
    kl(w, 480, v, "BackOff", f"Back-off restarting failed container trainer in pod {v.name}_{w.ns}({w.seed})", warn=True, count=24, until=at - 20, field="spec.containers{trainer}")
    if b == "lost": lost_pod(w, t, nd, v)
    if b == "preempt": preempt(w, t, v, nd)
    if b == "ca": ca_remove(w, t, nd, [v])
    if b == "pressure": msg = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 93Mi. Container trainer was using 190Gi, request is 100Gi, has larger consumption of memory. "; kl(w, t, v, "Evicted", msg, warn=True); w.condition(t + 0.1, kubelet(nd), "Pod", v.name, v.ns, "DisruptionTarget", "True", "TerminationByKubelet", msg); exit_pod(w, t + 1, v, 137, why="Evicted", why_message=msg)
    if b == "delpod": delete_pod(w, t, BOB, v)
    if b == "deljob": j.delete(t, BOB)
    if b == "taint": taint(w, t - 0.3, BOB, nd, "maintenance", "NoExecute", "rack7"); taint_evict(w, t, v)
    if b == "evict": cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v)
    if b == "node-deleted": delete_node(w, t, BOB, nd); w.condition(t + 40, PODGC, "Pod", v.name, v.ns, "DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"); finalizer(w, t + 40.2, v); w.api(t + 40.7, PODGC, "delete", "Pod", v.name, v.ns, grace=0)
    if b == "deadline": j.fail(t, None, "DeadlineExceeded", "Job was active longer than specified deadline", rest=[v])
    idle(w, t + 20); r = (tcode if a == "exit" else toom)(seen="WAG") if a == "exit" else T("code.host_oom", (), "WAG", ""); r.weak = CODE + ("code.host_oom", "unknown", "node.not_ready", "sched.preempted", "sched.node_pressure", "code.deadline") + SCALED + DRAINED + DELETED; r.right += ("code.deadline",) if b == "deadline" else (); r.never = ("bob@",); r.unseen = tuple(x for x in r.weak); r.meta_ok = True; return j.name, r


@fam("wait600", " ".join(f"{a}" for a in ("drain", "preempt", "lost", "oom", "delete", "hang")))
def wait600(w, twin):
    """One member goes; the Job ignores disruptions and waits for room; after 600 s the watchdogs of the others end them."""
    pol = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}; j, nodes, t = gang(w, n=4, run=w.rng.randrange(1200, 1900), backoff=2, policy=pol); v, nd = j.pods[2], nodes[2]; rest = [p for p in j.pods if p is not v]; over = t + 3
    if twin == "drain": cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); r = tdrain()
    if twin == "delete": delete_pod(w, t, BOB, v); r = tdel()
    if twin == "preempt": preempt(w, t, v, nd); r = T("sched.preempted", (), "AEW", "", weak=GONE)
    if twin == "lost": lost_pod(w, t, nd, v); over = t + 352; r = tlost()
    if twin == "oom": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); finalizer(w, t + 1, v); r = toom()
    if twin == "hang": r = T(("hang.collective_timeout", "hang.no_progress"), (), "G", "", weak=COLL + CODE + ("code.segfault", "hang.no_progress", "unknown"))
    if twin != "hang": w.at(over + 9.9, lambda: None); q = j.pod(over + 10, 2, None); unschedulable(w, over + 11, q, "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod.", until=t + 600)
    for i, p in enumerate(rest):
        w.log(t + 600 + 0.2 * i, p, f"[rank{j.pods.index(p)}]:[E1005 10:00:00.0 ProcessGroupNCCL.cpp:632] [Rank {j.pods.index(p)}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=981, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.\n[rank{j.pods.index(p)}]:[E1005] To avoid data inconsistency, we are taking the entire process down.\nterminate called after throwing an instance of 'c10::DistBackendError'"); exit_pod(w, t + 601 + 0.2 * i, p, 134)
    w.condition(t + 603, JOBC, "Job", j.name, j.ns, "FailureTarget", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit"); w.event(t + 606, "job-controller", "Job", j.name, j.ns, "BackoffLimitExceeded", "Job has reached the specified backoff limit", warn=True); w.condition(t + 606, JOBC, "Job", j.name, j.ns, "Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit", failed=3)
    if twin == "hang": finalizer(w, t + 603.1, rest[0]); delete_pod(w, t + 603.2, JOBC, v, code=137, took=30)
    r.weak += COLL + CODE + ("code.segfault", "sched.unschedulable_capacity"); r.first = [v.name] if twin != "hang" else []; return j.name, r


@fam("selfheal", "three-restarts-completes job-retries-complete reboot-completes drain-completes two-preempts-complete pending-long-completes image-late-completes liveness-completes")
def selfheal(w, twin):
    on = twin in ("three-restarts-completes", "liveness-completes", "reboot-completes"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; t = w.rng.randrange(900, 1400); D_ = lambda: tdone(also=CODE + DRAINED + DELETED + ("code.host_oom", "node.reboot", "sched.preempted", "sched.unschedulable_capacity", "dep.image_pull", "code.liveness_probe"), weak=("unknown",))
    if twin in ("pending-long-completes", "image-late-completes"):
        j = Job(w, 0, run_name(w), []); p = j.pod(0.5, 0, None if "pending" in twin else nodes[0], starts=False); p.start = 3; j.pods = [p]
        if "pending" in twin: unschedulable(w, 1, p, "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.", until=1000); w.at(1050, lambda: (setattr(p, "node", nodes[0]), bind(w, 1050.1, p), start(w, 1052, p)))
        else: bind(w, 1, p); kl(w, 5, p, "Failed", 'Failed to pull image "registry.lab.example/train:1.4.2": rpc error: code = NotFound desc = failed to pull and unpack image "registry.lab.example/train:1.4.2": not found', warn=True, count=7, until=900, field="spec.containers{trainer}"); set_state(w, 6, p, "trainer", {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}, phase="Pending"); w.at(1050, lambda: start(w, 1052, p))
        w.at(1053, lambda: steps(w, p, 1060, 2000, every=30)); w.at(1999, lambda: j.complete(2000)); return j.name, D_()
    j = Job(w, 0, run_name(w), nodes[:1], backoff=6, spec=template(restart="OnFailure" if on else "Never")); v = j.pods[0]; steps(w, v, 10, t, every=30); e = t + 900
    if on:
        n = 3 if twin.startswith("three") else 1
        for k in range(n):
            at = t + 100 * k
            if twin.startswith("three"): w.log(at, v, TRACE + "OSError: [Errno 116] Stale file handle"); restart(w, at, v, 1, n=k + 1, wait=20)
            elif twin.startswith("live"): kl(w, at - 20, v, "Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500", warn=True, count=3, until=at); kl(w, at, v, "Killing", "Container trainer failed liveness probe, will be restarted", field="spec.containers{trainer}"); restart(w, at + 30, v, 137, n=1, wait=20)
            else: w.event(at + 90, "kubelet", "Node", nodes[0], None, "Rebooted", f"Node {nodes[0]} has been rebooted, boot id: {uid_of(w.seed, 'b2')}", warn=True, host=nodes[0]); w.api(at + 90, kubelet(nodes[0]), "patch", "Node", nodes[0], sub="status", change=lambda o: o["status"]["nodeInfo"].update(bootID=uid_of(w.seed, "b2"))); w.at(at + 94, lambda: start(w, at + 94, v, 1, {"terminated": {"exitCode": 255, "reason": "Unknown", "startedAt": w.ts(3), "finishedAt": w.ts(at + 92)}}))
        steps(w, v, t + 350, e, every=30, start=3000); w.at(e - 0.5, lambda: j.complete(e)); return j.name, D_()
    ends = {"job-retries-complete": ["exit", "oom"], "drain-completes": ["drain"], "two-preempts-complete": ["preempt", "preempt"]}[twin]; at, p = t, v
    box = [v]
    for i, k in enumerate(ends):
        def one(at=at, k=k, i=i):
            over = try_end(k, w, j, box[-1], nodes[i], at, CAROL); finalizer(w, over, box[-1]); w.at(over + 9.9, lambda: (box.append(j.pod(over + 10, 0, nodes[i + 1])), steps(w, box[-1], over + 20, over + 400, every=30)))
        w.at(at - 3, one); at += 450
    w.at(at + 40, lambda: (setattr(j, "pods", [box[-1]]), j.complete(at + 41))); return j.name, D_()


@fam("misc8", "drain-selector-then-exit evicted-by-own-sts-then-runs rollout-paused-old-crashes ns-deleted-after-fail ns-deleted-by-rancher unknown-255-then-fail container-unknown-after-back job-recreated-by-argo-sync quota-blocks-second-job-of-name killed-by-owner-exec-py dup-names-two-kinds")
def misc8(w, twin):
    if twin == "dup-names-two-kinds":  # a Job and a Deployment of one name; the Deployment's pod is scaled away, the Job raises
        nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; n = run_name(w); t = w.rng.randrange(1500, 2600); pods, rs = deployment(w, n, 1, nodes); j = Job(w, 1, n, nodes[1:]); v = j.pods[0]; steps(w, v, 10, t, every=30); scale(w, t - 30, CAROL, "Deployment", n, rs, pods); raised(w, t, j, v); return f"Job/{w.ns}/{n}", tcode(never=["carol@"])
    if twin == "rollout-paused-old-crashes":
        nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; n = run_name(w, "serve"); t = w.rng.randrange(1500, 2600); pods, rs = deployment(w, n, 2, nodes); [steps(w, p, 15, t, every=30) for p in pods]; w.api(t - 200, BOB, "patch", "Deployment", n, w.ns, change=lambda o: (o["spec"].update(paused=True), o["spec"]["template"]["spec"]["containers"][0].update(image="registry.lab.example/train:1.5.0")), request={"spec": {"paused": True, "template": {"spec": {"containers": [{"name": "trainer", "image": "registry.lab.example/train:1.5.0"}]}}}}); v = pods[0]
        for i in range(4): w.log(t + 80 * i, v, TRACE + "ValueError: bad crop"); restart(w, t + 80 * i, v, 1, n=i + 1, wait=20)
        kl(w, t + 90, v, "BackOff", f"Back-off restarting failed container trainer in pod {v.name}_{w.ns}", warn=True, count=9, until=t + 290, field="spec.containers{trainer}"); idle(w, t + 300); return n, T(CODE, (), "LWAG", "", weak=OK_RUN + ("unknown",), never=["bob@"], never_cause=["ops.config_change"])
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 2600)); v, nd = j.pods[0], nodes[0]
    if twin == "drain-selector-then-exit": o = make_pod(w, 2, "notebook-" + w.suffix(4), nd, by=CAROL, generate=False); cordon(w, t - 32, BOB, nd); evict(w, t - 30, BOB, o); raised(w, t, j, v); return j.name, tcode(never=["bob@"], never_cause=list(DRAINED))
    if twin == "evicted-by-own-sts-then-runs":
        n = run_name(w, "sts"); ps, _ = deployment(w, n, 2, nodes, "StatefulSet"); p = ps[0]; steps(w, p, 12, t, every=30); evict(w, t, ALICE, p); q = make_pod(w, t + 4, p.name, nodes[1], by=STSC, of=("StatefulSet", n), labels={"app": n}, spec=template(restart="Always"), generate=False); steps(w, q, t + 14, t + 500, every=30); steps(w, ps[1], 12, t + 500, every=30); idle(w, t + 500); return n, T(OK_RUN + DELETED, (), "", "", weak=OK_RUN + GONE + DRAINED)
    if twin in ("ns-deleted-after-fail", "ns-deleted-by-rancher"):
        w.at(-0.3, lambda: w.objs.__setitem__(("Namespace", None, w.ns), {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": w.ns, "uid": uid_of(w.seed, "ns"), "creationTimestamp": w.ts(-90000)}, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}})); who = BOB if "fail" in twin else sa("cattle-system", "rancher", "rancher/v2.12"); at = t + 60 if "fail" in twin else t
        if "fail" in twin: raised(w, t, j, v)
        w.api(at, who, "delete", "Namespace", w.ns)
        for p in j.pods: w.at(at + 0.3, lambda p=p: w.get("Pod", p.name, p.ns) and (finalizer(w, w.now, p))); w.at(at + 0.5, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(NSC, "delete", "Pod", p.name, p.ns)); "fail" in twin or stop(w, at + 0.6, p)
        w.at(at + 0.7, lambda: w.get("Job", j.name, w.ns) and w._do(NSC, "delete", "Job", j.name, w.ns)); idle(w, at + 20)
        return j.name, (T(CODE, (), "AG", "", weak=GONE, never=["bob@", "namespace-controller"], never_cause=DELETED) if "fail" in twin else T(DELETED, ["rancher"], "AM", "AM", weak=GONE, never=["namespace-controller"]))
    if twin == "unknown-255-then-fail": set_state(w, t, v, "trainer", {"terminated": {"exitCode": 255, "reason": "Unknown", "startedAt": w.ts(3), "finishedAt": w.ts(t)}}, phase="Failed"); w.event(t - 5, "kubelet", "Node", nd, None, "Starting", "Starting kubelet.", host=nd); w.kernel(t - 9, nd, "containerd.service: Main process exited, code=killed, status=9/KILL", unit="systemd[1]"); j.fail(t + 1, v); return j.name, T(("node.runtime", "node.reboot", "unknown"), (), "", "", weak=("node.runtime", "node.reboot") + CODE, never_cause=list(CODE))
    if twin == "container-unknown-after-back": lost_pod(w, t, nd, v, evicted=False); ready(w, t + 200, nd, True, "KubeletReady", "kubelet is posting ready status"); w.api(t + 201, NODEC, "patch", "Node", nd, change=lambda x: x["spec"].pop("taints", None), request={"spec": {"taints": None}}); set_state(w, t + 205, v, "trainer", {"terminated": {"exitCode": 137, "reason": "ContainerStatusUnknown", "message": "The container could not be located when the pod was terminated", "startedAt": None, "finishedAt": None}}, phase="Failed"); j.fail(t + 207, v); return j.name, T(("node.not_ready", "node.reboot", "node.runtime"), (), "LEWA", "", weak=("unknown", "node.reboot", "node.runtime"))
    if twin == "job-recreated-by-argo-sync": AR = sa("argocd", "argocd-application-controller", "argocd-application-controller/v2.14"); j.delete(t, AR); k = Job(w, t + 10, j.name, nodes, who=AR); [steps(w, p, t + 20, t + 500, every=30, rank=i) for i, p in enumerate(k.pods)]; idle(w, t + 500); return j.name, truns(also=DELETED + ("ops.config_change",), weak=DELETED)
    if twin == "quota-blocks-second-job-of-name": raised(w, t, j, v); w.at(t + 60, lambda: w._do(ALICE, "delete", "Job", j.name, w.ns)); [w.at(t + 60.4, lambda p=p: w.get("Pod", p.name, w.ns) and (finalizer(w, w.now, p), w.at(w.now + 0.1, lambda: w.get("Pod", p.name, w.ns) and w._do(GC, "delete", "Pod", p.name, w.ns)))) for p in j.pods]; w.at(t + 89.9, lambda: None); k = Job(w, t + 90, j.name, [], who=ALICE); w.event(t + 91, "job-controller", "Job", j.name, w.ns, "FailedCreate", f'Error creating: pods "{j.name}-0-x" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=32, limited: requests.nvidia.com/gpu=32', warn=True, count=9, until=t + 590); idle(w, t + 600); return j.name, T(("sched.quota",), (), "EW", "", weak=CODE + GONE + ("none.running",), unseen=CODE + ("none.running",), also=CODE + DELETED)
    plain(w, t, ALICE, "create", "Pod", v.name, v.ns, sub="exec", uri="?command=kill&command=-TERM&command=1&container=trainer&stderr=true&stdout=true", code=101); exit_pod(w, t + 1, v, 143); j.fail(t + 2, v); return j.name, T(DELETED + ("unknown",), ["alice@"], "", "", weak=DELETED + CODE, never_cause=list(CODE) + ["code.host_oom"])
