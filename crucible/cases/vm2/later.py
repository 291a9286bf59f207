"""Second thoughts: whoever ends what hangs, yearless files, Ubuntu's three files, machines that delete themselves, replaced machines, gzip, sudo on the login node."""

import gzip
import json
import os

from clouds import guest
from kit import NOBODY, OWN, PEOPLE, bystander, down_quietly, family, finish, goes_away, vm
from world import Aws, Azure, Case, Gce, Machine, OWN_ERRORS, Slurm, Train, iso

ACTS = "stop kill reboot poweroff docker_stop gce_stop gce_delete gce_preempted aws_terminate azure_deallocate runtime_max unattended power_cut limit scancel set_down slurm_preempt own_later"


def fault(c, m, t, kind):
    if kind == "nfs":
        m.kernel(t, "nfs: server 10.0.0.9 not responding, still trying")
        return ["dep.storage"]
    if kind == "xid79":
        m.xid(t, 79)
        return ["hw.gpu"]
    if kind == "xid119":
        m.xid(t, 119)
        return ["hw.gpu"]
    if kind == "nvlink":
        m.xid(t, 74)
        return ["hw.nvlink_fabric"]
    m.link(t, "ibp92s0", False)
    return ["hw.nic"]


@family("y.outwait", ACTS, 16)
def outwait(c):
    """A fault, and steps that stop with it (even) or go on for hundreds (odd); then somebody, or something, ends the run."""
    v = c.variant
    c.form = c.form if c.form != "syslog" else "rsyslog"
    stops = c.number % 2 == 0
    kind = ("xid79", "nfs", "xid119", "nvlink", "link")[c.number // 2 % 5]
    slurm = v in ("limit", "scancel", "set_down", "slurm_preempt")
    cloud = v.split("_")[0] if v.split("_")[0] in ("gce", "aws", "azure") else None
    t = c.between(900, 1300)
    later = t + c.between(900, 1700)
    who, actor, mild = c.pick(*PEOPLE), None, []
    asked = None
    box, s = None, None
    host = "gpu07" if slurm else "gpu-07"
    if cloud == "gce":
        box = Gce(c, "trainer-vm-8")
        box.call(-900, "insert", "alice@lab.example", 20)
        host = asked = box.vm
    elif cloud == "aws":
        box = Aws(c)
        host, asked = box.dns, "exp-1"
    elif cloud == "azure":
        box = Azure(c, "trainer-vm-3")
        box.machine()
        host = asked = box.vm
    m = Machine(c, host, box.id if cloud == "aws" else host)
    m.noise(-900, 0)
    if slurm:
        s = Slurm(c, nodes="gpu07")
        asked = str(s.job)
        m.unit = "slurmd"
        log = Train(c, f"slurm-{s.job}.out", step=5)
    else:
        log = Train(c, f"{m.folder}/train.log", step=5)
        if v != "docker_stop":
            m.start(0)
    log.begin(1, m.pid)
    log.steps(1, t)
    right = fault(c, m, t + 0.8, kind)
    if not stops:
        if kind == "nfs":
            m.kernel(t + 9, "nfs: server 10.0.0.9 OK")
        elif kind == "link":
            m.link(t + 6, "ibp92s0", True)
        log.steps(t + 1, later)
    mail = who + "@lab.example"
    act, act_actor = ["ops.manual_delete"], [who]
    if v == "stop":
        m.sudo(later + 0.2, who, "/usr/bin/systemctl stop train")
        m.stop(later + 0.4)
    elif v == "kill":
        m.sudo(later + 0.2, who, f"/usr/bin/kill -9 {m.pid}")
        m.exit(later + 0.4, -9)
    elif v in ("reboot", "poweroff"):
        act, _, act_actor = goes_away(c, m, log, later, v)
    elif v == "docker_stop":
        cid = f"{c.rng.getrandbits(256):064x}"
        m.sudo(later + 0.2, who, "/usr/bin/docker stop train")
        m.log(later + 10.3, "dockerd", f'time="{iso(c.at(later + 10.3), 6)}Z" level=info msg="Container failed to exit within 10s of signal 15 - using the force" container={cid}')
        c.write(f"{m.folder}/docker-inspect.json", json.dumps([{"Id": cid, "Created": iso(c.at(-1), 6) + "Z", "Path": "python3", "Args": ["train.py"], "Name": "/train", "RestartCount": 0,
                "State": {"Status": "exited", "Running": False, "OOMKilled": False, "Dead": False, "Pid": 0, "ExitCode": 137, "Error": "", "StartedAt": iso(c.at(0), 6) + "Z", "FinishedAt": iso(c.at(later + 10.4), 6) + "Z"},
                "HostConfig": {"RestartPolicy": {"Name": "no", "MaximumRetryCount": 0}, "Memory": 0}, "Config": {"Hostname": m.host, "Image": "lab/train:2.3"}}], indent=1))
    elif v in ("gce_stop", "gce_delete"):
        box.call(later + 0.3, v.split("_")[1], mail)
        m.dies(later + 1)
        act_actor = [mail]
    elif v == "gce_preempted":
        box.system(later + 0.5, "preempted", "Instance was preempted.")
        m.dies(later)
        act, act_actor = ["cloud.spot_reclaimed"], None
    elif v == "aws_terminate":
        box.trail(later + 0.3, "TerminateInstances", who)
        stamp = c.at(later + 1).strftime("%Y-%m-%d %H:%M:%S GMT")
        box.instance(-1000, "terminated", ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"), f"User initiated ({stamp})")
        m.dies(later + 1)
    elif v == "azure_deallocate":
        box.call(later + 0.3, "deallocate/action", mail)
        m.dies(later + 1)
        act_actor = [mail]
    elif v == "runtime_max":
        m.log(later, "systemd", "train.service: Service reached runtime time limit. Stopping.")
        m.exit(later + 0.4, -15)
        act, act_actor = ["code.deadline"], None
    elif v == "unattended":
        m.log(later - 0.1, "unattended-upgrade", "Found /var/run/reboot-required, rebooting", 1402)
        m.goes_down(later + 0.5)
        m.boots(later + 100)
        act, act_actor = ["node.reboot", "ops.node_upgrade"], None
    elif v == "power_cut":
        m.dies(later)
        m.boots(later + 200)
        act, act_actor = ["node.reboot", "unknown"], None
    elif v == "limit":
        s.ctld(later, f"Time limit exhausted for JobId={s.job}")
        log.raw(later + 0.5, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(later))} DUE TO TIME LIMIT ***")
        s.ended("TIMEOUT", "0:0", later + 1)
        act, act_actor = ["code.deadline"], None
    elif v == "scancel":
        s.kill(later, 1000)
        log.raw(later + 0.5, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(later))} ***")
        s.ended("CANCELLED by 1000", "0:0", later + 1)
        act_actor = ["alice", "1000", "uid 1000"]
    elif v == "set_down":
        s.ctld(later, f"update_node: node gpu07 reason set to: {'GPU hang' if stops else 'fan noise'}")
        s.ctld(later + 0.001, "update_node: node gpu07 state set to DOWN")
        s.ctld(later + 0.002, f"Killing JobId={s.job} on failed node gpu07")
        log.raw(later + 0.5, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(later))} DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***")
        s.ended("NODE_FAIL", "0:0", later + 1)
        act_actor = None
    elif v == "slurm_preempt":
        s.ctld(later, f"preempted JobId={s.job} has been killed to reclaim resources for JobId={s.job + 9}")
        log.raw(later + 0.5, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(later))} DUE TO PREEMPTION ***")
        s.ended("PREEMPTED", "0:0", later + 1)
        act, act_actor = ["sched.preempted"], None
    else:
        log.traceback(later + 0.2, *c.pick(*OWN_ERRORS))
        m.exit(later + 0.7, 1)
        act, act_actor = OWN, None
    if stops and v == "own_later":
        # Nothing for half an hour, then the program's own words: both are right.
        right = right + OWN + ["hang.no_progress"]
    elif stops:
        mild = act
    else:
        right, actor = act, act_actor
        mild = NOBODY if v == "own_later" else ["unknown"] if v == "power_cut" else []
    m.noise(5, t if v in ("power_cut", "gce_stop") else later)
    m.save()
    log.save()
    for one in (box, s):
        if one:
            one.save()
    c.expect(right, f"{kind}, steps {'stop' if stops else 'go on'}, then {v}", mild=mild, actor=actor, asked=asked)


@family("y.yearless", "own killed oom_unit reboot stop panic segv completed poweroff", 16)
def yearless(c):
    """A yearless syslog: one file, RHEL's two, Ubuntu's three, rotated; one start, or two or three of the service."""
    c.form = "syslog"
    c.system = ("u22", "el8", "el7", "u24")[c.number % 4]
    m, log = vm(c, step=4)
    starts = 1 + c.number // 4 % 3
    at = 0
    for n in range(starts - 1):
        end = at + c.between(200, 400)
        log.steps(at + 2, end)
        how = c.pick("own", "stop", "killed")
        goes_away(c, m, log, end, how)
        at = end + c.pick(12, 600, 9000)
        if at - end < 20:
            m.log(at - 0.1, "systemd", f"train.service: Scheduled restart job, restart counter is at {n + 1}." if m.system != "el7" else "train.service holdoff time over, scheduling restart.")
        m.start(at)
        m.pid += 133
        log.begin(at + 1.3, m.pid)
    t = at + c.between(600, 900)
    bystander(c, m, t - 300, c.pick("xid94", "link", "oom_other", "kill_other", "segv", "stop_other"))
    log.steps(at + 2, t)
    right, mild, actor = goes_away(c, m, log, t, c.variant)
    m.noise(5, t + 400)
    layout = c.number % 5
    log.save()
    if layout == 1 or layout == 2:
        m.save_split()
    else:
        m.save()
    if layout == 3:
        path = next(one for one in c.files if "train.log" not in one)
        lines = c.files.pop(path).splitlines(True)
        c.write(f"{path}.1", "".join(lines[:len(lines) // 2]))
        c.write(path, "".join(lines[len(lines) // 2:]))
    # A file without a year proves the order of its own lines; a guess is enough.
    c.expect(right, f"{starts} starts, then {c.variant}, in a file without years", mild=mild, actor=None)


@family("y.ubuntu", "own bare killed oom_unit reboot stop panic segv completed bare_then_xid killed_then_panic completed_then_stop own_then_reboot", 8)
def ubuntu(c):
    """Ubuntu: syslog, kern.log (the kernel's lines again), auth.log; with a journal beside it (odd)."""
    c.system, c.form = ("u22", "u24")[c.number % 2], ("rsyslog", "syslog")[c.number // 2 % 2]
    m, log = vm(c)
    t = c.between(900, 1500)
    log.steps(1, t)
    first, _, then = c.variant.partition("_then_")
    right, mild, actor = goes_away(c, m, log, t, first)
    if then:
        bystander(c, m, t + 1 + c.between(0.4, 4), {"xid": "xid79"}.get(then, then))
    m.noise(5, t + 400)
    for row in sorted(m.kept(), key=lambda row: (row[0], row[1])):
        line = m.line(*row) or ""
        auth = row[2] in ("sudo", "sshd", "su", "systemd-logind", "CRON")
        c.write(f"{m.folder}/var/log/{'auth.log' if auth else 'syslog'}", line)
        if row[2] == "kernel":
            c.write(f"{m.folder}/var/log/kern.log", line)
    if c.number % 2:
        m.form = "json"
        m.save(f"{m.folder}/journal.json")
    log.save()
    c.expect(right, f"{c.variant} in Ubuntu's files", mild=mild, actor=actor if c.form == "rsyslog" else None)


@family("y.selfdelete", "gce_completed gce_own gce_killed gce_oom gce_own_nojournal gce_completed_nojournal aws_completed aws_own aws_own_nojournal azure_completed azure_own guest_completed guest_own guest_own_nounit", 8)
def selfdelete(c):
    """`train.py; delete myself`: the machine goes by its own hand some seconds after the program ended."""
    v = c.variant
    where, what = v.split("_")[0], v.split("_")[1]
    c.form = c.form if c.form != "syslog" else "rsyslog"
    t, mild, actor = c.between(900, 1500), [], None
    gap = c.pick(1.5, 3, 8, 25)
    box, asked = None, None
    host = "gpu-07"
    if where == "gce":
        box = Gce(c, "trainer-vm-8")
        box.call(-900, "insert", "alice@lab.example", 20)
        host = asked = box.vm
    elif where == "aws":
        box = Aws(c)
        host, asked = box.dns, "exp-1"
    elif where == "azure":
        box = Azure(c, "trainer-vm-3")
        box.machine()
        host = asked = box.vm
    m = Machine(c, host, box.id if where == "aws" else host)
    m.noise(-900, 0)
    log = Train(c, f"{m.folder}/train.log", step=5)
    unit = not v.endswith("nounit")
    if unit:
        m.start(0)
    log.begin(1, m.pid)
    log.steps(1, t)
    right, mild, actor = goes_away(c, m, log, t, {"oom": "oom_unit"}.get(what, what), unit=unit)
    end = t + 1 + gap
    if where == "gce":
        box.call(end, "delete", "1234567890-compute@developer.gserviceaccount.com", 40, agent="google-cloud-sdk gcloud/531.0.0 command/gcloud.compute.instances.delete")
    elif where == "aws":
        box.trail(end, "TerminateInstances", role="trainer-instance-role")
        stamp = c.at(end).strftime("%Y-%m-%d %H:%M:%S GMT")
        box.instance(-1000, "terminated", ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"), f"User initiated ({stamp})")
    elif where == "azure":
        box.call(end, "deallocate/action", "12345678-9abc-4def-8123-456789abcdef")
    else:
        m.log(end, "startup-script", "training over, shutting down", 1300)
    if where == "guest":
        before = len(m.lines)
        down_quietly(m, end + 0.5, "poweroff")
    else:
        down_quietly(m, end + 2, "poweroff")
    m.noise(5, t)
    if not v.endswith("nojournal"):
        m.save()
    log.save()
    if box:
        box.save()
    c.expect(right, f"{what}, then the machine goes by its own hand", mild=mild, actor=None, asked=asked)


@family("y.replaced", "preempted_then_own deleted_then_running preempted_then_preempted own_then_running host_error_then_completed", 8)
def replaced(c):
    """An experiment whose machine is replaced by one of another name."""
    v = c.variant
    first, then = v.split("_then_")
    shared, t = {}, c.between(600, 900)
    one, two = Gce(c, "exp-a1"), Gce(c, "exp-b2")
    who, mild, actor = c.pick(*PEOPLE) + "@lab.example", [], None
    for g, when in ((one, -500), (two, t + 200)):
        g.entries = shared
        g.call(when, "insert", "123456789012@cloudservices.gserviceaccount.com", 20)
        for entry in shared["gcp.jsonl"][-2:]:
            entry["protoPayload"]["request"]["labels"] = [{"key": "experiment", "value": "exp-1"}]
    log = Train(c, "exp-a1/train.log", step=5)
    log.begin(1)
    log.steps(1, t)
    if first == "preempted":
        one.system(t + 1, "preempted", "Instance was preempted.")
    elif first == "deleted":
        one.call(t + 0.5, "delete", who)
    elif first == "host_error":
        one.system(t + 5, "hostError", "Instance terminated by Compute Engine.")
    else:
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        one.call(t + 60, "delete", "123456789012@cloudservices.gserviceaccount.com")
    log.save()
    log = Train(c, "exp-b2/train.log", step=5)
    log.begin(t + 260)
    log.say(t + 261, "resuming from checkpoint step=300")
    end = t + 800
    log.steps(t + 262, end)
    if then == "own":
        log.traceback(end + 0.2, *c.pick(*OWN_ERRORS))
        right = OWN
    elif then == "preempted":
        two.system(end + 1, "preempted", "Instance was preempted.")
        right = ["cloud.spot_reclaimed"]
    elif then == "completed":
        log.say(end + 0.3, "training completed, saved final checkpoint")
        right = ["none.completed"]
    else:
        right, mild = ["none.running"], ["unknown"]
    log.save()
    one.save()
    c.expect(right, v, mild=mild, actor=actor, asked="exp-1")


@family("y.gz", "own oom_unit reboot stop panic segv", 6)
def zipped(c):
    """The end is in a rotated file that is packed."""
    c.form = ("rsyslog", "short-iso", "syslog")[c.number % 3]
    m, log = vm(c)
    t = c.between(900, 1500)
    log.steps(1, t)
    right, mild, actor = goes_away(c, m, log, t, c.variant)
    m.noise(5, t + 5000)
    m.save()
    log.save()
    path = next(one for one in c.files if "train.log" not in one)
    lines = c.files.pop(path).splitlines(True)
    rows = [row for row in sorted(m.kept(), key=lambda row: (row[0], row[1])) if m.line(*row)]
    keep = sum(row[0] < t + 900 for row in rows)
    c.packed = {f"{path}-{c.at(t + 900):%Y%m%d}.gz": "".join(lines[:keep])}
    c.write(path, "".join(lines[keep:]))
    c.expect(right, f"{c.variant}, in a packed file", mild=mild, actor=actor if c.form != "syslog" else None)


def with_packed():
    plain = Case.save
    def save(self, root):
        plain(self, root)
        for path, text in getattr(self, "packed", {}).items():
            full = os.path.join(root, self.name, "input", path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with gzip.GzipFile(full, "wb", mtime=0) as out:
                out.write(text.encode())
    Case.save = save


with_packed()

LOGIN = {
    "own": ["/usr/bin/scancel {other}", "/usr/bin/scancel -u bob", "/usr/bin/scancel --signal=USR1 {job}", "/usr/bin/scontrol hold {job}", "/usr/bin/scontrol show job {job}", "/usr/bin/scontrol update JobId={job} TimeLimit=2-00:00:00", "/usr/bin/scontrol update NodeName=gpu070 State=DOWN Reason=x",
            "/usr/bin/scontrol update NodeName=gpu07 State=DRAIN Reason=fan", "/usr/bin/scontrol update NodeName=gpu07 State=RESUME", "/usr/bin/scancel {job}7", "/usr/bin/scancel {array}_3", "/usr/bin/scontrol requeue {other}", "/usr/bin/sacctmgr modify user alice set maxjobs=2", "/usr/bin/scancel -s CONT {job}", "/usr/bin/scontrol suspend {other}", "/usr/bin/systemctl restart slurmctld"],
}


@family("y.login", "own bare killed node_fail cancelled_by_uid", 16)
def login(c):
    """A sudo line of the login node seconds before: about another job, another node, or harmless."""
    s = Slurm(c, nodes="gpu07")
    j = s.job
    c.asked = str(j)
    log = Train(c, f"slurm-{j}.out", step=5)
    log.begin(2)
    t, who = c.between(900, 1500), c.pick(*PEOPLE)
    log.steps(2, t)
    m = Machine(c, "login01", form=("rsyslog", "json", "short-iso")[c.number % 3])
    m.noise(-500, t + 400)
    command = LOGIN["own"][c.number].format(job=j, other=j + 2, array=j + 40)
    m.sudo(t - c.between(0.5, 2.5), who, command)
    m.save()
    actor, mild = None, []
    if c.variant == "own":
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        right = OWN
    elif c.variant == "bare":
        s.complete(t + 1, 2)
        s.ended("FAILED", "2:0", t + 1)
        right = NOBODY
    elif c.variant == "killed":
        s.complete(t + 1, -9)
        s.ended("FAILED", "0:9", t + 1)
        right, mild = ["unknown"], ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]
    elif c.variant == "node_fail":
        s.ctld(t + 1, "error: Nodes gpu07 not responding, setting DOWN")
        s.ctld(t + 1.1, f"Killing JobId={j} on failed node gpu07")
        s.ended("NODE_FAIL", "0:0", t + 1)
        right = ["node.not_ready"]
    else:
        s.kill(t, 1000)
        log.raw(t + 0.5, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))} ***")
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        right, actor = ["ops.manual_delete"], ["alice", "1000", "uid 1000"]
    s.save()
    log.save()
    c.expect(right, f"sudo {command} on the login node, then {c.variant}", mild=mild, actor=actor)
