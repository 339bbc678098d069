"""What operators compute and how fast, in plain Python over rows as the tables have them.

Arguments are taken by their names in PyTorch's signatures, sizes and pairs are counted one by one,
and call chains are climbed. Slow, and sharing nothing with the SQL.
"""

import json
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import prod

# As in native_functions.yaml, without types and defaults.
SDPA = "query key value attn_mask dropout_p is_causal"
SIGNATURES = {
    "mm": "self mat2 [out]",
    "addmm": "self mat1 mat2 beta alpha [out]",
    "addmm_": "self mat1 mat2 beta alpha",
    "_addmm_activation": "self mat1 mat2 beta alpha use_gelu [out]",
    "bmm": "self mat2 [out]",
    "baddbmm": "self mat1 mat2 beta alpha [out]",
    "baddbmm_": "self mat1 mat2 beta alpha",
    "_int_mm": "self mat2 [out]",
    "_scaled_mm": "self mat2 scale_a scale_b bias scale_result out_dtype use_fast_accum [out]",
    "linear": "self mat2 bias",
    "convolution": "input weight bias stride padding dilation transposed output_padding groups",
    "_convolution": "input weight bias stride padding dilation transposed output_padding groups "
    "benchmark deterministic cudnn_enabled allow_tf32",
    "convolution_overrideable": "input weight bias stride padding dilation transposed "
    "output_padding groups",
    "cudnn_convolution": "input weight padding stride dilation groups benchmark deterministic "
    "allow_tf32",
    "cudnn_convolution_relu": "input weight bias stride padding dilation groups",
    "cudnn_convolution_transpose": "input weight padding output_padding stride dilation groups "
    "benchmark deterministic allow_tf32",
    "miopen_convolution": "input weight bias padding stride dilation groups benchmark "
    "deterministic",
    "miopen_depthwise_convolution": "input weight bias padding stride dilation groups "
    "benchmark deterministic",
    "miopen_convolution_transpose": "input weight bias padding output_padding stride dilation "
    "groups benchmark deterministic",
    "convolution_backward": "grad_output input weight bias_sizes stride padding dilation "
    "transposed output_padding groups output_mask",
    "scaled_dot_product_attention": f"{SDPA} scale enable_gqa",
    "_scaled_dot_product_attention_math": f"{SDPA} dropout_mask scale enable_gqa",
    "_scaled_dot_product_flash_attention": "query key value dropout_p is_causal "
    "return_debug_mask scale",
    "_scaled_dot_product_flash_attention_for_cpu": "query key value dropout_p is_causal "
    "attn_mask_of_cpu scale",
    "_scaled_dot_product_efficient_attention": "query key value attn_mask compute_log_sumexp "
    "dropout_p is_causal scale",
    "_scaled_dot_product_cudnn_attention": "query key value attn_mask compute_log_sumexp "
    "dropout_p is_causal return_debug_mask scale",
    "_scaled_dot_product_fused_attention_overrideable": f"{SDPA} return_debug_mask scale",
    "_flash_attention_forward": "query key value cum_seq_q cum_seq_k max_q max_k dropout_p "
    "is_causal return_debug_mask "
    "scale window_size_left window_size_right seqused_k alibi_slopes",
    "_efficient_attention_forward": "query key value attn_mask cum_seq_q cum_seq_k max_q "
    "max_k dropout_p custom_mask_type "
    "compute_log_sumexp scale seqlen_k window_size",
    "_cudnn_attention_forward": "query key value attn_mask cum_seq_q cum_seq_k max_q max_k "
    "compute_log_sumexp dropout_p "
    "is_causal return_debug_mask scale",
    "_scaled_dot_product_flash_attention_backward": "grad_out query key value out logsumexp "
    "cum_seq_q cum_seq_k max_q max_k dropout_p "
    "is_causal philox_seed philox_offset scale",
    "_scaled_dot_product_flash_attention_for_cpu_backward": "grad_out query key value out "
    "logsumexp dropout_p is_causal attn_mask_of_cpu scale",
    "_scaled_dot_product_efficient_attention_backward": "grad_out query key value attn_mask "
    "out logsumexp philox_seed philox_offset dropout_p "
    "grad_input_mask is_causal scale",
    "_scaled_dot_product_cudnn_attention_backward": "grad_out query key value out logsumexp "
    "philox_seed philox_offset attn_mask cum_seq_q "
    "cum_seq_k max_q max_k dropout_p is_causal scale",
    "_scaled_dot_product_fused_attention_overrideable_backward": "grad_out query key value "
    "attn_mask grad_input_mask out logsumexp cum_seq_q cum_seq_k "
    "max_q max_k dropout_p is_causal philox_seed philox_offset scale",
    "_flash_attention_backward": "grad_out query key value out logsumexp cum_seq_q cum_seq_k "
    "max_q max_k dropout_p "
    "is_causal rng_state unused scale window_size_left window_size_right",
    "_efficient_attention_backward": "grad_out query key value attn_mask out cum_seq_q "
    "cum_seq_k max_q max_k logsumexp "
    "dropout_p philox_seed philox_offset custom_mask_type bias_requires_grad scale "
    "num_splits_key window_size shared_storage_dqdkdv",
}

ONE = (
    "abs neg exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal square sin cos tanh "
    "sigmoid erf floor ceil round trunc sign relu silu bitwise_not"
).split()
# (arguments, of which tensors, in place too?)
ELEMENTWISE = dict.fromkeys(ONE, (1, 1, True)) | {
    "gelu": (2, 1, True),
    "leaky_relu": (2, 1, True),
    "clamp_min": (2, 1, True),
    "clamp_max": (2, 1, True),
    "hardtanh": (3, 1, True),
    "clamp": (3, 1, True),
    "nan_to_num": (4, 1, True),
    "mul": (2, 2, True),
    "div": (2, 2, True),
    "pow": (2, 2, True),
    "bitwise_and": (2, 2, True),
    "bitwise_or": (2, 2, True),
    "add": (3, 2, True),
    "sub": (3, 2, True),
    "addcmul": (4, 3, True),
    "addcdiv": (4, 3, True),
    "rsub": (3, 2, False),
    "maximum": (2, 2, False),
    "minimum": (2, 2, False),
    "sigmoid_backward": (2, 2, False),
    "tanh_backward": (2, 2, False),
    "silu_backward": (2, 2, False),
    "threshold_backward": (3, 2, False),
    "gelu_backward": (3, 2, False),
    "_softmax": (3, 1, False),
    "_log_softmax": (3, 1, False),
    "_softmax_backward_data": (4, 2, False),
    "_log_softmax_backward_data": (4, 2, False),
}
TO_BOOL = {
    "logical_not": (1, 1, True),
    "isnan": (1, 1, False),
    "isinf": (1, 1, False),
} | dict.fromkeys("eq ne lt le gt ge logical_and logical_or".split(), (2, 2, True))
TYPE_BYTES = {
    "bool": 1,
    "signed char": 1,
    "unsigned char": 1,
    "c10::Float8_e4m3fn": 1,
    "c10::Float8_e5m2": 1,
    "c10::Float4_e2m1fn_x2": 1,
    "c10::Half": 2,
    "c10::BFloat16": 2,
    "float": 4,
    "int": 4,
    "double": 8,
    "long": 8,
    "long int": 8,
}
FORMATS = {
    "double": "float64",
    "float": "float32",
    "c10::Half": "float16",
    "c10::BFloat16": "bfloat16",
    "c10::Float8_e4m3fn": "float8",
    "c10::Float8_e5m2": "float8",
    "c10::Float4_e2m1fn_x2": "float4",
    "signed char": "int8",
    "unsigned char": "int8",
}
SCALAR_TYPES = {"3": "int", "5": "c10::Half", "6": "float", "7": "double", "15": "c10::BFloat16"}
NO_TENSOR = {"", "Scalar", "ScalarList", "None"}


@dataclass
class Cost:
    family: str
    flops: int | None
    bytes: int | None
    dtype: str | None = None
    is_estimated: bool = False


class Unknown(Exception):
    """The call's cost cannot be known."""


class Argument:
    def __init__(self, dims, type_name, text):
        self.dims, self.type, self.text = dims, type_name, text

    @property
    def is_tensor(self):
        return self.type is not None and self.type not in NO_TENSOR

    def integers(self):
        try:
            found = json.loads(self.text)
        except (TypeError, ValueError):
            raise Unknown from None
        if not isinstance(found, list):
            raise Unknown
        return found

    def truth(self):
        if self.text not in ("True", "False"):
            raise Unknown
        return self.text == "True"


ABSENT = Argument([], "", "")


def size(dims):
    if not isinstance(dims, list) or any(type(d) is not int or d < 0 for d in dims):
        raise Unknown
    return prod(dims)


def moved(tensors):
    """Bytes of (dims, type name), or None where one is unknown."""
    total = 0
    for dims, type_name in tensors:
        if type_name in NO_TENSOR:
            continue
        if type_name not in TYPE_BYTES:
            return None
        try:
            total += size(dims) * TYPE_BYTES[type_name]
        except Unknown:
            return None
    return total


def format_of(*types):
    formats = {FORMATS.get(type_name) for type_name in types}
    return formats.pop() if len(formats) == 1 else None


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


def booleans(self):
    words = (self.text or "").strip("[]").split(", ")
    if len(words) != 3 or set(words) - {"True", "False"}:
        raise Unknown
    return [word == "True" for word in words]


Argument.integers_of_booleans = booleans


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


# The queries.

cached_cost = cache(cost)
SPEEDS = {  # 1e12 dense operations a second, and GB/s of memory, as the vendors' data sheets say
    "A100": (
        {"float64": 19.5, "float32": 19.5, "tf32": 156.0, "float16": 312.0, "bfloat16": 312.0},
        1555.0,
    ),
    "V100": ({"float64": 7.8, "float32": 15.7, "float16": 125.0}, 900.0),
    "H100": (
        {"float64": 66.9, "float32": 66.9, "tf32": 494.7, "float16": 989.4, "bfloat16": 989.4},
        3352.0,
    ),
    "B200": ({"float32": 75.0, "tf32": 1125.0, "float16": 2250.0, "bfloat16": 2250.0}, 8000.0),
    "MI300X": ({"float32": 163.4, "float16": 1307.4, "bfloat16": 1307.4}, 5300.0),
}
DEVICES = {
    "NVIDIA A100-SXM4-40GB": "A100",
    "NVIDIA A100-PG509-200": "A100",
    "Tesla V100-SXM2-16GB": "V100",
    "Tesla V100-SXM2-32GB": "V100",
    "NVIDIA H100 80GB HBM3": "H100",
    "NVIDIA B200": "B200",
    "AMD Instinct MI300X": "MI300X",
    "AMD Instinct MI300X VF": "MI300X",
}
PEAKS = {
    (device, dtype): peak
    for device, model in DEVICES.items()
    for dtype, peak in SPEEDS[model][0].items()
}
BANDWIDTHS = {device: SPEEDS[model][1] for device, model in DEVICES.items()}


def wanted(row, only_jobs, only_ranks, only_steps=None):
    return (
        (only_jobs is None or row["job"] in only_jobs)
        and (only_ranks is None or row["rank"] in only_ranks)
        and (only_steps is None or row["step"] in only_steps)
    )


class Nest:
    """The operators of some jobs: what each costs, and which count."""

    def __init__(self, ops, only_jobs, only_ranks, only_steps, with_bytes=True):
        self.ops = {
            (row["job"], row["rank"], row["event_id"]): row
            for row in ops
            if row["cat"] in ("cpu_op", "Operator") and wanted(row, only_jobs, only_ranks)
        }
        self.costs = {}
        for key, row in self.ops.items():
            if row["input_dims"] is not None and wanted(row, None, None, only_steps):
                found = cached_cost(
                    row["name"], row["input_dims"], row["input_types"], row["concrete_inputs"]
                )
                if found and (with_bytes or found.flops is not None):
                    self.costs[key] = found
        self.has_call_inside, self.has_flops_inside = set(), set()
        for key, mine in self.costs.items():
            for outer in self.around(key):
                self.has_call_inside.add(outer)
                if mine.flops is not None:
                    self.has_flops_inside.add(outer)

    @cache  # noqa: B019 - lives as long as a test
    def chain(self, key):
        """An operator and those around it that have a cost, innermost first."""
        found = []
        while key is not None and key in self.ops:
            if key in self.costs:
                found.append(key)
            outer = self.ops[key]["op_id"]
            key = None if outer is None else (*key[:2], outer)
        return found

    def around(self, key):
        return self.chain(key)[1:]

    @cache  # noqa: B019
    def counts(self, key):
        if self.costs[key].flops is not None:
            return key not in self.has_flops_inside
        return key not in self.has_call_inside and not any(
            self.costs[outer].flops is not None and self.counts(outer) for outer in self.around(key)
        )

    def is_rerun(self, key):
        return any(
            row["is_backward"]
            and row["sequence_number"] is not None
            and row["sequence_number"] >= 0
            and not row["fwd_thread_id"]
            for row in (self.ops[at] for at in self.chain(key))
        )


def on_tensor_cores(name):
    """Of the names that these tests use."""
    return name is not None and ("tensorop" in name or "s1688gemm" in name)


def op_flops(
    activities,
    ops,
    traces,
    only_jobs=None,
    only_ranks=None,
    only_steps=None,
    peak_tflops=None,
    peak_gbps=None,
    on_cores=on_tensor_cores,
):
    nest = Nest(ops, only_jobs, only_ranks, only_steps)
    launched = defaultdict(list)
    for row in activities:
        if wanted(row, only_jobs, only_ranks) and row["op_id"] is not None:
            for call in nest.chain((row["job"], row["rank"], row["op_id"])):
                launched[call].append(row)
    groups = defaultdict(list)
    for key, mine in nest.costs.items():
        row = nest.ops[key]
        concrete = None if mine.family == "elementwise" else row["concrete_inputs"]
        groups[
            (
                *key[:2],
                row["name"],
                row["input_dims"],
                row["input_types"],
                concrete,
                nest.counts(key),
            )
        ].append(key)
    device = {(row["job"], row["rank"]): row["device_name"] for row in traces}
    result = []
    for group, calls in groups.items():
        mine = nest.costs[calls[0]]
        run = [call for call in calls if launched[call]]
        kernels = [row for call in run for row in launched[call]]
        ns = sum(row["dur_ns"] for row in kernels)
        dtype = mine.dtype
        if dtype == "float32" and any(on_cores(row["name"]) for row in kernels):
            dtype = "tf32"
        name = device.get(group[:2])
        peak = peak_tflops or PEAKS.get((name, dtype))
        memory = peak_gbps or BANDWIDTHS.get(name)
        times = {}
        if mine.flops is not None and peak and mine.bytes is not None and memory:
            times["compute"] = Fraction(mine.flops) / (1000 * Fraction(peak))
        if mine.bytes is not None and memory and (mine.flops is None or times):
            times["memory"] = Fraction(mine.bytes) / Fraction(memory)
        bound = "memory" if mine.flops is None else None
        if times:
            bound = max(times, key=lambda way: (times[way], way == "memory"))
        per_ns = None if not ns else Fraction(len(run), ns)
        result.append(
            dict(
                zip(
                    (
                        "job",
                        "rank",
                        "name",
                        "input_dims",
                        "input_types",
                        "concrete_inputs",
                        "is_counted",
                    ),
                    group,
                    strict=True,
                )
            )
            | {
                "family": mine.family,
                "dtype": dtype,
                "is_estimated": mine.is_estimated,
                "count": len(calls),
                "flops": times_of(mine.flops, len(calls)),
                "bytes": times_of(mine.bytes, len(calls)),
                "launching_call_count": len(run),
                "kernel_count": len(kernels),
                "kernel_ns": ns,
                "achieved_tflops": times_of(mine.flops, per_ns, 1000),
                "achieved_gbps": times_of(mine.bytes, per_ns),
                "arithmetic_intensity": None
                if mine.flops is None or not mine.bytes
                else mine.flops / mine.bytes,
                "bound": bound,
                "roofline_frac": float(max(times.values()) * per_ns) if times and per_ns else None,
            }
        )
    return sorted(
        result,
        key=lambda row: (
            row["job"],
            row["rank"],
            -row["kernel_ns"],
            row["name"],
            *((row[c] is None, row[c]) for c in ("input_dims", "input_types", "concrete_inputs")),
            row["is_counted"],
        ),
    )


def times_of(amount, by, part=1):
    if amount is None or by is None:
        return None
    return amount * by if type(by) is int else float(amount * by / part)


def step_mfu(
    activities,
    ops,
    traces,
    only_jobs=None,
    only_ranks=None,
    only_steps=None,
    peak_tflops=None,
    on_cores=on_tensor_cores,
):
    marks = defaultdict(list)
    for row in ops:
        if (
            row["name"].startswith("ProfilerStep#")
            and row["cat"] != "python_function"
            and wanted(row, only_jobs, only_ranks)
        ):
            marks[row["job"], row["rank"], int(row["name"][13:])].append(row)
    with_steps = {key[:2] for key in marks}
    nest = Nest(ops, only_jobs, only_ranks, only_steps, with_bytes=False)
    device = {(row["job"], row["rank"]): row["device_name"] for row in traces}
    periods, of_call = defaultdict(list), defaultdict(list)
    for row in activities:
        key = row["job"], row["rank"]
        if not wanted(row, only_jobs, only_ranks, only_steps):
            continue
        if row["step"] is None and key in with_steps:
            continue
        call = None
        if row["op_id"] is not None:
            call = next((at for at in nest.chain((*key, row["op_id"])) if nest.counts(at)), None)
        if call and nest.costs[call].is_estimated:
            call = None
        periods[*key, row["device"], row["step"]].append((row, call))
        if call:
            of_call[call].append(row)
    work = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for call, rows in of_call.items():
        first = min(rows, key=lambda row: (row["start_ns"], row["event_id"]))
        dtype = nest.costs[call].dtype
        if dtype == "float32" and any(on_cores(row["name"]) for row in rows):
            dtype = "tf32"
        period = first["job"], first["rank"], first["device"], first["step"]
        work[period][dtype][nest.is_rerun(call)] += nest.costs[call].flops
    result = []
    for period, rows in periods.items():
        job, rank, dev, step = period
        if step is None:
            time = max(r["end_ns"] for r, _ in rows) - min(r["start_ns"] for r, _ in rows)
        else:
            spans = marks.get((job, rank, step))
            time = spans and max(r["end_ns"] for r in spans) - min(r["start_ns"] for r in spans)
        computing = [(r, call) for r, call in rows if r["kind"] == "computation"]
        computation = sum(r["dur_ns"] for r, _ in computing)
        modelled = sum(r["dur_ns"] for r, call in computing if call)
        formats = {dtype: both for dtype, both in work[period].items() if any(both)}
        peaks = {
            dtype: peak_tflops or PEAKS.get((device.get((job, rank)), dtype)) for dtype in formats
        }
        mfu = hfu = None
        if formats and all(peaks.values()) and time:
            mfu = float(
                sum(
                    Fraction(once) / (1000 * Fraction(peaks[dtype]))
                    for dtype, (once, _) in formats.items()
                )
                / time
            )
            hfu = float(
                sum(
                    Fraction(sum(both)) / (1000 * Fraction(peaks[dtype]))
                    for dtype, both in formats.items()
                )
                / time
            )
        flops = sum(once for once, _ in formats.values())
        result.append(
            {
                "job": job,
                "rank": rank,
                "device": dev,
                "step": step,
                "time_ns": time,
                "computation_ns": computation,
                "modelled_ns": modelled,
                "coverage_frac": modelled / computation if computation else None,
                "flops": flops,
                "recomputed_flops": sum(again for _, again in formats.values()),
                "achieved_tflops": flops / (1000 * time) if time else None,
                "mfu_frac": mfu,
                "hfu_frac": hfu,
            }
        )
    return sorted(
        result,
        key=lambda row: (
            row["job"],
            row["rank"],
            row["device"] is None,
            row["device"] or 0,
            row["step"] is None,
            row["step"] or 0,
        ),
    )
