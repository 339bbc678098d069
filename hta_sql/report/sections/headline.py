"""The job in a dozen figures, and the main findings in sentences."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql.report.parts import Facts, Part, Text
from hta_sql.report.sections.idle import idle_reasons
from hta_sql.report.shares import PARTS
from hta_sql.show.cut import cut
from hta_sql.show.units import humane

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "At a glance"
PLACE = 10

# The causes in idle_gaps and in lost_gpu_time, in words.
_IDLE = {
    "host_wait": "host_wait, the time until the next launch begins",
    "launching": "launching, the time in launch calls",
    "queued": "queued, the time from a launch to the start of its activity",
    "kernel_wait": "kernel_wait, short times between kernels, below 30 µs each",
    "unknown": "gaps before activities whose launch is not in the trace",
}
_LATE = {
    "computation": "longer computation",
    "copy": "longer copies",
    "host": "a late host",
    "waiting": "a wait for further ranks",
    "transfer": "longer transfers",
    "unexplained": "an unexplained delay",
}
# Smaller differences and shares of time get no sentence.
_SPREAD, _SHARE = 0.05, 0.01
# The next part of something is named from this share of it.
_NEXT = 0.1


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
    said = [
        _split(devices),
        _idle(subject, devices),
        _uneven(devices),
        *_waiting(subject),
        _longest(subject),
    ]
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
    yield "step time", humane("t_ns", total / len(steps)), f"{of}, duration on the host"
    yield (
        "longest step",
        humane("t_ns", longest["dur_ns"]),
        f"step {longest['step']} of rank {longest['rank']}",
    )
    if total:
        busy = sum(row["gpu_busy_ns"] or 0 for row in steps)
        yield "GPU busy", _percent(busy / total), "busy time of a step's activities / step time"


def _of_devices(devices: list[dict]) -> Iterator[tuple[str, str, str]]:
    span = sum(row["span_ns"] for row in devices)
    for name, column in PARTS if span else ():
        yield (
            name,
            _percent(sum(row[column] for row in devices) / span),
            "of the time from first to last activity",
        )
    communication = sum(row["communication_ns"] for row in devices)
    if communication:
        exposed = sum(row["exposed_communication_ns"] for row in devices)
        hidden = "of communication time is hidden by computation"
        yield "overlap", _percent(1 - exposed / communication), hidden


def _split(devices: list[dict]) -> str | None:
    """The largest part of the GPU time, and the next."""
    if not devices:
        return "The traces have no GPU activity."
    span = sum(row["span_ns"] for row in devices)
    times = Counter({name: sum(row[column] for row in devices) for name, column in PARTS})
    (name, ns), (next_name, next_ns), *_ = times.most_common()
    if not span:
        return None
    together = " on all GPUs together" if len(devices) > 1 else ""
    return (
        f"The largest part of the GPU time is {name}: {humane('t_ns', ns)}{together}, "
        f"{_percent(ns / span)} of the time from first to last activity. The next is {next_name}: "
        f"{humane('t_ns', next_ns)}, {_percent(next_ns / span)}."
    )


def _idle(subject: Subject, devices: list[dict]) -> str | None:
    """The idle time of all devices, its largest part, and what the host did then."""
    idle_ns = sum(row["idle_ns"] for row in devices)
    if idle_ns <= _SHARE * sum(row["span_ns"] for row in devices):
        return None
    causes: Counter[str] = Counter()
    names: dict[str, Counter[str | None]] = defaultdict(Counter)
    for row in idle_reasons(subject).rows:
        causes[row["cause"]] += row["idle_ns"]
        names[row["cause"]][row["host_name"]] += row["idle_ns"]
    (cause, ns), *others = causes.most_common()
    [(name, name_ns)] = names[cause].most_common(1)
    together = " of all GPUs" if len(devices) > 1 else ""
    said = (
        f"Of the {humane('t_ns', idle_ns)} of idle time{together}, the largest part is "
        f"{_IDLE[cause]}: {humane('t_ns', ns)}."
    )
    if name:
        said += f" The host is in {name} for {humane('t_ns', name_ns)} of it."
    if others and others[0][1] >= _NEXT * idle_ns:
        next_cause, next_ns = others[0]
        said += f" The next is {_IDLE[next_cause]}: {humane('t_ns', next_ns)}."
    return said


def _uneven(devices: list[dict]) -> str | None:
    """The devices that compute the most and the least, if they differ enough."""
    known = [row for row in devices if row["compute_frac"] is not None]
    if len(known) < 2:
        return None
    most, least = (pick(known, key=lambda row: row["compute_frac"]) for pick in (max, min))
    if most["compute_frac"] - least["compute_frac"] < _SPREAD:
        return None
    several = len({row["rank"] for row in known}) < len(known)
    one, other = (f"{row['rank']}" + f" GPU {row['device']}" * several for row in (most, least))
    return (
        f"Rank {one} computes the most: {_percent(most['compute_frac'])} of the time from its "
        f"first to its last activity. Rank {other} computes the least: "
        f"{_percent(least['compute_frac'])}."
    )


def _waiting(subject: Subject) -> Iterator[str]:
    late = [row for row in subject.ask("stragglers").rows if row["is_straggler"]]
    for row in late[:3]:
        yield (
            f"Rank {row['rank']} is a straggler: it comes last in {_percent(row['last_frac'])} of "
            "its collectives. The other ranks wait "
            f"{humane('t_ns', row['caused_wait_ns'])} for it in total."
        )
    lost = subject.ask("lost_gpu_time").rows
    if lost and (lost[0]["lost_gpu_frac"] or 0) >= _SHARE:
        row = lost[0]
        names = [row["op_name"], row["kernel_name"]]
        what = row["host_name"] if row["cause"] == "host" else next(filter(None, names), None)
        yield (
            f"The main cause of GPU time lost waiting for late ranks is {_LATE[row['cause']]} on "
            f"rank {row['rank']}{f' ({what})' if what else ''}: "
            f"{humane('t_ns', row['lost_gpu_ns'])} in total on all GPUs, "
            f"{_percent(row['lost_gpu_frac'])} of the time from first to last activity."
        )


def _longest(subject: Subject) -> str | None:
    rows = subject.ask("kernel_distribution", short_names=True).rows
    total = sum(row["total_ns"] for row in rows)
    if not total:
        return None
    top = max(rows, key=lambda row: row["total_ns"])
    name = top["name"] or "-"
    return (
        f"{cut(name, 80)} takes the most time of all kernels, copies and memsets: "
        f"{_percent(top['total_ns'] / total)} of the sum of their durations."
    )


def _warnings(job: dict, ranks: list[int], devices: list[dict]) -> Iterator[str]:
    if job["lost"] or job["damaged"]:
        yield (
            f"{job['lost']:,} elements of the traces could not be used. Files that are damaged or "
            f"cut short: {job['damaged']} of {job['ranks']}. The section Traces has details."
        )
    if (job["world"] or 0) > job["ranks"]:
        yield (
            f"The job has {job['world']:,} ranks, but the archive has traces of only "
            f"{job['ranks']:,}."
        )
    without = [rank for rank in ranks if rank not in {row["rank"] for row in devices}]
    if devices and without:
        some = ", ".join(map(str, without[:10])) + (", …" if len(without) > 10 else "")
        yield f"Ranks whose traces have no GPU activity: {some}. Charts of devices leave them out."


def _percent(share: float | None) -> str:
    return humane("_frac", share)
