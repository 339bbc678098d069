"""A planted job, and servers on its archive, for clients of the protocol's own package."""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from shared import made_once

import hta_sql
from hta_sql.mcp.worker import Limits, Worker

TOKEN = "a-token-of-the-test"


@pytest.fixture(scope="session")
def planted(tmp_path_factory) -> Path:
    """The folder of a job with two faults: `archive`, and `traces/truth.json`."""
    from hta_sql.demo import write_job

    def make(folder: Path) -> None:
        faults = "straggler@1,host_bound"
        write_job(folder / "traces", ranks=2, steps=3, straggler=None, bottleneck=faults)
        hta_sql.ingest(folder / "traces", folder / "archive", job="planted")

    return made_once(tmp_path_factory, "assistants", make)


@pytest.fixture(scope="session")
def truth(planted) -> dict[str, Any]:
    return json.loads((planted / "traces" / "truth.json").read_text())


@pytest.fixture(scope="module")
def worker(planted):
    with closing(Worker([str(planted / "archive")], Limits(60, "500MB", 1000))) as worker:
        yield worker


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "hta_sql.cli", "mcp", *map(str, words)]


@pytest.fixture
def over_stdio(planted) -> Callable[..., Any]:
    """Connect to a server of its own over stdin and stdout."""
    from mcp import Client, StdioServerParameters

    def connect(*options: object) -> Client:
        program, *words = command(planted / "archive", *options)
        return Client(StdioServerParameters(command=program, args=words))

    return connect


@pytest.fixture(scope="module")
def served(planted):
    """The URL of a server over HTTP, which runs while the tests of a file do."""
    import os

    server = subprocess.Popen(
        command(planted / "archive", "--http", 0),
        env=os.environ | {"HTA_SQL_MCP_TOKEN": TOKEN},
        stderr=subprocess.PIPE,
        text=True,
    )
    url = server.stderr.readline().strip()
    assert server.stderr.readline().strip() == f"Authorization: Bearer {TOKEN}"
    yield url
    server.terminate()
    assert server.wait(10) == 143
    server.stderr.close()


@pytest.fixture
def over_http(served) -> Callable[..., Any]:
    """Connect to the server over HTTP."""
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    @asynccontextmanager
    async def connect():
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            async with Client(streamable_http_client(served, http_client=http)) as client:
                yield client

    return connect
