"""What each operator computes and moves."""

import random
from itertools import product

import pytest
from queries.brute_flop_costs import cost
from queries.flops.calls import NONE, call, costs
from queries.flops.golden_attention import GOLDEN
from seeds import seeds


def test_each_operator(host):
    found = costs(host, [row for row, _, _ in GOLDEN.values()])
    wanted = [
        (flops, size) if (flops, size) != (None, None) else None
        for _, flops, size in GOLDEN.values()
    ]
    assert dict(zip(GOLDEN, found, strict=True)) == dict(zip(GOLDEN, wanted, strict=True))


def test_the_brute_force_knows_them_too():
    for said, (row, flops, size) in GOLDEN.items():
        if said.endswith("until 2.4"):
            continue
        found = cost(row["name"], row["input_dims"], row["input_types"], row["concrete_inputs"])
        assert (found and (found.flops, found.bytes)) == (
            None if flops is size is None else (flops, size)
        ), said


MALFORMED = [
    "",
    "nonsense",
    "[]",
    "{}",
    "[[2,3]",
    "[[2,3],[3,4.5]]",
    "[[2,null],[3,4]]",
    "null",
    "[[[2,3],[3,4]],[3,4]]",
    '[["2"],["x"]]',
    "[[99999999999999999999,3],[3,4]]",
]


@pytest.mark.parametrize(
    "name",
    [
        "mm",
        "convolution",
        "scaled_dot_product_attention",
        "add",
        "sum",
        "convolution_backward",
        "linear",
        "_scaled_mm",
    ],
)
def test_odd_shapes_are_no_error(host, name):
    rows = [
        call(name, []) | {"input_dims": dims, "input_types": types, "concrete_inputs": texts}
        for dims in MALFORMED
        for types in ("[]", '["float"]', "x", None)
        for texts in ('["[1, x]"]', "", None)
    ]
    if name not in ("add", "sum"):
        assert set(costs(host, rows)) == {None}
    else:
        costs(host, rows)


# Counted one by one.


def multiplications(x, w, stride, padding, dilation, groups, transposed):
    """Of a convolution: each meeting of an input (padding too) with a weight."""
    spatial = range(2, len(x))
    if transposed:
        spots = [range(x[i]) for i in spatial]
        channels = w[0], w[1]
    else:
        spots = [
            [
                at
                for at in range(-padding, x[i] + padding, stride)
                if at + dilation * (w[i] - 1) < x[i] + padding
            ]
            for i in spatial
        ]
        channels = w[0], x[1] // groups
    return sum(
        1
        for _ in product(
            range(x[0]), *map(range, channels), *spots, *(range(w[i]) for i in spatial)
        )
    )


@pytest.mark.parametrize("seed", seeds(3))
def test_convolutions_counted_one_by_one(host, seed):
    rng = random.Random(seed)
    rows, counted = [], []
    while len(rows) < 40:
        count, groups = rng.choice([1, 2, 3]), rng.choice([1, 2])
        transposed = rng.random() < 0.4
        stride, padding, dilation = rng.choice([1, 2, 3]), rng.choice([0, 1]), rng.choice([1, 2])
        x = [
            rng.choice([1, 2]),
            groups * rng.choice([1, 2]),
            *(rng.randint(2, 6) for _ in range(count)),
        ]
        out = groups * rng.choice([1, 2])
        first, second = (x[1], out // groups) if transposed else (out, x[1] // groups)
        w = [first, second, *(rng.randint(1, 3) for _ in range(count))]
        if any(x[i] + 2 * padding <= dilation * (w[i] - 1) for i in range(2, len(x))):
            continue
        if transposed and any(
            (x[i] - 1) * stride + dilation * (w[i] - 1) < 2 * padding for i in range(2, len(x))
        ):
            continue
        values = [f"[{', '.join([str(v)] * count)}]" for v in (stride, padding, dilation, 0)]
        rows.append(
            call(
                "convolution",
                [x, w, [], *NONE],
                "float",
                {
                    3: values[0],
                    4: values[1],
                    5: values[2],
                    6: str(transposed),
                    7: values[3],
                    8: str(groups),
                },
            )
        )
        counted.append(2 * multiplications(x, w, stride, padding, dilation, groups, transposed))
    assert [found and found[0] for found in costs(host, rows)] == counted


def test_attention_counted_one_by_one(host):
    rows, counted = [], []
    for queries, keys, name in product(range(1, 6), range(1, 6), ("top", "bottom", "none")):
        rows.append(
            call(
                "_efficient_attention_forward",
                [[2, queries, 4, 3], [2, keys, 2, 3], [2, keys, 2, 5], *[[]] * 11],
                "float",
                {9: {"none": "0", "top": "1", "bottom": "2"}[name]},
            )
        )
        met = sum(
            name == "none" or key <= query + (keys - queries if name == "bottom" else 0)
            for query in range(queries)
            for key in range(keys)
        )
        counted.append(2 * 2 * 4 * met * (3 + 5))
    assert [found and found[0] for found in costs(host, rows)] == counted
