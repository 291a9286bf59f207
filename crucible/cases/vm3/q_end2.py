"""Helpers that are killed beside the run, forms of Slurm's JSON over its versions, priorities of causes in one second, a gang's members that end in one second."""

import json

from kit import NOBODY, OWN, PEOPLE, family, finish, goes_away, vm
from q_gang import Off, close, gang
from world import Aws, Azure, Gce, Machine, OWN_ERRORS, Slurm, Train, iso

KILLED = ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]


@family("n.oom_helper", "own stop killed completed running segv reboot", 10)
def oom_helper(c):
    """The kernel kills a helper in the unit's own cgroup (its limit): ffmpeg, tensorboard, a compile worker. The program says so and steps on, 1 to 60 steps; then another end."""
    m, log = vm(c, step=5)
    t, v, mild, actor = c.between(900, 1400), c.variant, [], None
    early = t - c.pick(6, 12, 40, 300)
    name = c.pick("ffmpeg", "tensorboard", "ptxas", "node_exporter", "rclone")
    log.steps(1, early)
    group = "/system.slice/train.service"
    m.oom(early + 0.2, name, m.pid + 61, group, group)
    if m.system != "el7":
        m.log(early + 0.5, "systemd", "train.service: A process of this unit has been killed by the OOM killer.")
    log.say(early + 0.6, f"{name} exited with -9, going on without", "WARNING")
    last = log.steps(early + 0.7, t)
    until = 4000
    if v == "running":
        right, mild, until = ["none.running"], ["unknown"], last + 3
    else:
        right, mild, actor = goes_away(c, m, log, t, v)
        if v == "killed":
            mild = mild + ["code.host_oom"]
    c.expect(right, f"{name} is killed for memory {t - early:.0f} s before, then {v}", mild=mild, actor=actor)
    finish(c, m, log, until)


JSTATES = {"TIMEOUT": (["code.deadline"], 0, 0), "OUT_OF_MEMORY": (["code.host_oom"], 0, 125), "FAILED": (NOBODY, 1, 0), "COMPLETED": (["none.completed"], 0, 0), "NODE_FAIL": (["node.not_ready"], 0, 0), "PREEMPTED": (["sched.preempted"], 0, 0), "RUNNING": (["none.running"], 0, 0), "CANCELLED": (["ops.manual_delete"], 0, 0)}


@family("n.slurm_json", " ".join(JSTATES), 8)
def slurm_json(c):
    """sacct --json and squeue --json, scontrol show job --json, over the versions of Slurm."""
    s = Slurm(c)
    j, state = s.job, c.variant
    right, code, signal = JSTATES[state]
    c.asked = str(j)
    log = Train(c, f"slurm-{j}.out")
    log.begin(2)
    t = c.between(700, 1300)
    log.steps(2, t)
    if state == "COMPLETED":
        log.say(t + 0.2, "training completed, saved final checkpoint")
    log.save()
    begin, end = int(c.at(0).timestamp()), int(c.at(t + 1).timestamp()) if state != "RUNNING" else 0
    form = c.number % 4
    status = "SIGNALED" if signal else "ERROR" if code else "SUCCESS"
    if form == 0:  # 21.08, 22.05
        job = {"job_id": j, "name": "train", "user": "alice", "partition": "gpu", "nodes": "gpu07", "state": {"current": state, "reason": "None"}, "exit_code": {"status": status, "return_code": code, "signal": {"signal_id": signal, "name": ""}} if signal else {"status": status, "return_code": code}, "time": {"submission": begin - 60, "start": begin, "end": end, "elapsed": max(0, end - begin)}, "kill_request_user": "carol" if state == "CANCELLED" else None, "steps": []}
        out = {"meta": {"Slurm": {"version": {"major": 22, "micro": 5, "minor": 5}, "release": "22.05.5"}}, "errors": [], "jobs": [job]}
    elif form == 1:  # 23.02
        job = {"job_id": j, "name": "train", "user": "alice", "partition": "gpu", "nodes": "gpu07", "state": {"current": state, "reason": "None"}, "exit_code": {"status": status, "return_code": {"set": True, "infinite": False, "number": code}, "signal": {"signal_id": signal, "name": "NONE"}}, "time": {"submission": begin - 60, "start": begin, "end": end, "elapsed": max(0, end - begin)}, "kill_request_user": "carol" if state == "CANCELLED" else "", "steps": []}
        out = {"meta": {"Slurm": {"version": {"major": 23, "micro": 2, "minor": 2}}}, "warnings": [], "errors": [], "jobs": [job]}
    elif form == 2:  # 24.11
        job = {"job_id": j, "name": "train", "user": "alice", "partition": "gpu", "nodes": "gpu07", "state": {"current": [state], "reason": "None"}, "exit_code": {"status": [status], "return_code": {"set": True, "infinite": False, "number": code}, "signal": {"id": {"set": bool(signal), "infinite": False, "number": signal}, "name": ""}}, "time": {"submission": begin - 60, "start": begin, "end": end, "elapsed": max(0, end - begin)}, "kill_request_user": "carol" if state == "CANCELLED" else "", "steps": []}
        out = {"jobs": [job], "meta": {"slurm": {"version": {"major": "24", "micro": "1", "minor": "11"}, "cluster": "lab"}}, "errors": [], "warnings": []}
    else:  # squeue/scontrol --json
        job = {"job_id": j, "name": "train", "user_name": "alice", "partition": "gpu", "nodes": "gpu07", "job_state": [state], "state_reason": "None", "exit_code": {"status": [status], "return_code": {"set": True, "infinite": False, "number": code}, "signal": {"id": {"set": bool(signal), "infinite": False, "number": signal}, "name": ""}}, "submit_time": {"set": True, "infinite": False, "number": begin - 60}, "start_time": {"set": True, "infinite": False, "number": begin}, "end_time": {"set": True, "infinite": False, "number": end or begin + 86400}, "standard_output": f"/home/alice/slurm-{j}.out", "batch_host": "gpu07"}
        out = {"jobs": [job], "last_update": {"set": True, "infinite": False, "number": begin + 5000}, "meta": {"slurm": {"version": {"major": "24", "micro": "1", "minor": "11"}}}, "errors": [], "warnings": []}
    c.write("jobs.json", json.dumps(out, indent=1))
    c.expect(right, f"JSON of Slurm, form {form}: {state}", mild=["unknown"] if state in ("RUNNING", "NODE_FAIL", "CANCELLED") else [])


@family("n.same_second", "own_and_stop oom_and_stop segv_and_reboot own_and_delete killed_and_link own_and_panic", 10)
def same_second(c):
    """Two things in one second by a journal of whole seconds; the order of its lines tells, and the log's own words."""
    v = c.variant
    c.form = "short-iso"
    t = float(int(c.between(900, 1400)))
    who, mild, actor = c.pick(*PEOPLE), [], None
    if v == "own_and_delete":
        g = Gce(c)
        m = Machine(c, g.vm, g.vm, form="short-iso")
        log = Train(c, f"{g.vm}/train.log", step=5)
        m.noise(-800, 0)
        m.start(0)
        log.begin(1, m.pid)
        g.call(-900, "insert", "alice@lab.example", 20)
        c.asked = g.vm
    else:
        m, log = vm(c, step=5)
    log.steps(1, t - 0.2)
    first, second = v.split("_and_")
    if first == "own":
        log.traceback(t + 0.05, *c.pick(*OWN_ERRORS))
        m.exit(t + 0.2, 1)
        right = OWN
    elif first == "oom":
        m.oom_own(t + 0.02, True)
        right = ["code.host_oom"]
    elif first == "segv":
        m.segfault(t + 0.02, "python3", m.pid)
        m.exit(t + 0.2, -11)
        right = ["code.segfault"]
    else:
        m.exit(t + 0.1, -9)
        right, mild = ["unknown"], KILLED
    at = t + 0.8
    if second == "stop":
        m.sudo(at, who, "/usr/bin/systemctl stop train")
    elif second == "reboot":
        m.sudo(at, who, "/usr/sbin/reboot")
        m.log(at + 0.1, "systemd-logind", "System is rebooting.")
        m.log(at + 2, "systemd", "Reached target Reboot.")
        m.dies(at + 3)
        m.boots(at + 90)
    elif second == "link":
        m.link(at, "ibp92s0", False)
    elif second == "panic":
        m.kernel(at, "Kernel panic - not syncing: Fatal exception")
        m.boots(at + 90)
    else:
        g.call(at, "delete", who + "@lab.example")
        m.dies(at + 1)
        g.save()
    finish(c, m, log, t if v == "own_and_delete" else 3000)
    c.expect(right, f"in one second: {v}", mild=mild, asked=c.asked)


@family("n.gang_second", "two_own oom_and_reset reboot_two panic_and_xid stop_one_kill_other", 8)
def gang_second(c):
    """Two members of four end within a second, by two journals whose clocks agree to a tenth; the others follow."""
    boxes = gang(c, skews=(0, 0.05, -0.1))
    t, v, mild, actor = c.between(900, 1400), c.variant, [], None
    for _, _, log, _ in boxes:
        log.steps(1, t)
    (g0, m0, l0, v0), (g1, m1, l1, v1) = boxes[1], boxes[2]
    who = c.pick(*PEOPLE)
    if v == "two_own":
        for m, l in ((m0, l0), (m1, l1)):
            l.traceback(t + 0.1, *OWN_ERRORS[1])
            m.exit(t + 0.7, 1)
        right = OWN
    elif v == "oom_and_reset":
        m0.oom_own(t + 0.1, True)
        l1.traceback(t + 0.6, "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.7]:41234", "    dist.barrier()")
        m1.exit(t + 0.9, 1)
        right = ["code.host_oom"]
        c.victim2 = v0
    elif v == "reboot_two":
        for m in (m0, m1):
            m.sudo(t + 0.2, who, "/usr/sbin/reboot")
            m.goes_down(t + 1)
            m.boots(t + 120)
        right, actor = ["node.reboot"], [who]
    elif v == "panic_and_xid":
        m0.kernel(t + 0.2, "Kernel panic - not syncing: Fatal exception")
        m0.boots(t + 200)
        m1.xid(t + 30, 45, pid=m1.pid, name="python3") if False else m1.kernel(t + 30, f"NVRM: Xid (PCI:0000:3b:00): 45, pid={m1.pid}, name=python3, Ch 00000010")
        l1.traceback(t + 29, "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, remote process exited or there was a network error, NCCL version 2.21.5", "    dist.all_reduce(x)")
        m1.exit(t + 31, 1)
        right = ["node.kernel_panic"]
        c.victim2 = v0
    else:
        m0.sudo(t + 0.1, who, "/usr/bin/systemctl stop train")
        m0.stop(t + 0.3)
        l1.traceback(t + 2.5, "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.7]:41234", "    dist.barrier()")
        m1.exit(t + 3, 1)
        m1.sudo(t + 2.8, c.pick(*PEOPLE), "/usr/bin/kill -9 %d" % (m1.pid + 600))
        right, actor = ["ops.manual_delete"], [who]
        c.victim2 = v0
    for rank in (0, 3):
        _, m, l, _ = boxes[rank]
        l.traceback(t + c.between(5, 9), "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, remote process exited or there was a network error, NCCL version 2.21.5", "    dist.all_reduce(x)")
        m.exit(t + 10, 1)
    c.expect(right, f"two within a second: {v}", mild=mild, actor=actor, asked="exp-1")
    close(c, boxes, t + 600)
