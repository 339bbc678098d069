-- Time by call stack, as folded stacks: the input of flame graphs.
--
-- A stack is the names of its operations from the outermost to the innermost, joined by `;`. Stacks
-- continue across threads, as in call_stack: operations of an autograd thread come below the
-- annotation of the main thread during which they ran. `weight` sets what is measured:
--
--   * gpu: GPU activities. The stack consists of the operations around the activity's launch, then
--     the launch, then the activity's short name. If an activity has no known launch, its stack is
--     its short name. The weight is the sum of the activities' durations.
--   * host: host operations. The weight is the sum of their self times. The self time of an
--     operation is its duration minus the time of everything that it called on its thread.
--
-- For example:
--
--     aten::linear   [==================)
--     aten::mm          [=========)
--     launch               [==)
--     GPU                        [=======)
--
--     weight   stack                               weight_ns
--     gpu      aten::linear;aten::mm;launch;gemm   8
--     host     aten::linear                        9
--     host     aten::linear;aten::mm               7
--     host     aten::linear;aten::mm;launch        3
--
-- With gpu, the weights add up to the sum of all activities' durations. With host, the weights add
-- up to the time that threads spent in operations. Activities that run at the same time each count
-- in full, and threads that run at the same time also each count in full. So the weights below the
-- annotation of a backward pass can exceed the annotation's duration.
--
-- An operation B can begin inside an operation A and end after A. Then B takes the place of A on
-- the stack when B begins. The time from the start of B to the end of A counts twice: in the self
-- time of A and in the self time of B.
--
-- Names are changed so that flame graph tools can read the stacks: `;` becomes `:`, a control
-- character becomes a blank, and an empty name becomes `[unknown]`. Stacks that are equal after
-- this change make one row.
--
-- `only_steps` selects the activities or operations that are measured. The stack of a measured
-- operation or activity includes operations that began in other steps. The time of callees is
-- subtracted even if the callees began in other steps.
--
-- A stack lists at most 2,000 nested operations of one thread. If there are more, `…` stands for
-- all deeper operations of this thread. Their time counts for the stack with this `…`.
--
-- PyTorch's export_stacks has Python frames only.
--
-- since: 0.1
-- grain: job, rank, stack
-- needs: gpu_activities if weight = gpu, host_ops if weight = host
-- returns:
--   job        VARCHAR  -   run of a program
--   rank       INTEGER  -   rank of the process
--   stack      VARCHAR  -   names, outermost first, joined by ;
--   weight_ns  BIGINT   ns  gpu: sum of the activities' durations; host: sum of the operations'
--                           self times
-- check: weight_ns >= 0
-- check: stack <> '' AND NOT regexp_matches(stack, '(^|;)(;|$)|\p{Cc}')
-- reads: captured_id_of, captured_ops, gpu_activities, host_ops, is_runtime_call, most_frames,
--   stack_frame
CREATE OR REPLACE MACRO folded_stacks_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: the whole trace]
    weight VARCHAR := 'gpu'  -- gpu: time of GPU activities; host: self time of host operations
) AS TABLE
WITH RECURSIVE
-- Operations that are too deep to list, with the stack in which they count: the stack of the
-- operation around them at the last listed depth. This is the last operation of that depth that
-- began before them.
too_deep AS (
    SELECT o.job, o.rank, o.pid, o.tid, o.event_id, o.start_ns, o.end_ns, o.depth, o.stack_hash
    FROM host_ops AS o
    WHERE o.depth >= most_frames() - 1
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
),
shortened AS MATERIALIZED (
    SELECT
        job,
        rank,
        event_id,
        last_value(CASE WHEN depth = most_frames() - 1 THEN stack_hash END IGNORE NULLS) OVER (
            PARTITION BY job, rank, pid, tid
            ORDER BY start_ns, end_ns DESC, event_id
            ROWS UNBOUNDED PRECEDING
        ) AS stack_hash
    FROM too_deep
    QUALIFY depth >= most_frames()
),
-- The outermost operations of autograd threads. An annotation of another thread called them.
called AS MATERIALIZED (
    SELECT
        o.job,
        o.rank,
        o.event_id AS root_id,
        coalesce(shortened.stack_hash, caller.stack_hash) AS caller_hash,
        CASE WHEN shortened.event_id IS NOT NULL THEN '…' END AS caller_leaf
    FROM host_ops AS o
    JOIN host_ops AS caller
        ON caller.job = o.job AND caller.rank = o.rank AND caller.event_id = o.caller_id
    LEFT JOIN shortened
        ON shortened.job = o.job AND shortened.rank = o.rank AND shortened.event_id = o.caller_id
    WHERE o.caller_id IS NOT NULL
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
      AND (only_jobs IS NULL OR list_contains(only_jobs, caller.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, caller.rank))
),
of_launches AS (
    SELECT
        a.job,
        a.rank,
        a.launch_id,
        captured_id_of(a.recorded_id) AS captured_id,
        a.short_name,
        sum(a.dur_ns) AS weight_ns
    FROM gpu_activities AS a
    WHERE weight = 'gpu'
      AND (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND (only_steps IS NULL OR list_contains(only_steps, a.step))
    GROUP BY ALL
),
-- Launches that were recorded into graphs, and the operations around them. Their stacks begin at
-- the capture, so their hashes differ from those of other stacks.
recorded AS MATERIALIZED (
    SELECT
        c.job,
        c.rank,
        c.captured_id,
        c.parent_id,
        stack_frame(c.name) AS frame,
        hash(c.graph, c.captured_id) AS stack_hash
    FROM captured_ops AS c
    WHERE weight = 'gpu'
      AND (only_jobs IS NULL OR list_contains(only_jobs, c.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, c.rank))
),
launches AS (
    SELECT o.job, o.rank, o.event_id, o.root_id, o.stack_hash
    FROM host_ops AS o
    WHERE weight = 'gpu'
      AND is_runtime_call(o.cat)
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
),
-- If another operation crosses a callee, the callee counts until that operation begins. From then
-- on, that operation is on the stack.
callees AS (
    SELECT o.job, o.rank, o.parent_id, sum(coalesce(o.cut_ns, o.end_ns) - o.start_ns) AS callees_ns
    FROM host_ops AS o
    WHERE weight = 'host'
      AND o.parent_id IS NOT NULL
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
    GROUP BY o.job, o.rank, o.parent_id
),
-- Grouped by hashes of stacks: there are far fewer stacks than activities or operations.
weighed AS MATERIALIZED (
    SELECT
        a.job,
        a.rank,
        -- A replayed launch stands below the graph launch.
        CASE
            WHEN recorded.captured_id IS NULL THEN called.caller_hash
            ELSE coalesce(shortened.stack_hash, launches.stack_hash)
        END AS caller_hash,
        CASE WHEN recorded.captured_id IS NULL THEN called.caller_leaf END AS caller_leaf,
        coalesce(recorded.stack_hash, shortened.stack_hash, launches.stack_hash) AS stack_hash,
        concat_ws(
            ';',
            CASE
                WHEN recorded.captured_id IS NULL AND shortened.event_id IS NOT NULL THEN '…'
            END,
            stack_frame(a.short_name)
        ) AS leaf,
        sum(a.weight_ns) AS weight_ns
    FROM of_launches AS a
    LEFT JOIN recorded
        ON recorded.job = a.job
        AND recorded.rank = a.rank
        AND recorded.captured_id = a.captured_id
    LEFT JOIN launches
        ON launches.job = a.job AND launches.rank = a.rank AND launches.event_id = a.launch_id
    LEFT JOIN shortened
        ON shortened.job = a.job AND shortened.rank = a.rank AND shortened.event_id = a.launch_id
    LEFT JOIN called
        ON called.job = launches.job
        AND called.rank = launches.rank
        AND called.root_id = launches.root_id
    GROUP BY ALL
    UNION ALL
    SELECT
        o.job,
        o.rank,
        called.caller_hash,
        called.caller_leaf,
        coalesce(shortened.stack_hash, o.stack_hash) AS stack_hash,
        CASE WHEN shortened.event_id IS NOT NULL THEN '…' END AS leaf,
        sum(o.dur_ns - coalesce(callees.callees_ns, 0)) AS weight_ns
    FROM host_ops AS o
    LEFT JOIN shortened
        ON shortened.job = o.job AND shortened.rank = o.rank AND shortened.event_id = o.event_id
    LEFT JOIN callees
        ON callees.job = o.job AND callees.rank = o.rank AND callees.parent_id = o.event_id
    LEFT JOIN called
        ON called.job = o.job AND called.rank = o.rank AND called.root_id = o.root_id
    WHERE weight = 'host'
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
      AND (only_steps IS NULL OR list_contains(only_steps, o.step))
    GROUP BY ALL
),
-- One operation per stack gives the last name of the stack, and the stack above this name.
examples AS (
    SELECT o.job, o.rank, o.stack_hash, min(o.event_id) AS event_id
    FROM host_ops AS o
    WHERE o.stack_hash IS NOT NULL
      AND (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
    GROUP BY o.job, o.rank, o.stack_hash
),
-- One join per CTE. In a single CTE, every operation would first be joined with its caller.
example_ops AS MATERIALIZED (
    SELECT e.job, e.rank, e.stack_hash, o.parent_id, stack_frame(o.name) AS frame
    FROM examples AS e
    JOIN host_ops AS o ON o.job = e.job AND o.rank = e.rank AND o.event_id = e.event_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, o.rank))
),
frames AS MATERIALIZED (
    SELECT e.job, e.rank, e.stack_hash, caller.stack_hash AS caller_hash, e.frame
    FROM example_ops AS e
    LEFT JOIN host_ops AS caller
        ON caller.job = e.job
        AND caller.rank = e.rank
        AND caller.event_id = e.parent_id
        AND (only_jobs IS NULL OR list_contains(only_jobs, caller.job))
        AND (only_ranks IS NULL OR list_contains(only_ranks, caller.rank))
    UNION ALL
    SELECT r.job, r.rank, r.stack_hash, caller.stack_hash AS caller_hash, r.frame
    FROM recorded AS r
    LEFT JOIN recorded AS caller
        ON caller.job = r.job AND caller.rank = r.rank AND caller.captured_id = r.parent_id
),
-- The stacks that have a weight, and the stacks above them.
needed AS (
    SELECT job, rank, stack_hash FROM weighed WHERE stack_hash IS NOT NULL
    UNION
    SELECT job, rank, caller_hash AS stack_hash FROM weighed WHERE caller_hash IS NOT NULL
    UNION
    SELECT frames.job, frames.rank, frames.caller_hash AS stack_hash
    FROM needed
    JOIN frames
        ON frames.job = needed.job
        AND frames.rank = needed.rank
        AND frames.stack_hash = needed.stack_hash
    WHERE frames.caller_hash IS NOT NULL
),
needed_frames AS MATERIALIZED (
    SELECT frames.*
    FROM frames
    SEMI JOIN needed
        ON needed.job = frames.job
        AND needed.rank = frames.rank
        AND needed.stack_hash = frames.stack_hash
),
-- The text of each stack, built from the outermost operation in.
stacks AS (
    SELECT job, rank, stack_hash, frame AS stack
    FROM needed_frames
    WHERE caller_hash IS NULL
    UNION ALL
    SELECT f.job, f.rank, f.stack_hash, concat(s.stack, ';', f.frame) AS stack
    FROM stacks AS s
    JOIN needed_frames AS f
        ON f.job = s.job AND f.rank = s.rank AND f.caller_hash = s.stack_hash
),
named AS (
    SELECT
        w.job,
        w.rank,
        concat_ws(';', outer_one.stack, w.caller_leaf, own.stack, w.leaf) AS stack,
        sum(w.weight_ns)::BIGINT AS weight_ns
    FROM weighed AS w
    LEFT JOIN stacks AS own
        ON own.job = w.job AND own.rank = w.rank AND own.stack_hash = w.stack_hash
    LEFT JOIN stacks AS outer_one
        ON outer_one.job = w.job
        AND outer_one.rank = w.rank
        AND outer_one.stack_hash = w.caller_hash
    GROUP BY ALL
)
SELECT job, rank, stack, weight_ns
FROM (
    FROM named
    UNION ALL BY NAME
    -- This adds no row. It raises an error if the weight is invalid, whether or not there is data.
    SELECT NULL AS job
    WHERE coalesce(weight NOT IN ('gpu', 'host'), true)
      AND error(concat(
          'folded_stacks: weight is ''gpu'' or ''host'', not ',
          coalesce('''' || weight || '''', 'NULL')
      )) IS NULL
)
ORDER BY job, rank, weight_ns DESC, stack;
