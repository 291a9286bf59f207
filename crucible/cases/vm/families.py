"""Families of cases. Each makes its truth first and lets the observers write it; each has twins whose right answer differs."""

import json

from world import Case, Machine, OWN_ERRORS, Train, iso

FAMILIES = []
OWN = ["code.exception"]
# The program ended with a code and nothing says why.
NOBODY = ["unknown", "code.exception"]
PEOPLE = ("carol", "dora", "erin", "mallory")


def family(name, variants, cases=6):
    """Registers a maker of cases: `variants` are words, each made `cases` times."""
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


# Bare machines.

def vm(c, host="gpu-07", folder=None, pid=False, step=None, start=0.0, **more):
    """A machine with a run on it that systemd started."""
    m = Machine(c, host, folder, **more)
    log = Train(c, f"{m.folder}/train.log", step=step)
    m.noise(-1500, 0)
    m.start(start)
    log.begin(start + 1, m.pid if pid else None)
    return m, log


def finish(c, m, log, until=None):
    m.noise(5, until or 4000)
    m.save()
    log.save()


def fails(c, m, log, t):
    """The program fails by itself: with a traceback, or with a code alone. Returns what is right."""
    if c.number % 2 == 0:
        log.traceback(t - 0.4, *c.pick(*OWN_ERRORS))
        m.exit(t, 1)
        return OWN
    m.exit(t, c.pick(1, 1, 2, 3))
    return NOBODY


def person_reboots(c, m, t, kind="reboot"):
    who = c.pick(*PEOPLE)
    words = {"reboot": ("/usr/sbin/reboot", "/usr/bin/systemctl reboot", "/usr/sbin/shutdown -r now"),
             "poweroff": ("/usr/sbin/poweroff", "/usr/bin/systemctl poweroff", "/usr/sbin/shutdown -h now")}[kind]
    m.sudo(t, who, c.pick(*words))
    m.goes_down(t + 0.8, kind)
    return who


@family("vm.reboot", "person shutdown5 cron unattended ansible person_late")
def reboot(c):
    m, log = vm(c)
    end = c.between(900, 1500)
    right, actor = ["node.reboot"], None
    if c.variant in ("person", "person_late"):
        # Somebody looks again after it came up, which changes nothing.
        actor = [person_reboots(c, m, end)]
        down = end + 0.8
        if c.variant == "person_late":
            m.sudo(end + 400, "bob", "/usr/bin/journalctl -b -1")
    elif c.variant == "shutdown5":
        who = c.pick(*PEOPLE)
        m.sudo(end - 300, who, "/usr/sbin/shutdown -r +5")
        m.goes_down(end)
        down, actor = end, [who]
    elif c.variant == "cron":
        m.log(end, "CRON", "(root) CMD (/sbin/shutdown -r now)", 40111)
        m.goes_down(end + 1)
        down = end + 1
    elif c.variant == "unattended":
        at = c.at(end)
        stamp = c.at(end - 40)
        c.write(f"{m.folder}/unattended-upgrades.log",
                f"{stamp:%Y-%m-%d %H:%M:%S},101 INFO Packages that will be upgraded: linux-image-generic libc6\n"
                f"{stamp:%Y-%m-%d %H:%M:%S},801 INFO All upgrades installed\n{stamp:%Y-%m-%d %H:%M:%S},901 WARNING Found /var/run/reboot-required, rebooting\n"
                f"{stamp:%Y-%m-%d %H:%M:%S},911 WARNING Shutdown msg: b\"Reboot scheduled for {at:%a %Y-%m-%d %H:%M:%S} UTC, use 'shutdown -c' to cancel.\"\n")
        m.log(end - 60, "systemd", f"Starting {m.named('apt-daily-upgrade', 'Daily apt upgrade and clean activities')}...")
        m.goes_down(end)
        down, right = end, ["node.reboot", "ops.node_upgrade"]
    else:
        m.sudo(end, "deploy", "/bin/sh -c /sbin/shutdown -r 0 \"Reboot initiated by Ansible\"")
        m.goes_down(end + 1)
        down, actor = end + 1, ["deploy"]
    log.steps(1, down + 0.2)
    m.boots(down + c.between(40, 200))
    c.expect(right, "the machine is restarted while the run trains", actor=actor)
    finish(c, m, log, down + 900)


@family("vm.reboot_not", "refused cancelled tomorrow after_end after_end_long upgrade_only cancelled_at_due")
def reboot_not(c):
    m, log = vm(c)
    end = c.between(2000, 2400)
    log.steps(1, end - 1)
    who = c.pick(*PEOPLE)
    if c.variant == "refused":
        m.sudo(end - c.between(2, 30), who, "/usr/sbin/reboot", refused=True)
    elif c.variant == "cancelled":
        m.sudo(end - 900, who, "/usr/sbin/shutdown -r +20")
        m.sudo(end - 400, who, "/usr/sbin/shutdown -c")
    elif c.variant == "cancelled_at_due":
        m.sudo(end - 1200, who, "/usr/sbin/shutdown -r +20")
        m.sudo(end - 700, who, "/usr/sbin/shutdown -c")
        m.log(end - 699.9, "systemd-logind", "System shutdown has been cancelled")
    elif c.variant == "tomorrow":
        m.sudo(end - 60, who, f"/usr/sbin/shutdown -r {c.at(end - 3600):%H:%M}")
    elif c.variant == "upgrade_only":
        m.log(end - 30, "systemd", f"Starting {m.named('apt-daily-upgrade', 'Daily apt upgrade and clean activities')}...")
        stamp = c.at(end - 20)
        c.write(f"{m.folder}/unattended-upgrades.log", f"{stamp:%Y-%m-%d %H:%M:%S},101 INFO Packages that will be upgraded: curl libcurl4\n{stamp:%Y-%m-%d %H:%M:%S},801 INFO All upgrades installed\n")
    right = fails(c, m, log, end)
    if c.variant.startswith("after_end"):
        again = end + (c.between(2, 55) if c.variant == "after_end" else c.between(90, 600))
        person_reboots(c, m, again)
        m.boots(again + 90)
    c.expect(right, "the run fails by itself; a reboot was refused, called off, due later, or came after it", mild=NOBODY)
    finish(c, m, log, end + 900)


@family("vm.crash", "panic power sel thermal mce poweroff powerkey panic_console")
def crash(c):
    m, log = vm(c)
    end = c.between(900, 1500)
    log.steps(1, end)
    m.dies(end)
    actor, right = None, ["node.reboot"]
    if c.variant in ("panic", "panic_console"):
        right = ["node.kernel_panic"]
        if c.variant == "panic":
            m.kernel(end, "BUG: kernel NULL pointer dereference, address: 0000000000000028")
            m.kernel(end + 0.3, "Kernel panic - not syncing: Fatal exception in interrupt")
        else:
            # What a collector of consoles got; the journal has nothing.
            console = Machine(c, m.host, m.folder, system=m.system, form="rsyslog")
            console.kernel(end, "general protection fault, probably for non-canonical address 0xdead000000000100: 0000 [#1] SMP NOPTI")
            console.kernel(end + 0.3, "Kernel panic - not syncing: Fatal exception")
            console.save(f"{m.folder}/netconsole.log")
    elif c.variant == "sel":
        when = c.at(end)
        c.write(f"{m.folder}/ipmi-sel.txt", f"  51 | {when:%m/%d/%Y} | {when:%H:%M:%S} | Power Supply #0x51 | Power Supply AC lost | Asserted\n"
                f"  52 | {when:%m/%d/%Y} | {when:%H:%M:%S} | Power Supply #0x52 | Power Supply AC lost | Asserted\n  53 | {when:%m/%d/%Y} | {when:%H:%M:%S} | Power Unit #0x01 | Power off/down | Asserted\n")
        right = ["hw.power", "node.shutdown"]
    elif c.variant == "thermal":
        m.kernel(end - 1, "thermal thermal_zone0: acpitz: critical temperature reached, shutting down" if m.system != "el7" else "thermal thermal_zone0: critical temperature reached(105 C),shutting down")
        m.goes_down(end, "poweroff")
        right = ["hw.thermal"]
    elif c.variant == "mce":
        m.kernel(end, "mce: [Hardware Error]: CPU 12: Machine Check Exception: 5 Bank 7: be00000000800400")
        m.kernel(end + 0.1, "mce: [Hardware Error]: TSC 0 ADDR 3f2b84c0 MISC 86")
        m.kernel(end + 0.2, "Kernel panic - not syncing: Fatal machine check")
        right = ["hw.memory", "hw.board", "node.kernel_panic"]
    elif c.variant == "poweroff":
        actor, right = [person_reboots(c, m, end, "poweroff")], ["node.shutdown", "ops.manual_delete"]
    elif c.variant == "powerkey":
        m.log(end, "systemd-logind", "Power key pressed short." if m.system in ("u24", "el9") else "Power key pressed.")
        m.goes_down(end + 0.3, "poweroff")
        right = ["node.shutdown", "ops.manual_delete"]
    m.boots(end + c.between(150, 500))
    c.expect(right, "the machine goes down while the run trains", actor=actor)
    finish(c, m, log, end + 1100)


@family("vm.crash_not", "panic_before power_before panic_after power_after mce_corrected throttled reboot_before")
def crash_not(c):
    m, log = vm(c)
    end = c.between(1000, 1500)
    log.steps(1, end - 1)
    if c.variant == "panic_before":
        m.kernel(-c.between(200, 700), "Kernel panic - not syncing: Fatal exception in interrupt")
        m.boots(-100)
    elif c.variant == "power_before":
        m.boots(-c.between(60, 500))
    elif c.variant == "reboot_before":
        person_reboots(c, m, -c.between(200, 500))
        m.boots(-100)
    elif c.variant == "mce_corrected":
        m.kernel(end - c.between(3, 30), "mce: [Hardware Error]: Machine check events logged")
        m.kernel(end - 2, "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1 slot:0)")
    elif c.variant == "throttled":
        m.kernel(end - c.between(3, 30), "mce: CPU12: Core temperature above threshold, cpu clock throttled (total events = 1)")
        m.kernel(end - 2.5, "mce: CPU12: Core temperature/speed normal")
    right = fails(c, m, log, end)
    if c.variant == "panic_after":
        again = end + c.between(2, 58)
        m.kernel(again, "Kernel panic - not syncing: Fatal exception in interrupt")
        m.boots(again + 120)
    elif c.variant == "power_after":
        m.log(end + c.between(4, 40), "sshd", "Connection closed by 10.0.0.9 port 51514", 41001)
        m.dies(end + 45)
        m.boots(end + c.between(120, 300))
    c.expect(right, "the run fails by itself; the machine's trouble was before it or after it", mild=NOBODY)
    finish(c, m, log, end + 800)


def trouble(c, m, t, kind):
    """A record that could be a cause."""
    other = m.pid + 977
    if kind == "xid79":
        m.xid(t, 79)
    elif kind == "xid48":
        m.xid(t, 48)
        m.xid(t + 0.2, 94)
    elif kind == "xid119":
        m.xid(t, 119)
    elif kind == "nvlink":
        m.xid(t, 74)
    elif kind == "link":
        m.link(t, c.pick("ibp92s0", "mlx5_0"), False)
    elif kind == "oom_host":
        m.oom(t, "restic", other, "/system.slice/backup.service")
    elif kind == "oom_docker":
        group = f"/docker/{c.rng.getrandbits(256):064x}"
        m.oom(t, "java", other, group, group)
    elif kind == "disk":
        m.kernel(t, "EXT4-fs error (device nvme1n1p1): ext4_find_entry:1455: inode #2: comm python3: reading directory lblock 0")
        m.kernel(t + 0.1, "Buffer I/O error on dev nvme1n1p1, logical block 128, lost async page write")
    elif kind == "nfs":
        m.kernel(t, "nfs: server 10.0.0.9 not responding, still trying")
    elif kind == "mem":
        m.kernel(t, "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1 slot:0)")
    elif kind == "segv_other":
        m.segfault(t, "node_exporter", other)
        m.coredump(t + 0.5, "node_exporter", other)
    elif kind == "stop":
        m.sudo(t, c.pick(*PEOPLE), "/usr/bin/systemctl stop train")
    elif kind == "kill":
        m.sudo(t, c.pick(*PEOPLE), f"/usr/bin/kill -9 {m.pid}")
    elif kind == "earlyoom":
        m.log(t, "earlyoom", "low memory! at or below SIGTERM limits: mem 10.00%, swap 10.00%")
        m.log(t + 0.1, "earlyoom", f'sending SIGTERM to process {other} uid 1000 "chrome": badness 1188, VmRSS 57216 MiB')
    elif kind == "lockup":
        m.kernel(t, f"watchdog: BUG: soft lockup - CPU#18 stuck for 23s! [kworker/18:1:{other}]")
    elif kind == "pcie":
        m.kernel(t, "pcieport 0000:97:01.0: AER: Uncorrected (Non-Fatal) error received: 0000:9b:00.0")
    elif kind == "runtime":
        m.log(t, "systemd", "containerd.service: Main process exited, code=killed, status=9/KILL")
        m.log(t + 0.1, "systemd", "containerd.service: Failed with result 'signal'.")


@family("vm.after", "xid79 xid48 nvlink link oom_host oom_docker disk nfs mem segv_other stop kill earlyoom lockup pcie runtime", 6)
def after(c):
    """(a) In one journal the cause stands after the end."""
    m, log = vm(c, pid=c.number % 3 == 0)
    end = c.between(900, 1500)
    log.steps(1, end - 1)
    right = fails(c, m, log, end)
    trouble(c, m, end + c.pick(1.0, 2.0, 4.0, 4.9, 8.0, 20.0, 45.0, 60.0), c.variant)
    c.expect(right, "the run ends by itself; the machine's trouble stands after that in the same journal", mild=NOBODY)
    finish(c, m, log, end + 700)


@family("vm.after_killed", "xid79 link oom_host disk kill stop earlyoom mem", 6)
def after_killed(c):
    """The same, where the run ended on a signal that nobody is seen to send."""
    m, log = vm(c, pid=c.number % 2 == 0)
    end = c.between(900, 1500)
    log.steps(1, end)
    m.exit(end, -9 if c.number % 3 else -15)
    trouble(c, m, end + c.pick(1.0, 2.0, 4.0, 4.9, 8.0, 20.0, 45.0), c.variant)
    c.expect(["unknown"], "a signal ended the run; the machine's trouble stands after that in the same journal", mild=["ops.manual_delete", "node.system_oom", "code.host_oom", "code.exception"])
    finish(c, m, log, end + 700)


@family("vm.before", "xid79 xid48 nvlink link disk oom_limit oom_host stop kill kill_term", 6)
def before(c):
    """The twins of `vm.after`: the cause comes first, and the program says what it felt."""
    m, log = vm(c, pid=True)
    fault = c.between(900, 1500)
    last = log.steps(1, fault)
    end, actor, who = fault + c.between(1.5, 12), None, c.pick(*PEOPLE)
    if c.variant in ("xid79", "xid48", "nvlink"):
        trouble(c, m, fault, c.variant)
        log.traceback(end - 0.3, {"xid79": "torch.AcceleratorError: CUDA error: unspecified launch failure", "xid48": "torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered",
                                  "nvlink": "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, unhandled cuda error"}[c.variant], "    loss.backward()")
        m.exit(end, 1)
        right = {"xid79": ["hw.gpu"], "xid48": ["hw.gpu_memory", "hw.gpu"], "nvlink": ["hw.nvlink_fabric"]}[c.variant]
    elif c.variant == "link":
        m.link(fault, "ibp92s0", False)
        log.traceback(end - 0.3, "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, remote process exited or there was a network error, NCCL version 2.21.5\nncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.", "    dist.all_reduce(x)")
        m.exit(end, 1)
        right = ["hw.nic"]
    elif c.variant == "disk":
        trouble(c, m, fault, "disk")
        log.traceback(end - 0.3, "OSError: [Errno 5] Input/output error: '/scratch/shard-000412.tar'", "    with open(path, 'rb') as f:")
        m.exit(end, 1)
        right = ["hw.disk", "dep.storage"]
    elif c.variant in ("oom_limit", "oom_host"):
        m.oom_own(fault, c.variant == "oom_limit")
        right = ["code.host_oom", "node.system_oom"] if c.variant == "oom_host" else ["code.host_oom"]
    elif c.variant == "stop":
        m.sudo(fault, who, "/usr/bin/systemctl stop train.service")
        m.stop(fault + 0.4)
        right, actor = ["ops.manual_delete"], [who]
    else:
        hard = c.variant == "kill"
        m.sudo(fault, who, f"/usr/bin/kill {'-9 ' if hard else ''}{m.pid}")
        m.exit(fault + 0.2, -9 if hard else -15)
        right, actor = ["ops.manual_delete"], [who]
    c.expect(right, "the machine's trouble ends the run", actor=actor)
    finish(c, m, log, end + 700)
    assert last <= fault


def last_act(c, m, log, t, kind):
    """What really ends the run; steps go on up to `t`. Returns the right causes and the actor."""
    who = c.pick(*PEOPLE)
    if kind == "reboot":
        who = person_reboots(c, m, t)
        m.boots(t + c.between(60, 200))
        return ["node.reboot"], [who]
    if kind == "poweroff":
        who = person_reboots(c, m, t, "poweroff")
        m.boots(t + 700)
        return ["node.shutdown", "ops.manual_delete"], [who]
    if kind == "panic":
        m.kernel(t, "Kernel panic - not syncing: Fatal exception in interrupt")
        m.boots(t + 150)
        return ["node.kernel_panic"], None
    if kind == "power":
        m.dies(t)
        m.boots(t + 150)
        return ["node.reboot", "unknown"], None
    if kind == "stop":
        m.sudo(t, who, "/usr/bin/systemctl stop train")
        m.stop(t + 0.3)
        return ["ops.manual_delete"], [who]
    if kind == "oom":
        m.oom_own(t, True)
        return ["code.host_oom"], None
    if kind == "segv":
        m.segfault(t, "python3", m.pid)
        m.exit(t + 0.8, -11)
        return ["code.segfault"], None
    if kind == "own":
        log.traceback(t, *c.pick(*OWN_ERRORS))
        m.exit(t + 0.4, 1)
        return OWN, None
    m.exit(t, 1)
    return NOBODY, None


@family("vm.survived", "reboot poweroff panic power stop oom segv own bare", 9)
def survived(c):
    """(b) A fault that hundreds of steps came after."""
    m, log = vm(c, pid=c.number % 2 == 0, step=c.pick(2, 3))
    fault = c.between(300, 500)
    kind = ("xid79", "nvlink", "link", "mem", "disk", "nfs", "oom_docker", "xid119", "pcie")[c.number]
    trouble(c, m, fault, kind)
    if kind == "link":
        m.link(fault + 9, "ibp92s0", True)
    end = fault + c.pick(250, 400, 600, 850, 1300) + c.between(0, 30)
    log.steps(1, end - 0.5)
    right, actor = last_act(c, m, log, end, c.variant)
    c.expect(right, f"the run trains on for hundreds of steps after {kind}, then something else ends it", mild=NOBODY if c.variant == "power" else (), actor=actor)
    finish(c, m, log, end + 900)


@family("vm.other", "oom_docker oom_host oom_user segv xid kill stop earlyoom oomd watchdog runtime_max session", 6)
def other(c):
    """(c) A record of another process, unit, user or group, seconds before the run fails by itself."""
    m, log = vm(c, pid=True)
    end = c.between(900, 1500)
    log.steps(1, end - 1)
    t, pid, who = end - c.pick(0.8, 2.0, 4.0, 9.0, 20.0), m.pid + 1234, c.pick(*PEOPLE)
    if c.variant in ("oom_docker", "oom_host"):
        trouble(c, m, t, c.variant)
    elif c.variant == "oom_user":
        group = "/user.slice/user-1007.slice/session-31.scope"
        m.oom(t, "python3", pid, group, "/user.slice/user-1007.slice", uid=1007)
    elif c.variant == "segv":
        m.segfault(t, "gnome-shell", pid)
        m.coredump(t + 0.3, "gnome-shell", pid)
    elif c.variant == "xid":
        m.xid(t, (31, 94, 48)[c.number % 3], "0000:9b:00", pid, c.pick("jupyter-lab", "python3"))
    elif c.variant == "kill":
        m.sudo(t, who, f"/usr/bin/kill -9 {pid}")
    elif c.variant == "stop":
        m.sudo(t, who, "/usr/bin/systemctl stop jupyter")
        m.log(t + 0.2, "systemd", f"Stopping {m.named('jupyter', 'Jupyter')}...")
        m.exit(t + 0.5, -15, "jupyter")
    elif c.variant == "earlyoom":
        trouble(c, m, t, "earlyoom")
    elif c.variant == "oomd":
        m.log(t, "systemd-oomd", "Killed /user.slice/user-1007.slice/user@1007.service/app.slice due to memory pressure for /user.slice/user-1007.slice being 71.32% > 60.00% for > 20s with reclaim activity")
        m.log(t + 0.1, "systemd", "user@1007.service: systemd-oomd killed 12 process(es) in this unit.")
    elif c.variant == "watchdog":
        m.log(t, "systemd", "telegraf.service: Watchdog timeout (limit 3min)!")
        m.exit(t + 0.3, -6, "telegraf")
    elif c.variant == "runtime_max":
        m.log(t, "systemd", "eval.service: Service reached runtime time limit. Stopping.")
        m.exit(t + 0.3, -15, "eval")
    else:
        m.log(t, "systemd-logind", "Session 31 logged out. Waiting for processes to exit.")
        m.log(t + 0.1, "systemd-logind", "Removed session 31.")
    right = fails(c, m, log, end)
    c.expect(right, "what the machine tells of is another's", mild=NOBODY)
    finish(c, m, log, end + 700)


@family("vm.own", "oom_limit oom_host segv kill stop earlyoom oomd watchdog runtime_max oom_el7 pkill", 6)
def own(c):
    """The twins of `vm.other`: the record names the run's own process or unit."""
    m, log = vm(c, pid=True, system="el7" if c.variant == "oom_el7" else None)
    t, who, actor = c.between(900, 1500), c.pick(*PEOPLE), None
    log.steps(1, t)
    if c.variant in ("oom_limit", "oom_host", "oom_el7"):
        limited = c.variant == "oom_limit" or c.variant == "oom_el7" and c.number % 2 == 0
        m.oom_own(t, limited)
        right = ["code.host_oom"] if limited else ["node.system_oom", "code.host_oom"]
    elif c.variant == "segv":
        m.segfault(t, "python3", m.pid)
        m.coredump(t + 0.3, "python3", m.pid)
        m.exit(t + 0.6, -11)
        right = ["code.segfault"]
    elif c.variant in ("kill", "pkill"):
        m.sudo(t, who, f"/usr/bin/kill -9 {m.pid}" if c.variant == "kill" else "/usr/bin/pkill -9 -f train.py")
        m.exit(t + 0.2, -9)
        right, actor = ["ops.manual_delete"], [who]
    elif c.variant == "stop":
        m.sudo(t, who, "/usr/bin/systemctl stop train")
        m.stop(t + 0.3)
        right, actor = ["ops.manual_delete"], [who]
    elif c.variant == "earlyoom":
        m.log(t, "earlyoom", "low memory! at or below SIGTERM limits: mem 10.00%, swap 10.00%")
        m.log(t + 0.1, "earlyoom", f'sending SIGTERM to process {m.pid} uid 1000 "python3": badness 1188, VmRSS 57216 MiB')
        m.exit(t + 0.6, -15)
        right = ["node.system_oom", "code.host_oom"]
    elif c.variant == "oomd":
        m.log(t, "systemd-oomd", "Killed /system.slice/train.service due to memory pressure for /system.slice being 71.32% > 60.00% for > 20s with reclaim activity")
        m.log(t + 0.1, "systemd", "train.service: systemd-oomd killed 24 process(es) in this unit.")
        m.exit(t + 0.3, -9)
        right = ["node.system_oom", "code.host_oom"]
    elif c.variant == "watchdog":
        m.log(t, "systemd", "train.service: Watchdog timeout (limit 3min)!")
        m.exit(t + 0.3, -6)
        right = ["hang.watchdog", "hang.no_progress"]
    else:
        m.log(t, "systemd", "train.service: Service reached runtime time limit. Stopping." if m.system != "el7" else "train.service: Service runtime time limit reached. Stopping.")
        m.exit(t + 0.5, -15)
        right = ["code.deadline"]
    c.expect(right, "what the machine tells of is the run's own", actor=actor)
    finish(c, m, log, t + 700)


@family("vm.came_back", "reboot panic power unattended poweroff", 8)
def came_back(c):
    """(f) The machine went down minutes before the log's end, came back, and the run trained on."""
    m, log = vm(c, step=4)
    down = c.between(700, 1000)
    log.steps(1, down)
    if c.variant == "panic":
        m.kernel(down + 0.1, "Kernel panic - not syncing: Fatal exception in interrupt")
    elif c.variant == "unattended":
        m.log(down, "CRON", "(root) CMD (/sbin/shutdown -r now)", 40111)
        m.goes_down(down + 0.4)
    elif c.variant != "power":
        person_reboots(c, m, down, c.variant)
    else:
        m.dies(down)
    up = down + c.between(50, 150)
    m.boots(up)
    m.start(up + 8)
    log.say(up + 9, "resuming from checkpoint step=100")
    end = up + 20 + c.between(90, 700)
    log.steps(up + 12, end - 1)
    right = fails(c, m, log, end)
    c.expect(right, "the run went on after the machine came back, and fails by itself later", mild=NOBODY)
    finish(c, m, log, end + 600)


@family("vm.segv", "full unit_only kernel_only coredump_only trap abort bus folder_dmesg", 6)
def segv(c):
    """(g)"""
    m, log = vm(c, pid=True)
    t = c.between(900, 1500)
    log.steps(1, t)
    right = ["code.segfault"]
    if c.variant in ("full", "kernel_only", "folder_dmesg"):
        m.segfault(t, "python3", m.pid)
    if c.variant == "trap":
        m.kernel(t, f"traps: python3[{m.pid}] general protection fault ip:7f0e1c2d4a10 sp:7ffd0c3e1a20 error:0 in libtorch_cpu.so[7f0e1c000000+1a2000]")
    if c.variant in ("full", "coredump_only"):
        m.coredump(t + 0.3, "python3", m.pid)
    if c.variant in ("full", "unit_only", "trap"):
        m.exit(t + 0.7, -11)
    if c.variant == "abort":
        log.raw(t - 0.1, "terminate called after throwing an instance of 'std::runtime_error'\n  what():  bad shard")
        m.coredump(t + 0.3, "python3", m.pid, 6)
        m.exit(t + 0.7, -6)
        right = ["code.segfault", "code.exception"]
    if c.variant == "bus":
        m.exit(t + 0.7, -7)
    if c.variant == "folder_dmesg":
        m.form = "dmesg-T"
        m.save(only_kernel=True)
        log.save()
    else:
        finish(c, m, log, t + 700)
    c.expect(right, "the program crashes", mild=["code.segfault", "dep.storage", "hw.memory"] if c.variant == "bus" else ())
    if c.variant == "bus":
        c.right = ["unknown", "code.segfault"]


@family("vm.segv_not", "other_program worker_survived after_end earlier_run other_unit", 6)
def segv_not(c):
    m, log = vm(c, pid=True)
    end = c.between(1200, 1500)
    log.steps(1, end - 1)
    pid = m.pid + 3000
    if c.variant == "other_program":
        m.segfault(end - 3, "Xorg", pid)
    elif c.variant == "worker_survived":
        m.segfault(end - 700, "python3", m.pid + 40)
        log.say(end - 699, "dataloader worker exited unexpectedly, restarting it", "WARNING")
    elif c.variant == "earlier_run":
        m.segfault(-700, "python3", pid)
        m.exit(-699, -11)
    elif c.variant == "other_unit":
        m.segfault(end - 2, "python3", pid)
        m.exit(end - 1.5, -11, "eval")
    right = fails(c, m, log, end)
    if c.variant == "after_end":
        m.segfault(end + c.between(2, 40), "python3", pid)
    c.expect(right, "another program crashes", mild=NOBODY)
    finish(c, m, log, end + 700)


@family("vm.stop_not", "usr1 status refused after_end other_unit other_user kill_before restart_before", 6)
def stop_not(c):
    m, log = vm(c, pid=True)
    end = c.between(1200, 1500)
    log.steps(1, end - 1)
    who = c.pick(*PEOPLE)
    if c.variant == "usr1":
        m.sudo(end - 6, who, f"/usr/bin/kill -USR1 {m.pid}")
    elif c.variant == "status":
        m.sudo(end - 6, who, "/usr/bin/systemctl status train")
    elif c.variant == "refused":
        m.sudo(end - 3, who, "/usr/bin/systemctl stop train", refused=True)
    elif c.variant == "other_unit":
        m.sudo(end - 3, who, "/usr/bin/systemctl stop training-dashboard")
        m.exit(end - 2, -15, "training-dashboard")
    elif c.variant == "other_user":
        m.sudo(end - 3, who, f"/usr/bin/pkill -u bob -f jupyter")
    elif c.variant == "kill_before":
        m.sudo(-60, who, "/usr/bin/pkill -9 -f train.py")
    elif c.variant == "restart_before":
        m.sudo(-5, who, "/usr/bin/systemctl restart train")
    right = fails(c, m, log, end)
    if c.variant == "after_end":
        m.sudo(end + c.between(2, 50), who, "/usr/bin/systemctl stop train")
    c.expect(right, "nobody stopped the run", mild=NOBODY)
    finish(c, m, log, end + 700)


@family("vm.disk", "full full_survived other_mount full_after journald", 6)
def disk(c):
    m, log = vm(c)
    end = c.between(1200, 1500)
    log.steps(1, end - 1)
    right = None
    if c.variant == "full":
        log.traceback(end - 0.4, c.pick("OSError: [Errno 28] No space left on device: '/ckpt/step-900.pt'",
                                        "RuntimeError: [enforce fail at inline_container.cc:588] . PytorchStreamWriter failed writing file data/12: file write failed\nOSError: [Errno 28] No space left on device"), "    torch.save(state, path)")
        m.exit(end, 1)
        right = ["dep.storage", "code.storage_limit"]
    elif c.variant == "full_survived":
        log.say(end - 800, "saving checkpoint failed: [Errno 28] No space left on device; will retry", "WARNING")
        log.say(end - 700, "saved checkpoint step=900")
    elif c.variant == "other_mount":
        m.log(end - 4, "rsyslogd", "action 'action-0-builtin:omfile' suspended: /var/log/huge.log: No space left on device")
    elif c.variant == "journald":
        m.log(end - 5, "systemd-journald", "Failed to write entry (22 items, 745 bytes), ignoring: No space left on device", 340)
    if right is None:
        right = fails(c, m, log, end)
    if c.variant == "full_after":
        m.log(end + 6, "dockerd", "write /var/lib/docker/tmp/x: no space left on device")
    c.expect(right, "a disk is full: the run's, or another, or before, or after", mild=NOBODY if c.variant != "full" else ())
    finish(c, m, log, end + 700)


@family("vm.nfs", "hang_stopped recovered recovered_late after other_server", 6)
def nfs(c):
    m, log = vm(c, step=4)
    hang = c.between(600, 900)
    server = "10.0.0.9"
    if c.variant == "hang_stopped":
        log.steps(1, hang)
        m.kernel(hang + 3, f"nfs: server {server} not responding, still trying")
        m.kernel(hang + 140, f"INFO: task python3:{m.pid} blocked for more than 120 seconds.")
        end = hang + 700
        log.traceback(end - 0.3, "OSError: [Errno 5] Input/output error: '/nfs/data/shard-000412.tar'", "    rows = read(path)")
        m.exit(end, 1)
        right = ["dep.storage", "dep.volume"]
    else:
        ok = hang + c.between(20, 60)
        log.steps(1, hang)
        end = ok + (c.between(60, 120) if c.variant == "recovered" else c.between(500, 900))
        log.steps(ok if c.variant.startswith("recovered") else hang, end - 1)
        if c.variant.startswith("recovered"):
            m.kernel(hang + 3, f"nfs: server {server} not responding, still trying")
            m.kernel(ok, f"nfs: server {server} OK")
        elif c.variant == "other_server":
            m.kernel(end - 60, "nfs: server home.lab.example not responding, still trying")
            m.kernel(end - 50, "nfs: server home.lab.example OK")
        right = fails(c, m, log, end)
        if c.variant == "after":
            m.kernel(end + c.between(2, 50), f"nfs: server {server} not responding, still trying")
    c.expect(right, "a file server is silent: until the end, for a while, or after it", mild=NOBODY if c.variant != "hang_stopped" else ())
    finish(c, m, log, end + 700)


@family("vm.link", "flap_survived management after down_then_own other_machine", 6)
def link(c):
    m, log = vm(c, step=4)
    end = c.between(1200, 1500)
    log.steps(1, end - 1)
    if c.variant == "flap_survived":
        m.link(end - 700, "ibp92s0", False)
        m.link(end - 693, "ibp92s0", True)
    elif c.variant == "management":
        m.kernel(end - 5, "igb 0000:01:00.0 eno1: igb: eno1 NIC Link is Down")
    elif c.variant == "down_then_own":
        m.link(end - 130, "ibp92s0", False)
        m.link(end - 125, "ibp92s0", True)
    elif c.variant == "other_machine":
        near = Machine(c, "gpu-08")
        near.noise(0, end + 600)
        near.link(end - 4, "ibp92s0", False)
        near.save()
    right = fails(c, m, log, end)
    if c.variant == "after":
        m.link(end + c.between(1, 50), "ibp92s0", False)
    c.expect(right, "a link goes down that the run did not need any more, or outlived", mild=NOBODY)
    finish(c, m, log, end + 700)


@family("vm.two", "reboot_own reboot_other panic_own panic_other stop_other oom_other", 6)
def two(c):
    """Two machines, one run; what happens on the other one is not its cause."""
    m, log = vm(c)
    near = Machine(c, "gpu-08")
    near.noise(-1000, 2500)
    end = c.between(900, 1500)
    actor = None
    where = m if c.variant.endswith("own") else near
    if c.variant.startswith("reboot"):
        log.steps(1, end if where is m else end + 3)
        who = person_reboots(c, where, end)
        where.boots(end + 90)
        right, actor = ["node.reboot"], [who]
    elif c.variant.startswith("panic"):
        log.steps(1, end if where is m else end + 3)
        where.kernel(end, "Kernel panic - not syncing: Fatal exception in interrupt")
        where.boots(end + 90)
        right = ["node.kernel_panic"]
    else:
        log.steps(1, end + 3)
        if c.variant == "stop_other":
            near.sudo(end, "carol", "/usr/bin/systemctl stop train")
            near.stop(end + 0.4)
        else:
            near.oom_own(end, True)
    if where is near:
        right, actor = fails(c, m, log, end + 4), None
    near.save()
    c.expect(right, "one of two machines goes down", actor=actor, mild=NOBODY if where is near else ())
    finish(c, m, log, end + 900)


@family("vm.names", "fqdn_own fqdn_folder fqdn_other prefix_other ec2_own upper localdomain", 6)
def names(c):
    """(i) A machine named in whole and in short; and one of nearly the same name."""
    host, folder = {"fqdn_own": ("gpu-07.lab.example", "gpu-07"), "fqdn_folder": ("gpu-07", "gpu-07.lab.example"), "fqdn_other": ("gpu-08.lab.example", "gpu-07"),
                    "prefix_other": ("gpu-070.lab.example", "gpu-07"), "ec2_own": ("ip-10-0-3-7.ec2.internal", "ip-10-0-3-7"), "upper": ("GPU-07.lab.example", "gpu-07"),
                    "localdomain": ("gpu-07.localdomain", "gpu-07")}[c.variant]
    if c.form == "syslog":
        c.form = "rsyslog"
    m, log = vm(c, host, folder)
    end = c.between(900, 1500)
    foreign = c.variant.endswith("other")
    kind = ("reboot", "panic", "poweroff")[c.number % 3]
    log.steps(1, end)
    if foreign:
        # The other machine's journal lies in a folder of its own; the run's machine has one that is well.
        quiet = Machine(c, "gpu-07.lab.example", "gpu-07", form=m.form)
        quiet.noise(-1000, end + 600)
        quiet.start(0)
        right, actor = fails(c, quiet, log, end + 4), None
        log.steps(end, end + 3)
        quiet.save()
        m.lines = [row for row in m.lines if "train" not in row[4] and "LLM" not in row[4]]
        m.folder = host
        last_act(c, m, log, end, kind)
    else:
        right, actor = last_act(c, m, log, end, kind)
    c.expect(right, f"a machine called {host} in its journal, a folder called {folder}", actor=actor, mild=NOBODY if foreign else ())
    finish(c, m, log, end + 900)


@family("vm.exit", "137 143 139 134 137_oom 143_stop 0", 6)
def exit_codes(c):
    """Codes of services alone, and beside what explains them."""
    m, log = vm(c, pid=True)
    t = c.between(900, 1500)
    log.steps(1, t)
    who = c.pick(*PEOPLE)
    actor, mild = None, []
    if c.variant == "0":
        log.say(t + 0.2, "training completed, saved final checkpoint")
        m.log(t + 1, "systemd", "train.service: Deactivated successfully." if m.system not in ("el7", "el8") else "train.service: Succeeded.")
        right = ["none.completed"]
    elif c.variant == "137_oom":
        m.oom(t, "python3", m.pid + 12, "/system.slice/train.service", "/system.slice/train.service")
        m.exit(t + 0.6, 137)
        right = ["code.host_oom"]
    elif c.variant == "143_stop":
        m.sudo(t, who, "/usr/bin/systemctl stop train")
        m.log(t + 0.3, "systemd", f"Stopping {m.named('train', 'LLM training')}...")
        m.exit(t + 1, 143)
        right, actor = ["ops.manual_delete"], [who]
    else:
        m.exit(t, int(c.variant))
        right = ["unknown", "code.segfault"] if c.variant == "139" else ["unknown"]
        mild = ["code.host_oom", "code.exception", "ops.manual_delete", "code.segfault"]
    c.expect(right, f"the service ends with {c.variant}", actor=actor, mild=mild)
    finish(c, m, log, t + 700)


@family("vm.dmesg", "oom xid79 segv oom_other xid_survived oom_after", 6)
def dmesg(c):
    """A log and a kernel ring beside it, nothing of systemd."""
    m, log = vm(c, pid=True)
    m.form = "dmesg-T"
    t = c.between(1100, 1500)
    log.steps(1, t)
    mild = []
    if c.variant == "oom":
        m.oom(t + 0.2, "python3", m.pid, "/user.slice/user-1000.slice/session-3.scope")
        right = ["node.system_oom", "code.host_oom"]
    elif c.variant == "xid79":
        m.xid(t + 0.2, 79)
        log.traceback(t + 4, "torch.AcceleratorError: CUDA error: unspecified launch failure", "    loss.backward()")
        right = ["hw.gpu"]
    elif c.variant == "segv":
        m.segfault(t + 0.2, "python3", m.pid)
        right = ["code.segfault"]
    else:
        if c.variant == "oom_other":
            m.oom(t - 2, "java", m.pid + 77, "/docker/0a1b", "/docker/0a1b")
        elif c.variant == "xid_survived":
            m.xid(t - 800, 79, "0000:9b:00")
        log.traceback(t + 1, *c.pick(*OWN_ERRORS))
        if c.variant == "oom_after":
            m.oom(t + c.between(4, 50), "python3", m.pid + 500, "/user.slice/user-1007.slice/session-9.scope")
        right = OWN
    c.expect(right, "the kernel's ring is all there is beside the log", mild=mild)
    m.noise(5, t + 500)
    m.save(only_kernel=True)
    log.save()


@family("vm.central", "reboot_own reboot_other panic_own panic_other poweroff_own stop_other", 6)
def central(c):
    """One syslog of many machines, as a collector writes it; the run's folder bears its machine's name."""
    c.form = ("rsyslog", "syslog")[c.number % 2]
    host = ("gpu-07", "gpu-07.lab.example")[c.number // 2 % 2]
    m, log = vm(c, host, "gpu-07")
    others = [Machine(c, name, form=c.form) for name in ("gpu-06.lab.example" if "." in host else "gpu-06", "gpu-08.lab.example" if "." in host else "gpu-08", "login1")]
    for one in others:
        one.noise(-1000, 2500)
    end = c.between(900, 1500)
    kind, whose = c.variant.split("_")
    if whose == "own":
        log.steps(1, end - 0.2)
        right, actor = last_act(c, m, log, end, kind)
    else:
        others[1].start(-500)
        log.steps(1, end + 3)
        last_act(c, others[1], log, end, kind)
        right, actor = fails(c, m, log, end + 4), None
    m.noise(5, end + 900)
    rows = sorted((row[0], n, row[1], one.line(*row)) for n, one in enumerate([m, *others]) for row in one.kept())
    c.write("collector/all-hosts.log", "".join(row[3] for row in rows if row[3]))
    log.save()
    c.expect(right, "a collector's file of several machines", actor=actor, mild=NOBODY if whose == "other" else ())


@family("vm.pair", "other_stopped other_oom other_killed other_segv own_stopped own_oom reboot", 6)
def pair(c):
    """Two services on one machine, each with its log: train and eval."""
    m, log = vm(c, pid=True)
    beside = Train(c, f"{m.folder}/eval.log")
    m.start(-20, "eval")
    beside.begin(-19, m.pid + 50)
    t, who, actor = c.between(900, 1500), c.pick(*PEOPLE), None
    whose, kind = c.variant.split("_") if "_" in c.variant else ("both", c.variant)
    unit, pid = ("eval", m.pid + 50) if whose == "other" else ("train", m.pid)
    log.steps(1, t + (40 if whose == "other" else 0))
    beside.steps(-18, t + (0 if whose != "own" else 40))
    if kind == "stopped":
        m.sudo(t, who, f"/usr/bin/systemctl stop {unit}")
        m.stop(t + 0.3, unit)
        right, actor = ["ops.manual_delete"], [who]
    elif kind == "oom":
        m.unit, mine, m.pid, run = unit, m.unit, pid, m.pid
        m.oom_own(t, True)
        m.unit, m.pid = mine, run
        right = ["code.host_oom"]
    elif kind == "killed":
        m.sudo(t, who, f"/usr/bin/kill -9 {pid}")
        m.exit(t + 0.2, -9, unit)
    elif kind == "segv":
        m.segfault(t, "python3", pid)
        m.exit(t + 0.5, -11, unit)
    else:
        actor, right = [person_reboots(c, m, t)], ["node.reboot"]
        m.boots(t + 90)
    if whose == "other":
        right, actor = fails(c, m, log, t + 41), None
    beside.save()
    c.expect(right, "two services on one machine", actor=actor, mild=NOBODY if whose == "other" else ())
    finish(c, m, log, t + 600)


@family("vm.completed", "reboot panic poweroff stop oom_other xid79 unattended power", 6)
def completed(c):
    """The run is done; what the machine does then is nobody's death."""
    m, log = vm(c)
    t = c.between(900, 1500)
    log.steps(1, t)
    log.say(t + 1, c.pick("training completed, saved final checkpoint", "Training complete. Total time 1512 s", "finished training: 500 steps"))
    m.log(t + 2, "systemd", "train.service: Deactivated successfully." if m.system in ("u22", "u24", "el9") else "train.service: Succeeded." if m.system == "el8" else "Stopped LLM training.")
    later = t + 2 + c.pick(1.0, 4.0, 15.0, 60.0, 300.0)
    if c.variant in ("xid79", "oom_other"):
        trouble(c, m, later, {"oom_other": "oom_host"}.get(c.variant, c.variant))
    elif c.variant == "unattended":
        m.log(later, "CRON", "(root) CMD (/sbin/shutdown -r now)", 40111)
        m.goes_down(later + 0.5)
        m.lines = [row for row in m.lines if not ("train" in row[4] and row[0] > later)]
        m.boots(later + 80)
    else:
        last_act(c, m, log, later, c.variant)
        # Nothing of the service is left to be stopped.
        m.lines = [row for row in m.lines if not (row[0] > later and row[2] == "systemd" and ("train" in row[4] or "LLM" in row[4]))]
    c.expect(["none.completed"], "the run is over, and then something happens")
    finish(c, m, log, later + 600)


@family("vm.due", "own_before panic_before own_long_before poweroff_before due", 6)
def due(c):
    """A reboot was asked for in ten minutes; until then other things happen."""
    m, log = vm(c)
    asked = c.between(600, 900)
    who, at = c.pick(*PEOPLE), asked + 600
    m.sudo(asked, who, "/usr/sbin/shutdown -r +10")
    end = {"own_before": at - c.pick(2, 4.5, 8, 30), "own_long_before": at - 400, "panic_before": at - c.between(60, 300), "poweroff_before": at - 300, "due": at}[c.variant]
    log.steps(1, end - 0.5)
    actor, mild = None, []
    if c.variant == "panic_before":
        right, actor = last_act(c, m, log, end, "panic")
    elif c.variant == "poweroff_before":
        right, actor = last_act(c, m, log, end, "poweroff")
    elif c.variant == "due":
        m.goes_down(at)
        m.boots(at + 100)
        right, actor = ["node.reboot"], [who]
    else:
        right, mild = fails(c, m, log, end), NOBODY + ["node.reboot"]
        m.log(at, "systemd-logind", "System is rebooting.")
        m.log(at + 2, "systemd", "Reached target System Reboot.")
        m.log(at + 2.5, "systemd-journald", "Journal stopped")
        m.dies(at + 3)
        m.boots(at + 100)
    c.expect(right, "a reboot is due in ten minutes", actor=actor, mild=mild)
    finish(c, m, log, at + 700)


@family("vm.restarts", "oom_then_own own_then_reboot segv_then_stop stop_start_then_own oom_then_oom exit_then_panic", 6)
def restarts(c):
    """systemd starts the service again; the end of the last one counts."""
    m, log = vm(c, pid=True)
    first, then = c.variant.rsplit("_then_", 1)
    t = c.between(500, 800)
    log.steps(1, t)
    if first == "oom":
        m.oom_own(t, True)
    elif first == "own":
        log.traceback(t, *c.pick(*OWN_ERRORS))
        m.exit(t + 0.4, 1)
    elif first == "segv":
        m.segfault(t, "python3", m.pid)
        m.exit(t + 0.6, -11)
    elif first == "stop_start":
        m.sudo(t, "carol", "/usr/bin/systemctl stop train")
        m.stop(t + 0.3)
        m.sudo(t + 20, "carol", "/usr/bin/systemctl start train")
    else:
        m.exit(t, 1)
    again = t + 31
    if first != "stop_start":
        m.log(again - 0.1, "systemd", "train.service: Scheduled restart job, restart counter is at 1." if m.system != "el7" else "train.service holdoff time over, scheduling restart.")
    m.start(again)
    m.pid += 600
    log.begin(again + 2, m.pid)
    log.say(again + 3, "resuming from checkpoint step=100")
    end = again + c.between(400, 900)
    log.steps(again + 4, end)
    right, actor = last_act(c, m, log, end, then)
    c.expect(right, "the service was started again after its first end", actor=actor)
    finish(c, m, log, end + 700)


@family("vm.reboot2", "su polkit console bash_c upgraded kexec wall", 6)
def reboot2(c):
    """Other ways to ask for a reboot; who it was is not always told."""
    m, log = vm(c)
    t, who, actor = c.between(900, 1500), c.pick(*PEOPLE), None
    log.steps(1, t)
    right = ["node.reboot"]
    if c.variant == "su":
        m.log(t - 40, "su", f"(to root) {who} on pts/0", 40200)
        m.log(t - 40, "su", f"pam_unix(su-l:session): session opened for user root(uid=0) by {who}(uid=1003)", 40200)
    elif c.variant == "polkit":
        m.log(t - 1, "polkitd", f"Operator of unix-session:2 successfully authenticated as unix-user:{who} to gain TEMPORARY authorization for action org.freedesktop.login1.reboot-multiple-sessions for system-bus-name::1.77 [systemctl reboot] (owned by unix-user:{who})")
    elif c.variant == "console":
        m.log(t - 1, "systemd", "Received SIGINT.")
    elif c.variant == "bash_c":
        m.sudo(t - 1, who, '/usr/bin/bash -c "sleep 1; reboot"')
        actor = [who]
    elif c.variant == "upgraded":
        m.sudo(t - 200, who, "/usr/bin/apt-get -y dist-upgrade")
        m.sudo(t - 1, who, "/usr/sbin/reboot")
        actor = [who]
    elif c.variant == "kexec":
        m.sudo(t - 1, who, "/usr/bin/systemctl kexec")
        actor = [who]
    else:
        m.sudo(t - 1, who, '/usr/sbin/shutdown -r now "kernel update, back in 5 min"')
        actor = [who]
    m.goes_down(t)
    m.boots(t + 70)
    c.expect(right, "somebody asks for a reboot in another way", actor=actor)
    finish(c, m, log, t + 700)


@family("vm.killed_then", "reboot poweroff panic power unattended stop xid79 link oom_host", 8)
def killed_then(c):
    """A signal from nobody ends the run; minutes later something befalls the machine."""
    m, log = vm(c)
    end = c.between(900, 1500)
    log.steps(1, end)
    code = (-9, -15, 137, 143)[c.number % 4]
    m.exit(end, code)
    later = end + (20, 75, 180, 300, 420, 560, 700, 850)[c.number]
    if c.variant in ("xid79", "link", "oom_host"):
        trouble(c, m, later, c.variant)
    elif c.variant == "unattended":
        m.log(later, "CRON", "(root) CMD (/sbin/shutdown -r now)", 40111)
        m.goes_down(later + 0.5)
        m.boots(later + 80)
    else:
        last_act(c, m, log, later, c.variant)
    # systemd stops nothing that has ended.
    m.lines = [row for row in m.lines if not (row[0] > later and row[2] == "systemd" and ("train" in row[4] or "LLM" in row[4]))]
    c.expect(["unknown"], f"the run was killed by nobody that is known, {later - end:.0f} s before", mild=["ops.manual_delete", "code.host_oom", "node.system_oom", "code.exception"])
    finish(c, m, log, later + 600)


@family("vm.back_then_killed", "reboot panic power", 8)
def back_then_killed(c):
    """The machine came back, the run trained on, and a signal from nobody ends it."""
    m, log = vm(c, step=4)
    down = c.between(700, 1000)
    log.steps(1, down)
    last_act(c, m, log, down, c.variant)
    up = max(row[0] for row in m.lines if row[4].startswith("Linux version"))
    m.start(up + 8)
    log.say(up + 9, "resuming from checkpoint step=100")
    end = up + 20 + (40, 90, 150, 250, 400, 550, 700, 850)[c.number]
    log.steps(up + 12, end)
    m.exit(end, (-9, -15, 137, 143)[c.number % 4])
    c.expect(["unknown"], "the run went on after the machine came back; a signal from nobody ends it", mild=["ops.manual_delete", "code.host_oom", "node.system_oom", "code.exception"])
    finish(c, m, log, end + 600)


@family("vm.worker", "oom_survived kill_survived segv_survived restart_survived oom_then_killed", 8)
def worker(c):
    """A helper process of the run is killed, and the run goes on for hundreds of steps."""
    m, log = vm(c, pid=True, step=3)
    t, group = c.between(300, 500), "/system.slice/train.service"
    if c.variant.startswith("oom"):
        m.oom(t, "python3", m.pid + 31, group, group)
        if m.system != "el7":
            m.log(t + 0.3, "systemd", "train.service: A process of this unit has been killed by the OOM killer.")
        log.say(t + 1, "DataLoader worker (pid %d) is killed by signal: Killed; restarting it" % (m.pid + 31), "WARNING")
    elif c.variant == "kill_survived":
        m.sudo(t, "carol", f"/usr/bin/kill -9 {m.pid + 31}")
        log.say(t + 1, "a worker went away; restarting it", "WARNING")
    elif c.variant == "segv_survived":
        m.segfault(t, "python3", m.pid + 31)
        log.say(t + 1, "a worker went away; restarting it", "WARNING")
    else:
        m.sudo(t, "carol", "/usr/bin/systemctl restart train")
        m.stop(t + 0.2)
        m.start(t + 1.8)
        log.say(t + 4, "resuming from checkpoint step=100")
    end = t + c.between(700, 1200)
    log.steps(1, t)
    log.steps(t + 5, end - 1)
    if c.variant == "oom_then_killed":
        m.exit(end, -9)
        right, mild = ["unknown"], ["ops.manual_delete", "code.host_oom", "node.system_oom", "code.exception"]
    else:
        right, mild = fails(c, m, log, end), NOBODY
    c.expect(right, "the run goes on after a helper's end, and fails of its own", mild=mild)
    finish(c, m, log, end + 600)


@family("vm.second", "reboot poweroff stop kill stop_after xid_after link_after reboot_after kill_after oom_after", 6)
def second(c):
    """All in one whole second: only the order of lines tells what came first."""
    c.form = ("short-iso", "syslog")[c.number % 2]
    m, log = vm(c, pid=True, system=("u22", "u24", "el8")[c.number % 3])
    t = float(round(c.between(900, 1500)))
    log.steps(1, t - 0.5)
    who = c.pick(*PEOPLE)
    actor, mild = [who], []
    kind = c.variant.split("_")[0]
    if c.variant in ("reboot", "poweroff"):
        m.sudo(t + 0.01, who, f"/usr/sbin/{c.variant}")
        m.goes_down(t + 0.05, c.variant)
        m.boots(t + 100)
        right = ["node.reboot"] if c.variant == "reboot" else ["node.shutdown", "ops.manual_delete"]
    elif c.variant in ("stop", "kill"):
        m.sudo(t + 0.01, who, "/usr/bin/systemctl stop train" if kind == "stop" else f"/usr/bin/kill -9 {m.pid}")
        if kind == "stop":
            m.log(t + 0.02, "systemd", f"Stopping {m.named('train', 'LLM training')}...")
        m.exit(t + 0.3, -15 if kind == "stop" else -9)
        right = ["ops.manual_delete"]
    else:
        m.exit(t + 0.01, (1, -9, 3)[c.number % 3])
        if kind == "stop":
            m.sudo(t + 0.1, who, "/usr/bin/systemctl stop train")
        elif kind == "kill":
            m.sudo(t + 0.1, who, f"/usr/bin/kill -9 {m.pid}")
        elif kind == "reboot":
            m.sudo(t + 0.1, who, "/usr/sbin/reboot")
            m.goes_down(t + 0.2)
            m.lines = [row for row in m.lines if not (row[0] > t + 0.2 and row[2] == "systemd" and ("train" in row[4] or "LLM" in row[4]))]
            m.boots(t + 100)
        else:
            trouble(c, m, t + 0.1, {"xid": "xid79", "oom": "oom_host"}.get(kind, kind))
        right, actor, mild = NOBODY, None, ["hw.gpu", "hw.nic", "ops.manual_delete", "node.reboot", "node.system_oom"]
    c.expect(right, "everything in one whole second", actor=actor, mild=mild)
    finish(c, m, log, t + 600)


@family("vm.split", "reboot poweroff kill stop oom own_then_reboot own_then_stop segv", 6)
def split(c):
    """auth.log, kern.log and syslog instead of one journal."""
    c.form = ("rsyslog", "syslog")[c.number % 2]
    m, log = vm(c, pid=True)
    t, who, actor, mild = c.between(900, 1500), c.pick(*PEOPLE), None, []
    if c.variant.startswith("own"):
        log.steps(1, t - 1)
        right, mild = fails(c, m, log, t), NOBODY
        kind = c.variant.split("_then_")[1]
        later = t + c.pick(1.5, 4, 20, 50)
        if kind == "reboot":
            m.sudo(later, who, "/usr/sbin/reboot")
            m.goes_down(later + 0.3)
            m.lines = [row for row in m.lines if not (row[0] > later and row[2] == "systemd" and ("train" in row[4] or "LLM" in row[4]))]
            m.boots(later + 60)
        else:
            m.sudo(later, who, "/usr/bin/systemctl stop train")
    elif c.variant == "kill":
        log.steps(1, t)
        m.sudo(t, who, f"/usr/bin/kill -9 {m.pid}")
        m.exit(t + 0.2, -9)
        right, actor = ["ops.manual_delete"], [who]
    else:
        log.steps(1, t)
        right, actor = last_act(c, m, log, t, c.variant)
    m.noise(5, t + 500)
    m.save_split()
    log.save()
    c.expect(right, "a machine's log in three files", actor=actor, mild=mild)


@family("vm.forms", "short-full export verbose short-unix", 8)
def forms(c):
    """Other outputs of journalctl."""
    c.form = c.variant
    c.system = ("u22", "u24", "el8", "el9")[c.number % 4]
    m, log = vm(c, pid=True)
    t = c.between(900, 1500)
    log.steps(1, t)
    right, actor = last_act(c, m, log, t, ("reboot", "stop", "oom", "panic", "own", "poweroff", "stop", "oom")[c.number])
    c.expect(right, "another output of journalctl", actor=actor)
    finish(c, m, log, t + 500)


@family("vm.teardown", "stop reboot poweroff kill_term oom_child runtime", 6)
def teardown(c):
    """Who is told to stop says so in its own way: a handler's words, a launcher's report, a traceback of what was going on."""
    m, log = vm(c, pid=True)
    t, who, actor = c.between(900, 1500), c.pick(*PEOPLE), None
    log.steps(1, t)
    words = c.number % 3
    def cleanup(at):
        if words == 0:
            log.say(at, "received SIGTERM, saving a checkpoint before exit", "WARNING")
            log.say(at + 0.5, "saved checkpoint")
        elif words == 1:
            log.raw(at, "Traceback (most recent call last):\n  File \"/usr/lib/python3/torch/distributed/run.py\", line 905, in main\n    run(args)\ntorch.distributed.elastic.multiprocessing.api.SignalException: Process %d got signal: 15" % m.pid)
        else:
            log.raw(at, f"Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 231, in <module>\n    main()\nRuntimeError: DataLoader worker (pid(s) {m.pid + 8}) exited unexpectedly")
    if c.variant == "stop":
        m.sudo(t, who, "/usr/bin/systemctl stop train")
        m.log(t + 0.3, "systemd", f"Stopping {m.named('train', 'LLM training')}...")
        cleanup(t + 0.5)
        m.exit(t + 1.5, 1)
        right, actor = ["ops.manual_delete"], [who]
    elif c.variant in ("reboot", "poweroff"):
        who = person_reboots(c, m, t, c.variant)
        cleanup(t + 1.2)
        m.boots(t + 200)
        right, actor = (["node.reboot"] if c.variant == "reboot" else ["node.shutdown", "ops.manual_delete"]), [who]
    elif c.variant == "kill_term":
        m.sudo(t, who, f"/usr/bin/kill {m.pid}")
        cleanup(t + 0.2)
        m.exit(t + 1.0, 1 if words else 143)
        right, actor = ["ops.manual_delete"], [who]
    elif c.variant == "oom_child":
        m.oom(t, "python3", m.pid + 8, "/system.slice/train.service", "/system.slice/train.service")
        log.raw(t + 0.4, f"Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 231, in <module>\n    main()\nRuntimeError: DataLoader worker (pid {m.pid + 8}) is killed by signal: Killed.")
        m.exit(t + 1.5, 1)
        right = ["code.host_oom"]
    else:
        m.log(t, "systemd", "train.service: Service reached runtime time limit. Stopping." if m.system != "el7" else "train.service: Service runtime time limit reached. Stopping.")
        cleanup(t + 0.2)
        m.exit(t + 1.5, 1 if words else 0)
        right = ["code.deadline"]
    c.expect(right, "the program says in its own way that it was stopped", actor=actor)
    finish(c, m, log, t + 600)


@family("vm.oncall", "oom_then_restart own_then_restart segv_then_stop panic_then_reboot nfs_then_reboot nfsok_then_reboot xid_then_reboot", 6)
def oncall(c):
    """Somebody cleans up seconds or minutes after what really ended the run."""
    m, log = vm(c, pid=True)
    t, who, mild = c.between(900, 1500), c.pick(*PEOPLE), []
    first, then = c.variant.split("_then_")
    log.steps(1, t)
    later = t + c.pick(4, 12, 40, 200)
    if first == "oom":
        m.oom_own(t, True)
        right = ["code.host_oom"]
    elif first == "own":
        log.traceback(t, *c.pick(*OWN_ERRORS))
        m.exit(t + 0.5, 1)
        right = OWN
    elif first == "segv":
        m.segfault(t, "python3", m.pid)
        log.raw(t + 0.1, "Fatal Python error: Segmentation fault")
        m.exit(t + 0.5, -11)
        right = ["code.segfault"]
    elif first == "panic":
        m.kernel(t, "Kernel panic - not syncing: Fatal exception in interrupt")
        m.boots(t + 150)
        later = t + 300
        right = ["node.kernel_panic"]
    elif first == "nfsok":
        # The server answers again and the run trains on, until somebody reboots the machine.
        m.kernel(t + 2, "nfs: server 10.0.0.9 not responding, still trying")
        m.kernel(t + 30, "nfs: server 10.0.0.9 OK")
        later = t + 600
        log.steps(t + 31, later)
        right = ["node.reboot"]
    elif first == "nfs":
        m.kernel(t + 2, "nfs: server 10.0.0.9 not responding, still trying")
        later = t + 900
        right, mild = ["dep.storage", "dep.volume"], ["node.reboot"]
    else:
        m.xid(t + 0.3, 79)
        log.traceback(t + 3, "torch.AcceleratorError: CUDA error: unspecified launch failure", "    loss.backward()")
        m.exit(t + 3.4, 1)
        later = t + 3.4 + c.pick(6, 30, 200)
        right = ["hw.gpu"]
    if then in ("restart", "stop"):
        m.sudo(later, who, f"/usr/bin/systemctl {then} train")
        if then == "restart":
            m.start(later + 0.5)
    else:
        person_reboots(c, m, later)
        if first not in ("nfs", "nfsok"):
            m.lines = [row for row in m.lines if not (row[0] > later and row[2] == "systemd" and ("train" in row[4] or "LLM" in row[4]))]
        m.boots(later + 80)
    c.expect(right, "somebody cleans up later", mild=mild)
    finish(c, m, log, later + 600)


@family("vm.steps_after", "xid79 nvlink link mem disk nfs xid48 pcie lockup oom_docker", 8)
def steps_after(c):
    """A fault, some steps, and an end that nothing explains: a guess at most."""
    m, log = vm(c, step=4)
    t = c.between(800, 1200)
    steps = (3, 5, 8, 12, 20, 40, 80, 150)[c.number]
    trouble(c, m, t, c.variant)
    end = t + 4 * (steps + 1) + 3
    log.steps(1, end - 1)
    m.exit(end, (1, -9, 137, -15)[c.number % 4])
    c.expect(NOBODY, f"{steps} steps after the fault", mild=["hw.gpu", "hw.nvlink_fabric", "hw.nic", "hw.memory", "hw.disk", "dep.storage", "hw.gpu_memory", "hw.pcie", "node.system_oom", "code.host_oom", "ops.manual_delete", "node.kernel_panic"])
    finish(c, m, log, end + 500)


KINDS = {"hw": ["hw.gpu", "hw.nvlink_fabric", "hw.nic", "hw.memory", "hw.disk", "hw.pcie", "hw.gpu_memory", "hw.power", "hw.board", "hw.thermal", "dep.storage", "node.system_oom", "code.host_oom",
                "node.conntrack_full", "node.clock", "dep.network", "node.cpu_starvation", "node.runtime", "node.driver", "node.kernel_panic", "ops.manual_delete"]}


@family("vm.coincident", "xid79 xid48 nvlink link oom_host oom_docker disk nfs mem lockup pcie runtime fork files conntrack clock hung oops driver", 6)
def coincident(c):
    """The machine's trouble is seconds old when the program fails for a reason of its own, which it names."""
    m, log = vm(c, pid=True)
    end = c.between(900, 1500)
    t = end - c.pick(2, 4, 9, 20, 50)
    log.steps(1, end - 1)
    lines = {"fork": "cgroup: fork rejected by pids controller in /docker/0a1b2c", "files": "VFS: file-max limit 500000 reached", "conntrack": "nf_conntrack: nf_conntrack: table full, dropping packet",
             "hung": f"INFO: task kworker/u256:3:{m.pid + 9} blocked for more than 120 seconds.", "oops": "BUG: unable to handle page fault for address: ffffc90000000000"}
    if c.variant in lines:
        m.kernel(t, lines[c.variant])
    elif c.variant == "clock":
        m.log(t, "chronyd", "System clock wrong by 12.345678 seconds")
    elif c.variant == "driver":
        stamp = c.at(t)
        m.sudo(t - 30, "carol", "/usr/bin/apt-get -y install nvidia-driver-550")
        c.write(f"{m.folder}/apt-history.log", f"\nStart-Date: {stamp:%Y-%m-%d  %H:%M:%S}\nCommandline: apt-get -y install nvidia-driver-550\nUpgrade: nvidia-driver-550:amd64 (550.54.14, 550.90.07)\nEnd-Date: {stamp:%Y-%m-%d  %H:%M:%S}\n")
    else:
        trouble(c, m, t, c.variant)
    log.traceback(end - 0.4, *c.pick(*OWN_ERRORS))
    m.exit(end, 1)
    c.expect(OWN, "the program names a reason of its own", mild=KINDS["hw"])
    finish(c, m, log, end + 500)


@family("vm.sel", "redundancy power_after other_host old correctable temp_warning drive power_real", 6)
def sel(c):
    """What a BMC wrote beside the machine's journal."""
    m, log = vm(c)
    end = c.between(900, 1500)
    def row(n, t, sensor, text, to="Asserted"):
        when = c.at(t)
        return f" {n:>3x} | {when:%m/%d/%Y} | {when:%H:%M:%S} | {sensor} | {text} | {to}\n"
    folder, real = m.folder, c.variant == "power_real"
    log.steps(1, end - 1)
    if real:
        text = row(81, end, "Power Supply #0x51", "Power Supply AC lost") + row(82, end, "Power Supply #0x52", "Power Supply AC lost") + row(83, end, "Power Unit #0x01", "Power off/down")
        right, actor = ["hw.power", "node.shutdown"], None
        m.dies(end)
        m.boots(end + 300)
    else:
        right = fails(c, m, log, end)
        text = {"redundancy": row(81, end - 5, "Power Supply #0x51", "Power Supply AC lost") + row(82, end - 5, "Power Unit #0x02", "Redundancy Lost"),
                "power_after": row(81, end + 30, "Power Supply #0x51", "Power Supply AC lost") + row(82, end + 30, "Power Supply #0x52", "Power Supply AC lost") + row(83, end + 30, "Power Unit #0x01", "Power off/down"),
                "other_host": row(81, end - 3, "Power Unit #0x01", "Power off/down"), "old": row(81, end - 90000, "Power Unit #0x01", "Power off/down"),
                "correctable": row(81, end - 4, "Memory #0x0a", "Correctable ECC"), "temp_warning": row(81, end - 4, "Temperature #0x30", "Upper Non-critical going high"),
                "drive": row(81, end - 4, "Drive Slot / Bay #0x60", "Predictive Failure")}[c.variant]
        if c.variant == "other_host":
            folder = "gpu-09"
            far = Machine(c, "gpu-09")
            far.noise(-500, end)
            far.save()
        if c.variant == "power_after":
            m.dies(end + 30)
            m.boots(end + 400)
    c.write(f"{folder}/ipmi-sel.txt", text)
    c.expect(right, "a BMC's log", mild=NOBODY + ["hw.disk"] if not real else ())
    finish(c, m, log, end + 700)


@family("vm.crash_in_teardown", "stop_segv reboot_segv stop_abort poweroff_segv oom_then_137 xid_abort nccl_abort", 6)
def crash_in_teardown(c):
    """A program that is told to stop may crash while it stops; a watchdog that gives up aborts it."""
    m, log = vm(c, pid=True)
    t, who, actor, mild = c.between(900, 1500), c.pick(*PEOPLE), None, []
    kind, how = c.variant.rsplit("_", 1)
    signal = {"segv": -11, "abort": -6}.get(how, -11)
    log.steps(1, t)
    if kind == "stop":
        m.sudo(t, who, "/usr/bin/systemctl stop train")
        m.log(t + 0.3, "systemd", f"Stopping {m.named('train', 'LLM training')}...")
        m.segfault(t + 1.2, "python3", m.pid) if signal == -11 else None
        m.exit(t + 1.5, signal)
        right, actor = ["ops.manual_delete"], [who]
    elif kind in ("reboot", "poweroff"):
        who = person_reboots(c, m, t, kind)
        m.lines = [row for row in m.lines if not (row[0] > t and row[2] == "systemd" and row[4].startswith(("train", "Unit train")))]
        m.segfault(t + 1.4, "python3", m.pid)
        m.exit(t + 1.7, -11)
        m.boots(t + 200)
        right, actor = (["node.reboot"] if kind == "reboot" else ["node.shutdown", "ops.manual_delete"]), [who]
    elif c.variant == "oom_then_137":
        # A worker was killed long before; the last end is nobody's.
        group = "/system.slice/train.service"
        m.oom(t - 600, "python3", m.pid + 31, group, group)
        m.exit(t + 0.4, 137)
        right, mild = ["unknown"], ["code.host_oom", "ops.manual_delete", "code.exception", "node.system_oom"]
    elif kind == "xid":
        m.xid(t + 0.2, 79)
        log.say(t + 2, "[rank0]: [E] ProcessGroupNCCL's watchdog got an exception: CUDA error: unspecified launch failure", "ERROR")
        log.raw(t + 2.1, "terminate called after throwing an instance of 'c10::DistBackendError'")
        m.exit(t + 3, -6)
        right = ["hw.gpu"]
    else:
        log.say(t + 600, "[rank0]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4711, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.", "ERROR")
        log.raw(t + 600.1, "terminate called after throwing an instance of 'c10::DistBackendError'")
        m.exit(t + 601, -6)
        right = ["hang.collective_timeout"]
    c.expect(right, "a crash that is the end of something else", actor=actor, mild=mild)
    finish(c, m, log, t + 900)


@family("vm.similar", "oom_unit stop_unit segv_unit exit_unit template runtime_unit", 6)
def similar(c):
    """Units whose names begin alike: train, train-eval, train@2, pretrain."""
    m, log = vm(c, pid=True)
    t, who, pid = c.between(900, 1500), c.pick(*PEOPLE), m.pid + 400
    unit = c.pick("train-eval", "train@2", "pretrain", "train2", "train.eval") if c.variant != "template" else "train@2"
    end = t + c.pick(1, 4, 12)
    log.steps(1, end - 0.5)
    m.start(-30, unit)
    if c.variant in ("oom_unit", "template"):
        group = f"/system.slice/system-train.slice/{unit}.service" if "@" in unit else f"/system.slice/{unit}.service"
        m.oom(t, "python3", pid, group, group)
        if m.system != "el7":
            m.log(t + 0.2, "systemd", f"{unit}.service: A process of this unit has been killed by the OOM killer.")
        m.exit(t + 0.3, -9, unit, "oom-kill")
    elif c.variant == "stop_unit":
        m.sudo(t, who, f"/usr/bin/systemctl stop {unit}")
        m.stop(t + 0.2, unit)
    elif c.variant == "segv_unit":
        m.segfault(t, "python3", pid)
        m.exit(t + 0.3, -11, unit)
    elif c.variant == "runtime_unit":
        m.log(t, "systemd", f"{unit}.service: Service reached runtime time limit. Stopping.")
        m.exit(t + 0.4, -15, unit)
    else:
        m.exit(t, -9, unit)
    if c.number % 2:
        m.exit(end, -9)
        right, mild = ["unknown"], ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]
    else:
        right, mild = fails(c, m, log, end), NOBODY
    c.expect(right, f"what befalls {unit} is not the run's", mild=mild)
    finish(c, m, log, end + 600)


@family("vm.namesakes", "two_domains two_domains_own_known ec2_two", 6)
def namesakes(c):
    """Two machines of one short name."""
    c.form = "rsyslog" if c.form == "syslog" else c.form
    one, two = ("gpu-07.a.example", "gpu-07.b.example") if c.variant != "ec2_two" else ("ip-10-0-3-7.ec2.internal", "ip-10-0-3-7.eu-west-1.compute.internal")
    folder = one if c.variant == "two_domains_own_known" else one.split(".")[0]
    m, log = vm(c, one, folder)
    m.lines = [row for row in m.lines if "LLM" not in row[4]] if c.variant != "two_domains_own_known" else m.lines
    far = Machine(c, two, f"journals/{two}")
    far.noise(-900, 2500)
    t = c.between(900, 1500)
    log.steps(1, t + 2)
    person_reboots(c, far, t)
    far.boots(t + 80)
    log.traceback(t + 3, *c.pick(*OWN_ERRORS))
    m.folder = f"journals/{one}"
    m.noise(5, t + 500)
    m.save()
    far.save()
    log.save()
    c.expect(OWN, "a machine of the same short name is rebooted", mild=["node.reboot"])


@family("vm.notime", "stop oom reboot panic poweroff own bare other_oom other_stop after_xid after_stop segv running", 9)
def notime(c):
    """The program's log has no times: bare words, a progress bar, or JSON lines (which have)."""
    m = Machine(c)
    log = Train(c, f"{m.folder}/train.log", ("bare", "tqdm", "json")[c.number % 3])
    m.noise(-1500, 0)
    m.start(0)
    log.begin(1, m.pid)
    t, actor, mild = c.between(900, 1500), None, []
    log.steps(1, t)
    kind = c.variant.split("_")[-1]
    if c.variant == "running":
        right = ["none.running", "unknown"]
        m.log(t + 1, "sshd", "Accepted publickey for alice from 10.0.0.4 port 50122 ssh2", 41002)
    elif c.variant.startswith("other"):
        trouble(c, m, t - 3, "oom_host") if kind == "oom" else m.sudo(t - 3, "carol", "/usr/bin/systemctl stop jupyter")
        right, mild = fails(c, m, log, t + 0.6), NOBODY
    elif c.variant.startswith("after"):
        right, mild = fails(c, m, log, t + 0.6), NOBODY
        later = t + 0.6 + c.pick(2, 8, 40)
        m.xid(later, 79) if kind == "xid" else m.sudo(later, "carol", "/usr/bin/systemctl stop train")
    else:
        right, actor = last_act(c, m, log, t + 0.6, c.variant)
    c.expect(right, "a log without times", actor=actor, mild=mild)
    finish(c, m, log, t if c.variant == "running" else t + 600)


@family("vm.own_xid", "31 94 48 other_gpu_of_run", 6)
def own_xid(c):
    """A GPU's record names the run's own process, and the program says what it felt."""
    m, log = vm(c, pid=True)
    t = c.between(900, 1500)
    log.steps(1, t)
    code = int(c.variant) if c.variant.isdigit() else 79
    m.xid(t + 0.2, code, "0000:9b:00", m.pid if code != 79 else None, "python3")
    error = {31: "torch.AcceleratorError: CUDA error: an illegal memory access was encountered", 94: "torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered",
             48: "torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered", 79: "torch.AcceleratorError: CUDA error: unspecified launch failure"}[code]
    log.traceback(t + 2, error, "    loss.backward()")
    m.exit(t + 2.6, 1)
    c.expect({31: ["code.exception", "hw.gpu"], 79: ["hw.gpu"]}.get(code, ["hw.gpu_memory", "hw.gpu"]), "the record names the run's own process")
    finish(c, m, log, t + 500)


@family("vm.nohup", "oom oom_word kill kill_word segv segv_word reboot panic poweroff other_oom other_kill other_segv oom_after earlyoom pkill", 6)
def nohup(c):
    """A program that somebody started in a session: no service tells of its end."""
    m = Machine(c)
    log = Train(c, f"{m.folder}/train.log")
    m.noise(-1500, 0)
    m.log(-3, "systemd-logind", "New session 3 of user alice.")
    log.begin(1, m.pid)
    t, who, actor, mild = c.between(900, 1500), c.pick(*PEOPLE), None, []
    scope, word = "/user.slice/user-1000.slice/session-3.scope", c.variant.endswith("_word")
    kind = c.variant.replace("_word", "")
    log.steps(1, t)
    if kind == "oom":
        m.oom(t + 0.3, "python3", m.pid, scope)
        right, said = ["node.system_oom", "code.host_oom"], "Killed"
    elif kind == "kill":
        m.sudo(t + 0.3, who, f"/usr/bin/kill -9 {m.pid}")
        right, actor, said = ["ops.manual_delete"], [who], "Killed"
    elif kind == "pkill":
        m.sudo(t + 0.3, who, "/usr/bin/pkill -9 -f train.py")
        right, actor = ["ops.manual_delete"], [who]
    elif kind == "segv":
        m.segfault(t + 0.3, "python3", m.pid)
        right, said = ["code.segfault"], "Segmentation fault      (core dumped)"
    elif kind == "earlyoom":
        m.log(t + 0.3, "earlyoom", f'sending SIGKILL to process {m.pid} uid 1000 "python3": badness 1188, VmRSS 57216 MiB')
        right = ["node.system_oom", "code.host_oom"]
    elif kind in ("reboot", "panic", "poweroff"):
        right, actor = last_act(c, m, log, t + 0.3, kind)
        m.lines = [row for row in m.lines if not (row[0] > t and row[2] == "systemd" and ("train" in row[4] or "LLM" in row[4]))]
    else:
        if kind == "other_oom":
            trouble(c, m, t - 3, "oom_docker")
        elif kind == "other_kill":
            m.sudo(t - 3, who, f"/usr/bin/kill -9 {m.pid + 500}")
        elif kind == "other_segv":
            m.segfault(t - 3, "node_exporter", m.pid + 500)
        log.traceback(t + 0.5, *c.pick(*OWN_ERRORS))
        if kind == "oom_after":
            m.oom(t + c.pick(2, 10, 50), "python3", m.pid + 800, "/user.slice/user-1007.slice/session-9.scope")
        right = OWN
    if word:
        log.raw(t + 0.6, f"run.sh: line 12: {m.pid} {said}                 python3 train.py --config c.yaml")
    c.expect(right, "a program in somebody's session", actor=actor, mild=mild)
    finish(c, m, log, t + 600)


@family("vm.docker", "oom oom_host oom_other own stop kill_other exit137 segv other_container running completed reboot", 6)
def docker(c):
    """A container on a bare machine: its log, what `docker inspect` shows, and the machine's journal."""
    m = Machine(c)
    log = Train(c, f"{m.folder}/train.log")
    m.noise(-1500, 0)
    log.begin(1)
    ids = [f"{c.rng.getrandbits(256):064x}" for _ in range(2)]
    v2 = c.number % 2 == 0
    group = [f"/system.slice/docker-{one}.scope" if v2 else f"/docker/{one}" for one in ids]
    t, who, actor, mild = c.between(900, 1500), c.pick(*PEOPLE), None, []
    log.steps(1, t)
    code, killed, status = 137, False, "exited"
    if c.variant in ("oom", "oom_host"):
        m.oom(t + 0.2, "python3", m.pid, group[0], group[0] if c.variant == "oom" else None)
        killed = c.variant == "oom"
        right = ["code.host_oom"] if killed else ["node.system_oom", "code.host_oom"]
    elif c.variant == "stop":
        m.sudo(t, who, "/usr/bin/docker stop train")
        m.log(t + 10.2, "dockerd", f'time="{iso(c.at(t + 10.2), 6)}Z" level=info msg="Container failed to exit within 10s of signal 15 - using the force" container={ids[0]}')
        right, actor = ["ops.manual_delete"], [who]
    elif c.variant == "segv":
        m.segfault(t + 0.2, "python3", m.pid)
        code, right = 139, ["code.segfault"]
    elif c.variant == "exit137":
        right, mild = ["unknown"], ["code.host_oom", "ops.manual_delete", "node.system_oom", "code.exception"]
    elif c.variant == "completed":
        log.say(t + 0.5, "training completed, saved final checkpoint")
        code, right = 0, ["none.completed"]
    elif c.variant == "running":
        code, status, right = 0, "running", ["none.running"]
    elif c.variant == "reboot":
        right, actor = last_act(c, m, log, t, "reboot")
        m.lines = [row for row in m.lines if not (row[0] > t and row[2] == "systemd" and ("train" in row[4] or "LLM" in row[4]))]
        code = 143
    else:
        if c.variant == "oom_other":
            m.oom(t - 3, "python3", m.pid + 99, group[1], group[1])
        elif c.variant == "kill_other":
            m.sudo(t - 3, who, "/usr/bin/docker kill jupyter")
        log.traceback(t + 0.6, *c.pick(*OWN_ERRORS))
        code, right = 1, OWN
    end = t + (10.3 if c.variant == "stop" else 1)
    def shown(name, id, code, killed, end, status="exited"):
        return {"Id": id, "Created": iso(c.at(-1), 6) + "Z", "Path": "python3", "Args": ["train.py"], "Name": f"/{name}", "RestartCount": 0, "Image": "sha256:" + id[::-1],
                "State": {"Status": status, "Running": status == "running", "Paused": False, "Restarting": False, "OOMKilled": killed, "Dead": False, "Pid": m.pid if status == "running" else 0,
                          "ExitCode": code, "Error": "", "StartedAt": iso(c.at(0), 6) + "Z", "FinishedAt": iso(c.at(end), 6) + "Z" if status != "running" else "0001-01-01T00:00:00Z"},
                "HostConfig": {"NetworkMode": "host", "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0}, "Memory": 0}, "Config": {"Hostname": m.host, "Image": "lab/train:2.3"}}
    all_shown = [shown("train", ids[0], code, killed, end, status)]
    if c.variant in ("oom_other", "other_container"):
        all_shown.append(shown("eval", ids[1], 137, True, t - 2.9))
    c.write(f"{m.folder}/docker-inspect.json", json.dumps(all_shown, indent=1))
    m.noise(5, t + 500 if c.variant != "running" else t)
    m.save()
    log.save()
    c.expect(right, "a container on a bare machine", actor=actor, mild=mild)


@family("vm.local_syslog", "own_unit own_unit_reboot_same_digits reboot_own panic_same_digits stop_own nothing_reboot_same_digits", 6)
def local_syslog(c):
    """A syslog without year and zone, in local time; the program writes UTC."""
    c.form = "syslog"
    hours = c.pick(-7, -5, 2, 9)
    m, log = vm(c, skew=3600.0 * hours)
    log.form = "iso"
    t = c.between(900, 1500)
    actor, mild = None, []
    digits = "same_digits" in c.variant
    log.steps(1, t)
    if c.variant in ("reboot_own", "stop_own"):
        right, actor = last_act(c, m, log, t + 0.4, c.variant.split("_")[0])
        mild = ["unknown"]
        right = right + ["unknown", "none.running"]
    elif c.variant.startswith("nothing"):
        # The log is all that is known of the run's end.
        log.traceback(t, *c.pick(*OWN_ERRORS))
        right, mild = OWN, ["node.reboot"]
        m.lines = [row for row in m.lines if "LLM" not in row[4]]
    else:
        right, mild = fails(c, m, log, t + 0.6), NOBODY + ["node.reboot", "node.kernel_panic", "none.running"]
    if digits:
        # By the clock on the wall this stands where the run ended in UTC: hours before or after it.
        shifted_t = t + 0.6 - 3600.0 * hours + c.pick(1, 3)
        last_act(c, m, log, shifted_t, "panic" if "panic" in c.variant else "reboot")
        m.lines = [row for row in m.lines if not (row[0] > shifted_t - 1 and row[0] < shifted_t + 100 and row[2] == "systemd" and ("train" in row[4] or "LLM" in row[4]))]
    c.expect(right, f"a syslog in a zone of {hours} h", actor=actor if digits else None, mild=mild)
    finish(c, m, log, t + 600)


@family("vm.flat", "reboot stop oom panic own other_oom two_journals subfolder", 6)
def flat(c):
    """Log and journal side by side in one folder without a machine's name."""
    m, log = vm(c, pid=True)
    m.folder, log.path = "logs", "logs/train.log"
    t, actor, mild = c.between(900, 1500), None, []
    log.steps(1, t)
    if c.variant == "other_oom":
        trouble(c, m, t - 2, "oom_docker")
        right, mild = fails(c, m, log, t + 0.5), NOBODY
    elif c.variant == "two_journals":
        # Nobody can say on which of the two the program ran.
        near = Machine(c, "gpu-08", "logs")
        near.noise(-900, 2000)
        person_reboots(c, near, t + 0.2)
        near.boots(t + 80)
        near.save(f"logs/gpu-08-{'journal.json' if near.form == 'json' else 'journal.log'}")
        right, mild = fails(c, m, log, t + 2), NOBODY + ["node.reboot"]
    else:
        right, actor = last_act(c, m, log, t + 0.3, {"subfolder": "stop"}.get(c.variant, c.variant))
    if c.variant == "subfolder":
        m.folder = "logs/journal"
    c.expect(right, "files side by side", actor=actor, mild=mild)
    finish(c, m, log, t + 600)


@family("vm.zone", "reboot_offset same_digits naive_beside_offset panic_offset same_digits_panic", 6)
def zone(c):
    """The journal names an offset of two hours; the program's log is in UTC, or by the machine's own clock."""
    c.form = "short-iso"
    m, log = vm(c)
    m.offset = 2
    log.form = "logging" if c.variant == "naive_beside_offset" else "iso"
    end = c.between(900, 1500)
    log.steps(1, end - 0.2)
    kind = "panic" if "panic" in c.variant else "reboot"
    if c.variant.startswith("same_digits"):
        # What reads like the log's end in the journal was two hours before it, when the run was not there yet.
        last_act(c, m, log, end - 7200, kind)
        right, actor = fails(c, m, log, end), None
    else:
        right, actor = last_act(c, m, log, end, kind)
    m.noise(5, end + 900)
    m.save()
    if c.variant == "naive_beside_offset":
        log.lines = [(t, shift(text, 2)) for t, text in log.lines]
    log.save()
    c.expect(right, "offsets of zones", actor=actor, mild=NOBODY if c.variant.startswith("same") else ())


@family("vm.running", "xid79 link oom_docker nfs segv_other disk shutdown30 refused reboot_before earlyoom nothing", 6)
def running(c):
    """The run goes on to the end of what is known."""
    m, log = vm(c, pid=True, step=4)
    end = 1500
    log.steps(1, end)
    if c.variant == "shutdown30":
        m.sudo(end - 200, "carol", "/usr/sbin/shutdown -r +30")
    elif c.variant == "refused":
        m.sudo(end - 200, "carol", "/usr/sbin/reboot", refused=True)
    elif c.variant == "reboot_before":
        person_reboots(c, m, -300)
        m.boots(-200)
    elif c.variant != "nothing":
        trouble(c, m, end - c.between(60, 700), c.variant)
        if c.variant == "nfs":
            m.kernel(end - 40, "nfs: server 10.0.0.9 OK")
    m.noise(5, end)
    m.log(end + 1, "sshd", "Accepted publickey for alice from 10.0.0.4 port 50122 ssh2", 41002)
    m.save()
    log.save()
    c.expect(["none.running", "unknown"], "the run goes on")


def shift(text, hours):
    """A line's local time, some hours later."""
    from datetime import datetime, timedelta
    try:
        when = datetime.strptime(text[:19], "%Y-%m-%d %H:%M:%S")
    except ValueError:
        return text
    return f"{when + timedelta(hours=hours):%Y-%m-%d %H:%M:%S}" + text[19:]


import slurm_families  # noqa: E402,F401
import cloud_families  # noqa: E402,F401
