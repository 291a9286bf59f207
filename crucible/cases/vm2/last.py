"""Twins that keep a mended rule honest, names of template units, one collector's file of many hosts, and words in a program's log that mean nothing."""

import json

from clouds import guest
from kit import NOBODY, OWN, PEOPLE, bystander, family, finish, goes_away, vm
from world import Aws, Azure, Case, Gce, Machine, OWN_ERRORS, Slurm, Train, iso


@family("z.controls", "stop kill reboot poweroff gce_delete aws_terminate scancel limit own", 16)
def controls(c):
    """Steps rest for a reason of the program's own (it evaluates, saves), after a record that is another's; then somebody ends the run."""
    v = c.variant
    c.form = c.form if c.form != "syslog" else "rsyslog"
    kind = ("xid31_other", "mgmt_link", "nfs_ok", "oom_other", "xid94_other", "nfs_other_ok", "ce", "flap")[c.number % 8]
    t = c.between(900, 1300)
    rest = c.between(400, 800)
    later = t + rest
    who, actor, mild, asked, box, s = c.pick(*PEOPLE), None, [], None, None, None
    host = "gpu07" if v in ("scancel", "limit") else "gpu-07"
    if v == "gce_delete":
        box = Gce(c, "trainer-vm-8")
        box.call(-900, "insert", "alice@lab.example", 20)
        host = asked = box.vm
    elif v == "aws_terminate":
        box = Aws(c)
        host, asked = box.dns, "exp-1"
    m = Machine(c, host, box.id if v == "aws_terminate" else host)
    m.noise(-900, 0)
    if v in ("scancel", "limit"):
        s = Slurm(c, nodes="gpu07")
        asked = str(s.job)
        m.unit = "slurmd"
        log = Train(c, f"slurm-{s.job}.out", step=5)
    else:
        log = Train(c, f"{m.folder}/train.log", step=5)
        m.start(0)
    log.begin(1, m.pid)
    log.steps(1, t)
    log.say(t + 1, "starting evaluation on 64 shards")
    # Life goes on, slowly.
    n, when = 0, t + 45
    while when < later - 2:
        n += 1
        log.say(when, f"evaluation shard {n}/64 accuracy=0.{c.rng.randrange(600, 700)}")
        when += c.between(35, 50)
    other = m.pid + 777
    s0 = t + c.between(2, 20)
    if kind == "xid31_other":
        m.xid(s0, 31, "0000:9b:00", other, "jupyter-lab")
    elif kind == "xid94_other":
        m.xid(s0, 94, "0000:9b:00", other, "jupyter-lab")
    elif kind == "mgmt_link":
        m.kernel(s0, "igb 0000:01:00.0 eno1: igb: eno1 NIC Link is Down")
        m.kernel(s0 + 9, "igb 0000:01:00.0 eno1: igb: eno1 NIC Link is Up 1000 Mbps Full Duplex")
    elif kind in ("nfs_ok", "nfs_other_ok"):
        server = "10.0.0.9" if kind == "nfs_ok" else "10.0.9.77"
        m.kernel(s0, f"nfs: server {server} not responding, still trying")
        m.kernel(s0 + 20, f"nfs: server {server} OK")
    elif kind == "oom_other":
        bystander(c, m, s0, "oom_docker")
    elif kind == "ce":
        bystander(c, m, s0, "ce")
    else:
        m.link(s0, "ibp92s0", False)
        m.link(s0 + 5, "ibp92s0", True)
    right = ["ops.manual_delete"]
    actor = [who]
    if v in ("stop", "reboot", "poweroff", "own"):
        right, mild, actor = goes_away(c, m, log, later, v)
    elif v == "kill":
        m.sudo(later + 0.2, who, f"/usr/bin/kill -9 {m.pid}")
        m.exit(later + 0.4, -9)
    elif v == "gce_delete":
        box.call(later + 0.3, "delete", who + "@lab.example")
        m.dies(later + 1)
        actor = [who + "@lab.example"]
    elif v == "aws_terminate":
        box.trail(later + 0.3, "TerminateInstances", who)
        stamp = c.at(later + 1).strftime("%Y-%m-%d %H:%M:%S GMT")
        box.instance(-1000, "terminated", ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"), f"User initiated ({stamp})")
        m.dies(later + 1)
    elif v == "scancel":
        s.kill(later, 1000)
        log.raw(later + 0.5, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(later))} ***")
        s.ended("CANCELLED by 1000", "0:0", later + 1)
        actor = ["alice", "1000", "uid 1000"]
    else:
        s.ctld(later, f"Time limit exhausted for JobId={s.job}")
        log.raw(later + 0.5, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(later))} DUE TO TIME LIMIT ***")
        s.ended("TIMEOUT", "0:0", later + 1)
        right, actor = ["code.deadline"], None
    m.noise(5, later)
    m.save()
    log.save()
    for one in (box, s):
        if one:
            one.save()
    c.expect(right, f"{kind}, an evaluation without steps, then {v}", mild=mild, actor=actor, asked=asked)


@family("z.template", "at_own_stop at_other_stop dash_own_stop dash_other_stop at_own_oom at_other_oom at_own_exit escaped", 8)
def template(c):
    """Template units: `train@exp1.service` writes `train@exp1.log` (even) or `exp1.log` (odd); `train@exp2` is beside it."""
    v = c.variant
    sep = "-" if v.startswith("dash") else "@"
    unit, other = (f"train{sep}exp1", f"train{sep}exp2") if v != "escaped" else ("train@exp\\x2d1", "train@exp\\x2d2")
    m = Machine(c)
    m.unit = unit
    name = f"train{sep}exp1.log" if c.number % 2 == 0 or v.startswith("dash") else "exp1.log"
    if v == "escaped":
        name = "train@exp-1.log" if c.number % 2 == 0 else "exp-1.log"
    log = Train(c, f"{m.folder}/{name}")
    c.asked = name
    m.noise(-900, 0)
    for one in (unit, other):
        m.log(0, "systemd", f"Started {one}.service - LLM training." if m.system in ("u24", "el9") else "Started LLM training.")
    log.begin(1, m.pid)
    t, who, mild, actor = c.between(900, 1500), c.pick(*PEOPLE), [], None
    log.steps(1, t)
    loose = ["unknown", "none.running"] if c.number % 2 else []
    if v in ("at_own_stop", "dash_own_stop", "escaped"):
        m.sudo(t + 0.2, who, f"/usr/bin/systemctl stop {unit}")
        m.stop(t + 0.4, unit)
        right, actor, mild = ["ops.manual_delete"] + loose, [who], []
    elif v in ("at_other_stop", "dash_other_stop", "at_other_oom"):
        if v.endswith("oom"):
            m.unit = other
            m.oom_own(t - 3, True)
            m.unit = unit
        else:
            m.sudo(t - 3, who, f"/usr/bin/systemctl stop {other}")
            m.stop(t - 2.8, other)
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        m.exit(t + 0.7, 1, unit)
        right = OWN
    elif v == "at_own_oom":
        slice = "/system.slice/system-train.slice/train@exp1.service"
        m.oom(t + 0.2, "python3", m.pid, slice, slice)
        m.log(t + 0.4, "systemd", f"{unit}.service: A process of this unit has been killed by the OOM killer.") if m.system != "el7" else None
        m.exit(t + 0.5, -9, unit, result="oom-kill")
        right = ["code.host_oom"] + loose
    else:
        m.exit(t + 0.5, 3, unit)
        right, mild = NOBODY + loose, []
    if loose:
        actor = None
    c.expect(right, f"{unit} and {other}", mild=mild, actor=actor)
    finish(c, m, log, t + 300)


@family("z.remote", "own reboot stop oom_unit panic other_reboot other_stop other_panic other_oom", 8)
def remote(c):
    """A collector's one file with the lines of four hosts, mixed; its own clock's stamps are in order, theirs are not."""
    v = c.variant
    form = ("json", "rsyslog", "short-iso-precise", "syslog")[c.number % 4]
    c.form = form
    m, log = vm(c)
    others = [Machine(c, h, "collector", form=form, skew=c.pick(0, 0.4, -1.1)) for h in ("gpu-08", "gpu-070", "login01")]
    t = c.between(900, 1500)
    log.steps(1, t)
    if v.startswith("other_"):
        far = others[c.number % 2]
        far.start(0)
        goes_away(c, far, Train(c, "x/none.log"), t - 2, {"oom": "oom_unit"}.get(v[6:], v[6:]))
        right, mild, actor = goes_away(c, m, log, t, "own")
    else:
        right, mild, actor = goes_away(c, m, log, t, v)
    m.folder = "collector"
    rows = []
    for box in (m, *others):
        box.noise(5, t + 400)
        rows += [(row[0] + box.skew, n, box, row) for n, row in enumerate(sorted(box.kept(), key=lambda row: (row[0], row[1])))]
    rows.sort(key=lambda one: one[:2])
    text = "".join(line for _, _, box, row in rows if row[2] != "boot" and (line := box.line(*row)))
    c.write(f"collector/{'all.json' if form == 'json' else 'messages' if form == 'syslog' else 'all.log'}", text)
    log.save()
    loose = form == "syslog"
    c.expect(right + (["unknown", "none.running"] if loose else []), f"{v}, in a collector's file", mild=mild, actor=None if loose else actor)


WORDS = [
    "CUDA out of memory at micro batch 8, falling back to 4", "worker 3 was preempted by the local scheduler, rescheduling", "received SIGUSR1, writing a checkpoint", "DataLoader worker (pid 4799) exited unexpectedly, restarting it", "NCCL WARN Call to connect returned Connection refused, retrying",
    "retry 1/5 after: [Errno 28] No space left on device", "skipping corrupt shard: OSError: [Errno 5] Input/output error: '/data/a.tar'", "HTTP 503 SlowDown from s3, backing off", "grad norm is nan, skipping this update", "Killed 3 stale workers of the last epoch", "Terminated the profiler", "Segmentation fault handler installed",
    "watchdog: heartbeat of rank 3 is 12 s late", "unable to reach redis at 10.0.0.5:6379 (connection refused), will retry", "node gpu-08 is draining, says the scheduler; we are on gpu-07", "spot interruption notice? none", "lost connection to wandb, buffering", "Traceback suppressed (use --debug)", "RuntimeError in logger thread ignored: I/O operation on closed file",
    "cudaErrorMemoryAllocation handled by the allocator", "collective timeout is set to 600000 ms", "ECC errors since boot: 0 uncorrected, 2 corrected", "time limit of this allocation: 2:00:00 left", "checkpoint upload cancelled by a newer one",
]


@family("z.words", "killed bare reboot panic stop completed oom_unit", len(WORDS))
def words(c):
    """A line of the program's that is no failure, then some steps, and another end."""
    c.form = ("rsyslog", "short-iso", "json")[c.number % 3]
    m, log = vm(c, step=4)
    t = c.between(900, 1500)
    log.steps(1, t)
    log.say(t - c.pick(9, 17, 41), WORDS[c.number], "WARNING" if c.number % 2 else "INFO")
    right, mild, actor = goes_away(c, m, log, t, c.variant)
    if c.variant in ("killed", "bare"):
        mild = ["unknown"] + NOBODY
    c.expect(right, f"`{WORDS[c.number]}`, then {c.variant}", mild=mild, actor=actor)
    finish(c, m, log, t + 400)
