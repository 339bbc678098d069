"""under_operator on real traces, against a climb from each activity through all its callers."""

import pytest
from real_files import TRACES

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"),
]


@pytest.mark.parametrize(
    ("of_name", "activity_count"), [("aten::linear", 1_910), ("%attention%", 219)]
)
def test_activities_are_under_their_callers(real_run, of_name, activity_count):
    climbed = real_run.sql(
        """
        WITH RECURSIVE
        callers AS (
            SELECT job, rank, event_id AS activity_id, launch_id AS call_id
            FROM gpu_activities
            UNION ALL
            SELECT c.job, c.rank, c.activity_id, h.parent_id AS call_id
            FROM callers AS c
            JOIN host_ops AS h
                ON h.job = c.job AND h.rank = c.rank AND h.event_id = c.call_id
            WHERE h.parent_id IS NOT NULL
        )
        SELECT DISTINCT c.job, c.rank, c.activity_id AS event_id
        FROM callers AS c
        JOIN host_ops AS h ON h.job = c.job AND h.rank = c.rank AND h.event_id = c.call_id
        WHERE h.name LIKE $of_name
        ORDER BY ALL
        """,
        {"of_name": of_name},
    )
    found = real_run.sql(
        "SELECT job, rank, event_id FROM gpu_activities "
        f"SEMI JOIN under_operator('{of_name}') USING (job, rank, event_id) ORDER BY ALL"
    )
    assert found.equals(climbed)
    assert found.num_rows == activity_count
