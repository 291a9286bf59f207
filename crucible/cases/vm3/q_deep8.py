"""What programs and job scripts print of other things into their logs: states of jobs, the cloud's records, dmesg, nvidia-smi, earlier attempts."""

import json

from kit import NOBODY, OWN, PEOPLE, family, finish, goes_away, vm
from q_slurm import SHOW, clock
from world import Aws, Azure, DAYS, Gce, MONTHS, Machine, OWN_ERRORS, Slurm, Train, iso

KILLED = ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]


def printed(c, what, t, job=5012):
    """Text that a script prints at `t`, of something else or of itself as it was then."""
    old = job - 7
    stamp = f"{DAYS[c.at(t).weekday()]} {MONTHS[c.at(t).month - 1]} {c.at(t).day:>2} {c.at(t):%H:%M:%S} {c.at(t).year}"
    return {
        "scontrol_self": SHOW.format(j=job, qos="normal", state="RUNNING", reason="None", restarts=0, code="0:0", run=clock(2), limit="1-00:00:00", start=iso(c.at(t)), end=iso(c.at(t + 86400)), preempt="None"),
        "scontrol_old": SHOW.format(j=old, qos="normal", state="TIMEOUT", reason="TimeLimit", restarts=0, code="0:0", run=clock(86400), limit="1-00:00:00", start=iso(c.at(t - 90000)), end=iso(c.at(t - 3600)), preempt="None"),
        "sacct_old": f"JobID|JobName|User|Partition|State|ExitCode|Start|End|NodeList\n{old}|train|alice|gpu|OUT_OF_MEMORY|0:125|{iso(c.at(t - 9000))}|{iso(c.at(t - 3600))}|gpu07\n{old}.batch|batch|||OUT_OF_MEMORY|0:125|{iso(c.at(t - 9000))}|{iso(c.at(t - 3600))}|gpu07",
        "squeue": f"             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n              {job}       gpu    train    alice  R       0:02      1 gpu07\n              {job + 3}       gpu    train    alice PD       0:00      1 (Resources)",
        "dmesg_old": f"[{stamp}] Out of memory: Killed process 4711 (python3) total-vm:1230000kB, anon-rss:990000kB, file-rss:12kB, shmem-rss:0kB, UID:1000 pgtables:2144kB oom_score_adj:0\n[{stamp}] NVRM: Xid (PCI:0000:9b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        "smi": "+-----------------------------------------------------------------------------------------+\n| NVIDIA-SMI 550.127.05             Driver Version: 550.127.05     CUDA Version: 12.4     |\n|   0  NVIDIA H100 80GB HBM3          On  |   00000000:3B:00.0 Off |                    0 |\n| N/A   41C    P0            112W /  700W |       4MiB /  81559MiB |      0%      Default |\n+-----------------------------------------------------------------------------------------+\n|  No running processes found                                                             |\n+-----------------------------------------------------------------------------------------+",
        "cloudtrail": json.dumps({"eventVersion": "1.10", "userIdentity": {"type": "IAMUser", "userName": "mallory", "arn": "arn:aws:iam::123456789012:user/mallory"}, "eventTime": iso(c.at(t)) + "Z", "eventSource": "ec2.amazonaws.com", "eventName": "TerminateInstances", "requestParameters": {"instancesSet": {"items": [{"instanceId": "i-0123456789abcdef0"}]}}, "responseElements": {"instancesSet": {"items": [{"instanceId": "i-0123456789abcdef0", "currentState": {"name": "shutting-down"}}]}}, "eventID": "e-1"}),
        "docker_inspect": json.dumps([{"Id": "ab" * 32, "Name": "/train", "State": {"Status": "exited", "Running": False, "OOMKilled": True, "ExitCode": 137, "StartedAt": iso(c.at(t - 9000)) + "Z", "FinishedAt": iso(c.at(t - 60)) + "Z"}}], indent=1),
        "systemctl": f"× train.service - LLM training\n     Active: failed (Result: oom-kill) since {DAYS[c.at(t - 600).weekday()]} {c.at(t - 600):%Y-%m-%d %H:%M:%S} UTC; 10min ago\n   Main PID: 4711 (code=killed, signal=KILL)",
        "older_log": f"--- tail of the previous attempt ---\n{c.at(t - 4000):%Y-%m-%d %H:%M:%S},000 INFO train step=99 loss=2.9\nTraceback (most recent call last):\n  File \"/home/alice/train.py\", line 118, in main\n    x = batch[\"pixel_values\"]\nKeyError: 'pixel_values'\nslurmstepd: error: *** JOB {old} ON gpu07 CANCELLED AT {iso(c.at(t - 3900))} DUE TO PREEMPTION ***\n--- end ---",
        "journal_old": f"{iso(c.at(t - 7200), 6)}+00:00 gpu-07 sudo[4711]:  mallory : TTY=pts/0 ; PWD=/home/mallory ; USER=root ; COMMAND=/usr/bin/systemctl stop train\n{iso(c.at(t - 7199), 6)}+00:00 gpu-07 systemd[1]: train.service: Main process exited, code=killed, status=15/TERM",
        "k8s": json.dumps({"kind": "Event", "apiVersion": "v1", "metadata": {"name": "train-0.17", "namespace": "default"}, "involvedObject": {"kind": "Pod", "name": "train-0", "namespace": "default"}, "reason": "Preempted", "message": "Preempted by pod 4711 on node gpu-07", "type": "Normal", "firstTimestamp": iso(c.at(t)) + "Z", "lastTimestamp": iso(c.at(t)) + "Z", "count": 1}),
    }[what]


WHAT = "scontrol_self scontrol_old sacct_old squeue dmesg_old smi cloudtrail docker_inspect systemctl older_log journal_old k8s".split()


@family("n.printed_slurm", "own limit completed bare running cancel", 24)
def printed_slurm(c):
    """In a Slurm job's output, at its start and at times in the middle."""
    s = Slurm(c)
    j = s.job
    c.asked = str(j)
    log = Train(c, f"slurm-{j}.out", step=5)
    what, v = WHAT[c.number % 12], c.variant
    log.raw(1, printed(c, what, 1, j))
    log.begin(2)
    t = c.between(900, 1300)
    actor, mild = None, []
    last = log.steps(2, t)
    if c.number >= 12:
        log.raw(t - c.between(1, 60), printed(c, what, t - 60, j))
    if v == "own":
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        right = OWN
    elif v == "bare":
        s.complete(t + 1, 3)
        s.ended("FAILED", "3:0", t + 1)
        right = NOBODY
    elif v == "limit":
        s.ctld(t, f"Time limit exhausted for JobId={j}")
        log.raw(t + 0.5, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))} DUE TO TIME LIMIT ***")
        s.ended("TIMEOUT", "0:0", t + 1)
        right = ["code.deadline"]
    elif v == "cancel":
        s.kill(t, 1000)
        log.raw(t + 0.5, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))} ***")
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        right, actor = ["ops.manual_delete"], ["alice", "1000", "uid 1000"]
    elif v == "completed":
        log.say(t + 0.1, "training completed, saved final checkpoint")
        s.complete(t + 1, 0)
        s.ended("COMPLETED", "0:0", t + 1)
        right = ["none.completed"]
    else:
        s.account("RUNNING", "0:0", 0, None, [("batch", "RUNNING", "0:0", 0, None)])
        right, mild = ["none.running"], ["unknown"]
    c.expect(right, f"{what} is printed in the output; {v}", mild=mild, actor=actor)
    s.save(controller=c.number % 3 != 1, accounting=c.number % 3 != 2 or v == "running")
    log.save()


@family("n.printed_bare", "own bare killed completed running stop", 24)
def printed_bare(c):
    """In the log of a service."""
    m, log = vm(c, step=5)
    what, v = WHAT[c.number % 12], c.variant
    log.raw(0.5, printed(c, what, 0.5))
    t = c.between(900, 1300)
    last = log.steps(1, t)
    if c.number >= 12:
        log.raw(t - c.between(1, 60), printed(c, what, t - 60))
    actor, mild, until = None, [], 4000
    if v == "running":
        last = log.steps(t, t + 100)
        right, mild, until = ["none.running"], ["unknown"], last + 3
    else:
        right, mild, actor = goes_away(c, m, log, t, v)
    c.expect(right, f"{what} is printed in the log; {v}", mild=mild, actor=actor)
    finish(c, m, log, until)


@family("n.smi_words", "gpu_lost_end gpu_lost_other_survived err_fan_own ecc_pending_own persistence_warn_completed lost_in_check_then_running", 8)
def smi_words(c):
    """nvidia-smi's and health checks' own words in the log."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1300), c.variant, [], None
    last = log.steps(1, t)
    until = 4000
    if v == "gpu_lost_end":
        log.raw(t + 0.2, "Unable to determine the device handle for GPU0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU")
        log.traceback(t + 1, "torch.AcceleratorError: CUDA error: unspecified launch failure", "    loss.backward()")
        m.exit(t + 1.8, 1)
        right, mild = ["hw.gpu"], ["code.exception"]
    elif v == "gpu_lost_other_survived":
        log.raw(t - 300, "healthcheck[gpu-09]: Unable to determine the device handle for GPU0000:9B:00.0: GPU is lost.  Reboot the system to recover this GPU")
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "stop", "oom_unit"))
    elif v == "lost_in_check_then_running":
        log.raw(t - 300, "healthcheck[gpu-09]: GPU is lost")
        right, mild, until = ["none.running"], ["unknown"], last + 3
    else:
        log.raw(t - 100, {"err_fan_own": "| ERR!   41C    P0            112W /  700W |  61234MiB /  81559MiB |    100%      Default |", "ecc_pending_own": "Remapped Rows : Pending : Yes, Correctable Error : 3, Uncorrectable Error : 0", "persistence_warn_completed": "WARNING: persistence mode is disabled on device 00000000:3B:00.0"}[v])
        right, mild, actor = goes_away(c, m, log, t, "completed" if v.endswith("completed") else "own")
    c.expect(right, f"nvidia-smi's words: {v}", mild=mild, actor=actor)
    finish(c, m, log, until)


@family("n.carried", "dd_cloudtrail_terminate loki_gcp_delete dd_azure_deallocate dd_cloudtrail_other", 6)
def carried(c):
    """The cloud's audit records in a log store, beside the machine's inventory and folder."""
    v, who, actor, mild = c.variant, c.pick(*PEOPLE), None, []
    kind = {"loki": "gce"}.get(v.split("_")[0], "azure" if "azure" in v else "aws")
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c)
    name = cloud.vm if kind != "aws" else cloud.id
    m = Machine(c, cloud.dns if kind == "aws" else name, name, form=c.form if c.form != "syslog" else "rsyslog")
    log = Train(c, f"{name}/train.log", step=5)
    m.noise(-800, 0)
    m.start(0)
    log.begin(1, m.pid)
    t = c.between(900, 1300)
    log.steps(1, t)
    right = ["ops.manual_delete", "cloud.instance_terminated"]
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
        cloud.call(t + 0.5, "delete", who + "@lab.example")
        records = cloud.entries.pop("gcp.jsonl")
        c.write("loki-audit.json", json.dumps({"status": "success", "data": {"resultType": "streams", "result": [{"stream": {"job": "gcp-audit", "log_name": "cloudaudit.googleapis.com/activity"}, "values": [[str(int(c.at(t).timestamp() * 1e9)), json.dumps(one)] for one in records]}]}}))
        actor = [who + "@lab.example"]
    elif kind == "aws":
        cloud.instance(-900)
        if v.endswith("other"):
            cloud.trail(t - 1, "TerminateInstances", who, ids=["i-0" + cloud.hex(16)])
        else:
            cloud.trail(t + 0.5, "TerminateInstances", who)
        records = cloud.entries.pop("cloudtrail.json")
        c.write("datadog-00.json", json.dumps({"data": [{"id": f"AQ{k}", "type": "log", "attributes": {"timestamp": one["eventTime"].replace("Z", ".000Z"), "status": "info", "service": "cloudtrail", "host": "cloudtrail", "tags": ["source:cloudtrail"], "message": json.dumps(one), "attributes": one}} for k, one in enumerate(records)], "meta": {"status": "done"}}))
        actor = [who]
    else:
        cloud.machine()
        cloud.call(t + 0.5, "deallocate/action", who + "@lab.example")
        records = cloud.entries.pop(cloud.where)
        c.write("datadog-00.json", json.dumps({"data": [{"id": f"AQ{k}", "type": "log", "attributes": {"timestamp": one["eventTimestamp"][:19] + ".000Z", "status": "info", "service": "azure", "tags": ["source:azure.compute"], "message": json.dumps(one), "attributes": one}} for k, one in enumerate(records)], "meta": {"status": "done"}}))
        actor = [who + "@lab.example"]
    until = t
    if v.endswith("other"):
        right, mild, actor = goes_away(c, m, log, t, "own")
        until = t + 500
    else:
        m.dies(t + 1)
        mild = ["unknown"]
        right = right + ["unknown", "none.running"]
        actor = None
    m.noise(5, until)
    m.save()
    log.save()
    cloud.save()
    c.expect(right, f"the cloud's records in a store: {v}", mild=mild, actor=actor, asked=name if kind != "aws" else "exp-1")


@family("n.printed_named", "own limit completed cancel oom", 20)
def printed_named(c):
    """A job's output under a name of its own (--output=train.log), which begins with what `scontrol show job $SLURM_JOB_ID` or `squeue` printed then."""
    s = Slurm(c)
    j = s.job
    c.asked = str(j)
    name = ("train.log", f"logs/train_{j}.out", f"job.{j}.out", f"train-{j}.log", f"{j}.out")[c.number % 5]
    what = ("scontrol_self", "squeue", "scontrol_old", "sacct_old")[c.number % 4]
    log = Train(c, name, step=5)
    traced = c.number % 3 != 0  # `set -x` shows the command first
    if traced:
        log.raw(0.5, "+ scontrol show job $SLURM_JOB_ID" if what.startswith("scontrol") else "+ squeue -u alice")
    log.raw(1, printed(c, what, 1, j))
    log.begin(2)
    t, v, mild, actor = c.between(900, 1300), c.variant, [], None
    log.steps(2, t)
    if v == "own":
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        log.raw(t + 0.7, "srun: error: gpu07: task 0: Exited with exit code 1")
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        right = OWN
    elif v == "limit":
        log.raw(t + 0.5, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))} DUE TO TIME LIMIT ***")
        s.ctld(t, f"Time limit exhausted for JobId={j}")
        s.ended("TIMEOUT", "0:0", t + 1)
        right = ["code.deadline"]
    elif v == "cancel":
        log.raw(t + 0.5, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))} ***")
        s.kill(t, 1000)
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        right = ["ops.manual_delete"]
    elif v == "oom":
        log.raw(t + 0.5, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.batch. Some of the step tasks have been OOM Killed.")
        s.ctld(t + 1, f"_job_complete: JobId={j} OOM failure")
        s.ended("OUT_OF_MEMORY", "0:125", t + 1)
        right = ["code.host_oom"]
    else:
        log.say(t + 0.2, "training completed, saved final checkpoint")
        s.complete(t + 1, 0)
        s.ended("COMPLETED", "0:0", t + 1)
        right = ["none.completed"]
    # Half of the cases have nothing but the output.
    if c.number % 2:
        s.save(controller=c.number % 4 == 1, accounting=True)
    elif traced and v in ("own", "completed"):
        c.asked = name.split("/")[-1]
    log.save()
    c.expect(right, f"{name} begins with {what}; {v}, {'log alone' if c.number % 2 == 0 else 'with Slurm'}", mild=mild, actor=actor, asked=c.asked)
