"""What elementwise operators and reductions move, in plain Python."""

import json

from queries.brute_flop_signatures import (
    ELEMENTWISE,
    FLOATING,
    REDUCTIONS,
    SCALAR_TYPES,
    TO_BOOL,
    TYPE_BYTES,
    Cost,
    moved,
    size,
)

INTEGERS = ("unsigned char", "signed char", "short", "int", "long", "long int")


def memory_bound(short, arguments):
    types = [argument.type for argument in arguments]
    if short in ("zero_", "fill_", "copy_"):
        if len(arguments) != {"zero_": 1, "fill_": 2, "copy_": 3}[short]:
            return None
        read = arguments[1:2] if short == "copy_" else []
        return elementwise(read, arguments[0].dims, arguments[0].type)
    if short in ("max", "min") and len(arguments) == 2:
        short += "imum"
    for table in (ELEMENTWISE, TO_BOOL):
        in_place = short.endswith("_") and short[:-1] in table and table[short[:-1]][2]
        found = table.get(short[:-1] if in_place else short)
        if found is None:
            continue
        counts, reads, _ = found
        counts = counts if isinstance(counts, tuple) else (counts,)
        has_out = len(arguments) - 1 in counts and (
            len(arguments) not in counts or short == "div" and arguments[2].is_tensor
        )
        if len(arguments) not in counts and not has_out:
            return None
        read = [one for one in arguments[:reads] if one.type is None or one.is_tensor]
        if in_place:
            dims, kind = arguments[0].dims, arguments[0].type
        elif not read:
            return None
        else:
            dims = broadcast([one.dims for one in read])
            kind = "bool" if table is TO_BOOL else promoted(read)
            if kind in (*INTEGERS, "bool") and short in FLOATING and len(arguments) - has_out < 3:
                kind = "float"
        if has_out:
            if not arguments[-1].is_tensor or arguments[-1].dims != dims:
                return None
            kind = arguments[-1].type
        return elementwise(read, dims, kind)
    if short in ("cumsum", "cumprod"):
        if len(arguments) != 3:
            return None
        kind = sum_type(types[0], arguments[2])
        return elementwise(arguments[:1], arguments[0].dims, kind)
    for out in (0, 1):
        if len(arguments) - out in REDUCTIONS.get(short, {}):
            return reduction(
                arguments[: len(arguments) - out],
                *REDUCTIONS[short][len(arguments) - out],
                arguments[-1] if out else None,
            )
    return None


def sum_type(kind, dtype):
    if dtype.type != "":
        return SCALAR_TYPES.get(dtype.text)
    return "long" if kind in (*INTEGERS, "bool") else kind


def reduction(arguments, dims_at, results, out):
    first = arguments[0]
    if not (first.type is None or first.is_tensor):
        return None
    size(first.dims)
    text = "" if dims_at is None else arguments[dims_at].text
    if text in ("", "[]"):
        left = []
    else:
        try:
            gone = json.loads(text)
        except (TypeError, ValueError):
            return None
        gone = [gone] if isinstance(gone, int) else gone
        if any(not -max(1, len(first.dims)) <= d < max(1, len(first.dims)) for d in gone):
            return None
        gone = {d % len(first.dims) for d in gone if first.dims}
        left = [length for at, length in enumerate(first.dims) if at not in gone]
    kinds = [
        {"self": first.type, "sum": sum_type(first.type, arguments[-1])}.get(one, one)
        for one in results
    ]
    if out is not None:
        if not out.is_tensor or out.dims != left:
            return None
        kinds = [out.type]
    total = moved([(first.dims, first.type), *((left, kind) for kind in kinds)])
    return None if total is None else Cost("reduction", None, total)


def category(kind):
    if kind == "bool":
        return 0
    return 1 if kind in INTEGERS else 2


def promoted(read):
    """As torch.result_type: the highest category, then what has dimensions, then the widest."""
    if any(one.type not in TYPE_BYTES for one in read):
        return None
    best = max(category(one.type) for one in read)
    large = [one.type for one in read if one.dims]
    if not large or best > max(map(category, large)):
        large = [one.type for one in read if not one.dims]
    wide = max((category(kind), TYPE_BYTES[kind]) for kind in large)
    chosen = {kind for kind in large if (category(kind), TYPE_BYTES[kind]) == wide}
    if chosen == {"c10::Half", "c10::BFloat16"}:
        return "float"
    return None if chosen == {"signed char", "unsigned char"} else min(chosen)


def broadcast(shapes):
    out = []
    for at in range(1, max(map(len, shapes)) + 1):
        lengths = {dims[-at] for dims in shapes if len(dims) >= at}
        out.append(0 if 0 in lengths else max(lengths))
    return out[::-1]


def elementwise(read, dims, result):
    total = moved([*((one.dims, one.type) for one in read), (dims, result)])
    return None if total is None else Cost("elementwise", None, total)
