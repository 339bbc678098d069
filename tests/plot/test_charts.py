"""Each chart from a small table, drawn by hand, and from tables of all sizes."""

import random
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from click.testing import CliRunner

import hta_sql
from hta_sql import plot
from hta_sql.cli import cli
from hta_sql.errors import HtaSqlError
from hta_sql.plot.style import short_names, thinned

BLUE, ORANGE, GREEN, GREY, RED = "#3b82c4", "#e69f00", "#009e73", "#a3a8b3", "#d55e00"
# What each chart takes, where it is not the table of its name.
QUERIES = {name: name for name in plot.__all__} | {
    "kernel_pies": "kernel_stats",
    "roofline": "op_flops",
    "flame_graph": "folded_stacks",
    "diff": "kernel_diff",
}
DIFFS = (
    "kernel_diff",
    "op_diff",
    "annotation_diff",
    "module_diff",
    "collective_diff",
    "temporal_diff",
)
LONG = "void at::native::<T>&" + "x" * 3000


def value(word: str):
    if word in ("-", "true", "false"):
        return {"-": None, "true": True, "false": False}[word]
    try:
        return float(word) if "." in word else int(word)
    except ValueError:
        return word.replace("~", " ")


def table(text: str) -> pa.Table:
    """A table as drawn: names, then a line a row; `-` is NULL and `~` a space in a name."""
    names, *rows = [line.split() for line in text.strip().splitlines()]
    columns = zip(*[[value(word) for word in row] for row in rows], strict=True)
    return pa.table(dict(zip(names, map(list, columns), strict=True)))


def bars(figure) -> dict[str, tuple[list, list]]:
    """Of each bar trace its labels and heights."""
    return {trace.name: (list(trace.x), rounded(trace.y)) for trace in figure.data}


def rounded(values) -> list[float]:
    return [round(float(number), 6) for number in values]


def colours(figure) -> dict[str, str]:
    return {trace.name: trace.marker.color for trace in figure.data}


def says_nothing(figure) -> bool:
    return not figure.data and [note.text for note in figure.layout.annotations] == [
        "nothing to show"
    ]


def in_legend(figure) -> int:
    """How many lines the legend has."""
    shown = figure.layout.showlegend
    return 0 if shown is False else sum(trace.showlegend is not False for trace in figure.data)


# Small tables and what they look like.


def test_temporal_breakdown():
    figure = plot.temporal_breakdown(
        table("""
        job rank device span_ns compute_ns exposed_communication_ns exposed_memory_ns idle_ns
        a   0    0      200     100        50                       20                30
        a   1    0      400     400        0                        0                 0
    """)
    )
    labels = ["rank 0", "rank 1"]
    assert bars(figure) == {
        "computing": (labels, [50, 100]),
        "exposed communication": (labels, [25, 0]),
        "exposed copies": (labels, [10, 0]),
        "idle": (labels, [15, 0]),
    }
    assert figure.layout.barmode == "stack"
    assert colours(figure) == {
        "computing": BLUE,
        "exposed communication": ORANGE,
        "exposed copies": GREEN,
        "idle": GREY,
    }
    assert list(figure.data[0].customdata) == ["100 ns, 50.0 %", "400 ns, 100.0 %"]


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        ("a 0 0\n a 0 1", ["rank 0 GPU 0", "rank 0 GPU 1"]),
        ("a 0 0\n b 0 0", ["a rank 0", "b rank 0"]),
        ("a 0 0\n a 1 1", ["rank 0", "rank 1"]),
        ("a<b>&c 0 0\n b 0 -", ["a&lt;b&gt;&amp;c rank 0", "b rank 0"]),
        ("a 0 -\n a 0 3", ["rank 0", "rank 0 GPU 3"]),
    ],
)
def test_labels_tell_devices_apart(rows, labels):
    drawn = table(f"job rank device\n {rows}")
    for column in (
        "span_ns",
        "compute_ns",
        "exposed_communication_ns",
        "exposed_memory_ns",
        "idle_ns",
    ):
        drawn = drawn.append_column(column, [[8, 8]])
    assert list(plot.temporal_breakdown(drawn).data[0].x) == labels


STEPS = "job rank device step compute_ns exposed_communication_ns exposed_memory_ns idle_ns"


def test_step_breakdown():
    figure = plot.step_breakdown(
        table(f"""
        {STEPS}
        a 0 0 7 3000000 1000000 0 500000
        a 0 0 8 2000000 0       0 0
        a 1 0 7 1000000 0       0 250000
    """)
    )
    devices, steps = figure.data[0].x
    assert (list(devices), list(steps)) == (["rank 0", "rank 0", "rank 1"], ["7", "8", "7"])
    assert rounded(figure.data[0].y) == [3, 2, 1] and rounded(figure.data[3].y) == [0.5, 0, 0.25]
    assert figure.layout.yaxis.title.text == "ms"
    one = plot.step_breakdown(table(f"{STEPS}\n a 0 0 7 3 1 0 5\n a 0 0 8 2 0 0 0"))
    assert list(one.data[0].x) == ["7", "8"] and one.layout.yaxis.title.text == "ns"


def test_steps_of_many_devices_are_means():
    rows = "\n".join(
        f"a {rank} 0 {step} {rank * 1000} 0 0 {step}000" for rank in range(10) for step in (1, 2)
    )
    figure = plot.step_breakdown(table(f"{STEPS}\n{rows}"))
    assert bars(figure)["computing"] == (["1", "2"], [4.5, 4.5])  # µs, mean of 0 to 9
    assert bars(figure)["idle"] == (["1", "2"], [1, 2])
    assert "mean of 10 devices" in figure.layout.title.text


def test_idle_time_breakdown():
    figure = plot.idle_time_breakdown(
        table("""
        job rank device stream cause       idle_ns gap_count
        a   0    0      7      host_wait   3000    1200
        a   0    0      7      other       1000    2
        a   0    0      20     kernel_wait 500     1
    """)
    )
    labels = ["rank 0 stream 7", "rank 0 stream 20"]
    assert bars(figure) == {
        "waiting for the host": (labels, [3, 0]),
        "between kernels": (labels, [0, 0.5]),
        "other": (labels, [1, 0]),
    }
    assert colours(figure)["waiting for the host"] == RED
    assert list(figure.data[0].customdata) == ["3.00 µs in 1,200 gaps", "none"]


def test_comm_comp_overlap():
    figure = plot.comm_comp_overlap(
        table("""
        job rank device communication_ns overlap_ns
        a   0    0      4000             3000
        a   1    0      0                0
    """)
    )
    labels = ["rank 0", "rank 1"]
    assert bars(figure) == {
        "hidden behind computation": (labels, [3, 0]),
        "exposed": (labels, [1, 0]),
    }
    assert list(figure.data[0].customdata) == ["3.00 µs, 75.0 %", "0 ns, 0.0 %"]


def test_diff():
    changes = table("""
        name   base_total_ns test_total_ns diff_total_ns diff_per_step_ns base_count test_count
        same   100           100           0             0                1          1
        slower 1000          5000          4000          2000             2          7
        gone   9000          0             -9000         -4500            3          0
    """).append_column("diff_count", [[0, 5, -3]])
    figure = plot.diff(changes)
    [bar] = figure.data
    assert list(figure.layout.yaxis.ticktext) == ["gone", "slower"]
    assert rounded(bar.x) == [-4.5, 2] and list(bar.marker.color) == [GREEN, RED]
    assert figure.layout.xaxis.title.text == "µs more, a step of a rank"
    assert bar.customdata[0] == "gone<br>9.00 µs in 3 calls, now 0 ns in 0"
    assert list(plot.diff(changes, top_k=1).data[0].y) == [0]
    counts = plot.diff(changes, counts=True)
    assert list(counts.layout.yaxis.ticktext) == ["slower", "gone"]
    assert list(counts.data[0].x) == [5, -3] and counts.layout.xaxis.title.text == "calls more"
    # Without steps, the whole.
    without = changes.drop_columns("diff_per_step_ns").append_column(
        "diff_per_step_ns", [pa.nulls(3, pa.int64())]
    )
    assert rounded(plot.diff(without).data[0].x) == [-9, 4]
    modules = changes.rename_columns(["module", *changes.column_names[1:]])
    assert list(plot.diff(modules).layout.yaxis.ticktext) == ["gone", "slower"]


def test_kernel_kind_breakdown():
    figure = plot.kernel_kind_breakdown(
        table("""
        job rank device kinds                     time_ns
        a   0    0      communication             10
        a   0    0      computation               50
        a   1    0      computation               25
        a   1    0      communication+computation 15
    """)
    )
    [pie] = figure.data
    assert list(zip(pie.labels, pie["values"], strict=True)) == [
        ("computation", 75),
        ("communication + computation", 15),
        ("communication", 10),
    ]
    assert pie.marker.colors[0] == BLUE and pie.marker.colors[2] == ORANGE


KERNELS = """
    job rank kind          name   total_ns count
    a   0    computation   gemm   5000000  2
    a   1    computation   gemm   3000000  1
    a   0    computation   relu   1000000  1000
    a   0    communication gemm   2000000  1
    a   0    computation   -      500000   1
    a   0    computation   others 6000000  9
"""


def test_kernel_stats():
    figure = plot.kernel_stats(table(KERNELS), top_k=4)
    [bar] = figure.data
    assert list(figure.layout.yaxis.ticktext) == ["gemm", "others", "gemm", "relu"]
    assert rounded(bar.x) == [8, 6, 2, 1] and figure.layout.xaxis.title.text == "ms"
    assert list(bar.marker.color) == [BLUE, BLUE, ORANGE, BLUE]
    assert bar.customdata[3] == "relu<br>computation: 1.00 ms in 1,000 calls"
    assert figure.layout.yaxis.autorange == "reversed"  # the first on top


def test_kernel_pies():
    figure = plot.kernel_pies(table(KERNELS), top_k=1)
    computation, communication = figure.data
    assert list(zip(computation.labels, computation["values"], strict=True)) == [
        ("gemm", 8_000_000),
        ("others", 7_500_000),
    ]
    assert list(zip(communication.labels, communication["values"], strict=True)) == [
        ("gemm", 2_000_000)
    ]
    assert [note.text for note in figure.layout.annotations] == ["computation", "communication"]


def test_slices_of_long_names_stay_apart():
    """Plotly adds up slices of one label."""
    names = [f"sm90_{'x' * 60}_{middle}_{'y' * 60}" for middle in "abc"]
    drawn = pa.table(
        {"kind": ["computation"] * 3, "name": names, "total_ns": [3, 2, 1], "count": [1, 1, 1]}
    )
    assert len(set(plot.kernel_pies(drawn).data[0].labels)) == 3


def test_kernel_distribution():
    figure = plot.kernel_distribution(
        table("""
        job kind name total_ns mean_ns slowest_rank slowest_mean_ns fastest_rank fastest_mean_ns
        a   computation   gemm   100 2000 3 5000 0 1500
        a   communication ar     900 1000 0 1000 1 1000
        a   computation   others 999 1    0 1    0 1
    """)
    )
    [bar] = figure.data
    assert list(figure.layout.yaxis.ticktext) == ["ar", "gemm"]
    assert rounded(bar.x) == [1, 2] and list(bar.marker.color) == [ORANGE, BLUE]
    assert rounded(bar.error_x.array) == [0, 3] and rounded(bar.error_x.arrayminus) == [0, 0.5]
    assert bar.customdata[1] == "gemm<br>mean 2.00 µs<br>rank 3: 5.00 µs<br>rank 0: 1.50 µs"


def test_launch_stats():
    figure = plot.launch_stats(
        table("""
        cpu_ns gpu_ns launch_delay_ns is_short is_runtime_outlier is_delay_outlier
        100    3000   10              true     true               false
        200    4000   -               true     false              false
        300    9999   200000          false    false              true
    """)
    )
    assert [note.text for note in figure.layout.annotations] == [
        "Kernels shorter than their launch: 2",
        "Launches that take long: 1",
        "Activities that start late: 1",
    ]
    assert [int(sum(bar.y)) for bar in figure.data] == [2, 1, 1]
    short = figure.data[0]
    filled = [
        (x - w / 2, x + w / 2) for x, y, w in zip(short.x, short.y, short.width, strict=True) if y
    ]
    assert len(filled) == 2
    assert filled[0][0] < 3010 < filled[0][1] + 20 and abs(filled[1][1] - 4000) < 100


SERIES = """
    job rank device stream at_ns queue_length copy_kind bandwidth_gbps
    b   0    0      20     1000  1            Memset    1.5
    a   0    0      7      5000  0            Memset    2.5
    a   0    0      7      3000  1            Memset    0.5
    a   0    0      -      4000  3            -         9.5
    a   10   0      7      3000  2            Memset    3.5
    a   9    0      7      3000  4            Memset    4.5
"""


def test_queue_length_series():
    figure = plot.queue_length_series(table(SERIES))
    assert {line.name: (rounded(line.x), rounded(line.y)) for line in figure.data} == {
        "a rank 0": ([3], [3]),
        "a rank 0 stream 7": ([2, 4], [1, 0]),
        "a rank 9 stream 7": ([2], [4]),
        "a rank 10 stream 7": ([2], [2]),
        "b rank 0 stream 20": ([0], [1]),
    }
    assert [line.name for line in figure.data][2:] == [
        "a rank 9 stream 7",
        "a rank 10 stream 7",
        "b rank 0 stream 20",
    ]
    assert figure.layout.xaxis.title.text == "µs from the first"
    assert {line.line.shape for line in figure.data} == {"hv"}  # it stays until it changes


def test_memory_bandwidth_series():
    figure = plot.memory_bandwidth_series(table(SERIES).drop_columns("stream"))
    assert {line.name: rounded(line.y) for line in figure.data} == {
        "a rank 0, Memset": [0.5, 2.5],
        "a rank 0, -": [9.5],
        "a rank 9, Memset": [4.5],
        "a rank 10, Memset": [3.5],
        "b rank 0, Memset": [1.5],
    }
    alone = table(SERIES).filter(pc.equal(table(SERIES)["job"], "b"))
    assert [line.name for line in plot.memory_bandwidth_series(alone).data] == ["Memset"]


def test_heatmap_of_jobs_of_unequal_length():
    figure = plot.heatmap(
        table("""
        job rank kind        bucket length_ns from_start_ns busy_frac
        a   0    busy        0      1000      0             1.0
        a   0    busy        1      1000      1000          0.5
        a   1    busy        0      1000      0             0.0
        a   1    busy        1      1000      1000          0.1234
        a   0    computation 0      1000      0             0.25
        a   0    computation 1      1000      1000          0.75
        b   0    busy        0      4000      0             0.2
        b   0    busy        1      4000      4000          0.4
    """)
    )
    a, b = figure.data
    assert a.z.tolist() == [[100, 50], [0, 12.3]] and b.z.tolist() == [[20, 40]]
    assert (list(a.y), list(b.y)) == ([0, 1], [2])
    assert (a.x0, a.dx) == (0.5, 1) and (b.x0, b.dx) == (2, 4)
    assert list(figure.layout.yaxis.ticktext) == ["a rank 0", "a rank 1", "b rank 0"]
    assert figure.layout.xaxis.title.text == "µs from the first activity"
    assert [trace.showscale for trace in figure.data] == [True, False]


def test_heatmap_of_a_kind():
    figure = plot.heatmap(
        table("""
        job rank kind        bucket length_ns busy_frac
        a   0    busy        0      10        1.0
        a   0    computation 0      10        0.25
    """),
        "computation",
    )
    assert figure.data[0].z.tolist() == [[25]] and "computation" in figure.layout.title.text


def test_kernel_timeline():
    figure = plot.kernel_timeline(
        table("""
        job rank device stream from_start_ns dur_ns kind          name    step
        a   0    0      7      1000          2000   computation   a<b>&c  1
        a   0    0      20     2000          500    communication -       -
        a   0    0      7      3500          1500   computation   relu    2
    """)
    )
    computation, communication = figure.data
    assert (computation.name, computation.marker.color) == ("computation", BLUE)
    assert (communication.name, communication.marker.color) == ("communication", ORANGE)
    assert (rounded(computation.base), rounded(computation.x)) == ([0, 2.5], [2, 1.5])
    assert (rounded(communication.base), rounded(communication.x)) == ([1], [0.5])
    assert (list(computation.y), list(communication.y)) == ([0, 0], [1])
    assert list(figure.layout.yaxis.ticktext) == ["rank 0 stream 7", "rank 0 stream 20"]
    assert list(computation.customdata) == [
        "a&lt;b&gt;&amp;c<br>2.00 µs, step 1",
        "relu<br>1.50 µs, step 2",
    ]
    assert list(communication.customdata) == ["-<br>500 ns"]


def test_stragglers():
    figure = plot.stragglers(
        table("""
        job rank caused_wait_ns wait_ns is_straggler
        a   1    9000           0       true
        a   0    1000           4000    false
        a   2    -              -       -
    """)
    )
    labels = ["rank 0", "rank 1", "rank 2"]
    assert bars(figure) == {
        "others wait for this straggler": (labels, [0, 9, 0]),
        "others wait for it": (labels, [1, 0, 0]),
        "it waits for others": (labels, [-4, 0, 0]),
    }
    assert figure.data[0].marker.color == RED and figure.layout.barmode == "relative"


def test_collective_bandwidth():
    figure = plot.collective_bandwidth(
        table("""
        job process_group name      bytes count p01_busbw_gbps p50_busbw_gbps p99_busbw_gbps
        a   pg1           allreduce 1000  5     10.0           20.0           50.0
        a   -             allreduce 4000  6     30.0           30.0           30.0
        a   pg2           -         500   1     1.0            2.0            2.5
        a   pg2           barrier   -     1     -              -              -
        a   pg2           broken    1000  1     -              -              -
    """)
    )
    allreduce, unnamed = figure.data
    assert (allreduce.name, list(allreduce.x), list(allreduce.y)) == (
        "allreduce",
        [1000, 4000],
        [20, 30],
    )
    assert (list(allreduce.error_y.array), list(allreduce.error_y.arrayminus)) == ([30, 0], [10, 0])
    assert list(allreduce.customdata) == ["pg1, 5 times", "-, 6 times"]
    assert (unnamed.name, list(unnamed.x), list(unnamed.y)) == ("-", [500], [2])


def test_critical_path_summary():
    figure = plot.critical_path_summary(
        table("""
        job rank path_window bound_by          time_ns time_frac
        a   0    step~1      gpu_compute_bound 750     0.75
        a   0    step~1      cpu_bound         250     0.25
        a   0    step~2      cpu_bound         100     1.0
    """)
    )
    labels = ["rank 0, step 1", "rank 0, step 2"]
    assert bars(figure) == {"computing on the GPU": (labels, [75, 0]), "host": (labels, [25, 100])}
    assert list(figure.data[0].customdata) == ["750 ns, 75.0 %", "-"]


def test_memory_timeline():
    figure = plot.memory_timeline(
        table("""
        job rank device at_ns   allocated_bytes reserved_bytes
        a   0    0      3000000 20              100
        a   0    0      1000000 10              -
        a   0    -1     2000000 5               -
    """)
    )
    lines = {line.name: (rounded(line.x), rounded(line.y)) for line in figure.data}
    assert lines == {
        "rank 0, CPU, allocated": ([1], [5]),
        "rank 0 GPU 0, allocated": ([0, 2], [10, 20]),
        "rank 0 GPU 0, reserved": ([2], [100]),
    }
    assert figure.layout.xaxis.title.text == "ms from the first change"


def test_roofline():
    figure = plot.roofline(
        table("""
        name family  count kernel_ns achieved_tflops arithmetic_intensity bound   roofline_frac input_dims
        mm   matmul  4     400       50.0            100.0                compute 0.5           [[2,2]]
        add  element 1     100       1.0             2.0                  memory  0.25          -
        -    element 1     -         2.0             4.0                  -       -             -
        view element 1     5         -               -                    -       -             -
    """)  # noqa: E501
    )
    matmul, element, best = figure.data
    assert (matmul.name, list(matmul.x), list(matmul.y)) == ("matmul", [100], [50])
    assert (element.name, list(element.x), list(element.y)) == ("element", [2, 4], [1, 2])
    assert list(matmul.marker.size) == [28] and list(element.marker.size) == [17, 6]
    # 50 / 0.5 TFLOP/s at most, 1 / 0.25 / 2 TB/s at most: they meet at 50 FLOP/byte.
    assert list(zip(best.x, best.y, strict=True)) == [(1, 2), (50, 100), (200, 100)]
    assert matmul.customdata[0] == "mm<br>[[2,2]]<br>400 ns in 4 calls, 50 % of the roof"


def test_flame_graph():
    figure = plot.flame_graph(
        table("""
        job rank stack                      weight_ns
        a   0    ProfilerStep#1;f;g         30
        a   0    ProfilerStep#2;f           20
        a   1    ProfilerStep#2;f;<lambda>  40
        a   1    main                       10
    """)
    )
    [drawn] = figure.data
    by_id = dict(zip(drawn.ids, drawn.labels, strict=True))
    nodes = {
        (by_id.get(parent), label): weight
        for parent, label, weight in zip(drawn.parents, drawn.labels, drawn["values"], strict=True)
    }
    assert nodes == {
        (None, "all"): 100,
        ("all", "ProfilerStep"): 90,
        ("all", "main"): 10,
        ("ProfilerStep", "f"): 90,
        ("f", "&lt;lambda&gt;"): 40,
        ("f", "g"): 30,
    }
    assert drawn.branchvalues == "total"


def test_flame_graph_of_deep_and_thin_stacks():
    deep = ";".join(f"f{depth}" for depth in range(5000))
    figure = plot.flame_graph(pa.table({"stack": [deep, "thin"], "weight_ns": [10**6, 10]}))
    assert len(figure.data[0].labels) == 5001 and "thin" not in figure.data[0].labels


def test_a_single_part_is_named():
    """Plotly alone would not say what the one colour means."""
    one = table("job rank device stream cause idle_ns gap_count\n a 0 0 7 other 1000 2")
    assert plot.idle_time_breakdown(one).layout.showlegend is True
    one = table(
        "job rank device stream from_start_ns dur_ns kind name step\na 0 0 7 0 9 memory - -"
    )
    assert plot.kernel_timeline(one).layout.showlegend is True


# All of them.


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
    names = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
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
        cause=["host_wait", "kernel_wait", "other"] * 4,
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
