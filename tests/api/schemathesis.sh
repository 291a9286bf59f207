#!/usr/bin/env bash
# Asks a running service whatever its OpenAPI document allows, and much that it
# does not: nothing may end in a server error, and each answer is as documented.
# Takes the folder of a virtual environment; prints `skipped` where there is none.
set -euo pipefail
cd "$(dirname "$0")/../.."
schemathesis="${1:-}/bin/schemathesis"
[ -x "$schemathesis" ] || schemathesis=$(command -v schemathesis || true)
[ -n "$schemathesis" ] || { echo 'skipped: no schemathesis'; exit 0; }

program="${CARGO_TARGET_DIR:-target}/debug/whathappened"
folder=$(mktemp -d)
service=''
finish() {
  [ -z "$service" ] || kill "$service" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT

printf '[serve.sql]\ntimeout = "5s"\n[serve]\nmax_upload = "1MB"\n' >"$folder/config.toml"
"$program" import --quiet --store "$folder/store" fixtures/gke-host-maintenance/input
: >"$folder/log"
"$program" serve --no-fetch --listen 127.0.0.1:0 --store "$folder/store" --config "$folder/config.toml" \
  2>"$folder/log" &
service=$!
for _ in $(seq 100); do
  address=$(sed -n 's/^listening on //p' "$folder/log")
  [ -z "$address" ] || break
  sleep 0.1
done
[ -n "$address" ] || { cat "$folder/log"; exit 1; }

cd "$folder"
# A busy machine gets through few requests in a given time: as long as too few were made, more time is given.
requests() {
  curl -fsS "$address/metrics" | awk '/^whathappened_http_requests_total/ { sum += $NF } END { print int(sum) }'
}
long=${SECONDS_LONG:-30}
for attempt in 1 2 3; do
  "$schemathesis" run "$address/api/v1/openapi.json" \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,unsupported_method \
    --phases examples,coverage,fuzzing --max-examples "${EXAMPLES:-25}" --max-time "$long" --seed 7 --workers 1 \
    --continue-on-failure --request-timeout 30 --suppress-health-check all --warnings off --no-color
  made=$(requests)
  [ "$made" -lt "${REQUESTS:-200}" ] || break
  [ "$attempt" -lt 3 ] || { echo "only $made requests were made: this shows nothing"; exit 1; }
  long=$((long * 3))
done
curl -fsS "$address/healthz" >/dev/null
