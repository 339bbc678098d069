"""Cases of comparability: every row, every effect, and what is no reason."""

import random

import duckdb
import pytest

# What is compared, in order, of two jobs that do the same.
ALIKE = [
    ("gpu", "H100", "H100", "none", None),
    ("world_size", "8", "8", "none", None),
    ("activities", "20", "20", "none", None),
    ("steps", "3", "3", "none", None),
    ("shapes", "12", "12", "none", None),
    ("ranks", "2", "2", "none", None),
    ("stacks", "0", "0", "none", None),
    ("traces", "0 incomplete, 0 events lost", "0 incomplete, 0 events lost", "none", None),
]
NO_STEPS = "without steps, counts and times depend on how long was recorded"
FEW_STEPS = "less than three steps hardly tell how much a step varies"
ONE_WITH_STEPS = "only one of them has steps (ProfilerStep annotations)"
ONE_WITH_SHAPES = "only one of them has the shapes of inputs (record_shapes)"
LOST = "some of the traces could not be read whole"


def tables_of(
    job,
    gpu="H100",
    world_size=8,
    ranks=(0, 1),
    steps=(1, 2, 3),
    ops=("mm 4", "add 4"),
    frames=(),
    activities=10,
    status="complete",
    lost=0,
):
    """Rows of a job: in each step of each rank, or outside of steps, `ops` and `frames`.

    An op is its name and, unless they were not recorded, its shapes; `mm 4` has [[4]].
    """
    traces = [
        {
            "job": job,
            "rank": rank,
            "device_name": gpu,
            "world_size": world_size,
            "status": status,
            "gpu_activity_count": activities,
            "quarantined_count": lost,
        }
        for rank in ranks
    ]
    host_ops = []
    for rank in ranks:
        for step in steps or [None]:
            of_step = {"job": job, "rank": rank, "step": step, "start_ns": 100 * (step or 0)}
            if steps:
                host_ops.append(
                    of_step
                    | {"cat": "user_annotation", "dur_ns": 90, "name": f"ProfilerStep#{step}"}
                )
            for op in ops:
                name, *size = op.split()
                host_ops.append(
                    of_step
                    | {
                        "name": f"aten::{name}",
                        "dur_ns": 5,
                        "input_dims": f"[[{size[0]}]]" if size else None,
                    }
                )
            host_ops += [
                of_step | {"cat": "python_function", "name": frame, "dur_ns": 9} for frame in frames
            ]
    return {"traces": traces, "host_ops": host_ops}


def fill(compare, *jobs):
    compare.fill(**{table: sum((job[table] for job in jobs), []) for table in jobs[0]})


def rows_of(compare, **parameters):
    assert compare.broken_promises("comparability", **parameters) == []
    return [tuple(row.values()) for row in compare.run("comparability", **parameters)]


def differing(compare, base, test, **parameters):
    """Rows by name of jobs a and b, of those that are not as if both were alike."""
    fill(compare, tables_of("a", **base), tables_of("b", **test))
    rows = rows_of(compare, **parameters)
    assert [row[0] for row in rows] == [row[0] for row in ALIKE]
    return {row[0]: row[1:] for row in rows if row not in ALIKE}


def test_two_that_do_the_same(compare):
    assert differing(compare, {}, {}) == {}
    assert rows_of(compare) == ALIKE


@pytest.mark.parametrize(
    "name, base, test, row",
    [
        ("gpu", {}, {"gpu": "A100"}, ("H100", "A100", "prevents", "they ran on different GPUs")),
        (
            "world_size",
            {},
            {"world_size": 16},
            ("8", "16", "prevents", "the programs have different numbers of ranks"),
        ),
        (
            "activities",
            {},
            {"activities": 0},
            ("20", "0", "prevents", "only one of them has GPU activities"),
        ),
        # Less of them is what is to be compared, and no reason.
        ("activities", {}, {"activities": 1}, ("20", "2", "none", None)),
        (
            "activities",
            {"activities": 0},
            {},
            ("0", "20", "prevents", "only one of them has GPU activities"),
        ),
        (
            "stacks",
            {},
            {"frames": ["f", "g"]},
            (
                "0",
                "12",
                "weakens",
                "only one was recorded with Python's stacks (with_stack), which slows the host",
            ),
        ),
        ("stacks", {"frames": ["f"]}, {"frames": ["f", "g"]}, ("6", "12", "none", None)),
        (
            "traces",
            {},
            {"lost": 2},
            ("0 incomplete, 0 events lost", "0 incomplete, 4 events lost", "weakens", LOST),
        ),
        (
            "traces",
            {"status": "truncated"},
            {},
            ("2 incomplete, 0 events lost", "0 incomplete, 0 events lost", "weakens", LOST),
        ),
    ],
)
def test_one_thing_is_different(compare, name, base, test, row):
    assert differing(compare, base, test) == {name: row}


@pytest.mark.parametrize(
    "base, test, row",
    [
        ([1, 2, 3], [7, 8, 9, 10], ("3", "4", "none", None)),
        ([1, 2, 3], [1, 2], ("3", "2", "weakens", FEW_STEPS)),
        ([1], [1, 2, 3], ("1", "3", "weakens", FEW_STEPS)),
        ([1, 2, 3], [], ("3", "0", "prevents", ONE_WITH_STEPS)),
        ([], [1], ("0", "1", "prevents", ONE_WITH_STEPS)),
        ([], [], ("0", "0", "weakens", NO_STEPS)),
    ],
)
def test_steps(compare, base, test, row):
    wanted = {} if row in [known[1:] for known in ALIKE] else {"steps": row}
    found = differing(compare, {"steps": base}, {"steps": test})
    found.pop("shapes", None)  # as many of them as there are steps
    assert found == wanted


@pytest.mark.parametrize(
    "base, test, row",
    [
        # Half of a side's calls, and all of them, are enough.
        (["mm 4", "add 4"], ["mm 4", "add 8"], ("12", "12", "none", None)),
        (
            ["mm 4"],
            ["mm 4", "add 4", "add 8"],
            (
                "6",
                "18",
                "prevents",
                "only 33 % of the operators of one ran on shapes that the other has",
            ),
        ),
        (["mm 4"], ["mm 4", "add 4"], ("6", "12", "none", None)),
        (
            ["mm 4", "add 4", "add 8"],
            ["mm 4"],
            (
                "18",
                "6",
                "prevents",
                "only 33 % of the operators of one ran on shapes that the other has",
            ),
        ),
        (
            ["mm 4", "add 4"],
            ["mm 8", "add 8"],
            (
                "12",
                "12",
                "prevents",
                "only 0 % of the operators of one ran on shapes that the other has",
            ),
        ),
        # The shapes of another operator are no counterpart.
        (
            ["mm 4"],
            ["add 4"],
            (
                "6",
                "6",
                "prevents",
                "only 0 % of the operators of one ran on shapes that the other has",
            ),
        ),
        (["mm", "add"], ["mm 4"], ("0", "6", "weakens", ONE_WITH_SHAPES)),
        (["mm 4"], ["mm"], ("6", "0", "weakens", ONE_WITH_SHAPES)),
        (["mm"], ["add"], ("0", "0", "none", None)),
        # Calls without shapes beside some with them: only those tell.
        (["mm 4", "x", "y", "z"], ["mm 4"], ("6", "6", "none", None)),
        # Of a trace of the device alone.
        ([], ["mm 4"], ("0", "6", "prevents", "only one of them has operators")),
        (["mm 4"], [], ("6", "0", "prevents", "only one of them has operators")),
    ],
)
def test_shapes(compare, base, test, row):
    found = differing(compare, {"ops": base}, {"ops": test})
    assert found == ({} if ("shapes", *row) in ALIKE else {"shapes": row})


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
