"""op_flops and step_mfu over random jobs, against plain Python."""

import random
from itertools import product

import duckdb
import pytest
from queries import brute_flops
from queries.flops.random_calls import random_parameters, random_tables
from queries.test_ops_random import with_strides
from seeds import seeds

SEEDS = range(3)


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_jobs(host, seed):
    rng = random.Random(seed)
    tables = random_tables(rng)
    rows = tables["gpu_activities"], tables["host_ops"], tables["traces"]
    events, strides = with_strides(rng, tables["host_ops"])
    tables["events"] = events
    for given in ({}, random_parameters(rng)):
        host.compare("step_mfu", brute_flops.step_mfu(*rows, **given), tables, seed, **given)
        if rng.random() < 0.5:
            given = given | {"peak_gbps": 3.0}
        for more in ({}, {"by_strides": True}):
            wanted = brute_flops.op_flops(*rows, strides=strides, **given, **more)
            host.compare("op_flops", wanted, tables, seed, **given, **more)


@pytest.mark.seeds
def test_random_jobs_are_worth_it():
    """Every case that the queries have to tell apart comes up."""
    flops, mfu = [], []
    for seed in SEEDS:
        tables = random_tables(random.Random(seed))
        rows = tables["gpu_activities"], tables["host_ops"], tables["traces"]
        flops += brute_flops.op_flops(*rows)
        flops += brute_flops.op_flops(*rows, peak_tflops=0.0005, peak_gbps=3.0)
        mfu += brute_flops.step_mfu(*rows) + brute_flops.step_mfu(*rows, peak_tflops=0.5)
    seen = {(row["family"], row["is_counted"]) for row in flops}
    assert seen >= set(
        product(
            ("matrix product", "convolution", "attention", "attention backward", "elementwise"),
            (True, False),
        )
    )
    assert {row["dtype"] for row in flops} >= {"float32", "tf32", "bfloat16", None}
    assert {row["bound"] for row in flops} == {"compute", "memory", None}
    assert {row["is_estimated"] for row in flops} == {True, False}
    assert any(row["launching_call_count"] < row["count"] for row in flops)
    assert any(row["count"] > 1 for row in flops)
    assert any(row["kernel_count"] and not row["kernel_ns"] for row in flops)
    assert any(row["hfu_frac"] and row["hfu_frac"] > row["mfu_frac"] > 0 for row in mfu)
    assert any(row["mfu_frac"] is None and row["flops"] for row in mfu)
    assert {row["step"] for row in mfu} == {None, 1, 2}
    assert {row["device"] for row in mfu} == {None, 0, 1}
    assert any(row["coverage_frac"] and row["coverage_frac"] < 1 for row in mfu)


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("op_flops", "peak_tflops"),
        ("op_flops", "peak_gbps"),
        ("step_mfu", "peak_tflops"),
        ("memory_timeline", "bucket_ns"),
    ],
)
@pytest.mark.parametrize("value", [0, -5])
def test_nothing_is_no_measure(host, query, parameter, value):
    host.fill()
    with pytest.raises(duckdb.InvalidInputException, match=f"{query}: {parameter} is above 0"):
        host.run(query, **{parameter: value})


def test_kernels_of_a_call_count_whatever_step_they_are_of(host):
    """As in op_stats: the call is of the step in which it begins."""
    host.expect(
        "op_flops",
        """
        name      count  kernel_count  kernel_ns  flops
        aten::mm  1      2             7000       48
        """,
        ops="""
        event_id  name      start_ns  dur_ns  step  input_dims     input_types
        1         aten::mm  50        100     1     [[2,3],[3,4]]  ["float","float"]
        """,
        activities="""
        event_id  start_ns  dur_ns  op_id  step
        8         60        3000    1      1
        9         120       4000    1      2
        """,
        only_steps=[1],
    )
