"""Families of Slurm: the controller's log, accounting, the job's own output, kernels and journals of its nodes."""

import json

from families import NOBODY, OWN, PEOPLE, family, person_reboots, shift, trouble
from world import Gce, Machine, OWN_ERRORS, Slurm, Train, iso


def job(c, nodes="gpu07", step=None, **more):
    s = Slurm(c, nodes=nodes, **more)
    c.asked = str(s.job)
    log = Train(c, f"slurm-{s.job}.out", step=step)
    log.begin(2)
    return s, log


def node(c, s, host="gpu07"):
    m = Machine(c, host, system=c.pick("el8", "el9", "u22"))
    m.unit = "slurmd"
    m.noise(-900, 0)
    return m


def group(s, job=None, step="0", v2=True):
    return f"/system.slice/slurmstepd.scope/job_{job or s.job}/step_{step}/user/task_0" if v2 else f"/slurm/uid_1000/job_{job or s.job}/step_{step}/task_0"


def done(c, s, log, *machines):
    s.save()
    log.save()
    for m in machines:
        m.save()


def own_end(c, s, log, t):
    """The program fails: with a traceback, or with a code alone."""
    right = NOBODY
    if c.number % 2 == 0:
        log.traceback(t - 0.4, *c.pick(*OWN_ERRORS))
        right = OWN
    s.complete(t, 1)
    s.ended("FAILED", "1:0", t)
    return right


def cancelled_line(s, c, t, why="", step=False, host="gpu07"):
    what = f"STEP {s.job}.0" if step else f"JOB {s.job}"
    return f"slurmstepd: error: *** {what} ON {host} CANCELLED AT {iso(c.at(t + s.skew))}{' DUE TO ' + why if why else ''} ***"


@family("s.limit", "limit limit_then_cancel cancel_before_limit own_before_limit limit_no_output deadline", 6)
def limit(c):
    s, log = job(c)
    t = c.between(1200, 2400)
    log.steps(2, t)
    actor, mild = None, []
    if c.variant in ("limit", "limit_then_cancel", "limit_no_output"):
        s.ctld(t, f"Time limit exhausted for JobId={s.job}")
        if c.variant != "limit_no_output":
            log.raw(t + 0.5, cancelled_line(s, c, t, "TIME LIMIT"))
        if c.variant == "limit_then_cancel":
            s.kill(t + 20, 2000)
        s.ended("TIMEOUT", "0:0", t + 1)
        right = ["code.deadline"]
    elif c.variant == "deadline":
        s.ended("DEADLINE", "0:0", t + 1)
        right = ["code.deadline"]
    elif c.variant == "cancel_before_limit":
        s.kill(t, 1000)
        log.raw(t + 0.5, cancelled_line(s, c, t))
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        right, actor = ["ops.manual_delete"], ["alice", "1000"]
    else:
        right, mild = own_end(c, s, log, t), NOBODY
        # The limit of the next job on that node.
        s.ctld(t + 30, f"Time limit exhausted for JobId={s.job + 7}")
    c.expect(right, "the job's time limit, or not", actor=actor, mild=mild)
    done(c, s, log)


@family("s.cancel", "owner admin root_requested usr1_completed usr1_failed other_job other_array after_end step_only", 6)
def cancel(c):
    s, log = job(c)
    t = c.between(900, 2000)
    log.steps(2, t - 1)
    actor, mild = None, []
    if c.variant in ("owner", "admin", "root_requested"):
        uid = {"owner": 1000, "admin": 2000, "root_requested": 0}[c.variant]
        s.kill(t, uid)
        log.raw(t + 0.4, cancelled_line(s, c, t, step=c.number % 2 == 0))
        s.ended(f"CANCELLED by {uid}", "0:0", t + 1)
        right, actor = ["ops.manual_delete"], {"owner": ["alice", "1000"], "admin": ["2000", "uid 2000"]}.get(c.variant)
    elif c.variant == "usr1_completed":
        s.kill(t - 300, 1000)
        s.complete(t, 0)
        s.ended("COMPLETED", "0:0", t)
        right = ["none.completed"]
    else:
        if c.variant == "usr1_failed":
            s.kill(t - 200, 1000)
        elif c.variant == "other_job":
            s.ctld(t - 5, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={s.job + 1} uid 2000")
        elif c.variant == "other_array":
            s.ctld(t - 5, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={s.job - 40}_{s.job % 7} uid 1000")
        elif c.variant == "step_only":
            # A side step was cancelled long before; the job went on.
            log.raw(t - 400, f"slurmstepd: error: *** STEP {s.job}.1 ON gpu07 CANCELLED AT {iso(c.at(t - 400))} ***")
        right, mild = own_end(c, s, log, t), NOBODY
        if c.variant == "after_end":
            s.kill(t + c.between(2, 50), 1000)
    c.expect(right, "somebody cancels it, or another, or too late", actor=actor, mild=mild)
    done(c, s, log)


@family("s.preempt", "preempted requeued_by_preemption requeue_admin preempts_another preempted_then_own", 6)
def preempt(c):
    s, log = job(c)
    t = c.between(900, 2000)
    log.steps(2, t)
    mild, actor = [], None
    if c.variant == "preempted":
        s.ctld(t, f"preempted JobId={s.job} has been killed to reclaim resources for JobId={s.job + 9}")
        log.raw(t + 0.4, cancelled_line(s, c, t, "PREEMPTION"))
        s.ended("PREEMPTED", "0:0", t + 1)
        right = ["sched.preempted"]
    elif c.variant == "requeued_by_preemption":
        s.ctld(t, f"preempted JobId={s.job} has been requeued to reclaim resources for JobId={s.job + 9}")
        log.raw(t + 0.4, cancelled_line(s, c, t, "PREEMPTION"))
        s.ended("PREEMPTED", "0:0", t + 1)
        right = ["sched.preempted"]
    elif c.variant == "requeue_admin":
        s.ctld(t, f"_slurm_rpc_requeue: Processing RPC: REQUEST_JOB_REQUEUE from uid=2000")
        s.ctld(t, f"_slurm_rpc_requeue: JobId={s.job}: usec=210")
        log.raw(t + 0.4, cancelled_line(s, c, t, "JOB REQUEUE"))
        s.ended("REQUEUED", "0:0", t + 1)
        right, mild = ["ops.manual_delete", "unknown"], ["sched.preempted"]
    elif c.variant == "preempts_another":
        s.ctld(t - 8, f"preempted JobId={s.job + 3} has been requeued to reclaim resources for JobId={s.job + 9}")
        right, mild = own_end(c, s, log, t + 1), NOBODY
    else:
        # Preempted once, started again, fails of its own.
        s.ctld(t, f"preempted JobId={s.job} has been requeued to reclaim resources for JobId={s.job + 9}")
        log.raw(t + 0.4, cancelled_line(s, c, t, "PREEMPTION"))
        s.ended("PREEMPTED", "0:0", t + 1)
        again = t + 300
        s.ctld(again, f"sched: Allocate JobId={s.job} NodeList={s.nodes} #CPUs=128 Partition=gpu")
        log.say(again + 5, "resuming from checkpoint step=300")
        end = again + c.between(500, 800)
        log.steps(again + 6, end - 1)
        right = OWN
        log.traceback(end - 0.4, *c.pick(*OWN_ERRORS))
        s.complete(end, 1)
        s.ended("FAILED", "1:0", end, start=again)
    c.expect(right, "preempted, or another was", mild=mild)
    done(c, s, log)


@family("s.node", "silent panic power reboot_person other_node after_end came_back set_down_admin oom_host ", 6)
def nodes(c):
    s, log = job(c, "gpu[07-08]")
    m, near = node(c, s, "gpu08"), node(c, s, "gpu07")
    t = c.between(900, 1800)
    log.steps(2, t)
    actor, mild = None, []
    def lost(t, host="gpu08"):
        s.ctld(t + 100, f"error: Nodes {host} not responding")
        s.ctld(t + 300, f"error: Nodes {host} not responding, setting DOWN")
        s.ctld(t + 300, f"Killing JobId={s.job} on failed node {host}")
        s.ended("NODE_FAIL", "0:0", t + 300)
    if c.variant == "silent":
        m.dies(t)
        lost(t)
        right = ["node.not_ready"]
    elif c.variant == "panic":
        m.kernel(t, "Kernel panic - not syncing: hung_task: blocked tasks")
        lost(t)
        m.boots(t + 700)
        right = ["node.kernel_panic"]
    elif c.variant == "power":
        m.dies(t)
        lost(t)
        m.boots(t + 500)
        right = ["node.reboot", "node.not_ready"]
    elif c.variant == "reboot_person":
        actor = [person_reboots(c, m, t)]
        lost(t)
        m.boots(t + 400)
        right = ["node.reboot"]
    elif c.variant == "set_down_admin":
        s.ctld(t, "update_node: node gpu08 reason set to: replace DIMM")
        s.ctld(t + 0.001, "update_node: node gpu08 state set to DOWN")
        s.ctld(t + 0.002, f"Killing JobId={s.job} on failed node gpu08")
        log.raw(t + 0.4, cancelled_line(s, c, t, "NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS"))
        s.ended("NODE_FAIL", "0:0", t + 1)
        right = ["ops.manual_delete"]
    elif c.variant == "oom_host":
        # The machine's memory was out: its kernel killed a rank.
        m.oom(t, "python3", m.pid, group(s))
        log.raw(t + 1, "srun: error: gpu08: task 1: Killed")
        s.complete(t + 4, 137)
        s.ended("FAILED", "137:0", t + 4)
        right = ["node.system_oom", "code.host_oom"]
    else:
        if c.variant == "other_node":
            far = node(c, s, "gpu09")
            far.kernel(t - 3, "Kernel panic - not syncing: Fatal exception")
            far.boots(t + 300)
            s.ctld(t + 90, "error: Nodes gpu09 not responding")
            s.ctld(t + 290, "error: Nodes gpu09 not responding, setting DOWN")
            far.save()
            right, mild = own_end(c, s, log, t + 2), NOBODY
        elif c.variant == "after_end":
            right, mild = own_end(c, s, log, t + 2), NOBODY
            again = t + 2 + c.between(1, 55)
            m.kernel(again, "Kernel panic - not syncing: Fatal exception")
            s.ctld(again + 300, "error: Nodes gpu08 not responding, setting DOWN")
            m.boots(again + 500)
        else:
            # Requeued for a node's failure, and failed of its own in the second run.
            s.ctld(t + 300, "error: Nodes gpu08 not responding, setting DOWN")
            s.ctld(t + 300, f"requeue job JobId={s.job} due to failure of node gpu08")
            s.ended("NODE_FAIL", "0:0", t + 300)
            again = t + 500
            s.ctld(again, f"sched: Allocate JobId={s.job} NodeList=gpu[07,09] #CPUs=128 Partition=gpu")
            log.say(again + 5, "resuming from checkpoint step=300")
            end = again + c.between(500, 800)
            log.steps(again + 6, end - 1)
            log.traceback(end - 0.4, *c.pick(*OWN_ERRORS))
            s.complete(end, 1)
            s.account("FAILED", "1:0", again, end, [("batch", "FAILED", "1:0"), ("0", "FAILED", "1:0")], nodes="gpu[07,09]")
            right = OWN
    m.noise(0, t + 900)
    near.noise(0, t + 900)
    c.expect(right, "a node of the job fails, or another's, or later", actor=actor, mild=mild)
    done(c, s, log, m, near)


@family("s.drain", "drain_then_own drain_then_limit drain_then_complete nhc_then_own kill_task_failed epilog prolog reboot_asap", 6)
def drain(c):
    """A drain lets jobs go on."""
    s, log = job(c)
    t = c.between(1200, 2000)
    log.steps(2, t - 1)
    mild, actor = NOBODY, None
    early = t - c.between(200, 700)
    if c.variant.startswith("drain"):
        s.ctld(early, "update_node: node gpu07 reason set to: planned work")
        s.ctld(early + 0.001, "update_node: node gpu07 state set to DRAINING")
    if c.variant == "nhc_then_own":
        s.ctld(early, "update_node: node gpu07 reason set to: NHC: check_fs_mount: /scratch not mounted")
        s.ctld(early + 0.001, "update_node: node gpu07 state set to DRAINING")
    if c.variant == "reboot_asap":
        s.ctld(early, "reboot request queued for nodes gpu07")
        s.ctld(early + 0.001, "update_node: node gpu07 reason set to: Reboot ASAP")
    if c.variant == "drain_then_limit":
        s.ctld(t, f"Time limit exhausted for JobId={s.job}")
        log.raw(t + 0.5, cancelled_line(s, c, t, "TIME LIMIT"))
        s.ended("TIMEOUT", "0:0", t + 1)
        right, mild = ["code.deadline"], []
    elif c.variant == "drain_then_complete":
        s.complete(t, 0)
        s.ended("COMPLETED", "0:0", t)
        right, mild = ["none.completed"], []
    elif c.variant == "kill_task_failed":
        s.kill(t, 1000)
        log.raw(t + 0.4, cancelled_line(s, c, t))
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        s.ctld(t + 65, "error: slurmd error running JobId=%d on node(s)=gpu07: Kill task failed" % s.job)
        s.ctld(t + 65.1, "drain_nodes: node gpu07 state set to DRAIN")
        right, mild, actor = ["ops.manual_delete"], [], ["alice", "1000"]
    elif c.variant == "prolog":
        log.lines = []
        s.ctld(3, f"error: Prolog launch failure, JobId={s.job}") if c.number % 2 else s.ctld(3, "error: validate_nodes_via_front_end: Prolog error on node gpu07, state set to DRAIN")
        s.ctld(3.1, "drain_nodes: node gpu07 state set to DRAIN")
        s.ctld(3.2, f"_slurm_rpc_complete_batch_script: JobId={s.job} Prolog error, requeueing")
        s.rows = [(s.job, "train", "alice", "NODE_FAIL" if c.number % 2 else "FAILED", "0:0", 0, 4, "gpu07", [("batch", "FAILED", "0:0")])]
        right, mild = ["node.launch_failed", "unknown"], ["node.not_ready"]
    else:
        right = own_end(c, s, log, t)
        if c.variant == "epilog":
            s.ctld(t + 5, "error: Epilog failed on node gpu07, draining")
            s.ctld(t + 5.1, "update_node: node gpu07 state set to DRAINED")
        if c.variant == "reboot_asap":
            s.ctld(t + 20, "node gpu07 rebooting")
            s.ctld(t + 300, "node gpu07 returned to service")
            m = node(c, s)
            m.goes_down(t + 25)
            m.boots(t + 200)
            m.noise(0, t + 20)
            m.save()
    c.expect(right, "a drain, a failing epilog, a planned reboot: the job ends for another reason", actor=actor, mild=mild)
    done(c, s, log)


@family("s.oom", "cgroup cgroup_v1 accounting_only stepd_line other_job other_step_survived host_other after_end extern mem_per_cpu", 6)
def oom(c):
    s, log = job(c)
    m = node(c, s)
    t = c.between(900, 1800)
    log.steps(2, t - 1)
    mild, v2 = [], c.variant != "cgroup_v1"
    def stepd(t, step="0"):
        log.raw(t, f"slurmstepd: error: Detected 1 oom_kill event in StepId={s.job}.{step}. Some of the step tasks have been OOM Killed.")
    if c.variant in ("cgroup", "cgroup_v1"):
        own = group(s, v2=v2)
        m.oom(t, "python3", m.pid, own, own.rsplit("/", 3 if v2 else 2)[0])
        stepd(t + 0.5)
        log.raw(t + 0.7, "srun: error: gpu07: task 0: Out Of Memory")
        s.ended("OUT_OF_MEMORY", "0:125", t + 2)
        right = ["code.host_oom"]
    elif c.variant == "accounting_only":
        s.ended("OUT_OF_MEMORY", "0:125", t + 1)
        right = ["code.host_oom"]
    elif c.variant == "stepd_line":
        stepd(t)
        s.complete(t + 2, 1)
        s.ended("FAILED", "1:0", t + 2, ("OUT_OF_MEMORY", "0:125"))
        right = ["code.host_oom"]
    elif c.variant == "mem_per_cpu":
        log.raw(t, f"slurmstepd: error: Job {s.job} exceeded memory limit (10442128 > 10240000), being killed\nslurmstepd: error: Exceeded job memory limit")
        log.raw(t + 0.5, cancelled_line(s, c, t))
        s.ended("CANCELLED by 0" if c.number % 2 else "OUT_OF_MEMORY", "0:0" if c.number % 2 else "0:125", t + 1)
        right = ["code.host_oom"]
    else:
        if c.variant == "other_job":
            own = group(s, s.job + 2)
            m.oom(t - 3, "python3", m.pid + 9, own, own.rsplit("/", 3)[0])
        elif c.variant == "host_other":
            m.oom(t - 3, "rsyslogd", m.pid + 9, "/system.slice/rsyslog.service", uid=0)
        elif c.variant == "other_step_survived":
            own = group(s, step="3")
            m.oom(t - 700, "python3", m.pid + 9, own, own.rsplit("/", 3)[0])
        if c.variant == "extern":
            log.traceback(t - 0.4, *c.pick(*OWN_ERRORS))
            s.complete(t, 1)
            s.account("FAILED", "1:0", 0, t, [("batch", "FAILED", "1:0"), ("extern", "OUT_OF_MEMORY", "0:125"), ("0", "FAILED", "1:0")])
            right = OWN
        elif c.variant == "other_step_survived":
            log.traceback(t - 0.4, *c.pick(*OWN_ERRORS))
            s.complete(t, 1)
            s.account("FAILED", "1:0", 0, t, [("batch", "FAILED", "1:0"), ("extern", "COMPLETED", "0:0"), ("0", "FAILED", "1:0")])
            right = OWN
        else:
            right, mild = own_end(c, s, log, t), NOBODY
        if c.variant == "after_end":
            own = group(s, s.job + 4)
            m.oom(t + c.between(1, 50), "python3", m.pid + 9, own, own.rsplit("/", 3)[0])
    m.noise(0, t + 600)
    c.expect(right, "memory: of the job, of another, of the machine", mild=mild)
    done(c, s, log, m)


@family("s.code", "137 139 134 143 1 sig9 sig11 sig15 segv_kernel segv_task completed 2", 6)
def codes(c):
    s, log = job(c)
    m = node(c, s)
    t = c.between(900, 1800)
    log.steps(2, t - 1)
    code = {"sig9": "0:9", "sig11": "0:11", "sig15": "0:15", "segv_kernel": "139:0", "segv_task": "139:0", "completed": "0:0"}.get(c.variant, f"{c.variant}:0")
    mild = ["code.exception", "code.host_oom", "ops.manual_delete", "code.segfault"]
    right = ["unknown", "code.exception"] if c.variant in ("1", "2") else ["unknown"]
    if c.variant in ("139", "sig11", "segv_kernel", "segv_task"):
        right = ["code.segfault"]
    elif c.variant == "134":
        right = ["unknown", "code.segfault"]
    if c.variant == "segv_kernel":
        m.segfault(t - 1, "python3", m.pid)
    elif c.variant == "segv_task":
        log.raw(t - 0.5, "srun: error: gpu07: task 0: Segmentation fault (core dumped)")
    if c.variant == "completed":
        log.say(t, "training completed, saved final checkpoint")
        s.complete(t, 0)
        s.ended("COMPLETED", code, t)
        right, mild = ["none.completed"], []
    else:
        number, signal = map(int, code.split(":"))
        s.complete(t, -signal if signal else number)
        s.ended("FAILED", code, t)
    m.noise(0, t + 500)
    c.expect(right, f"the job ends with {code}", mild=mild)
    done(c, s, log, m)


@family("s.survived", "cancel own limit preempt node_fail", 8)
def survived(c):
    """(b) A fault of the node that hundreds of steps came after."""
    s, log = job(c, step=c.pick(2, 3))
    m = node(c, s)
    fault = c.between(200, 400)
    kind = ("xid79", "nvlink", "link", "mem", "nfs", "disk", "xid119", "pcie")[c.number]
    trouble(c, m, fault, kind)
    if kind == "link":
        m.link(fault + 8, "ibp92s0", True)
    t = fault + c.pick(250, 400, 600, 850, 1300) + c.between(0, 30)
    log.steps(2, t - 1)
    actor, mild = None, []
    if c.variant == "cancel":
        s.kill(t, 1000)
        log.raw(t + 0.4, cancelled_line(s, c, t))
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        right, actor = ["ops.manual_delete"], ["alice", "1000"]
    elif c.variant == "own":
        right, mild = own_end(c, s, log, t), NOBODY
    elif c.variant == "limit":
        s.ctld(t, f"Time limit exhausted for JobId={s.job}")
        s.ended("TIMEOUT", "0:0", t + 1)
        right = ["code.deadline"]
    elif c.variant == "preempt":
        s.ctld(t, f"preempted JobId={s.job} has been killed to reclaim resources for JobId={s.job + 9}")
        log.raw(t + 0.4, cancelled_line(s, c, t, "PREEMPTION"))
        s.ended("PREEMPTED", "0:0", t + 1)
        right = ["sched.preempted"]
    else:
        who = person_reboots(c, m, t)
        m.boots(t + 200)
        s.ctld(t + 300, "error: Nodes gpu07 not responding, setting DOWN")
        s.ended("NODE_FAIL", "0:0", t + 300)
        right, actor = ["node.reboot"], [who]
    m.noise(0, t + 100)
    c.expect(right, f"the job trains on for hundreds of steps after {kind}", actor=actor, mild=mild)
    done(c, s, log, m)


@family("s.after", "xid79 link panic reboot disk nfs oom_other mem down drain", 6)
def after(c):
    """(a) The node's trouble comes after the job's end; both have one clock, or clocks that differ a little."""
    s, log = job(c)
    m = node(c, s)
    m.skew = c.pick(0, 0, 0.4, -0.4)
    t = c.between(900, 1600)
    log.steps(2, t - 1)
    right = own_end(c, s, log, t)
    later = t + c.pick(7.0, 12.0, 20.0, 45.0, 60.0)
    if c.variant == "panic":
        m.kernel(later, "Kernel panic - not syncing: Fatal exception")
        m.boots(later + 200)
    elif c.variant == "reboot":
        person_reboots(c, m, later)
        m.boots(later + 200)
    elif c.variant == "oom_other":
        own = group(s, s.job + 4)
        m.oom(later, "python3", m.pid + 9, own, own.rsplit("/", 3)[0])
    elif c.variant in ("down", "drain"):
        s.ctld(later, "update_node: node gpu07 reason set to: maintenance")
        s.ctld(later + 0.001, f"update_node: node gpu07 state set to {'DOWN' if c.variant == 'down' else 'DRAINING'}")
    else:
        trouble(c, m, later, c.variant)
    m.noise(0, t + 500)
    c.expect(right, "the node's trouble comes after the job had failed", mild=NOBODY)
    done(c, s, log, m)


@family("s.before", "xid79 link panic_slow disk nfs", 6)
def before(c):
    """The twins: the node's trouble, and what the job says of it."""
    s, log = job(c)
    m = node(c, s)
    fault = c.between(900, 1600)
    log.steps(2, fault)
    t = fault + c.between(3, 20)
    if c.variant == "xid79":
        m.xid(fault, 79)
        log.traceback(t - 0.3, "torch.AcceleratorError: CUDA error: unspecified launch failure", "    loss.backward()")
        right = ["hw.gpu"]
    elif c.variant == "link":
        m.link(fault, "ibp92s0", False)
        log.traceback(t - 0.3, "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, remote process exited or there was a network error, NCCL version 2.21.5", "    dist.all_reduce(x)")
        right = ["hw.nic"]
    elif c.variant == "disk":
        trouble(c, m, fault, "disk")
        log.traceback(t - 0.3, "OSError: [Errno 5] Input/output error: '/scratch/shard-000412.tar'", "    with open(path, 'rb') as f:")
        right = ["hw.disk", "dep.storage"]
    elif c.variant == "nfs":
        m.kernel(fault + 2, "nfs: server 10.0.0.9 not responding, timed out")
        log.traceback(t - 0.3, "OSError: [Errno 5] Input/output error: '/nfs/data/shard-000412.tar'", "    with open(path, 'rb') as f:")
        right = ["dep.storage", "dep.volume"]
    else:
        m.kernel(fault, "Kernel panic - not syncing: hung_task: blocked tasks")
        s.ctld(fault + 300, "error: Nodes gpu07 not responding, setting DOWN")
        s.ctld(fault + 300, f"Killing JobId={s.job} on failed node gpu07")
        s.ended("NODE_FAIL", "0:0", fault + 300)
        right = ["node.kernel_panic"]
    if c.variant != "panic_slow":
        s.complete(t, 1)
        s.ended("FAILED", "1:0", t)
    m.noise(0, fault)
    c.expect(right, "the node's trouble ends the job")
    done(c, s, log, m)


@family("s.array", "other_task_oom other_task_fails own_task_fails own_task_oom", 6)
def array(c):
    """Tasks of one array: 900_3 is asked for, 900_4 is another."""
    s = Slurm(c)
    base, t = s.job, c.between(900, 1600)
    s.lines, mine, other = [], f"{base}_3", f"{base}_4"
    log = Train(c, f"slurm-{mine}.out")
    log.begin(2)
    log.steps(2, t - 1)
    for name, number in ((mine, base + 3), (other, base + 4)):
        s.ctld(0, f"sched: Allocate JobId={name}({number}) NodeList=gpu0{7 if name == mine else 8} #CPUs=64 Partition=gpu")
    good = c.variant.startswith("other")
    def row(name, state, code, nodes):
        s.account(state, code, 0, t, [("batch", state, code), ("extern", "COMPLETED", "0:0")], job=name, nodes=nodes)
    oom, bad = "oom" in c.variant, ("OUT_OF_MEMORY", "0:125") if "oom" in c.variant else ("FAILED", "1:0")
    s.form = 0 if s.form == 1 else s.form
    if good:
        log.say(t, "training completed, saved final checkpoint")
        row(mine, "COMPLETED", "0:0", "gpu07")
        row(other, *bad, "gpu08")
        right = ["none.completed"]
    else:
        if not oom:
            log.traceback(t - 0.4, *c.pick(*OWN_ERRORS))
        row(mine, *bad, "gpu07")
        row(other, "COMPLETED", "0:0", "gpu08")
        right = ["code.host_oom"] if oom else OWN
    c.expect(right, "one task of an array fails, the other does not", asked=mine)
    done(c, s, log)


@family("s.zone", "reboot panic own_same_digits daemon_oom ctld_journal", 6)
def zone(c):
    """Slurm writes local time, two hours ahead of the kernel's UTC; and its daemons through the journal."""
    local = 0.0 if c.variant in ("daemon_oom", "ctld_journal") else 7200.0
    s, log = job(c, skew=local)
    m = node(c, s)
    t = c.between(900, 1600)
    log.steps(2, t)
    actor, mild = None, []
    if local:
        # What its job's log says is local as well.
        log.form = "logging"
    if c.variant in ("reboot", "panic"):
        if c.variant == "reboot":
            actor, right = [person_reboots(c, m, t)], ["node.reboot"]
        else:
            m.kernel(t, "Kernel panic - not syncing: Fatal exception")
            right = ["node.kernel_panic"]
        m.boots(t + 200)
        boot = int(c.at(t + 200).timestamp())
        s.ctld(t + 240, f"validate_node_specs: Node gpu07 unexpectedly rebooted boot_time={boot} last response={boot - 230}")
        s.ctld(t + 240, f"Killing JobId={s.job} on failed node gpu07")
        s.ended("NODE_FAIL", "0:0", t + 240)
    elif c.variant == "own_same_digits":
        # In the node's UTC journal a panic stands at the digits of the job's local end: two hours after it.
        right, mild = own_end(c, s, log, t), NOBODY
        m.kernel(t + local - 2, "Kernel panic - not syncing: Fatal exception")
        m.boots(t + local + 200)
        boot = int(c.at(t + local + 200).timestamp())
        s.ctld(t + local + 240, f"validate_node_specs: Node gpu07 unexpectedly rebooted boot_time={boot} last response={boot - 230}")
    elif c.variant == "daemon_oom":
        own = group(s)
        c.write("slurmd-gpu07.log", f"[{iso(c.at(t), 3)}] [{s.job}.0] error: Detected 1 oom_kill event in StepId={s.job}.0. Some of the step tasks have been OOM Killed.\n[{iso(c.at(t + 1), 3)}] [{s.job}.0] done with step\n")
        m.oom(t, "python3", m.pid, own, own.rsplit("/", 3)[0])
        s.complete(t + 2, 1)
        s.ended("OUT_OF_MEMORY", "0:125", t + 2)
        right = ["code.host_oom"]
    else:
        ctl = Machine(c, "slurm-ctl", form="short-iso")
        for when, _, text in s.lines:
            ctl.log(when, "slurmctld", text, 483)
        ctl.log(t, "slurmctld", f"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={s.job} uid 1000", 483)
        ctl.save()
        s.lines = []
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        log.raw(t + 0.4, cancelled_line(s, c, t))
        right, actor = ["ops.manual_delete"], ["alice", "1000"]
    m.noise(0, t + 600)
    if local:
        log.lines = [(when, shift(text, 2)) for when, text in log.lines]
    c.expect(right, "zones and ways of Slurm's logs", actor=actor, mild=mild)
    done(c, s, log, m)


@family("s.stall", "xid_then_limit silent_then_limit xid_long_before_limit nfs_then_limit xid_then_cancel link_then_limit", 6)
def stall(c):
    """Steps stop, and hours later a limit or somebody ends what is left."""
    s, log = job(c, step=5)
    m = node(c, s)
    stop = c.between(900, 1500)
    log.steps(2, stop)
    t = stop + c.between(1500, 2500)
    kind = c.variant.split("_")[0]
    if c.variant == "xid_long_before_limit":
        trouble(c, m, stop - 700, "xid79")
        right, mild = ["code.deadline", "hang.no_progress"], ["hw.gpu", "unknown"]
    elif kind == "silent":
        right, mild = ["code.deadline", "hang.no_progress"], ["unknown"]
    else:
        trouble(c, m, stop + 1, {"xid": "xid79"}.get(kind, kind))
        right, mild = {"xid": ["hw.gpu"], "nfs": ["dep.storage", "dep.volume"], "link": ["hw.nic"]}[kind], ["code.deadline", "ops.manual_delete"]
    if c.variant.endswith("cancel"):
        s.kill(t, 1000)
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        right = right + ["ops.manual_delete"]
    else:
        s.ctld(t, f"Time limit exhausted for JobId={s.job}")
        log.raw(t + 0.5, cancelled_line(s, c, t, "TIME LIMIT"))
        s.ended("TIMEOUT", "0:0", t + 1)
        right = right + ["code.deadline"]
    m.noise(0, t + 100)
    c.expect(right, "steps stop long before the end", mild=mild)
    done(c, s, log, m)


@family("s.skew", "xid79 panic reboot own_after own_reboot_after", 8)
def skewed(c):
    """The node's clock is 2 to 120 s off the controller's; the job's output is written by the node's."""
    off = (2.0, -3.0, 10.0, -20.0, 45.0, -60.0, 90.0, -120.0)[c.number]
    s, log = job(c)
    m = node(c, s)
    t = c.between(900, 1600)
    log.steps(2, t)
    actor, mild = None, []
    if c.variant == "xid79":
        m.xid(t, 79)
        log.traceback(t + 4, "torch.AcceleratorError: CUDA error: unspecified launch failure", "    loss.backward()")
        s.complete(t + 5, 1)
        s.ended("FAILED", "1:0", t + 5)
        right = ["hw.gpu"]
    elif c.variant in ("panic", "reboot"):
        if c.variant == "panic":
            m.kernel(t, "Kernel panic - not syncing: Fatal exception")
            right = ["node.kernel_panic"]
        else:
            actor, right = [person_reboots(c, m, t)], ["node.reboot"]
        m.boots(t + 180)
        s.ctld(t + 300, "error: Nodes gpu07 not responding, setting DOWN")
        s.ctld(t + 300, f"Killing JobId={s.job} on failed node gpu07")
        s.ended("NODE_FAIL", "0:0", t + 300)
    else:
        right, mild = own_end(c, s, log, t + 1), NOBODY
        later = t + 1 + abs(off) + c.between(20, 200)
        if c.variant == "own_after":
            m.xid(later, 79)
        else:
            person_reboots(c, m, later)
            m.boots(later + 100)
    m.noise(0, t + 500)
    m.skew = off
    log.lines = [(when, late(text, off)) for when, text in log.lines]
    c.expect(right, f"the node's clock is {off} s off the controller's", actor=actor, mild=mild)
    done(c, s, log, m)


def late(text, seconds):
    """A line of a program whose clock is off."""
    from datetime import datetime, timedelta
    for start, form in ((0, "%Y-%m-%d %H:%M:%S"), (0, "%Y-%m-%dT%H:%M:%S"), (1, "%Y-%m-%d %H:%M:%S")):
        try:
            when = datetime.strptime(text[start:start + 19], form)
        except ValueError:
            continue
        return text[:start] + (when + timedelta(seconds=round(seconds))).strftime(form) + text[start + 19:]
    return text


@family("s.cloud", "preempted host_error delete other_preempted own_then_preempted terminate_maint", 6)
def cloud(c):
    """The node is a machine of Compute Engine that bears its name."""
    s, log = job(c, "gpu[07-08]")
    g = Gce(c, "gpu08")
    for vm in ("gpu07", "gpu08", "gpu09"):
        g.call(-3000, "insert", "slurm@lab-train.iam.gserviceaccount.com", 20, vm=vm, id=g.id[:-1] + vm[-1])
    g.id = g.id[:-1] + "8"
    t, who, actor, mild = c.between(900, 1600), "carol@lab.example", None, []
    log.steps(2, t)
    def lost():
        s.ctld(t + 300, "error: Nodes gpu08 not responding, setting DOWN")
        s.ctld(t + 300, f"Killing JobId={s.job} on failed node gpu08")
        s.ended("NODE_FAIL", "0:0", t + 300)
    if c.variant == "preempted":
        g.system(t, "preempted", "Instance was preempted.")
        lost()
        right = ["cloud.spot_reclaimed"]
    elif c.variant == "host_error":
        g.system(t + 20, "hostError", "Instance terminated by Compute Engine.")
        lost()
        right = ["cloud.host_error"]
    elif c.variant == "terminate_maint":
        g.system(t, "terminateOnHostMaintenance", "Instance terminated during Compute Engine maintenance.")
        lost()
        right = ["ops.host_maintenance"]
    elif c.variant == "delete":
        g.call(t, "delete", who)
        lost()
        right, actor = ["ops.manual_delete"], [who]
    elif c.variant == "other_preempted":
        g.system(t - 3, "preempted", "Instance was preempted.", vm="gpu09", id=g.id[:-1] + "9")
        right, mild = own_end(c, s, log, t), NOBODY
    else:
        right, mild = own_end(c, s, log, t), NOBODY
        g.system(t + c.between(20, 300), "preempted", "Instance was preempted.")
    g.save()
    c.expect(right, "a node of the job is a machine in a cloud", actor=actor, mild=mild)
    done(c, s, log)


@family("s.multi", "xid_node2 oom_node2 xid_other_node segv_task requeued_running requeued_pending own_rank_node2", 6)
def multi(c):
    """A job on four nodes; the output names who was first."""
    s, log = job(c, "gpu[07-10]")
    machines = {host: node(c, s, host) for host in ("gpu07", "gpu08", "gpu09", "gpu11")}
    t = c.between(900, 1600)
    log.steps(2, t)
    mild = []
    if c.variant in ("xid_node2", "xid_other_node"):
        machines["gpu08" if c.variant == "xid_node2" else "gpu11"].xid(t, 79)
    if c.variant == "xid_node2":
        log.traceback(t + 4, "[rank9]: torch.AcceleratorError: CUDA error: unspecified launch failure", "    loss.backward()")
        log.raw(t + 5, "srun: error: gpu08: task 9: Exited with exit code 1")
        right = ["hw.gpu"]
    elif c.variant == "oom_node2":
        own = group(s)
        machines["gpu08"].oom(t, "python3", 4711, own, own.rsplit("/", 3)[0])
        log.raw(t + 1, f"slurmstepd: error: Detected 1 oom_kill event in StepId={s.job}.0. Some of the step tasks have been OOM Killed.")
        log.raw(t + 1.2, "srun: error: gpu08: task 9: Out Of Memory")
        right = ["code.host_oom"]
    elif c.variant == "segv_task":
        log.raw(t + 1, "srun: error: gpu08: task 9: Segmentation fault (core dumped)")
        right = ["code.segfault"]
    elif c.variant in ("xid_other_node", "own_rank_node2"):
        log.traceback(t + 1, *c.pick(*OWN_ERRORS))
        right = OWN
    if c.variant.startswith("requeued"):
        s.ctld(t + 300, "error: Nodes gpu08 not responding, setting DOWN")
        s.ctld(t + 300, f"requeue job JobId={s.job} due to failure of node gpu08")
        s.ended("NODE_FAIL", "0:0", t + 300)
        if c.variant == "requeued_running":
            again = t + 500
            s.ctld(again, f"sched: Allocate JobId={s.job} NodeList=gpu[07,09-11] #CPUs=128 Partition=gpu")
            log.say(again + 5, "resuming from checkpoint step=300")
            log.steps(again + 6, again + 600)
            s.account("RUNNING", "0:0", again, None, nodes="gpu[07,09-11]")
            right = ["none.running"]
        else:
            s.account("PENDING", "0:0", t + 300, None, nodes="None assigned")
            s.rows.pop()
            right = ["node.not_ready"]
    else:
        code = {"oom_node2": 1, "segv_task": 139}.get(c.variant, 1)
        s.complete(t + 8, code)
        s.ended("OUT_OF_MEMORY" if c.variant == "oom_node2" else "FAILED", "0:125" if c.variant == "oom_node2" else f"{code}:0", t + 8)
    for m in machines.values():
        m.noise(0, t + 900)
    c.expect(right, "a job on several nodes", mild=mild)
    done(c, s, log, *machines.values())


STATES = {"timeout": ("TIMEOUT", "0:0", "TimeLimit", ["code.deadline"]), "oom": ("OUT_OF_MEMORY", "0:125", "OutOfMemory", ["code.host_oom"]),
          "node_fail": ("NODE_FAIL", "0:0", "NodeDown", ["node.not_ready"]), "preempted": ("PREEMPTED", "0:0", "None", ["sched.preempted"]),
          "failed": ("FAILED", "1:0", "NonZeroExitCode", OWN), "completed": ("COMPLETED", "0:0", "None", ["none.completed"]),
          "cancelled": ("CANCELLED", "0:0", "None", ["ops.manual_delete"]), "boot_fail": ("BOOT_FAIL", "0:0", "NodeDown", ["node.launch_failed", "node.not_ready"]),
          "deadline": ("DEADLINE", "0:0", "DeadLine", ["code.deadline"]), "segv": ("FAILED", "0:11", "RaisedSignal:11(Segmentation_fault)", ["code.segfault"])}


@family("s.shown", " ".join(STATES), 6)
def shown(c):
    """A job as `scontrol show job`, plain `sacct` or `squeue` prints it, and its output."""
    state, code, reason, right = STATES[c.variant]
    s, log = job(c)
    t = c.between(900, 1600)
    log.steps(2, t)
    if c.variant == "failed":
        log.traceback(t, *c.pick(*OWN_ERRORS))
    if c.variant == "completed":
        log.say(t, "training completed, saved final checkpoint")
    if c.variant == "boot_fail":
        log.lines = []
    start, end = iso(c.at(0)), iso(c.at(t + 1))
    if c.number % 2:
        c.write("scontrol.txt", f"JobId={s.job} JobName=train\n   UserId=alice(1000) GroupId=alice(1000) MCS_label=N/A\n   Priority=4294901758 Nice=0 Account=ml QOS=normal\n"
                f"   JobState={state} Reason={reason} Dependency=(null)\n   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode={code}\n   RunTime=00:20:00 TimeLimit=04:00:00 TimeMin=N/A\n"
                f"   SubmitTime={iso(c.at(-60))} EligibleTime={iso(c.at(-60))}\n   StartTime={start} EndTime={end} Deadline=N/A\n   Partition=gpu AllocNode:Sid=login1:4711\n"
                f"   ReqNodeList=(null) ExcNodeList=(null)\n   NodeList=gpu07\n   BatchHost=gpu07\n   NumNodes=1 NumCPUs=128 NumTasks=8\n   Command=/home/alice/train.sbatch\n   WorkDir=/home/alice\n   StdOut=/home/alice/slurm-{s.job}.out\n\n")
    else:
        cut = lambda text, width: text if len(text) <= width else text[:width - 1] + "+"
        rows = [(str(s.job), "train", "gpu", state, code), (f"{s.job}.batch", "batch", "", "CANCELLED" if state in ("TIMEOUT", "PREEMPTED", "NODE_FAIL", "CANCELLED", "DEADLINE") else state, "0:15" if code == "0:0" and state != "COMPLETED" else code)]
        text = f"{'JobID':<12} {'JobName':>10} {'Partition':>10} {'State':>10} {'ExitCode':>8} {'Start':>19} {'End':>19} {'NodeList':>15} \n" + " ".join("-" * n for n in (12, 10, 10, 10, 8, 19, 19, 15)) + " \n"
        for job_id, name, part, of, ended in rows:
            text += f"{cut(job_id, 12):<12} {name:>10} {part:>10} {cut(of, 10):>10} {ended:>8} {start:>19} {end:>19} {'gpu07':>15} \n"
        c.write("sacct-plain.txt", text)
    c.expect(right, "a job as people print it")
    log.save() if log.lines else None


@family("s.teardown", "cancel limit preempt oom_child own_then_cancel node_reboot", 6)
def teardown(c):
    """Ranks say in their own way that they are stopped."""
    s, log = job(c)
    m = node(c, s)
    t = c.between(900, 1600)
    log.steps(2, t)
    actor, mild = None, []
    def cleanup(at):
        if c.number % 3 == 0:
            log.say(at, "received SIGTERM, saving a checkpoint before exit", "WARNING")
        elif c.number % 3 == 1:
            log.raw(at, "Traceback (most recent call last):\n  File \"/usr/lib/python3/torch/distributed/run.py\", line 905, in main\n    run(args)\ntorch.distributed.elastic.multiprocessing.api.SignalException: Process 4711 got signal: 15")
        else:
            log.raw(at, "[rank3]: torch.distributed.DistBackendError: [3] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer")
    if c.variant == "cancel":
        s.kill(t, 1000)
        log.raw(t + 0.1, cancelled_line(s, c, t, step=True))
        cleanup(t + 0.4)
        s.ended("CANCELLED by 1000", "0:0", t + 1, ("FAILED", "1:0") if c.number % 2 else None)
        right, actor = ["ops.manual_delete"], ["alice", "1000"]
    elif c.variant == "limit":
        s.ctld(t, f"Time limit exhausted for JobId={s.job}")
        cleanup(t + 0.4)
        log.raw(t + 0.5, cancelled_line(s, c, t, "TIME LIMIT"))
        s.ended("TIMEOUT", "0:0", t + 1, ("FAILED", "1:0") if c.number % 2 else None)
        right = ["code.deadline"]
    elif c.variant == "preempt":
        s.ctld(t, f"preempted JobId={s.job} has been requeued to reclaim resources for JobId={s.job + 9}")
        cleanup(t + 0.4)
        log.raw(t + 0.5, cancelled_line(s, c, t, "PREEMPTION"))
        s.ended("PREEMPTED", "0:0", t + 1)
        right = ["sched.preempted"]
    elif c.variant == "oom_child":
        own = group(s)
        m.oom(t, "python3", 4720, own, own.rsplit("/", 3)[0])
        log.raw(t + 0.4, "Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 231, in <module>\n    main()\nRuntimeError: DataLoader worker (pid 4720) is killed by signal: Killed.")
        log.raw(t + 1, f"slurmstepd: error: Detected 1 oom_kill event in StepId={s.job}.0. Some of the step tasks have been OOM Killed.")
        s.complete(t + 2, 1)
        s.ended("OUT_OF_MEMORY" if c.number % 2 else "FAILED", "0:125" if c.number % 2 else "1:0", t + 2)
        right = ["code.host_oom"]
    elif c.variant == "node_reboot":
        actor = [person_reboots(c, m, t)]
        cleanup(t + 1.5)
        m.boots(t + 200)
        s.ctld(t + 230, f"validate_node_specs: Node gpu07 unexpectedly rebooted boot_time={int(c.at(t + 200).timestamp())} last response={int(c.at(t - 20).timestamp())}")
        s.ended("NODE_FAIL", "0:0", t + 230)
        right = ["node.reboot"]
    else:
        log.traceback(t + 1, *c.pick(*OWN_ERRORS))
        s.kill(t + 1 + c.pick(3, 20, 100), 1000)
        s.ended("CANCELLED by 1000", "0:0", t + 102, ("FAILED", "1:0"))
        right, mild = OWN + ["ops.manual_delete"], []
    m.noise(0, t + 300)
    c.expect(right, "ranks say in their own way that they are stopped", actor=actor, mild=mild)
    done(c, s, log, m)


@family("s.more", "sudo_scancel sudo_scancel_other fqdn_panic fqdn_other step0_failed_then_limit step0_oom_then_own step1_own thrice two_clusters node_failure_line wide_range down_by_sudo", 6)
def more(c):
    s, log = job(c, "gpu[007-012]" if c.variant == "wide_range" else "gpu07")
    t, who, actor, mild = c.between(900, 1600), c.pick(*PEOPLE), None, []
    log.steps(2, t)
    machines = []
    def lost(host="gpu07"):
        s.ctld(t + 300, f"error: Nodes {host} not responding, setting DOWN")
        s.ctld(t + 300, f"Killing JobId={s.job} on failed node {host}")
        s.ended("NODE_FAIL", "0:0", t + 300)
    if c.variant.startswith("sudo_scancel"):
        login = Machine(c, "login1", form="rsyslog")
        login.noise(-500, t + 300)
        machines.append(login)
        number = s.job if c.variant == "sudo_scancel" else s.job + 1
        login.sudo(t - 0.4, who, f"/usr/bin/scancel {number}")
        if c.variant == "sudo_scancel":
            s.kill(t, 0)
            log.raw(t + 0.4, cancelled_line(s, c, t))
            s.ended("CANCELLED by 0", "0:0", t + 1)
            right, actor = ["ops.manual_delete"], [who]
        else:
            s.ctld(t, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={number} uid 0")
            right, mild = own_end(c, s, log, t + 2), NOBODY
    elif c.variant.startswith("fqdn"):
        m = node(c, s, "gpu07.cluster.local" if c.variant == "fqdn_panic" else "gpu08.cluster.local")
        m.form = "rsyslog"
        machines.append(m)
        m.noise(0, t)
        m.kernel(t, "Kernel panic - not syncing: Fatal exception")
        m.boots(t + 200)
        if c.variant == "fqdn_panic":
            lost()
            right = ["node.kernel_panic"]
        else:
            right, mild = own_end(c, s, log, t + 2), NOBODY
    elif c.variant == "step0_failed_then_limit":
        log.raw(150, "srun: error: gpu07: task 3: Exited with exit code 1")
        s.ctld(t, f"Time limit exhausted for JobId={s.job}")
        log.raw(t + 0.5, cancelled_line(s, c, t, "TIME LIMIT"))
        s.account("TIMEOUT", "0:0", 0, t + 1, [("batch", "CANCELLED", "0:15"), ("extern", "COMPLETED", "0:0"), ("0", "FAILED", "1:0", 2, 150), ("1", "CANCELLED", "0:15", 151, t + 1)])
        right, mild = ["code.deadline"], []
    elif c.variant == "step0_oom_then_own":
        log.raw(150, f"slurmstepd: error: Detected 1 oom_kill event in StepId={s.job}.0. Some of the step tasks have been OOM Killed.")
        log.traceback(t, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.account("FAILED", "1:0", 0, t + 1, [("batch", "FAILED", "1:0"), ("extern", "COMPLETED", "0:0"), ("0", "OUT_OF_MEMORY", "0:125", 2, 151), ("1", "FAILED", "1:0", 152, t)])
        right, mild = OWN, []
    elif c.variant == "step1_own":
        log.traceback(t, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.account("FAILED", "1:0", 0, t + 1, [("batch", "FAILED", "1:0"), ("extern", "COMPLETED", "0:0"), ("0", "COMPLETED", "0:0", 2, 300), ("1", "FAILED", "1:0", 301, t)])
        right = OWN
    elif c.variant == "thrice":
        s.ended("NODE_FAIL", "0:0", t)
        s.ctld(t, f"requeue job JobId={s.job} due to failure of node gpu07")
        s.ctld(t + 200, f"sched: Allocate JobId={s.job} NodeList=gpu08 #CPUs=128 Partition=gpu")
        log.say(t + 205, "resuming from checkpoint step=300")
        log.steps(t + 206, t + 500)
        s.ctld(t + 501, f"preempted JobId={s.job} has been requeued to reclaim resources for JobId={s.job + 9}")
        log.raw(t + 501.4, cancelled_line(s, c, t + 501, "PREEMPTION", host="gpu08"))
        s.account("PREEMPTED", "0:0", t + 200, t + 502, [("batch", "CANCELLED", "0:15"), ("0", "CANCELLED", "0:15")], nodes="gpu08")
        s.ctld(t + 700, f"sched: Allocate JobId={s.job} NodeList=gpu09 #CPUs=128 Partition=gpu")
        log.say(t + 705, "resuming from checkpoint step=400")
        log.steps(t + 706, t + 1100)
        log.traceback(t + 1101, *c.pick(*OWN_ERRORS))
        s.complete(t + 1102, 1)
        s.account("FAILED", "1:0", t + 700, t + 1102, [("batch", "FAILED", "1:0"), ("0", "FAILED", "1:0")], nodes="gpu09")
        right = OWN
    elif c.variant == "two_clusters":
        # The same number on another cluster, cancelled by somebody.
        s.form = 1
        right, mild = own_end(c, s, log, t + 1), NOBODY
        s.save()
        text = json.loads(c.files.pop("sacct.json"))
        other = json.loads(json.dumps(text))
        other["jobs"][0].update(cluster="old", kill_request_user="2000", state={"current": ["CANCELLED"], "reason": "None"}, nodes="n1")
        other["jobs"][0]["steps"] = []
        text["jobs"] += other["jobs"]
        c.write("sacct.json", json.dumps(text))
        log.save()
        c.expect(right, "one number on two clusters", mild=mild + ["ops.manual_delete"])
        return
    elif c.variant == "node_failure_line":
        log.raw(t, cancelled_line(s, c, t, "NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS"))
        s.lines = []
        right = ["node.not_ready"]
    elif c.variant == "wide_range":
        m = node(c, s, "gpu011")
        machines.append(m)
        m.kernel(t, "Kernel panic - not syncing: Fatal exception")
        lost("gpu011")
        m.boots(t + 500)
        right = ["node.kernel_panic"]
    else:
        ctl = Machine(c, "slurm-ctl", form="rsyslog")
        ctl.noise(-500, t + 300)
        machines.append(ctl)
        ctl.sudo(t - 0.3, who, "/usr/bin/scontrol update NodeName=gpu07 State=DOWN Reason=reseat")
        s.ctld(t, "update_node: node gpu07 reason set to: reseat")
        s.ctld(t + 0.001, "update_node: node gpu07 state set to DOWN")
        s.ctld(t + 0.002, f"Killing JobId={s.job} on failed node gpu07")
        s.ended("NODE_FAIL", "0:0", t + 1)
        right, actor = ["ops.manual_delete"], [who]
    c.expect(right, "more of Slurm", actor=actor, mild=mild)
    done(c, s, log, *machines)
