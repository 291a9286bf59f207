"""What the families share: the register, ends, bystanders. Ground truth by construction."""

import json

from world import Case, Machine, OWN_ERRORS, Train, iso

FAMILIES = []
OWN = ["code.exception"]
NOBODY = ["unknown", "code.exception"]
PEOPLE = ("carol", "dora", "erin", "mallory")
DOWN = ("node.reboot", "node.kernel_panic", "node.shutdown")


def family(name, variants, cases=6):
    def add(make):
        FAMILIES.append((name, variants.split(), cases, make))
        return make
    return add


def all_cases(seed, prefix=""):
    for name, variants, cases, make in FAMILIES:
        for variant in variants:
            for number in range(cases):
                case = Case(name, variant, number, seed)
                if case.name.startswith(prefix):
                    make(case)
                    yield case


def vm(c, host="gpu-07", folder=None, pid=True, step=None, unit=True, **more):
    m = Machine(c, host, folder, **more)
    log = Train(c, f"{m.folder}/train.log", step=step)
    m.noise(-1500, 0)
    if unit:
        m.start(0)
    log.begin(1, m.pid if pid else None)
    return m, log


def finish(c, m, log, until=4000):
    m.noise(5, until)
    m.save()
    log.save()


def goes_away(c, m, log, t, kind, unit=True):
    """What really ends the run, steps go up to `t`. Returns right, mild, actor."""
    who = c.pick(*PEOPLE)
    if kind == "own":
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        if unit:
            m.exit(t + 0.6, 1)
        return OWN, [], None
    if kind == "bare":
        m.exit(t + 0.6, c.pick(1, 2, 3))
        return NOBODY, [], None
    if kind == "killed":
        m.exit(t + 0.4, -9)
        return ["unknown"], ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"], None
    if kind == "oom_unit":
        m.oom_own(t + 0.2, True)
        return ["code.host_oom"], [], None
    if kind == "oom_host":
        m.oom_own(t + 0.2, False)
        return ["node.system_oom", "code.host_oom"], [], None
    if kind == "segv":
        m.segfault(t + 0.2, "python3", m.pid)
        m.exit(t + 1.0, -11)
        return ["code.segfault"], [], None
    if kind == "reboot":
        m.sudo(t + 0.2, who, c.pick("/usr/sbin/reboot", "/usr/bin/systemctl reboot", "/usr/sbin/shutdown -r now"))
        m.goes_down(t + 1.0)
        m.boots(t + c.between(50, 190))
        return ["node.reboot"], [], [who]
    if kind == "poweroff":
        m.sudo(t + 0.2, who, c.pick("/usr/sbin/poweroff", "/usr/bin/systemctl poweroff", "/usr/sbin/shutdown -h now"))
        m.goes_down(t + 1.0, "poweroff")
        m.boots(t + 700)
        return ["node.shutdown", "ops.manual_delete"], [], [who]
    if kind == "panic":
        m.kernel(t + 0.2, "BUG: unable to handle page fault for address: ffffb0c3c1a5f000")
        m.kernel(t + 0.5, "Kernel panic - not syncing: Fatal exception")
        m.boots(t + c.between(90, 300))
        return ["node.kernel_panic"], [], None
    if kind == "power":
        m.dies(t)
        m.boots(t + c.between(90, 300))
        return ["node.reboot", "unknown"], [], None
    if kind == "stop":
        m.sudo(t + 0.2, who, "/usr/bin/systemctl stop train")
        m.stop(t + 0.5)
        return ["ops.manual_delete"], [], [who]
    if kind == "xid79":
        m.xid(t + 0.3, 79)
        log.traceback(t + 3, "torch.AcceleratorError: CUDA error: unspecified launch failure", "    loss.backward()")
        m.exit(t + 3.5, 1)
        return ["hw.gpu"], [], None
    if kind == "nvlink":
        m.xid(t + 0.3, 74)
        log.traceback(t + 3, "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, unhandled cuda error", "    dist.all_reduce(x)")
        m.exit(t + 3.5, 1)
        return ["hw.nvlink_fabric"], [], None
    if kind == "disk":
        m.kernel(t + 0.3, "blk_update_request: I/O error, dev nvme1n1, sector 204800 op 0x0:(READ) flags 0x80700")
        log.traceback(t + 1, "OSError: [Errno 5] Input/output error: '/scratch/shard-000412.tar'", "    with open(path, 'rb') as f:")
        m.exit(t + 1.5, 1)
        return ["hw.disk", "dep.storage"], [], None
    if kind == "completed":
        log.say(t + 0.5, "training completed, saved final checkpoint")
        m.log(t + 0.9, "systemd", f"{m.unit}.service: Succeeded." if m.system in ("u22", "el8") else f"{m.unit}.service: Deactivated successfully.") if m.system != "el7" else None
        return ["none.completed"], [], None
    raise ValueError(kind)


def restarted(c, m, log, t):
    """The service fails for a reason of its own, systemd starts it again: lines up to `t`."""
    log.traceback(t - 40, *c.pick(*OWN_ERRORS))
    m.exit(t - 39.5, 1)
    m.log(t - 29.5, "systemd", f"{m.unit}.service: Scheduled restart job, restart counter is at 1." if m.system != "el7" else f"{m.unit}.service holdoff time over, scheduling restart.")
    m.start(t - 29.4)
    log.begin(t - 28, m.pid + 111)


def down_quietly(m, t, kind="reboot"):
    """A machine that goes down in good order when the service is no more."""
    keep = m.exit
    m.exit = lambda *args, **more: None
    before = len(m.lines)
    m.goes_down(t, kind)
    m.exit = keep
    m.lines[before:] = [row for row in m.lines[before:] if not row[4].startswith("Stopping ")]


def bystander(c, m, t, kind):
    """A record that has nothing to do with the end of the run."""
    other, who = m.pid + c.rng.randrange(400, 3000), c.pick(*PEOPLE)
    if kind == "xid79":
        m.xid(t, 79, "0000:9b:00")
    elif kind == "xid31":
        m.xid(t, 31, "0000:9b:00", other, "jupyter-lab")
    elif kind == "xid94":
        m.xid(t, 94, "0000:9b:00", other, "eval.py")
    elif kind == "link":
        m.link(t, "ibp92s0", False)
        m.link(t + c.between(2, 20), "ibp92s0", True)
    elif kind == "disk":
        m.kernel(t, "blk_update_request: I/O error, dev sdf, sector 104 op 0x0:(READ) flags 0x0")
    elif kind == "nfs":
        m.kernel(t, "nfs: server 10.0.0.9 not responding, still trying")
        m.kernel(t + c.between(3, 30), "nfs: server 10.0.0.9 OK")
    elif kind == "oom_other":
        m.oom(t, c.pick("restic", "java", "python3"), other, c.pick("/system.slice/backup.service", "/user.slice/user-1007.slice/session-9.scope"))
    elif kind == "oom_docker":
        group = f"/system.slice/docker-{c.rng.getrandbits(256):064x}.scope"
        m.oom(t, "python3", other, group, group)
    elif kind == "segv":
        m.segfault(t, c.pick("node_exporter", "gnome-shell"), other)
    elif kind == "stop_other":
        m.sudo(t, who, c.pick("/usr/bin/systemctl stop jupyter", "/usr/bin/systemctl restart node_exporter", "/usr/bin/docker stop eval"))
    elif kind == "kill_other":
        m.sudo(t, who, f"/usr/bin/kill -9 {other}")
    elif kind == "refused":
        m.sudo(t, who, "/usr/sbin/reboot", refused=True)
    elif kind == "ce":
        m.kernel(t, "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1 slot:0)")
    elif kind == "throttle":
        m.kernel(t, "mce: CPU12: Core temperature above threshold, cpu clock throttled (total events = 1)")
    elif kind == "lockup":
        m.kernel(t, f"watchdog: BUG: soft lockup - CPU#18 stuck for 23s! [kworker/18:1:{other}]")
    elif kind == "hung":
        m.kernel(t, f"INFO: task jbd2/sdf1-8:{other} blocked for more than 120 seconds.")
    elif kind == "clock":
        m.log(t, "chronyd", "System clock was stepped by 0.412337 seconds")
    elif kind == "apt":
        m.log(t, "systemd", f"Starting {m.named('apt-daily-upgrade', 'Daily apt upgrade and clean activities')}...")
    elif kind == "pcie":
        m.kernel(t, "pcieport 0000:97:01.0: AER: Uncorrected (Non-Fatal) error received: 0000:9b:00.0")
    elif kind == "conntrack":
        m.kernel(t, "nf_conntrack: nf_conntrack: table full, dropping packet")
    elif kind == "usr1":
        m.sudo(t, who, "/usr/bin/systemctl kill -s USR1 train")
    elif kind == "reboot":
        m.sudo(t, who, "/usr/sbin/reboot")
        down_quietly(m, t + 0.7)
        m.boots(t + 95)
    elif kind == "panic":
        m.kernel(t, "Kernel panic - not syncing: Fatal exception in interrupt")
        m.boots(t + 120)
    elif kind == "power":
        m.dies(t)
        m.boots(t + 130)
    elif kind == "poweroff":
        m.sudo(t, who, "/usr/sbin/poweroff")
        down_quietly(m, t + 0.7, "poweroff")
        m.boots(t + 300)
    elif kind == "stop":
        m.sudo(t, who, "/usr/bin/systemctl stop train")
    elif kind == "restart":
        m.sudo(t, who, "/usr/bin/systemctl restart train")
        m.start(t + 0.5)
    elif kind == "kill":
        m.sudo(t, who, f"/usr/bin/kill -9 {m.pid}")
    elif kind == "pkill":
        m.sudo(t, who, "/usr/bin/pkill -9 -f train.py")
    else:
        raise ValueError(kind)


BEFORE = "xid79 xid31 xid94 link disk nfs oom_other oom_docker segv stop_other kill_other refused ce throttle lockup hung clock apt pcie conntrack usr1".split()
AFTER = BEFORE + "reboot panic power poweroff stop kill pkill".split()
