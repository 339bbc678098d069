"""Jobs that are dropped by their age."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from fleets import write_fleet
from keeping.dropping import HOUR_NS

import hta_sql
from hta_sql.errors import BadParameter
from hta_sql.store.manifest import Manifest


def set_times(archive, times: dict) -> None:
    """Give ranks their time: Unix nanoseconds, or when they were ingested."""
    manifest = Manifest(archive)
    rows = manifest.rows()
    for row in rows:
        given = times[row["job"], row["rank"]]
        if isinstance(given, datetime):
            row.update(start_ns=5_000_000_000, ingested_at=given)
        else:
            row.update(start_ns=given, ingested_at=datetime.now(UTC).replace(tzinfo=None))
    with manifest.locked():
        manifest.change(lambda row: False, rows)


def test_older_than(tmp_path):
    """A job is as old as the youngest of its ranks; without a date, as when it was ingested."""
    now_ns = time.time_ns()
    now = datetime.now(UTC).replace(tzinfo=None)
    fleet = write_fleet(tmp_path / "a", {"old": 2, "mixed": 2, "new": 1, "dateless": 1, "late": 1})
    set_times(
        fleet,
        {
            ("old", 0): now_ns - 50 * HOUR_NS,
            ("old", 1): now_ns - 49 * HOUR_NS,
            ("mixed", 0): now_ns - 50 * HOUR_NS,
            ("mixed", 1): now_ns - 47 * HOUR_NS,
            ("new", 0): now_ns - HOUR_NS,
            ("dateless", 0): now - timedelta(hours=49),
            ("late", 0): now - timedelta(hours=47),
        },
    )

    def older(age: str) -> list[str]:
        return hta_sql.drop(fleet, older_than=age, dry_run=True)["job"].to_pylist()

    assert set(older("2d")) == set(older("48h")) == {"dateless", "old"}
    assert set(older("46h")) == {"old", "mixed", "dateless", "late"}
    assert older("1w") == []
    assert set(older("0h")) == {"old", "mixed", "new", "dateless", "late"}
    hta_sql.drop(fleet, older_than="2 d")
    assert {row["job"] for row in Manifest(fleet).rows()} == {"mixed", "new", "late"}


def test_a_date_that_only_a_tag_tells(tmp_path):
    """It counts where the traces tell none, as in the view jobs."""
    now = datetime.now(UTC)
    fleet = write_fleet(tmp_path / "a", {"old": 1, "new": 1, "traced": 1})
    tags = {
        "old": (now - timedelta(hours=49)).isoformat(),
        "new": "tuesday",
        "traced": "2001-01-01",
    }
    set_times(
        fleet,
        {
            ("old", 0): now.replace(tzinfo=None),
            ("new", 0): now.replace(tzinfo=None),
            ("traced", 0): time.time_ns(),
        },
    )
    manifest = Manifest(fleet)
    rows = [row | {"tags": [("time", tags[row["job"]])]} for row in manifest.rows()]
    with manifest.locked():
        manifest.change(lambda row: False, rows)
    assert hta_sql.drop(fleet, older_than="2d", dry_run=True)["job"].to_pylist() == ["old"]


@pytest.mark.parametrize(
    ("told", "started"),
    [
        ("2020-01-05", datetime(2020, 1, 5)),
        ("2020-1-5", datetime(2020, 1, 5)),
        ("2020-01-05 10:00:00 UTC", datetime(2020, 1, 5, 10)),
        ("2020-01-05T10:00:00Z", datetime(2020, 1, 5, 10)),
        ("2020-01-05 10:00+02", datetime(2020, 1, 5, 8)),
        ("2020-01-05T10:00:00-0700", datetime(2020, 1, 5, 17)),
        ("20200105", None),
        ("last week", None),
    ],
)
def test_the_view_jobs_reads_a_tag_alike(tmp_path, told, started):
    fleet = write_fleet(tmp_path / "a", {"job": 1})
    now = datetime.now(UTC).replace(tzinfo=None)
    set_times(fleet, {("job", 0): now})
    manifest = Manifest(fleet)
    rows = [row | {"tags": [("time", told)]} for row in manifest.rows()]
    with manifest.locked():
        manifest.change(lambda row: False, rows)
    with hta_sql.open(fleet) as run:
        assert run.sql("SELECT started_at FROM jobs")["started_at"].to_pylist() == [started]
    [going] = hta_sql.drop(fleet, older_than="0h", dry_run=True).to_pylist()
    wanted = (started or now).replace(tzinfo=UTC)
    assert going["job_start_ns"] // 1000 == int(wanted.timestamp() * 1_000_000)


@pytest.mark.parametrize("age", ["", "3", "d", "3m", "-1d", "1.5d", "3 days"])
def test_what_is_no_age(fleet, age):
    with pytest.raises(BadParameter, match="is not an age; give a number of hours, days or weeks"):
        hta_sql.drop(fleet, older_than=age)
