"""Slurm: requeue, grace, signals, arrays, heterogeneous jobs, steps, checks of nodes; accounting, controller and node apart."""

import json

from kit import NOBODY, OWN, PEOPLE, family
from world import Case, Machine, OWN_ERRORS, Slurm, Train, iso


def job(c, nodes="gpu07", step=None, begin=True, **more):
    s = Slurm(c, nodes=nodes, **more)
    c.asked = str(s.job)
    log = Train(c, f"slurm-{s.job}.out", step=step)
    if begin:
        log.begin(2)
    return s, log


def group(job, step="0"):
    return f"/system.slice/slurmstepd.scope/job_{job}/step_{step}/user/task_0"


def cut(s, c, t, why="", job=None, step=None, host="gpu07"):
    what = f"STEP {job or s.job}.{step}" if step is not None else f"JOB {job or s.job}"
    return f"slurmstepd: error: *** {what} ON {host} CANCELLED AT {iso(c.at(t))}{' DUE TO ' + why if why else ''} ***"


def node(c, host="gpu07", until=3000, **more):
    m = Machine(c, host, system=c.pick("el8", "el9", "u22"), form=c.pick("rsyslog", "json", "short-iso"), **more)
    m.unit = "slurmd"
    m.noise(-900, until)
    return m


class Daemon:
    """slurmd.log of a node."""

    def __init__(self, c, host="gpu07"):
        self.c, self.host, self.lines = c, host, []

    def say(self, t, text):
        self.lines.append((t, len(self.lines), text))

    def save(self):
        self.c.write(f"{self.host}/slurmd.log", "".join(f"[{iso(self.c.at(t), 3)}] {text}\n" for t, _, text in sorted(self.lines)))


# What really ends a job, and which of its observers tell.
TRUTHS = "own bare oom limit cancel_owner cancel_admin preempted node_panic node_silent node_reboot completed segv set_down killed nvlink"


def truth(c, s, log, m, d, t, kind):
    """Writes it for all observers. Returns right, mild, actor, and what to accept where only some are there."""
    j = s.job
    d.say(1, f"launch task StepId={j}.0 request from UID:1000 GID:1000 HOST:10.0.0.7 PORT:41234")
    d.say(0.5, f"Launching batch job {j} for UID 1000")
    who = c.pick(*PEOPLE)
    if kind in ("own", "bare", "killed", "segv"):
        code = {"own": 1, "bare": c.pick(1, 2, 3), "killed": 137, "segv": 139}[kind]
        if kind == "own":
            log.traceback(t - 0.3, *c.pick(*OWN_ERRORS))
        if kind == "segv":
            m.segfault(t - 0.2, "python3", m.pid)
            log.raw(t, "srun: error: gpu07: task 0: Segmentation fault (core dumped)")
        elif kind != "killed":
            log.raw(t, f"srun: error: gpu07: task 0: Exited with exit code {code}")
        else:
            log.raw(t, "srun: error: gpu07: task 0: Killed")
        s.complete(t + 1, code)
        d.say(t + 1, f"[{j}.batch] done with step")
        s.ended("FAILED", f"{code}:0", t + 1)
        return {"own": OWN, "bare": NOBODY, "killed": ["unknown"], "segv": ["code.segfault"]}[kind], {"killed": ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]}.get(kind, []), None
    if kind == "oom":
        own = group(j)
        m.oom(t, "python3", m.pid, own, own.rsplit("/", 3)[0])
        log.raw(t + 0.5, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.0. Some of the step tasks have been OOM Killed.")
        log.raw(t + 0.7, "srun: error: gpu07: task 0: Out Of Memory")
        d.say(t + 0.5, f"[{j}.0] error: Detected 1 oom_kill event in StepId={j}.0. Some of the step tasks have been OOM Killed.")
        s.ctld(t + 2, f"_job_complete: JobId={j} OOM failure")
        s.ctld(t + 2.001, f"_job_complete: JobId={j} done")
        s.ended("OUT_OF_MEMORY", "0:125", t + 2)
        return ["code.host_oom"], [], None
    if kind == "limit":
        s.ctld(t, f"Time limit exhausted for JobId={j}")
        log.raw(t + 0.5, cut(s, c, t, "TIME LIMIT"))
        d.say(t + 0.5, f"[{j}.batch] error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))} DUE TO TIME LIMIT ***")
        s.ended("TIMEOUT", "0:0", t + 1)
        return ["code.deadline"], [], None
    if kind in ("cancel_owner", "cancel_admin"):
        uid = 1000 if kind == "cancel_owner" else 2000
        s.kill(t, uid)
        log.raw(t + 0.5, cut(s, c, t))
        d.say(t + 0.5, f"[{j}.batch] error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))} ***")
        s.ended(f"CANCELLED by {uid}", "0:0", t + 1)
        return ["ops.manual_delete"], [], ["alice", "1000", "uid 1000"] if uid == 1000 else ["2000", "uid 2000"]
    if kind == "preempted":
        s.ctld(t, f"preempted JobId={j} has been killed to reclaim resources for JobId={j + 9}")
        log.raw(t + 0.5, cut(s, c, t, "PREEMPTION"))
        d.say(t + 0.5, f"[{j}.batch] error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))} DUE TO PREEMPTION ***")
        s.ended("PREEMPTED", "0:0", t + 1)
        return ["sched.preempted"], [], None
    if kind.startswith("node_"):
        right = {"node_panic": ["node.kernel_panic"], "node_silent": ["node.not_ready"], "node_reboot": ["node.reboot"]}[kind]
        actor = None
        if kind == "node_panic":
            m.kernel(t, "Kernel panic - not syncing: Fatal exception in interrupt")
            m.boots(t + 500)
        elif kind == "node_silent":
            m.dies(t)
        else:
            m.sudo(t, who, "/usr/sbin/reboot")
            m.goes_down(t + 0.8)
            m.boots(t + 420)
            actor = [who]
        s.ctld(t + 120, "error: Nodes gpu07 not responding")
        s.ctld(t + 310, "error: Nodes gpu07 not responding, setting DOWN")
        s.ctld(t + 310.1, f"Killing JobId={j} on failed node gpu07")
        s.ended("NODE_FAIL", "0:0", t + 310)
        return right, ["node.not_ready", "node.reboot"] if kind != "node_silent" else [], actor
    if kind == "set_down":
        s.ctld(t, "update_node: node gpu07 reason set to: replace PSU")
        s.ctld(t + 0.001, "update_node: node gpu07 state set to DOWN")
        s.ctld(t + 0.002, f"Killing JobId={j} on failed node gpu07")
        log.raw(t + 0.5, cut(s, c, t, "NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS"))
        s.ended("NODE_FAIL", "0:0", t + 1)
        return ["ops.manual_delete"], ["node.not_ready"], None
    if kind == "nvlink":
        m.xid(t, 74)
        log.traceback(t + 3, "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, unhandled cuda error", "    dist.all_reduce(x)")
        log.raw(t + 4, "srun: error: gpu07: task 0: Exited with exit code 1")
        s.complete(t + 5, 1)
        s.ended("FAILED", "1:0", t + 5)
        return ["hw.nvlink_fabric"], [], None
    log.say(t, "training completed, saved final checkpoint")
    s.complete(t + 1, 0)
    d.say(t + 1, f"[{j}.batch] done with step")
    s.ended("COMPLETED", "0:0", t + 1)
    return ["none.completed"], [], None


# What those say who see only a part.
ALONE = {
    # truth: (accounting alone, controller alone, output alone, node alone with output)
    "own": (NOBODY, NOBODY, OWN, OWN),
    "bare": (NOBODY, NOBODY, NOBODY, NOBODY),
    "killed": (["unknown"], ["unknown"], ["unknown"], ["unknown"]),
    "segv": (["code.segfault"], ["code.segfault"], ["code.segfault"], ["code.segfault"]),
    "oom": (["code.host_oom"], ["code.host_oom"], ["code.host_oom"], ["code.host_oom"]),
    "limit": (["code.deadline"], ["code.deadline"], ["code.deadline"], ["code.deadline"]),
    "cancel_owner": (["ops.manual_delete"],) * 4,
    "cancel_admin": (["ops.manual_delete"],) * 4,
    "preempted": (["sched.preempted"],) * 4,
    "node_panic": (["node.not_ready"], ["node.not_ready"], ["unknown", "none.running"], ["node.kernel_panic"]),
    "node_silent": (["node.not_ready"], ["node.not_ready"], ["unknown", "none.running"], ["unknown", "node.not_ready", "none.running", "node.reboot"]),
    "node_reboot": (["node.not_ready"], ["node.not_ready"], ["unknown", "none.running"], ["node.reboot"]),
    "set_down": (["node.not_ready"], ["ops.manual_delete"], ["node.not_ready", "unknown"], ["node.not_ready", "unknown"]),
    "nvlink": (NOBODY, NOBODY, NOBODY + ["hw.nvlink_fabric"], ["hw.nvlink_fabric"]),
    "completed": (["none.completed"],) * 4,
}


def near(c, s, m, d, log, t, kind, after):
    """A bystander in Slurm's records."""
    j = s.job
    other = c.pick(j + 1, j - 1, j * 10 + 3, int(str(j)[:-1]) if j > 99 else j + 2)
    if kind == "other_limit":
        s.ctld(t, f"Time limit exhausted for JobId={other}")
    elif kind == "other_cancel":
        s.ctld(t, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={other} uid 2000")
    elif kind == "other_preempt":
        s.ctld(t, f"preempted JobId={other} has been killed to reclaim resources for JobId={j + 99}")
    elif kind == "other_oom":
        own = group(other)
        m.oom(t, "python3", m.pid + 900, own, own.rsplit("/", 3)[0])
        d.say(t, f"[{other}.0] error: Detected 1 oom_kill event in StepId={other}.0. Some of the step tasks have been OOM Killed.")
        s.account("OUT_OF_MEMORY", "0:125", t - 600, t, [("batch", "OUT_OF_MEMORY", "0:125")], job=other, name="eval", user="bob")
    elif kind == "other_node_down":
        s.ctld(t, "error: Nodes gpu070 not responding, setting DOWN")
        s.ctld(t, f"Killing JobId={other} on failed node gpu070")
    elif kind == "drain":
        s.ctld(t, f"update_node: node gpu07 reason set to: {c.pick('NHC: check_hw_gpu_mem: 1 ECC error', 'planned work', 'fan')}")
        s.ctld(t + 0.001, "update_node: node gpu07 state set to DRAINING")
    elif kind == "flap":
        s.ctld(t, "error: Nodes gpu07 not responding")
        s.ctld(t + 45, "Node gpu07 now responding")
    elif kind == "usr1" and not after:
        s.kill(t, 1000)
    elif kind == "xid":
        m.xid(t, c.pick(31, 94), "0000:9b:00", m.pid + 911, "python3")
    elif kind == "link":
        m.link(t, "ibp92s0", False)
        m.link(t + 6, "ibp92s0", True)
    elif kind == "restart_ctld":
        s.ctld(t, "slurmctld version 24.05.4 started on cluster lab")
        s.ctld(t + 0.2, f"recovered JobId={other} StepId=0") if after else s.ctld(t + 0.2, f"Recovered JobId={j} Assoc=12")
    elif kind == "restart_slurmd":
        d.say(t, "slurmd version 24.05.4 started")
        m.log(t, "systemd", "Stopping Slurm node daemon...")
        m.log(t + 1, "systemd", "Started Slurm node daemon.")
    elif kind == "down_after" and after:
        s.ctld(t, "error: Nodes gpu07 not responding, setting DOWN")
        m.kernel(t - 1, "Kernel panic - not syncing: Fatal exception")
    elif kind == "kill_after" and after:
        s.kill(t, c.pick(1000, 2000))
    elif kind == "limit_change":
        s.ctld(t, f"_update_job: setting time_limit to 2880 for JobId={j}")
        s.ctld(t, f"_slurm_rpc_update_job: complete JobId={j} uid=2000 usec=310")
    elif kind == "suspend" and not after:
        s.ctld(t, f"_slurm_rpc_suspend: suspend JobId={j} uid=2000 usec=210")
        s.ctld(t + 1, f"_slurm_rpc_suspend: resume JobId={j} uid=2000 usec=210")


KINDS = "other_limit other_cancel other_preempt other_oom other_node_down drain flap usr1 xid link restart_ctld restart_slurmd down_after kill_after limit_change suspend".split()


@family("s.grid", TRUTHS, 24)
def grid(c):
    s, log = job(c, step=c.pick(2, 3, 5))
    m, d = node(c), Daemon(c)
    t = c.between(1300, 2000)
    log.steps(2, t - 0.5)
    for when in (t - c.between(300, 900), t - c.between(60, 290)):
        near(c, s, m, d, log, when, c.pick(*KINDS), False)
    right, mild, actor = truth(c, s, log, m, d, t, c.variant)
    end = t + (320 if c.variant.startswith("node_") else 6)
    if c.variant.startswith("node_"):
        m.lines = [row for row in m.lines if row[2] in ("kernel", "boot", "systemd", "sudo", "systemd-logind", "systemd-shutdown", "systemd-journald") or row[0] < t]
    for when in (end + c.between(3, 80), end + c.between(100, 400)):
        near(c, s, m, d, log, when, c.pick(*KINDS), True)
    which = ("all", "sacct", "ctld", "out", "out+node", "out+sacct", "out+ctld", "sacct+node", "ctld+node", "out+slurmd", "all-out", "all")[c.number % 12]
    if which != "all":
        place = {"sacct": 0, "ctld": 1, "out": 2, "out+node": 3, "out+slurmd": 2}.get(which)
        if place is not None:
            loose = ALONE[c.variant][place]
            if loose != right and not (set(loose) & set(right)):
                actor = None
            mild = list(mild) + list(right)
            right = list(loose)
            if place == 0 and c.variant not in ("cancel_owner", "cancel_admin") or place in (2, 3):
                actor = actor if place == 3 and c.variant == "node_reboot" else None
        else:
            right = sorted(set(right) | set().union(*(ALONE[c.variant][{"out": 2, "sacct": 0, "ctld": 1, "node": 3, "all-out": 1}[part]] for part in which.split("+"))) - ({"unknown", "none.running"} if set(right) != set(ALONE[c.variant][2]) else set()))
            if "ctld" not in which and c.variant.startswith("cancel") or c.variant == "node_reboot" and "node" not in which:
                actor = None
    if which in ("out+sacct", "sacct", "sacct+node"):
        actor = actor if c.variant.startswith("cancel") or c.variant == "node_reboot" and which == "sacct+node" else None
    parts = which.split("+") if which not in ("all", "all-out") else ["sacct", "ctld", "node", "slurmd"] + (["out"] if which == "all" else [])
    s.save("ctld" in parts, "sacct" in parts)
    if "out" in parts:
        log.save()
    if "node" in parts:
        m.save()
    if "slurmd" in parts:
        d.save()
    c.expect(right, f"{c.variant}, seen by {which}", mild=mild, actor=actor)


@family("s.signal", "limit_with_usr1 usr1_checkpoint_requeue own_after_usr1 grace_preempt grace_preempt_ended_itself term_handled_limit self_requeue_completed overtime", 8)
def signals(c):
    """`--signal=B:USR1@120`, preemption with a time of grace, a program that ends by itself once it is told to."""
    s, log = job(c, step=c.pick(3, 5))
    t = c.between(1200, 1900)
    log.steps(2, t)
    j, mild, actor = s.job, [], None
    if c.variant == "limit_with_usr1":
        log.say(t - 120, "received SIGUSR1, saving checkpoint")
        log.say(t - 110, "checkpoint saved: step=410")
        s.ctld(t, f"Time limit exhausted for JobId={j}")
        log.raw(t + 0.5, cut(s, c, t, "TIME LIMIT"))
        s.ended("TIMEOUT", "0:0", t + 31)
        right = ["code.deadline"]
    elif c.variant == "usr1_checkpoint_requeue":
        # The job's script asks for its own requeue at the end of its time.
        log.say(t, "received SIGUSR1, saving checkpoint and requeueing")
        s.ctld(t + 5, f"_slurm_rpc_requeue: Processing RPC: REQUEST_JOB_REQUEUE from uid=1000")
        s.ctld(t + 5, f"_slurm_rpc_requeue: JobId={j}: usec=210")
        log.raw(t + 5.5, cut(s, c, t + 5, "JOB REQUEUE"))
        s.ended("REQUEUED", "0:0", t + 6)
        s.ctld(t + 130, f"sched: Allocate JobId={j} NodeList=gpu07 #CPUs=128 Partition=gpu")
        log.say(t + 140, "resuming from checkpoint step=410")
        log.steps(t + 141, t + 600)
        s.account("RUNNING", "0:0", t + 130, None)
        right = ["none.running"]
    elif c.variant == "own_after_usr1":
        log.say(t - 200, "received SIGUSR1, saving checkpoint")
        log.traceback(t, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        right = OWN
    elif c.variant == "grace_preempt":
        # GraceTime: SIGCONT and SIGTERM first; the job trains on till the end of its grace.
        s.ctld(t - 120, f"JobId={j} preempted. GraceTime=120")
        log.say(t - 119, "received SIGTERM, ignoring", "WARNING")
        s.ctld(t, f"preempted JobId={j} has been killed to reclaim resources for JobId={j + 9}")
        log.raw(t + 0.5, cut(s, c, t, "PREEMPTION"))
        s.ended("PREEMPTED", "0:0", t + 1)
        right = ["sched.preempted"]
    elif c.variant == "grace_preempt_ended_itself":
        log.raw(t, cut(s, c, t, "PREEMPTION"))
        log.say(t + 1, "received SIGTERM, saving checkpoint")
        log.say(t + 9, "checkpoint saved, exiting")
        s.ctld(t, f"preempted JobId={j} has been requeued to reclaim resources for JobId={j + 9}")
        s.ended("PREEMPTED", "0:0", t + 10)
        right = ["sched.preempted"]
    elif c.variant == "term_handled_limit":
        s.ctld(t, f"Time limit exhausted for JobId={j}")
        log.raw(t + 0.2, cut(s, c, t, "TIME LIMIT"))
        log.traceback(t + 1.5, "RuntimeError: DataLoader worker (pid(s) 4711) exited unexpectedly", "    data = self._get_data()")
        log.raw(t + 2, "srun: error: gpu07: task 0: Exited with exit code 1")
        s.ended("TIMEOUT", "0:0", t + 3)
        right = ["code.deadline"]
    elif c.variant == "self_requeue_completed":
        log.say(t, "received SIGUSR1, saving checkpoint and requeueing")
        log.raw(t + 5.5, cut(s, c, t + 5, "JOB REQUEUE"))
        s.ended("REQUEUED", "0:0", t + 6)
        s.ctld(t + 130, f"sched: Allocate JobId={j} NodeList=gpu07 #CPUs=128 Partition=gpu")
        log.say(t + 140, "resuming from checkpoint step=410")
        log.steps(t + 141, t + 600)
        log.say(t + 601, "training completed, saved final checkpoint")
        s.complete(t + 602, 0)
        s.ended("COMPLETED", "0:0", t + 602, start=t + 130)
        right = ["none.completed"]
    else:
        # OverTimeLimit: the limit was reached, but Slurm waits; the program fails by itself then.
        s.ctld(t - 200, f"job_time_limit: JobId={j} inactivity time limit") if False else None
        log.traceback(t, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        s.ctld(t + 90, f"Time limit exhausted for JobId={j + 1}")
        right = OWN
    c.expect(right, "signals before the end", mild=mild, actor=actor)
    s.save()
    log.save()


@family("s.steps", "first_step_failed_ignored mid_step_oom_ignored step_cancelled_by_owner_then_own last_step_oom_of_three bg_step_killed_at_end srun_one_of_many_oom extern_oom_only batch_oom interactive_step_failed", 8)
def steps(c):
    """A job of several steps."""
    s, log = job(c, step=4)
    m = node(c)
    t, j = c.between(1300, 1900), s.job
    mild, actor = [], None
    def stepd(t, step):
        log.raw(t, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.{step}. Some of the step tasks have been OOM Killed.")
    if c.variant in ("first_step_failed_ignored", "mid_step_oom_ignored", "interactive_step_failed"):
        log.steps(300, t)
        if c.variant == "mid_step_oom_ignored":
            stepd(200, 1)
            log.raw(200.2, "srun: error: gpu07: task 0: Out Of Memory")
            m.oom(199.5, "python3", m.pid, group(j, "1"), group(j, "1").rsplit("/", 3)[0])
            bad = ("1", "OUT_OF_MEMORY", "0:125", 100, 201)
        else:
            log.raw(200.2, "srun: error: gpu07: task 0: Exited with exit code 2")
            bad = ("interactive" if c.variant.startswith("inter") else "0", "FAILED", "2:0", 100, 201)
        log.say(t, "training completed, saved final checkpoint")
        s.complete(t + 1, 0)
        s.account("COMPLETED", "0:0", 0, t + 1, [("batch", "COMPLETED", "0:0"), ("extern", "COMPLETED", "0:0"), bad, ("2", "COMPLETED", "0:0", 250, t)])
        right = ["none.completed"]
    elif c.variant == "step_cancelled_by_owner_then_own":
        log.steps(2, 500)
        log.raw(500.5, cut(s, c, 500, step="0"))
        log.raw(501, "srun: error: gpu07: task 0: Terminated")
        log.say(520, "starting rank=0 world_size=8")
        log.steps(521, t)
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.account("FAILED", "1:0", 0, t + 1, [("batch", "FAILED", "1:0"), ("extern", "COMPLETED", "0:0"), ("0", "CANCELLED by 1000", "0:15", 2, 501), ("1", "FAILED", "1:0", 519, t + 1)])
        right = OWN
    elif c.variant == "last_step_oom_of_three":
        log.steps(2, t)
        stepd(t + 0.5, 2)
        log.raw(t + 0.7, "srun: error: gpu07: task 0: Out Of Memory")
        m.oom(t, "python3", m.pid, group(j, "2"), group(j, "2").rsplit("/", 3)[0])
        s.complete(t + 2, 1)
        s.account("FAILED", "1:0", 0, t + 2, [("batch", "FAILED", "1:0"), ("extern", "COMPLETED", "0:0"), ("0", "COMPLETED", "0:0", 2, 400), ("1", "COMPLETED", "0:0", 401, 800), ("2", "OUT_OF_MEMORY", "0:125", 801, t + 2)])
        right = ["code.host_oom"]
    elif c.variant == "bg_step_killed_at_end":
        # A monitor runs beside it; it is cancelled when the batch script ends.
        log.steps(2, t)
        log.say(t, "training completed, saved final checkpoint")
        log.raw(t + 1.5, cut(s, c, t + 1, step="1"))
        s.complete(t + 1, 0)
        s.account("COMPLETED", "0:0", 0, t + 1, [("batch", "COMPLETED", "0:0"), ("extern", "COMPLETED", "0:0"), ("0", "COMPLETED", "0:0", 2, t), ("1", "CANCELLED", "0:15", 2, t + 2)])
        right = ["none.completed"]
    elif c.variant == "srun_one_of_many_oom":
        log.steps(2, t)
        m.oom(t, "python3", m.pid, group(j, "0"), group(j, "0").rsplit("/", 3)[0])
        stepd(t + 0.5, 0)
        log.raw(t + 0.8, "srun: error: gpu07: task 3: Out Of Memory")
        log.raw(t + 1.0, "srun: error: gpu07: tasks 0-2,4-7: Killed")
        log.raw(t + 1.1, f"srun: launch/slurm: _step_signal: Terminating StepId={j}.0")
        s.complete(t + 3, 1)
        s.ended("OUT_OF_MEMORY", "0:125", t + 3)
        # And then the node fails, after the end.
        s.ctld(t + 200, "error: Nodes gpu07 not responding, setting DOWN")
        right = ["code.host_oom"]
    elif c.variant == "extern_oom_only":
        # Somebody's shell in the job (pam_slurm_adopt) ran out of memory; the training went on.
        m.oom(t - 500, "bash", m.pid + 5, f"/system.slice/slurmstepd.scope/job_{j}/step_extern/user/task_special", f"/system.slice/slurmstepd.scope/job_{j}/step_extern")
        log.steps(2, t)
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.account("FAILED", "1:0", 0, t + 1, [("batch", "FAILED", "1:0"), ("extern", "OUT_OF_MEMORY", "0:125"), ("0", "FAILED", "1:0")])
        right = OWN
    else:
        log.steps(2, t)
        m.oom(t, "python3", m.pid, group(j, "batch"), group(j, "batch").rsplit("/", 3)[0])
        stepd(t + 0.5, "batch")
        s.ctld(t + 2, f"_job_complete: JobId={j} OOM failure")
        s.account("OUT_OF_MEMORY", "0:125", 0, t + 2, [("batch", "OUT_OF_MEMORY", "0:125"), ("extern", "COMPLETED", "0:0")])
        right = ["code.host_oom"]
    c.expect(right, "steps of a job", mild=mild, actor=actor)
    s.save()
    log.save()
    m.save()


@family("s.array2", "short_number_cancelled whole_array_cancelled one_task_cancelled limit_of_twelve own_of_one raw_id_neighbour", 8)
def arrays(c):
    """900_1 and 900_12; the array's own numbers beside other jobs'."""
    s = Slurm(c)
    s.form = 0 if s.form == 1 else s.form
    base, t, s.lines = s.job, c.between(900, 1600), []
    mine, other = f"{base}_1", f"{base}_12"
    log = Train(c, f"slurm-{mine}.out")
    log.begin(2)
    log.steps(2, t)
    for name, own, host in ((mine, base + 1, "gpu07"), (other, base + 12, "gpu08")):
        s.ctld(0, f"sched: Allocate JobId={name}({own}) NodeList={host} #CPUs=64 Partition=gpu")
    actor, mild = None, []
    def row(name, state, code, host, end=t + 1):
        s.account(state, code, 0, end, [("batch", state.split(" ")[0], code), ("extern", "COMPLETED", "0:0")], job=name, nodes=host)
    if c.variant == "short_number_cancelled":
        s.ctld(t - 3, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={other} uid 2000")
        row(other, "CANCELLED by 2000", "0:15", "gpu08", t - 2)
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        row(mine, "FAILED", "1:0", "gpu07")
        right = OWN
    elif c.variant == "whole_array_cancelled":
        s.ctld(t, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={base} uid 2000")
        log.raw(t + 0.5, cut(s, c, t, job=base + 1))
        row(mine, "CANCELLED by 2000", "0:15", "gpu07")
        row(other, "CANCELLED by 2000", "0:15", "gpu08")
        right, actor = ["ops.manual_delete"], ["2000", "uid 2000"]
    elif c.variant == "one_task_cancelled":
        s.ctld(t, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={mine} uid 1000")
        log.raw(t + 0.5, cut(s, c, t, job=base + 1))
        row(mine, "CANCELLED by 1000", "0:15", "gpu07")
        row(other, "COMPLETED", "0:0", "gpu08", t + 50)
        right, actor = ["ops.manual_delete"], ["alice", "1000", "uid 1000"]
    elif c.variant == "limit_of_twelve":
        s.ctld(t - 2, f"Time limit exhausted for JobId={other}({base + 12})")
        row(other, "TIMEOUT", "0:0", "gpu08", t - 1)
        log.say(t + 0.3, "training completed, saved final checkpoint")
        row(mine, "COMPLETED", "0:0", "gpu07")
        right = ["none.completed"]
    elif c.variant == "own_of_one":
        s.ctld(t - 2, f"_job_complete: JobId={other}({base + 12}) OOM failure")
        row(other, "OUT_OF_MEMORY", "0:125", "gpu08", t - 1)
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        row(mine, "FAILED", "1:0", "gpu07")
        right = OWN
    else:
        # Another user's plain job has the number that stands for nobody here; its node's kernel tells of its OOM.
        m = node(c, "gpu08")
        own = group(base + 12)
        m.oom(t - 3, "python3", 4711, own, own.rsplit("/", 3)[0])
        m.save()
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        row(mine, "FAILED", "1:0", "gpu07")
        row(other, "OUT_OF_MEMORY", "0:125", "gpu08", t - 2)
        right = OWN
    c.expect(right, "tasks of an array", mild=mild, actor=actor, asked=mine)
    s.save()
    log.save()


@family("s.het", "one_part_oom one_part_node_fail cancelled both_done", 6)
def het(c):
    """A heterogeneous job: 900+0 and 900+1."""
    s = Slurm(c, nodes="gpu07")
    s.form, s.lines = 0, []
    j, t = s.job, c.between(900, 1500)
    log = Train(c, f"slurm-{j}.out")
    log.begin(2)
    log.steps(2, t)
    s.ctld(0, f"sched: Allocate JobId={j}+0({j}) NodeList=gpu07 #CPUs=64 Partition=gpu")
    s.ctld(0, f"sched: Allocate JobId={j}+1({j + 1}) NodeList=cpu01 #CPUs=64 Partition=cpu")
    actor = None
    def row(part, state, code, host):
        s.account(state, code, 0, t + 2, [("batch", state.split(" ")[0], code)] if part == 0 else [("0", state.split(" ")[0], code)], job=f"{j}+{part}", nodes=host)
    if c.variant == "one_part_oom":
        log.raw(t + 0.5, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}+1.0. Some of the step tasks have been OOM Killed.")
        log.raw(t + 0.7, "srun: error: cpu01: task 8: Out Of Memory")
        log.raw(t + 0.9, "srun: error: gpu07: tasks 0-7: Killed")
        row(0, "FAILED", "1:0", "gpu07")
        row(1, "OUT_OF_MEMORY", "0:125", "cpu01")
        right = ["code.host_oom"]
    elif c.variant == "one_part_node_fail":
        s.ctld(t + 1, "error: Nodes cpu01 not responding, setting DOWN")
        s.ctld(t + 1, f"Killing JobId={j}+1({j + 1}) on failed node cpu01")
        log.raw(t + 1.5, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t + 1))} DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***")
        row(0, "CANCELLED by 0", "0:15", "gpu07")
        row(1, "NODE_FAIL", "0:0", "cpu01")
        right = ["node.not_ready"]
    elif c.variant == "cancelled":
        s.ctld(t, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={j} uid 1000")
        log.raw(t + 0.5, cut(s, c, t))
        row(0, "CANCELLED by 1000", "0:15", "gpu07")
        row(1, "CANCELLED by 1000", "0:15", "cpu01")
        right, actor = ["ops.manual_delete"], ["alice", "1000", "uid 1000"]
    else:
        log.say(t, "training completed, saved final checkpoint")
        row(0, "COMPLETED", "0:0", "gpu07")
        row(1, "COMPLETED", "0:0", "cpu01")
        right = ["none.completed"]
    c.expect(right, "a heterogeneous job", actor=actor, asked=str(j))
    s.save()
    log.save()


@family("s.node2", "reboot_scontrol_asap_running unexpected_reboot nhc_offline_kill slurmd_killed_job_survives slurmd_stopped_person missing_batch boot_fail resume_timeout power_save_after epilog_kill duplicate_jobid oom_then_node_down prolog_then_second_ok reservation_maint ctld_restart_lost cg_stuck down_star_then_back", 6)
def nodes(c):
    s, log = job(c, step=4)
    m, d = node(c), Daemon(c)
    t, j, who = c.between(1000, 1700), s.job, c.pick(*PEOPLE)
    actor, mild = None, []
    d.say(0.5, f"Launching batch job {j} for UID 1000")
    if c.variant == "reboot_scontrol_asap_running":
        # `scontrol reboot ASAP` lets the job end first.
        log.steps(2, t)
        s.ctld(t - 400, "reboot request queued for nodes gpu07")
        s.ctld(t - 399.9, "update_node: node gpu07 reason set to: kernel update")
        log.say(t, "training completed, saved final checkpoint")
        s.complete(t + 1, 0)
        s.ended("COMPLETED", "0:0", t + 1)
        m.goes_down(t + 15)
        m.boots(t + 200)
        right = ["none.completed"]
    elif c.variant == "unexpected_reboot":
        log.steps(2, t)
        m.dies(t)
        m.boots(t + 180)
        s.ctld(t + 215, f"error: Node gpu07 unexpectedly rebooted boot_time={int(c.at(t + 180).timestamp())} last response={int(c.at(t - 20).timestamp())}")
        s.ctld(t + 215.1, f"Killing JobId={j} on failed node gpu07")
        s.ended("NODE_FAIL", "0:0", t + 215)
        right, mild = ["node.reboot"], ["node.not_ready"]
    elif c.variant == "nhc_offline_kill":
        # NHC sets the node DOWN, which kills the job.
        log.steps(2, t)
        m.kernel(t - 3, "EXT4-fs error (device nvme1n1p1): ext4_find_entry:1455: inode #2: comm python3: reading directory lblock 0") if c.number % 2 else None
        s.ctld(t, "update_node: node gpu07 reason set to: NHC: check_fs_mount: /scratch not mounted")
        s.ctld(t + 0.001, "update_node: node gpu07 state set to DOWN")
        s.ctld(t + 0.002, f"Killing JobId={j} on failed node gpu07")
        log.raw(t + 0.5, cut(s, c, t, "NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS"))
        s.ended("NODE_FAIL", "0:0", t + 1)
        right, mild = ["ops.manual_delete", "ops.node_drained", "node.not_ready"] + (["hw.disk"] if c.number % 2 else []), []
    elif c.variant == "slurmd_killed_job_survives":
        # Steps have a daemon of their own: a dead slurmd ends no job.
        m.log(t - 500, "systemd", "slurmd.service: Main process exited, code=killed, status=9/KILL")
        m.log(t - 499.9, "systemd", "slurmd.service: Failed with result 'signal'.")
        m.log(t - 400, "systemd", "Started Slurm node daemon.")
        log.steps(2, t)
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        right = OWN
    elif c.variant == "slurmd_stopped_person":
        log.steps(2, t + 250)
        m.sudo(t, who, "/usr/bin/systemctl stop slurmd")
        m.log(t + 0.3, "systemd", "Stopping Slurm node daemon...")
        m.log(t + 0.9, "systemd", "Stopped Slurm node daemon.")
        s.ctld(t + 120, "error: Nodes gpu07 not responding")
        s.ctld(t + 301, "error: Nodes gpu07 not responding, setting DOWN")
        s.ctld(t + 301, f"Killing JobId={j} on failed node gpu07")
        s.ended("NODE_FAIL", "0:0", t + 301)
        right, mild = ["node.not_ready", "node.runtime", "ops.manual_delete"], []
    elif c.variant == "missing_batch":
        log.steps(2, t)
        m.dies(t)
        m.boots(t + 140)
        s.ctld(t + 190, f"error: Batch JobId={j} missing from batch node gpu07 (not found BatchStartTime after startup), Requeuing job")
        s.ended("NODE_FAIL", "0:0", t + 190)
        right, mild = ["node.reboot"], ["node.not_ready"]
    elif c.variant in ("boot_fail", "resume_timeout"):
        log.lines = []
        s.ctld(600, "node gpu07 not resumed by ResumeTimeout(600), setting DOWN and POWERED_DOWN")
        s.ctld(600.1, f"Killing JobId={j} on failed node gpu07") if c.variant == "resume_timeout" else None
        s.rows = [(j, "train", "alice", "BOOT_FAIL" if c.variant == "boot_fail" else "NODE_FAIL", "0:0", 0, 601, "gpu07", [])]
        right = ["node.launch_failed", "cloud.capacity_exhausted"]
    elif c.variant == "power_save_after":
        log.steps(2, t)
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        s.ctld(t + 60, "power down request repeating for node gpu07")
        s.ctld(t + 60.5, "update_node: node gpu07 state set to POWER_DOWN")
        m.goes_down(t + 62, "poweroff")
        right = OWN
    elif c.variant == "epilog_kill":
        # The epilog of another user's job kills every process of alice's? No: of bob's. alice's ends by itself.
        log.steps(2, t)
        s.ctld(t - 4, f"error: slurmd error running JobId={j - 2} on node(s)=gpu07: Kill task failed")
        s.ctld(t - 3.9, "drain_nodes: node gpu07 state set to DRAIN")
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        right = OWN
    elif c.variant == "duplicate_jobid":
        log.steps(2, t)
        s.ctld(t - 100, f"error: Registered JobId={j - 5} without StepId=0 on node gpu07")
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        right = OWN
    elif c.variant == "oom_then_node_down":
        log.steps(2, t)
        own = group(j)
        m.oom(t, "python3", m.pid, own, own.rsplit("/", 3)[0])
        log.raw(t + 0.5, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.0. Some of the step tasks have been OOM Killed.")
        s.ctld(t + 2, f"_job_complete: JobId={j} OOM failure")
        s.ended("OUT_OF_MEMORY", "0:125", t + 2)
        s.ctld(t + c.pick(5, 60, 200), "error: Nodes gpu07 not responding, setting DOWN")
        m.kernel(t + c.pick(4, 30), "Kernel panic - not syncing: System is deadlocked on memory")
        right = ["code.host_oom"]
    elif c.variant == "prolog_then_second_ok":
        log.lines = []
        s.lines = []
        s.ctld(0, f"sched: Allocate JobId={j} NodeList=gpu06 #CPUs=128 Partition=gpu")
        s.ctld(3, f"error: validate_node_specs: Prolog or job env setup failure on node gpu06, draining the node")
        s.ctld(3.1, "drain_nodes: node gpu06 state set to DRAIN")
        s.ctld(3.2, f"Requeuing JobId={j}")
        s.ctld(130, f"sched: Allocate JobId={j} NodeList=gpu07 #CPUs=128 Partition=gpu")
        log.begin(132)
        log.steps(133, t)
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1, start=130)
        right = OWN
    elif c.variant == "reservation_maint":
        log.steps(2, t)
        s.ctld(t - 900, "_slurm_rpc_resv_create reservation=maint_nov accounts=(null) users=root nodes=gpu[01-64] start=2026-12-01T06:00:00 end=2026-12-01T18:00:00")
        s.ctld(t - 900, "update_node: node gpu07 state set to MAINT") if False else None
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        right = OWN
    elif c.variant == "ctld_restart_lost":
        log.steps(2, t)
        s.ctld(t - 30, "Terminate signal (SIGINT or SIGTERM) received")
        s.ctld(t - 29, "Saving all slurm state")
        s.ctld(t - 10, "slurmctld version 24.05.4 started on cluster lab")
        s.ctld(t - 9, f"Recovered JobId={j} Assoc=12")
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        right = OWN
    elif c.variant == "cg_stuck":
        log.steps(2, t)
        log.say(t, "training completed, saved final checkpoint")
        s.complete(t + 1, 0)
        s.ended("COMPLETED", "0:0", t + 1)
        s.ctld(t + 70, f"error: slurmd error running JobId={j} on node(s)=gpu07: Kill task failed")
        s.ctld(t + 70.1, "drain_nodes: node gpu07 state set to DRAIN")
        s.ctld(t + 200, "update_node: node gpu07 reason set to: Kill task failed")
        s.ctld(t + 200.1, "update_node: node gpu07 state set to DOWN")
        right = ["none.completed"]
    else:
        # Silent for a while, back with the job alive.
        s.ctld(t - 600, "error: Nodes gpu07 not responding")
        s.ctld(t - 540, "Node gpu07 now responding")
        log.steps(2, t)
        s.kill(t, 1000)
        log.raw(t + 0.4, cut(s, c, t))
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        right, actor = ["ops.manual_delete"], ["alice", "1000", "uid 1000"]
    if "node.launch_failed" in right:
        m.lines = []
    c.expect(right, "nodes of Slurm", mild=mild, actor=actor)
    s.save()
    log.save() if log.lines else None
    m.save()
    d.save()


@family("s.again", "requeued_own_then_completed preempted_twice_own fail_requeue_fail sacct_d_rows last_running_first_oom hold_after", 8)
def again(c):
    """Several starts of one job: the last is asked about."""
    s, log = job(c, step=4)
    j, t = s.job, c.between(500, 800)
    actor, mild = None, []
    def start(t, nodes="gpu07"):
        s.ctld(t, f"sched: Allocate JobId={j} NodeList={nodes} #CPUs=128 Partition=gpu")
        log.say(t + 4, "resuming from checkpoint step=300")
    def preempt(t):
        s.ctld(t, f"preempted JobId={j} has been requeued to reclaim resources for JobId={j + 9}")
        log.raw(t + 0.4, cut(s, c, t, "PREEMPTION"))
    log.steps(2, t)
    if c.variant == "preempted_twice_own":
        preempt(t)
        s.ended("PREEMPTED", "0:0", t + 1)
        start(t + 200)
        log.steps(t + 205, t + 600)
        preempt(t + 600)
        s.ended("PREEMPTED", "0:0", t + 601, start=t + 200)
        start(t + 900)
        log.steps(t + 905, t + 1300)
        log.traceback(t + 1300.2, *c.pick(*OWN_ERRORS))
        s.complete(t + 1301, 1)
        s.ended("FAILED", "1:0", t + 1301, start=t + 900)
        right = OWN
    elif c.variant == "requeued_own_then_completed":
        s.ctld(t, "error: Nodes gpu07 not responding, setting DOWN")
        s.ctld(t, f"requeue job JobId={j} due to failure of node gpu07")
        s.ended("NODE_FAIL", "0:0", t)
        start(t + 200, "gpu08")
        log.steps(t + 205, t + 600)
        log.say(t + 600.3, "training completed, saved final checkpoint")
        s.complete(t + 601, 0)
        s.account("COMPLETED", "0:0", t + 200, t + 601, [("batch", "COMPLETED", "0:0")], nodes="gpu08")
        right = ["none.completed"]
    elif c.variant == "fail_requeue_fail":
        # RequeueExit: it fails, goes back to the queue, and fails again for another reason.
        log.traceback(t + 0.2, *OWN_ERRORS[0])
        s.ctld(t + 1, f"_job_complete: requeue JobId={j} per user/system request")
        s.ended("FAILED", "1:0", t + 1)
        start(t + 100)
        log.steps(t + 105, t + 500)
        s.kill(t + 500, 2000)
        log.raw(t + 500.4, cut(s, c, t + 500))
        s.ended("CANCELLED by 2000", "0:0", t + 501, start=t + 100)
        right, actor = ["ops.manual_delete"], ["2000", "uid 2000"]
    elif c.variant == "sacct_d_rows":
        # `sacct -D`: two rows of one number, the older last.
        s.lines = []
        preempt(t)
        s.lines = []
        start(t + 200)
        s.lines = []
        log.steps(t + 205, t + 600)
        s.account("TIMEOUT", "0:0", t + 200, t + 601, [("batch", "CANCELLED", "0:15")])
        s.account("PREEMPTED", "0:0", 0, t + 1, [("batch", "CANCELLED", "0:15")])
        log.raw(t + 600.4, cut(s, c, t + 600, "TIME LIMIT"))
        right = ["code.deadline"]
    elif c.variant == "last_running_first_oom":
        log.raw(t + 0.5, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.0. Some of the step tasks have been OOM Killed.")
        s.ctld(t + 2, f"_job_complete: requeue JobId={j} per user/system request")
        s.ended("OUT_OF_MEMORY", "0:125", t + 2)
        start(t + 100)
        log.steps(t + 105, t + 600)
        s.account("RUNNING", "0:0", t + 100, None)
        right = ["none.running"]
    else:
        # Fails; then the owner holds and deletes a job of hers that is another.
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        s.ctld(t + 9, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={j + 1} uid 1000")
        s.account("CANCELLED by 1000", "0:0", t - 100, t + 9, [], job=j + 1)
        right = OWN
    c.expect(right, "starts of one job", mild=mild, actor=actor)
    s.save()
    log.save()
