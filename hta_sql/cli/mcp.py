"""The command that serves archives to assistants."""

import os

import click

from hta_sql.cli.options import archives_argument
from hta_sql.engines.machine import SAFE_BYTES, SAFE_SECONDS, bytes_of
from hta_sql.errors import HtaSqlError

TOKEN = "HTA_SQL_MCP_TOKEN"


@click.command("mcp")
@archives_argument
@click.option(
    "--http",
    "port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Serve over HTTP on 127.0.0.1, in place of stdin and stdout; 0 chooses a free port.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1),
    default=float(SAFE_SECONDS),
    show_default=True,
    metavar="SECONDS",
    help="Time for each answer.",
)
@click.option(
    "--memory-limit",
    "memory",
    default=f"{SAFE_BYTES // 1000**3}GB",
    show_default=True,
    metavar="SIZE",
    help="Memory for each answer.",
)
@click.option(
    "--max-rows",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    metavar="N",
    help="Rows of a result that are read.",
)
def mcp(
    archives: tuple[str, ...], port: int | None, timeout: float, memory: str, max_rows: int
) -> None:
    """Serve archives to AI assistants (Model Context Protocol).

    An assistant can list, describe and run queries, run SQL (as with `sql --safe`), ask the doctor
    and compare jobs. It reads these archives and nothing else.

    An assistant's program starts this command itself, and talks to it over stdin and stdout. With
    --http, the server needs a token: the value of the variable HTA_SQL_MCP_TOKEN, or a new one,
    which is printed on stderr.

    \b
    Example:
      hta-sql mcp archive
      hta-sql mcp archive --http 8765 --timeout 20
    """
    try:
        import mcp as _  # noqa: F401 - whether it is installed
    except ImportError:
        raise HtaSqlError(
            "serving assistants needs more packages: pip install 'hta-sql[mcp]'"
        ) from None
    import secrets

    from hta_sql.mcp.worker import Limits, Worker

    bytes_of(memory)  # a wrong size is an error before the archives are opened
    token = os.environ.pop(TOKEN, "") or secrets.token_urlsafe(32)  # for no other process
    worker = Worker(archives, Limits(timeout, memory, max_rows))
    try:
        worker.start()
        if port is None:
            _over_stdio(worker)
        else:
            _over_http(worker, port, token)
    finally:
        worker.close()


def _over_stdio(worker: object) -> None:
    import anyio

    from hta_sql.mcp.server import make_server

    anyio.run(make_server(worker).run_stdio_async)


def _over_http(worker: object, port: int, token: str) -> None:
    import socket

    import uvicorn

    from hta_sql.mcp.server import HOST, http_app, make_server

    with socket.create_server((HOST, port)) as listener:
        port = listener.getsockname()[1]
        app = http_app(make_server(worker), port, token)
        click.echo(f"http://{HOST}:{port}/mcp\nAuthorization: Bearer {token}", err=True)
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        uvicorn.Server(config).run(sockets=[listener])
