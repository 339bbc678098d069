"""The operators and kernels of two jobs: what is new, gone or changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.database.layers import literal
from hta_sql.report.parts import Chart, Part, Table, Text
from hta_sql.report.sections.two_steps import windows_of_two

if TYPE_CHECKING:
    from hta_sql.report.subject import Answer, Subject

TITLE = "Operators and kernels, before and now"
LINK = "Calls"
PLACE = 3
IS_OPEN = True
OF_TWO = True
_PER_STEP = {
    "base_per_step_ns": "base, per step",
    "test_per_step_ns": "test, per step",
    "diff_per_step_ns": "difference, per step",
}
# What op_alignment calls the changes, in words.
_RELATIONS = {
    "inserted": "new",
    "removed": "gone",
    "renamed": "of another name",
    "reshaped": "on other shapes",
    "matched": "the same, with other kernels",
}


def parts(subject: Subject) -> Iterator[Part]:
    two = {"base_job": subject.base, "test_job": subject.job}
    yield from _aligned(subject)
    kernels = subject.ask("kernel_diff", **two, short_names=True)
    if kernels:
        yield Chart(
            "Kernels whose time changed most. Right of 0: longer than before. Left of 0: shorter.",
            kernels,
            plot.diff.drawing(kernels.table),
        )
        yield Table(
            "Kernels before (base) and now (test): time per step and rank",
            kernels,
            ["name", *_PER_STEP],
            heads=_PER_STEP,
        )
    categories = subject.ask("category_diff", **two)
    if categories:
        yield Table(
            "Kernel categories before (base) and now (test): time per step and rank",
            categories,
            ["category", *_PER_STEP],
            heads=_PER_STEP,
        )
    operators = subject.ask("op_diff", **two, only_cats=["cpu_op", "Operator"])
    if operators:
        yield Table(
            "Operators on the host before (base) and now (test): time per step and rank",
            operators,
            ["name", *_PER_STEP],
            heads=_PER_STEP,
        )


def _aligned(subject: Subject) -> Iterator[Part]:
    """The calls that differ, in the steps that the pictures show."""
    base, test = windows_of_two(subject)
    if base is None or test is None:
        return
    given = [f"base_job := {literal(subject.base)}", f"test_job := {literal(subject.job)}"]
    for side, window in (("base", base), ("test", test)):
        given.append(f"{side}_ranks := [{window.rank}]")
        if window.step is not None:
            given.append(f"{side}_steps := [{window.step}]")
    calls = subject.sql(
        "SELECT relation, base_name, test_name, count(*) AS count, "
        "coalesce(sum(base_kernel_ns), 0)::BIGINT AS base_kernel_ns, "
        "coalesce(sum(test_kernel_ns), 0)::BIGINT AS test_kernel_ns, "
        "sum(diff_kernel_ns)::BIGINT AS diff_kernel_ns "
        f"FROM op_alignment({', '.join(given)}) "
        "WHERE relation <> 'matched' OR kernel_change <> 'same' GROUP BY ALL "
        "ORDER BY abs(sum(diff_kernel_ns)) DESC, count(*) DESC, relation, base_name, test_name",
        "op_alignment",
    )
    where = " and ".join(
        f"{window.label} of rank {window.rank} of the {side}"
        for side, window in (("base", base), ("test", test))
    )
    if not calls:
        yield Text([f"The same operators run on the same shapes, with the same kernels: {where}."])
        return
    yield Text([_counted(calls, where)])
    yield Table(
        "Calls of operators that changed, and the time of their kernels, the largest change first",
        calls,
        most=50,
    )


def _counted(calls: Answer, where: str) -> str:
    found: Counter[str] = Counter()
    for row in calls.rows:
        found[row["relation"]] += row["count"]
    said = ", ".join(
        f"{found[relation]:,} {word}" for relation, word in _RELATIONS.items() if relation in found
    )
    return f"Of the calls of operators in {where}: {said}."
