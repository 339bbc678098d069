"""Exact nanoseconds for every way in which Kineto has written time."""

import json
import random
from decimal import Decimal

import numpy as np
import pytest
from hand_written import ingested, rows, span, trace_text
from seeds import seeds

from hta_sql.ingestion.clock import as_written

BASE = 1_767_189_312_000_000_000
NOW_US = 1_712_195_495_519_689


def instants(texts: list[str], durations: list[str] | None = None, more: str = "") -> str:
    durations = durations or ["1.5"] * len(texts)
    return trace_text(
        f'{{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": {ts},'
        f' "dur": {dur}{more}}}'
        for ts, dur in zip(texts, durations, strict=True)
    )


def times(archive) -> list[tuple]:
    return rows(archive, "SELECT start_ns, dur_ns FROM events ORDER BY event_id")


def ns(text: str) -> int:
    return int(Decimal(text) * 1000)


def format_of(archive) -> tuple:
    return rows(archive, "SELECT time_format, base_ns FROM traces")[0]


@pytest.mark.parametrize("late", [False, True], ids=["base first", "base last"])
def test_relative_to_a_base(tmp_path, late):
    rng = random.Random(3)
    week_us = 7 * 86_400 * 10**6
    stamps = [
        f"{8 * 10**12 - rng.randrange(week_us)}.{rng.randrange(1000):03}" for _ in range(3000)
    ]
    text = instants(stamps)
    key = f'"baseTimeNanoseconds": {BASE}'
    text = (
        text.replace("\n  ]\n}", f"\n  ], {key}\n}}") if late else text.replace("{", f"{{{key},", 1)
    )
    archive = ingested(tmp_path, text)
    assert times(archive) == [(BASE + ns(stamp), 1500) for stamp in stamps]
    assert format_of(archive) == ("relative to base", BASE)


def test_since_1970_in_decimals(tmp_path):
    """Sixteen digits and three decimals: a double would lose the nanoseconds."""
    rng = random.Random(3)
    stamps = [f"{NOW_US + at * 1000}.{rng.randrange(1000):03}" for at in range(2000)]
    archive = ingested(tmp_path, instants(stamps))
    assert times(archive) == [(ns(stamp), 1500) for stamp in stamps]
    assert format_of(archive) == ("absolute, nanoseconds", 0)


@pytest.mark.parametrize("seed", seeds(20))
def test_the_nanoseconds_of_stamps_that_are_written_in_many_ways(seed):
    """Short and long ones side by side, so that one ends where another has digits."""
    rng = random.Random(seed)
    elements, stamps = [], []
    for _ in range(rng.randrange(60)):
        whole = rng.choice([0, 9, 10, 1000, NOW_US, NOW_US % 10**13])
        whole += rng.randrange(max(1, whole // 10))
        stamps.append(f"{whole}{rng.choice(['', '.5', '.25', '.125', '.000', '.007'])}")
        key = rng.choice(['"ts":', '"ts": ', '"a": 1,"ts":  '])
        behind = rng.choice(["", " ", ',"b":2'])
        elements.append("{" + key + stamps[-1] + behind + "}")
    text = np.frombuffer(",".join(elements).encode(), np.uint8)
    exact = np.array([ns(stamp) for stamp in stamps], np.int64)
    rounded = np.maximum(exact + rng.randrange(-400, 400), exact // 1000 * 1000)
    found = as_written(np.minimum(rounded, exact // 1000 * 1000 + 999), text)
    assert found.tolist() == exact.tolist()


@pytest.mark.parametrize(
    "text",
    [
        '{"ts":1.712195495519689e15}',
        '{"ts":1712195495519689.0015}',
        '{"ts":-1712195495519689.5}',
        '{"ts":1712195495519789.001}',
        '{"ts":171219549551968.9001}',
        '{"ts":1712195495519689.001',
        '{"ts":1712195495519689.001,"args":{"ts":1}}',
        "{}",
    ],
)
def test_stamps_that_take_a_parser(text):
    """Written in another way, cut, not near to what was read, or of an argument."""
    rounded = np.array([1_712_195_495_519_689_125], np.int64)
    assert as_written(rounded, np.frombuffer(text.encode(), np.uint8)) is None


@pytest.mark.parametrize("stamp", ["1712195495519689.001", "1712195495519689.9994", "1.7e15"])
def test_single_stamps_since_1970(tmp_path, stamp):
    archive = ingested(tmp_path, instants([stamp]))
    [(start_ns, _)] = times(archive)
    assert start_ns == round(Decimal(stamp) * 1000)


def test_since_1970_in_whole_microseconds(tmp_path):
    archive = ingested(tmp_path, instants([str(NOW_US), str(NOW_US + 7)], ["0", "3"]))
    assert times(archive) == [(NOW_US * 1000, 0), (NOW_US * 1000 + 7000, 3000)]
    assert format_of(archive) == ("absolute, microseconds", 0)


def test_stamps_as_text(tmp_path):
    stamps = [f"{NOW_US}.123", f"{NOW_US + 1}.007"]
    archive = ingested(tmp_path, instants([f'"{stamp}"' for stamp in stamps]))
    assert [start for start, _ in times(archive)] == [ns(stamp) for stamp in stamps]


def test_fractions_without_their_zeros(tmp_path):
    """March 2024: 123.5 meant 123.005 microseconds, and so for durations."""
    rng = random.Random(5)
    plan = [(NOW_US + at, rng.randrange(1000), rng.randrange(1000)) for at in range(500)]
    archive = ingested(
        tmp_path, instants([f"{us}.{a}" for us, a, _ in plan], [f"9.{b}" for _, _, b in plan])
    )
    assert times(archive) == [(us * 1000 + a, 9000 + b) for us, a, b in plan]
    assert format_of(archive) == ("absolute, unpadded nanoseconds", 0)


def test_short_durations_beside_padded_stamps(tmp_path):
    """Durations written again by another program say nothing of how stamps are written."""
    stamps = [f"{NOW_US + at}.{fraction}" for at, fraction in enumerate(["500", "120", "999"])]
    archive = ingested(tmp_path, instants(stamps, ["1.5", "2.25", "7"]))
    expected = [(ns(f"{NOW_US}.5"), 1500), (ns(f"{NOW_US + 1}.12"), 2250)]
    assert times(archive)[:2] == expected
    assert format_of(archive) == ("absolute, nanoseconds", 0)


@pytest.mark.parametrize("digits", [1, 2])
def test_numbers_of_few_digits_are_not_unpadded(tmp_path, digits):
    stamps = [f"{NOW_US + at}.{fraction:0{digits}}" for at, fraction in enumerate([5, 7, 9])]
    stamps += [f"{NOW_US + at}.{'50'[:digits]}" for at in range(9)]
    archive = ingested(tmp_path, instants(stamps))
    assert [start for start, _ in times(archive)] == [ns(stamp) for stamp in stamps]


def test_numbers_written_again_are_not_unpadded(tmp_path):
    """Another program drops trailing zeros, which reads the same but means something else."""
    rng = random.Random(5)
    values = [float(f"{rng.randrange(10)}.{rng.randrange(1000):03}") for _ in range(500)]
    stamps = [f"{NOW_US + at}.{json.dumps(v).split('.')[1]}" for at, v in enumerate(values)]
    archive = ingested(tmp_path, instants(stamps, [json.dumps(v) for v in values]))
    assert [start for start, _ in times(archive)] == [ns(stamp) for stamp in stamps]
    assert format_of(archive) == ("absolute, nanoseconds", 0)


def test_unknown_base(tmp_path):
    archive = ingested(tmp_path, instants(["12345.678"]))
    assert times(archive) == [(12345678, 1500)]
    assert format_of(archive) == ("relative, base unknown", 0)


def test_base_beside_stamps_since_1970_is_not_added(tmp_path):
    text = instants([str(NOW_US)]).replace("{", f'{{"baseTimeNanoseconds": {BASE},', 1)
    archive = ingested(tmp_path, text)
    assert times(archive) == [(NOW_US * 1000, 1500)]


def test_ranks_of_different_bases_are_comparable(tmp_path):
    later = BASE + 7_889_238_000_000_000
    traces = {
        f"rank_{rank}.json": instants([stamp]).replace("{", f'{{"baseTimeNanoseconds": {base},', 1)
        for rank, (base, stamp) in enumerate([(BASE, "7889238000000.001"), (later, "0.002")])
    }
    archive = ingested(tmp_path, traces)
    starts = rows(archive, "SELECT start_ns FROM events ORDER BY rank")
    assert starts == [(later + 1,), (later + 2,)]


def test_display_unit_says_nothing(tmp_path):
    text = instants(["5.001"]).replace("{", '{"displayTimeUnit": "ns",', 1)
    assert times(ingested(tmp_path, text)) == [(5001, 1500)]


@pytest.mark.parametrize("fractions", ["001 500 010", "1 50 120"], ids=["padded", "unpadded"])
def test_arguments_named_like_times_are_kept(tmp_path, fractions):
    args = f'{{"ts": {NOW_US}.5, "dur": 1.5, "text": "=5", "list": [{{"ts":{NOW_US}.25}}]}}'
    stamps = [f"{NOW_US}.{fraction}" for fraction in fractions.split()]
    archive = ingested(tmp_path, instants(stamps, more=f', "args": {args}'))
    for (kept,) in rows(archive, "SELECT args FROM events"):
        assert json.loads(kept, parse_float=str) == json.loads(args, parse_float=str)


@pytest.mark.parametrize("at", [0, 3, 5])
@pytest.mark.parametrize("stray", ["1716900000000000.123", "1.7169e15"])
def test_one_stamp_since_1970_among_relative_ones(tmp_path, at, stray):
    """It is the one that is wrong: the others keep their base."""
    stamps = [f"{n}.001" for n in range(5)]
    stamps.insert(at, stray)
    text = instants(stamps).replace("{", f'{{"baseTimeNanoseconds": {BASE},', 1)
    archive = ingested(tmp_path, text)
    assert [start for start, _ in times(archive)] == [BASE + 1000 * n + 1 for n in range(5)]
    assert format_of(archive) == ("relative to base", BASE)
    assert rows(archive, "SELECT event_id, reason FROM quarantine") == [
        (at, '"ts" is a date, unlike the others')
    ]


@pytest.mark.parametrize("stray", ["0", "12.5", "-3"])
def test_one_relative_stamp_among_those_since_1970(tmp_path, stray):
    """It would stretch the trace over half a century."""
    stamps = [f"{NOW_US}.001", stray, f"{NOW_US}.002"]
    archive = ingested(tmp_path, instants(stamps))
    assert [start for start, _ in times(archive)] == [NOW_US * 1000 + 1, NOW_US * 1000 + 2]
    assert rows(archive, "SELECT event_id, reason FROM quarantine") == [
        (1, '"ts" is no date, unlike the others')
    ]


@pytest.mark.parametrize("base", ["true", "1e30", '"soon"', "-1", str(2**63), "null", "[]"])
def test_a_base_that_is_none(tmp_path, base):
    text = instants(["5.001"]).replace("{", f'{{"baseTimeNanoseconds": {base},', 1)
    archive = ingested(tmp_path, text)
    assert times(archive) == [(5001, 1500)]
    assert format_of(archive) == ("relative, base unknown", 0)


def test_metadata_events_have_no_time(tmp_path):
    text = trace_text(['{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 5}'])
    assert times(ingested(tmp_path, text)) == [(None, None)]


def test_stamps_far_from_the_others(tmp_path):
    """One would make idle times of years, and sums over traces that no number holds."""
    week_us = 7 * 86_400 * 10**6
    stamps = [100, 200, 300, 200 + week_us, 201 + week_us, 200 - week_us, 199 - week_us]
    archive = ingested(tmp_path, trace_text([span(ts=at) for at in stamps]))
    assert rows(archive, "SELECT event_id, reason FROM quarantine ORDER BY event_id") == [
        (4, '"ts" is over 7 days from the others'),
        (6, '"ts" is over 7 days from the others'),
    ]


def test_spans_that_last_too_long_together(tmp_path):
    """The longest are left out: ten years are 521 times a week, and the rest for the others."""
    week_us = 7 * 86_400 * 10**6
    spans = [span("long", ts=0, dur=week_us)] * 600 + [span("short", ts=1, dur=5)] * 10
    archive = ingested(tmp_path, trace_text(spans))
    assert rows(archive, "SELECT name, count(*) FROM events GROUP BY name ORDER BY name") == [
        ("long", 521),
        ("short", 10),
    ]
    assert rows(archive, "SELECT DISTINCT reason FROM quarantine") == [
        ('"dur" is too much: all spans together last over ten years',)
    ]
