"""gen.py FOLDER [PREFIX] [SEEDS] [--mix=A,LE]: writes the cases of these families, a folder each."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "k8s"))

import cases15  # noqa: E402
import new2  # noqa: E402

# The one beside has this file's name.
import importlib.util  # noqa: E402

spec = importlib.util.spec_from_file_location("make", os.path.join(sys.path[-1], "gen.py"))
make = importlib.util.module_from_spec(spec)
cases15.FAMILIES[:] = new2.NEW
spec.loader.exec_module(make)

if __name__ == "__main__":
    args = [one for one in sys.argv[1:] if not one.startswith("--")]
    mixes = next((one[6:].split(",") for one in sys.argv if one.startswith("--mix=")), None)
    print(make.make(args[0], *args[1:2], *map(int, args[2:3]), mixes=mixes), "cases")
