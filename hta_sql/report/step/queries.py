"""What a picture reads. `{windows}` has a number, rank, from_ns and until_ns per row."""

GPU = """
SELECT
    w.number,
    c.device,
    c.stream,
    c.step,
    c.event_id,
    c.start_ns - w.from_ns AS start,
    c.end_ns - w.from_ns AS until,
    c.kernel_category AS category,
    c.short_name AS name,
    coalesce(c.launch_id, c.op_id) AS caller_id
FROM categorised_activities_of({jobs}, {ranks}, NULL) AS c
JOIN {windows} ON w.rank = c.rank AND c.start_ns < w.until_ns AND c.end_ns > w.from_ns
ORDER BY w.number, c.device, c.stream, c.start_ns, c.event_id
"""

# Callers come before what they call, for the call stacks.
HOST = """
SELECT
    w.number,
    h.pid,
    h.tid,
    h.event_id,
    h.parent_id,
    h.start_ns - w.from_ns AS start,
    h.end_ns - w.from_ns AS until,
    h.name,
    CASE
        WHEN h.cat = 'python_function' THEN 'Python'
        WHEN h.cat = 'user_annotation' THEN 'annotations'
        WHEN is_operator(h.cat) AND h.op_id IS NULL THEN 'operators'
        WHEN is_operator(h.cat) THEN 'inner operators'
        WHEN waits_for_device(h.name) THEN 'waits for the GPU'
        ELSE 'calls'
    END AS category
FROM host_ops AS h
JOIN {windows} ON w.rank = h.rank AND h.start_ns < w.until_ns AND h.end_ns > w.from_ns
WHERE h.job = {job} AND list_contains({ranks}, h.rank)
ORDER BY w.number, h.pid, h.tid, h.depth, h.start_ns, h.event_id
"""

# As in the query idle_gaps, which would name all gaps of the trace.
GAPS = """
WITH
parts AS MATERIALIZED (
    SELECT p.*
    FROM job_idle_parts({jobs}) AS p
    SEMI JOIN {windows}
        ON w.rank = p.rank
        AND p.part_start_ns < w.until_ns
        AND p.part_start_ns + p.part_ns > w.from_ns
        AND p.part_ns * {gaps} >= w.until_ns - w.from_ns
),
segments AS (
    SELECT s.*
    FROM job_idle_segments({jobs}) AS s
    SEMI JOIN parts AS p ON p.part_number = s.part_number
)
SELECT
    w.number,
    g.device,
    g.part_start_ns - w.from_ns AS start,
    g.part_ns AS size,
    g.cause,
    g.host_name,
    g.next_name
FROM named_idle_parts(parts, segments, {jobs}, {ranks}) AS g
JOIN {windows}
    ON w.rank = g.rank
    AND g.part_start_ns < w.until_ns
    AND g.part_start_ns + g.part_ns > w.from_ns
    AND g.part_ns * {gaps} >= w.until_ns - w.from_ns
ORDER BY w.number, g.device, g.part_start_ns
"""

# Without delays and dependencies: these lead from one of the rows to the next.
PATH = """
SELECT
    w.number,
    p.event_id,
    p.start_ns - w.from_ns AS start,
    p.end_ns - w.from_ns AS until
FROM path_edges AS p
JOIN {windows} ON w.rank = p.rank AND w.path_window = p.path_window
WHERE p.job = {job}
  AND p.position IS NOT NULL
  AND p.edge = 'operator'
ORDER BY w.number, p.position
"""
