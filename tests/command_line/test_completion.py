"""`hta-sql completion`: what a shell completes on TAB."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli

BIN = Path(sys.executable).parent
# Types a line and presses TAB, as bash does: it calls the function with the line's words.
BASH = """
eval "$(hta-sql completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
compopt() { echo "$2"; }
_hta_sql_completion hta-sql
printf '%s\\n' "${COMPREPLY[@]}"
"""


def bash(*words):
    """What bash completes for the last word."""
    done = subprocess.run(
        ["bash", "-c", BASH, "bash", "hta-sql", *map(str, words)],
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_bash(demo_archive):
    [job] = {folder.name for folder in (demo_archive / "events").iterdir()}
    cases = [
        (["crit"], ["critical-path"]),
        (["run", "kernel_s"], ["kernel_sequences", "kernel_stats"]),
        (["run", "kernel_stats", "--top"], ["--top-k"]),
        (["run", "kernel_stats", demo_archive, "--columns", "rank,na"], ["rank,name"]),
        (["run", "kernel_stats", demo_archive, "--sort", "-me"], ["-mean_ns"]),
        (["run", "kernel_stats", demo_archive, "--only-jobs", ""], [job.removeprefix("job=")]),
        (["run", "kernel_stats", demo_archive, "--format", "x"], ["xlsx"]),
        (["run", "kernel_stats", "ar"], ["default", ""]),
        (["diff", "a", "b", "--table", "kernel"], ["kernel_diff"]),
        (["run", "no_such_query", "--top"], [""]),
        (["run", "kernel_stats", "/nowhere", "--only-jobs", ""], [""]),
    ]
    assert [bash(*words) for words, _ in cases] == [found for _, found in cases]


@pytest.mark.parametrize(
    ("words", "word"),
    [
        ("hta-sql run kernel_stats archive --columns na", "name"),
        ("hta-sql run kernel_stats archive --only-jobs ", ""),
    ],
)
def test_completion_is_light(words, word):
    """It loads neither DuckDB nor Arrow."""
    program = (
        "import sys; sys.argv = ['hta-sql']; from hta_sql.cli import cli\n"
        "try: cli(prog_name='hta-sql')\n"
        "finally: print({'duckdb', 'pyarrow', 'numpy'} & set(sys.modules))"
    )
    asked = {
        "_HTA_SQL_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ | asked
    )
    assert done.stdout.splitlines()[-1] == "set()" and word in done.stdout


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts_of_other_shells(shell):
    script = CliRunner().invoke(cli, ["completion", shell], prog_name="hta-sql").stdout
    assert f"_HTA_SQL_COMPLETE={shell}_complete" in script
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish():
    program = "hta-sql completion fish | source; complete -C 'hta-sql run kernel_st'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", program],
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
    )
    said = Catalog.load().find("kernel_stats").summary
    assert done.stdout.startswith(f"kernel_stats\t{said.partition(',')[0]}")


def test_near_values(demo_archive, tmp_path):
    """Errors of values that are not known suggest one that is."""
    for words, says in (
        (["run", "kernel_stats", demo_archive, "--format", "jsn"], "Did you mean 'json'?"),
        (["demo", tmp_path, "--change", "slow_kernl"], "Did you mean 'slow_kernel'?"),
        (["demo", tmp_path, "--bottleneck", "stragler"], "; did you mean 'straggler'?"),
        (["diff", "a", "b", "--table", "kernel_dif"], "; did you mean 'kernel_diff'? give one of"),
        (["diff", "a", "b", "--fail-if", "step_tme > 3%"], "; did you mean 'step_time'? give one"),
        (["drop", demo_archive, "--job", "trace"], "; did you mean 'traces'? there are"),
    ):
        result = CliRunner().invoke(cli, [str(word) for word in words], prog_name="hta-sql")
        assert result.exit_code in (1, 2) and says in result.stderr, result.stderr
