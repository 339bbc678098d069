"""The examples of README.md and docs/ run, in the order of their page.

In a `console` block each line with `$ ` is a command that exits with 0, and the lines below it are
in what it prints; `…` stands for any text. `python` blocks run, `sql` blocks are asked of the
archive. Each page starts in a folder of its own with what README.md makes: the traces `llama` and
their `archive`. A page with `s3://` in its examples also has a server with the buckets `traces`,
which holds `llama`, and `archives`, which is empty.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from shared import made_once

PROJECT = Path(__file__).parent.parent
GENERATED = {"queries.md", "api.md"}
# Tested by tests/hta_docs and tests/test_contributing.py.
ELSEWHERE = {"coming-from-hta.md", "hta-calls.md", "differences-from-hta.md", "CONTRIBUTING.md"}
PAGES = [
    PROJECT / "README.md",
    PROJECT / "CONTRIBUTING.md",
    *sorted((PROJECT / "docs").rglob("*.md")),
]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
LONGEST = 400


def blocks(page: Path) -> list[tuple[str, str]]:
    return FENCE.findall(page.read_text(encoding="utf-8"))


def runs(page: Path) -> bool:
    return any(language in ("console", "python", "sql") for language, _ in blocks(page))


def marks(page: Path) -> list[pytest.MarkDecorator]:
    text = page.read_text(encoding="utf-8")
    needed = [pytest.mark.processes]
    if re.search(r"^```(console|python)\n(?:(?!```).)*s3://", text, re.MULTILINE | re.DOTALL):
        needed.append(pytest.mark.s3)
    if "--engine ray" in text or 'engine="ray"' in text:
        needed.append(pytest.mark.ray)
    return needed


TESTED = [page for page in PAGES if page.name not in GENERATED | ELSEWHERE and runs(page)]


@pytest.fixture(scope="session")
def first_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `llama` and `archive`, as README.md makes them."""

    def make(folder: Path) -> None:
        shell("hta-sql demo llama --ranks 4 --steps 5", folder, environment())
        shell("hta-sql ingest llama archive", folder, environment())

    return made_once(tmp_path_factory, "first archive of pages", make)


@pytest.fixture
def buckets(first_archive, s3, fs):
    """An S3 server with the bucket `traces`, which holds `llama`, and the empty one `archives`."""
    for name in ("traces", "archives"):
        fs.mkdir(name)
    fs.put(str(first_archive / "llama"), "traces/llama", recursive=True)
    yield s3
    for name in ("traces", "archives"):
        fs.rm(name, recursive=True)


@pytest.mark.parametrize(
    "page", [pytest.param(p, id=p.name, marks=marks(p)) for p in TESTED if p.name != "README.md"]
)
def test_examples_run(page, first_archive, tmp_path, request):
    environ = environment()
    if any(mark.name == "s3" for mark in marks(page)):
        environ |= request.getfixturevalue("buckets").environ
    for name in ("llama", "archive"):
        run(["cp", "-r", str(first_archive / name), str(tmp_path)], tmp_path, environ)
    assert run_blocks(page, tmp_path, environ) > 0


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """Where `hta-sql doctor` keeps what it has read, away from the user's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.mark.processes
def test_examples_of_the_readme_run(tmp_path):
    assert run_blocks(PROJECT / "README.md", tmp_path, environment()) >= 6


def run_blocks(page: Path, folder: Path, environ: dict[str, str]) -> int:
    """Run the examples of a page; how many there were."""
    count = 0
    for language, text in blocks(page):
        if language == "python":
            run([sys.executable, "-W", "error", "-c", text], folder, environ)
            count += 1
        elif language == "sql" and (file := re.match(r"-- (models\.sql)\n", text)):
            (folder / file[1]).write_text(text)
            run(["hta-sql", "run", "op_flops", "archive", "--models", file[1]], folder, environ)
            count += 1
        elif language == "sql":
            run(["hta-sql", "sql", "archive", text.strip().removesuffix(";")], folder, environ)
            count += 1
        elif language == "console":
            for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
                printed = shell(command, folder, environ)
                missing = [want for want in shown.splitlines() if not shows(want, printed)]
                assert not missing, f"$ {command}\nshows not {missing} but\n{printed}"
                count += 1
    return count


def shows(want: str, printed: str) -> bool:
    pattern = ".*".join(map(re.escape, want.rstrip().split("…")))
    return re.search(rf"^{pattern}\s*$", printed, re.MULTILINE) is not None


def environment() -> dict[str, str]:
    beside = os.path.dirname(sys.executable)
    return os.environ | {"PATH": f"{beside}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}


@pytest.mark.parametrize("page", TESTED, ids=lambda page: page.name)
def test_figures_in_sentences_are_in_the_output(page):
    """A sentence such as "18.0 % longer" has its figure from a command of the page.

    Figures without a decimal point are round, or are given to a command.
    """
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    prose = " ".join(line for line in text.splitlines() if not line.startswith("|"))
    shown = " ".join(block for _, block in blocks(page))
    figures = set(re.findall(r"\d+\.\d+ (?:%|µs|ms)", prose))
    assert not {figure for figure in figures if figure not in shown}


def shell(line: str, folder: Path, environ: dict[str, str]) -> str:
    return run(["bash", "-o", "pipefail", "-c", line], folder, environ)


def run(command: list[str], folder: Path, environ: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def test_every_block_is_one_that_runs_or_is_no_example():
    """A fence without a language is a drawing, a file's form or a synopsis."""
    for page in PAGES:
        languages = {language for language, _ in blocks(page)}
        assert languages <= {"", "console", "python", "sql", "csv"}, page.name


def test_pages_are_short():
    assert len((PROJECT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
    for page in PAGES:
        if page.name not in GENERATED:
            size = len(page.read_text(encoding="utf-8").splitlines())
            assert size <= LONGEST, f"{page.name} has {size} lines"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"\w+:", link):
            continue
        file, _, heading = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{page.name}: {link}"
        if heading and target.suffix == ".md":
            assert heading in anchors(target), f"{page.name}: {link}"


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as GitHub makes them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }


def test_every_page_is_reached_from_the_way_in():
    """docs/README.md links every page, README.md links docs/README.md."""
    assert "docs/README.md" in LINK.findall((PROJECT / "README.md").read_text(encoding="utf-8"))
    way_in = PROJECT / "docs/README.md"
    linked = {
        (way_in.parent / link.partition("#")[0]).resolve()
        for link in LINK.findall(way_in.read_text(encoding="utf-8"))
    }
    pages = {p for p in (PROJECT / "docs").glob("*.md") if p != way_in}
    assert pages <= linked, sorted(p.name for p in pages - linked)
