"""`hta_sql.doctor` in Python: of paths and of an open archive."""

import pytest

import hta_sql
from hta_sql.errors import BadParameter


def test_an_open_archive(folder):
    """It gives what its folder gives, and stays open."""
    with hta_sql.open(folder / "two") as run:
        found = hta_sql.doctor(run)
        assert found.to_dict() == hta_sql.doctor(folder / "two").to_dict()
        assert [one.job for one in found] == ["fine", "slow"]
        assert [one.job for one in hta_sql.doctor(run, only_jobs="slow")] == ["slow"]
        assert run.sql("SELECT 1 AS one").num_rows == 1
        with pytest.raises(BadParameter, match="nosuch"):
            hta_sql.doctor(run, only_jobs=["nosuch"])


def test_an_archive_opened_for_a_job(folder):
    with hta_sql.open(folder / "two", only_jobs=["slow"]) as run:
        assert [one.job for one in hta_sql.doctor(run)] == ["slow"]


def test_an_open_archive_beside_a_path(folder):
    with hta_sql.open(folder / "two") as run:
        with pytest.raises(BadParameter, match="an open archive is given alone"):
            hta_sql.doctor(run, folder / "one")
