"""gen.py FOLDER [PREFIX] [SEED]: writes the cases, a folder each."""

import os
import shutil
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vm"))  # world.py
sys.dont_write_bytecode = True

import kit
import machines  # noqa: F401

for name in ("sessions", "slurms", "clouds", "more", "extra", "later", "last", "acts", "slow", "orderly"):
    __import__(name)

if __name__ == "__main__":
    root, prefix, seed = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "", sys.argv[3] if len(sys.argv) > 3 else "s44"
    if os.path.isdir(root):
        shutil.rmtree(root)
    os.makedirs(root)
    count = 0
    for case in kit.all_cases(seed, prefix):
        case.save(root)
        count += 1
    print(count, "cases of", len(kit.FAMILIES), "families,", sum(len(one[1]) for one in kit.FAMILIES), "scenarios")
