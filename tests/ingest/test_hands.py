"""How many processes and threads read traces: chosen by what there is, and told."""

from pathlib import Path

import pytest

from hta_sql.engines import local as local_engine
from hta_sql.engines.start import start
from hta_sql.ingestion.pool import hands
from hta_sql.ingestion.tasks import Task

MB = 1 << 20


def tasks(*sizes_mb: float) -> list[Task]:
    return [
        Task(Path(f"{at}.json.gz"), "j", at, "given", Path("a"), Path("s"), file_bytes=int(mb * MB))
        for at, mb in enumerate(sizes_mb)
    ]


@pytest.mark.parametrize(
    ("sizes_mb", "cores", "workers", "said"),
    [
        ([50], 1, None, ""),
        ([50], 2, None, "2 threads"),
        ([50, 50], 2, None, "2 workers"),
        ([50, 50], 8, None, "2 workers with 4 threads each"),
        ([50] * 100, 8, None, "8 workers"),
        ([0.1, 0.1], 2, None, "2 threads"),  # a process would take longer to start
        ([0.11] * 100, 8, None, "5 workers"),
        ([0.1, 0.1], 2, 2, "2 workers"),
        ([50, 50], 8, 1, ""),
        ([50, 50, 50], 8, 2, "2 workers"),
    ],
)
def test_by_what_there_is(monkeypatch, sizes_mb, cores, workers, said):
    monkeypatch.setattr(local_engine, "core_count", lambda: cores)
    monkeypatch.setattr(local_engine, "free_bytes", lambda: 1e12)
    assert hands(tasks(*sizes_mb), workers, start("local")) == said


def test_as_far_as_memory_goes(monkeypatch):
    monkeypatch.setattr(local_engine, "core_count", lambda: 8)
    monkeypatch.setattr(local_engine, "free_bytes", lambda: 3 * local_engine.WORKER_BYTES + 1)
    assert hands(tasks(*[50] * 8), None, start("local")) == "3 workers with 2 threads each"
