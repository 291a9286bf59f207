#!/usr/bin/env python3
"""Eight collectors and four readers on one lake, each killed at random.

    benches/lake/chaos.py [rounds] [seed] [path of the program] [folder | s3]

Each collector imports recordings of its own, some of which others have too, and pushes its
store; each reader asks the lake. All are killed by SIGKILL at random. On S3 (moto, behind a
proxy) requests are slow, one in twenty fails, before or after it was done, and now and then
the bucket is full. In the end the lake must hold exactly the facts that one undisturbed store
holds, each once, and give the same answers; no answer on the way may be wrong.
"""
import json, os, pathlib, random, shutil, signal, subprocess, sys, tempfile, threading, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from proxy import S3

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.expanduser("~/.cache/whathappened-lake"))
TOOL = sys.argv[3] if len(sys.argv) > 3 else f"{TARGET}/debug/whathappened"
ON_S3 = (sys.argv[4] if len(sys.argv) > 4 else "s3") == "s3"
COLLECTORS, READERS = 8, 4
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
rnd = random.Random(SEED)
work = pathlib.Path(tempfile.mkdtemp(prefix="whathappened-chaos-"))
cases = sorted(path.parent for path in (ROOT / "fixtures").glob("*/input") if path.parent.name != "lab-cluster")
cases = cases[: int(os.environ.get("CASES", len(cases)))]
s3 = S3(SEED) if ON_S3 else None
lake = "s3://lab/chaos" if ON_S3 else str(work / "lake")
if not ON_S3:
    (work / "lake").mkdir()
over, kills, done, refused, wrong = threading.Event(), 0, 0, 0, []
counts = threading.Lock()


def env(name):
    home = work / name
    home.mkdir(exist_ok=True)
    return {"HOME": str(home), "PATH": os.environ["PATH"], **(s3.env() if s3 else {})}


def start(name, *args):
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([TOOL, *args], env=env(name), text=True, **quiet)


def run(name, *args, well=True):
    child = start(name, *args)
    out, err = child.communicate()
    if well and child.returncode != 0:
        sys.exit(f"{args}: {child.returncode}: {err[-2000:]}")
    return child.returncode, out, err


def maybe_killed(name, *args, longest):
    """Output of what was let be, None of what was killed."""
    global kills
    child = start(name, *args)
    try:
        out, err = child.communicate(timeout=random.uniform(0.05, longest))
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.communicate()
        with counts:
            kills += 1
        return None
    return child.returncode, out, err


def told(code, err, args):
    """Failing is allowed where the bucket fails; a wrong answer never is."""
    global refused, done
    with counts:
        if code == 0:
            done += 1
        else:
            refused += 1
            if not s3 and "changed it again" not in err:
                wrong.append(f"{args}: {code}: {err[-400:]}")


def collector(number):
    name = f"collector-{number}"
    own = [case for index, case in enumerate(cases) if index % COLLECTORS in (number, (number + 1) % COLLECTORS)]
    for case in own:
        if over.is_set():
            return
        run(name, "import", str(case / "input"), "--store", str(work / name / "store"), "-q", well=False)
        args = ("store", "push", lake, "--store", str(work / name / "store"))
        ended = maybe_killed(name, *args, longest=8)
        if ended:
            told(ended[0], ended[2], args)


def reader(number):
    name, most = f"reader-{number}", 0
    while not over.is_set():
        args = ("sql", "SELECT count(*) AS n, count(DISTINCT id) AS ids FROM events", "--store", lake, "--format", "csv", "-q")
        ended = maybe_killed(name, *args, longest=12)
        if not ended:
            continue
        code, out, err = ended
        if "there is no lake here" in err:
            time.sleep(0.5)
            continue
        told(code, err, args)
        if code == 0:
            rows, ids = map(int, out.split()[1].split(","))
            if rows != ids:
                wrong.append(f"{rows} rows with {ids} ids")
            if rows < most:
                wrong.append(f"{rows} rows after {most}")
            most = rows


def weather():
    """What befalls the bucket while all work."""
    while s3 and not over.wait(random.uniform(2, 6)):
        s3.slow = random.choice([0, 0, 0.05, 0.2])
        s3.failing = 0.05
        s3.full = random.random() < 0.15


def main():
    started = time.monotonic()
    whole = str(work / "whole")
    run("whole-home", "import", *[str(case / "input") for case in cases], "--store", whole, "-q", well=False)
    threads = [threading.Thread(target=collector, args=(number,)) for number in range(COLLECTORS)]
    others = [threading.Thread(target=reader, args=(number,)) for number in range(READERS)]
    others.append(threading.Thread(target=weather))
    for thread in threads + others:
        thread.start()
    for thread in threads:
        thread.join()
    # A compaction beside them is killed, too.
    for _ in range(ROUNDS):
        maybe_killed("keeper", "store", "compact", "--store", lake, longest=5)
    over.set()
    for thread in others:
        thread.join()
    if s3:
        s3.slow, s3.failing, s3.full = 0, 0, False
    for number in range(COLLECTORS):
        name = f"collector-{number}"
        for case in cases:
            index = cases.index(case) % COLLECTORS
            if index in (number, (number + 1) % COLLECTORS):
                run(name, "import", str(case / "input"), "--store", str(work / name / "store"), "-q", well=False)
        run(name, "store", "push", lake, "--store", str(work / name / "store"))
    failures = list(wrong)
    questions = [
        ["sql", "SELECT id, seen_by, time, count, pod, node, reason FROM events ORDER BY id", "--format", "ndjson"],
        ["sql", "SELECT kind, namespace, name, uid, valid_from, node, phase FROM objects ORDER BY 1, 2, 3, 4, 5, 6, 7", "--format", "csv"],
    ]
    for case, name in (("aks-host-fault", "vit-l-5"), ("eks-spot-reclaim", "rlhf-2"), ("gce-vm-experiment", "ppo-17"), ("gke-host-maintenance", "moe-8b")):
        if any(one.name == case for one in cases):
            questions.append([name, "--format", "json"])
    for moment in ("pushed", "compacted", "vacuumed"):
        if moment != "pushed":
            run("keeper", "store", moment[:-2] if moment == "vacuumed" else "compact", "--store", lake)
        for question in questions:
            one = run("whole-home", *question, "--store", whole, "--no-fetch", "-q")[1]
            other = run("fresh", *question, "--store", lake, "-q")[1]
            if one != other:
                (work / "one").write_text(one), (work / "other").write_text(other)
                failures.append(f"{moment}: {question}: {len(one)} bytes against {len(other)}; see {work}")
    rows = len(run("fresh", *questions[0], "--store", lake, "-q")[1].splitlines())
    print(f"{kills} kills, {done} pushes and answers that ended well, {refused} that said why not; {rows} facts in the lake")
    if s3:
        print(f"{s3.requests} requests, {s3.failed} of them failed")
        s3.stop()
    print(f"{time.monotonic() - started:.0f} s, seed {SEED}")
    for failure in failures[:20]:
        print("WRONG:", failure)
    if failures:
        sys.exit(1)
    shutil.rmtree(work)
    print("nothing lost, nothing twice, no answer wrong")


random.seed(SEED)
main()
