#!/usr/bin/env python3
"""SQLAlchemy and pandas, with both of its drivers, against WIRES_POSTGRES with WIRES_TOKEN."""
import os

import pandas
import sqlalchemy
from sqlalchemy import Column, MetaData, Table, Text, create_engine, func, inspect, select

for driver in ("psycopg", "psycopg2"):
    address = f"postgresql+{driver}://anyone:{os.environ['WIRES_TOKEN']}@{os.environ['WIRES_POSTGRES']}/whathappened"
    engine = create_engine(address)
    seen = inspect(engine)
    names = seen.get_table_names()
    assert {"events", "incidents", "runs"} <= set(names), names
    assert seen.has_table("events") and not seen.has_table("no_such_table")
    # Columns are not reflected: that takes JSON functions of PostgreSQL (docs/wires.md).
    incidents = Table("incidents", MetaData(), Column("experiment", Text), Column("cause", Text))
    with engine.connect() as connection:
        query = select(incidents.c.cause, func.count()).where(incidents.c.experiment == "gpt2-small-7f3").group_by(incidents.c.cause)
        assert connection.execute(query).all() == [("node.not_ready", 1)]
        many = connection.execution_options(stream_results=True, max_row_buffer=10)
        assert len(many.execute(sqlalchemy.text("SELECT id FROM events LIMIT 25")).all()) == 25
    with engine.connect() as connection:
        frame = pandas.read_sql("SELECT time, cause, gpu_hours_lost FROM incidents WHERE experiment = 'gpt2-small-7f3'", connection)
        assert list(frame.columns) == ["time", "cause", "gpu_hours_lost"] and len(frame) == 1, frame
        assert frame["gpu_hours_lost"].dtype == "float64" and str(frame["time"].dtype).startswith("datetime64"), frame.dtypes
    engine.dispose()
    print(f"SQLAlchemy with {driver}: fine")
