"""Short bars are summed up without loss, against plain Python."""

import random

import numpy as np
import pytest
from hand_written import ingested, span, trace_text

from hta_sql.report.step.bars import SLICES, Bars, busiest, packed, shortest_of
from hta_sql.report.step.windows import chosen_steps, typical_step, windows_of

SPAN = 1_000_000


def random_bars(seed: int, count: int = 300) -> Bars:
    """Bars one after the other, the first of which begins before the window."""
    chance = random.Random(seed)
    at, rows = -500, []
    for number in range(count):
        size = chance.choice([0, 3, 40, 900, 5000])
        rows.append((at, at + size, chance.randrange(3), number, -1, number * 7))
        at += size + chance.choice([0, 1, 700, 3000])
    return Bars(*np.array(rows).T)


@pytest.mark.parametrize("seed", range(3))
def test_no_time_is_lost_or_added(seed):
    bars = random_bars(seed)
    shortest = shortest_of([bars], 100)
    row = packed(bars, SPAN, shortest)
    assert 0 < len(row["start"]) <= 100 and len(row["slices"]) > 100
    kept = list(zip(np.cumsum(row["start"]), row["size"], row["category"], strict=True))
    every = list(zip(bars.start, bars.size, bars.category, strict=True))
    assert kept == [bar for bar in every if bar[1] >= shortest]
    width = SPAN / SLICES
    for place, category, thousandths, begun in row["slices"]:
        low, high = place * width, (place + 1) * width
        mine = [
            (start, start + size) for start, size, of in every if of == category and size < shortest
        ]
        busy = sum(max(0, min(high, end) - max(low, start)) for start, end in mine)
        assert thousandths == pytest.approx(1000 * busy / width, abs=1)
        assert begun == sum(low <= start < high for start, _ in mine)


def test_few_bars_are_all_drawn_as_they_are():
    bars = random_bars(9, count=20)
    row = packed(bars, SPAN, shortest_of([bars], 20))
    assert len(row["start"]) == 20 and "slices" not in row


def test_computation_hides_what_runs_at_the_same_time():
    #   0    10   20   30   40
    #   [1        )         [1 )
    #        [0   )[0  )
    #             [2        )
    start, end = np.array([0, 10, 20, 18, 40]), np.array([20, 20, 30, 40, 50])
    shown = busiest(start, end, np.array([1, 0, 0, 2, 1]))
    assert [list(map(int, column)) for column in shown] == [
        [0, 10, 30, 40],
        [10, 30, 40, 50],
        [1, 0, 2, 1],
    ]


def test_idle_time_is_left_out():
    start, end, level = busiest(np.array([5, 9]), np.array([7, 12]), np.array([0, 0]))
    assert (list(start), list(end), list(level)) == ([5, 9], [7, 12], [0, 0])


def test_steps_to_show():
    rows = [
        {"rank": rank, "step": step, "dur_ns": ns, "kernel_count": 1}
        for step, times in {3: (50, 60), 4: (10, 12), 5: (20, 90), 6: (30, 30)}.items()
        for rank, ns in enumerate(times)
    ]
    # The means are 55, 11, 55 and 30; 90 is the longest on any rank.
    assert typical_step(rows) == 6
    assert chosen_steps(rows) == {6: ["typical"], 3: ["first"], 5: ["slowest"]}
    assert chosen_steps(rows, [4, 3]) == {4: [], 3: ["first"], 6: ["typical"], 5: ["slowest"]}
    assert typical_step([]) is None


def test_a_step_without_gpu_activity_is_not_typical():
    """Of a recording that ends in step 2; without any GPU activity, the shorter one is."""
    rows = [
        {"rank": 0, "step": 1, "dur_ns": 900, "kernel_count": 16},
        {"rank": 0, "step": 2, "dur_ns": 5, "kernel_count": 0},
    ]
    assert typical_step(rows) == 1
    assert typical_step([row | {"kernel_count": 0} for row in rows]) == 2


def test_a_window_lasts_until_host_and_gpu_have_ended_the_step(tmp_path):
    #   us       0    80 85  90   100     130
    #   host     [ ProfilerStep#1 )
    #                 [launch)
    #   stream               [= gemm     )
    events = [
        span("ProfilerStep#1", 0, 100, "user_annotation"),
        span("cudaLaunchKernel", 80, 5, "cuda_runtime", correlation=1),
        span("gemm", 90, 40, "kernel", pid=0, tid=7, device=0, stream=7, correlation=1),
    ]
    run = ingested(tmp_path, {"rank_0.json": trace_text(events)})
    [job] = run.sql("SELECT DISTINCT job FROM traces")["job"].to_pylist()
    [window] = windows_of(run, job, [0], {1: ["typical"]}, 3)
    assert window.until_ns - window.from_ns == 130_000
    assert (window.label, window.path_window) == ("step 1 (typical)", "step 1")
    # For a picture of one event, of the three that the window has.
    [part] = windows_of(run, job, [0], {1: ["typical"]}, 1)
    assert (part.from_ns, part.label) == (window.from_ns, "step 1 (typical), first part")
    assert part.until_ns - part.from_ns == 130_000 // 3
    [whole] = windows_of(run, job, [0], {}, 3)
    assert whole[2:5] == ("whole trace", window.from_ns, window.until_ns)
