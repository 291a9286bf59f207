"""gen.py FOLDER [PREFIX] [SEED]: writes the cases, a folder each."""

import os
import shutil
import sys

import families

if __name__ == "__main__":
    root, prefix, seed = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "", sys.argv[3] if len(sys.argv) > 3 else "1"
    if os.path.isdir(root):
        shutil.rmtree(root)
    os.makedirs(root)
    count = 0
    for case in families.all_cases(seed, prefix):
        case.save(root)
        count += 1
    print(count, "cases of", len(families.FAMILIES), "families,", sum(len(one[1]) for one in families.FAMILIES), "scenarios")
