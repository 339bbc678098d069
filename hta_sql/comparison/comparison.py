"""Two jobs, opened as one archive, and how they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Query
from hta_sql.comparison.condition import TIMES_OF_CALLS, Condition, Verdict
from hta_sql.comparison.words import longer, percent, sentence
from hta_sql.methods import MethodsOfTwo
from hta_sql.show.tables import table_lines
from hta_sql.show.units import humane

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN_CAUSES = 10


class Comparison(MethodsOfTwo):
    """Two jobs, or ranks or steps of jobs, as :func:`hta_sql.compare` opens them.

    The queries that compare, such as `kernel_diff`, are its methods, with the two sides selected.
    They return a ``pyarrow.Table``.
    """

    def __init__(
        self, archive: Archive, base: str, test: str, selection: dict[str, Any], scratch: Any
    ) -> None:
        self.archive = archive
        self.sides = {"base_job": base, "test_job": test, **selection}
        self._scratch = scratch

    def table(self, query: str, /, **parameters: Any) -> pa.Table:
        """The result of a query for the two sides.

        Args:
            query: The query's name, such as "kernel_diff".
            parameters: Its other parameters.

        Returns:
            pyarrow.Table, with the columns of the query.
        """
        return self.archive.query(query, **self.sides, **parameters)

    def call(self, query: str) -> tuple[Query, dict[str, Any]]:
        """A query, and the parameters that select the two jobs, ranks and steps."""
        return Catalog.load().find(query), self.sides

    if not TYPE_CHECKING:  # type checkers read methods.pyi

        def __getattr__(self, name: str) -> Callable[..., pa.Table]:
            if name.startswith("_") or name not in queries_of_two():
                raise AttributeError(
                    f"no query {name!r} compares two jobs; there are {', '.join(queries_of_two())}"
                )
            return lambda **parameters: self.table(name, **parameters)

    def _repr_html_(self) -> str:
        """What a notebook shows: the headline, the causes and the times per step."""
        from html import escape

        lines = escape("\n".join(report_lines(self)))
        return f'<pre style="font-family: monospace">{lines}</pre>'  # notebooks may set another

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *queries_of_two()]

    def close(self) -> None:
        self.archive.close()
        self._scratch.cleanup()

    def __enter__(self) -> Comparison:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def reasons(self) -> dict[str, list[str]]:
        """Why the jobs cannot be compared (`prevents`), and why to be careful (`weakens`)."""
        found: dict[str, list[str]] = {"prevents": [], "weakens": []}
        for row in self.table("comparability").to_pylist():
            if row["reason"]:
                values = f"{row['base_value']} and {row['test_value']}"
                reason = row["reason"] if row["name"] == "shapes" else f"{row['reason']}: {values}"
                found[row["effect"]].append(reason)
        return found

    @cached_property
    def steps(self) -> list[dict[str, Any]]:
        """The rows of step_diff."""
        return self.table("step_diff").to_pylist()

    @cached_property
    def causes(self) -> list[dict[str, Any]]:
        """The rows of diff_causes, each with a sentence, `text`."""
        rows = self.table("diff_causes").to_pylist()
        names = self.archive.sql(
            "SELECT short_name(unnest($names::VARCHAR[])) AS name",
            {"names": [row["name"] for row in rows]},
        )["name"].to_pylist()
        return [
            row | {"text": sentence(row, short if row["cause"] == "kernel_time" else row["name"])}
            for row, short in zip(rows, names, strict=True)
        ]

    @cached_property
    def headline(self) -> str:
        """How the time of a step changed, in one sentence."""
        rows = {row["name"]: row for row in self.steps if row["base_count"] and row["test_count"]}
        row = rows.get("step_time") or rows.get("gpu_busy")
        if row is None:
            return "There are no steps or GPU activities on both sides to compare."
        what = "A step takes" if row["name"] == "step_time" else "The GPU is busy for"
        was, now = (humane("t_ns", row[f"{side}_mean_ns"]) for side in ("base", "test"))
        ratio = row["diff_ratio"] or 0.0
        if row["is_significant"] and row["change"] != "unchanged":
            # A time is not negative, so it cannot be more than 100 % shorter.
            sure = " to ".join(
                percent(max(-1.0, row[f"diff_{end}_ns"] / max(1, row["base_mean_ns"])))
                for end in ("low", "high")
            )
            return (
                f"{what} {longer(ratio)}: {was}, now {now} (99.9 % interval of the "
                f"difference {sure})."
            )
        if row["diff_mean_ns"] == 0:
            return f"{what} exactly as long as before: {was}."
        if row["is_significant"] is None:
            return f"{what} {longer(ratio)}: {was}, now {now}; of one each, noise is unknown."
        noise = (row["diff_high_ns"] - row["diff_low_ns"]) / 2 / max(1, row["base_mean_ns"])
        return (
            f"{what} {was}, now {now}: {percent(ratio)}, within noise of "
            f"±{percent(noise, sign=False)}."
        )

    def judge(self, condition: str | Condition) -> Verdict:
        """Whether a condition holds, with a difference beyond noise.

        Args:
            condition: METRIC > LIMIT or METRIC < LIMIT, such as "step_time > 3%". METRIC is a name
                in step_diff; or kernel_time, transfer, host_time or data_loading, which hold if
                they hold for at least one row of diff_causes.

        Returns:
            Verdict; `holds` is True, False, or None if it cannot be decided.

        Raises:
            BadParameter: It is not a condition.

        Examples:
            >>> two.judge("step_time > 3%").holds
            False
        """
        asked = Condition.read(condition) if isinstance(condition, str) else condition
        if self.reasons["prevents"]:
            return Verdict(asked.text, None, f"not comparable: {self.reasons['prevents'][0]}")
        rows = {row["name"]: row for row in self.steps}
        if asked.name in TIMES_OF_CALLS:
            met = [
                row["text"]
                for row in self.causes
                if row["cause"] == asked.name and asked.is_beyond(row["diff_ratio"])
            ]
            steps = max((row["base_count"] + row["test_count"] for row in self.steps), default=0)
            if not met and steps < 3 and asked.name != "kernel_time":
                return Verdict(
                    asked.text,
                    None,
                    "with one step each, noise is unknown; record three steps or more",
                )
            return Verdict(asked.text, bool(met), "; ".join(met) or "nothing is, beyond noise")
        row = rows.get(asked.name)
        if row is None and asked.name != "step_time":
            return Verdict(asked.text, False, f"neither side has any {asked.name}")
        if row is None:
            return Verdict(asked.text, None, "there are no steps")
        value = row["diff_ratio"] if asked.is_ratio else row["diff_mean_ns"]
        if value is None:  # one job does not have it, or it takes no time in the base
            return Verdict(asked.text, None, f"{asked.name} is not there on both sides")
        shown = percent(value) if asked.is_ratio else humane("t_ns", value)
        if not asked.is_beyond(value):
            return Verdict(asked.text, False, f"{asked.name} differs by {shown}")
        if row["is_significant"] is None:
            return Verdict(
                asked.text,
                None,
                f"{asked.name} differs by {shown}, but with "
                "one step each, noise is unknown; record three steps or more",
            )
        within = "" if row["is_significant"] else ", which is within noise"
        return Verdict(
            asked.text, row["is_significant"], f"{asked.name} differs by {shown}{within}"
        )


def queries_of_two() -> list[str]:
    """The names of the queries that compare two jobs, a base and a test."""
    return [name for name, query in Catalog.load().newest.items() if query.compares]


def report_lines(comparison: Comparison) -> Iterable[str]:
    """The comparison as sentences, and a table of the times per step."""
    for side in ("base", "test"):
        yield f"{side}  {comparison.sides[f'{side}_job']}: {described(comparison, side)}"
    for reason in comparison.reasons["prevents"]:
        yield f"Not comparable: {reason}."
    for reason in comparison.reasons["weakens"]:
        yield f"Take care: {reason}."
    yield ""
    yield comparison.headline
    causes = comparison.causes
    if causes:
        yield "Causes, largest change of time per step first:"
    else:
        yield "No operator, shape, kernel or collective changed beyond noise."
    width = len(str(min(len(causes), _SHOWN_CAUSES)))
    for row in causes[:_SHOWN_CAUSES]:
        yield f"  {row['position']:>{width}}  {row['text']}"
    if len(causes) > _SHOWN_CAUSES:
        yield f"  and {len(causes) - _SHOWN_CAUSES} more: --table diff_causes"
    if comparison.steps:
        yield ""
        names = ["per step", "was_ns", "now_ns", "diff_ns", "diff", "beyond noise"]
        rows = [
            (
                row["name"],
                row["base_mean_ns"],
                row["test_mean_ns"],
                row["diff_mean_ns"],
                "-" if row["diff_ratio"] is None else percent(row["diff_ratio"]),
                {True: "yes", False: "no", None: "unknown"}[row["is_significant"]],
            )
            for row in comparison.steps
        ]
        yield from table_lines(names, rows)


def described(comparison: Comparison, side: str) -> str:
    """The size of a side and its GPU, such as "4 ranks, 3 steps, NVIDIA H100"."""
    sides = comparison.sides
    [row] = comparison.archive.sql(
        "SELECT count(*) AS ranks, string_agg(DISTINCT device_name, ', ' ORDER BY device_name) AS "
        "gpu, min(start_ns) AS start_ns FROM traces "
        "WHERE job = $job AND ($ranks::INTEGER[] IS NULL OR list_contains($ranks, rank))",
        {"job": sides[f"{side}_job"], "ranks": sides.get(f"{side}_ranks")},
    ).to_pylist()
    steps = {entry["name"]: entry for entry in comparison.steps}.get("step_time")
    parts = [f"{row['ranks']} rank{'s' * (row['ranks'] != 1)}"]
    if steps:
        count = steps[f"{side}_count"]
        parts.append(f"{count} step{'s' * (count != 1)}")
    parts += [row["gpu"]] if row["gpu"] else []
    return ", ".join(parts)
