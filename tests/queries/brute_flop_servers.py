"""What the operators of inference servers compute, in plain Python."""

import json
import re
from math import prod

from queries.brute_flop_signatures import SCALAR_TYPES, Cost, Unknown, format_of, moved, size

BF16 = "c10::BFloat16"

# x and weight: (..., k) and (n, k). out: where the result's type is.
PRODUCTS = {
    "vllm::rocm_unquantized_gemm": "x weight bias",
    "aiter::gemm_a16w16": "x weight bias dtype",
    "aiter::_gemm_a16w16_asm": "x weight out",
    "_rocm_C::wvSplitK": "weight x bias",
    "_rocm_C::LLMM1": "weight x",
    "aiter::gemm_a8w8": "x weight xs ws bias dtype",
    "aiter::gemm_a8w8_blockscale": "x weight xs ws dtype",
    "aiter::gemm_a8w8_blockscale_ck": "x weight xs ws out",
    "aiter::_gemm_a4w4_asm": "x weight xs ws out",
    "_C::cutlass_scaled_fp4_mm": "out x weight",
    "_C::cutlass_scaled_mm": "out x columns xs ws bias",
    "sgl_kernel::fp8_scaled_mm": "x columns xs ws dtype bias",
    "_Linear": "weight x bias",
}


def product(name, arguments):
    a = dict(zip(PRODUCTS[name].split(), arguments, strict=False))
    x, right = a["x"], a.get("weight") or a["columns"]
    size(x.dims), size(right.dims)
    if "weight" in a:
        if not x.dims or len(right.dims) not in (1, 2) or right.dims[-1] != x.dims[-1]:
            raise Unknown
        n = right.dims[0] if len(right.dims) == 2 else 1
    else:
        if len(x.dims) != 2 or len(right.dims) != 2 or x.dims[1] != right.dims[0]:
            raise Unknown
        n = right.dims[1]
    halves = 2 if "4" in name else 1
    result = x.type if x.type in (BF16, "c10::Half", "float") else None
    if "dtype" in a and a["dtype"].text:
        result = SCALAR_TYPES.get(a["dtype"].text)
    elif "out" in a:
        result = a["out"].type
    tensors = [(x.dims, x.type), (right.dims, right.type), ([*x.dims[:-1], n], result)]
    if "bias" in a:
        tensors.append((a["bias"].dims, a["bias"].type))
    kind = "float4" if halves == 2 else format_of(x.type, right.type)
    return Cost("matrix product", 2 * halves * prod(x.dims) * n, moved(tensors), kind)


def load(name):
    """Per phase: Σq, Σk, Σq², Σqk; None if the annotation does not say."""
    found = re.findall(r"sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)", name or "")
    if len(found) == 2:
        return [tuple(map(int, phase)) for phase in found]
    keys = dict(re.findall(r"([cg]_\w+)=(\d+)", name or ""))
    if name and name.startswith("step[DECODE bs=") and "g_sqsk" in keys:
        count = keys.get("g_sq") or re.search(r"bs=(\d+)", name)[1]
        return [
            (0, 0, 0, 0),
            (int(count), int(keys["g_sk"]), int(keys["g_sqsq"]), int(keys["g_sqsk"])),
        ]
    return None


# places of query and key, from 0; the dimension of the key with the heads; causal, window
ATTENTIONS = {
    "vllm::unified_attention_with_output": (0, 1, -2, None, True),
    "aiter::mha_batch_prefill": (0, 1, -2, 12, 13),
    "flash_attn::_flash_attn_varlen_forward": (0, 1, -2, 9, 10),
    "sglang_profiler::attention_paged_attention_ragged": (2, 3, -2, None, None),
    "_C::paged_attention_v2": (4, 5, 1, None, None),
}


# Latent attention: places of the query, the rest of the query, the cache, the size of a value (a
# tensor or a number); from 0
LATENT = {
    "sgl_kernel::cutlass_mla_decode": (1, 2, 3, 0),
    "_C::sm100_cutlass_mla_decode": (2, 3, 4, 0),
    "sgl_kernel::fwd_kvcache_mla": (0, None, 1, 2),
    "aiter::mla_decode_stage1_asm_fwd": (0, None, 1, None),
}
ATTENTIONS |= dict.fromkeys(LATENT)


def latent(name, arguments, phases):
    query_at, rest_at, cache_at, value_at = LATENT[name]
    query, cache = arguments[query_at], arguments[cache_at]
    tokens = prod(query.dims[:-2])
    heads, width = query.dims[-2:]
    if rest_at is not None:
        width += arguments[rest_at].dims[-1]
    if value_at is None:
        value = next(one for one in arguments[2:] if len(one.dims) == 4).dims[-1]
    elif arguments[value_at].dims:
        value = arguments[value_at].dims[-1]
    else:
        value = int(arguments[value_at].text)
    queries, keys, squares, pairs = (sum(phase[at] for phase in phases) for at in range(4))
    met = pairs - (squares - queries) // 2
    if queries > tokens:
        return None
    return Cost(
        "attention",
        2 * heads * met * (width + value),
        moved(
            [
                ([queries, heads, width], query.type),
                ([queries, heads, value], query.type),
                ([keys, width], cache.type),
            ]
        ),
        format_of(query.type, cache.type),
        False,
    )


def attention(name, arguments, context):
    phases = load(context)
    if phases is None:
        return None
    if name in LATENT:
        return latent(name, arguments, phases)
    query_at, key_at, heads_at, causal_at, window_at = ATTENTIONS[name]
    query, key = arguments[query_at], arguments[key_at]
    size(query.dims), size(key.dims)
    if len(query.dims) != 3:
        return None
    tokens, heads, width = query.dims
    prefill, decode = phases
    if tokens == prefill[0] and tokens:
        phases = [prefill]
        if decode[0] == tokens:
            phases = []
    elif tokens == decode[0] and tokens:
        phases = [decode]
    if sum(q for q, _, _, _ in phases) > tokens:
        return None
    causal = causal_at is None or arguments[causal_at].text != "False"
    met = sum(qk - ((qq - q) // 2 if causal else 0) for q, _, qq, qk in phases)
    queries, keys = (sum(phase[at] for phase in phases) for at in (0, 1))
    tensors = [([queries, heads, width], query.type)] * 2
    tensors += [([keys, key.dims[heads_at], width], key.type)] * 2
    windowed = window_at is True or (
        window_at is not None and (arguments[window_at].text or "").isdigit()
    )
    return Cost(
        "attention",
        2 * heads * met * (width + width),
        moved(tensors),
        format_of(query.type, key.type),
        windowed,
    )


# tokens, first and second weights, and where the choices are; from 0
EXPERTS = {
    "vllm::outplace_fused_experts": (0, 1, 2, 4, 0),
    "aiter::fused_moe_": (0, 1, 2, 4, 0),
    "aiter::ck_moe_stage1": (0, 1, None, 6, 6),
    "aiter::ck_moe_stage2": (0, None, 2, 0, 6),
}


def experts(name, arguments):
    x, first, second, choices, out = (None if at is None else arguments[at] for at in EXPERTS[name])
    for one in (x, first or second, second or first, choices):
        size(one.dims)
    matrices = [one.dims for one in (first, second) if one is not None]
    if any(len(dims) != 3 for dims in matrices) or len(choices.dims) < 2:
        return None
    inner = matrices[0][2]
    if not inner or x.dims[-1] not in (inner, 2 * inner, 8 * inner):
        return None
    if first is not None and second is not None and second.dims[1] != x.dims[-1]:
        return None
    numbers_each = x.dims[-1] // inner
    met = x.dims[0] * choices.dims[1]
    weights = sum(rows * columns for _, rows, columns in matrices)
    kind = (first or second).type
    return Cost(
        "mixture of experts",
        2 * met * numbers_each * weights,
        moved(
            [(x.dims, x.type), (out.dims, out.type), ([min(matrices[0][0], met), weights], kind)]
        ),
        format_of(x.type) if numbers_each == 2 else format_of(x.type, kind),
    )


def experts_inside(arguments, context):
    """vllm::moe_forward: the weights are seen inside, or not at all."""
    x, router = arguments[:2]
    size(x.dims), size(router.dims)
    if len(x.dims) != 2 or len(router.dims) != 2:
        return None
    tensors = [(x.dims, x.type)] * 2 + [(router.dims, router.type)]
    seen = set()
    for line in (context or "").splitlines():
        dims, types = (json.loads(text) for text in line.split("\t"))
        seen.add((tuple(dims[0]), types[0]))
    weights = [s for s in seen if len(s[0]) == 3 and s[0][0] == router.dims[1] and s[0][1] > 1]
    chosen = [s[0][1] for s in seen if len(s[0]) == 2 and s[0][0] == x.dims[0]]
    if len(weights) != 2 or not chosen or min(chosen) >= router.dims[1]:
        return Cost("mixture of experts", None, moved(tensors), None, True)
    sizes = [length for dims, _ in weights for length in dims[1:]]
    packed = 2 if 2 * sizes[0] == x.dims[1] or any(2 * s == x.dims[1] for s in sizes) else 1
    if packed == 1 and x.dims[1] not in sizes:
        return Cost("mixture of experts", None, moved(tensors), None, True)
    elements = sum(dims[1] * dims[2] for dims, _ in weights)
    met = x.dims[0] * min(chosen)
    tensors.append(([min(router.dims[1], met), elements], weights[0][1]))
    return Cost(
        "mixture of experts", 2 * met * packed * elements, moved(tensors), format_of(x.type), True
    )


def grouped(name, arguments):
    left, right = arguments[:2]
    offsets = arguments[4 if "scaled" in name else 2] if len(arguments) > 2 else None
    size(left.dims), size(right.dims)
    if len(left.dims) != 2 or len(right.dims) not in (2, 3):
        return None
    m, k = left.dims
    if right.dims[-2] != k:
        return None
    n = right.dims[-1]
    if len(right.dims) == 3:
        out = [m, n]
    else:
        out = [offsets.dims[0], m, n] if offsets is not None and offsets.dims else None
    result = BF16 if left.type.startswith("c10::Float8") else left.type
    return Cost(
        "matrix product",
        2 * m * n * k,
        moved([(left.dims, left.type), (right.dims, right.type), (out, result)]),
        format_of(left.type, right.type),
    )
