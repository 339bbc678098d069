"""Which files of a tree are a job: links, names, folders that claim to be one job."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from hand_written import rows, span, trace_text

import hta_sql
from hta_sql.cli import cli
from hta_sql.errors import IngestError


def write(path: Path, count: int = 3) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(trace_text([span(f"op{at}", ts=at * 10, dur=2) for at in range(count)]))
    return path


def jobs(archive: Path) -> dict[str, list[tuple]]:
    """(rank, events) of each job."""
    found: dict[str, list[tuple]] = {}
    with hta_sql.open(archive) as run:
        for job, *rest in rows(run, "SELECT job, rank, event_count FROM traces ORDER BY ALL"):
            found.setdefault(job, []).append(tuple(rest))
    return found


# Links


def test_a_link_to_the_latest_run_is_no_job(tmp_path):
    """Neither of a folder nor of a file, as long as it is there by its own name."""
    runs, archive = tmp_path / "runs", tmp_path / "a"
    for number in (17, 18):
        trace = write(runs / f"run-{number}/rank_0.json", count=number)
        for link, target in (("latest", trace.parent), ("a.json", trace)):
            runs.joinpath(link).unlink(missing_ok=True)
            runs.joinpath(link).symlink_to(target.relative_to(runs))
        hta_sql.ingest(runs, archive)
        wanted = {f"run-{at}": [(0, at)] for at in range(17, number + 1)}
        assert jobs(archive) == wanted
    hta_sql.ingest(runs / "latest", tmp_path / "b")
    assert jobs(tmp_path / "b") == {"run-18": [(0, 18)]}


def test_links_to_what_is_found_nowhere_else_count(tmp_path):
    """To elsewhere, to hidden folders, and to files of other names."""
    write(tmp_path / "store/rank_0.json", count=4)
    write(tmp_path / "t/.cache/x/rank_0.json", count=5)
    write(tmp_path / "t/blobs/7f3a", count=6)
    (tmp_path / "t/far").symlink_to(tmp_path / "store")
    (tmp_path / "t/near").symlink_to(".cache/x")
    (tmp_path / "t/file").mkdir()
    (tmp_path / "t/file/rank_0.json").symlink_to("../blobs/7f3a")
    hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    assert jobs(tmp_path / "a") == {"far": [(0, 4)], "file": [(0, 6)], "near": [(0, 5)]}


def test_links_in_circles_end(tmp_path):
    write(tmp_path / "t/j/rank_0.json")
    write(tmp_path / "other/k/rank_0.json", count=4)
    for at in range(5):
        (tmp_path / f"t/self{at}").symlink_to(".")
        (tmp_path / f"t/up{at}").symlink_to("..")
        (tmp_path / f"t/other{at}").symlink_to("../other")
        (tmp_path / f"other/back{at}").symlink_to("../t")
        (tmp_path / f"other/k/around{at}").symlink_to("..")
    hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    assert jobs(tmp_path / "a") == {"j": [(0, 3)], "other0/k": [(0, 4)]}


# Names


def test_a_name_too_long_costs_its_own_files(tmp_path):
    long = "训练任务" * 8
    write(tmp_path / "t/good/rank_0.json")
    write(tmp_path / f"t/{long}/rank_0.json")
    summary = hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    assert jobs(tmp_path / "a") == {"good": [(0, 3)]}
    [error] = [outcome.error for outcome in summary.traces if outcome.error]
    said = f"job '{long}': the name is too long for a folder; shorten it with --job NAME"
    assert error == said
    with pytest.raises(IngestError, match=said):
        hta_sql.ingest(tmp_path / "t" / long, tmp_path / "b")
    hta_sql.ingest(tmp_path / "t" / long, tmp_path / "b", job="short")
    assert jobs(tmp_path / "b") == {"short": [(0, 3)]}


# Folders that claim to be one job


def test_two_runs_of_one_name_are_not_mixed(tmp_path):
    """Where ranks of two folders are the same, none of the later one's counts."""
    for root, ranks in (("one", 2), ("two", 4)):
        for rank in range(ranks):
            write(tmp_path / root / f"run/rank_{rank}.json", count=ranks)
        write(tmp_path / root / f"only-{root}/rank_0.json")
    archive = tmp_path / "a"
    hta_sql.ingest(tmp_path / "one", archive)
    summary = hta_sql.ingest(tmp_path / "two", archive)
    assert jobs(archive) == {"only-one": [(0, 3)], "only-two": [(0, 3)], "run": [(0, 2), (1, 2)]}
    errors = {outcome.rank: outcome.error for outcome in summary.traces if outcome.error}
    assert set(errors) == {0, 1, 2, 3}
    assert errors[0].startswith("the archive has rank 0 of job 'run' from ")
    assert errors[3] == (
        "left out, since job 'run' has rank 1 from another folder, which may be another run; "
        "name another job with --job"
    )
    hta_sql.ingest([tmp_path / "one", tmp_path / "two"], tmp_path / "b")
    assert jobs(tmp_path / "b") == {"only-one": [(0, 3)], "only-two": [(0, 3)]}


def test_a_run_that_grows_or_moved_is_the_same(tmp_path):
    """New and changed ranks of its folder, also of a copy of it elsewhere."""
    archive = tmp_path / "a"
    for rank in range(2):
        write(tmp_path / f"t/run/rank_{rank}.json")
    write(tmp_path / "t/other/rank_0.json")
    hta_sql.ingest(tmp_path / "t", archive)
    write(tmp_path / "t/run/rank_1.json", count=5)
    write(tmp_path / "t/run/rank_2.json", count=6)
    assert not hta_sql.ingest(tmp_path / "t", archive).failed
    (tmp_path / "t").rename(tmp_path / "u")
    write(tmp_path / "u/run/rank_3.json", count=7)
    assert not hta_sql.ingest(tmp_path / "u", archive).failed
    assert jobs(archive)["run"] == [(0, 3), (1, 5), (2, 6), (3, 7)]


def test_two_of_one_rank_in_one_folder_cost_no_other(tmp_path):
    for name in ("rank_0.json", "again_rank_0.json", "rank_1.json"):
        write(tmp_path / "t/run" / name)
    write(tmp_path / "t/other/rank_0.json")
    assert hta_sql.ingest(tmp_path / "t", tmp_path / "a").failed == 2
    assert jobs(tmp_path / "a") == {"other": [(0, 3)], "run": [(1, 3)]}


# What is said


def test_many_that_are_skipped_are_one_line(tmp_path):
    for at in range(6):
        write(tmp_path / f"t/j{at}/rank_0.json")
        (tmp_path / f"t/j{at}/meta.json").write_text('{"lr": 1}')
    (tmp_path / "t/j0/other.json").write_text('{"x": 1}')
    said = []
    hta_sql.ingest(tmp_path / "t", tmp_path / "a", report=said.append)
    why = 'not a Kineto trace: no "traceEvents"'
    assert sorted(said) == [
        f'skipped 6 files, such as {tmp_path}/t/j0/meta.json: {why} (found "lr")',
        f'skipped other.json: {why} (found "x")',
    ]


def test_a_folder_for_outcomes_that_is_not_there(tmp_path):
    write(tmp_path / "t/rank_0.json")
    out = tmp_path / "gone/o.csv"
    words = ["ingest", tmp_path / "t", tmp_path / "a", "--outcomes", out]
    result = CliRunner().invoke(cli, list(map(str, words)))
    assert result.exit_code == 2 and not (tmp_path / "a").exists()
    assert f"Invalid value for --outcomes: {out.parent}: no such folder" in result.stderr
    os.mkdir(out.parent)
    assert CliRunner().invoke(cli, list(map(str, words))).exit_code == 0 and out.exists()
