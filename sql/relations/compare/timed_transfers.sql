-- One row per kind of collective or message and sample: their number and their transfer times.
--
-- Returns name, and columns as in the `calls` of changed_times. The column `name` is the text of
-- four values: name, number of elements, data type and group size. thing is a hash of `name`.
--
--     numbered  rows of numbered_steps
--     jobs      list of the jobs of `numbered`
--
-- If the members of a collective are in several steps, the collective counts once in each of these
-- steps. A collective with a call on only one rank does not count.
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
