"""How long a question takes that asks three clouds and a log store at once.

Usage: benches/sources.py [WHATHAPPENED] [DELAY_MS]

Small servers on loopback play Google Cloud, AWS, Azure and Loki; each answers after
DELAY_MS (300). A run with a pod in each cloud is asked about with one source alone,
then with all of them. All together should take no longer than 1.1 times the slowest.
Prints seconds, the best of three.
"""

import datetime
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

BINARY = sys.argv[1] if len(sys.argv) > 1 else "whathappened"
DELAY = float(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0.3
SUBSCRIPTION = "0a0a0a0a-1111-2222-3333-444444444444"
GKE, EC2 = "gke-lab-gpu-1a2b3c4d-x1y2", "i-0a1b2c3d4e5f60711"
VM = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/MC_rg_lab_westeurope/providers/Microsoft.Compute/virtualMachineScaleSets/aks-gpu-24680135-vmss/virtualMachines/3"


def ago(seconds):
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def cluster():
    """A job of three pods whose machines fell silent an hour ago."""
    nodes = [(GKE, f"gce://lab/us-central1-a/{GKE}"), ("ip-10-0-0-4.us-west-2.compute.internal", f"aws:///us-west-2b/{EC2}"), ("aks-gpu-24680135-vmss000003", f"azure://{VM}")]
    yield {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "trio", "namespace": "train", "uid": "job", "creationTimestamp": ago(9000)}, "spec": {"parallelism": 3, "completions": 3}}
    for rank, (node, provider) in enumerate(nodes):
        yield {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "uid": f"n{rank}", "creationTimestamp": ago(90000)}, "spec": {"providerID": provider},
               "status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "", "lastTransitionTime": ago(3550)}]}}
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"trio-{rank}", "namespace": "train", "uid": f"p{rank}", "creationTimestamp": ago(8990), "deletionTimestamp": ago(3220), "deletionGracePeriodSeconds": 30,
               "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "trio", "uid": "job", "controller": True}]},
               "spec": {"nodeName": node, "containers": [{"name": "trainer", "image": "x"}]},
               "status": {"phase": "Running", "startTime": ago(8990), "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager", "message": "Taint manager: deleting due to NoExecute taint", "lastTransitionTime": ago(3250)}]}}


def google(path, body, action):
    return {} if path.startswith("/v2/entries:list") else {"items": {}}


def amazon(path, body, action):
    if action == "GetCallerIdentity":
        return "<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::1:user/a</Arn><UserId>U</UserId><Account>111122223333</Account></GetCallerIdentityResult></GetCallerIdentityResponse>"
    if action in ("LookupEvents", "DescribeEvents"):
        return {"Events": []} if action == "LookupEvents" else {"events": []}
    inner = {"DescribeInstances": "<reservationSet/>", "DescribeInstanceStatus": "<instanceStatusSet/>", "DescribeSpotInstanceRequests": "<spotInstanceRequestSet/>",
             "DescribeScalingActivities": "<DescribeScalingActivitiesResult><Activities/></DescribeScalingActivitiesResult>"}.get(action, "")
    return f"<{action}Response>{inner}</{action}Response>"


def microsoft(path, body, action):
    return {"value": []}


def loki(path, body, action):
    if "query_range" in path:
        return {"status": "success", "data": {"resultType": "streams", "result": []}}
    return {"status": "success", "data": []}


def start(answer):
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            action = (self.headers.get("X-Amz-Target") or "").rsplit(".", 1)[-1]
            for pair in body.split("&"):
                if pair.startswith("Action="):
                    action = pair[7:]
            asked.append(self.path)
            time.sleep(DELAY)
            told = answer(self.path, body, action)
            data = (told if isinstance(told, str) else json.dumps(told)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}", asked


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        records, bin = folder / "cluster.jsonl", folder / "bin"
        records.write_text("".join(json.dumps(one) + "\n" for one in cluster()))
        bin.mkdir()
        token = {"accessToken": "t", "expiresOn": "2100-01-01 00:00:00.000000", "expires_on": 4102444800, "subscription": SUBSCRIPTION, "tenant": SUBSCRIPTION, "tokenType": "Bearer"}
        (bin / "az").write_text(f"#!/bin/sh\necho '{json.dumps(token)}'\n")
        (bin / "az").chmod(0o755)
        played = {name: start(answer) for name, answer in (("gcp", google), ("aws", amazon), ("azure", microsoft), ("loki", loki))}
        at = {name: address for name, (address, _) in played.items()}
        sources = {
            "gcp": {"GOOGLE_CLOUD_PROJECT": "lab", "CLOUDSDK_AUTH_ACCESS_TOKEN": "t", "CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING": at["gcp"],
                    "CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE": at["gcp"] + "/compute/v1", "NO_GCE_CHECK": "true"},
            "aws": {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-west-2", "AWS_ENDPOINT_URL": at["aws"], "AWS_EC2_METADATA_DISABLED": "true"},
            "azure": {"AZURE_SUBSCRIPTION_ID": SUBSCRIPTION, "AZURE_TOKEN_CREDENTIALS": "AzureCliCredential", "AZURE_RESOURCE_MANAGER_URL": at["azure"], "AZURE_SCHEDULED_EVENTS": "off"},
            "loki": {"LOKI_ADDR": at["loki"]},
        }

        def ask(names):
            best = None
            for turn in range(3):
                store = folder / f"store-{'-'.join(names) or 'none'}-{turn}"
                plain = {"PATH": f"{bin}:/usr/bin:/bin", "HOME": str(folder / "home")}
                subprocess.run([BINARY, "import", str(records), "--store", str(store)], env=plain, check=True, capture_output=True)
                wanted = {key: value for name in names for key, value in sources[name].items()}
                for _, asked in played.values():
                    asked.clear()
                begin = time.monotonic()
                done = subprocess.run([BINARY, "trio", "--store", str(store), "--timeout", "120s", "--format", "json"], env={**plain, **wanted}, capture_output=True)
                took = time.monotonic() - begin
                if done.returncode != 0:
                    raise SystemExit(done.stderr.decode())
                best = min(took, best or took)
            return best, {name: len(asked) for name, (_, asked) in played.items()}

        none, _ = ask([])
        print(f"{'nobody':8} {none:6.2f} s")
        alone = {}
        for name in sources:
            alone[name], requests = ask([name])
            print(f"{name:8} {alone[name]:6.2f} s  {requests[name]} requests of {DELAY:.1f} s")
        together, requests = ask(list(sources))
        slowest = max(alone.values())
        print(f"{'all':8} {together:6.2f} s  {sum(requests.values())} requests; {together / slowest:.2f} of the slowest")


if __name__ == "__main__":
    main()
