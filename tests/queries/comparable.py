"""Two jobs that do the same."""

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


ONE_WITH_STEPS = "only one of them has steps"


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
