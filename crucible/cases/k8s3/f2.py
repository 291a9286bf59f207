"""Ends on SIGTERM, quoted errors, children killed by the kernel, exits with 0, two faults, harmless acts beside ends."""

from f1 import *


def grace_end(w, at, v, nd, code, log, took=6):
    """A program that hears SIGTERM, writes `log`, and ends with a code of its own."""
    kl(w, at + 0.1, v, "Killing", "Stopping container trainer", field="spec.containers{trainer}")
    for i, x in enumerate(log): w.log(at + 0.5 + i * (took - 1.5) / max(1, len(log) - 1 or 1), v, x)
    set_state(w, at + took, v, "trainer", ended(w, v, at + took, code, "Completed" if code == 0 else "Error"), phase="Succeeded" if code == 0 else "Failed")
    finalizer(w, at + took + 0.2, v); w.at(at + took + 0.4, lambda: w.get("Pod", v.name, v.ns) and w._do(kubelet(nd), "delete", "Pod", v.name, v.ns, grace=0))


SAVES = {  # what the program writes when it is stopped, and its code
    "saved0": (["INFO received signal 15, saving checkpoint", "INFO checkpoint step 4000 saved, exiting"], 0),
    "saved1": (["INFO received signal 15, saving checkpoint", "INFO checkpoint step 4000 saved; exiting with 1 so that the Job retries"], 1),
    "savefails": (["INFO received signal 15, saving checkpoint", TRACE + "botocore.exceptions.ClientError: An error occurred (SlowDown) when calling the PutObject operation: Please reduce your request rate."], 1),
    "torchrun": (["W1005 10:00:00.123000 17 torch/distributed/elastic/agent/server/api.py:723] Received 15 death signal, shutting down workers", "W1005 10:00:00.223000 17 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 812 closing signal SIGTERM", "Traceback (most recent call last):\n  File \"/usr/local/bin/torchrun\", line 8, in <module>\n    sys.exit(main())\n  File \"/usr/lib/torch/distributed/elastic/multiprocessing/api.py\", line 84, in _terminate_process_handler\n    raise SignalException(f\"Process {os.getpid()} got signal: {sigval}\", sigval=sigval)\ntorch.distributed.elastic.multiprocessing.api.SignalException: Process 17 got signal: 15"], 1),
    "kbint": (["Traceback (most recent call last):\n  File \"/app/train.py\", line 212, in <module>\n    main()\nKeyboardInterrupt", "wandb: Synced 5 files"], 1),
    "nccl-abort": (["INFO received signal 15", "[rank0]:[W1005 10:00:00.0 ProcessGroupNCCL.cpp:1538] Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources.", "terminate called without an active exception"], 134),
}
ENDERS = ("drain", "delpod", "deljob", "preempt", "taint", "ca")


@fam("sigterm", " ".join(f"{e}+{s}" for e in ENDERS for s in SAVES))
def sigterm(w, twin):
    how, s = twin.split("+"); log, code = SAVES[s]; j, nodes, t = gang(w, run=w.rng.randrange(1200, 3000), spec=template(grace=60)); v, nd = j.pods[0], nodes[0]
    bad = CODE + ("dep.storage", "dep.service", "code.segfault", "dep.network")
    def asked(sub=None): w.api(t, {"drain": BOB, "ca": CA}[how], "create", "Pod", v.name, v.ns, sub="eviction")
    if how == "drain": cordon(w, t - 2, BOB, nd); asked()
    elif how == "ca": w.event(t - 1, "cluster-autoscaler", "Node", nd, None, "ScaleDown", "marked the node as toBeDeleted/unschedulable"); taint(w, t - 1, CA, nd, "ToBeDeletedByClusterAutoscaler", "NoSchedule", "1759"); asked(); w.event(t + 0.05, "cluster-autoscaler", "Pod", v.name, v.ns, "ScaleDown", "deleting pod for node scale down")
    elif how == "delpod": w.api(t, BOB, "delete", "Pod", v.name, v.ns)
    elif how == "deljob":
        w.api(t, BOB, "delete", "Job", j.name, w.ns)
        for p in j.pods: finalizer(w, t + 0.1, p); w.at(t + 0.15, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns))
        stop(w, t + 0.3, j.pods[1])
    elif how == "preempt":
        w.condition(t - 0.05, SCHED, "Pod", v.name, v.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"); w.api(t, SCHED, "delete", "Pod", v.name, v.ns); w.event(t + 0.03, "default-scheduler", "Pod", v.name, v.ns, "Preempted", f"Preempted by pod {uid_of(w.seed, 'h')} on node {nd}", new=True)
    else:
        taint(w, t - 0.5, BOB, nd, "maintenance", "NoExecute", "rack7"); w.event(t - 0.1, "taint-eviction-controller", "Pod", v.name, v.ns, "TaintManagerEviction", f"Marking for deletion Pod {v.ns}/{v.name}", uid=False); w.condition(t - 0.05, NODEC, "Pod", v.name, v.ns, "DisruptionTarget", "True", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"); w.api(t, NODEC, "delete", "Pod", v.name, v.ns)
    grace_end(w, t + 0.1, v, nd, code, log)
    if how != "deljob": j.fail(t + 7, None, rest=[j.pods[1]])
    r = {"drain": tdrain, "taint": tdrain, "delpod": tdel, "deljob": tdel}.get(how, lambda: T("sched.preempted", (), "AEW", "", weak=GONE) if how == "preempt" else T(SCALED, ["autoscaler"], "AEW", "AEW", weak=DRAINED + GONE))()
    r.never_cause = bad; r.weak += bad; r.first = [v.name]; return j.name, r


QUOTES = {  # text that a language model or a dataset viewer prints while it trains
    "oom": "=== sample @ step 4200 ===\nHow do I fix this?\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.15 GiB\n=== end ===",
    "trace": "=== sample @ step 4200 ===\nTraceback (most recent call last):\n  File \"main.py\", line 3, in <module>\n    print(x)\nNameError: name 'x' is not defined\n=== end ===",
    "xid": "=== sample @ step 4200 ===\n[ 123.4] NVRM: Xid (PCI:0000:4e:00): 79, pid=8213, name=python, GPU has fallen off the bus.\nThis usually means that the card lost power.\n=== end ===",
    "killed": "=== sample @ step 4200 ===\nOut of memory: Killed process 4411 (python) total-vm:301234567kB, anon-rss:20971kB\nKilled\n=== end ===",
    "k8s": "=== sample @ step 4200 ===\nReason: OOMKilled\nExit Code: 137\nkubectl delete pod trainer-0 --force\n=== end ===",
    "nccl": "=== sample @ step 4200 ===\nWatchdog caught collective operation timeout: WorkNCCL(SeqNum=981, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.\n=== end ===",
}


@fam("quote", " ".join(f"{q}+{e}" for q in QUOTES for e in ("deljob-soon", "drain-late", "oom", "runs", "completes", "lost")))
def quote(w, twin):
    q, end = twin.split("+"); j, nodes, t = gang(w, run=w.rng.randrange(1500, 3000)); v, nd = j.pods[0], nodes[0]; gap = {"deljob-soon": 4, "drain-late": 40}.get(end, 25)
    w.log(t - gap, v, QUOTES[q])
    if end == "drain-late": steps(w, v, t - 38, t, every=6, start=4210)
    bad = {"oom": ("code.cuda_oom",), "trace": CODE, "xid": ("hw.gpu",), "killed": ("code.host_oom", "node.system_oom"), "k8s": ("code.host_oom",), "nccl": ("hang.collective_timeout",)}[q]
    if end == "deljob-soon": j.delete(t, BOB); r = tdel()
    if end == "drain-late": cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v); r = tdrain()
    if end == "oom": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); r = toom()
    if end == "runs": steps(w, v, t - 20, t + 40); idle(w, t + 60); r = truns()
    if end == "completes": steps(w, v, t - 20, t - 1); j.complete(t); r = tdone()
    if end == "lost": lost_pod(w, t, nd, v); j.fail(t + 351, v); r = tlost()
    r.never_cause = tuple(c for c in bad if c not in r.right); r.weak += r.never_cause if end in ("deljob-soon", "lost") else (); return j.name, r


@fam("oom2", "child-kernel child-nothing child-exec-kill sibling-oom rank1-oom-rank0-survives group-kill launcher-log-only oom-score-other-pod shm-bus-error reported-late child-kernel-other-rank-first")
def oom2(w, twin):
    n = 4 if "rank" in twin else 2; nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(n)]
    j, _, t = gang(w, nodes=nodes, run=w.rng.randrange(1500, 3000), spec=template(("trainer", "loader")) if twin == "sibling-oom" else None); v, nd = j.pods[1], nodes[1]
    TR = lambda sig, at: (w.log(at, v, f"E1005 10:00:00.123000 17 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -{sig}) local_rank: 3 (pid: 8213) of binary: /usr/bin/python\nTraceback (most recent call last):\n  File \"/usr/local/bin/torchrun\", line 8, in <module>\n    sys.exit(main())\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n============================================================\n/app/train.py FAILED\n------------------------------------------------------------\nRoot Cause (first observed failure):\n[0]:\n  rank      : 11 (local_rank: 3)\n  exitcode  : -{sig} (pid: 8213)\n  traceback : Signal {sig} ({'SIGKILL' if sig == 9 else 'SIGBUS'}) received by PID 8213"), exit_pod(w, at + 1, v, 1), j.fail(at + 2, v))
    if twin in ("child-kernel", "group-kill"):
        w.at(t - 1, lambda: memcg_oom(w, t, v, pid=8213))
        if twin == "group-kill": w.kernel(t + 0.01, nd, "Tasks in /kubepods.slice/kubepods-pod1.slice/cri-containerd-1.scope are going to be killed due to memory.oom.group set"); exit_pod(w, t + 0.2, v, 137, "OOMKilled"); j.fail(t + 1, v); return j.name, toom()
        TR(9, t + 1); return j.name, T("code.host_oom", (), "G", "", weak=CODE + ("unknown", "code.host_oom"), never_cause=["ops.manual_delete"])
    if twin in ("child-nothing", "child-exec-kill"):
        if twin == "child-exec-kill": w.at(t, lambda: w.audit.append({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": uid_of(w.seed, "x"), "stage": "ResponseStarted", "requestURI": f"/api/v1/namespaces/{w.ns}/pods/{v.name}/exec?command=kill&command=-9&command=8213&container=trainer&stderr=true&stdout=true", "verb": "create", "user": BOB[0], "sourceIPs": ["10.0.0.9"], "userAgent": BOB[1], "objectRef": {"resource": "pods", "namespace": w.ns, "name": v.name, "apiVersion": "v1", "subresource": "exec"}, "responseStatus": {"metadata": {}, "code": 101}, "requestReceivedTimestamp": w.ts(t, 6), "stageTimestamp": w.ts(t, 6)}))
        TR(9, t + 1); return j.name, T(("unknown",) + (DELETED if twin == "child-exec-kill" else ()), (), "", "", weak=CODE + ("code.host_oom",) + DELETED, never_cause=["code.host_oom"])
    if twin == "sibling-oom":  # the loader beside the trainer is killed, the trainer gives up for that ten seconds later
        w.at(t - 1, lambda: memcg_oom(w, t, v, comm="loader", limit=262144)); set_state(w, t + 0.3, v, "loader", ended(w, v, t, 137, "OOMKilled")); w.log(t + 10, v, TRACE + "ConnectionRefusedError: [Errno 111] Connection refused: loader at 127.0.0.1:7000"); set_state(w, t + 10.3, v, "trainer", ended(w, v, t + 10, 1), phase="Failed"); j.fail(t + 11, v); return j.name, T(("code.host_oom",) + CODE + ("dep.network", "dep.service"), (), "LWAG", "", weak=("unknown",))
    if twin == "rank1-oom-rank0-survives":
        w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); [nccl_gone(w, t + 30 + i, j.pods[k], k) for i, k in enumerate((2, 3))]; j.fail(t + 40, v, rest=[j.pods[0]]); r = toom(); r.first = [v.name]; return j.name, r
    if twin == "launcher-log-only":
        TR(9, t + 1); w.log(t - 30, v, "WARNING host memory 97% used (psutil)"); return j.name, T(("unknown", "code.host_oom"), (), "", "", weak=CODE + ("code.host_oom",), never_cause=["ops.manual_delete"])
    if twin == "oom-score-other-pod":  # the kernel's line is about another pod's cgroup on this node
        o = make_pod(w, 2, "notebook-" + w.suffix(4), nd, by=CAROL, generate=False); w.at(t - 1, lambda: memcg_oom(w, t - 0.5, o, pid=777)); exit_pod(w, t - 0.3, o, 137, "OOMKilled"); raised(w, t, j, v); return j.name, tcode(never_cause=["code.host_oom", "node.system_oom"])
    if twin == "shm-bus-error":
        w.log(t, v, "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\n" + TRACE + "RuntimeError: DataLoader worker (pid 8213) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit."); exit_pod(w, t + 1, v, 1); j.fail(t + 2, v); return j.name, T(CODE + ("code.data_loader", "code.storage_limit"), (), "LWAG", "", weak=("unknown",))
    if twin == "reported-late":  # its kubelet reports the end only 40 s later, when others have given up
        w.at(t - 1, lambda: memcg_oom(w, t, v)); o = j.pods[0]; nccl_gone(w, t + 12, o, 0)
        w.at(t + 40, lambda: set_state(w, t + 40.1, v, "trainer", ended(w, v, t, 137, "OOMKilled"), phase="Failed")); j.fail(t + 41.5, o, rest=[]); r = toom(weak=COLL + CODE); r.first = [v.name]; return j.name, r
    w.at(t - 1, lambda: memcg_oom(w, t + 20, v, pid=8213)); a = j.pods[2]; raise_(w, t, a, "ValueError: bad crop"); [nccl_gone(w, t + 22 + i, p, i) for i, p in enumerate((j.pods[0], j.pods[3]))]; exit_pod(w, t + 20.2, v, 137, "OOMKilled"); j.fail(t + 30, a, rest=[]); r = tcode(also=("code.host_oom",)); r.first = [a.name]; return j.name, r


@fam("exit0", "bare-drained-0 leader-fails-workers-0 all-0-but-one-drained workers-0-master-raises bare-deleted-0 sts-drained-0-runs master-0-worker-fails-later bare-preempted-0 all-0-wrong-text")
def exit0(w, twin):
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; t = w.rng.randrange(1500, 3000)
    if twin.startswith("bare"):
        name = run_name(w); v = make_pod(w, 0.5, name, nodes[0], by=ALICE, labels={"app": name}, generate=False); steps(w, v, 8, t, every=30); nd = nodes[0]
        if "drained" in twin: cordon(w, t - 2, BOB, nd); w.api(t, BOB, "create", "Pod", v.name, v.ns, sub="eviction"); r = tdrain()
        elif "deleted" in twin: w.api(t, BOB, "delete", "Pod", v.name, v.ns); r = tdel()
        else: w.condition(t - 0.1, SCHED, "Pod", v.name, v.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"); w.api(t, SCHED, "delete", "Pod", v.name, v.ns); w.event(t + 0.03, "default-scheduler", "Pod", v.name, v.ns, "Preempted", f"Preempted by pod {uid_of(w.seed, 'h')} on node {nd}", new=True); r = T("sched.preempted", (), "AEW", "", weak=GONE)
        grace_end(w, t + 0.1, v, nd, 0, SAVES["saved0"][0]); idle(w, t + 20); r.never_cause = OK_DONE; return name, r
    if twin == "sts-drained-0-runs":
        name = run_name(w, "sts"); pods, _ = deployment(w, name, 2, nodes, "StatefulSet"); p, o = pods; [steps(w, x, 12, t, every=60, rank=i) for i, x in enumerate(pods)]; cordon(w, t - 2, BOB, nodes[0]); w.api(t, BOB, "create", "Pod", p.name, w.ns, sub="eviction"); grace_end(w, t + 0.1, p, nodes[0], 0, SAVES["saved0"][0])
        q = make_pod(w, t + 9, p.name, nodes[2], by=STSC, of=("StatefulSet", name), labels={"app": name}, spec=template(restart="Always"), generate=False); steps(w, q, t + 15, t + 600, every=60); steps(w, o, t, t + 600, every=60, rank=1); idle(w, t + 600); return name, T(OK_RUN + DRAINED, ["bob@"], "", "AM", weak=OK_RUN + ("unknown",) + DRAINED + DELETED)
    if twin == "all-0-but-one-drained":
        j = Job(w, 0, run_name(w), nodes); [steps(w, p, 8, t, every=60, rank=i) for i, p in enumerate(j.pods)]
        for p in j.pods[:2]: exit_pod(w, t, p, 0); finalizer(w, t + 0.6, p)
        v = j.pods[2]; steps(w, v, t, t + 40, every=10); cordon(w, t + 38, BOB, nodes[2]); evict(w, t + 40, BOB, v); j.fail(t + 43, v, rest=[]); return j.name, tdrain()
    name, ps = pytorch(w, 3, nodes, run=t); m, a, b = ps
    if twin == "leader-fails-workers-0":  # workers notice that the leader is gone and end politely
        raise_(w, t, m); [(w.log(t + 2, p, "INFO leader is gone, leaving the group"), exit_pod(w, t + 2.5, p, 0)) for p in (a, b)]; pt_failed(w, t + 3, name, why="Master"); r = tcode(); r.first = [m.name]; return name, r
    if twin == "workers-0-master-raises": [exit_pod(w, t, p, 0) for p in (a, b)]; w.log(t + 60, m, "INFO merging shards\n" + TRACE + "OSError: [Errno 28] No space left on device: '/out/model.safetensors'"); exit_pod(w, t + 60, m, 1); pt_failed(w, t + 61, name, why="Master"); return name, T(CODE + ("dep.storage", "code.storage_limit", "dep.volume"), (), "LWAG", "")
    if twin == "master-0-worker-fails-later": exit_pod(w, t, m, 0); pt_succeeded(w, t + 1, name, ()); raise_(w, t + 20, b, "RuntimeError: shutdown: broken pipe"); idle(w, t + 40); return name, tdone(weak=CODE, also=CODE)
    raise_text = "ERROR summary of the last attempt: ValueError: bad crop (recovered)"; [w.log(t - 1, p, raise_text) for p in ps]; [exit_pod(w, t, p, 0) for p in ps]; pt_succeeded(w, t + 1, name); return name, tdone(never_cause=CODE)


@fam("two-faults", "xid94-restart-then-oom nic-flap-then-lost s3-retry-then-drain nan-then-delete ecc-then-preempt lost-other-then-exit ib-down-exit-then-drain oom-retry-then-lost storage-hang-then-delete gpu79-other-run-then-oom")
def two_faults(w, twin):
    j, nodes, t = gang(w, n=3, run=w.rng.randrange(2000, 3500), spec=template(restart="OnFailure"), backoff=6); a, b, c = j.pods
    more = lambda p, t0, t1, i: steps(w, p, t0, t1, every=15, rank=i, start=7000)
    if twin == "xid94-restart-then-oom":
        w.kernel(t - 600, nodes[0], "NVRM: Xid (PCI:0000:4e:00): 94, pid=8213, name=python, Contained: SM (0x1). RST: No, D-RST: No"); w.log(t - 599, a, TRACE + "RuntimeError: CUDA error: uncorrectable ECC error encountered"); restart(w, t - 598, a, 1, n=1, wait=12); [more(p, t - 570, t - 1, i) for i, p in enumerate(j.pods)]
        w.at(t - 1, lambda: memcg_oom(w, t, b)); exit_pod(w, t + 0.1, b, 137, "OOMKilled"); j.fail(t + 1, b); r = toom(never_cause=["hw.gpu_memory"], also=("hw.gpu_memory", "hw.gpu")); r.never_cause = (); r.first = [b.name]; return j.name, r
    if twin == "nic-flap-then-lost": w.kernel(t - 300, nodes[0], "mlx5_core 0000:5c:00.0 ens1np0: Link down"); w.kernel(t - 297, nodes[0], "mlx5_core 0000:5c:00.0 ens1np0: Link up"); [more(p, t - 290, t, i) for i, p in enumerate(j.pods)]; lost_pod(w, t, nodes[2], c); j.fail(t + 351, c); return j.name, tlost(never_cause=["hw.nic"])
    if twin == "s3-retry-then-drain": w.log(t - 100, a, "ERROR checkpoint upload failed: An error occurred (InternalError) when calling the PutObject operation; attempt 3/5\n" + TRACE + "botocore.exceptions.ClientError: An error occurred (InternalError)"); more(a, t - 90, t, 0); cordon(w, t - 2, BOB, nodes[1]); evict(w, t, BOB, b); j.fail(t + 2.6, b); return j.name, tdrain(never_cause=["dep.storage", "dep.service"] + list(CODE))
    if twin == "nan-then-delete": w.log(t - 120, a, "WARNING loss is nan at step 7001, skipping the batch"); more(a, t - 110, t, 0); j.delete(t, BOB); return j.name, tdel(never_cause=["code.divergence"])
    if twin == "ecc-then-preempt": w.kernel(t - 200, nodes[1], "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0"); preempt(w, t, b, nodes[1]); j.fail(t + 2.8, b); return j.name, T("sched.preempted", (), "AEW", "", weak=GONE, never_cause=["hw.memory"])
    if twin == "lost-other-then-exit": n = node(w, "gpu-x" + w.suffix(3)); o = make_pod(w, 2, "other-" + w.suffix(4), n, by=CAROL, generate=False); lost_pod(w, t - 200, n, o); raised(w, t, j, a); return j.name, tcode(never_cause=["node.not_ready"])
    if twin == "ib-down-exit-then-drain":
        w.kernel(t - 30, nodes[1], "mlx5_core 0000:5c:00.0 ens1np0: Link down"); w.log(t - 22, b, "gpu-1:812:1290 [0] NCCL WARN NET/IB : Got completion from peer 10.0.3.4<41000> with status=12 opcode=129 len=0 vendor err 129 (Send)"); [nccl_gone(w, t - 18 + i, p, i) for i, p in enumerate((b, a, c))]; j.fail(t - 10, b, rest=[]); cordon(w, t + 20, BOB, nodes[1]); w.at(t + 22, lambda: w.get("Pod", b.name, w.ns) and w._do(BOB, "create", "Pod", b.name, w.ns, sub="eviction"))
        return j.name, T(("hw.nic", "dep.network") + CODE + COLL, (), "LWAG", "", weak=("unknown",), never=["bob@"], never_cause=list(DRAINED))
    if twin == "oom-retry-then-lost": w.at(t - 801, lambda: memcg_oom(w, t - 800, a)); restart(w, t - 800, a, 137, "OOMKilled", n=1, wait=15); [more(p, t - 770, t, i) for i, p in enumerate(j.pods)]; lost_pod(w, t, nodes[2], c); j.fail(t + 351, c); return j.name, tlost(also=("code.host_oom",), weak=("code.host_oom",))
    if twin == "storage-hang-then-delete": w.kernel(t - 900, nodes[0], "nfs: server 10.0.0.9 not responding, still trying"); w.kernel(t - 860, nodes[0], "nfs: server 10.0.0.9 OK"); [more(p, t - 850, t, i) for i, p in enumerate(j.pods)]; j.delete(t, BOB); return j.name, tdel(never_cause=["dep.storage"])
    o = Job(w, 1, run_name(w, "other"), [nodes[0]], spec=template(gpus=0)); w.kernel(t - 5, nodes[0], "NVRM: Xid (PCI:0000:4e:00): 43, pid=99, name=nvtop, Ch 00000010"); w.at(t - 1, lambda: memcg_oom(w, t, b)); exit_pod(w, t + 0.1, b, 137, "OOMKilled"); j.fail(t + 1, b); return j.name, toom(never_cause=["hw.gpu"])


D = DAVE
HARM = {  # harmless acts of dave, some seconds before or after the end
    "label-node": lambda w, j, v, nd, t: w.api(t - 6, D, "patch", "Node", nd, change=lambda o: o["metadata"]["labels"].update(rack="7"), request={"metadata": {"labels": {"rack": "7"}}}),
    "annotate-pod": lambda w, j, v, nd, t: w.api(t - 4, D, "patch", "Pod", v.name, v.ns, change=lambda o: o["metadata"].setdefault("annotations", {}).update(note="x"), request={"metadata": {"annotations": {"note": "x"}}}),
    "cordon-only": lambda w, j, v, nd, t: cordon(w, t - 20, D, nd),
    "cordon-other-job": lambda w, j, v, nd, t: (cordon(w, t - 20, D, nd), Job(w, 1, j.name + "-eval", [nd]).delete(t - 15, D)),
    "del-finished-neighbour": lambda w, j, v, nd, t: (lambda o: (exit_pod(w, t - 300, o, 0), w.api(t - 3, D, "delete", "Pod", o.name, o.ns)))(make_pod(w, 2, f"{j.name}-0-old", nd, by=CAROL, generate=False)),
    "scale-web": lambda w, j, v, nd, t: (lambda pr: scale(w, t - 3, D, "Deployment", "web", pr[1], pr[0]))(deployment(w, "web", 1, [nd])),
    "quota-lowered": lambda w, j, v, nd, t: (w.at(-0.6, lambda: w._do(ALICE, "create", "ResourceQuota", "gpus", w.ns, body={"metadata": {}, "spec": {"hard": {"requests.nvidia.com/gpu": "32"}}})), w.api(t - 9, D, "patch", "ResourceQuota", "gpus", w.ns, change=lambda o: o["spec"]["hard"].update({"requests.nvidia.com/gpu": "8"}), request={"spec": {"hard": {"requests.nvidia.com/gpu": "8"}}})),
    "cm-deleted": lambda w, j, v, nd, t: (w.at(-0.6, lambda: w._do(ALICE, "create", "ConfigMap", "train-config", w.ns, body={"metadata": {}, "data": {}})), w.api(t - 7, D, "delete", "ConfigMap", "train-config", w.ns)),
    "job-ttl-patched": lambda w, j, v, nd, t: w.api(t - 5, D, "patch", "Job", j.name, j.ns, change=lambda o: o["spec"].update(ttlSecondsAfterFinished=86400), request={"spec": {"ttlSecondsAfterFinished": 86400}}),
    "job-backoff-refused": lambda w, j, v, nd, t: w.api(t - 5, D, "patch", "Job", j.name, j.ns, fail=(422, "Invalid", "Job.batch is invalid: spec.template: field is immutable"), request={"spec": {"template": {"spec": {"containers": [{"name": "trainer", "image": "x:2"}]}}}}),
    "uncordon": lambda w, j, v, nd, t: (cordon(w, -0.5, CAROL, nd) if False else None, cordon(w, t - 8, D, nd, False)),
    "pvc-deleted": lambda w, j, v, nd, t: (w.at(-0.6, lambda: (w._do(ALICE, "create", "PersistentVolumeClaim", "scratch", w.ns, body={"metadata": {"finalizers": ["kubernetes.io/pvc-protection"]}, "spec": {}, "status": {"phase": "Bound"}}))), w.api(t - 11, D, "delete", "PersistentVolumeClaim", "scratch", w.ns)),
    "drain-dry-run": lambda w, j, v, nd, t: plain(w, t - 6, D, "create", "Pod", v.name, v.ns, sub="eviction", uri="?dryRun=All", code=201),
    "drain-other-node": lambda w, j, v, nd, t: (lambda n: (lambda o: (cordon(w, t - 6, D, n), evict(w, t - 4, D, o)))(make_pod(w, 2, j.name + "-shadow", n, by=CAROL, generate=False)))(node(w, "gpu-y" + w.suffix(3))),
    "exec-kill-other": lambda w, j, v, nd, t: plain(w, t - 6, D, "create", "Pod", v.name, v.ns, sub="exec", uri="?command=pkill&command=-f&command=tensorboard&container=trainer", code=101),
    "gpu-reset-label": lambda w, j, v, nd, t: w.api(t - 30, D, "patch", "Node", nd, change=lambda o: o["metadata"]["labels"].update({"nvidia.com/gpu.deploy.driver": "true"}), request={"metadata": {"labels": {"nvidia.com/gpu.deploy.driver": "true"}}}),
    "job-deleted-after": lambda w, j, v, nd, t: (w.at(t + 45, lambda: w.get("Job", j.name, j.ns) and w._do(D, "delete", "Job", j.name, j.ns)), [w.at(t + 45.3, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns)) for p in j.pods]),
    "node-deleted-after": lambda w, j, v, nd, t: delete_node(w, t + 50, D, nd),
}
HENDS = {k: ENDS[k] for k in ("exit", "oom", "preempt", "pressure", "complete")} | {"deadline": None, "shutdown": None}
import cases6
for k in ("deadline", "shutdown", "liveness"): HENDS[k] = cases6.MORE[k]


@fam("harmless", " ".join(f"{e}+{h}" for e in HENDS for h in HARM if not (e == "shutdown" and h == "node-deleted-after")))
def harmless(w, twin):
    e, h = twin.split("+"); j, nodes, t = gang(w, run=w.rng.randrange(1500, 2500)); v, nd = j.pods[0], nodes[0]
    HARM[h](w, j, v, nd, t); r = HENDS[e](w, j, v, nd, t); r.never = tuple(r.never) + ("dave@",); r.weak = tuple(r.weak) + ("unknown",)
    if h == "job-deleted-after": r.seen = r.seen.replace("L", "")
    return j.name, r


harmless.mixes = ["LE", "LEAG", "A", "LEM", "M", "T", "XAG", "EA"]
