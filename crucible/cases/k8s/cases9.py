"""The same facts in other forms: YAML, describe, tables, streams, both audit stages."""

from cases8 import *


@fam("forms", " ".join(MORE))
def forms(w, twin):
    j, nodes, t = gang(w, run=w.rng.randrange(1500, 2500))
    r = MORE[twin](w, j, j.pods[0], nodes[0], t); r.weak += ("unknown", "none.running")
    return j.name, r


forms.mixes = list(FORMS)


@fam("written", " ".join(f"{n}/{t}" for n, ts, _ in FAMILIES if n in ("karpenter", "cluster-autoscaler", "drain", "noexecute", "preempted", "node-object", "oom", "probe", "never-started", "scaled", "kueue") for t in ts))
def forms_of_first(w, twin):
    name, t = twin.split("/")
    return next(f for n, _, f in FAMILIES if n == name)(w, t)


forms_of_first.mixes = ["Aw", "LAw", "LEAw"]
