"""Products whose arguments say how the sides lie, and experts with weights in Marlin's tiles."""

from queries.brute_flop_signatures import SCALAR_TYPES, Cost, Unknown, format_of, moved, size

TE = (
    "right rs ri rt right_flag left ls li lt left_flag out d_scale d_type d_amax bias bias_type "
    "gelu grad workspace size accumulate split"
)
PRIMUS = "primus_turbo_cpp_extension::"
FLAGGED = {
    "tex_ts::te_gemm_ts": TE,
    PRIMUS + "hipblaslt_gemm": "left right dtype left_flag right_flag c",
    PRIMUS + "hipblaslt_gemm_fp8": "left ls right rs dtype left_flag right_flag c granularity",
    PRIMUS + "hipblaslt_gemm_fp4": "left ls right rs dtype left_flag right_flag c granularity",
    PRIMUS + "ck_gemm_fp8": "left right ls rs left_flag right_flag dtype granularity",
}


def flagged(name, arguments):
    a = dict(zip(FLAGGED[name].split(), arguments, strict=False))
    left, right = a["left"], a["right"]
    size(left.dims), size(right.dims)
    if len(left.dims) != 2 or len(right.dims) != 2:
        raise Unknown
    swapped = {word: a[word].text in ("1", "True") for word in ("left_flag", "right_flag")}
    m, k = reversed(left.dims) if swapped["left_flag"] else left.dims
    other, n = reversed(right.dims) if swapped["right_flag"] else right.dims
    if k != other:
        raise Unknown
    result = a["out"].type if "out" in a else SCALAR_TYPES.get(a["dtype"].text)
    tensors = [(left.dims, left.type), (right.dims, right.type), ([m, n], result)]
    if "bias" in a:
        tensors.append((a["bias"].dims, a["bias"].type))
    kinds = [left.type, right.type]
    if name.startswith("tex_ts"):
        kinds = ["c10::Float8_e4m3fn" if kind == "unsigned char" else kind for kind in kinds]
    halves = 2 if name.endswith("fp4") else 1
    kind = "float4" if halves == 2 else format_of(*kinds)
    return Cost("matrix product", 2 * halves * m * n * k, moved(tensors), kind)


def skinny(arguments):
    """wvSplitKQ: the weights come first; the result is the fourth argument from the end."""
    weights, x, out = arguments[0], arguments[1], arguments[-4]
    (n, k), (m, _) = weights.dims, x.dims
    return Cost(
        "matrix product",
        2 * m * n * k,
        moved([(one.dims, one.type) for one in (weights, x)] + [([m, n], out.type)]),
        format_of(x.type, weights.type),
    )


def preshuffled(arguments):
    x, weights, _, _, bias, dtype = arguments
    (m, k), (n, _) = x.dims, weights.dims
    tensors = [(one.dims, one.type) for one in (x, weights, bias)]
    tensors.append(([m, n], SCALAR_TYPES[dtype.text]))
    return Cost("matrix product", 2 * m * n * k, moved(tensors), format_of(x.type, weights.type))


def of_layouts(name, arguments):
    """(known, cost) of these operators."""
    if name in FLAGGED:
        return True, flagged(name, arguments)
    if name == "_rocm_C::wvSplitKQ":
        return True, skinny(arguments)
    if name == "vllm::_rocm_aiter_preshuffled_per_token_w8a8_gemm":
        return True, preshuffled(arguments)
    return False, None
