"""Steps of SGLang with speculative decoding: the draft model's passes belong to the target's."""

from hand_written import ingested, rows, span, trace_text


def note(name: str, ts: int, dur: int) -> dict:
    return span(name, ts, dur, "user_annotation")


def launched(ts: int, kernel_ts: int, dur: int) -> list[dict]:
    """A launch at `ts`, and its kernel."""
    return [
        span("cudaLaunchKernel", ts, 1, "cuda_runtime", correlation=ts),
        span("kernel", kernel_ts, dur, "kernel", 0, 7, device=0, stream=7, correlation=ts),
    ]


def steps_of(run) -> list[tuple]:
    return rows(
        run,
        "SELECT step, step_name, start_ns // 1000, dur_ns // 1000 FROM steps "
        "ORDER BY start_ns, dur_ns DESC, event_id",
    )


# us   0     100    200    300        400    500     600    700         800
#      draft EXTEND extend VERIFY     extend draft   VERIFY extend      (end)
#                                            DECODE
ITERATIONS = [
    note("step[DECODE bs=2]", 0, 50),  # of an iteration that began before the trace
    note("step[EXTEND bs=2 toks=12]", 100, 80),
    note("draft_extend", 200, 60),
    note("step[DRAFT_EXTEND_V2 bs=2]", 210, 40),
    note("step[TARGET_VERIFY bs=2 g_sq=6 g_sqsq=18 g_sqsk=90 g_sk=30]", 300, 80),
    note("step[DRAFT_EXTEND bs=2]", 400, 50),
    note("draft", 500, 60),
    note("step[DECODE bs=2]", 510, 20),
    note("step[TARGET_VERIFY bs=2 g_sq=6 g_sqsq=18 g_sqsk=96 g_sk=32]", 600, 80),
    note("step[DRAFT_EXTEND_V2 bs=2]", 700, 50),
]


def test_drafts_belong_to_the_pass_before_them(tmp_path):
    with ingested(tmp_path, trace_text(ITERATIONS)) as run:
        assert [(step, start) for step, _, start, _ in steps_of(run)] == [
            (0, 100), (0, 200), (0, 210),
            (1, 300), (1, 400), (1, 500), (1, 510),
            (2, 600), (2, 700),
        ]  # fmt: skip
        spans = rows(
            run, "SELECT step, step_name, start_ns // 1000, dur_ns // 1000 FROM profiler_steps()"
        )
    assert spans == [
        (0, "step[EXTEND bs=2 toks=12]", 100, 160),
        (1, "step[TARGET_VERIFY bs=2 g_sq=6 g_sqsq=18 g_sqsk=90 g_sk=30]", 300, 260),
        (2, "step[TARGET_VERIFY bs=2 g_sq=6 g_sqsq=18 g_sqsk=96 g_sk=32]", 600, 150),
    ]


def test_phases_count_what_the_target_model_checks(tmp_path):
    """Tokens of drafts are no output, and their kernels are part of the iteration."""
    events = [*ITERATIONS]
    for mark in ITERATIONS:
        if mark["name"] not in ("draft", "draft_extend"):
            events += launched(mark["ts"] + 5, mark["ts"] + 10, 10)
    with ingested(tmp_path, trace_text(events)) as run:
        decode, prefill = run.job_phases().to_pylist()
        [(outside,)] = rows(run, "SELECT count(*) FROM gpu_activities WHERE step IS NULL")
    assert (prefill["phase"], prefill["step_count"], prefill["token_count"]) == ("prefill", 1, 12)
    assert (decode["phase"], decode["step_count"], decode["batch_size_p50"]) == ("decode", 2, 2)
    # Of 2 requests, 3 tokens each. 300 us to the next iteration; the last one takes 150 us.
    assert decode["token_count"] == 12
    assert decode["tokens_per_s"] == 12 / 450e-6
    assert decode["output_token_p50_ns"] == (100_000 + 50_000) // 2
    assert decode["decode_tokens_per_request"] == 3
    assert decode["busy_ns"] == 5 * 10_000
    assert outside == 1


def test_without_drafts_each_decode_is_a_step(tmp_path):
    """`draft` is any program's name, then."""
    events = [
        note("step[DECODE bs=2]", 0, 50),
        note("step[DECODE bs=3]", 100, 50),
        note("draft", 110, 10),
    ]
    with ingested(tmp_path, trace_text(events)) as run:
        assert steps_of(run) == [(0, "step[DECODE bs=2]", 0, 50), (1, "step[DECODE bs=3]", 100, 50)]
