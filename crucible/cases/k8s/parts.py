"""What controllers, kubelets and people do, as sequences of requests, Events and log lines."""

from world import *


def steps(w, pod, t0, t1, every=10, rank=0, start=0):
    """A training log: one line every some seconds."""
    t, n = t0, start
    while t < t1:
        w.log(t, pod, f"[rank{rank}] step {n} loss {2.9 - 0.001 * n:.4f} lr 3.0e-04")
        t, n = t + every, n + 10
    return n


TRACE = 'Traceback (most recent call last):\n  File "/app/train.py", line 212, in <module>\n    main()\n  File "/app/train.py", line 178, in main\n    batch = next(loader)\n'


def node(w, name, pool="gpu-a100", created=-864000, who="gce", labels=(), gpus=8, annotations=()):
    def do():
        lab = {"kubernetes.io/hostname": name, "node.kubernetes.io/instance-type": "p4d.24xlarge" if who == "aws" else "a2-highgpu-8g", "topology.kubernetes.io/zone": "us-central1-a"} | dict(labels)
        if who == "gce": lab["cloud.google.com/gke-nodepool"] = pool
        pid = {"gce": f"gce://lab/us-central1-a/{name}", "aws": f"aws:///us-east-1a/i-{uid_of(w.seed, name)[:8]}{uid_of(name)[:8]}0", "azure": f"azure:///subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/{pool}/virtualMachines/{name[-1]}", "none": ""}[who]
        o = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "uid": uid_of(w.seed, "node", name, created), "creationTimestamp": w.ts(created), "labels": lab, "annotations": dict(annotations)},
             "spec": {"providerID": pid} if pid else {}, "status": {"allocatable": {"cpu": "96", "memory": "680Gi", "nvidia.com/gpu": str(gpus), "pods": "110"}, "capacity": {"cpu": "96", "memory": "680Gi", "nvidia.com/gpu": str(gpus), "pods": "110"},
             "conditions": [{"type": k, "status": v, "reason": r, "message": m, "lastHeartbeatTime": w.ts(0), "lastTransitionTime": w.ts(created)} for k, v, r, m in (
                 ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"), ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
                 ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"), ("Ready", "True", "KubeletReady", "kubelet is posting ready status"))],
             "nodeInfo": {"bootID": uid_of(w.seed, "boot", name), "kernelVersion": "6.8.0-1021", "kubeletVersion": "v1.34.1", "containerRuntimeVersion": "containerd://2.0.4", "osImage": "Ubuntu 24.04", "operatingSystem": "linux", "architecture": "amd64", "machineID": uid_of(name).replace("-", ""), "systemUUID": uid_of(w.seed, name), "kubeProxyVersion": ""}}}
        w.objs[("Node", None, name)] = o
        w._keep("ADDED", o)
    w.at(-1, do)
    return name


def template(containers=("trainer",), gpus=8, memory="200Gi", grace=30, restart="Never", inits=(), tolerations=(), extra=None, image="registry.lab.example/train:1.4.2"):
    c = lambda n, g: {"name": n, "image": image if n == "trainer" else f"registry.lab.example/{n}:2.1", "command": ["python", "train.py"] if n == "trainer" else [f"/{n}"], "resources": {"limits": {"cpu": "8", "memory": memory} | ({"nvidia.com/gpu": str(g)} if g else {}), "requests": {"cpu": "8", "memory": memory} | ({"nvidia.com/gpu": str(g)} if g else {})}, "imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
    spec = {"containers": [c(n, gpus if n == "trainer" else 0) for n in containers], "restartPolicy": restart, "terminationGracePeriodSeconds": grace, "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler",
            "tolerations": [{"key": f"node.kubernetes.io/{k}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300} for k in ("not-ready", "unreachable")] + list(tolerations), "priority": 0}
    if inits: spec["initContainers"] = [c(n, 0) for n in inits]
    return spec | (extra or {})


def owner(w, kind, name, ns):
    o = w.get(kind, name, ns)
    return {"apiVersion": GROUP[kind][1], "kind": "Job" if kind == "VolcanoJob" else kind, "name": name, "uid": o["metadata"]["uid"] if o else uid_of(kind, name), "controller": True, "blockOwnerDeletion": True}


def make_pod(w, t, name, nd, by=JOBC, of=None, labels=(), spec=None, ns=None, finalizers=(), generate=True, starts=True, delay=1, image_cached=True):
    """A pod that is made, bound to a node and started; without a node it stays pending."""
    p = Pod(name, ns or w.ns, nd, spec=spec or template(), of=of, start=t + delay + 2)
    def make():
        m = {"labels": dict(labels)}
        if of: m["ownerReferences"] = [owner(w, of[0], of[1], p.ns)]
        if finalizers: m["finalizers"] = list(finalizers)
        if generate and by in (JOBC, RSC): m["generateName"] = name.rsplit("-", 1)[0] + "-"
        w._do(by, "create", "Pod", name, p.ns, body={"metadata": m, "spec": copy.deepcopy(p.spec), "status": {"phase": "Pending", "qosClass": "Guaranteed"}})
        p.uid = w.get("Pod", name, p.ns)["metadata"]["uid"]
    w.at(t, make)
    if of and by in (JOBC, RSC): w.event(t + 0.02, by[0]["username"].rsplit(":", 1)[1], of[0], of[1], p.ns, "SuccessfulCreate", f"Created pod: {name}")
    if nd and starts:
        bind(w, t + delay, p)
        start(w, t + delay + 2, p)
    return p


def bind(w, t, p):
    def change(o):
        o["spec"]["nodeName"] = p.node
        w._condition(o, "PodScheduled", "True")
    def do():
        key = ("Pod", p.ns, p.name)
        if key not in w.objs: return
        change(w.objs[key])
        w._keep("MODIFIED", w.objs[key])
        rec = {"kind": "Binding", "apiVersion": "v1", "metadata": {"name": p.name, "namespace": p.ns, "uid": p.uid}, "target": {"kind": "Node", "name": p.node}}
        w._audit_binding(SCHED, p, rec)
    w.at(t, do)
    w.event(t + 0.01, "default-scheduler", "Pod", p.name, p.ns, "Scheduled", f"Successfully assigned {p.ns}/{p.name} to {p.node}", new=True)


def _audit_binding(self, who, p, body):
    self.audit.append({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": uid_of(self.seed, "audit", len(self.audit)), "stage": "ResponseComplete", "requestURI": f"/api/v1/namespaces/{p.ns}/pods/{p.name}/binding", "verb": "create",
                       "user": who[0], "sourceIPs": ["10.0.0.2"], "userAgent": who[1], "objectRef": {"resource": "pods", "namespace": p.ns, "name": p.name, "uid": p.uid, "apiVersion": "v1", "subresource": "binding"}, "responseStatus": {"metadata": {}, "status": "Success", "code": 201}, "requestObject": body,
                       "responseObject": {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, "requestReceivedTimestamp": self.ts(self.now, 6), "stageTimestamp": self.ts(self.now + 0.004, 6)})


World._audit_binding = _audit_binding


def _status(w, p, o, name, state, ready, restarts=None, last=None, init=False):
    cs = o["status"].setdefault("initContainerStatuses" if init else "containerStatuses", [])
    spec = next(c for c in o["spec"]["initContainers" if init else "containers"] if c["name"] == name)
    c = next((c for c in cs if c["name"] == name), None)
    if c is None:
        c = {"name": name, "image": spec["image"], "imageID": "", "ready": False, "restartCount": 0, "state": {}, "lastState": {}, "containerID": f"containerd://{uid_of(p.uid, name).replace('-', '')}"}
        cs.append(c)
    c["state"], c["ready"], c["started"] = state, ready, ready
    if restarts is not None: c["restartCount"] = restarts
    if last is not None: c["lastState"] = last


def set_state(w, t, p, name, state, ready=False, restarts=None, last=None, phase=None, init=False, reason=None, message=None):
    """The kubelet writes the state of one container."""
    def change(o):
        _status(w, p, o, name, state, ready, restarts, last, init)
        o["status"].setdefault("startTime", w.ts(w.now))
        if phase: o["status"]["phase"] = phase
        if reason: o["status"]["reason"], o["status"]["message"] = reason, message
        all_ready = all(c["ready"] for c in o["status"].get("containerStatuses", [])) and phase not in ("Failed", "Succeeded")
        for k in ("ContainersReady", "Ready"):
            w._condition(o, k, str(all_ready), None if all_ready else {"Failed": "PodFailed", "Succeeded": "PodCompleted"}.get(phase, "ContainersNotReady"))
    def do():
        if w.get("Pod", p.name, p.ns): w._do(kubelet(p.node), "patch", "Pod", p.name, p.ns, sub="status", change=change)
    w.at(t, do)


def kl(w, t, p, reason, message, warn=False, **k):
    w.event(t, "kubelet", "Pod", p.name, p.ns, reason, message, warn=warn, host=p.node, **k)


def start(w, t, p, restarts=0, last=None, only=None):
    sk = w.skew.get(p.node, 0)
    for c in p.spec["containers"]:
        if only and c["name"] != only: continue
        f = f"spec.containers{{{c['name']}}}"
        kl(w, t, p, "Pulled", f'Container image "{c["image"]}" already present on machine', field=f)
        kl(w, t + 0.1, p, "Created", f"Created container: {c['name']}", field=f)
        kl(w, t + 0.2, p, "Started", f"Started container {c['name']}", field=f)
        w.at(t + 0.25, lambda c=c: set_state(w, w.now, p, c["name"], {"running": {"startedAt": w.ts(w.now + sk)}}, True, restarts, last, "Running"))
    p.start = t


def ended(w, p, t, code, reason="Error", message=None, sig=None):
    sk = w.skew.get(p.node, 0)
    d = {"exitCode": code, "reason": reason, "startedAt": w.ts(p.start + sk), "finishedAt": w.ts(t + sk), "containerID": f"containerd://{uid_of(p.name, int(p.start)).replace('-', '')}"}
    if message: d["message"] = message
    return {"terminated": d}


def exit_pod(w, t, p, code, reason=None, container="trainer", message=None, others=143, gone=False, why=None, why_message=None):
    """All containers end, the first one by itself; the pod is Failed or Succeeded."""
    reason = reason or ("Completed" if code == 0 else "Error")
    names = [c["name"] for c in p.spec["containers"]]
    def do():
        phase = "Succeeded" if code == 0 else "Failed"
        for n in names[::-1]:
            set_state(w, w.now, p, n, ended(w, p, t, code if n == container else others if code else 0, reason if n == container else "Error" if code else "Completed", message if n == container else None), phase=phase, reason=why, message=why_message)
    w.at(t + 0.3, do)


def restart(w, t, p, code, reason="Error", n=1, wait=10, container="trainer", message=None):
    """A container ends and its kubelet starts it again."""
    last = ended(w, p, t, code, reason, message)
    set_state(w, t + 0.3, p, container, last, False, n - 1, phase="Running")
    w.at(t + wait - 0.01, lambda: None)
    start(w, t + wait, p, n, last, only=container)


def stop(w, t, p, code=143, took=2, reason="Error", finalize=None, remove=True):
    """The kubelet carries out a request for a pod's end, and confirms it."""
    for c in p.spec["containers"]: kl(w, t + 0.1, p, "Killing", f"Stopping container {c['name']}", field=f"spec.containers{{{c['name']}}}")
    def end():
        for c in p.spec["containers"]:
            set_state(w, w.now, p, c["name"], ended(w, p, t + took, code, reason), phase="Failed")
    w.at(t + took, end)
    if remove:
        if p.of and p.of[0] == "Job": finalizer(w, t + took + 0.2, p)
        w.at(t + took + 0.4, lambda: w.get("Pod", p.name, p.ns) and w._do(kubelet(p.node), "delete", "Pod", p.name, p.ns, grace=0, query="?gracePeriodSeconds=0"))


def finalizer(w, t, p):
    """The Job controller counts a pod that ended."""
    def change(o): o["metadata"].pop("finalizers", None)
    w.at(t, lambda: w.get("Pod", p.name, p.ns) and w._do(JOBC, "patch", "Pod", p.name, p.ns, change=change, request={"metadata": {"$deleteFromPrimitiveList/finalizers": ["batch.kubernetes.io/job-tracking"]}}))


def evict(w, t, who, p, blocked=False, took=2, code=143, pdb="trainers"):
    if blocked:
        msg = f"Cannot evict pod as it would violate the pod's disruption budget. The disruption budget {pdb} needs 1 healthy pods and has 1 currently"
        w.api(t, who, "create", "Pod", p.name, p.ns, sub="eviction", fail=(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget."), request={"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": p.name, "namespace": p.ns}, "deleteOptions": {}})
        return
    w.api(t, who, "create", "Pod", p.name, p.ns, sub="eviction")
    stop(w, t + 0.1, p, code, took)


def delete_pod(w, t, who, p, took=2, code=143, live=True, grace=None):
    w.api(t, who, "delete", "Pod", p.name, p.ns, grace=grace)
    if live: stop(w, t + 0.1, p, code, took)


def cordon(w, t, who, nd, value=True):
    def change(o):
        o["spec"]["unschedulable"] = value
        o["spec"]["taints"] = [x for x in o["spec"].get("taints", []) if x["key"] != "node.kubernetes.io/unschedulable"] + ([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": w.ts(w.now)}] if value else [])
    w.api(t, who, "patch", "Node", nd, change=change, request={"spec": {"unschedulable": value or None}})
    w.event(t + 0.2, "kubelet", "Node", nd, None, "NodeNotSchedulable" if value else "NodeSchedulable", f"Node {nd} status is now: {'NodeNotSchedulable' if value else 'NodeSchedulable'}", host=nd)


def taint(w, t, who, nd, key, effect, value=None):
    def change(o): o["spec"]["taints"] = o["spec"].get("taints", []) + [{"key": key, "effect": effect} | ({"value": value} if value else {}) | ({"timeAdded": w.ts(w.now)} if effect == "NoExecute" else {})]
    w.api(t, who, "patch", "Node", nd, change=change, request={"spec": {"taints": [{"key": key, "effect": effect} | ({"value": value} if value else {})]}})


def taint_evict(w, t, p, took=2, lost=False):
    """The taint manager deletes a pod for a NoExecute taint."""
    w.event(t, "taint-eviction-controller", "Pod", p.name, p.ns, "TaintManagerEviction", f"Marking for deletion Pod {p.ns}/{p.name}")
    w.condition(t + 0.02, NODEC, "Pod", p.name, p.ns, "DisruptionTarget", "True", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
    w.api(t + 0.04, NODEC, "delete", "Pod", p.name, p.ns)
    if not lost: stop(w, t + 0.1, p, took=took)


def not_ready(w, t, nd, pods=()):
    """A node fell silent 45 s before t."""
    def change(o):
        for c in o["status"]["conditions"]:
            c.update(status="Unknown", reason="NodeStatusUnknown", message="Kubelet stopped posting node status.", lastTransitionTime=w.ts(w.now))
    w.api(t, NODEC, "patch", "Node", nd, sub="status", change=change)
    w.event(t + 0.1, "node-controller", "Node", nd, None, "NodeNotReady", f"Node {nd} status is now: NodeNotReady")
    taint(w, t + 0.1, NODEC, nd, "node.kubernetes.io/unreachable", "NoSchedule")
    taint(w, t + 5, NODEC, nd, "node.kubernetes.io/unreachable", "NoExecute")
    for p in pods:
        w.event(t + 0.2, "node-controller", "Pod", p.name, p.ns, "NodeNotReady", "Node is not ready", warn=True)
        w.condition(t + 0.2, NODEC, "Pod", p.name, p.ns, "Ready", "False")


def delete_node(w, t, who, nd):
    w.api(t, who, "delete", "Node", nd)
    w.event(t + 1, "node-controller", "Node", nd, None, "RemovingNode", f"Node {nd} event: Removing Node {nd} from Controller")


class Job:
    """A batch Job with indexed pods on the given nodes."""

    def __init__(self, w, t, name, nodes, who=ALICE, backoff=0, spec=None, labels=(), of=None, by=None, deadline=None, ttl=None, kind="Job", generate=True, policy=None, suspend=False, parts=None, size=None):
        self.w, self.name, self.ns, self.t, self.backoff = w, name, w.ns, t, backoff
        self.lab = {"batch.kubernetes.io/job-name": name, "job-name": name} | dict(labels)
        self.spec = spec or template()
        js = {"backoffLimit": backoff, "completionMode": "Indexed", "completions": size or max(1, len(nodes)), "parallelism": size or max(1, len(nodes)), "suspend": suspend, "template": {"metadata": {"labels": self.lab}, "spec": self.spec}}
        if deadline: js["activeDeadlineSeconds"] = deadline
        if ttl is not None: js["ttlSecondsAfterFinished"] = ttl
        if policy: js["podFailurePolicy"] = policy
        w.at(t, lambda: w._do(by or who, "create", "Job", name, self.ns, body={"metadata": {"labels": dict(labels)} | ({"ownerReferences": [owner(w, of[0], of[1], self.ns)]} if of else {}), "spec": js, "status": {"startTime": w.ts(t)}}))
        self.pods = [self.pod(t + 0.5, i, n) for i, n in enumerate(nodes)] if not suspend else []

    def pod(self, t, i, nd, **k):
        lab = self.lab | {"batch.kubernetes.io/job-completion-index": str(i)}
        return make_pod(self.w, t, f"{self.name}-{i}-{self.w.suffix()}", nd, of=("Job", self.name), labels=lab, spec=copy.deepcopy(self.spec), finalizers=["batch.kubernetes.io/job-tracking"], **k)

    def gone(self, t):
        """The controller counts the ended pods, so that they keep no finalizer."""
        for p in self.pods: finalizer(self.w, t, p)

    def fail(self, t, first, reason="BackoffLimitExceeded", message="Job has reached the specified backoff limit", rest=None, code=143, failed=None):
        """The first has ended: the Job gives up, deletes the others and is Failed."""
        w = self.w
        rest = [p for p in self.pods if p is not first] if rest is None else rest
        w.condition(t, JOBC, "Job", self.name, self.ns, "FailureTarget", "True", reason, message)
        if first is not None: finalizer(w, t + 0.05, first)
        for p in rest:
            delete_pod(w, t + 0.1, JOBC, p, code=code)
            w.event(t + 0.15, "job-controller", "Job", self.name, self.ns, "SuccessfulDelete", f"Deleted pod: {p.name}")
        end = t + (3.5 if rest else 0.3)
        w.condition(end, JOBC, "Job", self.name, self.ns, "Failed", "True", reason, message, failed=failed or len(self.pods))
        w.event(end + 0.02, "job-controller", "Job", self.name, self.ns, reason, message, warn=True)

    def complete(self, t):
        w = self.w
        for p in self.pods:
            exit_pod(w, t, p, 0)
            finalizer(w, t + 0.6, p)
        w.condition(t + 0.8, JOBC, "Job", self.name, self.ns, "SuccessCriteriaMet", "True", "CompletionsReached", "Reached expected number of succeeded pods")
        w.condition(t + 0.9, JOBC, "Job", self.name, self.ns, "Complete", "True", "CompletionsReached", "Reached expected number of succeeded pods", succeeded=len(self.pods), completionTime=w.ts(t + 0.9))
        w.event(t + 0.95, "job-controller", "Job", self.name, self.ns, "Completed", "Job completed")

    def delete(self, t, who, live=True, rest=None):
        """Somebody deletes the Job; the garbage collector deletes its pods."""
        w = self.w
        w.api(t, who, "delete", "Job", self.name, self.ns)
        for p in self.pods if rest is None else rest:
            finalizer(w, t + 0.1, p)
            w.at(t + 0.2, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns))
            if live: stop(w, t + 0.3, p)
