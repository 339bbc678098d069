"""What operators on lists of tensors move: the type is in their kernels' names. Plain Python."""

import re

from queries.brute_flop_signatures import Cost, Unknown, moved

OPAQUE = {1: "bool", 2: "c10::Half", 4: "float", 8: "double"}

# Lists by the signatures of native_functions.yaml; those with ! are written, with ? only written.
LISTS = {
    "cat": ("concatenation", "tensors!"),
    "_foreach_copy_": ("elementwise", "self? src"),
    "_foreach_zero_": ("elementwise", "self?"),
    "_foreach_norm": ("reduction", "self"),
    "_amp_foreach_non_finite_check_and_unscale_": ("elementwise", "self!"),
    "_fused_adam_": ("optimizer", "self! grads exp_avgs! exp_avg_sqs! max_exp_avg_sqs! steps"),
    "_fused_sgd_": ("optimizer", "self! grads momentum_buffers!"),
}
LISTS["_fused_adamw_"] = LISTS["_fused_adam_"]
LISTS |= dict.fromkeys(
    (
        f"_foreach_{word}{ending}"
        for word in ("add", "sub", "mul", "div", "sqrt", "pow", "maximum", "neg", "reciprocal")
        for ending in ("", "_")
    ),
    ("elementwise", "self! other"),
)
LISTS |= dict.fromkeys(
    ("_foreach_addcmul_", "_foreach_addcdiv_", "_foreach_lerp_"),
    ("elementwise", "self! tensor1 tensor2"),
)


def on_lists(name):
    return name.removeprefix("aten::") in LISTS


def element_types(kernels):
    """(written, read) of a call's kernels; None where they do not tell."""
    found = set()
    for kernel in kernels:
        if kernel is None:
            continue
        short = kernel.replace("at::native::", "").replace("(anonymous namespace)::", "")
        opaque = re.search(r"CatArray\w*<OpaqueType<(\d+)u?>", short)
        copied = re.search(r"CopyFunctor<([\w:]+), ([\w:]+),", short)
        plain = re.search(r"(?:CatArray\w*|Functor)<(c10::complex<\w+>|[\w: ]+)", short)
        if opaque:
            found.add((OPAQUE[int(opaque[1])],) * 2)
        elif copied:
            found.add((copied[1], copied[2]))
        elif plain:
            found.add((plain[1],) * 2)
    return found.pop() if len(found) == 1 else None


def lists(short, dims, types, element):
    family, words = LISTS[short]
    if short == "cat" and element is None and len(types) > 2 and types[2]:
        element = types[2], types[2]
    if not types or types[0] != "TensorList" or not dims[0] or element is None:
        raise Unknown
    written, read = element
    tensors = []
    for at, word in enumerate(words.split()):
        if at >= len(types) or types[at] != "TensorList":
            continue
        for size in dims[at]:
            if word == "steps":
                tensors.append((size, "float"))
                continue
            if not word.endswith("?"):
                tensors.append((size, read))
            if word.endswith(("!", "?")):
                tensors.append((size, written))
    if short == "_foreach_norm":
        tensors.append(([len(dims[0])], written))
    total = moved(tensors)
    return None if total is None else Cost(family, None, total)
