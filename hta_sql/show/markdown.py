"""Results as a table in Markdown, with the values as people read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

from hta_sql.show.tables import rows_of
from hta_sql.show.units import heads, humane

if TYPE_CHECKING:
    import pyarrow as pa

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def plain(text: str) -> str:
    """The text with nothing that Markdown would format."""
    return _SPECIAL.sub(r"\\\1", text)


def write_markdown(reader: pa.RecordBatchReader, out: BinaryIO) -> None:
    """Write all rows and columns. Numbers are at the right of their column."""
    import pyarrow as pa

    names = reader.schema.names
    sides = [
        "---" if pa.types.is_string(kind) or pa.types.is_boolean(kind) else "---:"
        for kind in reader.schema.types
    ]
    out.write(_line(map(plain, heads(names))) + _line(sides))
    for batch in reader:
        for row in rows_of(batch):
            out.write(
                _line(plain(humane(name, value)) for name, value in zip(names, row, strict=True))
            )


def _line(cells: object) -> bytes:
    return f"| {' | '.join(cells)} |\n".encode()
