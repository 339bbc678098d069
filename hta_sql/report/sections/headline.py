"""The job in a dozen figures, and what stands out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql.output import humane
from hta_sql.report.parts import Facts, Part, Text

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


def parts(subject: Subject) -> Iterator[Part]:
    [job] = subject.sql(
        "SELECT count(*) AS ranks, count(DISTINCT host) AS hosts, "
        "string_agg(DISTINCT device_name, ', ' ORDER BY device_name) AS gpu, "
        "coalesce(sum(event_count), 0)::BIGINT AS events, "
        "coalesce(sum(quarantined_count), 0)::BIGINT AS lost, "
        "count(*) FILTER (status <> 'complete') AS damaged "
        "FROM traces WHERE job = {job}"
    ).rows
    steps = subject.ask("profiler_steps").rows
    devices = subject.ask("temporal_breakdown").rows
    yield Facts([*_of_job(job), *_of_steps(steps), *_of_devices(devices)])
    if lines := [*_devices_said(devices), *_waiting(subject), *_kernels(subject)]:
        yield Text(lines)
    if job["lost"] or job["damaged"]:
        yield Text([f"{job['lost']:,} elements of the traces could not be used, and "
                    f"{job['damaged']} of {job['ranks']} files are damaged or cut off: see "
                    "Traces."], is_warning=True)  # fmt: skip


def _of_job(job: dict) -> Iterator[tuple[str, str, str]]:
    hosts = f"on {job['hosts']} hosts" if job["hosts"] > 1 else ""
    yield "ranks", f"{job['ranks']:,}", hosts
    if job["gpu"]:
        yield "GPU", job["gpu"], ""
    yield "events", f"{job['events']:,}", ""


def _of_steps(steps: list[dict]) -> Iterator[tuple[str, str, str]]:
    if steps:
        count = len({row["step"] for row in steps})
        mean = sum(row["dur_ns"] for row in steps) / len(steps)
        longest = max(steps, key=lambda row: (row["dur_ns"], -row["rank"], -row["step"]))
        yield "step", humane("t_ns", mean), f"mean of {count:,} on the host"
        yield ("longest step", humane("t_ns", longest["dur_ns"]),
               f"step {longest['step']} of rank {longest['rank']}")  # fmt: skip


def _of_devices(devices: list[dict]) -> Iterator[tuple[str, str, str]]:
    span = sum(row["span_ns"] for row in devices)
    for name, column in _PARTS if span else ():
        yield name, f"{100 * sum(row[column] for row in devices) / span:.1f} %", "of GPU time"
    communication = sum(row["communication_ns"] for row in devices)
    if communication:
        exposed = sum(row["exposed_communication_ns"] for row in devices)
        yield ("overlap", f"{100 * (1 - exposed / communication):.1f} %",
               "of communication is hidden")  # fmt: skip


def _devices_said(devices: list[dict]) -> Iterator[str]:
    if not devices:
        yield "No GPU activities are in the traces."
        return
    if len(devices) > 1:
        busiest = max(devices, key=lambda row: row["compute_frac"] or 0)
        idlest = max(devices, key=lambda row: row["idle_frac"] or 0)
        yield (f"Rank {busiest['rank']} computes most, {_percent(busiest['compute_frac'])} of its "
               f"span; rank {idlest['rank']} is idle most, {_percent(idlest['idle_frac'])}.")


def _waiting(subject: Subject) -> Iterator[str]:
    late = [row for row in subject.ask("stragglers").rows if row["is_straggler"]]
    for row in late[:3]:
        yield (f"Rank {row['rank']} is a straggler: last in {_percent(row['last_frac'])} of its "
               f"collectives, the others waited {humane('t_ns', row['caused_wait_ns'])} for it.")
    lost = subject.ask("lost_gpu_time").rows
    if lost and lost[0]["lost_gpu_ns"]:
        row = lost[0]
        names = [row["op_name"], row["kernel_name"], row["host_name"]]
        what = next(filter(None, names), None)
        yield (f"Most GPU time is lost by {row['cause']} on rank {row['rank']}"
               f"{f' ({what})' if what else ''}: {humane('t_ns', row['lost_gpu_ns'])} of waiting "
               "on other ranks.")


def _kernels(subject: Subject) -> Iterator[str]:
    rows = subject.ask("kernel_distribution", short_names=True).rows
    total = sum(row["total_ns"] for row in rows)
    if total:
        top = max(rows, key=lambda row: row["total_ns"])
        yield (f"{top['name']} takes most of the kernels' time: "
               f"{humane('t_ns', top['total_ns'])}, {_percent(top['total_ns'] / total)}.")


def _percent(share: float | None) -> str:
    return humane("_frac", share)
