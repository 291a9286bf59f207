#!/usr/bin/env python3
"""The same questions of a lake, of DuckDB and of DataFusion over the same Delta tables, in one run.

    benches/lake/bench.py [events] [path of the program] [path of `fill`]

Fills a store (30 days, 1,000 facts an experiment), pushes it into a lake in a folder and into one
on S3 (moto behind a proxy that counts), and prints, for each question, whole-process seconds and,
on S3, requests and megabytes: for a machine that has never read the lake (cold), and again (warm).
DataFusion is that of PyPI's `deltalake`; DuckDB reads the files that the log lists, on S3 through
`s3fs` where that is installed.
"""
import json, os, shutil, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from proxy import S3

here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
target = os.environ.get("CARGO_TARGET_DIR", os.path.expanduser("~/.cache/whathappened-lake"))
events = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
tool = sys.argv[2] if len(sys.argv) > 2 else f"{target}/debug/whathappened"
fill = sys.argv[3] if len(sys.argv) > 3 else f"{target}/debug/examples/fill"

OTHER = '''
import json, os, sys, time
which, lake, sql = sys.argv[1:4]
from deltalake import DeltaTable
options = {"AWS_ENDPOINT_URL": os.environ.get("AWS_ENDPOINT", ""), "AWS_ALLOW_HTTP": "true"} if lake.startswith("s3") else None
start = time.monotonic()
tables = {name: DeltaTable(f"{lake}/{name}", storage_options=options) for name in ("events", "incidents") if f" {name} " in sql}
if which == "datafusion":
    from deltalake import QueryBuilder
    builder = QueryBuilder()
    for name, table in tables.items():
        builder = builder.register(name, table)
    rows = builder.execute(sql).read_all().num_rows
else:
    import duckdb
    db = duckdb.connect(config={"threads": 2})
    if options:
        import fsspec
        db.register_filesystem(fsspec.filesystem("s3", key="test", secret="test", client_kwargs={"endpoint_url": os.environ["AWS_ENDPOINT"]}))
    for name, table in tables.items():
        files = [uri.replace("file://", "") for uri in table.file_uris()]
        db.sql(f"CREATE VIEW {name} AS SELECT * FROM read_parquet({files!r}, hive_partitioning=true)")
    rows = len(db.sql(sql).fetchall())
print(time.monotonic() - start, rows)
'''


def run(command, env, well=True):
    start = time.monotonic()
    done = subprocess.run(command, env={"PATH": os.environ["PATH"], **env}, capture_output=True, text=True)
    if well and done.returncode:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return time.monotonic() - start, done


def main():
    work = tempfile.mkdtemp(prefix="lake-bench-")
    store, experiments = f"{work}/store", events // 1000
    subprocess.run([fill, store, str(events), str(experiments), "30"], check=True, stdout=subprocess.DEVNULL)
    home = {"HOME": f"{work}/home"}
    run([tool, "import", f"{here}/fixtures/lab-cluster/input", f"{here}/fixtures/lab-cluster/loki", "--store", store, "-q"], home)
    # Eight runs that are explained: the incidents of the lake.
    run([tool, "gpt2-small-7f3", "--store", store, "--no-fetch", "-q"], home)
    run([tool, "explain", "--since", "2026-11-21T00:00:00Z", "--store", store, "-q"], home, well=False)
    s3 = S3()
    local = f"{work}/lake"
    os.mkdir(local)
    for lake, env in ((local, home), ("s3://lab/bench", {**home, **s3.env()})):
        pushed, _ = run([tool, "store", "push", lake, "--store", store], env)
        compacted, _ = run([tool, "store", "compact", "--store", lake], env)
        print(f"{events:,} facts pushed to {lake.split('/')[0] or 'a folder'} in {pushed:.1f} s, compacted in {compacted:.1f} s")
    middle = experiments // 2
    day = f"2026-11-{1 + middle * 30 // experiments:02}"
    nodes = "'node-0001', 'node-0002', 'node-0003', 'node-0004'"
    columns = "SELECT time, pod, node, reason, message FROM events"
    statements = {
        "experiment": f"{columns} WHERE experiment = 'exp-{middle:05}'",
        "pod": f"{columns} WHERE pod = 'run-{middle:05}-worker-3'",
        "nodes x time": f"{columns} WHERE node IN ({nodes}) AND time BETWEEN TIMESTAMP '{day} 00:00:00' AND TIMESTAMP '{day} 12:00:00'",
        "count by reason": "SELECT reason, count(*) AS n FROM events GROUP BY reason",
        "incidents by cause": "SELECT cause, count(*) AS n FROM incidents GROUP BY cause",
    }
    for place, lake, env in (("a folder", local, {}), ("S3", "s3://lab/bench", s3.env())):
        print(f"\non {place}: seconds of the whole process; on S3 requests and MB read")
        questions = {"answer (lab)": None, "answer (of 1,000)": None, **statements}
        for name, sql in questions.items():
            ask = [tool, "sql", sql, "--format", "csv", "-q"] if sql else [tool, "gpt2-small-7f3" if "lab" in name else f"exp-{middle:05}", "-q"]
            line = f"  {name:<20}"
            fresh = {"HOME": tempfile.mkdtemp(dir=work), **env}
            rows = None
            for moment in ("cold", "warm"):
                line += part(s3, moment, lambda: run([*ask, "--store", lake], fresh), place)
            seconds, done = run([*ask, "--store", store, "--no-fetch"], home)
            line += f" | own store {seconds:.2f} s"
            rows = len(done.stdout.splitlines()) - 1
            for which in ("duckdb", "datafusion") if sql else ():
                before = (s3.requests, s3.read)
                # DataFusion of that package has times of microseconds, and so have the files.
                wall, done = run([sys.executable, "-c", OTHER, which, lake, sql + " "], {"HOME": work, **env}, well=False)
                if done.returncode:
                    line += f" | {which}: {done.stderr.strip().splitlines()[-1][:60]}"
                    continue
                seconds, found = done.stdout.split()
                line += f" | {which} {float(seconds):.2f} s" + traffic(s3, before, place)
                if int(found) != rows and name != "incidents by cause":
                    line += f" ({found} rows, not {rows})"
            print(line, flush=True)
    s3.stop()
    shutil.rmtree(work)


def part(s3, moment, work, place):
    before = (s3.requests, s3.read)
    seconds, _ = work()
    return f" {moment} {seconds:.2f} s" + traffic(s3, before, place)


def traffic(s3, before, place):
    if place != "S3":
        return ""
    return f" ({s3.requests - before[0]} requests, {(s3.read - before[1]) / 1e6:.1f} MB)"


main()
