"""Traces as HTA loads them: ranks, steps, symbols, and data frames of their events."""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd

import hta_sql
from hta_sql.compat.files import Files, read_traces
from hta_sql.compat.given import number, numbers, plain
from hta_sql.compat.symbols import SymbolTable
from hta_sql.database.sql_files import SqlFiles, set_variables
from hta_sql.errors import BadParameter, from_duckdb

if TYPE_CHECKING:
    from hta_sql.archive import Archive

FILES = SqlFiles("compat")
# Columns that HTA has as whole numbers if it rounds.
WHOLE = ("ts", "sum")


class Trace:
    """The traces of all ranks, read into an archive.

    Args:
        trace_files: Maps ranks to files; or the files, whose ranks are read from them. Paths are
            relative to `trace_dir`. The default is all traces in `trace_dir`.
        trace_dir: The folder of the traces.
        include_last_profiler_step: Whether the last profiler step is kept, if there are several.
            The default keeps it until `load_traces` or `align_and_filter_trace` is called.
        archive: Where the archive is made and kept, so that the next run need not read the traces
            again. The default is a temporary folder, which is deleted at the end.
        exact: False rounds times and percentages as HTA does.

    Attributes:
        exact: As given.
        is_parsed: Whether the steps that are kept are chosen.
        trace_path: The folder of the traces.
        run: The open archive. Its queries see what HTA keeps of the traces.
        archive: The folder of the archive.
        job: The job in the archive: the name of the folder of the traces.
        trace_files: The file of each rank.

    Raises:
        IngestError: There are no traces, or two have the same rank.
    """

    def __init__(
        self,
        trace_files: Files | None = None,
        trace_dir: str | PathLike[str] = "",
        include_last_profiler_step: bool | None = None,
        *,
        archive: str | PathLike[str] | None = None,
        exact: bool = True,
    ) -> None:
        if archive is None:
            archive = tempfile.mkdtemp(prefix="hta-sql-")
            weakref.finalize(self, shutil.rmtree, archive, ignore_errors=True)
        self.archive = Path(archive)
        self.exact = exact
        self.job, files = read_traces(trace_files, trace_dir, self.archive)
        self.trace_files = {rank: str(file) for rank, file in files.items()}
        self.trace_path = str(Path(trace_dir).expanduser())
        self.run = hta_sql.open(self.archive, only_jobs=[self.job])
        self._con = self.run.con
        set_variables(self._con, hta_exact=exact, hta_kept_ranks=list(self.trace_files))
        self.align_and_filter_trace(include_last_profiler_step is not False)
        self.is_parsed = include_last_profiler_step is not None

    def parse_traces(self, use_multiprocessing: bool = True) -> None:
        """Do nothing: the traces are read when this object is made."""

    def load_traces(
        self, include_last_profiler_step: bool = False, use_multiprocessing: bool = True
    ) -> None:
        """Choose the steps that are kept, unless they are chosen."""
        if not self.is_parsed:
            self.align_and_filter_trace(include_last_profiler_step)
            self.is_parsed = True

    def align_and_filter_trace(self, include_last_profiler_step: bool = False) -> None:
        """Choose whether the last step is kept; data frames are made again."""
        set_variables(self._con, hta_last_step=bool(include_last_profiler_step))
        FILES.run_all(self._con, "views")
        self.__dict__.pop("traces", None)

    @cached_property
    def recorded(self) -> Archive:
        """The same archive, without rounding and with all steps: for exports and paths."""
        return hta_sql.open(self.archive, only_jobs=[self.job])

    @cached_property
    def symbol_table(self) -> SymbolTable:
        """The names and categories of all spans."""
        rows = self.frame("symbols")
        return SymbolTable(rows["symbol"])

    @cached_property
    def traces(self) -> Mapping[int, pd.DataFrame]:
        """The data frame of each rank; it is made when it is first asked for, and then kept."""
        return _Frames(self)

    def frame(self, name: str, **parameters: Any) -> pd.DataFrame:
        """The result of a file of sql/compat/frames."""
        try:
            values = {key: plain(value) for key, value in parameters.items()}
            found = self._con.execute(FILES.text(f"frames/{name}"), values or None).df()
        except duckdb.Error as error:
            raise from_duckdb(error) from error
        kinds = {column: "int64" for column in found.select_dtypes("int32").columns}
        if not self.exact:
            kinds |= {column: "int64" for column in WHOLE if column in found}
        return found.astype(kinds)

    def get_ranks(self) -> list[int]:
        """The ranks, in order."""
        return list(self.trace_files)

    def checked(self, ranks: Iterable[int] | None) -> list[int]:
        """These ranks, or rank 0; raises BadParameter for a rank that has no trace."""
        chosen = numbers("ranks", ranks) or [0]
        for rank in chosen:
            self.rank(rank)
        return chosen

    def rank(self, given: int | None) -> int:
        """This rank, or the first; raises BadParameter for a rank that has no trace."""
        rank = self.get_ranks()[0] if given is None else number("rank", given)
        if rank not in self.trace_files:
            there = ", ".join(map(str, self.trace_files))
            raise BadParameter(f"no trace of rank {rank}; there are traces of ranks {there}")
        return rank

    def get_iterations(self, rank: int | None = None) -> list[int]:
        """The profiler steps of a rank; the default is the first one."""
        return self.frame("steps", ranks=[self.rank(rank)])["step"].tolist()

    def get_trace(self, rank: int) -> pd.DataFrame:
        """The spans of a rank: one row per span, with `name` and `cat` as ids of symbols."""
        return self.traces[rank]

    def get_all_traces(self) -> Mapping[int, pd.DataFrame]:
        """The data frame of each rank."""
        return self.traces

    def get_trace_duration(self, rank: int | None = None) -> float:
        """The time from the first to the last start of a rank's spans, in µs.

        The default is the first rank. With `exact=False` it is a whole number.
        """
        found = self.frame("duration", rank=self.rank(rank))["duration"].item()
        return found if self.exact else int(found)

    def get_trace_start_unixtime_ns(self, rank: int) -> int:
        """The first start of all ranks' spans, as Unix time in ns if the trace records it."""
        self.rank(rank)
        return self.frame("first")["first_ns"].item()

    def get_raw_trace_for_one_rank(self, rank: int = 0) -> dict[str, Any]:
        """The content of a rank's file; the `index` of a span is its place in `traceEvents`."""
        file = self.trace_files[self.rank(rank)]
        with (gzip.open if file.endswith(".gz") else open)(file, "rb") as stream:
            return json.load(stream)

    def write_raw_trace(self, output_file: str, trace_contents: dict[str, Any]) -> None:
        """Write the content of a trace, compressed, to a file."""
        with gzip.open(output_file, "wt") as stream:
            json.dump(trace_contents, stream)

    def decode_symbol_ids(self, use_shorten_name: bool = True) -> None:
        """Add the columns `s_name` and `s_cat`, with texts, to the data frames of all ranks."""
        for rank in self.get_ranks():
            self.decode(self.traces[rank], use_shorten_name)

    def decode(self, trace_df: pd.DataFrame, use_shorten_name: bool = True) -> None:
        """Add the columns `s_name` and `s_cat` to a data frame of events."""
        names = self.symbol_table.decoded(trace_df["name"])
        trace_df["s_name"] = self.shortened(names) if use_shorten_name else names
        trace_df["s_cat"] = self.symbol_table.decoded(trace_df["cat"])

    def shortened(self, names: pd.Series) -> pd.Series:
        """Names without template arguments and parameters."""
        return names.map(self._short_names)

    @cached_property
    def _short_names(self) -> dict[str, str]:
        rows = self.frame("symbols")
        return dict(zip(rows["symbol"], rows["short"], strict=True))


class _Frames(Mapping):
    """The data frames of a trace by rank."""

    def __init__(self, t: Trace) -> None:
        self._trace = weakref.proxy(t)
        self._made: dict[int, pd.DataFrame] = {}

    def __getitem__(self, rank: int) -> pd.DataFrame:
        rank = self._trace.rank(number("rank", rank))
        if rank not in self._made:
            rows = self._trace.frame("rows", rank=rank)
            for column in ("cat", "name"):
                rows[column] = self._trace.symbol_table.encoded(rows[column])
            self._made[rank] = rows.set_index("index", drop=False).rename_axis(None)
        return self._made[rank]

    def __contains__(self, rank: object) -> bool:
        return rank in self._trace.trace_files

    def __iter__(self) -> Iterator[int]:
        return iter(self._trace.get_ranks())

    def __len__(self) -> int:
        return len(self._trace.get_ranks())
