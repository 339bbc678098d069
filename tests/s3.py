"""Object storage for tests: fixtures for a real S3 API on loopback."""

import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

KEYS = {
    "AWS_ACCESS_KEY_ID": "id",
    "AWS_SECRET_ACCESS_KEY": "key",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
}


class Server:
    """The server's address, and what it has been asked."""

    def __init__(self, port: int, log: Path):
        self.url = f"http://127.0.0.1:{port}"
        self.environ = KEYS | {"AWS_ENDPOINT_URL": self.url}
        self._log = log

    @contextmanager
    def requests(self) -> Iterator[Counter]:
        """How many requests of each kind are made inside: LIST, GET, HEAD, PUT …"""
        before = len(self._lines())
        counted: Counter = Counter()
        yield counted
        counted.update(line.split()[0] for line in self._lines()[before:])

    def asked(self) -> list[str]:
        """All requests so far: kind and path."""
        return self._lines()

    def _lines(self) -> list[str]:
        return self._log.read_text().splitlines()


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("s3") / "requests"
    script = Path(__file__).with_name("s3_server.py")
    line = [sys.executable, script, log]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server:
        yield Server(int(server.stdout.readline()), log)
        server.kill()


@pytest.fixture
def s3(s3_server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server, with the environment that leads there."""
    for name, value in s3_server.environ.items():
        monkeypatch.setenv(name, value)
    return s3_server


@pytest.fixture
def fs(s3: Server):
    """The server as fsspec has it, without a memory."""
    import fsspec

    return fsspec.filesystem("s3", use_listings_cache=False)


@pytest.fixture
def bucket(fs) -> str:
    """The URL of a new bucket."""
    name = f"bucket-{uuid.uuid4().hex[:8]}"
    fs.mkdir(name)
    return f"s3://{name}"
