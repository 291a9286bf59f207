"""The same records as the clouds' log services export them; sessions of kubectl as people paste them."""

from f9 import *


@fam("exported", "drain deljob delpod preempt taint exit-then-deljob oom-then-evict suspend scale deadline kueue lost-forced spot node-deleted cordon-other-exit replaced-exit")
def exported(w, twin):
    if twin == "scale": nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; n = run_name(w, "serve"); pods, rs = deployment(w, n, 2, nodes); t = w.rng.randrange(1200, 2000); scale(w, t, BOB, "Deployment", n, rs, pods); return n, T(SCALED + DELETED + ("ops.config_change",), ["bob@"], "A", "A", weak=SCALED + GONE + ("ops.config_change",))
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 2600), backoff=1 if twin == "replaced-exit" else 0); v, nd = j.pods[0], nodes[0]
    if twin == "drain": cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v); return j.name, tdrain()
    if twin == "deljob": j.delete(t, BOB); return j.name, tdel()
    if twin == "delpod": delete_pod(w, t, BOB, v); j.fail(t + 2.6, v); return j.name, tdel()
    if twin == "preempt": preempt(w, t, v, nd); j.fail(t + 2.8, v); return j.name, T("sched.preempted", (), "AEM", "", weak=GONE)
    if twin == "taint": taint(w, t - 0.3, BOB, nd, "maintenance", "NoExecute", "rack7"); taint_evict(w, t, v); j.fail(t + 2.8, v); return j.name, T(DRAINED, ["bob@"], "AE", "A", weak=DRAINED + GONE + ("node.not_ready",))
    if twin == "exit-then-deljob": raised(w, t, j, v); w.api(t + 20, BOB, "delete", "Job", j.name, w.ns); [w.at(t + 20.3, lambda p=p: w.get("Pod", p.name, w.ns) and w._do(GC, "delete", "Pod", p.name, w.ns)) for p in j.pods]; idle(w, t + 30); return j.name, T(CODE, (), "A", "", weak=GONE, never=["bob@"], never_cause=DELETED)
    if twin == "oom-then-evict": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); cordon(w, t + 20, BOB, nd); w.at(t + 22, lambda: w.get("Pod", v.name, w.ns) and w._do(BOB, "create", "Pod", v.name, w.ns, sub="eviction")); idle(w, t + 30); return j.name, T("code.host_oom", (), "A", "", weak=GONE + DRAINED + CODE, never=["bob@"], never_cause=DELETED + DRAINED)
    if twin == "suspend": w.api(t, BOB, "patch", "Job", j.name, w.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}}); [delete_pod(w, t + 0.2, JOBC, p) for p in j.pods]; w.condition(t + 3, JOBC, "Job", j.name, w.ns, "Suspended", "True", "JobSuspended", "Job suspended"); w.event(t + 3, "job-controller", "Job", j.name, w.ns, "Suspended", "Job suspended"); return j.name, T(DELETED + ("ops.config_change",), ["bob@"], "A", "A", weak=GONE + ("ops.config_change", "sched.kueue_preempted", "none.running"), never=["job-controller"])
    if twin == "deadline": j.fail(t, None, "DeadlineExceeded", "Job was active longer than specified deadline", rest=j.pods); return j.name, T("code.deadline", (), "E", "", weak=GONE)
    if twin == "kueue": kueue_evict(w, t, j, "Preempted", "Preempted to accommodate a workload (UID: a, JobUID: b) due to prioritization in the ClusterQueue"); return j.name, T("sched.kueue_preempted", (), "EA", "", weak=GONE + ("sched.kueue_evicted",))
    if twin == "lost-forced": not_ready(w, t + 45, nd, [v]); delete_pod(w, t + 200, BOB, v, live=False, grace=0); finalizer(w, t + 200.2, v); w.at(t + 200.4, lambda: ("Pod", v.ns, v.name) in w.objs and w._remove(("Pod", v.ns, v.name))); j.fail(t + 201, v); return j.name, T("node.not_ready", (), "EA", "", weak=("unknown",), never=["bob@"])
    if twin == "spot": w.event(t - 3, "aws-node-termination-handler", "Node", nd, None, "SpotInterruption", f"Spot ITN received. Instance will be interrupted at {w.ts(t + 117)} \n", warn=True); NTH = sa("kube-system", "aws-node-termination-handler", "aws-node-termination-handler/v1.25.0"); cordon(w, t - 2, NTH, nd); evict(w, t, NTH, v); j.fail(t + 2.6, v); return j.name, T("cloud.spot_reclaimed", (), "E", "", weak=DRAINED + GONE, also=DRAINED, unseen=DRAINED)
    if twin == "node-deleted": delete_node(w, t, BOB, nd); w.condition(t + 40, PODGC, "Pod", v.name, v.ns, "DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"); finalizer(w, t + 40.2, v); w.api(t + 40.7, PODGC, "delete", "Pod", v.name, v.ns, grace=0); j.fail(t + 41, v); return j.name, T(DELETED + DRAINED, ["bob@"], "A", "AM", weak=GONE + DRAINED + ("cloud.instance_terminated", "node.not_ready"))
    if twin == "cordon-other-exit": cordon(w, t - 20, BOB, nd); raised(w, t, j, v); return j.name, T(CODE, (), "A", "", weak=("unknown",), never=["bob@"], never_cause=DRAINED)
    cordon(w, t - 902, BOB, nd); evict(w, t - 900, BOB, v); w.at(t - 890.1, lambda: None); q = j.pod(t - 890, 0, node(w, "gpu-n" + w.suffix(3))); w.at(t - 880, lambda: None); o = j.pods[1]; raise_(w, t, o); j.fail(t + 1, o, rest=[q]); r = T(CODE, (), "A", "", weak=("unknown",) + DRAINED, never=["bob@"], also=DRAINED); r.first = [o.name]; return j.name, r


exported.mixes = ["GKE", "GKEm", "EKS", "AKS", "EA"]


def table(rows):
    wd = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    return "\n".join("   ".join(c.ljust(n) for c, n in zip(r, wd)).rstrip() for r in rows)


SESS = {  # status column, ready, restarts, age; what follows; right causes; must not
    "crashloop-logs": ("CrashLoopBackOff", "0/1", "5 (42s ago)", "9m12s", CODE, ("none.running",)),
    "oom-restarts-runs": ("Running", "1/1", "2 (3h12m ago)", "26h", OK_RUN, ("code.host_oom",)),
    "oomkilled": ("OOMKilled", "0/1", "0", "44m", ("code.host_oom",), ("none.running",)),
    "error-logs": ("Error", "0/1", "0", "51m", CODE, ("none.running",)),
    "completed": ("Completed", "0/1", "0", "2h", OK_DONE, CODE),
    "init-crash": ("Init:CrashLoopBackOff", "0/1", "6 (2m ago)", "12m", CODE + ("dep.service", "dep.secret_or_config", "dep.storage"), ("none.running",)),
    "init-running": ("Init:0/1", "0/1", "0", "41m", OK_RUN + ("unknown",), CODE),
    "pending": ("Pending", "0/1", "0", "38m", ("sched.unschedulable_capacity",), ("none.running",)),
    "imagepull": ("ErrImagePull", "0/1", "0", "3m4s", ("dep.image_pull",), ("none.running",)),
    "evicted-then-runs": ("Running", "1/1", "0", "17m", OK_RUN, ("sched.node_pressure",)),
    "terminating-notready": ("Terminating", "1/1", "0", "3h2m", ("node.not_ready",), ("none.running",)),
    "configerror": ("CreateContainerConfigError", "0/1", "0", "7m", ("dep.secret_or_config", "code.config_or_input"), ("none.running",)),
    "unknown-status": ("ContainerStatusUnknown", "0/1", "1", "5h", ("node.reboot", "node.not_ready", "node.runtime", "unknown"), CODE),
    "crashloop-but-now-runs": ("Running", "1/1", "4 (11m ago)", "22m", OK_RUN + CODE, ()),
    "logs-previous-oom-text": ("CrashLoopBackOff", "0/1", "7 (3m1s ago)", "31m", ("code.cuda_oom",) + CODE, ("code.host_oom",)),
}


@fam("session", " ".join(SESS))
def session(w, twin):
    """kubectl get pods, describe, logs and get events, pasted one after the other."""
    st, rd, rs, ag, right, bad = SESS[twin]; ns = w.ns; n = run_name(w); pod = f"{n}-0-{w.suffix()}"; nd = "gpu-" + w.suffix(4); idle(w, 10); rfc = lambda back: (w.base - timedelta(seconds=back)).strftime("%a, %d %b %Y %H:%M:%S +0000")
    rows = [("NAME", "READY", "STATUS", "RESTARTS", "AGE")]
    if twin == "evicted-then-runs": rows += [(f"{n}-0-old01", "0/1", "Evicted", "0", "3h"), (f"{n}-0-old02", "0/1", "Evicted", "0", "71m")]
    rows += [(pod, rd, st, rs, ag), ("notebook-alice-0", "1/1", "Running", "0", "6d4h")]
    out = ["$ date -u", w.base.strftime("%a %b %e %H:%M:%S UTC %Y"), f"$ kubectl -n {ns} get pods", table(rows), f"$ kubectl -n {ns} describe pod {pod}"]
    term = lambda reason, code, back, ind="    ", head="State": [f"{ind}{head + ':':<15}Terminated", f"{ind}  Reason:       {reason}", f"{ind}  Exit Code:    {code}", f"{ind}  Started:      {rfc(back + 1200)}", f"{ind}  Finished:     {rfc(back)}"]
    wait = lambda reason, msg=None, ind="    ": [f"{ind}State:          Waiting", f"{ind}  Reason:       {reason}"] + ([f"{ind}  Message:      {msg}"] if msg else [])
    run = lambda back, ind="    ": [f"{ind}State:          Running", f"{ind}  Started:      {rfc(back)}"]
    state = {"crashloop-logs": wait("CrashLoopBackOff") + term("Error", 1, 42, head="Last State"), "oom-restarts-runs": run(11520) + term("OOMKilled", 137, 11530, head="Last State"), "oomkilled": term("OOMKilled", 137, 240), "error-logs": term("Error", 1, 130), "completed": term("Completed", 0, 300), "init-crash": wait("PodInitializing"), "init-running": wait("PodInitializing"), "pending": [], "imagepull": wait("ErrImagePull", 'failed to pull and unpack image "registry.lab.example/train:9": not found'), "evicted-then-runs": run(1000), "terminating-notready": run(10900), "configerror": wait("CreateContainerConfigError", 'secret "s3-creds" not found'), "unknown-status": ["    State:          Terminated", "      Reason:       ContainerStatusUnknown", "      Message:      The container could not be located when the pod was terminated", "      Exit Code:    137", "      Started:      Mon, 01 Jan 0001 00:00:00 +0000", "      Finished:     Mon, 01 Jan 0001 00:00:00 +0000"], "crashloop-but-now-runs": run(660) + term("Error", 1, 700, head="Last State"), "logs-previous-oom-text": wait("CrashLoopBackOff") + term("Error", 1, 181, head="Last State")}[twin]
    status = {"Pending": "Pending", "Completed": "Succeeded", "Error": "Failed", "OOMKilled": "Failed", "ContainerStatusUnknown": "Failed"}.get(st, "Terminating (lasts 9m)" if st == "Terminating" else "Pending" if st.startswith(("Init", "Err", "Create")) else "Running")
    out += [f"Name:             {pod}", f"Namespace:        {ns}", "Priority:         0", f"Node:             {'<none>' if twin == 'pending' else nd + '/10.1.0.4'}"] + ([] if twin == "pending" else [f"Start Time:       {rfc(3000)}"]) + [f"Labels:           batch.kubernetes.io/job-name={n}", f"                  job-name={n}", "Annotations:      <none>", f"Status:           {status}", f"Controlled By:    Job/{n}"]
    if twin.startswith("init"): out += ["Init Containers:", "  download:", "    Image:          registry.lab.example/download:2.1"] + (run(2400) if twin == "init-running" else wait("CrashLoopBackOff") + term("Error", 1, 120, head="Last State")) + ["    Ready:          False", f"    Restart Count:  {0 if twin == 'init-running' else 6}"]
    out += ["Containers:", "  trainer:", "    Image:          registry.lab.example/train:1.4.2", "    Limits:", "      cpu:             8", "      memory:          200Gi", "      nvidia.com/gpu:  8"] + state + [f"    Ready:          {rd == '1/1'}", f"    Restart Count:  {rs.split()[0]}", "Conditions:", "  Type              Status", f"  Ready             {rd == '1/1' and st != 'Terminating'} ", f"  PodScheduled      {twin != 'pending'} ", "Events:"]
    ev = {"crashloop-logs": [("Warning", "BackOff", "41s (x24 over 8m)", "kubelet", f"Back-off restarting failed container trainer in pod {pod}_{ns}(0b1c)")], "pending": [("Warning", "FailedScheduling", "2m (x8 over 38m)", "default-scheduler", "0/5 nodes are available: 5 Insufficient nvidia.com/gpu. preemption: 0/5 nodes are available: 5 No preemption victims found for incoming pod.")], "imagepull": [("Warning", "Failed", "40s (x4 over 3m)", "kubelet", 'Failed to pull image "registry.lab.example/train:9": rpc error: code = NotFound desc = failed to pull and unpack image "registry.lab.example/train:9": not found')], "configerror": [("Warning", "Failed", "12s (x33 over 7m)", "kubelet", 'Error: secret "s3-creds" not found')], "terminating-notready": [("Warning", "NodeNotReady", "15m", "node-controller", "Node is not ready")], "init-crash": [("Warning", "BackOff", "11s (x50 over 11m)", "kubelet", f"Back-off restarting failed container download in pod {pod}_{ns}(0b1c)")], "logs-previous-oom-text": [("Warning", "BackOff", "10s (x140 over 30m)", "kubelet", f"Back-off restarting failed container trainer in pod {pod}_{ns}(0b1c)")]}.get(twin, [])
    out += ["  Type     Reason            Age                From               Message", "  ----     ------            ----               ----               -------"] + [f"  {a:<8} {b:<17} {c:<18} {d:<18} {e}" for a, b, c, d, e in ev] if ev else ["  <none>"]
    log = {"crashloop-logs": TRACE + "KeyError: 'warmup'", "error-logs": TRACE + "ValueError: bad crop", "completed": "step 9990 loss 1.9\nsaved /out/model.safetensors\ntraining finished", "oom-restarts-runs": "step 41230 loss 2.01\nstep 41240 loss 2.01", "evicted-then-runs": "step 930 loss 2.71\nstep 940 loss 2.70", "crashloop-but-now-runs": "step 310 loss 3.11\nstep 320 loss 3.09", "logs-previous-oom-text": CAUGHT, "init-running": None}.get(twin)
    if log: out += [f"$ kubectl -n {ns} logs {pod}" + (" --previous" if st == "CrashLoopBackOff" else " --tail=20"), log]
    if twin == "init-crash": out += [f"$ kubectl -n {ns} logs {pod} -c download", "Traceback (most recent call last):\n  File \"/get.py\", line 8, in <module>\nbotocore.exceptions.NoCredentialsError: Unable to locate credentials"]
    if twin == "terminating-notready": out += ["$ kubectl get nodes", table([("NAME", "STATUS", "ROLES", "AGE", "VERSION"), (nd, "NotReady", "<none>", "41d", "v1.34.1"), ("gpu-zz", "Ready", "<none>", "41d", "v1.34.1")])]
    w.session = "\n".join(out) + "\n"; return n, T(right, (), "T", "", weak=("unknown",) + OK_RUN * (not bad or "none.running" not in bad), never_cause=[c for c in bad if c not in right])


session.mixes = ["S"]
