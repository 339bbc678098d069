-- How long collectives transfer in each step, as input of changed_times.
--
-- They are grouped by a hash of name, size, format and group size. The column name has these as
-- text. `numbered` are rows of numbered_steps, `jobs` the names of their jobs. A collective whose
-- members are in several steps counts in each.
--
-- reads: paired_members
CREATE OR REPLACE MACRO timed_transfers(numbered, jobs) AS TABLE
WITH
collectives_in_steps AS (
    SELECT DISTINCT
        s.sample,
        m.job,
        m.collective_id,
        m.transfer_ns,
        concat_ws(
            ' ', m.name, greatest(m.in_nelems, m.out_nelems), m.dtype, 'of', m.member_total, 'ranks'
        ) AS name
    FROM paired_members(jobs) AS m
    JOIN query_table(numbered) AS s
        ON s.job = m.job AND s.rank = m.rank AND s.step_key = coalesce(m.step, -1)
    WHERE m.member_count > 1
)
SELECT
    'transfer' AS cause,
    hash(name) AS thing,
    0::UBIGINT AS stratum,
    sample,
    count(*) AS times,
    sum(transfer_ns) AS total_ns,
    sum(transfer_ns::DOUBLE * transfer_ns) AS square_ns,
    name
FROM collectives_in_steps
GROUP BY name, sample;
