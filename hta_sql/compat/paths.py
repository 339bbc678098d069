"""Critical paths: computed, drawn into a trace, and read back from a file."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from hta_sql.compat.critical_path import CPGraph
from hta_sql.compat.given import number, numbers
from hta_sql.compat.trace import FILES
from hta_sql.compat.windows import Window
from hta_sql.errors import HtaSqlError
from hta_sql.export.critical_path import export_critical_path

if TYPE_CHECKING:
    from hta_sql.compat.trace import Trace


def compute_path(
    t: Trace,
    rank: int,
    annotation: str,
    instance: int | tuple[int, int] | None,
    data_loading: Iterable[str],
) -> CPGraph:
    """Compute the critical path of a window of a rank.

    Raises HtaSqlError if there is no such annotation or instance.
    """
    at = _instance(instance) if annotation else 0
    window = Window(t.rank(rank), annotation or None, at, tuple(data_loading))
    window.compute(t)
    given = {
        "rank": window.rank,
        "window": window.name,
        "first_ns": t.frame("first")["first_ns"].item(),
        "launches": _is_set("CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE"),
    }
    return CPGraph(t, window, t.recorded.sql(FILES.text("frames/path"), given).to_pandas())


def _instance(given: int | tuple[int, int] | None) -> int | tuple[int, int]:
    if isinstance(given, tuple):
        return tuple(numbers("instance_id", given))
    return 0 if given is None else number("instance_id", given)


def _is_set(variable: str) -> bool:
    """Whether a setting of HTA is on."""
    return os.environ.get(variable, "0") == "1"


def overlay_path(
    t: Trace, graph: CPGraph, output_dir: str | PathLike[str], only_critical: bool, all_edges: bool
) -> str:
    """Write the rank's trace with the path; returns the path of the file."""
    window = graph.window
    stored = "SELECT 1 FROM critical_paths WHERE path_window = $window AND $rank IN ranks"
    if not t.recorded.sql(stored, {"window": window.name, "rank": window.rank}).num_rows:
        window.compute(t)  # another rank's path has taken its place
    folder = Path(output_dir).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / f"overlaid_critical_path_{Path(t.trace_files[window.rank]).name}"
    export_critical_path(
        t.recorded,
        out,
        only_ranks=[window.rank],
        only_windows=[window.name],
        only_critical=only_critical,
        all_edges=all_edges and not only_critical,
        has_track=False,
    )
    return str(out)


def restore_cpgraph(zip_filename: str | PathLike[str], t_full: Trace, rank: int) -> CPGraph:
    """The graph of a rank that CPGraph.save wrote."""
    try:
        with zipfile.ZipFile(Path(zip_filename).expanduser()) as packed:
            asked = json.loads(packed.read("window.json"))
            with packed.open("edges.csv") as file:
                rows = pd.read_csv(file)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise HtaSqlError(f"{zip_filename}: no saved graph can be read here: {error}") from error
    asked["data_loading"] = tuple(asked["data_loading"])
    if isinstance(asked["instance"], list):
        asked["instance"] = tuple(asked["instance"])
    return CPGraph(t_full, Window(**asked | {"rank": t_full.rank(rank)}), rows)
