"""What differs between two jobs: devices, modules, collectives, steps."""

import duckdb
import pytest
from queries import brute_diff_sides
from queries.diffs import TWO, Rows
from queries.small_tables import SmallTables


def test_time_of_devices(compare: SmallTables):
    #  a  computation   [====10===)              b  [====10===)
    #     communication      [====10===)                            [==5=)
    compare.expect(
        "temporal_diff",
        """
        name base_total_ns test_total_ns diff_total_ns base_frac diff_frac change
        span 15 25 10 1 - increased
        busy 15 15 0 1 - unchanged
        idle 0 10 10 0 1 added
        compute 10 10 0 0.6666666666666666 0 unchanged
        non_compute 5 5 0 0.3333333333333333 - unchanged
        exposed_communication 5 5 0 0.3333333333333333 0 unchanged
        exposed_memory 0 0 0 0 0 unchanged
        communication 10 5 -5 0.6666666666666666 - decreased
        memory 0 0 0 0 - unchanged
    """,
        traces=TWO,
        activities="""
        job kind          stream start_ns dur_ns
        a   computation   7      0        10
        a   communication 8      5        10
        b   computation   7      0        10
        b   communication 8      20       5
    """,
    )


def test_modules(compare: SmallTables):
    #  Model_0 [ Linear_0 ) on both; b has Linear_1 besides, and launches in it
    ops = """
        job cat             name                   event_id module_id start_ns dur_ns
        a   python_function nn.Module:~Model_0     1        -         0        100
        a   python_function nn.Module:~Linear_0    2        1         10       20
        a   cuda_runtime    cudaLaunchKernel       3        2         12       2
        b   python_function nn.Module:~Model_0     1        -         0        120
        b   python_function nn.Module:~Linear_0    2        1         10       20
        b   python_function nn.Module:~Linear_1    4        1         40       20
        b   cuda_runtime    cudaLaunchKernel       5        4         42       2
    """
    compare.expect(
        "module_diff",
        """
        module           base_count test_count test_forward_kernel_ns diff_self_kernel_ns change
        Model_0/Linear_1 0          1          9                      9                   added
        Model_0/Linear_0 1          1          0                      -5                  unchanged
        Model_0          1          1          9                      0                   unchanged
    """,
        traces=TWO,
        ops=ops,
        activities="""
        job event_id launch_id start_ns dur_ns
        a   10       3         50       5
        b   10       5         50       9
    """,
    )


COLLECTIVES = [
    {
        "job": job,
        "rank": rank,
        "event_id": seq,
        "kind": "communication",
        "collective_name": "allreduce",
        "dtype": dtype,
        "in_nelems": 100,
        "out_nelems": 100,
        "group_size": 2,
        "process_group_name": "0",
        "seq": seq,
        "start_ns": start_ns,
        "dur_ns": dur_ns,
    }
    for job, rank, seq, dtype, start_ns, dur_ns in [
        ("a", 0, 1, "Float", 0, 50),
        ("a", 1, 1, "Float", 20, 30),
        ("b", 0, 1, "Float", 0, 60),
        ("b", 1, 1, "Float", 15, 45),
        ("b", 0, 2, "BFloat16", 100, 10),
        ("b", 1, 2, "BFloat16", 100, 10),
    ]
]


def test_collectives(compare: SmallTables):
    given = {"traces": "job rank\na 0\na 1\nb 0\nb 1", "activities": COLLECTIVES}
    compare.expect(
        "collective_diff",
        """
        dtype    bytes group_size base_count test_count base_total_ns test_total_ns change
        Float    400   2          2          2          80            105           unchanged
        BFloat16 200   2          0          2          0             20            added
    """,
        **given,
    )
    compare.expect(
        "collective_diff",
        """
        dtype    base_mean_transfer_ns test_mean_transfer_ns base_wait_ns test_wait_ns diff_wait_ns
        Float    30                    45                    20           15           -5
        BFloat16 -                     10                    -            0            -
    """,
        **given,
    )
    # Of one rank the transfer is known as well: it is paired with the others all the same.
    compare.expect(
        "collective_diff",
        """
        dtype    base_count test_count base_total_ns base_wait_ns
        Float    1          1          30            0
        BFloat16 0          1          0             -
    """,
        **given,
        base_ranks=[1],
        test_ranks=[1],
    )


def test_where_nothing_tells_transfers(compare: SmallTables):
    alone = [row for row in COLLECTIVES if row["rank"] == 0]
    compare.expect(
        "collective_diff",
        """
        dtype    base_total_ns base_mean_transfer_ns base_wait_ns
        BFloat16 0             -                     -
        Float    50            -                     -
    """,
        traces=TWO,
        activities=alone,
    )


@pytest.mark.parametrize(
    "query",
    [
        "kernel_diff",
        "op_diff",
        "annotation_diff",
        "temporal_diff",
        "module_diff",
        "collective_diff",
        "step_diff",
    ],
)
def test_unknown_jobs_are_errors(compare: SmallTables, query: str):
    compare.fill(
        traces=TWO,
        gpu_activities="""
        job start_ns dur_ns
        a   0        10
    """,
    )
    for side in ("base_job", "test_job"):
        with pytest.raises(duckdb.Error, match="no job 'nobody' in the archive"):
            compare.run(query, **{side: "nobody"})


# Steps and their noise


def of_steps(times: dict[str, list[int]]) -> dict[str, Rows]:
    """A kernel of so many ns in each step of 1,000 ns."""
    ops, activities = [], []
    for job, values in times.items():
        for step, dur_ns in enumerate(values):
            ops.append(
                {
                    "job": job,
                    "event_id": step,
                    "cat": "user_annotation",
                    "name": f"ProfilerStep#{step}",
                    "step": step,
                    "start_ns": 1000 * step,
                    "dur_ns": 900 + dur_ns % 7,
                }
            )
            activities.append(
                {
                    "job": job,
                    "event_id": 1000 + step,
                    "step": step,
                    "start_ns": 1000 * step,
                    "dur_ns": dur_ns,
                }
            )
    return {
        "host_ops": ops,
        "gpu_activities": activities,
        "traces": [{"job": job, "rank": 0} for job in times],
    }


@pytest.mark.parametrize(
    ("base", "test", "change"),
    [
        ([100, 101, 99], [100, 99, 102], "unchanged"),
        ([100, 101, 99], [120, 121, 119], "increased"),
        ([120, 121, 119], [100, 101, 99], "decreased"),
        ([100, 110, 90], [120, 121, 119], "unchanged"),  # the base scatters too much
        ([100, 101, 99, 100, 900], [120, 121, 119, 120, 120], "increased"),  # one odd step
        ([100], [200], None),  # nothing is known of noise
        ([100], [100], "unchanged"),
        ([100, 100], [100, 100], "unchanged"),
        ([100, 100], [101, 101], "increased"),
    ],
)
def test_differences_beyond_noise(compare: SmallTables, base, test, change):
    compare.fill(**of_steps({"a": base, "b": test}))
    [row] = [row for row in compare.run("step_diff") if row["name"] == "compute"]
    assert row["change"] == change
    assert row["is_significant"] == (None if len(base) == 1 else change != "unchanged")
    assert compare.broken_promises("step_diff") == []


def test_quantiles_of_t(compare: SmallTables):
    """Rounded up, against an integral of the density."""
    found = compare.con.execute(
        "SELECT n, student_t(n) FROM range(1, 80) AS r(n) ORDER BY n"
    ).fetchall()
    for freedom, value in found:
        exact = brute_diff_sides.quantile_of_t(freedom)
        assert exact <= value * (1 + 1e-6) and value < exact * 1.01 + 0.001, freedom
    [few_and_many] = compare.con.execute("SELECT student_t(0), student_t(100000)").fetchall()
    assert few_and_many == (None, pytest.approx(3.2906, abs=1e-3))
