-- Steps of inference by phase: how many, how long, tokens per second, busy and idle shares.
--
-- The annotation of a step may say what the step does: prefill (of new requests), decode (one token
-- or a few for each running request), mixed (both) or diffusion (one denoising step). The file
-- sql/relations/steps/annotated_load.sql lists the names. Steps that say no phase have the phase
-- NULL, such as those of training.
--
-- Tokens are the new tokens of all requests of a step: of prompts in prefill, generated ones in
-- decode. `tokens_per_s` divides the tokens of a phase by the time from each of its steps to the
-- next step of the rank, so pauses between steps count. For the last step of a rank, the longer of
-- its durations on the host and on the GPU counts.
--
-- `latency_p50_ns` is from the start of a step on the host to the end of its last GPU activity. For
-- a prefill, it is the least time to the first token: the time that a request waits for its turn
-- comes before the step, and the trace does not have it. `output_token_p50_ns` is the time per
-- output token: from a step with decoding to the next step, divided by the new tokens of each
-- decoding request. With speculative decoding, `decode_tokens_per_request` is above 1: it counts
-- the tokens that a step checks, of which the model may reject some.
--
-- Busy and idle time is of the rank's device. It is measured from the start of the first GPU
-- activity of a step to the end of its last one, and added up over the steps of the phase. If the
-- activities of a step run while an earlier step still runs, both steps count this time.
--
-- since: 0.1
-- grain: job, rank, phase
-- needs: steps
-- returns:
--   job                        VARCHAR  -      run of a program
--   rank                       INTEGER  -      rank of the process
--   phase                      VARCHAR  -      prefill, decode, mixed or diffusion; NULL: not shown
--   step_count                 BIGINT   count  steps of the phase
--   step_p50_ns                BIGINT   ns     median of their durations on the host
--   gpu_span_p50_ns            BIGINT   ns     median time from the first start to the last end of
--                                              a step's GPU activities
--   batch_size_p50             DOUBLE   -      median number of requests in a step; NULL: not shown
--   min_batch_size             BIGINT   -      smallest number of requests in a step
--   max_batch_size             BIGINT   -      largest number
--   token_count                BIGINT   count  new tokens of all steps; NULL: not shown
--   tokens_per_s               DOUBLE   -      tokens / time of the steps that show their tokens
--   context_tokens_mean        DOUBLE   -      mean tokens of context per request in a step, the
--                                              new ones included; NULL: not shown
--   kernel_count_p50           DOUBLE   -      median number of GPU activities of a step
--   busy_ns                    BIGINT   ns     time with a GPU activity, added up over the steps
--   idle_ns                    BIGINT   ns     time without one, within the spans of the steps
--   busy_frac                  DOUBLE   0-1    busy_ns / (busy_ns + idle_ns)
--   idle_frac                  DOUBLE   0-1    idle_ns / (busy_ns + idle_ns)
--   latency_p50_ns             BIGINT   ns     median time from a step's start to the end of its
--                                              last GPU activity; NULL: no step has any
--   output_token_p50_ns        BIGINT   ns     median time per output token; NULL: no decoding, or
--                                              not shown
--   decode_tokens_per_request  DOUBLE   -      mean new tokens of a decoding request in a step
-- check: step_count > 0
-- check: step_p50_ns >= 0
-- check: busy_ns >= 0 AND idle_ns >= 0
-- check: busy_frac IS NULL OR abs(busy_frac + idle_frac - 1) < 1e-9
-- check: min_batch_size <= max_batch_size
-- reads: activities_in_steps, annotated_load, busy_times, step_spans
CREATE OR REPLACE MACRO job_phases_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to list [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to list [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: all]
) AS TABLE
WITH
-- The next step is that of the rank, whether or not it is measured.
all_steps AS (
    SELECT
        *,
        lead(start_ns) OVER (PARTITION BY job, rank ORDER BY start_ns, step) - start_ns
            AS until_next_ns
    FROM step_spans(only_jobs, only_ranks, NULL)
),
picked AS (
    SELECT *
    FROM all_steps
    WHERE only_steps IS NULL OR list_contains(only_steps, step)
),
-- A name is read once.
loads AS (
    SELECT step_name, annotated_load(step_name) AS said
    FROM (SELECT DISTINCT step_name FROM picked)
),
activities AS MATERIALIZED (
    FROM activities_in_steps(only_jobs, only_ranks, only_steps)
),
ends AS (
    SELECT job, rank, step, max(end_ns) AS end_ns
    FROM activities
    GROUP BY job, rank, step
),
measured AS (
    SELECT
        picked.job,
        picked.rank,
        picked.step_ns,
        ends.end_ns - picked.start_ns AS latency_ns,
        nullif(loads.said.decode_query_tokens, 0) AS decode_tokens,
        nullif(loads.said.decode_sequences, 0) AS decode_sequences,
        coalesce(
            picked.until_next_ns, greatest(picked.step_ns, coalesce(gpu.span_ns, 0))
        ) AS until_next_ns,
        loads.said.phase AS phase,
        loads.said.batch_size AS batch_size,
        loads.said.token_count AS tokens,
        loads.said.prefill_key_tokens + loads.said.decode_key_tokens AS context_tokens,
        loads.said.prefill_sequences + loads.said.decode_sequences AS sequences,
        coalesce(gpu.span_ns, 0) AS span_ns,
        coalesce(gpu.busy_ns, 0) AS busy_ns,
        coalesce(gpu.activity_count, 0) AS kernel_count
    FROM picked
    JOIN loads ON loads.step_name IS NOT DISTINCT FROM picked.step_name
    LEFT JOIN busy_times(activities) AS gpu
        ON gpu.job = picked.job AND gpu.rank = picked.rank AND gpu.step = picked.step
    LEFT JOIN ends
        ON ends.job = picked.job AND ends.rank = picked.rank AND ends.step = picked.step
)
SELECT
    job,
    rank,
    phase,
    count(*) AS step_count,
    round(quantile_cont(step_ns, 0.5))::BIGINT AS step_p50_ns,
    round(quantile_cont(span_ns, 0.5))::BIGINT AS gpu_span_p50_ns,
    quantile_cont(batch_size::DOUBLE, 0.5) AS batch_size_p50,
    min(batch_size) AS min_batch_size,
    max(batch_size) AS max_batch_size,
    sum(tokens)::BIGINT AS token_count,
    sum(tokens) * 1e9
        / nullif(sum(until_next_ns) FILTER (tokens IS NOT NULL), 0) AS tokens_per_s,
    sum(context_tokens)
        / nullif(sum(sequences) FILTER (context_tokens IS NOT NULL), 0) AS context_tokens_mean,
    quantile_cont(kernel_count::DOUBLE, 0.5) AS kernel_count_p50,
    sum(measured.busy_ns)::BIGINT AS busy_ns,
    sum(span_ns - measured.busy_ns)::BIGINT AS idle_ns,
    sum(measured.busy_ns) / nullif(sum(span_ns), 0) AS busy_frac,
    sum(span_ns - measured.busy_ns) / nullif(sum(span_ns), 0) AS idle_frac,
    round(quantile_cont(latency_ns, 0.5))::BIGINT AS latency_p50_ns,
    round(quantile_cont(until_next_ns * decode_sequences / decode_tokens, 0.5))::BIGINT
        AS output_token_p50_ns,
    sum(decode_tokens)
        / nullif(sum(decode_sequences) FILTER (decode_tokens IS NOT NULL), 0)
        AS decode_tokens_per_request
FROM measured
GROUP BY job, rank, phase
ORDER BY job, rank, phase;
