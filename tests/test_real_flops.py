"""FLOPs, roofline and MFU on real traces: against plain Python over their JSON."""

import json

import pytest
from queries import brute_flops
from queries.small_tables import same
from raw_json import RawTrace
from real_files import TRACES

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"),
]


@pytest.fixture(scope="session")
def trace(raw_trace: RawTrace) -> RawTrace:
    return raw_trace


def compact(value) -> str | None:
    return None if value is None else json.dumps(value, separators=(",", ":"), default=str)


# Traces that do not name their device, and what its properties are those of.
DEVICES = {
    "amd_mi250": "AMD Instinct MI250",
    "vllm_decode": "AMD Instinct MI300X",
    "vllm_decode_capture": "AMD Instinct MI300X",
}


def tables(trace: RawTrace) -> tuple[list[dict], list[dict], list[dict]]:
    """Activities, operators and annotations, and the trace itself, from its JSON alone."""
    key = {"job": trace.file.job, "rank": trace.file.rank}
    args = {span.event_id: span.args for span in trace.spans}
    backward: dict[int, bool] = {}
    ops = []
    # Whoever is around an operator began before it.
    for row in sorted(trace.host_ops, key=lambda row: (row["start_ns"], row["depth"])):
        mine = args[row["event_id"]]
        is_op = row["cat"] in {"cpu_op", "Operator"}
        if is_op:
            backward[row["event_id"]] = (
                backward.get(row["op_id"], False)
                or int(mine.get("Fwd thread id", 0)) > 0
                or row["name"].startswith("autograd::engine::evaluate_function")
            )
        ops.append(
            key
            | row
            | {
                "end_ns": row["start_ns"] + row["dur_ns"],
                "input_dims": compact(mine.get("Input Dims")),
                "input_types": compact(mine.get("Input type")),
                "concrete_inputs": compact(mine.get("Concrete Inputs")),
                "sequence_number": mine.get("Sequence number"),
                "fwd_thread_id": mine.get("Fwd thread id"),
                "is_backward": backward.get(row["event_id"], False),
            }
        )
    devices = trace.metadata.get("deviceProperties") or [{}]
    return (
        [key | row for row in trace.activities],
        ops,
        [key | {"device_name": DEVICES.get(trace.file.job, devices[0].get("name"))}],
    )


def on_tensor_cores(name: str) -> bool:
    """Of NVIDIA's kernels for float32 in these traces."""
    return any(word in name for word in ("tensorop_s", "tf32", "s1688", "884"))


def of_trace(run, query: str, trace: RawTrace) -> list[dict]:
    return run.query(query, only_jobs=[trace.file.job], only_ranks=[trace.file.rank]).to_pylist()


def test_op_flops(real_run, trace):
    wanted = brute_flops.op_flops(*tables(trace), on_cores=on_tensor_cores)
    found = [
        row
        | {
            column: compact(row[column] and json.loads(row[column]))
            for column in ("input_dims", "input_types", "concrete_inputs")
        }
        for row in of_trace(real_run, "op_flops", trace)
    ]

    def in_order(rows):
        return sorted(
            rows,
            key=lambda row: [
                str(row[c])
                for c in ("name", "input_dims", "input_types", "concrete_inputs", "is_counted")
            ],
        )

    assert len(found) == len(wanted)
    pairs = zip(in_order(found), in_order(wanted), strict=True)
    assert [pair for pair in pairs if not same(*pair)] == []


def test_step_mfu(real_run, trace):
    wanted = brute_flops.step_mfu(*tables(trace), on_cores=on_tensor_cores)
    found = of_trace(real_run, "step_mfu", trace)
    assert len(found) == len(wanted)
    assert [pair for pair in zip(found, wanted, strict=True) if not same(*pair)] == []


def test_no_activity_counts_twice(real_run):
    """What rows that count launched are activities of the trace, each at most once."""
    rows = real_run.sql("""
        SELECT counted.job, counted.rank, counted.kernel_count, launched.kernel_count AS all_count
        FROM (
            SELECT job, rank, sum(kernel_count) AS kernel_count
            FROM op_flops() WHERE is_counted GROUP BY job, rank
        ) AS counted
        JOIN (
            SELECT job, rank, count(op_id) AS kernel_count FROM gpu_activities GROUP BY job, rank
        ) AS launched ON launched.job = counted.job AND launched.rank = counted.rank
    """).to_pylist()
    assert rows
    assert [row for row in rows if row["kernel_count"] > row["all_count"]] == []


def test_by_hand(real_run):
    """Figures of one layer of BERT on H100 and MI300X: (141, 512) x (512, 512), 17 times."""
    for job in ("h100_bert", "mi300_bert"):
        [row] = [
            row
            for row in real_run.query("op_flops", only_jobs=[job]).to_pylist()
            if row["name"] == "aten::addmm" and "[512,512]" in row["input_dims"].replace(" ", "")
        ]
        assert (row["count"], row["flops"]) == (17, 17 * 2 * 141 * 512 * 512)
        assert row["bytes"] == 17 * 2 * (512 + 141 * 512 + 512 * 512 + 141 * 512)
        assert row["bound"] == "memory"
