"""What operators move that compute little: by the names of their arguments, in plain Python."""

from math import ceil, floor

from queries.brute_flop_signatures import Cost, Unknown, moved


def like(argument, type_name=None):
    return (argument.dims, argument.type if type_name is None else type_name)


def number(argument):
    try:
        return int(argument.text)
    except (TypeError, ValueError):
        raise Unknown from None


def numbers(argument):
    found = argument.integers()
    if any(type(n) is not int for n in found):
        raise Unknown
    return found


def without(dims, dim):
    return [length for at, length in enumerate(dims) if at != dim % max(1, len(dims))]


def rows(table, index, dim=0):
    """The rows of a table that an index names."""
    return ([*index.dims, *without(table.dims, dim)], table.type)


def resized(image, sizes):
    return ([*image.dims[: len(image.dims) - len(sizes)], *sizes], image.type)


def cut(a):
    """Of topk: k along the dimension."""
    dims = list(a["self"].dims)
    dims[number(a["dim"]) % len(dims)] = number(a["k"])
    return dims


def padded(image, padding):
    dims = list(image.dims)
    for at in range(len(padding) // 2):
        dims[-1 - at] += padding[2 * at] + padding[2 * at + 1]
    return (dims, image.type)


def pooled(a):
    image, kernel = a["self"].dims, numbers(a["kernel"])
    if len(kernel) < 2:
        raise Unknown
    stride = numbers(a["stride"]) or kernel
    padding = numbers(a["padding"])
    dilation = numbers(a["dilation"]) if "dilation" in a else [1]
    rounded = ceil if a["ceil_mode"].truth() else floor
    out = image[: len(image) - len(kernel)]
    for at, (length, width) in enumerate(zip(image[len(out) :], kernel, strict=True)):
        s, p, d = (v[0] if len(v) == 1 else v[at] for v in (stride, padding, dilation))
        places = rounded((length + 2 * p - d * (width - 1) - 1) / s) + 1
        if rounded is ceil and (places - 1) * s >= length + p:
            places -= 1
        out = [*out, places]
    return out


# family, arguments (None: any number, of which these are the first), what moves
MOVES = {
    "embedding": (
        "indexing",
        "weight indices padding_idx scale_grad sparse",
        lambda a: [rows(a["weight"], a["indices"])] * 2 + [like(a["indices"])],
    ),
    "embedding_dense_backward": (
        "indexing",
        "grad indices count padding_idx scale_grad",
        lambda a: [
            like(a["grad"]),
            like(a["indices"]),
            ([number(a["count"]), a["grad"].dims[-1]], a["grad"].type),
        ],
    ),
    "index_select": (
        "indexing",
        "self dim index ...",
        lambda a: [rows(a["self"], a["index"], number(a["dim"]))] * 2 + [like(a["index"])],
    ),
    "gather": (
        "indexing",
        "self dim index ...",
        lambda a: [like(a["index"], a["self"].type)] * 2 + [like(a["index"])],
    ),
    "scatter_add_": (
        "indexing",
        "self dim index src ...",
        lambda a: [like(a["src"]), like(a["index"])] + [like(a["index"], a["self"].type)] * 2,
    ),
    "scatter": (
        "indexing",
        "self dim index src",
        lambda a: [like(a["self"])] * 2 + [like(a["index"]), like(a["src"])],
    ),
    "scatter_": (
        "indexing",
        "self dim index src",
        lambda a: [like(a["src"]), like(a["index"]), like(a["index"], a["self"].type)],
    ),
    "index_copy_": (
        "indexing",
        "self dim index source",
        lambda a: [like(a["index"]), like(a["source"]), like(a["source"], a["self"].type)],
    ),
    "index_add_": (
        "indexing",
        "self dim index source alpha",
        lambda a: [like(a["index"]), like(a["source"])] + [like(a["source"], a["self"].type)] * 2,
    ),
    "native_dropout": (
        "elementwise",
        "self p train",
        lambda a: [like(a["self"])] * 2 + [like(a["self"], "bool")],
    ),
    "_local_scalar_dense": ("elementwise", "self", lambda a: [like(a["self"])]),
    "triu": ("elementwise", "self diagonal", lambda a: [like(a["self"])] * 2),
    "normal_": ("elementwise", "self ...", lambda a: [like(a["self"])]),
    "sort": (
        "sorting",
        "self dim descending",
        lambda a: [like(a["self"])] * 2 + [like(a["self"], "long")],
    ),
    "topk": (
        "sorting",
        "self k dim largest sorted",
        lambda a: [like(a["self"]), (cut(a), a["self"].type), (cut(a), "long")],
    ),
    "nll_loss_forward": (
        "loss",
        "self target weight reduction ignore",
        lambda a: [like(a["target"]), like(a["target"], a["self"].type)],
    ),
    "nll_loss_backward": (
        "loss",
        "grad self target weight reduction ignore total",
        lambda a: [like(a["target"]), like(a["self"])],
    ),
    "mse_loss": ("loss", "self target ...", lambda a: [like(a["self"]), like(a["target"])]),
    "mse_loss_backward": (
        "loss",
        "grad self target ...",
        lambda a: [like(a["grad"]), like(a["target"])] + [like(a["self"])] * 2,
    ),
    "upsample_nearest2d": (
        "resampling",
        "self sizes ...",
        lambda a: [like(a["self"]), resized(a["self"], numbers(a["sizes"]))],
    ),
    "upsample_nearest2d_backward": (
        "resampling",
        "grad sizes input_sizes ...",
        lambda a: [like(a["grad"]), (numbers(a["input_sizes"]), a["grad"].type)],
    ),
    "replication_pad3d": (
        "resampling",
        "self padding",
        lambda a: [like(a["self"]), padded(a["self"], numbers(a["padding"]))],
    ),
    "_adaptive_avg_pool2d": (
        "pooling",
        "self sizes",
        lambda a: [like(a["self"]), resized(a["self"], numbers(a["sizes"]))],
    ),
    "max_pool2d_with_indices": (
        "pooling",
        "self kernel stride padding dilation ceil_mode",
        lambda a: [like(a["self"]), (pooled(a), a["self"].type), (pooled(a), "long")],
    ),
    "avg_pool2d": (
        "pooling",
        "self kernel stride padding ceil_mode count divisor",
        lambda a: [like(a["self"]), (pooled(a), a["self"].type)],
    ),
    "max_pool2d_with_indices_backward": (
        "pooling",
        "grad self kernel stride padding dilation ceil_mode indices",
        lambda a: [like(a[word]) for word in ("grad", "indices", "self")],
    ),
}
MOVES |= {
    other: MOVES[word]
    for word, others in {
        "scatter_add_": ["scatter_reduce_"],
        "scatter": ["scatter_add"],
        "triu": ["tril", "flip"],
        "normal_": ["uniform_", "random_", "bernoulli_", "exponential_"],
        "upsample_nearest2d": ["upsample_nearest3d", "upsample_bilinear2d"],
        "replication_pad3d": ["reflection_pad2d"],
    }.items()
    for other in others
}


def moves(short, arguments):
    """Of one call of PyTorch's; None where it is no such call."""
    family, words, what = MOVES[short]
    names = words.split()
    if names[-1] != "..." and len(arguments) != len(names):
        return None
    a = dict(zip(names, arguments, strict=False))
    if set(names) - set(a) - {"..."}:
        return None
    try:
        total = moved(what(a))
    except (IndexError, TypeError):
        raise Unknown from None
    return None if total is None else Cost(family, None, total)
