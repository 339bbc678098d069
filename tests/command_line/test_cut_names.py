"""Long names in narrow columns: what differs stays."""

from itertools import product

import pytest

from hta_sql.show.cut import cut_apart
from hta_sql.show.tables import fitted_table


def test_names_that_begin_and_end_alike_are_cut_where_they_differ():
    kernels = [f"sm90_xmma_gemm_tilesize{size}x64_execute_segment_kernel" for size in (64, 128)]
    names = [*kernels, "sm90_other_gemm_kernel_of_some_length", "relu", kernels[0]]
    assert fitted_table(["name"], [(name,) for name in names], 30).lines == [
        "sm90_…tilesize64x64_execute_s…",
        "sm90_…tilesize128x64_execute_…",
        "sm90_other_gemm…of_some_length",
        "relu",
        "sm90_…tilesize64x64_execute_s…",
    ]


@pytest.mark.parametrize("size", [26, 30, 40, 60])
@pytest.mark.parametrize("fill", ["x", "_accumulate_"])
def test_names_that_differ_in_several_places(size, fill):
    """Three places, far from each other: no cell has room for the text between two of them."""
    gap = fill * 60
    names = [f"gemm{gap}{a}{gap}{b}{gap}{c}{gap}" for a, b, c in product("12", "ab", "XYZ")]
    shown = cut_apart(names, size)
    assert len(set(shown.values())) == len(names)
    assert all(len(text) <= size and text.startswith("gemm") for text in shown.values())
