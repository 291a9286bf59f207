"""What comes in the place of a pod that ended; people behind machinery; several causes at a start."""

from cases9 import *

GPU_FULL = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
NEXT = {"pending": ("sched.unschedulable_capacity",), "cordoned": ("sched.unschedulable_capacity", "sched.unschedulable_constraint"), "image": ("dep.image_pull",), "runs": ("none.running",), "completes": ("none.completed",)}


@fam("replaced", " ".join(f"{e}+{n}" for e in RIGHT for n in NEXT))
def replaced(w, twin):
    end, then = twin.split("+")
    nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]
    j = Job(w, 0, run_name(w), [nodes[0]], backoff=3); p = j.pods[0]; t = w.rng.randrange(1200, 2400)
    steps(w, p, 10, t, every=60); over = try_end(end, w, j, p, nodes[0], t); finalizer(w, over, p)
    q = j.pod(over + 10, 0, nodes[1] if then in ("runs", "completes", "image") else None, starts=then in ("runs", "completes")); q.start = over + 13
    t2 = over + 1500
    if then == "pending": unschedulable(w, over + 11, q, GPU_FULL, until=t2)
    if then == "cordoned": unschedulable(w, over + 11, q, "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.", until=t2)
    if then == "image":
        bind(w, over + 11, q); img = "registry.lab.example/train:1.4.2"
        kl(w, over + 16, q, "Failed", f'Failed to pull image "{img}": rpc error: code = NotFound desc = failed to pull and unpack image "{img}": failed to resolve reference "{img}": {img}: not found', warn=True, count=9, until=t2 - 10)
        set_state(w, over + 30, q, "trainer", {"waiting": {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "{img}"'}}, phase="Pending")
    if then in ("runs", "completes"): steps(w, q, over + 20, t2, every=60, start=2000)
    if then == "completes":
        j.pods = [q]
        w.at(t2, lambda: j.complete(t2 + 0.1))
    w.at(t2, lambda: None)
    r = RIGHT[end](); r.also = r.right + NEXT[then]; r.seen = "W" if then not in ("runs", "completes") else "LWA"
    if then in ("runs", "completes"): r.right, r.weak, r.actor = NEXT[then], NEXT[then] + r.right + r.weak, ()
    else: r.weak += NEXT[then] + ("unknown",); r.right += NEXT[then]; r.who = "" if then != "image" else ""
    r.never = ("carol@",)
    return j.name, r


@fam("behind", "pool-patched-drift capi-machine-deleted node-maintenance-cr karpenter-tgp argo-retry-deletes vpa-recreate helm-upgrade gitops-image kubectl-debug taint-by-label-controller")
def behind(w, twin):
    if twin in ("pool-patched-drift", "karpenter-tgp"):
        nodes, claim = karp_pool(w); j, _, t = gang(w, nodes=nodes, run=w.rng.randrange(1500, 4000)); v, nd = j.pods[0], nodes[0]; c = claim(nd)
        if twin == "pool-patched-drift":
            w.api(t - 200, BOB, "patch", "NodePool", "gpu", change=lambda o: o["spec"].update(template={"spec": {"requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["p5.48xlarge"]}]}}), request={"spec": {"template": {}}})
            w.event(t, "karpenter", "Node", nd, None, "DisruptionTerminating", "Disrupting Node: Drifted"); w.condition(t, KARP, "NodeClaim", c, None, "DisruptionReason", "True", "Drifted", "Drifted"); w.api(t + 0.3, KARP, "delete", "NodeClaim", c); karp_drain(w, t + 1, nd, c, [v], "Drifted"); j.fail(t + 3.6, v)
            return j.name, T(SCALED + ("ops.node_upgrade", "ops.config_change"), ["karpenter", "bob@"], "AEW", "AEW", weak=DRAINED + DELETED)
        # The grace period of the node is up: Karpenter deletes the pod past its budget. A person had deleted the node ten minutes before.
        w.api(t - 600, BOB, "delete", "Node", nd); w.at(t - 599.9, lambda: w._do(KARP, "delete", "NodeClaim", c)); taint(w, t - 599, KARP, nd, "karpenter.sh/disrupted", "NoSchedule")
        for i in range(8): evict(w, t - 598 + 60 * i, KARP, v, blocked=True)
        w.event(t, "karpenter", "Pod", v.name, v.ns, "Disrupted", f"Deleting the pod to accommodate the terminationTime {w.ts(t + 30)} of the node. The pod was granted 30 seconds of grace-period of its 30 terminationGracePeriodSeconds. This bypasses the PDB of the pod and the do-not-disrupt annotation.", warn=True, uid=False)
        delete_pod(w, t, KARP, v); j.fail(t + 2.6, v)
        return j.name, T(DRAINED + DELETED, ["bob@"], "AM", "AM", weak=SCALED + DRAINED + DELETED, never=["karpenter"], unseen=SCALED)
    if twin in ("helm-upgrade", "gitops-image", "vpa-recreate"):
        nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(2)]; name = run_name(w, "serve"); t = w.rng.randrange(1200, 4000)
        pods, rs = deployment(w, name, 1, nodes)
        who = {"helm-upgrade": person("ci-deployer@lab.example", "Helm/3.16.2"), "gitops-image": sa("argocd", "argocd-application-controller", "argocd-application-controller/v2.14"), "vpa-recreate": None}[twin]
        rs2 = rs[:-2] + "zz"
        if who:
            w.api(t, who, "patch", "Deployment", name, w.ns, change=lambda o: o["spec"]["template"]["spec"]["containers"][0].update(image="registry.lab.example/train:9.9.9"), request={"spec": {"template": {"spec": {"containers": [{"name": "trainer", "image": "registry.lab.example/train:9.9.9"}]}}}})
            custom(w, t + 0.1, "ReplicaSet", rs2, DEPC, {"replicas": 1}, {"replicas": 1}, of=("Deployment", name)); w.event(t + 0.1, "deployment-controller", "Deployment", name, w.ns, "ScalingReplicaSet", f"Scaled up replica set {rs2} from 0 to 1")
            q = make_pod(w, t + 0.3, f"{rs2}-{w.suffix()}", nodes[1], by=RSC, of=("ReplicaSet", rs2), labels={"app": name}, spec=template(restart="Always", image="registry.lab.example/train:9.9.9"), starts=False); q.start = t + 2; bind(w, t + 1, q)
            kl(w, t + 6, q, "Failed", 'Failed to pull image "registry.lab.example/train:9.9.9": rpc error: code = NotFound desc = failed to pull and unpack image "registry.lab.example/train:9.9.9": not found', warn=True, count=9, until=t + 590)
            set_state(w, t + 20, q, "trainer", {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "registry.lab.example/train:9.9.9"'}}, phase="Pending"); w.at(t + 600, lambda: None)
            return name, T(("dep.image_pull", "none.running", "ops.config_change"), (), "LEWA", "", weak=("unknown",))
        v = pods[0]; evict(w, t, sa("kube-system", "vpa-updater", "updater/v0"), v); w.event(t, "vpa-updater", "Pod", v.name, v.ns, "EvictedByVPA", "Pod was evicted by VPA Updater to apply resource recommendation.")
        make_pod(w, t + 1, f"{rs}-{w.suffix()}", nodes[0], by=RSC, of=("ReplicaSet", rs), labels={"app": name}, spec=template(restart="Always")); w.at(t + 100, lambda: None)
        return name, T(("none.running", "ops.config_change", "ops.manual_delete"), (), "LWA", "", weak=("none.running", "unknown") + DRAINED + DELETED)
    j, nodes, t = gang(w, run=w.rng.randrange(1200, 4000)); v, nd = j.pods[0], nodes[0]
    if twin == "capi-machine-deleted":  # the Machine's deletion is not in this API server's audit log; Cluster API drains
        who = sa("capi-system", "capi-manager", "manager/v1.9.0"); cordon(w, t - 2, who, nd); evict(w, t, who, v); j.fail(t + 2.6, v); delete_node(w, t + 60, who, nd)
        return j.name, T(DRAINED + SCALED + ("ops.node_upgrade",), ["capi-manager"], "A", "AM", weak=DRAINED + DELETED)
    if twin == "node-maintenance-cr":
        who = sa("medik8s", "node-maintenance-operator-controller-manager", "manager/v0"); taint(w, t - 2, who, nd, "medik8s.io/drain", "NoSchedule"); cordon(w, t - 1.5, who, nd); evict(w, t, who, v); j.fail(t + 2.6, v)
        return j.name, T(DRAINED + ("ops.host_maintenance",), ["node-maintenance"], "A", "AM", weak=DRAINED + DELETED)
    if twin == "kubectl-debug":  # somebody attaches a debug container; the program fails later by itself
        w.api(t - 60, BOB, "patch", "Pod", v.name, v.ns, sub="ephemeralcontainers", change=lambda o: o["spec"].update(ephemeralContainers=[{"name": "debugger-x", "image": "busybox", "targetContainerName": "trainer"}]), request={"spec": {"ephemeralContainers": [{"name": "debugger-x"}]}})
        kl(w, t - 58, v, "Started", "Started container debugger-x"); w.log(t, v, TRACE + "ValueError: bad crop"); exit_pod(w, t, v, 1); j.fail(t + 1, v)
        return j.name, T(CODE, (), "LWAG", "", never=["bob@"])
    if twin == "taint-by-label-controller":  # a person labels the node as faulty; a controller of theirs taints it for that
        w.api(t - 3, BOB, "patch", "Node", nd, change=lambda o: o["metadata"]["labels"].update({"lab.example/state": "rma"}), request={"metadata": {"labels": {"lab.example/state": "rma"}}})
        taint(w, t, sa("ops", "rma-controller", "manager/v0"), nd, "lab.example/rma", "NoExecute", "true"); taint_evict(w, t + 0.2, v); j.fail(t + 2.8, v)
        return j.name, T(DRAINED, ["rma-controller", "bob@"], "A", "A", weak=DRAINED + DELETED + ("node.not_ready", "unknown"))
    # A person retries the workflow's Job by deleting it; a script makes it again under its name, and that one fails of its own.
    j.delete(t, BOB); k2 = Job(w, t + 60, j.name, nodes); p = k2.pods[0]; steps(w, p, t + 70, t + 700, every=60); w.log(t + 700, p, TRACE + "ValueError: bad crop"); exit_pod(w, t + 700, p, 1); k2.fail(t + 701, p)
    return j.name, T(CODE, (), "LWAG", "", also=DELETED)
