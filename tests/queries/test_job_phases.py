"""Steps of inference by phase."""

import random
from statistics import median

import pytest
from queries.marks import DECODE, PREFILL, fill, mark
from seeds import seeds


@pytest.fixture(autouse=True)
def without_marks(gpu):
    """Other tests have no marks of steps."""
    yield
    gpu.con.execute("DROP VIEW temp.step_marks")


def activity(step: int, start: int, end: int, at: int = 0, rank: int = 0) -> dict:
    return {"rank": rank, "step": step, "start_ns": start, "end_ns": end, "event_id": 1000 + at}


def test_a_prefill_and_two_decodes(gpu):
    """
    host   [= prefill =)   [= decode =)   [= decode ==)
           0          10   20         28  30           42
    GPU        [== 2 requests, 100 tokens )
               4          18
                                [====)  [==)   [==)[===)
                                22   26 27 29  34  36  40
    """
    fill(
        gpu,
        [
            mark(0, PREFILL.format(2, 100, 100), 0, 10),
            mark(1, DECODE.format(2, 2, 102), 20, 28),
            mark(2, DECODE.format(2, 6, 108), 30, 42),
        ],
        [
            activity(0, 4, 18),
            activity(1, 22, 26, 1),
            activity(1, 27, 29, 2),
            activity(2, 34, 36, 3),
            activity(2, 36, 40, 4),
        ],
    )
    decode, prefill = gpu.run("job_phases")
    assert prefill | {"rank": 0} == {
        "job": "j",
        "rank": 0,
        "phase": "prefill",
        "step_count": 1,
        "step_p50_ns": 10,
        "gpu_span_p50_ns": 14,
        "batch_size_p50": 2,
        "min_batch_size": 2,
        "max_batch_size": 2,
        "token_count": 100,
        "tokens_per_s": 100 / 20 * 1e9,
        "context_tokens_mean": 50,
        "kernel_count_p50": 1,
        "busy_ns": 14,
        "idle_ns": 0,
        "busy_frac": 1,
        "idle_frac": 0,
        "latency_p50_ns": 18,
        "output_token_p50_ns": None,
        "decode_tokens_per_request": None,
    }
    assert decode["phase"] == "decode"
    # The last step lasts 12 on the host, longer than on the GPU.
    assert decode["tokens_per_s"] == pytest.approx((2 + 6) / (10 + 12) * 1e9)
    assert (decode["busy_ns"], decode["idle_ns"]) == (6 + 6, 1)
    assert decode["latency_p50_ns"] == round(median([9, 10]))
    # 1 and 3 tokens of each request: 10 / 1 and 12 / 3.
    assert decode["output_token_p50_ns"] == round(median([10, 4]))
    assert decode["decode_tokens_per_request"] == 2


def test_other_steps_have_no_phase(gpu):
    fill(gpu, [mark(0, "train", 0, 10)], [activity(0, 1, 3)])
    [row] = gpu.run("job_phases")
    assert (row["phase"], row["step_count"], row["token_count"], row["busy_ns"]) == (
        None,
        1,
        None,
        2,
    )


def test_the_next_step_is_that_of_the_rank(gpu):
    """A step that is not chosen still ends the pause before it."""
    name = DECODE.format(1, 1, 1)
    fill(gpu, [mark(0, name, 0, 5), mark(1, name, 10, 15)], [])
    [row] = gpu.run("job_phases", only_steps=[0])
    assert (row["step_count"], row["tokens_per_s"]) == (1, 1e8)
    assert row["busy_frac"] is None


def covered(spans: list[tuple[int, int]]) -> int:
    return len({at for start, end in spans for at in range(start, end)})


@pytest.mark.parametrize("seed", seeds(10))
def test_random_steps(gpu, seed):
    draw = random.Random(seed)
    marks, activities, at = [], [], 0
    for rank in range(draw.randint(1, 2)):
        begin = 0
        for step in range(draw.randint(0, 8)):
            begin += draw.randint(1, 20)
            size = draw.randint(1, 4)
            kind = draw.choice([DECODE, PREFILL])
            name = kind.format(size, size * draw.randint(1, 3), draw.randint(10, 90))
            marks.append(mark(step, name, begin, begin + draw.randint(0, 30), rank))
            for _ in range(draw.randint(0, 4)):
                start = begin + draw.randint(0, 30)
                at += 1
                activities.append(activity(step, start, start + draw.randint(0, 9), at, rank))
    fill(gpu, marks, activities)
    rows = {(row["rank"], row["phase"]): row for row in gpu.run("job_phases")}
    assert gpu.broken_promises("job_phases") == []
    wanted: dict[tuple, list[dict]] = {}
    for row in marks:
        phase = "prefill" if "generation_0(" in row["step_name"] else "decode"
        wanted.setdefault((row["rank"], phase), []).append(row)
    assert rows.keys() == wanted.keys()
    for key, steps in wanted.items():
        row = rows[key]
        of_steps = [
            [
                (a["start_ns"], a["end_ns"])
                for a in activities
                if (a["rank"], a["step"]) == (key[0], one["step"])
            ]
            for one in steps
        ]
        spans = [max(e for _, e in s) - min(b for b, _ in s) if s else 0 for s in of_steps]
        busy = [covered(s) for s in of_steps]
        assert row["step_count"] == len(steps)
        assert row["busy_ns"] == sum(busy)
        assert row["idle_ns"] == sum(spans) - sum(busy)
        assert row["step_p50_ns"] == pytest.approx(median(s["dur_ns"] for s in steps), abs=0.5)
        ends = [
            max(e for _, e in s) - one["start_ns"]
            for s, one in zip(of_steps, steps, strict=True)
            if s
        ]
        assert row["latency_p50_ns"] == (pytest.approx(median(ends), abs=0.5) if ends else None)
