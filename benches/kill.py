#!/usr/bin/env python3
"""Kills imports, compactions, services, collectors and pushes by SIGKILL, again and again, on one store.

    benches/kill.py [kills] [seed] [path of the program]

What was acknowledged (an import that ended with 0, an upload that was answered with 200)
must be in the store whenever it is looked at, nothing may be there twice, and in the end
the store must hold exactly what one that nobody disturbed holds. How long a program lives is
drawn anew each time and adapts to the machine, so that a third ends by itself however busy it
is, and half are killed within moments of a change of the store's own files: who is always
killed before it began to write proves nothing, and a run in which hardly anything was
acknowledged, collected or pushed ends with an error. `collect` follows an API
server that is played here: Events that only its watch tells of must all be there once a
collector was left alone for a while, however often it was killed. Everything happens in a
temporary folder and on loopback. Pushes are tried where the program has the verb, and what
was pushed is compared with the store itself.
"""
import http.server, json, os, pathlib, random, shutil, signal, subprocess, sys, tempfile, threading, time, urllib.parse, urllib.request

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


class Cluster(http.server.BaseHTTPRequestHandler):
    """An API server whose lists are empty: what happens is told by watches of Events alone."""
    events = []
    protocol_version = "HTTP/1.1"

    @classmethod
    def happen(cls, count):
        for number in range(len(cls.events) + 1, len(cls.events) + count + 1):
            at = "2026-11-21T15:24:00Z"
            cls.events.append({
                "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "SeenLive", "message": f"event {number}",
                "metadata": {"name": f"late-{number}.{0x18ea1891a41c0000 + number:016x}", "namespace": "collected",
                             "uid": f"77777777-0000-4000-8000-{number:012}", "resourceVersion": str(100 + number), "creationTimestamp": at},
                "involvedObject": {"kind": "Pod", "namespace": "collected", "name": f"late-{number % 50}", "uid": f"u-{number % 50}"},
                "firstTimestamp": at, "lastTimestamp": at, "count": 1, "source": {"component": "kubelet"}})

    def log_message(self, *_):
        pass

    def tell(self, answer, code=200):
        text = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.tell({**review, "status": {"allowed": True}}, 201)

    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        asked = dict(urllib.parse.parse_qsl(url.query))
        if asked.get("watch") in ("1", "true"):
            return self.watch(url.path.endswith("/events"), int(asked.get("resourceVersion") or 0))
        name = lambda name, kind: {"name": name, "kind": kind, "namespaced": True, "singularName": "", "verbs": ["get", "list", "watch"]}
        fixed = {
            "/version": {"gitVersion": "v1.36.1", "major": "1", "minor": "36"},
            "/api/v1/namespaces/kube-system": {"kind": "Namespace", "metadata": {"name": "kube-system", "uid": "kill-py"}},
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
            "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": [name("pods", "Pod"), name("events", "Event")]},
        }
        kind = "EventList" if url.path.endswith("/events") else "PodList"
        version = str(100 + len(self.events))
        self.tell(fixed.get(url.path) or {"kind": kind, "apiVersion": "v1", "metadata": {"resourceVersion": version}, "items": []})

    def watch(self, is_of_events, version):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        end = time.monotonic() + (60 if is_of_events else 2)
        while time.monotonic() < end:
            for event in self.events[max(version - 100, 0):] if is_of_events else []:
                self.wfile.write(json.dumps({"type": "ADDED", "object": event}).encode() + b"\n")
                version += 1
            self.wfile.flush()
            time.sleep(0.01)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Who was killed has gone."""


def run(*args):
    done = subprocess.run([TOOL, *args], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{args}: {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


# Facts, and versions of objects by what tells them apart. The collected Events bring none.
OBJECTS = "SELECT concat_ws('|', 'object', kind, uid, name, resource_version, valid_from, generation, deleted) FROM objects"
EVERYTHING = f"SELECT id FROM events UNION ALL {OBJECTS}"


def ids(store, statement=EVERYTHING):
    rows = run("sql", statement, "--store", store, "--no-fetch", "--format", "csv", "-q").split("\n")[1:]
    return sorted(row for row in rows if row)


def start(*args):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    return subprocess.Popen([TOOL, *args], env=env, text=True, **quiet)


class Lives:
    """How long the programs of each verb are let live."""

    def __init__(self):
        self.longest, self.kills, self.ended, self.writing = {}, {}, {}, 0

    def count(self, of, verb):
        of[verb] = of.get(verb, 0) + 1

    def files(self, where):
        """What a store's files are like: their names, sizes and times."""
        seen = []
        for path in pathlib.Path(where).rglob("*"):
            try:
                known = path.stat()
            except OSError:
                continue
            seen.append((str(path), known.st_size, known.st_mtime_ns))
        return sorted(seen)

    def waited(self, child, verb, where):
        """Lives until it is to be killed; whether it ended before that."""
        longest = self.longest.setdefault(verb, 1.0)
        end = time.monotonic() + rnd.uniform(0, longest)
        if rnd.random() < 0.5:
            # A moment after the nth change of its files, which is when something is half done.
            end, changes, before = time.monotonic() + 20 * longest, rnd.randint(1, 6), self.files(where)
            while changes and child.poll() is None and time.monotonic() < end:
                now = self.files(where)
                changes, before = changes - (now != before), now
                time.sleep(0.002)
            self.writing += child.poll() is None
            end = time.monotonic() + rnd.uniform(0, 0.03)
        while child.poll() is None and time.monotonic() < end:
            time.sleep(0.001)
        return child.poll() is not None

    def killed(self, child, verb, where):
        """Lets it live for some time; whether it was killed rather than done."""
        begun = time.monotonic()
        if self.waited(child, verb, where):
            self.longest[verb] = max(0.05, self.longest[verb] * 0.8)
            self.count(self.ended, verb)
            return False
        child.send_signal(signal.SIGKILL)
        child.wait()
        lived = time.monotonic() - begun
        self.longest[verb] = min(60, max(self.longest[verb] * 1.08, lived))
        self.count(self.kills, verb)
        return True


lives = Lives()


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
    threading.Thread(target=lambda: [None for _ in child.stderr], daemon=True).start()
    killer = threading.Thread(target=lives.killed, args=(child, "upload", store))
    killer.start()
    try:
        name = os.path.basename(file)
        request = urllib.request.Request(f"{address}/api/v1/imports?name={name}", data=open(file, "rb").read(), method="POST")
        with urllib.request.urlopen(request, timeout=60) as answer:
            acknowledged = answer.status == 200 and b'"done"' in answer.read()
    except OSError:
        acknowledged = False
    except Exception:  # a connection that breaks off in the middle of an answer
        acknowledged = False
    killer.join()
    if acknowledged:
        # Who was done is killed all the same: more time is not needed.
        lives.longest["upload"] *= 0.8
    return acknowledged


def collected(where):
    """Numbers of the Events that a store has of the cluster, one for each time that it is there."""
    statement = "SELECT message FROM events WHERE namespace = 'collected' ORDER BY message"
    rows = run("sql", statement, "--store", where, "--no-fetch", "--format", "csv", "-q").split("\n")[1:]
    return [row.strip('"').removeprefix("event ") for row in rows if row]


def follow(where):
    """Follows the cluster into a store, in a process of its own."""
    return start("collect", "--kubeconfig", str(folder / "kubeconfig"), "--store", where, "-q")


def catch_up(where):
    """Leaves a collector alone until everything that happened is there."""
    child = follow(where)
    # It may be kept in memory for a moment before it is written.
    for _ in range(600):
        time.sleep(0.5)
        if os.path.exists(os.path.join(where, "store.db")) and len(collected(where)) >= len(Cluster.events):
            break
    child.terminate()
    child.wait()


cluster = Server(("127.0.0.1", 0), Cluster)
threading.Thread(target=cluster.serve_forever, daemon=True).start()
(folder / "kubeconfig").write_text(json.dumps({
    "apiVersion": "v1", "kind": "Config", "current-context": "lab", "users": [{"name": "me", "user": {}}],
    "clusters": [{"name": "lab", "cluster": {"server": f"http://127.0.0.1:{cluster.server_port}"}}],
    "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "me"}}]}))
store, kills, acknowledged = str(folder / "store"), 0, set()
# From its first list on only the cursor leads to what happens: it is there with the first Event.
Cluster.happen(1)
catch_up(store)
can_push = subprocess.run([TOOL, "store", "push", "--help"], env=env, capture_output=True).returncode == 0
reference = {}
for file in FILES:
    alone = str(folder / "alone")
    run("import", file, "--store", alone, "-q")
    reference[file] = set(ids(alone))
    shutil.rmtree(alone)
# What is compared with nothing is always there.
bare = [file for file in FILES if not reference[file]]
if len(bare) * 2 > len(FILES):
    sys.exit(f"nothing is known of {bare}")
begun, looked, most_collected = time.monotonic(), 0, 0
while kills < KILLS:
    what = rnd.choice(["import", "import", "import", "compact", "upload", "collect", "collect"] + (["push"] if can_push else []))
    # Of a log its folders say whose it is, which an upload does not have.
    file = rnd.choice([file for file in FILES if what != "upload" or not file.endswith(".log")])
    if what == "import":
        child = start("import", file, "--store", store, "-q")
        if lives.killed(child, "import", store):
            kills += 1
        elif child.returncode == 0:
            acknowledged.add(file)
    elif what == "upload":
        if os.path.exists(store):
            acknowledged |= {file} if upload(store, file) else set()
            kills += 1
    elif what == "collect":
        Cluster.happen(rnd.randint(1, 40))
        child = follow(store)
        if not lives.killed(child, "collect", store):
            sys.exit(f"the collector ended by itself: {child.stderr.read()[-2000:]}")
        kills += 1
    elif os.path.exists(store):
        place = [f"file://{folder}/pushed"] if what == "push" else []
        child = start("store", what, *place, "--store", store)
        if lives.killed(child, what, store if what == "compact" else str(folder)):
            kills += 1
        elif child.returncode != 0:
            sys.exit(f"store {what} failed: {child.stderr.read()[-2000:]}")
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
        seen = collected(store)
        if len(seen) != len(set(seen)):
            sys.exit(f"after {kills} kills: an Event that was collected is there twice")
        most_collected = max(most_collected, len(seen))
        print(f"{kills} kills ({lives.writing} in the middle of changes; {lives.kills}, ended by themselves {lives.ended}), {len(seen)} of {len(Cluster.events)} Events collected, {len(acknowledged)} of {len(FILES)} files acknowledged, {len(there)} facts", flush=True)
for what, enough in [
    (f"{len(acknowledged)} of {len(FILES)} files were acknowledged", len(acknowledged) * 2 >= len(FILES)),
    (f"{most_collected} of {len(Cluster.events)} Events were collected before they were killed", most_collected * 4 >= len(Cluster.events)),
    (f"{lives.writing} were killed in the middle of changes", lives.writing * 10 >= kills),
]:
    if KILLS >= 100 and not enough:
        sys.exit(f"this run proves nothing: {what}")
run("import", *FILES, "--store", store, "-q")
catch_up(store)
seen = collected(store)
if sorted(seen, key=int) != [str(number) for number in range(1, len(Cluster.events) + 1)]:
    sys.exit(f"{len(set(seen))} of {len(Cluster.events)} Events were collected, {len(seen) - len(set(seen))} of them twice")
undisturbed = str(folder / "undisturbed")
run("import", *FILES, "--store", undisturbed, "-q")
of_files = f"SELECT id FROM events WHERE namespace IS NULL OR namespace <> 'collected' UNION ALL {OBJECTS}"
if ids(store, of_files) != ids(undisturbed, of_files):
    sys.exit("the store differs from one that nobody disturbed")
if can_push:
    run("store", "push", f"file://{folder}/pushed", "--store", store)
    pushed = [f"file://{folder}/pushed"]
    if ids(*pushed) != ids(store):
        sys.exit("what was pushed differs from the store")
left = [path.name for path in pathlib.Path(store).rglob("*.tmp")]
print(f"{kills} kills in {time.monotonic() - begun:.0f} s: nothing acknowledged is lost, nothing is there twice, {len(left)} temporary files left")
shutil.rmtree(folder)
