-- Collectives and messages between ranks: which calls of different ranks belong together.
--
-- `jobs` are the jobs to look at; NULL means all. Gives each call as pairs_v1 has paired it, with
--
--     group_id       number of its group, as in groups_of_jobs
--     lane           number of its group, or of sender and receiver in a group
--     collective_id  equal on the calls that belong together; 1, 2, ... in a job, by when the first
--                    of them began. NULL: a call of a group or peer that is not known
--     paired_by      comms_id, seq or order
--     is_message     of a send and a receive, not of a collective
--     ends_together  all members leave it together, as ends_together says of what each calls it;
--                    false for messages and calls with none
--     member_count   calls that belong together
--     transfer_ns    the shortest one's duration: nobody of them waited then for another
--     wait_ns        its own duration past that
--
-- reads: pairs_of
CREATE OR REPLACE MACRO paired_members(jobs) AS TABLE
WITH
-- Materialized, as to plan it twice may take longer than all else.
pairs AS MATERIALIZED (
    FROM pairs_of(jobs)
),
group_counts AS (
    SELECT job, max(group_number) AS group_count
    FROM pairs
    GROUP BY job
),
groups_before AS (
    SELECT
        job,
        coalesce(
            sum(group_count) OVER (
                ORDER BY job ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            0
        )::BIGINT AS group_count
    FROM group_counts
)
SELECT
    p.job,
    p.collective_id,
    b.group_count + p.group_number AS group_id,
    ((b.group_count + p.group_number) << 40) + p.ends AS lane,
    p.is_message,
    p.ends_together,
    p.rank,
    p.event_id,
    p.device,
    p.step,
    p.start_ns,
    p.dur_ns,
    p.start_ns + p.dur_ns AS end_ns,
    p.computed_before_ns,
    p.hidden_ns,
    p.name,
    p.operation,
    p.process_group,
    p.dtype,
    p.in_nelems,
    p.out_nelems,
    p.seq,
    p.comms_id,
    p.paired_by,
    p.member_total,
    p.member_count,
    p.transfer_ns,
    p.dur_ns - p.transfer_ns AS wait_ns
FROM pairs AS p
JOIN groups_before AS b ON b.job = p.job;
