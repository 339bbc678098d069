"""op_alignment: names, shapes, threads, ranks and steps."""

import duckdb
import pytest
from queries.op_alignment.drawn import aligned, drawn
from queries.small_tables import SmallTables

from hta_sql.database import alignment


def test_renamed_without_shapes(small):
    """Where just as many are left on both sides."""
    aligned(
        small,
        """
        matched   a  a
        renamed   b  x
        renamed   c  y
        matched   d  d
    """,
    )
    aligned(
        small,
        """
        matched   a  a
        removed   b  -
        inserted  -  x
        inserted  -  y
        matched   d  d
    """,
    )


def test_renamed_with_shapes(small):
    """Where theirs are the same, however many are left."""
    aligned(
        small,
        """
        matched   a:[1]  a:[1]
        renamed   b:[2]  x:[2]
        inserted  -      y:[3]
        renamed   c:[4]  z:[4]
        matched   d:[1]  d:[1]
    """,
    )
    aligned(
        small,
        """
        removed   b:[2]  -
        inserted  -      x:[3]
    """,
    )


def test_names_alone_where_one_has_no_shapes(small):
    aligned(
        small,
        """
        matched   a:[1]  a
        matched   b:[2]  b
        removed   c:[3]  -
        matched   a:[5]  a
        renamed   d:[5]  e
    """,
    )


def test_reshaped_before_renamed(small):
    """A pair of one name leaves what is around it apart."""
    aligned(
        small,
        """
        removed   b:[1]  -
        reshaped  a:[2]  a:[3]
        inserted  -      c:[1]
    """,
    )


def test_nothing_in_common(small):
    aligned(small, "removed a:[1] -\nremoved b:[1] -\ninserted - c:[2]")
    aligned(small, "inserted - c:[2]")
    aligned(small, "removed c:[2] -")


def test_empty(small):
    small.fill()
    assert small.run("op_alignment") == []
    assert small.run("op_alignment", base_ranks=[3], test_steps=[1]) == []
    small.fill(traces=[{"job": "a"}, {"job": "b"}])
    assert small.run("op_alignment") == []
    small.fill(**drawn("matched a a"))
    assert small.run("op_alignment", base_ranks=[], test_ranks=[9]) == []


def test_threads_follow_one_another(small):
    """First that of the step, then by their first operators; each in the order of its own, and of
    those that begin at once the longer first."""
    host_ops = [
        {
            "job": job,
            "event_id": number,
            "cat": cat,
            "name": name,
            "tid": tid,
            "start_ns": at,
            "dur_ns": dur_ns,
            "step": 0,
        }
        for job in "ab"
        for number, (cat, name, tid, at, dur_ns) in enumerate(
            [
                ("cpu_op", "late 1", "8", 20, 5),
                ("cpu_op", "early 1", "9", 1, 5),
                ("cpu_op", "early 2", "9", 90, 5),
                ("cpu_op", "main 2", "7", 30, 5),
                ("cpu_op", "main 1", "7", 30, 50),
                ("cpu_op", "late 2", "8", 50, 5),
                ("user_annotation", "ProfilerStep#0", "7", 10, 90),
                ("python_function", "no operator", "7", 11, 9),
                ("cuda_runtime", "nor", "7", 12, 1),
            ]
        )
    ]
    small.fill(host_ops=host_ops, traces=[{"job": "a"}, {"job": "b"}])
    assert [row["base_name"] for row in small.run("op_alignment")] == [
        "main 1",
        "main 2",
        "early 1",
        "early 2",
        "late 1",
        "late 2",
    ]


def test_which_ranks_and_steps(small):
    """The first step of the lowest rank, the whole trace of one without steps; or those chosen."""
    host_ops = [
        {
            "job": job,
            "rank": rank,
            "step": step,
            "event_id": 10 * number + rank + i,
            "cat": cat,
            "name": name,
            "start_ns": 100 * number + i,
            "dur_ns": 50,
        }
        for job in "ab"
        for rank in (1, 2)
        for number, step in enumerate((None, 4, 5))
        for i, (cat, name) in enumerate(
            [("cpu_op", f"{job} {rank} {step}"), ("user_annotation", f"ProfilerStep#{step}")]
        )
        if job == "a" or cat == "cpu_op"
    ]
    small.fill(
        host_ops=host_ops, traces=[{"job": job, "rank": rank} for job in "ab" for rank in (2, 1)]
    )

    def names(**parameters):
        rows = small.run("op_alignment", **parameters)
        base = [row["base_name"] for row in rows if row["base_name"]]
        return base, [row["test_name"] for row in rows if row["test_name"]]

    assert names() == (["a 1 4"], ["b 1 None", "b 1 4", "b 1 5"])
    assert names(base_ranks=[2, 1], test_ranks=[2], test_steps=[5, 4, 9]) == (
        ["a 1 4", "a 2 4"],
        ["b 2 4", "b 2 5"],
    )
    assert names(base_job="a", test_job="a", base_steps=[5]) == (["a 1 5"], ["a 1 4"])
    assert names(base_job="b", test_job="a") == (["b 1 None", "b 1 4", "b 1 5"], ["a 1 4"])
    with pytest.raises(duckdb.InvalidInputException, match="no job 'x'"):
        names(base_job="x")


def test_a_shell_says_that_it_cannot():
    """But of lists without anything in common it knows."""
    con = SmallTables().con

    def found(base, test):
        return con.execute(
            "SELECT longest_common_subsequence(?::BIGINT[], ?::BIGINT[])", [base, test]
        ).fetchone()[0]

    with pytest.raises(duckdb.InvalidInputException, match="hta-sql run op_alignment ARCHIVE"):
        found([1, 2], [2, 3])
    assert found([1, 2], [3]) == found([], [1]) == found([], []) == []
    alignment.register(con)
    assert found([1, 2], [2, 3]) == [{"base_place": 2, "test_place": 1}]
    assert found([], []) == []
