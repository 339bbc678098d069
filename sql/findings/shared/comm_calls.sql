-- Every call of a collective or message in measured steps: how long it waits, how long it
-- transfers, and which part of both nothing hides.
--
-- `only_jobs`: jobs to look at (NULL: all).
-- `steady`: rows of shared_steady.
-- `scopes`: rows of shared_scopes.
--
-- Returns job, rank, device, event_id, step, start_ns, end_ns, dur_ns, group_size, and
--
--     label          operation; the kernel's short name if the trace lacks its arguments
--     group_label    description of the process group, or its name; NULL if neither is given
--     group_id       number of the group, unique over all jobs; NULL if is_whole is false
--     collective_id  number of the collective or message in its job; NULL if is_whole is false
--     bytes          the larger one of input and output; NULL if not known
--     is_message     whether it is a send or a receive
--     is_whole       whether the calls of all members are there, so that its wait is known
--     transfer_ns    time without waits. If is_whole is false, the least that it can be: the
--                    shortest call of the same kind and of this size or more, or 0 if there are
--                    fewer than `least_calls`. Without sizes, calls of one kernel have one size if
--                    they come at the same place of different steps
--     computed_ns    computing time of the device before the call, and computed_then_ns until the
--                    end of the call
--     computed_since_ns  computing time from the end of the calls before, on the same device, to
--                    the start of this one; NULL for the first call
--     exposed_ns     part of the call that is exposed
--     moved_ns       part of the transfer that is exposed
--     waited_ns      part of the wait that is exposed; NULL if is_whole is false
--
-- A part of a call is exposed if the device does not compute, and if no call that started before
-- still runs. Computation is taken to run at the begin of a call: it was launched before. So it
-- hides the wait first, and then the transfer:
--
--     call         [wait     [transfer      )
--     computation  [=============)
--                                ----------- moved_ns; waited_ns is 0
--
-- reads: collective_operation, dtype_sizes, gpu_activities, in_measured_steps, is_point_to_point,
--   limit_of, paired_members, possible_group_size, possible_size
CREATE OR REPLACE MACRO shared_comm_calls(only_jobs, steady, scopes) AS TABLE
WITH
with_peers AS (
    SELECT m.job, m.rank, m.event_id, m.collective_id, m.group_id, m.transfer_ns
    FROM paired_members(only_jobs) AS m
    WHERE m.member_count > 1 AND (m.is_message OR m.member_count >= m.member_total)
),
of_jobs AS (
    SELECT a.*
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND a.kind = 'communication'
      AND a.hidden_ns IS NOT NULL
),
picked AS (
    SELECT
        a.job,
        a.rank,
        a.device,
        a.event_id,
        a.step,
        a.start_ns,
        a.end_ns,
        a.dur_ns,
        a.computed_before_ns AS computed_ns,
        a.computed_before_ns + a.hidden_ns AS computed_then_ns,
        coalesce(collective_operation(a.collective_name), a.collective_name, a.short_name) AS label,
        coalesce(
            nullif(nullif(a.process_group_desc, ''), 'undefined'), a.process_group_name
        ) AS group_label,
        possible_group_size(a.group_size) AS group_size,
        greatest(possible_size(a.in_nelems), possible_size(a.out_nelems))
            * d.element_bytes::BIGINT AS bytes,
        CASE
            WHEN u.unit_count >= limit_of('exposed_communication', 'least_calls')
            THEN row_number() OVER (
                PARTITION BY a.job, a.rank, a.step, a.short_name ORDER BY a.start_ns, a.event_id
            )
        END AS place
    FROM in_measured_steps(of_jobs, steady) AS a
    JOIN query_table(scopes) AS u ON u.job = a.job AND u.rank = a.rank
    LEFT JOIN dtype_sizes AS d ON d.dtype = a.dtype
),
compared AS (
    SELECT
        *,
        min(dur_ns) OVER no_smaller AS least_ns,
        count(*) OVER no_smaller AS like_count,
        max(end_ns) OVER before AS busy_until_ns,
        max(computed_then_ns) OVER before AS computed_until_ns
    FROM picked
    WINDOW
        no_smaller AS (
            PARTITION BY
                job, label, group_label, group_size, CASE WHEN bytes IS NULL THEN place END
            ORDER BY bytes DESC NULLS LAST RANGE UNBOUNDED PRECEDING
        ),
        before AS (
            PARTITION BY job, rank, device ORDER BY start_ns, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
),
exposed AS (
    SELECT
        c.* EXCLUDE (
            place, least_ns, like_count, busy_until_ns, computed_until_ns
        ),
        greatest(0, c.computed_ns - c.computed_until_ns) AS computed_since_ns,
        p.collective_id,
        p.group_id,
        p.collective_id IS NOT NULL AS is_whole,
        CASE
            WHEN p.collective_id IS NOT NULL THEN p.transfer_ns
            WHEN c.like_count >= limit_of('exposed_communication', 'least_calls') THEN c.least_ns
            ELSE 0
        END AS transfer_ns,
        CASE
            WHEN c.end_ns <= c.busy_until_ns THEN 0
            WHEN c.start_ns < c.busy_until_ns
            THEN c.end_ns - c.busy_until_ns - (c.computed_then_ns - c.computed_until_ns)
            ELSE c.dur_ns - (c.computed_then_ns - c.computed_ns)
        END AS exposed_ns
    FROM compared AS c
    LEFT JOIN with_peers AS p ON p.job = c.job AND p.rank = c.rank AND p.event_id = c.event_id
)
SELECT
    *,
    is_point_to_point(label) AS is_message,
    least(transfer_ns, exposed_ns) AS moved_ns,
    CASE WHEN is_whole THEN exposed_ns - least(transfer_ns, exposed_ns) END AS waited_ns
FROM exposed;
