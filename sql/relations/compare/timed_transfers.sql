-- One row per sample and kind of collectives or messages: the number of collectives or messages,
-- and their transfer times.
--
-- Collectives or messages of one kind have the same name, number of elements, data type and group
-- size. The column `name` has these four values as one text. thing is a hash of this text. A sample
-- is one step on one side (base or test), with all ranks of the side. The other columns are as in
-- the parameter `calls` of changed_times.
--
--     numbered  rows of numbered_steps
--     jobs      list of the jobs of `numbered`
--
-- If the members of a collective are in several steps, the collective counts once in each of these
-- steps. A collective or message with a call on only one rank does not count.
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
