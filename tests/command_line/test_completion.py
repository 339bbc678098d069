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
WITH_BIN = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
# Types a line and presses TAB, as bash does: it calls the function with the line's words.
BASH = """
eval "$(hta-sql completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
compopt() { echo "$2"; }
_hta_sql_completion hta-sql
printf '%s\\n' "${COMPREPLY[@]}"
"""

# Types each line, presses TAB and makes it a comment of `:`, which runs nothing. Then the history
# has the completed lines.
ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'bindkey -e; autoload -Uz compinit; compinit -D -u'
zpty -w shell 'eval "$(hta-sql completion zsh)"'
for words in "$@"; do
    zpty -n -w shell "hta-sql $words"$'\t\x01: \x05\n'
done
zpty -w shell 'print "TY""PED"; fc -ln 3 -1; exit'
zpty -r shell seen '*no end*'
print -r -- "$seen"
"""


def bash(*words):
    """What bash completes for the last word."""
    done = subprocess.run(
        ["bash", "-c", BASH, "bash", "hta-sql", *map(str, words)],
        capture_output=True,
        text=True,
        env=WITH_BIN,
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


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish():
    words = ("kernel_st", "kernel_stats archive --columns rank,tot")
    asked = [f"complete -C 'hta-sql run {word}'" for word in words]
    program = "; ".join(["hta-sql completion fish | source", *asked])
    done = subprocess.run(
        ["fish", "--no-config", "-c", program], capture_output=True, text=True, env=WITH_BIN
    )
    said = Catalog.load().find("kernel_stats").summary
    assert "," in said
    lines = [f"kernel_stats\t{said}", "rank,total_frac", "rank,total_ns"]
    assert (done.stdout.splitlines(), done.stderr) == (lines, "")


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh(demo_archive):
    """An interactive shell on a terminal of its own, in which TAB is pressed."""
    cases = {
        "run kernel_st": "run kernel_stats",
        "run kernel_stats archive --top": "run kernel_stats archive --top-k",
        "run op_stats archive --columns rank,na": "run op_stats archive --columns rank,name",
        f"run kernel_stats {demo_archive} --only-jobs tr": (
            f"run kernel_stats {demo_archive} --only-jobs traces"
        ),
    }
    done = subprocess.run(
        ["zsh", "-f", "-c", ZSH, "zsh", *cases], capture_output=True, text=True, env=WITH_BIN
    )
    seen = done.stdout.partition("TYPED")[2].split()
    assert " ".join(seen) == " ".join(f": hta-sql {line}" for line in cases.values()), done


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
