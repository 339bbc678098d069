"""What type checkers and editors know of hta_sql: the queries and their parameters."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.stubs import FILE, stubs

PROJECT = Path(__file__).parent.parent
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
# Pages on HTA's calls say that `run` is this.
FIRST = 'import hta_sql\nrun = hta_sql.open("archive")\n'
# Each line is an error, whose kind mypy gives at its end.
WRONG = """\
run.kernel_stats(topk=3)  # call-arg
run.kernel_stats(top_k="3")  # arg-type
run.temporal_breakdown(0)  # call-arg
run.call_stack()  # call-arg
run.kernel_stat()  # attr-defined
hta_sql.compare("a", "b").kernel_diff(top=3)  # call-arg
hta_sql.compare("a", "b").kernel_stats()  # attr-defined
run.compute_critical_path(steps=3)  # call-arg
hta_sql.ingset("traces", "archive")  # attr-defined
hta_sql.doctor("traces")[0].finding  # attr-defined
""".splitlines()


def test_types_are_current():
    assert FILE.read_text(encoding="utf-8") == stubs(Catalog.load()), "run: make docs"


@pytest.fixture(scope="module")
def errors(tmp_path_factory) -> dict[str, list[str]]:
    """The errors that mypy finds in the Python of each page and notebook, and in WRONG."""
    pytest.importorskip("mypy", reason="no mypy: a test of types")
    folder = tmp_path_factory.mktemp("types")
    texts = {"wrong": "\n".join(WRONG)}
    for page in PAGES:
        if found := re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S):
            texts[page.name] = "\n".join(found)
    for notebook in sorted((PROJECT / "docs").glob("*.ipynb")):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        texts[notebook.name] = "\n".join(code)
    names = {re.sub(r"\W", "_", name): name for name in texts}
    for module, name in names.items():
        (folder / f"{module}.py").write_text(f"{FIRST}{texts[name]}\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--follow-imports=silent"]
        + ["--no-error-summary", "--hide-error-context", "--cache-dir", str(folder / "cache")]
        + ["--allow-redefinition", "--output", "json"]
        + [f"{module}.py" for module in names],
        cwd=folder,
        capture_output=True,
        text=True,
        env={"MYPYPATH": str(PROJECT)},
    )
    assert done.stderr == ""
    found = {name: [] for name in texts}
    for error in map(json.loads, done.stdout.splitlines()):
        if error["severity"] == "error":
            found[names[Path(error["file"]).stem]].append(error)
    return found


@pytest.mark.processes
def test_examples_have_no_type_errors(errors):
    wrong = {name: found for name, found in errors.items() if found and name != "wrong"}
    assert wrong == {}, wrong
    assert {"README.md", "python.md", "tour.ipynb"} <= errors.keys()


@pytest.mark.processes
def test_each_mistake_is_found(errors):
    kinds = {(error["line"] - 3, error["code"]) for error in errors["wrong"]}
    for number, line in enumerate(WRONG):
        assert (number, line.partition("# ")[2]) in kinds, line
