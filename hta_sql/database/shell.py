"""Runs DuckDB's command line on an archive."""

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from hta_sql.database.layers import literal
from hta_sql.database.planning import PLANNING
from hta_sql.database.roots import archive_root
from hta_sql.database.shell_database import write_shell_database
from hta_sql.errors import HtaSqlError
from hta_sql.places.storage import is_remote
from hta_sql.store.sources import Source

# DuckDB 1.5 has fewer optimizers, and refuses a name that it does not know.
_PLANNING = "".join(
    f"SET GLOBAL {name} = CASE WHEN NOT prefix(version(), 'v1.') THEN {literal(value)} "
    f"ELSE {literal(type(value)())} END;"
    for name, value in PLANNING.items()
)


def run_shell(archive: str | os.PathLike[str], commands: Iterable[str] = ()) -> int:
    """Run DuckDB's command line on an archive, or only `commands`; returns its exit status.

    The macros and views are those of this package, in a file of this call. The archive's hta.duckdb
    may be somebody else's: it is not opened. The shell sees the archive as it is now.
    """
    root = archive_root(archive)
    if is_remote(root):
        raise HtaSqlError(
            f"{root}: a shell reads only archives on disk; copy it (aws s3 cp --recursive "
            "URL FOLDER), or use `hta-sql sql`"
        )
    shell = shell_program()
    with ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="hta-sql-"))
        database = Path(scratch) / "hta.duckdb"
        source = stack.enter_context(closing(Source(root)))
        write_shell_database(source, database)
        line = [
            shell,
            "-readonly",
            str(database),
            "-cmd",
            _PLANNING,
            "-cmd",
            f"SET file_search_path = {literal(str(root))}",
        ]
        for command in commands:
            line += ["-c", command]
        with _leaving_interrupts_to_child():
            status = subprocess.run(line).returncode
    return status if status >= 0 else 128 - status


def shell_program() -> str:
    """DuckDB's command line: the program in the package duckdb-cli, or else one on the PATH.

    The script that duckdb-cli installs is not used, since Ctrl-C would end it.
    """
    package = importlib.util.find_spec("duckdb_cli")
    beside = os.path.dirname(package.origin) if package and package.origin else None
    program = shutil.which("duckdb", path=beside) if beside else None
    program = program or shutil.which("duckdb")
    if not program:
        raise HtaSqlError("no duckdb command line found; install it: pip install 'hta-sql[shell]'")
    return program


@contextmanager
def _leaving_interrupts_to_child():
    """Ignore Ctrl-C in this process, since it only cancels a query in the shell."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
