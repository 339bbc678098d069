"""The sentences at the top of a report: each number is that of what it names."""

from collections.abc import Callable

import pytest
from hand_written import ingested, span, trace_text

from hta_sql.report.parts import Text
from hta_sql.report.sections import headline
from hta_sql.report.subject import Subject

ANNOTATION = "user_annotation"


def kernel(name: str, ts: int, dur: int, launch: int, call: int, number: int, **args) -> list[dict]:
    """A kernel, and its launch at `launch`, which takes `call` us."""
    of_kernel = {"pid": 0, "tid": 7, "device": 0, "stream": 7, "correlation": number} | args
    return [
        span("cudaLaunchKernel", launch, call, "cuda_runtime", correlation=number),
        span(name, ts, dur, "kernel", **of_kernel),
    ]


def stalled(start: int) -> list[dict]:
    """A kernel that starts 455 us after its launch; meanwhile the host is in a copy for 440 us.

    us       0        100          140  145  150           590  600       700
    stream   [= gemm =).................................... [= gemm =)
    host                [ aten::mm )[launch)[ cudaMemcpy   )
    """
    return [
        span("forward", start, 700, "user_annotation"),
        *kernel("gemm", start, 100, start - 10, 5, start + 1),
        span("aten::mm", start + 100, 40),
        *kernel("gemm", start + 600, 100, start + 140, 5, start + 2),
        span("cudaMemcpy", start + 150, 440, "cuda_runtime"),
    ]


@pytest.fixture
def lines(tmp_path) -> Callable[..., list[str]]:
    """The sentences about a job of these ranks, without warnings."""

    def of(*ranks: list[dict]) -> list[str]:
        files = {f"rank_{number}.json": trace_text(events) for number, events in enumerate(ranks)}
        subject = Subject.of(ingested(tmp_path, files), "job", None, None)
        [text] = [
            part
            for part in headline.parts(subject)
            if isinstance(part, Text) and not part.is_warning
        ]
        return list(text.lines)

    return of


def test_the_largest_part_of_the_idle_time(lines):
    assert lines(stalled(50))[:2] == [
        "The largest part of the GPU time is idle: 500 µs, 71.4 % of the time from first to last "
        "activity. The next is computing: 200 µs, 28.6 %.",
        "Of the 500 µs of idle time, the largest part is queued, the time from a launch to the "
        "start of its activity: 455 µs. The host is in cudaMemcpy for 440 µs of it.",
    ]


def test_the_next_part_is_told_if_it_is_large(lines):
    """Before the launch, the host is in aten::mm for 400 of 440 us."""
    events = [
        *kernel("gemm", 50, 100, 40, 5, 1),
        span("aten::mm", 150, 400),
        *kernel("gemm", 650, 100, 590, 5, 2),
    ]
    assert lines(events)[1] == (
        "Of the 500 µs of idle time, the largest part is host_wait, the time until the next launch "
        "begins: 440 µs. The host is in aten::mm for 400 µs of it. The next is queued, the time "
        "from a launch to the start of its activity: 55.0 µs."
    )


def test_times_of_all_ranks_together(lines):
    assert lines(stalled(50), stalled(50))[:2] == [
        "The largest part of the GPU time is idle: 1.00 ms on all GPUs together, 71.4 % of the "
        "time from first to last activity. The next is computing: 400 µs, 28.6 %.",
        "Of the 1.00 ms of idle time of all GPUs, the largest part is queued, the time from a "
        "launch to the start of its activity: 910 µs. The host is in cudaMemcpy for 880 µs of it.",
    ]


def test_the_largest_part_comes_first(lines):
    """Of 1,000 us, the GPU communicates for 840 and is idle for 18 in a data loader."""
    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    events = [
        *kernel("gemm", 50, 142, 40, 5, 1),
        span(loader, 192, 18, "user_annotation"),
        *kernel("ncclDevKernel_AllReduce_Sum", 210, 840, 208, 1, 2),
    ]
    said = lines(events)
    assert said[0] == (
        "The largest part of the GPU time is exposed communication: 840 µs, 84.0 % of the time "
        "from first to last activity. The next is computing: 142 µs, 14.2 %."
    )
    assert said[1] == (
        "Of the 18.0 µs of idle time, the largest part is host_wait, the time until the next "
        "launch begins: 16.0 µs. The host is in data loading for 16.0 µs of it."
    )


def test_what_a_loader_calls_is_data_loading(lines):
    """The host is in the loader itself for 60 us, and in operators that it calls for 400."""
    events = [
        *kernel("gemm", 50, 100, 40, 5, 1),
        span("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 150, 460, ANNOTATION),
        span("aten::contiguous", 160, 250),
        span("aten::copy_", 420, 150),
        *kernel("gemm", 650, 100, 620, 5, 2),
    ]
    assert lines(events)[1].endswith("The host is in data loading for 460 µs of it.")


def test_without_a_name_none_is_told(lines):
    events = [*kernel("gemm", 50, 100, 40, 5, 1), *kernel("gemm", 300, 100, 290, 10, 2)]
    assert lines(events)[1] == (
        "Of the 150 µs of idle time, the largest part is host_wait, the time until the next launch "
        "begins: 140 µs."
    )


def test_little_idle_time_gets_no_sentence(lines):
    events = [*kernel("gemm", 50, 995, 40, 5, 1), *kernel("gemm", 1050, 500, 1045, 2, 2)]
    assert not any("idle" in line and "Of the" in line for line in lines(events))


def test_launches_that_the_trace_does_not_have(lines):
    gemms = [span("gemm", ts, 100, "kernel", pid=0, tid=7, device=0, stream=7) for ts in (50, 350)]
    assert lines(gemms)[1] == (
        "Of the 200 µs of idle time, the largest part is gaps before activities whose launch is "
        "not in the trace: 200 µs."
    )
