#!/usr/bin/env python3
"""The report of a large store: report.py FOLDER [TOOL [FILL]]

Fills a store with twenty million facts of 20,000 runs over 90 days (the example `fill` of whathappened-store), imports 3,000
runs that failed in five ways, explains as much of it as EXPLAIN (10m) allows, and measures `report` over all 90 days as whole
processes. Each figure is then asked for again by the SQL that the report prints beside it, in `whathappened sql`, and has to
be the same. Exits with 1 where a figure differs or the best of REPEATS (7) takes longer than two seconds.
"""
import datetime, json, os, pathlib, statistics, subprocess, sys, time

target = os.environ.get("CARGO_TARGET_DIR", os.path.expanduser("~/.cache/whathappened-target"))
folder = pathlib.Path(sys.argv[1]).resolve()
tool = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else f"{target}/debug/whathappened"
fill = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else f"{target}/debug/examples/fill"
facts, days, failed = int(float(os.environ.get("FACTS", "20e6"))), 90, 3_000
store = folder / "store"
env = {**os.environ, "HOME": "/nonexistent"}
env.pop("KUBECONFIG", None)
begin = datetime.datetime(2026, 11, 1)  # as `fill` has it


def run(*args):
    """Seconds and output of a whole process."""
    clock = time.monotonic()
    done = subprocess.run([tool, *map(str, args)], capture_output=True, env=env)
    if done.returncode:
        sys.exit(f"{args}: exit {done.returncode}\n{done.stderr.decode()[-2000:]}")
    return time.monotonic() - clock, done.stdout


def failing(n):
    """One job of four pods that failed: by its program, its memory, a deadline, a drain, or a machine that fell silent."""
    way, job = n % 5, f"failing-{n:05}"
    at = lambda seconds: (begin + datetime.timedelta(seconds=n * (days * 86_400 - 7_200) // failed + seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
    meta = lambda name, **more: {"name": name, "namespace": f"team-{n % 7}", "uid": f"uid-{name}", "creationTimestamp": at(0), **more}
    why = [("BackoffLimitExceeded", "Job has reached the specified backoff limit"), ("DeadlineExceeded", "Job was active longer than specified deadline")][way == 2]
    yield {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta(job, labels={"owner": f"person-{n % 23}"}), "spec": {"parallelism": 4},
           "status": {"failed": 4, "conditions": [{"type": "Failed", "status": "True", "reason": why[0], "message": why[1], "lastTransitionTime": at(3_700)}]}}
    for rank in range(4):
        pod, node = f"{job}-{rank}", f"node-{(n * 4 + rank) % 1_000:04}"
        ended = {"exitCode": 137 if way == 1 and rank == 0 else 1, "reason": "OOMKilled" if way == 1 and rank == 0 else "Error",
                 "startedAt": at(30), "finishedAt": at(3_600 + (30 if rank else 0))}
        status = {"phase": "Failed", "startTime": at(5), "containerStatuses": [{"name": "main", "state": {"terminated": ended}}]}
        if way == 3 and rank == 0:
            status["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting", "lastTransitionTime": at(3_590)}]
        owner = [{"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": f"uid-{job}", "controller": True}]
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": meta(pod, ownerReferences=owner, labels={"job-name": job, "batch.kubernetes.io/job-completion-index": str(rank)}),
               "spec": {"nodeName": node, "restartPolicy": "Never", "containers": [{"name": "main", "image": "train:1", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}, "status": status}
        if way == 4 and rank == 0:
            yield {"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "NodeNotReady", "message": f"Node {node} status is now: NodeNotReady",
                   "metadata": {"name": f"{node}.{n:x}", "namespace": "default", "uid": f"uid-event-{n}", "creationTimestamp": at(3_580)}, "source": {"component": "node-controller"},
                   "count": 1, "involvedObject": {"kind": "Node", "name": node, "uid": node}, "firstTimestamp": at(3_580), "lastTimestamp": at(3_580)}


def fill_store():
    folder.mkdir(parents=True, exist_ok=True)
    if not store.exists():
        clock = time.monotonic()
        subprocess.run([fill, store, str(facts), str(facts // 1_000), str(days)], check=True, stdout=subprocess.DEVNULL)
        print(f"filled with {facts:,} facts in {time.monotonic() - clock:.0f} s", flush=True)
    done = folder / "failing.ndjson"
    if not done.exists():
        with open(done, "w") as out:
            for n in range(failed):
                for record in failing(n):
                    print(json.dumps(record), file=out)
        took, _ = run("import", "-q", "--store", store, done)
        print(f"imported {failed:,} runs that failed in {took:.0f} s", flush=True)
        took, _ = run("store", "compact", "--store", store)
        print(f"compacted in {took:.0f} s", flush=True)


def main():
    fill_store()
    report = ["report", "--store", store, "--no-fetch", "-q", "--since", f"{days}d", "--format", "json"]
    if length := os.environ.get("EXPLAIN", "10m"):
        took, _ = run(*report, "--explain", length)
        print(f"explained for {took:.0f} s", flush=True)
    walls = []
    for _ in range(int(os.environ.get("REPEATS", "7"))):
        took, out = run(*report)
        walls.append(took)
    told = json.loads(out)
    print(f"report over {told['from']} to {told['to']}: best {min(walls):.2f} s, median {statistics.median(walls):.2f} s; "
          f"{told['explained']:,} of {told['runs']:,} runs explained, {told['figures'][0]['rows'][0][0]:,} incidents", flush=True)
    differ = 0
    for figure in told["figures"]:
        took, out = run("sql", figure["sql"], "--store", store, "--no-fetch", "-q", "--format", "json")
        rows = [[row.get(column) for column in figure["columns"]] for row in json.loads(out)]
        same = rows == figure["rows"]
        differ += not same
        print(f"  {figure['id']:<18} {len(rows):>4} rows, {'the same' if same else 'DIFFERS'} by its SQL in {took:.2f} s")
    return 1 if differ or min(walls) > 2 else 0


sys.exit(main())
