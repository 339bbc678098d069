"""Checksums: of data files in the rows that name them, of a manifest in a file beside it.

The SHA-256 of a file is what `sha256sum FILE` prints. It finds damage. It does not protect against
somebody who changes the files on purpose, since the same person can change the checksums.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql.errors import ArchiveError
from hta_sql.places.storage import is_remote, open_bytes, stamp
from hta_sql.store.layout import COUNTS, job_of, place_of

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

_HEX = 64
# A manifest and its checksum are two files. They are read so often until they fit.
READS = 5
PIECE_BYTES = 1 << 20


def sha256_of(file: Place) -> str:
    with open_bytes(file) as opened:
        found = hashlib.sha256()
        while piece := opened.read(PIECE_BYTES):
            found.update(piece)
    return found.hexdigest()


def described(written: Path, name: str) -> dict:
    """The entry of a data file in the column `files`; `name` is its path in the archive."""
    return {"path": name, "bytes": written.stat().st_size, "sha256": sha256_of(written)}


def entries_of(rows: Iterable[dict], tables: Collection[str] | None = None) -> list[dict]:
    """The entries of the data files that rows name, or of those of some tables; each file once."""
    entries = {file["path"]: file for row in rows for file in row.get("files") or ()}
    return [e for e in entries.values() if tables is None or e["path"].split("/")[0] in tables]


def problem_of(file: Place, entry: dict, is_deep: bool) -> str | None:
    """What is wrong with a data file; None if nothing is.

    Without `is_deep`, only its size is looked at.
    """
    try:
        size, _ = stamp(file)
    except (FileNotFoundError, NotADirectoryError):
        return "is gone"
    if size != entry["bytes"]:
        return f"has {size:,} of {entry['bytes']:,} bytes" if size else "is empty"
    if is_deep and sha256_of(file) != entry["sha256"]:
        return "is not what hta_sql wrote (its checksum differs)"
    return None


SEE_DEEP = "`hta-sql check --deep` has the command that makes it again"


def remedy(name: str) -> str:
    """What to do about a damaged data file, by its path in the archive."""
    job = job_of(name)
    return (f"it is of job {job!r}; " if job is not None else "") + SEE_DEEP


def problems_of(archive: Place, row: dict) -> list[str]:
    """What can be seen without reading: files of a row that are gone or have another size. Rows of
    earlier versions list no files, but have the numbers of their rows."""
    if is_remote(archive):
        return []
    if row.get("files") is not None:
        found = (
            (e["path"], problem_of(archive / e["path"], e, is_deep=False)) for e in row["files"]
        )
        return [f"{path} {problem}" for path, problem in found if problem]
    named = [place_of(row, table) for table, count in COUNTS.items() if row.get(count)]
    return [f"{path} is gone" for path in named if not (archive / path).exists()]


def seal_of(file: Path) -> Path:
    """The file with the checksum of a manifest, or of hta.duckdb, on disk."""
    return file.with_name(f".{file.name}.sha256")


def seals_of(archive: Path) -> list[Path]:
    """The files of an archive that have their checksum beside them, or had one before they went."""
    return sorted(
        seal.with_name(seal.name.removeprefix(".").removesuffix(".sha256"))
        for seal in archive.glob(".*.sha256")
    )


def replace_sealed(written: Path, file: Path) -> None:
    """Move a new manifest, or hta.duckdb, to its place, and note its checksum.

    The checksum of the file before stays beside it: if this process is killed between the two
    moves, the old file is still valid. The first file comes before its checksum: a checksum without
    a file means that the file was lost. The last line is the checksum of the lines above it. Only
    while locked.
    """
    if not file.exists():
        os.replace(written, file)
        written = file
    before = [sha256_of(file)] if file != written else []
    text = "".join(f"{known}\n" for known in [sha256_of(written), *before])
    seal = file.with_name(f"{seal_of(file).name}.{uuid.uuid4().hex}")
    try:
        seal.write_text(f"{text}{hashlib.sha256(text.encode()).hexdigest()}\n")
        os.replace(seal, seal_of(file))
    finally:
        seal.unlink(missing_ok=True)
    if written != file:
        os.replace(written, file)


def sealed(file: Path) -> bytes:
    """The content of a file with its checksum beside it. Raises ArchiveError if it is not as
    hta_sql wrote it, and FileNotFoundError. A file without a checksum, or with a damaged one, is
    taken as it is."""
    for _ in range(READS):
        content = file.read_bytes()
        try:
            text = seal_of(file).read_bytes()
        except FileNotFoundError:
            return content
        *known, of_text = text.decode(errors="replace").split() or [""]
        lines = "".join(f"{line}\n" for line in known)
        if of_text != hashlib.sha256(lines.encode()).hexdigest():
            return content
        if hashlib.sha256(content).hexdigest() in known:
            return content
    raise damaged(file)  # and not only replaced between the two reads


def damaged(manifest: Place) -> ArchiveError:
    """The error for a damaged manifest, or for an object with a change of one."""
    again = "ingest the traces into a new archive"
    if manifest.name in ("critical_paths.parquet", "kept_results.parquet"):
        again = "delete it and compute again what it lists"
    return ArchiveError(
        f"{manifest} is damaged, and the files that it lists are unknown; "
        f"restore it from a copy, or {again}"
    )


def name_of_change(content: bytes, now: int) -> str:
    """The name of an object with a change of a manifest: its time and its checksum."""
    return f"{now:020d}-{hashlib.sha256(content).hexdigest()}.parquet"


def is_named_after(content: bytes, name: str) -> bool:
    """Whether the content fits the object's name. Earlier versions gave them random names."""
    known = name.partition("-")[2].removesuffix(".parquet")
    return len(known) < _HEX or hashlib.sha256(content).hexdigest() == known
