"""run.py TOOL PREFIX CASES [--list] [--mix=A,LE]: asks TOOL about every case in one process and judges the answers by level."""

import collections, json, os, subprocess, sys


def judge(t, answer):
    """The verdict on one answer, and words about it."""
    if "error" in answer: return "no-answer", answer["error"][:160]
    a = answer["answer"]
    inc = [i for i in a["incidents"]]
    lead = inc[0] if inc else None
    cause, level = (lead["cause"], lead["level"]) if lead else ("unknown", "unknown")
    actor = (lead or {}).get("actor") or {}
    name = actor.get("name", "") or ""
    said = f"{cause} ({level}) by {name or '-'}: {(lead or {}).get('summary', '')[:170]}"
    mix = set(t["mix"])
    if "T" in mix: mix -= {"E"}  # a session shows the Events of its namespace only
    owed = set(t["seen"]) & mix
    if not owed: t["right"] = t["right"] + t["unseen"]
    for other in inc[1:]:
        if other["level"] in ("established", "supported") and not other["cause"].startswith("none.") and other["cause"] not in t["right"] + t["also"]:
            said += f" | also {other['cause']} ({other['level']})"
            if other["cause"] in t["never_cause"]: return "EXTRA-BLAME", said
    if cause in t["never_cause"] and level in ("established", "supported"): return "WRONG-" + level.upper(), said
    if cause in t["right"]:
        rank = ["hypothesis", "supported", "established"]
        if t["cap"] and level in rank and rank.index(level) > rank.index(t["cap"]): return "OVERCONFIDENT", said
        if any(n in name for n in t["never"]) and level != "hypothesis": return "WRONG-ACTOR", said
        if t["actor"] and set(t["who"]) & set(t["mix"]) and not cause.startswith("none.") and cause != "unknown":
            if name and not any(n in name for n in t["actor"]): return "WRONG-ACTOR", said
            if not name: return "no-actor", said
        return "right", said
    if cause == "unknown": return ("missed" if owed else "unknown"), said
    if level == "established": return "WRONG-ESTABLISHED", said
    if level == "supported": return "WRONG-SUPPORTED", said
    if cause.startswith("none."): return ("false-fine" if owed else "fine?"), said
    if cause in t["weak"]: return ("weak-owed" if owed else "weak"), said
    return ("wrong-hypothesis" if owed else "guess"), said


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    tool, prefix, root = args
    names = sorted(n for n in os.listdir(root) if n.startswith(prefix) and os.path.exists(f"{root}/{n}/truth.json"))
    mixes = next((a[6:].split(",") for a in sys.argv if a.startswith("--mix=")), None)
    if mixes: names = [n for n in names if n.split(".")[2] in mixes]
    truths = {n: json.load(open(f"{root}/{n}/truth.json")) for n in names}
    out = []
    for i in range(0, len(names), 1500):  # in parts, so that no process runs for long
        ask = "".join(json.dumps({"id": n, "from": [f"{root}/{n}/input"], "name": truths[n]["ask"], "at": None}) + "\n" for n in names[i : i + 1500])
        done = subprocess.run(["nice", "-n", "15", tool, "batch"], input=ask, capture_output=True, text=True)
        if done.returncode: print("tool:", done.returncode, done.stderr[-500:])
        out += [(json.loads(line)["id"], *judge(truths[json.loads(line)["id"]], json.loads(line))) for line in done.stdout.splitlines()]
    families, rows = collections.defaultdict(collections.Counter), []
    for case, verdict, said in out:
        families[case.split(".")[0]][verdict] += 1
        rows.append((verdict, case, said))
    for family, counts in sorted(families.items()): print(f"{family:20} " + "  ".join(f"{k} {v}" for k, v in sorted(counts.items())))
    total = sum(families.values(), collections.Counter())
    print(f"{'all':20} " + "  ".join(f"{k} {v}" for k, v in sorted(total.items())), f" of {len(names)}")
    quiet = () if "--list" in sys.argv else ("right", "unknown", "weak", "guess", "fine?")
    for verdict, case, said in sorted(rows):
        if verdict not in quiet: print(f"{verdict:18} {case:48} {said}")


if __name__ == "__main__":
    main()
