"""Two jobs compared by names: drawn cases, and seeded random rows against plain Python."""

import math
import random
from typing import Any

import duckdb
import pytest
from queries import brute_diffs
from queries.small_tables import SmallTables, same
from seeds import seeds

Rows = list[dict[str, Any]]
TWO = """
    job rank
    a   0
    b   0
"""


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
        name change base_self_ns test_self_ns diff_kernel_count base_kernel_ns test_kernel_ns
        linear increased 20 32 0 0 0
        cudaLaunchKernel added 0 2 0 0 0
        mm unchanged 10 6 1 7 10
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


def test_stages(compare: SmallTables):
    #  main      [ ProfilerStep#1                                 )
    #            [ forward )   [ backward              )
    #              launch 1      . . . waits . . . . .
    #  autograd                    [ node: launch 2   )
    compare.expect(
        "annotation_diff",
        """
        name         base_count base_total_ns base_kernel_count base_kernel_ns test_count change
        forward      1          30            1                 5              0          deleted
        ProfilerStep 1          100           2                 12             1          unchanged
        backward     1          40            1                 7              1          unchanged
    """,
        traces=TWO,
        ops="""
        job tid cat name event_id root_id annotation_id caller_id start_ns dur_ns step
        a 1 user_annotation ProfilerStep#1 1 1 - - 0 100 1
        a 1 user_annotation forward 2 1 1 - 0 30 1
        a 1 cuda_runtime launch 3 1 2 - 5 1 1
        a 1 user_annotation backward 4 1 1 - 40 40 1
        a 2 cpu_op node 5 5 - 4 45 30 1
        a 2 cuda_runtime launch 6 5 - - 50 1 1
        b 1 user_annotation ProfilerStep#9 1 1 - - 0 90 9
        b 1 user_annotation backward 2 1 1 - 40 40 9
    """,
        activities="""
        job event_id annotation_id launch_id start_ns dur_ns step
        a   10       2             3         60       5      1
        a   11       -             6         70       7      1
    """,
    )


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
        exact = brute_diffs.quantile_of_t(freedom)
        assert exact <= value * (1 + 1e-6) and value < exact * 1.01 + 0.001, freedom
    [few_and_many] = compare.con.execute("SELECT student_t(0), student_t(100000)").fetchall()
    assert few_and_many == (None, pytest.approx(3.2906, abs=1e-3))


# Random rows


def random_tables(seed: int) -> dict[str, Rows]:
    """Two or three jobs of up to two ranks, some without steps, with ties, overlaps and zeros."""
    rng = random.Random(seed)
    tables: dict[str, Rows] = {"gpu_activities": [], "host_ops": [], "traces": []}
    for job in ["a", "b", "c"][: rng.choice([2, 2, 3])]:
        has_steps = rng.random() < 0.7
        for rank in range(rng.choice([1, 1, 2])):
            tables["traces"].append({"job": job, "rank": rank})
            one_rank(rng, tables, job, rank, range(1, rng.randint(2, 8)) if has_steps else ())
    return tables


def one_rank(rng: random.Random, tables: dict[str, Rows], job: str, rank: int, steps) -> None:
    ids = iter(range(1000))
    of_rank = {"job": job, "rank": rank}

    def host(name: str, cat: str, start: int, dur: int, step, root, **more) -> dict:
        event_id = next(ids)
        row = (
            of_rank
            | {
                "event_id": event_id,
                "name": name,
                "cat": cat,
                "start_ns": start,
                "dur_ns": dur,
                "step": step,
                "pid": "1",
                "root_id": event_id if root is None else root,
            }
            | more
        )
        tables["host_ops"].append(row)
        return row

    for at, step in enumerate([*steps, None]):
        begin, mark = 100 * at, None
        if step is not None:
            mark = host(f"ProfilerStep#{step}", "user_annotation", begin, 95, step, None)
        for tid in ("1", "2"):
            top = mark if tid == "1" else None
            for _ in range(rng.randint(0, 3)):
                start = begin + rng.randint(1, 60)
                stage = host(
                    rng.choice(["forward", "loss"]),
                    "user_annotation",
                    start,
                    rng.randint(0, 20),
                    step,
                    top and top["event_id"],
                    tid=tid,
                    parent_id=top and top["event_id"],
                    annotation_id=top and top["event_id"],
                    caller_id=mark["event_id"] if mark and not top and rng.random() < 0.5 else None,
                )
                inner = rng.random() < 0.6
                around = stage if inner else top
                op = host(
                    rng.choice(["mm", "add"]),
                    "cpu_op",
                    start,
                    rng.randint(0, stage["dur_ns"]) if inner else rng.randint(0, 5),
                    step,
                    around and around["root_id"],
                    tid=tid,
                    parent_id=around and around["event_id"],
                    annotation_id=around and around["event_id"],
                    input_dims=rng.choice([None, "[[8]]", "[[9]]"]),
                )
                call = host(
                    "cudaLaunchKernel",
                    "cuda_runtime",
                    start,
                    0,
                    step,
                    op["root_id"],
                    tid=tid,
                    parent_id=op["event_id"],
                    op_id=op["event_id"],
                    annotation_id=op["annotation_id"],
                )
                for _ in range(rng.randint(0, 2)):
                    kind = rng.choice(["computation", "communication", "memory"])
                    tables["gpu_activities"].append(
                        of_rank
                        | {
                            "event_id": next(ids),
                            "kind": kind,
                            "step": step,
                            "name": f"{kind[:3]}<{rng.randint(1, 2)}>",
                            "short_name": kind[:3],
                            "device": rng.choice([0, 0, 1]),
                            "start_ns": begin + rng.randint(0, 90),
                            "dur_ns": rng.choice([0, 3, 3, rng.randint(1, 30)]),
                            "launch_id": call["event_id"] if rng.random() < 0.9 else None,
                            "op_id": op["event_id"],
                            "annotation_id": op["annotation_id"],
                        }
                    )


CHOICES: list[dict[str, Any]] = [
    {},
    {"base_job": "a", "test_job": "b"},
    {"base_job": "b", "test_job": "a"},
    {"base_job": "a", "test_job": "a", "base_steps": [1], "test_steps": [1, 2, 3]},
    {"base_job": "a", "test_job": "b", "base_ranks": [0], "test_ranks": [0, 1]},
    {"base_job": "b", "test_job": "b", "base_ranks": [0], "test_ranks": [1]},
]
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("kernel_diff", {}),
    ("kernel_diff", {"short_names": True}),
    ("op_diff", {}),
    ("op_diff", {"by_shape": True}),
    ("op_diff", {"only_cats": ["cpu_op"]}),
    ("annotation_diff", {}),
    ("temporal_diff", {}),
]


@pytest.mark.parametrize("seed", seeds(4))
def test_random_rows(compare: SmallTables, seed: int):
    tables = random_tables(seed)
    compare.fill(**tables)
    kept = {name: completed(compare, name) for name in tables}
    for chosen in CHOICES:
        wanted = [getattr(brute_diffs, query)(kept, **chosen, **more) for query, more in VARIANTS]
        for (query, more), rows in zip(VARIANTS, wanted, strict=True):
            columns = [column.name for column in compare.query(query).columns]
            ordered = [{name: row[name] for name in columns} for row in rows]
            compare.compare(query, ordered, tables, seed, **chosen, **more)


def completed(tables: SmallTables, name: str) -> Rows:
    """The rows as the queries see them, with ends and defaults."""
    result = tables.con.execute(f"FROM given_{name}")
    columns = [column[0] for column in result.description]
    return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]


@pytest.mark.parametrize("seed", seeds(8))
def test_random_steps(compare: SmallTables, seed: int):
    tables = random_tables(seed)
    compare.fill(**tables)
    kept = {name: completed(compare, name) for name in tables}
    for chosen in CHOICES:
        found = compare.run("step_diff", **chosen)
        wanted = brute_diffs.step_diff(kept, **chosen)
        assert [row["name"] for row in found] == [row["name"] for row in wanted]
        for row, want in zip(found, wanted, strict=True):
            plain = {name: want[name] for name in want if name not in ("diff", "noise")}
            assert same({name: row[name] for name in plain}, plain), (seed, chosen)
            low, high = row["diff_low_ns"], row["diff_high_ns"]
            if want["noise"] is None:
                assert low is None and high is None and row["is_significant"] is None
                continue
            assert math.isclose(low, want["diff"] - want["noise"], rel_tol=2e-3, abs_tol=1.01)
            assert math.isclose(high, want["diff"] + want["noise"], rel_tol=2e-3, abs_tol=1.01)
            if abs(abs(want["diff"]) - want["noise"]) > 1.01 + 2e-3 * want["noise"]:
                assert row["is_significant"] == (abs(want["diff"]) > want["noise"])
        assert compare.broken_promises("step_diff", **chosen) == []


@pytest.mark.parametrize("seed", seeds(6))
def test_the_same_on_both_sides_is_unchanged(compare: SmallTables, seed: int):
    compare.fill(**random_tables(seed))
    for query in (
        "kernel_diff",
        "op_diff",
        "annotation_diff",
        "temporal_diff",
        "module_diff",
        "collective_diff",
        "step_diff",
    ):
        for row in compare.run(query, base_job="a", test_job="a"):
            assert row["change"] == "unchanged"
            assert not row["diff_count"] and not row["diff_total_ns"]
        assert compare.broken_promises(query, base_job="a", test_job="a") == []
