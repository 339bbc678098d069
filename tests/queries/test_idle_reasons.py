"""What the host did while the device was idle, as drawn."""

import pytest
from queries.idle import placed
from queries.idle_reasons import HEAD, REASONS, drawn, gap, reasons
from queries.small_tables import completed

GAPS = "idle_gaps"
STEP, BATCH = "ProfilerStep", "next batch"
# Spans up to 2^16 ns long, and parts up to 2^20 ns, are looked for in other ways than longer ones.
SCALES = pytest.mark.parametrize(
    ("scale", "offset"),
    [(1, 0), (1, 65_530), (20_000, 3), (70_000, 1_712_151_111_631_234_567), (3_000_000, 65_536)],
)


@SCALES
def test_exact_times(gpu, scale, offset):
    # 0    5    10   15   20   25   30   35   40
    #   ...............................            gap from 2 to 33
    #                      llllll                  launch from 21 to 27
    ops = drawn(
        """
[=======================================)   user_annotation ProfilerStep#7
 [==========)                               user_annotation next batch
    [===)                                   cpu_op          read
               [==============)             user_annotation forward
                 [==========)               cpu_op          aten::mm
                     [=====)                cuda_runtime    cudaLaunchKernel
                                [=)         cpu_op          aten::add
""",
        scale,
        offset,
    )
    found = reasons(gpu, gap(2, 33, (21, 27), scale, offset), ops, kernel_gap_ns=1)
    assert found == [
        (cause, name, outer, time * scale)
        for cause, name, outer, time in [
            ("host_wait", BATCH, BATCH, 6),
            ("launching", "cudaLaunchKernel", "forward", 6),
            ("host_wait", "aten::mm", "forward", 4),
            ("host_wait", "read", BATCH, 4),
            ("host_wait", STEP, None, 3),
            ("host_wait", "forward", "forward", 2),
            ("queued", STEP, None, 2),
            ("queued", "forward", "forward", 2),
            ("queued", "aten::add", "aten::add", 1),
            ("queued", "aten::mm", "forward", 1),
        ]
    ]
    # In the last part, the step and `forward` have equal times. The step has the lower event_id.
    rows = gpu.run(GAPS, kernel_gap_ns=1)
    assert [(row["cause"], row["host_name"], row["host_event_id"]) for row in rows] == [
        ("host_wait", BATCH, 1),
        ("launching", "cudaLaunchKernel", 5),
        ("queued", "ProfilerStep#7", 0),
    ]


def test_time_without_a_span_counts_too(gpu):
    # 0    5    10
    #  .........      gap from 1 to 10, launched at its end
    #   [=)   [)      `a` for 2, then `b` for 1, and nothing for 6
    ops = drawn("  [=)  cpu_op a\n        [)  cpu_op b")
    assert reasons(gpu, gap(1, 10, (10, 11)), ops) == [
        ("host_wait", None, None, 6),
        ("host_wait", "a", "a", 2),
        ("host_wait", "b", "b", 1),
    ]
    [row] = gpu.run(GAPS)
    assert (row["host_event_id"], row["host_name"]) == (None, None)


@SCALES
def test_spans_that_cross(gpu, scale, offset):
    """x crosses b and c, y crosses x. The stack is then without the one that is crossed."""
    ops = drawn(
        """
[=====================)     cpu_op a
 [=======)                  cpu_op b
  [=====)                   cpu_op c
     [=======)              cpu_op x
           [=======)        cpu_op y
""",
        scale,
        offset,
    )
    assert reasons(gpu, gap(0, 30, (30, 30), scale, offset), ops) == [
        ("host_wait", name, outer, time * scale)
        for name, outer, time in [
            ("y", "a", 8),
            (None, None, 8),
            ("x", "a", 6),
            ("a", "a", 4),
            ("c", "a", 3),
            ("b", "a", 1),
        ]
    ]


def test_spans_that_begin_or_end_together(gpu):
    # 0    5
    # ........     gap from 0 to 8
    ops = drawn("""
[====)       cpu_op a
[==)         cpu_op b
   [=)       cpu_op c
     [=====) cpu_op d
     [)      cpu_op e
""")
    ops = placed([*ops, completed("host_ops", {"name": "none", "start_ns": 3, "dur_ns": 0}, 9)])
    assert reasons(gpu, gap(0, 8, (8, 8)), ops) == [
        ("host_wait", "b", "a", 3),
        ("host_wait", "c", "a", 2),
        ("host_wait", "d", "d", 2),
        ("host_wait", "e", "d", 1),
    ]


def test_gaps_and_the_longest(gpu):
    # 0    5    10   15
    #  [) [)      [==)     `a`: in the first gap twice for 1, in the second for 3
    # .......  ........    gaps from 0 to 8 and from 10 to 20
    ops = drawn("""
 [)          cpu_op a
    [)       cpu_op a
            [==) cpu_op a
""")
    gpu.fill(
        f"""
        {HEAD}
        0  -9  0   -  -   -   -  -
        0  8   10  1  8   8   1  1
        0  20  21  2  20  20  1  1
    """,
        ops,
    )
    rows = gpu.run(REASONS)
    assert [(row["name"], row["idle_ns"], row["gap_count"], row["longest_ns"]) for row in rows] == [
        (None, 13, 2, 7),
        ("a", 5, 2, 3),
    ]
    assert [row["idle_frac"] for row in rows] == [13 / 18, 5 / 18]
    assert gpu.run(REASONS, top_k=1) == rows[:1]
    assert gpu.run(REASONS, top_k=0) == []


def test_only_the_launching_thread(gpu):
    ops = [
        op | {"event_id": at, "name": f"op {at}", "pid": pid, "tid": tid, "rank": rank, "job": job}
        for at, (pid, tid, rank, job) in enumerate(
            [
                ("1", "1", 0, "j"),
                ("1", "2", 0, "j"),
                ("2", "1", 0, "j"),
                (None, "1", 0, "j"),
                (None, None, 0, "j"),
                ("1", "1", 1, "j"),
                ("1", "1", 0, "other"),
            ]
        )
        for op in drawn("[====)  cpu_op a")
    ]
    for at, thread in enumerate(["1 1", "1 2", "2 1", "- 1", "- -"]):
        name = f"op {at}"
        assert reasons(gpu, gap(0, 5, (5, 5), thread=thread), ops) == [("host_wait", name, name, 5)]
    assert reasons(gpu, gap(0, 5, (5, 5), thread="5 1"), ops) == [("host_wait", None, None, 5)]
    without = gap(0, 5, (5, 5)).replace("9 5 5 1 1", "- - - - -")
    assert reasons(gpu, without, ops) == [("unknown", None, None, 5)]


def test_several_devices_of_a_thread(gpu):
    """Each device has its own gaps, and the same thread launches for both."""
    ops = drawn("""
[========)        cpu_op a
         [====)   cpu_op b
""")
    gpu.fill(f"{HEAD}\n{gap(1, 7, (7, 7))}\n{gap(4, 12, (12, 12), device=1)}", ops)
    rows = gpu.run(REASONS)
    assert [(row["device"], row["name"], row["idle_ns"], row["idle_frac"]) for row in rows] == [
        (0, "a", 6, 1.0),
        (1, "a", 5, 5 / 8),
        (1, "b", 3, 3 / 8),
    ]


def test_ids_of_other_ranks_give_no_names(gpu):
    gpu.expect(
        REASONS,
        """
        job  rank  name  outer_name  idle_ns
        j    0     a     a           3
        j    1     b     b           3
        k    1     c     c           3
    """,
        ops="""
        job  rank  event_id  name  start_ns  end_ns  depth
        j    0     1         a     0         9       0
        j    1     1         b     0         9       0
        k    1     1         c     0         9       0
    """,
        activities="""
        job  rank  event_id  start_ns  end_ns  launch_id  launch_start_ns  launch_pid  launch_tid
        j    0     8         0         1       -          -                -           -
        j    0     9         4         5       1          4                1           1
        j    1     8         0         1       -          -                -           -
        j    1     9         4         5       1          4                1           1
        k    1     8         0         1       -          -                -           -
        k    1     9         4         5       1          4                1           1
    """,
    )


def test_spans_of_other_steps_count(gpu):
    """Only step 1 is measured; what the host did meanwhile was in step 2."""
    ops = [op | {"step": 2} for op in drawn("[========)  cpu_op a")]
    activities = """
        step  start_ns  end_ns  launch_id  launch_start_ns  launch_pid  launch_tid
        1     0         1       -          -                -           -
        2     3         4       -          -                -           -
        1     7         8       9          7                1           1
    """
    gpu.fill(activities, ops)
    [row] = gpu.run(REASONS, only_steps=[1])
    assert (row["name"], row["idle_ns"], row["gap_count"]) == ("a", 6, 1)
    assert gpu.run(REASONS, only_steps=[3]) == []
