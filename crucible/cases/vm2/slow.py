"""Twins of y.outwait: a program of slow steps, no step was due between the fault and the act, so nothing shows that it stood still."""

from kit import NOBODY, PEOPLE, family, goes_away
from later import fault
from world import Azure, Gce, Machine, Slurm, Train, iso


@family("z.slow", "stop kill reboot gce_delete azure_deallocate scancel limit set_down", 10)
def slow(c):
    v = c.variant
    c.form = c.form if c.form != "syslog" else "rsyslog"
    kind = ("nvlink", "nfs", "xid119", "link", "xid79")[c.number % 5]
    who, asked, box, s = c.pick(*PEOPLE), None, None, None
    host = "gpu07" if v in ("scancel", "limit", "set_down") else "gpu-07"
    if v == "gce_delete":
        box = Gce(c, "trainer-vm-8")
        box.call(-900, "insert", "alice@lab.example", 20)
        host = asked = box.vm
    elif v == "azure_deallocate":
        box = Azure(c, "trainer-vm-3")
        box.machine()
        host = asked = box.vm
    m = Machine(c, host)
    m.noise(-900, 0, every=900)
    if host == "gpu07":
        s = Slurm(c, nodes="gpu07")
        asked = str(s.job)
        m.unit = "slurmd"
        log = Train(c, f"slurm-{s.job}.out", step=600)
    else:
        log = Train(c, f"{m.folder}/train.log", step=600)
        m.start(0)
    log.begin(1, m.pid)
    t = log.steps(1, 12000 + c.between(0, 500))
    fault(c, m, t + c.between(1, 20), kind)
    later = t + c.between(100, 400)
    right, mild, actor = ["ops.manual_delete"], [], [who]
    if v in ("stop", "reboot"):
        right, _, actor = goes_away(c, m, log, later, v)
    elif v == "kill":
        m.sudo(later + 0.2, who, f"/usr/bin/kill -9 {m.pid}")
        m.exit(later + 0.4, -9)
    elif v == "gce_delete":
        box.call(later + 0.3, "delete", who + "@lab.example")
        m.dies(later + 1)
        actor = [who + "@lab.example"]
    elif v == "azure_deallocate":
        box.call(later + 0.3, "deallocate/action", who + "@lab.example")
        m.dies(later + 1)
        actor = [who + "@lab.example"]
    elif v == "scancel":
        s.kill(later, 1000)
        log.raw(later + 0.5, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(later))} ***")
        s.ended("CANCELLED by 1000", "0:0", later + 1)
        actor = ["alice", "1000", "uid 1000"]
    elif v == "limit":
        s.ctld(later, f"Time limit exhausted for JobId={s.job}")
        log.raw(later + 0.5, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(later))} DUE TO TIME LIMIT ***")
        s.ended("TIMEOUT", "0:0", later + 1)
        right, actor = ["code.deadline"], None
    else:
        s.ctld(later, "update_node: node gpu07 reason set to: planned work")
        s.ctld(later + 0.001, "update_node: node gpu07 state set to DOWN")
        s.ctld(later + 0.002, f"Killing JobId={s.job} on failed node gpu07")
        s.ended("NODE_FAIL", "0:0", later + 1)
        actor = None
    # Who acts may well do it for the fault: both are open, and either is a guess or the act's.
    mild = {"nfs": ["dep.storage"], "link": ["hw.nic"], "nvlink": ["hw.nvlink_fabric"]}.get(kind, ["hw.gpu"])
    m.noise(5, later, every=900)
    m.save()
    log.save()
    for part in (box, s):
        if part:
            part.save()
    c.expect(right, f"{kind} between two slow steps, then {v}", mild=mild, actor=None, asked=asked)
