"""Fixtures of these tests."""

import gzip
import json
from functools import cache

import pytest
from made_jobs.planted import HEALTHY, Trace
from made_jobs.traces import SMALL

from hta_sql.demo import write_job


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A function that writes a job once for each set of arguments: (trace texts, truth)."""

    @cache
    def written(**arguments):
        folder = tmp_path_factory.mktemp("job")
        paths = write_job(folder, **{**SMALL, **arguments})
        truth = json.loads((folder / "truth.json").read_text())
        return [gzip.decompress(path.read_bytes()).decode() for path in paths], truth

    return written


@pytest.fixture(scope="module")
def planted(job):
    """A function that writes a job with these faults once: (its ranks, the faults of its truth)."""

    @cache
    def written(bottleneck=None, **arguments):
        texts, truth = job(bottleneck=bottleneck, **{**HEALTHY, **arguments})
        return [Trace(text) for text in texts], truth["faults"]

    return written
