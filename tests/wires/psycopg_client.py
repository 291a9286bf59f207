#!/usr/bin/env python3
"""psycopg and pandas as people use them, against WIRES_POSTGRES with WIRES_TOKEN."""
import datetime, os, threading, time

import psycopg

host, port = os.environ["WIRES_POSTGRES"].split(":")
login = dict(host=host, port=port, user="grafana", password=os.environ["WIRES_TOKEN"], dbname="whathappened")

# A wrong token is nobody's.
try:
    psycopg.connect(**{**login, "password": "no-such-token-0001"})
    raise SystemExit("a wrong token was let in")
except psycopg.OperationalError as error:
    assert "token is not valid" in str(error), error

with psycopg.connect(**login) as connection:
    with connection.cursor() as cursor:
        # Types are Python's own.
        cursor.execute("SELECT experiment, cause, time, gpu_hours_lost, collateral_count FROM incidents WHERE experiment = 'gpt2-small-7f3'")
        rows = cursor.fetchall()
        assert len(rows) == 1, rows
        experiment, cause, at, hours, count = rows[0]
        assert (experiment, cause) == ("gpt2-small-7f3", "node.not_ready"), rows
        assert isinstance(at, datetime.datetime) and at.tzinfo is not None, at
        assert abs(hours - 0.29) < 0.01 and isinstance(count, int), rows
        # Values are bound by the server, whatever their type.
        cursor.execute("SELECT count(*) FROM events WHERE pod = %s AND time > %s", ("gpt2-small-7f3-1-qp9zc", at - datetime.timedelta(hours=1)))
        assert cursor.fetchone()[0] > 0
        cursor.execute("SELECT %s::bigint + 1, %s::text", (41, "it's; DROP TABLE events"))
        assert cursor.fetchone() == (42, "it's; DROP TABLE events")
        # Lists are lists, and NULL is None.
        cursor.execute("SELECT signals, exit_code FROM events WHERE array_has(signals, 'k8s.node.not_ready') LIMIT 1")
        signals, code = cursor.fetchone()
        assert "k8s.node.not_ready" in signals and code is None, (signals, code)
        # Our functions.
        cursor.execute("SELECT step, role FROM why('gpt2-small-7f3') ORDER BY step")
        assert cursor.fetchone() == (0, "verdict")
        # The same in the binary form.
        binary = connection.cursor(binary=True)
        binary.execute("SELECT time, gpu_hours_lost, experiment FROM incidents WHERE experiment = 'gpt2-small-7f3'")
        assert binary.fetchone() == (at, hours, experiment)
        # Prepared once, executed often.
        for pod in ("a", "b", "gpt2-small-7f3-1-qp9zc"):
            found = cursor.execute("SELECT count(*) FROM events WHERE pod = %s", (pod,), prepare=True).fetchone()[0]
        assert found > 0

    # A cursor of the server gives rows in portions.
    with connection.cursor(name="portions") as cursor:
        cursor.itersize = 10
        cursor.execute("SELECT id FROM events ORDER BY id LIMIT 35")
        assert len(cursor.fetchmany(10)) == 10
        assert len(cursor.fetchall()) == 25
    connection.rollback()

    # A mistake is told with its kind and does not end the connection.
    try:
        connection.execute("SELECT nonsense FROM events")
        raise SystemExit("nonsense was selected")
    except psycopg.errors.UndefinedColumn as error:
        assert "nonsense" in str(error), error
    connection.rollback()
    try:
        connection.execute("DELETE FROM events")
        raise SystemExit("rows were deleted")
    except psycopg.errors.ReadOnlySqlTransaction as error:
        assert "read-only" in str(error), error
    connection.rollback()
    assert connection.execute("SELECT 1").fetchone() == (1,)

# What runs can be cancelled, and is over then.
with psycopg.connect(**login, autocommit=True) as connection:
    threading.Timer(1.0, connection.cancel).start()
    began = time.monotonic()
    try:
        connection.execute("SELECT count(*) FROM generate_series(1, 9223372036854775807)")
        raise SystemExit("it was not cancelled")
    except psycopg.errors.QueryCanceled:
        pass
    assert time.monotonic() - began < 10
    connection.execute("SET statement_timeout = '500ms'")
    try:
        connection.execute("SELECT count(*) FROM generate_series(1, 9223372036854775807)")
        raise SystemExit("it took as long as it liked")
    except psycopg.errors.QueryCanceled:
        pass
    connection.execute("RESET statement_timeout")
    assert connection.execute("SHOW statement_timeout").fetchone() == ("0",)

print("psycopg: fine")
