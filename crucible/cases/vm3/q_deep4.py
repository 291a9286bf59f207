"""Logs in two files (output and errors), nearby names of nodes and jobs, machines that go down slowly, prefixes of lines, a service's program in the journal alone."""

import json

from kit import NOBODY, OWN, PEOPLE, family, finish, goes_away, vm
from q_gang import Off
from world import Aws, Azure, Gce, Machine, OWN_ERRORS, Slurm, Train, iso

KILLED = ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]


def tb(error, where):
    return f"Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 118, in main\n{where}\n{error}\n"


@family("n.split_err", "own caught_then_killed caught_then_completed caught_then_running caught_then_stop caught_then_oom caught_then_reboot warnings_then_own old_err_of_other_run", 12)
def split_err(c):
    """train.log has the steps with their times; train.err has undated errors: one that was caught long before, or the last."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    last = log.steps(1, t)
    err = ("gpu-07/train.err", "gpu-07/train.stderr", "gpu-07/stderr.log", "gpu-07/train.log.err")[c.number % 4]
    noise = "/opt/conda/lib/python3.11/site-packages/torch/utils/checkpoint.py:460: UserWarning: torch.utils.checkpoint: please pass in use_reentrant=True or use_reentrant=False explicitly.\n  warnings.warn(\n"
    error = c.pick(*OWN_ERRORS)
    until = 4000
    if v == "own":
        c.write(err, noise + tb(*error))
        m.exit(t + 0.6, 1)
        right = OWN
    elif v == "warnings_then_own":
        c.write(err, noise * 3)
        right, mild, actor = goes_away(c, m, log, t, "own")
    elif v == "old_err_of_other_run":
        c.write("gpu-07/eval.err", tb(*error))
        right, mild, actor = goes_away(c, m, log, t, c.pick("stop", "oom_unit", "completed"))
    else:
        log.say(t - 400, "upload failed, will retry", "WARNING")
        c.write(err, noise + tb("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='hub.lab.example', port=443): Max retries exceeded with url: /upload", "    upload(path)") if c.number % 2 else noise + tb(*error))
        kind = v.split("_then_")[1]
        if kind == "running":
            right, mild, until = ["none.running"], ["unknown", "code.exception"], last + 3
        else:
            right, mild, actor = goes_away(c, m, log, t, {"oom": "oom_unit"}.get(kind, kind))
            mild = mild + (["code.exception"] if kind in ("killed",) else [])
    c.expect(right, f"output and errors apart: {v}", mild=mild, actor=actor)
    finish(c, m, log, until)


@family("n.split_slurm", "own caught_then_limit caught_then_cancel caught_then_completed caught_then_node_fail caught_then_oom cancel_line_in_err old_job_err", 12)
def split_slurm(c):
    """slurm-JOB.out and slurm-JOB.err."""
    s = Slurm(c)
    j = s.job
    c.asked = str(j)
    log = Train(c, f"slurm-{j}.out")
    log.begin(2)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    log.steps(2, t)
    err, error = [], c.pick(*OWN_ERRORS)
    def cut(why=""):
        return f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))}{' DUE TO ' + why if why else ''} ***\n"
    if v.startswith("caught"):
        log.say(t - 300, "could not evaluate, going on", "WARNING")
        err.append(tb(*error))
    if v == "own":
        err += [tb(*error), "srun: error: gpu07: task 0: Exited with exit code 1\n"]
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        right = OWN
    elif v == "caught_then_limit":
        err.append(cut("TIME LIMIT"))
        s.ctld(t, f"Time limit exhausted for JobId={j}")
        s.ended("TIMEOUT", "0:0", t + 1)
        right = ["code.deadline"]
    elif v in ("caught_then_cancel", "cancel_line_in_err"):
        err.append(cut())
        s.kill(t, 1000)
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        right, actor = ["ops.manual_delete"], ["alice", "1000", "uid 1000"]
    elif v == "caught_then_node_fail":
        s.ctld(t + 120, "error: Nodes gpu07 not responding")
        s.ctld(t + 300, "error: Nodes gpu07 not responding, setting DOWN")
        s.ctld(t + 300, f"Killing JobId={j} on failed node gpu07")
        s.ended("NODE_FAIL", "0:0", t + 300)
        right = ["node.not_ready"]
    elif v == "caught_then_oom":
        err.append(f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.batch. Some of the step tasks have been OOM Killed.\n")
        s.ctld(t + 1, f"_job_complete: JobId={j} OOM failure")
        s.ended("OUT_OF_MEMORY", "0:125", t + 1)
        right = ["code.host_oom"]
    else:
        if v == "old_job_err":
            c.write(f"slurm-{j - 3}.err", tb(*error) + f"slurmstepd: error: *** JOB {j - 3} ON gpu07 CANCELLED AT {iso(c.at(t))} ***\n")
        log.say(t + 0.2, "training completed, saved final checkpoint")
        s.complete(t + 1, 0)
        s.ended("COMPLETED", "0:0", t + 1)
        right = ["none.completed"]
    if err:
        c.write(f"slurm-{j}.err", "".join(err))
    c.expect(right, f"two files of a job: {v}", mild=mild, actor=actor)
    s.save(controller=c.number % 3 != 1, accounting=c.number % 3 != 2)
    log.save()


@family("n.near_nodes", "down_gpu1 down_range_beside panic_gpu070 reboot_gpu7 set_down_other not_responding_range_beside job_501 job_array_13 het_0 job_prefix_in_log", 10)
def near_nodes(c):
    """Nodes and jobs whose names begin alike; ranges that end just before or begin just behind."""
    s = Slurm(c, job=5012 if "job" in c.variant or "het" in c.variant else None, nodes="gpu[07-10]")
    j = s.job
    c.asked = str(j)
    log = Train(c, f"slurm-{j}.out")
    log.begin(2)
    t, v, who = c.between(900, 1500), c.variant, c.pick(*PEOPLE)
    log.steps(2, t)
    early = t - c.between(1, 20)
    boxes = []
    if v in ("down_gpu1", "down_range_beside", "not_responding_range_beside"):
        names = {"down_gpu1": "gpu1", "down_range_beside": "gpu[11-12]", "not_responding_range_beside": "gpu[01-06,11]"}[v]
        s.ctld(early - 5, f"error: Nodes {names} not responding")
        if v != "not_responding_range_beside":
            s.ctld(early, f"error: Nodes {names} not responding, setting DOWN")
            s.ctld(early, f"Killing JobId={j + 1} on failed node {names}")
    elif v in ("panic_gpu070", "reboot_gpu7"):
        m = Machine(c, "gpu070" if v == "panic_gpu070" else "gpu7", system="el8", form="rsyslog")
        m.noise(-500, 0)
        if v == "panic_gpu070":
            m.kernel(early, "Kernel panic - not syncing: Fatal exception")
        else:
            m.sudo(early, who, "/usr/sbin/reboot")
            m.log(early + 1, "systemd-logind", "System is rebooting.")
        m.boots(early + 200)
        boxes.append(m)
    elif v == "set_down_other":
        s.ctld(early, "update_node: node gpu[11-14] reason set to: replace PSU")
        s.ctld(early + 0.001, "update_node: node gpu[11-14] state set to DOWN")
    elif v == "job_501":
        s.ctld(early, "_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=501 uid 2000")
        s.ctld(early + 1, "Time limit exhausted for JobId=50121")
    elif v == "job_array_13":
        s.ctld(early, "_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=5011_12 uid 2000")
    elif v == "het_0":
        s.ctld(early, "_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=5011+1(5013) uid 2000")
    else:
        log.raw(early, "job 4999 said: slurmstepd: error: *** JOB 4999 ON gpu07 CANCELLED AT 2026-11-18T03:00:00 DUE TO TIME LIMIT ***")
        log.steps(t, t + 20)
        t += 20
    log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
    s.complete(t + 1, 1)
    s.ended("FAILED", "1:0", t + 1)
    right = OWN
    if c.number % 3 == 2:
        # Without the traceback: the code alone.
        log.lines = [row for row in log.lines if row[0] <= t]
        right = NOBODY
    c.expect(right, f"names nearby: {v}")
    s.save()
    log.save()
    for m in boxes:
        m.noise(5, t + 400)
        m.save()


@family("n.slow_down", "gce_stop aws_terminate azure_deallocate gce_preempted aws_spot sudo_reboot sudo_stop", 8)
def slow_down(c):
    """Controls for n.goes_on: the program steps on for up to a minute and a half while its machine or service is being stopped, and is killed at last."""
    v, who, actor = c.variant, c.pick(*PEOPLE), None
    kind = v.split("_")[0]
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c) if kind != "sudo" else None
    name = "gpu-07" if not cloud else cloud.vm if kind != "aws" else cloud.id
    m = Machine(c, cloud.dns if kind == "aws" else name, name, form=c.form if c.form != "syslog" else "rsyslog", system=c.pick("u22", "u24", "el8", "el9"))
    log = Train(c, f"{name}/train.log", step=5)
    m.noise(-800, 0)
    m.start(0)
    log.begin(1, m.pid)
    t, lasts = c.between(900, 1500), 28 if v == "gce_preempted" else 89
    log.steps(1, t + lasts)
    right, asked = ["ops.manual_delete"], "train.log" if not cloud else name if kind != "aws" else "exp-1"
    actor = [who if kind in ("aws", "sudo") else who + "@lab.example"]
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
        if v == "gce_preempted":
            cloud.system(t, "preempted", "Instance was preempted.")
            right, actor = ["cloud.spot_reclaimed"], None
        else:
            cloud.call(t, "stop", who + "@lab.example", 100)
    elif kind == "aws":
        cloud.instance(-900)
        if v == "aws_spot":
            cloud.bridge(t - 118, "EC2 Spot Instance Interruption Warning", "aws.ec2", {"instance-id": cloud.id, "instance-action": "terminate"})
            cloud.evicted(t)
            right, actor = ["cloud.spot_reclaimed"], None
        else:
            cloud.trail(t, "TerminateInstances", who)
        cloud.state(t + 0.5, "shutting-down")
        cloud.state(t + lasts + 10, "terminated")
    elif kind == "azure":
        cloud.machine()
        cloud.call(t, "deallocate/action", who + "@lab.example", 100)
    elif v == "sudo_reboot":
        m.sudo(t, who, "/usr/sbin/reboot")
        right = ["node.reboot"]
    else:
        m.sudo(t, who, "/usr/bin/systemctl stop train")
    if v != "sudo_stop":
        m.log(t + 0.6, "systemd-logind", "System is rebooting." if v == "sudo_reboot" else "System is powering down.")
    m.log(t + 0.8, "systemd", f"Stopping {m.named('train', 'LLM training')}...")
    if v != "gce_preempted":
        m.log(t + 90.8, "systemd", "train.service: State 'stop-sigterm' timed out. Killing.")
        m.exit(t + 91, -9, result="timeout")
    else:
        m.dies(t + 30)
    if v != "sudo_stop":
        m.dies(min(m.down or 1e9, t + 93))
    if v == "sudo_reboot":
        m.boots(t + 200)
    c.expect(right, f"it goes on for {lasts} s while it is being stopped: {v}", actor=actor, asked=asked)
    m.noise(5, t + 4 if cloud else t + 1500)
    m.save()
    log.save()
    if cloud:
        cloud.save()


@family("n.prefix", "compose pdsh collector_json docker_logs_t kubectl_like tagged", 10)
def prefix(c):
    """The program's log with something before each line; the end is its own, an OOM of its unit, or a stop."""
    m, log = vm(c)
    t = c.between(900, 1400)
    log.steps(1, t)
    kind = ("own", "oom_unit", "stop", "completed", "own")[c.number % 5]
    right, mild, actor = goes_away(c, m, log, t, kind)
    out = []
    for at, text in sorted(log.lines, key=lambda row: row[0]):
        for line in text.rstrip("\n").split("\n"):
            stamp = iso(c.at(at), 6) + "000Z"
            out.append({"compose": f"train-1  | {line}", "pdsh": f"gpu-07: {line}", "collector_json": json.dumps({"time": stamp, "stream": "stdout", "log": line + "\n"}), "docker_logs_t": f"{stamp} {line}", "kubectl_like": f"[pod/train-0/trainer] {line}", "tagged": f"<stdout> [0]: {line}"}[c.variant])
    c.write("gpu-07/train.log", "\n".join(out) + "\n")
    m.noise(5, 3500)
    m.save()
    c.expect(right + (["unknown"] if c.variant == "kubectl_like" else []), f"each line with a prefix ({c.variant}): {kind}", mild=mild, actor=actor)


@family("n.unit_journal", "own killed oom_unit stop segv completed running reboot", 6)
def unit_journal(c):
    """`journalctl -u train`: the program's lines and systemd's in one file; nothing else is known."""
    m = Machine(c, "gpu-07", form=("short-iso", "rsyslog", "short-iso-precise", "syslog")[c.number % 4])
    log = Train(c, "x", form="bare")
    m.start(0)
    t, v = c.between(600, 900), c.variant
    log.begin(1, m.pid)
    last = log.steps(1, t)
    if v == "running":
        right, mild, actor = ["none.running"], ["unknown"], None
    else:
        right, mild, actor = goes_away(c, m, log, t, v)
    m.lines = [row for row in m.lines if row[2] in ("systemd", "boot") and "train" in row[4] or row[2] == "systemd" and "LLM" in row[4]]
    for at, text in log.lines:
        for k, line in enumerate(text.rstrip("\n").split("\n")):
            m.log(at + 0.001 * k, "python3", line, m.pid)
    m.save("train.log")
    if v in ("oom_unit", "segv", "reboot"):
        # The kernel's lines and logind's are not of the unit; systemd's record of the end is.
        right, actor = right + ["unknown", "ops.manual_delete"] if v == "reboot" else right + ["node.system_oom"], None
    if v == "stop":
        actor = None
    c.expect(right, f"the unit's journal alone: {v}", mild=mild, actor=actor, asked="train.log")
