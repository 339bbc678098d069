"""The methods of TraceAnalysis on queues, copies and hardware counters."""

from __future__ import annotations

from enum import Flag, auto
from pathlib import Path

import pandas as pd

from hta_sql.compat.trace import Trace
from hta_sql.export.perfetto import export_counters

# Floating-point operations per executed instruction, by the counter of the instructions.
CUDA_SASS_INSTRUCTION_COUNTER_FLOPS = {
    f"smsp__sass_thread_inst_executed_op_{precision}{kind}_pred_on.sum": flops
    for precision in "fhd"
    for kind, flops in {"add": 1, "mul": 1, "fma": 2}.items()
}


class TimeSeriesTypes(Flag):
    """The counters of generate_trace_with_counters."""

    QUEUE_LENGTH = auto()
    MEMCPY_BANDWIDTH = auto()


class Counters:
    """Queue lengths, bandwidths of copies, and hardware counters."""

    t: Trace

    def get_queue_length_time_series(
        self, ranks: list[int] | None = None
    ) -> dict[int, pd.DataFrame]:
        """The queue length of each stream over time, by rank; ranks without launches are left out.

        `ts` is in µs. The index is the launch or the activity that changes the length.
        """
        found = {rank: self.t.frame("queue", rank=rank) for rank in self.t.checked(ranks)}
        return {rank: rows.set_index("index") for rank, rows in found.items() if len(rows)}

    def get_queue_length_summary(self, ranks: list[int] | None = None) -> pd.DataFrame | None:
        """Statistics of the queue length by rank and stream, over its changes; None without any."""
        return self.get_queue_length_summary_from_time_series(
            self.get_queue_length_time_series(ranks)
        )

    def get_queue_length_summary_from_time_series(
        self, queue_length_dict: dict[int, pd.DataFrame]
    ) -> pd.DataFrame | None:
        """The same from the result of get_queue_length_time_series."""
        return _described(queue_length_dict, "stream", "queue_length")

    def get_time_spent_blocked_on_full_queue(
        self, queue_length_dict: dict[int, pd.DataFrame], max_queue_length: int = 1024
    ) -> pd.DataFrame:
        """How long each stream's queue was full, in µs, and as a share of the rank's trace."""
        rows = []
        for rank, series in queue_length_dict.items():
            for stream, queue in series.groupby("stream", sort=False):
                lasts = queue["ts"].shift(-1) - queue["ts"]
                is_full = queue["queue_length"] >= max_queue_length
                if is_full.any():
                    full = float(lasts[is_full].sum())
                    rows.append((rank, stream, full, full / self.t.get_trace_duration(rank)))
        columns = [
            "rank",
            "stream",
            "duration_at_max_queue_length",
            "relative_duration_at_max_queue_length",
        ]
        return pd.DataFrame(rows, columns=columns)

    def get_memory_bw_time_series(self, ranks: list[int] | None = None) -> dict[int, pd.DataFrame]:
        """The bandwidth of copies over time in GB/s, by rank; ranks without copies are left out."""
        found = {rank: self.t.frame("bandwidth", rank=rank) for rank in self.t.checked(ranks)}
        return {rank: rows.astype({"ts": "float64"}) for rank, rows in found.items() if len(rows)}

    def get_memory_bw_summary(self, ranks: list[int] | None = None) -> pd.DataFrame | None:
        """Statistics of the bandwidth while copies run, by rank and kind; None without copies."""
        series = self.get_memory_bw_time_series(ranks)
        running = {rank: rows[rows["memory_bw_gbps"] > 0] for rank, rows in series.items()}
        return _described(running, "name", "memory_bw_gbps")

    def generate_trace_with_counters(
        self,
        time_series: TimeSeriesTypes | None = None,
        ranks: list[int] | None = None,
        output_suffix: str = "_with_counters",
    ) -> None:
        """Write each rank's trace with counters, beside the trace."""
        series = time_series or TimeSeriesTypes.QUEUE_LENGTH | TimeSeriesTypes.MEMCPY_BANDWIDTH
        names = {
            "queue": TimeSeriesTypes.QUEUE_LENGTH,
            "bandwidth": TimeSeriesTypes.MEMCPY_BANDWIDTH,
        }
        chosen = [name for name, flag in names.items() if flag in series]
        for rank in self.t.checked(ranks):
            file = Path(self.t.trace_files[rank])
            stem, dot, ending = file.name.partition(".json")
            out = file.with_name(f"{stem}{output_suffix or '_with_counters'}{dot}{ending}")
            export_counters(self.t.recorded, out, self.t.job, [rank], chosen)

    def get_cupti_counter_data_with_operators(
        self, ranks: list[int] | None = None
    ) -> list[pd.DataFrame]:
        """The kernels with hardware counters, one frame per rank; empty without counters.

        Each counter is a column. `op_stack` lists the operators around the launch, the outermost
        first.
        """
        if "cuda_profiler_range" not in self.t.symbol_table.sym_index:
            return []
        return [self._counters(rank) for rank in self.t.checked(ranks)]

    def _counters(self, rank: int) -> pd.DataFrame:
        counters = self.t.frame("counters", rank=rank)
        values = counters.pivot(index="index", columns="counter", values="value").fillna(-1)
        whole = [name for name in values if (values[name] % 1 == 0).all()]
        values = values.astype(dict.fromkeys(whole, "int64"))
        stacks = counters.drop_duplicates("index").set_index("index")
        stacks = stacks[["index_runtime", "op_stack", "top_level_op", "bottom_level_op"]]
        stacks["op_stack"] = [text.split(";") if text else [] for text in stacks["op_stack"]]
        rows = self.t.get_trace(rank)
        rows = rows[rows["index"].isin(values.index)].copy()
        for column in ("cat", "name"):
            self.t.symbol_table.add_symbols_to_trace_df(rows, column)
        found = rows.join(values).join(stacks)
        return found.sort_values("ts", kind="stable", ignore_index=True)


def _described(series: dict[int, pd.DataFrame], by: str, value: str) -> pd.DataFrame | None:
    """Statistics by rank and `by`, as pandas' describe gives them."""
    if not series:
        return None
    rows = pd.concat([frame[[by, value]].assign(rank=rank) for rank, frame in series.items()])
    return rows.groupby(["rank", by])[[value]].describe()
