"""Twins of `past`: the machine's trouble did end the run. No step comes after it."""

from cases12 import *


@fam("struck", "xid79-exit xid79-remediated xid48-exit panic readonly-exit runtime-down-lost oops-lost silent-lost ecc-remediated nvlink-gang-exit ca-does-remove disk-pressure")
def struck(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 2500)); v, nd = j.pods[0], nodes[0]
    xid = lambda n, text: w.kernel(t - 0.5, nd, f"NVRM: Xid (PCI:0000:4e:00): {n}, pid=8213, name=python, {text}")
    if twin in ("xid79-exit", "xid48-exit", "nvlink-gang-exit"):
        n, text, err = {"xid79-exit": (79, "GPU has fallen off the bus.", "CUDA error: unknown error"), "xid48-exit": (48, "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer", "CUDA error: uncorrectable ECC error encountered"), "nvlink-gang-exit": (74, "NVLink: fatal error detected on link 3(0x10000, 0x0)", "CUDA error: uncorrectable NVLink error detected during the execution")}[twin]
        xid(n, text); w.log(t, v, TRACE + f"RuntimeError: {err}"); exit_pod(w, t + 1, v, 1); j.fail(t + 2, v)
        return j.name, T({"xid79-exit": ("hw.gpu",), "xid48-exit": ("hw.gpu_memory",), "nvlink-gang-exit": ("hw.nvlink_fabric",)}[twin], (), "G", "", weak=CODE + ("hw.gpu", "hw.gpu_memory", "hw.nvlink_fabric"), unseen=())
    if twin in ("xid79-remediated", "ecc-remediated"):
        xid(*((79, "GPU has fallen off the bus.") if twin[0] == "x" else (94, "Contained: SM (0x1). RST: No, D-RST: No"))); cordon(w, t + 30, sa("nvsentinel", "fault-quarantine"), nd); evict(w, t + 60, sa("nvsentinel", "node-drainer"), v, code=137, took=30); j.fail(t + 95, v)
        return j.name, T(("hw.gpu", "hw.gpu_memory", "ops.node_drained"), (), "AG", "", weak=DRAINED + DELETED + ("hw.gpu", "hw.gpu_memory"))
    if twin == "panic":
        w.kernel(t, nd, "Kernel panic - not syncing: Fatal exception in interrupt"); not_ready(w, t + 45, nd, [v]); taint_evict(w, t + 350, v, lost=True); j.fail(t + 351, v); return j.name, T(("node.kernel_panic", "node.not_ready"), (), "LEWAG", "")
    if twin == "readonly-exit":
        w.kernel(t - 1, nd, "EXT4-fs (nvme1n1): Remounting filesystem read-only"); w.log(t, v, TRACE + "OSError: [Errno 30] Read-only file system: '/scratch/ckpt.tmp'"); exit_pod(w, t + 0.5, v, 1); j.fail(t + 2, v); return j.name, T(("hw.disk", "dep.storage") + CODE, (), "G", "", weak=CODE)
    if twin in ("runtime-down-lost", "oops-lost", "silent-lost"):
        if twin[0] == "r": ready(w, t, nd, False, "KubeletNotReady", "container runtime is down")
        if twin[0] == "o": w.event(t - 1, "kernel-monitor", "Node", nd, None, "KernelOops", "BUG: unable to handle kernel NULL pointer dereference at 0000000000000008", warn=True)
        not_ready(w, t + 50, nd, [v]); taint_evict(w, t + 355, v, lost=True); j.fail(t + 356, v); return j.name, T(("node.runtime", "node.kernel_panic", "node.not_ready"), (), "LEWA", "")
    if twin == "ca-does-remove": ca_remove(w, t, nd, [v]); j.fail(t + 4, v); return j.name, T(SCALED, ["cluster-autoscaler"], "AEW", "AEW", weak=DRAINED + DELETED)
    msg = "The node was low on resource: ephemeral-storage. Threshold quantity: 10%, available: 9%. "
    w.event(t - 20, "kubelet", "Node", nd, None, "EvictionThresholdMet", "Attempting to reclaim ephemeral-storage", warn=True, host=nd); kl(w, t, v, "Evicted", msg, warn=True); w.condition(t + 0.1, kubelet(nd), "Pod", v.name, v.ns, "DisruptionTarget", "True", "TerminationByKubelet", msg); exit_pod(w, t + 1, v, 137, why="Evicted", why_message=msg); j.fail(t + 2, v)
    return j.name, T("sched.node_pressure", (), "LEWA", "")
