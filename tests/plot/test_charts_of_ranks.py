"""Charts of series, ranks and paths over small tables."""

import pyarrow as pa
import pyarrow.compute as pc
from plot.figures import RED, bars, rounded, table

from hta_sql import plot

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
    assert figure.layout.xaxis.title.text == "time from the first point, µs"
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
    assert figure.layout.xaxis.title.text == "time from the first activity, µs"
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
        "others wait for this rank": (labels, [1, 0, 0]),
        "this rank waits for others": (labels, [-4, 0, 0]),
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
    assert list(allreduce.customdata) == [
        "process group pg1, 5 collectives",
        "process group -, 6 collectives",
    ]
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
    assert bars(figure) == {
        "GPU kernels and copies": (labels, [75, 0]),
        "host": (labels, [25, 100]),
    }
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
    assert figure.layout.xaxis.title.text == "time from the first change, ms"
    of_cpu = """
        job rank device at_ns   allocated_bytes  reserved_bytes
        a   0    -1     2000000 9007199254740993 -
    """
    [line] = plot.memory_timeline(table(of_cpu)).data  # a column of NULLs has no type here
    assert list(line.y) == [2**53 + 1]


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
    assert matmul.customdata[0] == "mm<br>[[2,2]]<br>400 ns in 4 calls, 50 % of the roofline"


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


def test_flame_graph_of_a_server():
    """Steps have one frame, although each of them has a name of its own."""
    figure = plot.flame_graph(
        pa.table(
            {
                "stack": [f"execute_context_0(0)_generation_{n}({n});f" for n in range(2000)],
                "weight_ns": [1] * 2000,
            }
        )
    )
    assert list(figure.data[0].labels) == ["all", "execute", "f"]


def test_flame_graph_of_deep_and_thin_stacks():
    deep = ";".join(f"f{depth}" for depth in range(5000))
    figure = plot.flame_graph(pa.table({"stack": [deep, "thin"], "weight_ns": [10**6, 10]}))
    assert len(figure.data[0].labels) == 5001 and "thin" not in figure.data[0].labels


def test_a_single_part_is_named():
    """Plotly alone would not say what the one colour means."""
    one = table("job rank device stream cause idle_ns gap_count\n a 0 0 7 other 1000 2")
    assert plot.idle_time_breakdown(one).layout.showlegend is True
