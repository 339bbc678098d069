"""What trace_quality finds missing in recordings and archives, on drawn recordings."""

import pytest
from quality.recordings import found, healthy, span, spoiled

MISSING = {
    "missing_steps": lambda row: row["name"].startswith("ProfilerStep"),
    "missing_stacks": lambda row: row["cat"] == "python_function",
}


@pytest.mark.parametrize("check", MISSING)
def test_missing_spans(small, check):
    def change(tables):
        tables["host_ops"] = [row for row in tables["host_ops"] if not MISSING[check](row)]

    rows = found(small, spoiled(change))
    assert list(rows) == [check]
    assert (rows[check]["severity"], rows[check]["count"]) == ("info", None)


def test_missing_shapes(small):
    def change(tables):
        for row in tables["host_ops"]:
            row.pop("input_dims", None)

    row = found(small, spoiled(change))["missing_shapes"]
    assert (row["severity"], row["count"], row["share_frac"]) == ("info", 2, 1.0)
    assert "record_shapes=True" in row["text"]


def test_one_shape_is_enough(small):
    def change(tables):
        next(row for row in tables["host_ops"] if row["name"] == "aten::mm")["input_dims"] = None

    assert found(small, spoiled(change)) == {}


def test_missing_sequence_numbers(small):
    def change(tables):
        for row in tables["host_ops"]:
            row.pop("sequence_number", None)

    assert found(small, spoiled(change)) == {}  # without a backward pass there are none to miss
    tables = spoiled(change)
    name = "autograd::engine::evaluate_function: MmBackward0"
    tables["host_ops"].append(span({"job": "j", "rank": 0, "event_id": 90}, name, 150_000, 5))
    assert list(found(small, tables)) == ["missing_sequence_numbers"]


def test_crossing_spans(small):
    def change(tables):
        tables["host_ops"][1]["cut_ns"] = 150_000

    rows = found(small, spoiled(change))
    assert list(rows) == ["crossing_spans"]
    row = rows["crossing_spans"]
    assert (row["severity"], row["count"], row["share_frac"]) == ("warning", 1, 1 / 9)


@pytest.mark.parametrize(("step", "is_thin"), [(1, False), (100, False), (200, True)])
def test_thinned_out(small, step, is_thin):
    """Calls whose numbers are `step` apart; of `calls` calls, the span is (calls - 1) * step."""

    def change(tables):
        numbers = {}
        for row in tables["host_ops"]:
            if row["cat"] == "cuda_runtime":
                numbers[row["correlation"]] = row["correlation"] = 7 + len(numbers) * step
        for row in tables["gpu_activities"]:
            row["correlation"] = numbers[row["correlation"]]

    tables = spoiled(change)
    calls = len([row for row in tables["host_ops"] if row["cat"] == "cuda_runtime"])
    rows = found(small, tables)
    assert list(rows) == ["thinned_out"] * is_thin
    if is_thin:
        row = rows["thinned_out"]
        assert (row["severity"], row["count"]) == ("warning", calls)
        assert row["share_frac"] == calls / ((calls - 1) * step + 1)
        assert "findings" in row["weakens"]


def test_no_gpu_activities(small):
    def change(tables):
        tables["gpu_activities"].clear()
        tables["traces"][0]["gpu_activity_count"] = 0

    row = found(small, spoiled(change))["no_gpu_activities"]
    assert (row["severity"], row["count"], row["share_frac"]) == ("warning", 3, 1.0)
    tables = spoiled(change)
    tables["host_ops"] = [row for row in tables["host_ops"] if row["cat"] != "cuda_runtime"]
    row = found(small, tables)["no_gpu_activities"]
    assert (row["severity"], row["count"]) == ("info", None)


def test_missing_collective_arguments(small):
    def change(tables):
        tables["gpu_activities"][2]["collective_name"] = None

    row = found(small, spoiled(change))["missing_collective_arguments"]
    assert (row["severity"], row["count"], row["share_frac"]) == ("info", 1, 1.0)
    assert "nothing across ranks can be paired" in row["text"]


def test_missing_collective_numbers(small):
    def change(tables):
        tables["gpu_activities"][2] |= {"seq": None, "comms_id": None}

    row = found(small, spoiled(change))["missing_collective_numbers"]
    assert (row["severity"], row["count"], row["share_frac"]) == ("info", 1, 1.0)


def without_collective(rank):
    def change(tables):
        row = tables["gpu_activities"][3 * rank + 2]
        row |= {"comms_id": 5, "seq": 2}

    return change


def test_unpaired_collectives(small):
    """Rank 0 and rank 1 have one collective each, and it is not the same."""
    small.fill(**spoiled(without_collective(1), (0, 1)))
    rows = small.run("trace_quality")
    assert [(row["rank"], row["check"], row["count"]) for row in rows] == [
        (0, "unpaired_collectives", 1),
        (1, "unpaired_collectives", 1),
    ]
    small.fill(**healthy((0, 1)))
    assert small.run("trace_quality") == []


def test_collectives_of_different_groups(small):
    """Each rank has a group of its own, so neither misses the other."""

    def change(tables):
        for rank in (0, 1):
            tables["gpu_activities"][3 * rank + 2] |= {
                "process_group_name": str(rank),
                "comms_id": rank + 1,
            }

    assert found(small, spoiled(change, (0, 1))) == {}


def test_messages_are_not_on_all_ranks(small):
    def change(tables):
        tables["gpu_activities"][2] |= {"collective_name": "send", "comms_id": 8}
        tables["gpu_activities"][5] |= {"collective_name": "recv", "comms_id": 9}

    assert found(small, spoiled(change, (0, 1))) == {}


TRACES = [
    ("incomplete_trace", {"status": "truncated: it ends"}, ("warning", 1, 1.0)),
    ("quarantined_events", {"quarantined_count": 3}, ("warning", 3, 3 / 103)),
    ("clamped_times", {"base_ns": 100_001}, ("warning", None, None)),
    ("missing_device_name", {"device_name": ""}, ("info", None, None)),
    ("unknown_device", {"device_name": "Voodoo 2"}, ("info", None, None)),
    ("missing_world_size", {"world_size": None}, ("info", None, None)),
    ("missing_ranks", {"world_size": 4}, ("info", 3, 0.75)),
]


@pytest.mark.parametrize(("check", "given", "wanted"), TRACES)
def test_facts_of_a_trace(small, check, given, wanted):
    def change(tables):
        tables["traces"][0] |= given

    rows = found(small, spoiled(change))
    assert list(rows) == [check]
    row = rows[check]
    assert (row["severity"], row["count"], row["share_frac"]) == wanted
    assert row["rank"] == (None if check == "missing_ranks" else 0)


def test_unknown_rank(small):
    def change(tables):
        tables["traces"][1]["rank_source"] = "order"

    rows = found(small, spoiled(change, (0, 1)))
    assert [(row["rank"], name) for name, row in rows.items()] == [(1, "unknown_rank")]


def test_one_rank_needs_no_name(small):
    def change(tables):
        tables["traces"][0] |= {"rank_source": "order", "world_size": None, "backend": None}

    assert found(small, spoiled(change)) == {}


@pytest.mark.parametrize(
    ("given", "severity", "count", "says"),
    [
        ({"host": "b"}, "info", 2, "ran on 2 hosts"),
        ({"start_ns": 900_000, "end_ns": 999_000}, "warning", None, "600 µs after another's"),
        ({"time_format": "relative, base unknown"}, "warning", None, "do not record what"),
    ],
)
def test_several_clocks(small, given, severity, count, says):
    def change(tables):
        for row in tables["traces"]:
            row["host"] = "a"
        tables["traces"][1] |= given

    rows = found(small, spoiled(change, (0, 1)))
    assert list(rows) == ["several_clocks"]
    row = rows["several_clocks"]
    assert (row["rank"], row["severity"], row["count"]) == (None, severity, count)
    assert says in row["text"]


def test_selection(small):
    """Rows about the job stay for any ranks."""

    def change(tables):
        for row in tables["traces"]:
            row |= {"world_size": 4, "status": "truncated"}

    small.fill(**spoiled(change, (0, 1)))
    said = [(row["rank"], row["check"]) for row in small.run("trace_quality", only_ranks=[1])]
    assert said == [(None, "missing_ranks"), (1, "incomplete_trace")]
    assert small.run("trace_quality", only_jobs=["other"]) == []
