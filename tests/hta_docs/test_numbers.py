"""Every number in the text is one that comes out."""

import re
from decimal import Decimal
from importlib import import_module

import pytest
from hta_cases import hta_kind, needs_hta_outputs
from hta_docs.documents import ENTRIES, is_rounded, numbers_in, sections
from hta_docs.entries import ENTRY_NUMBERS

pytestmark = pytest.mark.queries

# Their functions say the numbers of their entries, in the order of the text.
for name in ("times", "breakdowns", "queues", "operators", "critical_paths"):
    import_module(f"hta_docs.{name}")


def test_text_is_read_as_meant():
    text = "# A\n## B\nb\n```\n# code\n```\n### C\nc\n## D\nd\n"
    assert sections(text, 2) == {"B": "b\n```\n# code\n```\n### C\nc\n", "D": "d\n"}
    assert sections(text, 3) == {"C": "c\n"}
    assert numbers_in("In `a_1`, of H100s, 1,234.50 µs and 3e-14, or -1 µs.") == [
        Decimal("1234.50"),
        Decimal("3e-14"),
        Decimal(-1),
    ]
    assert is_rounded(Decimal("0.21"), 0.208) and not is_rounded(Decimal("0.20"), 0.208)
    assert is_rounded(Decimal("3e-14"), 2.8e-14) and not is_rounded(Decimal(0), 0.1)
    assert not is_rounded(Decimal(1), 0)


@needs_hta_outputs
def test_kinds_of_names(real_run):
    text = ENTRIES["Kernel kinds follow different rules"]
    rows = re.findall(r"^\| `(.*)` \| (\w+) \| (\w+) \|$", text, re.MULTILINE)
    assert len(rows) == 6
    for name, theirs, here in rows:
        assert (hta_kind(name) or "none") == theirs, name
        found = real_run.con.execute("SELECT kind_of_name($1)", [name]).fetchall()
        assert found == [(here,)], name


def test_every_entry_has_its_numbers():
    assert list(ENTRIES) == list(ENTRY_NUMBERS)


@needs_hta_outputs
@pytest.mark.parametrize("heading", ENTRY_NUMBERS)
def test_numbers_of_the_differences(real_paths_run, tmp_path, heading):
    shown = numbers_in(ENTRIES[heading])

    def ours(query: str, job: str, **parameters) -> list[dict]:
        return real_paths_run.query(query, only_jobs=[job], **parameters).to_pylist()

    ours.run = real_paths_run
    values = ENTRY_NUMBERS[heading](ours, tmp_path)
    assert shown
    assert len(shown) == len(values), (shown, values)
    wrong = [pair for pair in zip(shown, values, strict=True) if not is_rounded(*pair)]
    assert not wrong, (shown, values)
