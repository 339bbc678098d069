"""Cases of annotation_stats and annotated_kernels; then both on random rows, in plain Python."""

import random

import duckdb
import pytest
from click.testing import CliRunner
from queries import brute_annotations
from queries.brute_annotations import from_outer_to_inner, gpu_annotations, over, place
from queries.small_tables import DEFAULTS
from seeds import seeds

import hta_sql
from hta_sql.cli import cli
from hta_sql.errors import BadParameter

# 0         10        20
# [= step =================)           host: 1, and in it 2
#     [= loss =)
#  k1   k2          k4                 launched; k3 by another thread
#    [1)   [2) [3)    [4==)            GPU
#    [= step =============)            GPU: 11, and in it 12
#          [=)
STEP_AND_LOSS = """
    event_id  cat              name  step  start_ns  end_ns  annotation_id  external_id
    1         user_annotation  step  5     0         26      -              71
    2         user_annotation  loss  5     4         14      1              72
    3         cpu_op           mm    5     5         8       2              73
"""
OF_GPU = """
    event_id  cat                  name  pid  tid  start_ns  end_ns  external_id
    11        gpu_user_annotation  step  0    7    3         25      71
    12        gpu_user_annotation  loss  0    7    9         12      72
    13        user_annotation      step  1    1    0         26      71
"""
FOUR = """
    event_id  name  start_ns  end_ns  step  annotation_id
    101       k1    3         6       5     1
    102       k2    9         12      5     2
    103       k3    14        17      6     -
    104       k4    20        25      5     1
"""
ANNOTATION = {"cat": "user_annotation"}
GPU_ANNOTATION = {"cat": "gpu_user_annotation", "pid": "0", "tid": "7"}


def paths(gpu, **parameters):
    """event_id of each activity, its path and where that is from."""
    return {
        row["event_id"]: (row["annotation_path"], row["annotation_source"])
        for row in gpu.run("annotated_kernels", **parameters)
    }


# annotation_stats


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


def test_host_annotations_of_selected_steps(gpu):
    # Annotation 1 begins before step 5, its activity 202 is launched in it; 2 is in the step, its
    # activity 203 launched after it.
    ops = """
        event_id  cat              name   step  start_ns  end_ns  annotation_id
        1         user_annotation  epoch  -     0         90      -
        2         user_annotation  train  5     10        30      1
        3         user_annotation  train  6     40        50      1
    """
    activities = """
        event_id  step  annotation_id  start_ns  end_ns
        201       5     2              12        16
        202       5     1              17        21
        203       6     2              30        33
        204       6     3              42        43
        205       -     1              80        82
    """
    gpu.expect(
        "annotation_stats",
        """
        name   count  total_ns  gpu_busy_ns
        epoch  1      90        14
        train  2      30        8
    """,
        activities=activities,
        ops=ops,
        source="host",
    )
    gpu.expect(
        "annotation_stats",
        """
        name   count  total_ns  gpu_busy_ns
        train  1      20        4
    """,
        activities=activities,
        ops=ops,
        source="host",
        only_steps=[5],
    )
    gpu.expect(
        "annotation_stats",
        """
        name   count  gpu_busy_ns
        train  2      8
    """,
        activities=activities,
        ops=ops,
        source="host",
        only_steps=[5, 6, 7],
    )


def test_gpu_annotations_of_selected_steps(gpu):
    # The origin tells the step: 11 runs when the host is in step 6 already. 13 has no origin in the
    # trace, 14 no External id, 15's is of an operator.
    ops = """
        event_id  cat              name       step  start_ns  end_ns  external_id
        1         user_annotation  Profiler   5     0         10      70
        2         user_annotation  loss       5     2         6       71
        3         user_annotation  Profiler   6     10        20      72
        4         user_annotation  nothing    5     3         4       -
        5         cpu_op           mm         5     4         5       75
        6         user_annotation  elsewhere  -     90        91      76
    """
    events = """
        event_id  cat                  name      start_ns  end_ns  external_id
        11        gpu_user_annotation  loss      12        15      71
        12        gpu_user_annotation  Profiler  15        25      72
        13        gpu_user_annotation  lost      3         5       74
        14        gpu_user_annotation  nothing   3         5       -
        15        gpu_user_annotation  mm        3         5       75
        16        gpu_user_annotation  late      3         5       76
    """
    gpu.expect(
        "annotation_stats",
        """
        name  total_ns
        loss  3
    """,
        ops=ops,
        events=events,
        only_steps=[5],
    )
    gpu.expect(
        "annotation_stats",
        """
        name      total_ns
        Profiler  10
        loss      3
    """,
        ops=ops,
        events=events,
        only_steps=[6, 5],
    )
    gpu.fill(host_ops=ops, events=events)
    assert len(gpu.run("annotation_stats")) == 6
    assert gpu.run("annotation_stats", only_steps=[]) == []


def test_origins_are_of_the_same_rank(gpu):
    gpu.expect(
        "annotation_stats",
        """
        job  rank  name
        j    1     loss
    """,
        ops="""
        rank  cat              name  step  start_ns  end_ns  external_id
        0     user_annotation  loss  4     2         6       71
        1     user_annotation  loss  5     2         6       71
    """,
        events="""
        job  rank  cat                  name  start_ns  end_ns  external_id
        j    0     gpu_user_annotation  loss  12        15      71
        j    1     gpu_user_annotation  loss  12        15      71
        k    1     gpu_user_annotation  loss  12        15      71
    """,
        only_steps=[5],
    )


@pytest.mark.parametrize("source", ["gpu", "host"])
def test_names_that_contain_something(gpu, source):
    gpu.fill(FOUR, STEP_AND_LOSS, OF_GPU)

    def names(text):
        rows = gpu.run("annotation_stats", source=source, name_contains=text)
        return [(row["name"], row["gpu_busy_ns"]) for row in rows]

    assert names("os") == [("loss", 3 if source == "host" else None)]
    assert names("LOSS") == names("%") == []
    # What is not shown is still between: k2 was launched in loss, which is in step.
    assert names("tep") == [("step", 11 if source == "host" else None)]


@pytest.mark.parametrize("filled", [True, False])
@pytest.mark.parametrize("source", ["GPU", "cpu", "", None, "it's"])
def test_unknown_source(gpu, source, filled):
    gpu.fill(*(FOUR, STEP_AND_LOSS, OF_GPU) if filled else ())
    shown = "NULL" if source is None else f"'{source}'"
    message = f"annotation_stats: source is 'gpu' or 'host', not {shown}"
    for call in ("FROM", "SELECT count(*) FROM"):
        with pytest.raises(duckdb.InvalidInputException) as error:
            gpu.con.execute(f"{call} annotation_stats_v1(source := $source)", {"source": source})
        assert str(error.value) == f"Invalid Input Error: {message}"


def test_unknown_source_is_a_bad_parameter(tiny_archive):
    says = "annotation_stats: source is 'gpu' or 'host', not 'cpu'"
    with hta_sql.open(tiny_archive) as run, pytest.raises(BadParameter) as error:
        run.annotation_stats(source="cpu")
    assert str(error.value) == says
    for form in ("table", "csv"):
        words = ["run", "annotation_stats", str(tiny_archive), "--source", "cpu", "--format", form]
        result = CliRunner().invoke(cli, words)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.rstrip().endswith(f"Error: {says}")


# annotated_kernels


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


# Random rows

SEEDS = range(6)
JOBS = 25
UNIX = 1_712_151_111_631_234_567  # more digits than a double holds
NAMES = ("step", "loss", "ProfilerStep#1", "nccl:all_reduce")
PLACES = ((0, 7), (0, 8), (1, 7), (None, 7), (None, None))


def random_tables(rng):
    activities, ops, events = [], [], []
    for job in range(JOBS):
        base, ranks = rng.choice([0, UNIX]), rng.choice([[0], [0, 1, 3]])
        places = rng.sample(PLACES, rng.choice([1, 3]))
        longest = rng.choice([0, 4, 12, 40])
        hosts = {rank: [None] for rank in ranks}
        event_ids = {rank: iter(rng.sample(range(80), 80)) for rank in ranks}

        def row(dur_ns=None, job=job, base=base, longest=longest, event_ids=event_ids):
            rank, start_ns = rng.choice(list(event_ids)), base + rng.randint(0, 40)
            dur_ns = rng.randint(0, longest) if dur_ns is None else dur_ns
            return {
                "job": f"job{job}",
                "rank": rank,
                "event_id": next(event_ids[rank]),
                "start_ns": start_ns,
                "dur_ns": dur_ns,
                "end_ns": start_ns + dur_ns,
            }

        for _ in range(rng.choice([0, 1, 5, 12])):
            op = row()
            known = hosts[op["rank"]]
            ops.append(
                DEFAULTS["host_ops"]
                | op
                | {
                    "cat": "user_annotation",
                    "name": rng.choice(NAMES),
                    "step": rng.choice([None, 1, 2]),
                    "annotation_id": rng.choice([known[-1], rng.choice(known)]),
                    "external_id": rng.choice([None, *range(8)]),
                }
            )
            known.append(op["event_id"])
        for _ in range(rng.choice([0, 3])):
            ops.append(
                DEFAULTS["host_ops"]
                | row()
                | {"step": 1, "annotation_id": None, "external_id": rng.randrange(8)}
            )
        for _ in range(rng.choice([0, 2, 6, 20])):
            device, stream = rng.choice(places)
            given = rng.choice([True, False])  # as arguments, or as pid and tid
            events.append(
                DEFAULTS["events"]
                | row(rng.choice([None, 20, 30, 40]))
                | {
                    "cat": rng.choice(["gpu_user_annotation"] * 9 + ["user_annotation"]),
                    "ph": rng.choice("X" * 9 + "i"),
                    "name": rng.choice(NAMES),
                    "pid": "other" if given or device is None else str(device),
                    "tid": "other" if given or stream is None else str(stream),
                    "device": device if given else None,
                    "stream": stream if given else None,
                    "external_id": rng.choice([None, *range(8)]),
                }
            )
        for _ in range(rng.choice([0, 1, 6, 30])):
            device, stream = rng.choice(places)
            activity = row()
            activities.append(
                DEFAULTS["gpu_activities"]
                | activity
                | {
                    "device": device,
                    "stream": stream,
                    "name": rng.choice(["gemm", "relu"]),
                    "step": rng.choice([None, 1, 2]),
                    "annotation_id": rng.choice([None, None, rng.choice(hosts[activity["rank"]])]),
                }
            )
    return {"gpu_activities": activities, "host_ops": ops, "events": events}


def random_parameters(rng, query):
    parameters = {
        "only_jobs": [f"job{job}" for job in rng.sample(range(JOBS), 15)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [2, 12], []]),
        "name_contains": rng.choice(["gem", "e"] if query == "annotated_kernels" else ["st", "#"]),
    }
    return {name: value for name, value in parameters.items() if rng.random() < 0.4}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_rows(gpu, seed):
    rng = random.Random(seed)
    tables = random_tables(rng)
    for query, given in [
        ("annotated_kernels", {}),
        ("annotation_stats", {}),
        ("annotation_stats", {"source": "host"}),
    ]:
        for more in ({}, random_parameters(rng, query), random_parameters(rng, query)):
            wanted = list(getattr(brute_annotations, query)(*tables.values(), **given, **more))
            gpu.compare(query, wanted, tables, seed, **given, **more)


def test_random_rows_are_worth_it():
    """Every case that the queries have to tell apart comes up."""
    tables = [random_tables(random.Random(seed)) for seed in SEEDS]
    found = [row for rows in tables for row in brute_annotations.annotated_kernels(*rows.values())]
    by_source = {"host": 0, "gpu": 0, None: 0}
    for row in found:
        by_source[row["annotation_source"]] += 1
    assert min(by_source.values()) > 100
    gpu_rows = [row for row in found if row["annotation_source"] == "gpu"]
    assert any(row["annotation_path"].count(";") > 1 for row in gpu_rows)
    assert {(row["device"], row["stream"]) for row in gpu_rows} == set(PLACES)
    host_paths = [
        row["annotation_path"].split(";") for row in found if row["annotation_source"] == "host"
    ]
    assert any(len(path) > len(set(path)) for path in host_paths)  # a name within itself
    # The last annotation to begin before an activity is not always the one around it.
    not_the_last = 0
    for rows in tables:
        by_place = {}
        for annotation in gpu_annotations(rows["events"]):
            by_place.setdefault(place(annotation), []).append(annotation)
        for row in rows["gpu_activities"]:
            begun = [
                a
                for a in by_place.get((row["job"], row["rank"], row["device"], row["stream"]), [])
                if a["start_ns"] <= row["start_ns"] and a["end_ns"] > a["start_ns"]
            ]
            around = [a for a in begun if over(a, row)]
            not_the_last += bool(around) and (
                max(begun, key=from_outer_to_inner) is not max(around, key=from_outer_to_inner)
            )
    assert not_the_last > 20
    of_steps = [
        row
        for rows in tables
        for row in brute_annotations.annotation_stats(*rows.values(), only_steps=[1])
    ]
    assert of_steps
