"""What a call computes and moves, counted one by one."""

import json
from math import prod

from queries.brute_flop_products import convolution, product
from queries.brute_flop_signatures import (
    ABSENT,
    ELEMENTWISE,
    SIGNATURES,
    TO_BOOL,
    Argument,
    Cost,
    Unknown,
    format_of,
    moved,
    size,
)


def cost(name, dims_text, types_text, concrete_text):
    """Of one call; None where nothing is known of it."""
    try:
        dims = json.loads(dims_text)
        types = json.loads(types_text) if types_text else [None] * len(dims)
        texts = json.loads(concrete_text) if concrete_text else [None] * len(dims)
        if not name.startswith("aten::"):
            return None
        short = name.removeprefix("aten::")
        arguments = [Argument(*three) for three in zip(dims, types, texts, strict=False)]
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
    length_first = short.startswith(("_flash", "_efficient")) or packed
    if not len(q) == len(k) == len(v) or len(q) < (4 if length_first and not packed else 3):
        raise Unknown
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
            causal = "bottom right" if short.startswith("_flash") else "top left"
        if causal is None:
            raise Unknown
        met = pairs(q[-2], k[-2], causal)
    windows = ["window_size_left", "window_size_right", "window_size"]
    windowed = any((a.get(word, ABSENT).text or "").isdigit() for word in windows)
    backward = short.endswith("_backward")
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
        packed or windowed,
    )


def memory_bound(short, arguments):
    types = [argument.type for argument in arguments]
    if short in ("zero_", "fill_", "copy_"):
        if len(arguments) != {"zero_": 1, "fill_": 2, "copy_": 3}[short]:
            return None
        read = arguments[1:2] if short == "copy_" else []
        return elementwise(read, arguments[0].dims, arguments[0].type)
    for table in (ELEMENTWISE, TO_BOOL):
        in_place = short.endswith("_") and short[:-1] in table and table[short[:-1]][2]
        found = table.get(short[:-1] if in_place else short)
        if found is None:
            continue
        count, reads, _ = found
        if len(arguments) != count:
            return None
        read = [one for one in arguments[:reads] if one.type is None or one.is_tensor]
        if in_place:
            return elementwise(read, arguments[0].dims, arguments[0].type)
        if not read:
            return None
        result = "bool" if table is TO_BOOL else promoted(read)
        return elementwise(read, broadcast([one.dims for one in read]), result)
    if short in ("sum", "mean", "prod", "amax", "amin"):
        counts = (3,) if short.startswith("a") else (2, 4)
        if len(arguments) not in counts or not (types[0] is None or arguments[0].is_tensor):
            return None
        dims, text = arguments[0].dims, arguments[1].text
        size(dims)
        if len(arguments) == 2 or text in ("", "[]"):
            left = []
        else:
            try:
                gone = json.loads(text)
            except (TypeError, ValueError):
                return None
            gone = [gone] if isinstance(gone, int) else gone
            if any(not -max(1, len(dims)) <= d < max(1, len(dims)) for d in gone):
                return None
            gone = {d % len(dims) for d in gone if dims}
            left = [length for at, length in enumerate(dims) if at not in gone]
        result = types[0]
        if len(arguments) != 3:
            if types[len(arguments) - 1] != "":
                return None
            if result in ("bool", "int", "signed char", "unsigned char"):
                result = "long"
        found = elementwise(arguments[:1], left, result)
        return found and Cost("reduction", None, found.bytes)
    return None


def promoted(read):
    large = {one.type for one in read if one.dims}
    every = {one.type for one in read}
    chosen = large or every
    return chosen.pop() if len(chosen) == 1 else None


def broadcast(shapes):
    out = []
    for at in range(1, max(map(len, shapes)) + 1):
        lengths = {dims[-at] for dims in shapes if len(dims) >= at}
        out.append(0 if 0 in lengths else max(lengths))
    return out


def elementwise(read, dims, result):
    total = moved([*((one.dims, one.type) for one in read), (dims, result)])
    return None if total is None else Cost("elementwise", None, total)
