"""Requests without effect, refused by Slurm, of another experiment or of an address's next bearer; states that few know; who somebody is in a cloud's record."""

import json

from kit import NOBODY, OWN, PEOPLE, family, finish, goes_away, vm
from world import Aws, Azure, Gce, Machine, OWN_ERRORS, Slurm, Train, iso

KILLED = ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]


@family("n.noeffect", "stop_killed stop_own stop_bare_word docker_stop_killed reboot_killed stop_oom stop_completed kill_gone_pid", 10)
def noeffect(c):
    """A run without a unit (nohup); somebody stops a unit or a container that is not there, or reboots in vain: the journal shows no effect. The run ends 0.5–30 s later by its own cause."""
    m = Machine(c, "gpu-07")
    m.noise(-900, 0)
    log = Train(c, "gpu-07/train.log")
    log.begin(1, m.pid)
    t, v, who, mild = c.between(900, 1400), c.variant, c.pick(*PEOPLE), []
    log.steps(1, t)
    what, how = v.split("_", 1)
    m.sudo(t - c.pick(0.5, 3, 10, 30), who, {"stop": "/usr/bin/systemctl stop train", "docker": "/usr/bin/docker stop train", "reboot": "/usr/sbin/reboot", "kill": f"/usr/bin/kill -9 {m.pid + 5000}"}[what])
    if how.endswith("killed"):
        log.raw(t + 0.4, "Killed")
        right, mild = ["unknown"], KILLED
    elif how == "own":
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        right = OWN
    elif how == "oom":
        m.oom(t + 0.2, "python3", m.pid, "/user.slice/user-1000.slice/session-31.scope")
        log.raw(t + 0.5, "Killed")
        right = ["node.system_oom", "code.host_oom"]
    elif how == "completed":
        log.say(t + 0.2, "training completed, saved final checkpoint")
        right = ["none.completed"]
    elif how == "gone_pid":
        log.raw(t + 0.4, f"./run.sh: line 7: {m.pid} Killed                  python3 train.py")
        right, mild = ["unknown"], KILLED
    else:
        log.raw(t + 0.4, "make: *** [Makefile:12: train] Error 1")
        right = NOBODY
        mild = ["none.running"]
    m.noise(5, 3600)
    m.save()
    log.save()
    c.expect(right, f"a request without effect: {v}", mild=mild)


@family("n.refused_slurm", "kill_security kill_denied update_denied requeue_denied suspend_denied node_update_denied kill_denied_then_limit kill_denied_then_cancel_owner", 8)
def refused_slurm(c):
    """Somebody without the right asks Slurm: `Security violation`; the job ends seconds later for another reason."""
    s = Slurm(c)
    j = s.job
    c.asked = str(j)
    log = Train(c, f"slurm-{j}.out")
    log.begin(2)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    log.steps(2, t)
    early = t - c.between(0.5, 20)
    s.ctld(early, {"kill_security": f"error: Security violation, REQUEST_KILL_JOB RPC for JobId={j} from uid 1007", "update_denied": f"error: Security violation, JOB_UPDATE RPC from uid 1007 JobId={j}", "requeue_denied": f"_slurm_rpc_requeue: JobId={j}: Access/permission denied",
                   "suspend_denied": f"_slurm_rpc_suspend(suspend) JobId={j}: Access/permission denied", "node_update_denied": "error: Security violation, UPDATE_NODE RPC from uid=1007"}.get(v, f"_slurm_rpc_kill_job: job_str_signal() uid=1007 JobId={j} sig=9 returned: Access/permission denied"))
    if v.endswith("limit"):
        s.ctld(t, f"Time limit exhausted for JobId={j}")
        log.raw(t + 0.5, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))} DUE TO TIME LIMIT ***")
        s.ended("TIMEOUT", "0:0", t + 1)
        right = ["code.deadline"]
    elif v.endswith("owner"):
        s.kill(t, 1000)
        log.raw(t + 0.5, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))} ***")
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        right, actor = ["ops.manual_delete"], ["alice", "1000", "uid 1000"]
    elif c.number % 2:
        s.complete(t + 1, 137)
        log.raw(t + 0.6, "srun: error: gpu07: task 0: Killed")
        s.ended("FAILED", "137:0", t + 1)
        right, mild = ["unknown"], KILLED
    else:
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        right = OWN
    c.expect(right, f"refused by Slurm: {v}", mild=mild, actor=actor)
    s.save(accounting=c.number % 3 != 2)
    log.save()


@family("n.goes_on_bare", "stop kill reboot poweroff docker_stop scancel_request shutdown_now", 8)
def goes_on_bare(c):
    """A request, then ten minutes of steps, then the run's own end: the request was of something else or in vain."""
    t = c.between(1500, 2100)
    early, v, who = t - c.between(500, 900), c.variant, c.pick(*PEOPLE)
    if v == "scancel_request":
        s = Slurm(c)
        c.asked = str(s.job)
        log = Train(c, f"slurm-{s.job}.out")
        log.begin(2)
        log.steps(2, t)
        s.kill(early, 2000)
        right, code = (["code.host_oom"], "0:125") if c.number % 2 else (OWN, "1:0")
        if c.number % 2:
            log.raw(t + 0.5, f"slurmstepd: error: Detected 1 oom_kill event in StepId={s.job}.batch. Some of the step tasks have been OOM Killed.")
        else:
            log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
            s.complete(t + 1, 1)
        s.ended("OUT_OF_MEMORY" if c.number % 2 else "FAILED", code, t + 1)
        s.save()
        log.save()
        c.expect(right, "a signal by scancel, steps, then its own end")
        return
    m, log = vm(c, step=5)
    log.steps(1, t)
    m.sudo(early, who, {"stop": "/usr/bin/systemctl stop train", "kill": f"/usr/bin/kill -9 {m.pid}", "reboot": "/usr/sbin/reboot", "poweroff": "/usr/sbin/poweroff", "docker_stop": "/usr/bin/docker stop train", "shutdown_now": "/usr/sbin/shutdown -h now"}[v])
    right, mild, actor = goes_away(c, m, log, t, ("own", "oom_unit", "segv", "killed", "completed")[c.number % 5])
    c.expect(right, f"{v} in vain, ten minutes of steps, then its own end", mild=mild, actor=actor)
    finish(c, m, log)


STATES = {"STOPPED": (["unknown", "ops.manual_delete"], ["none.running"]), "REQUEUE_HOLD": (["unknown", "code.exception", "ops.config_change", "ops.manual_delete", "node.launch_failed"], ["none.running"]), "SPECIAL_EXIT": (NOBODY + ["ops.config_change", "ops.manual_delete"], ["none.running"]), "COMPLETING": (["unknown", "none.completed", "none.running"], []),
          "RESIZING": (["none.running"], ["unknown"]), "SIGNALING": (["none.running"], ["unknown"]), "STAGE_OUT": (["none.completed", "unknown", "none.running"], []), "REVOKED": (["unknown", "none.completed", "ops.manual_delete"], ["none.running"]), "LAUNCH_FAILED": (["node.launch_failed", "unknown"], []), "CONFIGURING": (["unknown", "none.running", "node.launch_failed"], [])}


@family("n.states", " ".join(STATES), 6)
def states(c):
    """States of a job beyond the usual ones, in `squeue`, `sacct -P`, `scontrol show job`."""
    s = Slurm(c)
    j, state = s.job, c.variant
    c.asked = str(j)
    t = c.between(700, 1300)
    right, mild = STATES[state]
    if state not in ("LAUNCH_FAILED", "CONFIGURING"):
        log = Train(c, f"slurm-{j}.out")
        log.begin(2)
        log.steps(2, t)
        log.save()
    over = state in ("REVOKED", "LAUNCH_FAILED", "SPECIAL_EXIT")
    form = c.number % 3
    if form == 0:
        c.write("squeue.txt", f"JOBID|PARTITION|NAME|USER|STATE|TIME|TIME_LIMIT|NODES|NODELIST(REASON)|START_TIME\n{j}|gpu|train|alice|{state}|20:11|1-00:00:00|1|{'gpu07' if not over else '(launch failed requeued held)'}|{iso(c.at(0))}\n")
    elif form == 1:
        c.write("sacct.txt", f"JobID|JobName|User|Partition|State|ExitCode|Start|End|NodeList\n{j}|train|alice|gpu|{state}|0:0|{iso(c.at(0))}|{iso(c.at(t + 1)) if over else 'Unknown'}|gpu07\n")
    else:
        c.write("scontrol.txt", f"JobId={j} JobName=train\n   UserId=alice(1000) GroupId=alice(1000) MCS_label=N/A\n   JobState={state} Reason={'launch_failed_requeued_held' if state == 'LAUNCH_FAILED' else 'None'} Dependency=(null)\n   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0\n   RunTime=00:20:11 TimeLimit=1-00:00:00 TimeMin=N/A\n   SubmitTime={iso(c.at(-60))} EligibleTime={iso(c.at(-60))}\n   StartTime={iso(c.at(0))} EndTime={iso(c.at(86400))} Deadline=N/A\n   NodeList=gpu07\n   NumNodes=1 NumCPUs=128 NumTasks=8\n   StdOut=/home/alice/slurm-{j}.out\n")
    c.expect(right, f"state {state}", mild=mild)


@family("n.exp_names", "delete_exp10 preempt_exp1b terminate_other_tag stop_both_exp1_first own_exp1_delete_exp10", 9)
def exp_names(c):
    """Two experiments whose labels begin alike: exp-1 and exp-10."""
    kind = ("gce", "aws", "azure")[c.number % 3]
    v, who, mild, actor = c.variant, c.pick(*PEOPLE), [], None
    t = c.between(900, 1400)
    shared, boxes = {}, []
    for n, label in enumerate(("exp-1", "exp-1", "exp-10" if "1b" not in v else "exp-1b", "exp-10" if "1b" not in v else "exp-1b")):
        if kind == "gce":
            g = Gce(c, f"w-{n}" if n < 2 else f"w-1{n}")
            g.entries = shared
            g.call(-900 + n, "insert", "alice@lab.example", 20)
            for entry in shared["gcp.jsonl"][-2:]:
                entry["protoPayload"]["request"]["labels"] = [{"key": "experiment", "value": label}]
            name = host = g.vm
        elif kind == "aws":
            g = Aws(c)
            g.dns, g.entries = f"ip-10-0-7-{10 + n}", shared
            g.instance(-900)
            shared["instances.json"][-1]["Tags"][0]["Value"] = label
            name, host = g.id, g.dns
        else:
            g = Azure(c, f"w-{n}" if n < 2 else f"w-1{n}")
            g.entries = shared
            g.machine()
            shared["vms.json"][-1]["tags"]["experiment"] = label
            name = host = g.vm
        m = Machine(c, host, name, system="u24", form=("rsyslog", "json")[n % 2])
        log = Train(c, f"{name}/train.log", step=5)
        m.noise(-800, 0)
        m.start(0)
        log.say(1, f"starting rank={n % 2} world_size=2 pid={m.pid}")
        boxes.append((g, m, log))
    def delete(g, m, at):
        if kind == "aws":
            g.trail(at, "TerminateInstances", who)
            g.state(at + 1, "shutting-down")
        else:
            g.call(at, "delete", who + "@lab.example")
        m.dies(at + 1)
    last = 0
    for n, (g, m, log) in enumerate(boxes):
        log.steps(1, t if n >= 2 or v in ("own_exp1_delete_exp10", "stop_both_exp1_first") else t + 300)
    until = t + 303
    if v in ("delete_exp10", "terminate_other_tag", "own_exp1_delete_exp10"):
        for g, m, log in boxes[2:]:
            delete(g, m, t + 0.5)
        right, mild = ["none.running"], ["unknown"]
        if v == "own_exp1_delete_exp10":
            g, m, log = boxes[0]
            log.traceback(t + 0.7, *c.pick(*OWN_ERRORS))
            m.exit(t + 1.3, 1)
            boxes[1][2].traceback(t + 4, "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.7]:41234", "    dist.barrier()")
            boxes[1][1].exit(t + 4.6, 1)
            right, mild = OWN, []
    elif v == "preempt_exp1b":
        for g, m, log in boxes[2:]:
            if kind == "gce":
                g.system(t + 0.5, "preempted", "Instance was preempted.")
            elif kind == "aws":
                g.evicted(t + 0.5)
            else:
                g.scheduled(t + 0.5, "Preempt", "Started")
            m.dies(t + 1)
        right, mild = ["none.running"], ["unknown"]
    else:
        for g, m, log in boxes[:2]:
            delete(g, m, t + 0.5)
        right, actor = ["ops.manual_delete"], [who if kind == "aws" else who + "@lab.example"]
    for n, (g, m, log) in enumerate(boxes):
        m.noise(5, until if m.down is None else m.down)
        m.save()
        log.save()
    boxes[0][0].save()
    c.expect(right, f"labels that begin alike: {v}", mild=mild, actor=actor, asked="exp-1")


@family("n.ip_reuse", "old_own_new_terminated old_terminated_new_own old_completed_new_spot old_spot_new_running", 9)
def ip_reuse(c):
    """A new EC2 instance has the address, and so the host name, of one that is gone; each has its id's folder."""
    v, who, mild, actor = c.variant, c.pick(*PEOPLE), [], None
    a, b = Aws(c), Aws(c)
    b.dns, b.entries = a.dns, a.entries
    t1, born = c.between(700, 1000), c.between(1500, 2500)
    t2 = born + c.between(600, 900)
    a.instance(-900, state="terminated")
    b.instance(born - 120)
    for one, label in zip(a.entries["instances.json"], ("exp-1", "exp-2")):
        one["Tags"][0]["Value"] = label
    ma, mb = Machine(c, a.dns, a.id, system="u24", form="rsyslog"), Machine(c, b.dns, b.id, system="u22", form="json")
    la, lb = Train(c, f"{a.id}/train.log", step=5), Train(c, f"{b.id}/train.log", step=5)
    ma.noise(-800, 0)
    ma.start(0)
    la.begin(1, ma.pid)
    la.steps(1, t1)
    mb.start(born)
    lb.begin(born + 1, mb.pid)
    last = lb.steps(born + 1, t2)
    until_a, until_b = t1 + 60, t2 + 300
    if v == "old_own_new_terminated":
        right, mild, actor = goes_away(c, ma, la, t1, "own")
        b.trail(t2 + 0.5, "TerminateInstances", who)
        b.state(t2 + 1, "shutting-down")
        mb.dies(t2 + 1)
        until_b, asked = t2, "exp-1"
    elif v == "old_terminated_new_own":
        a.trail(t1 + 0.5, "TerminateInstances", who)
        a.state(t1 + 1, "shutting-down")
        ma.dies(t1 + 1)
        right, mild, actor = goes_away(c, mb, lb, t2, "own")
        until_a, asked = t1, "exp-2"
    elif v == "old_completed_new_spot":
        right, mild, actor = goes_away(c, ma, la, t1, "completed")
        b.evicted(t2 + 0.5)
        mb.dies(t2 + 1)
        until_b, asked = t2, "exp-1"
    else:
        a.evicted(t1 + 0.5)
        ma.dies(t1 + 1)
        right, mild, until_a, until_b, asked = ["none.running"], ["unknown"], t1, last + 3, "exp-2"
    ma.noise(5, until_a)
    mb.noise(born, until_b)
    for one in (ma, mb, la, lb, a):
        one.save()
    c.expect(right, f"an address that is borne again: {v}", mild=mild, actor=actor, asked=asked)


@family("n.principal", "gce_subject gce_workforce aws_root aws_federated aws_identity_center aws_source_identity azure_upn_claims azure_upper", 6)
def principal(c):
    """Who somebody is, in the forms that clouds write people in."""
    v, who = c.variant, c.pick(*PEOPLE)
    kind = v.split("_")[0]
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c)
    name = cloud.vm if kind != "aws" else cloud.id
    m = Machine(c, cloud.dns if kind == "aws" else name, name, form=c.form if c.form != "syslog" else "rsyslog")
    log = Train(c, f"{name}/train.log", step=5)
    m.noise(-800, 0)
    m.start(0)
    log.begin(1, m.pid)
    t = c.between(900, 1400)
    log.steps(1, t)
    mail = f"{who}@lab.example"
    actor = [who, mail]
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
        cloud.call(t + 0.5, "delete", mail)
        for one in cloud.entries["gcp.jsonl"][-2:]:
            subject = f"user:{mail}" if v == "gce_subject" else f"principal://iam.googleapis.com/locations/global/workforcePools/lab/subject/{mail}"
            one["protoPayload"]["authenticationInfo"] = {"principalSubject": subject}
        actor += [f"user:{mail}", f"principal://iam.googleapis.com/locations/global/workforcePools/lab/subject/{mail}"]
    elif kind == "aws":
        cloud.instance(-900)
        cloud.trail(t + 0.5, "TerminateInstances", who)
        last = cloud.entries["cloudtrail.json"][-1]
        last["userIdentity"] = {"aws_root": {"type": "Root", "principalId": "123456789012", "arn": "arn:aws:iam::123456789012:root", "accountId": "123456789012"},
                                "aws_federated": {"type": "FederatedUser", "principalId": f"123456789012:{who}", "arn": f"arn:aws:sts::123456789012:federated-user/{who}", "accountId": "123456789012"},
                                "aws_identity_center": {"type": "IdentityCenterUser", "accountId": "123456789012", "onBehalfOf": {"userId": "5482a4c8-0001", "identityStoreArn": "arn:aws:identitystore::123456789012:identitystore/d-9067642ac7"}, "userName": mail},
                                "aws_source_identity": {"type": "AssumedRole", "principalId": "AROA0123:session", "arn": "arn:aws:sts::123456789012:assumed-role/ops/session", "accountId": "123456789012", "sessionContext": {"sourceIdentity": who, "sessionIssuer": {"type": "Role", "arn": "arn:aws:iam::123456789012:role/ops", "userName": "ops"}}}}[v]
        cloud.state(t + 1, "shutting-down")
        actor = {"aws_root": ["root", "arn:aws:iam::123456789012:root", "123456789012"], "aws_identity_center": actor + ["5482a4c8-0001"], "aws_source_identity": actor + ["ops", "ops/session", "session", "arn:aws:sts::123456789012:assumed-role/ops/session"], "aws_federated": actor + [f"arn:aws:sts::123456789012:federated-user/{who}"]}[v]
    else:
        cloud.machine()
        cloud.call(t + 0.5, "delete", mail.upper() if v == "azure_upper" else None)
        for one in cloud.entries[cloud.where][-3:]:
            if v == "azure_upn_claims":
                one["claims"] = {"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn": mail, "name": who}
        actor += [mail.upper()]
    m.dies(t + 1)
    m.noise(5, t)
    m.save()
    log.save()
    cloud.save()
    c.expect(["ops.manual_delete", "cloud.instance_terminated"], f"who it was: {v}", actor=actor, asked=name if kind != "aws" else "exp-1")
