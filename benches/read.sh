#!/usr/bin/env bash
# Reads 1 GB of Kubernetes Event JSON, beside DuckDB on the same file, in one run.
# Figures are wall time, MB/s and peak memory of the whole process.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$HOME/.cache/whathappened-target}"
size=${1:-1e9}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo build --quiet
python3 benches/events.py "$size" "$work/events.json" list
python3 benches/events.py "$size" "$work/events.ndjson" ndjson
measure() {
  local name=$1; shift
  python3 - "$name" "$work/events.json" "$@" <<'PY'
import os, resource, subprocess, sys, time
name, file, command = sys.argv[1], sys.argv[2], sys.argv[3:]
start = time.monotonic()
code = subprocess.run(command, stdout=subprocess.DEVNULL).returncode
wall = time.monotonic() - start
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"{name}: exit {code}, {wall:.1f} s, {os.path.getsize(file) / wall / 1e6:.0f} MB/s, peak {peak:.0f} MiB")
PY
}
tool="$CARGO_TARGET_DIR/debug/whathappened"
measure 'whathappened, one List' "$tool" run-00012 --from "$work/events.json" --quiet
measure 'whathappened, NDJSON  ' "$tool" run-00012 --from "$work/events.ndjson" --quiet
if python3 -c 'import duckdb' 2>/dev/null || pip install --quiet duckdb 2>/dev/null; then
  measure 'DuckDB, NDJSON, group by reason' python3 -c "
import duckdb
print(duckdb.sql(\"select reason, count(*) from read_json('$work/events.ndjson') where involvedObject.name like 'run-00012-%' group by 1\"))"
fi
