"""Commands that look like reboots and stops and are none; second starts that fail at once, in Slurm and in clouds; restarts by people; several volumes, users and zones."""

from kit import NOBODY, OWN, PEOPLE, family, finish, goes_away, vm
from world import Aws, Azure, Gce, Machine, OWN_ERRORS, Slurm, Train, iso

KILLED = ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]

LIKE = ("/usr/bin/systemctl start reboot-test", "/usr/bin/systemctl stop reboot-watch.service", "/opt/bin/reboot-report --all", "/usr/bin/cat /var/log/poweroff.log", "/usr/bin/touch /var/run/reboot-required", "/usr/local/bin/shutdown-notifier", "/usr/sbin/grub-reboot 1",
        "/usr/bin/systemctl list-jobs reboot.target", "/usr/bin/systemctl reboot --when=+2h", "/usr/sbin/shutdown -k now", "/usr/sbin/shutdown --show", "/usr/sbin/shutdown -r +90", "/usr/sbin/reboot --wtmp-only", "/usr/sbin/reboot -w", "/usr/sbin/kexec -l /boot/vmlinuz --reuse-cmdline",
        "/usr/sbin/telinit q", "/usr/bin/wall rebooting tonight", "/usr/bin/at -f /opt/bin/reboot.sh now + 2 hours", "/usr/bin/systemctl stop train@2", "/usr/bin/systemctl stop trainer", "/usr/bin/systemctl set-property train CPUQuota=800%", "/usr/bin/systemctl disable train", "/usr/bin/systemctl mask reboot.target",
        "/usr/bin/systemctl stop systemd-reboot.service", "/usr/bin/systemctl is-active train", "/usr/bin/systemctl reset-failed train", "/usr/bin/systemctl stop gpu-07-train-exporter", "/usr/bin/last -x reboot", "/usr/sbin/ipmitool chassis power status", "/usr/bin/man reboot", "/usr/bin/which poweroff",
        "/usr/bin/systemctl stop --user train", "/usr/bin/nvidia-smi drain -p 0000:9b:00.0 -m 0", "/usr/bin/systemctl cancel", "/usr/bin/docker stop train-old", "/usr/bin/kubectl delete pod train-0", "/usr/bin/echo reboot", "/usr/bin/visudo -f /etc/sudoers.d/reboot")


@family("n.like", "killed bare term own oom_unit running", len(LIKE))
def like(c):
    """A command with 'reboot', 'stop' or 'poweroff' in it that ends nothing here; 0.4–20 s later the run ends, or does not. The journal goes on for an hour."""
    m, log = vm(c)
    t, who, v = c.between(900, 1500), c.pick(*PEOPLE), c.variant
    last = log.steps(1, t)
    m.sudo(t - c.pick(0.4, 1.5, 6, 20), who, LIKE[c.number])
    until = 3600
    if v == "term":
        m.exit(t + 0.4, -15)
        right, mild, actor = ["unknown"], ["ops.manual_delete", "code.exception"], None
    elif v == "running":
        last = log.steps(t, t + 60)
        right, mild, actor, until = ["none.running"], ["unknown"], None, last + 3
    else:
        right, mild, actor = goes_away(c, m, log, t, v)
    c.expect(right, f"{LIKE[c.number]}, then {v}", mild=mild, actor=actor)
    finish(c, m, log, until)


def fails_at_start(c, log, at, pid=None):
    """The second start: it says hello and fails before a step."""
    log.begin(at, pid)
    log.say(at + 1, "resuming from checkpoint /ckpt/latest")
    log.traceback(at + 20, *c.pick(("RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory", "    state = torch.load(path)"), ("RuntimeError: Error(s) in loading state_dict for GPT: size mismatch for wte.weight", "    model.load_state_dict(state)"), *OWN_ERRORS))


@family("n.again_slurm", "preempted node_fail requeued_user own_twice_differs preempted_then_oom_at_load preempted_then_module_missing", 10)
def again_slurm(c):
    """Requeued, and the second start fails before its first step for a reason of its own."""
    s = Slurm(c)
    j = s.job
    c.asked = str(j)
    log = Train(c, f"slurm-{j}.out")
    log.begin(2)
    t, v, mild = c.between(700, 1200), c.variant, []
    log.steps(2, t)
    why, state = {"preempted": ("PREEMPTION", "PREEMPTED"), "node": ("NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS", "NODE_FAIL"), "requeued": ("JOB REQUEUE", "REQUEUED"), "own": ("", "FAILED")}[v.split("_")[0]]
    if v == "own_twice_differs":
        log.traceback(t + 0.2, *OWN_ERRORS[0])
        s.ctld(t + 1, f"_job_complete: requeue JobId={j} per user/system request")
        s.ended("REQUEUED", "1:0", t + 1)
    else:
        if state == "PREEMPTED":
            s.ctld(t, f"preempted JobId={j} has been requeued to reclaim resources for JobId={j + 9}")
        elif state == "NODE_FAIL":
            s.ctld(t, f"requeue job JobId={j} due to failure of node gpu07")
        log.raw(t + 0.5, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(t))} DUE TO {why} ***")
        s.ended(state, "0:0", t + 1)
    again = t + c.between(100, 900)
    s.ctld(again, f"sched: Allocate JobId={j} NodeList=gpu09 #CPUs=128 Partition=gpu")
    right = OWN + ["code.config_or_input", "dep.storage"]
    code = "1:0"
    if v == "preempted_then_oom_at_load":
        log.begin(again + 2)
        log.raw(again + 30, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.batch. Some of the step tasks have been OOM Killed.")
        right = ["code.host_oom"]
        code = "0:125"
        s.ctld(again + 31, f"_job_complete: JobId={j} OOM failure")
    elif v == "preempted_then_module_missing":
        log.raw(again + 2, "Lmod has detected the following error: The following module(s) are unknown: \"cuda/12.4\"\n/var/spool/slurmd/job%d/slurm_script: line 9: python3: command not found" % j)
        s.complete(again + 3, 127)
        code = "127:0"
    else:
        fails_at_start(c, log, again + 2)
        s.complete(again + 31, 1)
    end = again + 31
    s.account("OUT_OF_MEMORY" if code == "0:125" else "FAILED", code, again, end, [("batch", "OUT_OF_MEMORY" if code == "0:125" else "FAILED", code)], nodes="gpu09")
    c.expect(right, f"a second start fails at once: {v}", mild=mild)
    s.save(controller=c.number % 3 != 1, accounting=c.number % 3 != 2)
    log.save()


@family("n.again_cloud", "gce_reset_person gce_host_error aws_reboot_person azure_restart_person azure_redeploy guest_reboot_person guest_panic gce_stop_start aws_stop_start", 10)
def again_cloud(c):
    """The machine comes back, its service starts again and fails before its first step: that is the end to be told."""
    v, who = c.variant, c.pick(*PEOPLE)
    kind = {"guest": "gce"}.get(v.split("_")[0], v.split("_")[0])
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c)
    name = cloud.vm if kind != "aws" else cloud.id
    m = Machine(c, cloud.dns if kind == "aws" else name, name, form=c.form if c.form != "syslog" else "rsyslog")
    log = Train(c, f"{name}/train.log")
    m.noise(-800, 0)
    m.start(0)
    log.begin(1, m.pid)
    t = c.between(700, 1200)
    log.steps(1, t)
    back = t + c.between(120, 400)
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
    elif kind == "aws":
        cloud.instance(-900)
    else:
        cloud.machine()
    if v == "gce_reset_person":
        cloud.call(t + 0.5, "reset", who + "@lab.example", 3)
        m.dies(t + 1)
    elif v == "gce_host_error":
        m.dies(t)
        cloud.system(t + 8, "hostError", "Instance terminated by Compute Engine.")
        cloud.system(t + 60, "automaticRestart", "Instance automatically restarted by Compute Engine.")
    elif v in ("gce_stop_start", "aws_stop_start"):
        m.goes_down(t + 1, "poweroff")
        if kind == "gce":
            cloud.call(t + 0.5, "stop", who + "@lab.example", 30)
            cloud.call(back - 30, "start", who + "@lab.example", 10)
        else:
            cloud.trail(t + 0.5, "StopInstances", who)
            cloud.state(t + 1, "stopping")
            cloud.state(t + 30, "stopped")
            cloud.trail(back - 30, "StartInstances", who)
            cloud.state(back - 29, "pending")
            cloud.state(back - 20, "running")
    elif v == "aws_reboot_person":
        cloud.trail(t + 0.5, "RebootInstances", who)
        m.goes_down(t + 1)
    elif v == "azure_restart_person":
        cloud.call(t + 0.5, "restart/action", who + "@lab.example")
        m.goes_down(t + 1)
    elif v == "azure_redeploy":
        cloud.scheduled(t, "Redeploy", "Started")
        m.dies(t + 1)
    elif v == "guest_reboot_person":
        m.sudo(t + 0.2, who, "/usr/sbin/reboot")
        m.goes_down(t + 1)
    else:
        m.kernel(t + 0.2, "Kernel panic - not syncing: Fatal exception")
    m.boots(back)
    m.pid = c.rng.randrange(1200, 2900)
    m.start(back + 20)
    fails_at_start(c, log, back + 22, m.pid)
    m.exit(back + 43, 1)
    m.noise(5, back + 1500)
    m.save()
    log.save()
    cloud.save()
    c.expect(OWN + ["code.config_or_input", "dep.storage"], f"back after {v}, and fails at its start", asked=name if kind != "aws" else "exp-1")


@family("n.by_hand", "restart_then_fails restart_then_running stop_edit_start_fails stop_start_completed kill_start_own restart_other_then_fails reset_failed_start_running", 10)
def by_hand(c):
    """A person restarts the service: the second start is what is to be told."""
    m, log = vm(c)
    t, v, who, mild, actor = c.between(700, 1200), c.variant, c.pick(*PEOPLE), [], None
    log.steps(1, t)
    until = 4000
    if v == "kill_start_own":
        m.sudo(t + 0.2, who, f"/usr/bin/kill -9 {m.pid}")
        m.exit(t + 0.4, -9)
    elif v == "restart_other_then_fails":
        log.traceback(t + 0.2, *OWN_ERRORS[0])
        m.exit(t + 0.8, 1)
    elif v == "reset_failed_start_running":
        log.traceback(t + 0.2, *OWN_ERRORS[0])
        m.exit(t + 0.8, 1)
        m.sudo(t + 40, who, "/usr/bin/systemctl reset-failed train")
    else:
        m.sudo(t + 0.2, who, f"/usr/bin/systemctl {'restart' if v.startswith('restart') else 'stop'} train")
        m.stop(t + 0.4)
    back = t + (2 if v.startswith("restart_then") else c.between(60, 500))
    if not v.startswith("restart_then"):
        m.sudo(back - 0.3, who, "/usr/bin/systemctl restart train" if v == "restart_other_then_fails" else "/usr/bin/systemctl start train")
    m.pid += 200
    m.start(back)
    right = OWN + ["code.config_or_input", "dep.storage"]
    if v in ("restart_then_fails", "stop_edit_start_fails", "restart_other_then_fails"):
        fails_at_start(c, log, back + 1, m.pid)
        m.exit(back + 22, 1)
    else:
        log.begin(back + 1, m.pid)
        last = log.steps(back + 2, back + 400)
        if v in ("restart_then_running", "reset_failed_start_running"):
            right, mild, until = ["none.running"], ["unknown"], last + 3
        else:
            right, mild, actor = goes_away(c, m, log, back + 401, "completed" if v.endswith("completed") else "own")
    c.expect(right, f"restarted by hand: {v}", mild=mild, actor=actor)
    finish(c, m, log, until)


@family("n.quiet_end", "unit_success_no_words exit0_before_stop success_then_poweroff success_then_vm_deleted", 10)
def quiet_end(c):
    """The program says nothing at its end; systemd says that the unit ended well (status 0). Later somebody stops or deletes what is left."""
    v, who = c.variant, c.pick(*PEOPLE)
    c.system = c.pick("u22", "u24", "el8", "el9")
    if v == "success_then_vm_deleted":
        g = Gce(c)
        m = Machine(c, g.vm, g.vm, form=c.form if c.form != "syslog" else "rsyslog")
        log = Train(c, f"{g.vm}/train.log")
        m.noise(-800, 0)
        m.start(0)
        log.begin(1, m.pid)
        g.call(-900, "insert", "alice@lab.example", 20)
        c.asked = g.vm
    else:
        m, log = vm(c)
    t = c.between(900, 1500)
    log.steps(1, t)
    m.log(t + 1.5, "systemd", "train.service: Succeeded." if m.system in ("u22", "el8") else "train.service: Deactivated successfully.")
    m.log(t + 1.6, "systemd", "train.service: Consumed 3h 12min 41.214s CPU time.")
    late, until = t + c.between(60, 900), t + 3000
    if v == "exit0_before_stop":
        m.sudo(late, who, "/usr/bin/systemctl stop train")
    elif v == "success_then_poweroff":
        m.sudo(late, who, "/usr/sbin/poweroff")
        m.log(late + 1, "systemd-logind", "System is powering down.")
        m.log(late + 3, "systemd", "Reached target System Power Off.")
        m.dies(late + 4)
        until = late + 4
    elif v == "success_then_vm_deleted":
        g.call(late, "delete", who + "@lab.example")
        m.dies(late + 1)
        g.save()
        until = late
    m.noise(5, until)
    m.save()
    log.save()
    c.expect(["none.completed", "unknown"], f"ended well without a word: {v}", mild=["none.running"], asked=c.asked)
