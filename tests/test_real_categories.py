"""Kernel categories of real traces."""

import pytest
from real_files import TRACES

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"),
]
# At least this part of each job's GPU time has a category other than `other`.
KNOWN = 0.97
# Counted by hand in the traces' own JSON: calls of kernels with these words in their names.
WORDS = {
    ("h100_bert", "gemm"): 26,
    ("vllm_decode", "rope"): 24,
    ("mtia_inference", "compiled"): 97,
    ("torch_compile_triton", "compiled"): 4,
}


def test_almost_all_time_has_a_category(real_run):
    rows = real_run.sql("""
        SELECT
            c.job,
            coalesce(sum(c.dur_ns) FILTER (c.kernel_category <> 'other'), 0) / sum(c.dur_ns)
                AS known
        FROM categorised_activities AS c
        GROUP BY c.job
        HAVING sum(c.dur_ns) > 0
    """).to_pylist()
    assert len(rows) > 3
    assert [row for row in rows if row["known"] < KNOWN] == []


def test_times_add_up_to_the_busy_time(real_run):
    times: dict[tuple, int] = {}
    for row in real_run.category_breakdown().to_pylist():
        key = (row["job"], row["rank"], row["device"])
        times[key] = times.get(key, 0) + row["time_ns"]
    assert times == {
        (row["job"], row["rank"], row["device"]): row["busy_ns"]
        for row in real_run.temporal_breakdown().to_pylist()
        if row["busy_ns"]
    }


def test_kinds_are_categories(real_run):
    """Communication and memory are equal in both breakdowns."""
    assert real_run.sql("""
        SELECT count(*) AS wrong
        FROM categorised_activities AS c
        WHERE (c.kind IN ('communication', 'memory') OR c.kernel_category IN (
            'communication', 'memory'
        )) AND c.kind <> c.kernel_category
    """).to_pylist() == [{"wrong": 0}]


@pytest.mark.parametrize(("job", "category"), WORDS)
def test_by_hand(real_run, job, category):
    [row] = real_run.sql(
        "SELECT count(*) AS calls FROM categorised_activities AS c "
        "WHERE c.job = $job AND c.kernel_category = $category",
        {"job": job, "category": category},
    ).to_pylist()
    there = real_run.sql("SELECT 1 FROM gpu_activities WHERE job = $job LIMIT 1", {"job": job})
    if not there.num_rows:
        pytest.skip(f"{job} is not among the traces of this run")
    assert row["calls"] == WORDS[job, category]
