"""gen.py OUT [PREFIX] [SEEDS] [--mix=A,LE]: writes cases OUT/<family>.<twin>.<mix>.<seed>/{input/,expect.json,truth.json}."""

import json, os, sys
import cases15
from world import FORMS, MIXES, World, write
from zlib import crc32


def make(out, prefix="", seeds=1, mixes=None):
    n = 0
    for name, twins, build in cases15.FAMILIES:
        for twin in twins:
            for seed in range(seeds):
                for mix in getattr(build, "mixes", MIXES):
                    if mixes and mix not in mixes: continue
                    case = f"{name}.{twin.replace('/', '+')}.{mix}.{seed}"
                    if not case.startswith(prefix): continue
                    w = World(crc32(f"{name}/{twin}/{seed}".encode()))
                    ask, truth = build(w, twin)
                    w.play()
                    getattr(w, "after", lambda: None)()
                    folder = os.path.join(out, case)
                    write(w, folder, mix, spread=7200 if mix[0] == "X" else 60)
                    if not os.listdir(os.path.join(folder, "input")): continue
                    json.dump({"ask": ask, "mix": (MIXES.get(mix) or FORMS[mix])} | truth.__dict__, open(os.path.join(folder, "truth.json"), "w"))
                    json.dump({"experiments": {ask: {"cause": list(truth.right), "must_not": list(truth.never_cause)}}}, open(os.path.join(folder, "expect.json"), "w"))
                    n += 1
    return n


if __name__ == "__main__":
    args = [one for one in sys.argv[1:] if not one.startswith("--")]
    mixes = next((one[6:].split(",") for one in sys.argv if one.startswith("--mix=")), None)
    print(make(args[0], *args[1:2], *map(int, args[2:3]), mixes=mixes), "cases")
