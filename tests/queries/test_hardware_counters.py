"""Cases of hardware_counters."""

import pytest
from conftest import write_archive
from queries.plans import plan

from hta_sql.archive import Archive

# [aten::conv2d==================)   [aten::relu======)
#   [aten::add_=========)              [clamp====)
#     [1)                                 [2)
#          [range 50=====)[range 51=====)
OPS = """
    event_id  cat           name              start_ns  end_ns  step  parent_id  op_id
    10        cpu_op        aten::conv2d      0         31      1     -          -
    11        Operator      aten::add_        2         22      1     10         10
    1         cuda_runtime  cudaLaunchKernel  4         8       1     11         11
    20        cpu_op        aten::relu        35        52      2     -          -
    21        cpu_op        clamp             37        47      2     20         20
    2         cuda_driver   cuLaunchKernelEx  40        44      2     21         21
    3         cuda_runtime  cudaMemcpyAsync   60        64      2     -          -
"""
RANGES = """
    event_id  cat                  name  start_ns  dur_ns  args
    50        cuda_profiler_range  k     9         15      {"mul":4,"add":2.5}
    51        cuda_profiler_range  -     24        15      {"mul":6}
    52        kernel               k     9         15      {"mul":9}
"""


def test_counters_and_the_operators_around_their_launch(gpu):
    gpu.expect(
        "hardware_counters",
        """
        job  rank  event_id  counter  value  kernel  start_ns  dur_ns  launch_id  step
        j    0     50        add      2.5    k       9         15      1          1
        j    0     50        mul      4      k       9         15      1          1
        j    0     51        mul      6      -       24        15      2          2
    """,
        ops=OPS,
        events=RANGES,
    )
    gpu.expect(
        "hardware_counters",
        """
        event_id  counter  top_op        bottom_op   op_stack
        50        add      aten::conv2d  aten::add_  aten::conv2d;aten::add_
        50        mul      aten::conv2d  aten::add_  aten::conv2d;aten::add_
        51        mul      aten::relu    clamp       aten::relu;clamp
    """,
        ops=OPS,
        events=RANGES,
    )


def test_a_launch_inside_a_launch_is_none_of_its_own(gpu):
    """The runtime's call has the driver's in it, under one correlation id."""
    ops = """
        event_id  cat           name              start_ns  end_ns  correlation
        1         cuda_runtime  cudaLaunchKernel  5         9       7
        2         cuda_driver   cuLaunchKernel    6         8       7
        3         cuda_driver   cuLaunchKernel    20        22      8
    """
    gpu.expect(
        "hardware_counters",
        """
        event_id  counter  launch_id
        50        add      1
        50        mul      1
        51        mul      3
    """,
        ops=ops,
        events=RANGES,
    )


@pytest.mark.parametrize(
    "ops",
    [
        "",
        OPS + "    4  cuda_runtime  cudaLaunchKernel  70  71  2  -  -\n",
        OPS.replace("cuLaunchKernelEx", "cudaGraphLaunch "),
    ],
)
def test_other_numbers_of_launches_tell_nothing(gpu, ops):
    gpu.expect(
        "hardware_counters",
        """
        event_id  counter  value  launch_id  step  top_op  bottom_op  op_stack
        50        add      2.5    -          -     -       -          -
        50        mul      4      -          -     -       -          -
        51        mul      6      -          -     -       -          -
    """,
        ops=ops,
        events=RANGES,
    )


@pytest.mark.parametrize(
    ("cat", "name", "launches"),
    [
        ("cuda_runtime", "cudaLaunchKernel", True),
        ("cuda_runtime", "cudaLaunchKernelExC", True),
        ("cuda_runtime", "cudaLaunchCooperativeKernel", True),
        ("cuda_driver", "cuLaunchKernel", True),
        ("cuda_runtime", "hipExtModuleLaunchKernel", True),
        ("Runtime", "hipLaunchKernel", True),
        ("cuda_runtime", "cudaGraphLaunch", False),
        ("cuda_runtime", "cudaLaunchHostFunc", False),
        ("cpu_op", "cudaLaunchKernel", False),
        ("user_annotation", "cudaLaunchKernel", False),
    ],
)
def test_calls_that_launch_a_kernel(gpu, cat, name, launches):
    gpu.expect(
        "hardware_counters",
        f"""
        event_id  launch_id
        50        {1 if launches else "-"}
    """,
        ops=f"""
        event_id  cat    name    start_ns  end_ns
        1         {cat}  {name}  0         5
    """,
        events="""
        event_id  cat                  start_ns  dur_ns  args
        50        cuda_profiler_range  1         2       {"n":1}
    """,
    )


def test_by_start_and_then_id(gpu):
    # Launches 3, 1, 2; ranges 52, 50, 51; neither by thread nor by id.
    gpu.expect(
        "hardware_counters",
        """
        event_id  launch_id  op_stack
        52        3          third
        50        1          -
        51        2          -
    """,
        ops="""
        event_id  cat           name              start_ns  end_ns  tid  op_id
        1         cuda_runtime  cudaLaunchKernel  20        21      1    -
        2         cuda_runtime  cudaLaunchKernel  20        21      2    -
        3         cuda_runtime  cudaLaunchKernel  10        21      -    4
        4         cpu_op        third             9         30      -    -
    """,
        events="""
        event_id  cat                  start_ns  dur_ns  args
        50        cuda_profiler_range  5         0       {"n":1}
        51        cuda_profiler_range  5         2       {"n":1}
        52        cuda_profiler_range  4         2       {"n":1}
    """,
    )


def test_one_operator_and_several_launches_in_it(gpu):
    gpu.expect(
        "hardware_counters",
        """
        event_id  launch_id  top_op  bottom_op  op_stack
        50        1          mm      mm         mm
        51        2          mm      mm         mm
    """,
        ops="""
        event_id  cat           name              start_ns  end_ns  op_id
        9         cpu_op        mm                0         50      -
        1         cuda_runtime  cudaLaunchKernel  20        21      9
        2         cuda_runtime  cudaLaunchKernel  22        23      9
    """,
        events="""
        event_id  cat                  start_ns  dur_ns  args
        50        cuda_profiler_range  5         1       {"n":1}
        51        cuda_profiler_range  6         1       {"n":1}
    """,
    )


def test_ranks_are_apart(gpu):
    # The same ids on three ranks; the second has one launch too many, the third none.
    gpu.expect(
        "hardware_counters",
        """
        job  rank  event_id  value  launch_id  op_stack
        j    0     50        1      1          a
        j    1     50        2      -          -
        k    0     50        3      -          -
    """,
        ops="""
        job  rank  event_id  cat           name              start_ns  end_ns  op_id
        j    0     9         cpu_op        a                 0         50      -
        j    0     1         cuda_runtime  cudaLaunchKernel  20        21      9
        j    1     9         cpu_op        b                 0         50      -
        j    1     1         cuda_runtime  cudaLaunchKernel  20        21      9
        j    1     2         cuda_runtime  cudaLaunchKernel  22        23      9
        l    0     1         cuda_runtime  cudaLaunchKernel  22        23      9
    """,
        events="""
        job  rank  event_id  cat                  start_ns  dur_ns  args
        j    0     50        cuda_profiler_range  5         1       {"n":1}
        j    1     50        cuda_profiler_range  5         1       {"n":2}
        k    0     50        cuda_profiler_range  5         1       {"n":3}
    """,
    )


@pytest.mark.parametrize(
    ("only", "kept"),
    [
        ({}, [50, 50, 51]),
        ({"only_jobs": ["j"]}, [50, 50, 51]),
        ({"only_jobs": ["k"]}, []),
        ({"only_ranks": [1]}, []),
        # All ranges and launches are counted, whichever steps are selected.
        ({"only_steps": [1]}, [50, 50]),
        ({"only_steps": [2, 3]}, [51]),
        ({"only_steps": []}, []),
    ],
)
def test_selection(gpu, only, kept):
    gpu.fill(host_ops=OPS, events=RANGES)
    rows = gpu.run("hardware_counters", **only)
    assert [row["event_id"] for row in rows] == kept
    assert all(row["op_stack"] for row in rows)


def test_ranges_without_a_launch_are_in_no_step(gpu):
    gpu.fill(events=RANGES)
    assert len(gpu.run("hardware_counters")) == 3
    assert gpu.run("hardware_counters", only_steps=[1, 2]) == []


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ('{"a": 1, "b": -2.5, "c": 0}', {"a": 1, "b": -2.5, "c": 0}),
        ('{"a": "1", "b": true, "c": null, "d": [1], "e": {"f": 1}}', {}),
        ('{"a": NaN, "b": Infinity, "c": -Infinity, "d": 1e999, "e": 1}', {"e": 1}),
        (
            '{"a": 18446744073709551615, "b": 123456789012345678901234567890}',
            {"a": 2.0**64, "b": 123456789012345678901234567890.0},
        ),
        ('{"x.y/~0\\"$[0]": 1, "": 2, "0": 3}', {'x.y/~0"$[0]': 1, "": 2, "0": 3}),
        ('{"a": 1, "a": 2, "a": "3"}', {"a": 2}),
        ("{}", {}),
        ("[1, 2]", {}),
        ("5", {}),
        ("null", {}),
        ("{broken", {}),
        ("", {}),
        (None, {}),
    ],
)
def test_which_arguments_are_counters(gpu, args, found):
    gpu.fill(
        events=[
            {"event_id": 1, "cat": "cuda_profiler_range", "start_ns": 0, "dur_ns": 1, "args": args}
        ]
    )
    rows = gpu.run("hardware_counters")
    assert {row["counter"]: row["value"] for row in rows} == found
    assert len(rows) == len(found)


@pytest.mark.parametrize("ph", ["i", "b", "C"])
def test_only_spans(gpu, ph):
    gpu.fill(
        events=[
            {
                "event_id": 1,
                "ph": ph,
                "cat": "cuda_profiler_range",
                "start_ns": 0,
                "args": '{"n": 1}',
            }
        ]
    )
    assert gpu.run("hardware_counters") == []


def test_operators_without_a_name(gpu):
    ops = """
        event_id  cat           name              start_ns  end_ns  op_id
        8         cpu_op        -                 0         90      -
        9         cpu_op        mm                0         50      8
        1         cuda_runtime  cudaLaunchKernel  20        21      9
    """
    events = """
        event_id  cat                  start_ns  dur_ns  args
        50        cuda_profiler_range  5         1       {"n":1}
    """
    gpu.expect(
        "hardware_counters",
        """
        event_id  bottom_op  op_stack
        50        mm         ;mm
    """,
        ops=ops,
        events=events,
    )


def test_only_files_of_selected_ranks_are_read(tmp_path):
    spans = [
        {
            "rank": rank,
            "event_id": at,
            "start_ns": at,
            "dur_ns": 1,
            "ph": "X",
            "cat": "cuda_profiler_range",
            "args": '{"n": 1}',
        }
        for rank in range(4)
        for at in range(3)
    ]
    calls = [
        {
            "rank": rank,
            "event_id": at + 10,
            "start_ns": at,
            "dur_ns": 1,
            "cat": "cuda_runtime",
            "name": "cudaLaunchKernel",
        }
        for rank in range(4)
        for at in range(3)
    ]
    with Archive(write_archive(tmp_path / "archive", events=spans, host_ops=calls)) as archive:
        read = [
            node["extra_info"]["Scanning Files"].split("/")[0]
            for node in plan(archive.con, "FROM hardware_counters_v1(only_ranks := [1, 2])")
            if "File Filters" in node["extra_info"]
        ]
        assert read == ["2", "2"]
        assert archive.hardware_counters(only_ranks=[1, 2]).num_rows == 6


def test_nothing(gpu):
    gpu.expect(
        "hardware_counters",
        """
        job  rank  event_id  counter
    """,
        ops=OPS,
    )
