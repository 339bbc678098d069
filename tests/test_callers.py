"""Modules, and callers across threads."""

import duckdb
import pytest
from hand_written import ingested, rows, span, trace_text
from host_links import ENGINE, links

from hta_sql.ingestion.enrich import FILES


def test_modules(tmp_path):
    def python(name, ts, dur, tid=1):
        return span(name, ts, dur, "python_function", tid=tid)

    found = links(
        tmp_path,
        [
            python("train.py(1): main", 0, 100),
            python("nn.Module: Net_0", 10, 80),
            python("model.py(5): forward", 11, 78),
            python("nn.Module: Linear_1", 20, 10),
            span("addmm", 22, 5),
            span("cudaLaunchKernel", 23, 1, "cuda_runtime"),
            span("relu", 40, 5),
            span("loss", 95, 2),
            span("elsewhere", 25, 2, tid=2),
            # Only Python's own rows are modules.
            span("nn.Module: fake", 50, 10),
            span("in fake", 52, 2),
        ],
        "module_id",
    )
    net = "nn.Module: Net_0"
    assert found == {
        "train.py(1): main": None,
        net: None,
        "model.py(5): forward": net,
        "nn.Module: Linear_1": net,
        "addmm": "nn.Module: Linear_1",
        "cudaLaunchKernel": "nn.Module: Linear_1",
        "relu": net,
        "loss": None,
        "elsewhere": None,
        "nn.Module: fake": net,
        "in fake": net,
    }


def annotation(name: str, ts: float, dur: float, tid: int = 1) -> dict:
    return span(name, ts, dur, "user_annotation", tid=tid)


STEPS = [annotation("ProfilerStep#1", 0, 100), annotation("ProfilerStep#2", 100, 100)]


WORK = [
    span(ENGINE + "a", 60, 20, tid=2),
    span("a", 62, 10, tid=2),
    span(ENGINE + "b", 150, 20, tid=3),
    span("out of all", 500, 2, tid=2),
    span("half in", 195, 10, tid=2),
    span("elsewhere", 60, 5, tid=4),
]


def test_callers_across_threads(tmp_path):
    found = links(tmp_path, [*STEPS, *WORK], "caller_id")
    assert {name: to for name, to in found.items() if to} == {
        ENGINE + "a": "ProfilerStep#1",
        ENGINE + "b": "ProfilerStep#2",
    }


def test_backward_annotations_come_before_steps(tmp_path):
    passes = [annotation("## backward ##", 50, 40), annotation("## backward ## inner", 55, 30)]
    found = links(tmp_path, [*STEPS, *passes, *WORK], "caller_id")
    # The innermost of them; and where there is one in the trace, steps do not serve.
    assert {name: to for name, to in found.items() if to} == {ENGINE + "a": "## backward ## inner"}


@pytest.mark.parametrize(
    "more",
    [
        [annotation("ProfilerStep#1", 0, 100, tid=9)],  # which is the main thread?
        None,
    ],
)
def test_no_callers_without_one_main_thread(tmp_path, more):
    events = [*STEPS, *WORK, *more] if more else WORK
    assert set(links(tmp_path, events, "caller_id").values()) == {None}


def test_the_main_thread_may_run_autograd_itself(tmp_path):
    events = [*STEPS, span(ENGINE + "own", 10, 5), span(ENGINE + "before", -50, 5)]
    assert set(links(tmp_path, events, "caller_id").values()) == {None}


def test_operations_without_a_name_have_their_place(tmp_path):
    events = [
        span("outer", 0, 100),
        span("no name", 10, 50),
        span("mm", 20, 20),
        span("no name either", 200, 50, "python_function"),
        span("last", 210, 5),
    ]
    for at in (1, 3):
        del events[at]["name"]
    archive = ingested(tmp_path, trace_text(events))
    assert rows(archive, "SELECT event_id, depth, parent_id FROM host_ops ORDER BY event_id") == [
        (0, 0, None),
        (1, 1, 0),
        (2, 2, 1),
        (3, 0, None),
        (4, 1, 3),
    ]


def pairs(numbered: str, flows: str) -> int:
    """How many pairs of a number and a thread there are to choose from."""
    con = duckdb.connect()
    con.execute(f"CREATE TABLE numbered_ops AS {numbered}")
    con.execute(f"CREATE TABLE flow_ends AS {flows}")
    return len(con.sql(FILES.text("forward_pairs")).fetchall())


NO_FLOWS = "SELECT 1 AS id, 's' AS ph, 1 AS start_ns, 1 AS thread WHERE false"


# Threads 1 to n use one sequence number, and as many numbers of threads ask for it.
ALL_ALIKE = """
    SELECT i AS thread, 0 AS fwd_thread_id, 7 AS sequence_number, i AS start_ns
    FROM range(1, {threads} + 1) AS _ (i)
    UNION ALL
    SELECT 0, i, 7, 100_000 FROM range(1, {numbers} + 1) AS _ (i)
"""


# All flows of one id, from thread 1 to where all these begin.
ALL_FLOWS = """
    SELECT 1 AS id, 's' AS ph, 1 AS start_ns, 1 AS thread
    UNION ALL
    SELECT 1, 'f', 100_000, 0 FROM range(50)
"""


def test_what_very_many_share_tells_nothing():
    """Or there were as many pairs as threads times numbers, and operators times flows."""
    assert pairs(ALL_ALIKE.format(threads=100, numbers=100), NO_FLOWS) == 10_000
    assert pairs(ALL_ALIKE.format(threads=100, numbers=101), NO_FLOWS) == 0
    assert pairs(ALL_ALIKE.format(threads=101, numbers=100), NO_FLOWS) == 0


def test_flows_to_very_many_at_one_instant_tell_nothing():
    con = duckdb.connect()
    for numbers, expected in ((100, 50), (101, 0)):
        con.execute(f"""
            CREATE OR REPLACE TABLE numbered_ops AS
            SELECT 1 AS thread, 0 AS fwd_thread_id, i AS sequence_number, i AS start_ns
            FROM range(1, {numbers} + 1) AS _ (i)
            UNION ALL
            SELECT 0, i, i, 100_000 FROM range(1, {numbers} + 1) AS _ (i)
        """)
        con.execute(f"CREATE OR REPLACE TABLE flow_ends AS {ALL_FLOWS}")
        found = con.sql(FILES.text("forward_pairs")).fetchall()
        assert len(found) == numbers
        assert {flow_count for _, _, flow_count, _ in found} == {expected}
