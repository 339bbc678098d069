"""memory_timeline, as drawn."""

import json

import pytest
from queries.memory import PEAK, TIMELINE, memory, shown, step

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
