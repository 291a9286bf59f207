"""More new families: native sidecars, rules of restarts, refusals by policies, driver upgrades, hooks, suspension, Ray, Volcano, secrets, cron."""
from new1 import *
import new1

@fam("native", "done-then-killed crashes-then-drain startup-blocks image oom-loop-then-exit main-first")
def native(w, twin):
    spec = template(inits=("proxy",)); spec["initContainers"][0]["restartPolicy"] = "Always"; nd = node(w, "gpu-" + w.suffix(4)); j = Job(w, 0, run_name(w), [], spec=spec); p = j.pod(0.5, 0, nd, starts=False); p.start = 5; j.pods = [p]; bind(w, 1, p); f = "spec.initContainers{proxy}"
    w.at(2, lambda: set_state(w, 2, p, "trainer", {"waiting": {"reason": "PodInitializing"}}, phase="Pending"))
    side = lambda at, st, ok, n=0, last=None, ph="Running": w.at(at, lambda: set_state(w, at + 0.01, p, "proxy", st(at), ok, n, last, init=True, phase=ph))
    run = lambda at: {"running": {"startedAt": w.ts(at)}}
    if twin == "image":
        kl(w, 6, p, "Failed", 'Failed to pull image "registry.lab.example/proxy:2.1": rpc error: code = NotFound desc = failed to pull and unpack image "registry.lab.example/proxy:2.1": not found', warn=True, field=f, count=9, until=590); side(20, lambda at: {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "registry.lab.example/proxy:2.1": ErrImagePull: not found'}}, False, ph="Pending"); idle(w, 600); return j.name, T("dep.image_pull", (), "LEWA", "")
    if twin == "startup-blocks":
        for k in range(4):
            side(3 + 100 * k, run, False, k, None if not k else {"terminated": {"exitCode": 137, "reason": "Error", "startedAt": w.ts(3 + 100 * (k - 1)), "finishedAt": w.ts(95 + 100 * (k - 1))}}, "Pending"); kl(w, 40 + 100 * k, p, "Unhealthy", 'Startup probe failed: Get "http://10.2.3.4:8080/ready": dial tcp 10.2.3.4:8080: connect: connection refused', warn=True, count=5, until=90 + 100 * k, field=f); kl(w, 93 + 100 * k, p, "Killing", "Init container proxy failed startup probe, will be restarted", field=f)
        idle(w, 420); return j.name, T(("code.liveness_probe", "code.readiness_probe", "code.config_or_input", "unknown", "code.exception"), (), "", "", never_cause=["none.running"])
    side(3, run, True, ph="Pending"); w.at(5, lambda: start(w, 5, p)); t = w.rng.randrange(1500, 3000); steps(w, p, 10, t, every=30)
    if twin in ("done-then-killed", "main-first"):
        w.at(t, lambda: exit_pod(w, t + 0.1, p, 0)); w.at(t + 1, lambda: set_state(w, t + 1, p, "proxy", {"terminated": {"exitCode": 137 if twin == "done-then-killed" else 2, "reason": "Error", "startedAt": w.ts(3), "finishedAt": w.ts(t + 31)}}, init=True, phase="Succeeded")); kl(w, t + 0.5, p, "Killing", "Stopping container proxy", field=f)
        finalizer(w, t + 32, p); w.condition(t + 33, JOBC, "Job", j.name, j.ns, "Complete", "True", "CompletionsReached", "Reached expected number of succeeded pods", succeeded=1, completionTime=w.ts(t + 33)); w.event(t + 33, "job-controller", "Job", j.name, j.ns, "Completed", "Job completed"); return j.name, T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"))
    for k in range(5):
        code, reason = (137, "OOMKilled") if twin.startswith("oom") else (1, "Error"); at = t - 1000 + 180 * k
        if twin.startswith("oom"): w.at(at - 1, lambda at=at: memcg_oom(w, at, p, comm="proxy"))
        side(at + 12, run, True, k + 1, {"terminated": {"exitCode": code, "reason": reason, "startedAt": w.ts(at - 100), "finishedAt": w.ts(at)}}); kl(w, at + 1, p, "BackOff", f"Back-off restarting failed container proxy in pod {p.name}_{p.ns}({p.name})", warn=True, field=f)
    if twin == "oom-loop-then-exit": w.at(t - 0.5, lambda: None); raised(w, t, j, p, "KeyError: 'mask'"); return j.name, T(CODE, (), "LWAG", "", never_cause=["code.host_oom"])
    cordon(w, t - 2, BOB, nd); w.at(t - 1, lambda: evict(w, t, BOB, p)); j.fail(t + 2.6, p); return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED, never_cause=list(CODE))

@fam("restart-rules", "rule-then-exit rule-then-delete all-then-drain rule-runs")
def rules(w, twin):
    spec = template(); spec["containers"][0].update(restartPolicy="Never", restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]); j, nodes, t = gang(w, run=w.rng.randrange(1500, 3000), spec=spec); v, nd = j.pods[0], nodes[0]
    if twin == "all-then-drain":
        w.condition(t - 700, kubelet(nd), "Pod", v.name, v.ns, "AllContainersRestarting", "True", "ContainerExited", "Container trainer exited and triggered RestartAllContainers"); kl(w, t - 700, v, "Killing", "Stopping container trainer", field="spec.containers{trainer}"); restart(w, t - 699, v, 42, n=1, wait=5); w.condition(t - 690, kubelet(nd), "Pod", v.name, v.ns, "AllContainersRestarting", "False")
    else: w.log(t - 700, v, "rendezvous lost, exiting with 42 to be restarted in place"); restart(w, t - 700, v, 42, n=1, wait=5)
    steps(w, v, t - 690, t, every=20, start=900)
    if twin == "rule-then-exit": raised(w, t, j, v, "KeyError: 'mask'"); return j.name, T(CODE, (), "LWAG", "")
    if twin == "rule-then-delete": j.delete(t, CAROL); return j.name, T(DELETED, ["carol@"], "AM", "AM", weak=GONE)
    if twin == "rule-runs": idle(w, t); return j.name, T("none.running", (), "LWA", "", weak=("none.running",))
    cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v); return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED, never_cause=list(CODE))

@fam("refusals", "vap ns-terminating priority-missing runtimeclass vap-survived-then-oom quota-second-pod quota-after-drain")
def refusals(w, twin):
    if twin == "quota-after-drain":  # the drain ended it; in its place the Job may not make another
        j, nodes, t = gang(w, run=w.rng.randrange(1200, 3000), n=1, backoff=3); v = j.pods[0]; cordon(w, t - 2, BOB, nodes[0]); evict(w, t, BOB, v)
        for i in range(4): w.event(t + 12 + 40 * i, "job-controller", "Job", j.name, j.ns, "FailedCreate", f'Error creating: pods "{j.name}-0-" is forbidden: exceeded quota: team-gpu, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=64, limited: requests.nvidia.com/gpu=64', warn=True)
        idle(w, t + 200); return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED + ("sched.quota",), unseen=("sched.quota",), also=("sched.quota",))
    if twin == "ns-terminating":
        j, nodes, t = gang(w, run=w.rng.randrange(1200, 3000), n=1, backoff=3); v = j.pods[0]
        w.at(-0.3, lambda: w.objs.__setitem__(("Namespace", None, w.ns), {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": w.ns, "uid": uid_of(w.seed, "ns"), "creationTimestamp": w.ts(-90000), "finalizers": ["kubernetes"]}, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}))
        w.api(t, BOB, "delete", "Namespace", w.ns); w.at(t + 0.1, lambda: w.get("Namespace", w.ns)["status"].update(phase="Terminating")); finalizer(w, t + 0.3, v); w.api(t + 0.5, NSC, "delete", "Pod", v.name, w.ns); stop(w, t + 0.6, v)
        w.event(t + 4, "job-controller", "Job", j.name, j.ns, "FailedCreate", f'Error creating: pods "{j.name}-0-x" is forbidden: unable to create new content in namespace {w.ns} because it is being terminated', warn=True); idle(w, t + 20); return j.name, T(DELETED, ["bob@"], "AM", "AM", weak=GONE + ("code.config_or_input",), never=["namespace-controller"])
    j = Job(w, 0, run_name(w), [], size=2 if twin == "quota-second-pod" else 1); base = f"pods \"{j.name}-0-\" is forbidden: "
    m = {"vap": base + "ValidatingAdmissionPolicy 'gpu-jobs-need-team' with binding 'gpu-jobs-need-team' denied request: label team is required", "priority-missing": base + "no PriorityClass with name research-high was found", "runtimeclass": base + 'pod rejected: RuntimeClass "nvidia" not found', "vap-survived-then-oom": base + "ValidatingAdmissionPolicy 'gpu-jobs-need-team' with binding 'gpu-jobs-need-team' denied request: label team is required", "quota-second-pod": base + "exceeded quota: team-gpu, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=64, limited: requests.nvidia.com/gpu=64"}[twin]
    for i in range(5): w.event(1 + i * 60, "job-controller", "Job", j.name, j.ns, "FailedCreate", "Error creating: " + m, warn=True)
    if twin == "vap-survived-then-oom":
        nd = node(w, "gpu-" + w.suffix(4)); p = j.pod(400, 0, nd); j.pods = [p]; steps(w, p, 410, 3000, every=60); w.at(2999, lambda: memcg_oom(w, 3000, p)); exit_pod(w, 3000.1, p, 137, "OOMKilled"); j.fail(3001, p); return j.name, T("code.host_oom", (), "LWAG", "")
    if twin == "quota-second-pod":  # one of two workers got its place and waits for the other
        nd = node(w, "gpu-" + w.suffix(4)); p = j.pod(0.5, 0, nd); j.pods = [p]; w.log(12, p, "waiting for 1 more workers at rendezvous"); idle(w, 600); return j.name, T(("sched.quota",), (), "EW", "", weak=("hang.rendezvous", "none.running", "unknown"), unseen=("none.running", "hang.rendezvous"))
    idle(w, 600); return j.name, T(("code.config_or_input", "sched.unschedulable_constraint", "dep.control_plane"), (), "EW", "", weak=("unknown",))

@fam("driver-upgrade", "operator-deletes operator-drains after-exit")
def driver(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 3000)); v, nd = j.pods[0], nodes[0]
    lab = lambda at, s: w.api(at, GPUOP, "patch", "Node", nd, change=lambda o: o["metadata"]["labels"].update({"nvidia.com/gpu-driver-upgrade-state": s}), request={"metadata": {"labels": {"nvidia.com/gpu-driver-upgrade-state": s}}})
    up = lambda at: [lab(at + i, s) for i, s in enumerate(("upgrade-required", "cordon-required", "wait-for-jobs-required", "pod-deletion-required"))]
    if twin == "after-exit": raised(w, t, j, v); up(t + 20); cordon(w, t + 24, GPUOP, nd); idle(w, t + 90); return j.name, T(CODE, (), "LWAG", "", never=["upgrade"])
    up(t - 6); cordon(w, t - 4.5, GPUOP, nd); w.event(t - 1, "nvidia-gpu-operator", "Node", nd, None, "GPUDriverUpgrade", "Successfully updated node state label to [pod-deletion-required]")
    (delete_pod if twin == "operator-deletes" else lambda w, t, who, p: evict(w, t, who, p))(w, t, GPUOP, v); j.fail(t + 2.8, v); return j.name, T(("ops.node_upgrade",) + DRAINED + DELETED, ["upgrade"], "AM", "AM", weak=("ops.node_upgrade", "unknown") + DRAINED + DELETED)

@fam("hooks", "poststart-fails prestop-fails-deleted poststart-survived-then-exit")
def hooks(w, twin):
    if twin == "prestop-fails-deleted":
        j, nodes, t = gang(w, run=w.rng.randrange(1200, 3000)); v = j.pods[0]; w.api(t, BOB, "delete", "Pod", v.name, v.ns); kl(w, t + 0.1, v, "Killing", "Stopping container trainer"); kl(w, t + 2, v, "FailedPreStopHook", "PreStopHook failed", warn=True); stop(w, t + 0.2, v, code=137, took=30); j.fail(t + 31, v); return j.name, T(DELETED, ["bob@"], "AM", "AM", weak=GONE + ("code.exception",), never_cause=list(CODE))
    j, nodes, t = gang(w, run=60 if twin == "poststart-fails" else w.rng.randrange(1500, 3000), n=1, spec=template(restart="OnFailure")); v = j.pods[0]; f = "spec.containers{trainer}"
    def bad(at, n): kl(w, at, v, "FailedPostStartHook", "PostStartHook failed", warn=True, field=f); kl(w, at + 0.1, v, "Killing", "FailedPostStartHook", field=f); restart(w, at + 2, v, 137, n=n, wait=15)
    if twin == "poststart-fails":
        for k in range(4): bad(6 + 40 * k, k + 1)
        idle(w, 170); return j.name, T(("code.config_or_input", "code.exception", "unknown", "code.liveness_probe"), (), "", "", never_cause=["code.host_oom", "ops.manual_delete"])
    bad(6, 1); raised(w, t, j, v); return j.name, T(CODE, (), "LWAG", "")

@fam("resumed", "exit runs drain delete suspended-again completed")
def resumed(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1000, 2000)); sus = lambda at, who, x: w.api(at, who, "patch", "Job", j.name, j.ns, change=lambda o: o["spec"].update(suspend=x), request={"spec": {"suspend": x}})
    def down(at, who, ps):
        sus(at, who, True)
        for p in ps: delete_pod(w, at + 0.2, JOBC, p)
        w.condition(at + 3, JOBC, "Job", j.name, j.ns, "Suspended", "True", "JobSuspended", "Job suspended"); w.event(at + 3, "job-controller", "Job", j.name, j.ns, "Suspended", "Job suspended")
    down(t, BOB, j.pods); u = t + 600; sus(u, ALICE, False); w.condition(u + 0.2, JOBC, "Job", j.name, j.ns, "Suspended", "False", "JobResumed", "Job resumed"); w.event(u + 0.2, "job-controller", "Job", j.name, j.ns, "Resumed", "Job resumed")
    j.pods = [j.pod(u + 0.5, i, nd) for i, nd in enumerate(nodes)]; d = w.rng.randrange(400, 900)
    for i, p in enumerate(j.pods): steps(w, p, u + 10, u + d, every=30, rank=i)
    v = j.pods[1]; e = u + d
    if twin == "exit": raised(w, e, j, v); return j.name, T(CODE, (), "LWAG", "", never=["bob@"])
    if twin == "runs": idle(w, e); return j.name, T("none.running", (), "LWA", "", weak=("none.running",))
    if twin == "completed": j.complete(e); return j.name, T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"))
    if twin == "drain": cordon(w, e - 2, CAROL, nodes[1]); evict(w, e, CAROL, v); j.fail(e + 2.6, v); return j.name, T(DRAINED, ["carol@"], "AW", "AM", weak=DRAINED + DELETED, never=["bob@"])
    if twin == "delete": j.delete(e, CAROL); return j.name, T(DELETED, ["carol@"], "AM", "AM", weak=GONE, never=["bob@"])
    down(e, CAROL, j.pods); return j.name, T(DELETED + ("ops.config_change",), ["carol@"], "A", "A", weak=GONE + ("ops.config_change", "sched.kueue_preempted", "none.running"), never=["bob@", "job-controller"])

@fam("ray2", "retried-completes head-oom worker-lost-goes-on cluster-deleted")
def ray2(w, twin):
    name = run_name(w, "ray"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; d = w.rng.randrange(900, 2000)
    custom(w, 0, "RayJob", name, ALICE, {"entrypoint": "python train.py", "backoffLimit": 1 if twin.startswith("retried") else 0}, {"jobStatus": "RUNNING", "jobDeploymentStatus": "Running", "rayClusterName": name + "-a1"})
    def cluster(t, cl):
        custom(w, t + 0.2, "RayCluster", cl, KUBERAY, {}, {"state": "ready"}, of=("RayJob", name)); return [make_pod(w, t + 0.5, n, nodes[i], by=KUBERAY, of=("RayCluster", cl), labels={"ray.io/cluster": cl, "ray.io/node-type": ("head", "worker")[i > 0]}, spec=template(restart="Never", gpus=8 if i else 0), generate=False) for i, n in enumerate((f"{cl}-head-{w.suffix()}", f"{cl}-gpu-worker-{w.suffix()}"))]
    ps = cluster(0, name + "-a1"); st = lambda t, s, dep, msg="": phase(w, t, KUBERAY, "RayJob", name, jobStatus=s, jobDeploymentStatus=dep, message=msg, reason="AppFailed" if s == "FAILED" else ""); steps(w, ps[0], 10, d, every=60)
    if twin == "head-oom": memcg_oom(w, d, ps[0]); exit_pod(w, d + 0.1, ps[0], 137, "OOMKilled"); st(d + 5, "FAILED", "Failed", "Job supervisor actor died unexpectedly"); idle(w, d + 60); return name, T("code.host_oom", (), "LWAG", "", weak=("unknown",))
    if twin == "cluster-deleted":
        w.api(d, BOB, "delete", "RayCluster", name + "-a1", w.ns)
        for p in ps: w.api(d + 0.3, GC, "delete", "Pod", p.name, w.ns); stop(w, d + 0.4, p)
        st(d + 8, "FAILED", "Failed", "RayCluster not found"); return name, T(DELETED, ["bob@"], "AM", "AM", weak=GONE, never=["garbage", "kuberay"])
    if twin == "worker-lost-goes-on":
        not_ready(w, d + 45, nodes[1], [ps[1]]); taint_evict(w, d + 350, ps[1], lost=True); make_pod(w, d + 355, f"{name}-a1-gpu-worker-{w.suffix()}", nodes[2], by=KUBERAY, of=("RayCluster", name + "-a1"), labels={"ray.io/cluster": name + "-a1"}, spec=template(), generate=False); steps(w, ps[0], d, d + 900, every=60); idle(w, d + 900); return name, T(("none.running", "node.not_ready"), (), "", "", weak=("none.running", "node.not_ready", "unknown"))
    cordon(w, d - 2, BOB, nodes[1]); evict(w, d, BOB, ps[1]); w.log(d + 5, ps[0], TRACE + "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task."); st(d + 10, "FAILED", "Retrying", "Job entrypoint command failed with exit code 1"); w.api(d + 12, KUBERAY, "delete", "RayCluster", name + "-a1", w.ns); w.api(d + 12.4, GC, "delete", "Pod", ps[0].name, w.ns); stop(w, d + 12.5, ps[0])
    qs = cluster(d + 20, name + "-b2"); steps(w, qs[0], d + 30, d + 600, every=60); st(d + 20, "RUNNING", "Running"); st(d + 600, "SUCCEEDED", "Complete"); idle(w, d + 620); return name, T("none.completed", (), "LWA", "", weak=("none.completed", "none.running", "unknown") + DRAINED + DELETED, also=DRAINED + DELETED)

@fam("volcano2", "reclaimed gang-pending queue-closed-by-person restart-policy")
def volcano2(w, twin):
    name = run_name(w, "vc"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; custom(w, 0, "VolcanoJob", name, ALICE, {"minAvailable": 2, "queue": "team-a", "tasks": [{"name": "w", "replicas": 2}]}, {"state": {"phase": "Running" if twin != "gang-pending" else "Pending"}}); d = w.rng.randrange(1200, 2400); VS = sa("volcano-system", "volcano-scheduler", "vc-scheduler/v1.12.0")
    mk = lambda t, nd: [make_pod(w, t, f"{name}-w-{i}", nd[i], by=VCCTL, of=("VolcanoJob", name), labels={"volcano.sh/job-name": name}, generate=False) for i in range(2)]
    if twin == "gang-pending":
        ps = mk(0.5, [None, None]); custom(w, 0.4, "PodGroup", name + "-x", VCCTL, {"minMember": 2}, {"phase": "Inqueue", "conditions": [{"type": "Unschedulable", "status": "True", "reason": "NotEnoughResources", "message": "2/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable; Pending: 2 Unschedulable", "lastTransitionTime": w.ts(2)}]}, of=("VolcanoJob", name))
        for p in ps: w.event(2, "volcano", "Pod", p.name, p.ns, "FailedScheduling", "0/2 nodes are unavailable: 2 Insufficient nvidia.com/gpu.", warn=True, count=20, until=590); w.condition(2, VS, "Pod", p.name, p.ns, "PodScheduled", "False", "Unschedulable", "0/2 nodes are unavailable: 2 Insufficient nvidia.com/gpu.")
        idle(w, 600); return name, T(("sched.unschedulable_capacity",), (), "LEWA", "")
    ps = mk(0.5, nodes)
    for i, p in enumerate(ps): steps(w, p, 10, d, every=60, rank=i)
    if twin == "reclaimed":
        for p in ps: w.event(d, "volcano", "Pod", p.name, p.ns, "Evict", "Pod is evicted, because of reclaim", warn=True); w.condition(d, VS, "Pod", p.name, p.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "volcano: reclaimed"); delete_pod(w, d + 0.1, VS, p)
        phase(w, d + 4, VCCTL, "VolcanoJob", name, state={"phase": "Failed"}); return name, T(("sched.preempted",), ["volcano"], "AEW", "AE", weak=GONE)
    if twin == "queue-closed-by-person": raised_at = d; w.log(d, ps[0], TRACE + "ValueError: bad crop"); exit_pod(w, d, ps[0], 1); delete_pod(w, d + 1, VCCTL, ps[1]); phase(w, d + 5, VCCTL, "VolcanoJob", name, state={"phase": "Failed"}); w.api(d + 300, BOB, "delete", "VolcanoJob", name, w.ns); w.api(d + 300.3, GC, "delete", "Pod", ps[0].name, w.ns); return name, T(CODE, (), "WAG", "", weak=GONE, never=["bob@"])
    w.log(d, ps[0], TRACE + "ValueError: bad crop"); exit_pod(w, d, ps[0], 1); w.event(d + 0.5, "vc-controller-manager", "VolcanoJob", name, w.ns, "ExecuteAction", "Start to execute action RestartJob"); delete_pod(w, d + 1, VCCTL, ps[1]); w.api(d + 1.2, VCCTL, "delete", "Pod", ps[0].name, w.ns); phase(w, d + 4, VCCTL, "VolcanoJob", name, state={"phase": "Restarting"}, retryCount=1)
    w.at(d + 9, lambda: None); qs = mk(d + 10, nodes); [steps(w, p, d + 20, d + 700, every=60, rank=i) for i, p in enumerate(qs)]; phase(w, d + 20, VCCTL, "VolcanoJob", name, state={"phase": "Running"}); idle(w, d + 700); return name, T("none.running", (), "LWA", "", weak=("none.running", "unknown") + CODE + DELETED, also=CODE)

@fam("secret", "gone-in-the-place gone-at-start removed-then-exit")
def secret(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 2400), n=1, backoff=3); v = j.pods[0]; w.at(-0.2, lambda: w._do(ALICE, "create", "Secret", "s3-creds", w.ns, body={"metadata": {}, "data": {}}, quiet=True))
    def stuck(at): q = j.pod(at, 0, nodes[0], starts=False); q.start = at + 3; bind(w, at + 1, q); set_state(w, at + 2, q, "trainer", {"waiting": {"reason": "CreateContainerConfigError", "message": 'secret "s3-creds" not found'}}, phase="Pending"); kl(w, at + 2, q, "Failed", 'Error: secret "s3-creds" not found', warn=True, count=20, until=at + 280); idle(w, at + 300)
    w.api(t - 300, BOB, "delete", "Secret", "s3-creds", w.ns)
    if twin == "removed-then-exit": j.backoff = 0; raised(w, t, j, v); return j.name, T(CODE, (), "LWAG", "", never=["bob@"])
    if twin == "gone-in-the-place": w.log(t, v, TRACE + "ValueError: bad crop"); exit_pod(w, t, v, 1); finalizer(w, t + 1, v); stuck(t + 12); return j.name, T(CODE + ("dep.secret_or_config",), (), "LWAG", "", weak=("unknown",), never=["bob@"])
    cordon(w, t - 2, CAROL, nodes[0]); evict(w, t, CAROL, v); cordon(w, t + 5, CAROL, nodes[0], False); stuck(t + 12); return j.name, T(DRAINED + ("dep.secret_or_config",), (), "LEWA", "", weak=DRAINED + DELETED + ("unknown",))

@fam("healed", "npd-then-exit npd-then-drain ready-blip-then-oom xid-then-exit-hours gpu-condition-then-user-stop")
def healed(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(3600, 9000)); v, nd = j.pods[0], nodes[0]
    cond = lambda at, k, s, r, m: w.condition(at, sa("kube-system", "node-problem-detector"), "Node", nd, None, k, s, r, m)
    if twin.startswith("npd"): cond(t - 1800, "FrequentKubeletRestart", "True", "FrequentKubeletRestart", "Found 5 matching logs, which meets the threshold of 5"); w.event(t - 1800, "systemd-monitor", "Node", nd, None, "FrequentKubeletRestart", "Found 5 matching logs, which meets the threshold of 5", warn=True); cond(t - 900, "FrequentKubeletRestart", "False", "NoFrequentKubeletRestart", "kubelet is functioning properly")
    if twin == "gpu-condition-then-user-stop": cond(t - 1800, "GpuXidError", "True", "XidDetected", "Xid 63: ECC page retirement"); cond(t - 1500, "GpuXidError", "False", "NoXid", "No Xid"); j.delete(t, ALICE); return j.name, T(DELETED, ["alice@"], "AM", "AM", weak=GONE, never_cause=["hw.gpu", "hw.gpu_memory"])
    if twin == "xid-then-exit-hours": w.kernel(t - 3000, nd, "NVRM: Xid (PCI:0000:4e:00): 43, pid=99, name=python, Ch 00000010"); raised(w, t, j, v, "KeyError: 'mask'"); return j.name, T(CODE, (), "LWAG", "", never_cause=["hw.gpu"])
    if twin == "ready-blip-then-oom": not_ready(w, t - 700, nd, [v]); ready(w, t - 640, nd, True, "KubeletReady", "kubelet is posting ready status"); w.api(t - 639, NODEC, "patch", "Node", nd, change=lambda o: o["spec"].pop("taints", None), request={"spec": {"taints": None}}); w.condition(t - 638, kubelet(nd), "Pod", v.name, v.ns, "Ready", "True"); w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return j.name, T("code.host_oom", (), "LWAG", "", never_cause=["node.not_ready"])
    if twin == "npd-then-exit": raised(w, t, j, v, "KeyError: 'mask'"); return j.name, T(CODE, (), "LWAG", "", never_cause=["node.runtime"])
    cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v); return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED, never_cause=["node.runtime"])
