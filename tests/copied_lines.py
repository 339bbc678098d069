"""Runs of lines that stand more than once in the SQL files, longest first, and how many are copies.

    python tests/copied_lines.py [FOLDER] [--single-words]

A run is six or more lines one after another that stand, equal, in a second place: in another file,
or again in the same one. Its first place, in the order of the files' names, is where it belongs;
lines of every further place are copies. A line is counted once, however many runs it is part of.

White space is folded, and what is behind `--` does not count. Passed over, so that they neither
count nor end a run, are

* blank lines and comments,
* lines of less than two words, as `),`, `SELECT` and `kernel_count,`: a list of names says nothing
  (with --single-words those of one word count, as do their runs),
* signatures of macros, since each query has to name its own parameters.
"""

import argparse
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SQL = Path(__file__).resolve().parents[1] / "sql"
SHORTEST = 6
COMMENT = re.compile(r"--.*")
SIGNATURE = re.compile(r"\s*CREATE OR REPLACE (TEMP )?MACRO\b")
SIGNATURE_END = re.compile(r"\) AS\b")
TWO_WORDS = re.compile(r"\w\W+\w")
ONE_WORD = re.compile(r"\w")


@dataclass(frozen=True)
class Line:
    """A line that counts, and where it stands."""

    file: Path
    number: int
    text: str


@dataclass(frozen=True)
class Run:
    """Equal lines in two places, of which the second is a copy."""

    first: tuple[Line, ...]
    second: tuple[Line, ...]

    def __str__(self) -> str:
        places = [
            f"{lines[0].file}:{lines[0].number}-{lines[-1].number}"
            for lines in (self.first, self.second)
        ]
        return f"{len(self.first):4}  {places[0]}  {places[1]}  {self.first[0].text}"


def lines_of(folder: Path, worth: re.Pattern[str] = TWO_WORDS) -> list[list[Line]]:
    """The lines that count, of each file: those with what is `worth` counting."""
    return [
        [Line(file.relative_to(folder), number, text) for number, text in counted(file, worth)]
        for file in sorted(folder.rglob("*.sql"))
    ]


def counted(file: Path, worth: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    in_signature = False
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        text = " ".join(COMMENT.sub("", line).split())
        in_signature = in_signature or bool(SIGNATURE.match(line))
        if in_signature:
            in_signature = not SIGNATURE_END.search(text)
        elif worth.search(text):
            yield number, text


def runs(files: list[list[Line]]) -> Iterator[Run]:
    """Every two places that share a run, as long as it goes."""
    places: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for file, lines in enumerate(files):
        for at in range(len(lines) - SHORTEST + 1):
            places[tuple(line.text for line in lines[at : at + SHORTEST])].append((file, at))
    for found in places.values():
        for index, (file_b, b) in enumerate(found):
            for file_a, a in found[:index]:
                run = shared(files[file_a], a, files[file_b], b)
                # In one file a run ends where its copy begins.
                length = min(len(run), b - a) if file_a == file_b else len(run)
                if length >= SHORTEST:
                    pairs = run[:length]
                    yield Run(tuple(x for x, _ in pairs), tuple(y for _, y in pairs))


def shared(left: list[Line], a: int, right: list[Line], b: int) -> list[tuple[Line, Line]]:
    """The equal lines from these two places on; none where those before are equal, too."""
    if a and b and left[a - 1].text == right[b - 1].text:
        return []
    found = []
    for pair in zip(left[a:], right[b:], strict=False):
        if pair[0].text != pair[1].text:
            break
        found.append(pair)
    return found


def copies(found: list[Run]) -> set[Line]:
    """The lines that would go if each run were written once."""
    return {line for run in found for line in run.second}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=SQL)
    parser.add_argument("--single-words", action="store_true", help="count lines of one word, too")
    options = parser.parse_args()
    files = lines_of(options.folder, ONE_WORD if options.single_words else TWO_WORDS)
    found = sorted(runs(files), key=lambda run: -len(run.first))
    for run in found:
        print(run)
    print(f"{len(copies(found))} lines are a copy, in {len(found)} pairs of places")


if __name__ == "__main__":
    main()
