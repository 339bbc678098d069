"""What the host did in gaps of the device."""

import pytest
from queries.idle import GAPS, placed
from queries.small_tables import completed


def host_at(gpu, ops, instants, launch="9 0 1 1"):
    """event_id of what the host does at each instant: each is the middle of a device's gap."""
    gpu.fill(
        "\n".join(
            [
                "device start_ns end_ns launch_id launch_start_ns launch_pid launch_tid",
                *(
                    f"{device} {at - 100} {at - 2} - - - - \n {device} {at + 2} {at + 3} {launch}"
                    for device, at in enumerate(instants)
                ),
            ]
        ),
        ops,
    )
    rows = gpu.run(GAPS)
    assert [row["start_ns"] + row["gap_ns"] // 2 for row in rows] == list(instants)
    names = {op["event_id"]: op["name"] for op in ops} | {None: None}
    assert [row["host_name"] for row in rows] == [names[row["host_event_id"]] for row in rows]
    return [row["host_event_id"] for row in rows]


def drawn(text, scale=1, offset=0, **more):
    """Host operations of one thread: each line `name [==)` with its start and end as drawn."""
    ops = []
    for line in text.strip("\n").splitlines():
        start, end = line.index("["), line.index(")")
        ops.append(
            completed(
                "host_ops",
                {
                    "name": line[end + 1 :].strip(),
                    "start_ns": offset + scale * start,
                    "end_ns": offset + scale * end,
                }
                | more,
                len(ops),
            )
        )
    return placed(ops)


def answers(gpu, ops, until, scale=1, offset=0):
    """The innermost name at each instant drawn, `.` where nothing is open; one letter each.

    Asked for in three calls, so that some spans have no middle near in some of them.
    """
    names = {op["event_id"]: op["name"] for op in ops} | {None: "."}
    found = {}
    for first in range(3):
        instants = [offset + scale * at for at in range(first, until, 3)]
        found |= zip(instants, host_at(gpu, ops, instants), strict=True)
    return "".join(names[found[at]] for at in sorted(found))


# The query tells spans up to 2^16 ns long from others, and where 2^16 divides time.
SCALES = pytest.mark.parametrize(
    ("scale", "offset"), [(1, 0), (1, 65_530), (20_000, 3), (70_000, 1_712_151_111_631_234_567)]
)


@SCALES
def test_innermost(gpu, scale, offset):
    """Half-open; after a child's end it is the caller, not the child's child or neighbour."""
    ops = drawn(
        """
 [=============)  a
  [====)          b
   [==)           c
         [===)    d
""",
        scale,
        offset,
    )
    assert answers(gpu, ops, 17, scale, offset) == ".abcccbaaddddaa.."


@SCALES
def test_ends_and_begins_at_one_instant(gpu, scale, offset):
    """The outermost end and the innermost begin count, in whatever order the ids are."""
    ops = drawn(
        """
     [==)                    f
   [====)                    e
   [====)                    d
  [=========)                c
 [============)              b
[=============)              a
              [======)       g
                [====)       h
                 [===)       i
                     [=)     j
                     [===)   k
""",
        scale,
        offset,
    )
    assert answers(gpu, ops, 27, scale, offset) == "abcddfffccccbbgghiiiijjkk.."


@SCALES
def test_spans_that_cross(gpu, scale, offset):
    """x crosses b and c, y crosses x: who was crossed does not come back, nor its callers end."""
    ops = drawn(
        """
[=====================)     a
 [=======)                  b
  [=====)                   c
     [=======)              x
           [=======)        y
""",
        scale,
        offset,
    )
    assert [op["cut_ns"] is not None for op in ops] == [False, True, True, True, False]
    assert answers(gpu, ops, 24, scale, offset) == "abcccxxxxxxyyyyyyyyaaa.."


def test_of_no_length_is_never_open(gpu):
    ops = placed(
        [
            completed("host_ops", {"name": name, "start_ns": start, "dur_ns": dur}, at)
            for at, (name, start, dur) in enumerate([("a", 1, 4), ("b", 3, 0), ("c", 5, 0)])
        ]
    )
    assert answers(gpu, ops, 7) == ".aaaa.."


def test_only_the_launching_thread(gpu):
    ops = [
        op | {"event_id": at, "pid": pid, "tid": tid, "rank": rank, "job": job}
        for at, (pid, tid, rank, job) in enumerate(
            [
                ("1", "1", 0, "j"),
                ("1", "2", 0, "j"),
                ("2", "1", 0, "j"),
                (None, "1", 0, "j"),
                (None, None, 0, "j"),
                ("1", "1", 1, "j"),
                ("1", "1", 0, "other"),
            ]
        )
        for op in drawn("[====)  a")
    ]
    for at, launch in enumerate(["9 0 1 1", "9 0 1 2", "9 0 2 1", "9 0 - 1", "9 0 - -"]):
        assert host_at(gpu, ops, [3], launch=launch) == [at]
    assert host_at(gpu, ops, [3], launch="9 0 5 1") == [None]
    assert host_at(gpu, ops, [3], launch="- - - -") == [None]
    assert host_at(gpu, [], [3]) == [None]


def test_ids_of_other_ranks_give_no_names(gpu):
    ops = """
        job  rank  event_id  name  start_ns  end_ns  depth
        j    0     1         a     0         9       0
        j    1     1         b     0         9       0
        k    1     1         c     0         9       0
    """
    gpu.expect(
        GAPS,
        """
        job  rank  host_event_id  host_name
        j    0     1              a
        j    1     1              b
        k    1     1              c
    """,
        ops=ops,
        activities="""
        job  rank  event_id  start_ns  end_ns  launch_id  launch_start_ns  launch_pid  launch_tid
        j    0     8         0         1       -          -                -           -
        j    0     9         4         5       1          3                1           1
        j    1     8         0         1       -          -                -           -
        j    1     9         4         5       1          3                1           1
        k    1     8         0         1       -          -                -           -
        k    1     9         4         5       1          3                1           1
    """,
    )


def test_any_host_operation_and_the_middle_rounded_down(gpu):
    # gap from 3 to 8: the middle is 5
    # 0    5
    #     [)       cudaEventSynchronize
    #      [)      python
    gpu.expect(
        GAPS,
        """
        start_ns  gap_ns  host_event_id  host_name
        3         5       21             loader.py
    """,
        activities="""
        start_ns  end_ns  launch_id  launch_start_ns  launch_pid  launch_tid
        0         3       -          -                -           -
        8         9       9          1                1           1
    """,
        ops="""
        event_id  cat              name                  start_ns  end_ns  depth
        20        cuda_runtime     cudaEventSynchronize  4         5       0
        21        python_function  loader.py             5         6       0
    """,
    )
