"""comparability: ranks, sides and jobs that are chosen."""

import random

import duckdb
import pytest
from queries.comparable import (
    FEW_STEPS,
    LOST,
    NO_STEPS,
    ONE_WITH_STEPS,
    differing,
    fill,
    rows_of,
    tables_of,
)


def test_calls_weigh_by_how_often_they_are_made(compare):
    # Five calls of six have a counterpart, though one kind of two has.
    found = differing(compare, {"ops": ["mm 4"] * 5 + ["mm 8"]}, {"ops": ["mm 4"]})
    assert found == {"shapes": ("36", "6", "none", None)}
    found = differing(compare, {"ops": ["mm 4"] + ["mm 8"] * 5}, {"ops": ["mm 4"]})
    assert found["shapes"][2:] == (
        "prevents",
        "only 17 % of the operators of one ran on shapes that the other has",
    )


def test_ranks(compare):
    found = differing(compare, {}, {"ranks": [0, 1, 2]})
    assert found["ranks"] == (
        "2",
        "3",
        "weakens",
        "the archive has different numbers of their ranks",
    )
    # More of them have more of all, which is no reason.
    assert {name for name, row in found.items() if row[2] != "none"} == {"ranks"}


def test_what_is_not_told_is_no_reason(compare):
    nothing = {"gpu": None, "world_size": None, "activities": None, "lost": None, "status": None}
    told = [("H100", None), ("8", None), ("20", None)]
    for base, test, of_two in (
        ({}, nothing, told),
        (nothing, {}, [row[::-1] for row in told]),
        (nothing, nothing, [(None, None)] * 3),
    ):
        found = differing(compare, base, test)
        assert {row[2:] for row in found.values()} == {("none", None)}
        assert [found[name][:2] for name in ("gpu", "world_size", "activities")] == of_two


def test_what_one_side_tells_of_lost_events_is_a_reason(compare):
    for base, test in (({"lost": None}, {"lost": 2}), ({"lost": 2}, {"lost": None})):
        values = [
            f"0 incomplete{'' if side['lost'] is None else ', 4 events lost'}"
            for side in (base, test)
        ]
        assert differing(compare, base, test) == {"traces": (*values, "weakens", LOST)}


def test_gpus_of_all_ranks(compare):
    """Those of each side, each once: two nodes with different ones are as two others alike."""

    def nodes(job, *gpus):
        tables = [tables_of(job, gpu=gpu, ranks=[rank]) for rank, gpu in enumerate(gpus)]
        return {table: sum((one[table] for one in tables), []) for table in tables[0]}

    fill(compare, nodes("a", "H100", "A100", None), nodes("b", "A100", "A100", "H100"))
    assert rows_of(compare)[0] == ("gpu", "A100, H100", "A100, H100", "none", None)
    fill(compare, nodes("a", "H100", "A100"), nodes("b", "H100", "H100"))
    assert rows_of(compare)[0] == (
        "gpu",
        "A100, H100",
        "H100",
        "prevents",
        "they ran on different GPUs",
    )


def test_a_side_and_itself(compare):
    fill(compare, tables_of("a", frames=["f"]))
    for parameters in (
        {},
        {"base_job": "a"},
        {"base_job": "a", "test_job": "a"},
        {"base_ranks": [1], "test_ranks": [1]},
    ):
        rows = rows_of(compare, **parameters)
        assert len(rows) == 8
        assert {(base == test, effect, reason) for _, base, test, effect, reason in rows} == {
            (True, "none", None)
        }


def test_jobs_are_the_first_and_the_last_unless_named(compare):
    fill(compare, *(tables_of(job, gpu=job.upper()) for job in ("m", "a", "z")))
    chosen = {}
    for base in (None, "m", "z"):
        for test in (None, "a", "m"):
            chosen[base, test] = rows_of(compare, base_job=base, test_job=test)[0][1:3]
    assert chosen == {
        (None, None): ("A", "Z"),
        (None, "a"): ("A", "A"),
        (None, "m"): ("A", "M"),
        ("m", None): ("M", "Z"),
        ("m", "a"): ("M", "A"),
        ("m", "m"): ("M", "M"),
        ("z", None): ("Z", "Z"),
        ("z", "a"): ("Z", "A"),
        ("z", "m"): ("Z", "M"),
    }


def test_ranks_and_steps_choose(compare):
    job = tables_of("a", ranks=[0, 1, 2])
    job["traces"][2] |= {"device_name": "A100", "status": "truncated"}
    for row in job["host_ops"]:
        if row["rank"] == 2 and row["step"] == 3 and "mm" in row["name"]:
            row["input_dims"] = "[[5]]"
    fill(compare, job)

    def rows(**parameters):
        return {row[0]: row[1:] for row in rows_of(compare, **parameters)}

    found = rows(base_ranks=[0, 1], test_ranks=[2])
    assert found["gpu"][:3] == ("H100", "A100", "prevents")
    assert found["activities"][:3] == ("20", "10", "none")
    assert found["shapes"][:3] == ("12", "6", "none")
    assert found["ranks"][:3] == ("2", "1", "weakens")
    assert found["traces"] == (
        "0 incomplete, 0 events lost",
        "1 incomplete, 0 events lost",
        "weakens",
        LOST,
    )

    found = rows(base_ranks=[0], test_ranks=[1], base_steps=[1, 2], test_steps=[3])
    assert found["steps"] == ("2", "1", "weakens", FEW_STEPS)
    assert found["shapes"][:3] == ("4", "2", "none")
    # Of rank 2's step 3, mm is another, add is not: half. Beside mm alone it is less.
    mm = rows(base_ranks=[2], test_ranks=[0], base_steps=[3])
    assert mm["shapes"][:3] == ("2", "6", "none")
    only_mm = {
        table: [row for row in job[table] if row.get("name") != "aten::add"] for table in job
    }
    fill(compare, only_mm)
    assert rows(base_ranks=[2], test_ranks=[0])["shapes"][:3] == ("3", "3", "none")
    assert rows(base_ranks=[2], test_ranks=[0], base_steps=[3])["shapes"][2] == "prevents"
    # Steps that are not there are none.
    found = rows(base_steps=[99])
    assert found["steps"] == ("0", "3", "prevents", ONE_WITH_STEPS)
    assert rows(base_steps=[99], test_steps=[99])["steps"] == ("0", "0", "weakens", NO_STEPS)


def test_a_rank_that_is_not_there_is_no_side(compare):
    fill(compare, tables_of("a"))
    assert rows_of(compare, base_ranks=[7]) == rows_of(compare, test_ranks=[]) == []


def test_an_unknown_job(compare):
    fill(compare, tables_of("a"))
    for parameters in (
        {"base_job": "before"},
        {"test_job": "before"},
        {"base_job": "a", "test_job": "before"},
    ):
        with pytest.raises(duckdb.Error, match="no job 'before' in the archive"):
            compare.run("comparability", **parameters)


def test_nothing_at_all(compare):
    compare.fill()
    assert rows_of(compare) == rows_of(compare, base_job="a", base_steps=[1]) == []


def test_the_order_of_rows_does_not_matter(compare):
    jobs = (
        tables_of("a", ops=["mm 4", "add 8", "x"], frames=["f"]),
        tables_of("b", ops=["mm 4", "add 4"], steps=[1, 2], gpu="A100", ranks=[0, 2]),
    )
    fill(compare, *jobs)
    wanted = rows_of(compare)
    for seed in range(3):
        rng = random.Random(seed)
        fill(
            compare,
            *(
                {table: rng.sample(rows, len(rows)) for table, rows in job.items()}
                for job in rng.sample(jobs, 2)
            ),
        )
        assert rows_of(compare) == wanted
