"""memory_peak, as drawn; steps and selections."""

import pytest
from queries.memory import PEAK, TIMELINE, memory, shown, step


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
