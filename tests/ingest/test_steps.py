"""Which annotations or launches are the steps of a trace."""

import random

import pytest
from click.testing import CliRunner
from hand_written import ingested, rows, span, trace_text
from seeds import seeds

import hta_sql
from hta_sql.cli.program import cli


def note(name: str, ts: int, dur: int, tid: int = 1, cat: str = "user_annotation") -> dict:
    return span(name, ts, dur, cat, tid=tid)


def steps_of(folder, events, **options) -> list[tuple]:
    """(step, name, start, duration) in microseconds, and what marks them."""
    with ingested(folder, trace_text(events), **options) as run:
        return rows(
            run,
            "SELECT step, step_name, start_ns // 1000, dur_ns // 1000, marked_by FROM steps "
            "ORDER BY start_ns, dur_ns DESC, event_id",
        )


VLLM = "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)"
NAMES = [
    (VLLM, "vLLM", 0),
    ("execute_new_3_cached_12", "vLLM", 0),
    ("execute_context_1(888)_generation_0(0)", "vLLM", 0),
    ("execute_context_1(888_788544)_generation_0(0)", "vLLM", 0),
    ("step[DECODE bs=32]", "SGLang", 0),
    ("step[EXTEND bs=15 toks=15360]", "SGLang", 0),
    ("execute_diffusion_1_256x256", "xDiT", 0),
    ("decode[bs=117/128 tok=117 d=117]", "ATOM", 0),
    ("[Executor] _forward_step 12: 0 ctx reqs, 8 gen reqs", "TensorRT-LLM", 12),
    ("[pl][profile]run_training_batch", "Lightning", 0),
    ("[pl][profile][Strategy]DDPStrategy.validation_step", "Lightning", 0),
    ("MyUnit.train_step", "TorchTNT", 0),
]


@pytest.mark.parametrize(("name", "framework", "step"), NAMES, ids=[name for name, *_ in NAMES])
def test_annotations_of_frameworks(tmp_path, name, framework, step):
    found = steps_of(tmp_path, [note(name, 10, 5), note("forward", 11, 2)])
    assert found == [(step, name, 10, 5, framework)]


OTHERS = [
    "execute_model",
    "step",
    "steps[DECODE bs=1]",
    "prefill",
    "Strategy.training_step",
    "[pl][profile]run_training_epoch",
    "Optimizer.step#Adam.step",
]


@pytest.mark.parametrize("name", OTHERS)
def test_other_annotations_are_no_steps(tmp_path, name):
    assert steps_of(tmp_path, [note(name, 10, 5)]) == []


def test_profiler_steps_come_first(tmp_path):
    #   [== ProfilerStep#3 ==========)
    #     [ execute_diffusion )
    events = [note("ProfilerStep#3", 0, 30), note("execute_diffusion_1_256x256", 2, 10)]
    assert steps_of(tmp_path, events) == [(3, "ProfilerStep#3", 0, 30, "PyTorch")]


def test_one_inside_another_is_a_part_of_it(tmp_path):
    #   0    5    10   15   20   25
    #   [== DECODE bs=2 ==)
    #     [ bs=1 )                      inside it, on any thread
    #                  [== DECODE bs=4 )     crosses the first
    #   [== DECODE bs=2 ==)             again, at the same time
    events = [
        note("step[DECODE bs=1]", 2, 5, tid=2),
        note("step[DECODE bs=2]", 0, 18),
        note("step[DECODE bs=2]", 0, 18, tid=3),
        note("step[DECODE bs=4]", 15, 10),
        span("aten::mm", 1, 1),
        span("aten::add", 16, 1),
        span("aten::sub", 24, 4),
        span("aten::abs", 26, 1),
    ]
    with ingested(tmp_path, trace_text(events)) as run:
        assert rows(run, "SELECT step, step_name, dur_ns FROM steps ORDER BY ALL") == [
            (0, "step[DECODE bs=2]", 18_000),
            (1, "step[DECODE bs=4]", 10_000),
        ]
        ops = rows(run, "SELECT name, step FROM host_ops WHERE cat = 'cpu_op' ORDER BY start_ns")
        assert ops == [("aten::mm", 0), ("aten::add", 1), ("aten::sub", 1), ("aten::abs", None)]


def brute_steps(marks: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Start and end of the steps, in order: the marks that lie in no other mark. Of equal marks,
    the first counts. A mark is (start, end, event_id)."""
    kept = []
    for start, end, at in marks:
        inside = any(
            a <= start and end <= b and ((a, b) != (start, end) or other < at)
            for a, b, other in marks
            if other != at
        )
        if not inside:
            kept.append((start, end))
    return sorted(kept)


@pytest.mark.parametrize("seed", seeds(8))
def test_random_marks(tmp_path, seed):
    draw = random.Random(seed)
    spans = []
    for _ in range(draw.randint(1, 12)):
        start = draw.randint(0, 20)
        spans.append((start, start + draw.randint(1, 10)))
    events = [note("step[DECODE bs=8]", a, b - a, tid=draw.randint(1, 2)) for a, b in spans]
    found = steps_of(tmp_path, events)
    marks = [(a, b, at) for at, (a, b) in enumerate(spans)]
    assert [(at, at + dur) for _, _, at, dur, _ in found] == brute_steps(marks)
    assert [step for step, *_ in found] == list(range(len(found)))


def test_an_annotation_that_repeats(tmp_path):
    #   [ iteration 7 )[ iteration 8 )[ iteration 9 )
    #     [fwd)           [fwd)         [fwd)
    events = [note(f"iteration {7 + at}", at * 100, 98) for at in range(3)]
    events += [note("fwd", at * 100 + 5, 50) for at in range(3)]
    found = steps_of(tmp_path, events)
    assert found == [(7 + at, f"iteration {7 + at}", at * 100, 98, "annotation") for at in range(3)]


def test_a_size_in_the_name_is_no_number(tmp_path):
    #   [ forward bs=8 )[ forward bs=8 )[ forward bs=4 )[ forward bs=8 )
    sizes = [8, 8, 4, 8]
    events = [note(f"forward bs={size}", at * 100, 98) for at, size in enumerate(sizes)]
    assert steps_of(tmp_path, events) == [
        (at, f"forward bs={size}", at * 100, 98, "annotation") for at, size in enumerate(sizes)
    ]


NO_LOOPS = {
    "two are too few": [note("iteration", at * 100, 98) for at in range(2)],
    "with pauses": [note("iteration", at * 100, 50) for at in range(5)],
    "a small part of the trace": [
        *(note("load", at * 10, 10) for at in range(3)),
        note("train", 30, 100),
    ],
    "autograd's": [note("## backward ##", at * 10, 10) for at in range(4)],
}


@pytest.mark.parametrize("events", NO_LOOPS.values(), ids=NO_LOOPS)
def test_annotations_that_are_no_loop(tmp_path, events):
    assert steps_of(tmp_path, events) == []


def call(name: str, ts: int, dur: int = 1, tid: int = 1) -> dict:
    return span(name, ts, dur, "cuda_runtime", tid=tid)


def test_graph_launches(tmp_path):
    #   0      10     20     30     40    50
    #   G G    wait   G G    wait   G     memcpy )
    events = [
        call("cudaGraphLaunch", 0),
        call("cudaGraphLaunch", 5),
        call("cudaStreamSynchronize", 10, 5),
        call("cudaGraphLaunch", 20),
        call("cudaGraphLaunch", 25),
        call("cudaEventSynchronize", 30, 5),
        call("cudaGraphLaunch", 40),
        call("cudaMemcpyAsync", 50, 3),
        call("cudaGraphLaunch", 41, tid=2),
    ]
    assert steps_of(tmp_path, events) == [
        (0, "cudaGraphLaunch", 0, 20, "graph launch"),
        (1, "cudaGraphLaunch", 20, 20, "graph launch"),
        (2, "cudaGraphLaunch", 40, 13, "graph launch"),
    ]


def test_graph_launches_without_waits(tmp_path):
    events = [call("hipGraphLaunch", at * 10) for at in range(3)]
    assert [row[2:4] for row in steps_of(tmp_path, events)] == [(0, 10), (10, 10), (20, 1)]


def test_one_graph_launch_is_no_step(tmp_path):
    assert steps_of(tmp_path, [call("cudaGraphLaunch", 0)]) == []


LOOP = [
    note("ProfilerStep#5", 0, 100),
    note("micro_batch 3", 10, 20),
    note("micro_batch 4", 40, 20),
    span("train.py(7): micro_batch 9", 50, 5, "python_function"),
]


def test_steps_by_a_pattern(tmp_path):
    found = steps_of(tmp_path, LOOP, steps=r"micro_batch (\d+)")
    assert found == [
        (3, "micro_batch 3", 10, 20, "--steps"),
        (4, "micro_batch 4", 40, 20, "--steps"),
    ]


def test_numbers_that_start_again(tmp_path):
    #   [ batch 0 )[ batch 1 )[ batch 0 )[ batch 1 )
    events = [note(f"batch {at % 2}", at * 100, 50) for at in range(4)]
    found = steps_of(tmp_path, events, steps=r"^batch (\d+)")
    assert [row[:3] for row in found] == [(at, f"batch {at % 2}", at * 100) for at in range(4)]


def test_a_step_of_several_marks(tmp_path):
    #   [ step 5 )[ step 5 )[ step 6 )[ step 6 )     micro-batches
    #   [ step 5           )[ step 6           )     another thread
    events = [note(f"step {5 + at // 2}", at * 100, 50) for at in range(4)]
    events += [note(f"step {5 + at}", at * 200, 150, tid=2) for at in range(2)]
    found = steps_of(tmp_path, events, steps=r"^step (\d+)")
    assert [(row[0], row[2]) for row in found] == [
        (5, 0),
        (5, 0),
        (5, 100),
        (6, 200),
        (6, 200),
        (6, 300),
    ]


def test_a_pattern_without_a_group_counts(tmp_path):
    assert [row[:2] for row in steps_of(tmp_path, LOOP, steps="^micro")] == [
        (0, "micro_batch 3"),
        (1, "micro_batch 4"),
    ]


def test_python_functions_if_nothing_else_matches(tmp_path):
    assert [row[:4] for row in steps_of(tmp_path, LOOP, steps=r"train\.py")] == [
        (0, "train.py(7): micro_batch 9", 50, 5)
    ]


def test_a_pattern_that_matches_nothing(tmp_path):
    assert steps_of(tmp_path, LOOP, steps="epoch") == [(5, "ProfilerStep#5", 0, 100, "PyTorch")]


def test_another_pattern_reads_the_trace_again(tmp_path):
    def ingest(**options) -> str:
        [outcome] = hta_sql.ingest(tmp_path / "job", tmp_path / "archive", **options).traces
        return outcome.status

    ingested(tmp_path, trace_text(LOOP)).close()
    assert ingest() == "unchanged"
    assert ingest(steps="micro") == "replaced"
    assert ingest(steps="micro") == "unchanged"
    assert ingest() == "unchanged"
    assert ingest(force=True) == "replaced"
    with hta_sql.open(tmp_path / "archive") as run:
        assert rows(run, "SELECT steps_pattern FROM traces") == [("micro",)]
        assert [row["step"] for row in run.profiler_steps().to_pylist()] == [0, 1]


def test_a_pattern_that_is_none(tmp_path):
    (tmp_path / "t").mkdir()
    result = CliRunner().invoke(cli, ["ingest", "--steps", "(", str(tmp_path), "archive"])
    assert result.exit_code == 2
    assert "steps is '(': " in result.stderr
