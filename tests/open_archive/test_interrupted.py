"""Ctrl-C while an open archive looks for its files: the next question has all rows."""

import pytest

import hta_sql
from hta_sql.demo import write_job


class Interrupted:
    """A connection that Ctrl-C ends once, before or after it makes the view whose turn it is."""

    def __init__(self, con, view: str, is_after: bool):
        self._con, self._view, self._is_after = con, view, is_after

    def __getattr__(self, name):
        return getattr(self._con, name)

    def execute(self, sql, *values):
        if not sql.startswith(f"CREATE OR REPLACE VIEW {self._view} AS"):
            return self._con.execute(sql, *values)
        self._view = None
        if self._is_after:
            self._con.execute(sql, *values)
        raise KeyboardInterrupt


def test_ctrl_c_while_views_are_made(tmp_path):
    """Job a has files of one rank each, and b has files of `compact`. For a alone, the view of a
    table reads only the first."""
    archive = tmp_path / "archive"
    for job in "ab":
        traces = write_job(tmp_path / job, ranks=2, steps=1, layers=1)
        hta_sql.ingest(traces, archive, job=job)
    hta_sql.compact(archive, only_jobs=["b"])
    for view in ("traces", "events_by_rank", "gpu_activities_by_rank", "gpu_activities"):
        for is_after in (False, True):
            with hta_sql.open(archive) as run:
                run.session.most_events = -1  # as of a large archive: no table is shared
                con, run.session.con = run.session.con, Interrupted(run.session.con, view, is_after)
                with pytest.raises(KeyboardInterrupt):
                    run.temporal_breakdown(only_jobs=["a"])
                run.session.con = con
                found = {
                    name: run.sql(f"SELECT job, rank FROM {name} GROUP BY ALL ORDER BY ALL")
                    for name in ("gpu_activities_by_rank", "gpu_activities_by_job")
                }
                assert [rows["job"].to_pylist() for rows in found.values()] == [
                    ["a"] * 2,
                    ["b"] * 2,
                ]
                assert run.temporal_breakdown()["job"].to_pylist() == ["a", "a", "b", "b"]
