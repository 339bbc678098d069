-- The calls of collectives and messages, with which calls of different ranks belong together.
--
-- `jobs`: the jobs to look at (NULL: all). Returns each call as pairs_v1 has paired it, with
--
--     group_id       number of its group, as in groups_of_jobs
--     lane           number of its group, or of sender and receiver in a group
--     collective_id  equal on the calls that belong together: 1, 2, ... in a job, in the order in
--                    which their first calls began. NULL: group or peer is not known, or not paired
--     paired_by      comms_id, seq or order
--     is_message     a send and a receive, not a collective
--     ends_together  all members leave it together, as ends_together says of each call's operation;
--                    false for messages and calls without a collective_id
--     member_count   number of calls that belong together
--     transfer_ns    the shortest call's duration, during which no member waited for another
--     wait_ns        the call's own duration beyond transfer_ns
--
-- reads: pairs_of
CREATE OR REPLACE MACRO paired_members(jobs) AS TABLE
WITH
-- Materialized, because planning it twice may take longer than everything after it.
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
