"""Machines that others look after: health checks, remediators, autoscalers, upgrades, reboots; taints with a time; janitors and schedulers of persons' programs."""

from f2 import *

DRAINO = sa("kube-system", "draino", "draino/v0.0.0 (linux/amd64) kubernetes/$Format")


def machine(w, nd, md="gpu-md-0"):
    m = f"{md}-{uid_of(w.seed, nd)[:5]}"
    w.at(-0.4, lambda: w.get("MachineDeployment", md, w.ns) or w._do(ALICE, "create", "MachineDeployment", md, w.ns, body={"metadata": {}, "spec": {"replicas": 2, "template": {"spec": {"version": "v1.34.1"}}}, "status": {}}))
    w.at(-0.3, lambda: w._do(CAPI, "create", "Machine", m, w.ns, body={"metadata": {"finalizers": ["machine.cluster.x-k8s.io"], "labels": {"cluster.x-k8s.io/deployment-name": md}}, "spec": {"clusterName": "prod"}, "status": {"nodeRef": {"kind": "Node", "name": nd}, "phase": "Running"}}))
    w.at(-0.2, lambda: w.objs[("Node", None, nd)]["metadata"]["annotations"].update({"cluster.x-k8s.io/machine": m, "cluster.x-k8s.io/owner-kind": "MachineSet", "cluster.x-k8s.io/cluster-name": "prod"}))
    return m


@fam("capi", "mhc-remediates person-deletes-machine rollout-by-person md-scaled-by-person mhc-after-exit person-deletes-after-exit mhc-other-machine")
def capi(w, twin):
    nodes = [node(w, f"md-{i}{w.suffix(3)}", who="none") for i in range(2)]; ms = [machine(w, n) for n in nodes]; j, _, t = gang(w, nodes=nodes, run=w.rng.randrange(1500, 3000)); v, nd = j.pods[0], nodes[0]
    def go(at, dead=False):
        cordon(w, at + 1, CAPI, nd); w.event(at + 1, "machine-controller", "Machine", ms[0], w.ns, "SuccessfulDrainNode", f"success draining Machine's node \"{nd}\"")
        if not dead: evict(w, at + 2, CAPI, v)
        else: w.api(at + 2, CAPI, "create", "Pod", v.name, v.ns, sub="eviction")
        w.api(at + 40, CAPI, "delete", "Node", nd); w.event(at + 41, "node-controller", "Node", nd, None, "RemovingNode", f"Node {nd} event: Removing Node {nd} from Controller")
    def mhc(at): w.event(at, "machinehealthcheck-controller", "Machine", ms[0], w.ns, "MachineMarkedUnhealthy", f"Machine {w.ns}/gpu-mhc/{ms[0]}/{nd} has been marked as unhealthy"); w.api(at + 0.5, CAPI, "patch", "Machine", ms[0], w.ns, sub="status", change=lambda o: w._condition(o, "HealthCheckSucceeded", "False", "UnhealthyNode", "Node condition Ready is Unknown for 5m0s")); w.api(at + 1, CAPI, "delete", "Machine", ms[0], w.ns)
    if twin == "mhc-remediates":
        not_ready(w, t + 45, nd, [v]); mhc(t + 345); go(t + 346, dead=True); w.condition(t + 400, PODGC, "Pod", v.name, v.ns, "DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"); finalizer(w, t + 400.5, v); w.api(t + 400.7, PODGC, "delete", "Pod", v.name, v.ns, grace=0); j.fail(t + 401, v, rest=[j.pods[1]]); return j.name, tlost(weak=("cloud.instance_terminated",) + DRAINED + DELETED)
    if twin == "mhc-other-machine": nd2 = node(w, "md-x" + w.suffix(3), who="none"); not_ready(w, t - 100, nd2); raised(w, t, j, v); return j.name, tcode()
    if twin == "mhc-after-exit": raised(w, t, j, v); not_ready(w, t + 60, nd, []); mhc(t + 360); return j.name, tcode(never_cause=["node.not_ready"])
    if twin == "person-deletes-after-exit": raised(w, t, j, v); w.api(t + 30, BOB, "delete", "Machine", ms[0], w.ns); go(t + 31, dead=True); return j.name, T(CODE, (), "WAG", "", weak=("unknown",), never=["bob@", "capi"])
    if twin == "person-deletes-machine": w.api(t, BOB, "delete", "Machine", ms[0], w.ns); go(t); j.fail(t + 4.6, v); return j.name, T(DRAINED + DELETED + SCALED, ["bob@", "capi"], "A", "AM", weak=DRAINED + DELETED + SCALED + ("unknown",))
    if twin == "md-scaled-by-person": w.api(t, BOB, "patch", "MachineDeployment", "gpu-md-0", w.ns, change=lambda o: o["spec"].update(replicas=1), request={"spec": {"replicas": 1}}); w.api(t + 0.5, CAPI, "delete", "Machine", ms[0], w.ns); go(t + 0.6); j.fail(t + 5.2, v); return j.name, T(DRAINED + DELETED + SCALED, ["bob@", "capi"], "A", "AM", weak=DRAINED + DELETED + SCALED + ("unknown",))
    w.api(t, BOB, "patch", "MachineDeployment", "gpu-md-0", w.ns, change=lambda o: o["spec"]["template"]["spec"].update(version="v1.35.0"), request={"spec": {"template": {"spec": {"version": "v1.35.0"}}}}); w.api(t + 60, CAPI, "delete", "Machine", ms[0], w.ns); go(t + 61); j.fail(t + 66, v); return j.name, T(DRAINED + SCALED + ("ops.node_upgrade", "ops.config_change"), ["bob@", "capi"], "A", "AM", weak=DRAINED + DELETED + SCALED + ("ops.node_upgrade", "unknown"))


@fam("remediate", "draino-on-condition draino-cond-healed-person-drains npd-cond-then-oom nvs-quarantine-waits-then-delete nvs-quarantine-then-completes nvs-manual-uncordon-then-exit nvs-drain-other-pods gpu-reset-while-idle nvs-drain")
def remediate(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 3000)); v, nd = j.pods[0], nodes[0]; NPD = sa("kube-system", "node-problem-detector"); NVS = sa("nvsentinel", "fault-quarantine"); NVD = sa("nvsentinel", "node-drainer")
    def cond(at, val=True, kind="KernelDeadlock", why="DockerHung"): w.condition(at, NPD, "Node", nd, None, kind, str(val), why if val else "KernelHasNoDeadlock", "kernel has a deadlock" if val else "kernel has no deadlock"); val and w.event(at, "kernel-monitor", "Node", nd, None, why, f"Node condition {kind} is now: True, reason: {why}", warn=True)
    if twin == "draino-on-condition":
        cond(t - 90); w.event(t - 3, "draino", "Node", nd, None, "CordonStarting", "Cordoning node", warn=True); cordon(w, t - 2, DRAINO, nd); w.event(t - 1, "draino", "Node", nd, None, "DrainStarting", "Draining node", warn=True); evict(w, t, DRAINO, v); w.event(t + 5, "draino", "Node", nd, None, "DrainSucceeded", "Drained node"); j.fail(t + 2.6, v); return j.name, T(DRAINED + ("node.kernel_panic", "node.runtime", "unknown"), ["draino"], "A", "AM", weak=DRAINED + DELETED + ("unknown",))
    if twin == "draino-cond-healed-person-drains": cond(t - 1500 if t > 1600 else t - 700); cond(t - 600, False); cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v); return j.name, tdrain()
    if twin == "npd-cond-then-oom": cond(t - 400, kind="FrequentKubeletRestart", why="FrequentKubeletRestart"); w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return j.name, toom()
    xid = lambda at, n=79: w.kernel(at, nd, f"NVRM: Xid (PCI:0000:4e:00): {n}, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.")
    def quarantine(at, state="quarantined"):
        w.api(at, NVS, "patch", "Node", nd, change=lambda o: (o["metadata"]["labels"].update({"dgxc.nvidia.com/nvsentinel-state": state, "k8saas.nvidia.com/cordon-by": "NVSentinel"}), o["metadata"]["annotations"].update({"quarantineHealthEvent": "{...}"})), request={"metadata": {"labels": {"dgxc.nvidia.com/nvsentinel-state": state}}}); cordon(w, at + 0.2, NVS, nd)
        w.condition(at - 1, sa("nvsentinel", "platform-connector"), "Node", nd, None, "GpuXidError", "True", "GpuXidErrorIsNotHealthy", "ErrorCode:XID_ERROR_79 GPU:3 Recommended Action=RESTART_VM;"); w.event(at - 1, "nvsentinel-platform-connector", "Node", nd, None, "GpuXidErrorIsNotHealthy", "ErrorCode:63 PCI:0000:4e:00 Recommended Action=NONE;", warn=True)
    if twin == "nvs-drain": xid(t - 20); quarantine(t - 12); w.api(t - 2, NVD, "patch", "Node", nd, change=lambda o: o["metadata"]["labels"].update({"dgxc.nvidia.com/nvsentinel-state": "draining"})); evict(w, t, NVD, v); j.fail(t + 2.6, v); return j.name, T(("hw.gpu",) + DRAINED, (), "AG", "", weak=DRAINED + DELETED + ("hw.gpu", "unknown"))
    if twin == "nvs-quarantine-waits-then-delete": quarantine(t - 600); steps(w, v, t - 590, t, every=20, start=5000); j.delete(t, BOB); return j.name, tdel(weak=DRAINED + ("hw.gpu",), never_cause=["hw.gpu"])
    if twin == "nvs-quarantine-then-completes": quarantine(t - 600); steps(w, v, t - 590, t, every=20, start=5000); j.complete(t); return j.name, tdone(never_cause=["hw.gpu"])
    if twin == "nvs-manual-uncordon-then-exit": quarantine(t - 900); w.api(t - 700, BOB, "patch", "Node", nd, change=lambda o: o["metadata"]["labels"].pop("dgxc.nvidia.com/nvsentinel-state", None), request={"metadata": {"labels": None}}); cordon(w, t - 699, BOB, nd, False); steps(w, v, t - 690, t, every=20, start=5000); raised(w, t, j, v); return j.name, tcode(never=["bob@"], never_cause=["hw.gpu"])
    if twin == "nvs-drain-other-pods":  # it evicts all but this one (an ignored namespace); this one ends by itself later
        o = make_pod(w, 2, "notebook-" + w.suffix(4), nd, by=CAROL, generate=False); quarantine(t - 300); evict(w, t - 290, NVD, o); steps(w, v, t - 285, t, every=20, start=5000); raised(w, t, j, v); return j.name, tcode(never_cause=["hw.gpu"] + list(DRAINED))
    n = node(w, "gpu-idle" + w.suffix(3)); w.kernel(t - 30, n, "NVRM: Xid (PCI:0000:4e:00): 79, pid=1, name=x, GPU has fallen off the bus."); raised(w, t, j, v); return j.name, tcode(never_cause=["hw.gpu"])


@fam("spot2", "itn-then-user-deletes itn-other-node-then-exit itn-saved-exit0 rebalance-drained itn-then-oom itn-lost-no-drain azure-preempt gke-kubelet-shutdown itn-cancelled-then-exit")
def spot2(w, twin):
    nodes = [node(w, f"ip-10-0-{i}-{w.rng.randrange(250)}.ec2.internal", who="aws", labels={"eks.amazonaws.com/capacityType": "SPOT"}) for i in range(2)]; j, _, t = gang(w, nodes=nodes, run=w.rng.randrange(1500, 3000), spec=template(grace=60)); v, nd = j.pods[0], nodes[0]; NTH = sa("kube-system", "aws-node-termination-handler", "aws-node-termination-handler/v1.25.0")
    itn = lambda at, n=nd: w.event(at, "aws-node-termination-handler", "Node", n, None, "SpotInterruption", f"Spot ITN received. Instance will be interrupted at {w.ts(at + 120)} \n", warn=True)
    if twin == "itn-then-user-deletes": itn(t - 30); j.delete(t, ALICE); return j.name, T(DELETED, ["alice@"], "AM", "AM", weak=GONE + ("cloud.spot_reclaimed",), unseen=("cloud.spot_reclaimed",))
    if twin == "itn-other-node-then-exit": n = node(w, "ip-10-9-9-9.ec2.internal", who="aws"); itn(t - 20, n); raised(w, t, j, v); return j.name, tcode(never_cause=["cloud.spot_reclaimed"])
    if twin == "itn-saved-exit0":
        itn(t - 3); cordon(w, t - 2, NTH, nd); w.api(t, NTH, "create", "Pod", v.name, v.ns, sub="eviction"); grace_end(w, t + 0.1, v, nd, 0, SAVES["saved0"][0]); j.fail(t + 7, None, rest=[j.pods[1]]); return j.name, T("cloud.spot_reclaimed", (), "EW", "", weak=DRAINED + GONE, unseen=DRAINED, also=DRAINED, never_cause=OK_DONE)
    if twin == "rebalance-drained": w.event(t - 3, "aws-node-termination-handler", "Node", nd, None, "RebalanceRecommendation", "Rebalance recommendation received. Instance will be cordoned at " + w.ts(t - 2) + " \n"); cordon(w, t - 2, NTH, nd); evict(w, t, NTH, v); j.fail(t + 2.6, v); return j.name, T(DRAINED + ("cloud.spot_reclaimed",), ["termination-handler"], "AW", "AM", weak=DRAINED + DELETED + ("cloud.spot_reclaimed", "unknown"))
    if twin == "itn-then-oom": itn(t - 30); cordon(w, t - 29, NTH, nd); w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return j.name, toom(weak=("cloud.spot_reclaimed",))
    if twin == "itn-lost-no-drain": w.at(t - 120, lambda: None); itn(t - 119); lost_pod(w, t, nd, v, evicted=False); w.event(t + 60, "cloud-node-lifecycle-controller", "Node", nd, None, "DeletingNode", f"Deleting node {nd} because it does not exist in the cloud provider"); delete_node(w, t + 60.2, sa("kube-system", "cloud-node-lifecycle-controller"), nd); w.condition(t + 100, PODGC, "Pod", v.name, v.ns, "DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"); finalizer(w, t + 100.2, v); w.api(t + 100.5, PODGC, "delete", "Pod", v.name, v.ns, grace=0); j.fail(t + 101, v); return j.name, T(("cloud.spot_reclaimed", "cloud.instance_terminated", "node.not_ready"), (), "EWA", "", weak=("node.not_ready", "cloud.instance_terminated", "unknown") + DELETED)
    if twin == "azure-preempt": w.condition(t - 30, sa("kube-system", "node-problem-detector"), "Node", nd, None, "VMEventScheduled", "True", "PreemptScheduled", "Preempt Scheduled: " + w.ts(t) ); w.event(t - 30, "custom-maintenance-plugin", "Node", nd, None, "PreemptScheduled", "Preempt Scheduled", warn=True); lost_pod(w, t, nd, v, evicted=False); w.event(t + 60, "cloud-node-lifecycle-controller", "Node", nd, None, "DeletingNode", f"Deleting node {nd} because it does not exist in the cloud provider"); delete_node(w, t + 60.2, sa("kube-system", "cloud-node-lifecycle-controller"), nd); w.condition(t + 100, PODGC, "Pod", v.name, v.ns, "DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"); finalizer(w, t + 100.2, v); w.api(t + 100.5, PODGC, "delete", "Pod", v.name, v.ns, grace=0); j.fail(t + 101, v); return j.name, T(("cloud.spot_reclaimed", "cloud.instance_terminated", "node.not_ready", "ops.host_maintenance"), (), "EWA", "", weak=("node.not_ready", "cloud.instance_terminated", "unknown") + DELETED)
    if twin == "gke-kubelet-shutdown":
        w.event(t - 1, "kubelet", "Node", nd, None, "Shutdown", "Shutdown manager detected shutdown event", host=nd); w.condition(t, kubelet(nd), "Pod", v.name, v.ns, "DisruptionTarget", "True", "TerminationByKubelet", "Pod was terminated in response to imminent node shutdown."); w.log(t + 0.1, v, SAVES["saved0"][0][0]); exit_pod(w, t + 5, v, 0, why="Terminated", why_message="Pod was terminated in response to imminent node shutdown."); w.at(t + 5.5, lambda: w.get("Pod", v.name, v.ns)["status"].update(phase="Failed")); j.fail(t + 6, v); return j.name, T(("node.shutdown", "cloud.spot_reclaimed", "node.reboot"), (), "LEWA", "", weak=("unknown",), never_cause=OK_DONE)
    itn(t - 900); cordon(w, t - 899, NTH, nd); cordon(w, t - 700, NTH, nd, False); raised(w, t, j, v); return j.name, tcode(never_cause=["cloud.spot_reclaimed"] + list(DRAINED))


@fam("taint-time", "tolerated-seconds removed-in-time-then-exit out-of-service cancelled-then-oom tolerated-forever-then-exit added-by-person-with-other taint-on-other-node")
def taint_time(w, twin):
    tol = [{"key": "maintenance", "operator": "Exists", "effect": "NoExecute"} | ({} if "forever" in twin else {"tolerationSeconds": 600})]; j, nodes, t = gang(w, run=w.rng.randrange(1800, 3000), spec=template(tolerations=tol)); v, nd = j.pods[0], nodes[0]
    untaint = lambda at, who: w.api(at, who, "patch", "Node", nd, change=lambda o: o["spec"].pop("taints", None), request={"spec": {"taints": None}})
    if twin == "tolerated-seconds": taint(w, t - 600, BOB, nd, "maintenance", "NoExecute", "rack7"); w.at(t - 1, lambda: None); taint_evict(w, t, v); j.fail(t + 2.8, v); return j.name, T(DRAINED, ["bob@"], "AW", "A", weak=DRAINED + DELETED + ("node.not_ready", "unknown"))
    if twin in ("removed-in-time-then-exit", "cancelled-then-oom"):
        taint(w, t - 600, BOB, nd, "maintenance", "NoExecute", "rack7"); untaint(t - 100, BOB); w.event(t - 99.8, "taint-eviction-controller", "Pod", v.name, v.ns, "TaintManagerEviction", f"Cancelling deletion of Pod {v.ns}/{v.name}", uid=False)
        if twin.startswith("cancelled"): w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return j.name, toom(never=["bob@"])
        raised(w, t, j, v); return j.name, tcode(never=["bob@"], never_cause=list(DRAINED))
    if twin == "out-of-service":  # the machine is dead; a person says so, and the pods are given up at once
        not_ready(w, t + 45, nd, [v]); w.at(t + 150, lambda: None); taint(w, t + 150, BOB, nd, "node.kubernetes.io/out-of-service", "NoExecute", "nodeshutdown"); taint_evict(w, t + 150.2, v, lost=True); w.at(t + 170, lambda: w.get("Pod", v.name, v.ns) and w.get("Pod", v.name, v.ns)["status"].update(phase="Failed")); finalizer(w, t + 170.2, v); w.api(t + 170.5, PODGC, "delete", "Pod", v.name, v.ns, grace=0); j.fail(t + 171, v, rest=[j.pods[1]]); return j.name, tlost(never=["bob@"], never_cause=list(DRAINED + DELETED))
    if twin == "tolerated-forever-then-exit": taint(w, t - 300, BOB, nd, "maintenance", "NoExecute", "rack7"); raised(w, t, j, v); return j.name, tcode(never=["bob@"], never_cause=list(DRAINED))
    if twin == "taint-on-other-node": n = node(w, "gpu-o" + w.suffix(3)); taint(w, t - 3, BOB, n, "maintenance", "NoExecute", "rack7"); raised(w, t, j, v); return j.name, tcode(never=["bob@"])
    taint(w, t - 900, CAROL, nd, "team", "NoSchedule", "vision"); taint(w, t - 0.3, BOB, nd, "rack-move", "NoExecute"); taint_evict(w, t, v); j.fail(t + 2.8, v); return j.name, T(DRAINED, ["bob@"], "AW", "A", weak=DRAINED + DELETED + ("node.not_ready", "unknown"), never=["carol@"])


JAN = {"kyverno": sa("kyverno", "kyverno-cleanup-controller", "kyverno/v1.15"), "janitor": sa("kube-system", "kube-janitor", "python-requests/2.32"), "airflow": sa("airflow", "airflow-worker", "OpenAPI-Generator/31.0.0/python"), "flyte": sa("flyte", "flytepropeller", "flytepropeller/v0.0.0 (linux/amd64) kubernetes/$Format"), "terraform": person("ci-deployer@lab.example", "HashiCorp/1.0 Terraform/1.9.8"), "flux": sa("flux-system", "kustomize-controller", "kustomize-controller/v0.0.0"), "culler": sa("kubeflow", "notebook-controller-service-account", "manager/v0.0.0"), "dagster": sa("dagster", "dagster-user-code", "OpenAPI-Generator/31.0.0/python"), "alice": ALICE}


@fam("janitors", " ".join(f"{k}+{m}" for k in JAN for m in ("deletes", "after-exit", "after-oom", "after-done")))
def janitors(w, twin):
    """A program that clears away runs: while they run, or after they ended by themselves."""
    k, m = twin.split("+"); who = JAN[k]; name = run_name(w); t = w.rng.randrange(1500, 3000); bare = k in ("airflow", "flyte", "dagster", "kyverno")
    if bare: nd = node(w, "gpu-" + w.suffix(4)); v = make_pod(w, 0.5, name, nd, by=who if k != "kyverno" else ALICE, labels={"app": name} | ({"airflow_version": "2.10.4", "dag_id": "train", "task_id": "fit"} if k == "airflow" else {}), generate=False); steps(w, v, 8, t, every=30); j = None
    else: j, nodes, t = gang(w, run=t, n=1); v = j.pods[0]; name = j.name
    if m == "deletes":
        if j: j.delete(t, who)
        else: delete_pod(w, t, who, v)
        idle(w, t + 20); return name, T(DELETED, [who[0]["username"].rsplit(":", 1)[-1].split("@")[0]], "AM", "AM", weak=GONE, never=["garbage"])
    if m == "after-exit": raise_(w, t, v)
    if m == "after-oom": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled")
    if m == "after-done": w.log(t, v, "INFO training finished"); exit_pod(w, t, v, 0)
    gap = w.rng.choice([1.2, 4, 25])
    if j:
        if m == "after-done": j.complete(t) if False else (finalizer(w, t + 0.6, v), w.condition(t + 0.9, JOBC, "Job", j.name, j.ns, "Complete", "True", "CompletionsReached", "Reached expected number of succeeded pods", succeeded=1), w.event(t + 0.95, "job-controller", "Job", j.name, j.ns, "Completed", "Job completed"))
        else: j.fail(t + 0.6, v)
        w.api(t + gap + 1, who, "delete", "Job", j.name, w.ns); w.at(t + gap + 1.3, lambda: w.get("Pod", v.name, v.ns) and w._do(GC, "delete", "Pod", v.name, v.ns))
    else: w.api(t + gap, who, "delete", "Pod", v.name, v.ns)
    idle(w, t + gap + 10); r = {"after-exit": lambda: T(CODE, (), "WAG", ""), "after-oom": lambda: T("code.host_oom", (), "WAG", ""), "after-done": lambda: T(OK_DONE, (), "WA", "")}[m](); r.weak = GONE + CODE + ("code.host_oom",); r.never = (who[0]["username"].rsplit(":", 1)[-1],); r.never_cause = DELETED; return name, r


@fam("reboot2", "in-place-goes-on never-fails person-cordons-reboots aks-reimage-same-name reboot-other-node shutdown-during-drain kubelet-admission-after")
def reboot2(w, twin):
    keep = twin in ("in-place-goes-on",); j, nodes, t = gang(w, run=w.rng.randrange(1500, 3000), spec=template(restart="OnFailure" if keep else "Never"), backoff=6 if keep else 0); v, nd = j.pods[0], nodes[0]
    def boot(at, n=nd, ps=()):
        w.event(at, "kubelet", "Node", n, None, "Starting", "Starting kubelet.", host=n); w.api(at, kubelet(n), "patch", "Node", n, sub="status", change=lambda o: o["status"]["nodeInfo"].update(bootID=uid_of(w.seed, "boot2", n))); w.event(at + 0.5, "kubelet", "Node", n, None, "Rebooted", f"Node {n} has been rebooted, boot id: {uid_of(w.seed, 'boot2', n)}", warn=True, host=n)
    if twin == "reboot-other-node": n = node(w, "gpu-o" + w.suffix(3)); boot(t - 10, n); raised(w, t, j, v); return j.name, tcode(never_cause=["node.reboot"])
    if twin == "in-place-goes-on":
        boot(t + 90); last = {"terminated": {"exitCode": 255, "reason": "Unknown", "startedAt": w.ts(3), "finishedAt": w.ts(t + 92)}}; w.at(t + 94, lambda: start(w, t + 94, v, 1, last)); o = j.pods[1]; w.log(t + 30, o, TRACE + "torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error"); restart(w, t + 31, o, 1, n=1, wait=70); [steps(w, p, t + 110, t + 900, every=30, rank=i, start=4000) for i, p in enumerate(j.pods)]; idle(w, t + 900); return j.name, truns(also=("node.reboot",), weak=("node.reboot",))
    if twin == "shutdown-during-drain":  # bob drains; while the pod is ending, the machine goes down
        cordon(w, t - 2, BOB, nd); w.api(t, BOB, "create", "Pod", v.name, v.ns, sub="eviction"); kl(w, t + 0.2, v, "Killing", "Stopping container trainer", field="spec.containers{trainer}"); w.event(t + 8, "kubelet", "Node", nd, None, "Shutdown", "Shutdown manager detected shutdown event", host=nd); set_state(w, t + 10, v, "trainer", ended(w, v, t + 10, 137), phase="Failed"); finalizer(w, t + 10.2, v); w.at(t + 10.5, lambda: w.get("Pod", v.name, v.ns) and w._do(kubelet(nd), "delete", "Pod", v.name, v.ns, grace=0)); j.fail(t + 11, None, rest=[j.pods[1]]); return j.name, tdrain(weak=("node.shutdown",), never_cause=["node.shutdown"])
    if twin == "person-cordons-reboots": cordon(w, t - 20, BOB, nd); w.kernel(t, nd, "The system will reboot now!", unit="systemd-logind[901]")
    w.at(t + 1, lambda: None); boot(t + 90)
    if twin == "aks-reimage-same-name": w.api(t + 90.2, kubelet(nd), "patch", "Node", nd, sub="status", change=lambda o: o["status"]["nodeInfo"].update(machineID=uid_of("m2", w.seed).replace("-", "")))
    if twin == "kubelet-admission-after":
        kl(w, t + 93, v, "UnexpectedAdmissionError", "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected", warn=True); w.condition(t + 93.2, kubelet(nd), "Pod", v.name, v.ns, "Ready", "False", "PodFailed", "", phase="Failed", reason="UnexpectedAdmissionError", message="Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected"); j.fail(t + 95, v); return j.name, T(("node.reboot", "hw.gpu", "node.driver"), (), "EW", "", weak=("node.reboot", "hw.gpu", "node.driver", "unknown", "sched.unschedulable_capacity"))
    set_state(w, t + 93, v, "trainer", {"terminated": {"exitCode": 255, "reason": "Unknown", "startedAt": w.ts(3), "finishedAt": w.ts(t + 92)}}, phase="Failed"); j.fail(t + 95, v); return j.name, T(("node.reboot", "node.shutdown", "ops.host_maintenance"), (), "EW", "", weak=("node.reboot", "node.runtime", "unknown", "node.not_ready") + CODE)


@fam("gpuop2", "policy-by-person drain-required done-before-then-exit wait-for-jobs-completes plugin-restart-then-exit mig-reconfig-drain-evicts failed-upgrade-then-delete")
def gpuop2(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 3000)); v, nd = j.pods[0], nodes[0]; K = "nvidia.com/gpu-driver-upgrade-state"
    lab = lambda at, s, who=GPUOP, k=K: w.api(at, who, "patch", "Node", nd, change=lambda o: o["metadata"]["labels"].update({k: s}), request={"metadata": {"labels": {k: s}}})
    ann = lambda at: w.api(at, GPUOP, "patch", "Node", nd, change=lambda o: o["metadata"]["annotations"].update({"nvidia.com/gpu-driver-upgrade-drain.pods": v.name}), request={"metadata": {"annotations": {"nvidia.com/gpu-driver-upgrade-drain.pods": v.name}}})
    up = lambda at, states: [lab(at + i, s) for i, s in enumerate(states)]
    if twin in ("policy-by-person", "drain-required"):
        if twin == "policy-by-person": custom(w, -0.4, "ClusterPolicy", "cluster-policy", ALICE, {"driver": {"version": "570.86"}}); w.api(t - 120, BOB, "patch", "ClusterPolicy", "cluster-policy", change=lambda o: o["spec"]["driver"].update(version="580.65"), request={"spec": {"driver": {"version": "580.65"}}})
        up(t - 8, ("upgrade-required", "cordon-required", "wait-for-jobs-required", "drain-required")); cordon(w, t - 6, GPUOP, nd); ann(t - 4); w.event(t - 4, "nvidia-gpu-operator", "Node", nd, None, "GPUDriverUpgrade", "Successfully updated node state label to [drain-required]"); evict(w, t, GPUOP, v); j.fail(t + 2.6, v); return j.name, T(("ops.node_upgrade", "ops.config_change") + DRAINED + DELETED, ["upgrade", "bob@"], "AM", "AM", weak=("ops.node_upgrade", "unknown") + DRAINED + DELETED)
    if twin == "done-before-then-exit": w.at(-0.2, lambda: w.objs[("Node", None, nd)]["metadata"]["labels"].update({K: "upgrade-done"})); w.event(30, "nvidia-gpu-operator", "Node", nd, None, "GPUDriverUpgrade", "Successfully updated node state label to [upgrade-done]"); raised(w, t, j, v); return j.name, tcode(never_cause=["ops.node_upgrade", "node.driver"])
    if twin == "wait-for-jobs-completes": up(t - 800, ("upgrade-required", "cordon-required", "wait-for-jobs-required")); cordon(w, t - 798, GPUOP, nd); j.complete(t); lab(t + 10, "pod-deletion-required"); lab(t + 12, "drain-required"); return j.name, tdone(never_cause=["ops.node_upgrade"] + list(DRAINED))
    if twin == "plugin-restart-then-exit":
        def ch(n): return lambda o: (o["status"]["allocatable"].update({"nvidia.com/gpu": n}), o["status"]["capacity"].update({"nvidia.com/gpu": n}))
        d = make_pod(w, 2, "nvidia-device-plugin-" + w.suffix(5), nd, by=ALICE, generate=False, spec=template(gpus=0)); delete_pod(w, t - 300, BOB, d); w.api(t - 298, kubelet(nd), "patch", "Node", nd, sub="status", change=ch("0")); w.api(t - 280, kubelet(nd), "patch", "Node", nd, sub="status", change=ch("8")); steps(w, v, t - 290, t, every=20, start=4000); raised(w, t, j, v); return j.name, tcode(never=["bob@"], never_cause=["hw.gpu", "node.driver"])
    if twin == "mig-reconfig-drain-evicts": lab(t - 10, "all-1g.10gb", BOB, "nvidia.com/mig.config"); MIG = sa("gpu-operator", "nvidia-mig-manager", "kubectl/v1.34.1 (linux/amd64) kubernetes/93248f9"); lab(t - 2, "pending", MIG, "nvidia.com/mig.config.state"); delete_pod(w, t, MIG, v); j.fail(t + 2.6, v); return j.name, T(DELETED + DRAINED + ("ops.config_change", "ops.node_upgrade"), ["bob@", "mig-manager"], "A", "AM", weak=GONE + DRAINED)
    up(t - 600, ("upgrade-required", "cordon-required", "wait-for-jobs-required", "upgrade-failed")); w.event(t - 590, "nvidia-gpu-operator", "Node", nd, None, "GPUDriverUpgrade", "Failed to upgrade", warn=True); cordon(w, t - 598, GPUOP, nd); j.delete(t, CAROL); return j.name, tdel("carol@", never_cause=["ops.node_upgrade"] + list(DRAINED))
