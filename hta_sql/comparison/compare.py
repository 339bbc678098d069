"""Two jobs side by side: wherever they are, opened as one archive, and what that tells."""

import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Query
from hta_sql.errors import ArchiveError, BadParameter, IngestError
from hta_sql.places.storage import holds_archive, is_remote, is_url, place
from hta_sql.show.output import humane
from hta_sql.store.layout import folder_for
from hta_sql.store.manifest import Manifest
from hta_sql.store.sources import Source

if TYPE_CHECKING:
    import pyarrow as pa

    from hta_sql.places.storage import Place

_CONDITION = re.compile(r"\s*(\w+)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*(%|ns|us|µs|ms|s)\s*")
_UNITS = {"%": 0.01, "ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
# The names in step_diff.
METRICS = (
    "step_time",
    "gpu_span",
    "gpu_busy",
    "idle",
    "compute",
    "exposed_communication",
    "exposed_memory",
    "communication",
    "memory",
    "kernel_sum",
)
# What a condition may ask of single causes: whether the call of any of them got that much longer.
_TIMES_OF_CALLS = ("kernel_time", "transfer", "host_time", "data_loading")
_SHOWN_CAUSES = 10


@dataclass(frozen=True)
class Condition:
    """When to fail: `step_time > 3%`, or `> 2ms`; a difference beyond noise."""

    text: str
    name: str
    is_above: bool
    limit: float
    is_ratio: bool

    @staticmethod
    def read(text: str) -> "Condition":
        """BadParameter where it is none."""
        found = _CONDITION.fullmatch(text)
        if not found:
            raise BadParameter(
                f"{text!r} is no condition: write 'step_time > 3%' or "
                "'step_time > 2ms', with ns, us, ms or s"
            )
        name, sign, number, unit = found.groups()
        if name not in (*METRICS, *_TIMES_OF_CALLS):
            raise BadParameter(
                f"{text!r}: there is no {name} to compare, but "
                f"{', '.join((*METRICS, *_TIMES_OF_CALLS))}"
            )
        if name in _TIMES_OF_CALLS and unit != "%":
            raise BadParameter(f"{text!r}: {name} is of single calls, and compared in %")
        return Condition(text, name, sign == ">", float(number) * _UNITS[unit], unit == "%")

    def is_beyond(self, value: float) -> bool:
        return value > self.limit if self.is_above else value < self.limit


@dataclass(frozen=True)
class Verdict:
    """Whether a condition holds; `holds` is None where that cannot be told."""

    condition: str
    holds: bool | None
    text: str


class Comparison:
    """Two jobs, or ranks or steps of jobs. Queries of the theme `compare` are its methods."""

    def __init__(
        self, archive: Archive, base: str, test: str, selection: dict[str, Any], scratch: Any
    ) -> None:
        self.archive = archive
        self._sides = {"base_job": base, "test_job": test, **selection}
        self._scratch = scratch

    def table(self, query: str, /, **parameters: Any) -> "pa.Table":
        """The result of a query for these two sides."""
        return self.archive.query(query, **self._sides, **parameters)

    def call(self, query: str) -> tuple[Query, dict[str, Any]]:
        """A query and the parameters that choose the two sides."""
        return Catalog.load().find(query), self._sides

    def __getattr__(self, name: str) -> Callable[..., "pa.Table"]:
        if name.startswith("_") or name not in queries_of_two():
            raise AttributeError(
                f"no query {name!r} compares; there is {', '.join(queries_of_two())}"
            )
        return lambda **parameters: self.table(name, **parameters)

    def _repr_html_(self) -> str:
        """What a notebook shows: the headline, the causes, and what a step spends time with."""
        from html import escape

        return f"<pre>{escape(chr(10).join(report_lines(self)))}</pre>"

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *queries_of_two()]

    def close(self) -> None:
        self.archive.close()
        self._scratch.cleanup()

    def __enter__(self) -> "Comparison":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def reasons(self) -> dict[str, list[str]]:
        """Why the two cannot be compared (`prevents`), and what to read with care (`weakens`)."""
        found: dict[str, list[str]] = {"prevents": [], "weakens": []}
        for row in self.table("comparability").to_pylist():
            if row["reason"]:
                values = f"{row['base_value']} and {row['test_value']}"
                told = row["reason"] if row["name"] == "shapes" else f"{row['reason']}: {values}"
                found[row["effect"]].append(told)
        return found

    @cached_property
    def steps(self) -> list[dict[str, Any]]:
        """The rows of step_diff."""
        return self.table("step_diff").to_pylist()

    @cached_property
    def causes(self) -> list[dict[str, Any]]:
        """The rows of diff_causes, with a sentence each, `text`."""
        rows = self.table("diff_causes").to_pylist()
        names = self.archive.sql(
            "SELECT short_name(unnest($names::VARCHAR[])) AS name",
            {"names": [row["name"] for row in rows]},
        )["name"].to_pylist()
        return [
            row | {"text": _sentence(row, short if row["cause"] == "kernel_time" else row["name"])}
            for row, short in zip(rows, names, strict=True)
        ]

    @cached_property
    def headline(self) -> str:
        """What became of a step's time, in a sentence."""
        rows = {row["name"]: row for row in self.steps if row["base_count"] and row["test_count"]}
        row = rows.get("step_time") or rows.get("gpu_busy")
        if row is None:
            return "There are no steps or GPU activities on both sides to compare."
        what = "A step takes" if row["name"] == "step_time" else "The GPU is busy for"
        was, now = (humane("t_ns", row[f"{side}_mean_ns"]) for side in ("base", "test"))
        ratio = row["diff_ratio"] or 0.0
        if row["is_significant"] and row["change"] != "unchanged":
            sure = " to ".join(
                _percent(row[f"diff_{end}_ns"] / max(1, row["base_mean_ns"]))
                for end in ("low", "high")
            )
            return (
                f"{what} {_longer(ratio)}: {was}, now {now} (99.9 % interval of the "
                f"difference {sure})."
            )
        if row["diff_mean_ns"] == 0:
            return f"{what} exactly as long as before: {was}."
        if row["is_significant"] is None:
            return f"{what} {_longer(ratio)}: {was}, now {now}; of one each, noise is unknown."
        noise = (row["diff_high_ns"] - row["diff_low_ns"]) / 2 / max(1, row["base_mean_ns"])
        return (
            f"{what} {was}, now {now}: {_percent(ratio)}, within noise of "
            f"±{_percent(noise, sign=False)}."
        )

    def judge(self, condition: str | Condition) -> Verdict:
        """Whether a condition holds, such as `step_time > 3%`: its difference and beyond noise.

        The names are those of step_diff; and kernel_time, transfer, host_time and data_loading,
        which hold if any single one in diff_causes does. BadParameter for what is no condition.
        """
        asked = Condition.read(condition) if isinstance(condition, str) else condition
        if self.reasons["prevents"]:
            return Verdict(asked.text, None, f"not comparable: {self.reasons['prevents'][0]}")
        rows = {row["name"]: row for row in self.steps}
        if asked.name in _TIMES_OF_CALLS:
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
                    "one step each tells nothing of noise; record three steps or more",
                )
            return Verdict(asked.text, bool(met), "; ".join(met) or "nothing is, beyond noise")
        row = rows.get(asked.name)
        if row is None and asked.name != "step_time":
            return Verdict(asked.text, False, f"neither side has any {asked.name}")
        if row is None:
            return Verdict(asked.text, None, "there are no steps (ProfilerStep annotations)")
        value = row["diff_ratio"] if asked.is_ratio else row["diff_mean_ns"]
        if value is None:  # one side has none, or the base takes no time
            return Verdict(asked.text, None, f"{asked.name} is not there on both sides")
        shown = _percent(value) if asked.is_ratio else humane("t_ns", value)
        if not asked.is_beyond(value):
            return Verdict(asked.text, False, f"{asked.name} differs by {shown}")
        if row["is_significant"] is None:
            return Verdict(
                asked.text,
                None,
                f"{asked.name} differs by {shown}, but one step each "
                "tells nothing of noise; record three steps or more",
            )
        within = "" if row["is_significant"] else ", which is within noise"
        return Verdict(
            asked.text, row["is_significant"], f"{asked.name} differs by {shown}{within}"
        )


def compare(
    base: str | Path,
    test: str | Path,
    *,
    base_ranks: Iterable[int] | None = None,
    test_ranks: Iterable[int] | None = None,
    base_steps: Iterable[int] | None = None,
    test_steps: Iterable[int] | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Comparison:
    """Open two jobs to be compared.

    Each is an archive, a job of one (`ARCHIVE::job`), or a folder or file of traces, which are
    ingested into a folder that goes when the Comparison is closed. Ranks and steps choose among
    them; the two sides may be of one job then. `report` gets warnings.

    ArchiveError or IngestError where one is none of these, or has several jobs and none is named.
    """
    scratch = tempfile.TemporaryDirectory(prefix="hta-sql-")
    folder = Path(scratch.name)
    try:
        base_root, base_job = _located(base, folder / "base", report)
        test_root, test_job = _located(test, folder / "test", report)
        if base_root.resolve() == test_root.resolve():
            archive = Archive(base_root, only_jobs=[base_job, test_job])
        else:
            names = (base_job, test_job)
            if base_job == test_job:
                base_job, test_job = f"{base_job} (base)", f"{test_job} (test)"
            archive = Archive(
                *_together(
                    folder / "both",
                    (base_root, names[0], base_job),
                    (test_root, names[1], test_job),
                )
            )
        selection = {
            "base_ranks": base_ranks,
            "test_ranks": test_ranks,
            "base_steps": base_steps,
            "test_steps": test_steps,
        }
        lists = {name: list(chosen) for name, chosen in selection.items() if chosen is not None}
        _check(archive, base_job, test_job, lists)
        return Comparison(archive, base_job, test_job, lists, scratch)
    except BaseException:
        scratch.cleanup()
        raise


def queries_of_two() -> list[str]:
    """The queries that compare a base with a test."""
    return [
        name
        for name, query in Catalog.load().newest.items()
        if {"base_job", "test_job"} <= {parameter.name for parameter in query.parameters}
    ]


def report_lines(comparison: Comparison) -> Iterable[str]:
    """The comparison in words and a table of what a step spends time with."""
    from hta_sql.show.output import table_lines

    for side in ("base", "test"):
        yield f"{side}  {_described(comparison, side)}"
    for reason in comparison.reasons["prevents"]:
        yield f"Not comparable: {reason}."
    for reason in comparison.reasons["weakens"]:
        yield f"Take care: {reason}."
    yield ""
    yield comparison.headline
    causes = comparison.causes
    if causes:
        yield "Causes, by time in a step:"
    else:
        yield "No cause is beyond noise: no operator, shape, kernel or collective."
    width = len(str(min(len(causes), _SHOWN_CAUSES)))
    for row in causes[:_SHOWN_CAUSES]:
        yield f"  {row['position']:>{width}}  {row['text']}"
    if len(causes) > _SHOWN_CAUSES:
        yield f"  and {len(causes) - _SHOWN_CAUSES} more: --table diff_causes"
    if comparison.steps:
        yield ""
        names = ["of a step", "was_ns", "now_ns", "diff_ns", "diff", "beyond noise"]
        rows = [
            (
                row["name"],
                row["base_mean_ns"],
                row["test_mean_ns"],
                row["diff_mean_ns"],
                "-" if row["diff_ratio"] is None else _percent(row["diff_ratio"]),
                {True: "yes", False: "no", None: "unknown"}[row["is_significant"]],
            )
            for row in comparison.steps
        ]
        yield from table_lines(names, rows)


def _described(comparison: Comparison, side: str) -> str:
    sides = comparison._sides
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
    return f"{sides[f'{side}_job']}: {', '.join(parts)}"


def _sentence(row: dict[str, Any], name: str) -> str:
    """What a cause is, for people; `name` is its name, shortened."""
    cause, was, now = row["cause"], row["base_detail"], row["test_detail"]
    if cause in _TIMES_OF_CALLS:
        doing = {"kernel_time": "a call", "transfer": "to transfer"}.get(cause, "on the host")
        said = f"{name} takes {_longer(row['diff_ratio'])} {doing}"
    elif cause == "calls":
        said = f"{name}: {row['test_calls']:,.4g} calls a step instead of {row['base_calls']:,.4g}"
    elif cause == "shapes":
        said = f"{name} runs on {_cut(now or 'fewer shapes')} instead of {_cut(was or 'fewer')}"
    elif was and now:
        said = f"{name} launches {_cut(now)} instead of {_cut(was)}"
    elif now:
        said = f"{name} launches more often: {_cut(now)}"
    else:
        said = f"{name} launches less often: {_cut(was)}"
    inside = f", in {row['inside']}" if row["inside"] and row["inside"] != name else ""
    return f"{said}{inside}: {_signed(row['diff_per_step_ns'])} on the {_PLACES[row['time_of']]}"


_PLACES = {"gpu": "GPU", "host": "host"}


def _cut(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:99]}…"


def _longer(ratio: float) -> str:
    if ratio >= 1:
        return f"{ratio + 1:,.3g} times as long"
    return f"{_percent(abs(ratio), sign=False)} {'longer' if ratio > 0 else 'less'}"


def _signed(ns: int) -> str:
    return f"{'+' * (ns > 0)}{humane('t_ns', ns)}"


def _percent(ratio: float, sign: bool = True) -> str:
    digits = 1 if abs(ratio) >= 0.001 else 2
    return f"{100 * ratio:{'+' if sign else ''}.{digits}f} %"


def _located(
    given: str | Path, scratch: Path, report: Callable[[str], None]
) -> "tuple[Place, str]":
    """The archive and the job that are meant; traces are ingested into `scratch` first."""
    path, job = _archive_and_job(str(given))
    if not holds_archive(path):
        from hta_sql.ingestion.ingest import ingest

        report(f"ingesting {path}")
        summary = ingest([path], scratch, report=report)
        for outcome in summary.traces:
            if outcome.error:
                report(f"{outcome.path}: failed: {outcome.error}")
        if all(outcome.error for outcome in summary.traces):
            raise IngestError(f"{path}: no trace in it could be read")
        path = scratch
    jobs = sorted({row["job"] for row in Manifest(path).rows()})
    if job is None and len(jobs) == 1:
        return path, jobs[0]
    if job in jobs:
        return path, job
    some = ", ".join(jobs[:10]) + (", …" if len(jobs) > 10 else "")
    if job is None:
        raise ArchiveError(
            f"{given} has {len(jobs)} jobs: write {given}::JOB, where JOB is of {some or 'none'}"
        )
    raise ArchiveError(f"{given}: no job {job!r}; there is {some or 'none'}")


def _archive_and_job(text: str) -> "tuple[Place, str | None]":
    """What is before `::`, and the job behind it; a job may have :: in its name, too."""
    if is_url(text):
        before, _, job = text.partition("::")
        return place(before), job or None
    path, job = Path(text), None
    parts = text.split("::")
    for at in range(1, len(parts)):
        before = Path("::".join(parts[:at]))
        if not path.exists() and before.exists():
            path, job = before, "::".join(parts[at:])
    if not text or not path.exists():
        raise ArchiveError(f"{path}: no such archive, or folder or file of traces")
    return path, job


def _together(root: Path, *jobs: "tuple[Place, str, str]") -> "Iterable[Path | Source]":
    """Jobs of other archives, each under a name of its own, without a copy of their data."""
    on_disk = [(source, old, new) for source, old, new in jobs if not is_remote(source)]
    if on_disk:
        _link(root, *on_disk)
        yield root
    for source, old, new in jobs:
        if is_remote(source):
            yield Source(source, names={old: new})


def _link(root: Path, *jobs: tuple[Path, str, str]) -> None:
    """An archive of jobs of other archives on disk: links to their data."""
    root.mkdir()
    for source, old, new in jobs:
        for found in source.resolve().glob(f"*/{_escaped(folder_for(old))}"):
            target = root / found.parent.name / folder_for(new)
            target.parent.mkdir(exist_ok=True)
            target.symlink_to(found, target_is_directory=True)
    Manifest(root).change(
        lambda row: True,
        (
            row | {"job": new}
            for source, old, new in jobs
            for row in Manifest(source).rows()
            if row["job"] == old
        ),
    )


def _escaped(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


def _check(archive: Archive, base_job: str, test_job: str, lists: dict[str, list[int]]) -> None:
    """BadParameter for ranks or steps that a side has not: all of it would seem to be gone."""
    for side, job in (("base", base_job), ("test", test_job)):
        for what, table in (("rank", "traces"), ("step", "steps")):
            chosen = lists.get(f"{side}_{what}s")
            if chosen is None:
                continue
            there = archive.sql(
                f"SELECT DISTINCT {what} AS n FROM {table} WHERE job = $job ORDER BY n",
                {"job": job},
            )["n"].to_pylist()
            if missing := [str(n) for n in chosen if n not in there]:
                some = ", ".join(map(str, there[:20])) or "none"
                raise BadParameter(f"{job} has no {what} {', '.join(missing)}; it has {some}")
