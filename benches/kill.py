#!/usr/bin/env python3
"""Kills imports, compactions, services and pushes by SIGKILL, again and again, on one store.

    benches/kill.py [kills] [seed] [path of the program]

What was acknowledged (an import that ended with 0, an upload that was answered with 200)
must be in the store whenever it is looked at, nothing may be there twice, and in the end
the store must hold exactly what one that nobody disturbed holds. Everything happens in a
temporary folder and on loopback. Pushes are tried where the program has the verb.
"""
import os, pathlib, random, shutil, signal, subprocess, sys, tempfile, time, urllib.request

KILLS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.expanduser("~/.cache/whathappened-target"))
TOOL = sys.argv[3] if len(sys.argv) > 3 else f"{TARGET}/debug/whathappened"
ROOT = pathlib.Path(__file__).resolve().parent.parent
EVERY = 25
rnd = random.Random(SEED)
folder = pathlib.Path(tempfile.mkdtemp(prefix="whathappened-kill-"))
env = {"HOME": str(folder), "PATH": os.environ["PATH"]}
cases = ["lab-cluster", "gke-host-maintenance", "gpu-test-drain", "eks-spot-reclaim"]
FILES = sorted(str(path) for case in cases for path in (ROOT / "fixtures" / case / "input").rglob("*") if path.is_file())


def run(*args):
    done = subprocess.run([TOOL, *args], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{args}: {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def ids(store):
    statement = "SELECT id FROM events ORDER BY id"
    return run("sql", statement, "--store", store, "--no-fetch", "--format", "csv", "-q").split()[1:]


def start(*args):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    return subprocess.Popen([TOOL, *args], env=env, text=True, **quiet)


def killed(child, longest):
    """Lets it live for some time; whether it was killed rather than done."""
    try:
        child.wait(timeout=rnd.uniform(0, longest))
        return False
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.wait()
        return True


def upload(store, file):
    """Gives a file to a service that is killed at some moment; whether it was acknowledged."""
    child = start("serve", "--no-fetch", "--listen", "127.0.0.1:0", "--store", store)
    address = None
    for line in child.stderr:
        if "listening on http://" in line:
            address = line.split("listening on ")[1].strip()
            break
    if address is None:
        sys.exit("the service did not begin to listen")
    killer = subprocess.Popen(["sh", "-c", f"sleep {rnd.uniform(0, 1.5):.3f}; kill -9 {child.pid}"])
    try:
        name = os.path.basename(file)
        request = urllib.request.Request(f"{address}/api/v1/imports?name={name}", data=open(file, "rb").read(), method="POST")
        with urllib.request.urlopen(request, timeout=60) as answer:
            acknowledged = answer.status == 200 and b'"done"' in answer.read()
    except OSError:
        acknowledged = False
    except Exception:  # a connection that breaks off in the middle of an answer
        acknowledged = False
    killer.wait()
    child.wait()
    return acknowledged


store, kills, acknowledged = str(folder / "store"), 0, set()
can_push = subprocess.run([TOOL, "store", "push", "--help"], env=env, capture_output=True).returncode == 0
reference = {}
for file in FILES:
    alone = str(folder / "alone")
    run("import", file, "--store", alone, "-q")
    reference[file] = set(ids(alone))
    shutil.rmtree(alone)
begun, looked = time.monotonic(), 0
while kills < KILLS:
    what = rnd.choice(["import", "import", "import", "compact", "upload"] + (["push"] if can_push else []))
    # Of a log its folders say whose it is, which an upload does not have.
    file = rnd.choice([file for file in FILES if what != "upload" or not file.endswith(".log")])
    if what == "import":
        child = start("import", file, "--store", store, "-q")
        if killed(child, 0.8):
            kills += 1
        elif child.returncode == 0:
            acknowledged.add(file)
    elif what == "upload":
        if os.path.exists(store):
            acknowledged |= {file} if upload(store, file) else set()
            kills += 1
    elif os.path.exists(store):
        place = [f"file://{folder}/pushed"] if what == "push" else []
        kills += killed(start("store", what, *place, "--store", store), 0.5)
    if kills // EVERY > looked and acknowledged:
        looked = kills // EVERY
        run("store", "verify", "--store", store)
        there = ids(store)
        if len(there) != len(set(there)):
            sys.exit(f"after {kills} kills: {len(there) - len(set(there))} facts are there twice")
        for file in acknowledged:
            lost = reference[file] - set(there)
            if lost:
                sys.exit(f"after {kills} kills: {len(lost)} facts of {file} are lost, such as {min(lost)}")
        print(f"{kills} kills, {len(acknowledged)} of {len(FILES)} files acknowledged, {len(there)} facts", flush=True)
run("import", *FILES, "--store", store, "-q")
undisturbed = str(folder / "undisturbed")
run("import", *FILES, "--store", undisturbed, "-q")
if ids(store) != ids(undisturbed):
    sys.exit("the store differs from one that nobody disturbed")
left = [path.name for path in pathlib.Path(store).rglob("*.tmp")]
print(f"{kills} kills in {time.monotonic() - begun:.0f} s: nothing acknowledged is lost, nothing is there twice, {len(left)} temporary files left")
shutil.rmtree(folder)
