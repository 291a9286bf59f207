"""Who acts, by the names that clouds and proxies give; further kinds that are made anew under their name."""

from f11 import *


def ident(name, groups=("system:authenticated",), agent=KUBECTL, **extra):
    return {"username": name, "groups": list(groups)} | ({"extra": extra} if extra else {}), agent


WHO = {
    "eks-sso": (ident("arn:aws:sts::123456789012:assumed-role/AWSReservedSSO_Admin_1a2b/bob@lab.example", arn=["arn:aws:sts::123456789012:assumed-role/AWSReservedSSO_Admin_1a2b/bob@lab.example"], sessionName=["bob@lab.example"]), "bob@"),
    "eks-mapped": (ident("kubernetes-admin", ("system:masters", "system:authenticated"), arn=["arn:aws:sts::123456789012:assumed-role/Admin/bob"], sessionName=["bob"]), "kubernetes-admin"),
    "oidc-prefixed": (ident("oidc:bob@lab.example"), "bob@"), "aad-guid": (ident("8a1f0c2e-11d2-4c5b-9c1a-7be0d2a1f3c4", oid=["8a1f0c2e-11d2-4c5b-9c1a-7be0d2a1f3c4"]), "8a1f0c2e"), "aks-local": (ident("masterclient", ("system:masters", "system:authenticated")), "masterclient"),
    "gsa": (ident("train-ci@lab.iam.gserviceaccount.com", agent="google-api-go-client/0.5"), "train-ci@"), "k3s-admin": (ident("system:admin", ("system:masters", "system:authenticated")), "system:admin"), "x509-cn": (ident("bob", ("infra", "system:authenticated")), "bob"), "sa-kube-system": (sa("kube-system", "cleanup-bot", "python-requests/2.32"), "cleanup-bot"), "sa-monitoring": (sa("monitoring", "node-healer", "manager/v0.0.0"), "node-healer"), "sa-default-ns": (sa("default", "default", "curl/8.5.0"), "default"),
    "eks-addon": (ident("eks:addon-manager", agent="Go-http-client/2.0"), "eks:addon-manager"), "openshift": (ident("bob", ("system:cluster-admins", "system:authenticated:oauth"), "oc/4.17.0 (linux/amd64) kubernetes/1d4a1ad", **{"scopes.authorization.openshift.io": ["user:full"]}), "bob"), "anonymous": (ident("system:anonymous", ("system:unauthenticated",), "curl/8.5.0"), "anonymous"),
}


@fam("identities", " ".join(f"{k}+{a}" for k in WHO for a in ("deljob", "drain", "delpod", "suspend")))
def identities(w, twin):
    k, a = twin.split("+"); who, name = WHO[k]; j, nodes, t = gang(w, run=w.rng.randrange(1500, 2600)); v, nd = j.pods[0], nodes[0]
    if a == "deljob": j.delete(t, who); r = tdel(name)
    if a == "delpod": delete_pod(w, t, who, v); j.fail(t + 2.6, v); r = tdel(name)
    if a == "drain": cordon(w, t - 2, who, nd); evict(w, t, who, v); j.fail(t + 2.6, v); r = tdrain(name); r.right += ("ops.node_upgrade",); r.right += DELETED
    if a == "suspend": w.api(t, who, "patch", "Job", j.name, j.ns, change=lambda o: o["spec"].update(suspend=True), request={"spec": {"suspend": True}}); [delete_pod(w, t + 0.2, JOBC, p) for p in j.pods]; w.condition(t + 3, JOBC, "Job", j.name, j.ns, "Suspended", "True", "JobSuspended", "Job suspended"); w.event(t + 3, "job-controller", "Job", j.name, j.ns, "Suspended", "Job suspended"); r = T(DELETED + ("ops.config_change",), [name], "A", "A", weak=GONE + ("ops.config_change", "sched.kueue_preempted", "none.running"))
    idle(w, t + 20); r.never = ("job-controller", "garbage"); return j.name, r


identities.mixes = ["A", "LA", "LEAG", "LEM", "M", "EKS", "GKE", "AKS"]


@fam("remake2", " ".join(f"{k}+{a}+{b}" for k in ("JobSet", "RayJob", "Workflow", "Bare", "StatefulSet", "Job") for a in ("exit", "oom", "drain", "done") for b in ("exit", "oom", "runs", "done", "delete") if not (k == "StatefulSet" and "done" in (a, b))))
def remake2(w, twin):
    """alice deletes the root after its end and makes it anew under its name."""
    k, a, b = twin.split("+"); n = run_name(w); nodes = [node(w, f"gpu-{i}{w.suffix(3)}") for i in range(4)]; t = w.rng.randrange(700, 1100)
    def make(at, nds, until):
        if k == "Bare": ps = [make_pod(w, at + 0.5, f"{n}-{i}", m, by=ALICE, labels={"app": n}, generate=False) for i, m in enumerate(nds)]; own = []
        elif k == "Job": j = Job(w, at, n, nds); ps = j.pods; own = [("Job", n)]
        elif k == "JobSet": custom(w, at, k, n, ALICE, {"replicatedJobs": [{"name": "w", "replicas": 1}]}, {}); j = Job(w, at + 0.4, f"{n}-w-0", nds, by=JOBSET, of=("JobSet", n), labels={"jobset.sigs.k8s.io/jobset-name": n}); ps = j.pods; own = [("JobSet", n), ("Job", f"{n}-w-0")]
        elif k == "RayJob": cl = f"{n}-{w.suffix(4)}"; custom(w, at, k, n, ALICE, {"entrypoint": "x"}, {"jobStatus": "RUNNING", "jobDeploymentStatus": "Running", "rayClusterName": cl}); custom(w, at + 0.2, "RayCluster", cl, KUBERAY, {}, {"state": "ready"}, of=(k, n)); ps = [make_pod(w, at + 0.5, f"{cl}-{x}-{w.suffix()}", m, by=KUBERAY, of=("RayCluster", cl), labels={"ray.io/cluster": cl}, generate=False) for x, m in zip(("head", "gpu-worker"), nds)]; own = [(k, n), ("RayCluster", cl)]
        elif k == "Workflow": custom(w, at, k, n, ALICE, {}, {"phase": "Running"}); ps = [make_pod(w, at + 0.5, f"{n}-train-{10**8 + i}", m, by=ARGO, of=(k, n), labels={"workflows.argoproj.io/workflow": n}, generate=False) for i, m in enumerate(nds)]; own = [(k, n)]
        else: custom(w, at, k, n, ALICE, {"replicas": 2, "selector": {"matchLabels": {"app": n}}, "template": {"metadata": {"labels": {"app": n}}, "spec": template()}}, {"replicas": 2, "readyReplicas": 2}); ps = [make_pod(w, at + 0.5 + i, f"{n}-{i}", m, by=STSC, of=(k, n), labels={"app": n}, spec=template(restart="Always"), generate=False) for i, m in enumerate(nds)]; own = [(k, n)]
        [steps(w, p, at + 12, until, every=30, rank=i) for i, p in enumerate(ps)]; return ps, own, (j if k in ("Job", "JobSet") else None)
    def clear(at, own, ps, who, live):
        if k == "Bare": [delete_pod(w, at, who, p) if live else w.at(at, lambda p=p: w.get("Pod", p.name, w.ns) and w._do(who, "delete", "Pod", p.name, w.ns)) for p in ps]; return
        w.at(at, lambda: w.get(*own[0], w.ns) and w._do(who, "delete", *own[0], w.ns))
        for i, o in enumerate(own[1:]): w.at(at + 0.2 + 0.2 * i, lambda o=o: w.get(*o, w.ns) and w._do(GC, "delete", *o, w.ns))
        for p in ps:
            w.at(at + 0.7, lambda p=p: w.get("Pod", p.name, w.ns) and (finalizer(w, w.now, p), w.at(w.now + 0.1, lambda: w.get("Pod", p.name, w.ns) and w._do(GC, "delete", "Pod", p.name, w.ns))))
            w.at(at + 0.85, lambda p=p: (lambda o: o and o["status"].get("phase") == "Running" and stop(w, at + 0.9, p))(w.get("Pod", p.name, w.ns)))
    def end(kind, at, ps, own, j, nd, who):
        v, o = ps[1], ps[0]
        if kind == "delete": clear(at, own, ps, who, True); return at + 4
        if kind == "runs": return at
        if kind == "done":
            if j: w.at(at - 0.2, lambda: j.complete(at)); k == "JobSet" and w.condition(at + 2, JOBSET, k, n, w.ns, "Completed", "True", "AllJobsCompleted", "jobset completed successfully")
            elif k == "RayJob": phase(w, at + 1, KUBERAY, k, n, jobStatus="SUCCEEDED", jobDeploymentStatus="Complete")
            else: [w.at(at - 0.2, lambda p=p: exit_pod(w, at, p, 0)) for p in ps]; k == "Workflow" and phase(w, at + 2, ARGO, k, n, phase="Succeeded")
            return at + 3
        if k == "StatefulSet" and kind != "drain":
            for i in range(3): (w.log(at + 60 * i, v, TRACE + "ValueError: bad crop") if kind == "exit" else w.at(at + 60 * i - 1, lambda i=i: memcg_oom(w, at + 60 * i, v))); restart(w, at + 60 * i, v, 1 if kind == "exit" else 137, "Error" if kind == "exit" else "OOMKilled", n=i + 1, wait=20)
            kl(w, at + 70, v, "BackOff", f"Back-off restarting failed container trainer in pod {v.name}_{w.ns}", warn=True, count=9, until=at + 170, field="spec.containers{trainer}"); return at + 180
        if kind == "exit": w.at(at - 0.5, lambda: raise_(w, at, v))
        if kind == "oom": w.at(at - 1, lambda: (memcg_oom(w, at, v), exit_pod(w, at + 0.1, v, 137, "OOMKilled")))
        if kind == "drain": cordon(w, at - 2, who, nd); evict(w, at, who, v); cordon(w, at + 6, who, nd, False)
        over = at + (3 if kind == "drain" else 1)
        if j: w.at(over - 0.4, lambda: j.fail(over, v)); k == "JobSet" and w.condition(over + 5, JOBSET, k, n, w.ns, "Failed", "True", "FailedJobs", "jobset failed due to one or more job failures")
        elif k == "RayJob": w.log(over + 2, o, TRACE + "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task."); phase(w, over + 4, KUBERAY, k, n, jobStatus="FAILED", jobDeploymentStatus="Failed", message="Job entrypoint command failed with exit code 1")
        elif k == "Workflow": phase(w, over + 2, ARGO, k, n, phase="Failed", message=f"child '{v.name}' failed"); w.at(over + 4, lambda: nccl_gone(w, over + 5, o, 0))
        elif k == "Bare": w.at(over + 4, lambda: nccl_gone(w, over + 5, o, 0))
        return over + 8
    ps, own, j = make(0, nodes[:2], t); over = end(a, t, ps, own, j, nodes[1], CAROL); c = over + 20; clear(c, own, ps, ALICE, False); u = c + 40; e = u + w.rng.randrange(800, 1300)
    def second(): qs, own2, j2 = make(u, nodes[2:], e); end(b, e, qs, own2, j2, nodes[3], BOB)
    w.at(u - 0.3, second); idle(w, e + 10); r = ENDK[b](); A = CAUSES[a]; r.never = tuple(r.never) + ("carol@",) + (("alice@",) if b == "delete" else ()); r.also += A + DELETED; r.weak += ("unknown",) + COLL + CODE * (b not in ("runs", "done")) + OK_RUN * (k in ("StatefulSet", "RayJob")); r.never_cause = tuple(x for x in A if x not in r.right and not (b != "runs" and x in CODE)); return (f"{k}/{w.ns}/{n}" if k != "Bare" else n), r
