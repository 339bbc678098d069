"""hardware_counters: selection, arguments and odd rows."""

import pytest
from queries.counters import OPS, RANGES
from queries.plans import plan
from written_archives import write_archive

from hta_sql.archive import Archive


@pytest.mark.parametrize(
    ("only", "kept"),
    [
        ({}, [50, 50, 51]),
        ({"only_jobs": ["j"]}, [50, 50, 51]),
        ({"only_jobs": ["k"]}, []),
        ({"only_ranks": [1]}, []),
        # All ranges and launches are counted, whichever steps are selected.
        ({"only_steps": [1]}, [50, 50]),
        ({"only_steps": [2, 3]}, [51]),
        ({"only_steps": []}, []),
    ],
)
def test_selection(gpu, only, kept):
    gpu.fill(host_ops=OPS, events=RANGES)
    rows = gpu.run("hardware_counters", **only)
    assert [row["event_id"] for row in rows] == kept
    assert all(row["op_stack"] for row in rows)


def test_ranges_without_a_launch_are_in_no_step(gpu):
    gpu.fill(events=RANGES)
    assert len(gpu.run("hardware_counters")) == 3
    assert gpu.run("hardware_counters", only_steps=[1, 2]) == []


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ('{"a": 1, "b": -2.5, "c": 0}', {"a": 1, "b": -2.5, "c": 0}),
        ('{"a": "1", "b": true, "c": null, "d": [1], "e": {"f": 1}}', {}),
        ('{"a": NaN, "b": Infinity, "c": -Infinity, "d": 1e999, "e": 1}', {"e": 1}),
        (
            '{"a": 18446744073709551615, "b": 123456789012345678901234567890}',
            {"a": 2.0**64, "b": 123456789012345678901234567890.0},
        ),
        ('{"x.y/~0\\"$[0]": 1, "": 2, "0": 3}', {'x.y/~0"$[0]': 1, "": 2, "0": 3}),
        ('{"a": 1, "a": 2, "a": "3"}', {"a": 2}),
        ("{}", {}),
        ("[1, 2]", {}),
        ("5", {}),
        ("null", {}),
        ("{broken", {}),
        ("", {}),
        (None, {}),
    ],
)
def test_which_arguments_are_counters(gpu, args, found):
    gpu.fill(
        events=[
            {"event_id": 1, "cat": "cuda_profiler_range", "start_ns": 0, "dur_ns": 1, "args": args}
        ]
    )
    rows = gpu.run("hardware_counters")
    assert {row["counter"]: row["value"] for row in rows} == found
    assert len(rows) == len(found)


@pytest.mark.parametrize("ph", ["i", "b", "C"])
def test_only_spans(gpu, ph):
    gpu.fill(
        events=[
            {
                "event_id": 1,
                "ph": ph,
                "cat": "cuda_profiler_range",
                "start_ns": 0,
                "args": '{"n": 1}',
            }
        ]
    )
    assert gpu.run("hardware_counters") == []


def test_operators_without_a_name(gpu):
    ops = """
        event_id  cat           name              start_ns  end_ns  op_id
        8         cpu_op        -                 0         90      -
        9         cpu_op        mm                0         50      8
        1         cuda_runtime  cudaLaunchKernel  20        21      9
    """
    events = """
        event_id  cat                  start_ns  dur_ns  args
        50        cuda_profiler_range  5         1       {"n":1}
    """
    gpu.expect(
        "hardware_counters",
        """
        event_id  bottom_op  op_stack
        50        mm         ;mm
    """,
        ops=ops,
        events=events,
    )


def test_only_files_of_selected_ranks_are_read(tmp_path):
    spans = [
        {
            "rank": rank,
            "event_id": at,
            "start_ns": at,
            "dur_ns": 1,
            "ph": "X",
            "cat": "cuda_profiler_range",
            "args": '{"n": 1}',
        }
        for rank in range(4)
        for at in range(3)
    ]
    calls = [
        {
            "rank": rank,
            "event_id": at + 10,
            "start_ns": at,
            "dur_ns": 1,
            "cat": "cuda_runtime",
            "name": "cudaLaunchKernel",
        }
        for rank in range(4)
        for at in range(3)
    ]
    with Archive(write_archive(tmp_path / "archive", events=spans, host_ops=calls)) as archive:
        read = [
            node["extra_info"]["Scanning Files"].split("/")[0]
            for node in plan(archive.con, "FROM hardware_counters_v1(only_ranks := [1, 2])")
            if "File Filters" in node["extra_info"]
        ]
        assert read == ["2", "2"]
        assert archive.hardware_counters(only_ranks=[1, 2]).num_rows == 6


def test_nothing(gpu):
    gpu.expect(
        "hardware_counters",
        """
        job  rank  event_id  counter
    """,
        ops=OPS,
    )
