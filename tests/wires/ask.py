#!/usr/bin/env python3
"""Asks statements through a wire: ask.py postgres|prepared|flight < statements.

Statements and answers are JSON, one a line: an answer is {"ok": bool, "text": ..., "code": ...}.
WIRES_POSTGRES and WIRES_FLIGHT are addresses, WIRES_TOKEN is the token.
"""
import json, os, sys

wire = sys.argv[1]
token = os.environ.get("WIRES_TOKEN", "")


def postgres(prepared):
    import psycopg
    from psycopg import pq

    host, port = os.environ["WIRES_POSTGRES"].split(":")

    def connect():
        connection = psycopg.connect(host=host, port=port, user="anyone", password=token, dbname="any", autocommit=True)
        return connection.pgconn

    state = {"pgconn": connect()}

    def ask(statement):
        pgconn = state["pgconn"]
        if pgconn.status != pq.ConnStatus.OK:
            pgconn = state["pgconn"] = connect()
        # Nothing behind a NUL can be sent.
        text = statement.encode().split(b"\0")[0]
        result = pgconn.exec_params(text, []) if prepared else pgconn.exec_(text)
        fine = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK, pq.ExecStatus.EMPTY_QUERY)
        if result.status not in fine:
            code = (result.error_field(pq.DiagnosticField.SQLSTATE) or b"").decode()
            return False, result.error_message.decode(errors="replace"), code
        rows = [[result.fname(column).decode() for column in range(result.nfields)]]
        for row in range(result.ntuples):
            rows.append([(result.get_value(row, column) or b"").decode(errors="replace") for column in range(result.nfields)])
        return True, json.dumps(rows, ensure_ascii=False), ""

    return ask


def flight():
    import adbc_driver_flightsql.dbapi as dbapi

    options = {"adbc.flight.sql.authorization_header": f"Bearer {token}"} if token else {}
    connection = dbapi.connect(f"grpc://{os.environ['WIRES_FLIGHT']}", db_kwargs=options, autocommit=True)

    def ask(statement):
        with connection.cursor() as cursor:
            try:
                cursor.execute(statement)
                table = cursor.fetch_arrow_table()
            except Exception as error:
                return False, str(error), type(error).__name__
            return True, json.dumps([table.column_names] + [[str(value) for value in row.values()] for row in table.to_pylist()], ensure_ascii=False), ""

    return ask


ask = {"postgres": lambda: postgres(False), "prepared": lambda: postgres(True), "flight": flight}[wire]()
for line in sys.stdin:
    ok, text, code = ask(json.loads(line))
    print(json.dumps({"ok": ok, "text": text, "code": code}), flush=True)
