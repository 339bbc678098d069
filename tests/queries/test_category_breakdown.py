"""Cases of category_breakdown and of the activities with their category."""

import random
from collections import defaultdict

import pytest
from queries.brute_force import grouped, instants, selected
from queries.small_tables import completed
from seeds import seeds

# Names and what they are; an operator decides if it does one thing.
KERNELS = {
    "ampere_sgemm_32x128_tn": "gemm",
    "flash_fwd_kernel": "attention",
    "batched_transpose_32x32_half": "copy_layout",
    "triton_poi_fused_add_0": "compiled",
    "kernel_42": "other",
    None: "other",
}
OPERATORS = {
    "aten::convolution": lambda by_kernel: "convolution",
    "vllm::moe_forward": lambda by_kernel: "grouped_gemm" if by_kernel == "other" else by_kernel,
    "custom": lambda by_kernel: by_kernel,
}


def test_categories_alone_and_together(gpu):
    # 0    5    10   15   20   25
    # [=gemm====)    [gemm)         stream 7
    #      [=nccl====)              stream 9
    #        [nccl)                 stream 11
    #                      [copy)  stream 7
    gpu.expect(
        "category_breakdown",
        f"""
        job  rank  device  categories          time_ns  time_frac
        j    0     0       gemm                10       {10 / 24}
        j    0     0       communication       5        {5 / 24}
        j    0     0       communication+gemm  5        {5 / 24}
        j    0     0       memory              4        {4 / 24}
    """,
        activities="""
        kind           name           stream  start_ns  end_ns
        computation    ampere_sgemm   7       0         10
        communication  ncclDevKernel  9       5         15
        communication  ncclDevKernel  11      7         12
        computation    volta_sgemm    7       15        20
        memory         Memcpy~DtoD    7       21        25
        computation    ampere_sgemm   7       25        25
    """,
    )


def test_the_operator_decides_where_it_does_one_thing(gpu):
    gpu.expect(
        "category_breakdown",
        f"""
        categories    time_ns  time_frac
        convolution   10       {10 / 16}
        quantization  3        {3 / 16}
        grouped_gemm  2        {2 / 16}
        memory        1        {1 / 16}
    """,
        activities="""
        kind         name                op_id  start_ns  end_ns
        computation  volta_sgemm_32x32   1      0         10
        computation  scaled_fp8_quant    2      10        13
        computation  kernel_42           2      13        15
        memory       Memset~(Device)     1      15        16
    """,
        ops="""
        event_id  cat              name               start_ns  end_ns
        1         cpu_op           aten::convolution  0         1
        2         cpu_op           vllm::moe_forward  0         1
        3         user_annotation  aten::mm           0         1
    """,
    )


def test_devices_do_not_mix(gpu):
    """Activities of two devices touch where these are laid end to end, and one rank has no device
    number."""
    gpu.expect(
        "category_breakdown",
        """
        rank  device  categories  time_ns  time_frac
        0     0       gemm        5        1
        0     1       softmax     7        1
        1     -       gemm        2        1
    """,
        activities="""
        rank  device  name          start_ns  end_ns
        0     0       ampere_sgemm  0         5
        0     1       softmax       5         12
        0     1       softmax       6         9
        1     -       ampere_sgemm  3         5
    """,
    )


def random_rows(rng):
    activities, ops = [], []
    for number in range(20):
        ranks = rng.choice([[0], [0, 3]])
        for rank in ranks:
            ops += [
                {"job": f"job{number}", "rank": rank, "event_id": i, "name": name}
                for i, name in enumerate(OPERATORS, 1)
            ]
        for _ in range(rng.choice([1, 3, 10, 40])):
            kind = rng.choice(["computation", "computation", "communication", "memory"])
            activities.append(
                {
                    "job": f"job{number}",
                    "rank": rng.choice(ranks),
                    "device": rng.choice([0, 1, None]),
                    "kind": kind,
                    "name": rng.choice(list(KERNELS)),
                    "op_id": rng.choice([None, 1, 2, 3, 9]),
                    "step": rng.choice([None, 1, 2]),
                    "start_ns": rng.randint(0, 50),
                    "dur_ns": rng.choice([0, 1, 5, 20]),
                }
            )
    ops = [row | {"start_ns": 0, "dur_ns": 1} for row in ops]
    return (
        [completed("gpu_activities", row, i) for i, row in enumerate(activities)],
        [completed("host_ops", row, i) for i, row in enumerate(ops)],
    )


def category(row):
    if row["kind"] in ("communication", "memory"):
        return row["kind"]
    by_kernel = KERNELS[row["name"]]
    operator = dict(enumerate(OPERATORS.values(), 1)).get(row["op_id"])
    return operator(by_kernel) if operator else by_kernel


def breakdown(activities, **only):
    rows = [row | {"kind": category(row)} for row in selected(activities, **only)]
    for (job, rank, device), group in grouped(rows, "job", "rank", "device"):
        by_category = {name: instants(group, name) for name in {row["kind"] for row in group}}
        busy = instants(group)
        times = defaultdict(int)
        for at in busy:
            times["+".join(sorted(name for name in by_category if at in by_category[name]))] += 1
        for categories, time in sorted(times.items(), key=lambda item: (-item[1], item[0])):
            yield {
                "job": job,
                "rank": rank,
                "device": device,
                "categories": categories,
                "time_ns": time,
                "time_frac": time / len(busy),
            }


@pytest.mark.parametrize("seed", seeds(range(8)))
def test_random_rows(gpu, seed):
    rng = random.Random(seed)
    activities, ops = random_rows(rng)
    tables = {"gpu_activities": activities, "host_ops": ops}
    for only in ({}, {"only_ranks": [3]}, {"only_jobs": ["job1", "job7"], "only_steps": [2]}):
        gpu.compare("category_breakdown", list(breakdown(activities, **only)), tables, seed, **only)


@pytest.mark.parametrize("seed", seeds(range(4)))
def test_activities_with_their_category(gpu, seed):
    """The view and the macro have every activity once, with its category."""
    activities, ops = random_rows(random.Random(seed))
    gpu.fill(activities, ops)
    names = dict(enumerate(OPERATORS, 1))
    wanted = sorted((row["event_id"], names.get(row["op_id"]), category(row)) for row in activities)
    for source in (
        "categorised_activities",
        "categorised_activities_of(NULL::VARCHAR[], NULL::INTEGER[], NULL::BIGINT[])",
    ):
        found = gpu.con.sql(
            f"SELECT event_id, operator_name, kernel_category FROM {source} ORDER BY event_id"
        ).fetchall()
        assert found == wanted
        columns = gpu.con.sql(f"FROM {source} LIMIT 0").columns
        assert columns == [
            *gpu.con.sql("FROM gpu_activities LIMIT 0").columns,
            "operator_name",
            "kernel_category",
        ]


@pytest.mark.parametrize("seed", seeds(range(4)))
def test_timeline_with_categories(gpu, seed):
    """A timeline of chosen activities has the category of each."""
    activities, ops = random_rows(random.Random(seed))
    gpu.fill(activities, ops)
    for only in ({}, {"only_ranks": [3]}, {"only_jobs": ["job1", "job7"], "only_steps": [2]}):
        wanted = {row["event_id"]: category(row) for row in selected(activities, **only)}
        found = gpu.run("kernel_timeline", **only)
        assert {row["event_id"]: row["category"] for row in found} == wanted
        assert len(found) == len(wanted) > 0
