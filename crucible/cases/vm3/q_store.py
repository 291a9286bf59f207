"""Exports of log stores alone: Loki, Datadog, Elasticsearch; trackers' folders beside logs."""

import json

from kit import NOBODY, OWN, PEOPLE, family, goes_away, vm
from world import Aws, Machine, OWN_ERRORS, Train, iso

ENDS = "own killed oom_unit stop reboot panic segv xid79 completed running other_reboot other_stop other_oom other_panic poweroff"


def two_hosts(c, kind):
    """A run on gpu-07 and a machine beside it, with what befell which."""
    m = Machine(c, "gpu-07", system=c.pick("u22", "u24", "el8", "el9"), form="json")
    far = Machine(c, "gpu-08", system="u22", form="json")
    log = Train(c, "gpu-07/train.log", form=c.pick("logging", "iso", "iter"))
    for box in (m, far):
        box.noise(-900, 2500)
    m.start(0)
    log.begin(1, m.pid)
    t, mild, actor = c.between(900, 1500), [], None
    last = log.steps(1, t)
    if kind == "running":
        return m, far, log, t, ["none.running"], ["unknown"], None, last + 3
    if kind.startswith("other_"):
        what = kind[6:]
        who = c.pick(*PEOPLE)
        if what == "reboot":
            far.sudo(t - 3, who, "/usr/sbin/reboot")
            far.goes_down(t - 2)
            far.boots(t + 80)
        elif what == "stop":
            far.start(0)
            far.sudo(t - 2, who, "/usr/bin/systemctl stop train")
            far.stop(t - 1.8)
        elif what == "oom":
            far.start(0)
            far.oom_own(t - 2, True)
        else:
            far.kernel(t - 2, "Kernel panic - not syncing: Fatal exception")
            far.boots(t + 100)
        m.exit(t + 0.6, c.pick(1, 2, 3))
        right = NOBODY
    else:
        right, mild, actor = goes_away(c, m, log, t, kind)
    return m, far, log, t, right, mild, actor, 2500


def journal_rows(m):
    for row in sorted(m.kept(), key=lambda row: (row[0], row[1])):
        at, _, program, pid, text = row
        if program != "boot":
            yield at, program, pid, text


def ns(c, t):
    return str(int(c.at(t).timestamp() * 1e6) * 1000)


@family("n.loki", ENDS, 12)
def loki(c):
    """query_range answers: the program's lines by host (and experiment), journals as Promtail or Alloy ships them."""
    m, far, log, t, right, mild, actor, until = two_hosts(c, c.variant)
    labelled = c.number % 2 == 0
    style = c.number % 3  # MESSAGE only with labels, syslog lines, JSON of the journal
    streams = {}
    def put(labels, at, line):
        streams.setdefault(json.dumps(labels, sort_keys=True), []).append([ns(c, at), line])
    for at, text in sorted(log.lines, key=lambda row: row[0]):
        labels = {"host": "gpu-07", "job": "train", "filename": "/home/alice/train.log", "detected_level": "info"}
        if labelled:
            labels["experiment"] = "exp-1"
        for line in text.rstrip("\n").split("\n"):
            put(labels, at, line)
    for box in (m, far):
        for at, program, pid, text in journal_rows(box):
            if at > until:
                continue
            if style == 0:
                put({"host": box.host, "job": "systemd-journal", "syslog_identifier": program, "transport": "kernel" if program == "kernel" else "journal", **({"unit": "init.scope"} if program == "systemd" else {})}, at, text)
            elif style == 1:
                put({"host": box.host, "job": "syslog"}, at, f"{iso(c.at(at), 6)}+00:00 {box.host} {program}{f'[{pid}]' if pid else ''}: {text}")
            else:
                put({"hostname": box.host, "job": "journal"}, at, json.dumps({"MESSAGE": text, "_HOSTNAME": box.host, "SYSLOG_IDENTIFIER": program, "_TRANSPORT": "kernel" if program == "kernel" else "journal", "__REALTIME_TIMESTAMP": str(int(c.at(at).timestamp() * 1e6)), **({"_PID": str(pid)} if pid else {})}))
    def answer(rows):
        return json.dumps({"status": "success", "data": {"resultType": "streams", "result": [{"stream": json.loads(labels), "values": values} for labels, values in rows], "stats": {}}})
    rows = [(labels, values if c.number % 4 < 2 else values[::-1]) for labels, values in streams.items()]
    program = [row for row in rows if '"train"' in row[0]]
    c.write("loki-train.json", answer(program))
    c.write("loki-machines.json", answer([row for row in rows if row not in program]))
    c.expect(right, f"Loki alone: {c.variant}", mild=mild, actor=actor, asked="exp-1" if labelled else "loki-train.json")


@family("n.datadog", ENDS, 12)
def datadog(c):
    """Answers of /api/v2/logs/events/search: newest first, in pages, some lines twice."""
    m, far, log, t, right, mild, actor, until = two_hosts(c, c.variant)
    rows = []
    def put(at, host, service, source, message, more=None, status="info", tags=()):
        rows.append((at, {"id": f"AQ{c.rng.getrandbits(120):030x}", "type": "log", "attributes": {"timestamp": iso(c.at(at), 3) + "Z", "status": status, "host": host, "service": service, "message": message,
                                                                                                  "tags": [f"source:{source}", "env:lab", f"host:{host.lower()}", *tags], **({"attributes": more} if more else {})}}))
    for at, text in sorted(log.lines, key=lambda row: row[0]):
        for k, line in enumerate(text.rstrip("\n").split("\n")):
            put(at + 0.001 * k, "gpu-07", "train", "python", line, {"experiment": "exp-1"} if c.number % 2 else None, tags=["experiment:exp-1", "filename:train.log"])
    for box in (m, far):
        for at, program, pid, text in journal_rows(box):
            if at > until:
                continue
            if c.number % 3 == 0:
                put(at, box.host, program, "journald", text, {"journald": {"SYSLOG_IDENTIFIER": program, "_HOSTNAME": box.host, "_TRANSPORT": "kernel" if program == "kernel" else "journal"}})
            elif c.number % 3 == 1:
                put(at, box.host, "syslog", "syslog", f"{iso(c.at(at), 6)}+00:00 {box.host} {program}{f'[{pid}]' if pid else ''}: {text}")
            else:
                put(at, box.host, program, "syslog", text, {"syslog": {"appname": program, "hostname": box.host, **({"procid": pid} if pid else {})}})
    rows.sort(key=lambda row: -row[0])
    rows = [one for _, one in rows]
    for k in range(0, len(rows), 200):
        page = rows[k:k + 200] + (rows[k + 200:k + 203] if c.number % 4 == 1 else [])
        c.write(f"datadog-{k // 200:02}.json", json.dumps({"data": page, "meta": {"elapsed": 31, "request_id": "pddv1", "status": "done", "page": {"after": "eyJhZnRlciI6"}}}))
    c.expect(right, f"Datadog alone: {c.variant}", mild=mild, actor=actor, asked="exp-1")


@family("n.elastic_store", ENDS, 8)
def elastic(c):
    """Hits of Elasticsearch as Filebeat and Journalbeat write them."""
    m, far, log, t, right, mild, actor, until = two_hosts(c, c.variant)
    hits = []
    def put(at, source):
        hits.append({"_index": "logs-2026.11", "_id": f"{c.rng.getrandbits(80):020x}", "_score": None, "_source": {"@timestamp": iso(c.at(at), 3) + "Z", **source}, "sort": [int(c.at(at).timestamp() * 1000)]})
    for at, text in sorted(log.lines, key=lambda row: row[0]):
        lines = [text.rstrip("\n")] if c.number % 2 else text.rstrip("\n").split("\n")
        for k, line in enumerate(lines):
            put(at + 0.001 * k, {"message": line, "host": {"name": "gpu-07"}, "log": {"file": {"path": "/home/alice/train.log"}}, "service": {"name": "train"}, "experiment": "exp-1"})
    for box in (m, far):
        for at, program, pid, text in journal_rows(box):
            if at <= until:
                put(at, {"message": text, "host": {"name": box.host}, "syslog": {"identifier": program}, "process": {"name": program, **({"pid": pid} if pid else {})}, "journald": {"host": {"name": box.host}}, "event": {"kind": "event"}, "input": {"type": "journald"}})
    hits.sort(key=lambda hit: hit["sort"], reverse=c.number % 4 < 2)
    c.write("hits.json", json.dumps({"took": 3, "timed_out": False, "hits": {"total": {"value": len(hits), "relation": "eq"}, "hits": hits}}))
    c.expect(right, f"Elasticsearch alone: {c.variant}", mild=mild, actor=actor, asked="exp-1")


@family("n.mlflow", "running_but_killed running_but_completed finished_but_failed failed_truly killed_truly running_truly finished_truly running_but_stopped running_but_rebooted", 8)
def mlflow(c):
    """MLflow's folder beside the log: its status is what was last told, never a cause."""
    m, log = vm(c)
    status, what = c.variant.split("_", 1)
    t, mild, actor = c.between(900, 1500), [], None
    last = log.steps(1, t)
    kind = {"but_killed": "killed", "but_completed": "completed", "but_failed": "own", "truly": {"failed": "own", "killed": "stop", "running": "running", "finished": "completed"}[status], "but_stopped": "stop", "but_rebooted": "reboot"}[what]
    until = 4000
    if kind == "running":
        right, mild, until = ["none.running"], ["unknown"], last + 3
    else:
        right, mild, actor = goes_away(c, m, log, t, kind)
    code = {"running": 1, "finished": 3, "failed": 4, "killed": 5}[status]
    run = f"{c.rng.getrandbits(128):032x}"
    base = f"gpu-07/mlruns/0/{run}"
    start, end = int(c.at(0).timestamp() * 1000), "null" if status == "running" else int(c.at(t + 0.4).timestamp() * 1000)
    c.write(f"{base}/meta.yaml", f"artifact_uri: file:///home/alice/mlruns/0/{run}/artifacts\nend_time: {end}\nentry_point_name: ''\nexperiment_id: '0'\nlifecycle_stage: active\nrun_id: {run}\nrun_name: exp-1\nrun_uuid: {run}\nsource_name: train.py\nsource_type: 4\nsource_version: ''\nstart_time: {start}\nstatus: {code}\ntags: []\nuser_id: alice\n")
    c.write(f"{base}/tags/mlflow.user", "alice")
    for at, text in log.lines:
        if "step=" in text or "iteration" in text:
            step = int(text.split("step=")[1].split()[0]) if "step=" in text else int(text.split("iteration")[1].split("/")[0])
            c.write(f"{base}/metrics/loss", f"{int(c.at(at).timestamp() * 1000)} {3.1 - step * 0.002:.4f} {step}\n")
    m.noise(5, until)
    m.save()
    log.save()
    c.expect(right, f"MLflow says {status}: {c.variant}", mild=mild, actor=actor)


@family("n.wandb", "exit1_own exit255_killed no_exit_reboot exit0_completed no_exit_running finished_summary_but_oom", 8)
def wandb(c):
    """W&B's offline folder: output.log doubles the program's own log."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    last = log.steps(1, t)
    until, kind = 4000, v.split("_")[-1]
    if kind == "running":
        right, mild, until = ["none.running"], ["unknown"], last + 3
    else:
        right, mild, actor = goes_away(c, m, log, t, {"oom": "oom_unit"}.get(kind, kind))
    base = f"gpu-07/wandb/offline-run-{c.at(1):%Y%m%d_%H%M%S}-k3x9a1b2/files"
    rows = sorted(log.lines, key=lambda row: row[0])
    c.write(f"{base}/output.log", "".join(text for at, text in rows if at > 1))
    c.write(f"{base}/wandb-metadata.json", json.dumps({"os": "Linux-5.15", "python": "3.11.9", "startedAt": iso(c.at(1), 6) + "Z", "program": "/home/alice/train.py", "host": "gpu-07", "username": "alice", "executable": "/opt/conda/bin/python3", "gpu_count": 8}))
    c.write(f"{base}/wandb-summary.json", json.dumps({"loss": 1.71, "_step": log.number, "_runtime": int(t), "_timestamp": c.at(t).timestamp()}))
    m.noise(5, until)
    m.save()
    log.save()
    c.expect(right, f"W&B beside the log: {v}", mild=mild, actor=actor)
