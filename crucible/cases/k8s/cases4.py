"""Families of cases: two people at once, blips that were survived, starts that failed, gangs, stuck ends."""

from cases3 import *


@fam("two-people", "a-cordons-b-deletes a-cordons-b-evicts a-cordons-job-fails a-cordons-karpenter-takes b-deletes-other-pod replace-force puts-node eviction-then-delete delete-then-eviction")
def two_people(w, twin):
    if twin == "a-cordons-karpenter-takes":
        nodes, claim = karp_pool(w); j, _, t = gang(w, nodes=nodes, run=w.rng.randrange(1200, 4000)); v, nd = j.pods[0], nodes[0]
        cordon(w, t - 300, BOB, nd); c = claim(nd)
        w.event(t, "karpenter", "Node", nd, None, "DisruptionTerminating", "Disrupting Node: Underutilized"); w.condition(t, KARP, "NodeClaim", c, None, "DisruptionReason", "True", "Underutilized", "Underutilized"); w.api(t + 0.3, KARP, "delete", "NodeClaim", c)
        karp_drain(w, t + 1, nd, c, [v], "Underutilized"); j.fail(t + 3.6, v)
        return j.name, T(SCALED, ["karpenter"], "AEW", "AEW", weak=DRAINED + DELETED, never=["bob@"])
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 4000)); v, nd = j.pods[0], nodes[0]
    if twin == "a-cordons-b-deletes":
        cordon(w, t - 120, BOB, nd); delete_pod(w, t, CAROL, v); j.fail(t + 2.6, v); return j.name, T(DELETED, ["carol@"], "A", "AM", weak=DRAINED + DELETED, never=["bob@"])
    if twin == "a-cordons-b-evicts":
        cordon(w, t - 120, BOB, nd); evict(w, t, CAROL, v); j.fail(t + 2.6, v); return j.name, T(DRAINED + DELETED, ["carol@", "bob@"], "AM", "AM", weak=DRAINED + DELETED)
    if twin == "a-cordons-job-fails":
        cordon(w, t - 20, BOB, nd); o = j.pods[1]; w.log(t, o, TRACE + "ValueError: bad crop"); exit_pod(w, t, o, 1); j.fail(t + 1, o); return j.name, T(CODE, (), "LWAG", "")
    if twin == "b-deletes-other-pod":  # a bystander of the namespace is deleted in the second in which ours raises
        o = make_pod(w, 2, "notebook-" + w.suffix(4), nodes[1], by=CAROL, generate=False); delete_pod(w, t, CAROL, o); w.log(t, v, TRACE + "ValueError: bad crop"); exit_pod(w, t, v, 1); j.fail(t + 1, v); return j.name, T(CODE, (), "LWAG", "")
    if twin == "replace-force":  # kubectl replace --force: deleted and made again under its name
        j.delete(t, ALICE); k = Job(w, t + 3, j.name, nodes); w.at(t + 60, lambda: None); return j.name, T("none.running", (), "LWA", "", weak=("none.running",) + DELETED, also=DELETED)
    if twin == "puts-node":  # a home-made tool writes the whole node back with PUT
        who = sa("ops", "rack-maintenance", "python-requests/2.32.3")
        w.api(t - 2, who, "update", "Node", nd, change=lambda o: o["spec"].update(unschedulable=True), request={"kind": "Node", "apiVersion": "v1", "metadata": {"name": nd}, "spec": {"unschedulable": True}})
        evict(w, t, who, v); j.fail(t + 2.6, v); return j.name, T(DRAINED + ("ops.host_maintenance", "ops.node_upgrade"), ["rack-maintenance"], "A", "AM", weak=DRAINED + DELETED)
    if twin == "eviction-then-delete":
        cordon(w, t - 2, BOB, nd); w.api(t, BOB, "create", "Pod", v.name, v.ns, sub="eviction"); w.api(t + 8, CAROL, "delete", "Pod", v.name, v.ns); stop(w, t + 0.1, v, 137, took=30); j.fail(t + 31, v); return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED, never=["carol@"])
    w.api(t, CAROL, "delete", "Pod", v.name, v.ns); cordon(w, t + 5, BOB, nd); w.api(t + 8, BOB, "create", "Pod", v.name, v.ns, sub="eviction"); stop(w, t + 0.1, v, 137, took=30); j.fail(t + 31, v)
    return j.name, T(DELETED, ["carol@"], "AM", "AM", weak=DRAINED + DELETED, never=["bob@"])


def ready(w, t, nd, ok, reason, message):
    """A kubelet says itself whether its node is ready."""
    w.condition(t, kubelet(nd), "Node", nd, None, "Ready", str(ok), reason, message)
    w.event(t, "node-controller" if not ok else "kubelet", "Node", nd, None, "NodeReady" if ok else "NodeNotReady", f"Node {nd} status is now: {'NodeReady' if ok else 'NodeNotReady'}", host=nd if ok else None)


@fam("blip", "pleg-then-exit kubelet-restart-then-drain nccl-warn-then-drain s3-error-then-delete xid-survived-then-delete disk-full-survived-then-exit probe-failed-then-delete readonly-then-exit pending-neighbour dns-survived-then-drain")
def blip(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(2000, 4000)); v, nd = j.pods[0], nodes[0]
    raised = lambda: (w.log(t, v, TRACE + "ValueError: bad crop"), exit_pod(w, t, v, 1), j.fail(t + 1, v), j.name)[-1]
    drained = lambda: (cordon(w, t - 2, BOB, nd), evict(w, t, BOB, v), j.fail(t + 2.6, v), j.name)[-1]
    gone = lambda: (j.delete(t, CAROL), j.name)[-1]
    dr, de, ex = T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED), T(DELETED, ["carol@"], "AM", "AM", weak=DELETED + ("unknown",)), T(CODE, (), "LWAG", "")
    if twin == "pleg-then-exit":
        ready(w, t - 400, nd, False, "KubeletNotReady", "PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s"); ready(w, t - 350, nd, True, "KubeletReady", "kubelet is posting ready status"); return raised(), ex
    if twin == "kubelet-restart-then-drain":
        w.event(t - 60, "kubelet", "Node", nd, None, "Starting", "Starting kubelet.", host=nd); return drained(), dr
    if twin == "nccl-warn-then-drain":
        w.log(t - 45, v, "gpu-7:812:1290 [0] NCCL WARN NET/IB : Got completion from peer 10.0.3.4<41000> with status=12 opcode=129 len=0 vendor err 129 (Send)\n[rank0]: recovered, ring rebuilt"); steps(w, v, t - 44, t - 1, every=4, start=5000); return drained(), dr
    if twin == "s3-error-then-delete":
        w.log(t - 90, v, "ERROR checkpoint upload failed: botocore.exceptions.ClientError: An error occurred (SlowDown) when calling the PutObject operation: Please reduce your request rate.; will retry"); steps(w, v, t - 85, t - 1, every=5, start=5000); return gone(), de
    if twin == "xid-survived-then-delete":
        w.kernel(t - 500, nd, "NVRM: Xid (PCI:0000:4e:00): 94, pid=8213, name=python, Contained: SM (0x1). RST: No, D-RST: No"); steps(w, v, t - 490, t - 1, every=10, start=5000); return gone(), de
    if twin == "disk-full-survived-then-exit":
        w.log(t - 700, v, "WARNING tensorboard: OSError: [Errno 28] No space left on device; dropping summaries"); steps(w, v, t - 690, t - 1, every=10, start=5000); return raised(), ex
    if twin == "probe-failed-then-delete":
        kl(w, t - 100, v, "Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500", warn=True, count=2, until=t - 90); return gone(), de
    if twin == "readonly-then-exit":  # a file system of another device of the machine, long before
        w.kernel(t - 3000, nd, "EXT4-fs (sdz1): Remounting filesystem read-only"); return raised(), ex
    if twin == "pending-neighbour":
        o = make_pod(w, t - 500, "big-" + w.suffix(4), None, by=CAROL, generate=False); unschedulable(w, t - 499, o, "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.", until=t); return drained(), dr
    w.log(t - 300, v, "socket.gaierror: [Errno -3] Temporary failure in name resolution (wandb), retrying"); steps(w, v, t - 290, t - 1, every=10, start=5000); return drained(), dr


@fam("starts", "start-error run-error sandbox-cni create-container-error crash-loop-drained crash-loop-deleted rejected-pressure affinity-after-relabel out-of-cpu gpu-driver-missing")
def starts(w, twin):
    nd = node(w, "gpu-" + w.suffix(4)); late = twin.startswith("crash-loop")
    spec = template(restart="OnFailure") if late else template()
    j = Job(w, 0, run_name(w), [], spec=spec); p = j.pod(0.5, 0, nd, starts=late); p.start = 3; j.pods = [p]
    if not late: bind(w, 1, p)
    f = "spec.containers{trainer}"
    def failed_start(reason, message, code=128):
        kl(w, 4, p, "Failed", "Error: " + message, warn=True, field=f)
        w.at(4.1, lambda: set_state(w, 4.2, p, "trainer", {"terminated": {"exitCode": code, "reason": reason, "message": message, "startedAt": "1970-01-01T00:00:00Z", "finishedAt": w.ts(4)}}, phase="Failed")); j.fail(5, p); return j.name
    if twin == "start-error": return failed_start("StartError", 'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "pyhton": executable file not found in $PATH: unknown'), T("code.config_or_input", (), "LEWA", "")
    if twin == "run-error": return failed_start("StartError", 'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "/app/run.sh": permission denied: unknown'), T("code.config_or_input", (), "LEWA", "")
    if twin == "gpu-driver-missing": return failed_start("StartError", "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running prestart hook #0: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'\nnvidia-container-cli: initialization error: nvml error: driver not loaded: unknown"), T(("node.driver", "hw.gpu"), (), "LEWA", "")
    if twin == "sandbox-cni":
        kl(w, 5, p, "FailedCreatePodSandBox", 'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "ab": plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container', warn=True, count=40, until=590); set_state(w, 3, p, "trainer", {"waiting": {"reason": "ContainerCreating"}}, phase="Pending"); w.at(600, lambda: None)
        return j.name, T(("dep.network",), (), "EW", "", weak=("unknown", "dep.network"))
    if twin == "create-container-error":
        set_state(w, 4, p, "trainer", {"waiting": {"reason": "CreateContainerError", "message": 'failed to reserve container name "trainer_x": name "trainer_x" is reserved for "9f"'}}, phase="Pending"); kl(w, 4, p, "Failed", 'Error: failed to reserve container name "trainer_x": name "trainer_x" is reserved for "9f"', warn=True, count=30, until=590); w.at(600, lambda: None)
        return j.name, T(("node.runtime", "code.config_or_input", "unknown"), (), "", "", weak=("node.runtime", "code.config_or_input"))
    if late:
        t = 60
        for n in range(5):
            w.log(t, p, TRACE + "FileNotFoundError: [Errno 2] No such file or directory: '/cfg/run.yaml'"); restart(w, t, p, 1, n=n + 1, wait=20 * 2**n); t += 20 * 2**n + 15
        kl(w, 100, p, "BackOff", f"Back-off restarting failed container trainer in pod {p.name}_{w.ns}", warn=True, count=30, until=t - 5)
        if twin == "crash-loop-drained": cordon(w, t, BOB, nd); evict(w, t + 2, BOB, p); j.fail(t + 5, p)
        else: j.delete(t, BOB)
        return j.name, T(CODE, (), "EWAG", "", weak=DRAINED + DELETED + ("unknown",), never=["bob@"])
    why, msg, right = {"rejected-pressure": ("Evicted", "Pod was rejected: The node had condition: [DiskPressure]. ", ("sched.node_pressure",)), "affinity-after-relabel": ("NodeAffinity", "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector", ("sched.unschedulable_constraint", "ops.config_change")), "out-of-cpu": ("OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu, requested: 8000, used: 92000, capacity: 96000", ("sched.unschedulable_capacity",))}[twin]
    kl(w, 2, p, why, msg.replace("Pod was rejected: ", ""), warn=True)
    w.condition(2.1, kubelet(nd), "Pod", p.name, p.ns, "Ready", "False", "PodFailed", "", phase="Failed", reason=why, message=msg); j.fail(3, p)
    return j.name, T(right, (), "LEWA", "", weak=("unknown",))


@fam("gang", "oom-then-timeouts drain-then-timeouts slow-rank-last two-drained-same-second exit-masked-by-teardown launcher-reports first-on-skewed-node")
def gangs(w, twin):
    n = 4; nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(n)]
    if twin == "first-on-skewed-node": w.skew[nodes[2]] = 75
    j, _, t = gang(w, nodes=nodes, run=w.rng.randrange(1500, 3000)); v = j.pods[2]
    others = [p for p in j.pods if p is not v]
    nccl = lambda at, p: (w.log(at, p, f"[rank{j.pods.index(p)}]:[E1005 10:00:00.0 ProcessGroupNCCL.cpp:632] [Rank {j.pods.index(p)}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=981, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600021 milliseconds before timing out."), exit_pod(w, at + 1, p, 134))
    lost = lambda at, p: (w.log(at, p, TRACE + "torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error\nncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely. Last error:\nsocketPollConnect: connect to 10.2.0.4<50123> returned Connection refused, exceeded error retry count after 35 attempts"), exit_pod(w, at + 0.5, p, 1))
    if twin == "oom-then-timeouts":
        memcg_oom(w, t, v); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); [lost(t + 2 + i, p) for i, p in enumerate(others)]; j.fail(t + 8, v, rest=[]); return j.name, T("code.host_oom", (), "LWAG", "", weak=CODE + ("dep.network",))
    if twin == "drain-then-timeouts":
        cordon(w, t - 2, BOB, nodes[2]); evict(w, t, BOB, v); [lost(t + 3 + i, p) for i, p in enumerate(others)]; j.fail(t + 9, v, rest=[]); return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED + CODE + ("dep.network", "hang.collective_timeout"))
    if twin == "slow-rank-last":  # rank 2 hung and was killed last, by the Job; the others gave up after ten minutes
        [nccl(t + 600 + i * 0.3, p) for i, p in enumerate(others)]; j.fail(t + 604, others[0], rest=[v], code=137); return j.name, T("hang.collective_timeout", (), "G", "", weak=("code.segfault", "code.exception", "hang.no_progress", "unknown"))
    if twin == "two-drained-same-second":
        for k in (1, 2): cordon(w, t - 3 + k * 0.2, BOB, nodes[k]); evict(w, t + 0.05 * k, BOB, j.pods[k])
        j.fail(t + 3, None, rest=[j.pods[0], j.pods[3]]); return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED)
    if twin == "exit-masked-by-teardown":  # the Job deletes all others within a second; their 143s are not first
        w.log(t, v, TRACE + "ValueError: bad crop"); exit_pod(w, t, v, 1); j.fail(t + 0.9, v); return j.name, T(CODE, (), "LWAG", "")
    if twin == "launcher-reports":
        w.log(t, v, TRACE + "RuntimeError: bad crop"); w.log(t + 1, v, "E1005 10:00:00.123000 17 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 3 (pid: 812) of binary: /usr/bin/python")
        exit_pod(w, t + 2, v, 1); [lost(t + 2 + i, p) for i, p in enumerate(others)]; j.fail(t + 8, v, rest=[]); return j.name, T(CODE, (), "LWAG", "")
    w.log(t, v, TRACE + "ValueError: bad crop"); exit_pod(w, t, v, 1); [lost(t + 2 + i, p) for i, p in enumerate(others)]; j.fail(t + 8, v, rest=[])
    return j.name, T(CODE, (), "LWAG", "", weak=("dep.network", "hang.collective_timeout"))


@fam("stuck", "terminating-unreachable running-silent-node job-suspended-from-start finalizer-stuck running-well pending-young spot-graceful gke-upgrade")
def stuck(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 3000)) if twin not in ("job-suspended-from-start", "pending-young") else (None, None, 0)
    if twin == "job-suspended-from-start":
        j = Job(w, 0, run_name(w), [], suspend=True); w.at(1800, lambda: None); return j.name, T(("unknown", "sched.quota", "none.running", "ops.manual_delete", "ops.config_change", "sched.kueue_evicted"), (), "", "", weak=())
    if twin == "pending-young":
        nd = node(w, "gpu-" + w.suffix(4)); j = Job(w, 0, run_name(w), []); p = j.pod(0.5, 0, nd, starts=False); p.start = 2; bind(w, 1, p); kl(w, 2, p, "Pulling", 'Pulling image "registry.lab.example/train:1.4.2"'); set_state(w, 2, p, "trainer", {"waiting": {"reason": "ContainerCreating"}}, phase="Pending"); w.at(20, lambda: None)
        return j.name, T(("none.running", "unknown"), (), "", "", weak=("none.running", "dep.image_pull"))
    v, nd = j.pods[0], nodes[0]
    if twin == "running-well": w.at(t + 60, lambda: None); return j.name, T("none.running", (), "LWA", "", weak=("none.running",))
    if twin == "running-silent-node": not_ready(w, t + 45, nd, [v]); w.at(t + 90, lambda: None); return j.name, T("node.not_ready", (), "LEWA", "", weak=("none.running",))
    if twin == "terminating-unreachable":
        not_ready(w, t + 45, nd, [v]); taint_evict(w, t + 350, v, lost=True); w.at(t + 900, lambda: None); return j.name, T("node.not_ready", (), "LEWA", "")
    if twin == "finalizer-stuck":  # its end was asked for and carried out, but an own finalizer keeps the object
        w.at(1, lambda: w.get("Pod", v.name, v.ns)["metadata"]["finalizers"].append("lab.example/archive")); w.api(t, BOB, "delete", "Pod", v.name, v.ns); stop(w, t + 0.1, v, remove=False); j.fail(t + 3, None, rest=[j.pods[1]]); return j.name, T(DELETED, ["bob@"], "AM", "AM", weak=DELETED)
    if twin == "spot-graceful":
        w.at(-0.5, lambda: w.objs[("Node", None, nd)]["metadata"]["labels"].update({"cloud.google.com/gke-spot": "true"}))
        taint(w, t - 1, sa("kube-system", "gke-spot-termination-handler") if False else ({"username": "system:gke-spot", "groups": []}, "x"), nd, "cloud.google.com/impending-node-termination", "NoSchedule")
        w.event(t - 1, "kubelet", "Node", nd, None, "Shutdown", "Shutdown manager detected shutdown event", host=nd); w.condition(t, kubelet(nd), "Pod", v.name, v.ns, "DisruptionTarget", "True", "TerminationByKubelet", "Pod was terminated in response to imminent node shutdown.")
        exit_pod(w, t + 2, v, 143, why="Terminated", why_message="Pod was terminated in response to imminent node shutdown."); j.fail(t + 3, v); delete_node(w, t + 60, sa("kube-system", "cloud-node-lifecycle-controller", "cloud-controller-manager/v1.34"), nd)
        return j.name, T(("cloud.spot_reclaimed", "node.shutdown"), (), "LEWA", "")
    # GKE empties a node of a pool that is being upgraded: a system user cordons, evicts and removes it; a new node comes.
    who = ({"username": "system:gke-node-upgrader", "groups": ["system:authenticated"]}, "Go-http-client/2.0")
    cordon(w, t - 2, who, nd); evict(w, t, who, v); j.fail(t + 2.6, v); delete_node(w, t + 60, who, nd)
    return j.name, T(("ops.node_upgrade", "ops.node_drained"), (), "A", "", weak=DRAINED + DELETED + ("ops.node_upgrade", "ops.scale_down"))
