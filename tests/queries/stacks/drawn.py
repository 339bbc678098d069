"""Drawn stacks."""

# 0         10        20        30        40
# [= 1 step ==============================)       main thread
#  [2 linear)                                     a module
#    [3 addmm)
#      [4)                                        launches 104
#                [= 5 ## backward ## ========)
#                  [6)                            of the main thread
#                    [= 7 evaluate =====)         autograd thread
#                      [= 8 mm ====)
#                        [9)  [10)                launch 109 and 110
#                                          [11)   in another step
STEP = """
    event_id  cat              name            tid  start_ns  end_ns  step  depth  parent_id  root_id  caller_id  forward_id  stack_hash
    1         user_annotation  step            1    0         44      5     0      -          1        -          -           1
    2         python_function  linear          1    1         13      5     1      1          1        -          -           12
    3         cpu_op           addmm           1    3         12      5     2      2          1        -          -           123
    4         cuda_runtime     launch          1    5         8       5     3      3          1        -          -           1234
    5         user_annotation  ##~backward~##  1    15        43      5     1      1          1        -          -           15
    6         cpu_op           ones            1    17        20      5     2      5          1        -          -           156
    7         cpu_op           evaluate        2    19        39      5     0      -          7        5          3           7
    8         cpu_op           mm              2    21        35      5     1      7          7        -          3           78
    9         cuda_runtime     launch          2    23        26      5     2      8          7        -          3           789
    10        cuda_runtime     launch          2    28        31      5     2      8          7        -          3           789
    11        cpu_op           later           1    46        50      6     0      -          11       -          -           11
"""  # noqa: E501 - as wide as it is


THREE = """
    event_id  name   short_name  start_ns  dur_ns  launch_id  step
    104       gemm   gemm        20        10      4          5
    109       gemm   gemm        40        7       9          5
    110       k<1>   k           50        5       10         5
    111       alone  alone       60        2       -          -
"""


def related(host, of_event, **given):
    """(relation, event_id) of each row."""
    rows = host.run("call_stack", of_event=of_event, **given)
    return [(row["relation"], row["event_id"]) for row in rows]


def folded(host, **given):
    return {row["stack"]: row["weight_ns"] for row in host.run("folded_stacks", **given)}
