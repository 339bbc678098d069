"""Paths in an archive."""

import json
import subprocess
import sys

import pytest
from paths.kept.stored_paths import invoke, path_files, windows

import hta_sql
from hta_sql.demo import write_job
from hta_sql.errors import ArchiveError, BadParameter, HtaSqlError

pytestmark = pytest.mark.queries


def test_a_window_computed_again_replaces_itself(archive):
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1)
        before = path_files(archive)
        first = run.critical_path().to_pylist()
        [computed] = run.compute_critical_path(step=1)
        assert computed.ranks == [0, 1] and computed.left_out_count == 0
        assert run.critical_path().to_pylist() == first != []
        after = path_files(archive)
        assert len(before) == len(after) == 1 and before != after
        run.compute_critical_path(step=0, only_ranks=[1])
        run.compute_critical_path()
    assert windows(archive) == [
        ("llama", "step 0", [1]),
        ("llama", "step 1", [0, 1]),
        ("llama", "trace", [0, 1]),
    ]
    assert len(path_files(archive)) == 3


def test_windows_of_several_jobs_computed_again(archive, tmp_path):
    """That the paths of the first have gone does not stop the next."""
    hta_sql.ingest([tmp_path / "llama"], archive, job="other")
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1)
        before = run.critical_path().to_pylist()
        assert len(run.compute_critical_path(step=1)) == 2
        assert run.critical_path().to_pylist() == before != []
    assert windows(archive) == [("llama", "step 1", [0, 1]), ("other", "step 1", [0, 1])]


def test_paths_go_with_their_traces(archive, tmp_path):
    """One rank ingested anew: what was computed of it no longer counts, and goes."""
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1)
        run.compute_critical_path(step=1, only_ranks=[0])
        run.compute_critical_path(step=0)
    hta_sql.ingest([tmp_path / "llama" / "rank_1.json"], archive, force=True)
    assert windows(archive) == [("llama", "step 1", [0])]
    with hta_sql.open(archive) as run:
        assert {row["path_window"] for row in run.critical_path().to_pylist()} == {"step 1"}
        assert set(run.critical_path()["rank"].to_pylist()) == {0}
        run.compute_critical_path()
    assert windows(archive) == [("llama", "step 1", [0]), ("llama", "trace", [0, 1])]
    assert len(path_files(archive)) == 2


def test_other_files_leave_paths_alone(archive, tmp_path):
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1)
    before = path_files(archive)
    timeline = tmp_path / "llama" / "rank_1.raw.json"
    timeline.write_text("[[1000, 1, 512, 0], [2000, 3, -512, 0]]")
    summary = hta_sql.ingest([tmp_path / "llama"], archive)
    assert [outcome.status for outcome in summary.attachments] == ["ingested"]
    assert path_files(archive) == before
    assert windows(archive) == [("llama", "step 1", [0, 1])]
    with hta_sql.open(archive) as run:
        assert set(run.critical_path()["rank"].to_pylist()) == {0, 1}


def test_several_archives(archive, tmp_path):
    write_job(tmp_path / "other", ranks=1, steps=2, layers=1, gzip=False)
    hta_sql.ingest([tmp_path / "other"], tmp_path / "second")
    with hta_sql.open(archive, tmp_path / "second") as run:
        run.compute_critical_path(step=1)
        assert set(run.critical_path()["job"].to_pylist()) == {"llama", "other"}
    assert windows(archive) == [("llama", "step 1", [0, 1])]
    assert windows(tmp_path / "second") == [("other", "step 1", [0])]


def test_a_shell_sees_them(archive):
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1)
        wanted = run.critical_path_summary().num_rows
    shell = subprocess.run(
        [
            sys.executable,
            "-m",
            "hta_sql.cli",
            "shell",
            str(archive),
            "-c",
            "SELECT count(*) AS n FROM critical_path_summary()",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f" {wanted} " in shell.stdout


def test_an_archive_that_cannot_be_written(archive):
    with hta_sql.open(archive) as run:
        (archive / ".staging").rmdir()
        (archive / ".staging").write_text("in the way")
        with pytest.raises(ArchiveError, match="stored in the archive, which cannot be written"):
            run.compute_critical_path(step=1)
    assert windows(archive) == []


def test_nothing_stays_of_what_fails(archive):
    with hta_sql.open(archive) as run:
        with pytest.raises(RuntimeError, match="stop"):
            run.compute_critical_path(step=1, progress=stop)
        assert list((archive / ".staging").iterdir()) == []
        with pytest.warns(UserWarning, match="the archive has no critical path"):
            assert run.critical_path().num_rows == 0
        assert not (archive / "path_edges").exists()


def test_a_question_without_paths_says_what_computes_them(unchanged_archive, archive):
    hint = "the archive has no critical path; `hta-sql critical-path ARCHIVE` computes it"
    for words in (["run", "what_if"], ["run", "critical_path_ranks"]):
        result = invoke(*words, unchanged_archive)
        assert result.exit_code == 0 and hint in result.stderr
    assert hint in invoke("sql", unchanged_archive, "FROM critical_path_summary()").stderr
    assert hint not in invoke("run", "temporal_breakdown", unchanged_archive).stderr
    with hta_sql.open(archive) as run:
        with pytest.warns(UserWarning, match=f"^{hint}$"):
            run.sql("FROM critical_path()")
        run.compute_critical_path(step=1)
        assert run.what_if().num_rows > 0  # no warning


def stop(job, done, total):
    if done:
        raise RuntimeError("stop")


@pytest.mark.parametrize(
    ("given", "kind", "says"),
    [
        ({"step": 7}, HtaSqlError, "^these traces have no step 7; there are steps 0, 1$"),
        (
            {"step": 7, "only_ranks": [1]},
            HtaSqlError,
            "^the traces of these jobs and ranks have no step 7; there are steps 0, 1$",
        ),
        (
            {"step": 1, "only_ranks": [5]},
            BadParameter,
            "^the archive has no rank 5; its ranks are 0, 1$",
        ),
        (
            {"only_jobs": "nobody"},
            BadParameter,
            "^the archive has no job 'nobody'; it has 'llama'$",
        ),
        (
            {"annotation": "nobody"},
            HtaSqlError,
            "no annotation with 'nobody' in its name; annotation_",
        ),
        (
            {"annotation": "ProfilerStep", "instance": 2},
            HtaSqlError,
            "no instance 2 of 'ProfilerStep'; a rank has at most 2, numbered 0 to 1",
        ),
        (
            {"step": 1, "annotation": "x"},
            BadParameter,
            "give either a step or an annotation, not both",
        ),
        ({"step": "1"}, BadParameter, "step is '1'; give a whole number, 0 or more"),
        ({"step": -1}, BadParameter, "step is -1; give a whole number"),
        ({"instance": 1}, BadParameter, "instance needs an annotation"),
        (
            {"annotation": "x", "instance": -1},
            BadParameter,
            "instance is -1; give a whole number, 0 or more",
        ),
        ({"annotation": ""}, BadParameter, "annotation is ''; give the name of an annotation"),
        ({"only_ranks": "x"}, BadParameter, "only_ranks is INTEGER"),
        (
            {"data_loading": [""]},
            BadParameter,
            "data_loading is .*; give a list of names or parts of names",
        ),
        (
            {"faster": {"gemm": 1}},
            BadParameter,
            "faster is .*; give a mapping from names to factors",
        ),
        ({"faster": {"gemm": "2"}}, BadParameter, "faster is .*, which are above 1"),
        ({"faster": {"gemm": float("inf")}}, BadParameter, "faster is .*, which are above 1"),
        ({"faster": {1: 2}}, BadParameter, "faster is"),
        ({"faster": ["gemm"]}, BadParameter, "faster is"),
    ],
)
def test_what_cannot_be(unchanged_archive, given, kind, says):
    with hta_sql.open(unchanged_archive) as run, pytest.raises(kind, match=says):
        run.compute_critical_path(**given)
    assert windows(unchanged_archive) == []


def test_a_name_is_a_list_of_one(archive):
    with hta_sql.open(archive) as run:
        [computed] = run.compute_critical_path(
            step=1, only_jobs="llama", only_ranks=1, data_loading="fetch"
        )
        assert computed.ranks == [1]
        [row] = run.sql("SELECT data_loading FROM critical_paths").to_pylist()
        assert row["data_loading"] == ["enumerate(DataLoader)", "fetch"]


def test_command(archive):
    result = invoke(
        "critical-path", archive, "--step", 1, "--faster", "nothing=2.5", "--format", "json"
    )
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert {row["rank"] for row in rows} == {0, 1} and {row["path_window"] for row in rows} == {
        "step 1"
    }
    assert "llama, step 1: 2 ranks, " in result.stderr
    [row] = [
        row
        for row in json.loads(invoke("run", "what_if", archive, "--format", "json").stdout)
        if row["subject"] == "nothing"
    ]
    assert (row["factor"], row["gain_ns"]) == (2.5, 0)
    assert "Warning: --faster: nothing in 'step 1' is named 'nothing'; " in result.stderr
    one = invoke("critical-path", archive, "--only-ranks", "1", "--only-jobs", "llama")
    assert one.exit_code == 0 and "llama, trace: 1 rank, " in one.stderr


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--step", "9"], 1, "have no step 9; there are steps 0, 1"),
        (["--step", "1", "--annotation", "x"], 2, "give either a step or an annotation, not both"),
        (["--faster", "gemm"], 2, "'gemm' is not NAME=TIMES"),
        (["--faster", "gemm=-1"], 2, "'gemm=-1' is not NAME=TIMES"),
        (["--faster", "gemm=inf"], 2, "'gemm=inf' is not NAME=TIMES"),
        (["--faster", "gemm=0.5"], 2, "'gemm=0.5' is not NAME=TIMES with TIMES above 1"),
        (["--faster", "gemm=2", "--faster", "gemm=3"], 2, "a name is given twice"),
        (["--annotation", ""], 2, "annotation is ''; give the name of an annotation"),
        (["--data-loading", ""], 2, "give a list of names or parts of names"),
        (["--step", "1", "-o", "out.foo"], 1, "out.foo: unknown format; give --format"),
        (["--only-ranks", "x"], 2, "'x' is not a valid integer"),
    ],
)
def test_command_refuses(unchanged_archive, words, code, says):
    result = invoke("critical-path", unchanged_archive, *words)
    assert (result.exit_code, says in result.stderr) == (code, True), result.stderr
    assert len([line for line in result.stderr.splitlines() if line.startswith("Error")]) == 1
    assert windows(unchanged_archive) == []
