"""Cases of under_operator, after_event, before_event and between_events, and random spans."""

import random

import pytest
from ingest.planted_graphs import Graph, ingested_replays, layers, whole
from queries.brute_related import after, before, between, listed, under
from queries.stacked import with_places
from seeds import seeds

import hta_sql

NAMES = ["f", "f", "fx", "b", "b_x", "bxx", None]
PATTERNS = ["f", "f%", "b_x", "%x", "%", "F", "no"]


def test_calls_and_activities_under_an_operator(host):
    """The drawing of the header."""
    ops = """
    event_id  name    root_id  start_ns  end_ns
    1         step    1        0         50
    2         attn    1        2         30
    3         attn    1        4         12
    4         launch  1        6         10
    5         launch  1        35        40
    """
    activities = """
    event_id  name  launch_id  start_ns  end_ns
    6         gemm  4          28        40
    7         gemm  5          41        44
    8         gemm  -          41        44
    """
    under = """
    event_id  under_id  name    start_ns  dur_ns
    2         2         attn    2         28
    3         2         attn    4         8
    4         2         launch  6         4
    6         2         gemm    28        12
    """
    host.expect("under_operator", under, ops=ops, activities=activities, of_name="attn")
    host.expect("under_operator", under, ops=ops, activities=activities, of_name="%tt%")
    nothing = "\nevent_id\n"
    host.expect("under_operator", nothing, ops=ops, activities=activities, of_name="att_")


def test_the_backward_pass_is_under_its_annotation(host):
    """It is on another thread, and goes on after the annotation."""
    host.expect(
        "under_operator",
        """
        event_id  under_id
        1         1
        2         1
        3         1
        5         1
        """,
        ops="""
        event_id  tid  name             root_id  caller_id  start_ns  end_ns
        1         1    ##~backward~##   1        -          0         10
        2         2    autograd::mul    2        1          4         20
        3         2    launch           2        -          15        18
        4         2    autograd::other  4        -          22        30
        """,
        activities="""
        event_id  name  launch_id  start_ns  end_ns
        5         gemm  3          20        25
        """,
        of_name="## backward ##",
    )


def test_replays_are_under_what_was_captured(tmp_path):
    """One kernel of each operator of a graph, and all kernels of both replays."""
    graph = Graph(layers(2), "capture_32_FULL")
    archive = ingested_replays(tmp_path, [graph], [whole(0, graph), whole(0, graph)])
    with hta_sql.open(archive) as run:
        kernels = run.sql("SELECT event_id FROM gpu_activities ORDER BY start_ns")
        size = len(graph.kernels)
        wanted = [kernels["event_id"][replay * size + 3].as_py() for replay in range(2)]
        found = run.under_operator(of_name=graph.op(0, 3))
        assert found["event_id"].to_pylist() == wanted
        run.con.register("found", found)
        names = run.sql("SELECT o.name FROM found JOIN host_calls AS o ON o.event_id = under_id")
        assert names["name"].to_pylist() == [graph.op(0, 3)] * 2
        launched = run.sql(
            "FROM gpu_activities SEMI JOIN under_operator('%GraphLaunch') "
            "USING (job, rank, event_id)"
        )
        assert launched.num_rows == 2 * size == kernels.num_rows


def test_after_and_before(host):
    """The drawings of the headers, in one."""
    tables = {
        "ops": """
        event_id  tid  name      start_ns  end_ns
        1         1    forward   0         10
        2         2    launch    10        12
        3         1    forward   20        30
        4         1    launch    30        32
        5         1    backward  40        50
        6         2    launch    39        41
        """,
        "activities": """
        event_id  name  launch_id  start_ns  end_ns
        7         gemm  2          60        70
        8         gemm  -          60        70
        """,
    }
    host.expect(
        "after_event",
        """
        event_id  after_id  name
        2         1         launch
        3         1         forward
        4         3         launch
        5         3         backward
        6         3         launch
        7         1         gemm
        """,
        **tables,
        of_name="forward",
    )
    host.expect(
        "before_event",
        """
        event_id  before_id
        1         3
        2         3
        7         3
        """,
        **tables,
        of_name="forward",
    )
    host.expect(
        "between_events",
        """
        event_id  after_id  before_id
        2         1         5
        3         1         5
        4         3         5
        7         1         5
        """,
        **tables,
        first_name="forward",
        second_name="backward",
    )


def test_instants(host):
    """A span of no duration is open for 1 ns."""
    ops = """
    event_id  root_id  name  start_ns  end_ns
    1         1        f     5         5
    2         2        g     5         5
    3         3        g     6         6
    4         4        f     6         8
    5         5        g     8         8
    """
    host.expect(
        "after_event",
        """
        event_id  after_id
        3         1
        4         1
        5         4
        """,
        ops=ops,
        of_name="f",
    )
    host.expect(
        "under_operator",
        """
        event_id  under_id
        1         1
        2         1
        3         4
        4         4
        """,
        ops=ops,
        of_name="f",
    )


def random_tables(rng: random.Random) -> dict[str, list[dict]]:
    ops, activities = [], []
    for job, rank in [("i", 0), ("j", 0), ("j", 2)][: rng.choice([1, 3])]:
        ids = rng.sample(range(100), 60)
        of_this = [
            {
                "job": job,
                "rank": rank,
                "event_id": ids.pop(),
                "cat": "cpu_op",
                "pid": "1",
                "tid": rng.choice("12"),
                "name": rng.choice(NAMES),
                "step": rng.choice([None, 1]),
                "start_ns": (start := rng.randrange(30)),
                "end_ns": start + rng.choice([0, 0, 1, 2, 5, 9, 20]),
            }
            for _ in range(rng.choice([1, 8, 20, 40]))
        ]
        with_places(of_this)
        callers = [op["event_id"] for op in of_this if op["tid"] == "1"]
        for op in of_this:
            if op["tid"] == "2" and op["parent_id"] is None and callers:
                op["caller_id"] = rng.choice([None, rng.choice(callers)])
        ops += of_this
        for number in range(rng.choice([0, 20])):
            start = rng.randrange(60)
            activities.append(
                {
                    "job": job,
                    "rank": rank,
                    "event_id": 100 + number,
                    "launch_id": rng.choice([None, 99, rng.choice(of_this)["event_id"]]),
                    "step": rng.choice([None, 1]),
                    "start_ns": start,
                    "end_ns": start + rng.choice([0, 1, 5]),
                }
            )
    return {"host_ops": ops, "gpu_activities": activities}


@pytest.mark.parametrize("seed", seeds(30))
def test_random_spans(host, seed):
    rng = random.Random(seed)
    tables = random_tables(rng)
    ops = tables["host_ops"]
    for name, brute in (
        ("under_operator", under),
        ("after_event", after),
        ("before_event", before),
    ):
        pattern = rng.choice(PATTERNS)
        wanted = listed(tables, brute(ops, pattern))
        host.compare(name, wanted, tables, seed, of_name=pattern)
    first, second = rng.choices(PATTERNS, k=2)
    wanted = listed(tables, between(ops, first, second))
    host.compare("between_events", wanted, tables, seed, first_name=first, second_name=second)


def test_the_random_spans_have_rows():
    """Of each kind many, so that the sweep compares something."""
    drawn = [random_tables(random.Random(seed))["host_ops"] for seed in range(8)]
    for relation in (under, after, before):
        assert sum(len(relation(ops, "f")) for ops in drawn) > 50
    assert sum(len(between(ops, "f", "b_x")) for ops in drawn) > 20
