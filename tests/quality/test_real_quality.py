"""What trace_quality says of the real traces, which were looked at by hand."""

import pytest

from hta_sql.catalogue.catalog import Catalog

pytestmark = pytest.mark.real

# Of each job the warnings: check, count, and the share to a thousandth.
WARNINGS = {
    # The profiler opens a step when the program ends, and closes it 49 µs later.
    "amd_mi250": [("cut_window", 1, 0.5)],
    # Counters of CUPTI, in place of activities: 77 kernels, 17 copies.
    "cupti_counters": [("no_gpu_activities", 94, 1.0)],
    # They have the External id of their launches, by which ingest does not link yet.
    "external_id_gemm": [("unlinked_kernels", 20, 1.0)],
    # Of 561 kernels with a next one, 536 end 1 ns before it.
    "mi210_gpu_only": [("no_gap_on_stream", 536, 0.961)],
    # The profiler gave these no correlation id.
    "mtia_inference": [("unlinked_kernels", 322, 0.26)],
    # Most rows of these traces were taken away by hand.
    # Fixtures of a program, with 5 runtime calls left.
    "trace_compare/base": [("thinned_out", 5, 0.0), ("unlinked_kernels", 16, 0.995)],
    "trace_compare/test": [
        ("cut_window", 1, 0.5),
        ("launches_without_kernel", 1, 0.5),
        ("thinned_out", 5, 0.0),
        ("unlinked_kernels", 16, 0.998),
    ],
    # Kernels of the step before run on for 39 ms; 12 graph launches.
    "trace_diff/test": [("graph_kernels", 5046, 0.277), ("unlinked_kernels", 614, 0.059)],
    # Somebody left one runtime call in about 220 of each rank.
    "two_ranks": [("thinned_out", 1204, 0.005), ("thinned_out", 1154, 0.004)],
    # One hipGraphLaunch runs 421 kernels.
    "vllm_decode": [("graph_kernels", 421, 0.969), ("no_gap_on_stream", 430, 0.973)],
}


@pytest.fixture(scope="module")
def rows(real_run):
    return real_run.trace_quality().to_pylist()


def test_warnings(rows):
    found = {}
    for row in rows:
        if row["severity"] == "warning":
            said = row["check"], row["count"], round(row["share_frac"], 3)
            found.setdefault(row["job"], []).append(said)
    assert found == WARNINGS


@pytest.mark.parametrize(
    ("check", "jobs"),
    [
        # Programmatic launches on a B200; branches of a graph.
        ("overlap_on_stream", {"b200_eager": 74, "trace_diff/test": 31}),
        ("dropped_buffers", {"mtia_inference": 1}),
        (
            "crossing_spans",
            {
                "b200_eager": 13,
                "h100_bert": 5,
                "mi300_bert": 5,
                "mtia_inference": 15,
                "sglang_prefill": 7,
                "vllm_decode_capture": 232,
            },
        ),
        # Longer kernels, so the time between them is a small part of theirs.
        ("missing_collective_numbers", {"b200_eager": 1, "nccl": 21}),
        # amd_mi250 calls its device "AMD Radeon Graphics". Its properties are those of an MI250.
        ("unknown_device", {"mtia_inference": None}),
        ("missing_world_size", {"rank_missing": None}),
        (
            "missing_ranks",
            {
                "b200_eager": 7,
                "cpu_only": 299,
                "nccl": 1,
                "trace_diff/control": 7,
                "trace_diff/test": 1,
                "two_ranks": 126,
            },
        ),
    ],
)
def test_hints(rows, check, jobs):
    found = {
        row["job"]: row["count"]
        for row in rows
        if (row["check"], row["severity"]) == (check, "info")
    }
    assert found == jobs


def test_launches_into_a_graph_are_not_missed(rows):
    """421 launches of vllm_decode_capture are in a capture. Others are memsets of no bytes."""
    jobs = {"vllm_decode_capture", "ns_resolution", "h100_bert", "alexnet", "nccl"}
    checks = {row["check"] for row in rows if row["job"] in jobs}
    assert not checks & {"launches_without_kernel", "dropped_buffers"}


def test_texts_are_whole_sentences(rows):
    for row in rows:
        assert row["text"].endswith(".") and row["text"][0].isupper() or row["text"][0].isdigit()
        assert "  " not in row["text"], row["text"]


def test_weakened_queries_are_queries(rows):
    assert {name for row in rows for name in row["weakens"]} <= set(Catalog.load().newest)
