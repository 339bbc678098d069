"""thread_stats: what threads launched, and the time of steps."""


def test_what_threads_launched(host):
    # 0         10        20
    # [======)                  device 0, stream 7
    #    [========)             device 1, of the same launch
    #      |                    no length
    #                 [==)     no device known
    host.expect(
        "thread_stats",
        """
        pid  tid  runtime_count  launch_count  kernel_count  kernel_ns  kernel_busy_ns
        1    1    3              3             4             19         15
        1    2    1              1             1             9          9
        2    1    1              0             0             0          0
        -    1    1              1             1             5          5
    """,
        ops="""
        event_id  pid  tid  cat           start_ns  dur_ns
        1         1    1    cuda_runtime  0         4
        2         1    1    cuda_driver   10        4
        3         1    1    cuda_runtime  20        4
        4         1    2    cuda_runtime  0         3
        5         2    1    cuda_runtime  0         2
        6         -    1    cuda_runtime  0         2
    """,
        activities="""
        launch_id  launch_pid  launch_tid  device  stream  start_ns  end_ns
        1          1           1           0       7       0         7
        1          1           1           1       7       3         12
        2          1           1           0       -       5         5
        3          1           1           -       7       17        20
        4          1           2           0       7       0         9
        6          -           1           0       7       0         5
        -          -           -           0       7       0         30
        -          1           1           0       7       0         30
    """,
    )


def test_time_of_steps(host):
    # step     1              2              3
    # python   [ loop                                  )     begun before all
    # note       [ one       )[ two          )
    # op           [ late                 )                  begun in 1, crosses one
    # op              [)       [)                            of 1 and 2
    ops = """
        event_id  step  cat              name  start_ns  end_ns  parent_id  cut_ns
        1         -     python_function  loop  0         60      -          -
        2         1     user_annotation  one   3         20      1          6
        3         1     cpu_op           late  6         30      1          20
        4         1     cpu_op           op    8         10      3          -
        5         2     user_annotation  two   20        45      1          -
        6         2     cpu_op           op    22        25      5          -
        7         3     cuda_runtime     call  40        44      5          -
    """
    activities = """
        launch_id  launch_pid  launch_tid  step  start_ns  dur_ns
        4          1           1           1     0         1
        6          1           1           2     5         2
        7          1           1           3     9         4
    """
    host.expect(
        "thread_stats",
        """
        start_ns  span_ns  busy_ns  annotation_ns  operator_ns  python_ns  op_count  kernel_ns
        3         27       17       3              14           0          2         1
    """,
        ops=ops,
        activities=activities,
        only_steps=[1],
    )
    host.expect(
        "thread_stats",
        """
        start_ns  span_ns  busy_ns  annotation_ns  operator_ns  runtime_ns  op_count  kernel_ns
        20        25       25       18             3            4           1         6
    """,
        ops=ops,
        activities=activities,
        only_steps=[2, 3],
    )
    host.expect(
        "thread_stats",
        """
        start_ns  span_ns  busy_ns  annotation_ns  operator_ns  python_ns  op_count  kernel_ns
        0         60       60       21             17           18         3         7
    """,
        ops=ops,
        activities=activities,
    )


def test_a_thread_without_spans_in_the_steps_has_no_row(host):
    ops = """
        tid  step  start_ns  dur_ns
        1    1     0         2
        2    2     0         4
        3    -     0         8
    """
    host.expect(
        "thread_stats",
        """
        tid  busy_ns
        2    4
    """,
        ops=ops,
        only_steps=[2],
    )
    host.expect(
        "thread_stats",
        """
        tid  busy_ns
    """,
        ops=ops,
        only_steps=[4],
    )


def test_the_busiest_thread_comes_first(host):
    ops = """
        job  rank  pid  tid  event_id  start_ns  dur_ns  parent_id
        j    1     1    2    1         0         5       -
        j    1     1    10   2         0         5       -
        j    1     1    -    3         0         5       -
        j    1     1    3    4         0         9       -
        j    1     1    3    5         0         9       4
        j    0     2    1    1         0         1       -
        i    1     2    1    1         0         2       -
        i    1     2    2    4         0         3       -
    """
    host.expect(
        "thread_stats",
        """
        job  rank  pid  tid  busy_ns
        i    1     2    2    3
        i    1     2    1    2
        j    0     2    1    1
        j    1     1    3    9
        j    1     1    10   5
        j    1     1    2    5
        j    1     1    -    5
    """,
        ops=ops,
    )
    host.expect(
        "thread_stats",
        """
        job  rank  tid
        j    0     1
    """,
        ops=ops,
        only_jobs=["j"],
        only_ranks=[0, 7],
    )


def test_nothing_at_all(host):
    host.fill()
    assert host.run("thread_stats") == []
    host.fill("""
        launch_id  launch_pid  launch_tid  start_ns  dur_ns
        1          1           1           0         1
    """)
    assert host.run("thread_stats") == []
