"""Four things at once beside what ended the run."""

from cases11 import *

QUIET = [b for b in BESIDE if b not in ("b_blip", "n_other_namespace", "a_node_deleted", "a_ca", "a_rebooted", "a_not_ready", "b_child_oom", "b_xid94", "b_ca_undone")]
PASTS = [p for p in PAST if p.startswith("log-") or p in ("edac", "mce", "aer", "nfs", "thermal", "image-gc", "free-disk", "container-gc", "mount", "aks-freeze", "karp-unhealthy", "kured-other", "lockup", "hung")]


@fam("pile", " ".join(f"{e}+{i}" for e in MORE for i in range(12)))
def pile(w, twin):
    end, _ = twin.split("+")
    j, nodes, t = gang(w, n=w.rng.choice([2, 3]), run=w.rng.randrange(1500, 2500)); v, nd = j.pods[0], nodes[0]
    if end == "runs": picks = [b for b in w.rng.sample(QUIET, 4) if b[0] != "a"]
    else: picks = w.rng.sample(QUIET, 3)
    if any(b[0] == "b" for b in picks): more_steps(w, j, t - 480, t - 40)
    for b in picks: BESIDE[b](w, j, v, nd, t)
    for p in w.rng.sample(PASTS, 2):
        lag = w.rng.choice([120, 300, 700]); PAST[p](w, v, nd, t - lag); more_steps(w, j, t - lag + 10, t - 40)
    return j.name, MORE[end](w, j, v, nd, t)


pile.mixes = ["LEAG", "A", "LE", "W", "LEM", "T"]
