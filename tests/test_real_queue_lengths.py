"""Lengths of queues on real traces: against plain Python, and against HTA's figures for them.

HTA takes only activities launched by a function on its list, and leaves the order of the points
within an instant to chance. Where that matters, the trace stands in KNOWN_DIFFERENCES. Over what
HTA takes, our queries then give HTA's figures, but for the mean and the standard deviation where
points at one instant could be in another order: there the sum behind HTA's mean lies between those
of the two orders, launches first and starts first.
"""

from collections import defaultdict
from itertools import accumulate

import pytest
from hta_cases import CASES, close, needs_hta_outputs, ours
from queries import brute_queue_lengths as brute_force
from queries.small_tables import same
from real_files import UNLINKED, TraceFile

import hta_sql

pytestmark = [pytest.mark.real, needs_hta_outputs]

QUERIES = ("queue_length_series", "queue_length_summary", "queue_full_time")
# The functions on HTA's list.
LAUNCHES = {
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cudaMemcpyAsync",
    "cudaMemsetAsync",
    "hipLaunchKernel",
    "hipExtModuleLaunchKernel",
    "hipMemsetAsync",
    "hipMemcpyAsync",
    "hipMemcpyWithStream",
    "runFunction - job_prep_and_submit_for_execution",
}

KNOWN_DIFFERENCES = {
    "mi300_bert": "hipModuleLaunchKernel is not on HTA's list",
    "mtia_inference": "only runFunction is on HTA's list, no copies, waits and records",
    "trace_diff_test": "cudaGraphLaunch is not on HTA's list; points at one instant",
    "simple_add": "points at one instant in another order",
    "trace_diff_control": "points at one instant in another order",
    "ns_resolution": "doubles of us since 1970, exact to 250 ns: other points at one instant",
}
# The traces where what HTA takes has its figures, but for the order within an instant.
BY_CHANCE = {"simple_add", "trace_diff_control", "trace_diff_test", "ns_resolution"}

EXACT = {"count": "count", "min": "min", "25%": "p25", "50%": "p50", "75%": "p75", "max": "max"}
BY_ORDER = {"mean": "mean", "std": "stddev"}

by_case = pytest.mark.parametrize("case", CASES, ids=str)
by_length = pytest.mark.parametrize(
    ("case", "length"),
    [(case, length) for case in CASES if not case.last_step for length in (10, 1024)],
    ids=str,
)


@pytest.fixture(scope="module")
def launched_by_hta(real_archive):
    """The archive with only the activities that HTA takes."""
    with hta_sql.open(real_archive) as run:
        for query in QUERIES:
            run.query(query, only_jobs=[])  # now, for what is loaded later replaces the view again
        run.con.execute(
            "CREATE TEMP TABLE taken AS FROM gpu_activities WHERE list_contains($1, launch_name)",
            [sorted(LAUNCHES)],
        )
        run.con.execute("CREATE OR REPLACE VIEW gpu_activities AS FROM taken")
        yield run


# Against plain Python.


@pytest.fixture(scope="session")
def file(trace_file: TraceFile) -> TraceFile:
    return trace_file


@pytest.mark.parametrize("query", QUERIES)
def test_query(real_run, real_rows, file, query):
    tables = [real_rows("gpu_activities", file.job, file.rank)]
    given = [{}]
    if query == "queue_full_time":
        tables.append(real_run.sql("FROM traces").to_pylist())
        given = [{"max_queue_length": length} for length in (1, 10, 1024)]
    for parameters in given:
        wanted = list(getattr(brute_force, query)(*tables, **parameters))
        found = real_run.query(
            query, only_jobs=[file.job], only_ranks=[file.rank], **parameters
        ).to_pylist()
        assert len(found) == len(wanted)
        assert [pair for pair in zip(found, wanted, strict=True) if not same(*pair)] == []
        assert bool(wanted) is (file.has_gpu and file.job not in UNLINKED)


def test_no_queue_below_zero(real_run):
    """No activity of these traces starts before its launch begins."""
    streams = real_run.queue_length_summary().to_pylist()
    assert len(streams) > 40
    assert {(row["min"], row["early_start_count"]) for row in streams} == {(0, 0)}


# Against HTA.


def hta_streams(case) -> dict[tuple[int, int], dict]:
    return {
        (int(hta["rank"]), int(hta["stream"])): {
            name.removeprefix("queue_length__"): value for name, value in hta.items()
        }
        for hta in case.csv("get_queue_length_summary")
    }


def differences(case, rows, columns) -> list[str]:
    hta_of, our_of = hta_streams(case), {(row["rank"], row["stream"]): row for row in rows}
    assert hta_of.keys() == our_of.keys()
    return [
        f"{stream}: {name} {hta[name]}, {our_of[stream][column]}"
        for stream, hta in hta_of.items()
        for name, column in columns.items()
        if float(hta[name]) != pytest.approx(our_of[stream][column], rel=1e-12)
    ]


@by_case
def test_summary(real_run, case):
    found = differences(case, ours(real_run, "queue_length_summary", case), EXACT | BY_ORDER)
    assert bool(found) is (case.folder in KNOWN_DIFFERENCES), found


@by_case
def test_summary_of_what_hta_takes(launched_by_hta, case):
    rows = ours(launched_by_hta, "queue_length_summary", case)
    columns = EXACT if case.folder in BY_CHANCE else EXACT | BY_ORDER
    assert differences(case, rows, columns) == []


@pytest.mark.parametrize("case", [case for case in CASES if case.folder in BY_CHANCE], ids=str)
def test_sum_lies_between_those_of_the_two_orders(launched_by_hta, case):
    points = defaultdict(list)
    for row in ours(launched_by_hta, "queue_length_series", case):
        points[row["rank"], row["stream"]].append((as_hta_has(row["at_ns"], case), row["change"]))
    assert points.keys() == hta_streams(case).keys()
    differ = False
    for stream, hta in hta_streams(case).items():
        starts_first = sum_over(sorted(points[stream]))
        launches_first = sum_over(sorted(points[stream], key=lambda p: (p[0], -p[1])))
        hta_sum = float(hta["mean"]) * float(hta["count"])
        assert hta_sum == pytest.approx(round(hta_sum), rel=1e-12)
        assert starts_first <= round(hta_sum) <= launches_first
        differ = differ or starts_first < launches_first
    assert differ


def sum_over(points: list[tuple[float, int]]) -> int:
    """Of the queue's lengths after each point."""
    return sum(accumulate(change for _, change in points))


def as_hta_has(at_ns: int, case) -> float:
    """Its doubles of us."""
    return at_ns / 1000 if case.folder == "ns_resolution" else at_ns


def hta_full(case, length: int) -> list[dict]:
    return case.csv("get_time_spent_blocked_on_full_queue" + "_max10" * (length == 10))


@by_length
def test_full_time(launched_by_hta, case, length):
    """Of each rank the last stream that was ever full, over the time between first and last start.

    The order within an instant plays no part: from one instant to the next the length is the same.
    """
    rows = launched_by_hta.query(
        "queue_full_time",
        max_queue_length=length,
        only_jobs=[case.job],
        only_steps=case.steps and list(case.steps),
    ).to_pylist()
    last_full = {row["rank"]: row for row in rows if row["full_ns"]}
    hta_rows = hta_full(case, length)
    assert [int(hta["rank"]) for hta in hta_rows] == sorted(last_full)
    for hta in hta_rows:
        row = last_full[int(hta["rank"])]
        assert int(hta["stream"]) == row["stream"]
        assert close(hta["duration_at_max_queue_length"], row["full_ns"], 2 * case.instant_ns)
        of_hta = float(hta["relative_duration_at_max_queue_length"])
        duration_ns = hta_duration_ns(launched_by_hta, case, row["rank"])
        assert abs(of_hta * duration_ns - row["full_ns"]) <= 4 * case.instant_ns + 0.001
        assert of_hta > row["full_frac"]


def hta_duration_ns(run, case, rank: int) -> int:
    """From the first start to the last one, of the events that HTA keeps."""
    events = run.sql(
        "SELECT name, start_ns, correlation, json_exists(args, '$.stream') AS has_stream "
        "FROM events WHERE job = $job AND rank = $rank AND ph = 'X' AND cat <> 'Trace'",
        {"job": case.job, "rank": rank},
    ).to_pylist()
    steps = [event for event in events if event["name"].startswith("ProfilerStep")]
    if len({step["name"] for step in steps}) > 1:  # without the last, and what it launched
        last_step_ns = max(step["start_ns"] for step in steps)
        host = [
            event
            for event in events
            if not event["has_stream"] and event["start_ns"] < last_step_ns
        ]
        calls = {event["correlation"] for event in host} - {None}
        events = host + [
            event for event in events if event["has_stream"] and event["correlation"] in calls
        ]
    starts = [event["start_ns"] for event in events]
    return max(starts) - min(starts)


# (folder, length): what was full and HTA does not tell, in us by (rank, stream).
UNTOLD = {
    ("mtia_inference", 10): {  # not on its list
        (0, 102): 23445.91,
        (0, 104): 262.581,
        (0, 105): 8802.596,
        (0, 106): 48691.549,
        (0, 107): 10546.064,
        (0, 108): 45536.011,
        (0, 109): 52262.023,
        (0, 110): 42323.807,
        (0, 111): 58759.59,
        (0, 112): 43781.73,
    },
    ("trace_diff_control", 10): {(3, 7): 216562, (3, 20): 78},  # not the last streams
    ("trace_diff_test", 10): {(1, 7): 618992},  # not the last stream
    ("trace_diff_test", 1024): {(1, 7): 134404},  # a graph's
}


@by_length
def test_what_hta_does_not_tell(real_run, case, length):
    rows = real_run.query(
        "queue_full_time",
        max_queue_length=length,
        only_jobs=[case.job],
        only_steps=case.steps and list(case.steps),
    ).to_pylist()
    told = {(int(hta["rank"]), int(hta["stream"])) for hta in hta_full(case, length)}
    full = {(row["rank"], row["stream"]): row["full_ns"] for row in rows if row["full_ns"]}
    assert told <= full.keys()
    assert {stream: ns / 1000 for stream, ns in full.items() if stream not in told} == UNTOLD.get(
        (case.folder, length), {}
    )


def test_golden_full_time(real_run):
    """With times rounded to us, HTA has 381764 us at 2 or more."""
    [row] = real_run.queue_full_time(
        max_queue_length=2, only_jobs=["ns_resolution"], only_steps=[101, 102, 103, 104]
    ).to_pylist()
    assert row["full_ns"] == pytest.approx(381_764_000, abs=2_000)
