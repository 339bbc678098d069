"""Names of jobs, ranks and steps on the command line, and results without rows."""

import pytest
from click.testing import CliRunner
from own_queries import GOOD_QUERY, NAMED_QUERY, write_query

from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli


def run(*words):
    return CliRunner(env={"COLUMNS": "120"}).invoke(
        cli, [str(word) for word in words], prog_name="hta-sql"
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--only-jobs", "jop"], "the archive has no job 'jop'; did you mean 'job'? it has 'job'"),
        (["--only-ranks", "1,7"], "the archive has no rank 7; its ranks are 0, 1"),
    ],
)
def test_names_of_nothing(tiny_archive, tmp_path, words, says):
    out = tmp_path / "out.csv"
    result = run("run", "kernel_stats", tiny_archive, *words, "-o", out)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1] == f"Error: {says}"
    assert not out.exists()


def test_steps_of_nothing(demo_archive, tmp_path):
    out = tmp_path / "out.csv"
    words = ["run", "profiler_steps", demo_archive, "--only-steps", "9"]
    for more in ([], ["--format", "json"], ["-o", out]):
        result = run(*words, *more)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.splitlines()[-1] == (
            "Error: the archive has no step 9; its steps are 0, 1"
        )
    assert not out.exists()


@pytest.mark.parametrize("words", [[], ["--format", "json"], ["--format", "csv"]])
def test_why_there_are_no_rows(tiny_archive, words):
    result = run("run", "profiler_steps", tiny_archive, *words)
    assert result.exit_code == 0
    assert result.stderr.splitlines()[-1] == (
        "profiler_steps has no rows: the traces have no annotations that mark steps; call the "
        "profiler's step() after each step of the program, or name other annotations with "
        "`hta-sql refresh ARCHIVE --steps REGEX`"
    )
    assert result.stderr.startswith("no rows\n") == (not words)


def test_a_file_without_rows_is_written(tiny_archive, tmp_path):
    out = tmp_path / "out.csv"
    assert run("run", "profiler_steps", tiny_archive, "-o", out).exit_code == 0
    assert out.read_text().startswith('"job","rank","step"')
    assert len(out.read_text().splitlines()) == 1


def test_no_words_about_rows(tiny_archive):
    assert run("run", "kernel_stats", tiny_archive).stderr == ""
    result = run("run", "idle_gaps", tiny_archive, "--min-gap-ns", 10**15)
    assert result.stderr == "no rows\n"


def test_list_for_an_archive(tmp_path, tiny_archive, monkeypatch):
    needs = "-- grain: job, rank\n-- needs: gpu_activities\n"
    write_query(
        tmp_path, "gpu/total_time.v1.sql", GOOD_QUERY.replace("-- grain: job, rank\n", needs)
    )
    needs = "-- needs: steps, memory_instants\n-- returns:"
    write_query(tmp_path, "host/named.v1.sql", NAMED_QUERY.replace("-- returns:", needs))
    queries = Catalog.read(tmp_path)
    whole = Catalog.load()
    catalog = Catalog(whole.root, (*queries.queries,))
    monkeypatch.setattr(Catalog, "load", staticmethod(lambda: catalog))
    assert run("list", "--for", tiny_archive).stdout == (
        "gpu\n"
        "  total_time  How long each rank's kernels ran.\n"
        "\n"
        "No answer in this archive:\n"
        "\n"
        "host\n"
        "  named       the traces have no annotations that mark steps; call the profiler's step() "
        "after each step of the "
        "program,\n"
        "              or name other annotations with `hta-sql refresh ARCHIVE --steps REGEX`\n"
        "              the traces have no [memory] events; record with profile_memory=True\n"
        "\n"
        "To see what a query does: hta-sql run QUERY --help\n"
        "To run a query: hta-sql run QUERY ARCHIVE\n"
    )
    nowhere = run("list", "--for", tmp_path / "none")
    assert (nowhere.exit_code, nowhere.stdout) == (1, "")
