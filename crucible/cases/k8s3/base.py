"""What the families of session 46 share."""

import cases15
import new1, new2  # noqa: F401  (their helpers)
from new2 import *

NEW = []


def fam(name, twins):
    def keep(f):
        NEW.append((name, twins.split(), f))
        return f
    return keep


GROUP.update({
    "Machine": ("machines", "cluster.x-k8s.io/v1beta1", True), "MachineDeployment": ("machinedeployments", "cluster.x-k8s.io/v1beta1", True), "MachineHealthCheck": ("machinehealthchecks", "cluster.x-k8s.io/v1beta1", True),
    "LocalQueue": ("localqueues", "kueue.x-k8s.io/v1beta1", True), "ConfigMap": ("configmaps", "v1", True), "ResourceQuota": ("resourcequotas", "v1", True), "NetworkPolicy": ("networkpolicies", "networking.k8s.io/v1", True),
    "ClusterPolicy": ("clusterpolicies", "nvidia.com/v1", False), "ScaledJob": ("scaledjobs", "keda.sh/v1alpha1", True), "DaemonSet": ("daemonsets", "apps/v1", True), "PriorityClass": ("priorityclasses", "scheduling.k8s.io/v1", False),
    "Lease": ("leases", "coordination.k8s.io/v1", True), "ServiceAccount": ("serviceaccounts", "v1", True), "EC2NodeClass": ("ec2nodeclasses", "karpenter.k8s.aws/v1", False), "Notebook": ("notebooks", "kubeflow.org/v1", True),
})
DAVE = person("dave@lab.example")
def custom(w, t, kind, name, who, spec=None, status=None, of=None, labels=()):
    """As cases3's, in the namespace of now and not of when it is played."""
    ns = w.ns
    w.at(t, lambda: w._do(who, "create", kind, name, ns, body={"metadata": {"labels": dict(labels)} | ({"ownerReferences": [owner(w, of[0], of[1], ns)]} if of else {}), "spec": spec or {}, "status": status or {}}))


RELOADER = sa("reloader", "reloader", "Reloader/v1.2")
CAPI = sa("capi-system", "capi-manager", "manager/v1.10.0")
PYT = {"training.kubeflow.org/operator-name": "pytorchjob-controller"}


def pytorch(w, n, nodes, t=0, who=ALICE, name=None, run=None, ns=None, elastic=False, clean="Running", restart="Never", spec=None):
    """A PyTorchJob with a master and n - 1 workers; gives its name and pods."""
    name = name or run_name(w, "pt")
    body = {"runPolicy": {"cleanPodPolicy": clean, "backoffLimit": 3}, "pytorchReplicaSpecs": {"Worker": {"replicas": n - 1, "restartPolicy": restart}, "Master": {"replicas": 1, "restartPolicy": restart}}}
    if elastic: body["elasticPolicy"] = {"minReplicas": 1, "maxReplicas": 8, "rdzvBackend": "c10d"}
    custom(w, t, "PyTorchJob", name, who, body, {"conditions": [{"type": "Created", "status": "True", "reason": "PyTorchJobCreated", "message": f"PyTorchJob {name} is created.", "lastTransitionTime": w.ts(t)}]})
    ps = [pt_pod(w, t + 0.5, name, i, nodes[i % len(nodes)], spec) for i in range(n)]
    w.event(t + 0.1, "pytorchjob-controller", "PyTorchJob", name, w.ns, "PyTorchJobCreated", f"PyTorchJob {name} is created.")
    w.condition(t + 5, TRAINOP, "PyTorchJob", name, w.ns, "Running", "True", "PyTorchJobRunning", f"PyTorchJob {name} is running.")
    if run:
        for i, p in enumerate(ps): steps(w, p, t + 9, run, every=60, rank=i)
    return name, ps


def pt_pod(w, t, name, i, nd, spec=None, **k):
    role, idx = ("master", 0) if i == 0 else ("worker", i - 1)
    w.event(t + 0.05, "pytorchjob-controller", "PyTorchJob", name, w.ns, "SuccessfulCreatePod", f"Created pod: {name}-{role}-{idx}")
    return make_pod(w, t, f"{name}-{role}-{idx}", nd, by=TRAINOP, of=("PyTorchJob", name), labels=PYT | {"training.kubeflow.org/job-name": name, "training.kubeflow.org/replica-type": role, "training.kubeflow.org/replica-index": str(idx)}, spec=copy.deepcopy(spec or template()), generate=False, **k)


def pt_failed(w, t, name, ps=(), why=None):
    msg = f"PyTorchJob {name} is failed because 1 {why or 'Worker'} replica(s) failed."
    w.condition(t, TRAINOP, "PyTorchJob", name, w.ns, "Failed", "True", "PyTorchJobFailed", msg)
    w.event(t, "pytorchjob-controller", "PyTorchJob", name, w.ns, "PyTorchJobFailed", msg, warn=True)
    for p in ps: delete_pod(w, t + 0.2, TRAINOP, p); w.event(t + 0.25, "pytorchjob-controller", "PyTorchJob", name, p.ns, "SuccessfulDeletePod", f"Deleted pod: {p.name}")


def pt_succeeded(w, t, name, ps=()):
    w.condition(t, TRAINOP, "PyTorchJob", name, w.ns, "Succeeded", "True", "PyTorchJobSucceeded", f"PyTorchJob {name} is successfully completed.")
    w.event(t, "pytorchjob-controller", "PyTorchJob", name, w.ns, "PyTorchJobSucceeded", f"PyTorchJob {name} is successfully completed.")
    for p in ps: delete_pod(w, t + 0.2, TRAINOP, p)


def tj_delete(w, t, who, kind, name, pods, live=True):
    w.api(t, who, "delete", kind, name, w.ns)
    for p in pods:
        w.at(t + 0.3, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns))
        if live: stop(w, t + 0.4, p)


def nccl_gone(w, t, p, rank):
    """A rank gives up because another is gone."""
    w.log(t, p, TRACE + f"torch.distributed.DistBackendError: [Rank {rank}] NCCL error: remote process exited or there was a network error, NCCL version 2.27.5\nncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\nLast error:\nsocketPollConnect: connect to 10.2.0.{rank + 4}<50123> returned Connection refused, exceeded error retry count after 35 attempts")
    exit_pod(w, t + 0.5, p, 1)


def plain(w, t, who, verb, kind, name, ns=None, sub=None, uri="", code=200, agent=None):
    """A request that changes nothing that matters here; only its audit record."""
    plural, gv, spaced = GROUP[kind]
    ns = (ns or w.ns) if spaced else None
    ref = {"resource": plural, "name": name, "apiVersion": gv.split("/")[-1]} | ({"namespace": ns} if ns else {}) | ({"apiGroup": gv.split("/")[0]} if "/" in gv else {}) | ({"subresource": sub} if sub else {})
    w.at(t, lambda: w.audit.append({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": uid_of(w.seed, "plain", len(w.audit)), "stage": "ResponseComplete", "requestURI": ("/api/v1" if "/" not in gv else "/apis/" + gv) + (f"/namespaces/{ns}" if ns else "") + f"/{plural}/{name}" + (f"/{sub}" if sub else "") + uri, "verb": verb, "user": who[0], "sourceIPs": ["10.0.0.9"], "userAgent": agent or who[1], "objectRef": ref, "responseStatus": {"metadata": {}, "code": code}, "requestReceivedTimestamp": w.ts(t, 6), "stageTimestamp": w.ts(t + 0.004, 6)}))


def lost_pod(w, t, nd, p, evicted=True):
    """A node that fell silent at t; its pod is given up 350 s later."""
    not_ready(w, t + 45, nd, [p])
    if evicted: taint_evict(w, t + 350, p, lost=True)


def preempt(w, t, v, nd):
    w.condition(t, SCHED, "Pod", v.name, v.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod")
    w.api(t + 0.02, SCHED, "delete", "Pod", v.name, v.ns)
    w.event(t + 0.03, "default-scheduler", "Pod", v.name, v.ns, "Preempted", f"Preempted by pod {uid_of(w.seed, 'h')} on node {nd}", new=True)
    stop(w, t + 0.1, v)


OK_RUN = ("none.running",)
OK_DONE = ("none.completed",)
COLL = ("hang.collective_timeout", "dep.network")
def tcode(**k): return T(CODE, (), k.pop("seen", "LWAG"), "", **k)
def tdrain(who="bob@", **k): return T(DRAINED, [who], "AW", "AM", weak=k.pop("weak", ()) + DRAINED + DELETED + ("unknown",), **k)
def tdel(who="bob@", **k): return T(DELETED, [who], "AM", "AM", weak=k.pop("weak", ()) + GONE, **k)
def toom(**k): return T("code.host_oom", (), "LWAG", "", **k)
def truns(**k): return T(OK_RUN, (), "LWA", "", weak=k.pop("weak", ()) + OK_RUN + ("unknown",), **k)
def tdone(**k): return T(OK_DONE, (), "LWA", "", weak=k.pop("weak", ()) + OK_DONE + ("unknown",), **k)
def tlost(**k): return T("node.not_ready", (), "LEWA", "", weak=k.pop("weak", ()) + ("unknown",), **k)
