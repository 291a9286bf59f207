"""What a program's log looks like in truth: exceptions at shutdown, caught ones, interleaved ranks, bars, rotation, copies, attempts."""

import json
import re

from kit import NOBODY, OWN, PEOPLE, family, finish, goes_away, vm
from world import Machine, OWN_ERRORS, Train, iso

SHUTDOWN = (
    "Exception ignored in: <function DataLoader.__del__ at 0x7f0a1b2c3d40>\nTraceback (most recent call last):\n  File \"/opt/conda/lib/python3.11/site-packages/torch/utils/data/dataloader.py\", line 1477, in __del__\n    self._shutdown_workers()\nAttributeError: 'NoneType' object has no attribute 'is_alive'",
    "[rank0]:[W{mmdd} {hms}.123456789 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT been destroyed before we destruct ProcessGroupNCCL. On normal program exit, the application should call destroy_process_group",
    "/opt/conda/lib/python3.11/multiprocessing/resource_tracker.py:254: UserWarning: resource_tracker: There appear to be 8 leaked semaphore objects to clean up at shutdown\n  warnings.warn('resource_tracker: There appear to be %d '",
    "Exception in thread NetStatThr:\nTraceback (most recent call last):\n  File \"/opt/conda/lib/python3.11/threading.py\", line 1045, in _bootstrap_inner\n    self.run()\n  File \"/opt/conda/lib/python3.11/site-packages/wandb/sdk/wandb_run.py\", line 286, in check_network_status\n    self._loop_check_status(\nBrokenPipeError: [Errno 32] Broken pipe",
    "Error in atexit._run_exitfuncs:\nTraceback (most recent call last):\n  File \"/opt/conda/lib/python3.11/site-packages/wandb/sdk/lib/sock_client.py\", line 164, in _sendall_with_error_handle\n    sent = self._sock.send(data)\nConnectionResetError: [Errno 104] Connection reset by peer",
    "Traceback (most recent call last):\n  File \"/opt/conda/lib/python3.11/weakref.py\", line 667, in _exitfunc\n    f()\n  File \"/opt/conda/lib/python3.11/tempfile.py\", line 869, in _cleanup\n    cls._rmtree(name, ignore_errors=ignore_errors)\nOSError: [Errno 39] Directory not empty: '/tmp/tmpk2x8q1'",
    "Exception in thread Thread-4 (_pin_memory_loop):\nTraceback (most recent call last):\n  File \"/opt/conda/lib/python3.11/threading.py\", line 1045, in _bootstrap_inner\n    self.run()\n  File \"/opt/conda/lib/python3.11/site-packages/torch/utils/data/_utils/pin_memory.py\", line 49, in do_one_step\n    r = in_queue.get(timeout=MP_STATUS_CHECK_INTERVAL)\nConnectionResetError: [Errno 104] Connection reset by peer",
    "terminate called without an active exception",
)


def succeeded(m, t):
    if m.system != "el7":
        m.log(t, "systemd", f"{m.unit}.service: Succeeded." if m.system in ("u22", "el8") else f"{m.unit}.service: Deactivated successfully.")


@family("n.shutdown", "unit_ok nothing_else then_stop then_reboot exit1 tqdm_done", 16)
def shutdown(c):
    """An exception while the interpreter shuts down, after the training was done and saved."""
    m, log = vm(c, unit=c.variant not in ("nothing_else",))
    t, v, mild = c.between(900, 1500), c.variant, []
    log.steps(1, t)
    log.say(t + 0.5, c.pick("training completed, saved final checkpoint", "Training finished. Final model saved to /ckpt/final", "training done, total steps 5000", "Training completed. Do not forget to share your model on huggingface.co/models =)"))
    if c.number % 3 == 0:
        log.say(t + 0.8, "uploading artifacts")
    said = SHUTDOWN[c.number % len(SHUTDOWN)].replace('{mmdd}', f'{c.at(t + 1.5):%m%d}').replace('{hms}', f'{c.at(t + 1.5):%H:%M:%S}')
    log.raw(t + 1.5, said)
    right = ["none.completed"]
    if v in ("unit_ok", "then_stop", "then_reboot", "tqdm_done"):
        succeeded(m, t + 2.2)
    if v == "exit1":
        m.exit(t + 2.2, 1)
        right = ["none.completed", "code.exception", "unknown"]
    if v == "then_stop":
        m.sudo(t + c.between(4, 300), c.pick(*PEOPLE), "/usr/bin/systemctl stop train")
    if v == "then_reboot":
        m.sudo(t + 40, c.pick(*PEOPLE), "/usr/sbin/reboot")
        m.log(t + 41, "systemd-logind", "System is rebooting.")
        m.boots(t + 120)
    c.expect(right, f"an exception at shutdown ({v})", mild=mild)
    if v == "nothing_else":
        log.save()
    else:
        finish(c, m, log)


CAUGHT = (
    ("WARNING", "DataLoader worker (pid(s) {p}) exited unexpectedly, restarting loader", None),
    ("WARNING", "failed to fetch shard-000412.tar, skipping", "Traceback (most recent call last):\n  File \"/home/alice/data.py\", line 71, in fetch\n    return open(path, 'rb').read()\nOSError: [Errno 5] Input/output error: '/scratch/shard-000412.tar'"),
    ("ERROR", "evaluation failed, continuing without it", "Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 301, in maybe_eval\n    score = evaluate(model)\nRuntimeError: CUDA error: an illegal memory access was encountered"),
    ("ERROR", "could not upload checkpoint, will retry in 60s", "Traceback (most recent call last):\n  File \"/home/alice/ckpt.py\", line 40, in upload\n    s3.upload_file(path, bucket, key)\nbotocore.exceptions.ClientError: An error occurred (ExpiredToken) when calling the PutObject operation: The provided token has expired."),
    ("WARNING", "wandb: Network error (ConnectionError), entering retry loop.", None),
    ("ERROR", "checkpoint save failed, keeping the previous one", "Traceback (most recent call last):\n  File \"/home/alice/ckpt.py\", line 22, in save\n    torch.save(state, path)\nOSError: [Errno 28] No space left on device"),
    ("WARNING", "CUDA out of memory in microbatch 3, halving batch", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.02 GiB is free."),
    ("ERROR", "nan loss at step, skipping batch: loss=nan", None),
    ("ERROR", "metrics server unreachable: [Errno 111] Connection refused", None),
    ("ERROR", "Caught KeyError in DataLoader worker process 3.", "Original Traceback (most recent call last):\n  File \"/opt/conda/lib/python3.11/site-packages/torch/utils/data/_utils/worker.py\", line 351, in _worker_loop\n    data = fetcher.fetch(index)\nKeyError: 'caption'"),
)


@family("n.caught", "killed bare oom_unit stop reboot completed running limit_exit power", len(CAUGHT))
def caught(c):
    """An error that the program reports and goes on after: steps follow. Minutes later it ends for another reason, or does not end."""
    m, log = vm(c)
    level, text, more = CAUGHT[c.number % len(CAUGHT)]
    first, v = c.between(300, 900), c.variant
    log.steps(1, first)
    log.say(first + 0.2, text.replace("{p}", str(m.pid + 9)), level)
    if more:
        log.raw(first + 0.3, more)
    t = first + c.pick(12, 40, 200, 900)
    last = log.steps(first + 0.5, t)
    actor, mild = None, []
    if v == "running":
        right, mild = ["none.running"], ["unknown"]
        m.noise(5, last + 3)
        m.save()
        log.save()
    elif v == "limit_exit":
        m.log(t + 0.2, "systemd", "train.service: Service reached runtime time limit. Stopping.")
        m.exit(t + 1, -15, result="timeout")
        right = ["code.deadline"]
        finish(c, m, log)
    else:
        right, mild, actor = goes_away(c, m, log, t, v)
        finish(c, m, log)
    c.expect(right, f"caught, then {v}", mild=mild, actor=actor)


@family("n.ranks", "key_first_interleaved key_then_peers oom_rank3_then_peers peers_only assertion_all cuda_rank5 timeout_then_key sigterm_last", 12)
def ranks(c):
    """Eight ranks write into one file; their tracebacks are interleaved line by line, each with its prefix or with none."""
    m, log = vm(c)
    t, v, mild = c.between(700, 1400), c.variant, []
    log.steps(1, t)
    style = c.number % 3
    def head(rank):
        return {0: f"[rank{rank}]: ", 1: f"{rank}: ", 2: f"[default{rank}]:"}[style]
    def tb(rank, error, where, at):
        out = ["Traceback (most recent call last):", "  File \"/home/alice/train.py\", line 231, in <module>", "    main()", "  File \"/home/alice/train.py\", line 118, in main", where, error]
        return [(at + 0.01 * i, head(rank) + line) for i, line in enumerate(out)]
    peer = ("torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, remote process exited or there was a network error, NCCL version 2.21.5", "    dist.all_reduce(x)")
    reset = ("RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.7]:41234", "    dist.barrier()")
    bad = c.pick(3, 5, 6)
    rows = []
    if v == "key_first_interleaved":
        error = c.pick(*OWN_ERRORS)
        rows += tb(bad, *error, t + 0.1)
        for rank in range(8):
            if rank != bad:
                rows += tb(rank, *peer, t + 0.105 + 0.001 * rank)
        right = OWN
    elif v == "key_then_peers":
        rows += tb(bad, *c.pick(*OWN_ERRORS), t + 0.1)
        for rank in (0, 1, 2):
            rows += tb(rank, *reset, t + 1 + rank)
        right = OWN
    elif v == "oom_rank3_then_peers":
        rows += tb(bad, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU %d has a total capacity of 79.15 GiB of which 1.02 GiB is free." % bad, "    loss.backward()", t + 0.1)
        for rank in (0, 1, 2, 4):
            rows += tb(rank, *peer, t + 0.12 + 0.003 * rank)
        right = ["code.cuda_oom"]
    elif v == "peers_only":
        # Who left is not in this file.
        for rank in (0, 1, 2, 4):
            rows += tb(rank, *peer, t + 0.12 + 0.003 * rank)
        right, mild = ["unknown"], ["code.exception", "hang.collective_timeout", "hw.nic"]
    elif v == "assertion_all":
        error = c.pick(*OWN_ERRORS)
        for rank in range(8):
            rows += tb(rank, *error, t + 0.1 + 0.004 * rank)
        right = OWN
    elif v == "cuda_rank5":
        rows += tb(bad, "torch.AcceleratorError: CUDA error: device-side assert triggered", "    loss.backward()", t + 0.1)
        for rank in (0, 2):
            rows += tb(rank, *peer, t + 2 + rank)
        rows.append((t + 0.05, f"../aten/src/ATen/native/cuda/Indexing.cu:1231: indexSelectSmallIndex: block: [3,0,0], thread: [64,0,0] Assertion `srcIndex < srcSelectDimSize` failed."))
        right = OWN
    elif v == "timeout_then_key":
        # A rank that hung in the loader raises at last, after the others had given up.
        for rank in (0, 1):
            rows.append((t + 600 + rank * 0.01, head(rank) + f"[E{c.at(t + 600):%m%d %H:%M:%S}.123456789 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4711, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for 600012 milliseconds before timing out."))
        rows += tb(bad, "TimeoutError: shard-000412.tar: no data for 590 s", "    item = next(it)", t + 590)
        right, mild = OWN + ["dep.storage", "code.data_loader"], ["hang.collective_timeout", "dep.service"]
    else:
        rows += tb(bad, *c.pick(*OWN_ERRORS), t + 0.1)
        rows.append((t + 3, f"W{c.at(t + 3):%m%d %H:%M:%S}.000000 4000 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 4100 closing signal SIGTERM"))
        rows.append((t + 3.5, head(0) + "Received SIGTERM, exiting"))
        right = OWN
    for at, text in rows:
        log.raw(at, text)
    m.exit(max(at for at, _ in rows) + 0.8, 1)
    c.expect(right, f"ranks interleaved: {v}", mild=mild)
    finish(c, m, log)


@family("n.bars", "own own_glued cut_line killed completed reboot stop ansi_own carriage_oom", 10)
def bars(c):
    """A progress bar with carriage returns and colours; an error glued to it; the last line cut off."""
    m = Machine(c, "gpu-07")
    m.noise(-1000, 0)
    m.start(0)
    t, v, actor, mild = c.between(500, 1200), c.variant, None, []
    total, text = 5000, []
    stamped = c.number % 2 == 0
    if stamped:
        text.append(f"{c.at(0):%Y-%m-%d %H:%M:%S},123 INFO starting rank=0 world_size=8 pid={m.pid}\n")
    else:
        text.append(f"starting rank=0 world_size=8 pid={m.pid}\n")
    every = 4
    def bar(k):
        done = "█" * (k * 10 // 300)
        line = f"Epoch 1:  {k * 100 // 300:>3}%|{done:<10}| {k}/300 [{k * every // 60:02}:{k * every % 60:02}<20:00,  4.00s/it, loss={3.1 - k * 0.005:.4f}]"
        return f"\x1b[32m{line}\x1b[0m" if c.number % 3 == 0 else line
    n = int(t // every)
    for k in range(1, n + 1):
        text.append("\r" + bar(k))
        if stamped and k % 50 == 0:
            text.append(f"\n{c.at(k * every):%Y-%m-%d %H:%M:%S},004 INFO train step={k} loss={3.1 - k * 0.005:.4f} lr=1.5e-04\n")
    error, where = c.pick(*OWN_ERRORS)
    tb = f"Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 231, in <module>\n    main()\n  File \"/home/alice/train.py\", line 118, in main\n{where}\n{error}\n"
    class Fake:
        every = 4
        def traceback(self, *a): pass
        def say(self, *a): pass
        def raw(self, *a): pass
    if v == "own":
        text.append("\n" + tb)
        m.exit(t + 0.8, 1)
        right = OWN
    elif v == "own_glued":
        text.append(tb)
        m.exit(t + 0.8, 1)
        right = OWN
    elif v == "ansi_own":
        text.append("\n\x1b[31m" + tb.replace(error, f"\x1b[1;31m{error.split(':')[0]}\x1b[0m: {error.split(':', 1)[-1].strip()}"))
        m.exit(t + 0.8, 1)
        right = OWN
    elif v == "cut_line":
        text.append("\rEpoch 1:  41%|████      | 123/30")
        m.exit(t + 0.8, -9)
        right, mild = ["unknown"], ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]
    elif v == "carriage_oom":
        m.oom_own(t + 0.2, True)
        right = ["code.host_oom"]
    elif v == "completed":
        text.append("\r" + bar(300) + "\ntraining completed, saved final checkpoint\n")
        succeeded(m, t + 1)
        right = ["none.completed"]
    else:
        right, mild, actor = goes_away(c, m, Fake(), t, v)
    c.write("gpu-07/train.log", "".join(text))
    c.expect(right, f"bars: {v}", mild=mild, actor=actor)
    m.noise(5, 4000)
    m.save()


@family("n.rotate", "own oom_unit stop killed reboot completed old_error_then_own old_error_then_completed old_error_then_running", 12)
def rotate(c):
    """The program's log was rotated while it ran: train.log.1 (or train.log-DATE, train.log.1.gz told as text), train.log goes on mid-run."""
    m, log = vm(c)
    t, turn, v, actor, mild = c.between(1200, 2000), c.between(500, 900), c.variant, None, []
    last = log.steps(1, turn - 20)
    if v.startswith("old_error"):
        log.traceback(turn - 18, *c.pick(*OWN_ERRORS))
        m.exit(turn - 17, 1)
        m.log(turn - 7, "systemd", "train.service: Scheduled restart job, restart counter is at 1.")
        m.start(turn - 6.9)
        log.begin(turn - 5, m.pid + 111)
        last = turn - 5
    last = log.steps(last, t)
    kind = v.split("_then_")[-1]
    if kind == "running":
        right, mild = ["none.running"], ["unknown"]
    else:
        m.pid = m.pid + 111 if v.startswith("old_error") else m.pid
        right, mild, actor = goes_away(c, m, log, t, kind)
    rows = sorted(log.lines, key=lambda row: row[0])
    name = ("train.log.1", f"train.log-{c.at(turn):%Y%m%d}", "train.1.log", "train.log.2026-11-18")[c.number % 4]
    c.write(f"gpu-07/{name}", "".join(text for at, text in rows if at < turn))
    c.write("gpu-07/train.log", "".join(text for at, text in rows if at >= turn))
    c.expect(right, f"rotated mid-run: {v}", mild=mild, actor=actor)
    m.noise(5, last + 3 if kind == "running" else 4000)
    m.save()


@family("n.copies", "own killed_stop_after completed stop oom_unit caught_then_running", 12)
def copies(c):
    """The same log shipped twice: plain beside docker's JSON lines, or with a collector's stamp before each line, some lines doubled."""
    m, log = vm(c)
    t, v, actor, mild = c.between(900, 1400), c.variant, None, []
    last = log.steps(1, t)
    if v == "killed_stop_after":
        m.exit(t + 0.5, -9)
        m.sudo(t + 60, c.pick(*PEOPLE), "/usr/bin/systemctl stop train")
        right, mild = ["unknown"], ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]
    elif v == "caught_then_running":
        log.raw(t + 0.1, CAUGHT[1][2])
        last = log.steps(t + 0.2, t + 100)
        right, mild = ["none.running"], ["unknown"]
    else:
        right, mild, actor = goes_away(c, m, log, t, v)
    rows = sorted(log.lines, key=lambda row: row[0])
    style = c.number % 4
    c.write("gpu-07/train.log", "".join(text for _, text in rows))
    out = []
    for at, text in rows:
        for line in text.rstrip("\n").split("\n"):
            stamp = iso(c.at(at + c.rng.random() * 0.4), 6) + "Z"
            if style == 0:
                out.append(json.dumps({"log": line + "\n", "stream": "stderr", "time": stamp}) + "\n")
            elif style == 1:
                out.append(f"{stamp} stdout F {line}\n")
            elif style == 2:
                out.append(f"{stamp} {line}\n")
            else:
                out.append(line + "\n")
                if c.rng.random() < 0.1:
                    out.append(line + "\n")
    c.write(("gpu-07/train-json.log", "gpu-07/train.cri.log", "shipped/gpu-07/train.log", "gpu-07/train-copy.log")[style], "".join(out))
    c.expect(right, f"shipped twice: {v}", mild=mild, actor=actor)
    m.noise(5, last + 3 if v == "caught_then_running" else 4000)
    m.save()


@family("n.attempts", "own_then_completed own_then_running own_then_killed own_then_own2 oom_then_completed segv_then_own own_own_gives_up person_reruns_completed", 10)
def attempts(c):
    """torchrun --max-restarts, or a person's loop, wrote several attempts into one file; no journal but the machine's noise."""
    m, log = vm(c, unit=False, pid=c.number % 2 == 0)
    v, mild = c.variant, []
    a = c.between(300, 700)
    log.steps(1, a)
    def fails(at, kind):
        if kind == "oom":
            log.raw(at + 0.2, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.02 GiB is free.")
        elif kind == "segv":
            log.raw(at + 0.2, "Fatal Python error: Segmentation fault\n\nThread 0x00007f0a1b2c3d40 (most recent call first):\n  File \"/home/alice/train.py\", line 118 in main")
        else:
            log.traceback(at + 0.2, *c.pick(*OWN_ERRORS))
        if c.number % 2:
            log.raw(at + 1, f"E{c.at(at):%m%d %H:%M:%S}.000000 4000 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: {-11 if kind == 'segv' else 1}) local_rank: 0 (pid: 4100) of binary: /opt/conda/bin/python3")
            log.raw(at + 2, f"I{c.at(at):%m%d %H:%M:%S}.000000 4000 torch/distributed/elastic/agent/server/api.py:899] [default] Worker group FAILED. 2/3 attempts left; will restart worker group")
        else:
            log.raw(at + 1, "+ python3 train.py --resume")
    first, then = v.split("_then_") if "_then_" in v else ("own", v)
    fails(a, first)
    b = a + c.pick(12, 40)
    log.begin(b)
    log.say(b + 1, "resuming from checkpoint step=300")
    end = b + c.between(300, 700)
    last = log.steps(b + 1, end)
    until = 4000
    if then in ("completed", "person_reruns_completed"):
        log.say(end + 0.2, "training completed, saved final checkpoint")
        right = ["none.completed"]
    elif then == "running":
        right, mild, until = ["none.running"], ["unknown"], last + 3
    elif then == "killed":
        log.raw(end + 0.4, "Killed" if c.number % 2 == 0 else f"E{c.at(end):%m%d %H:%M:%S}.000000 4000 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: 0 (pid: 4100) of binary: /opt/conda/bin/python3")
        right, mild = ["unknown"], ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]
    else:
        fails(end, "own2")
        if then == "own_own_gives_up":
            pass
        log.lines = [row for row in log.lines if not (row[0] > end + 0.9 and ("attempts left" in row[1] or "--resume" in row[1]))]
        right = OWN
    c.expect(right, f"attempts in one file: {v}", mild=mild)
    finish(c, m, log, until)


@family("n.json", "own warned_exc_then_running warned_exc_then_killed error_field_then_completed own_exception_field loguru_own structlog_caught_then_stop", 10)
def jsonlog(c):
    """Structured logs: an exception is a field, of a warning as of the end."""
    m = Machine(c, "gpu-07")
    m.noise(-1000, 0)
    m.start(0)
    t, v, actor, mild = c.between(600, 1200), c.variant, None, []
    log = Train(c, "gpu-07/train.log", form="json")
    log.begin(1, m.pid)
    error, where = c.pick(*OWN_ERRORS)
    tb = f"Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 118, in main\n{where}\n{error}"
    def put(at, level, event, exc=None):
        style = c.number % 4
        stamp = iso(c.at(at), 6) + "Z"
        one = ({"ts": stamp, "level": level, "msg": event}, {"timestamp": stamp, "level": level, "event": event, "logger": "trainer"}, {"time": stamp, "severity": level.upper(), "message": event},
               {"text": f"{iso(c.at(at), 3)} | {level.upper()} | {event}\n", "record": {"level": {"name": level.upper(), "no": 40}, "message": event, "time": {"repr": stamp, "timestamp": c.at(at).timestamp()}}})[style]
        if exc:
            one[("exc_info", "exception", "stack_trace", "exception")[style]] = exc if style != 3 else {"type": error.split(":")[0], "value": error.split(":", 1)[-1].strip(), "traceback": True}
        log.lines.append((at, json.dumps(one) + "\n"))
    half = t - c.pick(15, 100, 400)
    if v in ("warned_exc_then_running", "warned_exc_then_killed", "error_field_then_completed", "structlog_caught_then_stop"):
        log.steps(1, half)
        put(half + 0.2, c.pick("warning", "error"), "upload failed, will retry", tb)
        last = log.steps(half + 0.3, t)
    else:
        last = log.steps(1, t)
    until = 4000
    if v in ("own", "own_exception_field", "loguru_own"):
        put(t + 0.2, "critical" if c.number % 2 else "error", "training failed" if v != "loguru_own" else "An error has been caught in function '<module>', process 'MainProcess' (4000), thread 'MainThread' (140):", tb)
        m.exit(t + 0.8, 1)
        right = OWN
    elif v == "warned_exc_then_running":
        right, mild, until = ["none.running"], ["unknown"], last + 3
    else:
        right, mild, actor = goes_away(c, m, log, t, {"warned_exc_then_killed": "killed", "error_field_then_completed": "completed", "structlog_caught_then_stop": "stop"}[v])
    c.expect(right, f"structured: {v}", mild=mild, actor=actor)
    finish(c, m, log, until)


@family("n.handler", "stop kill_term nobody own_raise poweroff usr1_goes_on twice_then_kill9 own_before", 10)
def handler(c):
    """The program handles SIGTERM: says so, saves, and exits 0 or 1."""
    m, log = vm(c)
    t, v, actor, mild, who = c.between(900, 1500), c.variant, None, [], c.pick(*PEOPLE)
    log.steps(1, t)
    word = c.pick("Received signal 15 (SIGTERM), saving checkpoint and exiting", "SIGTERM caught: writing emergency checkpoint", "Signal handler called with signal 15; stopping after this step", "exiting program after receiving SIGTERM.")
    code = c.pick(0, 1, 143)
    def leaves(at, code=code):
        log.say(at, word, "WARNING")
        log.say(at + 3, "saved emergency checkpoint to /ckpt/step-000900")
        if code == 0:
            succeeded(m, at + 3.6)
        else:
            m.exit(at + 3.6, code)
    if v == "stop":
        m.sudo(t + 0.1, who, "/usr/bin/systemctl stop train")
        m.log(t + 0.3, "systemd", f"Stopping {m.named('train', 'LLM training')}...")
        leaves(t + 0.5)
        m.log(t + 4.3, "systemd", f"Stopped {m.named('train', 'LLM training')}.")
        right, actor = ["ops.manual_delete"], [who]
    elif v == "kill_term":
        m.sudo(t + 0.1, who, f"/usr/bin/kill {c.pick('', '-15 ', '-TERM ')}{m.pid}")
        leaves(t + 0.3)
        right, actor = ["ops.manual_delete"], [who]
    elif v == "nobody":
        leaves(t + 0.3)
        right, mild = ["unknown"], ["ops.manual_delete", "code.exception"]
    elif v == "own_raise":
        # It raises SIGTERM to itself after an error of its own.
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        log.say(t + 0.5, word, "WARNING")
        m.exit(t + 1.2, 1)
        right = OWN
    elif v == "poweroff":
        m.sudo(t + 0.1, who, "/usr/sbin/poweroff")
        log.say(t + 1.3, word, "WARNING")
        m.goes_down(t + 0.9, "poweroff")
        right, actor = ["node.shutdown", "ops.manual_delete"], [who]
    elif v == "usr1_goes_on":
        m.sudo(t + 0.1, who, "/usr/bin/systemctl kill -s USR1 train")
        log.say(t + 0.3, "Signal handler called with signal 10; writing checkpoint", "WARNING")
        end = t + 300
        log.steps(t + 1, end)
        right, mild, actor = goes_away(c, m, log, end, "own")
    elif v == "twice_then_kill9":
        m.sudo(t + 0.1, who, f"/usr/bin/kill {m.pid}")
        log.say(t + 0.3, word, "WARNING")
        m.sudo(t + 20, who, f"/usr/bin/kill -9 {m.pid}")
        m.exit(t + 20.2, -9)
        right, actor = ["ops.manual_delete"], [who]
    else:
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        m.exit(t + 0.8, 1)
        m.sudo(t + c.between(1.5, 4), who, "/usr/bin/systemctl stop train")
        right = OWN
    c.expect(right, f"a handler of SIGTERM: {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.watch_user", "timeout_124 timeout_kill_137 timeout_124_person watchdog_unit watchdog_other_unit flock_wait systemd_run_max hang_then_watchdog", 10)
def watch_user(c):
    """The user's own guards: `timeout 3600 python train.py`, WatchdogSec, RuntimeMaxSec of a transient unit."""
    m, log = vm(c)
    t, v, actor, mild = c.between(900, 1500), c.variant, None, []
    log.steps(1, t)
    if v in ("timeout_124", "timeout_124_person"):
        # `timeout` in ExecStart: its own status 124 says that the time was up.
        if v == "timeout_124_person":
            m.sudo(t - 30, c.pick(*PEOPLE), "/usr/bin/systemctl restart node_exporter")
        m.exit(t + 0.6, 124)
        right = ["code.deadline", "code.exception", "unknown"]
    elif v == "timeout_kill_137":
        m.exit(t + 0.6, 137)
        right, mild = ["unknown"], ["code.deadline", "code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]
    elif v in ("watchdog_unit", "hang_then_watchdog"):
        if v == "hang_then_watchdog":
            m.kernel(t + 1, "nfs: server 10.0.0.9 not responding, still trying")
        late = t + 300
        m.log(late, "systemd", "train.service: Watchdog timeout (limit 5min)!")
        m.log(late + 0.1, "systemd", f"train.service: Killing process {m.pid} (python3) with signal SIGABRT.")
        m.exit(late + 0.6, -6, result="watchdog")
        right, mild = ["hang.watchdog", "hang.no_progress"] + (["dep.storage"] if v == "hang_then_watchdog" else []), []
    elif v == "watchdog_other_unit":
        m.log(t - 4, "systemd", "jupyter.service: Watchdog timeout (limit 5min)!")
        m.log(t - 3.9, "systemd", f"jupyter.service: Killing process {m.pid + 70} (python3) with signal SIGABRT.")
        right, mild, actor = goes_away(c, m, log, t, "own")
    elif v == "flock_wait":
        log.say(t + 0.4, "another instance holds /var/lock/train.lock, exiting", "ERROR")
        m.exit(t + 0.8, 1)
        right = NOBODY + ["code.config_or_input"]
    else:
        m.log(t + 0.2, "systemd", "train.service: Service reached runtime time limit. Stopping.")
        log.say(t + 0.5, "Received signal 15 (SIGTERM), saving checkpoint and exiting", "WARNING")
        m.exit(t + 4, 0 if False else -15, result="timeout")
        right = ["code.deadline"]
    c.expect(right, f"guards: {v}", mild=mild, actor=actor)
    finish(c, m, log)
