"""Writes hta.duckdb, which has an archive's views and macros for DuckDB's shell, but no data.

To make it takes longer than to read a small trace. After an ingest, it depends only on which tables
have files. So the cache folder keeps what was made for one archive, and others get copies.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import uuid
from functools import partial
from pathlib import Path

import duckdb

from hta_sql.catalogue.catalog import Catalog
from hta_sql.database.attach import put_sources, schemas, texts_of
from hta_sql.database.layers import comment_on_views, literal
from hta_sql.database.own_rules import KINDS, put_own_rules, rows_in
from hta_sql.database.roots import archive_root
from hta_sql.database.stored_macros import made_with, read_stored
from hta_sql.database.stored_relations import choose_stored
from hta_sql.database.template import forget_oldest, maker, name_of, new_database, template
from hta_sql.errors import HtaSqlError
from hta_sql.places.cache import cache_folder
from hta_sql.store.checksums import replace_sealed, sha256_of
from hta_sql.store.lists import Lists, lists
from hta_sql.store.locks import locked_folder
from hta_sql.store.sources import MANIFESTS, PATTERNS, Source, whereabouts
from hta_sql.version import SCHEMA_VERSION

# The manifests that an ingest writes.
_OF_INGEST = {"traces", "attachments"}


class _NotForOthers(HtaSqlError):
    """Some files cannot be read, and hta.duckdb says which."""


def write_database(archive: str | os.PathLike[str]) -> None:
    """Write hta.duckdb into the archive, atomically. A file that would be the same stays."""
    root = archive_root(archive)
    catalog, file = Catalog.load(), root / "hta.duckdb"
    with contextlib.closing(Source(root)) as source:
        found = Lists(whereabouts([source], [path.stem for path in catalog.tables], None))
        content = _kept(catalog, source, found)
        if content is None:
            with new_database(file, template(catalog), partial(_put, root)) as con:
                _fill_live(con, catalog, source, found)
        elif not file.exists() or file.read_bytes() != content:
            new = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
            try:
                new.write_bytes(content)
                _put(root, new, file)
            finally:
                new.unlink(missing_ok=True)


def _put(root: Path, new: Path, target: Path) -> None:
    with locked_folder(root):
        replace_sealed(new, target)


def _kept(catalog: Catalog, source: Source, found: Lists) -> bytes | None:
    """The content of hta.duckdb from the cache folder; if it is not there, it is made. None if the
    archive needs one of its own, or there is no such folder."""
    if not _is_as_ingested(source, found):
        return None
    tables = sorted((macro, name) for macro, of in found.files.items() for name in of if of[name])
    kind = hashlib.sha256(repr(tables).encode()).hexdigest()[:8]
    name = f"{Path(name_of(catalog)).stem}-{kind}"
    try:
        folder = cache_folder() / "archives"
        folder.mkdir(exist_ok=True)
        if content := _intact(folder, name):
            return content
        with locked_folder(folder):
            with new_database(folder / name, template(catalog), _name_by_content) as con:
                if not _fill_live(con, catalog, source, found):
                    raise _NotForOthers
            forget_oldest(folder)
        return _intact(folder, name)
    except (OSError, HtaSqlError):
        return None


def _name_by_content(new: Path, target: Path) -> None:
    os.replace(new, target.with_name(f"{target.name}-{sha256_of(new)}.duckdb"))


def _intact(folder: Path, name: str) -> bytes | None:
    for file in folder.glob(f"{name}-*.duckdb"):
        content = file.read_bytes()
        if file.stem == f"{name}-{hashlib.sha256(content).hexdigest()}":
            os.utime(file)  # it is in use
            return content
    return None


def _is_as_ingested(source: Source, found: Lists) -> bool:
    """Whether an ingest of this version has made all that is in the archive, without own rules."""
    from hta_sql.store.manifest import Manifest  # not at the top: a shell needs no Arrow

    if any(found.files["archive_manifest"][table] for table in set(MANIFESTS) - _OF_INGEST):
        return False
    if any(rows_in([source.root], rules) for rules in KINDS):
        return False
    rows = (row for table in _OF_INGEST for row in Manifest(source.root, table).rows())
    return all(row["schema_version"] == SCHEMA_VERSION for row in rows)


def _fill_live(
    con: duckdb.DuckDBPyConnection, catalog: Catalog, source: Source, found: Lists
) -> bool:
    """Fill hta.duckdb: its views read what they find when they are asked."""
    con.execute(f"SET file_search_path = {literal(str(source.root))}")
    return _fill(con, catalog, source, found, {}, PATTERNS)


def write_shell_database(source: Source, target: Path) -> None:
    """Write such a database for one shell: its views read the files that the archive lists now."""
    catalog = Catalog.load()
    with new_database(target, template(catalog)) as con:
        found = lists(con, [source], [path.stem for path in catalog.tables], None)
        _fill(con, catalog, source, found, texts_of(found), dict.fromkeys(PATTERNS, "NULL"))


def _fill(
    con: duckdb.DuckDBPyConnection,
    catalog: Catalog,
    source: Source,
    found: Lists,
    texts: dict[tuple[str, str], str],
    otherwise: dict[str, str],
) -> bool:
    """Fill a copy of the template with the views of an archive's files. Returns whether all can be
    read."""
    mixed, reading = schemas(con, [source]).mixed, set()
    is_whole = put_sources(con, catalog, found, texts, otherwise, bool(mixed), None, reading)
    rules = put_own_rules(con, [source.root])
    choose_stored(con, catalog, reading, may_change=True)
    if "stored_results" in reading:
        read_stored(con, catalog, made_with(catalog, rules))
    comment_on_views(con, catalog, reading)
    con.execute(f"CREATE VIEW hta_version AS SELECT {literal(maker(catalog))} AS made_by")
    return is_whole
