#!/usr/bin/env python3
"""What Grafana's PostgreSQL source sends: questions about its version and about columns,
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


# The editor: version and columns. Its list of tables asks for search_path in a way that is not planned
# here, so the builder offers none: queries are written in code mode (docs/wires.md).
assert rows("SELECT 1") == [(1,)]
assert int(column("SELECT current_setting('server_version_num')::int/100")[0]) >= 900
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
