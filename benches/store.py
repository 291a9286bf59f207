#!/usr/bin/env python3
"""The store beside DuckDB on the same files, in one run: store.py [EVENTS…]

For each size fills a store (30 days, 1,000 facts an experiment), imports the
bundled incident into it, and measures whole processes: seconds (best and
median of several) and peak memory. DuckDB (PyPI) reads the same segments.
"""
import os, shutil, statistics, subprocess, sys, tempfile, time

here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
target = os.environ.get("CARGO_TARGET_DIR", os.path.expanduser("~/.cache/whathappened-target"))
tool, fill = f"{target}/debug/whathappened", f"{target}/debug/examples/fill"
sizes = [int(float(size)) for size in sys.argv[1:]] or [1_000_000, 5_000_000, 20_000_000]
repeats = int(os.environ.get("REPEATS", "5"))
env = {**os.environ, "HOME": "/nonexistent"}
env.pop("KUBECONFIG", None)

DUCKDB = """
import duckdb, sys, time
db = duckdb.connect(config={"threads": 2})
db.sql(f"CREATE VIEW events AS SELECT * FROM read_parquet('{sys.argv[1]}/events/*/*.parquet', hive_partitioning=false)")
start = time.monotonic()
rows = db.sql(sys.argv[2]).fetchall()
print(time.monotonic() - start, len(rows))
"""


def run(command):
    """Seconds, peak MiB and output of a whole process."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    out, err = process.communicate()
    wall = time.monotonic() - start
    if process.returncode:
        sys.exit(f"{command}: exit {process.returncode}\n{err.decode()}")
    return wall, out


def peak(command):
    """Peak MiB of a whole process, by a wrapper that has no other child."""
    wrapper = "import resource,subprocess,sys; subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL,check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    return int(subprocess.run([sys.executable, "-c", wrapper, *command], capture_output=True, env=env, check=True).stdout) / 1024


def times(command):
    walls = [run(command)[0] for _ in range(repeats)]
    return min(walls), statistics.median(walls)


def count(out):
    return len(out.decode().splitlines())


def main():
    kept = os.environ.get("BENCH_STORE")
    work = kept or tempfile.mkdtemp(prefix="store-bench-")
    try:
        for size in sizes:
            measure(size, f"{work}/{size}")
    finally:
        if not kept:
            shutil.rmtree(work)


def measure(size, store):
    experiments = size // 1000
    start = time.monotonic()
    if not os.path.exists(store):  # BENCH_STORE names a folder of stores that are kept
        subprocess.run([fill, store, str(size), str(experiments), "30"], check=True, stdout=subprocess.DEVNULL)
    filled = time.monotonic() - start
    run([tool, "import", f"{here}/fixtures/lab-cluster/input", f"{here}/fixtures/lab-cluster/loki", "--store", store, "--quiet"])
    start = time.monotonic()
    if not os.environ.get("LOOSE"):
        run([tool, "store", "compact", "--store", store])
    compacted = time.monotonic() - start
    disk = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(store) for name in names)
    print(f"\n{size:,} facts, {experiments:,} experiments: filled in {filled:.0f} s, compacted in {compacted:.0f} s, {disk / 1e6:.0f} MB on disk")
    for name in ("gpt2-small-7f3", f"exp-{experiments // 2:05}"):
        ask = [tool, name, "--store", store, "--no-fetch", "--quiet"]
        best, median = times(ask)
        print(f"  whathappened {name:<16} best {best:.3f} s, median {median:.3f} s, peak {peak(ask):.0f} MiB")
    ask = [tool, "node", "node-0007", "--since", "2026-11-01T00:00:00Z", "--store", store, "--no-fetch", "--quiet"]
    best, median = times(ask)
    print(f"  whathappened node node-0007  best {best:.3f} s, median {median:.3f} s, peak {peak(ask):.0f} MiB")
    middle = experiments // 2
    pod = f"run-{middle:05}-worker-3"
    day = f"2026-11-{1 + middle * 30 // experiments:02}"
    nodes = "'node-0001', 'node-0002', 'node-0003', 'node-0004'"
    for what, where in (
        ("experiment =", f"experiment = 'exp-{middle:05}'"),
        ("pod =", f"pod = '{pod}'"),
        ("node IN, time", f"node IN ({nodes}) AND time BETWEEN TIMESTAMPTZ_NS '{day} 00:00:00+00' AND TIMESTAMPTZ_NS '{day} 12:00:00+00'"),
    ):
        sql = f"SELECT time, pod, node, reason, message FROM events WHERE {where}"
        ours = [tool, "sql", sql.replace("TIMESTAMPTZ_NS", "TIMESTAMP"), "--store", store, "--no-fetch", "--quiet", "--format", "csv"]
        theirs = [sys.executable, "-c", DUCKDB, store, sql]
        rows = count(run(ours)[1]) - 1
        best, median = times(ours)
        # One statement more in the same process: without starting it.
        more = [tool, "sql", ";".join([ours[2]] * 11), *ours[3:]]
        alone = (times(more)[0] - best) / 10
        duck, walls = [], []
        for _ in range(repeats):
            wall, out = run(theirs)
            seconds, found = out.split()
            duck.append(float(seconds))
            walls.append(wall)
            if int(found) != rows:
                sys.exit(f"{where}: {rows} rows here, {int(found)} there")
        print(f"  {what:<14} {rows:>6} rows: statement {alone:.3f} s, DuckDB's {min(duck):.3f} s (ratio {alone / min(duck):.2f}); whole process {best:.3f} s, DuckDB's {min(walls):.3f} s (ratio {best / min(walls):.2f})")


main()
