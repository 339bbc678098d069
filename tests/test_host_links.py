"""What ingest knows of host operations beyond their stack: module, forward operator, caller."""

import duckdb
import pytest
from hand_written import ingested, rows, span, trace_text

from hta_sql.ingestion.enrich import enrichment

ENGINE = "autograd::engine::evaluate_function: "


def links(folder, events: list[dict], column: str) -> dict[str, str | None]:
    """name → the name of what this column points to, for every host operation."""
    archive = ingested(folder, trace_text(events))
    return dict(
        rows(
            archive,
            f"""
        SELECT o.name, target.name AS target
        FROM host_ops AS o
        LEFT JOIN host_ops AS target ON target.event_id = o.{column}
        ORDER BY o.event_id
    """,
        )
    )


def forward(name: str, ts: float, dur: float, number: int, tid: int = 1) -> dict:
    return span(name, ts, dur, tid=tid, **{"Sequence number": number, "Fwd thread id": 0})


def backward(name: str, ts: float, dur: float, number: int, of: int = 1, tid: int = 2) -> dict:
    return span(name, ts, dur, tid=tid, **{"Sequence number": number, "Fwd thread id": of})


def test_forward_is_the_last_to_carry_the_number(tmp_path):
    # What an operator calls carries its number too, until one of them takes it.
    found = links(
        tmp_path,
        [
            forward("linear", 0, 30, 7),
            forward("t", 2, 5, 7),
            forward("addmm", 10, 15, 8),
            span("cudaLaunchKernel", 12, 1, "cuda_runtime"),
            backward("addmm engine", 100, 20, 8),
            backward("AddmmBackward0", 102, 16, 8),
            span("mm", 104, 5, tid=2),
            span("cudaLaunchKernel in mm", 105, 1, "cuda_runtime", tid=2),
            backward("t engine", 130, 20, 7),
            # The same number again, after its backward pass.
            forward("relu", 200, 5, 8),
        ],
        "forward_id",
    )
    assert found == {
        "linear": None,
        "t": None,
        "addmm": None,
        "cudaLaunchKernel": None,
        "relu": None,
        "addmm engine": "addmm",
        "AddmmBackward0": "addmm",
        "mm": "addmm",
        "cudaLaunchKernel in mm": "addmm",
        "t engine": "t",
    }


def test_what_is_backward(tmp_path):
    archive = ingested(
        tmp_path,
        trace_text(
            [
                forward("linear", 0, 30, 7),
                backward("engine", 100, 50, 7),
                span("mm", 110, 5, tid=2),
                span("launch", 111, 1, "cuda_runtime", tid=2),
                # Has no number: the engine's name tells.
                span(ENGINE + "torch::autograd::AccumulateGrad", 200, 20, tid=2),
                span("add_", 205, 5, tid=2),
                span("after", 300, 5, tid=2),
            ]
        ),
    )
    columns = "name, is_backward, forward_id"
    assert rows(archive, f"SELECT {columns} FROM host_ops ORDER BY event_id") == [
        ("linear", False, None),
        ("engine", True, 0),
        ("mm", True, 0),
        ("launch", True, 0),
        (ENGINE + "torch::autograd::AccumulateGrad", True, None),
        ("add_", True, None),
        ("after", False, None),
    ]


def test_the_innermost_backward_pass_counts(tmp_path):
    # A checkpoint computes its forward again, inside its backward pass, and goes back through it.
    found = links(
        tmp_path,
        [
            forward("checkpoint", 0, 30, 3),
            backward("CheckpointBackward", 100, 90, 3),
            forward("gelu again", 110, 20, 50, tid=2),
            span("kernel of gelu", 112, 2, "cuda_runtime", tid=2),
            backward("GeluBackward0", 150, 30, 50, of=2),
            span("gelu_backward", 155, 5, tid=2),
        ],
        "forward_id",
    )
    assert found == {
        "checkpoint": None,
        "CheckpointBackward": "checkpoint",
        "gelu again": "checkpoint",
        "kernel of gelu": "checkpoint",
        "GeluBackward0": "gelu again",
        "gelu_backward": "gelu again",
    }


def flow(ph: str, ts: float, tid: int, number: int) -> dict:
    return {
        "ph": ph,
        "cat": "fwdbwd",
        "name": "fwdbwd",
        "id": number,
        "pid": 1,
        "tid": tid,
        "ts": ts,
        "bp": "e",
    }


def ties(folder, events: list[dict]) -> dict[str, str]:
    return {name: to for name, to in links(folder, events, "forward_id").items() if to}


def replicas(*tids: int) -> list[dict]:
    """Threads that use the same numbers; autograd's ids of them are not those of the system."""
    return [forward(f"op {n} of {tid}", 10 * n, 5, n, tid) for tid in tids for n in (1, 2, 3)]


def test_threads_count_for_themselves(tmp_path):
    events = [*replicas(11, 12), forward("op 4 of 12", 40, 5, 4, 12)]
    events += [backward(f"back {n} to 12", 100 + 10 * n, 5, n, of=6) for n in (4, 3, 2)]
    # Number 4 is only known to thread 12, so it is 6's.
    assert ties(tmp_path, events) == {
        "back 4 to 12": "op 4 of 12",
        "back 3 to 12": "op 3 of 12",
        "back 2 to 12": "op 2 of 12",
    }


def test_each_thread_is_one(tmp_path):
    """What is computed again in a backward pass has numbers that the main thread has used, too."""
    assert ties(
        tmp_path,
        [
            forward("embedding", 0, 5, 0),
            forward("checkpoint", 10, 5, 1),
            forward("mm", 20, 5, 2),
            backward("MmBackward0", 100, 5, 2),
            backward("CheckpointBackward", 110, 80, 1),
            forward("addmm again", 120, 5, 0, tid=2),
            forward("relu again", 130, 5, 1, tid=2),
            backward("ReluBackward0", 140, 5, 1, of=2),
            backward("AddmmBackward0", 150, 5, 0, of=2),
            backward("EmbeddingBackward0", 200, 5, 0),
        ],
    ) == {
        "MmBackward0": "mm",
        "CheckpointBackward": "checkpoint",
        "addmm again": "checkpoint",
        "relu again": "checkpoint",
        "ReluBackward0": "relu again",
        "AddmmBackward0": "addmm again",
        "EmbeddingBackward0": "embedding",
    }


def test_flows_tell_threads_apart(tmp_path):
    events = replicas(11, 12)
    events += [
        backward(f"back {n} of {of}", 100 * of + 10 * n, 5, n, of)
        for of in (1, 2)
        for n in (3, 2, 1)
    ]
    # From thread 12 to what is of 1, and thus from 11 to what is of 2.
    arrow = [flow("s", 20, 12, 7), flow("f", 120, 2, 7)]
    assert ties(tmp_path, [*events, *arrow]) == {
        f"back {n} of {of}": f"op {n} of {tid}" for of, tid in ((1, 12), (2, 11)) for n in (1, 2, 3)
    }


def test_where_two_threads_would_do_it_is_neither(tmp_path):
    events = replicas(11, 12)
    events += [backward(f"back {n}", 100 + 10 * n, 5, n) for n in (3, 2, 1)]
    assert ties(tmp_path, events) == {}


def test_a_forward_operator_outside_of_the_window_is_none(tmp_path):
    found = links(
        tmp_path, [backward("MmBackward0", 0, 5, 9), forward("mm", 50, 5, 9)], "forward_id"
    )
    assert found == {"MmBackward0": None, "mm": None}


def test_flows_serve_where_there_are_no_numbers(tmp_path):
    events = [
        span("linear", 0, 30),
        span("addmm", 10, 5),
        flow("s", 10, 1, 1),
        flow("f", 100, 2, 1),
        span("outer", 100, 20, tid=2),
        span("inner", 100, 15, tid=2),
        span("other", 100, 5, tid=3),
        flow("s", 0, 1, 2),
        flow("f", 130, 2, 2),
        span("last", 130, 5, tid=2),
        flow("s", 0, 1, 3),
        flow("f", 777, 2, 3),  # to nothing
    ]
    found = links(tmp_path, events, "forward_id")
    assert found == {
        "linear": None,
        "addmm": None,
        "outer": "addmm",
        "inner": "addmm",
        "other": None,
        "last": "linear",
    }


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
    return len(con.sql(enrichment("forward_pairs")).fetchall())


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
        found = con.sql(enrichment("forward_pairs")).fetchall()
        assert len(found) == numbers
        assert {flow_count for _, _, flow_count, _ in found} == {expected}
