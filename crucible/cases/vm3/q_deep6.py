"""One truth and any mix of its observers (systemd's lines, the kernel's, those of who signs in, the end of the log), with a bystander near; several people near; both clouds' and guests' words in part."""

from kit import BEFORE, NOBODY, OWN, PEOPLE, bystander, family, finish, goes_away, vm
from q_gang import Off
from world import Aws, Azure, Gce, Machine, OWN_ERRORS, Slurm, Train, iso

KILLED = ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]
OPEN = ["unknown", "none.running"]


@family("n.mix", "own killed oom_unit stop reboot segv panic kill completed poweroff", 48)
def mix(c):
    """`number` chooses which observers there are: 1 systemd, 2 kernel, 4 sudo and logind, 8 the whole log (else its last 25 s are missing)."""
    m, log = vm(c, step=4)
    t, v, who = c.between(900, 1500), c.variant, c.pick(*PEOPLE)
    mask = c.number % 16
    systemd, kernel, auth, whole = (bool(mask & bit) for bit in (1, 2, 4, 8))
    log.steps(1, t)
    near = c.pick(*[one for one in BEFORE if one not in ("xid79", "nfs", "link")])
    bystander(c, m, t - c.between(1.5, 20), near)
    if v == "kill":
        m.sudo(t + 0.2, who, f"/usr/bin/kill -9 {m.pid}")
        m.exit(t + 0.4, -9)
        right, mild, actor = ["ops.manual_delete"], [], [who]
    else:
        right, mild, actor = goes_away(c, m, log, t, v)
    m.noise(5, 3600)
    keep = lambda row: row[2] == "boot" or (systemd if row[2] in ("systemd", "systemd-shutdown", "systemd-journald", "systemd-coredump", "abrt-hook-ccpp") else kernel if row[2] == "kernel" else auth if row[2] in ("sudo", "sshd", "systemd-logind", "su") else True)
    m.lines = [row for row in m.lines if keep(row)]
    if not kernel:
        m.lines = [row for row in m.lines if row[2] != "boot"]
    if not whole:
        log.lines = [row for row in log.lines if row[0] < t - 25]
    proof = {"own": whole, "killed": False, "oom_unit": kernel or systemd and m.system != "el7", "stop": auth and systemd, "reboot": auth, "segv": kernel or systemd, "panic": kernel, "kill": auth, "completed": whole, "poweroff": auth}[v]
    if not proof:
        right = list(right) + OPEN
        mild = list(mild) + KILLED + ["node.reboot", "node.shutdown", "code.segfault", "node.kernel_panic"]
        actor = None
    elif not whole and v not in ("panic", "reboot", "poweroff"):
        # A log that breaks off before: the end may have been then.
        right = list(right) + OPEN
        actor = None
    if v == "killed" or v in ("own", "completed") and not whole:
        right = list(right) + OPEN + (NOBODY if v == "own" else [])
    m.save()
    log.save()
    c.expect(right, f"{v}, observers {'systemd ' * systemd}{'kernel ' * kernel}{'auth ' * auth}{'log' * whole}, near {near}", mild=mild, actor=actor if proof and whole else None)


@family("n.crowd", "stop kill reboot own killed oom_unit", 12)
def crowd(c):
    """Four people work on the machine in the last minute; one of them, or none, ended the run."""
    m, log = vm(c)
    t, v = c.between(900, 1500), c.variant
    log.steps(1, t)
    rng = c.rng
    people = list(PEOPLE)
    rng.shuffle(people)
    other = m.pid + rng.randrange(300, 3000)
    calm = [f"/usr/bin/kill -9 {other}", "/usr/bin/systemctl restart jupyter", "/usr/bin/systemctl status train", "/usr/bin/docker stop eval", "/usr/bin/journalctl -u train", "/usr/bin/systemctl daemon-reload", "/usr/bin/pkill -f tensorboard", "/usr/bin/kill -USR1 %d" % m.pid, "/usr/bin/systemctl stop train-exporter"]
    for who in people[1:]:
        for _ in range(rng.randrange(1, 3)):
            m.sudo(t - c.between(0.3, 45), who, rng.choice(calm))
    who = people[0]
    if v == "stop":
        m.sudo(t + 0.2, who, "/usr/bin/systemctl stop train")
        m.stop(t + 0.5)
        right, mild, actor = ["ops.manual_delete"], [], [who]
    elif v == "kill":
        m.sudo(t + 0.2, who, f"/usr/bin/kill -9 {m.pid}")
        m.exit(t + 0.4, -9)
        right, mild, actor = ["ops.manual_delete"], [], [who]
    elif v == "reboot":
        m.sudo(t + 0.2, who, "/usr/sbin/reboot")
        m.goes_down(t + 1.4)
        m.boots(t + 90)
        right, mild, actor = ["node.reboot"], [], [who]
    else:
        right, mild, actor = goes_away(c, m, log, t, v)
    for who in people[1:3]:
        if v not in ("reboot",):
            m.sudo(t + c.between(2, 30), who, rng.choice(calm + ["/usr/bin/systemctl stop train", "/usr/sbin/reboot --help"]))
    c.expect(right, f"a crowd of people, {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.cloud_mix", "gce_delete gce_stop gce_preempted aws_terminate aws_spot azure_deallocate own_then_delete oom_then_stop", 16)
def cloud_mix(c):
    """A cloud's act or the program's own end, seen by the cloud, the guest's journal and the log, or only by some; the clocks differ by up to 3 s."""
    v, who = c.variant, c.pick(*PEOPLE)
    kind = v.split("_")[0] if v.split("_")[0] in ("gce", "aws", "azure") else ("gce", "azure")[c.number % 2]
    seen_journal, seen_log, orderly = bool(c.number & 1), bool(c.number & 2) or not c.number & 1, bool(c.number & 4)
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c, skew=c.pick(0, 1.5, -2.5))
    name = cloud.vm if kind != "aws" else cloud.id
    m = Machine(c, cloud.dns if kind == "aws" else name, name, form=c.form if c.form != "syslog" else "rsyslog")
    log = Train(c, f"{name}/train.log", step=5)
    m.noise(-800, 0)
    m.start(0)
    log.begin(1, m.pid)
    t = c.between(900, 1400)
    log.steps(1, t)
    late = t + c.between(30, 400)
    own = v in ("own_then_delete", "oom_then_stop")
    at = late if own else t + 0.5
    right, mild, actor = ["ops.manual_delete"], [], [who if kind == "aws" else who + "@lab.example"]
    if own:
        right, mild, actor = goes_away(c, m, log, t, "own" if v[0:3] == "own" else "oom_unit")
        if v == "oom_then_stop" and not seen_journal:
            right, mild = ["unknown", "ops.manual_delete"], KILLED
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
        if v == "gce_preempted":
            cloud.system(at, "preempted", "Instance was preempted.")
            right, actor = ["cloud.spot_reclaimed"], None
        else:
            cloud.call(at, "stop" if v in ("gce_stop", "oom_then_stop") else "delete", who + "@lab.example")
    elif kind == "aws":
        cloud.instance(-900)
        if v == "aws_spot":
            cloud.evicted(at)
            right, actor = ["cloud.spot_reclaimed"], None
        else:
            cloud.trail(at, "TerminateInstances", who)
        cloud.state(at + 1, "shutting-down")
    else:
        cloud.machine()
        cloud.call(at, "deallocate/action" if v != "own_then_delete" else "delete", who + "@lab.example")
    if own:
        m.dies(at + 1)
    elif orderly:
        m.goes_down(at + 0.7, "poweroff")
    else:
        m.dies(at + 0.5)
    m.noise(5, at)
    if seen_journal:
        m.save()
    if seen_log:
        log.save()
    cloud.save()
    if v == "own_then_delete" and not seen_log:
        right, mild = NOBODY + ["unknown", "ops.manual_delete"], []
    if v == "oom_then_stop" and not seen_log:
        right = right + ["unknown", "ops.manual_delete"]
    c.expect(right, f"{v}: journal {seen_journal}, log {seen_log}, orderly {orderly}", mild=mild, actor=actor if not own else None, asked=name if kind != "aws" else "exp-1")


@family("n.cut_fault", "stop kill oom_unit reboot scancel limit gce_delete preempted", 12)
def cut_fault(c):
    """What is there of the log ends half a minute to five minutes before the end (a shipper's delay, a copy made earlier); a fault is recorded after its last line, many steps later; then somebody or something ends the run."""
    v, who, actor = c.variant, c.pick(*PEOPLE), None
    t = c.between(1000, 1500)
    cut = t - c.pick(30, 60, 150, 300)
    fault = c.between(cut + 14, t - 5)
    slurm, gce = v in ("scancel", "limit"), v in ("gce_delete", "preempted")
    near = ("disk", "mgmt", "xid94_other", "nfs_other", "ce", "lockup_kworker")[c.number % 6]
    if slurm:
        s = Slurm(c)
        c.asked = str(s.job)
        log = Train(c, f"slurm-{s.job}.out", step=4)
        log.begin(2)
        m = Machine(c, "gpu07", system="el8", form=c.pick("rsyslog", "json"))
        m.unit = "slurmd"
        m.noise(-500, 0)
    elif gce:
        g = Gce(c)
        m = Machine(c, g.vm, g.vm, form=c.form if c.form != "syslog" else "rsyslog")
        log = Train(c, f"{g.vm}/train.log", step=4)
        m.noise(-800, 0)
        m.start(0)
        log.begin(1, m.pid)
        g.call(-900, "insert", "alice@lab.example", 20)
        c.asked = g.vm
    else:
        m, log = vm(c, step=4)
    log.steps(1, cut)
    if near == "disk":
        m.kernel(fault, "blk_update_request: I/O error, dev sdf, sector 104 op 0x0:(READ) flags 0x0")
    elif near == "mgmt":
        m.link(fault, "eno1", False)
        m.link(fault + 3, "eno1", True)
    elif near == "xid94_other":
        m.xid(fault, 94, "0000:9b:00", m.pid + 900, "eval.py")
    elif near == "nfs_other":
        m.kernel(fault, "nfs: server 10.0.0.77 not responding, still trying")
        m.kernel(fault + 3, "nfs: server 10.0.0.77 OK")
    elif near == "ce":
        m.kernel(fault, "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1 slot:0)")
    else:
        m.kernel(fault, f"watchdog: BUG: soft lockup - CPU#18 stuck for 23s! [kworker/18:1:{m.pid + 3}]")
    until = t + 1500
    right = ["ops.manual_delete"]
    if slurm:
        if v == "limit":
            s.ctld(t, f"Time limit exhausted for JobId={s.job}")
            s.ended("TIMEOUT", "0:0", t + 1)
            right = ["code.deadline"]
        else:
            s.kill(t, 1000)
            s.ended("CANCELLED by 1000", "0:0", t + 1)
            actor = ["alice", "1000", "uid 1000"]
        s.save()
    elif gce:
        if v == "preempted":
            g.system(t, "preempted", "Instance was preempted.")
            right = ["cloud.spot_reclaimed"]
        else:
            g.call(t, "delete", who + "@lab.example")
            actor = [who + "@lab.example"]
        m.goes_down(t + 0.6, "poweroff")
        until = t + 4
        g.save()
    elif v == "kill":
        m.sudo(t + 0.2, who, f"/usr/bin/kill -9 {m.pid}")
        m.exit(t + 0.4, -9)
        actor = [who]
    else:
        right, mild, actor = goes_away(c, m, log, t, v)
    m.noise(5, until)
    m.save()
    log.save()
    c.expect(right + ["unknown"], f"the log ends {t - cut:.0f} s before, {near} after its last line, then {v}", actor=None if right == ["unknown"] else actor, mild=["hang.no_progress"])
