"""What stays after the end, schedulers and kubelets, clean-up scripts, agents that start their workers again, operators' suspension, silence and hangs."""

from f4 import *


def pt_suspend(w, at, who, name, ps, kueue=None):
    """A PyTorchJob is suspended by its field; the operator deletes the pods."""
    w.api(at, who, "patch", "PyTorchJob", name, w.ns, change=lambda o: o["spec"]["runPolicy"].update(suspend=True), request={"spec": {"runPolicy": {"suspend": True}}})
    for p in ps: delete_pod(w, at + 0.3, TRAINOP, p); w.event(at + 0.4, "pytorchjob-controller", "PyTorchJob", name, w.ns, "SuccessfulDeletePod", f"Deleted pod: {p.name}")
    w.condition(at + 0.5, TRAINOP, "PyTorchJob", name, w.ns, "Suspended", "True", "PyTorchJobSuspended", f"PyTorchJob {name} is suspended."); w.condition(at + 0.5, TRAINOP, "PyTorchJob", name, w.ns, "Running", "False", "PyTorchJobSuspended", f"PyTorchJob {name} is suspended."); w.event(at + 0.5, "pytorchjob-controller", "PyTorchJob", name, w.ns, "PyTorchJobSuspended", f"PyTorchJob {name} is suspended.")


@fam("stays", "pt-worker-fails-none pt-master-done-none mpi-done-none mpi-fails-none pt-oom-none workflow-failed-other-runs pt-deadline jobset-failed-slow pt-master-fails-then-deleted volcano-completed-ps")
def stays(w, twin):
    """cleanPodPolicy None: the operator says how it ended and leaves the others running."""
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; t = w.rng.randrange(1500, 2600)
    if twin.startswith("pt"):
        name, ps = pytorch(w, 3, nodes, clean="None", run=t); m, a, b = ps; hang = lambda: [w.log(t + 600, p, f"[rank{ps.index(p)}]:[E1005 10:00:00.0 ProcessGroupNCCL.cpp:632] [Rank {ps.index(p)}] still waiting for WorkNCCL(SeqNum=981, OpType=ALLREDUCE)") for p in ps if p is not a] if False else None
        if twin == "pt-worker-fails-none": raise_(w, t, a); pt_failed(w, t + 1, name); idle(w, t + 900); r = tcode(never_cause=OK_RUN); r.first = [a.name]; return name, r
        if twin == "pt-oom-none": w.at(t - 1, lambda: memcg_oom(w, t, a)); exit_pod(w, t + 0.1, a, 137, "OOMKilled"); pt_failed(w, t + 1, name); idle(w, t + 900); r = toom(never_cause=OK_RUN); r.first = [a.name]; return name, r
        if twin == "pt-master-done-none": w.log(t, m, "INFO training finished"); exit_pod(w, t, m, 0); pt_succeeded(w, t + 1, name); idle(w, t + 900); return name, tdone(never_cause=OK_RUN)
        if twin == "pt-deadline": msg = f"PyTorchJob {name} has failed because it was active longer than specified deadline"; w.condition(t, TRAINOP, "PyTorchJob", name, w.ns, "Failed", "True", "PyTorchJobFailed", msg); w.event(t, "pytorchjob-controller", "PyTorchJob", name, w.ns, "PyTorchJobFailed", msg, warn=True); [delete_pod(w, t + 0.3, TRAINOP, p) for p in ps]; return name, T("code.deadline", (), "LEWA", "", weak=DELETED + ("unknown",))
        raise_(w, t, m); pt_failed(w, t + 1, name, why="Master"); tj_delete(w, t + 300, BOB, "PyTorchJob", name, [a, b]); w.at(t + 300.4, lambda: w.get("Pod", m.name, w.ns) and w._do(GC, "delete", "Pod", m.name, w.ns)); r = T(CODE, (), "WAG", "", weak=GONE, never=["bob@"], never_cause=DELETED); return name, r
    if twin.startswith("mpi"):
        name = run_name(w, "mpi"); custom(w, 0, "MPIJob", name, ALICE, {"slotsPerWorker": 8, "runPolicy": {"cleanPodPolicy": "None"}, "mpiReplicaSpecs": {}}, {}); lab = {"training.kubeflow.org/job-name": name}
        ws = [make_pod(w, 0.5, f"{name}-worker-{i}", nodes[i], by=MPIOP, of=("MPIJob", name), labels=lab | {"training.kubeflow.org/job-role": "worker"}, generate=False) for i in range(2)]; j = Job(w, 4, f"{name}-launcher", [nodes[2]], by=MPIOP, of=("MPIJob", name), labels=lab | {"training.kubeflow.org/job-role": "launcher"}, spec=template(gpus=0)); l = j.pods[0]; steps(w, l, 14, t, every=60)
        if twin == "mpi-done-none": w.at(t - 1, lambda: j.complete(t)); w.condition(t + 2, MPIOP, "MPIJob", name, w.ns, "Succeeded", "True", "MPIJobSucceeded", f"MPIJob {w.ns}/{name} successfully completed."); w.event(t + 2, "mpi-job-controller", "MPIJob", name, w.ns, "MPIJobSucceeded", f"MPIJob {w.ns}/{name} successfully completed."); idle(w, t + 900); return name, tdone(never_cause=OK_RUN)
        raise_(w, t, l, "KeyError: 'lr'"); j.fail(t + 1, l); w.condition(t + 2, MPIOP, "MPIJob", name, w.ns, "Failed", "True", "MPIJobFailed", "Job has reached the specified backoff limit"); w.event(t + 2, "mpi-job-controller", "MPIJob", name, w.ns, "MPIJobFailed", "Job has reached the specified backoff limit", warn=True); idle(w, t + 900); return name, tcode(never_cause=OK_RUN)
    if twin == "workflow-failed-other-runs":
        name = run_name(w, "wf"); custom(w, 0, "Workflow", name, ALICE, {"entrypoint": "train"}, {"phase": "Running"}); ps = [make_pod(w, 1, f"{name}-train-{10**8 + i}", nodes[i], by=ARGO, of=("Workflow", name), labels={"workflows.argoproj.io/workflow": name}, generate=False) for i in range(2)]; [steps(w, p, 10, t, every=60) for p in ps]
        raise_(w, t, ps[0]); phase(w, t + 2, ARGO, "Workflow", name, phase="Failed", message=f"child '{ps[0].name}' failed"); w.event(t + 2, "workflow-controller", "Workflow", name, w.ns, "WorkflowFailed", f"child '{ps[0].name}' failed", warn=True); steps(w, ps[1], t, t + 600, every=60); idle(w, t + 600); return name, tcode(never_cause=OK_RUN)
    if twin == "jobset-failed-slow":  # the set has failed; the other child's pod takes its 30 s and is still Terminating
        name = run_name(w, "js"); custom(w, 0, "JobSet", name, ALICE, {"replicatedJobs": [{"name": "w", "replicas": 2}]}, {}); js = [Job(w, 0.3, f"{name}-w-{i}", [nodes[i]], by=JOBSET, of=("JobSet", name), labels={"jobset.sigs.k8s.io/jobset-name": name, "jobset.sigs.k8s.io/job-index": str(i)}) for i in range(2)]; [steps(w, j.pods[0], 10, t, every=60) for j in js]; v = js[0].pods[0]
        raise_(w, t, v); js[0].fail(t + 1, v); w.condition(t + 2, JOBSET, "JobSet", name, w.ns, "Failed", "True", "FailedJobs", f"jobset failed due to one or more job failures (first failed job: {js[0].name})"); w.event(t + 2, "jobset-controller", "JobSet", name, w.ns, "FailedJobs", f"jobset failed due to one or more job failures (first failed job: {js[0].name})", warn=True); w.api(t + 2.3, JOBSET, "delete", "Job", js[1].name, w.ns); o = js[1].pods[0]; w.api(t + 2.6, GC, "delete", "Pod", o.name, w.ns); kl(w, t + 2.7, o, "Killing", "Stopping container trainer", field="spec.containers{trainer}"); idle(w, t + 10); return name, tcode(never_cause=OK_RUN)
    name = run_name(w, "vc"); custom(w, 0, "VolcanoJob", name, ALICE, {"minAvailable": 2, "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}], "tasks": [{"name": "w", "replicas": 1}, {"name": "ps", "replicas": 1}]}, {"state": {"phase": "Running"}}); ps = [make_pod(w, 0.5, f"{name}-{x}-0", nodes[i], by=VCCTL, of=("VolcanoJob", name), labels={"volcano.sh/job-name": name}, generate=False) for i, x in enumerate(("w", "ps"))]; steps(w, ps[0], 10, t, every=60)
    w.log(t, ps[0], "INFO training finished"); exit_pod(w, t, ps[0], 0); phase(w, t + 1, VCCTL, "VolcanoJob", name, state={"phase": "Completing"}); delete_pod(w, t + 1.3, VCCTL, ps[1]); phase(w, t + 4, VCCTL, "VolcanoJob", name, state={"phase": "Completed"}); return name, tdone(never_cause=DELETED)


@fam("suspend2", "pt-person pt-kueue pt-kueue-then-readmitted-exit pt-person-resumes-runs ray-kueue pt-suspended-then-deleted pt-person-before-oom")
def suspend2(w, twin):
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; t = w.rng.randrange(1500, 2600)
    if twin == "ray-kueue":
        name = run_name(w, "ray"); cl = name + "-a1"; custom(w, 0, "RayJob", name, ALICE, {"entrypoint": "x", "suspend": False}, {"jobStatus": "RUNNING", "jobDeploymentStatus": "Running", "rayClusterName": cl}); custom(w, 0.2, "RayCluster", cl, KUBERAY, {}, {"state": "ready"}, of=("RayJob", name)); ps = [make_pod(w, 0.5, f"{cl}-{x}-{w.suffix()}", nodes[i], by=KUBERAY, of=("RayCluster", cl), labels={"ray.io/cluster": cl}, generate=False) for i, x in enumerate(("head", "gpu-worker"))]; steps(w, ps[0], 10, t, every=60)
        wl = f"rayjob-{name}-5f2c1"; custom(w, 0.3, "Workload", wl, KUEUE, {"queueName": "team-a"}, {"conditions": [{"type": "Admitted", "status": "True", "reason": "Admitted", "message": "The workload is admitted", "lastTransitionTime": w.ts(0.3)}]}, of=("RayJob", name)); msg = "Preempted to accommodate a workload (UID: a, JobUID: b) due to prioritization in the ClusterQueue"
        w.condition(t, KUEUE, "Workload", wl, w.ns, "Evicted", "True", "Preempted", msg); w.condition(t, KUEUE, "Workload", wl, w.ns, "Preempted", "True", "InClusterQueue", msg); w.event(t, "kueue-admission", "Workload", wl, w.ns, "EvictedDueToPreempted", msg); w.api(t + 0.2, KUEUE, "patch", "RayJob", name, w.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}}); phase(w, t + 0.4, KUBERAY, "RayJob", name, jobStatus="STOPPED", jobDeploymentStatus="Suspending"); w.api(t + 0.6, KUBERAY, "delete", "RayCluster", cl, w.ns)
        for p in ps: w.api(t + 0.9, GC, "delete", "Pod", p.name, w.ns); stop(w, t + 1, p)
        phase(w, t + 5, KUBERAY, "RayJob", name, jobStatus="", jobDeploymentStatus="Suspended"); return name, T("sched.kueue_preempted", (), "LEWA", "", weak=GONE + ("sched.kueue_evicted",), never=["kuberay", "garbage"])
    name, ps = pytorch(w, 3, nodes, run=t)
    if twin == "pt-person": pt_suspend(w, t, BOB, name, ps); return name, T(DELETED + ("ops.config_change",), ["bob@"], "A", "A", weak=GONE + ("ops.config_change", "none.running", "sched.kueue_preempted"), never=["training-operator"])
    if twin == "pt-suspended-then-deleted": pt_suspend(w, t, BOB, name, ps); w.at(t + 300, lambda: w.get("PyTorchJob", name, w.ns) and w._do(CAROL, "delete", "PyTorchJob", name, w.ns)); return name, T(DELETED + ("ops.config_change",), ["bob@"], "A", "A", weak=GONE + ("ops.config_change",), never=["training-operator", "carol@"])
    if twin == "pt-person-resumes-runs":
        pt_suspend(w, t, BOB, name, ps); u = t + 300; w.api(u, BOB, "patch", "PyTorchJob", name, w.ns, change=lambda o: o["spec"]["runPolicy"].update(suspend=False), request={"spec": {"runPolicy": {"suspend": False}}}); w.condition(u + 0.3, TRAINOP, "PyTorchJob", name, w.ns, "Suspended", "False", "PyTorchJobResumed", f"PyTorchJob {name} is resumed."); w.event(u + 0.3, "pytorchjob-controller", "PyTorchJob", name, w.ns, "PyTorchJobResumed", f"PyTorchJob {name} is resumed."); w.at(u - 0.1, lambda: [steps(w, pt_pod(w, u + 1, name, i, nodes[i]), u + 10, u + 600, every=60, rank=i) for i in range(3)]); w.condition(u + 6, TRAINOP, "PyTorchJob", name, w.ns, "Running", "True", "PyTorchJobRunning", f"PyTorchJob {name} is running."); idle(w, u + 600); return name, truns(weak=GONE + ("ops.config_change",), also=DELETED + ("ops.config_change",))
    if twin == "pt-person-before-oom": w.api(t - 300, BOB, "patch", "PyTorchJob", name, w.ns, change=lambda o: o["metadata"]["labels"].update(team="x"), request={"metadata": {"labels": {"team": "x"}}}); w.at(t - 1, lambda: memcg_oom(w, t, ps[1])); exit_pod(w, t + 0.1, ps[1], 137, "OOMKilled"); pt_failed(w, t + 1, name, [ps[0], ps[2]]); return name, toom(never=["bob@"])
    wl = f"pytorchjob-{name}-5f2c1"; custom(w, 0.3, "Workload", wl, KUEUE, {"queueName": "team-a"}, {"conditions": [{"type": "Admitted", "status": "True", "reason": "Admitted", "message": "The workload is admitted", "lastTransitionTime": w.ts(0.3)}]}, of=("PyTorchJob", name)); msg = "Preempted to accommodate a workload (UID: a, JobUID: b) due to reclamation within the cohort"
    w.condition(t, KUEUE, "Workload", wl, w.ns, "Evicted", "True", "Preempted", msg); w.condition(t, KUEUE, "Workload", wl, w.ns, "Preempted", "True", "InCohortReclamation", msg); w.event(t, "kueue-admission", "Workload", wl, w.ns, "EvictedDueToPreempted", msg); w.event(t, "kueue-admission", "Workload", wl, w.ns, "Preempted", msg); pt_suspend(w, t + 0.2, KUEUE, name, ps)
    if twin == "pt-kueue": return name, T("sched.kueue_preempted", (), "LEWA", "", weak=GONE + ("sched.kueue_evicted",), never=["training-operator"])
    u = t + 400; w.condition(u, KUEUE, "Workload", wl, w.ns, "Evicted", "False", "QuotaReserved", "Previously: " + msg); w.condition(u, KUEUE, "Workload", wl, w.ns, "Preempted", "False", "QuotaReserved", "Previously: " + msg); w.condition(u, KUEUE, "Workload", wl, w.ns, "Admitted", "True", "Admitted", "The workload is admitted"); w.api(u, KUEUE, "patch", "PyTorchJob", name, w.ns, change=lambda o: o["spec"]["runPolicy"].update(suspend=False), request={"spec": {"runPolicy": {"suspend": False}}}); w.condition(u + 0.3, TRAINOP, "PyTorchJob", name, w.ns, "Suspended", "False", "PyTorchJobResumed", f"PyTorchJob {name} is resumed.")
    box = []; w.at(u - 0.1, lambda: box.extend(pt_pod(w, u + 1, name, i, nodes[i]) for i in range(3))); e = u + 900; w.at(u - 0.05, lambda: [steps(w, p, u + 10, e, every=60, rank=i) for i, p in enumerate(box)]); w.at(e - 1, lambda: (raise_(w, e, box[1]), pt_failed(w, e + 1, name, [box[0], box[2]]))); return name, tcode(also=("sched.kueue_preempted",), weak=("unknown",))


@fam("desched", "low-util failed-cleaned lifetime too-many-restarts low-util-then-exit")
def desched(w, twin):
    D_ = sa("kube-system", "descheduler-sa", "descheduler/v0.33.0"); loop = twin == "too-many-restarts"; j, nodes, t = gang(w, run=w.rng.randrange(1500, 2600), n=1, spec=template(restart="OnFailure" if loop else "Never"), backoff=6 if loop or twin == "low-util-then-exit" else 0); v, nd = j.pods[0], nodes[0]
    def ev(at, p, strat): evict(w, at, D_, p); w.event(at, "sigs.k8s.io/descheduler", "Pod", p.name, p.ns, "Descheduled", f"pod eviction from {p.node} node by sigs.k8s.io/descheduler", new=True) if True else None
    if twin == "failed-cleaned": raised(w, t, j, v); w.at(t + 200, lambda: w.get("Pod", v.name, v.ns) and w._do(D_, "create", "Pod", v.name, v.ns, sub="eviction")); idle(w, t + 210); return j.name, T(CODE, (), "LWAG", "", weak=("unknown",), never=["descheduler"], never_cause=DELETED)
    if loop:
        for k in range(6): w.log(t - 900 + 120 * k, v, TRACE + "KeyError: 'warmup'"); restart(w, t - 900 + 120 * k, v, 1, n=k + 1, wait=30)
        ev(t, v, ""); idle(w, t + 20); return j.name, T(CODE, (), "LWAG", "", weak=GONE + ("ops.node_drained",) + CODE, never=["descheduler"])
    if twin == "low-util-then-exit": ev(t - 900, v, ""); n2 = node(w, "gpu-n" + w.suffix(3)); w.at(t - 890.1, lambda: None); q = j.pod(t - 890, 0, n2); steps(w, q, t - 880, t, every=30); w.at(t - 879, lambda: None); j.pods = [q]; raised(w, t, j, q); return j.name, tcode(never=["descheduler"], weak=("unknown",))
    ev(t, v, ""); j.fail(t + 2.6, v); return j.name, T(DELETED + ("ops.scale_down", "sched.preempted"), ["descheduler"], "AM", "AM", weak=GONE + DRAINED)


@fam("cleanup", " ".join(f"{k}+{g}" for k in ("exit", "oom", "lost", "preempt") for g in ("1", "8", "90")) + " done+8 hang-deleted+900")
def cleanup(w, twin):
    """Bare pods of a gang: one ends, and alice's script deletes all of them some seconds later."""
    k, g = twin.split("+"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; n = run_name(w); t = w.rng.randrange(1500, 2600); ps = [make_pod(w, 0.5, f"{n}-{i}", nodes[i], by=ALICE, labels={"app": n}, generate=False) for i in range(3)]; v = ps[1]; g = int(g)
    for i, p in enumerate(ps): steps(w, p, 8, t, every=30, rank=i)
    if k == "exit": raise_(w, t, v)
    if k == "oom": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled")
    if k == "preempt": preempt(w, t, v, nodes[1]); g += 3
    if k == "lost": not_ready(w, t + 45, nodes[1], [v]); g += 60
    if k == "done": [exit_pod(w, t, p, 0) for p in ps]
    if k == "hang-deleted": w.log(t + 300, ps[0], "[rank0] WARNING no step for 300 s")
    for i, p in enumerate(ps):
        at = t + g + 0.1 * i
        if p is v and k != "hang-deleted": w.at(at, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(ALICE, "delete", "Pod", p.name, p.ns))
        elif k == "done": w.at(at, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(ALICE, "delete", "Pod", p.name, p.ns))
        else: delete_pod(w, at, ALICE, p)
    idle(w, t + g + 10)
    if k == "hang-deleted": return n, T(DELETED + ("hang.no_progress",), ["alice@"], "AM", "AM", weak=GONE + ("hang.no_progress",))
    r = {"exit": lambda: T(CODE, (), "AG", ""), "oom": lambda: T("code.host_oom", (), "AG", ""), "preempt": lambda: T("sched.preempted", (), "AEW", ""), "lost": lambda: T("node.not_ready", (), "EWA", ""), "done": lambda: T(OK_DONE, (), "A", "")}[k](); r.weak = GONE + CODE + ("code.host_oom",); r.never_cause = DELETED; r.never = ("alice@",); r.first = [v.name] if k != "done" else []
    return n, r


@fam("agent", "restarts-then-deleted restarts-then-drained three-fail restart-survived-then-oom restart-then-runs deepspeed-child-dies nccl-retry-then-lost accelerate-restarts-completes")
def agent(w, twin):
    """torchrun starts its workers again in the container: failures in the log that the run went on after."""
    j, nodes, t = gang(w, run=w.rng.randrange(2000, 3000)); v, nd = j.pods[0], nodes[0]
    def fail(at, text, n): w.log(at, v, TRACE + text); w.log(at + 2, v, f"E1005 10:00:00.1 17 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 3 (pid: {8000 + n}) of binary: /usr/bin/python\nINFO torch.distributed.elastic.agent.server.api: [default] Worker group FAILED. {3 - n}/3 attempts left; will restart worker group"); steps(w, v, at + 20, min(at + 500, t), every=20, start=3000 + 100 * n)
    if twin == "three-fail":
        for n in range(3): fail(t - 900 + 200 * n, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", n)
        w.log(t, v, TRACE + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."); w.log(t + 1, v, "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n============================================================\n/app/train.py FAILED"); exit_pod(w, t + 2, v, 1); j.fail(t + 3, v); return j.name, T(("code.cuda_oom",) + CODE, (), "G", "", weak=CODE)
    if twin == "deepspeed-child-dies": w.log(t, v, TRACE + "ValueError: bad crop"); w.log(t + 4, v, "[2026-10-05 10:00:00,123] [INFO] [launch.py:319:sigkill_handler] Killing subprocess 812\n[2026-10-05 10:00:00,223] [ERROR] [launch.py:325:sigkill_handler] ['/usr/bin/python', '-u', 'train.py'] exits with return code = 1"); exit_pod(w, t + 5, v, 1); j.fail(t + 6, v); return j.name, tcode(never_cause=DELETED)
    fail(t - 700, "RuntimeError: CUDA error: device-side assert triggered", 1); fail(t - 300, "torch.distributed.DistBackendError: NCCL error: unhandled system error", 2)
    if twin == "restarts-then-deleted": j.delete(t, BOB); return j.name, tdel(never_cause=CODE + COLL)
    if twin == "restarts-then-drained": cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v); return j.name, tdrain(never_cause=CODE + COLL)
    if twin == "restart-survived-then-oom": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return j.name, toom(never_cause=CODE)
    if twin == "restart-then-runs": idle(w, t); return j.name, truns(never_cause=CODE + COLL)
    if twin == "nccl-retry-then-lost": lost_pod(w, t, nd, v); j.fail(t + 351, v); return j.name, tlost(never_cause=CODE + COLL)
    j.complete(t); return j.name, tdone(never_cause=CODE)


@fam("liveness2", "never-policy onfailure-3x startup-slow then-drain readiness-only-runs then-deleted-job sidecar-then-runs exit0-on-term")
def liveness2(w, twin):
    on = twin in ("onfailure-3x", "startup-slow", "exit0-on-term"); j, nodes, t = gang(w, run=w.rng.randrange(1500, 2600), spec=template(restart="OnFailure" if on else "Never"), backoff=6 if on else 0); v, nd = j.pods[0], nodes[0]; f = "spec.containers{trainer}"
    def live(at, kind="Liveness", n=3, kill=True, will=on):
        kl(w, at, v, "Unhealthy", f"{kind} probe failed: Get \"http://10.2.0.4:8080/healthz\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)", warn=True, count=n, until=at + 20, field=f)
        if kill: kl(w, at + 20, v, "Killing", f"Container trainer failed {kind.lower()} probe" + (", will be restarted" if will else ""), field=f)
    R = T(("code.liveness_probe",), (), "EW", "", weak=("code.host_oom", "unknown") + CODE)
    if twin == "never-policy": live(t); exit_pod(w, t + 50, v, 137); j.fail(t + 51, v); return j.name, R
    if twin == "then-deleted-job": live(t); exit_pod(w, t + 50, v, 137); j.fail(t + 51, v); w.at(t + 90, lambda: w.get("Job", j.name, w.ns) and w._do(BOB, "delete", "Job", j.name, w.ns)); [w.at(t + 90.3, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns)) for p in j.pods]; R.never = ("bob@",); R.weak += DELETED; R.never_cause = DELETED; return j.name, R
    if twin in ("onfailure-3x", "startup-slow"):
        k_ = "Liveness" if twin.startswith("on") else "Startup"
        for k in range(4): live(t + 200 * k, k_); restart(w, t + 200 * k + 50, v, 137, n=k + 1, wait=20)
        idle(w, t + 720); R.right = ("code.liveness_probe", "code.readiness_probe"); R.weak += OK_RUN; return j.name, R
    if twin == "exit0-on-term": live(t); restart(w, t + 25, v, 0, reason="Completed", n=1, wait=10); [steps(w, p, t + 40, t + 600, every=30, rank=i) for i, p in enumerate(j.pods)]; idle(w, t + 600); return j.name, truns(weak=("code.liveness_probe",), also=("code.liveness_probe",))
    if twin == "then-drain": live(t - 300, kill=False); cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v); return j.name, tdrain(never_cause=["code.liveness_probe"])
    live(t - 300, "Readiness", n=30, kill=False); steps(w, v, t - 280, t, every=20); idle(w, t); return j.name, T(OK_RUN + ("code.readiness_probe",), (), "LWA", "", weak=OK_RUN + ("unknown",))


@fam("silence", "runtime-down-evicted partition-back ctrl-plane-outage-then-exit zone-silent-back-then-oom hang-no-end slow-eval-then-delete stuck-terminating lease-flaps-then-drain silent-then-completes")
def silence(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 2600)); v, nd = j.pods[0], nodes[0]; o = j.pods[1]
    clear = lambda at, n: w.api(at, NODEC, "patch", "Node", n, change=lambda x: x["spec"].pop("taints", None), request={"spec": {"taints": None}})
    if twin == "runtime-down-evicted":
        ready(w, t, nd, False, "KubeletNotReady", "container runtime is down"); taint(w, t + 0.2, NODEC, nd, "node.kubernetes.io/not-ready", "NoExecute"); w.event(t + 0.2, "node-controller", "Pod", v.name, v.ns, "NodeNotReady", "Node is not ready", warn=True); w.condition(t + 0.2, NODEC, "Pod", v.name, v.ns, "Ready", "False"); taint_evict(w, t + 300, v, lost=True); j.fail(t + 303, v, rest=[o]); idle(w, t + 330); return j.name, T(("node.runtime", "node.not_ready"), (), "LEWA", "", weak=("unknown",))
    if twin == "partition-back":  # the machine cannot reach the API server; training goes on until its kubelet is back and stops what was evicted
        lost_pod(w, t, nd, v); steps(w, v, t, t + 500, every=20, start=5000); ready(w, t + 500, nd, True, "KubeletReady", "kubelet is posting ready status"); clear(t + 501, nd); stop(w, t + 500.5, v); j.fail(t + 504, v, rest=[o]); return j.name, T(("node.not_ready", "dep.network"), (), "EWA", "", weak=("unknown",) + DELETED)
    if twin in ("ctrl-plane-outage-then-exit", "zone-silent-back-then-oom"):
        for n in nodes: not_ready(w, t - 600, n, [p for p in j.pods if p.node == n]); ready(w, t - 540, n, True, "KubeletReady", "kubelet is posting ready status"); clear(t - 539, n)
        for p in j.pods: w.condition(t - 538, kubelet(p.node), "Pod", p.name, p.ns, "Ready", "True"); steps(w, p, t - 530, t, every=20, rank=j.pods.index(p), start=5000)
        if twin.startswith("ctrl"): raised(w, t, j, v); return j.name, tcode(never_cause=["node.not_ready"])
        w.at(t - 1, lambda: memcg_oom(w, t, o)); exit_pod(w, t + 0.1, o, 137, "OOMKilled"); j.fail(t + 1, o); return j.name, toom(never_cause=["node.not_ready"])
    if twin == "hang-no-end": idle(w, t + 3000); return j.name, T(("hang.no_progress",) + OK_RUN, (), "", "", weak=OK_RUN + ("hang.no_progress", "unknown"))
    if twin == "slow-eval-then-delete": w.log(t + 2, v, "INFO evaluating on 5000 samples, this takes a while"); j.delete(t + 400, BOB); return j.name, tdel(weak=("hang.no_progress",), never_cause=["hang.no_progress", "hang.collective_timeout"])
    if twin == "stuck-terminating":
        w.api(t, BOB, "delete", "Job", j.name, w.ns)
        for p in j.pods: finalizer(w, t + 0.1, p); w.at(t + 0.2, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns))
        kl(w, t + 0.4, v, "Killing", "Stopping container trainer", field="spec.containers{trainer}"); kl(w, t + 35, v, "FailedKillPod", "error killing pod: [failed to \"KillContainer\" for \"trainer\" with KillContainerError: \"rpc error: code = DeadlineExceeded desc = an error occurs during waiting for container to be killed: context deadline exceeded\"]", warn=True, count=12, until=t + 1500); w.kernel(t + 150, nd, "INFO: task python:8213 blocked for more than 120 seconds."); stop(w, t + 0.3, o); idle(w, t + 1500); return j.name, tdel(weak=("node.runtime", "hang.no_progress"), never=["garbage"])
    if twin == "lease-flaps-then-drain":
        for k in range(3): not_ready(w, t - 900 + 200 * k, nd, [v]); ready(w, t - 880 + 200 * k, nd, True, "KubeletReady", "kubelet is posting ready status"); clear(t - 879 + 200 * k, nd); w.condition(t - 878 + 200 * k, kubelet(nd), "Pod", v.name, v.ns, "Ready", "True")
        cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v); return j.name, tdrain(never_cause=["node.not_ready"])
    not_ready(w, t - 100, nd, [v]); ready(w, t - 40, nd, True, "KubeletReady", "kubelet is posting ready status"); clear(t - 39, nd); j.complete(t); return j.name, tdone(never_cause=["node.not_ready"])


@fam("karp2", "expired-event repair-gpu consolidation-after-exit nominated-exit interruption-state-change-stopping person-removes-annotation replace-then-runs-sts budget-blocked-then-exit")
def karp2(w, twin):
    nodes, claim = karp_pool(w); nd = nodes[0]; c = claim(nd)
    if twin == "replace-then-runs-sts":
        name = run_name(w, "sts"); t = w.rng.randrange(1500, 2600); pods, _ = deployment(w, name, 2, nodes, "StatefulSet"); p, o = pods; [steps(w, x, 12, t, every=60, rank=i) for i, x in enumerate(pods)]; w.event(t, "karpenter", "Node", nd, None, "DisruptionTerminating", "Disrupting Node: Underutilized"); w.api(t + 0.3, KARP, "delete", "NodeClaim", c); karp_drain(w, t + 1, nd, c, [p], "Underutilized"); n2 = node(w, "ip-10-0-77-7.ec2.internal", who="aws"); q = make_pod(w, t + 6, p.name, n2, by=STSC, of=("StatefulSet", name), labels={"app": name}, spec=template(restart="Always"), generate=False); steps(w, q, t + 16, t + 600, every=60); steps(w, o, t, t + 600, every=60, rank=1); idle(w, t + 600); return name, T(OK_RUN + SCALED, (), "", "", weak=OK_RUN + SCALED + DRAINED + GONE)
    j, _, t = gang(w, nodes=nodes, run=w.rng.randrange(1500, 2600)); v = j.pods[0]
    if twin == "expired-event": w.event(t, "karpenter", "NodeClaim", c, None, "Expired", "NodeClaim expired") if False else None; w.condition(t, KARP, "NodeClaim", c, None, "DisruptionReason", "True", "Expired", "Expired"); w.api(t + 0.3, KARP, "delete", "NodeClaim", c); karp_drain(w, t + 1, nd, c, [v], "Forceful Termination"); j.fail(t + 3.6, v); return j.name, T(SCALED + ("ops.node_upgrade",), ["karpenter"], "A", "A", weak=DRAINED + GONE + SCALED, also=SCALED)
    if twin == "repair-gpu":  # the agent of EKS marks the hardware as bad, Karpenter replaces the node ten minutes later
        w.kernel(t - 620, nd, "NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."); w.condition(t - 600, sa("kube-system", "eks-node-monitoring-agent"), "Node", nd, None, "AcceleratedHardwareReady", "False", "NvidiaXID79Error", "XID 79 detected"); w.event(t - 600, "eks-node-monitoring-agent", "Node", nd, None, "NvidiaXID79Error", "XID 79 detected", warn=True); w.log(t - 618, v, TRACE + "torch.AcceleratorError: CUDA error: unspecified launch failure"); exit_pod(w, t - 616, v, 1); j.fail(t - 615, v); w.api(t, KARP, "delete", "NodeClaim", c); karp_drain(w, t + 1, nd, c, [], "Forceful Termination"); return j.name, T(("hw.gpu",) + CODE, (), "LWAG", "", weak=("unknown",), never_cause=list(SCALED))
    if twin == "consolidation-after-exit": raised(w, t, j, v); w.event(t + 40, "karpenter", "Node", nd, None, "DisruptionTerminating", "Disrupting Node: Empty"); w.api(t + 40.3, KARP, "delete", "NodeClaim", c); karp_drain(w, t + 41, nd, c, [], "Empty"); return j.name, tcode(weak=("unknown",), never_cause=list(SCALED))
    if twin == "nominated-exit": w.event(t - 30, "karpenter", "Pod", v.name, v.ns, "Nominated", f"Pod should schedule on: nodeclaim/{c}"); raised(w, t, j, v); return j.name, tcode()
    if twin == "interruption-state-change-stopping": w.event(t - 1, "karpenter", "Node", nd, None, "InstanceStopping", "Instance is stopping", warn=True); w.event(t - 1, "karpenter", "NodeClaim", c, None, "InstanceStopping", "Instance is stopping", warn=True); w.event(t - 0.5, "karpenter", "Node", nd, None, "TerminatingOnInterruption", "Interruption triggered termination for the Node", warn=True); w.api(t + 0.3, KARP, "delete", "NodeClaim", c); karp_drain(w, t + 1, nd, c, [v], "Forceful Termination"); j.fail(t + 3.6, v); return j.name, T(("cloud.instance_terminated",), (), "EW", "", weak=SCALED + DRAINED + GONE + ("cloud.spot_reclaimed",), unseen=SCALED, also=SCALED + ("cloud.spot_reclaimed",), never_cause=["cloud.spot_reclaimed"])
    if twin == "person-removes-annotation":
        w.at(5, lambda: w.get("Pod", v.name, v.ns)["metadata"].setdefault("annotations", {}).update({"karpenter.sh/do-not-disrupt": "true"})); w.api(t - 60, BOB, "patch", "Pod", v.name, v.ns, change=lambda o: o["metadata"].get("annotations", {}).pop("karpenter.sh/do-not-disrupt", None), request={"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": None}}}); w.event(t, "karpenter", "Node", nd, None, "DisruptionTerminating", "Disrupting Node: Underutilized"); w.condition(t, KARP, "NodeClaim", c, None, "DisruptionReason", "True", "Underutilized", "Underutilized"); w.api(t + 0.3, KARP, "delete", "NodeClaim", c); karp_drain(w, t + 1, nd, c, [v], "Underutilized"); j.fail(t + 3.6, v); return j.name, T(SCALED, ["karpenter"], "AEW", "AEW", weak=DRAINED + GONE, never=["bob@"])
    w.event(t - 300, "karpenter", "NodePool", "gpu", None, "DisruptionBlocked", "No allowed disruptions for disruption reason Underutilized due to blocking budget"); w.event(t - 200, "karpenter", "Node", nd, None, "DisruptionBlocked", f"Pdb prevents pod evictions (PodDisruptionBudget=[{w.ns}/trainers])"); raised(w, t, j, v); return j.name, tcode(never_cause=list(SCALED))
