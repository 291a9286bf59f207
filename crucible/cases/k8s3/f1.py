"""Elastic jobs, queues by persons' patches, failure policies, helpers, downloads, rotated configuration, deadlines beside deletions, drains that were blocked for long."""

from base import *


def raise_(w, t, v, text="ValueError: bad crop", code=1):
    w.log(t, v, TRACE + text); exit_pod(w, t, v, code)


@fam("elastic", "hpa-down-completes person-down-then-exit person-down-then-oom down-runs up-pending shrink-after-loss-then-delete down-then-drain person-zero")
def elastic(w, twin):
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(4)]; t = w.rng.randrange(1500, 2600)
    name, ps = pytorch(w, 4, nodes, elastic=True, restart="OnFailure", run=t); m, a, b, c = ps
    def down(at, who, gone, to):
        sub = "scale" if who is HPAC else None
        w.api(at, who, "patch" if who is not HPAC else "update", "PyTorchJob", name, w.ns, sub=None, change=lambda o: o["spec"]["pytorchReplicaSpecs"]["Worker"].update(replicas=to), request={"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": to}}}})
        if who is HPAC: w.event(at, "horizontal-pod-autoscaler", "HorizontalPodAutoscaler", name, w.ns, "SuccessfulRescale", f"New size: {to + 1}; reason: All metrics below target")
        for p in gone: delete_pod(w, at + 0.4, TRAINOP, p); w.event(at + 0.5, "pytorchjob-controller", "PyTorchJob", name, w.ns, "SuccessfulDeletePod", f"Deleted pod: {p.name}")
        for i, p in enumerate([x for x in ps if x not in gone]):
            w.log(at + 3, p, "[W socket.cpp:464] [c10d] peer closed; WorkerGroup membership changed\nINFO torch.distributed.elastic.agent.server.api: [default] Detected 0 new nodes from group_rank=0; will restart worker group\nINFO torch.distributed.elastic.agent.server.api: [default] Rendezvous complete for workers. world_size=" + str(8 * (4 - len(gone))))
    def on(t0, t1, gone=()):
        for i, p in enumerate([x for x in ps if x not in gone]): steps(w, p, t0, t1, every=30, rank=i, start=4000)
    if twin == "hpa-down-completes":
        down(t, HPAC, [c], 2); on(t + 10, t + 900, [c])
        for p in (m, a, b): exit_pod(w, t + 900, p, 0)
        pt_succeeded(w, t + 902, name); return name, tdone(also=SCALED + DELETED, never_cause=["ops.manual_delete"])
    if twin == "person-zero":
        down(t, BOB, [a, b, c], 0); w.at(t + 30, lambda: None); return name, T(SCALED + DELETED + ("ops.config_change", "none.running"), ["bob@"], "", "A", weak=OK_RUN + GONE + SCALED + ("ops.config_change",), never=["training-operator"])
    if twin == "down-runs": down(t, BOB, [c], 2); on(t + 10, t + 900, [c]); idle(w, t + 900); return name, truns(also=SCALED + DELETED + ("ops.config_change",), weak=SCALED + DELETED)
    if twin == "up-pending":
        w.api(t, BOB, "patch", "PyTorchJob", name, w.ns, change=lambda o: o["spec"]["pytorchReplicaSpecs"]["Worker"].update(replicas=5), request={"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 5}}}})
        for i in (4, 5): q = pt_pod(w, t + 1, name, i, None); unschedulable(w, t + 2, q, "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod.", until=t + 900)
        on(t, t + 900); idle(w, t + 900); return name, T(OK_RUN + ("sched.unschedulable_capacity",), (), "LEWA", "", weak=OK_RUN + ("unknown",))
    if twin == "shrink-after-loss-then-delete":
        lost_pod(w, t, nodes[3], c); on(t + 60, t + 1400, [c]); tj_delete(w, t + 1400, BOB, "PyTorchJob", name, [m, a, b]); return name, T(DELETED, ["bob@"], "AM", "AM", weak=GONE + ("node.not_ready",), also=("node.not_ready",), unseen=("node.not_ready",))
    down(t, CAROL, [c], 2); e = t + 700; on(t + 10, e, [c])
    if twin == "person-down-then-exit": raise_(w, e, a); w.at(e, lambda: None); pt_failed(w, e + 1, name, [m, b]); return name, tcode(never=["carol@"], never_cause=["ops.scale_down", "ops.manual_delete", "ops.config_change"], weak=("unknown",))
    if twin == "person-down-then-oom": w.at(e - 1, lambda: memcg_oom(w, e, a)); exit_pod(w, e + 0.1, a, 137, "OOMKilled"); pt_failed(w, e + 1, name, [m, b]); return name, toom(never=["carol@"], never_cause=["ops.scale_down", "ops.manual_delete"])
    cordon(w, e - 2, BOB, nodes[1]); evict(w, e, BOB, a); pt_failed(w, e + 3, name, [m, b]); return name, tdrain(never=["carol@"])


@fam("kueue2", "workload-deleted localqueue-drain cq-hold-then-exit partial-then-exit partial-runs partial-then-oom max-exec-time priority-patched-preempted exit-then-preempted preempted-then-cq-deleted label-patched-then-exit")
def kueue2(w, twin):
    part = twin.startswith("partial"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2 if part else 2)]; t = w.rng.randrange(1500, 3000)
    j = Job(w, 0, run_name(w), nodes, backoff=3 if twin == "exit-then-preempted" else 0); v = j.pods[0]; wl = f"job-{j.name}-{uid_of(j.name)[:5]}"
    for i, p in enumerate(j.pods): steps(w, p, 10, t, every=60, rank=i)
    def workload(): w.at(0.2, lambda: w._do(KUEUE, "create", "Workload", wl, w.ns, body={"metadata": {"ownerReferences": [owner(w, "Job", j.name, w.ns)]}, "spec": {"queueName": "team-a", "priority": 0, "active": True}, "status": {"conditions": [{"type": "Admitted", "status": "True", "reason": "Admitted", "message": "The workload is admitted", "lastTransitionTime": w.ts(0.2)}]}}))
    def susp(at, msg):
        w.api(at, KUEUE, "patch", "Job", j.name, j.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}}); w.event(at, "batch/job-kueue-controller", "Job", j.name, j.ns, "Stopped", msg)
        for p in j.pods: delete_pod(w, at + 0.2, JOBC, p)
        w.condition(at + 3, JOBC, "Job", j.name, j.ns, "Suspended", "True", "JobSuspended", "Job suspended"); w.event(at + 3, "job-controller", "Job", j.name, j.ns, "Suspended", "Job suspended")
    if part:
        workload(); w.at(0.05, lambda: w.get("Job", j.name, w.ns)["metadata"].setdefault("annotations", {}).update({"kueue.x-k8s.io/job-min-parallelism": "2"})); w.at(0.1, lambda: w.get("Job", j.name, w.ns)["spec"].update(parallelism=4, completions=4))
        w.api(0.3, KUEUE, "patch", "Job", j.name, w.ns, change=lambda o: o["spec"].update(parallelism=2, suspend=False), request={"spec": {"parallelism": 2, "suspend": False}}); w.event(0.3, "kueue-admission", "Workload", wl, w.ns, "Admitted", "Admitted by ClusterQueue cq, wait time since reservation was 0s")
        if twin == "partial-runs": idle(w, t); return j.name, truns(never_cause=["ops.scale_down", "sched.kueue_preempted", "sched.quota"])
        if twin == "partial-then-oom": w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return j.name, toom(never=["kueue"])
        raised(w, t, j, v); return j.name, tcode(never=["kueue"])
    if twin == "workload-deleted":
        workload(); w.api(t, BOB, "delete", "Workload", wl, w.ns); susp(t + 0.3, "No matching Workload; restoring pod templates according to existent Workload"); return j.name, T(DELETED + ("sched.kueue_evicted", "ops.config_change"), ["bob@"], "A", "AM", weak=GONE + ("sched.kueue_evicted", "ops.config_change"), never_cause=["sched.kueue_preempted"], never=["kueue", "job-controller"])
    if twin == "localqueue-drain":
        custom(w, -0.3, "LocalQueue", "team-a", ALICE, {"clusterQueue": "cq", "stopPolicy": "None"}); w.api(t - 0.5, BOB, "patch", "LocalQueue", "team-a", w.ns, change=lambda o: o["spec"].update(stopPolicy="HoldAndDrain"), request={"spec": {"stopPolicy": "HoldAndDrain"}}); kueue_evict(w, t, j, "LocalQueueStopped", "The LocalQueue is stopped")
        return j.name, T(("sched.kueue_evicted",) + DELETED + ("ops.config_change",), ["bob@", "kueue"], "LEWA", "A", weak=DELETED, never_cause=["sched.kueue_preempted"])
    if twin == "cq-hold-then-exit":  # Hold admits nothing new and leaves alone what runs
        workload(); custom(w, -0.3, "ClusterQueue", "cq", ALICE, {"stopPolicy": "None"}); w.api(t - 90, BOB, "patch", "ClusterQueue", "cq", change=lambda o: o["spec"].update(stopPolicy="Hold"), request={"spec": {"stopPolicy": "Hold"}}); raised(w, t, j, v); return j.name, tcode(never=["bob@"], never_cause=["sched.kueue_evicted"])
    if twin == "label-patched-then-exit":  # somebody moves the waiting queue's label of the Job; it runs on
        workload(); w.api(t - 20, BOB, "patch", "Job", j.name, w.ns, change=lambda o: o["metadata"]["labels"].update({"kueue.x-k8s.io/queue-name": "team-b"}), request={"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "team-b"}}}, fail=(422, "Invalid", "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: field is immutable")); raised(w, t, j, v); return j.name, tcode(never=["bob@"])
    if twin == "max-exec-time": kueue_evict(w, t, j, "Deactivated", "The workload is deactivated due to exceeding the maximum execution time"); return j.name, T(("sched.kueue_evicted", "code.deadline"), (), "LEWA", "", weak=DELETED, never_cause=["sched.kueue_preempted", "ops.manual_delete"])
    if twin == "priority-patched-preempted":  # somebody lowers its priority an hour before; later another workload takes its quota
        w.at(300, lambda: w._do(BOB, "patch", "Workload", wl, w.ns, change=lambda o: o["spec"].update(priority=-10), request={"spec": {"priority": -10}})); kueue_evict(w, t, j, "Preempted", "Preempted to accommodate a workload (UID: a, JobUID: b) due to prioritization in the ClusterQueue; preemptor path: /a; preemptee path: /a"); return j.name, T("sched.kueue_preempted", (), "LEWA", "", weak=DELETED + ("sched.kueue_evicted",), never=["bob@"])
    if twin == "exit-then-preempted":  # rank 0 raised, its Job made it again, and minutes later the queue takes everything
        raise_(w, t - 600, v); finalizer(w, t - 599, v); w.at(t - 590.1, lambda: None); q = j.pod(t - 590, 0, nodes[0]); j.pods[0] = q; [steps(w, p, t - 580, t, every=30, rank=i, start=900) for i, p in enumerate(j.pods)]
        kueue_evict(w, t, j, "Preempted", "Preempted to accommodate a workload (UID: a, JobUID: b) due to reclamation within the cohort"); return j.name, T("sched.kueue_preempted", (), "LEWA", "", weak=DELETED + CODE + ("sched.kueue_evicted",), also=CODE)
    kueue_evict(w, t, j, "Preempted", "Preempted to accommodate a workload (UID: a, JobUID: b) due to prioritization in the ClusterQueue"); custom(w, -0.3, "ClusterQueue", "cq", ALICE, {}); w.api(t + 200, BOB, "delete", "ClusterQueue", "cq"); idle(w, t + 300)
    return j.name, T("sched.kueue_preempted", (), "LEWA", "", weak=DELETED + ("sched.kueue_evicted",), never=["bob@"])


@fam("jobset2", "failjobset-policy ignore-max-then-completes drain-then-oom driver-success initializer-fails initializer-image restart-recreates-blocking person-patches-then-exit ttl-clears suspended-by-person")
def jobset2(w, twin):
    name = run_name(w, "js"); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(3)]; d = w.rng.randrange(1200, 2400)
    custom(w, 0, "JobSet", name, ALICE, {"replicatedJobs": [{"name": "driver", "replicas": 1}, {"name": "w", "replicas": 2}], "failurePolicy": {"maxRestarts": 1}, "suspend": False}, {"restarts": 0})
    def child(t, what, i, nd, n=0, run=True):
        j = Job(w, t, f"{name}-{what}-{i}", [nd], by=JOBSET, of=("JobSet", name), labels={"jobset.sigs.k8s.io/jobset-name": name, "jobset.sigs.k8s.io/replicatedjob-name": what, "jobset.sigs.k8s.io/restart-attempt": str(n), "jobset.sigs.k8s.io/job-index": str(i)}, spec=template(gpus=0) if what in ("driver", "init") else None)
        if run: steps(w, j.pods[0], t + 10, t + d, every=60, rank=i)
        return j
    def failed(t, reason, msg): w.condition(t, JOBSET, "JobSet", name, w.ns, "Failed", "True", reason, msg); w.event(t, "jobset-controller", "JobSet", name, w.ns, reason, msg, warn=True)
    def again(t, jobs, n, ended=()):
        w.event(t, "jobset-controller", "JobSet", name, w.ns, "RestartJobSetFailurePolicyAction" if n > 0 else "Restarting", f"applying RestartJobSet failure policy action (first failed job: {jobs[0].name})", warn=True)
        for j in jobs: j.delete(t, JOBSET, rest=[p for p in j.pods if p not in ended])
        for p in ended: w.at(t + 0.4, lambda p=p: w.get("Pod", p.name, p.ns) and (finalizer(w, w.now, p), w._do(GC, "delete", "Pod", p.name, p.ns)))
        phase(w, t + 0.5, JOBSET, "JobSet", name, restarts=n)
        return [child(t + 6, "w", i, nodes[i], n) for i in range(2)]
    if twin.startswith("initializer"):
        j = child(0.3, "init", 0, nodes[2], run=False); p = j.pods[0]
        if twin == "initializer-fails":
            w.log(200, p, TRACE + "huggingface_hub.errors.GatedRepoError: 401 Client Error. Access to model meta-llama/Llama-3 is restricted."); exit_pod(w, 200, p, 1); j.fail(201, p); failed(203, "FailedJobs", f"jobset failed due to one or more job failures (first failed job: {j.name})"); return name, T(CODE + ("dep.secret_or_config", "dep.service"), (), "LWAG", "")
        w.at(0.4, lambda: None); idle(w, 260); raise_(w, 260, p, "OSError: [Errno 28] No space left on device: '/cache/model-00003.safetensors'"); j.fail(261, p); failed(263, "FailedJobs", f"jobset failed due to one or more job failures (first failed job: {j.name})"); return name, T(CODE + ("dep.storage", "code.storage_limit", "dep.volume"), (), "LWAG", "")
    a = [child(0.3, "w", i, nodes[i]) for i in range(2)]; v = a[0].pods[0]
    if twin == "failjobset-policy":
        raise_(w, d, v, "KeyError: 'lr'", 42); a[0].fail(d + 1, v, "PodFailurePolicy", f"Container trainer for pod {w.ns}/{v.name} failed with exit code 42 matching FailJob rule at index 0"); w.event(d + 2, "jobset-controller", "JobSet", name, w.ns, "FailJobSetFailurePolicyAction", f"applying FailJobSet failure policy action (first failed job: {a[0].name})", warn=True); failed(d + 2.2, "FailJobSetFailurePolicyAction", f"jobset failed due to FailJobSet failure policy action (first failed job: {a[0].name})"); a[1].delete(d + 2.4, JOBSET); return name, tcode()
    if twin == "ignore-max-then-completes":
        cordon(w, d - 2, BOB, nodes[0]); evict(w, d, BOB, v); a[0].fail(d + 2.6, v, "PodFailurePolicy", "Pod matched FailJob rule on DisruptionTarget"); b = again(d + 6, a, 1); cordon(w, d + 9, BOB, nodes[0], False)
        w.at(d + 5, lambda: None); e = d + 12 + d; [w.at(e - 1, lambda j=j: j.complete(e)) for j in b]; w.condition(e + 3, JOBSET, "JobSet", name, w.ns, "Completed", "True", "AllJobsCompleted", "jobset completed successfully"); return name, tdone(also=DRAINED + DELETED, weak=DRAINED + DELETED)
    if twin == "drain-then-oom":
        cordon(w, d - 2, BOB, nodes[0]); evict(w, d, BOB, v); a[0].fail(d + 2.6, v); b = again(d + 6, a, 1); cordon(w, d + 9, BOB, nodes[0], False); q = b[1].pods[0]; e = d + 12 + d; w.at(e - 1, lambda: memcg_oom(w, e, q)); exit_pod(w, e + 0.1, q, 137, "OOMKilled"); b[1].fail(e + 1, q); failed(e + 3, "ReachedMaxRestarts", "jobset failed due to reaching max number of restarts"); return name, toom(never=["bob@"], weak=("unknown",), also=DRAINED + DELETED)
    if twin == "driver-success":
        dr = child(0.3, "driver", 0, nodes[2], run=False); dr.complete(d); w.condition(d + 2, JOBSET, "JobSet", name, w.ns, "Completed", "True", "AllJobsCompleted", "jobset completed successfully"); w.event(d + 2, "jobset-controller", "JobSet", name, w.ns, "AllJobsCompleted", "jobset completed successfully"); [j.delete(d + 2.5, JOBSET) for j in a]; return name, tdone()
    if twin == "restart-recreates-blocking": raise_(w, d, v); a[0].fail(d + 1, v); b = again(d + 3, a, 1, ended=[v]); [steps(w, j.pods[0], d + 20, d + 500, every=60) for j in b]; w.at(d + 500, lambda: w.queue.clear()); return name, truns(weak=CODE + DELETED, also=CODE)
    if twin == "person-patches-then-exit": w.api(d - 120, BOB, "patch", "JobSet", name, w.ns, change=lambda o: o["metadata"]["labels"].update(team="vision"), request={"metadata": {"labels": {"team": "vision"}}}); raise_(w, d, v); a[0].fail(d + 1, v); failed(d + 3, "FailedJobs", "jobset failed due to one or more job failures"); a[1].delete(d + 3.3, JOBSET); return name, tcode(never=["bob@"])
    if twin == "ttl-clears": raise_(w, d, v); a[0].fail(d + 1, v); failed(d + 3, "FailedJobs", "jobset failed due to one or more job failures"); a[1].delete(d + 3.3, JOBSET); w.api(d + 120, JOBSET, "delete", "JobSet", name, w.ns); w.api(d + 120.3, GC, "delete", "Job", a[0].name, w.ns); finalizer(w, d + 120.2, v); w.at(d + 120.6, lambda: w.get("Pod", v.name, v.ns) and w._do(GC, "delete", "Pod", v.name, v.ns)); return name, T(CODE, (), "WAG", "", weak=("unknown",), never=["jobset", "garbage"], never_cause=["ops.manual_delete"])
    w.api(d, BOB, "patch", "JobSet", name, w.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}})
    for j in a:
        w.api(d + 0.3, JOBSET, "update", "Job", j.name, w.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}}); [delete_pod(w, d + 0.5, JOBC, p) for p in j.pods]; w.condition(d + 3, JOBC, "Job", j.name, w.ns, "Suspended", "True", "JobSuspended", "Job suspended"); w.event(d + 3, "job-controller", "Job", j.name, w.ns, "Suspended", "Job suspended")
    w.condition(d + 4, JOBSET, "JobSet", name, w.ns, "Suspended", "True", "SuspendedJobs", "jobset is suspended"); return name, T(DELETED + ("ops.config_change",), ["bob@"], "A", "A", weak=GONE + ("ops.config_change", "sched.kueue_preempted", "none.running"), never=["job-controller", "jobset"])


@fam("sidecar2", "istio-first-on-drain vault-renew-fails-then-drain shipper-quotes-then-delete sidecar-oom-trainer-on-then-exit proxy-killed-after-exit trainer-0-proxy-oom sidecar-crash-then-oom shipper-quotes-then-runs istio-first-on-delete")
def sidecar2(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 3000), spec=template(("proxy", "trainer"))); v, nd = j.pods[0], nodes[0]
    def end_two(at, tc, pc, tr="Error", pr="Error", phase="Failed"):
        set_state(w, at, v, "proxy", ended(w, v, at - 1, pc, pr)); set_state(w, at + 0.2, v, "trainer", ended(w, v, at, tc, tr), phase=phase)
    if twin.startswith("istio-first"):  # the proxy ends at once on SIGTERM; the trainer's checkpoint upload then finds no network and it exits 1
        if twin.endswith("drain"): cordon(w, t - 2, BOB, nd); w.api(t, BOB, "create", "Pod", v.name, v.ns, sub="eviction")
        else: w.api(t, BOB, "delete", "Pod", v.name, v.ns)
        for c in ("proxy", "trainer"): kl(w, t + 0.2, v, "Killing", f"Stopping container {c}", field=f"spec.containers{{{c}}}")
        w.log(t + 0.3, v, "INFO received SIGTERM, saving checkpoint to s3://ckpt/run/step-4000"); w.log(t + 3, v, TRACE + "botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL: \"https://s3.us-east-1.amazonaws.com/ckpt\"")
        w.at(t + 4, lambda: end_two(t + 4, 1, 0, pr="Completed")); finalizer(w, t + 4.5, v); w.at(t + 5, lambda: w.get("Pod", v.name, v.ns) and w._do(kubelet(nd), "delete", "Pod", v.name, v.ns, grace=0)); j.fail(t + 5.2, None, rest=[j.pods[1]])
        r = tdrain() if twin.endswith("drain") else tdel(); r.never_cause = CODE + ("dep.network", "dep.storage", "dep.service"); r.weak += r.never_cause; return j.name, r
    if twin == "vault-renew-fails-then-drain":
        for k in range(20): w.log(t - 1200 + 60 * k, v, "[ERROR] agent.auth.handler: error authenticating: error=\"Error making API request. Code: 403. Errors: permission denied\" backoff=1m0s", container="proxy")
        cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v); return j.name, tdrain(never_cause=["dep.secret_or_config", "dep.service"])
    if twin.startswith("shipper-quotes"):
        for k, x in enumerate(["[warn] [output:loki] re-sending: {\"log\":\"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\",\"pod\":\"other-run-0\"}", "[info] record: NVRM: Xid (PCI:0000:4e:00): 79, pid=8213, name=python, GPU has fallen off the bus.", "[error] [output:loki] Traceback (most recent call last): ValueError: bad crop (pod=other-run-3)", "[error] Memory cgroup out of memory: Killed process 4411 (python) total-vm:3012345kB"]): w.log(t - 40 + 9 * k, v, x, container="proxy")
        if twin.endswith("runs"): steps(w, v, t, t + 60); idle(w, t + 60); return j.name, truns(never_cause=["hw.gpu", "code.cuda_oom", "code.host_oom"] + list(CODE))
        j.delete(t, BOB); return j.name, tdel(never_cause=["hw.gpu", "code.cuda_oom", "code.host_oom"] + list(CODE))
    if twin == "sidecar-oom-trainer-on-then-exit":
        set_state(w, t - 900, v, "proxy", ended(w, v, t - 901, 137, "OOMKilled")); w.at(t - 901, lambda: memcg_oom(w, t - 901, v, comm="fluent-bit", limit=262144)); w.log(t, v, TRACE + "ValueError: bad crop"); set_state(w, t + 0.3, v, "trainer", ended(w, v, t, 1), phase="Failed"); j.fail(t + 1, v); return j.name, tcode(never_cause=["code.host_oom"])
    if twin == "proxy-killed-after-exit": w.log(t, v, TRACE + "ValueError: bad crop"); w.at(t, lambda: None); set_state(w, t + 0.3, v, "trainer", ended(w, v, t, 1)); w.at(t + 29, lambda: memcg_oom(w, t + 30, v, comm="envoy", limit=262144)); set_state(w, t + 31, v, "proxy", ended(w, v, t + 30, 137, "OOMKilled"), phase="Failed"); j.fail(t + 32, v); return j.name, tcode(never_cause=["code.host_oom"])
    if twin == "trainer-0-proxy-oom":  # training is done; the helper dies while the pod waits for it
        for p in j.pods: w.log(t, p, "INFO training finished, model saved")
        for p in j.pods: set_state(w, t + 0.3, p, "trainer", ended(w, p, t, 0, "Completed"))
        w.at(t + 29, lambda: memcg_oom(w, t + 30, v, comm="envoy", limit=262144)); set_state(w, t + 31, v, "proxy", ended(w, v, t + 30, 137, "OOMKilled"), phase="Failed"); j.fail(t + 32, v)
        return j.name, T(("code.host_oom", "unknown", "none.completed"), (), "", "", weak=("code.host_oom", "none.completed"))
    for k in range(5): restart(w, t - 1000 + 100 * k, v, 1, n=k + 1, wait=20, container="proxy")
    kl(w, t - 700, v, "BackOff", f"Back-off restarting failed container proxy in pod {v.name}_{w.ns}", warn=True, count=20, until=t - 500, field="spec.containers{proxy}")
    w.at(t - 1, lambda: memcg_oom(w, t, v)); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v); return j.name, toom()


@fam("initdata", "expired-token-late disk-full init-oom retried-then-exit ephemeral-evicted deleted-while-downloading drained-while-downloading still-downloading preempted-while-downloading init-ok-then-oom")
def initdata(w, twin):
    nd = node(w, "gpu-" + w.suffix(4)); spec = template(inits=("download",)); restart_ = twin in ("retried-then-exit",)
    if restart_: spec["restartPolicy"] = "OnFailure"
    j = Job(w, 0, run_name(w), [], spec=spec); p = j.pod(0.5, 0, nd, starts=False); p.start = 3; j.pods = [p]; bind(w, 1, p); f = "spec.initContainers{download}"; t = w.rng.randrange(1500, 2800)
    for r, m in (("Pulled", 'Container image "registry.lab.example/download:2.1" already present on machine'), ("Created", "Created container: download"), ("Started", "Started container download")): kl(w, 3, p, r, m, field=f)
    set_state(w, 3.4, p, "download", {"running": {"startedAt": w.ts(3)}}, init=True, phase="Pending"); w.at(3.5, lambda: None); set_state(w, 3.6, p, "trainer", {"waiting": {"reason": "PodInitializing"}}, phase="Pending")
    for k in range(0, int(t) - 20, 60): w.log(10 + k, p, f"downloaded shard {k // 60:04d} of 2048 (1.2 GB/s)", container="download")
    def over(at, code, reason="Error", text=None):
        if text: w.log(at, p, text, container="download")
        set_state(w, at + 0.3, p, "download", ended(w, p, at, code, reason), init=True, phase="Failed"); j.fail(at + 1, p)
    if twin == "expired-token-late": over(t, 1, text="Traceback (most recent call last):\n  File \"/get.py\", line 8, in <module>\nbotocore.exceptions.ClientError: An error occurred (ExpiredToken) when calling the GetObject operation: The provided token has expired."); return j.name, T(CODE + ("dep.secret_or_config", "dep.storage", "dep.service"), (), "LWAG", "", weak=("unknown",))
    if twin == "disk-full": over(t, 1, text="Traceback (most recent call last):\n  File \"/get.py\", line 8, in <module>\nOSError: [Errno 28] No space left on device"); return j.name, T(CODE + ("dep.storage", "code.storage_limit", "dep.volume"), (), "LWAG", "", weak=("unknown",))
    if twin == "init-oom": w.at(t - 1, lambda: memcg_oom(w, t, p)); over(t, 137, "OOMKilled"); return j.name, toom()
    if twin == "ephemeral-evicted":
        msg = "Pod ephemeral local storage usage exceeds the total limit of containers 500Gi. "; kl(w, t, p, "Evicted", msg, warn=True); w.condition(t + 0.1, kubelet(nd), "Pod", p.name, p.ns, "DisruptionTarget", "True", "TerminationByKubelet", msg); set_state(w, t + 1, p, "download", ended(w, p, t + 0.9, 137), init=True, phase="Failed", reason="Evicted", message=msg); j.fail(t + 2, p); return j.name, T("code.storage_limit", (), "LEWA", "")
    if twin == "still-downloading": idle(w, t); return j.name, T(OK_RUN + ("unknown",), (), "", "", weak=OK_RUN)
    def end_init(at, code=143):
        kl(w, at + 0.1, p, "Killing", "Stopping container download", field=f); set_state(w, at + 2, p, "download", ended(w, p, at + 2, code), init=True, phase="Failed"); finalizer(w, at + 2.2, p); w.at(at + 2.4, lambda: w.get("Pod", p.name, p.ns) and w._do(kubelet(nd), "delete", "Pod", p.name, p.ns, grace=0))
    if twin == "deleted-while-downloading": w.api(t, BOB, "delete", "Job", j.name, w.ns); finalizer(w, t + 0.1, p); w.api(t + 0.2, GC, "delete", "Pod", p.name, p.ns); end_init(t + 0.3); return j.name, tdel()
    if twin == "drained-while-downloading": cordon(w, t - 2, BOB, nd); w.api(t, BOB, "create", "Pod", p.name, p.ns, sub="eviction"); end_init(t + 0.1); j.fail(t + 3, None, rest=[]); return j.name, tdrain()
    if twin == "preempted-while-downloading": w.condition(t, SCHED, "Pod", p.name, p.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"); w.api(t + 0.02, SCHED, "delete", "Pod", p.name, p.ns); w.event(t + 0.03, "default-scheduler", "Pod", p.name, p.ns, "Preempted", f"Preempted by pod {uid_of(w.seed, 'h')} on node {nd}", new=True); end_init(t + 0.1); j.fail(t + 3, None, rest=[]); return j.name, T("sched.preempted", (), "AEW", "", weak=GONE)
    if restart_:
        w.log(600, p, "Traceback (most recent call last):\n  File \"/get.py\", line 8, in <module>\nrequests.exceptions.ConnectionError: HTTPSConnectionPool(host='hf.co'): Max retries exceeded", container="download"); set_state(w, 600.3, p, "download", {"running": {"startedAt": w.ts(620)}}, init=True, restarts=1, last=ended(w, p, 600, 1), phase="Pending"); kl(w, 620, p, "Started", "Started container download", field=f)
    set_state(w, t, p, "download", ended(w, p, t - 0.3, 0, "Completed"), True, init=True, phase="Pending"); w.at(t + 1, lambda: start(w, t + 1, p)); e = t + 900; steps(w, p, t + 5, e, every=30)
    w.at(e - 2, lambda: None)
    if twin == "init-ok-then-oom": w.at(e - 1, lambda: memcg_oom(w, e, p)); exit_pod(w, e + 0.1, p, 137, "OOMKilled"); j.fail(e + 1, p); return j.name, toom()
    raise_(w, e, p); j.fail(e + 1, p); return j.name, tcode(never_cause=["dep.network", "dep.service"])


@fam("configroll", "reloader-runs cm-changed-no-reload-exit reloader-new-crashes secret-rotated-expires cm-of-other-then-exit reloader-sts-then-exit person-rolls-back")
def configroll(w, twin):
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; t = w.rng.randrange(1500, 3000)
    cm = lambda at, name="train-config": w.api(at, BOB, "patch", "ConfigMap", name, w.ns, change=lambda o: o.update(data={"lr": "3e-4"}), request={"data": {"lr": "3e-4"}})
    w.at(-0.4, lambda: [w._do(ALICE, "create", "ConfigMap", n, w.ns, body={"metadata": {}, "data": {"lr": "1e-4"}}) for n in ("train-config", "web-config")])
    if twin in ("cm-changed-no-reload-exit", "secret-rotated-expires", "cm-of-other-then-exit"):
        j = Job(w, 0, run_name(w), nodes); v = j.pods[0]; [steps(w, p, 10, t, every=60, rank=i) for i, p in enumerate(j.pods)]
        if twin == "secret-rotated-expires":
            w.at(-0.3, lambda: w._do(ALICE, "create", "Secret", "s3-creds", w.ns, body={"metadata": {}, "data": {}})); w.api(t - 3600 if t > 3700 else t - 1200, sa("external-secrets", "external-secrets"), "update", "Secret", "s3-creds", w.ns, change=lambda o: None)
            raised(w, t, j, v, "botocore.exceptions.ClientError: An error occurred (InvalidAccessKeyId) when calling the PutObject operation: The AWS Access Key Id you provided does not exist in our records."); return j.name, T(CODE + ("dep.secret_or_config", "dep.storage", "dep.service", "ops.config_change"), (), "LWAG", "", weak=("unknown",))
        cm(t - 60, "web-config" if twin.startswith("cm-of") else "train-config"); raised(w, t, j, v, "ValueError: bad crop"); return j.name, tcode(never=["bob@"], never_cause=["ops.config_change"])
    kind = "StatefulSet" if "sts" in twin else "Deployment"; name = run_name(w, "serve"); pods, rs = deployment(w, name, 2, nodes, kind); [steps(w, p, 15, t, every=60, rank=i) for i, p in enumerate(pods)]
    def roll(at, who, rs2, n=2, img=None):
        w.api(at, who, "patch", kind, name, w.ns, change=lambda o: o["spec"]["template"]["metadata"].setdefault("annotations", {}).update({"reloader.stakater.com/last-reloaded-from": str(at)}), request={"spec": {"template": {"metadata": {"annotations": {"reloader.stakater.com/last-reloaded-from": "{...}"}}}}})
        if who is RELOADER: w.event(at, "reloader", kind, name, w.ns, "Reloaded", f"Changes detected in 'train-config' of type 'CONFIGMAP' in namespace '{w.ns}', Updated '{name}' of type '{kind}' in namespace '{w.ns}'")
        if kind == "StatefulSet":
            qs = []
            for i in (1, 0): delete_pod(w, at + 1 + 20 * (1 - i), STSC, pods[i]); qs.append(make_pod(w, at + 6 + 20 * (1 - i), pods[i].name, nodes[i], by=STSC, of=("StatefulSet", name), labels={"app": name, "controller-revision-hash": f"{name}-7e6"}, spec=template(restart="Always"), generate=False))
            return qs[::-1]
        custom(w, at + 0.1, "ReplicaSet", rs2, DEPC, {"replicas": n}, {"replicas": n}, of=("Deployment", name), labels={"app": name, "pod-template-hash": rs2[-8:]}); w.event(at + 0.1, "deployment-controller", "Deployment", name, w.ns, "ScalingReplicaSet", f"Scaled up replica set {rs2} from 0 to {n}")
        qs = [make_pod(w, at + 0.3, f"{rs2}-{w.suffix()}", nodes[i], by=RSC, of=("ReplicaSet", rs2), labels={"app": name, "pod-template-hash": rs2[-8:]}, spec=template(restart="Always")) for i in range(n)]
        return qs
    def old(at):
        w.api(at, DEPC, "update", "ReplicaSet", rs, w.ns, change=lambda o: o["spec"].update(replicas=0)); w.event(at, "deployment-controller", "Deployment", name, w.ns, "ScalingReplicaSet", f"Scaled down replica set {rs} from 2 to 0")
        for p in pods: delete_pod(w, at + 0.2, RSC, p); w.event(at + 0.3, "replicaset-controller", "ReplicaSet", rs, w.ns, "SuccessfulDelete", f"Deleted pod: {p.name}")
    cm(t - 1)
    ok = ("ops.config_change", "ops.manual_delete")
    if twin == "reloader-sts-then-exit":
        qs = roll(t, RELOADER, None); e = t + 700; [steps(w, q, t + 60, e, every=30, rank=i) for i, q in enumerate(qs)]
        for k in range(4): w.log(e + 60 * k, qs[0], TRACE + "ValueError: bad crop"); restart(w, e + 60 * k, qs[0], 1, n=k + 1, wait=20)
        idle(w, e + 220); return name, T(CODE, (), "LWAG", "", weak=OK_RUN + ok + ("unknown",), never=["bob@", "reloader"])
    qs = roll(t, RELOADER, rs[:-2] + "zz")
    if twin == "reloader-new-crashes":
        for k in range(4): w.log(t + 10 + 60 * k, qs[0], TRACE + "KeyError: 'warmup'"); restart(w, t + 10 + 60 * k, qs[0], 1, n=k + 1, wait=20)
        kl(w, t + 80, qs[0], "BackOff", f"Back-off restarting failed container trainer in pod {qs[0].name}_{w.ns}", warn=True, count=8, until=t + 220, field="spec.containers{trainer}"); idle(w, t + 230); return name, T(CODE + ok[:1], (), "LWAG", "", weak=OK_RUN + ok + ("unknown",), never=["bob@"])
    old(t + 8)
    if twin == "person-rolls-back": [steps(w, q, t + 20, t + 400, every=30) for q in qs]; w.api(t + 400, CAROL, "patch", "Deployment", name, w.ns, change=lambda o: o["spec"]["template"]["metadata"].update(annotations={}), request={"spec": {"template": {"metadata": {"annotations": None}}}}); [delete_pod(w, t + 409, RSC, q) for q in qs]; w.api(t + 400.2, DEPC, "update", "ReplicaSet", rs, w.ns, change=lambda o: o["spec"].update(replicas=2)); qs2 = [make_pod(w, t + 401, f"{rs}-{w.suffix()}", nodes[i], by=RSC, of=("ReplicaSet", rs), labels={"app": name}, spec=template(restart="Always")) for i in range(2)]; [steps(w, q, t + 410, t + 800, every=30) for q in qs2]; idle(w, t + 800); return name, truns(weak=ok, also=ok)
    [steps(w, q, t + 20, t + 700, every=30) for q in qs]; idle(w, t + 700); return name, truns(weak=ok, also=ok)


@fam("deadline2", "deadline-then-delete delete-then-deadline deadline-slow-end-then-evict exit-just-before deadline-of-other-job suspended-then-deadline drain-then-deadline")
def deadline2(w, twin):
    d = w.rng.randrange(1300, 2600); j, nodes, t = gang(w, run=d, deadline=d + (900 if twin in ("deadline-of-other-job",) else 0)); v = j.pods[0]
    D = T("code.deadline", (), "LEWA", "", weak=("unknown",) + DELETED, never=["bob@"], never_cause=["ops.manual_delete", "ops.node_drained"])
    def due(at, slow=0):
        w.condition(at, JOBC, "Job", j.name, j.ns, "FailureTarget", "True", "DeadlineExceeded", "Job was active longer than specified deadline"); w.event(at, "job-controller", "Job", j.name, j.ns, "DeadlineExceeded", "Job was active longer than specified deadline", warn=True)
        for p in j.pods: delete_pod(w, at + 0.1, JOBC, p, took=slow or 2, code=137 if slow else 143); w.event(at + 0.15, "job-controller", "Job", j.name, j.ns, "SuccessfulDelete", f"Deleted pod: {p.name}")
        w.condition(at + (slow or 2) + 2, JOBC, "Job", j.name, j.ns, "Failed", "True", "DeadlineExceeded", "Job was active longer than specified deadline", failed=2)
    if twin == "deadline-then-delete": due(d, 30); w.api(d + 4, BOB, "delete", "Job", j.name, j.ns); w.at(d + 1, lambda: None); return j.name, D
    if twin == "deadline-slow-end-then-evict": due(d, 30); cordon(w, d + 5, BOB, nodes[0]); w.api(d + 7, BOB, "create", "Pod", v.name, v.ns, sub="eviction"); return j.name, D
    if twin == "delete-then-deadline": j.delete(d - 3, BOB); idle(w, d + 30); return j.name, tdel(never_cause=["code.deadline"])
    if twin == "exit-just-before": raise_(w, d - 1.5, v); finalizer(w, d - 0.5, v); due(d); return j.name, T(CODE + ("code.deadline",), (), "LWAG", "")
    if twin == "deadline-of-other-job": o = Job(w, 1, j.name + "-eval", [nodes[1]], deadline=d - 20); o.fail(d - 20, None, "DeadlineExceeded", "Job was active longer than specified deadline", rest=o.pods); raised(w, d, j, v); return j.name, tcode(never_cause=["code.deadline"])
    if twin == "drain-then-deadline": j.backoff = 3; cordon(w, d - 14, BOB, nodes[0]); evict(w, d - 12, BOB, v); q = j.pod(d - 2, 0, None); unschedulable(w, d - 1, q, "0/2 nodes are available: 1 node(s) were unschedulable, 1 Insufficient nvidia.com/gpu."); j.pods[0] = j.pods[0]; w.condition(d, JOBC, "Job", j.name, j.ns, "FailureTarget", "True", "DeadlineExceeded", "Job was active longer than specified deadline"); w.event(d, "job-controller", "Job", j.name, j.ns, "DeadlineExceeded", "Job was active longer than specified deadline", warn=True); delete_pod(w, d + 0.1, JOBC, j.pods[1]); w.api(d + 0.1, JOBC, "delete", "Pod", q.name, q.ns); w.at(d + 0.3, lambda: w.get("Pod", q.name, q.ns) and (finalizer(w, w.now, q), w.at(w.now + 0.05, lambda: ("Pod", q.ns, q.name) in w.objs and w._remove(("Pod", q.ns, q.name))))); w.condition(d + 4, JOBC, "Job", j.name, j.ns, "Failed", "True", "DeadlineExceeded", "Job was active longer than specified deadline", failed=1); return j.name, T(DRAINED + ("code.deadline",), ["bob@"], "LEWA", "", weak=DELETED + ("unknown",))
    w.api(d - 300, BOB, "patch", "Job", j.name, j.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}})
    for p in j.pods: delete_pod(w, d - 299.8, JOBC, p)
    w.condition(d - 296, JOBC, "Job", j.name, j.ns, "Suspended", "True", "JobSuspended", "Job suspended"); w.event(d - 296, "job-controller", "Job", j.name, j.ns, "Suspended", "Job suspended"); idle(w, d + 100)
    return j.name, T(DELETED + ("ops.config_change",), ["bob@"], "A", "A", weak=GONE + ("ops.config_change", "sched.kueue_preempted", "none.running"), never_cause=["code.deadline"])


@fam("pdb-late", "then-completes then-exit other-drains-later gave-up-then-deletes-job kured-timeout-reboots force-by-same blocked-still-runs blocked-then-preempted")
def pdb_late(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(5000, 7000)); v, nd = j.pods[0], nodes[0]; KUR = sa("kube-system", "kured", "kured/v0.0.0 (linux/amd64) kubernetes/$Format"); who = KUR if twin.startswith("kured") else BOB
    cordon(w, t - 2400, who, nd); end = t - 300 if twin in ("then-exit", "gave-up-then-deletes-job", "then-completes", "blocked-then-preempted") else t - 5
    k = t - 2399
    while k < end: evict(w, k, who, v, blocked=True); k += 5 if who is BOB else 30
    if twin == "then-completes": j.complete(t); return j.name, tdone(never=["bob@"])
    if twin == "then-exit": raised(w, t, j, v); return j.name, tcode(never=["bob@"], never_cause=list(DRAINED))
    if twin == "blocked-then-preempted": preempt(w, t, v, nd); j.fail(t + 2.8, v); return j.name, T("sched.preempted", ["scheduler"], "AEW", "AEW", weak=DELETED, never=["bob@"])
    if twin == "blocked-still-runs": idle(w, t); return j.name, truns(never_cause=list(DRAINED))
    if twin == "gave-up-then-deletes-job": j.delete(t, CAROL); return j.name, tdel("carol@", never=["bob@"], weak=DRAINED)
    if twin == "other-drains-later": w.api(t - 2, CAROL, "delete", "PodDisruptionBudget", "trainers", w.ns, fail=None) if False else None; evict(w, t, CAROL, v); j.fail(t + 2.6, v); return j.name, T(DRAINED + DELETED, ["carol@", "bob@"], "AW", "AM", weak=DRAINED + DELETED + ("unknown",))
    if twin == "force-by-same": delete_pod(w, t, BOB, v, took=0.2, code=137, grace=1); j.fail(t + 2.6, v); return j.name, T(DRAINED + DELETED, ["bob@"], "AM", "AM", weak=DRAINED + GONE)
    # kured gives up waiting and reboots the machine under the pod
    w.event(t - 1, "kured", "Node", nd, None, "NodeReboot", f"Reboot required, rebooting node {nd}" [:60], warn=False); w.kernel(t, nd, "systemd-logind[901]: The system will reboot now!", unit="systemd-logind[901]")
    w.event(t + 100, "kubelet", "Node", nd, None, "Starting", "Starting kubelet.", host=nd); w.api(t + 100, kubelet(nd), "patch", "Node", nd, sub="status", change=lambda o: o["status"]["nodeInfo"].update(bootID=uid_of(w.seed, "boot2"))); w.event(t + 100.5, "kubelet", "Node", nd, None, "Rebooted", f"Node {nd} has been rebooted, boot id: {uid_of(w.seed, 'boot2')}", warn=True, host=nd)
    set_state(w, t + 103, v, "trainer", {"terminated": {"exitCode": 255, "reason": "Unknown", "startedAt": w.ts(3), "finishedAt": w.ts(t + 102)}}, phase="Failed"); j.fail(t + 105, v); return j.name, T(("node.reboot", "ops.node_upgrade", "ops.node_drained", "node.shutdown"), (), "EW", "", weak=("node.runtime", "unknown", "node.not_ready") + CODE)
