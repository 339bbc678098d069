"""HTA's class TraceAnalysis: each method asks one query and shapes its frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path

import pandas as pd

from hta_sql.compat import charts
from hta_sql.compat.counters import Counters
from hta_sql.compat.critical_path import CPGraph
from hta_sql.compat.files import Files
from hta_sql.compat.given import number, numbers
from hta_sql.compat.paths import compute_path, overlay_path
from hta_sql.compat.trace import Trace
from hta_sql.errors import BadParameter
from hta_sql.export.sequences import export_sequences

US = 1000  # ns


class TraceAnalysis(Counters):
    """The analyses of HTA over the traces of a job.

    Args:
        trace_files: Maps ranks to files; or the files, whose ranks are read from them. Paths are
            relative to `trace_dir`. The default is all traces in `trace_dir`.
        trace_dir: The folder of the traces.
        include_last_profiler_step: False drops the last profiler step, if there are several.
        archive: Where the archive is made and kept, so that the next run need not read the traces
            again. The default is a temporary folder, which is deleted at the end.
        exact: False rounds times and percentages as HTA does.

    Attributes:
        t: The traces, with their data frames, symbols and ranks.

    Raises:
        IngestError: There are no traces, or two have the same rank.

    Examples:
        >>> analyzer = TraceAnalysis(trace_dir="traces")
        >>> analyzer.get_temporal_breakdown(visualize=False)["idle_time(us)"]
    """

    def __init__(
        self,
        trace_files: Files | None = None,
        trace_dir: str | PathLike[str] = "/tmp/trace",
        include_last_profiler_step: bool | None = False,
        *,
        archive: str | PathLike[str] | None = None,
        exact: bool = True,
    ) -> None:
        last_step = bool(include_last_profiler_step)
        self.t = Trace(trace_files, trace_dir, last_step, archive=archive, exact=exact)

    def get_comm_comp_overlap(self, visualize: bool = True) -> pd.DataFrame:
        """The percentage of communication that computation hides: one row per rank."""
        if visualize:
            charts.show(self.t, "comm_comp_overlap")
        return self.t.frame("overlap")

    def get_temporal_breakdown(self, visualize: bool = True) -> pd.DataFrame:
        """Idle, computing and other time of the GPU, in µs: one row per rank."""
        if visualize:
            charts.show(self.t, "temporal_breakdown")
        return self.t.frame("temporal")

    def get_gpu_kernel_breakdown(
        self,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 10,
        include_memory_kernels: bool = True,
        image_renderer: str = "",
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Time by kinds of kernels over all ranks, and statistics of kernels by rank, in µs."""
        if visualize:
            charts.show(self.t, "kernel_kind_breakdown", renderer=image_renderer)
            charts.show(self.t, "kernel_stats", "kernel_pies", renderer=image_renderer)
            charts.show(self.t, "kernel_distribution", renderer=image_renderer)
        kinds = self.t.frame("kernel_types", memory=include_memory_kernels)
        kernels = self.t.frame(
            "kernels", memory=include_memory_kernels, share=duration_ratio, name_count=num_kernels
        )
        return kinds, kernels

    def get_gpu_user_annotation_breakdown(
        self,
        use_gpu_annotation: bool = True,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 1000,
        allowlist_patterns: list[str] | None = None,
        image_renderer: str | None = None,
    ) -> pd.DataFrame | None:
        """Statistics of annotations by rank, in µs; None if there are no annotations."""
        cat = "gpu_user_annotation" if use_gpu_annotation else "user_annotation"
        if cat not in self.t.symbol_table.sym_index:
            return None
        found = self.t.frame(
            "annotations",
            cat=cat,
            share=duration_ratio,
            name_count=num_kernels,
            kept_texts=allowlist_patterns or [],
        )
        if visualize:
            charts.bars(found, "name", "sum (us)", "Annotations", renderer=image_renderer)
        return found

    def get_gpu_kernels_with_user_annotations(
        self, rank: int, expand_names: bool = True, shortern_names: bool = True
    ) -> pd.DataFrame | None:
        """The GPU activities of a rank, each with its annotation; None without annotations.

        `user_annotation` is the id of the annotation's name, -1 without one. With `expand_names`,
        `s_name`, `s_cat` and `s_user_annotation` are texts.
        """
        if "gpu_user_annotation" not in self.t.symbol_table.sym_index:
            return None
        rank = self.t.rank(rank)
        of = self.t.frame("annotated", rank=rank).set_index("index")
        rows = self.t.get_trace(rank)
        kernels = rows[rows["index"].isin(of.index)].reset_index(drop=True)
        names = kernels["index"].map(of["annotation"])
        kernels["user_annotation"] = self.t.symbol_table.encoded(names)
        if expand_names:
            self.t.decode(kernels, shortern_names)
            names = self.t.shortened(names) if shortern_names else names
            kernels["s_user_annotation"] = names.fillna("")
        return kernels

    def get_idle_time_breakdown(
        self,
        ranks: list[int] | None = None,
        streams: list[int] | None = None,
        visualize: bool = True,
        visualize_pctg: bool = True,
        show_idle_interval_stats: bool = False,
        consecutive_kernel_delay: int = 30,
    ) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        """Each stream's idle time by cause, in µs, and statistics of the idle intervals.

        The second frame is None without `show_idle_interval_stats`. `consecutive_kernel_delay` is
        in µs.
        """
        chosen = self.t.checked(ranks)
        given = {"streams": streams, "gap_ns": consecutive_kernel_delay * US}
        if visualize:
            charts.show(self.t, "idle_time_breakdown", version=1, only_ranks=chosen)
        idle = pd.concat([self.t.frame("idle", rank=rank, **given) for rank in chosen])
        if not show_idle_interval_stats:
            return idle, None
        intervals = pd.concat(
            [self.t.frame("idle_intervals", rank=rank, **given) for rank in chosen]
        )
        return idle, intervals.set_index("idle_category")

    def get_cuda_kernel_launch_stats(
        self,
        ranks: list[int] | None = None,
        runtime_cutoff: int = 50,
        launch_delay_cutoff: int = 100,
        include_memory_events: bool = True,
        visualize: bool = True,
    ) -> dict[int, pd.DataFrame]:
        """Durations of launch and activity, and the delay between them, in µs, by rank."""
        chosen = self.t.checked(ranks)
        if visualize:
            charts.show(
                self.t,
                "launch_stats",
                only_ranks=chosen,
                runtime_cutoff_ns=runtime_cutoff * US,
                launch_delay_cutoff_ns=launch_delay_cutoff * US,
                include_memory=include_memory_events,
            )
        return {
            rank: self.t.frame("launches", rank=rank, memory=include_memory_events)
            for rank in chosen
        }

    def get_aten_op_kernels_and_delay(
        self, ranks: list[int] | None = None, sort_by: list[str] | None = None
    ) -> dict[int, pd.DataFrame]:
        """Operators with the kernels that they launch, and the mean delays in µs, by rank.

        The index is the place of a row in the order of operators and sequences.
        """
        order = [sort_by] if isinstance(sort_by, str) else list(sort_by or ["occurrence_count"])
        found = {rank: self.t.frame("operators", rank=rank) for rank in self.t.checked(ranks)}
        for rows in found.values():
            if wrong := [name for name in order if name not in rows]:
                columns = ", ".join(rows)
                raise BadParameter(f"sort_by: no column {wrong[0]!r}; the columns are {columns}")
        return {
            rank: rows.sort_values(order, ascending=False, kind="stable")
            for rank, rows in found.items()
        }

    def get_frequent_cuda_kernel_sequences(
        self,
        operator_name: str,
        output_dir: str | PathLike[str],
        min_pattern_len: int = 3,
        rank: int = 0,
        top_k: int = 5,
        visualize: bool = False,
        compress_other_kernels: bool = True,
    ) -> pd.DataFrame:
        """Sequences of kernels that operators launch, with counts and durations in µs.

        Writes the trace with the `top_k` first sequences marked to `output_dir`. It keeps all
        names, whatever `compress_other_kernels` says.
        """
        rank, top_k = self.t.rank(rank), number("top_k", top_k)
        length = number("min_pattern_len", min_pattern_len)
        found = self.t.frame("sequences", rank=rank, operator=operator_name, min_length=length)
        if found.empty:
            return pd.DataFrame()
        if visualize:
            charts.bars(found.head(top_k), "pattern", "count", f"Kernel sequences, rank {rank}")
        export_sequences(
            self.t.recorded,
            Path(output_dir).expanduser() / f"overlaid_{Path(self.t.trace_files[rank]).name}",
            operator_name,
            self.t.job,
            [rank],
            length,
            top_k,
        )
        return found

    def get_profiler_steps(self) -> list[int]:
        """The profiler steps of all ranks."""
        return self.t.frame("steps", ranks=self.t.get_ranks())["step"].tolist()

    def get_potential_stragglers(
        self,
        profiler_steps: list[int] | None = None,
        num_candidates: int = 2,
        visualize: bool = False,
        straggler_identification_impl: Callable[..., pd.Series] | None = None,
    ) -> list[int]:
        """The ranks for which others wait most, at most `num_candidates`.

        `straggler_identification_impl` is called with a data frame of all ranks' spans in the
        steps, the symbol table, the number of candidates and `visualize`. It returns a pandas
        Series of numbers by rank; the highest are returned.
        """
        there = self.get_profiler_steps()
        if not there:
            raise BadParameter("the traces have no profiler steps, so stragglers are unknown")
        given = there if profiler_steps is None else numbers("profiler_steps", profiler_steps)
        steps = [step for step in given if step in there]
        if not steps:
            raise BadParameter(f"no profiler step of {given}; there are {there}")
        count = max(1, number("num_candidates", num_candidates))
        if straggler_identification_impl is not None:
            spans = pd.concat(self.t.get_all_traces(), names=["rank", "idx"]).reset_index()
            spans = spans[spans["iteration"].isin(steps)]
            scores = straggler_identification_impl(spans, self.t.symbol_table, count, visualize)
            return scores.sort_values(ascending=False).head(count).index.tolist()
        if visualize:
            charts.show(self.t, "stragglers", only_steps=steps)
        return self.t.frame("stragglers", steps=steps)["rank"].head(count).tolist()

    def critical_path_analysis(
        self,
        rank: int,
        annotation: str,
        instance_id: int | tuple[int, int] | None,
        data_load_events: Iterable[str] | None = None,
    ) -> tuple[CPGraph, bool]:
        """The graph of a window of a rank with its critical path, and True.

        The window is the annotation on the host whose name contains `annotation`, by its number
        in order of time, or from the first to the last of two numbers; an empty text is the whole
        trace. `data_load_events` are parts of names of annotations in which data is loaded.
        """
        return compute_path(self.t, rank, annotation, instance_id, data_load_events or ()), True

    def overlay_critical_path_analysis(
        self,
        rank: int,
        critical_path_graph: CPGraph,
        output_dir: str | PathLike[str],
        only_show_critical_events: bool = True,
        show_all_edges: bool = False,
    ) -> str:
        """Write the trace with the critical path to `output_dir`; returns the path of the file.

        With `show_all_edges` and all events, the arrows are all edges of the graph.
        """
        return overlay_path(
            self.t, critical_path_graph, output_dir, only_show_critical_events, show_all_edges
        )
