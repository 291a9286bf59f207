"""What was asked and did not happen, what slept, what went back; ends in words that few know, then a deletion; a rank that failed and a job that hung on; several runs on one machine; merged logs."""

import json

from kit import NOBODY, OWN, PEOPLE, family, finish, goes_away, vm
from world import Aws, Azure, DAYS, Gce, MONTHS, Machine, OWN_ERRORS, Slurm, Train, iso

KILLED = ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]

DENIED = {
    "inhibited": ("sudo", "/usr/bin/systemctl reboot", ("systemd-logind", 'Operation inhibited by "alice" (PID 4711 "python3", user alice), reason is "training".')),
    "password": ("bad", "/usr/sbin/reboot", None), "not_allowed": ("notallowed", "/usr/bin/systemctl stop train", None), "needs_password": ("needs", "/usr/bin/kill -9 {p}", None),
    "polkit": ("polkit", "", ("polkitd", "Operator of unix-session:44 FAILED to authenticate to gain authorization for action org.freedesktop.systemd1.manage-units for system-bus-name::1.98 [systemctl stop train] (owned by unix-user:{w})")),
    "polkit_reboot": ("polkit", "", ("polkitd", "Operator of unix-session:44 FAILED to authenticate to gain authorization for action org.freedesktop.login1.reboot for system-bus-name::1.98 [reboot] (owned by unix-user:{w})")),
    "su_failed": ("su", "", ("su", "FAILED SU (to root) {w} on pts/3")), "runuser_kill": ("su", "", ("kernel", "audit: type=1400 audit(1.1:1): apparmor=\"DENIED\" operation=\"signal\" class=\"signal\" profile=\"docker-default\" pid=991 comm=\"kill\" requested_mask=\"send\" denied_mask=\"send\" signal=kill peer=\"unconfined\"")),
    "masked": ("sudo", "/usr/sbin/shutdown -r now", ("systemd", "Failed to start reboot.target: Unit reboot.target is masked.")), "list": ("list", "/usr/sbin/reboot", None),
}


@family("n.denied", " ".join(DENIED), 12)
def denied(c):
    """Somebody tried; it was refused, inhibited, or failed. A few seconds later the run ends for another reason."""
    m, log = vm(c)
    t, who = c.between(900, 1500), c.pick(*PEOPLE)
    log.steps(1, t)
    how, command, said = DENIED[c.variant]
    at, command = t - c.pick(0.4, 1.5, 4, 20), command.format(p=m.pid)
    tail = f"TTY=pts/0 ; PWD=/home/{who} ; USER=root ; COMMAND={command}"
    if how == "sudo":
        m.sudo(at, who, command)
    elif how == "bad":
        m.log(at, "sudo", f"{who:>8} : 3 incorrect password attempts ; {tail}", 41000)
    elif how == "notallowed":
        m.log(at, "sudo", f"{who:>8} : command not allowed ; {tail}", 41000)
    elif how == "needs":
        m.log(at, "sudo", f"{who:>8} : a password is required ; {tail}", 41000)
    elif how == "list":
        m.log(at, "sudo", f"{who:>8} : TTY=pts/0 ; PWD=/home/{who} ; USER=root ; COMMAND=list {command}", 41000)
    if said:
        m.log(at + 0.1, said[0], said[1].format(w=who), None if said[0] in ("kernel", "systemd", "systemd-logind") else 41000)
    kind = ("own", "killed", "bare", "term", "power", "oom_unit")[c.number % 6]
    if kind == "term":
        m.exit(t + 0.4, -15)
        right, mild, actor = ["unknown"], ["ops.manual_delete", "code.exception"], None
    else:
        right, mild, actor = goes_away(c, m, log, t, kind)
    c.expect(right, f"refused ({c.variant}), then {kind}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.sleep", "suspend_resume_own suspend_resume_running suspend_resume_completed suspend_then_timeout resume_then_reboot other_suspended freeze_cgroup_then_own", 8)
def sleep(c):
    """The machine was suspended and woken; the run went on, or not."""
    m, log = vm(c)
    t, v, who, mild, actor = c.between(1500, 2200), c.variant, c.pick(*PEOPLE), [], None
    a, b = c.between(400, 600), c.between(900, 1200)
    until = 4500
    if v == "other_suspended":
        log.steps(1, t)
        far = Machine(c, "gpu-08", system="u22", form="rsyslog")
        far.noise(-300, 900)
        far.sudo(t - 4, who, "/usr/bin/systemctl suspend")
        far.kernel(t - 3, "PM: suspend entry (deep)")
        far.save()
        right, mild, actor = goes_away(c, m, log, t, "bare")
    else:
        log.steps(1, a)
        if v == "freeze_cgroup_then_own":
            m.sudo(a + 0.1, who, "/usr/bin/systemctl freeze train")
            m.sudo(b - 0.1, who, "/usr/bin/systemctl thaw train")
        else:
            m.sudo(a + 0.1, who, "/usr/bin/systemctl suspend")
            m.log(a + 0.4, "systemd", "Starting System Suspend...")
            m.kernel(a + 0.8, "PM: suspend entry (deep)")
            m.kernel(b - 0.2, "PM: suspend exit")
            m.log(b, "systemd", "Finished System Suspend.")
            m.gaps.append((a + 1, b - 0.3))
        if v == "suspend_then_timeout":
            log.traceback(b + 1, "torch.distributed.DistNetworkError: The client socket has timed out after 300000ms while trying to connect to (10.0.0.7, 29500).", "    store.get(key)")
            m.exit(b + 1.8, 1)
            right, mild = ["ops.manual_delete", "unknown", "dep.service", "code.exception"], ["hang.rendezvous", "hang.collective_timeout"]
        else:
            last = log.steps(b, t)
            kind = v.split("_")[-1]
            if kind == "running":
                right, mild, until = ["none.running"], ["unknown"], last + 3
            else:
                right, mild, actor = goes_away(c, m, log, t, kind)
    c.expect(right, f"asleep: {v}", mild=mild, actor=actor)
    finish(c, m, log, until)


@family("n.rollback", "running own killed stop completed reboot oom_unit", 8)
def rollback(c):
    """After a spike of the loss the program goes back to an earlier step by itself: its numbers fall, nothing had ended."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    half = t - c.between(200, 500)
    log.steps(1, half)
    log.say(half + 0.3, c.pick("loss spike detected (7.91 > 3.0), rolling back to step %d", "Loss diverged; reloading checkpoint step=%d and skipping 200 batches", "bad batch, restoring from /ckpt/step-%06d") % (log.number - 40), "WARNING")
    log.number -= 40
    if c.number % 2:
        log.say(half + 4, f"loaded checkpoint step={log.number}")
    last = log.steps(half + 5, t)
    until = 4000
    if v == "running":
        right, mild, until = ["none.running"], ["unknown"], last + 3
    else:
        right, mild, actor = goes_away(c, m, log, t, v)
    c.expect(right, f"rolled back, then {v}", mild=mild, actor=actor)
    finish(c, m, log, until)


WORDS = ("make: *** [Makefile:12: train] Error 1", "Command terminated by signal 9", "Command exited with non-zero status 1", "ERROR conda.cli.main_run:execute(49): `conda run python3 train.py` failed. (See above for error)", "error: Recipe `train` failed on line 4 with exit code 137",
         "+ exit 1", "train.py exited with code 1", "[entrypoint] trainer exited rc=137, uploading logs", "Process finished with exit code 1", "subprocess.CalledProcessError: Command '['python3', 'train.py']' returned non-zero exit status 1.",
         "ERROR: the trainer died, see above", "./run.sh: line 7: 4711 Killed                  python3 train.py", "./run.sh: line 7: 4711 Segmentation fault      (core dumped) python3 train.py", "srun: error: gpu07: task 0: Killed", "Bus error (core dumped)", "Terminated")


@family("n.silent_act", "gce_delete gce_stop aws_terminate azure_deallocate gce_preempted aws_spot azure_preempt gce_host_error", len(WORDS))
def silent_act(c):
    """The program's log ends in words that it ended; minutes later the machine is deleted, stopped or reclaimed: that did not end it."""
    v, who = c.variant, c.pick(*PEOPLE)
    kind = v.split("_")[0]
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c)
    name = cloud.vm if kind != "aws" else cloud.id
    m = Machine(c, cloud.dns if kind == "aws" else name, name, form=c.form if c.form != "syslog" else "rsyslog")
    log = Train(c, f"{name}/train.log", step=5)
    m.noise(-800, 0)
    log.begin(1, m.pid)
    t = c.between(900, 1500)
    log.steps(1, t)
    log.raw(t + 0.5, WORDS[c.number])
    late = t + c.between(240, 1500)
    m.noise(5, late)
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
        if v in ("gce_delete", "gce_stop"):
            cloud.call(late, v[4:], who + "@lab.example")
        else:
            cloud.system(late, "preempted" if v.endswith("preempted") else "hostError", "Instance was preempted." if v.endswith("preempted") else "Instance terminated by Compute Engine.")
    elif kind == "aws":
        cloud.instance(-900)
        cloud.trail(late, "TerminateInstances", who) if v == "aws_terminate" else cloud.evicted(late)
        cloud.state(late + 1, "shutting-down")
    else:
        cloud.machine()
        if v == "azure_deallocate":
            cloud.call(late, "deallocate/action", who + "@lab.example")
        else:
            cloud.scheduled(late, "Preempt", "Started")
    m.dies(late + 1)
    m.save()
    log.save()
    cloud.save()
    segv = "Segmentation" in WORDS[c.number] or "Bus error" in WORDS[c.number]
    c.expect(["unknown", "code.exception"] + (["code.segfault"] if segv else []), f"'{WORDS[c.number]}', then {v} {late - t:.0f} s later", mild=KILLED + ["none.running", "cloud.spot_reclaimed", "cloud.host_error", "cloud.instance_terminated", "hang.no_progress"], asked="exp-1" if kind == "aws" else name)


@family("n.lingers", "cancel_owner cancel_admin limit stop_person gce_delete preempted reboot", 10)
def lingers(c):
    """One rank fails with a traceback, the others wait in a collective; half an hour later somebody or a limit ends what is left."""
    v, who, mild, actor = c.variant, c.pick(*PEOPLE), [], None
    t = c.between(900, 1300)
    late = t + c.between(400, 1700)
    error, where = c.pick(*OWN_ERRORS)
    rank = c.pick(3, 5)
    tb = "\n".join(f"[rank{rank}]: {line}" for line in ("Traceback (most recent call last):", "  File \"/home/alice/train.py\", line 118, in main", where, error))
    if v in ("cancel_owner", "cancel_admin", "limit", "preempted"):
        s = Slurm(c)
        c.asked = str(s.job)
        log = Train(c, f"slurm-{s.job}.out", step=5)
        log.begin(2)
        log.steps(2, t)
        log.raw(t + 0.2, tb)
        why = {"limit": " DUE TO TIME LIMIT", "preempted": " DUE TO PREEMPTION"}.get(v, "")
        log.raw(late + 0.5, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(late))}{why} ***")
        if v == "limit":
            s.ctld(late, f"Time limit exhausted for JobId={s.job}")
            s.ended("TIMEOUT", "0:0", late + 1)
        elif v == "preempted":
            s.ctld(late, f"preempted JobId={s.job} has been killed to reclaim resources for JobId={s.job + 9}")
            s.ended("PREEMPTED", "0:0", late + 1)
        else:
            uid = 1000 if v == "cancel_owner" else 2000
            s.kill(late, uid)
            s.ended(f"CANCELLED by {uid}", "0:0", late + 1)
        s.save(controller=c.number % 3 != 1, accounting=c.number % 3 != 2)
        log.save()
    else:
        m, log = vm(c, step=5) if v != "gce_delete" else (None, None)
        if v == "gce_delete":
            g = Gce(c)
            m = Machine(c, g.vm, g.vm, form=c.form if c.form != "syslog" else "rsyslog")
            log = Train(c, f"{g.vm}/train.log", step=5)
            m.noise(-800, 0)
            m.start(0)
            log.begin(1, m.pid)
            g.call(-900, "insert", "alice@lab.example", 20)
            c.asked = g.vm
        log.steps(1, t)
        log.raw(t + 0.2, tb)
        if v == "stop_person":
            m.sudo(late, who, "/usr/bin/systemctl stop train")
            m.stop(late + 0.3)
        elif v == "reboot":
            m.sudo(late, who, "/usr/sbin/reboot")
            m.goes_down(late + 0.8)
            m.boots(late + 200)
        else:
            g.call(late, "delete", who + "@lab.example")
            m.dies(late + 0.5)
            g.save()
        finish(c, m, log, late if v == "gce_delete" else 4000)
    c.expect(OWN, f"a rank failed, the rest was ended by {v} {late - t:.0f} s later", mild=mild, actor=actor, asked=c.asked)


@family("n.several", "a_stopped_b_asked b_oom_a_asked a_killed_pid b_reboot_both a_completed_then_b_stop unit_names_prefix a_segv_b_running", 10)
def several(c):
    """Two services with two logs on one machine: train-a, train-b."""
    m = Machine(c, "gpu-07")
    m.noise(-900, 0)
    a, b = Train(c, "gpu-07/train-a.log"), Train(c, "gpu-07/train-b.log")
    pa, pb = m.pid, m.pid + 400
    m.start(0, "train-a")
    m.start(1, "train-b")
    a.begin(1, pa)
    b.begin(2, pb)
    t, v, who, mild, actor = c.between(900, 1400), c.variant, c.pick(*PEOPLE), [], None
    until = 3500
    def own(log, unit, at):
        log.traceback(at + 0.1, *c.pick(*OWN_ERRORS))
        m.exit(at + 0.7, 1, unit)
        return OWN
    if v == "a_stopped_b_asked":
        a.steps(1, t - 2)
        b.steps(2, t)
        m.sudo(t - 1.5, who, "/usr/bin/systemctl stop train-a")
        m.stop(t - 1.2, "train-a")
        right, asked = own(b, "train-b", t), "train-b.log"
    elif v == "b_oom_a_asked":
        a.steps(1, t + 1)
        b.steps(2, t)
        m.unit = "train-b"
        m.oom(t + 0.2, "python3", pb, "/system.slice/train-b.service", "/system.slice/train-b.service")
        m.exit(t + 0.8, -9, "train-b", result="oom-kill")
        right, asked = own(a, "train-a", t + 1), "train-a.log"
    elif v == "a_killed_pid":
        a.steps(1, t)
        b.steps(2, t + 0.2)
        m.sudo(t + 0.1, who, f"/usr/bin/kill -9 {pa}")
        m.exit(t + 0.3, -9, "train-a")
        m.exit(t + 0.6, -9, "train-b")
        right, mild, asked = ["unknown"], KILLED, "train-b.log"
    elif v == "b_reboot_both":
        a.steps(1, t)
        b.steps(2, t)
        m.sudo(t + 0.1, who, "/usr/sbin/reboot")
        m.unit = "train-a"
        m.goes_down(t + 0.8)
        m.exit(t + 1.8, -15, "train-b")
        m.boots(t + 100)
        right, actor, asked = ["node.reboot"], [who], c.pick("train-a.log", "train-b.log")
    elif v == "a_completed_then_b_stop":
        a.steps(1, t - 100)
        a.say(t - 99, "training completed, saved final checkpoint")
        b.steps(2, t)
        m.sudo(t + 0.1, who, "/usr/bin/systemctl stop train-b")
        m.stop(t + 0.3, "train-b")
        right, asked = ["none.completed"], "train-a.log"
    elif v == "unit_names_prefix":
        a.steps(1, t)
        b.steps(2, t + 300)
        m.sudo(t - 0.4, who, "/usr/bin/systemctl stop train")
        right, asked = own(a, "train-a", t), "train-a.log"
    else:
        a.steps(1, t)
        m.segfault(t + 0.2, "python3", pa)
        m.exit(t + 1, -11, "train-a")
        last = b.steps(2, t + 200)
        right, mild, asked, until = ["none.running"], ["unknown"], "train-b.log", last + 3
    m.noise(5, until)
    m.save()
    a.save()
    b.save()
    c.expect(right, f"two services: {v}", mild=mild, actor=actor, asked=asked)


@family("n.merged", "own other_reboot other_stop reboot stop oom_unit killed panic", 10)
def merged(c):
    """One file of journals of three machines: pdsh's or clush's prefix before each line, or a syslog server's file; the log beside it."""
    boxes = [Machine(c, f"gpu-0{n}", system=("u22", "el8", "u24")[n - 7], form=("short-iso", "rsyslog", "short-iso-precise")[c.number % 3]) for n in (7, 8, 9)]
    for box in boxes:
        box.noise(-900, 0)
        box.start(0)
    m = boxes[0]
    log = Train(c, "gpu-07/train.log")
    log.begin(1, m.pid)
    t, v, mild, actor, who = c.between(900, 1400), c.variant, [], None, c.pick(*PEOPLE)
    log.steps(1, t)
    if v.startswith("other"):
        far = boxes[1 + c.number % 2]
        if v == "other_reboot":
            far.sudo(t - 1, who, "/usr/sbin/reboot")
            far.goes_down(t - 0.4)
            far.boots(t + 90)
        else:
            far.sudo(t - 1, who, "/usr/bin/systemctl stop train")
            far.stop(t - 0.8)
        right, mild, actor = goes_away(c, m, log, t, "bare")
    else:
        right, mild, actor = goes_away(c, m, log, t, v)
    rows = []
    for box in boxes:
        box.noise(5, 3000)
        for row in box.kept():
            line = box.line(*row)
            if line and not line.startswith("-- Boot"):
                rows.append((row[0], row[1], (f"{box.host}: " if c.number % 2 else "") + line))
    c.write("all-journals.log" if c.number % 2 else "syslog", "".join(line for _, _, line in sorted(rows)))
    log.save()
    c.expect(right, f"one file of three machines: {v}", mild=mild, actor=actor)


@family("n.cut_tb", "killed exit1 running stop steps_after", 8)
def cut_tb(c):
    """A traceback that is cut off before its last line."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1400), c.variant, [], None
    log.steps(1, t)
    log.raw(t + 0.2, "Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 231, in <module>\n    main()\n  File \"/home/alice/tr")
    until = 3500
    if v == "killed":
        m.exit(t + 0.5, -9)
        right, mild = ["unknown"], KILLED
    elif v == "exit1":
        m.exit(t + 0.5, 1)
        right = NOBODY
    elif v == "stop":
        right, mild, actor = goes_away(c, m, log, t + 0.4, "stop")
    elif v == "running":
        right, mild, until = ["none.running", "unknown", "code.exception"], [], t + 1
    else:
        last = log.steps(t + 0.5, t + 200)
        right, mild, until = ["none.running"], ["unknown"], last + 3
    c.expect(right, f"a traceback cut off: {v}", mild=mild, actor=actor)
    finish(c, m, log, until)


@family("n.ray", "actor_oom_listed_only actor_died_node_preempted memory_monitor task_error_own stopped_job worker_killed_by_signal node_died_unknown", 8)
def ray(c):
    """Ray's words list what may have been; they prove none of it."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1400), c.variant, [], None
    log.steps(1, t)
    died = ("ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n\tclass_name: TrainWorker\n\tactor_id: 4c1f2a\n\tpid: 41200\n\tnamespace: default\n\tip: 10.0.0.8\nThe actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file. "
            "There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high memory usage. (2) ray stop --force is called. (3) The worker is crashed unexpectedly due to SIGSEGV or other unexpected errors.")
    if v == "actor_oom_listed_only":
        log.traceback(t + 1, died, "    ray.get(refs)")
        right, mild = ["unknown", "code.exception"], ["code.host_oom", "code.segfault"]
    elif v == "worker_killed_by_signal":
        m.oom(t + 0.2, "ray::TrainWorke", 41200, "/system.slice/train.service", "/system.slice/train.service")
        log.traceback(t + 1, died.replace("10.0.0.8", "10.0.0.7"), "    ray.get(refs)")
        right = ["code.host_oom"]
    elif v == "memory_monitor":
        log.traceback(t + 1, "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.0.0.7, ID: 4c1f) where the task (task ID: 88, name=TrainWorker, pid=41200, memory used=401.22GB) was running was 988.12GB / 1007.44GB (0.98), which exceeds the memory usage threshold of 0.95.", "    ray.get(refs)")
        right = ["code.host_oom", "node.system_oom"]
    elif v == "task_error_own":
        error, where = c.pick(*OWN_ERRORS)
        log.raw(t + 0.3, f"(TrainWorker pid=41200, ip=10.0.0.8) Traceback (most recent call last):\n(TrainWorker pid=41200, ip=10.0.0.8)   File \"/home/alice/train.py\", line 118, in main\n(TrainWorker pid=41200, ip=10.0.0.8) {where}\n(TrainWorker pid=41200, ip=10.0.0.8) {error}")
        log.traceback(t + 1, f"ray.exceptions.RayTaskError({error.split(':')[0]}): ray::TrainWorker.run() (pid=41200, ip=10.0.0.8)\n  File \"/home/alice/train.py\", line 118, in main\n{where}\n{error}", "    ray.get(refs)")
        right = OWN
    elif v == "stopped_job":
        log.raw(t + 0.5, "2026-11-18 12:03:11,412\tINFO job_manager.py:531 -- Job 'raysubmit_x1' was stopped by user." if False else "Job 'raysubmit_x1' was stopped")
        m.exit(t + 1.5, -15)
        right, mild = ["ops.manual_delete", "unknown"], []
    else:
        log.traceback(t + 40, "ray.exceptions.ActorDiedError: The actor died because its node has died. Node Id: 4c1f2a. the actor's node was terminated unexpectedly: health check failed due to missing too many heartbeats", "    ray.get(refs)")
        right, mild = ["unknown", "node.not_ready"], ["code.exception", "cloud.spot_reclaimed"]
        if v == "actor_died_node_preempted":
            far = Machine(c, "gpu-08", system="u22", form="rsyslog")
            far.noise(-300, t)
            far.dies(t)
            far.save()
    if v != "stopped_job":
        m.exit(t + (41 if "node" in v else 2), 1)
    c.expect(right, f"Ray: {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.accounts", "cancel_sudo_scancel_u alice_scancel_name root_cron_scancel coordinator_uid cancelled_zero_uid owner_after_fail deadline_passed", 8)
def accounts(c):
    """Who cancelled, by several records: a person's sudo on the controller, a uid, root's cron."""
    s = Slurm(c)
    j = s.job
    c.asked = str(j)
    log = Train(c, f"slurm-{j}.out")
    log.begin(2)
    ctl = Machine(c, "slurmctl", system="el8", form=c.pick("rsyslog", "json"))
    ctl.noise(-500, 3000)
    t, v, who, mild, actor = c.between(900, 1500), c.variant, c.pick(*PEOPLE), [], None
    log.steps(2, t)
    uid = {"alice_scancel_name": 1000, "coordinator_uid": 2000}.get(v, 0)
    right = ["ops.manual_delete"]
    if v == "cancel_sudo_scancel_u":
        ctl.sudo(t - 0.2, who, "/usr/bin/scancel -u alice")
        actor = [who]
    elif v == "root_cron_scancel":
        ctl.log(t - 0.3, "CRON" if False else "CROND", f"(root) CMD (/usr/local/sbin/scancel-idle {j})", 4141)
        ctl.sudo(t - 40, who, "/usr/bin/scontrol show job")
        actor = None
    elif v == "cancelled_zero_uid":
        ctl.sudo(t - 30, who, f"/usr/bin/scancel {j + 1}")
    elif v == "alice_scancel_name":
        actor = ["alice", "1000", "uid 1000"]
    elif v == "coordinator_uid":
        actor = ["2000", "uid 2000"]
    if v == "owner_after_fail":
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        s.kill(t + 3, 1000)
        right = OWN
    elif v == "deadline_passed":
        s.ctld(t, f"JobId={j} deadline reached, killing" if False else f"_timeout_job: deadline exhausted for JobId={j}") if False else None
        log.raw(t + 0.4, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))} DUE TO TIME LIMIT ***")
        s.ended("DEADLINE", "0:0", t + 1)
        right = ["code.deadline"]
    else:
        s.kill(t, uid)
        log.raw(t + 0.4, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))} ***")
        s.ended(f"CANCELLED by {uid}", "0:0", t + 1)
    c.expect(right, f"who cancelled: {v}", mild=mild, actor=actor)
    s.save(controller=c.number % 4 != 3)
    log.save()
    ctl.save()
