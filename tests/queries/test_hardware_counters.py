"""hardware_counters: ranges and the operators around their launch."""

import pytest
from queries.counters import OPS, RANGES


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
