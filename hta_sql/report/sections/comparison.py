"""What changed since the job before."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hta_sql.comparison.comparison import Comparison, described
from hta_sql.comparison.words import percent
from hta_sql.database.layers import literal
from hta_sql.report.parts import Cards, Facts, Part, Text, Warnings
from hta_sql.report.sections.findings import warnings_of
from hta_sql.show.units import humane

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "What changed"
PLACE = 0
IS_OPEN = True
OF_TWO = True
_MOST = 10
# The query that shows more of a cause, and the rows that do.
_MORE = {
    "calls": ("op_diff", "", "name = {name}"),
    "shapes": ("op_diff", ", by_shape := true", "name = {name}"),
    "kernels": ("op_alignment", "", "{name} IN (base_name, test_name)"),
    "kernel_time": ("kernel_diff", "", "name = {name}"),
    "transfer": ("collective_diff", "", "starts_with({name}, name)"),
    "host_time": ("op_diff", "", "name = {name}"),
    "data_loading": ("annotation_diff", "", "name = {name}"),
}


def parts(subject: Subject) -> Iterator[Part]:
    found = comparison_of(subject)
    yield Facts(
        [
            ("base (before)", subject.base, described(found, "base")),
            ("test (now)", subject.job, described(found, "test")),
        ]
    )
    for side, of in (("base", subject.before), ("test", subject)):
        if lines := warnings_of(of):
            named = [f"{side.capitalize()}, {of.job}: {line}" for line in lines]
            yield Warnings(f"the traces of the {side}, {of.job}", named)
    prevents, weakens = found.reasons["prevents"], found.reasons["weakens"]
    if prevents:
        yield Text([f"Not comparable: {reason}." for reason in prevents], True)
        yield Text(
            [
                "The sections below show both jobs, but their differences mean little. For the "
                f"causes nevertheless: {shlex.join(_words(subject, 'run diff_causes'))}"
            ]
        )
    else:
        yield Text([found.headline])
        yield from _causes(subject, found)
    if weakens:
        yield Text([f"Take care: {reason}." for reason in weakens], True)


def comparison_of(subject: Subject) -> Comparison:
    return Comparison(subject.run, subject.base, subject.job, {}, None)


def _words(subject: Subject, command: str) -> list[str]:
    return subject.words(command, base_job=subject.base, test_job=subject.job)


def _causes(subject: Subject, found: Comparison) -> Iterator[Part]:
    """The causes with the largest change of time per step."""
    causes = found.causes
    if not causes:
        yield Text(["No operator, shape, kernel or collective changed beyond noise."])
        return
    yield Text(["Causes beyond noise, the largest change of time per step first:"])
    yield Cards(
        [(cause["text"], _figures(cause), _command(subject, cause)) for cause in causes[:_MOST]]
    )
    if len(causes) > _MOST:
        every = shlex.join(_words(subject, "run diff_causes"))
        yield Text([f"All {len(causes):,} causes: {every}"])


def _figures(cause: dict[str, Any]) -> str:
    was, now = (humane("t_ns", cause[f"{side}_per_step_ns"]) for side in ("base", "test"))
    calls = [f"{cause[f'{side}_calls']:,.4g}" for side in ("base", "test")]
    ratio = cause["diff_ratio"]
    each = "" if ratio is None else f", {percent(ratio)} per call"
    return (
        f"{cause['cause']}: {was} per step, now {now}{each}; {calls[0]} calls per step, now "
        f"{calls[1]}"
    )


def _command(subject: Subject, cause: dict[str, Any]) -> str:
    query, more, where = _MORE[cause["cause"]]
    if cause["name"] in (cause["base_detail"], cause["test_detail"]):
        query, where = "kernel_diff", "name = {name}"  # a kernel outside operators
    jobs = f"base_job := {literal(subject.base)}, test_job := {literal(subject.job)}"
    rows = where.format(name=literal(cause["name"]))
    return shlex.join([*subject.words("sql"), f"FROM {query}({jobs}{more}) WHERE {rows}"])
