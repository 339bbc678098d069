"""comparability of two jobs: each thing that is different."""

import pytest
from queries.comparable import (
    ALIKE,
    FEW_STEPS,
    LOST,
    NO_STEPS,
    ONE_WITH_SHAPES,
    ONE_WITH_STEPS,
    differing,
    rows_of,
)


def test_two_that_do_the_same(compare):
    assert differing(compare, {}, {}) == {}
    assert rows_of(compare) == ALIKE


@pytest.mark.parametrize(
    "name, base, test, row",
    [
        ("gpu", {}, {"gpu": "A100"}, ("H100", "A100", "prevents", "they ran on different GPUs")),
        ("gpu", {}, {"gpu": ""}, ("H100", None, "none", None)),
        (
            "world_size",
            {},
            {"world_size": 16},
            ("8", "16", "prevents", "the programs have different numbers of ranks"),
        ),
        (
            "activities",
            {},
            {"activities": 0},
            ("20", "0", "prevents", "only one of them has GPU activities"),
        ),
        # Less of them is what is to be compared, and no reason.
        ("activities", {}, {"activities": 1}, ("20", "2", "none", None)),
        (
            "activities",
            {"activities": 0},
            {},
            ("0", "20", "prevents", "only one of them has GPU activities"),
        ),
        (
            "stacks",
            {},
            {"frames": ["f", "g"]},
            (
                "0",
                "12",
                "weakens",
                "only one was recorded with Python's stacks (with_stack), which slows the host",
            ),
        ),
        ("stacks", {"frames": ["f"]}, {"frames": ["f", "g"]}, ("6", "12", "none", None)),
        (
            "traces",
            {},
            {"lost": 2},
            ("0 incomplete, 0 events lost", "0 incomplete, 4 events lost", "weakens", LOST),
        ),
        (
            "traces",
            {"status": "truncated"},
            {},
            ("2 incomplete, 0 events lost", "0 incomplete, 0 events lost", "weakens", LOST),
        ),
    ],
)
def test_one_thing_is_different(compare, name, base, test, row):
    assert differing(compare, base, test) == {name: row}


@pytest.mark.parametrize(
    "base, test, row",
    [
        ([1, 2, 3], [7, 8, 9, 10], ("3", "4", "none", None)),
        ([1, 2, 3], [1, 2], ("3", "2", "weakens", FEW_STEPS)),
        ([1], [1, 2, 3], ("1", "3", "weakens", FEW_STEPS)),
        ([1, 2, 3], [], ("3", "0", "prevents", ONE_WITH_STEPS)),
        ([], [1], ("0", "1", "prevents", ONE_WITH_STEPS)),
        ([], [], ("0", "0", "weakens", NO_STEPS)),
    ],
)
def test_steps(compare, base, test, row):
    wanted = {} if row in [known[1:] for known in ALIKE] else {"steps": row}
    found = differing(compare, {"steps": base}, {"steps": test})
    found.pop("shapes", None)  # as many of them as there are steps
    assert found == wanted


@pytest.mark.parametrize(
    "base, test, row",
    [
        # Half of a side's calls, and all of them, are enough.
        (["mm 4", "add 4"], ["mm 4", "add 8"], ("12", "12", "none", None)),
        (
            ["mm 4"],
            ["mm 4", "add 4", "add 8"],
            (
                "6",
                "18",
                "prevents",
                "only 33 % of the operators of one ran on shapes that the other has",
            ),
        ),
        (["mm 4"], ["mm 4", "add 4"], ("6", "12", "none", None)),
        (
            ["mm 4", "add 4", "add 8"],
            ["mm 4"],
            (
                "18",
                "6",
                "prevents",
                "only 33 % of the operators of one ran on shapes that the other has",
            ),
        ),
        (
            ["mm 4", "add 4"],
            ["mm 8", "add 8"],
            (
                "12",
                "12",
                "prevents",
                "only 0 % of the operators of one ran on shapes that the other has",
            ),
        ),
        # The shapes of another operator are no counterpart.
        (
            ["mm 4"],
            ["add 4"],
            (
                "6",
                "6",
                "prevents",
                "only 0 % of the operators of one ran on shapes that the other has",
            ),
        ),
        (["mm", "add"], ["mm 4"], ("0", "6", "weakens", ONE_WITH_SHAPES)),
        (["mm 4"], ["mm"], ("6", "0", "weakens", ONE_WITH_SHAPES)),
        (["mm"], ["add"], ("0", "0", "none", None)),
        # Calls without shapes beside some with them: only those tell.
        (["mm 4", "x", "y", "z"], ["mm 4"], ("6", "6", "none", None)),
        # Of a trace of the device alone.
        ([], ["mm 4"], ("0", "6", "prevents", "only one of them has operators")),
        (["mm 4"], [], ("6", "0", "prevents", "only one of them has operators")),
    ],
)
def test_shapes(compare, base, test, row):
    found = differing(compare, {"ops": base}, {"ops": test})
    assert found == ({} if ("shapes", *row) in ALIKE else {"shapes": row})
