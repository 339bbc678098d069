"""module_stats over small tables: drawn cases, and random ones against plain Python."""

import random
from collections import Counter

import pytest
from hand_written import ingested, span, trace_text
from queries.brute_modules import Model, is_call, module_stats
from queries.stacked import with_places
from seeds import seeds

# What the query's header draws, with times.
#
#   0         10        20        30        40        50        60
#   [ BertModel_0                                )
#      [ BertLayer_0                 )
#         [ Linear_0 )   [ Linear_1 )
#   1        2  3         4             5                              launches
#                                                  [ of 4 )[ of 2  )
#                                                     6      7  8      launches of another thread
BERT = """
    event_id  cat              name                   start_ns  end_ns  module_id  is_backward
    1         python_function  nn.Module:~BertModel_0  0        44      -          false
    2         python_function  nn.Module:~BertLayer_0  3        33      1          false
    3         python_function  nn.Module:~Linear_0     6        17      2          false
    4         python_function  nn.Module:~Linear_1     21       32      2          false
"""
BERT_OPS = (
    BERT.replace("is_backward", "is_backward  forward_id").replace("false", "false  -")
    + """
    10  cpu_op        aten::addmm   7   15  3  false  -
    11  cpu_op        aten::addmm   22  30  4  false  -
    20  cpu_op        AddmmBackward 47  54  -  true   11
    21  cpu_op        AddmmBackward 55  64  -  true   10
    31  cuda_runtime  launch        0   1   1  false  -
    32  cuda_runtime  launch        9   10  3  false  -
    33  cuda_runtime  launch        12  13  3  false  -
    34  cuda_runtime  launch        22  23  4  false  -
    35  cuda_runtime  launch        37  38  1  false  -
    36  cuda_runtime  launch        50  51  -  true   11
    37  cuda_runtime  launch        57  58  -  true   10
    38  cuda_runtime  launch        60  61  -  true   10
"""
)
BERT_ACTIVITIES = """
    event_id  launch_id  start_ns  dur_ns
    101       31         100       1
    102       32         110       2
    103       33         120       4
    104       34         130       8
    105       35         140       16
    106       36         150       32
    107       37         190       64
    108       38         260       128
"""


def test_drawn_in_the_header(host):
    host.expect(
        "module_stats",
        """
        module                            name         depth  count  host_total_ns  host_self_ns
        BertModel_0                       BertModel_0  0      1      44             14
        BertModel_0/BertLayer_0           BertLayer_0  1      1      30             8
        BertModel_0/BertLayer_0/Linear_0  Linear_0     2      1      11             11
        BertModel_0/BertLayer_0/Linear_1  Linear_1     2      1      11             11
    """,
        ops=BERT_OPS,
        activities=BERT_ACTIVITIES,
    )
    host.expect(
        "module_stats",
        """
        name         forward_kernel_count  forward_kernel_ns  forward_self_kernel_ns
        BertModel_0  5                     31                 17
        BertLayer_0  3                     14                 0
        Linear_0     2                     6                  6
        Linear_1     1                     8                  8
    """,
        ops=BERT_OPS,
        activities=BERT_ACTIVITIES,
    )
    host.expect(
        "module_stats",
        """
        name         backward_kernel_count  backward_kernel_ns  backward_self_kernel_ns
        BertModel_0  3                      224                 0
        BertLayer_0  3                      224                 0
        Linear_0     2                      192                 192
        Linear_1     1                      32                  32
    """,
        ops=BERT_OPS,
        activities=BERT_ACTIVITIES,
    )


def test_what_belongs_to_no_module(host):
    """No launch, one of a thread of its own, one of the forward pass of something else."""
    ops = (
        BERT_OPS
        + """
        40  cuda_runtime  launch         70  71  -  false  -
        41  cuda_runtime  launch         72  73  -  true   -
        50  cpu_op        aten::loss     45  46  -  false  -
        51  cuda_runtime  launch         74  75  -  true   50
    """
    )
    host.expect(
        "module_stats",
        """
        module       name         depth  forward_kernel_ns  forward_busy_ns  backward_kernel_ns
        BertModel_0  BertModel_0  0      0                  0                0
        BertModel_0/BertLayer_0           BertLayer_0  1  0  0  0
        BertModel_0/BertLayer_0/Linear_0  Linear_0     2  0  0  0
        BertModel_0/BertLayer_0/Linear_1  Linear_1     2  0  0  0
        -            -            -      11                 7                48
    """,
        ops=ops,
        activities="""
        event_id  launch_id  start_ns  dur_ns
        201       -          0         3
        202       40         1         6
        203       999        5         2
        204       41         10        16
        205       51         30        32
    """,
    )
    [*_, rest] = host.run("module_stats")
    assert rest["count"] == rest["host_total_ns"] == rest["host_self_ns"] == 0
    assert (rest["forward_self_kernel_count"], rest["backward_self_kernel_count"]) == (3, 2)
    assert (rest["forward_self_kernel_ns"], rest["backward_self_kernel_ns"]) == (11, 48)


def test_a_launch_in_a_module_is_its_own_though_of_another_ones_backward_pass(host):
    # A backward pass that is run in a module: of a gradient penalty, or of a checkpoint.
    ops = (
        BERT_OPS
        + """
        60  python_function  nn.Module:~Penalty_0  70  80  -  false  -
        61  cuda_runtime     launch                71  72  60 true   10
    """
    )
    host.expect(
        "module_stats",
        """
        name         forward_kernel_ns  backward_kernel_ns
        BertModel_0  0                  0
        BertLayer_0  0                  0
        Linear_0     0                  0
        Linear_1     0                  0
        Penalty_0    0                  5
    """,
        ops=ops,
        activities="""
        launch_id  start_ns  dur_ns
        61         0         5
    """,
    )


def test_a_module_in_several_places_and_in_itself(host):
    # A [             )   B [   )
    #      A [    )          A [)
    #        A [)
    host.expect(
        "module_stats",
        """
        module  name  depth  count  host_total_ns  host_self_ns  forward_kernel_ns  forward_busy_ns
        A       A     0      1      20             10            7                  6
        A/A     A     1      1      10             7             6                  5
        A/A/A   A     2      1      3              3             4                  4
        B       B     0      1      10             6             8                  8
        B/A     A     1      1      4              4             8                  8
    """,
        ops="""
        event_id  cat              name          start_ns  end_ns  module_id
        1         python_function  nn.Module:~A  0         20      -
        2         python_function  nn.Module:~A  2         12      1
        3         python_function  nn.Module:~A  4         7       2
        4         python_function  nn.Module:~B  30        40      -
        5         python_function  nn.Module:~A  31        35      4
        6         cuda_runtime     launch        1         2       1
        7         cuda_runtime     launch        3         4       2
        8         cuda_runtime     launch        5         6       3
        9         cuda_runtime     launch        32        33      5
    """,
        activities="""
        launch_id  start_ns  dur_ns
        6          100       1
        7          103       2
        8          104       4
        9          110       8
    """,
    )


def test_calls_of_a_place_add_up(host):
    host.expect(
        "module_stats",
        """
        module  count  host_total_ns  host_self_ns  example_event_id  forward_kernel_count
        M       2      30             19            1                 2
        M/L     3      11             11            2                 2
    """,
        ops="""
        event_id  cat              name          tid  start_ns  end_ns  module_id
        8         python_function  nn.Module:~M  1    0         10      -
        9         python_function  nn.Module:~L  1    1         3       8
        2         python_function  nn.Module:~L  1    4         5       8
        1         python_function  nn.Module:~M  2    0         20      -
        5         python_function  nn.Module:~L  2    6         14      1
        6         cuda_runtime     launch        1    2         3       9
        7         cuda_runtime     launch        2    8         9       5
    """,
        activities="""
        launch_id  start_ns  dur_ns
        6          0         1
        7          5         1
    """,
    )


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


def test_calls_and_activities_of_steps(host):
    # Of step 2: the call 3, and what call 1 of step 1 launched so late; not what call 3 did later.
    ops = """
        event_id  cat              name          step  start_ns  end_ns  module_id
        1         python_function  nn.Module:~A  1     0         20      -
        2         python_function  nn.Module:~L  1     5         15      1
        3         python_function  nn.Module:~B  2     20        40      -
        4         python_function  nn.Module:~L  3     25        35      3
        6         cuda_runtime     launch        2     14        15      2
        7         cuda_runtime     launch        3     21        22      3
        8         cuda_runtime     launch        2     50        51      -
    """
    activities = """
        launch_id  step  start_ns  dur_ns
        6          2     0         1
        7          3     10        2
        8          2     20        4
        -          -     30        8
    """
    host.expect(
        "module_stats",
        """
        module  count  host_total_ns  host_self_ns  forward_kernel_ns  example_event_id
        A       0      0              0             1                  -
        A/L     0      0              0             1                  -
        B       1      20             10            0                  3
        -       0      0              0             4                  -
    """,
        ops=ops,
        activities=activities,
        only_steps=[2],
    )
    host.expect(
        "module_stats",
        """
        module  count  forward_kernel_ns
        B       0      2
        B/L     1      0
    """,
        ops=ops,
        activities=activities,
        only_steps=[3, 9],
    )
    host.expect(
        "module_stats",
        """
        module  count  forward_kernel_ns
        A       1      1
        A/L     1      1
        B       1      2
        B/L     1      0
        -       0      12
    """,
        ops=ops,
        activities=activities,
    )


def test_only_python_functions_of_modules_are(host):
    host.expect(
        "module_stats",
        """
        rank  name
        0     A
    """,
        ops="""
        rank  cat              name           start_ns  end_ns
        0     python_function  nn.Module:~A   0         20
        0     python_function  nn.Modules:~A  0         20
        0     python_function  -              0         20
        1     cpu_op           nn.Module:~A   0         20
        1     user_annotation  nn.Module:~A   0         20
        1     python_function  model.py(1)    0         20
    """,
    )


def test_ranks_without_modules_have_no_rows(host):
    host.fill(
        """
        launch_id  start_ns  dur_ns
        5          0         1
        -          1         2
    """,
        """
        event_id  cat           name    start_ns  end_ns
        5         cuda_runtime  launch  0         1
    """,
    )
    assert host.run("module_stats") == []
    host.fill()
    assert host.run("module_stats") == []


def test_same_ids_of_other_ranks_and_jobs(host):
    ops = """
        job  rank  event_id  cat              name          start_ns  end_ns  module_id  forward_id
        a    0     1         python_function  nn.Module:~X  0         9       -          -
        a    0     2         cuda_runtime     launch        1         2       1          -
        a    1     1         python_function  nn.Module:~Y  0         8       -          -
        a    1     2         python_function  nn.Module:~X  1         3       1          -
        a    1     3         cuda_runtime     launch        1         2       2          -
        b    0     1         python_function  nn.Module:~X  0         7       -          -
        b    0     2         cpu_op           op            0         7       1          -
        b    0     3         cuda_runtime     launch        10        11      -          2
    """
    activities = """
        job  rank  launch_id  start_ns  end_ns
        a    0     2          0         1
        a    1     3          0         2
        b    0     3          0         4
        c    0     2          0         8
    """
    host.expect(
        "module_stats",
        """
        job  rank  module  host_total_ns  forward_kernel_ns
        a    0     X       9              1
        a    1     Y       8              2
        a    1     Y/X     2              2
        b    0     X       7              0
        b    0     -       0              4
    """,
        ops=ops,
        activities=activities,
    )
    host.expect(
        "module_stats",
        """
        job  rank  module
        a    1     Y
        a    1     Y/X
    """,
        ops=ops,
        activities=activities,
        only_jobs=["a"],
        only_ranks=[1, 2],
    )


def test_modules_stand_in_the_order_of_their_first_calls(host):
    # Of equal spans, that with the lower event_id is the first.
    host.expect(
        "module_stats",
        """
        module
        Z
        Z/Layer_10
        Z/Layer_9
        Y
        X
    """,
        ops="""
        event_id  cat              name                 start_ns  end_ns  module_id
        9         python_function  nn.Module:~X         20        30      -
        8         python_function  nn.Module:~Y         20        30      -
        6         python_function  nn.Module:~Layer_9   10        12      1
        5         python_function  nn.Module:~Layer_10  8         10      1
        1         python_function  nn.Module:~Z         0         20      -
        4         python_function  nn.Module:~Layer_9   12        15      1
        7         python_function  nn.Module:~Layer_10  3         5       1
    """,
    )


def test_deep_modules(host):
    deep = 1_000
    rows = [
        {
            "event_id": i,
            "cat": "python_function",
            "name": f"nn.Module: M_{i % 3}",
            "start_ns": i,
            "end_ns": 10_000 - i,
            "module_id": i - 1 if i else None,
        }
        for i in range(deep)
    ]
    rows.append(
        {
            "event_id": deep,
            "cat": "cuda_runtime",
            "name": "launch",
            "start_ns": deep,
            "end_ns": deep + 1,
            "module_id": deep - 1,
        }
    )
    host.fill([{"launch_id": deep, "start_ns": 0, "dur_ns": 3}], rows)
    result = host.run("module_stats")
    assert [row["depth"] for row in result] == list(range(deep))
    assert {row["forward_kernel_ns"] for row in result} == {3}
    assert result[-1]["module"].count("/") == deep - 1
    assert result[-1]["forward_self_kernel_ns"] == 3


# From a trace: what ingest derives and the query reads, together.

MAIN_AND_AUTOGRAD = [
    span("ProfilerStep#1", 0, 100, "user_annotation"),
    span("nn.Module: Model_0", 5, 90, "python_function"),
    span("nn.Module: Linear_0", 10, 30, "python_function"),
    span("aten::mm", 15, 20, **{"Sequence number": 7}),
    span("cudaLaunchKernel", 20, 5, "cuda_runtime", correlation=1),
    # A checkpoint of Linear_1: its forward pass is run without gradients, so of no number.
    span("CheckpointFunction", 45, 30, **{"Sequence number": 8}),
    span("nn.Module: Linear_1", 50, 20, "python_function"),
    span("aten::mm", 55, 10),
    span("cudaLaunchKernel", 57, 5, "cuda_runtime", correlation=2),
    # Its backward pass: Linear_1 again, with gradients, and then the backward pass of that.
    span(
        "autograd::engine::evaluate_function: CheckpointFunctionBackward",
        110,
        60,
        tid=2,
        **{"Sequence number": 8, "Fwd thread id": 1},
    ),
    span("nn.Module: Linear_1", 112, 20, "python_function", tid=2),
    span("aten::mm", 115, 10, tid=2, **{"Sequence number": 9}),
    span("cudaLaunchKernel", 117, 5, "cuda_runtime", tid=2, correlation=3),
    span(
        "autograd::engine::evaluate_function: MmBackward0",
        140,
        20,
        tid=2,
        **{"Sequence number": 9, "Fwd thread id": 2},
    ),
    span("cudaLaunchKernel", 145, 5, "cuda_runtime", tid=2, correlation=4),
    # The backward pass of Linear_0, and what has no forward operator.
    span(
        "autograd::engine::evaluate_function: MmBackward0",
        180,
        20,
        tid=2,
        **{"Sequence number": 7, "Fwd thread id": 1},
    ),
    span("cudaLaunchKernel", 185, 5, "cuda_runtime", tid=2, correlation=5),
    span("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 210, 20, tid=2),
    span("cudaLaunchKernel", 215, 5, "cuda_runtime", tid=2, correlation=6),
    # After the step: an optimizer.
    span("cudaLaunchKernel", 240, 5, "cuda_runtime", correlation=7),
    *(
        span("kernel", 1000 * i, 1 << i, "kernel", pid=0, tid=7, correlation=i, stream=7, device=0)
        for i in range(1, 8)
    ),
]


def test_from_a_trace(tmp_path):
    with ingested(tmp_path, trace_text(MAIN_AND_AUTOGRAD)) as run:
        found = {
            row["module"]: (
                row["count"],
                row["forward_kernel_ns"] // 1000,
                row["backward_kernel_ns"] // 1000,
            )
            for row in run.module_stats().to_pylist()
        }
    assert found == {
        "Model_0": (1, 2 + 4, 8 + 16 + 32),
        "Model_0/Linear_0": (1, 2, 32),
        "Model_0/Linear_1": (2, 4, 8 + 16),
        None: (0, 128, 64),
    }


# Random ones

NAMES = ["A", "B", "B_1", "C"]
SEEDS = range(24)


def random_tables(rng: random.Random) -> dict[str, list[dict]]:
    """Two threads that run the model, and one that runs it backward, in part once more."""
    ops, activities = [], []
    for job, rank in [("i", 0), ("j", 0), ("j", 2)][: rng.choice([1, 3])]:
        ids = rng.sample(range(100), 80)
        has_modules = rng.random() < 0.8

        def new(
            tid, cat, name, since, lengths=(0, 1, 2, 5, 9), ids=ids, job=job, rank=rank, **given
        ):
            start = rng.randrange(since, since + 40)
            ops.append(
                {
                    "job": job,
                    "rank": rank,
                    "event_id": ids.pop(),
                    "pid": "1",
                    "tid": tid,
                    "cat": cat,
                    "name": name,
                    "step": rng.choice([None, 1, 1, 2]),
                    "start_ns": start,
                    "end_ns": start + rng.choice(lengths),
                }
                | given
            )
            return ops[-1]

        launches, forward = [None, {"event_id": 999, "step": 1}], []
        for tid, since, some in (("1", 0, 16), ("2", 0, 6), ("3", 30, 7)):
            for _ in range(has_modules and rng.randrange(some)):
                name = f"nn.Module: {rng.choice(NAMES)}"
                new(tid, "python_function", name, since, (0, 5, 9, 20, 40))
            for _ in range(rng.randrange(9)):
                cat = rng.choice(["cpu_op", "cpu_op", "Operator", "user_annotation"])
                op = new(tid, cat, rng.choice(["aten::mm", "nn.Module: A"]), since)
                forward.append(op["event_id"])
            for _ in range(rng.randrange(9)):
                launches.append(new(tid, "cuda_runtime", "launch", since))
        for _ in range(rng.randrange(9)):
            new(
                "3",
                "cpu_op",
                "Backward",
                30,
                (5, 9, 20, 40),
                is_backward=True,
                forward_id=rng.choice([None, *forward]),
            )
        for _ in range(rng.choice([0, 5, 20])):
            launch = rng.choice(launches)
            start = rng.randrange(100)
            activities.append(
                {
                    "job": job,
                    "rank": rank,
                    "event_id": 100 + len(activities),
                    "device": rng.choice([None, 0, 1]),
                    "stream": rng.choice([None, 7]),
                    "launch_id": launch and launch["event_id"],
                    "step": launch and launch["step"],
                    "start_ns": start,
                    "end_ns": start + rng.choice([0, 1, 2, 5, 20]),
                }
            )
    for row in ops + activities:
        row["dur_ns"] = row["end_ns"] - row["start_ns"]
    with_places(ops)
    return {"gpu_activities": activities, "host_ops": ops}


def random_selection(rng: random.Random) -> dict:
    given = {"only_jobs": ["j"], "only_ranks": [0, 1], "only_steps": rng.choice([[1], [2, 3]])}
    return {name: value for name, value in given.items() if rng.random() < 0.4}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_rows(host, seed):
    rng = random.Random(seed)
    tables = random_tables(rng)
    given = random_selection(rng) if seed % 3 == 0 else {}
    wanted = list(module_stats(*tables.values(), **given))
    host.compare("module_stats", wanted, tables, seed, **given)


@pytest.mark.parametrize("seed", seeds(SEEDS[:6]))
def test_self_times_add_up_to_all_activities(host, seed):
    tables = random_tables(random.Random(seed))
    host.fill(**tables)
    found = Counter()
    for row in host.run("module_stats"):
        found[row["job"], row["rank"]] += (
            row["forward_self_kernel_ns"] + row["backward_self_kernel_ns"]
        )
    with_modules = {(op["job"], op["rank"]) for op in tables["host_ops"] if is_call(op)}
    wanted = Counter()
    for row in tables["gpu_activities"]:
        if (row["job"], row["rank"]) in with_modules:
            wanted[row["job"], row["rank"]] += row["dur_ns"]
    assert +found == +wanted


def test_random_rows_are_worth_it():
    """Every case that the query has to tell apart comes up."""
    seen = Counter()
    for seed in SEEDS:
        tables = random_tables(random.Random(seed))
        ops = tables["host_ops"]
        for job, rank in {(op["job"], op["rank"]) for op in ops}:
            of_rank = [op for op in ops if (op["job"], op["rank"]) == (job, rank)]
            model = Model(of_rank)
            seen["rank without modules"] += not model.calls
            for call in model.calls:
                path = model.path(call["event_id"])
                seen["deep"] += len(path) > 3
                seen["in itself"] += path.count(path[-1]) > 1
                again = call["is_backward"] and call["module_id"] is None
                seen["again, at its place"] += again and len(path) > 1
                seen["again, but first"] += again and len(path) == 1
                seen["crossed"] += call.get("cut_ns") is not None
            for row in tables["gpu_activities"]:
                if (row["job"], row["rank"]) != (job, rank):
                    continue
                path, is_backward = model.owner(row)
                launch = model.ops.get(row["launch_id"])
                seen["in a module", is_backward] += bool(path)
                seen["in none", is_backward] += not path
                seen["by the forward operator"] += bool(path) and launch["module_id"] is None
                seen["of both"] += bool(path) and (
                    launch["module_id"] is not None and launch["forward_id"] is not None
                )
    assert min(seen.values()) > 4, seen
