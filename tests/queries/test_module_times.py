"""module_stats: busy time, and what is computed again."""

# Of some activities, on whatever device and stream:
#
#   0         10        20
#   [======)                  of L, forward
#      [========)             of L, forward
#          |                  of L, forward, no length
#               [==)          of M, forward; begins where the other ends
#          [===)              of L, backward
OVERLAPPING = """
    device  stream  launch_id  start_ns  end_ns
    0       7       6          0         7
    1       -       6          3         12
    -       7       6          7         7
    0       7       5          12        15
    0       7       7          7         11
"""


def test_busy_time_is_a_union_of_each_pass(host):
    host.expect(
        "module_stats",
        """
        module  forward_kernel_ns  forward_busy_ns  backward_busy_ns  forward_self_kernel_count
        M       19                 15               4                 1
        M/L     16                 12               4                 3
    """,
        ops="""
        event_id  cat              name          start_ns  end_ns  module_id  is_backward
        1         python_function  nn.Module:~M  0         20      -          false
        2         python_function  nn.Module:~L  2         12      1          -
        5         cuda_runtime     launch        1         2       1          false
        6         cuda_runtime     launch        3         4       2          -
        7         cuda_runtime     launch        5         6       2          true
    """,
        activities=OVERLAPPING,
    )


def test_time_in_two_modules_that_cross_counts_once(host):
    # M [                  )
    #   [ A [....)  B )       of 2 + 6 + 4 ns in another module
    host.expect(
        "module_stats",
        """
        module  host_total_ns  host_self_ns
        M       20             8
        M/A     8              8
        M/B     10             10
    """,
        ops="""
        event_id  cat              name          start_ns  end_ns  module_id
        1         python_function  nn.Module:~M  0         20      -
        2         python_function  nn.Module:~A  2         10      1
        3         python_function  nn.Module:~B  4         14      1
    """,
    )


# A checkpointed Block_1 in Model_0: its forward pass, and again in the backward pass, where the
# autograd thread calls it out of nothing.
CHECKPOINT = """
    event_id  cat              name                tid  start_ns  end_ns  module_id  is_backward
    1         python_function  nn.Module:~Model_0  1    0         30      -          false
    2         python_function  nn.Module:~Block_1  1    5         25      1          false
    3         python_function  nn.Module:~Linear_2 1    10        20      2          false
    4         python_function  nn.Module:~Block_1  2    40        60      -          true
    5         python_function  nn.Module:~Linear_2 2    45        55      4          true
    6         cuda_runtime     launch              2    46        47      5          true
    7         cuda_runtime     launch              2    56        57      4          true
"""


RECOMPUTED = """
    launch_id  start_ns  dur_ns
    6          100       1
    7          110       2
"""


def test_what_is_computed_again_counts_where_it_was_before(host):
    host.expect(
        "module_stats",
        """
        module                    count  host_total_ns  forward_kernel_ns  backward_kernel_ns
        Model_0                   1      30             0                  3
        Model_0/Block_1           2      40             0                  3
        Model_0/Block_1/Linear_2  2      20             0                  1
    """,
        ops=CHECKPOINT,
        activities=RECOMPUTED,
    )


def test_the_last_call_before_tells_the_place(host):
    # Block_1 is called in Model_0, then in Model_8, then in none, each time before it is again.
    host.expect(
        "module_stats",
        """
        module           count  backward_kernel_ns
        Model_0          1      1
        Model_0/Block_1  2      1
        Model_8          1      6
        Model_8/Block_1  3      6
        Block_1          2      8
    """,
        ops="""
        event_id  cat              name                start_ns  end_ns  module_id  is_backward
        1         python_function  nn.Module:~Model_0  0         10      -          false
        2         python_function  nn.Module:~Block_1  1         9       1          false
        3         python_function  nn.Module:~Block_1  10        20      -          true
        4         python_function  nn.Module:~Model_8  20        30      -          false
        5         python_function  nn.Module:~Block_1  21        29      4          false
        6         python_function  nn.Module:~Block_1  30        40      -          true
        7         python_function  nn.Module:~Block_1  40        50      -          true
        8         python_function  nn.Module:~Block_1  50        60      -          false
        9         python_function  nn.Module:~Block_1  60        70      -          true
        13        cuda_runtime     launch              11        12      3          true
        16        cuda_runtime     launch              31        32      6          true
        17        cuda_runtime     launch              41        42      7          true
        19        cuda_runtime     launch              61        62      9          true
    """,
        activities="""
        launch_id  start_ns  dur_ns
        13         0         1
        16         10        2
        17         20        4
        19         30        8
    """,
    )


def test_what_is_only_called_in_a_backward_pass_is_outermost(host):
    host.expect(
        "module_stats",
        """
        rank  module   count
        0     Top      1
        0     Top/Lin  1
        1     Lin      1
    """,
        ops="""
        rank  event_id  cat              name             start_ns  end_ns  is_backward  module_id
        0     1         python_function  nn.Module:~Top   0         30      false        -
        0     2         python_function  nn.Module:~Lin   5         25      false        1
        1     4         python_function  nn.Module:~Lin   40        60      true         -
    """,
    )
