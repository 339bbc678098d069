"""The template: a database file with all macros and empty tables of a catalogue, made once.

Running the files of the catalogue takes seconds, since DuckDB binds each macro to what it reads.
Copying the resulting database takes a hundredth of that. The wheel contains the template of its
catalogue. For another catalogue or another DuckDB, the first process that needs the template makes
it in the user's cache folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb

from hta_sql.catalogue.catalog import Catalog
from hta_sql.database.layers import (
    comment_on_macros,
    comment_on_views,
    literal,
    load_base,
    load_queries,
    put_sharing,
)
from hta_sql.database.stored_relations import compute_stored
from hta_sql.errors import one_line
from hta_sql.places.cache import cache_folders, make_own
from hta_sql.version import __version__

PACKAGED = Path(__file__).parents[1] / "_template"
# DuckDB 1.5 can open it too. Older storage versions lose the MATERIALIZED of CTEs.
STORAGE = "v1.5.0"
# Incremented when load_all makes a different template from the same files.
FORM = 6
# The cache keeps this many templates, those used last, of 2 MB each.
KEPT = 16


def copy_template(con: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Copy the catalogue's macros and empty tables to a connection's empty in-memory database."""
    try:
        con.execute(f"ATTACH {literal(template(catalog))} AS hta_template (READ_ONLY)")
        con.execute("COPY FROM DATABASE hta_template TO memory (SCHEMA)")
    except (OSError, duckdb.Error):
        # For example, no folder can be written, or the disk has no locks. This way is slow.
        load_all(con, catalog)
    finally:
        con.execute("DETACH DATABASE IF EXISTS hta_template")


def template(catalog: Catalog) -> Path:
    """The template of a catalogue: from the package, from a cache, or a new one."""
    name = name_of(catalog)
    if (PACKAGED / name).exists():
        return PACKAGED / name
    failure = None
    for folder in cache_folders():
        file = folder / name
        try:
            if not make_own(folder):
                continue
            if not file.exists():
                with (folder / ".lock").open("w") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    if not file.exists():
                        make_template(catalog, file)
                        forget_oldest(folder)
            with contextlib.suppress(OSError):
                os.utime(file)
            return file
        except OSError as error:
            failure = error
    raise failure or PermissionError(
        "no folder for the template can be written; set XDG_CACHE_HOME"
    )


def make_template(catalog: Catalog, file: Path) -> None:
    """Write the template of a catalogue, completely or not at all."""
    with new_database(file) as con:
        load_all(con, catalog)


def load_all(con: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Run the files of the catalogue."""
    base = load_base(con, catalog)
    load_queries(con, catalog)
    put_sharing(con, catalog, base)
    compute_stored(con, catalog)
    comment_on_macros(con, catalog)
    comment_on_views(con, catalog)


@contextlib.contextmanager
def new_database(
    file: Path, base: Path | None = None, put: Callable[[Path, Path], None] = os.replace
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a new database `hta`, empty or a copy of `base`.

    At the end of the `with` block, the complete file appears: `put` moves it to its place.
    """
    new = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
    try:
        if base:
            shutil.copyfile(base, new)
        with contextlib.closing(duckdb.connect()) as con:
            con.execute(f"ATTACH {literal(new)} AS hta (STORAGE_VERSION '{STORAGE}')")
            con.execute("USE hta")
            yield con
            con.execute("USE memory; DETACH hta")
        put(new, file)
    except duckdb.IOException as error:
        raise OSError(one_line(error)) from error
    finally:
        new.unlink(missing_ok=True)
        new.with_name(new.name + ".wal").unlink(missing_ok=True)


def name_of(catalog: Catalog) -> str:
    """The file name of a template, unique for the catalogue, hta_sql and DuckDB."""
    made_by = f"{maker(catalog)}, form {FORM}, duckdb {duckdb.__version__}, storage {STORAGE}"
    return f"{__version__}-{hashlib.sha256(made_by.encode()).hexdigest()[:16]}.duckdb"


def maker(catalog: Catalog) -> str:
    """The version of hta_sql and the hash of the catalogue."""
    return f"hta_sql {__version__}, sql {catalog.digest[:12]}"


def forget_oldest(folder: Path) -> None:
    """Delete all but the templates used last. Needs the lock. Open templates stay readable."""
    found = sorted(folder.glob("*.duckdb"), key=lambda file: -file.stat().st_mtime_ns)
    # With the lock, no other process makes a template, so temporary files are from killed ones.
    for file in [*found[KEPT:], *folder.glob(".*.duckdb.*")]:
        file.unlink(missing_ok=True)
