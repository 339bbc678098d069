"""Operators on lists of tensors: the type of the elements is in the names of their kernels."""

import pytest
from queries.brute_flop_costs import cost
from queries.brute_flop_lists import element_types
from queries.flops.calls import call

NAMES = {
    "cat": "void at::native::(anonymous namespace)::CatArrayBatchedCopy<{}, unsigned int, 2, 128, "
    "1>({}*, at::native::(anonymous namespace)::CatArrInputTensorMetadata<{}, unsigned int, 128>)",
    "foreach": "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::"
    "(anonymous namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::{}, "
    "std::plus<float>, float>(at::native::(anonymous namespace)::TensorListMetadata<2>)",
}
OPAQUE = "at::native::(anonymous namespace)::OpaqueType<2u>"
TWO = [[4, 8], [3]]


def cat(element):
    return NAMES["cat"].replace("{}", element)


def foreach(functor):
    return NAMES["foreach"].replace("{}", functor)


def listed(name, dims, *lists_at, types=None):
    """A call whose arguments at these places are lists of tensors."""
    kinds = types or ["TensorList" if at in lists_at else "Scalar" for at in range(len(dims))]
    return call(name, dims, kinds)


CASES = {
    "cat": (listed("cat", [TWO, []], 0), cat("float"), 4 * 2 * 35),
    "cat of bytes": (listed("cat", [TWO, []], 0), cat(OPAQUE), 2 * 2 * 35),
    "cat of complex numbers": (listed("cat", [TWO, []], 0), cat("c10::complex<float>"), 8 * 2 * 35),
    "cat with an empty tensor": (listed("cat", [[[0], [4, 8]], []], 0), cat("long"), 8 * 2 * 32),
    "cat into a given result": (
        listed("cat", [TWO, [], [5]], types=["TensorList", "Scalar", "c10::Half"]),
        None,
        2 * 2 * 35,
    ),
    "cat by another kernel": (listed("cat", [TWO, []], 0), "copy", None),
    "cat of a list without sizes": (listed("cat", [[], []], 0), cat("float"), None),
    "add_": (
        listed("_foreach_add_", [TWO, TWO, []], 0, 1),
        foreach("BinaryOpListAlphaFunctor<c10::BFloat16, 2, 2, 0>"),
        2 * 3 * 35,
    ),
    "add": (
        listed("_foreach_add", [TWO, TWO, []], 0, 1),
        foreach("BinaryOpListAlphaFunctor<float, 3, 2, 2>"),
        4 * 3 * 35,
    ),
    "mul_ by a number": (
        listed("_foreach_mul_", [TWO, []], 0),
        foreach("BinaryOpScalarFunctor<float, 1, 1, 0>"),
        4 * 2 * 35,
    ),
    "addcdiv_": (
        listed("_foreach_addcdiv_", [TWO, TWO, TWO, []], 0, 1, 2),
        foreach("PointwiseOpScalarFunctor<double, 3, 3, 0>"),
        8 * 4 * 35,
    ),
    "copy_ to another type": (
        listed("_foreach_copy_", [TWO, TWO, []], 0, 1),
        foreach("CopyFunctor<float, c10::BFloat16, 2, 1, 1>"),
        (4 + 2) * 35,
    ),
    "copy_": (
        listed("_foreach_copy_", [TWO, TWO, []], 0, 1),
        foreach("UnaryOpFunctor<c10::Half, 2, 1, 1>"),
        2 * 2 * 35,
    ),
    "zero_": (listed("_foreach_zero_", [TWO], 0), foreach("ZeroFunctor<float, 1, 1, 0>"), 4 * 35),
    "norm": (
        listed("_foreach_norm", [TWO, [], []], 0),
        foreach("LpNormFunctor<float, (at::native::NormType)1, float, 1, 1, 0>"),
        4 * (35 + 2),
    ),
    # Four lists are read, three are written, and two counters are read.
    "fused adam": (
        listed("_fused_adamw_", [TWO, TWO, TWO, TWO, [], [[], []], *[[]] * 8], 0, 1, 2, 3, 4, 5),
        foreach("FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>"),
        4 * 7 * 35 + 4 * 2,
    ),
    "fused adam with the highest moments": (
        listed("_fused_adam_", [*[TWO] * 5, [[], []], *[[]] * 8], 0, 1, 2, 3, 4, 5),
        foreach("FusedAdamMathFunctor<float, 5, (at::native::ADAM_MODE)0, true>"),
        4 * 9 * 35 + 4 * 2,
    ),
    "fused sgd": (
        listed("_fused_sgd_", [TWO, TWO, TWO, *[[]] * 8], 0, 1, 2),
        foreach("FusedSgdMathFunctor<float, 3, true, false>"),
        4 * 5 * 35,
    ),
    "fused sgd without momentum": (
        listed("_fused_sgd_", [TWO, TWO, [], *[[]] * 8], 0, 1, 2),
        foreach("FusedSgdMathFunctor<float, 2, false, false>"),
        4 * 3 * 35,
    ),
}


@pytest.fixture
def found(host):
    rows = [row | {"rank": at} for at, (row, _, _) in enumerate(CASES.values())]
    kernels = [
        {"rank": at, "op_id": 1000000, "name": kernel, "start_ns": 0, "dur_ns": 5}
        for at, (_, kernel, _) in enumerate(CASES.values())
        if kernel
    ]
    for row in rows:
        row["event_id"] = 1000000
    host.fill(host_ops=rows, gpu_activities=kernels)
    assert host.broken_promises("op_flops") == []
    return {row["rank"]: row for row in host.run("op_flops")}


def test_each_operator(found):
    bytes_of = {said: found.get(at, {}).get("bytes") for at, said in enumerate(CASES)}
    assert bytes_of == {said: size for said, (_, _, size) in CASES.items()}


def test_the_brute_force_knows_them_too():
    for said, (row, kernel, size) in CASES.items():
        found = cost(
            row["name"],
            row["input_dims"],
            row["input_types"],
            row["concrete_inputs"],
            element_types([kernel]),
        )
        assert (found and found.bytes) == size, said


def test_families(found):
    families = {said: found[at]["family"] for at, said in enumerate(CASES) if at in found}
    assert families["cat"] == "concatenation"
    assert families["add_"] == "elementwise"
    assert families["norm"] == "reduction"
    assert families["fused adam"] == "optimizer"
    assert {row["is_estimated"] for row in found.values()} == {False}


def test_calls_with_one_shape_and_two_types(host):
    """Each call has the type of its own kernels."""
    rows = [listed("cat", [TWO, []], 0) | {"event_id": at} for at in (1, 2)]
    host.fill(
        host_ops=rows,
        gpu_activities=[
            {"op_id": 1, "name": cat("float"), "start_ns": 0, "dur_ns": 5},
            {"op_id": 2, "name": cat("double"), "start_ns": 9, "dur_ns": 5},
        ],
    )
    [row] = host.run("op_flops")
    assert (row["count"], row["bytes"], row["kernel_ns"]) == (2, (4 + 8) * 2 * 35, 10)


def test_kernels_of_two_types_tell_nothing(host):
    host.fill(
        host_ops=[listed("cat", [TWO, []], 0) | {"event_id": 1}],
        gpu_activities=[
            {"op_id": 1, "name": cat(element), "start_ns": 0, "dur_ns": 5}
            for element in ("float", "double")
        ],
    )
    assert host.run("op_flops") == []
