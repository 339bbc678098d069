"""Random operators with shapes, and their activities."""

from queries.flops.calls import BF16, HALF, call
from queries.flops.golden_attention import GOLDEN
from queries.small_tables import completed

SHAPES = [
    call("mm", [[2, 3], [3, 4]], "float"),
    call("mm", [[20, 30], [30, 4]], HALF),
    call("mm", [[2, 3], [5, 4]], "float"),
    call("mm", [[2, 2], [2, 2]], "long"),
    call("addmm", [[4], [2, 3], [3, 4], [], []], "float"),
    call("linear", [[2, 3], [4, 3], [4]], "float"),
    call("linear", [[2, 3], [4, 3], [4]], BF16),
    call("copy_", [[8], [8], []], "float"),
    call("add", [[8], [8], []], "float"),
    call("add", [[8], [8], []], "float", {2: "1"}),
    call("sum", [[8, 4], []], "float"),
    GOLDEN["conv2d"][0],
    GOLDEN["attention"][0],
    GOLDEN["flash backward"][0],
    GOLDEN["attention, is_causal unknown"][0],
    call(
        "_flash_attention_forward",
        [[10, 4, 8]] * 3 + [[4], [4], *[[]] * 10],
        BF16,
        {5: "5", 6: "5", 8: "False"},
    ),
    *(
        {"name": name, "input_dims": None, "input_types": None, "concrete_inputs": None}
        for name in ("aten::t", "aten::matmul", "AddmmBackward0", "aten::mm")
    ),
]


KERNELS = ["gemm", "cutlass_80_tensorop_s1688gemm", "add", None]


def random_tables(rng):
    ops, activities, traces = [], [], []
    for number in range(12):
        job = f"job{number}"
        ranks = rng.choice([[0], [0, 1]])
        for rank in ranks:
            if rng.random() < 0.8:
                traces.append(
                    {
                        "job": job,
                        "rank": rank,
                        "device_name": rng.choice(
                            ["NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB", "other", None]
                        ),
                    }
                )
            if rng.random() < 0.6:
                ops += [
                    {
                        "job": job,
                        "rank": rank,
                        "event_id": 1000 + step,
                        "step": step,
                        "name": f"ProfilerStep#{step}",
                        "cat": "user_annotation",
                        "start_ns": 100 * step,
                        "dur_ns": rng.choice([0, 80, 100]),
                    }
                    for step in rng.sample([1, 2], rng.choice([1, 2]))
                ]
            mine = []
            for event_id in range(rng.choice([0, 3, 12, 30])):
                backward = rng.random() < 0.4
                mine.append(
                    dict(rng.choice(SHAPES))
                    | {
                        "job": job,
                        "rank": rank,
                        "event_id": event_id,
                        "cat": rng.choice(["cpu_op"] * 4 + ["Operator", "user_annotation"]),
                        "op_id": rng.choice([None, *(row["event_id"] for row in mine[-4:])]),
                        "step": rng.choice([None, 1, 2]),
                        "start_ns": rng.randint(0, 300),
                        "dur_ns": rng.randint(0, 30),
                        "is_backward": backward,
                        "sequence_number": rng.choice([None, 5, 5, -1]),
                        "fwd_thread_id": rng.choice([None, 0, 0, 1]),
                    }
                )
            ops += mine
            for _ in range(rng.choice([0, 5, 60])):
                activities.append(
                    {
                        "job": job,
                        "rank": rank,
                        "device": rng.choice([0, 0, 0, 0, 1, None]),
                        "step": rng.choice([None, 1, 2]),
                        "kind": rng.choice(["computation"] * 3 + ["communication", "memory"]),
                        "name": rng.choice(KERNELS),
                        "start_ns": rng.randint(0, 400),
                        "dur_ns": rng.choice([0, 10, 30]),
                        "op_id": rng.choice([None, 77, *(row["event_id"] for row in mine)]),
                    }
                )
    return {
        "gpu_activities": [
            completed("gpu_activities", row | {"short_name": "k"}, at)
            for at, row in enumerate(activities)
        ],
        "host_ops": [
            completed(
                "host_ops",
                {
                    "op_id": None,
                    "step": None,
                    "is_backward": False,
                    "sequence_number": None,
                    "fwd_thread_id": None,
                    "input_dims": None,
                    "input_types": None,
                    "concrete_inputs": None,
                }
                | row,
                at,
            )
            for at, row in enumerate(ops)
        ],
        "traces": [completed("traces", row, at) for at, row in enumerate(traces)],
    }


def random_parameters(rng):
    given = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(12), 8)],
        "only_ranks": rng.choice([[0], [1]]),
        "only_steps": rng.choice([[1], [2], [1, 2], []]),
        "peak_tflops": rng.choice([0.5, 0.0005]),
    }
    return {name: value for name, value in given.items() if rng.random() < 0.4}
