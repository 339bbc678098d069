-- One row per rank with GPU activities: counts and times that show how good its recording is.
--
-- `hosts`: rows of host_facts
-- `jobs`, `ranks`: lists of values to select (NULL: all)
--
-- Returns job, rank and these numbers of activities. The times are sums of durations:
--
--     activity_count, gpu_ns          all activities
--     first_launch_ns, last_launch_ns start of the first and last launch that has an activity
--     steps                           list of the steps with activities
--     unlinked_count, unlinked_ns     without a launch
--     leading_count                   of these: before the first one with a launch on their stream
--     nameless_count                  of these: without a correlation id
--     graph_count, graph_ns           launched by a graph launch, so without their own operator
--     outside_count, outside_ns       launched outside of all steps
--     overlap_count, overlap_ns       begin before an earlier activity of their stream ended, and
--                                     nothing lets them; overlap_ns is the time in common
--     parallel_count                  the same for activities of a graph, and of launches that may
--                                     begin before their predecessor ends (…LaunchKernelEx…)
--     touching_count, touching_ns     end where the next activity of their stream begins, or 1 ns
--                                     before; 0 if the times are whole microseconds
--     early_count                     begin before their launch began
--     negative_count                  last less than nothing
--     far_count                       an hour or more before or after everything on the host
--     impossible_count                any of these three
--     absurd_count                    have a number that cannot be, see possible_numbers.sql
--     communication_count, _ns        kind communication
--     bare_count, bare_ns             of these: without the arguments of a collective
--     numberless_count                of the others: with neither Seq nor Comms Id
--
-- reads: gpu_activities, possible_group_size, possible_size
CREATE OR REPLACE MACRO activity_facts(hosts, jobs, ranks) AS TABLE
WITH
placed AS (
    SELECT
        a.job,
        a.rank,
        a.start_ns,
        a.end_ns,
        greatest(a.dur_ns, 0) AS dur_ns,
        a.dur_ns < 0 AS is_negative,
        a.step,
        a.launch_id,
        a.correlation,
        a.launch_start_ns,
        a.kind = 'communication' AS is_communication,
        coalesce(a.collective_name, '') = '' AS is_bare,
        a.seq IS NULL AND a.comms_id IS NULL AS is_numberless,
        a.bytes IS DISTINCT FROM possible_size(a.bytes)
            OR a.in_nelems IS DISTINCT FROM possible_size(a.in_nelems)
            OR a.out_nelems IS DISTINCT FROM possible_size(a.out_nelems)
            OR a.group_size IS DISTINCT FROM possible_group_size(a.group_size) AS is_absurd,
        contains(a.launch_name, 'GraphLaunch') IS TRUE AS is_of_graph,
        is_of_graph OR contains(a.launch_name, 'LaunchKernelEx') IS TRUE AS may_overlap,
        max(a.end_ns) OVER earlier AS covered_until_ns,
        count(a.launch_id) OVER earlier AS launched_before,
        lead(a.start_ns) OVER in_order AS next_start_ns
    FROM gpu_activities AS a
    WHERE (jobs IS NULL OR list_contains(jobs, a.job))
      AND (ranks IS NULL OR list_contains(ranks, a.rank))
    WINDOW
        in_order AS (
            PARTITION BY a.job, a.rank, a.device, a.stream ORDER BY a.start_ns, a.event_id
        ),
        earlier AS (
            PARTITION BY a.job, a.rank, a.device, a.stream ORDER BY a.start_ns, a.event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
),
judged AS (
    SELECT
        p.*,
        CASE
            WHEN p.covered_until_ns > p.start_ns
            THEN greatest(0, least(p.end_ns, p.covered_until_ns) - p.start_ns)
            ELSE 0
        END AS common_ns,
        p.next_start_ns - p.end_ns BETWEEN 0 AND 1 AND p.dur_ns > 0 AS is_touching,
        h.first_ns - p.start_ns >= 3_600_000_000_000
            OR p.end_ns - h.last_ns >= 3_600_000_000_000 AS is_far
    FROM placed AS p
    LEFT JOIN query_table(hosts) AS h ON h.job = p.job AND h.rank = p.rank
)
SELECT
    job,
    rank,
    count(*) AS activity_count,
    sum(dur_ns)::BIGINT AS gpu_ns,
    min(launch_start_ns) AS first_launch_ns,
    max(launch_start_ns) AS last_launch_ns,
    list(DISTINCT step) FILTER (step IS NOT NULL) AS steps,
    count(*) FILTER (launch_id IS NULL) AS unlinked_count,
    coalesce(sum(dur_ns) FILTER (launch_id IS NULL), 0)::BIGINT AS unlinked_ns,
    count(*) FILTER (launch_id IS NULL AND launched_before = 0) AS leading_count,
    count(*) FILTER (launch_id IS NULL AND correlation IS NULL) AS nameless_count,
    count(*) FILTER (is_of_graph) AS graph_count,
    coalesce(sum(dur_ns) FILTER (is_of_graph), 0)::BIGINT AS graph_ns,
    count(*) FILTER (launch_id IS NOT NULL AND step IS NULL) AS outside_count,
    coalesce(sum(dur_ns) FILTER (launch_id IS NOT NULL AND step IS NULL), 0)::BIGINT AS outside_ns,
    count(*) FILTER (common_ns > 0 AND NOT may_overlap) AS overlap_count,
    coalesce(sum(common_ns) FILTER (NOT may_overlap), 0)::BIGINT AS overlap_ns,
    count(*) FILTER (common_ns > 0 AND may_overlap) AS parallel_count,
    CASE
        WHEN bool_or(start_ns % 1000 <> 0 OR dur_ns % 1000 <> 0)
        THEN count(*) FILTER (is_touching)
        ELSE 0
    END AS touching_count,
    coalesce(sum(dur_ns) FILTER (is_touching), 0)::BIGINT AS touching_ns,
    count(*) FILTER (start_ns < launch_start_ns) AS early_count,
    count(*) FILTER (is_negative) AS negative_count,
    count(*) FILTER (is_far) AS far_count,
    count(*) FILTER (start_ns < launch_start_ns OR is_negative OR is_far) AS impossible_count,
    count(*) FILTER (is_absurd) AS absurd_count,
    count(*) FILTER (is_communication) AS communication_count,
    coalesce(sum(dur_ns) FILTER (is_communication), 0)::BIGINT AS communication_ns,
    count(*) FILTER (is_communication AND is_bare) AS bare_count,
    coalesce(sum(dur_ns) FILTER (is_communication AND is_bare), 0)::BIGINT AS bare_ns,
    count(*) FILTER (is_communication AND NOT is_bare AND is_numberless) AS numberless_count
FROM judged
GROUP BY job, rank;
