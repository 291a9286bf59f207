"""A part breaks, the rest hangs on, somebody or something ends what is left much later; signals to a job seconds before its own end."""

from kit import NOBODY, OWN, PEOPLE, family, finish, goes_away, vm
from world import Aws, Azure, Gce, Machine, OWN_ERRORS, Slurm, Train, iso

KILLED = ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]


def broken(c, log, m, s, t, kind, rank=9):
    """What breaks at `t`: right, mild."""
    if kind == "oom":
        if s:
            group = f"/system.slice/slurmstepd.scope/job_{s.job}/step_0/user/task_{rank}"
            m.oom(t, "python3", m.pid + rank, group, group.rsplit("/", 3)[0])
            log.raw(t + 0.5, f"slurmstepd: error: Detected 1 oom_kill event in StepId={s.job}.0. Some of the step tasks have been OOM Killed.")
        else:
            m.oom(t, "python3", m.pid + rank, "/system.slice/train.service", "/system.slice/train.service")
        return ["code.host_oom"], []
    if kind == "segv":
        m.segfault(t, "python3", m.pid + rank)
        if s:
            log.raw(t + 0.5, f"srun: error: gpu07: task {rank}: Segmentation fault (core dumped)")
        else:
            log.raw(t + 0.5, f"[rank{rank}]: Fatal Python error: Segmentation fault")
        return ["code.segfault"], []
    if kind == "cuda_oom":
        log.raw(t + 0.2, "\n".join(f"[rank{rank}]: {line}" for line in ("Traceback (most recent call last):", "  File \"/home/alice/train.py\", line 118, in main", "    loss.backward()", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.15 GiB of which 1.02 GiB is free.")))
        return ["code.cuda_oom"], []
    if kind == "xid79":
        m.xid(t, 79)
        return ["hw.gpu"], []
    if kind == "enospc":
        log.raw(t + 0.2, "\n".join(f"[rank{rank}]: {line}" for line in ("Traceback (most recent call last):", "  File \"/home/alice/train.py\", line 140, in save", "    torch.save(state, path)", "OSError: [Errno 28] No space left on device: '/ckpt/step-900.pt'")))
        return ["dep.storage"], []
    error, where = c.pick(*OWN_ERRORS)
    log.raw(t + 0.2, "\n".join(f"[rank{rank}]: {line}" for line in ("Traceback (most recent call last):", "  File \"/home/alice/train.py\", line 118, in main", where, error)))
    return OWN, []


BREAKS = ("oom", "segv", "cuda_oom", "xid79", "enospc", "own")


@family("n.hang_slurm", "cancel limit preempted set_down node_reboot requeue_user", 12)
def hang_slurm(c):
    """In Slurm."""
    s = Slurm(c)
    j = s.job
    c.asked = str(j)
    log = Train(c, f"slurm-{j}.out", step=5)
    log.begin(2)
    m = Machine(c, "gpu07", system=c.pick("el8", "u22"), form=c.pick("rsyslog", "json"))
    m.unit = "slurmd"
    m.noise(-500, 0)
    t, v, kind = c.between(900, 1300), c.variant, BREAKS[c.number % 6]
    log.steps(2, t)
    right, mild = broken(c, log, m, s, t, kind)
    late = t + c.between(500, 1700)
    def cut(why=""):
        log.raw(late + 0.5, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(late))}{' DUE TO ' + why if why else ''} ***")
    if v == "cancel":
        uid = c.pick(1000, 2000)
        s.kill(late, uid)
        cut()
        s.ended(f"CANCELLED by {uid}", "0:0", late + 1)
    elif v == "limit":
        s.ctld(late, f"Time limit exhausted for JobId={j}")
        cut("TIME LIMIT")
        s.ended("TIMEOUT", "0:0", late + 1)
    elif v == "preempted":
        s.ctld(late, f"preempted JobId={j} has been killed to reclaim resources for JobId={j + 9}")
        cut("PREEMPTION")
        s.ended("PREEMPTED", "0:0", late + 1)
    elif v == "set_down":
        s.ctld(late, "update_node: node gpu07 reason set to: hung job")
        s.ctld(late + 0.001, "update_node: node gpu07 state set to DOWN")
        s.ctld(late + 0.002, f"Killing JobId={j} on failed node gpu07")
        cut("NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS")
        s.ended("NODE_FAIL", "0:0", late + 1)
    elif v == "requeue_user":
        s.ctld(late, f"_slurm_rpc_requeue: JobId={j} requeued by uid 1000")
        cut("JOB REQUEUE")
        s.ended("REQUEUED", "0:0", late + 1)
    else:
        m.sudo(late, c.pick(*PEOPLE), "/usr/sbin/reboot")
        m.goes_down(late + 0.8)
        m.boots(late + 200)
        s.ctld(late + 100, "error: Nodes gpu07 not responding")
        s.ctld(late + 300, "error: Nodes gpu07 not responding, setting DOWN")
        s.ctld(late + 300, f"Killing JobId={j} on failed node gpu07")
        s.ended("NODE_FAIL", "0:0", late + 300)
    m.noise(5, late + 900)
    m.save()
    log.save()
    s.save()
    c.expect(right, f"{kind} of one rank, the rest hangs {late - t:.0f} s, then {v}", mild=mild + ["hang.no_progress", "hang.collective_timeout", "unknown"])


@family("n.hang_bare", "stop kill reboot poweroff gce_delete gce_preempted aws_terminate azure_deallocate runtime_max power", 12)
def hang_bare(c):
    """On a machine with a service, in clouds."""
    v, who, kind = c.variant, c.pick(*PEOPLE), BREAKS[c.number % 6]
    where = v.split("_")[0] if v.split("_")[0] in ("gce", "aws", "azure") else "vm"
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[where](c) if where != "vm" else None
    name = "gpu-07" if not cloud else cloud.vm if where != "aws" else cloud.id
    m = Machine(c, cloud.dns if where == "aws" else name, name, form=c.form if c.form != "syslog" else "rsyslog")
    log = Train(c, f"{name}/train.log", step=5)
    m.noise(-800, 0)
    m.start(0)
    log.begin(1, m.pid)
    t = c.between(900, 1300)
    log.steps(1, t)
    right, mild = broken(c, log, m, None, t, kind, 3)
    late, until = t + c.between(500, 1700), None
    if v == "stop":
        m.sudo(late, who, "/usr/bin/systemctl stop train")
        m.stop(late + 0.3)
    elif v == "kill":
        m.sudo(late, who, f"/usr/bin/kill -9 {m.pid}")
        m.exit(late + 0.2, -9)
    elif v in ("reboot", "poweroff"):
        m.sudo(late, who, f"/usr/sbin/{v}")
        m.goes_down(late + 0.8, v)
        m.boots(late + 300)
    elif v == "runtime_max":
        m.log(late, "systemd", "train.service: Service reached runtime time limit. Stopping.")
        m.exit(late + 1, -15, result="timeout")
    elif v == "power":
        m.dies(late)
        m.boots(late + 200)
    else:
        until = late
        if where == "gce":
            cloud.call(-900, "insert", "alice@lab.example", 20)
            cloud.call(late, "delete", who + "@lab.example") if v == "gce_delete" else cloud.system(late, "preempted", "Instance was preempted.")
        elif where == "aws":
            cloud.instance(-900)
            cloud.trail(late, "TerminateInstances", who)
            cloud.state(late + 1, "shutting-down")
        else:
            cloud.machine()
            cloud.call(late, "deallocate/action", who + "@lab.example")
        m.goes_down(late + 0.7, "poweroff") if c.number % 2 else m.dies(late + 0.5)
        cloud.save()
    m.noise(5, until or late + 1500)
    m.save()
    log.save()
    c.expect(right, f"{kind} of one rank, the rest hangs {late - t:.0f} s, then {v}", mild=mild + ["hang.no_progress", "hang.collective_timeout", "unknown"], asked="train.log" if not cloud else name if where != "aws" else "exp-1")


@family("n.usr1_near", "oom limit preempted node_silent own completed", 8)
def usr1_near(c):
    """`scancel --signal=USR1` (the controller does not write which signal) seconds before the job ends for another reason."""
    s = Slurm(c)
    j = s.job
    c.asked = str(j)
    log = Train(c, f"slurm-{j}.out", step=5)
    log.begin(2)
    t, v, mild = c.between(900, 1400), c.variant, []
    log.steps(2, t)
    s.kill(t - c.between(1, 60), c.pick(1000, 2000))
    if c.number % 2:
        log.say(t - 0.5, "caught SIGUSR1: writing checkpoint", "WARNING")
    def cut(why):
        log.raw(t + 0.5, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))} DUE TO {why} ***")
    if v == "oom":
        log.raw(t + 0.5, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.batch. Some of the step tasks have been OOM Killed.")
        s.ctld(t + 1, f"_job_complete: JobId={j} OOM failure")
        s.ended("OUT_OF_MEMORY", "0:125", t + 1)
        right = ["code.host_oom"]
    elif v == "limit":
        s.ctld(t, f"Time limit exhausted for JobId={j}")
        cut("TIME LIMIT")
        s.ended("TIMEOUT", "0:0", t + 1)
        right = ["code.deadline"]
    elif v == "preempted":
        s.ctld(t, f"preempted JobId={j} has been killed to reclaim resources for JobId={j + 9}")
        cut("PREEMPTION")
        s.ended("PREEMPTED", "0:0", t + 1)
        right = ["sched.preempted"]
    elif v == "node_silent":
        s.ctld(t + 120, "error: Nodes gpu07 not responding")
        s.ctld(t + 300, "error: Nodes gpu07 not responding, setting DOWN")
        s.ctld(t + 300, f"Killing JobId={j} on failed node gpu07")
        s.ended("NODE_FAIL", "0:0", t + 300)
        right = ["node.not_ready"]
    elif v == "own":
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        right = OWN
    else:
        log.say(t + 0.1, "training completed, saved final checkpoint")
        s.complete(t + 1, 0)
        s.ended("COMPLETED", "0:0", t + 1)
        right = ["none.completed"]
    c.expect(right, f"a signal just before: {v}", mild=mild)
    s.save(accounting=c.number % 4 < 3)
    log.save()
