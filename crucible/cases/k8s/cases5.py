"""A product: what ended the run, times something else that was written and did not end it."""

from cases4 import *

OTHER = person("dave@lab.example")  # who does what does not matter


# -- ends: each takes the gang's first pod away at t, and says what is right

def end_exit(w, j, v, nd, t):
    w.log(t, v, TRACE + "ValueError: bad crop"); exit_pod(w, t, v, 1); j.fail(t + 1, v); return T(CODE, (), "LWAG", "", never=["dave@"])


def end_oom(w, j, v, nd, t):
    memcg_oom(w, t, v); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return T("code.host_oom", (), "LWAG", "", never=["dave@"])


def end_drain(w, j, v, nd, t):
    cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v); return T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED, never=["dave@"])


def end_delete_job(w, j, v, nd, t):
    j.delete(t, BOB); return T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",), never=["dave@"])


def end_delete_pod(w, j, v, nd, t):
    delete_pod(w, t, BOB, v); j.fail(t + 2.6, v); return T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",), never=["dave@"])


def end_preempt(w, j, v, nd, t):
    w.condition(t, SCHED, "Pod", v.name, v.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod")
    w.api(t + 0.02, SCHED, "delete", "Pod", v.name, v.ns)
    w.event(t + 0.03, "default-scheduler", "Pod", v.name, v.ns, "Preempted", f"Preempted by pod {uid_of(w.seed, 'high')} on node {nd}", new=True)
    stop(w, t + 0.1, v); j.fail(t + 2.6, v); return T("sched.preempted", (), "AEW", "", weak=DELETED, never=["dave@"])


def end_lost(w, j, v, nd, t):
    not_ready(w, t + 45, nd, [v]); taint_evict(w, t + 350, v, lost=True); j.fail(t + 351, v); return T("node.not_ready", (), "LEWA", "", never=["dave@"])


def end_pressure(w, j, v, nd, t):
    msg = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 93Mi. Container trainer was using 190Gi, request is 100Gi, has larger consumption of memory. "
    kl(w, t, v, "Evicted", msg, warn=True); w.condition(t + 0.1, kubelet(nd), "Pod", v.name, v.ns, "DisruptionTarget", "True", "TerminationByKubelet", msg)
    exit_pod(w, t + 1, v, 137, why="Evicted", why_message=msg); j.fail(t + 2, v); return T("sched.node_pressure", (), "LEWA", "", never=["dave@"])


def end_complete(w, j, v, nd, t):
    j.complete(t); return T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"), never=["dave@"])


def end_runs(w, j, v, nd, t):
    w.at(t + 60, lambda: None); return T("none.running", (), "LWA", "", weak=("none.running",), never=["dave@"])


def end_scale_down(w, j, v, nd, t):
    ca_remove(w, t, nd, [v]); j.fail(t + 3.6, v); return T(SCALED, ["cluster-autoscaler"], "AEW", "AEW", weak=DRAINED + DELETED, never=["dave@"])


ENDS = {f.__name__[4:].replace("_", "-"): f for f in (end_exit, end_oom, end_drain, end_delete_job, end_delete_pod, end_preempt, end_lost, end_pressure, end_complete, end_runs, end_scale_down)}


# -- beside it: (w, j, v, nd, t) at a time before, near or after the end

def more_steps(w, j, t0, t1):
    for r, p in enumerate(j.pods): steps(w, p, t0, t1, every=15, rank=r, start=7000)


def b_cordon_undone(w, j, v, nd, t): cordon(w, t - 500, OTHER, nd); cordon(w, t - 400, OTHER, nd, False)
def b_refused(w, j, v, nd, t): cordon(w, t - 502, OTHER, nd); [evict(w, t - 500 + 5 * i, OTHER, v, blocked=True) for i in range(6)]; cordon(w, t - 400, OTHER, nd, False)
def b_xid94(w, j, v, nd, t): w.kernel(t - 500, nd, "NVRM: Xid (PCI:0000:4e:00): 94, pid=8213, name=python, Contained: SM (0x1). RST: No, D-RST: No")
def b_xid31(w, j, v, nd, t): w.kernel(t - 500, nd, "NVRM: Xid (PCI:0000:4e:00): 31, pid=99, name=nvtop, Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS")
def b_xid79_other(w, j, v, nd, t): n = node(w, "gpu-bad" + w.suffix(3)); w.kernel(t - 2, n, "NVRM: Xid (PCI:0000:4e:00): 79, pid=8213, name=python, GPU has fallen off the bus.")
def b_child_oom(w, j, v, nd, t): memcg_oom(w, t - 500, v, comm="pt_data_worker"); w.log(t - 500, v, "WARNING: DataLoader worker (pid 812) was killed by signal: Killed. Restarting worker.")
def b_probe(w, j, v, nd, t): kl(w, t - 500, v, "Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500", warn=True, count=2, until=t - 490)
def b_link(w, j, v, nd, t): w.kernel(t - 500, nd, "mlx5_core 0000:5c:00.0 ens1np0: Link down"); w.kernel(t - 497, nd, "mlx5_core 0000:5c:00.0 ens1np0: Link up")
def b_caught(w, j, v, nd, t): w.log(t - 500, v, "ERROR eval step failed, skipping\n" + TRACE + "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\neval skipped, training goes on")
def b_conn(w, j, v, nd, t): w.log(t - 500, v, "WARNING wandb: Network error (ConnectionError), entering retry loop.\nurllib3.exceptions.NewConnectionError: Failed to establish a new connection: [Errno 111] Connection refused")
def b_nccl(w, j, v, nd, t): w.log(t - 500, v, "gpu-7:812:1290 [0] NCCL WARN NET/IB : Got completion from peer 10.0.3.4<41000> with status=12 opcode=129 len=0 vendor err 129 (Send)")
def b_ca_undone(w, j, v, nd, t):
    w.event(t - 500, "cluster-autoscaler", "Node", nd, None, "ScaleDown", "marked the node as toBeDeleted/unschedulable"); taint(w, t - 500, CA, nd, "ToBeDeletedByClusterAutoscaler", "NoSchedule", "1")
    w.event(t - 450, "cluster-autoscaler", "Node", nd, None, "ScaleDownFailed", "failed to drain and delete node: pods remaining after timeout", warn=True); w.api(t - 450, CA, "patch", "Node", nd, change=lambda o: o["spec"].pop("taints", None), request={"spec": {"taints": None}})
def b_karp_blocked(w, j, v, nd, t): w.event(t - 500, "karpenter", "Node", nd, None, "DisruptionBlocked", f"Pod is blocking node disruption (Pod={v.ns}/{v.name})"); w.event(t - 400, "karpenter", "Node", nd, None, "Unconsolidatable", "Can't replace with a cheaper node")
def b_rebalance(w, j, v, nd, t): w.event(t - 500, "karpenter", "Node", nd, None, "SpotRebalanceRecommendation", "Spot rebalance recommendation was triggered", warn=False)
def b_patched(w, j, v, nd, t): w.api(t - 500, OTHER, "patch", "Job", j.name, j.ns, change=lambda o: o["metadata"]["labels"].update(team="vision"), request={"metadata": {"labels": {"team": "vision"}}})
def b_exec(w, j, v, nd, t): w.at(t - 20, lambda: w.audit.append({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": uid_of(w.seed, "exec"), "stage": "ResponseStarted", "requestURI": f"/api/v1/namespaces/{v.ns}/pods/{v.name}/exec?command=nvidia-smi&container=trainer&stdout=true", "verb": "create", "user": OTHER[0], "sourceIPs": ["10.0.0.9"], "userAgent": OTHER[1], "objectRef": {"resource": "pods", "namespace": v.ns, "name": v.name, "apiVersion": "v1", "subresource": "exec"}, "responseStatus": {"metadata": {}, "code": 101}, "requestReceivedTimestamp": w.ts(t - 20, 6), "stageTimestamp": w.ts(t - 20, 6)}))
def b_dry_run(w, j, v, nd, t): w.at(t - 300, lambda: w.audit.append({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": uid_of(w.seed, "dry"), "stage": "ResponseComplete", "requestURI": f"/api/v1/namespaces/{v.ns}/pods/{v.name}?dryRun=All", "verb": "delete", "user": OTHER[0], "sourceIPs": ["10.0.0.9"], "userAgent": OTHER[1], "objectRef": {"resource": "pods", "namespace": v.ns, "name": v.name, "apiVersion": "v1"}, "responseStatus": {"metadata": {}, "code": 200}, "requestObject": {"kind": "DeleteOptions", "dryRun": ["All"]}, "requestReceivedTimestamp": w.ts(t - 300, 6), "stageTimestamp": w.ts(t - 300, 6)}))
def b_forbidden(w, j, v, nd, t): w.api(t - 30, OTHER, "delete", "Pod", v.name, v.ns, fail=(403, "Forbidden", f'pods "{v.name}" is forbidden: User "dave@lab.example" cannot delete resource "pods"')); w.api(t - 29, OTHER, "delete", "Job", j.name, j.ns, fail=(403, "Forbidden", "forbidden"))
def b_disk(w, j, v, nd, t): w.event(t - 500, "kubelet", "Node", nd, None, "NodeHasDiskPressure", f"Node {nd} status is now: NodeHasDiskPressure", host=nd); w.event(t - 490, "kubelet", "Node", nd, None, "EvictionThresholdMet", "Attempting to reclaim ephemeral-storage", warn=True, host=nd); w.event(t - 400, "kubelet", "Node", nd, None, "NodeHasNoDiskPressure", f"Node {nd} status is now: NodeHasNoDiskPressure", host=nd)
def b_kubelet_restart(w, j, v, nd, t): w.event(t - 60, "kubelet", "Node", nd, None, "Starting", "Starting kubelet.", host=nd); w.event(t - 59, "kubelet", "Node", nd, None, "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods", host=nd)
def b_blip(w, j, v, nd, t): ready(w, t - 500, nd, False, "KubeletNotReady", "container runtime is down"); ready(w, t - 450, nd, True, "KubeletReady", "kubelet is posting ready status")
def b_soft_taint(w, j, v, nd, t): taint(w, t - 100, OTHER, nd, "maintenance", "PreferNoSchedule", "tomorrow")
def b_quota(w, j, v, nd, t): w.event(t - 300, "kueue-admission", "Job", j.name, j.ns, "Pending", "couldn't assign flavors: insufficient unused quota", warn=True)
def b_first_failed_create(w, j, v, nd, t): w.event(1, "job-controller", "Job", j.name, j.ns, "FailedCreate", 'Error creating: Internal error occurred: failed calling webhook "mpod.kb.io": context deadline exceeded', warn=True)
# near it
def n_pod_deleted(w, j, v, nd, t): o = make_pod(w, 2, "notebook-" + w.suffix(4), nd, by=CAROL, generate=False); delete_pod(w, t - 0.5, OTHER, o)
def n_pod_evicted(w, j, v, nd, t): o = make_pod(w, 2, "notebook-" + w.suffix(4), nd, by=CAROL, generate=False); evict(w, t - 3, OTHER, o)
def n_node_drained(w, j, v, nd, t): n = node(w, "gpu-x" + w.suffix(3)); o = make_pod(w, 2, "other-" + w.suffix(4), n, by=CAROL, generate=False); cordon(w, t - 3, OTHER, n); evict(w, t - 1, OTHER, o)
def n_pod_oom(w, j, v, nd, t): o = make_pod(w, 2, "batch-" + w.suffix(4), nd, by=CAROL, generate=False); w.at(t - 1.5, lambda: memcg_oom(w, t - 1, o)); exit_pod(w, t - 0.9, o, 137, "OOMKilled")
def n_pod_preempted(w, j, v, nd, t):
    o = make_pod(w, 2, "batch-" + w.suffix(4), nd, by=CAROL, generate=False)
    w.condition(t - 2, SCHED, "Pod", o.name, o.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"); w.api(t - 1.9, SCHED, "delete", "Pod", o.name, o.ns); w.event(t - 1.9, "default-scheduler", "Pod", o.name, o.ns, "Preempted", f"Preempted by pod {uid_of('z')} on node {nd}", new=True); stop(w, t - 1.8, o)
def n_job_namesake(w, j, v, nd, t): k = Job(w, 1, j.name + "-eval", [nd]); k.delete(t - 1, OTHER)
def n_job_prefix(w, j, v, nd, t): k = Job(w, 1, j.name[:-2], [nd]); k.delete(t - 1, OTHER)
def n_other_namespace(w, j, v, nd, t):
    ns, w.ns = w.ns, "staging"
    k = Job(w, 1, j.name, [node(w, "gpu-s" + w.suffix(3))]); k.delete(t - 30, OTHER)
    w.ns = ns
def n_no_schedule(w, j, v, nd, t): taint(w, t - 1, OTHER, nd, "team", "NoSchedule", "vision")
def n_deployment(w, j, v, nd, t): pods, rs = deployment(w, "web" + w.suffix(3), 1, [nd]); scale(w, t - 1, OTHER, "Deployment", rs.rsplit("-", 1)[0], rs, pods)
# after it
def a_drained(w, j, v, nd, t): cordon(w, t + 400, OTHER, nd)
def a_ca(w, j, v, nd, t): ca_remove(w, t + 700, nd, [])
def a_job_deleted(w, j, v, nd, t):
    w.at(t + 600, lambda: w.get("Job", j.name, j.ns) and w._do(OTHER, "delete", "Job", j.name, j.ns))
    for p in j.pods: w.at(t + 600.3, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns))
def a_not_ready(w, j, v, nd, t): not_ready(w, t + 500, nd)
def a_rebooted(w, j, v, nd, t): w.event(t + 600, "kubelet", "Node", nd, None, "Starting", "Starting kubelet.", host=nd); w.api(t + 600, kubelet(nd), "patch", "Node", nd, sub="status", change=lambda o: o["status"]["nodeInfo"].update(bootID=uid_of("b2"))); w.event(t + 600.5, "kubelet", "Node", nd, None, "Rebooted", f"Node {nd} has been rebooted, boot id: {uid_of('b2')}", warn=True, host=nd)
def a_xid(w, j, v, nd, t): w.kernel(t + 60, nd, "NVRM: Xid (PCI:0000:4e:00): 79, pid=8213, name=python, GPU has fallen off the bus.")
def a_oom(w, j, v, nd, t): w.kernel(t + 60, nd, "Out of memory: Killed process 777 (python) total-vm:301234567kB, anon-rss:20971kB, file-rss:1024kB, shmem-rss:0kB, UID:0 pgtables:412000kB oom_score_adj:0")
def a_node_deleted(w, j, v, nd, t): delete_node(w, t + 600, OTHER, nd)
def a_evicted(w, j, v, nd, t): cordon(w, t + 598, OTHER, nd); w.at(t + 600, lambda: w.get("Pod", v.name, v.ns) and w._do(OTHER, "create", "Pod", v.name, v.ns, sub="eviction"))
def a_tainted(w, j, v, nd, t): taint(w, t + 600, OTHER, nd, "maintenance", "NoExecute", "rack7")

BESIDE = {n: f for n, f in list(globals().items()) if n[:2] in ("b_", "n_", "a_") and callable(f)}
TWINS = [f"{e}+{b}" for e in ENDS for b in BESIDE if not (e == "runs" and b[0] == "a") and not (b == "a_ca" and e in ("scale-down", "lost")) and not (b in ("a_node_deleted", "a_not_ready", "a_rebooted") and e in ("scale-down", "lost"))]


@fam("product", " ".join(TWINS))
def product(w, twin):
    end, beside = twin.split("+")
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 2500)); v, nd = j.pods[0], nodes[0]
    if beside[0] == "b": more_steps(w, j, t - 480, t - 25)
    BESIDE[beside](w, j, v, nd, t)
    return (f"Job/{j.ns}/{j.name}" if beside == "n_other_namespace" else j.name), ENDS[end](w, j, v, nd, t)
