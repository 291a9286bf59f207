"""More of the world: ways to kill, units that hang together, hypervisors, Xids, shells' last words, printed states, other batch systems, MPI, Ray, merged logs, chained exceptions, stages, timers, UPS."""

import json

from kit import NOBODY, OWN, PEOPLE, family, finish, goes_away, vm
from world import DAYS, MONTHS, Machine, OWN_ERRORS, Slurm, Train, iso

KILLED = ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]


def ok(m, at):
    if m.system != "el7":
        m.log(at, "systemd", f"{m.unit}.service: Succeeded." if m.system in ("u22", "el8") else f"{m.unit}.service: Deactivated successfully.")


KILLS = {
    # command, whether it ends our program (pid {p}, its child {k}), the signal
    "group": ("/usr/bin/kill -9 -- -{p}", 9), "group_term": ("/usr/bin/kill -- -{p}", 15), "many": ("/usr/bin/kill -9 {p} {k}", 9), "many_other_first": ("/usr/bin/kill -9 {k} {p}", 9),
    "systemctl_kill": ("/usr/bin/systemctl kill train", 15), "systemctl_kill9": ("/usr/bin/systemctl kill -s SIGKILL train.service", 9), "systemctl_kill_main": ("/usr/bin/systemctl kill --kill-whom=main --signal=9 train", 9),
    "fuser_gpu": ("/usr/bin/fuser -k /dev/nvidia0", 9), "xargs": ("/bin/bash -c nvidia-smi --query-compute-apps=pid --format=csv,noheader | xargs -n1 kill -9", 9), "pgrep": ("/bin/sh -c kill -9 $(pgrep -f train.py)", 9),
    "killall_python": ("/usr/bin/killall -9 python3", 9), "pkill_exact": ("/usr/bin/pkill -9 -x python3", 9), "pkill_session": ("/usr/bin/pkill -9 -f /home/alice/train.py", 9), "signal_word": ("/usr/bin/kill -s KILL {p}", 9), "sigkill": ("/usr/bin/kill -SIGKILL {p}", 9),
    "kill_n": ("/usr/bin/kill -n 9 {p}", 9), "python_os_kill": ("/usr/bin/python3 -c import os,signal; os.kill({p}, signal.SIGKILL)", 9), "cgroup_kill": ("/usr/bin/tee /sys/fs/cgroup/system.slice/train.service/cgroup.kill", 9), "loginctl": ("/usr/bin/loginctl terminate-user alice", 15),
}


@family("n.kills", " ".join(KILLS), 6)
def kills(c):
    """A person's command that ends the service's process, whatever its words."""
    m, log = vm(c, pid=c.number % 3 != 2)
    t, who = c.between(900, 1500), c.pick(*PEOPLE)
    log.steps(1, t)
    command, signal = KILLS[c.variant]
    m.sudo(t + 0.2, who, command.format(p=m.pid, k=m.pid + 13))
    m.exit(t + 0.4, -signal)
    right = ["ops.manual_delete"]
    # Where the log names no pid, a bare number may be of anything; by the moment it is still the likeliest.
    if "{p}" in command and c.number % 3 == 2 or c.variant in ("fuser_gpu", "xargs", "pgrep", "killall_python", "pkill_exact", "python_os_kill", "cgroup_kill", "loginctl"):
        right = right + ["unknown"]
        c.expect(right, f"killed by {command}", mild=KILLED)
    else:
        c.expect(right, f"killed by {command}", mild=[], actor=[who])
    finish(c, m, log)


NOT_OURS = ("/usr/bin/kill -9 -- -{o}", "/usr/bin/kill -9 {o} {o2}", "/usr/bin/systemctl kill -s SIGKILL train-eval.service", "/usr/bin/fuser -k /mnt/backup", "/usr/bin/pkill -9 -u bob", "/usr/bin/killall -9 firefox", "/usr/bin/kill -s KILL {o}",
            "/usr/bin/tee /sys/fs/cgroup/system.slice/jupyter.service/cgroup.kill", "/usr/bin/loginctl terminate-user bob", "/usr/bin/kill -0 {p}", "/usr/bin/kill -s WINCH {p}", "/usr/bin/kill -l", "/usr/bin/systemctl kill -s HUP rsyslog", "/usr/bin/docker kill notebook",
            "/usr/bin/pkill -9 -f tensorboard", "/usr/bin/timeout -s KILL 5 /usr/bin/du -s /scratch", "/usr/bin/kill -9 {short}", "/usr/bin/kill -9 {long}")


@family("n.kills_not", "killed term own bare", len(NOT_OURS))
def kills_not(c):
    """Somebody kills something else half a second before the end."""
    m, log = vm(c)
    m.pid = m.pid if m.pid > 10000 else m.pid + 10000
    log.lines = []
    log.begin(1, m.pid)
    t, who = c.between(900, 1500), c.pick(*PEOPLE)
    log.steps(1, t)
    o = m.pid + c.rng.randrange(300, 2000)
    m.sudo(t + 0.1, who, NOT_OURS[c.number].format(o=o, o2=o + 1, p=m.pid, short=str(m.pid)[:-1], long=f"{m.pid}1"))
    if c.variant == "term":
        m.exit(t + 0.4, -15)
        right, mild, actor = ["unknown"], ["ops.manual_delete", "code.exception"], None
    else:
        right, mild, actor = goes_away(c, m, log, t, c.variant)
    c.expect(right, f"{NOT_OURS[c.number]}, then {c.variant}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.bound", "umount_bindsto restart_dependency conflicts_start partof_target other_chain_own timer_stops timer_other slice_stop", 8)
def bound(c):
    """Units that hang together: systemd stops the service because another unit was stopped, or started."""
    m, log = vm(c)
    t, v, who, mild, actor = c.between(900, 1500), c.variant, c.pick(*PEOPLE), [], None
    log.steps(1, t)
    if v == "umount_bindsto":
        m.sudo(t + 0.1, who, "/usr/bin/systemctl stop data.mount")
        m.stop(t + 0.3)
        m.log(t + 1.9, "systemd", "Unmounted /data.")
        right, actor = ["ops.manual_delete"], None
    elif v == "restart_dependency":
        m.sudo(t + 0.1, who, "/usr/bin/systemctl restart nvidia-fabricmanager")
        m.stop(t + 0.3)
        m.log(t + 2.0, "systemd", f"Stopping {m.named('nvidia-fabricmanager', 'NVIDIA fabric manager service')}...")
        m.log(t + 2.6, "systemd", f"Started {m.named('nvidia-fabricmanager', 'NVIDIA fabric manager service')}.")
        right, actor, mild = ["ops.manual_delete", "node.driver"], None, []
    elif v == "conflicts_start":
        m.sudo(t + 0.1, who, "/usr/bin/systemctl start benchmark")
        m.stop(t + 0.3)
        m.log(t + 1.8, "systemd", f"Started {m.named('benchmark', 'GPU benchmark')}.")
        right, actor = ["ops.manual_delete"], None
    elif v == "partof_target":
        m.sudo(t + 0.1, who, "/usr/bin/systemctl stop gpu-jobs.target")
        m.log(t + 0.2, "systemd", "Stopped target GPU jobs.")
        m.stop(t + 0.3)
        right, actor = ["ops.manual_delete"], None
    elif v == "slice_stop":
        m.sudo(t + 0.1, who, "/usr/bin/systemctl stop gpu.slice")
        m.stop(t + 0.3)
        m.log(t + 1.8, "systemd", "Removed slice gpu.slice.")
        right, actor = ["ops.manual_delete"], None
    elif v in ("timer_stops", "timer_other"):
        name = "night-stop" if v == "timer_stops" else "logrotate"
        m.log(t + 0.1, "systemd", f"Starting {m.named(name, 'Stop training for the night' if v == 'timer_stops' else 'Rotate log files')}...")
        if v == "timer_stops":
            m.stop(t + 0.4)
            right, mild = ["ops.manual_delete"], ["unknown"]
        else:
            right, mild, actor = goes_away(c, m, log, t, "own")
    else:
        m.sudo(t - 3, who, "/usr/bin/systemctl restart data.mount")
        m.log(t - 2.8, "systemd", "Unmounted /data.")
        m.log(t - 2.6, "systemd", "Mounted /data.")
        right, mild, actor = goes_away(c, m, log, t, "own")
    c.expect(right, f"units that hang together: {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.virt", "qemu_oom virsh_destroy virsh_shutdown host_reboot other_guest_destroyed other_guest_oom host_panic guest_own_then_destroy", 8)
def virt(c):
    """A guest under libvirt, and the journal of the host it runs on."""
    guest = Machine(c, "trainer-1", system="u24", form=c.pick("rsyslog", "json", "short-iso-precise"))
    hv = Machine(c, "hv-03", system="el9", form=c.pick("rsyslog", "json", "short-iso"))
    log = Train(c, "trainer-1/train.log")
    for box in (guest, hv):
        box.noise(-900, 0)
    guest.start(0)
    log.begin(1, guest.pid)
    t, v, who, mild, actor = c.between(900, 1500), c.variant, c.pick(*PEOPLE), [], None
    log.steps(1, t)
    scope = "/machine.slice/machine-qemu\\x2d3\\x2dtrainer\\x2d1.scope"
    until = t
    if v == "qemu_oom":
        hv.oom(t + 0.2, "qemu-kvm", 331100, scope)
        hv.log(t + 0.6, "libvirtd", "internal error: qemu process for domain trainer-1 was killed by signal 9" if c.number % 2 else "Domain id=3 name='trainer-1' uuid=3f1c is shut off, reason: crashed")
        guest.dies(t + 0.2)
        right, mild = ["node.system_oom", "cloud.host_error", "unknown"], ["none.running", "code.host_oom", "hang.no_progress"]
    elif v in ("virsh_destroy", "virsh_shutdown"):
        hv.sudo(t + 0.2, who, f"/usr/bin/virsh {v.split('_')[1]} trainer-1")
        if v == "virsh_destroy":
            guest.dies(t + 0.3)
            right, mild = ["ops.manual_delete", "node.shutdown", "cloud.instance_terminated", "unknown"], ["none.running", "hang.no_progress"]
        else:
            guest.log(t + 0.6, "systemd-logind", "Power key pressed short.")
            guest.goes_down(t + 0.8, "poweroff")
            right, mild = ["ops.manual_delete", "node.shutdown"], []
    elif v == "host_reboot":
        hv.sudo(t + 0.2, who, "/usr/sbin/reboot")
        guest.log(t + 1.0, "systemd-logind", "Power key pressed short.")
        guest.goes_down(t + 1.2, "poweroff")
        hv.log(t + 0.8, "systemd-logind", "System is rebooting.")
        hv.boots(t + 300)
        guest.boots(t + 340)
        until = t + 600
        right, mild = ["node.shutdown", "ops.manual_delete", "node.reboot"], []
    elif v == "host_panic":
        hv.kernel(t + 0.2, "Kernel panic - not syncing: Fatal exception")
        hv.boots(t + 300)
        guest.dies(t + 0.2)
        guest.boots(t + 360)
        until = t + 600
        right, mild = ["node.kernel_panic", "node.reboot", "cloud.host_error", "unknown"], []
    elif v == "guest_own_then_destroy":
        right, mild, actor = goes_away(c, guest, log, t, "own")
        hv.sudo(t + 40, who, "/usr/bin/virsh destroy trainer-1")
        guest.dies(t + 40)
        until = t + 40
    else:
        if v == "other_guest_destroyed":
            hv.sudo(t - 1, who, "/usr/bin/virsh destroy trainer-11")
        else:
            hv.oom(t - 1, "qemu-kvm", 331100, scope.replace("trainer\\x2d1.", "trainer\\x2d2."))
        right, mild, actor = goes_away(c, guest, log, t, "own")
        until = t + 500
    guest.noise(5, until)
    hv.noise(5, t + 700)
    guest.save()
    hv.save()
    log.save()
    c.expect(right, f"a guest and its hypervisor: {v}", mild=mild, actor=actor)


XIDS = {"13": (OWN + ["hw.gpu"], "Graphics SM Warp Exception on (GPC 0, TPC 1, SM 0): Out Of Range Address"), "31": (OWN + ["hw.gpu", "hw.gpu_memory"], "Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f2a_00000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ"),
        "43": (OWN, "Ch 00000010"), "45": (OWN, "Ch 00000010"), "62": (["hw.gpu"], "0000(0000) 00000000 00000000"), "63": (OWN + ["hw.gpu_memory"], "Row Remapper: New row (0x00000000abcd1234) marked for remapping, reset gpu to activate."),
        "64": (["hw.gpu_memory"], "Row Remapper: remapping row failed"), "95": (["hw.gpu_memory"], "Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No"), "109": (["hw.gpu"] + OWN, "Ch 00000013, errorString CTX SWITCH TIMEOUT, Info 0x2c0050"),
        "120": (["hw.gpu"], "GSP task exception: Store access fault (cause:0x7)"), "140": (["hw.gpu_memory"], "Unrecovered ECC Error"), "149": (["hw.nvlink_fabric"], "NETIR_LINK_EVT Fatal XC0 i0 Link 04 (0x00000005 0x00000000)"),
        "154": (["hw.gpu", "unknown"] + OWN, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"), "48": (["hw.gpu_memory"], "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at partition 4, subpartition 0.")}


@family("n.xids", " ".join("x" + code for code in XIDS) + " " + " ".join("x" + code + "_after" for code in ("45", "43", "154", "79")) + " x63_long_before x13_other_pid", 6)
def xids(c):
    """One Xid at the last step and a CUDA error; or an Xid that a dead process leaves behind."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    log.steps(1, t)
    code, _, how = v[1:].partition("_")
    who = f"pid={m.pid}, name=python3"
    if how == "after":
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "oom_unit", "segv", "stop", "kill" if False else "own"))
        text = "GPU has fallen off the bus." if code == "79" else XIDS[code][1]
        m.kernel(t + c.between(3, 20), f"NVRM: Xid (PCI:0000:3b:00): {code}, {who if code != '79' else chr(39).join(('pid=', '<unknown>', ', name=<unknown>'))}, {text}")
    elif v == "x63_long_before":
        m.kernel(t - 400, f"NVRM: Xid (PCI:0000:3b:00): 63, pid='<unknown>', name=<unknown>, {XIDS['63'][1]}")
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "stop", "oom_unit"))
    elif v == "x13_other_pid":
        m.kernel(t - 1, f"NVRM: Xid (PCI:0000:9b:00): 13, pid={m.pid + 700}, name=jupyter-lab, {XIDS['13'][1]}")
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "bare"))
    else:
        right, text = XIDS[code]
        named = who if code in ("13", "31", "43", "45", "109", "63", "95", "48") else "pid='<unknown>', name=<unknown>"
        m.kernel(t + 0.2, f"NVRM: Xid (PCI:0000:3b:00): {code}, {named}, {text}")
        log.traceback(t + 1, "torch.AcceleratorError: CUDA error: " + {"31": "an illegal memory access was encountered", "13": "an illegal memory access was encountered", "48": "uncorrectable ECC error encountered", "95": "uncorrectable ECC error encountered",
                                                                      "140": "uncorrectable ECC error encountered"}.get(code, "unspecified launch failure"), "    loss.backward()")
        m.exit(t + 1.8, 1)
        mild = ["code.exception"]
    c.expect(right, f"Xid: {v}", mild=mild, actor=actor)
    finish(c, m, log)


LAST = {"segv": ("Segmentation fault (core dumped)", ["code.segfault"], []), "abrt": ("Aborted (core dumped)", ["code.segfault", "code.exception"], ["unknown"]), "bus": ("Bus error (core dumped)", ["code.segfault", "code.data_loader", "dep.storage"], ["unknown"]),
        "term": ("Terminated", ["unknown", "ops.manual_delete"], ["code.exception"]), "killed": ("Killed", ["unknown"], KILLED), "hup": ("Hangup", ["unknown", "ops.manual_delete"], []), "ill": ("Illegal instruction (core dumped)", ["code.segfault", "code.version_mismatch"], ["unknown"]),
        "fpe": ("Floating point exception (core dumped)", ["code.segfault"], ["unknown"]), "usr1": ("User defined signal 1", ["unknown", "ops.manual_delete"], ["code.exception"]), "alarm": ("Alarm clock", ["unknown", "code.deadline"], ["code.exception"]),
        "make": ("make: *** [Makefile:12: train] Error 137", ["unknown"], KILLED), "make_killed": ("make: *** [Makefile:12: train] Killed", ["unknown"], KILLED), "time": ("Command terminated by signal 9", ["unknown"], KILLED), "xargs": ("xargs: python3: terminated by signal 15", ["unknown", "ops.manual_delete"], ["code.exception"]),
        "npm": ("ERROR conda.cli.main_run:execute(49): `conda run python3 train.py` failed. (See above for error)", NOBODY, []), "docker": ("ERRO[0412] error waiting for container: unexpected EOF", ["unknown", "node.runtime"], ["code.exception"]), "poetry": ("error: Recipe `train` failed on line 4 with exit code 137", ["unknown"], KILLED)}


@family("n.lastword", " ".join(LAST), 8)
def lastword(c):
    """A shell's or a wrapper's last word: alone; beside a kernel that killed another; beside one that killed this; with a second life after it."""
    m = Machine(c, "gpu-07")
    log = Train(c, "gpu-07/train.log")
    m.noise(-900, 0)
    log.begin(1, m.pid)
    word, right, mild = LAST[c.variant]
    t = c.between(700, 1300)
    log.steps(1, t)
    mix = c.number % 4
    right, mild = list(right), list(mild)
    if mix == 1:
        # Another user's program is killed in that minute.
        m.oom(t - 20, "restic", m.pid + 900, "/system.slice/backup.service", "/system.slice/backup.service")
    log.raw(t + 0.5, f"./run.sh: line 7: {m.pid} {word}     python3 train.py" if c.number % 2 and not word.startswith(("make", "xargs", "ERR", "error", "Command")) else word)
    until = 3000
    if mix == 2:
        again = t + 30
        log.begin(again, m.pid + 50)
        last = log.steps(again, again + 400)
        right, mild, until = ["none.running"], ["unknown"], last + 3
    elif mix == 3 and c.variant in ("killed", "make_killed", "time"):
        m.oom(t + 0.3, "python3", m.pid, "/user.slice/user-1000.slice/session-31.scope")
        right, mild = ["node.system_oom", "code.host_oom"], []
    m.noise(5, until)
    m.save()
    log.save()
    c.expect(right, f"last word {word}, mix {mix}", mild=mild)


STATUS = {"oom": ("failed (Result: oom-kill)", "code=killed, signal=KILL", ["code.host_oom", "node.system_oom"], []), "exit1": ("failed (Result: exit-code)", "code=exited, status=1/FAILURE", NOBODY, []), "kill": ("failed (Result: signal)", "code=killed, signal=KILL", ["unknown"], KILLED),
          "segv": ("failed (Result: core-dump)", "code=dumped, signal=SEGV", ["code.segfault"], []), "timeout": ("failed (Result: timeout)", "code=killed, signal=TERM", ["code.deadline", "unknown"], ["ops.manual_delete"]), "watchdog": ("failed (Result: watchdog)", "code=killed, signal=ABRT", ["hang.watchdog", "hang.no_progress"], ["unknown"]),
          "done": ("inactive (dead)", "code=exited, status=0/SUCCESS", ["none.completed"], ["none.running", "unknown"]), "running": ("active (running)", None, ["none.running"], ["unknown"]), "restarting": ("activating (auto-restart) (Result: exit-code)", "code=exited, status=1/FAILURE", NOBODY, ["none.running"])}


@family("n.status", " ".join(STATUS), 8)
def status(c):
    """`systemctl status train`, printed; or `systemctl show train`; with the log and, at times, an older entry of the journal in it."""
    m = Machine(c, "gpu-07")
    log = Train(c, "gpu-07/train.log")
    log.begin(1, m.pid)
    active, main, right, mild = STATUS[c.variant]
    t = c.between(700, 1300)
    last = log.steps(1, t)
    right, mild = list(right), list(mild)
    if c.variant == "done":
        log.say(t + 0.2, "training completed, saved final checkpoint")
    at = c.at(t + 1)
    stamp = f"{DAYS[at.weekday()]} {at:%Y-%m-%d %H:%M:%S} UTC"
    if c.number % 2:
        result = active.split("Result: ")[1].rstrip(")") if "Result" in active else "success"
        code, sig = (2, {"KILL": 9, "SEGV": 11, "TERM": 15, "ABRT": 6}[main.split("signal=")[1]]) if main and "signal" in main else (1, 0 if not main else int(main.split("status=")[1].split("/")[0]))
        c.write("gpu-07/systemctl-show.txt", f"Type=simple\nRestart=no\nResult={result}\nExecMainStartTimestamp={DAYS[c.at(0).weekday()]} {c.at(0):%Y-%m-%d %H:%M:%S} UTC\nExecMainExitTimestamp={stamp if main else ''}\nExecMainPID={m.pid}\nExecMainCode={code if main else 0}\nExecMainStatus={sig if main else 0}\nId=train.service\nActiveState={active.split()[0]}\nSubState={'failed' if 'failed' in active else active.split('(')[1].rstrip(')').split()[0].rstrip(')')}\n")
    else:
        text = f"{'●' if main is None else '×'} train.service - LLM training\n     Loaded: loaded (/etc/systemd/system/train.service; disabled; preset: enabled)\n     Active: {active} since {stamp}; 3min 12s ago\n"
        if main:
            text += f"    Process: {m.pid} ExecStart=/usr/bin/python3 /home/alice/train.py ({main})\n   Main PID: {m.pid} ({main})\n        CPU: 3h 12min 41.214s\n\n"
            head = f"{MONTHS[at.month - 1]} {at.day:>2} {at:%H:%M:%S} gpu-07 systemd[1]: "
            text += head + f"train.service: Main process exited, {main.replace('signal=', 'status=9/').replace('9/SEGV', '11/SEGV').replace('9/TERM', '15/TERM').replace('9/ABRT', '6/ABRT')}\n"
            if "Result" in active:
                text += head + f"train.service: Failed with result '{active.split('Result: ')[1].rstrip(')')}'.\n"
        else:
            text += f"   Main PID: {m.pid} (python3)\n      Tasks: 211 (limit: 629145)\n     Memory: 412.1G\n     CGroup: /system.slice/train.service\n             └─{m.pid} /usr/bin/python3 /home/alice/train.py\n"
        c.write("gpu-07/systemctl-status.txt", text)
    log.save()
    c.expect(right, f"systemctl says {active}", mild=mild)


FIXED = {"oom": ("OUT_OF_ME+", "0:125", ["code.host_oom"], []), "cancelled": ("CANCELLED+", "0:0", ["ops.manual_delete"], ["unknown"]), "node_fail": ("NODE_FAIL", "0:0", ["node.not_ready"], ["unknown"]), "timeout": ("TIMEOUT", "0:0", ["code.deadline"], []), "preempted": ("PREEMPTED", "0:0", ["sched.preempted"], []),
         "completed": ("COMPLETED", "0:0", ["none.completed"], []), "failed": ("FAILED", "1:0", NOBODY, []), "running": ("RUNNING", "0:0", ["none.running"], ["unknown"]), "suspended": ("SUSPENDED", "0:0", ["unknown", "sched.preempted", "ops.manual_delete"], ["none.running"]), "deadline": ("DEADLINE", "0:0", ["code.deadline"], []),
         "requeued_running": ("RUNNING", "0:0", ["none.running"], ["unknown"])}


@family("n.fixed", " ".join(FIXED), 8)
def fixed(c):
    """`sacct -j JOB` in its fixed columns, where long words are cut off with a plus sign; or with other separators and epochs."""
    s = Slurm(c)
    j = s.job
    c.asked = str(j)
    log = Train(c, f"slurm-{j}.out")
    log.begin(2)
    t = c.between(700, 1300)
    log.steps(2, t)
    state, code, right, mild = FIXED[c.variant]
    if c.variant == "requeued_running":
        log.raw(t - 300, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t - 300))} DUE TO PREEMPTION ***")
        log.lines = [row for row in log.lines if not t - 299 < row[0] < t - 200]
    over = state not in ("RUNNING", "SUSPENDED")
    style = c.number % 4
    rows = [(f"{j}", "train", "gpu", "ml", "128", state, code), (f"{j}.batch", "batch", "", "ml", "128", {"TIMEOUT": "CANCELLED", "NODE_FAIL": "CANCELLED", "PREEMPTED": "CANCELLED", "CANCELLED+": "CANCELLED", "DEADLINE": "CANCELLED"}.get(state, state), {"TIMEOUT": "0:15"}.get(state, code)), (f"{j}.extern", "extern", "", "ml", "128", "COMPLETED" if over else state, "0:0")]
    if style == 0:
        text = "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n------------ ---------- ---------- ---------- ---------- ---------- -------- \n"
        text += "".join(f"{a:<12} {b:>10} {p:>10} {d:>10} {e:>10} {f:>10} {g:>8} \n" for a, b, p, d, e, f, g in rows)
    else:
        full = {"OUT_OF_ME+": "OUT_OF_MEMORY", "CANCELLED+": "CANCELLED by 2000"}
        sep = {1: "|", 2: ",", 3: "|"}[style]
        stamp = (lambda x: str(int(c.at(x).timestamp()))) if style == 3 else (lambda x: iso(c.at(x)))
        text = sep.join(("JobIDRaw" if style == 3 else "JobID", "State", "ExitCode", "Start", "End", "NodeList", "JobName")) + "\n"
        text += "".join(sep.join((a, full.get(f, f), g, stamp(t - 200 if c.variant == "requeued_running" else 0), stamp(t + 1) if over else "Unknown", "gpu07", b)) + "\n" for a, b, _, _, _, f, g in rows)
    c.write("sacct.txt", text)
    log.save()
    c.expect(right, f"sacct prints {state} ({style})", mild=mild)


OTHER = {"lsf_runlimit": ("TERM_RUNLIMIT: job killed after reaching LSF run time limit.\nExited with exit code 140.", ["code.deadline"]), "lsf_owner": ("TERM_OWNER: job killed by owner.\nExited with exit code 130.", ["ops.manual_delete"]), "lsf_admin": ("TERM_ADMIN: job killed by root or LSF administrator.\nExited with exit code 137.", ["ops.manual_delete"]),
         "lsf_mem": ("TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code 137.", ["code.host_oom"]), "lsf_exit1": ("Exited with exit code 1.", NOBODY), "lsf_done": ("Successfully completed.", ["none.completed"]), "pbs_wall": ("=>> PBS: job killed: walltime 3608 exceeded limit 3600", ["code.deadline"]),
         "pbs_mem": ("=>> PBS: job killed: mem 1048813568kb exceeded limit 1048576000kb", ["code.host_oom"]), "sge_rt": ("failed 37  : qmaster enforced h_rt, h_cpu, or h_vmem limit", ["code.deadline", "code.host_oom", "unknown"]), "condor_evict": ("004 (412.000.000) 11/18 12:03:11 Job was evicted.", ["sched.preempted", "unknown"]), "condor_removed": ("009 (412.000.000) 11/18 12:03:11 Job was aborted by the user.\n\tvia condor_rm (by user alice)", ["ops.manual_delete"]),
         "flux_timeout": ("12.412s: job.exception type=timeout severity=0 resource allocation expired", ["code.deadline"])}


@family("n.other_batch", " ".join(OTHER), 6)
def other_batch(c):
    """LSF, PBS, SGE, HTCondor, Flux: what they append to a job's output."""
    log = Train(c, "train.log")
    log.begin(1)
    t = c.between(700, 1300)
    log.steps(1, t)
    text, right = OTHER[c.variant]
    if c.variant.startswith("lsf"):
        text = f"\n------------------------------------------------------------\nSender: LSF System <lsfadmin@gpu-07>\nSubject: Job 412: <train> in cluster <lab> {'Done' if 'done' in c.variant else 'Exited'}\n\nJob <train> was submitted from host <login01> by user <alice> in cluster <lab>\n\n{text}\n\nResource usage summary:\n\n    CPU time :                                   41212.00 sec.\n    Max Memory :                                 411 GB\n"
    if c.variant == "lsf_done":
        log.say(t + 0.1, "training completed, saved final checkpoint")
    log.raw(t + 1, text)
    log.save()
    c.expect(right, f"another batch system: {c.variant}", mild=["unknown"] if c.variant not in ("lsf_exit1",) else [])


@family("n.mpi", "oom_remote killed_remote_person killed_remote segv_remote own_remote node_panic_remote oom_other_host mpi_abort", 8)
def mpi(c):
    """mpirun on gpu-07 names rank, pid and host of the one that ended; that host's journal knows more."""
    boxes = {h: Machine(c, h, system=c.pick("el8", "u22", "u24"), form=c.pick("rsyslog", "json", "short-iso")) for h in ("gpu-07", "gpu-08", "gpu-09")}
    for box in boxes.values():
        box.noise(-900, 2500)
    log = Train(c, "gpu-07/train.log")
    log.begin(1)
    t, v, who, mild, actor = c.between(900, 1500), c.variant, c.pick(*PEOPLE), [], None
    log.steps(1, t)
    far, pid = boxes["gpu-08"], boxes["gpu-08"].pid
    signal = {"oom_remote": (9, "Killed"), "killed_remote_person": (9, "Killed"), "killed_remote": (9, "Killed"), "segv_remote": (11, "Segmentation fault"), "oom_other_host": (9, "Killed")}.get(v)
    if v in ("oom_remote", "oom_other_host"):
        (far if v == "oom_remote" else boxes["gpu-09"]).oom(t + 0.2, "python3", pid if v == "oom_remote" else pid + 77, "/user.slice/user-1000.slice/session-9.scope")
    if v == "killed_remote_person":
        far.sudo(t + 0.2, who, f"/usr/bin/kill -9 {pid}")
        actor = [who]
    if v == "segv_remote":
        far.segfault(t + 0.2, "python3", pid)
    if v == "own_remote":
        log.raw(t + 0.1, "Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 118, in main\n    x = batch[\"pixel_values\"]\nKeyError: 'pixel_values'")
        log.raw(t + 0.6, "--------------------------------------------------------------------------\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, the job has been aborted.\n--------------------------------------------------------------------------\n"
                f"--------------------------------------------------------------------------\nmpirun detected that one or more processes exited with non-zero status, thus causing\nthe job to be terminated. The first process to do so was:\n\n  Process name: [[41212,1],9]\n  Exit code:    1\n--------------------------------------------------------------------------")
        right = OWN
    elif v == "mpi_abort":
        log.raw(t + 0.3, "--------------------------------------------------------------------------\nMPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\nwith errorcode 1.\n--------------------------------------------------------------------------")
        right = NOBODY
    elif v == "node_panic_remote":
        far.kernel(t + 0.2, "Kernel panic - not syncing: Fatal exception")
        far.boots(t + 300)
        log.raw(t + 40, "--------------------------------------------------------------------------\nORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[41212,0],0] on node gpu-07\n  Remote daemon: [[41212,0],1] on node gpu-08\n\nThis is usually due to either a failure of the TCP network\nconnection to the node, or possibly an internal failure of\nthe daemon itself. We cannot recover from this failure, and\ntherefore will terminate the job.\n--------------------------------------------------------------------------")
        right, mild = ["node.kernel_panic"], ["unknown", "code.exception", "node.not_ready"]
    else:
        number, word = signal
        log.raw(t + 0.8, f"--------------------------------------------------------------------------\nmpirun noticed that process rank 9 with PID {pid} on node gpu-08 exited on signal {number} ({word}).\n--------------------------------------------------------------------------")
        right = {"oom_remote": ["node.system_oom", "code.host_oom"], "killed_remote_person": ["ops.manual_delete"], "segv_remote": ["code.segfault"]}.get(v, ["unknown"])
        mild = KILLED if right == ["unknown"] else []
    for box in boxes.values():
        box.save()
    log.save()
    c.expect(right, f"mpirun tells who: {v}", mild=mild, actor=actor)


@family("n.chain", "from_enospc handler_key_after_enospc during_key group warned_chain_then_own assertion_from_nccl keyboard_during suppressed_then_completed", 8)
def chain(c):
    """Chained and grouped exceptions."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    log.steps(1, t)
    head = "Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 140, in save\n    torch.save(state, path)\n"
    tail = "Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 231, in <module>\n    main()\n  File \"/home/alice/train.py\", line 144, in save\n"
    cause, during = "\n\nThe above exception was the direct cause of the following exception:\n\n", "\n\nDuring handling of the above exception, another exception occurred:\n\n"
    if v == "from_enospc":
        log.raw(t + 0.1, head + "OSError: [Errno 28] No space left on device: '/ckpt/step-900.pt'" + cause + tail + "    raise CheckpointError('could not save') from exc\nckpt.CheckpointError: could not save")
        right = ["dep.storage"]
        mild = ["code.exception"]
    elif v == "handler_key_after_enospc":
        log.raw(t + 0.1, head + "OSError: [Errno 28] No space left on device: '/ckpt/step-900.pt'" + during + tail + "    old = self.saved['oldest']\nKeyError: 'oldest'")
        right = ["dep.storage", "code.exception"]
    elif v == "during_key":
        log.raw(t + 0.1, head.replace("140, in save", "80, in get").replace("torch.save(state, path)", "return cache[key]") + "KeyError: 'shard-412'" + during + tail + "    return rebuild(key)\nTypeError: rebuild() missing 1 required positional argument: 'seed'")
        right = OWN
    elif v == "group":
        log.raw(t + 0.1, "  + Exception Group Traceback (most recent call last):\n  |   File \"/home/alice/train.py\", line 231, in <module>\n  |     asyncio.run(main())\n  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"/home/alice/train.py\", line 118, in main\n    |     x = batch[\"pixel_values\"]\n    | KeyError: 'pixel_values'\n    +---------------- 2 ----------------\n    | Traceback (most recent call last):\n    |   File \"/home/alice/train.py\", line 90, in prefetch\n    |     await asyncio.sleep(1)\n    | asyncio.exceptions.CancelledError\n    +------------------------------------")
        right = OWN
    elif v == "assertion_from_nccl":
        log.raw(t + 0.1, head.replace("torch.save(state, path)", "dist.all_reduce(x)") + "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, remote process exited or there was a network error, NCCL version 2.21.5" + during + tail + "    assert self.ok\nAssertionError")
        right, mild = ["unknown"] + OWN, ["hang.collective_timeout", "hw.nic"]
    elif v == "keyboard_during":
        log.raw(t + 0.1, head.replace("torch.save(state, path)", "time.sleep(1)") + "KeyboardInterrupt" + during + tail + "    log.flush()\nValueError: I/O operation on closed file.")
        right, mild = ["ops.manual_delete"], ["code.exception", "unknown"]
    else:
        log.raw(t - 200, head + "OSError: [Errno 28] No space left on device: '/ckpt/step-700.pt'" + cause + tail + "    raise CheckpointError('could not save') from exc\nckpt.CheckpointError: could not save")
        log.say(t - 199.5, "checkpoint failed, going on without", "WARNING")
        log.lines = [row for row in log.lines if not (t - 199.5 < row[0] < t - 199)]
        right, mild, actor = goes_away(c, m, log, t, "own" if v.endswith("own") else "completed")
        c.expect(right, f"chained: {v}", mild=mild, actor=actor)
        finish(c, m, log)
        return
    m.exit(t + 0.9, 130 if v == "keyboard_during" else 1)
    c.expect(right, f"chained: {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.stages", "fold_finished_then_own fold_finished_then_killed stage1_completed_then_stop stage1_completed_then_running eval_done_then_oom completed_then_upload_fails completed_then_eval_own epoch_finished_then_reboot pretrain_saved_then_panic", 8)
def stages(c):
    """'completed' is said of a part: a fold, a stage, an evaluation; then more steps."""
    m, log = vm(c)
    t, v, mild = c.between(1000, 1500), c.variant, []
    first, then = v.split("_then_")
    half = t - c.between(150, 500)
    log.steps(1, half)
    word = {"fold_finished": "Training finished for fold 1 of 5", "stage1_completed": "stage 1 training completed, saved checkpoint; starting stage 2", "eval_done": "evaluation completed: acc=0.71", "completed": "training completed, saved final checkpoint", "epoch_finished": "epoch 3 finished",
            "pretrain_saved": "pre-training complete, saved final checkpoint. Fine-tuning starts"}[first]
    last, until = t, 4000
    if first == "completed":
        log.steps(half, t)
        log.say(t + 0.2, word)
        if then == "upload_fails":
            log.traceback(t + 9, "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='hub.lab.example', port=443): Max retries exceeded with url: /upload", "    push_to_hub(model)")
            m.exit(t + 10, 1)
            right, mild = ["none.completed", "dep.service", "code.exception"], ["unknown"]
        else:
            log.say(t + 2, "starting evaluation")
            log.traceback(t + 40, *c.pick(*OWN_ERRORS))
            m.exit(t + 41, 1)
            right, mild = ["none.completed", "code.exception"], []
        actor = None
    else:
        log.say(half + 0.3, word)
        last = log.steps(half + 0.5, t)
        if then == "running":
            right, mild, actor, until = ["none.running"], ["unknown"], None, last + 3
        else:
            right, mild, actor = goes_away(c, m, log, t, {"oom": "oom_unit"}.get(then, then))
    c.expect(right, f"parts: {v}", mild=mild, actor=actor)
    finish(c, m, log, until)


@family("n.nan", "nan_then_stop nan_then_own nan_raises nan_completed nan_then_reboot nan_running scaler_then_killed inf_once_then_oom", 8)
def nan(c):
    """A loss that is no number, for long or once; the run goes on, and ends of something else."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    half = t - c.between(100, 400)
    log.steps(1, half)
    if v in ("scaler_then_killed", "inf_once_then_oom"):
        log.say(half + 0.2, "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0" if v[0] == "s" else "loss=inf at step, skipped", "WARNING")
        last = log.steps(half + 0.3, t)
    else:
        before = len(log.lines)
        last = log.steps(half, t)
        import re
        log.lines[before:] = [(at, re.sub(r"loss=[0-9.]+|lm loss: [0-9.E+-]+", lambda hit: "loss=nan" if hit[0].startswith("loss") else "lm loss: NAN", text)) for at, text in log.lines[before:]]
    until = 4000
    kind = {"nan_then_stop": "stop", "nan_then_own": "own", "nan_completed": "completed", "nan_then_reboot": "reboot", "scaler_then_killed": "killed", "inf_once_then_oom": "oom_unit"}.get(v)
    if v == "nan_raises":
        log.traceback(t + 0.2, "FloatingPointError: loss is nan, stopping training", "    raise FloatingPointError('loss is nan, stopping training')")
        m.exit(t + 0.9, 1)
        right = ["code.divergence"]
    elif v == "nan_running":
        right, mild, until = ["none.running"], ["unknown", "code.divergence"], last + 3
    else:
        right, mild, actor = goes_away(c, m, log, t, kind)
        if v == "nan_then_own":
            right = right + ["code.divergence"]
        if v == "nan_completed":
            mild = mild + ["code.divergence"]
    c.expect(right, f"no number: {v}", mild=mild, actor=actor)
    finish(c, m, log, until)


@family("n.worker2", "oom_worker person_kills_worker segv_worker bus_worker worker_killed_unknown worker_restarts_then_own oom_worker_other_group", 8)
def worker(c):
    """A data loader's process is killed, and the trainer raises for that."""
    m, log = vm(c)
    t, v, mild, actor, who = c.between(900, 1500), c.variant, [], None, c.pick(*PEOPLE)
    log.steps(1, t)
    w = m.pid + 33
    word = {"segv_worker": "Segmentation fault", "bus_worker": "Bus error"}.get(v, "Killed")
    if v == "oom_worker":
        m.oom(t, "pt_data_worker", w, "/system.slice/train.service", "/system.slice/train.service")
        right = ["code.host_oom"]
    elif v == "oom_worker_other_group":
        m.oom(t, "python3", w + 500, "/system.slice/jupyter.service", "/system.slice/jupyter.service")
        right, mild = ["code.data_loader", "code.exception", "unknown"], ["code.host_oom", "node.system_oom"]
    elif v == "person_kills_worker":
        m.sudo(t, who, f"/usr/bin/kill -9 {w}")
        right, actor = ["ops.manual_delete"], [who]
    elif v == "segv_worker":
        m.segfault(t, "pt_data_worker", w)
        right, mild = ["code.segfault", "code.data_loader"], []
    elif v == "bus_worker":
        right, mild = ["code.data_loader", "code.segfault"], []
    else:
        right, mild = ["code.data_loader", "code.exception", "unknown"], ["code.host_oom"]
    if v == "worker_restarts_then_own":
        log.say(t - 300, f"DataLoader worker (pid {w}) is killed by signal: Killed. Restarting it.", "WARNING")
        right, mild, actor = goes_away(c, m, log, t, "own")
    else:
        tail = " It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit." if word == "Bus error" else ""
        log.traceback(t + 0.4, f"RuntimeError: DataLoader worker (pid {w}) is killed by signal: {word}.{tail}", "    batch = next(it)")
        m.exit(t + 1, 1)
    c.expect(right, f"a worker: {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.ups", "nut_shutdown apc_shutdown nut_back_then_own apc_other_host thermal_zone_critical ipmi_power_key_person power_key_button nut_shutdown_split", 8)
def ups(c):
    """A UPS, heat, a button: the machine goes down in good order."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    log.steps(1, t)
    if v.startswith(("nut", "apc")) and "own" not in v and "other" not in v:
        name = "upsmon" if v[0] == "n" else "apcupsd"
        m.log(t - 200, name, "UPS rack7@ups1 on battery" if v[0] == "n" else "Power failure.")
        m.log(t - 195, name, "UPS rack7@ups1 battery is low" if v[0] == "n" else "Running on UPS batteries.")
        m.log(t + 0.1, name, "Executing automatic power-fail shutdown" if v[0] == "n" else "Initiating system shutdown!")
        m.log(t + 0.2, name, "Auto logout and shutdown proceeding" if v[0] == "n" else "Battery charge below low limit.")
        m.goes_down(t + 0.8, "poweroff")
        right = ["hw.power", "node.shutdown"]
    elif v == "nut_back_then_own":
        m.log(t - 200, "upsmon", "UPS rack7@ups1 on battery")
        m.log(t - 170, "upsmon", "UPS rack7@ups1 on line power")
        right, mild, actor = goes_away(c, m, log, t, "own")
    elif v == "apc_other_host":
        far = Machine(c, "gpu-08", system="u22", form="rsyslog")
        far.noise(-300, 900)
        far.log(t - 2, "apcupsd", "Initiating system shutdown!")
        far.goes_down(t - 1, "poweroff")
        far.save()
        right, mild, actor = goes_away(c, m, log, t, "bare")
    elif v == "thermal_zone_critical":
        m.kernel(t + 0.1, "thermal thermal_zone0: acpitz: critical temperature reached, shutting down")
        m.kernel(t + 0.2, "reboot: HARDWARE PROTECTION shutdown (Temperature too high)")
        m.goes_down(t + 0.5, "poweroff")
        right, mild = ["hw.thermal"], ["node.shutdown"]
    else:
        if v == "ipmi_power_key_person":
            far = Machine(c, "admin01", system="u22", form="rsyslog")
            far.noise(-300, 900)
            far.sudo(t - 0.5, c.pick(*PEOPLE), "/usr/bin/ipmitool -H gpu-07-bmc chassis power soft")
            far.save()
        m.log(t + 0.1, "systemd-logind", "Power key pressed short." if m.system in ("u24", "el9") else "Power key pressed.")
        m.goes_down(t + 0.5, "poweroff")
        right, mild = ["node.shutdown", "ops.manual_delete"], []
    c.expect(right, f"power and heat: {v}", mild=mild, actor=actor)
    finish(c, m, log, t + 4 if "own" not in v and "other" not in v else 3000)


@family("n.wandb_after", "own killed_no oom_cuda completed_summary sync_then_running_new", 8)
def wandb_after(c):
    """W&B prints its summary after the exception: with steps and 'finished' in it."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    log.steps(1, t)
    summary = (f"wandb: \nwandb: Run history:\nwandb:   train/loss █▇▆▅▄▃▂▁\nwandb: train/step ▁▂▃▄▅▆▇█\nwandb: \nwandb: Run summary:\nwandb:   train/loss 1.71230\nwandb: train/step {log.number}\nwandb: \nwandb: 🚀 View run exp-1 at: https://wandb.ai/acme/llm/runs/k3x9a1b2\n"
               "wandb: Synced 5 W&B file(s), 0 media file(s), 0 artifact file(s) and 0 other file(s)\nwandb: Find logs at: ./wandb/run-20261118_120301-k3x9a1b2/logs")
    if v == "own":
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        log.raw(t + 1, summary)
        m.exit(t + 4, 1)
        right = OWN
    elif v == "oom_cuda":
        log.traceback(t + 0.2, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.02 GiB is free.", "    loss.backward()")
        log.raw(t + 1, summary)
        m.exit(t + 4, 1)
        right = ["code.cuda_oom"]
    elif v == "completed_summary":
        log.say(t + 0.2, "training completed, saved final checkpoint")
        log.raw(t + 1, summary)
        ok(m, t + 3)
        right = ["none.completed"]
    elif v == "killed_no":
        m.exit(t + 0.5, -9)
        right, mild = ["unknown"], KILLED
    else:
        log.raw(t + 1, summary)
        log.begin(t + 9, m.pid)
        last = log.steps(t + 9, t + 300)
        c.expect(["none.running"], "a new tracker's run within one process", mild=["unknown"])
        finish(c, m, log, last + 3)
        return
    c.expect(right, f"W&B's summary: {v}", mild=mild, actor=actor)
    finish(c, m, log)
