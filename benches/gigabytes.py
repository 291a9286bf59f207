#!/usr/bin/env python3
"""Reads a gigabyte each of Events, objects, audit records, logs and of what nobody would write: 512 MiB must do.

    benches/gigabytes.py BINARY [gigabytes] [kind ...]

Each kind is made anew from its number, read with `--from` by a process of its own, and imported into a store by
another; prints seconds, MB/s, peak memory of the process and what was left out. Ends with 1 where a process took more
than 512 MiB or ended with an error. Needs as much room in the temporary folder as one kind and its store.
"""
import gzip, json, os, shutil, subprocess, sys, tempfile, time

TOOL, MOST = sys.argv[1], 512
SIZE = float(sys.argv[2]) if len(sys.argv) > 2 and not sys.argv[2].startswith("-") else 1.0
folder = tempfile.mkdtemp(prefix="whathappened-gigabytes-")
env = {"HOME": folder, "PATH": os.environ["PATH"]}
# A day of a cluster of some ten thousand pods, in as many runs of eight pods.
PODS = 10_000


def at(number):
    second = number % 86_400
    return f"2026-11-21T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def of(number):
    pod = number * 7919 % PODS
    return f"run-{pod // 8:05}", f"run-{pod // 8:05}-{pod % 8}", f"u-{pod}"


def event(number):
    run, pod, uid = of(number)
    return {"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "BackOff", "count": 1, "message": f"Back-off restarting failed container main in pod {pod} {number}",
            "metadata": {"name": f"{pod}.{number:016x}", "namespace": "lab", "uid": f"e-{number}", "creationTimestamp": at(number) + "Z"},
            "involvedObject": {"kind": "Pod", "namespace": "lab", "name": pod, "uid": uid}, "source": {"component": "kubelet", "host": f"gpu-{number % 500}"},
            "firstTimestamp": at(number) + "Z", "lastTimestamp": at(number) + "Z"}


def version(number):
    run, pod, uid = of(number)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod, "namespace": "lab", "uid": uid, "creationTimestamp": "2026-11-21T00:00:00Z", "resourceVersion": str(number),
            "labels": {"experiment": run, "job-name": run}, "annotations": {"lab.example/note": "x" * 400}},
            "spec": {"nodeName": f"gpu-{number % 500}", "restartPolicy": "Never", "containers": [{"name": "main", "image": "lab/train:1", "args": ["train.py"] * 20}]},
            "status": {"phase": "Running", "startTime": "2026-11-21T00:00:02Z", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": at(number) + "Z"}]}}


def audit(number):
    run, pod, uid = of(number)
    return {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": f"a-{number}", "stage": "ResponseComplete", "verb": "patch",
            "requestURI": f"/api/v1/namespaces/lab/pods/{pod}/status", "user": {"username": "system:node:gpu-1"}, "userAgent": "kubelet/v1.31",
            "objectRef": {"resource": "pods", "subresource": "status", "namespace": "lab", "name": pod, "uid": uid, "apiVersion": "v1"}, "responseStatus": {"code": 200},
            "requestReceivedTimestamp": f"{at(number)}.{number % 1000000:06}Z", "stageTimestamp": f"{at(number)}.{number % 1000000:06}Z"}


def line(number):
    text = "RuntimeError: NCCL error 2" if number % 1000 == 0 else f"INFO step={number} loss=0.{number % 1000:03} lr=1e-4 tokens/s=12345 gpu_mem=71.2GiB"
    return f"{at(number)}.{number % 1000000000:09}Z stderr F {text}"


def syslog(number):
    text = f"NVRM: Xid (PCI:0000:9b:00): 31, pid={number}, name=train" if number % 1000 == 0 else f"eth0: link state {number} is as it was, nothing to see here"
    return f"{at(number)}.000000+00:00 gpu-{number % 500} kernel: [{number}.000000] {text}"


def answer(number):
    run, pod, uid = of(number)
    stream = {"app": "trainer", "cluster": "lab", "container": "main", "namespace": "lab", "pod": pod, "node_name": f"gpu-{number % 500}"}
    values = [[str(1_763_700_000_000_000_000 + number * 100_000 + n), line(number * 20 + n)[30:]] for n in range(20)]
    return json.dumps({"status": "success", "data": {"resultType": "streams", "result": [{"stream": stream, "values": values}]}})


def yaml(number):
    one = version(number)
    meta = one["metadata"]
    return (f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {meta['name']}\n  namespace: lab\n  uid: {meta['uid']}\n  creationTimestamp: '2026-11-21T00:00:00Z'\n"
            f"  annotations:\n    lab.example/note: {'x' * 400}\nspec:\n  nodeName: gpu-{number % 500}\n  containers:\n  - name: main\n    image: lab/train:1\nstatus:\n  phase: Running\n---")


def repeated(text, end=""):
    """A file of one text over and over, in one piece."""
    return lambda number: text.format(n=number) + end


def make(path, record):
    """Records until there are enough; of those before, only times and numbers differ."""
    number, size, is_piece = 0, 0, path.endswith(PIECE)
    with (gzip.open(path, "wt", compresslevel=1) if path.endswith(".gz") else open(path, "w", buffering=1 << 20)) as to:
        if is_piece:
            to.write(BEGIN[os.path.basename(path)])
        end = "" if is_piece else "\n"
        while size < SIZE * 1e9:
            text = "".join((one if isinstance(one := record(number + more), str) else json.dumps(one)) + end for more in range(1000))
            size += to.write(text)
            number += 1000
    return number, size


def measured(*args):
    """Seconds, peak in MiB, code, and what was said."""
    begun = time.monotonic()
    child = subprocess.Popen([TOOL, *args], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    return time.monotonic() - begun, used.ru_maxrss // 1024, os.waitstatus_to_exitcode(status), said


# What is one piece from its first byte to its last.
PIECE = (".piece.log", ".piece.json")
BEGIN = {"line.piece.log": "2026-11-21T00:00:00Z ERROR ", "string.piece.json": '{"kind":"Event","apiVersion":"v1","message":"', "list.piece.json": '{"kind":"List","apiVersion":"v1","items":['}
bad = 0
for name, place, record in [
    ("events", "events.ndjson", event),
    ("objects", "pods.ndjson", version),
    ("audit", "audit.log", audit),
    ("logs", "pods/lab_run-00001-0_u-8/main/0.log", line),
    ("hosts", "messages.log", syslog),
    ("answers", "loki.ndjson", answer),
    ("yaml", "pods.yaml", yaml),
    ("empty", "empty.json.gz", repeated("{{}}")),
    ("line", "line.piece.log", repeated("word {n} ")),
    ("string", "string.piece.json", repeated("word {n} ")),
    ("list", "list.piece.json", repeated('{{"kind":"Event","n":{n}}},')),
]:
    if sys.argv[3:] and name not in sys.argv[3:]:
        continue
    path = os.path.join(folder, place)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    (records, size), store = make(path, record), os.path.join(folder, "store")
    source = os.path.join(folder, "pods") if name == "logs" else path
    for verb, ask in [("--from", ["run-00001", "--from", source]), ("import", ["import", source, "--store", store])]:
        took, peak, code, said = measured(*ask)
        told = [part.strip() for part in said.splitlines() if any(word in part for word in ("left out", "limit", "longer than", "not usable", "not JSON"))]
        cut = told[0] if told else "nothing left out"
        bad += peak > MOST or code not in (0, 2, 3)
        print(f"{name:8} {verb:7} {records} records, {size / 1e9:.2f} GB: {took:.1f} s, {size / 1e6 / took:.0f} MB/s, peak {peak} MiB, exit {code}; {cut[:160]}", flush=True)
    os.remove(path)
    shutil.rmtree(store, ignore_errors=True)
shutil.rmtree(folder)
sys.exit(1 if bad else 0)
