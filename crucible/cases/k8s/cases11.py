"""What happens while a pod is being ended, beside its trainer, and in Jobs whose pods do not work as one."""

from cases10 import *


def asked(kind, w, j, v, nd, t):
    """Somebody asks for the pod's end, which takes its grace of 60 s."""
    if kind == "drain": cordon(w, t - 2, BOB, nd); w.api(t, BOB, "create", "Pod", v.name, v.ns, sub="eviction")
    if kind == "delete": w.api(t, BOB, "delete", "Pod", v.name, v.ns)
    if kind == "preempt":
        w.condition(t, SCHED, "Pod", v.name, v.ns, "DisruptionTarget", "True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"); w.api(t + 0.02, SCHED, "delete", "Pod", v.name, v.ns); w.event(t + 0.03, "default-scheduler", "Pod", v.name, v.ns, "Preempted", f"Preempted by pod {uid_of('hp')} on node {nd}", new=True)
    if kind == "taint":
        taint(w, t, BOB, nd, "maintenance", "NoExecute", "rack7"); w.event(t + 0.2, "taint-eviction-controller", "Pod", v.name, v.ns, "TaintManagerEviction", f"Marking for deletion Pod {v.ns}/{v.name}"); w.condition(t + 0.22, NODEC, "Pod", v.name, v.ns, "DisruptionTarget", "True", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"); w.api(t + 0.24, NODEC, "delete", "Pod", v.name, v.ns)
    kl(w, t + 0.3, v, "Killing", "Stopping container trainer", field="spec.containers{trainer}")
    w.log(t + 0.4, v, "received SIGTERM, saving checkpoint before exit")


ASKED = {"drain": lambda: T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED), "delete": lambda: T(DELETED, ["bob@"], "AM", "AM", weak=DELETED + ("unknown",)), "preempt": lambda: T("sched.preempted", (), "AEW", "", weak=DELETED), "taint": lambda: T(DRAINED, ["bob@"], "A", "A", weak=DRAINED + DELETED + ("node.not_ready",))}
MEANWHILE = "oom exit grace-exceeded liveness pressure carol-deletes-job carol-evicts deadline ca-removes lost shutdown"


@fam("grace", " ".join(f"{a}+{m}" for a in ASKED for m in MEANWHILE.split()))
def grace(w, twin):
    first, then = twin.split("+")
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 2500), spec=template(grace=60)); v, nd = j.pods[0], nodes[0]
    asked(first, w, j, v, nd, t)
    at, code, reason, kept = t + 20, 143, "Error", {}
    if then == "oom": memcg_oom(w, at, v); code, reason = 137, "OOMKilled"
    if then == "exit": w.log(at, v, TRACE + "RuntimeError: cannot save checkpoint while stopping"); code = 1
    if then == "grace-exceeded": at = t + 60.4; code = 137
    if then == "liveness": kl(w, at - 1, v, "Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500", warn=True, count=3); at = t + 60.4; code = 137
    if then == "pressure":
        msg = "The node was low on resource: ephemeral-storage. Threshold quantity: 10%, available: 9%. "; kl(w, at, v, "Evicted", msg, warn=True); kept = {"why": "Evicted", "why_message": msg}; code = 137
    if then == "carol-deletes-job":
        w.api(t + 5, CAROL, "delete", "Job", j.name, j.ns)
        for p in j.pods: finalizer(w, t + 5.1, p); w.at(t + 5.2, lambda p=p: w.get("Pod", p.name, p.ns) and w._do(GC, "delete", "Pod", p.name, p.ns))
        stop(w, t + 5.3, j.pods[1])
    if then == "carol-evicts": w.api(t + 5, CAROL, "create", "Pod", v.name, v.ns, sub="eviction")
    if then == "ca-removes": w.event(t + 12, "cluster-autoscaler", "Node", nd, None, "ScaleDown", "marked the node as toBeDeleted/unschedulable"); taint(w, t + 12, CA, nd, "ToBeDeletedByClusterAutoscaler", "NoSchedule", "1")
    if then == "shutdown": w.event(t + 10, "kubelet", "Node", nd, None, "Shutdown", "Shutdown manager detected shutdown event", host=nd)
    if then == "lost":
        not_ready(w, t + 55, nd, [v]); j.fail(t + 60, None, rest=[j.pods[1]])
    else:
        exit_pod(w, at, v, code, reason, **kept); finalizer(w, at + 1, v); w.at(at + 1.3, lambda: w.get("Pod", v.name, v.ns) and w._do(kubelet(nd), "delete", "Pod", v.name, v.ns, grace=0, query="?gracePeriodSeconds=0"))
        if then == "deadline": j.fail(t + 6, None, "DeadlineExceeded", "Job was active longer than specified deadline", rest=[j.pods[1]])
        elif then != "carol-deletes-job": j.fail(at + 2, v)
    r = ASKED[first](); r.never = ("carol@", "cluster-autoscaler"); r.weak += ("unknown",)
    if then == "lost": r.right += ("node.not_ready",)
    if then == "deadline": r.unseen = ("code.deadline",)
    if then == "oom": r.weak += ("code.host_oom",)
    if then == "exit": r.weak += CODE
    return j.name, r


@fam("beside", "trainer-done-proxy-stays trainer-failed-proxy-stays trainer-oom-proxy-stays index-done-then-oom not-a-gang-survives not-a-gang-fails ephemeral-killed reboot-in-place proxy-first-then-trainer two-gpu-containers")
def beside(w, twin):
    t = w.rng.randrange(1500, 2500); nd = node(w, "gpu-" + w.suffix(4)); nd2 = node(w, "gpu-" + w.suffix(4))
    if twin.endswith("proxy-stays"):
        j = Job(w, 0, run_name(w), [nd], spec=template(("trainer", "proxy"))); v = j.pods[0]; steps(w, v, 10, t, every=60)
        code, reason = {"trainer-done-proxy-stays": (0, "Completed"), "trainer-failed-proxy-stays": (1, "Error"), "trainer-oom-proxy-stays": (137, "OOMKilled")}[twin]
        if code == 1: w.log(t, v, TRACE + "ValueError: bad crop")
        if code == 137: w.at(t - 0.1, lambda: memcg_oom(w, t - 0.05, v))
        if code == 0: w.log(t, v, "training finished, model saved")
        set_state(w, t + 0.3, v, "trainer", ended(w, v, t, code, reason), phase="Running")
        # Two hours later somebody notices, and deletes what is left.
        at = t + 7200; w.api(at, BOB, "delete", "Job", j.name, j.ns); finalizer(w, at + 0.1, v); w.at(at + 0.2, lambda: w.get("Pod", v.name, v.ns) and w._do(GC, "delete", "Pod", v.name, v.ns)); kl(w, at + 0.3, v, "Killing", "Stopping container proxy")
        set_state(w, at + 2, v, "proxy", ended(w, v, at + 2, 143), phase="Failed"); w.at(at + 2.5, lambda: w.get("Pod", v.name, v.ns) and w._do(kubelet(nd), "delete", "Pod", v.name, v.ns, grace=0))
        if code == 0: return j.name, T(("none.completed", "unknown") + DELETED, (), "", "", weak=DELETED)
        return j.name, T(CODE if code == 1 else "code.host_oom", (), "AWG", "", weak=DELETED + ("unknown",), never=["bob@"])
    if twin == "index-done-then-oom":
        j = Job(w, 0, run_name(w), [nd, nd2]); a, b = j.pods; steps(w, a, 10, t - 600, every=60); steps(w, b, 10, t, every=60); exit_pod(w, t - 600, a, 0); finalizer(w, t - 599, a)
        w.at(t - 0.1, lambda: memcg_oom(w, t, b)); exit_pod(w, t + 0.1, b, 137, "OOMKilled"); j.fail(t + 1, b, rest=[], failed=1); return j.name, T("code.host_oom", (), "LWAG", "")
    if twin.startswith("not-a-gang"):  # a queue of work: one item fails and is tried again, the others do not care
        j = Job(w, 0, run_name(w), [nd, nd2], backoff=6); a, b = j.pods; steps(w, b, 10, t + 900, every=60); steps(w, a, 10, t, every=60)
        w.log(t, a, TRACE + "ValueError: bad crop"); exit_pod(w, t, a, 1); finalizer(w, t + 1, a); c = j.pod(t + 12, 0, nd); steps(w, c, t + 20, t + 900, every=60); j.pods = [b, c]
        if twin == "not-a-gang-survives": w.at(t + 900, lambda: j.complete(t + 900.1)); return j.name, T("none.completed", (), "LWA", "", weak=("none.completed",), also=CODE)
        cordon(w, t + 898, BOB, nd2); evict(w, t + 900, BOB, b); j.backoff = 1; j.fail(t + 903, b, rest=[c], failed=2); return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED + CODE, also=CODE)
    j = Job(w, 0, run_name(w), [nd], spec=template(("trainer", "proxy")) if twin == "proxy-first-then-trainer" else template(("trainer", "decoder"), gpus=4) if twin == "two-gpu-containers" else template(restart="OnFailure" if twin == "reboot-in-place" else "Never")); v = j.pods[0]; steps(w, v, 10, t, every=60)
    if twin == "ephemeral-killed":
        w.at(t - 300, lambda: w.get("Pod", v.name, v.ns)["status"].update(ephemeralContainerStatuses=[{"name": "debugger-x", "image": "busybox", "ready": False, "restartCount": 0, "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "startedAt": w.ts(t - 400), "finishedAt": w.ts(t - 300)}}}])); w.log(t, v, TRACE + "ValueError: bad crop"); exit_pod(w, t, v, 1); j.fail(t + 1, v); return j.name, T(CODE, (), "LWAG", "")
    if twin == "reboot-in-place":  # the machine booted, the container was started again and trained on; later it is drained
        b = t - 900; w.api(b, kubelet(nd), "patch", "Node", nd, sub="status", change=lambda o: o["status"]["nodeInfo"].update(bootID=uid_of("b2"))); w.event(b, "kubelet", "Node", nd, None, "Rebooted", f"Node {nd} has been rebooted, boot id: {uid_of('b2')}", warn=True, host=nd)
        restart(w, b + 2, v, 255, "Unknown"); steps(w, v, b + 20, t, every=20, start=4000); cordon(w, t - 2, BOB, nd); evict(w, t, BOB, v); j.fail(t + 3, v); return j.name, T(DRAINED, ["bob@"], "AW", "AM", weak=DRAINED + DELETED, also=("node.reboot",))
    if twin == "proxy-first-then-trainer":  # the proxy ends with 1 ten minutes before the trainer runs out of memory
        set_state(w, t - 600, v, "proxy", ended(w, v, t - 600, 1), phase="Running"); w.at(t - 0.1, lambda: memcg_oom(w, t, v)); set_state(w, t + 0.3, v, "trainer", ended(w, v, t + 0.1, 137, "OOMKilled"), phase="Failed"); j.fail(t + 1, v); return j.name, T("code.host_oom", (), "LWAG", "")
    w.log(t, v, TRACE + "ValueError: bad crop"); exit_pod(w, t, v, 1); j.fail(t + 1, v); return j.name, T(CODE, (), "LWAG", "")
