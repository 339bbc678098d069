"""Drawn ranges with counters."""

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
