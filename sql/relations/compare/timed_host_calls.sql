-- Macros that sum host time per sample, as input of changed_times. A sample is one step on one side
-- (base or test), with all ranks of the side.
--
-- Both macros return cause, thing, stratum, sample, times, total_ns and square_ns, as in the
-- parameter `calls` of changed_times. square_ns is NULL: not known.
--
-- reads: host_ops, is_runtime_call, may_be_compared, op_key

-- One row per operator name and sample: the calls of the operator and their host time.
--
-- total_ns is the operator's time minus the time of the operators, runtime calls and driver calls
-- that the operator calls directly. thing is the operator's name_hash.
--
--     ops                 rows of compared_ops
--     calls               rows of calls_in_contexts
--     numbered            rows of numbered_steps
--     base_job, test_job  parameters of the query
CREATE OR REPLACE MACRO timed_ops(ops, calls, numbered, base_job, test_job) AS TABLE
WITH
inner_calls AS (
    SELECT sample, in_hash AS name_hash, sum(inside_ns) AS called_ns
    FROM query_table(calls)
    GROUP BY sample, in_hash
    UNION ALL
    SELECT s.sample, o.name_hash, sum(r.dur_ns) AS called_ns
    FROM host_ops AS r
    JOIN query_table(numbered) AS s
        ON s.job = r.job AND s.rank = r.rank AND s.step_key = coalesce(r.step, -1)
    JOIN query_table(ops) AS o ON o.op_key = op_key(s.rank_number, r.op_id)
    WHERE is_runtime_call(r.cat) AND may_be_compared(r.job, base_job, test_job)
    GROUP BY s.sample, o.name_hash
),
called_in AS (
    SELECT sample, name_hash, sum(called_ns) AS called_ns
    FROM inner_calls
    GROUP BY sample, name_hash
),
of_names AS (
    SELECT sample, name_hash, sum(times) AS times, sum(total_ns) AS total_ns
    FROM query_table(calls)
    GROUP BY sample, name_hash
)
SELECT
    'host_time' AS cause,
    o.name_hash AS thing,
    0::UBIGINT AS stratum,
    o.sample,
    o.times,
    o.total_ns - coalesce(c.called_ns, 0) AS total_ns,
    NULL::DOUBLE AS square_ns
FROM of_names AS o
LEFT JOIN called_in AS c ON c.sample = o.sample AND c.name_hash = o.name_hash;

-- One row per sample and name of a DataLoader annotation: the number of fetches of batches and
-- their time.
--
-- thing is a hash of the name. `numbered` are rows of numbered_steps.
CREATE OR REPLACE MACRO timed_fetches(numbered, base_job, test_job) AS TABLE
SELECT
    'data_loading' AS cause,
    hash(o.name) AS thing,
    0::UBIGINT AS stratum,
    s.sample,
    count(*) AS times,
    sum(o.dur_ns) AS total_ns,
    NULL::DOUBLE AS square_ns,
    o.name
FROM host_ops AS o
JOIN query_table(numbered) AS s
    ON s.job = o.job AND s.rank = o.rank AND s.step_key = coalesce(o.step, -1)
WHERE o.cat = 'user_annotation'
  AND contains(o.name, 'DataLoader')
  AND may_be_compared(o.job, base_job, test_job)
GROUP BY o.name, s.sample;
