"""Ends in a framework's own words and what is tidied up after them; logs of several days; acts after which the run goes on; units that cannot start or will not stop; NCCL's words; pools of processes."""

from kit import NOBODY, OWN, PEOPLE, family, finish, goes_away, vm
from world import Aws, Azure, Gce, Machine, OWN_ERRORS, Slurm, Train, iso

KILLED = ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]

DONE = (
    "Finished Training", "Training completed in 3:12:01", "done training in 41212.0 seconds", "[after training is done] datetime: {stamp} ", "{'train_runtime': 1203.2, 'train_samples_per_second': 71.2, 'train_steps_per_second': 1.1, 'train_loss': 1.72, 'epoch': 3.0}",
    "`Trainer.fit` stopped: `max_epochs=3` reached.", "Total training time: 3:12:01", "Training complete. Best val loss 1.71 at step 4800.", "All epochs finished, exiting.", "Model saved to /ckpt/final. Done.", "100%|██████████| 5000/5000 [3:12:01<00:00,  2.30s/it]",
    "Training is done. Exiting.", "Reached max_steps=5000, stopping.", "run finished successfully", "Done!", "Job finished: exit code 0",
)


@family("n.done_words", "gce_delete_owner aws_terminate_owner azure_deallocate_owner service_stop_later reboot_later nothing preempted_later scale_in_later", len(DONE))
def done_words(c):
    """The run is done and says so in the words of its framework; ten minutes later its machine is deleted, as is usual."""
    v = c.variant
    kind = v.split("_")[0] if v.split("_")[0] in ("gce", "aws", "azure") else {"preempted": "gce", "scale": "aws"}.get(v.split("_")[0], "vm")
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c) if kind != "vm" else None
    name = "gpu-07" if not cloud else cloud.vm if kind != "aws" else cloud.id
    m = Machine(c, cloud.dns if kind == "aws" else name, name, form=c.form if c.form != "syslog" else "rsyslog")
    log = Train(c, f"{name}/train.log", step=5)
    m.noise(-800, 0)
    log.begin(1, m.pid)
    t = c.between(900, 1500)
    log.steps(1, t)
    log.raw(t + 2, DONE[c.number].replace("{stamp}", f"{c.at(t + 2):%Y-%m-%d %H:%M:%S}"))
    late = t + c.between(300, 1500)
    asked, until = "train.log", late
    if cloud:
        asked = name if kind != "aws" else "exp-1"
        if kind == "gce":
            cloud.call(-900, "insert", "alice@lab.example", 20)
            cloud.call(late, "delete", "alice@lab.example") if v == "gce_delete_owner" else cloud.system(late, "preempted", "Instance was preempted.")
        elif kind == "aws":
            cloud.instance(-900, group="train-asg" if v.startswith("scale") else None)
            if v.startswith("scale"):
                cloud.activity(late, f"At {cloud.z(late)} a user request update of AutoScalingGroup constraints to min: 0, max: 4, desired: 0 changing the desired capacity from 1 to 0.  At {cloud.z(late)} an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 1 to 0.  At {cloud.z(late)} instance {cloud.id} was selected for termination.")
            else:
                cloud.trail(late, "TerminateInstances", "alice")
            cloud.state(late + 1, "shutting-down")
        else:
            cloud.machine()
            cloud.call(late, "deallocate/action", "alice@lab.example")
        m.dies(late + 1)
        cloud.save()
    elif v == "service_stop_later":
        m.sudo(late, c.pick(*PEOPLE), "/usr/bin/systemctl stop train")
        until = late + 300
    elif v == "reboot_later":
        m.sudo(late, c.pick(*PEOPLE), "/usr/sbin/reboot")
        m.log(late + 1, "systemd-logind", "System is rebooting.")
        m.boots(late + 100)
        until = late + 600
    m.noise(5, until)
    m.save()
    log.save()
    c.expect(["none.completed"], f"'{DONE[c.number]}', then {v}", mild=["none.running", "unknown", "ops.manual_delete", "node.reboot", "cloud.spot_reclaimed", "cloud.instance_terminated", "ops.scale_down", "hang.no_progress"], asked=asked)


@family("n.dated_logs", "a_oom_b_own a_stopped_b_own a_own_b_running a_reboot_b_completed ask_old_after_stop_of_new ask_old_after_oom_of_new ask_old_completed_new_killed", 10)
def dated(c):
    """One service, a log a start: train-DATE_TIME.log. What befell one start is not the other's."""
    m = Machine(c, "gpu-07")
    m.noise(-900, 0)
    v, who, mild, actor = c.variant, c.pick(*PEOPLE), [], None
    t1, start = c.between(500, 900), c.between(1800, 4000)
    t2 = start + c.between(500, 900)
    name = lambda at: f"train-{c.at(at):%Y%m%d_%H%M%S}.log"
    a, b = Train(c, f"gpu-07/{name(0)}"), Train(c, f"gpu-07/{name(start)}")
    m.start(0)
    a.begin(1, m.pid)
    a.steps(1, t1)
    first, second = {"a_oom_b_own": ("oom_unit", "own"), "a_stopped_b_own": ("stop", "own"), "a_own_b_running": ("own", "running"), "a_reboot_b_completed": ("reboot", "completed"), "ask_old_after_stop_of_new": ("own", "stop"), "ask_old_after_oom_of_new": ("bare", "oom_unit"), "ask_old_completed_new_killed": ("completed", "killed")}[v]
    one = goes_away(c, m, a, t1, first)
    m.pid += 500
    m.start(start)
    b.begin(start + 1, m.pid)
    last = b.steps(start + 1, t2)
    until = t2 + 2500
    if second == "running":
        two, until = (["none.running"], ["unknown"], None), last + 3
    else:
        two = goes_away(c, m, b, t2, second)
    (right, mild, actor), asked = (one, name(0)) if v.startswith("ask_old") else (two, name(start))
    m.noise(5, until)
    m.save()
    a.save()
    b.save()
    c.expect(right, f"a log a start: {v}", mild=mild, actor=actor, asked=asked)


@family("n.goes_on", "gce_stop aws_terminate azure_deallocate gce_preempted aws_state gce_delete_first_only azure_started_only slurm_cancel_other_cluster", 8)
def goes_on(c):
    """An act told of this machine, after which the program steps on for ten minutes: it was not done, or to another. Then its own end."""
    v, who = c.variant, c.pick(*PEOPLE)
    kind = v.split("_")[0]
    t = c.between(1500, 2200)
    early = t - c.between(500, 900)
    if kind == "slurm":
        s = Slurm(c)
        c.asked = str(s.job)
        log = Train(c, f"slurm-{s.job}.out")
        log.begin(2)
        log.steps(2, t)
        s.kill(early, 2000)  # of a namesake's number, or a mere signal
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        s.save()
        log.save()
        c.expect(OWN, "a request, then steps, then its own end")
        return
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c)
    name = cloud.vm if kind != "aws" else cloud.id
    m = Machine(c, cloud.dns if kind == "aws" else name, name, form=c.form if c.form != "syslog" else "rsyslog")
    log = Train(c, f"{name}/train.log", step=5)
    m.noise(-800, 0)
    m.start(0)
    log.begin(1, m.pid)
    log.steps(1, t)
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
        if v == "gce_preempted":
            cloud.system(early, "preempted", "Instance was preempted.")
        else:
            cloud.call(early, "stop" if v == "gce_stop" else "delete", who + "@lab.example")
            if v == "gce_delete_first_only":
                cloud.entries["gcp.jsonl"].pop()
    elif kind == "aws":
        cloud.instance(-900)
        cloud.trail(early, "TerminateInstances", who) if v == "aws_terminate" else None
        cloud.state(early + 1, "shutting-down")
    else:
        cloud.machine()
        cloud.call(early, "deallocate/action", who + "@lab.example")
        if v == "azure_started_only":
            cloud.entries[cloud.where] = cloud.entries[cloud.where][:-2]
    right, mild, actor = goes_away(c, m, log, t, c.pick("own", "oom_unit", "segv"))
    m.noise(5, t + 600)
    m.save()
    log.save()
    cloud.save()
    c.expect(right + ["unknown"], f"an act ({v}), then ten minutes of steps, then its own end", mild=mild, actor=actor, asked=name if kind != "aws" else "exp-1")


START = {"exec": ("Failed at step EXEC spawning /home/alice/train.sh: No such file or directory", 203, "EXEC", ["code.config_or_input"]), "chdir": ("Changing to the requested working directory failed: No such file or directory", 200, "CHDIR", ["code.config_or_input"]), "user": ("Failed to determine user credentials: No such process", 217, "USER", ["code.config_or_input"]),
         "pre": (None, 1, "FAILURE", ["code.config_or_input", "code.exception", "unknown", "node.launch_failed"]), "env": ("Failed to load environment files: No such file or directory", None, "resources", ["code.config_or_input"]), "limit": (None, 1, "start-limit-hit", NOBODY), "dependency": (None, None, "dependency", ["unknown", "dep.storage", "dep.volume", "node.launch_failed", "code.config_or_input"])}


@family("n.start_fail", " ".join(START) + " exec_after_good_run limit_after_good_run", 8)
def start_fail(c):
    """The service cannot be started; the log is of the run before, or has only its first lines."""
    m = Machine(c, "gpu-07", system=c.pick("u22", "u24", "el8", "el9"))
    m.noise(-900, 0)
    log = Train(c, "gpu-07/train.log")
    v, who = c.variant.split("_")[0], c.pick(*PEOPLE)
    said, code, word, right = START[v]
    t = c.between(600, 1200)
    right = list(right) + ["unknown"]
    if c.variant.endswith("good_run"):
        m.start(0)
        log.begin(1, m.pid)
        log.steps(1, t - 100)
        log.say(t - 99, "training completed, saved final checkpoint")
        m.log(t - 98, "systemd", "train.service: Succeeded." if m.system in ("u22", "el8") else "train.service: Deactivated successfully.")
        right = ["none.completed"] + right
    else:
        log.begin(t + 0.1)
    m.sudo(t, who, "/usr/bin/systemctl start train")
    if v == "dependency":
        m.log(t + 0.1, "systemd", "data.mount: Mount process exited, code=exited, status=32/n/a")
        m.log(t + 0.2, "systemd", f"Dependency failed for {m.named('train', 'LLM training')}.")
        m.log(t + 0.3, "systemd", "train.service: Job train.service/start failed with result 'dependency'.")
    else:
        for k in range(5 if v == "limit" else 1):
            at = t + 0.1 + k * 1.5
            if said:
                m.log(at, "systemd" if v == "env" else "(train.sh)", f"train.service: {said}")
            if code is not None:
                m.log(at + 0.1, "systemd", f"train.service: {'Control process' if v == 'pre' else 'Main process'} exited, code=exited, status={code}/{word if v != 'limit' else 'FAILURE'}")
            m.log(at + 0.2, "systemd", f"train.service: Failed with result '{'resources' if v == 'env' else 'exit-code'}'.")
            if v == "limit" and k < 4:
                m.log(at + 0.4, "systemd", f"train.service: Scheduled restart job, restart counter is at {k + 1}.")
        if v == "limit":
            m.log(t + 8, "systemd", "train.service: Start request repeated too quickly.")
            m.log(t + 8.1, "systemd", "train.service: Failed with result 'start-limit-hit'." if m.system == "u22" else "train.service: Failed with result 'exit-code'.")
        m.log(t + 8.2, "systemd", f"Failed to start {m.named('train', 'LLM training')}.")
    m.noise(5, 3000)
    m.save()
    log.save()
    c.expect(right, f"it cannot start: {c.variant}", mild=["code.exception", "none.running"])


@family("n.stop_timeout", "stop reboot restart_person runtime_max kill_then_stop stop_other_timeout poweroff", 10)
def stop_timeout(c):
    """Asked to stop, the program does not go within 90 s: systemd kills it, result 'timeout'. Whoever asked did it; no limit of its own was reached."""
    m, log = vm(c, step=5)
    t, v, who, mild, actor = c.between(900, 1500), c.variant, c.pick(*PEOPLE), [], None
    log.steps(1, t)
    until = 4000
    def dragged(at):
        m.log(at, "systemd", f"Stopping {m.named('train', 'LLM training')}...")
        log.steps(at, at + 88) if c.number % 2 else None
        old = m.system == "el7"
        m.log(at + 90, "systemd", "train.service stop-sigterm timed out. Killing." if old else "train.service: State 'stop-sigterm' timed out. Killing.")
        if not old:
            m.log(at + 90.1, "systemd", f"train.service: Killing process {m.pid} (python3) with signal SIGKILL.")
        m.exit(at + 90.4, -9, result="timeout")
        m.log(at + 90.6, "systemd", f"Stopped {m.named('train', 'LLM training')}.")
    if v == "stop":
        m.sudo(t + 0.1, who, "/usr/bin/systemctl stop train")
        dragged(t + 0.3)
        right, actor = ["ops.manual_delete"], [who]
    elif v in ("reboot", "poweroff"):
        m.sudo(t + 0.1, who, f"/usr/sbin/{v}")
        m.log(t + 0.4, "systemd-logind", "System is rebooting." if v == "reboot" else "System is powering down.")
        dragged(t + 0.6)
        m.log(t + 93, "systemd", "Reached target System Reboot." if v == "reboot" else "Reached target System Power Off.")
        m.log(t + 93.2, "systemd-journald", "Journal stopped")
        m.dies(t + 94)
        m.boots(t + (200 if v == "reboot" else 900))
        right, actor = (["node.reboot"] if v == "reboot" else ["node.shutdown", "ops.manual_delete"]), [who]
    elif v == "restart_person":
        m.sudo(t + 0.1, who, "/usr/bin/systemctl restart train")
        dragged(t + 0.3)
        m.start(t + 91.2)
        log.begin(t + 93, m.pid + 90)
        last = log.steps(t + 93, t + 500)
        right, mild, until = ["none.running"], ["unknown"], last + 3
    elif v == "runtime_max":
        m.log(t + 0.2, "systemd", "train.service: Service reached runtime time limit. Stopping.")
        dragged(t + 0.3)
        right = ["code.deadline"]
    elif v == "kill_then_stop":
        # Somebody asks first with a signal, then through systemd.
        m.sudo(t + 0.1, who, f"/usr/bin/kill {m.pid}")
        other = c.pick(*[one for one in PEOPLE if one != who])
        m.sudo(t + 20, other, "/usr/bin/systemctl stop train")
        dragged(t + 20.3)
        right, actor = ["ops.manual_delete"], [who, other]
    else:
        m.log(t - 3, "systemd", "jupyter.service: State 'stop-sigterm' timed out. Killing.")
        m.log(t - 2.9, "systemd", f"jupyter.service: Killing process {m.pid + 80} (python3) with signal SIGKILL.")
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "bare"))
    c.expect(right, f"it would not stop: {v}", mild=mild, actor=actor)
    finish(c, m, log, until)


@family("n.nccl", "status12_peer_only port_error_then_down async_fatal_own cuda_oom_in_nccl memlock refused_peer bootstrap_timeout version_mismatch status12_peer_rebooted", 8)
def nccl(c):
    """NCCL's own words."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1400), c.variant, [], None
    log.steps(1, t)
    def warn(at, text):
        log.raw(at, f"gpu-07:{m.pid}:{m.pid + 40} [0] {text}")
    end = ("torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, unhandled system error, NCCL version 2.21.5", "    dist.all_reduce(x)")
    right, mild = ["unknown", "code.exception"], ["hw.nic", "hang.collective_timeout"]
    if v in ("status12_peer_only", "status12_peer_rebooted"):
        warn(t + 0.2, "transport/net_ib.cc:1996 NCCL WARN NET/IB: Got completion from peer 10.0.0.8<41234> with status=12 opcode=0 len=0 vendor err 129 (Recv) hca mlx5_2")
        if v == "status12_peer_rebooted":
            far = Machine(c, "gpu-08", system="u22", form="rsyslog")
            far.noise(-400, t)
            far.sudo(t - 3, c.pick(*PEOPLE), "/usr/sbin/reboot")
            far.goes_down(t - 2)
            far.boots(t + 100)
            far.save()
            right, mild = ["unknown", "code.exception", "node.reboot"], ["hang.collective_timeout"]
    elif v == "port_error_then_down":
        m.link(t - 0.5, "mlx5_2", False)
        warn(t + 0.2, "transport/net_ib.cc:145 NCCL WARN NET/IB : mlx5_2:1 Got async event : port error")
        right, mild = ["hw.nic"], []
    elif v == "async_fatal_own":
        warn(t - 300, "transport/net_ib.cc:145 NCCL WARN NET/IB : mlx5_2:1 Got non-fatal async event: port error")
        end = c.pick(*OWN_ERRORS)
        right, mild = OWN, []
    elif v == "cuda_oom_in_nccl":
        warn(t + 0.2, "include/alloc.h:178 NCCL WARN Cuda failure 'out of memory'")
        end = ("torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5", "    dist.all_reduce(x)")
        right, mild = ["code.cuda_oom", "code.exception"], ["unknown"]
    elif v == "memlock":
        warn(t + 0.2, "misc/ibvwrap.cc:262 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory")
        right, mild = ["code.config_or_input", "code.exception", "unknown"], ["hw.nic"]
    elif v == "refused_peer":
        warn(t + 0.2, "misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.0.0.8<41234> failed : Connection refused")
        mild = mild + ["dep.service"]
    elif v == "bootstrap_timeout":
        log.lines = [row for row in log.lines if row[0] <= 1]
        warn(t + 0.2, "misc/socket.cc:509 NCCL WARN Accept timeout: bootstrap connection from peer not received")
        mild = mild + ["hang.rendezvous", "dep.service"]
    elif v == "version_mismatch":
        log.lines = [row for row in log.lines if row[0] <= 1]
        warn(t + 0.2, "init.cc:1021 NCCL WARN Mismatched NCCL version detected : rank 0 version 22105 rank 9 version 22304")
        right, mild = ["code.version_mismatch", "code.exception"], ["unknown"]
    log.traceback(t + 2, *end)
    m.exit(t + 2.8, 1)
    c.expect(right, f"NCCL: {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.pool", "oom_child person_kills_child nothing broken_pipe_child_own subprocess_137_oom ffmpeg_failed_skipped_then_own compile_worker_oom_survived_then_stop", 8)
def pool(c):
    """A pool of processes lost one: BrokenProcessPool, or a child's exit code."""
    m, log = vm(c)
    t, v, who, mild, actor = c.between(900, 1400), c.variant, c.pick(*PEOPLE), [], None
    log.steps(1, t)
    kid = m.pid + 51
    error = ("concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the future was running or pending.", "    out = pool.map(f, items)")
    group = "/system.slice/train.service"
    if v == "oom_child":
        m.oom(t, "python3", kid, group, group)
        right = ["code.host_oom"]
    elif v == "person_kills_child":
        m.sudo(t, who, f"/usr/bin/kill -9 {kid}")
        right, mild = ["unknown", "code.exception", "ops.manual_delete"], ["code.host_oom"]
    elif v == "nothing":
        right, mild = ["unknown", "code.exception"], ["code.host_oom"]
    elif v == "broken_pipe_child_own":
        log.raw(t - 0.5, f"Process SpawnProcess-3:\nTraceback (most recent call last):\n  File \"/home/alice/data.py\", line 71, in work\n    x = item['caption']\nKeyError: 'caption'")
        right = OWN
    elif v == "subprocess_137_oom":
        m.oom(t, "ffmpeg", kid, group, group)
        error = ("subprocess.CalledProcessError: Command '['ffmpeg', '-i', 'a.mp4']' died with <Signals.SIGKILL: 9>.", "    subprocess.run(cmd, check=True)")
        right = ["code.host_oom", "code.exception"]
    else:
        if v == "ffmpeg_failed_skipped_then_own":
            log.say(t - 60, "ffmpeg failed for a.mp4 (exit 1), skipping", "WARNING")
            right, mild, actor = goes_away(c, m, log, t, "own")
        else:
            m.oom(t - 200, "python3", kid, group, group)
            log.say(t - 199, "compile worker died, falling back to eager", "WARNING")
            log.steps(t, t + 5)
            right, mild, actor = goes_away(c, m, log, t + 5, "stop")
        c.expect(right, f"a pool: {v}", mild=mild, actor=actor)
        finish(c, m, log)
        return
    log.traceback(t + 0.5, *error)
    m.exit(t + 1.2, 1)
    c.expect(right, f"a pool: {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.slurm_vs_log", "completed_with_traceback failed_after_done failed_epilog_after_done cancelled_after_done timeout_after_done oom_event_but_completed node_fail_after_done", 8)
def slurm_vs_log(c):
    """Accounting and the program's own words differ."""
    s = Slurm(c)
    j = s.job
    c.asked = str(j)
    log = Train(c, f"slurm-{j}.out")
    log.begin(2)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    log.steps(2, t)
    done = "training completed, saved final checkpoint"
    late = t + c.between(20, 300)
    if v == "completed_with_traceback":
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        s.complete(t + 2, 0)
        s.ended("COMPLETED", "0:0", t + 2)
        right, mild = OWN + ["none.completed"], []
    elif v == "oom_event_but_completed":
        log.say(t + 0.1, done)
        log.raw(t + 1, f"slurmstepd: error: Detected 1 oom_kill event in StepId={j}.batch. Some of the step tasks have been OOM Killed.")
        s.ctld(t + 2, f"_job_complete: JobId={j} OOM failure")
        s.ended("OUT_OF_MEMORY", "0:125", t + 2)
        right, mild = ["none.completed", "code.host_oom"], []
    else:
        log.say(t + 0.1, done)
        right = ["none.completed"]
        if v == "failed_after_done":
            log.raw(late, "rsync: [sender] write error: Broken pipe (32)\nrsync error: error in socket IO (code 10) at io.c(820) [sender=3.2.3]")
            s.complete(late + 1, 10)
            s.ended("FAILED", "10:0", late + 1)
            right = ["none.completed", "code.exception", "unknown", "dep.service"]
        elif v == "failed_epilog_after_done":
            s.complete(t + 1, 0)
            s.ctld(t + 5, "error: Epilog failed on node gpu07, draining") 
            s.ended("COMPLETED", "0:0", t + 1)
        elif v == "cancelled_after_done":
            s.kill(late, 1000)
            log.raw(late + 0.4, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(late))} ***")
            s.ended("CANCELLED by 1000", "0:0", late + 1)
            right = ["none.completed", "ops.manual_delete"]
        elif v == "timeout_after_done":
            s.ctld(late, f"Time limit exhausted for JobId={j}")
            log.raw(late + 0.4, f"slurmstepd: error: *** JOB {j} ON gpu07 CANCELLED AT {iso(c.at(late))} DUE TO TIME LIMIT ***")
            s.ended("TIMEOUT", "0:0", late + 1)
            right = ["none.completed", "code.deadline"]
        else:
            s.complete(t + 1, 0)
            s.ctld(t + 90, "error: Nodes gpu07 not responding, setting DOWN")
            s.ended("COMPLETED", "0:0", t + 1)
    c.expect(right, f"two accounts: {v}", mild=mild, actor=actor)
    s.save(controller=c.number % 3 != 1, accounting=c.number % 3 != 2)
    log.save()


@family("n.gap", "log_gap_evaluation_then_stop log_gap_checkpoint_then_reboot log_gap_then_own log_gap_then_completed log_gap_with_xid31_other_then_stop log_gap_nfs_ok_then_stop log_gap_flap_then_scancel", 10)
def gap(c):
    """Ten quiet minutes (evaluation, a large checkpoint) that are said in the log before; harmless records at their beginning; then steps, then the end by somebody."""
    v, who, mild, actor = c.variant, c.pick(*PEOPLE), [], None
    a = c.between(600, 900)
    b = a + c.between(500, 800)
    t = b + c.pick(7, 12, 60, 300)
    slurm = v.endswith("scancel")
    if slurm:
        s = Slurm(c)
        c.asked = str(s.job)
        log = Train(c, f"slurm-{s.job}.out", step=5)
        log.begin(2)
        m = Machine(c, "gpu07", system="el8", form="rsyslog")
        m.unit = "slurmd"
        m.noise(-500, 0)
    else:
        m, log = vm(c, step=5)
    log.steps(1, a)
    log.say(a + 1, "starting evaluation on 12000 batches" if "evaluation" in v or c.number % 2 else "saving checkpoint to /ckpt/step-000900 (3.1 TB)")
    if "xid31" in v:
        m.xid(a + 2, 31, "0000:9b:00", m.pid + 900, "jupyter-lab")
    elif "nfs_ok" in v:
        m.kernel(a + 2, "nfs: server 10.0.0.9 not responding, still trying")
        m.kernel(a + 20, "nfs: server 10.0.0.9 OK")
    elif "flap" in v:
        m.link(a + 2, "eno1", False)
        m.link(a + 6, "eno1", True)
    log.say(b, "evaluation done, acc=0.71" if "evaluation" in v or c.number % 2 else "saved checkpoint to /ckpt/step-000900")
    log.steps(b, t)
    kind = v.split("_")[-1]
    if slurm:
        s.kill(t, 1000)
        log.raw(t + 0.4, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(t))} ***")
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        right, actor = ["ops.manual_delete"], ["alice", "1000", "uid 1000"]
        s.save()
    else:
        right, mild, actor = goes_away(c, m, log, t, kind)
    c.expect(right, f"a quiet stretch: {v}", mild=mild, actor=actor)
    finish(c, m, log)
