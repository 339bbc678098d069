"""Drawn operators."""

# 0         10        20        30        40
# [=======================================)          1 aten::linear
#     [=================)                            2 aten::mm
#            [==)              [==)                  3 and 5, launches
#                  [=======)         [===)           101 and 102, on the GPU
LINEAR = """
    event_id  cat           name          start_ns  end_ns  parent_id  op_id  depth
    1         cpu_op        aten::linear  0         40      -          -      0
    2         cpu_op        aten::mm      4         22      1          1      1
    3         cuda_runtime  launch        11        14      2          2      2
    5         cuda_runtime  launch        30        33      1          1      1
"""


OF_LINEAR = """
    event_id  launch_id  op_id  start_ns  end_ns
    101       3          2      18        26
    102       5          1      36        40
"""


def kernels(host, **parameters):
    """num_kernels of each call by its event_id."""
    return {row["event_id"]: row["num_kernels"] for row in host.run("op_calls", **parameters)}
