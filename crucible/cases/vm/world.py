"""Observers of bare machines: what journals, kernels, Slurm and clouds write of one truth, each in its own
format and by its own clock. Times are seconds since the run began; `Case.base` is when that was."""

import json
import os
import random
from datetime import datetime, timedelta, timezone

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
DAYS = "Mon Tue Wed Thu Fri Sat Sun".split()
SYSTEMS = ("u22", "u24", "el7", "el8", "el9")
KERNELS = {"u22": "5.15.0-122-generic", "u24": "6.8.0-45-generic", "el7": "3.10.0-1160.119.1.el7.x86_64",
           "el8": "4.18.0-553.el8_10.x86_64", "el9": "5.14.0-427.el9.x86_64"}
FORMATS = ("short-iso", "rsyslog", "json", "short-iso-precise", "syslog")
SIGNALS = {6: "ABRT", 7: "BUS", 9: "KILL", 11: "SEGV", 15: "TERM"}


class Case:
    """One folder: files of input, and what is right."""

    def __init__(self, family, variant, number, seed):
        self.name = f"{family}.{variant}.{number:02}"
        self.family, self.variant, self.number = family, variant, number
        self.rng = random.Random(f"{seed}/{self.name}")
        # Some day of November, some second of the day: runs last less than two hours.
        self.base = datetime(2026, 11, 9 + self.rng.randrange(14), self.rng.randrange(1, 21), self.rng.randrange(60),
                             self.rng.randrange(60), tzinfo=timezone.utc)
        self.system = SYSTEMS[number % len(SYSTEMS)]
        self.form = FORMATS[(number // 2 + number) % len(FORMATS)]
        self.files, self.asked, self.right, self.mild, self.actor, self.story = {}, "train.log", [], [], None, ""

    def at(self, t):
        return self.base + timedelta(seconds=t)

    def pick(self, *things):
        return self.rng.choice(things)

    def between(self, low, high):
        return round(self.rng.uniform(low, high), 3)

    def write(self, path, text):
        self.files[path] = self.files.get(path, "") + text

    def expect(self, right, story, mild=(), actor=None, asked=None):
        """`right`: causes that are right; `mild`: also accepted, at the level of a hypothesis only."""
        self.right, self.story, self.mild, self.actor = list(right), story, list(mild), actor
        self.asked = asked or self.asked

    def save(self, root):
        folder = os.path.join(root, self.name)
        for path, text in self.files.items():
            full = os.path.join(folder, "input", path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as out:
                out.write(text)
        one = {"cause": self.right, "story": f"{self.name}: {self.story}"}
        if self.actor:
            one["actor"] = self.actor
        with open(os.path.join(folder, "expect.json"), "w") as out:
            json.dump({"experiments": {self.asked: one}}, out, indent=1)
        with open(os.path.join(folder, "mild.json"), "w") as out:
            json.dump(self.mild, out)


def iso(when, digits=0):
    text = when.strftime("%Y-%m-%dT%H:%M:%S")
    return text + (f".{when.microsecond // 10 ** (6 - digits):0{digits}}" if digits else "")


def rfc1123(when):
    return f"{DAYS[when.weekday()]}, {when:%d} {MONTHS[when.month - 1]} {when:%Y %H:%M:%S} GMT"


class Train:
    """A program's own log."""

    def __init__(self, case, path, form=None, step=None):
        self.case, self.path, self.lines = case, path, []
        self.form = form or case.pick("logging", "iso", "iter")
        self.number, self.every = case.rng.randrange(1, 5) * 100, step or case.pick(4, 5, 8, 10)

    def say(self, t, text, level="INFO"):
        when = self.case.at(t)
        if self.form in ("bare", "tqdm"):
            head = f"{level} " if self.form == "bare" else ""
        elif self.form == "json":
            self.lines.append((t, json.dumps({"ts": iso(when, 3) + "Z", "level": level.lower(), "msg": text}) + "\n"))
            return
        elif self.form == "iso":
            head = f"{iso(when, 3)}Z {level} trainer "
        elif self.form == "iter":
            head = f"[{when:%Y-%m-%d %H:%M:%S}] "
        else:
            head = f"{when:%Y-%m-%d %H:%M:%S},{when.microsecond // 1000:03} {level} "
        self.lines.append((t, head + text + "\n"))

    def raw(self, t, text):
        self.lines.append((t, text + "\n"))

    def begin(self, t=0.0, pid=None):
        self.say(t, f"starting rank=0 world_size=8 pid={pid}" if pid else "starting rank=0 world_size=8")

    def steps(self, start, end):
        """Steps up to `end`; returns when the last one was."""
        t, last = start + self.every, start
        while t <= end:
            self.number += 1
            loss = max(0.4, 3.1 - self.number * 0.0021)
            if self.form == "tqdm":
                self.lines.append((t, f" {self.number % 100:>2}%|{'#' * (self.number % 10):<10}| {self.number}/5000 [{self.number // 60:02}:{self.number % 60:02}<1:12:01,  1.02it/s]\n{{'loss': {loss:.4f}, 'grad_norm': 0.71, 'learning_rate': 4.9e-05, 'epoch': {self.number / 5000:.2f}}}\n"))
                last, t = t, round(t + self.every, 3)
                continue
            if self.form == "iter":
                text = f"iteration {self.number:>8}/  500000 | elapsed time per iteration (ms): {self.every * 1000:.1f} | lm loss: {loss:.6E} |"
            else:
                text = f"train step={self.number} loss={loss:.4f} lr=1.5e-04"
            self.say(t, text)
            last = t
            t = round(t + self.every * (1 + self.case.rng.uniform(-0.02, 0.02)), 3)
        return last

    def traceback(self, t, error="KeyError: 'pixel_values'", where='    x = batch["pixel_values"]'):
        self.say(t, "training failed", "ERROR")
        self.raw(t, "Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 231, in <module>\n    main()\n"
                 f"  File \"/home/alice/train.py\", line 118, in main\n{where}\n{error}")

    def save(self):
        self.case.write(self.path, "".join(text for _, text in sorted(self.lines, key=lambda line: line[0])))


OWN_ERRORS = (
    ("KeyError: 'pixel_values'", '    x = batch["pixel_values"]'),
    ("ValueError: shapes (4096,128) and (64,4096) not aligned", "    y = a @ b"),
    ("TypeError: forward() got an unexpected keyword argument 'mask'", "    out = model(x, mask=mask)"),
    ("IndexError: list index out of range", "    item = items[n]"),
    ("AssertionError: tokenizer and model disagree", "    assert len(tok) == model.vocab"),
)


class Machine:
    """A machine's journal and kernel, in one order by one clock."""

    def __init__(self, case, host="gpu-07", folder=None, skew=0.0, system=None, form=None):
        self.case, self.host, self.folder, self.skew = case, host, folder or host, skew
        self.system, self.form = system or case.system, form or case.form
        self.lines, self.pids, self.idle, self.down, self.gaps = [], {}, set(), None, []
        self.pid = case.rng.randrange(3000, 30000)  # of the run
        self.booted = -case.rng.randrange(90000, 900000)
        self.unit, self.offset = "train", 0

    def log(self, t, program, text, pid=None):
        if pid is None and program != "kernel":
            pid = 1 if program == "systemd" else self.pids.setdefault(program, self.case.rng.randrange(500, 2500))
        self.lines.append((t, len(self.lines), program, pid, text))

    def kernel(self, t, text):
        self.log(t, "kernel", text)
        if text.startswith("Kernel panic"):
            self.dies(t)

    def noise(self, start, end, every=170):
        """What every machine writes all the time."""
        t = start
        while t < end:
            rng = self.case.rng
            program, text = rng.choice((
                ("CRON", f"(root) CMD (   cd / && run-parts --report /etc/cron.hourly)"),
                ("systemd", "Starting Cleanup of Temporary Directories..." if rng.random() < 0.5 else "Started Session 41 of User alice."),
                ("sshd", f"Accepted publickey for alice from 10.0.0.{rng.randrange(2, 250)} port {rng.randrange(40000, 60000)} ssh2"),
                ("chronyd", "Selected source 169.254.169.123"),
                ("systemd-logind", f"New session {rng.randrange(10, 90)} of user alice."),
                ("kernel", "perf: interrupt took too long (2514 > 2500), lowering kernel.perf_event_max_sample_rate to 79500")))
            self.idle.add(len(self.lines))
            self.log(t, program, text, None if program in ("kernel", "systemd", "systemd-logind", "chronyd") else rng.randrange(30000, 60000))
            t += every * rng.uniform(0.5, 1.5)

    # What systemd says of the service that is the run.

    def named(self, unit, described):
        return f"{unit}.service - {described}" if self.system in ("u24", "el9") else described

    def start(self, t, unit=None):
        self.log(t, "systemd", f"Started {self.named(unit or self.unit, 'LLM training')}.")

    def exit(self, t, status, unit=None, result=None):
        """The main process ended: with a code, or by a signal (`-9`)."""
        unit = unit or self.unit
        main = "main process exited" if self.system == "el7" else "Main process exited"
        if status >= 0:
            how, said, why = "exited", f"{status}/{'FAILURE' if status == 1 else 'n/a'}", "exit-code"
        else:
            how = "dumped" if status in (-6, -7, -11) else "killed"
            said, why = f"{-status}/{SIGNALS[-status]}", "core-dump" if how == "dumped" else "signal"
        self.log(t, "systemd", f"{unit}.service: {main}, code={how}, status={said}")
        if self.system == "el7":
            self.log(t + 0.01, "systemd", f"Unit {unit}.service entered failed state.")
            self.log(t + 0.02, "systemd", f"{unit}.service failed.")
        else:
            self.log(t + 0.01, "systemd", f"{unit}.service: Failed with result '{result or why}'.")

    def stop(self, t, unit=None):
        """systemd stops it, because it was asked to."""
        unit = unit or self.unit
        self.log(t, "systemd", f"Stopping {self.named(unit, 'LLM training')}...")
        self.exit(t + 1.2, -15, unit)
        self.log(t + 1.3, "systemd", f"Stopped {self.named(unit, 'LLM training')}.")

    def sudo(self, t, user, command, refused=False):
        no = "user NOT in sudoers ; " if refused else ""
        self.log(t, "sudo", f"{user:>8} : {no}TTY=pts/0 ; PWD=/home/{user} ; USER=root ; COMMAND={command}", self.case.rng.randrange(30000, 60000))

    # Going down and up.

    def dies(self, t):
        """Nothing of it is heard from now on, until it boots."""
        self.down = t

    def goes_down(self, t, kind="reboot"):
        """A machine that stops in good order."""
        self.dies(t + 3.7)
        word = {"reboot": ("reboot", "rebooting", "Reboot"), "poweroff": ("power off", "powering down", "Power-Off")}[kind]
        if self.system in ("u22", "u24", "el9"):
            self.log(t, "systemd-logind", f"The system will {word[0]} now!")
        self.log(t + 0.1, "systemd-logind", f"System is {word[1]}.")
        self.log(t + 0.3, "systemd", f"Stopping {self.named(self.unit, 'LLM training')}...")
        self.exit(t + 0.9, -15)
        self.log(t + 3.0, "systemd", f"Reached target {'System ' + word[2]}.")
        self.log(t + 3.1, "systemd", "Shutting down.")
        self.log(t + 3.2, "systemd-shutdown", "Syncing filesystems and block devices.", 1)
        self.log(t + 3.4, "systemd-shutdown", "Sending SIGTERM to remaining processes...", 1)
        self.log(t + 3.6, "systemd-journald", "Journal stopped")

    def boots(self, t):
        self.gaps.append((t - 60 if self.down is None else self.down, t))
        self.down = None
        self.lines.append((t - 0.001, len(self.lines), "boot", None, f"{self.case.rng.getrandbits(128):032x}"))
        self.kernel(t, f"Linux version {KERNELS[self.system]} (build@lab) (gcc 11.4.0) #1 SMP")
        self.kernel(t + 0.01, "Command line: BOOT_IMAGE=/vmlinuz root=/dev/nvme0n1p1 ro")
        self.log(t + 2.0, "systemd", "Reached target Network.")
        self.log(t + 4.0, "systemd", "Started OpenSSH server daemon.")

    # What a kernel says.

    def oom(self, t, process, pid, group, limit=None, uid=1000):
        """The kernel kills: `limit` is the group whose limit was reached, None where the machine's memory was out."""
        rss = self.case.rng.randrange(20_000_000, 90_000_000)
        self.kernel(t, f"{process} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0")
        tail = f"total-vm:{rss * 2}kB, anon-rss:{rss}kB, file-rss:12kB, shmem-rss:0kB"
        if self.system == "el7":
            if limit:
                self.kernel(t + 0.01, f"Task in {group} killed as a result of limit of {limit}")
            head = "Memory cgroup out of memory" if limit else "Out of memory"
            self.kernel(t + 0.02, f"{head}: Kill process {pid} ({process}) score 1950 or sacrifice child")
            self.kernel(t + 0.03, f"Killed process {pid} ({process}) {tail}")
            return
        where = f"CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0-1,oom_memcg={limit}" if limit \
            else "CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom"
        self.kernel(t + 0.01, f"oom-kill:constraint={where},task_memcg={group},task={process},pid={pid},uid={uid}")
        head = "Memory cgroup out of memory" if limit else "Out of memory"
        self.kernel(t + 0.02, f"{head}: Killed process {pid} ({process}) {tail}, UID:{uid} pgtables:2144kB oom_score_adj:0")

    def oom_own(self, t, limited):
        group = f"/system.slice/{self.unit}.service"
        self.oom(t, "python3", self.pid, group, group if limited else None)
        if self.system != "el7":
            self.log(t + 0.3, "systemd", f"{self.unit}.service: A process of this unit has been killed by the OOM killer.")
        self.exit(t + 0.5, -9, result="oom-kill")

    def segfault(self, t, process, pid):
        lib = self.case.pick("libtorch_cpu.so", "libc.so.6", "_fused.cpython-310-x86_64-linux-gnu.so")
        tail = " likely on CPU 12 (core 12, socket 0)" if self.system == "u24" else ""
        self.kernel(t, f"{process}[{pid}]: segfault at 10 ip 00007f0e1c2d4a10 sp 00007ffd0c3e1a20 error 4 in {lib}[7f0e1c000000+1a2000]{tail}")

    def coredump(self, t, process, pid, signal=11):
        if self.system == "el7":
            self.log(t, "abrt-hook-ccpp", f"Process {pid} ({process}) of user 1000 killed by SIG{SIGNALS[signal]} - dumping core", 41000)
        else:
            self.log(t, "systemd-coredump", f"Process {pid} ({process}) of user 1000 dumped core.", 41000)

    def xid(self, t, code, pci="0000:3b:00", pid=None, name=None):
        words = {79: "GPU has fallen off the bus.", 48: "DBE (double bit error) detected", 94: "Contained: CE User Channel (0x9). RST: No, D-RST: No",
                 31: "Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f2a_00000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
                 74: "NVLink: fatal error detected on link 4(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)", 95: "Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No",
                 119: "Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL)"}[code]
        who = f"pid={pid}, name={name}" if pid else "pid='<unknown>', name=<unknown>"
        self.kernel(t, f"NVRM: Xid (PCI:{pci}): {code}, {who}, {words}")

    def link(self, t, device, up):
        self.kernel(t, f"mlx5_core 0000:5c:00.0 {device}: Link {'up' if up else 'down'}" if device.startswith(("e", "ib")) else f"{device}: Port: 1 Link {'ACTIVE' if up else 'DOWN'}")

    # Its file.

    def kept(self):
        """What it wrote: a machine that is down writes nothing."""
        gaps = self.gaps + ([(self.down, float("inf"))] if self.down is not None else [])
        return [row for row in self.lines if not (row[1] in self.idle and any(down <= row[0] < up for down, up in gaps))]

    def save_split(self):
        """As a syslog daemon writes it: who signs in, the kernel, the rest."""
        names = ("auth.log", "kern.log", "syslog") if self.system.startswith("u") else ("secure", "messages", "messages")
        self.form = self.form if self.form in ("rsyslog", "syslog") else "rsyslog"
        for row in sorted(self.kept(), key=lambda row: (row[0], row[1])):
            which = 0 if row[2] in ("sudo", "sshd", "su", "systemd-logind") and (row[2] != "systemd-logind" or self.system.startswith("u")) else 1 if row[2] == "kernel" else 2
            self.case.write(f"{self.folder}/{names[which]}", self.line(*row) or "")

    def save(self, path=None, only_kernel=False):
        rows = sorted(self.kept(), key=lambda row: (row[0], row[1]))
        if only_kernel:
            rows = [row for row in rows if row[2] == "kernel"]
        names = {"json": "journal.json", "syslog": "syslog" if self.system.startswith("u") else "messages", "rsyslog": "syslog",
                 "dmesg": "dmesg.txt", "dmesg-T": "dmesg.txt", "export": "journal.export", "verbose": "journal-verbose.log"}
        path = path or f"{self.folder}/{names.get(self.form, 'journal.log')}"
        self.case.write(path, "".join(filter(None, (self.line(*row) for row in rows))))

    def line(self, t, _, program, pid, text):
        when = self.case.at(t + self.skew)
        if program == "boot":
            return f"-- Boot {text} --\n" if self.form.startswith("short") else None
        tag = program if pid is None or self.system == "el7" and program == "systemd" and self.form == "syslog" else f"{program}[{pid}]"
        if self.form == "short-iso":
            return f"{iso(when + timedelta(hours=self.offset))}+0{self.offset}00 {self.host} {tag}: {text}\n"
        if self.form == "short-iso-precise":
            return f"{iso(when, 6)}+00:00 {self.host} {tag}: {text}\n"
        if self.form == "rsyslog":
            return f"{iso(when, 6)}+00:00 {self.host} {tag}: {text}\n"
        if self.form == "syslog":
            return f"{MONTHS[when.month - 1]} {when.day:>2} {when:%H:%M:%S} {self.host.split('.')[0]} {tag}: {text}\n"
        if self.form == "short-full":
            return f"{DAYS[when.weekday()]} {when:%Y-%m-%d %H:%M:%S} UTC {self.host} {tag}: {text}\n"
        if self.form == "short-unix":
            return f"{when.timestamp():.6f} {self.host} {tag}: {text}\n"
        if self.form in ("export", "verbose"):
            fields = {"_HOSTNAME": self.host, "PRIORITY": "6", "SYSLOG_IDENTIFIER": program, "_TRANSPORT": "kernel" if program == "kernel" else "journal", "MESSAGE": text}
            if pid:
                fields["_PID"] = str(pid)
            if self.form == "export":
                head = f"__CURSOR=s=1;i={_:x}\n__REALTIME_TIMESTAMP={int(when.timestamp() * 1e6)}\n__MONOTONIC_TIMESTAMP={int((t - self.booted) * 1e6)}\n_BOOT_ID=1\n"
                return head + "".join(f"{key}={value}\n" for key, value in fields.items()) + "\n"
            return f"{DAYS[when.weekday()]} {when:%Y-%m-%d %H:%M:%S}.{when.microsecond:06} UTC [s=1;i={_:x};b=1;m=1;t=1;x=1]\n" + "".join(f"    {key}={value}\n" for key, value in fields.items())
        if self.form == "dmesg-T":
            return f"[{DAYS[when.weekday()]} {MONTHS[when.month - 1]} {when.day:>2} {when:%H:%M:%S} {when.year}] {text}\n"
        record = {"__REALTIME_TIMESTAMP": str(int(when.timestamp() * 1e6)), "_HOSTNAME": self.host, "PRIORITY": "6", "MESSAGE": text,
                  "SYSLOG_IDENTIFIER": program, "_TRANSPORT": "kernel" if program == "kernel" else "journal"}
        if pid:
            record["_PID"] = str(pid)
        return json.dumps(record) + "\n"


class Slurm:
    """A controller's log and its accounting, for one job and those beside it."""

    def __init__(self, case, job=None, nodes="gpu07", skew=0.0, user="alice", uid=1000):
        self.case, self.job, self.nodes, self.skew = case, job or case.rng.randrange(5000, 9000), nodes, skew
        self.user, self.uid, self.lines, self.rows = user, uid, [], []
        self.form = case.number % 3  # accounting as parsable text, as JSON, or text with fewer columns
        self.ctld(0.0, f"sched: Allocate JobId={self.job} NodeList={nodes} #CPUs=128 Partition=gpu")

    def ctld(self, t, text):
        self.lines.append((t, len(self.lines), text))

    def kill(self, t, uid):
        self.ctld(t, f"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={self.job} uid {uid}")

    def complete(self, t, code):
        self.ctld(t, f"_job_complete: JobId={self.job} {'WTERMSIG' if code < 0 else 'WEXITSTATUS'} {abs(code)}")
        self.ctld(t + 0.001, f"_job_complete: JobId={self.job} done")

    def account(self, state, code, start, end, steps=None, job=None, name="train", nodes=None, user=None):
        """A row of the job, and of its steps: `steps` are (name, state, code[, start, end])."""
        self.rows.append((job or self.job, name, user or self.user, state, code, start, end, nodes or self.nodes, steps))

    def ended(self, state, code, end, step=None, start=0.0):
        """The usual three steps, of which the last has `step` as its own state and code."""
        plain = state.split(" ")[0]
        batch = {"TIMEOUT": ("CANCELLED", "0:15"), "CANCELLED": ("CANCELLED", "0:15"), "PREEMPTED": ("CANCELLED", "0:15"),
                 "NODE_FAIL": ("CANCELLED", "0:15"), "REQUEUED": ("CANCELLED", "0:15")}.get(plain, (plain, code))
        step = step or (plain if plain not in ("NODE_FAIL", "TIMEOUT", "PREEMPTED", "REQUEUED") else "CANCELLED", code)
        self.account(state, code, start, end, [("batch", *batch), ("extern", "COMPLETED", "0:0"), ("0", *step)])

    def save(self, controller=True, accounting=True):
        if controller and self.lines:
            rows = sorted(self.lines)
            self.case.write("slurmctld.log", "".join(f"[{iso(self.case.at(t + self.skew), 3)}] {text}\n" for t, _, text in rows))
        if accounting and self.rows:
            self.case.write("sacct.json" if self.form == 1 else "sacct.txt", self.json() if self.form == 1 else self.text())

    def text(self):
        full = self.form == 0
        out = ["JobID|JobName|User|UID|Partition|State|ExitCode|Submit|Start|End|NodeList|Reason\n" if full
               else "JobID|JobName|User|Partition|State|ExitCode|Start|End|NodeList\n"]
        def row(job, name, user, uid, part, state, code, start, end, nodes):
            start, end = iso(self.case.at(start + self.skew)), iso(self.case.at(end + self.skew)) if end is not None else "Unknown"
            cells = (job, name, user, uid, part, state, code, start, start, end, nodes, "None") if full else (job, name, user, part, state, code, start, end, nodes)
            out.append("|".join(map(str, cells)) + "\n")
        for job, name, user, state, code, start, end, nodes, steps in self.rows:
            row(job, name, user, self.uid, "gpu", state, code, start, end, nodes)
            for step, of, ended, *times in steps or ():
                row(f"{job}.{step}", {"batch": "batch", "extern": "extern"}.get(step, "python"), "", "", "", of, ended, *(times or (start, end)), nodes)
        return "".join(out)

    def json(self):
        def stamp(t):
            # Seconds since 1970 are in no zone.
            return int(self.case.at(t + self.skew % 3600).timestamp()) if t is not None else 0
        def exited(code):
            number, signal = map(int, code.split(":"))
            return {"status": ["SIGNALED" if signal else "ERROR" if number else "SUCCESS"],
                    "return_code": {"set": True, "infinite": False, "number": number},
                    "signal": {"id": {"set": bool(signal), "infinite": False, "number": signal}, "name": SIGNALS.get(signal, "")}}
        jobs = []
        for job, name, user, state, code, start, end, nodes, steps in self.rows:
            by = state.split(" by ")[1] if " by " in state else ""
            jobs.append({"job_id": job, "name": name, "cluster": "lab", "user": user, "partition": "gpu", "nodes": nodes, "kill_request_user": by,
                         "state": {"current": [state.split(" ")[0]], "reason": "None"}, "exit_code": exited(code),
                         "time": {"submission": stamp(start - 60), "start": stamp(start), "end": stamp(end), "elapsed": int((end or 0) - start)},
                         "steps": [{"step": {"id": f"{job}.{step}", "name": step}, "state": [of], "exit_code": exited(ended), "nodes": {"count": 1, "range": nodes},
                                    "time": {"start": {"set": True, "number": stamp((times or (start, end))[0])}, "end": {"set": True, "number": stamp((times or (start, end))[1])}}}
                                   for step, of, ended, *times in steps or ()]})
        return json.dumps({"meta": {"slurm": {"version": {"major": "24", "micro": "4", "minor": "05"}}}, "jobs": jobs, "errors": []}, indent=1)


class Cloud:
    """Records of a cloud's activity, by the cloud's own clock."""

    def __init__(self, case, skew=0.0):
        self.case, self.skew, self.entries = case, skew, {}

    def z(self, t, digits=0):
        return iso(self.case.at(t + self.skew), digits) + "Z"

    def hex(self, n):
        return f"{self.case.rng.getrandbits(4 * n):0{n}x}"

    def uuid(self):
        h = self.hex(32)
        return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"

    def put(self, path, record):
        self.entries.setdefault(path, []).append(record)

    def save(self):
        for path, records in self.entries.items():
            if path.endswith(".jsonl"):
                text = "".join(json.dumps(one) + "\n" for one in records)
            elif "cloudtrail" in path:
                text = json.dumps({"Records": records}, indent=1)
            elif "activities" in path:
                text = json.dumps({"Activities": records}, indent=1)
            elif "instances" in path:
                text = json.dumps({"Reservations": [{"OwnerId": "123456789012", "ReservationId": "r-0a1b2c3d4e5f60718", "Instances": [one]} for one in records]}, indent=1)
            elif "scheduled" in path:
                text = json.dumps({"DocumentIncarnation": 1, "Events": records}, indent=1)
            elif "azure" in path:
                text = json.dumps({"value": records}, indent=1)
            else:
                text = json.dumps(records, indent=1)
            self.case.write(path, text)


class Gce(Cloud):
    def __init__(self, case, vm="trainer-vm-8", skew=0.0):
        super().__init__(case, skew)
        self.vm, self.id = vm, str(case.rng.randrange(10 ** 15, 10 ** 16))

    def entry(self, t, method, log, auth, more, severity="NOTICE", vm=None, id=None):
        self.put("gcp.jsonl", {
            "protoPayload": {"@type": "type.googleapis.com/google.cloud.audit.AuditLog", "authenticationInfo": auth, "serviceName": "compute.googleapis.com",
                             "methodName": method, "resourceName": f"projects/lab-train/zones/us-central1-a/instances/{vm or self.vm}",
                             "request": {"@type": f"type.googleapis.com/{method.split('.', 1)[1] if method[0] in 'vb' else method}"}, **more.pop("payload", {})},
            "insertId": self.hex(12), "resource": {"type": "gce_instance", "labels": {"zone": "us-central1-a", "instance_id": id or self.id, "project_id": "lab-train"}},
            "timestamp": self.z(t, 6), "severity": severity, "logName": f"projects/lab-train/logs/cloudaudit.googleapis.com%2F{log}",
            "receiveTimestamp": self.z(t + 1, 6), **more})

    def system(self, t, what, message="", vm=None, id=None):
        self.entry(t, f"compute.instances.{what}", "system_event", {"principalEmail": "system@google.com"},
                   {"payload": {"status": {"message": message} if message else {}},
                    "operation": {"id": f"systemevent-{self.hex(20)}", "producer": f"compute.instances.{what}", "first": True, "last": True}}, "INFO", vm, id)

    def call(self, t, what, who, takes=30, agent="google-cloud-sdk gcloud/531.0.0", error=None, vm=None, id=None):
        op = {"id": f"operation-{self.hex(24)}", "producer": "compute.googleapis.com"}
        asked = {"requestMetadata": {"callerIp": "203.0.113.9", "callerSuppliedUserAgent": agent}}
        self.entry(t, f"v1.compute.instances.{what}", "activity", {"principalEmail": who}, {"payload": dict(asked), "operation": {**op, "first": True}}, vm=vm, id=id)
        last = {**asked, **({"status": error} if error else {})}
        self.entry(t + takes, f"v1.compute.instances.{what}", "activity", {"principalEmail": who}, {"payload": last, "operation": {**op, "last": True}},
                   "ERROR" if error else "NOTICE", vm, id)


class Aws(Cloud):
    def __init__(self, case, skew=0.0):
        super().__init__(case, skew)
        self.id = "i-0" + self.hex(16)
        self.dns = f"ip-10-0-{case.rng.randrange(1, 9)}-{case.rng.randrange(10, 250)}"

    def trail(self, t, event, who=None, error=None, ids=None, more=None, role=None, service=None):
        ids = ids or [self.id]
        if role:
            user = {"type": "AssumedRole", "principalId": f"AROA:{role}", "arn": f"arn:aws:sts::123456789012:assumed-role/{role}/session", "accountId": "123456789012",
                    "sessionContext": {"sessionIssuer": {"type": "Role", "arn": f"arn:aws:iam::123456789012:role/{role}", "userName": role}}}
        elif service:
            user = {"type": "AWSService", "invokedBy": service}
        else:
            user = {"type": "IAMUser", "principalId": "AIDAXXXX", "arn": f"arn:aws:iam::123456789012:user/{who}", "accountId": "123456789012", "userName": who}
        record = {"eventVersion": "1.10", "userIdentity": user, "eventTime": self.z(t), "eventSource": "ec2.amazonaws.com", "eventName": event, "awsRegion": "us-east-1",
                  "sourceIPAddress": service or "203.0.113.9", "userAgent": service or "aws-cli/2.15.0",
                  "requestParameters": more or {"instancesSet": {"items": [{"instanceId": one} for one in ids]}},
                  "responseElements": None if error or more else {"instancesSet": {"items": [{"instanceId": one, "currentState": {"code": 32, "name": "shutting-down"},
                                                                                               "previousState": {"code": 16, "name": "running"}} for one in ids]}},
                  "requestID": self.uuid(), "eventID": self.uuid(), "readOnly": False, "eventType": "AwsApiCall", "managementEvent": True, "recipientAccountId": "123456789012"}
        if event.endswith("InstanceInAutoScalingGroup") or event in ("SetDesiredCapacity", "UpdateAutoScalingGroup", "SetInstanceHealth"):
            record["eventSource"] = "autoscaling.amazonaws.com"
        if error:
            record["errorCode"], record["errorMessage"] = error
        self.put("cloudtrail.json", record)

    def evicted(self, t):
        self.put("cloudtrail.json", {"eventVersion": "1.11", "eventTime": self.z(t), "eventSource": "ec2.amazonaws.com", "eventName": "BidEvictedEvent", "awsRegion": "us-east-1",
                                     "userIdentity": {"accountId": "123456789012", "invokedBy": "ec2.amazonaws.com"}, "sourceIPAddress": "ec2.amazonaws.com", "userAgent": "ec2.amazonaws.com",
                                     "requestParameters": None, "responseElements": None, "eventID": self.uuid(), "eventType": "AwsServiceEvent", "recipientAccountId": "123456789012",
                                     "serviceEventDetails": {"instanceIdSet": [self.id]}})

    def bridge(self, t, kind, source, detail):
        self.put("eventbridge.jsonl", {"version": "0", "id": self.uuid(), "detail-type": kind, "source": source, "account": "123456789012", "time": self.z(t), "region": "us-east-1",
                                       "resources": [f"arn:aws:ec2:us-east-1:123456789012:instance/{self.id}"], "detail": detail})

    def state(self, t, state):
        self.bridge(t, "EC2 Instance State-change Notification", "aws.ec2", {"instance-id": self.id, "state": state})

    def activity(self, t, cause, takes=60, launch=None):
        self.put("asg-activities.json", {"ActivityId": self.uuid(), "AutoScalingGroupName": "train-asg", "Cause": cause, "StatusCode": "Successful", "Progress": 100,
                                         "Description": f"{'Launching a new EC2 instance: ' + launch if launch else 'Terminating EC2 instance: ' + self.id}",
                                         "StartTime": self.z(t, 3), "EndTime": self.z(t + takes), "Details": '{"Subnet ID":"subnet-1","Availability Zone":"us-east-1a"}'})

    def instance(self, launched, state="running", reason=None, transition="", group=None):
        tags = [{"Key": "experiment", "Value": "exp-1"}] + ([{"Key": "aws:autoscaling:groupName", "Value": group}] if group else [])
        one = {"InstanceId": self.id, "InstanceType": "p5.48xlarge", "LaunchTime": self.z(launched), "PrivateDnsName": f"{self.dns}.ec2.internal", "PrivateIpAddress": self.dns[3:].replace("-", "."),
               "Placement": {"AvailabilityZone": "us-east-1a"}, "State": {"Code": {"running": 16, "stopped": 80, "terminated": 48}[state], "Name": state}, "StateTransitionReason": transition, "Tags": tags}
        if reason:
            one["StateReason"] = {"Code": reason[0], "Message": reason[1]}
        self.put("instances.json", one)


class Azure(Cloud):
    def __init__(self, case, vm="trainer-vm-3", skew=0.0):
        super().__init__(case, skew)
        self.vm = vm
        self.res = f"/subscriptions/1f2e3d4c-0000-4000-8000-aabbccddeeff/resourceGroups/rg-train/providers/Microsoft.Compute/virtualMachines/{vm}"
        self.where = "azure.json"

    def entry(self, t, category, operation, status, caller, props, correlation, level="Informational", res=None):
        res = res or self.res
        self.put(self.where, {"channels": "Admin, Operation", "correlationId": correlation, "description": "", "eventDataId": self.uuid(), "eventName": {"value": "", "localizedValue": ""},
                              "category": {"value": category, "localizedValue": category}, "eventTimestamp": self.z(t, 6)[:-1] + "5Z", "id": f"{res}/events/{self.uuid()}/ticks/1", "level": level,
                              "operationId": self.uuid(), "operationName": {"value": operation, "localizedValue": operation}, "resourceGroupName": "rg-train", "resourceId": res,
                              "resourceType": {"value": "Microsoft.Compute/virtualMachines", "localizedValue": ""}, "status": {"value": status, "localizedValue": status},
                              "subStatus": {"value": "", "localizedValue": ""}, "submissionTimestamp": self.z(t + 120, 6)[:-1] + "7Z", "subscriptionId": "1f2e3d4c-0000-4000-8000-aabbccddeeff",
                              "properties": props, **({"caller": caller} if caller else {})})

    def call(self, t, action, who, takes=40, failed=False, res=None):
        """An operation of Administrative: started, accepted, done."""
        same = self.uuid()
        for after, status in ((0, "Started"), (1, "Accepted"), (takes, "Failed" if failed else "Succeeded")):
            self.entry(t + after, "Administrative", f"Microsoft.Compute/virtualMachines/{action}", status, who, {}, same, "Error" if status == "Failed" else "Informational", res)

    def health(self, t, cause, category, title, details="", status="Unavailable", kind="Downtime", stage="Active"):
        self.entry(t, "ResourceHealth", f"Microsoft.Resourcehealth/healthevent/{'Activated' if stage == 'Active' else 'Resolved'}/action", stage, None,
                   {"stage": stage, "title": title, "details": details, "currentHealthStatus": status, "previousHealthStatus": "Available", "type": kind, "cause": cause,
                    "healthStatus": status, "healthEventType": kind, "healthEventCause": cause, "healthEventCategory": category}, self.uuid(), "Critical")

    def machine(self):
        self.put("vms.json", {"id": self.res, "name": self.vm, "location": "westeurope", "type": "Microsoft.Compute/virtualMachines", "powerState": "VM running",
                              "hardwareProfile": {"vmSize": "Standard_ND96isr_H100_v5"}, "osProfile": {"computerName": self.vm}, "timeCreated": self.z(-7200, 6), "tags": {"experiment": "exp-1"}})

    def scheduled(self, t, kind, status="Started", source="Platform", lasts=-1):
        self.put("scheduled-events.json", {"EventId": self.uuid(), "EventType": kind, "ResourceType": "VirtualMachine", "Resources": [self.vm], "EventStatus": status,
                                           "NotBefore": rfc1123(self.case.at(t + self.skew)), "Description": f"{kind} of the virtual machine", "EventSource": source, "DurationInSeconds": lasts})
