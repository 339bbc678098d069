"""Elements that are too long to hold in memory."""

from __future__ import annotations

import re

from hta_sql.ingestion.boundaries import MOST_KEYS_TRIED, behind_separators, end_before
from hta_sql.ingestion.brackets import ValueEnd
from hta_sql.ingestion.kinds import ListKind, is_element
from hta_sql.ingestion.quarantine import KEPT_BYTES
from hta_sql.ingestion.values import SCANNER, first_value

BEHIND_ELEMENT = re.compile(rb"[ \t\r\n]*+(?:[,\]]|\Z)")
LONGEST_SOUGHT_BYTES = 64 << 10


class Giant:
    """An element that is too long to hold: its offset, its length and its first bytes."""

    def __init__(self, offset: int):
        self.offset = offset
        self.length = 0
        self.begin = b""
        self._own_end: ValueEnd | None = ValueEnd()

    def add(self, data: bytes) -> None:
        self.begin += data[: KEPT_BYTES - len(self.begin)]
        self.length += len(data)

    def closes_in(self, data: bytes) -> int | None:
        """Where its own bracket closes in the next bytes, if the element looks sound there."""
        end = self._own_end.find(data) if self._own_end else None
        if end is not None:
            self._own_end = None  # it has been found, whether it counts or not
            if not BEHIND_ELEMENT.match(data, end):
                return None
        return end

    def found_end(self, data: bytes, kind: ListKind, first_key: str | None) -> int | None:
        """Where the element seems to end in the next piece; None if it goes on."""
        end = self.closes_in(data)
        if end is not None:
            return end
        # If it is broken, its own bracket means nothing. Then it ends before the next sound one.
        keys = kind.marks | ({first_key} if first_key else set())
        for key in sorted(keys):
            at = -1
            for _ in range(MOST_KEYS_TRIED):
                at = data.find(b'"%s"' % key.encode("latin-1"), at + 1)
                if at < 0:
                    break
                end = end_before(data, at)
                if end is not None:
                    begin = end + behind_separators(data[end : end + LONGEST_SOUGHT_BYTES])
                    text = data[begin : begin + LONGEST_SOUGHT_BYTES].decode("latin-1")
                    if is_element(first_value(text, SCANNER)[0], kind):
                        return end
        return None
