"""Writes files that are complete or not there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that gets its name once it is complete. A pipe or device is written directly."""
    is_file = path.is_file() or not path.exists()
    target = path.resolve() if is_file else path
    written = target.with_name(f".{target.name}.{os.getpid()}") if is_file else target
    try:
        with written.open("wb") as file:
            yield file
        if is_file:
            written.replace(target)
    except OSError as error:
        if error.filename == str(written):
            error.filename = str(path)
        raise
    finally:
        if is_file:
            written.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())
