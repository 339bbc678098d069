-- One row per rank with a trace: facts about its host events that show how good the recording is.
--
-- `jobs`, `ranks`: lists of values to select (NULL: all)
--
-- Returns job, rank and
--
--     host_count          operators, annotations, Python functions, and runtime or driver calls
--     operator_count      operators
--     launch_count        calls that launch a kernel, graph or copy, see is_launch_call
--     call_count          calls into CUDA or HIP with a correlation id
--     call_span           largest of these ids less the smallest
--     cut_count           spans that leave the stack before their end, since they cross others
--     first_ns, last_ns   start of the first span, end of the last
--     has_shapes, has_stacks, has_sequence_numbers, has_backward
--                         whether an operator has shapes; whether there are Python functions;
--                         whether an operator has a sequence number of autograd; whether autograd
--                         ran functions of a backward pass
--     steps               list of the steps, in order of their start
--
-- reads: host_ops, is_call_number, is_launch_call, is_operator, is_runtime_call, step_marks,
--   step_number, traces
CREATE OR REPLACE MACRO host_facts(jobs, ranks) AS TABLE
WITH
traced AS (
    SELECT DISTINCT t.job, t.rank
    FROM traces AS t
    WHERE (jobs IS NULL OR list_contains(jobs, t.job))
      AND (ranks IS NULL OR list_contains(ranks, t.rank))
),
found AS (
    SELECT
        h.job,
        h.rank,
        count(*) AS host_count,
        count(*) FILTER (is_operator(h.cat)) AS operator_count,
        count(*) FILTER (is_runtime_call(h.cat) AND is_launch_call(h.name)) AS launch_count,
        count(h.correlation) FILTER (is_gpu_call) AS call_count,
        max(h.correlation) FILTER (is_gpu_call AND is_call_number(h.correlation))
            - min(h.correlation) FILTER (is_gpu_call AND is_call_number(h.correlation))
            AS call_span,
        count(h.cut_ns) AS cut_count,
        min(h.start_ns) AS first_ns,
        max(h.end_ns) AS last_ns,
        bool_or(h.input_dims IS NOT NULL AND is_operator(h.cat)) AS has_shapes,
        bool_or(h.cat = 'python_function') AS has_stacks,
        bool_or(h.sequence_number IS NOT NULL) AS has_sequence_numbers,
        bool_or(prefix(h.name, 'autograd::engine::evaluate_function')) AS has_backward,
        list(step_number(h.name) ORDER BY h.start_ns, h.event_id) FILTER (
            prefix(h.name, 'ProfilerStep') AND step_number(h.name) IS NOT NULL
            AND h.cat <> 'python_function'
        ) AS profiler_steps
    FROM (
        SELECT *, is_runtime_call(cat) AND regexp_matches(name, '^(cuda|cu|hip)') AS is_gpu_call
        FROM host_ops
    ) AS h
    WHERE (jobs IS NULL OR list_contains(jobs, h.job))
      AND (ranks IS NULL OR list_contains(ranks, h.rank))
    GROUP BY h.job, h.rank
),
other_steps AS (
    SELECT m.job, m.rank, list(m.step ORDER BY m.start_ns, m.event_id) AS steps
    FROM step_marks AS m
    GROUP BY m.job, m.rank
)
SELECT
    traced.job,
    traced.rank,
    coalesce(found.host_count, 0) AS host_count,
    coalesce(found.operator_count, 0) AS operator_count,
    coalesce(found.launch_count, 0) AS launch_count,
    coalesce(found.call_count, 0) AS call_count,
    coalesce(found.call_span, 0) AS call_span,
    coalesce(found.cut_count, 0) AS cut_count,
    found.first_ns,
    found.last_ns,
    coalesce(found.has_shapes, false) AS has_shapes,
    coalesce(found.has_stacks, false) AS has_stacks,
    coalesce(found.has_sequence_numbers, false) AS has_sequence_numbers,
    coalesce(found.has_backward, false) AS has_backward,
    coalesce(other_steps.steps, found.profiler_steps, []) AS steps
FROM traced
LEFT JOIN found ON found.job = traced.job AND found.rank = traced.rank
LEFT JOIN other_steps ON other_steps.job = traced.job AND other_steps.rank = traced.rank;
