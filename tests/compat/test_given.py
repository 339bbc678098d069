"""Numbers of NumPy, which HTA's own data frames hold, are taken by every method."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hta_sql.compat import LabeledTrace, TimeSeriesTypes, TraceAnalysis, TraceDiff, restore_cpgraph
from hta_sql.errors import BadParameter

ONE = np.int64(1)


@pytest.fixture(scope="module")
def job(traces, tmp_path_factory) -> TraceAnalysis:
    """Ranks 0 and 1 with the same trace, in a folder that may be written."""
    folder = tmp_path_factory.mktemp("job")
    text = (traces / "rank_0.json").read_text()
    for rank in (0, 1):
        (folder / f"rank_{rank}.json").write_text(text.replace('"rank": 0', f'"rank": {rank}'))
    return TraceAnalysis(trace_dir=folder)


RANKS = [[np.int64(0), np.int64(1)], np.array([0, 1]), pd.Series([0, 1]), range(2), (0, 1)]


@pytest.mark.parametrize("ranks", RANKS, ids=lambda ranks: type(ranks).__name__)
def test_ranks(job, ranks):
    idle, _ = job.get_idle_time_breakdown(
        ranks, streams=np.array([7]), visualize=False, consecutive_kernel_delay=np.int64(30)
    )
    assert idle["rank"].unique().tolist() == [0, 1]
    for method in (
        job.get_aten_op_kernels_and_delay,
        job.get_queue_length_time_series,
        job.get_memory_bw_time_series,
    ):
        assert list(method(ranks=ranks)) == [0, 1]
    for method in (job.get_queue_length_summary, job.get_memory_bw_summary):
        assert method(ranks=ranks).index.levels[0].tolist() == [0, 1]
    launches = job.get_cuda_kernel_launch_stats(
        ranks, runtime_cutoff=ONE, launch_delay_cutoff=ONE, visualize=False
    )
    assert list(launches) == [0, 1]
    assert job.get_cupti_counter_data_with_operators(ranks) == []


@pytest.mark.parametrize("ranks", [None, [], np.array([], dtype=int)])
def test_no_ranks_are_rank_0(job, ranks):
    assert list(job.get_memory_bw_time_series(ranks)) == [0]


def test_other_methods(job, tmp_path):
    t, rank = job.t, np.int64(1)
    rows = t.get_trace(rank)
    assert rows is t.get_trace(1) and rank in t.traces and 5 not in t.traces
    assert t.get_iterations(rank) == [1] and t.get_trace_duration(rank) == 80
    job.get_gpu_kernel_breakdown(False, np.float32(0.8), np.int64(3))
    job.get_gpu_user_annotation_breakdown(False, False, np.float64(0.8), np.int64(3))
    assert job.get_gpu_kernels_with_user_annotations(rank) is None
    found = job.get_frequent_cuda_kernel_sequences("aten::mm", tmp_path, np.int64(2), rank, ONE)
    assert len(found) == 1 and (tmp_path / "overlaid_rank_1.json").exists()
    steps = list(rows["iteration"].unique())
    assert job.get_potential_stragglers(steps, ONE) == []
    full = job.get_time_spent_blocked_on_full_queue(job.get_queue_length_time_series([rank]), ONE)
    assert full["rank"].tolist() == [1, 1]
    job.generate_trace_with_counters(TimeSeriesTypes.QUEUE_LENGTH, [rank])
    assert Path(t.trace_files[1]).with_name("rank_1_with_counters.json").exists()
    graph, _ = job.critical_path_analysis(rank, "ProfilerStep", np.int64(0))
    again = restore_cpgraph(graph.save(tmp_path / "graph"), t, rank)
    assert again.get_critical_path_breakdown().equals(graph.get_critical_path_breakdown())
    assert job.overlay_critical_path_analysis(rank, graph, tmp_path)
    side = LabeledTrace("side", t)
    assert side.extract_ops(rank, ONE)["rank"].unique().tolist() == [1]
    assert len(TraceDiff.compare_traces(side, t, rank, np.array([0, 1]), ONE, [ONE]))


def test_one_line_for_what_is_no_number(job):
    for call, said in [
        (lambda: job.get_queue_length_summary(ranks=1), "ranks is 1; give a list of whole numbers"),
        (lambda: job.get_queue_length_summary(["a"]), r"ranks is \['a'\]; give a list"),
        (lambda: job.t.get_trace("0"), "rank is '0'; give one whole number"),
        (lambda: job.t.get_trace(None), "rank is None; give one whole number"),
        (lambda: job.get_potential_stragglers([7]), r"no profiler step of \[7\]; there are \[1\]"),
        (lambda: job.get_potential_stragglers(1), "profiler_steps is 1; give a list"),
        (lambda: job.critical_path_analysis(0, "Prof", "a"), "instance_id is 'a'; give one whole"),
        (
            lambda: job.critical_path_analysis(0, "Prof", (0, "b")),
            r"instance_id is \(0, 'b'\); give",
        ),
        (
            lambda: job.critical_path_analysis(0, "Prof", (1, 0)),
            "give the first and the last number",
        ),
        (lambda: job.get_aten_op_kernels_and_delay(sort_by=["zz"]), "sort_by: no column 'zz'"),
        (
            lambda: TraceDiff.compare_traces(job, job),
            "control is of type TraceAnalysis; .*analyzer.t",
        ),
        (lambda: LabeledTrace("a", job), "t is of type TraceAnalysis; .*analyzer.t"),
    ]:
        with pytest.raises(BadParameter, match=said):
            call()
