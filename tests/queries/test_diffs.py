"""What differs between two jobs: kernels, operators."""

from queries.diffs import TWO
from queries.small_tables import SmallTables


def test_kernels(compare: SmallTables):
    #  a  gemm [=10=) [=10=)   relu [5)
    #  b  gemm [==12=) [==12=) [==12=)       clone [4)
    compare.expect(
        "kernel_diff",
        """
        name  base_count test_count diff_count base_total_ns test_total_ns diff_total_ns change
        gemm  2          3          1          20            36            16            increased
        relu  1          0          -1         5             0             -5            deleted
        clone 0          1          1          0             4             4             added
    """,
        traces=TWO,
        activities="""
        job name  start_ns dur_ns
        a   gemm  0        10
        a   gemm  10       10
        a   relu  20       5
        b   gemm  0        12
        b   gemm  12       12
        b   gemm  24       12
        b   clone 40       4
    """,
    )


def test_means_and_shares(compare: SmallTables):
    compare.expect(
        "kernel_diff",
        """
        name  base_mean_ns test_mean_ns diff_mean_ns diff_per_step_ns diff_frac change
        gemm  10           16           6            12               0.75      unchanged
        relu  4            -            -            -4               0.25      deleted
    """,
        traces=TWO,
        activities="""
        job name  start_ns dur_ns
        a   gemm  0        10
        a   gemm  30       10
        a   relu  50       4
        b   gemm  0        15
        b   gemm  20       17
    """,
    )


# a has two steps on its rank, b one on each of two; what is outside of steps counts in totals only.
STEPS = """
    job rank cat             name            start_ns end_ns step
    a   0    user_annotation ProfilerStep#1  0        100    1
    a   0    user_annotation ProfilerStep#2  100      200    2
    b   0    user_annotation ProfilerStep#7  0        100    7
    b   1    user_annotation ProfilerStep#7  0        110    7
"""


IN_STEPS = """
    job rank name start_ns dur_ns step
    a   0    gemm 0        10     1
    a   0    gemm 100      20     2
    a   0    gemm 300      40     -
    b   0    gemm 0        15     7
    b   1    gemm 0        18     7
"""


RANKS = """
    job rank
    a   0
    b   0
    b   1
"""


def test_figures_per_step(compare: SmallTables):
    compare.expect(
        "kernel_diff",
        """
        name base_count base_total_ns base_per_step_ns test_total_ns test_per_step_ns
        gemm 3          70            15               33            17
    """,
        traces=RANKS,
        ops=STEPS,
        activities=IN_STEPS,
    )


def test_chosen_steps_and_ranks(compare: SmallTables):
    compare.expect(
        "kernel_diff",
        """
        name base_count base_total_ns base_per_step_ns test_total_ns test_per_step_ns change
        gemm 1          20            20               18            18               unchanged
    """,
        traces=RANKS,
        ops=STEPS,
        activities=IN_STEPS,
        base_steps=[2],
        test_ranks=[1],
    )


def test_one_job_may_be_both_sides(compare: SmallTables):
    compare.expect(
        "kernel_diff",
        """
        name base_count base_total_ns test_count test_total_ns change
        gemm 2          30            1          20            decreased
    """,
        traces=RANKS,
        ops=STEPS,
        activities=IN_STEPS,
        base_job="a",
        test_job="a",
        base_steps=[1, 2],
        test_steps=[2],
    )


def test_steps_that_are_not_there(compare: SmallTables):
    compare.expect(
        "kernel_diff",
        """
        name base_count base_per_step_ns test_count test_per_step_ns change
        gemm 3          15               0          -                deleted
    """,
        traces=RANKS,
        ops=STEPS,
        activities=IN_STEPS,
        test_steps=[99],
    )


def test_names_and_shapes_of_kernels(compare: SmallTables):
    rows = [
        {
            "job": job,
            "event_id": i,
            "name": name,
            "short_name": name.partition("<")[0],
            "grid": grid,
            "block": [32, 1, 1],
            "start_ns": 10 * i,
            "dur_ns": 5,
        }
        for i, (job, name, grid) in enumerate(
            [("a", "gemm<1>", [1, 1, 1]), ("a", "gemm<2>", [1, 1, 1]), ("b", "gemm<2>", [2, 1, 1])]
        )
    ]
    compare.fill(gpu_activities=rows, traces=TWO)
    assert [(r["name"], r["change"]) for r in compare.run("kernel_diff")] == [
        ("gemm<1>", "deleted"),
        ("gemm<2>", "unchanged"),
    ]
    assert [
        (r["name"], r["base_count"], r["test_count"])
        for r in compare.run("kernel_diff", short_names=True)
    ] == [("gemm", 2, 1)]
    assert [
        (r["name"], r["grid"], r["block"], r["change"])
        for r in compare.run("kernel_diff", by_shape=True, short_names=True)
    ] == [("gemm", [1, 1, 1], [32, 1, 1], "deleted"), ("gemm", [2, 1, 1], [32, 1, 1], "added")]


def test_operators(compare: SmallTables):
    #  a  linear [=============)      b  linear [=========)  linear [=========)
    #       mm     [=====)                 mm [8x9] [===)
    #     launch 1    |                  launch 2  |
    given = {
        "traces": TWO,
        "ops": """
        job cat    name   event_id parent_id op_id start_ns dur_ns input_dims
        a   cpu_op linear 1        -         -     0        30     [[8,8]]
        a   cpu_op mm     2        1         1     5        10     [[8,8]]
        b   cpu_op linear 1        -         -     0        20     [[8,8]]
        b   cpu_op mm     2        1         1     5        8      [[8,9]]
        b   cpu_op linear 3        -         -     30       20     [[8,8]]
        b   cuda_runtime cudaLaunchKernel 4 2 2     6       2      -
    """,
        "activities": """
        job event_id op_id start_ns dur_ns
        a   10       2     40       7
        b   11       2     40       9
        b   12       2     50       1
        b   13       -     60       5
    """,
    }
    compare.expect(
        "op_diff",
        """
        name change base_self_ns test_self_ns base_self_kernel_ns test_self_kernel_ns
        linear increased 20 32 0 0
        cudaLaunchKernel added 0 2 0 0
        mm unchanged 10 6 7 10
    """,
        **given,
    )
    compare.expect(
        "op_diff",
        """
        name   cat    base_total_ns test_total_ns
        linear cpu_op 30            40
        mm     cpu_op 10            8
    """,
        **given,
        only_cats=["cpu_op"],
    )
    compare.expect(
        "op_diff",
        """
        name   input_dims change
        linear [[8,8]]    increased
        mm     [[8,8]]    deleted
        mm     [[8,9]]    added
    """,
        **given,
        only_cats=["cpu_op"],
        by_shape=True,
    )


def test_a_python_function_on_another_line(compare: SmallTables):
    compare.expect(
        "op_diff",
        """
        name          base_count test_count change
        train.py:~step 1          1          unchanged
    """,
        traces=TWO,
        ops="""
        job tid cat             name              event_id start_ns dur_ns
        a   1   python_function train.py(7):~step 1        0        30
        b   1   python_function train.py(9):~step 1        0        30
    """,
    )
