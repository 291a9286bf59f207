"""Families of cases: the program's own ends, limits, and what kept pods from starting."""

from cases1 import *


def cgroup_uid(w, p): return p.uid.replace("-", "_")


@fam("oom", "own-limit host host-claims-oom sidecar child-survived-then-drain earlier-attempt-then-delete oom-then-grace bare-137 oom-event-other-pod oom-no-gpu-pod init-oom")
def oom(w, twin):
    spec = template(("trainer", "log-shipper"), restart="OnFailure") if twin == "sidecar" else template(inits=("fetch",)) if twin == "init-oom" else template(restart="OnFailure") if twin == "earlier-attempt-then-delete" else template()
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 4000), spec=spec) if twin != "init-oom" else (None, None, 60)
    if twin == "init-oom":
        nd = node(w, "gpu-" + w.suffix(4)); j = Job(w, 0, run_name(w), []); p = j.pod(0.5, 0, nd, starts=False); p.spec = spec; w.at(0.6, lambda: w.get("Pod", p.name, p.ns).update(spec=copy.deepcopy(spec))); j.pods = [p]
        bind(w, 1, p); w.at(3, lambda: setattr(p, "start", 3))
        set_state(w, 3, p, "fetch", {"running": {"startedAt": w.ts(3)}}, init=True); set_state(w, 3.1, p, "trainer", {"waiting": {"reason": "PodInitializing"}})
        w.at(t, lambda: memcg_oom(w, t + 0.01, p, comm="fetch")); w.at(t, lambda: set_state(w, t + 0.3, p, "fetch", ended(w, p, t, 137, "OOMKilled"), init=True, phase="Failed")); j.fail(t + 1, p)
        return j.name, T("code.host_oom", (), "LWAG", "")
    v, nd = j.pods[0], nodes[0]
    if twin == "own-limit":
        memcg_oom(w, t, v); exit_pod(w, t + 0.1, v, 137, "OOMKilled"); j.fail(t + 1, v)
        return j.name, T("code.host_oom", (), "LWAG", "")
    if twin in ("host", "host-claims-oom"):
        pid = w.rng.randrange(5000, 90000)
        w.at(t, lambda: [w.kernel(t + 0.001 * i, nd, x) for i, x in enumerate([
            "containerd-shim invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=-998",
            f"oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom,task_memcg=/kubepods.slice/kubepods-pod{cgroup_uid(w, v)}.slice/cri-containerd-{uid_of(v.uid).replace('-', '')}.scope,task=python,pid={pid},uid=0",
            f"Out of memory: Killed process {pid} (python) total-vm:801234567kB, anon-rss:701234567kB, file-rss:1024kB, shmem-rss:0kB, UID:0 pgtables:412000kB oom_score_adj:-997"])])
        w.event(t + 0.5, "kubelet", "Node", nd, None, "SystemOOM", f"System OOM encountered, victim process: python, pid: {pid}", warn=True, host=nd)
        exit_pod(w, t + 0.1, v, 137, "OOMKilled" if twin == "host-claims-oom" else "Error"); j.fail(t + 1, v)
        return j.name, T(("node.system_oom",) + (("code.host_oom",) if twin == "host-claims-oom" else ()), (), "EWG", "", weak=("code.host_oom",))
    if twin == "sidecar":  # the shipper dies again and again; the trainer runs until somebody deletes the Job
        for i in range(3):
            memcg_oom(w, t - 900 + 200 * i, v, comm="log-shipper"); restart(w, t - 900 + 200 * i, v, 137, "OOMKilled", n=i + 1, container="log-shipper")
        j.delete(t, CAROL)
        return j.name, T(DELETED, ["carol@"], "AM", "AM", weak=DELETED + ("unknown", "none.running"), never_cause=["code.host_oom"])
    if twin == "child-survived-then-drain":
        memcg_oom(w, t - 400, v, comm="pt_data_worker"); w.log(t - 400, v, "WARNING: DataLoader worker (pid 812) was killed by signal: Killed. Restarting worker.")
        steps(w, v, t - 395, t - 1, every=10, start=2000); cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 2.6, v)
        return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED)
    if twin == "earlier-attempt-then-delete":
        memcg_oom(w, t - 900, v); restart(w, t - 900, v, 137, "OOMKilled"); steps(w, v, t - 880, t - 1, every=30)
        j.delete(t, CAROL)
        return j.name, T(DELETED, ["carol@"], "AM", "AM", weak=DELETED + ("code.host_oom", "unknown"), never_cause=[])
    if twin == "oom-then-grace":  # asked to stop by a person, and only while it saved its state it ran over its limit
        j2 = T(DELETED, ["carol@"], "AM", "AM", weak=DELETED + ("code.host_oom",))
        delete_pod(w, t, CAROL, v, live=False); kl(w, t + 0.1, v, "Killing", "Stopping container trainer")
        memcg_oom(w, t + 12, v); exit_pod(w, t + 12.1, v, 137, "OOMKilled"); finalizer(w, t + 13, v); w.api(t + 13.2, kubelet(nd), "delete", "Pod", v.name, v.ns, grace=0); j.fail(t + 13.5, v)
        return j.name, j2
    if twin == "bare-137":
        exit_pod(w, t, v, 137); j.fail(t + 1, v)
        return j.name, T("unknown", (), "", "", weak=("code.host_oom", "code.exception", "code.liveness_probe", "node.system_oom", "ops.manual_delete"))
    if twin == "oom-event-other-pod":  # the kernel killed another pod's process on that machine; ours raised
        o = make_pod(w, 2, "notebook-" + w.suffix(4), nd, by=BOB, generate=False)
        memcg_oom(w, t - 2, o); exit_pod(w, t - 1.9, o, 137, "OOMKilled")
        w.log(t, v, TRACE + "RuntimeError: mat1 and mat2 shapes cannot be multiplied"); exit_pod(w, t, v, 1); j.fail(t + 1, v)
        return j.name, T(CODE, (), "LWAG", "")
    w.event(t, "kernel-monitor", "Node", nd, None, "OOMKilling", "Memory cgroup out of memory: Killed process 4242 (node-exporter) total-vm:1301234kB, anon-rss:201234kB, file-rss:1024kB, shmem-rss:0kB", warn=True, host=nd)
    exit_pod(w, t + 1, v, 137); j.fail(t + 2, v)
    return j.name, T(("unknown",), (), "", "", weak=("code.host_oom", "code.exception", "node.system_oom"))


@fam("exit-code", "1-trace 2-args 126-start 127-start 126-late 127-late 134 134-nccl 135 139 143-self 143-deleted 1-bare 2-bare 255")
def exit_code(w, twin):
    late = twin not in ("2-args", "126-start", "127-start")
    j, nodes, t = gang(w, run=w.rng.randrange(4000, 15000) if late else 4)
    v = j.pods[0]
    def over(code, text=None, reason=None, message=None):
        if text: w.log(t, v, text)
        exit_pod(w, t + 0.1, v, code, reason, message=message); j.fail(t + 1, v); return j.name
    if twin == "1-trace": return over(1, TRACE + "ValueError: loss is nan at step 900"), T(CODE + ("code.divergence",), (), "LWAG", "")
    if twin == "2-args":
        t = 6; return over(2, "usage: train.py [-h] [--lr LR]\ntrain.py: error: unrecognized arguments: --wramup 10"), T(("code.config_or_input", "code.exception"), (), "G", "", weak=CODE)
    if twin in ("126-start", "127-start"):
        t = 5; code = int(twin[:3])
        return over(code, "/bin/sh: 1: /app/run.sh: " + ("Permission denied" if code == 126 else "not found")), T(("code.config_or_input",), (), "LWAG", "", weak=("code.exception", "unknown"))
    if twin in ("126-late", "127-late"):  # hours into a run the code is that of a command within a script
        return over(int(twin[:3])), T(("code.exception", "unknown"), (), "", "", weak=("code.config_or_input",), cap="supported", never_cause=["code.config_or_input"])
    if twin == "134": return over(134, "python: /src/kernel.cc:88: void f(): Assertion `n > 0' failed.\nAborted (core dumped)"), T(("code.segfault", "code.exception"), (), "G", "", weak=("code.segfault", "unknown"))
    if twin == "134-nccl":
        return over(134, "[rank0]:[E1005 10:00:00.000000000 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=981, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.\nterminate called after throwing an instance of 'c10::DistBackendError'"), T(("hang.collective_timeout",), (), "G", "", weak=("code.segfault", "code.exception", "hang.collective_timeout"), also=("code.segfault",))
    if twin == "135": return over(135, "Bus error (core dumped)"), T(("code.segfault", "code.data_loader"), (), "LWAG", "")
    if twin == "139": return over(139, "Segmentation fault (core dumped)"), T("code.segfault", (), "LWAG", "")
    if twin == "143-self": return over(143), T("unknown", (), "", "", weak=("ops.manual_delete", "code.exception"))
    if twin == "143-deleted":
        delete_pod(w, t, BOB, v); j.fail(t + 2.6, v); return j.name, T(DELETED, ["bob@"], "AM", "AM", weak=DELETED)
    if twin == "1-bare": return over(1), T(("code.exception", "unknown"), (), "", "", weak=CODE)
    if twin == "2-bare": return over(2), T(("code.exception", "code.config_or_input", "unknown"), (), "", "", weak=CODE)
    return over(255), T(("code.exception", "unknown"), (), "", "", weak=CODE + ("node.runtime", "node.reboot"))


@fam("probe", "liveness startup liveness-after-oom readiness-then-exit liveness-then-delete liveness-sidecar")
def probe(w, twin):
    spec = template(("trainer", "proxy") if twin == "liveness-sidecar" else ("trainer",), restart="OnFailure", extra={})
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 4000), spec=spec, backoff=0, n=1)
    v = j.pods[0]
    f = "spec.containers{trainer}"
    def live(at, kind="liveness", c="trainer"):
        kl(w, at - 30, v, "Unhealthy", f'{kind.capitalize()} probe failed: Get "http://10.2.3.4:8080/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)', warn=True, count=3, until=at - 0.1, field=f"spec.containers{{{c}}}")
        kl(w, at, v, "Killing", f"Container {c} failed {kind} probe, will be restarted", field=f"spec.containers{{{c}}}")
    def over(at, code, reason=None):
        exit_pod(w, at, v, code, reason); j.fail(at + 1, v)
    if twin == "liveness":
        live(t); restart(w, t + 31, v, 137); live(t + 500); over(t + 531, 137)
        return j.name, T(("code.liveness_probe",), (), "EW", "", weak=("code.host_oom", "code.exception", "unknown"))
    if twin == "startup":
        live(t, "startup"); over(t + 31, 137)
        return j.name, T(("code.liveness_probe", "code.readiness_probe"), (), "EW", "", weak=("code.host_oom", "code.exception", "unknown"))
    if twin == "liveness-after-oom":  # a liveness restart that it got over, later out of memory
        live(t - 800); restart(w, t - 769, v, 137); steps(w, v, t - 700, t - 1, every=20)
        memcg_oom(w, t, v); over(t + 0.1, 137, "OOMKilled")
        return j.name, T("code.host_oom", (), "LWAG", "", weak=("code.liveness_probe",))
    if twin == "readiness-then-exit":
        kl(w, t - 300, v, "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", warn=True, count=30, until=t - 1)
        w.log(t, v, TRACE + "ValueError: empty batch"); over(t, 1)
        return j.name, T(CODE, (), "LWAG", "")
    if twin == "liveness-sidecar":
        live(t - 300, c="proxy"); restart(w, t - 290, v, 137, container="proxy")
        w.log(t, v, TRACE + "ValueError: bad token id"); over(t, 1)
        return j.name, T(CODE, (), "LWAG", "")
    live(t - 800); restart(w, t - 769, v, 137); j.delete(t, BOB)
    return j.name, T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("code.liveness_probe", "unknown"))


@fam("node-pressure", "memory node-ephemeral pids inodes own-ephemeral emptydir pressure-then-exit pressure-other-pod")
def pressure(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 4000))
    v, nd = j.pods[0], nodes[0]
    res = {"memory": "memory", "node-ephemeral": "ephemeral-storage", "pids": "pids", "inodes": "inodes"}.get(twin)
    def evicted(p, msg):
        kl(w, t, p, "Evicted", msg, warn=True)
        kl(w, t + 0.1, p, "Killing", "Stopping container trainer")
        w.condition(t + 0.1, kubelet(nd), "Pod", p.name, p.ns, "DisruptionTarget", "True", "TerminationByKubelet", msg)
        exit_pod(w, t + 1, p, 137, why="Evicted", why_message=msg)
    if res:
        cond = {"memory": "MemoryPressure", "ephemeral-storage": "DiskPressure", "pids": "PIDPressure", "inodes": "DiskPressure"}[res]
        w.event(t - 5, "kubelet", "Node", nd, None, "EvictionThresholdMet", f"Attempting to reclaim {res}", warn=True, host=nd)
        w.event(t - 4, "kubelet", "Node", nd, None, f"NodeHas{cond}" if cond != "PIDPressure" else "NodeHasInsufficientPID", f"Node {nd} status is now: NodeHas{cond}", host=nd)
        evicted(v, f"The node was low on resource: {res}. " + ("Threshold quantity: 100Mi, available: 93Mi. Container trainer was using 190Gi, request is 200Gi, has larger consumption of memory. " if res == "memory" else "Threshold quantity: 10%, available: 9%. " if res == "ephemeral-storage" else ""))
        j.fail(t + 2, v); return j.name, T("sched.node_pressure", (), "LEWA", "")
    if twin == "own-ephemeral":
        evicted(v, 'Container trainer exceeded its local ephemeral storage limit "20Gi". '); j.fail(t + 2, v); return j.name, T("code.storage_limit", (), "LEWA", "")
    if twin == "emptydir":
        evicted(v, 'Usage of EmptyDir volume "scratch" exceeds the limit "50Gi". '); j.fail(t + 2, v); return j.name, T("code.storage_limit", (), "LEWA", "")
    if twin == "pressure-then-exit":  # the node was under pressure and got over it
        w.event(t - 600, "kubelet", "Node", nd, None, "EvictionThresholdMet", "Attempting to reclaim ephemeral-storage", warn=True, host=nd)
        w.event(t - 500, "kubelet", "Node", nd, None, "NodeHasNoDiskPressure", f"Node {nd} status is now: NodeHasNoDiskPressure", host=nd)
        w.log(t, v, TRACE + "ValueError: bad mask"); exit_pod(w, t, v, 1); j.fail(t + 1, v); return j.name, T(CODE, (), "LWAG", "")
    o = make_pod(w, 2, "batch-" + w.suffix(4), nd, by=BOB, generate=False)
    evicted(o, "The node was low on resource: memory. Threshold quantity: 100Mi, available: 93Mi. ")
    w.log(t + 2, v, TRACE + "RuntimeError: bad config"); exit_pod(w, t + 2, v, 1); j.fail(t + 3, v)
    return j.name, T(CODE, (), "LWAG", "", weak=("sched.node_pressure",))


@fam("deadline", "job pod job-after-failures deployment-progress argo person-before-deadline completed-before")
def deadline(w, twin):
    d = w.rng.randrange(1200, 4000)
    if twin == "deployment-progress":
        w.at(0, lambda: w._do(ALICE, "create", "Deployment", "serve", w.ns, body={"metadata": {}, "spec": {"replicas": 1, "progressDeadlineSeconds": 600, "selector": {"matchLabels": {"app": "serve"}}, "template": {"metadata": {"labels": {"app": "serve"}}, "spec": template()}}, "status": {}}))
        w.at(0.1, lambda: w._do(DEPC, "create", "ReplicaSet", "serve-7d9f", w.ns, body={"metadata": {"ownerReferences": [owner(w, "Deployment", "serve", w.ns)], "labels": {"pod-template-hash": "7d9f"}}, "spec": {"replicas": 1}, "status": {"replicas": 1}}))
        p = make_pod(w, 0.2, "serve-7d9f-" + w.suffix(), None, by=RSC, of=("ReplicaSet", "serve-7d9f"), labels={"app": "serve", "pod-template-hash": "7d9f"})
        unschedulable(w, 1, p, "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod.", until=700)
        w.condition(601, DEPC, "Deployment", "serve", w.ns, "Progressing", "False", "ProgressDeadlineExceeded", 'ReplicaSet "serve-7d9f" has timed out progressing.')
        return "serve", T(("sched.unschedulable_capacity", "sched.unschedulable_constraint"), (), "LEWA", "")
    if twin == "argo":
        return argo(w, "deadline")
    if twin == "pod":
        j, nodes, t = gang(w, run=d, spec=template(extra={"activeDeadlineSeconds": d}))
        v = j.pods[0]
        kl(w, t, v, "DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
        exit_pod(w, t + 1, v, 137, why="DeadlineExceeded", why_message="Pod was active on the node longer than the specified deadline"); j.fail(t + 2, v)
        return j.name, T("code.deadline", (), "LEWA", "")
    if twin == "job":
        j, nodes, t = gang(w, run=d, deadline=d)
        j.fail(t, None, "DeadlineExceeded", "Job was active longer than specified deadline", rest=j.pods)
        return j.name, T("code.deadline", (), "LEWA", "", weak=())
    if twin == "job-after-failures":  # every attempt raised; the deadline came while the Job waited for its next try
        j, nodes, t = gang(w, run=600, n=1, deadline=d, backoff=6)
        at, p = 600, j.pods[0]
        for i in range(2):
            w.log(at, p, TRACE + "ValueError: bad shard"); exit_pod(w, at, p, 1); finalizer(w, at + 1, p)
            if i == 0: p = j.pod(at + 20, 0, nodes[0]); at += 120
        j.fail(d, None, "DeadlineExceeded", "Job was active longer than specified deadline", rest=[])
        return j.name, T(CODE + ("code.deadline",), (), "LWAG", "", weak=())
    if twin == "person-before-deadline":
        j, nodes, t = gang(w, run=d, deadline=d + 900)
        j.delete(t, BOB); return j.name, T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",), never_cause=["code.deadline"])
    j, nodes, t = gang(w, run=d, deadline=d + 900); j.complete(t)
    return j.name, T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"))


def unschedulable(w, t, p, message, until=None):
    w.event(t, "default-scheduler", "Pod", p.name, p.ns, "FailedScheduling", message, warn=True, new=True)
    def change(o): w._condition(o, "PodScheduled", "False", "Unschedulable", message)
    w.api(t, SCHED, "patch", "Pod", p.name, p.ns, sub="status", change=change)
    n = t + 300
    while until and n < until:
        w.event(n, "default-scheduler", "Pod", p.name, p.ns, "FailedScheduling", message, warn=True, new=True); n += 300


@fam("never-started", "capacity capacity-deleted too-large selector taint pvc-unbound bare-deleted bare-job-deleted gates survived-then-exit quota-kueue overcommit-then-scheduled")
def never(w, twin):
    for i in range(3): node(w, f"gpu-{i}{w.suffix(3)}")
    gpu = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
    msgs = {"selector": "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
            "taint": "0/3 nodes are available: 3 node(s) had untolerated taint {team: vision}. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
            "pvc-unbound": "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
            "too-large": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."}
    cap = ("sched.unschedulable_capacity",)
    if twin in ("bare-deleted", "bare-job-deleted", "capacity-deleted"):
        t = w.rng.randrange(1500, 3000)
        if twin == "bare-deleted":
            p = make_pod(w, 0, run_name(w), None, by=ALICE, generate=False, labels={"app": "x"})
            unschedulable(w, 0.3, p, gpu, until=t); w.api(t, BOB, "delete", "Pod", p.name, p.ns)
            return p.name, T(cap, (), "EWA", "", weak=DELETED, never=["bob@"])
        j = Job(w, 0, run_name(w), [None, None])
        for p in j.pods: unschedulable(w, 1, p, gpu, until=t)
        w.api(t, BOB, "delete", "Job", j.name, j.ns)
        for p in j.pods: finalizer(w, t + 0.1, p); w.api(t + 0.2, GC, "delete", "Pod", p.name, p.ns)
        return j.name, T(cap, (), "EWA", "", weak=DELETED + ("unknown",), never=["bob@"])
    if twin == "survived-then-exit":
        nd = "gpu-late-" + w.suffix(3); node(w, nd)
        j = Job(w, 0, run_name(w), [None]); p = j.pods[0]; unschedulable(w, 1, p, gpu, until=600)
        w.at(700, lambda: setattr(p, "node", nd)); w.at(700, lambda: (bind(w, 700.1, p), start(w, 702, p)))
        w.at(703, lambda: (steps(w, p, 710, 2000, every=50), w.log(2000, p, TRACE + "ValueError: bad shape")))
        w.at(704, lambda: exit_pod(w, 2000, p, 1)); j.fail(2001, p)
        return j.name, T(CODE, (), "LWAG", "")
    if twin == "overcommit-then-scheduled":
        nd = "gpu-late-" + w.suffix(3); node(w, nd)
        j = Job(w, 0, run_name(w), [None]); p = j.pods[0]; unschedulable(w, 1, p, gpu, until=600)
        w.at(700, lambda: setattr(p, "node", nd)); w.at(700, lambda: (bind(w, 700.1, p), start(w, 702, p)))
        w.at(703, lambda: steps(w, p, 710, 2000, every=50)); w.at(2000, lambda: None)
        return j.name, T("none.running", (), "LWA", "", weak=("none.running",))
    if twin == "gates":
        j = Job(w, 0, run_name(w), [None], spec=template(extra={"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}))
        w.at(1, lambda: w._do(SCHED, "patch", "Pod", j.pods[0].name, j.ns, sub="status", change=lambda o: w._condition(o, "PodScheduled", "False", "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates"))); w.at(1800, lambda: None)
        return j.name, T(("sched.quota", "sched.unschedulable_constraint", "unknown"), (), "", "", weak=cap)
    if twin == "quota-kueue":
        j = Job(w, 0, run_name(w), [], suspend=True)
        wl = f"job-{j.name}-{uid_of(j.name)[:5]}"
        msg = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 8 more needed"
        w.at(0.2, lambda: w._do(KUEUE, "create", "Workload", wl, w.ns, body={"metadata": {"ownerReferences": [owner(w, "Job", j.name, w.ns)]}, "spec": {"queueName": "team-a"}, "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": msg, "lastTransitionTime": w.ts(0)}]}}))
        w.event(0.3, "kueue-admission", "Workload", wl, w.ns, "Pending", msg, warn=True); w.at(1800, lambda: None)
        return j.name, T(("sched.quota",), (), "LEWA", "", weak=cap)
    spec = template(gpus=16) if twin == "too-large" else template(extra={"nodeSelector": {"gpu": "h200"}}) if twin == "selector" else template()
    j = Job(w, 0, run_name(w), [None, None], spec=spec)
    for p in j.pods: unschedulable(w, 1, p, msgs.get(twin, gpu), until=2400)
    w.at(2400, lambda: None)
    right = {"capacity": cap, "too-large": cap + ("sched.unschedulable_constraint",), "selector": ("sched.unschedulable_constraint",), "taint": ("sched.unschedulable_constraint",), "pvc-unbound": ("dep.volume",)}[twin]
    return j.name, T(right, (), "LEWA", "", weak=cap)


@fam("image", "not-found denied rate-limited unreachable sidecar survived bare-deleted no-space")
def image(w, twin):
    nd = node(w, "gpu-" + w.suffix(4))
    side = twin == "sidecar"
    j = Job(w, 0, run_name(w), [], spec=template(("trainer", "proxy") if side else ("trainer",)))
    p = j.pod(0.5, 0, nd, starts=False); p.start = 3; j.pods = [p]
    bind(w, 1, p)
    c = "proxy" if side else "trainer"
    img = "registry.lab.example/proxy:2.1" if side else "registry.lab.example/train:1.4.2"
    why = {"not-found": f"rpc error: code = NotFound desc = failed to pull and unpack image \"{img}\": failed to resolve reference \"{img}\": {img}: not found", "denied": f"rpc error: code = Unknown desc = failed to pull and unpack image \"{img}\": failed to resolve reference \"{img}\": pull access denied, repository does not exist or may require authorization: authorization failed: no basic auth credentials",
           "rate-limited": f"rpc error: code = Unknown desc = failed to pull and unpack image \"{img}\": failed to copy: httpReadSeeker: failed open: unexpected status code https://registry-1.docker.io/v2/x/manifests/sha256:1: 429 Too Many Requests - Server message: toomanyrequests: You have reached your pull rate limit.",
           "unreachable": f"rpc error: code = Unknown desc = failed to pull and unpack image \"{img}\": failed to resolve reference \"{img}\": failed to do request: Head \"https://registry.lab.example/v2/train/manifests/1.4.2\": dial tcp 10.9.8.7:443: i/o timeout",
           "no-space": f"rpc error: code = Unknown desc = failed to pull and unpack image \"{img}\": failed to extract layer sha256:aa: write /var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/9/fs/x: no space left on device"}
    msg = why.get(twin, why["not-found" if twin in ("sidecar", "bare-deleted") else "unreachable"])
    f = f"spec.containers{{{c}}}"
    kl(w, 3, p, "Pulling", f'Pulling image "{img}"', field=f, count=5, until=600)
    kl(w, 6, p, "Failed", f'Failed to pull image "{img}": {msg}', warn=True, field=f, count=5, until=601)
    kl(w, 6.1, p, "Failed", "Error: ErrImagePull", warn=True, field=f, count=5, until=601)
    kl(w, 20, p, "BackOff", f'Back-off pulling image "{img}"', field=f, count=20, until=900)
    kl(w, 20, p, "Failed", "Error: ImagePullBackOff", warn=True, field=f, count=20, until=900)
    set_state(w, 20, p, c, {"waiting": {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "{img}": ErrImagePull: {msg}'}}, phase="Pending")
    if side: set_state(w, 20.2, p, "trainer", {"running": {"startedAt": w.ts(20)}}, True, phase="Pending")
    right = {"no-space": ("dep.image_pull", "dep.storage", "sched.node_pressure", "code.storage_limit")}.get(twin, ("dep.image_pull",))
    if twin == "survived":
        w.at(950, lambda: start(w, 950, p)); steps(w, p, 960, 3000, every=60); w.log(3000, p, TRACE + "ValueError: bad crop"); exit_pod(w, 3000, p, 1); j.fail(3001, p)
        return j.name, T(CODE, (), "LWAG", "")
    if twin == "bare-deleted":
        w.at(1000, lambda: None); w.api(1000, BOB, "delete", "Job", j.name, j.ns); finalizer(w, 1000.1, p); w.api(1000.2, GC, "delete", "Pod", p.name, p.ns)
        w.at(1003, lambda: w.get("Pod", p.name, p.ns) and w._do(kubelet(nd), "delete", "Pod", p.name, p.ns, grace=0))
        return j.name, T(right, (), "EWA", "", weak=DELETED + ("unknown",), never=["bob@"])
    w.at(1000, lambda: None)
    return j.name, T(right, (), "LEWA", "")


@fam("denied", "webhook quota limitrange podsecurity sa-missing webhook-down quota-survived")
def denied(w, twin):
    j = Job(w, 0, run_name(w), [])
    base = f"pods \"{j.name}-0-\" is forbidden: "
    msg = {"webhook": 'Error creating: admission webhook "validate.kyverno.svc-fail" denied the request: \n\nresource Pod/research/x was blocked due to the following policies \n\nrequire-labels: check-team: label team is required',
           "quota": "Error creating: " + base + "exceeded quota: team-gpu, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=64, limited: requests.nvidia.com/gpu=64",
           "limitrange": "Error creating: " + base + "maximum memory usage per Container is 64Gi, but limit is 200Gi",
           "podsecurity": "Error creating: " + base + 'violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "trainer" must set securityContext.allowPrivilegeEscalation=false)',
           "sa-missing": "Error creating: " + base + f'error looking up service account {w.ns}/trainer: serviceaccount "trainer" not found',
           "webhook-down": 'Error creating: Internal error occurred: failed calling webhook "mpod.kb.io": failed to call webhook: Post "https://kueue-webhook-service.kueue-system.svc:443/mutate--v1-pod?timeout=10s": dial tcp 10.96.1.2:443: connect: connection refused'}.get(twin)
    if twin == "quota-survived":
        msg = "Error creating: " + base + "exceeded quota: team-gpu, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=64, limited: requests.nvidia.com/gpu=64"
    for i in range(5): w.event(1 + i * 60, "job-controller", "Job", j.name, j.ns, "FailedCreate", msg, warn=True)
    if twin == "quota-survived":
        nd = node(w, "gpu-" + w.suffix(4)); p = j.pod(400, 0, nd); j.pods = [p]; steps(w, p, 410, 3000, every=60); w.log(3000, p, TRACE + "ValueError: bad crop"); exit_pod(w, 3000, p, 1); j.fail(3001, p)
        return j.name, T(CODE, (), "LWAG", "")
    w.at(600, lambda: None)
    right = {"webhook": ("code.config_or_input", "sched.unschedulable_constraint", "dep.control_plane"), "quota": ("sched.quota",), "limitrange": ("code.config_or_input", "sched.quota", "sched.unschedulable_constraint"), "podsecurity": ("code.config_or_input", "sched.unschedulable_constraint"), "sa-missing": ("dep.secret_or_config", "code.config_or_input"), "webhook-down": ("dep.control_plane",)}[twin]
    return j.name, T(right, (), "EW", "", weak=("unknown", "dep.control_plane"))


@fam("volume", "multi-attach mount-timeout secret-missing configmap-key survived multi-attach-freed-then-oom")
def volume(w, twin):
    nd = node(w, "gpu-" + w.suffix(4))
    j = Job(w, 0, run_name(w), [])
    p = j.pod(0.5, 0, nd, starts=False); p.start = 3; j.pods = [p]
    bind(w, 1, p); set_state(w, 2, p, "trainer", {"waiting": {"reason": "ContainerCreating"}}, phase="Pending")
    att = lambda: (w.event(2, "attachdetach-controller", "Pod", p.name, p.ns, "FailedAttachVolume", 'Multi-Attach error for volume "pvc-9c1e" Volume is already exclusively attached to one node and can\'t be attached to another', warn=True),
                   kl(w, 125, p, "FailedMount", 'Unable to attach or mount volumes: unmounted volumes=[ckpt], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition', warn=True, count=4, until=500))
    then = lambda t0=600: (w.at(t0, lambda: start(w, t0, p)), steps(w, p, t0 + 5, 3000, every=60))
    if twin == "multi-attach": att(); w.at(600, lambda: None); return j.name, T("dep.volume", (), "EW", "", weak=("unknown", "dep.volume"))
    if twin == "mount-timeout":
        kl(w, 60, p, "FailedMount", 'MountVolume.SetUp failed for volume "data" : mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs 10.0.0.9:/data /var/lib/kubelet/x\nOutput: mount.nfs: Connection timed out', warn=True, count=6, until=550); w.at(600, lambda: None)
        return j.name, T(("dep.volume", "dep.storage"), (), "EW", "", weak=("unknown", "dep.volume"))
    if twin == "secret-missing":
        kl(w, 3, p, "FailedMount", 'MountVolume.SetUp failed for volume "creds" : secret "s3-creds" not found', warn=True, count=9, until=550); w.at(600, lambda: None)
        return j.name, T(("dep.secret_or_config",), (), "EW", "", weak=("unknown", "dep.volume", "dep.secret_or_config"))
    if twin == "configmap-key":
        set_state(w, 4, p, "trainer", {"waiting": {"reason": "CreateContainerConfigError", "message": "couldn't find key LR in ConfigMap research/hp"}}, phase="Pending")
        kl(w, 4, p, "Failed", "Error: couldn't find key LR in ConfigMap research/hp", warn=True, count=20, until=550); w.at(600, lambda: None)
        return j.name, T(("dep.secret_or_config",), (), "LEWA", "")
    att(); then()
    if twin == "survived":
        w.log(3000, p, TRACE + "ValueError: bad crop"); exit_pod(w, 3000, p, 1); j.fail(3001, p); return j.name, T(CODE, (), "LWAG", "")
    w.at(2999, lambda: memcg_oom(w, 3000, p)); w.at(2999.5, lambda: exit_pod(w, 3000.1, p, 137, "OOMKilled")); j.fail(3001, p)
    return j.name, T("code.host_oom", (), "LWAG", "")


@fam("init", "fails image survived native-sidecar-exit")
def init(w, twin):
    nd = node(w, "gpu-" + w.suffix(4))
    spec = template(inits=("fetch",))
    if twin == "native-sidecar-exit": spec["initContainers"][0]["restartPolicy"] = "Always"
    j = Job(w, 0, run_name(w), [], spec=spec)
    p = j.pod(0.5, 0, nd, starts=False); p.start = 3; j.pods = [p]
    bind(w, 1, p)
    f = "spec.initContainers{fetch}"
    set_state(w, 2, p, "trainer", {"waiting": {"reason": "PodInitializing"}}, phase="Pending")
    if twin == "image":
        set_state(w, 20, p, "fetch", {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "registry.lab.example/fetch:2.1": ErrImagePull: not found'}}, init=True)
        kl(w, 6, p, "Failed", 'Failed to pull image "registry.lab.example/fetch:2.1": rpc error: code = NotFound desc = failed to pull and unpack image "registry.lab.example/fetch:2.1": not found', warn=True, field=f, count=9, until=590); w.at(600, lambda: None)
        return j.name, T("dep.image_pull", (), "LEWA", "")
    set_state(w, 3, p, "fetch", {"running": {"startedAt": w.ts(3)}}, init=True)
    if twin == "fails":
        w.log(60, p, "fatal: could not read Username for 'https://git.lab.example': terminal prompts disabled\nfetch failed", "fetch")
        w.at(60, lambda: set_state(w, 60.3, p, "fetch", ended(w, p, 60, 1), init=True, phase="Failed")); j.fail(61, p)
        return j.name, T(CODE + ("dep.service", "dep.secret_or_config", "unknown"), (), "LWAG", "")
    if twin == "native-sidecar-exit":  # the sidecar is started again beside the trainer, which completes
        w.at(5, lambda: start(w, 5, p)); steps(w, p, 10, 2000, every=60)
        for i in range(3): w.at(500 + 300 * i, lambda i=i: set_state(w, 500 + 300 * i, p, "fetch", {"running": {"startedAt": w.ts(510 + 300 * i)}}, True, i + 1, ended(w, p, 500 + 300 * i, 1), init=True, phase="Running"))
        w.at(2000, lambda: j.complete(2000.1)); return j.name, T("none.completed", (), "LWA", "", weak=("none.completed", "unknown"))
    w.at(60, lambda: set_state(w, 60.3, p, "fetch", ended(w, p, 60, 1), init=True, restarts=0)); w.at(80, lambda: set_state(w, 80, p, "fetch", ended(w, p, 79, 0, "Completed"), init=True, restarts=1, last=ended(w, p, 60, 1)))
    w.at(85, lambda: start(w, 85, p)); steps(w, p, 90, 2500, every=60); w.log(2500, p, TRACE + "ValueError: bad crop"); exit_pod(w, 2500, p, 1); j.fail(2501, p)
    return j.name, T(CODE, (), "LWAG", "")
