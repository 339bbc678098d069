"""The outermost span of a thread: which spans say nothing about a gap, and which do."""

import pytest
from queries.idle_reasons import HEAD, drawn, gap, names

GAP = gap(20, 30, (30, 30))
# The activities of all drawings here run from 15 to 35.


@pytest.mark.parametrize(
    "name",
    [
        "train.py(1): <module>",
        "<string>(1): <module>",
        "/usr/lib/python3.11/runpy.py(86): _run_code",
        "runpy.py(198): _run_module_as_main",
        "threading.py(1002): _bootstrap",
        "/lib/threading.py(975): run",
        "multiprocessing/process.py(314): _bootstrap",
        "/lib/multiprocessing/spawn.py(122): spawn_main",
    ],
)
def test_entry_frames(gpu, name):
    """They are left out where they stand above all else, however long they are."""
    entry = drawn(f"""
     [================) python_function {name}
      [==============)  python_function train.py(9): load
    """)
    load = "train.py(9): load"
    assert names(gpu, GAP, entry) == {name: None, load: load, None: None}
    inside = drawn(f"""
     [================) python_function train.py(9): load
      [==============)  python_function {name}
    """)
    outer = names(gpu, GAP, inside)
    assert outer[name] == "train.py(9): load"


@pytest.mark.parametrize(
    ("cat", "name"),
    [
        ("python_function", "mythreading.py(3): run"),
        ("python_function", "threading.py(320): wait"),
        ("python_function", "concurrent/futures/thread.py(58): run"),
        ("python_function", "train.py(3): main"),
        ("user_annotation", "train.py(1): <module>"),
        ("cpu_op", "ProfilerStep"),
        ("user_annotation", "ProfilerStep#"),
        ("python_function", "ProfilerStep#3"),
    ],
)
def test_no_entry_frames(gpu, cat, name):
    ops = drawn(f"                     [===) {cat} {name}")
    shown = name.replace("#3", "")
    assert names(gpu, GAP, ops) == {shown: shown, None: None}


def test_steps_and_what_calls_them(gpu):
    # 0    5    10   15   20   25   30   35   40
    #                     ..........              gap from 20 to 30, in step 2
    ops = drawn("""
 [=====================================)         python_function train.py(1): main
  [===================================)          python_function train.py(5): loop
   [============)                                user_annotation ProfilerStep#1
                   [=============)               user_annotation ProfilerStep#2
                    [========)                   python_function model.py(4): forward
                      [====)                     cpu_op aten::mm
                             [)                  python_function train.py(7): log
""")
    assert names(gpu, GAP, ops) == {
        "model.py(4): forward": "model.py(4): forward",
        "aten::mm": "model.py(4): forward",
        "train.py(7): log": "train.py(7): log",
    }


def test_a_step_is_called_only_if_it_is_inside(gpu):
    """A function that is as long as a step, but around none; one with a step of another thread."""
    ops = drawn("""
 [============)                     user_annotation ProfilerStep#1
                  [==============)  python_function train.py(5): validate
                    [====)          cpu_op aten::mm
""")
    ops += [
        op | {"tid": "2", "event_id": 9}
        for op in drawn("                         [==) user_annotation ProfilerStep#1")
    ]
    outer = names(gpu, GAP, ops)
    assert outer == {
        name: "train.py(5): validate" for name in ("aten::mm", "train.py(5): validate")
    }


def test_steps_in_steps(gpu):
    ops = drawn("""
 [=================================)  user_annotation ProfilerStep#1
  [===============================)   user_annotation ProfilerStep#1
                    [====)            cpu_op aten::mm
""")
    assert names(gpu, GAP, ops) == {"aten::mm": "aten::mm", "ProfilerStep": None}


def test_a_function_that_is_open_during_all_activities(gpu):
    # 0    5    10   15   20   25   30   35   40
    #                [====)         [====)    activities
    whole = """
               [====================)  python_function train.py(1): main
                [================)     python_function train.py(9): work
                    [====)             cpu_op aten::mm
"""
    whole = whole.replace("[====================)  p", "[===================)   p")
    assert names(gpu, GAP, drawn(whole)) == {
        "aten::mm": "train.py(9): work",
        "train.py(9): work": "train.py(9): work",
    }
    for shorter in (
        whole.replace("[===================) ", "[==================)  "),
        whole.replace("[===================) ", " [==================) "),
        whole.replace("python_function train.py(1)", "user_annotation train.py(1)"),
    ):
        outer = names(gpu, GAP, drawn(shorter))
        assert outer["aten::mm"] == "train.py(1): main"


def test_activities_of_all_devices_count(gpu):
    """The function is open during all activities of device 0, but not of device 1."""
    ops = drawn("               [====================) python_function train.py(1): main")
    assert names(gpu, GAP, ops) == {"train.py(1): main": None}
    later = GAP + gap(50, 51, (51, 51), device=1).splitlines()[1]
    assert names(gpu, later, ops)["train.py(1): main"] == "train.py(1): main"


def test_time_in_a_data_loader(gpu):
    loader = "/lib/torch/utils/data/dataloader.py"
    ops = drawn(f"""
                 [=)               python_function {loader}(701): __init__
                    [=====)        user_annotation enumerate(DataLoader)#_Iter.__next__
                     [==)          python_function {loader}(630): __next__
                      [)           cpu_op aten::stack
                          [==)     python_function {loader}(630): _next_data
                             [==)  python_function mydataloader.py(630): __next__
""")
    gpu.fill(f"{HEAD}\n{GAP}", ops)
    gpu.con.execute("CREATE OR REPLACE TEMP TABLE parts AS FROM device_idle(NULL, NULL, NULL, 0)")
    rows = gpu.con.execute(
        "SELECT h.name, s.is_loading, s.first_ns, s.segment_ns "
        "FROM idle_segments(parts, NULL, NULL) AS s "
        "LEFT JOIN host_ops AS h ON h.event_id = s.host_event_id ORDER BY s.first_ns"
    ).fetchall()
    assert rows == [
        ("enumerate(DataLoader)#_Iter.__next__", True, 20, 3),
        (f"{loader}(630): __next__", True, 21, 2),
        ("aten::stack", True, 22, 1),
        (f"{loader}(630): _next_data", True, 26, 3),
        ("mydataloader.py(630): __next__", False, 29, 1),
    ]
