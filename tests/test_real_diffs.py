"""kernel_diff and op_diff against HTA's TraceDiff, and each real trace against itself."""

import csv
import re
from collections.abc import Callable

import pytest
from hta_cases import needs_hta_outputs
from real_files import HTA_OUTPUTS, TRACE_FILES

pytestmark = pytest.mark.real

csv.field_size_limit(10**9)
PAIRS = {
    "trace_diff": ("trace_diff/control", "trace_diff/test"),
    "trace_compare": ("trace_compare/base", "trace_compare/test"),
}
# HTA's defaults: the first step of both; and all that have a number in both.
STEPS = {"": ([1009], [1009]), "_all_iterations": ([*range(1009, 1015)], [*range(1009, 1015)])}
SIDES = (("base", "Control"), ("test", "Test"))


def hta(folder: str, table: str) -> list[dict[str, str]]:
    with open(HTA_OUTPUTS / folder / f"{table}.csv", newline="") as file:
        return list(csv.DictReader(file))


def of_hta(folder: str, table: str) -> dict[str, tuple[float, ...]]:
    """Counts and durations in ns of both sides, by name."""
    rows = hta(folder, f"compare_traces_{table}")
    name = "short_name" if "short_name" in rows[0] else "name"
    return {
        row[name]: tuple(
            value
            for _, label in SIDES
            for value in (
                float(row[f"{label}_counts"]),
                1000 * float(row[f"{label}_total_duration"]),
            )
        )
        for row in rows
    }


def of_ours(run, query: str, folder: str, steps: str = "", **more) -> dict[str, tuple[int, ...]]:
    base, test = PAIRS[folder]
    base_steps, test_steps = STEPS[steps]
    rows = run.query(
        query, base_job=base, test_job=test, base_steps=base_steps, test_steps=test_steps, **more
    ).to_pylist()
    return {
        row["name"]: tuple(
            value for side, _ in SIDES for value in (row[f"{side}_count"], row[f"{side}_total_ns"])
        )
        for row in rows
    }


@needs_hta_outputs
@pytest.mark.parametrize("folder", PAIRS)
@pytest.mark.parametrize(("device", "query"), [("GPU", "kernel_diff"), ("CPU", "op_diff")])
def test_counts_and_durations_are_htas(real_run, folder, device, query):
    assert of_ours(real_run, query, folder) == of_hta(folder, device)


@needs_hta_outputs
@pytest.mark.parametrize("folder", PAIRS)
@pytest.mark.parametrize("steps", STEPS)
def test_both_devices_together(real_run, folder, steps):
    found = {
        name: figures
        for query in ("kernel_diff", "op_diff")
        for name, figures in of_ours(real_run, query, folder, steps).items()
    }
    assert found == of_hta(folder, f"ALL{steps}")


@needs_hta_outputs
@pytest.mark.parametrize("folder", PAIRS)
def test_short_names(real_run, folder):
    """HTA leaves the colons around an anonymous namespace, and has no words for gemms: one name
    for all kernels of CUTLASS, and cuBLAS's own. Else names and figures are its."""
    theirs = of_hta(folder, "GPU_short")
    mended = {name.replace("::::", "::"): figures for name, figures in theirs.items()}
    assert len(mended) == len(theirs)
    assert (theirs != mended) == (folder == "trace_diff")
    ours = of_ours(real_run, "kernel_diff", folder, short_names=True)
    assert summed(ours, cutlass) == summed(mended, cublas)


def cutlass(name: str) -> str:
    return "cutlass::Kernel" if name.startswith("CUTLASS gemm ") else name


def cublas(name: str) -> str:
    return re.sub(
        r"^(?:ampere|volta)_sgemm_(\d+x\d+)(?:_sliced1x4)?_([nt]{2})$",
        r"cuBLAS gemm fp32 \1 \2",
        name,
    )


def summed(figures: dict[str, tuple], name_of: Callable[[str], str]) -> dict[str, tuple]:
    """The figures of all names that are one name here, added up."""
    found: dict[str, tuple] = {}
    for name, values in figures.items():
        before = found.get(name_of(name), (0,) * len(values))
        found[name_of(name)] = tuple(map(sum, zip(before, values, strict=True)))
    return found


@needs_hta_outputs
@pytest.mark.parametrize("folder", PAIRS)
@pytest.mark.parametrize(("device", "query"), [("GPU", "kernel_diff"), ("CPU", "op_diff")])
def test_changes_are_htas(real_run, folder, device, query):
    base, test = PAIRS[folder]
    rows = real_run.query(
        query, base_job=base, test_job=test, base_steps=[1009], test_steps=[1009]
    ).to_pylist()
    assert {(row["change"], row["name"]) for row in rows} == {
        (row["key"], row["value"]) for row in hta(folder, f"ops_diff_{device}")
    }


def test_what_htas_tests_assert(real_run):
    """hta-semantics §9.1, step 1010 of trace_compare."""
    base, test = PAIRS["trace_compare"]
    chosen = {"base_job": base, "test_job": test, "base_steps": [1010], "test_steps": [1010]}
    rows = {row["name"]: row for row in real_run.op_diff(**chosen).to_pylist()}
    changes: dict[str, set[str]] = {}
    for name, row in rows.items():
        changes.setdefault(row["change"], set()).add(name)
    assert changes == {
        "added": {"AddmmBackward0", "All2All_Pooled_Req", "CatBackward0"},
        "deleted": {"nccl:all_reduce"},
        "unchanged": {
            "ProfilerStep#1010",
            "aten::as_strided",
            "aten::empty",
            "cudaEventQuery",
            "cudaLaunchKernel",
        },
    }
    of_base = {
        name: row["base_total_ns"] // 1000 for name, row in rows.items() if row["base_count"]
    }
    assert of_base == {
        "ProfilerStep#1010": 122149,
        "aten::as_strided": 0,
        "aten::empty": 0,
        "cudaEventQuery": 4,
        "cudaLaunchKernel": 4,
        "nccl:all_reduce": 67,
    }
    assert {row["base_count"] for row in rows.values()} == {0, 1}
    [kernel] = real_run.kernel_diff(**chosen).to_pylist()
    assert (kernel["base_count"], kernel["test_count"], kernel["change"]) == (1, 0, "deleted")


JOBS = sorted({file.job for file in TRACE_FILES})
DIFFS = (
    "kernel_diff",
    "op_diff",
    "annotation_diff",
    "temporal_diff",
    "module_diff",
    "collective_diff",
    "step_diff",
)


@pytest.mark.parametrize("job", JOBS)
def test_a_trace_with_itself_has_not_changed(real_run, job):
    for query in DIFFS:
        for row in real_run.query(query, base_job=job, test_job=job).to_pylist():
            assert row["change"] == "unchanged", (query, row)
            assert {
                value
                for name, value in row.items()
                if name.startswith("diff_")
                and name.endswith(("_ns", "_count"))
                and name not in ("diff_low_ns", "diff_high_ns")
            } <= {0, None}, (query, row)
    assert real_run.diff_causes(base_job=job, test_job=job).num_rows == 0
    assert {
        row["relation"] for row in real_run.op_alignment(base_job=job, test_job=job).to_pylist()
    } <= {"matched"}
    effects = real_run.comparability(base_job=job, test_job=job)["effect"].to_pylist()
    assert "prevents" not in effects


def test_the_order_is_stable(real_run):
    for query in (*DIFFS, "diff_causes"):
        chosen = {"base_job": "trace_diff/control", "test_job": "trace_diff/test"}
        assert real_run.query(query, **chosen) == real_run.query(query, **chosen), query
