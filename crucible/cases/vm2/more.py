"""Words of commands, words that are only quoted, copies of one journal, gangs whose guests tell."""

import json

from clouds import guest
from kit import NOBODY, OWN, PEOPLE, bystander, down_quietly, family, finish, goes_away, vm
from world import Aws, Azure, Case, Gce, Machine, OWN_ERRORS, Train, iso

STOPS = {
    "disable_now": "/usr/bin/systemctl disable --now train", "mask_now": "/usr/bin/systemctl mask --now train.service", "service_stop": "/usr/sbin/service train stop",
    "initd": "/etc/init.d/train stop", "kill_unit": "/usr/bin/systemctl kill train", "kill_unit9": "/usr/bin/systemctl kill -s KILL train", "stop_many": "/usr/bin/systemctl stop jupyter train node_exporter",
    "stop_glob": "/usr/bin/systemctl stop train*", "try_restart": "/usr/bin/systemctl try-restart train", "reload_or_restart": "/usr/bin/systemctl reload-or-restart train",
    "no_block": "/usr/bin/systemctl --no-block stop train", "bash_c": "/bin/bash -c systemctl stop train", "term_user": "/usr/bin/loginctl terminate-user alice", "killall_user": "/usr/bin/killall -9 -u alice",
    "pkill_user": "/usr/bin/pkill -9 -u alice", "kill_pidof": "/usr/bin/kill -9 {pid}", "kill_group": "/usr/bin/kill -9 -- -{pid}", "sh_kill": "/bin/sh -c kill -9 {pid}", "fuser": "/usr/bin/fuser -k /dev/nvidia0", "rescue": "/usr/bin/systemctl isolate rescue.target",
    "init6": "/usr/sbin/init 6", "telinit6": "/usr/sbin/telinit 6", "init0": "/usr/sbin/init 0", "sysctl_b": "/usr/bin/tee /proc/sysrq-trigger", "reboot_f": "/usr/sbin/reboot -f", "systemctl_rf": "/usr/bin/systemctl --force reboot",
    "soft_reboot": "/usr/bin/systemctl soft-reboot", "shutdown_r_now_msg": "/usr/sbin/shutdown -r now kernel update", "shutdown_plus0": "/usr/sbin/shutdown -r +0", "shutdown_h": "/usr/sbin/shutdown --poweroff now", "halt_p": "/usr/sbin/halt -p",
}


@family("w.verbs", " ".join(STOPS), 6)
def verbs(c):
    """Each way in which a person stops the service, or the machine."""
    m, log = vm(c)
    t, who, v = c.between(900, 1500), c.pick(*PEOPLE), c.variant
    log.steps(1, t)
    m.sudo(t + 0.2, who, STOPS[v].format(pid=m.pid))
    right, mild = ["ops.manual_delete"], []
    if v in ("init6", "telinit6", "shutdown_r_now_msg", "shutdown_plus0", "soft_reboot"):
        m.goes_down(t + 0.8)
        m.boots(t + 90) if v != "soft_reboot" else None
        right = ["node.reboot"] + (["ops.manual_delete"] if v == "soft_reboot" else [])
    elif v in ("init0", "shutdown_h", "halt_p"):
        m.goes_down(t + 0.8, "poweroff")
        m.boots(t + 900)
        right = ["node.shutdown", "ops.manual_delete"]
    elif v in ("sysctl_b", "reboot_f", "systemctl_rf"):
        if v == "sysctl_b":
            m.kernel(t + 0.3, "sysrq: Resetting")
        m.dies(t + 0.4)
        m.boots(t + 90)
        right = ["node.reboot"]
    elif v in ("killall_user", "pkill_user", "kill_pidof", "kill_group", "sh_kill", "fuser", "kill_unit9"):
        m.exit(t + 0.4, -9)
        mild = ["unknown"] if v in ("killall_user", "pkill_user", "fuser") else []
        right += ["unknown"] if v == "fuser" else []
    elif v == "kill_unit":
        m.exit(t + 0.4, -15)
    elif v == "rescue":
        m.stop(t + 0.5)
    elif v == "term_user":
        m.exit(t + 0.4, -15)
        right = ["ops.manual_delete", "unknown"]
    elif "restart" in v:
        m.stop(t + 0.5)
        m.start(t + 3)
    else:
        m.stop(t + 0.5)
    c.expect(right, f"sudo {STOPS[v]}", mild=mild, actor=None if "unknown" in right else [who])
    finish(c, m, log, t + 400)


HARMLESS = [
    "/usr/sbin/shutdown -k now", "/usr/sbin/shutdown -k +1 test", "/usr/bin/last reboot", "/usr/sbin/reboot --help", "/usr/bin/systemctl reboot --help", "/usr/bin/systemctl cat reboot.target", "/usr/bin/systemctl status poweroff.target",
    "/usr/bin/ssh gpu-08 reboot", "/usr/bin/ssh root@gpu-08 /usr/sbin/reboot", "/usr/bin/pdsh -w gpu-08 /sbin/reboot", "/usr/bin/docker exec web reboot", "/usr/bin/virsh reboot web-1", "/usr/bin/virsh shutdown web-1", "/usr/bin/lxc exec web -- shutdown -h now",
    "/usr/bin/ansible gpu-08 -m reboot", "/usr/bin/systemctl -H root@gpu-08 stop train", "/usr/bin/systemctl -H gpu-08 reboot", "/usr/bin/systemctl --host=gpu-08 poweroff", "/usr/bin/systemctl -M web stop train", "/usr/bin/systemctl -M web reboot", "/usr/bin/systemctl stop train.timer", "/usr/bin/systemctl stop train.socket", "/usr/bin/systemctl stop train-exporter", "/usr/bin/systemctl stop train@2",
    "/usr/bin/systemctl --user stop train", "/usr/bin/systemctl kill -s CONT train", "/usr/bin/systemctl kill --signal=SIGUSR2 train", "/usr/bin/kill -CONT {pid}", "/usr/bin/kill -USR1 {pid}", "/usr/bin/kill -0 {pid}", "/usr/bin/kill -l 9", "/usr/bin/pkill -HUP rsyslogd", "/usr/bin/pkill -9 -f tensorboard",
    "/usr/bin/killall -9 Xorg", "/usr/bin/grep -r reboot /var/log", "/usr/bin/vi /usr/sbin/reboot", "/usr/bin/man shutdown", "/usr/bin/which reboot", "/usr/bin/ls -l /sbin/shutdown", "/usr/bin/journalctl -u train --since reboot", "/usr/bin/apt-get install needrestart", "/usr/bin/systemctl is-active train", "/usr/bin/systemctl start train",
    "/usr/bin/systemctl enable train", "/usr/bin/systemctl set-property train MemoryMax=64G", "/usr/bin/systemctl list-dependencies shutdown.target", "/usr/bin/at 23:00 -f /usr/local/bin/reboot-all.sh", "/usr/bin/crontab -l", "/usr/bin/ipmitool -H gpu-08-bmc chassis power cycle", "/usr/bin/ipmitool chassis power status",
    "/usr/bin/ipmitool chassis power on", "/usr/bin/nsenter -t 4000 -a reboot", "/usr/bin/echo reboot", "/usr/bin/tail -f /var/log/reboot.log", "/usr/bin/scontrol reboot gpu08", "/usr/bin/docker stop trainer-db", "/usr/bin/docker kill --signal=HUP train", "/usr/bin/docker restart train-db", "/usr/sbin/kexec -l /boot/vmlinuz", "/usr/bin/pkill -u bob python3", "/usr/bin/kill -9 1{pid}", "/usr/bin/kill {pid}7",
    "/usr/bin/systemctl restart train-log-shipper", "/usr/bin/systemctl stop 'train-eval'", "/usr/bin/gcloud compute instances stop trainer-2", "/usr/bin/aws ec2 reboot-instances --instance-ids i-0123456789abcdef0", "/usr/bin/kubectl drain gpu-08", "/usr/bin/umount /mnt/backup", "/usr/bin/find / -name shutdown", "/usr/bin/systemctl reboot --when=+12h", "/usr/sbin/shutdown -r 23:59 nightly",
]


@family("w.harmless", "own bare killed term completed running", len(HARMLESS))
def harmless(c):
    """A command that ends nothing, seconds before the run ends for another reason."""
    c.system = ("u22", "u24", "el8", "el9")[c.number % 4]
    c.form = ("short-iso", "rsyslog", "json", "short-iso-precise")[c.number % 4]
    m, log = vm(c)
    t, who = c.between(900, 1500), c.pick(*PEOPLE)
    command = HARMLESS[c.number].format(pid=m.pid)
    log.steps(1, t)
    if c.variant in ("killed", "term"):
        m.sudo(t - c.between(0.5, 3), who, command)
        m.exit(t + 0.4, -9 if c.variant == "killed" else -15)
        right, mild = ["unknown"], ["code.host_oom", "node.system_oom", "code.exception", "node.reboot", "ops.manual_delete"]
    elif c.variant == "running":
        m.sudo(t - 40, who, command)
        right, mild = ["none.running"], ["unknown"]
        m.log(t + 1, "sshd", "Accepted publickey for alice from 10.0.0.4 port 50122 ssh2", 41002)
    else:
        m.sudo(t - c.between(0.5, 4), who, command)
        right, mild, _ = goes_away(c, m, log, t, c.variant)
        mild = NOBODY if c.variant != "completed" else []
    c.expect(right, f"sudo {command}, then {c.variant}", mild=mild)
    finish(c, m, log, t if c.variant == "running" else t + 300)


QUOTED = [
    ("logger", "Kernel panic - not syncing: drill, please ignore"), ("python3", "kernel: Out of memory: Killed process {pid} (python3) total-vm:1kB"), ("alice", "System is rebooting."), ("wall", "Broadcast message from root@gpu-08 (Wed): The system will reboot now!"),
    ("node_exporter", 'level=error msg="collector failed" err="NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus"'), ("fluent-bit", "[input:tail] gpu-08 kernel: Kernel panic - not syncing: Fatal exception"), ("filebeat", '{"message":"gpu-08 systemd-logind: The system will reboot now!"}'),
    ("rsyslogd", "imuxsock lost 512 messages from pid 1 due to rate-limiting: train.service: Main process exited, code=killed, status=9/KILL"), ("dockerd", 'time="x" level=info msg="Linux version 5.15.0 in container"'), ("systemd-nspawn", "Container web has been shut down."),
    ("systemd-machined", "Machine web terminated."), ("kubelet", "shutdown manager: System is rebooting? no"), ("puppet-agent", "(/Stage[main]/Reboot) skipping reboot: train.service is running"), ("ansible-command", "Invoked with _raw_params=echo reboot _uses_shell=True"),
    ("su", "(to root) carol on pts/1"), ("polkitd", "Operator of unix-session:3 FAILED to authenticate to gain authorization for action org.freedesktop.login1.reboot for system-bus-name::1.98 [systemctl reboot] (owned by unix-user:carol)"),
    ("systemd", "Reached target Shutdown."), ("systemd", "train.service: Main process exited, code=killed, status=9/KILL"), ("sshd", "error: kex_exchange_identification: Connection closed by remote host reboot"), ("kernel", "Command line: BOOT_IMAGE=/vmlinuz panic=10 reboot=pci"), ("kernel", "audit: type=1400 comm=\"reboot\" name=\"/usr/sbin/reboot\" denied"),
    ("kernel", "sysrq: Show State"), ("kernel", "oom_reaper: reaped process 999999 (java), now anon-rss:0kB"), ("kernel", "nvidia-nvlink: Nvlink Core is being initialized, major device number 234"), ("kernel", "Out of memory: Killed process 999999 (node_exporter) total-vm:1kB, anon-rss:1kB, file-rss:0kB"), ("auditd", "op=SYSCALL exe=/usr/bin/kill comm=kill a0=1"),
]


@family("w.quoted", "own bare killed", len(QUOTED))
def quoted(c):
    """Words in a line of another program, of a user's own systemd, or about somebody else."""
    c.system = ("u22", "u24", "el8", "el9")[c.number % 4]
    c.form = ("short-iso", "rsyslog", "json", "short-iso-precise")[c.number % 4]
    m, log = vm(c)
    t = c.between(900, 1500)
    program, text = QUOTED[c.number]
    log.steps(1, t)
    m.log(t - c.between(0.5, 3), program, text.replace("{pid}", str(m.pid)), None if program == "kernel" else 40123)
    if c.variant == "killed":
        m.exit(t + 0.4, -9)
        right, mild = ["unknown"], ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception", "node.reboot"]
    else:
        right, mild, _ = goes_away(c, m, log, t, c.variant)
        mild = NOBODY
    c.expect(right, f"{program}: {text}, then {c.variant}", mild=mild)
    finish(c, m, log, t + 300)


@family("w.copies", "bare_then_xid bare_then_stop bare_then_reboot killed_then_panic own_then_stop completed_then_stop reboot stop oom", 8)
def copies(c):
    """One machine's journal in two forms: with micros, and in whole seconds."""
    forms = (("json", "short-iso"), ("rsyslog", "syslog"), ("short-iso-precise", "short-iso"), ("json", "syslog"))[c.number % 4]
    c.form = forms[0]
    m, log = vm(c)
    t = c.between(900, 1500)
    log.steps(1, t)
    first, _, then = c.variant.partition("_then_")
    right, mild, actor = goes_away(c, m, log, t, {"oom": "oom_unit"}.get(first, first))
    if then:
        s = t + (0.6 if first != "own" else 1) + c.pick(0.35, 1.2, 2.5)
        bystander(c, m, s, {"xid": "xid79"}.get(then, then))
    m.noise(5, t + 400)
    m.save()
    m.form = forms[1]
    m.save(f"{m.folder}/{'syslog' if forms[1] == 'syslog' else 'journal-short.log'}" if f"{m.folder}/{'syslog' if forms[1] == 'syslog' else 'journal-short.log'}" not in c.files else f"{m.folder}/messages")
    log.save()
    c.expect(right, f"{c.variant}, told twice", mild=mild, actor=actor)


@family("w.caught", "panic reboot oom_unit stop killed power completed poweroff", 8)
def caught(c):
    """An exception that the program caught, some steps before something else ends it."""
    m, log = vm(c, step=c.pick(3, 5))
    t = c.between(900, 1500)
    log.steps(1, t)
    s = t - log.every * c.pick(1, 2, 4) - 1
    kinds = ("ConnectionError: HTTPSConnectionPool(host='api.wandb.ai', port=443): Read timed out.", "OSError: [Errno 28] No space left on device: '/tmp/wandb/debug.log'", "botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL: \"https://ckpt.s3.amazonaws.com/\"",
             "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
    log.say(s, "upload failed, will retry", "WARNING")
    log.raw(s + 0.01, "Traceback (most recent call last):\n  File \"/home/alice/upload.py\", line 31, in push\n    r = post(url)\n" + kinds[c.number % len(kinds)])
    right, mild, actor = goes_away(c, m, log, t, c.variant)
    c.expect(right, f"a caught exception, then {c.variant}", mild=mild, actor=actor)
    finish(c, m, log, t + 1000)


@family("w.boots", "previous_only_reboot previous_only_power this_only last_x previous_only_panic no_entries_marker suppressed two_boots_of_two_machines", 6)
def boots(c):
    """A journal of one boot only."""
    c.form = ("short-iso", "json", "short-iso-precise")[c.number % 3]
    m, log = vm(c)
    t, v = c.between(900, 1500), c.variant
    log.steps(1, t)
    kind = {"previous_only_reboot": "reboot", "previous_only_power": "power", "previous_only_panic": "panic", "this_only": "power"}.get(v, "reboot")
    right, mild, actor = goes_away(c, m, log, t, kind)
    m.noise(5, t + 600)
    rows = sorted(m.kept(), key=lambda row: (row[0], row[1]))
    if v.startswith("previous_only"):
        boot = next(row[0] for row in rows if row[2] == "boot")
        rows = [row for row in rows if row[0] < boot]
        if kind == "power":
            right, mild = ["unknown", "none.running"], ["node.reboot", "node.shutdown"]
    elif v == "this_only":
        boot = next(row[0] for row in rows if row[2] == "boot")
        rows = [row for row in rows if row[0] >= boot]
        right, mild = ["node.reboot", "unknown", "none.running"], []
    name = f"{m.folder}/journal.json" if m.form == "json" else f"{m.folder}/journal.log"
    head = ""
    if v == "no_entries_marker" and m.form != "json":
        head = "-- Logs begin at Mon 2026-11-02 10:00:01 UTC, end at Sun 2026-11-29 10:00:01 UTC. --\n"
    text = "".join(filter(None, (m.line(*row) for row in rows)))
    if v == "suppressed":
        m.log(t - 100, "systemd-journald", "Suppressed 5120 messages from train.service")
        rows = sorted(m.kept(), key=lambda row: (row[0], row[1]))
        text = "".join(filter(None, (m.line(*row) for row in rows)))
    if v == "last_x":
        when, up = c.at(t + 1), c.at(t + 60)
        c.write(f"{m.folder}/last.txt", f"reboot   system boot  5.15.0-122-gener {up:%a %b %d %H:%M} - still running\nshutdown system down  5.15.0-122-gener {when:%a %b %d %H:%M} - {up:%H:%M}  (00:01)\n")
    if v == "two_boots_of_two_machines":
        far = Machine(c, "gpu-08", m.folder, form=m.form)
        far.noise(-500, t + 500)
        c.write(f"{m.folder}/gpu-08{'.json' if m.form == 'json' else '.log'}", "".join(filter(None, (far.line(*row) for row in sorted(far.kept())))))
    c.write(name, head + text)
    log.save()
    c.expect(right, f"{v}: {kind}", mild=mild, actor=actor)


@family("w.user_unit", "own killed oom system_namesake_stopped reboot", 6)
def user_unit(c):
    """A unit of the user's own manager: `systemctl --user start train`."""
    m, log = vm(c, unit=False)
    t = c.between(900, 1500)
    mgr = 2211
    m.log(0, "systemd", f"Started {m.named('train', 'LLM training')}.", mgr)
    log.steps(1, t)
    mild, actor = [], None
    def ended(t, how, status, why):
        m.log(t, "systemd", f"train.service: Main process exited, code={how}, status={status}", mgr)
        m.log(t + 0.01, "systemd", f"train.service: Failed with result '{why}'.", mgr)
    if c.variant == "own":
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        ended(t + 0.7, "exited", "1/FAILURE", "exit-code")
        right = OWN
    elif c.variant == "killed":
        ended(t + 0.4, "killed", "9/KILL", "signal")
        right, mild = ["unknown"], ["none.running", "code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception"]
    elif c.variant == "oom":
        g = "/user.slice/user-1000.slice/user@1000.service/app.slice/train.service"
        m.oom(t + 0.2, "python3", m.pid, g, "/user.slice/user-1000.slice/user@1000.service/app.slice/train.service")
        m.log(t + 0.4, "systemd", "train.service: A process of this unit has been killed by the OOM killer.", mgr)
        ended(t + 0.5, "killed", "9/KILL", "oom-kill")
        right = ["code.host_oom"]
    elif c.variant == "system_namesake_stopped":
        # Of process 1's train.service, which is another program's, and of bob's.
        m.log(t - 4, "systemd", "train.service: Main process exited, code=killed, status=15/TERM", 3399)
        m.log(t - 3.9, "systemd", "Stopped LLM training.", 3399)
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        ended(t + 0.7, "exited", "1/FAILURE", "exit-code")
        right = OWN
    else:
        right, mild, actor = goes_away(c, m, log, t, "reboot")
    c.expect(right, "a unit of a user", mild=mild, actor=actor)
    finish(c, m, log, t + 500)


@family("w.gang", "reboot panic oom own xid79 stop segv poweroff power killed disk completed", 12)
def gang(c):
    """Four machines of one experiment, of which the first end is told by its own journal only; the others' NCCL gives up."""
    cloud = ("gce", "aws", "azure")[c.number % 3]
    first, world = c.number % 4, 4
    t, v = c.between(900, 1500), c.variant
    boxes, right, mild, actor = [], None, [], None
    shared = {}
    for rank in range(world):
        off = c.pick(0, 0, 1.5, -2)
        if cloud == "gce":
            g = Gce(c, f"ppo-17-w{rank}")
            g.entries = shared
            g.call(-900 + rank, "insert", "alice@lab.example", 20)
            for entry in shared["gcp.jsonl"][-2:]:
                entry["protoPayload"]["request"]["labels"] = [{"key": "experiment", "value": "exp-1"}]
            name, host = g.vm, g.vm
        elif cloud == "aws":
            g = Aws(c)
            g.dns = f"ip-10-0-7-{10 + rank}"
            g.entries = shared
            g.instance(-900)
            name, host = g.id, g.dns
        else:
            g = Azure(c, f"ppo-17-w{rank}")
            g.entries = shared
            g.machine()
            name, host = g.vm, g.vm
        form = ("rsyslog", "json", "short-iso", "short-iso-precise")[(rank + c.number) % 4]
        m = Machine(c, host, name, system=("u22", "el8", "u24", "el9")[(rank + c.number) % 4], form=form)
        log = Train(c, f"{name}/train.log", form=("logging", "iso", "iter")[rank % 3], step=5)
        m.noise(-800, 0)
        m.start(0)
        log.begin(1, m.pid)
        boxes.append((g, m, log, name))
        if v == "completed":
            log.steps(1, t)
            goes_away(c, m, log, t + rank, "completed")
            right = ["none.completed"]
        elif rank == first:
            log.steps(1, t)
            right, mild, actor = goes_away(c, m, log, t, {"oom": "oom_unit"}.get(v, v))
            victim = f"{g.dns}.ec2.internal" if cloud == "aws" else name
        else:
            log.steps(1, t + 2)
            if c.number % 2:
                gone = t + c.between(8, 20)
                log.traceback(gone, "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, remote process exited or there was a network error, NCCL version 2.21.5\nncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.", "    dist.all_reduce(x)")
            else:
                gone = t + 600 + c.between(0, 3)
                log.say(gone - 0.5, f"[rank{rank}]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4711, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.", "ERROR")
            m.exit(gone + 0.6, 1 if c.number % 2 else -6)
        m.noise(5, t + (20 if v == "power" and rank == first else 700))
        if not (v == "power" and False):
            m.save()
        log.save()
    g.save()
    c.expect(right, f"{v} of one of four machines in {cloud}", mild=mild, actor=actor, asked="exp-1")
    if v != "completed":
        c.victim = victim


def with_victim():
    """`first_victim` is checked too."""
    plain = Case.save
    def save(self, root):
        plain(self, root)
        if getattr(self, "victim", None):
            import os
            path = os.path.join(root, self.name, "expect.json")
            with open(path) as read:
                one = json.load(read)
            one["experiments"][self.asked]["first_victim"] = self.victim
            with open(path, "w") as out:
                json.dump(one, out, indent=1)
    Case.save = save


with_victim()


@family("w.launcher", "rank_file_traceback nccl_first_line_other elastic_oom elastic_sigterm_stop elastic_segv two_ranks_same_second", 8)
def launcher(c):
    """torchrun's words, the ranks' own files, and the machine."""
    m, log = vm(c)
    t, v, actor, mild = c.between(900, 1500), c.variant, None, []
    log.steps(1, t)
    def elastic(t, rank, code, pid):
        at, late = c.at(t), c.at(t + 0.4)
        log.raw(t, f"W{at:%m%d %H:%M:%S.%f} {m.pid} torch/distributed/elastic/multiprocessing/api.py:897] Sending process {pid + 1} closing signal SIGTERM\n"
                f"E{late:%m%d %H:%M:%S.%f} {m.pid} torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: {code}) local_rank: {rank} (pid: {pid}) of binary: /usr/bin/python3")
    if v == "rank_file_traceback":
        ranks = Train(c, f"{m.folder}/rank3.err", form="logging")
        ranks.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        ranks.save()
        elastic(t + 2, 3, 1, m.pid + 3)
        m.exit(t + 3, 1)
        right = OWN
    elif v == "nccl_first_line_other":
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        log.raw(t + 1, "[rank0]: torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error")
        elastic(t + 2, 3, 1, m.pid + 3)
        m.exit(t + 3, 1)
        right = OWN
    elif v == "elastic_oom":
        own = "/system.slice/train.service"
        m.oom(t + 0.2, "python3", m.pid + 3, own, own)
        elastic(t + 1, 3, -9, m.pid + 3)
        m.exit(t + 3, 1)
        right = ["code.host_oom"]
    elif v == "elastic_sigterm_stop":
        who = c.pick(*PEOPLE)
        m.sudo(t + 0.1, who, "/usr/bin/systemctl stop train")
        m.log(t + 0.3, "systemd", f"Stopping {m.named('train', 'LLM training')}...")
        log.raw(t + 0.6, f"W{c.at(t + 0.6):%m%d %H:%M:%S.%f} {m.pid} torch/distributed/elastic/agent/server/api.py:704] Received Signals.SIGTERM death signal, shutting down workers")
        log.traceback(t + 0.9, f"torch.distributed.elastic.multiprocessing.api.SignalException: Process {m.pid} got signal: 15", "    time.sleep(monitor_interval)")
        m.exit(t + 1.4, 1)
        right, actor = ["ops.manual_delete"], [who]
    elif v == "elastic_segv":
        m.segfault(t + 0.2, "python3", m.pid + 3)
        elastic(t + 1, 3, -11, m.pid + 3)
        m.exit(t + 3, 1)
        right = ["code.segfault"]
    else:
        log.traceback(t + 0.2, *OWN_ERRORS[0])
        log.traceback(t + 0.3, *OWN_ERRORS[0])
        elastic(t + 2, 0, 1, m.pid + 1)
        m.exit(t + 3, 1)
        right = OWN
    c.expect(right, "a launcher and its ranks", mild=mild, actor=actor)
    finish(c, m, log, t + 400)
