"""Queries that are not of the catalogue."""

from pathlib import Path

from s3 import bucket, fs, s3, s3_server  # noqa: F401 - fixtures

GOOD_QUERY = """\
-- How long each rank's kernels ran.
--
-- Overlaps count twice.
--
--     a  [====)
--     b    [====)   both
--
-- since: 0.1
-- grain: job, rank
-- returns:
--   job        VARCHAR  -   one run
--   rank       INTEGER  -   rank of the process
--   total_ns   BIGINT   ns  sum of durations
-- check: total_ns >= 0
CREATE OR REPLACE MACRO total_time_v1(
    only_ranks INTEGER[] := NULL,  -- ranks to report [default: all]
    min_dur_ns BIGINT := 0  -- ns; shorter ones are left out
) AS TABLE
SELECT job, rank, sum(dur_ns)::BIGINT AS total_ns
FROM gpu_activities AS a
WHERE (only_ranks IS NULL OR list_contains(only_ranks, a.rank)) AND a.dur_ns >= min_dur_ns
GROUP BY job, rank ORDER BY job, rank;
"""

NAMED_QUERY = """\
-- Activities by name.
-- since: 0.1
-- grain: job, rank, event_id
-- returns:
--   job       VARCHAR  -  one run
--   rank      INTEGER  -  rank of the process
--   event_id  BIGINT   -  the activity
-- deprecated: use another, leaves in 9.9
CREATE OR REPLACE MACRO named_v1(
    name_contains VARCHAR,  -- part of the name
    short_names BOOLEAN := false,  -- match the short name
    over_frac DOUBLE := 0.5  -- unused
) AS TABLE
SELECT job, rank, event_id FROM gpu_activities AS a
WHERE contains(if(short_names, a.short_name, a.name), name_contains) AND over_frac > 0
ORDER BY ALL;
"""


def write_query(root: Path, path: str, sql: str = GOOD_QUERY) -> Path:
    file = root / "queries" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(sql)
    return root
