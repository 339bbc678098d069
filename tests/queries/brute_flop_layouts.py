"""Products whose arguments say how the sides lie, and experts with weights in Marlin's tiles."""

from math import prod

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
    "primus_turbo::gemm_impl": "left left_flag right right_flag dtype c backend bias",
    "primus_turbo::gemm_fp8_impl": "left ls left_flag right rs right_flag dtype c kind backend",
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


def grouped(arguments):
    """Groups of rows with a matrix each, or a result for each group of rows."""
    left, right, lengths = arguments[0], arguments[1], arguments[4]
    (rows, k), (*_, n) = left.dims, right.dims
    out = [lengths.dims[0], k, n]
    if len(right.dims) == 3:
        n = right.dims[1]
        out = [rows, n]
    tensors = [(left.dims, left.type), (right.dims, right.type), (out, "c10::BFloat16")]
    kind = format_of(left.type, right.type)
    return Cost("matrix product", 2 * rows * k * n, moved(tensors), kind)


def flashinfer(name, arguments):
    if name == "vllm::flashinfer_fused_moe_blockscale_fp8":
        x, first, second, chosen = (arguments[at] for at in (2, 3, 5, 8))
        met = x.dims[0] * int(chosen.text)
        weights = prod(first.dims[1:]) + prod(second.dims[1:])
        tensors = [(x.dims, x.type)] * 2 + [([min(first.dims[0], met), weights], first.type)]
        kind = format_of(x.type, first.type)
        return Cost("mixture of experts", 2 * met * weights, moved(tensors), kind)
    left, right = arguments[:2]
    packed = name.endswith("fp4")
    *batch, k, n = right.dims
    out = [*left.dims[:-1], n], SCALAR_TYPES[arguments[5 if packed else 4].text]
    flops = sum(2 * (2 if packed else 1) for _ in range(prod(left.dims) * n))
    kind = "float4" if packed else format_of(left.type, right.type)
    assert left.dims[-1] == k and left.dims[: len(batch)] == batch
    tensors = [(left.dims, left.type), (right.dims, right.type), out]
    return Cost("matrix product", flops, moved(tensors), kind)


FLASHINFER = (
    "vllm::flashinfer_mm_fp4",
    "vllm::bmm_fp8",
    "vllm::flashinfer_fused_moe_blockscale_fp8",
)


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


def marlin_experts(arguments):
    x, first, second = arguments[:3]
    choices = next(one for one in arguments[7:10:2] if one.type in ("int", "long int"))
    met = x.dims[0] * choices.dims[1]
    each, size_of_token = 16 * x.dims[1] // second.dims[2], 16 * first.dims[1]
    if each not in (4, 8) or size_of_token != x.dims[1]:
        raise Unknown
    ints = prod(first.dims[1:]) + prod(second.dims[1:])
    tensors = [(x.dims, x.type)] * 2 + [([min(first.dims[0], met), ints], "int")]
    return Cost("mixture of experts", 2 * met * ints * each, moved(tensors), format_of(x.type))


def marlin_product(arguments):
    """The numbers m, n and k are followed by four truths, and in newer versions three numbers."""
    newer = len(arguments) == 29
    x, out, weights = arguments[:3]
    m, n, k = (int(one.text) for one in (arguments[-10:-7] if newer else arguments[-7:-4]))
    met = m * int(arguments[-13 if newer else -11].text)
    assert [m, k] == x.dims and out.dims in ([], [met, n])
    tensors = [(x.dims, x.type), ([met, n], x.type)]
    tensors.append(([min(weights.dims[0], met), *weights.dims[1:]], "int"))
    return Cost("mixture of experts", 2 * met * n * k, moved(tensors), format_of(x.type))


# Places, from 0, of the queries, the keys, the size of a value, and the chosen keys.
SPARSE = {
    "_flashmla_C::sparse_prefill_fwd": (0, 1, 4, 2),
    "_flashmla_C::fwd_kvcache_mla": (0, 1, 2, 10),
}


def sparse(name, arguments):
    queries, keys, width, chosen = (arguments[at] for at in SPARSE[name])
    *tokens, heads, one = queries.dims
    value, met = int(width.text), prod(chosen.dims)
    tensors = [(queries.dims, queries.type), ([*tokens, heads, value], queries.type)]
    tensors += [([min(prod(keys.dims[:-1]), met), keys.dims[-1]], keys.type)]
    tensors += [(chosen.dims, chosen.type)]
    flops = sum(2 * heads * (one + value) for _ in range(met))
    return Cost("attention", flops, moved(tensors), format_of(queries.type), True)


def rotated(arguments):
    q, q_rest, k, k_rest, cache, out, slots, _, _, places, cos, sin = arguments[:12]
    tensors = [(one.dims, one.type) for one in (q, q_rest, k, k_rest, out, slots, places)]
    tensors += [(one.dims, cache.type) for one in (k, k_rest)]
    tensors += [([*places.dims, *one.dims[1:]], one.type) for one in (cos, sin)]
    return Cost("cache", None, moved(tensors))


def of_layouts(name, arguments):
    """(known, cost) of these operators."""
    if name in FLAGGED:
        return True, flagged(name, arguments)
    if name == "_rocm_C::wvSplitKQ":
        return True, skinny(arguments)
    if name == "vllm::_rocm_aiter_preshuffled_per_token_w8a8_gemm":
        return True, preshuffled(arguments)
    if name == "vllm::fused_marlin_moe":
        return True, marlin_experts(arguments)
    if name == "_moe_C::moe_wna16_marlin_gemm":
        return True, marlin_product(arguments)
    if name.startswith(PRIMUS) and "grouped" in name:
        return True, grouped(arguments)
    if name == "DaoAILab::_causal_conv1d_fwd_cpp":
        total = moved([(one.dims, one.type) for one in arguments])
        return True, Cost("convolution", None, total)
    if name == "vllm::rocm_aiter_triton_add_rmsnorm_pad":
        x, weight, _, residual, _ = arguments
        tensors = [(one.dims, one.type) for one in (x, weight, residual, residual, x)]
        return True, Cost("normalization", None, moved(tensors), is_estimated=True)
    if name in FLASHINFER:
        return True, flashinfer(name, arguments)
    if name in SPARSE:
        return True, sparse(name, arguments)
    if name == "aiter::fused_qk_rope_concat_and_cache_mla":
        return True, rotated(arguments)
    if name == PRIMUS + "quantize_fp8_tensorwise":
        x = arguments[0]
        total = moved([(x.dims, x.type), (x.dims, "c10::Float8_e4m3fn")])
        return True, Cost("quantization", None, total)
    return False, None
