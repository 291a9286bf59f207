"""Programs in somebody's session, in containers without Kubernetes, at limits of the system, and clocks that are set."""

import gzip
import json

from kit import NOBODY, OWN, PEOPLE, bystander, family, finish, goes_away, vm
from world import Case, Machine, MONTHS, OWN_ERRORS, Train, iso


def session(c, pid=True, host="gpu-07", form=None):
    m = Machine(c, host, form=form)
    log = Train(c, f"{m.folder}/train.log")
    m.noise(-1500, 0)
    m.log(-30, "sshd", "Accepted publickey for alice from 10.0.0.4 port 50122 ssh2", 41002)
    m.log(-29.9, "systemd-logind", "New session 31 of user alice.")
    m.log(-29.8, "systemd", f"Started Session 31 of User alice.")
    log.begin(1, m.pid if pid else None)
    return m, log


def done(c, m, log, until):
    m.noise(5, until)
    m.save()
    log.save()


@family("p.session", "hup hup_said kill_user_processes linger_off logout_survived_then_own logout_survived_then_reboot broken_pipe own_kill_word oomd_scope oomd_other_scope earlyoom_own earlyoom_other earlyoom_then_own "
        "tmux_server_oom cron_pkill cron_kill_other cron_clean_then_enoent user_reboot_polkit other_logout alice_second_session xcpu xfsz timeout_cmd ctrl_c ctrl_z_killed", 6)
def sessions(c):
    m, log = session(c, pid=c.number % 3 != 2)
    t, who, actor, mild = c.between(900, 1500), c.pick(*PEOPLE), None, []
    log.steps(1, t)
    v = c.variant
    if v in ("hup", "hup_said", "broken_pipe"):
        # The terminal goes: its shell sends SIGHUP to what it started.
        m.log(t + 0.1, "sshd", "Received disconnect from 10.0.0.4 port 50122:11: disconnected by user" if c.number % 2 else "Timeout, client not responding from user alice 10.0.0.4 port 50122", 41002)
        m.log(t + 0.15, "sshd", "pam_unix(sshd:session): session closed for user alice", 41002)
        m.log(t + 0.3, "systemd-logind", "Session 31 logged out. Waiting for processes to exit.")
        m.log(t + 0.6, "systemd-logind", "Removed session 31.")
        if v == "hup_said":
            log.raw(t + 0.4, "Hangup" if c.number % 2 else f"W1118 torch/distributed/elastic/agent/server/api.py:719] Received Signals.SIGHUP death signal, shutting down workers")
        right = ["ops.manual_delete", "unknown", "code.exception"]
        mild = ["none.running"]
    elif v in ("kill_user_processes", "linger_off"):
        m.log(t + 0.1, "systemd-logind", "Session 31 logged out. Waiting for processes to exit.")
        if v == "kill_user_processes":
            m.log(t + 0.3, "systemd", f"session-31.scope: Killing process {m.pid} (python3) with signal SIGTERM.")
            m.log(t + 90.3, "systemd", f"session-31.scope: Killing process {m.pid} (python3) with signal SIGKILL.") if c.number % 2 else None
            m.log(t + 90.5, "systemd", "session-31.scope: Failed with result 'timeout'.") if c.number % 2 else None
        else:
            m.log(t + 0.3, "systemd", "Stopping User Manager for UID 1000...")
            m.log(t + 0.5, "systemd", "user@1000.service: Killing process 4000 (tmux: server) with signal SIGKILL.")
        m.log(t + 0.9, "systemd-logind", "Removed session 31.")
        right, mild = ["ops.manual_delete", "unknown"], ["none.running"]
    elif v in ("logout_survived_then_own", "logout_survived_then_reboot"):
        # nohup: the session's end harms nothing.
        s = t - 500
        m.log(s, "sshd", "pam_unix(sshd:session): session closed for user alice", 41002)
        m.log(s + 0.1, "systemd-logind", "Session 31 logged out. Waiting for processes to exit.")
        if v.endswith("own"):
            log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
            right = OWN
        else:
            right, mild, actor = goes_away(c, m, log, t, "reboot")
            m.lines = [row for row in m.lines if not (row[0] > t and ("train" in row[4] or "LLM" in row[4]))]
    elif v == "own_kill_word":
        log.raw(t + 0.4, f"./run.sh: line 7: {m.pid} Killed                  python3 train.py")
        right, mild = ["unknown"], ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]
    elif v in ("oomd_scope", "oomd_other_scope"):
        scope = "session-31.scope" if v == "oomd_scope" else "session-77.scope"
        user = 1000 if v == "oomd_scope" else 1007
        s = t + 0.3 if v == "oomd_scope" else t - 4
        m.log(s, "systemd-oomd", f"Killed /user.slice/user-{user}.slice/{scope} due to memory pressure for /user.slice/user-{user}.slice being 71.32% > 50.00% for > 20s with reclaim activity")
        m.log(s + 0.1, "systemd", f"{scope}: systemd-oomd killed 14 process(es) in this unit.")
        if v == "oomd_scope":
            right, mild = ["node.system_oom", "code.host_oom"], ["unknown", "none.running"]
        else:
            log.traceback(t + 0.3, *c.pick(*OWN_ERRORS))
            right = OWN
    elif v.startswith("earlyoom"):
        pid, name = (m.pid, "python3") if v == "earlyoom_own" else (m.pid + 700, "chrome")
        s = t + 0.2 if v == "earlyoom_own" else t - c.pick(1, 3, 8)
        m.log(s - 0.3, "earlyoom", "low memory! at or below SIGTERM limits: mem 10.00%, swap 10.00%")
        m.log(s, "earlyoom", f'sending SIGTERM to process {pid} uid 1000 "{name}": badness 1188, VmRSS 57216 MiB')
        m.log(s + 0.8, "earlyoom", f"process {pid} exited after 0.8 seconds")
        if v == "earlyoom_own":
            right, mild = ["node.system_oom", "code.host_oom"], ["none.running", "unknown"] if c.number % 3 == 2 else []
        elif v == "earlyoom_other":
            right, mild = ["unknown", "none.running"], ["node.system_oom"]
        else:
            log.traceback(t + 0.3, *c.pick(*OWN_ERRORS))
            right = OWN
    elif v == "tmux_server_oom":
        # The kernel kills the terminal's server: what it started goes with it.
        m.oom(t + 0.2, "tmux: server", m.pid - 50, "/user.slice/user-1000.slice/session-31.scope")
        right, mild = ["node.system_oom", "code.host_oom", "unknown", "none.running"], []
    elif v in ("cron_pkill", "cron_kill_other"):
        m.log(t + 0.3 if v == "cron_pkill" else t - 3, "CRON", "(root) CMD (/usr/bin/pkill -9 -u alice python3)" if v == "cron_pkill" else "(root) CMD (/usr/bin/pkill -9 -u bob python3)", 40404)
        if v == "cron_pkill":
            right, mild = ["ops.manual_delete", "unknown", "none.running"], []
        else:
            log.traceback(t + 0.3, *c.pick(*OWN_ERRORS))
            right = OWN
    elif v == "cron_clean_then_enoent":
        m.log(t - 30, "CRON", "(root) CMD (/usr/bin/find /scratch -mtime +7 -delete)", 40404)
        log.traceback(t + 0.3, "FileNotFoundError: [Errno 2] No such file or directory: '/scratch/shards/00412.tar'", "    with open(path, 'rb') as f:")
        right = OWN + ["code.config_or_input", "dep.storage"]
    elif v == "user_reboot_polkit":
        m.log(t + 0.1, "polkitd", f"Operator of unix-session:31 successfully authenticated as unix-user:{who} to gain ONE-SHOT authorization for action org.freedesktop.login1.reboot for system-bus-name::1.98 [systemctl reboot] (owned by unix-user:{who})")
        m.goes_down(t + 0.6)
        m.lines = [row for row in m.lines if not (row[0] > t and ("train" in row[4] or "LLM" in row[4]))]
        m.boots(t + 90)
        right, actor = ["node.reboot"], [who]
    elif v in ("other_logout", "alice_second_session"):
        n, user = (77, "bob") if v == "other_logout" else (32, "alice")
        m.log(t - 3, "systemd-logind", f"Session {n} logged out. Waiting for processes to exit.")
        m.log(t - 2.9, "sshd", f"pam_unix(sshd:session): session closed for user {user}", 41909)
        m.log(t - 2.7, "systemd", f"session-{n}.scope: Killing process {m.pid + 600} (python3) with signal SIGTERM.")
        log.traceback(t + 0.3, *c.pick(*OWN_ERRORS))
        right = OWN
    elif v == "xcpu":
        log.raw(t + 0.2, f"./run.sh: line 7: {m.pid} CPU time limit exceeded (core dumped) python3 train.py")
        right = ["code.deadline", "unknown", "code.exception", "code.config_or_input"]
    elif v == "xfsz":
        log.raw(t + 0.2, f"./run.sh: line 7: {m.pid} File size limit exceeded(core dumped) python3 train.py")
        right = ["unknown", "code.exception", "code.config_or_input", "dep.storage"]
    elif v == "timeout_cmd":
        log.raw(t + 0.2, "timeout: sending signal TERM to command ‘python3’")
        right = ["code.deadline", "unknown"]
        mild = ["none.running"]
    elif v == "ctrl_c":
        log.raw(t + 0.2, "^CTraceback (most recent call last):\n  File \"/home/alice/train.py\", line 231, in <module>\n    main()\n  File \"/home/alice/train.py\", line 118, in main\n    loss.backward()\nKeyboardInterrupt")
        right = ["ops.manual_delete", "unknown", "code.exception"]
    else:
        log.raw(t + 0.2, "[1]+  Stopped                 python3 train.py")
        right = ["ops.manual_delete", "unknown", "none.running"]
    c.expect(right, "a program in somebody's session", mild=mild, actor=actor)
    done(c, m, log, t + 600)


@family("p.limit", "nproc_tasks nofile memlock disk_full_own disk_full_other disk_full_freed_then_own quota estale estale_after shm readonly_root readonly_other enospc_inode cgroup_oom_worker ulimit_v oom_score stack_overflow "
        "fork_other gpu_lost_driver_unload module_upgrade mismatch_after_upgrade upgrade_survived", 6)
def limits(c):
    """Limits of the system that the program runs into, or others do."""
    m, log = vm(c)
    t, mild, actor, v = c.between(900, 1500), [], None, c.variant
    log.steps(1, t)
    def dies(error, where="    main()"):
        log.traceback(t + 0.5, error, where)
        m.exit(t + 1, 1)
    if v == "nproc_tasks":
        m.kernel(t + 0.2, "cgroup: fork rejected by pids controller in /system.slice/train.service")
        dies("RuntimeError: can't start new thread")
        right = ["code.exception", "code.config_or_input", "node.system_oom", "code.host_oom", "code.storage_limit"]
    elif v == "fork_other":
        m.kernel(t - 3, "cgroup: fork rejected by pids controller in /system.slice/jupyter.service")
        dies(*c.pick(*OWN_ERRORS))
        right = OWN
    elif v == "nofile":
        dies("OSError: [Errno 24] Too many open files: '/data/shard-0001.tar'")
        right = ["code.exception", "code.config_or_input"]
    elif v == "memlock":
        dies("RuntimeError: NCCL error: unhandled system error, ibv_reg_mr_iova2 failed with error Cannot allocate memory")
        right = ["code.exception", "code.config_or_input", "hw.nic"]
    elif v == "disk_full_own":
        m.kernel(t - 2, "EXT4-fs warning (device nvme1n1p1): ext4_dx_add_entry:2516: inode #11: comm python3: index full, reach max htree level") if c.number % 2 else None
        dies("OSError: [Errno 28] No space left on device: '/scratch/ckpt/step_400.pt'", "    torch.save(state, path)")
        right = ["dep.storage", "code.storage_limit"]
    elif v == "disk_full_other":
        m.log(t - 5, "restic", "Fatal: unable to save snapshot: write /backup/tmp: no space left on device", 4100)
        dies(*c.pick(*OWN_ERRORS))
        right = OWN
    elif v == "disk_full_freed_then_own":
        log.say(t - 400, "checkpoint failed: [Errno 28] No space left on device: '/scratch/ckpt/step_300.pt', will retry", "WARNING")
        log.say(t - 300, "checkpoint saved: step=320")
        dies(*c.pick(*OWN_ERRORS))
        right = OWN
    elif v == "quota":
        dies("OSError: [Errno 122] Disk quota exceeded: '/home/alice/ckpt/step_400.pt'", "    torch.save(state, path)")
        right = ["dep.storage", "code.storage_limit"]
    elif v in ("estale", "estale_after"):
        s = t - 2 if v == "estale" else t + 20
        m.kernel(s, "NFS: server nas01 error: fileid changed")
        if v == "estale":
            dies("OSError: [Errno 116] Stale file handle: '/nfs/data/shard-000412.tar'", "    with open(path, 'rb') as f:")
            right = ["dep.storage", "code.exception"]
        else:
            dies(*c.pick(*OWN_ERRORS))
            right = OWN
    elif v == "shm":
        dies("RuntimeError: DataLoader worker (pid 4712) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.", "    data = self._try_get_data()")
        right = ["code.config_or_input", "code.exception", "code.host_oom", "code.data_loader", "code.storage_limit"]
    elif v == "readonly_root":
        m.kernel(t - 1, "EXT4-fs (nvme1n1p1): Remounting filesystem read-only")
        dies("OSError: [Errno 30] Read-only file system: '/scratch/ckpt/step_400.pt'", "    torch.save(state, path)")
        right = ["hw.disk", "dep.storage"]
    elif v == "readonly_other":
        m.kernel(t - 300, "EXT4-fs (sdf1): Remounting filesystem read-only")
        dies(*c.pick(*OWN_ERRORS))
        right = OWN
    elif v == "enospc_inode":
        dies("OSError: [Errno 28] No space left on device: '/tmp/torch_compile_cache/a'", "    os.makedirs(path)")
        right = ["dep.storage", "code.storage_limit"]
    elif v == "cgroup_oom_worker":
        # A loader's worker is killed at the service's limit; the program reports it, and ends.
        own = "/system.slice/train.service"
        m.oom(t + 0.1, "pt_data_worker", m.pid + 12, own, own)
        dies(f"RuntimeError: DataLoader worker (pid {m.pid + 12}) is killed by signal: Killed.", "    data = self._try_get_data()")
        right = ["code.host_oom"]
    elif v == "ulimit_v":
        dies("MemoryError: Unable to allocate 48.0 GiB for an array with shape (6442450944,) and data type float64")
        right = ["code.host_oom", "code.exception"]
    elif v == "oom_score":
        m.oom(t + 0.1, "python3", m.pid, "/system.slice/train.service")
        m.log(t + 0.2, "systemd", "train.service: A process of this unit has been killed by the OOM killer.") if m.system != "el7" else None
        m.exit(t + 0.4, -9, result="oom-kill")
        right = ["node.system_oom", "code.host_oom"]
    elif v == "stack_overflow":
        m.kernel(t + 0.2, f"python3[{m.pid}]: segfault at 7ffc1a2b3ff8 ip 00007f0e1c2d4a10 sp 00007ffc1a2b4000 error 6 in libpython3.10.so.1.0[7f0e1c000000+1a2000]")
        m.exit(t + 0.9, -11)
        right = ["code.segfault"]
    elif v == "gpu_lost_driver_unload":
        m.sudo(t, "carol", "/usr/sbin/rmmod nvidia_uvm")
        m.kernel(t + 0.2, "nvidia-uvm: Unloaded the UVM driver.")
        dies("torch.AcceleratorError: CUDA error: unspecified launch failure", "    loss.backward()")
        right, mild = ["node.driver", "ops.manual_delete", "unknown", "code.exception"], ["hw.gpu"]
    elif v == "module_upgrade":
        m.log(t - 60, "systemd", f"Starting {m.named('apt-daily-upgrade', 'Daily apt upgrade and clean activities')}...")
        m.kernel(t, "NVRM: API mismatch: the client has the version 550.127.05, but this kernel module has the version 550.90.07.  Please make sure that this kernel module and all NVIDIA driver components have the same version.")
        dies("RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 803: system has unsupported display driver / cuda driver combination", "    torch.cuda.init()")
        right = ["node.driver", "code.version_mismatch", "ops.node_upgrade"]
    elif v == "mismatch_after_upgrade":
        # The library was upgraded under the running program; a new tool complains. The run trains on, and fails by itself.
        m.kernel(t - 600, "NVRM: API mismatch: the client has the version 550.127.05, but this kernel module has the version 550.90.07.")
        dies(*c.pick(*OWN_ERRORS))
        right = OWN
    else:
        m.log(t - 400, "systemd", f"Starting {m.named('apt-daily-upgrade', 'Daily apt upgrade and clean activities')}...")
        stamp = c.at(t - 380)
        c.write(f"{m.folder}/unattended-upgrades.log", f"{stamp:%Y-%m-%d %H:%M:%S},101 INFO Packages that will be upgraded: docker-ce containerd.io linux-image-generic\n{stamp:%Y-%m-%d %H:%M:%S},801 INFO All upgrades installed\n")
        dies(*c.pick(*OWN_ERRORS))
        right = OWN
    c.expect(right, "limits of the system", mild=mild, actor=actor)
    finish(c, m, log, t + 500)


@family("p.clock", "stepped_back_then_own stepped_forward_then_own stepped_then_reboot stepped_hour_reboot step_after zone_changed new_year dst_back dst_forward syslog_dst month_end journal_local_log_utc leap_smear wrong_rtc_boot", 6)
def clocks(c):
    """Clocks that are set while the run trains, days and years that begin."""
    from datetime import datetime, timezone, timedelta
    v, mild, actor = c.variant, [], None
    if v == "new_year":
        c.base = datetime(2026, 12, 31, 23, 40, tzinfo=timezone.utc) + timedelta(seconds=c.number * 37)
        c.form = ("syslog", "rsyslog", "short-iso")[c.number % 3]
    elif v in ("dst_back", "syslog_dst"):
        c.base = datetime(2026, 10, 25, 0, 40, tzinfo=timezone.utc) + timedelta(seconds=c.number * 37)
    elif v == "dst_forward":
        c.base = datetime(2027, 3, 28, 0, 40, tzinfo=timezone.utc) + timedelta(seconds=c.number * 37)
    elif v == "month_end":
        c.base = datetime(2026, 11, 30, 23, 45, tzinfo=timezone.utc) + timedelta(seconds=c.number * 37)
        c.form = ("syslog", "rsyslog", "short-iso")[c.number % 3]
    m, log = vm(c)
    t = c.between(1300, 1700)
    kind = ("reboot", "own", "oom_unit", "stop", "panic", "segv")[c.number % 6]
    if v.startswith("stepped"):
        s = t - c.between(200, 500)
        by = {"stepped_back_then_own": -412.48, "stepped_forward_then_own": 73.2, "stepped_then_reboot": 3.1, "stepped_hour_reboot": 3600.2}[v]
        # Until then the machine's clock was off by -by.
        log.steps(1, t)
        m.log(s, "chronyd", f"System clock wrong by {by:.6f} seconds")
        m.log(s + 0.01, "chronyd", f"System clock was stepped by {by:.6f} seconds")
        kind = "own" if v.endswith("own") else "reboot"
        right, mild, actor = goes_away(c, m, log, t, kind)
        m.lines = [(when - by if when < s else when, *rest) for when, *rest in m.lines]
        log.lines = [(when, text) for when, text in log.lines]
        if by < 0:
            pass
        # The program's lines before the step bear the wrong time as well.
        class Early:
            pass
        fixed = []
        for when, text in log.lines:
            fixed.append((when, text if when >= s else moved(text, -by)))
        log.lines = fixed
    elif v == "step_after":
        log.steps(1, t)
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "oom_unit", "segv"))
        m.log(t + c.between(10, 60), "chronyd", "System clock was stepped by 41.337122 seconds")
    elif v == "zone_changed":
        log.steps(1, t)
        m.sudo(t - 300, "carol", "/usr/bin/timedatectl set-timezone Europe/Berlin")
        right, mild, actor = goes_away(c, m, log, t, kind)
    elif v in ("dst_back", "dst_forward", "syslog_dst"):
        # Local time of Berlin with its offset told (journal short-iso); the program writes UTC with Z or local digits.
        log.form = "iso"
        log.steps(1, t)
        right, mild, actor = goes_away(c, m, log, t, kind)
        m.noise(5, t + 400)
        change = datetime(2026, 10, 25, 1, tzinfo=timezone.utc) if v != "dst_forward" else datetime(2027, 3, 28, 1, tzinfo=timezone.utc)
        before, after = (2, 1) if v != "dst_forward" else (1, 2)
        rows = sorted(m.kept(), key=lambda row: (row[0], row[1]))
        out = []
        for when, _, program, pid, text in rows:
            at = c.at(when)
            hours = before if at < change else after
            local = at + timedelta(hours=hours)
            if program == "boot":
                continue
            tag = program if pid is None else f"{program}[{pid}]"
            if v == "syslog_dst":
                out.append(f"{MONTHS[local.month - 1]} {local.day:>2} {local:%H:%M:%S} {m.host} {tag}: {text}\n")
            else:
                out.append(f"{iso(local)}+0{hours}00 {m.host} {tag}: {text}\n")
        c.write(f"{m.folder}/{'messages' if v == 'syslog_dst' else 'journal.log'}", "".join(out))
        log.save()
        if v == "syslog_dst":
            mild = mild + ["unknown", "none.running"]
        c.expect(right + (["unknown", "none.running"] if v == "syslog_dst" else []), f"{v}: {kind}", mild=mild, actor=None if v == "syslog_dst" else actor)
        return
    elif v == "journal_local_log_utc":
        m.offset, c.form, m.form = 9, "short-iso", "short-iso"
        log.form = "iso"
        log.steps(1, t)
        right, mild, actor = goes_away(c, m, log, t, kind)
    elif v == "wrong_rtc_boot":
        # After the loss of power the clock is in 2020 until chrony sets it.
        log.steps(1, t)
        m.dies(t)
        m.boots(t + 140)
        m.form = c.form = "short-iso"
        m.log(t + 160, "chronyd", "System clock was stepped by 216000000.113000 seconds")
        m.noise(5, t + 600)
        rows = []
        for row in m.lines:
            if t < row[0] < t + 160:
                row = (row[0], *row[1:])
            rows.append(row)
        m.lines = rows
        text = []
        for row in sorted(m.kept(), key=lambda row: (row[0], row[1])):
            line = m.line(*row)
            if line and t < row[0] < t + 160 and line.startswith("2026"):
                line = "2020-01-04" + line[10:]
            if line:
                text.append(line)
        c.write(f"{m.folder}/journal.log", "".join(text))
        log.save()
        c.expect(["node.reboot", "unknown", "none.running", "node.clock"], "a wrong clock after the loss of power", mild=[])
        return
    else:
        log.steps(1, t)
        right, mild, actor = goes_away(c, m, log, t, kind)
    c.expect(right, f"{v}: {kind}", mild=mild, actor=actor)
    finish(c, m, log, t + 500)


def moved(text, seconds):
    """A line's own time, moved."""
    import re
    from datetime import datetime, timedelta
    def one(found):
        digits = found.group(0)
        when = datetime.strptime(digits[:19].replace("T", " "), "%Y-%m-%d %H:%M:%S") + timedelta(seconds=round(seconds))
        return when.strftime(f"%Y-%m-%d{digits[10]}%H:%M:%S")
    return re.sub(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d", one, text, count=1)


@family("p.box", "podman_kill podman_own podman_oom podman_other_died apptainer_own apptainer_killed_oom enroot_own dockerd_restart dockerd_restart_live docker_rm_cron docker_events_stop docker_events_other_stop "
        "compose_down docker_upgrade live_restore_then_own nvidia_toolkit_cgroup restart_policy_twice docker_oom_by_id containerd_only", 6)
def boxes(c):
    """Containers without Kubernetes, known from the machine's journal alone."""
    m = Machine(c)
    log = Train(c, f"{m.folder}/train.log")
    m.noise(-1500, 0)
    log.begin(1, m.pid if c.number % 2 else None)
    t, v, mild, actor, who = c.between(900, 1500), c.variant, [], None, c.pick(*PEOPLE)
    cid, other = (f"{c.rng.getrandbits(256):064x}" for _ in range(2))
    log.steps(1, t)
    def podman(when, what, id, name, more=""):
        m.log(when, "podman", f"{iso(c.at(when), 6)} +0000 UTC m=+0.1 container {what} {id} (image=docker.io/lab/train:2.3, name={name}{more})", 50000)
    def inspect(name, id, code, end, oom=False, restarts=0, status="exited", started=0):
        return {"Id": id, "Created": iso(c.at(-1), 6) + "Z", "Path": "python3", "Args": ["train.py"], "Name": f"/{name}", "RestartCount": restarts,
                "State": {"Status": status, "Running": status == "running", "Paused": False, "Restarting": False, "OOMKilled": oom, "Dead": False, "Pid": 0 if status == "exited" else m.pid, "ExitCode": code, "Error": "",
                          "StartedAt": iso(c.at(started), 6) + "Z", "FinishedAt": iso(c.at(end), 6) + "Z" if status == "exited" else "0001-01-01T00:00:00Z"},
                "HostConfig": {"NetworkMode": "host", "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0}, "Memory": 0}, "Config": {"Hostname": m.host, "Image": "lab/train:2.3"}}
    def shown(*all):
        c.write(f"{m.folder}/docker-inspect.json", json.dumps(list(all), indent=1))
    if v.startswith("podman"):
        podman(0, "start", cid, "train")
        if v == "podman_kill":
            m.sudo(t, who, "/usr/bin/podman kill train")
            podman(t + 0.3, "kill", cid, "train")
            podman(t + 0.5, "died", cid, "train")
            right, actor = ["ops.manual_delete"], [who]
            mild = ["unknown", "none.running"]
        elif v == "podman_own":
            log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
            podman(t + 0.7, "died", cid, "train")
            right = OWN
        elif v == "podman_oom":
            g = f"/machine.slice/libpod-{cid}.scope"
            m.oom(t + 0.2, "python3", m.pid, g, g)
            podman(t + 0.7, "died", cid, "train")
            right, mild = ["code.host_oom"], ["unknown", "none.running", "node.system_oom"] if not c.number % 2 else []
        else:
            podman(t - 3, "kill", other, "eval")
            podman(t - 2.8, "died", other, "eval")
            log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
            right = OWN
    elif v in ("apptainer_own", "enroot_own"):
        log.raw(0.5, "INFO:    Using cached SIF image" if v == "apptainer_own" else "enroot-aufs2ovlfs: failed to set capabilities: Operation not permitted")
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        log.raw(t + 1, "INFO:    Cleaning up image...") if v == "apptainer_own" else None
        right = OWN
    elif v == "apptainer_killed_oom":
        m.oom(t + 0.2, "python3", m.pid, "/user.slice/user-1000.slice/session-3.scope")
        log.raw(t + 0.6, f"/usr/local/bin/run.sh: line 3: {m.pid} Killed                  apptainer exec --nv train.sif python3 train.py")
        right = ["node.system_oom", "code.host_oom"]
    elif v in ("dockerd_restart", "dockerd_restart_live"):
        m.sudo(t, who, "/usr/bin/systemctl restart docker")
        m.log(t + 0.3, "systemd", "Stopping Docker Application Container Engine...")
        m.log(t + 0.4, "dockerd", 'time="x" level=info msg="Processing signal \'terminated\'"')
        if v == "dockerd_restart":
            shown(inspect("train", cid, 137, t + 10.4))
            right, actor = ["node.runtime", "ops.manual_delete"], [who]
            mild = ["unknown"]
        else:
            log.steps(t + 1, t + 300)
            shown(inspect("train", cid, 1, t + 301))
            log.traceback(t + 300.5, *c.pick(*OWN_ERRORS))
            right = OWN
        m.log(t + 11, "systemd", "Stopped Docker Application Container Engine.")
        m.log(t + 11.2, "systemd", "Started Docker Application Container Engine.")
    elif v == "docker_rm_cron":
        m.log(t, "CRON", "(root) CMD (/usr/bin/docker rm -f $(/usr/bin/docker ps -q))", 40404)
        m.log(t + 0.4, "dockerd", f'time="{iso(c.at(t + 0.4), 6)}Z" level=info msg="ignoring event" container={cid} module=libcontainerd namespace=moby topic=/tasks/delete type="*events.TaskDelete"')
        right = ["ops.manual_delete", "unknown", "none.running"]
    elif v in ("docker_events_stop", "docker_events_other_stop"):
        name, id, s = ("train", cid, t) if v == "docker_events_stop" else ("eval", other, t - 3)
        def event(when, what, more=""):
            c.write(f"{m.folder}/docker-events.log", f"{iso(c.at(when), 6)}000Z container {what} {id} (image=lab/train:2.3, name={name}{more})\n")
        event(s + 0.2, "kill", ", signal=15")
        event(s + 10.2, "kill", ", signal=9")
        event(s + 10.4, "die", ", exitCode=137")
        event(s + 10.5, "stop")
        if v == "docker_events_stop":
            m.sudo(t, who, "/usr/bin/docker stop train")
            shown(inspect("train", cid, 137, t + 10.4))
            right, actor = ["ops.manual_delete"], [who]
        else:
            log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
            shown(inspect("train", cid, 1, t + 0.7), inspect("eval", other, 137, t + 7.4))
            right = OWN
    elif v == "compose_down":
        m.sudo(t, who, "/usr/bin/docker compose -f /srv/train/compose.yml down")
        shown(inspect("train", cid, 137, t + 10.4))
        right, actor, mild = ["ops.manual_delete"], [who], ["unknown"]
    elif v == "docker_upgrade":
        m.log(t - 20, "systemd", f"Starting {m.named('apt-daily-upgrade', 'Daily apt upgrade and clean activities')}...")
        m.log(t + 0.1, "systemd", "Stopping Docker Application Container Engine...")
        m.log(t + 10.9, "systemd", "Stopped Docker Application Container Engine.")
        m.log(t + 12, "systemd", "Started Docker Application Container Engine.")
        shown(inspect("train", cid, 137, t + 10.4))
        right, mild = ["node.runtime", "ops.node_upgrade"], ["unknown"]
    elif v == "live_restore_then_own":
        m.log(t - 300, "systemd", "Stopping Docker Application Container Engine...")
        m.log(t - 299, "systemd", "Started Docker Application Container Engine.")
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        shown(inspect("train", cid, 1, t + 0.7))
        right = OWN
    elif v == "nvidia_toolkit_cgroup":
        # systemctl daemon-reload takes the devices from the container: "Failed to initialize NVML: Unknown Error".
        m.sudo(t - 2, who, "/usr/bin/systemctl daemon-reload")
        m.log(t - 1.8, "systemd", "Reloading.")
        log.traceback(t + 0.2, "torch.AcceleratorError: CUDA error: unknown error", "    loss.backward()")
        shown(inspect("train", cid, 1, t + 0.7))
        right = ["code.exception", "node.driver", "unknown", "hw.gpu", "node.runtime"]
    elif v == "restart_policy_twice":
        log.traceback(t + 0.2, *OWN_ERRORS[1])
        log.begin(t + 5)
        log.steps(t + 6, t + 300)
        g = f"/system.slice/docker-{cid}.scope"
        m.oom(t + 300.2, "python3", m.pid, g, g)
        shown(inspect("train", cid, 137, t + 300.7, oom=True, restarts=1, started=t + 4))
        right = ["code.host_oom"]
    elif v == "docker_oom_by_id":
        g = f"/docker/{cid}"
        m.oom(t + 0.2, "python3", m.pid, g, g)
        shown(inspect("train", cid, 137, t + 0.5, oom=False))
        right = ["code.host_oom"]
    else:
        m.log(t + 0.2, "containerd", f'time="{iso(c.at(t + 0.2), 6)}Z" level=info msg="shim disconnected" id={cid} namespace=moby', 900)
        shown(inspect("train", cid, 1, t + 0.3))
        right = NOBODY
    c.expect(right, "a container of a bare machine", mild=mild, actor=actor)
    done(c, m, log, t + 700)
