"""Slow and obviously right counterpart of job_summary in Python, but for worst_rank.

Times of activities are of so many ns a tick that those of the brute counterparts, which count
instants, are in ticks.
"""

from datetime import UTC, datetime
from fractions import Fraction

from queries import brute_collectives, brute_force, brute_idle_parts

NS = 10_000  # a tick: a rank that comes one later is late, and a gap of three is no kernel_wait
SINCE_1970 = 10**18


def lost_ticks(activities) -> int:
    """What members of collectives with a late rank waited with nothing computed meanwhile."""
    waits = brute_collectives.members(activities)
    dur = {(a["job"], a["rank"], a["event_id"]): a["end_ns"] - a["start_ns"] for a in activities}
    waiting = [
        a
        for a in activities
        if a.get("collective_name") in ("allreduce", "_allgather_base", "barrier")
    ]
    lost = 0
    for a in waiting:
        if key_of(a) not in waits:  # nobody else's
            continue
        together, _, exposed = waits[key_of(a)]
        longest_first = sorted((dur[a["job"], *other] for other in together), reverse=True)
        middle = longest_first[(len(longest_first) - 1) // 2]
        if middle > longest_first[-1]:
            lost += exposed
    return lost


def key_of(a) -> tuple:
    return a["job"], a["rank"], a["event_id"]


def outside_ticks(activities, steps) -> int:
    """Instants from a rank's first step to its last that are before or after a device works."""
    count = 0
    for (_, rank, _), on_device in brute_force.grouped(activities, "job", "rank", "device"):
        first = min(a["start_ns"] for a in on_device)
        last = max(a["end_ns"] for a in on_device)
        mine = [step for step in steps if step["rank"] == rank]
        begins = [step["start_ns"] for step in mine] + [first]
        ends = [step["start_ns"] + step["dur_ns"] for step in mine] + [last]
        count += sum(not first <= at < last for at in range(min(begins), max(ends)))
    return count


def job_summary(activities, ops, traces):
    for (job,), of_job in brute_force.grouped(traces, "job"):
        mine = [a for a in activities if a["job"] == job]
        my_ops = [op for op in ops if op["job"] == job]
        devices = list(brute_force.temporal_breakdown(mine, my_ops))
        overlaps = list(brute_force.comm_comp_overlap(mine, my_ops))
        steps = list(brute_force.profiler_steps(mine, my_ops))
        durs = [step["dur_ns"] for step in steps]
        causes = dict.fromkeys(("host_wait", "launching", "queued", "kernel_wait", "unknown"), 0)
        firsts = brute_idle_parts.firsts_of(mine)
        for _, group in brute_force.grouped(mine, "job", "rank", "device"):
            for *_, parts in brute_idle_parts.cut(group, 3, firsts):
                for cause, (_, length) in parts.items():
                    causes[cause] += length
        kernels: dict[str, int] = {}
        for a in mine:
            if a["kind"] != "memory":
                kernels[a["short_name"]] = (
                    kernels.get(a["short_name"], 0) + a["end_ns"] - a["start_ns"]
                )
        top = min(kernels, key=lambda name: (-kernels[name], name), default=None)

        def ns(column, rows=devices):
            return NS * sum(row[column] for row in rows)

        span, lost = ns("span_ns"), NS * lost_ticks(mine)
        outside = NS * outside_ticks(mine, steps)
        starts = [t["start_ns"] for t in of_job if (t["start_ns"] or 0) >= SINCE_1970]
        names = {t["device_name"] for t in of_job} - {None}
        yield {
            "job": job,
            "started_at": datetime.fromtimestamp(min(starts) // 1000 / 1e6, UTC).replace(
                tzinfo=None
            )
            if starts
            else None,
            "rank_count": len(of_job),
            "world_size": max((t["world_size"] for t in of_job if t["world_size"]), default=None),
            "host_count": len({t["host"] for t in of_job} - {None}),
            "device_name": ", ".join(sorted(names)) or None,
            "step_count": len({step["step"] for step in steps}),
            "step_mean_ns": brute_force.rounded(NS * Fraction(sum(durs), len(durs)))
            if durs
            else None,
            "step_p50_ns": brute_force.rounded(NS * brute_force.percentile(durs, 50))
            if durs
            else None,
            "gpu_span_ns": span,
            "outside_ns": outside,
            "utilisation_frac": brute_force.fraction(ns("busy_ns"), span + outside),
            "busy_ns": ns("busy_ns"),
            "compute_ns": ns("compute_ns"),
            "communication_ns": ns("communication_ns"),
            "overlap_ns": ns("overlap_ns", overlaps),
            "exposed_communication_ns": ns("exposed_communication_ns"),
            "exposed_memory_ns": ns("exposed_memory_ns"),
            "idle_ns": ns("idle_ns"),
            "host_wait_ns": NS * causes["host_wait"],
            "launching_ns": NS * causes["launching"],
            "queued_ns": NS * causes["queued"],
            "kernel_wait_ns": NS * causes["kernel_wait"],
            "unknown_wait_ns": NS * causes["unknown"],
            "lost_gpu_ns": lost,
            "busy_frac": brute_force.fraction(ns("busy_ns"), span),
            "compute_frac": brute_force.fraction(ns("compute_ns"), span),
            "overlap_frac": brute_force.fraction(
                ns("overlap_ns", overlaps), ns("communication_ns")
            ),
            "exposed_communication_frac": brute_force.fraction(
                ns("exposed_communication_ns"), span
            ),
            "idle_frac": brute_force.fraction(ns("idle_ns"), span),
            "lost_gpu_frac": brute_force.fraction(lost, span),
            "top_kernel": top,
            "top_kernel_ns": NS * kernels[top] if top else None,
            "top_kernel_frac": brute_force.fraction(kernels[top], sum(kernels.values()))
            if top
            else None,
        }
