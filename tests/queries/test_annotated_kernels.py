"""annotated_kernels: by launch, else by stream."""

from queries.annotations import ANNOTATION, FOUR, GPU_ANNOTATION, OF_GPU, STEP_AND_LOSS, paths


def test_by_launch_else_by_stream(gpu):
    gpu.expect(
        "annotated_kernels",
        """
        job  rank  event_id  device  stream  kind         name  start_ns  dur_ns  step
        j    0     101       0       7       computation  k1    3         3       5
        j    0     102       0       7       computation  k2    9         3       5
        j    0     103       0       7       computation  k3    14        3       6
        j    0     104       0       7       computation  k4    20        5       5
    """,
        activities=FOUR,
        ops=STEP_AND_LOSS,
        events=OF_GPU,
    )
    gpu.expect(
        "annotated_kernels",
        """
        event_id  annotation  annotation_path  annotation_source
        101       step        step             host
        102       loss        step;loss        host
        103       step        step             gpu
        104       step        step             host
    """,
        activities=FOUR,
        ops=STEP_AND_LOSS,
        events=OF_GPU,
    )


def test_the_launch_decides_wherever_it_runs(gpu):
    # k2 runs long after loss on the GPU, in what is another annotation there
    gpu.expect(
        "annotated_kernels",
        """
        annotation_path  annotation_source
        step;loss        host
    """,
        activities="""
        start_ns  end_ns  annotation_id
        50        60      2
    """,
        ops=STEP_AND_LOSS,
        events=OF_GPU
        + """
        14        gpu_user_annotation  other  0    7    40        70      -
    """,
    )


def over_stream(gpu, spans, activities):
    """Paths of activities without a launch, under GPU annotations a, b, c ... on their stream."""
    gpu.fill(
        [
            {"event_id": 100 + i, "start_ns": start, "end_ns": end}
            for i, (start, end) in enumerate(activities)
        ],
        events=[
            GPU_ANNOTATION | {"event_id": i, "name": name, "start_ns": start, "end_ns": end}
            for i, (name, start, end) in enumerate(spans)
        ],
    )
    assert gpu.broken_promises("annotated_kernels") == []
    return [path for _, (path, _) in sorted(paths(gpu).items())]


def test_innermost_on_the_stream(gpu):
    # 0         10        20        30
    # [a================)        [d==)
    #    [b========)
    #       [c=)
    spans = [("a", 0, 19), ("b", 3, 14), ("c", 6, 10), ("d", 27, 31)]
    assert over_stream(
        gpu,
        spans,
        [(0, 2), (3, 6), (6, 10), (6, 11), (9, 15), (14, 19), (18, 20), (19, 21), (27, 31)],
    ) == ["a", "a;b", "a;b;c", "a;b", "a", "a", None, None, "d"]


def test_before_and_between_annotations(gpu):
    assert (
        over_stream(
            gpu,
            [("a", 10, 20), ("b", 30, 40)],
            [(0, 5), (5, 10), (9, 12), (20, 30), (25, 26), (39, 41), (40, 41), (99, 100)],
        )
        == [None] * 8
    )


def test_spans_are_half_open(gpu):
    # An activity of no length is in what begins at its instant, not in what ends there; an
    # annotation of no length is around nothing.
    assert over_stream(gpu, [("a", 0, 5), ("b", 5, 9), ("c", 5, 5)], [(0, 0), (5, 5), (9, 9)]) == [
        "a",
        "b",
        None,
    ]


def test_annotations_that_cross(gpu):
    # 0         10        20
    # [a==========)
    #      [b============)
    #          [c=)           in both; b does not contain a, nor a b
    spans = [("a", 0, 13), ("b", 5, 20), ("c", 9, 13)]
    assert over_stream(gpu, spans, [(5, 8), (9, 12), (9, 14), (2, 6), (2, 14)]) == [
        "b",
        "a;b;c",
        "b",
        "a",
        None,
    ]


def test_of_equal_starts_the_shorter(gpu):
    spans = [("short", 0, 5), ("long", 0, 9), ("middle", 0, 7)]
    assert over_stream(gpu, spans, [(0, 5), (0, 6), (4, 8)]) == [
        "long;middle;short",
        "long;middle",
        "long",
    ]


def test_of_equal_spans_the_higher_event_id(gpu):
    spans = [("a", 0, 5), ("b", 0, 5), ("in", 1, 3)]
    assert over_stream(gpu, spans, [(0, 4), (1, 2)]) == ["a;b", "a;b;in"]
    assert over_stream(gpu, [spans[1], spans[0]], [(0, 4)]) == ["b;a"]


def test_each_stream_by_itself(gpu):
    # Device and stream of the arguments win over pid and tid; unknown ones are equal.
    gpu.expect(
        "annotated_kernels",
        """
        rank  device  stream  annotation
        0     0       7       args
        0     0       8       tid
        0     1       7       -
        0     -       -       unknown
        0     0       -       device
        1     0       7       rank
        2     0       7       -
    """,
        activities="""
        rank  event_id  device  stream  start_ns  end_ns
        0     1         0       7       10        11
        0     2         0       8       10        11
        0     3         1       7       10        11
        0     4         -       -       10        11
        0     5         0       -       10        11
        1     6         0       7       10        11
        2     7         0       7       10        11
    """,
        events="""
        rank  cat                  ph  name     pid  tid  device  stream  start_ns  end_ns
        0     gpu_user_annotation  X   args     3    4    0       7       0         20
        0     gpu_user_annotation  X   tid      0    8    -       -       0         20
        0     gpu_user_annotation  X   unknown  p    t    -       -       0         20
        0     gpu_user_annotation  X   device   0    t    -       -       0         20
        1     gpu_user_annotation  X   rank     0    7    -       -       0         20
        0     gpu_user_annotation  i   instant  1    7    -       -       0         -
        0     user_annotation      X   host     1    7    -       -       0         20
    """,
    )


def test_only_activities_are_selected(gpu):
    gpu.fill(FOUR, STEP_AND_LOSS, OF_GPU)
    assert paths(gpu, only_steps=[6]) == {103: ("step", "gpu")}
    assert paths(gpu, only_steps=[5], name_contains="k2") == {102: ("step;loss", "host")}
    assert paths(gpu, name_contains="K") == paths(gpu, only_steps=[]) == {}
    assert paths(gpu, only_ranks=[1]) == paths(gpu, only_jobs=["i"]) == {}
    assert len(paths(gpu, only_ranks=[0], only_jobs=["j"])) == 4


def test_in_order_of_events(gpu):
    gpu.expect(
        "annotated_kernels",
        """
        job  rank  event_id
        i    3     8
        j    2     5
        j    2     6
        j    2     9
        j    10    7
    """,
        activities="""
        job  rank  event_id  start_ns  end_ns
        j    10    7         0         1
        j    2     6         4         9
        j    2     5         4         6
        i    3     8         7         8
        j    2     9         3         20
    """,
    )


def test_annotations_without_a_name(gpu):
    gpu.fill(
        [
            {"event_id": 1, "stream": 7, "start_ns": 0, "end_ns": 1, "annotation_id": 11},
            {"event_id": 2, "stream": 8, "start_ns": 0, "end_ns": 1},
        ],
        [ANNOTATION | {"event_id": 11, "name": None, "start_ns": 0, "end_ns": 9}],
        [
            GPU_ANNOTATION | {"event_id": 12, "name": "a", "start_ns": 0, "end_ns": 9},
            GPU_ANNOTATION | {"event_id": 13, "name": None, "tid": "8", "start_ns": 0, "end_ns": 9},
        ],
    )
    assert [
        (row["annotation"], row["annotation_source"]) for row in gpu.run("annotated_kernels")
    ] == [(None, "host"), (None, "gpu")]
    [row] = gpu.run("annotation_stats", source="host")
    assert (row["name"], row["gpu_busy_ns"]) == (None, 1)
    for query in ("annotated_kernels", "annotation_stats"):
        assert gpu.broken_promises(query) == []


def test_nothing_at_all(gpu):
    gpu.fill()
    assert gpu.run("annotated_kernels") == gpu.run("annotation_stats") == []
    assert gpu.run("annotation_stats", source="host") == []
    gpu.fill(host_ops=STEP_AND_LOSS)
    assert gpu.run("annotated_kernels") == gpu.run("annotation_stats") == []
