-- Statistics of calls by name: one row per rank, kind and name.
--
-- `calls` has rank, kind, name and dur_ns. Of each rank and kind, the names with the most time keep
-- a row, and all others become one row `others`. All names are kept if there are at most
-- `name_count` of them. If there are more, a name is kept if its position is at most `name_count`
-- and in the first `share` of the positions, or if its text contains one of `kept_texts`.
--
-- The statistics are over calls, also in the row `others`.
CREATE OR REPLACE MACRO hta_folded(calls, share, name_count, kept_texts) AS TABLE
WITH
totals AS (
    SELECT
        rank,
        kind,
        name,
        count(*) AS call_count,
        sum(dur_ns) AS total_ns,
        sum(dur_ns::HUGEINT * dur_ns) AS square_total,
        max(dur_ns) AS max_ns,
        min(dur_ns) AS min_ns
    FROM query_table(calls)
    GROUP BY rank, kind, name
),
placed AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY rank, kind ORDER BY total_ns DESC, name) AS position,
        count(*) OVER (PARTITION BY rank, kind) AS names
    FROM totals
),
named AS (
    SELECT
        * EXCLUDE (name),
        CASE
            WHEN names <= name_count
                OR (position <= name_count AND position - 1 <= share * (names - 1))
                OR list_bool_or(list_transform(kept_texts, lambda part: contains(name, part)))
            THEN name
            ELSE 'others'
        END AS name
    FROM placed
)
SELECT
    rank,
    kind,
    name,
    hta_us(sum(total_ns)) AS total_us,
    hta_us(max(max_ns)) AS max_us,
    hta_us(min(min_ns)) AS min_us,
    sample_stddev(sum(call_count)::BIGINT, sum(total_ns), sum(square_total)) / 1000 AS stddev_us,
    hta_us(sum(total_ns)) / sum(call_count) AS mean_us
FROM named
GROUP BY rank, kind, name;
