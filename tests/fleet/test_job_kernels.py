"""What a job's GPUs ran, by kernel and operator, on small tables."""

import random

import pytest
from fleet.stored_tables import StoredTables
from queries.brute_flop_nests import Nest
from queries.flops.random_calls import random_tables
from queries.small_tables import same
from seeds import seeds


@pytest.fixture(scope="module")
def jobs():
    return StoredTables()


MM = {
    "name": "aten::mm",
    "input_dims": "[[2,3],[3,4]]",
    "input_types": '["float","float"]',
    "concrete_inputs": '["",""]',
    "start_ns": 0,
    "dur_ns": 9,
}


def shown(result, *columns):
    return [tuple(row[column] for column in columns) for row in result]


def test_operations_of_a_call_are_those_of_its_longest_kernel(jobs):
    # aten::linear [ aten::mm [ gemm, reduce, gemm ] bias ]; what launched `bias` has operations
    # inside that count, so its own do not.
    jobs.fill(
        host_ops=[
            MM | {"event_id": 1, "name": "aten::linear", "input_dims": "[[2,3],[4,3]]"},
            MM | {"event_id": 2, "op_id": 1},
        ],
        gpu_activities=[
            {"event_id": 10, "name": "gemm", "start_ns": 0, "dur_ns": 30, "op_id": 2},
            {"event_id": 11, "name": "reduce", "start_ns": 0, "dur_ns": 20, "op_id": 2},
            {"event_id": 12, "name": "gemm", "start_ns": 0, "dur_ns": 30, "op_id": 2},
            {"event_id": 13, "name": "bias", "start_ns": 0, "dur_ns": 10, "op_id": 1},
            {"event_id": 14, "name": "copy", "start_ns": 0, "dur_ns": 10, "kind": "memory"},
        ],
        traces=[{"device_name": "H100"}],
    )
    assert shown(
        jobs.result("job_kernels"),
        "name",
        "op_name",
        "count",
        "total_ns",
        "total_frac",
        "flops",
        "bytes",
        "costed_ns",
        "achieved_tflops",
    ) == [
        ("gemm", "aten::mm", 2, 60, 0.6, 48, 4 * (6 + 12 + 8), 80, 48 / 80 / 1e3),
        ("reduce", "aten::mm", 1, 20, 0.2, None, None, 0, None),
        ("bias", "aten::linear", 1, 10, 0.1, None, None, 0, None),
        ("copy", None, 1, 10, 0.1, None, None, 0, None),
    ]


def test_the_rest_is_kept_by_gpu_and_kind(jobs):
    jobs.fill(
        gpu_activities=[
            {
                "rank": rank,
                "name": f"k{at}",
                "start_ns": 0,
                "dur_ns": 100 - at,
                "kind": "memory" if at % 2 else "computation",
            }
            for rank in (0, 1)
            for at in range(6)
        ],
        traces=[{"rank": 0, "device_name": "H100"}, {"rank": 1, "device_name": "A100"}],
    )
    assert shown(
        jobs.result("job_kernels", top_k=3),
        "device_name",
        "kind",
        "name",
        "is_rest",
        "position",
        "count",
        "total_ns",
        "min_ns",
        "max_ns",
    ) == [
        ("A100", "computation", "k0", False, 1, 1, 100, 100, 100),
        ("H100", "computation", "k0", False, 2, 1, 100, 100, 100),
        ("A100", "memory", "k1", False, 3, 1, 99, 99, 99),
        ("A100", "computation", None, True, None, 2, 98 + 96, 96, 98),
        ("A100", "memory", None, True, None, 2, 97 + 95, 95, 97),
        ("H100", "computation", None, True, None, 2, 98 + 96, 96, 98),
        ("H100", "memory", None, True, None, 3, 99 + 97 + 95, 95, 99),
    ]


def counted(activities, ops, traces, only_jobs):
    """The query's rows, up to their positions, in plain Python."""
    nest = Nest(ops, only_jobs, None, None)
    by_id = {(row["job"], row["rank"], row["event_id"]): row for row in ops}
    gpu = {(row["job"], row["rank"]): row["device_name"] for row in traces}
    picked = [row for row in activities if only_jobs is None or row["job"] in only_jobs]
    launched, rows, of_jobs = {}, {}, {}
    for row in picked:
        key = None if row["op_id"] is None else (row["job"], row["rank"], row["op_id"])
        call = next((c for c in nest.chain(key) if nest.counts(c)), None)
        if call:
            launched.setdefault(call, []).append(row)
        op = by_id.get(call or key, {})
        cost = nest.costs.get(call)
        concrete = op.get("concrete_inputs") if cost and cost.flops is not None else None
        group = (
            row["job"],
            gpu.get((row["job"], row["rank"])),
            row["kind"],
            row["name"],
            op.get("name"),
            op.get("input_dims"),
            op.get("input_types"),
            concrete,
        )
        rows.setdefault(group, []).append((row, call))
        of_jobs.setdefault(row["job"], []).append(row["dur_ns"])
    longest = {
        call: max(of_call, key=lambda row: (row["dur_ns"], -row["event_id"]))
        for call, of_call in launched.items()
    }
    result = []
    for group, of_group in rows.items():
        times = [row["dur_ns"] for row, _ in of_group]
        mine = [call for row, call in of_group if call and longest[call] is row]
        flops = [f for call in mine if (f := nest.costs[call].flops) is not None]
        moved = [b for call in mine if (b := nest.costs[call].bytes) is not None]
        costed = sum(row["dur_ns"] for call in mine for row in launched[call])
        result.append(
            dict(
                zip(
                    (
                        "job",
                        "device_name",
                        "kind",
                        "name",
                        "op_name",
                        "input_dims",
                        "input_types",
                        "concrete_inputs",
                    ),
                    group,
                    strict=True,
                )
            )
            | {
                "count": len(times),
                "total_ns": sum(times),
                "min_ns": min(times),
                "max_ns": max(times),
                "flops": sum(flops) if flops else None,
                "bytes": sum(moved) if moved else None,
                "costed_ns": costed,
                "achieved_tflops": sum(flops) / costed / 1e3 if flops and costed else None,
                "achieved_gbps": sum(moved) / costed if moved and costed else None,
                "total_frac": sum(times) / sum(of_jobs[group[0]])
                if sum(of_jobs[group[0]])
                else None,
            }
        )
    result.sort(
        key=lambda row: (
            row["job"],
            -row["total_ns"],
            *(
                (row[c] is None, row[c] or "")
                for c in (
                    "device_name",
                    "kind",
                    "name",
                    "op_name",
                    "input_dims",
                    "input_types",
                    "concrete_inputs",
                )
            ),
        )
    )
    placed = {}
    for row in result:
        row["position"] = placed[row["job"]] = placed.get(row["job"], 0) + 1
    return result


@pytest.mark.parametrize("seed", seeds(3))
def test_random_jobs(jobs, seed):
    tables = random_tables(random.Random(seed))
    rows = tables["gpu_activities"], tables["host_ops"], tables["traces"]
    jobs.fill(**tables)
    for only_jobs in (None, ["job1", "job3", "job5"]):
        wanted = counted(*rows, only_jobs)
        given = {} if only_jobs is None else {"only_jobs": only_jobs}
        result = jobs.result("job_kernels", short_names=False, **given)
        assert len(result) == len(wanted) > 0
        for one, other in zip(result, wanted, strict=True):
            assert same(one, other | {"is_rest": False}), (one, other)
    assert any(row["achieved_tflops"] for row in wanted)
    cut = jobs.result("job_kernels", short_names=False, top_k=4)
    for column in ("count", "total_ns", "flops", "bytes", "costed_ns"):
        assert sum(row[column] or 0 for row in cut) == sum(
            row[column] or 0 for row in counted(*rows, None)
        )
    assert max(row["position"] or 0 for row in cut) == 4 and any(row["is_rest"] for row in cut)
