"""Charts of small tables: what they look like."""

import pyarrow as pa
import pytest
from plot.figures import BLUE, GREEN, GREY, ORANGE, RED, bars, colours, rounded, table

from hta_sql import plot


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
    assert figure.layout.yaxis.title.text == "time, ms"
    one = plot.step_breakdown(table(f"{STEPS}\n a 0 0 7 3 1 0 5\n a 0 0 8 2 0 0 0"))
    assert list(one.data[0].x) == ["7", "8"] and one.layout.yaxis.title.text == "time, ns"


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
        a   0    0      7      queued      1000    2
        a   0    0      7      launching   400     3
        a   0    0      20     dependency  900     1
        a   0    0      20     kernel_wait 500     1
        a   0    0      20     unknown     200     1
    """)
    )
    labels = ["rank 0 stream 7", "rank 0 stream 20"]
    assert bars(figure) == {
        "waiting for the host": (labels, [3, 0]),
        "in the launch call": (labels, [0.4, 0]),
        "queued": (labels, [1, 0]),
        "waiting for another stream": (labels, [0, 0.9]),
        "between kernels": (labels, [0, 0.5]),
        "launch not known": (labels, [0, 0.2]),
    }
    assert colours(figure)["waiting for the host"] == RED
    assert len(set(colours(figure).values())) == 6
    assert list(figure.data[0].customdata) == ["3.00 µs in 1,200 gaps", "none"]


def test_idle_time_breakdown_of_version_1():
    figure = plot.idle_time_breakdown(
        table("""
        job rank device stream cause     idle_ns gap_count
        a   0    0      7      host_wait 3000    1200
        a   0    0      7      other     1000    2
    """)
    )
    labels = ["rank 0 stream 7"]
    assert bars(figure) == {"waiting for the host": (labels, [3]), "other": (labels, [1])}


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
    assert figure.layout.xaxis.title.text == "change per step and rank, µs"
    assert bar.customdata[0] == "gone<br>before: 9.00 µs in 3 calls<br>now: 0 ns in 0 calls"
    assert list(plot.diff(changes, top_k=1).data[0].y) == [0]
    counts = plot.diff(changes, counts=True)
    assert list(counts.layout.yaxis.ticktext) == ["slower", "gone"]
    assert list(counts.data[0].x) == [5, -3] and counts.layout.xaxis.title.text == "change, calls"
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


def test_category_breakdown():
    figure = plot.category_breakdown(
        table("""
        job rank device categories         time_ns
        a   0    0      memory             10
        a   0    0      gemm               50
        a   1    0      gemm               25
        a   1    0      communication+gemm 15
        a   1    0      softmax            1
    """),
        top_k=3,
    )
    [bar] = figure.data
    assert list(figure.layout.yaxis.ticktext) == ["gemm", "communication + gemm", "memory"]
    assert list(bar.x) == [75, 15, 10]
    assert list(bar.marker.color) == [BLUE, ORANGE, GREEN]
    assert bar.customdata[0] == "gemm<br>75 ns, 74.3% of busy time"


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
    assert rounded(bar.x) == [8, 6, 2, 1] and figure.layout.xaxis.title.text == "total time, ms"
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
    assert (
        bar.customdata[1] == "gemm<br>mean 2.00 µs per call<br>rank 3: 5.00 µs<br>rank 0: 1.50 µs"
    )


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
        "Shorter than their launch: 2, by duration",
        "Slow launches: 1, by duration",
        "Late activities: 1, by delay after the launch",
    ]
    assert [int(sum(bar.y)) for bar in figure.data] == [2, 1, 1]
    short = figure.data[0]
    filled = [
        (x - w / 2, x + w / 2) for x, y, w in zip(short.x, short.y, short.width, strict=True) if y
    ]
    assert len(filled) == 2
    assert filled[0][0] < 3010 < filled[0][1] + 20 and abs(filled[1][1] - 4000) < 100
