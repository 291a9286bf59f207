"""The product again, with what a machine, its watchers and a log may tell of long before the end, while training goes on."""

from cases5 import *


def end_deadline(w, j, v, nd, t):
    w.at(0.1, lambda: w.get("Job", j.name, j.ns)["spec"].update(activeDeadlineSeconds=int(t))); j.fail(t, None, "DeadlineExceeded", "Job was active longer than specified deadline", rest=j.pods); return T("code.deadline", (), "LEWA", "")


def end_suspend(w, j, v, nd, t):
    w.api(t, BOB, "patch", "Job", j.name, j.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}})
    for p in j.pods: delete_pod(w, t + 0.2, JOBC, p)
    w.condition(t + 3, JOBC, "Job", j.name, j.ns, "Suspended", "True", "JobSuspended", "Job suspended"); w.event(t + 3, "job-controller", "Job", j.name, j.ns, "Suspended", "Job suspended")
    return T(DELETED + ("ops.config_change",), ["bob@"], "A", "A", weak=DELETED + ("ops.config_change", "unknown"))


def end_kueue(w, j, v, nd, t): kueue_evict(w, t, j, "Preempted", "Preempted to accommodate a workload (UID: a, JobUID: b) due to prioritization in the ClusterQueue"); return T("sched.kueue_preempted", (), "LEWA", "", weak=DELETED + ("sched.kueue_evicted",))
def end_tainted(w, j, v, nd, t): taint(w, t, BOB, nd, "maintenance", "NoExecute", "rack7"); taint_evict(w, t + 0.2, v); j.fail(t + 2.8, v); return T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED + ("node.not_ready",))


def end_node_deleted(w, j, v, nd, t):
    delete_node(w, t, BOB, nd); w.condition(t + 40, PODGC, "Pod", v.name, v.ns, "DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists"); finalizer(w, t + 40.5, v); w.api(t + 40.7, PODGC, "delete", "Pod", v.name, v.ns, grace=0); j.fail(t + 41, v)
    return T(DELETED + DRAINED, ["bob@"], "A", "A", weak=DELETED + DRAINED + ("cloud.instance_terminated", "node.not_ready"), never=["pod-garbage-collector"])


def end_shutdown(w, j, v, nd, t):
    w.event(t - 1, "kubelet", "Node", nd, None, "Shutdown", "Shutdown manager detected shutdown event", host=nd); w.condition(t, kubelet(nd), "Pod", v.name, v.ns, "DisruptionTarget", "True", "TerminationByKubelet", "Pod was terminated in response to imminent node shutdown.")
    exit_pod(w, t + 2, v, 143, why="Terminated", why_message="Pod was terminated in response to imminent node shutdown."); j.fail(t + 3, v); return T(("node.shutdown", "node.reboot"), (), "LEWA", "")


def end_liveness(w, j, v, nd, t):
    kl(w, t - 30, v, "Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500", warn=True, count=3, until=t - 0.1); kl(w, t, v, "Killing", "Container trainer failed liveness probe, will be restarted", field="spec.containers{trainer}"); exit_pod(w, t + 31, v, 137); j.fail(t + 32, v); return T("code.liveness_probe", (), "EW", "", weak=("code.host_oom", "code.exception", "unknown"))


MORE = ENDS | {f.__name__[4:].replace("_", "-"): f for f in (end_deadline, end_suspend, end_kueue, end_tainted, end_node_deleted, end_shutdown, end_liveness)}
k = lambda text: lambda w, v, nd, t: w.kernel(t, nd, text)
g = lambda text: lambda w, v, nd, t: w.log(t, v, text)
ev = lambda by, reason, msg, warn=True: lambda w, v, nd, t: w.event(t, by, "Node", nd, None, reason, msg.format(nd=nd), warn=warn, host=nd if by == "kubelet" else None)


def npd(kind, reason, message, ok="OK"):
    def f(w, v, nd, t):
        who = sa("kube-system", "node-problem-detector", "node-problem-detector/v0.8.20")
        w.condition(t, who, "Node", nd, None, kind, "True", reason, message); w.event(t, "kernel-monitor", "Node", nd, None, reason, f"Node condition {kind} is now: True, reason: {reason}, message: \"{message}\"", warn=True)
        w.condition(t + 60, who, "Node", nd, None, kind, "False", ok, ok)
    return f


def seq(*fs, gap=5): return lambda w, v, nd, t: [f(w, v, nd, t + gap * i) for i, f in enumerate(fs)]


PAST = {
    "oops": ev("kernel-monitor", "KernelOops", "BUG: unable to handle kernel NULL pointer dereference at 0000000000000008"),
    "hung": ev("kernel-monitor", "TaskHung", "task python:8213 blocked for more than 120 seconds."),
    "lockup": k("watchdog: BUG: soft lockup - CPU#18 stuck for 27s! [kworker/18:1:2254]"),
    "io-sdz": seq(k("blk_update_request: I/O error, dev sdz, sector 1234 op 0x0:(READ) flags 0x0"), k("Buffer I/O error on dev sdz1, logical block 7, async page read")),
    "ext4": k("EXT4-fs error (device sdz1): ext4_find_entry:1455: inode #2: comm rsync: reading directory lblock 0"),
    "readonly": npd("ReadonlyFilesystem", "FilesystemIsReadOnly", "Remounting filesystem read-only"),
    "containerd-restarts": npd("FrequentContainerdRestart", "FrequentContainerdRestart", "Found 6 matching logs, which meets the threshold of 5", "NoFrequentContainerdRestart"),
    "kubelet-unhealthy": npd("KubeletProblem", "KubeletIsUnhealthy", "kubelet is unhealthy", "KubeletIsUp"),
    "runtime-unhealthy": npd("ContainerRuntimeProblem", "ContainerRuntimeIsDown", "containerd is down", "ContainerRuntimeIsUp"),
    "gpu-condition": npd("GpuProblem", "XidCriticalError", "Xid 48", "NoXid"),
    "edac": k("EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0"),
    "mce": k("mce: [Hardware Error]: Machine check events logged"),
    "aer": k("pcieport 0000:00:01.0: AER: Corrected error received: 0000:01:00.0"),
    "aer-fatal": k("pcieport 0000:00:01.0: AER: Uncorrected (Fatal) error received: 0000:01:00.0"),
    "xid74": k("NVRM: Xid (PCI:0000:4e:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 3(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"),
    "xid63": k("NVRM: Xid (PCI:0000:4e:00): 63, pid=8213, name=python, Row Remapper: New row marked for remapping, reset gpu to activate."),
    "xid48": k("NVRM: Xid (PCI:0000:4e:00): 48, pid=8213, name=python, An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer"),
    "xid119": k("NVRM: Xid (PCI:0000:4e:00): 119, pid=8213, name=python, Timeout after 6s of waiting for RPC response from GPU0 GSP!"),
    "nvme": seq(k("nvme nvme4: I/O tag 22 (2016) opcode 0x2 (I/O Cmd) QID 3 timeout, aborting"), k("nvme nvme4: Abort status: 0x0")),
    "nfs": seq(k("nfs: server 10.0.0.9 not responding, still trying"), k("nfs: server 10.0.0.9 OK"), gap=20),
    "thermal": k("CPU12: Core temperature above threshold, cpu clock throttled (total events = 3)"),
    "system-oom": lambda w, v, nd, t: (w.kernel(t, nd, "Out of memory: Killed process 777 (node_exporter) total-vm:1301234kB, anon-rss:20971kB, file-rss:1024kB, shmem-rss:0kB, UID:0 pgtables:412kB oom_score_adj:0"), w.event(t, "kubelet", "Node", nd, None, "SystemOOM", "System OOM encountered, victim process: node_exporter, pid: 777", warn=True, host=nd)),
    "image-gc": ev("kubelet", "ImageGCFailed", "failed to garbage collect required amount of images. Attempted to free 12GB, but only found 0 bytes eligible to free"),
    "free-disk": ev("kubelet", "FreeDiskSpaceFailed", "Failed to garbage collect required amount of images."),
    "container-gc": ev("kubelet", "ContainerGCFailed", "rpc error: code = DeadlineExceeded desc = context deadline exceeded"),
    "mount": lambda w, v, nd, t: kl(w, t, v, "FailedMount", 'MountVolume.SetUp failed for volume "kube-api-access-x" : failed to fetch token: etcdserver: request timed out', warn=True),
    "pod-not-ready": lambda w, v, nd, t: (w.event(t, "node-controller", "Pod", v.name, v.ns, "NodeNotReady", "Node is not ready", warn=True), ready(w, t, nd, False, "KubeletNotReady", "PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s"), ready(w, t + 40, nd, True, "KubeletReady", "kubelet is posting ready status")),
    "silent": lambda w, v, nd, t: silent_and_back(w, v, nd, t),
    "runtime-down": lambda w, v, nd, t: (ready(w, t, nd, False, "KubeletNotReady", "container runtime is down"), ready(w, t + 40, nd, True, "KubeletReady", "kubelet is posting ready status")),
    "cni-down": lambda w, v, nd, t: (ready(w, t, nd, False, "KubeletNotReady", "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"), ready(w, t + 40, nd, True, "KubeletReady", "kubelet is posting ready status")),
    "aks-freeze": ev("custom-maintenance", "FreezeScheduled", "Freeze Scheduled: Mon, 05 Oct 2026 10:00:00 GMT. DurationInSeconds: 9"),
    "aks-vmevent": npd("VMEventScheduled", "VMEventScheduled", "Reboot Scheduled: Mon, 05 Oct 2027 10:00:00 GMT", "NoVMEventScheduled"),
    "karp-unhealthy": ev("karpenter", "NodeRepairBlocked", "more than 20% nodes are unhealthy in the cluster"),
    "kured-other": lambda w, v, nd, t: cordon(w, t, sa("kube-system", "kured", "kured/v0"), node(w, "cpu-" + w.suffix(3))),
    "log-enospc": g("WARNING tensorboard: OSError: [Errno 28] No space left on device; dropping summaries"),
    "log-stale": g("WARNING dataset: OSError: [Errno 116] Stale file handle: '/data/x'; reopening"),
    "log-child-segv": g("eval worker 3: Segmentation fault (core dumped)\nWARNING eval worker 3 died, restarted"),
    "log-child-killed": g("WARNING prefetch: subprocess was killed by signal 9\nprefetch restarted"),
    "log-slowdown": g("ERROR checkpoint upload failed: An error occurred (SlowDown) when calling the PutObject operation; retrying"),
    "log-nan": g("WARNING loss is nan, skipping step 412"),
    "log-denied": g("ERROR metrics push failed: 403 Forbidden: token expired; will refresh"),
    "log-traceback": g(TRACE + "requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='api.wandb.ai', port=443): Read timed out."),
    "log-sigterm-text": g("INFO registered handler for SIGTERM; received signal 10 (checkpoint now)"),
    "log-oom-text": g("ERROR batch too large, retry with half: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),
    "log-dns": g("socket.gaierror: [Errno -3] Temporary failure in name resolution (wandb), retrying"),
    "log-ecc": g("WARNING dcgm: 1 corrected ECC error on GPU 3"),
}


def silent_and_back(w, v, nd, t):
    not_ready(w, t, nd, [v])
    def back(o):
        for c in o["status"]["conditions"]: c.update(status="True" if c["type"] == "Ready" else "False", reason="KubeletReady", message="kubelet is posting ready status", lastTransitionTime=w.ts(w.now))
    w.api(t + 60, kubelet(nd), "patch", "Node", nd, sub="status", change=back)
    w.api(t + 60.5, NODEC, "patch", "Node", nd, change=lambda o: o["spec"].pop("taints", None), request={"spec": {"taints": None}})
    w.event(t + 60, "kubelet", "Node", nd, None, "NodeReady", f"Node {nd} status is now: NodeReady", host=nd)
    w.condition(t + 61, kubelet(nd), "Pod", v.name, v.ns, "Ready", "True")


@fam("past", " ".join(f"{e}+{p}" for e in MORE for p in PAST))
def past(w, twin):
    end, before = twin.split("+")
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 2500)); v, nd = j.pods[0], nodes[0]
    lag = w.rng.choice([90, 200, 420, 800])
    PAST[before](w, v, nd, t - lag)
    more_steps(w, j, t - lag + 10, t - (5 if end not in ("liveness",) else 35))
    return j.name, MORE[end](w, j, v, nd, t)


@fam("ends", " ".join(f"{e}+{b}" for e in MORE if e not in ENDS for b in BESIDE))
def ends(w, twin): 
    end, beside = twin.split("+")
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 2500)); v, nd = j.pods[0], nodes[0]
    if beside[0] == "b": more_steps(w, j, t - 480, t - 40)
    BESIDE[beside](w, j, v, nd, t)
    return (f"Job/{j.ns}/{j.name}" if beside == "n_other_namespace" else j.name), MORE[end](w, j, v, nd, t)
