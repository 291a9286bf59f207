"""Twins for the mending: reboots that leave no word, devices that fail beside a harmless command; yearless journals beside errors that were caught; torchrun's folders of attempts."""

from kit import BEFORE, NOBODY, OWN, PEOPLE, bystander, family, finish, goes_away, vm
from q_logs import CAUGHT
from world import Aws, Azure, DAYS, Gce, MONTHS, Machine, OWN_ERRORS, Slurm, Train, iso

KILLED = ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]

FORCED = ("/usr/sbin/reboot -f", "/usr/sbin/reboot -ff", "/usr/bin/systemctl reboot --force --force", "/usr/bin/systemctl reboot -f", "/usr/bin/tee /proc/sysrq-trigger", "/usr/bin/ipmitool chassis power cycle", "/usr/bin/ipmitool power reset", "/usr/sbin/kexec -e", "/usr/sbin/reboot", "/usr/bin/systemctl reboot", "/usr/sbin/init 6", "/usr/sbin/shutdown -r now")


@family("n.forced", "boots_soon journal_ends log_and_auth_only boots_soon_other_act", len(FORCED))
def forced(c):
    """A machine that is rebooted without a word of going down: the last lines are lost with it, the next is the kernel's of a new boot; or the journal that is there ends with the request."""
    m, log = vm(c, step=5)
    t, v, who = c.between(900, 1500), c.variant, c.pick(*PEOPLE)
    log.steps(1, t)
    m.sudo(t + 0.3, who, FORCED[c.number])
    right, mild, actor, until = ["node.reboot"], [], [who], 3000
    m.dies(t + c.pick(0.6, 2, 6))
    if v == "boots_soon":
        m.boots(t + c.between(60, 240))
    elif v == "boots_soon_other_act":
        other = c.pick(*[one for one in PEOPLE if one != who])
        m.sudo(t - 8, other, c.pick("/usr/bin/systemctl restart jupyter", "/usr/bin/kill -9 %d" % (m.pid + 500), "/usr/bin/docker stop eval"))
        m.boots(t + c.between(60, 240))
    elif v == "journal_ends":
        until = t + 0.2
        right = ["node.reboot", "unknown", "none.running"]
        actor = None
    else:
        m.boots(t + c.between(60, 240))
        m.lines = [row for row in m.lines if row[2] in ("sudo", "sshd", "systemd-logind")]
        right, actor, mild = ["node.reboot", "unknown", "none.running"], None, []
    if FORCED[c.number].startswith(("/usr/bin/tee", "/usr/bin/ipmitool", "/usr/sbin/kexec")):
        actor = None
        right = right + ["node.shutdown"]
    m.noise(5, until) if v != "log_and_auth_only" else None
    m.save()
    log.save()
    c.expect(right, f"{FORCED[c.number]}, {v}", mild=mild, actor=actor)


TWIN = ("/usr/sbin/ip link show ibp92s0", "/usr/sbin/ethtool ibp92s0", "/usr/sbin/ip link set eno2 down", "/usr/sbin/ip link set ibp92s0 up", "/usr/bin/ibstat mlx5_2", "/usr/sbin/ip -s link", "/usr/bin/ssh gpu-08 sudo ip link set ibp92s0 down", "/usr/sbin/ifdown eno2", "/usr/bin/nmcli device status", "/usr/sbin/ip link set ibp92s0 mtu 4092")


@family("n.harm_twin", "link disk xid79 nfs_silent", len(TWIN))
def harm_twin(c):
    """A device fails; somebody looked at it, or worked on another, seconds before."""
    m, log = vm(c, step=5)
    t, v, who = c.between(900, 1500), c.variant, c.pick(*PEOPLE)
    log.steps(1, t)
    m.sudo(t - c.pick(0.3, 1, 5), who, TWIN[c.number] if v == "link" else c.pick("/usr/bin/lsblk", "/usr/sbin/smartctl -a /dev/nvme1n1", "/usr/bin/nvidia-smi -q", "/usr/bin/mount -t nfs", "/usr/bin/df -h"))
    if v == "link":
        m.link(t + 0.2, "ibp92s0", False)
        log.traceback(t + 9, "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, unhandled system error, NCCL version 2.21.5", "    dist.all_reduce(x)")
        m.exit(t + 9.8, 1)
        right, mild = ["hw.nic"], ["code.exception"]
        if "mtu" in TWIN[c.number]:
            right = ["hw.nic", "ops.config_change", "ops.manual_delete", "unknown", "code.exception"]
    elif v == "nfs_silent":
        m.kernel(t + 0.5, "nfs: server 10.0.0.9 not responding, still trying")
        late = t + 900
        m.sudo(late, who, "/usr/bin/systemctl stop train")
        m.stop(late + 0.3)
        right, mild = ["dep.storage"], []
    else:
        right, mild, _ = goes_away(c, m, log, t, v)
    c.expect(right, f"a device fails beside a harmless command: {v}", mild=mild)
    finish(c, m, log)


@family("n.yearless_caught", "own oom_unit segv stop reboot poweroff panic killed completed", 20)
def yearless_caught(c):
    """A yearless syslog; minutes before, an error that the program caught or a record of another's trouble; steps between."""
    c.form = "syslog"
    c.system = ("u22", "el7", "u24", "el8", "el9")[c.number % 5]
    m, log = vm(c)
    m.form = "syslog"
    t, v = c.between(1000, 1600), c.variant
    early = t - c.pick(60, 150, 400)
    log.steps(1, early)
    if c.number % 2:
        level, text, more = CAUGHT[(c.number // 2) % len(CAUGHT)]
        log.say(early + 0.2, text.replace("{p}", str(m.pid + 9)), level)
        if more:
            log.raw(early + 0.3, more)
    else:
        bystander(c, m, early, c.pick(*BEFORE))
    log.steps(early + 0.5, t)
    right, mild, actor = goes_away(c, m, log, t, v)
    c.expect(right, f"yearless, an error {t - early:.0f} s before, then {v}", mild=mild + ["unknown"], actor=None)
    finish(c, m, log)


@family("n.torchelastic", "a0_own_a1_completed a0_own_a1_own a0_own_a1_running a0_own_a1_killed a0_oom_a1_own", 6)
def torchelastic(c):
    """torchrun --redirects: logs/none_x/attempt_K/RANK/stdout.log and stderr.log."""
    v, mild = c.variant, []
    first, second = v.split("_")[1], v.split("_")[3]
    run = f"none_{c.rng.getrandbits(32):08x}"
    t1, start = c.between(300, 500), c.between(520, 560)
    t2 = start + c.between(400, 600)
    bad = c.pick(1, 2)
    for attempt, (begin, until, kind) in enumerate(((0, t1, first), (start, t2, second))):
        for rank in range(4):
            log = Train(c, f"logs/{run}/attempt_{attempt}/{rank}/stdout.log", form="logging", step=5)
            log.number = 100 + 60 * attempt
            log.say(begin + 1, f"starting rank={rank} world_size=4")
            log.steps(begin + 1, until)
            if kind == "completed":
                log.say(until + 1, "training completed, saved final checkpoint")
            log.save()
            err = "/opt/conda/lib/python3.11/site-packages/torch/x.py:460: UserWarning: please pass in use_reentrant=True\n  warnings.warn(\n"
            if rank == bad and kind == "own":
                error, where = c.pick(*OWN_ERRORS)
                err += f"Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 118, in main\n{where}\n{error}\n"
            if rank == bad and kind == "oom":
                err += "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.02 GiB is free.\n"
            c.write(f"logs/{run}/attempt_{attempt}/{rank}/stderr.log", err)
    agent = Train(c, "train.log", form="bare")
    def line(at, level, text):
        agent.raw(at, f"{level}{c.at(at):%m%d %H:%M:%S}.000000 4000 torch/distributed/elastic/{text}")
    line(0.5, "I", f"agent/server/api.py:525] [default] starting workers for entrypoint: python3")
    line(t1 + 2, "E", f"multiprocessing/api.py:869] failed (exitcode: 1) local_rank: {bad} (pid: 4100) of binary: /opt/conda/bin/python3")
    line(t1 + 3, "I", "agent/server/api.py:899] [default] Worker group FAILED. 1/1 attempts left; will restart worker group")
    until = None
    if second == "completed":
        line(t2 + 3, "I", "agent/server/api.py:879] [default] worker group successfully finished. Waiting 300 seconds for other agents to finish.")
        right = ["none.completed"]
    elif second == "own":
        line(t2 + 2, "E", f"multiprocessing/api.py:869] failed (exitcode: 1) local_rank: {bad} (pid: 4200) of binary: /opt/conda/bin/python3")
        right = OWN + ["unknown"]
    elif second == "killed":
        line(t2 + 2, "E", f"multiprocessing/api.py:869] failed (exitcode: -9) local_rank: {bad} (pid: 4200) of binary: /opt/conda/bin/python3")
        right, mild = ["unknown"], KILLED
    else:
        right, mild = ["none.running"], ["unknown"]
    agent.save()
    c.expect(right + (["none.running"] if second != "completed" and False else []), f"torchrun's folders: {v}", mild=mild, asked="train.log")
