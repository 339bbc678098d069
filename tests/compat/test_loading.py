"""Trace data frames, files and errors of the classes of HTA, for the trace in conftest.py."""

import subprocess
import sys

import numpy as np
import pytest

from hta_sql.compat import LabeledTrace, TimeSeriesTypes, Trace, TraceAnalysis
from hta_sql.errors import BadParameter, IngestError


def test_trace_frames(loaded):
    t = loaded().t
    found = t.get_trace(0)
    assert found.index.tolist() == [0, 2, 3, 4, 5, 7, 8, 9]
    gemm = found.loc[7]
    assert t.symbol_table.sym_table[gemm["name"]] == "gemm<float>(int)"
    assert gemm[["ts", "dur", "end", "stream", "index_correlation", "iteration"]].tolist() == [
        30.25,
        20.5,
        50.75,
        7,
        3,
        1,
    ]
    assert found.loc[3, "index_correlation"] == 7
    t.decode_symbol_ids()
    assert t.traces[0].loc[7, ["s_name", "s_cat"]].tolist() == ["gemm", "kernel"]


def test_counters_are_written_beside_the_trace(loaded, traces):
    loaded().generate_trace_with_counters(TimeSeriesTypes.QUEUE_LENGTH)
    file = traces / "rank_0_with_counters.json"
    assert '"ph":"C"' in file.read_text().replace(" ", "")
    # The next analysis of the folder does not take it for a trace.
    assert TraceAnalysis(trace_dir=traces).t.get_ranks() == [0]
    file.unlink()


def test_errors(loaded, tmp_path):
    with pytest.raises(ValueError, match="no trace of rank 3; there are traces of ranks 0"):
        loaded().get_queue_length_summary(ranks=[3])
    with pytest.raises(BadParameter, match=r"no profiler step of \[9\]; there are \[1\]"):
        loaded().get_potential_stragglers(profiler_steps=[9])
    with pytest.raises(IngestError, match="no such folder of traces"):
        TraceAnalysis(trace_dir=tmp_path / "none")
    with pytest.raises(IngestError, match=r"trace_files is \[\]; give at least one file"):
        TraceAnalysis([])
    with pytest.raises(IngestError, match="no file here ends in .json or .gz"):
        TraceAnalysis(trace_dir=tmp_path)


def test_arguments_that_cannot_be_files(traces):
    with pytest.raises(BadParameter, match="trace_files is 'rank_0.json'; give a list of files"):
        TraceAnalysis("rank_0.json", traces)
    with pytest.raises(BadParameter, match="trace_files is 5; give a list of files"):
        TraceAnalysis(5, traces)
    with pytest.raises(BadParameter, match="a rank of trace_files is '3'; give one whole number"):
        TraceAnalysis({"3": "rank_0.json"}, traces)
    assert TraceAnalysis({np.int64(3): "rank_0.json"}, traces).t.get_ranks() == [3]


def test_advice_is_for_scripts_and_warnings_name_their_line(traces, tmp_path):
    """Files without a rank, one rank twice, and two folders of one name in one archive."""
    text = (traces / "rank_0.json").read_text().replace('"rank": 0, ', "")
    first, second = tmp_path / "a" / "run", tmp_path / "b" / "run"
    for folder in (first, second):
        folder.mkdir(parents=True)
        (folder / "trace.json").write_text(text)
        text += " "  # else the second file is taken for the first, which was moved
    kept = tmp_path / "kept"
    with pytest.warns(UserWarning, match=r"\(trace_files={N: file} sets another\)") as found:
        TraceAnalysis(trace_dir=first, archive=kept)
    assert {warning.filename for warning in found} == {__file__}
    with pytest.warns(UserWarning, match=r"\(trace_files=") as found:
        LabeledTrace(trace_dir=second)
    assert {warning.filename for warning in found} == {__file__}
    with pytest.raises(IngestError, match="run/trace.json; give another archive=$"):
        TraceAnalysis({0: second / "trace.json"}, archive=kept)
    same = traces / "rank_0.json"
    (second / "trace.json").write_text(same.read_text())
    with pytest.raises(IngestError, match=r"one another rank \(trace_files={N: file}\)$"):
        TraceAnalysis([same, second / "trace.json"])


def test_the_archive_is_deleted_unless_it_is_kept(traces, tmp_path):
    analyzer = TraceAnalysis({4: "rank_0.json"}, traces)
    made = analyzer.t.archive
    assert made.is_dir() and analyzer.t.get_ranks() == [4]
    del analyzer
    assert not made.exists()
    TraceAnalysis([traces / "rank_0.json"], archive=tmp_path / "kept")
    again = TraceAnalysis([traces / "rank_0.json"], archive=tmp_path / "kept")
    assert again.t.archive == tmp_path / "kept"
    assert len(again.get_temporal_breakdown(visualize=False)) == 1


def test_without_pandas_the_message_says_what_to_install():
    code = "import sys; sys.modules['pandas'] = None; import hta_sql.compat"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'hta-sql[pandas]'" in done.stderr


def test_a_trace_is_loaded_as_hta_loads_it(traces, tmp_path):
    """All steps until the last one is dropped; the raw file, in which the index is the place."""
    t = Trace(trace_dir=traces)
    t.parse_traces()
    assert (t.is_parsed, t.get_iterations(), len(t.get_trace(0))) == (False, [1, 2], 11)
    t.load_traces()
    t.load_traces(include_last_profiler_step=True)  # it is loaded
    assert (t.is_parsed, t.get_iterations(), len(t.get_trace(0))) == (True, [1], 8)
    t.align_and_filter_trace(include_last_profiler_step=True)
    assert len(t.get_all_traces()[0]) == 11
    assert t.trace_files == {0: str(traces / "rank_0.json")} and t.trace_path == str(traces)
    assert t.get_trace_start_unixtime_ns(0) == 0
    raw = t.get_raw_trace_for_one_rank()
    assert raw["traceEvents"][7]["args"]["correlation"] == t.get_trace(0).loc[7, "correlation"]
    file = str(tmp_path / "rank_0.json.gz")
    t.write_raw_trace(file, raw)
    assert Trace({0: file}).get_raw_trace_for_one_rank(rank=0) == raw
