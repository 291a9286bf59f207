"""Slurm: QOS preemption and suspension, requeue by hand, restart counts, seff, kill-on-bad-exit, limit and memory at one time."""

from kit import NOBODY, OWN, PEOPLE, family
from world import Machine, OWN_ERRORS, Slurm, Train, iso


def job(c, nodes="gpu07", step=None, begin=True, **more):
    s = Slurm(c, nodes=nodes, **more)
    c.asked = str(s.job)
    log = Train(c, f"slurm-{s.job}.out", step=step)
    if begin:
        log.begin(2)
    return s, log


def group(job, step="0", task="0"):
    return f"/system.slice/slurmstepd.scope/job_{job}/step_{step}/user/task_{task}"


def cut(s, c, t, why="", job=None, step=None, host="gpu07"):
    what = f"STEP {job or s.job}.{step}" if step is not None else f"JOB {job or s.job}"
    return f"slurmstepd: error: *** {what} ON {host} CANCELLED AT {iso(c.at(t))}{' DUE TO ' + why if why else ''} ***"


def node(c, host="gpu07", until=3000, **more):
    m = Machine(c, host, system=c.pick("el8", "el9", "u22"), form=c.pick("rsyslog", "json", "short-iso"), **more)
    m.unit = "slurmd"
    m.noise(-900, until)
    return m


def own(c, s, log, t, code=1, host="gpu07", task=0):
    log.traceback(t, *c.pick(*OWN_ERRORS))
    log.raw(t + 0.6, f"srun: error: {host}: task {task}: Exited with exit code {code}")
    s.complete(t + 1, code)
    s.ended("FAILED", f"{code}:0", t + 1)
    return OWN


def save(c, s, log, *machines, controller=True, accounting=True):
    """Mixes of observers: all, controller and log, accounting and log, nodes and log."""
    s.save(controller, accounting)
    log.save()
    for m in machines:
        m.save()


@family("n.qos", "suspended_resumed_own suspended_resumed_completed other_suspended_own gang_slice_own suspended_now requeued_then_own requeued_waits cancelled_qos preempted_other_then_own suspended_resumed_limit", 8)
def qos(c):
    """PreemptMode of a QOS or partition: SUSPEND, REQUEUE, CANCEL; gang scheduling takes turns."""
    s, log = job(c)
    t, v, mild, actor = c.between(1200, 2400), c.variant, [], None
    j, s1, s2 = s.job, c.between(300, 500), c.between(600, 1000)
    if v.startswith("suspended"):
        log.steps(2, s1)
        s.ctld(s1, f"preempted JobId={j} suspended to reclaim resources for JobId={j + 9}") if c.number % 2 else s.ctld(s1, f"_slurm_rpc_suspend(suspend): JobId={j}") or s.ctld(s1 - 0.1, f"suspend_job: JobId={j}")
        if v != "suspended_now":
            s.ctld(s2, f"_slurm_rpc_suspend(resume): JobId={j}" if c.number % 2 == 0 else f"gang: update_node_state: resuming JobId={j}")
            log.steps(s2, t)
    else:
        log.steps(2, t)
    if v in ("suspended_resumed_own", "other_suspended_own", "gang_slice_own", "preempted_other_then_own"):
        if v == "other_suspended_own":
            s.ctld(t - 3, f"preempted JobId={j + 1} suspended to reclaim resources for JobId={j + 9}")
        if v == "preempted_other_then_own":
            s.ctld(t - 3, f"preempted JobId={j - 30} has been killed to reclaim resources for JobId={j}")
        if v == "gang_slice_own":
            for k in range(4):
                s.ctld(t - 400 + 90 * k, f"gang: sched: suspending JobId={j + k + 1}")
        right = own(c, s, log, t)
    elif v == "suspended_resumed_completed":
        log.say(t, "training completed, saved final checkpoint")
        s.complete(t + 1, 0)
        s.ended("COMPLETED", "0:0", t + 1)
        right = ["none.completed"]
    elif v == "suspended_resumed_limit":
        s.ctld(t, f"Time limit exhausted for JobId={j}")
        log.raw(t + 0.5, cut(s, c, t, "TIME LIMIT"))
        s.ended("TIMEOUT", "0:0", t + 1)
        right = ["code.deadline"]
    elif v == "suspended_now":
        s.account("SUSPENDED", "0:0", 0, None, [("batch", "SUSPENDED", "0:0", 0, None)])
        right, mild = ["sched.preempted", "ops.manual_delete", "unknown"], ["none.running"]
    elif v.startswith("requeued"):
        s.ctld(t, f"preempted JobId={j} has been requeued to reclaim resources for JobId={j + 9}")
        log.raw(t + 0.4, cut(s, c, t, "PREEMPTION"))
        s.ended("PREEMPTED", "0:0", t + 1)
        if v == "requeued_then_own":
            again = t + 300
            s.ctld(again, f"sched: Allocate JobId={j} NodeList=gpu07 #CPUs=128 Partition=gpu")
            log.begin(again + 2)
            log.steps(again + 3, again + 500)
            log.traceback(again + 501, *c.pick(*OWN_ERRORS))
            s.complete(again + 502, 1)
            s.account("FAILED", "1:0", again, again + 502, [("batch", "FAILED", "1:0"), ("0", "FAILED", "1:0")])
            right = OWN
        else:
            s.account("PENDING", "0:0", t + 60, None)
            right = ["sched.preempted"]
    else:  # cancelled_qos: GraceTime, then cancelled
        s.ctld(t - 60, f"preempted JobId={j} has been signaled with SIGTERM, GraceTime 60")
        s.ctld(t, f"preempted JobId={j} has been killed to reclaim resources for JobId={j + 9}")
        log.raw(t + 0.4, cut(s, c, t, "PREEMPTION"))
        s.ended("PREEMPTED", "0:0", t + 1)
        right = ["sched.preempted"]
    c.expect(right, f"a QOS: {v}", mild=mild, actor=actor)
    save(c, s, log, accounting=v == "suspended_now" or c.number % 3 != 2, controller=c.number % 3 != 1 or v == "suspended_now")


@family("n.manage", "hold_running_own release_own shorter_limit longer_limit_own requeue_by_user requeue_by_admin_runs requeuehold top_own nice_own update_other suspend_user suspend_resume_own requeue_other_own", 8)
def manage(c):
    """scontrol by the owner or an admin while the job runs."""
    s, log = job(c)
    t, v, mild, actor, j, uid = c.between(1200, 2400), c.variant, [], None, s.job, c.pick(1000, 2000)
    early = t - c.between(2, 200)
    log.steps(2, t)
    if v in ("hold_running_own", "release_own", "longer_limit_own", "top_own", "nice_own", "update_other", "requeue_other_own"):
        # None of these ends a job that runs.
        s.ctld(early, {"hold_running_own": f"_slurm_rpc_update_job: JobId={j} uid {uid} hold: job is running, ignored", "release_own": f"sched: _release_job_rec: release hold on JobId={j} by uid {uid}",
                       "longer_limit_own": f"sched: _update_job: setting time_limit to 2880 for JobId={j}", "top_own": f"_slurm_rpc_top_job for JobId={j} usec=120",
                       "nice_own": f"sched: _update_job: setting priority to 4294900000 for JobId={j}", "update_other": f"sched: _update_job: setting time_limit to 1 for JobId={j + 1}",
                       "requeue_other_own": f"_slurm_rpc_requeue: JobId={j + 3} requeued by uid {uid}"}[v])
        if v == "update_other":
            s.ctld(t - 1, f"Time limit exhausted for JobId={j + 1}")
        right = own(c, s, log, t)
    elif v == "shorter_limit":
        s.ctld(early, f"sched: _update_job: setting time_limit to 15 for JobId={j}")
        s.ctld(t, f"Time limit exhausted for JobId={j}")
        log.raw(t + 0.5, cut(s, c, t, "TIME LIMIT"))
        s.ended("TIMEOUT", "0:0", t + 1)
        right, mild = ["code.deadline", "ops.manual_delete", "ops.config_change"], []
    elif v in ("requeue_by_user", "requeue_by_admin_runs", "requeuehold"):
        s.ctld(t, f"_slurm_rpc_requeue: JobId={j} requeued by uid {uid}" if c.number % 2 else f"Requeue JobId={j} by uid={uid}")
        log.raw(t + 0.4, cut(s, c, t, "JOB REQUEUE"))
        s.ended("REQUEUED", "0:0", t + 1)
        right, mild = ["ops.manual_delete"], ["unknown"]
        if v == "requeue_by_admin_runs":
            again = t + 130
            s.ctld(again, f"sched: Allocate JobId={j} NodeList=gpu07 #CPUs=128 Partition=gpu")
            log.begin(again + 2)
            log.steps(again + 3, again + 600)
            s.account("RUNNING", "0:0", again, None, [("batch", "RUNNING", "0:0", again, None), ("0", "RUNNING", "0:0", again, None)])
            right, mild = ["none.running"], ["unknown"]
        else:
            s.account("PENDING", "0:0", t + 60, None)
            right = right + ["unknown"]
    else:
        s.ctld(t - 1, f"_slurm_rpc_suspend(suspend): JobId={j} by uid {uid}")
        if v == "suspend_resume_own":
            later = t + 400
            s.ctld(later, f"_slurm_rpc_suspend(resume): JobId={j} by uid {uid}")
            log.steps(later, later + 300)
            right = own(c, s, log, later + 301)
        else:
            s.account("SUSPENDED", "0:0", 0, None, [("batch", "SUSPENDED", "0:0", 0, None)])
            right, mild = ["ops.manual_delete", "unknown"], ["none.running"]
    c.expect(right, f"scontrol: {v}", mild=mild, actor=actor)
    save(c, s, log, accounting=c.number % 3 != 2)


SHOW = """JobId={j} JobName=train
   UserId=alice(1000) GroupId=alice(1000) MCS_label=N/A
   Priority=4294901711 Nice=0 Account=ml QOS={qos}
   JobState={state} Reason={reason} Dependency=(null)
   Requeue=1 Restarts={restarts} BatchFlag=1 Reboot=0 ExitCode={code}
   RunTime={run} TimeLimit={limit} TimeMin=N/A
   SubmitTime={start} EligibleTime={start}
   AccrueTime={start}
   StartTime={start} EndTime={end} Deadline=N/A
   PreemptEligibleTime={start} PreemptTime={preempt}
   SuspendTime=None SecsPreSuspend=0 LastSchedEval={start} Scheduler=Main
   Partition=gpu AllocNode:Sid=login01:41021
   ReqNodeList=(null) ExcNodeList=(null)
   NodeList=gpu07
   BatchHost=gpu07
   NumNodes=1 NumCPUs=128 NumTasks=8 CPUs/Task=16 ReqB:S:C:T=0:0:*:*
   ReqTRES=cpu=128,mem=1000G,node=1,billing=128,gres/gpu=8
   AllocTRES=cpu=128,mem=1000G,node=1,billing=128,gres/gpu=8
   Command=/home/alice/run.sh
   WorkDir=/home/alice
   StdErr=/home/alice/slurm-{j}.out
   StdOut=/home/alice/slurm-{j}.out
"""


def clock(seconds):
    return f"{int(seconds) // 3600:02}:{int(seconds) % 3600 // 60:02}:{int(seconds) % 60:02}"


@family("n.restarts", "last_own last_timeout last_oom running_after_preempt running_after_node_fail last_completed pending_preempted", 8)
def restarts(c):
    """`scontrol show job` with a restart count, and the job's one output in which every start wrote."""
    s, log = job(c)
    v, j, mild = c.variant, s.job, []
    first, again = c.between(400, 700), c.between(900, 1100)
    log.steps(2, first)
    why = c.pick("PREEMPTION", "NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS", "JOB REQUEUE")
    if v in ("running_after_preempt", "pending_preempted"):
        why = "PREEMPTION"
    if v == "running_after_node_fail":
        why = "NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS"
    log.raw(first + 0.5, cut(s, c, first, why))
    end = again + c.between(500, 900)
    state, reason, code, preempt = {"last_own": ("FAILED", "NonZeroExitCode", "1:0", 0), "last_timeout": ("TIMEOUT", "TimeLimit", "0:0", 0), "last_oom": ("OUT_OF_MEMORY", "OutOfMemory", "0:125", 0),
                                    "running_after_preempt": ("RUNNING", "None", "0:0", 1), "running_after_node_fail": ("RUNNING", "None", "0:0", 0), "last_completed": ("COMPLETED", "None", "0:0", 0),
                                    "pending_preempted": ("PENDING", "BeginTime", "0:0", 1)}[v]
    if v != "pending_preempted":
        log.begin(again)
        log.steps(again + 1, end)
    if v == "last_own":
        log.traceback(end + 0.2, *c.pick(*OWN_ERRORS))
        right = OWN
    elif v == "last_timeout":
        log.raw(end + 0.4, cut(s, c, end, "TIME LIMIT"))
        right = ["code.deadline"]
    elif v == "last_oom":
        log.raw(end + 0.4, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.batch. Some of the step tasks have been OOM Killed.")
        right = ["code.host_oom"]
    elif v == "last_completed":
        log.say(end + 0.3, "training completed, saved final checkpoint")
        right = ["none.completed"]
    elif v == "pending_preempted":
        right = ["sched.preempted"]
    else:
        right, mild = ["none.running"], ["unknown"]
    over = state not in ("RUNNING", "PENDING")
    begun = again - 3 if v != "pending_preempted" else first + 120
    text = SHOW.format(j=j, qos=c.pick("normal", "low"), state=state, reason=reason, restarts=1, code=code, run=clock(end - again), limit="00:15:00" if v == "last_timeout" else "1-00:00:00",
                       start=iso(c.at(begun)), end=iso(c.at(end + 1 if over else again + 86400)), preempt=iso(c.at(first)) if preempt else "None")
    c.write("scontrol.txt", text)
    log.save()
    c.expect(right, f"restarted once ({why}), then {v}", mild=mild)


@family("n.seff", "own oom timeout completed failed_near_memory cancelled node_fail oom_kill_only_log", 8)
def seff(c):
    """What `seff JOB` prints, beside the job's output."""
    s, log = job(c)
    t, v, j, mild = c.between(1200, 2400), c.variant, s.job, []
    log.steps(2, t)
    state, code = {"own": ("FAILED", 1), "oom": ("OUT_OF_MEMORY", 0), "timeout": ("TIMEOUT", 0), "completed": ("COMPLETED", 0), "failed_near_memory": ("FAILED", 1), "cancelled": ("CANCELLED", 0),
                   "node_fail": ("NODE_FAIL", 0), "oom_kill_only_log": ("FAILED", 137)}[v]
    share = c.pick(98.71, 99.62, 99.9) if v in ("oom", "failed_near_memory") else c.between(20, 70)
    if v in ("own", "failed_near_memory"):
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        right = OWN
    elif v == "oom":
        if c.number % 2:
            log.raw(t + 0.4, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.batch. Some of the step tasks have been OOM Killed.")
        right = ["code.host_oom"]
    elif v == "oom_kill_only_log":
        log.raw(t + 0.4, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.0. Some of the step tasks have been OOM Killed.\nsrun: error: gpu07: task 3: Out Of Memory")
        right = ["code.host_oom"]
    elif v == "timeout":
        right = ["code.deadline"]
    elif v == "completed":
        log.say(t, "training completed, saved final checkpoint")
        right = ["none.completed"]
    elif v == "cancelled":
        log.raw(t + 0.4, cut(s, c, t))
        right = ["ops.manual_delete"]
    else:
        right, mild = ["node.not_ready"], ["unknown"]
    tail = {"TIMEOUT": "(exit code 0)", "CANCELLED": "(exit code 0)"}.get(state, f"(exit code {code})")
    c.write("seff.txt", f"Job ID: {j}\nCluster: lab\nUser/Group: alice/alice\nState: {state} {tail}\nNodes: 1\nCores per node: 128\nCPU Utilized: 1-03:11:52\nCPU Efficiency: 41.20% of 2-17:58:24 core-walltime\n"
            f"Job Wall-clock time: {clock(t)}\nMemory Utilized: {share * 10:.2f} GB\nMemory Efficiency: {share:.2f}% of 1000.00 GB\n")
    log.save()
    c.expect(right, f"seff: {v}", mild=mild if v != "node_fail" else ["unknown"])


@family("n.kob", "own_rank9 oom_rank9 segv_rank9 killed_rank9 sigterm_all_cancel own_rank9_no_traceback nccl_first_printed link_rank9", 10)
def kob(c):
    """srun --kill-on-bad-exit: one task ends, Slurm cancels the step, the other tasks end after it."""
    s, log = job(c, "gpu[07-08]")
    t, v, j, mild, actor = c.between(900, 1800), c.variant, s.job, [], None
    m7, m8 = node(c, "gpu07"), node(c, "gpu08")
    log.steps(2, t)
    code = {"own_rank9": 1, "own_rank9_no_traceback": c.pick(1, 2, 3), "nccl_first_printed": 1, "link_rank9": 1}.get(v)
    if v == "own_rank9":
        log.raw(t + 0.2, "[rank9]: Traceback (most recent call last):\n[rank9]:   File \"/home/alice/train.py\", line 118, in main\n[rank9]:     x = batch[\"pixel_values\"]\n[rank9]: KeyError: 'pixel_values'")
        right = OWN
    elif v == "nccl_first_printed":
        # The other ranks' output was flushed before the one that failed.
        for rank in (0, 3, 12):
            log.raw(t + 0.2, f"[rank{rank}]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, remote process exited or there was a network error, NCCL version 2.21.5")
        log.raw(t + 0.3, "[rank9]: Traceback (most recent call last):\n[rank9]:   File \"/home/alice/train.py\", line 118, in main\n[rank9]:     item = items[n]\n[rank9]: IndexError: list index out of range")
        right = OWN
    elif v == "oom_rank9":
        own_group = group(j, task="9")
        m8.oom(t, "python3", m8.pid, own_group, own_group.rsplit("/", 3)[0])
        log.raw(t + 0.5, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.0. Some of the step tasks have been OOM Killed.")
        right = ["code.host_oom"]
    elif v == "segv_rank9":
        m8.segfault(t, "python3", m8.pid)
        right = ["code.segfault"]
    elif v == "killed_rank9":
        right, mild = ["unknown"], ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]
    elif v == "link_rank9":
        m8.link(t - 1, "ibp92s0", False)
        log.raw(t + 0.2, "[rank9]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, unhandled system error, NCCL version 2.21.5\n[rank9]: ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.")
        right, mild = ["hw.nic"], ["code.exception"]
    elif v == "sigterm_all_cancel":
        uid = c.pick(1000, 2000)
        s.kill(t, uid)
        right, actor = ["ops.manual_delete"], ["alice", "1000", "uid 1000"] if uid == 1000 else ["2000", "uid 2000"]
    else:
        right = NOBODY
    if v == "sigterm_all_cancel":
        log.raw(t + 0.6, cut(s, c, t, step=0))
        log.raw(t + 1.0, "srun: error: gpu07: tasks 0-7: Terminated")
        log.raw(t + 1.1, "srun: error: gpu08: tasks 8-15: Terminated")
        s.ended(f"CANCELLED by {uid}", "0:0", t + 2)
    else:
        said = {"oom_rank9": "Out Of Memory", "segv_rank9": "Segmentation fault (core dumped)", "killed_rank9": "Killed"}.get(v, f"Exited with exit code {code}")
        log.raw(t + 1.0, f"srun: error: gpu08: task 9: {said}")
        log.raw(t + 1.05, f"srun: Terminating StepId={j}.0")
        log.raw(t + 1.1, cut(s, c, t + 1, step=0))
        if c.number % 2:
            log.raw(t + 1.3, "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.")
        log.raw(t + 2.2, "srun: error: gpu07: tasks 0-7: Terminated")
        log.raw(t + 2.3, "srun: error: gpu08: tasks 8,10-15: Terminated")
        if c.number % 3 == 0:
            log.raw(t + 32, "srun: Force Terminated StepId=%d.0" % j)
        number = {"oom_rank9": 137, "segv_rank9": 139, "killed_rank9": 137}.get(v, code)
        s.complete(t + 3, number)
        if v == "oom_rank9":
            s.ended("OUT_OF_MEMORY", "0:125", t + 3)
        else:
            s.account("FAILED", f"{number}:0", 0, t + 3, [("batch", "FAILED", f"{number}:0"), ("extern", "COMPLETED", "0:0"), ("0", "FAILED" if number not in (137, 139) else "FAILED", {139: "0:11", 137: "0:9"}.get(number, f"{number}:0"))])
    c.expect(right, f"kill-on-bad-exit: {v}", mild=mild, actor=actor)
    machines = (m7, m8) if c.number % 5 != 4 or v in ("segv_rank9", "link_rank9") else ()
    save(c, s, log, *machines, accounting=c.number % 4 != 3, controller=c.number % 4 != 2)


@family("n.limit_oom", "oom_just_before oom_worker_long_before oom_other_step limit_then_segv limit_then_kill9 own_just_before completed_just_before oom_in_grace usr1_traceback", 10)
def limit_oom(c):
    """The time limit, and something else within seconds."""
    s, log = job(c)
    m = node(c)
    t, v, j, mild = c.between(1200, 2400), c.variant, s.job, []
    own_group = group(j)
    near = c.between(0.5, 6)
    if v in ("oom_just_before", "own_just_before", "completed_just_before"):
        log.steps(2, t - near)
        if v == "oom_just_before":
            m.oom(t - near + 0.1, "python3", m.pid, own_group, own_group.rsplit("/", 3)[0])
            log.raw(t - near + 0.5, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.0. Some of the step tasks have been OOM Killed.")
            log.raw(t - near + 0.6, "srun: error: gpu07: task 0: Out Of Memory")
            s.ctld(t - near + 1, f"_job_complete: JobId={j} OOM failure")
            s.ctld(t - near + 1.001, f"_job_complete: JobId={j} done")
            s.ended("OUT_OF_MEMORY", "0:125", t - near + 1)
            right = ["code.host_oom"]
        elif v == "own_just_before":
            log.traceback(t - near + 0.1, *c.pick(*OWN_ERRORS))
            if c.number % 2:
                # The other ranks hang on, so the limit ends the job.
                s.ctld(t, f"Time limit exhausted for JobId={j}")
                log.raw(t + 0.5, cut(s, c, t, "TIME LIMIT"))
                s.ended("TIMEOUT", "0:0", t + 1)
                right, mild = OWN + ["code.deadline"], []
            else:
                s.complete(t - near + 1, 1)
                s.ended("FAILED", "1:0", t - near + 1)
                right = OWN
        else:
            log.say(t - near + 0.1, "training completed, saved final checkpoint")
            s.complete(t - near + 1, 0)
            s.ended("COMPLETED", "0:0", t - near + 1)
            right = ["none.completed"]
        s.ctld(t + 3, f"Time limit exhausted for JobId={j + 1}")
    else:
        log.steps(2, t)
        if v == "oom_worker_long_before":
            early = t - c.between(300, 900)
            m.oom(early, "pt_data_worker", m.pid + 40, own_group, own_group.rsplit("/", 3)[0])
            log.raw(early + 0.2, "WARNING DataLoader worker (pid %d) was killed by signal: Killed. Restarting worker." % (m.pid + 40))
        elif v == "oom_other_step":
            m.oom(t - 200, "python3", m.pid + 40, group(j, "1"), group(j, "1").rsplit("/", 3)[0])
            log.raw(t - 199, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.1. Some of the step tasks have been OOM Killed.")
        s.ctld(t, f"Time limit exhausted for JobId={j}")
        if v == "usr1_traceback":
            log.raw(t + 0.2, "Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 231, in <module>\n    main()\n  File \"/home/alice/train.py\", line 190, in on_term\n    raise SystemExit('terminated')\nSystemExit: terminated" if c.number % 2 else "Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 231, in <module>\n    main()\nKeyboardInterrupt")
        log.raw(t + 0.5, cut(s, c, t, "TIME LIMIT"))
        if v == "limit_then_segv":
            m.segfault(t + 1.1, "python3", m.pid)
            log.raw(t + 1.3, "srun: error: gpu07: task 0: Segmentation fault (core dumped)")
        elif v == "limit_then_kill9":
            log.raw(t + 31, "srun: error: gpu07: tasks 0-7: Killed")
        elif v == "oom_in_grace":
            # Saving a checkpoint in the grace period takes too much memory.
            m.oom(t + 12, "python3", m.pid, own_group, own_group.rsplit("/", 3)[0])
            log.raw(t + 12.5, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.0. Some of the step tasks have been OOM Killed.")
        end = t + (32 if v == "limit_then_kill9" else 13 if v == "oom_in_grace" else 2)
        steps = [("batch", "CANCELLED", "0:15"), ("extern", "COMPLETED", "0:0"), ("0", "OUT_OF_MEMORY", "0:125") if v == "oom_in_grace" else ("0", "CANCELLED", "0:15")]
        if v == "oom_other_step":
            steps.append(("1", "OUT_OF_MEMORY", "0:125", 100, t - 199))
        s.account("TIMEOUT", "0:0", 0, end, steps)
        right = ["code.deadline"]
    c.expect(right, f"the limit and another end: {v}", mild=mild)
    save(c, s, log, *((m,) if c.number % 3 != 2 else ()), accounting=c.number % 4 != 3, controller=c.number % 4 != 1)


CODES = {"0_9": ("FAILED", "0:9", ["unknown"], ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]), "0_15": ("FAILED", "0:15", ["unknown"], ["ops.manual_delete", "code.exception"]),
         "0_125": ("OUT_OF_MEMORY", "0:125", ["code.host_oom"], []), "0_53": ("FAILED", "0:53", ["code.config_or_input", "unknown"], ["code.exception", "node.launch_failed"]),
         "9_0": ("FAILED", "9:0", NOBODY, []), "15_0": ("FAILED", "15:0", NOBODY, ["ops.manual_delete"]), "0_6": ("FAILED", "0:6", ["code.segfault", "code.exception"], ["unknown"]),
         "0_7": ("FAILED", "0:7", ["code.segfault"], ["code.data_loader", "unknown"]), "124_0": ("FAILED", "124:0", NOBODY + ["code.deadline"], []), "130_0": ("FAILED", "130:0", NOBODY + ["ops.manual_delete"], []),
         "127_0": ("FAILED", "127:0", NOBODY + ["code.config_or_input"], []), "0_1": ("FAILED", "0:1", ["unknown"], ["code.exception", "ops.manual_delete"]), "0_10": ("FAILED", "0:10", ["unknown"], ["code.exception", "ops.manual_delete"]),
         "0_2": ("FAILED", "0:2", ["unknown", "ops.manual_delete"], ["code.exception"]), "128_0": ("FAILED", "128:0", NOBODY, [])}


@family("n.codes", " ".join(CODES), 6)
def codes(c):
    """Accounting alone, or with the log's bare steps: what a pair of numbers may mean and what not."""
    s, log = job(c)
    state, code, right, mild = CODES[c.variant]
    t = c.between(900, 2000)
    log.steps(2, t)
    step = ("COMPLETED", "0:0") if c.number % 3 == 1 and state == "FAILED" and c.variant not in ("0_53",) else (state, code)
    s.account(state, code, 0, t + 1, [("batch", state, code), ("extern", "COMPLETED", "0:0"), ("0", *step)] if c.number % 2 else [("batch", state, code)])
    c.expect(right, f"accounting says {state} {code}", mild=mild)
    s.save(controller=False)
    if c.number % 2 == 0:
        log.save()


@family("n.gather", "killed warned_then_own job_memory_then_limit virtual swap_warn", 8)
def gather(c):
    """JobAcctGather's own enforcement, and its mere warnings."""
    s, log = job(c)
    t, v, j, mild = c.between(900, 2000), c.variant, s.job, []
    log.steps(2, t)
    if v == "killed":
        log.raw(t + 0.3, f"slurmstepd: error: Job {j} exceeded memory limit (1048813568 > 1048576000), being killed" if c.number % 2 else f"slurmstepd: error: JobId={j} StepId={j}.0 exceeded memory limit (1048813568 > 1048576000), being killed")
        log.raw(t + 0.5, "slurmstepd: error: Exceeded job memory limit")
        log.raw(t + 0.6, cut(s, c, t))
        s.ended("CANCELLED" if c.number % 2 else "OUT_OF_MEMORY", "0:0" if c.number % 2 else "0:125", t + 1)
        right = ["code.host_oom"]
    elif v == "virtual":
        log.raw(t + 0.3, f"slurmstepd: error: Step {j}.0 exceeded virtual memory limit (2097152000 > 2000000000), being killed")
        log.raw(t + 0.5, "slurmstepd: error: Exceeded job memory limit")
        log.raw(t + 0.6, cut(s, c, t, step=0))
        s.ended("CANCELLED", "0:0", t + 1)
        right = ["code.host_oom"]
    else:
        early = t - c.between(100, 600)
        log.raw(early, {"warned_then_own": f"slurmstepd: error: Step {j}.0 hit memory limit at least once during execution. This may or may not result in some failure.",
                        "job_memory_then_limit": f"slurmstepd: error: Job {j} hit memory limit at least once during execution. This may or may not result in some failure.",
                        "swap_warn": f"slurmstepd: error: Step {j}.0 hit memory+swap limit at least once during execution. This may or may not result in some failure."}[v])
        if v == "job_memory_then_limit":
            s.ctld(t, f"Time limit exhausted for JobId={j}")
            log.raw(t + 0.5, cut(s, c, t, "TIME LIMIT"))
            s.ended("TIMEOUT", "0:0", t + 1)
            right = ["code.deadline"]
        else:
            right = own(c, s, log, t)
    c.expect(right, f"memory as Slurm gathers it: {v}", mild=mild)
    save(c, s, log, accounting=c.number % 3 != 2)


@family("n.slurmd", "restart_person_survived upgrade_survived restart_killed_steps crash_segv_survived stepd_gone power_saving_other drain_reboot_after reconfigure_own controller_failover_own munge_restart_own", 8)
def slurmd(c):
    """The daemon of the node is restarted, upgraded, or dies: jobs go on, their stepds are processes of their own."""
    s, log = job(c)
    m = node(c)
    t, v, j, mild, actor, who = c.between(1200, 2000), c.variant, s.job, [], None, c.pick(*PEOPLE)
    early = t - c.between(3, 240)
    log.steps(2, t)
    if v in ("restart_person_survived", "reconfigure_own", "munge_restart_own"):
        m.sudo(early, who, {"restart_person_survived": "/usr/bin/systemctl restart slurmd", "reconfigure_own": "/usr/bin/scontrol reconfigure", "munge_restart_own": "/usr/bin/systemctl restart munge"}[v])
        if v == "restart_person_survived":
            m.log(early + 0.3, "systemd", f"Stopping {m.named('slurmd', 'Slurm node daemon')}...")
            m.log(early + 0.7, "slurmd", "slurmd: Slurmd shutdown completing")
            m.log(early + 0.8, "systemd", f"slurmd.service: {'Succeeded' if m.system in ('u22', 'el8') else 'Deactivated successfully'}.")
            m.log(early + 0.85, "systemd", f"slurmd.service: Unit process {m.pid} (slurmstepd) remains running after unit stopped.")
            m.log(early + 0.9, "systemd", f"Stopped {m.named('slurmd', 'Slurm node daemon')}.")
            m.log(early + 1.2, "systemd", f"Started {m.named('slurmd', 'Slurm node daemon')}.")
    elif v == "upgrade_survived":
        m.log(early, "apt.systemd.daily" if m.system == "u22" else "dnf-automatic", "Upgrading slurm-slurmd 24.05.3 -> 24.05.4")
        m.log(early + 4, "systemd", f"Stopping {m.named('slurmd', 'Slurm node daemon')}...")
        m.log(early + 4.4, "systemd", f"Stopped {m.named('slurmd', 'Slurm node daemon')}.")
        m.log(early + 6, "systemd", f"Started {m.named('slurmd', 'Slurm node daemon')}.")
    elif v == "crash_segv_survived":
        m.segfault(early, "slurmd", m.pid + 5)
        m.log(early + 0.4, "systemd", f"slurmd.service: {'Main process exited' if m.system != 'el7' else 'main process exited'}, code=dumped, status=11/SEGV")
        m.log(early + 0.5, "systemd", "slurmd.service: Failed with result 'core-dump'.")
        s.ctld(early + 60, "error: Nodes gpu07 not responding")
        m.log(early + 70, "systemd", f"Started {m.named('slurmd', 'Slurm node daemon')}.")
        s.ctld(early + 72, "Node gpu07 now responding")
        if early + 72 > t:
            log.steps(t, early + 100)
            t = early + 101
    elif v == "controller_failover_own":
        s.ctld(early, "slurmctld version 24.05.4 started on cluster lab")
        s.ctld(early + 0.5, "Recovered information about 214 jobs")
        s.ctld(early + 0.9, "Running as primary controller")
    elif v == "power_saving_other":
        s.ctld(early, "power_save: suspending nodes gpu[09-12]")
        s.ctld(early + 2, "node gpu09 not responding, setting DOWN") if False else s.ctld(early + 120, "error: Nodes gpu[09-12] not responding") 
    if v == "restart_killed_steps":
        # KillMode=control-group (a unit of the site's own): the stop takes the steps with it.
        m.sudo(t + 0.1, who, "/usr/bin/systemctl restart slurmd")
        m.log(t + 0.3, "systemd", f"Stopping {m.named('slurmd', 'Slurm node daemon')}...")
        m.log(t + 0.5, "systemd", f"slurmd.service: Killing process {m.pid} (slurmstepd) with signal SIGKILL.")
        m.log(t + 0.5, "systemd", f"slurmd.service: Killing process {m.pid + 7} (python3) with signal SIGKILL.")
        m.log(t + 1.2, "systemd", f"Started {m.named('slurmd', 'Slurm node daemon')}.")
        log.raw(t + 1, "srun: error: gpu07: task 0: Killed")
        s.ctld(t + 90, f"error: Batch completion for JobId={j} sent from wrong node") if False else s.ctld(t + 60, f"Batch JobId={j} missing from batch node gpu07 (not found BatchStartTime after startup), Requeuing job" if c.number % 2 else f"Batch JobId={j} missing from batch node gpu07 (not found BatchStartTime after startup)")
        s.ended("NODE_FAIL", "0:0" if c.number % 2 else "1:0", t + 60)
        right, mild = ["ops.manual_delete", "node.runtime", "ops.config_change", "unknown"], ["node.not_ready", "code.exception", "node.launch_failed"]
    elif v == "stepd_gone":
        s.ctld(t + 60, f"Batch JobId={j} missing from batch node gpu07 (not found BatchStartTime after startup)")
        s.ended("NODE_FAIL", "1:0", t + 60)
        right, mild = ["unknown"], ["node.not_ready", "code.exception", "code.host_oom", "node.launch_failed", "node.reboot"]
    else:
        right = own(c, s, log, t)
        if v == "drain_reboot_after":
            s.ctld(t + 30, "update_node: node gpu07 reason set to: kernel update")
            s.ctld(t + 30.1, "update_node: node gpu07 state set to DRAINING")
            m.sudo(t + 90, who, "/usr/sbin/reboot")
            m.log(t + 91, "systemd-logind", "System is rebooting.")
            m.boots(t + 300)
    c.expect(right, f"slurmd: {v}", mild=mild, actor=actor)
    save(c, s, log, m, accounting=c.number % 3 != 2)


@family("n.nhc", "drain_own drain_gpu_lost drain_fs_then_own nhc_kills_nothing drain_then_cancel_admin drain_then_reboot_asap_own set_down_by_nhc", 8)
def nhc(c):
    """A health check of the site drains the node: its job goes on, or ends for what the check saw."""
    s, log = job(c)
    m = node(c)
    t, v, j, mild, actor = c.between(1200, 2000), c.variant, s.job, [], None
    log.steps(2, t)
    def says(at, why, state="DRAINING"):
        s.ctld(at, f"update_node: node gpu07 reason set to: NHC: {why}")
        s.ctld(at + 0.001, f"update_node: node gpu07 state set to {state}")
        m.log(at - 0.2, "nhc", f"Health check failed: {why}")
    early = t - c.between(10, 300)
    if v == "drain_own":
        says(early, c.pick("check_hw_mcelog: MCELog daemon reports errors", "check_ps_loadavg: 15-minute load average too high: 151 >= 128", "check_fs_free: /tmp has only 4% free (51GB), minimum is 5%", "check_net_ping: 3 packets lost to 10.0.0.9"))
        right = own(c, s, log, t)
    elif v == "drain_gpu_lost":
        m.xid(t + 0.2, 79)
        says(t + c.between(5, 40), "check_nv_healthmon: nvidia-smi: Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost")
        log.traceback(t + 3, "torch.AcceleratorError: CUDA error: unspecified launch failure", "    loss.backward()")
        s.complete(t + 5, 1)
        s.ended("FAILED", "1:0", t + 5)
        right = ["hw.gpu"]
    elif v == "drain_fs_then_own":
        says(early, "check_fs_mount: /scratch not mounted")
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        right = OWN
    elif v == "nhc_kills_nothing":
        says(early, "check_hw_gm: no such device")
        log.say(t, "training completed, saved final checkpoint")
        s.complete(t + 1, 0)
        s.ended("COMPLETED", "0:0", t + 1)
        right = ["none.completed"]
    elif v == "drain_then_cancel_admin":
        says(early, "check_hw_ib: mlx5_2 port 1 rate 100 Gb/s, expected 400")
        s.kill(t, 2000)
        log.raw(t + 0.4, cut(s, c, t))
        s.ended("CANCELLED by 2000", "0:0", t + 1)
        right, actor = ["ops.manual_delete"], ["2000", "uid 2000"]
    elif v == "drain_then_reboot_asap_own":
        says(early, "check_reboot: uptime over 90 days")
        s.ctld(early + 1, "reboot request queued for nodes gpu07")
        right = own(c, s, log, t)
        s.ctld(t + 15, "node gpu07 rebooting")
        m.goes_down(t + 20) if False else m.log(t + 20, "systemd-logind", "System is rebooting.")
        m.boots(t + 200)
    else:
        says(t, "check_nv_power: GPU 3 power brake", "DOWN")
        s.ctld(t + 0.1, f"Killing JobId={j} on failed node gpu07")
        log.raw(t + 0.5, cut(s, c, t, "NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS"))
        s.ended("NODE_FAIL", "0:0", t + 1)
        right, mild = ["ops.manual_delete", "node.not_ready", "hw.power", "hw.gpu", "hw.thermal"], []
    c.expect(right, f"a site's health check: {v}", mild=mild, actor=actor)
    save(c, s, log, m, accounting=c.number % 3 != 2)


@family("n.srun_gone", "node_panic link_to_switch controller_silent own_first srun_sigint login_reboot salloc_closed", 8)
def srun_gone(c):
    """srun outside of a batch script: what it prints when the step, a node, or its own terminal goes."""
    s, log = job(c, "gpu[07-08]")
    m8 = node(c, "gpu08")
    login = Machine(c, "login01", system=c.pick("el8", "u22"), form=c.pick("rsyslog", "json"))
    login.noise(-500, 3000)
    t, v, j, mild, actor, who = c.between(900, 1800), c.variant, s.job, [], None, c.pick(*PEOPLE)
    log.steps(2, t)
    if v == "node_panic":
        m8.kernel(t + 0.2, "Kernel panic - not syncing: Fatal exception")
        m8.boots(t + 400)
        log.raw(t + 190, "srun: error: Node failure on gpu08")
        log.raw(t + 190.1, "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.")
        log.raw(t + 190.2, cut(s, c, t + 190, "NODE FAILURE", step=0))
        s.ctld(t + 190, f"Killing JobId={j} on failed node gpu08")
        s.ended("NODE_FAIL", "0:0", t + 190)
        right, mild = ["node.kernel_panic"], []
    elif v == "controller_silent":
        early = t - c.between(20, 300)
        log.raw(early, "srun: error: Unable to contact slurm controller (connect failure)")
        log.raw(early + 5, "slurmstepd: error: Unable to send job complete message: Unable to contact slurm controller (connect failure)")
        log.steps(early + 6, t) if False else None
        right = own(c, s, log, t)
    elif v == "own_first":
        right = own(c, s, log, t, host="gpu08", task=9)
        log.raw(t + 70, "srun: error: Node failure on gpu08")
        m8.kernel(t + 60, "Kernel panic - not syncing: Fatal exception")
        m8.boots(t + 400)
    elif v == "srun_sigint":
        log.raw(t + 0.1, "srun: interrupt (one more within 1 sec to abort)")
        log.raw(t + 0.6, "srun: sending Ctrl-C to StepId=%d.0" % j)
        log.raw(t + 0.7, "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.")
        log.raw(t + 0.9, cut(s, c, t, step=0))
        log.raw(t + 1.2, "srun: error: gpu07: tasks 0-7: Terminated")
        s.kill(t, 1000) if c.number % 2 else None
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        right, actor = ["ops.manual_delete"], ["alice", "1000", "uid 1000"]
    elif v == "login_reboot":
        # srun ran in a terminal of the login node.
        login.sudo(t + 0.2, who, "/usr/sbin/reboot")
        login.log(t + 1, "systemd-logind", "System is rebooting.")
        login.log(t + 3, "systemd", "Reached target Reboot.")
        login.boots(t + 200)
        log.raw(t + 2, "srun: forcing job termination")
        log.raw(t + 2.1, cut(s, c, t + 2, step=0))
        s.kill(t + 2, 1000)
        s.ended("CANCELLED by 1000", "0:0", t + 3)
        right, mild = ["ops.manual_delete", "node.reboot"], []
    elif v == "salloc_closed":
        log.raw(t + 0.2, f"salloc: Relinquishing job allocation {j}")
        log.raw(t + 0.3, f"salloc: Job allocation {j} has been revoked.")
        log.raw(t + 0.4, "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.")
        s.ctld(t, f"_job_complete: JobId={j} WTERMSIG 1")
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        right, mild = ["ops.manual_delete", "unknown"], []
    else:
        m8.link(t - 0.5, "ibp92s0", False)
        log.raw(t + 12, "[rank9]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, unhandled system error, NCCL version 2.21.5")
        log.raw(t + 14, "srun: error: gpu08: task 9: Exited with exit code 1")
        s.complete(t + 15, 1)
        s.ended("FAILED", "1:0", t + 15)
        right, mild = ["hw.nic"], ["code.exception"]
    c.expect(right, f"srun's own words: {v}", mild=mild, actor=actor)
    save(c, s, log, m8, *((login,) if v == "login_reboot" or c.number % 2 else ()), accounting=c.number % 3 != 2)


@family("n.appended", "limit_then_own own_then_completed oom_then_limit cancelled_then_running nodefail_then_own own_then_own limit_then_completed preempt_then_oom", 8)
def appended(c):
    """Two jobs of one name wrote to one file (--output=train.log --open-mode=append): the second is the latest."""
    first, second = Slurm(c), None
    j1 = first.job
    j2 = j1 + c.rng.randrange(3, 90)
    log = Train(c, "train.log")
    second = Slurm(c, job=j2)
    second.lines = []
    v, mild, actor = c.variant, [], None
    a, b = v.split("_then_")
    t1, start = c.between(600, 1000), c.between(1300, 3000)
    t2 = start + c.between(500, 900)
    log.begin(2)
    log.steps(2, t1)
    def cutline(j, t, why=""):
        return f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))}{' DUE TO ' + why if why else ''} ***"
    def ends(s, j, t, kind, start):
        if kind == "own":
            log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
            s.complete(t + 1, 1)
            s.ended("FAILED", "1:0", t + 1, start=start)
            return OWN
        if kind == "limit":
            s.ctld(t, f"Time limit exhausted for JobId={j}")
            log.raw(t + 0.5, cutline(j, t, "TIME LIMIT"))
            s.ended("TIMEOUT", "0:0", t + 1, start=start)
            return ["code.deadline"]
        if kind == "oom":
            log.raw(t + 0.5, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.batch. Some of the step tasks have been OOM Killed.")
            s.ctld(t + 1, f"_job_complete: JobId={j} OOM failure")
            s.ended("OUT_OF_MEMORY", "0:125", t + 1, start=start)
            return ["code.host_oom"]
        if kind == "cancelled":
            s.kill(t, 1000)
            log.raw(t + 0.5, cutline(j, t))
            s.ended("CANCELLED by 1000", "0:0", t + 1, start=start)
            return ["ops.manual_delete"]
        if kind == "nodefail":
            log.raw(t + 0.5, cutline(j, t, "NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS"))
            s.ended("NODE_FAIL", "0:0", t + 1, start=start)
            return ["node.not_ready"]
        if kind == "preempt":
            s.ctld(t, f"preempted JobId={j} has been killed to reclaim resources for JobId={j + 5}")
            log.raw(t + 0.5, cutline(j, t, "PREEMPTION"))
            s.ended("PREEMPTED", "0:0", t + 1, start=start)
            return ["sched.preempted"]
        if kind == "running":
            s.account("RUNNING", "0:0", start, None, [("batch", "RUNNING", "0:0", start, None)])
            return ["none.running"]
        log.say(t, "training completed, saved final checkpoint")
        s.complete(t + 1, 0)
        s.ended("COMPLETED", "0:0", t + 1, start=start)
        return ["none.completed"]
    ends(first, j1, t1, a, 0)
    second.ctld(start, f"sched: Allocate JobId={j2} NodeList=gpu07 #CPUs=128 Partition=gpu")
    log.begin(start + 2)
    log.steps(start + 2, t2)
    right = ends(second, j2, t2, b, start)
    if b == "running":
        mild = ["unknown"]
    mix = c.number % 3
    log.save()
    if mix != 0:
        for row in second.lines:
            first.ctld(row[0], row[2])
        first.rows += second.rows
        first.save(controller=mix == 1, accounting=True)
    c.expect(right, f"two jobs in one file: {v}", mild=mild, asked=str(j2) if mix else "train.log")
