"""Gangs over machines whose clocks differ; launchers' tables; logs of DeepSpeed, Megatron, JAX, Lightning, Accelerate."""

import json
import os

from kit import NOBODY, OWN, PEOPLE, family, finish, goes_away, vm
from world import Aws, Azure, Case, Gce, Machine, OWN_ERRORS, Train, iso


def with_victim():
    plain = Case.save
    if getattr(plain, "tells_victim", False):
        return
    def save(self, root):
        plain(self, root)
        victim = getattr(self, "victim2", None)
        if victim:
            path = os.path.join(root, self.name, "expect.json")
            with open(path) as read:
                one = json.load(read)
            one["experiments"][self.asked]["first_victim"] = victim
            with open(path, "w") as out:
                json.dump(one, out, indent=1)
    save.tells_victim = True
    Case.save = save


with_victim()


def late(c, m, seconds):
    """Its clock is off: the journal's, and the program's on it."""
    m.skew = seconds
    return seconds


class Off:
    """A case's times by another clock (for a program's log on that machine)."""

    def __init__(self, c, seconds):
        self.c, self.seconds = c, seconds

    def __getattr__(self, name):
        return getattr(self.c, name)

    def at(self, t):
        return self.c.at(t + self.seconds)


def gang(c, size=4, skews=(0,), unit=True, step=5):
    """Machines of one experiment, labelled in their cloud; each with journal and log, by a clock of its own."""
    cloud = ("gce", "aws", "azure")[c.number % 3]
    boxes, shared = [], {}
    first = c.rng.randrange(1, 5) * 100
    for rank in range(size):
        if cloud == "gce":
            g = Gce(c, f"ppo-17-w{rank}")
            g.entries = shared
            g.call(-900 + rank, "insert", "alice@lab.example", 20)
            for entry in shared["gcp.jsonl"][-2:]:
                entry["protoPayload"]["request"]["labels"] = [{"key": "experiment", "value": "exp-1"}]
            name = host = victim = g.vm
        elif cloud == "aws":
            g = Aws(c)
            g.dns, g.entries = f"ip-10-0-7-{10 + rank}", shared
            g.instance(-900)
            name, host, victim = g.id, g.dns, f"{g.dns}.ec2.internal"
        else:
            g = Azure(c, f"ppo-17-w{rank}")
            g.entries = shared
            g.machine()
            name = host = victim = g.vm
        m = Machine(c, host, name, system=("u22", "el8", "u24", "el9")[(rank + c.number) % 4], form=("rsyslog", "json", "short-iso", "short-iso-precise")[(rank + c.number) % 4])
        skew = late(c, m, c.pick(*skews) if rank else 0)
        log = Train(Off(c, skew), f"{name}/train.log", form=("logging", "iso", "iter")[rank % 3], step=step)
        log.number = first  # they step together
        m.noise(-800, 0)
        if unit:
            m.start(0)
        log.say(1, f"starting rank={rank} world_size={size} pid={m.pid}")
        boxes.append((g, m, log, victim))
    return boxes


def timeout(log, t, rank, seq=4711, ms=600000):
    log.say(t, f"[rank{rank}]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)={ms}) ran for {ms + 12} milliseconds before timing out.", "ERROR")


def close(c, boxes, until):
    for g, m, log, _ in boxes:
        m.noise(5, until)
        m.save()
        log.save()
    boxes[0][0].save()


FAULTS = "xid79 xid119 link disk_frozen nfs_one lockup uncorrected_ecc none"


@family("n.gang_true", FAULTS + " link_flap_long_before xid31_other_pid mgmt_link xid79_other_machine corrected_aer", 12)
def gang_true(c):
    """All ranks hang and report the same timeout, the faulty machine's too; its kernel told of the fault when the steps stopped. Clocks are up to 25 s off."""
    boxes = gang(c, skews=(0, 3, -4, 12, -25))
    t, v, bad, mild = c.between(900, 1500), c.variant, c.number % 4, []
    g, m, log, victim = boxes[bad]
    for _, _, other, _ in boxes:
        other.steps(1, t)
    s = t + 1
    if v == "xid79":
        m.xid(s, 79)
        right = ["hw.gpu"]
    elif v == "xid119":
        m.xid(s, 119)
        right = ["hw.gpu"]
    elif v == "link":
        m.link(s, "ibp92s0", False)
        right = ["hw.nic"]
    elif v == "disk_frozen":
        m.kernel(s, "nvme nvme1: I/O tag 22 (2016) opcode 0x2 (Read) QID 3 timeout, aborting req_op:READ(0) size:131072")
        m.kernel(s + 30, "nvme nvme1: I/O tag 22 (2016) opcode 0x2 (Read) QID 3 timeout, reset controller")
        m.kernel(s + 90, "nvme nvme1: Disabling device after reset failure: -19")
        m.kernel(s + 122, f"INFO: task python3:{m.pid} blocked for more than 120 seconds.")
        right, mild = ["hw.disk", "dep.storage"], []
    elif v == "nfs_one":
        m.kernel(s, "nfs: server 10.0.0.9 not responding, still trying")
        m.kernel(s + 122, f"INFO: task python3:{m.pid} blocked for more than 120 seconds.")
        right = ["dep.storage"]
    elif v == "lockup":
        m.kernel(s, f"watchdog: BUG: soft lockup - CPU#18 stuck for 23s! [python3:{m.pid}]")
        m.kernel(s + 28, f"watchdog: BUG: soft lockup - CPU#18 stuck for 51s! [python3:{m.pid}]")
        right, mild = ["node.kernel_panic", "node.cpu_starvation", "hang.collective_timeout", "unknown", "hw.board"], []
    elif v == "uncorrected_ecc":
        m.xid(s, 48)
        right = ["hw.gpu_memory"]
    else:
        right, mild = ["hang.collective_timeout", "unknown", "hang.no_progress"], ["code.exception", "code.segfault"]
        if v == "link_flap_long_before":
            m.link(t - 400, "ibp92s0", False)
            m.link(t - 390, "ibp92s0", True)
            mild += ["hw.nic"]
        elif v == "xid31_other_pid":
            m.xid(t - 1, 31, "0000:9b:00", m.pid + 900, "jupyter-lab")
            mild += ["hw.gpu", "hw.gpu_memory"]
        elif v == "mgmt_link":
            m.link(t - 200, "eno1", False)
            m.link(t - 190, "eno1", True)
            mild += ["hw.nic"]
        elif v == "xid79_other_machine":
            far = Machine(c, "ppo-17-w9", system="u22", form="rsyslog")
            far.noise(-500, 1500)
            far.xid(s, 79)
            far.save()
        elif v == "corrected_aer":
            for k in range(5):
                m.kernel(s - 50 + 10 * k, "pcieport 0000:97:01.0: AER: Corrected error received: 0000:9b:00.0")
            mild += ["hw.pcie"]
    for rank, (_, box, other, _) in enumerate(boxes):
        gone = t + 600 + c.between(0, 3)
        timeout(other, gone - 0.5, rank)
        box.exit(gone + 0.6, -6)
    c.expect(right, f"all ranks time out, one machine's fault: {v}", mild=mild, asked="exp-1")
    if right[0].startswith(("hw", "dep")):
        c.victim2 = victim
    close(c, boxes, t + 900)


@family("n.gang_first", "own own_no_peers_words oom_unit segv reboot stop killed exit_code cuda_oom", 12)
def gang_first(c):
    """One ends for a reason of its own; the others lose it and are stamped earlier, as their clocks are behind."""
    boxes = gang(c, skews=(-20, -9, -35, 0))
    t, v, bad, mild, actor = c.between(900, 1500), c.variant, 0, [], None
    g, m, log, victim = boxes[bad]
    if c.number % 2:
        # The faulty one's clock is ahead, the others are right.
        late(c, m, 30)
        log.case = Off(c, 30)
    for _, _, other, _ in boxes:
        other.steps(1, t)
    if v == "own_no_peers_words":
        right, mild, actor = goes_away(c, m, log, t, "own")
    elif v == "exit_code":
        m.exit(t + 0.5, 3)
        right = NOBODY
    elif v == "cuda_oom":
        log.traceback(t + 0.1, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.02 GiB is free.", "    loss.backward()")
        m.exit(t + 0.8, 1)
        right = ["code.cuda_oom"]
    else:
        right, mild, actor = goes_away(c, m, log, t, v)
    for rank, (_, box, other, _) in enumerate(boxes):
        if rank == bad:
            continue
        gone = t + c.between(2, 9)
        if v == "own_no_peers_words":
            box.exit(gone, 1)
        else:
            other.traceback(gone, *c.pick(("torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, remote process exited or there was a network error, NCCL version 2.21.5", "    dist.all_reduce(x)"),
                                          ("RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.7]:41234", "    dist.barrier()")))
            box.exit(gone + 0.6, 1)
    if v == "own_no_peers_words":
        right = right + ["unknown"]
    if v in ("killed", "exit_code"):
        mild = mild + ["code.exception", "unknown", "hang.collective_timeout"]
    c.expect(right, f"first by the true order, last by the clocks: {v}", mild=mild, actor=actor, asked="exp-1")
    if v not in ("own_no_peers_words", "killed", "exit_code"):
        c.victim2 = victim
    close(c, boxes, t + 700)


@family("n.gang_beat", "monitor_nothing monitor_after_own monitor_xid monitor_then_stop fr_dump_line", 10)
def gang_beat(c):
    """ProcessGroupNCCL's heartbeat monitor ends a process that hangs in the driver or in Python."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    log.steps(1, t)
    gone = t + 480
    if v == "monitor_xid":
        m.xid(t + 1, 79)
    if v == "monitor_after_own":
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
    log.raw(gone, f"[rank0]:[F{c.at(gone):%m%d %H:%M:%S}.123456789 ProcessGroupNCCL.cpp:1563] [PG ID 0 PG GUID 0(default_pg) Rank 0] [PG ID 0 PG GUID 0(default_pg) Rank 0] Terminating the process after attempting to dump debug info, due to ProcessGroupNCCL watchdog hang.")
    log.raw(gone - 0.2, f"[rank0]:[E{c.at(gone):%m%d %H:%M:%S}.023456789 ProcessGroupNCCL.cpp:1552] [PG ID 0 PG GUID 0(default_pg) Rank 0] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives. This typically indicates a NCCL/CUDA API (e.g., CudaEventDestroy) hang blocking the watchdog, and could be triggered by another thread holding the GIL inside a CUDA api (for example, CudaEventDestroy), or other deadlock-prone behaviors.")
    m.exit(gone + 0.8, -6)
    if v == "monitor_after_own":
        right = OWN
    elif v == "monitor_xid":
        right = ["hw.gpu"]
    else:
        right, mild = ["hang.watchdog", "hang.no_progress", "hang.collective_timeout", "unknown"], ["code.segfault", "code.exception"]
        if v == "monitor_then_stop":
            m.sudo(gone + 3, c.pick(*PEOPLE), "/usr/bin/systemctl stop train")
    c.expect(right, f"the heartbeat monitor: {v}", mild=mild, actor=actor)
    finish(c, m, log)


def table(c, t, host, rank, code, pid, error_file="<N/A>", tb="To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html", others=()):
    stamp = f"{c.at(t):%Y-%m-%d_%H:%M:%S}"
    rows = "".join(f"[{k + 1}]:\n  time      : {stamp}\n  host      : {host}\n  rank      : {r} (local_rank: {r % 8})\n  exitcode  : {x} (pid: {pid + r})\n  error_file: <N/A>\n  traceback : Signal 15 (SIGTERM) received by PID {pid + r}\n" for k, (r, x) in enumerate(others)) or "  <NO_OTHER_FAILURES>\n"
    return (f"============================================================\n/home/alice/train.py FAILED\n------------------------------------------------------------\nFailures:\n{rows}------------------------------------------------------------\n"
            f"Root Cause (first observed failure):\n[0]:\n  time      : {stamp}\n  host      : {host}\n  rank      : {rank} (local_rank: {rank % 8})\n  exitcode  : {code} (pid: {pid})\n  error_file: {error_file}\n  traceback : {tb}\n============================================================")


@family("n.elastic", "own_node1 oom_node1 killed_node1 segv_node1 sigterm_stop_node1 table_only_peer own_error_file agent_lost", 12)
def elastic(c):
    """Two agents of torchrun, each with a table that names a root cause of its own."""
    boxes = gang(c, size=2, skews=(0, 2, -3))
    t, v, mild, actor, who = c.between(900, 1500), c.variant, [], None, c.pick(*PEOPLE)
    (g0, m0, log0, _), (g1, m1, log1, victim) = boxes
    for log in (log0, log1):
        log.steps(1, t)
    pid = m1.pid + 9
    def agent(log, at, code, rank, who):
        log.raw(at, f"W{c.at(at):%m%d %H:%M:%S}.000000 {m0.pid} torch/distributed/elastic/multiprocessing/api.py:897] Sending process {who + 1} closing signal SIGTERM")
        log.raw(at + 0.3, f"E{c.at(at):%m%d %H:%M:%S}.500000 {m0.pid} torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: {code}) local_rank: {rank % 8} (pid: {who}) of binary: /opt/conda/bin/python3")
    peers = "[rank2]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, remote process exited or there was a network error, NCCL version 2.21.5"
    code = {"own_node1": 1, "own_error_file": 1, "oom_node1": -9, "killed_node1": -9, "segv_node1": -11, "sigterm_stop_node1": -15, "table_only_peer": 1, "agent_lost": -9}[v]
    tb = f"Signal {-code} (SIG{ {9: 'KILL', 11: 'SEGV', 15: 'TERM'}.get(-code, '')}) received by PID {pid}" if code < 0 else "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"
    if v in ("own_node1", "own_error_file"):
        error, where = c.pick(*OWN_ERRORS)
        text = f"Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 118, in main\n{where}\n{error}"
        log1.raw(t + 0.1, "\n".join(f"[rank9]: {line}" for line in text.split("\n")))
        if v == "own_error_file":
            tb = text.replace("\n", "\n    ")
        right = OWN
    elif v == "oom_node1":
        group = "/system.slice/train.service"
        m1.oom(t + 0.1, "python3", pid, group, group)
        right = ["code.host_oom"]
    elif v == "segv_node1":
        m1.segfault(t + 0.1, "python3", pid)
        right = ["code.segfault"]
    elif v == "sigterm_stop_node1":
        m1.sudo(t + 0.1, who, "/usr/bin/systemctl stop train")
        m1.log(t + 0.3, "systemd", f"Stopping {m1.named('train', 'LLM training')}...")
        right, actor = ["ops.manual_delete"], [who]
    elif v == "table_only_peer":
        right, mild = ["unknown"], ["code.exception", "hang.collective_timeout", "hw.nic"]
    elif v == "agent_lost":
        m1.kernel(t + 0.2, "Kernel panic - not syncing: Fatal exception in interrupt")
        m1.boots(t + 200)
        right = ["node.kernel_panic"]
    else:
        right, mild = ["unknown"], ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]
    if v != "agent_lost":
        agent(log1, t + 2, code, 9, pid)
        if v == "table_only_peer":
            log1.raw(t + 1, peers.replace("rank2", "rank9"))
        log1.raw(t + 3, table(c, t + 2, victim, 9, code, pid, tb=tb, others=((10, -15), (11, -15))))
        m1.exit(t + 4, 1 if v != "sigterm_stop_node1" else -15)
    log0.raw(t + 3, peers)
    agent(log0, t + 5, 1, 2, m0.pid + 2)
    log0.raw(t + 6, table(c, t + 5, "ppo-17-w0", 2, 1, m0.pid + 2, others=((3, -15),)))
    m0.exit(t + 7, 1)
    c.expect(right, f"two agents' tables: {v}", mild=mild, actor=actor, asked="exp-1")
    if v not in ("table_only_peer", "killed_node1"):
        c.victim2 = victim
    close(c, boxes, t + 700)


@family("n.deepspeed", "oom killed_person killed own segv exit_hook_completed stop_all other_host_oom", 10)
def deepspeed(c):
    """DeepSpeed's launcher: 'Killing subprocess', 'exits with return code = -9'."""
    m, log = vm(c)
    t, v, mild, actor, who = c.between(900, 1500), c.variant, [], None, c.pick(*PEOPLE)
    log.steps(1, t)
    kid = m.pid + 21
    if v in ("oom", "other_host_oom"):
        group = "/system.slice/train.service" if v == "oom" else "/system.slice/backup.service"
        m.oom(t + 0.2, "python3" if v == "oom" else "restic", kid if v == "oom" else kid + 3000, group, group if v == "oom" else None)
    if v == "own":
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
    if v == "segv":
        m.segfault(t + 0.2, "python3", kid)
    if v == "killed_person":
        m.sudo(t + 0.2, who, f"/usr/bin/kill -9 {kid}")
    if v == "stop_all":
        m.sudo(t + 0.1, who, "/usr/bin/systemctl stop train")
        m.log(t + 0.2, "systemd", f"Stopping {m.named('train', 'LLM training')}...")
    code = {"own": 1, "segv": -11, "stop_all": -15, "exit_hook_completed": 0}.get(v, -9)
    def launch(at, text, level="INFO"):
        log.raw(at, f"[{c.at(at):%Y-%m-%d %H:%M:%S},783] [{level}] [launch.py:319:sigkill_handler] {text}")
    if v == "exit_hook_completed":
        log.say(t + 0.2, "training completed, saved final checkpoint")
        log.raw(t + 2, f"[{c.at(t + 2):%Y-%m-%d %H:%M:%S},783] [INFO] [launch.py:351:main] Process {kid} exits successfully.")
        m.log(t + 2.5, "systemd", "train.service: Succeeded." if m.system in ("u22", "el8") else "train.service: Deactivated successfully.") if m.system != "el7" else None
        right = ["none.completed"]
    else:
        for k in range(4):
            launch(t + 1 + 0.3 * k, f"Killing subprocess {kid + k}")
        launch(t + 2.4, f"['/opt/conda/bin/python3', '-u', 'train.py', '--local_rank=3'] exits with return code = {code}", "ERROR")
        m.exit(t + 3, 1 if code == 1 else {-9: 137, -11: 139, -15: -15}[code] if v != "stop_all" else -15)
        right = {"oom": ["code.host_oom"], "own": OWN, "segv": ["code.segfault"], "killed_person": ["ops.manual_delete"], "stop_all": ["ops.manual_delete"]}.get(v, ["unknown"])
        mild = ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"] if right == ["unknown"] else []
        actor = [who] if v in ("killed_person", "stop_all") else None
    c.expect(right, f"DeepSpeed's launcher: {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.frameworks", "megatron_exit_interval megatron_duration megatron_signal_stop megatron_nan lightning_done lightning_interrupt lightning_interrupt_stop accelerate_child jax_missed_other_died jax_own hf_early_stop fairseq_oom_skipped_own mosaic_killed_rank keras_nan", 8)
def frameworks(c):
    """Words of frameworks around an end."""
    m, log = vm(c)
    t, v, mild, actor, who = c.between(900, 1500), c.variant, [], None, c.pick(*PEOPLE)
    log.steps(1, t)
    def ok(at):
        if m.system != "el7":
            m.log(at, "systemd", "train.service: Succeeded." if m.system in ("u22", "el8") else "train.service: Deactivated successfully.")
    stamp = f"{c.at(t + 1):%Y-%m-%d %H:%M:%S}"
    if v in ("megatron_exit_interval", "megatron_duration"):
        log.raw(t + 0.5, "saving checkpoint at iteration     900 to /ckpt in torch_dist format\n  successfully saved checkpoint from iteration     900 to /ckpt")
        log.raw(t + 1, f"[exiting program at iteration 900] datetime: {stamp} " if v == "megatron_exit_interval" else f"[exiting program after 1380.5 minutes] datetime: {stamp} ")
        ok(t + 3)
        right, mild = ["none.completed", "code.deadline", "unknown"], ["none.running"]
    elif v == "megatron_signal_stop":
        m.sudo(t + 0.1, who, "/usr/bin/systemctl stop train")
        m.log(t + 0.2, "systemd", f"Stopping {m.named('train', 'LLM training')}...")
        log.raw(t + 1, f"[exiting program after receiving SIGTERM.] datetime: {stamp} ")
        ok(t + 3)
        m.log(t + 3.1, "systemd", f"Stopped {m.named('train', 'LLM training')}.")
        right, actor = ["ops.manual_delete"], [who]
    elif v == "megatron_nan":
        log.traceback(t + 0.2, "AssertionError: found NaN in local grad norm in backward pass before data-parallel communication collective. Device: 3, node: gpu-07", "    assert not norm.isnan()")
        m.exit(t + 1, 1)
        right = ["code.divergence", "code.exception"]
    elif v == "lightning_done":
        log.raw(t + 0.2, c.pick("`Trainer.fit` stopped: `max_epochs=3` reached.", "`Trainer.fit` stopped: `max_steps=5000` reached."))
        ok(t + 2)
        right, mild = ["none.completed"], ["none.running"]
    elif v in ("lightning_interrupt", "lightning_interrupt_stop"):
        log.raw(t + 0.3, "\nDetected KeyboardInterrupt, attempting graceful shutdown ...")
        if v == "lightning_interrupt_stop":
            m.sudo(t + 0.1, who, f"/usr/bin/kill -INT {m.pid}")
            actor = [who]
        m.exit(t + 2, 1)
        right, mild = ["ops.manual_delete"], ["unknown", "code.exception"]
    elif v == "accelerate_child":
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        log.raw(t + 1, "Traceback (most recent call last):\n  File \"/opt/conda/bin/accelerate\", line 8, in <module>\n    sys.exit(main())\n  File \"/opt/conda/lib/python3.11/site-packages/accelerate/commands/launch.py\", line 763, in simple_launcher\n    raise subprocess.CalledProcessError(returncode=process.returncode, cmd=cmd)\nsubprocess.CalledProcessError: Command '['/opt/conda/bin/python3', 'train.py']' returned non-zero exit status 1.")
        m.exit(t + 1.5, 1)
        right = OWN
    elif v == "jax_missed_other_died":
        at = t + 100
        log.raw(at, f"E{c.at(at):%m%d %H:%M:%S}.075587  157988 coordination_service_agent.cc:346] Polled an error from coordination service (this can be an error from this or another task).\nF{c.at(at):%m%d %H:%M:%S}.075600  157988 client.h:77] Terminating process because the JAX distributed service detected fatal errors. This most likely indicates that another task died; see the other task logs for more details. Error: UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):\n/job:jax_worker/replica:0/task:3")
        m.exit(at + 0.9, -6)
        right, mild = ["unknown", "hang.collective_timeout"], ["code.exception", "code.segfault", "node.not_ready"]
    elif v == "jax_own":
        log.traceback(t + 0.1, "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.", "    state, loss = train_step(state, batch)")
        m.exit(t + 1, 1)
        right = ["code.cuda_oom", "code.exception"]
    elif v == "hf_early_stop":
        log.raw(t + 0.2, "{'train_runtime': 1203.2, 'train_samples_per_second': 71.2, 'train_steps_per_second': 1.1, 'train_loss': 1.72, 'epoch': 1.4}")
        ok(t + 2)
        right, mild = ["none.completed"], ["none.running", "unknown"]
    elif v == "fairseq_oom_skipped_own":
        log.raw(t - 60, f"{stamp} | WARNING | fairseq.trainer | attempting to recover from OOM in forward/backward pass")
        right, mild, actor = goes_away(c, m, log, t, "own")
    elif v == "mosaic_killed_rank":
        log.raw(t + 0.5, f"ERROR:composer.cli.launcher:Rank 3 crashed with exit code -9.\nWaiting up to 30 seconds for all training processes to terminate. Press Ctrl-C to exit immediately.\nGlobal rank 0 (PID {m.pid}) exited with code -15\n----------Begin global rank 3 STDOUT----------\n----------End global rank 3 STDOUT----------\nERROR:composer.cli.launcher:Global rank 3 (PID {m.pid + 3}) exited with code -9")
        m.exit(t + 1, 247)
        right, mild = ["unknown"], ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]
    else:
        log.raw(t + 0.3, "Batch 412: Invalid loss, terminating training\nRestoring model weights from the end of the best epoch: 1.")
        ok(t + 2)
        right, mild = ["code.divergence"], ["none.completed", "unknown", "none.running"]
    c.expect(right, f"a framework's words: {v}", mild=mild, actor=actor)
    finish(c, m, log)
