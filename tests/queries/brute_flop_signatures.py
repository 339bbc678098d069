"""Arguments of operators by their names in PyTorch's signatures, in plain Python."""

import json
from dataclasses import dataclass
from math import prod

# As in native_functions.yaml, without types and defaults.
SDPA = "query key value attn_mask dropout_p is_causal"


FLASH = "query key value dropout scale is_causal window_size_left window_size_right"


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
    "flash_attn::_flash_attn_forward": f"{FLASH} softcap alibi return_softmax",
    "flash_attn::_flash_attn_backward": "grad_out query key value out lse dq dk dv dropout scale "
    "is_causal window_size_left window_size_right",
    "flash_attn::_flash_attn_varlen_forward": "query key value cum_seq_q cum_seq_k max_q max_k "
    "dropout scale is_causal window_size_left window_size_right",
    "flash_attn_3::fwd": "query key value k_new v_new q_v out cum_seq_q cum_seq_k cu_k_new used_q "
    "used_k max_q max_k page_table batch_idx leftpad cos sin rotary_lengths q_descale k_descale "
    "v_descale scale is_causal window_size_left window_size_right",
    "_FAv3SageWrapperFunc": "query key value scale is_causal",
    "aiter::mha_fwd": FLASH,
    "aiter::fmha_v3_fwd": FLASH,
    "aiter::mha_bwd": "grad_out query key value out lse dropout scale is_causal "
    "window_size_left window_size_right",
}


ONE = (
    "abs neg exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal square sin cos tan tanh "
    "sigmoid erf erfc floor ceil round trunc sign relu silu bitwise_not"
).split()


# Of whole numbers, these make floating-point numbers.
FLOATING = (
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan tanh sigmoid erf erfc "
    "div"
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
    "div": ((2, 3), 2, True),
    "remainder": (2, 2, True),
    "bitwise_xor": (2, 2, True),
    "masked_fill": (3, 2, True),
    "lerp": (3, 2, True),
    "where": (3, 3, False),
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


# by the number of arguments: which one names the dimensions, and the types of the results
REDUCTIONS = dict.fromkeys(("sum", "mean", "prod"), {2: (None, ["sum"]), 4: (1, ["sum"])}) | {
    "amax": {3: (1, ["self"])},
    "amin": {3: (1, ["self"])},
    "logsumexp": {3: (1, ["self"])},
    "max": {1: (None, ["self"]), 3: (1, ["self", "long"])},
    "min": {1: (None, ["self"]), 3: (1, ["self", "long"])},
    "argmax": {3: (1, ["long"])},
    "argmin": {3: (1, ["long"])},
    "any": {1: (None, ["bool"]), 3: (1, ["bool"])},
    "all": {1: (None, ["bool"]), 3: (1, ["bool"])},
    "var": {4: (1, ["self"])},
    "std": {4: (1, ["self"])},
    "linalg_vector_norm": {5: (2, ["sum"])},
}


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
    "short": 2,
    "short int": 2,
    "int": 4,
    "double": 8,
    "c10::complex<float>": 8,
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

    def integers_of_booleans(self):
        words = (self.text or "").strip("[]").split(", ")
        if len(words) != 3 or set(words) - {"True", "False"}:
            raise Unknown
        return [word == "True" for word in words]


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
