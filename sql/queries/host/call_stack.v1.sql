-- An event's call stack: what called it, through threads, what it called, and their GPU activities.
--
-- The event is an operation of the host or a GPU activity. An operation's caller is the one around
-- it on its thread; an outermost one of an autograd thread was called by the annotation of the main
-- thread that it ran in (`## backward ##`, else the profiler step), an activity by its launch.
-- `relation` tells what each row is to the event, here to aten::mm:
--
--     main thread      [= ProfilerStep#5 =============================)       ancestor
--                        [= Linear =)                                         forward_ancestor
--                          [addmm)                                            forward
--                                     [= ## backward ## =============)        ancestor
--     autograd thread                   [= AddmmBackward0 =========)          ancestor
--                                         [= aten::mm =========)              self
--                                           [empty)                           descendant
--                                                   [launch)                  descendant
--     GPU                                                       [= gemm =)    activity
--
-- For an event of a backward pass there are also the forward operator whose backward pass it is of,
-- and what is around that one: they lead from a backward kernel to its module and its line of the
-- program. An event has one row; what is both above it and above its forward operator, as the step
-- here, is an ancestor.
--
-- `depth` counts callers through threads. `height`, `kernel_count` and `kernel_ns` are of all that
-- the row's event called, on whatever thread, listed or not. Rows are in depth-first order, so that
-- names indented by `depth` read as a stack: callees by their starts, then those of other threads;
-- an activity right behind its launch; the forward pass at the end. There are no rows of an event
-- that is neither an operation of the host nor a GPU activity.
--
-- HTA's get_stack_of_node has the same rows but for the forward pass, by their starts; the parent
-- of what has no caller is the thread's number below zero. It knows no activities on stream 0, and
-- fails where a stack is about 1,000 deep or rounding to whole us made a duration negative.
--
-- since: 0.1
-- grain: job, rank, event_id
-- returns:
--   job           VARCHAR  -      run of a program
--   rank          INTEGER  -      rank of the process
--   event_id      BIGINT   -      the event of this row
--   relation      VARCHAR  -      self: the event; ancestor: above it; descendant: host operation
--                                 below it; activity: launched by one of these; forward: its
--                                 forward operator; forward_ancestor: above that one
--   depth         BIGINT   -      callers above, through threads; 0 for the outermost
--   height        BIGINT   -      0 of an activity; 1 of an operation that called none, one more
--                                 with each level below
--   parent_id     BIGINT   -      its caller, through threads; NULL for the outermost
--   cat           VARCHAR  -      category
--   name          VARCHAR  -      name
--   pid           VARCHAR  -      process of a host operation; NULL for an activity
--   tid           VARCHAR  -      its thread; NULL for an activity
--   device        BIGINT   -      GPU of an activity; NULL for a host operation
--   stream        BIGINT   -      its stream; NULL for a host operation
--   start_ns      BIGINT   ns     start
--   dur_ns        BIGINT   ns     duration
--   kernel_count  BIGINT   count  GPU activities launched in it: kernels, copies and memsets; 1 for
--                                 one of these
--   kernel_ns     BIGINT   ns     sum of these activities' durations
-- check: relation IN (
--   'ancestor', 'self', 'descendant', 'activity', 'forward', 'forward_ancestor')
-- check: depth >= 0 AND (depth = 0) = (parent_id IS NULL)
-- check: height >= 0 AND dur_ns >= 0
-- check: kernel_count >= 0 AND kernel_ns >= 0
-- check: height > 0 OR (kernel_count = 1 AND kernel_ns = dur_ns)
-- check: relation <> 'activity' OR height = 0
-- reads: events_of_number, gpu_activities, host_ops, related_in_stack, stack_roots, stack_totals
CREATE OR REPLACE MACRO call_stack_v1(
    of_event BIGINT,  -- event_id of a host operation or a GPU activity
    of_rank INTEGER := NULL,  -- its rank [default: each that has an event of this number]
    only_jobs VARCHAR[] := NULL  -- its job [default: each that has an event of this number]
) AS TABLE
WITH RECURSIVE
-- The event with the operation that it is, or that launched it. A rank has one or none, so these
-- number the ranks.
wanted AS MATERIALIZED (
    FROM events_of_number(of_event, of_rank, only_jobs)
),
-- Where that operation stands, and the forward operator whose backward pass it is of.
places AS MATERIALIZED (
    SELECT w.rank_number, w.job, w.rank, o.event_id, o.root_id, o.forward_id
    FROM host_ops AS o
    JOIN wanted AS w ON w.job = o.job AND w.rank = o.rank AND w.op_id = o.event_id
    WHERE (of_rank IS NULL OR o.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
),
forward_places AS MATERIALIZED (
    SELECT p.rank_number, o.event_id, o.root_id
    FROM host_ops AS o
    JOIN places AS p ON p.job = o.job AND p.rank = o.rank AND p.forward_id = o.event_id
    WHERE (of_rank IS NULL OR o.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
),
roots AS MATERIALIZED (
    FROM stack_roots(wanted, places, forward_places, of_rank, only_jobs)
),
-- All that the outermost callers called: an ancestor's figures are of more than is listed.
tree AS MATERIALIZED (
    SELECT
        w.rank_number,
        o.event_id,
        coalesce(o.parent_id, roots.caller_id) AS parent_id,
        o.depth + roots.level AS level
    FROM host_ops AS o
    JOIN wanted AS w ON w.job = o.job AND w.rank = o.rank
    JOIN roots ON roots.rank_number = w.rank_number AND roots.root_id = o.root_id
    WHERE (of_rank IS NULL OR o.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
),
activities AS MATERIALIZED (
    SELECT w.rank_number, a.launch_id, a.event_id, a.dur_ns
    FROM gpu_activities AS a
    JOIN wanted AS w ON w.job = a.job AND w.rank = a.rank
    JOIN tree ON tree.rank_number = w.rank_number AND tree.event_id = a.launch_id
    WHERE (of_rank IS NULL OR a.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, a.job))
),
totals AS MATERIALIZED (
    FROM stack_totals(tree, activities, places, forward_places)
),
-- The event and all that it called, from it down.
inside AS (
    SELECT rank_number, op_id AS event_id
    FROM wanted
    WHERE activity_id IS NULL
    UNION ALL
    SELECT tree.rank_number, tree.event_id
    FROM inside
    JOIN tree
        ON tree.rank_number = inside.rank_number AND tree.parent_id = inside.event_id
),
ops AS MATERIALIZED (
    SELECT
        w.rank_number,
        w.job,
        w.rank,
        o.event_id,
        r.relation,
        r.level AS depth,
        r.height,
        r.parent_id,
        o.cat,
        o.name,
        o.pid,
        o.tid,
        o.start_ns,
        o.dur_ns,
        r.kernel_count,
        r.kernel_ns,
        -- Depth-first: what another thread did for a caller comes where that one is left.
        row_number() OVER (
            ORDER BY
                w.rank_number,
                prefix(r.relation, 'forward'),
                coalesce(roots.caller_left_ns, o.start_ns),
                CASE
                    WHEN roots.caller_left_ns > roots.caller_start_ns THEN 0
                    WHEN roots.caller_id IS NOT NULL THEN 3
                    WHEN o.end_ns > o.start_ns THEN 1
                    ELSE 2
                END,
                roots.level DESC,
                roots.caller_id,
                roots.root_start_ns,
                CASE WHEN roots.caller_id IS NOT NULL THEN roots.root_id END,
                o.start_ns,
                o.end_ns DESC,
                o.event_id
        ) AS line
    FROM host_ops AS o
    JOIN wanted AS w ON w.job = o.job AND w.rank = o.rank
    JOIN related_in_stack(of_event, totals, inside) AS r
        ON r.rank_number = w.rank_number AND r.event_id = o.event_id
    JOIN roots ON roots.rank_number = w.rank_number AND roots.root_id = o.root_id
    WHERE r.relation IS NOT NULL
      AND (of_rank IS NULL OR o.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
),
-- Those to list: the wanted one, or all launched by the event and by what it called.
listed_activities AS (
    SELECT rank_number, activity_id AS event_id, op_id AS launch_id, 'self' AS relation
    FROM wanted
    WHERE activity_id IS NOT NULL
    UNION ALL
    SELECT a.rank_number, a.event_id, a.launch_id, 'activity' AS relation
    FROM activities AS a
    JOIN inside ON inside.rank_number = a.rank_number AND inside.event_id = a.launch_id
),
lines AS (
    SELECT * EXCLUDE (rank_number)
    FROM ops
    UNION ALL BY NAME
    SELECT
        w.job,
        w.rank,
        a.event_id,
        listed.relation,
        coalesce(ops.depth + 1, 0) AS depth,
        0 AS height,
        ops.event_id AS parent_id,
        a.cat,
        a.name,
        a.device,
        a.stream,
        a.start_ns,
        a.dur_ns,
        1 AS kernel_count,
        a.dur_ns AS kernel_ns,
        coalesce(ops.line, 0) AS line,
        a.start_ns AS activity_start_ns
    FROM gpu_activities AS a
    JOIN wanted AS w ON w.job = a.job AND w.rank = a.rank
    JOIN listed_activities AS listed
        ON listed.rank_number = w.rank_number AND listed.event_id = a.event_id
    LEFT JOIN ops ON ops.rank_number = w.rank_number AND ops.event_id = listed.launch_id
    WHERE (of_rank IS NULL OR a.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, a.job))
)
SELECT
    job,
    rank,
    event_id,
    relation,
    depth::BIGINT AS depth,
    height::BIGINT AS height,
    parent_id,
    cat,
    name,
    pid,
    tid,
    device,
    stream,
    start_ns,
    dur_ns,
    kernel_count::BIGINT AS kernel_count,
    kernel_ns::BIGINT AS kernel_ns
FROM lines
ORDER BY job, rank, line, activity_start_ns NULLS FIRST, event_id;
