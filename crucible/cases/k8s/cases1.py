"""Families of cases: who took the machine away."""

from parts import *

FAMILIES = []


class T:
    """What is right. `seen`: letters of observers of whom any tells the cause; `who`: those that tell the actor.
    `weak`: causes that may be guessed at hypothesis. `never`: names that no answer may give as the actor. `unseen`: right as well where no such observer is there."""

    def __init__(self, right, actor=(), seen="", who="A", weak=(), never=(), cap=None, also=(), never_cause=(), unseen=()):
        tup = lambda x: (x,) if isinstance(x, str) else tuple(x)
        self.right, self.actor, self.seen, self.who, self.weak, self.never, self.cap, self.also, self.never_cause, self.unseen = tup(right), tup(actor), seen, who, tup(weak), tup(never), cap, tup(also), tup(never_cause), tup(unseen)


def fam(name, twins):
    def keep(f):
        FAMILIES.append((name, twins.split(), f))
        return f
    return keep


def run_name(w, word=None):
    return (word or w.rng.choice(["llama-ft", "vit-large", "gpt2-med", "t5-xl", "whisper-v4", "diffusion-s", "rl-walker", "bert-ctc"])) + "-" + w.suffix(4)


DRAINED = ("ops.node_drained",)
DELETED = ("ops.manual_delete",)
SCALED = ("ops.scale_down",)
CODE = ("code.exception", "code.config_or_input")


def gang(w, n=2, t=0, nodes=None, run=1800, **k):
    """A Job of n pods on n nodes, trained for `run` seconds."""
    nodes = nodes or [node(w, f"{k.pop('pool', 'gpu')}-{w.suffix(4)}-{i}", who=k.pop("who_cloud", "gce") if i == n - 1 else k.get("who_cloud", "gce")) for i in range(n)]
    k.pop("who_cloud", None)
    j = Job(w, t, run_name(w), nodes, **k)
    for r, p in enumerate(j.pods): steps(w, p, t + 8, t + run, every=max(10, run // 40), rank=r)
    return j, nodes, t + run


# -- Karpenter

def karp_pool(w, n=2):
    names = {}
    claim = lambda n: names.setdefault(n, "gpu-" + uid_of(w.seed, "claim", n)[:5])
    nodes = [node(w, f"ip-10-0-{w.rng.randrange(200)}-{w.rng.randrange(200)}.ec2.internal", who="aws", labels={"karpenter.sh/nodepool": "gpu", "karpenter.sh/capacity-type": "on-demand", "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}) for _ in range(n)]
    def claims():
        w.objs[("NodePool", None, "gpu")] = {"kind": "NodePool", "apiVersion": "karpenter.sh/v1", "metadata": {"name": "gpu", "uid": uid_of(w.seed, "np"), "creationTimestamp": w.ts(-900000)}, "spec": {"disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "30s"}}}
        w._keep("ADDED", w.objs[("NodePool", None, "gpu")])
        for i, n in enumerate(nodes):
            w.objs[("Node", None, n)]["metadata"]["finalizers"] = ["karpenter.sh/termination"]
            w.objs[("Node", None, n)]["metadata"]["ownerReferences"] = [{"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": claim(n), "uid": uid_of(w.seed, "nc", n), "blockOwnerDeletion": True}]
            c = {"kind": "NodeClaim", "apiVersion": "karpenter.sh/v1", "metadata": {"name": claim(n), "uid": uid_of(w.seed, "nc", n), "creationTimestamp": w.ts(-864060), "finalizers": ["karpenter.sh/termination"], "labels": {"karpenter.sh/nodepool": "gpu"}, "ownerReferences": [{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": "gpu", "uid": uid_of(w.seed, "np"), "blockOwnerDeletion": True}]},
                 "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "gpu"}}, "status": {"nodeName": n, "providerID": w.objs[("Node", None, n)]["spec"]["providerID"], "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": w.ts(-864000), "reason": "Ready", "message": ""}]}}
            w.objs[("NodeClaim", None, c["metadata"]["name"])] = c
            w._keep("ADDED", c)
    w.at(-0.5, claims)
    return nodes, claim


def karp_drain(w, t, nd, claim, pods, why):
    """Karpenter's termination controller empties a node whose object or claim was deleted."""
    w.at(t, lambda: w.get("Node", nd) and "deletionTimestamp" not in w.get("Node", nd)["metadata"] and w._do(KARP, "delete", "Node", nd))
    w.at(t + 0.1, lambda: w.get("NodeClaim", claim) and "deletionTimestamp" not in w.get("NodeClaim", claim)["metadata"] and w._do(KARP, "delete", "NodeClaim", claim))
    taint(w, t + 0.4, KARP, nd, "karpenter.sh/disrupted", "NoSchedule")
    for p in pods:
        evict(w, t + 1, KARP, p)
        w.event(t + 1.1, "karpenter", "Pod", p.name, p.ns, "Evicted", f"Evicted pod: {why}", uid=False)  # Karpenter gives no uid
    def go(kind, name):
        w.api(t + 75, KARP, "patch", kind, name, change=lambda o: o["metadata"].pop("finalizers", None), request={"metadata": {"finalizers": None}})
    go("Node", nd)
    w.at(t + 75.5, lambda: w.get("NodeClaim", claim) and "deletionTimestamp" in w.get("NodeClaim", claim)["metadata"] and w._do(KARP, "patch", "NodeClaim", claim, change=lambda o: o["metadata"].pop("finalizers", None), request={"metadata": {"finalizers": None}}))


@fam("karpenter", "underutilized drifted expired spot empty person-node person-claim person-pool gitops-pool person-node-leftover")
def karpenter(w, twin):
    nodes, claim = karp_pool(w)
    j, _, t = gang(w, nodes=nodes, run=w.rng.randrange(1200, 4000))
    v, nd = j.pods[0], nodes[0]
    c = claim(nd)
    disrupt = lambda why: (w.event(t, "karpenter", "Node", nd, None, "DisruptionTerminating", f"Disrupting Node: {why}"), w.event(t, "karpenter", "NodeClaim", c, None, "DisruptionTerminating", f"Disrupting NodeClaim: {why}"),
                           w.condition(t, KARP, "NodeClaim", c, None, "DisruptionReason", "True", why, why), w.api(t + 0.3, KARP, "delete", "NodeClaim", c))
    after = lambda: j.fail(t + 3.6, v)
    if twin in ("underutilized", "drifted"):
        why = twin.capitalize()
        disrupt(why); karp_drain(w, t + 1, nd, c, [v], why); after()
        return j.name, T(SCALED + (("ops.node_upgrade",) if twin == "drifted" else ()), ["karpenter"], "AEW", "AEW", weak=DRAINED + DELETED)
    if twin == "expired":
        w.api(t + 0.3, KARP, "delete", "NodeClaim", c); karp_drain(w, t + 1, nd, c, [v], "Forceful Termination"); after()
        return j.name, T(SCALED + ("ops.node_upgrade",), ["karpenter"], "A", "A", weak=DRAINED + DELETED + SCALED, also=SCALED)
    if twin == "spot":
        w.event(t - 1, "karpenter", "Node", nd, None, "SpotInterrupted", "Spot interruption warning was triggered", warn=True)
        w.event(t - 1, "karpenter", "NodeClaim", c, None, "SpotInterrupted", "Spot interruption warning was triggered", warn=True)
        w.event(t - 0.5, "karpenter", "Node", nd, None, "TerminatingOnInterruption", "Interruption triggered termination for the Node", warn=True)
        w.api(t + 0.3, KARP, "delete", "NodeClaim", c); karp_drain(w, t + 1, nd, c, [v], "Forceful Termination"); after()
        return j.name, T("cloud.spot_reclaimed", (), "EW", "", weak=SCALED + DRAINED, also=SCALED, unseen=SCALED)
    if twin == "empty":  # the run had failed by itself before; what is removed is an empty node
        w.log(t, v, TRACE + "ValueError: bad shard 17"); exit_pod(w, t, v, 1); j.fail(t + 1, v)
        t2 = t + 90
        w.event(t2, "karpenter", "Node", nd, None, "DisruptionTerminating", "Disrupting Node: Empty")
        w.api(t2 + 0.3, KARP, "delete", "NodeClaim", c); karp_drain(w, t2 + 1, nd, c, [], "Empty")
        return j.name, T(CODE, (), "LWAG", "", weak=("unknown",))
    if twin == "person-node-leftover":
        w.log(t, v, TRACE + "KeyError: 'optimizer'"); exit_pod(w, t, v, 1); j.fail(t + 1, v)
        t2 = t + 40
        w.api(t2, BOB, "delete", "Node", nd); karp_drain(w, t2 + 1, nd, c, [], "Forceful Termination"); w.api(t2 + 120, PODGC, "delete", "Pod", v.name, v.ns)
        return j.name, T(CODE, (), "WAG", "", weak=("unknown",))
    if twin == "person-node": w.api(t, BOB, "delete", "Node", nd)
    if twin == "person-claim": w.api(t, BOB, "delete", "NodeClaim", c)
    if twin in ("person-pool", "gitops-pool"):
        who = BOB if twin == "person-pool" else sa("argocd", "argocd-application-controller", "argocd-application-controller/v0.0.0 (linux/amd64) kubernetes/$Format")
        w.api(t - 0.5, who, "delete", "NodePool", "gpu")
        for n in nodes: w.api(t, GC, "delete", "NodeClaim", claim(n))
        for n, p in zip(nodes, j.pods): karp_drain(w, t + 1, n, claim(n), [p], "Forceful Termination")
        w.condition(t + 5, JOBC, "Job", j.name, j.ns, "FailureTarget", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
        w.condition(t + 6, JOBC, "Job", j.name, j.ns, "Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
        return j.name, T(DRAINED + DELETED + SCALED, ["bob@"] if who is BOB else ["argocd"], "A", "AM", weak=SCALED + DRAINED + DELETED, never=["karpenter"])
    karp_drain(w, t + 1, nd, c, [v], "Forceful Termination"); after()
    return j.name, T(DRAINED + DELETED, ["bob@"], "AM", "AM", weak=SCALED + DRAINED + DELETED, never=["karpenter"])


# -- cluster autoscaler

def ca_remove(w, t, nd, pods, took=2, who=CA):
    w.event(t, "cluster-autoscaler", "ConfigMap" if False else "Node", nd, None, "ScaleDown", "marked the node as toBeDeleted/unschedulable")
    taint(w, t, who, nd, "ToBeDeletedByClusterAutoscaler", "NoSchedule", str(int((w.base + timedelta(seconds=t)).timestamp())))
    for p in pods:
        evict(w, t + 1, who, p, took=took)
        w.event(t + 1.05, "cluster-autoscaler", "Pod", p.name, p.ns, "ScaleDown", "deleting pod for node scale down")
    w.event(t + 40, "cluster-autoscaler", "Node", nd, None, "ScaleDown", "nodes removed by cluster autoscaler")
    delete_node(w, t + 60, kcm("cloud-node-lifecycle-controller") if False else sa("kube-system", "cloud-controller-manager"), nd)


@fam("cluster-autoscaler", "removes gke-removes pod-event-only leftover gave-up person-drains-candidate person-deletes-marked taint-then-oom")
def autoscaler(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 4000))
    v, nd = j.pods[0], nodes[0]
    if twin in ("removes", "gke-removes"):
        who = CA if twin == "removes" else ({"username": "system:cluster-autoscaler", "groups": ["system:authenticated"]}, "cluster-autoscaler/v0.0.0 (linux/amd64) kubernetes/$Format")
        ca_remove(w, t, nd, [v], who=who); j.fail(t + 3.6, v)
        return j.name, T(SCALED, ["cluster-autoscaler"], "AEW", "AEW", weak=DRAINED + DELETED)
    if twin == "pod-event-only":  # the eviction and all else is lost but for the Event on the pod
        w.event(t + 1.05, "cluster-autoscaler", "Pod", v.name, v.ns, "ScaleDown", "deleting pod for node scale down")
        w.api(t + 1, CA, "create", "Pod", v.name, v.ns, sub="eviction", quiet=True); stop(w, t + 1.1, v); j.fail(t + 3.6, v)
        return j.name, T(SCALED, ["cluster-autoscaler"], "EW", "EW", weak=DRAINED + DELETED + ("unknown",))
    if twin == "leftover":
        w.log(t, v, TRACE + "FileNotFoundError: [Errno 2] No such file or directory: '/data/shard-17'"); exit_pod(w, t, v, 1); j.fail(t + 1, v)
        ca_remove(w, t + 700, nd, [])
        return j.name, T(CODE + ("dep.storage",), (), "LWAG", "")
    if twin == "gave-up":
        w.event(t - 300, "cluster-autoscaler", "Node", nd, None, "ScaleDown", "marked the node as toBeDeleted/unschedulable")
        taint(w, t - 300, CA, nd, "ToBeDeletedByClusterAutoscaler", "NoSchedule", "1")
        evict(w, t - 299, CA, v, blocked=True)
        w.event(t - 200, "cluster-autoscaler", "Node", nd, None, "ScaleDownFailed", "failed to drain and delete node: Failed to drain node " + nd + ": pods remaining after timeout", warn=True)
        w.api(t - 200, CA, "patch", "Node", nd, change=lambda o: o["spec"].pop("taints", None), request={"spec": {"taints": None}})
        w.log(t, v, TRACE + "RuntimeError: shape mismatch"); exit_pod(w, t, v, 1); j.fail(t + 1, v)
        return j.name, T(CODE, (), "LWAG", "")
    if twin == "person-drains-candidate":
        taint(w, t - 400, CA, nd, "DeletionCandidateOfClusterAutoscaler", "PreferNoSchedule", "1")
        cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v)
        return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED + SCALED, never=["cluster-autoscaler"])
    if twin == "person-deletes-marked":  # the autoscaler marked another node; a person deletes the Job
        other = node(w, "gpu-other-" + w.suffix(3)); ca_remove(w, t - 20, other, [])
        j.delete(t, CAROL)
        return j.name, T(DELETED, ["carol@"], "A", "AM", weak=DELETED + ("unknown",), never=["cluster-autoscaler"])
    w.event(t - 20, "cluster-autoscaler", "Node", nd, None, "ScaleDown", "marked the node as toBeDeleted/unschedulable")
    taint(w, t - 20, CA, nd, "ToBeDeletedByClusterAutoscaler", "NoSchedule", "1")
    w.log(t - 0.1, v, "[rank0] saving sample grid")
    memcg_oom(w, t, v); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v)
    return j.name, T("code.host_oom", (), "LWAG", "")


def memcg_oom(w, t, p, comm="python", limit=209715200, pid=None):
    pid = pid or w.rng.randrange(5000, 90000)
    w.at(t, lambda: [w.host.setdefault(p.node, []).append((w.now + w.skew.get(p.node, 0) + i * 1e-3, "kernel", x)) for i, x in enumerate([
        f"{comm} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=-997",
        f"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=cri-containerd-1.scope,mems_allowed=0,oom_memcg=/kubepods.slice/kubepods-pod{p.uid.replace('-', '_')}.slice,task_memcg=/kubepods.slice/kubepods-pod{p.uid.replace('-', '_')}.slice/cri-containerd-{uid_of(p.uid).replace('-', '')}.scope,task={comm},pid={pid},uid=0",
        f"Memory cgroup out of memory: Killed process {pid} ({comm}) total-vm:301234567kB, anon-rss:{limit}kB, file-rss:1024kB, shmem-rss:0kB, UID:0 pgtables:412000kB oom_score_adj:-997"])])


# -- drains

@fam("drain", "person cordon-delete disable-eviction kured nvsentinel nth-spot eks-upgrade person-after-old-xid leftover error-survived error-then-exit pdb-then-ok other-rank-first person-from-pod aks-upgrade")
def drains(w, twin):
    k = {}
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 4000))
    v, nd = j.pods[0], nodes[0]
    right = T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED)
    def drain(who, at=t, cord=True, **k):
        if cord: cordon(w, at - 2, who, nd)
        evict(w, at, who, v, **k); j.fail(at + 2.6, v)
    if twin == "person": drain(BOB); return j.name, right
    if twin in ("cordon-delete", "disable-eviction"):
        cordon(w, t - (2 if twin == "disable-eviction" else 45), BOB, nd); delete_pod(w, t, BOB, v); j.fail(t + 2.6, v)
        return j.name, T(DRAINED + DELETED, ["bob@"], "AM", "AM", weak=DRAINED + DELETED)
    if twin == "kured":
        who = sa("kube-system", "kured", "kured/v0.0.0 (linux/amd64) kubernetes/$Format")
        drain(who); return j.name, T(("ops.node_upgrade", "ops.node_drained", "node.reboot"), ["kured"], "A", "AM", weak=DRAINED + DELETED + ("ops.node_upgrade",))
    if twin == "nvsentinel":
        w.kernel(t - 60, nd, "NVRM: Xid (PCI:0000:4e:00): 79, pid=8213, name=python, GPU has fallen off the bus.")
        cordon(w, t - 30, sa("nvsentinel", "fault-quarantine"), nd); evict(w, t, sa("nvsentinel", "node-drainer"), v); j.fail(t + 2.6, v)
        # Ranks stop when the GPU falls off the bus.
        return j.name, T(("hw.gpu", "ops.node_drained"), (), "AG", "", weak=DRAINED + DELETED + ("hw.gpu",))
    if twin == "nth-spot":
        w.event(t - 3, "aws-node-termination-handler", "Node", nd, None, "SpotInterruption", "Spot ITN received. Instance will be interrupted at 2026-10-05T10:00:00Z \n", warn=True)
        drain(sa("kube-system", "aws-node-termination-handler", "aws-node-termination-handler/v1.25.0"))
        return j.name, T("cloud.spot_reclaimed", (), "EW", "", weak=DRAINED + DELETED, also=DRAINED, unseen=DRAINED)
    if twin == "eks-upgrade":
        drain(({"username": "eks:node-manager", "groups": ["system:authenticated"]}, "Go-http-client/2.0"))
        return j.name, T(("ops.node_upgrade", "ops.node_drained", "ops.scale_down"), ["eks"], "A", "AM", weak=DRAINED + DELETED + ("ops.node_upgrade",))
    if twin == "aks-upgrade":
        w.event(t - 30, "upgrader", "Node", nd, None, "Upgrade", f"Deleting node {nd} from API server"[:0] + "Upgrading node " + nd)
        w.event(t - 3, "upgrader", "Node", nd, None, "Drain", f"Draining node: {nd}")
        drain(({"username": "aksService", "groups": ["system:masters", "system:authenticated"]}, "Go-http-client/2.0"))
        return j.name, T(("ops.node_upgrade",), (), "EW", "", weak=DRAINED + DELETED + ("ops.node_upgrade",), also=DRAINED, unseen=DRAINED)
    if twin == "person-after-old-xid":
        w.kernel(t - 900, nd, "NVRM: Xid (PCI:0000:4e:00): 31, pid=99, name=nvtop, Ch 00000010, intr 00000000")
        drain(BOB); return j.name, right
    if twin == "leftover":
        w.log(t - 30, v, TRACE + "IndexError: index 7 is out of bounds"); exit_pod(w, t - 30, v, 1); j.fail(t - 29, v)
        cordon(w, t, BOB, nd); w.api(t + 2, BOB, "create", "Pod", v.name, v.ns, sub="eviction")
        return j.name, T(CODE, (), "WAG", "", weak=("unknown",))
    if twin == "error-survived":  # an error that the program handled, and forty seconds later somebody drains the node
        w.log(t - 40, v, "2026 ERROR s3: upload of checkpoint failed: EndpointConnectionError: Could not connect to the endpoint URL; retrying in 5 s\n" + TRACE + "botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL: \"https://s3\"\nupload ok after 1 retry")
        steps(w, v, t - 35, t - 1, every=5, start=900); drain(BOB); return j.name, right
    if twin == "error-then-exit":  # here the program gave up by itself; the drain came for what was left
        w.log(t - 3, v, TRACE + "RuntimeError: CUDA error: invalid argument"); exit_pod(w, t - 3, v, 1)
        j.fail(t - 2.5, v); cordon(w, t, BOB, nd)
        return j.name, T(CODE + ("hw.gpu",), (), "LWAG", "")
    if twin == "pdb-then-ok":
        cordon(w, t - 62, BOB, nd)
        for i in range(12): evict(w, t - 60 + 5 * i, BOB, v, blocked=True)
        evict(w, t, BOB, v); j.fail(t + 2.6, v); return j.name, right
    if twin == "other-rank-first":  # rank 1 broke twenty seconds before rank 0 was drained, and the Job did not look yet
        o = j.pods[1]
        w.log(t - 20, o, TRACE + "ValueError: NaN in embedding table"); exit_pod(w, t - 20, o, 1)
        w.condition(t - 19, JOBC, "Job", j.name, j.ns, "FailureTarget", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
        finalizer(w, t - 19, o); delete_pod(w, t - 18.9, JOBC, v, took=29, code=137)
        cordon(w, t - 6, BOB, nd); evict(w, t - 4, BOB, v, took=12, code=137)
        w.condition(t + 13, JOBC, "Job", j.name, j.ns, "Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
        return j.name, T(CODE + ("code.divergence",), (), "LWAG", "")
    # kubectl of a person's own service account in the cluster
    drain(sa("ops", "node-maintenance-bot", KUBECTL)); return j.name, T(DRAINED + ("ops.node_upgrade",), ["node-maintenance-bot"], "A", "AM", weak=DRAINED + DELETED)


@fam("noexecute", "person unreachable nvsentinel-taint tolerated person-clears-lost leftover kubelet-oom bounced")
def noexecute(w, twin):
    tol = [{"key": "maintenance", "operator": "Exists"}] if twin == "tolerated" else []
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 4000), spec=template(tolerations=tol))
    v, nd = j.pods[0], nodes[0]
    if twin == "person":
        taint(w, t, BOB, nd, "maintenance", "NoExecute", "rack7"); taint_evict(w, t + 0.2, v); j.fail(t + 2.8, v)
        return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED + ("node.not_ready",))
    if twin == "unreachable":
        not_ready(w, t + 45, nd, [v]); taint_evict(w, t + 350, v, lost=True); j.fail(t + 351, v)
        return j.name, T("node.not_ready", (), "LEWA", "")
    if twin == "nvsentinel-taint":
        taint(w, t, sa("nvsentinel", "fault-quarantine"), nd, "nvidia.com/gpu-error", "NoExecute", "fatal"); taint_evict(w, t + 0.2, v); j.fail(t + 2.8, v)
        return j.name, T(("hw.gpu", "ops.node_drained"), (), "AW", "", weak=DRAINED + DELETED + ("hw.gpu", "node.not_ready"))
    if twin == "tolerated":
        taint(w, t - 30, BOB, nd, "maintenance", "NoExecute", "rack7")
        w.log(t, v, TRACE + "AssertionError: batch size"); exit_pod(w, t, v, 1); j.fail(t + 1, v)
        return j.name, T(CODE, (), "LWAG", "")
    if twin == "person-clears-lost":  # the node was lost; a person forces the pod away before the taint manager does
        not_ready(w, t + 45, nd, [v]); delete_pod(w, t + 120, BOB, v, live=False, grace=0); finalizer(w, t + 120.2, v)
        w.at(t + 120.4, lambda: ("Pod", v.ns, v.name) in w.objs and w._remove(("Pod", v.ns, v.name))); j.fail(t + 121, v)
        return j.name, T("node.not_ready", (), "LEWA", "", never=["bob@"])
    if twin == "leftover":
        w.log(t, v, TRACE + "OSError: truncated file"); exit_pod(w, t, v, 1); j.fail(t + 1, v)
        taint(w, t + 60, BOB, nd, "maintenance", "NoExecute", "rack7"); taint_evict(w, t + 60.2, v, lost=True)
        w.at(t + 60.4, lambda: None)
        return j.name, T(CODE + ("dep.storage",), (), "WAG", "", weak=("unknown",))
    if twin == "kubelet-oom":  # the kernel killed the kubelet; the machine and its pods went on
        w.kernel(t, nd, "kubelet invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=-999")
        w.kernel(t + 0.01, nd, "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=kubelet.service,mems_allowed=0-1,global_oom,task_memcg=/system.slice/kubelet.service,task=kubelet,pid=1411,uid=0")
        w.kernel(t + 0.02, nd, "Out of memory: Killed process 1411 (kubelet) total-vm:5012344kB, anon-rss:212344kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1200kB oom_score_adj:-999")
        w.kernel(t + 0.3, nd, "kubelet.service: Main process exited, code=killed, status=9/KILL", unit="systemd[1]")
        not_ready(w, t + 45, nd, [v]); taint_evict(w, t + 350, v, lost=True); j.fail(t + 351, v)
        return j.name, T(("node.system_oom", "node.not_ready"), (), "LEWAG", "")
    # Ready again before anything was evicted, then the program fails.
    not_ready(w, t - 240, nd, [v])
    def back(o):
        for c in o["status"]["conditions"]:
            c.update(status="True" if c["type"] == "Ready" else "False", reason="KubeletReady", message="kubelet is posting ready status", lastTransitionTime=w.ts(w.now))
    w.api(t - 180, kubelet(nd), "patch", "Node", nd, sub="status", change=back)
    w.api(t - 179, NODEC, "patch", "Node", nd, change=lambda o: o["spec"].pop("taints", None), request={"spec": {"taints": None}})
    w.event(t - 180, "kubelet", "Node", nd, None, "NodeReady", f"Node {nd} status is now: NodeReady", host=nd)
    w.condition(t - 179, kubelet(nd), "Pod", v.name, v.ns, "Ready", "True")
    w.log(t, v, TRACE + "ZeroDivisionError: division by zero"); exit_pod(w, t, v, 1); j.fail(t + 1, v)
    return j.name, T(CODE, (), "LWAG", "")


# -- preemption, refused evictions, other evictors

@fam("preempted", "scheduler kueue kueue-lists volcano leftover kubelet-critical then-oom descheduler vpa")
def preempted(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 4000))
    v, nd = j.pods[0], nodes[0]
    high = uid_of(w.seed, "high")
    def sched(at):
        w.condition(at, SCHED, "Pod", v.name, v.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod")
        w.api(at + 0.02, SCHED, "delete", "Pod", v.name, v.ns)
        w.event(at + 0.03, "default-scheduler", "Pod", v.name, v.ns, "Preempted", f"Preempted by pod {high} on node {nd}", new=True)
    if twin in ("scheduler", "then-oom"):
        make_pod(w, t - 1, "prod-eval-" + w.suffix(4), None, by=CAROL, ns=w.ns, generate=False)
        sched(t); stop(w, t + 0.1, v, 143 if twin == "scheduler" else 137, took=2 if twin == "scheduler" else 30, reason="Error" if twin == "scheduler" else "OOMKilled"); j.fail(t + 31, v)
        return j.name, T("sched.preempted", ["scheduler"], "AEW", "AEW", weak=DELETED)
    if twin == "leftover":
        w.log(t - 0.7, v, TRACE + "TypeError: unsupported operand"); exit_pod(w, t - 0.6, v, 1); sched(t); j.fail(t + 1, v)
        return j.name, T(CODE, (), "G", "", weak=("sched.preempted",), unseen=("sched.preempted",))
    if twin in ("kueue", "kueue-lists"):
        kueue_evict(w, t, j, "Preempted", "Preempted to accommodate a workload (UID: %s, JobUID: %s) due to prioritization in the ClusterQueue" % (high, uid_of(w.seed, "hj")))
        return j.name, T("sched.kueue_preempted", (), "LEWA", "", weak=DELETED + ("sched.kueue_evicted",))
    if twin == "volcano":
        who = sa("volcano-system", "volcano-scheduler", "vc-scheduler/v1.12.0")
        w.condition(t, who, "Pod", v.name, v.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "volcano: preempting to accommodate a higher priority pod")
        w.event(t, "volcano", "Pod", v.name, v.ns, "Evict", f"Pod is evicted, because of preempt", warn=True)
        delete_pod(w, t + 0.1, who, v); j.fail(t + 2.6, v)
        return j.name, T("sched.preempted", ["volcano"], "AEW", "AE", weak=DELETED)
    if twin == "kubelet-critical":
        kl(w, t, v, "Preempting", "Preempted in order to admit critical pod", warn=True)
        w.condition(t, kubelet(nd), "Pod", v.name, v.ns, "DisruptionTarget", "True", "TerminationByKubelet", "Pod was preempted by Kubelet to accommodate a critical pod.")
        exit_pod(w, t + 2, v, 143, why="Preempting", why_message="Preempted in order to admit critical pod"); j.fail(t + 3, v)
        return j.name, T("sched.preempted", (), "LEWA", "")
    if twin == "descheduler":
        who = sa("kube-system", "descheduler", "descheduler/v0.0.0 (linux/amd64) kubernetes/$Format")
        evict(w, t, who, v); w.event(t, "sigs.k8s.io/descheduler", "Pod", v.name, v.ns, "LowNodeUtilization", "pod evicted from " + nd + " node by sigs.k8s.io/descheduler"); j.fail(t + 2.6, v)
        return j.name, T(("ops.manual_delete", "ops.scale_down", "sched.preempted", "ops.node_drained", "unknown"), ["descheduler"], "", "A", weak=DRAINED + DELETED, cap=None)
    who = sa("kube-system", "vpa-updater", "updater/v0.0.0 (linux/amd64) kubernetes/$Format")
    evict(w, t, who, v); w.event(t, "vpa-updater", "Pod", v.name, v.ns, "EvictedByVPA", "Pod was evicted by VPA Updater to apply resource recommendation."); j.fail(t + 2.6, v)
    return j.name, T(("ops.config_change", "ops.manual_delete", "ops.node_drained", "unknown"), ["vpa-updater"], "", "A", weak=DRAINED + DELETED)


def kueue_evict(w, t, j, reason, message, deact=None):
    wl = f"job-{j.name}-{uid_of(j.name)[:5]}"
    def make():
        w._do(KUEUE, "create", "Workload", wl, j.ns, body={"metadata": {"ownerReferences": [owner(w, "Job", j.name, j.ns)]}, "spec": {"queueName": "team-a", "priority": 0, "active": True}, "status": {"conditions": [{"type": "Admitted", "status": "True", "reason": "Admitted", "message": "The workload is admitted", "lastTransitionTime": w.ts(w.now)}]}})
    w.at(j.t + 0.2, make)
    if deact: w.api(t - 0.5, deact, "patch", "Workload", wl, j.ns, change=lambda o: o["spec"].update(active=False), request={"spec": {"active": False}})
    w.condition(t, KUEUE, "Workload", wl, j.ns, "Evicted", "True", reason, message)
    if reason == "Preempted": w.condition(t, KUEUE, "Workload", wl, j.ns, "Preempted", "True", "InClusterQueue", message)
    w.event(t, "kueue-admission", "Workload", wl, j.ns, "EvictedDueTo" + reason, message)
    if reason == "Preempted": w.event(t, "kueue-admission", "Workload", wl, j.ns, "Preempted", message)
    w.api(t + 0.2, KUEUE, "patch", "Job", j.name, j.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}})
    w.event(t + 0.2, "batch/job-kueue-controller", "Job", j.name, j.ns, "Stopped", message)
    for p in j.pods: delete_pod(w, t + 0.4, JOBC, p)
    w.condition(t + 3, JOBC, "Job", j.name, j.ns, "Suspended", "True", "JobSuspended", "Job suspended")
    w.event(t + 3, "job-controller", "Job", j.name, j.ns, "Suspended", "Job suspended")
    w.condition(t + 3.5, KUEUE, "Workload", wl, j.ns, "QuotaReserved", "False", "Pending", message)
    w.condition(t + 3.5, KUEUE, "Workload", wl, j.ns, "Admitted", "False", "NoReservation", "The workload has no reservation")
    return wl


@fam("kueue", "pods-ready-timeout queue-stopped deactivated-by-person node-failures admission-check person-suspends kueue-then-person")
def kueue(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 4000))
    if twin == "person-suspends":
        w.api(t, BOB, "patch", "Job", j.name, j.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}})
        for p in j.pods: delete_pod(w, t + 0.2, JOBC, p)
        w.condition(t + 3, JOBC, "Job", j.name, j.ns, "Suspended", "True", "JobSuspended", "Job suspended")
        w.event(t + 3, "job-controller", "Job", j.name, j.ns, "Suspended", "Job suspended")
        return j.name, T(DELETED + ("ops.config_change",), ["bob@"], "A", "A", weak=DELETED + ("ops.config_change", "unknown", "sched.kueue_preempted"), never=["kueue", "job-controller"])
    if twin == "kueue-then-person":  # evicted by Kueue, and a minute later somebody deletes the suspended Job
        kueue_evict(w, t, j, "Preempted", "Preempted to accommodate a workload (UID: a) due to reclamation within the cohort")
        w.api(t + 90, ALICE, "delete", "Job", j.name, j.ns)
        return j.name, T("sched.kueue_preempted", (), "EWA", "", weak=DELETED + ("sched.kueue_evicted",), also=DELETED)
    reason = {"pods-ready-timeout": "PodsReadyTimeout", "queue-stopped": "ClusterQueueStopped", "deactivated-by-person": "Deactivated", "node-failures": "NodeFailures", "admission-check": "AdmissionCheck"}[twin]
    msg = {"PodsReadyTimeout": "Exceeded the PodsReady timeout %s/%s" % (j.ns, j.name), "ClusterQueueStopped": "The ClusterQueue is stopped", "Deactivated": "The workload is deactivated", "NodeFailures": "Workload was evicted as there was no replacement for a failed node: " + nodes[0], "AdmissionCheck": "At least one admission check is false"}[reason]
    who = None
    if reason == "Deactivated": who = BOB
    if reason == "ClusterQueueStopped":
        w.at(-0.4, lambda: w.objs.__setitem__(("ClusterQueue", None, "cq"), {"kind": "ClusterQueue", "apiVersion": "kueue.x-k8s.io/v1beta1", "metadata": {"name": "cq", "uid": uid_of(w.seed, "cq"), "creationTimestamp": w.ts(-9000)}, "spec": {"stopPolicy": "None"}}))
        w.api(t - 1, BOB, "patch", "ClusterQueue", "cq", change=lambda o: o["spec"].update(stopPolicy="HoldAndDrain"), request={"spec": {"stopPolicy": "HoldAndDrain"}})
    kueue_evict(w, t, j, reason, msg, who)
    if twin == "node-failures": return j.name, T(("sched.kueue_evicted", "node.not_ready"), (), "LEWA", "", weak=DELETED, never_cause=["sched.kueue_preempted"])
    return j.name, T(("sched.kueue_evicted",) + (("ops.manual_delete", "ops.config_change") if reason in ("Deactivated", "ClusterQueueStopped") else ()), ["bob@", "kueue"] if who else (), "LEWA", "A" if who else "", weak=DELETED, never_cause=["sched.kueue_preempted"])


@fam("refused", "then-oom then-person-deletes then-other-deletes-job then-exit")
def refused(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 4000))
    v, nd = j.pods[0], nodes[0]
    cordon(w, t - 64, BOB, nd)
    for i in range(10): evict(w, t - 62 + 5 * i, BOB, v, blocked=True)
    if twin == "then-oom":
        memcg_oom(w, t, v); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v)
        return j.name, T("code.host_oom", (), "LWAG", "")
    if twin == "then-person-deletes":
        delete_pod(w, t, BOB, v); j.fail(t + 2.6, v)
        return j.name, T(DRAINED + DELETED, ["bob@"], "AM", "AM", weak=DRAINED + DELETED)
    if twin == "then-other-deletes-job":
        j.delete(t, CAROL)
        return j.name, T(DELETED, ["carol@"], "AM", "AM", weak=DRAINED + DELETED + ("unknown",), never=["bob@"])
    w.log(t, v, TRACE + "RuntimeError: NCCL version"[:0] + "RuntimeError: bad config"); exit_pod(w, t, v, 1); j.fail(t + 1, v)
    return j.name, T(CODE, (), "LWAG", "")


@fam("node-object", "person-deletes vm-gone-unseen shutdown-graceful rebooted person-drains-then-deletes leftover gpu-lost-admission")
def node_object(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 4000))
    v, nd = j.pods[0], nodes[0]
    def podgc(at):
        w.condition(at, PODGC, "Pod", v.name, v.ns, "DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists")
        w.at(at, lambda: w.get("Pod", v.name, v.ns) and w.get("Pod", v.name, v.ns)["status"].update(phase="Failed"))
        finalizer(w, at + 0.5, v)
        w.api(at + 0.7, PODGC, "delete", "Pod", v.name, v.ns, grace=0)
    if twin == "person-deletes":
        delete_node(w, t, BOB, nd); podgc(t + 40); j.fail(t + 41, v)
        return j.name, T(DELETED + DRAINED, ["bob@"], "AM", "AM", weak=DELETED + DRAINED + ("cloud.instance_terminated", "node.not_ready"), never=["pod-garbage-collector"])
    if twin == "vm-gone-unseen":
        not_ready(w, t + 45, nd, [v])
        w.event(t + 50, "cloud-node-lifecycle-controller", "Node", nd, None, "DeletingNode", f"Deleting node {nd} because it does not exist in the cloud provider")
        delete_node(w, t + 50.2, sa("kube-system", "cloud-node-lifecycle-controller", "cloud-controller-manager/v1.34"), nd); podgc(t + 90); j.fail(t + 91, v)
        return j.name, T(("cloud.instance_terminated", "node.not_ready"), (), "AEW", "", weak=("cloud.spot_reclaimed", "ops.manual_delete"))
    if twin == "shutdown-graceful":
        w.event(t - 1, "kubelet", "Node", nd, None, "Shutdown", "Shutdown manager detected shutdown event", host=nd)
        w.condition(t, kubelet(nd), "Pod", v.name, v.ns, "DisruptionTarget", "True", "TerminationByKubelet", "Pod was terminated in response to imminent node shutdown.")
        exit_pod(w, t + 2, v, 143, why="Terminated", why_message="Pod was terminated in response to imminent node shutdown."); j.fail(t + 3, v)
        return j.name, T(("node.shutdown", "node.reboot"), (), "LEWA", "")
    if twin == "rebooted":
        def boot(o): o["status"]["nodeInfo"]["bootID"] = uid_of(w.seed, "boot2")
        w.api(t + 100, kubelet(nd), "patch", "Node", nd, sub="status", change=boot)
        w.event(t + 100, "kubelet", "Node", nd, None, "Starting", "Starting kubelet.", host=nd)
        w.event(t + 100.5, "kubelet", "Node", nd, None, "Rebooted", f"Node {nd} has been rebooted, boot id: {uid_of(w.seed, 'boot2')}", warn=True, host=nd)
        set_state(w, t + 102, v, "trainer", {"terminated": {"exitCode": 255, "reason": "Unknown", "startedAt": w.ts(v.start), "finishedAt": w.ts(t + 101)}}, phase="Failed"); j.fail(t + 103, v)
        return j.name, T(("node.reboot",), (), "EW", "", weak=("node.runtime", "node.reboot"))
    if twin == "person-drains-then-deletes":
        cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v); delete_node(w, t + 30, BOB, nd)
        return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED)
    if twin == "leftover":
        w.log(t, v, TRACE + "AttributeError: 'NoneType' object has no attribute 'shape'"); exit_pod(w, t, v, 1); j.fail(t + 1, v)
        delete_node(w, t + 60, BOB, nd); podgc(t + 100)
        return j.name, T(CODE, (), "WAG", "", weak=("unknown",))
    # A pod that its kubelet refused at admission: the device was not there any more.
    p = make_pod(w, t + 5, "probe-" + w.suffix(4), None, by=ALICE, generate=False); p.node = nd
    bind(w, t + 6, p)
    kl(w, t + 6.5, p, "UnexpectedAdmissionError", "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected", warn=True)
    w.condition(t + 6.6, kubelet(nd), "Pod", p.name, p.ns, "Ready", "False", "PodFailed", "", phase="Failed", reason="UnexpectedAdmissionError", message="Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected")
    j.complete(t + 60)
    return p.name, T(("hw.gpu", "node.driver"), (), "LEWA", "", weak=("unknown",))
