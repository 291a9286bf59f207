"""A small deterministic Kubernetes world: acts in time order, and what each observer would have recorded of them.

Everything is planned with `at` or `api` at a time in seconds from the start of the case and played in time order by
`play`; then `write` gives the files of a mix of observers. No clock and no chance but the seed's."""

import copy, hashlib, heapq, json, os, random
from datetime import datetime, timedelta, timezone

GROUP = {  # kind: (plural, group/version, namespaced)
    "Pod": ("pods", "v1", True), "Node": ("nodes", "v1", False), "Event": ("events", "v1", True),
    "Job": ("jobs", "batch/v1", True), "CronJob": ("cronjobs", "batch/v1", True),
    "Deployment": ("deployments", "apps/v1", True), "ReplicaSet": ("replicasets", "apps/v1", True),
    "StatefulSet": ("statefulsets", "apps/v1", True), "Namespace": ("namespaces", "v1", False),
    "NodeClaim": ("nodeclaims", "karpenter.sh/v1", False), "NodePool": ("nodepools", "karpenter.sh/v1", False),
    "JobSet": ("jobsets", "jobset.x-k8s.io/v1alpha2", True), "PyTorchJob": ("pytorchjobs", "kubeflow.org/v1", True),
    "MPIJob": ("mpijobs", "kubeflow.org/v2beta1", True), "RayJob": ("rayjobs", "ray.io/v1", True),
    "RayCluster": ("rayclusters", "ray.io/v1", True), "Workflow": ("workflows", "argoproj.io/v1alpha1", True),
    "Workload": ("workloads", "kueue.x-k8s.io/v1beta1", True), "ClusterQueue": ("clusterqueues", "kueue.x-k8s.io/v1beta1", False),
    "VolcanoJob": ("jobs", "batch.volcano.sh/v1alpha1", True), "PodGroup": ("podgroups", "scheduling.volcano.sh/v1beta1", True),
    "PersistentVolumeClaim": ("persistentvolumeclaims", "v1", True), "LeaderWorkerSet": ("leaderworkersets", "leaderworkerset.x-k8s.io/v1", True),
    "HorizontalPodAutoscaler": ("horizontalpodautoscalers", "autoscaling/v2", True),
    "PodDisruptionBudget": ("poddisruptionbudgets", "policy/v1", True), "ScaledObject": ("scaledobjects", "keda.sh/v1alpha1", True),
}
KCM = "kube-controller-manager/v1.34.1 (linux/amd64) kubernetes/93248f9/system:serviceaccount:kube-system:"
KUBECTL = "kubectl/v1.34.1 (linux/amd64) kubernetes/93248f9"


def uid_of(*words):
    h = hashlib.sha256("/".join(map(str, words)).encode()).hexdigest()
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:32]}"


def person(name, agent=KUBECTL):
    return {"username": name, "groups": ["infra", "system:authenticated"]}, agent


def sa(ns, name, agent=None):
    user = f"system:serviceaccount:{ns}:{name}"
    return {"username": user, "uid": uid_of(user), "groups": ["system:serviceaccounts", f"system:serviceaccounts:{ns}", "system:authenticated"]}, agent or f"{name}/v0.0.0 (linux/amd64) kubernetes/$Format"


def kcm(name):
    return sa("kube-system", name, KCM + name)


def kubelet(node):
    return {"username": f"system:node:{node}", "groups": ["system:nodes", "system:authenticated"]}, "kubelet/v1.34.1 (linux/amd64) kubernetes/93248f9"


SCHED = ({"username": "system:kube-scheduler", "groups": ["system:authenticated"]}, "kube-scheduler/v1.34.1 (linux/amd64) kubernetes/93248f9/scheduler")
JOBC, NODEC, GC, PODGC, TTL, NSC = (kcm(n) for n in ("job-controller", "node-controller", "generic-garbage-collector", "pod-garbage-collector", "ttl-after-finished-controller", "namespace-controller"))
RSC, DEPC, STSC, HPAC, CRONC = (kcm(n) for n in ("replicaset-controller", "deployment-controller", "statefulset-controller", "horizontal-pod-autoscaler", "cronjob-controller"))
KARP = sa("kube-system", "karpenter", "karpenter/1.8.1")
CA = sa("kube-system", "cluster-autoscaler", "cluster-autoscaler/v0.0.0 (linux/amd64) kubernetes/$Format")
KUEUE = sa("kueue-system", "kueue-controller-manager", "kueue/v0.14.2")
ALICE, BOB, CAROL = person("alice@lab.example"), person("bob@lab.example"), person("carol@lab.example")


class World:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.seed = seed
        self.base = datetime(2026, 10, 5, tzinfo=timezone.utc) + timedelta(seconds=self.rng.randrange(30 * 86400), microseconds=self.rng.randrange(10**6))
        self.queue, self.order = [], 0
        self.objs, self.versions, self.audit, self.events, self.logs, self.host = {}, [], [], [], {}, {}
        self.rv, self.now = self.rng.randrange(100000, 900000), 0
        self.skew = {}  # node: seconds that its clock is ahead
        self.last = 0
        self.ns = self.rng.choice(["research", "ml-team", "train", "llm"])

    # -- time
    def ts(self, t, digits=0):
        d = self.base + timedelta(seconds=t)
        return d.strftime("%Y-%m-%dT%H:%M:%S") + ("" if not digits else f".{d.microsecond:06d}"[: digits + 1]) + "Z"

    def at(self, t, do):
        self.order += 1
        heapq.heappush(self.queue, (t, self.order, do))

    def play(self):
        while self.queue:
            t, _, do = heapq.heappop(self.queue)
            self.now = max(self.now, t)
            do()
        self.last = self.now

    def suffix(self, n=5):
        return "".join(self.rng.choice("bcdfghjklmnpqrstvwxz2456789") for _ in range(n))

    # -- API server
    def get(self, kind, name, ns=None):
        return self.objs.get((kind, ns if GROUP[kind][2] else None, name))

    def _keep(self, what, obj):
        self.rv += self.rng.randrange(1, 9)
        obj["metadata"]["resourceVersion"] = str(self.rv)
        self.versions.append((self.now, what, copy.deepcopy(obj)))

    def api(self, t, who, verb, kind, name, ns=None, **k):
        self.at(t, lambda: self._do(who, verb, kind, name, ns, **k))

    def _do(self, who, verb, kind, name, ns=None, change=None, body=None, sub=None, request=None, code=None, fail=None, grace=None, query="", quiet=False):
        """One request: changes the object and is recorded. `fail` is the (code, reason, message) of a refusal."""
        plural, gv, spaced = GROUP[kind]
        ns = ns if spaced else None
        key = (kind, ns, name)
        obj = self.objs.get(key)
        response = None
        if fail is None:
            if verb == "create" and sub is None:
                obj = copy.deepcopy(body)
                obj.update(kind="Job" if kind == "VolcanoJob" else kind, apiVersion=gv)
                m = obj.setdefault("metadata", {})
                m.update(name=name, uid=uid_of(self.seed, kind, ns, name, self.now), creationTimestamp=self.ts(self.now), generation=1)
                if ns: m["namespace"] = ns
                self.objs[key] = obj
                self._keep("ADDED", obj)
                code = code or 201
            elif obj is None:
                fail = (404, "NotFound", f'{plural} "{name}" not found')
            elif verb in ("patch", "update"):
                change(obj)
                gone = "deletionTimestamp" in obj["metadata"] and not obj["metadata"].get("finalizers") and kind != "Pod"
                if gone: self._remove(key)
                else: self._keep("MODIFIED", obj)
            elif verb == "delete" or sub == "eviction":
                request = request if sub else ({"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/__internal", "propagationPolicy": "Background"} if grace != 0 else {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/__internal", "gracePeriodSeconds": 0})
                if sub:
                    self._condition(obj, "DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting")
                    request = {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": name, "namespace": ns}, "deleteOptions": {}}
                    code = 201
                ended = kind == "Pod" and (obj["status"].get("phase") in ("Failed", "Succeeded") or not obj["spec"].get("nodeName"))
                if kind == "Pod" and grace is None: grace = 0 if ended else obj["spec"].get("terminationGracePeriodSeconds", 30)
                if kind == "Pod":
                    if "deletionTimestamp" not in obj["metadata"] or grace == 0:
                        obj["metadata"].update(deletionTimestamp=self.ts(self.now + grace), deletionGracePeriodSeconds=grace)
                        obj["metadata"]["generation"] = 2
                    if grace == 0 and not obj["metadata"].get("finalizers"): self._remove(key)
                    else: self._keep("MODIFIED", obj)
                else:
                    obj["metadata"].setdefault("deletionTimestamp", self.ts(self.now))
                    obj["metadata"].setdefault("deletionGracePeriodSeconds", 0)
                    if obj["metadata"].get("finalizers"): self._keep("MODIFIED", obj)
                    else: self._remove(key)
            if fail is None and obj is not None: response = copy.deepcopy(obj)
        if sub == "eviction" and fail is None: response = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
        if quiet: return
        api = "/api/v1" if "/" not in gv else "/apis/" + gv
        path = api + (f"/namespaces/{ns}" if ns else "") + f"/{plural}" + ("" if verb == "create" and not sub else f"/{name}") + (f"/{sub}" if sub else "") + query
        status = {"metadata": {}, "code": code or 200}
        if fail: status = {"metadata": {}, "status": "Failure", "reason": fail[1], "message": fail[2], "code": fail[0]}
        ref = {"resource": plural, "name": name, "apiVersion": gv.split("/")[-1]}
        if ns: ref["namespace"] = ns
        if "/" in gv: ref["apiGroup"] = gv.split("/")[0]
        if sub: ref["subresource"] = sub
        rec = {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": uid_of(self.seed, "audit", len(self.audit)), "stage": "ResponseComplete",
               "requestURI": path, "verb": verb, "user": who[0], "sourceIPs": [f"10.0.{len(who[0]['username']) % 9}.7"], "userAgent": who[1], "objectRef": ref, "responseStatus": status}
        if request is None and verb == "create" and not sub: request = copy.deepcopy(body) | {"kind": kind if kind != "VolcanoJob" else "Job", "apiVersion": gv}
        if request is not None: rec["requestObject"] = request
        if sub == "scale" and response is not None:  # a Scale answers; zero replicas are left out
            n = response["spec"].get("replicas", 0)
            response = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {k: response["metadata"][k] for k in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")}, "spec": {"replicas": n} if n else {}, "status": {"replicas": response.get("status", {}).get("replicas", 0), "selector": f"app={name}"}}
        if verb == "delete" and response is not None and kind != "Pod" and key not in self.objs:
            response = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": {"name": name, "group": ref.get("apiGroup", ""), "kind": plural, "uid": response["metadata"]["uid"]}}
        if verb == "create" and not sub and "generateName" in body.get("metadata", {}):  # the name is only in the answer
            ref.pop("name")
            request["metadata"] = {k: v for k, v in request["metadata"].items() if k != "name"}
        if response is not None: rec["responseObject"] = response
        rec.update(requestReceivedTimestamp=self.ts(self.now, 6), stageTimestamp=self.ts(self.now + 0.006, 6), annotations={"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""})
        self.audit.append(rec)

    def _remove(self, key):
        self._keep("DELETED", self.objs[key])
        del self.objs[key]

    def _condition(self, obj, kind, status, reason=None, message=None, t=None):
        conditions = obj.setdefault("status", {}).setdefault("conditions", [])
        old = next((c for c in conditions if c["type"] == kind), None)
        when = self.ts(self.now if t is None else t)
        new = {"type": kind, "status": status, "lastProbeTime": None, "lastTransitionTime": when if not old or old["status"] != status else old["lastTransitionTime"]}
        if reason: new["reason"] = reason
        if message: new["message"] = message
        if old: conditions[conditions.index(old)] = new
        else: conditions.append(new)

    def condition(self, t, who, kind, name, ns, *args, **more):
        """Sets a condition of an object's status, as its controller does."""
        def change(o):
            self._condition(o, *args)
            for path, value in more.items(): o["status"][path] = value
        self.api(t, who, "patch", kind, name, ns, sub="status", change=change, request={"status": {"conditions": [dict(zip(("type", "status", "reason", "message"), args))]}})

    # -- Events
    def event(self, t, by, kind, name, ns, reason, message, warn=False, host=None, count=1, until=None, new=False, field=None, uid=True):
        def do():
            obj = self.get(kind, name, ns) or next((o for _, _, o in reversed(self.versions) if o["kind"] == kind and o["metadata"]["name"] == name), None)
            shift = self.skew.get(host, 0)
            nanos = int((self.base + timedelta(seconds=self.now + shift)).timestamp() * 1e9) + len(self.events)
            gv = GROUP[kind][1]
            ref = {"kind": "Job" if kind == "VolcanoJob" else kind, "name": name, "apiVersion": gv}
            if ns: ref["namespace"] = ns
            if obj and uid: ref["uid"] = name if kind == "Node" and by == "kubelet" else obj["metadata"]["uid"]
            if field: ref["fieldPath"] = field
            e = {"kind": "Event", "apiVersion": "v1", "metadata": {"name": f"{name}.{nanos:x}", "namespace": ns or "default", "uid": uid_of(self.seed, "event", len(self.events)), "creationTimestamp": self.ts(self.now)},
                 "involvedObject": ref, "reason": reason, "message": message, "type": "Warning" if warn else "Normal"}
            if new:
                e.update(eventTime=self.ts(self.now, 6), firstTimestamp=None, lastTimestamp=None, source={}, action="Binding" if reason == "Scheduled" else "Scheduling", reportingComponent=by, reportingInstance=by + "-0")
            else:
                e.update(eventTime=None, firstTimestamp=self.ts(self.now + shift), lastTimestamp=self.ts((self.now if until is None else until) + shift), count=count,
                         source={"component": by} | ({"host": host} if host else {}), reportingComponent=by, reportingInstance=host or "")
            self.rv += 1
            e["metadata"]["resourceVersion"] = str(self.rv)
            self.events.append((self.now if until is None else until, e))
        self.at(t, do)

    # -- logs
    def log(self, t, pod, text, container="trainer"):
        skew = self.skew.get(pod.node, 0)
        self.at(t, lambda: [self.logs.setdefault((pod.ns, pod.name, container), []).append((t + skew + i * 1e-4, line)) for i, line in enumerate(text.split("\n"))])

    def kernel(self, t, node, text, unit="kernel"):
        self.at(t, lambda: self.host.setdefault(node, []).append((t + self.skew.get(node, 0), unit, text)))


class Pod:
    def __init__(self, name, ns, node, **k):
        self.name, self.ns, self.node = name, ns, node
        self.__dict__.update(k)


# -- what mixes of observers write

MIXES = {  # letters: L lists, E events, W watches, A audit with bodies, M audit of metadata, G logs and kernel, T text, X two hours later
    "L": "L", "LE": "LE", "LEG": "LEG", "W": "WE", "A": "A", "LA": "LA", "LEAG": "LEAG", "LEM": "LEM", "M": "M", "X": "LX", "XAG": "LXAG", "T": "TE", "G": "G", "EA": "EA", "E": "E",
}
FORMS = {  # other forms of the same, tried with few families: y YAML, d describe of pods alone, n a session with nodes and all Events, j describe of the job, s a stream of objects (get -w -o json), r audit with both stages, w audit with the writes of Events, 1 pods alone, 2 audit without patches, 3 audit of people alone, p pods as a table alone
    "Y": "LEy", "Td": "Td", "Tn": "Tn", "Tj": "Tj", "Ws": "Ws", "Ar": "Ar", "Tp": "Tp", "To": "To", "We": "We", "Aw": "Aw", "LAw": "LAw", "LEAw": "LEAw", "A1": "A1", "A2": "A2", "A3": "A3", "L1": "L1", "E1": "E1", "W1": "W1",
}


def write(w, folder, mix, spread=60):
    letters = MIXES.get(mix) or FORMS[mix]
    path = os.path.join(folder, "input")
    os.makedirs(path, exist_ok=True)
    put = lambda name, text: (os.makedirs(os.path.dirname(os.path.join(path, name)), exist_ok=True), open(os.path.join(path, name), "w").write(text))
    lines = lambda rows: "".join(json.dumps(r, separators=(",", ":")) + "\n" for r in rows)
    end = w.last + spread
    if "L" in letters:
        kinds = sorted({k for k, _, _ in w.objs if "1" not in letters or k == "Pod"})
        for kind in kinds:
            items = [o for (k, _, _), o in sorted(w.objs.items(), key=lambda x: tuple(map(str, x[0]))) if k == kind]
            plural = GROUP[kind][0] + ("-volcano" if kind == "VolcanoJob" else "")
            body = {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}
            put(f"{plural}.yaml", yaml(body)) if "y" in letters else put(f"{plural}.json", json.dumps(body, indent=1))
        if not any(k == "Pod" for k, _, _ in w.objs):
            put("pods.json", json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": []}))
        if getattr(w, "earlier", None):  # a list of pods from before, beside those of now
            put("before/pods.json", json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": list(w.earlier.values())}, indent=1))
    if "E" in letters and "W" not in letters and "T" not in letters:
        items = [e for t, e in w.events if t > end - 3600 and ("1" not in letters or e["involvedObject"]["kind"] == "Pod")]
        put("events.json", json.dumps({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}, indent=1))
    if "s" in letters:
        put("watch.json", "".join(json.dumps(o, indent=4) + "\n" for _, what, o in w.versions if o["kind"] == "Pod" and what != "DELETED"))
    elif "W" in letters:
        by = {}
        for _, what, o in w.versions: by.setdefault(o["apiVersion"].split("/")[0] + "-" + o["kind"].lower(), []).append({"type": what, "object": o})
        for kind, rows in by.items(): "1" in letters and kind != "v1-pod" or put(f"watch-{kind}.ndjson", lines(rows))
        if not {"e", "1"} & set(letters): put("watch-events.ndjson", lines({"type": "ADDED", "object": e} for _, e in w.events))
    if "w" in letters: put("audit.log", lines(sorted(w.audit + [event_write(w, e) for _, e in w.events], key=lambda r: r["requestReceivedTimestamp"])))
    elif "r" in letters:
        put("audit.log", lines(x for r in w.audit for x in ({k: v for k, v in r.items() if k not in ("responseObject", "responseStatus", "annotations")} | {"stage": "RequestReceived", "stageTimestamp": r["requestReceivedTimestamp"]}, r)))
    elif "A" in letters:
        kept = {"1": lambda r: r["objectRef"]["resource"] == "pods", "2": lambda r: r["verb"] not in ("patch", "update"), "3": lambda r: not r["user"]["username"].startswith("system:")}.get(letters[1:2], lambda r: True)
        put("audit.log", lines(r for r in w.audit if kept(r)))
    if "M" in letters:
        put("audit.log", lines({k: v for k, v in r.items() if k not in ("requestObject", "responseObject")} | {"level": "Metadata"} for r in w.audit))
    if "G" in letters:
        for (ns, pod, c), rows in w.logs.items():
            put(f"logs/{pod}.log" if c == "trainer" else f"logs/{pod}/{c}.log", "".join(f"{w.ts(t, 6)[:-1]}000Z {line}\n" for t, line in sorted(rows, key=lambda r: r[0])))
        for node, rows in w.host.items():
            put(f"nodes/{node}/journal.log", "".join(f"{w.ts(t, 6)[:-1]}+00:00 {node} {unit}: {text}\n" for t, unit, text in sorted(rows, key=lambda r: r[0])))
    if "T" in letters: put("session.txt", text_of(w, end, letters))


def age(s):
    s = int(s)
    if s < 120: return f"{s}s"
    if s < 600: return f"{s // 60}m{s % 60}s" if s % 60 else f"{s // 60}m"
    if s < 10800: return f"{s // 60}m"
    if s < 28800: return f"{s // 3600}h{s % 3600 // 60}m" if s % 3600 // 60 else f"{s // 3600}h"
    return f"{s // 3600}h" if s < 172800 else f"{s // 86400}d"


def yaml(x, pad=""):
    """Block style, as kubectl prints it."""
    if isinstance(x, dict) and x:
        return "".join(f"{pad}{json.dumps(k) if not k.replace('-', '').replace('_', '').isalnum() else k}:" + (f"\n{yaml(v, pad + '  ') if isinstance(v, dict) else yaml(v, pad)}" if isinstance(v, (dict, list)) and v else f" {json.dumps(v)}\n") for k, v in x.items())
    return "".join(f"{pad}- " + (yaml(v, pad + "  ")[len(pad) + 2:] if isinstance(v, dict) and v else json.dumps(v) + "\n") for v in x)


def text_of(w, end, letters="TE"):
    """A session of kubectl: date, get pods, get events, describe."""
    secs = lambda stamp: (datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc) - w.base).total_seconds()
    out = ["$ date -u", (w.base + timedelta(seconds=end)).strftime("%a %b %e %H:%M:%S UTC %Y"), f"$ kubectl get pods -n {w.ns} -o wide"]
    rows = [("NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES")]
    pods = [o for (k, ns, _), o in sorted(w.objs.items(), key=lambda x: tuple(map(str, x[0]))) if k == "Pod" and ns == w.ns]
    for o in pods:
        cs = o["status"].get("containerStatuses", [])
        word = o["status"].get("reason") or o["status"].get("phase", "Pending")
        for c in cs:
            for state in ("waiting", "terminated"):
                if state in c.get("state", {}) and c["state"][state].get("reason"): word = c["state"][state]["reason"]
        if "deletionTimestamp" in o["metadata"]: word = "Terminating"
        rows.append((o["metadata"]["name"], f"{sum(c['ready'] for c in cs)}/{len(o['spec']['containers'])}", word, str(sum(c["restartCount"] for c in cs)), age(end - secs(o["metadata"]["creationTimestamp"])), "10.2.3.4" if cs else "<none>", o["spec"].get("nodeName", "<none>"), "<none>", "<none>"))
    width = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    out += ["   ".join(c.ljust(n) for c, n in zip(r, width)).rstrip() for r in rows] if len(rows) > 1 else [f"No resources found in {w.ns} namespace."]
    if "p" in letters: return "\n".join(out) + "\n"
    if "d" in letters: return "\n".join(x for o in pods for x in describe(w, o, end) + [""]) + "\n"
    if "j" in letters: return "\n".join(x for (k, ns, n), o in sorted(w.objs.items(), key=lambda x: tuple(map(str, x[0]))) if k == "Job" for x in describe_job(w, o, end)) + "\n"
    wide = "n" in letters
    out.append("$ kubectl get events -A --sort-by=.lastTimestamp" if wide else f"$ kubectl get events -n {w.ns} --sort-by=.lastTimestamp")
    rows = [("LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE")] if not wide else [("NAMESPACE", "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE")]
    for t, e in sorted(w.events, key=lambda r: r[0]):
        if wide and t > end - 3600:
            i = e["involvedObject"]
            rows.append((e["metadata"]["namespace"], age(end - t), e["type"], e["reason"], f"{i['kind'].lower()}/{i['name']}", e["message"]))
        elif t > end - 3600 and e["metadata"]["namespace"] == w.ns:
            i = e["involvedObject"]
            rows.append((age(end - t), e["type"], e["reason"], f"{i['kind'].lower()}/{i['name']}", e["message"]))
    if "o" in letters: rows[1:] = w.rng.sample(rows[1:], len(rows) - 1)  # kubectl sorts only when it is told to
    width = [max(len(r[i]) for r in rows) for i in range(len(rows[0]) - 1)] + [0]
    out += ["   ".join(c.ljust(n) for c, n in zip(r, width)).rstrip() for r in rows]
    if wide:
        out += ["$ kubectl get nodes", "NAME   STATUS   ROLES   AGE   VERSION"]
        for (k, _, n), o in sorted(w.objs.items(), key=lambda x: tuple(map(str, x[0]))):
            if k == "Node":
                c = next(c for c in o["status"]["conditions"] if c["type"] == "Ready")
                out.append(f"{n}   {'Ready' if c['status'] == 'True' else 'NotReady'}{',SchedulingDisabled' if o['spec'].get('unschedulable') else ''}   <none>   {age(end - secs(o['metadata']['creationTimestamp']))}   v1.34.1")
    for o in pods: out += [f"$ kubectl describe pod {o['metadata']['name']} -n {w.ns}"] + describe(w, o, end)
    return "\n".join(out) + "\n"


def describe(w, o, end):
    m, s = o["metadata"], o["status"]
    rfc = lambda z: datetime.strptime(z, "%Y-%m-%dT%H:%M:%SZ").strftime("%a, %d %b %Y %H:%M:%S +0000")
    out = [f"Name:             {m['name']}", f"Namespace:        {m['namespace']}", "Priority:         0", f"Node:             {o['spec'].get('nodeName', '<none>')}" + ("/10.1.0.4" if o["spec"].get("nodeName") else "")]
    if "startTime" in s: out.append(f"Start Time:       {rfc(s['startTime'])}")
    labels = [f"{k}={v}" for k, v in sorted(m.get("labels", {}).items())] or ["<none>"]
    out += ["Labels:           " + labels[0]] + ["                  " + x for x in labels[1:]] + ["Annotations:      <none>"]
    if "deletionTimestamp" in m: out += [f"Status:                    Terminating (lasts {age(end)})", f"Termination Grace Period:  {m['deletionGracePeriodSeconds']}s"]
    else: out.append(f"Status:           {s.get('phase', 'Pending')}")
    for key in ("reason", "message"):
        if key in s: out.append(f"{key.capitalize() + ':':<18}{s[key]}")
    owner = (m.get("ownerReferences") or [None])[0]
    if owner: out.append(f"Controlled By:    {owner['kind']}/{owner['name']}")
    for title, specs, states in (("Init Containers:", o["spec"].get("initContainers", []), s.get("initContainerStatuses", [])), ("Containers:", o["spec"]["containers"], s.get("containerStatuses", []))):
        if not specs: continue
        out.append(title)
        for spec in specs:
            st = next((c for c in states if c["name"] == spec["name"]), None)
            out += [f"  {spec['name']}:", f"    Container ID:  {(st or {}).get('containerID', '')}", f"    Image:         {spec['image']}"]
            for head, key in (("State", "state"), ("Last State", "lastState")):
                for word, d in ((st or {}).get(key) or {}).items():
                    out.append(f"    {head + ':':<15}{word.capitalize()}")
                    if "reason" in d: out.append(f"      Reason:      {d['reason']}")
                    if "message" in d: out.append(f"      Message:     {d['message']}")
                    if "exitCode" in d: out.append(f"      Exit Code:   {d['exitCode']}")
                    for a, b in (("startedAt", "Started"), ("finishedAt", "Finished")):
                        if d.get(a): out.append(f"      {b + ':':<13}{rfc(d[a])}")
            out += [f"    Ready:          {str((st or {}).get('ready', False))}", f"    Restart Count:  {(st or {}).get('restartCount', 0)}"]
    out += ["Conditions:", "  Type             Status"] + [f"  {c['type']:<16} {c['status']} " for c in s.get("conditions", [])]
    mine = [(t, e) for t, e in w.events if e["involvedObject"].get("uid") == m["uid"] and t > end - 3600]
    out += ["Events:"] + (["  Type     Reason     Age   From               Message", "  ----     ------     ----  ----               -------"] if mine else ["  <none>"])
    for t, e in mine: out.append(f"  {e['type']:<8} {e['reason']:<10} {age(end - t):<5} {e['reportingComponent']:<18} {e['message']}")
    return out


def describe_job(w, o, end):
    m, s = o["metadata"], o["status"]
    rfc = lambda z: datetime.strptime(z, "%Y-%m-%dT%H:%M:%SZ").strftime("%a, %d %b %Y %H:%M:%S +0000")
    out = [f"Name:             {m['name']}", f"Namespace:        {m['namespace']}", "Selector:         batch.kubernetes.io/controller-uid=" + m["uid"], f"Labels:           batch.kubernetes.io/job-name={m['name']}", f"                  job-name={m['name']}", "Annotations:      <none>", f"Parallelism:      {o['spec']['parallelism']}", f"Completions:      {o['spec']['completions']}", "Completion Mode:  Indexed", f"Suspend:          {str(o['spec']['suspend']).lower()}", f"Backoff Limit:    {o['spec']['backoffLimit']}", f"Start Time:       {rfc(s['startTime'])}", f"Pods Statuses:    0 Active (0 Ready) / {s.get('succeeded', 0)} Succeeded / {s.get('failed', 0)} Failed", "Pod Template:", f"  Labels:  batch.kubernetes.io/job-name={m['name']}", "  Containers:", "   trainer:", "    Image:      registry.lab.example/train:1.4.2", "    Port:       <none>", "    Environment:  <none>", "    Mounts:       <none>", "  Volumes:        <none>"]
    if "completionTime" in s: out.insert(12, f"Completed At:     {rfc(s['completionTime'])}")
    mine = [(t, e) for t, e in w.events if e["involvedObject"].get("uid") == m["uid"] and t > end - 3600]
    out += ["Events:", "  Type     Reason     Age   From     Message", "  ----     ------     ----  ----     -------"]
    return out + [f"  {e['type']:<8} {e['reason']:<20} {age(end - t):<5} {e['reportingComponent']:<15} {e['message']}" for t, e in mine]


def event_write(w, e):
    """The request by which a component wrote an Event, as the audit log of level Request has it."""
    who = {"kubelet": lambda: kubelet(e["source"].get("host", "n")), "default-scheduler": lambda: SCHED}.get(e["reportingComponent"], lambda: kcm(e["reportingComponent"]))()
    ns = e["metadata"]["namespace"]
    body = {k: v for k, v in e.items() if k != "metadata"} | {"metadata": {"name": e["metadata"]["name"], "namespace": ns}}
    t = (datetime.strptime(e["metadata"]["creationTimestamp"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc) - w.base).total_seconds() + 0.4
    return {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Request", "auditID": uid_of("write", e["metadata"]["uid"]), "stage": "ResponseComplete", "requestURI": f"/api/v1/namespaces/{ns}/events", "verb": "create", "user": who[0], "sourceIPs": ["10.0.0.3"], "userAgent": who[1],
            "objectRef": {"resource": "events", "namespace": ns, "name": e["metadata"]["name"], "apiVersion": "v1"}, "responseStatus": {"metadata": {}, "code": 201}, "requestObject": body, "requestReceivedTimestamp": w.ts(t, 6), "stageTimestamp": w.ts(t + 0.003, 6)}
