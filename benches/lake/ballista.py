#!/usr/bin/env python3
"""How scans of a lake grow with executors of Ballista, and what one that is killed costs.

    benches/lake/ballista.py [events] [path of the program] [path of `fill`]

Fills a store, pushes it into a lake in a folder, and asks it without Ballista and with 1, 2 and 4
executors of one task each: seconds of the whole process, the best of three. Then it kills one of
two executors by SIGKILL in the middle of a scan, and counts how long executors still compute after
Ctrl-C. All processes share this machine's cores, so more executors than cores show nothing.
"""
import os, shutil, signal, socket, subprocess, sys, tempfile, threading, time

here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
target = os.environ.get("CARGO_TARGET_DIR", os.path.expanduser("~/.cache/whathappened-extras"))
events = int(float(sys.argv[1])) if len(sys.argv) > 1 else 3_000_000
tool = sys.argv[2] if len(sys.argv) > 2 else f"{target}/debug/whathappened"
fill = sys.argv[3] if len(sys.argv) > 3 else f"{target}/debug/examples/fill"
STATEMENTS = {
    "count by reason": "SELECT reason, count(*) AS n FROM events GROUP BY reason ORDER BY reason",
    "text of all rows": "SELECT count(*) AS n FROM events WHERE regexp_like(message, 'pulled.*[0-9]s$') OR raw LIKE '%never there%'",
    "rows of a pod": "SELECT pod, count(*) AS n, max(time) AS last FROM events GROUP BY pod ORDER BY n DESC, pod LIMIT 10",
}
LONG = "SELECT count(*) AS n FROM events a JOIN events b ON a.pod = b.pod WHERE a.message < concat(b.message, a.id)"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def main():
    work = tempfile.mkdtemp(prefix="ballista-bench-")
    env = {"PATH": os.environ["PATH"], "HOME": f"{work}/home"}
    os.mkdir(env["HOME"])
    started = []

    def start(*args, home=env["HOME"]):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen([tool, "ballista", *args], env={**env, "HOME": home}, **quiet))
        return started[-1]

    def ask(sql, *more):
        begun = time.monotonic()
        done = subprocess.run([tool, "sql", sql, "--store", lake, "--no-fetch", "--format", "csv", "-q", "--timeout", "10m", *more], env=env, capture_output=True, text=True)
        return time.monotonic() - begun, done

    def cpu(children):
        ticks = 0
        for child in children:
            fields = open(f"/proc/{child.pid}/stat").read().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    store, lake = f"{work}/store", f"{work}/lake"
    os.mkdir(lake)
    try:
        subprocess.run([fill, store, str(events), str(max(events // 1000, 1)), "30"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([tool, "store", "push", lake, "--store", store], env=env, check=True, capture_output=True)
        shutil.rmtree(store)
        scheduler = f"127.0.0.1:{free_port()}"
        named = ["--ballista", f"df://{scheduler}"]
        start("scheduler", "--listen", scheduler)
        time.sleep(1)

        executors = []

        def grow(count):
            while len(executors) < count:
                home = f"{work}/executor-{len(executors)}"
                os.mkdir(home)
                executors.append(start("executor", "--scheduler", named[1], "--listen", f"127.0.0.1:{free_port()}", "--tasks", "1", "--store", lake, home=home))
            time.sleep(3)
            # Its index of the lake is made once.
            ask("SELECT count(*) FROM events WHERE message = ''", *named)

        right = {}
        print(f"{events:,} facts, {os.cpu_count()} cores; seconds of the whole process, best of three")
        for count in (0, 1, 2, 4):
            if count:
                grow(count)
            line = f"  {count} executors" if count else "  no Ballista "
            for name, sql in STATEMENTS.items():
                best = None
                for _ in range(3):
                    seconds, done = ask(sql, *(named if count else []))
                    if done.returncode or right.setdefault(name, done.stdout) != done.stdout:
                        sys.exit(f"{name} with {count}: exit {done.returncode}, other rows\n{done.stderr[-2000:]}")
                    best = min(best or seconds, seconds)
                line += f" | {name} {best:.2f}"
            print(line, flush=True)

        for one in executors[2:]:
            one.kill()
            one.wait()
        del executors[2:]
        time.sleep(20)
        whole, done = ask(LONG, *named)
        rows = done.stdout
        killer = threading.Timer(whole / 3, executors[0].kill)
        killer.start()
        seconds, done = ask(LONG, *named)
        same = "same rows" if done.returncode == 0 and done.stdout == rows else f"exit {done.returncode}: {done.stderr[-500:]}"
        print(f"  one of two executors killed after {whole / 3:.1f} s of {whole:.1f} s: {same} after {seconds:.1f} s")

        left = executors[1:]
        asked = subprocess.Popen([tool, "sql", LONG, "--store", lake, "--no-fetch", "-q", *named], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, start_new_session=True)
        before = cpu(left)
        while cpu(left) - before < 1:
            time.sleep(0.1)
        os.killpg(asked.pid, signal.SIGINT)
        asked.wait()
        begun, last, still = time.monotonic(), cpu(left), 0.0
        for _ in range(25):
            time.sleep(0.2)
            now = cpu(left)
            if now - last > 0.04:
                still = time.monotonic() - begun
            last = now
        print(f"  Ctrl-C: exit {asked.returncode}, executors computed for {still:.1f} s more")
    finally:
        for one in started:
            one.kill()
            one.wait()
        shutil.rmtree(work, ignore_errors=True)


main()
