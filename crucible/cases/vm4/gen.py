"""gen.py FOLDER [PREFIX] [SEED]: logs of programs on machines of one's own: a service's journal in each form that journalctl
prints, and errors beside the output."""

import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for name in ("vm2", "vm"):
    sys.path.insert(1, os.path.join(HERE, "..", name))
sys.dont_write_bytecode = True

import kit
from kit import goes_away
from world import Machine, Train

ENDS = "own killed oom_unit stop segv completed xid79"
FORMS = ("syslog", "short-iso", "short-iso-precise", "json", "short-full", "cat")


@kit.family("u.journal", ENDS, 18)
def journal(c):
    """`journalctl -u train`, under the service's name or any other."""
    form = FORMS[c.number % 6]
    name = ("train.log", "journal.txt", "out.log")[c.number // 6 % 3]
    m = Machine(c, "gpu-07", form="short-iso" if form == "cat" else form, system="u24")
    log = Train(c, "x", form="logging" if form == "cat" else "bare")
    m.start(0)
    t = c.between(600, 900)
    log.begin(1, m.pid)
    log.steps(1, t)
    right, mild, actor = goes_away(c, m, log, t, c.variant)
    m.lines = [row for row in m.lines if row[2] == "systemd"]
    for at, text in log.lines:
        for k, line in enumerate(text.rstrip("\n").split("\n")):
            m.log(at + 0.001 * k, "python3", line, m.pid)
    if form == "cat":
        rows = sorted(m.kept(), key=lambda row: (row[0], row[1]))
        c.write(name, "".join(row[4] + "\n" for row in rows))
    else:
        m.save(name)
    if c.variant == "xid79":
        right = right + ["unknown", "code.exception"]
    c.expect(right, f"journal of a service as {form}: {c.variant}", mild=mild + ["unknown"], asked="train" if form != "syslog" else name)


@kit.family("u.errors", ENDS, 18)
def errors(c):
    """The output in one file, the traceback in another without a time."""
    m, log = kit.vm(c)
    t = c.between(600, 900)
    log.steps(1, t)
    right, mild, actor = goes_away(c, m, log, t, c.variant)
    out, err = (("train.out", "train.err"), ("train.log", "train.err"), ("train.log", "train.log.err"))[c.number % 3]
    last = [row for row in log.lines if "Traceback" in row[1]]
    log.lines = [row for row in log.lines if row not in last]
    log.path = f"gpu-07/{out}"
    c.write(f"gpu-07/{err}", "".join(text for _, text in last) or "warning: no display\n")
    c.expect(right, f"{out} and {err}: {c.variant}", mild=mild, actor=actor, asked="train")
    kit.finish(c, m, log)


if __name__ == "__main__":
    root, prefix, seed = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "", sys.argv[3] if len(sys.argv) > 3 else "s48"
    if os.path.isdir(root):
        shutil.rmtree(root)
    os.makedirs(root)
    print(sum(1 for case in kit.all_cases(seed, tuple(prefix.split(","))) if not case.save(root)), "cases")
