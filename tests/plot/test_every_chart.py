"""What all charts do: of a job, of no rows, of NULL, of many ranks."""

import json
import random
import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from click.testing import CliRunner
from plot.figures import DIFFS, LONG, QUERIES, in_legend, plain, says_nothing

import hta_sql
from hta_sql import plot
from hta_sql.cli import cli
from hta_sql.errors import HtaSqlError
from hta_sql.plot.style import short_names, thinned


@pytest.fixture(scope="module")
def tables(demo_archive, tmp_path_factory) -> dict[str, pa.Table]:
    """What each chart takes, of a made-up job whose critical path is known."""
    archive = tmp_path_factory.mktemp("charts") / "archive"
    shutil.copytree(demo_archive, archive)
    assert CliRunner().invoke(cli, ["critical-path", str(archive)]).exit_code == 0
    with hta_sql.open(archive) as run:
        [job] = set(run.sql("SELECT job FROM traces")["job"].to_pylist())
        asked = {
            name: {"base_job": job, "test_job": job} if name in DIFFS else {}
            for name in {*QUERIES.values(), *DIFFS}
        }
        return {name: run.query(name, **chosen) for name, chosen in asked.items()}


def test_every_chart_is_here():
    files = Path(__file__).parent.glob("test_charts*.py")
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    names = set(re.findall(r"^def test_(\w+)", text, re.MULTILINE))
    assert {chart for chart in plot.__all__ if not any(n.startswith(chart) for n in names)} == set()


@pytest.mark.parametrize("chart", plot.__all__)
def test_of_a_job(tables, chart, capfd, monkeypatch, tmp_path):
    """Marks of every chart; and it neither prints nor opens anything."""
    opened = tmp_path / "opened"
    monkeypatch.setenv("BROWSER", f"touch {opened} %s")
    figure = getattr(plot, chart)(tables[QUERIES[chart]])
    assert bool(figure.data) == (chart != "diff")  # a job has not changed since itself
    assert figure.to_json()
    assert capfd.readouterr() == ("", "") and not opened.exists()


@pytest.mark.parametrize("chart", plot.__all__)
def test_a_report_draws_the_same(tables, chart):
    """A report writes the data without plotly, which would expand short forms."""
    function, drawn = getattr(plot, chart), tables[QUERIES[chart]]
    figure = plain(json.loads(function(drawn).to_json()))
    del figure["layout"]["template"]
    assert plain(json.loads(function.drawing(drawn).json())) == figure


@pytest.mark.parametrize("chart", plot.__all__)
def test_of_no_rows(tables, chart):
    assert says_nothing(getattr(plot, chart)(tables[QUERIES[chart]].slice(0, 0)))


@pytest.mark.parametrize("name", DIFFS)
def test_no_difference(tables, name):
    assert tables[name].num_rows and says_nothing(plot.diff(tables[name]))


@pytest.mark.parametrize("chart", plot.__all__)
def test_of_another_table(chart):
    with pytest.raises(HtaSqlError, match=rf"the table of run\.{QUERIES[chart]}\(\);.* has no "):
        getattr(plot, chart)(pa.table({"weight": [1]}))
    with pytest.raises(HtaSqlError, match=rf"run\.{QUERIES[chart]}\(\), not a list"):
        getattr(plot, chart)([1])


# What may be NULL, by the catalogue or in a trace that does not say it.
MAY_BE_NULL = {
    "name",
    "step",
    "device",
    "stream",
    "process_group",
    "input_dims",
    "copy_kind",
    "p50_busbw_gbps",
    "bytes",
    "launch_delay_ns",
    "overlap_frac",
    "idle_frac",
    "wait_ns",
    "caused_wait_ns",
    "is_straggler",
    "roofline_frac",
    "bound",
    "family",
    "achieved_tflops",
    "arithmetic_intensity",
    "kernel_ns",
    "allocated_bytes",
    "reserved_bytes",
    "diff_per_step_ns",
    "diff_frac",
    "slowest_rank",
}


@pytest.mark.parametrize("chart", plot.__all__)
def test_of_null(tables, chart):
    """Whatever is NULL in a row or in all, the chart says it of the others."""
    whole = tables[QUERIES[chart]]
    for at, name in enumerate(whole.column_names):
        # step_breakdown always knows the step; what launch_stats flags is known.
        if name not in MAY_BE_NULL or (chart, name) in (
            ("step_breakdown", "step"),
            ("launch_stats", "launch_delay_ns"),
        ):
            continue
        column = whole[name].combine_chunks()
        first = pa.array([index == 0 for index in range(len(column))])
        for nothing in (pc.if_else(first, None, column), pa.nulls(len(column), column.type)):
            getattr(plot, chart)(whole.set_column(at, whole.field(at), nothing)).to_json()


@pytest.mark.parametrize("chart", plot.__all__)
def test_names_with_tags(tables, chart):
    """No tag of a name reaches plotly, which would act on it; long names do not fail."""
    whole = tables[QUERIES[chart]]
    if chart == "diff":  # one of which something is otherwise
        at = whole.column_names.index("diff_per_step_ns")
        whole = whole.set_column(at, whole.field(at), [pa.array(range(1, len(whole) + 1))])
    for name in ("job", "name", "stack", "process_group", "input_dims", "path_window"):
        if name in whole.column_names:
            at = whole.column_names.index(name)
            texts = [f"<b>{LONG}</b>{row % 3}" for row in range(len(whole))]
            whole = whole.set_column(at, whole.field(at).with_type(pa.string()), [texts])
    figure = getattr(plot, chart)(whole)
    assert figure.data
    assert not [
        text for text in texts_in(figure.to_plotly_json()) if "<T>" in text or "<b>" in text
    ]


def texts_in(part):
    """All strings in a figure that are shown as text."""
    if isinstance(part, dict):
        for key, inner in part.items():
            if key not in ("hovertemplate", "title"):
                yield from texts_in(inner)
    elif isinstance(part, str):
        yield part
    elif isinstance(part, list | tuple) or (isinstance(part, np.ndarray) and part.dtype == object):
        for inner in part:
            yield from texts_in(inner)


def ranks_table(per_rank: int = 1, **columns) -> pa.Table:
    """A job of 512 ranks of these columns, rank by rank."""
    count = 512 * per_rank
    whole = {
        "job": ["a"] * count,
        "rank": np.repeat(np.arange(512), per_rank),
        "device": np.zeros(count, np.int64),
    }
    return pa.table(
        whole
        | {
            name: np.tile(given, 512) if len(given) == per_rank else given
            for name, given in columns.items()
        }
    )


PARTS = {
    name: [5]
    for name in (
        "span_ns",
        "compute_ns",
        "exposed_communication_ns",
        "exposed_memory_ns",
        "idle_ns",
    )
}


LARGE = {
    "temporal_breakdown": lambda: ranks_table(**PARTS),
    "step_breakdown": lambda: ranks_table(
        3, step=[1, 2, 3], **{name: part * 3 for name, part in PARTS.items()}
    ),
    "stragglers": lambda: ranks_table(caused_wait_ns=[5], wait_ns=[5], is_straggler=[False]),
    "idle_time_breakdown": lambda: ranks_table(
        12,
        stream=np.repeat([7, 13, 20, 24], 3),
        cause=["host_wait", "kernel_wait", "queued"] * 4,
        idle_ns=[9] * 12,
        gap_count=[1] * 12,
    ),
    "heatmap": lambda: ranks_table(
        100,
        kind=["busy"] * 100,
        bucket=np.arange(100),
        length_ns=[9] * 100,
        busy_frac=np.linspace(0, 1, 100),
    ),
    "queue_length_series": lambda: ranks_table(
        800,
        stream=np.repeat([7, 13, 20, 24], 200),
        at_ns=np.tile(np.arange(200) * 1000, 4),
        queue_length=np.random.default_rng(0).integers(0, 1000, 512 * 800),
    ),
}


@pytest.mark.parametrize("chart", LARGE)
def test_of_512_ranks(chart):
    """Few marks and legends, whatever the number of ranks."""
    drawn = LARGE[chart]()
    figure = getattr(plot, chart)(drawn)
    assert in_legend(figure) <= 4
    assert len(figure.data) <= (2048 if chart == "queue_length_series" else 4)
    size = len(figure.to_json())
    assert 1000 < size < (6_000_000 if chart in ("queue_length_series", "heatmap") else 400_000)
    if chart == "queue_length_series":
        assert len(figure.data) == 2048
        assert max(len(line.x) for line in figure.data) <= 61
        highest = drawn.group_by(["rank", "stream"]).aggregate([("queue_length", "max")])
        assert sorted(max(line.y) for line in figure.data) == sorted(
            highest["queue_length_max"].to_pylist()
        )
    if chart == "heatmap":
        assert figure.data[0].z.shape == (512, 100) and figure.layout.height <= 1100
        assert len(figure.layout.yaxis.tickvals) <= 48


def test_thinned_keeps_every_peak():
    """Of each slice of time the highest and the lowest point, by brute force."""
    chance = random.Random(5)
    for _ in range(200):
        count, most = chance.randrange(1, 400), chance.randrange(6, 120)
        at = sorted(chance.randrange(10 ** chance.randrange(1, 10)) for _ in range(count))
        values = [chance.randrange(50) for _ in range(count)]
        kept = thinned(np.array(at), np.array(values), most).tolist()
        assert kept == sorted(set(kept)) and len(kept) <= max(most, 1) + 1
        assert kept[0] == 0 and kept[-1] == count - 1
        if count <= most:
            assert kept == list(range(count))
            continue
        slices: dict[int, list[int]] = {}
        for place, instant in enumerate(at):
            of = (instant - at[0]) * (most // 3) // max(1, at[-1] - at[0])
            slices.setdefault(min(of, most // 3 - 1), []).append(place)
        for places in slices.values():
            drawn = {values[place] for place in places if place in kept}
            assert {max(values[p] for p in places), min(values[p] for p in places)} <= drawn


@pytest.mark.real
def test_of_every_real_trace(real_run):
    drawn = dict.fromkeys(plot.__all__, 0)
    for chart, query in QUERIES.items():
        if chart == "diff":
            continue
        whole = real_run.query(query)
        assert (len(getattr(plot, chart)(whole).data) > 0) == (whole.num_rows > 0)
        for job in whole["job"].unique():
            figure = getattr(plot, chart)(whole.filter(pc.equal(whole["job"], job)))
            assert figure.to_json() and (figure.data or says_nothing(figure))
            drawn[chart] += bool(figure.data)
    for query in DIFFS:
        figure = plot.diff(
            real_run.query(query, base_job="trace_diff/control", test_job="trace_diff/test")
        )
        assert figure.to_json()
        drawn["diff"] += bool(figure.data)
    # All but what needs a critical path, or collectives of several ranks that overlap in time.
    assert {chart for chart, times in drawn.items() if not times} <= {
        "critical_path_summary",
        "stragglers",
        "collective_bandwidth",
    }


def test_names_that_would_be_cut_alike_stay_apart():
    names = [
        f"sm90_xmma_gemm_bf16_tilesize{size}x64_execute_segment_kernel__5x_cublas"
        for size in (64, 128, 256)
    ]
    shown = short_names([*names, names[0], "short"])
    assert len(set(shown[:3])) == 3 and all(len(name) <= 34 for name in shown)
    assert shown[3] == shown[0] and shown[4] == "short"
    for name, size in zip(shown, (64, 128, 256), strict=False):
        assert f"size{size}x64" in name
