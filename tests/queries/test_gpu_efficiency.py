"""gpu_efficiency over small tables and random kernels."""

import math
import random

import pytest
from queries.brute_gpu_efficiency import gpu_efficiency
from queries.efficiency import JOBS, NOT_SAID, ON_TENSOR_CORES, SEEDS
from queries.small_tables import completed
from seeds import seeds


def test_long_kernels_count_more(gpu):
    # 0         10        20        30        40
    # [=============================)              on tensor cores, half of the SMs
    #                           [=========)        not, on another stream: both count in full
    gpu.expect(
        "gpu_efficiency",
        """
        job  rank  device  occupancy_frac  sm_efficiency_frac  tensor_core_frac  kernel_ns
        j    0     0       0.4             0.625               0.75              40
    """,
        activities="""
        stream  name               start_ns  end_ns  occupancy_frac  blocks_per_sm
        7       sm90_xmma_gemm_tn  0         30      0.2             0.5
        8       relu               26        36      1               4
    """,
    )


def test_copies_are_no_kernels_but_collectives_are(gpu):
    gpu.expect(
        "gpu_efficiency",
        """
        occupancy_frac  sm_efficiency_frac  tensor_core_frac  kernel_ns  tensor_core_ns
        0.5             0.5                 0.5               20         10
    """,
        activities="""
        kind           name               start_ns  end_ns  occupancy_frac  blocks_per_sm
        computation    sm90_xmma_gemm_tn  0         10      0.75            0.9
        communication  nccl               10        20      0.25            0.1
        memory         Memcpy~DtoD        20        90      1               1
        memory         sm90_xmma_gemm_tn  20        90      1               1
    """,
    )


def test_kernels_without_the_arguments_do_not_count_in_them(gpu):
    # occupancy (10 * 0.2 + 30 * 0.6) / 40, blocks per SM (10 * 0.5 + 20 * 1) / 30
    gpu.expect(
        "gpu_efficiency",
        f"""
        occupancy_frac  sm_efficiency_frac  tensor_core_frac  kernel_ns
        0.5             {25 / 30}           0                 60
    """,
        activities="""
        name  start_ns  end_ns  occupancy_frac  blocks_per_sm
        a     0         10      0.2             0.5
        b     10        30      -               1
        c     30        60      0.6             -
    """,
    )


@pytest.mark.parametrize(
    ("occupancy", "blocks"), [("1.01", "-0.5"), ("-0.01", "inf"), ("nan", "nan"), ("inf", "-inf")]
)
def test_impossible_arguments_are_as_good_as_none(gpu, occupancy, blocks):
    gpu.expect(
        "gpu_efficiency",
        """
        occupancy_frac  sm_efficiency_frac  kernel_ns
        0.25            0.5                 110
    """,
        activities=f"""
        name  start_ns  end_ns  occupancy_frac  blocks_per_sm
        a     0         10      0.25            0.5
        b     10        110     {occupancy}     {blocks}
    """,
    )


def test_neither_arguments_nor_time(gpu):
    # device 0: no arguments, as on AMD; 1: only copies; 2: kernels of no length; -: not known
    gpu.expect(
        "gpu_efficiency",
        """
        device  occupancy_frac  sm_efficiency_frac  tensor_core_frac  kernel_ns  tensor_core_ns
        0       -               -                   0.25              40         10
        1       -               -                   -                 0          0
        2       -               -                   -                 0          0
        -       0               0                   0                 10         0
    """,
        activities="""
        device  kind         name                start_ns  end_ns  occupancy_frac  blocks_per_sm
        0       computation  Cijk_A_MI16x16x1_S  0         10      -               -
        0       computation  relu                10        40      -               -
        1       memory       Memcpy~DtoD         0         10      -               -
        2       computation  relu                5         5       0.5             0.5
        -       computation  relu                5         15      0               0
    """,
    )


def test_sums_do_not_lose_small_figures(gpu):
    """As doubles, 0.01 beside 1e17 ns is lost."""
    gpu.fill("""
        name  start_ns  end_ns              occupancy_frac  blocks_per_sm
        a     0         100000000000000000  0               0
        b     0         1                   0.01            0.009259259
        c     0         1                   1               12035.463
    """)
    [row] = gpu.run("gpu_efficiency")
    assert row["occupancy_frac"] == pytest.approx(1.01e-17, rel=1e-12, abs=0)
    assert row["sm_efficiency_frac"] == pytest.approx(1.009259259e-17, rel=1e-12, abs=0)


def test_odd_rows_are_no_error(gpu):
    # ten years in kernels of which the trace tells no name
    gpu.expect(
        "gpu_efficiency",
        """
        occupancy_frac  sm_efficiency_frac  tensor_core_frac  kernel_ns
        0.5             1                   0                 300000000000000000
    """,
        activities="""
        name  start_ns  end_ns              occupancy_frac  blocks_per_sm
        -     0         100000000000000000  0.25            1
        -     0         200000000000000000  0.625           1
    """,
    )


def test_selection_comes_before_the_measuring(gpu):
    activities = """
        job  rank  step  name        start_ns  end_ns  occupancy_frac
        b    0     1     nvjet_tst   0         4       0.1
        a    10    1     relu        0         4       0.2
        a    2     1     nvjet_tst   0         4       0.3
        a    2     2     relu        4         8       0.5
        a    2     -     relu        8         16      0.9
    """
    gpu.expect(
        "gpu_efficiency",
        f"""
        job  rank  occupancy_frac              tensor_core_frac
        a    2     {(4 * 3 + 4 * 5 + 8 * 9) / 160}  0.25
        a    10    0.2                         0
        b    0     0.1                         1
    """,
        activities=activities,
    )
    gpu.expect(
        "gpu_efficiency",
        """
        job  rank  occupancy_frac  tensor_core_frac
        a    2     0.4             0.5
    """,
        activities=activities,
        only_jobs=["a"],
        only_ranks=[2, 3],
        only_steps=[1, 2],
    )


def test_nothing_at_all(gpu):
    gpu.fill()
    assert gpu.run("gpu_efficiency") == []


def random_activities(rng):
    rows = []
    fast = [name for _, names in ON_TENSOR_CORES for name in names]
    for number in range(JOBS):
        ranks, devices = rng.choice([[0], [0, 1, 3]]), rng.choice([[0], [0, 1], [None, 7]])
        names = rng.sample(fast + NOT_SAID[1:], 4)
        odd = [None, 0.07, 1.5, -0.1, math.nan]
        occupancies = rng.choice([[None], [0.0, 0.01, 0.59, 1.0], odd])
        blocks = rng.choice([[None], [0.009259259, 1.0, 896.2963], [None, 0.3, -1.0, math.inf]])
        longest = rng.choice([0, 3, 1_000_000])
        for _ in range(rng.choice([0, 1, 2, 6, 15, 40])):
            rows.append(
                {
                    "job": f"job{number}",
                    "rank": rng.choice(ranks),
                    "device": rng.choice(devices),
                    "stream": rng.choice([None, 0, 7]),
                    "step": rng.choice([None, 1, 2, 12]),
                    "kind": rng.choice(["computation", "communication", "memory"]),
                    "name": rng.choice(names),
                    "start_ns": rng.randint(0, 40),
                    "dur_ns": rng.randint(0, longest),
                    "occupancy_frac": rng.choice(occupancies),
                    "blocks_per_sm": rng.choice(blocks),
                }
            )
    return [completed("gpu_activities", row, i) for i, row in enumerate(rows)]


def is_fast(name):
    return any(name in names for _, names in ON_TENSOR_CORES)


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_kernels(gpu, seed):
    rng = random.Random(seed)
    activities = random_activities(rng)
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": [0, 3],
        "only_steps": rng.choice([[1], [2, 12], []]),
    }
    for given in ({}, parameters, {"only_steps": parameters["only_steps"]}):
        wanted = list(gpu_efficiency(activities, is_fast, **given))
        gpu.compare("gpu_efficiency", wanted, {"gpu_activities": activities}, seed, **given)


@pytest.mark.seeds
def test_random_kernels_are_worth_it():
    rows = [
        row
        for seed in SEEDS
        for row in gpu_efficiency(random_activities(random.Random(seed)), is_fast)
    ]
    for column in ("occupancy_frac", "sm_efficiency_frac", "tensor_core_frac"):
        values = {row[column] for row in rows if row["kernel_ns"]}
        assert len(values) > 20
        assert (None in values) == (column != "tensor_core_frac")
    assert any(row["kernel_ns"] == 0 for row in rows)
