"""gen.py FOLDER [PREFIX] [SEED] [--mix=A,LE]: writes the cases of these families, a folder each (input/, expect.json, truth.json).

The world, its parts and what observers write are those of crucible/cases/k8s; only the families are new."""

import json, os, sys
from zlib import crc32

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.dirname(HERE)
sys.path[:0] = [HERE, CASES + "/k8s", CASES + "/k8s2"]

from world import FORMS, MIXES, World, write  # noqa: E402

PARTIAL = ("A1", "A2", "A3", "L1", "E1", "Ws", "To", "Tn", "Tp", "Td")
DEFAULT = [m for m in MIXES if m not in ("W",)] + ["XM"]
MIXES.setdefault("XM", "LXM")
for _k, _v in {"GKE": "EA", "GKEm": "EM", "EKS": "EA", "AKS": "EA", "S": "T"}.items(): FORMS.setdefault(_k, _v)


def reform(folder, mix):
    """The audit log (and Events) as a cloud's log service exports them."""
    p = os.path.join(folder, "input"); rows = [json.loads(x) for x in open(p + "/audit.log")]; os.remove(p + "/audit.log")
    if mix == "EKS":
        json.dump({"events": [{"logStreamName": "kube-apiserver-audit-0a1b2c", "timestamp": 0, "message": json.dumps(r), "ingestionTime": 0, "eventId": str(i)} | {"timestamp": ms(r["stageTimestamp"]), "ingestionTime": ms(r["stageTimestamp"]) + 900} for i, r in enumerate(rows)]}, open(p + "/filter-log-events.json", "w"))
    if mix == "AKS":
        open(p + "/kube-audit.ndjson", "w").write("".join(json.dumps({"time": r["stageTimestamp"], "category": "kube-audit", "operationName": "Microsoft.ContainerService/managedClusters/diagnosticLogs/Read", "resourceId": "/SUBSCRIPTIONS/S/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.CONTAINERSERVICE/MANAGEDCLUSTERS/AKS", "properties": {"log": json.dumps(r), "stream": "stdout", "pod": "kube-apiserver-6d4-x"}}) + "\n" for r in rows))
    if mix.startswith("GKE"):
        out = []
        for r in rows:
            o = r["objectRef"]; grp = o.get("apiGroup") or "core"; sub = ("." + o["subresource"]) if o.get("subresource") else ""
            name = f"{grp}/{o['apiVersion']}" + (f"/namespaces/{o['namespace']}" if o.get("namespace") else "") + f"/{o['resource']}" + (f"/{o['name']}" if o.get("name") else "") + ("/" + o["subresource"] if sub else "")
            pp = {"@type": "type.googleapis.com/google.cloud.audit.AuditLog", "authenticationInfo": {"principalEmail": r["user"]["username"]}, "authorizationInfo": [{"granted": True, "permission": f"io.k8s.{grp}.{o['apiVersion']}.{o['resource']}{sub}.{r['verb']}", "resource": name}], "methodName": f"io.k8s.{grp}.{o['apiVersion']}.{o['resource']}{sub}.{r['verb']}", "requestMetadata": {"callerIp": "10.0.0.9", "callerSuppliedUserAgent": r["userAgent"]}, "resourceName": name, "serviceName": "k8s.io", "status": {} if r["responseStatus"].get("code", 200) < 400 else {"code": 7, "message": r["responseStatus"].get("message", "")}}
            for a, b in (("request", "requestObject"), ("response", "responseObject")):
                if b in r: pp[a] = r[b]
            out.append({"insertId": r["auditID"], "labels": {"authorization.k8s.io/decision": "allow"}, "logName": "projects/lab/logs/cloudaudit.googleapis.com%2Factivity", "operation": {"first": True, "last": True, "id": r["auditID"], "producer": "k8s.io"}, "protoPayload": pp, "receiveTimestamp": r["stageTimestamp"], "resource": {"type": "k8s_cluster", "labels": {"cluster_name": "prod", "location": "us-central1", "project_id": "lab"}}, "timestamp": r["requestReceivedTimestamp"]})
        evs = json.load(open(p + "/events.json"))["items"]; os.remove(p + "/events.json")
        for e in evs: out.append({"insertId": e["metadata"]["uid"], "jsonPayload": e, "logName": "projects/lab/logs/events", "receiveTimestamp": e.get("lastTimestamp") or e["eventTime"], "resource": {"type": "k8s_pod" if e["involvedObject"]["kind"] == "Pod" else "k8s_node" if e["involvedObject"]["kind"] == "Node" else "k8s_cluster", "labels": {"cluster_name": "prod", "location": "us-central1", "project_id": "lab"} | ({"namespace_name": e["metadata"]["namespace"], "pod_name": e["involvedObject"]["name"]} if e["involvedObject"]["kind"] == "Pod" else {"node_name": e["involvedObject"]["name"]} if e["involvedObject"]["kind"] == "Node" else {})}, "severity": "WARNING" if e["type"] == "Warning" else "INFO", "timestamp": e.get("lastTimestamp") or e["eventTime"]})
        json.dump(sorted(out, key=lambda x: x["timestamp"]), open(p + "/gcp-logs.json", "w"))


def ms(z):
    from datetime import datetime
    return int(datetime.fromisoformat(z.replace("Z", "+00:00")).timestamp() * 1000)



def families():
    import importlib
    import base
    for i in range(1, 15):
        if os.path.exists(f"{HERE}/f{i}.py"): importlib.import_module(f"f{i}")
    return base.NEW


def make(out, prefix="", seed=0, mixes=None):
    n = 0
    for name, twins, build in families():
        for twin in twins:
            for mix in (mixes if mixes and set(mixes) <= set(FORMS) else getattr(build, "mixes", DEFAULT)):
                if mixes and mix not in mixes: continue
                case = f"{name}.{twin.replace('/', '+')}.{mix}.{seed}"
                if not case.startswith(prefix): continue
                w = World(crc32(f"s46/{name}/{twin}/{seed}".encode()))
                ask, truth = build(w, twin)
                if mix in PARTIAL: truth.seen, truth.who, truth.unseen = "", "", tuple(truth.unseen) + tuple(truth.weak)
                w.play()
                getattr(w, "after", lambda: None)()
                folder = os.path.join(out, case)
                letters = MIXES.get(mix) or FORMS[mix]
                write(w, folder, mix, spread=3900 if mix[0] == "X" else 60)
                if mix in ("EKS", "AKS", "GKE", "GKEm"): reform(folder, mix)
                if getattr(w, "session", None):
                    import shutil
                    shutil.rmtree(os.path.join(folder, "input")); os.makedirs(os.path.join(folder, "input")); open(os.path.join(folder, "input", "session.txt"), "w").write(w.session)
                if getattr(w, "beside", None):  # another cluster's records, in a folder of their own
                    import shutil
                    os.rename(os.path.join(folder, "input"), os.path.join(folder, "a"))
                    write(w.beside, folder, mix, spread=3900 if mix[0] == "X" else 60)
                    os.rename(os.path.join(folder, "input"), os.path.join(folder, "b")); os.makedirs(os.path.join(folder, "input"))
                    for x in "ab": shutil.move(os.path.join(folder, x), os.path.join(folder, "input", "cluster-" + x))
                if not os.listdir(os.path.join(folder, "input")): continue
                json.dump({"ask": ask, "mix": letters} | truth.__dict__, open(os.path.join(folder, "truth.json"), "w"))
                json.dump({"experiments": {ask: {"cause": list(truth.right), "must_not": list(truth.never_cause)}}}, open(os.path.join(folder, "expect.json"), "w"))
                n += 1
    return n


if __name__ == "__main__":
    args = [one for one in sys.argv[1:] if not one.startswith("--")]
    mixes = next((one[6:].split(",") for one in sys.argv if one.startswith("--mix=")), None)
    print(make(args[0], *args[1:2], *map(int, args[2:3]), mixes=mixes), "cases")
