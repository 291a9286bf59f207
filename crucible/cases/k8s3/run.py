"""run.py TOOL PREFIX FOLDER [--list] [--mix=…] [--save=FILE]: as k8s/run.py, and it holds the first death and the state against the truth as well."""
import collections, json, os, subprocess, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "k8s"))
import importlib.util
spec = importlib.util.spec_from_file_location("k8srun", sys.path[0] + "/run.py")
k8srun = importlib.util.module_from_spec(spec); spec.loader.exec_module(k8srun)

def judge(t, answer):
    if "answer" in answer: answer["answer"]["incidents"] = [i for n, i in enumerate(answer["answer"]["incidents"]) if n == 0 or i.get("role") not in ("recovered", "also", "earlier")]
    verdict, said = k8srun.judge(t, answer)
    if "error" in answer: return verdict, said
    inc = answer["answer"]["incidents"]
    lead = inc[0] if inc else None
    first = [v["pod"] for v in (lead or {}).get("first_victims") or []]
    if t.get("meta_ok") and verdict.startswith(("WRONG-S", "WRONG-A")) and set(t["mix"]) <= set("MX"): verdict = "right"
    said += f" | first {','.join(first[:3])}"
    if t.get("never_run") and lead and lead["cause"] == "none.running" and lead["level"] in ("established", "supported"): return "WRONG-ESTABLISHED", said
    want = t.get("first")
    if want and verdict == "right" and lead and first and not lead["cause"].startswith("none.") and lead["level"] in ("established", "supported"):
        if not any(any(p in f for p in want) for f in first) : return "WRONG-FIRST", said
    return verdict, said

def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    tool, prefix, root = args
    names = sorted(n for n in os.listdir(root) if n.startswith(prefix) and os.path.exists(f"{root}/{n}/truth.json"))
    mixes = next((a[6:].split(",") for a in sys.argv if a.startswith("--mix=")), None)
    if mixes: names = [n for n in names if n.split(".")[-2] in mixes]
    truths = {n: json.load(open(f"{root}/{n}/truth.json")) for n in names}
    out = []
    for i in range(0, len(names), 600):
        ask = "".join(json.dumps({"id": n, "from": [f"{root}/{n}/input"], "name": truths[n]["ask"], "at": None}) + "\n" for n in names[i:i + 600])
        done = subprocess.run(["nice", "-n", "12", tool, "batch"], input=ask, capture_output=True, text=True)
        if done.returncode: print("tool:", done.returncode, done.stderr[-500:])
        out += [(json.loads(l)["id"], *judge(truths[json.loads(l)["id"]], json.loads(l))) for l in done.stdout.splitlines()]
    fams, rows = collections.defaultdict(collections.Counter), []
    for c, v, s in out: fams[c.split(".")[0]][v] += 1; rows.append((v, c, s))
    for f, n in sorted(fams.items()): print(f"{f:20} " + "  ".join(f"{k} {v}" for k, v in sorted(n.items())))
    total = sum(fams.values(), collections.Counter())
    print(f"{'all':20} " + "  ".join(f"{k} {v}" for k, v in sorted(total.items())), f" of {len(names)}")
    quiet = () if "--list" in sys.argv else ("right", "unknown", "weak", "guess", "fine?")
    for v, c, s in sorted(rows):
        if v not in quiet: print(f"{v:18} {c:52} {s}")

if __name__ == "__main__": main()
