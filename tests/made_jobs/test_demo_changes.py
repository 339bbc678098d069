"""Made-up jobs: planted changes."""

from collections import Counter

import pytest
from made_jobs.traces import SMALL, load, of

from hta_sql.demo import write_job


def test_scale_and_one_rank(job):
    one, big = job(ranks=1)[1], job(ranks=1, scale=3)[1]
    assert one["straggler"] is None
    kernels = [truth["ranks"][0]["gpu_activity_count"] for truth in (one, big)]
    assert kernels[1] > 2 * kernels[0]


# Alone, a rank waits for nobody: its collectives take what their transfers take.
COMPARED = {"ranks": 1, "steps": 60}


LAYER_RUNS = COMPARED["steps"] * SMALL["layers"]


FLASH, SMALL_GEMM = "void pytorch_flash::flash_fwd_kernel<", "void cutlass::Kernel2<"


MEMORY_EFFICIENT = (
    "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel"
    "<cutlass::bfloat16_t, cutlass::arch::Sm80, true, 64, 128, 128, true, true>::Params)"
)


COPY = "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"


STATES = [1024, 4096]


CLONED = [
    ("aten::clone", [STATES]),
    ("aten::empty_like", [STATES]),
    ("aten::empty", [[]]),
    ("aten::copy_", [STATES, STATES]),
    ("CloneBackward0", [STATES]),
    ("autograd::engine::evaluate_function: CloneBackward0", None),
]


def small_product(rows):
    """The operators of the small matrix product that show how many rows it has."""
    return [
        ("aten::matmul", [[rows, 4096]]),
        ("aten::mm", [[rows, 4096], [4096, 64]]),
        ("MmBackward0", [[rows, 4096]]),
        ("aten::mm", [[rows, 64], [64, 4096]]),
    ]


CHANGED = {
    # operators that a layer has less and more, its kernels less and more, which one takes longer
    "slow_kernel": ([], [], [], [], (FLASH, FLASH, 1.2)),
    "inserted_op": ([], CLONED, [], [COPY], None),
    "other_shapes": (
        small_product(1024),
        small_product(2048),
        [],
        [],
        (SMALL_GEMM, SMALL_GEMM, 1.6),
    ),
    "other_kernel": ([], [], [FLASH], [MEMORY_EFFICIENT], (FLASH, MEMORY_EFFICIENT, 1.5)),
}


def compared(texts):
    """Operators by name and shapes, the durations of kernels by name, the kernels by grid."""
    _, events = load(texts[0])
    ops = Counter((e["name"], str(e["args"].get("Input Dims"))) for e in of(events, "cpu_op"))
    durations, grids = {}, Counter()
    for kernel in of(events, "kernel"):
        durations.setdefault(kernel["name"], []).append(kernel["end"] - kernel["start"])
        grids[kernel["name"], *kernel["args"]["grid"]] += 1
    return ops, durations, grids


def per_layer(more, less):
    """What one of two multisets has more, for each run of a layer."""
    counts = {key: divmod(count, LAYER_RUNS) for key, count in (more - less).items()}
    assert not any(rest for _, rest in counts.values())
    return Counter({key: count for key, (count, _) in counts.items()})


def named(durations, start):
    """The one kernel whose name begins so."""
    [name] = [name for name in durations if name.startswith(start)]
    return name


@pytest.mark.parametrize(
    ("both", "seed"),
    [
        pytest.param({}, 0, id="same seed"),
        pytest.param({}, 1, id="other seed", marks=pytest.mark.seeds),
        pytest.param({"bottleneck": "compute"}, 0, id="with a bottleneck", marks=pytest.mark.seeds),
    ],
)
@pytest.mark.parametrize("change", CHANGED)
def test_only_the_change_differs(job, change, both, seed):
    less_ops, more_ops, less_kernels, more_kernels, slower = CHANGED[change]
    ops, durations, _ = compared(job(**COMPARED, **both)[0])
    texts, truth = job(**COMPARED, **both, seed=seed, change=change)
    changed_ops, changed_durations, _ = compared(texts)
    assert truth["parameters"]["change"] == change

    for more, less, expected in ((ops, changed_ops, less_ops), (changed_ops, ops, more_ops)):
        assert per_layer(more, less) == Counter((name, str(dims)) for name, dims in expected)
    counts, changed_counts = (
        Counter({name: len(of_name) for name, of_name in each.items()})
        for each in (durations, changed_durations)
    )
    assert per_layer(counts, changed_counts) == Counter(
        named(durations, start) for start in less_kernels
    )
    assert per_layer(changed_counts, counts) == Counter(
        named(changed_durations, start) for start in more_kernels
    )

    def ratio(before, after):
        means = [sum(of_name) / len(of_name) for of_name in (durations[before], after)]
        return means[1] / means[0]

    if slower:
        before, after, times = slower
        before, after = named(durations, before), named(changed_durations, after)
        assert ratio(before, changed_durations.pop(after)) == pytest.approx(times, rel=0.03)
    for name in durations.keys() & changed_durations.keys():
        assert ratio(name, changed_durations[name]) == pytest.approx(1, rel=0.03), name


def test_more_rows_take_a_larger_grid(job):
    grids, changed = (compared(job(**COMPARED, change=c)[0])[2] for c in (None, "other_shapes"))
    for more, less, rows in ((grids, changed, 32), (changed, grids, 64)):
        [((name, *grid), count)] = per_layer(more, less).items()
        assert (name.startswith(SMALL_GEMM), grid, count) == (True, [128, rows, 1], 2)


def test_the_inserted_operator_follows_the_attention(job):
    texts, _ = job(**COMPARED, change="inserted_op")
    _, events = load(texts[0])
    ops = sorted(of(events, "cpu_op"), key=lambda e: e["start"])
    clones = [i for i, op in enumerate(ops) if op["name"] == "aten::clone"]
    assert len(clones) == LAYER_RUNS
    copies = [e for e in of(events, "kernel") if e["name"].startswith(COPY)]
    for at, copy in zip(clones, copies, strict=True):
        clone, *inside, after = ops[at : at + 5]
        assert [op["name"] for op in inside] == ["aten::empty_like", "aten::empty", "aten::copy_"]
        assert inside[0]["end"] > inside[1]["end"]
        assert inside[0]["end"] < inside[2]["start"] < inside[2]["end"] < clone["end"]
        assert after["name"] == "aten::linear" and clone["end"] < after["start"]
        assert ops[at - 2]["name"] == "aten::_flash_attention_forward"
        assert copy["args"]["External id"] == inside[2]["args"]["External id"]
        assert 12_000 <= copy["end"] - copy["start"] <= 15_000


@pytest.mark.parametrize(
    "bad",
    [
        {"ranks": 0},
        {"time_format": "stardate"},
        {"collective_ids": "x"},
        {"straggler": 2},
        {"change": "x"},
    ],
)
def test_bad_arguments_are_named(tmp_path, bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        write_job(tmp_path, **{**SMALL, **bad})
    assert not list(tmp_path.iterdir())
