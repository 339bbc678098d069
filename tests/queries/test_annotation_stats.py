"""annotation_stats: figures of annotations of the GPU and of the host."""

from queries.annotations import FOUR, OF_GPU, STEP_AND_LOSS


def test_of_the_gpu(gpu):
    gpu.expect(
        "annotation_stats",
        """
        job  rank  name  count  total_ns  mean_ns  min_ns  max_ns  stddev_ns  gpu_busy_ns
        j    0     step  1      22        22       22      22      0          -
        j    0     loss  1      3         3        3       3       0          -
    """,
        activities=FOUR,
        ops=STEP_AND_LOSS,
        events=OF_GPU,
    )


def test_of_the_host(gpu):
    # 3 + 3 + 5 launched in step, 3 of these in loss; k3 in neither
    gpu.expect(
        "annotation_stats",
        """
        job  rank  name  count  total_ns  mean_ns  min_ns  max_ns  stddev_ns  gpu_busy_ns
        j    0     step  1      26        26       26      26      0          11
        j    0     loss  1      10        10       10      10      0          3
    """,
        activities=FOUR,
        ops=STEP_AND_LOSS,
        events=OF_GPU,
        source="host",
    )


def test_figures_are_of_single_annotations(gpu):
    # 10, 30 and 35: mean 25, sample deviation the root of (15² + 5² + 10²) / 2, 13.2
    ops = """
        cat              name  start_ns  dur_ns
        user_annotation  a     0         10
        user_annotation  b     5         1
        user_annotation  a     7         30
        user_annotation  b     8         2
        user_annotation  a     90        35
        user_annotation  c     91        0
    """
    wanted = """
        name  count  total_ns  mean_ns  min_ns  max_ns  stddev_ns
        a     3      75        25       10      35      13
        b     2      3         2        1       2       1
        c     1      0         0        0       0       0
    """
    gpu.expect("annotation_stats", wanted, ops=ops, source="host")
    gpu.expect(
        "annotation_stats", wanted, events=ops.replace("user_annotation", "gpu_user_annotation")
    )


def test_only_annotations_are_measured(gpu):
    gpu.expect(
        "annotation_stats",
        """
        name  count
        a     1
    """,
        events="""
        cat                  ph  name  start_ns  dur_ns
        gpu_user_annotation  X   a     0         1
        gpu_user_annotation  i   a     0         -
        user_annotation      X   a     0         1
        kernel               X   a     0         1
    """,
    )
    gpu.expect(
        "annotation_stats",
        """
        name  count
        a     1
    """,
        ops="""
        cat              name  start_ns  dur_ns
        user_annotation  a     0         1
        cpu_op           a     0         1
        python_function  a     0         1
        cuda_runtime     a     0         1
    """,
        source="host",
    )


def test_busy_time_is_a_union(gpu):
    # 0         10        20
    # [======)                 device 0, stream 7
    #    [========)            device 1
    #      [)                  device 0, stream 8
    #      |                   no length
    #                   [==)  and no device known
    gpu.expect(
        "annotation_stats",
        """
        name  gpu_busy_ns
        a     15
    """,
        activities="""
        device  stream  annotation_id  start_ns  end_ns
        0       7       1              0         7
        1       7       1              3         12
        0       8       1              5         6
        0       8       1              5         5
        -       -       1              18        21
        0       7       -              0         30
    """,
        ops="""
        event_id  cat              name  start_ns  end_ns
        1         user_annotation  a     0         1
    """,
        source="host",
    )


def test_a_name_counts_an_activity_once(gpu):
    # a in b in a; and another a, whose activity overlaps
    gpu.expect(
        "annotation_stats",
        """
        name  count  total_ns  gpu_busy_ns
        a     3      27        12
        b     1      8         10
    """,
        activities="""
        annotation_id  start_ns  end_ns
        3              0         10
        4              5         12
    """,
        ops="""
        event_id  cat              name  start_ns  end_ns  annotation_id
        1         user_annotation  a     0         10      -
        2         user_annotation  b     1         9       1
        3         user_annotation  a     2         9       2
        4         user_annotation  a     20        30      -
    """,
        source="host",
    )


def test_an_annotation_that_launched_nothing_was_not_busy(gpu):
    gpu.expect(
        "annotation_stats",
        """
        name   gpu_busy_ns
        empty  0
        quiet  0
    """,
        activities="""
        annotation_id  start_ns  end_ns
        2              5         5
    """,
        ops="""
        event_id  cat              name   start_ns  end_ns
        1         user_annotation  quiet  0         1
        2         user_annotation  empty  2         4
    """,
        source="host",
    )


def test_same_ids_of_other_ranks_and_jobs(gpu):
    ops = """
        job  rank  event_id  cat              name  start_ns  end_ns  annotation_id
        a    0     1         user_annotation  x     0         9       -
        a    1     1         user_annotation  y     0         8       -
        a    1     2         user_annotation  x     1         3       1
        b    0     1         user_annotation  x     0         7       -
    """
    activities = """
        job  rank  annotation_id  start_ns  end_ns
        a    0     1              0         1
        a    1     2              0         2
        b    0     1              0         4
        b    0     -              4         8
    """
    gpu.expect(
        "annotation_stats",
        """
        job  rank  name  total_ns  gpu_busy_ns
        a    0     x     9         1
        a    1     y     8         2
        a    1     x     2         2
        b    0     x     7         4
    """,
        activities=activities,
        ops=ops,
        source="host",
    )
    gpu.expect(
        "annotation_stats",
        """
        job  rank  name  gpu_busy_ns
        a    1     y     2
        a    1     x     2
    """,
        activities=activities,
        ops=ops,
        source="host",
        only_jobs=["a"],
        only_ranks=[1, 2],
    )
    gpu.expect(
        "annotated_kernels",
        """
        job  rank  annotation  annotation_path
        a    0     x           x
        a    1     x           y;x
        b    0     x           x
        b    0     -           -
    """,
        activities=activities,
        ops=ops,
    )


def test_what_is_around_is_of_the_same_rank(gpu):
    # On rank 0, 3 is in 2, which is in nothing; on rank 1 another 2 is in 1.
    gpu.expect(
        "annotation_stats",
        """
        rank  name   gpu_busy_ns
        0     one    0
        0     two    4
        0     three  4
        1     one    5
        1     two    5
    """,
        activities="""
        rank  annotation_id  start_ns  end_ns
        0     3              0         4
        1     2              0         5
    """,
        ops="""
        rank  event_id  cat              name   start_ns  end_ns  annotation_id
        0     1         user_annotation  one    0         9       -
        0     2         user_annotation  two    10        18      -
        0     3         user_annotation  three  11        13      2
        1     1         user_annotation  one    0         9       -
        1     2         user_annotation  two    1         8       1
    """,
        source="host",
    )
