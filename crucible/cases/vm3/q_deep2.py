"""Twins for the mending (an act that did end a living run), gangs that are tidied up, ranks' files beside hosts' journals, forms of dmesg, pstore, what comes of a resume."""

from kit import NOBODY, OWN, PEOPLE, family, finish, goes_away, vm
from q_gang import Off, close, gang, timeout
from world import DAYS, Aws, Azure, Gce, MONTHS, Machine, OWN_ERRORS, Slurm, Train, iso

KILLED = ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]


@family("n.silence", "gce_delete gce_stop aws_terminate azure_deallocate gce_preempted aws_spot gce_host_error sudo_stop sudo_kill sudo_reboot scancel", 12)
def silence(c):
    """Controls: the run lived when the act came. Steps up to it; or ten quiet minutes that the log explains, and the unit's end in the journal at the act; or the guest's clock is up to 40 s ahead."""
    v, who, mild, actor = c.variant, c.pick(*PEOPLE), [], None
    kind = v.split("_")[0]
    how = c.number % 4  # 0, 1: steps; 2: quiet evaluation, the service's end is told; 3: the guest's clock is ahead
    t = c.between(1200, 1800)
    if kind == "scancel":
        s = Slurm(c)
        c.asked = str(s.job)
        log = Train(c, f"slurm-{s.job}.out", step=5)
        log.begin(2)
        log.steps(2, t - (500 if how == 2 else 0))
        if how == 2:
            log.say(t - 499, "starting evaluation on 120000 batches")
        s.kill(t, 1000)
        log.raw(t + 0.4, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(t))} ***")
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        s.save()
        log.save()
        c.expect(["ops.manual_delete"], f"a living job is cancelled ({how})", actor=["alice", "1000", "uid 1000"])
        return
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c) if kind != "sudo" else None
    name = "gpu-07" if not cloud else cloud.vm if kind != "aws" else cloud.id
    ahead = c.between(5, 40) if how == 3 and cloud else 0.0
    m = Machine(c, cloud.dns if kind == "aws" else name, name, form=c.form if c.form != "syslog" else "rsyslog", skew=ahead)
    log = Train(Off(c, ahead), f"{name}/train.log", step=5)
    m.noise(-800, 0)
    m.start(0)
    log.begin(1, m.pid)
    log.steps(1, t - (500 if how == 2 else 0))
    if how == 2:
        log.say(t - 499, c.pick("starting evaluation on 120000 batches", "saving checkpoint to /ckpt/step-000900 (3.1 TB)"))
    until, asked = t + 2, "train.log" if not cloud else name if kind != "aws" else "exp-1"
    orderly = how == 2 or c.number % 3 == 0
    if not cloud:
        until = 4000
        right, mild, actor = goes_away(c, m, log, t, {"stop": "stop", "reboot": "reboot"}.get(v.split("_")[1], "stop")) if v != "sudo_kill" else (["ops.manual_delete"], [], [who])
        if v == "sudo_kill":
            m.sudo(t + 0.2, who, f"/usr/bin/kill -9 {m.pid}")
            m.exit(t + 0.4, -9)
    else:
        right = ["ops.manual_delete"]
        actor = [who if kind == "aws" else who + "@lab.example"]
        if kind == "gce":
            cloud.call(-900, "insert", "alice@lab.example", 20)
            if v == "gce_preempted":
                cloud.system(t + 0.5, "preempted", "Instance was preempted.")
                right, actor = ["cloud.spot_reclaimed"], None
            elif v == "gce_host_error":
                orderly = False
                cloud.system(t + 5, "hostError", "Instance terminated by Compute Engine.")
                right, actor = ["cloud.host_error"], None
            else:
                cloud.call(t + 0.5, v[4:], who + "@lab.example")
        elif kind == "aws":
            cloud.instance(-900)
            if v == "aws_spot":
                cloud.bridge(t - 118, "EC2 Spot Instance Interruption Warning", "aws.ec2", {"instance-id": cloud.id, "instance-action": "terminate"})
                cloud.evicted(t + 0.5)
                right, actor = ["cloud.spot_reclaimed"], None
            else:
                cloud.trail(t + 0.5, "TerminateInstances", who)
            cloud.state(t + 1, "shutting-down")
        else:
            cloud.machine()
            cloud.call(t + 0.5, "deallocate/action", who + "@lab.example")
        if v == "gce_host_error" and how == 2:
            # Nothing shows that it still lived.
            right = right + ["unknown"]
        m.goes_down(t + 1.2, "poweroff") if orderly else m.dies(t + 1)
        cloud.save()
    m.noise(5, until)
    m.save()
    log.save()
    c.expect(right, f"a living run is ended ({v}, {how})", mild=mild, actor=actor, asked=asked)


@family("n.gang_tidy", "own killed_word silent_one oom preempted_one xid79 segv_word exit_code reboot_one", 9)
def gang_tidy(c):
    """One of four breaks; the others time out; a quarter of an hour later the owner deletes all machines."""
    boxes = gang(c, skews=(0, 1.5, -2))
    t, v, bad, mild, actor = c.between(900, 1300), c.variant, 1 + c.number % 3, [], None
    g, m, log, victim = boxes[bad]
    kind = ("gce", "aws", "azure")[c.number % 3]
    for _, _, other, _ in boxes:
        other.steps(1, t)
    right = ["unknown"]
    told = True
    if v == "own":
        right, mild, actor = goes_away(c, m, log, t, "own")
    elif v == "oom":
        right, mild, actor = goes_away(c, m, log, t, "oom_unit")
    elif v == "xid79":
        right, mild, actor = goes_away(c, m, log, t, "xid79")
    elif v == "reboot_one":
        right, mild, actor = goes_away(c, m, log, t, "reboot")
    elif v == "exit_code":
        m.exit(t + 0.5, 3)
        right = NOBODY
    elif v == "preempted_one":
        if kind == "gce":
            g.system(t + 0.5, "preempted", "Instance was preempted.")
        elif kind == "aws":
            g.evicted(t + 0.5)
            g.state(t + 1, "shutting-down")
        else:
            g.scheduled(t + 0.5, "Preempt", "Started")
        m.dies(t + 1)
        right = ["cloud.spot_reclaimed"]
    elif v == "killed_word":
        log.raw(t + 0.5, f"./run.sh: line 7: {m.pid} Killed                  python3 train.py")
        mild, told = KILLED, False
    elif v == "segv_word":
        log.raw(t + 0.5, f"./run.sh: line 7: {m.pid} Segmentation fault      (core dumped) python3 train.py")
        right, mild = ["code.segfault"], ["unknown"]
    else:
        right, mild, told = ["unknown", "hang.collective_timeout", "hang.no_progress"], ["code.exception", "code.segfault"], False
    for rank, (_, box, other, _) in enumerate(boxes):
        if rank != bad:
            gone = t + 600 + c.between(0, 3)
            timeout(other, gone - 0.5, rank)
            box.exit(gone + 0.6, -6)
    late = t + c.between(900, 1500)
    for _, (one, box, _, _) in enumerate(boxes):
        if kind == "gce":
            one.call(late, "delete", "alice@lab.example")
        elif kind == "aws":
            one.trail(late, "TerminateInstances", "alice")
            one.state(late + 1, "shutting-down")
        else:
            one.call(late, "delete", "alice@lab.example")
        if box.down is None:
            box.dies(late + 1)
    if not told:
        mild = mild + ["hang.collective_timeout"]
    c.expect(right, f"a gang is tidied up after {v}", mild=mild, actor=actor, asked="exp-1")
    if told and v not in ("exit_code",):
        c.victim2 = victim
    close(c, boxes, late)


@family("n.rank_files", "oom_of_rank2 kill_of_rank2 reboot_host2 panic_host2 own_rank2 segv_rank2 oom_other_pid_host2 reboot_foreign_host kill_other_pid_host2 xid79_host2 stop_unit_host2", 9)
def rank_files(c):
    """Ranks' logs on a file server (run-7/rank0.log …, each names host and pid), and journals of the hosts."""
    t, v, mild, actor, who = c.between(900, 1300), c.variant, [], None, c.pick(*PEOPLE)
    boxes, logs = [], []
    first = c.rng.randrange(1, 5) * 100
    for rank in range(4):
        m = Machine(c, f"gpu-{11 + rank}", f"hosts/gpu-{11 + rank}", system=("u22", "el8", "u24", "el9")[(rank + c.number) % 4], form=("rsyslog", "json", "short-iso-precise")[(rank + c.number) % 3])
        log = Train(c, f"run-7/rank{rank}.log", form=("logging", "iso")[c.number % 2], step=5)
        log.number = first
        m.noise(-800, 0)
        if v == "stop_unit_host2":
            m.start(0)
        log.say(1, f"starting rank={rank} world_size=4 host={m.host} pid={m.pid}")
        log.steps(1, t + (1 if rank != 2 else 0))
        boxes.append(m)
        logs.append(log)
    m, log = boxes[2], logs[2]
    group = "/user.slice/user-1000.slice/session-31.scope"
    quiet = False
    if v == "oom_of_rank2":
        m.oom(t + 0.3, "python3", m.pid, group)
        right = ["node.system_oom", "code.host_oom"]
    elif v == "kill_of_rank2":
        m.sudo(t + 0.3, who, f"/usr/bin/kill -9 {m.pid}")
        right, actor = ["ops.manual_delete"], [who]
    elif v in ("reboot_host2", "reboot_foreign_host"):
        box = m if v == "reboot_host2" else Machine(c, "gpu-19", "hosts/gpu-19", system="u22", form="rsyslog")
        if box is not m:
            box.noise(-500, 0)
            boxes.append(box)
        box.sudo(t + 0.3, who, "/usr/sbin/reboot")
        box.log(t + 1.1, "systemd-logind", "System is rebooting.")
        box.log(t + 3, "systemd", "Reached target Reboot.")
        box.log(t + 3.4, "systemd-journald", "Journal stopped")
        box.dies(t + 3.5)
        box.boots(t + 120)
        right, actor = (["node.reboot"], [who]) if box is m else (["unknown", "code.exception", "hang.collective_timeout"], None)
        quiet = box is not m
    elif v == "panic_host2":
        m.kernel(t + 0.3, "Kernel panic - not syncing: Fatal exception")
        m.boots(t + 200)
        right = ["node.kernel_panic"]
    elif v == "own_rank2":
        log.traceback(t + 0.3, *c.pick(*OWN_ERRORS))
        right = OWN
    elif v == "segv_rank2":
        m.segfault(t + 0.3, "python3", m.pid)
        right = ["code.segfault"]
    elif v == "xid79_host2":
        m.xid(t + 0.3, 79)
        log.traceback(t + 3, "torch.AcceleratorError: CUDA error: unspecified launch failure", "    loss.backward()")
        right = ["hw.gpu"]
    elif v == "stop_unit_host2":
        m.sudo(t + 0.2, who, "/usr/bin/systemctl stop train")
        m.stop(t + 0.4)
        right, actor = ["ops.manual_delete"], [who]
    else:
        other = m.pid + 700
        if v == "oom_other_pid_host2":
            m.oom(t - 1, "restic", other, "/system.slice/backup.service", "/system.slice/backup.service")
        else:
            m.sudo(t - 0.5, who, f"/usr/bin/kill -9 {other}")
        right, quiet = ["unknown", "code.exception", "hang.collective_timeout"], True
        mild = ["code.host_oom", "node.system_oom"] if "oom" in v else []
    for rank, one in enumerate(logs):
        if rank == 2:
            continue
        gone = t + c.between(4, 12)
        one.traceback(gone, "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, remote process exited or there was a network error, NCCL version 2.21.5", "    dist.all_reduce(x)")
    for box in boxes:
        box.noise(5, t + 900)
        box.save()
    for one in logs:
        one.save()
    c.expect(right, f"ranks' files: {v}", mild=mild + (["hw.nic"] if quiet else ["unknown"] if v == "own_rank2" and False else []), actor=actor, asked="run-7")


@family("n.dmesg2", "oom_own oom_other segv_own segv_other xid79 panic_none nothing", 12)
def dmesg2(c):
    """dmesg in its forms beside the log, which ends in a shell's word or bare."""
    m = Machine(c, "gpu-07", system=c.pick("u22", "u24", "el9"))
    log = Train(c, "gpu-07/train.log")
    log.begin(1, m.pid)
    t, v, mild = c.between(900, 1400), c.variant, []
    m.kernel(-600, "perf: interrupt took too long (2514 > 2500), lowering kernel.perf_event_max_sample_rate to 79500")
    log.steps(1, t)
    group = "/user.slice/user-1000.slice/session-31.scope"
    right = ["unknown"]
    if v == "oom_own":
        m.oom(t + 0.2, "python3", m.pid, group)
        log.raw(t + 0.6, "Killed")
        right = ["node.system_oom", "code.host_oom"]
    elif v == "oom_other":
        m.oom(t - 300, "restic", m.pid + 900, "/system.slice/backup.service", "/system.slice/backup.service")
        log.raw(t + 0.6, "Killed")
        mild = KILLED
    elif v == "segv_own":
        m.segfault(t + 0.2, "python3", m.pid)
        log.raw(t + 0.6, "Segmentation fault (core dumped)")
        right = ["code.segfault"]
    elif v == "segv_other":
        m.segfault(t - 2, "node_exporter", m.pid + 900)
        log.traceback(t + 0.4, *c.pick(*OWN_ERRORS))
        right = OWN
    elif v == "xid79":
        m.xid(t + 0.2, 79)
        log.traceback(t + 3, "torch.AcceleratorError: CUDA error: unspecified launch failure", "    loss.backward()")
        right = ["hw.gpu"]
    elif v == "panic_none":
        log.traceback(t + 0.4, *c.pick(*OWN_ERRORS))
        right = OWN
    else:
        log.raw(t + 0.6, "Killed")
        mild = KILLED
    m.kernel(t + 200, "perf: interrupt took too long (3143 > 3142), lowering kernel.perf_event_max_sample_rate to 63500")
    style = c.number % 6
    rows = sorted((row[0], row[1], row[4]) for row in m.lines if row[2] == "kernel")
    out = []
    for at, _, text in rows:
        up, when = at - m.booted, c.at(at)
        if style == 0:
            out.append(f"[{DAYS[when.weekday()]} {MONTHS[when.month - 1]} {when.day:>2} {when:%H:%M:%S} {when.year}] {text}")
        elif style == 1:
            out.append(f"{iso(when, 6).replace('.', ',')}+00:00 {text}")
        elif style == 2:
            out.append(f"kern  :err   : [{DAYS[when.weekday()]} {MONTHS[when.month - 1]} {when.day:>2} {when:%H:%M:%S} {when.year}] {text}")
        elif style == 3:
            out.append(f"[{up:12.6f}] {text}")
        elif style == 4:
            out.append(f"<4>[{up:12.6f}] {text}")
        else:
            out.append(f"[{MONTHS[when.month - 1]}{when.day:>2} {when:%H:%M}] {text}" if not out else f"[  +{0.000123:.6f}] {text}")
    c.write("gpu-07/dmesg.txt", "\n".join(out) + "\n")
    log.save()
    # Seconds since a boot that nothing dates, or minutes: what is right may be told at a lower level, or left open.
    c.expect(right + (["unknown"] if style in (3, 4, 5) and v != "panic_none" and right != OWN else []), f"dmesg form {style}: {v}", mild=mild + ["code.exception"])


@family("n.resume", "reboot_then_load_fails preempted_then_load_fails own_then_port_in_use oom_then_no_checkpoint_starts_over reboot_then_completed preempt_then_nan", 8)
def resume(c):
    """A second start in the same log fails at once, for another reason than the first."""
    m, log = vm(c)
    t, v, mild, actor, who = c.between(700, 1100), c.variant, [], None, c.pick(*PEOPLE)
    log.steps(1, t)
    first, then = v.split("_then_")
    if first == "reboot":
        m.sudo(t + 0.2, who, "/usr/sbin/reboot")
        m.goes_down(t + 1)
        m.boots(t + 120)
    elif first.startswith("preempt"):
        m.sudo(t + 0.2, who, "/usr/bin/systemctl stop train")
        m.stop(t + 0.4)
    elif first == "oom":
        m.oom_own(t + 0.2, True)
    else:
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        m.exit(t + 0.8, 1)
    again = t + 300
    m.pid += 300
    m.start(again)
    log.begin(again + 1, m.pid)
    if then == "load_fails":
        log.traceback(again + 20, c.pick("RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory", "RuntimeError: unexpected EOF, expected 3423 more bytes. The file might be corrupted.", "RuntimeError: Error(s) in loading state_dict for GPT: size mismatch for wte.weight"), "    state = torch.load(path)")
        m.exit(again + 21, 1)
        right = OWN + ["code.config_or_input", "dep.storage"]
    elif then == "port_in_use":
        log.traceback(again + 5, "RuntimeError: The server socket has failed to listen on any local network address. The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).", "    dist.init_process_group('nccl')")
        m.exit(again + 6, 1)
        right = OWN + ["code.config_or_input"]
    elif then == "completed":
        log.steps(again + 2, again + 300)
        right, mild, actor = goes_away(c, m, log, again + 301, "completed")
    elif then == "nan":
        log.steps(again + 2, again + 300)
        log.traceback(again + 301, "FloatingPointError: loss is nan, stopping training", "    raise FloatingPointError('loss is nan, stopping training')")
        m.exit(again + 302, 1)
        right = ["code.divergence"]
    else:
        log.say(again + 2, "no checkpoint found in /ckpt, starting from scratch", "WARNING")
        last = log.steps(again + 3, again + 400)
        right, mild = ["none.running"], ["unknown"]
        c.expect(right, f"a second start: {v}", mild=mild)
        finish(c, m, log, last + 3)
        return
    c.expect(right, f"a second start: {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.pstore", "panic_part oops_survived_own panic_of_old_boot_then_own panic_part_no_journal", 8)
def pstore(c):
    """systemd-pstore's archive of a crash, in its parts."""
    m, log = vm(c, unit=c.number % 2 == 0)
    t, v, mild, actor = c.between(900, 1400), c.variant, [], None
    log.steps(1, t)
    up = t - m.booted
    lines = [(-0.4, 4, "BUG: unable to handle page fault for address: ffffb0c3c1a5f000"), (-0.3, 4, "#PF: supervisor write access in kernel mode"), (0.0, 0, "Kernel panic - not syncing: Fatal exception in interrupt")]
    stamp = int(c.at(t).timestamp())
    if v.startswith("panic_part"):
        c.write(f"gpu-07/pstore/{stamp}000001/dmesg.txt", "Panic#1 Part1\n" + "".join(f"<{p}>[{up + at:.6f}] {text}\n" for at, p, text in lines))
        m.dies(t + 0.3)
        m.boots(t + 200)
        m.log(t + 206, "systemd-pstore", f"PStore dmesg-efi_pstore-{stamp}000001 moved to /var/lib/systemd/pstore/{stamp}000001")
        right, mild = ["node.kernel_panic", "node.reboot", "unknown"], []
    elif v == "oops_survived_own":
        c.write(f"gpu-07/pstore/{stamp - 300}000001/dmesg.txt", "Oops#1 Part1\n" + "".join(f"<{p}>[{up - 300 + at:.6f}] {text}\n" for at, p, text in lines[:2]))
        right, mild, actor = goes_away(c, m, log, t, "own")
    else:
        c.write(f"gpu-07/pstore/{stamp - 700000}000001/dmesg.txt", "Panic#1 Part1\n" + "".join(f"<{p}>[{4121.5 + at:.6f}] {text}\n" for at, p, text in lines))
        right, mild, actor = goes_away(c, m, log, t, "own")
    c.expect(right, f"pstore: {v}", mild=mild, actor=actor)
    if v == "panic_part_no_journal":
        log.save()
    else:
        finish(c, m, log)
