"""Ways to damage the files of an archive, and what a reader of its manifests knows of them."""

import random
from pathlib import Path

import pyarrow.parquet as pq

MANIFESTS = ("traces", "attachments", "critical_paths", "kept_results")


def listed(archive: Path) -> dict[str, set[str]]:
    """The data files that the manifests list, each with its jobs; read with Arrow alone."""
    found: dict[str, set[str]] = {}
    for name in MANIFESTS:
        if (file := archive / f"{name}.parquet").exists():
            for row in pq.read_table(file, columns=["job", "files"]).to_pylist():
                for entry in row["files"]:
                    found.setdefault(entry["path"], set()).add(row["job"])
    return found


def flip(file: Path, drawn: random.Random) -> None:
    content = bytearray(file.read_bytes())
    content[drawn.randrange(len(content))] ^= 1 << drawn.randrange(8)
    file.write_bytes(content)


def delete(file: Path, drawn: random.Random) -> None:
    file.unlink()


def empty(file: Path, drawn: random.Random) -> None:
    file.write_bytes(b"")


def truncate(file: Path, drawn: random.Random) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: drawn.randrange(len(content))])


def overwrite(file: Path, drawn: random.Random) -> None:
    file.write_bytes(drawn.randbytes(len(file.read_bytes())))


def swap(file: Path, drawn: random.Random) -> None:
    """Swap it with another file of its table."""
    others = sorted(set(file.parents[2].glob("*/*/*.parquet")) - {file})
    other = drawn.choice(others)
    one, two = file.read_bytes(), other.read_bytes()
    file.write_bytes(two)
    other.write_bytes(one)


WAYS = (flip, delete, empty, truncate, overwrite, swap)
# After these, the file is visibly not what it was: it is gone, or has another size.
VISIBLE = (delete, empty, truncate)
