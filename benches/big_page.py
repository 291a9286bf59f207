#!/usr/bin/env python3
"""A page of one huge run: big_page.py FOLDER PODS FACTS [TOOL]

Writes a recording of one job into FOLDER: one node of many falls silent, its pod is evicted, and the whole gang is torn
down. For each pod there are its object and Events that say different things, so that little of it can be folded. With a
TOOL it makes the page of it, from the files and from a store, and prints seconds, peak memory and bytes:

    benches/big_page.py /tmp/big 10000 1000000 target/release/whathappened
"""
import datetime, json, os, pathlib, shutil, sys, time

begin = datetime.datetime(2026, 11, 21, 10, 0, 0)
root = 3600  # seconds until the node falls silent


def at(seconds):
    return (begin + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def meta(name, **more):
    return {"name": name, "namespace": "ml", "uid": f"uid-{name}", "resourceVersion": "100", "creationTimestamp": at(0), **more}


def pod(n):
    name, node = f"big-run-{n}", f"node-{n // 8}"
    owner = [{"apiVersion": "batch/v1", "kind": "Job", "name": "big-run", "uid": "uid-big-run", "controller": True}]
    labels = {"job-name": "big-run", "batch.kubernetes.io/job-completion-index": str(n)}
    status = {"phase": "Failed", "startTime": at(5), "containerStatuses": [{"name": "main", "state": {"terminated": {
        "exitCode": 143 if n != 17 else 137, "reason": "Error", "startedAt": at(20), "finishedAt": at(root + (60 if n == 17 else 90))}}}]}
    if n == 17:
        status["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
                                 "message": "Taint manager: deleting due to NoExecute taint", "lastTransitionTime": at(root + 50)}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta(name, ownerReferences=owner, labels=labels),
            "spec": {"nodeName": node, "restartPolicy": "Never", "containers": [{"name": "main", "image": "train:1",
                     "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}, "status": status}


def event(kind, name, number, reason, message, seconds, warning=False):
    return {"apiVersion": "v1", "kind": "Event", "type": "Warning" if warning else "Normal", "reason": reason, "message": message,
            "metadata": meta(f"{name}.{number:x}"), "source": {"component": "kubelet"}, "count": 1,
            "involvedObject": {"kind": kind, "namespace": "ml" if kind == "Pod" else "", "name": name, "uid": f"uid-{name}"},
            "firstTimestamp": at(seconds), "lastTimestamp": at(seconds)}


def write(folder, pods, facts):
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "objects.ndjson", "w") as out:
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta("big-run"), "spec": {"parallelism": pods, "completions": pods},
               "status": {"failed": pods, "conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded",
                          "message": "Job has reached the specified backoff limit", "lastTransitionTime": at(root + 120)}]}}
        print(json.dumps(job), file=out)
        for n in range(pods):
            print(json.dumps(pod(n)), file=out)
    with open(folder / "events.ndjson", "w") as out:
        print(json.dumps(event("Node", "node-2", 1, "NodeNotReady", "Node node-2 status is now: NodeNotReady", root, True)), file=out)
        print(json.dumps(event("Pod", "big-run-17", 2, "TaintManagerEviction", "Marking for deletion Pod ml/big-run-17", root + 50)), file=out)
        for number in range(3, facts):
            n = number % pods
            seconds = 30 + (number * 7919) % (root - 30)
            reason = ["Unhealthy", "FailedMount", "BackOff", "Pulling"][number % 4]
            print(json.dumps(event("Pod", f"big-run-{n}", number, reason, f"{reason} number {number} of {n}: took {number % 977} ms",
                                   seconds, number % 4 != 3)), file=out)


def measured(what, command):
    """Seconds and peak MiB of one process."""
    clock = time.monotonic()
    pid = os.spawnve(os.P_NOWAIT, command[0], command, {"HOME": "/nonexistent", "PATH": os.environ["PATH"]})
    _, status, own = os.wait4(pid, 0)
    wall = time.monotonic() - clock
    print(f"{what}: {wall:.1f} s, {own.ru_utime + own.ru_stime:.1f} s of processor time, {own.ru_maxrss >> 10} MiB, exit {os.waitstatus_to_exitcode(status)}", flush=True)


def main():
    folder, pods, facts = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    if not (folder / "events.ndjson").exists():
        write(folder, pods, facts)
    if len(sys.argv) < 5:
        return
    tool, store = os.path.abspath(sys.argv[4]), f"{folder}.store"
    pages = [f"{folder}.html", f"{folder}.stored.html"]
    page = ["--format", "html", "-q", "-o"]
    measured("page from the files", [tool, "big-run", "--from", str(folder), *page, pages[0]])
    shutil.rmtree(store, ignore_errors=True)
    measured("import", [tool, "import", "-q", "--store", store, str(folder)])
    measured("page from the store", [tool, "big-run", "--store", store, "--no-fetch", *page, pages[1]])
    print(" and ".join(f"{os.path.getsize(page):,}" for page in pages), "bytes")


main()
