"""Operators whose cost needs more than their arguments: the load of a step, or what is inside."""

import json
import random

import pytest
from queries import brute_flops
from queries.brute_flop_costs import cost
from queries.flops.calls import BF16, call, costs
from queries.flops.golden_server import named
from seeds import seeds

# Two sequences in prefill with 3 queries of 5 keys and 2 of 2; three in decode with 7, 8 and 9.
STEP = "execute_8_context_2(sq5sk7sqsq13sqsk19)_generation_3(sq3sk24sqsq3sqsk24)"


PAIRS = (3 + 4 + 5) + (1 + 2) + (7 + 8 + 9)


def attention(tokens, heads=4, key_heads=2, size=8):
    return named(
        "vllm::unified_attention_with_output",
        [[tokens, heads, size], *[[tokens, key_heads, size]] * 2, [tokens, heads, size], []],
        [BF16, BF16, BF16, BF16, ""],
    )


def annotated(rows, *names):
    """The calls, inside of annotations, outermost first."""
    around = [
        {
            "event_id": 100 + at,
            "annotation_id": 99 + at if at else None,
            "name": name,
            "cat": "user_annotation",
            "start_ns": 0,
            "dur_ns": 99,
        }
        for at, name in enumerate(names)
    ]
    inner = 99 + len(names)
    return around + [row | {"event_id": at, "annotation_id": inner} for at, row in enumerate(rows)]


def run(host, rows):
    host.fill(host_ops=rows)
    return host.run("op_flops")


@pytest.mark.parametrize(
    ("tokens", "pairs", "queries", "keys"),
    [
        (8, PAIRS, 8, 31),
        (16, PAIRS, 8, 31),  # padded
        (5, 15, 5, 7),  # those in prefill
        (3, 24, 3, 24),  # those in decode
    ],
)
def test_attention_has_the_load_of_its_step(host, tokens, pairs, queries, keys):
    [row] = run(host, annotated([attention(tokens)], STEP))
    assert row["flops"] == 2 * 4 * pairs * 16
    assert row["bytes"] == 2 * (2 * queries * 4 * 8 + 2 * keys * 2 * 8)
    assert (row["family"], row["dtype"], row["is_estimated"]) == ("attention", "bfloat16", True)


def test_the_innermost_annotation_with_sums(host):
    [row] = run(host, annotated([attention(8)], "execute_model", STEP, "step[EXTEND bs=5 toks=8]"))
    assert row["flops"] == 2 * 4 * PAIRS * 16


def test_no_load_no_cost(host):
    assert run(host, [attention(8)]) == []
    assert run(host, annotated([attention(8)], "step[EXTEND bs=5 toks=8]")) == []
    assert run(host, annotated([attention(4)], STEP)) == []  # fewer queries than the step has


def test_windows_and_masks(host):
    """mha_batch_prefill: whether the mask is causal, and the window, are the 13th and 14th."""
    dims = [[5, 4, 8], [99, 2, 8], [99, 2, 8], [3], [3], [7], *[[]] * 10]
    for texts, pairs, windowed in (
        ({12: "True", 13: "-1"}, 15, False),
        ({12: "False", 13: "-1"}, 19, False),
        ({12: "True", 13: "2"}, 15, True),
    ):
        call = named(
            "aiter::mha_batch_prefill",
            dims,
            [BF16, BF16, BF16, "int", "int", "int", *["Scalar"] * 10],
            texts,
        )
        [row] = run(host, annotated([call], STEP))
        assert (row["flops"], row["is_estimated"]) == (2 * 4 * pairs * 16, windowed)


CACHE = [9, 16, 1, 10]
# Three queries of 4 heads with 8 + 2 numbers, of which 8 are the value; 24 keys.
LATENT = [
    named(
        "sgl_kernel::cutlass_mla_decode",
        [[3, 4, 8], [3, 4, 8], [3, 4, 2], CACHE, [3], [3, 2], [64], [], []],
        [BF16, BF16, BF16, BF16, "int", "int", "unsigned char", "Scalar", "Scalar"],
    ),
    named(
        "_C::sm100_cutlass_mla_decode",
        [[3, 4, 8], [], [3, 4, 8], [3, 4, 2], CACHE, [3], [3, 2], [64], [], []],
        [BF16, "", BF16, BF16, BF16, "int", "int", "unsigned char", "Scalar", "Scalar"],
    ),
    named(
        "sgl_kernel::fwd_kvcache_mla",
        [[3, 1, 4, 10], CACHE, [], [3], [3, 2], [], [], [1, 8], [4], [], []],
        [BF16, BF16, "Scalar", "int", "int", "Scalar", "Scalar", "int", "int", "Scalar", ""],
        {2: "8", 6: "True"},
    ),
    named(
        "aiter::mla_decode_stage1_asm_fwd",
        [[3, 4, 10], CACHE, [4], [4], [24], [3], [4], [], [], [], [], [], [], [], [3, 5, 4, 8]],
        [BF16, BF16, *["int"] * 5, *[""] * 3, *["Scalar"] * 4, "float"],
    ),
]


@pytest.mark.parametrize("row", LATENT, ids=[row["name"] for row in LATENT])
def test_latent_attention(host, row):
    """All heads share the keys, and the values are a part of them."""
    step = "execute_3_context_0(sq0sk0sqsq0sqsk0)_generation_3(sq3sk24sqsq3sqsk24)"
    rows = annotated([row], step)
    [found] = run(host, rows)
    assert found["flops"] == 2 * 4 * 24 * (10 + 8)
    assert found["bytes"] == 2 * (3 * 4 * 10 + 3 * 4 * 8 + 24 * 10)
    assert (found["family"], found["is_estimated"]) == ("attention", False)
    brute = cost(row["name"], row["input_dims"], row["input_types"], row["concrete_inputs"], step)
    assert (brute.flops, brute.bytes) == (found["flops"], found["bytes"])


def test_sparse_attention_counts_the_chosen_keys(host):
    """Two for each of the three queries, whatever the load says."""
    row = dict(LATENT[2])
    row["input_dims"] = row["input_dims"].removesuffix("[]]") + "[3, 1, 2]]"
    row["input_types"] = row["input_types"].removesuffix('""]') + '"int"]'
    [found] = run(host, annotated([row], STEP))
    assert (found["flops"], found["is_estimated"]) == (2 * 4 * 6 * (10 + 8), True)
    assert found["bytes"] == 2 * (3 * 4 * 10 + 3 * 4 * 8 + 6 * 10) + 4 * 6


def test_packed_sequences_are_bounded_without_a_load(host):
    """As many keys as possible for each query: 5 queries of 5 keys at most, or 7 keys of 3."""
    packed = named(
        "flash_attn::_flash_attn_varlen_forward",
        [[5, 4, 8], [7, 4, 8], [7, 4, 8], [3], [3], *[[]] * 7],
        [BF16, BF16, BF16, "int", "int", *["Scalar"] * 7],
        {5: "3", 6: "5", 9: "True", 10: "-1", 11: "-1"},
    )
    [row] = run(host, [packed])
    assert (row["flops"], row["is_estimated"]) == (2 * 4 * min(5 * 5, 7 * 3) * 16, True)
    [row] = run(host, annotated([packed], STEP))
    assert (row["flops"], row["is_estimated"]) == (2 * 4 * 15 * 16, False)


MOE = named("vllm::moe_forward", [[5, 8], [5, 4], []], [BF16, BF16, ""])


def inside(name, dims, kind):
    return named(name, dims, kind) | {"op_id": 0}


def test_weights_that_are_seen_inside(host):
    """Two of 10 choices per token; two numbers in a byte: 8 of a token are 4 bytes."""
    rows = [
        MOE | {"event_id": 0},
        inside("aten::view", [[4, 4, 12], []], ["unsigned char", "ScalarList"]) | {"event_id": 1},
        inside("aten::view", [[4, 3, 8], []], ["unsigned char", "ScalarList"]) | {"event_id": 2},
        inside("aten::view", [[1, 10, 6], []], [BF16, "ScalarList"]) | {"event_id": 3},
        inside("TopK", [[5, 4]], [BF16]) | {"event_id": 4},
        inside("SortTokens", [[5, 2], [5, 2]], [BF16, "short"]) | {"event_id": 5},
    ]
    [row] = run(host, rows)
    assert row["flops"] == 2 * 10 * (8 * 12 + 6 * 8)
    assert row["bytes"] == 2 * (40 + 40 + 20) + 4 * (4 * 12 + 3 * 8)
    assert (row["family"], row["is_estimated"]) == ("mixture of experts", True)


def test_without_weights_there_is_no_rate(host):
    """The weights take most of the time, so the bytes of the tokens say nothing about it."""
    host.fill(
        host_ops=[MOE | {"event_id": 0}],
        gpu_activities=[{"op_id": 0, "start_ns": 0, "dur_ns": 100}],
    )
    [row] = host.run("op_flops", peak_gbps=1.0, peak_tflops=1.0)
    assert (row["flops"], row["bytes"], row["is_estimated"]) == (None, 2 * (40 + 40 + 20), True)
    assert (row["kernel_ns"], row["achieved_gbps"]) == (100, None)
    assert (row["bound"], row["roofline_frac"]) == (None, None)


def test_an_operator_of_experts_around_its_products_counts_once(host):
    # moe_forward  [==============)   not counted: the products inside count
    # mm              [==)  [==)      counted
    # launch           1     2
    mm = call("mm", [[2, 3], [3, 4]], BF16) | {"op_id": 0}
    host.fill(
        host_ops=[MOE | {"event_id": 0}, mm | {"event_id": 1}, mm | {"event_id": 2}],
        gpu_activities=[{"op_id": at, "start_ns": 10 * at, "dur_ns": 5} for at in (1, 2)],
    )
    rows = {row["name"]: row for row in host.run("op_flops")}
    assert (rows["aten::mm"]["is_counted"], rows["aten::mm"]["kernel_ns"]) == (True, 10)
    assert not rows["vllm::moe_forward"]["is_counted"]


def test_a_product_around_a_norm_counts_once(host):
    """An operator without operations inside one with operations is part of it."""
    gemm = named("vllm::rocm_unquantized_gemm", [[2, 3], [4, 3], []], [BF16, BF16, ""])
    norm = named("_C::rms_norm", [[2, 4], [2, 4], [4]], BF16) | {"op_id": 0}
    rows = {row["name"]: row for row in run(host, [gemm | {"event_id": 0}, norm | {"event_id": 1}])}
    assert rows["vllm::rocm_unquantized_gemm"]["is_counted"]
    assert not rows["_C::rms_norm"]["is_counted"]


def test_estimates_are_no_model_flops(host):
    host.fill(
        host_ops=annotated([attention(8), call("mm", [[2, 3], [3, 4]], BF16)], STEP),
        gpu_activities=[{"op_id": at, "start_ns": at, "dur_ns": 1} for at in (0, 1)],
    )
    assert [row["flops"] for row in host.run("step_mfu")] == [48]


LOADS = [
    STEP,
    "execute_5_context_2(sq5sk7sqsq13sqsk19)_generation_0(sq0sk0sqsq0sqsk0)",
    "execute_3_context_0(sq0sk0sqsq0sqsk0)_generation_3(sq3sk24sqsq3sqsk24)",
    "step[DECODE bs=3 g_sqsq=3 g_sqsk=24 g_sk=24]",
    "step[DECODE bs=3]",
    "layer",
]


@pytest.mark.parametrize("seed", seeds(range(3)))
def test_random_contexts(host, seed):
    rng = random.Random(seed)
    rows = []
    for rank in range(12):
        names = rng.sample(LOADS, rng.choice([0, 1, 2, 3]))
        calls = [
            rng.choice([attention(rng.choice([2, 3, 5, 8, 9])), MOE]) | {"op_id": None}
            for _ in range(rng.choice([1, 3]))
        ]
        mine = (
            annotated(calls, *names)
            if names
            else [row | {"event_id": at, "annotation_id": None} for at, row in enumerate(calls)]
        )
        for at in range(rng.choice([0, 2, 4])):
            dims = rng.choice([[[4, 4, 12], []], [[4, 3, 8], []], [[5, 2], []], [[4, 9, 9], []]])
            mine.append(
                inside(rng.choice(["aten::view", "TopK"]), dims, ["unsigned char", ""])
                | {"event_id": 50 + at, "op_id": rng.randrange(len(calls))}
            )
        rows += [row | {"rank": rank, "job": "j", "cat": row.get("cat", "cpu_op")} for row in mine]
    nothing = dict.fromkeys(
        (
            "is_backward",
            "sequence_number",
            "fwd_thread_id",
            "step",
            "op_id",
            "input_dims",
            "input_types",
            "concrete_inputs",
        )
    )
    rows = [nothing | row for row in rows]
    wanted = brute_flops.op_flops([], rows, [])
    assert {row["flops"] is None for row in wanted} == {True, False}
    host.compare("op_flops", wanted, {"host_ops": rows}, seed)


def test_sizes_in_a_context_are_json(host):
    """A context with odd text is no error."""
    odd = inside("TopK", [[5, 2]], [BF16]) | {"event_id": 1, "input_dims": "x", "input_types": "["}
    [row] = run(host, [MOE | {"event_id": 0}, odd])
    assert row["flops"] is None
    assert json.loads(row["input_dims"]) == [[5, 8], [5, 4], []]
    assert costs(host, [MOE]) == [(None, 200)]
