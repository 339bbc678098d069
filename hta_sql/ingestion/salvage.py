"""Reads elements of a damaged piece: which are good, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import duckdb
import pyarrow as pa

from hta_sql.ingestion.elements import LONGEST_ELEMENT_BYTES, Element
from hta_sql.ingestion.kinds import ListKind
from hta_sql.ingestion.problems import is_utf8, json_problem, paired
from hta_sql.ingestion.readers import UNREADABLE, Readers

# How many parts of a piece are tried if DuckDB does not read elements that seem sound.
MOST_PARTS = 1000


class Salvage:
    """Reads elements of a list with care; `parse` makes a table from the text of some of them."""

    def __init__(self, readers: Readers, parse: Callable[[bytes], pa.Table], kind: ListKind):
        self._readers, self._parse, self._kind = readers, parse, kind

    def read(
        self, data: bytes, elements: list[Element]
    ) -> tuple[list[tuple[list[int], pa.Table]], list[str | None]]:
        """Tables, each with the places of its rows among the elements; and the problem of each
        element, None if it is good."""
        texts = [paired(data[element.start : element.end]) for element in elements]
        problems = self._json_problems(elements, texts)
        sound = [at for at, problem in enumerate(problems) if problem is None]
        return list(self._read_sound(texts, sound, problems, [MOST_PARTS])), problems

    def _read_sound(
        self, texts: list[bytes], sound: list[int], problems: list[str | None], left: list[int]
    ) -> Iterator[tuple[list[int], pa.Table]]:
        """The good ones of elements that are objects. Sets the problems of the others."""
        if not sound:
            return
        left[0] -= 1
        try:
            with self._readers.with_care_for(len(sound)):
                table = self._parse(b",".join(texts[at] for at in sound))
        except UNREADABLE as error:
            # Usually the reason is unknown. Halving finds the elements that DuckDB does not read.
            if len(sound) == 1 or left[0] < 0:
                is_too_large = isinstance(error, duckdb.OutOfMemoryException)
                why = ": it takes too much memory to read" if is_too_large else ""
                for at in sound:
                    problems[at] = f"unusable {self._kind.element}{why}"
                return
            middle = len(sound) // 2
            yield from self._read_sound(texts, sound[:middle], problems, left)
            yield from self._read_sound(texts, sound[middle:], problems, left)
            return
        for at, problem in zip(sound, table["problem"].to_pylist(), strict=True):
            problems[at] = problem
        yield sound, table

    def _json_problems(self, elements: list[Element], texts: list[bytes]) -> list[str | None]:
        """Why elements are not JSON objects, by the parser that has to read them."""
        types = self._json_types(
            [
                text if len(text) <= LONGEST_ELEMENT_BYTES and is_utf8(text) else b""
                for text in texts
            ]
        )
        return [
            json_problem(element, text, json_type, self._kind)
            for element, text, json_type in zip(elements, texts, types, strict=True)
        ]

    def _json_types(self, texts: list[bytes]) -> list[str | None]:
        """What valid_json_type returns for each text. If that takes too much memory for one text,
        its first bracket decides, since reading the element takes less."""
        table = pa.table({"text": pa.array(texts, pa.binary()).cast(pa.string())})
        try:
            with self._readers.with_care_for(len(texts)):
                return self._readers.json_types(table)
        except UNREADABLE:
            if len(texts) == 1:
                return ["OBJECT" if texts[0].startswith(b"{") else "ARRAY"]
        middle = len(texts) // 2
        return self._json_types(texts[:middle]) + self._json_types(texts[middle:])
