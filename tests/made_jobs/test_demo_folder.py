"""The folder of a made-up job: what demo replaces in it, and what it leaves alone."""

import pytest
from made_jobs.traces import SMALL

from hta_sql.demo import write_job
from hta_sql.demo.truth import JobTruth
from hta_sql.errors import HtaSqlError


def test_an_interrupted_job_is_replaced(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(JobTruth, "result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_job(tmp_path, **SMALL)
    assert (tmp_path / "rank_1.json.gz").exists()
    write_job(tmp_path, **SMALL | {"ranks": 1})
    assert {path.name for path in tmp_path.iterdir()} == {"rank_0.json.gz", "truth.json"}


def test_traces_that_demo_did_not_write_stay(tmp_path):
    for name, text in (("rank_1.json", "of others"), ("truth.json", '{"of": "others"}')):
        folder = tmp_path / name.removesuffix(".json")
        folder.mkdir()
        (folder / name).write_text(text)
        with pytest.raises(HtaSqlError, match=f"{name}: not written by demo; give another folder"):
            write_job(folder, **SMALL)
        assert [path.read_text() for path in folder.iterdir()] == [text]
