"""Bare machines: one truth, two bystanders before it that were survived, one or two after it; several attempts; logs cut, rotated, renamed."""

import json

from kit import AFTER, BEFORE, NOBODY, OWN, PEOPLE, bystander, family, finish, goes_away, restarted, vm
from world import Case, MONTHS, Machine, OWN_ERRORS, Train, iso

ENDS = "own bare killed oom_unit oom_host segv reboot poweroff panic power stop xid79 nvlink disk completed"


@family("g.both", ENDS, 16)
def both(c):
    """Two bystanders long before, two after the end."""
    m, log = vm(c, pid=c.number % 3 != 0, step=c.pick(2, 3, 4))
    end = c.between(1400, 2200)
    for t in (end - c.between(400, 900), end - c.between(150, 390)):
        bystander(c, m, t, c.pick(*BEFORE))
    if c.number % 4 == 3:
        restarted(c, m, log, 300)
        log.steps(5, 255)
        log.steps(275, end)
    else:
        log.steps(1, end)
    right, mild, actor = goes_away(c, m, log, end, c.variant)
    came_back = {"reboot": 200, "panic": 310, "power": 310, "poweroff": 710}.get(c.variant, 5)
    for t in (end + came_back + c.between(3, 60), end + came_back + c.between(80, 500)):
        bystander(c, m, t, c.pick(*AFTER))
    c.expect(right, f"{c.variant} between bystanders", mild=mild, actor=actor)
    finish(c, m, log, end + came_back + 900)


@family("g.near_after", "own bare killed oom_unit segv completed stop", 14)
def near_after(c):
    """Somebody tidies up within seconds, or the machine goes on to fail."""
    m, log = vm(c, pid=c.number % 2 == 0)
    end = c.between(900, 1500)
    log.steps(1, end)
    right, mild, actor = goes_away(c, m, log, end, c.variant)
    kinds = ("reboot", "panic", "power", "poweroff", "stop", "restart", "kill", "pkill", "xid79", "oom_other", "link", "disk", "segv", "stop_other")
    bystander(c, m, end + 2 + c.between(1.5, 25), kinds[c.number % len(kinds)])
    c.expect(right, f"{c.variant}, then {kinds[c.number % len(kinds)]}", mild=mild, actor=actor)
    finish(c, m, log, end + 900)


@family("g.neighbours", "own bare killed completed oom_unit", 12)
def neighbours(c):
    """Journals of machines with names alike beside it: what befalls them is not the run's."""
    host = ("gpu-07", "gpu-1", "node1", "gpu-07.lab.example", "ip-10-0-1-7", "trainer")[c.number % 6]
    far = {"gpu-07": "gpu-070", "gpu-1": "gpu-12", "node1": "node10", "gpu-07.lab.example": "gpu-07b.lab.example", "ip-10-0-1-7": "ip-10-0-1-77", "trainer": "trainer-2"}[host]
    m, log = vm(c, host)
    other = Machine(c, far)
    other.noise(-900, 0)
    other.start(0)
    end = c.between(900, 1500)
    log.steps(1, end)
    kind = ("reboot", "panic", "power", "stop", "oom_unit", "poweroff")[(c.number + c.number // 6) % 6]
    theirs = Train(c, f"{far}/eval.log")
    goes_away(c, other, theirs, end - c.between(1, 6), kind)
    right, mild, actor = goes_away(c, m, log, end, c.variant)
    other.noise(5, end + 400)
    other.save()
    c.expect(right, f"{far} beside {host}: {kind}", mild=mild, actor=actor)
    finish(c, m, log, end + 400)


@family("g.cut", "own bare oom_unit reboot stop panic segv", 10)
def cut(c):
    """The last line of the log, of the journal, or of both is half written."""
    m, log = vm(c, pid=True)
    end = c.between(900, 1500)
    log.steps(1, end)
    right, mild, actor = goes_away(c, m, log, end, c.variant)
    m.noise(5, end + 300)
    m.save()
    log.save()
    for path in list(c.files):
        if c.number % 3 != 1 and path.endswith("train.log") or c.number % 3 != 0 and not path.endswith("train.log"):
            if path.endswith("train.log") and c.variant == "own":
                continue
            c.files[path] = c.files[path][:-c.rng.randrange(3, 18)]
    c.expect(right, "half a line", mild=mild + ["unknown"], actor=actor)


@family("g.rotated", "own oom_unit reboot stop panic segv killed", 10)
def rotated(c):
    """messages-20261101.gz's text beside messages: two files of one journal, and the newest may begin after the end."""
    c.form = ("rsyslog", "syslog", "short-iso")[c.number % 3]
    m, log = vm(c, pid=True)
    end = c.between(900, 1500)
    log.steps(1, end)
    right, mild, actor = goes_away(c, m, log, end, c.variant)
    at = end + (30 if c.number % 2 else -30)
    if c.number >= 5:
        bystander(c, m, end + 260, c.pick("stop", "kill", "xid79", "oom_other"))
    m.noise(5, end + 900)
    m.save()
    log.save()
    path = next(one for one in c.files if not one.endswith("train.log"))
    rows = sorted(m.kept(), key=lambda row: (row[0], row[1]))
    old = "".join(filter(None, (m.line(*row) for row in rows if row[0] < at)))
    new = "".join(filter(None, (m.line(*row) for row in rows if row[0] >= at)))
    del c.files[path]
    c.write(f"{path}-{c.at(at):%Y%m%d}" if c.form != "short-iso" else f"{path}.1", old)
    c.write(path, new)
    c.expect(right, "the journal in two files", mild=mild, actor=actor)


@family("rs", "own_own_own oom_own own_reboot stop_during_wait limit_hit running last_completed killed_own reboot_then_running person_restart_then_own fail_then_person_start_running", 8)
def restarts(c):
    """Restart=on-failure: the last attempt is what is asked about."""
    m, log = vm(c, pid=True, step=c.pick(3, 4))
    t, actor, mild, who = c.between(400, 600), None, [], c.pick(*PEOPLE)
    log.steps(1, t)
    count = [0]
    def again(t, pid=None):
        count[0] += 1
        m.log(t, "systemd", f"{m.unit}.service: Scheduled restart job, restart counter is at {count[0]}." if m.system != "el7" else f"{m.unit}.service holdoff time over, scheduling restart.")
        if m.system in ("u22", "el8"):
            m.log(t + 0.01, "systemd", f"Stopped {m.named(m.unit, 'LLM training')}.")
        m.start(t + 0.1)
        m.pid += 211
        log.begin(t + 1.4, m.pid)
    def own(t, error=None):
        log.traceback(t, *(error or c.pick(*OWN_ERRORS)))
        m.exit(t + 0.5, 1)
    if c.variant == "own_own_own":
        own(t)
        again(t + 10)
        log.steps(t + 12, t + 300)
        own(t + 300)
        again(t + 311)
        log.steps(t + 313, t + 600)
        own(t + 601)
        right = OWN
        t += 601
    elif c.variant in ("oom_own", "killed_own"):
        if c.variant == "oom_own":
            m.oom_own(t + 0.2, True)
        else:
            m.exit(t + 0.2, -9)
        again(t + 12)
        log.steps(t + 14, t + 200)
        own(t + 201)
        t += 201
        right = OWN
    elif c.variant == "own_reboot":
        own(t)
        again(t + 10)
        log.steps(t + 12, t + 300)
        right, mild, actor = goes_away(c, m, log, t + 300, "reboot")
        t += 300
    elif c.variant == "stop_during_wait":
        # It waits for its restart; somebody stops it for good: what ended the program is its own failure.
        own(t)
        m.sudo(t + 6, who, "/usr/bin/systemctl stop train")
        m.log(t + 6.1, "systemd", f"Stopped {m.named(m.unit, 'LLM training')}.")
        right = OWN
    elif c.variant == "limit_hit":
        for _ in range(5):
            own(t)
            again(t + 1)
            log.steps(t + 3, t + 8)
            t += 9
        own(t)
        m.log(t + 1, "systemd", f"{m.unit}.service: Start request repeated too quickly.")
        m.log(t + 1.1, "systemd", f"{m.unit}.service: Failed with result 'exit-code'.")
        m.log(t + 1.2, "systemd", f"Failed to start {m.named(m.unit, 'LLM training')}.")
        right = OWN
    elif c.variant in ("running", "fail_then_person_start_running"):
        own(t)
        if c.variant == "running":
            again(t + 10)
        else:
            m.sudo(t + 60, who, "/usr/bin/systemctl start train")
            m.start(t + 60.2)
            log.begin(t + 62, m.pid + 9)
        log.steps(t + 70, t + 400)
        t += 400
        right, mild = ["none.running"], ["unknown"]
    elif c.variant == "last_completed":
        m.oom_own(t, True)
        again(t + 10)
        log.steps(t + 12, t + 300)
        right, mild, actor = goes_away(c, m, log, t + 300, "completed")
        t += 300
    elif c.variant == "reboot_then_running":
        m.sudo(t + 0.2, who, "/usr/sbin/reboot")
        m.goes_down(t + 1)
        m.boots(t + 80)
        m.start(t + 95)
        log.begin(t + 97, 4242)
        log.steps(t + 97, t + 500)
        t += 500
        right, mild = ["none.running"], ["unknown"]
    elif c.variant == "person_restart_then_own":
        m.sudo(t + 0.2, who, "/usr/bin/systemctl restart train")
        m.stop(t + 0.4)
        m.start(t + 1.9)
        log.begin(t + 3, m.pid + 77)
        log.steps(t + 3, t + 300)
        own(t + 301)
        t += 301
        right = OWN
    c.expect(right, "attempts of a service", actor=actor, mild=mild)
    running = "none.running" in right
    m.noise(5, t if running else t + 500)
    if running:
        m.log(t + 1, "sshd", "Accepted publickey for alice from 10.0.0.4 port 50122 ssh2", 41002)
    m.save()
    log.save()


@family("g.who_asked", "cloud_init unattended dnf sysrq failure_action osconfig waagent ssm cad watchdog ipmi_remote kdump ansible_become run0 doas pkexec needrestart su_reboot at_job", 6)
def who_asked(c):
    """Machines that go down on the word of something else than a person with sudo."""
    m, log = vm(c)
    end, actor, right, mild = c.between(900, 1500), None, ["node.reboot"], []
    log.steps(1, end)
    who = c.pick(*PEOPLE)
    down = True
    if c.variant == "cloud_init":
        m.log(end, "cloud-init", "Cloud-init v. 24.1.3-0ubuntu1~22.04.1 running 'modules:final'", 1401)
        m.log(end + 0.2, "systemd", "Started Session c1 of User root.")
        right = ["node.reboot"]
    elif c.variant == "unattended":
        m.log(end - 30, "systemd", f"Starting {m.named('apt-daily-upgrade', 'Daily apt upgrade and clean activities')}...")
        m.log(end - 0.3, "unattended-upgrade", "All upgrades installed", 1402)
        m.log(end - 0.1, "unattended-upgrade", "Found /var/run/reboot-required, rebooting", 1402)
        right = ["node.reboot", "ops.node_upgrade"]
    elif c.variant == "dnf":
        m.log(end - 90, "systemd", f"Starting {m.named('dnf-automatic-install', 'dnf automatic install updates')}...")
        m.log(end - 0.2, "dnf-automatic", "The following updates have been applied on 'gpu-07': kernel", 1403)
        right = ["node.reboot", "ops.node_upgrade"]
    elif c.variant == "sysrq":
        m.kernel(end + 0.1, "sysrq: Resetting")
        m.dies(end + 0.1)
        down = False
    elif c.variant == "failure_action":
        m.log(end, "systemd", "licence-check.service: Main process exited, code=exited, status=1/FAILURE")
        m.log(end + 0.1, "systemd", "licence-check.service: Failed with result 'exit-code'.")
        m.log(end + 0.2, "systemd", "Rebooting: unit licence-check.service failed")
    elif c.variant == "osconfig":
        m.log(end, "OSConfigAgent", "2026-11-21T10:00:00.0000Z OSConfigAgent Info: Rebooting system.", 900)
        right = ["node.reboot", "ops.node_upgrade"]
    elif c.variant == "waagent":
        m.log(end, "python3", "WALinuxAgent-2.11.1.4 running as process 877", 877)
    elif c.variant == "ssm":
        m.log(end, "amazon-ssm-agent", "2026-11-21 10:00:00 INFO [ssm-document-worker] [AWS-RunShellScript] Sending reply for reboot; rebooting", 880)
    elif c.variant == "cad":
        m.log(end, "systemd", "Received SIGINT.")
        m.log(end + 0.05, "systemd", "Ctrl-Alt-Del was pressed more than 7 times within 2s, performing immediate reboot")
    elif c.variant == "watchdog":
        m.dies(end)
        down = False
        mild = ["unknown"]
        w = c.at(end + 30)
        c.write(f"{m.folder}/ipmi-sel.txt", f"  51 | {w:%m/%d/%Y} | {w:%H:%M:%S} | Watchdog2 #0xca | Hard reset | Asserted\n")
    elif c.variant == "ipmi_remote":
        admin = Machine(c, "admin01")
        admin.noise(-500, end + 500)
        admin.sudo(end + 0.3, who, "/usr/bin/ipmitool -I lanplus -H gpu-07-bmc -U admin chassis power cycle")
        admin.save()
        m.dies(end + 0.5)
        down = False
        actor, mild = [who], ["unknown"]
    elif c.variant == "kdump":
        m.dies(end)
        down = False
        dump = Machine(c, m.host, m.folder, form="dmesg-T")
        dump.kernel(end, "BUG: unable to handle page fault for address: ffffb0c3c1a5f000")
        dump.kernel(end + 0.2, "Kernel panic - not syncing: Fatal exception")
        dump.save(f"{m.folder}/var/crash/127.0.0.1-{c.at(end):%Y-%m-%d-%H:%M:%S}/vmcore-dmesg.txt")
        right = ["node.kernel_panic"]
    elif c.variant == "ansible_become":
        m.sudo(end, "deploy", '/bin/sh -c echo BECOME-SUCCESS-abcdefgh ; /usr/bin/python3 /home/deploy/.ansible/tmp/ansible-tmp-1/AnsiballZ_command.py')
        m.log(end + 0.2, "python3", "ansible-ansible.legacy.command Invoked with _raw_params=/sbin/shutdown -r 0 \"Reboot initiated by Ansible\" _uses_shell=False", 41777)
        actor = ["deploy"]
    elif c.variant == "run0":
        m.log(end, "systemd-logind", f"The system will reboot now!") if m.system == "el7" else None
        m.log(end - 0.2, "run0", f"{who} : TTY=pts/0 ; PWD=/home/{who} ; USER=root ; COMMAND=/usr/bin/systemctl reboot", 41003)
    elif c.variant == "doas":
        m.log(end - 0.2, "doas", f"{who} ran command reboot as root from /home/{who}", 41003)
        actor = [who]
    elif c.variant == "pkexec":
        m.log(end - 0.2, "pkexec", f"{who}: Executing command [USER=root] [TTY=/dev/pts/0] [CWD=/home/{who}] [COMMAND=/usr/sbin/reboot]", 41003)
        actor = [who]
    elif c.variant == "needrestart":
        # Services are restarted by needrestart after an upgrade, not the machine.
        m.log(end - 60, "systemd", f"Starting {m.named('apt-daily-upgrade', 'Daily apt upgrade and clean activities')}...")
        m.stop(end + 0.3)
        m.start(end + 2)
        down = False
        right, mild = ["ops.node_upgrade", "unknown", "ops.manual_delete"], []
    elif c.variant == "su_reboot":
        m.log(end - 20, "su", f"(to root) {who} on pts/3", 41005)
        m.log(end - 19.9, "su", f"pam_unix(su-l:session): session opened for user root(uid=0) by {who}(uid=1003)", 41005)
        m.log(end - 0.2, "root", f"root@gpu-07:~# reboot", 41006)
    elif c.variant == "at_job":
        m.log(end - 0.3, "atd", "Starting job 17 (a00011019f0d2c) for user 'root' (0)", 40200)
    if down:
        m.goes_down(end + 0.6)
    if c.variant != "needrestart":
        m.boots(end + c.between(80, 250))
    c.expect(right, "who asked for it", actor=actor, mild=mild)
    finish(c, m, log, end + 700)
