"""How long a question to a live cluster of 5,000 nodes and 100,000 pods takes, and how much memory.

Usage: benches/large_cluster.py SERVER WHATHAPPENED… [-- NODES PODS]

SERVER is `cargo build -p whathappened-loopback --example large_cluster`: it serves the objects of a fixture as they
were recorded, and copies of them under other names as everything else. Each WHATHAPPENED is asked about the
fixture's run three times, listing the cluster in full and three times reading what the question concerns
(`selective`), each time with a store of its own. Prints seconds and the most resident memory of the process, and
whether all answers are the same.
"""

import gzip
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FIXTURE, NAME = Path("fixtures/lab-reboot-lists/input"), "dalle-5"


def lists(folder):
    for path in sorted(folder.rglob("*.json*")):
        data = path.read_bytes()
        value = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
        for item in value.get("items", []):
            item.setdefault("kind", value["kind"].removesuffix("List"))
            item.setdefault("apiVersion", value.get("apiVersion", "v1"))
            yield item


def recorded():
    objects = list(lists(FIXTURE))
    first = lambda kind: next(one for one in objects if one["kind"] == kind)
    about_pod = next(one for one in objects if one["kind"] == "Event" and one["involvedObject"]["kind"] == "Pod")
    return {"objects": objects, "node": first("Node"), "pod": first("Pod"), "job": first("Job"), "event": about_pod}


def ask(tool, url, folder, selective):
    config = Path(folder) / "kubeconfig"
    config.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "large",
        "clusters": [{"name": "large", "cluster": {"server": url}}],
        "users": [{"name": "me", "user": {}}],
        "contexts": [{"name": "large", "context": {"cluster": "large", "user": "me"}}],
    }))
    settings = Path(folder) / "config.toml"
    settings.write_text(f"[kubernetes]\nselective = {str(selective).lower()}\ntimeout = '600s'\n")
    environment = {key: value for key, value in os.environ.items() if "KUBE" not in key and "_URL" not in key}
    command = [tool, NAME, "--format", "json", "--kubeconfig", str(config), "--config", str(settings),
               "--store", f"{folder}/store"]
    begun = time.monotonic()
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, error = child.stdout.read(), child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    took = time.monotonic() - begun
    if status:
        sys.exit(f"{tool}: {error}")
    return took, used.ru_maxrss / 1024, json.loads(out)


def same(answer):
    """What does not depend on how the cluster was listed."""
    rows = [[row["source"], row["resource"], row["status"]] for row in answer["coverage"]]
    text = json.dumps({**answer, "coverage": rows, "ruleset": "", "now": ""}, sort_keys=True)
    return re.sub(r"(large/api[^\" :]*):\d+", r"\1", text)


def main():
    arguments = sys.argv[1:]
    size = ["5000", "100000"]
    if "--" in arguments:
        at = arguments.index("--")
        arguments, size = arguments[:at], arguments[at + 1:]
    server, tools = arguments[0], arguments[1:]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recorded.json"
        file.write_text(json.dumps(recorded()))
        playing = subprocess.Popen([server, str(file), *size], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        url, objects = playing.stdout.readline().split()
        print(f"{size[0]} nodes, {size[1]} pods, {objects} objects")
        answers = set()
        for tool in tools:
            for selective in [False, True] * 3:
                with tempfile.TemporaryDirectory() as own:
                    took, memory, answer = ask(tool, url, own, selective)
                    answers.add(same(answer))
                    cause = [one["cause"] for one in answer["incidents"]]
                    how = "selective" if selective else "in full"
                    print(f"{tool} {how}: {took:.1f} s, {memory:.0f} MiB, {cause}", flush=True)
        print("all answers are the same" if len(answers) == 1 else f"{len(answers)} different answers")
        playing.stdin.close()
        playing.wait()


main()
