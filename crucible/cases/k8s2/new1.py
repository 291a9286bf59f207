"""New families (session 44): resize, ephemeral containers, DRA, topology, Trainer v2, cascades, stateful pods, chains of preemption, reuse of node names, two runs on one node."""
import cases15
from cases15 import *
GROUP.update({"TrainJob": ("trainjobs", "trainer.kubeflow.org/v1alpha1", True), "ResourceClaim": ("resourceclaims", "resource.k8s.io/v1", True), "DeviceTaintRule": ("devicetaintrules", "resource.k8s.io/v1beta2", False), "Secret": ("secrets", "v1", True), "ResourceSlice": ("resourceslices", "resource.k8s.io/v1", False)})
NEW = []
def fam(name, twins):
    def keep(f): NEW.append((name, twins.split(), f)); return f
    return keep
TRAINER = sa("kubeflow-system", "kubeflow-trainer-controller-manager", "manager/v0.0.0 (linux/amd64) kubernetes/$Format")
GPUOP = sa("gpu-operator", "nvidia-driver-upgrade-controller", "gpu-operator/v0.0.0 (linux/amd64) kubernetes/$Format")
GONE = DELETED + ("unknown",)
def raised(w, t, j, v, text="ValueError: bad crop"): w.log(t, v, TRACE + text); exit_pod(w, t, v, 1); j.fail(t + 1, v)
def idle(w, t): w.at(t, lambda: None)

@fam("resize", "person-shrinks-oom infeasible-then-exit restart-completes restart-then-drain grown-then-exit")
def resize(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 3500), n=1, spec=template(restart="OnFailure" if "restart" in twin else "Never")); v, nd = j.pods[0], nodes[0]
    def rs(at, who, mem):
        def ch(o): o["spec"]["containers"][0]["resources"]["limits"]["memory"] = mem; o["metadata"]["generation"] = 2
        w.api(at, who, "patch", "Pod", v.name, v.ns, sub="resize", change=ch, request={"spec": {"containers": [{"name": "trainer", "resources": {"limits": {"memory": mem}}}]}})
    if twin == "person-shrinks-oom":
        rs(t - 40, BOB, "50Gi"); kl(w, t - 38, v, "ResizeStarted", 'Pod resize started: {"containers":[{"name":"trainer","resources":{"limits":{"memory":"50Gi"}}}]}'); kl(w, t - 36, v, "ResizeCompleted", 'Pod resize completed: {"containers":[{"name":"trainer","resources":{"limits":{"memory":"50Gi"}}}]}')
        memcg_oom(w, t, v, limit=52428800); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return j.name, T(("code.host_oom", "ops.config_change"), (), "LWAG", "", weak=("unknown",))
    if twin == "infeasible-then-exit":
        rs(t - 300, BOB, "900Gi"); w.condition(t - 299, kubelet(nd), "Pod", v.name, v.ns, "PodResizePending", "True", "Infeasible", "Node didn't have enough capacity: memory, requested: 966367641600, capacity: 730144440320"); kl(w, t - 299, v, "ResizeInfeasible", "Pod resize Infeasible: Node didn't have enough capacity: memory, requested: 966367641600, capacity: 730144440320", warn=True)
        raised(w, t, j, v); return j.name, T(CODE, (), "LWAG", "", never_cause=["sched.unschedulable_capacity", "ops.config_change"])
    if twin == "grown-then-exit":
        rs(t - 30, BOB, "300Gi"); kl(w, t - 28, v, "ResizeCompleted", "Pod resize completed: {}"); raised(w, t, j, v); return j.name, T(CODE, (), "LWAG", "", weak=("ops.config_change",))
    rs(t - 400, BOB, "300Gi"); kl(w, t - 399, v, "Killing", "Container trainer resize requires restart", field="spec.containers{trainer}"); restart(w, t - 397, v, 143, n=1, wait=3); steps(w, v, t - 390, t, every=20, start=500)
    if twin == "restart-completes": j.complete(t); return j.name, T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"))
    cordon(w, t - 2, CAROL, nd); evict(w, t, CAROL, v); j.fail(t + 2.6, v); return j.name, T(DRAINED, ["carol@"], "AW", "AM", weak=DRAINED + DELETED, never=["bob@"])

@fam("ephemeral", "debug-exits-then-drain debug-oom-completes debug-then-exit")
def ephemeral(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 3500)); v, nd = j.pods[0], nodes[0]
    def add(at):
        w.api(at, BOB, "patch", "Pod", v.name, v.ns, sub="ephemeralcontainers", change=lambda o: o["spec"].setdefault("ephemeralContainers", []).append({"name": "debugger-x7k2p", "image": "busybox", "targetContainerName": "trainer"}), request={"spec": {"ephemeralContainers": [{"name": "debugger-x7k2p", "image": "busybox"}]}})
        for r, m in (("Pulled", 'Container image "busybox" already present on machine'), ("Created", "Created container: debugger-x7k2p"), ("Started", "Started container debugger-x7k2p")): kl(w, at + 1, v, r, m, field="spec.ephemeralContainers{debugger-x7k2p}")
    def end(at, code, reason):
        def ch(o): o["status"]["ephemeralContainerStatuses"] = [{"name": "debugger-x7k2p", "image": "busybox", "imageID": "", "ready": False, "restartCount": 0, "state": {"terminated": {"exitCode": code, "reason": reason, "startedAt": w.ts(at - 60), "finishedAt": w.ts(at)}}, "lastState": {}}]
        w.api(at + 0.3, kubelet(nd), "patch", "Pod", v.name, v.ns, sub="status", change=ch)
    add(t - 90)
    if twin == "debug-oom-completes": end(t - 20, 137, "OOMKilled"); j.complete(t); return j.name, T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"), never_cause=["code.host_oom"])
    end(t - 5, 1 if twin == "debug-then-exit" else 137, "Error")
    if twin == "debug-then-exit": raised(w, t, j, v); return j.name, T(CODE, (), "LWAG", "", never=["bob@"])
    cordon(w, t - 2, CAROL, nd); evict(w, t, CAROL, v); j.fail(t + 2.6, v); return j.name, T(DRAINED, ["carol@"], "AW", "AM", weak=DRAINED + DELETED, never=["bob@"])

@fam("dra", "pending claim-missing prepare-fails taint-by-driver taint-by-person prepare-survived-then-exit")
def dra(w, twin):
    if twin in ("pending", "claim-missing"):
        for i in range(3): node(w, f"gpu-{i}{w.suffix(3)}")
        j = Job(w, 0, run_name(w), [None]); m = "0/3 nodes are available: 3 cannot allocate all claims. still not schedulable, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling." if twin == "pending" else '0/3 nodes are available: waiting for dynamic resource controller to create the resourceclaim "gpus". no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.'
        unschedulable(w, 1, j.pods[0], m, until=2400); idle(w, 2400)
        return j.name, T(("sched.unschedulable_capacity", "sched.unschedulable_constraint"), (), "LEWA", "") if twin == "pending" else T(("sched.unschedulable_constraint", "sched.unschedulable_capacity", "dep.secret_or_config", "unknown"), (), "", "")
    if twin.startswith("prepare"):
        nd = node(w, "gpu-" + w.suffix(4)); j = Job(w, 0, run_name(w), []); p = j.pod(0.5, 0, nd, starts=False); p.start = 3; j.pods = [p]
        bind(w, 1, p); set_state(w, 2, p, "trainer", {"waiting": {"reason": "ContainerCreating"}}, phase="Pending")
        kl(w, 4, p, "FailedPrepareDynamicResources", "Failed to prepare dynamic resources: prepare dynamic resources: NodePrepareResources failed for ResourceClaim gpus-x7k2p: error preparing devices for claim 3f0c: prepare devices failed: error applying GPU config: GPU-4e00 is unhealthy", warn=True, count=9, until=560)
        if twin == "prepare-fails": idle(w, 600); return j.name, T(("hw.gpu", "node.driver", "unknown", "sched.unschedulable_constraint"), (), "", "", weak=("node.driver", "hw.gpu"))
        w.at(600, lambda: start(w, 600, p)); steps(w, p, 605, 3000, every=60); w.at(2999, lambda: None); w.log(3000, p, TRACE + "ValueError: bad crop"); exit_pod(w, 3000, p, 1); j.fail(3001, p); return j.name, T(CODE, (), "LWAG", "", never_cause=["hw.gpu", "node.driver"])
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 3500)); v, nd = j.pods[0], nodes[0]; DTE = kcm("device-taint-eviction-controller")
    if twin == "taint-by-person": w.api(t - 1, BOB, "create", "DeviceTaintRule", "drain-gpu-3", body={"metadata": {}, "spec": {"deviceSelector": {"driver": "gpu.nvidia.com", "pool": nd, "device": "gpu-3"}, "taint": {"key": "maintenance", "value": "swap", "effect": "NoExecute", "timeAdded": w.ts(t - 1)}}})
    else: w.at(t - 1, lambda: w._do(sa("nvidia-dra-driver", "compute-domain-kubelet-plugin"), "create", "ResourceSlice", f"{nd}-gpu", None, body={"metadata": {}, "spec": {"driver": "gpu.nvidia.com", "nodeName": nd, "devices": [{"name": "gpu-3", "taints": [{"key": "gpu.nvidia.com/xid", "value": "79", "effect": "NoExecute", "timeAdded": w.ts(t - 1)}]}]}}))
    w.event(t, "device-taint-eviction", "Pod", v.name, v.ns, "DeviceTaintManagerEviction", f"Marking for deletion"); w.condition(t + 0.02, DTE, "Pod", v.name, v.ns, "DisruptionTarget", "True", "DeletionByDeviceTaintManager", "Device Taint manager: deleting due to NoExecute taint")
    w.api(t + 0.05, DTE, "delete", "Pod", v.name, v.ns); stop(w, t + 0.1, v); j.fail(t + 2.8, v)
    if twin == "taint-by-person": return j.name, T(DRAINED + DELETED + ("unknown",), ["bob@"], "", "", weak=DRAINED + DELETED + ("hw.gpu",), never=["alice@", "carol@"])
    return j.name, T(("hw.gpu", "ops.node_drained", "unknown") + DELETED, (), "", "", weak=DRAINED + DELETED + ("hw.gpu",), never=["alice@", "bob@"])

@fam("topology", "anti-affinity spread volume-zone numa-rejected constraint-then-exit mixed-capacity gang-api")
def topology(w, twin):
    ns = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; tail = " preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    m = {"anti-affinity": "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules." + tail, "spread": "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints." + tail, "volume-zone": "0/3 nodes are available: 3 node(s) had volume node affinity conflict." + tail, "constraint-then-exit": "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules." + tail,
         "mixed-capacity": "0/3 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu-error: fatal}, 2 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.", "gang-api": "waiting for minCount pods from a gang to appear in scheduling queue"}.get(twin)
    if twin == "numa-rejected":
        j = Job(w, 0, run_name(w), [], backoff=2); at = 1
        for i in range(3):
            p = j.pod(at, 0, ns[0], starts=False); p.start = at + 2; j.pods.append(p); bind(w, at + 1, p)
            kl(w, at + 1.5, p, "TopologyAffinityError", "Resources cannot be allocated with Topology locality", warn=True)
            w.condition(at + 1.6, kubelet(ns[0]), "Pod", p.name, p.ns, "Ready", "False", "PodFailed", "", phase="Failed", reason="TopologyAffinityError", message="Pod was rejected: Resources cannot be allocated with Topology locality"); finalizer(w, at + 2, p); at += 12 * (i + 1)
        j.fail(at, j.pods[-1], rest=[], failed=3); return j.name, T(("sched.unschedulable_constraint", "sched.unschedulable_capacity"), (), "LEWA", "", weak=("unknown",), never_cause=list(CODE))
    j = Job(w, 0, run_name(w), [None]); p = j.pods[0]
    if twin == "constraint-then-exit":
        unschedulable(w, 1, p, m, until=600); w.at(700, lambda: (setattr(p, "node", ns[1]), bind(w, 700.1, p), start(w, 702, p))); w.at(703, lambda: (steps(w, p, 710, 2000, every=50), w.log(2000, p, TRACE + "ValueError: bad shape"))); w.at(704, lambda: exit_pod(w, 2000, p, 1)); j.fail(2001, p); return j.name, T(CODE, (), "LWAG", "")
    unschedulable(w, 1, p, m, until=2400); idle(w, 2400)
    if twin == "gang-api": return j.name, T(("sched.unschedulable_constraint", "sched.unschedulable_capacity", "unknown"), (), "", "")
    if twin == "mixed-capacity": return j.name, T(("sched.unschedulable_capacity",), (), "LEWA", "", weak=("sched.unschedulable_constraint",))
    return j.name, T(("sched.unschedulable_constraint",) + (("dep.volume",) if twin == "volume-zone" else ()), (), "LEWA", "")

def trainjob(w, nodes, run, suspend=False):
    name = run_name(w, "tj"); custom(w, 0, "TrainJob", name, ALICE, {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"numNodes": len(nodes)}, "suspend": False}); custom(w, 0.2, "JobSet", name, TRAINER, {"replicatedJobs": [{"name": "node", "replicas": 1}], "suspend": False}, of=("TrainJob", name))
    lab = {"jobset.sigs.k8s.io/jobset-name": name, "jobset.sigs.k8s.io/replicatedjob-name": "node", "trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    j = Job(w, 0.6, f"{name}-node-0", nodes, by=JOBSET, of=("JobSet", name), labels=lab)
    for i, p in enumerate(j.pods): steps(w, p, 10, run, every=60, rank=i)
    return name, j

@fam("trainjob", "fails deleted suspended drained completed deleted-after-failure preempted jobset-deleted oom")
def trainjobs(w, twin):
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; t = w.rng.randrange(1200, 3000); name, j = trainjob(w, nodes, t); v = j.pods[1]
    def bad(at, msg="jobset failed due to one or more job failures"):
        w.condition(at, JOBSET, "JobSet", name, w.ns, "Failed", "True", "FailedJobs", msg); w.event(at, "jobset-controller", "JobSet", name, w.ns, "FailedJobs", msg, warn=True); w.condition(at + 0.5, TRAINER, "TrainJob", name, w.ns, "Failed", "True", "JobsFailed", msg)
    if twin == "fails": raised(w, t, j, v); bad(t + 6); return name, T(CODE, (), "LWAG", "")
    if twin == "oom": memcg_oom(w, t, v); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); bad(t + 6); return name, T("code.host_oom", (), "LWAG", "")
    if twin == "drained": cordon(w, t - 2, BOB, nodes[1]); evict(w, t, BOB, v); j.fail(t + 2.6, v); bad(t + 8); return name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED)
    if twin == "preempted":
        w.condition(t, SCHED, "Pod", v.name, v.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"); w.api(t + 0.02, SCHED, "delete", "Pod", v.name, v.ns); w.event(t + 0.03, "default-scheduler", "Pod", v.name, v.ns, "Preempted", f"Preempted by pod {uid_of(w.seed, 'h')} on node {nodes[1]}", new=True); stop(w, t + 0.1, v); j.fail(t + 2.6, v); bad(t + 8)
        return name, T("sched.preempted", ["scheduler"], "AEW", "AEW", weak=DELETED)
    if twin == "completed":
        j.complete(t); w.condition(t + 2, JOBSET, "JobSet", name, w.ns, "Completed", "True", "AllJobsCompleted", "jobset completed successfully"); w.condition(t + 2.5, TRAINER, "TrainJob", name, w.ns, "Complete", "True", "AllJobsCompleted", "jobset completed successfully"); return name, T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"))
    def gone(at, who, live):
        w.api(at, who, "delete", "TrainJob", name, w.ns); w.api(at + 0.2, GC, "delete", "JobSet", name, w.ns); j.delete(at + 0.4, GC, live=live)
    if twin == "deleted": gone(t, BOB, True); return name, T(DELETED, ["bob@"], "AM", "AM", weak=GONE, never=["garbage", "jobset", "trainer"])
    if twin == "jobset-deleted":  # somebody deletes the JobSet below; the controller makes it anew and all runs again
        w.api(t, BOB, "delete", "JobSet", name, w.ns); j.delete(t + 0.2, GC); custom(w, t + 1, "JobSet", name, TRAINER, {"replicatedJobs": [{"name": "node", "replicas": 1}]}, of=("TrainJob", name)); k = Job(w, t + 6, f"{name}-node-0", nodes, by=JOBSET, of=("JobSet", name), labels={"jobset.sigs.k8s.io/jobset-name": name}); [steps(w, p, t + 16, t + 400, every=60, rank=i) for i, p in enumerate(k.pods)]; idle(w, t + 400)
        return name, T(("none.running",) + DELETED, ["bob@"], "", "AM", weak=("none.running",) + GONE, never=["garbage", "trainer"])
    if twin == "deleted-after-failure": raised(w, t, j, v); bad(t + 6); gone(t + 400, CAROL, False); return name, T(CODE, (), "WAG", "", weak=GONE, never=["carol@"])
    w.api(t, BOB, "patch", "TrainJob", name, w.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}}); w.api(t + 0.2, TRAINER, "patch", "JobSet", name, w.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}}); w.api(t + 0.5, JOBSET, "update", "Job", j.name, w.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}})
    for p in j.pods: delete_pod(w, t + 0.7, JOBC, p)
    w.condition(t + 4, JOBC, "Job", j.name, w.ns, "Suspended", "True", "JobSuspended", "Job suspended"); w.event(t + 4, "job-controller", "Job", j.name, w.ns, "Suspended", "Job suspended"); w.condition(t + 4.3, JOBSET, "JobSet", name, w.ns, "Suspended", "True", "SuspendedJobs", "jobset is suspended"); w.condition(t + 4.6, TRAINER, "TrainJob", name, w.ns, "Suspended", "True", "Suspended", "TrainJob is suspended")
    return name, T(DELETED + ("ops.config_change",), ["bob@"], "A", "A", weak=GONE + ("ops.config_change", "sched.kueue_preempted", "none.running"), never=["job-controller", "trainer", "jobset"])

@fam("cascade", "foreground foreground-after-failure orphan-then-pod-deleted background-metadata owner-of-owner two-owners")
def cascade(w, twin):
    if twin == "owner-of-owner":
        cj = run_name(w, "nightly"); custom(w, -0.2, "CronJob", cj, ALICE, {"schedule": "0 * * * *"}); nodes = [node(w, f"gpu-{w.suffix(4)}")]; t = w.rng.randrange(1200, 3000)
        j = Job(w, 0, f"{cj}-29034", nodes, by=CRONC, of=("CronJob", cj)); steps(w, j.pods[0], 10, t, every=60); w.api(t, BOB, "delete", "CronJob", cj, w.ns); j.delete(t + 0.3, GC); return j.pods[0].name, T(DELETED, ["bob@"], "AM", "AM", weak=GONE, never=["garbage"])
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 3000)); v = j.pods[0]
    def fg(at, who, live):
        def ch(o): o["metadata"].update(finalizers=["foregroundDeletion"])
        w.at(at - 0.01, lambda: w.get("Job", j.name, w.ns)["metadata"].update(finalizers=["foregroundDeletion"]))
        w.api(at, who, "delete", "Job", j.name, w.ns, request={"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/__internal", "propagationPolicy": "Foreground"})
        for p in j.pods:
            finalizer(w, at + 0.1, p); w.at(at + 0.2, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns))
            if live: stop(w, at + 0.3, p)
        w.api(at + 5, GC, "patch", "Job", j.name, w.ns, change=lambda o: o["metadata"].pop("finalizers", None), request={"metadata": {"finalizers": None}})
    if twin == "foreground": fg(t, BOB, True); return j.name, T(DELETED, ["bob@"], "AM", "AM", weak=GONE, never=["garbage"])
    if twin == "foreground-after-failure": raised(w, t, j, v); fg(t + 300, BOB, False); return j.name, T(CODE, (), "WAG", "", weak=GONE, never=["bob@", "garbage"])
    if twin == "background-metadata": j.delete(t, BOB); idle(w, t + 60); return v.name, T(DELETED, ["bob@"], "AM", "AM", weak=GONE, never=["garbage"])
    if twin == "orphan-then-pod-deleted":
        w.api(t - 600, CAROL, "delete", "Job", j.name, w.ns)
        for p in j.pods: w.api(t - 599.9, GC, "patch", "Pod", p.name, w.ns, change=lambda o: (o["metadata"].pop("ownerReferences", None), o["metadata"].pop("finalizers", None)))
        delete_pod(w, t, BOB, v); idle(w, t + 20); return v.name, T(DELETED, ["bob@"], "AM", "AM", weak=GONE, never=["carol@", "garbage"])
    # Two people: carol deletes one pod, the Job makes it anew (backoff), bob deletes the Job 300 s later
    j.backoff = 4; delete_pod(w, t, CAROL, v); q = j.pod(t + 12, 0, nodes[0]); steps(w, q, t + 20, t + 300, every=30); j.pods[0] = q; j.delete(t + 300, BOB); return j.name, T(DELETED, ["bob@"], "AM", "AM", weak=GONE, never=["garbage", "carol@"])

@fam("stateful", "deleted-runs deleted-then-crash crash-then-deleted lost-forced-then-exit rolled-then-exit ordinal-of-two drained-runs")
def stateful(w, twin):
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; name = run_name(w, "sts"); pods, _ = deployment(w, name, 2, nodes, "StatefulSet"); p, o = pods; t = w.rng.randrange(1200, 2400)
    for i, x in enumerate(pods): steps(w, x, 12, t, every=60, rank=i)
    again = lambda at, nd=nodes[0]: make_pod(w, at, p.name, nd, by=STSC, of=("StatefulSet", name), labels={"app": name, "statefulset.kubernetes.io/pod-name": p.name, "controller-revision-hash": f"{name}-6d5"}, spec=template(restart="Always"), generate=False)
    def crash(at, q, n=3, first=1):
        for k in range(n): w.log(at + 60 * k, q, TRACE + "ValueError: bad crop"); restart(w, at + 60 * k, q, 1, n=first + k, wait=20)
    if twin == "deleted-runs": delete_pod(w, t, BOB, p); q = again(t + 3); steps(w, q, t + 12, t + 600, every=60); steps(w, o, t + 1, t + 600, every=60, rank=1); idle(w, t + 600); return name, T(("none.running",) + DELETED, ["bob@"], "", "AM", weak=("none.running",) + GONE)
    if twin == "drained-runs": cordon(w, t - 2, BOB, nodes[0]); evict(w, t, BOB, p); q = again(t + 3, nodes[2]); steps(w, q, t + 12, t + 600, every=60); steps(w, o, t + 1, t + 600, every=60, rank=1); idle(w, t + 600); return name, T(("none.running",) + DRAINED, ["bob@"], "", "AM", weak=("none.running", "unknown") + DRAINED + DELETED)
    if twin == "deleted-then-crash": delete_pod(w, t, BOB, p); q = again(t + 3); steps(w, q, t + 12, t + 400, every=60); crash(t + 400, q); idle(w, t + 600); return name, T(CODE, (), "LWAG", "", weak=("none.running",) + GONE, never=["bob@"])
    if twin == "crash-then-deleted": crash(t, p); delete_pod(w, t + 150, BOB, p); q = again(t + 153); crash(t + 160, q, n=3); idle(w, t + 340); return name, T(CODE, (), "LWAG", "", weak=("none.running",) + GONE, never=["bob@"])
    if twin == "rolled-then-exit":  # alice changes the image; the new pods crash at once
        w.api(t, ALICE, "patch", "StatefulSet", name, w.ns, change=lambda s: s["spec"]["template"]["spec"]["containers"][0].update(image="registry.lab.example/train:1.5.0"), request={"spec": {"template": {"spec": {"containers": [{"name": "trainer", "image": "registry.lab.example/train:1.5.0"}]}}}})
        delete_pod(w, t + 0.5, STSC, o); q = make_pod(w, t + 4, o.name, nodes[1], by=STSC, of=("StatefulSet", name), labels={"app": name, "controller-revision-hash": f"{name}-7e6"}, spec=template(restart="Always", image="registry.lab.example/train:1.5.0"), generate=False); crash(t + 10, q); idle(w, t + 200); return name, T(CODE + ("ops.config_change",), (), "LWAG", "", weak=("none.running", "ops.config_change") + GONE)
    if twin == "ordinal-of-two":  # x-1 OOMs in place again and again while x-0 is deleted by somebody and comes back
        for k in range(3): w.at(t + 100 * k - 1, lambda k=k: memcg_oom(w, t + 100 * k, o)); restart(w, t + 100 * k, o, 137, "OOMKilled", n=k + 1, wait=20)
        delete_pod(w, t + 150, BOB, p); again(t + 153); idle(w, t + 300); return name, T("code.host_oom", (), "LWAG", "", weak=("none.running",) + GONE, never=["bob@"])
    not_ready(w, t + 45, nodes[0], [p]); delete_pod(w, t + 200, BOB, p, live=False, grace=0); q = again(t + 205, nodes[2]); steps(w, q, t + 215, t + 900, every=60); crash(t + 900, q); idle(w, t + 1100)
    return name, T(CODE, (), "LWAG", "", weak=("none.running", "node.not_ready") + GONE, never=["bob@"])

@fam("chain", "ask-low ask-mid mid-then-deleted low-then-runs low-pending")
def chain(w, twin):
    nd = node(w, "gpu-" + w.suffix(4)); low = Job(w, 0, run_name(w, "low"), [nd], backoff=3 if twin in ("low-then-runs", "low-pending") else 0); t = w.rng.randrange(900, 1500); steps(w, low.pods[0], 10, t, every=60)
    def pre(at, v, by):
        w.condition(at, SCHED, "Pod", v.name, v.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"); w.api(at + 0.02, SCHED, "delete", "Pod", v.name, v.ns)
        w.at(at + 0.03, lambda: w.event(at + 0.03, "default-scheduler", "Pod", v.name, v.ns, "Preempted", f"Preempted by pod {by.uid} on node {nd}", new=True)); stop(w, at + 0.1, v)
    mid = Job(w, t - 1, run_name(w, "mid"), [None]); m = mid.pods[0]
    def onto(at, p): w.at(at, lambda: (setattr(p, "node", nd), bind(w, at + 0.1, p), start(w, at + 2, p)))
    unschedulable(w, t - 0.4, m, "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.")
    pre(t, low.pods[0], m); onto(t + 3, m); w.at(t + 4, lambda: steps(w, m, t + 10, t + 300, every=30))
    if low.backoff == 0: low.fail(t + 2.8, low.pods[0])
    full = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
    if twin == "ask-low": idle(w, t + 300); return low.name, T("sched.preempted", ["scheduler"], "AEW", "AEW", weak=DELETED)
    if twin == "low-pending": q = low.pod(t + 12, 0, None); unschedulable(w, t + 13, q, full, until=t + 900); idle(w, t + 900); return low.name, T("sched.preempted", ["scheduler"], "AEW", "", weak=DELETED + ("sched.unschedulable_capacity",), unseen=("sched.unschedulable_capacity",), also=("sched.unschedulable_capacity",))
    if twin == "low-then-runs":
        q = low.pod(t + 12, 0, None); unschedulable(w, t + 13, q, full, until=t + 300); w.at(t + 300, lambda: mid.complete(t + 300.1)); onto(t + 310, q); w.at(t + 311, lambda: steps(w, q, t + 320, t + 700, every=30)); idle(w, t + 700); return low.name, T("none.running", (), "LWA", "", weak=("none.running", "sched.preempted"), also=("sched.preempted",))
    high = Job(w, t + 299, run_name(w, "high"), [None]); h = high.pods[0]
    if twin == "ask-mid": w.at(t + 300, lambda: pre(t + 300.1, m, h)); onto(t + 304, h); mid.fail(t + 303, m); idle(w, t + 400); return mid.name, T("sched.preempted", ["scheduler"], "AEW", "AEW", weak=DELETED)
    w.at(t + 300, lambda: mid.delete(t + 300.1, CAROL)); idle(w, t + 400); return mid.name, T(DELETED, ["carol@"], "AM", "AM", weak=GONE, never_cause=["sched.preempted"])

@fam("reuse", "old-xid-then-oom drained-then-preempted old-run-drained spot-then-exit old-lost-then-delete")
def reuse(w, twin):
    nd = node(w, "gke-a100-" + w.suffix(4)); a = Job(w, 0, run_name(w, "first"), [nd]); t = w.rng.randrange(900, 1500); steps(w, a.pods[0], 10, t, every=60); va = a.pods[0]
    def anew(at): w.at(at, lambda: (w.objs.pop(("Node", None, nd), None), None)); w.at(at + 0.1, lambda: node2(at + 0.1))
    def node2(at):
        o = copy.deepcopy(next(x for _, _, x in w.versions if x["kind"] == "Node" and x["metadata"]["name"] == nd)); o["metadata"].update(uid=uid_of(w.seed, "node2"), creationTimestamp=w.ts(at)); o["spec"].pop("unschedulable", None); o["spec"].pop("taints", None); o["status"]["nodeInfo"]["bootID"] = uid_of(w.seed, "boot-new"); o["status"]["nodeInfo"]["machineID"] = uid_of("m2", w.seed).replace("-", "")
        for c in o["status"]["conditions"]: c.update(lastTransitionTime=w.ts(at)); c.update(status="True", reason="KubeletReady", message="kubelet is posting ready status") if c["type"] == "Ready" else c.update(status="False", reason="Kubelet")
        w.objs[("Node", None, nd)] = o; w._keep("ADDED", o)
    second = lambda at, run: (lambda b: (steps(w, b.pods[0], at + 10, at + run, every=60), b)[1])(Job(w, at, run_name(w, "second"), [nd]))
    if twin == "old-xid-then-oom":
        w.kernel(t, nd, "NVRM: Xid (PCI:0000:4e:00): 79, pid=8213, name=python, GPU has fallen off the bus."); w.log(t, va, TRACE + "RuntimeError: CUDA error: unspecified launch failure"); exit_pod(w, t + 1, va, 1); a.fail(t + 2, va); delete_node(w, t + 60, BOB, nd); anew(t + 200); b = second(t + 260, 600); v = b.pods[0]; w.at(t + 859, lambda: memcg_oom(w, t + 860, v)); exit_pod(w, t + 860.1, v, 137, "OOMKilled"); b.fail(t + 861, v)
        return b.name, T("code.host_oom", (), "LWAG", "", never=["bob@"], never_cause=["hw.gpu"])
    if twin in ("drained-then-preempted", "old-run-drained"):
        cordon(w, t - 2, BOB, nd); evict(w, t, BOB, va); a.fail(t + 2.6, va); delete_node(w, t + 60, BOB, nd); anew(t + 200); b = second(t + 260, 600); v = b.pods[0]; at = t + 860
        if twin == "old-run-drained": w.kernel(at, nd, "NVRM: Xid (PCI:0000:4e:00): 79, pid=8213, name=python, GPU has fallen off the bus."); w.log(at, v, TRACE + "RuntimeError: CUDA error: unspecified launch failure"); exit_pod(w, at + 1, v, 1); b.fail(at + 2, v); return a.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED, never_cause=["hw.gpu"])
        w.condition(at, SCHED, "Pod", v.name, v.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"); w.api(at + 0.02, SCHED, "delete", "Pod", v.name, v.ns); w.event(at + 0.03, "default-scheduler", "Pod", v.name, v.ns, "Preempted", f"Preempted by pod {uid_of(w.seed, 'h')} on node {nd}", new=True); stop(w, at + 0.1, v); b.fail(at + 2.8, v); return b.name, T("sched.preempted", ["scheduler"], "AEW", "AEW", weak=DELETED, never=["bob@"])
    if twin == "spot-then-exit":
        w.event(t - 2, "gcp-node-termination-handler", "Node", nd, None, "PreemptScheduled", "Preemption notice received", warn=True); not_ready(w, t + 45, nd, [va]); w.event(t + 50, "cloud-node-lifecycle-controller", "Node", nd, None, "DeletingNode", f"Deleting node {nd} because it does not exist in the cloud provider"); delete_node(w, t + 50.2, sa("kube-system", "cloud-node-lifecycle-controller"), nd)
        w.condition(t + 60, PODGC, "Pod", va.name, va.ns, "DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"); finalizer(w, t + 60.2, va); w.api(t + 60.5, PODGC, "delete", "Pod", va.name, va.ns, grace=0); a.fail(t + 61, va, rest=[]); anew(t + 200); b = second(t + 260, 600); raised(w, t + 860, b, b.pods[0]); return b.name, T(CODE, (), "LWAG", "", never_cause=["cloud.spot_reclaimed", "cloud.instance_terminated", "node.not_ready"])
    not_ready(w, t + 45, nd, [va]); delete_node(w, t + 100, BOB, nd); w.condition(t + 140, PODGC, "Pod", va.name, va.ns, "DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"); finalizer(w, t + 140.2, va); w.api(t + 140.5, PODGC, "delete", "Pod", va.name, va.ns, grace=0); a.fail(t + 141, va, rest=[])
    anew(t + 200); b = second(t + 260, 600); b.delete(t + 860, CAROL); return b.name, T(DELETED, ["carol@"], "AM", "AM", weak=GONE, never=["bob@"], never_cause=["node.not_ready"])

@fam("one-node", "a-oom.b-drained b-drained.a-oom a-exit.b-reboot b-reboot.a-exit a-deleted.b-exit b-exit.a-deleted a-pressure.b-exit b-exit.a-pressure")
def one_node(w, twin):
    ask, other = twin.split("."); nd = node(w, "gpu-" + w.suffix(4)); a = Job(w, 0, run_name(w, "aa"), [nd], spec=template(gpus=4)); b = Job(w, 30, run_name(w, "bb"), [nd], spec=template(gpus=4)); t = w.rng.randrange(1200, 2400); va, vb = a.pods[0], b.pods[0]
    steps(w, va, 10, t, every=30); acts = {x[2:] for x in (ask, other)}; who = {x[2:]: x[0] for x in (ask, other)}; J = {"a": (a, va), "b": (b, vb)}; r = {}
    gap = 5 if "pressure" in acts else 0.4 if "deleted" in acts else 100
    first = {"oom": 0, "exit": 0, "deleted": 0.4, "drained": 100, "reboot": 100, "pressure": 5}
    for k in acts:
        j, v = J[who[k]]; at = t + (first[k] if k != "exit" or "deleted" not in acts else 0); steps(w, vb, 40, t + (first[k] if who[k] == "b" else 0), every=30) if who[k] == "b" else None
        if k == "oom": w.at(at - 1, lambda j=j, v=v, at=at: memcg_oom(w, at, v)); exit_pod(w, at + 0.1, v, 137, "OOMKilled"); j.fail(at + 1, v); r[k] = T("code.host_oom", (), "LWAG", "")
        if k == "drained": cordon(w, at - 2, BOB, nd); evict(w, at, BOB, v); j.fail(at + 2.6, v); r[k] = T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED)
        if k == "exit": raised(w, at, j, v, "KeyError: 'mask'"); r[k] = T(CODE, (), "LWAG", "")
        if k == "reboot":
            w.event(at, "kubelet", "Node", nd, None, "Starting", "Starting kubelet.", host=nd); w.api(at, kubelet(nd), "patch", "Node", nd, sub="status", change=lambda o: o["status"]["nodeInfo"].update(bootID=uid_of(w.seed, "boot2"))); w.event(at + 0.5, "kubelet", "Node", nd, None, "Rebooted", f"Node {nd} has been rebooted, boot id: {uid_of(w.seed, 'boot2')}", warn=True, host=nd); set_state(w, at + 2, v, "trainer", {"terminated": {"exitCode": 255, "reason": "Unknown", "startedAt": w.ts(35), "finishedAt": w.ts(at + 1)}}, phase="Failed"); j.fail(at + 3, v); r[k] = T(("node.reboot",), (), "EW", "", weak=("node.runtime", "node.reboot", "unknown"), unseen=("node.runtime", "code.exception"))
        if k == "deleted": j.delete(at, CAROL); r[k] = T(DELETED, ["carol@"], "AM", "AM", weak=GONE)
        if k == "pressure":
            msg = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 93Mi. Container trainer was using 190Gi, request is 200Gi, has larger consumption of memory. "; kl(w, at, v, "Evicted", msg, warn=True); w.condition(at + 0.1, kubelet(nd), "Pod", v.name, v.ns, "DisruptionTarget", "True", "TerminationByKubelet", msg); exit_pod(w, at + 1, v, 137, why="Evicted", why_message=msg); j.fail(at + 2, v); r[k] = T("sched.node_pressure", (), "LEWA", "")
    idle(w, t + 200); return J[ask[0]][0].name, r[ask[2:]]
