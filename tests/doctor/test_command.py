"""The command `hta-sql doctor` and the function `hta_sql.doctor`."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from hand_written import span, trace_text

import hta_sql
from hta_sql.cli import cli
from hta_sql.errors import BadParameter

_RANK_0 = '"distributedInfo": {"rank": 0},\n'


def caches(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache/hta_sql/doctor").glob("*"))


def test_the_screen_of_an_archive(doctor, folder, fault):
    """It names the fault first, with about the gain that the generator gives."""
    result = doctor(folder / "one")
    assert result.exit_code == 0 and result.stderr == ""
    lines = result.stdout.splitlines()
    gain = re.match(
        r"A step could take [\d.]+ % less time \(([\d.]+) ms\): the GPU waits for the data ",
        result.stdout.replace("\n", " "),
    )
    assert abs(float(gain[1]) * 1e6 - fault["gain_ns"]) < 0.25 * fault["gain_ns"]
    assert any(line.startswith("slow: 1 rank, NVIDIA H100") for line in lines)
    assert re.fullmatch("█+[▓▒]*░+", lines[lines.index("") + 2])
    assert f"   hta-sql run idle_reasons {folder / 'one'} --top-k 20" in lines
    assert len(lines) <= 24


def test_traces_are_ingested_once(doctor, folder, tmp_path):
    first, second = doctor(folder / "slow"), doctor(folder / "slow")
    [cache] = caches(tmp_path)
    assert first.exit_code == second.exit_code == 0
    said = f"archive of these traces: {cache}"
    skipped, read, *rest = first.stderr.splitlines()
    assert skipped.startswith("skipped truth.json: not a Kineto trace")
    assert read.startswith("slow rank 0: ingested, ") and rest == [said]
    assert second.stderr.splitlines() == [skipped, said]
    assert first.stdout == second.stdout
    assert f"hta-sql run idle_reasons {cache} --top-k 20" in first.stdout
    [command] = set(re.findall(r"hta-sql (run idle_reasons .*)", first.stdout))
    assert CliRunner().invoke(cli, command.split()).exit_code == 0


def test_the_cache_follows_the_paths(doctor, folder, tmp_path, monkeypatch):
    """Relative or absolute, in any order, they are the same; others have another cache."""
    monkeypatch.chdir(folder)
    doctor("slow", "fine", "--format", "json")
    doctor(folder / "fine", folder / "slow", "--format", "json")
    assert len(caches(tmp_path)) == 1
    doctor(*(folder / "slow").glob("*.json.gz"), "--format", "json")
    assert len(caches(tmp_path)) == 2


def test_traces_that_are_gone_are_not_shown(doctor, folder, tmp_path):
    traces = tmp_path / "traces"
    shutil.copytree(folder / "slow", traces / "a")
    shutil.copytree(folder / "fine", traces / "b")
    found = json.loads(doctor(traces, "--format", "json").stdout)
    assert [one["job"] for one in found["jobs"]] == ["a", "b"]
    shutil.rmtree(traces / "a")
    again = doctor(traces, "--format", "json")
    assert again.exit_code == 0
    assert [one["job"] for one in json.loads(again.stdout)["jobs"]] == ["b"]


def test_several_jobs_are_a_table(doctor, folder):
    lines = doctor(folder / "two").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["slow", "fine"]
    assert lines[-1] == f"To see one job: hta-sql doctor {folder / 'two'} --only-jobs JOB"
    one = doctor(folder / "two", "--only-jobs", "slow")
    assert "slow: 1 rank" in one.stdout and " --only-jobs slow\n" in one.stdout
    two = doctor(folder / "two", "--only-jobs", "slow,fine")
    assert two.stdout.splitlines() == lines


def test_several_archives(doctor, folder, tmp_path):
    hta_sql.ingest(folder / "fine", tmp_path / "other", workers=1)
    found = doctor(folder / "one", tmp_path / "other", "--only-jobs", "slow")
    assert f" {folder / 'one'} {tmp_path / 'other'} --top-k 20 --only-jobs slow" in found.stdout


@pytest.mark.parametrize(
    ("severity", "status"), [(None, 0), ("high", 3), ("medium", 3), ("low", 3)]
)
def test_fail_on(doctor, folder, severity, status):
    words = ["--fail-on", severity] if severity else []
    result = doctor(folder / "one", *words)
    assert result.exit_code == status
    assert result.stdout.startswith("A step could take")
    if severity:
        assert re.fullmatch(
            rf"--fail-on {severity}: \d findings? of this severity or above\n", result.stderr
        )


def test_nothing_to_fail_on(doctor, folder):
    result = doctor(folder / "two", "--only-jobs", "fine", "--fail-on", "medium")
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["nowhere"], 1, "Error: nowhere: no such file or folder\n"),
        (["empty"], 1, "Error: no traces in empty: looked for .*\n"),
        (["strange"], 1, "skipped .*\nError: no traces to read: .*other.json: .*\n"),
        (["broken"], 1, "Error: no traces to read: .*rank_0.json.gz: not JSON.*\n"),
        (["twice"], 1, ".*Error: no trace could be read: .*/a.json: .*\n"),
        (["{one}", "--only-jobs", "slwo"], 2, "Error: .*no job 'slwo'; did you mean 'slow'.*\n"),
        (["{one}", "-o", "no/where.md"], 2, ".*Error: Invalid value for -o: no: no such folder\n"),
        (["{one}", "-o", "a.pdf"], 1, "Error: a.pdf: unknown format; give --format text.*\n"),
        ([], 2, ".*Error: Missing argument 'TRACES...|ARCHIVE...'.\n"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    doctor, folder, tmp_path, monkeypatch, words, status, said
):
    monkeypatch.chdir(tmp_path)
    for name in ("empty", "strange", "broken"):
        (tmp_path / name).mkdir()
    (tmp_path / "strange/other.json").write_text("{}")
    (tmp_path / "broken/rank_0.json.gz").write_bytes(b"no gzip")
    for name in ("x/a", "x/b", "y/a", "y/b"):
        (tmp_path / "twice" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "twice" / f"{name}.json").write_text(trace_text([], _RANK_0))
    result = doctor(*(word.format(one=folder / "one") for word in words))
    assert result.exit_code == status and result.stdout == ""
    assert re.fullmatch(said.replace("|", r"\|"), result.stderr, re.DOTALL), result.stderr
    assert result.stderr.count("Error") == 1


def test_a_trace_that_cannot_be_read_fails_and_the_others_are_shown(doctor, tmp_path):
    traces = tmp_path / "mixed"
    traces.mkdir()
    (traces / "rank_0.json").write_text(trace_text([span("op", 0, 10)]))
    (traces / "rank_1.json.gz").write_bytes(b"no gzip")
    result = doctor(traces)
    assert result.exit_code == 1
    assert "mixed: 1 rank" in result.stdout.replace("\n", " ")
    assert "rank_1.json.gz" in result.stderr


@pytest.mark.parametrize("name", ["text.txt", "data.json", "text.md", "page.html"])
def test_files_by_extension(doctor, folder, tmp_path, name):
    result = doctor(folder / "one", "-o", tmp_path / name)
    assert (result.exit_code, result.stdout) == (0, "")
    text = (tmp_path / name).read_text(encoding="utf-8")
    begins = {"txt": "A step", "json": "{", "md": "## slow", "html": "<!DOCTYPE html>"}
    assert text.startswith(begins[name.partition(".")[2]])


def test_json_has_everything(doctor, folder):
    found = json.loads(doctor(folder / "two", "--format", "json").stdout)
    with hta_sql.open(folder / "two") as run:
        findings = run.query("findings").to_pylist()
        notes = run.query("trace_quality").to_pylist()
        splits = run.sql("FROM job_splits(NULL)").to_pylist()
    assert found["failed_count"] == 0
    got = [row for one in found["jobs"] for row in one["findings"]]
    for row, expected in zip(got, findings, strict=True):
        assert row == expected | {
            "evidence_numbers": json.loads(expected["evidence_numbers"]),
            "see": expected["see"].replace("ARCHIVE", str(folder / "two")),
        }
    assert [row for one in found["jobs"] for row in one["quality"]] == notes
    for one, expected in zip(found["jobs"], splits, strict=True):
        assert expected.items() <= one.items() and one["answer"]
        assert one["busy_frac"] == 1 - one["idle_ns"] / one["mean_ns"]


def test_the_function(folder, monkeypatch):
    said = []
    found = hta_sql.doctor(folder / "two", only_jobs=["slow"], report=said.append)
    assert [one.job for one in found] == ["slow"] and said == []
    assert found.to_dict()["jobs"][0]["findings"][0]["rule"] == "data_loading"
    assert found[0].top.rule == "data_loading"
    assert "<h2>slow</h2>" in found._repr_html_() and "A step could take" in str(found)
    assert len(hta_sql.doctor(folder / "one", only_jobs="slow")) == 1
    assert callable(hta_sql.doctor)  # not the module that has it
    with pytest.raises(BadParameter, match="give an archive or traces"):
        hta_sql.doctor()
    with pytest.raises(BadParameter, match="no job 'x'"):
        hta_sql.doctor(folder / "one", only_jobs=["x"])


def test_a_home_folder_is_a_tilde_in_commands(folder, doctor, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    command = re.search(r"hta-sql run idle_reasons (\S+)", doctor(folder / "slow").stdout)[1]
    [cache] = caches(tmp_path)
    assert command == f"~/cache/hta_sql/doctor/{cache.name}"
    assert os.path.expanduser(command) == str(cache)
