"""The job in a dozen figures, and what stands out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql.report.parts import Facts, Part, Text
from hta_sql.report.sections.idle import idle_gaps_by_cause
from hta_sql.show.units import humane

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "At a glance"
PLACE = 10

_PARTS = (
    ("computing", "compute_ns"),
    ("exposed communication", "exposed_communication_ns"),
    ("exposed copies", "exposed_memory_ns"),
    ("idle", "idle_ns"),
)


# In words, what rows of idle_gaps and lost_gpu_time call their causes.
_IDLE = {
    "host_wait": "the host had launched nothing",
    "kernel_wait": "kernels followed one another",
    "other": "what was launched had not begun",
}
_LATE = {
    "computation": "longer computation",
    "copy": "longer copies",
    "host": "the host being late",
    "waiting": "waiting for yet others",
    "transfer": "longer transfers",
    "unexplained": "something that the traces do not tell",
}
# What is less is not worth a sentence.
_SPREAD, _SHARE = 0.05, 0.01


def parts(subject: Subject) -> Iterator[Part]:
    [job] = subject.sql(
        "SELECT count(*) AS ranks, max(world_size) AS world, count(DISTINCT host) AS hosts, "
        "string_agg(DISTINCT device_name, ', ' ORDER BY device_name) AS gpu, "
        "coalesce(sum(event_count), 0)::BIGINT AS events, "
        "coalesce(sum(quarantined_count), 0)::BIGINT AS lost, "
        "count(*) FILTER (status <> 'complete') AS damaged "
        "FROM traces WHERE job = {job}"
    ).rows
    steps = subject.ask("profiler_steps").rows
    devices = subject.ask("temporal_breakdown").rows
    yield Facts([*_of_job(job), *_of_steps(steps), *_of_devices(devices)])
    said = [_idle(subject, devices), _uneven(devices), *_waiting(subject), _longest(subject)]
    if lines := [line for line in said if line]:
        yield Text(lines)
    if warnings := list(_warnings(job, subject.ranks, devices)):
        yield Text(warnings, is_warning=True)


def _of_job(job: dict) -> Iterator[tuple[str, str, str]]:
    hosts = f"on {job['hosts']} hosts" if job["hosts"] > 1 else ""
    of = f"of {job['world']:,} " if (job["world"] or 0) > job["ranks"] else ""
    yield "ranks", f"{job['ranks']:,}", f"{of}{hosts}".strip()
    if job["gpu"]:
        yield "GPU", job["gpu"], ""
    yield "events", f"{job['events']:,}", ""


def _of_steps(steps: list[dict]) -> Iterator[tuple[str, str, str]]:
    if not steps:
        return
    count, ranks = (len({row[key] for row in steps}) for key in ("step", "rank"))
    of = f"mean of {count:,} step{'s' * (count > 1)} on {ranks:,} rank{'s' * (ranks > 1)}"
    total = sum(row["dur_ns"] for row in steps)
    longest = max(steps, key=lambda row: (row["dur_ns"], -row["rank"], -row["step"]))
    yield "step", humane("t_ns", total / len(steps)), f"{of}, on the host"
    yield (
        "longest step",
        humane("t_ns", longest["dur_ns"]),
        f"step {longest['step']} of rank {longest['rank']}",
    )
    if total:
        busy = sum(row["gpu_busy_ns"] or 0 for row in steps)
        yield "GPU busy", _percent(busy / total), "time with GPU work of a step / the step's"


def _of_devices(devices: list[dict]) -> Iterator[tuple[str, str, str]]:
    span = sum(row["span_ns"] for row in devices)
    for name, column in _PARTS if span else ():
        yield (
            name,
            _percent(sum(row[column] for row in devices) / span),
            "from first to last activity",
        )
    communication = sum(row["communication_ns"] for row in devices)
    if communication:
        exposed = sum(row["exposed_communication_ns"] for row in devices)
        yield "overlap", _percent(1 - exposed / communication), "of communication is hidden"


def _idle(subject: Subject, devices: list[dict]) -> str | None:
    """What the devices stood idle for most."""
    if not devices:
        return "No GPU activities are in the traces."
    gaps = idle_gaps_by_cause(subject).rows
    idle: Counter[str] = Counter()
    for row in gaps:
        idle[row["cause"]] += row["idle_ns"]
    span = sum(row["span_ns"] for row in devices)
    [(cause, idle_ns)] = idle.most_common(1) or [("", 0)]
    if idle_ns <= _SHARE * span:
        return None
    name = next(row["host_name"] for row in gaps if row["cause"] == cause)  # that of most time
    meanwhile = f", mostly in {name}" if name and cause == "host_wait" else ""
    together = " of all GPUs together" if len(devices) > 1 else ""
    return (
        f"The GPUs stood idle most while {_IDLE[cause]}{meanwhile}: "
        f"{humane('t_ns', idle_ns)}{together}, {_percent(idle_ns / span)} of their time."
    )


def _uneven(devices: list[dict]) -> str | None:
    """Who computes most and least, where that is worth a word."""
    told = [row for row in devices if row["compute_frac"] is not None]
    if len(told) < 2:
        return None
    most, least = (pick(told, key=lambda row: row["compute_frac"]) for pick in (max, min))
    if most["compute_frac"] - least["compute_frac"] < _SPREAD:
        return None
    several = len({row["rank"] for row in told}) < len(told)
    one, other = (f"{row['rank']}" + f" GPU {row['device']}" * several for row in (most, least))
    return (
        f"Rank {one} computes most, {_percent(most['compute_frac'])} of its span; rank {other} "
        f"least, {_percent(least['compute_frac'])}."
    )


def _waiting(subject: Subject) -> Iterator[str]:
    late = [row for row in subject.ask("stragglers").rows if row["is_straggler"]]
    for row in late[:3]:
        yield (
            f"Rank {row['rank']} seems to be a straggler: last in {_percent(row['last_frac'])} "
            f"of its collectives; the others waited {humane('t_ns', row['caused_wait_ns'])} for "
            "it, all of them together."
        )
    lost = subject.ask("lost_gpu_time").rows
    if lost and (lost[0]["lost_gpu_frac"] or 0) >= _SHARE:
        row = lost[0]
        names = [row["op_name"], row["kernel_name"]]
        what = row["host_name"] if row["cause"] == "host" else next(filter(None, names), None)
        yield (
            f"Of the time lost by waiting for other ranks, most began with {_LATE[row['cause']]}"
            f" on rank {row['rank']}{f' ({what})' if what else ''}: "
            f"{humane('t_ns', row['lost_gpu_ns'])} of all GPUs together, "
            f"{_percent(row['lost_gpu_frac'])} of their time."
        )


def _longest(subject: Subject) -> str | None:
    rows = subject.ask("kernel_distribution", short_names=True).rows
    total = sum(row["total_ns"] for row in rows)
    if not total:
        return None
    top = max(rows, key=lambda row: row["total_ns"])
    name = top["name"] or "-"
    told = name if len(name) < 80 else f"{name[:79]}…"
    return (
        f"{told} runs longest of all kernels and copies: {_percent(top['total_ns'] / total)} "
        "of their summed time."
    )


def _warnings(job: dict, ranks: list[int], devices: list[dict]) -> Iterator[str]:
    if job["lost"] or job["damaged"]:
        yield (
            f"{job['lost']:,} elements of the traces could not be used, and {job['damaged']} of "
            f"{job['ranks']} files are damaged or cut off: see Traces."
        )
    if (job["world"] or 0) > job["ranks"]:
        yield f"The job has {job['world']:,} ranks; the archive has traces of {job['ranks']:,}."
    without = [rank for rank in ranks if rank not in {row["rank"] for row in devices}]
    if devices and without:
        some = ", ".join(map(str, without[:10])) + (", …" if len(without) > 10 else "")
        yield f"No GPU activity is in the traces of: rank {some}. No chart of devices has them."


def _percent(share: float | None) -> str:
    return humane("_frac", share)
