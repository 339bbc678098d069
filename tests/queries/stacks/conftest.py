"""Fixtures of these tests."""

import pytest


@pytest.fixture
def deep(host):
    """A stack 5,000 deep, as no recursion of Python's is; its last call launches."""
    host.fill()
    host.con.execute("""
        INSERT INTO given_host_ops BY NAME
        SELECT
            'j' AS job, 0 AS rank, i AS event_id, 'f' || i % 10 AS name, 'python_function' AS cat,
            i AS start_ns, 20000 - i AS end_ns, end_ns - start_ns AS dur_ns, i AS depth,
            CASE WHEN i > 0 THEN i - 1 END AS parent_id, 0 AS root_id, i AS stack_hash
        FROM range(5000) AS t (i)
    """)
    host.con.execute("UPDATE given_host_ops SET cat = 'cuda_runtime' WHERE event_id = 4999")
    host.con.execute("""
        INSERT INTO given_gpu_activities BY NAME
        SELECT 'j' AS job, 0 AS rank, 9999 AS event_id, 4999 AS launch_id, 'k' AS short_name,
            30000 AS start_ns, 3 AS dur_ns
    """)
    return host
