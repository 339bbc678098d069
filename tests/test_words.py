"""Plain words: what people read has none of the turns that they had to read twice."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
# A turn, and what to write in its place.
OUT = {
    r"\b(told|untold)\b(?! apart)": "given, reported, recorded",
    r"\btells? (?!you)": "says, shows, records",
    r"\bNULL means\b": "[default: …], or: NULL if …",
    r"\bno counterpart\b": "nothing: only differences from HTA matter",
    r"\banew\b": "again",
    r"\bwhoever\b": "a sentence with a subject",
    r"\bdoes as well\b": "any … will do",
    r"\botherwise than\b": "differently from",
    r"\bas good as\b": "what it is",
    r"\blikewise\b": "the sentence itself",
    r"\bwhat of\b|\bwhat no\b": "a noun",
    r"\bhang together\b|\bbelongs? to nobody\b|\bnone of (its|their) business\b": "plain terms",
    r"\bprime's remainders\b": "a checksum",
    r"\b(longer|shorter|more|less) a (call|step|rank|second)\b": "per call",
    r"\b(bytes|operations|calls|times?|bar|line|row|file) a (second|call|rank|step|job)\b": "per",
    r"\blate are\b|\bcomputed is\b|\btested is\b|\bstored, too\b": "subject, verb, object",
    r"\bby which a half\b|\bthe roof of\b": "median; roofline",
    r"\bseldom\b|\bthereof\b|\bbe it\b|\bas was\b": "everyday words",
    r"\bat one time\b": "at the same time",
}
READ = {
    "sql": ("**/*.sql", r"--.*"),
    "hta_sql": ("**/*.py", None),
    "docs": ("**/*.md", None),
    ".": ("*.md", None),
    "benchmarks": ("*.md", None),
}


def texts() -> Iterator[tuple[str, int, str]]:
    """Each file's lines that people read: of SQL the comments, of all else every line."""
    for folder, (pattern, part) in READ.items():
        for path in sorted((PROJECT / folder).glob(pattern)):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                found = re.search(part, line) if part else re.search(".*", line)
                if found:
                    yield path.relative_to(PROJECT).as_posix(), number, found[0]


@pytest.mark.parametrize(("turn", "instead"), OUT.items(), ids=lambda text: text[:20])
def test_words_that_are_out_stay_out(turn, instead):
    pattern = re.compile(turn, re.IGNORECASE)
    found = [
        f"{path}:{number}: {line.strip()}" for path, number, line in LINES if pattern.search(line)
    ]
    assert not found, f"write instead: {instead}\n" + "\n".join(found)


LINES = list(texts())


def test_the_turns_would_be_found():
    """Each pattern finds the sentence for which it is here."""
    for sentence in (
        "HTA has no counterpart.",
        "jobs to list; NULL means all",
        "Computed is what is missing, and what of a job was ingested anew",
        "+41.2 µs longer a call",
        "any folder does as well as `llama`",
        "Late are the last ones of a message",
        "Operators against the roof of the device",
        "Where nobody is told, and the trace tells it",
    ):
        assert any(re.search(turn, sentence, re.IGNORECASE) for turn in OUT), sentence
