"""Three jobs with stored results, one without, and their page."""

import pytest
from fleet_page.stored import summary, write_stored

import hta_sql
from hta_sql.fleet_page import write_fleet_page

ODD = "<script>hacked=1</script> it's 9"
TAGS = {
    "llama-1": {"team": "red"},
    "llama-2": {"team": "blue", "note": "<img src=x onerror=hacked=2>"},
    ODD: {},
    "new": {"team": "red"},
}
SUMMARIES = [
    summary("llama-1", 100, 40, p50=20, host_wait=50, kernel_wait=10)
    | {"device_name": "H100", "top_finding": "The GPU waits", "top_gain_frac": 0.3}
    | {"top_finding_rule": "host_bound", "finding_count": 2},
    summary("llama-2", 100, 90, lost=5, p50=22, outside=None, communication=10)
    | {"device_name": "H100", "worst_rank": 1, "worst_rank_host": "<b>node"},
    summary(ODD, 50, 0, memory=20, queued=30)
    | {"device_name": "MI300", "top_finding": "</script><b>", "top_gain_frac": 0.1},
]
FINDINGS = [
    {
        "job": job,
        "rule": rule,
        "severity": severity,
        "title": title,
        "estimated_gain_ns": int(gain * 1000),
        "estimated_gain_frac": gain,
        "gain_unit": unit,
    }
    for job, rule, severity, title, gain, unit in [
        ("llama-1", "host_bound", "high", "The GPU waits", 0.3, "step"),
        ("llama-1", "gpu_sync", "low", "It synchronises", 0.02, "step"),
        (ODD, "host_bound", "high", "</script><b>", 0.1, "trace"),
        ("llama-2", "straggler", "info", "Rank 1 is late", 0.001, "step"),
    ]
]


@pytest.fixture(scope="session")
def few(tmp_path_factory):
    """The archive; the third job begins two weeks later."""
    return write_stored(
        tmp_path_factory.mktemp("few") / "_".join(["archive", "with", "a", "long", "name"] * 6),
        TAGS,
        SUMMARIES,
        FINDINGS,
        weeks={ODD: 2},
        statuses={"llama-2": "truncated: <b>the file ends"},
    )


@pytest.fixture(scope="session")
def page(few):
    with hta_sql.open(few) as run:
        write_fleet_page(run, few.parent / "page")
    return few.parent / "page" / "index.html"
