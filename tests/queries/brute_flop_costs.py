"""What a call computes and moves, counted one by one."""

import json
from math import prod

from queries.brute_flop_elements import memory_bound
from queries.brute_flop_layouts import of_layouts
from queries.brute_flop_lists import lists, on_lists
from queries.brute_flop_moves import MOVES, moves
from queries.brute_flop_norms import NORMS, compiled, normalization, served
from queries.brute_flop_packed import arange, index_put, of_packed
from queries.brute_flop_products import convolution, product
from queries.brute_flop_servers import (
    ATTENTIONS,
    EXPERTS,
    PRODUCTS,
    experts,
    experts_inside,
    grouped,
)
from queries.brute_flop_servers import attention as served_attention
from queries.brute_flop_servers import product as server_product
from queries.brute_flop_signatures import (
    ABSENT,
    SIGNATURES,
    Argument,
    Cost,
    Unknown,
    format_of,
    moved,
    size,
)


def cost(name, dims_text, types_text, concrete_text, context=None):
    """Of one call; None where nothing is known of it."""
    try:
        dims = json.loads(dims_text)
        types = json.loads(types_text) if types_text else [None] * len(dims)
        texts = json.loads(concrete_text) if concrete_text else [None] * len(dims)
        if on_lists(name):
            return lists(name.removeprefix("aten::"), dims, types, context)
        arguments = [Argument(*three) for three in zip(dims, types, texts, strict=False)]
        if name.startswith(("triton_poi_", "triton_red_", "triton_per_")):
            return compiled(arguments)
        if not name.startswith("aten::"):
            return of_others(name, arguments, context)
        short = name.removeprefix("aten::")
        if short in ("_grouped_mm", "_scaled_grouped_mm"):
            return grouped(short, arguments)
        if short == "arange":
            return arange(arguments)
        if (short, len(arguments)) in (("index_put_", 4), ("_index_put_impl_", 5)):
            return index_put(arguments)
        if short in NORMS:
            return normalization(short, arguments)
        if short in MOVES:
            return moves(short, arguments)
        if short in SIGNATURES:
            names = [word.strip("[]") for word in SIGNATURES[short].split()]
            if len(arguments) > len(names) and "mm" in short + "mm" * (short == "linear"):
                return None
            by_name = dict(zip(names, arguments, strict=False))
            if "conv" in short:
                return convolution(short, by_name)
            if "attention" in short:
                return attention(short, by_name)
            return product(short, by_name)
        return memory_bound(short, arguments)
    except Unknown:
        return None


def of_others(name, arguments, context):
    """Operators that are not PyTorch's own."""
    if name in ATTENTIONS and context is not None:
        return served_attention(name, arguments, context)
    if name in SIGNATURES:
        return attention(name, dict(zip(SIGNATURES[name].split(), arguments, strict=False)))
    if name in PRODUCTS:
        return server_product(name, arguments)
    if name in EXPERTS:
        return experts(name, arguments)
    for family in (of_packed, of_layouts):
        known, found = family(name, arguments)
        if known:
            return found
    if name.startswith("vllm::moe_forward"):
        return experts_inside(arguments, context)
    return served(name, arguments)


def pairs(queries, keys, causal):
    """How many queries meet how many keys, query by query."""
    if causal == "none":
        return queries * keys
    met = 0
    for query in range(queries):
        last = query if causal == "top left" else query + keys - queries
        met += min(max(last + 1, 0), keys)
    return met


def attention(short, a):
    q, k, v = (a[word].dims for word in ("query", "key", "value"))
    for dims in (q, k, v):
        size(dims)
    packed = not short.startswith("_scaled") and len(a.get("cum_seq_q", ABSENT).dims or []) == 1
    by_size = "Sage" in short
    length_first = short.startswith(("_flash", "_efficient")) or "::" in short or packed
    if not len(q) == len(k) == len(v) or len(q) < (
        4 if (length_first or by_size) and not packed else 3
    ):
        raise Unknown
    if by_size:
        length_first = q[-3] >= q[-2]
    if length_first:
        q, k, v = ([*d[:-3], d[-2], d[-3], d[-1]] for d in (q, k, v))
    if q[-1] != k[-1] or k[:-1] != v[:-1]:
        raise Unknown
    if any(
        mine != other and (not other or mine % other)
        for mine, other in zip(q[:-2], k[:-2], strict=True)
    ):
        raise Unknown
    if packed:
        try:
            met = min(q[-2] * int(a["max_k"].text), k[-2] * int(a["max_q"].text))
        except (TypeError, ValueError):
            raise Unknown from None
    else:
        if "custom_mask_type" in a:
            causal = {"0": "none", "1": "top left", "2": "bottom right"}.get(
                a["custom_mask_type"].text
            )
        elif "is_causal" not in a:
            raise Unknown
        elif not a["is_causal"].truth():
            causal = "none"
        else:
            from_end = short.startswith("_flash") or "::" in short or by_size
            causal = "bottom right" if from_end else "top left"
        if causal is None:
            raise Unknown
        met = pairs(q[-2], k[-2], causal)
    windows = ["window_size_left", "window_size_right", "window_size"]
    windowed = any((a.get(word, ABSENT).text or "").isdigit() for word in windows)
    backward = short.endswith(("_backward", "_bwd"))
    d, dv = q[-1], v[-1]
    products = 2 * d + dv + dv + d if backward else d + dv
    out = [*q[:-1], dv]
    tensors = [
        (dims, a[word].type)
        for dims, word in ((q, "query"), (k, "key"), (v, "value"), (out, "query"))
    ]
    tensors *= 2 if backward else 1
    mask = a.get("attn_mask", ABSENT)
    return Cost(
        "attention backward" if backward else "attention",
        2 * prod(q[:-2]) * met * products,
        moved([*tensors, (mask.dims, mask.type or "")]),
        format_of(*(a[word].type for word in ("query", "key", "value"))),
        packed or windowed or by_size,
    )
