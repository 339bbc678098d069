-- An event's call stack across threads: callers, callees and their GPU activities.
--
-- The event is a host operation or a GPU activity. A host operation is an operator, annotation,
-- Python function, or runtime or driver call. Each event of the stack has a caller:
--
--   * The caller of a GPU activity is its launch.
--   * The caller of a host operation is the operation directly around it on its thread.
--   * The outermost operation of an autograd thread is called by an annotation of the main thread:
--     the `## backward ##` during which the operation ran. If the main thread has no `## backward
--     ##`, the caller is the profiler step during which the operation ran.
--
-- `relation` says how each row relates to the event. In this drawing, the event is aten::mm:
--
--     main      [= ProfilerStep#5 ======================)   ancestor
--                 [= Linear =)                              forward_ancestor
--                   [addmm)                                 forward
--                             [= ## backward ## ========)   ancestor
--     autograd                  [= AddmmBackward0 ==)       ancestor
--                                 [= aten::mm ====)         self
--                                  [empty)                  descendant
--                                         [launch)          descendant
--     GPU                                         [gemm)    activity
--
-- If the event is part of a backward pass, the rows also include its forward operator and
-- everything around that operator. The forward operator is the operator whose gradients the event
-- computes. These rows lead from a backward kernel to its module and its line of the program.
--
-- Each event has one row. An operation above both the event and its forward operator is an
-- ancestor, like the step in the drawing.
--
-- `depth` is the number of callers above the row's event, across threads. `height`, `kernel_count`
-- and `kernel_ns` cover everything that the row's event called, on any thread. They count all
-- of these, even those without a row.
--
-- Rows are in depth-first order. To show them as a tree, indent each name by its `depth`. The order
-- in detail:
--
--   * Callees on the same thread come first, in order of start. Callees on other threads come after
--     them.
--   * An activity comes directly after its launch.
--   * The forward pass comes at the end.
--
-- If the event is neither a host operation nor a GPU activity, there are no rows.
--
-- HTA's get_stack_of_node gives the same rows, with these differences:
--
--   * Rows of the forward pass are missing.
--   * Rows are in order of start.
--   * The parent of an operation without a caller is the negated number of its thread: -3914 for
--     thread 3914.
--   * Activities on stream 0 are left out.
--   * HTA fails if a stack is about 1,000 deep, or if rounding to whole microseconds makes a
--     duration negative.
--
-- since: 0.1
-- grain: job, rank, event_id
-- needs: events
-- returns:
--   job           VARCHAR  -      run of a program
--   rank          INTEGER  -      rank of the process
--   event_id      BIGINT   -      the event of this row
--   relation      VARCHAR  -      self: the event; ancestor: above the event; descendant: host
--                                 operation below the event; activity: launched by the event or by
--                                 a descendant; forward: the event's forward operator; and
--                                 forward_ancestor: above the forward operator
--   depth         BIGINT   -      number of callers above, across threads; 0 for the outermost
--   height        BIGINT   -      0 for an activity; 1 for an operation that called no other
--                                 operation; otherwise 1 more than the highest of its callees
--   parent_id     BIGINT   -      event_id of the caller, across threads; NULL for the outermost
--   cat           VARCHAR  -      category
--   name          VARCHAR  -      name
--   pid           VARCHAR  -      process of a host operation; NULL for an activity
--   tid           VARCHAR  -      thread of a host operation; NULL for an activity
--   device        BIGINT   -      GPU of an activity; NULL for a host operation
--   stream        BIGINT   -      stream of an activity; NULL for a host operation
--   start_ns      BIGINT   ns     start
--   dur_ns        BIGINT   ns     duration
--   kernel_count  BIGINT   count  GPU activities launched in the operation: kernels, copies and
--                                 memsets; 1 for an activity
--   kernel_ns     BIGINT   ns     sum of these activities' durations
-- check: relation IN (
--   'ancestor', 'self', 'descendant', 'activity', 'forward', 'forward_ancestor')
-- check: depth >= 0 AND (depth = 0) = (parent_id IS NULL)
-- check: height >= 0 AND dur_ns >= 0
-- check: kernel_count >= 0 AND kernel_ns >= 0
-- check: height > 0 OR (kernel_count = 1 AND kernel_ns = dur_ns)
-- check: relation <> 'activity' OR height = 0
-- reads: events_of_number, gpu_activities, host_calls, related_in_stack, stack_roots,
--   stack_totals
CREATE OR REPLACE MACRO call_stack_v1(
    of_event BIGINT,  -- event_id of a host operation or a GPU activity
    of_rank INTEGER := NULL,  -- rank of the event [default: every rank that has this event_id]
    only_jobs VARCHAR[] := NULL  -- jobs of the event [default: every job that has this event_id]
) AS TABLE
WITH RECURSIVE
-- The event and its host operation, which is the event itself or its launch. A rank has at most one
-- event with this number, so rank_number identifies the rank.
wanted AS MATERIALIZED (
    FROM events_of_number(of_event, of_rank, only_jobs)
),
-- The place of that host operation. If the operation is part of a backward pass: also its forward
-- operator.
places AS MATERIALIZED (
    SELECT w.rank_number, w.job, w.rank, o.event_id, o.root_id, o.forward_id
    FROM host_calls AS o
    JOIN wanted AS w ON w.job = o.job AND w.rank = o.rank AND w.op_id = o.event_id
    WHERE (of_rank IS NULL OR o.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
),
forward_places AS MATERIALIZED (
    SELECT p.rank_number, o.event_id, o.root_id
    FROM host_calls AS o
    JOIN places AS p ON p.job = o.job AND p.rank = o.rank AND p.forward_id = o.event_id
    WHERE (of_rank IS NULL OR o.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
),
roots AS MATERIALIZED (
    FROM stack_roots(wanted, places, forward_places, of_rank, only_jobs)
),
-- Everything that the outermost callers called. The figures of an ancestor also cover operations
-- that have no row.
tree AS MATERIALIZED (
    SELECT
        w.rank_number,
        o.event_id,
        coalesce(o.parent_id, roots.caller_id) AS parent_id,
        o.depth + roots.level AS level
    FROM host_calls AS o
    JOIN wanted AS w ON w.job = o.job AND w.rank = o.rank
    JOIN roots ON roots.rank_number = w.rank_number AND roots.root_id = o.root_id
    WHERE (of_rank IS NULL OR o.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
),
activities AS MATERIALIZED (
    SELECT
        w.rank_number,
        coalesce(a.recorded_id, a.launch_id) AS launch_id,
        a.event_id,
        a.dur_ns
    FROM gpu_activities AS a
    JOIN wanted AS w ON w.job = a.job AND w.rank = a.rank
    JOIN tree
        ON tree.rank_number = w.rank_number
        AND tree.event_id = coalesce(a.recorded_id, a.launch_id)
    WHERE (of_rank IS NULL OR a.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, a.job))
),
totals AS MATERIALIZED (
    FROM stack_totals(tree, activities, places, forward_places)
),
-- The event and everything that it called, from the event down.
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
        -- Depth-first. Work of another thread comes where the annotation that called it leaves
        -- the stack.
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
    FROM host_calls AS o
    JOIN wanted AS w ON w.job = o.job AND w.rank = o.rank
    JOIN related_in_stack(of_event, totals, inside) AS r
        ON r.rank_number = w.rank_number AND r.event_id = o.event_id
    JOIN roots ON roots.rank_number = w.rank_number AND roots.root_id = o.root_id
    WHERE r.relation IS NOT NULL
      AND (of_rank IS NULL OR o.rank = of_rank)
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
),
-- The activities to list: the event itself, or all that the event and its callees launched.
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
