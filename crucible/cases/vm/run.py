"""run.py TOOL PREFIX CASES: asks the tool for every case (`TOOL accuracy`), prints a row a family and a line a wrong case.
With -j: a row as JSON for each case into CASES/../results.jsonl."""

import collections
import glob
import json
import os
import subprocess
import sys
import time

KINDS = ("right", "WRONG-ESTABLISHED", "WRONG-SUPPORTED", "wrong-hypothesis", "wrong-actor", "missed", "not-found")


def judge(row, mild):
    got, level, right = row["got"], row["got_level"], row["expected"]
    if "nothing of that name" in row["remark"]:
        return "not-found"
    if got in ("nothing",):
        return "right"
    if got in right:
        return "right" if row["verdict"] == "right" else "wrong-actor"
    if got == "unknown" or level == "unknown":
        return "missed"
    if got in mild and level in ("hypothesis", "unknown", ""):
        return "right"
    return {"established": "WRONG-ESTABLISHED", "supported": "WRONG-SUPPORTED"}.get(level, "wrong-hypothesis")


def ask(tool, folders):
    out = subprocess.run(["nice", "-n", "15", tool, "accuracy", "--format", "json", *folders], capture_output=True, text=True)
    try:
        return json.loads(out.stdout)
    except ValueError:
        print(out.stderr[-2000:], file=sys.stderr)
        return {"cases": [], "skipped": []}


def main():
    args = [one for one in sys.argv[1:] if one != "-j"]
    tool, prefix, root = args
    folders = sorted(one for one in glob.glob(f"{root}/{glob.escape(prefix)}*") if os.path.isdir(one))
    counts, wrong, levels, began, results = collections.defaultdict(collections.Counter), [], collections.Counter(), time.time(), []
    for start in range(0, len(folders), 250):
        said = ask(tool, folders[start:start + 250])
        for skipped in said["skipped"]:
            print("SKIPPED", skipped)
        for row in said["cases"]:
            name = row["case"].split("/")[-1]
            mild = json.load(open(f"{root}/{name}/mild.json"))
            kind = judge(row, mild)
            scenario = name.rsplit(".", 1)[0]
            counts[scenario][kind] += 1
            levels[kind, row["got_level"]] += 1
            results.append({"case": name, "kind": kind, "got": row["got"], "level": row["got_level"], "right": row["expected"], "remark": row["remark"]})
            if kind != "right":
                wrong.append((KINDS.index(kind), name, kind, row))
        print(f"# {min(start + 250, len(folders))}/{len(folders)} after {time.time() - began:.0f} s", file=sys.stderr)
    with open(f"{root}/../results.jsonl", "w") as out:
        out.writelines(json.dumps(one) + "\n" for one in results)
    families = collections.defaultdict(collections.Counter)
    for scenario, of in counts.items():
        families[".".join(scenario.split(".")[:2])] += of
    print(f"{'family':14} {'cases':>5} " + " ".join(f"{kind:>17}" for kind in KINDS))
    for name, of in sorted(families.items()):
        print(f"{name:14} {sum(of.values()):5} " + " ".join(f"{of[kind] or '':>17}" for kind in KINDS))
    total = sum(families.values(), collections.Counter())
    print(f"{'all':14} {sum(total.values()):5} " + " ".join(f"{total[kind] or '':>17}" for kind in KINDS))
    print("\nby level: " + ", ".join(f"{kind}/{level or '-'} {n}" for (kind, level), n in sorted(levels.items())))
    print("\nscenarios that are not all right:")
    for scenario, of in sorted(counts.items()):
        if of["right"] < sum(of.values()):
            got = collections.Counter(f"{row['got']}/{row['got_level']}" for _, name, _, row in wrong if name.rsplit(".", 1)[0] == scenario)
            print(f"  {scenario:28} {of['right']}/{sum(of.values())}  " + ", ".join(f"{k} ×{n}" for k, n in got.most_common()))
    print()
    for _, name, kind, row in sorted(wrong, key=lambda one: one[:2]):
        print(f"{kind:18} {name:32} got {row['got']} ({row['got_level']}), right {'|'.join(row['expected'])} {row['remark']}")


if __name__ == "__main__":
    main()
