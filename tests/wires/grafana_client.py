#!/usr/bin/env python3
"""What Grafana's PostgreSQL source sends: its query builder's questions about tables and columns,
macros as its documentation expands them, and the panels of deploy/grafana, against WIRES_POSTGRES with
WIRES_TOKEN. Arguments: the dashboards."""
import datetime, json, os, re, sys

import psycopg

host, port = os.environ["WIRES_POSTGRES"].split(":")
connection = psycopg.connect(host=host, port=port, user="grafana", password=os.environ["WIRES_TOKEN"], dbname="whathappened", autocommit=True)
simple = psycopg.ClientCursor(connection)


def rows(text):
    simple.execute(text)
    return simple.fetchall()


def column(text):
    return [row[0] for row in rows(text)]


# The editor: version, schemas, tables, columns (documentation: "PostgreSQL query editor", builder mode).
assert rows("SELECT 1") == [(1,)]
assert int(column("SELECT current_setting('server_version_num')::int/100")[0]) >= 900
schemas = """SELECT CASE WHEN quote_ident(table_schema) = ANY (
  SELECT CASE WHEN trim(unnest) = '"$user"' THEN user ELSE trim(unnest) END
  FROM unnest(string_to_array(current_setting('search_path'),','))
) THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
FROM information_schema.tables
WHERE quote_ident(table_schema) NOT IN ('information_schema','pg_catalog','_timescaledb_cache','_timescaledb_catalog','_timescaledb_internal','_timescaledb_config','timescaledb_information','timescaledb_experimental')
ORDER BY CASE WHEN quote_ident(table_schema) = ANY (
  SELECT CASE WHEN trim(unnest) = '"$user"' THEN user ELSE trim(unnest) END
  FROM unnest(string_to_array(current_setting('search_path'),','))
) THEN 0 ELSE 1 END, 1"""
assert "incidents" in column(schemas)
columns = """SELECT quote_ident(column_name) AS "column", data_type AS "type"
FROM information_schema.columns WHERE quote_ident(table_name) = 'incidents'"""
found = dict(rows(columns))
assert "cause" in found and "time" in found, found

# Macros, expanded as the documentation says ("Macros").
since, until = "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"


def expanded(text):
    step = "3600"
    for pattern, put in (
        (r"\$__timeFilter\(([^)]*)\)", rf"\1 BETWEEN '{since}' AND '{until}'"),
        (r"\$__timeFrom\(\)", f"'{since}'"),
        (r"\$__timeTo\(\)", f"'{until}'"),
        (r"\$__timeGroupAlias\(([^,)]*),[^)]*\)", rf'floor(extract(epoch from \1)/{step})*{step} AS "time"'),
        (r"\$__timeGroup\(([^,)]*),[^)]*\)", rf"floor(extract(epoch from \1)/{step})*{step}"),
        (r"\$__time\(([^)]*)\)", r'\1 AS "time"'),
        (r"\$__timeEpoch\(([^)]*)\)", r'extract(epoch from \1) as "time"'),
        (r"\$__unixEpochFrom\(\)", "1795219200"),
        (r"\$__unixEpochTo\(\)", "1795305600"),
        (r"\$\{?experiment(:sqlstring)?\}?", "'gpt2-small-7f3'"),
        (r"\$\{?namespace(:sqlstring)?\}?", "'research'"),
        (r"\$\{?cause(:sqlstring)?\}?", "'node.not_ready'"),
        (r"\$\{?pool(:sqlstring)?\}?", "'a100'"),
    ):
        text = re.sub(pattern, put, text)
    assert "$" not in text, text
    return text


for text in (
    "SELECT $__time(time), gpu_hours_lost AS value, cause AS metric FROM incidents WHERE $__timeFilter(time) ORDER BY 1",
    "SELECT $__timeGroupAlias(time, '1h'), count(*) AS incidents FROM incidents WHERE $__timeFilter(time) GROUP BY 1 ORDER BY 1",
    "SELECT $__timeEpoch(time), summary AS text, cause AS tags FROM incidents WHERE $__timeFilter(time)",
    "SELECT DISTINCT experiment FROM incidents ORDER BY 1",
):
    assert rows(expanded(text)), text

asked = 0
for path in sys.argv[1:]:
    board = json.load(open(path))
    texts = [target["rawSql"] for panel in board["panels"] for target in panel.get("targets", [])]
    texts += [one["target"]["rawSql"] if "target" in one else one["rawQuery"] for one in board["annotations"]["list"] if "target" in one or "rawQuery" in one]
    texts += [one["query"] for one in board["templating"]["list"] if one["type"] == "query"]
    for text in texts:
        rows(expanded(text))
        asked += 1
assert asked or not sys.argv[1:]
print(f"Grafana: fine, {asked} queries of dashboards")
