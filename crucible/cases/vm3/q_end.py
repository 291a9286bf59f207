"""Scale sets, zones that change within a log, arrays whose tasks end beside each other, several services that a person stops by a pattern, users' crontabs."""

import json

from kit import NOBODY, OWN, PEOPLE, family, finish, goes_away, vm
from q_gang import Off
from world import Aws, Azure, Gce, Machine, OWN_ERRORS, Slurm, Train, iso

KILLED = ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]


@family("n.vmss", "instance_delete_user scale_in_autoscale sched_preempt other_13_deleted_then_own vmss_deallocate_user reimage_instance upgrade_policy_own other_set_deleted_then_own", 8)
def vmss(c):
    """An instance of a scale set (uniform): train-vmss_3."""
    a = Azure(c, "train-vmss_3")
    base = a.res.rsplit("/virtualMachines/", 1)[0] + "/virtualMachineScaleSets/train-vmss"
    res = f"{base}/virtualMachines/3"
    a.put("vmss.json", {"id": res, "name": "train-vmss_3", "instanceId": "3", "location": "westeurope", "type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines", "osProfile": {"computerName": "train-vmss000003"}, "timeCreated": a.z(-7200, 6), "tags": {"experiment": "exp-1"}, "provisioningState": "Succeeded"})
    m = Machine(c, "train-vmss000003", "train-vmss_3", form=c.form if c.form != "syslog" else "rsyslog")
    log = Train(c, "train-vmss_3/train.log", step=5)
    m.noise(-800, 0)
    m.start(0)
    log.begin(1, m.pid)
    t, v, who, mild, actor = c.between(900, 1400), c.variant, c.pick(*PEOPLE) + "@lab.example", ["unknown", "none.running"], None
    log.steps(1, t)
    def call(at, action, res, status=("Started", "Accepted", "Succeeded")):
        same = a.uuid()
        for k, one in enumerate(status):
            a.entry(at + (0, 1, 40)[k], "Administrative", f"Microsoft.Compute/virtualMachineScaleSets/{action}", one, who, {}, same, res=res)
            a.entries[a.where][-1]["resourceType"]["value"] = "Microsoft.Compute/virtualMachineScaleSets" + ("/virtualMachines" if "/virtualMachines/" in res else "")
    dead = True
    if v == "instance_delete_user":
        call(t + 0.5, "virtualMachines/delete", res)
        right, actor = ["ops.manual_delete", "cloud.instance_terminated"], None
    elif v == "vmss_deallocate_user":
        call(t + 0.5, "deallocate/action", base)
        right = ["ops.manual_delete", "cloud.instance_terminated"]
    elif v == "reimage_instance":
        call(t + 0.5, "virtualMachines/reimage/action", res)
        right = ["ops.manual_delete", "cloud.instance_terminated"]
    elif v == "scale_in_autoscale":
        a.entry(t + 0.5, "Autoscale", "Microsoft.Insights/AutoscaleSettings/Scaledown/Action", "Succeeded", "Microsoft.Insights/autoscaleSettings", {"OldInstancesCount": "4", "NewInstancesCount": "3", "ResourceName": base, "Description": "The autoscale engine attempting to scale resource from 4 instances count to 3 instances count.", "ActiveAutoscaleProfile": "default"}, a.uuid(), res=base)
        right = ["ops.scale_down", "cloud.instance_terminated"]
    elif v == "sched_preempt":
        a.scheduled(t, "Preempt", "Started")
        right = ["cloud.spot_reclaimed"]
    else:
        if v == "other_13_deleted_then_own":
            call(t - 1, "virtualMachines/delete", f"{base}/virtualMachines/13")
        elif v == "other_set_deleted_then_own":
            call(t - 1, "delete", base.replace("train-vmss", "train-vmss-old"))
        else:
            call(t - 20, "write", base)
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "oom_unit", "segv"))
        dead = False
    if dead:
        m.goes_down(t + 1.2, "poweroff") if c.number % 2 else m.dies(t + 1)
    m.noise(5, t if dead else t + 400)
    m.save()
    log.save()
    a.save()
    c.expect(right, f"a scale set: {v}", mild=mild, actor=actor, asked="exp-1")


@family("n.tzjump", "own oom_unit stop killed completed reboot", 12)
def tzjump(c):
    """The log's second start writes local time, eight hours behind; a `systemctl stop train` of eight hours before bears the digits of its end. The journal is in UTC throughout."""
    m = Machine(c, "gpu-07")
    m.form = c.form if c.form != "syslog" else "rsyslog"
    m.noise(-900, 0)
    hours = c.pick(-8, -5, 1, 2)
    a = Train(c, "x", form="logging", step=5)
    t1 = c.between(300, 600)
    start = t1 + c.between(60, 200)
    t2 = start + c.between(500, 900)
    who_old = c.pick(*PEOPLE)
    # The look-alike: the same digits, by the journal's clock.
    m.sudo(t2 + hours * 3600 + 0.5, who_old, "/usr/bin/systemctl stop train")
    m.stop(t2 + hours * 3600 + 0.7) if hours < 0 else None
    if hours > 0:
        m.lines = [row for row in m.lines if row[2] != "sudo"]
    m.start(0)
    a.begin(1, m.pid)
    a.steps(1, t1)
    a.traceback(t1 + 0.2, *OWN_ERRORS[0])
    m.exit(t1 + 0.8, 1)
    b = Train(Off(c, hours * 3600), "y", form="logging", step=5)
    b.number = a.number
    m.pid += 77
    m.start(start)
    b.begin(start + 1, m.pid)
    b.steps(start + 1, t2)
    right, mild, actor = goes_away(c, m, b, t2, c.variant)
    c.write("gpu-07/train.log", "".join(text for _, text in sorted(a.lines, key=lambda row: row[0])) + "".join(text for _, text in sorted(b.lines, key=lambda row: row[0])))
    m.noise(5, t2 + 3000)
    m.save()
    c.expect(right, f"the log's second start is {hours} h off, then {c.variant}", mild=mild + ["unknown", "code.exception"], actor=None)


@family("n.array3", "own_task_own sibling_cancelled_then_own sibling_oom_then_limit whole_array_cancelled throttled_then_own sibling_node_fail_then_own requeue_of_sibling", 8)
def array3(c):
    """slurm-ARRAY_TASK.out of several tasks; what befalls a sibling is not this one's."""
    s = Slurm(c)
    base = s.job
    mine, other = c.pick(3, 4), c.pick(13, 34, 1)
    s.lines = []
    raw = {mine: base + 5, other: base + 9}
    def name(n):
        return f"{base}_{n}"
    t, v, mild, actor = c.between(900, 1400), c.variant, [], None
    logs = {n: Train(c, f"slurm-{base}_{n}.out", step=5) for n in (mine, other)}
    for n, log in logs.items():
        s.ctld(0, f"sched: Allocate JobId={base}_{n}({raw[n]}) NodeList=gpu0{7 if n == mine else 8} #CPUs=64 Partition=gpu")
        log.begin(2)
    log, far = logs[mine], logs[other]
    log.steps(2, t)
    far.steps(2, t - 2)
    def cut(n, at, why=""):
        logs[n].raw(at + 0.4, f"slurmstepd: error: *** JOB {raw[n]} ON gpu0{7 if n == mine else 8} CANCELLED AT {iso(c.at(at))}{' DUE TO ' + why if why else ''} ***")
    def account(n, state, code, end):
        s.rows.append((name(n), "train", "alice", state, code, 0, end, f"gpu0{7 if n == mine else 8}", [("batch", state.split(" ")[0] if not state.startswith(("TIMEOUT", "NODE")) else "CANCELLED", code)]))
    def own():
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.ctld(t + 1, f"_job_complete: JobId={name(mine)}({raw[mine]}) WEXITSTATUS 1")
        account(mine, "FAILED", "1:0", t + 1)
        return OWN
    near = t - 1
    if v == "own_task_own":
        account(other, "RUNNING", "0:0", None)
        right = own()
    elif v == "sibling_cancelled_then_own":
        s.ctld(near, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={name(other)} uid 2000")
        cut(other, near)
        account(other, "CANCELLED by 2000", "0:0", near + 1)
        right = own()
    elif v == "sibling_oom_then_limit":
        far.raw(near, f"slurmstepd: error: Detected 1 oom_kill event in StepId={raw[other]}.batch. Some of the step tasks have been OOM Killed.")
        account(other, "OUT_OF_MEMORY", "0:125", near + 1)
        s.ctld(t, f"Time limit exhausted for JobId={name(mine)}({raw[mine]})")
        cut(mine, t, "TIME LIMIT")
        account(mine, "TIMEOUT", "0:0", t + 1)
        right = ["code.deadline"]
    elif v == "whole_array_cancelled":
        s.ctld(t, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={base} uid 1000")
        for n in logs:
            cut(n, t)
            account(n, "CANCELLED by 1000", "0:0", t + 1)
        right, actor = ["ops.manual_delete"], ["alice", "1000", "uid 1000"]
    elif v == "throttled_then_own":
        s.ctld(near, f"sched: JobId={base}_[20-40%2] delayed for array task limit")
        account(other, "COMPLETED", "0:0", near)
        right = own()
    elif v == "sibling_node_fail_then_own":
        s.ctld(near - 5, "error: Nodes gpu08 not responding, setting DOWN")
        s.ctld(near - 5, f"Killing JobId={name(other)}({raw[other]}) on failed node gpu08")
        account(other, "NODE_FAIL", "0:0", near - 5)
        right = own()
    else:
        s.ctld(near, f"_slurm_rpc_requeue: JobId={name(other)} requeued by uid 1000")
        cut(other, near, "JOB REQUEUE")
        account(other, "REQUEUED", "0:0", near)
        right = own()
    s.form = c.pick(0, 2)
    s.save(controller=c.number % 3 != 1, accounting=c.number % 3 != 2)
    for one in logs.values():
        one.save()
    c.expect(right, f"an array: {v}", mild=mild, actor=actor, asked=name(mine))


@family("n.cron", "user_cron_kills root_cron_stop cron_other_then_own anacron_reboot cron_logrotate_then_killed at_job_stop timer_reboot", 8)
def cron(c):
    """Crontabs: what they run is in the journal, whose it is as well."""
    m, log = vm(c, step=5)
    t, v, mild, actor = c.between(900, 1400), c.variant, [], None
    log.steps(1, t)
    def cmd(at, user, text):
        m.log(at, "CRON" if m.system.startswith("u") else "CROND", f"({user}) CMD ({text})", 41200)
    if v == "user_cron_kills":
        cmd(t + 0.1, "alice", "/usr/bin/pkill -9 -f train.py")
        m.exit(t + 0.5, -9)
        right, mild = ["ops.manual_delete", "unknown"], KILLED
    elif v == "root_cron_stop":
        cmd(t + 0.1, "root", "/usr/bin/systemctl stop train")
        m.stop(t + 0.4)
        right, mild = ["ops.manual_delete"], ["unknown"]
        if m.system not in ("u24", "el9"):
            right = right + ["unknown"]
    elif v == "cron_other_then_own":
        cmd(t - 2, "root", "/usr/bin/systemctl restart rsyslog")
        right, mild, actor = goes_away(c, m, log, t, "own")
    elif v in ("anacron_reboot", "timer_reboot"):
        if v == "anacron_reboot":
            cmd(t + 0.1, "root", "/sbin/shutdown -r now")
        else:
            m.log(t + 0.1, "systemd", f"Starting {m.named('weekly-reboot', 'Weekly reboot')}...")
        m.goes_down(t + 0.9)
        m.boots(t + 90)
        right = ["node.reboot"]
    elif v == "at_job_stop":
        m.log(t + 0.1, "atd", "Starting job 12 (a0000c01c5a8f1) for user 'carol' (1007)")
        m.stop(t + 0.4)
        right, mild = ["ops.manual_delete", "unknown"], []
    else:
        cmd(t - 1, "root", "/usr/sbin/logrotate /etc/logrotate.conf")
        right, mild, actor = goes_away(c, m, log, t, "killed")
    c.expect(right, f"crontabs: {v}", mild=mild, actor=actor)
    finish(c, m, log)
