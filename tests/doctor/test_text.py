"""The screen of a job, and the table of several."""

import re

import click
import pytest
from doctor.made import diagnosis, finding, minor, note, split

from hta_sql.diagnosis.diagnoses import Diagnoses
from hta_sql.diagnosis.text import as_ascii, bar, coloured, screen

WARNING = note(severity="warning", check="unlinked_kernels", text="Some kernels have no launch.")
TYPICAL = diagnosis(finding(), minor(), notes=(note(),))


def lines(*found, width=80) -> list[str]:
    return screen(found, width).splitlines()


def test_a_typical_job_fits_a_terminal():
    shown = lines(TYPICAL)
    assert len(shown) <= 24 and max(map(len, shown)) <= 80
    assert shown == [
        "A step could take 20.0 % less time (2.00 ms): the GPU waits for the data loader.",
        "In a step, the GPU computes for 60.0 % of the time, is idle for 30.0 % and",
        "communicates without computing for 10.0 %.",
        "run: 1 rank, NVIDIA H100 80GB HBM3, median of 5 steps 10.0 ms, GPU busy 70.0 %",
        "",
        "Mean step: 10.0 ms",
        48 * "█" + 8 * "▓" + 24 * "░",
        "█ compute 6.00 ms 60.0 %                 ▓ exposed communication 1.00 ms 10.0 %",
        "░ idle 3.00 ms 30.0 %",
        "",
        "What to fix first, by gain per step. Gains do not add up.",
        "1  high  2.00 ms  20.0 %  The GPU waits for the data loader",
        "   The GPU is idle for 2.00 ms per step while the launching thread waits for the",
        "   next batch, for 1.90 ms of it in enumerate(DataLoader).",
        "   → Load batches ahead: raise num_workers and prefetch_factor of the",
        "     DataLoader, set pin_memory, or make the work per sample cheaper.",
        "   hta-sql run idle_reasons archive --top-k 20",
        "   info  20.0 µs   0.2 %  aten::item makes the host wait for the GPU",
        "",
        "Quality of the traces: missing stacks",
        "   hta-sql run trace_quality archive",
    ]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_lines_are_no_wider_than_the_terminal(width):
    """A command stays in one line, to be copied; lines of 200 characters are hard to read."""
    long = finding(title="The GPU waits for " + "very " * 30, evidence="Kernel " + "x" * 300)
    shown = lines(diagnosis(long, minor(), notes=(WARNING, note())), width=width)
    assert max(len(line) for line in shown if "hta-sql" not in line) <= min(width, 120)
    assert sum("hta-sql" in line for line in shown) == 2
    assert not any(line.startswith(("%", "ms")) for line in map(str.strip, shown))


def test_a_bar_has_the_size_of_its_parts():
    parts = diagnosis(**split(compute_ns=1, exposed_memory_ns=1, idle_ns=1)).parts
    assert [bar(parts, 80).count(mark) for mark in "█▓▒░"] == [27, 0, 27, 26]
    thin = diagnosis(**split(compute_ns=1, idle_ns=10**9)).parts
    assert bar(thin, 80) == "░" * 80


def test_five_findings_are_shown_and_the_rest_is_counted():
    many = [finding(rule=f"rule{n}", title=f"Fault {n}") for n in range(7)]
    infos = [minor(title=f"Small {n}") for n in range(6)]
    text = "\n".join(lines(diagnosis(*many, *infos)))
    assert re.findall(r"^(\d)  high", text, re.MULTILINE) == list("12345")
    assert text.count("Small ") == 3
    assert "   5 more findings: hta-sql run findings archive" in text


def test_ranks_stand_beside_the_findings_of_several():
    shown = lines(
        diagnosis(
            finding(rank=None, evidence_numbers={"ranks": [0, 1]}),
            minor(rank=1),
            rank_count=2,
            rank=1,
        )
    )
    assert "1  high  2.00 ms  20.0 %  all ranks  The GPU waits for the data loader" in shown
    assert any(line.startswith("   info  20.0 µs   0.2 %  rank 1     aten::") for line in shown)
    assert "Mean step of rank 1, which bounds the job: 10.0 ms" in shown


def test_small_findings_have_a_line_each():
    """They are cut so that they differ."""
    one, other = ("Much " * 20 + "of one" + " much" * 20, "Much " * 20 + "of two" + " much" * 20)
    shown = lines(diagnosis(minor(title=one), minor(title=other)))
    found = [line for line in shown if line.startswith("   info")]
    assert ["of one" in line for line in found] == [True, False] and "of two" in found[1]
    assert {len(line) for line in found} == {80}


def test_findings_without_gain():
    shown = lines(diagnosis(minor(estimated_gain_ns=None, estimated_gain_frac=None)))
    assert "Nothing above low. Smaller findings:" in shown
    assert "   info  aten::item makes the host wait for the GPU" in shown


def test_warnings_are_in_full_and_what_is_missing_by_name():
    eight = [note(rank=rank) for rank in range(8)]
    warned = [note(**vars(WARNING) | {"rank": rank}) for rank in (2, 3)]
    shown = lines(diagnosis(notes=(*eight, *warned), rank_count=8))
    assert shown[-3:] == [
        "Quality of the traces: missing stacks",
        "   ! Rank 2 and 1 more rank: Some kernels have no launch.",
        "   hta-sql run trace_quality archive",
    ]


def test_nothing_wrong_and_nothing_found():
    shown = lines(diagnosis())
    assert len(shown) < 12 and "Quality" not in "".join(shown)


def test_colours_change_no_character():
    plain, styled = screen([TYPICAL], 80), screen([TYPICAL], 80, coloured)
    assert plain != styled and click.unstyle(styled) == plain


def test_ascii():
    text = as_ascii(screen([diagnosis(finding(title="Zürich"), minor())], 80))
    assert text.isascii() and "20.0 us" in text and "Z?rich" in text and "-> Load" in text
    assert 48 * "#" + 8 * "=" + 24 * "." in text


def test_several_jobs_are_rows_with_the_largest_gain_first():
    small = diagnosis(job="b", **split(compute_ns=10))
    trace = diagnosis(job="c", unit="trace", step_count=None)
    assert lines(small, TYPICAL, trace) == [
        "job  top_finding                          gain  findings     step     busy",
        "run  The GPU waits for the data loader  20.0 %         1  10.0 ms   70.0 %",
        "b    -                                       -         0  10.0 ms  100.0 %",
        "c    -                                       -         0        -   70.0 %",
        "",
        "To see one job: hta-sql doctor archive --only-jobs JOB",
    ]


def test_long_names_in_the_table_of_jobs():
    long = diagnosis(finding(title="Much " * 20), job="team/model/" * 8 + "x")
    shown = lines(diagnosis(job="a"), long, diagnosis(job="team/model/" * 8 + "y"))
    assert max(map(len, shown)) <= 80 and len(shown) == 6
    names = [line.split()[0] for line in shown[1:4]]
    assert len(set(names)) == 3 and "Much Much" in shown[1] and "20.0 %" in shown[1]


def test_no_jobs():
    assert screen([], 80) == "The archive has no traces.\n"


def test_what_python_prints(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    found = Diagnoses([TYPICAL])
    assert str(found) == repr(found) == screen([TYPICAL], 80)
    assert found[0] is TYPICAL and len(found) == 1 and list(found) == [TYPICAL]
