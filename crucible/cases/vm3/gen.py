"""gen.py FOLDER [PREFIX] [SEED]: writes the cases, a folder each (families of session 46)."""

import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for base in (os.path.join(HERE, ".."),):
    for name in ("vm2", "vm"):
        if os.path.isdir(os.path.join(base, name)):
            sys.path.insert(1, os.path.join(base, name))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import kit

for name in ("q_slurm", "q_logs", "q_gang", "q_system", "q_cloud", "q_store", "q_more", "q_last", "q_deep", "q_deep2", "q_deep3", "q_deep4", "q_deep5", "q_deep6", "q_deep7", "q_deep8", "q_deep9", "q_end", "q_end2"):
    if os.path.exists(os.path.join(HERE, name + ".py")):
        __import__(name)

if __name__ == "__main__":
    root, prefix, seed = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "", sys.argv[3] if len(sys.argv) > 3 else "s46"
    if os.path.isdir(root):
        shutil.rmtree(root)
    os.makedirs(root)
    count = 0
    for case in kit.all_cases(seed, tuple(prefix.split(","))):
        case.save(root)
        count += 1
    print(count, "cases of", len(kit.FAMILIES), "families,", sum(len(one[1]) for one in kit.FAMILIES), "scenarios")
