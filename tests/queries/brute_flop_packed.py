"""Operators with packed weights, products of groups, and what servers do around them."""

from math import ceil, prod

from queries.brute_flop_signatures import Cost, Unknown, format_of, moved

# Names of arguments, by the schemas of vLLM, sgl-kernel and aiter.
MARLIN = "m n k is_k_full use_atomic_add use_fp32_reduce is_zp_float"
PACKED = {
    "_C::marlin_gemm": "a c weight bias scales a_scales global zeros g_idx perm workspace type "
    + MARLIN,
    "sgl_kernel::gptq_marlin_gemm": "a c weight scales global zeros g_idx perm workspace type "
    + MARLIN,
    "_C::gptq_gemm": "a weight zeros scales g_idx exllama v2 bit",
    "_C::awq_gemm": "a weight scales zeros split",
    "_C::ggml_mul_mat_a8": "weight a type n",
    "vllm::gemm_with_dynamic_quant": "a weight scales asm dtype x_scales",
    "aiter::batched_gemm_a16wfp4_": "a weight scales",
}


def columns(name, a):
    if "n" in a:
        return int(a["n"].text)
    if name == "_C::gptq_gemm":
        return a["weight"].dims[1]
    if name == "_C::awq_gemm":
        return a["scales"].dims[1]
    return a["weight"].dims[-2]


def packed(name, arguments):
    a = dict(zip(PACKED[name].split(), arguments, strict=False))
    left = a["a"]
    if left.type not in ("c10::Half", "c10::BFloat16", "float"):
        raise Unknown
    n = columns(name, a)
    tensors = [(left.dims, left.type), ([*left.dims[:-1], n], left.type)]
    tensors += [(a[word].dims, a[word].type) for word in ("weight", "scales", "zeros") if word in a]
    return Cost(
        "matrix product", 2 * prod(left.dims) * n, moved(tensors), format_of(left.type), False
    )


GROUPED = {
    "primus_turbo::grouped_gemm_variable_k": "left right lengths",
    "_C::cutlass_fp4_group_mm": "out left right",
    "_C::cutlass_mxfp8_grouped_mm": "left right ls rs out",
}


def grouped(name, arguments):
    a = dict(zip(GROUPED[name].split(), arguments, strict=False))
    left, right = a["left"], a["right"]
    if name.endswith("variable_k"):
        (t, m), (_, n) = left.dims, right.dims
        flops, out = 2 * t * m * n, ([a["lengths"].dims[0], m, n], left.type)
    else:
        _, one, two = right.dims
        n = two if one == left.dims[1] else one
        flops, out = 2 * prod(left.dims) * n, ([left.dims[0], n], a["out"].type)
    halves = "fp4" in name
    return Cost(
        "matrix product",
        flops * (2 if halves else 1),
        moved([(left.dims, left.type), (right.dims, right.type), out]),
        "float4" if halves else format_of(left.type, right.type),
    )


def arange(arguments):
    texts = [one.text for one in arguments]
    if len(arguments) not in (2, 4):
        return None
    try:
        start, end, step = (0, float(texts[0]), 1) if len(arguments) == 2 else map(float, texts[:3])
        total = moved([([ceil((end - start) / step)], arguments[-1].type)])
    except (TypeError, ValueError):
        raise Unknown from None
    return None if total is None else Cost("elementwise", None, total)


def index_put(arguments):
    values = arguments[2]
    if not values.dims:
        return None
    total = moved([(values.dims, values.type), (values.dims, arguments[0].type)])
    return None if total is None else Cost("indexing", None, total, is_estimated=True)


def chosen(name, arguments):
    """TopK and SortTokens of triton_kernels."""
    first = arguments[0]
    if name == "TopK" and len(arguments) == 7:
        out = list(first.dims)
        out[int(arguments[3].text)] = int(arguments[1].text)
        tensors = [(first.dims, first.type), (out, first.type), (out, "short")]
    elif name == "SortTokens" and len(arguments) == 3:
        at = arguments[1].dims
        tensors = [(first.dims, first.type), (at, arguments[1].type), (first.dims, first.type)]
        tensors += [(at, "int")] * 2
    else:
        return None
    total = moved(tensors)
    return None if total is None else Cost("routing", None, total)


def of_packed(name, arguments):
    """(known, cost) of these operators."""
    if name in PACKED:
        return True, packed(name, arguments)
    if name in GROUPED:
        return True, grouped(name, arguments)
    if name == "vllm::gdn_attention_core":
        total = moved([(one.dims, one.type) for one in arguments[:4]])
        return True, Cost("linear attention", None, total, is_estimated=True)
    if name in ("TopK", "SortTokens"):
        return True, chosen(name, arguments)
    return False, None
