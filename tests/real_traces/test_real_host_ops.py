"""Host operations of real traces, against their JSON."""

import pytest
import raw_events
from raw_events import whole_number
from real_files import TRACES
from real_traces.rows import ACTIVITY_COLUMNS, rows_of

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"
)


HOST_COLUMNS = [
    "event_id",
    "cat",
    "name",
    "start_ns",
    "dur_ns",
    "parent_id",
    "depth",
    "root_id",
    "op_id",
    "annotation_id",
    "module_id",
    "caller_id",
    "is_backward",
    "forward_id",
    "step",
]


def test_host_ops(real_run, trace):
    found = rows_of(real_run, "host_ops", trace.file, HOST_COLUMNS)
    wanted = [{column: row[column] for column in HOST_COLUMNS} for row in trace.host_ops]
    assert [row["event_id"] for row in found] == [row["event_id"] for row in wanted]
    wrong = [pair for pair in zip(found, wanted, strict=True) if pair[0] != pair[1]]
    assert wrong == []


def test_equal_stacks_have_equal_hashes(real_run, trace):
    found = rows_of(real_run, "host_ops", trace.file, ["event_id", "stack_hash"])
    pairs = {
        (row["stack_hash"], wanted["names"])
        for row, wanted in zip(found, trace.host_ops, strict=True)
    }
    assert len({names for _, names in pairs}) == len({one for one, _ in pairs}) == len(pairs)


def test_launched_activities_have_one_chain_of_owners(real_run, trace):
    """From the launch through its callers, each one row, to the outermost."""
    ops = rows_of(real_run, "host_ops", trace.file, ["event_id", "parent_id", "depth", "root_id"])
    by_id = {row["event_id"]: row for row in ops}
    assert len(by_id) == len(ops)
    launched = [
        row
        for row in rows_of(real_run, "gpu_activities", trace.file, ACTIVITY_COLUMNS)
        if row["launch_id"] is not None
    ]
    assert len(launched) == sum(row["launch_id"] is not None for row in trace.activities)
    for activity in launched:
        at = launch = by_id[activity["launch_id"]]
        chain = []
        while at["parent_id"] is not None:
            chain.append(at["parent_id"])
            at = by_id[at["parent_id"]]
            assert at["depth"] == launch["depth"] - len(chain)
        assert len(set(chain)) == len(chain) == launch["depth"]
        assert at["event_id"] == launch["root_id"]


# (forward operator, its backward operator) as the profiler itself drew them.
FLOWS = {"nccl": 543, "amd_mi250": 4, "ns_resolution": 905}


def test_forward_operators_are_those_of_the_flows(real_run, trace):
    """Found by autograd's numbers, they are the same as by the arrows that PyTorch draws."""
    begins, ends = {}, {}
    for event in trace.events:
        if event.get("cat") == "fwdbwd":
            place = (str(event["pid"]), str(event["tid"]), trace.start_ns(event))
            (begins if event["ph"] == "s" else ends)[event["id"]] = place
    assert len(begins) == len(ends) == FLOWS.get(trace.file.job, 0)
    ops = rows_of(
        real_run,
        "(FROM host_ops WHERE cat = 'cpu_op')",
        trace.file,
        ["event_id", "pid", "tid", "start_ns", "forward_id"],
    )
    beginning = {}
    for row in ops:
        beginning.setdefault((row["pid"], row["tid"], row["start_ns"]), []).append(row)
    for flow, place in ends.items():
        forward = {row["event_id"] for row in beginning[begins[flow]]}
        assert {row["forward_id"] for row in beginning[place]} & forward


ARGUMENTS = {
    "record_function_id": "Record function id",
    "sequence_number": "Sequence number",
    "fwd_thread_id": "Fwd thread id",
    "input_dims": "Input Dims",
    "input_types": "Input type",
    "concrete_inputs": "Concrete Inputs",
}


def test_arguments_of_operators(real_run, trace):
    found = rows_of(real_run, "host_ops", trace.file, ["event_id", *ARGUMENTS])
    for row in found:
        args = trace.events[row["event_id"]].get("args") or {}
        for column, argument in ARGUMENTS.items():
            value, wanted = row[column], args.get(argument)
            if argument in ("Input Dims", "Input type", "Concrete Inputs"):
                value = value and raw_events.parse(value)
            else:
                wanted = whole_number(wanted)
            assert value == wanted, column
