"""The launches of captured graphs, as numbers that can be compared."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np

from hta_sql.database.layers import literal
from hta_sql.ingestion.graph_alignment import NOBODY, Kernels

LAUNCHES = """
SELECT
    c.graph, c.batch_size, c.node_kind, c.kernel_name, c.captured_id, c.op_id, o.name AS op_name,
    to_json(c.grid)::VARCHAR AS grid
FROM {rows} AS c
LEFT JOIN {rows} AS o ON o.graph = c.graph AND o.captured_id = c.op_id
WHERE c.node IS NOT NULL
ORDER BY c.graph, c.node
"""


class Graph(NamedTuple):
    """A captured graph, with the captured_id of each launch and of the operator around it."""

    number: int
    batch_size: int | None
    launches: Kernels
    grids: list[str | None]
    ids: np.ndarray
    op_ids: np.ndarray  # NOBODY: none


def numbered(values: list[str | None], names: dict[str, int]) -> np.ndarray:
    return np.array(
        [NOBODY if v is None else names.setdefault(v, len(names)) for v in values], np.int64
    )


def read_graphs(
    con: duckdb.DuckDBPyConnection, captured: Path, names: dict[str, int]
) -> list[Graph]:
    rows = f"read_parquet({literal(captured)}, hive_partitioning = false)"
    launches = con.sql(LAUNCHES.format(rows=rows)).to_arrow_table().to_pylist()
    graphs = []
    for number, group in groupby(launches, key=lambda row: row["graph"]):
        group = list(group)
        graphs.append(
            Graph(
                number,
                group[0]["batch_size"],
                Kernels(
                    numbered([name_of(row, names) for row in group], names),
                    np.array([row["node_kind"] for row in group], "U6"),
                ),
                [row["grid"] for row in group],
                np.array([row["captured_id"] for row in group], np.int64),
                np.array(
                    [NOBODY if row["op_id"] is None else row["op_id"] for row in group], np.int64
                ),
            )
        )
    return graphs


def name_of(launch: dict, names: dict[str, int]) -> str | None:
    """The kernel of a launch, if the trace has its name, or if the operator has it: Inductor's
    operators are named like their kernels."""
    if launch["kernel_name"] is not None or launch["node_kind"] != "kernel":
        return launch["kernel_name"]
    return launch["op_name"] if launch["op_name"] in names else None
