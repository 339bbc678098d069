-- One row per rank's call of a collective or message, with the number of the collective or message
-- to which the call belongs.
--
-- `jobs`: the jobs to look at (NULL: all)
--
-- Returns each call as pairs_v1 has paired it, with
--
--     group_id       number of the call's process group, unique over all jobs, as in
--                    groups_of_jobs
--     lane           number of the call's lane, unique over all jobs. The collectives of a group
--                    are a lane. The messages from one sender to one receiver in a group are a
--                    lane. NULL if the group is not known, or the peer of a message is not known
--     collective_id  number of the collective or message: equal on the calls that belong together.
--                    Numbers start at 1 in each job and follow the order of first starts. NULL if
--                    the call is not paired, or its lane is NULL
--     paired_by      comms_id, seq or order, see pairs_v1
--     is_message     true for a send or a receive
--     ends_together  true if the macro ends_together is true for the operation of each member: all
--                    members leave the collective together. False for messages and unpaired calls
--     member_count   number of calls that belong together
--     transfer_ns    duration of the shortest call. During this time no member waits for another
--     wait_ns        the call's own duration minus transfer_ns
--
-- reads: pairs_of
CREATE OR REPLACE MACRO paired_members(jobs) AS TABLE
WITH
-- Materialized: else DuckDB would plan pairs_of twice. Planning may take longer than the rest of
-- the query.
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
