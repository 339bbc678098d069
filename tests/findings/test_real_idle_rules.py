"""Rules of idle time on real traces: each ns of a device's idle time belongs to one at most."""

import pytest
from real_files import TRACES

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"),
]
DEVICE = "job, rank, device"


@pytest.fixture(scope="module")
def con(real_run):
    """Has tables with the rows of shared_steady, shared_idle and what it reads."""
    real_run.findings()  # loads the macros
    con = real_run.con.cursor()
    for name, given in {
        "steady": "NULL",
        "lost_launches": "NULL",
        "typical_idle": "NULL, steady, lost_launches",
        "idle_pieces": "NULL, typical_idle",
        "idle": "NULL, typical_idle, idle_pieces",
    }.items():
        con.execute(f"CREATE TEMP TABLE {name} AS FROM shared_{name}({given})")
    yield con
    con.close()


def test_parts_of_all_rules_and_of_none_are_the_idle_time(con):
    """The same as idle_gaps has in the measured steps of ranks whose idle time counts."""
    by_rule = con.execute(f"SELECT {DEVICE}, sum(idle_ns) FROM idle GROUP BY ALL").fetchall()
    gaps = con.execute("""
        SELECT g.job, g.rank, g.device, sum(part_ns)
        FROM idle_gaps() AS g
        JOIN gpu_activities AS a ON a.job = g.job AND a.rank = g.rank
        WHERE a.event_id = g.next_event_id
          AND EXISTS (
              FROM steady AS s
              WHERE s.job = g.job AND s.rank = g.rank AND s.is_typical
                AND (s.step IS NULL OR s.step = a.step)
          )
          AND NOT EXISTS (
              FROM lost_launches AS l WHERE l.job = g.job AND l.rank = g.rank AND l.is_sampled
          )
        GROUP BY ALL
    """).fetchall()
    assert len(by_rule) > 15
    assert sorted(by_rule, key=str) == sorted(gaps, key=str)


def test_rules_of_idle_time_gain_no_more_than_the_idle_time(real_run, con):
    rules = {rule for (rule,) in con.execute("SELECT DISTINCT rule FROM idle").fetchall() if rule}
    assert len(rules) >= 6
    idle = {
        row[:2]: row[2]
        for row in con.execute(
            "SELECT job, rank, max(ns) FROM "
            "(SELECT job, rank, device, sum(idle_ns) AS ns FROM idle GROUP BY ALL) GROUP BY ALL"
        ).fetchall()
    }
    gains = {}
    for row in real_run.findings().to_pylist():
        if row["rule"] in rules and row["rank"] is not None:
            key = row["job"], row["rank"]
            gains[key] = gains.get(key, 0) + row["estimated_gain_ns"]
    assert len(gains) > 8
    assert [(key, gain) for key, gain in gains.items() if gain > idle[key]] == []
