"""What normalizations, servers' operators and compiled kernels move, in plain Python."""

from queries.brute_flop_moves import like, number, numbers, rows
from queries.brute_flop_signatures import NO_TENSOR, Cost, moved

STATISTICS = {"c10::Half": "float", "c10::BFloat16": "float"}

# arguments of each: input, gradient, ...
NORMS = {
    "native_layer_norm": "input shape weight bias eps",
    "native_layer_norm_backward": "grad input shape mean rstd weight bias mask",
    "_fused_rms_norm": "input shape weight eps",
    "_fused_rms_norm_backward": "grad input shape rstd weight mask",
    "native_group_norm": "input weight bias N C HxW groups eps",
    "native_group_norm_backward": "grad input mean rstd weight N C HxW groups mask",
    "native_batch_norm": "input weight bias running_mean running_var train momentum eps",
    "native_batch_norm_backward": "grad input weight running_mean running_var mean rstd train "
    "eps mask",
    "cudnn_batch_norm_backward": "input grad weight running_mean running_var mean rstd eps reserve",
    "miopen_batch_norm_backward": "input grad weight running_mean running_var mean rstd eps",
}
NORMS |= dict.fromkeys(
    ("cudnn_batch_norm", "miopen_batch_norm", "_native_batch_norm_legit"),
    NORMS["native_batch_norm"],
)


def normalization(short, arguments):
    names = NORMS[short].split()
    if len(names) != len(arguments):
        return None
    a = dict(zip(names, arguments, strict=True))
    x, trains = a["input"], True
    if "train" in a:
        trains = a["train"].truth()
    if "grad" in a:
        tensors = [like(a["grad"]), like(x), like(a["weight"])]
        kept = ["mean", "rstd"] if trains else ["running_mean", "running_var"]
        tensors += [like(a[word]) for word in kept if word in a]
        gradients = [x, a["weight"], a.get("bias", a["weight"])]
        if "rms" in short:
            gradients = gradients[:2]
        wanted = [True] * len(gradients)
        if "mask" in a:
            wanted = [w == "True" for w in (a["mask"].text or "").strip("[]").split(", ")]
            if len(wanted) != len(gradients):
                return None
        tensors += [like(one) for one, asked in zip(gradients, wanted, strict=True) if asked]
        family = "normalization backward"
    else:
        tensors = [like(x), like(x), like(a["weight"])]
        tensors += [like(a["bias"])] if "bias" in a else []
        kind = STATISTICS.get(x.type, x.type)
        if "shape" in a:
            of_each = x.dims[: len(x.dims) - len(numbers(a["shape"]))]
            tensors += [(of_each, kind)] * (1 if "rms" in short else 2)
        elif "groups" in a:
            kind = "float" if a["weight"].type == "float" else x.type
            tensors += [([number(a["N"]), number(a["groups"])], kind)] * 2
        else:
            running = [like(a["running_mean"]), like(a["running_var"])]
            tensors += running * 2 if trains else running
            tensors += [(x.dims[1:2], kind)] * 2 if trains else []
        family = "normalization"
    total = moved(tensors)
    return None if total is None else Cost(family, None, total)


def all_of(arguments):
    return [like(one) for one in arguments]


def of_servers(name, a):
    """Tensors that an operator of vLLM, SGLang or aiter moves; a: its arguments, from 0."""
    space, _, word = name.partition("::")
    if word in ("silu_and_mul", "gelu_and_mul", "gelu_tanh_and_mul"):
        return "activation", all_of(a)
    if space == "aiter" and word in ("rmsnorm", "add_rmsnorm", "rmsnorm2d_fwd_with_add_ck"):
        return "normalization", all_of(a)
    if name in ("_C::rms_norm", "sgl_kernel::rmsnorm"):
        return "normalization", all_of(a)
    if name in (
        "aiter::rms_norm",
        "aiter::rmsnorm2d_fwd_ck",
        "vllm::rocm_aiter_rms_norm",
        "aiter::_groupnorm_run",
    ):
        return "normalization", [*all_of(a), like(a[0])]
    if name in (
        "_C::fused_add_rms_norm",
        "sgl_kernel::fused_add_rmsnorm",
        "vllm::rocm_aiter_rmsnorm2d_fwd_with_add",
    ):
        return "normalization", [*all_of(a), like(a[0]), like(a[1])]
    if name in ("_C::rotary_embedding", "sgl_kernel::rotary_embedding"):
        positions, query, key, _, cache = a[:5]
        return "rotary embedding", [like(positions), rows(cache, positions)] + [
            like(query),
            like(key),
        ] * 2
    if word in ("reshape_and_cache_flash", "reshape_and_cache", "store_cache"):
        keys, values, key_cache, value_cache, slots = a[:5]
        read = [like(keys), like(values), like(slots)]
        return "cache", [*read, like(keys, key_cache.type), like(values, value_cache.type)]
    if name == "vllm::unified_kv_cache_update":
        return "cache", [like(a[0]), like(a[1])] * 2
    if word in ("static_scaled_fp8_quant", "dynamic_per_token_scaled_quant"):
        return "quantization", all_of(a)
    if word in ("topk_softmax", "moe_align_block_size", "moe_sum"):
        return "routing", all_of(a)
    return None


def served(name, arguments):
    try:
        found = of_servers(name, arguments)
        total = found and moved(found[1])
    except (IndexError, ValueError):
        return None
    return None if total is None else Cost(found[0], None, total)


def compiled(arguments):
    tensors = [(one.dims, one.type) for one in arguments]
    if all(type_name is None or type_name in NO_TENSOR for _, type_name in tensors):
        return None
    total = moved(tensors)
    return None if total is None else Cost("compiled", None, total, is_estimated=True)
