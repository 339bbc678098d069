"""What matrix products and convolutions compute, counted one by one."""

from math import prod

from queries.brute_flop_signatures import (
    ABSENT,
    SCALAR_TYPES,
    Cost,
    Unknown,
    format_of,
    moved,
    size,
)


def product(short, a):
    left, right = (a["mat1"], a["mat2"]) if "mat1" in a else (a["self"], a["mat2"])
    m_k, k_n = left.dims, right.dims
    summand = a["self"] if "mat1" in a else a.get("bias", ABSENT)
    size(m_k), size(k_n)
    if short == "linear":
        if not m_k or not 1 <= len(k_n) <= 2 or m_k[-1] != k_n[-1]:
            raise Unknown
        n = k_n[0] if len(k_n) == 2 else 1
    else:
        ranks = 3 if "bmm" in short else 2
        if len(m_k) != ranks or len(k_n) != ranks or m_k[-1] != k_n[-2]:
            raise Unknown
        if ranks == 3 and m_k[0] != k_n[0]:
            raise Unknown
        n = k_n[-1]
    result = left.type
    if "mat1" in a:
        result = summand.type
    elif short == "_int_mm":
        result = "int"
    elif short == "_scaled_mm":
        asked = a["out_dtype"].text if "out_dtype" in a else None
        result = left.type if asked == "" else SCALAR_TYPES.get(asked)
    elif short in ("mm", "bmm") and a.get("out", ABSENT).text not in (None, ""):
        result = SCALAR_TYPES.get(a["out"].text)
    per_element = 2 if left.type == "c10::Float4_e2m1fn_x2" else 1
    multiplications = 0
    for _ in range(n if n < 50 else 0):  # row by column
        multiplications += prod(m_k)
    multiplications = multiplications or prod(m_k) * n
    if multiplications >= 2**62:
        raise Unknown
    return Cost(
        "matrix product",
        2 * multiplications * per_element,
        moved(
            [
                (m_k, left.type),
                (k_n, right.type),
                (summand.dims, summand.type),
                ([*m_k[:-1], n], result),
            ]
        ),
        format_of(left.type, right.type),
    )


def each(values, count):
    return values * count if len(values) == 1 else values


def places(length, kernel, stride, padding, dilation):
    """Where a kernel can be put along a padded input."""
    reach = dilation * (kernel - 1)
    return [at for at in range(-padding, length + padding - reach, stride)]


def convolution(short, a):
    x, w = a["input"].dims, a["weight"].dims
    size(x), size(w)
    backward = short == "convolution_backward"
    transposed = a["transposed"].truth() if "transposed" in a else short.endswith("_transpose")
    try:
        groups = int(a["groups"].text)
    except (KeyError, TypeError, ValueError):
        raise Unknown from None
    count = len(w) - 2
    if len(x) != len(w) or count < 1 or groups < 1 or w[0] % groups:
        raise Unknown
    if x[1] != (w[0] if transposed else w[1] * groups):
        raise Unknown
    channels = w[1] * groups if transposed else w[0]
    if backward:
        g = a["grad_output"].dims
        size(g)
        mask = a["output_mask"].integers_of_booleans()
        if len(g) != len(x) or g[:2] != [x[0], channels]:
            raise Unknown
        at = x[2:] if transposed else g[2:]
        once = 2 * x[0] * prod(w) * prod(at)
        tensors = [(g, a["grad_output"].type)]
        if mask[0]:
            tensors += [(w, a["weight"].type), (x, a["input"].type)]
        if mask[1]:
            tensors += [(x, a["input"].type), (w, a["weight"].type)]
        if mask[2]:
            tensors += [([channels], a["weight"].type)]
        return Cost(
            "convolution backward",
            once * (mask[0] + mask[1]),
            moved(tensors),
            format_of(a["input"].type, a["weight"].type),
        )
    settings = [each(a[word].integers(), count) for word in ("stride", "padding", "dilation")]
    extra = each(a["output_padding"].integers(), count) if "output_padding" in a else [0] * count
    out = []
    for i in range(count):
        stride, padding, dilation = (values[i] for values in settings)
        if stride < 1:
            raise Unknown
        if transposed:
            # The last place's end, without the padding on both sides.
            out.append(
                (x[2 + i] - 1) * stride + dilation * (w[2 + i] - 1) + 1 - 2 * padding + extra[i]
            )
        else:
            fitting = places(x[2 + i], w[2 + i], stride, padding, dilation)
            if not fitting:
                raise Unknown
            out.append(len(fitting))
    at = x[2:] if transposed else out
    bias = a.get("bias", ABSENT)
    return Cost(
        "convolution",
        2 * x[0] * prod(w) * prod(at),
        moved(
            [
                (x, a["input"].type),
                (w, a["weight"].type),
                (bias.dims, bias.type),
                ([x[0], channels, *out], a["input"].type),
            ]
        ),
        format_of(a["input"].type, a["weight"].type),
    )
