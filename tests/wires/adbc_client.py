#!/usr/bin/env python3
"""ADBC as people use it, against WIRES_FLIGHT with WIRES_TOKEN."""
import os

import adbc_driver_flightsql.dbapi as dbapi
import pyarrow

address = f"grpc://{os.environ['WIRES_FLIGHT']}"
token = os.environ["WIRES_TOKEN"]
bearer = {"adbc.flight.sql.authorization_header": f"Bearer {token}"}

try:
    with dbapi.connect(address, db_kwargs={"adbc.flight.sql.authorization_header": "Bearer no-such-token-0001"}, autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchall()
    raise SystemExit("a wrong token was let in")
except dbapi.Error as error:
    assert "token is not valid" in str(error), error

# The token as a bearer's, or as the password of any name.
for options in (bearer, {"username": "anyone", "password": token}):
    with dbapi.connect(address, db_kwargs=options, autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT experiment, cause, time, gpu_hours_lost FROM incidents WHERE experiment = 'gpt2-small-7f3'")
            table = cursor.fetch_arrow_table()
            assert table.num_rows == 1 and table["cause"][0].as_py() == "node.not_ready", table
            assert pyarrow.types.is_timestamp(table.schema.field("time").type), table.schema
            cursor.execute("SELECT signals FROM events WHERE array_has(signals, 'k8s.node.not_ready') LIMIT 1")
            assert "k8s.node.not_ready" in cursor.fetchone()[0]
            cursor.execute("SELECT step, role FROM why('gpt2-small-7f3') ORDER BY step LIMIT 1")
            assert cursor.fetchall() == [(0, "verdict")]
            cursor.execute("SELECT count(*) FROM events WHERE pod = $1", parameters=("gpt2-small-7f3-1-qp9zc",))
            assert cursor.fetchone()[0] > 0
            cursor.execute("SELECT id FROM events ORDER BY id LIMIT 35")
            assert sum(batch.num_rows for batch in cursor.fetch_record_batch()) == 35
            for wrong, words in (("SELECT nonsense FROM events", "nonsense"), ("DELETE FROM events", "read-only")):
                try:
                    cursor.execute(wrong)
                    cursor.fetchall()
                    raise SystemExit(f"{wrong} was answered")
                except dbapi.Error as error:
                    assert words in str(error), error
        listed = connection.adbc_get_objects(depth="columns").read_all().to_pylist()
        schemas = listed[0]["catalog_db_schemas"]
        tables = {table["table_name"]: table for schema in schemas for table in schema["db_schema_tables"]}
        assert {"events", "incidents", "runs"} <= set(tables), tables
        assert "cause" in {column["column_name"] for column in tables["incidents"]["table_columns"]}
        assert "cause" in connection.adbc_get_table_schema("incidents").names
        assert connection.adbc_get_info()["vendor_name"] == "whathappened"
print("ADBC: fine")
