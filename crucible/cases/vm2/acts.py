"""Two people act, one after the other; pictures that are older than what happened."""

import json

from kit import NOBODY, OWN, PEOPLE, bystander, down_quietly, family, finish, goes_away, vm
from world import Aws, Azure, Case, Gce, Machine, OWN_ERRORS, Slurm, Train, iso


@family("z.two_acts", "stop_then_kill term_ignored_then_kill9 scheduled_then_reboot_now scheduled_cancelled_then_reboot stop_then_poweroff stop_start_then_reboot gce_stop_then_delete gce_failed_then_other azure_restart_then_deallocate guest_poweroff_then_gce_delete scancel_twice "
        "usr1_then_kill refused_then_allowed status_then_stop kill_other_then_kill_own aws_stop_then_terminate", 8)
def two_acts(c):
    v = c.variant
    c.form = c.form if c.form != "syslog" else "rsyslog"
    one, two = c.rng.sample(PEOPLE, 2)
    t, mild, asked, box, s = c.between(900, 1500), [], None, None, None
    host = "gpu-07"
    if v.startswith("gce") or v.endswith("gce_delete"):
        box = Gce(c, "trainer-vm-8")
        box.call(-900, "insert", "alice@lab.example", 20)
        host = asked = box.vm
    elif v.startswith("azure"):
        box = Azure(c, "trainer-vm-3")
        box.machine()
        host = asked = box.vm
    elif v.startswith("aws"):
        box = Aws(c)
        host, asked = box.dns, "exp-1"
    m = Machine(c, host, box.id if v.startswith("aws") else host)
    m.noise(-900, 0)
    if v == "scancel_twice":
        s = Slurm(c, nodes="gpu-07")
        asked = str(s.job)
        log = Train(c, f"slurm-{s.job}.out", step=5)
    else:
        log = Train(c, f"{m.folder}/train.log", step=5)
        m.start(0)
    log.begin(1, m.pid)
    right, actor = ["ops.manual_delete"], [one]
    if v == "stop_then_kill":
        # The program takes no notice of SIGTERM; 30 s later another loses patience.
        log.steps(1, t)
        m.sudo(t + 0.2, one, "/usr/bin/systemctl stop train")
        m.log(t + 0.4, "systemd", f"Stopping {m.named('train', 'LLM training')}...")
        m.sudo(t + 30, two, f"/usr/bin/kill -9 {m.pid}")
        m.exit(t + 30.2, -9)
        actor = [one, two]
    elif v == "term_ignored_then_kill9":
        log.steps(1, t)
        m.sudo(t - 60, one, f"/usr/bin/kill -TERM {m.pid}")
        m.sudo(t + 0.2, two, f"/usr/bin/kill -9 {m.pid}")
        m.exit(t + 0.4, -9)
        actor = [one, two]
    elif v in ("scheduled_then_reboot_now", "scheduled_cancelled_then_reboot"):
        log.steps(1, t)
        m.sudo(t - 100, one, "/usr/sbin/shutdown -r +20")
        if v.startswith("scheduled_cancelled"):
            m.sudo(t - 60, one, "/usr/sbin/shutdown -c")
        m.sudo(t + 0.2, two, "/usr/sbin/reboot")
        m.goes_down(t + 1.4)
        m.boots(t + 90)
        right, actor = ["node.reboot"], [two]
    elif v == "stop_then_poweroff":
        log.steps(1, t)
        m.sudo(t + 0.2, one, "/usr/bin/systemctl stop train")
        m.stop(t + 0.4)
        m.sudo(t + c.between(4, 20), two, "/usr/sbin/poweroff")
        down_quietly(m, t + 21, "poweroff")
    elif v == "stop_start_then_reboot":
        log.steps(1, t - 400)
        m.sudo(t - 399, one, "/usr/bin/systemctl restart train")
        m.stop(t - 398.8)
        m.start(t - 397)
        log.begin(t - 395, m.pid + 50)
        log.steps(t - 394, t)
        m.sudo(t + 0.2, two, "/usr/sbin/reboot")
        m.goes_down(t + 1.4)
        m.boots(t + 90)
        right, actor = ["node.reboot"], [two]
    elif v == "gce_stop_then_delete":
        log.steps(1, t)
        box.call(t + 0.3, "stop", one + "@lab.example", 40)
        box.call(t + c.between(8, 60), "delete", two + "@lab.example", 40)
        m.dies(t + 1)
        actor = [one + "@lab.example"]
    elif v == "gce_failed_then_other":
        log.steps(1, t)
        box.call(t - 10, "delete", one + "@lab.example", 2, error={"code": 7, "message": "Required 'compute.instances.delete' permission"})
        box.call(t + 0.3, "stop", two + "@lab.example", 40)
        m.dies(t + 1)
        actor = [two + "@lab.example"]
    elif v == "azure_restart_then_deallocate":
        log.steps(1, t)
        box.call(t + 0.3, "restart/action", one + "@lab.example")
        m.dies(t + 1)
        m.boots(t + 70)
        box.call(t + 300, "deallocate/action", two + "@lab.example")
        actor = [one + "@lab.example"]
    elif v == "guest_poweroff_then_gce_delete":
        log.steps(1, t)
        m.sudo(t + 0.2, one, "/usr/sbin/poweroff")
        m.goes_down(t + 1, "poweroff")
        box.system(t + 25, "guestTerminate", "Guest OS-initiated instance termination.")
        box.call(t + c.between(60, 300), "delete", two + "@lab.example")
        right = ["node.shutdown", "ops.manual_delete"]
    elif v == "scancel_twice":
        log.steps(1, t)
        s.kill(t, 1000)
        s.kill(t + 20, 0)
        log.raw(t + 0.5, f"slurmstepd: error: *** JOB {s.job} ON gpu-07 CANCELLED AT {iso(c.at(t))} ***")
        s.ended("CANCELLED by 1000", "0:0", t + 31)
        actor = ["alice", "1000", "uid 1000"]
    elif v == "usr1_then_kill":
        log.steps(1, t)
        m.sudo(t - 30, one, f"/usr/bin/kill -USR1 {m.pid}")
        m.sudo(t + 0.2, two, f"/usr/bin/kill -9 {m.pid}")
        m.exit(t + 0.4, -9)
        actor = [two]
    elif v == "refused_then_allowed":
        log.steps(1, t)
        m.sudo(t - 20, one, "/usr/sbin/reboot", refused=True)
        m.sudo(t + 0.2, two, "/usr/sbin/reboot")
        m.goes_down(t + 1.4)
        m.boots(t + 90)
        right, actor = ["node.reboot"], [two]
    elif v == "status_then_stop":
        log.steps(1, t)
        m.sudo(t - 4, one, "/usr/bin/systemctl status train")
        m.sudo(t + 0.2, two, "/usr/bin/systemctl stop train")
        m.stop(t + 0.4)
        actor = [two]
    elif v == "kill_other_then_kill_own":
        log.steps(1, t)
        m.sudo(t - 3, one, f"/usr/bin/kill -9 {m.pid + 333}")
        m.sudo(t + 0.2, two, f"/usr/bin/kill -9 {m.pid}")
        m.exit(t + 0.4, -9)
        actor = [two]
    else:
        log.steps(1, t)
        box.trail(t + 0.4, "StopInstances", one)
        box.trail(t + c.between(20, 100), "TerminateInstances", two)
        stamp = c.at(t + 90).strftime("%Y-%m-%d %H:%M:%S GMT")
        box.instance(-1000, "terminated", ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"), f"User initiated ({stamp})")
        m.dies(t + 1.4)
    m.noise(5, t)
    m.save()
    log.save()
    for part in (box, s):
        if part:
            part.save()
    c.expect(right, v, mild=mild, actor=actor, asked=asked)


@family("z.stale", "slurm_failed slurm_cancelled slurm_node_fail slurm_completed aws_terminated azure_deallocated docker_own docker_oom docker_stop vms_running_own", 8)
def stale(c):
    """A list that was printed while the run still ran, beside records of its end."""
    v = c.variant
    c.form = c.form if c.form != "syslog" else "rsyslog"
    t, who, mild, actor, asked, box = c.between(900, 1500), c.pick(*PEOPLE), [], None, None, None
    if v.startswith("slurm"):
        s = Slurm(c, nodes="gpu07")
        asked = str(s.job)
        log = Train(c, f"slurm-{s.job}.out", step=5)
        log.begin(2)
        log.steps(2, t)
        s.account("RUNNING", "0:0", 0, None, [("batch", "RUNNING", "0:0")])
        if v == "slurm_failed":
            log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
            s.complete(t + 1, 1)
            right = OWN
        elif v == "slurm_cancelled":
            s.kill(t, 2000)
            log.raw(t + 0.5, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(t))} ***")
            right, actor = ["ops.manual_delete"], ["2000", "uid 2000"]
        elif v == "slurm_node_fail":
            s.ctld(t + 300, "error: Nodes gpu07 not responding, setting DOWN")
            s.ctld(t + 300.1, f"Killing JobId={s.job} on failed node gpu07")
            right = ["node.not_ready"]
        else:
            log.say(t, "training completed, saved final checkpoint")
            s.complete(t + 1, 0)
            right = ["none.completed"]
        s.save()
        log.save()
        c.expect(right, v, mild=mild, actor=actor, asked=asked)
        return
    host = "gpu-07"
    if v.startswith("aws"):
        box = Aws(c)
        host, asked = box.dns, "exp-1"
    elif v.startswith(("azure", "vms")):
        box = Azure(c, "trainer-vm-3")
        box.machine()
        host = asked = box.vm
    m = Machine(c, host, box.id if v.startswith("aws") else host)
    m.noise(-900, 0)
    log = Train(c, f"{m.folder}/train.log", step=5)
    if not v.startswith("docker"):
        m.start(0)
    log.begin(1, m.pid)
    log.steps(1, t)
    cid = f"{c.rng.getrandbits(256):064x}"
    if v.startswith("docker"):
        c.write(f"{m.folder}/docker-inspect.json", json.dumps([{"Id": cid, "Created": iso(c.at(-1), 6) + "Z", "Path": "python3", "Args": ["train.py"], "Name": "/train", "RestartCount": 0,
                "State": {"Status": "running", "Running": True, "OOMKilled": False, "Dead": False, "Pid": m.pid, "ExitCode": 0, "Error": "", "StartedAt": iso(c.at(0), 6) + "Z", "FinishedAt": "0001-01-01T00:00:00Z"},
                "HostConfig": {"RestartPolicy": {"Name": "no", "MaximumRetryCount": 0}, "Memory": 0}, "Config": {"Hostname": m.host, "Image": "lab/train:2.3"}}], indent=1))
    if v in ("docker_own", "vms_running_own"):
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        if v.startswith("vms"):
            m.exit(t + 0.7, 1)
        right = OWN
    elif v == "docker_oom":
        g = f"/system.slice/docker-{cid}.scope"
        m.oom(t + 0.2, "python3", m.pid, g, g)
        right, mild = ["code.host_oom"], ["none.running", "unknown", "node.system_oom"]
    elif v == "docker_stop":
        m.sudo(t + 0.2, who, "/usr/bin/docker stop train")
        right, mild = ["ops.manual_delete"], ["none.running", "unknown"]
    elif v == "aws_terminated":
        box.instance(-1000)
        box.trail(t + 0.5, "TerminateInstances", who)
        m.dies(t + 1.5)
        right, actor = ["ops.manual_delete"], [who]
    else:
        box.call(t + 0.5, "deallocate/action", who + "@lab.example")
        m.dies(t + 1.5)
        right, actor = ["ops.manual_delete"], [who + "@lab.example"]
    m.noise(5, t + 200 if not v.endswith(("terminated", "deallocated")) else t)
    m.save()
    log.save()
    if box:
        box.save()
    c.expect(right, v, mild=mild, actor=actor, asked=asked)
