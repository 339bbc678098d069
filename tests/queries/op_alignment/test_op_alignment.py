"""op_alignment as drawn."""

import pytest
from queries.op_alignment.drawn import aligned, drawn


def test_the_headers_drawing(small):
    aligned(
        small,
        """
        matched   mm:[8,8]    mm:[8,8]
        removed   mul:[8]     -
        matched   add:[8]     add:[8]
        inserted  -           clone:[8]
        reshaped  mm:[8,8]    mm:[8,16]
        renamed   gelu:[8,8]  silu:[8,8]
    """,
    )


def test_columns(small):
    rows = aligned(
        small,
        """
        matched   mm:[8]>gemm   mm:[8]>gemm
        renamed   mul:[8]>mul   div:[8]
        inserted  -             clone:[9]>copy
        matched   add           add
        removed   sub:[7]>x+y   -
    """,
    )  # Durations: 10 and the line in the base, 15 and the line in the test; kernels 7.
    names = (
        "base_dur_ns",
        "test_dur_ns",
        "diff_dur_ns",
        "base_kernel_count",
        "test_kernel_count",
        "base_kernel_ns",
        "test_kernel_ns",
        "diff_kernel_ns",
    )
    assert [tuple(row[name] for name in names) for row in rows] == [
        (10, 15, 5, 1, 1, 7, 7, 0),
        (11, 16, 5, 1, 0, 7, 0, -7),
        (None, 17, None, None, 1, None, 7, 7),
        (13, 18, 5, 0, 0, 0, 0, 0),
        (14, None, None, 2, None, 14, None, -14),
    ]
    names = (
        "position",
        "base_input_dims",
        "test_input_dims",
        "base_rank",
        "test_rank",
        "base_event_id",
        "test_event_id",
        "base_kernels",
        "test_kernels",
        "kernel_change",
    )
    assert [tuple(row[name] for name in names) for row in rows] == [
        (1, "[8]", "[8]", 0, 0, 0, 0, "gemm", "gemm", "same"),
        (2, "[8]", "[8]", 0, 0, 1, 1, "mul", None, "removed"),
        (3, None, "[9]", None, 0, None, 2, None, "copy", "added"),
        (4, None, None, 0, 0, 3, 3, None, None, None),
        (5, "[7]", None, 0, None, 4, None, "x | y", None, "removed"),
    ]


@pytest.mark.parametrize(
    ("base", "test", "change"),
    [
        ("", "", None),
        ("gemm", "gemm", "same"),
        ("gemm", "other", "replaced"),
        ("", "gemm", "added"),
        ("gemm", "", "removed"),
        ("a+b", "a+b", "same"),
        ("a+b", "b+a", "replaced"),
        ("a", "a+a", "replaced"),
    ],
)
def test_kernel_changes(small, base, test, change):
    [row] = aligned(small, f"matched mm:[8]>{base} mm:[8]>{test}")
    assert row["kernel_change"] == change


def test_kernels_of_an_operator_within_are_not_its_own(small):
    tables = drawn("matched mm:[8] mm:[8]")
    tables["host_ops"] += [
        {
            "job": job,
            "event_id": 50,
            "name": "inner",
            "start_ns": 5,
            "dur_ns": 1,
            "parent_id": 0,
            "op_id": 0,
        }
        for job in "ab"
    ]
    tables["gpu_activities"] = [
        {"job": job, "event_id": 90, "name": "k", "op_id": 50, "start_ns": 7, "dur_ns": 1}
        for job in "ab"
    ] + [{"job": "a", "event_id": 91, "name": "of none", "start_ns": 9, "dur_ns": 1}]
    small.fill(**tables)
    assert [
        (row["base_name"], row["base_kernels"], row["test_kernel_count"])
        for row in small.run("op_alignment")
    ] == [("mm", None, 0), ("inner", "k", 1)]


def test_an_operator_more_in_each_layer(small):
    layer = "matched norm:[8] norm:[8]\nmatched mm:[8] mm:[8]\n"
    aligned(small, (layer + "inserted - clone:[8]\nmatched add:[8] add:[8]\n") * 6)
    aligned(small, (layer + "removed clone:[8] -\nmatched add:[8] add:[8]\n") * 6)
    aligned(
        small,
        "matched first first\n"
        + layer * 3
        + """
        removed norm:[8] -
        removed mm:[8] -
        matched last last
    """.lstrip(),
    )
