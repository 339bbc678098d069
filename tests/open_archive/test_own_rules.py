"""Rules of the user in CSV files: categories of kernels, peaks of devices, names of steps."""

import re

import duckdb
import pytest
from hand_written import ingested, rows, span, trace_text

import hta_sql
from hta_sql.errors import ArchiveError

CATEGORY = "SELECT kernel_category FROM categorised_activities"
PEAKS = (
    "SELECT dense_tflops, memory_gbps FROM device_peaks "
    "WHERE device_name = '{}' AND dtype = 'bfloat16'"
)


@pytest.fixture
def archive(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    kernel = span("my_fancy_kernel", 0, 5, "kernel", 0, 7, device=0, stream=7, correlation=1)
    ingested(tmp_path, trace_text([kernel])).close()
    return tmp_path / "archive"


def answers(archive, sql: str) -> list[tuple]:
    with hta_sql.open(archive) as run:
        return rows(run, sql)


def test_categories(archive):
    assert answers(archive, CATEGORY) == [("other",)]
    (archive / "category_rules.csv").write_text(
        "pattern,applies_to,category\nmy_fancy,kernel,o'clock\n"
    )
    assert answers(archive, CATEGORY) == [("o'clock",)]


def test_the_configuration_comes_before_the_archive(archive, tmp_path):
    config = tmp_path / "config" / "hta_sql"
    config.mkdir(parents=True)
    for folder, category in ((config, "mine"), (archive, "theirs")):
        text = f"pattern,applies_to,category\nmy_fancy,kernel,{category}\n"
        (folder / "category_rules.csv").write_text(text)
    assert answers(archive, CATEGORY) == [("mine",)]


def test_peaks(archive):
    assert answers(archive, PEAKS.format("NVIDIA H200")) == [(989.4, 4800)]
    (archive / "device_peaks.csv").write_text(
        "device_name,dtype,dense_tflops,memory_gbps,note\n"
        "NVIDIA H200,bfloat16,800.5,4000,throttled\n"
        "Our Chip,bfloat16,100,900,\n"
    )
    assert answers(archive, PEAKS.format("NVIDIA H200")) == [(800.5, 4000)]
    assert answers(archive, PEAKS.format("Our Chip")) == [(100, 900)]


def test_the_shell_has_them_too(archive):
    (archive / "category_rules.csv").write_text("pattern,applies_to,category\nfancy,kernel,mine\n")
    hta_sql.refresh(archive, workers=1)
    with duckdb.connect(archive / "hta.duckdb", read_only=True) as con:
        con.execute(f"SET file_search_path = '{archive}'")
        assert con.execute(CATEGORY).fetchall() == [("mine",)]


def test_steps(archive, tmp_path):
    """Ingest and refresh read the rules; they come before ProfilerStep, and --steps before them."""
    steps = "SELECT step, step_name, marked_by FROM steps ORDER BY step"
    job = tmp_path / "steps"
    job.mkdir()
    events = [
        span(name, 100 * at + shift, 90, "user_annotation")
        for at in (0, 1)
        for shift, name in enumerate([f"ProfilerStep#{at}", f"round {at + 7} of ours", f"x{at}"])
    ]
    (job / "rank_0.json").write_text(trace_text(events))
    hta_sql.ingest(job, tmp_path / "a", workers=1)
    assert [row[2] for row in answers(tmp_path / "a", steps)] == ["PyTorch"] * 2
    (tmp_path / "a" / "step_rules.csv").write_text(
        "name_pattern,framework\n^none,Theirs\n^round ([0-9]+),Ours\n^x,Others\n"
    )
    hta_sql.refresh(tmp_path / "a", workers=1)
    ours = [(7, "round 7 of ours", "Ours"), (8, "round 8 of ours", "Ours")]
    assert answers(tmp_path / "a", steps) == ours
    hta_sql.ingest(job, tmp_path / "a", workers=1, force=True)
    assert answers(tmp_path / "a", steps) == ours
    hta_sql.refresh(tmp_path / "a", workers=1, steps="^x")
    assert [row[2] for row in answers(tmp_path / "a", steps)] == ["--steps"] * 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name_pattern,framework\n[,X\n", "line 2: name_pattern is '['; give a regular expression"),
        ("name_pattern\nx\n", "no column framework; its columns are name_pattern, framework"),
    ],
)
def test_rules_for_steps_that_are_wrong(archive, text, said):
    (archive / "step_rules.csv").write_text(text)
    with pytest.raises(ArchiveError, match=re.escape(said)):
        hta_sql.refresh(archive, workers=1)


WRONG = {
    "category_rules.csv": {
        "pattern,category\na,b\n": ": no column applies_to; its columns are pattern, ",
        "pattern,applies_to,category\na,kernel,x\na,stream,x\n": (
            ", line 3: applies_to is 'stream'; give operator or kernel"
        ),
        "pattern,applies_to,category\n,kernel,x\n": "line 2: pattern is ''; give a part of a name",
        "pattern,applies_to,category\na,kernel\n": ", line 2: category is None; give a category",
    },
    "device_peaks.csv": {
        "device_name,dtype,dense_tflops,memory_gbps\nX,int8,fast,1\n": (
            ", line 2: dense_tflops is 'fast'; give a number above 0"
        ),
        "device_name,dtype,dense_tflops,memory_gbps\nX,int8,1,-1\n": "memory_gbps is '-1'",
    },
}


@pytest.mark.parametrize(
    ("file", "text"), [(file, text) for file, texts in WRONG.items() for text in texts]
)
def test_files_that_are_wrong(archive, file, text):
    (archive / file).write_text(text)
    with pytest.raises(ArchiveError) as raised, hta_sql.open(archive) as run:
        run.kernel_stats()
    assert str(archive / file) in str(raised.value)
    assert WRONG[file][text] in str(raised.value)


def test_bytes_that_are_no_text(archive):
    (archive / "category_rules.csv").write_bytes(b"pattern,applies_to,category\n\xff,kernel,x\n")
    with pytest.raises(ArchiveError, match="not a CSV file in UTF-8"):
        answers(archive, CATEGORY)
