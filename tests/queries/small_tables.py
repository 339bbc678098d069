"""Queries over small tables written in the test itself."""

import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any

import duckdb
import pyarrow as pa

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Query
from hta_sql.database.template import copy_template

Rows = list[dict[str, Any]]
DEFAULTS = {
    "gpu_activities": {
        "job": "j",
        "rank": 0,
        "device": 0,
        "stream": 7,
        "cat": "kernel",
        "kind": "computation",
        "name": "k",
    },
    "host_ops": {
        "job": "j",
        "rank": 0,
        "cat": "cpu_op",
        "name": "aten::mm",
        "pid": "1",
        "tid": "1",
    },
    "events": {"job": "j", "rank": 0, "ph": "X"},
    "traces": {"job": "j", "rank": 0, "status": "complete"},
}


class SmallTables:
    """The catalogue over tables that tests fill with rows."""

    def __init__(self) -> None:
        self.catalog = Catalog.load()
        self.con = duckdb.connect()
        copy_template(self.con, self.catalog)
        self.schemas = {
            name: self.con.sql(f"FROM {name}_schema()").to_arrow_table().schema for name in DEFAULTS
        }
        for name in DEFAULTS:
            self.con.execute(f"CREATE TABLE given_{name} AS FROM {name}_schema()")
            self.con.execute(f"CREATE OR REPLACE VIEW {name} AS FROM given_{name}")

    def query(self, name: str) -> Query:
        """The newest version, or the one that the name ends with: `idle_gaps_v1`."""
        bare, _, version = name.rpartition("_v")
        return self.catalog.find(bare, int(version)) if bare else self.catalog.find(name)

    def fill(
        self,
        gpu_activities: str | Rows = "",
        host_ops: str | Rows = "",
        events: str | Rows = "",
        traces: str | Rows = "",
    ) -> None:
        """Replace all tables. Of a span's end and duration, one follows from the other; without
        `traces`, each rank that has rows has one."""
        given = {
            "gpu_activities": gpu_activities,
            "host_ops": host_ops,
            "events": events,
            "traces": traces,
        }
        seen: Rows = []
        for name, rows in given.items():
            if name == "traces" and not rows:
                rows = traces_of(seen)
            if not rows and not self.con.execute(f"FROM given_{name} LIMIT 1").fetchall():
                continue
            if isinstance(rows, str):
                rows = parsed(rows, types={f.name: f.type for f in self.schemas[name]})
            rows = [completed(name, row, i) for i, row in enumerate(rows)]
            seen += rows
            if name == "gpu_activities":
                count_computation(rows)
            table = pa.Table.from_pylist(rows, schema=self.schemas[name])
            self.con.register("filled", table)
            self.con.execute(f"CREATE OR REPLACE TABLE given_{name} AS FROM filled")
            self.con.unregister("filled")

    @contextmanager
    def replaced(self, macro: str, value: int) -> Iterator[None]:
        """Let a macro that is a number be another one for a while."""
        [(before,)] = self.con.execute(f"SELECT {macro}()").fetchall()
        self.con.execute(f"CREATE OR REPLACE MACRO {macro}() AS {value}")
        try:
            yield
        finally:
            self.con.execute(f"CREATE OR REPLACE MACRO {macro}() AS {before}")

    def run(self, name: str, **parameters: Any) -> Rows:
        """All rows of a query's result, in order."""
        sql, values = self.query(name).call(parameters)
        result = self.con.execute(sql, values or None)
        columns = [column[0] for column in result.description]
        return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]

    def broken_promises(self, name: str, **parameters: Any) -> list[str]:
        """What a query's header says of its rows and is not so for these."""
        query = self.query(name)
        sql, values = query.call(parameters)
        columns = ", ".join(f'"{name}"' for name in query.grain)
        grain = f"count(*) = count(DISTINCT row({columns}))"
        held = [f"coalesce(bool_and({check}), true)" for check in query.checks]
        result = self.con.execute(f"SELECT {', '.join([grain, *held])} {sql}", values or None)
        [all_hold] = result.fetchall()
        said = ["grain", *query.checks]
        return [text for text, holds in zip(said, all_hold, strict=True) if not holds]

    def expect(
        self,
        name: str,
        expected: str,
        *,
        activities: str = "",
        ops: str = "",
        events: str = "",
        traces: str = "",
        **parameters: Any,
    ) -> None:
        """Compare a result, in the columns that `expected` names, with the rows it has."""
        self.fill(activities, ops, events, traces)
        columns = {column.name: column.type for column in self.query(name).columns}
        wanted = parsed(expected, columns)
        shown = expected.split("\n")[1].split()
        assert [{c: row[c] for c in shown} for row in self.run(name, **parameters)] == wanted
        assert self.broken_promises(name, **parameters) == []

    def compare(
        self, name: str, wanted: Rows, tables: dict[str, Rows], seed: int = 0, **parameters: Any
    ) -> None:
        """Compare a result with all its rows and columns, the header's promises with the result.

        `tables` are what fill() takes; once more in another order, which must not matter.
        """
        self.fill(**tables)
        result = self.run(name, **parameters)
        wrong = [pair for pair in zip_longest(result, wanted, fillvalue={}) if not same(*pair)]
        assert wrong[:1] == [], (name, parameters)
        assert self.broken_promises(name, **parameters) == [], (name, parameters)
        rng = random.Random(seed)
        self.fill(**{table: rng.sample(rows, len(rows)) for table, rows in tables.items()})
        assert self.run(name, **parameters) == result, f"{name} depends on the order of its rows"


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Equal, but for the last bits of floats."""
    if one.keys() != other.keys():
        return False
    return all(
        math.isclose(a, b, rel_tol=1e-12)
        if isinstance(a, float) and isinstance(b, float)
        else a == b and type(a) is type(b)
        for a, b in ((one[column], other[column]) for column in one)
    )


def parsed(text: str, types: dict[str, Any]) -> Rows:
    """Rows of a table in text: a line of names, then values; `-` is NULL, `~` a blank."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if not lines:
        return []
    names, *rows = lines
    return [
        {name: value_of(value, str(types[name])) for name, value in zip(names, row, strict=True)}
        for row in rows
    ]


def value_of(text: str, type_name: str) -> Any:
    if text == "-":
        return None
    if "INT" in type_name.upper():
        return int(text)
    if type_name.upper() in ("BOOLEAN", "BOOL"):
        return {"true": True, "false": False}[text]
    return float(text) if type_name.upper() == "DOUBLE" else text.replace("~", " ")


def completed(table: str, row: dict[str, Any], position: int) -> dict[str, Any]:
    """A row with what tests leave out because it does not matter to them."""
    row = DEFAULTS[table] | {"event_id": position} | row
    if table == "traces":
        return row
    if row.get("dur_ns") is not None:
        row["end_ns"] = row["start_ns"] + row["dur_ns"]
    elif row.get("end_ns") is not None:
        row["dur_ns"] = row["end_ns"] - row["start_ns"]
    if table == "gpu_activities":
        row.setdefault("short_name", row["name"])
    return row


def traces_of(rows: Rows) -> Rows:
    """A trace for each rank."""
    ranks = sorted({(row["job"], row["rank"]) for row in rows})
    return [{"job": job, "rank": rank} for job, rank in ranks]


def count_computation(rows: Rows) -> None:
    """computed_before_ns and hidden_ns of all rows, instant by instant."""
    devices: dict[tuple, Rows] = {}
    for row in rows:
        devices.setdefault((row["job"], row["rank"], row["device"]), []).append(row)
    for of_device in devices.values():
        computations = sorted(
            (row["start_ns"], row["end_ns"]) for row in of_device if row["kind"] == "computation"
        )
        instants = sorted({row[at] for row in of_device for at in ("start_ns", "end_ns")})
        computed, until, total, begun = {}, instants[0], 0, 0
        for last, at in zip([instants[0], *instants[:-1]], instants, strict=True):
            while begun < len(computations) and computations[begun][0] <= last:
                until = max(until, computations[begun][1])
                begun += 1
            total += max(0, min(until, at) - last)
            computed[at] = total
        for row in of_device:
            row["computed_before_ns"] = computed[row["start_ns"]]
            if row["kind"] != "computation":
                row["hidden_ns"] = computed[row["end_ns"]] - computed[row["start_ns"]]
