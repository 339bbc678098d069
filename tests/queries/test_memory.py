"""Drawn and random cases of memory_timeline and memory_peak."""

import json
import random

import pytest
from queries import brute_memory
from queries.brute_sequences import place
from queries.small_tables import completed
from seeds import seeds

TIMELINE, PEAK = "memory_timeline", "memory_peak"
SEEDS = range(4)
JOBS = 25  # in one table, so that a few hundred small cases cost a few dozen calls
UNIX = 1_776_115_350_000_000_000


def memory(at_ns, bytes_=0, allocated=None, reserved=None, device=0, device_type=1, **more):
    """An instant, as Kineto writes it."""
    args = {
        "Total Reserved": reserved,
        "Total Allocated": allocated,
        "Bytes": bytes_,
        "Addr": 5,
        "Device Id": device,
        "Device Type": device_type,
        "Ev Idx": 1,
    }
    told = {name: value for name, value in args.items() if value is not None}
    return {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": "1",
        "tid": "1",
        "start_ns": at_ns,
        "args": json.dumps(told),
    } | more


def step(number, start, end, **more):
    return {
        "cat": "user_annotation",
        "name": f"ProfilerStep#{number}",
        "start_ns": start,
        "end_ns": end,
        "depth": 0,
    } | more


def shown(host, query, *columns, **parameters):
    """These columns of a result, whose promises hold."""
    rows = [tuple(row[column] for column in columns) for row in host.run(query, **parameters)]
    assert host.broken_promises(query, **parameters) == []
    return rows


CHANGES = [
    # +4  +2   -3                 +1  -4
    memory(10, 4, 4, 20),
    memory(14, 2, 6, 20),
    memory(19, -3, 3, 30),
    memory(47, 1, 4, 30),
    memory(51, -4, 0, 10),
]


def test_timeline(host):
    host.fill(events=CHANGES)
    assert host.run(TIMELINE) == [
        {
            "job": "j",
            "rank": 0,
            "device": 0,
            "device_type": 1,
            "at_ns": at_ns,
            "allocated_bytes": allocated,
            "reserved_bytes": reserved,
            "change_bytes": change,
            "change_count": 1,
        }
        for at_ns, allocated, reserved, change in [
            (10, 4, 20, 4),
            (14, 6, 20, 2),
            (19, 3, 30, -3),
            (47, 4, 30, 1),
            (51, 0, 10, -4),
        ]
    ]


@pytest.mark.parametrize(
    ("bucket_ns", "expected"),
    [
        (16, [(0, 6, 20, 6, 2), (16, 3, 30, -3, 1), (32, 4, 30, 1, 1), (48, 0, 10, -4, 1)]),
        (20, [(0, 6, 30, 3, 3), (40, 4, 30, -3, 2)]),
        (10**12, [(0, 6, 30, 0, 5)]),
        (2**63 - 1, [(0, 6, 30, 0, 5)]),
    ],
)
def test_buckets(host, bucket_ns, expected):
    host.fill(events=CHANGES)
    assert (
        shown(
            host,
            TIMELINE,
            "at_ns",
            "allocated_bytes",
            "reserved_bytes",
            "change_bytes",
            "change_count",
            bucket_ns=bucket_ns,
        )
        == expected
    )


def test_buckets_before_1970(host):
    host.fill(events=[memory(-21, 1, 1), memory(-20, 1, 2), memory(-1, 1, 3), memory(0, 1, 4)])
    assert shown(host, TIMELINE, "at_ns", "allocated_bytes", bucket_ns=20) == [
        (-40, 1),
        (-20, 3),
        (0, 4),
    ]


def test_at_one_instant_the_last_in_the_file_counts(host):
    host.fill(
        events=[
            memory(10, 5, 5, 20, event_id=3),
            memory(10, -4, 1, 30, event_id=7),
            memory(10, 9, 9, None, event_id=5),
            memory(9, 1, 1, 20, event_id=9),
        ]
    )
    columns = "at_ns", "allocated_bytes", "reserved_bytes", "change_bytes", "change_count"
    assert shown(host, TIMELINE, *columns) == [(9, 1, 20, 1, 1), (10, 1, 30, 10, 3)]
    # In a bucket, and for the peak, the most counts, though it lasts no time.
    assert shown(host, TIMELINE, *columns, bucket_ns=1) == [(9, 1, 20, 1, 1), (10, 9, 30, 10, 3)]
    assert shown(host, PEAK, "peak_allocated_bytes", "event_id") == [(9, 5)]


def test_devices(host):
    """The CPU is -1, also where the trace numbers it; of one number, types are apart."""
    host.fill(
        events=[
            memory(10, 1, 1, 0, -1, 0),
            memory(11, 1, 2, 0, 0, 0),
            memory(10, 1, 3, 8, 0, 1),
            memory(10, 1, 4, 8, 0, 20),
            memory(10, 1, 5, 8, 1, 1),
            memory(10, 1, 6, 8, None, None),
        ]
    )
    assert shown(host, TIMELINE, "device", "device_type", "at_ns", "allocated_bytes") == [
        (-1, 0, 10, 1),
        (-1, 0, 11, 2),
        (0, 1, 10, 3),
        (0, 20, 10, 4),
        (1, 1, 10, 5),
        (None, None, 10, 6),
    ]
    columns = "device", "device_type", "peak_allocated_bytes", "unallocated_at_peak_bytes"
    assert shown(host, PEAK, *columns) == [
        (-1, 0, 2, None),
        (0, 1, 3, 5),
        (0, 20, 4, 4),
        (1, 1, 5, 3),
        (None, None, 6, 2),
    ]


@pytest.mark.parametrize(
    "more", [{"name": "[OutOfMemory]"}, {"name": None}, {"ph": "X", "dur_ns": 0}, {"ph": "C"}]
)
def test_other_events_are_none(host, more):
    host.fill(events=[memory(10, 1, 1, 1, **more)])
    assert host.run(TIMELINE) == host.run(PEAK) == []


def test_totals_that_are_not_told_are_not_guessed(host):
    host.fill(events=[memory(10, 5), memory(12, -3)])
    columns = "at_ns", "allocated_bytes", "reserved_bytes", "change_bytes"
    assert shown(host, TIMELINE, *columns) == [(10, None, None, 5), (12, None, None, -3)]
    assert shown(host, TIMELINE, *columns, bucket_ns=10) == [(10, None, None, 2)]
    [row] = host.run(PEAK)
    assert {column for column in row if row[column] is not None} == {
        "job",
        "rank",
        "device",
        "device_type",
    }
    assert host.broken_promises(PEAK) == []


@pytest.mark.parametrize(
    "args",
    [
        None,
        "",
        "{broken",
        "[1, 2]",
        "5",
        "null",
        '"Bytes"',
        "{}",
        '{"Bytes": null}',
        '{"Bytes": {"a": 1}, "Total Allocated": [1], "Device Id": "zero", "Device Type": true}',
        '{"Total Allocated": 18446744073709551615, "Total Reserved": 1e999, "Bytes": NaN}',
    ],
)
def test_odd_arguments_are_no_error(host, args):
    host.fill(events=[memory(10) | {"args": args}])
    columns = "device", "allocated_bytes", "reserved_bytes", "change_bytes", "change_count"
    assert shown(host, TIMELINE, *columns) == [(None, None, None, None, 1)]
    assert shown(host, PEAK, "device", "peak_allocated_bytes") == [(None, None)]


def test_numbers_in_quotes_and_large_ones(host):
    args = {
        "Device Type": "1",
        "Device Id": "2",
        "Bytes": str(2**62),
        "Total Allocated": 2**63 - 1,
        "Total Reserved": str(2**63 - 1),
    }
    host.fill(
        events=[
            memory(10) | {"args": json.dumps(args)},
            memory(11) | {"args": json.dumps(args)},
            memory(30, 1, -(2**63), device=2),
        ],
        host_ops=[step(1, 0, 20), step(2, 20, 40)],
    )
    columns = "device", "allocated_bytes", "change_bytes"
    assert shown(host, TIMELINE, *columns, bucket_ns=20) == [(2, 2**63 - 1, None), (2, -(2**63), 1)]
    assert shown(host, PEAK, "peak_allocated_bytes", "growth_per_step_bytes") == [(2**63 - 1, None)]


def test_peak_and_what_the_thread_had_open(host):
    #              0         10        20        30
    # step#3       [========================================)
    # f               [=============================)
    # linear             [=============)
    # addmm                [====)
    # addmm                        [====)
    # instants        .      .       .     .
    host.fill(
        events=[
            memory(5, 5, 5, 40),
            memory(10, 10, 15, 40),
            memory(20, 10, 25, 30, event_id=77),
            memory(21, 0, 25, 40),
            memory(26, -20, 5, 60),
        ],
        host_ops="""
            event_id  cat              name            start_ns  end_ns  depth  tid
            1         user_annotation  ProfilerStep#3  0         40      0      1
            2         python_function  f               3         33      1      1
            3         cpu_op           aten::linear    6         21      2      1
            4         cpu_op           aten::addmm     8         13      3      1
            5         Operator         aten::addmm     17        22      3      1
            6         cuda_runtime     cudaMalloc      20        21      4      1
            7         cuda_runtime     cudaMalloc      18        20      4      1
            8         cpu_op           elsewhere       0         99      0      2
        """,
    )
    assert host.run(PEAK) == [
        {
            "job": "j",
            "rank": 0,
            "device": 0,
            "device_type": 1,
            "peak_allocated_bytes": 25,
            "at_ns": 20,
            "step": 3,
            "op": "aten::addmm",
            "op_stack": "aten::linear;aten::addmm",
            "host_stack": "ProfilerStep#3;f;aten::linear;aten::addmm;cudaMalloc",
            "event_id": 77,
            "op_id": 5,
            "peak_reserved_bytes": 60,
            "unallocated_at_peak_bytes": 5,
            "max_unallocated_bytes": 55,
            "growth_per_step_bytes": None,
        }
    ]
    assert host.broken_promises(PEAK) == []


def test_peak_where_nothing_is_open(host):
    host.fill(
        events=[memory(5, 5, 5), memory(6, 6, 6, device=1, tid=None), memory(7, 7, 7, device=2)],
        host_ops="""
            event_id  cat              name  start_ns  end_ns  depth  tid  cut_ns
            1         cpu_op           a     0         5       0      1    -
            2         cpu_op           b     6         9       0      1    7
            3         cpu_op           c     0         9       0      -    -
        """,
    )
    columns = "device", "op", "op_stack", "host_stack", "op_id"
    assert shown(host, PEAK, *columns) == [(n, None, None, None, None) for n in range(3)]


def test_peak_in_what_has_no_name_and_in_no_operator(host):
    host.fill(
        events=[memory(5, 5, 5), memory(5, 6, 6, device=1, tid="2")],
        host_ops="""
            event_id  cat              name  start_ns  end_ns  depth  tid
            1         cpu_op           a     0         9       0      1
            2         cpu_op           -     1         8       1      1
            3         python_function  f     0         9       0      2
        """,
    )
    assert shown(host, PEAK, "op", "op_stack", "host_stack", "op_id") == [
        (None, "a;", "a;", 2),
        (None, None, "f", None),
    ]


def test_the_first_of_equal_peaks(host):
    host.fill(
        events=[
            memory(9, 1, 7, event_id=4),
            memory(8, 1, 7, event_id=5),
            memory(8, 1, 7, event_id=3),
            memory(7, 1, 6, event_id=2),
        ]
    )
    assert shown(host, PEAK, "at_ns", "event_id") == [(8, 3)]


@pytest.mark.parametrize(
    ("reserved", "unallocated"), [(None, None), (0, None), (4, None), (5, 0), (6, 1)]
)
def test_unallocated(host, reserved, unallocated):
    host.fill(events=[memory(9, 5, 5, reserved)])
    assert shown(host, PEAK, "unallocated_at_peak_bytes", "max_unallocated_bytes") == [
        (unallocated, unallocated)
    ]


GROWING = [
    memory(5, 1, 100),
    memory(10, 1, 107),
    memory(15, 1, 200),
    memory(19, 1, 110),
    memory(20, 9, 300),
    memory(44, 1, 130),
    memory(45, 1, 131),
    memory(50, 1, 999),
]


@pytest.mark.parametrize(
    ("steps", "growth"),
    [
        ([], None),
        ([step(1, 0, 50)], None),
        # 110 at the first end, 130 or 131 at the last
        ([step(1, 0, 20), step(2, 20, 50)], 21),
        ([step(1, 0, 20), step(2, 20, 30), step(4, 40, 45)], 7),
        # of one step the marks may be several
        ([step(1, 0, 9), step(1, 10, 20), step(2, 20, 30), step(2, 20, 45)], 20),
        # nothing known at the first end
        ([step(1, 0, 5), step(2, 5, 50)], None),
        ([step(1, 0, 6), step(2, 6, 45)], 30),
        # nothing changes in the last step
        ([step(1, 0, 20), step(2, 20, 45), step(6, 50, 50)], 4),
        ([step(1, 15, 16), step(3, 16, 20)], -45),
    ],
)
def test_growth(host, steps, growth):
    host.fill(events=GROWING, host_ops=steps)
    assert shown(host, PEAK, "growth_per_step_bytes") == [(growth,)]


@pytest.mark.parametrize(("more", "growth"), [(1, 1), (-1, -1), (3, 2), (4, 2), (-4, -2)])
def test_growth_is_rounded_half_away_from_none(host, more, growth):
    host.fill(
        events=[memory(5, 1, 100), memory(25, 1, 100 + more)],
        host_ops=[step(1, 0, 10), step(3, 20, 30)],
    )
    assert shown(host, PEAK, "growth_per_step_bytes") == [(growth,)]


def test_steps_of_instants(host):
    # 1   [=========)    2 begins in it, 3 in that, 1 outlives both
    # 2      [===)
    # 3        [=)
    # 4                 [)  [)
    host.fill(
        events=[memory(at, 1, at) for at in range(20)],
        host_ops=[
            step(1, 1, 11),
            step(2, 4, 8),
            step(3, 6, 8),
            step(4, 14, 15),
            step(4, 17, 18),
            step(5, 2, 2),
            step(7, 12, 14),
            step(6, 12, 14),
        ],
    )
    of_step = {
        number: [at for (at,) in shown(host, TIMELINE, "at_ns", only_steps=[number])]
        for number in range(1, 8)
    }
    assert of_step == {
        1: [1, 2, 3, 8, 9, 10],
        2: [4, 5],
        3: [6, 7],
        4: [14, 17],
        5: [],
        6: [12, 13],
        7: [],
    }
    for number, ats in of_step.items():
        assert shown(host, PEAK, "at_ns", "step", only_steps=[number]) == [
            (at, number) for at in ats[-1:]
        ]
    assert shown(host, PEAK, "at_ns", "step") == [(19, None)]


def test_selection_comes_before_the_measuring(host):
    host.fill(
        events=[
            memory(5, 1, 9, 20, job="b"),
            memory(5, 1, 8, 20, rank=2),
            memory(5, 1, 7, 10),
            memory(15, 1, 6, 30),
            memory(25, 1, 4, 10),
            memory(35, 1, 90, 99),
        ],
        host_ops=[
            step(1, 0, 10),
            step(2, 10, 20),
            step(3, 20, 30),
            step(1, 0, 10, rank=2),
            {
                "cat": "cpu_op",
                "name": "a",
                "start_ns": 0,
                "end_ns": 18,
                "step": None,
                "depth": 1,
                "pid": "1",
                "tid": "1",
            },
        ],
    )
    columns = (
        "job",
        "rank",
        "at_ns",
        "peak_allocated_bytes",
        "peak_reserved_bytes",
        "max_unallocated_bytes",
        "growth_per_step_bytes",
        "op",
    )
    assert shown(host, PEAK, *columns) == [
        ("b", 0, 5, 9, 20, 11, None, None),
        ("j", 0, 35, 90, 99, 24, -2, None),
        ("j", 2, 5, 8, 20, 12, None, None),
    ]
    assert shown(host, PEAK, *columns, only_jobs=["j"], only_ranks=[0], only_steps=[2, 3]) == [
        ("j", 0, 15, 6, 30, 24, -2, "a")
    ]
    assert shown(host, PEAK, *columns, only_steps=[1, 2], only_ranks=[0]) == [
        ("j", 0, 5, 7, 30, 24, -1, "a")
    ]
    assert shown(host, TIMELINE, "job", "rank", "at_ns", only_jobs=["b"]) == [("b", 0, 5)]
    assert shown(host, TIMELINE, "job", "rank", "at_ns", only_ranks=[2]) == [("j", 2, 5)]
    assert shown(host, TIMELINE, "rank", "at_ns", only_steps=[1, 3]) == [(0, 5), (0, 25), (2, 5)]
    assert host.run(TIMELINE, only_steps=[]) == host.run(PEAK, only_steps=[]) == []


def test_nothing_at_all(host):
    host.fill()
    assert host.run(TIMELINE) == host.run(PEAK) == []


def random_tables(rng):
    events, ops = [], []
    for number in range(JOBS):
        base, scale = rng.choice([0, -30, UNIX]), rng.choice([1, 1, 900])
        ranks, tids = rng.choice([[0], [0, 1, 3]]), rng.choice([["1"], ["1", "2", None]])
        devices = rng.sample([(0, 1), (1, 1), (0, 6), (-1, 0), (3, 0), (None, 1)], 3)
        common = {"job": f"job{number}"}
        most, is_told = rng.choice([2, 50, 2**40]), rng.choice([0, 0.8, 1, 1])
        for _ in range(rng.choice([0, 5, 20, 60])):
            device, device_type = rng.choice(devices)
            allocated = rng.randint(0, most) if rng.random() < is_told else None
            reserved = rng.choice([None, 0, rng.randint(0, 2 * most)])
            events.append(
                common
                | memory(
                    base + scale * rng.randint(0, 60),
                    rng.randint(-most, most),
                    allocated,
                    reserved,
                    device,
                    device_type,
                    rank=rng.choice(ranks),
                    tid=rng.choice(tids),
                    name=rng.choice(["[memory]"] * 9 + ["[OutOfMemory]", "other"]),
                )
            )
        for _ in range(rng.choice([0, 9, 40, 80])):
            is_step = rng.random() < 0.3
            ops.append(
                common
                | {
                    "rank": rng.choice(ranks),
                    "tid": rng.choice(tids),
                    "cat": rng.choice(["user_annotation", "cpu_op"])
                    if is_step
                    else rng.choice(["cpu_op", "cpu_op", "python_function", "cuda_runtime"]),
                    "name": f"ProfilerStep#{rng.choice([1, 2, 3, 6])}"
                    if is_step
                    else rng.choice(["aten::empty", "aten::mm", "f", None]),
                    "start_ns": base + scale * rng.randint(0, 50),
                    "dur_ns": scale * rng.choice([0, 1, 3, 9, 30]),
                }
            )
    ops = [completed("host_ops", row, i) | {"cut_ns": None} for i, row in enumerate(ops)]
    place(ops)
    by_id = {op["event_id"]: op for op in ops}
    for op in ops:
        outer, op["depth"] = op, 0
        while outer["parent_id"] is not None:
            outer = by_id[outer["parent_id"]]
            op["depth"] += 1
    return [completed("events", row, i) for i, row in enumerate(events)], ops


def marks_of(ops):
    return [
        op | {"step": int(op["name"].split("#")[1])}
        for op in ops
        if (op["name"] or "").startswith("ProfilerStep#")
    ]


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_instants(host, seed):
    rng = random.Random(seed)
    events, ops = random_tables(rng)
    tables, marks = {"events": events, "host_ops": ops}, marks_of(ops)
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": [0, 3],
        "only_steps": rng.choice([[1], [1, 2], [2, 6]]),
    }
    for given in ({}, parameters, {"only_steps": [1, 3, 6]}):
        wanted = list(brute_memory.memory_peak(events, ops, marks, **given))
        host.compare(PEAK, wanted, tables, seed, **given)
        given = given | rng.choice([{}, {"bucket_ns": rng.choice([1, 7, 9000])}])
        wanted = list(brute_memory.memory_timeline(events, marks, **given))
        host.compare(TIMELINE, wanted, tables, seed, **given)


def test_random_instants_are_worth_it():
    """Every case that the queries have to tell apart comes up, most often."""
    peaks, lines = [], []
    for seed in SEEDS:
        events, ops = random_tables(random.Random(seed))
        marks = marks_of(ops)
        peaks += brute_memory.memory_peak(events, ops, marks)
        lines += brute_memory.memory_timeline(events, marks)
    for column in peaks[0]:
        if column not in ("job", "rank", "device_type"):
            assert sum(row[column] is None for row in peaks) > 2, column
            assert len({row[column] for row in peaks}) >= 4, column
    assert sum(";" in (row["op_stack"] or "") for row in peaks) > 2
    assert sum((row["growth_per_step_bytes"] or 0) < 0 for row in peaks) > 5
    assert sum(row["change_count"] > 1 for row in lines) > 50
    assert {row["device"] for row in lines} == {None, -1, 0, 1}
