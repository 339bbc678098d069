"""Drawn jobs of ranks that others wait for."""

from __future__ import annotations

from findings.drawn_job import DrawnJob

GROUPED = "grouped_gemm"


def kernels_then_meet(job: str, *works: dict[str, int], late: int = 0) -> DrawnJob:
    """Each rank runs its kernels one after the other, `late` on the last; then all reduce."""
    drawn = DrawnJob(job, len(works))
    ends = {}
    for rank, kernels in enumerate(works):
        at = late if rank == len(works) - 1 else 0
        drawn.compute(rank, 0, 10, "first")
        at += 10
        for name, dur in kernels.items():
            drawn.compute(rank, at, at + dur, name)
            at += dur
        ends[rank] = at
    drawn.meet(ends, max(ends.values()) + 10)
    return drawn


def rotating_experts() -> DrawnJob:
    """
    rank 0    [= 100 ===)[ww=)[======= 300 =========)[=)     w: waits for the other rank
    rank 1    [== 300 =======)[=)[= 100 ===)[wwwwwwww=)
    """
    drawn = DrawnJob("rotating", 2)
    drawn.compute(0, 0, 100, GROUPED)
    drawn.compute(1, 0, 300, GROUPED)
    drawn.meet({0: 100, 1: 300}, 310, "all_to_all")
    drawn.compute(0, 310, 610, GROUPED)
    drawn.compute(1, 310, 410, GROUPED)
    drawn.meet({0: 610, 1: 410}, 620, "all_to_all")
    return drawn


def pipeline(job: str, sends: tuple[int, int], delay: int) -> DrawnJob:
    """Two stages and two micro-batches. `sends` are the starts of the first stage's sends; with
    an earlier first send, all else comes `delay` earlier.

    stage 0  [f1)[f2)[s)[s)[ recv       )[b1  )[b2  )[=)       f and b take 100, messages 10
    stage 1  [ recv      )[f1)[f2)[b1  )[s)[b2  )[s)[www=)
    """
    drawn = DrawnJob(job, 2)
    drawn.begin_step(0, 0, 750 - delay)
    first, second = sends
    for part in (0, 1):
        drawn.compute(0, 100 * part, 100 * part + 100, "forward")
    drawn.send(0, 1, (first, 0), first + 10)
    drawn.send(0, 1, (second, first + 10), second + 10)
    at = first + 10
    for part, name in enumerate(("forward", "forward", "backward", "backward")):
        drawn.compute(1, at + 100 * part, at + 100 * part + 100, name)
    drawn.send(1, 0, (at + 300, second + 10), at + 310)
    drawn.send(1, 0, (at + 400, at + 310), at + 410)
    for part in (0, 1):
        drawn.compute(0, at + 310 + 100 * part, at + 410 + 100 * part, "backward")
    drawn.meet({0: at + 510, 1: at + 410}, at + 530)
    return drawn


def late_jobs() -> list[DrawnJob]:
    even = {"a": 100, "b": 200, "c": 290}
    slow = {name: dur * 3 // 2 for name, dur in even.items()}
    heavy = even | {"a": 400}
    more = kernels_then_meet("more_calls", even, even, even | {"a": 400})
    [long] = [row for row in more.activities if row["name"] == "a" and row["rank"] == 2]
    more.compute(2, long["start_ns"] + 200, long["end_ns"], "a")
    long["end_ns"] = long["start_ns"] + 200
    one_rank = DrawnJob("one_rank", 1)
    one_rank.compute(0, 0, 400, GROUPED)
    one_rank.meet({0: 400}, 500)
    unknown = kernels_then_meet("unknown", even, even, slow)
    for row in unknown.activities:
        row["collective_name"] = None
    return [
        kernels_then_meet("even", even, even, even),
        kernels_then_meet("slow", even, even, slow),
        kernels_then_meet("heavy", even, even, heavy),
        kernels_then_meet("both", even, even, slow | {"a": 600}),
        kernels_then_meet("two_slow", even, even, even, slow, slow),
        kernels_then_meet("late_start", even, even, even, late=300),
        kernels_then_meet("experts", {GROUPED: 100}, {GROUPED: 100}, {GROUPED: 400}),
        rotating_experts(),
        pipeline("late_send", (200, 210), 0),
        pipeline("prompt_send", (100, 200), 100),
        more,
        unknown,
        one_rank,
    ]
