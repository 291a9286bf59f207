"""Families of cases: workload controllers, deeds of people on workloads, later deeds, clocks and namesakes."""

from cases2 import *
import cases1

ARGO = sa("argo", "argo", "workflow-controller/v3.6.4 argo-workflows/v3.6.4 argo-controller")
TRAINOP = sa("kubeflow", "training-operator", "training-operator/v0.0.0 (linux/amd64) kubernetes/$Format")
MPIOP = sa("mpi-operator", "mpi-operator", "mpi-operator/v0.0.0 (linux/amd64) kubernetes/$Format")
JOBSET = sa("jobset-system", "jobset-controller-manager", "manager/v0.0.0 (linux/amd64) kubernetes/$Format")
KUBERAY = sa("kuberay-system", "kuberay-operator", "manager/v0.0.0 (linux/amd64) kubernetes/$Format")
LWSOP = sa("lws-system", "lws-controller-manager", "manager/v0.0.0 (linux/amd64) kubernetes/$Format")
VCCTL = sa("volcano-system", "volcano-controllers", "vc-controller-manager/v0.0.0 (linux/amd64) kubernetes/$Format")


def custom(w, t, kind, name, who, spec=None, status=None, of=None, labels=()):
    w.at(t, lambda: w._do(who, "create", kind, name, w.ns, body={"metadata": {"labels": dict(labels)} | ({"ownerReferences": [owner(w, of[0], of[1], w.ns)]} if of else {}), "spec": spec or {}, "status": status or {}}))


def phase(w, t, who, kind, name, **status):
    w.api(t, who, "update", kind, name, w.ns, change=lambda o: o.setdefault("status", {}).update(status))


def argo(w, twin):
    name = run_name(w, "wf-train"); nd = node(w, "gpu-" + w.suffix(4)); d = w.rng.randrange(1200, 3000)
    custom(w, 0, "Workflow", name, ALICE, {"entrypoint": "train"} | ({"activeDeadlineSeconds": d} if twin == "deadline" else {}), {"phase": "Running"}, labels={"workflows.argoproj.io/creator": "alice-at-lab.example"})
    p = make_pod(w, 1, f"{name}-train-{w.rng.randrange(10**8, 10**9)}", nd, by=ARGO, of=("Workflow", name), labels={"workflows.argoproj.io/workflow": name}, spec=template(("wait", "trainer")), generate=False)
    steps(w, p, 10, d, every=60)
    w.event(0.5, "workflow-controller", "Workflow", name, w.ns, "WorkflowRunning", "Workflow Running")
    ends = lambda t, code=143, reason="Error": exit_pod(w, t, p, code, reason)
    fin = lambda t, msg, ph="Failed": (phase(w, t, ARGO, "Workflow", name, phase=ph, message=msg, finishedAt=w.ts(t)), w.event(t + 0.1, "workflow-controller", "Workflow", name, w.ns, "Workflow" + ("Failed" if ph == "Failed" else "Succeeded"), msg, warn=ph == "Failed"))
    if twin in ("terminate", "stop"):
        word = "Terminate" if twin == "terminate" else "Stop"
        who = person("bob@lab.example", "argo/v3.6.4 argo-cli")
        w.api(d, who, "patch", "Workflow", name, w.ns, change=lambda o: o["spec"].update(shutdown=word), request={"spec": {"shutdown": word}})
        ends(d + 3, 137 if twin == "terminate" else 143); fin(d + 5, f"Stopped with strategy '{word}'")
        return name, T(DELETED, ["bob@"], "LEWA", "A", weak=DELETED, never=["argo:argo", "workflow-controller"])
    if twin == "deadline":
        w.api(d, ARGO, "patch", "Pod", p.name, p.ns, change=lambda o: None, quiet=True)
        ends(d + 3, 143); fin(d + 5, "Step exceeded its deadline")
        return name, T("code.deadline", (), "LEWA", "", weak=DELETED)
    if twin == "step-fails":
        w.log(d, p, TRACE + "ValueError: bad lr"); ends(d, 1); fin(d + 2, f"Error (exit code 1)"); return name, T(CODE, (), "LWAG", "")
    if twin == "deleted":
        w.api(d, BOB, "delete", "Workflow", name, w.ns); w.api(d + 0.3, GC, "delete", "Pod", p.name, w.ns); stop(w, d + 0.4, p)
        return name, T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",), never=["argo:argo", "garbage"])
    if twin == "gc-after-success":
        ends(d, 0, "Completed"); fin(d + 2, "", "Succeeded"); w.api(d + 30, ARGO, "delete", "Pod", p.name, w.ns)
        w.at(d + 31, lambda: None); return name, T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"))
    # The step failed by itself; a minute later somebody stops what was left of the workflow.
    w.log(d, p, TRACE + "ValueError: bad lr"); ends(d, 1)
    w.api(d + 60, person("bob@lab.example", "argo/v3.6.4 argo-cli"), "patch", "Workflow", name, w.ns, change=lambda o: o["spec"].update(shutdown="Stop"), request={"spec": {"shutdown": "Stop"}}); fin(d + 65, "Stopped with strategy 'Stop'")
    return name, T(CODE, (), "LWAG", "", weak=DELETED)


import cases2
cases2.argo = argo


@fam("argo", "terminate stop step-fails deleted gc-after-success fails-then-stopped")
def argo_family(w, twin): return argo(w, twin)


def deployment(w, name, n, nodes, kind="Deployment", who=ALICE):
    if kind == "StatefulSet":
        custom(w, 0, "StatefulSet", name, who, {"replicas": n, "selector": {"matchLabels": {"app": name}}, "template": {"metadata": {"labels": {"app": name}}, "spec": template(restart="Always")}}, {"replicas": n, "readyReplicas": n})
        return [make_pod(w, 0.5 + 4 * i, f"{name}-{i}", nodes[i], by=STSC, of=("StatefulSet", name), labels={"app": name, "statefulset.kubernetes.io/pod-name": f"{name}-{i}", "controller-revision-hash": f"{name}-6d5"}, spec=template(restart="Always"), generate=False) for i in range(n)], None
    rs = f"{name}-{uid_of(name)[:9].replace('-', '')}"
    custom(w, 0, "Deployment", name, who, {"replicas": n, "selector": {"matchLabels": {"app": name}}, "template": {"metadata": {"labels": {"app": name}}, "spec": template(restart="Always")}}, {"replicas": n, "readyReplicas": n})
    custom(w, 0.1, "ReplicaSet", rs, DEPC, {"replicas": n}, {"replicas": n}, of=("Deployment", name), labels={"app": name, "pod-template-hash": rs[-8:]})
    w.event(0.1, "deployment-controller", "Deployment", name, w.ns, "ScalingReplicaSet", f"Scaled up replica set {rs} from 0 to {n}")
    return [make_pod(w, 0.5, f"{rs}-{w.suffix()}", nodes[i], by=RSC, of=("ReplicaSet", rs), labels={"app": name, "pod-template-hash": rs[-8:]}, spec=template(restart="Always")) for i in range(n)], rs


def scale(w, t, who, kind, name, rs, pods, to=0):
    """Somebody sets the number of replicas; controllers carry it out."""
    sub = "scale" if kind == "Deployment" else "scale"
    w.api(t, who, "patch", kind, name, w.ns, sub=sub, change=lambda o: o["spec"].update(replicas=to), request={"spec": {"replicas": to}})
    if rs:
        w.api(t + 0.1, DEPC, "update", "ReplicaSet", rs, w.ns, change=lambda o: o["spec"].update(replicas=to))
        w.event(t + 0.1, "deployment-controller", "Deployment", name, w.ns, "ScalingReplicaSet", f"Scaled down replica set {rs} from {len(pods)} to {to}")
    for p in pods[to:]:
        delete_pod(w, t + 0.3, RSC if rs else STSC, p, code=143)
        if rs: w.event(t + 0.35, "replicaset-controller", "ReplicaSet", rs, w.ns, "SuccessfulDelete", f"Deleted pod: {p.name}")
        else: w.event(t + 0.35, "statefulset-controller", "StatefulSet", name, w.ns, "SuccessfulDelete", f"delete Pod {p.name} in StatefulSet {name} successful")
    w.at(t + 5, lambda: w.get(kind, name, w.ns)["status"].update(replicas=to, readyReplicas=to))


@fam("scaled", "person-zero sts-person-zero keda-zero hpa-down script-zero crash-then-zero rollout-restart image-update sts-update deleted-pod-replaced deployment-deleted job-parallelism")
def scaled(w, twin):
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]
    name = run_name(w, w.rng.choice(["trainer", "worker", "serve"]))
    t = w.rng.randrange(1200, 4000)
    kind = "StatefulSet" if twin.startswith("sts") else "Deployment"
    ok = ("ops.scale_down", "ops.config_change", "ops.manual_delete")
    if twin == "job-parallelism":
        j, nodes, t = gang(w, nodes=nodes); w.api(t, BOB, "patch", "Job", j.name, w.ns, change=lambda o: o["spec"].update(parallelism=0), request={"spec": {"parallelism": 0}})
        for p in j.pods: delete_pod(w, t + 0.2, JOBC, p); w.event(t + 0.3, "job-controller", "Job", j.name, w.ns, "SuccessfulDelete", f"Deleted pod: {p.name}")
        w.at(t + 10, lambda: None)
        return j.name, T(ok, ["bob@"], "A", "A", weak=ok + ("unknown",), never=["job-controller"])
    pods, rs = deployment(w, name, 2, nodes, kind)
    for i, p in enumerate(pods): steps(w, p, 15, t, every=60, rank=i)
    if twin in ("person-zero", "sts-person-zero"):
        scale(w, t, BOB, kind, name, rs, pods); return name, T(ok, ["bob@"], "A", "A", weak=ok + ("unknown",), never=["replicaset-controller", "deployment-controller", "statefulset-controller"])
    if twin in ("keda-zero", "hpa-down", "script-zero"):
        who = {"keda-zero": sa("keda", "keda-operator", "keda/v2.17.0"), "hpa-down": HPAC, "script-zero": sa("ops", "kube-downscaler", "python-requests/2.32")}[twin]
        to = 1 if twin == "hpa-down" else 0
        if twin == "keda-zero": custom(w, 0.2, "ScaledObject", name, ALICE, {"scaleTargetRef": {"name": name}}); w.event(t, "keda-operator", "ScaledObject", name, w.ns, "KEDAScaleTargetDeactivated", f"Deactivated apps/v1.Deployment {w.ns}/{name} from 2 to 0")
        if twin == "hpa-down": custom(w, 0.2, "HorizontalPodAutoscaler", name, ALICE, {"scaleTargetRef": {"kind": "Deployment", "name": name}}); w.event(t, "horizontal-pod-autoscaler", "HorizontalPodAutoscaler", name, w.ns, "SuccessfulRescale", "New size: 1; reason: All metrics below target")
        scale(w, t, who, kind, name, rs, pods, to)
        return name, T(ok + (("none.running",) if to else ()), [who[0]["username"].rsplit(":", 1)[1]], "A", "A", weak=ok + ("unknown", "none.running"), never=["replicaset-controller", "deployment-controller", "bob@", "alice@"])
    if twin == "crash-then-zero":  # it kept crashing; a person then turned it off
        for i, p in enumerate(pods):
            for n in range(3):
                w.log(t - 300 + 60 * n, p, TRACE + "RuntimeError: no checkpoint found"); restart(w, t - 300 + 60 * n, p, 1, n=n + 1, wait=20)
            kl(w, t - 200, p, "BackOff", f"Back-off restarting failed container trainer in pod {p.name}_{w.ns}(x)", warn=True, count=9, until=t - 10)
        scale(w, t, BOB, kind, name, rs, pods); return name, T(CODE, (), "EWAG", "", weak=ok + ("unknown",) + CODE)
    if twin in ("rollout-restart", "image-update", "sts-update"):
        kind = "StatefulSet" if twin == "sts-update" else kind
        if twin == "sts-update": return name, _sts_update(w, t, name, nodes, ok)
        patch = {"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": w.ts(t)}}}}} if twin == "rollout-restart" else {"spec": {"template": {"spec": {"containers": [{"name": "trainer", "image": "registry.lab.example/train:1.5.0"}]}}}}
        def change(o):
            if twin == "rollout-restart": o["spec"]["template"]["metadata"]["annotations"] = patch["spec"]["template"]["metadata"]["annotations"]
            else: o["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.lab.example/train:1.5.0"
            o["metadata"]["generation"] += 1
        w.api(t, BOB, "patch", "Deployment", name, w.ns, change=change, request=patch)
        rs2 = rs[:-2] + "zz"; custom(w, t + 0.1, "ReplicaSet", rs2, DEPC, {"replicas": 2}, {"replicas": 2}, of=("Deployment", name), labels={"app": name, "pod-template-hash": rs2[-8:]})
        w.event(t + 0.1, "deployment-controller", "Deployment", name, w.ns, "ScalingReplicaSet", f"Scaled up replica set {rs2} from 0 to 2")
        for i in range(2): make_pod(w, t + 0.3, f"{rs2}-{w.suffix()}", nodes[i], by=RSC, of=("ReplicaSet", rs2), labels={"app": name, "pod-template-hash": rs2[-8:]}, spec=template(restart="Always"))
        w.api(t + 8, DEPC, "update", "ReplicaSet", rs, w.ns, change=lambda o: o["spec"].update(replicas=0)); w.event(t + 8, "deployment-controller", "Deployment", name, w.ns, "ScalingReplicaSet", f"Scaled down replica set {rs} from 2 to 0")
        for p in pods: delete_pod(w, t + 8.2, RSC, p); w.event(t + 8.3, "replicaset-controller", "ReplicaSet", rs, w.ns, "SuccessfulDelete", f"Deleted pod: {p.name}")
        w.at(t + 40, lambda: None)
        return name, T(("ops.config_change", "none.running"), ["bob@"], "", "A", weak=ok + ("none.running", "unknown"), never=["replicaset-controller"])
    if twin == "deleted-pod-replaced":
        delete_pod(w, t, BOB, pods[0]); make_pod(w, t + 0.5, f"{rs}-{w.suffix()}", nodes[0], by=RSC, of=("ReplicaSet", rs), labels={"app": name, "pod-template-hash": rs[-8:]}, spec=template(restart="Always")); w.at(t + 60, lambda: None)
        return name, T(("none.running", "ops.manual_delete"), ["bob@"], "", "A", weak=DELETED + ("none.running", "unknown"))
    w.api(t, BOB, "delete", "Deployment", name, w.ns); w.api(t + 0.2, GC, "delete", "ReplicaSet", rs, w.ns)
    for p in pods: w.api(t + 0.4, GC, "delete", "Pod", p.name, w.ns); stop(w, t + 0.5, p)
    return name, T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",), never=["garbage"])


def _sts_update(w, t, name, nodes, ok):
    w.queue.clear(); w.objs.clear(); w.versions.clear()
    nodes = [node(w, n) for n in nodes]
    pods, _ = deployment(w, name, 2, nodes, "StatefulSet")
    w.api(t, BOB, "patch", "StatefulSet", name, w.ns, change=lambda o: (o["spec"]["template"]["spec"]["containers"][0].update(image="registry.lab.example/train:1.5.0"), o["metadata"].update(generation=2)), request={"spec": {"template": {"spec": {"containers": [{"name": "trainer", "image": "registry.lab.example/train:1.5.0"}]}}}})
    for i in (1, 0):
        at = t + 0.3 + (1 - i) * 12
        delete_pod(w, at, STSC, pods[i]); w.event(at, "statefulset-controller", "StatefulSet", name, w.ns, "SuccessfulDelete", f"delete Pod {name}-{i} in StatefulSet {name} successful")
        make_pod(w, at + 4, f"{name}-{i}", nodes[i], by=STSC, of=("StatefulSet", name), labels={"app": name, "controller-revision-hash": f"{name}-7e6"}, spec=template(restart="Always", image="registry.lab.example/train:1.5.0"), generate=False)
    w.at(t + 60, lambda: None)
    return T(("ops.config_change", "none.running"), ["bob@"], "", "A", weak=ok + ("none.running", "unknown"), never=["statefulset-controller"])


@fam("namespace-gc", "namespace-deleted orphaned cronjob-deleted jobset-deleted cascade-orphan cronjob-replace ttl-after-failure ttl-after-success podgc-leftover owner-deleted-after-failure helm-uninstall")
def namespace_gc(w, twin):
    if twin == "jobset-deleted": return jobset(w, "deleted")
    d = w.rng.randrange(1200, 4000)
    if twin in ("cronjob-deleted", "cronjob-replace"):
        cj = run_name(w, "nightly"); custom(w, -0.2, "CronJob", cj, ALICE, {"schedule": "0 * * * *", "concurrencyPolicy": "Replace"})
        nodes = [node(w, f"gpu-{w.suffix(4)}")]
        j = Job(w, 0, f"{cj}-29034", nodes, by=CRONC, of=("CronJob", cj)); steps(w, j.pods[0], 10, d, every=60)
        if twin == "cronjob-replace":
            j.delete(d, CRONC); w.event(d, "cronjob-controller", "CronJob", cj, w.ns, "SuccessfulDelete", f"Deleted job {j.name}")
            k = Job(w, d + 1, f"{cj}-29094", nodes, by=CRONC, of=("CronJob", cj)); w.event(d + 1, "cronjob-controller", "CronJob", cj, w.ns, "SuccessfulCreate", f"Created job {k.name}"); w.at(d + 100, lambda: None)
            return j.name, T(("ops.config_change", "ops.manual_delete", "code.deadline", "none.running", "unknown"), ["cronjob-controller"], "", "A", weak=DELETED, never=["alice@", "garbage"])
        w.api(d, BOB, "delete", "CronJob", cj, w.ns); j.delete(d + 0.3, GC); return j.name, T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",), never=["garbage"])
    j, nodes, t = gang(w, run=d, ttl=60 if twin.startswith("ttl") else None)
    v = j.pods[0]
    raised = lambda: (w.log(t, v, TRACE + "ValueError: bad crop"), exit_pod(w, t, v, 1), j.fail(t + 1, v))
    if twin == "namespace-deleted":
        w.at(-0.3, lambda: w.objs.__setitem__(("Namespace", None, w.ns), {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": w.ns, "uid": uid_of(w.seed, "ns"), "creationTimestamp": w.ts(-90000), "finalizers": ["kubernetes"]}, "spec": {}, "status": {"phase": "Active"}}))
        w.api(t, BOB, "delete", "Namespace", w.ns)
        for p in j.pods: finalizer(w, t + 0.3, p); w.api(t + 0.5, NSC, "delete", "Pod", p.name, w.ns); stop(w, t + 0.6, p)
        w.api(t + 0.7, NSC, "delete", "Job", j.name, w.ns)
        return j.name, T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",), never=["namespace-controller"])
    if twin == "helm-uninstall":
        j.delete(t, person("ci-deployer@lab.example", "Helm/3.16.2")); return j.name, T(DELETED, ["ci-deployer"], "AM", "AM", weak=DELETED + ("unknown",))
    if twin == "orphaned":  # the owner had been deleted before with its children kept; then the collector removes pods of which the owner is gone
        j.delete(t, CAROL); return j.name, T(DELETED, ["carol@"], "AM", "AM", weak=DELETED + ("unknown",), never=["garbage"])
    if twin == "cascade-orphan":  # the Job goes, its pods stay and raise later
        w.api(t - 600, CAROL, "delete", "Job", j.name, w.ns)
        for p in j.pods:
            w.api(t - 599.9, GC, "patch", "Pod", p.name, w.ns, change=lambda o: (o["metadata"].pop("ownerReferences", None), o["metadata"].pop("finalizers", None)))
        w.log(t, v, TRACE + "ValueError: bad crop"); exit_pod(w, t, v, 1); exit_pod(w, t + 20, j.pods[1], 1)
        return v.name, T(CODE, (), "LWAG", "", weak=("unknown",))
    if twin == "ttl-after-failure":
        raised(); j.gone(t + 5); w.api(t + 65, TTL, "delete", "Job", j.name, w.ns)
        for p in j.pods: w.api(t + 65.3, GC, "delete", "Pod", p.name, w.ns)
        return j.name, T(CODE, (), "WAG", "", weak=("unknown",), never=["ttl"])
    if twin == "ttl-after-success":
        j.complete(t); w.api(t + 65, TTL, "delete", "Job", j.name, w.ns)
        for p in j.pods: w.api(t + 65.3, GC, "delete", "Pod", p.name, w.ns)
        return j.name, T("none.completed", (), "WA", "", weak=("none.completed", "unknown"))
    raised()
    if twin == "podgc-leftover": w.api(t + 400, PODGC, "delete", "Pod", v.name, w.ns)
    else:
        w.api(t + 400, BOB, "delete", "Job", j.name, w.ns)
        for p in j.pods: w.api(t + 400.3, GC, "delete", "Pod", p.name, w.ns)
    return j.name, T(CODE, (), "WAG", "", weak=("unknown",), never=["bob@"])


def jobset(w, twin):
    name = run_name(w, "js"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; d = w.rng.randrange(1200, 3000)
    custom(w, 0, "JobSet", name, ALICE, {"replicatedJobs": [{"name": "w", "replicas": 2}], "failurePolicy": {"maxRestarts": 1}}, {"restarts": 0})
    def attempt(t, n):
        jobs = []
        for i in range(2):
            j = Job(w, t + 0.2, f"{name}-w-{i}", [nodes[i]], by=JOBSET, of=("JobSet", name), labels={"jobset.sigs.k8s.io/jobset-name": name, "jobset.sigs.k8s.io/restart-attempt": str(n), "jobset.sigs.k8s.io/job-index": str(i)})
            steps(w, j.pods[0], t + 10, t + d, every=60, rank=i); jobs.append(j)
        return jobs
    def down(t, jobs, left):
        for j in jobs: j.delete(t, JOBSET, rest=left(j))
    a = attempt(0, 0)
    first = lambda j: [p for p in j.pods if p is not a[0].pods[0]]
    if twin == "deleted":
        w.api(d, BOB, "delete", "JobSet", name, w.ns)
        for j in a: j.delete(d + 0.3, GC)
        return name, T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",), never=["garbage"])
    if twin == "child-deleted":  # a person deletes one child Job: the set makes it anew and the run goes on
        a[0].delete(d, BOB); j = Job(w, d + 3, f"{name}-w-0", [nodes[0]], by=JOBSET, of=("JobSet", name), labels={"jobset.sigs.k8s.io/jobset-name": name, "jobset.sigs.k8s.io/restart-attempt": "0", "jobset.sigs.k8s.io/job-index": "0"}); w.at(d + 100, lambda: None)
        return name, T(DELETED + ("none.running",), ["bob@"], "", "AM", weak=DELETED + ("none.running", "unknown"))
    fails = lambda t, j, text: (w.log(t, j.pods[0], TRACE + text), exit_pod(w, t, j.pods[0], 1), j.fail(t + 1, j.pods[0]))
    fails(d, a[0], "ValueError: bad crop")
    w.event(d + 2, "jobset-controller", "JobSet", name, w.ns, "Restarting", "restarting jobset without counting towards maximum restarts"[:19], warn=False)
    down(d + 2, a, first)
    for j in a[:1]: w.at(d + 2.4, lambda j=j: w.get("Pod", j.pods[0].name, w.ns) and w._do(GC, "delete", "Pod", j.pods[0].name, w.ns))
    phase(w, d + 2.5, JOBSET, "JobSet", name, restarts=1)
    b = attempt(d + 8, 1)
    t2 = d + 8 + d
    if twin == "restart-then-runs": w.at(t2 - 100, lambda: None); w.queue[:] = [q for q in w.queue if q[0] < t2 - 90]; heapq.heapify(w.queue); return name, T("none.running", (), "LWA", "", weak=("none.running",) + CODE)
    if twin == "restart-then-drain":
        cordon(w, t2 - 2, BOB, nodes[1]); evict(w, t2, BOB, b[1].pods[0]); b[1].fail(t2 + 2.6, b[1].pods[0])
        w.condition(t2 + 5, JOBSET, "JobSet", name, w.ns, "Failed", "True", "FailedJobs", "jobset failed due to one or more job failures")
        return name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED + CODE)
    fails(t2, b[1], "ValueError: bad crop"); w.condition(t2 + 3, JOBSET, "JobSet", name, w.ns, "Failed", "True", "ReachedMaxRestarts", "jobset failed due to reaching max number of restarts")
    w.event(t2 + 3, "jobset-controller", "JobSet", name, w.ns, "ReachedMaxRestarts", "jobset failed due to reaching max number of restarts", warn=True)
    return name, T(CODE, (), "LWAG", "")


@fam("jobset", "deleted child-deleted restart-then-runs restart-then-drain fails-twice")
def jobset_family(w, twin): return jobset(w, twin)


@fam("operators", "pytorch-fails pytorch-restart-then-evicted pytorch-cleanup-success pytorch-deleted mpi-launcher-fails mpi-worker-oom ray-driver-fails ray-ttl ray-worker-scaled ray-deleted volcano-aborted volcano-task-failed lws-recreate")
def operators(w, twin):
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; d = w.rng.randrange(1200, 3000)
    def crew(kind, name, who, names, lab, spec=None, t=0.5):
        ps = [make_pod(w, t, n, nodes[i % 3], by=who, of=(kind, name), labels=lab | ({"training.kubeflow.org/replica-index": str(i)} if kind == "PyTorchJob" else {}), spec=copy.deepcopy(spec or template()), generate=False) for i, n in enumerate(names)]
        for i, p in enumerate(ps): steps(w, p, t + 8, d, every=60, rank=i)
        return ps
    if twin.startswith("pytorch"):
        name = run_name(w, "pt"); custom(w, 0, "PyTorchJob", name, ALICE, {"runPolicy": {"cleanPodPolicy": "Running", "backoffLimit": 3}, "pytorchReplicaSpecs": {}}, {"conditions": [{"type": "Created", "status": "True", "reason": "PyTorchJobCreated", "message": f"PyTorchJob {name} is created.", "lastTransitionTime": w.ts(0)}]})
        lab = {"training.kubeflow.org/job-name": name, "training.kubeflow.org/operator-name": "pytorchjob-controller"}
        ps = crew("PyTorchJob", name, TRAINOP, [f"{name}-master-0", f"{name}-worker-0", f"{name}-worker-1"], lab)
        w.condition(5, TRAINOP, "PyTorchJob", name, w.ns, "Running", "True", "PyTorchJobRunning", f"PyTorchJob {name} is running.")
        failed = lambda t, msg: (w.condition(t, TRAINOP, "PyTorchJob", name, w.ns, "Failed", "True", "PyTorchJobFailed", msg), w.event(t, "pytorchjob-controller", "PyTorchJob", name, w.ns, "PyTorchJobFailed", msg, warn=True))
        if twin == "pytorch-fails":
            w.log(d, ps[1], TRACE + "ValueError: bad crop"); exit_pod(w, d, ps[1], 1); failed(d + 1, f"PyTorchJob {name} is failed because 1 Worker replica(s) failed.")
            for p in (ps[0], ps[2]): delete_pod(w, d + 1.2, TRAINOP, p)
            return name, T(CODE, (), "LWAG", "")
        if twin == "pytorch-restart-then-evicted":
            exit_pod(w, d - 600, ps[1], 137); w.event(d - 599, "pytorchjob-controller", "PyTorchJob", name, w.ns, "ExitedWithCode", f"Pod: {w.ns}.{ps[1].name} exited with code 137"); w.api(d - 599, TRAINOP, "delete", "Pod", ps[1].name, w.ns)
            w.condition(d - 598, TRAINOP, "PyTorchJob", name, w.ns, "Restarting", "True", "PyTorchJobRestarting", f"PyTorchJob {name} is restarting because 1 Worker replica(s) failed.")
            q = make_pod(w, d - 595, ps[1].name, nodes[1], by=TRAINOP, of=("PyTorchJob", name), labels=lab, generate=False); steps(w, q, d - 590, d, every=60)
            cordon(w, d - 2, BOB, nodes[1]); evict(w, d, BOB, q); failed(d + 4, f"PyTorchJob {name} is failed because 1 Worker replica(s) failed.")
            for p in (ps[0], ps[2]): delete_pod(w, d + 4.2, TRAINOP, p)
            return name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED + ("code.host_oom", "code.exception", "unknown"))
        if twin == "pytorch-cleanup-success":
            exit_pod(w, d, ps[0], 0); w.condition(d + 1, TRAINOP, "PyTorchJob", name, w.ns, "Succeeded", "True", "PyTorchJobSucceeded", f"PyTorchJob {name} is successfully completed.")
            for p in ps[1:]: delete_pod(w, d + 1.2, TRAINOP, p)
            return name, T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"))
        w.api(d, BOB, "delete", "PyTorchJob", name, w.ns)
        for p in ps: w.api(d + 0.3, GC, "delete", "Pod", p.name, w.ns); stop(w, d + 0.4, p)
        return name, T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",), never=["garbage"])
    if twin.startswith("mpi"):
        name = run_name(w, "mpi"); custom(w, 0, "MPIJob", name, ALICE, {"slotsPerWorker": 8, "mpiReplicaSpecs": {}}, {})
        ps = crew("MPIJob", name, MPIOP, [f"{name}-worker-0", f"{name}-worker-1"], {"training.kubeflow.org/job-name": name, "training.kubeflow.org/job-role": "worker"})
        j = Job(w, 3, f"{name}-launcher", [nodes[2]], by=MPIOP, of=("MPIJob", name), labels={"training.kubeflow.org/job-name": name, "training.kubeflow.org/job-role": "launcher"}, spec=template(gpus=0)); l = j.pods[0]
        def over(t): w.condition(t + 2, MPIOP, "MPIJob", name, w.ns, "Failed", "True", "MPIJobFailed", "Job has reached the specified backoff limit"); [delete_pod(w, t + 2.2, MPIOP, p) for p in ps]
        if twin == "mpi-launcher-fails":
            w.log(d, l, TRACE + "KeyError: 'lr'\n--------------------------------------------------------------------------\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, the job has been aborted."); exit_pod(w, d, l, 1); j.fail(d + 1, l); over(d); return name, T(CODE, (), "LWAG", "")
        memcg_oom(w, d, ps[0]); exit_pod(w, d + 0.1, ps[0], 137, "OOMKilled"); w.log(d + 1, l, f"mpirun noticed that process rank 0 with PID 77 on node {name}-worker-0 exited on signal 9 (Killed).\nORTE was unable to reliably start one or more daemons."); exit_pod(w, d + 2, l, 1); j.fail(d + 3, l); over(d + 3)
        return name, T("code.host_oom", (), "LWAG", "", weak=("code.exception",))
    if twin.startswith("ray"):
        name = run_name(w, "ray"); cl = name + "-rc7"
        custom(w, 0, "RayJob", name, ALICE, {"entrypoint": "python train.py", "shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": 60}, {"jobStatus": "RUNNING", "jobDeploymentStatus": "Running", "rayClusterName": cl}); custom(w, 0.2, "RayCluster", cl, KUBERAY, {}, {"state": "ready"}, of=("RayJob", name))
        ps = crew("RayCluster", cl, KUBERAY, [f"{cl}-head-{w.suffix()}", f"{cl}-gpu-worker-{w.suffix()}"], {"ray.io/cluster": cl})
        for p, ty in zip(ps, ("head", "worker")): p.spec["containers"][0]["name"] = "trainer"
        st = lambda t, s, dep, msg="": phase(w, t, KUBERAY, "RayJob", name, jobStatus=s, jobDeploymentStatus=dep, message=msg, reason="AppFailed" if s == "FAILED" else "")
        def tidy(t):
            w.api(t, KUBERAY, "delete", "RayCluster", cl, w.ns)
            for p in ps: w.api(t + 0.4, GC, "delete", "Pod", p.name, w.ns); stop(w, t + 0.5, p)
        if twin == "ray-driver-fails":
            w.log(d, ps[0], TRACE + "ValueError: bad crop"); st(d + 1, "FAILED", "Failed", "Job entrypoint command failed with exit code 1, last available logs: ValueError: bad crop"); tidy(d + 62); return name, T(CODE, (), "LWAG", "", weak=("unknown",), never=["kuberay", "garbage"])
        if twin == "ray-ttl":
            st(d, "SUCCEEDED", "Complete"); tidy(d + 60); return name, T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"))
        if twin == "ray-worker-scaled":  # Ray's own autoscaler takes an idle worker; the job goes on
            w.event(d, "raycluster-controller", "RayCluster", cl, w.ns, "DeletedWorkerPod", f"Deleted pod {w.ns}/{ps[1].name}"); delete_pod(w, d, KUBERAY, ps[1]); steps(w, ps[0], d, d + 600, every=30); w.at(d + 600, lambda: None)
            return name, T(("none.running", "ops.scale_down"), ["kuberay"], "", "A", weak=("none.running", "ops.scale_down", "unknown") + DELETED)
        w.api(d, BOB, "delete", "RayJob", name, w.ns); w.api(d + 0.2, GC, "delete", "RayCluster", cl, w.ns)
        for p in ps: w.api(d + 0.4, GC, "delete", "Pod", p.name, w.ns); stop(w, d + 0.5, p)
        return name, T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",), never=["garbage", "kuberay"])
    if twin.startswith("volcano"):
        name = run_name(w, "vc"); custom(w, 0, "VolcanoJob", name, ALICE, {"minAvailable": 2, "tasks": [{"name": "w", "replicas": 2}]}, {"state": {"phase": "Running"}})
        ps = crew("VolcanoJob", name, VCCTL, [f"{name}-w-0", f"{name}-w-1"], {"volcano.sh/job-name": name})
        if twin == "volcano-aborted":
            phase(w, d + 0.2, VCCTL, "VolcanoJob", name, state={"phase": "Aborting", "reason": "", "message": ""}); w.event(d, "vc-controller-manager", "VolcanoJob", name, w.ns, "CommandIssued", "Start to execute command AbortJob, and clean it up to make sure executed not more than once.")
            w.event(d, "vc-controller-manager", "VolcanoJob", name, w.ns, "ExecuteAction", "Start to execute action AbortJob ")
            for p in ps: delete_pod(w, d + 0.4, VCCTL, p)
            phase(w, d + 4, VCCTL, "VolcanoJob", name, state={"phase": "Aborted"}); return name, T(DELETED, (), "", "", weak=DELETED + ("unknown",))
        w.log(d, ps[1], TRACE + "ValueError: bad crop"); exit_pod(w, d, ps[1], 1); w.event(d + 0.5, "vc-controller-manager", "VolcanoJob", name, w.ns, "PodFailed", f"Pod {w.ns}/{ps[1].name} failed"[:60]); delete_pod(w, d + 1, VCCTL, ps[0]); phase(w, d + 4, VCCTL, "VolcanoJob", name, state={"phase": "Failed"})
        return name, T(CODE, (), "LWAG", "")
    name = run_name(w, "lws"); custom(w, 0, "LeaderWorkerSet", name, ALICE, {"replicas": 1, "leaderWorkerTemplate": {"size": 2}}, {})
    ps = crew("LeaderWorkerSet", name, LWSOP, [f"{name}-0", f"{name}-0-1"], {"leaderworkerset.sigs.k8s.io/name": name, "leaderworkerset.sigs.k8s.io/group-index": "0"})
    w.log(d, ps[1], TRACE + "ValueError: bad crop"); exit_pod(w, d, ps[1], 1); w.event(d + 1, "leaderworkerset", "LeaderWorkerSet", name, w.ns, "RecreateGroup", f"Worker pod {ps[1].name} failed, deleted leader pod {ps[0].name} to recreate group 0")
    delete_pod(w, d + 1, LWSOP, ps[0]); w.api(d + 1.2, GC, "delete", "Pod", ps[1].name, w.ns); w.at(d + 10, lambda: None)
    return name, T(CODE, (), "WAG", "", weak=("unknown",))


@fam("again", "same-name-oom-then-exit same-name-exit-then-drain other-run-drained same-second-neighbour rerun-completed sts-namesake deleted-and-remade-runs")
def again(w, twin):
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; name = run_name(w); d = w.rng.randrange(900, 1500)
    def run(t, nds=nodes):
        j = Job(w, t, name, nds)
        for i, p in enumerate(j.pods): steps(w, p, t + 8, t + d, every=60, rank=i)
        return j, t + d, j.pods[0]
    def clean(t, j, who=ALICE):
        w.api(t, who, "delete", "Job", j.name, w.ns)
        for p in j.pods: w.at(t + 0.3, lambda p=p: (p.ns and w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns)))
    def oomed(t, j, v): memcg_oom(w, t, v); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v)
    def raised(t, j, v): w.log(t, v, TRACE + "ValueError: bad crop"); exit_pod(w, t, v, 1); j.fail(t + 1, v)
    a, t, v = run(0)
    if twin == "same-name-oom-then-exit":
        oomed(t, a, v); clean(t + 60, a); b, t, v = run(t + 120); raised(t, b, v); return name, T(CODE, (), "LWAG", "", also=("code.host_oom",) + DELETED)
    if twin == "same-name-exit-then-drain":
        raised(t, a, v); clean(t + 60, a); b, t, v = run(t + 120); cordon(w, t - 2, BOB, nodes[0]); evict(w, t, BOB, v); b.fail(t + 2.6, v); return name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED, also=CODE)
    if twin == "rerun-completed":
        raised(t, a, v); clean(t + 60, a); b, t, v = run(t + 120); b.complete(t); return name, T("none.completed", (), "LWA", "", weak=("none.completed",), also=CODE)
    if twin == "deleted-and-remade-runs":
        a.delete(t, ALICE); b, t, v = run(t + 60); w.queue[:] = [q for q in w.queue if q[0] < t]; heapq.heapify(w.queue); return name, T("none.running", (), "LWA", "", weak=("none.running",) + DELETED, also=DELETED)
    if twin == "other-run-drained":  # two runs in a namespace: the other one is drained, this one raises
        o = Job(w, 1, run_name(w, "other"), [nodes[1]]); b = o.pods[0]
        a.pods = a.pods  # ours is on both nodes; it broke before the drain
        raised(t, a, v); cordon(w, t + 20, BOB, nodes[1]); evict(w, t + 22, BOB, b); o.fail(t + 25, b); return name, T(CODE, (), "LWAG", "")
    if twin == "same-second-neighbour":  # a person drains another node in the second in which ours runs out of memory
        other = node(w, "gpu-z" + w.suffix(3)); o = Job(w, 1, run_name(w, "other"), [other]); cordon(w, t - 1, BOB, other); evict(w, t, BOB, o.pods[0]); o.fail(t + 3, o.pods[0]); oomed(t, a, v); return name, T("code.host_oom", (), "LWAG", "")
    # A stateful pod's name was borne before by one that somebody evicted; the one of now raises.
    pods, _ = deployment(w, name + "s", 1, nodes, "StatefulSet"); p = pods[0]
    cordon(w, 298, BOB, nodes[0]); evict(w, 300, BOB, p); cordon(w, 320, BOB, nodes[0], False)
    q = make_pod(w, 330, p.name, nodes[0], by=STSC, of=("StatefulSet", name + "s"), labels={"app": name + "s"}, spec=template(restart="Always"), generate=False)
    steps(w, q, 340, 1400, every=60)
    for n in range(3): w.log(1400 + 60 * n, q, TRACE + "ValueError: bad crop"); restart(w, 1400 + 60 * n, q, 1, n=n + 1, wait=20)
    w.at(1530, lambda: None); kl(w, 1480, q, "BackOff", f"Back-off restarting failed container trainer in pod {q.name}", warn=True, count=3, until=1525)
    return name + "s", T(CODE + ("none.running",), (), "LWAG", "", weak=DRAINED)


@fam("clock", "node-ahead-oom node-behind-exit node-ahead-drain node-behind-delete-after-exit")
def clock(w, twin):
    skew = w.rng.randrange(40, 121) * (1 if "ahead" in twin else -1)
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; w.skew[nodes[0]] = skew
    j, _, t = gang(w, nodes=nodes, run=w.rng.randrange(1200, 3000)); v = j.pods[0]
    if twin == "node-ahead-oom": memcg_oom(w, t, v); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return j.name, T("code.host_oom", (), "LWAG", "")
    if twin == "node-behind-exit": w.log(t, v, TRACE + "ValueError: bad crop"); exit_pod(w, t, v, 1); j.fail(t + 1, v); return j.name, T(CODE, (), "LWAG", "")
    if twin == "node-ahead-drain": cordon(w, t - 2, BOB, nodes[0]); evict(w, t, BOB, v); j.fail(t + 2.6, v); return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED)
    # It raised; seconds later, and by the node's clock before that, somebody deletes the Job.
    w.log(t, v, TRACE + "ValueError: bad crop"); exit_pod(w, t, v, 1); j.fail(t + 1, v); w.api(t + 30, BOB, "delete", "Job", j.name, w.ns)
    for p in j.pods: w.api(t + 30.3, GC, "delete", "Pod", p.name, w.ns)
    return j.name, T(CODE, (), "WAG", "", weak=("unknown",), never=["bob@"])


@fam("job", "backoff-three policy-failjob policy-ignore-then-exit exec-kill completed-then-drained success-policy deleted-by-owner force-deleted impersonated dry-run-then-oom deletecollection gitops-prune job-of-script")
def jobs(w, twin):
    policy = {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]} if twin == "policy-failjob" else {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]} if twin == "policy-ignore-then-exit" else None
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 3000), backoff=3 if twin in ("backoff-three", "policy-failjob", "policy-ignore-then-exit") else 0, policy=policy, n=1 if twin.startswith(("backoff", "policy")) else 2)
    v = j.pods[0]
    right = T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",))
    if twin == "backoff-three":
        at, p = t, v
        for i in range(4):
            w.log(at, p, TRACE + "ValueError: bad crop"); exit_pod(w, at, p, 1)
            if i < 3: finalizer(w, at + 1, p); q = j.pod(at + 10 * 2**i, 0, nodes[0]); at, p = at + 10 * 2**i + 60, q
        j.fail(at + 1, p, rest=[]); return j.name, T(CODE, (), "LWAG", "")
    if twin == "policy-failjob":
        w.log(t, v, "FATAL invalid dataset version"); exit_pod(w, t, v, 42); j.fail(t + 1, v, "PodFailurePolicy", f"Container trainer for pod {w.ns}/{v.name} failed with exit code 42 matching FailJob rule at index 0", rest=[])
        return j.name, T(CODE + ("unknown",), (), "", "", weak=CODE)
    if twin == "policy-ignore-then-exit":
        cordon(w, t - 602, BOB, nodes[0]); evict(w, t - 600, BOB, v); nd = node(w, "gpu-n" + w.suffix(3)); q = j.pod(t - 590, 0, nd); steps(w, q, t - 580, t, every=30)
        for k in range(2):
            w.log(t + 100 * k, q, TRACE + "ValueError: bad crop"); exit_pod(w, t + 100 * k, q, 1)
            if k == 0: finalizer(w, t + 1, q); q = j.pod(t + 20, 0, nd)
        j.fail(t + 101, q, rest=[]); return j.name, T(CODE, (), "LWAG", "", also=DRAINED)
    if twin == "exec-kill":
        w.at(t, lambda: w.audit.append({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": uid_of(w.seed, "x"), "stage": "ResponseStarted", "requestURI": f"/api/v1/namespaces/{w.ns}/pods/{v.name}/exec?command=kill&command=-9&command=1&container=trainer&stderr=true&stdout=true", "verb": "create", "user": BOB[0], "sourceIPs": ["10.0.0.9"], "userAgent": BOB[1], "objectRef": {"resource": "pods", "namespace": w.ns, "name": v.name, "apiVersion": "v1", "subresource": "exec"}, "responseStatus": {"metadata": {}, "code": 101}, "requestReceivedTimestamp": w.ts(t, 6), "stageTimestamp": w.ts(t, 6)}))
        exit_pod(w, t + 0.4, v, 137); j.fail(t + 1, v); return j.name, T(DELETED + ("unknown",), (), "", "", weak=DELETED + ("code.host_oom", "code.exception"))
    if twin == "completed-then-drained":
        j.complete(t); cordon(w, t + 20, BOB, nodes[0]); w.api(t + 22, BOB, "create", "Pod", v.name, w.ns, sub="eviction"); return j.name, T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"))
    if twin == "success-policy":  # the leader succeeded, so the Job succeeds and deletes the others
        exit_pod(w, t, v, 0); finalizer(w, t + 0.5, v)
        w.condition(t + 1, JOBC, "Job", j.name, w.ns, "SuccessCriteriaMet", "True", "SuccessPolicy", "Matched rules at index 0"); delete_pod(w, t + 1.1, JOBC, j.pods[1]); w.condition(t + 5, JOBC, "Job", j.name, w.ns, "Complete", "True", "SuccessPolicy", "Matched rules at index 0", succeeded=1)
        w.event(t + 5, "job-controller", "Job", j.name, w.ns, "Completed", "Job completed"); return j.name, T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"))
    if twin == "deleted-by-owner": j.delete(t, ALICE); return j.name, T(DELETED, ["alice@"], "AM", "AM", weak=DELETED + ("unknown",))
    if twin == "force-deleted":
        w.api(t, BOB, "delete", "Pod", v.name, w.ns, grace=0, query="?gracePeriodSeconds=0"); finalizer(w, t + 0.1, v); w.at(t + 0.2, lambda: w.get("Pod", v.name, w.ns) and w._remove(("Pod", w.ns, v.name))); j.fail(t + 1, v); return j.name, right
    if twin == "impersonated":
        who = ({"username": "bob@lab.example", "groups": ["system:authenticated"]}, KUBECTL); delete_pod(w, t, who, v)
        w.at(t + 0.001, lambda: w.audit[-1].update(impersonatedUser={"username": "system:serviceaccount:ml-team:trainer"})); j.fail(t + 2.6, v); return j.name, T(DELETED, ["bob@", "ml-team:trainer"], "AM", "AM", weak=DELETED)
    if twin == "dry-run-then-oom":
        w.at(t - 30, lambda: w._do(BOB, "delete", "Pod", v.name, w.ns, fail=None, quiet=True) if False else w.audit.append({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": uid_of(w.seed, "dry"), "stage": "ResponseComplete", "requestURI": f"/api/v1/namespaces/{w.ns}/pods/{v.name}?dryRun=All", "verb": "delete", "user": BOB[0], "sourceIPs": ["10.0.0.9"], "userAgent": BOB[1], "objectRef": {"resource": "pods", "namespace": w.ns, "name": v.name, "apiVersion": "v1"}, "responseStatus": {"metadata": {}, "code": 200}, "requestObject": {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/__internal", "dryRun": ["All"]}, "requestReceivedTimestamp": w.ts(t - 30, 6), "stageTimestamp": w.ts(t - 30, 6)}))
        memcg_oom(w, t, v); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return j.name, T("code.host_oom", (), "LWAG", "")
    if twin == "deletecollection":
        w.at(t, lambda: w.audit.append({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": uid_of(w.seed, "coll"), "stage": "ResponseComplete", "requestURI": f"/api/v1/namespaces/{w.ns}/pods?labelSelector=job-name%3D{j.name}", "verb": "deletecollection", "user": BOB[0], "sourceIPs": ["10.0.0.9"], "userAgent": BOB[1], "objectRef": {"resource": "pods", "namespace": w.ns, "apiVersion": "v1"}, "responseStatus": {"metadata": {}, "code": 200}, "requestObject": {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/__internal"}, "requestReceivedTimestamp": w.ts(t, 6), "stageTimestamp": w.ts(t + 0.02, 6)}))
        for p in j.pods: w.api(t + 0.01, BOB, "delete", "Pod", p.name, w.ns, quiet=True); stop(w, t + 0.1, p)
        j.fail(t + 2.6, None, rest=[]); return j.name, right
    if twin == "gitops-prune":
        who = sa("argocd", "argocd-application-controller", "argocd-application-controller/v0.0.0 (linux/amd64) kubernetes/$Format"); j.delete(t, who); return j.name, T(DELETED + ("ops.config_change",), ["argocd"], "AM", "AM", weak=DELETED + ("unknown",), never=["garbage"])
    who = sa(w.ns, "cleanup-cron", "python-requests/2.32.3"); j.delete(t, who); return j.name, T(DELETED + ("ops.scale_down",), ["cleanup-cron"], "AM", "AM", weak=DELETED + ("unknown",), never=["garbage"])
